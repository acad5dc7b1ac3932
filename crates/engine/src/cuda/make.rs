//! What is made before programs can use it: streams, further contexts, host slots.

use std::sync::Arc;

use super::context::OwnedContext;
use super::gpu::Gpu;
use super::slots::{CudaSlots, GroupShape};
use super::stream::RawStream;
use super::{CudaEngine, Stream};
use crate::{
    DeviceId, Engine, EngineError, Result, Slots, SlotsSpec, StreamId, StreamKind, StreamSpec,
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
        self.runs.marks.push(Default::default());
        let id = StreamId(self.streams.len() as u32 - 1);
        if spec.kind == StreamKind::Default {
            self.gpus[gpu].default_stream = Some(id);
        }
        Ok(id)
    }

    pub(super) fn make_context(&mut self, device: DeviceId) -> Result<DeviceId> {
        let of = self.gpu_at(device)?;
        let id = u16::try_from(self.gpus.len())
            .map_err(|_| EngineError::BadProgram("too many contexts".into()))?;
        let device = self.gpus[of].device;
        self.current = None;
        let context = OwnedContext::further(device)?;
        self.gpus.push(Gpu::new(device, context, self.zero)?);
        self.infos.push(self.infos[of].clone());
        Ok(DeviceId(id))
    }

    pub(super) fn make_slots(&mut self, spec: SlotsSpec) -> Result<Arc<dyn Slots>> {
        self.synchronize()?;
        self.epoch += 1;
        let mut shapes: Vec<GroupShape> = Vec::new();
        let mut seen = None;
        for home in &self.homes {
            if seen != Some((home.gpu, home.group)) {
                seen = Some((home.gpu, home.group));
                let gpu = &self.gpus[home.gpu];
                let group = &gpu.groups[home.group];
                let context = gpu.context.clone();
                shapes.push(GroupShape {
                    context,
                    count: group.count,
                    words: group.size.words(),
                });
            }
        }
        self.current = None; // allocating goes through all contexts
        let slots = Arc::new(CudaSlots::allocate(spec, &shapes)?);
        self.slots = Some(slots.clone());
        Ok(slots)
    }
}
