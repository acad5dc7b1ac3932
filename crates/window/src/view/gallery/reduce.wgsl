// The mean of the rectangle of pixels that a pixel of a reduced picture stands for.

@group(0) @binding(0) var picture: texture_2d<f32>;

const REDUCED = vec2u(80u, 45u);

@vertex
fn corner(@builtin(vertex_index) index: u32) -> @builtin(position) vec4f {
    let at = vec2f(vec2u(index & 1u, index >> 1u)) * 4.0 - 1.0;
    return vec4f(at, 0.0, 1.0);
}

@fragment
fn mean(@builtin(position) at: vec4f) -> @location(0) vec4f {
    let size = textureDimensions(picture);
    let place = vec2u(at.xy);
    let begin = place * size / REDUCED;
    let end = (place + 1u) * size / REDUCED;
    var sum = vec4f(0.0);
    for (var y = begin.y; y < end.y; y++) {
        for (var x = begin.x; x < end.x; x++) {
            sum += textureLoad(picture, vec2u(x, y), 0);
        }
    }
    let extent = vec2f(end - begin);
    return sum / (extent.x * extent.y);
}
