// CUDA C as plain C++: put before a .cu by the build in tests/driver/mod.rs, so that g++ compiles
// the kernel as it stands and emulator.cpp runs its threads as fibers.
//
// One line of a kernel is rewritten on the way: `extern __shared__ T name[];` becomes a pointer to
// the block's shared memory.
#pragma once
#include <chrono>
#include <cstddef>
#include <type_traits>
#include <utility>

struct uint3 { unsigned x, y, z; };
struct alignas(16) uint4 { unsigned x, y, z, w; };

namespace emulator {

// What the running fiber sees of its launch.
struct Place { uint3 thread, block, block_size, grid_size; };
extern thread_local Place place;

void barrier();                                   // of the block
const unsigned* exchange(unsigned lanes, unsigned value); // every lane's value, once all gave one
void* shared();                                   // the block's dynamic shared memory
void poll();                                      // let others run, since mail has not arrived

// A kernel as the launcher sees it: parameters by address, as cuLaunchKernel takes them.
struct Kernel {
    const char* symbol;
    void (*call)(void** parameters);
    const size_t* sizes;  // of the parameters
    const bool* pointers; // which of them are
    size_t count;
    Kernel* next;
};
void add(Kernel*);

template <auto Function> struct Thunk;
template <class... A, void (*Function)(A...)> struct Thunk<Function> {
    static constexpr size_t sizes[] = {sizeof(A)...};
    static constexpr bool pointers[] = {std::is_pointer_v<A>...};
    static void call(void** parameters) { spread(parameters, std::index_sequence_for<A...>()); }
    template <size_t... I> static void spread(void** parameters, std::index_sequence<I...>)
    {
        Function(*static_cast<A*>(parameters[I])...);
    }
    Kernel kernel;
    explicit Thunk(const char* symbol)
        : kernel{symbol, call, sizes, pointers, sizeof...(A), nullptr}
    {
        add(&kernel);
    }
};

unsigned lane();

} // namespace emulator

#define EMULATE(symbol) static emulator::Thunk<&symbol> emulated_##symbol(#symbol);

#define __global__
#define __device__
#define __shared__ thread_local // the fibers of a block share an OS thread
#define __forceinline__ inline
#define __launch_bounds__(...)
#define threadIdx (emulator::place.thread)
#define blockIdx (emulator::place.block)
#define blockDim (emulator::place.block_size)
#define gridDim (emulator::place.grid_size)

inline void __syncthreads() { emulator::barrier(); }
inline int __popc(unsigned word) { return __builtin_popcount(word); }
inline void __syncwarp(unsigned lanes = ~0u) { emulator::exchange(lanes, 0); }
inline unsigned __ballot_sync(unsigned lanes, int vote)
{
    const unsigned* votes = emulator::exchange(lanes, vote != 0);
    unsigned word = 0;
    for (unsigned i = 0; i < 32; i++) word |= (lanes >> i & 1 & votes[i]) << i;
    return word;
}
inline unsigned __shfl_sync(unsigned lanes, unsigned value, int from)
{
    return emulator::exchange(lanes, value)[from & 31];
}
inline unsigned __shfl_up_sync(unsigned lanes, unsigned value, unsigned by)
{
    const unsigned me = emulator::lane();
    return emulator::exchange(lanes, value)[me >= by ? me - by : me];
}
inline unsigned __shfl_down_sync(unsigned lanes, unsigned value, unsigned by)
{
    const unsigned me = emulator::lane();
    return emulator::exchange(lanes, value)[me + by < 32 ? me + by : me];
}
inline unsigned atomicAdd(unsigned* at, unsigned more)
{
    return __atomic_fetch_add(at, more, __ATOMIC_SEQ_CST);
}
inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
// Those of kernels/cuda.h.
template <int TABLE> inline unsigned lop3(unsigned a, unsigned b, unsigned c)
{
    unsigned result = 0;
    for (int i = 0; i < 8; i++)
        if (TABLE >> i & 1) result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
    return result;
}
// What the rule's network gives, by the rule's table.
inline unsigned rule_network(unsigned rule, unsigned x, unsigned k, unsigned p, unsigned q,
                             unsigned cells)
{
    unsigned next = 0;
    for (int i = 0; i < 32; i++) {
        const auto bit = [i](unsigned word) { return word >> i & 1; };
        const unsigned alive = bit(cells);
        const unsigned sum = bit(x) + 2 * (bit(k) + bit(p)) + 4 * bit(q); // of the 3x3 block
        next |= (rule >> (9 * alive + sum - alive) & 1) << i;
    }
    return next;
}
// A handle is the address of the value, in the tests' driver.
extern "C" inline void cudaGraphSetConditional(unsigned long long handle, unsigned value)
{
    *(unsigned*)handle = value;
}
inline void prefetch(const void*) {}
struct alignas(16) Message { unsigned one, tag_of_one, other, tag_of_other; };
inline void post(Message* to, unsigned one, unsigned other, unsigned tag)
{
    *to = Message{one, tag, other, tag};
}
inline Message look(const Message* at) { return *at; }
inline void look_again() { emulator::poll(); }
inline unsigned long long global_timer()
{
    using namespace std::chrono;
    return duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count();
}
