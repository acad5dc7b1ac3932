//! One GPU: its context, its modules, its lattices.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use cust::device::Device;
use cust::memory::DeviceBuffer;
use cust::module::Module;
use cust::sys;

use super::block_timestamps::{Skew, TimestampMemory};
use super::context::{self, OwnedContext};
use super::driver::{check, cust};
use super::event::EventPool;
use super::stream::RawStream;
use super::timing::{Clock, Origin};
use super::{instrumentation, ptx};
use crate::kernels::Launch;
use crate::{EngineError, Layout, Measure, Result, StreamId, StreamSpec, WordEdit};
use life::Size;

/// One GPU. Fields are dropped in order: the context goes last.
pub(super) struct Gpu {
    pub(super) groups: Vec<Group>,
    pub(super) pool: EventPool,
    /// Spare memory for stamps.
    pub(super) timestamp_pool: Vec<TimestampMemory>,
    /// How the blocks' clock stands to the events', once that was asked.
    pub(super) skew: Option<Skew>,
    clock: Clock,
    /// Where nothing runs but the clock's anchors.
    pub(super) clock_stream: RawStream,
    /// Where graphs are launched.
    pub(super) graph_stream: RawStream,
    /// How many graphs were.
    pub(super) replays: u64,
    /// The default stream, if it has been asked for.
    pub(super) default_stream: Option<StreamId>,
    functions: HashMap<&'static str, sys::CUfunction>,
    instrumented_functions: HashMap<&'static str, sys::CUfunction>,
    modules: Vec<Module>,
    pub(super) modules_ms: f64,
    pub(super) device: Device,
    pub(super) context: Arc<OwnedContext>,
}

/// Lattices of one size that were created together, in one allocation a buffer.
pub(super) struct Group {
    pub(super) size: Size,
    pub(super) count: usize,
    /// The two bit buffers.
    bits: [DeviceBuffer<u32>; 2],
    /// The two `i32` buffers, while a kernel wants them.
    cells: Option<[DeviceBuffer<i32>; 2]>,
    /// The two buffers of planar words, while a kernel wants them.
    planar: Option<[DeviceBuffer<u32>; 2]>,
    /// Where edits wait for their kernel.
    edits: DeviceBuffer<u32>,
    /// The reduced views, as large as has been wanted.
    view: Option<(DeviceBuffer<u32>, usize)>,
    /// What measures leave, once there has been one.
    measures: Option<Measures>,
}

impl Gpu {
    /// Over a context of the device, which is current; `zero` is when its clock showed 0.
    pub(super) fn new(device: Device, context: OwnedContext, zero: Instant) -> Result<Gpu> {
        let clock_stream = RawStream::new(StreamSpec::PLAIN)?;
        Ok(Gpu {
            groups: Vec::new(),
            pool: EventPool::default(),
            timestamp_pool: Vec::new(),
            skew: None,
            clock: Clock::new(clock_stream.raw(), zero)?,
            clock_stream,
            graph_stream: RawStream::new(StreamSpec::PLAIN)?,
            replays: 0,
            default_stream: None,
            functions: HashMap::new(),
            instrumented_functions: HashMap::new(),
            modules: Vec::new(),
            modules_ms: 0.0,
            device,
            context: Arc::new(context),
        })
    }

    pub(super) fn make_current(&self) -> Result<()> {
        self.context.make_current()
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
        let function = self.load(ptx_of(file)?, symbol)?;
        self.functions.insert(symbol, function);
        Ok(function)
    }

    /// The same with stamps instrumented in: it takes the address of their records as one argument more.
    pub(super) fn instrumented_function(
        &mut self,
        file: &'static str,
        symbol: &'static str,
    ) -> Result<sys::CUfunction> {
        if let Some(&function) = self.instrumented_functions.get(symbol) {
            return Ok(function);
        }
        let instrumented = instrumentation::instrument(ptx_of(file)?).map_err(|why| {
            EngineError::BadProgram(format!("{file} cannot be instrumented: {why}"))
        })?;
        let function = self.load(&instrumented, symbol)?;
        self.instrumented_functions.insert(symbol, function);
        Ok(function)
    }

    fn load(&mut self, text: &str, symbol: &'static str) -> Result<sys::CUfunction> {
        let began = Instant::now();
        let module = cust("cuModuleLoadDataEx", Module::from_ptx(text, &[]))?;
        let function = cust("cuModuleGetFunction", module.get_function(symbol))?.to_raw();
        self.modules_ms += began.elapsed().as_secs_f64() * 1e3;
        self.modules.push(module);
        Ok(function)
    }

    /// Makes room for larger views in one of its groups, whose views stay as they are. Waits for
    /// what runs.
    pub(super) fn grow_views(&mut self, group: usize, words: usize) -> Result<()> {
        let stream = self.clock_stream.raw(); // where nothing runs
        let group = &mut self.groups[group];
        let larger = uninitialized("the reduced views", words * group.count)?;
        if let Some((smaller, pitch)) = &group.view {
            context::synchronize()?;
            copy_rows(
                stream,
                (larger.as_device_ptr().as_raw(), words),
                (smaller.as_device_ptr().as_raw(), *pitch),
                group.count,
            )?;
            context::synchronize()?;
        }
        group.view = Some((larger, words));
        Ok(())
    }

    pub(super) fn add_group(&mut self, count: usize, size: Size) -> Result<()> {
        let words = count * size.words();
        let what = "the lattices' bits";
        let bits = [zeroed(what, words)?, uninitialized(what, words)?];
        let edits = uninitialized("the edits", count * max_edits(size) * WORDS_AN_EDIT)?;
        self.groups.push(Group {
            size,
            count,
            bits,
            edits,
            cells: None,
            planar: None,
            view: None,
            measures: None,
        });
        Ok(())
    }
}

const WORDS_AN_EDIT: usize = size_of::<WordEdit>() / 4;

fn max_edits(size: Size) -> usize {
    size.words().min(WordEdit::MAX_PER_COPY)
}

/// What measures of a group's lattices leave on the device for the next ones, and for downloads.
struct Measures {
    /// The bits as they were.
    before: DeviceBuffer<u32>,
    /// Of every lattice as many measures as it has blocks, then those of whole lattices; behind
    /// them, how many blocks of each have come so far.
    shares: DeviceBuffer<u32>,
}

/// Addresses of a lattice's part of [`Measures`].
pub(super) struct MeasureAt {
    pub(super) before: sys::CUdeviceptr,
    pub(super) shares: sys::CUdeviceptr,
    pub(super) arrived: sys::CUdeviceptr,
    pub(super) measures: sys::CUdeviceptr,
}

fn ptx_of(file: &'static str) -> Result<&'static str> {
    let found = ptx::find(file);
    found.ok_or_else(|| EngineError::BadProgram(format!("there is no kernel file {file}")))
}

/// Device memory of zeros.
fn zeroed(what: &str, words: usize) -> Result<DeviceBuffer<u32>> {
    let buffer = uninitialized(what, words)?;
    let at: sys::CUdeviceptr = buffer.as_device_ptr().as_raw();
    // SAFETY: the allocation holds `words` words.
    check("cuMemsetD32", unsafe { sys::cuMemsetD32_v2(at, 0, words) })?;
    // The memset runs in the default stream, for which our streams do not wait.
    context::synchronize()?;
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

/// Copies rows on the device to rows that are longer; each with the words from one to the next.
fn copy_rows(
    stream: sys::CUstream,
    (to, to_pitch): (sys::CUdeviceptr, usize),
    (from, from_pitch): (sys::CUdeviceptr, usize),
    rows: usize,
) -> Result<()> {
    let copy = sys::CUDA_MEMCPY2D {
        srcXInBytes: 0,
        srcY: 0,
        srcMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_DEVICE,
        srcHost: std::ptr::null(),
        srcDevice: from,
        srcArray: std::ptr::null_mut(),
        srcPitch: from_pitch * 4,
        dstXInBytes: 0,
        dstY: 0,
        dstMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_DEVICE,
        dstHost: std::ptr::null_mut(),
        dstDevice: to,
        dstArray: std::ptr::null_mut(),
        dstPitch: to_pitch * 4,
        WidthInBytes: from_pitch * 4,
        Height: rows,
    };
    // SAFETY: so many rows are there on both sides, and the stream is alive.
    check("cuMemcpy2DAsync", unsafe {
        sys::cuMemcpy2DAsync_v2(&copy, stream)
    })
}

impl Group {
    /// The address of a lattice's bit buffer of this parity.
    pub(super) fn bits_at(&self, index: usize, parity: u8) -> sys::CUdeviceptr {
        let base = self.bits[usize::from(parity)].as_device_ptr().as_raw();
        base + (index * self.size.words() * 4) as u64
    }

    /// Where a lattice's edits wait for their kernel.
    pub(super) fn edits_at(&self, index: usize) -> sys::CUdeviceptr {
        let stride = self.max_edits() * WORDS_AN_EDIT * 4;
        self.edits.as_device_ptr().as_raw() + (index * stride) as u64
    }

    /// How many there is room for.
    pub(super) fn max_edits(&self) -> usize {
        max_edits(self.size)
    }

    /// The address of a lattice's buffer of this parity, in a layout.
    pub(super) fn buffer_at(
        &self,
        layout: Layout,
        index: usize,
        parity: u8,
    ) -> Result<sys::CUdeviceptr> {
        let missing = || EngineError::BadProgram(format!("layout {layout:?} was not reserved"));
        let parity_at = usize::from(parity);
        match layout {
            Layout::Bits => Ok(self.bits_at(index, parity)),
            Layout::I32 => {
                let cells = self.cells.as_ref().ok_or_else(missing)?;
                let base = cells[parity_at].as_device_ptr().as_raw();
                Ok(base + index as u64 * self.size.cells() * 4)
            }
            Layout::Planar => {
                let planar = self.planar.as_ref().ok_or_else(missing)?;
                let base = planar[parity_at].as_device_ptr().as_raw();
                Ok(base + (index * self.size.words() * 4) as u64)
            }
        }
    }

    /// The address of a lattice's reduced view, and how many words there are from one lattice's
    /// view to the next one's.
    pub(super) fn view_at(&self, index: usize) -> Result<(sys::CUdeviceptr, usize)> {
        let missing = || EngineError::BadProgram("there is no memory for views".into());
        let (buffer, stride) = self.view.as_ref().ok_or_else(missing)?;
        let at = buffer.as_device_ptr().as_raw() + (index * stride * 4) as u64;
        Ok((at, *stride))
    }

    /// Takes the memory of measures; waits for what runs.
    pub(super) fn make_measures(&mut self) -> Result<()> {
        let what = "the measures of lattices";
        let blocks = Launch::measure(self.size, 1).grid[0] as usize;
        let words = ((blocks + 1) * Measure::WORDS + 1) * self.count;
        self.measures = Some(Measures {
            before: zeroed(what, self.count * self.size.words())?,
            shares: zeroed(what, words)?,
        });
        Ok(())
    }

    /// Where a lattice's measures are.
    pub(super) fn measures_at(&self, index: usize) -> Result<MeasureAt> {
        let missing = || EngineError::BadProgram("there is no memory for measures".into());
        let measures = self.measures.as_ref().ok_or_else(missing)?;
        let blocks = Launch::measure(self.size, 1).grid[0] as usize;
        let shares: sys::CUdeviceptr = measures.shares.as_device_ptr().as_raw();
        let of = |words: usize| shares + (words * 4) as u64;
        let whole = blocks * Measure::WORDS * self.count;
        let before: sys::CUdeviceptr = measures.before.as_device_ptr().as_raw();
        Ok(MeasureAt {
            before: before + (index * self.size.words() * 4) as u64,
            shares: of(blocks * Measure::WORDS * index),
            measures: of(whole + Measure::WORDS * index),
            arrived: of(whole + Measure::WORDS * self.count + index),
        })
    }

    /// Gives back what layouts other than this one and bits hold.
    pub(super) fn keep_only(&mut self, layout: Layout) {
        if layout != Layout::I32 {
            self.cells = None;
        }
        if layout != Layout::Planar {
            self.planar = None;
        }
    }

    /// Whether there is memory for a layout, as far as its lattices can be in it.
    pub(super) fn has(&self, layout: Layout) -> bool {
        match layout {
            Layout::Bits => true,
            Layout::I32 => self.cells.is_some(),
            Layout::Planar => self.planar.is_some() || !layout.takes(self.size),
        }
    }

    /// Takes the memory of a layout, if there is none.
    pub(super) fn reserve(&mut self, layout: Layout) -> Result<()> {
        match layout {
            Layout::I32 if self.cells.is_none() => {
                let cells = self.count as u64 * self.size.cells();
                let cells = usize::try_from(cells).unwrap_or(usize::MAX / 8);
                let what = "the lattices at 4 bytes a cell";
                self.cells = Some([uninitialized(what, cells)?, uninitialized(what, cells)?]);
            }
            Layout::Planar if self.planar.is_none() && layout.takes(self.size) => {
                let words = self.count * self.size.words();
                let what = "the lattices in planar words";
                self.planar = Some([uninitialized(what, words)?, uninitialized(what, words)?]);
            }
            _ => {}
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
