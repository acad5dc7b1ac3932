//! What others know of a session: the figures that it shows of itself, and what follows from them for actions.

use crate::{
    Finding, IsolatedOp, KernelChoice, OwnOrder, OwnRound, Pace, Recorded, SessionAction, Setup,
    Source, Start, StoredKernel, Switch, SwitchContext, Switches, TimeSettings, finding_in_words,
    unknown_in_words,
};
use engine::{Cut, DeviceInfo, Kernel, Transfer, kernels};
use lang::numbers::time_us;
use lang::{Message, tr};
use life::{Rule, Size, grouped};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

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
    /// The generations that are computed again on the way to one that was left.
    pub recomputing: Option<Recomputing>,
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
        tr!(
            "{what}: {factor} ({before} → {after} per round)",
            what = self.what,
            factor = self.in_short(),
            before = time_us(before),
            after = time_us(after)
        )
    }
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

// How a session comes to be as a setup says.

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
