// One block loads the whole lattice into shared memory, one byte per cell, steps it there for all
// generations, and writes it back at the end.
//
// Bound: no global memory between generations; 9 shared loads and 1 store per cell, 32 lanes per
//        clock, and one barrier, about 20 clocks, per generation. Two buffers must fit 48 KiB.
// SASS, sm_90: of a cell 1 LOP3, 1 SHF, 11 IMAD, 5 IADD3, 9 LDS, 1 STS; 39 in all. 32
//        registers, nothing spilled.
// Measured: NVIDIA H200, commit 64423787b1fd:
//        1056 x 128x128: 672 Gcell/s, 1.81 times 03_sync_global, 13.7 times 01_global
//        by B36/S23: 1.00 times the rate of B3/S23
//        16 x 1024x1024: not measured: it takes at most 24,576 cells
//        1 x 16384x16384: not measured: it takes at most 24,576 cells
//        1 x 65536x65536: not measured: it takes at most 24,576 cells
// Next: a byte a cell, and 9 reads: 32 cells would fit one word, and be counted
//        all at once.
// Compared with 03_sync_global: `in` and `out` are in shared memory, as bytes to save space.
//
// Launch: one block of any shape (32x32) per lattice, with 2 * width * height bytes of shared
// memory; the grid is the number of adjacent lattices. In place.
#include "../life.cuh"

// One cell, as in 01_global.
DEVICE void step(const u8* in, u8* out, int x, int y, int width, int height, u32 rule)
{
    const int left = wrap(x - 1, width), right = wrap(x + 1, width);
    const u8* above = in + wrap(y - 1, height) * width;
    const u8* here = in + y * width;
    const u8* below = in + wrap(y + 1, height) * width;

    const int neighbours = above[left] + above[x] + above[right]
                         + here[left] + here[right]
                         + below[left] + below[x] + below[right];

    out[y * width + x] = next_state(rule, here[x], neighbours);
}

extern "C" __global__ void __launch_bounds__(1024) life_sync_shared(
    int* cells, int width, int height, unsigned rule, int generations)
{
    extern __shared__ u8 buffers[];
    const int x0 = threadIdx.x, y0 = threadIdx.y, dx = blockDim.x, dy = blockDim.y;
    const int size = width * height, thread = y0 * dx + x0, threads = dx * dy;
    u8 *a = buffers, *b = buffers + size;
    cells += (size_t)blockIdx.x * size;
    for (int i = thread; i < size; i += threads) a[i] = cells[i];
    __syncthreads();

    const bool one_each = width <= dx && height <= dy;
    for (int generation = 0; generation < generations; generation++) {
        const u8* in = generation & 1 ? b : a;
        u8* out = generation & 1 ? a : b;
        if (one_each) { // always the same cell: the compiler hoists its neighbours' addresses
            if (x0 < width && y0 < height) step(in, out, x0, y0, width, height, rule);
        } else {
            for (int y = y0; y < height; y += dy)
                for (int x = x0; x < width; x += dx) step(in, out, x, y, width, height, rule);
        }
        __syncthreads();
    }
    const u8* last = generations & 1 ? b : a;
    for (int i = thread; i < size; i += threads) cells[i] = last[i];
}
