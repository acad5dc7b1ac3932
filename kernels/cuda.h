// The part of CUDA C that these kernels use, for clang without a CUDA toolkit (-nocudainc
// -nocudalib). With nvcc, which has all of it built in, this part is skipped.
#pragma once
#if defined(__clang__) && defined(__CUDA__) && !defined(__CUDACC__)
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(bytes) __attribute__((aligned(bytes)))
typedef __SIZE_TYPE__ size_t;
struct uint3 { unsigned x, y, z; };
struct dim3 { unsigned x, y, z; };
struct __attribute__((aligned(16))) uint4 { unsigned x, y, z, w; };
#include <__clang_cuda_builtin_vars.h> // clang's own: threadIdx, blockIdx, blockDim, gridDim.
// __syncthreads is built into clang.

static __device__ __forceinline__ int __popc(unsigned word) { return __builtin_popcount(word); }
static __device__ __forceinline__ unsigned __ballot_sync(unsigned lanes, int vote)
{
    return __nvvm_vote_ballot_sync(lanes, vote);
}
static __device__ __forceinline__ void __syncwarp() { __nvvm_bar_warp_sync(~0u); }
static __device__ __forceinline__ unsigned __shfl_sync(unsigned lanes, unsigned word, int from)
{
    return __nvvm_shfl_sync_idx_i32(lanes, word, from, 31);
}
static __device__ __forceinline__ unsigned atomicAdd(unsigned* at, unsigned more)
{
    return __nvvm_atom_add_gen_i((int*)at, (int)more);
}
static __device__ __forceinline__ void __threadfence() { __nvvm_membar_gl(); }
#endif

// Functions that CUDA C lacks. (The tests' emulator has its own.)
#if defined(__CUDA__) || defined(__CUDACC__)
// The device's clock in nanoseconds, the same on every multiprocessor.
static __device__ __forceinline__ unsigned long long global_timer()
{
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

// Any logical operation on three words, in one instruction: bit 4 * a + 2 * b + c of TABLE is
// its result.
template <int TABLE>
static __device__ __forceinline__ unsigned lop3(unsigned a, unsigned b, unsigned c)
{
    unsigned result;
    asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(result) : "r"(a), "r"(b), "r"(c), "n"(TABLE));
    return result;
}

// The next states of 32 cells by a B/S rule, from the sum of each cell's 3x3 block: x ones, k and p
// twos, q fours. The host writes the rule's network of three-input functions here before the driver
// compiles the kernel (crates/engine/src/rule_network.rs). `rule` is for the tests' emulator.
static __device__ __forceinline__ unsigned rule_network(
    unsigned rule, unsigned x, unsigned k, unsigned p, unsigned q, unsigned cells)
{
    unsigned next;
    (void)rule;
    asm("trap; // rule network: %0 = %1 %2 %3 %4 %5"
        : "=r"(next) : "r"(x), "r"(k), "r"(p), "r"(q), "r"(cells));
    return next;
}

// A message of two words between blocks that run at the same time, in global memory. Each word is
// written together with its tag, in one access of 64 bits: who finds the tag has the word.
struct __align__(16) Message { unsigned one, tag_of_one, other, tag_of_other; };

static __device__ __forceinline__ void post(Message* to, unsigned one, unsigned other, unsigned tag)
{
    asm volatile("{ .reg .b64 a, b; mov.b64 a, {%1, %3}; mov.b64 b, {%2, %3};"
                 " st.volatile.global.v2.b64 [%0], {a, b}; }"
                 : : "l"(to), "r"(one), "r"(other), "r"(tag) : "memory");
}

static __device__ __forceinline__ Message look(const Message* at)
{
    Message found;
    asm volatile("{ .reg .b64 a, b; ld.volatile.global.v2.b64 {a, b}, [%4];"
                 " mov.b64 {%0, %1}, a; mov.b64 {%2, %3}, b; }"
                 : "=r"(found.one), "=r"(found.tag_of_one), "=r"(found.other), "=r"(found.tag_of_other)
                 : "l"(at) : "memory");
    return found;
}

// Between two looks. (In the tests' emulator it lets other threads run.)
static __device__ __forceinline__ void look_again() {}

// Prefetches a line of memory into L2.
static __device__ __forceinline__ void prefetch(const void* at)
{
    asm volatile("prefetch.global.L2 [%0];" : : "l"(at));
}
#endif
