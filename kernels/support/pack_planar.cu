// Converts planar words (see 06_planar) to one bit per cell.
//
// Bound: 1/8 byte read and written per cell; it issues one load and one shift per cell.
// Launch: blocks of any shape (32x8); the grid covers the words of a row of bits, and the rows.
#include "../life.cuh"

extern "C" __global__ void pack_planar(
    const unsigned* planar, unsigned* words, int width, int height)
{
    const int across = (width + 31) / 32;
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = (blockIdx.z * gridDim.y + blockIdx.y) * blockDim.y + threadIdx.y;
    if (x >= across || y >= height) return;
    const u32* row = planar + (size_t)y * planar_words(width);
    const int cells = width - 32 * x < 32 ? width - 32 * x : 32;
    int plane = (32u * (32 * x) + 31) / width;
    int at = 32 * x - first_of_plane(plane, width);
    int left = first_of_plane(plane + 1, width) - 32 * x; // cells of the plane from here on
    u32 word = 0;
#pragma unroll 8
    for (int i = 0; i < cells; i++) {
        word |= (row[at] >> plane & 1) << i;
        at++, left--;
        if (left == 0) {
            plane++, at = 0;
            left = first_of_plane(plane + 1, width) - first_of_plane(plane, width);
        }
    }
    words[(size_t)y * across + x] = word;
}
