// How long each cell has been alive or dead, one byte a cell, made of the bytes before and of a
// new picture's bits. A live cell has 128 and how many pictures ago it was born, at most 127; a
// dead one 128 less how many pictures ago it was alive, at least 0. The lattices lie side by side
// in a page; an instanced draw makes a page anew.
//
// A render pass and not a compute pass: weak OpenGL has none.

@group(0) @binding(0) var words: texture_2d_array<u32>; // 32 cells a texel, bit 0 leftmost
@group(1) @binding(0) var before: texture_2d<u32>;      // the page as it was

const KEEP = 0u;   // there is no new picture
const STEP = 1u;   // a later picture
const SAME = 2u;   // a picture of the same generation: edited, perhaps
const AFRESH = 3u; // there is nothing to go on from

struct Lattice {
    @location(0) rect: vec4<f32>, // left, top, width, height in cells
    @location(1) page: vec2<f32>, // the page's sides in cells
    @location(2) how: vec2<u32>,  // the layer of `words`, and one of the above
}

struct Corner {
    @builtin(position) position: vec4<f32>,
    @location(0) @interpolate(flat) origin: vec2<f32>,
    @location(1) @interpolate(flat) how: vec2<u32>,
}

@vertex
fn corner(@builtin(vertex_index) index: u32, lattice: Lattice) -> Corner {
    var out: Corner;
    out.position = corner_of(lattice.rect, lattice.page, index);
    out.origin = lattice.rect.xy;
    out.how = lattice.how;
    return out;
}

@fragment
fn trace(in: Corner) -> @location(0) u32 {
    let old = textureLoad(before, vec2<i32>(in.position.xy), 0).r;
    if (in.how.y == KEEP) {
        return old;
    }
    let cell = vec2<i32>(in.position.xy - in.origin);
    let word = textureLoad(words, vec2<i32>(cell.x >> 5u, cell.y), in.how.x, 0).r;
    let alive = cell_of(word, cell.x);
    if (in.how.y == AFRESH) {
        return 128u * alive;
    }
    let step = select(0u, 1u, in.how.y == STEP);
    if (alive == 1u) {
        return select(128u, min(old + step, 255u), old >= 128u);
    }
    return select(old - min(old, step), 127u, old >= 128u);
}
