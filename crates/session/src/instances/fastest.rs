//! Enters the fastest plan by the estimate, and the next one where that cannot be.

use std::time::Duration;

use super::{Sim, starts};
use crate::fastest::{FastestPlan, Requested, RoundLength, Work};
use crate::round::Setting;
use crate::{PicturePlan, Setup};
use engine::{EngineError, Result};
use lang::message;

impl Sim {
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
            generations,
        }
    }

    /// The plans that respect what was requested, the fastest by the estimate first, for as many
    /// generations as one likes.
    pub fn plans(&self, requested: &Requested) -> Vec<FastestPlan> {
        FastestPlan::all(&self.work(None), requested)
    }

    /// The lengths of rounds of a setting that should take `target` each, from the present number of
    /// generations on.
    pub fn round_length(
        &self,
        setting: &Setting,
        target: Duration,
        generations: u32,
    ) -> RoundLength {
        let launches = setting.max_launches(self.work(None).instances_per_device());
        RoundLength::adapting(setting.kernel, launches, target, generations)
    }

    /// Enters the fastest plan that respects what was requested, with `generations` to do if that
    /// is known; then sets every lattice to the setup's start. Rounds will download this picture. The setup
    /// says afterwards what was entered.
    ///
    /// # Errors
    /// The engine cannot enter any such plan, or memory is lacking for the start.
    pub fn start_fastest(
        &mut self,
        setup: &mut Setup,
        requested: &Requested,
        generations: Option<u64>,
        picture: Option<PicturePlan>,
    ) -> Result<FastestPlan> {
        let plans = FastestPlan::all(&self.work(generations), requested);
        let none = message!("no kernel fits these lattices and options");
        let mut result = Err(EngineError::InvalidProgram(none));
        for plan in plans {
            let share = self.all(&plan.setting, picture);
            let entered = self
                .ensure_at_rest(std::slice::from_ref(&share))
                .and_then(|()| self.enter(&share));
            result = entered.map(|()| plan);
            match &result {
                Err(error) if is_of_this_plan(error) => {
                    let name = share.setting.kernel.name;
                    tracing::warn!("kernel '{name}' is not taken: {}", lang::english(error));
                    // Which lattices are in which layout is unknown, and so are their cells.
                    self.abandon()?;
                }
                Ok(_) | Err(_) => break,
            }
        }
        let plan = result?;
        setup.kernel = plan.setting.kernel;
        setup.switches = plan.setting.switches;
        setup.kernel_choice = plan.kernel_choice;
        self.set_lattices(starts(setup, 0..setup.instances)?)?;
        self.set_generation(setup.start.generation());
        Ok(plan)
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
