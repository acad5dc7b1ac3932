//! Tracks running work and detects its end.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use super::block_timestamps::TimestampRecorder;
use super::event::Event;
use super::resources::Resources;
use super::timing::Timing;
use crate::{BlockTimestamp, Completion, LatticeId, Result, RunId, Slot, Span, StreamId};

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

/// A download in a graph, and the event that each replay records after it, so that the picture is
/// available before the whole round is done. (On an H200 such a node has no measurable cost. Right
/// after a launch the event counts as not fired.)
pub(super) struct GraphDownload {
    pub(super) lattices: Range<u32>,
    pub(super) slot: Slot,
    pub(super) event: Event,
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
    open: HashMap<RunId, Run>,
    pub(super) markers: Vec<VecDeque<Marker>>, // by stream
    pub(super) replays: VecDeque<Replay>,
    next: u64,
    /// Runs of empty programs, which the next poll reports.
    empty: Vec<RunId>,
    /// Polls since something completed or was issued.
    pub(super) idle_polls: u32,
}

impl Runs {
    /// Begins a run of so many streams and graphs.
    pub(super) fn begin(&mut self, open: usize) -> RunId {
        let run = RunId(self.next);
        self.next += 1;
        if open == 0 {
            self.empty.push(run);
        } else {
            let new = Run {
                open,
                ..Run::default()
            };
            self.open.insert(run, new);
            self.idle_polls = 0;
        }
        run
    }

    /// A run that has begun and is not empty.
    pub(super) fn of(&mut self, run: RunId) -> &mut Run {
        self.open.get_mut(&run).expect("the run was opened")
    }

    pub(super) fn is_idle(&self) -> bool {
        self.open.is_empty()
    }

    /// Makes a stream wait for earlier graph replays, which run in a stream of their own.
    pub(super) fn fence(&self, stream: StreamId, resources: &mut Resources) -> Result<()> {
        let stream = &mut resources.streams[stream.0 as usize];
        let gpu = stream.gpu;
        let replayed = resources.gpus[gpu].replays;
        if stream.replays_seen < replayed {
            if let Some(replay) = self.replays.iter().rev().find(|r| r.gpu == gpu) {
                replay.end.make_stream_wait(stream.raw.raw())?;
            }
            stream.replays_seen = replayed;
        }
        Ok(())
    }

    /// Discards a partly issued run, after waiting for the issued part.
    pub(super) fn abandon(
        &mut self,
        run: RunId,
        downloads: impl Iterator<Item = (LatticeId, Slot)>,
        resources: &Resources,
    ) {
        let _ = resources.synchronize();
        self.open.remove(&run);
        let markers = self.markers.iter_mut();
        markers.for_each(|markers| markers.retain(|marker| marker.run != run));
        self.replays.retain(|replay| replay.run != run);
        if let Some(slots) = &resources.slots {
            slots.locks.unbind_all(downloads);
        }
    }

    /// Appends what has completed.
    pub(super) fn poll(
        &mut self,
        resources: &mut Resources,
        completions: &mut Vec<Completion>,
    ) -> Result<()> {
        let empty = self.empty.drain(..);
        completions.extend(empty.map(|run| finished(run, vec![], vec![], vec![])));
        if self.is_idle() {
            return Ok(());
        }
        let before = completions.len();
        for stream in 0..self.markers.len() {
            while let Some(marker) = self.markers[stream].front() {
                if !marker.event.fired()? {
                    break;
                }
                let marker = self.markers[stream].pop_front().expect("it was looked at");
                if let Some(download) = marker.download {
                    completions.push(landed(marker.run, download, resources));
                }
                let gpu = resources.streams[stream].gpu;
                resources.gpus[gpu].pool.give_back_plain(marker.event);
                if marker.last {
                    self.end_part(marker.run, resources, completions)?;
                }
            }
        }
        self.poll_replays(resources, completions)?;
        self.idle_polls = if completions.len() > before {
            0
        } else {
            self.idle_polls + 1
        };
        Ok(())
    }

    /// Ends one stream's or graph's part of a run, and reports the run if that was the last part.
    fn end_part(
        &mut self,
        run: RunId,
        resources: &mut Resources,
        completions: &mut Vec<Completion>,
    ) -> Result<()> {
        let Some(running) = self.open.get_mut(&run) else {
            return Ok(());
        };
        running.open -= 1;
        if running.open > 0 {
            return Ok(());
        }
        let ended = std::mem::take(running);
        self.open.remove(&run);
        let (mut spans, mut host) = (Vec::new(), Vec::new());
        for timing in ended.timings {
            timing.spans(&mut spans)?;
            host.extend_from_slice(&timing.host);
            if timing.pooled {
                let events = Rc::into_inner(timing.events).into_iter().flatten();
                let pool = &mut resources.gpus[timing.gpu].pool;
                events.for_each(|event| pool.give_back_timing(event));
            }
        }
        let mut block_timestamps = Vec::new();
        for (gpu, recorder) in ended.recorders {
            let (of_gpu, memory) = recorder.block_timestamps();
            let before: u32 = resources.check.devices[..gpu]
                .iter()
                .map(|info| info.sm_count)
                .sum();
            block_timestamps.extend(of_gpu.into_iter().map(|timestamp| BlockTimestamp {
                sm: before + timestamp.sm,
                ..timestamp
            }));
            resources.gpus[gpu].give_back_timestamp_memory(memory);
        }
        completions.push(finished(run, spans, host, block_timestamps));
        Ok(())
    }

    /// Reports downloads of replayed graphs as they complete, and finished graphs.
    fn poll_replays(
        &mut self,
        resources: &mut Resources,
        completions: &mut Vec<Completion>,
    ) -> Result<()> {
        let mut replays = std::mem::take(&mut self.replays);
        let mut ended = 0;
        for replay in &mut replays {
            let over = replay.end.fired()?;
            ended += usize::from(over);
            for (landing, is_reported) in replay.downloads.iter().zip(&mut replay.landed) {
                // A timed graph's downloads are reported only when the graph is done and its spans
                // can be read.
                if !*is_reported && (over || (!replay.timed && landing.event.fired()?)) {
                    *is_reported = true;
                    let download = (landing.lattices.clone(), landing.slot);
                    completions.push(landed(replay.run, download, resources));
                }
            }
            if !over {
                break; // later replays wait for this one
            }
        }
        for replay in replays.drain(..ended) {
            resources.gpus[replay.gpu].pool.give_back_plain(replay.end);
            self.end_part(replay.run, resources, completions)?;
        }
        self.replays = replays;
        Ok(())
    }
}

/// The completion of a download, whose slots may be read from now on.
fn landed(run: RunId, (lattices, slot): (Range<u32>, Slot), resources: &Resources) -> Completion {
    if let Some(slots) = &resources.slots {
        let each = lattices.clone().map(LatticeId);
        slots.locks.unbind_all(each.map(|lattice| (lattice, slot)));
    }
    Completion::Downloaded {
        run,
        lattices,
        slot,
    }
}

/// The completion of a whole run, with spans in the order of steps.
fn finished(
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
