// One block holds the whole lattice and steps it many generations a launch: __syncthreads, which
// waits for every thread of the block, is all that has to stand between two generations.
//
// Bound: 4 bytes read and 4 written a cell, through one SM's path to L2 (about 64 bytes a clock
//        each way); a block has one SM, so N lattices want N streams. 3 loads a cell.
// Measured: not yet
// Against 02_shared: no launch between generations, no tile; a thread walks down its column and
// keeps the sums of the row above and of its own in registers.
//
// Launch: one block of up to 1,024 threads. Generation 0 goes from a to b, the next from b to a,
// so the result is in a where `generations` is even, else in b.
#include "../life.cuh"

#define ROWS 4 // rows whose loads are all on their way before the first is waited for

extern "C" __global__ void __launch_bounds__(1024) life_sync_global(
    int* a, int* b, int width, int height, unsigned rule, int generations)
{
    const Strip strip = strip_of_thread(width, height, ROWS);
    for (int generation = 0; generation < generations; generation++) {
        const int* in = generation & 1 ? b : a;
        int* out = generation & 1 ? a : b;
        for (int x = strip.x; x < width; x += strip.stride) {
            const int left = wrap(x - 1, width), right = wrap(x + 1, width);
            const int* row = in + (size_t)wrap(strip.top - 1, height) * width;
            int above = row[left] + row[x] + row[right];
            row = in + (size_t)strip.top * width;
            int alive = row[x], here = row[left] + alive + row[right];

            for (int y = strip.top; y < strip.bottom; y += ROWS) {
                int next[ROWS], below[ROWS];
#pragma unroll
                for (int i = 0; i < ROWS; i++) {
                    row = in + (size_t)wrap(y + i + 1, height) * width;
                    next[i] = row[x];
                    below[i] = row[left] + next[i] + row[right];
                }
#pragma unroll
                for (int i = 0; i < ROWS; i++) {
                    const int neighbours = above + here + below[i] - alive;
                    if (y + i < strip.bottom)
                        out[(size_t)(y + i) * width + x] = next_state(rule, alive, neighbours);
                    above = here, here = below[i], alive = next[i];
                }
            }
        }
        __syncthreads();
    }
}
