//! Parts measured in turn, in several windows some seconds apart, and compared over all of them
//! ([`Executor`]).

use std::time::{Duration, Instant};

use crate::bench::Result;
use crate::outcome::Measured;
use experiment::{Executor, Limits, Plan, Round, Turn, nearest};
use platform::usage;
use session::Finding;

/// How long a class waits between two windows.
pub(crate) const WINDOWS_APART: Duration = Duration::from_secs(10);

/// What a class waits for. The time between windows is shorter in tests.
pub fn limits() -> Limits {
    Limits::three_windows(platform::timeout(WINDOWS_APART))
}

/// Measures parts in turn, each by `sample`. Each part has been measured once before, which warms it up.
/// `wait` waits between windows. Returns for each part its run that is nearest to its time.
///
/// # Errors
/// Where `sample` or `wait` fails.
///
/// # Panics
/// If a sample has no time.
pub(crate) fn interleave(
    parts: usize,
    limits: Limits,
    sample: &mut dyn FnMut(usize) -> Result<Measured>,
    wait: &mut dyn FnMut(Duration) -> Result<()>,
) -> Result<(Vec<Measured>, Executor)> {
    let mut executor = Executor::new(parts, 7, Plan::Windows(limits)).warmed_up();
    let mut runs: Vec<Vec<Measured>> = (0..parts).map(|_| Vec::new()).collect();
    loop {
        let part = match executor.next_turn() {
            Turn::Round(part) => part,
            Turn::Wait(time) => {
                wait(time)?;
                continue;
            }
            Turn::Done => break,
        };
        let (counts, before, began) = (executor.is_counting(), usage(), Instant::now());
        let measured = sample(part)?;
        let (ended, used) = (Instant::now(), usage());
        let round = Round {
            time: measured.compared_ms(),
            lasted: ended - began,
            cpu: used.cpu - before.cpu,
            is_preempted: used.is_preempted_since(before),
        };
        executor.record(round, ended);
        if counts {
            runs[part].push(measured);
        }
    }
    let runs = runs
        .into_iter()
        .zip(executor.times.as_deref().unwrap_or_default());
    let runs = runs.filter_map(|(runs, &time)| at_time(runs, time));
    Ok((runs.collect(), executor))
}

/// The run that is nearest to this time, which it is then said to have taken.
fn at_time(mut runs: Vec<Measured>, time: f64) -> Option<Measured> {
    let nearest = nearest(runs.iter().map(Measured::compared_ms), time)?;
    let mut figures = runs.swap_remove(nearest).figures;
    let mut timed = Measured::of_time(&figures.remove(0).label, time);
    timed.figures.append(&mut figures);
    Some(timed)
}

/// The ratio of two parts' times, the one that is expected to be slower first, and what was found of it.
pub(crate) fn compared(executor: &Executor, [slow, fast]: [usize; 2]) -> (f64, Finding) {
    let times = executor.times.as_deref().unwrap_or_default();
    let found = executor.across_windows(slow, fast);
    let found = found.map(|(estimate, finding)| (estimate.ratio, finding));
    let unknown = Finding::NotResolved { at_most: None };
    found.unwrap_or_else(|| (times[slow] / times[fast], unknown))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_has_the_run_that_is_nearest_to_its_time() {
        let mut samples = 0_u32;
        let mut sample = |part: usize| {
            samples += 1;
            let ms = [8.0, 4.0, 1.0][part] * (1.0 + f64::from(samples * samples % 101) / 1000.0);
            let mut run = Measured::of_time("a run", ms);
            run.figure("runs a second", 1e3 / ms, "1/s");
            Ok(run)
        };
        let mut waited = Vec::new();
        let mut wait = |time| {
            waited.push(time);
            Ok(())
        };
        let apart = Duration::from_secs(10);
        let limits = Limits {
            window: Duration::ZERO,
            ..Limits::three_windows(apart)
        };
        let (runs, executor) = interleave(3, limits, &mut sample, &mut wait).unwrap();
        assert_eq!((executor.windows(), waited), (3, vec![apart; 2]));
        let time = |part: usize| runs[part].compared_ms();
        for [slow, fast] in [[0, 1], [1, 2], [0, 2]] {
            let (ratio, finding) = compared(&executor, [slow, fast]);
            assert!((ratio / (time(slow) / time(fast)) - 1.0).abs() < 0.05);
            assert!(finding.is_faster(), "{finding:?}");
        }
        for (part, run) in runs.iter().enumerate() {
            let interval = executor.interval(part);
            let [low, high] = interval.expect("there were enough blocks");
            assert!(low <= run.compared_ms() && run.compared_ms() <= high);
            let figures = &run.figures;
            assert_eq!(figures[0].value, run.compared_ms());
            assert!((figures[1].value * figures[0].value / 1e3 - 1.0).abs() < 0.05);
        }
    }

    #[test]
    fn slow_parts_are_given_up_with_the_ratio_of_their_times() {
        let mut sample = |part: usize| Ok(Measured::of_time("a run", [2.0, 1.0][part]));
        let limits = Limits {
            slow_round: Duration::ZERO,
            longest: Duration::ZERO,
            ..Limits::ONE_WINDOW
        };
        let (_, executor) = interleave(2, limits, &mut sample, &mut |_| Ok(())).unwrap();
        let unknown = Finding::NotResolved { at_most: None };
        assert_eq!(compared(&executor, [0, 1]), (2.0, unknown));
        assert_eq!([0, 1].map(|part| executor.interval(part)), [None; 2]);
    }
}
