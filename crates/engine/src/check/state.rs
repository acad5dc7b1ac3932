//! The state of every lattice, tracked when work is issued, before it runs.

use std::ops::Range;

use crate::kernels::Layout;
use crate::{Band, LatticeId, LatticeOp, ReduceRegion};

/// The state that a lattice will have once all issued work is done.
///
/// The CPU engine does not need the parities. A CUDA graph does, since its addresses are fixed at
/// capture. Both engines keep the same state and so reject the same programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LatticeState {
    /// The working layout.
    pub(crate) layout: Layout,
    /// The layout reserved in addition to [`Layout::Bits`]; [`Layout::Bits`] if none is.
    pub(crate) reserved: Layout,
    /// Which of the working layout's two buffers holds the cells: 0 or 1.
    pub(crate) parity: u8,
    /// Which bit buffer holds the bits: 0 or 1. In other layouts these are the bits of the last
    /// [`LatticeOp::Pack`].
    pub(crate) bits_parity: u8,
    /// Whether the bits equal the cells. False if they are of an earlier generation.
    pub(crate) bits_current: bool,
    /// Whether it has been measured at least once.
    pub(crate) measured: bool,
    /// Words of the view that the last [`LatticeOp::Reduce`] made; 0 before the first.
    pub(crate) view_words: u32,
    /// The rows that it has, if it is no whole torus.
    pub(crate) band: Option<Band>,
}

impl LatticeState {
    /// State of a new lattice.
    pub(crate) const NEW: LatticeState = LatticeState {
        layout: Layout::Bits,
        reserved: Layout::Bits,
        parity: 0,
        bits_parity: 0,
        bits_current: true,
        measured: false,
        view_words: 0,
        band: None,
    };

    /// The state after an op. The op must be compatible with this state.
    #[must_use]
    pub(crate) fn after(mut self, op: &LatticeOp) -> LatticeState {
        match op {
            LatticeOp::Upload(_) | LatticeOp::Soup(_) => {
                (self.layout, self.bits_current) = (Layout::Bits, true);
                (self.parity, self.bits_parity) = (0, 0);
            }
            LatticeOp::Edit(_) | LatticeOp::CopyRows { .. } => {
                self.bits_current &= self.layout == Layout::Bits;
            }
            LatticeOp::Pack => {
                if self.layout != Layout::Bits {
                    (self.bits_parity, self.bits_current) = (0, true);
                }
            }
            LatticeOp::Unpack(to) => {
                (self.layout, self.bits_current) = (*to, true);
                self.parity = match to {
                    Layout::Bits => self.bits_parity,
                    Layout::I32 | Layout::Planar => 0,
                };
            }
            LatticeOp::Advance {
                kernel,
                generations,
                ..
            } => {
                self.parity ^= u8::from(kernel.swaps_buffers(*generations));
                match self.layout {
                    Layout::Bits => self.bits_parity = self.parity,
                    Layout::I32 | Layout::Planar => self.bits_current &= *generations == 0,
                }
            }
            LatticeOp::Reduce(region) => self.view_words = self.words_of_view(*region) as u32,
            LatticeOp::Measure => self.measured = true,
            LatticeOp::Download { .. } => {}
        }
        self
    }

    /// Words of a view of the lattice: a byte per pixel, or of a band a count.
    pub(crate) fn words_of_view(self, region: ReduceRegion) -> usize {
        match self.band {
            None => region.words(),
            Some(_) => 4 * region.words(),
        }
    }

    /// Whether an op changes cells, so that its result must not be kept if it fails halfway.
    pub(crate) fn is_changed_by(self, op: &LatticeOp) -> bool {
        match op {
            LatticeOp::Upload(_)
            | LatticeOp::Soup(_)
            | LatticeOp::Edit(_)
            | LatticeOp::CopyRows { .. }
            | LatticeOp::Advance { .. } => true,
            LatticeOp::Unpack(_) => !self.bits_current,
            _ => false,
        }
    }

    /// Updates the state after an attempt to reserve memory for `layout`; `allocated` says whether
    /// it succeeded.
    pub(crate) fn reserve(&mut self, layout: Layout, allocated: bool) {
        self.reserved = if allocated { layout } else { Layout::Bits };
        if self.layout != self.reserved {
            self.layout = Layout::Bits;
            self.parity = self.bits_parity;
            self.bits_current = true;
        }
    }

    /// Whether both states have cells and bits in the same buffers.
    #[inline]
    pub(crate) fn has_buffers_of(self, other: LatticeState) -> bool {
        let buffers = |state: LatticeState| (state.layout, state.parity, state.bits_parity);
        buffers(self) == buffers(other)
    }
}

/// The states of all lattices: committed ones, and a draft for the program being validated or
/// issued. A draft has no effect until it is committed.
#[derive(Default)]
pub(crate) struct States {
    pub(crate) committed: Vec<LatticeState>,
    /// Each with the number of its draft.
    drafted: Vec<(u32, LatticeState)>,
    /// Number of the current draft; 0 means none.
    draft: u32,
    /// Ranges of lattices that the draft changes.
    touched: Vec<Range<u32>>,
}

impl States {
    /// Appends `count` new lattices, each for a band if there is one.
    pub(super) fn add(&mut self, count: usize, band: Option<Band>) {
        let all = self.committed.len() + count;
        let new = LatticeState {
            band,
            ..LatticeState::NEW
        };
        self.committed.resize(all, new);
        self.drafted.resize(all, (0, new));
    }

    /// Starts a new draft from the committed states.
    pub(crate) fn begin(&mut self) {
        self.touched.clear();
        self.draft = match self.draft.checked_add(1) {
            Some(next) => next,
            None => {
                // The numbers start again, so entries of older drafts must go.
                self.drafted.fill((0, LatticeState::NEW));
                1
            }
        };
    }

    /// A lattice's state in the current draft.
    #[inline]
    pub(crate) fn get(&self, lattice: LatticeId) -> LatticeState {
        match self.drafted[lattice.index()] {
            (draft, state) if draft == self.draft => state,
            _ => self.committed[lattice.index()],
        }
    }

    /// The state of the first lattice, and how many lattices from it on share that state. The range
    /// must not be empty.
    #[inline]
    pub(super) fn run(&self, lattices: &Range<u32>) -> (u32, LatticeState) {
        let state = self.get(LatticeId(lattices.start));
        let others = lattices.start + 1..lattices.end;
        let same = others.take_while(|other| self.get(LatticeId(*other)) == state);
        (1 + same.count() as u32, state)
    }

    /// Drafts the change of these lattices from one shared state to another.
    #[inline]
    pub(super) fn change(&mut self, lattices: Range<u32>, from: LatticeState, to: LatticeState) {
        if from != to {
            let entries = &mut self.drafted[lattices.start as usize..lattices.end as usize];
            entries.fill((self.draft, to));
            self.touched.push(lattices);
        }
    }

    /// Drafts the effect of a compatible op on lattices.
    pub(crate) fn apply(&mut self, mut rest: Range<u32>, op: &LatticeOp) {
        while !rest.is_empty() {
            let (count, state) = self.run(&rest);
            let run = rest.start..rest.start + count;
            rest.start = run.end;
            self.change(run, state, state.after(op));
        }
    }

    /// Makes the draft the committed states.
    pub(crate) fn commit(&mut self) {
        for range in &self.touched {
            let range = range.start as usize..range.end as usize;
            let drafted = self.drafted[range.clone()].iter();
            for (committed, (_, drafted)) in self.committed[range].iter_mut().zip(drafted) {
                *committed = *drafted;
            }
        }
        self.begin();
    }
}
