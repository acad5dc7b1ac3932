// A lattice stays in the registers of one warp for any number of generations.
//
// Bound: no memory access between generations; 7.5 operations per word for B3/S23, and two shuffles
//        per word of each lane's first and last row. Any other rule: at most 11 by its network, 27 by
//        its table. A lattice uses at most a quarter of an SM, so throughput depends on the number
//        of lattices.
// SASS, sm_90: at 128x128 of a word and generation 7.5 LOP3, 1 SHFL, 0.5 SHF; 9.2 in
//        all. A rule's table: 26 LOP3, 1 SHFL, 0.5 SHF; 28 in all. at 256x256 of a word
//        and generation 7.5 LOP3, 0.5 SHFL, 0.2 SHF; 8.3 in all. A rule's table: 26
//        LOP3, 0.5 SHFL, 0.2 SHF; 27 in all. 168 registers, nothing spilled.
// Measured: NVIDIA H200, commit 64423787b1fd:
//        1056 x 128x128: 63.1 Tcell/s, 4.35 times 07_multistep, 1,290 times 01_global
//        by B36/S23: 0.77 times the rate of B3/S23
//        16 x 1024x1024: not measured: it takes lattices from 32x32 to 256x256, whose
//          sides are the same multiple of 32 once they are rounded up
//        1 x 16384x16384: not measured: it takes lattices from 32x32 to 256x256, whose
//          sides are the same multiple of 32 once they are rounded up
//        1 x 65536x65536: not measured: it takes lattices from 32x32 to 256x256, whose
//          sides are the same multiple of 32 once they are rounded up
// Next: a warp has a quarter of a multiprocessor and 256x256 cells; several
//        blocks could have a larger lattice together.
// Compared with 07_multistep: the loop is over generations, a lane has N rows of N words, the sums
// of adjacent rows come by shuffle, and a lane has both ends of its rows.
//
// Launch: one block of one warp (32) per lattice; the grid is the number of adjacent lattices. Both
// sides are from 32 to 256, and need the same number N of words. In place.
#include "../life.cuh"

// What a warp has of its lattice: each lane R rows of N words, in all lanes together every row at
// least once. Where 32 divides both sides it is EXACT; else two lanes that follow each other may
// both have a row, as two planes may both have a column, and step it alike.
template <int N, bool EXACT>
struct Part {
    static constexpr int R = N;
    u32 rows[R][N];
    int above, below;       // adjacent lanes
    bool tall, tall_above;  // whether its last row is in no other lane; the same of the lane above
    u32 wide, behind_wide;  // see Ends; all ones if no word is in two planes

    METHOD u32 before(const u32 (&row)[N]) const
    {
        if (EXACT || N == 1) return turned(row[N - 1], 1);
        return turned(choose(wide, row[N - 1], row[N > 1 ? N - 2 : 0]), 1);
    }
    METHOD u32 behind(const u32 (&row)[N]) const
    {
        if (EXACT || N == 1) return turned(row[0], -1);
        return turned(choose(behind_wide, row[0], row[N > 1 ? 1 : 0]), -1);
    }

    METHOD void add(const u32 (&row)[N], Sum (&sums)[N]) const
    {
#pragma unroll
        for (int i = 0; i < N; i++)
            sums[i] = add_row(i > 0 ? row[i - 1] : before(row), row[i],
                              i < N - 1 ? row[i + 1] : behind(row));
    }

    // The sums of a row of another lane, of which there are two candidates.
    METHOD void take(int lane, bool one, const Sum (&sums)[N], const u32 (&other)[N],
                     Sum (&taken)[N]) const
    {
        Sum others[N];
        if (!EXACT) add(other, others);
#pragma unroll
        for (int i = 0; i < N; i++) {
            const Sum sum = EXACT || one ? sums[i] : others[i];
            taken[i] = Sum{__shfl_sync(~0u, sum.ones, lane), __shfl_sync(~0u, sum.twos, lane)};
        }
    }

    template <class Rule>
    METHOD void step(Rule rule)
    {
        Sum last[N], upper[N], above_upper[N], lower[N], beyond[N];
        add(rows[R - 1], last);
        take(above, tall, last, rows[R > 1 ? R - 2 : 0], above_upper);
        add(rows[0], upper);
        take(below, tall_above, upper, rows[R > 1 ? 1 : 0], beyond);
#pragma unroll
        for (int y = 0; y < R; y += 2) {
            const bool pair = y + 1 < R;
            Sum next_upper[N];
            if (y + 1 < R - 1) add(rows[y + 1], lower);
            if (y + 2 < R - 1) add(rows[y + 2], next_upper);
#pragma unroll
            for (int i = 0; i < N; i++) {
                if (y + 1 >= R - 1) lower[i] = pair ? last[i] : beyond[i];
                if (y + 2 >= R - 1) next_upper[i] = y + 2 == R - 1 ? last[i] : beyond[i];
                const Two next = rule.next(Two{rows[y][i], rows[pair ? y + 1 : y][i]},
                                           above_upper[i], upper[i], lower[i], next_upper[i]);
                rows[y][i] = next.upper;
                if (pair) rows[y + 1][i] = next.lower;
                above_upper[i] = lower[i], upper[i] = next_upper[i];
            }
        }
    }

    template <class Rule>
    DEVICE void live(Rule rule, u32* cells, int width, int height, int generations)
    {
        const int lane = threadIdx.x % 32, pitch = planar_words(width);
        const auto first_of = [&](int lane) { return lane * height / 32; };
        const int first = first_of(lane), own = first_of(lane + 1) - first;
        Part part;
        part.above = (lane + 31) % 32, part.below = (lane + 1) % 32;
        part.tall = own == R;
        part.tall_above = first_of(part.above + 1) - first_of(part.above) == R;
        part.wide = width % 32 ? Ends::of(width).wide : ~0u, part.behind_wide = turned(part.wide, 1);
#pragma unroll
        for (int y = 0; y < R; y++) {
            const int at = first + y < height ? first + y : first + y - height;
#pragma unroll
            for (int i = 0; i < N; i++) part.rows[y][i] = cells[at * pitch + i];
        }
#pragma unroll 1
        for (int generation = 0; generation < generations; generation++) part.step(rule);
#pragma unroll
        for (int y = 0; y < R; y++) {
            u32* row = cells + (first + y) * pitch;
            u32 words[N + 3]; // the words that fill the row up are also in the next plane
#pragma unroll
            for (int i = 0; i < N + 3; i++) {
                if (i < N) words[i] = part.rows[y][i];
                else {
                    const u32 narrow = words[EXACT || N == 1 ? i - N : i - N + 1];
                    words[i] = turned(choose(part.behind_wide, words[i - N], narrow), -1);
                }
                if (y < own && i < pitch) row[i] = words[i];
            }
        }
    }
};

// The number of words across, and of rows down, is known only at run time: N or more.
template <int N, class Rule>
DEVICE void live_by(Rule rule, u32* cells, int width, int height, int generations)
{
    constexpr bool POWER = (N & (N - 1)) == 0;
    if constexpr (N < 8)
        if (width > 32 * N) return live_by<N + 1>(rule, cells, width, height, generations);
    if constexpr (POWER)
        if (width == 32 * N && height == 32 * N)
            return Part<N, true>::live(rule, cells, width, height, generations);
    if constexpr (N > 1) Part<N, false>::live(rule, cells, width, height, generations);
}

extern "C" __global__ void __launch_bounds__(32, 12) life_resident(
    unsigned* cells, int width, int height, unsigned rule, int generations)
{
    u32* ours = cells + (size_t)blockIdx.x * (planar_words(width) * height);
    if (rule == LIFE) live_by<1>(LifeRule(), ours, width, height, generations);
    else live_by<1>(AnyRule::of(rule), ours, width, height, generations);
}

// The same with the network of one rule.
extern "C" __global__ void __launch_bounds__(32, 12) life_resident_by_network(
    unsigned* cells, int width, int height, unsigned rule, int generations)
{
    u32* ours = cells + (size_t)blockIdx.x * (planar_words(width) * height);
    live_by<1>(NetworkRule{rule}, ours, width, height, generations);
}
