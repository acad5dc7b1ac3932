//! How far colours are apart, for tests.

use super::Rgb;

/// From sRGB to light, 0 to 1.
fn linear(v: f32) -> f32 {
    if v <= 0.04045 {
        v / 12.92
    } else {
        ((v + 0.055) / 1.055).powf(2.4)
    }
}

/// Relative luminance, 0 to 1.
pub(super) fn luminance(colour: [f32; 4]) -> f32 {
    let [r, g, b, _] = colour.map(linear);
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

/// Contrast ratio, 1 to 21.
pub fn contrast(a: [f32; 4], b: [f32; 4]) -> f32 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// How far two instances' colours are from each other: the least ΔE_OK with all cones and with
/// those for red, for green or for blue missing.
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
