//! What others know of a session: the figures that it shows of itself, what follows from them for actions, and
//! what is saved of it.

use super::SessionWorker;
use crate::command::Notice;
use crate::instances::Sim;
use crate::saved::{Drafts, SavedSession};
use crate::state::Mode;
use crate::trace::Trace;
use crate::worker::lab::{LabStatus, RateStatus};
use crate::{
    KernelChoice, OwnOrder, OwnRound, Pace, Pictures, SessionAction, Setup, Start, StoredKernel,
    Switch, SwitchContext, Switches, TimeSettings, timestamps_of_own,
};
use engine::{Cut, DeviceInfo, Kernel, Transfer, kernels};
use lang::{Message, english, message, tr};
use life::{Rule, Size, grouped};
use parking_lot::{Mutex, MutexGuard};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a notice is shown.
pub const NOTICE_TIME: Duration = Duration::from_secs(6);

/// A session's state and figures, in parts, of which each is one owner's. Published when something has
/// changed, at most every 15 ms.
#[derive(Clone, PartialEq, Debug)]
pub struct Status {
    /// What computes.
    pub engine: EngineStatus,
    /// What is stepped.
    pub lattices: LatticeStatus,
    /// How it is stepped.
    pub setting: SettingStatus,
    /// Where the session stands in time.
    pub clock: ClockStatus,
    /// How fast it goes.
    pub rates: RateStatus,
    /// What is measured of its rounds.
    pub lab: LabStatus,
    /// What is known of single panels.
    pub panels: PanelStatus,
    /// Something the person should know, in one sentence; it stays for a few seconds.
    pub notice: Option<Message>,
    /// Why rounds have stopped though nobody asked for that; a person can have them go on.
    pub halted: Option<Message>,
    /// Why the session has ended, if it has.
    pub failed: Option<Message>,
}

/// What computes.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct EngineStatus {
    /// `cuda`, `cpu`, or `recorded` where a GPU's recorded rounds are shown.
    pub name: &'static str,
    /// The computing devices; the recorded one where its rounds are shown.
    pub devices: Vec<DeviceInfo>,
    /// Into how many hardware queues the driver sorts streams; the CPU engine has none.
    pub queues: Option<u32>,
    /// How lattices are cut into bands on all devices; `None` if each lies on one.
    pub cut: Option<Cut>,
    /// How far a time on one device's clock can be from the same moment on another's, in microseconds.
    pub clock_error_us: f64,
}

impl EngineStatus {
    /// Whether the CPU computes.
    pub fn is_cpu(&self) -> bool {
        self.name == "cpu"
    }
}

/// What is stepped.
#[derive(Clone, PartialEq, Debug)]
pub struct LatticeStatus {
    /// How many lattices.
    pub instances: usize,
    /// Their size.
    pub size: Size,
    /// Their rule.
    pub rule: Rule,
    /// The soup's seed, if the start was a soup.
    pub seed: Option<u64>,
    /// The soup's fraction of live cells.
    pub density: Option<f64>,
}

/// How lattices are stepped.
#[derive(Clone, PartialEq, Debug)]
pub struct SettingStatus {
    /// The kernel that steps the lattices.
    pub kernel: &'static Kernel,
    /// The kernel that a user wrote, if any: `K` reaches it after the rungs.
    pub own_kernel: Option<&'static Kernel>,
    /// The source of a kernel that a user wrote, as long as it does not run here.
    pub stored_kernel: Option<Arc<StoredKernel>>,
    /// How the kernel was chosen.
    pub kernel_choice: KernelChoice,
    /// The kernel that comes back when the maximum pace or a run ends.
    pub chosen_kernel: Option<&'static Kernel>,
    /// How rounds are issued, copied and waited for.
    pub switches: Switches,
    /// The round that a user wrote, if any.
    pub own_round: Option<Arc<OwnRound>>,
    /// Whether it can be taken.
    pub own_order: OwnOrder,
    /// What pictures carry over the bus.
    pub transfer: Transfer,
    /// Bytes that a round carries over the bus.
    pub bytes_per_round: u64,
    /// How fast rounds may follow one another.
    pub pace: Pace,
    /// Generations per round: those that were asked for, or fewer if such a round would take so long
    /// that nothing could stop it.
    pub generations_per_round: u32,
    /// When the session stops by itself, and so on.
    pub time: TimeSettings,
}

/// Where a session stands in time.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ClockStatus {
    /// Whether rounds go on by themselves.
    pub running: bool,
    /// The generation of every instance, as of the last round issued.
    pub generation: u64,
    /// The generation that it runs to.
    pub run_to: Option<u64>,
    /// The oldest generation of the selected instance that can be reached by going back.
    pub oldest: Option<u64>,
    /// The generations that are computed again on the way to one that was left.
    pub recomputing: Option<Recomputing>,
    /// Edits that wait for what is under way.
    pub waiting_edits: usize,
    /// Whether all the rounds that were asked for are complete.
    pub finished: bool,
}

/// What is known of single panels.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PanelStatus {
    /// The selected instance.
    pub selected: usize,
    /// How each instance goes on for ever, where that is known; empty while nothing is measured.
    pub settled: Arc<[Option<Settled>]>,
    /// The instances that were filled with a new soup in the last [`NOTICE_TIME`].
    pub reseeded: Arc<[usize]>,
}

impl Status {
    /// The number that an instance goes by, which decides its colour: its own, but while A and B are
    /// compared its place on its side, so that counterparts share one.
    pub fn number_of(&self, instance: usize) -> usize {
        match &self.lab.comparison {
            Some(both) if instance < 2 * both.each => instance % both.each,
            _ => instance,
        }
    }
}

/// Generations that are computed again, from the nearest snapshot to one that was left.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Recomputing {
    /// The generation they lead to.
    pub target: u64,
    /// How much is done, in percent.
    pub percent: u8,
    /// How many seconds the rest takes at the speed so far; unknown while nothing is done.
    pub seconds_left: Option<f64>,
}

/// A time to come, in the units that matter.
pub fn time_left(seconds: f64) -> String {
    const HOURS_A_YEAR: u64 = 8766;
    let seconds = seconds.ceil() as u64;
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    match (hours, minutes) {
        (0, 0) => format!("{seconds} s"),
        (0, _) => format!("{minutes} min {:02} s", seconds % 60),
        (..100, _) => format!("{hours} h {minutes:02} min"),
        (..HOURS_A_YEAR, _) => tr!("{} days", hours / 24),
        _ => {
            // Two digits: speed does not stay the same for so long.
            let years = hours / HOURS_A_YEAR;
            let unit = 10u64.pow(years.max(1).ilog10().saturating_sub(1));
            tr!("{} years", grouped(years / unit * unit))
        }
    }
}

impl Status {
    /// Why the session stopped, for callers without a user who could resume it.
    pub fn gives_up(&self) -> Option<&str> {
        self.failed.as_deref().or(self.halted.as_deref())
    }

    /// What can be said before anything has run.
    pub fn before_start(setup: &Setup) -> Status {
        Status {
            engine: EngineStatus::default(),
            lattices: LatticeStatus::of(setup),
            setting: SettingStatus::of(setup),
            clock: ClockStatus {
                running: true,
                ..ClockStatus::default()
            },
            rates: RateStatus {
                timed_one_in: 1,
                ..RateStatus::default()
            },
            lab: LabStatus::default(),
            panels: PanelStatus::default(),
            notice: None,
            halted: None,
            failed: None,
        }
    }
}

impl LatticeStatus {
    /// A setup's lattices.
    pub fn of(setup: &Setup) -> LatticeStatus {
        let (seed, density) = match setup.start {
            Start::Soup { seed, density, .. } => (Some(seed), Some(density)),
            Start::Lattices { .. } => (None, None),
        };
        LatticeStatus {
            instances: setup.instances,
            size: setup.size,
            rule: setup.rule,
            seed,
            density,
        }
    }
}

impl SettingStatus {
    /// A setup's settings, before pictures were made.
    pub fn of(setup: &Setup) -> SettingStatus {
        SettingStatus {
            kernel: setup.setting.kernel,
            own_kernel: setup.own_kernel,
            stored_kernel: setup.stored_kernel.clone(),
            kernel_choice: setup.kernel_choice,
            chosen_kernel: None,
            switches: setup.setting.switches,
            own_round: setup.setting.own_round.clone(),
            own_order: OwnOrder::of(setup.setting.own_round.as_deref(), setup.instances, 1),
            transfer: Transfer::Bits,
            bytes_per_round: 0,
            pace: setup.pace,
            generations_per_round: setup.generations_per_round,
            time: setup.time,
        }
    }

    /// The kernels that can be chosen: the rungs, and the user's own.
    pub fn kernels(&self) -> impl Iterator<Item = &'static Kernel> {
        kernels::with_own(self.own_kernel)
    }

    /// What decides which positions of the switches can be taken.
    pub fn context(&self) -> SwitchContext<'static> {
        SwitchContext {
            kernel: self.kernel,
            own_order: self.own_order,
        }
    }
}

// How a lattice goes on, once it is known.

/// How a lattice goes on for ever.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Settled {
    /// No cell lives, and by its rule none is born of nothing.
    Dead,
    /// Nothing changes.
    Still,
    /// It repeats every this many generations, and not in between.
    Period(u64),
    /// It repeats every this many generations; those in between were not compared.
    Repeats(u64),
}

impl fmt::Display for Settled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Settled::Dead => f.write_str(tr!("dead")),
            Settled::Still => f.write_str(tr!("still")),
            Settled::Period(period) => f.write_str(&tr!("period {period}")),
            Settled::Repeats(every) => f.write_str(&tr!("repeats every {every}")),
        }
    }
}

// What a status says of actions.

impl SessionAction {
    /// Why a session of this status would refuse it, in the reader's language; `None` where nothing is
    /// known against it. Where requests are on their way that the status does not show yet, the session's
    /// own answer counts.
    pub fn refusal(self, status: &Status) -> Option<String> {
        let (setting, lab) = (&status.setting, &status.lab);
        let instances = status.lattices.instances;
        let one_panel = || (instances < 2).then(|| tr!("there is only one panel").into());
        match self {
            SessionAction::SelectNext | SessionAction::SelectPrevious => one_panel(),
            SessionAction::DoubleInstances | SessionAction::HalveInstances
                if lab.comparison.is_some() =>
            {
                Some(tr!("A and B are compared; key B ends that").into())
            }
            SessionAction::DoubleInstances => (instances * 2 > Setup::MAX_INSTANCES)
                .then(|| tr!("Take 1 to {most} instances", most = Setup::MAX_INSTANCES)),
            SessionAction::HalveInstances => one_panel(),
            SessionAction::ToggleComparison => {
                (instances < 2).then(|| tr!("A and B need at least two panels").into())
            }
            SessionAction::CycleSwitch(switch) => {
                switch.next(setting.switches, setting.context()).err()
            }
            SessionAction::SetSwitch(switch, at) => {
                switch.at(at, setting.switches, setting.context())?.err()
            }
            SessionAction::ToggleRecorded => {
                let is_measured = !status.engine.is_cpu() && lab.recording.is_none();
                is_measured.then(|| tr!("a GPU computes here, and is measured").into())
            }
            SessionAction::ToggleBlockTimestamps if lab.recording.is_some() => {
                Some(tr!("recorded rounds have no block timestamps").into())
            }
            SessionAction::ToggleBlockTimestamps => {
                let has_none = !status.engine.is_cpu() && !setting.kernel.block_timestamps;
                has_none.then(|| timestamps_of_own().into())
            }
            SessionAction::UseKernel(at) => {
                let (kernel, size) = (setting.kernels().nth(at.into())?, status.lattices.size);
                let mut devices = status.engine.devices.iter();
                let fits = kernel.validate_size(size);
                let fits =
                    fits.and_then(|()| devices.try_for_each(|it| kernel.validate_device(it, size)));
                fits.err().map(|error| error.to_string())
            }
            _ => None,
        }
    }
}

impl Setup {
    /// What leads here from a session's state, in an order in which each action is possible. Of how it
    /// starts, only the density counts.
    pub(crate) fn actions_from(&self, status: &Status) -> Vec<SessionAction> {
        use SessionAction::{
            AutoKernel, SetGenerationsPerRound, SetInstances, SetPace, SetRule, SetSize, SetSwitch,
            ToggleComparison, UseKernel,
        };
        let (lattices, now, wanted) = (&status.lattices, &status.setting, &self.setting);
        if status.lab.comparison.is_some() {
            return vec![ToggleComparison]; // which of two settings stays is seen then
        }
        let mut actions = Vec::new();
        let mut ask = |is_other: bool, action| actions.extend(Some(action).filter(|_| is_other));
        let instances = self.instances;
        ask(
            lattices.instances != instances,
            SetInstances(instances as u16),
        );
        ask(lattices.size != self.size, SetSize(self.size));
        ask(lattices.rule != self.rule, SetRule(self.rule));
        if let (Start::Soup { density, .. }, Some(now)) = (&self.start, lattices.density) {
            let [now, next] = [now, *density].map(|density| (1e3 * density).round() as u16);
            ask(now != next, SessionAction::SetDensity(next));
        }
        // At the maximum pace the session takes the fastest kernel, until another one is chosen.
        let is_other_pace = now.pace != self.pace;
        if let Some(at) = Pace::ALL.iter().position(|pace| *pace == self.pace) {
            ask(is_other_pace, SetPace(at as u8));
        }
        let is_maximum = self.pace == Pace::Maximum;
        let is_open = self.kernel_choice == KernelChoice::AutoWithSubmission;
        let switch = |switch: Switch| {
            let [before, at] =
                [now.switches, wanted.switches].map(|it| switch.position(it, wanted.kernel));
            let is_left_open = is_open && matches!(switch, Switch::Streams | Switch::Graphs);
            (before != at && !is_left_open, SetSwitch(switch, at as u8))
        };
        // What cannot be in a graph is set without graphs.
        let (is_other, graphs) = switch(Switch::Graphs);
        ask(is_other && !wanted.switches.graphs, graphs);
        // The last change is measured. So a new kernel comes after what it does not depend on, and is
        // compared with the old one as the switches are left.
        for of_every_kernel in [Switch::HostMemory, Switch::Wait, Switch::Order] {
            let (is_other, action) = switch(of_every_kernel);
            ask(is_other, action);
        }
        match self.kernel_choice {
            KernelChoice::Auto | KernelChoice::AutoWithSubmission => {
                let is_other = now.kernel_choice != KernelChoice::Estimated;
                ask(is_other, AutoKernel);
            }
            KernelChoice::Explicit | KernelChoice::FirstFitting | KernelChoice::Estimated => {
                // A size that the present kernel does not take brings another one.
                let is_other = now.kernel.name != wanted.kernel.name
                    || !now.kernel.supports(self.size)
                    || is_maximum && is_other_pace;
                let is_default = |choice| choice == KernelChoice::FirstFitting;
                let is_left = is_default(self.kernel_choice) && is_default(now.kernel_choice);
                ask(
                    is_other && (is_maximum || !is_left),
                    UseKernel(wanted.kernel.index() as u8),
                );
            }
        }
        for of_kernel in [Switch::Streams, Switch::Transfer, Switch::Block] {
            let (is_other, action) = switch(of_kernel);
            ask(is_other, action);
        }
        ask(is_other && wanted.switches.graphs, graphs);
        let generations = self.generations_per_round;
        let is_other = now.generations_per_round != generations;
        ask(is_other, SetGenerationsPerRound(generations));
        actions
    }
}

// What other threads see of a session: its status, pictures and trace, and the notice that is shown.

/// Time between two updates of the status, at least.
const STATUS_INTERVAL: Duration = Duration::from_millis(15);

/// How long a command waits for the engine before a notice says so.
const WAITING_NOTICE_DELAY: Duration = Duration::from_millis(300);

/// How long a move takes at least that is shown as such.
const MIN_SHOWN_MOVE: Duration = Duration::from_millis(200);

/// Publishes a session to other threads, and wakes them.
pub(crate) struct Publisher {
    pub(crate) status: Arc<Mutex<Arc<Status>>>,
    pub(crate) pictures: Pictures,
    pub(crate) trace: Arc<Mutex<Trace>>,
    /// The notice that is shown, and since when.
    pub(crate) notice: Option<(Notice, Instant)>,
    /// Since when the first command waits for the engine, and whether a notice has said so.
    pub(crate) waiting: Option<(Instant, bool)>,
    /// Whether the status has changed since it was published.
    pub(crate) is_changed: bool,
    /// When the status was published.
    published: Instant,
    wake: Box<dyn Fn()>,
}

impl Publisher {
    /// Nothing has happened yet; `wake` is called whenever there is something new.
    pub(crate) fn new(
        setup: &Setup,
        pictures: Pictures,
        now: Instant,
        wake: Box<dyn Fn()>,
    ) -> Publisher {
        Publisher {
            status: Arc::new(Mutex::new(Arc::new(Status::before_start(setup)))),
            pictures,
            trace: Arc::default(),
            notice: None,
            waiting: None,
            is_changed: true,
            published: now,
            wake,
        }
    }

    /// What the notice that is shown says.
    pub(crate) fn message(&self) -> Option<&Message> {
        match &self.notice.as_ref()?.0 {
            Notice::Effect => None,
            Notice::Done(it) | Notice::Refused(it) | Notice::Warning(it) => Some(it),
        }
    }

    /// Whether the effect of the last change is told as a notice.
    fn tells_effect(&self) -> bool {
        matches!(self.notice, Some((Notice::Effect, _)))
    }

    /// Calls whoever draws.
    pub(crate) fn wake(&self) {
        (self.wake)();
    }

    /// Shows a notice for some seconds, and logs it.
    fn notify(&mut self, notice: Notice, now: Instant) {
        match &notice {
            Notice::Done(what) => tracing::debug!("{}", english(what)),
            Notice::Effect => {}
            Notice::Refused(why) => tracing::info!("{}", english(why)),
            Notice::Warning(what) => tracing::warn!("{}", english(what)),
        }
        self.notice = Some((notice, now));
        self.is_changed = true;
    }

    /// Forgets a notice that was shown long enough.
    pub(crate) fn forget_old_notice(&mut self, now: Instant) {
        let is_over = |(_, since): &mut (Notice, Instant)| now - *since > NOTICE_TIME;
        self.is_changed |= self.notice.take_if(is_over).is_some();
    }

    /// Notes whether the first command waits. Returns whether a notice should say so now.
    pub(crate) fn waits_long(&mut self, waits: bool, now: Instant) -> bool {
        if !waits {
            self.waiting = None;
            return false;
        }
        let (since, is_reported) = self.waiting.get_or_insert((now, false));
        let is_long = !*is_reported && now - *since > WAITING_NOTICE_DELAY;
        *is_reported |= is_long;
        is_long
    }

    /// When a changed status may be published; `None` if it has not changed.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.is_changed.then(|| self.published + STATUS_INTERVAL)
    }

    /// Publishes a status.
    fn publish(&mut self, status: Status, now: Instant) {
        *self.status.lock() = Arc::new(status);
        (self.published, self.is_changed) = (now, false);
        self.wake();
    }

    /// The timed rounds, locked briefly: the drawing side reads them too.
    pub(crate) fn lock_trace(&self) -> MutexGuard<'_, Trace> {
        self.trace.lock()
    }
}

impl SessionWorker {
    /// Shows a notice for some seconds, and logs it.
    pub(super) fn notify(&mut self, notice: Notice) {
        let now = self.now();
        self.publisher.notify(notice, now);
    }

    pub(super) fn publish_status(&mut self, now: Instant) {
        self.publish_effect();
        self.show_recorded_rounds();
        let status = self.make_status(now);
        self.publisher.publish(status, now);
    }

    pub(super) fn make_status(&self, now: Instant) -> Status {
        let mut status = Status {
            engine: self.engine_status(),
            lattices: LatticeStatus::of(&self.setup),
            setting: self.setting_status(),
            clock: self.clock_status(now),
            rates: self.rate_status(now),
            lab: self
                .lab
                .status(self.comparison(), self.publisher.tells_effect()),
            panels: self.watch.status(),
            notice: self
                .progress(now)
                .or_else(|| self.publisher.message().cloned()),
            halted: self.halted.clone(),
            failed: self.ended.clone(),
        };
        self.put_recorded(&mut status);
        status
    }

    /// What computes, for the status.
    fn engine_status(&self) -> EngineStatus {
        let Some(sim) = &self.sim else {
            return EngineStatus::default();
        };
        if let Some(recording) = self.recording {
            return EngineStatus {
                name: "recorded",
                devices: vec![recording.device.clone()],
                queues: Some(recording.queues),
                ..EngineStatus::default()
            };
        }
        let engine = sim.engine();
        EngineStatus {
            name: engine.name(),
            devices: engine.devices().to_vec(),
            queues: (engine.name() == "cuda").then(platform::connections),
            cut: engine.cut(),
            clock_error_us: engine.clock_error().as_us(),
        }
    }

    fn clock_status(&self, now: Instant) -> ClockStatus {
        let is_complete = |sim: &Sim| sim.is_idle() && self.lagging_side().is_none();
        ClockStatus {
            running: self.is_running(),
            generation: self.state.position.generation,
            run_to: match &self.state.mode {
                Mode::RunningTo(run_to) => Some(run_to.generation),
                _ => None,
            },
            oldest: self.oldest_generation(),
            recomputing: self.recomputing(now),
            waiting_edits: self.waiting_edits(),
            finished: self.state.has_all_rounds()
                && self.state.cells_known
                && self.state.moving().is_none()
                && self.sim.as_ref().is_some_and(is_complete),
        }
    }

    /// The oldest generation of the start in force that a route leads to.
    fn oldest_generation(&self) -> Option<u64> {
        let oldest = self.state.oldest_reachable()?;
        let start = self.state.log.start_of(self.state.position);
        Some(oldest.max(start).generation)
    }

    /// How much of a move is done, unless it has only just begun: most are over at once.
    fn recomputing(&self, now: Instant) -> Option<Recomputing> {
        let moving = self.state.moving()?;
        let took = now - moving.since?;
        let progress = self.state.progress().unwrap_or(0.0);
        (took >= MIN_SHOWN_MOVE).then_some(Recomputing {
            target: moving.target.generation,
            percent: (100.0 * progress) as u8,
            seconds_left: (progress > 0.0)
                .then(|| took.as_secs_f64() * (1.0 - progress) / progress),
        })
    }

    /// The progress of a long move.
    fn progress(&self, now: Instant) -> Option<Message> {
        let (moving, progress) = (self.state.moving()?, self.state.progress()?);
        if moving.total < 2 * u64::from(moving.chunk) {
            return None;
        }
        let (target, percent) = (moving.target.generation, (100.0 * progress) as u8);
        Some(match self.recomputing(now).and_then(|it| it.seconds_left) {
            Some(seconds) => message!(
                "Computing up to generation {target} from the nearest snapshot: {percent} %, {left} left; Space stops this",
                left = time_left(seconds)
            ),
            None => message!(
                "Computing up to generation {target} from the nearest snapshot: {percent} %; Space stops this"
            ),
        })
    }
}

// The session as it is saved, also by other threads while this one hangs.

impl SessionWorker {
    /// The session as it is saved; `None` if nothing leads to its position.
    pub(super) fn saved_session(&self) -> Option<SavedSession> {
        let timeline = self.state.saved()?;
        let parameters = timeline.log.parameters(timeline.position.records);
        let b_switches = if self.is_comparing() {
            Some(self.changed_setting().switches)
        } else {
            self.lab.b_switches
        };
        let (setting, kernel_choice) = self.chosen_setting();
        let mut setup = Setup {
            setting,
            kernel_choice,
            pace: self.state.pacing.pace,
            generations_per_round: self.state.pacing.chosen,
            rounds: None,
            ..self.setup.clone()
        };
        parameters.set(&mut setup);
        Some(SavedSession {
            b_switches: b_switches.filter(|_| timeline.log.comparison().is_some()),
            notices: Vec::new(),
            timeline,
            running: self.is_running(),
            selected: self.watch.selected.min(setup.instances - 1),
            setup,
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DeviceChoice;

    #[test]
    fn a_time_to_come_is_in_units_that_matter() {
        let day = 86_400.0;
        for (seconds, words) in [
            (0.2, "1 s"),
            (59.0, "59 s"),
            (59.4, "1 min 00 s"),
            (117.0, "1 min 57 s"),
            (3_599.0, "59 min 59 s"),
            (7_260.0, "2 h 01 min"),
            (4.5 * day, "4 days"),
            (300.0 * day, "300 days"),
            (1_000.0 * day, "2 years"),
            (366.0 * 345_678.0 * day, "340,000 years"),
        ] {
            assert_eq!(time_left(seconds), words);
        }
        assert!(time_left(f64::INFINITY).ends_with(" years"));
    }

    #[test]
    fn a_kernel_is_changed_after_what_it_does_not_depend_on() {
        let size = Size::new(64, 64).unwrap();
        let [first, second] = [0, 1].map(|at| &engine::kernels::KERNELS[at]);
        let mut wanted = Setup::new(4, size, first, DeviceChoice::Cpu);
        let status = Status::before_start(&wanted);
        wanted.setting.kernel = second;
        wanted.setting.switches.host_memory = engine::HostMemory::Pageable;
        let kernel = SessionAction::UseKernel(second.index() as u8);
        let host_memory = SessionAction::SetSwitch(Switch::HostMemory, 1);
        assert_eq!(wanted.actions_from(&status), [host_memory, kernel]);
    }
}
