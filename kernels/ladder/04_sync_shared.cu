// One block takes the whole lattice into shared memory, a byte a cell, steps it there as often
// as asked, and only then writes it back.
//
// Bound: no global memory between generations; 3 shared loads and 1 store a cell, 32 lanes a
//        clock, and a barrier, about 20 clocks, a generation. Two buffers must fit in 48 KiB.
// Measured: not yet
// Against 03_sync_global: `in` and `out` are in shared memory; bytes, so that more fits.
//
// Launch: one block of up to 1,024 threads, 2 * width * height bytes of shared memory. In place.
#include "../life.cuh"

#define ROWS 4 // rows whose loads are all on their way before the first is waited for

extern "C" __global__ void __launch_bounds__(1024) life_sync_shared(
    int* cells, int width, int height, unsigned rule, int generations)
{
    extern __shared__ u8 buffers[];
    const int size = width * height, threads = blockDim.x * blockDim.y;
    const int thread = threadIdx.y * blockDim.x + threadIdx.x;
    u8 *in = buffers, *out = buffers + size;
    for (int i = thread; i < size; i += threads) in[i] = cells[i];
    __syncthreads();

    const Strip strip = strip_of_thread(width, height, ROWS);
    for (int generation = 0; generation < generations; generation++) {
        for (int x = strip.x; x < width; x += strip.stride) {
            const int left = wrap(x - 1, width), right = wrap(x + 1, width);
            const u8* row = in + wrap(strip.top - 1, height) * width;
            int above = row[left] + row[x] + row[right];
            row = in + strip.top * width;
            int alive = row[x], here = row[left] + alive + row[right];

            for (int y = strip.top; y < strip.bottom; y += ROWS) {
                int next[ROWS], below[ROWS];
#pragma unroll
                for (int i = 0; i < ROWS; i++) {
                    row = in + wrap(y + i + 1, height) * width;
                    next[i] = row[x];
                    below[i] = row[left] + next[i] + row[right];
                }
#pragma unroll
                for (int i = 0; i < ROWS; i++) {
                    const int neighbours = above + here + below[i] - alive;
                    if (y + i < strip.bottom)
                        out[(y + i) * width + x] = next_state(rule, alive, neighbours);
                    above = here, here = below[i], alive = next[i];
                }
            }
        }
        __syncthreads();
        u8* swap = in;
        in = out, out = swap;
    }
    for (int i = thread; i < size; i += threads) cells[i] = in[i];
}
