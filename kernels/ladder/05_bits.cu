// 32 cells per word: one logical operation works on 32 cells at once, and their neighbours are
// counted in bit planes: ones, twos, fours and eights.
//
// Bound: 1/8 byte read and 1/8 written per cell, 1/32 of the rungs before; about 20 operations
//        per word, less than one per cell.
// SASS, sm_90: of a word 16 LOP3, 7 SHF, 13 IMAD, 0.2 IADD3, 4.5 LDG, 1 STG; 65 in all.
//        Any other rule: 42 LOP3, 6 SHF, 13 IMAD, 0.2 IADD3, 4.5 LDG, 1 STG; 137 in all.
//        40 registers, nothing spilled.
// Measured: NVIDIA H200, commit 64423787b1fd:
//        16 x 1024x1024: 5.62 Tcell/s, 165 times 03_sync_global, 26.2 times 01_global
//        1056 x 128x128: 56.6 Gcell/s, 0.08 times 04_sync_shared, 1.15 times 01_global
//        1 x 16384x16384: 9.56 Tcell/s, 62.2 times 02_shared, 37.8 times 01_global
//        1 x 65536x65536: 10.1 Tcell/s, 66.4 times 02_shared, 40.2 times 01_global
//        by B36/S23: 0.77 times the rate of B3/S23
// Next: shifts and edges cost more than the counting; in another order of the
//        cells there are none.
// Compared with 01_global: x is a word, a thread steps ROWS rows, and a row's sum serves three.
//
// Launch: blocks of any shape (32x8); the grid covers the words across and height / ROWS
// (rounded up) down. Bits beyond the width are 0 in `in` and in `out`.
#include "../life.cuh"

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
        sums[i] = add(cells[i] << 1 | (row[left] >> from & 1), cells[i],
                      cells[i] >> 1 | row[right] << to);
    }
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const Count count = add(sums[i], sums[i + 1], sums[i + 2]);
        if (y + i < height)
            out[(size_t)(y + i) * words + x] = next_states(rule, cells[i + 1], count) & inside;
    }
}
