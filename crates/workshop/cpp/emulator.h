// CUDA C as plain C++: put before a .cu (src/translation.rs), so that a C++ compiler takes the kernel
// as it stands and emulator.cpp runs its threads as fibers.
//
// One declaration of a kernel is rewritten on the way: `extern __shared__ T name[];` becomes a pointer
// to the block's shared memory.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct uint2 { unsigned x, y; };
struct uint3 { unsigned x, y, z; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
struct int2 { int x, y; };
struct int3 { int x, y, z; };
struct alignas(16) int4 { int x, y, z, w; };
struct dim3 { unsigned x = 1, y = 1, z = 1; };

namespace emulator {

// Where in a source something is called.
struct Line { const char* file; unsigned line; };

// What the running fiber sees of its launch.
struct Place { uint3 thread, block, block_size, grid_size; };

// A variable of each OS thread that launches; where one does all, it is reached sooner.
#ifdef EMULATOR_ONE_THREAD
#define EMULATOR_OWN
#else
#define EMULATOR_OWN __thread
#endif
extern EMULATOR_OWN Place place;
extern EMULATOR_OWN Line last_line;        // that is known of the running fiber
extern EMULATOR_OWN unsigned extra_barrier; // behind the statement of which line

void barrier(Line);                         // of the block
// Every lane's value, once all of these lanes gave one.
const unsigned* exchange(unsigned lanes, unsigned value, Line);
void* shared();                             // the block's dynamic shared memory
void poll();                                // let others run, since mail has not arrived
unsigned long long nanoseconds();

// Stands behind a statement.
inline void mark(Line line)
{
    last_line = line;
    if (extra_barrier == line.line) barrier(line);
}

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

template <class T> constexpr bool is_pointer = false;
template <class T> constexpr bool is_pointer<T*> = true;
template <size_t...> struct Indices {};
template <size_t N, size_t... I> struct Count : Count<N - 1, N - 1, I...> {};
template <size_t... I> struct Count<0, I...> { using Type = Indices<I...>; };

template <auto Function> struct Thunk;
template <class... A, void (*Function)(A...)> struct Thunk<Function> {
    static constexpr size_t sizes[] = {sizeof(A)...};
    static constexpr bool pointers[] = {is_pointer<A>...};
    static void call(void** parameters)
    {
        spread(parameters, typename Count<sizeof...(A)>::Type());
    }
    template <size_t... I> static void spread(void** parameters, Indices<I...>)
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
#define EMULATOR_MARK emulator::mark({__FILE__, __LINE__});

#define __global__
#define __device__
#define __host__
#define __constant__
#define __shared__ thread_local // the fibers of a block share an OS thread
#define __forceinline__ inline
#define __noinline__
#define __align__(bytes) alignas(bytes)
#define __launch_bounds__(...)
#define threadIdx (emulator::place.thread)
#define blockIdx (emulator::place.block)
#define blockDim (emulator::place.block_size)
#define gridDim (emulator::place.grid_size)
constexpr int warpSize = 32;

// Where a function is called from, as its last parameters.
#define EMULATOR_CALLED const char *file = __builtin_FILE(), unsigned line = __builtin_LINE()
#define EMULATOR_LINE (emulator::Line{file, line})

inline void __syncthreads(EMULATOR_CALLED) { emulator::barrier(EMULATOR_LINE); }
inline void __syncwarp(unsigned lanes = ~0u, EMULATOR_CALLED)
{
    emulator::exchange(lanes, 0, EMULATOR_LINE);
}
inline unsigned __ballot_sync(unsigned lanes, int vote, EMULATOR_CALLED)
{
    const unsigned* votes = emulator::exchange(lanes, vote != 0, EMULATOR_LINE);
    unsigned word = 0;
    for (unsigned i = 0; i < 32; i++) word |= (lanes >> i & 1 & votes[i]) << i;
    return word;
}
inline int __any_sync(unsigned lanes, int vote, EMULATOR_CALLED)
{
    return __ballot_sync(lanes, vote, file, line) != 0;
}
inline int __all_sync(unsigned lanes, int vote, EMULATOR_CALLED)
{
    return __ballot_sync(lanes, !vote, file, line) == 0;
}
// Values of four bytes. A lane outside the `width` lanes from which it may take one gets its own.
template <class T> inline T emulator_shuffle(unsigned lanes, T value, int from, emulator::Line line)
{
    static_assert(sizeof(T) == 4, "the emulator shuffles values of four bytes");
    unsigned word;
    __builtin_memcpy(&word, &value, 4);
    word = emulator::exchange(lanes, word, line)[from & 31];
    __builtin_memcpy(&value, &word, 4);
    return value;
}
template <class T>
inline T __shfl_sync(unsigned lanes, T value, int from, int width = 32, EMULATOR_CALLED)
{
    const int first = emulator::lane() & -width;
    return emulator_shuffle(lanes, value, first + (from & (width - 1)), EMULATOR_LINE);
}
template <class T>
inline T __shfl_up_sync(unsigned lanes, T value, unsigned by, int width = 32, EMULATOR_CALLED)
{
    const int me = emulator::lane(), from = me - (int)by;
    return emulator_shuffle(lanes, value, from >= (me & -width) ? from : me, EMULATOR_LINE);
}
template <class T>
inline T __shfl_down_sync(unsigned lanes, T value, unsigned by, int width = 32, EMULATOR_CALLED)
{
    const int me = emulator::lane(), from = me + (int)by;
    return emulator_shuffle(lanes, value, from < (me & -width) + width ? from : me, EMULATOR_LINE);
}
template <class T>
inline T __shfl_xor_sync(unsigned lanes, T value, int mask, int width = 32, EMULATOR_CALLED)
{
    const int me = emulator::lane(), from = me ^ mask;
    return emulator_shuffle(lanes, value, from < (me & -width) + width ? from : me, EMULATOR_LINE);
}
template <class T, class U> inline T atomicAdd(T* at, U more)
{
    return __atomic_fetch_add(at, (T)more, __ATOMIC_SEQ_CST);
}
template <class T, class U> inline T atomicAnd(T* at, U mask)
{
    return __atomic_fetch_and(at, (T)mask, __ATOMIC_SEQ_CST);
}
template <class T, class U> inline T atomicOr(T* at, U mask)
{
    return __atomic_fetch_or(at, (T)mask, __ATOMIC_SEQ_CST);
}
template <class T, class U> inline T atomicXor(T* at, U mask)
{
    return __atomic_fetch_xor(at, (T)mask, __ATOMIC_SEQ_CST);
}
template <class T, class U> inline T atomicExch(T* at, U value)
{
    return __atomic_exchange_n(at, (T)value, __ATOMIC_SEQ_CST);
}
inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_block() { __threadfence(); }
template <class T> inline T __ldg(const T* at) { return *at; }
inline int __popc(unsigned word) { return __builtin_popcount(word); }
inline int __clz(unsigned word) { return word ? __builtin_clz(word) : 32; }
inline int __ffs(unsigned word) { return __builtin_ffs(word); }
inline unsigned __brev(unsigned word)
{
    unsigned turned = 0;
    for (int i = 0; i < 32; i++) turned |= (word >> i & 1) << (31 - i);
    return turned;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by)
{
    return (((unsigned long long)high << 32 | low) << (by & 31)) >> 32;
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by)
{
    return ((unsigned long long)high << 32 | low) >> (by & 31);
}
template <class T, class U> constexpr auto min(T a, U b) { return b < a ? b : a; }
template <class T, class U> constexpr auto max(T a, U b) { return a < b ? b : a; }
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
inline int2 make_int2(int x, int y) { return {x, y}; }
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
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
    const unsigned two = k ^ p, four = (k & p) ^ q, eight = k & p & q; // of the 3x3 block's sum
    unsigned next = 0;
    for (unsigned sum = 0; sum < 10; sum++) {
        const auto is = [sum](unsigned plane, unsigned bit) { return sum & bit ? plane : ~plane; };
        const unsigned here = is(x, 1) & is(two, 2) & is(four, 4) & is(eight, 8);
        if (rule >> sum & 1) next |= here & ~cells;
        if (sum && rule >> (8 + sum) & 1) next |= here & cells;
    }
    return next;
}
inline void prefetch(const void*) {}
struct alignas(16) Message { unsigned one, tag_of_one, other, tag_of_other; };
inline void post(Message* to, unsigned one, unsigned other, unsigned tag)
{
    *to = Message{one, tag, other, tag};
}
inline Message look(const Message* at) { return *at; }
inline void look_again() { emulator::poll(); }
inline unsigned long long global_timer() { return emulator::nanoseconds(); }
