//! What the engine has to tell: pictures, rounds, measures, copies.

use std::time::Instant;

use super::Pilot;
use super::watching::Found;
use crate::worlds::Event;
use engine::Result;

impl Pilot {
    /// Hears all of it, and does what follows.
    pub(super) fn poll(&mut self, now: Instant) -> Result<()> {
        let Some(worlds) = &mut self.worlds else {
            return Ok(());
        };
        let split = worlds.is_split();
        let mut news = false;
        let (mut checkpoint, mut fetched) = (None, None);
        let mut found = Vec::new();
        let (pictures, statistics) = (&self.pictures, &mut self.statistics);
        let (trace, lab) = (&self.trace, &mut self.lab);
        let (past, run_to) = (&mut self.past, &mut self.run_to);
        let (least, most) = match self.setup.switches.graphs {
            true => (self.setup.generations_per_round, 1), // a graph for each length
            false => (self.setup.generations_per_round, worlds.most_at_once()),
        };
        let polled = worlds.poll(|event| {
            // A checkpoint shows nothing new, but how far two halves differ.
            let shown = !matches!(event, Event::Checkpoint { .. } | Event::Fetched { .. });
            news |= split || shown;
            match event {
                Event::Pictures {
                    instances,
                    generations,
                    edits,
                    picture,
                    slot,
                } => pictures.note(instances, (&generations, &edits), picture, slot),
                Event::Round {
                    half,
                    generations,
                    timed,
                    launches,
                    took,
                } => {
                    past.round(generations, took);
                    if let Some(run_to) = run_to {
                        run_to.round(took, least, most);
                    }
                    if split {
                        statistics.half(half, took);
                    }
                    if !split || half == 1 {
                        statistics.round(now, generations, took);
                    }
                    if let Some(timed) = timed {
                        if let (true, Some((kernel, rate))) =
                            (timed.stamps.is_empty(), timed.stepping())
                        {
                            statistics.stepping(kernel, rate);
                        }
                        if let Some(length) = timed.median_launch() {
                            let us = length.as_us() / f64::from(launches.max(1));
                            lab.launch(us, timed.stamps.is_empty());
                            if timed.stamps.is_empty() {
                                statistics.launch(us);
                            }
                        }
                        lab.round(&timed);
                        // Where stamps are looked at, a round without them only says their cost.
                        if !lab.stamped() || !timed.stamps.is_empty() {
                            // Held for no longer than this: those who draw look at it too.
                            let trace = trace.lock();
                            trace
                                .unwrap_or_else(|poisoned| poisoned.into_inner())
                                .add(timed);
                        }
                    }
                }
                Event::Fetched { slot } => fetched = Some(slot),
                Event::Calibrated(alone) => lab.calibrated(alone),
                Event::Measured {
                    first,
                    generations,
                    measures,
                } => found.push(Found {
                    first,
                    generations,
                    measures,
                }),
                Event::Checkpoint {
                    slot,
                    generations,
                    clock,
                } => checkpoint = Some((slot, generations, clock)),
            }
        });
        if let Some(slot) = fetched {
            self.fetched(slot);
        }
        if let Some((slot, generations, clock)) = checkpoint {
            self.remember(slot, generations.clone(), clock);
            let checkpoint = (slot, generations);
            self.compare_halves(&checkpoint);
            self.checkpoints.latest = Some(checkpoint);
            self.progress_known = self.checkpoints.progress;
            self.last_known = None;
            self.checkpoints.under_way = false;
            self.tell_keepers();
        }
        self.take_fetched()?;
        self.take_copied();
        self.look_at(found, now);
        if news {
            self.changed = true;
            (self.wake)();
        }
        polled
    }
}
