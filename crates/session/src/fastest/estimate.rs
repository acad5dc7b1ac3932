//! How long a generation takes by each way of stepping some lattices, before anything has run.
//!
//! What decides between two ways is mostly a factor of two or more: how many launches a generation
//! needs, whether the cells stay on the SMs, how many SMs have work, and what an SM steps per second.
//! The rates were measured on an H200 and on a server's CPU with AVX-512; on other devices all are
//! higher or lower together, and the order stays. `bench default` compares the choice with the best
//! of all others.
//!
//! No kernel is named here: what decides are the properties of [`Kernel`].

use crate::Streams;
use engine::kernels::{Iteration, cooperative::Division};
use engine::{Kernel, Layout};
use life::Size;

use super::{Candidate, Work};

/// Seconds per generation of all lattices, in rounds of this many generations, or in as long rounds
/// as one likes.
pub(super) fn seconds_per_generation(
    work: &Work,
    candidate: Candidate,
    generations_per_round: Option<u32>,
) -> f64 {
    if work.is_on_gpu() {
        let stepping = stepping_on_gpu(work, candidate);
        stepping + calls(work, candidate, generations_per_round)
    } else {
        on_cpu(work, candidate)
    }
}

/// Seconds that a candidate takes besides `stepping` seconds of its rounds: a graph is captured and
/// instantiated, anew for each length of rounds until that stays.
pub(super) fn seconds_of_preparing(candidate: Candidate, stepping: f64) -> f64 {
    const FIRST: f64 = 20e-3;
    const LATER: f64 = 0.005;
    if candidate.graphs {
        FIRST + LATER * stepping
    } else {
        0.0
    }
}

/// Seconds per generation for calls of the host, and for what a launch costs however little it steps.
fn calls(work: &Work, candidate: Candidate, generations_per_round: Option<u32>) -> f64 {
    /// A call of the driver.
    const CALL: f64 = 3.2e-6;
    /// What a launch costs more outside of a graph, on the device.
    const OUTSIDE_GRAPH: f64 = 1.5e-6;
    /// Loading a lattice into registers and storing it at the end, also where blocks wait for
    /// each other.
    const IN_KERNEL: f64 = 4e-6;
    const COOPERATIVE: f64 = 10e-6;
    let kernel = candidate.kernel;
    let shortest = match kernel.iteration {
        Iteration::Launches if kernel.layout == Layout::Planar => 1.4e-6,
        Iteration::Launches => 1.2e-6,
        Iteration::Steps(_) => 5e-6,
        Iteration::InKernel if kernel.cooperative => COOPERATIVE,
        Iteration::InKernel => IN_KERNEL,
    };
    let launch = if candidate.graphs {
        shortest
    } else {
        CALL.max(shortest + OUTSIDE_GRAPH)
    };
    let instances = work.instances_per_device();
    let per_launch = kernel.iteration.generations_per_launch();
    let generations = generations_per_round.unwrap_or(per_launch);
    let launches = candidate.launches(generations, instances) as f64 * work.bands as f64;
    // A picture is packed first, unless the cells are bits already.
    let packs = if work.pictures && kernel.layout != Layout::Bits {
        candidate.launches(1, instances) as f64 * work.bands as f64
    } else {
        0.0
    };
    (launches * launch + packs * CALL) / f64::from(generations)
}

/// Seconds per generation that the SMs of one device take, all of them stepping.
fn stepping_on_gpu(work: &Work, candidate: Candidate) -> f64 {
    let kernel = candidate.kernel;
    let sm_count = work.devices[0].sm_count;
    let sms = f64::from(sm_count);
    let bands = work.bands as f64;
    let instances = work.instances_per_device() as f64 * bands;
    // Lattices that are stepped at the same time, and how often that happens.
    let (at_once, times) = match candidate.streams {
        Streams::PerInstance | Streams::Batch => (instances, 1.0),
        Streams::One => (bands, instances / bands),
        Streams::Default => (1.0, instances),
    };
    let cells = work.size.cells() as f64;
    let has_whole_quads = work.size.width().is_multiple_of(128);
    let cells_per_sm = match (kernel.iteration, kernel.layout) {
        (Iteration::InKernel, _) if kernel.cooperative => {
            /// Cycles per second; fewer where a lane has four words of a row, as it has in wide
            /// lattices: the division's own estimate does not know what that costs.
            const CLOCK: f64 = 1.98e9;
            const CLOCK_IF_WIDE: f64 = 1.70e9;
            let is_wide = work.size.width() > 512;
            let clock = if is_wide { CLOCK_IF_WIDE } else { CLOCK };
            let division = Division::of(work.size, instances as u32, sm_count);
            return times * division.cycles(at_once as u32) as f64 / clock;
        }
        (Iteration::InKernel, Layout::I32) => {
            // One block per lattice, and one suffices for an SM.
            let rate = if kernel.is_in_place() { 4.7e9 } else { 2.8e9 };
            return times * (at_once / sms).max(1.0) * cells / rate;
        }
        (Iteration::InKernel, Layout::Bits | Layout::Planar) => {
            return times * one_warp_per_lattice(work.size, at_once, sms);
        }
        (Iteration::Launches, Layout::I32) => 1.9e9,
        (Iteration::Launches, Layout::Bits) => 7.5e10,
        (Iteration::Launches, Layout::Planar) => 9.3e10,
        // More generations per pass have longer halos, and wait less for memory.
        (Iteration::Steps(5..), _) if beyond_cache(work, kernel) > 1.0 => 3.9e11,
        (Iteration::Steps(5..), _) => 3.3e11,
        (Iteration::Steps(_), _) => 3.84e11,
    };
    // Lanes beyond the row's end step nothing, and words of other planes are shifted.
    let is_shifted = matches!(kernel.iteration, Iteration::Steps(_)) && !has_whole_quads;
    let cells_per_sm = if is_shifted { 0.75 } else { 1.0 } * cells_per_sm;
    // A launch that is too small for all SMs is about as short as the shortest one.
    let stepping = instances * cells / (cells_per_sm * sms);
    stepping.max(seconds_of_memory(work, kernel))
}

/// Seconds per generation that the memory of one device needs, where its cache is too small to have
/// much of the lattices.
fn seconds_of_memory(work: &Work, kernel: &Kernel) -> f64 {
    /// What kernels reach of a memory's bandwidth.
    const REACHED: f64 = 0.7;
    match work.devices[0].bandwidth {
        Some(bandwidth) if beyond_cache(work, kernel) > 2.0 => {
            let bytes = bytes_of_buffers(work, kernel);
            let passes = 1.0 / f64::from(kernel.iteration.generations_per_launch());
            passes * bytes / (REACHED * bandwidth as f64)
        }
        _ => 0.0,
    }
}

/// Bytes of the lattices of a device, read and written.
fn bytes_of_buffers(work: &Work, kernel: &Kernel) -> f64 {
    let lattices = work.instances_per_device() * work.bands;
    2.0 * (4 * kernel.layout.words(work.size) * lattices) as f64
}

/// How often the device's cache would have to be there to have them; 0 for an unknown cache.
fn beyond_cache(work: &Work, kernel: &Kernel) -> f64 {
    let cache = work.devices[0].cache;
    cache.map_or(0.0, |cache| bytes_of_buffers(work, kernel) / cache as f64)
}

/// Seconds per generation of lattices that have a warp each: a warp's own time, or that of a
/// scheduler which has several.
fn one_warp_per_lattice(size: Size, lattices: f64, sms: f64) -> f64 {
    const SCHEDULERS: f64 = 4.0; // of an SM
    // A warp has a square of whole words.
    let side = f64::from(size.width().max(size.height()).next_multiple_of(32));
    let thousands = side * side / 1024.0;
    let alone = 30e-9 + 7.6e-9 * thousands;
    let issued = 10e-9 + 7.8e-9 * thousands;
    alone.max((lattices / (SCHEDULERS * sms)).ceil() * issued)
}

/// Seconds per generation of the threads of a CPU.
fn on_cpu(work: &Work, candidate: Candidate) -> f64 {
    /// Cells of which both buffers fit a core's own cache.
    const MAX_CELLS_IN_CACHE: u64 = 1 << 23;
    let kernel = candidate.kernel;
    // Of a thread: cells per second, the least seconds of a row, and the seconds that a generation
    // takes besides. Planar words of several rows are stepped at once.
    let (full_rate, row, generation) = match (kernel.layout, kernel.iteration) {
        (Layout::I32, _) => (7e8, 5e-8, 0.0),
        (Layout::Bits, _) => (3e10, 2.5e-8, 0.0),
        (Layout::Planar, Iteration::Launches) => (9e10, 0.0, 4e-7),
        // A pass of several generations goes through the lattice in tiles; this one does not.
        (Layout::Planar, Iteration::InKernel) if work.size.cells() > MAX_CELLS_IN_CACHE => {
            (8e10, 0.0, 4e-7)
        }
        // There it is multistep, which the ladder has first.
        (Layout::Planar, Iteration::Steps(5..)) => (1.1e11, 0.0, 4e-7),
        (Layout::Planar, Iteration::Steps(_) | Iteration::InKernel) => (1.2e11, 0.0, 4e-7),
    };
    let devices = work.devices.iter();
    let threads: f64 = devices.map(|device| f64::from(device.sm_count)).sum();
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
