//! Lessons as they are run: measured, or as they were recorded on a GPU, for machines without one. The program
//! has recordings as compressed JSON, which is read when the first is asked for.

use std::io;
use std::ops::ControlFlow;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::bench::{LessonError, Result, SweepSetup};
use crate::file::{LESSONS, Lesson};
use crate::interleave::limits;
use crate::measure::{OnProgress, Progress, run_on};
use crate::outcome::{Factor, Outcome, PartOutcome, Windows};
use crate::speedup::Speedup;
use experiment::Limits;
use lang::Language;
use session::trace::{read_stored, write_stored};
use session::{DeviceChoice, Finding, Recorded, Source};

/// The time between two windows while lessons are recorded: nobody explains anything meanwhile.
const WINDOWS_APART: Duration = Duration::from_secs(2);

static RECORDINGS: LazyLock<Recordings> = LazyLock::new(|| {
    let bytes = include_bytes!("../../../assets/bench/recorded-lessons.json.gz");
    read_stored(bytes).expect("the recording is whole")
});

/// What was recorded of lessons.
#[derive(Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
struct Recordings {
    recorded: Recorded,
    lessons: Vec<Recording>,
}

/// An [`Outcome`] as it is stored: what the lesson itself says is left out, and so are its checks and
/// pictures.
#[derive(Serialize, Deserialize)]
struct Recording {
    lesson: &'static str,
    /// Of what was measured ([`Lesson::key`]).
    key: u32,
    parts: Vec<PartOutcome>,
    /// For each of the lesson's comparisons, the ratio of the times and what was found of it.
    findings: Vec<(f64, Finding)>,
    windows: Option<Windows>,
    speedup: Option<Speedup>,
}

impl Recording {
    /// `None` if a part could not be measured, or a check failed.
    fn of(lesson: &Lesson, outcome: Outcome) -> Option<Recording> {
        let is_measured = |part: &PartOutcome| !part.figures.is_empty();
        if !outcome.parts.iter().all(is_measured) || !outcome.passed() {
            return None;
        }
        let factors = outcome.factors.iter();
        Some(Recording {
            lesson: lesson.name,
            key: lesson.key(),
            findings: factors.map(|it| (it.value, it.finding)).collect(),
            parts: outcome.parts,
            windows: outcome.windows,
            speedup: outcome.speedup,
        })
    }
}

impl Recordings {
    /// The outcome of a lesson, in this thread's language; `None` if it was not recorded, or measures
    /// something else by now.
    fn outcome(&self, lesson: &'static Lesson) -> Option<Outcome> {
        let mut recordings = self.lessons.iter();
        let recording = recordings.find(|it| (it.lesson, it.key) == (lesson.name, lesson.key()))?;
        let (parts, findings) = (&recording.parts, &recording.findings);
        let parts = lesson.parts.iter().zip(parts.clone());
        let factors = lesson.compared.iter().zip(findings);
        let mut outcome = Outcome {
            lesson: lesson.name,
            engine: "cuda",
            device: self.recorded.device.clone(),
            parts: parts
                .map(|(of, part)| PartOutcome {
                    title: of.title,
                    note: Some(of.note.to_owned()).filter(|it| !it.is_empty()),
                    ..part
                })
                .collect(),
            factors: factors
                .map(|(compare, &(value, finding))| Factor {
                    label: compare.label,
                    value,
                    finding,
                })
                .collect(),
            windows: recording.windows,
            source: Source::RecordedOn(self.recorded.clone()),
            speedup: recording.speedup.clone(),
            ..Outcome::default()
        };
        outcome.close(lesson);
        Some(outcome)
    }
}

impl Lesson {
    /// A number that changes with what is measured, and with nothing else that it says.
    fn key(&self) -> u32 {
        let mut key = flate2::Crc::new();
        for part in &self.parts {
            let script = part.script.as_ref().map(|it| it.get_ref());
            let rounds = part.rounds.as_ref().map(|it| {
                let each = [it.generations, it.on_cpu.unwrap_or_default(), it.in_a_row];
                let lattices = (it.instances, it.size, it.kernel.name);
                (lattices, each, it.set, it.sweep)
            });
            let how = (part.time, part.divide, part.connections, part.balance);
            key.update(format!("{:?}", (how, script, rounds)).as_bytes());
        }
        for compare in &self.compared {
            key.update(format!("{} {}", compare.slow, compare.fast).as_bytes());
        }
        key.sum()
    }
}

/// Measures every part of a lesson on a device (the first one if there are several). A sweep steps
/// the lattices of `swept` if given, else the lesson's own. Blocks until all parts are measured,
/// usually for seconds, or until `on_progress` returns `Break`. With [`DeviceChoice::Auto`], the CPU
/// measures where a GPU opens and then cannot do the first part. With [`DeviceChoice::Recorded`], the
/// outcome is the recorded one; the CPU measures lessons that were not recorded.
///
/// # Errors
/// [`LessonError::Engine`] if the device cannot be opened or fails, [`LessonError::Child`] if a
/// child process fails, [`LessonError::Ended`] if `on_progress` ended the lesson. A failed check is
/// not an error.
pub fn run(
    lesson: &'static Lesson,
    device: DeviceChoice,
    swept: Option<SweepSetup>,
    on_progress: &mut OnProgress,
) -> Result<Outcome> {
    if device == DeviceChoice::Recorded
        && let Some(outcome) = recorded(lesson)
    {
        return Ok(outcome);
    }
    let mut is_measured = false;
    let limits = limits();
    let outcome = run_on(device, lesson, swept, limits, &mut |progress| {
        is_measured |= !matches!(progress, Progress::Measuring(_));
        on_progress(progress)
    });
    let mut outcome = match outcome {
        Err(LessonError::Engine(why))
            if device == DeviceChoice::Auto && !is_measured && why.is_of_device() =>
        {
            tracing::warn!("{}; the CPU computes instead", lang::english(why));
            run_on(DeviceChoice::Cpu, lesson, swept, limits, on_progress)
        }
        outcome => outcome,
    }?;
    if outcome.missing.is_some() {
        outcome.recorded = recorded(lesson).map(Box::new);
    }
    Ok(outcome)
}

/// What was recorded of a lesson on a GPU, in this thread's language; `None` if nothing was.
pub fn recorded(lesson: &'static Lesson) -> Option<Outcome> {
    RECORDINGS.outcome(lesson)
}

/// Every lesson, in the order in which they are recorded: these, then those about what the CPU engine lacks.
pub fn recording_order(first: &[&'static Lesson]) -> Vec<&'static Lesson> {
    let mut lessons: Vec<&Lesson> = LESSONS.iter().collect();
    lessons.sort_by_key(|lesson| {
        let is_first = first.iter().any(|it| it.name == lesson.name);
        (!is_first, lesson.missing_on_cpu.is_none())
    });
    lessons
}

/// Measures lessons on a GPU, one after the other, until a deadline, and returns the content of
/// `assets/bench/recorded-lessons.json.gz`. Tells of each lesson whether it is in there: those that fail or cannot
/// be measured whole are left out. It blocks for ten seconds or more a lesson.
///
/// # Errors
/// A number was measured that JSON has not.
pub fn record(
    device: DeviceChoice,
    lessons: &[&'static Lesson],
    recorded: Recorded,
    deadline: Instant,
    on_lesson: &mut dyn FnMut(&Lesson, bool),
) -> io::Result<Vec<u8>> {
    let limits = Limits::three_windows(platform::timeout(WINDOWS_APART));
    let mut recordings = Vec::new();
    for &lesson in lessons {
        let outcome = lang::with(Language::English, || {
            run_on(device, lesson, None, limits, &mut |_| {
                if Instant::now() < deadline {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                }
            })
        });
        let recording = match outcome {
            Ok(outcome) => Recording::of(lesson, outcome),
            Err(LessonError::Ended) => break,
            Err(why) => {
                tracing::warn!("{}: {why}", lesson.name);
                None
            }
        };
        on_lesson(lesson, recording.is_some());
        recordings.extend(recording);
    }
    write_stored(&Recordings {
        recorded,
        lessons: recordings,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MeasuredValue;
    use crate::find;
    use crate::outcome::tests::{FINDINGS, outcome_of};

    /// What is read again of an outcome that is recorded.
    fn stored(lesson: &'static Lesson, outcome: &Outcome) -> Outcome {
        let recordings = Recordings {
            recorded: Recorded {
                device: "a GPU".into(),
                ..Recorded::default()
            },
            lessons: vec![Recording::of(lesson, outcome.clone()).expect("all of it was measured")],
        };
        let bytes = write_stored(&recordings).unwrap();
        let read: Recordings = read_stored(&bytes).unwrap();
        read.outcome(lesson).unwrap()
    }

    #[test]
    fn a_recorded_outcome_is_the_measured_one_and_says_where_it_comes_from() {
        for lesson in LESSONS.iter() {
            for finding in FINDINGS {
                let findings = vec![finding; lesson.compared.len()];
                let measured = outcome_of(lesson, "cuda", &findings);
                let read = stored(lesson, &measured);
                // What is unresolved can be measured again here, and not there.
                if matches!(
                    finding,
                    Finding::Difference { .. } | Finding::NoDifference { .. }
                ) {
                    assert_eq!(read.closing, measured.closing);
                    assert_eq!(read.conclusions, measured.conclusions);
                }
                let found = measured.findings_in_words();
                assert!(read.findings_in_words().starts_with(&found), "{found}");
                assert!(read.findings_in_words().contains("recorded on a GPU"));
                let chinese =
                    test_support::with(Language::Chinese, || stored(lesson, &measured).closing);
                let is_other = chinese != measured.closing || chinese.is_empty();
                assert!(is_other, "{}", lesson.name);
            }
        }
    }

    #[test]
    fn lessons_are_recorded_with_their_figures_and_rounds_until_the_deadline() {
        let lessons = ["event", "context"].map(|name| find(name).unwrap());
        let mut told = Vec::new();
        let mut on_lesson = |lesson: &Lesson, is_in: bool| told.push((lesson.name, is_in));
        let mut record_until = |deadline| {
            let (device, recorded) = (DeviceChoice::Cpu, Recorded::default());
            let bytes = record(device, &lessons, recorded, deadline, &mut on_lesson).unwrap();
            read_stored::<Recordings>(&bytes).unwrap()
        };
        let recordings = record_until(Instant::now() + Duration::from_secs(240));
        let outcome = recordings.outcome(lessons[0]).unwrap();
        let [part] = &outcome.parts[..] else {
            panic!("{outcome:?}");
        };
        assert!(part.time_ms.is_some() && part.trace.is_some());
        assert!(
            part.figures
                .iter()
                .any(|it| it.unit == "ms" || it.unit == "µs")
        );
        let none = record_until(Instant::now());
        assert!(none.outcome(lessons[0]).is_none());
        assert_eq!(told, [("event", true), ("context", true)]);
    }

    #[test]
    fn lessons_of_lectures_are_recorded_first_then_those_about_gpus() {
        let first = find("event").unwrap();
        let order = recording_order(&[first]);
        assert_eq!(order.len(), LESSONS.len());
        assert_eq!(order[0].name, "event");
        let rest = order[1..]
            .iter()
            .map(|lesson| lesson.missing_on_cpu.is_none());
        assert!(rest.is_sorted());
    }

    #[test]
    fn what_was_recorded_takes_the_place_of_a_measurement() {
        let lesson = find("event").unwrap();
        let outcome = run(lesson, DeviceChoice::Recorded, None, &mut |_| {
            ControlFlow::Continue(())
        });
        let outcome = outcome.unwrap();
        assert!(outcome.recorded_in_words().is_some());
    }

    #[test]
    fn few_recorded_rounds_contradict_their_figures_and_are_left_out() {
        let mut contradicting = Vec::new();
        for lesson in LESSONS.iter() {
            let outcome = recorded(lesson).unwrap();
            let scenes = lesson.scenes().into_iter();
            let all = scenes.filter(|it| !outcome.draws(lesson, it));
            contradicting.extend(all.map(|it| (lesson.name, it)));
        }
        assert!(contradicting.len() < 3, "{contradicting:?}");
    }

    #[test]
    fn one_of_the_choices_is_near_to_what_is_recorded() {
        for lesson in LESSONS.iter().filter(|it| !it.factors.is_empty()) {
            let outcome = recorded(lesson).unwrap();
            assert!(lesson.right(&outcome).is_some(), "{}", lesson.name);
            let measured = outcome.factors[lesson.asked].value;
            let distances = lesson.factors.iter().map(|it| (it / measured).ln().abs());
            let nearest = distances.fold(f64::MAX, f64::min);
            assert!(nearest < 1.3_f64.ln(), "{}: {measured}", lesson.name);
        }
    }

    /// What a conclusion says happened is to be seen beside it.
    #[test]
    fn what_recorded_conclusions_explain_is_drawn_or_a_figure() {
        let is_drawn = |outcome: &Outcome, parts: [usize; 2]| {
            let mut parts = parts.into_iter().map(|part| &outcome.parts[part]);
            parts.all(|part| part.trace.is_some())
        };
        let mut explained = 0;
        for lesson in LESSONS.iter() {
            let Some(outcome) = recorded(lesson) else {
                continue;
            };
            for (compare, said) in lesson.compared.iter().zip(&outcome.conclusions) {
                let said = said.as_deref().unwrap_or_default();
                let words = [
                    "overlap",
                    "wait",
                    "took turns",
                    "at the same time",
                    "at once",
                ];
                if words.iter().any(|word| said.contains(word)) {
                    explained += 1;
                    let parts = [compare.slow, compare.fast];
                    assert!(is_drawn(&outcome, parts), "{}: {said}", lesson.name);
                }
            }
        }
        assert!(explained > 6, "{explained}");
    }

    #[test]
    fn everything_recorded_can_be_read_in_chinese() {
        let has_chinese = |text: &str| text.contains(|it| ('\u{4e00}'..='\u{9fff}').contains(&it));
        // The shape of a block, or a name in code.
        let is_name = |text: &str| {
            !text.contains(' ') && text.contains(|it: char| it.is_ascii_digit() || it == '.')
        };
        test_support::with(Language::Chinese, || {
            for outcome in LESSONS.iter().filter_map(recorded) {
                for part in &outcome.parts {
                    let names = part.figures.iter().map(MeasuredValue::name);
                    let note = part.note.as_deref().map(lang::shown);
                    for text in names.chain(note) {
                        assert!(has_chinese(&text) || is_name(&text), "{text}");
                    }
                }
            }
        });
    }

    #[test]
    fn recordings_take_two_mebibytes_of_the_program_at_most() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../assets/bench");
        let files = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
        let recordings =
            files.filter(|it| it.file_name().to_string_lossy().starts_with("recorded-"));
        let all: u64 = recordings.map(|it| it.metadata().unwrap().len()).sum();
        assert!(all <= 2 << 20, "{all} bytes");
    }
}
