//! Colours, each palette safe for the colour-blind: shades differ in lightness, never in hue
//! alone.

/// From dead to live in nine steps, and what else a panel is drawn with; sRGB, 0 to 1.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Palette {
    /// Its name.
    pub name: &'static str,
    /// From dead (first) to live (last).
    pub ramp: [[f32; 4]; 9],
    /// Whether each panel has a live colour of its own.
    pub tinted: bool,
}

/// Live colours for panels of their own hue (Okabe and Ito's, the dark ones lightened).
const TINTS: [u32; 7] = [
    0xE69F00, 0x56B4E9, 0x2FC79A, 0xF0E442, 0x6F9BFF, 0xF68B50, 0xDE8FBF,
];

/// How many palettes there are.
pub const COUNT: usize = 5;

/// The palette of this number, counted round and round.
pub fn palette(number: usize) -> Palette {
    match number % COUNT {
        0 => between("amber", &[0x0C0A08, 0x5A3508, 0xC77F16, 0xFFC857], false),
        1 => between(
            "cividis",
            &[
                0x00204D, 0x00336F, 0x39486B, 0x575C6D, 0x707173, 0x8A8779, 0xA69D75, 0xE4CF5B,
                0xFFEA46,
            ],
            false,
        ),
        2 => between("a colour each", &[0x0B0D11, 0xF2F2F2], true),
        3 => between("phosphor", &[0x03100A, 0x0C5A34, 0x2BC275, 0x9DFFC4], false),
        _ => between("ink on paper", &[0xF5F0E3, 0xA9A294, 0x1D1B18], false),
    }
}

/// An instance's own live colour.
pub fn tint(instance: usize) -> [f32; 4] {
    rgb(TINTS[instance % TINTS.len()])
}

/// `0xRRGGBB` as sRGB from 0 to 1.
pub(crate) fn rgb(hex: u32) -> [f32; 4] {
    let part = |shift: u32| (hex >> shift & 0xFF) as f32 / 255.0;
    [part(16), part(8), part(0), 1.0]
}

fn between(name: &'static str, stops: &[u32], tinted: bool) -> Palette {
    let ramp = std::array::from_fn(|step| {
        let at = step as f32 / 8.0 * (stops.len() - 1) as f32;
        let below = (at as usize).min(stops.len() - 2);
        let (a, b) = (rgb(stops[below]), rgb(stops[below + 1]));
        let t = at - below as f32;
        [0, 1, 2, 3].map(|channel| a[channel] + (b[channel] - a[channel]) * t)
    });
    Palette { name, ramp, tinted }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance, as WCAG has it.
    fn luminance(colour: [f32; 4]) -> f32 {
        let linear = |v: f32| {
            if v <= 0.04 {
                v / 12.92
            } else {
                ((v + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * linear(colour[0]) + 0.7152 * linear(colour[1]) + 0.0722 * linear(colour[2])
    }

    #[test]
    fn lightness_alone_tells_dead_from_live() {
        let contrast = |a: f32, b: f32| (a.max(b) + 0.05) / (a.min(b) + 0.05);
        for number in 0..COUNT {
            let palette = palette(number);
            let shades = palette.ramp.map(luminance);
            let rising = shades.windows(2).all(|pair| pair[0] <= pair[1]);
            let falling = shades.windows(2).all(|pair| pair[0] >= pair[1]);
            assert!(rising || falling, "{}: {shades:?}", palette.name);
            assert!(contrast(shades[0], shades[8]) > 7.0, "{}", palette.name);
            for instance in 0..7 {
                let own = luminance(tint(instance));
                assert!(
                    !palette.tinted || contrast(shades[0], own) > 7.0,
                    "tint {instance}"
                );
            }
        }
    }
}
