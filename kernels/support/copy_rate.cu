// Measures how many bytes per second a device reads and writes: the limit of a rung that only
// moves its cells.
//
// Bound: 16 bytes read and 16 written, AT_ONCE times per thread and iteration, in buffers larger
//        than the caches.
// Launch: blocks of any shape that fill the device; together they copy `count` quads of words.
#include "../life.cuh"

#define AT_ONCE 4

extern "C" __global__ void copy_rate(
    const uint4* __restrict__ in, uint4* __restrict__ out, unsigned long long count)
{
    const u64 threads = (u64)gridDim.x * blockDim.x;
    const u64 thread = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    for (u64 first = thread; first < count; first += AT_ONCE * threads) {
        u32 quads[AT_ONCE][4];
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            const u64 at = first + i * threads;
            if (at >= count) continue;
            const uint4 quad = in[at];
            quads[i][0] = quad.x, quads[i][1] = quad.y, quads[i][2] = quad.z, quads[i][3] = quad.w;
        }
#pragma unroll
        for (int i = 0; i < AT_ONCE; i++) {
            const u64 at = first + i * threads;
            if (at >= count) continue;
            const uint4 quad = {quads[i][0], quads[i][1], quads[i][2], quads[i][3]};
            out[at] = quad;
        }
    }
}
