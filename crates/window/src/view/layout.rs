//! Where panels and HUD stand in the window. Pure arithmetic: the same window gives the same
//! places, whatever the figures are. Places are whole pixels, so that cells are; what is painted
//! beside them has points of egui, which [`WindowLayout::points`] gives.

mod comparison;
mod docks;
#[cfg(test)]
mod tests;
mod tiling;

use egui::{Pos2, Rect, pos2, vec2};

use crate::view::timeline;
pub(crate) use comparison::ComparisonPlaces;
use docks::Side;
use life::Size;
use tiling::Panels;
pub(crate) use tiling::Tiling;
use ui::{InterfaceScale, SidePanel};

/// A rectangle in whole pixels.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PixelRect {
    /// Left edge.
    pub x: u32,
    /// Top edge.
    pub y: u32,
    /// Width.
    pub width: u32,
    /// Height.
    pub height: u32,
}

impl PixelRect {
    /// Whether the point lies in it.
    pub fn contains(self, [x, y]: [f64; 2]) -> bool {
        let inside = |at: f64, from: u32, length: u32| {
            at >= f64::from(from) && at < f64::from(from) + f64::from(length)
        };
        inside(x, self.x, self.width) && inside(y, self.y, self.height)
    }
}

/// Where the HUD is docked; it never covers a panel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dock {
    /// The window is too small for one.
    Hidden,
    /// Beside the panels, to the right.
    Side(PixelRect),
    /// Below the panels.
    Bar(PixelRect),
    /// Below the panels, with a lecture's essentials alone.
    Strip(PixelRect),
}

impl Dock {
    /// Its rectangle; `None` if hidden.
    pub fn rect(self) -> Option<PixelRect> {
        match self {
            Dock::Hidden => None,
            Dock::Side(rect) | Dock::Bar(rect) | Dock::Strip(rect) => Some(rect),
        }
    }
}

/// The whole window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct WindowLayout {
    /// The HUD.
    pub dock: Dock,
    /// The toolbar, above the panels.
    pub toolbar: Option<PixelRect>,
    /// The step of a lecture, between it and the panels.
    pub lecture: Option<PixelRect>,
    /// The timeline, below the panels; it covers neither them nor the HUD.
    pub timeline: Option<PixelRect>,
    /// Whether it has room for no more than its lanes.
    pub is_short: bool,
    /// The number of SMs (or CPU workers) that have a row beneath the timeline's lanes.
    pub sm_count: Option<usize>,
    /// Lab, population graph or ladder: beside the panels and the timeline, or below the panels in
    /// the timeline's place.
    pub side: Option<(SidePanel, PixelRect)>,
    /// The lesson, in the HUD's place.
    pub lesson: Option<PixelRect>,
    /// What stands over the panels of A and of B.
    pub comparison: Option<ComparisonPlaces>,
    /// The panels.
    pub tiling: Tiling,
    /// It grows with the window, for the last row of a lecture hall.
    pub pixels_per_point: f32,
}

impl WindowLayout {
    /// A window that a lesson fills: no panel has a place, and each would have all of it.
    fn of_lesson(
        [width, height]: [u32; 2],
        pixels_per_point: f32,
        panels: usize,
        size: Size,
    ) -> WindowLayout {
        let all = PixelRect {
            x: 0,
            y: 0,
            width,
            height,
        };
        WindowLayout {
            dock: Dock::Hidden,
            toolbar: None,
            lecture: None,
            timeline: None,
            is_short: false,
            sm_count: None,
            side: None,
            lesson: Some(all),
            comparison: None,
            tiling: Tiling {
                count: 0,
                ..Panels::new(panels, size, None, pixels_per_point).tile(all)
            },
            pixels_per_point,
        }
    }

    /// Where something stands, in points.
    pub fn points(&self, rect: PixelRect) -> Rect {
        let [x, y, width, height] = [rect.x, rect.y, rect.width, rect.height]
            .map(|side| side as f32 / self.pixels_per_point);
        Rect::from_min_size(pos2(x, y), vec2(width, height))
    }

    /// A pixel, in points.
    pub fn point(&self, [x, y]: [f64; 2]) -> Pos2 {
        pos2(x as f32, y as f32) / self.pixels_per_point
    }

    /// The place of a side panel, if it is the one shown.
    pub fn side_rect(&self, panel: SidePanel) -> Option<PixelRect> {
        let (shown, rect) = self.side?;
        (shown == panel).then_some(rect)
    }
}

/// What a window holds at least in width and height, in points, however far the interface is zoomed.
const MIN_POINTS: [f32; 2] = [640.0, 400.0];

/// How much larger everything is in a presentation, for the last row.
const PRESENTATION: f32 = 1.6;

/// The largest part of the height above the panels that the step of a lecture takes.
const MAX_LECTURE: f32 = 0.3;

/// Where lessons stand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LessonPlace {
    /// Their list: beside or below the panels.
    Beside,
    /// The page of one: in place of everything.
    Everywhere,
}

/// What a window should contain besides panels and HUD, if it fits.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct LayoutRequest {
    /// A timeline with this many lanes.
    pub lanes: Option<usize>,
    /// This many SMs (or CPU workers) beneath them.
    pub sm_count: Option<usize>,
    /// What is shown beside the panels.
    pub side: Option<SidePanel>,
    /// The toolbar; a presentation has none.
    pub toolbar: bool,
    /// The step of a lecture, this high, below the toolbar if there is one.
    pub lecture: Option<f32>,
    /// A lesson, instead of the HUD or of everything.
    pub lesson: Option<LessonPlace>,
    /// The strip of a presentation, instead of the HUD.
    pub presentation: bool,
    /// How large type is.
    pub zoom: InterfaceScale,
    /// Panels per side while A and B are compared.
    pub comparison: Option<usize>,
    /// Pixels per cell that are wanted; `None` where whole lattices are to be seen.
    pub cell_pixels: Option<f64>,
}

/// Lays out a window of `pixels` on a monitor of this scale, with `panels` panels of lattices of
/// this size, and with what else is requested as far as there is room.
pub(crate) fn lay_out(
    pixels: [u32; 2],
    scale: f32,
    panels: usize,
    size: Size,
    request: &LayoutRequest,
) -> WindowLayout {
    let pixels_per_point = pixels_per_point(pixels, scale, request.zoom, request.presentation);
    if request.lesson == Some(LessonPlace::Everywhere) {
        return WindowLayout::of_lesson(pixels, pixels_per_point, panels, size);
    }
    let lesson = request
        .lesson
        .map(|_| docks::lesson(pixels, request.presentation));
    let mut dock = match lesson {
        None if request.presentation => docks::strip(pixels, pixels_per_point),
        None => docks::hud(pixels, scale, pixels_per_point),
        Some(_) => Dock::Hidden,
    };
    let in_points = |area: [u32; 2]| area.map(|side| side as f32 / pixels_per_point);
    // Everything but the HUD and the lesson, and of that everything below the toolbar.
    let beside = |dock: Dock| docks::beside(pixels, lesson.or(dock.rect()));
    let wants_toolbar = request.toolbar && !request.presentation;
    let toolbar =
        docks::toolbar(in_points(beside(dock)), pixels_per_point).filter(|_| wants_toolbar);
    let lecture = request.lecture.map(|height| {
        in_pixels(
            height.min(MAX_LECTURE * in_points(beside(dock))[1]),
            pixels_per_point,
        )
    });
    // Where what stands below the toolbar and what is below that begins.
    let bar = toolbar.unwrap_or(0);
    let top = bar + lecture.unwrap_or(0);
    let below_toolbar = |dock: Dock| {
        let [width, height] = beside(dock);
        [width, height - top]
    };
    // As high as it is where the figures leave most room, however high they become.
    let side = request
        .side
        .and_then(|panel| docks::side(panel, in_points(below_toolbar(dock)), pixels_per_point));
    let left = match side {
        Some(Side::Beside(width)) => width,
        _ => 0,
    };
    let [room_width, room_height] = in_points(below_toolbar(dock));
    let is_short = timeline::layout::is_short(room_height);
    let sm_count = request.sm_count.filter(|_| !is_short);
    let below = match side {
        Some(Side::Below(height)) => height,
        _ => request.lanes.map_or(0, |lanes| {
            let room = [room_width - left as f32 / pixels_per_point, room_height];
            let height = timeline::layout::height(room, lanes, sm_count);
            height.map_or(0, |height| in_pixels(height, pixels_per_point))
        }),
    };
    let tiling = |dock| {
        let [width, height] = below_toolbar(dock);
        let area = PixelRect {
            x: left,
            y: top,
            width: width - left,
            height: height.saturating_sub(below),
        };
        let of = |count: usize| Panels::new(count, size, request.cell_pixels, pixels_per_point);
        match request
            .comparison
            .filter(|&each| each > 0 && 2 * each <= panels)
        {
            None => (of(panels).tile(area), None),
            Some(each) => {
                let (tiling, places) =
                    comparison::tile_comparison(area, of(each), pixels_per_point);
                (tiling, Some(places))
            }
        }
    };
    let mut tiled = tiling(dock);
    if let Dock::Bar(rect) = dock {
        // Height that the panels cannot use is the figures'.
        let taller =
            [0.5, 0.46, 0.42, 0.38, 0.34].map(|part| Dock::Bar(docks::bar(pixels, part, rect)));
        if let Some(free) = taller
            .into_iter()
            .find(|&bar| tiling(bar).0.panel == tiled.0.panel)
        {
            (dock, tiled) = (free, tiling(free));
        }
    }
    let [width, height] = beside(dock);
    let foot = PixelRect {
        x: left,
        y: height - below,
        width: width - left,
        height: below,
    };
    let side_rect = side.map(|side| match side {
        Side::Below(_) => foot,
        Side::Beside(width) => PixelRect {
            x: 0,
            y: top,
            width,
            height: height - top,
        },
    });
    let is_timeline = below > 0 && !matches!(side, Some(Side::Below(_)));
    let timeline = is_timeline.then_some(foot);
    let row = |(y, height): (u32, u32)| PixelRect {
        x: 0,
        y,
        width,
        height,
    };
    WindowLayout {
        dock,
        toolbar: toolbar.map(|height| row((0, height))),
        lecture: lecture.map(|height| row((bar, height))),
        timeline,
        is_short,
        sm_count: sm_count.filter(|_| is_timeline),
        side: request.side.zip(side_rect),
        lesson,
        comparison: tiled.1,
        tiling: tiled.0,
        pixels_per_point,
    }
}

/// A length in points, in whole pixels.
pub(crate) fn in_pixels(points: f32, pixels_per_point: f32) -> u32 {
    (points * pixels_per_point).round() as u32
}

/// How large a point is in a window of `pixels` on a monitor of this scale: larger in a presentation, and zoomed in as far as a small window's figures still have room for,
/// unless they had none before.
pub(crate) fn pixels_per_point(
    pixels: [u32; 2],
    scale: f32,
    zoom: InterfaceScale,
    is_presentation: bool,
) -> f32 {
    let [width, height] = pixels.map(|side| side as f32);
    let (w, h) = (width / scale, height / scale);
    let usual = (w / 1280.0).min(h / 800.0).clamp(0.8, 3.0) * scale;
    let most = (width / MIN_POINTS[0]).min(height / MIN_POINTS[1]);
    let presented = if is_presentation { PRESENTATION } else { 1.0 };
    (usual * presented * zoom.factor()).min(most.max(usual))
}
