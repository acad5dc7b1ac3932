//! Issues programs eagerly.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;

use cust::device::Device;

use super::block_timestamps::TimestampRecorder;
use super::calls::{Call, Sink};
use super::driver::into_partially_applied;
use super::event::Event;
use super::resources::Resources;
use super::runs::{Marker, Runs};
use super::threads::{Meetings, Threads, make_concurrently};
use super::timing::Timer;
use crate::check::{Plan, issuers};
use crate::{LatticeOp, Op, OrderOp, Program, Result, RunId, Slot, Step, StreamId, nvtx};

/// A program while it is being issued.
pub(super) struct Submission<'a> {
    resources: &'a mut Resources,
    runs: &'a mut Runs,
    program: &'a Program,
    run: RunId,
    /// The GPUs it uses, each with its streams in the order of first use.
    used: Vec<(usize, Vec<StreamId>)>,
    /// The index of each stream's last step.
    last_step: Vec<usize>,
    timers: Vec<Timer>,
    /// Timestamp recorders by GPU.
    recorders: Vec<(usize, TimestampRecorder)>,
    /// The threads that issue it. With several, the ends of its streams are marked after all of them
    /// are done.
    threads: Threads,
    /// Whether any step may have reached the driver.
    begun: bool,
}

impl Submission<'_> {
    /// Issues a program that is valid, has its memory and its slots bound.
    pub(super) fn issue(
        resources: &mut Resources,
        runs: &mut Runs,
        program: &Program,
        plan: &Plan,
    ) -> Result<RunId> {
        let used = resources.streams_used(program);
        let run = runs.begin(used.iter().map(|(_, streams)| streams.len()).sum());
        if program.steps.is_empty() {
            return Ok(run);
        }
        let mut last_step = vec![usize::MAX; resources.streams.len()];
        for (index, step) in program.steps.iter().enumerate() {
            last_step[step.stream.0 as usize] = index;
        }
        let device = |(gpu, _): &(usize, _)| Device::as_raw(&resources.gpus[*gpu].device);
        let threads = Threads::of(program, plan, used.iter().map(device).collect());
        let mut submission = Submission {
            resources,
            runs,
            program,
            run,
            used,
            last_step,
            timers: Vec::new(),
            recorders: Vec::new(),
            threads,
            begun: false,
        };
        if let Err(error) = submission.issue_all() {
            let Submission {
                resources,
                runs,
                begun,
                ..
            } = &mut submission;
            // Waits for issued work: no timestamp may be written to freed memory.
            runs.abandon(run, program.downloads(), resources);
            return Err(if *begun && plan.changes_cells {
                into_partially_applied(error)
            } else {
                error
            });
        }
        let open = submission.runs.of(run);
        let timings = submission.timers.into_iter().map(Timer::finish);
        open.timings.extend(timings);
        open.recorders = submission.recorders;
        Ok(run)
    }

    fn issue_all(&mut self) -> Result<()> {
        let program = self.program;
        let issuers = match self.threads {
            Threads::PerIssuer => issuers(program),
            Threads::Own | Threads::PerGpu => vec![program.steps[0].issuer],
        };
        for (gpu, streams) in &self.used {
            self.resources.make_current(*gpu)?;
            for &stream in streams {
                self.runs.fence(stream, self.resources)?;
            }
            if program.timed {
                let origin = self.resources.gpus[*gpu].origin()?;
                let timer = |&issuer| Timer::new(*gpu, issuer, origin.clone());
                self.timers.extend(issuers.iter().map(timer));
            }
            if program.block_timestamps {
                let Resources { gpus, check, .. } = &mut *self.resources;
                let of_gpu = &mut gpus[*gpu];
                let recorder = TimestampRecorder::plan(program, streams, &check.lattices, of_gpu)?;
                if let Some(recorder) = recorder {
                    self.recorders.push((*gpu, recorder));
                    let (_, recorder) = self.recorders.last().expect("just pushed");
                    for &stream in streams {
                        recorder.clear(stream, self.resources.raw(stream))?;
                    }
                }
            }
        }
        // The steps now repeat in a new draft the changes from validation.
        self.resources.check.states.begin();
        if self.threads != Threads::Own {
            return self.issue_from_threads();
        }
        self.begun = true;
        let mut sink = Sink::Now;
        (0..program.steps.len()).try_for_each(|index| self.issue_step(index, &mut sink))
    }

    /// Turns the steps into a list of calls for each thread, and has the threads make them.
    fn issue_from_threads(&mut self) -> Result<()> {
        /// The calls of one thread.
        struct Part {
            /// The GPU whose context is current after the calls so far.
            gpu: usize,
            sink: Sink,
        }
        let program = self.program;
        let is_per_gpu = self.threads == Threads::PerGpu;
        // By the number of the issuer or of the GPU.
        let mut parts: BTreeMap<usize, Part> = BTreeMap::new();
        let part_of = |step: &Step, gpu| {
            if is_per_gpu {
                gpu
            } else {
                usize::from(step.issuer.0)
            }
        };
        for step in &program.steps {
            let gpu = self.resources.gpu_of(step.stream);
            if let Entry::Vacant(place) = parts.entry(part_of(step, gpu)) {
                let mut sink = Sink::Later(Vec::new());
                sink.push(Call::Current(self.resources.gpus[gpu].context.raw()))?;
                sink.meet();
                place.insert(Part { gpu, sink });
            }
        }
        let mut meetings = Meetings::default();
        for (index, step) in program.steps.iter().enumerate() {
            let gpu = self.resources.gpu_of(step.stream);
            let at = part_of(step, gpu);
            if let (true, Op::Order(op)) = (is_per_gpu, &step.op)
                && meetings.must_meet(at, op)
            {
                parts.values_mut().for_each(|part| part.sink.meet());
            }
            let part = parts.get_mut(&at).expect("made above");
            if std::mem::replace(&mut part.gpu, gpu) != gpu {
                let context = self.resources.gpus[gpu].context.raw();
                part.sink.push(Call::Current(context))?;
            }
            self.issue_step(index, &mut part.sink)?;
        }
        let lists = parts.into_values().map(|part| match part.sink {
            Sink::Later(entries) => entries,
            Sink::Now => unreachable!("every sink was made as Later"),
        });
        self.begun = true;
        for time in make_concurrently(&lists.collect::<Vec<_>>())? {
            let gpu = self.resources.gpu_of(time.stream);
            let issuer = program.steps[time.step as usize].issuer;
            let mut timers = self.timers.iter_mut();
            if let Some(timer) = timers.find(|t| t.gpu == gpu && t.issuer == issuer) {
                timer.host(&time);
            }
        }
        let ends: Vec<_> = std::mem::take(&mut self.used);
        for (gpu, streams) in ends {
            self.resources.make_current(gpu)?;
            for stream in streams {
                self.fetch_timestamps(gpu, stream)?;
                self.record_marker(stream, &mut Sink::Now, None, true)?;
            }
        }
        Ok(())
    }

    /// Issues a step with its timing events, block timestamps and end markers.
    fn issue_step(&mut self, index: usize, sink: &mut Sink) -> Result<()> {
        let step = &self.program.steps[index];
        let (stream, at) = (step.stream, index as u32);
        let gpu = self.resources.gpu_of(stream);
        self.resources.make_current(gpu)?;
        let raw = self.resources.raw(stream);
        let mut recorders = self.recorders.iter_mut();
        let block_timestamps = recorders.find(|(of, _)| *of == gpu);
        let block_timestamps = block_timestamps.map(|(_, recorder)| (at, recorder));
        let mut timers = self.timers.iter_mut();
        let timer = timers.find(|timer| timer.gpu == gpu && timer.issuer == step.issuer);
        if let Some(timer) = timer {
            // While the host waits, there is no device work to time.
            let on_device = !matches!(step.op, Op::Order(OrderOp::Synchronize(_)));
            let record = |event: &Event, sink: &mut Sink| {
                let event = event.raw();
                sink.push(Call::Record { event, stream: raw })
            };
            if on_device {
                let pool = &mut self.resources.gpus[gpu].pool;
                timer.before(pool, stream, |event| record(event, sink))?;
            } else {
                timer.pause();
            }
            let begun = sink.begin(step.op.label());
            self.resources.issue(gpu, step, sink, block_timestamps)?;
            if let Some(time) = sink.end(at, stream, begun) {
                timer.host(&time);
            }
            if on_device {
                let pool = &mut self.resources.gpus[gpu].pool;
                timer.after(pool, index, stream, |event| record(event, sink))?;
            }
        } else {
            let begun = nvtx::is_attached().then(|| sink.begin(step.op.label()));
            self.resources.issue(gpu, step, sink, block_timestamps)?;
            begun.map(|begun| sink.end(at, stream, begun));
        }
        let download = match &step.op {
            Op::Lattices(lattices, LatticeOp::Download { slot, .. }) => {
                Some((lattices.clone(), *slot))
            }
            _ => None,
        };
        let last = self.threads == Threads::Own && self.last_step[stream.0 as usize] == index;
        if last {
            self.fetch_timestamps(gpu, stream)?;
        }
        if download.is_some() || last {
            self.record_marker(stream, sink, download, last)?;
        }
        Ok(())
    }

    /// Records an event at this point of a stream, for polling.
    fn record_marker(
        &mut self,
        stream: StreamId,
        sink: &mut Sink,
        download: Option<(Range<u32>, Slot)>,
        last: bool,
    ) -> Result<()> {
        let gpu = self.resources.gpu_of(stream);
        let event = self.resources.gpus[gpu].pool.plain()?;
        sink.push(Call::Record {
            event: event.raw(),
            stream: self.resources.raw(stream),
        })?;
        self.runs.markers[stream.0 as usize].push_back(Marker {
            event,
            run: self.run,
            download,
            last,
        });
        Ok(())
    }

    /// Copies the block timestamps of a stream's kernels to the host.
    fn fetch_timestamps(&self, gpu: usize, stream: StreamId) -> Result<()> {
        let mut recorders = self.recorders.iter();
        let Some((_, recorder)) = recorders.find(|(of, _)| *of == gpu) else {
            return Ok(());
        };
        recorder.fetch(stream, self.resources.raw(stream))
    }
}
