// A generation of Life with one int per cell, which also tells whether the lattice still changes.
//
// `out` holds the generation before the one in `in`. So a cell that gets the state it had there is still
// or blinks, and any other sets `changed`.
//
// Bound: memory; 9 reads of a cell, of which the caches serve most, and 4 bytes read and written.
//
// Launch: any grid of any block; all the threads share the lattice.
#include "../life.cuh"

extern "C" __global__ void settle(
    const int* in, int* out, int width, int height, unsigned rule, unsigned* changed)
{
    const int threads = gridDim.x * blockDim.x;
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = thread; i < width * height; i += threads) {
        const int x = i % width, y = i / width;
        const int left = wrap(x - 1, width), right = wrap(x + 1, width);
        const int* above = in + (size_t)wrap(y - 1, height) * width;
        const int* here = in + (size_t)y * width;
        const int* below = in + (size_t)wrap(y + 1, height) * width;

        const int neighbours = above[left] + above[x] + above[right]
                             + here[left] + here[right]
                             + below[left] + below[x] + below[right];

        const int next = next_state(rule, here[x], neighbours);
        if (next != out[i]) *changed = 1;
        out[i] = next;
    }
}
