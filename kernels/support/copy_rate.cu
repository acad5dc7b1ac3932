// How many bytes a second a device reads and writes: what a rung that only moved its cells would
// come to.
//
// Bound: 16 bytes read and 16 written, AT_ONCE times a thread and turn, in buffers that no cache
//        holds.
// Launch: blocks of any shape, as many as the device is full with; together they go over `count`
// quads of words.
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
