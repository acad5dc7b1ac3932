//! The shaders against the CPU reference (`reference.rs`), pixel by pixel, on lavapipe (Mesa's Vulkan in
//! software), which draws the same everywhere.

use crate::view::Gpu;
use crate::view::cell_ages::AgeUpdate;
use crate::view::layout::{PixelRect, Tiling};
use crate::view::offscreen::{read, target};
use crate::view::panels::{Minimap, Panels, PanelsInput, outside};
use crate::view::picture_cache::texture_limits;
use crate::view::picture_file::Image;
use crate::view::reference::{ReferenceAges, assert_as_modelled, colour, density};
use engine::ReduceRegion;
use life::{Lattice, Size};
use session::{PictureSource, TransferChoice};
use ui::fixtures::{FixturePictures, aged, moved, soup};
use ui::{Camera, ColourBy, TextureLimits, ViewOptions, ViewTransform, request};

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

/// So many panels of so many pixels.
fn tiling(count: usize, columns: usize, panel: [u32; 2]) -> Tiling {
    Tiling {
        count,
        columns,
        panel,
        origin: [1, 2],
        gap: 3,
        second: None,
    }
}

/// Draws panels of `panel` pixels in one row and reads them back.
fn draw(
    limits: impl Fn(TextureLimits) -> TextureLimits,
    size: Size,
    place: Place,
    only: Option<usize>,
    options: &ViewOptions,
    rounds: &[&FixturePictures],
) -> Image {
    let sources: Vec<_> = rounds
        .iter()
        .map(|&round| round as &dyn PictureSource)
        .collect();
    let of = (rounds[0].0.len(), size);
    draw_all(limits, of, place, (only, None), options, &sources)
}

/// The same with a minimap and any pictures.
fn draw_all(
    limits: impl Fn(TextureLimits) -> TextureLimits,
    (count, size): (usize, Size),
    (panel, columns, transform): Place,
    (only, minimap): (Option<usize>, Option<Minimap>),
    options: &ViewOptions,
    rounds: &[&dyn PictureSource],
) -> Image {
    let gpu = lavapipe();
    let limits = limits(texture_limits(&gpu.device.limits()));
    let mut panels = Panels::new(&gpu.device, &gpu.queue, FORMAT, limits);
    for pictures in rounds {
        panels.update(count, size, *pictures, only, options.colour_by);
    }
    let lines = count.div_ceil(columns) as u32;
    let pixels = [(panel[0] + 3) * columns as u32, (panel[1] + 3) * lines];
    panels.prepare(&PanelsInput {
        pixels,
        tiling: tiling(count, columns, panel),
        grid: (count, size),
        transform,
        only,
        number_of: &|instance| instance,
        options,
        minimap,
        backgrounds: &[],
    });
    let texture = target(&gpu.device, pixels, FORMAT);
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    {
        let view = texture.create_view(&Default::default());
        panels.draw(&mut crate::view::scene::begin_pass(
            &mut encoder,
            &view,
            outside(options),
        ));
    }
    gpu.queue.submit([encoder.finish()]);
    let image = read(&gpu, &texture).unwrap();
    gpu.trouble().unwrap();
    image
}

fn size(width: u64, height: u64) -> Size {
    Size::new(width, height).unwrap()
}

/// Another number of lattices is drawn once each has a picture, the ones of before until then.
#[test]
fn the_pictures_of_before_stay_until_all_of_the_new_ones_have_come() {
    let gpu = lavapipe();
    let limits = texture_limits(&gpu.device.limits());
    let mut panels = Panels::new(&gpu.device, &gpu.queue, FORMAT, limits);
    let (small, large) = (size(64, 64), size(96, 96));
    let soups = |count: u64, size: Size| -> Vec<Lattice> {
        (0..count).map(|seed| soup(size, 0.5, seed)).collect()
    };
    let mut update = |size: Size, count: usize, source: &dyn PictureSource| {
        panels.update(count, size, source, None, ColourBy::Age);
        panels.prepare(&PanelsInput {
            pixels: [400, 100],
            tiling: tiling(count, count, [64, 64]),
            grid: (count, size),
            transform: Camera::default().shown(size, [64, 64]),
            only: None,
            number_of: &|instance| instance,
            options: &ViewOptions::default(),
            minimap: None,
            backgrounds: &[],
        });
        (panels.drawn(), panels.missing(None))
    };
    let two = FixturePictures::bits(&soups(2, small));
    assert_eq!(update(small, 2, &two), (2, 0));
    let first = FixturePictures::bits(&soups(1, small));
    assert_eq!(update(small, 4, &first), (2, 3), "more");
    let four = FixturePictures::bits(&soups(4, small));
    assert_eq!(update(small, 4, &four), (4, 0));
    let none = FixturePictures::bits(&[]);
    assert_eq!(update(small, 1, &none), (1, 1), "fewer");
    assert_eq!(update(large, 1, &none), (1, 1), "larger");
    let one = FixturePictures::bits(&soups(1, large));
    assert_eq!(update(large, 1, &one), (1, 0));
}

fn all(limits: TextureLimits) -> TextureLimits {
    limits
}

/// Where panels stand, how many are in a row, and what they show.
type Place = ([u32; 2], usize, ViewTransform);

/// Draws the bits of lattices of one size.
fn drawn(lattices: &[Lattice], place: Place, options: &ViewOptions) -> Image {
    let pictures = FixturePictures::bits(lattices);
    draw(all, lattices[0].size(), place, None, options, &[&pictures])
}

/// Draws the bits of lattices and holds every pixel against the reference, `by` apart at most.
fn assert_drawn(lattices: &[Lattice], place: Place, options: &ViewOptions, by: f64) {
    let image = drawn(lattices, place, options);
    assert_as_modelled(&image, lattices, place, options, by);
}

#[test]
fn panels_show_cells_or_their_density_and_lines_between_large_ones_for_any_width() {
    for (width, height, panel, by) in [
        (33, 20, [33 * 8, 20 * 8], 0.51),
        (8, 8, [40, 40], 0.51),
        (8, 8, [48, 48], 0.51),
        (33, 65, [7, 13], 1.0),
        (512, 512, [100, 100], 1.0),
        (1000, 333, [121, 40], 1.0),
        (31, 3, [31, 3], 0.51),
        (97, 40, [150, 62], 1.0),
        (4097, 64, [64, 4], 1.0),
    ] {
        let size = size(width, height);
        let lattices = [soup(size, 0.1, 3)];
        let place = (panel, 1, Camera::default().target_transform(size, panel));
        for (theme, invert) in [(0, false), (1, true), (2, false)] {
            let options = ViewOptions {
                theme,
                invert,
                grid_lines: true,
                ..Default::default()
            };
            assert_drawn(&lattices, place, &options, by);
        }
    }
}

#[test]
fn a_moved_and_zoomed_camera_shows_the_right_cells() {
    let (size, panel) = (size(700, 500), [140, 100]);
    let lattices = [soup(size, 0.3, 5)];
    let mut camera = Camera::default();
    for (factor, pixel) in [
        (3.7, [13.0, 80.0]),
        (4.1, [139.0, 2.0]),
        (30.0, [50.0, 50.0]),
    ] {
        camera.zoom_at(factor, pixel, size, panel);
        let place = (panel, 1, camera.target_transform(size, panel));
        let options = ViewOptions {
            theme: 4,
            ..Default::default()
        };
        assert_drawn(&lattices, place, &options, 1.0);
    }
}

/// The lattice with this cell at its top left.
fn rolled(lattice: &Lattice, [left, top]: [u32; 2]) -> Lattice {
    let size = lattice.size();
    let mut rolled = Lattice::new(size);
    for (x, y) in (0..size.height()).flat_map(|y| (0..size.width()).map(move |x| (x, y))) {
        let [from_x, from_y] = [(x + left) % size.width(), (y + top) % size.height()];
        rolled.set(x, y, lattice.get(from_x, from_y));
    }
    rolled
}

#[test]
fn beyond_an_edge_a_panel_shows_the_other_side() {
    let (size, panel) = (size(70, 50), [200, 160]);
    let lattice = soup(size, 0.4, 8);
    for (scale, corner, colour_by) in [
        (8.0, [60, 20], ColourBy::State),
        (8.0, [55, 45], ColourBy::State),
        (5.0, [69, 0], ColourBy::Age),
        (7.0, [0, 49], ColourBy::State),
    ] {
        let options = ViewOptions {
            colour_by,
            grid_lines: corner[0] % 10 == 0 && corner[1] % 10 == 0,
            ..Default::default()
        };
        let from = |lattice: &Lattice, origin: [u32; 2]| {
            let origin = origin.map(f64::from);
            let place = (panel, 1, ViewTransform { origin, scale });
            drawn(std::slice::from_ref(lattice), place, &options)
        };
        // The same cells without an edge among them.
        let whole = from(&rolled(&lattice, corner), [0, 0]);
        assert!(from(&lattice, corner).rgba == whole.rgba, "{corner:?}");
    }
}

#[test]
fn a_reduced_view_is_drawn_as_the_bits_are() {
    let (size, panel) = (size(600, 400), [122, 81]);
    let lattices: Vec<_> = (0..5).map(|seed| soup(size, 0.2, seed)).collect();
    let limits = TextureLimits {
        side: 8192,
        layers: 256,
    };
    let mut camera = Camera::default();
    for zoom in [1.0, 1.6, 40.0] {
        camera.zoom_at(zoom, [30.0, 60.0], size, panel);
        let transform = camera.target_transform(size, panel);
        let view = TransferChoice::View;
        let request = request((size, 5), (transform, panel), None, (view, 0), limits);
        let pictures = FixturePictures::views(&lattices, request.region);
        let options = ViewOptions::default();
        let place = (panel, 3, transform);
        let image = draw(
            |l| TextureLimits { layers: 2, ..l },
            size,
            place,
            None,
            &options,
            &[&pictures],
        );
        // A view counts whole cells where the bits weigh them: between them lies a fraction of
        // a cell at each border of a pixel, so they agree closely only where cells are large.
        let bits = drawn(&lattices, place, &options);
        let differ: f64 = image
            .rgba
            .iter()
            .zip(&bits.rgba)
            .map(|(&a, &b)| f64::from(a.abs_diff(b)))
            .sum();
        let mean = differ / image.rgba.len() as f64;
        assert!(
            mean < if transform.scale >= 1.0 { 0.05 } else { 16.0 },
            "zoom {zoom}: {mean} apart"
        );
        if transform.scale < 1.0 {
            assert_view_in_place(&image, &lattices[0], request.region, transform, &options);
        }
    }
}

#[test]
fn a_view_across_both_edges_is_drawn_as_one_that_crosses_none() {
    let (size, panel) = (size(600, 400), [122, 81]);
    let lattices: Vec<_> = (0..3).map(|seed| soup(size, 0.2, seed)).collect();
    let options = ViewOptions::default();
    // Less than a pixel per cell, more, many, and fewer texels than pixels.
    for (zoom, side) in [(2.0, 8192), (8.0, 8192), (60.0, 8192), (2.0, 48)] {
        let limits = TextureLimits { side, layers: 256 };
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
            let choice = TransferChoice::View;
            let requested = request((size, 3), (transform, panel), None, (choice, 0), limits);
            FixturePictures::views(lattices, requested.region)
        };
        let views = [view(plain, &lattices), view(beyond(plain), &across)];
        // As it was asked for; and where the camera has moved on, with no other view yet.
        for (pixels, pieces) in [([0.0, 0.0], 4), ([33.0, -20.0], 4), ([-90.0, 70.0], 1)] {
            camera.centre_on([300.0, 200.0], size, panel);
            camera.pan(pixels, size, panel);
            let transform = camera.target_transform(size, panel);
            let found = beyond(transform).pieces(size, panel).len();
            assert_eq!(found, pieces, "{transform:?}");
            let of =
                |transform, view| draw(all, size, (panel, 2, transform), None, &options, &[view]);
            let images = [of(transform, &views[0]), of(beyond(transform), &views[1])];
            let far = |[a, b]: [&u8; 2]| a.abs_diff(*b);
            let pairs = images[0].rgba.iter().zip(&images[1].rgba);
            let most = pairs.map(|(a, b)| far([a, b])).max();
            assert!(most <= Some(1), "zoom {zoom}, {pixels:?}: {most:?} apart");
            let lit = images[1].rgba.iter().any(|&part| part > 128);
            assert!(lit, "zoom {zoom}, {pixels:?}: something is seen");
        }
    }
}

/// With the camera as it was when the view was asked for, each texel is a pixel.
fn assert_view_in_place(
    image: &Image,
    lattice: &Lattice,
    region: ReduceRegion,
    transform: ViewTransform,
    options: &ViewOptions,
) {
    let words = ui::fixtures::reduce(lattice, region);
    let bytes: &[u8] = bytemuck::cast_slice(&words);
    for (x, y) in [(0, 0), (1, 0), (60, 40), (121, 80), (17, 66)] {
        let byte = bytes[(y * region.width + x) as usize];
        let want = colour(Some(f64::from(byte) / 255.0), transform.scale, 0, options);
        let have = image.pixel(1 + x, 2 + y).map(f64::from);
        assert!(
            (0..3).all(|c| (want[c] - have[c]).abs() < 2.5),
            "({x}, {y}): {have:?} {want:?}"
        );
    }
}

#[test]
fn a_view_stays_on_its_cells_while_the_camera_moves_on() {
    let (size, panel) = (size(64, 64), [64, 64]);
    let mut lattice = Lattice::new(size);
    for x in 20..30 {
        for y in 40..50 {
            lattice.set(x, y, true);
        }
    }
    let old = Camera::default().target_transform(size, panel);
    let limits = TextureLimits {
        side: 8192,
        layers: 256,
    };
    let requested = request(
        (size, 1),
        (old, panel),
        None,
        (TransferChoice::View, 0),
        limits,
    );
    let mut camera = Camera::default();
    camera.zoom_at(2.0, [0.0, 64.0], size, panel);
    let transform = camera.target_transform(size, panel);
    let options = ViewOptions::default();
    let lattices = [lattice];
    let pictures = FixturePictures::views(&lattices, requested.region);
    let place = (panel, 1, transform);
    let image = draw(all, size, place, None, &options, &[&pictures]);
    assert_as_modelled(&image, &lattices, place, &options, 1.0);
}

#[test]
fn one_alone_is_drawn_and_a_new_size_replaces_the_old() {
    let (size, panel) = (size(64, 64), [64, 64]);
    let lattices: Vec<_> = (0..3).map(|seed| soup(size, 0.5, seed)).collect();
    let transform = Camera::default().target_transform(size, panel);
    let view = |width, step| ReduceRegion {
        step: step * ReduceRegion::ONE,
        ..ReduceRegion::of_cells(width, width)
    };
    let (minimaps, large) = (view(32, 2), view(64, 1));
    let (wide, options) = (view(128, 1), ViewOptions::default());
    let rounds = [
        &FixturePictures::views(&lattices, minimaps),
        &FixturePictures::views(&lattices, wide),
        &FixturePictures::views(&lattices, large),
    ];
    let image = draw(all, size, (panel, 1, transform), None, &options, &rounds);
    assert_as_modelled(&image, &lattices, (panel, 1, transform), &options, 0.51);
    let image = draw(all, size, (panel, 1, transform), Some(2), &options, &rounds);
    let mut alone = lattices.clone();
    alone[0] = lattices[2].clone();
    assert_as_modelled(&image, &alone[..1], (panel, 1, transform), &options, 0.51);
}

#[test]
fn cells_of_64_pixels_are_crisp_to_the_pixel_with_their_lines() {
    let size = size(100, 90);
    let lattices = [soup(size, 0.4, 8)];
    let panel = [64 * 13 + 20, 200];
    let mut camera = Camera::default();
    camera.zoom_at(1000.0, [420.0, 30.0], size, panel);
    let transform = camera.target_transform(size, panel);
    assert_eq!(transform.scale, 64.0);
    for (theme, invert, grid_lines) in [(0, false, true), (4, false, true), (1, true, false)] {
        let options = ViewOptions {
            theme,
            invert,
            grid_lines,
            ..Default::default()
        };
        assert_drawn(&lattices, (panel, 1, transform), &options, 0.51);
    }
}

/// Pictures of some of the instances, of a generation.
struct Pieces<'a>(u64, Vec<(usize, &'a Lattice)>);

impl PictureSource for Pieces<'_> {
    fn visit_newer(
        &self,
        seen: &mut [u64],
        draw: &mut dyn FnMut(usize, &session::Picture, &[u32]),
    ) {
        for &(instance, lattice) in &self.1 {
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
    // Histories: all instances, some of them, an edit, one set back.
    let mut history: Vec<(u64, Vec<(usize, Lattice)>)> = Vec::new();
    let everything = |now: &[Lattice]| now.iter().cloned().enumerate().collect::<Vec<_>>();
    history.push((0, everything(&now)));
    for generation in 1..=140 {
        let some = generation % 7 == 3;
        for (instance, lattice) in now.iter_mut().enumerate() {
            if !some || instance % 2 == 0 {
                *lattice = aged(lattice.clone(), 1);
                ages[instance].turn(
                    lattice,
                    AgeUpdate::Advance(1 + u8::from(generation % 7 == 4 && instance % 2 == 1)),
                );
            }
        }
        let mut pictures = everything(&now);
        pictures.retain(|(instance, _)| !some || instance % 2 == 0);
        history.push((generation, pictures));
    }
    let erased: Vec<u32> = (0..45)
        .filter(|x| x % 3 != 0 && now[1].get(*x, 7))
        .collect();
    for x in 0..45 {
        now[1].set(x, 7, x % 3 == 0);
    }
    ages[1].turn(&now[1], AgeUpdate::Advance(0));
    assert!(!erased.is_empty(), "an edit erases something");
    for x in erased {
        assert_eq!(
            ages[1].at([x, 7]),
            Err(None),
            "what is erased leaves no trail"
        );
    }
    history.push((140, vec![(1, now[1].clone())]));
    // Pictures that lie far apart: ages and trails go on by the generations between them.
    for (instance, by) in [(2, 37), (0, 300)] {
        now[instance] = aged(now[instance].clone(), by as usize);
        let step = AgeUpdate::Advance(by.min(127) as u8);
        ages[instance].turn(&now[instance], step);
        history.push((140 + by, vec![(instance, now[instance].clone())]));
    }
    now[3] = soup(size, 0.3, 99);
    ages[3].turn(&now[3], AgeUpdate::Reset);
    history.push((0, vec![(3, now[3].clone())]));
    assert_eq!(ages[4].at([3, 3]), Ok(127));
    let cells = (0..45).flat_map(|x| (0..33).map(move |y| [x, y]));
    let gone = cells.filter(|&cell| ages[0].at(cell) == Err(None)).count();
    assert!(gone > 0, "trails end");
    let sources: Vec<_> = history
        .iter()
        .map(|(generation, pictures)| {
            let pictures = pictures.iter().map(|(instance, l)| (*instance, l));
            Pieces(*generation, pictures.collect())
        })
        .collect();
    let sources: Vec<_> = sources.iter().map(|s| s as &dyn PictureSource).collect();
    let cases = [
        (ColourBy::Age, 0, false, 8.0),
        (ColourBy::History, 0, false, 1.0),
        (ColourBy::Age, 1, true, 1.0),
        (ColourBy::History, 2, false, 0.4),
        (ColourBy::Age, 2, false, 3.7),
        (ColourBy::History, 4, true, 0.4),
        (ColourBy::History, 3, false, 5.0),
        (ColourBy::Age, 3, false, 0.3),
        (ColourBy::History, 0, false, 0.6),
    ];
    for (colour_by, theme, invert, scale) in cases {
        let options = ViewOptions {
            colour_by,
            theme,
            invert,
            ..Default::default()
        };
        let panel = [(45.0 * scale) as u32, (33.0 * scale) as u32];
        let transform = Camera::default().target_transform(size, panel);
        // Pages of four lattices, and arrays of two.
        let limits = |_| TextureLimits {
            side: 100,
            layers: 2,
        };
        let image = draw_all(
            limits,
            (5, size),
            (panel, 3, transform),
            (None, None),
            &options,
            &sources,
        );
        for (instance, ages) in ages.iter().enumerate() {
            let corner = [
                1 + (panel[0] + 3) * (instance as u32 % 3),
                2 + (panel[1] + 3) * (instance as u32 / 3),
            ];
            for (x, y) in (0..panel[0]).flat_map(|x| (0..panel[1]).map(move |y| (x, y))) {
                let want = ages.colour(&now[instance], transform, [x, y], instance, &options);
                let have = image.pixel(corner[0] + x, corner[1] + y).map(f64::from);
                assert!(
                    (0..3).all(|c| (want[c] - have[c]).abs() < 1.1),
                    "{colour_by:?} {instance} ({x}, {y}): {have:?}, not {want:?}"
                );
            }
        }
    }
}

#[test]
fn a_zoomed_panel_has_its_cells_and_one_its_minimap() {
    let (size, panel) = (size(256, 256), [120, 120]);
    let lattices: Vec<_> = (0..5).map(|seed| soup(size, 0.3, seed)).collect();
    let mut camera = Camera::default();
    camera.zoom_at(7.0, [100.0, 20.0], size, panel);
    let shown = camera.target_transform(size, panel);
    let minimap = Minimap {
        instance: 3,
        rect: PixelRect {
            x: 10,
            y: 140,
            width: 40,
            height: 40,
        },
        transform: Camera::default().target_transform(size, [40, 40]),
    };
    let options = ViewOptions {
        theme: 2,
        ..Default::default()
    };
    let pictures = FixturePictures::bits(&lattices);
    let limits = |l| TextureLimits { layers: 2, ..l };
    let place = (panel, 3, shown);
    let image = draw_all(
        limits,
        (5, size),
        place,
        (None, Some(minimap)),
        &options,
        &[&pictures],
    );
    let mut seen = [0; 2];
    for (instance, lattice) in lattices.iter().enumerate() {
        let corner = [
            1 + 123 * (instance as u32 % 3),
            2 + 123 * (instance as u32 / 3),
        ];
        for (x, y) in (0..120).flat_map(|x| (0..120).map(move |y| (x, y))) {
            let at = [corner[0] + x, corner[1] + y];
            let inside = minimap.rect.contains(at.map(f64::from));
            let (transform, pixel) = if inside {
                (
                    minimap.transform,
                    [at[0] - minimap.rect.x, at[1] - minimap.rect.y],
                )
            } else {
                (shown, [x, y])
            };
            seen[usize::from(inside)] += 1;
            let want = colour(
                density(lattice, transform, pixel),
                transform.scale,
                instance,
                &options,
            );
            let have = image.pixel(at[0], at[1]).map(f64::from);
            assert!(
                (0..3).all(|c| (want[c] - have[c]).abs() < 1.1),
                "{instance} ({x}, {y}), {inside}: {have:?}, not {want:?}"
            );
        }
    }
    assert_eq!(seen, [5 * 120 * 120 - 1600, 1600]);
}

#[test]
fn every_shader_is_valid() {
    use wgpu::naga::{front::wgsl, valid};
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shaders");
    let shared = std::fs::read_to_string(format!("{directory}/quads.wgsl")).unwrap();
    let mut checked = 0;
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let mut source = std::fs::read_to_string(&path).unwrap();
        if !path.ends_with("quads.wgsl") {
            source.push_str(&shared);
        }
        let module = wgsl::parse_str(&source).unwrap_or_else(|error| {
            panic!(
                "{}",
                error.emit_to_string_with_path(&source, &path.to_string_lossy())
            )
        });
        valid::Validator::new(valid::ValidationFlags::all(), valid::Capabilities::empty())
            .validate(&module)
            .unwrap_or_else(|error| panic!("{}: {error:?}", path.display()));
        checked += 1;
    }
    assert!(checked > 0, "no shader in {directory}");
}
