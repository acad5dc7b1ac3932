// Converts planar words (see 06_planar) to one bit per cell.
//
// Bound: 1/8 byte read and written per cell; it issues one load and one shift per cell.
// Launch: blocks of any shape (32x8); the grid covers the words. The width is a multiple of 32.
#include "../life.cuh"

extern "C" __global__ void pack_planar(
    const unsigned* planar, unsigned* words, int width, int height)
{
    const int count = width / 32; // words per row in both layouts
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = (blockIdx.z * gridDim.y + blockIdx.y) * blockDim.y + threadIdx.y;
    if (x >= count || y >= height) return;
    const u32* row = planar + (size_t)y * count;
    int plane = 32 * x / count, at = 32 * x % count;
    u32 word = 0;
#pragma unroll 8
    for (int i = 0; i < 32; i++) {
        word |= (row[at] >> plane & 1) << i;
        at++;
        if (at == count) at = 0, plane++;
    }
    words[(size_t)y * count + x] = word;
}
