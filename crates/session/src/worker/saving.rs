//! Hands a session over to be saved, and continues a saved session.

use std::sync::Arc;
use std::time::Duration;

use super::SessionWorker;
use crate::health::no_snapshot;
use crate::last_known::HostCopy;
use crate::log::{Log, Position};
use crate::own_file::OwnFile;
use crate::pacing::Pacing;
use crate::publisher::Notice;
use crate::saved::{Drafts, SavedComparison, SavedSession, SavedTimeline};
use crate::snapshots::Snapshots;
use crate::state::{Mode, MoveReason};
use crate::{Setup, StoredKernel};
use engine::{EngineError, Result};
use lang::message;
use life::Lattice;

impl SavedSession {
    /// The timeline that is stepped: that of the comparison, if there is one.
    pub fn timeline(&self) -> &SavedTimeline {
        match &self.comparison {
            Some(comparison) => &comparison.timeline,
            None => &self.main,
        }
    }

    /// Sets the newest lattices of the timeline that is stepped.
    pub(crate) fn set_newest(&mut self, position: Position, lattices: Vec<Arc<Lattice>>) {
        let timeline = match &mut self.comparison {
            Some(comparison) => &mut comparison.timeline,
            None => &mut self.main,
        };
        if timeline.base.is_none() && !timeline.log.base_is_start() {
            // Nothing leads to positions before the snapshot.
            timeline.log.discard_before(position);
            timeline.base = (!timeline.log.base_is_start()).then(|| lattices.clone());
        }
        timeline.newest = (position, lattices);
    }
}

impl SessionWorker {
    /// The session as it is saved, without the newest snapshot of its cells.
    pub(super) fn session_without_copy(&self) -> SavedSession {
        let mut session = self.session_without_cells();
        match (&self.comparison, &mut session.comparison) {
            (Some(_), Some(saved)) => {
                saved.timeline.base = self.base_lattices(self.state.log());
                session.main.base = self.pinned_base(&mut session.main.log);
            }
            _ => session.main.base = self.base_lattices(self.state.log()),
        }
        session
    }

    /// The position that is saved: during a move its end, since the way there follows from the log.
    pub(super) fn saved_position(&self) -> Position {
        let moving = self.state.moving();
        moving.map_or(self.state.position(), |moving| moving.target)
    }

    /// The session as it is saved, with no cells but those of the main session during a comparison.
    fn session_without_cells(&self) -> SavedSession {
        let position = self.saved_position();
        let now = SavedTimeline {
            log: self.state.log().clone(),
            position,
            base: None,
            newest: (position, Vec::new()),
        };
        let comparison = self.comparison.as_ref().zip(self.lattices.b_switches());
        let (main, comparison) = match comparison {
            None => (now, None),
            Some((comparison, second)) => {
                let main = SavedTimeline {
                    log: comparison.log.clone(),
                    position: comparison.position,
                    base: None,
                    newest: comparison.main_snapshot.clone(),
                };
                let comparison = SavedComparison {
                    second,
                    timeline: now,
                };
                (main, Some(comparison))
            }
        };
        let parameters = main.log.parameters(main.position.records);
        SavedSession {
            setup: Setup {
                pace: self.state.pacing.pace(),
                generations_per_round: self.state.pacing.chosen(),
                rounds: None,
                size: parameters.size,
                instances: parameters.instances,
                rule: parameters.rule,
                start: parameters.start,
                ..self.lattices.chosen_setup()
            },
            notices: Vec::new(),
            main,
            comparison,
            running: self.is_running(),
            selected: self.watch.selected,
            drafts: Drafts::default(),
        }
    }

    /// Publishes the session for those who save it while this thread hangs, if that is due.
    pub(super) fn publish_last_known(&mut self, interval: Duration) {
        let began = self.now();
        if self.safety_copy.is_due(interval, began) {
            let session = self.session_without_cells();
            let copy = self.newest_host_copy(session.timeline().position);
            let now = self.now();
            self.safety_copy.publish(session, copy, began, now);
        }
    }

    /// The newest copy of all lattices that is on the host, at `limit` or before.
    fn newest_host_copy(&self, limit: Position) -> Option<(Position, HostCopy)> {
        let instances = self.lattices.instances.as_ref();
        let copy = instances.and_then(|instances| self.snapshots.newest(limit, instances));
        let log = self.state.log();
        copy.or_else(|| log.base_is_start().then(|| (log.base(), HostCopy::Start)))
    }

    /// The lattices of a log's base, if it is no start and a snapshot leads there without stepping.
    fn base_lattices(&self, log: &Log) -> Option<Vec<Arc<Lattice>>> {
        (!log.base_is_start()).then(|| self.lattices_at(log, log.base()))?
    }

    /// The lattices of a position, if a snapshot leads there without stepping.
    pub(super) fn lattices_at(&self, log: &Log, at: Position) -> Option<Vec<Arc<Lattice>>> {
        let from = self.snapshots.arrived().find(|&from| {
            let route = log.route(None, std::iter::once(from), at);
            route.is_some_and(|route| route.generations == 0)
        })?;
        let mut lattices = self.lattices_of_copy(from)?;
        log.take_back(at.records..from.records, &mut lattices);
        Some(lattices)
    }

    /// The same for the main log during a comparison. If no snapshot leads to its base, the base is moved
    /// to the pinned position.
    fn pinned_base(&self, log: &mut Log) -> Option<Vec<Arc<Lattice>>> {
        let comparison = self.comparison.as_ref()?;
        if log.base_is_start() {
            return None;
        }
        let leads = |&from: &Position| {
            let route = log.route(None, std::iter::once(from), log.base());
            route.is_some_and(|route| route.generations == 0)
        };
        let kept = comparison.snapshots.positions().find(leads);
        let lattices = kept.and_then(|from| {
            let mut lattices = comparison.snapshots.get(from)?.ok()?;
            log.take_back(log.base().records..from.records, &mut lattices);
            Some(lattices)
        });
        lattices.or_else(|| {
            let (position, lattices) = comparison.main_snapshot.clone();
            log.discard_before(position);
            (!log.base_is_start()).then_some(lattices)
        })
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
        } = *self.lattices.setup();
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
        let instances = self.lattices.make(&setup, self.equipment())?;
        self.comparison = None; // of the lattices before
        let (pace, generations) = (setup.pace, setup.generations_per_round);
        self.lattices.forget_chosen();
        self.take_instances(instances, setup);
        file.leave();
        self.fit_block_timestamps();
        self.state.pacing = Pacing::new(pace, generations, self.now());
        self.safety_copy.restore_pending = true;
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
        self.watch.selected = saved.selected.min(self.lattices.setup().instances - 1);
        for notice in saved.notices {
            self.notify(Notice::Done(notice));
        }
        self.fit_own_round()?;
        let limited = self.lattices.setup().rounds.is_some(); // a requested number of rounds is run
        let runs = (saved.running || limited) && self.lattices.setup().rounds != Some(0);
        let mode = if runs { Mode::Running } else { Mode::Paused };
        self.forget_known();
        self.safety_copy.clear();
        self.lab.statistics.restart();
        // Copies of other cells may have the positions of this session.
        self.snapshots
            .exchange(Snapshots::new(self.lattices.setup().time.history_bytes));
        self.take_timeline(saved.main);
        if let Some(SavedComparison { second, timeline }) = saved.comparison {
            let copy = self
                .last_lattices()
                .ok_or_else(|| EngineError::lost(no_snapshot()))?;
            let (log, position) = (timeline.log.clone(), timeline.position);
            self.split(second, log, position, copy)?;
            self.take_timeline(timeline);
        }
        let target = self.state.position();
        self.state.pacing.end_round();
        self.state.begin_move(target, MoveReason::Opening, mode);
        self.log_changed();
        self.publisher.mark_changed();
        Ok(())
    }

    /// Takes breadth-first if the order is the user's own and the saved round is no longer right.
    fn fit_own_round(&mut self) -> Result<()> {
        let setup = self.lattices.setup();
        let mut fitted = setup.clone();
        if fitted.fit_own_round() {
            self.lattices.set_switches(fitted.switches)?;
            self.own_round_left(fitted.instances);
        }
        Ok(())
    }

    /// Says that breadth-first took the place of the user's own round.
    pub(super) fn own_round_left(&mut self, instances: usize) {
        self.notify(Notice::Done(message!(
            "The round of your own is not right for {instances} instances; back to breadth-first"
        )));
    }

    /// Replaces the log and adds its snapshots. Its cells are not on the device yet.
    fn take_timeline(&mut self, timeline: SavedTimeline) {
        let log_bytes = timeline.log.bytes();
        self.state.exchange_log(timeline.log, timeline.position);
        if let Some(base) = timeline.base {
            self.snapshots.add(self.state.log().base(), base, log_bytes);
        }
        let (newest, lattices) = timeline.newest;
        self.snapshots.add(newest, lattices, log_bytes);
    }
}
