// How long each cell has been alive or dead, one byte per cell, made of the bytes before and of a
// new picture's bits. A live cell has 128 and its age in generations, at most 127; a dead one 128
// less the generations since it was seen alive, at least 0. A cell is looked at once per picture:
// one that died and was born again in between counts as alive throughout.
//
// A texel is 16 cells of a row, four to each channel, the lowest byte leftmost; all 16 are
// advanced by a few operations on whole channels. The lattices of a layer lie below one another; an
// instanced draw makes the layer anew.
//
// A render pass and not a compute pass: weak OpenGL has none.

@group(0) @binding(0) var words: texture_2d_array<u32>; // 32 cells per texel, bit 0 leftmost
@group(1) @binding(0) var before: texture_2d_array<u32>; // the lattices' ages as they were

// What becomes of a lattice: this many generations go by, at most 127, or one of these.
const AFRESH = 128u; // there is nothing to go on from
const KEEP = 129u;   // there is no new picture

// The lowest, the highest and the seven lower bits of every byte.
const ONES = 0x01010101u;
const TOPS = 0x80808080u;
const REST = 0x7F7F7F7Fu;

struct Lattice {
    @location(0) rect: vec4<u32>, // left, top, width, height in texels
    @location(1) height: u32,     // the layer's
    @location(2) how: vec3<u32>,  // the layer of `words`, what becomes of the lattice, the layer of `before`
}

struct Corner {
    @builtin(position) position: vec4<f32>,
    @location(0) @interpolate(flat) top: u32,
    @location(1) @interpolate(flat) how: vec3<u32>,
}

@vertex
fn corner(@builtin(vertex_index) index: u32, lattice: Lattice) -> Corner {
    var out: Corner;
    let sides = vec2<f32>(f32(lattice.rect.z), f32(lattice.height));
    out.position = corner_of(vec4<f32>(lattice.rect), sides, index);
    out.top = lattice.rect.y;
    out.how = lattice.how;
    return out;
}

@fragment
fn advance(in: Corner) -> @location(0) vec4<u32> {
    let at = vec2<i32>(in.position.xy);
    let old = textureLoad(before, at, in.how.z, 0);
    if (in.how.y == KEEP) {
        return old;
    }
    let texel = at - vec2<i32>(0, i32(in.top));
    let word = textureLoad(words, vec2<i32>(texel.x >> 1u, texel.y), in.how.x, 0).r;
    let cells = extractBits(word, u32(texel.x & 1) * 16u, 16u);
    // Four bits, each in a byte of its own: 1 where the cell is alive.
    let fours = (vec4<u32>(cells) >> vec4<u32>(0u, 4u, 8u, 12u)) & vec4<u32>(15u);
    let alive = (fours * 0x00204081u) & vec4<u32>(ONES);
    if (in.how.y == AFRESH) {
        return alive * 128u;
    }
    let by = vec4<u32>(in.how.y * ONES);
    let was = (old >> vec4<u32>(7u)) & vec4<u32>(ONES);
    // Was and is alive: older, up to 127, which a carry into the highest bit says is passed.
    let sum = (old & vec4<u32>(REST)) + by;
    let older = ((sum | (((sum >> vec4<u32>(7u)) & vec4<u32>(ONES)) * 127u)) & vec4<u32>(REST))
        | vec4<u32>(TOPS);
    // Was and is dead: fainter, down to 0, which the highest bit says is passed where it is gone.
    let difference = (old | vec4<u32>(TOPS)) - by;
    let fainter = difference & (((difference >> vec4<u32>(7u)) & vec4<u32>(ONES)) * 127u);
    let living = select_bytes(vec4<u32>(TOPS), older, was);
    // What an edit or its undo made dead has not died: it leaves no trail.
    let died = vec4<u32>(select(REST, 0u, in.how.y == 0u));
    let dead = select_bytes(fainter, died, was);
    return select_bytes(dead, living, alive);
}

// Of each byte `yes` where `flag` is 1 there, and `no` where it is 0.
fn select_bytes(no: vec4<u32>, yes: vec4<u32>, flag: vec4<u32>) -> vec4<u32> {
    let mask = flag * 255u;
    return (no & ~mask) | (yes & mask);
}
