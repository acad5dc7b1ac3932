// From a bit a cell to planar words, as 06_planar has them: bit b of word x is cell b * words + x
// of the row.
//
// Bound: 1/8 byte read and written a cell; a load and a shift a cell are what it really issues.
// Launch: blocks of any shape (32x8); the grid covers the words. The width is a multiple of 32.
#include "../life.cuh"

extern "C" __global__ void unpack_planar(
    const unsigned* words, unsigned* planar, int width, int height)
{
    const int count = width / 32; // of a row's words, both ways
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = (blockIdx.z * gridDim.y + blockIdx.y) * blockDim.y + threadIdx.y;
    if (x >= count || y >= height) return;
    const u32* row = words + (size_t)y * count;
    u32 word = 0;
#pragma unroll 8
    for (int plane = 0; plane < 32; plane++) {
        const int cell = plane * count + x;
        word |= (row[cell / 32] >> (cell % 32) & 1) << plane;
    }
    planar[(size_t)y * count + x] = word;
}
