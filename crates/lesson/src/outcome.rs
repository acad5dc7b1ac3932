//! What a lesson measured, and what came of its checks.

use serde::Serialize;

use super::{Bench, Lesson, Part};
use lang::tr;
use model::trace::TimedRound;

/// What came of a lesson.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// The lesson's name.
    pub lesson: &'static str,
    /// `cuda` or `cpu`.
    pub engine: &'static str,
    /// The device's name.
    pub device: String,
    /// Parts, in the lesson's order.
    pub parts: Vec<PartOutcome>,
    /// Parts set against each other.
    pub factors: Vec<Factor>,
    /// What was checked.
    pub checks: Vec<Check>,
    /// What the engine has none of, so that only results were checked.
    pub missing: Option<String>,
    /// What there is to learn.
    pub closing: String,
    /// Pictures by name.
    pub pictures: Vec<Picture>,
    /// A timed round and its title, for a timeline.
    #[serde(skip)]
    pub trace: Option<(String, TimedRound)>,
}

/// What came of a part.
#[derive(Clone, Debug, Serialize)]
pub struct PartOutcome {
    /// What it was.
    pub title: &'static str,
    /// What is set against other parts, in milliseconds.
    pub time_ms: Option<f64>,
    /// What was measured.
    pub figures: Vec<Figure>,
    /// What is to be known of them.
    pub note: Option<String>,
}

/// A number that was measured.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Figure {
    /// Of what.
    pub label: String,
    /// How much.
    pub value: f64,
    /// In which unit; empty for a plain number.
    pub unit: &'static str,
}

/// How much faster one part was than another.
#[derive(Clone, Debug, Serialize)]
pub struct Factor {
    /// What it says.
    pub label: &'static str,
    /// The slower part's time over the faster one's.
    pub value: f64,
    /// Whether there is a difference worth the name, in either direction.
    pub matters: bool,
}

/// A check and its result.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Check {
    /// What was checked.
    pub what: String,
    /// Whether it is so.
    pub passed: bool,
}

/// A picture that a lesson made.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Picture {
    /// What it shows.
    pub name: &'static str,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Red, green, blue and alpha bytes of each pixel, row by row from the top.
    #[serde(skip)]
    pub rgba: Vec<u8>,
}

impl Picture {
    /// A picture whose pixels are a function of their place.
    pub fn painted(
        name: &'static str,
        (width, height): (u32, u32),
        pixel: impl Fn(u32, u32) -> [u8; 3],
    ) -> Picture {
        let places = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        let color = |(x, y)| {
            let [red, green, blue] = pixel(x, y);
            [red, green, blue, 255]
        };
        Picture {
            name,
            width,
            height,
            rgba: places.flat_map(color).collect(),
        }
    }
}

/// What a part's work brings; see [`PartOutcome`].
#[derive(Default, Debug)]
pub struct Measured {
    /// What is set against other parts, in milliseconds.
    pub time_ms: Option<f64>,
    /// What was measured.
    pub figures: Vec<Figure>,
    /// What is to be known of it.
    pub note: Option<String>,
    /// What was checked.
    pub checks: Vec<Check>,
    /// Pictures made.
    pub pictures: Vec<Picture>,
    /// A timed round, for the timeline.
    pub trace: Option<TimedRound>,
}

impl Measured {
    /// With the time that is set against other parts', as a figure too.
    pub fn of_time(label: &str, ms: f64) -> Measured {
        let measured = Measured {
            time_ms: Some(ms),
            ..Measured::default()
        };
        measured.time(label, ms)
    }

    /// With another figure.
    pub fn figure(mut self, label: impl Into<String>, value: f64, unit: &'static str) -> Measured {
        self.figures.push(Figure {
            label: label.into(),
            value,
            unit,
        });
        self
    }

    /// With a time in milliseconds as a figure, in the unit that suits it.
    pub fn time(self, label: impl Into<String>, ms: f64) -> Measured {
        match ms {
            _ if ms < 1.0 => self.figure(label, ms * 1e3, "µs"),
            _ if ms < 1e3 => self.figure(label, ms, "ms"),
            _ => self.figure(label, ms / 1e3, "s"),
        }
    }

    /// With the result of a check.
    pub fn check(mut self, what: impl Into<String>, passed: bool) -> Measured {
        self.checks.push(Check {
            what: what.into(),
            passed,
        });
        self
    }

    /// With something to be known.
    pub fn note(mut self, note: impl Into<String>) -> Measured {
        self.note = Some(note.into());
        self
    }
}

impl Outcome {
    /// Of a lesson that begins.
    pub(super) fn of(lesson: &Lesson, bench: &Bench) -> Outcome {
        let missing = lesson.missing_on_cpu.filter(|_| bench.is_cpu());
        Outcome {
            lesson: lesson.name,
            engine: bench.engine_name(),
            device: bench.info().name.clone(),
            parts: Vec::new(),
            factors: Vec::new(),
            checks: Vec::new(),
            missing: missing.map(|what| {
                tr!("The CPU engine has no {what}: results are verified, but CPU timings are not representative", what = lang::text(what))
            }),
            closing: String::new(),
            pictures: Vec::new(),
            trace: None,
        }
    }

    /// Takes what a part brought.
    pub(super) fn add(&mut self, part: &Part, measured: Measured) {
        let several = measured
            .checks
            .into_iter()
            .map(|Check { what, passed }| Check {
                what: tr!("{}: {what}", lang::text(part.title), what = what),
                passed,
            });
        self.checks.extend(several);
        self.pictures.extend(measured.pictures);
        if let Some(round) = measured.trace {
            self.trace = Some((lang::text(part.title).into(), round));
        }
        self.parts.push(PartOutcome {
            title: part.title,
            time_ms: measured.time_ms,
            figures: measured.figures,
            note: measured.note,
        });
    }

    /// Sets parts against each other and draws the conclusion.
    pub(super) fn close(&mut self, lesson: &Lesson) {
        for compare in lesson.compared {
            let time = |part: usize| self.parts[part].time_ms;
            if let (Some(slow), Some(fast)) = (time(compare.slow), time(compare.fast)) {
                let value = slow / fast;
                let matters = !(1.0 / 1.05..1.05).contains(&value);
                let label = compare.label;
                self.factors.push(Factor {
                    label,
                    value,
                    matters,
                });
            }
        }
        self.closing = (lesson.closing)(self);
        if self.engine == "cpu" && self.missing.is_none() {
            self.closing += tr!(
                " (This ran on the CPU engine, whose threads play the part of multiprocessors.)"
            );
        }
    }

    /// Whether every check passed.
    pub fn passed(&self) -> bool {
        self.checks.iter().all(|check| check.passed)
    }

    /// A factor's value; 1 where it could not be taken.
    pub fn factor(&self, index: usize) -> f64 {
        self.factors.get(index).map_or(1.0, |factor| factor.value)
    }

    /// A factor in words.
    pub fn compared(&self, index: usize) -> String {
        in_words(self.factor(index))
    }

    /// What to say where a factor shows a gain, and what where it shows none.
    pub fn explain(&self, index: usize, gain: &'static str, none: &'static str) -> &'static str {
        if self.factor(index) >= 1.05 {
            gain
        } else {
            none
        }
    }

    /// A part's figure of this label; 0 where there is none.
    pub fn value(&self, part: usize, label: &str) -> f64 {
        let figures = self.parts.get(part).map(|part| &part.figures);
        let mut figures = figures.into_iter().flatten();
        figures
            .find(|figure| figure.label == label)
            .map_or(0.0, |figure| figure.value)
    }
}

/// A factor in words: `4.2× faster`.
pub(super) fn in_words(factor: f64) -> String {
    if factor >= 1.05 {
        let digits = match factor {
            _ if factor < 2.0 => 2,
            _ if factor < 100.0 => 1,
            _ => 0,
        };
        tr!(
            "{factor}× faster",
            factor = format_args!("{factor:.digits$}")
        )
    } else if factor > 1.0 / 1.05 {
        tr!(
            "no difference (factor {factor})",
            factor = format_args!("{factor:.2}")
        )
    } else {
        tr!("{}× slower", format_args!("{:.1}", 1.0 / factor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_in_words_say_when_there_is_no_difference() {
        let words = [5.26, 130.0, 1.02, 0.97, 0.5].map(in_words);
        assert_eq!(
            words,
            [
                "5.3× faster",
                "130× faster",
                "no difference (factor 1.02)",
                "no difference (factor 0.97)",
                "2.0× slower"
            ]
        );
    }

    #[test]
    fn times_take_the_unit_that_suits_them() {
        let measured = Measured::of_time("a", 0.25)
            .time("b", 2.5)
            .time("c", 2500.0);
        let shown = measured.figures.iter().map(|f| (f.value, f.unit));
        let want = [(250.0, "µs"), (2.5, "ms"), (2.5, "s")];
        assert_eq!(shown.collect::<Vec<_>>(), want);
        assert_eq!(measured.time_ms, Some(0.25));
    }
}
