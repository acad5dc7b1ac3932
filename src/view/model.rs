//! What the shaders compute, on the CPU: slow, and easily seen to be right.

use crate::life::Lattice;
use crate::view::layout::Tiling;
use crate::view::palette::{palette, rgb, tint};
use crate::view::panels::{OUTSIDE, gamma};
use crate::view::picture_file::Image;
use crate::view::{Look, ViewOptions};

/// The share of live cells under a pixel, weighted by how much of each is under it; `None` off
/// the lattice.
pub(crate) fn density(lattice: &Lattice, look: Look, pixel: [u32; 2]) -> Option<f64> {
    let size = lattice.size();
    let lo = look.to_cells(pixel.map(f64::from));
    let hi = look.to_cells(pixel.map(|at| f64::from(at + 1)));
    let span = |axis: usize, side: u32| (lo[axis].max(0.0), hi[axis].min(f64::from(side)));
    let (x, y) = (span(0, size.width()), span(1, size.height()));
    if x.0 >= x.1 || y.0 >= y.1 {
        return None;
    }
    let weight = |(from, to): (f64, f64), at: u32| {
        (f64::from(at + 1).min(to) - f64::from(at).max(from)).max(0.0)
    };
    let mut alive = 0.0;
    for row in y.0.floor() as u32..(y.1.ceil() as u32).min(size.height()) {
        for column in x.0.floor() as u32..(x.1.ceil() as u32).min(size.width()) {
            if lattice.get(column, row) {
                alive += weight(x, column) * weight(y, row);
            }
        }
    }
    Some(alive / ((x.1 - x.0) * (y.1 - y.0)))
}

/// The colour of a density.
pub(crate) fn colour(
    density: Option<f64>,
    scale: f64,
    instance: usize,
    options: &ViewOptions,
) -> [f64; 3] {
    let rgb_of = |colour: [f32; 4]| [0, 1, 2].map(|channel| f64::from(colour[channel]) * 255.0);
    let Some(density) = density else {
        return rgb_of(rgb(OUTSIDE));
    };
    let palette = palette(options.colours);
    let lively = density.clamp(0.0, 1.0).powf(f64::from(gamma(1.0 / scale)));
    let t = if options.invert { 1.0 - lively } else { lively };
    let mix = |a: [f64; 3], b: [f64; 3], t: f64| [0, 1, 2].map(|c| a[c] + (b[c] - a[c]) * t);
    if palette.tinted {
        return mix(rgb_of(palette.ramp[0]), rgb_of(tint(instance)), t);
    }
    let below = ((t * 8.0) as usize).min(7);
    mix(
        rgb_of(palette.ramp[below]),
        rgb_of(palette.ramp[below + 1]),
        t * 8.0 - below as f64,
    )
}

/// Every pixel of every panel is within `by` of the model.
pub(crate) fn assert_as_modelled(
    image: &Image,
    lattices: &[Lattice],
    (panel, columns, look): ([u32; 2], usize, Look),
    options: &ViewOptions,
    by: f64,
) {
    let tiling = Tiling {
        count: lattices.len(),
        columns,
        panel,
        origin: [1, 2],
        gap: 3,
        second: None,
    };
    for (instance, lattice) in lattices.iter().enumerate() {
        let rect = tiling.rect(instance);
        for y in 0..panel[1] {
            for x in 0..panel[0] {
                let want = colour(
                    density(lattice, look, [x, y]),
                    look.scale,
                    instance,
                    options,
                );
                let have = image.pixel(rect.x + x, rect.y + y).map(f64::from);
                let far = [0, 1, 2].iter().any(|&c| (want[c] - have[c]).abs() > by);
                assert!(
                    !far,
                    "panel {instance}, pixel ({x}, {y}): {have:?}, not {want:?}\n{look:?}"
                );
            }
        }
    }
}
