// Converts one bit per cell to planar words (see 06_planar): bit b of word x is the cell x cells
// behind the first one of plane b. Cells that two planes have are written twice.
//
// Bound: 1/8 byte read and written per cell; it issues one load and one shift per cell.
// Launch: blocks of any shape (32x8); the grid covers the planar words of a row, and the rows.
#include "../life.cuh"

extern "C" __global__ void unpack_planar(
    const unsigned* words, unsigned* planar, int width, int height)
{
    const int across = (width + 31) / 32, count = planar_words(width);
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = (blockIdx.z * gridDim.y + blockIdx.y) * blockDim.y + threadIdx.y;
    if (x >= count || y >= height) return;
    const u32* row = words + (size_t)y * across;
    u32 word = 0;
#pragma unroll 8
    for (int plane = 0; plane < 32; plane++) {
        const int from = first_of_plane(plane, width) + x, cell = from < width ? from : from - width;
        word |= (row[cell / 32] >> (cell % 32) & 1) << plane;
    }
    planar[(size_t)y * count + x] = word;
}
