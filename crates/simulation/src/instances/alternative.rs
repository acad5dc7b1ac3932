//! Another setting for all instances beside the plan's: rounds of either step the same lattices, and
//! are issued in any order, one at a time, so that their times can be compared.

use super::Instances;
use super::issue::{Kind, longest_round};
use crate::round::RoundPlan;
use engine::{Kernel, Result};
use model::Switches;

/// The setting that is not in use: while the alternative is, it is kept here in its place.
pub(super) struct Alternative {
    pub(super) plan: RoundPlan,
    /// Whether the alternative is in use, and `plan` is the instances' own.
    pub(super) in_use: bool,
}

impl Instances {
    /// Adds an alternative to the present kernel and switches, or takes it away (`None`); then the
    /// instances' own plan is in use again. Nothing may be in flight. Returns whether the slots were
    /// allocated again. Not for use during a comparison.
    ///
    /// # Errors
    /// There is no memory for what the alternative needs, or the kernel does not accept the lattices.
    /// There is no alternative then.
    pub fn set_alternative(
        &mut self,
        setting: Option<(&'static Kernel, Switches)>,
    ) -> Result<bool> {
        if self.alternative.is_none() && setting.is_none() {
            return Ok(false);
        }
        self.use_alternative(false)?;
        self.forget_prepared();
        self.alternative = None;
        if let Some((kernel, switches)) = setting {
            self.validate(kernel)?;
            let mut plan = RoundPlan {
                kernel,
                switches,
                streams: self.streams_for(switches.streams)?,
                ..self.plan().clone()
            };
            self.set_device_streams(&mut plan);
            self.longest[1] = longest_round(kernel, self.size, self.count);
            self.alternative = Some(Alternative {
                plan,
                in_use: false,
            });
        }
        self.update_slots().inspect_err(|_| {
            self.alternative = None;
            self.plan_pictures();
        })
    }

    /// Whether there is an alternative.
    pub fn has_alternative(&self) -> bool {
        self.alternative.is_some()
    }

    /// Whether an alternative needs other slots than the instances' own plan: then slots are
    /// allocated again as it comes and goes.
    pub fn needs_slots_of_its_own(&self, kernel: &Kernel, switches: Switches) -> bool {
        let own = self.own_plan();
        own.switches.host_memory != switches.host_memory
            || own.switches.transfer != switches.transfer
            || own.kernel.layout != kernel.layout
    }

    /// Whether the alternative, if there is one, has slots of its own.
    pub fn alternative_has_slots(&self) -> bool {
        self.alternative.as_ref().is_some_and(|alternative| {
            let other = if alternative.in_use {
                self.plan()
            } else {
                &alternative.plan
            };
            self.needs_slots_of_its_own(other.kernel, other.switches)
        })
    }

    /// Puts the alternative or the instances' own plan in use; the lattices keep their cells.
    /// Nothing may be in flight: work in the streams of both is not ordered.
    ///
    /// # Errors
    /// The layout of the other plan's kernel has no room on the device; the plan in use stays.
    pub fn use_alternative(&mut self, in_use: bool) -> Result<()> {
        let Some(alternative) = &self.alternative else {
            return Ok(());
        };
        if alternative.in_use == in_use {
            return Ok(());
        }
        let (before, after) = (self.plan().kernel.layout, alternative.plan.kernel.layout);
        if before != after {
            // Prepared rounds have the addresses of the memory that is replaced.
            self.forget_prepared();
            self.convert_layout(after)?;
        }
        if let Some(alternative) = &mut self.alternative {
            std::mem::swap(&mut alternative.plan, &mut self.plans[0]);
            alternative.in_use = in_use;
        }
        self.align_buffers()
    }

    /// The instances' own plan, whether it is in use or not.
    pub fn own_plan(&self) -> &RoundPlan {
        match &self.alternative {
            Some(alternative) if alternative.in_use => &alternative.plan,
            _ => self.plan(),
        }
    }

    /// All plans, in use or not.
    pub(super) fn plans_and_alternative(&mut self) -> impl Iterator<Item = &mut RoundPlan> {
        let other = self.alternative.iter_mut().map(|other| &mut other.plan);
        self.plans.iter_mut().chain(other)
    }

    /// Converts every lattice from the layout of the plan in use into another, whose memory takes
    /// the place of the other's.
    ///
    /// # Errors
    /// There is no room for it. The lattices stay as they were, unless the error says otherwise.
    pub(super) fn convert_layout(&mut self, layout: engine::Layout) -> Result<()> {
        let before = self.plan().kernel.layout;
        let pack = self.plan().pack_all();
        self.submit(&pack, Kind::Other, None)?;
        // The bits are complete before the memory of the other layout is freed.
        if let Err(error) = self.change_layout(layout) {
            if !error.loses_lattices() {
                self.change_layout(before)?; // the lattices stay as they were
            }
            return Err(error);
        }
        Ok(())
    }
}
