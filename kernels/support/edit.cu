// Sets cells: each edit is a word's index in the lattice's bits, a mask of the cells to set, and
// their new states. Each word has at most one edit.
//
// Bound: 12 bytes read per edit.
// Launch: blocks 32 threads wide, one per cell of an edit's word (32x8); the grid's rows cover the
// edits.
#include "../life.cuh"

extern "C" __global__ void edit_cells(
    const unsigned* edits, int count, unsigned* cells, int width, int layout)
{
    enum { BITS, I32, PLANAR };
    const int edit = (blockIdx.z * gridDim.y + blockIdx.y) * blockDim.y + threadIdx.y;
    if (edit >= count) return;
    const u32 word = edits[3 * edit], mask = edits[3 * edit + 1], bits = edits[3 * edit + 2];
    const u32 bit = threadIdx.x;
    if (layout == BITS) {
        if (bit == 0) cells[word] = (cells[word] & ~mask) | (bits & mask);
        return;
    }
    if (!(mask >> bit & 1)) return;
    const u32 alive = bits >> bit & 1, count_of_row = (width + 31) / 32;
    const u32 y = word / count_of_row, x = word % count_of_row * 32 + bit;
    if (layout == I32) {
        cells[(size_t)y * width + x] = alive;
        return;
    }
    // Planar: other threads may set other bits of the same word. Adding or subtracting one changed
    // bit causes no carry, so atomicAdd sets each bit independently. The cell is in its own plane,
    // and in those before it that reach as far.
    const u32 words = planar_words(width);
    u32 plane = (32 * x + 31) / width, behind = x - first_of_plane(plane, width);
    while (behind < words) {
        u32* at = cells + (size_t)y * words + behind;
        const u32 was = *at >> plane & 1;
        if (was != alive) atomicAdd(at, (alive - was) << plane);
        const u32 later = first_of_plane(plane, width) + (plane == 0 ? width : 0);
        plane = (plane + 31) % 32;
        behind += later - first_of_plane(plane, width);
    }
}
