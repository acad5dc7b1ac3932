//! What is known of every lattice when work is issued, before any of it is done.

use std::ops::Range;

use crate::kernels::Layout;
use crate::{LatticeId, Op};

/// A lattice as it will be once everything issued so far is done.
///
/// The CPU engine could do without the parities. A CUDA graph cannot, since the addresses in it are
/// fixed when it is made; so both engines keep the same state and refuse the same programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LatticeState {
    /// The working layout.
    pub(crate) layout: Layout,
    /// The layout that has memory beside [`Layout::Bits`]; [`Layout::Bits`] if none has.
    pub(crate) reserved: Layout,
    /// Which of the working layout's two buffers holds the cells.
    pub(crate) parity: u8,
    /// Which bit buffer holds the bits; in other layouts, those of the last [`Op::Pack`].
    pub(crate) bits_parity: u8,
    /// Whether the bits are the cells, and not those of an earlier generation.
    pub(crate) bits_current: bool,
    /// Whether it has ever been measured.
    pub(crate) measured: bool,
    /// Words of the last [`Op::Reduce`]'s view; 0 before the first.
    pub(crate) view_words: u32,
}

impl LatticeState {
    /// Of a new lattice.
    pub(crate) const NEW: LatticeState = LatticeState {
        layout: Layout::Bits,
        reserved: Layout::Bits,
        parity: 0,
        bits_parity: 0,
        bits_current: true,
        measured: false,
        view_words: 0,
    };

    /// The state that an op leaves; the op must be compatible with this one.
    #[must_use]
    pub(crate) fn after(mut self, op: &Op) -> LatticeState {
        match op {
            Op::Upload { .. } => {
                (self.layout, self.bits_current) = (Layout::Bits, true);
                (self.parity, self.bits_parity) = (0, 0);
            }
            Op::Edit { .. } => self.bits_current &= self.layout == Layout::Bits,
            Op::Pack(_) => {
                if self.layout != Layout::Bits {
                    (self.bits_parity, self.bits_current) = (0, true);
                }
            }
            Op::Unpack { to, .. } => {
                (self.layout, self.bits_current) = (*to, true);
                self.parity = match to {
                    Layout::Bits => self.bits_parity,
                    Layout::I32 | Layout::Planar => 0,
                };
            }
            Op::Advance {
                kernel,
                generations,
                ..
            } => {
                self.parity ^= u8::from(kernel.flips(*generations));
                match self.layout {
                    Layout::Bits => self.bits_parity = self.parity,
                    Layout::I32 | Layout::Planar => self.bits_current &= *generations == 0,
                }
            }
            Op::Reduce { region, .. } => self.view_words = region.words() as u32,
            Op::Measure(_) => self.measured = true,
            Op::Download { .. }
            | Op::Copy { .. }
            | Op::Call(_)
            | Op::Synchronize(_)
            | Op::Record(_)
            | Op::Wait(_) => {}
        }
        self
    }

    /// Whether an op leaves other cells than there are, so that half of it must not be kept.
    pub(crate) fn is_changed_by(self, op: &Op) -> bool {
        match op {
            Op::Upload { .. } | Op::Edit { .. } | Op::Advance { .. } => true,
            Op::Unpack { .. } => !self.bits_current,
            _ => false,
        }
    }

    /// The state after memory was reserved for a layout, or, if `allocated` is false, was not.
    pub(crate) fn reserve(&mut self, layout: Layout, allocated: bool) {
        self.reserved = if allocated { layout } else { Layout::Bits };
        if self.layout != self.reserved {
            self.layout = Layout::Bits;
            self.parity = self.bits_parity;
            self.bits_current = true;
        }
    }

    /// Whether cells and bits are in the same buffers in both states.
    #[inline]
    pub(crate) fn has_buffers_of(self, other: LatticeState) -> bool {
        let buffers = |state: LatticeState| (state.layout, state.parity, state.bits_parity);
        buffers(self) == buffers(other)
    }
}

/// Every lattice's state: as committed, and as drafted for the program that is being judged or
/// issued. A draft that is not committed leaves no trace.
#[derive(Default)]
pub(crate) struct States {
    committed: Vec<LatticeState>,
    /// Each with the number of the draft that it is part of.
    drafted: Vec<(u32, LatticeState)>,
    /// The number of the present draft; 0 is of none.
    draft: u32,
    /// The lattices that the draft changes.
    touched: Vec<Range<u32>>,
}

impl States {
    /// Adds new lattices.
    pub(super) fn add(&mut self, count: usize) {
        let all = self.committed.len() + count;
        self.committed.resize(all, LatticeState::NEW);
        self.drafted.resize(all, (0, LatticeState::NEW));
    }

    /// Begins a new draft, from the committed states.
    pub(crate) fn begin(&mut self) {
        self.touched.clear();
        self.draft = match self.draft.checked_add(1) {
            Some(next) => next,
            None => {
                // Numbers are used again: no older draft may have them.
                self.drafted.fill((0, LatticeState::NEW));
                1
            }
        };
    }

    /// A lattice's state in the draft.
    #[inline]
    pub(crate) fn get(&self, lattice: LatticeId) -> LatticeState {
        match self.drafted[lattice.index()] {
            (draft, state) if draft == self.draft => state,
            _ => self.committed[lattice.index()],
        }
    }

    /// A lattice's committed state.
    pub(crate) fn committed(&self, lattice: LatticeId) -> LatticeState {
        self.committed[lattice.index()]
    }

    /// A lattice's committed state, to be changed at once.
    pub(super) fn committed_mut(&mut self, lattice: LatticeId) -> &mut LatticeState {
        &mut self.committed[lattice.index()]
    }

    /// Of these lattices, of which there is one at least, how many from the first on are in its
    /// state, and the state.
    #[inline]
    pub(super) fn run(&self, lattices: &Range<u32>) -> (u32, LatticeState) {
        let state = self.get(LatticeId(lattices.start));
        let others = lattices.start + 1..lattices.end;
        let same = others.take_while(|other| self.get(LatticeId(*other)) == state);
        (1 + same.count() as u32, state)
    }

    /// Drafts the state that these lattices go to from the one that they share.
    #[inline]
    pub(super) fn change(&mut self, lattices: Range<u32>, from: LatticeState, to: LatticeState) {
        if from != to {
            let entries = &mut self.drafted[lattices.start as usize..lattices.end as usize];
            entries.fill((self.draft, to));
            self.touched.push(lattices);
        }
    }

    /// Drafts what a compatible op does to its lattices.
    pub(crate) fn apply(&mut self, op: &Op) {
        let mut rest = op.lattices();
        while !rest.is_empty() {
            let (count, state) = self.run(&rest);
            let run = rest.start..rest.start + count;
            rest.start = run.end;
            self.change(run, state, state.after(op));
        }
    }

    /// The draft becomes the committed state.
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
