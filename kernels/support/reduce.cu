// One byte of density a pixel of a view: 255 * alive / covered, rounded to the nearest.
//
// Bound: the view's part of the lattice read once, 1/8 byte a cell.
// Launch: blocks of 32x8; the grid is pixels across / 32 (rounded up) by pixel rows by lattices
// that lie one behind the other, `stride` bytes from one's pixels to the next one's. A block has
// 32 pixels of one row; the 8 threads of a pixel share its rows of cells.
//
// Origin and step are in cells with 16 fractional bits. A pixel covers the cells from
// (origin + i * step) >> 16 up to, not including, that of i + 1, and at least one; cells outside
// the lattice are dead and covered.
#include "../life.cuh"

typedef long long i64;
struct Range { i64 from, to; };

DEVICE Range covered_by(i64 origin, i64 step, int i)
{
    const i64 from = (origin + i * step) >> 16, to = (origin + (i + 1) * step) >> 16;
    return Range{from, to > from ? to : from + 1};
}

DEVICE Range clip(Range range, int size)
{
    return Range{range.from > 0 ? range.from : 0, range.to < size ? range.to : size};
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
    const Range across = covered_by(x0, step, px), down = covered_by(y0, step, py);
    const Range columns = clip(across, width), rows = clip(down, height);

    i64 alive = 0;
    if (px < px_width && columns.from < columns.to) {
        const int first = columns.from / 32, last = (columns.to - 1) / 32;
        const u32 head = ~0u << (columns.from % 32), tail = ~0u >> (31 - (columns.to - 1) % 32);
        for (i64 y = rows.from + threadIdx.y; y < rows.to; y += 8) {
            const u32* row = words + y * ((width + 31) / 32);
            for (int x = first; x <= last; x++)
                alive += __popc(row[x] & (x == first ? head : ~0u) & (x == last ? tail : ~0u));
        }
    }
    shares[threadIdx.y][threadIdx.x] = alive;
    __syncthreads();

    if (threadIdx.y > 0 || px >= px_width || py >= px_height) return;
    for (int i = 1; i < 8; i++) alive += shares[i][threadIdx.x];
    const i64 covered = (across.to - across.from) * (down.to - down.from);
    pixels[(size_t)py * px_width + px] = (255 * alive + covered / 2) / covered;
}
