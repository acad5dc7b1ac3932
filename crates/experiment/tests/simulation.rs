//! Comparisons of simulated rounds, whose true ratio is known: at least 95 % of the intervals contain
//! it, at most 5 % of equal settings are told apart, and at least 90 % of differences of 25 % are found,
//! for every kind of noise that machines make.
//!
//! The ratio is that under the load of the seconds of the comparison. Noise that multiplies the time of
//! a round leaves it as it is without load. Where noise adds to the time, it is the median of the ratios
//! of blocks that meet the same load at the same times, over many repetitions.
//!
//! `cargo test -p experiment --test simulation -- --ignored --nocapture` makes ten times as many and
//! prints the table of `docs/reliability.md`.

use std::time::{Duration, Instant};

use experiment::{Blocks, Executor, Finding, Limits, Plan, Round, Turn, median};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

/// The time of a round of the faster setting without noise, in milliseconds.
const ROUND_MS: f64 = 1.0;

/// The ratios of the slower setting's time to the faster's.
const RATIOS: [f64; 6] = [1.0, 1.02, 1.05, 1.25, 2.0, 12.0];

/// What the machine does to the time of a round.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Noise {
    /// Each round is independent of the others, and one in three differs by more than 20 %.
    Iid,
    /// A clock that wanders: each round resembles the one before.
    Ar1,
    /// In bursts of a quarter of a second, rounds take up to three times as long.
    Bursts,
    /// A clock that slows down by a third within the window, and recovers.
    Drift,
    /// Every other round, at random, takes twice as long.
    Bimodal,
    /// One round in four waits for up to ten milliseconds, however long it takes itself.
    Additive,
    /// While another program runs, for a fifth of a second now and then, it takes the core for two
    /// milliseconds at a time, and the more often the longer a round is.
    Preemption,
}

impl Noise {
    const ALL: [Noise; 7] = [
        Noise::Iid,
        Noise::Ar1,
        Noise::Bursts,
        Noise::Drift,
        Noise::Bimodal,
        Noise::Additive,
        Noise::Preemption,
    ];

    /// Whether it multiplies the time of a round, and so leaves the ratio as it is.
    fn multiplies(self) -> bool {
        !matches!(self, Noise::Additive | Noise::Preemption)
    }
}

/// A machine under load.
struct Machine {
    noise: Noise,
    random: Xoshiro256PlusPlus,
    /// When the load begins and ends, in milliseconds, in turn.
    switches: Vec<f64>,
    phase: f64,
    /// The present deviation of a clock that wanders.
    wander: f64,
    now_ms: f64,
}

impl Machine {
    /// The load follows from one seed, what is by chance in each round from the other.
    fn new(noise: Noise, load_seed: u64, seed: u64) -> Machine {
        let mut load = Xoshiro256PlusPlus::seed_from_u64(load_seed);
        let mean_ms = if noise == Noise::Bursts { 250.0 } else { 200.0 };
        let mut at = 0.0;
        let switches = (0..400).map(|_| {
            at -= mean_ms * uniform(&mut load).ln();
            at
        });
        Machine {
            noise,
            switches: switches.collect(),
            phase: uniform(&mut load),
            wander: 0.0,
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            now_ms: 0.0,
        }
    }

    fn is_loaded(&self) -> bool {
        self.switches.partition_point(|&at| at <= self.now_ms) % 2 == 1
    }

    /// The time of a round that takes this long without noise, in milliseconds, a part of whose time is
    /// by chance in any case. At `pace_ms` the next one begins that much later than this one.
    fn round(&mut self, ms: f64, pace_ms: f64) -> f64 {
        let jitter = 1.0 + 0.02 * uniform(&mut self.random);
        let took = ms
            * jitter
            * match self.noise {
                Noise::Iid => (0.2 * normal(&mut self.random)).exp(),
                Noise::Ar1 => {
                    self.wander = 0.95 * self.wander + 0.05 * normal(&mut self.random);
                    self.wander.exp()
                }
                Noise::Bursts if self.is_loaded() => 1.0 + 2.0 * uniform(&mut self.random),
                Noise::Drift => {
                    let turn = std::f64::consts::TAU * (self.phase + self.now_ms / 4000.0);
                    1.0 + 0.17 * (1.0 + turn.sin())
                }
                Noise::Bimodal if uniform(&mut self.random) < 0.5 => 2.0,
                _ => 1.0,
            };
        let waits = match self.noise {
            Noise::Additive if uniform(&mut self.random) < 0.25 => 10.0 * uniform(&mut self.random),
            Noise::Preemption if self.is_loaded() => {
                // On average one every four milliseconds of computing.
                let (mut count, mut computed) = (0.0, 0.0);
                loop {
                    computed -= 4.0 * uniform(&mut self.random).ln();
                    if computed > took {
                        break 2.0 * count;
                    }
                    count += 1.0;
                }
            }
            _ => 0.0,
        };
        let took = took + waits;
        self.now_ms += took.max(pace_ms);
        took
    }
}

fn uniform(random: &mut Xoshiro256PlusPlus) -> f64 {
    random.random()
}

/// A value of the normal distribution (Box and Muller).
fn normal(random: &mut Xoshiro256PlusPlus) -> f64 {
    let radius = (-2.0 * (1.0 - uniform(random)).ln()).sqrt();
    radius * (std::f64::consts::TAU * uniform(random)).cos()
}

/// How a machine is loaded, and what is compared on it.
#[derive(Clone, Copy)]
struct Case {
    noise: Noise,
    ratio: f64,
    /// The time from the beginning of a round to that of the next one, at least.
    pace_ms: f64,
}

/// The log ratios of blocks under the load of one seed, in windows that begin at these times and last so
/// long.
fn log_ratios(case: Case, load_seed: u64, seed: u64, windows: &[f64], lasts_ms: f64) -> Vec<f64> {
    let mut machine = Machine::new(case.noise, load_seed, seed);
    let of_windows = windows.iter().zip(seed..).flat_map(|(&begins_ms, seed)| {
        machine.now_ms = begins_ms;
        let mut blocks = Blocks::new(2, seed);
        while machine.now_ms < begins_ms + lasts_ms || blocks.count() < 2 {
            let ms = ROUND_MS * [case.ratio, 1.0][blocks.next_subject()];
            let took = machine.round(ms, case.pace_ms);
            blocks.record(took);
        }
        blocks.log_ratios(0, 1)
    });
    of_windows.collect()
}

/// A comparison, as far as it got.
fn execute(case: Case, machine: &mut Machine, seed: u64, plan: Plan) -> Executor {
    let mut executor = Executor::new(2, seed, plan);
    let began = Instant::now();
    let at = |ms: f64| Duration::from_secs_f64(ms / 1e3);
    loop {
        match executor.next_turn() {
            Turn::Round(subject) => {
                let ms = ROUND_MS * [case.ratio, 1.0][subject];
                let time = machine.round(ms, case.pace_ms);
                let round = Round {
                    time,
                    lasted: at(time),
                    cpu: Duration::ZERO,
                    is_preempted: false,
                };
                executor.record(round, began + at(machine.now_ms));
            }
            Turn::Wait(_) => machine.now_ms = 10_000.0 * executor.windows() as f64,
            Turn::Done => return executor,
        }
    }
}

/// The ratio of all blocks in as many repetitions under the load of one seed.
fn stated(case: Case, repetitions: u64, once: impl Fn(u64) -> Vec<f64>) -> f64 {
    if case.noise.multiplies() {
        return case.ratio;
    }
    let all = (0..repetitions).flat_map(|seed| once(seed + 1_000_000));
    median(all).map_or(f64::NAN, f64::exp)
}

/// The interval that is printed: that of the ratio, or the range of ratios that is not excluded.
fn interval(finding: Finding) -> [f64; 2] {
    match finding {
        Finding::Difference { interval, .. } | Finding::ChangesWithLoad { interval } => interval,
        Finding::NoDifference { within: most }
        | Finding::NotResolved {
            at_most: Some(most),
        } => [1.0 / (1.0 + most), 1.0 + most],
        Finding::NotResolved { at_most: None } => panic!("too few blocks"),
    }
}

/// What came of a comparison.
#[derive(Clone, Copy)]
struct Outcome {
    finding: Finding,
    /// Whether its interval contains the ratio under the load of its seconds.
    contains: bool,
    /// Whether it contains the ratio of all seconds under this kind of load.
    contains_any: bool,
}

/// Of how many outcomes this holds.
fn percent(outcomes: &[Outcome], which: impl Fn(&Outcome) -> bool) -> f64 {
    let count = outcomes.iter().filter(|outcome| which(outcome)).count();
    100.0 * count as f64 / outcomes.len() as f64
}

fn contains(outcome: &Outcome) -> bool {
    outcome.contains
}

/// Whether it found the first setting slower.
fn is_found(outcome: &Outcome) -> bool {
    outcome.finding.is_faster()
}

fn is_slower(outcome: &Outcome) -> bool {
    interval(outcome.finding)[1] < 1.0 / 1.02
}

fn is_difference(outcome: &Outcome) -> bool {
    is_found(outcome) || is_slower(outcome)
}

/// Where and how long rounds are compared.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Mode {
    /// While somebody waits, for three seconds at most.
    Live,
    /// In three windows of a second, ten seconds apart.
    Windows,
}

/// Makes this many comparisons at full speed, and as many at 60 rounds a second.
fn compare(mode: Mode, noise: Noise, ratio: f64, comparisons: u64) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    for pace_ms in [0.0, 1000.0 / 60.0] {
        let case = Case {
            noise,
            ratio,
            pace_ms,
        };
        let any = stated(case, 1000, |seed| {
            log_ratios(case, seed, seed, &[0.0], 3000.0)
        });
        for comparison in 0..comparisons {
            let load_seed = comparison + ratio.to_bits() + pace_ms.to_bits();
            let seed = load_seed.wrapping_mul(3);
            let mut machine = Machine::new(case.noise, load_seed, seed);
            let plan = match mode {
                Mode::Live => Plan::Live(1.0),
                Mode::Windows => Plan::Windows(Limits::three_windows(Duration::ZERO)),
            };
            let found = execute(case, &mut machine, seed, plan);
            let (finding, windows, lasts_ms) = match mode {
                Mode::Live => (found.finding, &[0.0][..], machine.now_ms),
                Mode::Windows => {
                    let found = found.across_windows(0, 1).map(|found| found.1);
                    (found, &[0.0, 10_000.0, 20_000.0][..], 1000.0)
                }
            };
            let finding = finding.expect("enough blocks");
            let ratio = stated(case, 60, |seed| {
                log_ratios(case, load_seed, seed, windows, lasts_ms)
            });
            let [low, high] = interval(finding);
            let contains = |ratio| (low * (1.0 - 1e-9)..=high * (1.0 + 1e-9)).contains(&ratio);
            outcomes.push(Outcome {
                finding,
                contains: contains(ratio),
                contains_any: contains(any),
            });
        }
    }
    outcomes
}

/// Compares at every ratio, and holds what comes of it to what is promised.
fn simulate(mode: Mode, noise: Noise, comparisons: u64) -> [Vec<Outcome>; RATIOS.len()] {
    let outcomes = RATIOS.map(|ratio| compare(mode, noise, ratio, comparisons));
    let all = percent(&outcomes.concat(), contains);
    assert!(
        all >= 95.0,
        "{mode:?}, {noise:?}: {all} % contain the ratio"
    );
    let [equal, different @ ..] = &outcomes;
    let differ = percent(equal, is_difference);
    assert!(
        differ <= 5.0,
        "{mode:?}, {noise:?}: {differ} % of equals differ"
    );
    for known in &different[2..] {
        let found = percent(known, is_found);
        assert!(found >= 90.0, "{mode:?}, {noise:?}: {found} % are found");
    }
    let opposite = percent(&different.concat(), is_slower);
    assert_eq!(opposite, 0.0, "{mode:?}, {noise:?}");
    outcomes
}

#[test]
fn findings_hold_what_they_promise_whatever_the_noise() {
    for noise in Noise::ALL {
        simulate(Mode::Live, noise, 8);
        simulate(Mode::Windows, noise, 8);
    }
}

#[test]
#[ignore = "takes minutes; prints the table of docs/reliability.md"]
fn table() {
    const COMPARISONS: u64 = 500;
    println!(
        "| noise | {} | of all seconds | equals differ | 1.05 found | 1.25 found |",
        RATIOS.map(|it| format!("{it}")).join(" | ")
    );
    println!("|---|{}", "---:|".repeat(RATIOS.len() + 4));
    for mode in [Mode::Live, Mode::Windows] {
        for noise in Noise::ALL {
            let outcomes = simulate(mode, noise, COMPARISONS);
            let contain = outcomes.each_ref().map(|it| percent(it, contains));
            let [equal, _, small, known, ..] = &outcomes;
            println!(
                "| {noise:?}, {mode:?} | {} | {:.1} | {:.1} | {:.1} | {:.1} |",
                contain.map(|it| format!("{it:.1}")).join(" | "),
                percent(&outcomes.concat(), |it| it.contains_any),
                percent(equal, is_difference),
                percent(small, is_found),
                percent(known, is_found),
            );
            let worst = contain.into_iter().fold(100.0, f64::min);
            assert!(worst >= 95.0, "{mode:?}, {noise:?}: {worst} %");
        }
    }
}
