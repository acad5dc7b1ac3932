//! One GPU: its context, its functions, its lattices.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use cust::device::{Device, DeviceAttribute};
use cust::sys;

use super::calls::{Arguments, launch};
use super::driver::{check, cust};
use super::functions::Functions;
use super::group::Group;
use super::handles::{Event, EventPool, OwnedContext, RawStream};
use super::memory::{DeviceWords, HostWords, MirroredWords};
use super::timing::Anchor;
use crate::kernels::{Function, Launch, Parameter};
use crate::{HostMemory, MemoryUse, Result, StreamId, StreamSpec, SupportKernel};

/// One GPU, or another context on it. Fields drop in order: the context last.
pub(super) struct Gpu {
    pub(super) groups: Vec<Group>,
    pub(super) pool: EventPool,
    /// Unused memory for block timestamps.
    pub(super) timestamp_pool: Vec<MirroredWords>,
    /// Offset between `%globaltimer` and the events' clock, and when it was measured.
    skew: Option<(i64, Instant)>,
    /// The device's clock.
    pub(super) anchor: Rc<Anchor>,
    /// For the clock's anchors, and for copies that are waited for.
    pub(super) idle_stream: RawStream,
    /// The stream for graph launches.
    pub(super) graph_stream: RawStream,
    /// The number of graphs launched.
    pub(super) replays: u64,
    /// The default stream, once created.
    pub(super) default_stream: Option<StreamId>,
    pub(super) functions: Functions,
    pub(super) device: Device,
    pub(super) sm_count: u32,
    pub(super) context: Arc<OwnedContext>,
}

impl Gpu {
    /// Uses a context of the device, which must be current. The device's clock shows 0 at `zero`.
    pub(super) fn new(device: Device, context: OwnedContext, zero: Instant) -> Result<Gpu> {
        let context = Arc::new(context);
        let idle_stream = RawStream::new(StreamSpec::PLAIN)?;
        let sm_count = device.get_attribute(DeviceAttribute::MultiprocessorCount);
        Ok(Gpu {
            sm_count: cust("cuDeviceGetAttribute", sm_count)? as u32,
            groups: Vec::new(),
            pool: EventPool::default(),
            timestamp_pool: Vec::new(),
            skew: None,
            anchor: Anchor::new(idle_stream.0, zero)?.into(),
            idle_stream,
            graph_stream: RawStream::new(StreamSpec::PLAIN)?,
            replays: 0,
            default_stream: None,
            functions: Functions::new(context.clone()),
            device,
            context,
        })
    }

    /// The anchor for the times of events recorded from now on.
    pub(super) fn origin(&mut self) -> Result<Rc<Anchor>> {
        self.anchor = self.anchor.renewed(self.idle_stream.0)?;
        Ok(self.anchor.clone())
    }

    /// Takes large enough memory for block timestamps from the pool, or allocates it.
    pub(super) fn take_timestamp_memory(&mut self, words: usize) -> Result<MirroredWords> {
        let fits = |memory: &MirroredWords| memory.host.words >= words;
        if let Some(found) = self.timestamp_pool.iter().position(fits) {
            return Ok(self.timestamp_pool.swap_remove(found));
        }
        self.timestamp_pool.pop(); // too small; the new one replaces it
        let (words, what) = (words.next_power_of_two(), MemoryUse::BlockTimestamps);
        Ok(MirroredWords {
            device: DeviceWords::uninitialized(&self.context, words, what)?,
            host: HostWords::new(&self.context, words, HostMemory::Pinned, what)?,
        })
    }

    /// See [`MemoryOp::SetReleaseThreshold`](crate::MemoryOp::SetReleaseThreshold).
    pub(super) fn set_release_threshold(&self, mut bytes: u64) -> Result<()> {
        let mut pool = std::ptr::null_mut();
        // SAFETY: `pool` is valid for the write.
        check("cuDeviceGetDefaultMemPool", unsafe {
            sys::cuDeviceGetDefaultMemPool(&mut pool, self.device.as_raw())
        })?;
        let threshold = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
        // SAFETY: the pool is the device's own; the attribute is a number of 64 bits.
        check("cuMemPoolSetAttribute", unsafe {
            sys::cuMemPoolSetAttribute(pool, threshold, (&raw mut bytes).cast())
        })
    }

    /// The value of `%globaltimer` when this device's clock shows 0. Measured again after a second:
    /// a kernel reads `%globaltimer` between two events. Blocks until that kernel is done.
    pub(super) fn skew(&mut self) -> Result<i64> {
        if let Some((nanos, measured)) = self.skew
            && measured.elapsed().as_secs_f64() < 1.0
        {
            return Ok(nanos);
        }
        let function = self
            .functions
            .get(Function::Support(SupportKernel::Clock), false)?;
        let memory = self.take_timestamp_memory(8)?;
        let origin = self.origin()?;
        let stream = self.idle_stream.0;
        let (before, after) = (Event::new(true)?, Event::new(true)?);
        let mut best = (i64::MAX, 0);
        for _ in 0..4 {
            // Use the shortest of four: the first may wait for the function to load, and any may
            // wait for other work on the device.
            before.record(stream)?;
            let at = memory.device.at; // 8 bytes are written, 32 allocated
            let parameters = SupportKernel::Clock.row().parameters;
            let arguments = Arguments::fill(parameters, &[(Parameter::To, at)])?;
            // SAFETY: the function takes this address, which is of the current context.
            unsafe { launch(function, Launch::over(1, 1, (1, 1)), &arguments, stream) }?;
            after.record(stream)?;
            // SAFETY: there are 8 bytes on both sides; the stream is waited for before they are read.
            check("cuMemcpyDtoHAsync", unsafe {
                sys::cuMemcpyDtoHAsync_v2(memory.host.at.cast(), at, 8, stream)
            })?;
            // SAFETY: the stream is alive.
            check("cuStreamSynchronize", unsafe {
                sys::cuStreamSynchronize(stream)
            })?;
            // SAFETY: the copy above wrote two words there.
            let shown = unsafe { memory.host.at.cast::<u64>().read_unaligned() } as i64;
            let (from, to) = (origin.nanos(&before)?, origin.nanos(&after)?);
            let middle = from + (to - from) / 2;
            best = best.min((to - from, shown.wrapping_sub(middle)));
        }
        self.timestamp_pool.push(memory);
        let (_, nanos) = best;
        self.skew = Some((nanos, Instant::now()));
        Ok(nanos)
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // The fields free memory of this context.
        let _ = self.context.make_current();
        self.functions.stop_compiling();
    }
}
