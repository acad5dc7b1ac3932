// One block takes the whole lattice into shared memory, a byte a cell, steps it there as often
// as asked, and only then writes it back.
//
// Bound: no global memory between generations; 9 shared loads and 1 store a cell, 32 lanes a
//        clock, and a barrier, about 20 clocks, a generation. Two buffers must fit in 48 KiB.
// Measured: not yet
// Against 03_sync_global: `in` and `out` are in shared memory; bytes, so that more fits.
//
// Launch: one block of any shape (32x32), 2 * width * height bytes of shared memory. In place.
#include "../life.cuh"

extern "C" __global__ void __launch_bounds__(1024) life_sync_shared(
    int* cells, int width, int height, unsigned rule, int generations)
{
    extern __shared__ u8 buffers[];
    const int size = width * height, threads = blockDim.x * blockDim.y;
    const int thread = threadIdx.y * blockDim.x + threadIdx.x;
    u8 *in = buffers, *out = buffers + size;
    for (int i = thread; i < size; i += threads) in[i] = cells[i];
    __syncthreads();

    for (int generation = 0; generation < generations; generation++) {
        for (int y = threadIdx.y; y < height; y += blockDim.y) {
            const u8* above = in + wrap(y - 1, height) * width;
            const u8* here = in + y * width;
            const u8* below = in + wrap(y + 1, height) * width;

            for (int x = threadIdx.x; x < width; x += blockDim.x) {
                const int left = wrap(x - 1, width), right = wrap(x + 1, width);

                const int neighbours = above[left] + above[x] + above[right]
                                     + here[left] + here[right]
                                     + below[left] + below[x] + below[right];

                out[y * width + x] = next_state(rule, here[x], neighbours);
            }
        }
        __syncthreads();
        u8* swap = in;
        in = out, out = swap;
    }
    for (int i = thread; i < size; i += threads) cells[i] = in[i];
}
