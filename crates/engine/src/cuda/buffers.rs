//! Buffers, and the ops on them: copies and calls.

use cust::sys;

use super::CudaEngine;
use super::calls::{Arguments, Call as DriverCall};
use super::context;
use super::driver::check;
use super::issue::Issuer;
use super::memory::{DeviceWords, HostWords};
use crate::check::Function;
use crate::kernels::Launch;
use crate::{
    Argument, BufferId, BufferLaunch, BufferLocation, BufferOffset, DeviceId, MemoryUse,
    ProgramError, Resource, Result,
};

/// A device or host buffer.
pub(super) struct Buffer {
    gpu: usize,
    bytes: usize,
    memory: Memory,
}

enum Memory {
    Device(DeviceWords),
    Host(HostWords),
}

impl Buffer {
    /// Calls `visit` with its words. Nothing else may be using them.
    fn visit(&self, visit: &mut dyn FnMut(&mut [u32])) -> Result<()> {
        let words = match &self.memory {
            Memory::Host(words) => {
                // SAFETY: the allocation has that many initialised words; nothing runs, and this is
                // the only place that makes a reference to them.
                visit(unsafe { std::slice::from_raw_parts_mut(words.at(), words.words()) });
                return Ok(());
            }
            Memory::Device(words) => words,
        };
        let mut copy = vec![0u32; self.bytes / 4];
        // SAFETY: both have `bytes` bytes; the call waits for the copy.
        check("cuMemcpyDtoH", unsafe {
            sys::cuMemcpyDtoH_v2(copy.as_mut_ptr().cast(), words.at(), self.bytes)
        })?;
        visit(&mut copy);
        // SAFETY: both have `bytes` bytes; the driver has read `copy` when the call returns.
        check("cuMemcpyHtoD", unsafe {
            sys::cuMemcpyHtoD_v2(words.at(), copy.as_ptr().cast(), self.bytes)
        })?;
        context::synchronize() // other streams do not wait for the default stream
    }
}

pub(super) fn find(buffers: &[Option<Buffer>], id: BufferId) -> Result<&Buffer> {
    let found = buffers.get(id.0 as usize).and_then(Option::as_ref);
    found.ok_or_else(|| ProgramError::Unknown(Resource::Buffer(id)).into())
}

impl CudaEngine {
    pub(super) fn make_buffer(
        &mut self,
        device: DeviceId,
        bytes: usize,
        place: BufferLocation,
    ) -> Result<BufferId> {
        let gpu = self.gpu_at(device)?;
        self.check.check_buffer_size(bytes)?;
        self.make_current(gpu)?;
        let context = &self.gpus[gpu].context;
        let what = MemoryUse::Buffer;
        let memory = match place {
            BufferLocation::Device => {
                Memory::Device(DeviceWords::zeroed(context, bytes / 4, what)?)
            }
            BufferLocation::Host(kind) => {
                Memory::Host(HostWords::new(context, bytes / 4, kind, what)?)
            }
        };
        self.buffers.push(Some(Buffer { gpu, bytes, memory }));
        self.check.add_buffer(device, bytes, place);
        Ok(BufferId(self.buffers.len() as u32 - 1))
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
}

impl Issuer<'_> {
    pub(super) fn copy(
        &mut self,
        from: BufferOffset,
        to: BufferOffset,
        bytes: usize,
    ) -> Result<()> {
        let stream = self.stream;
        let source = &find(self.buffers, from.buffer)?.memory;
        let target = &find(self.buffers, to.buffer)?.memory;
        let call = match (source, target) {
            (Memory::Host(source), Memory::Device(target)) => DriverCall::CopyIn {
                to: target.at() + to.offset as u64,
                from: source.at().wrapping_byte_add(from.offset).cast(),
                bytes,
                stream,
            },
            (Memory::Device(source), Memory::Host(target)) => DriverCall::CopyOut {
                to: target.at().wrapping_byte_add(to.offset).cast(),
                from: source.at() + from.offset as u64,
                bytes,
                stream,
            },
            (Memory::Device(source), Memory::Device(target)) => DriverCall::CopyWithin {
                to: target.at() + to.offset as u64,
                from: source.at() + from.offset as u64,
                bytes,
                stream,
            },
            (Memory::Host(_), Memory::Host(_)) => {
                return Err(ProgramError::HostToHost.into());
            }
        };
        self.sink.give(call)
    }

    /// Launches a called kernel.
    pub(super) fn launch_call(&mut self, call: &BufferLaunch) -> Result<()> {
        let mut arguments = Arguments::default();
        for argument in &call.arguments {
            match *argument {
                Argument::Buffer(region) => {
                    let Memory::Device(words) = &find(self.buffers, region.buffer)?.memory else {
                        return Err(ProgramError::NotOnDevice(region.buffer).into());
                    };
                    arguments.push(&(words.at() + region.offset as u64));
                }
                Argument::I32(number) => arguments.push(&number),
                Argument::U32(number) => arguments.push(&number),
                Argument::U64(number) => arguments.push(&number),
                Argument::F32(number) => arguments.push(&number),
            }
        }
        let records = self.timestamp_target(0).and_then(|target| target.of(0, 1));
        self.launch(
            Function::Buffer(call.kernel),
            shape_of(call),
            arguments,
            records,
        )
    }
}

/// The launch configuration of a called kernel.
pub(super) fn shape_of(call: &BufferLaunch) -> Launch {
    Launch {
        grid: [call.grid, 1, 1],
        block: [call.block, 1, 1],
        shared_bytes: u64::from(call.shared_bytes),
        entry: 0,
        cooperative: false,
    }
}
