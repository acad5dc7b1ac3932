//! Back in time: to a copy from before, and from there forward again on the device.
//!
//! Copies are the checkpoints that are made once a second anyway, and one wherever cells were
//! changed by hand, before anything goes on from there. So what is stepped again is about what
//! was stepped in a second; where copies are sparser, no more than two seconds' work, and it
//! is said if that does not reach.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Pilot;
use super::reading::Reading;
use crate::history::{History, Way};
use crate::worlds::Worlds;
use engine::{Result, Slot};
use lang::tr;
use life::Lattice;

/// How long stepping again may take.
const PATIENCE_US: f64 = 2e6;

/// Of a core's time, no more than one part in so many is spent on copies.
const SHARE: u32 = 50;

/// A stroke that nothing was added to for so long rests.
const STROKE_RESTS: Duration = Duration::from_millis(300);

/// So many generations before where somebody went back to, a copy is made on the way: who goes
/// back once goes back again.
const NEAR: u64 = 64;

/// The past, and what is to be added to it.
pub(super) struct Past {
    history: History,
    /// A copy is wanted before anything steps on.
    wanted: bool,
    /// The copy under way is of before cells were changed.
    outdated: bool,
    copying: VecDeque<Copying>,
    /// A stroke is drawn: the copy waits until then, as long as it runs on or stands as it did.
    stroke: Option<(Instant, bool)>,
    /// And when this clock is reached.
    waypoint: Option<u64>,
    /// How long the last copy took, and when that was.
    copied: Option<(Duration, Instant)>,
    /// How long a generation of all lattices takes, in microseconds.
    generation_us: Option<f64>,
}

/// A copy on its way out of its slot.
struct Copying {
    clock: u64,
    generations: Arc<[u64]>,
    reading: Reading,
}

impl Past {
    /// Nothing yet; of lattices of so many bytes all together.
    pub(super) fn new(budget: u64, bytes: u64) -> Past {
        Past {
            history: History::new(budget, bytes),
            wanted: true,
            outdated: false,
            copying: VecDeque::new(),
            stroke: None,
            waypoint: None,
            copied: None,
            generation_us: None,
        }
    }

    /// A copy that was under way will not come.
    pub(super) fn lost_one(&mut self) {
        self.wanted = true;
        self.outdated = false;
        self.copying.clear();
    }

    /// Whether a copy is being read.
    pub(super) fn is_reading(&self) -> bool {
        !self.copying.is_empty()
    }

    /// Counts a round.
    pub(super) fn round(&mut self, generations: u32, took: Duration) {
        let us = took.as_secs_f64() * 1e6 / f64::from(generations.max(1));
        let before = self.generation_us.unwrap_or(us);
        self.generation_us = Some(before + 0.1 * (us - before));
    }

    /// How many generations may be stepped again.
    fn most(&self) -> u64 {
        let most = self.generation_us.map(|us| PATIENCE_US / us.max(1e-6));
        most.map_or(u64::from(u32::MAX), |most| {
            most.clamp(1.0, u32::MAX.into()) as u64
        })
    }

    /// Whether a copy is still to be made.
    #[cfg(test)]
    pub(super) fn is_wanted(&self) -> bool {
        self.wanted
    }

    /// Whether a copy must come before anything steps on from this clock.
    fn comes_first(&self, clock: u64) -> bool {
        self.history.holds_any() && (self.wanted || self.waypoint == Some(clock))
    }
}

impl Pilot {
    /// For whoever changes cells: what was remembered does not lead to what comes now, so a copy
    /// is made before the next round.
    pub(super) fn history_changed(&mut self, instances: Range<usize>) {
        let clock = self.worlds.as_ref().map_or(0, Worlds::clock);
        self.past.history.cut(clock);
        self.past.outdated = self.checkpoints.under_way;
        self.past.copying.clear();
        self.past.wanted = true;
        self.past.stroke = None;
        self.past.waypoint = None;
        self.watch.changed(instances);
    }

    /// A stroke goes on that has been copied: the next copy of all lattices is made where the
    /// stroke rests, not at each of its cells.
    pub(super) fn stroke_goes_on(&mut self, now: Instant) {
        self.past.stroke = Some((now + STROKE_RESTS, self.running));
    }

    /// Whether a copy that must come first waits for the end of a stroke.
    pub(super) fn waits_for_stroke(&self, now: Instant) -> bool {
        let same = |&(until, running): &(Instant, bool)| now < until && running == self.running;
        self.past.stroke.as_ref().is_some_and(same) && self.steps.is_empty()
    }

    /// Forgets the past: the lattices are others, or the engine is.
    pub(super) fn history_begins(&mut self) {
        self.past.history.clear();
        self.past.lost_one();
        self.past.waypoint = None;
    }

    /// Issues the copy that must come first, if there is one; whether the rounds have to wait for
    /// it to be issued.
    pub(super) fn copy_first(&mut self, now: Instant) -> Result<bool> {
        let Some(worlds) = &self.worlds else {
            return Ok(false);
        };
        let idle = !worlds.is_split() && !worlds.is_calibrating();
        if !idle || !self.past.comes_first(worlds.clock()) || self.waits_for_stroke(now) {
            return Ok(false);
        }
        let Some(worlds) = &mut self.worlds else {
            return Ok(false);
        };
        if self.checkpoints.under_way || !worlds.issue_checkpoint(self.checkpoints.next)? {
            return Ok(true); // the slots are in use
        }
        self.checkpoints.issued(now, self.progress());
        (self.past.wanted, self.past.waypoint) = (false, None);
        self.past.copied = None; // this one is needed, however long it takes
        Ok(false)
    }

    /// Begins to keep what a checkpoint brought.
    pub(super) fn remember(&mut self, slot: Slot, generations: Arc<[u64]>, clock: u64) {
        if std::mem::take(&mut self.past.outdated) {
            return; // another one is wanted, of now
        }
        let soon = |(took, at): (Duration, Instant)| at.elapsed() < took * SHARE;
        if self.lab.is_split()
            || !self.past.history.holds_any()
            || self.past.copied.is_some_and(soon)
        {
            return;
        }
        let Some(worlds) = &self.worlds else {
            return;
        };
        let (all, size) = (0..self.setup.instances, self.setup.size);
        self.past.copying.push_back(Copying {
            clock,
            generations,
            reading: Reading::begin(worlds.slots(), all, slot, size),
        });
    }

    /// Keeps what was read.
    pub(super) fn take_copied(&mut self) {
        let past = &mut self.past;
        let Some(read) = past.copying.front().and_then(|it| it.reading.ready()) else {
            return;
        };
        past.copied = Some((read.took, Instant::now()));
        match (past.copying.pop_front(), read.lattices) {
            (Some(copying), Ok(lattices)) => {
                let most = past.most();
                let history = &mut past.history;
                history.add(copying.clock, copying.generations, lattices, most);
            }
            _ => past.wanted = true, // the slot was filled again before
        }
    }

    /// Pauses, and goes so many generations back, or as far as that can be; nothing is under way.
    pub(super) fn go_back(&mut self, by: u64) -> Result<()> {
        self.running = false;
        self.run_to = None;
        self.setup.rounds = None;
        self.statistics.restart();
        if self.lab.is_split() {
            self.say(tr!("there is no way back while A and B are compared: B ends that").into());
            return Ok(());
        }
        let Some(worlds) = &mut self.worlds else {
            return Ok(());
        };
        if !self.past.history.holds_any() {
            let (each, mib) = (worlds.all_bits(), |bytes: u64| bytes.div_ceil(1 << 20));
            let why = tr!(
                "there is no way back: --history-memory of {} MiB would have to be {} for two copies of all lattices",
                mib(self.setup.time.history_bytes),
                mib(2 * each)
            );
            self.say(why);
            return Ok(());
        }
        let ahead: u64 = self.steps.iter().map(|&step| u64::from(step)).sum();
        let now = worlds.clock() + ahead;
        let wanted = now.saturating_sub(by);
        let most = self.past.most();
        let Some(Way { from, to }) = self.past.history.way_to(wanted, most) else {
            return self.go_to_the_start(now);
        };
        let lattices = from
            .lattices
            .iter()
            .zip(from.generations.iter())
            .enumerate();
        let lattices: Vec<(usize, Arc<Lattice>, u64)> = lattices
            .map(|(i, (lattice, &generation))| (i, lattice.clone(), generation))
            .collect();
        worlds.upload(lattices)?;
        worlds.set_clock(from.clock);
        self.watch.went_back();
        self.past.history.forget_after(to);
        self.past.wanted = false;
        let left = to - from.clock;
        self.steps.clear();
        self.past.waypoint = None;
        if left > 2 * NEAR {
            self.push_step((left - NEAR) as u32);
            self.past.waypoint = Some(to - NEAR);
        }
        match left {
            0 => {}
            left if left > 2 * NEAR => self.push_step(NEAR as u32),
            left => self.push_step(left as u32),
        }
        self.refresh = left == 0;
        self.checkpoints.stale = true;
        if now < by {
            self.tell(tr!("this is the start of what is remembered").into());
        } else if to < wanted {
            let generation = from.generations[self.selected] + left;
            self.tell(tr!(
                "generation {generation}: what lies between is gone, or too far to step again",
                generation = generation
            ));
        }
        Ok(())
    }

    /// There is nothing before: everything stays, or goes to the oldest that there is.
    fn go_to_the_start(&mut self, now: u64) -> Result<()> {
        let oldest = self.past.history.oldest();
        let oldest = oldest.map(|moment| (moment.clock, moment.generations[self.selected]));
        match oldest {
            Some((clock, _)) if clock < now && self.leads_to(clock) => {
                self.go_back(now - clock)?;
                self.tell(tr!("this is the start of what is remembered").into());
            }
            Some((_, generation)) => self.tell(tr!(
                "generation {generation} is the start of what is remembered",
                generation = generation
            )),
            None => self.tell(tr!("nothing is remembered yet").into()),
        }
        Ok(())
    }

    /// Whether there is a way back to this clock.
    fn leads_to(&self, clock: u64) -> bool {
        let way = self.past.history.way_to(clock, self.past.most());
        way.is_some()
    }

    /// The oldest generation of the selected instance that there is a way back to.
    pub(super) fn oldest_remembered(&self) -> Option<u64> {
        let oldest = self.past.history.oldest()?;
        oldest.generations.get(self.selected).copied()
    }

    /// Whether the thread has to look again soon for the sake of a copy.
    pub(super) fn copies_soon(&self) -> bool {
        let clock = self.worlds.as_ref().map_or(0, Worlds::clock);
        let soon = !self.lab.is_split() && !self.waits_for_stroke(Instant::now());
        soon && self.past.comes_first(clock)
    }
}
