//! Lightness and contrast, as WCAG 2 has them.

/// From sRGB to light, 0 to 1.
pub(super) fn linear(v: f32) -> f32 {
    if v <= 0.04045 {
        v / 12.92
    } else {
        ((v + 0.055) / 1.055).powf(2.4)
    }
}

/// From light to sRGB, 0 to 1.
fn encoded(v: f32) -> f32 {
    if v <= 0.0031308 {
        v * 12.92
    } else {
        1.055 * v.powf(1.0 / 2.4) - 0.055
    }
}

/// The luminance of light.
fn of_light([r, g, b]: [f32; 3]) -> f32 {
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

/// Relative luminance, 0 to 1.
#[cfg(any(test, feature = "fixtures"))]
pub(crate) fn luminance(colour: [f32; 4]) -> f32 {
    of_light([colour[0], colour[1], colour[2]].map(linear))
}

/// Light for dark, of the same hue: the luminance that keeps each contrast with every other
/// mirrored colour as it is between the two. (Contrast is a ratio of luminances plus 0.05, so what
/// is inverted is luminance plus 0.05, about the geometric mean of black's and white's.)
pub fn mirrored(colour: [f32; 4]) -> [f32; 4] {
    let light = [colour[0], colour[1], colour[2]].map(linear);
    let wanted = (0.05 * 1.05 / (of_light(light) + 0.05) - 0.05).clamp(0.0, 1.0);
    let strongest = light.into_iter().fold(0.0, f32::max);
    // The hue as bright as it goes, then dimmed, or paled with white.
    // The darker a grey, the more colour a trace of one would become: greys stay nearly grey.
    let span = colour[..3].iter().fold(0.0, |most: f32, &c| most.max(c))
        - colour[..3].iter().fold(1.0, |least: f32, &c| least.min(c));
    let kept = (span / 0.2).min(1.0);
    let pure = light.map(|c| {
        if strongest > 0.0 {
            1.0 + (c / strongest - 1.0) * kept
        } else {
            1.0
        }
    });
    let most = of_light(pure);
    let made = if wanted <= most {
        pure.map(|c| c * wanted / most)
    } else {
        let white = (wanted - most) / (1.0 - most);
        pure.map(|c| c + (1.0 - c) * white)
    };
    let [r, g, b] = made.map(encoded);
    [r, g, b, colour[3]]
}

/// Contrast ratio, 1 to 21.
#[cfg(any(test, feature = "fixtures"))]
pub fn contrast(a: [f32; 4], b: [f32; 4]) -> f32 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}
