// from: 02_shared
// rules: any
// block: 32x8
//
// Launch: one thread per cell; (block width + 2) * (block height + 2) * 4 bytes of shared memory.
#include "life.cuh"

extern "C" __global__ void life_shared(
    const int* in, int* out, int width, int height, unsigned rule)
{
    extern __shared__ int tile[];
    const int tile_width = blockDim.x + 2, tile_height = blockDim.y + 2;
    const int tile_left = blockIdx.x * blockDim.x - 1;
    const int tile_top = (blockIdx.z * gridDim.y + blockIdx.y) * blockDim.y - 1;
    for (int ty = threadIdx.y; ty < tile_height; ty += blockDim.y) {
        const int* row = in + (size_t)wrap(tile_top + ty, height) * width;
        for (int tx = threadIdx.x; tx < tile_width; tx += blockDim.x)
            tile[ty * tile_width + tx] = row[wrap(tile_left + tx, width)];
    }
    __syncthreads();

    const int x = tile_left + 1 + threadIdx.x;
    const int y = tile_top + 1 + threadIdx.y;
    if (x >= width || y >= height) return;

    const int left = threadIdx.x, middle = left + 1, right = left + 2;
    const int* above = tile + threadIdx.y * tile_width;
    const int* here = above + tile_width;
    const int* below = here + tile_width;

    const int neighbours = above[left] + above[middle] + above[right]
                         + here[left] + here[right]
                         + below[left] + below[middle] + below[right];

    out[(size_t)y * width + x] = next_state(rule, here[middle], neighbours);
}
