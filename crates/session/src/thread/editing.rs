//! Edits, done between two rounds in the order in which they were asked for.
//!
//! What need not know the lattice's cells goes to its stream at once, and with the first of a
//! stroke a copy of the lattice as it is just before, for undoing; by way of a slot of its own, so
//! that nothing waits for it. What must know them waits until they are on the host, and the rounds
//! wait with it: that is one copy's time. As long as nothing steps, the host knows them from the
//! edit before.
//!
//! Undoing brings back the lattice, and its generation, as they were just before the panel's last
//! edit, whatever it did since; that is then what doing it again brings back.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Instant;

use super::Pilot;
use super::reading::Reading;
use super::recovery::CHECKPOINT_SLOTS;
use crate::edits::History;
use crate::worlds::Worlds;
use engine::{Result, Slot, WordEdit};
use lang::tr;
use life::{Lattice, Size};
use model::{Change, Edit};

/// Something that is done in its turn.
pub(crate) enum Asked {
    /// An edit, by its number.
    Edit(Edit, u64),
    /// The state before an instance's last edit.
    Undo(usize, u64),
    /// The state before the last undoing.
    Redo(usize, u64),
    /// An instance's lattice and generation are wanted.
    Copy(usize, Sender<(Arc<Lattice>, u64)>),
}

/// The whole-lattice slot of what comes to the host for an edit; the others are the checkpoints'.
const FETCH_SLOT: u8 = CHECKPOINT_SLOTS;

/// The whole-lattice slots of a session.
pub(crate) const WHOLE_SLOTS: u8 = CHECKPOINT_SLOTS + 1;

/// What was asked for, and what is known of the lattices.
#[derive(Default)]
pub(super) struct Editor {
    /// Each with the number of steps that were asked for before.
    queue: VecDeque<(Asked, u64)>,
    known: Option<Known>,
    fetching: Option<Fetching>,
    histories: HashMap<usize, Histories>,
    /// Edits, undoings and redoings that were done or passed over.
    taken: u64,
    /// Edits, strokes counted once, that have not been undone, whether they can be or not.
    standing: u64,
    /// See [`Status::undid_all`](model::Status::undid_all).
    pub(super) undid_all: Option<u64>,
}

/// A lattice as it is on the device, as long as [`Worlds::changes`] stays.
struct Known {
    instance: usize,
    lattice: Arc<Lattice>,
    /// What was done to it since, until somebody must know what came of it: a stroke's segments
    /// are many, and a large lattice's copy takes longer than a frame.
    since: Vec<Change>,
    changes: u64,
}

impl Known {
    fn now(&mut self) -> Arc<Lattice> {
        if !self.since.is_empty() {
            let lattice = Arc::make_mut(&mut self.lattice);
            self.since
                .drain(..)
                .for_each(|change| change.apply_to(lattice));
        }
        self.lattice.clone()
    }
}

/// A lattice on its way to the host.
struct Fetching {
    instance: usize,
    generation: u64,
    changes: u64,
    /// The stroke that was issued behind it, whose past it is; or it is wanted by what waits.
    behind: Vec<Change>,
    /// Once it is there.
    reading: Option<Reading>,
}

#[derive(Default)]
struct Histories {
    undo: History,
    redo: History,
}

impl Histories {
    /// Where the state comes from that is brought back, and where the present one goes.
    fn way(&mut self, back: bool) -> (&mut History, &mut History) {
        match back {
            true => (&mut self.undo, &mut self.redo),
            false => (&mut self.redo, &mut self.undo),
        }
    }
}

impl Editor {
    /// Whether something waits that what is asked for later must not overtake.
    pub(super) fn is_busy(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Whether a lattice is on its way to the host.
    pub(super) fn is_fetching(&self) -> bool {
        self.fetching.is_some()
    }

    /// How many edits wait.
    pub(super) fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// The slots or the engine are new: what was under way to the host never comes.
    pub(super) fn forget_copies(&mut self) {
        self.fetching = None;
        self.known = None;
    }

    /// The lattice of an instance, if the host knows it as it is.
    fn known(&mut self, instance: usize, changes: u64) -> Option<&mut Known> {
        let known = self.known.as_mut()?;
        let it_is = known.instance == instance && known.changes == changes;
        it_is.then_some(known)
    }

    /// An edit begins: what was before it can be brought back, what was undone no more.
    fn begin(&mut self, instance: usize, before: Arc<Lattice>, generation: u64) {
        let (histories, most) = self.histories_of(instance);
        histories.redo = History::default();
        histories.undo.push(before, generation, most);
    }

    /// What can be undone of an instance and done again, and how many bytes each may take.
    fn histories_of(&mut self, instance: usize) -> (&mut Histories, usize) {
        let others = self.histories.len();
        let histories = self.histories.entry(instance).or_default();
        (histories, History::MOST_BYTES / (2 * others.max(1)))
    }
}

/// What an edit touches without knowing what is there.
enum Touched {
    Words(Arc<[WordEdit]>),
    Whole(Arc<Lattice>),
}

impl Touched {
    fn by(change: &Change, size: Size) -> Option<Touched> {
        let whole = change.whole(size).map(Touched::Whole);
        whole.or_else(|| Some(Touched::Words(change.touched(size)?.into())))
    }

    /// Issues it, and before it a copy to this whole-lattice slot.
    fn issue(
        &self,
        worlds: &mut Worlds,
        instances: &[usize],
        number: u64,
        fetch: Option<u8>,
    ) -> Result<()> {
        match self {
            Touched::Words(words) => worlds.edit(instances, words, number, fetch),
            Touched::Whole(lattice) => {
                let generation = worlds.generations()[instances[0]];
                if let Some(index) = fetch {
                    worlds.issue_fetch(instances[0], index)?;
                }
                let all = instances.iter().map(|&i| (i, lattice.clone(), generation));
                worlds.upload(all.collect())?;
                worlds.number_edit(instances, number);
                Ok(())
            }
        }
    }
}

impl Pilot {
    pub(super) fn ask(&mut self, asked: Asked) {
        self.editor.queue.push_back((asked, self.steps_asked));
        self.changed = true;
    }

    /// Whether an edit comes before any step that is still to be made: rounds wait for it.
    pub(super) fn edit_is_next(&self) -> bool {
        let made = self.steps_asked - self.steps.len() as u64;
        let front = self.editor.queue.front();
        front.is_some_and(|(_, steps)| *steps <= made)
    }

    /// Does what was asked for, as far as that can be now.
    pub(super) fn edit(&mut self) -> Result<()> {
        while self.edit_is_next() {
            let Some((asked, steps)) = self.editor.queue.pop_front() else {
                break;
            };
            let free = self.left_of_round.is_none() && self.owed().is_none();
            let calibrating = self.worlds.as_ref().is_none_or(Worlds::is_calibrating);
            let done = match free && !calibrating {
                true => self.edit_now(&asked),
                false => Ok(false),
            };
            let counts = !matches!(asked, Asked::Copy(..));
            match done {
                Ok(true) => {
                    self.editor.taken += u64::from(counts);
                    self.changed = true;
                }
                Ok(false) => {
                    self.editor.queue.push_front((asked, steps));
                    break;
                }
                Err(error) => {
                    // What cannot be is passed over; what only the engine's loss prevented is not.
                    if error.loses_lattices() {
                        self.editor.queue.push_front((asked, steps));
                    } else {
                        self.editor.taken += u64::from(counts);
                    }
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// The session has ended: who waits for a lattice gets it as it was last known, and edits come
    /// too late.
    pub(super) fn answer_from_the_last(&mut self) {
        let mut known = None;
        for (asked, _) in std::mem::take(&mut self.editor.queue) {
            let Asked::Copy(instance, answer) = asked else {
                continue;
            };
            let lattices = known.get_or_insert_with(|| self.last_lattices());
            if let Some((_, lattice, generation)) = lattices.get(instance) {
                let _ = answer.send((lattice.clone(), *generation)); // who asked may be gone
                (self.wake)();
            }
        }
        self.changed = true;
    }

    /// Does it, or answers `false` where it must wait.
    fn edit_now(&mut self, asked: &Asked) -> Result<bool> {
        match asked {
            Asked::Edit(edit, number) => match Touched::by(&edit.change, self.setup.size) {
                Some(touched) => self.touch(edit, &touched, *number),
                None => {
                    let Some((lattice, generation)) = self.current(edit.instance)? else {
                        return Ok(false);
                    };
                    let after = Arc::new(edit.change.apply(&lattice));
                    let instance = self.twins(edit.instance)[0];
                    self.editor.begin(instance, lattice.clone(), generation);
                    self.editor.standing += 1;
                    self.set(edit.instance, lattice, after, generation, *number)
                }
            },
            Asked::Undo(instance, number) | Asked::Redo(instance, number) => {
                let back = matches!(asked, Asked::Undo(..));
                let instance = &self.twins(*instance)[0]; // whose past both have
                if self.editor.is_fetching() {
                    return Ok(false); // the state before the last edit is on its way
                }
                let (histories, _) = self.editor.histories_of(*instance);
                if histories.way(back).0.is_empty() {
                    let what = if back {
                        tr!("nothing to undo")
                    } else {
                        tr!("nothing to do again")
                    };
                    self.notice = Some((what.into(), Instant::now()));
                    if back && self.editor.standing == 0 {
                        self.editor.undid_all = Some(self.editor.taken + 1);
                    }
                    if let Some(worlds) = &mut self.worlds {
                        worlds.number_edit(&[*instance], *number);
                    }
                    self.refresh = true;
                    return Ok(true);
                }
                let Some((lattice, generation)) = self.current(*instance)? else {
                    return Ok(false);
                };
                let (histories, most) = self.editor.histories_of(*instance);
                let (from, to) = histories.way(back);
                let Some((state, of)) = from.pop() else {
                    return Ok(true);
                };
                to.push(lattice.clone(), generation, most);
                let standing = &mut self.editor.standing;
                *standing = match back {
                    true => standing.saturating_sub(1),
                    false => *standing + 1,
                };
                self.set(*instance, lattice, state, of, *number)
            }
            Asked::Copy(instance, answer) => {
                let Some(current) = self.current(*instance)? else {
                    return Ok(false);
                };
                let _ = answer.send(current); // who asked may be gone
                (self.wake)();
                Ok(true)
            }
        }
    }

    /// The instances that an edit of one is for: B's twin too, where there are two halves.
    fn twins(&self, instance: usize) -> Vec<usize> {
        match self.halves().map(|halves| halves.each) {
            Some(each) if instance < 2 * each => vec![instance % each, instance % each + each],
            _ => vec![instance],
        }
    }

    /// Issues what is touched, with a copy of what was before if a stroke begins.
    fn touch(&mut self, edit: &Edit, touched: &Touched, number: u64) -> Result<bool> {
        let twins = self.twins(edit.instance);
        let instance = twins[0];
        let Some(worlds) = &mut self.worlds else {
            return Ok(false);
        };
        let (changes, generation) = (worlds.changes(), worlds.generations()[instance]);
        let joins = edit.joins && self.editor.histories.contains_key(&instance);
        match self.editor.known(instance, changes) {
            Some(known) => {
                let before = (!joins).then(|| known.now());
                touched.issue(worlds, &twins, number, None)?;
                known.since.push(edit.change.clone());
                known.changes = worlds.changes();
                if let Some(before) = before {
                    self.editor.begin(instance, before, generation);
                }
            }
            None if joins => {
                touched.issue(worlds, &twins, number, None)?;
                let changes_now = worlds.changes();
                let same = |f: &&mut Fetching| (f.instance, f.changes) == (instance, changes);
                if let Some(fetching) = self.editor.fetching.as_mut().filter(same) {
                    fetching.behind.push(edit.change.clone());
                    fetching.changes = changes_now;
                }
            }
            None => {
                if self.editor.is_fetching() {
                    return Ok(false); // the slot is in use
                }
                touched.issue(worlds, &twins, number, Some(FETCH_SLOT))?;
                let changes = worlds.changes();
                self.editor.histories_of(instance);
                self.editor.fetching = Some(Fetching {
                    instance,
                    generation,
                    changes,
                    behind: vec![edit.change.clone()],
                    reading: None,
                });
            }
        }
        self.editor.standing += u64::from(!joins);
        self.edited(&twins);
        if joins {
            self.stroke_goes_on(Instant::now());
        }
        Ok(true)
    }

    /// The lattice of an instance as it is, once the host knows it; asks for it.
    fn current(&mut self, instance: usize) -> Result<Option<(Arc<Lattice>, u64)>> {
        let instance = self.twins(instance)[0];
        let Some(worlds) = &mut self.worlds else {
            return Ok(None);
        };
        let (changes, generation) = (worlds.changes(), worlds.generations()[instance]);
        if let Some(known) = self.editor.known(instance, changes) {
            return Ok(Some((known.now(), generation)));
        }
        if !self.editor.is_fetching() {
            worlds.issue_fetch(instance, FETCH_SLOT)?;
            self.editor.fetching = Some(Fetching {
                instance,
                generation,
                changes,
                behind: Vec::new(),
                reading: None,
            });
        }
        Ok(None)
    }

    fn set(
        &mut self,
        instance: usize,
        before: Arc<Lattice>,
        after: Arc<Lattice>,
        generation: u64,
        number: u64,
    ) -> Result<bool> {
        let twins = self.twins(instance);
        if let Some(worlds) = &mut self.worlds {
            worlds.replace(&twins, (&before, &after), generation, number)?;
        }
        self.know(twins[0], after, Vec::new());
        self.edited(&twins);
        Ok(true)
    }

    fn know(&mut self, instance: usize, lattice: Arc<Lattice>, since: Vec<Change>) {
        self.editor.known = self.worlds.as_ref().map(|worlds| Known {
            instance,
            lattice,
            since,
            changes: worlds.changes(),
        });
    }

    fn edited(&mut self, instances: &[usize]) {
        self.watch.drawn(instances.iter().copied());
        for &instance in instances {
            self.history_changed(instance..instance + 1);
        }
        self.refresh = true;
        self.checkpoints.stale = true;
    }

    /// A lattice has come to the host, into this slot.
    pub(super) fn fetched(&mut self, slot: Slot) {
        if let (Some(fetching), Some(worlds)) = (&mut self.editor.fetching, &self.worlds) {
            let (one, size) = (fetching.instance..fetching.instance + 1, self.setup.size);
            fetching.reading = Some(Reading::begin(worlds.slots(), one, slot, size));
        }
    }

    /// And has been read.
    pub(super) fn take_fetched(&mut self) -> Result<()> {
        let reading = self.editor.fetching.as_ref();
        let reading = reading.and_then(|fetching| fetching.reading.as_ref());
        let Some(read) = reading.and_then(Reading::ready) else {
            return Ok(());
        };
        let (Some(fetching), Some(worlds)) = (self.editor.fetching.take(), &self.worlds) else {
            return Ok(());
        };
        let Some(before) = read.lattices?.pop() else {
            return Ok(());
        };
        if !fetching.behind.is_empty() {
            let before = before.clone();
            self.editor
                .begin(fetching.instance, before, fetching.generation);
        }
        if worlds.changes() == fetching.changes {
            self.know(fetching.instance, before, fetching.behind);
        }
        Ok(())
    }
}
