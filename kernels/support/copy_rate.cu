// How many bytes a second a device reads and writes: what a rung that only moved its cells would
// come to.
//
// Bound: 16 bytes read and 16 written a thread and turn, in buffers that no cache holds.
// Launch: blocks of any shape, as many as the device is full with; together they go over `count`
// quads of words.
#include "../life.cuh"

extern "C" __global__ void copy_rate(
    const uint4* __restrict__ in, uint4* __restrict__ out, unsigned long long count)
{
    const u64 threads = (u64)gridDim.x * blockDim.x;
#pragma unroll 4
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads)
        out[i] = in[i];
}
