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

extern "C" __global__ void reduce_bits(
    const unsigned* words, unsigned char* pixels, int width, int height,
    long long x0, long long y0, long long step, int px_width, int px_height,
    unsigned long long stride)
{
    words += (size_t)blockIdx.z * ((width + 31) / 32) * height;
    pixels += blockIdx.z * stride;

    __shared__ i64 shares[8][32];
    const int px = blockIdx.x * 32 + threadIdx.x, py = blockIdx.y;
    const Range across = covered_by(x0, step, px, width), down = covered_by(y0, step, py, height);
    const int end = across.from + across.count, beyond = end - width;

    i64 alive = 0;
    if (px < px_width) {
        const int pitch = (width + 31) / 32;
        alive = alive_in(words, down, height, pitch, across.from, beyond > 0 ? width : end);
        if (beyond > 0) alive += alive_in(words, down, height, pitch, 0, beyond);
    }
    shares[threadIdx.y][threadIdx.x] = alive;
    __syncthreads();

    if (threadIdx.y > 0 || px >= px_width || py >= px_height) return;
    for (int i = 1; i < 8; i++) alive += shares[i][threadIdx.x];
    const i64 covered = (i64)across.count * down.count;
    pixels[(size_t)py * px_width + px] = (255 * alive + covered / 2) / covered;
}
