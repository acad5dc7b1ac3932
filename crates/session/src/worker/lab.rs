//! What the session's thread owns, and what it measures of its rounds: rates and median times, before and after
//! a change or of A and B ([`Trial`]), what was recorded on a GPU instead, and what single panels settle into.
//!
//! Rounds that differ from the others in anything else than the setting are not compared: those stepped by
//! hand, cut short, or timed by events.

use super::publisher::{Publisher, SafetyCopy};
use super::watching::{Measuring, SPARSE_ROUNDS, Watch};
use crate::command::{Command, Notice, Waiter};
use crate::copies::CopySlots;
use crate::engines::{Engines, Losses};
use crate::instances::{Round, RoundMeasures, Sim};
use crate::log::CellChange;
use crate::prediction::{MAX_PREDICTED_CALLS, OpTimes, isolated, predict};
use crate::state::{Mode, State};
use crate::statistics::{Sampling, Statistics, push};
use crate::status::{AbComparison, Effect, LabStatus, RateStatus, RecordedStatus};
use crate::trace::{RecordedGroup, RecordedSetting, Recording, RoundWork, TimedRound};
use crate::{
    Finding, IsolatedOp, KernelChoice, Order, Pace, PicturePlan, Setting, Settled, Setup, Share,
    Side, Source, Start, Status, StopWhenStill, Switches, median,
};
use experiment::{Executor, Plan};
use lang::{Message, english, message};
use life::Size;
use platform::{Usage, usage};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

/// All that the session's thread owns.
pub(crate) struct SessionWorker {
    /// `None` only while a lost engine is being replaced, or if the session has ended.
    pub sim: Option<Sim>,
    /// Size, number of instances, rule and start are those of the position.
    pub setup: Setup,
    /// What the maximum pace or a run to a generation took the place of.
    pub chosen: Option<Chosen>,
    /// Two settings that are compared: the setup's, and another one.
    pub trial: Option<Trial>,
    /// What the drawing side wants to see, and the last view that it asked for: only it knows of which
    /// region.
    pub view: Option<PicturePlan>,
    pub last_view: Option<PicturePlan>,
    pub engines: Engines,
    /// What was recorded on a GPU, if that is shown instead of measurements. The CPU steps the lattices
    /// as fast as it can then, whatever the settings are.
    pub recording: Option<&'static Recording>,
    pub losses: Losses,
    /// Until then, work that found no free slot is not tried again.
    pub retry_at: Option<Instant>,
    pub state: State,
    /// The copies under way, who waits for one, and how the background says that it has read one.
    pub snapshots: CopySlots,
    pub waiters: Vec<Waiter>,
    pub sender: Sender<Command>,
    pub watch: Watch,
    pub lab: Lab,
    /// Why the session has ended.
    pub ended: Option<Message>,
    /// The error that stopped the rounds, until they resume.
    pub halted: Option<Message>,
    /// Number of turns in a row that have failed.
    pub failures: u32,
    pub safety_copy: SafetyCopy,
    pub publisher: Publisher,
    /// The present time.
    pub clock: Box<dyn Fn() -> Instant>,
}

impl SessionWorker {
    /// The present time.
    pub(super) fn now(&self) -> Instant {
        (self.clock)()
    }

    /// The engine's name: `cuda` or `cpu`; none while a lost one is being replaced.
    pub(super) fn engine_name(&self) -> Option<&'static str> {
        Some(self.sim.as_ref()?.engine().name())
    }

    /// Shows a notice for some seconds, and logs it.
    pub(super) fn notify(&mut self, notice: Notice) {
        match &notice {
            Notice::Done(what) => tracing::debug!("{}", english(what)),
            Notice::Effect => {}
            Notice::Refused(why) => tracing::info!("{}", english(why)),
            Notice::Warning(what) => tracing::warn!("{}", english(what)),
        }
        self.publisher.notice = Some((notice, self.now()));
        self.publisher.is_changed = true;
    }

    /// Whether rounds follow one another, or will after a move.
    pub(super) fn is_running(&self) -> bool {
        self.ended.is_none() && self.state.is_running()
    }
}

/// What is measured of a session's rounds.
#[derive(Default)]
pub(crate) struct Lab {
    pub statistics: Statistics,
    pub sampling: Sampling,
    /// When the last command came, or the session began.
    pub last_command: Option<Instant>,
    /// How many trials have begun.
    trials: u64,
    /// By what factor rounds of equal settings differ, once that was measured.
    pub spread: Option<f64>,
    /// What the last change of a switch or of the kernel did to the time of a round.
    pub last_effect: Option<Effect>,
    /// The setting before the last change, if a recorded effect of that change is shown.
    pub before_change: Option<Setting>,
    /// The recorded rounds that are shown.
    pub recorded: Option<RecordedKey>,
    /// The setting before the last switch.
    pub previous: Option<Switches>,
    /// B's switches when A and B were compared last.
    pub b_switches: Option<Switches>,
    /// Number of cells that differ between A and B, and the generation of that count.
    pub differing: Option<(u64, u64)>,
    /// Whether the overlap is shown.
    pub is_watching: bool,
    /// The time of each op of a round when it runs alone, with the present setting, once measured.
    pub isolated: Option<Arc<[IsolatedOp]>>,
    /// What the calibration under way is of.
    pub calibrating: Option<Share>,
    /// Whether timed rounds record block timestamps.
    pub block_timestamps: bool,
    /// The latest launches in microseconds: without and with block timestamps.
    pub launches: [VecDeque<f64>; 2],
}

/// What the recorded rounds depend on that are shown: the lattices, and the settings of the round that is
/// drawn and of the one above it.
type RecordedKey = (RoundWork, [Option<Setting>; 2]);

impl Lab {
    /// Forgets measurements after a change of something that rounds depend on.
    pub(crate) fn changed(&mut self) {
        self.statistics.restart();
        (self.isolated, self.recorded) = (None, None);
        self.launches.iter_mut().for_each(VecDeque::clear);
    }

    /// Counts a timed launch.
    pub(crate) fn launch(&mut self, us: f64, plain: bool) {
        push(&mut self.launches[usize::from(!plain)], us);
    }

    /// The factor by which block timestamps lengthen a launch, once enough of both were timed.
    pub(super) fn timestamp_overhead(&self) -> Option<f64> {
        let enough = |launches: &VecDeque<f64>| {
            median(launches.iter().copied()).filter(|_| launches.len() >= 5)
        };
        let [plain, block_timestamps] = self.launches.each_ref().map(enough);
        Some(block_timestamps? / plain?)
    }
}

// Two settings whose rounds are compared while the session runs: before and after a change, A and B, or,
// once per session, equal ones, whose difference widens what is found of others.
// The present setting is the session's; a trial knows the other one. It decides whose round is next, and
// an [`Executor`] what the times of their rounds say. Every round is a round of the session: the lattices
// advance and are drawn.

/// Number of cells of all lattices up to which kernels of different layouts are compared: each change
/// between them converts every lattice.
const MAX_CONVERTED_CELLS: u64 = 1 << 28;

/// How long nothing was asked of the session before equal settings are compared.
const IDLE_BEFORE_EQUAL_SETTINGS: Duration = Duration::from_secs(10);

/// What is compared.
enum Subject {
    /// All lattices before (A) and after (B) a change.
    Change(Message),
    /// A's lattices, so many, with the present setting, and as many of B's with the other; an odd one is
    /// not stepped.
    Halves(usize),
    /// All lattices with one setting.
    EqualSettings,
}

/// A comparison of rounds, under way or finished.
pub(crate) struct Trial {
    subject: Subject,
    /// The setting before the change, or B's.
    pub other: Setting,
    /// Of A's rounds and of B's.
    executor: Executor,
    /// Whether the round that is being issued is compared, and of A and B the pair.
    is_compared: bool,
    /// What the system had given when the round that is being issued was prepared.
    used: Usage,
}

impl Trial {
    /// How many lattices A and B have each, if those are compared.
    pub(crate) fn each(&self) -> Option<usize> {
        match self.subject {
            Subject::Halves(each) => Some(each),
            Subject::Change(_) | Subject::EqualSettings => None,
        }
    }

    /// Which one of A and B is behind the other, and the generations by which it is.
    fn behind(&self, sim: &Sim) -> Option<(Side, u32)> {
        let each = self.each()?;
        let [a, b] = [sim.generation(0), sim.generation(each)];
        let side = if a < b { Side::A } else { Side::B };
        (a != b).then(|| (side, a.abs_diff(b) as u32))
    }

    /// Decides whose round of so many generations is next. `counts` says that it is one of many alike.
    fn next(&mut self, sim: &Sim, generations: u32, counts: bool) -> Side {
        let behind = self.behind(sim);
        if behind.is_none() {
            self.is_compared = counts && self.is_under_way();
            if self.is_compared {
                self.executor.compare_rounds_of(generations);
            }
        }
        self.used = usage();
        let turn = Side::ALL[self.executor.next_subject()];
        match (behind, self.each()) {
            (Some((second, _)), _) => {
                self.is_compared &= second == turn;
                second
            }
            _ if self.is_compared => turn,
            (None, Some(_)) => Side::A,
            (None, None) => Side::B, // the present setting
        }
    }

    /// Notes that the round is in flight.
    pub(crate) fn issued(&mut self) {
        if self.is_compared {
            self.executor.issued();
        } else {
            self.interrupt();
        }
    }

    /// Leaves out a round: the block that it would belong to does not count.
    pub(crate) fn interrupt(&mut self) {
        self.executor.interrupt();
        self.is_compared = false;
    }

    /// Takes the round in flight. Returns whose it was; one that is not compared is of the present setting.
    fn round(&mut self, lattices: &Range<usize>, took: Duration, now: Instant) -> Side {
        let used = usage();
        let round = experiment::Round {
            time: took.as_secs_f64() * 1e6,
            lasted: took,
            cpu: used.cpu - self.used.cpu,
            is_preempted: used.is_preempted_since(self.used),
        };
        let compared = self.executor.record(round, now);
        let is_a = match self.subject {
            Subject::Halves(each) => lattices.start < each,
            Subject::Change(_) => compared == Some(Side::A as usize),
            Subject::EqualSettings => false,
        };
        if is_a { Side::A } else { Side::B }
    }

    /// Whether rounds are still compared.
    fn is_under_way(&self) -> bool {
        !self.executor.is_done
    }

    /// What was measured, and what else the machine did meanwhile.
    fn measured(&self) -> Measured {
        let times = self.executor.times.as_ref();
        (
            [0, 1].map(|side| times.map(|times| times[side])),
            self.executor.finding,
            Source::MeasuredHere(self.executor.load),
        )
    }
}

/// Times of a round in microseconds, before and after or A's and B's; what they say, once they do; and where
/// they come from.
type Measured = ([Option<f64>; 2], Option<Finding>, Source);

/// The effect of a change, in words `what`.
fn effect(what: &Message, (round_us, finding, source): Measured) -> Effect {
    Effect {
        what: what.clone(),
        round_us,
        finding,
        source,
    }
}

/// Of the shares of a round, those that cover each lattice once: A's and B's, or the share of the present
/// setting.
pub(crate) fn shown(shares: &[Share]) -> &[Share] {
    match shares {
        [before, now] if before.lattices == now.lattices => &shares[1..],
        _ => shares,
    }
}

impl SessionWorker {
    /// A trial of the present setting and another one; nothing of it is measured yet.
    fn new_trial(&mut self, subject: Subject, other: Setting) -> Trial {
        self.lab.trials += 1;
        let spread = self.lab.spread.unwrap_or(1.0);
        Trial {
            subject,
            other,
            executor: Executor::new(2, self.lab.trials, Plan::Live(spread)),
            is_compared: false,
            used: Usage::default(),
        }
    }

    /// A trial of the present setting, A's, and this one, B's.
    pub(super) fn trial_of_halves(&mut self, b: Setting) -> Trial {
        self.new_trial(Subject::Halves(self.setup.instances / 2), b)
    }

    /// A trial of the setting before a change, in words `what`, and the one after it, if their rounds can be
    /// compared where there is the memory for both.
    pub(super) fn trial_of_change(
        &mut self,
        what: &Message,
        [before, after]: [&Setting; 2],
    ) -> Option<Trial> {
        let cells = self.setup.size.cells() * self.setup.instances as u64;
        let has_one_layout = before.kernel.layout == after.kernel.layout;
        let is_cheap = has_one_layout || cells <= MAX_CONVERTED_CELLS;
        (is_cheap && !self.is_recorded())
            .then(|| self.new_trial(Subject::Change(what.clone()), before.clone()))
    }

    /// Which one of A and B has generations to make that the other has, and how many.
    pub(super) fn lagging_side(&self) -> Option<(Side, u32)> {
        let sim = self.sim.as_ref()?;
        self.trial.as_ref()?.behind(sim)
    }

    /// Decides whose round of so many generations is next, of the shares in use. `counts` says that it is one
    /// of many alike.
    pub(super) fn next_share(
        &mut self,
        mut shares: Vec<Share>,
        generations: u32,
        counts: bool,
    ) -> Share {
        let is_recorded = self.is_recorded();
        let side = match (&self.sim, &mut self.trial) {
            (Some(sim), Some(trial)) => {
                // Between A and B with one setting there is only noise.
                let is_of_equals = trial.each().is_some() && trial.other == self.setup.setting;
                let counts = counts && !is_of_equals && !is_recorded;
                trial.next(sim, generations, counts)
            }
            _ => Side::A,
        };
        shares.swap_remove(side as usize)
    }

    /// Whether the next round is timed by events, if it may be: none that a trial counts.
    pub(super) fn times_next(&self, now: Instant) -> bool {
        match &self.trial {
            Some(trial) if trial.is_under_way() => !trial.executor.is_counting(),
            _ => {
                let soon = self.lab.statistics.stepping_rate().is_none();
                self.lab.sampling.wants(now, soon, self.is_comparing())
            }
        }
    }

    /// Counts a complete round, and takes it into a trial. Returns what was timed of it, if its setting is the
    /// present one or B's; the others' stands above that.
    pub(super) fn count_round(
        &mut self,
        round: &Round,
        timed: Option<TimedRound>,
        took: Duration,
        now: Instant,
    ) -> Option<TimedRound> {
        let trial = self.trial.as_mut();
        let of = trial.map(|it| (it.round(&round.share.lattices, took, now), it.each()));
        let statistics = &mut self.lab.statistics;
        match of {
            // A's and B's are one round of all lattices.
            Some((Side::A, Some(_))) => {}
            Some((Side::A, None)) => statistics.round(now, round.generations, None),
            _ => statistics.round(now, round.generations, Some(took)),
        }
        if matches!(of, Some((Side::A, _))) {
            self.publisher.trace.lock().add_before(timed?);
            return None;
        }
        timed
    }

    /// Stops comparing a change's rounds; its effect stays unknown.
    pub(super) fn drop_change(&mut self) {
        self.forget_effect();
        self.trial.take_if(|it| it.each().is_none());
    }

    /// Begins to compare rounds of equal settings, once per session, if nothing was asked of it for a
    /// while and it runs so slowly that rounds one at a time are no slower.
    pub(super) fn measure_equal_settings(&mut self, now: Instant) {
        let is_long_ago = |at: Instant| now - at >= IDLE_BEFORE_EQUAL_SETTINGS;
        let is_idle = self.lab.last_command.is_some_and(is_long_ago)
            && self.state.mode == Mode::Running
            && matches!(self.state.pacing.pace, Pace::PerSecond(_))
            && self.state.queue.is_empty()
            && !self.lab.is_watching;
        let is_free = self.trial.is_none() && !self.is_recorded();
        if is_idle && is_free && self.lab.spread.is_none() && self.is_engine_idle() {
            let same = self.setup.setting.clone();
            self.trial = Some(self.new_trial(Subject::EqualSettings, same));
        }
    }

    fn is_engine_idle(&self) -> bool {
        self.sim.as_ref().is_some_and(Sim::is_idle)
    }

    /// Ends a trial that has its finding, once nothing is in flight. Returns whether the effect of a change
    /// was found.
    pub(super) fn end_trial_when_over(&mut self) -> bool {
        let is_over = |it: &Trial| it.each().is_none() && !it.is_under_way();
        if !self.is_engine_idle() || !self.trial.as_ref().is_some_and(is_over) {
            return false;
        }
        self.publish_effect();
        match self.trial.take() {
            Some(Trial {
                subject: Subject::EqualSettings,
                executor,
                ..
            }) => {
                self.lab.spread = executor.excess();
                tracing::debug!("equal settings differ by {:?}", self.lab.spread);
                false
            }
            _ => {
                self.lab.statistics.restart();
                let effect = self.lab.last_effect.as_ref();
                effect.inspect(|it| tracing::debug!("{}", it.in_words()));
                effect.is_some()
            }
        }
    }

    /// Forgets the effect that is shown, and the rounds before the change.
    pub(super) fn forget_effect(&mut self) {
        (self.lab.last_effect, self.lab.before_change) = (None, None);
        self.lab.recorded = None; // it is drawn anew
        self.publisher.trace.lock().setting_changed();
    }

    /// Updates the effect that is shown.
    pub(super) fn publish_effect(&mut self) {
        if let Some(trial) = &self.trial
            && let Subject::Change(change) = &trial.subject
        {
            self.lab.last_effect = Some(effect(change, trial.measured()));
        }
    }
}

// The settings in force, and what was recorded of them on a GPU.

/// What the user chose, while the fastest setting steps the lattices.
#[derive(Clone)]
pub(super) struct Chosen {
    pub setting: Setting,
    pub kernel_choice: KernelChoice,
    /// The switches of the fastest setting; the user may change them.
    pub fastest: Switches,
    /// The size and the number of the lattices that `fastest` was estimated for.
    pub grid: (Size, usize),
}

impl SessionWorker {
    /// Whether what was recorded on a GPU is shown instead of measurements.
    pub(super) fn is_recorded(&self) -> bool {
        self.recording.is_some()
    }

    /// Whether A and B are compared.
    pub(super) fn is_comparing(&self) -> bool {
        self.trial.as_ref().is_some_and(|it| it.each().is_some())
    }

    /// The setting that keys change: B's while A and B are compared.
    pub(super) fn changed_setting(&self) -> Setting {
        match &self.trial {
            Some(trial) if trial.each().is_some() => trial.other.clone(),
            _ => self.setup.setting.clone(),
        }
    }

    /// The setting as the user chose it, also while the fastest one steps the lattices, and how its kernel
    /// was chosen.
    pub(super) fn chosen_setting(&self) -> (Setting, KernelChoice) {
        let now = &self.setup.setting;
        let Some(Chosen {
            setting: before,
            kernel_choice,
            fastest,
            ..
        }) = &self.chosen
        else {
            return (now.clone(), self.setup.kernel_choice);
        };
        // Only what the user changed meanwhile, as far as the chosen kernel takes it.
        let fastest = fastest.fitted_to(now.kernel);
        let changed = before.switches.changed_as(fastest, now.switches);
        let changed = changed.fitted_to(before.kernel);
        let setting = Setting {
            kernel: before.kernel,
            switches: match changed.incompatibility(before.kernel) {
                None => changed,
                Some(_) => before.switches,
            },
            own_round: now.own_round.clone(),
        };
        (setting, *kernel_choice)
    }

    /// The recorded rounds of the present lattices; while two settings are compared, of as many as each has.
    fn recorded_group(&self) -> Option<&'static RecordedGroup> {
        self.recording?.group(&self.round_work())
    }

    /// Those of them with a setting.
    fn recorded(&self, setting: &Setting) -> Option<&'static RecordedSetting> {
        self.recorded_group()?
            .find(setting.kernel, setting.switches)
    }

    /// What a round steps; while two settings are compared, with one of them.
    pub(super) fn round_work(&self) -> RoundWork {
        let instances = self.setup.instances / if self.is_comparing() { 2 } else { 1 };
        RoundWork::of(&self.setup, instances, self.state.pacing.generations())
    }

    /// How two settings compare, as recorded; `None` if rounds are measured here.
    fn compare_recorded(&self, settings: [Setting; 2]) -> Option<Measured> {
        let recording = self.recording?;
        let compared = match settings.map(|setting| self.recorded(&setting)) {
            [Some(before), Some(after)] => self.recorded_group()?.compare(before, after),
            _ => None,
        };
        let source = Source::RecordedOn(recording.recorded.clone());
        Some(match compared {
            Some((us, finding)) => (us.map(Some), Some(finding), source),
            None => ([None; 2], None, source),
        })
    }

    /// Shows the effect of a change from the setting `before`, in words `what`: as recorded, or while it is measured.
    pub(super) fn show_effect(&mut self, what: &Message, before: Setting) {
        let settings = [before.clone(), self.changed_setting()];
        if let Some(compared) = self.compare_recorded(settings) {
            self.lab.before_change = Some(before);
            self.lab.last_effect = Some(effect(what, compared));
        }
        self.publish_effect();
    }

    /// Draws the recorded rounds of the present setting, and above them those before a change, or A's.
    pub(super) fn show_recorded_rounds(&mut self) {
        if !self.is_recorded() {
            return;
        }
        let of_a = self.is_comparing().then(|| self.setup.setting.clone());
        let before = of_a.or(self.lab.before_change.clone());
        let shown = [Some(self.changed_setting()), before];
        let recorded = |setting: &Option<Setting>| self.recorded(setting.as_ref()?);
        let [present, before] = shown.each_ref().map(recorded);
        let key = (self.round_work(), shown);
        if self.lab.recorded.as_ref() == Some(&key) {
            return;
        }
        let shown = present.map(|it| (it.round.clone(), it.isolated()));
        let (round, isolated) = shown.or_else(|| self.predicted()).unzip();
        // A predicted round is of ops alone: beside a timed one it would say what the prediction does not.
        let before = present.and(before).map(|it| it.round.clone());
        self.publisher.trace.lock().replace(round, before);
        self.lab.isolated = isolated;
        self.lab.recorded = Some(key);
    }

    /// The user's round and its ops alone, as predicted from recorded rounds that the host issues breadth-first.
    fn predicted(&self) -> Option<(TimedRound, Arc<[IsolatedOp]>)> {
        let setting = self.changed_setting();
        let calls = setting.own_calls(self.round_work().instances)?;
        let breadth_first = setting.with_switches(Switches {
            order: Order::Breadth,
            ..setting.switches
        });
        let recorded = self.recorded(&breadth_first)?;
        let times = OpTimes::of(&recorded.isolated(), &recorded.round)?;
        let round = (calls.calls.len() <= MAX_PREDICTED_CALLS).then(|| predict(calls, &times))?;
        let isolated = isolated(&round, &times);
        Some((round, isolated))
    }

    /// Replaces measured figures by recorded ones, if those are shown.
    pub(super) fn put_recorded(&self, status: &mut Status) {
        let Some(recording) = self.recording else {
            return;
        };
        let present = self.changed_setting();
        let found = self.recorded(&present);
        let nearest = self
            .recorded_group()
            .and_then(|it| it.nearest(present.kernel, present.switches));
        let rates = &mut status.rates;
        rates.round_us = found.map(|setting| setting.round_us());
        rates.launch_us = found.map(|setting| setting.launch_us);
        rates.stepping = found.map(|setting| setting.cells_per_second);
        rates.reached.clear();
        // While two settings are compared, their rounds alternate.
        let sides = status.lab.comparison.as_ref().map_or(1.0, |_| 2.0);
        let pace = found
            .filter(|_| rates.rounds_per_second > 0.0)
            .map(|setting| {
                let most = 1e6 / (sides * setting.round_us());
                let wanted = match status.setting.pace {
                    Pace::PerSecond(rounds) => most.min(rounds / sides),
                    Pace::Unthrottled | Pace::Maximum => most,
                };
                (rates.rounds_per_second / wanted).min(1.0)
            });
        status.lab.recording = Some(RecordedStatus {
            recorded: recording.recorded.clone(),
            nearest: nearest.map(|it| (&*it.kernel, it.switches)),
            pace,
        });
    }

    /// What is measured, for the status.
    pub(super) fn lab_status(&self) -> LabStatus {
        LabStatus {
            isolated: self.lab.isolated.clone().filter(|_| self.lab.is_watching),
            comparison: self.comparison(),
            last_effect: self.lab.last_effect.clone(),
            tells_effect: matches!(self.publisher.notice, Some((Notice::Effect, _))),
            block_timestamps: self.lab.block_timestamps,
            timestamp_overhead: self.lab.timestamp_overhead(),
            recording: None,
        }
    }

    /// The comparison, for the status.
    pub(super) fn comparison(&self) -> Option<AbComparison> {
        let trial = self.trial.as_ref()?;
        let each = trial.each()?;
        let settings = [self.setup.setting.clone(), trial.other.clone()];
        let switches = settings.each_ref().map(|it| it.switches);
        let recorded = self.compare_recorded(settings);
        let (round_us, finding, source) = recorded.unwrap_or_else(|| trial.measured());
        Some(AbComparison {
            switches,
            round_us,
            finding,
            source,
            differing: self.lab.differing,
            each,
        })
    }

    /// How fast the session goes at this time.
    pub(super) fn rate_status(&self, now: Instant) -> RateStatus {
        let (setup, statistics) = (&self.setup, &self.lab.statistics);
        // What is computed again on the way to a generation has no rates.
        let at_work = self.state.is_at_work() && self.state.moving().is_none();
        let (rounds, generations) = if at_work {
            statistics.rates(now)
        } else {
            (0.0, 0.0)
        };
        RateStatus {
            rounds: statistics.rounds,
            rounds_per_second: rounds,
            generations_per_second: generations,
            cells_per_second: generations * setup.size.cells() as f64 * setup.instances as f64,
            launch_us: statistics.launch_us(),
            round_us: statistics.round_us(),
            timed_one_in: self.lab.sampling.one_in(),
            stepping: statistics.stepping_rate(),
            reached: statistics.reached.clone(),
        }
    }
}

// What single panels settle into, and what follows from that.

impl SessionWorker {
    /// Switches to the next choice of when rounds stop automatically.
    pub(super) fn next_stop_when_still(&mut self) -> Notice {
        let next = self.setup.time.stop_when_still.next();
        self.setup.time.stop_when_still = next;
        self.watch.stopped = false;
        self.update_measuring(false);
        Notice::Done(match next {
            StopWhenStill::Never => message!("Rounds do not stop automatically"),
            StopWhenStill::Selected => {
                message!("Rounds stop when the selected panel is still or periodic")
            }
            StopWhenStill::All => message!("Rounds stop when all panels are still or periodic"),
        })
    }

    /// Turns the refilling of dead panels on or off.
    pub(super) fn toggle_reseed(&mut self) -> Notice {
        self.setup.time.reseed ^= true;
        self.update_measuring(false);
        Notice::Done(if self.setup.time.reseed {
            message!("Dead panels are reseeded")
        } else {
            message!("Dead panels are left as they are")
        })
    }

    /// Sets which rounds measure, as needed; `anew` if the engine was replaced.
    pub(super) fn update_measuring(&mut self, anew: bool) {
        let settings = self.setup.time;
        let stops = settings.stop_when_still != StopWhenStill::Never;
        let measuring = match (self.watch.shown || stops, settings.reseed) {
            (true, _) => Measuring::Always,
            (false, true) => Measuring::Sparse,
            (false, false) => Measuring::Never,
        };
        let all = self.setup.instances;
        self.watch.measure(measuring, all, anew);
        self.publisher.is_changed = true;
    }

    /// Whether the next round measures its lattices. Those of a comparison do not, and one that is not like
    /// the others would spoil what a change did.
    pub(super) fn measures_next(&self) -> bool {
        match self.watch.measuring {
            Measuring::Never => false,
            Measuring::Always => !self.is_comparing(),
            Measuring::Sparse => {
                self.trial.is_none() && self.watch.rounds_since_measure + 1 >= SPARSE_ROUNDS
            }
        }
    }

    /// Evaluates measures of completed rounds.
    pub(super) fn take_measures(&mut self, found: Vec<RoundMeasures>, now: Instant) {
        if found.is_empty() {
            return;
        }
        self.publisher.is_changed |= self.watch.take(found, self.setup.rule, now);
        self.stop_when_still();
    }

    fn stop_when_still(&mut self) {
        let about = match self.setup.time.stop_when_still {
            StopWhenStill::Never => return,
            StopWhenStill::Selected => self.watch.selected..self.watch.selected + 1,
            StopWhenStill::All => 0..self.setup.instances,
        };
        let is_one = about.len() == 1;
        if let Some(first) = self.watch.stops(about, &self.state.mode) {
            self.state.mode = Mode::Paused;
            self.lab.statistics.restart();
            self.notify(Notice::Done(match first.filter(|_| is_one) {
                None => message!("Stopped: every panel is still or periodic"),
                Some(Settled::Dead) => message!("Stopped: this panel is dead"),
                Some(Settled::Still) => message!("Stopped: this panel is still"),
                Some(Settled::Period(every) | Settled::Repeats(every)) => {
                    message!("Stopped: this panel repeats every {} generations", every)
                }
            }));
        }
    }

    /// Requests a soup for one panel that has been dead or periodic for a while.
    pub(super) fn reseed_one(&mut self, now: Instant) {
        let settings = self.setup.time;
        // Not during a run to a generation: it is about the present lattices.
        let is_running = self.state.mode == Mode::Running;
        let may = settings.reseed && is_running && !self.is_comparing();
        // A session that stops when all panels are still would never stop.
        let may = may && settings.stop_when_still != StopWhenStill::All;
        // Records ahead say what happens.
        let may = may && self.state.queue.is_empty() && !self.state.has_records_ahead();
        // Opened patterns are never refilled, and an empty start is meant.
        let Start::Soup { density, seed, .. } = self.setup.start else {
            return;
        };
        if !may || density == 0.0 || self.ended.is_some() {
            return;
        }
        let state = &self.state;
        let may_be = |instance: &usize| state.may_reseed(*instance);
        if let Some(instance) = self.watch.take_settled(now, may_be) {
            // A different seed after each record.
            let seed = seed.wrapping_add(1 + self.state.log.end());
            let soup = CellChange::Soup { density, seed };
            self.state.queue.push_back(Command::Reseed(instance, soup));
        }
    }
}
