//! Comparing two settings: A and B have half of the instances each and alternate.

use super::Instances;
use crate::round::RoundPlan;
use engine::Result;
use model::Switches;

impl Instances {
    /// Begins a comparison: the first half of the instances (A) keeps its switches, the second (B)
    /// gets `second`; if their number is odd, the last instance is not stepped. There must be at
    /// least two. `None` ends a comparison: all instances get A's switches, and B's keep their
    /// cells. The next round is A's. Waits until nothing runs. Returns whether the slots were
    /// allocated again.
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

    /// Whether a comparison is under way.
    pub(crate) fn is_comparing(&self) -> bool {
        self.plans.len() > 1
    }

    /// Whether A has made generations that B has not: the cells of both are of no one generation.
    pub(crate) fn is_a_ahead(&self) -> bool {
        self.is_comparing() && (self.turn > 0 || self.parts > 0)
    }

    /// Ends a round of A that was issued in part: B makes only those generations too.
    pub(crate) fn cut_round(&mut self) {
        if self.turn == 0 && self.parts > 0 {
            self.last_round = std::mem::take(&mut self.parts);
            self.part_began = None;
            self.turn = 1 % self.plans.len();
        }
    }

    /// The generations left of B's round, if that is the next one.
    pub(crate) fn pending_b_round(&self) -> Option<u32> {
        (self.turn > 0).then(|| self.last_round - self.parts)
    }
}
