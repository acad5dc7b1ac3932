// The column sweep of multistep with six generations per pass, for lattices that no cache holds: there
// memory is the bound of four.
//
// Bound: 1/24 byte per cell and generation; 7.5 operations per word for B3/S23, plus the halo: two
//        lanes on each side of a warp's 28, STEPS rows above and below a strip. Any other rule: at
//        most 11 by its network, 27 by its table.
//        On an H100 at 65536x65536 four generations per pass make 38.9 Tcell/s, with DRAM 79 % busy and
//        the ALU 69 %; six make 49.9, with DRAM 63 % and the ALU 89 % busy. Adjacent strips are swept
//        towards each other and away from each other: they read the rows that both need at the same
//        time, so L2 still has them (10 % with four generations). Tried with it, compiled by nvcc: five
//        generations, 47.4 Tcell/s; six, 50.0; eight, 50.0; rows copied asynchronously to a ring in
//        shared memory, 50.9; generations split between two warps, 46.6; eight words per lane, 40.6.
//        Instruction caches are a limit, too. With separate code for the windows inside a row, on an H200:
//        16384x16384 32.7 instead of 37.3, 65536x65536 50.9 instead of 50.6; with one code for rows of
//        any width 36.2 and 49.2; with two rows per iteration 36.2 and 47.3.
// Measured: NVIDIA H200, commit 64423787b1fd:
//        16 x 1024x1024: 19.1 Tcell/s, 0.51 times 09_cooperative, 88.9 times 01_global
//        1056 x 128x128: 15.1 Tcell/s, 0.55 times 09_cooperative, 307 times 01_global
//        1 x 16384x16384: 38.1 Tcell/s, 1.04 times 07_multistep, 151 times 01_global
//        1 x 65536x65536: 50.7 Tcell/s, 1.03 times 07_multistep, 202 times 01_global
//        by B36/S23: 0.82 times the rate of B3/S23
// Next: nothing on this ladder.
// Compared with 07_multistep: six generations, two lanes of halo, which also serve planes narrower
// than six words, and strips that are swept upwards.
//
// Launch: as multistep's, with 28 lanes in a window; `generations` is 1 to STEPS.
#include "../life.cuh"

#define STEPS 6
#define WORDS 4 // words per lane, loaded as one uint4
#define HALO 2  // lanes on each side of a window; their words last STEPS generations
#define USEFUL (32 - 2 * HALO)
#define AHEAD 4 // rows between the next one to load and the one prefetched into L2

namespace { // of its own: multistep has the same names

// The state of one generation: the last row fed, its sum, and the sum of the row before.
struct Stage { Sum before[WORDS], last[WORDS]; u32 cells[WORDS]; };

// What a warp's lanes have: on a RING, a row's words and no others; else those of a window, some of
// which are of adjacent planes at an end of the row. In ALIGNED rows, whose width is a multiple of a
// uint4's cells, each lane has a uint4 of one plane; in SHIFTED rows the words of another plane may
// begin anywhere in a uint4. All warps of a launch run the code of one place: with another for the
// windows at the ends, the code of both did not fit the instruction caches.
enum Place { RING, ALIGNED, SHIFTED };

// A lane's position: its uint4 in a row, its neighbour lanes, and whether its words are stored.
struct Lane {
    u32 quad;
    int left, right;
    bool stores, upwards; // every other strip is swept upwards, from its last row to its first
    int turn_left, turn_right; // RING: by how many planes the neighbours' words are rotated
    // By how many planes its own words are rotated. SHIFTED: a word is the one `shift` words behind
    // its place in the uint4 or, where `later` is set, the next one. The last such next one is `beyond`.
    int turn, shift, beyond;
    u32 later;
};

// A lane's words of a row as loaded.
template <Place PLACE> struct Loaded { u32 words[WORDS + (PLACE == SHIFTED)]; };

// A warp's sweep. If ALL, it steps STEPS generations: the code has no branches between them, and while
// the sweep begins it skips stages that have no valid input yet. Otherwise it steps `generations` of
// them, for the last launch of a run and for rules by their table, with which the code would be too
// long.
template <bool ALL, Place PLACE, class Rule>
struct Sweep {
    // Rows per iteration, which is also how far ahead rows are loaded: unrolling avoids moves
    // between registers.
    static constexpr int N = ALL ? 4 : 2;
    Rule rule;
    int generations;
    const uint4* in;
    uint4* out;
    Lane lane;
    bool at_end; // whether any lane of the window has words of an adjacent plane
    u32 quads, total, next, to; // quads per row and lattice; next ones to load and store
    u32 step, around; // from a row to the next one, and back into the lattice; modulo 2^32
    int rows;         // rows that this lane stores
    Stage stages[STEPS];
    Loaded<PLACE> loaded[N];

    METHOD Loaded<PLACE> load()
    {
        Loaded<PLACE> row;
        const uint4* from = in + next;
        if (PLACE == SHIFTED) {
            const u32* words = (const u32*)from + lane.shift;
            // Two quads are too few for some words that do not matter: others take their place.
            const auto inside = [&](int i) {
                return ALL || quads > 2 ? i : ((lane.shift + i) & 7) - lane.shift;
            };
#pragma unroll
            for (int i = 0; i < WORDS; i++) row.words[i] = words[inside(i)];
            row.words[PLACE == SHIFTED ? WORDS : 0] = words[inside(lane.beyond)];
        } else {
            const uint4 quad = *from;
            row.words[0] = quad.x, row.words[1] = quad.y;
            row.words[2] = quad.z, row.words[3] = quad.w;
        }
        next += step;
        if (next >= total) next += around;
        if (next + AHEAD * step < total) prefetch(in + (next + AHEAD * step));
        return row;
    }

    METHOD void unpack(const Loaded<PLACE>& from, u32 (&row)[WORDS]) const
    {
#pragma unroll
        for (int i = 0; i < WORDS; i++) {
            row[i] = from.words[i];
            if (PLACE == SHIFTED) {
                const u32 later = from.words[PLACE == SHIFTED ? i + 1 : i];
                row[i] = turned(choose(lane.later, later, row[i]), lane.turn);
            }
        }
        if (PLACE == ALIGNED && at_end) {
#pragma unroll
            for (int i = 0; i < WORDS; i++) row[i] = turned(row[i], lane.turn);
        }
    }

    METHOD void add(const u32 (&row)[WORDS], Sum (&sums)[WORDS]) const
    {
        u32 left = __shfl_sync(~0u, row[WORDS - 1], lane.left);
        u32 right = __shfl_sync(~0u, row[0], lane.right);
        if (PLACE == RING) left = turned(left, lane.turn_left);
        if (PLACE == RING) right = turned(right, lane.turn_right);
#pragma unroll
        for (int i = 0; i < WORDS; i++)
            sums[i] = add_row(i > 0 ? row[i - 1] : left, row[i], i < WORDS - 1 ? row[i + 1] : right);
    }

    // Feeds a stage two rows, one above the other, and replaces them with the next generation of
    // the last row and of the upper one.
    METHOD void feed(Stage& stage, u32 (&upper)[WORDS], u32 (&lower)[WORDS])
    {
        Sum of_upper[WORDS], of_lower[WORDS];
        add(upper, of_upper);
        add(lower, of_lower);
#pragma unroll
        for (int i = 0; i < WORDS; i++) {
            const Two next = rule.next(Two{stage.cells[i], upper[i]}, stage.before[i],
                                       stage.last[i], of_upper[i], of_lower[i]);
            // By members: clang keeps a Sum that is copied in a register of 64 bits, and that costs
            // a move per word and generation.
            stage.before[i].ones = of_upper[i].ones, stage.before[i].twos = of_upper[i].twos;
            stage.last[i].ones = of_lower[i].ones, stage.last[i].twos = of_lower[i].twos;
            stage.cells[i] = lower[i];
            upper[i] = next.upper, lower[i] = next.lower;
        }
    }

    // Feeds two rows to the first ACTIVE stages; the results of the last one are row i of the strip
    // and the next.
    template <int ACTIVE, bool STORES>
    METHOD void feed_rows(Loaded<PLACE>& first, Loaded<PLACE>& second, int i)
    {
        u32 upper[WORDS], lower[WORDS];
        unpack(first, upper);
        unpack(second, lower);
        first = load();
        second = load();
#pragma unroll
        for (int g = 0; g < ACTIVE; g++)
            if (ALL || g < generations) feed(stages[g], upper, lower);
        if (!STORES) return;
        if (i < rows) out[to] = uint4{upper[0], upper[1], upper[2], upper[3]};
        if (i + 1 < rows) out[to + step] = uint4{lower[0], lower[1], lower[2], lower[3]};
        to += 2 * step;
    }

    METHOD void go(int height, int first, int strip)
    {
        const int count = strip < height - first ? strip : height - first;
        if (lane.upwards) first += count - 1;
        int y = (lane.upwards ? first + generations : first - generations) % height;
        y += y < 0 ? height : 0; // first row to load
        total = quads * height, next = quads * y + lane.quad, to = quads * first + lane.quad;
        step = lane.upwards ? 0u - quads : quads, around = lane.upwards ? total : 0u - total;
        rows = lane.stores ? count : 0;
#pragma unroll
        for (int n = 0; n < N; n++) loaded[n] = load();
        if (ALL) {
            // Two rows a generation lead in; a stage starts once its input is valid.
            feed_rows<1, false>(loaded[0], loaded[1], 0);
            feed_rows<2, false>(loaded[N - 2], loaded[N - 1], 0);
            feed_rows<3, false>(loaded[0], loaded[1], 0);
            feed_rows<4, false>(loaded[N - 2], loaded[N - 1], 0);
            feed_rows<5, false>(loaded[0], loaded[1], 0);
            feed_rows<6, false>(loaded[N - 2], loaded[N - 1], 0);
        } else {
#pragma unroll 1
            for (int g = 0; g < generations; g++)
                feed_rows<STEPS, false>(loaded[0], loaded[1], 0);
        }
        for (int from = 0; from < strip; from += N)
#pragma unroll
            for (int n = 0; n < N; n += 2)
                feed_rows<STEPS, true>(loaded[n], loaded[n + 1], from + n);
    }
};

template <bool ALL, Place PLACE, class Rule>
DEVICE void sweep(Rule rule, const uint4* in, uint4* out, int quads, int height,
                  Lane lane, int first, int strip, int generations)
{
    const bool at_end = __ballot_sync(~0u, lane.turn != 0);
    Sweep<ALL, PLACE, Rule> sweep{rule, ALL ? STEPS : generations, in, out, lane, at_end, (u32)quads};
    sweep.go(height, first, strip);
}

template <bool RINGS, class Rule>
DEVICE void pass(Rule rule, const uint4* in, uint4* out, int quads, int height, bool aligned,
                 Lane lane, int first, int strip, int generations)
{
    constexpr bool LONG = !Rule::TABLE;
    constexpr Place EASY = RINGS ? RING : ALIGNED, ANY = RINGS ? RING : SHIFTED;
    const bool all = LONG && generations == STEPS;
    if (all && aligned)
        sweep<LONG, EASY>(rule, in, out, quads, height, lane, first, strip, generations);
    else if (!RINGS && all && quads > 2)
        sweep<LONG, ANY>(rule, in, out, quads, height, lane, first, strip, generations);
    else sweep<false, ANY>(rule, in, out, quads, height, lane, first, strip, generations);
}

template <class Rule>
DEVICE void step_by(Rule rule, const uint4* in, uint4* out, int width, int height, int generations)
{
    const int quads = planar_words(width) / 4, lane = threadIdx.x;
    const int warp = blockIdx.x, warps = gridDim.x;
    const size_t lattice = (size_t)blockIdx.y * quads * height;
    in += lattice, out += lattice;
    const bool aligned = width == 128 * quads;
    if (aligned && quads <= 32 && (quads & (quads - 1)) == 0) {
        // A ring of lanes; 32 / quads strips per warp.
        const int ring = lane / quads, x = lane % quads, rings = 32 / quads;
        const int left = x ? lane - 1 : lane + quads - 1;
        const int right = x < quads - 1 ? lane + 1 : lane - x;
        const int strip = warp * rings + ring;
        const Lane at{(u32)x, left, right, true, strip % 2 > 0, x == 0, -(x == quads - 1)};
        const int rows = (height - 1) / (warps * rings) + 1, first = strip * rows;
        pass<true>(rule, in, out, quads, height, aligned, at, first, rows, generations);
    } else { // windows, whose first and last lanes are halo; the last one may be narrow
        const int full = quads / USEFUL, rest = quads % USEFUL, packed = 32 / (rest + 2 * HALO);
        const int strips = rest ? warps * packed / (full * packed + 1) : warps / full;
        const bool narrow = warp >= full * strips;
        const int window = narrow ? full : warp % full, wide = narrow ? rest + 2 * HALO : 32;
        const int a_warp = narrow ? packed : 1; // strips per warp
        const int strip = (narrow ? warp - full * strips : warp / full) * a_warp + lane / wide;
        const int mine = lane % wide, x = window * USEFUL + mine - HALO;
        const bool halo = mine < HALO || mine >= wide - HALO;
        const bool stores = !halo && lane / wide < a_warp && strip < strips;
        Lane at{(u32)x, (lane + 31) % 32, (lane + 1) % 32, stores, strip % 2 > 0};
        at.beyond = WORDS - 1; // without `later` that word does not matter
        // The words beyond an end, as Ends has them; where planes are narrower than STEPS words,
        // those of the outer lanes are in the next plane but one.
        Ends ends = Ends::of(width);
        const u32 wide_pairs = __ballot_sync(~0u, lane * width % 32 + 2 * width % 32 >= 32);
        const int planes = ends.step < STEPS && (x < -1 || x > quads) ? 2 : 1;
        if (planes == 2) ends = Ends{2 * width / 32, wide_pairs};
        if (x < 0 || x >= quads) {
            const int step = x < 0 ? ends.step : -ends.step - (ends.wide != 0);
            const int word = WORDS * x + step;
            at.quad = quads > 2 ? word / 4 : 0, at.shift = word - 4 * (int)at.quad;
            at.turn = x < 0 ? planes : -planes;
            at.later = x < 0 || !ends.wide ? ends.wide : turned(~ends.wide, planes);
        }
        if (at.later) at.beyond = WORDS;
        const int rows = (height - 1) / strips + 1, first = strip * rows;
        pass<false>(rule, in, out, quads, height, aligned, at, first, rows, generations);
    }
}

} // namespace

extern "C" __global__ void __launch_bounds__(32, 8) life_deep(
    const uint4* __restrict__ in, uint4* __restrict__ out,
    int width, int height, unsigned rule, int generations)
{
    if (rule == LIFE) step_by(LifeRule(), in, out, width, height, generations);
    else step_by(AnyRule::of(rule), in, out, width, height, generations);
}

// The same with the network of one rule.
extern "C" __global__ void __launch_bounds__(32, 8) life_deep_by_network(
    const uint4* __restrict__ in, uint4* __restrict__ out,
    int width, int height, unsigned rule, int generations)
{
    step_by(NetworkRule{rule}, in, out, width, height, generations);
}
