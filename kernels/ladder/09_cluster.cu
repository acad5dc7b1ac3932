// A lattice stays in the registers of a cluster of six blocks: six SMs that write into each
// other's shared memory and synchronise within the kernel.
//
// Bound: like 08_resident 7.5 operations per word for B3/S23, on six SMs; the HALO rows above and
//        below a block's own rows are computed twice. Each generation costs a barrier of the
//        block, and every HALO generations a barrier of the cluster.
// SASS, sm_90: at 1024x1024 of a word and generation 8 LOP3, 1 SHFL, 1 SHF, 0.4 IMAD, 0.1 LDS,
//        0.1 STS; 11 in all, and every HALO generations the exchange. A rule's table: 28 LOP3,
//        1 SHFL, 1 SHF, 0.1 IMAD, 0.1 LDS, 0.1 STS; 31 in all. 168 registers, nothing spilled.
// Measured: NVIDIA H200, commit f96121b34a95:
//        16 x 1024x1024: 29.4 Tcell/s, 1.59 times 07_multistep, 140 times 01_global
//        by B36/S23: 0.83 times as fast as by B3/S23
//        1056 x 128x128: not measured: it takes lattices of 512x512, 1024x1024 or
//          2048x2048
//        1 x 16384x16384: not measured: it takes lattices of 512x512, 1024x1024 or
//          2048x2048
//        1 x 65536x65536: not measured: it takes lattices of 512x512, 1024x1024 or
//          2048x2048
// Next: nothing but the 15 operations for two words; that is the limit, until
//        somebody counts with fewer.
// Compared with 08_resident: a lane has R rows of A words instead of whole rows; adjacent rows come
// through shared memory, and HALO rows of the adjacent blocks through distributed shared memory.
//
// Six blocks, because a cluster must fit one GPC, which has at most 18 SMs on an H200: with seven
// or eight blocks only 15 clusters fitted at once, and a sixteenth lattice doubled the time.
//
// Launch: 384 threads and SHARED uint4s per block, six blocks per lattice; the grid covers adjacent
// lattices. The lattice is a square with side 512, 1024 or 2048. In place. Clusters need sm_90.
#include "../life.cuh"

#define BLOCKS 6 // per cluster
#define WARPS 12 // per block
#define HALO 8   // halo rows above and below a block's own; they last for as many generations
#define SHARED 2048 // uint4s of shared memory per block

// A lane's part of the lattice: R rows of A words, at position `at` across and `group` down.
template <int A, int R, int ACROSS>
struct Part {
    static constexpr int GROUPS = WARPS * (32 / ACROSS), QUADS = (A + 1) / 2;
    static constexpr int WORDS = A * ACROSS, SIDE = 32 * WORDS;
    static constexpr int OWN = (SIDE - 1) / BLOCKS + 1; // rows per block, or one less
    static_assert(OWN + 2 * HALO <= GROUPS * R, "all rows fit");
    static constexpr int PASSED = GROUPS * QUADS * ACROSS; // uint4s for a row's sums of all lanes
    u32 cells[R][A];
    int lane, at, group, own;

    // The sums of a row. The words beyond its ends come from the adjacent lanes, or from the
    // adjacent plane.
    METHOD void add(int y, Sum (&sums)[A]) const
    {
        const int row = lane - at;
        u32 left = __shfl_sync(~0u, cells[y][A - 1], row + (at + ACROSS - 1) % ACROSS);
        u32 right = __shfl_sync(~0u, cells[y][0], row + (at + 1) % ACROSS);
        left = turned(left, at == 0);
        right = turned(right, -(at == ACROSS - 1));
#pragma unroll
        for (int i = 0; i < A; i++)
            sums[i] = add_row(i > 0 ? cells[y][i - 1] : left, cells[y][i],
                              i < A - 1 ? cells[y][i + 1] : right);
    }

    // Steps the rows y and, if PAIR, y + 1, from the sums of their rows and of those beside.
    template <bool PAIR, class Rule>
    METHOD void step(Rule rule, int y, const Sum (&above)[A], const Sum (&upper)[A],
                     const Sum (&lower)[A], const Sum (&below)[A])
    {
#pragma unroll
        for (int i = 0; i < A; i++) {
            const Two two{cells[y][i], cells[y + PAIR][i]};
            const Two next = rule.next(two, above[i], upper[i], lower[i], below[i]);
            cells[y][i] = next.upper;
            if (PAIR) cells[y + 1][i] = next.lower;
        }
    }

    // Passes the sums of a row to another group of the block (give), which reads them (take).
    METHOD void give(const Sum (&sums)[A], uint4* rows, int to_group) const
    {
        uint4* to = rows + to_group * QUADS * ACROSS + at;
#pragma unroll
        for (int i = 0; i < A; i += 2, to += ACROSS) {
            const Sum one = sums[i], other = sums[i + 1 < A ? i + 1 : i];
            *to = uint4{one.ones, one.twos, other.ones, other.twos};
        }
    }
    METHOD void take(Sum (&sums)[A], const uint4* rows) const
    {
        const uint4* from = rows + group * QUADS * ACROSS + at;
#pragma unroll
        for (int i = 0; i < A; i += 2, from += ACROSS) {
            const uint4 quad = *from;
            sums[i] = Sum{quad.x, quad.y};
            if (i + 1 < A) sums[i + 1] = Sum{quad.z, quad.w};
        }
    }

    // Steps all rows of the block. Each generation makes one more outer halo row invalid.
    template <class Rule>
    METHOD void step_all(Rule rule, uint4* passed)
    {
        static_assert(R >= 5, "the first two rows, the last two, and others");
        uint4 *from_above = passed, *from_below = passed + PASSED;
        Sum first[A], second[A], third[A], last[A], beyond[A], above[A], upper[A], lower[A], below[A];
        add(0, first);
        give(first, from_below, (group + GROUPS - 1) % GROUPS);
        add(R - 1, last);
        give(last, from_above, (group + 1) % GROUPS);
        add(1, second);
        add(2, third);
#pragma unroll
        for (int i = 0; i < A; i++) above[i] = second[i], upper[i] = third[i];
#pragma unroll
        for (int y = 2; y < R - 2; y += 2) {
            constexpr int LAST = R - 3;
            add(y + 1, lower);
            if (y < LAST) add(y + 2, below);
            if (y < LAST) step<true>(rule, y, above, upper, lower, below);
            else step<false>(rule, y, above, upper, lower, lower);
#pragma unroll
            for (int i = 0; i < A; i++) {
                above[i] = y < LAST ? lower[i] : upper[i];
                upper[i] = y < LAST ? below[i] : lower[i];
            }
        }
        __syncthreads(); // all sums are written
        take(beyond, from_above);
        step<true>(rule, 0, beyond, first, second, third);
        take(beyond, from_below);
        step<true>(rule, R - 2, above, upper, last, beyond);
    }

    // Sends rows to the halos of the blocks above and below, and refreshes the own halo. A row's
    // words are in registers of one group of lanes, known at compile time, except for the rows
    // after the block's own, of which there may be one less.
    METHOD void renew_halo(u32* halo, int block_above, int block_below)
    {
        u32 *above = halo + at * A, *below = above + HALO * WORDS;
        u32 *far_below = in_block(block_above, below), *far_above = in_block(block_below, above);
        const int less = OWN - own;
#pragma unroll
        for (int k = 0; k < (HALO + 1) * A; k++) {
            const int i = k % A, y = k / A, first = HALO + y, last = OWN - 1 + y;
            const bool one_of_them = less ? y < HALO : y > 0;
            if (y < HALO && group == first / R) far_below[y * WORDS + i] = cells[first % R][i];
            if (one_of_them && group == last / R)
                far_above[(y - 1 + less) * WORDS + i] = cells[last % R][i];
        }
        cluster_arrive();
        cluster_wait();
#pragma unroll
        for (int k = 0; k < (HALO + 1) * A; k++) {
            const int i = k % A, y = k / A, last = OWN - 1 + HALO + y;
            const bool one_of_them = less ? y < HALO : y > 0;
            if (y < HALO && group == y / R) cells[y % R][i] = above[y * WORDS + i];
            if (one_of_them && group == last / R)
                cells[last % R][i] = below[(y - 1 + less) * WORDS + i];
        }
    }
};

template <int A, int R, int ACROSS, class Rule>
DEVICE void live(Rule rule, u32* lattice, int generations, uint4* shared)
{
    using Mine = Part<A, R, ACROSS>;
    constexpr int SIDE = Mine::SIDE, WORDS = Mine::WORDS, PASSED = Mine::PASSED;
    static_assert(4 * PASSED + HALO * WORDS <= SHARED, "shared memory suffices");
    u32* halos = (u32*)(shared + 4 * PASSED);

    Mine mine;
    const int rank = blockIdx.x % BLOCKS;
    const int block_above = (rank + BLOCKS - 1) % BLOCKS, block_below = (rank + 1) % BLOCKS;
    const int from = rank * SIDE / BLOCKS; // first own row
    mine.own = (rank + 1) * SIDE / BLOCKS - from;
    mine.lane = threadIdx.x % 32, mine.at = mine.lane % ACROSS, mine.group = threadIdx.x / ACROSS;
    const int first = mine.group * R - HALO; // first row, relative to the first own row
    u32* words = lattice + mine.at * A;
#pragma unroll
    for (int k = 0; k < R * A; k++) {
        const int y = (from + first + k / A + SIDE) % SIDE;
        mine.cells[k / A][k % A] = words[y * WORDS + k % A];
    }
    cluster_arrive();
    cluster_wait(); // all blocks run and have read: their shared memory may be written to
    int fresh = HALO, turn = 0;
#pragma unroll 1
    for (int generation = 0; generation < generations; generation++, fresh--) {
        if (fresh == 0) {
            mine.renew_halo(halos + turn * 2 * HALO * WORDS, block_above, block_below);
            fresh = HALO, turn ^= 1;
        }
        mine.step_all(rule, shared + (generation & 1) * 2 * PASSED);
    }
#pragma unroll
    for (int k = 0; k < R * A; k++) {
        const int y = first + k / A;
        if (y >= 0 && y < mine.own) words[(from + y) * WORDS + k % A] = mine.cells[k / A][k % A];
    }
    cluster_arrive();
    cluster_wait(); // no block may exit while another one writes to its shared memory
}

template <class Rule>
DEVICE void live_by(Rule rule, u32* lattice, int side, int generations, uint4* shared)
{
    if (side == 512) live<1, 5, 16>(rule, lattice, generations, shared);
    if (side == 1024) live<2, 8, 16>(rule, lattice, generations, shared);
    if (side == 2048) live<2, 30, 32>(rule, lattice, generations, shared);
}

extern "C" __global__ void __cluster_dims__(BLOCKS, 1, 1) __launch_bounds__(32 * WARPS, 1)
life_cluster(unsigned* cells, int width, int height, unsigned rule, int generations)
{
    u32* lattice = cells + (size_t)(blockIdx.x / BLOCKS) * (planar_words(width) * height);
    extern __shared__ uint4 shared[];
    if (rule == LIFE) live_by(LifeRule(), lattice, width, generations, shared);
    else live_by(AnyRule::of(rule), lattice, width, generations, shared);
}

// The same with the network of one rule.
extern "C" __global__ void __cluster_dims__(BLOCKS, 1, 1) __launch_bounds__(32 * WARPS, 1)
life_cluster_by_network(unsigned* cells, int width, int height, unsigned rule, int generations)
{
    u32* lattice = cells + (size_t)(blockIdx.x / BLOCKS) * (planar_words(width) * height);
    extern __shared__ uint4 shared[];
    live_by(NetworkRule{rule}, lattice, width, generations, shared);
}
