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
    const int tile_width = blockDim.x + 2;
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = (blockIdx.z * gridDim.y + blockIdx.y) * blockDim.y + threadIdx.y;

    // Each thread loads its own cell. Nobody loads the halo.
    const int* row = in + (size_t)wrap(y, height) * width;
    tile[(threadIdx.y + 1) * tile_width + threadIdx.x + 1] = row[wrap(x, width)];
    __syncthreads();
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
