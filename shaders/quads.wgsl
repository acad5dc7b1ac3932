// What panels.wgsl and cell_ages.wgsl share; it is put behind each of them.

// A corner of a rectangle (left, top, width, height) on a target of these sides, in clip space;
// four of them are a triangle strip.
fn corner_of(rect: vec4<f32>, target_sides: vec2<f32>, index: u32) -> vec4<f32> {
    let side = vec2<f32>(f32(index & 1u), f32(index >> 1u));
    let at = (rect.xy + side * rect.zw) / target_sides;
    return vec4<f32>(at * vec2<f32>(2.0, -2.0) + vec2<f32>(-1.0, 1.0), 0.0, 1.0);
}

// The cell of this column in its word, 32 cells per word, bit 0 leftmost: 1 where it is alive.
fn cell_of(word: u32, column: i32) -> u32 {
    return extractBits(word, u32(column & 31), 1u);
}
