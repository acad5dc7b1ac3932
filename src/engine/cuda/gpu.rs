//! One GPU: its context, its modules, its lattices.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use cust::context::{Context, CurrentContext};
use cust::device::Device;
use cust::memory::DeviceBuffer;
use cust::module::Module;
use cust::sys;

use super::driver::{check, cust};
use super::event::EventPool;
use super::ptx;
use super::timing::{Clock, Origin};
use crate::engine::{EngineError, Layout, Result};
use crate::life::Size;

/// A stream made with NON_BLOCKING, which `cust::Stream::new` drops silently.
pub(super) struct RawStream(sys::CUstream);

impl RawStream {
    pub(super) fn new() -> Result<RawStream> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: `raw` is valid for the write; a context is current. 1 is NON_BLOCKING.
        let code = unsafe { sys::cuStreamCreateWithPriority(&mut raw, 1, 0) };
        check("cuStreamCreateWithPriority", code)?;
        Ok(RawStream(raw))
    }

    pub(super) fn raw(&self) -> sys::CUstream {
        self.0
    }
}

impl Drop for RawStream {
    fn drop(&mut self) {
        // SAFETY: destroyed once; the driver lets queued work end first.
        unsafe { sys::cuStreamDestroy_v2(self.0) };
    }
}

/// One GPU. Fields are dropped in order: the context goes last.
pub(super) struct Gpu {
    pub(super) groups: Vec<Group>,
    pub(super) pool: EventPool,
    clock: Clock,
    /// Where nothing runs but the clock's anchors.
    clock_stream: RawStream,
    /// Where graphs are launched.
    pub(super) graph_stream: RawStream,
    /// How many graphs were.
    pub(super) replays: u64,
    functions: HashMap<&'static str, sys::CUfunction>,
    modules: Vec<Module>,
    pub(super) modules_ms: f64,
    pub(super) context: Arc<Context>,
}

/// Lattices of one size that were created together, in one allocation a buffer.
pub(super) struct Group {
    pub(super) size: Size,
    pub(super) count: usize,
    /// The two bit buffers.
    bits: [DeviceBuffer<u32>; 2],
    /// The two `i32` buffers, while a kernel wants them.
    cells: Option<[DeviceBuffer<i32>; 2]>,
    /// The reduced views, as large as has been wanted.
    view: Option<(DeviceBuffer<u32>, usize)>,
    /// How often they were moved; a graph holds their addresses.
    pub(super) view_moves: u64,
}

impl Gpu {
    pub(super) fn new(device: Device) -> Result<Gpu> {
        let context = Arc::new(cust("cuDevicePrimaryCtxRetain", Context::new(device))?);
        let clock_stream = RawStream::new()?;
        Ok(Gpu {
            groups: Vec::new(),
            pool: EventPool::default(),
            clock: Clock::new(clock_stream.raw())?,
            clock_stream,
            graph_stream: RawStream::new()?,
            replays: 0,
            functions: HashMap::new(),
            modules: Vec::new(),
            modules_ms: 0.0,
            context,
        })
    }

    pub(super) fn make_current(&self) -> Result<()> {
        cust(
            "cuCtxSetCurrent",
            CurrentContext::set_current(&*self.context),
        )
    }

    /// What the times of events recorded from now on are counted from.
    pub(super) fn origin(&self) -> Result<Origin> {
        self.clock.origin(self.clock_stream.raw())
    }

    /// A function of a kernel file, loading the file's PTX on first use.
    pub(super) fn function(
        &mut self,
        file: &'static str,
        symbol: &'static str,
    ) -> Result<sys::CUfunction> {
        if let Some(&function) = self.functions.get(symbol) {
            return Ok(function);
        }
        let text = ptx::find(file)
            .ok_or_else(|| EngineError::BadProgram(format!("there is no kernel file {file}")))?;
        let began = Instant::now();
        let module = cust("cuModuleLoadDataEx", Module::from_ptx(text, &[]))?;
        let function = cust("cuModuleGetFunction", module.get_function(symbol))?.to_raw();
        self.modules_ms += began.elapsed().as_secs_f64() * 1e3;
        self.modules.push(module);
        self.functions.insert(symbol, function);
        Ok(function)
    }

    pub(super) fn add_group(&mut self, count: usize, size: Size) -> Result<()> {
        let words = count * size.words();
        let what = "the lattices' bits";
        let bits = [zeroed(what, words)?, uninitialized(what, words)?];
        self.groups.push(Group {
            size,
            count,
            bits,
            cells: None,
            view: None,
            view_moves: 0,
        });
        Ok(())
    }
}

/// Device memory of zeros.
fn zeroed(what: &str, words: usize) -> Result<DeviceBuffer<u32>> {
    let buffer = uninitialized(what, words)?;
    let at: sys::CUdeviceptr = buffer.as_device_ptr().as_raw();
    // SAFETY: the allocation holds `words` words.
    check("cuMemsetD32", unsafe { sys::cuMemsetD32_v2(at, 0, words) })?;
    // The memset runs in the default stream, for which our streams do not wait.
    cust("cuCtxSynchronize", CurrentContext::synchronize())?;
    Ok(buffer)
}

/// Device memory that is written before it is read.
fn uninitialized<T: cust::memory::DeviceCopy>(
    what: &str,
    length: usize,
) -> Result<DeviceBuffer<T>> {
    // SAFETY: every element is written by a kernel or a copy before anything reads it.
    unsafe { DeviceBuffer::uninitialized(length) }.map_err(|error| match error {
        cust::error::CudaError::OutOfMemory => EngineError::OutOfMemory {
            place: "device",
            what: what.into(),
            needed_mib: ((length * size_of::<T>()) as u64).div_ceil(1 << 20),
        },
        other => cust::<()>("cuMemAlloc", Err(other)).unwrap_err(),
    })
}

impl Group {
    /// The address of a lattice's bit buffer of this parity.
    pub(super) fn bits_at(&self, index: usize, parity: u8) -> sys::CUdeviceptr {
        let base = self.bits[usize::from(parity)].as_device_ptr().as_raw();
        base + (index * self.size.words() * 4) as u64
    }

    /// The address of a lattice's `i32` buffer of this parity.
    pub(super) fn cells_at(&self, index: usize, parity: u8) -> Result<sys::CUdeviceptr> {
        let cells = self
            .cells
            .as_ref()
            .ok_or_else(|| EngineError::BadProgram("layout i32 was not reserved".into()))?;
        let base = cells[usize::from(parity)].as_device_ptr().as_raw();
        Ok(base + index as u64 * self.size.cells() * 4)
    }

    /// The address of a lattice's reduced view of `words` words.
    pub(super) fn view_at(&mut self, index: usize, words: usize) -> Result<sys::CUdeviceptr> {
        let (buffer, stride) = match &mut self.view {
            Some((buffer, stride)) if *stride >= words => (buffer, *stride),
            grown => {
                *grown = None; // freeing waits for what runs
                self.view_moves += 1;
                let buffer = uninitialized("the reduced views", words * self.count)?;
                let (buffer, stride) = grown.insert((buffer, words));
                (buffer, *stride)
            }
        };
        Ok(buffer.as_device_ptr().as_raw() + (index * stride * 4) as u64)
    }

    pub(super) fn reserve(&mut self, layout: Layout) -> Result<()> {
        match layout {
            Layout::Bits => self.cells = None,
            Layout::I32 if self.cells.is_some() => {}
            Layout::I32 => {
                let cells = self.count as u64 * self.size.cells();
                let cells = usize::try_from(cells).unwrap_or(usize::MAX / 8);
                let what = "the lattices at 4 bytes a cell";
                self.cells = Some([uninitialized(what, cells)?, uninitialized(what, cells)?]);
            }
        }
        Ok(())
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // What the fields free belongs to this context.
        let _ = self.make_current();
    }
}
