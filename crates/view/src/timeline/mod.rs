//! The timeline under the panels: a lane a stream and one for the host, of one timed round.
//!
//! A [`Timeline`] keeps the newest timed round as a chart, made once a round; a frame only paints
//! it. `scale` has the one function from time to pixels, `lanes` the chart and its rows, `place`
//! the places, `paint` and `tip` what is painted, `interact` what the mouse does. `blocks` and `map`
//! are the same for the second view: which multiprocessor ran which instance when.

mod blocks;
pub mod colours;
mod interact;
pub mod lanes;
mod map;
pub mod overlap;
mod paint;
pub(crate) mod place;
pub mod scale;
mod tip;

#[cfg(test)]
mod tests;

use egui::{Pos2, Rect};

pub(crate) use map::units;
pub(crate) use paint::paint;

use lanes::Chart;
use model::PictureSource;
use place::Places;
use scale::{TimeScale, Zoom};

/// What the timeline shows; it lives as long as the window, closed or not.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    chart: Option<Chart>,
    /// Of the newest trace that was looked at.
    sequence: u64,
    zoom: Zoom,
    frozen: bool,
    pointer: Option<Pos2>,
}

/// What the timeline looks like depends on this, beside the session's figures.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Shown {
    sequence: u64,
    zoom: Zoom,
    frozen: bool,
    pointer: Option<Pos2>,
}

impl Timeline {
    /// What it shows: two that are equal look the same.
    pub(crate) fn shown(&self) -> Shown {
        Shown {
            sequence: self.sequence,
            zoom: self.zoom,
            frozen: self.frozen,
            pointer: self.pointer,
        }
    }

    /// Takes over the newest timed round, if there is a newer one and it is not frozen. Waits for
    /// nothing; not to be called while the timeline is closed.
    pub fn update(&mut self, source: &dyn PictureSource) {
        if self.frozen && self.chart.is_some() {
            return;
        }
        if let Some(trace) = source.newer_trace(self.sequence) {
            self.sequence = trace.sequence;
            let before = self.chart.take().map(|chart| chart.whole);
            self.chart = trace.rounds.back().cloned().map(Chart::new);
            if let (Some(chart), Some(before)) = (&mut self.chart, before) {
                chart.keep_axis(before);
            }
        }
    }

    /// Whether there was a timed round yet.
    pub fn has_round(&self) -> bool {
        self.chart.is_some()
    }

    /// The round that is shown, ready to be painted.
    pub fn chart(&self) -> Option<&Chart> {
        self.chart.as_ref()
    }

    /// Whether the round that is shown was stamped.
    pub fn has_stamps(&self) -> bool {
        let chart = self.chart.as_ref();
        chart.is_some_and(|chart| !chart.round.block_timestamps.is_empty())
    }

    /// The axis' length in nanoseconds.
    fn whole(&self) -> f64 {
        self.chart.as_ref().map_or(1e6, |chart| chart.whole)
    }

    /// The way from time to pixels in lanes that stand here.
    fn scale(&self, lanes: Rect) -> TimeScale {
        TimeScale::new(self.zoom.of(self.whole()), lanes.left(), lanes.width())
    }
}
