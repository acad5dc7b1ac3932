// Shared by all rungs: indices on a torus, the rule, and sums of bit planes.
#pragma once
#include "cuda.h"

#define METHOD __device__ __forceinline__
#define DEVICE static METHOD
typedef unsigned int u32;
typedef unsigned char u8;
typedef unsigned long long u64;

// Index i on a ring of `size` cells, for i from -1 to size. Larger i give 0, so that threads
// beyond the edge, whose results are discarded, still read inside the lattice.
DEVICE int wrap(int i, int size) { return i < 0 ? size - 1 : i < size ? i : 0; }

// Bit 9 * alive + neighbours of a rule is the cell's next state.
DEVICE int next_state(u32 rule, int alive, int neighbours)
{
    return rule >> (9 * alive + neighbours) & 1;
}

constexpr u32 LIFE = 1 << 3 | (1 << 2 | 1 << 3) << 9; // B3/S23

// Sums of 32 one-bit numbers at a time: bit i of every plane belongs to cell i.
struct Sum { u32 ones, twos; };
struct Count { u32 ones, twos, fours, eights; };

DEVICE Sum add(u32 a, u32 b, u32 c) { return Sum{a ^ b ^ c, (a & b) | (c & (a ^ b))}; }

DEVICE Count add(Sum a, Sum b, Sum c)
{
    const Sum ones = add(a.ones, b.ones, c.ones);  // its twos are a carry
    const Sum twos = add(a.twos, b.twos, c.twos);  // counts in twos, its twos are fours
    const u32 carry = twos.ones & ones.twos;
    return Count{ones.ones, twos.ones ^ ones.twos, twos.twos ^ carry, twos.twos & carry};
}

// The next state of 32 cells; `count` is the sum of each cell's 3x3 block, including the cell.
DEVICE u32 next_states(u32 rule, u32 cells, Count count)
{
    if (rule == LIFE) { // uniform: all threads take the same branch
        const u32 three = count.ones & count.twos, four = cells & ~(count.ones | count.twos);
        return (three & ~count.fours) | (four & count.fours);
    }
    u32 next = 0;
#pragma unroll
    for (int n = 0; n <= 9; n++) {
        const u32 equal = (n & 1 ? count.ones : ~count.ones) & (n & 2 ? count.twos : ~count.twos)
                        & (n & 4 ? count.fours : ~count.fours)
                        & (n & 8 ? count.eights : ~count.eights);
        const u32 births = n <= 8 ? 0u - (rule >> n & 1) : 0;           // all ones or all zeros
        const u32 survivals = n >= 1 ? 0u - (rule >> (9 + n - 1) & 1) : 0;
        next |= equal & ((cells & survivals) | (~cells & births));
    }
    return next;
}

// Planar words: a row is divided into 32 planes, and bit b of word x is cell first(b) + x, where
// plane b starts at cell first(b) = b * width / 32, rounded down. A cell's neighbours are at the
// same bit of the adjacent words. Only at a row's ends the neighbour is in the adjacent plane:
// there a word is rotated by one bit. A row has a multiple of four words, at least width / 32. The
// cells of its last words may be in two planes, which step them alike.
DEVICE int planar_words(int width) { return (width + 127) / 128 * 4; }
DEVICE int first_of_plane(int plane, int width) { return (u32)plane * width / 32; }
DEVICE u32 turned(u32 word, int left) { return word << (left & 31) | word >> (-left & 31); }
DEVICE u32 choose(u32 mask, u32 set, u32 clear) { return lop3<0xca>(mask, set, clear); }

// The ends of a planar row. From a plane to the next one it is `step` cells, and one more from a
// `wide` plane. So beyond an end there are two candidates: whole words, adjacent ones, and a mask.
struct Ends {
    int step;
    u32 wide; // bit b: plane b is wide

    // Every thread of a warp calls it; a warp's threads are consecutive.
    DEVICE Ends of(int width)
    {
        const u32 plane = (threadIdx.y * blockDim.x + threadIdx.x) % 32, rest = width % 32;
        return Ends{width / 32, __ballot_sync(~0u, plane * rest % 32 + rest >= 32)};
    }
    // The word before the first one, of words `step - 1` and `step`.
    METHOD u32 before(u32 narrow_one, u32 wide_one) const
    {
        return turned(choose(wide, wide_one, narrow_one), 1);
    }
    // The word behind the last one of `words`, of words `words - step` and `words - step - 1`.
    METHOD u32 behind(u32 narrow_one, u32 wide_one) const
    {
        return choose(wide, turned(wide_one, -1), turned(narrow_one, -1));
    }
};

// The sum of three words of a row: one lop3 for the ones, one for the twos.
DEVICE Sum add_row(u32 left, u32 cells, u32 right)
{
    return Sum{lop3<0x96>(left, cells, right), lop3<0xe8>(left, cells, right)};
}

// Two words, one above the other.
struct Two { u32 upper, lower; };

struct LifeRule {
    static constexpr bool TABLE = false;
    // The next states of two words, from the sums of their rows and of those above and below. With
    // two rows' sums, 15 operations: 7.5 per word. (The published count is 11 per word. Two words
    // share common parts of their rows' sums: found by exact synthesis with a SAT solver, and checked
    // over all combinations that can occur.)
    METHOD Two next(Two cells, Sum above, Sum upper, Sum lower, Sum below) const
    {
        const u32 m0 = lop3<0xd4>(lower.twos, upper.twos, upper.ones);
        const u32 m1 = lop3<0xe8>(lower.twos, upper.twos, upper.ones);
        const u32 m2 = lop3<0x18>(m0, lower.ones, upper.ones);
        const auto finish = [&](Sum outer, u32 cell) {
            const u32 a0 = lop3<0x96>(outer.ones, lower.ones, upper.ones);
            const u32 a1 = lop3<0xe2>(a0, m2, m0);
            const u32 a2 = lop3<0x16>(a1, outer.twos, m1);
            return lop3<0xe0>(a2, a0, cell);
        };
        return Two{finish(above, cells.upper), finish(below, cells.lower)};
    }
};

struct AnyRule {
    static constexpr bool TABLE = true;
    u32 lives[18]; // the rule's table as masks: all ones or all zeros

    DEVICE AnyRule of(u32 rule)
    {
        AnyRule any;
#pragma unroll
        for (int i = 0; i < 18; i++) any.lives[i] = 0u - (rule >> i & 1);
        return any;
    }
    // From the sum of a cell's 3x3 block.
    METHOD u32 next(u32 cells, Sum above, Sum here, Sum below) const
    {
        const Sum ones = add_row(above.ones, here.ones, below.ones);
        const Sum twos = add_row(above.twos, here.twos, below.twos);
        const u32 bit1 = twos.ones ^ ones.twos, more = twos.ones & ones.twos;
        const u32 bit2 = twos.twos ^ more, bit3 = twos.twos & more;
        u32 state[10]; // by that sum, which counts a live cell itself
        state[0] = lives[0], state[9] = lives[17];
#pragma unroll
        for (int n = 1; n <= 8; n++) state[n] = choose(cells, lives[9 + n - 1], lives[n]);
#pragma unroll
        for (int n = 0; n < 10; n += 2) state[n] = choose(ones.ones, state[n + 1], state[n]);
        const u32 few = choose(bit1, state[2], state[0]), many = choose(bit1, state[6], state[4]);
        return choose(bit3, state[8], choose(bit2, many, few));
    }
    METHOD Two next(Two cells, Sum above, Sum upper, Sum lower, Sum below) const
    {
        return Two{next(cells.upper, above, upper, lower), next(cells.lower, upper, lower, below)};
    }
};

// A rule whose network of three-input functions the host has put into the kernel: a word takes 2
// operations for the sum of a row, 4 for that of three rows, and at most 5 more.
struct NetworkRule {
    static constexpr bool TABLE = false;
    u32 rule;

    METHOD u32 next(u32 cells, Sum above, Sum here, Sum below) const
    {
        const Sum ones = add_row(above.ones, here.ones, below.ones);
        const Sum twos = add_row(above.twos, here.twos, below.twos);
        return rule_network(rule, ones.ones, ones.twos, twos.ones, twos.twos, cells);
    }
    METHOD Two next(Two cells, Sum above, Sum upper, Sum lower, Sum below) const
    {
        return Two{next(cells.upper, above, upper, lower), next(cells.lower, upper, lower, below)};
    }
};

// Busy-waits for this many nanoseconds.
DEVICE void spin_for(u64 nanoseconds)
{
    const u64 began = global_timer();
    while (global_timer() - began < nanoseconds) {}
}
