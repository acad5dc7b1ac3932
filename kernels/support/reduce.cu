// Reduces a lattice to one byte of density per pixel: 255 * alive / covered, rounded.
//
// Bound: the covered cells read once, 1/8 byte per cell.
// Launch: blocks of 32x8; the grid is pixels across / 32 (rounded up) by pixel rows by adjacent
// lattices, with `stride` bytes between their pixels. A block computes 32 pixels of one row; the 8
// threads of a pixel share its rows of cells.
//
// Origin and step are in cells with 16 fractional bits. A pixel covers the cells from
// (origin + i * step) >> 16 up to but excluding that of i + 1: at least one, and each cell of the
// lattice at most once. Coordinates wrap around the torus.
//
// count_bits does the same for a lattice that is cut into bands: it counts the live cells of each pixel
// in one band's rows, so that a pixel in several bands is their sum.
#include "../life.cuh"

typedef long long i64;
struct Range { int from, count; }; // `count` cells from cell `from` on, wrapped around

DEVICE Range covered_by(i64 origin, i64 step, int i, int size)
{
    const i64 from = (origin + i * step) >> 16, to = (origin + (i + 1) * step) >> 16;
    const i64 count = to > from ? to - from : 1;
    // Remainders are slow; only coordinates beyond an edge need one.
    const int first = from >= 0 && from < size ? from : from % size;
    return Range{first < 0 ? first + size : first, count < size ? (int)count : size};
}

// Live cells of columns [from, to) in this thread's rows; a pixel's 8 threads share its rows.
DEVICE i64 alive_in(const u32* words, Range rows, int height, int pitch, int from, int to)
{
    const int first = from / 32, last = (to - 1) / 32;
    const u32 head = ~0u << (from % 32), tail = ~0u >> (31 - (to - 1) % 32);
    i64 alive = 0;
    for (int i = threadIdx.y; i < rows.count; i += 8) {
        const int y = rows.from + i;
        const u32* row = words + (i64)(y < height ? y : y - height) * pitch;
        for (int x = first; x <= last; x++)
            alive += __popc(row[x] & (x == first ? head : ~0u) & (x == last ? tail : ~0u));
    }
    return alive;
}

// Live cells of a pixel's columns in this thread's rows.
DEVICE i64 alive_in_pixel(const u32* words, Range across, Range rows, int width, int height)
{
    const int pitch = (width + 31) / 32, end = across.from + across.count, beyond = end - width;
    i64 alive = alive_in(words, rows, height, pitch, across.from, beyond > 0 ? width : end);
    if (beyond > 0) alive += alive_in(words, rows, height, pitch, 0, beyond);
    return alive;
}

// The sum of what the 8 threads of a pixel have counted, for the first of them.
DEVICE i64 sum_of_pixel(i64 alive)
{
    __shared__ i64 shares[8][32];
    shares[threadIdx.y][threadIdx.x] = alive;
    __syncthreads();
    if (threadIdx.y > 0) return 0;
    for (int i = 1; i < 8; i++) alive += shares[i][threadIdx.x];
    return alive;
}

extern "C" __global__ void reduce_bits(
    const unsigned* words, unsigned char* pixels, int width, int height,
    long long x0, long long y0, long long step, int px_width, int px_height,
    unsigned long long stride)
{
    words += (size_t)blockIdx.z * ((width + 31) / 32) * height;
    pixels += blockIdx.z * stride;

    const int px = blockIdx.x * 32 + threadIdx.x, py = blockIdx.y;
    const Range across = covered_by(x0, step, px, width), down = covered_by(y0, step, py, height);

    i64 alive = px < px_width ? alive_in_pixel(words, across, down, width, height) : 0;
    alive = sum_of_pixel(alive);
    if (threadIdx.y > 0 || px >= px_width || py >= px_height) return;
    const i64 covered = (i64)across.count * down.count;
    pixels[(size_t)py * px_width + px] = (255 * alive + covered / 2) / covered;
}

// The rows of a band that are in [from, to), counted from the band's first row.
DEVICE Range rows_within(int from, int to, int first_row, int rows)
{
    const int start = from > first_row ? from : first_row;
    const int end = to < first_row + rows ? to : first_row + rows;
    return Range{start - first_row, end > start ? end - start : 0};
}

// `words` are the band's `rows` rows, from `first_row` on of a torus of `height`.
extern "C" __global__ void count_bits(
    const unsigned* words, unsigned* counts, int width, int height, int first_row, int rows,
    long long x0, long long y0, long long step, int px_width, int px_height)
{
    const int px = blockIdx.x * 32 + threadIdx.x, py = blockIdx.y;
    const Range across = covered_by(x0, step, px, width), down = covered_by(y0, step, py, height);
    const int end = down.from + down.count;

    i64 alive = 0;
    if (px < px_width) {
        const Range before = rows_within(down.from, end, first_row, rows);
        const Range wrapped = rows_within(0, end - height, first_row, rows);
        alive = alive_in_pixel(words, across, before, width, rows);
        alive += alive_in_pixel(words, across, wrapped, width, rows);
    }
    alive = sum_of_pixel(alive);
    if (threadIdx.y > 0 || px >= px_width || py >= px_height) return;
    counts[(size_t)py * px_width + px] = (u32)alive;
}
