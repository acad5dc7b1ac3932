// 32 planes per word: bit b of every word belongs to plane b, and so do its neighbours, which are
// whole words. Nothing needs to be shifted.
//
// Bound: like 05_bits 1/4 byte per cell; 15 operations for two words, one above the other, by
//        B3/S23 (see LifeRule), with a row's sum shared by three rows: a quarter of an operation per
//        cell. Any other rule: at most 11 a word by its network (see
//        NetworkRule), 27 by its table. Every thread also rotates its neighbours (by 0 except at a
//        row's ends) and computes addresses.
// SASS, sm_90: of a word 8 LOP3, 4.6 SHF, 8.5 IMAD, 3.5 IADD3, 3.8 LDG, 1 STG; 40 in
//        all. A rule's table: 27 LOP3, 5.2 SHF, 17 IMAD, 3.5 IADD3, 3.8 LDG, 1 STG; 74
//        in all. 40 registers, nothing spilled.
// Measured: NVIDIA H200, commit 64423787b1fd:
//        16 x 1024x1024: 5.40 Tcell/s, 0.96 times 05_bits, 25.2 times 01_global
//        1056 x 128x128: 43.2 Gcell/s, 0.76 times 05_bits, 0.88 times 01_global
//        1 x 16384x16384: 11.2 Tcell/s, 1.17 times 05_bits, 44.3 times 01_global
//        1 x 65536x65536: 12.7 Tcell/s, 1.26 times 05_bits, 50.4 times 01_global
//        by B36/S23: 0.83 times the rate of B3/S23
// Next: every generation is loaded and stored; several could be made of what was
//        loaded once.
// Compared with 05_bits: `left` and `right` are words, and a thread goes down ROWS rows, two at a
// time, and keeps the sums of the last two.
//
// Launch: blocks of whole warps (32x8); the grid covers the planar words across and height / ROWS
// (rounded up) down. The width is at least 32.
#include "../life.cuh"

#define ROWS 8

struct Here { u32 left, cells, right; };

// Whether ENDS: a row's ends have two candidates, because 32 does not divide the width.
template <bool ENDS, class Rule>
DEVICE void step_rows(Rule rule, const u32* in, u32* out, int words, int height, Ends ends,
                      int x, int y)
{
    const bool first = x == 0, last = x == words - 1;
    const int left = first ? ends.step - 1 : x - 1, right = last ? words - ends.step : x + 1;
    const auto load = [&](int at) {
        const u32* row = in + (size_t)wrap(at, height) * words;
        Here here{row[left], row[x], row[right]};
        if (ENDS) {
            if (first) here.left = ends.before(here.left, row[left + 1]);
            if (last) here.right = ends.behind(here.right, row[right - 1]);
        } else {
            here.left = turned(here.left, first), here.right = turned(here.right, -last);
        }
        return here;
    };
    const auto sum = [](Here here) { return add_row(here.left, here.cells, here.right); };

    Here upper = load(y);
    Sum above = sum(load(y - 1)), sum_of_upper = sum(upper);
    u32* to = out + (size_t)y * words + x;
#pragma unroll
    for (int i = 0; i < ROWS; i += 2) {
        const Here lower = load(y + i + 1), below = load(y + i + 2);
        const Sum sum_of_lower = sum(lower), sum_of_below = sum(below);
        const Two next = rule.next(Two{upper.cells, lower.cells},
                                   above, sum_of_upper, sum_of_lower, sum_of_below);
        if (y + i < height) to[(size_t)i * words] = next.upper;
        if (y + i + 1 < height) to[(size_t)(i + 1) * words] = next.lower;
        above = sum_of_lower, sum_of_upper = sum_of_below, upper = below;
    }
}

template <class Rule>
DEVICE void step_by(Rule rule, const u32* in, u32* out, int width, int height)
{
    const int words = planar_words(width);
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = ((blockIdx.z * gridDim.y + blockIdx.y) * blockDim.y + threadIdx.y) * ROWS;
    const Ends ends = Ends::of(width);
    if (x >= words || y >= height) return;

    if (width % 32 == 0) step_rows<false>(rule, in, out, words, height, ends, x, y);
    else step_rows<true>(rule, in, out, words, height, ends, x, y);
}

extern "C" __global__ void life_planar(
    const unsigned* __restrict__ in, unsigned* __restrict__ out,
    int width, int height, unsigned rule)
{
    if (rule == LIFE) step_by(LifeRule(), in, out, width, height);
    else step_by(AnyRule::of(rule), in, out, width, height);
}

// The same with the network of one rule.
extern "C" __global__ void life_planar_by_network(
    const unsigned* __restrict__ in, unsigned* __restrict__ out,
    int width, int height, unsigned rule)
{
    step_by(NetworkRule{rule}, in, out, width, height);
}
