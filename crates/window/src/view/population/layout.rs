//! Where everything stands in the graph's rectangle. Pure arithmetic, in pixels.

use egui::{Rect, pos2, vec2};

const PAD: f32 = 14.0;
const TITLE: f32 = 30.0;
/// The population now, and what is known of it.
const LEAD: f32 = 52.0;
/// A word over each chart.
const HEAD: f32 = 24.0;
/// Generations, under the charts.
const TICKS: f32 = 24.0;
/// Figures of the upright axes.
const FIGURES: f32 = 58.0;
/// The part of the height that the population has.
const POPULATION: f32 = 0.58;

/// See the module.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct PopulationLayout {
    pub(super) title: Rect,
    pub(super) headline: Rect,
    /// Live cells.
    pub(super) population: Rect,
    /// The words over births and deaths.
    pub(super) legend: Rect,
    /// Births upward, deaths downward.
    pub(super) changes: Rect,
    pub(super) ticks: Rect,
}

impl PopulationLayout {
    pub(super) fn new(all: Rect) -> PopulationLayout {
        let inside = all.shrink2(vec2(PAD, 6.0));
        let row = |y: f32, height: f32| {
            Rect::from_min_size(pos2(inside.left(), y), vec2(inside.width(), height))
        };
        let title = row(inside.top(), TITLE);
        let headline = row(title.bottom(), LEAD);
        let top = headline.bottom() + 0.5 * HEAD;
        let foot = inside.bottom() - TICKS;
        let room = (foot - top - HEAD).max(0.0);
        let left = inside.left() + FIGURES;
        let chart = |y: f32, height: f32| {
            Rect::from_min_max(pos2(left, y), pos2(inside.right(), y + height))
        };
        let population = chart(top, POPULATION * room);
        let legend = row(population.bottom(), HEAD);
        let changes = chart(legend.bottom(), (1.0 - POPULATION) * room);
        PopulationLayout {
            title,
            headline,
            population,
            legend: Rect::from_min_max(pos2(left, legend.top()), legend.max),
            changes,
            ticks: chart(changes.bottom(), TICKS),
        }
    }
}
