// Converts between one bit per cell and planar words (see 06_planar). 32 planar words hold 32 cells
// of each plane; as bits in a row these are 32 words, one per plane. So 32 words are transposed: bit
// b of word i becomes bit i of word b. A warp does that in five steps, without a loop over bits:
// each exchanges halves between two lanes, first halves of a word, at last single bits.
//
// Bound: 1/8 byte read and written per cell; of a word 5 shuffles and about 40 operations.
// Launch: blocks of 32x9; the grid covers 256 planar words of a row across, and ROWS rows down. Each
// of eight warps transposes 32 planar words, and all eight load or store together: 8 adjacent words
// of a plane's bits, a sector of memory. The ninth warp helps pack_planar, where a plane starts
// within a word.
#include "../life.cuh"

#define ROWS 4
#define WARPS 8

// By row, plane and warp: 32 cells of a plane. (The odd pitch spreads the planes over the banks.)
typedef u32 Tiles[ROWS][32][WARPS + 1];

// Bit i of lane b, from bit b of lane i. Every lane of a warp calls it.
DEVICE u32 transposed(u32 word)
{
    const u32 lane = threadIdx.x;
    u32 low = 0xffff; // of every 2 * half bits the lower half
#pragma unroll
    for (u32 half = 16; half > 0; half /= 2, low ^= low << half) {
        const bool upper = lane & half;
        const u32 other = __shfl_sync(~0u, word, lane ^ half);
        word = choose(upper ? ~low : low, word, turned(other, upper ? -half : half));
    }
    return word;
}

// The 64 cells of two words, from cell `shift` on: 32 of them.
DEVICE u32 shifted(u32 word, u32 next, int shift) { return ((u64)next << 32 | word) >> shift; }

// The word from its cells, one thread each: where a plane is shorter than a word.
DEVICE void pack_narrow(const u32* row, u32* words, int width)
{
    for (int x = threadIdx.y; 32 * x < width; x += WARPS + 1) {
        const int cell = 32 * x + threadIdx.x, plane = (32 * cell + 31) / width;
        const bool in = cell < width;
        const u32 planes = row[in ? cell - first_of_plane(plane, width) : 0];
        const u32 word = __ballot_sync(~0u, in && planes >> (plane & 31) & 1);
        if (threadIdx.x == 0) words[x] = word;
    }
}

extern "C" __global__ void __launch_bounds__(288) pack_planar(
    const unsigned* planar, unsigned* words, int width, int height)
{
    const int across = (width + 31) / 32, count = planar_words(width);
    const int y = (blockIdx.z * gridDim.y + blockIdx.y) * ROWS, lane = threadIdx.x;
    const int rows = height - y < ROWS ? height - y : ROWS;
    planar += (size_t)y * count, words += (size_t)y * across;
    if (width < 1024) {
        for (int i = 0; i < rows; i++)
            pack_narrow(planar + i * count, words + i * across, width);
        return;
    }

    // Beyond a row's words, a plane goes on in the next plane.
    __shared__ Tiles tiles;
    const Ends ends = Ends::of(width);
    const int at = 32 * (WARPS * blockIdx.x + threadIdx.y) + lane;
    const auto load = [&](const u32* row) {
        const auto next = [&](int i) { return row[i < 0 ? 0 : i < count ? i : count - 1]; };
        if (at < count) return row[at];
        return ends.behind(next(at - ends.step), next(at - ends.step - 1));
    };
    u32 loaded[ROWS];
#pragma unroll
    for (int i = 0; i < ROWS; i++) loaded[i] = load(planar + (i < rows ? i : 0) * (size_t)count);
#pragma unroll
    for (int i = 0; i < ROWS; i++) tiles[i][lane][threadIdx.y] = transposed(loaded[i]);
    __syncthreads();

    // The words that start in a plane are those of its cells, from the first whole word on.
    const int thread = threadIdx.y * 32 + lane, plane = thread / WARPS, warp = thread % WARPS;
    if (plane >= 32) return;
    const int first = first_of_plane(plane, width), shift = -first & 31;
    const int cell = first + shift + 32 * (WARPS * blockIdx.x + warp);
    if (cell >= first_of_plane(plane + 1, width)) return;
    const u32 mask = width - cell < 32 ? ~(~0u << (width - cell)) : ~0u;
    for (int i = 0; i < rows; i++) {
        const u32* cells = tiles[i][plane] + warp;
        words[(size_t)i * across + cell / 32] = shifted(cells[0], cells[1], shift) & mask;
    }
}

// 32 cells of a row's bits from a cell on, around the torus.
DEVICE u32 cells_from(const u32* row, int cell, int width)
{
    const int x = cell / 32, shift = cell % 32;
    const u32 next = shift > 0 && 32 * x + 32 < width ? row[x + 1] : 0;
    const u32 cells = shifted(row[x], next, shift);
    return width - cell < 32 ? cells | row[0] << (width - cell) : cells;
}

// Cells that two planes have are written twice.
extern "C" __global__ void __launch_bounds__(288) unpack_planar(
    const unsigned* words, unsigned* planar, int width, int height)
{
    const int across = (width + 31) / 32, count = planar_words(width);
    const int y = (blockIdx.z * gridDim.y + blockIdx.y) * ROWS, lane = threadIdx.x;
    const int rows = height - y < ROWS ? height - y : ROWS;
    planar += (size_t)y * count, words += (size_t)y * across;

    __shared__ Tiles tiles;
    const int thread = threadIdx.y * 32 + lane, plane = thread / WARPS, warp = thread % WARPS;
    const int behind = 32 * (WARPS * blockIdx.x + warp); // the plane's first cell
    if (plane < 32 && behind < count) {
        const int cell = first_of_plane(plane, width) + behind;
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            const u32* row = words + (size_t)(i < rows ? i : 0) * across;
            tiles[i][plane][warp] = cells_from(row, cell < width ? cell : cell - width, width);
        }
    }
    __syncthreads();

    if (threadIdx.y == WARPS) return;
    const int at = 32 * (WARPS * blockIdx.x + threadIdx.y) + lane;
    for (int i = 0; i < rows; i++) {
        const u32 word = transposed(tiles[i][lane][threadIdx.y]);
        if (at < count) planar[(size_t)i * count + at] = word;
    }
}
