//! A pattern that is larger than the lattices: they are started again with room for it.
//!
//! The session is taken off the window meanwhile, and comes back with larger lattices, everything
//! that lived in their middle; or as it was, if there is no room on the device. What it was before
//! is kept: undoing leads back.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::{Duration, Instant};

use crate::handler::Handler;
use app::World;
use lang::tr;
use life::{Lattice, Pattern, Size};
use model::Action;
use session::Kept;
use view::{Larger, Population, Timeline};

/// How long the launch under way may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// A pattern that waits for room.
#[derive(Clone)]
pub(super) enum Guest {
    /// As it was read.
    Pattern(Arc<Pattern>),
    /// Its cells.
    Cells(Arc<Lattice>),
}

impl Guest {
    /// The smallest lattice that has room for it and for one of this size, if there can be one.
    pub(super) fn room(&self, beside: Size) -> Option<Size> {
        let (width, height) = match self {
            Guest::Pattern(pattern) => (pattern.width(), pattern.height()),
            Guest::Cells(cells) => (cells.size().width(), cells.size().height()),
        };
        let wide = width.max(beside.width()).into();
        Size::new(wide, height.max(beside.height()).into()).ok()
    }

    fn centred_in(&self, size: Size) -> Result<Lattice, String> {
        match self {
            Guest::Pattern(pattern) => pattern.centred_in(size).map_err(|why| why.to_string()),
            Guest::Cells(cells) => cells.in_the_middle_of(size).map_err(|why| why.to_string()),
        }
    }
}

/// A session on its way back, what it was before, and what is to be said.
type Returning<W> = Receiver<(W, Result<(Option<Kept>, String), String>)>;

/// What is larger than the lattices, and how there was room for another.
pub(super) struct Room<W> {
    /// What waits for an answer, and for which instance.
    asks: Option<(usize, Guest, Size)>,
    returning: Option<Returning<W>>,
    /// The session before its lattices grew, and how many edits were made since.
    former: Option<(Kept, i64)>,
}

impl<W> Room<W> {
    /// Whether the session is off the window meanwhile.
    pub(super) fn is_exchanging(&self) -> bool {
        self.returning.is_some()
    }
}

impl<W> Default for Room<W> {
    fn default() -> Room<W> {
        Room {
            asks: None,
            returning: None,
            former: None,
        }
    }
}

impl<W: World> Handler<W> {
    /// Offers larger lattices to a pattern that is too large, if there can be such.
    pub(super) fn offer_room(&mut self, instance: usize, guest: Guest, why: String) {
        let room = self.status().and_then(|status| guest.room(status.size));
        match room {
            Some(size) if self.lessons.screen.is_none() => {
                tracing::debug!("larger lattices are offered: {size}");
                self.dialogs.larger = Some(Larger::new(why, size));
                self.room.asks = Some((instance, guest, size));
            }
            _ => self.note(why),
        }
    }

    /// The offer was taken.
    pub(super) fn make_room(&mut self) {
        let Some((instance, guest, size)) = self.room.asks.take() else {
            return;
        };
        self.exchange(move |kept| {
            let mut larger = kept.larger(size).map_err(|why| why.to_string())?;
            let generation = larger.lattices[instance].1;
            larger.lattices[instance] = (Arc::new(guest.centred_in(size)?), generation);
            let said = tr!(
                "the lattices are {size} now; Ctrl+Z brings the former back",
                size = size
            );
            Ok((larger, Some(kept), said))
        });
    }

    /// Counts an edit, or the undoing of one.
    pub(super) fn count_edit(&mut self, by: i64) {
        if let Some((_, edits)) = &mut self.room.former {
            *edits += by;
        }
    }

    /// Undoes the growing of the lattices, if that was the last thing done; whether it was.
    pub(super) fn undo_room(&mut self) -> bool {
        let Some((former, _)) = self.room.former.take_if(|(_, edits)| *edits <= 0) else {
            return false;
        };
        self.exchange(move |_| Ok((former, None, tr!("the former lattices are back").into())));
        true
    }

    /// Has the session go on from what is made of it, on a thread of its own.
    fn exchange(
        &mut self,
        make: impl FnOnce(Kept) -> Result<(Kept, Option<Kept>, String), String> + Send + 'static,
    ) {
        let Some(mut world) = self.world.take() else {
            return;
        };
        let (sender, returning) = channel();
        let wake = self.wake.clone();
        let work = move || {
            let went_on = || {
                let kept = world.kept().ok_or(tr!("nothing can be kept of it"))?;
                let kept = kept.recv_timeout(PATIENCE);
                let kept = kept.map_err(|_| tr!("the launch under way does not end"))?;
                let (next, former, said) = make(kept)?;
                world.go_on_from(next)?;
                Ok((former, said))
            };
            let went_on: Result<_, String> = went_on();
            let _ = sender.send((world, went_on)); // the window may have gone
            if let Ok(wake) = wake.lock() {
                wake();
            }
        };
        self.room.returning = Some(returning);
        self.requested = None;
        if let Err(error) = std::thread::Builder::new().name("room".into()).spawn(work) {
            // The session went with it.
            self.note(tr!(
                "internal: no thread for larger lattices: {error}",
                error = error
            ));
        }
        self.pacer.want(Instant::now());
    }

    /// Takes the session back once it is ready.
    pub(super) fn look_for_return(&mut self) {
        let Some(returning) = &self.room.returning else {
            return;
        };
        let (world, went_on) = match returning.try_recv() {
            Ok(back) => back,
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => return,
        };
        self.room.returning = None;
        self.world = Some(world);
        self.requested = None;
        match went_on {
            Err(why) => self.note(tr!("the lattices stay as they are: {why}", why = why)),
            Ok((former, said)) => {
                self.room.former = former.map(|former| (former, 0));
                self.start_looking_again();
                self.note(said);
            }
        }
    }

    /// The window ends: a session that is still on its way comes back first, to be saved.
    pub(super) fn await_return(&mut self) {
        if let Some(returning) = self.room.returning.take()
            && let Ok((world, _)) = returning.recv()
        {
            self.world = Some(world);
        }
    }

    /// Everything shown of the session before is of the past.
    fn start_looking_again(&mut self) {
        self.timeline = Timeline::default();
        self.population = Population::default();
        self.editing.marks.pending.clear();
        self.editing.marks.selection = None;
        if let Some(world) = &self.world {
            world.act(Action::WatchPopulation(self.view.population));
            world.act(Action::WatchOverlap(self.view.timeline));
        }
    }
}
