//! Where everything stands in the timeline's rectangle, and lanes as rows, however many streams there are.
//! Pure arithmetic, in points.

use std::iter::StepBy;
use std::ops::Range;

use egui::{Rect, pos2, vec2};

use crate::view::layout::WindowLayout;

const PAD: f32 = 14.0;
const TOP: f32 = 7.0;
const TITLE: f32 = 26.0;
const LEGEND: f32 = 20.0;
const HOST: f32 = 18.0;
const APART: f32 = 6.0;
const AXIS: f32 = 20.0;
const FOOT: f32 = 17.0;
const BOTTOM: f32 = 6.0;
const GUTTER: f32 = 76.0;
const LANE: f32 = 14.0;
const MIN_LANES: f32 = 56.0;
const FINDING: f32 = 36.0;
const KINDS_WIDE: f32 = 462.0;
/// From this width on the legend stands beside the figures.
const WIDE: f32 = 1060.0;
/// The line over the map of the multiprocessors.
const MAP_HEAD: f32 = 25.0;
/// A multiprocessor's row is as high as it can be up to here.
const MAP_ROW: f32 = 12.0;
/// What a map of many multiprocessors asks for.
const MAP: f32 = 270.0;
/// The part of lanes and map together that the map may take.
const MAX_MAP_SHARE: f32 = 0.62;
/// The part of the panels' height that it may take, without the map and with it.
const MAX_SHARE: f32 = 0.47;
const MAX_WITH_MAP: f32 = 0.64;
/// The part that it may take where the lanes of so many streams would be thinner than this: in a
/// presentation the last row is to see them.
const MAX_FOR_LANES: f32 = 0.62;
const VISIBLE_LANES: usize = 16;
const VISIBLE_LANE: f32 = 8.0;
/// The least area, for panels and timeline together, that has one.
pub(crate) const MIN_AREA: [f32; 2] = [470.0, 260.0];
/// Below this height of panels and timeline together it may take a larger part, and has no map and no
/// finding: a step of a lecture stands above the panels of a presentation then, and says what was measured.
const SHORT_AREA: f32 = 400.0;
const MAX_OF_SHORT: f32 = 0.68;

/// Whether an area for panels and timeline together, of this height, has no room for the
/// timeline's map and finding.
pub(crate) fn is_short(height: f32) -> bool {
    height < SHORT_AREA
}

/// The height of a timeline of so many lanes, and of a map of so many multiprocessors
/// beneath them, in an area of this size; `None` where the area is too small.
pub(crate) fn height(area: [f32; 2], lanes: usize, sm_count: Option<usize>) -> Option<f32> {
    let [width, height] = area;
    if width < MIN_AREA[0] || height < MIN_AREA[1] {
        return None;
    }
    let (around, most_for_lanes) = if is_short(height) {
        (around(width) - FINDING, MAX_OF_SHORT)
    } else {
        (around(width), MAX_FOR_LANES)
    };
    let visible = around + lanes.min(VISIBLE_LANES) as f32 * VISIBLE_LANE;
    let lanes = (lanes.max(1) as f32 * LANE).max(MIN_LANES);
    let (map, most) = match sm_count {
        None => (0.0, (visible / height).clamp(MAX_SHARE, most_for_lanes)),
        Some(sm_count) => (
            MAP_HEAD + (sm_count as f32 * MAP_ROW).min(MAP),
            MAX_WITH_MAP,
        ),
    };
    Some((around + lanes + map).min(most * height))
}

/// What is not lanes, in height.
fn around(width: f32) -> f32 {
    let legend = if width < WIDE { LEGEND } else { 0.0 };
    TOP + TITLE + legend + FINDING + 4.0 + HOST + APART + AXIS + FOOT + BOTTOM
}

/// See the module.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct TimelineLayout {
    pub(crate) all: Rect,
    /// Live or frozen; it is clicked.
    pub(crate) chip: Rect,
    pub(crate) summary: Rect,
    pub(crate) legend: Rect,
    /// What the last change did, or how A and B compare.
    pub(crate) finding: Rect,
    /// The host's lane.
    pub(crate) host: Rect,
    /// All streams' lanes.
    pub(crate) lanes: Rect,
    /// The multiprocessors' rows, if they are shown, and the line over them.
    pub(crate) map: Option<(Rect, Rect)>,
    pub(crate) axis: Rect,
    pub(crate) foot: Rect,
    /// Where the lanes' names begin.
    pub(crate) names: f32,
}

impl TimelineLayout {
    /// In a window, if it has room for a timeline.
    pub(crate) fn of(window: &WindowLayout) -> Option<TimelineLayout> {
        let all = window.points(window.timeline?);
        let inside = Rect::from_x_y_ranges(
            all.left() + PAD..=all.right() - PAD,
            all.top() + TOP..=all.bottom() - BOTTOM,
        );
        let row = |y: f32, height: f32| {
            let corner = pos2(inside.left(), y);
            Rect::from_min_size(corner, vec2(inside.width(), height))
        };
        let title = row(inside.top(), TITLE);
        let middle = title.left_center() + vec2(54.0, 0.0);
        let chip = Rect::from_center_size(middle, vec2(108.0, 23.0));
        let mut summary = title;
        summary.set_left(chip.right() + 12.0);
        let mut legend = title;
        let mut y = title.bottom();
        if all.width() < WIDE {
            legend = row(y, LEGEND);
            y = legend.bottom();
        } else {
            legend.set_left(inside.right() - KINDS_WIDE);
            summary.set_right(legend.left() - 12.0);
        }
        let left = inside.left() + GUTTER;
        let right = inside.right();
        let plot = |top: f32, bottom: f32| Rect::from_x_y_ranges(left..=right, top..=bottom);
        let finding = row(y, if window.is_short { 0.0 } else { FINDING });
        y = finding.bottom() + 4.0;
        let host = plot(y, y + HOST);
        let foot = row(inside.bottom() - FOOT, FOOT);
        let axis = plot(foot.top() - AXIS, foot.top());
        let mut lanes = plot(y + (HOST + APART), axis.top());
        let map = window.sm_count.map(|sm_count| {
            let room = lanes.height() - MAP_HEAD;
            let wanted = sm_count as f32 * MAP_ROW;
            let map = plot(axis.top() - wanted.min(MAX_MAP_SHARE * room), axis.top());
            let head = row(map.top() - MAP_HEAD, MAP_HEAD);
            lanes.set_bottom(head.top());
            (map, head)
        });
        Some(TimelineLayout {
            all,
            chip,
            summary,
            legend,
            finding,
            host,
            lanes,
            map,
            axis,
            foot,
            names: inside.left(),
        })
    }

    /// Lanes and their axis alone, in this rectangle.
    pub(crate) fn of_lanes(all: Rect) -> TimelineLayout {
        let left = all.left() + GUTTER;
        let plot = |top: f32, bottom: f32| Rect::from_x_y_ranges(left..=all.right(), top..=bottom);
        let axis = plot(all.bottom() - AXIS, all.bottom());
        let host = plot(all.top(), all.top() + HOST);
        TimelineLayout {
            all,
            chip: Rect::NOTHING,
            summary: Rect::NOTHING,
            legend: Rect::NOTHING,
            finding: Rect::NOTHING,
            host,
            lanes: plot(host.bottom() + APART, axis.top()),
            map: None,
            axis,
            foot: Rect::NOTHING,
            names: all.left(),
        }
    }

    /// Places for two rounds one above the other, of so many lanes each, on one axis.
    pub(crate) fn stacked(self, lanes: [usize; 2]) -> [TimelineLayout; 2] {
        let between = HOST + 2.0 * APART;
        let room = (self.lanes.height() - between).max(2.0);
        // The round of fewer lanes has what they need, up to half of it; the other one has the rest.
        let [above, below] = lanes.map(|lanes| lanes as f32 * HOST);
        let above = if below < room / 2.0 {
            above.min(room - below)
        } else {
            above.min(room / 2.0)
        };
        let middle = self.lanes.top() + above;
        let mut upper = self;
        upper.lanes.set_bottom(middle);
        let mut lower = self;
        let top = middle + APART;
        let host = top..=top + HOST;
        lower.host = Rect::from_x_y_ranges(self.host.x_range(), host);
        lower.lanes.set_top(middle + between);
        [upper, lower]
    }

    /// The rows of so many lanes.
    pub(crate) fn rows(&self, lanes: usize) -> Rows {
        Rows::new(lanes, self.lanes.top(), self.lanes.height())
    }
}

/// Lanes in rows: a lane per row, or several where there are more lanes than rows.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Rows {
    lanes: usize,
    /// Lanes per row.
    pub(crate) folded: usize,
    top: f32,
    /// From a row's top to the next one's.
    pitch: f32,
    gap: f32,
}

impl Rows {
    /// For so many lanes between `top` and `top + height`.
    pub(crate) fn new(lanes: usize, top: f32, height: f32) -> Rows {
        Rows::at_least(1.0, lanes, top, height)
    }

    /// The same, with rows of at least this height.
    pub(crate) fn at_least(least: f32, lanes: usize, top: f32, height: f32) -> Rows {
        let lanes = lanes.max(1);
        let most = (height / least).floor().max(1.0) as usize;
        let folded = lanes.div_ceil(most);
        let count = lanes.div_ceil(folded) as f32;
        let pitch = (height / count).min(30.0);
        let gap = match pitch {
            p if p >= 9.0 => 2.0,
            p if p >= 4.0 => 1.0,
            _ => 0.0,
        };
        Rows {
            lanes,
            folded,
            top,
            pitch,
            gap,
        }
    }

    /// How many rows.
    pub(crate) fn count(self) -> usize {
        self.lanes.div_ceil(self.folded)
    }

    /// Top and bottom of a row.
    pub(crate) fn edges(self, row: usize) -> (f32, f32) {
        let top = self.row_top(row);
        (top, (self.row_top(row + 1) - self.gap).max(top + 1.0))
    }

    fn row_top(self, row: usize) -> f32 {
        self.top + row as f32 * self.pitch
    }

    /// The lanes in a row.
    pub(crate) fn lanes_of(self, row: usize) -> Range<usize> {
        let first = row * self.folded;
        first.min(self.lanes)..(first + self.folded).min(self.lanes)
    }

    /// The rows that have room for names of this height: every one, or each second, fourth …
    pub(crate) fn named(self, height: f32) -> StepBy<Range<usize>> {
        let mut every = 1;
        while every as f32 * self.pitch < height {
            every *= 2;
        }
        (0..self.count()).step_by(every)
    }

    /// The row at a height.
    pub(crate) fn row_at(self, y: f32) -> Option<usize> {
        let row = ((y - self.top) / self.pitch).floor();
        (row >= 0.0 && row < self.count() as f32).then_some(row as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lane_is_in_one_row_and_rows_stay_in_their_place() {
        for height in [56.0, 224.0, 600.0] {
            for lanes in [1, 2, 16, 17, 64, 256, 1000, 4096] {
                let rows = Rows::new(lanes, 10.0, height);
                let mut next = 0;
                for row in 0..rows.count() {
                    let lanes = rows.lanes_of(row);
                    assert_eq!(lanes.start, next);
                    next = lanes.end;
                    let (top, bottom) = rows.edges(row);
                    assert!(
                        top >= 10.0 && bottom > top && bottom <= 10.5 + height,
                        "{lanes:?}"
                    );
                    assert_eq!(rows.row_at((top + bottom) / 2.0), Some(row));
                    if row > 0 {
                        assert!(rows.edges(row - 1).1 <= top);
                    }
                }
                assert_eq!(next, lanes);
            }
        }
        assert_eq!(Rows::new(256, 0.0, 256.0).folded, 1);
        assert_eq!(Rows::new(257, 0.0, 256.0).folded, 2);
    }
}
