//! What a lesson measured, and what came of its checks.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::bench::{Bench, Result};
use crate::file::{Compare, Lesson, Missing, Part, Scene, TimeOf};
use crate::speedup::Speedup;
use engine::{Nanos, Span};
use lang::numbers::time_us;
use lang::tr;
use session::trace::{StepKind, TimedRound};
use session::{Finding, Source, finding_in_words, load_in_words, median, recorded_in_words};

/// The result of a lesson.
#[derive(Clone, Debug, Default, Serialize)]
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
    /// When parts were set against each other; `None` if none were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub windows: Option<Windows>,
    /// Where all figures come from, and what else the machine did while parts were set against each
    /// other.
    pub source: Source,
    /// What was checked.
    pub checks: Vec<Check>,
    /// What the engine has none of, so that only results were checked.
    pub missing: Option<String>,
    /// What there is to learn.
    pub closing: String,
    /// Pictures by name.
    pub pictures: Vec<LessonImage>,
    /// The speed-up curve, if the lesson has a sweep.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speedup: Option<Speedup>,
    /// What is concluded from each of the factors, in words; `None` if nothing is.
    #[serde(skip)]
    pub conclusions: Vec<Option<String>>,
    /// What was recorded on a GPU, if this engine lacks what the lesson is about.
    #[serde(skip)]
    pub recorded: Option<Box<Outcome>>,
}

/// The windows in which parts were measured in turn.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Windows {
    /// How many.
    pub count: usize,
    /// Seconds from the end of one to the beginning of the next.
    pub seconds_apart: f64,
}

/// The result of a part. Recordings have all of it but the title.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub struct PartOutcome {
    /// What it was.
    #[serde(skip_deserializing)]
    pub title: &'static str,
    /// The time that is compared with other parts', in milliseconds.
    pub time_ms: Option<f64>,
    /// The interval of that time, if there were enough runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval_ms: Option<[f64; 2]>,
    /// What was measured.
    pub figures: Vec<MeasuredValue>,
    /// A remark on the figures, shown below them: [`lang::shown`] translates it.
    pub note: Option<String>,
    /// A timed round of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<TimedRound>,
}

/// A number that was measured.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MeasuredValue {
    /// Of what, in English.
    pub label: String,
    /// How much.
    pub value: f64,
    /// In which unit; empty for a plain number.
    pub unit: &'static str,
}

impl MeasuredValue {
    /// The label in this thread's language.
    pub fn name(&self) -> String {
        lang::shown(&self.label)
    }

    /// The number with about three significant digits.
    fn digits(&self) -> String {
        let digits = match self.value.abs() {
            v if v >= 100.0 || v == v.trunc() => 0,
            v if v >= 10.0 => 1,
            _ => 2,
        };
        format!("{:.digits$}", self.value)
    }

    /// The number with its unit: `3.25 ms`.
    pub fn in_words(&self) -> String {
        match self.unit {
            "" => self.digits(),
            "ms" => time_us(1e3 * self.value),
            unit => format!("{} {unit}", self.digits()),
        }
    }
}

/// What was measured of the ops of one name in a timed round; times are medians, in milliseconds.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct OpFigures {
    /// The name, in English.
    pub label: &'static str,
    /// How many ops there were.
    pub count: usize,
    /// How long one takes on the device.
    pub length_ms: f64,
    /// From the call until the host goes on; `None` in a graph, where there is no call for each.
    pub call_ms: Option<f64>,
    /// From the call until it is done; `None` also of what the host sets at once.
    pub done_ms: Option<f64>,
    /// Bytes that one copies.
    pub bytes: u64,
}

impl OpFigures {
    /// The ops and how many: `upload × 24`.
    pub fn name(&self) -> String {
        match self.count {
            1 => lang::text(self.label).into(),
            count => format!("{} × {count}", lang::text(self.label)),
        }
    }

    /// What was measured: the length, the rate of a copy, and the times from the call until it returns and
    /// until the op is done. An op that the host sets at once has only the time until its call returns.
    pub fn values(&self) -> [Option<String>; 4] {
        let time = |ms: f64| time_us(1e3 * ms);
        let length = match (self.call_ms, self.done_ms) {
            (Some(_), None) => None,
            _ => Some(time(self.length_ms)),
        };
        let rate = self.bytes as f64 / self.length_ms.max(1e-6) / 1e6;
        let rate = (rate >= 0.1).then(|| format!("{rate:.1} GB/s"));
        [length, rate, self.call_ms.map(time), self.done_ms.map(time)]
    }

    /// The same in words: `83 µs · 50.5 GB/s · returns after 3 µs · done after 90 µs`.
    pub fn in_words(&self) -> String {
        let [length, rate, call, done] = self.values();
        let call = call.map(|call| tr!("returns after {call}"));
        let done = done.map(|done| tr!("done after {done}"));
        Vec::from_iter([length, rate, call, done].into_iter().flatten()).join(" · ")
    }
}

impl PartOutcome {
    /// What was measured of the ops of its timed round: of each if a name has no more than two, which may do
    /// different work, else of all of that name.
    pub fn ops(&self) -> Vec<OpFigures> {
        let Some(round) = &self.trace else {
            return Vec::new();
        };
        let label = |step: usize| {
            let facts = &round.steps[step];
            match facts.kind {
                StepKind::Event | StepKind::Wait => "",
                _ => facts.name(),
            }
        };
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for step in (0..round.steps.len()).filter(|step| !label(*step).is_empty()) {
            let mut known = groups.iter_mut();
            match known.find(|it| label(it[0]) == label(step)) {
                Some(group) => group.push(step),
                None => groups.push(vec![step]),
            }
        }
        let each = |group: Vec<usize>| match group[..] {
            [first, second] => vec![vec![first], vec![second]],
            _ => vec![group],
        };
        let mut groups: Vec<_> = groups.into_iter().flat_map(each).collect();
        groups.sort();
        let figures = groups.into_iter().filter_map(|steps| {
            let spans = round.spans.iter();
            let spans = spans.filter(|span| steps.binary_search(&(span.step as usize)).is_ok());
            let spans: Vec<&Span> = spans.collect();
            let call = |span: &&Span| round.host.iter().find(|call| call.step == span.step);
            let calls = || spans.iter().filter_map(|span| Some((*span, call(span)?)));
            let done = calls().map(|(span, call)| Nanos(span.end.0 - call.start.0).as_ms());
            let is_set_at_once = matches!(label(steps[0]), "release threshold" | "advise");
            Some(OpFigures {
                label: label(steps[0]),
                count: spans.len(),
                length_ms: median(spans.iter().map(|span| span.length().as_ms()))?,
                call_ms: median(calls().map(|(_, call)| call.length().as_ms())),
                done_ms: median(done).filter(|_| !is_set_at_once),
                bytes: round.steps[spans.first()?.step as usize].bytes,
            })
        });
        figures.collect()
    }

    /// The time of this label in milliseconds: a figure, or that of an op.
    pub(super) fn milliseconds(&self, label: &str) -> Option<f64> {
        let of_op = || Some(self.ops().iter().find(|it| it.label == label)?.length_ms);
        self.value(label).or_else(of_op)
    }

    /// The figure of this label.
    pub fn value(&self, label: &str) -> Option<f64> {
        let figure = self.figures.iter().find(|figure| figure.label == label);
        figure.map(|figure| figure.value)
    }
}

/// How much faster one part was than another.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(into = "FactorReport")]
pub struct Factor {
    /// What was compared.
    pub label: &'static str,
    /// The time of the part expected to be slower over that of the other.
    pub value: f64,
    /// What can be said of it.
    pub finding: Finding,
}

/// A factor in JSON.
#[derive(Serialize)]
struct FactorReport {
    label: &'static str,
    value: f64,
    /// Whether there is a difference worth the name, in either direction.
    matters: bool,
    finding: &'static str,
    /// The interval of the factor; `None` if there were too few rounds for one.
    interval: Option<[f64; 2]>,
}

impl From<Factor> for FactorReport {
    fn from(factor: Factor) -> FactorReport {
        let finding = match factor.finding {
            Finding::Difference { .. } => "difference",
            Finding::NoDifference { .. } => "no-difference",
            Finding::NotResolved { .. } => "not-resolved",
            Finding::ChangesWithLoad { .. } => "changes-with-the-load",
        };
        FactorReport {
            label: factor.label,
            value: factor.value,
            matters: matches!(factor.finding, Finding::Difference { .. }),
            finding,
            interval: factor.finding.interval(),
        }
    }
}

/// A check and its result.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Check {
    /// What was checked.
    pub what: String,
    /// Whether the check passed.
    pub passed: bool,
}

/// A picture that a lesson made.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct LessonImage {
    /// Of which part it is, by its title.
    pub part: &'static str,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Red, green, blue and alpha bytes of each pixel, row by row from the top.
    #[serde(skip)]
    pub rgba: Arc<[u8]>,
}

impl LessonImage {
    /// A picture of so many pixels across and in all, each a function of its number; small ones are enlarged.
    pub(crate) fn painted(
        width: u32,
        pixels: usize,
        pixel: impl Fn(usize) -> [u8; 3],
    ) -> LessonImage {
        let width = width.max(1);
        let height = pixels as u32 / width;
        let zoom = (384 / width.max(height)).max(1);
        let (wide, high) = (width * zoom, height * zoom);
        let places = (0..high).flat_map(|y| (0..wide).map(move |x| (x / zoom, y / zoom)));
        let color = |(x, y)| {
            let [red, green, blue] = pixel((y * width + x) as usize);
            [red, green, blue, 255]
        };
        LessonImage {
            part: "",
            width: wide,
            height: high,
            rgba: places.flat_map(color).collect(),
        }
    }
}

/// What a part's work brings; see [`PartOutcome`].
#[derive(Default, Debug)]
pub struct Measured {
    /// The time that is compared with other parts', in milliseconds.
    pub time_ms: Option<f64>,
    /// What was measured.
    pub figures: Vec<MeasuredValue>,
    /// What was checked.
    pub checks: Vec<Check>,
    /// Pictures made.
    pub pictures: Vec<LessonImage>,
    /// A timed round, for the timeline.
    pub trace: Option<TimedRound>,
}

impl Measured {
    /// The time that is set against other parts'.
    ///
    /// # Panics
    /// If there is none: then the part cannot be compared.
    pub(super) fn compared_ms(&self) -> f64 {
        self.time_ms.expect("a part that is compared has a time")
    }

    /// With the time that is set against other parts', as a figure too.
    pub fn of_time(label: &str, ms: f64) -> Measured {
        let mut measured = Measured {
            time_ms: Some(ms),
            ..Measured::default()
        };
        measured.time(label, ms);
        measured
    }

    /// Adds a figure.
    pub fn figure(&mut self, label: &str, value: f64, unit: &'static str) {
        self.figures.push(MeasuredValue {
            label: label.into(),
            value,
            unit,
        });
    }

    /// Adds a plain number to the figure of this label.
    pub fn add(&mut self, label: &str, value: f64) {
        match self.figures.iter_mut().find(|figure| figure.label == label) {
            Some(figure) => figure.value += value,
            None => self.figure(label, value, ""),
        }
    }

    /// Adds a time in milliseconds as a figure.
    pub fn time(&mut self, label: &str, ms: f64) {
        self.figure(label, ms, "ms");
    }

    /// Adds the result of a check. The same that passes again is one.
    pub fn check(&mut self, what: impl Into<String>, passed: bool) {
        let check = Check {
            what: what.into(),
            passed,
        };
        if !self.checks.contains(&check) {
            self.checks.push(check);
        }
    }
}

/// A part with everything in place, which can be measured again and again.
pub(crate) trait Experiment {
    /// Measures once: the time that is compared, and figures that follow from the same run.
    fn sample(&mut self) -> Result<Measured>;

    /// A timed round, to be shown; `None` of what has none.
    fn round(&mut self) -> Result<Option<TimedRound>> {
        Ok(None)
    }

    /// What needs no repetition: checks, pictures, and figures besides.
    fn check(&mut self) -> Result<Measured> {
        Ok(Measured::default())
    }
}

impl TimeOf {
    /// This time of a round, in milliseconds.
    pub(crate) fn in_round(self, round: &TimedRound) -> Option<f64> {
        let spans = || round.spans.iter();
        let end = match self {
            TimeOf::Wall => return Some(round.length()?.as_ms()),
            TimeOf::Launch => return Some(round.median_launch()?.as_ms()),
            TimeOf::Device => spans().map(|span| span.end).max()?,
            TimeOf::Last => spans().max_by_key(|span| span.step)?.end,
        };
        let start = spans().map(|span| span.start).min()?;
        Some(Nanos(end.0 - start.0).as_ms())
    }
}

impl Part {
    /// How much longer than measured the round is that is drawn: 2 is twice as long.
    pub(crate) fn stretch(&self, measured: &PartOutcome) -> Option<f64> {
        let drawn = self.time.in_round(measured.trace.as_ref()?)?;
        Some(drawn / (measured.time_ms? * self.divide))
    }

    /// The note, and how the round whose ops have figures differs from what was measured: it is several, or
    /// takes longer or less.
    pub fn remarks(&self, measured: &PartOutcome) -> String {
        let mut said = Vec::from_iter(measured.note.as_deref().map(lang::shown));
        let drawn = measured.trace.as_ref().and_then(TimedRound::length);
        if let Some(length) = drawn.filter(|_| self.time == TimeOf::Wall) {
            if self.divide > 1.0 {
                let count = self.divide;
                said.push(tr!("ops and drawing are of {count} in a row"));
            }
            if !matches!(self.stretch(measured), Some(0.95..=1.05)) {
                said.push(tr!(
                    "the ops alone, each timed: {time} from the first call to the last end",
                    time = time_us(length.as_us())
                ));
            }
        }
        said.join(" · ")
    }
}

impl Lesson {
    /// The figure that answers the question; `None` if it was not measured, or says nothing there.
    pub(super) fn answered(&self, outcome: &Outcome) -> Option<f64> {
        let answer = self.answer.as_ref()?;
        if answer.gpu && outcome.engine == "cpu" {
            return None;
        }
        outcome.parts.get(answer.part)?.value(&answer.figure)
    }

    /// How it ends, beside what is concluded from comparisons; may be empty.
    pub fn closing(&self, outcome: &Outcome) -> String {
        let value = self.answered(outcome);
        let holds = |from: f64| value.is_some_and(|value| from <= value);
        let mut closings = self.closings.iter().rev();
        let closing = closings.find(|it| it.from.is_none_or(holds));
        let text = closing.map_or("", |it| lang::text(it.text));
        text.replace("{value}", &format!("{:.0}", value.unwrap_or_default()))
    }
}

impl Outcome {
    /// Of a lesson that begins.
    pub(super) fn of(lesson: &Lesson, bench: &Bench) -> Outcome {
        let missing = lesson.missing_on_cpu.filter(|_| bench.is_cpu());
        Outcome {
            lesson: lesson.name,
            engine: bench.engine_name,
            device: bench.info.name.clone(),
            missing: missing.map(Missing::in_words),
            ..Outcome::default()
        }
    }

    /// What is shown in the end: the recorded outcome, if this engine lacks what the lesson is about.
    pub fn shown(&self) -> &Outcome {
        self.recorded.as_deref().unwrap_or(self)
    }

    /// Where and when it was recorded, in words; `None` if it was measured here.
    pub fn recorded_in_words(&self) -> Option<String> {
        match &self.source {
            Source::MeasuredHere(_) => None,
            Source::RecordedOn(recorded) => Some(recorded_in_words(recorded)),
        }
    }

    /// Takes a part's first sample, and what was seen when it was inspected.
    pub(super) fn add(&mut self, part: &Part, sample: Measured, inspected: Measured) {
        let note = match self.engine {
            "cpu" if !part.note_on_cpu.is_empty() => part.note_on_cpu,
            _ => part.note,
        };
        let checks = sample.checks.into_iter().chain(inspected.checks);
        let several = checks.map(|Check { what, passed }| Check {
            what: tr!("{}: {what}", lang::text(part.title)),
            passed,
        });
        self.checks.extend(several);
        let of_part = inspected.pictures.into_iter().map(|picture| LessonImage {
            part: part.title,
            ..picture
        });
        self.pictures.extend(of_part);
        let mut figures = sample.figures;
        figures.extend(inspected.figures);
        self.parts.push(PartOutcome {
            title: part.title,
            time_ms: sample.time_ms,
            interval_ms: None,
            figures,
            note: (!note.is_empty()).then(|| note.to_owned()),
            trace: inspected.trace,
        });
    }

    /// Puts a run that stands for many in the place of a part's first one, with the interval of its
    /// time.
    pub(super) fn replace(&mut self, part: usize, run: Measured, interval: Option<[f64; 2]>) {
        let part = &mut self.parts[part];
        part.time_ms = run.time_ms;
        part.interval_ms = interval;
        let sampled = ..run.figures.len();
        part.figures.splice(sampled, run.figures);
    }

    /// When parts were set against each other, and under which load if that was here, in words:
    /// `measured in 3 windows, 10 s apart`; `None` if none were.
    pub fn windows_in_words(&self) -> Option<String> {
        let windows = self.windows?;
        let when = tr!(
            "measured in {count} windows, {seconds} s apart",
            count = windows.count,
            seconds = windows.seconds_apart
        );
        let mut said = vec![when];
        if let Source::MeasuredHere(load) = &self.source {
            said.extend(load_in_words(load, self.engine));
        }
        Some(said.join(" · "))
    }

    /// What was found of each comparison, in words; where nothing was compared, how it ends. Of a recorded
    /// outcome it says so.
    pub fn findings_in_words(&self) -> String {
        let found = self.factors.iter().map(|factor| {
            let finding = finding_in_words(factor.finding);
            tr!("{label}: {finding}", label = lang::text(factor.label))
        });
        let mut found: Vec<String> = match &self.missing {
            None if !self.factors.is_empty() => found.collect(),
            None => vec![self.closing.clone()],
            Some(missing) => vec![missing.clone()],
        };
        found.extend(self.recorded_in_words());
        found.join(" · ")
    }

    /// Draws the conclusion, in this thread's language.
    pub fn close(&mut self, lesson: &Lesson) {
        if let Some(recorded) = &mut self.recorded {
            recorded.close(lesson);
        }
        let missing = lesson.missing_on_cpu.filter(|_| self.missing.is_some());
        self.missing = missing.map(Missing::in_words);
        let compared = lesson.compared.iter();
        // The times of what is missing say nothing.
        let concluded = compared.map(|it| self.conclude(it).filter(|_| missing.is_none()));
        self.conclusions = concluded.collect();
        if let Some(missing) = missing {
            self.closing = lang::text(missing.on_gpu).into();
            return;
        }
        let text = Some(lesson.closing(self)).filter(|text| !text.is_empty());
        let all = self.conclusions.iter().flatten().cloned().chain(text);
        let all = all.reduce(|all, next| tr!("{} {}", all, next));
        self.closing = all.unwrap_or_default();
        if self.engine == "cpu" {
            self.closing += tr!(
                " (This ran on the CPU engine, whose threads play the part of multiprocessors.)"
            );
        }
    }

    /// Whether the rounds of a scene show what was measured: none takes more than three times as long or less
    /// than two fifths as long, and the longer one is the slower part's. Timing each op takes time, and what the host does
    /// between ops is not drawn.
    pub fn draws(&self, lesson: &Lesson, scene: &Scene) -> bool {
        let drawn = |part: usize| {
            let (of, part) = (&lesson.parts[part], &self.parts[part]);
            Some((of.time.in_round(part.trace.as_ref()?)?, of.stretch(part)?))
        };
        let mut all = scene.parts.iter().filter_map(|&part| drawn(part));
        if all.any(|(_, stretch)| !(0.4..=3.0).contains(&stretch)) {
            return false;
        }
        let factor = scene.comparison.and_then(|at| self.factors.get(at));
        match (factor.map(|it| it.finding), &scene.parts[..]) {
            (Some(finding @ Finding::Difference { .. }), &[slow, fast]) => {
                let both = drawn(slow).zip(drawn(fast));
                both.is_none_or(|(slow, fast)| (slow.0 > fast.0) == finding.is_faster())
            }
            _ => true,
        }
    }

    /// Whether every check passed.
    pub fn passed(&self) -> bool {
        self.checks.iter().all(|check| check.passed)
    }

    /// What was compared, what was found, and what is concluded from it: the only way in which a
    /// closing speaks of a comparison. `None` if the parts were not compared, or nothing is concluded.
    fn conclude(&self, compare: &Compare) -> Option<String> {
        let factor = self.factors.iter().find(|it| it.label == compare.label)?;
        let ends = [compare.faster, compare.none, compare.slower];
        if ends.iter().all(|it| it.is_empty()) {
            return None;
        }
        let conclusion = match factor.finding {
            // In every window, if it changes with the load.
            finding if finding.is_faster() => lang::text(compare.faster),
            Finding::Difference { .. }
            | Finding::ChangesWithLoad {
                interval: [_, ..1.0],
            } => lang::text(compare.slower),
            Finding::NoDifference { .. }
            | Finding::NotResolved {
                at_most: Some(..0.1),
            } => lang::text(compare.none),
            _ if self.recorded_in_words().is_some() => {
                tr!("The recording varies too much to say more.")
            }
            Finding::NotResolved { .. } | Finding::ChangesWithLoad { .. } => {
                tr!("Measure again while nothing else is running on this machine.")
            }
        };
        let concluded = tr!(
            "{label}: {finding}. {conclusion}",
            label = lang::sentence_case(lang::text(factor.label)),
            finding = finding_in_words(factor.finding)
        );
        Some(concluded.trim_end().to_owned())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::LESSONS;
    use lang::Language;
    use session::Load;

    /// Findings as expected, of none, the opposite, not resolved, and changing with the load.
    pub(crate) const FINDINGS: [Finding; 5] = [
        Finding::Difference {
            ratio: 2.5,
            interval: [2.4, 2.6],
        },
        Finding::NoDifference { within: 0.015 },
        Finding::Difference {
            ratio: 0.5,
            interval: [0.48, 0.52],
        },
        Finding::NotResolved {
            at_most: Some(0.09),
        },
        Finding::ChangesWithLoad {
            interval: [0.7, 3.9],
        },
    ];

    #[test]
    fn figures_have_the_digits_they_deserve() {
        let digits = |value| {
            let (label, unit) = (String::new(), "");
            MeasuredValue { label, value, unit }.digits()
        };
        let shown = [12_345.6, 43.21, 5.678, 3.0, 0.0123, 10_000_000.5].map(digits);
        assert_eq!(shown, ["12346", "43.2", "5.68", "3", "0.01", "10000000"]);
    }

    /// What a run of the lesson with these findings would give.
    pub(crate) fn outcome_of(
        lesson: &'static Lesson,
        engine: &'static str,
        findings: &[Finding],
    ) -> Outcome {
        let mut outcome = Outcome {
            lesson: lesson.name,
            engine,
            device: "a device".into(),
            missing: lesson
                .missing_on_cpu
                .filter(|_| engine == "cpu")
                .map(|missing| missing.what.into()),
            ..Outcome::default()
        };
        for part in &lesson.parts {
            outcome.add(part, Measured::of_time("a run", 1.0), Measured::default());
        }
        for (compare, &finding) in lesson.compared.iter().zip(findings) {
            outcome.factors.push(Factor {
                label: compare.label,
                value: 1.0,
                finding,
            });
        }
        outcome.close(lesson);
        outcome
    }

    #[test]
    fn closings_say_what_was_found_and_conclude_a_gain_from_a_gain_alone() {
        for lesson in LESSONS.iter() {
            for language in [Language::English, Language::Chinese] {
                test_support::with(language, || concludes(lesson));
            }
        }
    }

    fn concludes(lesson: &'static Lesson) {
        let name = lesson.name;
        for (at, compare) in lesson.compared.iter().enumerate() {
            let label = lang::sentence_case(lang::text(compare.label));
            let without_words = FINDINGS.map(|finding| {
                // So that the words of another comparison are not taken for those of this one.
                let other = |other: usize| {
                    let ratio = 20.0 + other as f64;
                    let interval = [ratio - 1.0, ratio + 1.0];
                    Finding::Difference { ratio, interval }
                };
                let mut findings: Vec<_> = (0..lesson.compared.len()).map(other).collect();
                findings[at] = finding;
                let closing = outcome_of(lesson, "cuda", &findings).closing;
                let words = finding_in_words(finding);
                let is_said = closing.contains(&words) || !closing.contains(&label);
                assert!(is_said, "{name}: {closing}");
                closing.replace(&words, "")
            });
            let [faster, others @ ..] = without_words;
            // "both" of multi-kernel-streams follows from the two others, and is a figure only.
            if compare.label != "both" {
                assert!(faster.contains(&label), "{name}: {label}");
                assert!(!others.contains(&faster), "{name}: {label}");
            }
        }
    }

    #[test]
    fn what_the_cpu_engine_lacks_is_not_concluded_from_its_times() {
        for lesson in LESSONS.iter() {
            let name = lesson.name;
            for finding in FINDINGS {
                let findings = vec![finding; lesson.compared.len()];
                let closing = outcome_of(lesson, "cpu", &findings).closing;
                let Some(missing) = lesson.missing_on_cpu else {
                    assert!(closing.contains("CPU engine"), "{name}");
                    break;
                };
                assert_eq!(closing, missing.on_gpu);
            }
        }
    }

    #[test]
    fn a_finding_without_an_end_of_its_own_is_said_all_the_same() {
        let lesson = crate::find("pinned").unwrap();
        let outcome = outcome_of(lesson, "cuda", &FINDINGS[1..2]);
        let compare = Compare {
            none: "",
            ..lesson.compared[0]
        };
        let said = outcome.conclude(&compare).unwrap();
        let words = format!("{}.", finding_in_words(FINDINGS[1]));
        assert!(said.ends_with(&words), "{said}");
    }

    #[test]
    fn factors_in_json_keep_their_fields_and_have_the_finding() {
        let json = FINDINGS.map(|finding| {
            serde_json::to_value(Factor {
                label: "a",
                value: 2.5,
                finding,
            })
            .unwrap()
        });
        let want = [
            (true, "difference", [2.4, 2.6]),
            (false, "no-difference", [1.0 / 1.015, 1.015]),
            (true, "difference", [0.48, 0.52]),
            (false, "not-resolved", [1.0 / 1.09, 1.09]),
            (false, "changes-with-the-load", [0.7, 3.9]),
        ];
        let want = want.map(|(matters, finding, interval)| {
            serde_json::json!({
                "label": "a", "value": 2.5, "matters": matters, "finding": finding,
                "interval": interval,
            })
        });
        assert_eq!(json, want);
    }

    #[test]
    fn windows_are_said_with_their_load() {
        let mut outcome = outcome_of(&LESSONS[0], "cpu", &[]);
        assert_eq!(outcome.windows_in_words(), None);
        outcome.windows = Some(Windows {
            count: 3,
            seconds_apart: 10.0,
        });
        let mut load = Load::default();
        load.add(1.0, 1.9, true);
        outcome.source = Source::MeasuredHere(load);
        let words =
            "measured in 3 windows, 10 s apart · 100 % of rounds preempted · 1.9 cores used";
        assert_eq!(outcome.windows_in_words().as_deref(), Some(words));
    }

    #[test]
    fn a_median_takes_the_place_of_the_first_sample_and_leaves_what_was_inspected() {
        let lesson = &LESSONS[0];
        let mut outcome = outcome_of(lesson, "cuda", &[]);
        outcome.parts.clear();
        let sample = |ms: f64| {
            let mut sample = Measured::of_time("a run", ms);
            sample.figure("a second", 1e3 / ms, "1/s");
            sample
        };
        let mut inspected = Measured::default();
        inspected.figure("launches", 3.0, "");
        outcome.add(&lesson.parts[0], sample(5.0), inspected);
        assert_eq!(outcome.parts[0].value("a run"), Some(5.0));
        outcome.replace(0, sample(4.0), Some([3.5, 4.5]));
        let part = &outcome.parts[0];
        let figures: Vec<f64> = part.figures.iter().map(|it| it.value).collect();
        assert_eq!(figures, [4.0, 250.0, 3.0]);
        assert_eq!(
            (part.time_ms, part.interval_ms),
            (Some(4.0), Some([3.5, 4.5]))
        );
    }
}
