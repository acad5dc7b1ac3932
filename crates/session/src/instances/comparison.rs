//! Two settings compared: A and B have half of the instances each, and take turns.

use super::Instances;
use crate::round::RoundPlan;
use engine::Result;
use model::Switches;

impl Instances {
    /// Compares two settings, of two instances or more: the first half of the instances (A) goes on as it is, the second (B)
    /// with these switches, and where their number is odd the last instance is not stepped. With
    /// `None`, all instances are stepped with A's switches again; those of B and the last are
    /// where they are then. The next round is A's. Waits until nothing runs. Answers whether the
    /// slots were made anew.
    pub fn compare(&mut self, second: Option<Switches>) -> Result<bool> {
        self.engine.synchronize()?;
        self.forget_prepared();
        self.forget_round();
        self.plans.truncate(1);
        let all = self.instances();
        let streams = self.plans[0].switches.streams;
        self.plans[0].streams = self.streams_of(streams)?;
        self.plans[0].instances = 0..all;
        if let Some(switches) = second {
            let each = all / 2;
            self.plans[0].instances = 0..each;
            let other = RoundPlan {
                instances: each..2 * each,
                ..self.plans[0].clone()
            };
            self.plans.push(other);
            let answer = self.set_switches(1, switches);
            if answer.is_err() {
                self.plans.truncate(1);
                self.plans[0].instances = 0..all;
                self.plans[0].streams = self.streams_of(streams)?;
                self.renew_devices();
                self.plan_pictures();
            }
            return answer;
        }
        self.renew_devices();
        self.settle_slots()
    }

    /// Whether two settings are compared.
    pub(crate) fn is_comparing(&self) -> bool {
        self.plans.len() > 1
    }

    /// Ends a round that was issued in part where it stands: what A has made of it is all that B
    /// makes.
    pub(crate) fn cut_round(&mut self) {
        if self.turn == 0 && self.parts > 0 {
            self.last_round = std::mem::take(&mut self.parts);
            self.part_began = None;
            self.turn = 1 % self.plans.len();
        }
    }

    /// The generations that B still has to make of the round that A has made, if there is one: it
    /// is the next round.
    pub(crate) fn pending_b_round(&self) -> Option<u32> {
        (self.turn > 0).then(|| self.last_round - self.parts)
    }
}
