// 03_sync_global with an optional barrier, to show what the barrier is for.
//
// Without __syncthreads a warp starts the next generation while others are still at this one, and
// reads cells that are not written yet or already overwritten. Odd warps are delayed by `delay`
// nanoseconds in every generation, so that the fault shows reliably.
//
// Launch: one block of any length; thread t has the cells t, t + threads, ... Generation 0 goes
// from a to b, the next from b to a.
#include "../life.cuh"

extern "C" __global__ void __launch_bounds__(1024) barrier(
    int* a, int* b, int width, int height, unsigned rule, int generations, int barrier, u64 delay)
{
    const bool odd = threadIdx.x / 32 & 1;
    for (int generation = 0; generation < generations; generation++) {
        const int* in = generation & 1 ? b : a;
        int* out = generation & 1 ? a : b;
        if (odd) spin_for(delay);
        for (int i = threadIdx.x; i < width * height; i += blockDim.x) {
            const int x = i % width, y = i / width;
            const int left = wrap(x - 1, width), right = wrap(x + 1, width);
            const int* above = in + (size_t)wrap(y - 1, height) * width;
            const int* here = in + (size_t)y * width;
            const int* below = in + (size_t)wrap(y + 1, height) * width;

            const int neighbours = above[left] + above[x] + above[right]
                                 + here[left] + here[right]
                                 + below[left] + below[x] + below[right];

            out[i] = next_state(rule, here[x], neighbours);
        }
        if (barrier) __syncthreads();
    }
}
