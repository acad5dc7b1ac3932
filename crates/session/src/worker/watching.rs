//! What measures are looked at for: panels that are still or periodic, where to stop for them,
//! new soups for those that died down, and populations over time.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::SessionWorker;
use crate::instances::Measuring;
use crate::settling::Detector;
use crate::state::{Mode, Notice};
use engine::Measure;
use lang::tr;
use model::Settled;
use model::population::Populations;
use model::{Start, StopWhenStill};

/// How long a panel that died down is shown before it is filled anew.
const RESEED_DELAY: Duration = Duration::from_secs(3);

/// Everything of a session that looks at measures.
#[derive(Default)]
pub(super) struct Watch {
    /// Whether somebody looks at the populations.
    shown: bool,
    detectors: Vec<Detector>,
    /// How each instance goes on, and since when that is known.
    settled: Arc<[Option<Settled>]>,
    since: Vec<Option<Instant>>,
    /// Whether only dead panels are looked for: then how they go on is told to nobody.
    sparse: bool,
    /// Instances whose cells somebody drew or opened: they are never filled with a soup.
    drawn: BTreeSet<usize>,
    /// Whether it has stopped for what is settled now.
    stopped: bool,
    pub(super) populations: Arc<Mutex<Populations>>,
}

/// What a round's measures found of instances that follow one another.
pub(super) struct RoundMeasures {
    pub(super) first: usize,
    pub(super) generation: u64,
    pub(super) measures: Vec<Measure>,
}

impl Watch {
    /// How each instance goes on; none where nobody looks.
    pub(super) fn settled(&self) -> Arc<[Option<Settled>]> {
        match self.sparse {
            true => Arc::default(),
            false => self.settled.clone(),
        }
    }

    /// Whether all instances are known to be dead, still or periodic.
    #[cfg(test)]
    pub(super) fn are_all_settled(&self) -> bool {
        !self.settled.is_empty() && self.settled.iter().all(Option::is_some)
    }

    /// These are the instances whose cells somebody drew or opened.
    pub(super) fn set_drawn(&mut self, drawn: BTreeSet<usize>) {
        self.drawn = drawn;
    }

    fn with_populations(&self, work: impl FnOnce(&mut Populations)) {
        let populations = self.populations.lock();
        work(&mut populations.unwrap_or_else(|poisoned| poisoned.into_inner()));
    }

    /// Begins to look, or ends.
    fn begin(&mut self, instances: usize) {
        self.detectors = vec![Detector::default(); instances];
        self.settled = vec![None; instances].into();
        self.since = vec![None; instances];
        self.stopped = false;
        self.with_populations(|populations| populations.clear(instances));
    }

    /// These instances have other cells now.
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

    /// The same, where nothing is under way: their populations begin anew.
    pub(super) fn replaced(&mut self, instances: Range<usize>) {
        self.changed(instances.clone());
        self.with_populations(|populations| populations.begin_anew(instances));
    }
}

impl SessionWorker {
    /// Says whether somebody looks at the populations.
    pub(super) fn watch_populations(&mut self, shown: bool) {
        self.watch.shown = shown;
        self.settle_measuring(false);
    }

    /// The next answer to when rounds stop by themselves.
    pub(super) fn next_stop_when_still(&mut self) {
        let next = self.setup.time.stop_when_still.next();
        self.setup.time.stop_when_still = next;
        self.watch.stopped = false;
        self.settle_measuring(false);
        self.notify(Notice::Done(match next {
            StopWhenStill::Never => tr!("nothing stops when it is still").into(),
            StopWhenStill::Selected => {
                tr!("stops when the selected panel is still or periodic").into()
            }
            StopWhenStill::All => tr!("stops when all panels are still or periodic").into(),
        }));
    }

    /// Fills panels that died down, or leaves them alone.
    pub(super) fn toggle_reseed(&mut self) {
        self.setup.time.reseed ^= true;
        self.settle_measuring(false);
        self.notify(Notice::Done(match self.setup.time.reseed {
            true => tr!("panels that died down get a new soup").into(),
            false => tr!("panels that died down stay as they are").into(),
        }));
    }

    /// Measures where somebody wants it, and only there; `anew` if the engine is a new one.
    pub(super) fn settle_measuring(&mut self, anew: bool) {
        let settings = self.setup.time;
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
            let instances = if wanted { self.setup.instances } else { 0 };
            self.watch.begin(instances);
        }
        if let Some(instances) = &mut self.instances {
            instances.set_measuring(measuring);
        }
        self.changed = true;
    }

    /// Takes in what rounds' measures found.
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
                populations.note(i, generation, measure);
                let settled = watch.detectors[i].note(generation, measure, self.setup.rule);
                let since = watch.since[i].filter(|_| settled.is_some());
                watch.since[i] = settled.map(|_| since.unwrap_or(now));
            }
        }
        drop(populations);
        let settled = watch.detectors.iter().map(Detector::settled);
        if !settled.clone().eq(watch.settled.iter().copied()) {
            watch.settled = settled.collect();
            self.changed = true;
        }
        self.stop_when_still();
    }

    fn stop_when_still(&mut self) {
        let about = match self.setup.time.stop_when_still {
            StopWhenStill::Never => return,
            StopWhenStill::Selected => self.selected..self.selected + 1,
            StopWhenStill::All => 0..self.setup.instances,
        };
        let still = self.watch.settled[about.clone()]
            .iter()
            .all(Option::is_some);
        let running = matches!(self.state.mode, Mode::Running | Mode::RunningTo(_));
        if still && running && !self.watch.stopped {
            self.pause();
            self.notify(Notice::Done(match self.watch.settled[about.start] {
                Some(how) if about.len() == 1 => stopped_by(how),
                _ => tr!("Stopped: every panel is still or periodic").into(),
            }));
        }
        self.watch.stopped = still && (self.watch.stopped || self.state.mode == Mode::Paused);
    }

    /// Fills a panel that died down a while ago with a new soup, one at a time.
    pub(super) fn reseed_one(&mut self, now: Instant) {
        let settings = self.setup.time;
        // Not on the way to a generation: that is about the lattices that are there.
        let may = settings.reseed && self.state.mode == Mode::Running && self.pinned.is_none();
        // What waits for all panels to be still would wait for ever.
        let may = may && settings.stop_when_still != StopWhenStill::All;
        // Where records lie ahead, they say what happens.
        let may = may && self.state.requests.is_empty() && !self.state.has_records_ahead();
        // Patterns that were opened, every one of them, are left alone.
        let Start::Soup { density, seed } = self.setup.start else {
            return;
        };
        if !may || self.failed.is_some() {
            return;
        }
        let over = |since: &Option<Instant>| since.is_some_and(|at| now - at >= RESEED_DELAY);
        let is_over = |&i: &usize| over(&self.watch.since[i]) && !self.watch.drawn.contains(&i);
        if let Some(instance) = (0..self.watch.since.len()).find(is_over) {
            self.watch.since[instance] = None;
            // Another one for each record that there was.
            let seed = seed.wrapping_add(1 + self.state.log.end());
            self.request_reseed(instance, density, seed);
        }
    }

    /// Whether an instance may still be filled by the program.
    pub(super) fn may_reseed(&self, instance: usize) -> bool {
        !self.watch.drawn.contains(&instance)
            && self.pinned.is_none()
            && !self.state.has_records_ahead()
    }
}

/// Why a panel stopped the rounds, as a sentence.
fn stopped_by(how: Settled) -> String {
    match how {
        Settled::Dead => tr!("Stopped: this panel is dead").into(),
        Settled::Still => tr!("Stopped: this panel is still").into(),
        Settled::Period(every) | Settled::Repeats(every) => {
            tr!("Stopped: this panel repeats every {} generations", every)
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
            assert_eq!(stopped_by(how), said);
        }
    }
}
