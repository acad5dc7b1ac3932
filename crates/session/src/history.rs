//! The past, as far as a budget of memory holds it: copies of all lattices, from which any
//! generation between is made again by stepping forward.
//!
//! Time is the session's clock: generations that it has stepped, whatever each lattice's own
//! number says. Where cells were changed by hand the past is cut: what was copied before says
//! nothing of what came behind. Copies grow sparser with age; where they would be so sparse that
//! stepping again took long, the oldest go instead.

use std::collections::VecDeque;
use std::sync::Arc;

use life::Lattice;

/// All lattices at one moment.
#[derive(Clone, Debug)]
pub(super) struct Moment {
    /// Generations that the session had stepped.
    pub(super) clock: u64,
    /// How many cuts came before.
    cut: usize,
    /// Each lattice's generation.
    pub(super) generations: Arc<[u64]>,
    pub(super) lattices: Vec<Arc<Lattice>>,
}

/// Where a way back leads.
#[derive(Clone, Debug)]
pub(super) struct Way {
    /// From here…
    pub(super) from: Moment,
    /// …forward to this clock.
    pub(super) to: u64,
}

/// The past.
#[derive(Debug)]
pub(super) struct History {
    moments: VecDeque<Moment>,
    /// The clock at each cut.
    cuts: Vec<u64>,
    /// The most bytes, and those of one moment.
    budget: u64,
    each: u64,
}

impl History {
    /// Nothing yet; a moment has so many bytes.
    pub(super) fn new(budget: u64, each: u64) -> History {
        History {
            moments: VecDeque::new(),
            cuts: Vec::new(),
            budget,
            each,
        }
    }

    /// Whether the budget holds enough to go back at all: two moments.
    pub(super) fn holds_any(&self) -> bool {
        self.budget >= 2 * self.each
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> u64 {
        self.moments.len() as u64 * self.each
    }

    /// The oldest clock and its generations.
    pub(super) fn oldest(&self) -> Option<&Moment> {
        self.moments.front()
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.moments.clear();
        self.cuts.clear();
    }

    /// Cells were changed by hand at this clock: a copy from before does not lead to what comes.
    pub(super) fn cut(&mut self, clock: u64) {
        self.moments.retain(|moment| moment.clock < clock);
        if self.cuts.last() != Some(&clock) {
            self.cuts.push(clock);
        }
    }

    /// Somebody went back to this clock: what came behind it has not been.
    pub(super) fn forget_after(&mut self, clock: u64) {
        self.moments.retain(|moment| moment.clock <= clock);
        self.cuts.retain(|cut| *cut <= clock);
    }

    /// Takes a moment in, the newest. `most` is by how many generations two moments may lie apart
    /// at most for the sake of room.
    pub(super) fn add(
        &mut self,
        clock: u64,
        generations: Arc<[u64]>,
        lattices: Vec<Arc<Lattice>>,
        most: u64,
    ) {
        let is_newest = |last: &Moment| last.clock < clock;
        if !self.holds_any() || !self.moments.back().is_none_or(is_newest) {
            return;
        }
        let cut = self.cuts.len();
        self.moments.push_back(Moment {
            clock,
            cut,
            generations,
            lattices,
        });
        while self.bytes() > self.budget {
            let at = self.least_missed(most).unwrap_or(0);
            self.moments.remove(at);
        }
    }

    /// The moment between two others whose gap, when it is gone, is smallest for its age. The
    /// first after a cut is needed: nothing before it leads behind the cut.
    fn least_missed(&self, most: u64) -> Option<usize> {
        let now = self.moments.back()?.clock;
        let gap = |at: usize| self.moments[at + 1].clock - self.moments[at - 1].clock;
        let needed = |at: usize| self.moments[at].cut != self.moments[at - 1].cut;
        (1..self.moments.len().saturating_sub(1))
            .filter(|&at| !needed(at) && gap(at) <= most)
            .min_by_key(|&at| {
                let age = now - self.moments[at].clock + 1;
                gap(at) * 1024 / age
            })
    }

    /// The way to a clock, or, where that is out of reach, to the newest one before it that is
    /// not; stepping forward by `most` generations at most.
    pub(super) fn way_to(&self, clock: u64, most: u64) -> Option<Way> {
        // Of each stretch between two cuts, the latest first.
        let mut to = clock;
        for cut in (0..=self.cuts.len()).rev() {
            let began = cut.checked_sub(1).map_or(0, |before| self.cuts[before]);
            if began > to {
                continue;
            }
            let leads = |moment: &&Moment| moment.cut == cut && moment.clock <= to;
            if let Some(from) = self.moments.iter().rev().find(leads) {
                let to = if to - from.clock > most {
                    from.clock
                } else {
                    to
                };
                let from = from.clone();
                return Some(Way { from, to });
            }
            to = began.checked_sub(1)?;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use life::Size;

    fn add(history: &mut History, clock: u64) {
        let lattice = Arc::new(Lattice::new(Size::new(1, 1).unwrap()));
        history.add(clock, [clock].into(), vec![lattice], u64::MAX);
    }

    fn way(history: &History, clock: u64) -> Option<(u64, u64)> {
        let way = history.way_to(clock, u64::MAX)?;
        Some((way.from.clock, way.to))
    }

    #[test]
    fn a_way_leads_from_the_moment_before() {
        let mut history = History::new(100, 1);
        for clock in [3, 10, 20] {
            add(&mut history, clock);
        }
        assert_eq!(way(&history, 25), Some((20, 25)));
        assert_eq!(way(&history, 20), Some((20, 20)));
        assert_eq!(way(&history, 19), Some((10, 19)));
        assert_eq!(way(&history, 2), None);
        // Too far: to the moment itself.
        let near = history.way_to(19, 5).unwrap();
        assert_eq!((near.from.clock, near.to), (10, 10));
        history.forget_after(15);
        assert_eq!(way(&history, 25), Some((10, 25)));
    }

    #[test]
    fn nothing_leads_across_a_cut() {
        let mut history = History::new(100, 1);
        for clock in [0, 10] {
            add(&mut history, clock);
        }
        history.cut(15);
        // What was changed at 15 has not been copied: only what was before can be had.
        assert_eq!(way(&history, 17), Some((10, 14)));
        add(&mut history, 15);
        assert_eq!(way(&history, 17), Some((15, 17)));
        assert_eq!(way(&history, 15), Some((15, 15)));
        assert_eq!(way(&history, 14), Some((10, 14)));
        // Changed again at once: what was between is no time.
        history.cut(15);
        add(&mut history, 15);
        history.cut(30);
        assert_eq!(way(&history, 29), Some((15, 29)));
        assert_eq!(way(&history, 30), Some((15, 29)));
        history.forget_after(14);
        assert_eq!(way(&history, 16), Some((10, 16)), "that cut has not been");
    }

    #[test]
    fn the_budget_holds_and_the_past_grows_sparse() {
        let mut history = History::new(40, 2);
        for clock in 0..1000 {
            add(&mut history, clock);
            assert!(history.bytes() <= 40);
        }
        let clocks: Vec<u64> = history.moments.iter().map(|moment| moment.clock).collect();
        assert_eq!((clocks[0], clocks.len()), (0, 20));
        assert!(clocks[17] > 990, "{clocks:?}");
        let gaps: Vec<u64> = clocks.windows(2).map(|two| two[1] - two[0]).collect();
        assert!(gaps[0] > 100 && gaps[18] == 1, "{gaps:?}");
        assert!(!History::new(3, 2).holds_any());
    }

    #[test]
    fn where_stepping_would_take_long_the_oldest_go() {
        let mut history = History::new(10, 1);
        let lattice = Arc::new(Lattice::new(Size::new(1, 1).unwrap()));
        for clock in 0..1000 {
            history.add(clock * 100, [clock].into(), vec![lattice.clone()], 250);
        }
        let clocks: Vec<u64> = history.moments.iter().map(|moment| moment.clock).collect();
        assert!(
            clocks.windows(2).all(|two| two[1] - two[0] <= 250),
            "{clocks:?}"
        );
        assert!(clocks[0] > 90_000);
    }

    #[test]
    fn the_first_moment_after_a_cut_stays() {
        let mut history = History::new(10, 1);
        for clock in 0..500 {
            if clock == 300 {
                history.cut(clock);
            }
            add(&mut history, clock);
        }
        assert_eq!(way(&history, 300), Some((300, 300)));
    }
}
