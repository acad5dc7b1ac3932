// Packs one int per cell to one bit per cell: a warp's ballot makes a word of 32 cells.
//
// Bound: 4 bytes read per cell.
// Launch: blocks 32 threads wide (32x8); the grid covers the cells.
#include "../life.cuh"

extern "C" __global__ void pack_i32(const int* cells, unsigned* words, int width, int height)
{
    const int x = blockIdx.x * 32 + threadIdx.x;
    const int y = (blockIdx.z * gridDim.y + blockIdx.y) * blockDim.y + threadIdx.y;
    if (y >= height) return; // the whole warp or none
    const int alive = x < width ? cells[(size_t)y * width + x] : 0;
    const u32 word = __ballot_sync(~0u, alive);
    if (threadIdx.x == 0) words[(size_t)y * gridDim.x + blockIdx.x] = word;
}
