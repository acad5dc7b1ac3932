// Measures how many logical operations on three words a device does per second: the limit of a
// rung that does nothing else.
//
// Bound: CHAINS independent chains per thread, so that none waits for another; no memory access
//        except one word per thread at the end.
// Launch: blocks of any shape; 2048 threads per SM fill the device. `out` has one word per thread.
#include "../life.cuh"

#define CHAINS 8
#define LINKS 16 // per chain and iteration

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
            u32 next[CHAINS]; // depends only on the link before
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
