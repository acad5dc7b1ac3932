//! What goes beside serde while a file is read: the memory that its lattices may take, and what is wrong
//! with a value, since an error of serde has only a text.

use std::cell::RefCell;

use lang::{Message, message};
use life::{Lattice, MemoryError, Size, memory};

/// What this thread knows of the file that it reads.
#[derive(Default)]
pub(super) struct Reading {
    /// Bytes that were free at first, if known.
    free: Option<u64>,
    /// Bytes of the lattices so far. Those without cells take memory only when they are stepped,
    /// so asking for what is free each time would promise it to all of them.
    taken: u64,
    /// Why a value was refused, which ends the reading.
    pub(super) fault: Option<Message>,
    /// Whether that was for want of memory.
    pub(super) lacks_memory: bool,
}

thread_local! {
    static READING: RefCell<Reading> = RefCell::default();
}

/// Reads a file whose lattices together may take no more memory than is free now.
pub(super) fn read<T>(read: impl FnOnce() -> T) -> (T, Reading) {
    let free = memory::available().map(|free| free - free / 16);
    READING.set(Reading {
        free,
        ..Reading::default()
    });
    let file = read();
    (file, READING.take())
}

/// Refuses a value.
pub(super) fn refuse<E: serde::de::Error>(fault: Message) -> E {
    let error = E::custom(&fault);
    READING.with_borrow_mut(|reading| reading.fault = Some(fault));
    error
}

/// A lattice, if there is memory for it.
pub(super) fn empty_lattice(size: Size) -> Result<Lattice, Message> {
    let lattice = Lattice::try_new(size);
    READING.with_borrow_mut(|reading| {
        reading.taken += size.words() as u64 * 4;
        let lattice = lattice.and_then(|lattice| match reading.free {
            Some(free) if reading.taken > free => {
                let what = message!("the lattices of the session");
                Err(MemoryError::new(what, reading.taken, free, None))
            }
            _ => Ok(lattice),
        });
        reading.lacks_memory = lattice.is_err();
        lattice.map_err(Message::of)
    })
}
