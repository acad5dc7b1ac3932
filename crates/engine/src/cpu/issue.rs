//! What is known of every lattice when work is issued, before any of it is done: its working
//! layout, and in which of two buffers its cells will be.
//!
//! The CPU could do without; a CUDA graph cannot, whose pointers are fixed when it is made. So
//! both engines keep the same account and refuse the same programs.

use super::kernels::twin;
use super::memory;
use super::slots::CpuSlots;
use super::stream::issuers;
use crate::{
    EngineError, LatticeId, Layout, Measure, Op, Program, Result, Slot, Step, StreamId, Transfer,
    WordEdit,
};
use life::Size;

/// A lattice as it will be once everything issued is done.
#[derive(Clone, Copy, Debug)]
pub(super) struct Account {
    /// Its sides.
    pub(super) size: Size,
    /// What is reserved beside bits, or bits.
    pub(super) reserved: Layout,
    /// What a prepared program depends on.
    pub(super) phase: Phase,
    /// Words of the last reduction's view; 0 if there never was one.
    view_words: usize,
    /// Whether it has ever been measured.
    measured: bool,
}

/// Where a lattice's cells are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Phase {
    layout: Layout,
    /// Which buffer holds its bits.
    bits: u8,
    /// Which buffer of another working layout holds its cells; 0 in layout bits.
    cells: u8,
}

impl Phase {
    const START: Phase = Phase {
        layout: Layout::Bits,
        bits: 0,
        cells: 0,
    };

    /// The buffer of the working layout.
    pub(super) fn parity(self) -> u8 {
        match self.layout {
            Layout::Bits => self.bits,
            Layout::I32 | Layout::Planar => self.cells,
        }
    }
}

impl Account {
    /// Of a new lattice.
    pub(super) fn new(size: Size) -> Account {
        Account {
            size,
            reserved: Layout::Bits,
            phase: Phase::START,
            view_words: 0,
            measured: false,
        }
    }

    /// After [`Engine::reserve`](crate::Engine::reserve).
    pub(super) fn reserve(&mut self, layout: Layout) {
        self.reserved = layout;
        if self.phase.layout != layout {
            self.enter(Layout::Bits);
        }
    }

    fn enter(&mut self, layout: Layout) {
        self.phase = Phase {
            layout,
            bits: self.phase.bits,
            cells: 0,
        };
    }

    fn issue(&mut self, op: &Op, slot_words: impl Fn(Slot) -> Option<usize>) -> Result<()> {
        let refuse = |why: String| Err(EngineError::BadProgram(why));
        match op {
            Op::Upload { words, .. } if words.len() != self.size.words() => {
                return refuse(format!("{} words for a {} lattice", words.len(), self.size));
            }
            Op::Upload { .. } => self.phase = Phase::START,
            Op::Edit { edits, .. } => WordEdit::check_all(edits, self.size)?,
            Op::Unpack { to, .. } if !to.takes(self.size) => {
                return refuse(format!("{} cannot be in layout {to:?}", self.size));
            }
            Op::Unpack { to, .. } if *to != Layout::Bits && *to != self.reserved => {
                return refuse(format!("layout {to:?} is not reserved"));
            }
            Op::Unpack { to, .. } => self.enter(*to),
            Op::Advance {
                kernel,
                generations,
                block,
                ..
            } => {
                kernel.admit(self.size)?;
                kernel.admit_block(*block)?;
                if kernel.layout != self.phase.layout {
                    let (has, wants) = (self.phase.layout, kernel.layout);
                    return refuse(format!(
                        "{} wants layout {wants:?}, not {has:?}",
                        kernel.name
                    ));
                }
                let flip = u8::from(kernel.flips(*generations));
                match kernel.layout {
                    Layout::Bits => self.phase.bits ^= flip,
                    Layout::I32 | Layout::Planar => self.phase.cells ^= flip,
                }
            }
            Op::Reduce { viewport, .. } => {
                viewport.check()?;
                let words = viewport.words();
                if words > self.view_words {
                    memory::ensure(memory::bytes_of::<u32>(words), "a view")?;
                }
                self.view_words = words;
            }
            Op::Measure(_) => self.measured = true,
            Op::Download { slot, what, .. } => {
                let words = match what {
                    Transfer::Bits => self.size.words(),
                    Transfer::View if self.view_words == 0 => {
                        return refuse("a view is downloaded before one is made".into());
                    }
                    Transfer::View => self.view_words,
                    Transfer::Cells if self.phase.layout != Layout::I32 => {
                        return refuse("cells are downloaded in layout i32 alone".into());
                    }
                    Transfer::Cells => self.size.cells() as usize,
                    Transfer::Measure if !self.measured => {
                        return refuse("a measure is downloaded before one is made".into());
                    }
                    Transfer::Measure => Measure::WORDS,
                };
                match slot_words(*slot) {
                    None => return refuse(format!("no {slot:?}")),
                    Some(room) if room < words => {
                        return refuse(format!("{words} words for {slot:?} of {room}"));
                    }
                    Some(_) => {}
                }
            }
            Op::Pack(_)
            | Op::Copy { .. }
            | Op::Call(_)
            | Op::Synchronize(_)
            | Op::Record(_)
            | Op::Wait(_) => {}
        }
        Ok(())
    }
}

/// The accounts as they were before each change, for [`undo`].
pub(super) type Log = Vec<(usize, Account)>;

/// Enters a program's changes into the accounts, or changes nothing and says why it cannot be.
pub(super) fn issue(
    program: &Program,
    accounts: &mut [Account],
    slots: Option<&CpuSlots>,
) -> Result<Log> {
    let mut log = Log::new();
    match enter_all(program, accounts, slots, &mut log) {
        Ok(()) => Ok(log),
        Err(error) => {
            undo(accounts, log);
            Err(error)
        }
    }
}

/// Takes a program's changes back.
pub(super) fn undo(accounts: &mut [Account], log: Log) {
    log.into_iter()
        .rev()
        .for_each(|(at, before)| accounts[at] = before);
}

fn enter_all(
    program: &Program,
    accounts: &mut [Account],
    slots: Option<&CpuSlots>,
    log: &mut Log,
) -> Result<()> {
    for step in &program.steps {
        if let Op::Advance { kernel, .. } = &step.op
            && twin(kernel).is_none()
        {
            let why = format!("kernel {} has no twin on the CPU", kernel.name);
            return Err(EngineError::BadProgram(why));
        }
        for at in step.op.lattices().map(|id| id as usize) {
            let Some(account) = accounts.get_mut(at) else {
                return Err(EngineError::BadProgram(format!("no lattice {at}")));
            };
            log.push((at, *account));
            account.issue(&step.op, |slot| slots?.words(LatticeId(at as u32), slot))?;
        }
    }
    Ok(())
}

/// Refuses a wait for an event that another issuer records in the same program: nobody could say
/// for which of its marks.
pub(super) fn issuers_apart(program: &Program) -> Result<()> {
    let recorded = || {
        program.steps.iter().filter_map(|step| match step.op {
            Op::Record(event) => Some((event, step.issuer)),
            _ => None,
        })
    };
    for Step { issuer, op, .. } in &program.steps {
        if let Op::Wait(event) = *op
            && let Some((_, other)) = recorded().find(|&(of, by)| of == event && by != *issuer)
        {
            return Err(EngineError::BadProgram(format!(
                "{issuer:?} waits for {event:?}, which {other:?} records"
            )));
        }
    }
    Ok(())
}

/// Refuses what cannot be prepared, as a CUDA graph cannot.
pub(super) fn preparable(program: &Program, is_default: impl Fn(StreamId) -> bool) -> Result<()> {
    let steps = &program.steps;
    let synchronizes = |step: &Step| matches!(step.op, Op::Synchronize(_));
    let is_edit = |step: &Step| matches!(step.op, Op::Edit { .. });
    let why = if program.stamped {
        "stamps cannot be prepared"
    } else if steps.iter().any(synchronizes) {
        "the host cannot wait within a prepared program"
    } else if steps.iter().any(is_edit) {
        "an edit cannot be prepared"
    } else if issuers(program).len() > 1 {
        "a prepared program has one issuer"
    } else if steps.iter().any(|step| is_default(step.stream)) {
        "the default stream cannot be prepared"
    } else {
        return Ok(());
    };
    Err(EngineError::BadProgram(why.into()))
}
