//! The shaders pixel by pixel against what they compute, on the CPU: slow, and easily seen to be right. On lavapipe
//! (Mesa's Vulkan in software), which draws the same everywhere.

use ColourBy::*;
use std::sync::LazyLock;

use crate::view::Gpu;
use crate::view::cell_ages::AgeUpdate;
use crate::view::gpu::begin_pass;
use crate::view::layout::Tiling;
use crate::view::offscreen::{read, target};
use crate::view::panels::{LINES, MIN_PIXELS_FOR_LINES, Panels, PanelsInput, outside};
use crate::view::picture_file::Image;
use engine::ReduceRegion;
use life::{Lattice, Size, soup};
use session::{PictureSource, TransferChoice};
use ui::fixtures::{FixturePictures, aged};
use ui::theme::{CELL_LINES, reduced, theme, tint};
use ui::{Camera, ColourBy, ViewOptions, ViewTransform, request};

/// # Panics
/// With the remedy, where there is no lavapipe: without it nothing of this would be tested.
pub(crate) fn lavapipe() -> Gpu {
    let (gpu, _) = Gpu::open(Some("llvmpipe"), None).unwrap_or_else(|error| {
        panic!("{error}; these tests need lavapipe: apt-get install libvulkan1 mesa-vulkan-drivers")
    });
    assert_eq!(
        gpu.facts.backend, "Vulkan",
        "the tests of drawing are for Vulkan"
    );
    gpu
}

/// Where a lattice is seen: what a panel of so many pixels shows, and what of it goes around the torus.
#[derive(Clone, Copy)]
struct Seen<'a> {
    lattice: &'a Lattice,
    transform: ViewTransform,
    panel: [u32; 2],
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
        let (columns, rows) = (along(0, size.width), along(1, size.height));
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
    fn colour(&self, pixel: [u32; 2], instance: usize, options: &ViewOptions) -> [f64; 3] {
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
            let side = f64::from([size.width, size.height][axis]);
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
fn colour(density: Option<f64>, scale: f64, instance: usize, options: &ViewOptions) -> [f64; 3] {
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
struct ReferenceAges {
    bytes: Vec<u8>,
    width: u32,
}

impl ReferenceAges {
    /// Of a first picture.
    fn of(lattice: &Lattice) -> ReferenceAges {
        let cells = lattice.size().cells() as usize;
        let mut ages = ReferenceAges {
            bytes: vec![0; cells],
            width: lattice.size().width,
        };
        ages.turn(lattice, AgeUpdate::Reset);
        ages
    }

    /// Goes on to another picture.
    fn turn(&mut self, lattice: &Lattice, turn: AgeUpdate) {
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
    fn at(&self, [x, y]: [u32; 2]) -> Result<u8, Option<u8>> {
        match self.bytes[(y * self.width + x) as usize] {
            0 => Err(None),
            byte if byte < 128 => Err(Some(127 - byte)),
            byte => Ok(byte - 128),
        }
    }

    /// The colour of a pixel.
    fn colour(
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

const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;

static GPU: LazyLock<Gpu> = LazyLock::new(lavapipe);

/// Panels of so many pixels, so many in a row, and what they show.
type Place = ([u32; 2], usize, ViewTransform);

fn size(width: u64, height: u64) -> Size {
    Size::new(width, height).unwrap()
}

fn tiling(count: usize, (panel, columns, _): Place) -> Tiling {
    Tiling {
        count,
        columns,
        panel,
        origin: [1, 2],
        gap: 3,
        second: None,
    }
}

fn input<'a>(
    (count, size): (usize, Size),
    place: Place,
    pixels: [u32; 2],
    options: &'a ViewOptions,
) -> PanelsInput<'a> {
    PanelsInput {
        pixels,
        tiling: tiling(count, place),
        grid: (count, size),
        transform: place.2,
        only: None,
        number_of: &|instance| instance,
        options,
        minimap: None,
        docked: Vec::new(),
    }
}

/// What else there may be of a picture.
#[derive(Default)]
struct Else {
    only: Option<usize>,
    /// Fewer layers of a texture than the GPU has.
    max_layers: Option<u32>,
    /// Smaller textures than the GPU has.
    max_side: Option<u32>,
}

/// Draws panels after these rounds and reads them back.
fn draw(
    grid: (usize, Size),
    place: Place,
    other: Else,
    options: &ViewOptions,
    rounds: &[&dyn PictureSource],
) -> Image {
    let gpu = &*GPU;
    let mut limits = gpu.device.limits();
    if let Some(layers) = other.max_layers {
        limits.max_texture_array_layers = layers;
    }
    if let Some(side) = other.max_side {
        limits.max_texture_dimension_2d = side;
    }
    let mut panels = Panels::new(&gpu.device, &gpu.queue, FORMAT, limits);
    for pictures in rounds {
        panels.update(grid.0, grid.1, *pictures, other.only, options.colour_by);
    }
    let (panel, columns, _) = place;
    let lines = grid.0.div_ceil(columns) as u32;
    let pixels = [(panel[0] + 3) * columns as u32, (panel[1] + 3) * lines];
    panels.prepare(&PanelsInput {
        only: other.only,
        ..input(grid, place, pixels, options)
    });
    let texture = target(&gpu.device, pixels, FORMAT);
    let view = texture.create_view(&Default::default());
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    panels.draw(&mut begin_pass(&mut encoder, &view, outside(options)));
    gpu.queue.submit([encoder.finish()]);
    let image = read(gpu, &texture).unwrap();
    gpu.trouble().unwrap();
    image
}

/// Every pixel of every panel is within `by` of what is wanted of it.
#[track_caller]
fn assert_pixels(
    image: &Image,
    count: usize,
    place: Place,
    by: f64,
    want: impl Fn(usize, [u32; 2]) -> [f64; 3],
) {
    let tiling = tiling(count, place);
    for instance in 0..count {
        let rect = tiling.rect(instance);
        for (x, y) in (0..rect.width).flat_map(|x| (0..rect.height).map(move |y| (x, y))) {
            let want = want(instance, [x, y]);
            let have = image.pixel(rect.x + x, rect.y + y).map(f64::from);
            assert!(
                (0..3).all(|c| (want[c] - have[c]).abs() <= by),
                "panel {instance}, pixel ({x}, {y}): {have:?}, not {want:?}\n{place:?}"
            );
        }
    }
}

/// The same of lattices that are seen whole or in part.
#[track_caller]
fn assert_cells(image: &Image, lattices: &[Lattice], place: Place, options: &ViewOptions, by: f64) {
    let (panel, _, transform) = place;
    assert_pixels(image, lattices.len(), place, by, |instance, pixel| {
        let lattice = &lattices[instance];
        Seen {
            lattice,
            transform,
            panel,
        }
        .colour(pixel, instance, options)
    });
}

/// Another number of lattices is drawn once each has a picture, the ones of before until then.
#[test]
fn the_pictures_of_before_stay_until_all_of_the_new_ones_have_come() {
    let gpu = &*GPU;
    let limits = gpu.device.limits();
    let mut panels = Panels::new(&gpu.device, &gpu.queue, FORMAT, limits);
    // How many lattices of which side are wanted, how many come, how many are drawn, how many are missing.
    for (count, side, come, drawn, missing) in [
        (2, 64, 2, 2, 0),
        (4, 64, 1, 2, 3),
        (4, 64, 4, 4, 0),
        (1, 64, 0, 1, 1),
        (1, 96, 0, 1, 1),
        (1, 96, 1, 1, 0),
    ] {
        let size = size(side, side);
        let soups: Vec<Lattice> = (0..come).map(|seed| soup(size, 0.5, seed, 0)).collect();
        panels.update(count, size, &FixturePictures::bits(&soups), None, Age);
        let place = (
            [64, 64],
            count,
            Camera::default().target_transform(size, [64, 64]),
        );
        panels.prepare(&input(
            (count, size),
            place,
            [400, 100],
            &ViewOptions::default(),
        ));
        assert_eq!(
            (panels.drawn(), panels.missing(None)),
            (drawn, missing),
            "{count} of {side}"
        );
    }
}

#[test]
fn panels_show_cells_or_their_density_and_lines_between_large_ones_wherever_one_looks() {
    let mut camera = Camera::default();
    let mut zoomed = |factor, pixel| {
        camera.zoom_at(factor, pixel, size(700, 500), [140, 100]);
        (
            (700, 500),
            [140, 100],
            Some(camera.target_transform(size(700, 500), [140, 100])),
            1.0,
        )
    };
    // Beyond an edge lies the other side.
    let across = |scale, x, y| {
        let origin = [x, y];
        (
            (70, 50),
            [200, 160],
            Some(ViewTransform { origin, scale }),
            0.51,
        )
    };
    let large = ViewTransform {
        origin: [95.5, 88.0],
        scale: 64.0,
    };
    for ((width, height), panel, transform, by) in [
        ((33, 20), [33 * 8, 20 * 8], None, 0.51),
        ((8, 8), [40, 40], None, 0.51),
        ((33, 65), [7, 13], None, 1.0),
        ((512, 512), [100, 100], None, 1.0),
        ((1000, 333), [121, 40], None, 1.0),
        ((31, 3), [31, 3], None, 0.51),
        ((97, 40), [150, 62], None, 1.0),
        ((4097, 64), [64, 4], None, 1.0),
        zoomed(3.7, [13.0, 80.0]),
        zoomed(4.1, [139.0, 2.0]),
        zoomed(30.0, [50.0, 50.0]),
        across(8.0, 60.0, 20.0),
        across(8.0, 55.0, 45.0),
        across(5.0, 69.0, 0.0),
        across(7.0, 0.0, 49.0),
        // As large as cells get, crisp to the pixel.
        ((100, 90), [64 * 13 + 20, 200], Some(large), 0.51),
    ] {
        let size = size(width, height);
        let lattices = [soup(size, 0.2, 3, 0)];
        let transform =
            transform.unwrap_or_else(|| Camera::default().target_transform(size, panel));
        let place = (panel, 1, transform);
        for theme in [0, 1, 2, 4] {
            let options = ViewOptions {
                theme,
                grid_lines: theme != 4,
                ..Default::default()
            };
            let pictures = FixturePictures::bits(&lattices);
            let image = draw((1, size), place, Else::default(), &options, &[&pictures]);
            assert_cells(&image, &lattices, place, &options, by);
        }
    }
}

/// What the session is asked for where this is seen.
fn region(grid: (Size, usize), place: Place, side: u32) -> ReduceRegion {
    let (panel, _, transform) = place;
    let choice = TransferChoice::View;
    request(grid, (transform, panel), None, (choice, 0), side).region
}

#[test]
fn a_reduced_view_is_drawn_as_the_bits_are_or_a_texel_a_pixel() {
    let (size, panel) = (size(600, 400), [122, 81]);
    let lattices: Vec<_> = (0..5).map(|seed| soup(size, 0.2, seed, 0)).collect();
    let options = ViewOptions::default();
    // At a place of its own, and across both edges: the other side lies beyond.
    for (zoom, moves) in [
        (1.6, None),
        (1.6, Some(0.5)),
        (64.0, None),
        (64.0, Some(0.5)),
    ] {
        let mut camera = Camera::default();
        camera.zoom_at(zoom, [30.0, 60.0], size, panel);
        let mut transform = camera.target_transform(size, panel);
        if let Some(part) = moves {
            let seen = panel.map(|side| part * f64::from(side) / transform.scale);
            transform.origin = [600.0 - seen[0].round(), 400.0 - seen[1].round()];
            assert_eq!(transform.pieces(size, panel).len(), 4, "{transform:?}");
        }
        let place = (panel, 3, transform);
        let region = region((size, 5), place, 8192);
        let pictures = FixturePictures::views(&lattices, region);
        let other = Else {
            max_layers: Some(2),
            ..Else::default()
        };
        let image = draw((5, size), place, other, &options, &[&pictures]);
        if transform.scale >= 1.0 {
            assert_cells(&image, &lattices, place, &options, 1.0);
            continue;
        }
        let views: Vec<_> = lattices
            .iter()
            .map(|of| ui::fixtures::reduce(of, region))
            .collect();
        assert_pixels(&image, 5, place, 2.5, |instance, [x, y]| {
            let bytes: &[u8] = bytemuck::cast_slice(&views[instance]);
            let share = f64::from(bytes[(y * region.width + x) as usize]) / 255.0;
            colour(Some(share), transform.scale, instance, &options)
        });
    }
    // It stays on its cells while the camera moves on, and beyond an edge.
    let size = self::size(64, 64);
    let panel = [64, 64];
    let whole = (panel, 1, Camera::default().target_transform(size, panel));
    let lattices = [soup(size, 0.1, 7, 0)];
    let pictures = FixturePictures::views(&lattices, region((size, 1), whole, 8192));
    for pixels in [[0.0, 0.0], [40.0, -30.0]] {
        let mut camera = Camera::default();
        camera.zoom_at(2.0, [0.0, 64.0], size, panel);
        camera.pan(pixels, size, panel);
        let place = (panel, 1, camera.target_transform(size, panel));
        let image = draw((1, size), place, Else::default(), &options, &[&pictures]);
        assert_cells(&image, &lattices, place, &options, 1.0);
    }
}

#[test]
fn one_alone_is_drawn_and_a_new_size_replaces_the_old() {
    let (size, panel) = (size(64, 64), [64, 64]);
    let lattices: Vec<_> = (0..3).map(|seed| soup(size, 0.5, seed, 0)).collect();
    let options = ViewOptions::default();
    let view = |width, step| {
        let region = ReduceRegion {
            step: step * ReduceRegion::ONE,
            ..ReduceRegion::of_cells(width, width)
        };
        FixturePictures::views(&lattices, region)
    };
    let rounds = [view(32, 2), view(128, 1), view(64, 1)];
    let rounds = rounds.each_ref().map(|it| it as &dyn PictureSource);
    let place = (panel, 1, Camera::default().target_transform(size, panel));
    for only in [None, Some(2)] {
        let other = Else {
            only,
            ..Else::default()
        };
        let image = draw((3, size), place, other, &options, &rounds);
        let shown = only.map_or(&lattices[..], |it| &lattices[it..]);
        assert_cells(&image, shown, place, &options, 0.51);
    }
}

#[test]
fn ages_and_trails_are_as_modelled_in_every_theme_and_at_every_scale() {
    let size = size(45, 33);
    let mut now: Vec<_> = (0..5).map(|seed| soup(size, 0.3, seed, 0)).collect();
    now[4] = Lattice::new(size); // with a block, which grows as old as can be told
    for [x, y] in [[3, 3], [4, 3], [3, 4], [4, 4]] {
        now[4].set(x, y, true);
    }
    let mut ages: Vec<_> = now.iter().map(ReferenceAges::of).collect();
    let mut rounds = vec![FixturePictures::bits(&now)];
    // Each advances by as many generations at once as its number says.
    for generation in 1..=140 {
        let due: Vec<usize> = (0..5).filter(|at| generation % (at + 1) == 0).collect();
        for &at in &due {
            now[at] = aged(now[at].clone(), at + 1);
            ages[at].turn(&now[at], AgeUpdate::Advance(at as u8 + 1));
        }
        let pictures = due.into_iter().map(|at| (at, &now[at]));
        rounds.push(FixturePictures::of(pictures, generation as u64));
    }
    // An edit leaves no trail, pictures may lie far apart, and one is set back.
    let mut edited = now[1].clone();
    (0..45).for_each(|x| edited.set(x, 7, x % 3 == 0));
    for (at, generation, lattice, update) in [
        (1, 140, edited, AgeUpdate::Advance(0)),
        (2, 177, aged(now[2].clone(), 37), AgeUpdate::Advance(39)),
        (0, 440, aged(now[0].clone(), 300), AgeUpdate::Advance(127)),
        (3, 0, soup(size, 0.3, 99, 0), AgeUpdate::Reset),
    ] {
        ages[at].turn(&lattice, update);
        now[at] = lattice;
        rounds.push(FixturePictures::of(
            [(at, &now[at])].into_iter(),
            generation,
        ));
    }
    assert_eq!(ages[4].at([3, 3]), Ok(127));
    let mut cells = (0..45).flat_map(|x| (0..33).map(move |y| [x, y]));
    assert!(
        cells.any(|cell| ages[0].at(cell) == Err(None)),
        "trails end"
    );
    let sources: Vec<_> = rounds.iter().map(|it| it as &dyn PictureSource).collect();
    let cases = [
        (Age, 0, 8.0),
        (History, 0, 1.0),
        (Age, 1, 1.0),
        (History, 2, 0.4),
        (Age, 2, 3.7),
        (History, 4, 0.4),
        (History, 3, 5.0),
        (Age, 3, 0.3),
        (History, 0, 0.6),
    ];
    for (colour_by, theme, scale) in cases {
        let options = ViewOptions {
            colour_by,
            theme,
            ..Default::default()
        };
        let panel = [(45.0 * scale) as u32, (33.0 * scale) as u32];
        let mut transform = Camera::default().target_transform(size, panel);
        if scale == 8.0 {
            transform = ViewTransform {
                origin: [40.0, 30.0],
                scale: 9.0,
            }; // across both edges
        }
        let place = (panel, 3, transform);
        // Arrays of two lattices, and layers of ages with three.
        let other = Else {
            max_layers: Some(2),
            max_side: Some(100),
            ..Else::default()
        };
        let image = draw((5, size), place, other, &options, &sources);
        assert_pixels(&image, 5, place, 1.1, |instance, pixel| {
            let seen = Seen {
                lattice: &now[instance],
                transform,
                panel,
            };
            ages[instance].colour(seen, pixel, instance, &options)
        });
    }
}
