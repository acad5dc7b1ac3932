// from: 05_bits
// rules: B3/S23
// block: 32x8
//
// Launch: as 05_bits. LifeRule::next takes two words, one above the other, and the sums of four rows.
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

    const int left = wrap(x - 1, words), right = wrap(x + 1, words);
    const int end = (width - 1) % 32;                 // the last cell's bit in a row's last word
    const int from = x == 0 ? end : 31;               // bit of the cell to the left, in its word
    const int to = x == words - 1 ? end : 31;         // bit where the cell to the right goes
    const u32 inside = ~0u >> (31 - to);

    u32 cells[ROWS + 2];
    Sum sums[ROWS + 2];
#pragma unroll
    for (int i = 0; i < ROWS + 2; i++) {
        const u32* row = in + (size_t)wrap(y + i - 1, height) * words;
        cells[i] = row[x];
        sums[i] = add_row(cells[i] << 1 | (row[left] >> from & 1), cells[i],
                          cells[i] >> 1 | row[right] << to);
    }
#pragma unroll
    for (int i = 0; i < ROWS; i += 2) {
        const Two next = LifeRule().next(Two{cells[i + 1], cells[i + 2]},
                                         sums[i], sums[i + 1], sums[i + 2], sums[i + 3]);
        if (y + i < height) out[(size_t)(y + i) * words + x] = next.upper & inside;
        if (y + i + 1 < height) out[(size_t)(y + i + 1) * words + x] = next.lower & inside;
    }
}
