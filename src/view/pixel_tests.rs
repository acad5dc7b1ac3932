//! The shaders against a model on the CPU, pixel by pixel, on lavapipe (Mesa's Vulkan in
//! software), which draws the same everywhere.

use crate::engine::Viewport;
use crate::life::{Lattice, Size};
use crate::session::TransferChoice;
use crate::view::made_up::{MadeUp, soup};
use crate::view::model::{assert_as_modelled, colour};
use crate::view::offscreen::{read, target};
use crate::view::panels::{Panels, Placing};
use crate::view::picture_file::Image;
use crate::view::transfer::TextureLimits;
use crate::view::{Camera, Gpu, Look, PictureSource, ViewOptions, layout::Tiling, request};

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

/// Draws panels of `panel` pixels in one row and reads them back.
fn draw(
    limits: impl Fn(TextureLimits) -> TextureLimits,
    size: Size,
    (panel, columns, look): ([u32; 2], usize, Look),
    only: Option<usize>,
    options: &ViewOptions,
    rounds: &[&MadeUp],
) -> Image {
    let gpu = lavapipe();
    let limits = limits(TextureLimits::of(&gpu.device.limits()));
    let mut panels = Panels::new(&gpu.device, &gpu.queue, FORMAT, limits);
    let count = rounds[0].0.len();
    for pictures in rounds {
        panels.update((count, size), *pictures as &dyn PictureSource, only);
    }
    let lines = count.div_ceil(columns) as u32;
    let pixels = [(panel[0] + 3) * columns as u32, (panel[1] + 3) * lines];
    let tiling = Tiling {
        count,
        columns,
        panel,
        origin: [1, 2],
        gap: 3,
        second: None,
    };
    panels.prepare(&Placing {
        pixels,
        tiling,
        look,
        only,
        options,
        ground: None,
    });
    let texture = target(&gpu.device, pixels, FORMAT);
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    {
        let view = texture.create_view(&Default::default());
        panels.draw(&mut crate::view::scene::begin_pass(&mut encoder, &view));
    }
    gpu.queue.submit([encoder.finish()]);
    let image = read(&gpu, &texture).unwrap();
    gpu.trouble().unwrap();
    image
}

fn size(width: u64, height: u64) -> Size {
    Size::new(width, height).unwrap()
}

fn all(limits: TextureLimits) -> TextureLimits {
    limits
}

#[test]
fn cells_are_crisp_when_large() {
    let size = size(33, 20);
    let lattices = [soup(size, 0.4, 1), soup(size, 0.4, 2)];
    let panel = [33 * 8, 20 * 8];
    let look = Camera::default().look(size, panel);
    assert_eq!(look.scale, 8.0);
    let options = ViewOptions::default();
    let place = (panel, 2, look);
    let image = draw(
        all,
        size,
        place,
        None,
        &options,
        &[&MadeUp::bits(&lattices)],
    );
    assert_as_modelled(&image, &lattices, place, &options, 0.51);
}

#[test]
fn small_panels_show_density_for_any_width() {
    for (width, height, panel, by) in [
        (33, 65, [7, 13], 1.0),
        (512, 512, [100, 100], 1.0),
        (1000, 333, [121, 40], 1.0),
        (31, 3, [31, 3], 0.51),
        (97, 40, [150, 62], 1.0),
        (4097, 64, [64, 4], 1.0),
    ] {
        let size = size(width, height);
        let lattices = [soup(size, 0.1, 3)];
        let place = (panel, 1, Camera::default().look(size, panel));
        for (colours, invert) in [(0, false), (1, true), (2, false)] {
            let options = ViewOptions {
                colours,
                invert,
                ..Default::default()
            };
            let image = draw(
                all,
                size,
                place,
                None,
                &options,
                &[&MadeUp::bits(&lattices)],
            );
            assert_as_modelled(&image, &lattices, place, &options, by);
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
        let place = (panel, 1, camera.look(size, panel));
        let options = ViewOptions {
            colours: 4,
            ..Default::default()
        };
        let image = draw(
            all,
            size,
            place,
            None,
            &options,
            &[&MadeUp::bits(&lattices)],
        );
        assert_as_modelled(&image, &lattices, place, &options, 1.0);
    }
}

#[test]
fn layers_beyond_the_first_array_are_drawn_as_all_others() {
    let size = size(40, 9);
    let lattices: Vec<_> = (0..11).map(|seed| soup(size, 0.5, seed)).collect();
    let place = ([40, 9], 6, Camera::default().look(size, [40, 9]));
    let options = ViewOptions {
        colours: 2,
        ..Default::default()
    };
    let four = |limits| TextureLimits {
        layers: 4,
        ..limits
    };
    let image = draw(
        four,
        size,
        place,
        None,
        &options,
        &[&MadeUp::bits(&lattices)],
    );
    assert_as_modelled(&image, &lattices, place, &options, 0.51);
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
        let look = camera.look(size, panel);
        let view = TransferChoice::View;
        let request = request((size, 5), (look, panel), None, view, limits);
        let pictures = MadeUp::views(&lattices, request.viewport);
        let options = ViewOptions::default();
        let place = (panel, 3, look);
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
        let bits = draw(
            all,
            size,
            place,
            None,
            &options,
            &[&MadeUp::bits(&lattices)],
        );
        let differ: f64 = image
            .rgba
            .iter()
            .zip(&bits.rgba)
            .map(|(&a, &b)| f64::from(a.abs_diff(b)))
            .sum();
        let mean = differ / image.rgba.len() as f64;
        assert!(
            mean < if look.scale >= 1.0 { 0.05 } else { 12.0 },
            "zoom {zoom}: {mean} apart"
        );
        if look.scale < 1.0 {
            assert_view_in_place(&image, &lattices[0], request.viewport, look, &options);
        }
    }
}

/// With the camera as it was when the view was asked for, each texel is a pixel.
fn assert_view_in_place(
    image: &Image,
    lattice: &Lattice,
    viewport: Viewport,
    look: Look,
    options: &ViewOptions,
) {
    let words = crate::view::made_up::reduce(lattice, viewport);
    let bytes: &[u8] = bytemuck::cast_slice(&words);
    for (x, y) in [(0, 0), (1, 0), (60, 40), (121, 80), (17, 66)] {
        let byte = bytes[(y * viewport.width + x) as usize];
        let want = colour(Some(f64::from(byte) / 255.0), look.scale, 0, options);
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
    let old = Camera::default().look(size, panel);
    let limits = TextureLimits {
        side: 8192,
        layers: 256,
    };
    let asked = request((size, 1), (old, panel), None, TransferChoice::View, limits);
    let mut camera = Camera::default();
    camera.zoom_at(2.0, [0.0, 64.0], size, panel);
    let look = camera.look(size, panel);
    let options = ViewOptions::default();
    let lattices = [lattice];
    let pictures = MadeUp::views(&lattices, asked.viewport);
    let image = draw(all, size, (panel, 1, look), None, &options, &[&pictures]);
    assert_as_modelled(&image, &lattices, (panel, 1, look), &options, 1.0);
}

#[test]
fn one_alone_is_drawn_and_a_new_size_replaces_the_old() {
    let (size, panel) = (size(64, 64), [64, 64]);
    let lattices: Vec<_> = (0..3).map(|seed| soup(size, 0.5, seed)).collect();
    let look = Camera::default().look(size, panel);
    let view = |width, step| Viewport {
        x0: 0,
        y0: 0,
        step: step * Viewport::ONE,
        width,
        height: width,
    };
    let (small, large) = (view(32, 2), view(64, 1));
    let (wide, options) = (view(128, 1), ViewOptions::default());
    let rounds = [
        &MadeUp::views(&lattices, small),
        &MadeUp::views(&lattices, wide),
        &MadeUp::views(&lattices, large),
    ];
    let image = draw(all, size, (panel, 1, look), None, &options, &rounds);
    assert_as_modelled(&image, &lattices, (panel, 1, look), &options, 0.51);
    let image = draw(all, size, (panel, 1, look), Some(2), &options, &rounds);
    let mut alone = lattices.clone();
    alone[0] = lattices[2].clone();
    assert_as_modelled(&image, &alone[..1], (panel, 1, look), &options, 0.51);
}

#[test]
fn lines_are_drawn_between_large_cells_alone() {
    let (size, options) = (
        size(8, 8),
        ViewOptions {
            grid_lines: true,
            ..Default::default()
        },
    );
    let lattices = [Lattice::new(size)];
    let lit = |panel: [u32; 2]| {
        let look = Camera::default().look(size, panel);
        let image = draw(
            all,
            size,
            (panel, 1, look),
            None,
            &options,
            &[&MadeUp::bits(&lattices)],
        );
        let dead = colour(Some(0.0), look.scale, 0, &options);
        (0..panel[0])
            .filter(|&x| f64::from(image.pixel(1 + x, 3)[0]) > dead[0] + 5.0)
            .count()
    };
    assert_eq!(lit([40, 40]), 0, "5 pixels a cell");
    assert_eq!(lit([48, 48]), 8, "6 pixels a cell: one line a cell");
}

#[test]
fn every_shader_is_valid() {
    use wgpu::naga::{front::wgsl, valid};
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/shaders");
    let mut checked = 0;
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let source = std::fs::read_to_string(&path).unwrap();
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
