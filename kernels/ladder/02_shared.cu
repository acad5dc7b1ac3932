// A block first loads its tile and a halo of one cell into shared memory, then counts there.
//
// Bound: as before 4 bytes read and 4 written per cell, now by construction and not by caching;
//        the halo multiplies reads by (w+2)(h+2)/wh, 33 % more at 32x8. 9 shared loads per cell.
// SASS, sm_90: its loops once round, of a cell 1 LOP3, 4 SHF, 25 IMAD, 6 IADD3, 1 LDG, 1
//        STG, 9 LDS, 1 STS, 1 BAR; 103 in all. 25 registers, nothing spilled.
// Measured: NVIDIA H200, commit 64423787b1fd:
//        16 x 1024x1024: 148 Gcell/s, 0.69 times 01_global
//        1056 x 128x128: 52.4 Gcell/s, 1.07 times 01_global
//        1 x 16384x16384: 154 Gcell/s, 0.61 times 01_global
//        1 x 65536x65536: 152 Gcell/s, 0.60 times 01_global
//        by B36/S23: 1.00 times the rate of B3/S23
// Next: the host launches every generation; a block that has its whole lattice
//        could go on by itself.
// Compared with 01_global: it reads `tile` instead of `in`, and has a barrier after filling it.
//
// Launch: as 01_global, with (block width + 2) * (block height + 2) * 4 bytes of shared memory.
#include "../life.cuh"

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
