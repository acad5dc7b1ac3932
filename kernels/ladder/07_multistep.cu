// Several generations per pass: a warp sweeps down the lattice, and every row that it loads goes
// through STEPS generations in registers before a row is stored.
//
// Bound: 1/16 byte per cell and generation; 7.5 operations per word for B3/S23, plus the halo: one
//        lane on each side of a warp's 30, STEPS rows above and below a strip. Any other rule: at
//        most 11 by its network, 27 by its table.
//        At 65536x65536 the halo is 11 %, and the LOP3 unit is busy 80 % of the time; at
//        16384x16384 it is 17 %, and a launch every four generations costs another 10 %. There
//        every SM must have the same number of warps, or all wait for the fullest one: an idle
//        warp that ended immediately cost 1/7. Tried without gain: stages one row apart (more
//        independent work, but three more rows), 12 warps per SM (45 rows per strip, so more
//        halo), computing a row's sums late, 5 and 6 rows per iteration, dependent launches
//        (griddepcontrol), and a flag per strip so that a pass starts once its neighbours are
//        done: 35.4 Tcell/s at best for all three, in one run.
// SASS, sm_90: on rings of a word and generation 7.5 LOP3, 0.5 SHFL, 0.5 SHF, 1.8 IMAD,
//        0.06 LDG, 0.06 STG; 11 in all. A rule's table: 26 LOP3, 0.5 SHFL, 0.5 SHF, 3.1
//        IMAD, 0.06 LDG, 0.06 STG; 31 in all. 168 registers, nothing spilled.
// Measured: NVIDIA H200, commit 64423787b1fd:
//        16 x 1024x1024: 18.5 Tcell/s, 3.42 times 06_planar, 86.1 times 01_global
//        1056 x 128x128: 14.5 Tcell/s, 336 times 06_planar, 295 times 01_global
//        1 x 16384x16384: 36.5 Tcell/s, 3.27 times 06_planar, 145 times 01_global
//        1 x 65536x65536: 49.3 Tcell/s, 3.89 times 06_planar, 196 times 01_global
//        by B36/S23: 0.89 times the rate of B3/S23
// Next: a lattice that fits a warp need never leave its registers.
// Compared with 06_planar: a lane has WORDS adjacent words, its neighbours' words come by shuffle,
// and a Stage keeps for each generation what `step_rows` kept for one.
//
// Launch: a block is one warp (32); the grid is a row of blocks for each lattice, as many as
// Launch::column_sweep computes: one warp per strip of each full window, then one warp for several
// strips of a narrow last window. A lattice 128, 256, 512 ... 4096 cells wide is a ring of lanes,
// with several strips per warp and no halo left and right. The width is at least 128, `generations`
// 1 to STEPS.
#include "../life.cuh"

#define STEPS 4
#define WORDS 4   // words per lane, loaded as one uint4; a halo of one lane lasts WORDS generations
#define USEFUL 30 // maximum lanes per window
#define AHEAD 4   // rows between the next one to load and the one prefetched into L2

// The state of one generation: the last row fed, its sum, and the sum of the row before.
struct Stage { Sum before[WORDS], last[WORDS]; u32 cells[WORDS]; };

// What a warp's lanes have: on a RING, a row's words and no others; in a window INSIDE a row, words
// side by side; in one at the ENDS of a row, some words of the adjacent planes too.
enum Place { RING, INSIDE, ENDS };

// A lane's position: its uint4 in a row, its neighbour lanes, and whether its words are stored.
struct Lane {
    u32 quad;
    int left, right;
    bool stores;
    int turn_left, turn_right; // RING: by how many planes the neighbours' words are rotated
    // ENDS: by how many planes its own words are rotated. A word is the one `shift` words behind its
    // place in the uint4 or, where `later` is set, the next one. The last such next one is `beyond`.
    int turn, shift, beyond;
    u32 later;
};

// A lane's words of a row as loaded.
template <Place PLACE> struct Loaded { u32 words[WORDS + (PLACE == ENDS)]; };

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
    u32 quads, total, next, to; // quads per row and lattice; next ones to load and store
    int rows;                   // rows that this lane stores
    Stage stages[STEPS];
    Loaded<PLACE> loaded[N];

    METHOD Loaded<PLACE> load()
    {
        Loaded<PLACE> row;
        const uint4* from = in + next;
        if (PLACE == ENDS) {
            const u32* words = (const u32*)from + lane.shift;
#pragma unroll
            for (int i = 0; i < WORDS; i++) row.words[i] = words[i];
            row.words[PLACE == ENDS ? WORDS : 0] = words[lane.beyond];
        } else {
            const uint4 quad = *from;
            row.words[0] = quad.x, row.words[1] = quad.y;
            row.words[2] = quad.z, row.words[3] = quad.w;
        }
        next += quads;
        if (next >= total) next -= total;
        if (next < total - AHEAD * quads) prefetch(in + (next + AHEAD * quads));
        return row;
    }

    METHOD void unpack(const Loaded<PLACE>& from, u32 (&row)[WORDS]) const
    {
#pragma unroll
        for (int i = 0; i < WORDS; i++) {
            row[i] = from.words[i];
            if (PLACE == ENDS) {
                const u32 later = from.words[PLACE == ENDS ? i + 1 : i];
                row[i] = turned(choose(lane.later, later, row[i]), lane.turn);
            }
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
            stage.before[i] = of_upper[i], stage.last[i] = of_lower[i], stage.cells[i] = lower[i];
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
        if (i + 1 < rows) out[to + quads] = uint4{lower[0], lower[1], lower[2], lower[3]};
        to += 2 * quads;
    }

    METHOD void go(int height, int first, int strip)
    {
        int y = (first - generations) % height; // first row to load
        y += y < 0 ? height : 0;
        total = quads * height, next = quads * y + lane.quad, to = quads * first + lane.quad;
        rows = lane.stores ? (strip < height - first ? strip : height - first) : 0;
#pragma unroll
        for (int n = 0; n < N; n++) loaded[n] = load();
        if (ALL) {
            // Two rows a generation lead in; a stage starts once its input is valid.
            feed_rows<1, false>(loaded[0], loaded[1], 0);
            feed_rows<2, false>(loaded[N - 2], loaded[N - 1], 0);
            feed_rows<3, false>(loaded[0], loaded[1], 0);
            feed_rows<4, false>(loaded[N - 2], loaded[N - 1], 0);
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
    Sweep<ALL, PLACE, Rule> sweep{rule, ALL ? STEPS : generations, in, out, lane, (u32)quads};
    sweep.go(height, first, strip);
}

template <bool RINGS, class Rule>
DEVICE void pass(Rule rule, const uint4* in, uint4* out, int quads, int height,
                 Lane lane, int first, int strip, int generations)
{
    constexpr bool LONG = !Rule::TABLE;
    constexpr Place PLACE = RINGS ? RING : ENDS;
    // Most windows have no words of adjacent planes, and use code without rotations.
    const bool ends = RINGS || __ballot_sync(~0u, lane.turn != 0);
    if (LONG && generations == STEPS && !ends)
        sweep<LONG, INSIDE>(rule, in, out, quads, height, lane, first, strip, generations);
    else if (LONG && generations == STEPS)
        sweep<LONG, PLACE>(rule, in, out, quads, height, lane, first, strip, generations);
    else sweep<false, PLACE>(rule, in, out, quads, height, lane, first, strip, generations);
}

template <class Rule>
DEVICE void step_by(Rule rule, const uint4* in, uint4* out, int width, int height, int generations)
{
    const int quads = planar_words(width) / 4, lane = threadIdx.x;
    const int warp = blockIdx.x, warps = gridDim.x;
    const size_t lattice = (size_t)blockIdx.y * quads * height;
    in += lattice, out += lattice;
    const Ends row_ends = Ends::of(width);
    if (width == 128 * quads && quads <= 32 && (quads & (quads - 1)) == 0) {
        // A ring of lanes; 32 / quads strips per warp.
        const int ring = lane / quads, x = lane % quads, rings = 32 / quads;
        const int left = x ? lane - 1 : lane + quads - 1;
        const int right = x < quads - 1 ? lane + 1 : lane - x;
        const Lane at{(u32)x, left, right, true, x == 0, -(x == quads - 1)};
        const int rows = (height - 1) / (warps * rings) + 1, first = (warp * rings + ring) * rows;
        pass<true>(rule, in, out, quads, height, at, first, rows, generations);
    } else { // windows, whose first and last lane are halo; the last one may be narrow
        const int full = quads / USEFUL, rest = quads % USEFUL, packed = 32 / (rest + 2);
        const int strips = rest ? warps * packed / (full * packed + 1) : warps / full;
        const bool narrow = warp >= full * strips;
        const int window = narrow ? full : warp % full, wide = narrow ? rest + 2 : 32;
        const int a_warp = narrow ? packed : 1; // strips per warp
        const int strip = (narrow ? warp - full * strips : warp / full) * a_warp + lane / wide;
        const int mine = lane % wide, x = window * USEFUL + mine - 1;
        const bool stores = mine > 0 && mine < wide - 1 && lane / wide < a_warp && strip < strips;
        Lane at{(u32)x, (lane + 31) % 32, (lane + 1) % 32, stores};
        at.beyond = WORDS - 1; // without `later` that word does not matter
        // The words beyond an end, as Ends has them.
        if (x < 0) {
            const int word = row_ends.step - WORDS;
            at.quad = word / 4, at.shift = word % 4, at.turn = 1, at.later = row_ends.wide;
        }
        if (x >= quads) {
            const int word = 4 * x - row_ends.step - (row_ends.wide != 0);
            at.quad = word / 4, at.shift = word % 4, at.turn = -1;
            at.later = row_ends.wide ? turned(~row_ends.wide, 1) : 0;
        }
        if (at.later) at.beyond = WORDS;
        const int rows = (height - 1) / strips + 1, first = strip * rows;
        pass<false>(rule, in, out, quads, height, at, first, rows, generations);
    }
}

extern "C" __global__ void __launch_bounds__(32, 12) life_multistep(
    const uint4* __restrict__ in, uint4* __restrict__ out,
    int width, int height, unsigned rule, int generations)
{
    if (rule == LIFE) step_by(LifeRule(), in, out, width, height, generations);
    else step_by(AnyRule::of(rule), in, out, width, height, generations);
}

// The same with the network of one rule.
extern "C" __global__ void __launch_bounds__(32, 12) life_multistep_by_network(
    const uint4* __restrict__ in, uint4* __restrict__ out,
    int width, int height, unsigned rule, int generations)
{
    step_by(NetworkRule{rule}, in, out, width, height, generations);
}
