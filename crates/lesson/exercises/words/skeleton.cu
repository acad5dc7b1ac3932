// from: 05_bits
// rules: any
// block: 32x8
//
// Launch: one thread per word and ROWS rows. The least significant bit of a word is its leftmost
// cell; bits beyond the width are 0.
#include "life.cuh"

#define ROWS 4

extern "C" __global__ void life_bits(
    const unsigned* __restrict__ in, unsigned* __restrict__ out,
    int width, int height, unsigned rule)
{
    const int words = (width + 31) / 32;
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = ((blockIdx.z * gridDim.y + blockIdx.y) * blockDim.y + threadIdx.y) * ROWS;
    if (x >= words || y >= height) return;

    const int end = (width - 1) % 32;                 // the last cell's bit in a row's last word
    const u32 inside = x == words - 1 ? ~0u >> (31 - end) : ~0u;

    u32 cells[ROWS + 2];
    Sum sums[ROWS + 2];
#pragma unroll
    for (int i = 0; i < ROWS + 2; i++) {
        const u32* row = in + (size_t)wrap(y + i - 1, height) * words;
        cells[i] = row[x];
        // The outer cells of a word have no neighbours in the words beside it.
        sums[i] = add(cells[i] << 1, cells[i], cells[i] >> 1);
    }
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const Count count = add(sums[i], sums[i + 1], sums[i + 2]);
        if (y + i < height)
            out[(size_t)(y + i) * words + x] = next_states(rule, cells[i + 1], count) & inside;
    }
}
