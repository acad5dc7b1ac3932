// 32 planes per word: bit b of every word belongs to plane b, and so do its neighbours, which are
// whole words. Nothing needs to be shifted.
//
// Bound: like 05_bits 1/4 byte per cell; 8 operations per word for B3/S23, with a row's sum shared
//        by three rows: a quarter of an operation per cell. Any other rule: 28. Every thread also
//        rotates its neighbours (by 0 except at a row's ends) and computes addresses.
// SASS, sm_90: of a word 8.5 LOP3, 4.9 SHF, 12 IMAD, 2.2 IADD3, 3.8 LDG, 1 STG; 48 in
//        all. Any other rule: 29 LOP3, 4.9 SHF, 21 IMAD, 2.2 IADD3, 3.8 LDG, 1 STG; 85
//        in all. 44 registers, nothing spilled.
// Measured: NVIDIA H200, commit e454ed25313c:
//        16 x 1024x1024: 5.12 Tcell/s, 0.91 times 05_bits, 24.4 times 01_global
//        1056 x 128x128: 72.3 Gcell/s, 0.99 times 05_bits, 1.57 times 01_global
//        1 x 16384x16384: 10.4 Tcell/s, 1.08 times 05_bits, 41.7 times 01_global
//        1 x 65536x65536: 11.7 Tcell/s, 1.16 times 05_bits, 47.3 times 01_global
//        by B36/S23: 0.93 times as fast as by B3/S23
// Next: every generation is loaded and stored; several could be made of what was
//        loaded once.
// Compared with 05_bits: `left` and `right` are words, the sum excludes the cell itself, and a
// thread goes down ROWS rows and keeps the last two.
//
// Launch: blocks of any shape (32x8); the grid covers the words across and height / ROWS
// (rounded up) down. The width is a multiple of 32.
#include "../life.cuh"

#define ROWS 8

struct Here { u32 left, cells, right; };

template <class Rule>
DEVICE void step_rows(Rule rule, const u32* in, u32* out, int words, int height, int x, int y)
{
    const int left = wrap(x - 1, words), right = wrap(x + 1, words);
    const int turn_left = x == 0, turn_right = x == words - 1; // into the adjacent plane
    const auto load = [&](int at) {
        const u32* row = in + (size_t)wrap(at, height) * words;
        return Here{turned(row[left], turn_left), row[x], turned(row[right], -turn_right)};
    };

    const Here first = load(y - 1);
    Here here = load(y);
    Sum above = add_row(first.left, first.cells, first.right);
    Sum sum = add_row(here.left, here.cells, here.right);
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const Here next = load(y + i + 1);
        const Sum below = add_row(next.left, next.cells, next.right);
        const Sum beside = add_row(here.left, above.ones, here.right);
        if (y + i < height)
            out[(size_t)(y + i) * words + x] = rule.next(here.cells, below, beside, above.twos);
        above = sum, sum = below, here = next;
    }
}

extern "C" __global__ void life_planar(
    const unsigned* __restrict__ in, unsigned* __restrict__ out,
    int width, int height, unsigned rule)
{
    const int words = width / 32;
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = ((blockIdx.z * gridDim.y + blockIdx.y) * blockDim.y + threadIdx.y) * ROWS;
    if (x >= words || y >= height) return;

    if (rule == LIFE) step_rows(LifeRule(), in, out, words, height, x, y);
    else step_rows(AnyRule::of(rule), in, out, words, height, x, y);
}
