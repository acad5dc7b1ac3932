// A lattice stays in the registers of one warp for any number of generations.
//
// Bound: no memory access between generations; 8 operations per word for B3/S23, and two shuffles
//        per word of each lane's first and last row. Any other rule: 28. A lattice uses at most a
//        quarter of an SM, so throughput depends on the number of lattices.
// SASS, sm_90: at 128x128 of a word and generation 8 LOP3, 1 SHFL, 0.5 SHF, 0.06 IMAD;
//        9.8 in all. Any other rule: 28 LOP3, 1 SHFL, 0.5 SHF, 0.1 IMAD; 30 in all. at
//        256x256 of a word and generation 8 LOP3, 0.5 SHFL, 0.2 SHF, 0.4 IMAD; 9.2 in
//        all. Any other rule: 28 LOP3, 0.5 SHFL, 0.2 SHF, 0.6 IMAD; 29 in all. 168
//        registers, nothing spilled.
// Measured: NVIDIA H200, commit e454ed25313c:
//        1056 x 128x128: 59.3 Tcell/s, 479 times 07_multistep, 1,280 times 01_global
//        by B36/S23: 0.31 times as fast as by B3/S23
//        16 x 1024x1024: not measured: it takes lattices of 32x32, 64x64, 128x128 or
//          256x256
//        1 x 16384x16384: not measured: it takes lattices of 32x32, 64x64, 128x128 or
//          256x256
//        1 x 65536x65536: not measured: it takes lattices of 32x32, 64x64, 128x128 or
//          256x256
// Next: a warp has a quarter of a multiprocessor and 256x256 cells; several
//        blocks could have a larger lattice together.
// Compared with 07_multistep: the loop is over generations, a lane has N rows of N words, the sums
// of adjacent rows come by shuffle, and a lane has both ends of its rows.
//
// Launch: one block of one warp (32) per lattice; the grid is the number of adjacent lattices. The
// lattice is a square with side 32, 64, 128 or 256. In place.
#include "../life.cuh"

template <int N>
DEVICE void add_row_of(const u32 (&row)[N], Sum (&sums)[N])
{
#pragma unroll
    for (int i = 0; i < N; i++)
        sums[i] = add_row(i > 0 ? row[i - 1] : turned(row[N - 1], 1), row[i],
                          i < N - 1 ? row[i + 1] : turned(row[0], -1));
}

template <int N>
DEVICE void take_from(int lane, const Sum (&theirs)[N], Sum (&ours)[N])
{
#pragma unroll
    for (int i = 0; i < N; i++)
        ours[i] = Sum{__shfl_sync(~0u, theirs[i].ones, lane),
                      __shfl_sync(~0u, theirs[i].twos, lane)};
}

// Each lane has N of the lattice's 32 * N rows.
template <int N, class Rule>
DEVICE void live(Rule rule, u32* cells, int generations)
{
    const int lane = threadIdx.x, lane_above = (lane + 31) % 32, lane_below = (lane + 1) % 32;
    u32 rows[N][N];
#pragma unroll
    for (int i = 0; i < N * N; i++) rows[i / N][i % N] = cells[lane * N * N + i];

#pragma unroll 1
    for (int generation = 0; generation < generations; generation++) {
        Sum last[N], sums[N], above[N], below[N], beyond[N];
        add_row_of(rows[N - 1], last);
        take_from(lane_above, last, above);
        add_row_of(rows[0], sums);
        take_from(lane_below, sums, beyond);
#pragma unroll
        for (int y = 0; y < N; y++) {
            if (y < N - 2) add_row_of(rows[y + 1], below);
            u32 next[N];
#pragma unroll
            for (int i = 0; i < N; i++) {
                if (y >= N - 2) below[i] = y == N - 1 ? beyond[i] : last[i];
                const u32 left = i > 0 ? rows[y][i - 1] : turned(rows[y][N - 1], 1);
                const u32 right = i < N - 1 ? rows[y][i + 1] : turned(rows[y][0], -1);
                const Sum beside = add_row(left, above[i].ones, right);
                next[i] = rule.next(rows[y][i], below[i], beside, above[i].twos);
                above[i] = sums[i], sums[i] = below[i];
            }
#pragma unroll
            for (int i = 0; i < N; i++) rows[y][i] = next[i];
        }
    }
#pragma unroll
    for (int i = 0; i < N * N; i++) cells[lane * N * N + i] = rows[i / N][i % N];
}

template <class Rule>
DEVICE void live_by(Rule rule, u32* cells, int side, int generations)
{
    if (side == 32) live<1>(rule, cells, generations);
    if (side == 64) live<2>(rule, cells, generations);
    if (side == 128) live<4>(rule, cells, generations);
    if (side == 256) live<8>(rule, cells, generations);
}

extern "C" __global__ void __launch_bounds__(32, 12) life_resident(
    unsigned* cells, int width, int height, unsigned rule, int generations)
{
    u32* ours = cells + (size_t)blockIdx.x * (width / 32 * height);
    if (rule == LIFE) live_by(LifeRule(), ours, width, generations);
    else live_by(AnyRule::of(rule), ours, width, generations);
}
