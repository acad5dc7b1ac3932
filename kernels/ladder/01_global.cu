// One thread per cell, which reads its nine cells from global memory.
//
// Bound: 4 bytes read and 4 written per cell if the caches serve the other 8 reads; it issues
//        9 loads, 8 additions and the rule's shift.
// SASS, sm_90: of a cell 1 LOP3, 1 SHF, 16 IMAD, 4 IADD3, 9 LDG, 1 STG; 75 in all. 28
//        registers, nothing spilled.
// Measured: NVIDIA H200, commit 64423787b1fd:
//        16 x 1024x1024: 214 Gcell/s
//        1056 x 128x128: 49.1 Gcell/s
//        1 x 16384x16384: 253 Gcell/s
//        1 x 65536x65536: 251 Gcell/s
//        by B36/S23: 1.00 times the rate of B3/S23
// Next: every cell is read nine times; the threads of a block could share what
//        they read.
// The first rung: the straightforward version.
//
// Launch: blocks of any shape (32x8); the grid covers the cells. One launch per generation; in
// and out swap.
#include "../life.cuh"

extern "C" __global__ void life_global(
    const int* in, int* out, int width, int height, unsigned rule)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = (blockIdx.z * gridDim.y + blockIdx.y) * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;

    const int left = wrap(x - 1, width), right = wrap(x + 1, width);
    const int* above = in + (size_t)wrap(y - 1, height) * width;
    const int* here = in + (size_t)y * width;
    const int* below = in + (size_t)wrap(y + 1, height) * width;

    const int neighbours = above[left] + above[x] + above[right]
                         + here[left] + here[right]
                         + below[left] + below[x] + below[right];

    out[(size_t)y * width + x] = next_state(rule, here[x], neighbours);
}
