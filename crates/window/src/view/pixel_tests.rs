//! The shaders against the CPU reference (`reference.rs`), pixel by pixel, on lavapipe (Mesa's Vulkan in
//! software), which draws the same everywhere.

use ColourBy::*;
use std::sync::LazyLock;

use crate::view::Gpu;
use crate::view::cell_ages::AgeUpdate;
use crate::view::gpu::begin_pass;
use crate::view::layout::Tiling;
use crate::view::offscreen::{read, target};
use crate::view::panels::{Panels, PanelsInput, outside};
use crate::view::picture_file::Image;
use crate::view::reference::{ReferenceAges, Seen, colour};
use engine::ReduceRegion;
use life::{Lattice, Size};
use session::{PictureSource, TransferChoice};
use ui::fixtures::{FixturePictures, aged, moved, soup};
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
        let soups: Vec<Lattice> = (0..come).map(|seed| soup(size, 0.5, seed)).collect();
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
        let lattices = [soup(size, 0.2, 3)];
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
    let lattices: Vec<_> = (0..5).map(|seed| soup(size, 0.2, seed)).collect();
    let options = ViewOptions::default();
    let mut camera = Camera::default();
    for zoom in [1.6, 40.0] {
        camera.zoom_at(zoom, [30.0, 60.0], size, panel);
        let transform = camera.target_transform(size, panel);
        let place = (panel, 3, transform);
        let region = region((size, 5), place, 8192);
        let pictures = FixturePictures::views(&lattices, region);
        let image = draw(
            (5, size),
            place,
            Else {
                max_layers: Some(2),
                ..Default::default()
            },
            &options,
            &[&pictures],
        );
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
    // It stays on its cells while the camera moves on.
    let size = self::size(64, 64);
    let whole = (
        [64, 64],
        1,
        Camera::default().target_transform(size, [64, 64]),
    );
    let lattices = [soup(size, 0.1, 7)];
    let pictures = FixturePictures::views(&lattices, region((size, 1), whole, 8192));
    let mut camera = Camera::default();
    camera.zoom_at(2.0, [0.0, 64.0], size, [64, 64]);
    let place = ([64, 64], 1, camera.target_transform(size, [64, 64]));
    let image = draw((1, size), place, Else::default(), &options, &[&pictures]);
    assert_cells(&image, &lattices, place, &options, 1.0);
}

#[test]
fn a_view_across_both_edges_is_drawn_as_one_that_crosses_none() {
    let (size, panel) = (size(600, 400), [122, 81]);
    let lattices: Vec<_> = (0..3).map(|seed| soup(size, 0.2, seed)).collect();
    let options = ViewOptions::default();
    // Less than a pixel per cell, more, many, and fewer texels than pixels.
    for (zoom, side) in [(2.0, 8192), (8.0, 8192), (60.0, 8192), (2.0, 48)] {
        let mut camera = Camera::default();
        camera.zoom(zoom, size, panel);
        let plain = camera.target_transform(size, panel);
        assert_eq!(plain.pieces(size, panel).len(), 1);
        // So far that the edges come to the panel's middle.
        let middle = plain.to_cells([61.0, 40.5]).map(|at| at as u32);
        let by = [600 - middle[0], 400 - middle[1]];
        let beyond = |transform: ViewTransform| ViewTransform {
            origin: [0, 1].map(|axis| {
                let side = [600.0, 400.0][axis];
                (transform.origin[axis] + f64::from(by[axis])).rem_euclid(side)
            }),
            ..transform
        };
        let across: Vec<_> = lattices.iter().map(|of| moved(of, by)).collect();
        let view = |transform: ViewTransform, lattices: &[Lattice]| {
            let region = region((size, 3), (panel, 2, transform), side);
            FixturePictures::views(lattices, region)
        };
        let views = [view(plain, &lattices), view(beyond(plain), &across)];
        // As it was asked for; and where the camera has moved on, with no other view yet.
        for (pixels, pieces) in [([0.0, 0.0], 4), ([33.0, -20.0], 4), ([-90.0, 70.0], 1)] {
            camera.centre_on([300.0, 200.0], size, panel);
            camera.pan(pixels, size, panel);
            let transform = camera.target_transform(size, panel);
            let found = beyond(transform).pieces(size, panel).len();
            assert_eq!(found, pieces, "{transform:?}");
            let of = |transform, view| {
                draw(
                    (3, size),
                    (panel, 2, transform),
                    Else::default(),
                    &options,
                    &[view],
                )
            };
            let images = [of(transform, &views[0]), of(beyond(transform), &views[1])];
            let pairs = images[0].rgba.iter().zip(&images[1].rgba);
            let most = pairs.map(|(a, b)| a.abs_diff(*b)).max();
            assert!(most <= Some(1), "zoom {zoom}, {pixels:?}: {most:?} apart");
            let lit = images[1].rgba.iter().any(|&part| part > 128);
            assert!(lit, "zoom {zoom}, {pixels:?}: something is seen");
        }
    }
}

#[test]
fn one_alone_is_drawn_and_a_new_size_replaces_the_old() {
    let (size, panel) = (size(64, 64), [64, 64]);
    let lattices: Vec<_> = (0..3).map(|seed| soup(size, 0.5, seed)).collect();
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

/// Pictures of some of the instances, of a generation.
struct Pieces(u64, Vec<(usize, Lattice)>);

impl PictureSource for Pieces {
    fn visit_newer(
        &self,
        seen: &mut [u64],
        draw: &mut dyn FnMut(usize, &session::Picture, &[u32]),
    ) {
        for (instance, lattice) in &self.1 {
            let instance = *instance;
            seen[instance] += 1;
            let picture = session::Picture {
                sequence: seen[instance],
                generation: self.0,
                region: None,
                slot: engine::Slot(0),
                words: lattice.words().len(),
                cells: false,
                edits: 0,
            };
            draw(instance, &picture, lattice.words());
        }
    }
}

#[test]
fn ages_and_trails_are_as_modelled_in_every_theme_and_at_every_scale() {
    let size = size(45, 33);
    let mut now: Vec<_> = (0..5).map(|seed| soup(size, 0.3, seed)).collect();
    now[4] = Lattice::new(size); // with a block, which grows as old as can be told
    for [x, y] in [[3, 3], [4, 3], [3, 4], [4, 4]] {
        now[4].set(x, y, true);
    }
    let mut ages: Vec<_> = now.iter().map(ReferenceAges::of).collect();
    let mut rounds = vec![Pieces(0, now.iter().cloned().enumerate().collect())];
    // Each advances by as many generations at once as its number says.
    for generation in 1..=140 {
        let due: Vec<usize> = (0..5).filter(|at| generation % (at + 1) == 0).collect();
        for &at in &due {
            now[at] = aged(now[at].clone(), at + 1);
            ages[at].turn(&now[at], AgeUpdate::Advance(at as u8 + 1));
        }
        let pictures = due.into_iter().map(|at| (at, now[at].clone()));
        rounds.push(Pieces(generation as u64, pictures.collect()));
    }
    // An edit leaves no trail, pictures may lie far apart, and one is set back.
    let mut edited = now[1].clone();
    (0..45).for_each(|x| edited.set(x, 7, x % 3 == 0));
    for (at, generation, lattice, update) in [
        (1, 140, edited, AgeUpdate::Advance(0)),
        (2, 177, aged(now[2].clone(), 37), AgeUpdate::Advance(39)),
        (0, 440, aged(now[0].clone(), 300), AgeUpdate::Advance(127)),
        (3, 0, soup(size, 0.3, 99), AgeUpdate::Reset),
    ] {
        ages[at].turn(&lattice, update);
        now[at] = lattice.clone();
        rounds.push(Pieces(generation, vec![(at, lattice)]));
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
