//! What a comparison found, in words, and where figures come from.

use crate::Finding;
use lang::tr;
use serde::{Deserialize, Serialize};

/// What B is, against A: `8.1× faster ± 0.2`, `1.04 to 1.31× slower`, `no difference (within 2 %)`,
/// `not resolved: at most 9 %`. The digits follow the interval.
pub fn finding_in_words(finding: Finding) -> String {
    match finding {
        Finding::Difference { ratio, interval } if ratio > 1.0 => {
            match Digits::of(ratio, interval) {
                Digits::PlusMinus(ratio, half) => {
                    tr!("{ratio}× faster ± {half}")
                }
                Digits::FromTo(low, high) => tr!("{low} to {high}× faster"),
            }
        }
        Finding::Difference { ratio, interval } => {
            match Digits::of(1.0 / ratio, interval.map(f64::recip)) {
                Digits::PlusMinus(ratio, half) => {
                    tr!("{ratio}× slower ± {half}")
                }
                Digits::FromTo(low, high) => tr!("{low} to {high}× slower"),
            }
        }
        Finding::NoDifference { within } => tr!(
            "no difference (within {percent} %)",
            percent = percent(within).max(1.0)
        ),
        Finding::NotResolved { at_most: None } => tr!("not resolved: too few rounds").into(),
        Finding::NotResolved {
            at_most: Some(at_most),
        } if at_most < 1.0 => tr!(
            "not resolved: at most {percent} %",
            percent = percent(at_most)
        ),
        // A bound of twice the time and more says nothing to anybody.
        Finding::NotResolved { at_most: Some(_) } => {
            tr!("not resolved: rounds vary too much").into()
        }
        Finding::ChangesWithLoad {
            interval: [low, high],
        } => {
            let range = if low >= 1.0 {
                let [low, high] = outwards([low, high], 0);
                tr!("{low} to {high}× faster")
            } else if high <= 1.0 {
                let [low, high] = outwards([1.0 / high, 1.0 / low], 0);
                tr!("{low} to {high}× slower")
            } else {
                let ([_, slower], [_, faster]) =
                    (outwards([1.0, 1.0 / low], 0), outwards([1.0, high], 0));
                tr!("{slower}× slower to {faster}× faster")
            };
            tr!("changes with the load: {range}")
        }
    }
}

/// What else the machine did while rounds were compared: which part of them was preempted, if any, and how
/// many cores the CPU engine had.
pub fn load_in_words(load: &Load, engine: &str) -> Vec<String> {
    let preempted = load.preempted_share().filter(|&share| share >= 0.01);
    let preempted = preempted.map(|share| {
        let percent = (100.0 * share).round();
        tr!("{percent} % of rounds preempted")
    });
    let cores = load.cores().filter(|_| engine == "cpu");
    let cores = cores.map(|cores| tr!("{cores} cores used", cores = format!("{cores:.1}")));
    preempted.into_iter().chain(cores).collect()
}

/// What stands in the place of a finding or a time that is not known: it is being measured, or it was not
/// recorded.
pub fn unknown_in_words(source: &Source) -> &'static str {
    match source {
        Source::MeasuredHere(_) => tr!("measuring …"),
        Source::RecordedOn(_) => tr!("not recorded"),
    }
}

/// Where and when something was recorded: `recorded on NVIDIA H200, 2026-11-26, commit 0123abcd`.
pub fn recorded_in_words(recorded: &Recorded) -> String {
    tr!(
        "recorded on {device}, {date}, commit {commit}",
        device = recorded.device,
        date = recorded.date,
        commit = recorded.commit
    )
}

/// A fraction in per cent, rounded up.
fn percent(fraction: f64) -> f64 {
    (fraction * 100.0 - 1e-6).ceil()
}

/// A factor above 1 and its interval with the digits that the interval allows.
enum Digits {
    /// The factor and how far the interval's ends are from it, where both are as far.
    PlusMinus(String, String),
    /// The interval.
    FromTo(String, String),
}

impl Digits {
    /// The ends of the interval may come in any order.
    fn of(factor: f64, [one, other]: [f64; 2]) -> Digits {
        let (low, high) = (one.min(other), one.max(other));
        let half = (high - factor).max(factor - low).max(0.01);
        let digits = (-half.log10().floor()).clamp(0.0, 2.0) as i32;
        let unit = 10f64.powi(digits);
        // In units of the last digit; a hair less than the next digit is that digit.
        let units = |half: f64| (half * unit - 1e-6).ceil().max(1.0);
        let (below, above) = (units(factor - low), units(high - factor));
        let shown = below.max(above) / unit;
        let low_shown = (factor * unit).round() / unit - shown;
        // With one digit, or where one end is nearer, ± would say what the interval does not.
        if half > 0.25 * factor
            || below.max(above) > 1.5 * below.min(above)
            || low_shown < 1.0 + 1e-6
        {
            let [low, high] = outwards([low, high], digits);
            return Digits::FromTo(low, high);
        }
        let digits = digits as usize;
        Digits::PlusMinus(format!("{factor:.digits$}"), format!("{shown:.digits$}"))
    }
}

/// An interval of factors with this many digits after the point, or more where it begins near 1; rounded
/// outwards, so that it stays inside.
fn outwards([low, high]: [f64; 2], digits: i32) -> [String; 2] {
    let least = match low {
        _ if low < 2.0 => 2,
        _ if low < 10.0 => 1,
        _ => 0,
    };
    let digits = digits.max(least);
    let unit = 10f64.powi(digits);
    let low = (low * unit + 1e-6).floor() / unit;
    let high = (high * unit - 1e-6).ceil() / unit;
    let digits = digits as usize;
    [low, high].map(|end| format!("{end:.digits$}"))
}

// Where figures come from, and under which load they were measured.

/// Where figures come from.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// They were measured by this program, on this machine, under this load.
    MeasuredHere(Load),
    /// They were recorded.
    RecordedOn(Recorded),
}

/// Where and when something was recorded.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Recorded {
    /// The device's name.
    pub device: String,
    /// The day, as `YYYY-MM-DD`.
    pub date: String,
    /// The commit that was built.
    pub commit: String,
}

impl Default for Source {
    /// Measured here, with nothing known of the load yet.
    fn default() -> Source {
        Source::MeasuredHere(Load::default())
    }
}

/// What else the machine did while rounds were measured.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Load {
    /// Rounds that were measured.
    pub rounds: u64,
    /// Those during which the system took a core from this program.
    pub preempted: u64,
    /// The time of these rounds, in seconds.
    pub wall_seconds: f64,
    /// The time that this program computed meanwhile, in seconds, added over its threads.
    pub cpu_seconds: f64,
}

impl Load {
    /// Counts a round that took this many seconds, in which the program computed for so many, and
    /// whether the system took a core from it meanwhile.
    pub fn add(&mut self, wall_seconds: f64, cpu_seconds: f64, is_preempted: bool) {
        self.rounds += 1;
        self.preempted += u64::from(is_preempted);
        self.wall_seconds += wall_seconds;
        self.cpu_seconds += cpu_seconds;
    }

    /// The fraction of rounds that were preempted; `None` without rounds.
    pub fn preempted_share(&self) -> Option<f64> {
        (self.rounds > 0).then(|| self.preempted as f64 / self.rounds as f64)
    }

    /// How many cores the program had on average; `None` without rounds.
    pub fn cores(&self) -> Option<f64> {
        (self.wall_seconds > 0.0).then(|| self.cpu_seconds / self.wall_seconds)
    }
}

// Two settings.

/// One of the two settings that are compared.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The first: the setting before a change.
    A,
    /// The second: the setting after it.
    B,
}

impl Side {
    /// Both, A first.
    pub const ALL: [Side; 2] = [Side::A, Side::B];

    /// Its letter.
    pub fn name(self) -> &'static str {
        match self {
            Side::A => "A",
            Side::B => "B",
        }
    }

    /// The other side.
    pub fn other(self) -> Side {
        match self {
            Side::A => Side::B,
            Side::B => Side::A,
        }
    }
}

#[cfg(test)]
mod words_tests {
    use super::*;

    /// A ratio with its interval, and what is said of it: one that is not symmetric is said from and to.
    const SAID: &str = "
8.13 7.95 8.30: 8.1× faster ± 0.2
1.254 1.25 1.26: 1.25× faster ± 0.01
0.5 0.49 0.51: 2.00× slower ± 0.05
1.024 1.0203 1.037: 1.02 to 1.04× faster
1.5 1.5 1.5: 1.50× faster ± 0.01
131 127 134: 131× faster ± 4
12 8.04 15.96: 8.0 to 16.0× faster
1.23 1.04 1.31: 1.04 to 1.31× faster
0.1 0.07 0.14: 7.1 to 14.3× slower
1.01 0.97 1.03: not resolved: at most 4 %
1 0.999 1.001: no difference (within 1 %)
1.015 1.012 1.018: no difference (within 2 %)
1.1 0.8 1.5: not resolved: at most 50 %
1.1 0.32 1.5: not resolved: rounds vary too much
3.04 3.02 3.88: 3.0 to 3.9× faster
0.15 0.15038 0.69444: 1.44 to 6.65× slower
3 1.5 3.2: 1.50 to 3.20× faster
1.2 3.9: changes with the load: 1.20 to 3.90× faster
0.1 0.4: changes with the load: 2.5 to 10.0× slower
0.7 3.9: changes with the load: 1.43× slower to 3.90× faster";

    #[test]
    fn digits_follow_the_interval() {
        for row in SAID.trim().lines() {
            let (numbers, words) = row.split_once(": ").unwrap();
            let numbers: Vec<f64> = numbers.split(' ').map(|it| it.parse().unwrap()).collect();
            let finding = match numbers[..] {
                [ratio, low, high] => Finding::of(ratio, [low, high]),
                [low, high] => Finding::ChangesWithLoad {
                    interval: [low, high],
                },
                _ => unreachable!("{row}"),
            };
            assert_eq!(finding_in_words(finding), words, "{row}");
            // What changes with the load has a direction only if every window has it.
            let is_faster = words.contains("faster") && !words.contains("slower to");
            assert_eq!(finding.is_faster(), is_faster, "{row}");
        }
    }
}

#[cfg(test)]
mod source_tests {
    use super::*;

    #[test]
    fn a_load_is_what_rounds_had_of_the_machine() {
        let mut load = Load::default();
        assert_eq!((load.preempted_share(), load.cores()), (None, None));
        load.add(0.5, 1.0, true);
        load.add(1.5, 2.0, false);
        assert_eq!(
            (load.preempted_share(), load.cores()),
            (Some(0.5), Some(1.5))
        );
    }

    #[test]
    fn figures_say_in_data_where_they_come_from() {
        let json = |source| serde_json::to_value(source).unwrap();
        assert_eq!(json(Source::default())["measured-here"]["rounds"], 0);
        let recorded = json(Source::RecordedOn(Recorded {
            device: "NVIDIA H200".into(),
            ..Recorded::default()
        }));
        assert_eq!(recorded["recorded-on"]["device"], "NVIDIA H200");
    }
}
