//! The memory and functions that a program needs before its first step is issued.

use crate::kernels::Layout;
use crate::lesson_kernels::LESSON_KERNELS;
use crate::probe_kernels::PROBE_KERNELS;
use crate::{BufferKernel, DeviceId, Kernel};
use life::Rule;

/// The memory and functions that a program needs before its first step is issued. (Host slots are
/// listed by [`Program::downloads`](crate::Program::downloads); the engine plans memory for block
/// timestamps itself.)
#[derive(Default, Debug)]
pub(crate) struct Plan {
    /// Groups whose views need more memory: group index, and words per lattice.
    pub(crate) views: Vec<(usize, usize)>,
    /// Groups that need memory for measures.
    pub(crate) measures: Vec<usize>,
    /// Functions launched on each device that are not of the ladder.
    pub(crate) functions: Vec<(DeviceId, Functions)>,
    /// Functions of the ladder that are launched on each device.
    pub(crate) steps: Vec<(DeviceId, LadderFunction)>,
    /// Whether the program changes cells. If it fails halfway, every lattice must be restored.
    pub(crate) changes_cells: bool,
    /// Whether several host threads issue the program.
    pub(crate) several_issuers: bool,
}

impl Plan {
    pub(super) fn needs_view(&mut self, group: usize, words: usize) {
        match self.views.iter_mut().find(|(of, _)| *of == group) {
            Some((_, max)) => *max = words.max(*max),
            None => self.views.push((group, words)),
        }
    }

    pub(super) fn needs_measures(&mut self, group: usize) {
        if !self.measures.contains(&group) {
            self.measures.push(group);
        }
    }

    pub(super) fn launches_step(&mut self, device: DeviceId, step: LadderFunction) {
        if !self.steps.contains(&(device, step)) {
            self.steps.push((device, step));
        }
    }

    #[inline]
    pub(super) fn launches(&mut self, device: DeviceId, functions: Functions) {
        if functions == Functions::NONE {
            return;
        }
        match self.functions.iter_mut().find(|(of, _)| *of == device) {
            Some((_, all)) => all.0 |= functions.0,
            None => self.functions.push((device, functions)),
        }
    }
}

/// A function of the ladder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LadderFunction {
    pub(crate) kernel: &'static Kernel,
    /// Index in [`Kernel::entries`].
    pub(crate) entry: usize,
    /// The rule whose network it has; B3/S23 if it has none.
    pub(crate) rule: Rule,
}

/// A set of kernel functions that are not of the ladder, one bit each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Functions(u64);

/// Support functions: file and symbol.
const SUPPORT: [(&str, &str); 8] = [
    ("edit", "edit_cells"),
    ("reduce", "reduce_bits"),
    ("measure", "measure_bits"),
    ("pack", "pack_i32"),
    ("planar", "pack_planar"),
    ("unpack", "unpack_i32"),
    ("planar", "unpack_planar"),
    ("soup", "make_soup"),
];

/// Bit index of the first called function; support functions come before.
const CALLED: usize = SUPPORT.len();

impl Functions {
    pub(super) const NONE: Functions = Functions(0);
    pub(super) const EDIT: Functions = Functions::support(0);
    pub(super) const REDUCE: Functions = Functions::support(1);
    pub(super) const MEASURE: Functions = Functions::support(2);
    pub(super) const SOUP: Functions = Functions::support(7);

    const fn support(index: usize) -> Functions {
        Functions(1 << index)
    }

    /// The function that packs a layout into bits.
    pub(super) const fn pack(layout: Layout) -> Functions {
        match layout {
            Layout::Bits => Functions::NONE,
            Layout::I32 => Functions::support(3),
            Layout::Planar => Functions::support(4),
        }
    }

    /// The function that unpacks bits into a layout.
    pub(super) const fn unpack(layout: Layout) -> Functions {
        match layout {
            Layout::Bits => Functions::NONE,
            Layout::I32 => Functions::support(5),
            Layout::Planar => Functions::support(6),
        }
    }

    /// The function of a called kernel; `None` if it is in neither table.
    pub(super) fn of_buffer_kernel(kernel: &BufferKernel) -> Option<Functions> {
        let at = buffer_kernels().position(|known| std::ptr::eq(known, kernel));
        at.map(|at| Functions(1 << (CALLED + at)))
    }

    pub(super) fn and(self, other: Functions) -> Functions {
        Functions(self.0 | other.0)
    }

    /// File and symbol of each function, and whether it can be instrumented with block timestamps
    /// (called kernels can).
    pub(crate) fn names(self) -> impl Iterator<Item = (&'static str, &'static str, bool)> {
        let support = SUPPORT.map(|(file, symbol)| (file, symbol, false));
        let called = buffer_kernels().map(|one| (one.name, one.symbol, true));
        let all = support.into_iter().chain(called).enumerate();
        all.filter_map(move |(at, names)| (self.0 >> at & 1 == 1).then_some(names))
    }
}

fn buffer_kernels() -> impl Iterator<Item = &'static BufferKernel> {
    LESSON_KERNELS.into_iter().chain(PROBE_KERNELS)
}
