// Makes a soup, bit by bit the one that the host makes (crates/life/src/soup.rs says how): each row
// has a random generator of its own, so each thread makes a row.
//
// Bound: 1/8 byte written per cell; of 64 cells up to 16 random words of about 25 operations, as many
// as the density has binary digits.
// Launch: blocks of 64 threads; the grid covers the rows.
#include "../life.cuh"

// One draw of SplitMix64.
DEVICE u64 mix(u64 z)
{
    z += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

DEVICE u64 rotated(u64 word, int left) { return word << left | word >> (64 - left); }

struct Xoshiro256PlusPlus {
    u64 a, b, c, d;

    METHOD u64 next()
    {
        const u64 result = rotated(a + d, 23) + a, shifted = b << 17;
        c ^= a, d ^= b, b ^= c, a ^= d;
        c ^= shifted, d = rotated(d, 45);
        return result;
    }
};

DEVICE Xoshiro256PlusPlus generator_of_row(u64 key, int y)
{
    const u64 start = mix(key + y), increment = 0x9e3779b97f4a7c15ull;
    return Xoshiro256PlusPlus{mix(start), mix(start + increment), mix(start + 2 * increment),
                              mix(start + 3 * increment)};
}

// A cell is alive with probability chance / 65536: read from its lowest digit on, a 1 makes (1 + p) / 2
// of probability p, and a 0 makes p / 2.
extern "C" __global__ void make_soup(
    unsigned* words, int width, int height, unsigned chance, unsigned long long key)
{
    const int y = blockIdx.x * blockDim.x + threadIdx.x, across = (width + 31) / 32;
    if (y >= height) return;
    u32* row = words + (size_t)y * across;
    Xoshiro256PlusPlus random = generator_of_row(key, y);
    int lowest = 0;
    while (lowest < 16 && !(chance >> lowest & 1)) lowest++;

    for (int x = 0; x < across; x += 2) {
        u64 cells = chance >> 16 ? ~0ull : 0;
        for (int digit = lowest; digit < 16; digit++) {
            const u64 word = random.next();
            cells = chance >> digit & 1 ? cells | word : cells & word;
        }
        const u32 low = (u32)cells, high = (u32)(cells >> 32);
        const u32 mask = ~0u >> (-width & 31); // of the row's last word
        row[x] = x + 1 < across ? low : low & mask;
        if (x + 1 < across) row[x + 1] = x + 2 < across ? high : high & mask;
    }
}
