//! Issues programs eagerly.

use std::ops::Range;

use super::CudaEngine;
use super::block_timestamps::TimestampRecorder;
use super::calls::{Call, Sink};
use super::driver::half_done;
use super::issue::Issuer;
use super::runs::{Marker, Run};
use super::threads::Threads;
use super::timing::Timer;
use crate::check::{Plan, issuers};
use crate::{Engine, EventId, LatticeId, Op, Program, Result, RunId, Slot, Step, StreamId};

/// A program while it is being issued.
pub(super) struct Submission<'a> {
    run: RunId,
    pub(super) program: &'a Program,
    /// The GPUs it uses, each with its streams in the order of first use.
    pub(super) used: Vec<(usize, Vec<StreamId>)>,
    /// The index of each stream's last step.
    last_step: Vec<usize>,
    pub(super) timers: Vec<Timer>,
    /// Timestamp recorders by GPU.
    recorders: Vec<(usize, TimestampRecorder)>,
    /// The threads that issue it. With several, the ends of its streams are marked after all of them
    /// are done.
    pub(super) threads: Threads,
    /// Whether any step may have reached the driver.
    pub(super) begun: bool,
}

impl CudaEngine {
    /// Binds the slots of all downloads, or none if one is busy.
    pub(super) fn bind(
        &self,
        downloads: impl Iterator<Item = (LatticeId, Slot)> + Clone,
    ) -> Result<()> {
        let Some(slots) = &self.slots else {
            return Ok(());
        };
        for (bound, (lattice, slot)) in downloads.clone().enumerate() {
            if let Err(busy) = slots.bind(lattice, slot) {
                downloads
                    .take(bound)
                    .for_each(|(lattice, slot)| slots.unbind(lattice, slot));
                return Err(busy);
            }
        }
        Ok(())
    }

    /// Issues one step on its stream: eagerly, into a capture, or into another thread's list.
    pub(super) fn issue(
        &mut self,
        gpu: usize,
        step: &Step,
        sink: &mut Sink,
        block_timestamps: Option<(u32, &mut TimestampRecorder)>,
    ) -> Result<()> {
        let stream = self.streams[step.stream.0 as usize].raw.raw();
        let event = |id: &EventId| self.events[id.0 as usize].1.raw();
        match &step.op {
            Op::Record(id) => {
                let event = event(id);
                sink.give(Call::Record { event, stream })
            }
            Op::Wait(id) => {
                let event = event(id);
                sink.give(Call::Hold { event, stream })
            }
            op => Issuer {
                gpu: &mut self.gpus[gpu],
                lattices: &self.check.lattices,
                states: &mut self.check.states,
                buffers: &self.buffers,
                slots: self.slots.as_deref(),
                stream,
                sink,
                block_timestamps,
            }
            .issue(op),
        }
    }

    /// Makes a stream wait for earlier graph replays, which run in a stream of their own.
    pub(super) fn fence(&mut self, stream: StreamId) -> Result<()> {
        let stream = &mut self.streams[stream.0 as usize];
        let gpu = stream.gpu;
        let replayed = self.gpus[gpu].replays;
        if stream.replays_seen < replayed {
            if let Some(replay) = self.runs.replays.iter().rev().find(|r| r.gpu == gpu) {
                replay.end.hold(stream.raw.raw())?;
            }
            stream.replays_seen = replayed;
        }
        Ok(())
    }

    /// The GPUs a program uses, each with its streams in the order of first use.
    pub(super) fn streams_used(&self, program: &Program) -> Vec<(usize, Vec<StreamId>)> {
        let mut used: Vec<(usize, Vec<StreamId>)> = Vec::new();
        let mut known = vec![false; self.streams.len()];
        for step in &program.steps {
            let gpu = self.gpu_of(step.stream);
            if std::mem::replace(&mut known[step.stream.0 as usize], true) {
                continue;
            }
            match used.iter_mut().find(|(g, _)| *g == gpu) {
                Some((_, streams)) => streams.push(step.stream),
                None => used.push((gpu, vec![step.stream])),
            }
        }
        used
    }

    /// Issues a program that is valid, has its memory and its slots bound.
    pub(super) fn submit_issued(
        &mut self,
        run: RunId,
        program: &Program,
        plan: &Plan,
    ) -> Result<()> {
        let mut last_step = vec![usize::MAX; self.streams.len()];
        let used = self.streams_used(program);
        for (index, step) in program.steps.iter().enumerate() {
            last_step[step.stream.0 as usize] = index;
        }
        let open = Run {
            open: used.iter().map(|(_, streams)| streams.len()).sum(),
            ..Run::default()
        };
        self.runs.open.insert(run, open);
        let threads = if plan.several_issuers {
            Threads::PerIssuer
        } else if self.has_thread_per_gpu(program, &used) {
            Threads::PerGpu
        } else {
            Threads::Own
        };
        let mut submission = Submission {
            run,
            program,
            used,
            last_step,
            timers: Vec::new(),
            recorders: Vec::new(),
            threads,
            begun: false,
        };
        if let Err(error) = self.issue_all(&mut submission) {
            // Waits for issued work: no timestamp may be written to freed memory.
            self.abandon(run, program.downloads());
            return Err(if submission.begun && plan.changes_cells {
                half_done(error)
            } else {
                error
            });
        }
        let open = self.runs.open.get_mut(&run).expect("the run was opened");
        let timings = submission.timers.into_iter().map(Timer::finish);
        open.timings.extend(timings);
        open.recorders = submission.recorders;
        Ok(())
    }

    fn issue_all(&mut self, submission: &mut Submission) -> Result<()> {
        let program = submission.program;
        let issuers = match submission.threads {
            Threads::PerIssuer => issuers(program),
            Threads::Own | Threads::PerGpu => vec![program.steps[0].issuer],
        };
        for (gpu, streams) in &submission.used {
            self.make_current(*gpu)?;
            for &stream in streams {
                self.fence(stream)?;
            }
            if program.timed {
                let origin = self.gpus[*gpu].origin()?;
                let timer = |&issuer| Timer::new(*gpu, issuer, origin.clone());
                submission.timers.extend(issuers.iter().map(timer));
            }
            if program.block_timestamps {
                let of_gpu = &mut self.gpus[*gpu];
                let lattices = &self.check.lattices;
                if let Some(recorder) = TimestampRecorder::plan(program, streams, lattices, of_gpu)?
                {
                    submission.recorders.push((*gpu, recorder));
                    let (_, recorder) = submission.recorders.last().expect("just pushed");
                    for &stream in streams {
                        recorder.clear(stream, self.streams[stream.0 as usize].raw.raw())?;
                    }
                }
            }
        }
        // The steps now repeat in a new draft the changes from validation.
        self.check.states.begin();
        if submission.threads != Threads::Own {
            return self.issue_from_threads(submission);
        }
        submission.begun = true;
        let mut sink = Sink::Now;
        for index in 0..program.steps.len() {
            self.issue_step(submission, index, &mut sink)?;
        }
        Ok(())
    }

    /// Issues a step with its timing events, block timestamps and end markers.
    pub(super) fn issue_step(
        &mut self,
        submission: &mut Submission,
        index: usize,
        sink: &mut Sink,
    ) -> Result<()> {
        let step = &submission.program.steps[index];
        let (stream, at) = (step.stream, index as u32);
        let gpu = self.gpu_of(stream);
        self.make_current(gpu)?;
        let raw = self.streams[stream.0 as usize].raw.raw();
        let mut recorders = submission.recorders.iter_mut();
        let block_timestamps = recorders.find(|(of, _)| *of == gpu);
        let block_timestamps = block_timestamps.map(|(_, recorder)| (at, recorder));
        let timer = submission
            .timers
            .iter_mut()
            .find(|timer| timer.gpu == gpu && timer.issuer == step.issuer);
        if let Some(timer) = timer {
            // While the host waits, there is no device work to time.
            let on_device = !matches!(step.op, Op::Synchronize(_));
            let record = |event: &super::Event, sink: &mut Sink| {
                let event = event.raw();
                sink.give(Call::Record { event, stream: raw })
            };
            if on_device {
                timer.before(&mut self.gpus[gpu], stream, |event| record(event, sink))?;
            } else {
                timer.pause();
            }
            let began = sink.begin();
            self.issue(gpu, step, sink, block_timestamps)?;
            if let Some(time) = sink.end(at, stream, began) {
                timer.host(&time);
            }
            if on_device {
                let gpu = &mut self.gpus[gpu];
                timer.after(gpu, index, stream, |event| record(event, sink))?;
            }
        } else {
            self.issue(gpu, step, sink, block_timestamps)?;
        }
        let download = match &step.op {
            Op::Download { lattices, slot, .. } => Some((lattices.clone(), *slot)),
            _ => None,
        };
        let last =
            submission.threads == Threads::Own && submission.last_step[stream.0 as usize] == index;
        if last {
            self.fetch_timestamps(submission, gpu, stream)?;
        }
        if download.is_some() || last {
            self.record_marker(submission.run, stream, sink, download, last)?;
        }
        Ok(())
    }

    /// Records an event at this point of a stream, for polling.
    pub(super) fn record_marker(
        &mut self,
        run: RunId,
        stream: StreamId,
        sink: &mut Sink,
        download: Option<(Range<u32>, Slot)>,
        last: bool,
    ) -> Result<()> {
        let of = &self.streams[stream.0 as usize];
        let event = self.gpus[of.gpu].pool.plain()?;
        sink.give(Call::Record {
            event: event.raw(),
            stream: of.raw.raw(),
        })?;
        self.runs.markers[stream.0 as usize].push_back(Marker {
            event,
            run,
            download,
            last,
        });
        Ok(())
    }

    /// Copies the block timestamps of a stream's kernels to the host.
    fn fetch_timestamps(
        &self,
        submission: &Submission,
        gpu: usize,
        stream: StreamId,
    ) -> Result<()> {
        let mut recorders = submission.recorders.iter();
        let Some((_, recorder)) = recorders.find(|(of, _)| *of == gpu) else {
            return Ok(());
        };
        recorder.fetch(stream, self.streams[stream.0 as usize].raw.raw())
    }

    /// Marks the ends of a program's streams after all threads have issued their steps.
    pub(super) fn end_streams(&mut self, submission: &Submission) -> Result<()> {
        for (gpu, streams) in &submission.used {
            self.make_current(*gpu)?;
            for &stream in streams {
                self.fetch_timestamps(submission, *gpu, stream)?;
                self.record_marker(submission.run, stream, &mut Sink::Now, None, true)?;
            }
        }
        Ok(())
    }

    /// Discards a partly issued run, after waiting for the issued part.
    pub(super) fn abandon(
        &mut self,
        run: RunId,
        downloads: impl Iterator<Item = (LatticeId, Slot)>,
    ) {
        let _ = self.synchronize();
        self.runs.open.remove(&run);
        self.runs
            .markers
            .iter_mut()
            .for_each(|markers| markers.retain(|marker| marker.run != run));
        self.runs.replays.retain(|replay| replay.run != run);
        if let Some(slots) = &self.slots {
            downloads.for_each(|(lattice, slot)| slots.unbind(lattice, slot));
        }
    }
}
