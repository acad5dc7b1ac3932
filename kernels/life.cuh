// What every rung needs and none of them teaches: the ring, the rule, and sums of bit planes.
#pragma once
#include "cuda.h"

#define DEVICE static __device__ __forceinline__
typedef unsigned int u32;
typedef unsigned char u8;
typedef unsigned long long u64;

// Index i on a ring of `size` cells, for i from -1 to size. Further on it gives cell 0, so that
// threads beyond the edge, whose results nobody keeps, still read inside the lattice.
DEVICE int wrap(int i, int size) { return i < 0 ? size - 1 : i < size ? i : 0; }

// Bit 9 * alive + neighbours of a rule is the cell's next state.
DEVICE int next_state(u32 rule, int alive, int neighbours)
{
    return rule >> (9 * alive + neighbours) & 1;
}

// 32 one-bit numbers added at a time: bit i of every plane belongs to cell i.
struct Sum { u32 ones, twos; };
struct Count { u32 ones, twos, fours, eights; };

DEVICE Sum add(u32 a, u32 b, u32 c) { return Sum{a ^ b ^ c, (a & b) | (c & (a ^ b))}; }

DEVICE Count add(Sum a, Sum b, Sum c)
{
    const Sum ones = add(a.ones, b.ones, c.ones);  // its twos carry over
    const Sum twos = add(a.twos, b.twos, c.twos);  // counts in twos, its twos are fours
    const u32 carry = twos.ones & ones.twos;
    return Count{ones.ones, twos.ones ^ ones.twos, twos.twos ^ carry, twos.twos & carry};
}

// The next state of 32 cells, `count` being each cell's three by three with the cell itself.
DEVICE u32 next_states(u32 rule, u32 cells, Count count)
{
    const u32 LIFE = 1 << 3 | (1 << 2 | 1 << 3) << 9; // B3/S23
    if (rule == LIFE) {                               // the same branch for every thread
        const u32 three = count.ones & count.twos, four = cells & ~(count.ones | count.twos);
        return (three & ~count.fours) | (four & count.fours);
    }
    u32 next = 0;
#pragma unroll
    for (int n = 0; n <= 9; n++) {
        const u32 equal = (n & 1 ? count.ones : ~count.ones) & (n & 2 ? count.twos : ~count.twos)
                        & (n & 4 ? count.fours : ~count.fours)
                        & (n & 8 ? count.eights : ~count.eights);
        const u32 births = n <= 8 ? 0u - (rule >> n & 1) : 0;           // all ones or none
        const u32 survivals = n >= 1 ? 0u - (rule >> (9 + n - 1) & 1) : 0;
        next |= equal & ((cells & survivals) | (~cells & births));
    }
    return next;
}

// Does nothing for so many nanoseconds.
DEVICE void spin_for(u64 nanoseconds)
{
    const u64 began = global_timer();
    while (global_timer() - began < nanoseconds) {}
}
