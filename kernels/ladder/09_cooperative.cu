// Lattices stay in the registers of all SMs: a lattice is divided among several blocks, which
// exchange rows through global memory while the kernel runs.
//
// Bound: like 08_resident 7.5 operations per word for B3/S23; the HALO rows above and below a block's
//        own rows are computed twice. Each generation costs a barrier of the block, and every HALO
//        generations the blocks wait for mail.
// SASS, sm_90: at 256x256 of a word and generation 7.7 LOP3, 1.1 SHFL, 1.1 SHF, 0.09
//        IMAD, 0.1 IADD3, 0.06 LDS, 0.06 STS, 0.03 BAR; 11 in all. A rule's table: 26
//        LOP3, 1.1 SHFL, 1.1 SHF, 0.09 IMAD, 0.1 IADD3, 0.06 LDS, 0.06 STS, 0.03 BAR; 29
//        in all. 167 registers, nothing spilled.
// Measured: NVIDIA H200, commit 64423787b1fd:
//        16 x 1024x1024: 37.6 Tcell/s, 2.04 times 07_multistep, 176 times 01_global
//        1056 x 128x128: 27.5 Tcell/s, 0.44 times 08_resident, 560 times 01_global
//        by B36/S23: 0.83 times the rate of B3/S23
//        1 x 16384x16384: not measured: it takes widths from 128 to 5120 cells and
//          heights from 16 cells on
//        1 x 65536x65536: not measured: it takes widths from 128 to 5120 cells and
//          heights from 16 cells on
// Next: nothing but the 15 operations for two words; that is the limit, until somebody counts with
//        fewer.
// Compared with 08_resident: a lane has R rows of A words instead of whole rows; adjacent rows come
// through shared memory, and HALO rows of the adjacent blocks through mailboxes in global memory. A
// lattice that fits one block needs neither halo nor mail.
//
// The blocks wait for each other, so all of a launch must run at the same time: a cooperative
// launch, which the driver refuses if they do not fit.
//
// Launch: a multiple of 32 threads, at most 384 (256 where a lane has more than 4 words), and shared
// memory for the sums that groups pass to each other; the grid is blocks of a lattice x adjacent
// lattices. Widths from 128; the host chooses the variant (words and rows of a lane, halo rows) and
// the blocks: crates/engine/src/kernels/cooperative.rs. In place.
#include "../life.cuh"

// What a lane has of its block's rows: R rows of A words each, at position `at` across and `group`
// down. Lanes beyond the last group are idle: they step words that nobody reads.
// EXACT: the lanes of a row have all its words once; else the last ones have words of the next
// plane too, and step them alike. HALO 0: the block has the whole lattice.
template <int A, int R, int HALO, bool EXACT>
struct Part {
    static constexpr int QUADS = (A + 1) / 2; // uint4s for the sums, or a message, of A words
    static constexpr bool ALONE = HALO == 0;
    static_assert(R % 2 == 0 && R >= 4, "pairs: the first, the last, and others");
    u32 cells[R][A];
    int across, at, group, groups; // lanes of a row; position; groups that are not idle
    int lane, first_lane;          // of the warp, and of the row
    int first, own;                // first row, relative to the block's own; rows of the block
    bool tall, tall_above;         // whether the next group does not have the last row too; the
                                   // same of the group above
    // The words beyond a row's ends: the lanes that have them, how they are rotated, and, unless
    // EXACT, the second candidates (see Ends in life.cuh).
    int left_lane, right_lane, candidate_lanes[2];
    u32 wide, wide_right;   // masks: where the second candidate is taken
    u32 offered[2][A];      // masks: which word of a row the lane offers as a candidate

    METHOD bool idle() const { return group >= groups; }
    METHOD bool leftmost() const { return at == 0; }
    METHOD bool rightmost() const { return at == across - 1; }

    // Finds the lanes that have the words beyond the row's ends.
    METHOD void find_ends(Ends ends)
    {
        left_lane = leftmost() ? first_lane + across - 1 : lane - 1;
        right_lane = rightmost() ? first_lane : lane + 1;
        const int words = across * A;
        const int before = ends.step - 1, wide_before = ends.step;
        const int behind = words - ends.step, wide_behind = words - ends.step - 1;
        const u32 wide_next = turned(ends.wide, 1);
        if (A == 2) {
            // Of the two words before a row one is a lane's last word, as for all other lanes, and
            // of those behind it one is a lane's first. So there is only one more shuffle.
            const bool last = before % 2 == 1, first = behind % 2 == 0;
            if (leftmost()) left_lane = first_lane + (last ? before : wide_before) / 2;
            if (rightmost()) right_lane = first_lane + (first ? behind : wide_behind) / 2;
            const int other_before = (last ? wide_before : before) / 2;
            const int other_behind = (first ? wide_behind : behind) / 2;
            candidate_lanes[0] = first_lane + (leftmost() ? other_before : other_behind);
            wide = !leftmost() ? 0 : last ? ends.wide : ~ends.wide;
            wide_right = !rightmost() ? 0 : first ? wide_next : ~wide_next;
            offered[0][0] = at == other_behind ? ~0u : 0;
        } else {
            wide = leftmost() ? ends.wide : wide_next;
            candidate_lanes[0] = first_lane + (leftmost() ? before : behind) / A;
            candidate_lanes[1] = first_lane + (leftmost() ? wide_before : wide_behind) / A;
#pragma unroll
            for (int i = 0; i < A; i++) {
                const int word = at * A + i;
                offered[0][i] = word == before || word == behind ? ~0u : 0;
                offered[1][i] = word == wide_before || word == wide_behind ? ~0u : 0;
            }
        }
    }

    // One of the candidates for a word beyond a row's end.
    METHOD u32 candidate(const u32 (&row)[A], int which) const
    {
        u32 word = 0;
        if (A == 2) word = choose(offered[0][0], row[1], row[0]);
        else
#pragma unroll
            for (int i = 0; i < A; i++) word = lop3<0xf8>(word, row[i], offered[which][i]);
        return __shfl_sync(~0u, word, candidate_lanes[which]);
    }

    // The sums of a row. The words beyond its ends come from the adjacent lanes, or from the
    // adjacent plane.
    METHOD void add(int y, Sum (&sums)[A]) const
    {
        const u32 (&row)[A] = cells[y];
        u32 left = __shfl_sync(~0u, row[A - 1], left_lane);
        u32 right = __shfl_sync(~0u, row[0], right_lane);
        if (!EXACT && A == 2) {
            const u32 other = candidate(row, 0);
            left = choose(wide, other, left), right = choose(wide_right, other, right);
        } else if (!EXACT) {
            const u32 narrow_one = candidate(row, 0), wide_one = candidate(row, 1);
            const u32 beyond = choose(wide, wide_one, narrow_one);
            left = leftmost() ? beyond : left, right = rightmost() ? beyond : right;
        }
        left = turned(left, leftmost());
        right = turned(right, -(int)rightmost());
#pragma unroll
        for (int i = 0; i < A; i++)
            sums[i] = add_row(i > 0 ? row[i - 1] : left, row[i], i < A - 1 ? row[i + 1] : right);
    }

    // Steps the rows y and y + 1, from the sums of their rows and of those beside.
    template <class Rule>
    METHOD void step(Rule rule, int y, const Sum (&above)[A], const Sum (&upper)[A],
                     const Sum (&lower)[A], const Sum (&below)[A])
    {
#pragma unroll
        for (int i = 0; i < A; i++) {
            const Two two{cells[y][i], cells[y + 1][i]};
            const Two next = rule.next(two, above[i], upper[i], lower[i], below[i]);
            cells[y][i] = next.upper, cells[y + 1][i] = next.lower;
        }
    }

    // Passes the sums of a row to another group of the block (give), which reads them (take).
    METHOD void give(const Sum (&sums)[A], uint4* rows, int to_group) const
    {
        uint4* to = rows + to_group * QUADS * across + at;
#pragma unroll
        for (int i = 0; i < A; i += 2, to += across) {
            const Sum one = sums[i], other = sums[i + 1 < A ? i + 1 : i];
            if (!idle()) *to = uint4{one.ones, one.twos, other.ones, other.twos};
        }
    }
    METHOD void take(Sum (&sums)[A], const uint4* rows) const
    {
        const uint4* from = rows + (idle() ? 0 : group) * QUADS * across + at;
#pragma unroll
        for (int i = 0; i < A; i += 2, from += across) {
            const uint4 quad = *from;
            sums[i] = Sum{quad.x, quad.y};
            if (i + 1 < A) sums[i + 1] = Sum{quad.z, quad.w};
        }
    }

    // The sums of one of two rows.
    METHOD void choose_row(bool one, const Sum (&sums)[A], const Sum (&others)[A],
                           Sum (&chosen)[A]) const
    {
#pragma unroll
        for (int i = 0; i < A; i++) chosen[i] = !ALONE || one ? sums[i] : others[i];
    }

    // Steps all rows of the block. Each generation makes one more outer halo row invalid.
    template <class Rule>
    METHOD void step_all(Rule rule, uint4* from_above, uint4* from_below)
    {
        Sum first[A], second[A], third[A], last[A], before_last[A], passed[A];
        Sum above[A], upper[A], lower[A], below[A];
        add(0, first);
        add(1, second);
        choose_row(tall_above, first, second, passed);
        give(passed, from_below, group > 0 ? group - 1 : groups - 1);
        add(R - 1, last);
        if (ALONE) add(R - 2, before_last);
        choose_row(tall, last, before_last, passed);
        give(passed, from_above, group < groups - 1 ? group + 1 : 0);
        add(2, third);
#pragma unroll
        for (int i = 0; i < A; i++) above[i] = second[i], upper[i] = third[i];
#pragma unroll
        for (int y = 2; y < R - 2; y += 2) {
            add(y + 1, lower);
            add(y + 2, below);
            step(rule, y, above, upper, lower, below);
#pragma unroll
            for (int i = 0; i < A; i++) above[i] = lower[i], upper[i] = below[i];
        }
        __syncthreads(); // all sums are written
        take(passed, from_above);
        step(rule, 0, passed, first, second, third);
        take(passed, from_below);
        step(rule, R - 2, above, upper, last, passed);
    }

    // Mail is sent row by row, two words in a message. A mailbox has the rows from above, then those
    // from below.
    METHOD int mailbox() const { return 2 * HALO * QUADS * across; }
    METHOD Message* message(Message* box, bool from_below, int row, int quad) const
    {
        return box + ((from_below * HALO + row) * QUADS + quad) * across + at;
    }

    // Sends the block's first and last own rows to the blocks above and below.
    METHOD void send(Message* box_above, Message* box_below, u32 tag) const
    {
        if (idle() || first >= own || first + R <= 0) return;
        if (first >= HALO && first + R <= own - HALO) return;
#pragma unroll
        for (int k = 0; k < R * QUADS; k++) {
            const int y = k / QUADS, quad = k % QUADS, row = first + y, from_end = row - own + HALO;
            const u32 one = cells[y][2 * quad], other = cells[y][2 * quad + (2 * quad + 1 < A)];
            if (row >= 0 && row < HALO) post(message(box_above, true, row, quad), one, other, tag);
            if (from_end >= 0 && from_end < HALO)
                post(message(box_below, false, from_end, quad), one, other, tag);
        }
    }

    // Waits for the rows of the block's halo, for the messages of some rows together.
    METHOD void receive(Message* box, u32 tag)
    {
        constexpr int TOGETHER = QUADS == 1 ? R : 2;
        if (idle() || first >= own + HALO || (first >= 0 && first + R <= own)) return;
#pragma unroll
        for (int some = 0; some < R; some += TOGETHER) {
            Message found[TOGETHER * QUADS];
            u32 missing;
            do {
                missing = 0;
#pragma unroll
                for (int k = 0; k < TOGETHER * QUADS; k++) { // all are on their way together
                    const int row = first + some + k / QUADS, of_box = row < 0 ? row + HALO : row - own;
                    found[k] = Message{0, tag, 0, tag};
                    if (of_box >= 0 && of_box < HALO)
                        found[k] = look(message(box, row >= 0, of_box, k % QUADS));
                }
#pragma unroll
                for (int k = 0; k < TOGETHER * QUADS; k++)
                    missing |= (found[k].tag_of_one ^ tag) | (found[k].tag_of_other ^ tag);
                if (missing) look_again();
            } while (missing);
#pragma unroll
            for (int k = 0; k < TOGETHER * QUADS; k++) {
                const int y = some + k / QUADS, quad = k % QUADS;
                if (first + y >= 0 && first + y < own) continue;
                cells[y][2 * quad] = found[k].one;
                if (2 * quad + 1 < A) cells[y][2 * quad + 1] = found[k].other;
            }
        }
    }

    // Empties the block's mailboxes, so that the next launch does not take old mail for its own.
    METHOD void clear(Message* boxes) const
    {
        const int threads = blockDim.x;
        for (int i = threadIdx.x; i < 2 * mailbox(); i += threads) post(boxes + i, 0, 0, 0);
    }
};

struct Work {
    u32* lattices;
    Message* mail;
    int width, height, generations;
};

template <int A, int R, int HALO, bool EXACT, class Rule>
DEVICE void live(Rule rule, Work work)
{
    extern __shared__ uint4 shared[];
    using Mine = Part<A, R, HALO, EXACT>;
    constexpr bool ALONE = Mine::ALONE;
    const int width = work.width, height = work.height;
    const int words = (width + 31) / 32, pitch = planar_words(width);
    const int blocks = ALONE ? 1 : gridDim.x, rank = ALONE ? 0 : blockIdx.x;
    const auto row_of_block = [&](int block) { return (int)((u64)block * height / blocks); };
    const int from = row_of_block(rank); // the block's first own row

    Mine mine;
    mine.own = row_of_block(rank + 1) - from;
    mine.across = (words + A - 1) / A;
    mine.lane = threadIdx.x % 32, mine.at = mine.lane % mine.across;
    mine.first_lane = mine.lane - mine.at;
    const int per_warp = 32 / mine.across, in_warp = mine.lane / mine.across;
    mine.groups = ALONE ? (height + R - 1) / R : blockDim.x / 32 * per_warp;
    mine.group = in_warp < per_warp ? threadIdx.x / 32 * per_warp + in_warp : mine.groups;
    const auto row_of_group = [&](int group) {
        return ALONE ? group * height / mine.groups : group * R - HALO;
    };
    const auto is_tall = [&](int group) { return row_of_group(group + 1) - row_of_group(group) == R; };
    mine.first = row_of_group(mine.group);
    mine.tall = is_tall(mine.group);
    mine.tall_above = is_tall(mine.group > 0 ? mine.group - 1 : mine.groups - 1);
    const Ends ends = Ends::of(width);
    mine.find_ends(ends);

    u32* lattice = work.lattices + (size_t)blockIdx.y * pitch * height;
    // A word that is only in the next plane: see Ends::behind.
    const auto of_next_plane = [&](const u32* row, int word) {
        return ends.behind(row[word - ends.step], row[word - ends.step - 1]);
    };
#pragma unroll
    for (int k = 0; k < R * A; k++) {
        const int y = mine.first + k / A, word = mine.at * A + k % A;
        const bool is_own = !mine.idle() && y >= 0 && (ALONE || y < mine.own);
        const u32* row = lattice + (size_t)(from + y < height ? from + y : from + y - height) * pitch;
        u32 cells = 0;
        if (is_own) cells = EXACT || word < pitch ? row[word] : of_next_plane(row, word);
        mine.cells[k / A][k % A] = cells;
    }

    const int passed = mine.groups * Mine::QUADS * mine.across, mailbox = mine.mailbox();
    Message* boxes = work.mail + (size_t)blockIdx.y * blocks * 2 * mailbox; // of the lattice
    Message* box = boxes + rank * 2 * mailbox;
    Message* box_above = boxes + (rank + blocks - 1) % blocks * 2 * mailbox;
    Message* box_below = boxes + (rank + 1) % blocks * 2 * mailbox;
    u32 tag = 0;
    int valid = 0; // halo rows
#pragma unroll 1
    for (int generation = 0; generation < work.generations; generation++, valid--) {
        if (!ALONE && valid == 0) {
            // By turns in two mailboxes: when a block writes to one again, the other block has
            // already sent the mail that it sends after reading that one.
            const int turn = ++tag % 2 * mailbox;
            mine.send(box_above + turn, box_below + turn, tag);
            mine.receive(box + turn, tag);
            __syncwarp(); // else lanes that waited would go on by themselves
            valid = HALO;
        }
        uint4* sums = shared + generation % 2 * 2 * passed;
        mine.step_all(rule, sums, sums + passed);
    }

#pragma unroll
    for (int k = 0; k < R * A; k++) {
        const int y = mine.first + k / A, word = mine.at * A + k % A;
        const bool is_own = !mine.idle() && y >= 0 && y < mine.own;
        if (is_own && (EXACT || word < pitch))
            lattice[(size_t)(from + y) * pitch + word] = mine.cells[k / A][k % A];
    }
    __syncthreads(); // all mail is read, and all words are written
    if (!ALONE) mine.clear(box);
    if (EXACT) return;
    // The words that no lane has.
    const int rest = pitch - mine.across * A, threads = blockDim.x;
    for (int i = threadIdx.x; i < rest * mine.own; i += threads) {
        u32* row = lattice + (size_t)(from + i / rest) * pitch;
        const int word = pitch - 1 - i % rest;
        row[word] = of_next_plane(row, word);
    }
}

// The functions of a variant: for B3/S23 and the table of any rule, and for the network of one rule.
#define VARIANT(name, A, R, HALO, EXACT)                                                          \
    extern "C" __global__ void __launch_bounds__(A > 4 ? 256 : 384, 1) life_cooperative_##name( \
        unsigned* cells, Message* mail, int width, int height, unsigned rule, int generations)    \
    {                                                                                             \
        const Work work{cells, mail, width, height, generations};                                 \
        if (rule == LIFE) live<A, R, HALO, EXACT>(LifeRule(), work);                              \
        else live<A, R, HALO, EXACT>(AnyRule::of(rule), work);                                    \
    }                                                                                             \
    extern "C" __global__ void __launch_bounds__(A > 4 ? 256 : 384, 1) life_cooperative_##name##_by_network( \
        unsigned* cells, Message* mail, int width, int height, unsigned rule, int generations)    \
    {                                                                                             \
        live<A, R, HALO, EXACT>(NetworkRule{rule}, Work{cells, mail, width, height, generations}); \
    }

VARIANT(2x4, 2, 4, 8, false)
VARIANT(2x6, 2, 6, 8, false)
VARIANT(2x6_exact, 2, 6, 8, true)
VARIANT(4x6, 4, 6, 8, false)
VARIANT(4x12, 4, 12, 8, false)
VARIANT(4x12_exact, 4, 12, 8, true)
VARIANT(5x4, 5, 4, 4, false)
VARIANT(2x4_alone, 2, 4, 0, false)
VARIANT(2x16_alone, 2, 16, 0, false)
VARIANT(2x16_exact_alone, 2, 16, 0, true)
VARIANT(4x12_alone, 4, 12, 0, false)
