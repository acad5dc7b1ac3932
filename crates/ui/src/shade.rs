//! How live a pixel looks that covers several cells: the same in `shaders/panels.wgsl`, in the
//! terminal, and where pictures are checked.

/// How far a picture is a reduced one, from 0 where every cell has a pixel to 1 where a pixel's
/// sides are two cells and more.
pub fn reduced(cells_per_pixel: f64) -> f32 {
    (cells_per_pixel - 1.0).clamp(0.0, 1.0) as f32
}

/// From the share of live cells under a pixel to how live it looks, as the shader does.
pub fn brightness(density: f32, reduction: f32) -> f32 {
    let contrast = 1.0 - (-(density / 0.12).powf(1.4)).exp();
    density + (contrast.max(0.6 * density.sqrt()) - density) * reduction
}
