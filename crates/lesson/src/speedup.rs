//! The speed-up curve: rounds per second by the number of instances, for several ways of issuing a
//! round. A lesson's parts are measured for 1, 2, 4 … instances.

use std::borrow::Cow;

use lang::tr;
use serde::{Deserialize, Serialize};

/// The curves, as far as they are measured.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Speedup {
    /// The kernel that steps the lattices.
    pub kernel: Cow<'static, str>,
    /// Cells across a lattice.
    pub width: u32,
    /// Cells down a lattice.
    pub height: u32,
    /// Generations per round.
    pub generations_per_round: u32,
    /// The numbers of instances that are measured, in ascending order.
    pub instances: Vec<usize>,
    /// A curve for each way of issuing a round.
    pub series: Vec<SpeedupSeries>,
}

/// One of the curves.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SpeedupSeries {
    /// How rounds are issued, in English.
    pub title: Cow<'static, str>,
    /// In the order of [`Speedup::instances`], as far as they are measured.
    pub points: Vec<SpeedupPoint>,
    /// Why there are no points; `None` if there can be.
    pub unavailable: Option<String>,
}

/// A point of a curve.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct SpeedupPoint {
    /// The number of instances.
    pub instances: usize,
    /// The median, in rounds per second.
    pub rounds_per_second: f64,
    /// The interval of the median; `None` if too few rounds were measured.
    pub interval: Option<[f64; 2]>,
}

impl Speedup {
    /// The numbers of instances to measure, up to `most`: 1, 2, 4 … and `most` itself.
    pub fn counts(most: usize) -> Vec<usize> {
        let powers = std::iter::successors(Some(1), |count| Some(2 * count));
        let smaller = powers.take_while(|&count| count < most);
        smaller.chain([most]).collect()
    }

    /// How many of the numbers of instances are measured.
    pub fn measured(&self) -> usize {
        let points = self.series.iter().map(|series| series.points.len());
        points.max().unwrap_or(0)
    }

    /// What a round steps, in words.
    pub fn caption(&self) -> String {
        tr!(
            "N instances of {width} × {height} cells · kernel {kernel} · generations per round: {generations}",
            width = self.width,
            height = self.height,
            kernel = self.kernel,
            generations = self.generations_per_round
        )
    }

    /// What a speed-up is, in words.
    pub fn meaning() -> &'static str {
        tr!("speed-up = N × T(1) / T(N); T: time per round")
    }

    /// The rounds per second of one instance, in the first way of issuing; `None` until it is
    /// measured.
    pub fn alone(&self) -> Option<f64> {
        let mut points = self.series.iter().flat_map(|series| &series.points);
        let alone = points.find(|point| point.instances == 1)?;
        Some(alone.rounds_per_second.max(f64::MIN_POSITIVE))
    }

    /// The points of the nth number of instances, in words: that number, and the rates with their
    /// speed-ups.
    pub fn row(&self, nth: usize) -> [String; 2] {
        let alone = self.alone();
        let rates = self.series.iter().filter_map(|series| {
            let point = series.points.get(nth)?;
            let (title, rate) = (lang::shown(&series.title), point.in_words());
            let times = alone.map(|alone| point.times(point.rounds_per_second, alone));
            let times = times.map_or(String::new(), |times| format!(" ({times:.1}×)"));
            Some(format!("{title} {rate}{times}"))
        });
        let rates: Vec<String> = rates.collect();
        [
            format!("N = {}", self.instances[nth]),
            tr!("{} rounds/s", rates.join(" · ")),
        ]
    }
}

impl SpeedupPoint {
    /// How many times faster than one after the other the instances are stepped at this many rounds
    /// per second, where one alone has `alone` rounds per second.
    pub fn times(&self, rate: f64, alone: f64) -> f64 {
        self.instances as f64 * rate / alone
    }

    /// The rate, with the digits that its interval supports: `12300 ± 200`.
    pub fn in_words(&self) -> String {
        let rate = self.rounds_per_second;
        let Some([low, high]) = self.interval else {
            let unit = unit_of(rate) / 10.0;
            return tr!("about {rate}", rate = rounded(rate, unit));
        };
        let half = (high - rate).max(rate - low).max(rate / 1000.0);
        if half > rate / 4.0 {
            // The halves may be very unequal.
            let [low, high] = [low, high].map(|rate| rounded(rate, unit_of(rate) / 10.0));
            return tr!("{low} to {high}");
        }
        let unit = unit_of(half);
        // A hair less than the next digit is that digit.
        let half = (half / unit - 1e-6).ceil() * unit;
        format!("{} ± {}", rounded(rate, unit), rounded(half, unit))
    }
}

/// The power of ten of a number's first digit.
fn unit_of(value: f64) -> f64 {
    10f64.powf(value.max(f64::MIN_POSITIVE).log10().floor())
}

/// A number as a multiple of a power of ten.
fn rounded(value: f64, unit: f64) -> String {
    let digits = (-unit.log10()).round().max(0.0) as usize;
    format!("{:.digits$}", (value / unit).round() * unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LessonError, Outcome, Progress, Result, SweepSetup, find};
    use engine::kernels;
    use life::Size;
    use session::DeviceChoice;
    use std::ops::ControlFlow;

    #[test]
    fn powers_of_two_are_measured_and_the_number_of_instances_itself() {
        let counts = [1, 2, 12, 16].map(Speedup::counts);
        let wanted = [&[1][..], &[1, 2], &[1, 2, 4, 8, 12], &[1, 2, 4, 8, 16]];
        assert_eq!(counts, wanted);
    }

    #[test]
    fn rates_have_the_digits_that_their_intervals_support() {
        for (rounds_per_second, interval, words) in [
            (12_345.0, Some([12_200.0, 12_500.0]), "12300 ± 200"),
            (12_345.0, Some([12_345.0; 2]), "12350 ± 20"),
            (3.456, Some([3.4, 3.5]), "3.46 ± 0.06"),
            (60.0, Some([57.0, 61.0]), "60 ± 3"),
            (9_000.0, Some([8_030.0, 9_970.0]), "9000 ± 1000"),
            (40.5, Some([24.0, 99.7]), "24 to 100"),
            (3456.0, None, "about 3500"),
            (0.3456, None, "about 0.35"),
        ] {
            let point = SpeedupPoint {
                instances: 1,
                rounds_per_second,
                interval,
            };
            assert_eq!(point.in_words(), words);
        }
    }

    /// The outcome of the lesson with small lattices on the CPU, by a kernel that takes no batch, as long as
    /// `goes_on`, and the curve after each number of instances.
    fn swept(instances: usize, goes_on: bool) -> (Result<Outcome>, Vec<Speedup>) {
        let sweep = SweepSetup {
            instances,
            size: Size::new(32, 32).unwrap(),
            kernel: kernels::find("bits").unwrap(),
            generations_per_round: 2,
        };
        let mut curves = Vec::new();
        let outcome = crate::run(
            find("speedup").unwrap(),
            DeviceChoice::Cpu,
            Some(sweep),
            &mut |progress| {
                if let Progress::Swept(curve) = progress {
                    curves.push(Speedup::clone(&curve));
                }
                if goes_on {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                }
            },
        );
        (outcome, curves)
    }

    #[test]
    fn each_number_of_instances_adds_a_point_with_its_interval_to_every_curve_that_there_can_be() {
        let (outcome, curves) = swept(3, true);
        let outcome = outcome.unwrap();
        assert_eq!(curves.len(), 3);
        let why = Some("kernel 'bits' steps one lattice per launch");
        for (measured, curve) in (1..).zip(&curves) {
            assert_eq!(curve.instances, [1, 2, 3]);
            assert_eq!(curve.measured(), measured);
            let [possible @ .., batch] = &curve.series[..] else {
                panic!("{curve:?}");
            };
            assert_eq!(
                (&batch.points[..], batch.unavailable.as_deref()),
                (&[][..], why)
            );
            for series in possible {
                assert_eq!(series.unavailable, None);
                assert_eq!(series.points.len(), measured, "{}", series.title);
                for point in &series.points {
                    let [low, high] = point.interval.expect("enough rounds");
                    let rate = point.rounds_per_second;
                    assert!(0.0 < low && low <= rate && rate <= high, "{point:?}");
                }
            }
        }
        assert_eq!(outcome.speedup.as_ref(), curves.last());
        // The parts are those of all instances.
        for (part, series) in outcome.parts.iter().zip(&curves[2].series[..2]) {
            let rate = 1e3 / part.time_ms.unwrap();
            assert_eq!(series.points[2].rounds_per_second, rate);
        }
        assert_eq!(outcome.parts[2].note.as_deref(), why);
        assert!(outcome.parts[2].figures.is_empty());
        assert!(outcome.passed(), "{:?}", outcome.checks);
        assert!(outcome.factors.is_empty(), "the CPU gives no factor");
        assert_eq!(
            outcome.closing,
            find("speedup").unwrap().missing_on_cpu.unwrap().on_gpu
        );
    }

    #[test]
    fn a_lesson_that_is_closed_is_not_measured_to_its_end() {
        let (outcome, curves) = swept(4, false);
        assert!(matches!(outcome, Err(LessonError::Ended)), "{outcome:?}");
        assert_eq!(curves.len(), 1);
    }
}
