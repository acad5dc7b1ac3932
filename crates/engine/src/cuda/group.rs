//! The lattices of one size on a GPU, and their device memory.

use cust::memory::DeviceBuffer;
use cust::sys;

use super::context;
use super::driver::{check, cust};
use crate::kernels::Launch;
use crate::kernels::cooperative::Division;
use crate::{
    BufferLocation, EngineError, Layout, Measure, MemoryUse, ProgramError, Result, WordEdit,
};
use life::Size;

/// Lattices of one size that were created together, with one allocation per buffer.
pub(super) struct Group {
    size: Size,
    count: usize,
    /// The two bit buffers.
    bits: [DeviceBuffer<u32>; 2],
    /// The two `i32` buffers, if reserved.
    cells: Option<[DeviceBuffer<i32>; 2]>,
    /// The two buffers of planar words, if reserved.
    planar: Option<[DeviceBuffer<u32>; 2]>,
    /// Mail between the blocks that step a lattice, and its words per lattice; reserved with the
    /// planar words if `cooperative` supports the size.
    mail: Option<(DeviceBuffer<u32>, usize)>,
    /// Edits that `edit_cells` applies.
    edits: DeviceBuffer<u32>,
    /// The reduced views, and the words allocated for each.
    view: Option<(DeviceBuffer<u32>, usize)>,
    /// Memory for measures, once needed.
    measures: Option<Measures>,
}

const WORDS_AN_EDIT: usize = size_of::<WordEdit>() / 4;

fn max_edits(size: Size) -> usize {
    size.words().min(WordEdit::MAX_PER_COPY)
}

/// Device memory for the measures of a group's lattices.
struct Measures {
    /// The bits at the previous measure.
    before: DeviceBuffer<u32>,
    /// Partial measures, one per block of each lattice; then one measure per lattice; then a count
    /// of finished blocks per lattice.
    shares: DeviceBuffer<u32>,
}

/// Addresses of one lattice's parts of [`Measures`].
pub(super) struct MeasureAt {
    pub(super) before: sys::CUdeviceptr,
    pub(super) shares: sys::CUdeviceptr,
    pub(super) arrived: sys::CUdeviceptr,
    pub(super) measures: sys::CUdeviceptr,
}

/// Bytes of so many lattices in a layout: their bits, edits and buffers. What else they need is
/// little beside those.
fn bytes(size: Size, count: usize, layout: Layout) -> u64 {
    let words = match layout {
        Layout::Bits => 0,
        Layout::I32 | Layout::Planar => 2 * layout.words(size),
    };
    let one = 2 * size.words() + max_edits(size) * WORDS_AN_EDIT + words;
    4 * one as u64 * count as u64
}

/// Adds to an out-of-memory error the largest size of which `count` lattices would fit, if the
/// `allocated` bytes that they have now were freed. The context must be current.
fn with_size_that_fits(
    error: EngineError,
    count: usize,
    size: Size,
    layout: Layout,
    allocated: u64,
) -> EngineError {
    match error {
        EngineError::OutOfMemory {
            place,
            what,
            needed_mib,
            ..
        } => {
            let (mut free, mut all) = (0, 0);
            // SAFETY: both are valid for the write.
            let known = unsafe { sys::cuMemGetInfo_v2(&mut free, &mut all) };
            let usable = (free as u64 + allocated) / 16 * 15; // the rest for streams, code and views
            let fits = life::memory::largest(size, |size| bytes(size, count, layout) <= usable);
            EngineError::OutOfMemory {
                place,
                what,
                needed_mib,
                fits: fits.filter(|_| known == sys::CUresult::CUDA_SUCCESS),
            }
        }
        other => other,
    }
}

/// Allocates zeroed device memory.
fn zeroed(what: MemoryUse, words: usize) -> Result<DeviceBuffer<u32>> {
    let buffer = uninitialized(what, words)?;
    let at: sys::CUdeviceptr = buffer.as_device_ptr().as_raw();
    // SAFETY: the allocation holds `words` words.
    check("cuMemsetD32", unsafe { sys::cuMemsetD32_v2(at, 0, words) })?;
    // The memset runs in the default stream, which our streams do not wait for.
    context::synchronize()?;
    Ok(buffer)
}

/// Allocates device memory that must be written before it is read.
fn uninitialized<T: cust::memory::DeviceCopy>(
    what: MemoryUse,
    length: usize,
) -> Result<DeviceBuffer<T>> {
    // SAFETY: every element is written by a kernel or a copy before anything reads it.
    unsafe { DeviceBuffer::uninitialized(length) }.map_err(|error| match error {
        cust::error::CudaError::OutOfMemory => EngineError::OutOfMemory {
            place: BufferLocation::Device,
            what,
            needed_mib: ((length * size_of::<T>()) as u64).div_ceil(1 << 20),
            fits: None,
        },
        other => cust::<()>("cuMemAlloc", Err(other)).unwrap_err(),
    })
}

/// Copies rows to longer rows on the device. Each side is an address and a pitch in words.
fn copy_rows(
    stream: sys::CUstream,
    to: sys::CUdeviceptr,
    to_pitch: usize,
    from: sys::CUdeviceptr,
    from_pitch: usize,
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
    // SAFETY: both sides have that many rows, and the stream is alive.
    check("cuMemcpy2DAsync", unsafe {
        sys::cuMemcpy2DAsync_v2(&copy, stream)
    })
}

impl Group {
    /// Allocates lattices whose cells are all dead.
    pub(super) fn new(count: usize, size: Size) -> Result<Group> {
        let allocate = || {
            let words = count * size.words();
            let what = MemoryUse::Lattices(count, Layout::Bits);
            Ok(Group {
                size,
                count,
                bits: [zeroed(what, words)?, uninitialized(what, words)?],
                edits: uninitialized(MemoryUse::Edits, count * max_edits(size) * WORDS_AN_EDIT)?,
                cells: None,
                planar: None,
                mail: None,
                view: None,
                measures: None,
            })
        };
        allocate().map_err(|why| with_size_that_fits(why, count, size, Layout::Bits, 0))
    }

    /// Enlarges the views and keeps their contents. Waits for running work.
    pub(super) fn grow_views(&mut self, words: usize, idle: sys::CUstream) -> Result<()> {
        let larger = uninitialized(MemoryUse::Views, words * self.count)?;
        if let Some((smaller, pitch)) = &self.view {
            context::synchronize()?;
            copy_rows(
                idle,
                larger.as_device_ptr().as_raw(),
                words,
                smaller.as_device_ptr().as_raw(),
                *pitch,
                self.count,
            )?;
            context::synchronize()?;
        }
        self.view = Some((larger, words));
        Ok(())
    }

    /// The address of a lattice's bit buffer with this parity.
    pub(super) fn bits_at(&self, index: usize, parity: u8) -> sys::CUdeviceptr {
        let base = self.bits[usize::from(parity)].as_device_ptr().as_raw();
        base + (index * self.size.words() * 4) as u64
    }

    /// The address of a lattice's edits.
    pub(super) fn edits_at(&self, index: usize) -> sys::CUdeviceptr {
        let stride = self.max_edits() * WORDS_AN_EDIT * 4;
        self.edits.as_device_ptr().as_raw() + (index * stride) as u64
    }

    /// The number of edits that fit.
    pub(super) fn max_edits(&self) -> usize {
        max_edits(self.size)
    }

    /// The address of a lattice's buffer with this parity, in a layout. Errors if the layout is not
    /// reserved.
    pub(super) fn buffer_at(
        &self,
        layout: Layout,
        index: usize,
        parity: u8,
    ) -> Result<sys::CUdeviceptr> {
        let missing = ProgramError::NotAllocated(MemoryUse::Lattices(self.count, layout));
        let parity_at = usize::from(parity);
        match layout {
            Layout::Bits => Ok(self.bits_at(index, parity)),
            Layout::I32 => {
                let cells = self.cells.as_ref().ok_or(missing)?;
                let base = cells[parity_at].as_device_ptr().as_raw();
                Ok(base + 4 * (index * layout.words(self.size)) as u64)
            }
            Layout::Planar => {
                let planar = self.planar.as_ref().ok_or(missing)?;
                let base = planar[parity_at].as_device_ptr().as_raw();
                Ok(base + 4 * (index * layout.words(self.size)) as u64)
            }
        }
    }

    /// The address of the mail between the blocks that step a lattice.
    pub(super) fn halo_mailbox(&self, index: usize) -> Result<sys::CUdeviceptr> {
        let missing = ProgramError::NotAllocated(MemoryUse::Mail);
        let (buffer, words) = self.mail.as_ref().ok_or(missing)?;
        Ok(buffer.as_device_ptr().as_raw() + (index * words * 4) as u64)
    }

    /// The address of a lattice's reduced view, and the pitch in words between views.
    pub(super) fn view_at(&self, index: usize) -> Result<(sys::CUdeviceptr, usize)> {
        let missing = ProgramError::NotAllocated(MemoryUse::Views);
        let (buffer, stride) = self.view.as_ref().ok_or(missing)?;
        let at = buffer.as_device_ptr().as_raw() + (index * stride * 4) as u64;
        Ok((at, *stride))
    }

    /// Allocates memory for measures. Waits for running work.
    pub(super) fn make_measures(&mut self) -> Result<()> {
        let what = MemoryUse::Measures;
        let blocks = Launch::measure(self.size, 1).grid[0] as usize;
        let words = ((blocks + 1) * Measure::WORDS + 1) * self.count;
        self.measures = Some(Measures {
            before: zeroed(what, self.count * self.size.words())?,
            shares: zeroed(what, words)?,
        });
        Ok(())
    }

    /// The addresses of a lattice's measures.
    pub(super) fn measures_at(&self, index: usize) -> Result<MeasureAt> {
        let missing = ProgramError::NotAllocated(MemoryUse::Measures);
        let measures = self.measures.as_ref().ok_or(missing)?;
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

    /// Frees all layouts except this one and [`Layout::Bits`].
    pub(super) fn keep_only(&mut self, layout: Layout) {
        if layout != Layout::I32 {
            self.cells = None;
        }
        if layout != Layout::Planar {
            self.planar = None;
            self.mail = None;
        }
    }

    /// Whether a layout is allocated, or cannot be used for this size.
    pub(super) fn has(&self, layout: Layout) -> bool {
        match layout {
            Layout::Bits => true,
            Layout::I32 => self.cells.is_some(),
            Layout::Planar => self.planar.is_some() || !layout.supports(self.size),
        }
    }

    /// Allocates a layout, unless it already is.
    pub(super) fn reserve(&mut self, layout: Layout, sm_count: u32) -> Result<()> {
        let bits = bytes(self.size, self.count, Layout::Bits);
        let (count, size) = (self.count, self.size);
        self.allocate(layout, sm_count)
            .map_err(|why| with_size_that_fits(why, count, size, layout, bits))
    }

    fn allocate(&mut self, layout: Layout, sm_count: u32) -> Result<()> {
        match layout {
            Layout::I32 if self.cells.is_none() => {
                let cells = self.count as u64 * self.size.cells();
                let cells = usize::try_from(cells).unwrap_or(usize::MAX / 8);
                let what = MemoryUse::Lattices(self.count, layout);
                self.cells = Some([uninitialized(what, cells)?, uninitialized(what, cells)?]);
            }
            Layout::Planar if self.planar.is_none() && layout.supports(self.size) => {
                let words = self.count * layout.words(self.size);
                let what = MemoryUse::Lattices(self.count, layout);
                let planar = [uninitialized(what, words)?, uninitialized(what, words)?];
                if let Some(division) = Division::for_mail(self.size, self.count, sm_count) {
                    // The kernel takes an address even if there is no mail, so allocate a word.
                    let words = division.mail_words.max(1);
                    self.mail = Some((zeroed(MemoryUse::Mail, words * self.count)?, words));
                }
                self.planar = Some(planar);
            }
            _ => {}
        }
        Ok(())
    }
}
