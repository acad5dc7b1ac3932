//! The lattices of one size on a GPU, and their device memory.

use std::sync::Arc;

use cust::sys;

use super::calls::rows_from;
use super::driver::check;
use super::handles::{self, OwnedContext};
use super::memory::DeviceWords;
use crate::error::invalid;
use crate::kernels::Launch;
use crate::kernels::cooperative::Division;
use crate::{EngineError, Layout, Measure, MemoryUse, Result, WordEdit};
use life::Size;

/// Lattices of one size that were created together, with one allocation per buffer.
pub(super) struct Group {
    size: Size,
    count: usize,
    /// How many lattices of about this size the device has: those of other bands, too.
    alike: usize,
    /// The two bit buffers.
    bits: [DeviceWords; 2],
    /// The two buffers of another layout, if one is reserved.
    reserved: Option<(Layout, [DeviceWords; 2])>,
    /// Mail between the blocks that step a lattice, and its words per lattice; reserved with the
    /// planar words if `cooperative` supports the size.
    pub(super) mail: Option<(DeviceWords, usize)>,
    /// Edits that `edit_cells` applies.
    edits: DeviceWords,
    /// The reduced views, and the words allocated for each.
    pub(super) view: Option<(DeviceWords, usize)>,
    /// Partial measures, one per block of each lattice; then one measure per lattice; then the bits at
    /// the previous measure; then a count of finished blocks per lattice. Once needed.
    measures: Option<DeviceWords>,
}

const WORDS_AN_EDIT: usize = size_of::<WordEdit>() / 4;

/// The number of edits of a lattice that fit.
pub(super) fn max_edits(size: Size) -> usize {
    size.words().min(WordEdit::MAX_PER_COPY)
}

fn no_memory(what: MemoryUse) -> EngineError {
    invalid!("there is no memory for {what:?}")
}

/// The address of a lattice's part of a group's memory, and the words from one part to the next.
pub(super) fn part(
    memory: &Option<(DeviceWords, usize)>,
    index: usize,
    what: MemoryUse,
) -> Result<(sys::CUdeviceptr, usize)> {
    let (words, stride) = memory.as_ref().ok_or_else(|| no_memory(what))?;
    Ok((words.word(index * stride), *stride))
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
    mut error: EngineError,
    count: usize,
    size: Size,
    layout: Layout,
    allocated: u64,
) -> EngineError {
    if let EngineError::OutOfMemory { fits, .. } = &mut error {
        let (mut free, mut all) = (0, 0);
        // SAFETY: both are valid for the write.
        let known = unsafe { sys::cuMemGetInfo_v2(&mut free, &mut all) };
        let usable = (free as u64 + allocated) / 16 * 15; // the rest for streams, code and views
        let largest = life::memory::largest(size, |size| bytes(size, count, layout) <= usable);
        *fits = largest.filter(|_| known == sys::CUresult::CUDA_SUCCESS);
    }
    error
}

impl Group {
    /// Allocates lattices whose cells are all dead, in a context that must be current.
    pub(super) fn new(
        context: &Arc<OwnedContext>,
        count: usize,
        alike: usize,
        size: Size,
    ) -> Result<Group> {
        let allocate = || {
            let words = count * size.words();
            let what = MemoryUse::Lattices(count, Layout::Bits);
            let edits = count * max_edits(size) * WORDS_AN_EDIT;
            Ok(Group {
                size,
                count,
                alike,
                bits: [
                    DeviceWords::zeroed(context, words, what)?,
                    DeviceWords::uninitialized(context, words, what)?,
                ],
                edits: DeviceWords::uninitialized(context, edits, MemoryUse::Edits)?,
                reserved: None,
                mail: None,
                view: None,
                measures: None,
            })
        };
        allocate().map_err(|why| with_size_that_fits(why, count, size, Layout::Bits, 0))
    }

    /// The context of its memory.
    fn context(&self) -> &Arc<OwnedContext> {
        &self.edits.context
    }

    /// Enlarges the views and keeps their contents. Waits for running work.
    pub(super) fn grow_views(&mut self, words: usize, idle: sys::CUstream) -> Result<()> {
        let all = words * self.count;
        let larger = DeviceWords::uninitialized(self.context(), all, MemoryUse::Views)?;
        if let Some((smaller, pitch)) = &self.view {
            handles::synchronize()?;
            let copy = sys::CUDA_MEMCPY2D {
                dstMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_DEVICE,
                dstDevice: larger.at,
                dstPitch: words * 4,
                ..rows_from(smaller.at, pitch * 4, pitch * 4, self.count)
            };
            // SAFETY: both sides have a row for each lattice, and nothing else uses them.
            check("cuMemcpy2DAsync", unsafe {
                sys::cuMemcpy2DAsync_v2(&copy, idle)
            })?;
            handles::synchronize()?;
        }
        self.view = Some((larger, words));
        Ok(())
    }

    /// The address of a lattice's bit buffer with this parity.
    pub(super) fn bits_at(&self, index: usize, parity: u8) -> sys::CUdeviceptr {
        self.bits[usize::from(parity)].word(index * self.size.words())
    }

    /// The address of a lattice's edits.
    pub(super) fn edits_at(&self, index: usize) -> sys::CUdeviceptr {
        self.edits
            .word(index * max_edits(self.size) * WORDS_AN_EDIT)
    }

    /// The address of a lattice's buffer with this parity, in a layout. Errors if the layout is not
    /// reserved.
    pub(super) fn buffer_at(
        &self,
        layout: Layout,
        index: usize,
        parity: u8,
    ) -> Result<sys::CUdeviceptr> {
        match &self.reserved {
            _ if layout == Layout::Bits => Ok(self.bits_at(index, parity)),
            Some((reserved, buffers)) if *reserved == layout => {
                Ok(buffers[usize::from(parity)].word(index * layout.words(self.size)))
            }
            _ => Err(no_memory(MemoryUse::Lattices(self.count, layout))),
        }
    }

    /// Allocates memory for measures. Waits for running work.
    pub(super) fn make_measures(&mut self) -> Result<()> {
        let [.., words] = self.parts_of_measures(self.count);
        let measures = DeviceWords::zeroed(self.context(), words, MemoryUse::Measures)?;
        self.measures = Some(measures);
        Ok(())
    }

    /// The addresses of a lattice's partial measures, of its measure, of its bits at the previous one,
    /// and of its count of finished blocks.
    pub(super) fn measures_at(&self, index: usize) -> Result<[sys::CUdeviceptr; 4]> {
        let measures = self.measures.as_ref();
        let measures = measures.ok_or_else(|| no_memory(MemoryUse::Measures))?;
        Ok(self.parts_of_measures(index).map(|at| measures.word(at)))
    }

    /// The words before each part of a lattice's measures; of one behind the last, all words.
    fn parts_of_measures(&self, index: usize) -> [usize; 4] {
        let blocks = Launch::measure(self.size, 1).grid[0] as usize;
        let mut start = 0;
        [
            blocks * Measure::WORDS,
            Measure::WORDS,
            self.size.words(),
            1,
        ]
        .map(|words| {
            let at = start + index * words;
            start += self.count * words;
            at
        })
    }

    /// Frees all layouts except this one and [`Layout::Bits`].
    pub(super) fn keep_only(&mut self, layout: Layout) {
        self.reserved = self.reserved.take().filter(|(of, _)| *of == layout);
        self.mail = self.mail.take().filter(|_| self.reserved.is_some());
    }

    /// Whether a layout is allocated, or cannot be used for this size.
    pub(super) fn has(&self, layout: Layout) -> bool {
        let is_reserved = self.reserved.as_ref().is_some_and(|(of, _)| *of == layout);
        layout == Layout::Bits || is_reserved || !layout.supports(self.size)
    }

    /// Allocates a layout, unless it already is.
    pub(super) fn reserve(&mut self, layout: Layout, sm_count: u32) -> Result<()> {
        let bits = bytes(self.size, self.count, Layout::Bits);
        let (count, size) = (self.count, self.size);
        self.allocate(layout, sm_count)
            .map_err(|why| with_size_that_fits(why, count, size, layout, bits))
    }

    fn allocate(&mut self, layout: Layout, sm_count: u32) -> Result<()> {
        if self.has(layout) {
            return Ok(());
        }
        let words = self.count * layout.words(self.size);
        let what = MemoryUse::Lattices(self.count, layout);
        let buffer = || DeviceWords::uninitialized(self.context(), words, what);
        let buffers = [buffer()?, buffer()?];
        if layout == Layout::Planar
            && let Some(division) = Division::for_mail(self.size, self.alike, sm_count)
        {
            // The kernel takes an address even if there is no mail, so allocate a word.
            let words = division.mail_words.max(1);
            let mail = DeviceWords::zeroed(self.context(), words * self.count, MemoryUse::Mail)?;
            self.mail = Some((mail, words));
        }
        self.reserved = Some((layout, buffers));
        Ok(())
    }
}
