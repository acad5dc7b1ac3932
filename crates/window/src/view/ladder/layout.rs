//! Where everything stands in the ladder's rectangle. Pure arithmetic, in pixels.

use egui::{Rect, pos2, vec2};

const PAD: f32 = 14.0;
const TITLE: f32 = 30.0;
/// What the present kernel does, and how that is measured.
const LEAD: f32 = 44.0;
/// The limit's name.
const LIMIT: f32 = 20.0;
/// The highest row of a rung.
const MAX_ROW: f32 = 56.0;
const TICKS: f32 = 22.0;
const LEGEND: f32 = 22.0;
const SAID: f32 = 36.0;
/// A rung's name, and its rate in figures.
const NAMES: f32 = 104.0;
const RATES: f32 = 62.0;
/// Between the axis and what stands beside it.
const GAP: f32 = 12.0;

/// See the module.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct LadderLayout {
    pub(super) title: Rect,
    pub(super) headline: Rect,
    /// Over the axis, where the limit's name stands.
    pub(super) limit: Rect,
    /// From the first rung to the last.
    pub(super) axis: Rect,
    /// A rung's row each, from edge to edge.
    pub(super) rows: Vec<Rect>,
    pub(super) ticks: Rect,
    pub(super) legend: Rect,
    pub(super) caption: Rect,
}

impl LadderLayout {
    pub(super) fn new(all: Rect, rungs: usize) -> LadderLayout {
        let inside = all.shrink2(vec2(PAD, 6.0));
        let row = |y: f32, height: f32| {
            let size = vec2(inside.width(), height);
            Rect::from_min_size(pos2(inside.left(), y), size)
        };
        let title = row(inside.top(), TITLE);
        let headline = row(title.bottom(), LEAD);
        let above = row(headline.bottom(), LIMIT);
        let foot = TICKS + LEGEND + SAID;
        let room = (inside.bottom() - foot - above.bottom()) / rungs.max(1) as f32;
        let height = room.min(MAX_ROW);
        let rows: Vec<Rect> = (0..rungs)
            .map(|rung| row(above.bottom() + rung as f32 * height, height))
            .collect();
        let bottom = above.bottom() + rungs as f32 * height;
        let left = inside.left() + (NAMES + GAP);
        let right = inside.right() - (RATES + GAP);
        let across =
            |y: f32, height: f32| Rect::from_min_max(pos2(left, y), pos2(right, y + height));
        let legend = row(bottom + TICKS, LEGEND);
        LadderLayout {
            title,
            headline,
            limit: across(headline.bottom(), LIMIT),
            axis: Rect::from_min_max(pos2(left, above.bottom()), pos2(right, bottom)),
            rows,
            ticks: across(bottom, TICKS),
            legend,
            caption: row(legend.bottom(), SAID),
        }
    }

    /// The pixel of a place on the axis, from 0 to 1.
    pub(super) fn x(&self, part: f32) -> f32 {
        self.axis.left() + part * self.axis.width()
    }
}
