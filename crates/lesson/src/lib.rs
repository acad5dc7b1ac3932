//! Lessons: what streams, copies and events do, asked, measured and checked.
//!
//! A lesson is a file: a few words, a question to the class, parts to measure, and ends that depend on what
//! was measured ([`Lesson`]). A part is rounds of lattices, or a script of ops on arrays and lattices.
//! [`run`] measures the parts one after the other, tells of each, and gives an [`Outcome`]. It blocks for as long as that takes: whoever draws calls it on another
//! thread.
//!
//! A lesson whose parts are a sweep is measured for 1, 2, 4 … instances: its outcome has a speed-up curve
//! besides (module `speedup`).
//!
//! Parts that are compared are measured in turn, in three windows ten seconds apart
//! (module `interleave`). A conclusion is chosen by these findings ([`Compare`]): it has a sentence for
//! each, so that it says of no run what that run did not show.
//!
//! What a GPU measured of the lessons is in the program, too ([`recorded`]), for machines without one.
//!
//! An exercise asks for a round or a kernel of one's own ([`EXERCISES`]), and which of them a user has solved
//! is in a file ([`ExerciseProgress`]).
//!
//! The checks of a lesson concern results, never times: factors are reported as measured. Parts
//! that are not listed in [`Lesson::compared`] get no factor; the conclusion must not compare them.

mod bench;
mod connections;
mod data;
mod exercise;
mod file;
mod interleave;
mod lattices;
mod outcome;
mod question;
mod recorded;
mod rounds_run;
mod script_run;
mod speedup;

pub use bench::{Bench, Ran};
pub use connections::serve as serve_connections;
pub use exercise::{EXERCISES, Exercise, ExerciseProgress, KernelTask, RoundTask, Task};
pub use file::{
    Choice, Closing, Compare, LESSONS, Lesson, Missing, Part, Rounds, Text, TimeOf, find,
    shipped_file,
};
pub use interleave::limits;
pub use outcome::{
    Check, Factor, LessonImage, Measured, MeasuredValue, OpFigures, Outcome, PartOutcome, Windows,
};
pub use question::{Origin, factor_in_words, nearest_factor};
pub use recorded::{record, recorded, recording_order};
pub use rounds_run::SweepSetup;
pub use speedup::{Speedup, SpeedupPoint, SpeedupSeries};

use engine::EngineError;
use experiment::Limits;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::time::{Duration, Instant};

use connections::Connected;
use interleave::{WINDOWS_APART, interleave};
use lang::{Message, tr};
use rounds_run::RoundsRun;
use script_run::ScriptRun;
use session::trace::TimedRound;
use session::{DeviceChoice, Source};

/// An error that ends a lesson. (A failed check is part of the [`Outcome`] instead.)
#[derive(Debug, thiserror::Error)]
pub enum LessonError {
    /// The engine could not do something.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The child process could not be started, or its answer could not be read.
    #[error("{}", tr!("lifestreams cannot run itself again: {it}", it = .0))]
    Child(String),
    /// A part cannot be put in place: its script makes no program, or there are no such lattices.
    #[error("{0}")]
    Script(Message),
    /// The progress callback ended the lesson.
    #[error("{}", tr!("the lesson was ended before it was measured"))]
    Ended,
}

/// The result of a lesson's functions.
pub type Result<T, E = LessonError> = std::result::Result<T, E>;

impl Missing {
    /// What it is, and what that means for times.
    fn in_words(self) -> String {
        tr!(
            "The CPU engine has no {what}: results are verified, but CPU timings are not representative",
            what = lang::text(self.what)
        )
    }
}

/// How lessons are listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Group {
    /// The book chapter's programs.
    Book,
    /// Copies over the bus.
    Copies,
    /// The concepts behind them.
    Concepts,
}

impl Group {
    /// All of them, in the order of the list.
    pub const ALL: [Group; 3] = [Group::Book, Group::Copies, Group::Concepts];

    /// What it is called.
    pub fn title(self) -> &'static str {
        match self {
            Group::Book => tr!("The book's programs"),
            Group::Copies => tr!("Copies"),
            Group::Concepts => tr!("Concepts"),
        }
    }
}

/// The parts of a lesson that are looked at together, side by side.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scene {
    /// One or two parts; of two that are compared, the one that is expected to be slower first.
    pub parts: Vec<usize>,
    /// Which of the lesson's comparisons is theirs.
    pub comparison: Option<usize>,
}

/// A callback for the progress of a lesson; it returns `Break` to end the lesson.
pub type OnProgress<'a> = dyn FnMut(Progress) -> ControlFlow<()> + 'a;

/// How far a lesson is.
#[derive(Debug)]
pub enum Progress {
    /// This part is being measured.
    Measuring(usize),
    /// So many of all windows in which parts are measured in turn are over; the next one begins in a few
    /// seconds.
    Waiting {
        /// Windows that are over.
        done: usize,
        /// All of them.
        of: usize,
    },
    /// This part has been measured, and compared with the parts in the same [`Compare`]s.
    Measured(Box<PartOutcome>),
    /// The parts of a sweep have been measured for another number of instances.
    Swept(Arc<Speedup>),
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

impl Lesson {
    /// What is looked at one after the other: every comparison, and every part that is in none.
    pub fn scenes(&self) -> Vec<Scene> {
        let compared = self.compared.iter().enumerate();
        let mut scenes: Vec<Scene> = compared
            .map(|(at, compare)| Scene {
                parts: vec![compare.slow, compare.fast],
                comparison: Some(at),
            })
            .collect();
        let is_seen = |part: &usize| scenes.iter().any(|scene| scene.parts.contains(part));
        let others: Vec<usize> = (0..self.parts.len())
            .filter(|part| !is_seen(part))
            .collect();
        scenes.extend(others.chunks(2).map(|parts| Scene {
            parts: parts.into(),
            comparison: None,
        }));
        scenes.sort_by_key(|scene| (scene.parts.iter().copied().min(), scene.comparison));
        scenes
    }

    /// The scene that its question is about.
    pub fn asked(&self) -> usize {
        if self.factors.is_empty() {
            return 0;
        }
        let is_asked = |scene: &Scene| scene.comparison == Some(self.asked);
        self.scenes().iter().position(is_asked).unwrap_or(0)
    }

    /// About how long it takes to measure: what the windows of its comparisons take, and some seconds
    /// for everything else.
    pub fn takes(&self) -> Duration {
        let limits = Limits::three_windows(WINDOWS_APART);
        let mut groups = self.groups();
        groups.retain(|group| self.compared.iter().any(|it| group.contains(&it.slow)));
        let windows = limits.windows as u32;
        let group = Duration::from_secs(1) * windows + limits.apart * (windows - 1);
        group * groups.len() as u32 + Duration::from_secs(5)
    }

    /// Puts a part in place, and warms it up.
    fn prepare(&self, part: &Part, bench: &mut Bench) -> Result<Box<dyn Experiment>> {
        if part.connections.is_some() {
            return Ok(Box::new(Connected::new(self, part, bench)?));
        }
        Ok(match &part.rounds {
            Some(rounds) => Box::new(RoundsRun::new(rounds, self.timed, bench)?),
            None if part.balance => Box::new(ScriptRun::balanced(part, bench)?),
            None => Box::new(ScriptRun::new(part, self.timed, bench)?),
        })
    }

    /// What its sweep steps, if it has one.
    fn sweep(&self) -> Option<&Rounds> {
        let mut rounds = self.parts.iter().filter_map(|part| part.rounds.as_ref());
        rounds.find(|rounds| rounds.sweep)
    }

    /// The parts, as ranges: what is compared is in the same one.
    fn groups(&self) -> Vec<Range<usize>> {
        let mut groups: Vec<Range<usize>> = Vec::new();
        for part in 0..self.parts.len() {
            let is_compared_across = |it: &Compare| (it.slow < part) != (it.fast < part);
            match groups.last_mut() {
                Some(group) if self.compared.iter().any(is_compared_across) => group.end += 1,
                _ => groups.push(part..part + 1),
            }
        }
        groups
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
    let wants_recorded = device == DeviceChoice::Recorded;
    if wants_recorded && let Some(outcome) = recorded(lesson) {
        return Ok(outcome);
    }
    let mut is_measured = false;
    let limits = interleave::limits();
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
    if wants_recorded || outcome.missing.is_some() {
        outcome.recorded = recorded(lesson).map(Box::new);
        outcome.is_unrecorded = outcome.recorded.is_none();
    }
    Ok(outcome)
}

fn run_on(
    device: DeviceChoice,
    lesson: &'static Lesson,
    swept: Option<SweepSetup>,
    limits: Limits,
    on_progress: &mut OnProgress,
) -> Result<Outcome> {
    let mut bench = Bench::open(device)?;
    let mut outcome = match lesson.sweep() {
        Some(own) => {
            let own = SweepSetup::of(own, bench.is_cpu())?;
            let sweep = swept.unwrap_or(own);
            speedup::measure(lesson, sweep, &mut bench, limits, on_progress)?
        }
        None => measure(lesson, &mut bench, limits, on_progress)?,
    };
    outcome.close(lesson);
    Ok(outcome)
}

/// Ends a lesson that is not to go on.
fn go_on(answer: ControlFlow<()>) -> Result<()> {
    let goes_on = answer.is_continue().then_some(());
    goes_on.ok_or(LessonError::Ended)
}

/// Waits for this long, unless `goes_on` ends the lesson meanwhile.
fn pause(time: Duration, goes_on: &mut dyn FnMut() -> ControlFlow<()>) -> Result<()> {
    const STEP: Duration = Duration::from_millis(200);
    let ends = Instant::now() + time;
    loop {
        go_on(goes_on())?;
        let left = ends.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        std::thread::sleep(left.min(STEP));
    }
}

/// Measures every part of a lesson, for as long as `limits` says where parts are compared.
fn measure(
    lesson: &'static Lesson,
    bench: &mut Bench,
    limits: Limits,
    on_progress: &mut OnProgress,
) -> Result<Outcome> {
    let mut outcome = Outcome::of(lesson, bench);
    // Times of a feature that the CPU engine lacks allow no conclusion, unless that they are the same.
    let is_same_on_cpu = |missing: Missing| !missing.on_cpu_same.is_empty();
    let can_compare =
        outcome.missing.is_none() || lesson.missing_on_cpu.is_some_and(is_same_on_cpu);
    for group in lesson.groups() {
        let mut parts = Vec::new();
        let mut experiments = Vec::new();
        for part in group.clone() {
            go_on(on_progress(Progress::Measuring(part)))?;
            let mut experiment = match lesson.prepare(&lesson.parts[part], bench) {
                Err(LessonError::Engine(lacks @ EngineError::Unsupported(..))) => {
                    let nothing = Measured {
                        note: Some(lacks.to_string()),
                        ..Measured::default()
                    };
                    outcome.add(&lesson.parts[part], nothing, Measured::default());
                    continue;
                }
                experiment => experiment?,
            };
            let sample = experiment.sample()?;
            let round = experiment.round()?;
            let checked = Measured {
                trace: round,
                ..experiment.check()?
            };
            outcome.add(&lesson.parts[part], sample, checked);
            parts.push(part);
            experiments.push(experiment);
        }
        let place = |part: usize| parts.iter().position(|&measured| measured == part);
        let places = |compare: &Compare| Some([place(compare.slow)?, place(compare.fast)?]);
        let compared = lesson.compared.iter();
        let compared: Vec<_> = compared
            .filter_map(|compare| Some((compare.label, places(compare)?)))
            .collect();
        if !compared.is_empty() && (can_compare || bench.sweep.is_some()) {
            let limits = if can_compare {
                limits
            } else {
                Limits::ONE_WINDOW
            };
            let mut sample = |i: usize| {
                // The system may leave a thread of the CPU engine in a bad place for seconds, and the
                // part to which it belongs would look slow: so threads are made anew for each run.
                let part = &lesson.parts[parts[i]];
                if bench.is_cpu() && part.rounds.is_some() {
                    experiments[i] = lesson.prepare(part, bench)?;
                }
                experiments[i].sample()
            };
            let mut done = 0;
            let mut wait = |apart| {
                done += 1;
                let of = limits.windows;
                pause(apart, &mut || on_progress(Progress::Waiting { done, of }))
            };
            let (runs, executor) = interleave(parts.len(), limits, &mut sample, &mut wait)?;
            for (i, (&part, run)) in parts.iter().zip(runs).enumerate() {
                outcome.replace(part, run, executor.interval(i));
                let of = &lesson.parts[part];
                show_typical_round(&mut *experiments[i], of, &mut outcome.parts[part])?;
            }
            if can_compare {
                outcome.source = Source::MeasuredHere(executor.load);
                outcome.windows = Some(Windows {
                    count: executor.windows(),
                    seconds_apart: limits.apart.as_secs_f64(),
                });
                for (label, pair) in compared {
                    let (value, finding) = interleave::compared(&executor, pair);
                    outcome.factors.push(Factor {
                        label,
                        value,
                        finding,
                    });
                }
            }
        }
        for part in group {
            go_on(on_progress(Progress::Measured(
                outcome.parts[part].clone().into(),
            )))?;
        }
    }
    Ok(outcome)
}

/// Times rounds of a part anew, for a second or two, until one takes about as long as was measured: a
/// round that something held up would contradict the figures beside it.
fn show_typical_round(
    experiment: &mut dyn Experiment,
    of: &Part,
    part: &mut PartOutcome,
) -> Result<()> {
    const CLOSE: f64 = 1.02;
    const TRIES: usize = 30;
    const TIME: Duration = Duration::from_secs(2);
    let Some(wanted) = of.whole_ms(part) else {
        return Ok(());
    };
    let distance = |part: &PartOutcome| part.drawn_ms().map(|drawn| (drawn / wanted).ln().abs());
    let began = Instant::now();
    for _ in 0..TRIES {
        let shown = distance(part);
        if shown.is_none_or(|shown| shown < CLOSE.ln()) || began.elapsed() > TIME {
            break;
        }
        let before = part.trace.take();
        part.trace = experiment.round()?;
        if distance(part) >= shown {
            part.trace = before;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_lesson_shows_all_its_parts() {
        let mut names = HashSet::new();
        for lesson in LESSONS.iter() {
            let name = lesson.name;
            assert!(names.insert(name), "{name} twice");
            assert!(lesson.question.ends_with('?'), "{name}");
            let scenes = lesson.scenes();
            for part in 0..lesson.parts.len() {
                let is_seen = scenes.iter().any(|scene| scene.parts.contains(&part));
                assert!(is_seen, "{name}: {}", lesson.parts[part].title);
            }
            assert!(lesson.asked() < scenes.len());
        }
    }

    #[test]
    fn parts_that_are_compared_are_measured_together_and_all_in_their_order() {
        let groups = |name| find(name).unwrap().groups();
        assert_eq!(groups("conway-sync"), [0..1, 1..2]);
        assert_eq!(groups("conway-sync-shared"), [0..2, 2..3, 3..5]);
        assert_eq!(groups("chunks"), [0..1, 1..4]);
        for lesson in LESSONS.iter() {
            let name = lesson.name;
            let groups = lesson.groups();
            let parts: Vec<usize> = groups.iter().cloned().flatten().collect();
            let all: Vec<usize> = (0..lesson.parts.len()).collect();
            assert_eq!(parts, all, "{name}");
            for compare in &lesson.compared {
                let holds = |group: &Range<usize>| {
                    group.contains(&compare.slow) && group.contains(&compare.fast)
                };
                assert!(groups.iter().any(holds), "{name}");
            }
        }
    }

    #[test]
    fn the_list_goes_group_by_group() {
        let order = |lesson: &Lesson| Group::ALL.iter().position(|group| *group == lesson.group);
        assert!(LESSONS.is_sorted_by_key(order));
    }
}
