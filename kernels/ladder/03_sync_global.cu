// One block steps the whole lattice, many generations per launch: between two generations only
// __syncthreads is needed, which waits for every thread of the block.
//
// Bound: a block runs on one SM, so a lattice gets 1/132 of an H200, and N lattices need N streams.
//        9 loads and 1 store per cell, 32 lanes per clock, as in 01_global.
// SASS, sm_90: of a cell 1 LOP3, 1 SHF, 14 IMAD, 7 IADD3, 9 LDG, 1 STG; 45 in all. 64
//        registers, nothing spilled.
// Measured: NVIDIA H200, commit 64423787b1fd:
//        16 x 1024x1024: 34.0 Gcell/s, 0.23 times 02_shared, 0.16 times 01_global
//        1056 x 128x128: 371 Gcell/s, 7.09 times 02_shared, 7.56 times 01_global
//        by B36/S23: 1.00 times the rate of B3/S23
//        1 x 16384x16384: not measured: it takes at most 16,777,216 cells
//        1 x 65536x65536: not measured: it takes at most 16,777,216 cells
// Next: every generation still goes through global memory; a small lattice could
//        stay in the block.
// Compared with 01_global: two loops over the cells replace the grid, one over the generations
// replaces the launches, and there is a barrier.
//
// Launch: one block of any shape (32x32) per lattice; the grid is the number of adjacent lattices.
// Generation 0 goes from a to b, the next from b to a, so the result is in a if `generations` is
// even, else in b.
#include "../life.cuh"

// One cell, as in 01_global.
DEVICE void step(const int* in, int* out, int x, int y, int width, int height, u32 rule)
{
    const int left = wrap(x - 1, width), right = wrap(x + 1, width);
    const int* above = in + (size_t)wrap(y - 1, height) * width;
    const int* here = in + (size_t)y * width;
    const int* below = in + (size_t)wrap(y + 1, height) * width;

    const int neighbours = above[left] + above[x] + above[right]
                         + here[left] + here[right]
                         + below[left] + below[x] + below[right];

    out[(size_t)y * width + x] = next_state(rule, here[x], neighbours);
}

extern "C" __global__ void __launch_bounds__(1024) life_sync_global(
    int* a, int* b, int width, int height, unsigned rule, int generations)
{
    a += (size_t)blockIdx.x * width * height;
    b += (size_t)blockIdx.x * width * height;
    const int x0 = threadIdx.x, y0 = threadIdx.y, dx = blockDim.x, dy = blockDim.y;
    const bool one_each = width <= dx && height <= dy;
    for (int generation = 0; generation < generations; generation++) {
        const int* in = generation & 1 ? b : a;
        int* out = generation & 1 ? a : b;
        if (one_each) { // always the same cell: the compiler hoists its neighbours' addresses
            if (x0 < width && y0 < height) step(in, out, x0, y0, width, height, rule);
        } else {
            for (int y = y0; y < height; y += dy)
                for (int x = x0; x < width; x += dx) step(in, out, x, y, width, height, rule);
        }
        __syncthreads();
    }
}
