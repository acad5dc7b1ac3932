//! What stands around the panels: HUD, lab and lesson.

use crate::hud::STRIP;
use crate::layout::{Dock, PixelRect};

/// How the lab stands, in pixels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Lab {
    /// To the left of the panels, so wide.
    Beside(u32),
    /// Below them, so high.
    Below(u32),
}

/// The lab's width beside the panels, in units of type.
const LAB_WIDTH: f32 = 470.0;
/// What panels need beside it.
const LEAST_BESIDE: f32 = 390.0;
/// The least height of a lab, in units of type: the switches and some lines of code.
pub(super) const LEAST_LAB: f32 = 365.0;
/// The least width of a lab below the panels.
const LEAST_BELOW: f32 = 400.0;
/// The height that is enough for it below the panels.
const LAB_HEIGHT: f32 = 500.0;

/// The lab in an area of so many pixels, if there is room.
pub(super) fn lab(area: [u32; 2], unit: f32) -> Option<Lab> {
    let [width, height] = area.map(|side| side as f32 / unit);
    if width >= LAB_WIDTH + LEAST_BESIDE && height >= LEAST_LAB {
        return Some(Lab::Beside((LAB_WIDTH * unit).round() as u32));
    }
    let below = (0.6 * height).min(LAB_HEIGHT);
    let room = width >= LEAST_BELOW && below >= LEAST_LAB;
    room.then(|| Lab::Below((below * unit).round() as u32))
}

/// The right half of a wide window, the lower half of a high one.
pub(super) fn lesson([width, height]: [u32; 2]) -> PixelRect {
    let (x, y) = if width >= height {
        (width / 2, 0)
    } else {
        (0, height / 2)
    };
    PixelRect {
        x,
        y,
        width: width - x,
        height: height - y,
    }
}

/// What is left of the window beside what stands at its right or lower edge.
pub(super) fn beside([width, height]: [u32; 2], docked: Option<PixelRect>) -> [u32; 2] {
    match docked {
        None => [width, height],
        Some(rect) if rect.y > 0 => [width, rect.y],
        Some(rect) => [rect.x, height],
    }
}

/// A bar over `part` of the window's height, but never lower than `least`.
pub(super) fn bar([width, height]: [u32; 2], part: f32, least: PixelRect) -> PixelRect {
    let bar = ((part * height as f32).round() as u32).max(least.height);
    PixelRect {
        x: 0,
        y: height - bar,
        width,
        height: bar,
    }
}

/// A presentation's strip; it is there in every window that has room for a panel above it.
pub(super) fn strip([width, height]: [u32; 2], unit: f32) -> Dock {
    let strip = ((STRIP * unit).round() as u32).min(height / 4);
    Dock::Strip(PixelRect {
        x: 0,
        y: height - strip,
        width,
        height: strip,
    })
}

/// Side or bar, whichever shape the window has room for.
pub(super) fn hud([width, height]: [u32; 2], scale: f32, unit: f32) -> Dock {
    let (w, h) = (width as f32, height as f32);
    let side = (268.0 * unit).min(0.42 * w);
    if w >= 1.05 * h && w >= 380.0 * scale && h >= 200.0 * scale {
        let side = side.round() as u32;
        Dock::Side(PixelRect {
            x: width - side,
            y: 0,
            width: side,
            height,
        })
    } else if w >= 240.0 * scale && h >= 300.0 * scale {
        let bar = (0.3 * h).min(228.0 * unit).round() as u32;
        Dock::Bar(PixelRect {
            x: 0,
            y: height - bar,
            width,
            height: bar,
        })
    } else {
        Dock::Hidden
    }
}
