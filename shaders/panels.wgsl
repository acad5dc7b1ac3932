// Draws every panel of one texture array in one instanced draw. A fragment is one pixel of a
// panel; its colour comes from the share of live cells under it (a box filter with exact, also
// fractional, borders), so that a small panel of a large lattice shows density and not noise.
//
// All positions are relative to the cell at the panels' top left pixel (`origin_cell`), so that
// f32 is exact enough on lattices of any size.

struct Scene {
    screen: vec2<f32>,       // the target's size in pixels
    origin_part: vec2<f32>,  // how far into `origin_cell` the top left pixel begins, 0 to 1
    origin_cell: vec2<i32>,  // the cell at the panels' top left pixel
    lattice: vec2<i32>,      // the lattice's sides in cells
    cells_per_pixel: f32,
    gamma: f32,              // the exponent from density to shade
    grid_lines: f32,         // how strongly lines between cells are drawn, 0 to 1
    inverted: f32,           // 1: live and dead change colours
    outside: vec4<f32>,      // beyond the lattice's edge
    line: vec4<f32>,         // lines between cells
    ramp: array<vec4<f32>, 9>, // from dead to live
}

@group(0) @binding(0) var<uniform> scene: Scene;
@group(1) @binding(0) var words: texture_2d_array<u32>;     // 32 cells a texel, bit 0 leftmost
@group(1) @binding(0) var densities: texture_2d_array<f32>; // one byte a texel

struct Panel {
    @location(0) rect: vec4<f32>,    // left, top, width, height in pixels
    @location(1) tint: vec4<f32>,    // the panel's own live colour; used where alpha is 1
    @location(2) offset: vec2<f32>,  // densities: the texel at the panel's top left pixel
    @location(3) step: f32,          // densities: texels a pixel
    @location(4) layer: u32,
    @location(5) texels: vec2<u32>,  // densities: how many texels hold anything
}

struct Corner {
    @builtin(position) position: vec4<f32>,
    @location(0) @interpolate(flat) origin: vec2<f32>,
    @location(1) @interpolate(flat) tint: vec4<f32>,
    @location(2) @interpolate(flat) offset: vec2<f32>,
    @location(3) @interpolate(flat) step: f32,
    @location(4) @interpolate(flat) layer: u32,
    @location(5) @interpolate(flat) texels: vec2<u32>,
}

@vertex
fn corner(@builtin(vertex_index) index: u32, panel: Panel) -> Corner {
    let side = vec2<f32>(f32(index & 1u), f32(index >> 1u)); // a triangle strip
    let at = (panel.rect.xy + side * panel.rect.zw) / scene.screen;
    var out: Corner;
    out.position = vec4<f32>(at * vec2<f32>(2.0, -2.0) + vec2<f32>(-1.0, 1.0), 0.0, 1.0);
    out.origin = panel.rect.xy;
    out.tint = panel.tint;
    out.offset = panel.offset;
    out.step = panel.step;
    out.layer = panel.layer;
    out.texels = panel.texels;
    return out;
}

// A rectangle, `lo` inclusive, `hi` exclusive.
struct Box {
    lo: vec2<f32>,
    hi: vec2<f32>,
}

fn is_empty(box: Box) -> bool {
    return any(box.hi <= box.lo);
}

fn area(box: Box) -> f32 {
    return (box.hi.x - box.lo.x) * (box.hi.y - box.lo.y);
}

// The part of the lattice under a pixel, in cells from `origin_cell`.
fn cells_under(pixel: vec2<f32>) -> Box {
    let edge = vec2<f32>(scene.lattice - scene.origin_cell);
    let lo = scene.origin_part + pixel * scene.cells_per_pixel;
    let hi = scene.origin_part + (pixel + 1.0) * scene.cells_per_pixel;
    return Box(max(lo, vec2<f32>(-scene.origin_cell)), min(hi, edge));
}

// How much of the unit interval from `at` lies between `lo` and `hi`.
fn overlap(at: f32, lo: f32, hi: f32) -> f32 {
    return min(at + 1.0, hi) - max(at, lo);
}

fn bit(word: u32, at: i32) -> f32 {
    return f32(extractBits(word, u32(at & 31), 1u));
}

// Live cells of a row between `lo` and `hi`, the two outer ones in part; each word is loaded once.
fn alive_in_row(row: i32, lo: f32, hi: f32, layer: u32) -> f32 {
    let first = floor(lo);
    let last = ceil(hi) - 1.0;
    let head = scene.origin_cell.x + i32(first);
    let tail = scene.origin_cell.x + i32(last);
    // Where one cell is all there is, its part is counted once, as the head's.
    let head_part = overlap(first, lo, hi);
    let tail_part = select(overlap(last, lo, hi), 0.0, head == tail);
    let end = tail >> 5u;
    var sum = 0.0;
    for (var at = head >> 5u; at <= end; at++) {
        let word = textureLoad(words, vec2<i32>(at, row), layer, 0).r;
        let base = at << 5u;
        let start = max(head + 1 - base, 0);
        let count = clamp(tail - base, start, 32) - start;
        sum += f32(countOneBits(extractBits(word, u32(start), u32(count))));
        sum += select(0.0, bit(word, head) * head_part, at == (head >> 5u));
        sum += select(0.0, bit(word, tail) * tail_part, at == end);
    }
    return sum;
}

// From the share of live cells under a pixel to its colour.
fn shade(density: f32, tint: vec4<f32>) -> vec4<f32> {
    let lively = pow(clamp(density, 0.0, 1.0), scene.gamma);
    let t = mix(lively, 1.0 - lively, scene.inverted);
    let at = t * 8.0;
    let below = min(u32(at), 7u);
    let ramp = mix(scene.ramp[below], scene.ramp[below + 1u], at - f32(below));
    return vec4<f32>(mix(ramp.rgb, mix(scene.ramp[0].rgb, tint.rgb, t), tint.a), 1.0);
}

// Draws the lines between cells: on the first pixel of every cell.
fn with_lines(colour: vec4<f32>, pixel: vec2<f32>) -> vec4<f32> {
    let here = scene.origin_part + (pixel + 0.01) * scene.cells_per_pixel;
    let before = here - scene.cells_per_pixel;
    let on_line = any(floor(here) != floor(before));
    return mix(colour, scene.line, select(0.0, scene.grid_lines, on_line));
}

@fragment
fn bits(in: Corner) -> @location(0) vec4<f32> {
    let pixel = floor(in.position.xy - in.origin);
    let box = cells_under(pixel);
    if (is_empty(box)) {
        return scene.outside;
    }
    var alive = 0.0;
    for (var y = floor(box.lo.y); y < box.hi.y; y += 1.0) {
        let row = scene.origin_cell.y + i32(y);
        alive += alive_in_row(row, box.lo.x, box.hi.x, in.layer) * overlap(y, box.lo.y, box.hi.y);
    }
    return with_lines(shade(alive / area(box), in.tint), pixel);
}

@fragment
fn density(in: Corner) -> @location(0) vec4<f32> {
    let pixel = floor(in.position.xy - in.origin);
    if (is_empty(cells_under(pixel))) {
        return scene.outside;
    }
    let lo = max(in.offset + pixel * in.step, vec2<f32>(0.0));
    let hi = min(in.offset + (pixel + 1.0) * in.step, vec2<f32>(in.texels));
    let box = Box(lo, hi);
    var sum = 0.0;
    for (var y = floor(lo.y); y < hi.y; y += 1.0) {
        for (var x = floor(lo.x); x < hi.x; x += 1.0) {
            let texel = textureLoad(densities, vec2<i32>(i32(x), i32(y)), in.layer, 0).r;
            sum += texel * overlap(x, lo.x, hi.x) * overlap(y, lo.y, hi.y);
        }
    }
    // What the picture does not cover (the camera has moved since) is dark until the next one.
    let share = select(sum / area(box), 0.0, is_empty(box));
    return with_lines(shade(share, in.tint), pixel);
}

// A rectangle of one colour: the HUD's ground, far cheaper than as a shape of the overlay where
// the GPU is software.
@fragment
fn plain(in: Corner) -> @location(0) vec4<f32> {
    return in.tint;
}
