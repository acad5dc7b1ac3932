//! Measures lessons.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::EngineError;
use experiment::Limits;
use session::{DeviceChoice, Source};

use crate::bench::{Bench, LessonError, Result, SweepSetup};
use crate::connections::Connected;
use crate::file::{Compare, Lesson, Part, Rounds};
use crate::interleave::{self, WINDOWS_APART, interleave};
use crate::outcome::{Check, Experiment, Factor, Measured, Outcome, PartOutcome, Windows};
use crate::rounds_run::RoundsRun;
use crate::script_run::ScriptRun;
use crate::speedup::{Speedup, SpeedupPoint, SpeedupSeries};

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

impl Lesson {
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

/// Measures every part of a lesson on a device, and concludes.
pub(crate) fn run_on(
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
            measure_sweep(lesson, sweep, &mut bench, limits, on_progress)?
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
    // Times of a feature that the CPU engine lacks allow no conclusion.
    let can_compare = outcome.missing.is_none();
    for group in lesson.groups() {
        let mut parts = Vec::new();
        let mut experiments = Vec::new();
        for part in group.clone() {
            go_on(on_progress(Progress::Measuring(part)))?;
            let mut experiment = match lesson.prepare(&lesson.parts[part], bench) {
                Err(LessonError::Engine(lacks @ EngineError::Unsupported(..))) => {
                    let nothing = Measured::default;
                    outcome.add(&lesson.parts[part], nothing(), nothing());
                    outcome.parts[part].note = Some(lacks.to_string());
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
        if can_compare {
            for (experiment, &part) in experiments.iter_mut().zip(&parts) {
                let of = &lesson.parts[part];
                show_typical_round(&mut **experiment, of, &mut outcome.parts[part])?;
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

/// Times rounds of a part anew, for a second or two, until one takes about as long as was measured: one that
/// something held up would contradict the figures beside it.
fn show_typical_round(
    experiment: &mut dyn Experiment,
    of: &Part,
    part: &mut PartOutcome,
) -> Result<()> {
    const CLOSE: f64 = 1.02;
    const TRIES: usize = 30;
    const TIME: Duration = Duration::from_secs(2);
    let distance = |part: &PartOutcome| of.stretch(part).map(|it| it.ln().abs());
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

/// Measures every part of a lesson for each number of instances, up to those of `sweep`, whose times
/// and findings are the outcome's. Of the others, it has the points of the curve, and checks that
/// failed.
///
/// # Errors
/// Where the engine fails, or `on_progress` ends it.
fn measure_sweep(
    lesson: &'static Lesson,
    sweep: SweepSetup,
    bench: &mut Bench,
    limits: Limits,
    on_progress: &mut OnProgress,
) -> Result<Outcome> {
    let counts = Speedup::counts(sweep.instances);
    let series = lesson.parts.iter().map(|part| SpeedupSeries {
        title: part.title.into(),
        points: Vec::new(),
        unavailable: None,
    });
    let mut speedup = Speedup {
        kernel: sweep.kernel.name.into(),
        width: sweep.size.width,
        height: sweep.size.height,
        generations_per_round: sweep.generations_per_round,
        instances: counts.clone(),
        series: series.collect(),
    };
    let mut failed: Vec<Check> = Vec::new();
    for &instances in &counts[..counts.len() - 1] {
        bench.sweep = Some(SweepSetup { instances, ..sweep });
        let silent = &mut |_: Progress| ControlFlow::Continue(());
        let outcome = measure(lesson, bench, Limits::ONE_WINDOW, silent)?;
        add_points(&mut speedup, instances, &outcome);
        go_on(on_progress(Progress::Swept(Arc::new(speedup.clone()))))?;
        failed.extend(outcome.checks.into_iter().filter(|check| !check.passed));
    }
    bench.sweep = Some(sweep);
    let mut outcome = measure(lesson, bench, limits, &mut |progress| {
        // What was measured follows the curve, which it completes.
        match progress {
            Progress::Measuring(_) | Progress::Waiting { .. } => on_progress(progress),
            _ => ControlFlow::Continue(()),
        }
    })?;
    add_points(&mut speedup, sweep.instances, &outcome);
    go_on(on_progress(Progress::Swept(Arc::new(speedup.clone()))))?;
    for part in &outcome.parts {
        go_on(on_progress(Progress::Measured(part.clone().into())))?;
    }
    outcome.checks.append(&mut failed);
    outcome.speedup = Some(speedup);
    Ok(outcome)
}

/// Adds a point to every curve.
fn add_points(speedup: &mut Speedup, instances: usize, outcome: &Outcome) {
    let rate = |ms: f64| 1e3 / ms;
    for (series, part) in speedup.series.iter_mut().zip(&outcome.parts) {
        match part.time_ms {
            None => series.unavailable = part.note.clone(),
            Some(ms) => series.points.push(SpeedupPoint {
                instances,
                rounds_per_second: rate(ms),
                interval: part.interval_ms.map(|[low, high]| [rate(high), rate(low)]),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Group, LESSONS, find};
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
