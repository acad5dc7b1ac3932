//! What goes beside serde while a file is read: the memory that its lattices may take, and what is wrong
//! with a value, since an error of serde has only a text.

use std::cell::RefCell;

use lang::message;
use life::{Lattice, MemoryError, Size, memory};
use model::saved::SavedFault;

/// What this thread knows of the file that it reads.
#[derive(Default)]
struct Reading {
    /// Bytes that were free at first, if known.
    free: Option<u64>,
    /// Bytes of the lattices so far. Those without cells take memory only when they are stepped,
    /// so asking for what is free each time would promise it to all of them.
    taken: u64,
    /// Why a value was refused, which ends the reading.
    fault: Option<SavedFault>,
}

thread_local! {
    static READING: RefCell<Reading> = RefCell::default();
}

/// Reads a file whose lattices together may take no more memory than is free now. Returns also why
/// one of its values was refused.
pub(super) fn read<T>(read: impl FnOnce() -> T) -> (T, Option<SavedFault>) {
    let free = memory::available().map(|free| free - free / 16);
    READING.set(Reading {
        free,
        ..Reading::default()
    });
    let file = read();
    (file, READING.take().fault)
}

/// Refuses a value.
pub(super) fn refuse<E: serde::de::Error>(fault: SavedFault) -> E {
    let error = E::custom(format_args!("{fault:?}"));
    READING.with_borrow_mut(|reading| reading.fault = Some(fault));
    error
}

/// A lattice, if there is memory for it.
pub(super) fn empty_lattice(size: Size) -> Result<Lattice, MemoryError> {
    let lattice = Lattice::try_new(size)?;
    READING.with_borrow_mut(|reading| {
        reading.taken += size.words() as u64 * 4;
        match reading.free {
            Some(free) if reading.taken > free => {
                let what = message!("the lattices of the session");
                Err(MemoryError::new(what, reading.taken, free, None))
            }
            _ => Ok(lattice),
        }
    })
}
