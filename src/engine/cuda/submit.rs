//! Programs issued eagerly, each stream behind what it must wait for.

use std::time::Instant;

use super::CudaEngine;
use super::issue::Issuer;
use super::runs::Mark;
use super::timing::Timer;
use crate::engine::{
    Engine, EngineError, EventId, LatticeId, Op, Program, Result, RunId, Slot, Step, StreamId,
};

impl CudaEngine {
    /// Binds the slots of a program's downloads, or none of them.
    pub(super) fn bind(
        &self,
        downloads: impl Iterator<Item = (LatticeId, Slot)> + Clone,
    ) -> Result<()> {
        let Some(slots) = &self.slots else {
            return match downloads.clone().next() {
                Some((lattice, slot)) => Err(EngineError::SlotBusy(lattice, slot)),
                None => Ok(()),
            };
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

    /// Issues one step on its stream, eagerly or into a capture.
    pub(super) fn issue(&mut self, gpu: usize, step: &Step) -> Result<()> {
        let stream = self.streams[step.stream.0 as usize].raw.raw();
        let event = |id: &EventId| {
            let known = self.events.get(id.0 as usize);
            known.ok_or_else(|| EngineError::BadProgram(format!("there is no {id:?}")))
        };
        match &step.op {
            Op::Record(id) => event(id)?.record(stream),
            Op::Wait(id) => event(id)?.hold(stream),
            op => {
                let slots = self.slots.as_deref();
                let at = gpu;
                let gpu = &mut self.gpus[gpu];
                Issuer {
                    at,
                    gpu,
                    homes: &mut self.homes,
                    slots,
                    stream,
                }
                .issue(op)
            }
        }
    }

    /// Orders a stream behind the graphs replayed before, which run in a stream of their own.
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

    /// Which devices a program touches, and its streams there in the order of first use.
    pub(super) fn streams_used(&self, program: &Program) -> Result<Vec<(usize, Vec<StreamId>)>> {
        let mut used: Vec<(usize, Vec<StreamId>)> = Vec::new();
        let mut known = vec![false; self.streams.len()];
        for step in &program.steps {
            let gpu = self.gpu_of(step.stream)?;
            if std::mem::replace(&mut known[step.stream.0 as usize], true) {
                continue;
            }
            match used.iter_mut().find(|(g, _)| *g == gpu) {
                Some((_, streams)) => streams.push(step.stream),
                None => used.push((gpu, vec![step.stream])),
            }
        }
        Ok(used)
    }

    pub(super) fn submit_issued(&mut self, run: RunId, program: &Program) -> Result<()> {
        let used = self.streams_used(program)?;
        let mut last_step = vec![usize::MAX; self.streams.len()];
        for (index, step) in program.steps.iter().enumerate() {
            last_step[step.stream.0 as usize] = index;
        }
        let mut timers: Vec<Timer> = Vec::new();
        for (gpu, streams) in &used {
            self.make_current(*gpu)?;
            for &stream in streams {
                self.fence(stream)?;
            }
            if program.timed {
                let origin = self.gpus[*gpu].origin()?;
                timers.push(Timer::new(*gpu, origin));
            }
        }
        for (index, step) in program.steps.iter().enumerate() {
            let gpu = self.gpu_of(step.stream)?;
            self.make_current(gpu)?;
            let timer = timers.iter_mut().find(|timer| timer.gpu == gpu);
            let raw = self.streams[step.stream.0 as usize].raw.raw();
            if let Some(timer) = timer {
                timer.before(&mut self.gpus[gpu], step.stream, |event| event.record(raw))?;
                let began = Instant::now();
                self.issue(gpu, step)?;
                timer.host(index as u32, step.stream, began);
                let gpu = &mut self.gpus[gpu];
                timer.after(gpu, index, step.stream, |event| event.record(raw))?;
            } else {
                self.issue(gpu, step)?;
            }
            let download = match step.op {
                Op::Download { lattice, slot, .. } => Some((lattice, slot)),
                _ => None,
            };
            let last = last_step[step.stream.0 as usize] == index;
            if download.is_some() || last {
                let event = self.gpus[gpu].pool.plain()?;
                event.record(raw)?;
                let mark = Mark {
                    event,
                    run,
                    download,
                    last,
                };
                self.runs.marks[step.stream.0 as usize].push_back(mark);
            }
        }
        for timer in timers {
            let open = self.runs.open.get_mut(&run).expect("the run was opened");
            open.timings.push(timer.finish());
        }
        Ok(())
    }

    /// Forgets a run that could not be issued to its end, once what was issued is through.
    pub(super) fn abandon(
        &mut self,
        run: RunId,
        downloads: impl Iterator<Item = (LatticeId, Slot)>,
    ) {
        let _ = self.synchronize();
        self.runs.open.remove(&run);
        self.runs
            .marks
            .iter_mut()
            .for_each(|marks| marks.retain(|mark| mark.run != run));
        self.runs.replays.retain(|replay| replay.run != run);
        if let Some(slots) = &self.slots {
            downloads.for_each(|(lattice, slot)| slots.unbind(lattice, slot));
        }
    }
}
