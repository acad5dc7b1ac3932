//! A lesson's parts for 1, 2, 4 … instances: the speed-up curve.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::{
    Bench, Check, Lesson, OnProgress, Outcome, Progress, Result, Speedup, SpeedupPoint,
    SpeedupSeries, SweepSetup, go_on,
};
use experiment::Limits;

/// Measures every part of a lesson for each number of instances, up to those of `sweep`, whose times
/// and findings are the outcome's. Of the others, it has the points of the curve, and checks that
/// failed.
///
/// # Errors
/// Where the engine fails, or `on_progress` ends it.
pub(super) fn measure(
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
        width: sweep.size.width(),
        height: sweep.size.height(),
        generations_per_round: sweep.generations_per_round,
        instances: counts.clone(),
        series: series.collect(),
    };
    let mut failed: Vec<Check> = Vec::new();
    for &instances in &counts[..counts.len() - 1] {
        bench.sweep = Some(SweepSetup { instances, ..sweep });
        let silent = &mut |_: Progress| ControlFlow::Continue(());
        let outcome = super::measure(lesson, bench, Limits::ONE_WINDOW, silent)?;
        add_points(&mut speedup, instances, &outcome);
        go_on(on_progress(Progress::Swept(Arc::new(speedup.clone()))))?;
        failed.extend(outcome.checks.into_iter().filter(|check| !check.passed));
    }
    bench.sweep = Some(sweep);
    let mut outcome = super::measure(lesson, bench, limits, &mut |progress| {
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
    use crate::{LessonError, SPEEDUP};
    use engine::kernels;
    use life::Size;
    use session::DeviceChoice;

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
        let outcome = crate::run(&SPEEDUP, DeviceChoice::Cpu, Some(sweep), &mut |progress| {
            if let Progress::Swept(curve) = progress {
                curves.push(Speedup::clone(&curve));
            }
            if goes_on {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        });
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
        assert_eq!(outcome.closing, SPEEDUP.missing_on_cpu.unwrap().on_gpu);
    }

    #[test]
    fn a_lesson_that_is_closed_is_not_measured_to_its_end() {
        let (outcome, curves) = swept(4, false);
        assert!(matches!(outcome, Err(LessonError::Ended)), "{outcome:?}");
        assert_eq!(curves.len(), 1);
    }
}
