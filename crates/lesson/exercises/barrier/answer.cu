// from: 04_sync_shared
// rules: any
// block: 32x32
//
// Launch: one block per lattice, with 2 * width * height bytes of shared memory. In place.
#include "life.cuh"

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

    for (int generation = 0; generation < generations; generation++) {
        const u8* in = generation & 1 ? b : a;
        u8* out = generation & 1 ? a : b;
        for (int y = y0; y < height; y += dy)
            for (int x = x0; x < width; x += dx) step(in, out, x, y, width, height, rule);
        __syncthreads();
    }
    const u8* last = generations & 1 ? b : a;
    for (int i = thread; i < size; i += threads) cells[i] = last[i];
}
