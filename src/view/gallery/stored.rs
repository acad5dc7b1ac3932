//! Every screen as it was last looked at, reduced to 80 × 45 pixels, a file each in
//! `tests/screens`: in its first window (for most 1280 × 720 at one pixel a point) in English and
//! in Chinese, and beneath them in one of its other windows in one of the languages, in turn, so
//! that a third of the screens is kept in each of those windows. All of them in all windows would
//! take minutes in software; of the windows that are not kept, `structure` looks at every one.
//!
//! A reduced pixel is the mean of some hundreds, so that it hardly knows how an edge was smoothed,
//! and yet notices a colour, a line of type or an edge that moved by a few pixels.
//! `LIFESTREAMS_RENEW=1 cargo test --lib gallery` stores them anew: look at them first, with
//! `gallery_of_screens`.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

use crate::lang::{Language, with};
use crate::view::gallery::stage::Stage;
use crate::view::gallery::{LANGUAGES, SCREEN, Screen, Set, Window, screens};
use crate::view::picture_file::{Image, write_png};

/// A reduced picture's sides.
const SIDES: [u32; 2] = [80, 45];
/// How far a part of a reduced pixel's colour may be from what is stored, of 255.
const TOLERANCE: u8 = 5;

/// Where they are stored.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/screens")
}

/// The windows and languages in which the screen of this number is kept.
fn views(number: usize, screen: &Screen) -> Vec<(Window, Language)> {
    let first = LANGUAGES.map(|language| (screen.windows[0], language));
    let others = &screen.windows[1..];
    let other = (!others.is_empty()).then(|| {
        let language = LANGUAGES[number / others.len() % 2];
        (others[number % others.len()], language)
    });
    first.into_iter().chain(other).collect()
}

/// Every screen as it is kept; a thread for each language.
fn drawn() -> Vec<(Screen, Vec<Image>)> {
    let draw = |language| {
        move || -> Vec<Vec<Image>> {
            let mut stage = Stage::new();
            let mut pictures = |(number, screen): (usize, Screen)| {
                let views = views(number, &screen).into_iter();
                let own = views.filter(|(_, of)| *of == language);
                own.map(|(window, _)| stage.reduced(&mut Set::new(screen, window), SIDES))
                    .collect()
            };
            with(language, || {
                screens()
                    .into_iter()
                    .enumerate()
                    .map(&mut pictures)
                    .collect()
            })
        }
    };
    let [english, chinese] = std::thread::scope(|scope| {
        let all = LANGUAGES.map(|language| scope.spawn(draw(language)));
        all.map(|one| one.join().unwrap())
    });
    let both = english.into_iter().zip(chinese);
    let numbered = screens().into_iter().zip(both).enumerate();
    let in_order = |(number, (screen, (english, chinese)))| {
        let [mut english, mut chinese] = [english, chinese].map(Vec::into_iter);
        let pictures = views(number, &screen)
            .into_iter()
            .map(|(_, language)| match language {
                Language::English => english.next().unwrap(),
                Language::Chinese => chinese.next().unwrap(),
            })
            .collect();
        (screen, pictures)
    };
    numbered.map(in_order).collect()
}

/// Pictures one above the other.
fn sheet(pictures: &[Image]) -> Image {
    Image {
        width: SIDES[0],
        height: SIDES[1] * pictures.len() as u32,
        rgba: pictures.iter().flat_map(|it| &it.rgba).copied().collect(),
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
        let picture = y / SIDES[1] + 1;
        let within = |at: u32, side: usize| (at % SIDES[side]) as f32 / SIDES[side] as f32;
        let [across, down] = [within(x, 0), within(y, 1)];
        format!(
            "{most} of 255 apart at {across:.2} × {down:.2} of the window, in picture {picture}"
        )
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
    for (screen, pictures) in drawn() {
        let path = folder().join(format!("{}.png", screen.name));
        let drawn = sheet(&pictures);
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
        "look at them (gallery_of_screens), then LIFESTREAMS_RENEW=1 cargo test --lib gallery: \
         {stale:#?}"
    );
}

#[test]
fn nothing_else_is_stored() {
    let known: Vec<String> = screens()
        .iter()
        .map(|screen| format!("{}.png", screen.name))
        .collect();
    for entry in fs::read_dir(folder()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(known.contains(&name), "no screen is called {name}");
    }
}

/// The means, the slow way.
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
    let screen = Screen {
        options: |options, _, _| (options.timeline, options.lab) = (true, true),
        ..SCREEN
    };
    let mut stage = Stage::new();
    let image = stage.picture(&mut Set::new(screen, window));
    let as_it_is = reduced(&image);
    let drawn = stage.reduced(&mut Set::new(screen, window), SIDES);
    let off = drawn.rgba.iter().zip(&as_it_is.rgba);
    let off = off.map(|(a, b)| a.abs_diff(*b)).max().unwrap();
    assert!(off <= 1, "the device's mean is the mean: {off}");

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
    let word = crate::view::hud::style::RUNNING;
    let word = [word.r(), word.g(), word.b()];
    let red = changed(&image, |x, y| match image.pixel(x, y) {
        pixel if pixel == word => [0xE3, 0x7B, 0x7B],
        pixel => pixel,
    });
    noticed("another colour", &red);
    // One of sixteen panels.
    let panel = layout.tiling.rect(9);
    let ground = image.pixel(panel.x - 1, panel.y - 1);
    let lost = changed(&image, |x, y| {
        match panel.contains([f64::from(x), f64::from(y)]) {
            true => ground,
            false => image.pixel(x, y),
        }
    });
    noticed("a panel is gone", &lost);
    // The lab, a quarter of a reduced pixel lower.
    let lab = layout.lab.unwrap();
    let moved = changed(&image, |x, y| {
        match lab.contains([f64::from(x), f64::from(y)]) && y >= lab.y + 4 {
            true => image.pixel(x, y - 4),
            false => image.pixel(x, y),
        }
    });
    noticed("the lab has moved", &moved);
    // A figure's place alone.
    let dock = layout.dock.rect().unwrap();
    let figure = |y: u32| y > dock.y + 130 && y < dock.y + 160;
    let moved = changed(&image, |x, y| match x >= dock.x && figure(y) {
        true => image.pixel(x, y + 5),
        false => image.pixel(x, y),
    });
    noticed("a figure has moved", &moved);
}
