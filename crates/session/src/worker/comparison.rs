//! Comparing two settings, A and B, each on half of the instances.
//!
//! A record of the log begins it: B's lattices take the cells of A's. Whether it is on follows from the position,
//! also after an undo, a jump, a recovery or in a session from a file; only B's switches are remembered.

use super::SessionWorker;
use crate::command::Notice;
use crate::copies::Snapshot;
use crate::trial::{Subject, Trial};
use crate::{AbComparison, NewCells, Order, Setting, Streams, Switch, Switches};
use engine::Result;
use lang::message;
use life::grouped;

impl SessionWorker {
    /// Begins or ends a comparison. Nothing may be in flight.
    pub(super) fn toggle_comparison(&mut self) -> Result<Option<Notice>> {
        let setup = &self.lattices.setup;
        if self.lattices.is_comparing() {
            self.state.end_comparison();
            return Ok(None);
        }
        if setup.instances < 2 {
            return Ok(Some(Notice::Refused(message!(
                "A and B need two instances or more; start with --instances 2"
            ))));
        }
        if let Some(own) = &setup.own_round
            && setup.switches.order == Order::Own
            && own.half.is_err()
        {
            let each = own.instances / 2;
            return Ok(Some(Notice::Refused(message!(
                "The round of your own is not right for {each} instances, as many as A and B have each"
            ))));
        }
        if self.lattices.is_kernel_due(false) {
            self.fit_kernel(false)?; // chosen settings are compared
        }
        self.lab.b_switches = Some(self.other_switches());
        Ok(self.state.begin_comparison())
    }

    /// Gives B's lattices the cells of A's. All lattices are on the host.
    pub(super) fn apply_comparison(&mut self) -> Result<()> {
        let lattices = self.present_copy().map(Snapshot::lattices).transpose()?;
        let trial = self.trial_of_halves(self.b_setting());
        let shares = self.lattices.shares(&self.lattices.setting(), Some(&trial));
        self.enter(&shares)?;
        if let (Some(lattices), Some(sim)) = (lattices, &mut self.lattices.sim) {
            let [a, b] = [0, 1].map(|side| shares[side].lattices.clone());
            let cells = lattices[a].iter().cloned().map(NewCells::from);
            sim.set_lattices(b.zip(cells).collect())?;
        }
        if self.state.moving().is_none() {
            self.notify(Notice::Done(message!(
                "Key B returns to generation {from}; A and B alternate; {first} to {last} change B",
                from = grouped(self.state.position().generation),
                first = Switch::ALL[0].key(),
                last = Switch::ALL[Switch::ALL.len() - 1].key()
            )));
        }
        Ok(())
    }

    /// Begins to step A and B apart, or ends that, as the log says.
    pub(super) fn follow_comparison(&mut self, compares: bool) {
        if compares == self.lattices.is_comparing() {
            return;
        }
        self.forget_effect();
        self.lab.changed();
        self.lab.statistics.restart();
        if compares {
            self.lab.differing = None;
            self.lattices.trial = Some(self.trial_of_halves(self.b_setting()));
        } else {
            self.lab.b_switches = Some(self.lattices.changed_setting().switches);
            self.lattices.trial = None;
        }
    }

    /// A trial of the present setting, A's, and this one, B's.
    pub(super) fn trial_of_halves(&mut self, b: Setting) -> Trial {
        self.new_trial(Subject::Halves(self.lattices.setup.instances / 2), b)
    }

    /// B's setting when a comparison begins.
    fn b_setting(&self) -> Setting {
        let now = self.lattices.setting();
        let b_switches = self.lab.b_switches.unwrap_or_else(|| self.other_switches());
        now.with_switches(b_switches).with_kernel(now.kernel)
    }

    /// B's first switches: those before the last change, or another way of sharing streams; for a round of
    /// the user's own, another order.
    fn other_switches(&self) -> Switches {
        let (setup, context) = (&self.lattices.setup, self.lattices.context());
        let (now, kernel) = (setup.switches, setup.kernel);
        let has_half = setup.own_round.as_ref().is_some_and(|it| it.half.is_ok());
        let fits = |other: &Switches| {
            *other != now
                && context.incompatibility(other).is_none()
                && (other.order != Order::Own || has_half)
        };
        let other = match (now.order, now.streams) {
            (Order::Own, _) => Switches {
                order: Order::Breadth,
                ..now
            },
            (_, Streams::PerInstance) => Switches {
                streams: Streams::One,
                ..now
            },
            _ => Switches {
                streams: Streams::PerInstance,
                ..now
            },
        };
        let previous = self.lab.previous.map(|before| before.fitted_to(kernel));
        previous.filter(fits).unwrap_or(other)
    }

    /// The comparison, for the status.
    pub(super) fn comparison(&self) -> Option<AbComparison> {
        let trial = self.lattices.trial.as_ref()?;
        let each = trial.each()?;
        let settings = [self.lattices.setting(), trial.other.clone()];
        let switches = settings.each_ref().map(|it: &Setting| it.switches);
        let recorded = self.compare_recorded(settings);
        let (round_us, finding, source) = recorded.unwrap_or_else(|| trial.measured());
        Some(AbComparison {
            switches,
            round_us,
            finding,
            source,
            differing: self.lab.differing,
            each,
        })
    }
}
