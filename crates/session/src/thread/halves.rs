//! A and B: two settings on two halves of the instances, from the same starts.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use super::recovery::Progress;
use super::{Pilot, starts};
use crate::worlds::read_lattice;
use engine::{Result, Slot};
use lang::tr;
use life::Lattice;
use model::{Halves, Streams, Switches};

/// Two settings on two halves.
pub(super) struct TwoHalves {
    /// B's; A's are the session's.
    pub(super) second: Switches,
    /// Every lattice as it was, for when the halves are one again.
    pub(super) before: Vec<(usize, Arc<Lattice>, u64)>,
    /// How far the rounds were then.
    pub(super) progress: Progress,
    /// Instances of a half.
    each: usize,
    /// Cells that differ, and of which generation.
    differing: Option<(u64, u64)>,
}

impl Pilot {
    /// Two settings on two halves of the instances, from the same starts; or one again, every
    /// lattice as it was before.
    pub(super) fn toggle_halves(&mut self) -> Result<()> {
        self.lab.changed();
        self.statistics.restart();
        self.lab.switched = None;
        self.steps.clear();
        self.leave_run_to();
        self.history_begins();
        self.watch.replaced(0..self.setup.instances);
        if self.lab.is_split() {
            self.join_halves()
        } else if self.setup.instances < 2 {
            self.say(tr!("A and B need two instances or more; start with --instances 2").into());
            Ok(())
        } else {
            self.part_halves()
        }
    }

    fn part_halves(&mut self) -> Result<()> {
        let Some(worlds) = &mut self.worlds else {
            return Ok(());
        };
        let lattices = worlds.fetch()?.into_iter().map(Arc::new);
        let generations = worlds.generations().clone();
        let before: Vec<_> = lattices
            .zip(generations.iter())
            .enumerate()
            .map(|(i, (lattice, &generation))| (i, lattice, generation))
            .collect();
        self.part_into(self.other_setting(), before)?;
        self.notice = Some((
            tr!("A and B run from the same starts, in turn; F2 to F8 change B").into(),
            Instant::now(),
        ));
        self.restart(0..2 * (self.setup.instances / 2))
    }

    /// Two halves, B with these switches, of lattices that come next; these were there before.
    pub(super) fn part_into(
        &mut self,
        second: Switches,
        before: Vec<(usize, Arc<Lattice>, u64)>,
    ) -> Result<()> {
        let Some(worlds) = &mut self.worlds else {
            return Ok(());
        };
        // The copies came through a checkpoint's slot.
        self.editor.forget_copies();
        self.checkpoints.begin_anew();
        self.last_known = Some(before.clone());
        let progress = Progress::of(self.issued);
        self.progress_known = progress;
        let anew = worlds.split(Some(second))?;
        let each = self.setup.instances / 2;
        self.lab.halves = Some(TwoHalves {
            second,
            before,
            progress,
            each,
            differing: None,
        });
        self.take_slots(anew);
        Ok(())
    }

    fn join_halves(&mut self) -> Result<()> {
        let (Some(worlds), Some(halves)) = (&mut self.worlds, &self.lab.halves) else {
            return Ok(());
        };
        let before = halves.before.clone();
        let anew = worlds.split(None)?;
        worlds.upload(before.clone())?;
        // Until here the halves are there, and with them what was before.
        self.lab.halves = None;
        self.last_known = Some(before);
        self.progress_known = Progress::of(self.issued);
        self.editor.forget_copies();
        self.checkpoints.begin_anew();
        self.take_slots(anew);
        self.refresh = true;
        self.notice = Some((
            tr!("A's setting for all again; every lattice is where it was").into(),
            Instant::now(),
        ));
        Ok(())
    }

    /// What B begins with: the setting before the last switch, or another number of streams.
    fn other_setting(&self) -> Switches {
        let (now, kernel) = (self.setup.switches, self.setup.kernel);
        let fits = |other: &Switches| *other != now && other.refusal(kernel).is_none();
        let streams = match now.streams {
            Streams::PerInstance => Streams::One,
            _ => Streams::PerInstance,
        };
        let previous = self.lab.previous.map(|before| before.fitted_to(kernel));
        previous.filter(fits).unwrap_or(Switches { streams, ..now })
    }

    /// The starts of instances; B's are A's.
    pub(super) fn starts(&self, instances: Range<usize>) -> Vec<(usize, Arc<Lattice>, u64)> {
        let Some(TwoHalves { each, .. }) = self.lab.halves else {
            return starts(&self.setup, instances);
        };
        let paired = instances.filter(|&i| i < 2 * each).map(|i| i % each);
        let mut paired: Vec<usize> = paired.collect();
        paired.sort_unstable();
        paired.dedup();
        let start = |i: usize| starts(&self.setup, i..i + 1);
        let both = |(i, lattice, at): (usize, Arc<Lattice>, u64)| {
            [(i, lattice.clone(), at), (i + each, lattice, at)]
        };
        paired.into_iter().flat_map(start).flat_map(both).collect()
    }

    /// The generations of the round that A has made and B has not, if there is one.
    pub(super) fn owed(&self) -> Option<u32> {
        self.worlds.as_ref()?.owed()
    }

    /// Counts the cells that differ between A and B, where a checkpoint has both of the same
    /// generation.
    pub(super) fn compare_halves(&mut self, (slot, generations): &(Slot, Arc<[u64]>)) {
        let (Some(halves), Some(worlds)) = (&mut self.lab.halves, &self.worlds) else {
            return;
        };
        let slots = worlds.slots();
        let lattice = |i: usize| read_lattice(&**slots, i, *slot, self.setup.size).ok();
        let mut differing = 0;
        for i in 0..halves.each {
            let (Some(a), Some(b)) = (lattice(i), lattice(i + halves.each)) else {
                return;
            };
            if generations[i] != generations[i + halves.each] {
                return;
            }
            let words = a.words().iter().zip(b.words());
            differing += words
                .map(|(a, b)| u64::from((a ^ b).count_ones()))
                .sum::<u64>();
        }
        halves.differing = Some((differing, generations[0]));
    }

    /// What the status says of the halves.
    pub(super) fn halves(&self) -> Option<Halves> {
        let halves = self.lab.halves.as_ref()?;
        Some(Halves {
            switches: [self.setup.switches, halves.second],
            round_us: self.statistics.half_us(),
            differing: halves.differing,
            each: halves.each,
        })
    }
}
