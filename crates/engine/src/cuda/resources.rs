//! The GPUs of an engine and what was created on them.

use std::sync::Arc;
use std::time::Instant;

use cust::sys;

use super::buffers::{Buffer, find};
use super::context::{self, OwnedContext};
use super::driver::{self, check};
use super::event::Event;
use super::gpu::Gpu;
use super::group::Group;
use super::slots::{CudaSlots, GroupShape};
use super::stream::RawStream;
use crate::check::{Plan, Validator};
use crate::error::invalid;
use crate::{
    Band, BufferId, BufferLocation, DeviceId, EngineError, EventId, Feature, LatticeId, Layout,
    Program, Result, Slot, Slots, SlotsSpec, StreamId, StreamKind, StreamSpec, nvtx,
};
use life::Size;

/// The GPUs of an engine and what was created on them.
pub(super) struct Resources {
    // Fields drop in this order: what refers to contexts, then the contexts.
    /// Each with the index of its GPU.
    pub(super) events: Vec<(usize, Event)>,
    pub(super) streams: Vec<Stream>,
    /// By [`BufferId`]; `None` once dropped.
    pub(super) buffers: Vec<Option<Buffer>>,
    pub(super) slots: Option<Arc<CudaSlots>>,
    pub(super) gpus: Vec<Gpu>,
    /// Validates programs and tracks the lattices' states.
    pub(super) check: Validator,
    /// The time at which every device's clock shows 0.
    zero: Instant,
}

pub(super) struct Stream {
    pub(super) gpu: usize,
    pub(super) raw: RawStream,
    /// The number of replays on its GPU that it already waits for.
    pub(super) replays_seen: u64,
}

impl Resources {
    pub(super) fn new(gpus: Vec<Gpu>, check: Validator, zero: Instant) -> Resources {
        Resources {
            events: Vec::new(),
            streams: Vec::new(),
            buffers: Vec::new(),
            slots: None,
            gpus,
            check,
            zero,
        }
    }

    /// Drops everything but the contexts and the functions that were loaded. Nothing may run.
    pub(super) fn clear(&mut self) -> Result<()> {
        self.events.clear();
        self.streams.clear();
        self.buffers.clear();
        self.slots = None;
        self.check = Validator::new(std::mem::take(&mut self.check.devices));
        for gpu in 0..self.gpus.len() {
            self.make_current(gpu)?;
            self.gpus[gpu].groups.clear();
            self.gpus[gpu].default_stream = None;
        }
        Ok(())
    }

    /// Makes a GPU's context current on this thread.
    pub(super) fn make_current(&self, gpu: usize) -> Result<()> {
        self.gpus[gpu].context.make_current()
    }

    /// Waits until nothing runs on any device.
    pub(super) fn synchronize(&self) -> Result<()> {
        // Wait for every device, even if one fails.
        let mut answer = Ok(());
        for gpu in 0..self.gpus.len() {
            let one = self.make_current(gpu).and_then(|()| context::synchronize());
            answer = answer.and(one);
        }
        answer
    }

    /// The driver's handle of a stream. Panics for an unknown stream.
    pub(super) fn raw(&self, stream: StreamId) -> sys::CUstream {
        self.streams[stream.0 as usize].raw.raw()
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
        for &(group, words) in &plan.views {
            let (gpu, on_device) = self.place_of(group);
            self.make_current(gpu)?;
            self.gpus[gpu].grow_views(on_device, words)?;
            self.check.lattices.groups[group].view_capacity = words;
        }
        for &group in &plan.measures {
            let (gpu, on_device) = self.place_of(group);
            self.make_current(gpu)?;
            self.gpus[gpu].groups[on_device].make_measures()?;
            self.check.lattices.groups[group].has_measures_memory = true;
        }
        for &(device, function) in &plan.functions {
            let gpu = usize::from(device.0);
            self.make_current(gpu)?;
            self.gpus[gpu].functions.get(function, false)?;
            if program.block_timestamps && function.has_timestamps() {
                self.gpus[gpu].functions.get(function, true)?;
            }
        }
        let slots = self.slots.as_ref();
        slots.map_or(Ok(()), |slots| slots.allocate_for(program.downloads()))
    }

    /// Waits until the functions of a program that are being compiled are loaded.
    pub(super) fn finish_compiling(&mut self, plan: &Plan) {
        for (device, step) in plan.of_ladder() {
            let gpu = &mut self.gpus[usize::from(device.0)];
            gpu.functions.finish_compiling(step);
        }
    }

    /// Frees other layouts on every device, then allocates this one.
    pub(super) fn reserve(&mut self, layout: Layout) -> Result<()> {
        let answer = self.reserve_on_all(layout);
        // The states must match what was allocated, also after an error.
        let groups = self.check.lattices.groups.iter();
        let allocated: Vec<bool> = groups
            .map(|group| {
                let gpu = &self.gpus[usize::from(group.device.0)];
                gpu.groups[group.on_device].has(layout)
            })
            .collect();
        self.check.reserve(layout, &allocated);
        answer
    }

    fn reserve_on_all(&mut self, layout: Layout) -> Result<()> {
        for gpu in 0..self.gpus.len() {
            self.make_current(gpu)?;
            let groups = self.gpus[gpu].groups.iter_mut();
            groups.for_each(|group| group.keep_only(layout));
        }
        for gpu in 0..self.gpus.len() {
            self.make_current(gpu)?;
            self.gpus[gpu].reserve(layout)?;
        }
        Ok(())
    }

    /// The GPU of a group, and the group's index there.
    fn place_of(&self, group: usize) -> (usize, usize) {
        let group = &self.check.lattices.groups[group];
        (usize::from(group.device.0), group.on_device)
    }

    pub(super) fn make_lattices(
        &mut self,
        device: DeviceId,
        count: usize,
        size: Size,
        band: Option<Band>,
    ) -> Result<()> {
        let gpu = self.gpu_at(device)?;
        self.make_current(gpu)?;
        let alike = count * band.map_or(1, |band| band.per_device as usize);
        let group = Group::new(&self.gpus[gpu].context, count, alike, size)?;
        self.gpus[gpu].groups.push(group);
        self.check.add_lattices(device, count, size, band);
        Ok(())
    }

    pub(super) fn make_event(&mut self, device: DeviceId) -> Result<EventId> {
        let gpu = self.gpu_at(device)?;
        self.make_current(gpu)?;
        let event = self.gpus[gpu].pool.plain()?;
        self.events.push((gpu, event));
        self.check.add_event(device);
        Ok(EventId(self.events.len() as u32 - 1))
    }

    pub(super) fn has_fired(&self, event: EventId) -> Result<bool> {
        self.check.check_event(event)?;
        let (gpu, event) = &self.events[event.0 as usize];
        self.make_current(*gpu)?;
        event.fired()
    }

    pub(super) fn make_stream(&mut self, device: DeviceId, spec: StreamSpec) -> Result<StreamId> {
        let gpu = self.gpu_at(device)?;
        let known = self.gpus[gpu].default_stream;
        if let (StreamKind::Default, Some(known)) = (spec.kind, known) {
            return Ok(known);
        }
        self.make_current(gpu)?;
        let replays_seen = self.gpus[gpu].replays;
        self.streams.push(Stream {
            gpu,
            raw: RawStream::new(spec)?,
            replays_seen,
        });
        let id = StreamId(self.streams.len() as u32 - 1);
        self.name_stream(id, &format!("stream {}", id.0));
        let is_default = spec.kind == StreamKind::Default;
        self.check.add_stream(id, device, is_default);
        if is_default {
            self.gpus[gpu].default_stream = Some(id);
        }
        Ok(id)
    }

    /// Names a stream in profilers. Panics for an unknown stream.
    pub(super) fn name_stream(&self, stream: StreamId, name: &str) {
        // SAFETY: the stream is alive.
        unsafe { nvtx::name_stream(self.raw(stream).cast(), name) };
    }

    pub(super) fn make_context(&mut self, device: DeviceId) -> Result<DeviceId> {
        let of = self.gpu_at(device)?;
        if self.gpus.len() > usize::from(u16::MAX) {
            return Err(invalid("too many contexts"));
        }
        let raw = self.gpus[of].device;
        let context = OwnedContext::further(raw)?;
        self.gpus.push(Gpu::new(raw, context, self.zero)?);
        Ok(self.check.add_context(device))
    }

    pub(super) fn make_slots(&mut self, spec: SlotsSpec) -> Result<Arc<dyn Slots>> {
        let groups = self.check.lattices.groups.iter();
        let shapes: Vec<GroupShape> = groups
            .map(|group| GroupShape {
                context: self.gpus[usize::from(group.device.0)].context.clone(),
                count: group.count,
                words: group.size.words(),
            })
            .collect();
        let slots = Arc::new(CudaSlots::allocate(spec, &shapes)?);
        self.check.set_slots(spec);
        self.slots = Some(slots.clone());
        Ok(slots)
    }

    pub(super) fn make_buffer(
        &mut self,
        device: DeviceId,
        bytes: usize,
        place: BufferLocation,
    ) -> Result<BufferId> {
        let gpu = self.gpu_at(device)?;
        self.check.check_buffer_size(bytes)?;
        let needed = match place {
            BufferLocation::Pool => Some(Feature::MemoryPools),
            BufferLocation::Managed => Some(Feature::ManagedMemory),
            BufferLocation::Device | BufferLocation::Host(_) => None,
        };
        needed.map_or(Ok(()), |feature| self.check_feature(device, feature))?;
        self.make_current(gpu)?;
        let context = &self.gpus[gpu].context;
        let buffer = Buffer::new(gpu, context, bytes, place)?;
        self.buffers.push(Some(buffer));
        self.check.add_buffer(device, bytes, place);
        Ok(BufferId(self.buffers.len() as u32 - 1))
    }

    pub(super) fn check_feature(&self, device: DeviceId, feature: Feature) -> Result<()> {
        let device = self.gpus[self.gpu_at(device)?].device;
        let is_other = |gpu: &Gpu| gpu.device.as_raw() != device.as_raw();
        if feature == Feature::PeerCopies && !self.gpus.iter().any(is_other) {
            return Err(EngineError::no_second_device(feature));
        }
        driver::check_feature(device, feature)
    }

    pub(super) fn set_peer_access(
        &self,
        device: DeviceId,
        peer: DeviceId,
        is_allowed: bool,
    ) -> Result<bool> {
        let (own, peer) = (self.gpu_at(device)?, self.gpu_at(peer)?);
        let (own, peer) = (&self.gpus[own], &self.gpus[peer]);
        let mut can = 0;
        // SAFETY: `can` is valid for the write.
        check("cuDeviceCanAccessPeer", unsafe {
            sys::cuDeviceCanAccessPeer(&mut can, own.device.as_raw(), peer.device.as_raw())
        })?;
        if can == 0 {
            return Ok(false);
        }
        own.context.set_peer_access(&peer.context, is_allowed)
    }

    pub(super) fn visit_buffer(
        &mut self,
        buffer: BufferId,
        visit: &mut dyn FnMut(&mut [u32]),
    ) -> Result<()> {
        let gpu = find(&self.buffers, buffer)?.gpu;
        self.make_current(gpu)?;
        find(&self.buffers, buffer)?.visit(visit)
    }

    /// Drops every buffer. The pools of devices keep nothing of those that they had. Nothing may run.
    pub(super) fn drop_buffers(&mut self) {
        self.check.drop_buffers();
        let pooled = self
            .buffers
            .iter()
            .flatten()
            .filter(|buffer| buffer.is_pooled());
        for gpu in pooled.map(|buffer| buffer.gpu) {
            // What it keeps is only a loss of memory.
            let _ = self.gpus[gpu].set_release_threshold(0);
        }
        self.buffers.fill_with(|| None);
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
