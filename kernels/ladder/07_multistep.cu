// Several generations per pass: a warp sweeps down the lattice, and every row that it loads goes
// through STEPS generations in registers before a row is stored.
//
// Bound: 1/16 byte per cell and generation; 8 operations per word for B3/S23, plus the halo: one
//        lane on each side of a warp's 30, STEPS rows above and below a strip. Any other rule: 28.
//        At 65536x65536 the halo is 11 %, and the LOP3 unit is busy 80 % of the time; at
//        16384x16384 it is 17 %, and a launch every four generations costs another 10 %. There
//        every SM must have the same number of warps, or all wait for the fullest one: an idle
//        warp that ended immediately cost 1/7. Tried without gain: stages one row apart (more
//        independent work, but three more rows), 12 warps per SM (45 rows per strip, so more
//        halo), computing a row's sums late, 5 and 6 rows per iteration, dependent launches
//        (griddepcontrol), and a flag per strip so that a pass starts once its neighbours are
//        done: 35.4 Tcell/s at best for all three, in one run.
// SASS, sm_90: in windows of a word and generation 8 LOP3, 0.5 SHFL, 1.7 IMAD, 0.2 ISETP,
//        0.06 LDG, 0.06 STG; 11 in all; where words are turned, 0.25 SHF, on rings 0.5. Any other
//        rule: 28 LOP3, 0.5 SHFL, 0.25 SHF, 4.8 IMAD, 0.06 LDG, 0.06 STG; 35 in all. 168
//        registers, 40 bytes spilled.
// Measured: NVIDIA H200, commit e454ed25313c:
//        16 x 1024x1024: 17.5 Tcell/s, 3.42 times 06_planar, 83.6 times 01_global
//        1056 x 128x128: 124 Gcell/s, 1.71 times 06_planar, 2.68 times 01_global
//        1 x 16384x16384: 35.8 Tcell/s, 3.46 times 06_planar, 144 times 01_global
//        1 x 65536x65536: 47.4 Tcell/s, 4.06 times 06_planar, 192 times 01_global
//        by B36/S23: 0.41 times as fast as by B3/S23
// Next: a lattice that fits a warp need never leave its registers.
// Compared with 06_planar: a lane has WORDS adjacent words, its neighbours' words come by shuffle,
// and a Stage keeps for each generation what `step_rows` kept for one.
//
// Launch: a block is one warp (32); the grid is one row of blocks, as many as Launch::column_sweep
// computes: one warp per strip of each full window, then one warp for several strips of a narrow
// last window. A lattice 128, 256, 512 ... 4096 cells wide is a ring of lanes, with several strips
// per warp and no halo left and right. The width is a multiple of 128, `generations` 1 to STEPS.
#include "../life.cuh"

#define STEPS 4
#define WORDS 4   // words per lane, loaded as one uint4; a halo of one lane lasts WORDS generations
#define USEFUL 30 // maximum lanes per window
#define AHEAD 4   // rows between the next one to load and the one prefetched into L2

// The state of one generation: the last row fed, its sum, and the sum of the row before.
struct Stage { Sum last[WORDS], beside[WORDS]; u32 cells[WORDS], above[WORDS]; };

// Feeds a stage a row, and replaces it with the next generation of the row before.
template <class Rule>
DEVICE void feed(Rule rule, Stage& stage, u32 (&row)[WORDS], u32 left, u32 right)
{
    u32 next[WORDS];
#pragma unroll
    for (int i = 0; i < WORDS; i++) {
        const u32 l = i > 0 ? row[i - 1] : left, r = i < WORDS - 1 ? row[i + 1] : right;
        const Sum below = add_row(l, row[i], r);
        next[i] = rule.next(stage.cells[i], below, stage.beside[i], stage.above[i]);
        stage.beside[i] = add_row(l, stage.last[i].ones, r);
        stage.above[i] = stage.last[i].twos;
        stage.last[i] = below;
        stage.cells[i] = row[i];
    }
#pragma unroll
    for (int i = 0; i < WORDS; i++) row[i] = next[i];
}

// A lane's position: its uint4 in a row, how many planes that is rotated by, its neighbour lanes.
struct Lane { u32 quad; int turn, left, right, turn_left, turn_right; bool stores; };

// Rows per iteration, which is also how far ahead rows are loaded: unrolling avoids moves between
// registers. A rule with a table has no registers left for this.
template <int G, class Rule> constexpr int UNROLLED = G == STEPS && !Rule::TABLE ? 4 : 1;

// A warp's sweep: G generations at a time, on a ring of lanes or in a window.
template <int G, bool RING, bool TURNS, class Rule>
struct Sweep {
    static constexpr int N = UNROLLED<G, Rule>;
    Rule rule;
    const uint4* in;
    uint4* out;
    Lane lane;
    u32 quads, total, next, to; // quads per row and lattice; next ones to load and store
    int rows;                   // rows that this lane stores
    Stage stages[G];
    uint4 loaded[N];

    METHOD uint4 load()
    {
        const uint4 row = in[next];
        next += quads;
        if (next >= total) next -= total;
        if (next < total - AHEAD * quads) prefetch(in + (next + AHEAD * quads));
        return row;
    }

    // Feeds a row to the first ACTIVE stages; the last stage's result is row i of the strip.
    template <int ACTIVE, bool STORES>
    METHOD void feed_row(uint4& from, int i)
    {
        u32 row[WORDS] = {from.x, from.y, from.z, from.w};
        from = load();
        if (TURNS)
            for (int j = 0; j < WORDS; j++) row[j] = turned(row[j], lane.turn);
#pragma unroll
        for (int g = 0; g < ACTIVE; g++) {
            u32 left = __shfl_sync(~0u, row[WORDS - 1], lane.left);
            u32 right = __shfl_sync(~0u, row[0], lane.right);
            if (RING) left = turned(left, lane.turn_left);
            if (RING) right = turned(right, lane.turn_right);
            feed(rule, stages[g], row, left, right);
        }
        if (!STORES) return;
        const uint4 done = {row[0], row[1], row[2], row[3]};
        if (i < rows) out[to] = done;
        to += quads;
    }

    // The lead-in rows: a stage starts once its input is a valid generation of the strip.
    template <int ACTIVE>
    METHOD void lead_in()
    {
        if (ACTIVE > 1) lead_in<(ACTIVE > 1 ? ACTIVE - 1 : 1)>();
        constexpr int FED = Rule::TABLE ? G : ACTIVE; // a table makes skipping too long
        feed_row<FED, false>(loaded[(2 * ACTIVE - 2) % N], 0);
        feed_row<FED, false>(loaded[(2 * ACTIVE - 1) % N], 0);
    }

    METHOD void go(int height, int first, int strip)
    {
        int y = (first - G) % height; // first row to load
        y += y < 0 ? height : 0;
        total = quads * height, next = quads * y + lane.quad, to = quads * first + lane.quad;
        rows = lane.stores ? (strip < height - first ? strip : height - first) : 0;
#pragma unroll
        for (int n = 0; n < N; n++) loaded[n] = load();
        lead_in<G>();
        for (int from = 0; from < strip; from += N)
#pragma unroll
            for (int n = 0; n < N; n++) feed_row<G, true>(loaded[(n + 2 * G) % N], from + n);
    }
};

template <int G, bool RING, class Rule>
DEVICE void sweep(Rule rule, const uint4* in, uint4* out, int quads, int height,
                  Lane lane, int first, int strip)
{
    // Most windows have no word to rotate, and use code without rotations.
    constexpr bool BOTH = !RING && !Rule::TABLE && G == STEPS;
    const bool turns = !RING && __ballot_sync(~0u, lane.turn != 0);
    if (BOTH && !turns)
        Sweep<G, RING, false, Rule>{rule, in, out, lane, (u32)quads}.go(height, first, strip);
    else
        Sweep<G, RING, !RING, Rule>{rule, in, out, lane, (u32)quads}.go(height, first, strip);
}

template <bool RING, class Rule>
DEVICE void pass(Rule rule, const uint4* in, uint4* out, int quads, int height,
                 Lane lane, int first, int strip, int generations)
{
    if (generations == 4) sweep<4, RING>(rule, in, out, quads, height, lane, first, strip);
    if (generations == 3) sweep<3, RING>(rule, in, out, quads, height, lane, first, strip);
    if (generations == 2) sweep<2, RING>(rule, in, out, quads, height, lane, first, strip);
    if (generations == 1) sweep<1, RING>(rule, in, out, quads, height, lane, first, strip);
}

extern "C" __global__ void __launch_bounds__(32, 12) life_multistep(
    const uint4* __restrict__ in, uint4* __restrict__ out,
    int width, int height, unsigned rule, int generations)
{
    const int quads = width / 128, lane = threadIdx.x, warp = blockIdx.x, warps = gridDim.x;
    if (quads <= 32 && (quads & (quads - 1)) == 0) { // a ring of lanes; 32 / quads strips per warp
        const int ring = lane / quads, x = lane % quads, rings = 32 / quads;
        const int left = x ? lane - 1 : lane + quads - 1;
        const int right = x < quads - 1 ? lane + 1 : lane - x;
        const Lane at{(u32)x, 0, left, right, x == 0, -(x == quads - 1), true};
        const int rows = (height - 1) / (warps * rings) + 1, first = (warp * rings + ring) * rows;
        if (rule == LIFE)
            pass<true>(LifeRule(), in, out, quads, height, at, first, rows, generations);
        else pass<true>(AnyRule::of(rule), in, out, quads, height, at, first, rows, generations);
    } else { // windows, whose first and last lane are halo; the last one may be narrow
        const int full = quads / USEFUL, rest = quads % USEFUL, packed = 32 / (rest + 2);
        const int strips = rest ? warps * packed / (full * packed + 1) : warps / full;
        const bool narrow = warp >= full * strips;
        const int window = narrow ? full : warp % full, wide = narrow ? rest + 2 : 32;
        const int a_warp = narrow ? packed : 1; // strips per warp
        const int strip = (narrow ? warp - full * strips : warp / full) * a_warp + lane / wide;
        const int mine = lane % wide, x = window * USEFUL + mine - 1;
        const int turns = x < 0 ? -1 : x / quads;
        const bool stores = mine > 0 && mine < wide - 1 && lane / wide < a_warp && strip < strips;
        const Lane at{(u32)(x - turns * quads), -turns, (lane + 31) % 32, (lane + 1) % 32, 0, 0,
                      stores};
        const int rows = (height - 1) / strips + 1, first = strip * rows;
        if (rule == LIFE)
            pass<false>(LifeRule(), in, out, quads, height, at, first, rows, generations);
        else pass<false>(AnyRule::of(rule), in, out, quads, height, at, first, rows, generations);
    }
}
