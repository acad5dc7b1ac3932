//! What is measured of a session's rounds: rates and median times, before and after a change or of A and B
//! ([`Trial`]), what was recorded on a GPU instead, and the overlap of a round's ops.
//!
//! Rounds that differ from the others in anything else than the setting are not compared: those stepped by
//! hand, cut short, or timed by events.

use super::SessionWorker;
use crate::instances::{Round, Sim};
use crate::state::Mode;
use crate::trace::{RecordedGroup, RecordedSetting, RoundWork, TimedRound};
use crate::{
    Finding, IsolatedOp, KernelChoice, Pace, Recorded, Setting, Share, Side, Source, Switches,
    finding_in_words, median, unknown_in_words,
};
use experiment::{Executor, Plan};
use lang::numbers::time_us_to;
use lang::{Message, tr};
use life::Size;
use platform::{Usage, usage};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The time over which rates are averaged.
const WINDOW: Duration = Duration::from_millis(500);

/// Maximum number of launches or rounds that a median is taken over.
const MAX_LATEST: usize = 31;

/// Timed rounds of a kernel before its rate is shown: the first may load its module or be preempted.
const MIN_RATES: usize = 3;

/// Counts rounds and generations as they complete.
#[derive(Default)]
pub(crate) struct Statistics {
    /// Times at which rounds completed, with the totals of rounds and generations at each.
    samples: VecDeque<(Instant, u64, u64)>,
    /// Rounds completed since the session began.
    pub rounds: u64,
    generations: u64,
    launches: VecDeque<f64>,
    round_us: VecDeque<f64>,
    /// The kernel in use, and its cells per second of launch time in the latest timed rounds.
    stepping: (&'static str, VecDeque<f64>),
    /// Each kernel used so far, with the median cells per second of launch time of its latest timed rounds.
    pub reached: Vec<(&'static str, f64)>,
}

impl Statistics {
    /// Counts a completed round. `took` runs from its first driver call, or from the end of the
    /// round before it if that was later, to its last event; `None` if it had another setting than
    /// the session's.
    pub(super) fn round(&mut self, now: Instant, generations: u32, took: Option<Duration>) {
        if let Some(took) = took {
            push(&mut self.round_us, took.as_secs_f64() * 1e6);
        }
        self.rounds += 1;
        self.generations += u64::from(generations);
        // At most 200 samples per second.
        let dense = self
            .samples
            .back()
            .is_some_and(|(at, ..)| now - *at < WINDOW / 100);
        if dense && self.samples.len() > 1 {
            let last = self.samples.back_mut().expect("it was looked at");
            (last.1, last.2) = (self.rounds, self.generations);
            return;
        }
        self.samples.push_back((now, self.rounds, self.generations));
        while self.samples.len() > 2 && now - self.samples[1].0 > WINDOW {
            self.samples.pop_front();
        }
    }

    /// Counts a timed launch, in microseconds.
    pub(super) fn launch(&mut self, us: f64) {
        push(&mut self.launches, us);
    }

    /// Counts a timed round in which a kernel stepped that many cells per second of launch time.
    pub(super) fn stepping(&mut self, kernel: &'static str, cells_per_second: f64) {
        if self.stepping.0 != kernel {
            self.stepping = (kernel, VecDeque::new());
        }
        push(&mut self.stepping.1, cells_per_second);
        let Some(now) = self.stepping_rate() else {
            return;
        };
        match self.reached.iter_mut().find(|(name, _)| *name == kernel) {
            Some((_, rate)) => *rate = now,
            None => self.reached.push((kernel, now)),
        }
    }

    /// Forgets the rates and medians, not the totals: after a pause or a change of settings.
    pub(super) fn restart(&mut self) {
        self.samples.clear();
        self.launches.clear();
        self.round_us.clear();
        self.stepping.1.clear();
    }

    /// Rounds and generations per second over the last half second; 0 until two rounds have
    /// completed. Both fall towards 0 while no round completes.
    pub(super) fn rates(&self, now: Instant) -> (f64, f64) {
        match (self.samples.front(), self.samples.back()) {
            (Some(first), Some(last)) if last.0 > first.0 => {
                let quiet = now.saturating_duration_since(last.0);
                let span = if quiet > 4 * WINDOW {
                    now - first.0
                } else {
                    last.0 - first.0
                };
                let per_second = |count: u64| count as f64 / span.as_secs_f64();
                (per_second(last.1 - first.1), per_second(last.2 - first.2))
            }
            _ => (0.0, 0.0),
        }
    }

    /// The median of the latest timed launches, in microseconds.
    pub(super) fn launch_us(&self) -> Option<f64> {
        median(self.launches.iter().copied())
    }

    /// Cells per second of launch time, the median of the latest timed rounds; `None` while there are
    /// too few of them.
    pub(super) fn stepping_rate(&self) -> Option<f64> {
        let rates = self.stepping.1.iter().copied();
        median(rates).filter(|_| self.stepping.1.len() >= MIN_RATES)
    }

    /// The median time of the latest rounds, in microseconds.
    pub(super) fn round_us(&self) -> Option<f64> {
        median(self.round_us.iter().copied())
    }
}

/// How fast a session goes.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RateStatus {
    /// Rounds completed since the start.
    pub rounds: u64,
    /// Rounds per second, over the last half second or so.
    pub rounds_per_second: f64,
    /// Generations per second, of each instance.
    pub generations_per_second: f64,
    /// Cells stepped a second, over all instances.
    pub cells_per_second: f64,
    /// The median time of a launch, by events around it, in microseconds.
    pub launch_us: Option<f64>,
    /// The median time of a round, from its first call to its last event, in microseconds.
    pub round_us: Option<f64>,
    /// One round in this many is timed by events.
    pub timed_one_in: u32,
    /// Cells stepped per second while a round's launches run (from the start of the first to the
    /// end of the last, by events): the median of the latest timed rounds.
    pub stepping: Option<f64>,
    /// The same for every kernel that this session has used, when it was last used.
    pub reached: Vec<(&'static str, f64)>,
}

/// Adds a value and drops the oldest beyond [`MAX_LATEST`].
fn push(latest: &mut VecDeque<f64>, us: f64) {
    latest.push_back(us);
    if latest.len() > MAX_LATEST {
        latest.pop_front();
    }
}

// Which rounds are timed by events. Timing doubles the host's driver calls, so only some are.

/// Rounds from one timed round to the next, at least.
const MIN_ROUNDS: u32 = 32;

/// Time from one timed round to the next, at least: the screen shows no more than that.
const MIN_INTERVAL: Duration = Duration::from_millis(25);

/// Chooses the rounds to time: one in 32, and fewer if rounds are short.
#[derive(Default, Debug)]
pub struct Sampling {
    /// Rounds since the last timed round.
    since: u32,
    last: Option<Instant>,
    one_in: Option<u32>,
}

impl Sampling {
    /// Whether to time the round issued now. `soon` times one as early as possible, because a
    /// measurement waits for it; `in_turns` says that A and B alternate, and lengthens the distance
    /// by one so that both are timed.
    pub fn wants(&self, now: Instant, soon: bool, in_turns: bool) -> bool {
        let min = if soon { 2 } else { MIN_ROUNDS } + u32::from(in_turns);
        match self.last {
            // The very first round loads modules.
            None => self.since > 0,
            Some(last) => self.since + 1 >= min && now - last >= MIN_INTERVAL,
        }
    }

    /// Counts an issued round.
    pub fn issued(&mut self, now: Instant, timed: bool) {
        self.since += 1;
        if timed {
            if self.last.is_some() {
                self.one_in = Some(self.since);
            }
            self.last = Some(now);
            self.since = 0;
        }
    }

    /// The distance in rounds between the last two timed rounds.
    pub fn one_in(&self) -> u32 {
        self.one_in.unwrap_or(MIN_ROUNDS)
    }
}

// What is measured of a session's rounds.

/// What is measured of a session's rounds.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LabStatus {
    /// A round's ops, each run alone; measured while the timeline is shown.
    pub isolated: Option<Arc<[IsolatedOp]>>,
    /// The two settings, while two are compared.
    pub comparison: Option<AbComparison>,
    /// What the last switch did to the time of a round, once measured.
    pub last_effect: Option<Effect>,
    /// Whether that is news: the change was just made, or its effect found.
    pub tells_effect: bool,
    /// Whether timed rounds record when and where their blocks ran.
    pub block_timestamps: bool,
    /// By what factor block timestamps lengthen a launch, once measured.
    pub timestamp_overhead: Option<f64>,
    /// What is recorded, if recorded rounds are shown instead of measurements.
    pub recording: Option<RecordedStatus>,
}

/// Rounds that were recorded on a GPU, shown while the CPU steps the lattices.
#[derive(Clone, PartialEq, Debug)]
pub struct RecordedStatus {
    /// Where and when they were recorded.
    pub recorded: Recorded,
    /// The kernel and the switches of rounds of such lattices that are nearest to the present ones.
    pub nearest: Option<(&'static str, Switches)>,
    /// Rounds a second of the CPU over those of the GPU at this pace, 1 at most; `None` while unknown.
    pub pace: Option<f64>,
}

/// Two settings side by side: A steps the first instances, B the same number of others, on the same
/// cells, in alternate rounds, each timed alone.
#[derive(Clone, PartialEq, Debug)]
pub struct AbComparison {
    /// A's and B's.
    pub switches: [Switches; 2],
    /// The time of a round of each, in microseconds; its ratio is that of the finding.
    pub round_us: [Option<f64>; 2],
    /// How they compare; `None` while it is measured.
    pub finding: Option<Finding>,
    /// Where both come from, and what else the machine did meanwhile.
    pub source: Source,
    /// Cells that differ between A and B, and of which generation; more than 0 is a fault.
    pub differing: Option<(u64, u64)>,
    /// Instances of each side.
    pub each: usize,
}

impl AbComparison {
    /// Whether A and B have the same settings, so that there is nothing to measure.
    pub fn is_of_equals(&self) -> bool {
        self.switches[0] == self.switches[1]
    }
}

/// What a change of a switch or of the kernel did to the time of a round.
#[derive(Clone, PartialEq, Debug)]
pub struct Effect {
    /// What was changed, and to what.
    pub what: Message,
    /// The times of a round before and after, in microseconds; their ratio is that of the finding.
    pub round_us: [Option<f64>; 2],
    /// How they compare; `None` while it is measured.
    pub finding: Option<Finding>,
    /// Where both come from, and what else the machine did meanwhile.
    pub source: Source,
}

impl Effect {
    /// How the time of a round changed, in a few words: `8.1× faster ± 0.2`.
    pub fn in_short(&self) -> String {
        match self.finding {
            Some(finding) => finding_in_words(finding),
            None => unknown_in_words(&self.source).into(),
        }
    }

    /// What was changed, the times of a round before and after, and how they compare.
    pub fn in_words(&self) -> String {
        let [Some(before), Some(after)] = self.round_us else {
            return format!("{}: {}", self.what, self.in_short());
        };
        let digits = self.finding.map_or(3, |finding| finding.digits());
        tr!(
            "{what}: {factor} ({before} → {after} per round)",
            what = self.what,
            factor = self.in_short(),
            before = time_us_to(before, digits),
            after = time_us_to(after, digits)
        )
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
        !self.executor.is_done()
    }

    /// What was measured, and what else the machine did meanwhile.
    fn measured(&self) -> Measured {
        let times = self.executor.times();
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
            let (round_us, finding, source) = trial.measured();
            self.lab.last_effect = Some(Effect {
                what: change.clone(),
                round_us,
                finding,
                source,
            });
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

    /// The recorded rounds with a setting, of the present lattices; while two settings are
    /// compared, of as many as each has.
    pub(super) fn recorded(
        &self,
        setting: &Setting,
    ) -> Option<(&'static RecordedGroup, &'static RecordedSetting)> {
        let group = self.recording?.group(&self.round_work())?;
        Some((group, group.find(setting.kernel, setting.switches)?))
    }

    /// What a round steps; while two settings are compared, with one of them.
    pub(super) fn round_work(&self) -> RoundWork {
        let instances = self.setup.instances / if self.is_comparing() { 2 } else { 1 };
        RoundWork::of(&self.setup, instances, self.state.pacing.generations())
    }

    /// How two settings compare, as recorded; `None` if rounds are measured here.
    fn compare_recorded(&self, settings: [Setting; 2]) -> Option<Measured> {
        let recording = self.recording?;
        let found = settings.map(|setting| self.recorded(&setting));
        let compared = match found {
            [Some((group, before)), Some((_, after))] => group.compare(before, after),
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
        if let Some((round_us, finding, source)) = self.compare_recorded(settings) {
            self.lab.before_change = Some(before);
            self.lab.last_effect = Some(Effect {
                what: what.clone(),
                round_us,
                finding,
                source,
            });
        }
        self.publish_effect();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steady_rounds_give_their_rate() {
        let mut statistics = Statistics::default();
        let start = Instant::now();
        for i in 0..2000u32 {
            let now = start + Duration::from_millis(u64::from(i));
            statistics.round(now, 5, Some(Duration::from_micros(170)));
        }
        let (rounds, generations) = statistics.rates(start + Duration::from_secs(2));
        assert!((rounds - 1000.0).abs() < 15.0, "{rounds}");
        assert!((generations / rounds - 5.0).abs() < 1e-9);
        assert_eq!(statistics.rounds, 2000);
        assert_eq!(statistics.round_us(), Some(170.0));
    }

    #[test]
    fn what_a_kernel_reached_stays_when_another_takes_over() {
        let mut statistics = Statistics::default();
        // The first one is far from the others.
        for rate in [0.1, 4.0, 5.0] {
            assert_eq!(statistics.reached, []);
            statistics.stepping("bits", rate);
        }
        assert_eq!(statistics.stepping_rate(), Some(4.0));
        for rate in [0.4, 9.0] {
            statistics.stepping("planar", rate);
            assert_eq!(statistics.stepping_rate(), None);
        }
        assert_eq!(statistics.reached, [("bits", 4.0)]);
        statistics.stepping("planar", 9.5);
        assert_eq!(statistics.stepping_rate(), Some(9.0));
        statistics.restart();
        assert_eq!(statistics.stepping_rate(), None);
        assert_eq!(statistics.reached, [("bits", 4.0), ("planar", 9.0)]);
    }

    #[test]
    fn the_median_ignores_an_outlier() {
        let mut statistics = Statistics::default();
        [4.0, 5.0, 400.0]
            .into_iter()
            .for_each(|us| statistics.launch(us));
        assert_eq!(statistics.launch_us(), Some(5.0));
        statistics.restart();
        assert_eq!(statistics.launch_us(), None);
    }
}

#[cfg(test)]
mod sampling_tests {
    use super::*;

    /// The share of rounds that are timed, where they follow one another so fast.
    fn one_in(period: Duration, soon: bool) -> u32 {
        let (mut sampling, start) = (Sampling::default(), Instant::now());
        for i in 0..20_000 {
            let now = start + period * i;
            let timed = sampling.wants(now, soon, false);
            sampling.issued(now, timed);
        }
        sampling.one_in()
    }

    #[test]
    fn one_round_in_32_is_timed_and_fewer_of_fast_ones() {
        assert_eq!(one_in(Duration::from_millis(16), false), 32);
        assert_eq!(one_in(Duration::from_micros(100), false), 250);
        assert_eq!(one_in(Duration::from_millis(16), true), 2);
    }

    #[test]
    fn the_first_round_is_not_but_the_second() {
        let (mut sampling, now) = (Sampling::default(), Instant::now());
        assert!(!sampling.wants(now, true, false));
        sampling.issued(now, false);
        assert!(sampling.wants(now, false, false));
    }
}
