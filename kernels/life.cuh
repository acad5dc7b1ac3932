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

// Planar words: the width is divided into 32 planes side by side, so that bit b of word p is cell
// b * words + p of its row. A cell's neighbours are at the same bit of the adjacent words. Only at
// a row's ends the neighbour is in the adjacent plane: there a word is rotated by one bit.
DEVICE u32 turned(u32 word, int left) { return word << (left & 31) | word >> (-left & 31); }

// The sum of three words of a row: one lop3 for the ones, one for the twos.
DEVICE Sum add_row(u32 left, u32 cells, u32 right)
{
    return Sum{lop3<0x96>(left, cells, right), lop3<0xe8>(left, cells, right)};
}

// The next state of 32 cells. `below` is the sum of the row below, `beside` the sum of the left
// and right cells and the ones of the row above, `above` the twos of the row above.
struct LifeRule {
    static constexpr bool TABLE = false;
    METHOD u32 next(u32 cells, Sum below, Sum beside, u32 above) const
    {
        const u32 some = lop3<0x3e>(below.ones, beside.ones, cells);
        const u32 carry = lop3<0x98>(cells, below.twos, some);
        const u32 more = lop3<0x16>(beside.twos, above, carry);
        return lop3<0xa8>(some, carry, more);
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
    static METHOD u32 choose(u32 mask, u32 set, u32 clear)
    {
        return lop3<0xca>(mask, set, clear);
    }
    METHOD u32 next(u32 cells, Sum below, Sum beside, u32 above) const
    {
        const u32 ones = below.ones ^ beside.ones, carry = below.ones & beside.ones;
        const Sum twos = add_row(below.twos, beside.twos, above);
        const u32 bit1 = twos.ones ^ carry, more = twos.ones & carry;
        const u32 bit2 = twos.twos ^ more, bit3 = twos.twos & more;
        u32 state[9]; // by number of neighbours; the bits of that number select one
#pragma unroll
        for (int n = 0; n <= 8; n++) state[n] = choose(cells, lives[9 + n], lives[n]);
#pragma unroll
        for (int n = 0; n < 8; n += 2) state[n] = choose(ones, state[n + 1], state[n]);
        const u32 few = choose(bit1, state[2], state[0]), many = choose(bit1, state[6], state[4]);
        return choose(bit3, state[8], choose(bit2, many, few));
    }
};

// Busy-waits for this many nanoseconds.
DEVICE void spin_for(u64 nanoseconds)
{
    const u64 began = global_timer();
    while (global_timer() - began < nanoseconds) {}
}
