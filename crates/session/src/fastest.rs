//! The fastest plan: which kernel steps some lattices, how its launches are submitted, and how many
//! generations a round has, as far as the user has not said so.
//!
//! [`FastestPlan::of`] decides, a pure function of the work, of what the user requested, of the
//! table that `bench auto --write` fills, and of what was timed on this device. Who calls it asks
//! first without timings; if the table knows no such work and there is enough to do
//! ([`FastestPlan::is_worth_timing`]), the [`candidates`] are timed
//! ([`Instances::time`](crate::instances::Instances::time)) and it is asked again. Where so little
//! is to be done that timing would take longer than it saves, an estimate decides.
//!
//! No kernel is named here: what decides are the properties of [`Kernel`] and the measured rates.

use std::ops::RangeInclusive;
use std::time::Duration;

mod table;
#[cfg(test)]
mod tests;

pub use table::{DevicePicks, PickTable, RecordedCandidate, RecordedRounds, RecordedRun};

use engine::kernels::{Batch, Iteration, KERNELS};
use engine::{DeviceInfo, Kernel, Layout};
use life::{Rule, Size};
use model::{KernelChoice, Streams, Switches};

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
    /// Their rule.
    pub rule: Rule,
    /// Whether each round downloads pictures.
    pub pictures: bool,
}

/// What the user has chosen already.
#[derive(Clone, Copy, Debug)]
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
}

impl Requested {
    /// Nothing: everything is chosen.
    pub const NOTHING: Requested = Requested {
        kernel: None,
        streams: None,
        graphs: None,
        generations: None,
        switches: Switches::DEFAULT,
    };

    /// Everything but the kernel.
    pub fn all_but_the_kernel(switches: Switches, generations: u32) -> Requested {
        Requested {
            kernel: None,
            streams: Some(switches.streams),
            graphs: Some(switches.graphs),
            generations: Some(generations),
            switches,
        }
    }

    /// The switches with which a candidate is submitted.
    pub fn switches_of(&self, candidate: Candidate) -> Switches {
        Switches {
            streams: candidate.streams,
            graphs: candidate.graphs,
            ..self.switches
        }
    }
}

/// A kernel, and how its launches are submitted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Candidate {
    /// The kernel.
    pub kernel: &'static Kernel,
    /// How instances share streams.
    pub streams: Streams,
    /// Whether rounds are graphs.
    pub graphs: bool,
}

/// A candidate that was timed.
#[derive(Clone, Copy, Debug)]
pub struct Timed {
    /// The candidate.
    pub candidate: Candidate,
    /// Generations of all instances per second, downloads included if there are any.
    pub generations_per_second: f64,
}

/// What a plan rests on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Basis {
    /// The table has the fastest for such a device and such work.
    Recorded,
    /// This many kernels were timed on this device.
    Timed(usize),
    /// Nothing was measured.
    Estimated,
}

/// Which kernel steps the lattices, how its launches are submitted, and in which rounds.
#[derive(Clone, Copy, Debug)]
pub struct FastestPlan {
    /// The kernel and its submission.
    pub candidate: Candidate,
    /// The switches, those of the submission among them.
    pub switches: Switches,
    /// Generations of all instances per second that are expected; `None` if nothing tells.
    pub generations_per_second: Option<f64>,
    /// Why it is this plan.
    pub basis: Basis,
    /// How many candidates there were.
    pub choices: usize,
    /// Generations per round, if they were requested.
    requested_generations: Option<u32>,
    /// Whether the kernel was requested.
    kernel_was_requested: bool,
    /// Instances on one device.
    instances: usize,
}

impl FastestPlan {
    /// The fastest plan for some work that respects what was requested: from the table if that has
    /// such work, else from `timed`, else by an estimate. `None` if no kernel fits the request.
    pub fn of(
        work: &Work,
        requested: &Requested,
        table: &PickTable,
        timed: &[Timed],
    ) -> Option<FastestPlan> {
        let candidates = candidates(work, requested);
        let is_candidate = |candidate: &Candidate| candidates.contains(candidate);
        let (candidate, generations_per_second, basis) =
            if let Some((candidate, rate)) = table.fastest(work, requested, is_candidate) {
                (candidate, rate, Basis::Recorded)
            } else if let Some(best) = fastest_of(timed) {
                let rate = Some(best.generations_per_second);
                (best.candidate, rate, Basis::Timed(count_kernels(timed)))
            } else {
                let (candidate, rate) = estimate(work, requested, &candidates)?;
                (candidate, Some(rate), Basis::Estimated)
            };
        Some(FastestPlan {
            candidate,
            switches: requested.switches_of(candidate),
            generations_per_second,
            basis,
            choices: candidates.len(),
            requested_generations: requested.generations,
            kernel_was_requested: requested.kernel.is_some(),
            instances: work.instances_per_device(),
        })
    }

    /// Whether timing the candidates first takes less time than a wrong estimate may cost, with
    /// `generations` to do.
    pub fn is_worth_timing(&self, generations: u64) -> bool {
        let seconds = self
            .generations_per_second
            .map_or(f64::INFINITY, |rate| generations as f64 / rate);
        self.choices > 1
            && self.basis == Basis::Estimated
            && seconds >= MIN_WORK_TO_TIME.as_secs_f64()
    }

    /// How the kernel was chosen, as a session says it.
    pub fn kernel_choice(&self) -> KernelChoice {
        match self.basis {
            _ if self.kernel_was_requested => KernelChoice::Explicit,
            Basis::Recorded => KernelChoice::Recorded,
            Basis::Timed(kernels) if kernels > 1 => KernelChoice::Benchmarked(kernels),
            Basis::Timed(_) | Basis::Estimated => KernelChoice::Explicit, // there was no other
        }
    }

    /// The lengths of rounds that should take `target` each; as long as requested, if that takes at
    /// most [`MAX_ROUND`].
    pub fn rounds(&self, target: Duration) -> RoundLength {
        let target = match self.requested_generations {
            Some(_) => MAX_ROUND,
            None => target,
        };
        let launches = self.candidate.max_launches(self.instances);
        let mut rounds = RoundLength::adapting(self.candidate.kernel, launches, target, 1)
            .at_most(self.requested_generations.unwrap_or(u32::MAX));
        // An estimate may be far too high; the first rounds say so while they are short.
        let share = match self.basis {
            Basis::Estimated => 1.0 / RoundLength::MAX_CHANGE,
            Basis::Recorded | Basis::Timed(_) => 1.0,
        };
        let rate = self.generations_per_second.unwrap_or(0.0);
        rounds.generations = rounds.feasible(rate * share * target.as_secs_f64());
        rounds
    }
}

/// With less work than this by the estimate, nothing is timed first.
const MIN_WORK_TO_TIME: Duration = Duration::from_secs(1);

/// The candidate with the highest rate.
pub(crate) fn fastest_of<'a>(timed: impl IntoIterator<Item = &'a Timed>) -> Option<&'a Timed> {
    let rate = |one: &&Timed| one.generations_per_second;
    timed.into_iter().max_by(|a, b| rate(a).total_cmp(&rate(b)))
}

fn count_kernels(timed: &[Timed]) -> usize {
    let of = |kernel: &&Kernel| timed.iter().any(|one| one.candidate.kernel == *kernel);
    KERNELS.iter().filter(of).count()
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

    /// Whether a kernel takes these lattices on these devices.
    fn is_taken_by(&self, kernel: &Kernel) -> bool {
        let runs = |device: &DeviceInfo| kernel.validate_device(device, self.size).is_ok();
        kernel.validate_size(self.size).is_ok() && self.devices.iter().all(runs)
    }
}

/// The most bytes that an `i32` per cell may take for such a kernel to be a candidate: beyond, bits
/// are faster on every device, and the memory is better left alone.
const MAX_CELL_BYTES: f64 = (64 << 20) as f64;

/// The most instances for which one stream each is considered: beyond, creating the streams takes
/// longer than they save, and one stream or a batch fills the device as well.
const MAX_STREAMS: usize = 256;

/// Everything that can be the fastest and respects what was requested, the upper rungs first; of a
/// kernel's submissions, launches before graphs.
pub fn candidates(work: &Work, requested: &Requested) -> Vec<Candidate> {
    let submitted = |kernel: &'static Kernel| {
        let fits = |candidate: &Candidate| {
            let switches = requested.switches_of(*candidate);
            switches.incompatibility(kernel).is_none()
        };
        submissions(kernel, work, requested)
            .into_iter()
            .filter(fits)
    };
    let kernels = KERNELS.iter().rev().filter(|kernel| {
        requested
            .kernel
            .is_none_or(|requested| requested == *kernel)
            && work.is_taken_by(kernel)
    });
    let all: Vec<Candidate> = kernels.flat_map(submitted).collect();
    let of_bits = |candidate: &Candidate| candidate.kernel.layout != Layout::I32;
    // Unless there is no other way.
    if 4.0 * work.cells() > MAX_CELL_BYTES && all.iter().any(of_bits) {
        return all.into_iter().filter(of_bits).collect();
    }
    all
}

/// The submissions that suit a kernel.
fn submissions(kernel: &'static Kernel, work: &Work, requested: &Requested) -> Vec<Candidate> {
    let instances = work.instances_per_device();
    // A graph saves calls, of which a kernel that iterates itself makes one; and the CPU has none.
    let with_graphs = work.is_on_gpu() && kernel.iteration != Iteration::InKernel;
    let streams: &[Streams] = match requested.streams {
        Some(streams) => &[streams],
        None if instances == 1 => &[Streams::PerInstance],
        None if kernel.batched && work.is_on_gpu() => &[Streams::Batch],
        None if kernel.batched => &[Streams::PerInstance, Streams::Batch],
        None if instances <= MAX_STREAMS || !work.is_on_gpu() => {
            &[Streams::PerInstance, Streams::One]
        }
        None => &[Streams::One],
    };
    let graphs: &[bool] = match requested.graphs {
        Some(true) => &[true],
        Some(false) => &[false],
        None if with_graphs => &[false, true],
        None => &[false],
    };
    let mut all = Vec::new();
    for &graphs in graphs {
        all.extend(streams.iter().map(|&streams| Candidate {
            kernel,
            streams,
            graphs,
        }));
    }
    all
}

/// The candidate that is probably the fastest, and its generations per second. Without graphs if
/// those are not requested: it decides where little is to be done, and preparing one takes as long
/// as its launches.
fn estimate(
    work: &Work,
    requested: &Requested,
    candidates: &[Candidate],
) -> Option<(Candidate, f64)> {
    let rate = |candidate: Candidate| {
        let seconds = if work.is_on_gpu() {
            seconds_on_gpu(work, candidate)
        } else {
            seconds_on_cpu(work, candidate)
        };
        (candidate, 1.0 / seconds)
    };
    let considered = candidates
        .iter()
        .filter(|candidate| !candidate.graphs || requested.graphs == Some(true));
    considered
        .map(|&candidate| rate(candidate))
        .max_by(|a, b| a.1.total_cmp(&b.1))
}

/// Launches of one generation that a device makes one after the other.
fn launches_per_generation(work: &Work, candidate: Candidate) -> f64 {
    let per_launch = candidate.kernel.iteration.generations_per_launch();
    candidate.launches(1, work.instances_per_device()) as f64 / f64::from(per_launch)
}

/// Seconds per generation on GPUs of recent years: cells per second of an SM that has enough to do,
/// and what a launch costs. The rates are an H200's, rounded; only their ratios matter.
fn seconds_on_gpu(work: &Work, candidate: Candidate) -> f64 {
    /// Seconds of the host for a launch, and for one of a graph.
    const LAUNCH: f64 = 3e-6;
    const GRAPH_LAUNCH: f64 = 1.2e-6;
    /// Warps with which an SM is at its full rate.
    const WARPS: f64 = 4.0;
    let kernel = candidate.kernel;
    // Cells per second of an SM, and those that it needs at once for half of that.
    let (full_rate, half) = match (kernel.layout, kernel.iteration) {
        (Layout::I32, Iteration::InKernel) => (4e9, 0.0),
        (Layout::I32, _) => (1.8e9, 2e3),
        (_, Iteration::Launches) => (8e10, 1e5),
        (_, Iteration::Steps(_)) => (3.5e11, 2e5),
        (_, Iteration::InKernel) if kernel.cooperative => (3.5e11, 0.0),
        (_, Iteration::InKernel) => (4.5e11, 0.0),
    };
    let sms: f64 = work
        .devices
        .iter()
        .map(|device| f64::from(device.sm_count))
        .sum();
    let at_once = match candidate.streams {
        Streams::PerInstance | Streams::Batch => work.instances as f64,
        Streams::One | Streams::Default => work.devices.len() as f64,
    };
    let busy = match kernel.iteration {
        Iteration::InKernel => {
            let on_device = work.instances_per_device() as u32;
            let sm_count = work.devices[0].sm_count;
            let batch = Batch::of(1, on_device);
            let launch = kernel.launch(work.size, kernel.block(), batch, sm_count);
            let warps = f64::from(launch.block.iter().product::<u32>()) / 32.0;
            let blocks = at_once * f64::from(launch.grid[0]);
            (blocks * (warps / WARPS).min(1.0) / sms).min(1.0)
        }
        Iteration::Launches | Iteration::Steps(_) => {
            let per_sm = at_once * work.size.cells() as f64 / sms;
            per_sm / (per_sm + half)
        }
    };
    let computing = work.cells() / (full_rate * sms * busy);
    let call = if candidate.graphs {
        GRAPH_LAUNCH
    } else {
        LAUNCH
    };
    computing + launches_per_generation(work, candidate) * call
}

/// Seconds per generation on a CPU of recent years. Only their ratios matter.
fn seconds_on_cpu(work: &Work, candidate: Candidate) -> f64 {
    let kernel = candidate.kernel;
    // Of a thread: cells per second, the least seconds of a row, and the seconds that a generation
    // takes besides. Planar words of several rows are stepped at once.
    let (full_rate, row, generation) = match (kernel.layout, kernel.iteration) {
        (Layout::I32, _) => (7e8, 5e-8, 0.0),
        (Layout::Bits, _) => (3e10, 2.5e-8, 0.0),
        (Layout::Planar, Iteration::Launches) => (9e10, 0.0, 4e-7),
        (Layout::Planar, Iteration::Steps(_) | Iteration::InKernel) => (1.2e11, 0.0, 4e-7),
    };
    let threads: f64 = work
        .devices
        .iter()
        .map(|device| f64::from(device.sm_count))
        .sum();
    let streams = match candidate.streams {
        Streams::PerInstance => work.instances as f64,
        Streams::Batch | Streams::One | Streams::Default => 1.0,
    };
    // Several threads share a lattice only where it is large.
    let shared = (work.size.cells() as f64 / 1e6).max(1.0);
    let computing = work.size.cells() as f64 / full_rate;
    let lattice = computing.max(f64::from(work.size.height()) * row) + generation;
    work.instances as f64 * lattice / threads.min(streams * shared)
}

impl Candidate {
    /// Launches for this many generations of `instances` lattices on one device.
    pub fn launches(&self, generations: u32, instances: usize) -> u64 {
        let lattices = match self.streams {
            Streams::Batch => 1,
            Streams::PerInstance | Streams::One | Streams::Default => instances as u64,
        };
        u64::from(self.kernel.launches(generations)) * lattices
    }

    /// The most launches for one instance in one round.
    pub(crate) fn max_launches(&self, instances: usize) -> u32 {
        /// Launches of a graph: capturing more takes longer than a round.
        const OF_GRAPH: u64 = 4096;
        /// Launches of a round: more than a round's time of calls.
        const OF_ROUND: u64 = 1 << 14;
        /// Launches in one stream of several: a stream holds about 1000, and the host waits
        /// for it while the others run dry.
        const OF_STREAM: u64 = 512;
        let of_all = if self.graphs { OF_GRAPH } else { OF_ROUND };
        let each = of_all / self.launches(1, instances).max(1);
        let several = instances > 1 && self.streams == Streams::PerInstance && !self.graphs;
        let most = if several { each.min(OF_STREAM) } else { each };
        most.max(1) as u32
    }
}

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
    is_fixed: bool,
}

impl RoundLength {
    /// The factor by which rounds become longer or shorter at once, at most.
    const MAX_CHANGE: f64 = 8.0;

    /// Rounds that take such a part of their time stay as they are, so that a graph is prepared
    /// once.
    const FITTING: RangeInclusive<f64> = 0.55..=1.25;

    /// Rounds of this many generations, however long they take.
    pub fn fixed(kernel: &'static Kernel, generations: u32) -> RoundLength {
        RoundLength {
            is_fixed: true,
            ..RoundLength::adapting(kernel, u32::MAX, Duration::ZERO, generations)
        }
    }

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
            is_fixed: false,
        }
    }

    /// The same, and at most this many generations.
    pub fn at_most(self, generations: u32) -> RoundLength {
        RoundLength {
            max: generations,
            ..self
        }
    }

    /// Generations of the next round.
    pub fn generations(&self) -> u32 {
        self.generations.min(self.max)
    }

    /// Takes into account how long a round of this many generations took.
    pub fn learn(&mut self, generations: u32, took: Duration) {
        if self.is_fixed || generations == 0 {
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
