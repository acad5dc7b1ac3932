//! Screens as they were last looked at, reduced to 80 × 45 pixels, a file each in `tests/screens`. Each painter and
//! each kind of colour is in one of them; that nothing of any screen is cut or covered is `structure`'s to check.
//!
//! A reduced pixel is the mean of some hundreds, so that it hardly knows how an edge was smoothed,
//! and yet notices a colour, a line of type or an edge that moved by a few pixels.
//! `LIFESTREAMS_RENEW=1 cargo nextest run -p window golden` stores them anew: look at them first, with
//! `gallery_of_screens`.

use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;

use crate::view::gallery::{Scenario, Window, named};
use crate::view::offscreen::{read, target};
use crate::view::picture_file::{Image, write_png};
use crate::view::pixel_tests::lavapipe;
use crate::view::{Gpu, Scene};
use lang::Language::{self, Chinese, English};
use life::Lattice;
use test_support::with;
use ui::ColourBy;
use ui::fixtures::{FixturePictures, aged, soup};

const SMALL: Window = ([1280, 720], 1.0);
const LARGE: Window = ([1920, 1080], 2.0);

/// The screens that are stored, and how.
const GOLDEN: [(&str, Window, Language); 8] = [
    ("blocks", SMALL, English),
    ("comparison-differ-all", SMALL, Chinese),
    ("ladder-timeline", SMALL, English),
    ("lesson-page", LARGE, English),
    ("minimap", LARGE, English),
    ("population-of-all-timeline", LARGE, Chinese),
    ("presentation-timeline", SMALL, English),
    ("selection", SMALL, Chinese),
];

/// A reduced picture's sides.
const SIDES: [u32; 2] = [80, 45];
/// How far a part of a reduced pixel's colour may be from what is stored, of 255.
const TOLERANCE: u8 = 5;

#[test]
fn screens_look_as_they_are_stored() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/screens");
    let renew = std::env::var_os("LIFESTREAMS_RENEW").is_some();
    let mut stage = Stage::new();
    let mut stale = Vec::new();
    for (name, window, language) in GOLDEN {
        let draw = || reduced(&stage.picture(&mut named(name, window)));
        let drawn = with(language, draw);
        let path = folder.join(format!("{name}.png"));
        let stored = load(&path).unwrap_or_default();
        let apart = drawn.rgba.iter().zip(&stored).map(|(a, b)| a.abs_diff(*b));
        let (most, at) = apart.zip(0u32..).max().unwrap_or_default();
        if most <= TOLERANCE && drawn.rgba.len() == stored.len() {
            continue;
        }
        if renew {
            write_png(&drawn, &path).unwrap();
        } else {
            let at = [at / 4 % SIDES[0], at / 4 / SIDES[0]];
            stale.push(format!(
                "{name}: {most} of 255 apart at {at:?} of {SIDES:?}"
            ));
        }
    }
    assert!(
        stale.is_empty(),
        "look at them (gallery_of_screens), then LIFESTREAMS_RENEW=1 cargo nextest run \
         -p window golden: {stale:#?}"
    );
    let files = fs::read_dir(folder).unwrap();
    let files: BTreeSet<_> = files.map(|file| file.unwrap().file_name()).collect();
    let known = GOLDEN.map(|(name, ..)| format!("{name}.png").into());
    assert_eq!(files, BTreeSet::from(known), "nothing else is stored");
}

/// A stored picture's pixels as RGBA, if there is one.
fn load(path: &Path) -> Option<Vec<u8>> {
    let mut decoder = png::Decoder::new(BufReader::new(File::open(path).ok()?));
    decoder.set_transformations(png::Transformations::ALPHA);
    let mut reader = decoder.read_info().ok()?;
    let mut rgba = vec![0; reader.output_buffer_size()?];
    reader.next_frame(&mut rgba).ok()?;
    Some(rgba)
}

/// The means of the pixels that each one stands for.
fn reduced(image: &Image) -> Image {
    let edge = |axis: usize, at: u32| at * [image.width, image.height][axis] / SIDES[axis];
    let mut rgba = Vec::new();
    for (row, column) in (0..SIDES[1]).flat_map(|row| (0..SIDES[0]).map(move |it| (row, it))) {
        let (mut sum, mut count) = ([0; 3], 0);
        for y in edge(1, row)..edge(1, row + 1) {
            for x in edge(0, column)..edge(0, column + 1) {
                let pixel = image.pixel(x, y);
                (0..3).for_each(|part| sum[part] += u32::from(pixel[part]));
                count += 1;
            }
        }
        rgba.extend(sum.map(|sum| ((sum + count / 2) / count) as u8));
        rgba.push(255);
    }
    Image {
        width: SIDES[0],
        height: SIDES[1],
        rgba,
    }
}

const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;

/// Draws screens, one after another, on one device.
pub(super) struct Stage {
    gpu: Gpu,
    targets: HashMap<[u32; 2], wgpu::Texture>,
    /// egui's clock, which never goes back.
    clock: f64,
}

impl Stage {
    pub(super) fn new() -> Stage {
        Stage {
            gpu: lavapipe(),
            targets: HashMap::new(),
            clock: 0.0,
        }
    }

    /// A screen's picture, once it has come to rest: three soups, and what has become of them, of which ages and
    /// trails are made.
    pub(super) fn picture(&mut self, it: &mut Scenario) -> Image {
        let pixels = it.window.0;
        let device = &self.gpu.device;
        let texture = self
            .targets
            .entry(pixels)
            .or_insert_with(|| target(device, pixels, FORMAT));
        let mut scene = Scene::new(&self.gpu, FORMAT);
        let size = it.status.lattices.size;
        let soups = [1, 2, 3].map(|seed| aged(soup(size, 0.3, seed), 12));
        let mut lattices: Vec<Lattice> = soups
            .into_iter()
            .cycle()
            .take(it.status.lattices.instances)
            .collect();
        let last = if it.options.colour_by == ColourBy::State {
            0
        } else {
            8
        };
        for generation in 0..=last {
            let pictures = FixturePictures::of(&lattices, generation);
            scene.update(&it.frame(), &pictures);
            if generation < last {
                lattices = lattices.into_iter().map(|it| aged(it, 1)).collect();
            }
        }
        let view = texture.create_view(&Default::default());
        it.frames(&mut self.clock, |frame, dialogs, input| {
            scene.draw(frame, dialogs, input, &view);
        });
        let image = read(&self.gpu, texture).unwrap();
        self.gpu.trouble().unwrap();
        image
    }
}
