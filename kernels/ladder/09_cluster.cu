// A lattice lives in the registers of eight blocks, a cluster: eight multiprocessors that write
// into each other's shared memory and wait for each other without leaving the kernel.
//
// Bound: as 08_resident, 8 operations a word in B3/S23, on eight multiprocessors; besides, of each
//        lane's first and last row a store and a load, and a wait of the cluster a generation,
//        behind which the rows in between are stepped.
// SASS, sm_90: at 1024x1024 of a word and generation 8.1 LOP3, 0.5 SHFL, 0.5 SHF, 0.4
//        IMAD, 0.1 IADD3, 0.2 LDS, 0.2 STS; 13 in all. Any other rule: 28 LOP3, 0.5
//        SHFL, 0.5 SHF, 0.2 IMAD, 0.1 IADD3, 0.2 LDS, 0.2 STS; 33 in all. 254 registers,
//        nothing spilled.
// Measured: not yet; no record of 'lifestreams bench ladder' has it
// Next: nothing but the 8 operations a word; that is the limit, until somebody
//        counts with fewer.
// Against 08_resident: a lane has R rows of A words, not of all of a row; the rows beyond come
// through shared memory, and those of another block through distributed shared memory.
//
// Launch: 256 threads a block, eight blocks a lattice, as many lattices as lie one behind the
// other. The lattice is a square of 512, 1024 or 2048. In place. Clusters need sm_90.
#include "../life.cuh"

#define BLOCKS 8 // of a cluster
#define WARPS 8  // of a block

// A lane's part of the lattice, and its place: `at` across, `group` down through the block.
template <int A, int R, int ACROSS>
struct Part {
    static constexpr int GROUPS = WARPS * (32 / ACROSS), ROW = A / 2 * ACROSS;
    u32 cells[R][A], left[R], right[R];
    int rank, lane, at, group;

    // The words beyond both ends of a row: the lane's beside it, or of the plane beside.
    METHOD void look_aside(int y)
    {
        const int row = lane - at;
        left[y] = __shfl_sync(~0u, cells[y][A - 1], row + (at + ACROSS - 1) % ACROSS);
        right[y] = __shfl_sync(~0u, cells[y][0], row + (at + 1) % ACROSS);
        left[y] = turned(left[y], at == 0);
        right[y] = turned(right[y], -(at == ACROSS - 1));
    }
    METHOD u32 to_the_left(int y, int i) const { return i > 0 ? cells[y][i - 1] : left[y]; }
    METHOD u32 to_the_right(int y, int i) const { return i < A - 1 ? cells[y][i + 1] : right[y]; }

    METHOD void add(int y, Sum (&sums)[A]) const
    {
#pragma unroll
        for (int i = 0; i < A; i++)
            sums[i] = add_row(to_the_left(y, i), cells[y][i], to_the_right(y, i));
    }

    template <class Rule>
    METHOD void step(Rule rule, int y, const Sum (&above)[A], const Sum (&below)[A])
    {
        u32 next[A];
#pragma unroll
        for (int i = 0; i < A; i++) {
            const Sum beside = add_row(to_the_left(y, i), above[i].ones, to_the_right(y, i));
            next[i] = rule.next(cells[y][i], below[i], beside, above[i].twos);
        }
#pragma unroll
        for (int i = 0; i < A; i++) cells[y][i] = next[i];
    }

    // Sums of a row, given to a group of a block of the cluster, and taken by it.
    METHOD void give(const Sum (&sums)[A], uint4* rows, int to_group, int to_block) const
    {
        u32 words[2 * A];
#pragma unroll
        for (int i = 0; i < A; i++) words[i] = sums[i].ones, words[A + i] = sums[i].twos;
        uint4* to = rows + to_group * ROW + at;
#pragma unroll
        for (int i = 0; i < A / 2; i++, to += ACROSS) {
            const u32* w = words + 4 * i;
            const uint4 quad = {w[0], w[1], w[2], w[3]};
            if (to_block == rank) *to = quad;
            else store_in_block(to_block, to, quad);
        }
    }
    METHOD void take(Sum (&sums)[A], const uint4* rows) const
    {
        u32 words[2 * A];
#pragma unroll
        for (int i = 0; i < A / 2; i++) {
            const uint4 quad = rows[group * ROW + i * ACROSS + at];
            u32* w = words + 4 * i;
            w[0] = quad.x, w[1] = quad.y, w[2] = quad.z, w[3] = quad.w;
        }
#pragma unroll
        for (int i = 0; i < A; i++) sums[i] = Sum{words[i], words[A + i]};
    }

    // The rows between the first and the last, of which `second` and `last_but_one` come out as
    // sums of what they were.
    template <class Rule>
    METHOD void step_between(Rule rule, const Sum (&first)[A], const Sum (&last)[A],
                             Sum (&second)[A], Sum (&last_but_one)[A])
    {
        Sum above[A], here[A], below[A];
#pragma unroll
        for (int i = 0; i < A; i++) second[i] = last[i], last_but_one[i] = first[i];
        if (R == 2) return;
        add(1, second);
#pragma unroll
        for (int i = 0; i < A; i++) above[i] = first[i], here[i] = second[i];
#pragma unroll
        for (int y = 1; y < R - 1; y++) {
            if (y < R - 2) add(y + 1, below);
#pragma unroll
            for (int i = 0; i < A; i++) below[i] = y < R - 2 ? below[i] : last[i];
            step(rule, y, above, below);
#pragma unroll
            for (int i = 0; i < A; i++) above[i] = here[i], here[i] = below[i];
        }
#pragma unroll
        for (int i = 0; i < A; i++) last_but_one[i] = above[i];
    }
};

template <int A, int R, int ACROSS, class Rule>
DEVICE void live(Rule rule, u32* lattice, int generations)
{
    using Mine = Part<A, R, ACROSS>;
    constexpr int GROUPS = Mine::GROUPS, ROWS = GROUPS * Mine::ROW;
    extern __shared__ uint4 passed[];

    Mine mine;
    mine.rank = blockIdx.x % BLOCKS, mine.lane = threadIdx.x % 32, mine.at = mine.lane % ACROSS;
    mine.group = threadIdx.x / ACROSS;
    u32* cells = lattice + (mine.rank * GROUPS + mine.group) * R * A * ACROSS + mine.at * A;
#pragma unroll
    for (int i = 0; i < R * A; i++) mine.cells[i / A][i % A] = cells[i / A * A * ACROSS + i % A];

    // Who is above and who below, the first and the last group's in another block.
    const bool is_first = mine.group == 0, is_last = mine.group == GROUPS - 1;
    const int above = is_first ? GROUPS - 1 : mine.group - 1, below = is_last ? 0 : mine.group + 1;
    const int block_above = is_first ? (mine.rank + BLOCKS - 1) % BLOCKS : mine.rank;
    const int block_below = is_last ? (mine.rank + 1) % BLOCKS : mine.rank;

    cluster_arrive();
    cluster_wait(); // all have begun: their memory may be written to
#pragma unroll 1
    for (int generation = 0; generation < generations; generation++) {
        uint4* from_above = passed + (generation & 1) * 2 * ROWS; // written while the other is read
        uint4* from_below = from_above + ROWS;
        Sum first[A], last[A], second[A], last_but_one[A], beyond[A];
#pragma unroll
        for (int y = 0; y < R; y++) mine.look_aside(y);
        mine.add(0, first);
        mine.add(R - 1, last);
        mine.give(first, from_below, above, block_above);
        mine.give(last, from_above, below, block_below);
        cluster_arrive();
        mine.step_between(rule, first, last, second, last_but_one);
        cluster_wait();
        mine.take(beyond, from_above);
        mine.step(rule, 0, beyond, second);
        mine.take(beyond, from_below);
        mine.step(rule, R - 1, last_but_one, beyond);
    }
#pragma unroll
    for (int i = 0; i < R * A; i++) cells[i / A * A * ACROSS + i % A] = mine.cells[i / A][i % A];
}

template <class Rule>
DEVICE void live_by(Rule rule, u32* lattice, int side, int generations)
{
    if (side == 512) live<2, 2, 8>(rule, lattice, generations);
    if (side == 1024) live<4, 4, 8>(rule, lattice, generations);
    if (side == 2048) live<4, 16, 16>(rule, lattice, generations);
}

extern "C" __global__ void __cluster_dims__(BLOCKS, 1, 1) __launch_bounds__(32 * WARPS, 1)
life_cluster(unsigned* cells, int width, int height, unsigned rule, int generations)
{
    u32* lattice = cells + (size_t)(blockIdx.x / BLOCKS) * (width / 32 * height);
    if (rule == LIFE) live_by(LifeRule(), lattice, width, generations);
    else live_by(AnyRule::of(rule), lattice, width, generations);
}
