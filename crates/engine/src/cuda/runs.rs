//! Tracks running work and detects its end.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use super::block_timestamps::TimestampRecorder;
use super::event::Event;
use super::graph::GraphDownload;
use super::timing::Timing;
use crate::{BlockTimestamp, Completion, RunId, Slot, Span};

/// An event that marks progress of a run.
pub(super) struct Marker {
    pub(super) event: Event,
    pub(super) run: RunId,
    /// The download that is complete when the event has fired.
    pub(super) download: Option<(Range<u32>, Slot)>,
    /// Whether the run has no later work in this stream.
    pub(super) last: bool,
}

/// A running run.
#[derive(Default)]
pub(super) struct Run {
    /// The number of streams and graphs that are not done.
    pub(super) open: usize,
    pub(super) timings: Vec<Timing>,
    /// Its timestamp recorders, by GPU.
    pub(super) recorders: Vec<(usize, TimestampRecorder)>,
}

/// A replayed graph that is running.
pub(super) struct Replay {
    pub(super) run: RunId,
    pub(super) gpu: usize,
    pub(super) end: Event,
    pub(super) downloads: Arc<[GraphDownload]>,
    /// Which downloads have been reported.
    pub(super) landed: Vec<bool>,
    /// Whether its spans will be read.
    pub(super) timed: bool,
}

/// All running work.
#[derive(Default)]
pub(super) struct Runs {
    pub(super) open: HashMap<RunId, Run>,
    pub(super) markers: Vec<VecDeque<Marker>>, // by stream
    pub(super) replays: VecDeque<Replay>,
    next: u64,
}

impl Runs {
    pub(super) fn begin(&mut self) -> RunId {
        let run = RunId(self.next);
        self.next += 1;
        run
    }

    pub(super) fn is_idle(&self) -> bool {
        self.open.is_empty()
    }

    /// Ends one stream's or graph's part of a run. Returns the run if that was the last part.
    pub(super) fn close_part(&mut self, run: RunId) -> Option<Run> {
        let open = &mut self.open.get_mut(&run)?.open;
        *open -= 1;
        if *open == 0 {
            self.open.remove(&run)
        } else {
            None
        }
    }
}

/// The completion of a whole run, with spans in the order of steps.
pub(super) fn finished(
    run: RunId,
    mut spans: Vec<Span>,
    mut host: Vec<Span>,
    mut block_timestamps: Vec<BlockTimestamp>,
) -> Completion {
    spans.sort_by_key(|span| span.step);
    host.sort_by_key(|span| span.start);
    block_timestamps.sort_by_key(|timestamp| (timestamp.step, timestamp.start));
    Completion::Finished {
        run,
        spans,
        host,
        block_timestamps,
    }
}
