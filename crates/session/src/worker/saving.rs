//! Hands a session over to be saved, and continues a saved session.

use std::time::Duration;

use super::SessionWorker;
use crate::command::Notice;
use crate::copies::Snapshot;
use crate::log::{Position, Undo};
use crate::losses::Losses;
use crate::own_file::OwnFile;
use crate::pacing::Pacing;
use crate::saved::{Drafts, SavedSession};
use crate::state::{Mode, Move, MoveReason};
use crate::timeline::Timeline;
use crate::{Setting, Setup, StoredKernel};
use engine::Result;
use lang::message;

impl SessionWorker {
    /// The position that is saved: during a move its end, since the way there follows from the log. While a
    /// comparison of A and B is redone and the lattices before it are not copied yet, it is the position
    /// before the comparison, since leaving that needs the copy.
    pub(super) fn saved_position(&self) -> Position {
        let moving = self.state.moving();
        let target = moving.map_or(self.state.position(), |moving| moving.target);
        let begun = self.state.log().comparison();
        let is_copied = |at: &Position| self.state.timeline.copies.get(*at).is_some();
        begun.map_or(target, |at| {
            if is_copied(&at) {
                target
            } else {
                target.min(at)
            }
        })
    }

    /// The session as it is saved; `None` if nothing leads to its position.
    pub(super) fn saved_session(&self) -> Option<SavedSession> {
        let takes_off = |moving: &Move| {
            let undo = Undo::Before(moving.target);
            matches!(moving.purpose, MoveReason::Undo { undo: it, .. } if it == undo)
        };
        let is_undone = self.state.moving().is_some_and(takes_off);
        let timeline = self
            .state
            .timeline
            .saved(self.saved_position(), is_undone)?;
        let parameters = timeline.log.parameters(timeline.position.records);
        let b_switches = if self.lattices.is_comparing() {
            Some(self.lattices.changed_setting().switches)
        } else {
            self.lab.b_switches
        };
        Some(SavedSession {
            setup: Setup {
                pace: self.state.pacing.pace,
                generations_per_round: self.state.pacing.chosen,
                rounds: None,
                size: parameters.size,
                instances: parameters.instances,
                rule: parameters.rule,
                start: parameters.start,
                ..self.lattices.chosen_setup()
            },
            b_switches: b_switches.filter(|_| timeline.log.comparison().is_some()),
            notices: Vec::new(),
            timeline,
            running: self.is_running(),
            selected: self.watch.selected.min(parameters.instances - 1),
            drafts: Drafts::default(),
        })
    }

    /// Publishes the session for those who save it while this thread hangs, if that is due.
    pub(super) fn publish_last_known(&mut self, interval: Duration) {
        let began = self.now();
        if self.safety_copy.is_due(interval, began) {
            let session = self.saved_session();
            let now = self.now();
            self.safety_copy.publish(session, began, now);
        }
    }

    /// The newest copy that leads to the session's position, or that of the start.
    pub(super) fn last_copy(&self) -> Option<Snapshot> {
        let (log, limit) = (self.state.log(), self.saved_position());
        let copies = self.state.timeline.copies.iter().rev();
        let newest = copies.into_iter().find(|copy| copy.position <= limit);
        if newest.is_some() || !log.base_is_start() {
            return newest.cloned();
        }
        let parameters = log.base_parameters();
        let all = (0..parameters.instances).map(|i| parameters.start_lattice(i));
        let all = all.collect::<Result<Vec<_>, _>>().ok()?;
        Snapshot::new(log.base(), &all).ok()
    }

    /// Continues a saved session, whose setup this worker has. Nothing may be in flight. If that
    /// fails, the session ends and the file stays as it is.
    pub(super) fn open(&mut self, saved: SavedSession) -> Result<()> {
        match self.load_saved(saved) {
            // After a loss, the recovery restores the lattices.
            Err(error) if !error.loses_lattices() => {
                self.fail(message!("The saved session cannot be continued: {error}"));
                Ok(())
            }
            taken => taken,
        }
    }

    /// Replaces this session by a saved one, on the same devices, and leaves its file; `name` is
    /// that of the saved one's file. Nothing may be in flight. A kernel of the user's own runs if this
    /// session has it already; otherwise it stays text.
    ///
    /// # Errors
    /// Its instances cannot be made; everything is as it was then.
    pub(super) fn replace(
        &mut self,
        saved: SavedSession,
        file: &OwnFile,
        name: String,
    ) -> Result<()> {
        self.publish_last_known(Duration::ZERO); // before a device is opened
        let Setup {
            device,
            split,
            rounds,
            own_kernel,
            ..
        } = self.lattices.setup;
        let mut setup = Setup {
            device,
            split,
            rounds,
            ..saved.setup.clone()
        };
        let is_same = |stored: &StoredKernel| {
            let own = own_kernel.and_then(|kernel| kernel.own.as_ref());
            own.is_some_and(|own| *own.source == *stored.source)
        };
        match setup.stored_kernel.take() {
            Some(other) if !is_same(&other) => setup.stored_kernel = Some(other),
            same => {
                setup.own_kernel = own_kernel;
                if same.is_some_and(|it| it.in_use) {
                    setup.kernel = own_kernel.unwrap_or(setup.kernel);
                }
            }
        }
        let left = setup.stored_kernel.as_ref().filter(|it| it.in_use);
        let left = left.map(|it| it.rung);
        let instances = self.lattices.make(&setup)?;
        // What is published meanwhile is neither session.
        self.safety_copy.restore_pending = true;
        self.lattices.trial = None; // of the lattices before
        let (pace, generations) = (setup.pace, setup.generations_per_round);
        self.lattices.chosen = None;
        self.take_instances(instances, setup);
        file.leave();
        self.fit_block_timestamps();
        self.state.pacing = Pacing::new(pace, generations, self.now());
        self.notify(Notice::Done(message!("Opened the session {}", name)));
        self.open(saved)?;
        if let Some(rung) = left {
            self.notify(Notice::Done(message!(
                "The kernel of your own in this file is not compiled here; {rung} takes its place",
                rung = rung.file
            )));
        }
        Ok(())
    }

    fn load_saved(&mut self, saved: SavedSession) -> Result<()> {
        self.watch.selected = saved.selected.min(self.lattices.setup.instances - 1);
        for notice in saved.notices {
            self.notify(Notice::Done(notice));
        }
        self.fit_own_round();
        let limited = self.lattices.setup.rounds.is_some(); // a requested number of rounds is run
        let runs = (saved.running || limited) && self.lattices.setup.rounds != Some(0);
        let mode = if runs { Mode::Running } else { Mode::Paused };
        self.safety_copy.clear();
        self.lab.statistics.restart();
        self.forget_slots();
        self.lattices.losses = Losses::default(); // of other positions
        let (log, target) = (saved.timeline.log, saved.timeline.position);
        let budget = self.lattices.setup.time.history_bytes;
        let mut timeline = Timeline {
            here: target,
            ..Timeline::new(log, budget)
        };
        for copy in saved.timeline.copies {
            timeline.add(copy);
        }
        self.state.timeline = timeline;
        self.state.cells_known = false;
        self.lab.b_switches = saved.b_switches;
        self.state.pacing.left = None;
        self.state.begin_move(target, MoveReason::Opening, mode);
        self.log_changed();
        self.publisher.is_changed = true;
        Ok(())
    }

    /// Takes breadth-first if the order is the user's own and the saved round is no longer right.
    fn fit_own_round(&mut self) {
        let setup = &self.lattices.setup;
        let mut fitted = setup.clone();
        if fitted.fit_own_round() {
            self.lattices.take_switches(Setting::of(&fitted));
            self.own_round_left(fitted.instances);
        }
    }

    /// Says that breadth-first took the place of the user's own round.
    pub(super) fn own_round_left(&mut self, instances: usize) {
        self.notify(Notice::Done(message!(
            "The round of your own is not right for {instances} instances; back to breadth-first"
        )));
    }
}
