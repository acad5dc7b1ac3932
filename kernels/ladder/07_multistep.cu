// Several generations a pass: a warp marches down the lattice, and every row that it loads goes
// through STEPS generations in its registers before one is stored.
//
// Bound: 1/16 byte a cell and generation; 8 operations a word in B3/S23, and the halo's: a lane
//        left and right of a warp's 30, STEPS rows above and below a strip. Any other rule: 28.
//        Of 65536x65536 the halo is 11 % and the LOP3 unit busy four fifths of the time; of
//        16384x16384 it is 17 %, and a launch every four generations costs another tenth. There
//        every multiprocessor must have the same number of warps, or all wait for those of the
//        fullest: one that ends at once, for there was nothing left for it, cost a seventh. Tried
//        without gain: stages a row apart (more independent work, and three rows more), 12 warps
//        a multiprocessor there (45 rows: halo), the sums of a row taken late, 5 and 6 rows an
//        iteration, dependent launches (griddepcontrol), and a flag for each strip so that a pass
//        begins where its neighbours are done: 35.4 all three at their best, in one run.
// SASS, sm_90: in windows of a word and generation 8 LOP3, 0.5 SHFL, 1.7 IMAD, 0.2 ISETP,
//        0.06 LDG, 0.06 STG; 11 in all; where words are turned, 0.25 SHF, on rings 0.5. Any other
//        rule: 28 LOP3, 0.5 SHFL, 0.25 SHF, 4.8 IMAD, 0.06 LDG, 0.06 STG; 35 in all. 168
//        registers, 40 bytes spilled.
// Measured: NVIDIA H200, commit 69f61648e1f0:
//        16 x 1024x1024: 17.6 Tcell/s, 3.42 times 06_planar, 81.9 times 01_global
//        1056 x 128x128: 112 Gcell/s, 1.56 times 06_planar, 46.7 times 01_global
//        1 x 16384x16384: 36.3 Tcell/s, 3.45 times 06_planar, 144 times 01_global
//        1 x 65536x65536: 47.5 Tcell/s, 4.01 times 06_planar, 189 times 01_global
//        by B36/S23: 0.42 times as fast as by B3/S23
// Next: a lattice that fits a warp need never leave its registers.
// Against 06_planar: a lane has WORDS words side by side, its neighbours' come by shuffle, and
// what `march` kept of one generation a Stage keeps of each.
//
// Launch: a block is a warp (32); the grid is as many as Launch::march says, in one row: windows
// by strips, then those of the last window, where it is narrow, of which a warp takes several
// strips. A lattice of 128, 256, 512 ... 4096 across is a ring of lanes, several strips a warp and
// no halo left and right. The width is a multiple of 128; `generations` from 1 to STEPS.
#include "../life.cuh"

#define STEPS 4
#define WORDS 4   // a lane, loaded as one uint4; a halo of one lane serves as many generations
#define USEFUL 30 // lanes of a window, at most
#define AHEAD 4   // rows from the next to load to the one asked for in L2

// A generation on its way: what is kept of the last row fed, and of the sum of the one before.
struct Stage { Sum last[WORDS], beside[WORDS]; u32 cells[WORDS], above[WORDS]; };

// Feeds a stage a row; in its place comes the next generation of the row before.
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

// Where a lane stands: its uint4 of a row, by how many planes that is turned, its neighbours.
struct Lane { u32 quad; int turn, left, right, turn_left, turn_right; bool stores; };

// Rows an iteration, and so far ahead they are loaded: what one keeps for the next need not be
// moved from register to register. A rule with a table has no registers left for that.
template <int G, class Rule> constexpr int UNROLLED = G == STEPS && !Rule::TABLE ? 4 : 1;

// A warp on its way down: G generations at a time, on a ring of lanes or in a window.
template <int G, bool RING, bool TURNS, class Rule>
struct March {
    static constexpr int N = UNROLLED<G, Rule>;
    Rule rule;
    const uint4* in;
    uint4* out;
    Lane lane;
    u32 quads, total, next, to; // of a row and of the lattice; what is loaded and stored next
    int rows;                   // that this lane stores
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

    // Feeds a row to the first stages; what comes out of the last is row i of the strip.
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

    // The rows that lead in: a stage begins where what it is fed is a generation of the strip.
    template <int ACTIVE>
    METHOD void lead_in()
    {
        if (ACTIVE > 1) lead_in<(ACTIVE > 1 ? ACTIVE - 1 : 1)>();
        constexpr int FED = Rule::TABLE ? G : ACTIVE; // where all of it is more code than it saves
        feed_row<FED, false>(loaded[(2 * ACTIVE - 2) % N], 0);
        feed_row<FED, false>(loaded[(2 * ACTIVE - 1) % N], 0);
    }

    METHOD void go(int height, int first, int strip)
    {
        int y = (first - G) % height; // of the first row to load
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
DEVICE void march(Rule rule, const uint4* in, uint4* out, int quads, int height,
                  Lane lane, int first, int strip)
{
    // Most windows have no word to turn: not even by none.
    constexpr bool BOTH = !RING && !Rule::TABLE && G == STEPS;
    const bool turns = !RING && __ballot_sync(~0u, lane.turn != 0);
    if (BOTH && !turns)
        March<G, RING, false, Rule>{rule, in, out, lane, (u32)quads}.go(height, first, strip);
    else
        March<G, RING, !RING, Rule>{rule, in, out, lane, (u32)quads}.go(height, first, strip);
}

template <bool RING, class Rule>
DEVICE void pass(Rule rule, const uint4* in, uint4* out, int quads, int height,
                 Lane lane, int first, int strip, int generations)
{
    if (generations == 4) march<4, RING>(rule, in, out, quads, height, lane, first, strip);
    if (generations == 3) march<3, RING>(rule, in, out, quads, height, lane, first, strip);
    if (generations == 2) march<2, RING>(rule, in, out, quads, height, lane, first, strip);
    if (generations == 1) march<1, RING>(rule, in, out, quads, height, lane, first, strip);
}

extern "C" __global__ void __launch_bounds__(32, 12) life_multistep(
    const uint4* __restrict__ in, uint4* __restrict__ out,
    int width, int height, unsigned rule, int generations)
{
    const int quads = width / 128, lane = threadIdx.x, warp = blockIdx.x, warps = gridDim.x;
    if (quads <= 32 && (quads & (quads - 1)) == 0) { // a ring of lanes, so many strips a warp
        const int ring = lane / quads, x = lane % quads, rings = 32 / quads;
        const int left = x ? lane - 1 : lane + quads - 1;
        const int right = x < quads - 1 ? lane + 1 : lane - x;
        const Lane at{(u32)x, 0, left, right, x == 0, -(x == quads - 1), true};
        const int rows = (height - 1) / (warps * rings) + 1, first = (warp * rings + ring) * rows;
        if (rule == LIFE)
            pass<true>(LifeRule(), in, out, quads, height, at, first, rows, generations);
        else pass<true>(AnyRule::of(rule), in, out, quads, height, at, first, rows, generations);
    } else { // windows, the first and last lane of each for its halo; the last may be narrow
        const int full = quads / USEFUL, rest = quads % USEFUL, packed = 32 / (rest + 2);
        const int strips = rest ? warps * packed / (full * packed + 1) : warps / full;
        const bool narrow = warp >= full * strips;
        const int window = narrow ? full : warp % full, wide = narrow ? rest + 2 : 32;
        const int a_warp = narrow ? packed : 1; // strips
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
