//! Evaluates the lattices' measures: detects still and periodic panels, stops or refills them, and
//! records populations over time.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::SessionWorker;
use crate::command::Command;
use crate::notice::Notice;
use crate::settling::Detector;
use crate::state::Mode;
use engine::Measure;
use lang::{Message, message};
use model::population::Populations;
use model::{NOTICE_TIME, PanelStatus, Settled, Start, StopWhenStill};
use simulation::instances::Measuring;

/// How long a dead or periodic panel is shown before it is refilled.
const RESEED_DELAY: Duration = Duration::from_secs(3);

/// The part of a session that depends on measures.
#[derive(Default)]
pub(super) struct Watch {
    /// Whether populations are shown.
    shown: bool,
    detectors: Vec<Detector>,
    /// What each instance has settled into, and since when that is known.
    settled: Arc<[Option<Settled>]>,
    since: Vec<Option<Instant>>,
    /// Whether measures only serve to refill dead panels: then the status has no settled states.
    sparse: bool,
    /// Instances whose cells the user drew or opened: they are never refilled.
    drawn: BTreeSet<usize>,
    /// Whether the rounds were stopped for the present settled states.
    stopped: bool,
    /// The instances that were refilled lately, and when.
    reseeded: Vec<(usize, Instant)>,
    pub(super) populations: Arc<Mutex<Populations>>,
}

/// A round's measures of consecutive instances.
pub(super) struct RoundMeasures {
    pub(super) first: usize,
    pub(super) generation: u64,
    pub(super) measures: Vec<Measure>,
}

impl Watch {
    /// What is known of single panels, for the status.
    pub(super) fn status(&self, selected: usize) -> PanelStatus {
        PanelStatus {
            selected,
            settled: if self.sparse {
                Arc::default()
            } else {
                self.settled.clone()
            },
            reseeded: self
                .reseeded
                .iter()
                .map(|(instance, _)| *instance)
                .collect(),
        }
    }

    /// Whether all instances are known to be dead, still or periodic.
    #[cfg(test)]
    pub(super) fn are_all_settled(&self) -> bool {
        !self.settled.is_empty() && self.settled.iter().all(Option::is_some)
    }

    /// Sets the instances whose cells the user drew or opened.
    pub(super) fn set_drawn(&mut self, drawn: BTreeSet<usize>) {
        self.drawn = drawn;
    }

    /// Notes that an instance is refilled.
    pub(super) fn note_reseed(&mut self, instance: usize, now: Instant) {
        self.reseeded.retain(|(other, _)| *other != instance);
        self.reseeded.push((instance, now));
    }

    /// Forgets the instances that were refilled some time ago. Returns whether there were any.
    pub(super) fn forget_reseeds(&mut self, now: Instant) -> bool {
        let count = self.reseeded.len();
        self.reseeded.retain(|(_, at)| now - *at <= NOTICE_TIME);
        self.reseeded.len() < count
    }

    /// Begins again, after all lattices were replaced on the way to another position.
    pub(super) fn moved(&mut self, instances: usize) {
        self.reseeded.clear();
        self.replaced(0..instances);
    }

    fn with_populations(&self, work: impl FnOnce(&mut Populations)) {
        let populations = self.populations.lock();
        work(&mut populations.unwrap_or_else(|poisoned| poisoned.into_inner()));
    }

    /// Begins with no measures; with 0 instances, measures nothing.
    fn begin(&mut self, instances: usize) {
        self.detectors = vec![Detector::default(); instances];
        self.settled = vec![None; instances].into();
        self.since = vec![None; instances];
        self.stopped = false;
        self.reseeded.clear();
        self.with_populations(|populations| populations.clear(instances));
    }

    /// Forgets the measures of instances whose cells were changed.
    pub(super) fn changed(&mut self, instances: Range<usize>) {
        for i in instances {
            if let Some(detector) = self.detectors.get_mut(i) {
                detector.reset();
                self.since[i] = None;
            }
        }
        self.settled = self.detectors.iter().map(Detector::settled).collect();
        self.stopped = false;
    }

    /// The same for instances that were replaced: their populations begin again too. Nothing may be
    /// in flight.
    pub(super) fn replaced(&mut self, instances: Range<usize>) {
        self.changed(instances.clone());
        self.with_populations(|populations| populations.begin_anew(instances));
    }
}

impl SessionWorker {
    /// Sets whether populations are shown.
    pub(super) fn watch_populations(&mut self, shown: bool) {
        self.watch.shown = shown;
        self.update_measuring(false);
    }

    /// Switches to the next choice of when rounds stop automatically.
    pub(super) fn next_stop_when_still(&mut self) -> Notice {
        let next = self.lattices.setup().time.stop_when_still.next();
        self.lattices.time_settings_mut().stop_when_still = next;
        self.watch.stopped = false;
        self.update_measuring(false);
        Notice::Done(match next {
            StopWhenStill::Never => message!("Rounds do not stop automatically"),
            StopWhenStill::Selected => {
                message!("Rounds stop when the selected panel is still or periodic")
            }
            StopWhenStill::All => message!("Rounds stop when all panels are still or periodic"),
        })
    }

    /// Turns the refilling of dead panels on or off.
    pub(super) fn toggle_reseed(&mut self) -> Notice {
        self.lattices.time_settings_mut().reseed ^= true;
        self.update_measuring(false);
        Notice::Done(if self.lattices.setup().time.reseed {
            message!("Dead panels are reseeded")
        } else {
            message!("Dead panels are left as they are")
        })
    }

    /// Sets which rounds measure, as needed; `anew` if the engine was replaced.
    pub(super) fn update_measuring(&mut self, anew: bool) {
        let settings = self.lattices.setup().time;
        let stops = settings.stop_when_still != StopWhenStill::Never;
        let measuring = match (self.watch.shown || stops, settings.reseed) {
            (true, _) => Measuring::Always,
            (false, true) => Measuring::Sparse,
            (false, false) => Measuring::Never,
        };
        let wanted = measuring != Measuring::Never;
        self.watch.sparse = measuring == Measuring::Sparse;
        let measures = !self.watch.detectors.is_empty();
        if wanted != measures || anew {
            let instances = if wanted {
                self.lattices.setup().instances
            } else {
                0
            };
            self.watch.begin(instances);
        }
        if let Some(instances) = &mut self.lattices.instances {
            instances.set_measuring(measuring);
        }
        self.publisher.mark_changed();
    }

    /// Evaluates measures of completed rounds.
    pub(super) fn take_measures(&mut self, found: Vec<RoundMeasures>, now: Instant) {
        if found.is_empty() || self.watch.detectors.is_empty() {
            return;
        }
        let watch = &mut self.watch;
        let mut populations = watch
            .populations
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        for RoundMeasures {
            first,
            generation,
            measures,
        } in found
        {
            for (i, measure) in (first..).zip(measures) {
                populations.record(i, generation, measure);
                let settled =
                    watch.detectors[i].add(generation, measure, self.lattices.setup().rule);
                let since = watch.since[i].filter(|_| settled.is_some());
                watch.since[i] = settled.map(|_| since.unwrap_or(now));
            }
        }
        drop(populations);
        let settled = watch.detectors.iter().map(Detector::settled);
        if !settled.clone().eq(watch.settled.iter().copied()) {
            watch.settled = settled.collect();
            self.publisher.mark_changed();
        }
        self.stop_when_still();
    }

    fn stop_when_still(&mut self) {
        let about = match self.lattices.setup().time.stop_when_still {
            StopWhenStill::Never => return,
            StopWhenStill::Selected => self.selected..self.selected + 1,
            StopWhenStill::All => 0..self.lattices.setup().instances,
        };
        let still = self.watch.settled[about.clone()]
            .iter()
            .all(Option::is_some);
        let running = matches!(self.state.mode(), Mode::Running | Mode::RunningTo(_));
        if still && running && !self.watch.stopped {
            self.pause();
            self.notify(Notice::Done(match self.watch.settled[about.start] {
                Some(how) if about.len() == 1 => stopped_by(how),
                _ => message!("Stopped: every panel is still or periodic"),
            }));
        }
        self.watch.stopped = still && (self.watch.stopped || *self.state.mode() == Mode::Paused);
    }

    /// Requests a soup for one panel that has been dead or periodic for a while.
    pub(super) fn reseed_one(&mut self, now: Instant) {
        let settings = self.lattices.setup().time;
        // Not during a run to a generation: it is about the present lattices.
        let may =
            settings.reseed && *self.state.mode() == Mode::Running && self.comparison.is_none();
        // A session that stops when all panels are still would never stop.
        let may = may && settings.stop_when_still != StopWhenStill::All;
        // Records ahead say what happens.
        let may = may && self.state.queue.is_empty() && !self.state.has_records_ahead();
        // Opened patterns are never refilled.
        let Start::Soup { density, seed, .. } = self.lattices.setup().start else {
            return;
        };
        if !may || self.health.ended().is_some() {
            return;
        }
        let over = |since: &Option<Instant>| since.is_some_and(|at| now - at >= RESEED_DELAY);
        let is_over = |&i: &usize| over(&self.watch.since[i]) && !self.watch.drawn.contains(&i);
        if let Some(instance) = (0..self.watch.since.len()).find(is_over) {
            self.watch.since[instance] = None;
            // A different seed after each record.
            let seed = seed.wrapping_add(1 + self.state.log().end());
            self.state.enqueue(Command::Reseed {
                instance,
                density,
                seed,
            });
        }
    }
}

/// A sentence that says why a panel stopped the rounds.
fn stopped_by(how: Settled) -> Message {
    match how {
        Settled::Dead => message!("Stopped: this panel is dead"),
        Settled::Still => message!("Stopped: this panel is still"),
        Settled::Period(every) | Settled::Repeats(every) => {
            message!("Stopped: this panel repeats every {} generations", every)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn why_a_panel_stopped_the_rounds_is_a_sentence() {
        for (how, said) in [
            (Settled::Dead, "Stopped: this panel is dead"),
            (Settled::Still, "Stopped: this panel is still"),
            (
                Settled::Period(2),
                "Stopped: this panel repeats every 2 generations",
            ),
            (
                Settled::Repeats(30),
                "Stopped: this panel repeats every 30 generations",
            ),
        ] {
            assert_eq!(&*stopped_by(how), said);
        }
    }
}
