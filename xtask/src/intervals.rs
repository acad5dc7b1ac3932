//! `cargo xtask intervals steady N`: how many of N intervals, of the same comparison repeated under a load
//! that stays the same, contain the ratio of all of them. `intervals switching N`: what comparisons in
//! windows say of a load that comes and goes between windows.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use engine::kernels;
use experiment::{ERROR, Estimate, Finding, Limits, Plan};
use life::Size;
use lifestreams::cli::compare;
use model::{DeviceChoice, PicturePlan, Setup, Streams, Switches, finding_in_words};
use simulation::instances::{Instances, open_engine, starts};

/// What else computes, on half of the cores.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Load {
    Steady,
    Switching,
}

impl Load {
    /// Whether it computes at a time after the comparison's beginning: a load that switches does so in the
    /// middle between two windows.
    fn is_on(self, time: Duration, limits: &Limits) -> bool {
        let windows = (time + limits.apart / 2).div_duration_f64(limits.window + limits.apart);
        self == Load::Steady || windows as u64 % 2 == 1
    }
}

/// Compares one stream for all with another way of sharing streams on the CPU, many times. With a stream
/// each and so little work, the ratio depends on what else computes.
pub(crate) fn measure(load: Load, comparisons: usize, streams: Streams) -> Result<()> {
    let limits = lesson::limits();
    let plan = match load {
        Load::Steady => Plan::Live(1.0),
        Load::Switching => Plan::Windows(limits),
    };
    let kernel = kernels::find("sync-global").expect("a kernel of the table");
    let mut setup = Setup::new(16, Size::new(64, 64)?, kernel, DeviceChoice::Cpu);
    setup.switches.streams = Streams::One;
    let mut instances = Instances::new(open_engine(setup.device)?, &setup, 0)?;
    instances.set_lattices(starts(&setup, 0..setup.instances)?)?;
    instances.set_picture(Some(PicturePlan::BITS))?;
    let changed = Switches {
        streams,
        ..setup.switches
    };
    let (mut pooled, mut estimates, mut findings) = (Vec::new(), Vec::new(), Vec::new());
    for number in 1..=comparisons {
        let is_on = |time| load.is_on(time, &limits);
        let executor = beside(is_on, || compare(&mut instances, (kernel, changed), plan))?;
        let found = match plan {
            Plan::Live(_) => executor.estimate().zip(executor.finding()),
            Plan::Windows(_) => executor.across_windows(0, 1),
        };
        let (estimate, finding) = found.context("there were too few rounds for an interval")?;
        println!("{number}: {}", finding_in_words(finding));
        pooled.extend(executor.blocks().log_ratios(0, 1));
        estimates.push(estimate);
        findings.push(finding);
    }
    let all = Estimate::of(&pooled, ERROR).context("there were too few rounds")?;
    let [low, high] = all.interval;
    println!(
        "the ratio of all {} blocks is {:.3} ({low:.3} to {high:.3})",
        pooled.len(),
        all.ratio
    );
    let contains = |it: &&Estimate| it.interval[0] <= all.ratio && all.ratio <= it.interval[1];
    report(
        "intervals contain it",
        estimates.iter().filter(contains).count(),
        comparisons,
    );
    let changes = |it: &&Finding| matches!(it, Finding::ChangesWithLoad { .. });
    report(
        "findings say that it changes with the load",
        findings.iter().filter(changes).count(),
        comparisons,
    );
    Ok(())
}

/// Does some work while threads on half of the cores compute whenever `is_on`, which is asked with the time
/// since the beginning.
fn beside<T>(is_on: impl Fn(Duration) -> bool + Sync, work: impl FnOnce() -> T) -> T {
    let (is_over, began) = (AtomicBool::new(false), Instant::now());
    let cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..cores.div_ceil(2) {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    if !is_on(began.elapsed()) {
                        thread::sleep(Duration::from_millis(1));
                    }
                }
            });
        }
        let done = work();
        is_over.store(true, Ordering::Relaxed);
        done
    })
}

fn report(what: &str, count: usize, of: usize) {
    let [low, high] = binomial(count, of).map(|share| 100.0 * share);
    let share = 100.0 * count as f64 / of as f64;
    println!("{count} of {of} {what}: {share:.1} % ({low:.1} to {high:.1} %)");
}

/// The interval, at 95 %, of a probability of which `count` of so many trials were successes (Wilson 1927).
fn binomial(count: usize, of: usize) -> [f64; 2] {
    const Z: f64 = 1.96;
    let (n, share) = (of as f64, count as f64 / of as f64);
    let middle = share + Z * Z / (2.0 * n);
    let half = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    [middle - half, middle + half].map(|end| (end / (1.0 + Z * Z / n)).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_that_switches_does_so_between_windows() {
        let limits = Limits::three_windows(Duration::from_secs(10));
        // The windows last from 0 to 1 s, from 11 to 12 s and from 22 to 23 s, or a little longer.
        let is_on = |load: Load, s| load.is_on(Duration::from_secs(s), &limits);
        let at = [0, 4, 8, 15, 18, 26];
        let switching = at.map(|s| is_on(Load::Switching, s));
        assert_eq!(switching, [false, false, true, true, false, false]);
        assert!(at.into_iter().all(|s| is_on(Load::Steady, s)));
    }

    #[test]
    fn the_interval_of_a_share_is_that_of_the_tables() {
        let [low, high] = binomial(190, 200);
        assert!((low - 0.910).abs() < 1e-3 && (high - 0.973).abs() < 1e-3);
        assert_eq!(binomial(200, 200)[1], 1.0);
    }
}
