//! Comparing two settings: A and B have the same number of instances each and alternate.

use super::Instances;
use crate::round::RoundPlan;
use engine::Result;
use model::{Side, Switches};

impl Instances {
    /// Begins a comparison: A's instances, the first ones, keep their switches, and B's, as many
    /// others, get `second`; if their number is odd, the last instance is not stepped. There must be
    /// at least two. `None` ends a comparison: all instances get A's switches, and B's keep their
    /// cells. The next round is A's, until [`Instances::begin_pair`] says otherwise. Waits until
    /// nothing runs. Returns whether the slots were allocated again.
    pub fn compare(&mut self, second: Option<Switches>) -> Result<bool> {
        self.set_alternative(None)?;
        self.engine.synchronize()?;
        self.forget_prepared();
        self.forget_round();
        self.plans.truncate(1);
        let all = self.instances();
        let streams = self.plans[0].switches.streams;
        self.plans[0].streams = self.streams_for(streams)?;
        self.plans[0].instances = 0..all;
        if let Some(switches) = second {
            let each = all / 2;
            self.plans[0].instances = 0..each;
            let other = RoundPlan {
                instances: each..2 * each,
                ..self.plans[0].clone()
            };
            self.plans.push(other);
            let answer = self.set_switches(Side::B, switches);
            if answer.is_err() {
                self.plans.truncate(1);
                self.plans[0].instances = 0..all;
                self.plans[0].streams = self.streams_for(streams)?;
                self.update_device_streams();
                self.plan_pictures();
            }
            return answer;
        }
        self.update_device_streams();
        self.reset_longest_round();
        self.update_slots()
    }

    /// Whether a comparison is under way.
    pub fn is_comparing(&self) -> bool {
        self.plans.len() > 1
    }

    /// Sets whose round comes first in the next pair of rounds. Changes nothing in the middle of a
    /// pair, or without a comparison.
    pub fn begin_pair(&mut self, first: Side) {
        if self.is_comparing() && !self.is_one_ahead() {
            (self.first, self.next_plan) = (first, first);
        }
    }

    /// Whether A or B has made generations that the other has not: the cells of both are of no one
    /// generation.
    pub fn is_one_ahead(&self) -> bool {
        self.is_comparing() && self.next_plan != self.first
    }

    /// The generations of the second round of a pair, if that is the next one.
    pub fn pending_second_round(&self) -> Option<u32> {
        (self.next_plan != self.first).then_some(self.last_a_generations)
    }

    /// Whose round is the next one, during a comparison.
    pub fn next_side(&self) -> Side {
        self.next_plan
    }

    /// Goes on to the other plan, during a comparison.
    pub(super) fn next_turn(&mut self) {
        if self.is_comparing() {
            self.next_plan = self.next_plan.other();
        }
    }
}
