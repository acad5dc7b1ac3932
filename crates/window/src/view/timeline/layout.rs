//! Where everything stands in the timeline's rectangle, and lanes as rows, however many there are. Pure
//! arithmetic, in points.

use std::ops::Range;

use egui::*;

const PAD: f32 = 14.0;
const TOP: f32 = 7.0;
const TITLE: f32 = 26.0;
const LEGEND: f32 = 20.0;
const FINDING: f32 = 36.0;
const AXIS: f32 = 20.0;
const FOOT: f32 = 17.0;
const BOTTOM: f32 = 6.0;
/// The room of the rows' names.
pub(super) const GUTTER: f32 = 108.0;
/// The row of the host, and what stands free below it.
const HOST: f32 = 18.0;
const APART: f32 = 6.0;
const LANE: f32 = 14.0;
const MIN_LANES: f32 = 56.0;
/// The line over the map of the multiprocessors.
const MAP_HEAD: f32 = 25.0;
/// A multiprocessor's row is as high as it can be up to here.
const MAP_ROW: f32 = 12.0;
/// What a map of many multiprocessors asks for.
const MAP: f32 = 270.0;
/// The part of lanes and map together that the map may take.
const MAX_MAP_SHARE: f32 = 0.62;
/// The part of the panels' height that it may take, without the map, where lanes would be thin, and with it.
const MAX_SHARE: f32 = 0.47;
const MAX_FOR_LANES: f32 = 0.62;
const MAX_WITH_MAP: f32 = 0.64;
/// A lane in a presentation, which has room for both rounds of a change, of up to so many lanes each: where the
/// second comes, panels stay as they are. The least height of panels beside them: of one row, or of two where 16 in
/// a row would be too small.
const PRESENTED_LANE: f32 = 5.1;
const MAX_PRESENTED: usize = 16;
const MIN_PANELS: f32 = 48.0;
const NARROW: f32 = 730.0;
/// The least area, for panels and timeline together, that has one; and the least width with what stands beside it.
pub(crate) const MIN_AREA: [f32; 2] = [280.0, 280.0];
pub(crate) const MIN_WIDTH: f32 = 470.0;
/// Below this height of panels and timeline together it has no map and no finding: a step of a lecture
/// stands above the panels of a presentation then, and says what was measured.
const SHORT_AREA: f32 = 400.0;
/// What is not lanes, in height.
const AROUND: f32 = TOP + TITLE + LEGEND + FINDING + HOST + APART + AXIS + FOOT + BOTTOM;

/// The least height that its edge is moved to.
pub(crate) const MIN_HEIGHT: f32 = AROUND + MIN_LANES;

/// Whether an area for panels and timeline together, of this height, has no room for the
/// timeline's map and finding.
pub(crate) fn is_short(height: f32) -> bool {
    height < SHORT_AREA
}

/// The height of a timeline of so many lanes, and of a map of so many multiprocessors
/// beneath them, in an area of this size; `None` where the area is too small. Those of a presentation may take
/// all of it but a row of panels.
pub(crate) fn height(
    area: [f32; 2],
    lanes: usize,
    presented: Option<usize>,
    sm_count: Option<usize>,
) -> Option<f32> {
    let [width, height] = area;
    if width < MIN_AREA[0] || height < MIN_AREA[1] {
        return None;
    }
    let around = AROUND - if is_short(height) { FINDING } else { 0.0 };
    if let (Some(lanes), None) = (presented, sm_count) {
        let lanes = lanes.min(MAX_PRESENTED) as f32;
        let wanted = around + HOST + APART + lanes * PRESENTED_LANE;
        let rows = if width < NARROW { 2.0 } else { 1.0 };
        return Some(wanted.min(height - rows * MIN_PANELS));
    }
    let lanes = (lanes.max(1) as f32 * LANE).max(MIN_LANES);
    let visible = (around + lanes.min(128.0)) / height;
    let (map, most) = match sm_count {
        None => (0.0, visible.clamp(MAX_SHARE, MAX_FOR_LANES)),
        Some(sm_count) => (
            MAP_HEAD + (sm_count as f32 * MAP_ROW).min(MAP),
            MAX_WITH_MAP,
        ),
    };
    Some((around + lanes + map).min(most * height))
}

/// See the module.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct TimelineLayout {
    pub all: Rect,
    /// Which round is shown, and how much of it overlaps.
    pub title: Rect,
    pub legend: Rect,
    /// What the last change did, or how A and B compare.
    pub finding: Rect,
    /// The rows of bars, and the axis below them.
    pub plot: Plot,
    /// The line over the map of the multiprocessors, and their rows, if they are shown.
    pub map: Option<(Rect, Rect)>,
    pub foot: Rect,
}

impl TimelineLayout {
    /// In this rectangle.
    pub(crate) fn of(all: Rect, is_short: bool, sm_count: Option<usize>) -> TimelineLayout {
        let mut inside = Rect::from_x_y_ranges(
            all.left() + PAD..=all.right() - PAD,
            all.top() + TOP..=all.bottom() - BOTTOM,
        );
        let mut take_top = |height: f32| {
            let (taken, rest) = inside.split_top_bottom_at_y(inside.top() + height);
            inside = rest;
            taken
        };
        let (title, legend) = (take_top(TITLE), take_top(LEGEND));
        let finding = take_top(if is_short { 0.0 } else { FINDING });
        let (plot, foot) = inside.split_top_bottom_at_y(inside.bottom() - FOOT);
        let mut plot = Plot::of(plot);
        let map = sm_count.map(|sm_count| {
            let room = plot.rows.height() - HOST - APART - MAP_HEAD;
            let height = (sm_count as f32 * MAP_ROW).min(MAX_MAP_SHARE * room);
            let (above, map) = plot.rows.split_top_bottom_at_y(plot.rows.bottom() - height);
            let (rows, head) = above.split_top_bottom_at_y(above.bottom() - MAP_HEAD);
            plot.rows = rows;
            (head, map)
        });
        TimelineLayout {
            all,
            title,
            legend,
            finding,
            plot,
            map,
            foot,
        }
    }
}

/// Rows of bars, which begin right of their names, and their axis.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Plot {
    pub rows: Rect,
    pub axis: Rect,
}

impl Plot {
    /// In this rectangle.
    pub(super) fn of(all: Rect) -> Plot {
        let plot = all.with_min_x(all.left() + GUTTER);
        let (rows, axis) = plot.split_top_bottom_at_y(plot.bottom() - AXIS);
        Plot { rows, axis }
    }

    /// The places of the host and of the lanes of each round, one above the other.
    pub(crate) fn rounds(&self, lanes: &[usize]) -> Vec<[Rect; 2]> {
        let host = HOST + APART;
        let room = (self.rows.height() - host * lanes.len() as f32).max(2.0);
        let mut heights = vec![room];
        if let [above, below] = lanes {
            // Each has the room of its lanes, and of a host's at least.
            let (room, all) = (room - APART, (above + below).max(1) as f32);
            let least = HOST.min(room / 2.0);
            let above = (room * *above as f32 / all).clamp(least, room - least);
            heights = vec![above, room - above];
        }
        let mut top = self.rows.top();
        let place = |height: f32| {
            let place = |top: f32, height: f32| {
                let size = vec2(self.rows.width(), height);
                Rect::from_min_size(pos2(self.rows.left(), top), size)
            };
            let places = [place(top, HOST), place(top + host, height)];
            top += host + height + APART;
            places
        };
        heights.into_iter().map(place).collect()
    }
}

/// Lanes in rows: a lane per row, or several where there are more lanes than rows.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Rows {
    lanes: usize,
    /// Lanes per row.
    pub folded: usize,
    top: f32,
    /// From a row's top to the next one's.
    pitch: f32,
    gap: f32,
}

impl Rows {
    /// For so many lanes between `top` and `top + height`, each row at least this high.
    pub(crate) fn new(least: f32, lanes: usize, top: f32, height: f32) -> Rows {
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
        let top = self.top + row as f32 * self.pitch;
        (top, top + (self.pitch - self.gap).max(1.0))
    }

    /// The lanes in a row.
    pub(crate) fn lanes_of(self, row: usize) -> Range<usize> {
        let first = row * self.folded;
        first.min(self.lanes)..(first + self.folded).min(self.lanes)
    }

    /// Of so many rows one has room for a name of this height.
    pub(crate) fn named(self, height: f32) -> usize {
        ((height / self.pitch).ceil() as usize).next_power_of_two()
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
                let rows = Rows::new(1.0, lanes, 10.0, height);
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
                        assert!(rows.edges(row - 1).1 <= top + 0.01);
                    }
                }
                assert_eq!(next, lanes);
            }
        }
        assert_eq!(Rows::new(1.0, 256, 0.0, 256.0).folded, 1);
        assert_eq!(Rows::new(1.0, 257, 0.0, 256.0).folded, 2);
    }
}
