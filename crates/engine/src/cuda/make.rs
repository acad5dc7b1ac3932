//! Creates streams, additional contexts and host slots.

use std::sync::Arc;

use super::context::OwnedContext;
use super::gpu::Gpu;
use super::slots::{CudaSlots, GroupShape};
use super::stream::RawStream;
use super::{CudaEngine, Stream};
use crate::{
    DeviceId, Engine, ProgramError, Result, Slots, SlotsSpec, StreamId, StreamKind, StreamSpec,
};

impl CudaEngine {
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
        self.runs.markers.push(Default::default());
        let id = StreamId(self.streams.len() as u32 - 1);
        let is_default = spec.kind == StreamKind::Default;
        self.check.add_stream(id, device, is_default);
        if is_default {
            self.gpus[gpu].default_stream = Some(id);
        }
        Ok(id)
    }

    pub(super) fn make_context(&mut self, device: DeviceId) -> Result<DeviceId> {
        let of = self.gpu_at(device)?;
        if self.gpus.len() > usize::from(u16::MAX) {
            return Err(ProgramError::TooManyContexts.into());
        }
        let raw = self.gpus[of].device;
        let context = OwnedContext::further(raw)?;
        self.gpus.push(Gpu::new(raw, context, self.zero)?);
        Ok(self.check.add_context(device))
    }

    pub(super) fn make_slots(&mut self, spec: SlotsSpec) -> Result<Arc<dyn Slots>> {
        self.synchronize()?;
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
}
