//! Comparing two settings, A and B: each runs on the same number of instances, from the same starts.
//!
//! Meanwhile the main log and its position are pinned. Changes are recorded on a scratch log, which
//! is dropped when the comparison ends.

use super::SessionWorker;
use crate::comparison::Comparison;
use crate::log::{Log, Position};
use crate::publisher::Notice;
use crate::timeline::Timeline;
use crate::trial::Subject;
use crate::{AbComparison, Order, Setting, Streams, Switch, Switches};
use engine::Result;
use lang::message;
use life::grouped;

impl SessionWorker {
    /// Begins or ends a comparison. Nothing may be in flight. To begin one, all lattices must be on
    /// the host.
    pub(super) fn toggle_comparison(&mut self) -> Result<Option<Notice>> {
        self.lab.changed();
        self.restart_trial();
        self.lab.statistics.restart();
        self.watch.replaced(0..self.lattices.setup.instances);
        if self.comparison.is_some() {
            Ok(self.end_comparison())
        } else if self.lattices.setup.instances < 2 {
            Ok(Some(Notice::Refused(message!(
                "A and B need two instances or more; start with --instances 2"
            ))))
        } else if let Some(own) = &self.lattices.setup.own_round
            && self.lattices.setup.switches.order == Order::Own
            && own.half().is_err()
        {
            let each = own.instances() / 2;
            Ok(Some(Notice::Refused(message!(
                "The round of your own is not right for {each} instances, as many as A and B have each"
            ))))
        } else {
            self.begin_comparison()
        }
    }

    fn begin_comparison(&mut self) -> Result<Option<Notice>> {
        if self.present_copy().is_none() {
            return Ok(None);
        }
        if self.lattices.is_kernel_due(false) {
            self.fit_kernel(false)?; // chosen settings are compared
        }
        let mut parameters = self.state.log().parameters(self.state.position().records);
        parameters.counterparts = Some(parameters.instances / 2);
        let (log, position) = (Log::new(parameters), self.state.position());
        let begin = log.base();
        self.split(self.other_setting(), log, begin)?;
        self.state.return_to(begin);
        self.log_changed();
        Ok(Some(Notice::Done(message!(
            "Key B returns to generation {from}; A and B alternate; {first} to {last} change B",
            from = grouped(position.generation),
            first = Switch::ALL[0].key(),
            last = Switch::ALL[Switch::ALL.len() - 1].key()
        ))))
    }

    /// Splits the instances into A and B, which gets these switches, at a position of a scratch log. A
    /// copy leads to the position on the main log.
    pub(super) fn split(
        &mut self,
        b_switches: Switches,
        log: Log,
        position: Position,
    ) -> Result<()> {
        let each = log.base_parameters().instances / 2;
        let b = self.lattices.setting().with_switches(b_switches);
        let trial = self.new_trial(Subject::Halves(each), b);
        let shares = self.lattices.shares(&self.lattices.setting(), Some(&trial));
        self.enter(&shares)?;
        let left = self.state.timeline.copies.bytes();
        let budget = self.lattices.setup.time.history_bytes.saturating_sub(left);
        let scratch = Timeline {
            here: position,
            ..Timeline::new(log, budget)
        };
        self.forget_slots();
        self.comparison = Some(Comparison {
            timeline: self.state.exchange(scratch),
            each,
            differing: None,
        });
        self.forget_effect();
        self.lattices.trial = Some(trial);
        Ok(())
    }

    fn end_comparison(&mut self) -> Option<Notice> {
        let comparison = self.comparison.take()?;
        self.lattices.trial = None;
        self.forget_slots();
        let main = comparison.timeline.here;
        self.state.exchange(comparison.timeline);
        self.state.return_to(main);
        self.log_changed();
        Some(Notice::Done(message!(
            "The comparison has ended; every lattice is as it was before"
        )))
    }

    /// B's first setting: the one before the last switch, or another way of sharing streams; for a round
    /// of the user's own, another order.
    fn other_setting(&self) -> Switches {
        let (setup, context) = (&self.lattices.setup, self.lattices.context());
        let (now, kernel) = (setup.switches, setup.kernel);
        let has_half = setup.own_round.as_ref().is_some_and(|it| it.half().is_ok());
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
        let comparison = self.comparison.as_ref()?;
        let trial = self.lattices.trial.as_ref()?;
        let settings = [self.lattices.setting(), trial.other.clone()];
        let switches = settings.each_ref().map(|it: &Setting| it.switches);
        let measured = || (trial.round_us(), trial.finding(), trial.source());
        let recorded = self.compare_recorded(settings);
        let (round_us, finding, source) = recorded.unwrap_or_else(measured);
        Some(AbComparison {
            switches,
            round_us,
            finding,
            source,
            differing: comparison.differing,
            each: comparison.each,
        })
    }
}
