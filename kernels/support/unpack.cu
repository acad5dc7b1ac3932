// Unpacks one bit per cell to one int per cell.
//
// Bound: 4 bytes written per cell.
// Launch: blocks of any shape (32x8); the grid covers the cells.
#include "../life.cuh"

extern "C" __global__ void unpack_i32(const unsigned* words, int* cells, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = (blockIdx.z * gridDim.y + blockIdx.y) * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const u32 word = words[(size_t)y * ((width + 31) / 32) + x / 32];
    cells[(size_t)y * width + x] = word >> (x % 32) & 1;
}
