//! Drives a worker turn by turn, with a clock, an engine and a background of its own, and holds
//! what it does against a replay of its log.

use std::cell::Cell;
use std::rc::Rc;

use super::*;
use crate::copies::deferred;
use crate::log::Position;
use crate::log::reference_log::ReferenceLog;
use crate::saved::OwnFile;
use crate::scripted_engine::ReferenceKernel;
use crate::scripted_engine::{Call, Fault, Script};
use crate::{Edit, PicturePlan, Share};
use engine::kernels::OwnStepError;
use engine::{LatticeId, ReduceRegion, Slot, Transfer};
use lang::Message;
use life::Lattice;
use serde::{Deserialize, Serialize};

/// One thing that happens to a session; in stories, as text.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Step {
    Act(SessionAction),
    PauseForLesson(bool),
    WatchOverlap(bool),
    WatchPopulation(bool),
    Edit(Edit),
    Copy(usize),
    Save,
    /// Saved to a file, and continued from it.
    Reload(Reopen),
    #[serde(skip)]
    View(PicturePlan),
    /// One of three kinds of picture, of one instance or all.
    Picture(usize, Option<usize>),
    /// A round's script.
    OwnRound(String),
    /// An instance shows this pattern, as if from a file, of this generation.
    Open(
        usize,
        #[serde(with = "crate::text::lattice")] Arc<Lattice>,
        u64,
    ),
    /// This many turns of the loop.
    Turns(u32),
    /// Turns until this many rounds more have been issued, or nothing would ever happen again.
    Rounds(u64),
    /// The same as turns, while somebody reads one of an instance's slots.
    Reading(usize, u8, u32),
    /// Time passes.
    Pass(Duration),
    /// Everything that waits in the background is done, or only the first.
    Background(bool),
    /// Everything that was asked for is done, and then all is checked.
    Settle,
    /// After this many more calls, one fails.
    #[serde(skip)]
    Fail(Call, u32, Fault),
    /// A kernel of the user's own in the place of this rung, and how it fails at its first step.
    OwnKernel(String, usize),
    /// Asked for at rest, and compared with what it should lead to.
    #[serde(skip)]
    Alone(Alone),
}

/// How a kernel fails, or does not.
pub(super) const FAILURES: [Option<OwnStepError>; 3] = [
    None,
    Some(OwnStepError::TooLong),
    Some(OwnStepError::Crashed),
];

/// How a saved session is opened.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(super) enum Reopen {
    /// By another worker, as when the program starts with the file.
    AtStart,
    /// By this worker, which has gone on meanwhile.
    InPlace,
    /// By another worker, from what other threads know of it.
    LastKnown,
}

/// Generations of a round at the maximum pace, at most, before a turn; in it, real time may lengthen the
/// round by the factor 8.
const LONGEST_FITTED: u32 = 256;

/// Who waits for a copy: of which instance.
type CopyWaiter = (usize, Receiver<(Arc<Lattice>, u64)>);

pub(super) struct Driver {
    pub script: Arc<Script>,
    time: Rc<Cell<Instant>>,
    pub worker: SessionWorker,
    received: Receiver<Command>,
    /// The account of the log.
    pub reference: ReferenceLog,
    /// The position that was seen last.
    at: Option<Position>,
    /// Every lattice that an instance has had at a generation.
    seen: HashMap<(usize, u64), Vec<Arc<Lattice>>>,
    pub cell_reads: Vec<CopyWaiter>,
    /// Who waits for the session, and the positions at which it has been since.
    saves: Vec<(Receiver<SavedSession>, Vec<Position>)>,
    last_saved: Option<SavedSession>,
    turns: u64,
    edits: u64,
    /// The number of the last edit of each instance.
    edited: HashMap<usize, u64>,
    reloaded: bool,
    /// How often another number of instances was asked for.
    resized: u64,
    /// Kernels of the user's own, and whether they are to fail.
    own_kernels: Vec<(ReferenceKernel, bool)>,
}

fn make(
    setup: Setup,
    from: Option<SavedSession>,
    script: &Arc<Script>,
    time: &Rc<Cell<Instant>>,
) -> (SessionWorker, Receiver<Command>) {
    let (sender, received) = channel();
    let (opened, now) = (script.clone(), time.clone());
    let mut engines = Engines::default();
    engines.open = Box::new(move |choice, is_again| opened.open(choice, is_again));
    let clock = Box::new(move || now.get());
    let worker = SessionWorker::new(setup, from, engines, clock, sender, Box::new(|| {}));
    (worker.unwrap(), received)
}

impl Driver {
    pub(super) fn new(setup: Setup) -> Driver {
        deferred::begin();
        let script = Arc::new(Script::holding_completions());
        script.record();
        let time = Rc::new(Cell::new(Instant::now()));
        let (worker, received) = make(setup, None, &script, &time);
        let reference = ReferenceLog::of(&worker.state.log);
        let mut driver = Driver {
            script,
            time,
            worker,
            received,
            reference,
            at: None,
            seen: HashMap::new(),
            cell_reads: Vec::new(),
            saves: Vec::new(),
            last_saved: None,
            turns: 0,
            edits: 0,
            edited: HashMap::new(),
            reloaded: false,
            resized: 0,
            own_kernels: Vec::new(),
        };
        driver.observe();
        driver
    }

    /// A whole history, checked at its end.
    pub(super) fn run(setup: Setup, steps: Vec<Step>) {
        let mut driver = Driver::new(setup);
        for step in steps {
            driver.step(step);
        }
        driver.step(Step::Settle);
    }

    pub(super) fn step(&mut self, step: Step) {
        match step {
            Step::Act(action) => {
                self.resized += u64::from(matches!(
                    action,
                    SessionAction::SetInstances(_)
                        | SessionAction::DoubleInstances
                        | SessionAction::HalveInstances
                ));
                self.worker.dispatch(Command::Act(action));
            }
            Step::PauseForLesson(pause) => self.worker.dispatch(Command::PauseForLesson(pause)),
            Step::WatchOverlap(watch) => self.worker.dispatch(Command::WatchOverlap(watch)),
            Step::WatchPopulation(watch) => self.worker.dispatch(Command::WatchPopulation(watch)),
            Step::Edit(mut edit) => {
                edit.instance %= self.worker.setup.instances;
                self.edits += 1;
                self.edited.insert(edit.instance, self.edits);
                self.worker.dispatch(Command::Edit(edit, self.edits));
            }
            Step::Copy(instance) => {
                let (query, copy) = channel();
                let instance = instance % self.worker.setup.instances;
                self.worker.dispatch(Command::ReadCells(instance, query));
                self.cell_reads.push((instance, copy));
            }
            Step::Save => {
                let (query, saved) = channel();
                self.worker.dispatch(Command::Save(query));
                self.saves
                    .push((saved, vec![self.worker.state.saved_position()]));
            }
            Step::Reload(way) => self.reload(way),
            Step::View(plan) => {
                let only = plan.only.filter(|&i| i < self.worker.setup.instances);
                let plan = PicturePlan { only, ..plan };
                self.worker.dispatch(Command::View(plan));
            }
            Step::Picture(kind, only) => {
                let transfer = [Transfer::Bits, Transfer::View, Transfer::Cells][kind];
                let region = ReduceRegion::of_cells(16, 4);
                self.step(Step::View(PicturePlan {
                    transfer,
                    region,
                    only,
                }));
            }
            Step::OwnRound(source) => {
                let (query, _) = channel();
                let command = Command::SetOwnRound(source.into(), query);
                self.worker.dispatch(command);
            }
            Step::Open(instance, pattern, generation) => {
                let instance = instance % self.worker.setup.instances;
                let command = Command::OpenPattern(instance, pattern, generation);
                self.worker.dispatch(command);
            }
            Step::Turns(turns) => {
                for _ in 0..turns {
                    if !self.turn() {
                        break;
                    }
                }
            }
            Step::Rounds(rounds) => {
                let end = self.worker.state.rounds + rounds;
                while self.worker.state.rounds < end && self.turn() {}
            }
            Step::Reading(instance, slot, turns) => self.read_meanwhile(instance, slot, turns),
            Step::Pass(time) => self.time.set(self.time.get() + time),
            Step::Background(all) => while deferred::run_one() && all {},
            Step::Settle => self.settle(),
            Step::Fail(call, after, fault) => self.script.fail(call, after, fault),
            Step::OwnKernel(rung, failure) => {
                let own = ReferenceKernel::new(&rung);
                own.fail(FAILURES[failure]);
                self.worker.dispatch(Command::SetOwnKernel(own.kernel));
                self.own_kernels.push((own, failure > 0));
            }
            Step::Alone(alone) => self.ask_alone(alone),
        }
    }

    pub(super) fn step_and_settle(&mut self, step: Step) {
        self.step(step);
        self.step(Step::Settle);
    }

    /// One turn of the worker's loop; `false` where nothing would ever happen again.
    pub(super) fn turn(&mut self) -> bool {
        self.time.set(self.time.get() + Duration::from_micros(50));
        // However fast rounds follow one another, the background goes on too.
        self.turns += 1;
        // At the maximum pace, rounds are as long as real time allows: replaying them takes long.
        let is_paced = matches!(self.worker.state.pacing.pace, Pace::PerSecond(_));
        if self.worker.state.position.generation > 1000 && !is_paced {
            self.pause();
        }
        let pacing = &mut self.worker.state.pacing;
        pacing.fit(pacing.generations().min(LONGEST_FITTED));
        if self.turns.is_multiple_of(16) {
            deferred::run_one();
        }
        while let Ok(command) = self.received.try_recv() {
            self.worker.dispatch(command);
        }
        let work = self.worker.next();
        let goes_on = match work {
            NextTask::Wait(until) => {
                let now = self.time.get();
                if self.script.release() || deferred::run_one() {
                    true
                } else if let Some(until) = until {
                    self.time.set(now.max(until));
                    true
                } else {
                    false
                }
            }
            work => {
                let before = self.worker.state.position;
                let moves = self.worker.state.moving().is_some();
                self.worker.perform_or_handle_error(work);
                let is_stepped = matches!(work, NextTask::Round(_))
                    && self.worker.failures == 0
                    && self.worker.state.position != before;
                let (state, halted) = (&self.worker.state, &self.worker.halted);
                assert!(!is_stepped || halted.is_none(), "still {halted:?}");
                let is_refused = matches!(work, NextTask::Apply)
                    && state.position == before
                    && !(moves || state.moving().is_some())
                    && self.worker.ended.is_none();
                let is_due = state.log.due_record(before).is_some();
                assert!(!is_refused || !is_due, "it is tried again");
                true
            }
        };
        self.observe();
        let said = self.worker.publisher.message();
        let lacks_history = |it: &Message| {
            it.ends_with("is the oldest one kept") || it.ends_with("raise --history-memory")
        };
        if said.is_some_and(lacks_history) {
            let may = self.is_forgetful() || self.may_kernel_fail() || self.script.failed() > 0;
            assert!(may, "{said:?}");
        }
        self.worker.after_turn();
        self.observe();
        goes_on
    }

    /// Whether a kernel of the user's own fails at its first step.
    pub(super) fn may_kernel_fail(&self) -> bool {
        self.own_kernels.iter().any(|(_, fails)| *fails)
    }

    /// Turns with nothing done in the background.
    pub(super) fn turns_without_reading(&mut self, turns: u32) {
        for _ in 0..turns {
            self.time.set(self.time.get() + Duration::from_millis(1));
            match self.worker.next() {
                NextTask::Wait(_) => {
                    self.script.release();
                }
                work => self.worker.perform_or_handle_error(work),
            }
            self.worker.after_turn();
            self.observe();
        }
    }

    fn read_meanwhile(&mut self, instance: usize, slot: u8, turns: u32) {
        let Some(instances) = &self.worker.sim else {
            return;
        };
        // An engine that is lost waits for its readers, in real time.
        if self.script.has_faults() {
            return;
        }
        let slots = instances.slots.clone();
        let lattice = LatticeId((instance % instances.instances()) as u32);
        slots.read(lattice, Slot(slot), &mut |_| {
            self.step(Step::Turns(turns));
        });
    }

    /// Notes what the cells are now.
    fn observe(&mut self) {
        self.reference.follow(&self.worker.state.log);
        let position = self.worker.state.saved_position();
        self.saves.iter_mut().for_each(|(_, at)| at.push(position));
        self.take_answers();
        let position = self.worker.state.position;
        if !self.worker.state.cells_known || self.at == Some(position) {
            return;
        }
        let state = &self.worker.state;
        assert!(state.log.contains(position), "{position:?}");
        let is_over = state.max_rounds.is_some_and(|max| state.rounds > max);
        assert!(!is_over || self.reloaded, "more rounds than asked for");
        self.at = Some(position);
        assert!(
            position.generation < 20_000,
            "it never stops: {:?}",
            self.worker.state
        );
        let lattices = self.reference.cells(position);
        for (i, lattice) in lattices.into_iter().enumerate() {
            let seen = self.seen.entry((i, position.generation)).or_default();
            if !seen.contains(&lattice) {
                seen.push(lattice);
            }
        }
    }

    fn was_seen(&self, instance: usize, generation: u64, lattice: &Arc<Lattice>) -> bool {
        let seen = self.seen.get(&(instance, generation));
        seen.is_some_and(|seen| seen.contains(lattice))
    }

    /// Whether the session ended before it could begin with this lattice.
    fn would_have_begun(&self, instance: usize, lattice: &Arc<Lattice>) -> bool {
        let log = &self.worker.state.log;
        self.worker.ended.is_some()
            && log.is_start
            && log.base.start_lattice(instance).unwrap() == *lattice
    }

    fn take_answers(&mut self) {
        let mut reads = std::mem::take(&mut self.cell_reads);
        reads.retain(|(instance, copy)| match copy.try_recv() {
            Ok((lattice, generation)) => {
                assert!(
                    self.was_seen(*instance, generation, &lattice)
                        || self.would_have_begun(*instance, &lattice),
                    "a copy of instance {instance} at {generation} that never was"
                );
                false
            }
            Err(TryRecvError::Empty) => true,
            Err(TryRecvError::Disconnected) => {
                // The instance may have gone meanwhile.
                let answers = self.worker.ended.is_none() && self.resized == 0;
                assert!(!answers, "a copy is not answered");
                false
            }
        });
        self.cell_reads = reads;
        let mut saves = std::mem::take(&mut self.saves);
        saves.retain(|(saved, been_at)| match saved.try_recv() {
            Ok(saved) => {
                let at = saved.timeline.position;
                assert!(been_at.contains(&at), "saved at {at:?}");
                assert_eq!(reread(&saved).timeline.position, at);
                if let Some(copy) = saved.timeline.copies.last() {
                    let position = copy.position;
                    for (i, lattice) in copy.lattices().unwrap().iter().enumerate() {
                        assert!(
                            self.was_seen(i, position.generation, lattice),
                            "instance {i} is saved as it never was at {position:?}"
                        );
                    }
                }
                self.last_saved = Some(saved);
                false
            }
            Err(TryRecvError::Empty) => true,
            Err(TryRecvError::Disconnected) => {
                assert!(self.worker.ended.is_some(), "a save is not answered");
                false
            }
        });
        self.saves = saves;
    }

    /// Turns until nothing would ever happen again.
    pub(super) fn turn_until_rest(&mut self) {
        let mut turns = 0;
        while self.turn() {
            turns += 1;
            assert!(turns < 20_000, "no rest: {:?}", self.worker.state);
            // A run to a generation ends by itself, however many turns each of its rounds takes.
            let is_endless = !matches!(self.worker.state.mode, Mode::RunningTo(_));
            if turns % 500 == 0 && is_endless {
                self.pause();
            }
        }
    }

    pub(super) fn pause(&mut self) {
        if self.worker.is_running() {
            self.worker
                .dispatch(Command::Act(SessionAction::TogglePause));
        }
    }

    /// Everything that was asked for is done, and then all is checked.
    pub(super) fn settle(&mut self) {
        self.pause();
        self.turn_until_rest();
        check_order(&self.script.record());
        // What goes with time.
        for _ in 0..3 {
            self.pause();
            self.time.set(self.time.get() + Duration::from_secs(4));
            self.turn_until_rest();
        }
        if let Some(why) = self.worker.ended.clone() {
            return self.check_end(&why);
        }
        self.check_rest();
    }

    /// A session that has ended keeps answering.
    fn check_end(&mut self, why: &str) {
        assert!(self.script.failed() > 0, "it ended for nothing: {why}");
        assert!(!why.contains("is left"), "{why}");
        let all = self.worker.setup.instances;
        (0..all).for_each(|instance| self.step(Step::Copy(instance)));
        self.step(Step::Save);
        self.turn_until_rest();
        self.take_answers();
        self.check_answers();
    }

    fn check_answers(&self) {
        assert!(self.cell_reads.is_empty(), "a copy is not answered");
        assert!(self.saves.is_empty(), "a save is not answered");
        let queue = &self.worker.state.queue;
        assert!(queue.is_empty(), "{queue:?}");
    }

    fn check_rest(&mut self) {
        let state = &self.worker.state;
        assert_eq!(state.mode, Mode::Paused);
        assert!(state.cells_known && !state.wants_pictures);
        assert!(
            !self.worker.snapshots.is_reading(),
            "a copy is read for ever"
        );
        self.check_answers();
        let position = state.position;
        assert!(!state.has_records_ahead() || state.log.contains(position));
        let want = self.reference.cells(position);
        let parameters = self.reference.parameters(position.records);
        let on_engine = instances(&self.worker);
        assert!(on_engine.is_idle() && self.worker.lagging_side().is_none());
        let label = [
            on_engine.generation(0),
            self.worker.make_status(self.time.get()).clock.generation,
        ];
        assert_eq!(label, [position.generation; 2], "the label");
        assert_eq!(
            (on_engine.size, on_engine.instances()),
            (parameters.size, parameters.instances)
        );
        assert_eq!(on_engine.rule, parameters.rule);
        let status = self.worker.comparison();
        assert_eq!(status.is_some(), parameters.compares);
        let differing = status.and_then(|it| it.differing);
        assert!(differing.is_none_or(|(cells, _)| cells == 0));
        let got = self.fetch();
        let differing: Vec<usize> = (0..want.len()).filter(|&i| got[i] != *want[i]).collect();
        assert!(differing.is_empty(), "{differing:?} at {position:?}");
        self.check_populations();
        for (&i, &number) in &self.edited {
            let shown = self.worker.state.last_edit;
            // A recovery may have been stopped before it, and a later edit may have replaced it.
            let log = &self.worker.state.log;
            let mut ahead = (position.records..log.end()).map(|at| log.record(at));
            let is_pending = ahead.any(|it| it.is_some_and(|record| number <= record.number));
            assert!(
                shown >= number || is_pending,
                "edit {number} of {i} is not shown, only {shown}"
            );
        }
        // Those that were refused are not tried again.
        if self.script.refused() == 0 {
            self.check_pictures(&want);
        }
    }

    /// The newest population of an instance is that of its cells at that generation.
    fn check_populations(&self) {
        let populations = self.worker.watch.populations.lock();
        for i in 0..self.worker.setup.instances {
            let series = populations.newer(Some(i), 0).map(|(_, series)| series);
            let newest = series.and_then(|it| Some((it.generation()?, it.last.population)));
            if let Some((generation, population)) = newest {
                // On the way to a position, what is measured is not what anybody sees.
                let seen = self.seen.get(&(i, generation));
                let is_right = seen.is_none_or(|seen| {
                    let mut populations = seen.iter().map(|lattice| lattice.population());
                    populations.any(|it| it == population)
                });
                assert!(is_right, "population of {i} at {generation}");
            }
        }
    }

    /// The pictures that are shown are those of the cells.
    fn check_pictures(&self, want: &[Arc<Lattice>]) {
        let state = &self.worker.state;
        // The last one of an odd number is not shown while two settings are compared.
        let parameters = self.reference.parameters(state.position.records);
        let shown = want.len() - usize::from(parameters.compares) * (want.len() % 2);
        let mut generations = vec![None; shown];
        let mut seen = vec![0; shown];
        self.worker
            .publisher
            .pictures
            .visit_newer(&mut seen, &mut |i, picture, words| {
                generations[i] = Some((picture.generation, picture.edits));
                if !self.is_drawn(i) {
                    return;
                }
                if let Some(region) = picture.region {
                    let bytes = words[..region.words()]
                        .iter()
                        .flat_map(|word| word.to_le_bytes());
                    assert!(
                        bytes.eq(engine::conformance::reduced(region, &want[i])),
                        "view of {i}"
                    );
                } else {
                    let size = want[i].size();
                    let words = words[..size.words()].to_vec();
                    assert_eq!(Lattice::from_words(size, words), *want[i], "picture of {i}");
                }
            });
        for (i, generation) in generations.into_iter().enumerate() {
            if self.is_drawn(i) {
                let now = Some((state.position.generation, state.last_edit));
                assert_eq!(generation, now, "the picture of {i}");
            }
        }
    }

    /// Whether an instance is drawn: all are, unless its setting downloads views of one instance alone.
    fn is_drawn(&self, instance: usize) -> bool {
        let shares = self.worker.shares_in_use();
        let of_it = |share: &&Share| share.lattices.contains(&instance);
        let share = shown(&shares).iter().find(of_it);
        match share.unwrap_or(&shares[0]).picture {
            None => false,
            Some(plan) if plan.transfer == Transfer::View => {
                plan.only.is_none_or(|i| i == instance)
            }
            Some(_) => true,
        }
    }

    /// The cells on the device, at rest: no slot holds anything of use.
    pub(super) fn fetch(&mut self) -> Vec<Lattice> {
        let sim = self.worker.sim.as_mut().unwrap();
        self.script.protected(|| sim.fetch().unwrap())
    }

    /// The session goes on from a file.
    fn reload(&mut self, way: Reopen) {
        self.last_saved = None;
        self.step(Step::Save);
        self.pause();
        self.turn_until_rest();
        let Some(saved) = self
            .last_saved
            .take()
            .filter(|_| self.worker.ended.is_none())
        else {
            return;
        };
        let saved = match way {
            Reopen::AtStart | Reopen::InPlace => saved,
            Reopen::LastKnown => {
                self.step(Step::Pass(Duration::from_secs(1)));
                self.turn();
                let Some(known) = self.worker.safety_copy.shared.published.lock().clone() else {
                    // Of an edit that was taken back there may be no copy that comes before it.
                    return assert!(self.is_forgetful(), "nothing is known");
                };
                // If the engine is lost in that very turn, it is on its way back there.
                let position = self.worker.state.saved_position();
                assert_eq!(known.session.timeline.position, position);
                known.session
            }
        };
        let mut loaded = reread(&saved);
        let own = loaded.setup.stored_kernel.clone();
        if let (Some(own), true) = (own.filter(|own| own.in_use), way != Reopen::InPlace) {
            // As whoever opens the file compiles it.
            let own = ReferenceKernel::new(own.rung.name).kernel;
            loaded.setup.take_own_kernel(own);
        }
        self.own_kernels.iter().for_each(|(own, _)| own.fail(None));
        let position = loaded.timeline.position;
        assert_eq!(position, saved.timeline.position);
        let parameters = loaded.timeline.log.parameters(position.records);
        assert_eq!(loaded.setup.start, parameters.start);
        let b_switches = loaded.b_switches;
        assert_eq!(
            b_switches.is_some(),
            loaded.timeline.log.comparison().is_some()
        );
        let script = self.script.clone();
        let split = self.worker.setup.split;
        self.reloaded = true;
        self.at = None;
        script.protected(|| self.reopen(way, loaded));
        assert_eq!(self.worker.setup.split, split, "reopened");
        assert_eq!(self.worker.state.position, position, "reopened");
        let b = if self.worker.is_comparing() {
            Some(self.worker.changed_setting().switches)
        } else {
            self.worker.lab.b_switches
        };
        assert_eq!(b, b_switches, "reopened");
        self.cell_reads.clear();
        self.saves.clear();
        self.edited.clear();
        self.observe();
    }

    fn reopen(&mut self, way: Reopen, saved: SavedSession) {
        match way {
            Reopen::AtStart | Reopen::LastKnown => {
                // The file does not say whether lattices are split; the options do.
                let setup = Setup {
                    split: self.worker.setup.split,
                    ..saved.setup.clone()
                };
                (self.worker, self.received) = make(setup, Some(saved), &self.script, &self.time);
            }
            Reopen::InPlace => {
                let reference = self.reference.clone();
                self.worker.dispatch(Command::Act(SessionAction::NewSeed));
                self.pause(); // or goes on
                self.step(Step::Turns(30));
                self.reference = reference;
                let file = OwnFile::default();
                let replace = Command::Replace(Box::new(saved), file, "opened it".into());
                self.worker.dispatch(replace);
            }
        }
        let is_opening = |worker: &SessionWorker| {
            worker.safety_copy.restore_pending || !worker.state.queue.is_empty()
        };
        while is_opening(&self.worker) && self.open_turn() {}
    }

    /// A turn before the session has been taken up: until its turn comes, the log is not the one that is followed.
    fn open_turn(&mut self) -> bool {
        let work = self.worker.next();
        match work {
            NextTask::Wait(_) => self.script.release() || deferred::run_one(),
            work => {
                self.worker.perform_or_handle_error(work);
                // The way to its position begins with its log, and what is measured there is kept.
                if self.worker.state.queue.is_empty() {
                    self.observe();
                }
                true
            }
        }
    }
}

/// A session as it is read from the file that it is saved in.
fn reread(saved: &SavedSession) -> SavedSession {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.json");
    saved.save(&path).unwrap();
    SavedSession::load(&path).unwrap()
}
