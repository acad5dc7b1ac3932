// Draws every panel of one texture array in one instanced draw. A fragment is one pixel of a
// panel; its colour comes from the share of live cells under it (a box filter with exact, also
// fractional, borders), so that a small panel of a large lattice shows density and not noise.
//
// All positions are relative to the cell at the panel's top left pixel (`cell`), so that f32 is
// exact enough on lattices of any size. Every panel has a camera of its own.

struct Scene {
    screen: vec2<f32>,       // the target's size in pixels
    lattice: vec2<i32>,      // the lattice's sides in cells
    history: f32,            // 1: trails and no ages; where colours are not by state
    unused: f32,
    unused_too: vec2<f32>,
    outside: vec4<f32>,      // beyond the lattice's edge
    line: vec4<f32>,         // lines between cells
    trail: vec4<f32>,        // a cell that has just died
    ramp: array<vec4<f32>, 9>, // from dead to live
    ages: array<vec4<f32>, 9>, // from just born to old
}

@group(0) @binding(0) var<uniform> scene: Scene;
@group(1) @binding(0) var words: texture_2d_array<u32>;     // 32 cells per texel, bit 0 leftmost
@group(1) @binding(0) var densities: texture_2d_array<f32>; // one byte per texel
@group(1) @binding(0) var ages: texture_2d_array<u32>;    // 16 cells per texel; see cell_ages.wgsl

struct Panel {
    @location(0) rect: vec4<f32>,    // left, top, width, height in pixels
    @location(1) tint: vec4<f32>,    // the panel's own live colour; used where alpha is 1
    @location(2) offset: vec2<f32>,  // densities: the texel at the panel's top left pixel
    @location(3) step: f32,          // densities: texels per pixel
    @location(4) layer: u32,
    @location(5) texels: vec2<u32>,  // densities: how many hold anything; ages: the first one
    @location(6) part: vec2<f32>,    // how far into `cell` the top left pixel begins, 0 to 1
    @location(7) cell: vec2<i32>,    // the cell at the top left pixel
    @location(8) scale: vec3<f32>,   // cells per pixel; how far the picture is a reduced one, 0 to
                                     // 1; how strongly lines between cells are drawn, 0 to 1
    @location(9) turn: vec2<f32>,    // densities: texels once around the torus
}

struct Corner {
    @builtin(position) position: vec4<f32>,
    @location(0) @interpolate(flat) origin: vec2<f32>,
    @location(1) @interpolate(flat) tint: vec4<f32>,
    @location(2) @interpolate(flat) offset: vec2<f32>,
    @location(3) @interpolate(flat) step: f32,
    @location(4) @interpolate(flat) layer: u32,
    @location(5) @interpolate(flat) texels: vec2<u32>,
    @location(6) @interpolate(flat) part: vec2<f32>,
    @location(7) @interpolate(flat) cell: vec2<i32>,
    @location(8) @interpolate(flat) scale: vec3<f32>,
    @location(9) @interpolate(flat) turn: vec2<f32>,
}

@vertex
fn corner(@builtin(vertex_index) index: u32, panel: Panel) -> Corner {
    var out: Corner;
    out.position = corner_of(panel.rect, scene.screen, index);
    out.origin = panel.rect.xy;
    out.tint = panel.tint;
    out.offset = panel.offset;
    out.step = panel.step;
    out.layer = panel.layer;
    out.texels = panel.texels;
    out.part = panel.part;
    out.cell = panel.cell;
    out.scale = panel.scale;
    out.turn = panel.turn;
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

// The part of the lattice under a pixel, in cells from the panel's first.
fn cells_under(in: Corner, pixel: vec2<f32>) -> Box {
    let edge = vec2<f32>(scene.lattice - in.cell);
    let lo = in.part + pixel * in.scale.x;
    let hi = in.part + (pixel + 1.0) * in.scale.x;
    return Box(max(lo, vec2<f32>(-in.cell)), min(hi, edge));
}

// Whether it lies within a cell, as most pixels of large cells do: those need no weights.
fn is_one_cell(box: Box) -> bool {
    return all(ceil(box.hi) <= floor(box.lo) + 1.0);
}

// How much of the unit interval from `at` lies between `lo` and `hi`.
fn overlap(at: f32, lo: f32, hi: f32) -> f32 {
    return min(at + 1.0, hi) - max(at, lo);
}

// Live cells of a row, from its cell `at_row` on, between `lo` and `hi`, the two outer ones in part;
// each word is loaded once.
fn alive_in_row(at_row: vec2<i32>, lo: f32, hi: f32, layer: u32) -> f32 {
    let first = floor(lo);
    let last = ceil(hi) - 1.0;
    let head = at_row.x + i32(first);
    let tail = at_row.x + i32(last);
    // Where one cell is all there is, its part is counted once, as the head's.
    let head_part = overlap(first, lo, hi);
    let tail_part = select(overlap(last, lo, hi), 0.0, head == tail);
    let end = tail >> 5u;
    var sum = 0.0;
    for (var at = head >> 5u; at <= end; at++) {
        let word = textureLoad(words, vec2<i32>(at, at_row.y), layer, 0).r;
        let base = at << 5u;
        let start = max(head + 1 - base, 0);
        let count = clamp(tail - base, start, 32) - start;
        sum += f32(countOneBits(extractBits(word, u32(start), u32(count))));
        sum += select(0.0, f32(cell_of(word, head)) * head_part, at == (head >> 5u));
        sum += select(0.0, f32(cell_of(word, tail)) * tail_part, at == end);
    }
    return sum;
}

// From the share of live cells under a pixel to how live it looks. Where cells are smaller than
// pixels, ash (some 3 % of the cells) is told from what is busy (10 % and more), and what is
// sparser still does not fade away.
fn lively(density: f32, in: Corner) -> f32 {
    let share = clamp(density, 0.0, 1.0);
    if (in.scale.y == 0.0) {
        return share;
    }
    let contrast = 1.0 - exp(-pow(share / 0.12, 1.4));
    return mix(share, max(0.6 * sqrt(share), contrast), in.scale.y);
}

// From the share of live cells under a pixel to its colour.
fn shade(density: f32, in: Corner) -> vec4<f32> {
    let live = lively(density, in);
    let at = live * 8.0;
    let below = min(u32(at), 7u);
    let ramp = mix(scene.ramp[below], scene.ramp[below + 1u], at - f32(below));
    return vec4<f32>(mix(ramp.rgb, mix(scene.ramp[0].rgb, in.tint.rgb, live), in.tint.a), 1.0);
}

// Draws the lines between cells: on the first pixel of every cell, every tenth twice as strong.
fn with_lines(colour: vec4<f32>, in: Corner, pixel: vec2<f32>) -> vec4<f32> {
    if (in.scale.z == 0.0) {
        return colour; // far cheaper than the remainders, on every pixel of most pictures
    }
    let here = floor(in.part + (pixel + 0.01) * in.scale.x);
    let before = floor(in.part + (pixel - 0.99) * in.scale.x);
    let strong = vec2<f32>((in.cell + vec2<i32>(here)) % vec2<i32>(10) == vec2<i32>(0));
    let line = select(vec2<f32>(0.0), 1.0 + strong, here != before);
    return mix(colour, scene.line, in.scale.z * max(line.x, line.y));
}

@fragment
fn bits(in: Corner) -> @location(0) vec4<f32> {
    let pixel = floor(in.position.xy - in.origin);
    let box = cells_under(in, pixel);
    if (is_empty(box)) {
        return scene.outside;
    }
    if (is_one_cell(box)) {
        let at = in.cell + vec2<i32>(floor(box.lo));
        let word = textureLoad(words, vec2<i32>(at.x >> 5u, at.y), in.layer, 0).r;
        return with_lines(shade(f32(cell_of(word, at.x)), in), in, pixel);
    }
    var alive = 0.0;
    for (var y = floor(box.lo.y); y < box.hi.y; y += 1.0) {
        let row = in.cell + vec2<i32>(0, i32(y));
        alive += alive_in_row(row, box.lo.x, box.hi.x, in.layer) * overlap(y, box.lo.y, box.hi.y);
    }
    return with_lines(shade(alive / area(box), in), in, pixel);
}

// What the ages of the cells under a pixel say, as shares of all of them.
struct Ages {
    alive: f32,
    // By age: the live cells' mean age, 0 to 1.
    age: f32,
    // By history: how much of a trail is left where cells are dead; in a reduced picture also how
    // lately live ones were born: what is busy glows, and ash does not.
    heat: f32,
}

// The age byte of a cell.
fn age_byte_of(in: Corner, at: vec2<i32>) -> u32 {
    let four = textureLoad(ages, vec2<i32>(in.texels) + vec2<i32>(at.x >> 4u, at.y), in.layer, 0);
    return extractBits(four[(at.x >> 2u) & 3], u32(at.x & 3) * 8u, 8u);
}

// Decodes an age byte (see cell_ages.wgsl).
fn decoded(age_byte: u32, in: Corner) -> Ages {
    if (age_byte < 128u) {
        return Ages(0.0, 0.0, f32(age_byte) / 127.0);
    }
    let lately = in.scale.y * f32(255u - age_byte) / 127.0;
    return Ages(1.0, log2(f32(age_byte - 127u)) / 7.0, lately);
}

// Cell by cell, the outer ones in part.
fn ages_of_cells(in: Corner, box: Box) -> Ages {
    if (is_one_cell(box)) {
        return decoded(age_byte_of(in, in.cell + vec2<i32>(floor(box.lo))), in);
    }
    var out = Ages(0.0, 0.0, 0.0);
    for (var y = floor(box.lo.y); y < box.hi.y; y += 1.0) {
        for (var x = floor(box.lo.x); x < box.hi.x; x += 1.0) {
            let part = overlap(x, box.lo.x, box.hi.x) * overlap(y, box.lo.y, box.hi.y);
            let cell = decoded(age_byte_of(in, in.cell + vec2<i32>(i32(x), i32(y))), in);
            out.alive += part * cell.alive;
            out.age += part * cell.age;
            out.heat += part * cell.heat;
        }
    }
    out.age = clamp(out.age / max(out.alive, 1e-6), 0.0, 1.0);
    out.alive /= area(box);
    out.heat /= area(box);
    return out;
}

// The bytes from this cell of a texel's 16 on.
fn bytes_from(cell: i32) -> vec4<u32> {
    let skipped = clamp(vec4<i32>(cell) - vec4<i32>(0, 4, 8, 12), vec4<i32>(0), vec4<i32>(4));
    let bytes = vec4<u32>(0xFFFFFFFFu) << min(vec4<u32>(skipped) * 8u, vec4<u32>(31u));
    return select(bytes, vec4<u32>(0u), skipped == vec4<i32>(4));
}

// The sum of a texel's 16 bytes, none of which is more than 127.
fn sum_of(bytes: vec4<u32>) -> u32 {
    const EVEN = vec4<u32>(0x00FF00FFu);
    let pairs = (bytes & EVEN) + ((bytes >> vec4<u32>(8u)) & EVEN);
    let sum = pairs.x + pairs.y + pairs.z + pairs.w;
    return (sum & 0xFFFFu) + (sum >> 16u);
}

// Whole cells, 16 at a time: for pixels of several cells.
fn ages_of_texels(in: Corner, box: Box) -> Ages {
    let last = scene.lattice - 1;
    let head = min(in.cell + vec2<i32>(floor(box.lo + 0.5)), last);
    let tail = max(in.cell + vec2<i32>(floor(box.hi + 0.5)), head + 1);
    var alive = 0u;
    var sum = 0u;
    for (var y = head.y; y < tail.y; y++) {
        for (var x = head.x >> 4u; x <= (tail.x - 1) >> 4u; x++) {
            let bytes = textureLoad(ages, vec2<i32>(in.texels) + vec2<i32>(x, y), in.layer, 0);
            let mask = bytes_from(head.x - x * 16) & ~bytes_from(tail.x - x * 16);
            let live = (bytes >> vec4<u32>(7u)) & vec4<u32>(0x01010101u) & mask;
            alive += sum_of(live);
            // Ages of the living alone; or how lately any cell was born or died.
            let ages = bytes & (live * 127u);
            let lately = (bytes ^ (live * 255u)) & mask & vec4<u32>(0x7F7F7F7Fu);
            sum += sum_of(select(ages, lately, scene.history > 0.5));
        }
    }
    let cells = f32((tail.x - head.x) * (tail.y - head.y));
    let age = log2(f32(sum) / max(f32(alive), 1.0) + 1.0) / 7.0;
    return Ages(f32(alive) / cells, clamp(age, 0.0, 1.0), f32(sum) / (127.0 * cells));
}

// By age or by history: live cells in the colour of their mean age, over the trails of the dead.
@fragment
fn by_age(in: Corner) -> @location(0) vec4<f32> {
    let pixel = floor(in.position.xy - in.origin);
    let box = cells_under(in, pixel);
    if (is_empty(box)) {
        return scene.outside;
    }
    var under: Ages;
    if (in.scale.x < 2.0) {
        under = ages_of_cells(in, box);
    } else {
        under = ages_of_texels(in, box);
    }
    let live = lively(under.alive, in);
    if (scene.history > 0.5) {
        let glow = mix(0.35, 0.65, in.scale.y);
        let own = mix(scene.trail.rgb, mix(scene.ramp[0].rgb, in.tint.rgb, glow), in.tint.a);
        let background = mix(scene.ramp[0].rgb, own, clamp(under.heat, 0.0, 1.0));
        let top = mix(scene.ramp[8].rgb, in.tint.rgb, in.tint.a);
        return with_lines(vec4<f32>(mix(background, top, live), 1.0), in, pixel);
    }
    let at = under.age * 8.0;
    let below = min(u32(at), 7u);
    let aged = mix(scene.ages[below].rgb, scene.ages[below + 1u].rgb, at - f32(below));
    let own = mix(aged, mix(scene.ages[0].rgb, in.tint.rgb, under.age), in.tint.a);
    return with_lines(vec4<f32>(mix(scene.ramp[0].rgb, own, live), 1.0), in, pixel);
}

@fragment
fn density(in: Corner) -> @location(0) vec4<f32> {
    let pixel = floor(in.position.xy - in.origin);
    if (is_empty(cells_under(in, pixel))) {
        return scene.outside;
    }
    // What is not in the view as counted from here may be once around the torus.
    let middle = in.offset + (pixel + 0.5) * in.step;
    let around = floor(middle / in.turn) * in.turn;
    let lo = max(in.offset + pixel * in.step - around, vec2<f32>(0.0));
    let hi = min(in.offset + (pixel + 1.0) * in.step - around, vec2<f32>(in.texels));
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
    return with_lines(shade(share, in), in, pixel);
}

// The background of what is docked beside the panels: far cheaper than as a shape of egui's, where the
// GPU is software.
@fragment
fn plain(in: Corner) -> @location(0) vec4<f32> {
    return in.tint;
}
