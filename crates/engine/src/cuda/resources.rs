//! The GPUs of an engine and what was created on them.

use std::sync::Arc;
use std::time::Instant;

use cust::sys;

use super::gpu::Gpu;
use super::handles::{self, Event, RawStream};
use super::memory::{Buffer, CudaSlots};
use crate::check::{Plan, Validator};
use crate::{DeviceId, LatticeId, Program, Result, Slot, StreamId};

/// The GPUs of an engine and what was created on them.
pub(super) struct Resources {
    // Fields drop in this order: what refers to contexts, then the contexts.
    pub(super) events: Vec<Event>,
    pub(super) streams: Vec<Stream>,
    /// By [`BufferId`](crate::BufferId); `None` once dropped.
    pub(super) buffers: Vec<Option<Buffer>>,
    pub(super) slots: Option<Arc<CudaSlots>>,
    /// The time at which every device's clock shows 0.
    pub(super) zero: Instant,
    pub(super) gpus: Vec<Gpu>,
    /// Validates programs and tracks the lattices' states.
    pub(super) check: Validator,
}

pub(super) struct Stream {
    pub(super) gpu: usize,
    pub(super) raw: RawStream,
    /// The number of replays on its GPU that it already waits for.
    pub(super) replays_seen: u64,
}

impl Resources {
    /// Makes a GPU's context current on this thread.
    pub(super) fn make_current(&self, gpu: usize) -> Result<()> {
        self.gpus[gpu].context.make_current()
    }

    /// Waits until nothing runs on any device, even if one fails.
    pub(super) fn synchronize(&self) -> Result<()> {
        let mut answer = Ok(());
        for gpu in &self.gpus {
            let current = gpu.context.make_current();
            answer = answer.and(current.and_then(|()| handles::synchronize()));
        }
        answer
    }

    /// The driver's handle of a stream. Panics for an unknown stream.
    pub(super) fn raw(&self, stream: StreamId) -> sys::CUstream {
        self.streams[stream.0 as usize].raw.0
    }

    /// The index of a device or context in `gpus`.
    pub(super) fn gpu_at(&self, device: DeviceId) -> Result<usize> {
        self.check.check_device(device)?;
        Ok(usize::from(device.0))
    }

    /// The index of a stream's GPU. Panics for an unknown stream.
    pub(super) fn gpu_of(&self, stream: StreamId) -> usize {
        self.streams[stream.0 as usize].gpu
    }

    /// Allocates the memory and loads the functions that a program needs, before any step is
    /// issued. Neither is possible while a stream is being captured, and a failure here leaves
    /// every lattice unchanged.
    pub(super) fn allocate_for(&mut self, program: &Program, plan: &Plan) -> Result<()> {
        let groups = &mut self.check.lattices.groups;
        for (&group, &words) in &plan.views {
            let facts = &mut groups[group];
            let gpu = &mut self.gpus[usize::from(facts.device.0)];
            gpu.context.make_current()?;
            gpu.groups[facts.on_device].grow_views(words, gpu.idle_stream.0)?;
            facts.view_capacity = words;
        }
        for &group in &plan.measures {
            let facts = &mut groups[group];
            let gpu = &mut self.gpus[usize::from(facts.device.0)];
            gpu.context.make_current()?;
            gpu.groups[facts.on_device].make_measures()?;
            facts.has_measures_memory = true;
        }
        for &(device, function) in &plan.functions {
            let gpu = &mut self.gpus[usize::from(device.0)];
            gpu.context.make_current()?;
            gpu.functions.get(function, false)?;
            if program.block_timestamps && function.has_timestamps() {
                gpu.functions.get(function, true)?;
            }
        }
        let slots = self.slots.as_ref();
        slots.map_or(Ok(()), |slots| slots.allocate_for(program.downloads()))
    }

    /// Waits until the functions of a program that are being compiled are loaded.
    pub(super) fn finish_compiling(&mut self, plan: &Plan) {
        for &(device, function) in &plan.functions {
            let gpu = &mut self.gpus[usize::from(device.0)];
            gpu.functions.finish_compiling(function);
        }
    }

    /// Binds the slots of all downloads, or none if one is busy.
    pub(super) fn bind(
        &self,
        downloads: impl Iterator<Item = (LatticeId, Slot)> + Clone,
    ) -> Result<()> {
        let slots = self.slots.as_ref();
        slots.map_or(Ok(()), |slots| slots.locks.bind_all(downloads))
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
}
