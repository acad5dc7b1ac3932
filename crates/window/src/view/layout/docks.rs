//! Where the HUD, the side panel and the lesson stand around the panels.

use crate::view::hud::STRIP;
use crate::view::layout::{Dock, PixelRect, in_pixels};
use crate::view::{timeline, toolbar};
use ui::SidePanel;

/// Where a side panel stands, in pixels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    /// To the left of the panels and of the timeline below them, so wide.
    Beside(u32),
    /// Below them, so high.
    Below(u32),
}

/// A side panel's width beside the panels, in points.
const SIDE_WIDTH: f32 = 470.0;
/// The width beside it in which panels and timeline are well seen.
const GOOD_WIDTH_BESIDE: f32 = 390.0;
/// The least width of the editor beside panels and timeline: a race is seen in the timeline.
const MIN_EDITOR_WIDTH: f32 = 320.0;
/// The least width of panels alone beside it, as in a presentation in a small window.
const MIN_WIDTH_BESIDE: f32 = 160.0;
/// The least height of a side panel, in points: the lab's switches and some lines of code. The
/// ladder takes less, below the step of a lecture in a presentation.
const MIN_SIDE_HEIGHT: f32 = 365.0;
const MIN_LADDER_HEIGHT: f32 = 340.0;
/// The least width of a side panel below the panels.
const MIN_WIDTH_BELOW: f32 = 400.0;
/// The greatest height of a side panel below the panels.
const MAX_HEIGHT_BELOW: f32 = 500.0;

/// The least height of an area that has a toolbar, in points.
const MIN_HEIGHT_WITH_TOOLBAR: f32 = 640.0;

/// The height of a toolbar above an area in points, if there is room for one.
pub(super) fn toolbar([width, height]: [f32; 2], pixels_per_point: f32) -> Option<u32> {
    let has_room = width >= toolbar::MIN_WIDTH && height >= MIN_HEIGHT_WITH_TOOLBAR;
    has_room.then(|| in_pixels(toolbar::HEIGHT, pixels_per_point))
}

/// Where a side panel stands in an area in points, if there is room for one.
pub(super) fn side(
    panel: SidePanel,
    [width, height]: [f32; 2],
    pixels_per_point: f32,
) -> Option<Side> {
    let min_height = match panel {
        SidePanel::Ladder => MIN_LADDER_HEIGHT,
        SidePanel::Lab | SidePanel::Causes | SidePanel::Population | SidePanel::Editor => {
            MIN_SIDE_HEIGHT
        }
    };
    let beside = |least: f32| {
        let has_room = width >= SIDE_WIDTH + least && height >= min_height;
        has_room.then(|| Side::Beside(in_pixels(SIDE_WIDTH, pixels_per_point)))
    };
    let below = || {
        let below = (0.6 * height).min(MAX_HEIGHT_BELOW);
        let has_room = width >= MIN_WIDTH_BELOW && below >= min_height;
        has_room.then(|| Side::Below(in_pixels(below, pixels_per_point)))
    };
    let editor = || {
        let room = width - timeline::layout::MIN_AREA[0];
        let has_room = panel == SidePanel::Editor && room >= MIN_EDITOR_WIDTH;
        let width = (room.min(SIDE_WIDTH) * pixels_per_point).floor() as u32;
        (has_room && height >= min_height).then_some(Side::Beside(width))
    };
    editor()
        .or_else(|| beside(GOOD_WIDTH_BESIDE))
        .or_else(below)
        .or_else(|| beside(MIN_WIDTH_BESIDE))
}

/// The right half of a wide window, the lower half of a high one.
pub(super) fn lesson([width, height]: [u32; 2], is_presentation: bool) -> PixelRect {
    // Its type fills it: in a presentation it is larger for that.
    let beside = |side: u32| {
        if is_presentation { side / 3 } else { side / 2 }
    };
    let (x, y) = if width >= height {
        (beside(width), 0)
    } else {
        (0, beside(height))
    };
    PixelRect {
        x,
        y,
        width: width - x,
        height: height - y,
    }
}

/// The window's size without the dock at its right or lower edge.
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
pub(super) fn strip([width, height]: [u32; 2], pixels_per_point: f32) -> Dock {
    let strip = in_pixels(STRIP, pixels_per_point).min(height / 4);
    Dock::Strip(PixelRect {
        x: 0,
        y: height - strip,
        width,
        height: strip,
    })
}

/// Side or bar, whichever shape the window has room for.
pub(super) fn hud([width, height]: [u32; 2], scale: f32, pixels_per_point: f32) -> Dock {
    let (w, h) = (width as f32, height as f32);
    let side = (268.0 * pixels_per_point).min(0.42 * w);
    if w >= 1.05 * h && w >= 380.0 * scale && h >= 200.0 * scale {
        let side = side.round() as u32;
        Dock::Side(PixelRect {
            x: width - side,
            y: 0,
            width: side,
            height,
        })
    } else if w >= 240.0 * scale && h >= 300.0 * scale {
        let bar = (0.3 * h).min(228.0 * pixels_per_point).round() as u32;
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
