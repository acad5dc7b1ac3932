//! A pattern that is larger than the lattices: they are started again with room for it.
//!
//! The session is taken off the window meanwhile, and comes back with larger lattices, everything
//! that lived in their middle; or as it was, if there is no room on the device. What it was before
//! is kept: undoing leads back.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::sync::{Arc, Mutex, PoisonError};
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
        let cells = match self {
            Guest::Pattern(pattern) => return pattern.room_beside(beside),
            Guest::Cells(cells) => cells.size(),
        };
        let wide = cells.width().max(beside.width()).into();
        Size::new(wide, cells.height().max(beside.height()).into()).ok()
    }

    fn centred_in(&self, size: Size) -> Result<Lattice, String> {
        match self {
            Guest::Pattern(pattern) => pattern.centred_in(size).map_err(|why| why.to_string()),
            Guest::Cells(cells) => cells.in_the_middle_of(size).map_err(|why| why.to_string()),
        }
    }
}

/// What became of an exchange: what the session was before, if undoing leads there, and what is to
/// be said.
type Exchanged = Result<(Option<Kept>, String), String>;

/// A session that is off the window. Whatever happens to the thread that has it, even where that
/// panics or never begins, the session is found here.
struct Returning<W> {
    world: Arc<Mutex<Option<W>>>,
    exchanged: Receiver<Exchanged>,
}

impl<W: World> Returning<W> {
    /// Has a session go on from what is made of it, on a thread of its own; or says why there is no
    /// thread. `replaced` is called where another session has taken its place, `woken` at the end.
    fn begin(
        world: W,
        make: impl FnOnce(&W) -> Result<(Kept, Option<Kept>, String), String> + Send + 'static,
        replaced: impl FnOnce(&W) + Send + 'static,
        woken: impl FnOnce() + Send + 'static,
    ) -> (Returning<W>, std::io::Result<()>) {
        let world = Arc::new(Mutex::new(Some(world)));
        let (sender, exchanged) = channel();
        let slot = world.clone();
        let work = move || {
            let exchange = || {
                let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
                let world = slot.as_mut().ok_or_else(panicked)?;
                let (next, former, said) = make(world)?;
                world.go_on_from(next)?;
                replaced(world);
                Ok((former, said))
            };
            let exchanged = catch_unwind(AssertUnwindSafe(exchange));
            let _ = sender.send(exchanged.unwrap_or_else(|_| Err(panicked()))); // the window may have gone
            woken();
        };
        let begun = std::thread::Builder::new().name("room".into()).spawn(work);
        (Returning { world, exchanged }, begun.map(|_| ()))
    }

    /// The session and what became of it, once it is back.
    fn back(&self) -> Option<(Option<W>, Exchanged)> {
        let exchanged = match self.exchanged.try_recv() {
            Ok(exchanged) => exchanged,
            Err(TryRecvError::Empty) => return None,
            Err(TryRecvError::Disconnected) => Err(panicked()),
        };
        Some((self.world(), exchanged))
    }

    /// The same, waited for, whatever became of it.
    fn wait(&self) -> Option<W> {
        let _ = self.exchanged.recv();
        self.world()
    }

    fn world(&self) -> Option<W> {
        let mut slot = self.world.lock().unwrap_or_else(PoisonError::into_inner);
        slot.take()
    }
}

/// What is larger than the lattices, and how there was room for another.
pub(super) struct Room<W> {
    /// What waits for an answer, and for which instance.
    asks: Option<(usize, Guest, Size)>,
    returning: Option<Returning<W>>,
    /// The session before its lattices grew.
    former: Option<Kept>,
    /// How many edits, undoings and redoings this session was asked for.
    asked: u64,
    /// Of how many of them the last one led to an attempt to undo the growing.
    tried: Option<u64>,
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
            asked: 0,
            tried: None,
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
        self.exchange(move |world| {
            let kept = world.kept().ok_or(tr!("nothing can be kept of it"))?;
            let kept = kept.recv_timeout(PATIENCE);
            let kept = kept.map_err(|_| tr!("the launch under way does not end"))?;
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

    /// An edit, an undoing or a redoing is asked of the session.
    pub(super) fn count_asked(&mut self) {
        self.room.asked += u64::from(self.world.is_some());
    }

    /// Undoes the growing of the lattices where the session says that the last thing that was asked
    /// of it was undoing, and that nothing edited since then stood any more. One that has ended says
    /// nothing more: there, the growing is what can still be undone.
    pub(super) fn look_for_undone_room(&mut self, asked_now: bool) {
        let (Some(status), asked) = (self.status(), self.room.asked) else {
            return;
        };
        let ended = status.failed.is_some() && asked_now;
        let undid_all = status.undid_all == Some(asked) && self.room.tried != Some(asked);
        if ended || undid_all {
            self.room.tried = Some(asked);
            self.undo_room();
        }
    }

    fn undo_room(&mut self) {
        if let Some(former) = self.room.former.clone() {
            self.exchange(move |_| Ok((former, None, tr!("the former lattices are back").into())));
        }
    }

    /// Has the session go on from what is made of it, on a thread of its own.
    fn exchange(
        &mut self,
        make: impl FnOnce(&W) -> Result<(Kept, Option<Kept>, String), String> + Send + 'static,
    ) {
        let Some(world) = self.world.take() else {
            return;
        };
        let (wake, rescue) = (self.wake.clone(), self.rescue.clone());
        let woken = move || {
            if let Ok(wake) = wake.lock() {
                wake();
            }
        };
        let replaced = move |world: &W| rescue.session(world.saver());
        let (returning, begun) = Returning::begin(world, make, replaced, woken);
        self.room.returning = Some(returning);
        self.requested = None;
        if let Err(error) = begun {
            self.look_for_return(); // nobody has taken it
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
        let Some((world, exchanged)) = returning.back() else {
            return;
        };
        self.world = world;
        self.room.returning = None;
        self.requested = None;
        match exchanged {
            Err(why) => self.note(tr!("the lattices stay as they are: {why}", why = why)),
            Ok((former, said)) => {
                self.room = Room {
                    former,
                    ..Room::default()
                };
                self.start_looking_again();
                self.note(said);
            }
        }
    }

    /// The window ends: a session that is still on its way comes back first, to be saved.
    pub(super) fn await_return(&mut self) {
        if let Some(returning) = self.room.returning.take() {
            self.world = returning.wait();
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

fn panicked() -> String {
    tr!("internal: the thread that exchanges them has panicked").into()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use engine::kernels;
    use life::Rule;
    use model::{
        DeviceChoice, KernelChoice, Pace, Picture, PicturePlan, PictureSource, Setup, Start,
        Status, Switches, TimeSettings, Trace,
    };

    /// A session that goes on from nothing, or panics.
    #[derive(Debug, PartialEq)]
    struct Stubborn(bool);

    impl PictureSource for Stubborn {
        fn visit_newer(&self, _: &mut [u64], _: &mut dyn FnMut(usize, &Picture, &[u32])) {}
        fn newer_trace(&self, _: u64) -> Option<Trace> {
            None
        }
    }

    impl World for Stubborn {
        fn act(&self, _: Action) -> bool {
            false
        }
        fn request_view(&self, _: PicturePlan) {}
        fn status(&self) -> Arc<Status> {
            unreachable!("nobody asks")
        }
        fn go_on_from(&mut self, _: Kept) -> Result<(), String> {
            assert!(!self.0, "as it was told to");
            Err("it goes on from nothing".into())
        }
    }

    fn kept() -> Kept {
        Kept {
            setup: Setup {
                instances: 1,
                size: Size::new(8, 8).unwrap(),
                rule: Rule::LIFE,
                start: Start::Soup {
                    density: 0.5,
                    seed: 1,
                },
                kernel: kernels::find("bits").unwrap(),
                kernel_choice: KernelChoice::Asked,
                device: DeviceChoice::Cpu,
                switches: Switches::DEFAULT,
                generations_per_round: 1,
                pace: Pace::Unthrottled,
                rounds: None,
                time: TimeSettings::DEFAULT,
            },
            lattices: Vec::new(),
            halves: None,
            running: false,
            selected: 0,
        }
    }

    #[test]
    fn a_session_comes_back_whatever_becomes_of_the_thread_that_has_it() {
        let goes_on = |_: &Stubborn| Ok((kept(), None, String::new()));
        let panics = |_: &Stubborn| panic!("as it was told to");
        let exchange = |panics_itself: bool, make: fn(&Stubborn) -> _| {
            let woken = Arc::new(AtomicBool::new(false));
            let told = woken.clone();
            let wake = move || told.store(true, Ordering::Release);
            let world = Stubborn(panics_itself);
            let (returning, begun) =
                Returning::begin(world, make, |_| panic!("not replaced"), wake);
            begun.unwrap();
            while !woken.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
            let (world, exchanged) = returning.back().expect("it is back");
            assert_eq!(world, Some(Stubborn(panics_itself)));
            exchanged.map(|(_, said)| said).unwrap_err()
        };
        assert_eq!(exchange(false, goes_on), "it goes on from nothing");
        assert!(exchange(true, goes_on).contains("panicked"));
        assert!(exchange(false, panics).contains("panicked"));
    }

    /// As where the thread never began.
    #[test]
    fn a_session_that_no_thread_took_is_still_there() {
        let (_, exchanged) = channel();
        let world = Arc::new(Mutex::new(Some(Stubborn(false))));
        let returning = Returning { world, exchanged };
        let (world, exchanged) = returning.back().expect("it is back");
        assert_eq!(world, Some(Stubborn(false)));
        assert!(exchanged.is_err());
    }
}
