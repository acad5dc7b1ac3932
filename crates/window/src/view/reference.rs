//! What the shaders compute, on the CPU: slow, and easily seen to be right.

use crate::view::cell_ages::AgeUpdate;
use crate::view::layout::Tiling;
use crate::view::panels::{LINES, MIN_PIXELS_FOR_LINES, outside};
use crate::view::picture_file::Image;
use life::Lattice;
use ui::theme::reduced;
use ui::theme::{CELL_LINES, mirrored, theme, tint};
use ui::{ColourBy, ViewOptions, ViewTransform};

/// The cells under a pixel, each with how much of it is; nothing off the lattice.
fn under(lattice: &Lattice, transform: ViewTransform, pixel: [u32; 2]) -> Vec<([u32; 2], f64)> {
    let size = lattice.size();
    let lo = transform.to_cells(pixel.map(f64::from));
    let hi = transform.to_cells(pixel.map(|at| f64::from(at + 1)));
    let span = |axis: usize, side: u32| (lo[axis].max(0.0), hi[axis].min(f64::from(side)));
    let (x, y) = (span(0, size.width()), span(1, size.height()));
    let weight = |(from, to): (f64, f64), at: u32| {
        (f64::from(at + 1).min(to) - f64::from(at).max(from)).max(0.0)
    };
    let mut cells = Vec::new();
    if x.0 < x.1 && y.0 < y.1 {
        for row in y.0.floor() as u32..(y.1.ceil() as u32).min(size.height()) {
            for column in x.0.floor() as u32..(x.1.ceil() as u32).min(size.width()) {
                cells.push(([column, row], weight(x, column) * weight(y, row)));
            }
        }
    }
    cells
}

/// The share of something under a pixel; `None` off the lattice.
fn mean(cells: &[([u32; 2], f64)], of: impl Fn([u32; 2]) -> f64) -> Option<f64> {
    let whole: f64 = cells.iter().map(|(_, part)| part).sum();
    let sum: f64 = cells.iter().map(|&(cell, part)| of(cell) * part).sum();
    (whole > 0.0).then(|| sum / whole)
}

/// The share of live cells under a pixel, weighted by how much of each is under it; `None` off
/// the lattice.
pub(crate) fn density(lattice: &Lattice, transform: ViewTransform, pixel: [u32; 2]) -> Option<f64> {
    let alive = |[x, y]: [u32; 2]| f64::from(u8::from(lattice.get(x, y)));
    mean(&under(lattice, transform, pixel), alive)
}

fn rgb_of(colour: [f32; 4]) -> [f64; 3] {
    [0, 1, 2].map(|channel| f64::from(colour[channel]) * 255.0)
}

fn mix(a: [f64; 3], b: [f64; 3], t: f64) -> [f64; 3] {
    [0, 1, 2].map(|c| a[c] + (b[c] - a[c]) * t)
}

fn along(ramp: &[[f32; 4]; 9], t: f64) -> [f64; 3] {
    let below = ((t * 8.0) as usize).min(7);
    let ends = [rgb_of(ramp[below]), rgb_of(ramp[below + 1])];
    mix(ends[0], ends[1], t * 8.0 - below as f64)
}

/// As [`brightness`](ui::theme::brightness) and the shader.
fn brightness(density: f64, scale: f64) -> f64 {
    let share = density.clamp(0.0, 1.0);
    let contrast = 1.0 - (-(share / 0.12).powf(1.4)).exp();
    let strong = contrast.max(0.6 * share.sqrt());
    share + (strong - share) * f64::from(reduced(1.0 / scale))
}

/// The cells of a pixel of several, whole: those whose edges are nearest to its own.
fn whole_under(
    lattice: &Lattice,
    transform: ViewTransform,
    pixel: [u32; 2],
) -> Vec<([u32; 2], f64)> {
    let size = lattice.size();
    let lo = transform.to_cells(pixel.map(f64::from));
    let hi = transform.to_cells(pixel.map(|at| f64::from(at + 1)));
    let span = |axis: usize, side: u32| {
        let [lo, hi] = [lo[axis].max(0.0), hi[axis].min(f64::from(side))];
        if hi <= lo {
            return 0..0;
        }
        let from = ((lo + 0.5).floor() as u32).min(side - 1);
        from..((hi + 0.5).floor() as u32).max(from + 1)
    };
    let columns = span(0, size.width());
    let rows = span(1, size.height());
    rows.flat_map(|y| columns.clone().map(move |x| ([x, y], 1.0)))
        .collect()
}

/// The colour of a density.
pub(crate) fn colour(
    density: Option<f64>,
    scale: f64,
    instance: usize,
    options: &ViewOptions,
) -> [f64; 3] {
    let Some(density) = density else {
        return rgb_of(outside(options));
    };
    let theme = theme(options.theme);
    let brightness = brightness(density, scale);
    let t = if options.invert {
        1.0 - brightness
    } else {
        brightness
    };
    if theme.tinted {
        return mix(rgb_of(theme.ramp[0]), rgb_of(tint(instance)), t);
    }
    along(&theme.ramp, t)
}

/// A colour with what a line between cells makes of it.
pub(crate) fn with_lines(
    colour: [f64; 3],
    transform: ViewTransform,
    pixel: [u32; 2],
    options: &ViewOptions,
) -> [f64; 3] {
    if !options.grid_lines || transform.scale < MIN_PIXELS_FOR_LINES {
        return colour;
    }
    let cell =
        |at: f64, axis: usize| (transform.origin[axis] + (at + 0.01) / transform.scale).floor();
    let line = |axis: usize| {
        let at = f64::from(pixel[axis]);
        let here = cell(at, axis);
        let strength: f64 = if here.rem_euclid(10.0) == 0.0 {
            2.0
        } else {
            1.0
        };
        if here == cell(at - 1.0, axis) {
            0.0
        } else {
            strength
        }
    };
    let strength = f64::from(LINES) * line(0).max(line(1));
    mix(colour, rgb_of(CELL_LINES), strength)
}

/// How long each cell of a lattice has been alive or dead, as the shader counts it.
pub(crate) struct ReferenceAges {
    bytes: Vec<u8>,
    width: u32,
}

impl ReferenceAges {
    /// Of a first picture.
    pub(crate) fn of(lattice: &Lattice) -> ReferenceAges {
        let cells = lattice.size().cells() as usize;
        let mut ages = ReferenceAges {
            bytes: vec![0; cells],
            width: lattice.size().width(),
        };
        ages.turn(lattice, AgeUpdate::Reset);
        ages
    }

    /// Goes on to another picture.
    pub(crate) fn turn(&mut self, lattice: &Lattice, turn: AgeUpdate) {
        for (at, byte) in self.bytes.iter_mut().enumerate() {
            let alive = lattice.get(at as u32 % self.width, at as u32 / self.width);
            let was = *byte >= 128;
            let step = match turn {
                AgeUpdate::Advance(by) => by,
                AgeUpdate::Keep | AgeUpdate::Reset => 0,
            };
            *byte = match (turn, alive, was) {
                (AgeUpdate::Keep, ..) => *byte,
                (AgeUpdate::Reset, false, _) => 0,
                (AgeUpdate::Reset, true, _) | (_, true, false) => 128,
                (_, true, true) => byte.saturating_add(step),
                (AgeUpdate::Advance(0), false, true) => 0, // an edit's
                (_, false, true) => 127,
                (_, false, false) => byte.saturating_sub(step),
            };
        }
    }

    /// Generations since the cell was born, if it is alive; else since it died, if it was.
    pub(crate) fn at(&self, [x, y]: [u32; 2]) -> Result<u8, Option<u8>> {
        match self.bytes[(y * self.width + x) as usize] {
            0 => Err(None),
            byte if byte < 128 => Err(Some(127 - byte)),
            byte => Ok(byte - 128),
        }
    }

    /// The colour of a pixel.
    pub(crate) fn colour(
        &self,
        lattice: &Lattice,
        transform: ViewTransform,
        pixel: [u32; 2],
        instance: usize,
        options: &ViewOptions,
    ) -> [f64; 3] {
        let whole = 1.0 / transform.scale >= 2.0;
        let cells = if whole {
            whole_under(lattice, transform, pixel)
        } else {
            under(lattice, transform, pixel)
        };
        let alive = |cell| f64::from(u8::from(self.at(cell).is_ok()));
        let Some(density) = mean(&cells, alive) else {
            return rgb_of(outside(options));
        };
        let plain = theme(options.theme);
        let (theme, tint) = if options.invert {
            (plain.inverted(), mirrored(tint(instance)))
        } else {
            (plain, tint(instance))
        };
        let background = rgb_of(theme.ramp[0]);
        let live = brightness(density, transform.scale);
        let own = |of: [f64; 3], tinted: [f64; 3]| if theme.tinted { tinted } else { of };
        if options.colour_by == ColourBy::History {
            let reduced = f64::from(reduced(1.0 / transform.scale));
            let lately = |cell| match self.at(cell) {
                Err(Some(since)) => f64::from(127 - since) / 127.0,
                Err(None) => 0.0,
                Ok(age) => reduced * f64::from(127 - age) / 127.0,
            };
            let heat = mean(&cells, lately).unwrap();
            let glow = 0.35 + 0.3 * reduced;
            let colour = own(rgb_of(theme.trail), mix(background, rgb_of(tint), glow));
            let top = own(rgb_of(theme.ramp[8]), rgb_of(tint));
            return mix(mix(background, colour, heat), top, live);
        }
        let ages = |of: fn(u8) -> f64| {
            let aged = |cell| self.at(cell).map_or(0.0, of);
            mean(&cells, aged).unwrap() / density.max(1e-6)
        };
        let age = if whole {
            (ages(f64::from) + 1.0).log2() / 7.0
        } else {
            ages(|age| f64::from(age + 1).log2() / 7.0)
        };
        let youngest = rgb_of(theme.ages[0]);
        let top = own(along(&theme.ages, age), mix(youngest, rgb_of(tint), age));
        mix(background, top, live)
    }
}

/// Every pixel of every panel is within `by` of the model.
pub(crate) fn assert_as_modelled(
    image: &Image,
    lattices: &[Lattice],
    (panel, columns, transform): ([u32; 2], usize, ViewTransform),
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
                    density(lattice, transform, [x, y]),
                    transform.scale,
                    instance,
                    options,
                );
                let want = with_lines(want, transform, [x, y], options);
                let have = image.pixel(rect.x + x, rect.y + y).map(f64::from);
                let far = [0, 1, 2].iter().any(|&c| (want[c] - have[c]).abs() > by);
                assert!(
                    !far,
                    "panel {instance}, pixel ({x}, {y}): {have:?}, not {want:?}\n{transform:?}"
                );
            }
        }
    }
}
