//! Takes the engine's events: pictures, rounds, measures, snapshots.

use super::SessionWorker;
use crate::Side;
use crate::instances::Event;
use engine::Result;

impl SessionWorker {
    /// Takes all completed events and handles them.
    pub(super) fn poll(&mut self) -> Result<()> {
        let now = self.now();
        if self.health.ended.is_some() {
            return Ok(()); // the session has ended
        }
        let has_graphs = self.lattices.setup.switches.graphs;
        // A graph is made for each length of a round.
        let max = if has_graphs {
            1
        } else {
            self.lattices.longest_round()
        };
        let trial = &mut self.lattices.trial;
        let Some(instances) = &mut self.lattices.sim else {
            return Ok(());
        };
        let mut news = false;
        let mut calibrated = false;
        let mut last_round = None;
        let mut landed = Vec::new();
        let mut found = Vec::new();
        let (publisher, lab) = (&self.publisher, &mut self.lab);
        let state = &mut self.state;
        let polled = instances.poll(|event| {
            news |= !matches!(event, Event::Snapshot { .. });
            match event {
                Event::Pictures {
                    instances,
                    generation,
                    edits,
                    picture,
                    slot,
                } => publisher
                    .pictures
                    .publish(instances, (generation, edits), picture, slot),
                Event::Round { round, timed, took } => {
                    let (generations, launches) = (round.generations, round.launches());
                    last_round = Some((generations, took));
                    state.timeline.copies.round(generations, took);
                    state.fit_chunk(took, max);
                    let half = trial.as_ref();
                    let half = half.and_then(|it| it.half_of(&round.share.lattices));
                    let is_before = trial.as_mut().is_some_and(|it| it.round(took, now));
                    if half != Some(Side::A) {
                        lab.statistics
                            .round(now, generations, (!is_before).then_some(took));
                    }
                    let Some(timed) = timed else {
                        return;
                    };
                    // A's stands above B's, as the one before a change above the one after it.
                    if is_before || half == Some(Side::A) {
                        publisher.lock_trace().add_before(timed);
                        return;
                    }
                    let plain = timed.block_timestamps.is_empty();
                    if let (true, Some((kernel, rate))) = (plain, timed.stepping()) {
                        lab.statistics.stepping(kernel, rate);
                    }
                    if let Some(length) = timed.median_launch() {
                        let us = length.as_us() / f64::from(launches.max(1));
                        lab.launch(us, plain);
                        if plain {
                            lab.statistics.launch(us);
                        }
                    }
                    // While blocks are shown, rounds without timestamps only measure their cost.
                    if !lab.block_timestamps || !plain {
                        publisher.lock_trace().add(timed);
                    }
                }
                Event::Calibrated(alone) => {
                    lab.isolated = Some(alone.into());
                    calibrated = true;
                }
                Event::Measured(measures) => found.push(measures),
                Event::Snapshot { index } => landed.push(usize::from(index)),
            }
        });
        if let Some((generations, took)) = last_round {
            self.fit_rounds(generations, took);
        }
        if calibrated {
            self.check_calibration();
        }
        for slot in landed {
            if let Some(sim) = &self.lattices.sim {
                self.snapshots.landed(slot, sim);
            }
        }
        let taken = self.take_read();
        self.take_measures(found, now);
        if news {
            self.publisher.is_changed = true;
            self.publisher.wake();
        }
        polled.and(taken)
    }
}
