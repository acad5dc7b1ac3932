//! Validates copies between buffers and calls of kernels without lattices.

use crate::buffer_kernels::{ArgumentType, LESSON_KERNELS, PROBE_KERNELS};
use crate::error::{bail, invalid, known};
use crate::kernels::cooperative::MAX_SHARED_BYTES;
use crate::kernels::{Function, MAX_PARAMETERS};
use crate::{
    Argument, BufferId, BufferLaunch, BufferLocation, BufferOffset, BufferOp, DeviceId, HostMemory,
    MemoryOp, Result, StreamId,
};

/// The buffers of an engine.
#[derive(Default)]
pub(super) struct Buffers {
    /// By [`BufferId`]; `None` once dropped.
    pub all: Vec<Option<BufferFacts>>,
    /// Those that the program being validated has allocated and not freed, each with its stream.
    pub allocated: Vec<(BufferId, StreamId)>,
}

/// The facts about a buffer that programs are checked against.
pub(super) struct BufferFacts {
    pub device: DeviceId,
    pub bytes: usize,
    pub place: BufferLocation,
}

/// Errors unless `bytes` is a positive multiple of 4.
pub(crate) fn check_size(bytes: usize) -> Result<()> {
    if bytes == 0 || !bytes.is_multiple_of(4) {
        bail!("{bytes} bytes: the size must be a positive multiple of 4");
    }
    Ok(())
}

impl Buffers {
    fn buffer(&self, id: BufferId) -> Result<&BufferFacts> {
        let buffer = self.all.get(id.0 as usize);
        known(buffer.and_then(Option::as_ref), id)
    }

    /// The buffer of a region of `bytes` bytes. Errors if the region is not aligned, does not fit
    /// the buffer, or is not allocated.
    fn region(&self, region: BufferOffset, bytes: usize, stream: StreamId) -> Result<&BufferFacts> {
        let buffer = self.buffer(region.buffer)?;
        let BufferOffset { offset, buffer: id } = region;
        if !offset.is_multiple_of(4) {
            bail!(
                "offset {} of {:?} is not a multiple of 4",
                region.offset,
                region.buffer
            );
        }
        if offset
            .checked_add(bytes)
            .is_none_or(|end| end > buffer.bytes)
        {
            bail!(
                "{bytes} bytes from offset {} of {:?} do not fit, it has {} bytes",
                region.offset,
                region.buffer,
                buffer.bytes
            );
        }
        if buffer.place == BufferLocation::Pool && !self.allocated.contains(&(id, stream)) {
            bail!("{id:?} is not allocated in this stream");
        }
        Ok(buffer)
    }

    /// Validates an op on buffers in a stream of a device. Returns the function that it launches.
    pub(super) fn validate(
        &mut self,
        op: &BufferOp,
        (stream, device): (StreamId, DeviceId),
    ) -> Result<Option<Function>> {
        match op {
            BufferOp::Copy { from, to, bytes } => {
                self.check_copy(*from, *to, *bytes, (stream, device))?;
            }
            BufferOp::HostFunction(buffer) => match self.buffer(*buffer)?.place {
                BufferLocation::Host(_) => {}
                other => bail!("{buffer:?} cannot be used like this in {other:?}"),
            },
            BufferOp::Memory(op) => self.check_memory(*op, (stream, device))?,
            BufferOp::Launch(call) => {
                self.check_call(call, (stream, device))?;
                return Ok(Some(call.kernel.function()));
            }
        }
        Ok(None)
    }

    fn check_copy(
        &self,
        from: BufferOffset,
        to: BufferOffset,
        bytes: usize,
        (stream, device): (StreamId, DeviceId),
    ) -> Result<()> {
        check_size(bytes)?;
        let source = self.region(from, bytes, stream)?;
        let target = self.region(to, bytes, stream)?;
        if !source.place.is_on_device() && !target.place.is_on_device() {
            bail!("a device cannot copy from host to host");
        }
        match [
            self.check_is_here(from.buffer, device),
            self.check_is_here(to.buffer, device),
        ] {
            [Ok(()), Err(_)] | [Err(_), Ok(())] if is_peer_copy(source, target) => Ok(()),
            [of_source, of_target] => of_source.and(of_target),
        }
    }

    /// Errors for a copy that a CUDA graph cannot contain.
    pub(super) fn check_copy_preparable(&self, from: BufferOffset, to: BufferOffset) -> Result<()> {
        let sides = [self.buffer(from.buffer)?, self.buffer(to.buffer)?];
        let pageable = BufferLocation::Host(HostMemory::Pageable);
        let what = if sides.iter().any(|buffer| buffer.place == pageable) {
            "a copy of pageable memory"
        } else if is_peer_copy(sides[0], sides[1]) {
            "a copy between devices, which have a graph each"
        } else {
            return Ok(());
        };
        Err(invalid!("{what} cannot be prepared"))
    }

    /// Errors if a buffer is on another device than the stream.
    fn check_is_here(&self, id: BufferId, device: DeviceId) -> Result<()> {
        let buffer = self.buffer(id)?;
        if buffer.place.is_on_device() && buffer.device != device {
            bail!("{id:?} is not on the stream's device");
        }
        Ok(())
    }

    fn check_memory(&mut self, op: MemoryOp, (stream, device): (StreamId, DeviceId)) -> Result<()> {
        let (id, needed) = match op {
            MemoryOp::Allocate(id) | MemoryOp::Free(id) => (id, BufferLocation::Pool),
            MemoryOp::AdviseReadMostly(id) | MemoryOp::Prefetch(id, _) => {
                (id, BufferLocation::Managed)
            }
            MemoryOp::SetReleaseThreshold(_) => return Ok(()),
        };
        let place = self.buffer(id)?.place;
        if place != needed {
            bail!("{id:?} cannot be used like this in {place:?}");
        }
        self.check_is_here(id, device)?;
        let mut allocated = self.allocated.iter();
        match (op, allocated.position(|&(other, _)| other == id)) {
            (MemoryOp::Allocate(_), None) => self.allocated.push((id, stream)),
            (MemoryOp::Allocate(_), Some(_)) => {
                bail!("{id:?} is allocated and not freed");
            }
            (MemoryOp::Free(_), Some(at)) if self.allocated[at].1 == stream => {
                self.allocated.remove(at);
            }
            (MemoryOp::Free(_), _) => {
                bail!("{id:?} is not allocated in this stream");
            }
            _ => {}
        }
        Ok(())
    }

    fn check_call(
        &self,
        call: &BufferLaunch,
        (stream, device): (StreamId, DeviceId),
    ) -> Result<()> {
        let kernel = call.kernel;
        let name = kernel.name;
        let mut known = LESSON_KERNELS.into_iter().chain(PROBE_KERNELS);
        if kernel.own.is_none() && !known.any(|known| std::ptr::eq(known, kernel)) {
            bail!("there is no kernel {name}");
        }
        let (given, wanted) = (call.arguments.len(), kernel.parameters.len());
        if given != wanted {
            bail!("{name} takes {wanted} arguments, not {given}");
        }
        for (argument, wanted) in call.arguments.iter().zip(kernel.parameters) {
            let given = type_of(argument);
            if given != *wanted {
                bail!("{name} takes {wanted:?}, not {given:?}");
            }
        }
        if wanted > MAX_PARAMETERS || call.shape.shared_bytes > MAX_SHARED_BYTES {
            bail!("{name} takes more arguments or more shared memory than a launch can have");
        }
        let (grid, block) = call.shape.counts();
        if grid == 0 || !(1..=1024).contains(&block) {
            bail!("{name} cannot run in {grid} blocks of {block} threads");
        }
        let mut words = words_of(call)?.into_iter();
        for argument in &call.arguments {
            let Argument::Buffer(region) = *argument else {
                continue;
            };
            // A kernel that `words_of` does not list uses at least one word.
            let bytes = words.next().unwrap_or(1).saturating_mul(4).max(4);
            if !self.region(region, bytes, stream)?.place.is_on_device() {
                bail!("{:?} is not on the device", region.buffer);
            }
            self.check_is_here(region.buffer, device)?;
        }
        Ok(())
    }
}

/// Whether both are in the memory of a device, of two devices.
fn is_peer_copy(source: &BufferFacts, target: &BufferFacts) -> bool {
    let both = [source.place, target.place];
    both == [BufferLocation::Device; 2] && source.device != target.device
}

/// The type of an argument.
fn type_of(argument: &Argument) -> ArgumentType {
    match argument {
        Argument::Buffer(_) => ArgumentType::Buffer,
        Argument::I32(_) => ArgumentType::I32,
        Argument::U32(_) => ArgumentType::U32,
        Argument::U64(_) => ArgumentType::U64,
        Argument::F32(_) => ArgumentType::F32,
    }
}

/// Words that a call uses of each buffer argument, in order. The arguments' types have been
/// checked.
fn words_of(call: &BufferLaunch) -> Result<Vec<usize>> {
    use Argument::I32;
    let name = call.kernel.name;
    let (grid, block) = call.shape.counts();
    let count = |number: i32| {
        usize::try_from(number).map_err(|_| invalid!("{name} cannot have a length of {number}"))
    };
    Ok(match (name, call.arguments.as_slice()) {
        ("scale", &[_, I32(length), _]) => vec![count(length)?],
        ("gray", &[.., I32(pixels)]) => {
            let number = count(pixels)?;
            if !number.is_multiple_of(4) {
                bail!("{name} cannot have a length of {pixels}");
            }
            vec![number, number / 4]
        }
        ("mandelbrot", &[_, _, I32(length), ..]) => {
            let length = count(length)?;
            vec![2 * length, length]
        }
        ("barrier", &[_, _, I32(width), I32(height), ..]) => {
            let (width, height) = (count(width)?, count(height)?);
            let cells = width.saturating_mul(height);
            if cells == 0 || grid != 1 || !block.is_multiple_of(32) {
                bail!("{name} cannot run in {grid} blocks of {block} threads");
            }
            vec![cells, cells]
        }
        ("lop3_rate", _) => vec![grid as usize * block as usize],
        _ => Vec::new(),
    })
}
