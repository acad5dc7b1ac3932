//! What the shaders compute, on the CPU: slow, and easily seen to be right.

use crate::view::cell_ages::AgeUpdate;
use crate::view::panels::{LINES, MIN_PIXELS_FOR_LINES, outside};
use life::Lattice;
use ui::theme::reduced;
use ui::theme::{CELL_LINES, theme, tint};
use ui::{ColourBy, ViewOptions, ViewTransform};

/// Where a lattice is seen: what a panel of so many pixels shows, and what of it goes around the torus.
#[derive(Clone, Copy)]
pub(crate) struct Seen<'a> {
    pub lattice: &'a Lattice,
    pub transform: ViewTransform,
    pub panel: [u32; 2],
}

/// Cells, each with how much of it counts.
type Cells = Vec<([u32; 2], f64)>;

impl Seen<'_> {
    /// The cells under a pixel by how much of each is under it, or whole those whose edges are nearest to its
    /// own; nothing off the lattice.
    fn under(&self, pixel: [u32; 2], whole: bool) -> Cells {
        let size = self.lattice.size();
        let around = self.transform.goes_around(size, self.panel);
        let lo = self.transform.to_cells(pixel.map(f64::from));
        let hi = self.transform.to_cells(pixel.map(|at| f64::from(at + 1)));
        let along = |axis: usize, side: u32| -> Vec<(u32, f64)> {
            let (mut lo, mut hi) = (lo[axis], hi[axis]);
            if !around[axis] {
                (lo, hi) = (lo.max(0.0), hi.min(f64::from(side)));
            }
            if hi <= lo {
                return Vec::new();
            }
            let weight = |at: i64| (hi.min(at as f64 + 1.0) - lo.max(at as f64), at);
            let cells = if whole {
                let from = ((lo + 0.5).floor() as i64).min(i64::from(side) - 1);
                from..((hi + 0.5).floor() as i64).max(from + 1)
            } else {
                lo.floor() as i64..hi.ceil() as i64
            };
            let cells = cells.map(|at| if whole { (1.0, at) } else { weight(at) });
            let cells = cells.map(|(part, at)| (at.rem_euclid(side.into()) as u32, part));
            cells.collect()
        };
        let (columns, rows) = (along(0, size.width()), along(1, size.height()));
        let row = |&(y, part): &(u32, f64)| {
            let cells = columns
                .iter()
                .map(move |(x, other)| ([*x, y], part * other));
            cells.collect::<Vec<_>>()
        };
        rows.iter().flat_map(row).collect()
    }

    /// The share of live cells under a pixel; `None` off the lattice.
    fn density(&self, pixel: [u32; 2]) -> Option<f64> {
        let alive = |[x, y]: [u32; 2]| f64::from(u8::from(self.lattice.get(x, y)));
        mean(&self.under(pixel, false), alive)
    }

    /// The colour of a pixel, with the lines between cells.
    pub(crate) fn colour(
        &self,
        pixel: [u32; 2],
        instance: usize,
        options: &ViewOptions,
    ) -> [f64; 3] {
        let plain = colour(self.density(pixel), self.transform.scale, instance, options);
        self.with_lines(plain, pixel, options)
    }

    fn with_lines(&self, colour: [f64; 3], pixel: [u32; 2], options: &ViewOptions) -> [f64; 3] {
        let ViewTransform { origin, scale } = self.transform;
        if !options.grid_lines || scale < MIN_PIXELS_FOR_LINES {
            return colour;
        }
        let line = |axis: usize| {
            let size = self.lattice.size();
            let side = f64::from([size.width(), size.height()][axis]);
            let cell = |at: f64| (origin[axis] + (at + 0.01) / scale).floor();
            let at = f64::from(pixel[axis]);
            let here = cell(at);
            match (here == cell(at - 1.0), here.rem_euclid(side) % 10.0 == 0.0) {
                (true, _) => 0.0,
                (_, true) => 2.0,
                _ => 1.0,
            }
        };
        let strength = f64::from(LINES) * f64::max(line(0), line(1));
        mix(colour, rgb_of(CELL_LINES), strength)
    }
}

/// The share of something under a pixel; `None` off the lattice.
fn mean(cells: &Cells, of: impl Fn([u32; 2]) -> f64) -> Option<f64> {
    let whole: f64 = cells.iter().map(|(_, part)| part).sum();
    let sum: f64 = cells.iter().map(|&(cell, part)| of(cell) * part).sum();
    (whole > 0.0).then(|| sum / whole)
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
    let t = brightness(density, scale);
    if theme.tinted {
        return mix(rgb_of(theme.ramp[0]), rgb_of(tint(instance)), t);
    }
    along(&theme.ramp, t)
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
                AgeUpdate::Reset => 0,
            };
            *byte = match (turn, alive, was) {
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
        seen: Seen<'_>,
        pixel: [u32; 2],
        instance: usize,
        options: &ViewOptions,
    ) -> [f64; 3] {
        let scale = seen.transform.scale;
        let whole = 1.0 / scale >= 2.0;
        let cells = seen.under(pixel, whole);
        let alive = |cell| f64::from(u8::from(self.at(cell).is_ok()));
        let Some(density) = mean(&cells, alive) else {
            return rgb_of(outside(options));
        };
        let (theme, tint) = (theme(options.theme), tint(instance));
        let background = rgb_of(theme.ramp[0]);
        let live = brightness(density, scale);
        let own = |of: [f64; 3], tinted: [f64; 3]| if theme.tinted { tinted } else { of };
        if options.colour_by == ColourBy::History {
            let reduced = f64::from(reduced(1.0 / scale));
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
