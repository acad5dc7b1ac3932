// Counts a lattice's live cells and its births and deaths since the previous measure, and hashes
// its words. `before` holds the words at the previous measure and is replaced.
//
// Bound: 1/8 byte per cell read from each of the two, and 1/8 byte written.
// Launch: blocks of 256; the grid is blocks per lattice (at most 128) by 1 by adjacent lattices.
// Each block writes its share; the last block to finish adds up all shares in order and resets the
// counter, so nothing needs to be cleared between launches.
//
// The hash is the sum over all words of `mixed(i, word)`, modulo 2^64, independent of the order. The
// index i of the first word is `first_word`: not 0 in a band, which has some rows of a torus.
#include "../life.cuh"

struct Share { u64 population, births, deaths, hash; };

DEVICE u64 mixed(u64 index, u32 word)
{
    u64 x = ((index + 1) * 0x9e3779b97f4a7c15ull) ^ word;
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93ull;
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93ull;
    return x ^ x >> 32;
}

DEVICE void add(Share& sum, const volatile Share& more)
{
    sum.population += more.population;
    sum.births += more.births;
    sum.deaths += more.deaths;
    sum.hash += more.hash;
}

DEVICE void add_up(Share* sums, int me)
{
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (me < half) add(sums[me], sums[me + half]);
    }
}

extern "C" __global__ void measure_bits(
    const unsigned* words, unsigned* before, unsigned long long* shares, unsigned* arrived,
    unsigned long long* measures, unsigned long long count, unsigned long long first_word)
{
    words += blockIdx.z * count;
    before += blockIdx.z * count;
    Share* share = (Share*)shares + (size_t)blockIdx.z * gridDim.x;

    __shared__ Share sums[256];
    __shared__ int is_last;
    const int me = threadIdx.x;
    Share sum = {0, 0, 0, 0};
    for (u64 i = (u64)blockIdx.x * 256 + me; i < count; i += (u64)gridDim.x * 256) {
        const u32 now = words[i], then = before[i];
        before[i] = now;
        sum.population += __popc(now);
        sum.births += __popc(now & ~then);
        sum.deaths += __popc(then & ~now);
        sum.hash += mixed(first_word + i, now);
    }
    sums[me] = sum;
    add_up(sums, me);
    if (me == 0) {
        share[blockIdx.x] = sums[0];
        __threadfence();
        is_last = atomicAdd(arrived + blockIdx.z, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last) {
        Share all = {0, 0, 0, 0};
        if (me < (int)gridDim.x) add(all, share[me]);
        sums[me] = all;
        add_up(sums, me);
        if (me == 0) {
            ((Share*)measures)[blockIdx.z] = sums[0];
            arrived[blockIdx.z] = 0;
        }
    }
}
