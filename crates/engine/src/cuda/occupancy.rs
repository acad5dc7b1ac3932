//! Occupancy: how many blocks of a kernel are resident at once.

use std::ops::Range;

use cust::device::DeviceAttribute;
use cust::sys;

use super::driver::{check, cust};
use super::resources::Resources;
use crate::check::GroupFacts;
use crate::error::invalid;
use crate::kernels::{Function, Launch};
use crate::{BufferOp, DeviceId, LatticeId, LatticeOp, Occupancy, Op, Result, SupportKernel};
use life::Rule;

/// The occupancy of an op's kernel. If the op has several lattices, the size of the first one
/// counts.
pub(super) fn occupancy_of(
    resources: &mut Resources,
    device: DeviceId,
    op: &Op,
) -> Result<Option<Occupancy>> {
    let gpu = resources.gpu_at(device)?;
    let (shape, function) = match op {
        Op::Buffers(BufferOp::Launch(call)) => (call.shape(), Function::Buffer(call.kernel)),
        Op::Lattices(lattices, LatticeOp::Advance { kernel, block, .. }) => {
            let group = group_of(resources, device, lattices)?;
            let size = group.size;
            kernel.validate_size(size)?;
            kernel.validate_block(*block)?;
            let sm_count = resources.gpus[gpu].sm_count;
            let max = kernel.max_batch(size, group.alike(), sm_count);
            let count = (lattices.len() as u32).min(max);
            let shape = kernel.launch(size, *block, group.batch(count, count), sm_count);
            (shape, kernel.function(shape.entry, Rule::LIFE))
        }
        Op::Lattices(lattices, LatticeOp::Pack) => {
            let size = group_of(resources, device, lattices)?.size;
            let first = LatticeId(lattices.start);
            let layout = resources.check.states.committed(first).layout;
            let Some(kernel) = SupportKernel::pack(layout) else {
                return Ok(None);
            };
            let shape = Launch::convert(size, lattices.len() as u32, layout);
            (shape, Function::Support(kernel))
        }
        Op::Lattices(lattices, LatticeOp::Reduce(region)) => {
            let state = resources.check.states.committed(LatticeId(lattices.start));
            let (kernel, count) = match state.band {
                None => (SupportKernel::Reduce, lattices.len() as u32),
                Some(_) => (SupportKernel::Count, 1),
            };
            (Launch::reduce(*region, count), Function::Support(kernel))
        }
        _ => return Ok(None),
    };
    resources.make_current(gpu)?;
    let function = resources.gpus[gpu].functions.get(function, false)?;
    let block_threads: u32 = shape.block.iter().product();
    let mut blocks_per_sm = 0;
    // SAFETY: the function is of the current context; the number is valid for the write.
    check("cuOccupancyMaxActiveBlocksPerMultiprocessor", unsafe {
        sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(
            &mut blocks_per_sm,
            function,
            block_threads as i32,
            shape.shared_bytes as usize,
        )
    })?;
    let attribute = |which| {
        let answer = resources.gpus[gpu].device.get_attribute(which);
        cust("cuDeviceGetAttribute", answer).map(|number| number as u32)
    };
    Ok(Some(Occupancy {
        blocks: shape.grid.iter().copied().map(u64::from).product(),
        blocks_per_sm: blocks_per_sm as u32,
        sm_count: attribute(DeviceAttribute::MultiprocessorCount)?,
        block_threads,
        max_threads_per_sm: attribute(DeviceAttribute::MaxThreadsPerMultiprocessor)?,
    }))
}

/// What the first of these lattices, which must be on the device, has in common with others.
fn group_of<'a>(
    resources: &'a Resources,
    device: DeviceId,
    lattices: &Range<u32>,
) -> Result<&'a GroupFacts> {
    let first = LatticeId(lattices.start);
    let group = resources.check.lattices.find(first);
    let group = group.filter(|group| group.device == device);
    group.ok_or_else(|| invalid(format!("{first:?} is not on the stream's device")))
}
