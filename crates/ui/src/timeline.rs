//! A timed round as lanes of bars, in nanoseconds from its start, and when which block ran where.
//!
//! A [`Timeline`] keeps the newest timed round as a [`Chart`], made once a round. `scale` turns
//! nanoseconds into positions; `lanes` and `blocks` fold several rows into one, `describe` says what a bar is.

pub mod blocks;
pub mod lanes;
pub mod overlap;
pub mod scale;
pub mod streams;

use lang::{mark, tr};
use session::PictureSource;
use session::trace::StepKind;

pub use lanes::{Chart, Pattern, RoundChart};

/// What a bar stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BarKind {
    /// An op in a stream.
    Step(StepKind),
    /// The host inside a call.
    Host,
    /// The host inside a call that waits.
    Wait,
}

/// Every kind and its name, in the order of a legend.
pub const KINDS: [(BarKind, &str); 8] = [
    (BarKind::Host, mark!("host call")),
    (BarKind::Wait, mark!("waiting")),
    (BarKind::Step(StepKind::Launch), mark!("launch")),
    (BarKind::Step(StepKind::Support), mark!("helper")),
    (BarKind::Step(StepKind::Upload), mark!("upload")),
    (BarKind::Step(StepKind::Download), mark!("download")),
    (
        BarKind::Step(StepKind::DeviceCopy),
        mark!("device to device"),
    ),
    (BarKind::Step(StepKind::Event), mark!("event")),
];

impl BarKind {
    /// Its place in [`KINDS`].
    pub fn index(self) -> usize {
        match self {
            BarKind::Host => 0,
            BarKind::Wait | BarKind::Step(StepKind::Wait) => 1,
            BarKind::Step(StepKind::Launch) => 2,
            BarKind::Step(StepKind::Support) => 3,
            BarKind::Step(StepKind::Upload) => 4,
            BarKind::Step(StepKind::Download) => 5,
            BarKind::Step(StepKind::DeviceCopy) => 6,
            BarKind::Step(StepKind::Event) => 7,
        }
    }

    /// What it is, as a tooltip; empty where its name says it.
    pub fn meaning(self) -> &'static str {
        match self {
            BarKind::Step(StepKind::Support) => {
                tr!("helper kernel: converts, reduces, measures or sets cells, and steps none")
            }
            _ => "",
        }
    }
}

/// Which of two rounds one is, one above the other on the same axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Which {
    /// The only one that is shown.
    Only,
    /// The one before the last change.
    Before,
    /// The one after it.
    After,
    /// A's, while A and B are compared.
    A,
    /// B's.
    B,
}

impl Which {
    /// The names of two rounds, from the top.
    pub fn both(is_comparing: bool) -> [Which; 2] {
        if is_comparing {
            [Which::A, Which::B]
        } else {
            [Which::Before, Which::After]
        }
    }

    /// The name of the round's host lane.
    pub fn host_name(self) -> &'static str {
        match self {
            Which::Only => tr!("host"),
            Which::Before => tr!("before: host"),
            Which::After => tr!("after: host"),
            Which::A => tr!("A: host"),
            Which::B => tr!("B: host"),
        }
    }
}

/// Says that the bars are one round's, which may differ from the times that are found.
pub fn drawn_round() -> &'static str {
    tr!("bars: a typical round; times: medians of many")
}

/// The newest timed round; it lives as long as what shows it, open or not.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    chart: Option<Chart>,
    /// The round before the last change, while its effect is shown; on the same axis.
    before: Option<Chart>,
    /// The number of the newest trace that was looked at.
    sequence: u64,
}

impl Timeline {
    /// Takes over the newest timed round, if there is a newer one. Waits for nothing; not to be
    /// called while no timeline is shown.
    pub fn update(&mut self, source: &dyn PictureSource) {
        if let Some(trace) = source.newer_trace(self.sequence) {
            self.sequence = trace.sequence;
            let whole = self.chart.take().map(|chart| chart.data.whole);
            self.chart = trace.drawn().cloned().map(Chart::new);
            self.before = trace.drawn_before().cloned().map(Chart::new);
            if let (Some(chart), Some(whole)) = (&mut self.chart, whole) {
                chart.keep_axis(whole);
            }
            if let (Some(chart), Some(before)) = (&mut self.chart, &mut self.before) {
                let whole = chart.data.whole.max(before.data.whole);
                chart.set_axis(whole);
                before.set_axis(whole);
            }
        }
    }

    /// The number of the trace that is shown: two equal ones look the same.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// Whether there was a timed round yet.
    pub fn has_round(&self) -> bool {
        self.chart.is_some()
    }

    /// The round that is shown, ready to be painted.
    pub fn chart(&self) -> Option<&Chart> {
        self.chart.as_ref()
    }

    /// The round before the last change, on the same axis as [`Timeline::chart`].
    pub fn before(&self) -> Option<&Chart> {
        self.before.as_ref()
    }

    /// Whether the round that is shown has block timestamps.
    pub fn has_block_timestamps(&self) -> bool {
        let chart = self.chart.as_ref();
        chart.is_some_and(|chart| !chart.round.block_timestamps.is_empty())
    }

    /// The axis' length in nanoseconds.
    pub fn axis_length(&self) -> f64 {
        self.chart.as_ref().map_or(1e6, |chart| chart.data.whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_its_indices() {
        for (index, (kind, _)) in KINDS.iter().enumerate() {
            assert_eq!(kind.index(), index);
        }
    }
}
