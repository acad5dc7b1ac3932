//! The fastest plan: which kernel steps some lattices, how its launches are submitted, and how many
//! generations a round has, as far as the user has not said so.
//!
//! [`FastestPlan::all`] decides, a pure function of the work and of what the user requested: of all
//! [`candidates`], it takes the one with the shortest estimated time.

use std::time::Duration;

mod estimate;
mod round_length;
#[cfg(test)]
mod tests;

pub use round_length::RoundLength;

use crate::{KernelChoice, Order, Streams, Switches};
use engine::kernels::{self, Iteration};
use engine::{DeviceInfo, Kernel, Layout};
use life::Size;

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
    /// Whether each round downloads pictures.
    pub pictures: bool,
    /// How many generations they are to be stepped, if that is known.
    pub generations: Option<u64>,
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

    /// Nothing but these switches, streams and graphs not even of them; those of a user's own round
    /// stay.
    pub fn switches(switches: Switches) -> Requested {
        let is_own = switches.order == Order::Own;
        Requested {
            streams: is_own.then_some(switches.streams),
            graphs: is_own.then_some(switches.graphs),
            switches,
            ..Requested::NOTHING
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

/// Which kernel steps the lattices, how its launches are submitted, and in which rounds.
#[derive(Clone, Copy, Debug)]
pub struct FastestPlan {
    /// The kernel and its submission.
    pub candidate: Candidate,
    /// The switches, those of the submission among them.
    pub switches: Switches,
    /// How many candidates there were.
    pub choices: usize,
    /// Estimated generations of all instances per second.
    generations_per_second: f64,
    /// Generations per round, if they were requested.
    requested_generations: Option<u32>,
    /// Whether the kernel was requested.
    kernel_was_requested: bool,
    /// Instances on one device.
    instances: usize,
}

impl FastestPlan {
    /// The plans for some work that respect what was requested, the fastest by the estimate first.
    /// Empty if no kernel fits the request.
    pub fn all(work: &Work, requested: &Requested) -> Vec<FastestPlan> {
        let candidates = candidates(work, requested);
        let plan = |candidate: Candidate| {
            let seconds = estimate::seconds_per_generation(work, candidate, requested.generations);
            FastestPlan {
                candidate,
                switches: requested.switches_of(candidate),
                choices: candidates.len(),
                generations_per_second: 1.0 / seconds,
                requested_generations: requested.generations,
                kernel_was_requested: requested.kernel.is_some(),
                instances: work.instances_per_device(),
            }
        };
        let mut plans: Vec<FastestPlan> = candidates.iter().copied().map(plan).collect();
        let seconds = |plan: &FastestPlan| {
            let generations = work.generations.unwrap_or(u64::MAX) as f64;
            let stepping = generations / plan.generations_per_second;
            stepping + estimate::seconds_of_preparing(plan.candidate, stepping)
        };
        plans.sort_by(|a, b| seconds(a).total_cmp(&seconds(b)));
        plans
    }

    /// How the kernel was chosen, as a session says it.
    pub fn kernel_choice(&self) -> KernelChoice {
        match self.choices {
            _ if self.kernel_was_requested => KernelChoice::Explicit,
            1 => KernelChoice::Explicit, // there was no other
            _ => KernelChoice::Estimated,
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
        // The estimate may be far too high; the first rounds say so while they are short.
        let expected = self.generations_per_second * target.as_secs_f64();
        RoundLength::adapting(self.candidate.kernel, launches, target, 1)
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
    let own = requested.kernel.filter(|kernel| kernel.own.is_some());
    let kernels = kernels::with_own(own).rev().filter(|kernel| {
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
    pub fn max_launches(&self, instances: usize) -> u32 {
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
