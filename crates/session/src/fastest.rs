//! The fastest plan: which kernel steps some lattices, how its launches are submitted, and how many
//! generations a round has, as far as the user has not said so.
//!
//! [`FastestPlan::all`] decides, a pure function of the work and of what the user requested: a short table
//! of what was measured says which kernel comes first, and a test holds it against every recorded work. The
//! numbers are those of an H100, an H200 and server CPUs; on other devices all are higher or lower together,
//! and the order stays.

use crate::{Order, OwnRound, Setting, Streams, Switches};
use engine::kernels::{Iteration, KERNELS, Kernel};
use engine::{DeviceInfo, Layout, kernels};
use life::Size;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

#[cfg(test)]
mod tests;

/// A row of the table: what is fastest on a GPU for the lattices that fit.
struct Row {
    kernel: &'static str,
    /// How many lattices each SM has at least.
    per_sm: u32,
    /// How many cells a lattice has at most.
    cells: u64,
    /// How many cells all lattices of a device have at most.
    all_cells: u64,
    /// The same where rows are not of whole quads of words, of which a lane steps one.
    all_cells_if_ragged: u64,
}

const ANY: Row = Row {
    kernel: "deep",
    per_sm: 0,
    cells: u64::MAX,
    all_cells: u64::MAX,
    all_cells_if_ragged: u64::MAX,
};

/// The first row that fits decides.
#[rustfmt::skip]
const ON_GPU: [Row; 4] = [
    // A warp for each lattice pays where there are enough for the schedulers.
    Row { kernel: "resident", per_sm: 2, cells: 128 * 128, ..ANY },
    Row { kernel: "resident", per_sm: 3, cells: 256 * 256, ..ANY },
    // All lattices in registers, or some groups of them one after another.
    Row { kernel: "cooperative", all_cells: 1 << 29, all_cells_if_ragged: 50_000_000, ..ANY },
    ANY,
];

/// What follows where the first kernel does not take the lattices, or was not wanted.
const OTHERS_ON_GPU: [&str; 6] = [
    "cooperative",
    "resident",
    "deep",
    "multistep",
    "bits",
    "planar",
];

/// With fewer generations, rounds are stepped one by one, since all other kernels convert the cells.
const MIN_GENERATIONS: u32 = 4;

/// On a CPU a pass of several generations goes through a lattice in tiles, and the threads that share it
/// exchange rows once a pass; `cooperative` and `resident` do that in every generation, and pay for small
/// lattices alone.
const MAX_CELLS_IN_PLACE: u64 = 1 << 21;

/// So few rows a CPU steps as fast in bits, which need no conversion.
const MAX_ROWS_IN_BITS: u32 = 16;

/// How long a round of a run takes: long enough that issuing it costs nothing, and short enough that
/// Ctrl+C is answered at once.
pub const RUN_ROUND: Duration = Duration::from_millis(75);

/// How long a round may take. A stop waits for the two in flight, and a session that ends is saved
/// twice: that shall take no longer than a second. A round of one generation takes as long as it
/// takes.
pub const MAX_ROUND: Duration = Duration::from_millis(100);

/// The lattices to step, as far as the speed depends on them.
#[derive(Clone, Copy, Debug)]
pub struct Work<'a> {
    /// The devices, over which the instances are spread.
    pub devices: &'a [DeviceInfo],
    /// The size of every lattice.
    pub size: Size,
    /// How many lattices.
    pub instances: usize,
    /// How many bands of each the device has, in streams of their own; 1 for whole lattices.
    pub bands: usize,
    /// How many generations they are to be stepped, if that is known.
    pub generations: Option<u64>,
}

/// What the user has chosen already.
#[derive(Clone, Debug)]
pub struct Requested {
    /// The kernel.
    pub kernel: Option<&'static Kernel>,
    /// How instances share streams.
    pub streams: Option<Streams>,
    /// Whether rounds are graphs.
    pub graphs: Option<bool>,
    /// Generations per round.
    pub generations: Option<u32>,
    /// The other switches, which are never chosen.
    pub switches: Switches,
    /// The round that a user wrote.
    pub own_round: Option<Arc<OwnRound>>,
}

impl Requested {
    /// Nothing: everything is chosen.
    pub const NOTHING: Requested = Requested {
        kernel: None,
        streams: None,
        graphs: None,
        generations: None,
        switches: Switches::DEFAULT,
        own_round: None,
    };

    /// Everything of a setting but the kernel.
    pub fn all_but_the_kernel(setting: &Setting, generations: u32) -> Requested {
        Requested {
            streams: Some(setting.switches.streams),
            graphs: Some(setting.switches.graphs),
            generations: Some(generations),
            ..Requested::switches(setting)
        }
    }

    /// Nothing but a setting's switches, streams and graphs not even of them; those of a user's own round
    /// stay.
    pub fn switches(setting: &Setting) -> Requested {
        let switches = setting.switches;
        let is_own = switches.order == Order::Own;
        Requested {
            streams: is_own.then_some(switches.streams),
            graphs: is_own.then_some(switches.graphs),
            switches,
            own_round: setting.own_round.clone(),
            ..Requested::NOTHING
        }
    }
}

/// Which kernel steps the lattices, how its launches are submitted, and in which rounds.
#[derive(Clone, Debug)]
pub struct FastestPlan {
    /// What steps the lattices.
    pub setting: Setting,
    /// How many candidates there were.
    pub choices: usize,
    /// Generations per second that any kernel reaches.
    generations_per_second: f64,
    /// Generations per round, if they were requested.
    requested_generations: Option<u32>,
    /// How the kernel was chosen, as a session says it.
    pub kernel_choice: KernelChoice,
    /// Instances on one device.
    instances: usize,
}

impl FastestPlan {
    /// The plans for some work that respect what was requested, the fastest by the tables first.
    /// Empty if no kernel fits the request.
    pub fn all(work: &Work, requested: &Requested) -> Vec<FastestPlan> {
        let candidates = candidates(work, requested);
        let choices = candidates.len();
        let kernel_choice = match requested.kernel {
            None if choices > 1 => KernelChoice::Estimated,
            _ => KernelChoice::Explicit, // it was requested, or there was no other
        };
        let plan = |setting: Setting| FastestPlan {
            setting,
            choices,
            generations_per_second: work.least_generations_per_second(),
            requested_generations: requested.generations,
            kernel_choice,
            instances: work.instances_per_device(),
        };
        candidates.into_iter().map(plan).collect()
    }

    /// The lengths of rounds that should take `target` each; as long as requested, if that takes at
    /// most [`MAX_ROUND`].
    pub fn rounds(&self, target: Duration) -> RoundLength {
        let target = match self.requested_generations {
            Some(_) => MAX_ROUND,
            None => target,
        };
        let launches = self.setting.max_launches(self.instances);
        // The first rounds are short, and say how long others may be.
        let expected = self.generations_per_second * target.as_secs_f64();
        RoundLength::adapting(self.setting.kernel, launches, target, 1)
            .at_most(self.requested_generations.unwrap_or(u32::MAX))
            .starting_below(expected)
    }
}

impl Work<'_> {
    /// The most instances that one device steps.
    pub fn instances_per_device(&self) -> usize {
        self.instances.div_ceil(self.devices.len().max(1))
    }

    /// The cells of all lattices.
    fn cells(&self) -> f64 {
        self.size.cells() as f64 * self.instances as f64
    }

    fn is_on_gpu(&self) -> bool {
        self.devices
            .iter()
            .all(|device| device.capability.is_some())
    }

    /// Generations per second that every kernel reaches, if not by far.
    fn least_generations_per_second(&self) -> f64 {
        /// Those of a launch for each.
        const OF_LAUNCHES: f64 = 1e5;
        let cells_per_second = |device: &DeviceInfo| match device.capability {
            Some(_) => 2e11,
            None => 1e9 * f64::from(device.sm_count),
        };
        let all: f64 = self.devices.iter().map(cells_per_second).sum();
        (all / self.cells()).min(OF_LAUNCHES)
    }

    /// The names of kernels, the fastest first; those of `i32` cells come after them.
    fn fastest_first(&self, requested: &Requested) -> Vec<&'static str> {
        let cells = self.size.cells();
        if !self.is_on_gpu() {
            let mut order = vec![
                "cooperative",
                "resident",
                "multistep",
                "deep",
                "planar",
                "bits",
            ];
            if cells > MAX_CELLS_IN_PLACE {
                order[..4].rotate_left(2);
            } else if self.size.height <= MAX_ROWS_IN_BITS {
                order.insert(0, "bits");
            }
            return order;
        }
        let lattices = (self.instances_per_device() * self.bands) as u64;
        let at_once = match requested.streams {
            Some(Streams::One | Streams::Default) => 1,
            Some(Streams::PerInstance | Streams::Batch) | None => lattices,
        };
        let is_ragged = !self.size.width.is_multiple_of(128);
        let fits = |row: &&Row| {
            let all_cells = if is_ragged {
                row.all_cells_if_ragged
            } else {
                row.all_cells
            };
            at_once >= u64::from(row.per_sm * self.devices[0].sm_count)
                && cells <= row.cells
                && lattices.saturating_mul(cells) <= all_cells
        };
        let is_short = requested.generations.is_some_and(|it| it < MIN_GENERATIONS);
        let first = match ON_GPU.iter().find(fits) {
            _ if is_short => "bits",
            row => row.map_or(ANY.kernel, |row| row.kernel),
        };
        [first].into_iter().chain(OTHERS_ON_GPU).collect()
    }

    /// Whether a kernel takes these lattices on these devices.
    fn is_taken_by(&self, kernel: &Kernel) -> bool {
        let runs = |device: &DeviceInfo| kernel.validate_device(device, self.size).is_ok();
        kernel.supports(self.size) && self.devices.iter().all(runs)
    }
}

/// The most bytes that an `i32` per cell may take for such a kernel to be a candidate: beyond, bits
/// are faster on every device, and the memory is better left alone.
const MAX_CELL_BYTES: f64 = (64 << 20) as f64;

/// The most instances for which one stream each is considered: beyond, creating the streams takes
/// longer than they save, and one stream or a batch fills the device as well.
const MAX_STREAMS: usize = 256;

/// Everything that can be the fastest and respects what was requested, the fastest by the table first.
pub fn candidates(work: &Work, requested: &Requested) -> Vec<Setting> {
    let order = work.fastest_first(requested);
    let place = |kernel: &Kernel| order.iter().position(|name| *name == kernel.name);
    let own = requested.kernel.filter(|kernel| kernel.own.is_some());
    let is_wanted = |kernel: &Kernel| requested.kernel.is_none_or(|wanted| wanted == kernel);
    let mut kernels: Vec<&'static Kernel> = kernels::with_own(own).rev().collect();
    kernels.retain(|kernel| is_wanted(kernel) && work.is_taken_by(kernel));
    kernels.sort_by_key(|kernel| place(kernel).unwrap_or(order.len()));
    let mut all: Vec<Setting> = Vec::new();
    for kernel in kernels {
        let mut submissions = submissions(kernel, work, requested);
        submissions.retain(|it| it.switches.incompatibility(kernel).is_none());
        all.append(&mut submissions);
    }
    let of_bits = |it: &Setting| it.kernel.layout != Layout::I32;
    // Unless there is no other way.
    if 4.0 * work.cells() > MAX_CELL_BYTES && all.iter().any(of_bits) {
        all.retain(of_bits);
    }
    all
}

/// The submissions that suit a kernel, the best first.
fn submissions(kernel: &'static Kernel, work: &Work, requested: &Requested) -> Vec<Setting> {
    /// To prepare a graph takes some milliseconds, which shorter runs do not win back.
    const MIN_GENERATIONS_OF_GRAPHS: u64 = 100_000;
    let instances = work.instances_per_device();
    let streams: &[Streams] = match requested.streams {
        Some(ref streams) => std::slice::from_ref(streams),
        None if instances == 1 => &[Streams::PerInstance],
        None if kernel.batched && work.is_on_gpu() => &[Streams::Batch],
        None if kernel.batched => &[Streams::PerInstance, Streams::Batch],
        None if instances <= MAX_STREAMS || !work.is_on_gpu() => {
            &[Streams::PerInstance, Streams::One]
        }
        None => &[Streams::One],
    };
    // A graph saves calls, of which a kernel that iterates itself makes one; and the CPU has none.
    let with_graphs = work.is_on_gpu() && kernel.iteration != Iteration::InKernel;
    let generations = work.generations.unwrap_or(u64::MAX);
    let graphs: &[bool] = match requested.graphs {
        Some(true) => &[true],
        Some(false) => &[false],
        None if with_graphs && generations >= MIN_GENERATIONS_OF_GRAPHS => &[true, false],
        None if with_graphs => &[false, true],
        None => &[false],
    };
    let mut all = Vec::new();
    for &graphs in graphs {
        all.extend(streams.iter().map(|&streams| Setting {
            kernel,
            switches: Switches {
                streams,
                graphs,
                ..requested.switches
            },
            own_round: requested.own_round.clone(),
        }));
    }
    all
}

impl Setting {
    /// Launches for this many generations of `instances` lattices on one device.
    pub fn launches(&self, generations: u32, instances: usize) -> u64 {
        let lattices = match self.switches.streams {
            Streams::Batch => 1,
            Streams::PerInstance | Streams::One | Streams::Default => instances as u64,
        };
        u64::from(self.kernel.launches(generations)) * lattices
    }

    /// The most launches for one instance in one round.
    pub fn max_launches(&self, instances: usize) -> u32 {
        /// Launches of a graph: capturing more takes longer than a round.
        const OF_GRAPH: u64 = 4096;
        /// Launches of a round: more than a round's time of calls.
        const OF_ROUND: u64 = 1 << 14;
        /// Launches in one stream of several: a stream holds about 1000, and the host waits
        /// for it while the others run dry.
        const OF_STREAM: u64 = 512;
        let of_all = if self.switches.graphs {
            OF_GRAPH
        } else {
            OF_ROUND
        };
        let each = of_all / self.launches(1, instances).max(1);
        let several =
            instances > 1 && self.switches.streams == Streams::PerInstance && !self.switches.graphs;
        let most = if several { each.min(OF_STREAM) } else { each };
        most.max(1) as u32
    }
}

// How many generations a round has, so that it takes a given time.

/// How many generations the next round has: so many that it takes a given time.
#[derive(Clone, Copy, Debug)]
pub struct RoundLength {
    kernel: &'static Kernel,
    /// Maximum number of launches for one instance in one round.
    max_launches: u32,
    target: Duration,
    generations: u32,
    /// Maximum number of generations, however short they are.
    max: u32,
}

impl RoundLength {
    /// The factor by which rounds become longer or shorter at once, at most.
    const MAX_CHANGE: f64 = 8.0;

    /// Rounds that take such a part of their time stay as they are, so that a graph is prepared
    /// once.
    const FITTING: RangeInclusive<f64> = 0.55..=1.25;

    /// Rounds that should take `target` each, with this many generations at first and at most
    /// `max_launches` launches for one instance.
    pub fn adapting(
        kernel: &'static Kernel,
        max_launches: u32,
        target: Duration,
        generations: u32,
    ) -> RoundLength {
        RoundLength {
            kernel,
            max_launches,
            target,
            generations,
            max: u32::MAX,
        }
    }

    /// The same, and at most this many generations.
    pub fn at_most(self, generations: u32) -> RoundLength {
        RoundLength {
            max: generations,
            ..self
        }
    }

    /// The same, starting with rounds that are much shorter than these generations, which are
    /// estimated.
    pub fn starting_below(self, expected: f64) -> RoundLength {
        RoundLength {
            generations: self.feasible(expected / Self::MAX_CHANGE),
            ..self
        }
    }

    /// Generations of the next round.
    pub fn generations(&self) -> u32 {
        self.generations.min(self.max)
    }

    /// Takes into account how long a round of this many generations took.
    pub fn learn(&mut self, generations: u32, took: Duration) {
        if generations == 0 {
            return;
        }
        let per_generation = took.as_secs_f64().max(1e-9) / f64::from(generations);
        let wanted = self.target.as_secs_f64() / per_generation;
        let now = f64::from(self.generations);
        if Self::FITTING.contains(&(now / wanted)) {
            return;
        }
        let factor = (wanted / now).clamp(1.0 / Self::MAX_CHANGE, Self::MAX_CHANGE);
        self.generations = self.feasible(few_digits(now * factor));
    }

    /// This many generations, rounded down to what the kernel steps best: at least one launch, and no
    /// more launches than a round may have. An even number of launches leaves the cells in the
    /// buffer that they came from, so that one graph serves all rounds.
    fn feasible(&self, wanted: f64) -> u32 {
        let per_launch = self.kernel.iteration.generations_per_launch();
        if self.kernel.iteration == Iteration::InKernel {
            // (A conversion from a float saturates.)
            return (wanted as u32).clamp(1, per_launch);
        }
        let launches = ((wanted / f64::from(per_launch)) as u32).clamp(1, self.max_launches);
        let launches = if launches > 1 {
            launches & !1
        } else {
            launches
        };
        launches.saturating_mul(per_launch)
    }
}

/// The next lower power of two or one and a half times one: so rounds that vary have few different
/// lengths, and their programs and graphs are made once.
fn few_digits(value: f64) -> f64 {
    let power = value.max(1.0).log2().floor().exp2();
    if value >= 1.5 * power {
        1.5 * power
    } else {
        power
    }
}

// How the kernel of a session was chosen.

/// How a session's kernel was chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum KernelChoice {
    /// The user named it.
    #[default]
    Explicit,
    /// Nobody did: the first of the [`default_kernels`] that takes the lattices, whatever their size
    /// becomes.
    FirstFitting,
    /// Will be chosen when the session starts; until then, any kernel that supports the lattices.
    Auto,
    /// Will be chosen at the start together with how its launches are submitted (streams, graphs),
    /// for rounds of as many generations as fit in a frame.
    AutoWithSubmission,
    /// The fastest by the estimate.
    Estimated,
}

/// The kernel of a session for which nobody names one.
pub const DEFAULT_KERNEL: &str = "sync-global";

/// The default kernel and, where it does not take the lattices, those that stand in for it with these
/// switches, from the next rung up.
pub fn default_kernels(switches: Switches) -> impl Iterator<Item = &'static Kernel> {
    let mut rungs = KERNELS.iter().skip_while(|it| it.name != DEFAULT_KERNEL);
    let stands_in = move |it: &&Kernel| switches.incompatibility(it).is_none();
    rungs.next().into_iter().chain(rungs.filter(stands_in))
}
