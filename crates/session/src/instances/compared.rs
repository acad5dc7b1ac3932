//! Two settings whose rounds are compared: A's and B's, which have the same number of instances each
//! and alternate, or the instances' own and an alternative, whose rounds step the same lattices and
//! are issued in any order, one at a time.

use super::Instances;
use super::issue::{Kind, longest_round};
use crate::round::RoundPlan;
use crate::{Side, Switches};
use engine::{Kernel, Result};

impl Instances {
    /// Begins a comparison: A's instances, the first ones, keep their switches, and B's, as many
    /// others, get `second`; if their number is odd, the last instance is not stepped. There must be
    /// at least two. `None` ends a comparison: all instances get A's switches, and B's keep their
    /// cells. The next round is A's, until [`Instances::begin_pair`] says otherwise. Waits until
    /// nothing runs.
    pub fn compare(&mut self, second: Option<Switches>) -> Result<()> {
        self.set_alternative(None)?;
        self.engine.synchronize()?;
        self.forget_prepared();
        self.forget_round();
        self.unite()?;
        let Some(switches) = second else {
            self.reset_longest_round();
            self.plan_own_round()?;
            return self.update_slots();
        };
        let each = self.instances() / 2;
        self.plans[0].instances = 0..each;
        let other = RoundPlan {
            instances: each..2 * each,
            ..self.plans[0].clone()
        };
        self.plans.push(other);
        let answer = self.set_switches(Side::B, switches);
        if answer.is_err() {
            self.unite()?;
            self.plan_own_round()?;
            self.plan_pictures();
        }
        answer
    }

    /// Has all instances stepped by the own plan, in its streams.
    fn unite(&mut self) -> Result<()> {
        self.plans.truncate(1);
        let streams = self.streams_for(self.own_plan().switches.streams)?;
        self.plans[0].streams = streams;
        self.plans[0].instances = 0..self.count;
        self.update_device_streams();
        Ok(())
    }

    /// Whether a comparison of A and B is under way.
    pub fn is_comparing(&self) -> bool {
        self.plans.len() > 1 && self.plans[1].instances != self.plans[0].instances
    }

    /// Whose rounds have to be made for every instance to have made one.
    pub(super) fn sides_in_turn(&self) -> impl Iterator<Item = Side> + use<> {
        let (is_comparing, in_use) = (self.is_comparing(), self.in_use);
        let sides = Side::ALL.into_iter();
        sides.filter(move |&side| is_comparing || side == in_use)
    }

    /// Sets whose round comes first in the next pair of rounds. Changes nothing in the middle of a
    /// pair, or without a comparison.
    pub fn begin_pair(&mut self, first: Side) {
        if self.is_comparing() && self.behind.is_none() {
            self.in_use = first;
        }
    }

    /// Whether A or B has made generations that the other has not: the cells of both are of no one
    /// generation.
    pub fn is_one_ahead(&self) -> bool {
        self.behind.is_some()
    }

    /// The generations of the second round of a pair, if that is the next one.
    pub fn pending_second_round(&self) -> Option<u32> {
        self.behind.map(|(_, generations)| generations)
    }

    /// Whose round is the next one, during a comparison.
    pub fn next_side(&self) -> Side {
        self.in_use
    }

    /// Adds an alternative to the present kernel and switches, or takes it away (`None`); then the
    /// instances' own plan is in use again. Nothing may be in flight. Not for use during a comparison.
    ///
    /// # Errors
    /// There is no memory for what the alternative needs, or the kernel does not accept the lattices.
    /// There is no alternative then.
    pub fn set_alternative(&mut self, setting: Option<(&'static Kernel, Switches)>) -> Result<()> {
        if !self.has_alternative() && setting.is_none() {
            return Ok(());
        }
        self.use_alternative(false)?;
        self.forget_prepared();
        self.plans.truncate(1);
        if let Some((kernel, switches)) = setting {
            self.validate(kernel)?;
            let plan = RoundPlan {
                kernel,
                switches,
                streams: self.streams_for(switches.streams)?,
                ..self.own_plan().clone()
            };
            self.plans.push(plan);
            self.plan_own_round()?;
            self.update_device_streams();
            self.longest[1] = longest_round(kernel, self.size, self.count);
        }
        self.update_slots().inspect_err(|_| {
            self.plans.truncate(1);
            self.plan_pictures();
        })
    }

    /// Whether there is an alternative.
    pub fn has_alternative(&self) -> bool {
        self.plans.len() > 1 && !self.is_comparing()
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
        let other = self.plans.get(1);
        other.is_some_and(|it| self.needs_slots_of_its_own(it.kernel, it.switches))
    }

    /// Puts the alternative or the instances' own plan in use; the lattices keep their cells.
    /// Nothing may be in flight: work in the streams of both is not ordered.
    ///
    /// # Errors
    /// The layout of the other plan's kernel has no room on the device; the plan in use stays.
    pub fn use_alternative(&mut self, in_use: bool) -> Result<()> {
        let side = if in_use { Side::B } else { Side::A };
        if !self.has_alternative() || self.in_use == side {
            return Ok(());
        }
        let after = self.plans[side as usize].kernel.layout;
        if self.plan().kernel.layout != after {
            // Prepared rounds have the addresses of the memory that is replaced.
            self.forget_prepared();
            self.convert_layout(after)?;
        }
        self.in_use = side;
        self.align_buffers()
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
