//! Where panels and HUD stand in the window. Pure arithmetic: the same window gives the same
//! places, whatever the figures are. Places are whole pixels, so that cells are; what is painted
//! beside them has points of egui, which [`WindowLayout::points`] gives.

mod tiling;

use egui::*;

use crate::view::hud::STRIP;
use crate::view::timeline::layout::{self as timeline, TimelineLayout};
use crate::view::toolbar;
use life::Size;
use tiling::Panels;
pub(crate) use tiling::Tiling;
use ui::{InterfaceScale, SidePanel};

/// A rectangle in whole pixels.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
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

    /// Takes so much off the top.
    fn take_top(&mut self, height: u32) -> PixelRect {
        let height = height.min(self.height);
        let taken = PixelRect { height, ..*self };
        (self.y, self.height) = (self.y + height, self.height - height);
        taken
    }

    fn take_bottom(&mut self, height: u32) -> PixelRect {
        let above = self.take_top(self.height.saturating_sub(height));
        std::mem::replace(self, above)
    }

    fn take_left(&mut self, width: u32) -> PixelRect {
        let width = width.min(self.width);
        let taken = PixelRect { width, ..*self };
        (self.x, self.width) = (self.x + width, self.width - width);
        taken
    }

    fn take_right(&mut self, width: u32) -> PixelRect {
        let left = self.take_left(self.width.saturating_sub(width));
        std::mem::replace(self, left)
    }
}

/// Where the HUD is docked; it never covers a panel.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Dock {
    /// The window is too small for one.
    Hidden,
    /// Beside the panels, to the right.
    Side(PixelRect),
    /// Below the panels; in a presentation with a lecture's essentials alone.
    Bar(PixelRect),
}

impl Dock {
    /// Its rectangle; `None` if hidden.
    pub(crate) fn rect(self) -> Option<PixelRect> {
        match self {
            Dock::Hidden => None,
            Dock::Side(rect) | Dock::Bar(rect) => Some(rect),
        }
    }
}

/// The whole window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct WindowLayout {
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
    /// A lesson's page, in place of everything.
    pub lesson: Option<PixelRect>,
    /// What stands over the panels of A and of B.
    pub comparison: Option<ComparisonPlaces>,
    /// What is left to the panels, and to what stands over A's and B's.
    pub area: PixelRect,
    /// The panels.
    pub tiling: Tiling,
    /// It grows with the window, for the last row of a lecture hall.
    pub pixels_per_point: f32,
}

impl WindowLayout {
    /// What stands on the interface's background.
    pub(crate) fn docked(&self) -> impl Iterator<Item = PixelRect> {
        let side = self.side.map(|(_, rect)| rect);
        let above = [self.toolbar, self.lecture, self.lesson];
        let all = [self.dock.rect(), self.timeline, side].into_iter();
        all.chain(above).flatten()
    }

    /// Where something stands, in points.
    pub(crate) fn points(&self, rect: PixelRect) -> Rect {
        let [x, y, width, height] = [rect.x, rect.y, rect.width, rect.height]
            .map(|side| side as f32 / self.pixels_per_point);
        Rect::from_min_size(pos2(x, y), vec2(width, height))
    }

    /// Where everything stands in the timeline, if there is room for one.
    pub(crate) fn timeline_layout(&self) -> Option<TimelineLayout> {
        let all = self.points(self.timeline?);
        Some(TimelineLayout::of(all, self.is_short, self.sm_count))
    }

    /// A pixel, in points.
    pub(crate) fn point(&self, [x, y]: [f64; 2]) -> Pos2 {
        pos2(x as f32, y as f32) / self.pixels_per_point
    }
}

/// What a window holds at least in width and height, in points, however far the interface is zoomed.
const MIN_POINTS: [f32; 2] = [640.0, 400.0];

/// How much larger everything is in a presentation, for the last row.
pub(crate) const PRESENTATION: f32 = 1.6;

/// The largest part of the height above the panels that the step of a lecture takes.
const MAX_LECTURE: f32 = 0.3;

/// A side panel's width beside the panels, in points.
const SIDE_WIDTH: f32 = 470.0;
/// The width beside it in which panels and timeline are well seen.
const GOOD_WIDTH_BESIDE: f32 = 390.0;
/// The editor's, with room for 50 columns, beside panels and timeline: a race is seen there.
const EDITOR_WIDTH: f32 = 510.0;
/// Its least width, which leaves them theirs.
const MIN_EDITOR_WIDTH: f32 = 420.0;
/// The least width of a side panel whose edge is moved.
const MIN_SIDE_WIDTH: f32 = 320.0;
/// The least width of panels alone beside it, as in a presentation in a small window.
const MIN_WIDTH_BESIDE: f32 = 160.0;
/// The least height of a side panel, in points: the lab's switches and some lines of code. The
/// ladder takes less, below the step of a lecture in a presentation.
const MIN_SIDE_HEIGHT: f32 = 365.0;
const MIN_LADDER_HEIGHT: f32 = 280.0;
/// The least width of a side panel below the panels.
const MIN_WIDTH_BELOW: f32 = 400.0;
/// The greatest height of a side panel below the panels.
const MAX_HEIGHT_BELOW: f32 = 500.0;

/// The least height of an area that has a toolbar, in points.
const MIN_HEIGHT_WITH_TOOLBAR: f32 = 640.0;

/// The HUD's width beside the panels, and its height below them.
const HUD_WIDTH: f32 = 268.0;
const HUD_HEIGHT: f32 = 290.0;

/// What a window should contain besides panels and HUD, if it fits.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct LayoutRequest {
    /// A timeline with this many lanes.
    pub lanes: Option<usize>,
    /// Whether it is a presentation.
    pub is_presentation: bool,
    /// This many SMs (or CPU workers) beneath them.
    pub sm_count: Option<usize>,
    /// What is shown beside the panels.
    pub side: Option<SidePanel>,
    /// How wide the pane beside the panels and how high the one below them is to be, in points.
    pub panes: [Option<f32>; 2],
    /// The step of a lecture, this high, below the toolbar if there is one.
    pub lecture: Option<f32>,
    /// A lesson's page, instead of everything.
    pub lesson: bool,
    /// How large type is.
    pub zoom: InterfaceScale,
    /// Panels per side while A and B are compared.
    pub comparison: Option<usize>,
    /// Pixels per cell that are wanted; `None` where whole lattices are to be seen.
    pub cell_pixels: Option<f64>,
}

/// Lays out a window of `pixels` on a monitor of this scale, with `panels` panels of lattices of
/// this size, and with what else is requested as far as there is room: one thing after another takes an
/// edge of what is left.
pub(crate) fn lay_out(
    pixels: [u32; 2],
    scale: f32,
    panels: usize,
    size: Size,
    request: &LayoutRequest,
) -> WindowLayout {
    let is_presentation = request.is_presentation;
    let pixels_per_point = pixels_per_point(pixels, scale, request.zoom, is_presentation);
    let px = |points: f32| in_pixels(points, pixels_per_point);
    let points =
        |rest: PixelRect| [rest.width, rest.height].map(|side| side as f32 / pixels_per_point);
    let [width, height] = pixels;
    let mut rest = PixelRect {
        x: 0,
        y: 0,
        width,
        height,
    };
    let of = |count: usize| Panels::new(count, size, request.cell_pixels, pixels_per_point);
    let mut layout = WindowLayout {
        dock: Dock::Hidden,
        toolbar: None,
        lecture: None,
        timeline: None,
        is_short: false,
        sm_count: None,
        side: None,
        lesson: None,
        comparison: None,
        area: rest,
        // No panel has a place, and each would have all of it.
        tiling: Tiling {
            count: 0,
            ..of(panels).tile(rest)
        },
        pixels_per_point,
    };
    if request.lesson {
        layout.lesson = Some(rest);
        return layout;
    }
    layout.dock = dock(&mut rest, scale, pixels_per_point, is_presentation);
    let [room_width, room_height] = points(rest);
    let has_room = room_width >= toolbar::MIN_WIDTH && room_height >= MIN_HEIGHT_WITH_TOOLBAR;
    if !is_presentation && has_room {
        layout.toolbar = Some(rest.take_top(px(toolbar::HEIGHT)));
    }
    let most = MAX_LECTURE * room_height;
    layout.lecture = request
        .lecture
        .map(|height| rest.take_top(px(height.min(most))));
    let room = points(rest);
    layout.is_short = timeline::is_short(room[1]);
    // As a user has moved its edge, as far as panels have room and it is of use; else as usual.
    let sized = |axis: usize, usual: f32, least: f32| {
        let most = room[axis] - MIN_WIDTH_BESIDE;
        request.panes[axis].map_or(usual, |it| it.min(most).max(least.min(usual)))
    };
    if let Some(panel) = request.side {
        let place = side(panel, room).map(|place| match place {
            SidePlace::Beside(width) => {
                let width = sized(0, width, MIN_SIDE_WIDTH);
                rest.take_left((width * pixels_per_point).floor() as u32)
            }
            SidePlace::Below(height) => rest.take_bottom(px(sized(1, height, MIN_LADDER_HEIGHT))),
        });
        layout.side = place.map(|place| (panel, place));
    }
    // Below the panels, a side panel takes the timeline's place.
    let is_beside = layout.side.is_none_or(|(_, place)| place.x < rest.x);
    if let Some(lanes) = request
        .lanes
        .filter(|_| is_beside && room[0] >= timeline::MIN_WIDTH)
    {
        let sm_count = request.sm_count.filter(|_| !layout.is_short);
        let room = [points(rest)[0], room[1]];
        let compared = request.comparison.map(|each| 2 * each);
        let presented = is_presentation.then_some(compared.unwrap_or(lanes));
        if let Some(height) = timeline::height(room, lanes, presented, sm_count) {
            let height = sized(1, height, timeline::MIN_HEIGHT);
            layout.timeline = Some(rest.take_bottom(px(height)));
            layout.sm_count = sm_count;
        }
    }
    layout.area = rest;
    let each = request
        .comparison
        .filter(|&each| each > 0 && 2 * each <= panels);
    (layout.tiling, layout.comparison) = match each {
        None if rest.height == 0 => (layout.tiling, None),
        None => (of(panels).tile(rest), None),
        Some(each) => {
            let (tiling, places) = tile_comparison(rest, of(each), pixels_per_point);
            (tiling, Some(places))
        }
    };
    layout
}

/// The HUD's place, which it takes: beside the panels or below them, whichever shape the window has room
/// for. A presentation's strip is there in every window that has room for a panel above it.
fn dock(rest: &mut PixelRect, scale: f32, pixels_per_point: f32, is_presentation: bool) -> Dock {
    let (w, h) = (rest.width as f32, rest.height as f32);
    if is_presentation {
        let strip = in_pixels(STRIP, pixels_per_point).min(rest.height / 3);
        Dock::Bar(rest.take_bottom(strip))
    } else if w >= 1.05 * h && w >= 380.0 * scale && h >= 200.0 * scale {
        let side = (HUD_WIDTH * pixels_per_point).min(0.42 * w);
        Dock::Side(rest.take_right(side.round() as u32))
    } else if w >= 240.0 * scale && h >= 300.0 * scale {
        let bar = (0.3 * h).min(HUD_HEIGHT * pixels_per_point);
        Dock::Bar(rest.take_bottom(bar.round() as u32))
    } else {
        Dock::Hidden
    }
}

/// Where a side panel stands, in points.
enum SidePlace {
    /// To the left of the panels and of the timeline below them, so wide.
    Beside(f32),
    /// Below them, so high.
    Below(f32),
}

/// Where a side panel stands in an area in points, if there is room for one.
fn side(panel: SidePanel, [width, height]: [f32; 2]) -> Option<SidePlace> {
    use SidePlace::*;
    let min_height = match panel {
        SidePanel::Ladder => MIN_LADDER_HEIGHT,
        _ => MIN_SIDE_HEIGHT,
    };
    let below = (0.6 * height).min(MAX_HEIGHT_BELOW);
    if height < min_height {
        None
    } else if panel == SidePanel::Editor && width >= EDITOR_WIDTH + timeline::MIN_AREA[0] {
        let room = width - GOOD_WIDTH_BESIDE;
        Some(Beside(room.clamp(MIN_EDITOR_WIDTH, EDITOR_WIDTH)))
    } else if width >= SIDE_WIDTH + GOOD_WIDTH_BESIDE {
        Some(Beside(SIDE_WIDTH))
    } else if width >= MIN_WIDTH_BELOW && below >= min_height {
        Some(Below(below))
    } else if width >= SIDE_WIDTH + MIN_WIDTH_BESIDE {
        Some(Beside(SIDE_WIDTH))
    } else {
        None
    }
}

/// Where the panels of A and of B are named; none of it lies over a panel.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct ComparisonPlaces {
    /// Over both: how they compare.
    pub band: PixelRect,
    /// Over A's panels, and over B's.
    pub headers: [PixelRect; 2],
}

/// Heights in points.
const BAND: f32 = 38.0;
const HEADER: f32 = 50.0;
/// Between the panels of A and those of B.
const APART: f32 = 16.0;

/// Tiles an area with two groups of these panels, side by side in a wide one, else one above the other.
fn tile_comparison(
    area: PixelRect,
    panels: Panels,
    pixels_per_point: f32,
) -> (Tiling, ComparisonPlaces) {
    let pixels = |points| in_pixels(points, pixels_per_point).min(area.height / 6);
    let (header, apart) = (pixels(HEADER), pixels(APART));
    let mut below = area;
    let band = below.take_top(pixels(BAND));
    let mut first = below;
    let away = if below.width > below.height {
        first.width = below.width.saturating_sub(apart) / 2;
        [first.width + apart, 0]
    } else {
        first.height = below.height.saturating_sub(apart) / 2;
        [0, first.height + apart]
    };
    let header_a = first.take_top(header);
    let tiling = Tiling {
        count: 2 * panels.count,
        second: Some((panels.count, away)),
        ..panels.tile(first)
    };
    let header_b = PixelRect {
        x: header_a.x + away[0],
        y: header_a.y + away[1],
        ..header_a
    };
    let places = ComparisonPlaces {
        band,
        headers: [header_a, header_b],
    };
    (tiling, places)
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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::view::lecture;
    use ui::fixtures::{distance, lecture_screen};
    use ui::theme::Palette;

    /// Windows of lectures, and others.
    const LECTURES: [[u32; 2]; 5] = [
        [1024, 768],
        [1280, 720],
        [1280, 800],
        [1920, 1080],
        [3840, 2160],
    ];
    const OTHERS: [[u32; 2]; 6] = [
        [800, 500],
        [600, 1000],
        [1000, 1000],
        [400, 250],
        [120, 90],
        [2560, 700],
    ];

    fn size(width: u64, height: u64) -> Size {
        Size::new(width, height).unwrap()
    }

    fn beside(side: Option<SidePanel>, lanes: usize) -> LayoutRequest {
        LayoutRequest {
            lanes: Some(lanes),
            side,
            ..Default::default()
        }
    }

    #[test]
    fn whole_lattices_are_as_large_as_any_rows_and_columns_make_them() {
        for window in LECTURES.into_iter().chain(OTHERS) {
            for count in [1, 2, 3, 4, 7, 16, 17, 64, 200] {
                for (w, h) in [(512, 512), (1000, 300), (300, 1000), (33, 1), (1, 4096)] {
                    let layout = lay_out(window, 1.0, count, size(w, h), &beside(None, count));
                    let area = [layout.area.width, layout.area.height].map(f64::from);
                    let gap = f64::from(layout.tiling.gap);
                    let aspect = (w as f64 / h as f64).clamp(1.0 / 16.0, 16.0);
                    let width = |columns: usize| {
                        let rows = count.div_ceil(columns) as f64;
                        let w = (area[0] - gap * (columns as f64 + 1.0)) / columns as f64;
                        let h = (area[1] - gap * (rows + 1.0)) / rows;
                        w.min(h * aspect)
                    };
                    let best = (1..=count).map(width).fold(0.0, f64::max);
                    let width = f64::from(layout.tiling.panel[0]);
                    // Within a pixel either way; on long lattices a pixel of height is many of width. Panels
                    // that are almost as large may leave fewer places empty.
                    assert!(
                        width / 0.93f64.sqrt() + 1.0 + aspect >= best,
                        "{window:?} {count} of {w}x{h}: {width} < {best}"
                    );
                    if layout.tiling.panel.iter().all(|&side| side > 1) {
                        let rect = layout.tiling.rect(count - 1);
                        let corner = [rect.x, rect.y].map(f64::from);
                        assert_eq!(layout.tiling.place_at(corner), Some(count - 1));
                    }
                }
            }
        }
    }

    /// What has room in which windows, of what is wanted: panels, a side panel and a timeline with its lanes, of
    /// one round and of two.
    #[test]
    fn windows_have_room_for_what_is_stored() {
        let of = |side| beside(side, 16);
        let presented = |side, lecture| LayoutRequest {
            is_presentation: true,
            lecture,
            ..of(side)
        };
        let map = LayoutRequest {
            sm_count: Some(132),
            ..of(Some(SidePanel::Lab))
        };
        let step = lecture::height(&lecture_screen());
        let mut said = String::new();
        for (window, scale) in LECTURES
            .into_iter()
            .chain(OTHERS)
            .map(|it| (it, 1.0))
            .chain([([1280, 800], 2.0)])
        {
            for (name, request) in [
                ("timeline", of(None)),
                ("lab", of(Some(SidePanel::Lab))),
                ("map", map),
                ("presentation", presented(None, None)),
                ("lecture", presented(None, Some(step))),
                ("ladder presented", presented(Some(SidePanel::Ladder), None)),
                ("race", presented(Some(SidePanel::Editor), None)),
            ] {
                let it = lay_out(window, scale, 16, size(512, 512), &request);
                let places = it.timeline_layout();
                let lanes = places.map(|it| {
                    let rounds = [&[16][..], &[64, 1], &[1, 64]].map(|lanes| it.plot.rounds(lanes));
                    let rounds = rounds.concat().into_iter();
                    Vec::from_iter(rounds.map(|[_, lanes]| lanes.height().round()))
                });
                said += &format!(
                    "{window:?} at {scale}, {name}: panels {:?}, side {:?}, lanes {lanes:?}, map {:?}\n",
                    it.tiling.panel, it.side, it.sm_count
                );
            }
        }
        test_support::compare_with_stored("layouts.txt", &said);
    }

    #[test]
    fn panels_that_show_a_part_fill_their_area_and_have_colours_apart() {
        let mut seen = HashSet::new();
        for window in LECTURES {
            for count in 1..=64 {
                for lanes in [None, Some(count)] {
                    let request = LayoutRequest {
                        cell_pixels: Some(4.0),
                        lanes,
                        ..LayoutRequest::default()
                    };
                    let layout = lay_out(window, 1.0, count, size(1024, 1024), &request);
                    seen.insert((count, layout.tiling.columns));
                    let pixels = |[a, b]: [u32; 2]| f64::from(a) * f64::from(b);
                    let area = pixels([layout.area.width, layout.area.height]);
                    let filled = count as f64 * pixels(layout.tiling.panel) / area;
                    assert!(filled >= 0.85, "{count} in {window:?}: {filled:.3}");
                }
            }
        }
        for (count, columns) in seen {
            for place in 0..count {
                let beside = Some(place + 1).filter(|it| it % columns != 0);
                for other in beside
                    .into_iter()
                    .chain([place + columns])
                    .filter(|it| *it < count)
                {
                    let [a, b] = [place, other].map(|number| Palette::DARK.instance(number));
                    assert!(distance(a, b) >= 0.1, "{place} and {other} of {count}");
                }
            }
        }
    }

    /// However closely one looks, no cell is there twice, and nothing but cells; of a very long lattice, something.
    #[test]
    fn a_panel_is_no_larger_than_the_torus_it_shows_and_no_smaller_than_all_of_it() {
        for (width, height) in [(100, 80), (16_384, 64), (64, 16_384)] {
            let size = size(width, height);
            let count = if width == 100 { 4 } else { 1 };
            let panel = |cell_pixels| {
                let request = LayoutRequest {
                    cell_pixels,
                    ..Default::default()
                };
                lay_out([1280, 800], 1.0, count, size, &request)
                    .tiling
                    .panel
            };
            let whole = panel(None);
            for cell_pixels in [0.0763, 0.5, 2.0, 13.0, 40.0] {
                let part = panel(Some(cell_pixels));
                let shown = ui::Camera::opening(cell_pixels).target_transform(size, part);
                for (axis, side) in [width, height].into_iter().enumerate() {
                    let torus = side as f64 * shown.scale + 1.0;
                    assert!(width != 100 || f64::from(part[axis]) <= torus, "{part:?}");
                    let is_seen = part[axis] >= whole[axis] || cell_pixels > 2.0;
                    assert!(width == 100 || is_seen, "{part:?} {whole:?}");
                }
            }
        }
    }
}
