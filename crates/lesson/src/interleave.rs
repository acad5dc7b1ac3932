//! Parts measured in turn, until it is known which is faster.
//!
//! In each block every part runs once, in random order, so what changes slowly meets all alike. Each
//! [`Comparison`] gets the times of its two parts from each block. It assumes that they ran in
//! random order, which holds, so the order that it draws itself only decides which time it gets
//! first. A part in several comparisons has the same time in all of them: its median over the
//! blocks, from which the factors are computed.

use std::time::{Duration, Instant};

use crate::{Measured, Result};
use life::SplitMix64;
use model::comparison::interval_of_times;
use model::{Blocks, Comparison, Finding, Side};

/// How long parts are measured in turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// After this time, the finding is taken, if there are enough blocks for one.
    pub(crate) enough: Duration,
    /// A part of which a run takes longer than this is slow.
    pub(crate) slow_run: Duration,
    /// After this time, slow parts are no longer measured, even if there are too few blocks.
    pub(crate) longest: Duration,
}

impl Limits {
    /// What a class waits for.
    pub(crate) const LESSON: Limits = Limits {
        enough: Duration::from_secs(3),
        slow_run: Duration::from_secs(1),
        longest: Duration::from_secs(20),
    };
}

/// Before a [`Comparison`] has its last look.
const MAX_BLOCKS: usize = 1000;

/// What came of it.
pub(crate) struct Interleaved {
    /// For each part, its run with the median time.
    pub(crate) medians: Vec<Measured>,
    /// For each part, the interval of that time; `None` if there were too few blocks.
    pub(crate) intervals: Vec<Option<[f64; 2]>>,
    /// For each comparison, what it found.
    pub(crate) findings: Vec<Finding>,
}

/// Measures parts in turn, each by `sample`, and compares these pairs of them, the part that is
/// expected to be slower first. `first` has the times that the parts took when each was measured for
/// the first time: they count as the block that warms up.
///
/// # Errors
/// Where `sample` fails.
///
/// # Panics
/// If a sample has no time.
pub(crate) fn interleave(
    first: &[f64],
    pairs: &[[usize; 2]],
    limits: Limits,
    sample: &mut dyn FnMut(usize) -> Result<Measured>,
) -> Result<Interleaved> {
    let mut numbers = SplitMix64(7);
    let parts = first.len();
    let mut comparisons: Vec<Comparison> = pairs
        .iter()
        .map(|_| Comparison::new(Blocks::Pairs, 7))
        .collect();
    record(&mut comparisons, pairs, |part| first[part]);
    let mut order: Vec<usize> = (0..parts).collect();
    let mut counted: Vec<Vec<Measured>> = (0..parts).map(|_| Vec::new()).collect();
    let (began, mut longest_run) = (Instant::now(), Duration::ZERO);
    for _ in 0..MAX_BLOCKS {
        shuffle(&mut order, &mut numbers);
        let mut block: Vec<Option<Measured>> = (0..parts).map(|_| None).collect();
        for &part in &order {
            let started = Instant::now();
            block[part] = Some(sample(part)?);
            longest_run = longest_run.max(started.elapsed());
        }
        let block: Vec<Measured> = block.into_iter().flatten().collect();

        record(&mut comparisons, pairs, |part| block[part].compared_ms());
        let all = counted.iter_mut().zip(block);
        all.for_each(|(samples, sample)| samples.push(sample));

        if comparisons.iter().all(Comparison::has_finding) {
            break;
        }
        let (elapsed, is_enough) = (
            began.elapsed(),
            comparisons.iter().all(Comparison::is_enough),
        );
        if elapsed >= limits.enough && is_enough
            || elapsed >= limits.longest && longest_run >= limits.slow_run
        {
            break;
        }
        comparisons.iter_mut().for_each(Comparison::resume);
    }
    let intervals = counted.iter().map(|samples| {
        let times: Vec<f64> = samples.iter().map(Measured::compared_ms).collect();
        interval_of_times(&times)
    });
    Ok(Interleaved {
        intervals: intervals.collect(),
        medians: counted.into_iter().filter_map(middle).collect(),
        findings: comparisons.iter().map(Comparison::finish).collect(),
    })
}

/// Gives each comparison its two times of a block.
fn record(comparisons: &mut [Comparison], pairs: &[[usize; 2]], ms: impl Fn(usize) -> f64) {
    for (comparison, [slow, fast]) in comparisons.iter_mut().zip(pairs) {
        for _ in 0..2 {
            let part = match comparison.next_side() {
                Side::A => *slow,
                Side::B => *fast,
            };
            comparison.record(ms(part));
        }
    }
}

/// The sample with the median time, as [`model::median`] takes it.
fn middle(mut samples: Vec<Measured>) -> Option<Measured> {
    let at = samples.len() / 2;
    samples.sort_by(|a, b| a.compared_ms().total_cmp(&b.compared_ms()));
    samples.into_iter().nth(at)
}

fn shuffle(order: &mut [usize], numbers: &mut SplitMix64) {
    for last in (1..order.len()).rev() {
        order.swap(last, numbers.below(last as u64 + 1) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples of parts that take so long, but for noise of this many per cent.
    fn noisy(times: &'static [f64], percent: f64) -> impl FnMut(usize) -> Result<Measured> {
        let mut numbers = SplitMix64(1);
        move |part| {
            let noise = numbers.below(1000) as f64 / 1000.0;
            let ms = times[part] * (1.0 + percent / 100.0 * noise);
            Ok(Measured::of_time("a run", ms).figure("runs a second", 1e3 / ms, "1/s"))
        }
    }

    /// However slow the machine is that runs the test: enough, but no more than [`MAX_BLOCKS`].
    const PATIENT: Limits = Limits {
        enough: Duration::from_secs(1000),
        ..Limits::LESSON
    };

    #[test]
    fn a_part_has_one_time_in_all_its_comparisons_and_the_factors_agree_with_it() {
        let pairs = [[0, 1], [1, 2], [0, 2]];
        let mut sample = noisy(&[8.0, 4.0, 1.0], 10.0);
        let found = interleave(&[9.0; 3], &pairs, PATIENT, &mut sample).unwrap();
        let time = |part: usize| found.medians[part].compared_ms();
        for (finding, [slow, fast]) in found.findings.iter().zip(pairs) {
            let Finding::Difference { ratio, .. } = finding else {
                panic!("{finding:?}");
            };
            assert!((ratio - time(slow) / time(fast)).abs() < 1e-9);
        }
        for (median, interval) in found.medians.iter().zip(&found.intervals) {
            let [low, high] = interval.expect("there were enough blocks");
            assert!(low <= median.compared_ms() && median.compared_ms() <= high);
            let figures = &median.figures;
            assert_eq!(figures[0].value, median.compared_ms());
            assert_eq!(figures[1].value, 1e3 / median.compared_ms());
        }
    }

    #[test]
    fn parts_that_take_the_same_time_have_no_difference() {
        let mut sample = noisy(&[2.0, 2.0], 5.0);
        let found = interleave(&[9.0; 2], &[[0, 1]], PATIENT, &mut sample).unwrap();
        assert!(
            matches!(found.findings[..], [Finding::NoDifference { within }] if within < 0.03),
            "{:?}",
            found.findings
        );
    }

    #[test]
    fn slow_parts_are_given_up_and_others_are_measured_until_it_is_enough() {
        let hurried = |slow_run| Limits {
            enough: Duration::ZERO,
            slow_run,
            longest: Duration::ZERO,
        };
        let mut sample = noisy(&[2.0, 1.0], 0.0);
        let slow = interleave(&[9.0; 2], &[[0, 1]], hurried(Duration::ZERO), &mut sample).unwrap();
        assert_eq!(slow.findings, [Finding::TooNoisy]);
        assert_eq!(slow.intervals, [None; 2]);
        let times = slow.medians.iter().map(Measured::compared_ms);
        assert_eq!(times.collect::<Vec<_>>(), [2.0, 1.0]);
        let quick = Duration::from_secs(1000);
        let quick = interleave(&[9.0; 2], &[[0, 1]], hurried(quick), &mut sample).unwrap();
        assert!(quick.findings[0].is_faster(), "{:?}", quick.findings);
    }
}
