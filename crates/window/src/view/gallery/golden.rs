//! The screens of [`GOLDEN`] in all of their windows as they were last looked at, reduced to 80 × 45
//! pixels, a file each in `tests/screens`: a column a window, English above Chinese. Each painter and
//! each kind of colour is in one of them; that nothing of any screen is cut or covered is
//! `structure`'s to check.
//!
//! A reduced pixel is the mean of some hundreds, so that it hardly knows how an edge was smoothed,
//! and yet notices a colour, a line of type or an edge that moved by a few pixels.
//! `LIFESTREAMS_RENEW=1 cargo nextest run -p window golden` stores them anew: look at them first, with
//! `gallery_of_screens`.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex};

use crate::view::gallery::{LANGUAGES, Scenario, Set, Window, screen, screens};
use crate::view::offscreen::{read, target};
use crate::view::picture_file::{Image, write_png};
use crate::view::pixel_tests::lavapipe;
use crate::view::{Gpu, Scene};
use life::{Lattice, Size};
use test_support::with;
use ui::fixtures::{FixturePictures, aged, soup};
use ui::{ColourBy, SidePanel};

/// The screens that are stored.
const GOLDEN: [&str; 8] = [
    "blocks",
    "camera-minimap",
    "comparison-differ-all",
    "ladder-timeline",
    "lesson-page",
    "population-of-all-timeline",
    "presentation-timeline",
    "selection",
];

/// The screens of [`GOLDEN`].
fn golden() -> Vec<Scenario> {
    let all = screens();
    let of_name = |name: &&str| all.iter().find(|screen| screen.name == *name).copied();
    GOLDEN
        .iter()
        .map(|name| of_name(name).unwrap_or_else(|| panic!("no screen is called {name}")))
        .collect()
}

/// A reduced picture's sides.
const SIDES: [u32; 2] = [80, 45];
/// How far a part of a reduced pixel's colour may be from what is stored, of 255.
const TOLERANCE: u8 = 5;

/// Where they are stored.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/screens")
}

/// The golden screens as they are kept; a thread for each language.
fn drawn() -> Vec<(Scenario, Image)> {
    let draw = |language| {
        move || -> Vec<Image> {
            let mut stage = Stage::new();
            let mut row = |screen: Scenario| {
                let windows = screen.windows.iter();
                let picture = |&window| reduced(&stage.picture(&mut Set::new(screen, window)));
                beside(&windows.map(picture).collect::<Vec<_>>())
            };
            with(language, || golden().into_iter().map(&mut row).collect())
        }
    };
    let [english, chinese] = std::thread::scope(|scope| {
        let all = LANGUAGES.map(|language| scope.spawn(draw(language)));
        all.map(|one| one.join().unwrap())
    });
    let both = english.into_iter().zip(chinese);
    let sheets = both.map(|(english, chinese)| Image {
        height: 2 * SIDES[1],
        rgba: [english.rgba, chinese.rgba].concat(),
        width: english.width,
    });
    golden().into_iter().zip(sheets).collect()
}

/// Pictures in a row.
fn beside(pictures: &[Image]) -> Image {
    let pitch = 4 * SIDES[0] as usize;
    let line = |y: usize| {
        pictures
            .iter()
            .map(move |it| &it.rgba[y * pitch..][..pitch])
    };
    let rgba = (0..SIDES[1] as usize)
        .flat_map(line)
        .flatten()
        .copied()
        .collect();
    Image {
        width: SIDES[0] * pictures.len() as u32,
        height: SIDES[1],
        rgba,
    }
}

/// Where two pictures are farthest apart, and how far, if that is too far.
fn differ(a: &Image, b: &Image) -> Option<String> {
    if (a.width, a.height) != (b.width, b.height) {
        return Some(format!(
            "{}x{} instead of {}x{}",
            a.width, a.height, b.width, b.height
        ));
    }
    let apart = |(at, (a, b)): (usize, (&u8, &u8))| (a.abs_diff(*b), at / 4);
    let parts = a.rgba.iter().zip(&b.rgba).enumerate();
    let (most, at) = parts.map(apart).max()?;
    let (x, y) = (at as u32 % a.width, at as u32 / a.width);
    (most > TOLERANCE).then(|| {
        let (window, language) = (x / SIDES[0] + 1, LANGUAGES[(y / SIDES[1]) as usize]);
        let within = |at: u32, side: usize| (at % SIDES[side]) as f32 / SIDES[side] as f32;
        let [across, down] = [within(x, 0), within(y, 1)];
        format!("{most} of 255 apart at {across:.2} × {down:.2} of window {window}, {language:?}")
    })
}

fn load(path: &Path) -> Option<Image> {
    let file = File::open(path).ok()?;
    let mut reader = png::Decoder::new(BufReader::new(file)).read_info().ok()?;
    let mut rgba = vec![0; reader.output_buffer_size()?];
    let info = reader.next_frame(&mut rgba).ok()?;
    if info.color_type == png::ColorType::Rgb {
        let opaque = |pixel: &[u8]| [pixel[0], pixel[1], pixel[2], 255];
        rgba = rgba.chunks_exact(3).flat_map(opaque).collect();
    }
    Some(Image {
        width: info.width,
        height: info.height,
        rgba,
    })
}

#[test]
fn screens_look_as_they_are_stored() {
    let renew = std::env::var_os("LIFESTREAMS_RENEW").is_some();
    let mut stale = Vec::new();
    for (screen, drawn) in drawn() {
        let path = folder().join(format!("{}.png", screen.name));
        let stored = load(&path);
        let apart = stored.as_ref().map(|stored| differ(stored, &drawn));
        match apart {
            Some(None) => {}
            _ if renew => write_png(&drawn, &path).unwrap(),
            Some(Some(how)) => stale.push(format!("{}: {how}", screen.name)),
            None => stale.push(format!("{}: not stored yet", screen.name)),
        }
    }
    assert!(
        stale.is_empty(),
        "look at them (gallery_of_screens), then LIFESTREAMS_RENEW=1 cargo nextest run \
         -p window golden: {stale:#?}"
    );
}

#[test]
fn nothing_else_is_stored() {
    let known = GOLDEN.map(|name| format!("{name}.png"));
    for entry in fs::read_dir(folder()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(known.contains(&name), "{name} is not a golden screen's");
    }
}

/// The means of the pixels that each one stands for.
fn reduced(image: &Image) -> Image {
    let sides = [image.width, image.height];
    let span = |axis: usize, at: u32| {
        let edge = |at: u32| at * sides[axis] / SIDES[axis];
        edge(at)..edge(at + 1)
    };
    let mut rgba = Vec::new();
    for row in 0..SIDES[1] {
        for column in 0..SIDES[0] {
            let mut sum = [0; 3];
            let mut count = 0;
            for y in span(1, row) {
                for x in span(0, column) {
                    let pixel = image.pixel(x, y);
                    (0..3).for_each(|part| sum[part] += u32::from(pixel[part]));
                    count += 1;
                }
            }
            rgba.extend(sum.map(|sum| ((sum + count / 2) / count) as u8));
            rgba.push(255);
        }
    }
    Image {
        width: SIDES[0],
        height: SIDES[1],
        rgba,
    }
}

/// The picture with each pixel made of others.
fn changed(image: &Image, pixel: impl Fn(u32, u32) -> [u8; 3]) -> Image {
    let places = (0..image.height).flat_map(|y| (0..image.width).map(move |x| (x, y)));
    Image {
        rgba: places
            .flat_map(|(x, y)| {
                let [r, g, b] = pixel(x, y);
                [r, g, b, 255]
            })
            .collect(),
        ..*image
    }
}

#[test]
fn a_wrong_colour_a_lost_panel_and_a_moved_box_are_noticed_and_smoothing_is_not() {
    let window: Window = ([1280, 720], 1.0);
    let screen = screen("timeline-and-lab").side(SidePanel::Lab).timeline();
    let mut stage = Stage::new();
    let image = stage.picture(&mut Set::new(screen, window));
    let as_it_is = reduced(&image);
    // Edges a little softer, and each colour a little off.
    let soft = changed(&image, |x, y| {
        let beside = image.pixel((x + 1).min(image.width - 1), y);
        let below = image.pixel(x, (y + 1).min(image.height - 1));
        let own = image.pixel(x, y);
        [0, 1, 2].map(|part| {
            let [a, b, c] = [own, beside, below].map(|pixel| u32::from(pixel[part]));
            ((6 * a + b + c) / 8) as u8 ^ ((x * 7 + y * 13) % 2) as u8
        })
    });
    assert_eq!(differ(&as_it_is, &reduced(&soft)), None);

    let layout = Set::new(screen, window).frame().layout().unwrap().0;
    let noticed = |what: &str, picture: &Image| {
        assert!(differ(&as_it_is, &reduced(picture)).is_some(), "{what}");
    };
    // The word of what runs, in another colour.
    let word = ui::theme::Palette::DARK.running;
    let red = changed(&image, |x, y| match image.pixel(x, y) {
        pixel if pixel == word => [0xE3, 0x7B, 0x7B],
        pixel => pixel,
    });
    noticed("another colour", &red);
    // One of sixteen panels.
    let panel = layout.tiling.rect(9);
    let background = image.pixel(panel.x - 1, panel.y - 1);
    let lost = changed(&image, |x, y| {
        if panel.contains([f64::from(x), f64::from(y)]) {
            background
        } else {
            image.pixel(x, y)
        }
    });
    noticed("a panel is gone", &lost);
    // A figure's place alone.
    let dock = layout.dock.rect().unwrap();
    let figure = |y: u32| y > dock.y + 130 && y < dock.y + 160;
    let moved = changed(&image, |x, y| {
        if x >= dock.x && figure(y) {
            image.pixel(x, y + 5)
        } else {
            image.pixel(x, y)
        }
    });
    noticed("a figure has moved", &moved);
}

/// Generations that ages and trails are made of.
const PAST: usize = 16;
/// Different lattices; instance i has the one of i modulo this.
const KINDS: usize = 3;

const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;

/// Draws screens, one after another, on one device.
pub(super) struct Stage {
    gpu: Gpu,
    scene: Scene,
    targets: HashMap<[u32; 2], wgpu::Texture>,
    /// egui's clock, which never goes back.
    clock: f64,
}

impl Stage {
    pub(super) fn new() -> Stage {
        let gpu = lavapipe();
        Stage {
            scene: Scene::new(&gpu, FORMAT),
            gpu,
            targets: HashMap::new(),
            clock: 0.0,
        }
    }

    /// The set's picture, once it has come to rest.
    pub(super) fn picture(&mut self, set: &mut Set) -> Image {
        self.draw(set);
        let image = read(&self.gpu, &self.targets[&set.window.0]).unwrap();
        self.gpu.trouble().unwrap();
        image
    }

    fn draw(&mut self, set: &mut Set) {
        let size = set.screen.lattice_size();
        let soups = soups(size);
        let pixels = set.window.0;
        let texture = self
            .targets
            .entry(pixels)
            .or_insert_with(|| target(&self.gpu.device, pixels, FORMAT));
        let view = texture.create_view(&Default::default());
        let first = match set.options.colour_by {
            ColourBy::State => PAST - 1,
            _ => 0,
        };
        if first == 0 {
            // Ages are counted from what was drawn before.
            self.scene = Scene::new(&self.gpu, FORMAT);
        }
        self.scene.forget();
        for (generation, kinds) in soups.iter().enumerate().skip(first) {
            let lattices: Vec<Lattice> = (0..set.screen.instances)
                .map(|instance| kinds[instance % KINDS].clone())
                .collect();
            let pictures = FixturePictures::of(&lattices, generation as u64);
            self.scene.update(&set.frame(), &pictures).unwrap();
        }
        let frames = set.frames();
        let mut dialogs = std::mem::take(&mut set.dialogs);
        for number in 0..frames {
            self.clock += 1.0;
            let input = set.input(number, self.clock);
            self.scene.draw(&set.frame(), &mut dialogs, input, &view);
        }
    }
}

/// The last generations of lattices of a size, the newest last.
type Soups = Arc<Vec<Vec<Lattice>>>;

/// The soups of a size, generated once for all stages.
fn soups(size: Size) -> Soups {
    static MADE: LazyLock<Mutex<HashMap<Size, Soups>>> = LazyLock::new(Mutex::default);
    let mut made = MADE.lock().unwrap();
    made.entry(size)
        .or_insert_with(|| Arc::new(generations(size)))
        .clone()
}

fn generations(size: Size) -> Vec<Vec<Lattice>> {
    let first = (0..KINDS as u64).map(|seed| soup(size, 0.3, seed + 1));
    let first: Vec<Lattice> = first.collect();
    let next = |kinds: &Vec<Lattice>| Some(kinds.iter().map(|it| aged(it.clone(), 1)).collect());
    std::iter::successors(Some(first), next)
        .take(PAST)
        .collect()
}
