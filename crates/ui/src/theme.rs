//! Themes: what cells, their ages and trails, and the interface look like.
//!
//! Shades of cells differ in lightness, never in hue alone; in safe ones the ages do
//! too. The interface's colours are a [`Palette`] of roles, which [`Theme::palette`] makes.

use lang::mark;
use std::sync::LazyLock;

mod palette;

pub use palette::{INSTANCE_COLOURS, Palette};

/// One theme; colours are sRGB, 0 to 1.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Theme {
    /// Its name.
    pub name: &'static str,
    /// Its name in words.
    pub title: &'static str,
    /// Whether the interface is dark on light.
    pub light: bool,
    /// From dead (first) to live (last).
    pub ramp: [[f32; 4]; 9],
    /// Whether each panel has a live colour of its own.
    pub tinted: bool,
    /// From just born (first) to old (last).
    pub ages: [[f32; 4]; 9],
    /// A cell that has just died.
    pub trail: [f32; 4],
    /// What calls for attention in the interface, before it is made light.
    accent: Rgb,
}

/// How many themes there are.
pub const COUNT: usize = 5;

static THEMES: LazyLock<[(Theme, Palette); COUNT]> =
    LazyLock::new(|| themes().map(|theme| (theme, theme.palette())));

/// The theme of this number, counted round and round.
pub fn theme(number: usize) -> Theme {
    THEMES[number % COUNT].0
}

/// The interface's colours in the theme of this number, counted round and round.
pub fn palette(number: usize) -> Palette {
    THEMES[number % COUNT].1
}

fn themes() -> [Theme; COUNT] {
    let dark = |name, title, ramp: &[u32], ages: &[u32], trail| Theme {
        name,
        title,
        light: false,
        ramp: between(ramp),
        tinted: false,
        ages: between(ages),
        trail: rgb(trail),
        accent: Palette::DARK.accent,
    };
    let mut themes = [
        dark(
            "amber",
            mark!("amber"),
            &[0x0C0A08, 0x5A3508, 0xC77F16, 0xFFC857],
            &[0xFFFFFF, 0xFFD66B, 0xF09A3E, 0xD2605A, 0x9E4A86],
            0x4A3478,
        ),
        dark(
            "cividis",
            mark!("cividis, safe for the colour-blind"),
            &[
                0x00204D, 0x00336F, 0x39486B, 0x575C6D, 0x707173, 0x8A8779, 0xA69D75, 0xE4CF5B,
                0xFFEA46,
            ],
            &[0xFFFBE0, 0xFFEA46, 0xD8C560, 0xACA374, 0x878680],
            0x46608F,
        ),
        dark(
            "hues",
            mark!("a colour per instance"),
            &[0x0B0D11, 0xF2F2F2],
            &[0xFFFFFF, 0x8C929C],
            0x4A505C,
        ),
        dark(
            "phosphor",
            mark!("phosphor"),
            &[0x03100A, 0x0C5A34, 0x2BC275, 0x9DFFC4],
            &[0xF2FFF7, 0x9DFFC4, 0x2FCB84, 0x1FA08C, 0x2C7FA6],
            0x17543A,
        ),
        dark(
            "paper",
            mark!("ink on paper, safe for the colour-blind"),
            &[0xF5F0E3, 0xA9A294, 0x1D1B18],
            &[0x14110D, 0x16345A, 0x245F96, 0x4784B4],
            0xDDAE62,
        ),
    ];
    let [_, cividis, hues, phosphor, paper] = &mut themes;
    cividis.accent = hex(0xFFEA46);
    hues.tinted = true;
    phosphor.accent = hex(0xC6F24E);
    paper.light = true;
    themes
}

/// The number of the theme of this name.
pub fn find(name: &str) -> Option<usize> {
    (0..COUNT).find(|&number| theme(number).name == name)
}

/// The live cells' colour in a panel of this [number](session::Status::number_of), where the theme
/// gives each panel its own; such themes are dark.
pub fn tint(number: usize) -> [f32; 4] {
    floats(Palette::DARK.instance(number))
}

/// Lines between cells, in every theme.
pub const CELL_LINES: [f32; 4] = rgb(0x60646C);

/// `0xRRGGBB` as sRGB from 0 to 1.
const fn rgb(colour: u32) -> [f32; 4] {
    floats(hex(colour))
}

/// An opaque colour as sRGB from 0 to 1.
pub const fn floats([red, green, blue]: Rgb) -> [f32; 4] {
    const fn part(byte: u8) -> f32 {
        byte as f32 / 255.0
    }
    [part(red), part(green), part(blue), 1.0]
}

/// A colour from 0 to 1 in bytes, as if it were opaque.
pub fn bytes([red, green, blue, _]: [f32; 4]) -> Rgb {
    [red, green, blue].map(|part| (part * 255.0).round() as u8)
}

/// Nine steps through these.
fn between(stops: &[u32]) -> [[f32; 4]; 9] {
    std::array::from_fn(|step| {
        let at = step as f32 / 8.0 * (stops.len() - 1) as f32;
        let below = (at as usize).min(stops.len() - 2);
        let (a, b) = (rgb(stops[below]), rgb(stops[below + 1]));
        let t = at - below as f32;
        [0, 1, 2, 3].map(|channel| a[channel] + (b[channel] - a[channel]) * t)
    })
}

/// An opaque sRGB colour: red, green, blue.
pub type Rgb = [u8; 3];

/// `0xRRGGBB`.
pub(super) const fn hex(colour: u32) -> Rgb {
    let [_, red, green, blue] = colour.to_be_bytes();
    [red, green, blue]
}

/// How live a pixel looks that covers several cells is the same here, in `shaders/panels.wgsl` and in the terminal:
/// how far a picture is a reduced one, from 0 where every cell has a pixel to 1 where a pixel's
/// sides are two cells and more.
pub fn reduced(cells_per_pixel: f64) -> f32 {
    (cells_per_pixel - 1.0).clamp(0.0, 1.0) as f32
}

/// From the share of live cells under a pixel to how live it looks, as the shader does.
pub fn brightness(density: f32, reduction: f32) -> f32 {
    let contrast = 1.0 - (-(density / 0.12).powf(1.4)).exp();
    density + (contrast.max(0.6 * density.sqrt()) - density) * reduction
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{contrast, luminance};

    #[test]
    fn lightness_alone_tells_dead_from_live_and_ages_and_trails_stand_out() {
        for theme in (0..COUNT).map(theme) {
            let name = theme.name;
            let shades = theme.ramp.map(luminance);
            let is_even = shades.is_sorted() || shades.is_sorted_by(|a, b| a >= b);
            assert!(is_even, "{name}: {shades:?}");
            assert!(!theme.tinted || !theme.light, "see `tint`");
            let (dead, live) = (theme.ramp[0], theme.ramp[8]);
            let tints = (0..INSTANCE_COLOURS).map(|number| (tint(number), dead, 3.5));
            let tints = tints.filter(|_| theme.tinted);
            let ages = theme.ages.map(|age| (age, dead, 3.0));
            let trails = [(theme.trail, dead, 1.5), (theme.trail, live, 2.5)];
            let pairs = [(dead, live, 7.0)]
                .into_iter()
                .chain(tints)
                .chain(ages)
                .chain(trails);
            for (a, b, least) in pairs {
                let apart = contrast(a, b);
                assert!(apart > least, "{name}: {a:?} and {b:?}, {apart}");
            }
            let shades = theme.ages.map(luminance);
            let is_even = shades.is_sorted_by(|a, b| a < b) || shades.is_sorted_by(|a, b| a > b);
            // As the colour-blind need it.
            assert!(
                is_even || !theme.title.contains("safe"),
                "{name}: {shades:?}"
            );
        }
    }
}
