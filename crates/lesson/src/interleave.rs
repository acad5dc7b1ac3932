//! Parts measured in turn ([`Blocks`]), in several windows some seconds apart, and compared over all of
//! them ([`across_windows`]).

use std::time::{Duration, Instant};

use crate::{Measured, Result};
use experiment::{Blocks, ERROR, Estimate, across_windows, nearest};
use model::{Finding, Load};
use platform::usage;

/// When and how long parts are measured in turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Number of windows.
    pub(crate) windows: usize,
    /// How long each window lasts, at least.
    pub(crate) window: Duration,
    /// The time between the end of a window and the beginning of the next.
    pub(crate) apart: Duration,
    /// A part of which a run takes longer than this is slow.
    pub(crate) slow_run: Duration,
    /// How long slow parts are measured, at most, even if there are too few blocks.
    pub(crate) longest: Duration,
}

impl Limits {
    /// What a class waits for. The time between windows is shorter in tests.
    pub(crate) fn lesson() -> Limits {
        Limits {
            windows: 3,
            window: Duration::from_secs(1),
            apart: platform::timeout(Duration::from_secs(10)),
            slow_run: Duration::from_secs(1),
            longest: Duration::from_secs(20),
        }
    }

    /// One window, for a point of a curve.
    pub(crate) fn one_window() -> Limits {
        Limits {
            windows: 1,
            ..Limits::lesson()
        }
    }
}

/// Blocks in a window, at least: six blocks are the fewest for an interval.
const MIN_BLOCKS: usize = 6;

/// Blocks in a window, at most.
const MAX_BLOCKS: usize = 1000;

/// What came of it.
pub(crate) struct Interleaved {
    /// For each part, its run that is nearest to its time.
    pub(crate) runs: Vec<Measured>,
    /// For each part, the interval of its time; `None` if there were too few blocks.
    pub(crate) intervals: Vec<Option<[f64; 2]>>,
    /// For each comparison, the ratio of the times and what was found of it.
    pub(crate) findings: Vec<(f64, Finding)>,
    /// How many windows there were.
    pub(crate) windows: usize,
    /// What else the machine did meanwhile.
    pub(crate) load: Load,
}

/// Measures parts in turn, each by `sample`, and compares these pairs of them, the part that is
/// expected to be slower first. `first` has the times that the parts took when each was measured for
/// the first time: they count as the block that warms up. `wait` waits between windows.
///
/// # Errors
/// Where `sample` or `wait` fails.
///
/// # Panics
/// If a sample has no time.
pub(crate) fn interleave(
    first: &[f64],
    pairs: &[[usize; 2]],
    limits: Limits,
    sample: &mut dyn FnMut(usize) -> Result<Measured>,
    wait: &mut dyn FnMut(Duration) -> Result<()>,
) -> Result<Interleaved> {
    let parts = first.len();
    let mut blocks = Blocks::new(parts, 7);
    for _ in 0..parts {
        blocks.record(first[blocks.next_subject()]);
    }
    let mut runs: Vec<Vec<Measured>> = (0..parts).map(|_| Vec::new()).collect();
    // The number of blocks at the end of each window.
    let mut ends: Vec<usize> = Vec::new();
    let mut load = Load::default();
    let (mut measuring, mut longest_run) = (Duration::ZERO, Duration::ZERO);
    let is_slow = |measuring: Duration, longest_run: Duration| {
        measuring >= limits.longest && longest_run >= limits.slow_run
    };
    while ends.is_empty() || ends.len() < limits.windows && !is_slow(measuring, longest_run) {
        let begin = blocks.len();
        if begin > 0 {
            wait(limits.apart)?;
            blocks.leave_out_block(); // warms up again
        }
        let (before, began) = (measuring, Instant::now());
        loop {
            let counts = blocks.is_counting();
            for _ in 0..parts {
                let (part, before, started) = (blocks.next_subject(), usage(), Instant::now());
                let measured = sample(part)?;
                let (took, used) = (started.elapsed(), usage());
                longest_run = longest_run.max(took);
                load.add(
                    took.as_secs_f64(),
                    (used.cpu - before.cpu).as_secs_f64(),
                    used.is_preempted_since(before),
                );
                blocks.record(measured.compared_ms());
                if counts {
                    runs[part].push(measured);
                }
            }
            measuring = before + began.elapsed();
            let in_window = blocks.len() - begin;
            let is_enough = began.elapsed() >= limits.window
                && in_window >= MIN_BLOCKS.div_ceil(limits.windows);
            if is_enough || in_window >= MAX_BLOCKS || is_slow(measuring, longest_run) {
                break;
            }
        }
        ends.push(blocks.len());
    }
    let windows = |[slow, fast]: &[usize; 2]| {
        let (ratios, mut begin) = (blocks.log_ratios(*slow, *fast), 0);
        let windows = ends
            .iter()
            .map(|&end| ratios[std::mem::replace(&mut begin, end)..end].to_vec());
        across_windows(&windows.collect::<Vec<_>>())
    };
    let times = blocks.typical_times().unwrap_or_else(|| first.to_vec());
    let intervals = times.iter().enumerate().map(|(part, &time)| {
        let logarithms: Vec<f64> = blocks.times(part).iter().map(|time| time.ln()).collect();
        let [low, high] = Estimate::of(&logarithms, ERROR)?.interval;
        Some([low.min(time), high.max(time)])
    });
    let findings = pairs.iter().map(|pair| match windows(pair) {
        Some((estimate, finding)) => (estimate.ratio, finding),
        None => {
            let [slow, fast] = pair.map(|part| times[part]);
            (slow / fast, Finding::NotResolved { at_most: None })
        }
    });
    Ok(Interleaved {
        findings: findings.collect(),
        windows: ends.len(),
        load,
        intervals: intervals.collect(),
        runs: runs
            .into_iter()
            .zip(&times)
            .filter_map(|(runs, &time)| at_time(runs, time))
            .collect(),
    })
}

/// The run that is nearest to this time, which it is then said to have taken.
fn at_time(mut runs: Vec<Measured>, time: f64) -> Option<Measured> {
    let nearest = nearest(runs.iter().map(Measured::compared_ms), time)?;
    let run = runs.swap_remove(nearest);
    Some(Measured {
        time_ms: Some(time),
        ..run
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use life::SplitMix64;

    /// Samples of parts that take so long, but for noise of this many per cent.
    fn noisy(times: &'static [f64], percent: f64) -> impl FnMut(usize) -> Result<Measured> {
        let mut numbers = SplitMix64(1);
        move |part| {
            let noise = numbers.below(1000) as f64 / 1000.0;
            let ms = times[part] * (1.0 + percent / 100.0 * noise);
            Ok(Measured::of_time("a run", ms).figure("runs a second", 1e3 / ms, "1/s"))
        }
    }

    /// [`MAX_BLOCKS`] in three windows, however slow the machine is that runs the test.
    fn patient() -> Limits {
        Limits {
            window: Duration::from_secs(1000),
            apart: Duration::from_secs(10),
            ..Limits::lesson()
        }
    }

    fn measure(
        pairs: &[[usize; 2]],
        limits: Limits,
        sample: &mut dyn FnMut(usize) -> Result<Measured>,
    ) -> (Interleaved, Vec<Duration>) {
        let mut waited = Vec::new();
        let first = vec![9.0; 1 + pairs.iter().flatten().max().unwrap()];
        let mut wait = |time| {
            waited.push(time);
            Ok(())
        };
        let found = interleave(&first, pairs, limits, sample, &mut wait).unwrap();
        (found, waited)
    }

    #[test]
    fn a_part_has_one_time_in_all_its_comparisons_which_its_run_and_interval_fit() {
        let pairs = [[0, 1], [1, 2], [0, 2]];
        let mut sample = noisy(&[8.0, 4.0, 1.0], 10.0);
        let (found, waited) = measure(&pairs, patient(), &mut sample);
        assert_eq!(
            (found.windows, waited),
            (3, vec![Duration::from_secs(10); 2])
        );
        let time = |part: usize| found.runs[part].compared_ms();
        for (finding, [slow, fast]) in found.findings.iter().zip(pairs) {
            let (_, Finding::Difference { ratio, interval }) = finding else {
                panic!("{finding:?}");
            };
            assert!((ratio / (time(slow) / time(fast)) - 1.0).abs() < 0.01);
            assert!(interval[0] <= *ratio && *ratio <= interval[1]);
        }
        for (run, interval) in found.runs.iter().zip(&found.intervals) {
            let [low, high] = interval.expect("there were enough blocks");
            assert!(low <= run.compared_ms() && run.compared_ms() <= high);
            let figures = &run.figures;
            assert!((figures[0].value / run.compared_ms() - 1.0).abs() < 0.01);
            assert_eq!(figures[1].value, 1e3 / figures[0].value);
        }
        let two = measure(&[[0, 1]], patient(), &mut noisy(&[8.0, 4.0], 10.0)).0;
        let (ratio, _) = two.findings[0];
        let [slow, fast] = [0, 1].map(|part: usize| two.runs[part].compared_ms());
        assert!((ratio - slow / fast).abs() < 1e-9);
    }

    #[test]
    fn parts_that_take_the_same_time_have_no_difference() {
        let (found, _) = measure(&[[0, 1]], patient(), &mut noisy(&[2.0, 2.0], 5.0));
        assert!(
            matches!(found.findings[..], [(_, Finding::NoDifference { within })] if within < 0.02),
            "{:?}",
            found.findings
        );
    }

    #[test]
    fn a_load_that_comes_with_a_window_is_said_to_change_the_ratio() {
        let (mut steady, mut samples) = (noisy(&[2.0, 1.0], 5.0), 0);
        let mut sample = |part| {
            samples += 1;
            let loaded = part == 0 && samples > 4 * MAX_BLOCKS;
            let measured = steady(part)?;
            let ms = measured.compared_ms() * if loaded { 3.0 } else { 1.0 };
            Ok(Measured::of_time("a run", ms))
        };
        let (found, _) = measure(&[[0, 1]], patient(), &mut sample);
        assert!(
            matches!(found.findings[..], [(_, Finding::ChangesWithLoad { interval: [low, high] })]
                if low < 2.1 && high > 5.9),
            "{:?}",
            found.findings
        );
    }

    #[test]
    fn slow_parts_are_given_up_and_others_are_measured_until_it_is_enough() {
        let hurried = |slow_run| Limits {
            window: Duration::ZERO,
            slow_run,
            longest: Duration::ZERO,
            ..Limits::lesson()
        };
        let mut sample = noisy(&[2.0, 1.0], 0.0);
        let (slow, _) = measure(&[[0, 1]], hurried(Duration::ZERO), &mut sample);
        assert_eq!(
            slow.findings,
            [(2.0, Finding::NotResolved { at_most: None })]
        );
        assert_eq!(slow.intervals, [None; 2]);
        let quick = Duration::from_secs(1000);
        let (quick, _) = measure(&[[0, 1]], hurried(quick), &mut sample);
        assert!(quick.findings[0].1.is_faster(), "{:?}", quick.findings);
        let times = quick.runs.iter().map(Measured::compared_ms);
        assert_eq!(times.collect::<Vec<_>>(), [2.0, 1.0]);
    }
}
