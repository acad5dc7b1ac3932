//! What threads of their own bring to the window: files that were read or written, and dialogs of
//! the desktop's that were answered. The window never waits for them.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use super::files::Saving;
use crate::larger::OversizedPattern;
use app::Wake;
use lang::tr;
use life::{Lattice, Pattern, Size};

/// What a thread brought.
pub(crate) enum Parcel {
    /// Nothing: the person thought better of it.
    Nothing,
    /// Something to be said.
    Said(String),
    /// A pattern that was read for a panel, as a whole lattice.
    Opened(usize, Arc<Lattice>, String),
    /// A pattern that is larger than the panel's lattice, and what is to be said of it.
    TooLarge(usize, OversizedPattern, String),
    /// Such a pattern in the middle of a larger lattice, and for which instance.
    Centred(usize, Arc<Lattice>),
    /// A pattern to be placed, and what is to be said of how it was read, if anything.
    Ghost(Lattice, Vec<String>),
    /// Text for the clipboard, and what is to be said of it.
    Copied(String, String),
    /// A file was chosen, to be opened or, if so, saved to.
    Chosen(String, Option<Saving>),
    /// The desktop has no dialog for files: a path is typed, to open or, if so, to save to.
    Typed(Option<Saving>),
    /// A file could not be opened, and why.
    NotOpened(String),
    /// A file was saved, and what is to be said of it.
    Saved(String),
    /// It could not be saved; it is kept for another try.
    Unsaved(Saving, String),
}

/// Where they come in.
pub(crate) struct Parcels {
    sender: Sender<Parcel>,
    receiver: Receiver<Parcel>,
}

impl Default for Parcels {
    fn default() -> Parcels {
        let (sender, receiver) = channel();
        Parcels { sender, receiver }
    }
}

impl Parcels {
    /// The next one, if there is one.
    pub(crate) fn next(&self) -> Option<Parcel> {
        self.receiver.try_recv().ok()
    }

    /// Does something on a thread of its own; why not, if there is none.
    pub(super) fn send(
        &self,
        wake: &Arc<Mutex<Wake>>,
        work: impl FnOnce() -> Parcel + Send + 'static,
    ) -> Result<(), String> {
        let (sender, wake) = (self.sender.clone(), wake.clone());
        let body = move || {
            // Nobody is left to be told only when the window has gone.
            let _ = sender.send(work());
            if let Ok(wake) = wake.lock() {
                wake();
            }
        };
        let thread = std::thread::Builder::new().name("files".into());
        let made = thread.spawn(body).map(|_| ());
        made.map_err(|error| tr!("cannot start a thread: {error}", error = error))
    }
}

/// A pattern's cells alone: as many columns and rows as its text says, where lattices of this size
/// have them, else from the first live cell to the last.
pub(super) fn cells_of(pattern: &Pattern, lattices: Size) -> Result<Lattice, String> {
    let (width, height) = (pattern.width(), pattern.height());
    let fits = width <= lattices.width() && height <= lattices.height();
    let cells = match Size::new(width.into(), height.into()) {
        Ok(size) if fits => {
            let mut cells = Lattice::try_new(size).map_err(|error| error.to_string())?;
            let drawn = pattern.draw_into(&mut cells, 0, 0);
            Some(drawn.map(|()| cells).map_err(|error| error.to_string())?)
        }
        _ => pattern.live_part().map_err(|error| error.to_string())?,
    };
    cells.ok_or_else(|| tr!("{} has no cells", pattern.name()))
}
