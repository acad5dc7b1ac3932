//! What a theme makes of the interface's colours.

use egui::Color32;
use egui::epaint::{ClippedPrimitive, Primitive};

use crate::hud::style::ACCENT;
use screen::theme::{Theme, mirrored, rgb};

/// What a colour of the interface becomes.
pub(crate) fn interface(theme: &Theme, colour: Color32) -> Color32 {
    let [r, g, b, alpha] = colour.to_srgba_unmultiplied();
    // Shadows stay shadows.
    if alpha == 0 || (alpha < 255 && [r, g, b] == [0; 3]) {
        return colour;
    }
    let mut opaque = Color32::from_rgb(r, g, b);
    if opaque == ACCENT {
        opaque = colour32(rgb(theme.accent));
    }
    if theme.light {
        opaque = colour32(mirrored(of(opaque)));
    }
    Color32::from_rgba_unmultiplied(opaque.r(), opaque.g(), opaque.b(), alpha)
}

/// Gives everything that was painted but pictures the theme's colours.
pub(crate) fn recolour(theme: &Theme, painted: &mut [ClippedPrimitive]) {
    if !theme.light && interface(theme, ACCENT) == ACCENT {
        return;
    }
    // Neighbouring corners have one colour.
    let mut last = (Color32::TRANSPARENT, Color32::TRANSPARENT);
    for clipped in painted {
        let Primitive::Mesh(mesh) = &mut clipped.primitive else {
            continue;
        };
        // Type is egui's own texture; what has another is a picture.
        if mesh.texture_id != egui::TextureId::default() {
            continue;
        }
        for vertex in &mut mesh.vertices {
            if vertex.color != last.0 {
                last = (vertex.color, interface(theme, vertex.color));
            }
            vertex.color = last.1;
        }
    }
}

/// The same colour from 0 to 1, if it is opaque.
pub(crate) fn of(colour: Color32) -> [f32; 4] {
    rgb(u32::from_be_bytes([0, colour.r(), colour.g(), colour.b()]))
}

/// An opaque colour of the interface.
pub(crate) fn colour32([r, g, b, _]: [f32; 4]) -> Color32 {
    let [r, g, b] = [r, g, b].map(|c| (c * 255.0).round() as u8);
    Color32::from_rgb(r, g, b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use screen::theme::{COUNT, contrast, theme};

    #[test]
    fn light_interfaces_have_the_contrasts_of_the_dark_one() {
        let colours = [
            0x121418, 0x1B1E24, 0x2C3139, 0xA9B1BD, 0xF4F6F8, 0xFFC23D, 0x7BE3B4, 0xC63B2B, 0,
            0xFFFFFF, 0x7C8490, 0x3F8CD9,
        ];
        // As they come out, in whole steps of 8 bits.
        let light = |hex: u32| of(colour32(mirrored(rgb(hex))));
        for a in colours {
            for b in colours {
                let dark = contrast(rgb(a), rgb(b));
                let light = contrast(light(a), light(b));
                let apart = (dark / light).ln().abs();
                assert!(apart < 0.06, "{a:06X} and {b:06X}: {dark} and {light}");
            }
        }
    }

    #[test]
    fn pictures_shadows_and_the_first_theme_stay_as_they_are() {
        let paper = theme(4);
        let shadow = Color32::from_black_alpha(90);
        assert_eq!(interface(&paper, shadow), shadow);
        assert_eq!(
            interface(&paper, Color32::TRANSPARENT),
            Color32::TRANSPARENT
        );
        for colour in [ACCENT, Color32::WHITE, Color32::from_rgb(1, 2, 3)] {
            assert_eq!(interface(&theme(0), colour), colour);
        }
        let triangle = |texture_id| {
            let mut mesh = egui::Mesh::with_texture(texture_id);
            mesh.add_rect_with_uv(egui::Rect::EVERYTHING, egui::Rect::ZERO, Color32::WHITE);
            ClippedPrimitive {
                clip_rect: egui::Rect::EVERYTHING,
                primitive: Primitive::Mesh(mesh),
            }
        };
        let mut painted = [egui::TextureId::default(), egui::TextureId::Managed(7)].map(triangle);
        recolour(&paper, &mut painted);
        let colours = painted.map(|clipped| match clipped.primitive {
            Primitive::Mesh(mesh) => mesh.vertices[0].color,
            Primitive::Callback(_) => unreachable!(),
        });
        assert_eq!(colours, [Color32::BLACK, Color32::WHITE]);
    }

    #[test]
    fn every_accent_can_be_read() {
        for number in 0..COUNT {
            let theme = theme(number);
            let accent = of(interface(&theme, ACCENT));
            for (what, other) in [("ground", 0x2A2F38), ("text on it", 0x1C1402)] {
                let other = of(interface(&theme, colour32(rgb(other))));
                let apart = contrast(accent, other);
                assert!(apart > 4.5, "{}: {what}, {apart}", theme.name);
            }
        }
    }
}
