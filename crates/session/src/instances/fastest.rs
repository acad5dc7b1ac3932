//! Enters the fastest plan by the estimate, and the next one where that cannot be.

use std::time::Duration;

use super::{Instances, starts};
use crate::fastest::{Candidate, FastestPlan, Requested, RoundLength, Work};
use crate::round::RoundPlan;
use crate::{Setup, Side, Switches};
use engine::{EngineError, Kernel, Result};
use lang::message;

impl Instances {
    /// What decides which plan is the fastest, with this many `generations` to do if that is known.
    fn work(&self, generations: Option<u64>) -> Work<'_> {
        let devices = self.engine().devices();
        // Each device has bands of every lattice.
        let cut = self.engine.cut();
        let largest = self.engine.stepped_sizes(self.size).first().copied();
        Work {
            devices,
            size: largest.unwrap_or(self.size),
            instances: self.instances() * cut.map_or(1, |_| devices.len()),
            bands: cut.map_or(1, |cut| cut.per_device as usize),
            pictures: self.request.is_some(),
            generations,
        }
    }

    /// The plans that respect what was requested, the fastest by the estimate first, for as many
    /// generations as one likes.
    pub fn plans(&self, requested: &Requested) -> Vec<FastestPlan> {
        FastestPlan::all(&self.work(None), requested)
    }

    /// The lengths of rounds by the present plan that should take `target` each, from the present
    /// number of generations on.
    pub fn round_length(&self, target: Duration, generations: u32) -> RoundLength {
        let RoundPlan {
            kernel, switches, ..
        } = *self.plan();
        let candidate = Candidate {
            kernel,
            streams: switches.streams,
            graphs: switches.graphs,
        };
        let launches = candidate.max_launches(self.work(None).instances_per_device());
        RoundLength::adapting(kernel, launches, target, generations)
    }

    /// Enters the fastest plan that respects what was requested, with `generations` to do if that
    /// is known; then sets every lattice to the setup's start. The setup says afterwards what was
    /// entered.
    ///
    /// # Errors
    /// The engine cannot enter any such plan, or memory is lacking for the start.
    pub fn start_fastest(
        &mut self,
        setup: &mut Setup,
        requested: &Requested,
        generations: Option<u64>,
    ) -> Result<FastestPlan> {
        let plans = FastestPlan::all(&self.work(generations), requested);
        let mut result = Err(no_kernel());
        for plan in plans {
            let entered = self.enter(plan.candidate.kernel, plan.switches);
            result = entered.map(|()| plan);
            match &result {
                Err(error) if is_of_this_plan(error) => {
                    let name = plan.candidate.kernel.name;
                    tracing::warn!("kernel '{name}' is not taken: {}", lang::english(error));
                    // Which lattices are in which layout is unknown, and so are their cells.
                    self.abandon()?;
                    self.enter_layout(self.plan().kernel.layout)?;
                }
                Ok(_) | Err(_) => break,
            }
        }
        let plan = result?;
        setup.kernel = self.plan().kernel;
        setup.switches = self.plan().switches;
        setup.kernel_choice = plan.kernel_choice();
        self.set_lattices(starts(setup, 0..setup.instances)?)?;
        self.set_generation(setup.start.generation());
        Ok(plan)
    }

    /// Changes the kernel and how its launches are submitted; every lattice keeps its cells.
    ///
    /// # Errors
    /// The engine cannot enter them.
    pub fn enter(&mut self, kernel: &'static Kernel, switches: Switches) -> Result<()> {
        // A batch in two buffers wants its lattices aligned, by the kernel that is to step them.
        self.set_kernel(kernel)?;
        if self.own_plan().switches != switches {
            self.set_switches(Side::A, switches)?;
        }
        Ok(())
    }
}

/// Whether another plan may do better.
fn is_of_this_plan(error: &EngineError) -> bool {
    matches!(
        error,
        EngineError::OutOfMemory { .. }
            | EngineError::DriverOutOfMemory(_)
            | EngineError::PartiallyApplied(_)
            | EngineError::Driver(_)
    )
}

fn no_kernel() -> EngineError {
    EngineError::InvalidProgram(message!("no kernel fits these lattices and options"))
}
