// How many logical operations of three words a device does a second: what a rung that has nothing
// else left to do would come to.
//
// Bound: CHAINS independent chains a thread, so that none waits for another; no memory but one
//        word a thread at the end.
// Launch: blocks of any shape; with 2048 threads a multiprocessor it is full. `out` has a word a
// thread.
#include "../life.cuh"

#define CHAINS 8
#define LINKS 16 // of each chain, an iteration

extern "C" __global__ void lop3_rate(unsigned* out, unsigned seed, int iterations)
{
    const u32 thread = blockIdx.x * blockDim.x + threadIdx.x;
    u32 chains[CHAINS];
#pragma unroll
    for (int i = 0; i < CHAINS; i++) chains[i] = (seed + thread) * (2 * i + 1);

#pragma unroll 1
    for (int iteration = 0; iteration < iterations; iteration++) {
#pragma unroll
        for (int link = 0; link < LINKS; link++) {
            u32 next[CHAINS]; // from those before alone: an operation waits for no other of its link
#pragma unroll
            for (int i = 0; i < CHAINS; i++)
                next[i] = lop3<0x2d>(chains[i], chains[(i + 1) % CHAINS], chains[(i + 3) % CHAINS]);
#pragma unroll
            for (int i = 0; i < CHAINS; i++) chains[i] = next[i];
        }
    }
    u32 all = 0;
#pragma unroll
    for (int i = 0; i < CHAINS; i++) all ^= chains[i];
    out[thread] = all;
}
