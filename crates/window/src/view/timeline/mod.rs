//! The timeline under the panels: a lane per stream and one for the host, of one timed round; after
//! a change of a switch the round before it stands above, on the same axis, and what was found.
//!
//! `layout` has the places, `rows` the lanes' rows of pixels, `paint`, `bars` and `tip` what is painted,
//! `finding` the lines above the lanes, `interact` what the mouse does, `sm_map` the second view:
//! which SM ran which instance when.

mod bars;
mod finding;
mod interact;
pub(crate) mod layout;
mod paint;
mod rows;
mod shown_rounds;
mod sm_map;
mod tip;

#[cfg(test)]
mod tests;

use egui::Rect;

pub(crate) use finding::tone_colour;
pub(crate) use paint::{paint, paint_rounds};
pub(crate) use sm_map::sm_count;

use layout::TimelineLayout;
use session::PictureSource;
use ui::code_editor::Race;
use ui::timeline::scale::{TimeScale, TimeZoom};
use ui::{Chart, Timeline};

/// What the timeline shows, and which part of it; it lives as long as the window, closed or not.
#[derive(Clone, Debug, Default)]
pub struct TimelineView {
    timeline: Timeline,
    /// A round with a race, which is shown in place of the timed ones.
    race: Option<Race>,
    zoom: TimeZoom,
    frozen: bool,
    /// The pixel under the mouse.
    pointer: Option<[f64; 2]>,
}

/// What the timeline looks like depends on this, beside the session's figures.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct TimelineKey {
    sequence: u64,
    zoom: TimeZoom,
    frozen: bool,
    pointer: Option<[f64; 2]>,
}

impl TimelineView {
    /// What it shows: two that are equal look the same.
    pub(crate) fn shown(&self) -> TimelineKey {
        TimelineKey {
            sequence: self.timeline.sequence(),
            zoom: self.zoom,
            frozen: self.frozen,
            pointer: self.pointer,
        }
    }

    /// The rounds that it shows.
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// Takes over the newest timed round, if there is a newer one and it is not frozen. Waits for
    /// nothing; not to be called while the timeline is closed.
    pub fn update(&mut self, source: &dyn PictureSource) {
        if !self.frozen || !self.has_round() {
            self.timeline.update(source);
        }
    }

    /// Shows a round with a race in place of the timed ones, or these again.
    pub fn show_race(&mut self, race: Option<&Race>) {
        if self.race.as_ref() != race {
            self.race = race.cloned();
            self.zoom.fit();
        }
    }

    /// Whether there was a timed round yet.
    pub fn has_round(&self) -> bool {
        self.timeline.has_round()
    }

    /// Whether the round that is shown has block timestamps.
    pub fn has_block_timestamps(&self) -> bool {
        self.timeline.has_block_timestamps()
    }

    fn chart(&self) -> Option<&Chart> {
        let race = self.race.as_ref().map(|race| &race.chart);
        race.or(self.timeline.chart())
    }

    fn before(&self) -> Option<&Chart> {
        let before = self.timeline.before();
        before.filter(|_| self.race.is_none())
    }

    /// The axis' length in nanoseconds.
    fn whole(&self) -> f64 {
        let race = self.race.as_ref();
        race.map_or(self.timeline.axis_length(), |race| race.chart.data.whole)
    }

    /// The way from time to pixels in lanes that stand here.
    fn scale(&self, lanes: Rect) -> TimeScale {
        TimeScale::new(self.zoom.of(self.whole()), lanes.left(), lanes.width())
    }
}
