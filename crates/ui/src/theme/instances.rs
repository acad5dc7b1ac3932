//! Instances' colours: the same on an instance's panel, in its lane and in the map of
//! multiprocessors.
//!
//! Found by a search over lightness, chroma and hue in OKLCH: any two of a table differ by a ΔE_OK
//! of at least 0.1 for people with all three kinds of cones and for those who lack one of them, and
//! stand out from their background by a contrast of at least 3 (2.6 on light). With 16 colours little more can
//! be had. Their order keeps neighbours in rows of 4 and 8 farthest apart.

#[cfg(any(test, feature = "fixtures"))]
use super::contrast::linear;
use super::{Rgb, hex};

/// How many colours there are; more instances share them.
pub const INSTANCE_COLOURS: usize = 16;

/// On the dark interface and on dark cells.
pub(super) const ON_DARK: [Rgb; INSTANCE_COLOURS] = [
    hex(0xC7CDFC),
    hex(0xC14306),
    hex(0xA278FF),
    hex(0x7EC0B3),
    hex(0xF3C51A),
    hex(0x436EB4),
    hex(0xE8650D),
    hex(0xC0FDFE),
    hex(0x9A5968),
    hex(0xC99CFF),
    hex(0x60F1AC),
    hex(0x9628FC),
    hex(0x5099BA),
    hex(0xF5956A),
    hex(0xFEFC2C),
    hex(0xBE7876),
];

/// On the light interface.
pub(super) const ON_LIGHT: [Rgb; INSTANCE_COLOURS] = [
    hex(0x9D81BD),
    hex(0xC07778),
    hex(0x713D7B),
    hex(0x09008E),
    hex(0xC24500),
    hex(0x7E5FAD),
    hex(0x992A20),
    hex(0x0C46FF),
    hex(0x440019),
    hex(0x2C0550),
    hex(0x4F83FF),
    hex(0x4B2E4A),
    hex(0x282FC2),
    hex(0x6F0E05),
    hex(0xE86516),
    hex(0x9D5869),
];

/// Where a number's colour stands in the table. After each turn the table starts two colours
/// earlier, so that in rows of 16 panels none has the colour of the one above it.
pub(super) fn place(number: usize) -> usize {
    (number + 14 * (number / INSTANCE_COLOURS)) % INSTANCE_COLOURS
}

/// How far two instances' colours are from each other: the least ΔE_OK with all cones and with
/// those for red, for green or for blue missing.
#[cfg(any(test, feature = "fixtures"))]
pub fn distance(a: Rgb, b: Rgb) -> f32 {
    let all = SEEN.iter().map(|by| {
        let [a, b] = [a, b].map(|colour| lab(colour, by));
        let square = (0..3).map(|c| (a[c] - b[c]).powi(2)).sum::<f32>();
        square.sqrt()
    });
    all.fold(f32::INFINITY, f32::min)
}

/// What is seen of linear sRGB with all cones, and without those for red, green and blue: Machado,
/// Oliveira and Fernandes (2009), at full severity.
#[cfg(any(test, feature = "fixtures"))]
const SEEN: [[[f32; 3]; 3]; 4] = [
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
];

/// A colour in OKLab (Ottosson, 2020) as it is seen by such eyes.
#[cfg(any(test, feature = "fixtures"))]
fn lab(colour: Rgb, by: &[[f32; 3]; 3]) -> [f32; 3] {
    const CONES: [[f32; 3]; 3] = [
        [0.412_221_46, 0.536_332_55, 0.051_445_995],
        [0.211_903_5, 0.680_699_5, 0.107_396_96],
        [0.088_302_46, 0.281_718_85, 0.629_978_7],
    ];
    const OPPONENTS: [[f32; 3]; 3] = [
        [0.210_454_26, 0.793_617_8, -0.004_072_047],
        [1.977_998_5, -2.428_592_2, 0.450_593_7],
        [0.025_904_037, 0.782_771_77, -0.808_675_77],
    ];
    let times = |matrix: &[[f32; 3]; 3], v: [f32; 3]| {
        matrix.map(|row| row.iter().zip(v).map(|(a, b)| a * b).sum::<f32>())
    };
    let light = colour.map(|c| linear(f32::from(c) / 255.0));
    let seen = times(by, light).map(|c| c.clamp(0.0, 1.0));
    times(&OPPONENTS, times(&CONES, seen).map(f32::cbrt))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::contrast::contrast;
    use crate::theme::{COUNT, floats, theme};

    #[test]
    fn all_instances_are_told_apart_by_everyone() {
        for table in [ON_DARK, ON_LIGHT] {
            for a in 0..INSTANCE_COLOURS {
                for b in 0..a {
                    let apart = distance(table[a], table[b]);
                    assert!(apart >= 0.1, "{a} and {b}: {apart}");
                }
            }
        }
    }

    #[test]
    fn they_stand_out_from_what_is_around_them() {
        for theme in (0..COUNT).map(theme) {
            let palette = theme.palette();
            for number in 0..INSTANCE_COLOURS {
                for around in [palette.surround, palette.recessed, palette.background] {
                    let [own, around] = [palette.instance(number), around].map(floats);
                    let apart = contrast(own, around);
                    let least = if theme.light { 2.6 } else { 3.0 };
                    assert!(apart >= least, "{}: {number}, {apart}", theme.name);
                }
            }
        }
    }
}
