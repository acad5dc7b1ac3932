//! Reports completed work.

use std::ops::Range;
use std::rc::Rc;

use super::CudaEngine;
use super::runs::finished;
use crate::{BlockTimestamp, Completion, LatticeId, Result, RunId, Slot};

impl CudaEngine {
    pub(super) fn end_part(&mut self, run: RunId, completions: &mut Vec<Completion>) -> Result<()> {
        let Some(ended) = self.runs.close_part(run) else {
            return Ok(());
        };
        let (mut spans, mut host) = (Vec::new(), Vec::new());
        for timing in ended.timings {
            timing.spans(&mut spans)?;
            host.extend_from_slice(&timing.host);
            if timing.pooled {
                let events = Rc::into_inner(timing.events).into_iter().flatten();
                let pool = &mut self.gpus[timing.gpu].pool;
                events.for_each(|event| pool.give_back_timing(event));
            }
        }
        let mut block_timestamps = Vec::new();
        for (gpu, recorder) in ended.recorders {
            let (of_gpu, memory) = recorder.block_timestamps();
            let before: u32 = self.check.devices[..gpu]
                .iter()
                .map(|info| info.sm_count)
                .sum();
            block_timestamps.extend(of_gpu.into_iter().map(|timestamp| BlockTimestamp {
                sm: before + timestamp.sm,
                ..timestamp
            }));
            self.gpus[gpu].timestamp_pool.push(memory);
        }
        completions.push(finished(run, spans, host, block_timestamps));
        Ok(())
    }

    /// Reports downloads of replayed graphs as they complete, and finished graphs.
    pub(super) fn poll_replays(&mut self, completions: &mut Vec<Completion>) -> Result<()> {
        let mut replays = std::mem::take(&mut self.runs.replays);
        let mut ended = 0;
        for replay in &mut replays {
            let over = replay.end.fired()?;
            ended += usize::from(over);
            for (landing, landed) in replay.downloads.iter().zip(&mut replay.landed) {
                // A timed graph's downloads are reported only when the graph is done and its spans
                // can be read.
                if !*landed && (over || (!replay.timed && landing.event.fired()?)) {
                    *landed = true;
                    let download = (landing.lattices.clone(), landing.slot);
                    completions.push(self.landed(replay.run, download));
                }
            }
            if !over {
                break; // later replays wait for this one
            }
        }
        for replay in replays.drain(..ended) {
            self.gpus[replay.gpu].pool.give_back_plain(replay.end);
            self.end_part(replay.run, completions)?;
        }
        self.runs.replays = replays;
        Ok(())
    }

    pub(super) fn landed(&self, run: RunId, (lattices, slot): (Range<u32>, Slot)) -> Completion {
        if let Some(slots) = &self.slots {
            let each = lattices.clone().map(LatticeId);
            each.for_each(|lattice| slots.unbind(lattice, slot));
        }
        Completion::Downloaded {
            run,
            lattices,
            slot,
        }
    }
}
