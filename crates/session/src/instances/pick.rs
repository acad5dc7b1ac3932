//! `--kernel auto`: takes the fastest kernel from a table if the device was measured with similar
//! lattices; otherwise times the eligible kernels once, on the lattices themselves.

use std::time::{Duration, Instant};

mod table;

pub use table::{DevicePicks, PickTable, Workload};

use super::{Instances, MAX_IN_FLIGHT};
use engine::kernels::{self, KERNELS};
use engine::{EngineError, Kernel, Layout, Result};
use model::Switches;

/// A timed kernel.
#[derive(Clone, Copy, Debug)]
pub struct Timed {
    /// The kernel.
    pub kernel: &'static Kernel,
    /// Rounds per second of all instances, downloads included.
    pub rounds_per_second: f64,
}

/// Minimum time for which a kernel is timed.
const MIN_TIMING: Duration = Duration::from_millis(20);

/// Time that a first round may take for loading modules.
const MAX_LOADING: Duration = Duration::from_millis(500);

/// Maximum number of generations of a timed round, so that slow kernels end soon.
const MAX_TIMED_GENERATIONS: u32 = 64;

/// The most bytes that an `i32` a cell may take for such a kernel to be timed: beyond, bits are
/// faster on every device, and the memory is better left alone.
const MAX_CELL_BYTES: u64 = 64 << 20;

impl Instances {
    /// Times rounds of so many generations with every eligible kernel, pictures included if there
    /// are any; the fastest comes first, and is the kernel then. The lattices are stepped
    /// meanwhile: set them and the generation again.
    pub fn time_kernels(&mut self, generations: u32) -> Result<Vec<Timed>> {
        let generations = generations.min(MAX_TIMED_GENERATIONS);
        let (requested, before) = (self.plan().switches, self.plan().kernel);
        let candidates: Vec<&'static Kernel> = KERNELS
            .iter()
            .filter(|kernel| self.is_eligible(kernel))
            .collect();
        let mut timed: Vec<Timed> = Vec::new();
        // The upper rungs first: what is far slower than they are gets no second round.
        for kernel in candidates.into_iter().rev() {
            let best = timed
                .iter()
                .map(|one| one.rounds_per_second)
                .fold(0.0, f64::max);
            match self.time_kernel(kernel, requested, generations, best) {
                Ok(rounds_per_second) => timed.push(Timed {
                    kernel,
                    rounds_per_second,
                }),
                // One that cannot be here after all.
                Err(
                    error @ (EngineError::OutOfMemory { .. }
                    | EngineError::DriverOutOfMemory(_)
                    | EngineError::PartiallyApplied(_)
                    | EngineError::Driver { .. }),
                ) => {
                    tracing::warn!("kernel '{}' is not taken: {error}", kernel.name);
                    // Which lattices are in which layout is unknown, and so are their cells.
                    self.abandon()?;
                    self.enter_layout(self.plan().kernel.layout)?;
                }
                Err(error) => return Err(error),
            }
        }
        timed.sort_by(|a, b| b.rounds_per_second.total_cmp(&a.rounds_per_second));
        let best = timed.first().map_or(before, |best| best.kernel);
        self.change_kernel(best, requested)?;
        Ok(timed)
    }

    fn time_kernel(
        &mut self,
        kernel: &'static Kernel,
        requested: Switches,
        generations: u32,
        best: f64,
    ) -> Result<f64> {
        self.change_kernel(kernel, requested)?;
        self.time_rounds(generations, best)
    }

    /// Changes the kernel, with as much of these switches as it takes.
    fn change_kernel(&mut self, kernel: &'static Kernel, requested: Switches) -> Result<()> {
        self.set_kernel(kernel)?;
        for plan in &mut self.plans {
            plan.switches = requested.fitted_to(kernel);
        }
        Ok(())
    }

    /// The fastest kernel for rounds of so many generations that the table knows, of those that
    /// can be. It was measured with the switches as they are by themselves.
    pub(crate) fn known_kernel(
        &self,
        table: &PickTable,
        generations: u32,
    ) -> Option<&'static Kernel> {
        let switches = self.plan().switches;
        let (first, others) = self.engine().devices().split_first()?;
        let measured = Switches::DEFAULT.fitted_to(self.plan().kernel) == switches;
        if !measured || others.iter().any(|device| device.name != first.name) {
            return None;
        }
        let instances = self.instances().div_ceil(1 + others.len());
        let work = table.of(&first.name, self.size.cells(), instances, generations)?;
        let mut kernels = work.kernels.iter().filter_map(|name| kernels::find(name));
        kernels.find(|kernel| self.is_eligible(kernel))
    }

    /// Whether a kernel takes these lattices, these devices and these switches.
    fn is_eligible(&self, kernel: &Kernel) -> bool {
        let is_eligible = |kernel: &Kernel| {
            self.plan().switches.incompatibility(kernel).is_none() && self.validate(kernel).is_ok()
        };
        let cells = 4 * self.size.cells().saturating_mul(self.instances() as u64);
        let of_bits = |kernel: &Kernel| kernel.layout != Layout::I32;
        // Unless there is no other way.
        let too_much = cells > MAX_CELL_BYTES
            && !of_bits(kernel)
            && KERNELS
                .iter()
                .any(|other| of_bits(other) && is_eligible(other));
        !too_much && is_eligible(kernel)
    }

    /// Rounds a second, behind some that load what is needed and make the graphs. Where those say
    /// already that it is far from `best`, no others follow.
    fn time_rounds(&mut self, generations: u32, best: f64) -> Result<f64> {
        let began = Instant::now();
        self.rounds_of(1, generations)?;
        let first = began.elapsed().as_secs_f64();
        if first > MAX_LOADING.as_secs_f64() + 4.0 / best {
            return Ok(1.0 / first);
        }
        let mut rounds = 1;
        loop {
            let (began, made) = (Instant::now(), self.prepared.len());
            self.rounds_of(rounds, generations)?;
            let took = began.elapsed();
            if self.prepared.len() > made {
                continue; // capturing is no stepping
            }
            if took >= MIN_TIMING {
                return Ok(rounds as f64 / took.as_secs_f64());
            }
            let more = MIN_TIMING.as_secs_f64() / took.as_secs_f64().max(1e-6);
            rounds = (rounds as f64 * more.clamp(2.0, 100.0)).ceil() as u64;
        }
    }

    fn rounds_of(&mut self, rounds: u64, generations: u32) -> Result<()> {
        let mut issued = 0;
        while issued < rounds {
            if self.issue_round(generations, false, |_| false)? {
                issued += 1;
            }
            self.poll(|_| {})?;
            if self.depth() >= MAX_IN_FLIGHT {
                self.wait(Duration::from_millis(1));
            }
        }
        self.finish()
    }
}
