//! The blocks of a round with block timestamps, grouped by the SM (or CPU worker) that ran them.
//! Consecutive blocks of one launch on one SM are one bar. Computed once per round.

use std::collections::BTreeMap;

use crate::timeline::scale::TimeScale;
use crate::timeline::scale::{Columns, join};
use engine::BlockTimestamp;
use session::trace::TimedRound;

/// Blocks of one launch in one unit, in nanoseconds from the round's start.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BlockSpan {
    /// When it starts, in nanoseconds from the round's start.
    pub start: f64,
    /// When it ends.
    pub end: f64,
    /// The step that launched them.
    pub step: u32,
    /// The number of its instance, if it works on one.
    pub number: Option<u32>,
    /// How many.
    pub blocks: u32,
    /// What runs at the same time in a unit stands in different tracks.
    pub track: u16,
}

/// What one unit ran.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SmTimeline {
    /// By their start.
    pub runs: Vec<BlockSpan>,
    /// How many tracks they need.
    pub tracks: u16,
}

/// What every unit ran.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct BlockMap {
    sms: BTreeMap<u32, SmTimeline>,
}

impl BlockMap {
    /// Of a round that started at this time of the device's clock; `number` is that of a step's
    /// instance.
    pub fn new(round: &TimedRound, start: i64, number: impl Fn(u32) -> Option<u32>) -> BlockMap {
        let mut by_launch: BTreeMap<(u32, u32), Vec<&BlockTimestamp>> = BTreeMap::new();
        for timestamp in &round.block_timestamps {
            by_launch
                .entry((timestamp.sm, timestamp.step))
                .or_default()
                .push(timestamp);
        }
        let mut sms: BTreeMap<u32, SmTimeline> = BTreeMap::new();
        for ((sm, step), mut timestamps) in by_launch {
            let number = number(step);
            timestamps.sort_unstable_by_key(|timestamp| timestamp.start);
            let runs = &mut sms.entry(sm).or_default().runs;
            let first = runs.len();
            for timestamp in timestamps {
                let [from, to] = [timestamp.start, timestamp.end].map(|at| (at.0 - start) as f64);
                match runs[first..].last_mut() {
                    // Between two blocks of a launch a unit rests for less than a microsecond.
                    Some(run) if from <= run.end + 1e3 => {
                        run.end = run.end.max(to);
                        run.blocks += 1;
                    }
                    _ => runs.push(BlockSpan {
                        start: from,
                        end: to.max(from),
                        step,
                        number,
                        blocks: 1,
                        track: 0,
                    }),
                }
            }
        }
        for sm in sms.values_mut() {
            sm.tracks = assign_tracks(&mut sm.runs);
        }
        BlockMap { sms }
    }

    /// How many units there are, if the device has so many at least.
    pub fn count(&self, known: usize) -> usize {
        let last = self.sms.last_key_value();
        known.max(last.map_or(0, |(sm, _)| *sm as usize + 1))
    }

    /// What a unit ran, if anything.
    pub fn sm(&self, sm: usize) -> Option<&SmTimeline> {
        self.sms.get(&(sm as u32))
    }

    /// How many units ran anything.
    pub fn busy_sms(&self) -> usize {
        self.sms.len()
    }
}

/// Gives each run the first track that is free when it starts; returns how many there are.
fn assign_tracks(runs: &mut [BlockSpan]) -> u16 {
    runs.sort_by(|a, b| a.start.total_cmp(&b.start));
    let mut free: Vec<f64> = Vec::new();
    for run in runs {
        let track = free.iter().position(|&end| end <= run.start);
        let track = track.unwrap_or_else(|| {
            free.push(0.0);
            free.len() - 1
        });
        free[track] = run.end;
        run.track = track as u16;
    }
    free.len() as u16
}

/// A piece of a row that several units or tracks share: an instance over some pixel columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockSegment {
    /// Its first pixel column, and the one behind its last.
    pub columns: (usize, usize),
    /// The instance's number, if it is one.
    pub number: Option<u32>,
}

/// Several units (or tracks) in one row: in each pixel column the instance that ran most there.
pub fn fold_blocks<'a>(
    runs: impl Iterator<Item = &'a BlockSpan>,
    scale: TimeScale,
    left: f32,
    count: usize,
) -> Vec<BlockSegment> {
    let columns = Columns { scale, left, count };
    let mut shares: Vec<Vec<(Option<u32>, f32)>> = vec![Vec::new(); count];
    for run in runs {
        for (column, part) in columns.covered(run.start, run.end) {
            let shares = &mut shares[column];
            match shares.iter_mut().find(|share| share.0 == run.number) {
                Some(share) => share.1 += part,
                None => shares.push((run.number, part)),
            }
        }
    }
    let most = |shares: &Vec<(Option<u32>, f32)>| {
        let most = shares.iter().max_by(|a, b| a.1.total_cmp(&b.1));
        most.map(|(number, _)| *number)
    };
    let joined = join(shares.iter().map(most)).into_iter();
    let segment = |(columns, number)| BlockSegment { columns, number };
    joined.map(segment).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::round_with_block_timestamps;
    use crate::timeline::scale::TimeRange;
    use engine::Nanos;

    fn timestamp(step: u32, sm: u32, start: i64, end: i64) -> BlockTimestamp {
        let (start, end) = (Nanos(start), Nanos(end));
        BlockTimestamp {
            step,
            sm,
            start,
            end,
        }
    }

    #[test]
    fn blocks_of_a_launch_that_follow_one_another_are_one_bar() {
        let mut round = round_with_block_timestamps(2, 8);
        // Step 1 launches instance 0, step 4 instance 1.
        round.block_timestamps = vec![
            timestamp(1, 3, 40_000, 45_000),
            timestamp(1, 3, 10_000, 20_000),
            timestamp(1, 3, 20_400, 30_000),
            timestamp(4, 3, 15_000, 42_000),
            timestamp(1, 7, 10_000, 20_000),
        ];
        let blocks = BlockMap::new(&round, 10_000, |step| Some(step / 4));
        assert_eq!(
            (blocks.busy_sms(), blocks.count(4), blocks.count(132)),
            (2, 8, 132)
        );
        let sm = blocks.sm(3).unwrap();
        let seen: Vec<_> = sm
            .runs
            .iter()
            .map(|run| (run.number, run.start, run.end, run.blocks, run.track))
            .collect();
        let wanted = [
            (Some(0), 0.0, 20_000.0, 2, 0),
            (Some(1), 5_000.0, 32_000.0, 1, 1),
            (Some(0), 30_000.0, 35_000.0, 1, 0),
        ];
        assert_eq!(seen, wanted);
        assert_eq!(sm.tracks, 2);
    }

    #[test]
    fn a_shared_row_shows_who_ran_most() {
        let run = |number, start, end| BlockSpan {
            start,
            end,
            step: 0,
            number: Some(number),
            blocks: 1,
            track: 0,
        };
        let stretch = TimeRange {
            from: 0.0,
            length: 100.0,
        };
        let runs = [run(5, 0.0, 26.0), run(9, 25.0, 40.0), run(2, 60.0, 60.1)];
        let pieces = fold_blocks(runs.iter(), TimeScale::new(stretch, 3.0, 10.0), 3.0, 10);
        let piece = |columns, number| BlockSegment {
            columns,
            number: Some(number),
        };
        assert_eq!(
            pieces,
            [piece((0, 3), 5), piece((3, 4), 9), piece((6, 7), 2)]
        );
    }
}
