use std::time::{Duration, Instant};

use super::*;
use crate::rung_source::Change;
use engine::kernels;
use lang::Language;
use lesson::Factor;
use life::Size;
use session::{DeviceChoice, Finding, Pace, Recorded, Setup, Source};

fn start() -> (Session, Lessons) {
    let kernel = kernels::find("bits").unwrap();
    let setup = Setup {
        pace: Pace::PerSecond(60.0),
        ..Setup::new(2, Size::new(32, 32).unwrap(), kernel, DeviceChoice::Cpu)
    };
    let session = Session::start(setup, || {}).unwrap();
    (session, Lessons::new(Arc::new(|| {})))
}

fn index_of(name: &str) -> usize {
    LESSONS.iter().position(|it| it.name == name).unwrap()
}

/// The page that is shown now.
fn page(lessons: &mut Lessons) -> LessonPage {
    lessons.update();
    match lessons.screen() {
        Some(LessonScreen::Page(page)) => (**page).clone(),
        other => panic!("no page: {other:?}"),
    }
}

fn shown(lessons: &mut Lessons) -> String {
    lessons.update();
    match lessons.screen() {
        None => "nothing".into(),
        Some(LessonScreen::List { selected, .. }) => format!("list at {selected}"),
        Some(LessonScreen::Page(page)) => format!("{}, step {}", page.title, page.number),
    }
}

fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let began = Instant::now();
    while !done() {
        assert!(began.elapsed() < Duration::from_secs(240), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn pages_and_entries_are_turned_and_escape_goes_back() {
    let (session, mut lessons) = start();
    lessons.toggle(&session);
    assert_eq!(shown(&mut lessons), "list at 0");
    for _ in 0..LESSONS.len() + 2 {
        lessons.turn_page(&session, true);
    }
    let last = LESSONS.len() - 1;
    assert_eq!(shown(&mut lessons), format!("list at {last}"));
    lessons.turn_page(&session, false);
    lessons.open_selected(&session);
    let title = lang::text(LESSONS[last - 1].title);
    assert_eq!(shown(&mut lessons), format!("{title}, step 1"));
    lessons.turn_page(&session, true);
    assert_eq!(shown(&mut lessons), format!("{title}, step 2"));
    lessons.turn_page(&session, false);
    lessons.turn_page(&session, false);
    assert_eq!(shown(&mut lessons), format!("{title}, step 1"));
    lessons.go_up(&session);
    assert_eq!(shown(&mut lessons), format!("list at {}", last - 1));
    lessons.go_up(&session);
    assert_eq!(shown(&mut lessons), "nothing");
    lessons.open(&session, 0);
    lessons.toggle(&session);
    assert_eq!(shown(&mut lessons), "nothing");
}

#[test]
fn a_lesson_is_stepped_from_its_choice_to_its_result_while_the_session_rests() {
    let (session, mut lessons) = start();
    lessons.open(&session, index_of("default-stream"));
    let first = page(&mut lessons);
    assert_eq!((first.number, first.progress), (1, None));
    let is_changed = |column: &LessonColumn| {
        let mut lines = column.code.iter();
        lines.any(|line| line.change != Change::Same)
    };
    assert!(first.columns.iter().any(is_changed), "{:?}", first.columns);
    let chosen = |lessons: &mut Lessons| {
        let choices = page(lessons).choices;
        choices.iter().position(|it| it.is_chosen)
    };
    lessons.predict(1);
    assert_eq!(chosen(&mut lessons), Some(1));
    lessons.predict(1);
    assert_eq!(chosen(&mut lessons), None);
    lessons.predict(0);
    lessons.predict(9);
    lessons.turn_page(&session, true);
    wait_until("the result", || page(&mut lessons).progress.is_none());
    assert!(!session.status().clock.running, "the session rests");
    // Again from the same step, with what was predicted; nothing is predicted any more.
    lessons.predict(2);
    lessons.measure_again(&session);
    let measuring = page(&mut lessons);
    assert_eq!(measuring.number, 2);
    assert!(measuring.progress.is_some(), "{measuring:?}");
    wait_until("the result", || page(&mut lessons).progress.is_none());
    assert_eq!(chosen(&mut lessons), Some(0));
    let result = page(&mut lessons);
    assert_eq!(result.rounds.len(), 2);
    assert!(result.columns.iter().all(|it| !it.figures.is_empty()));
    // No difference was predicted: as long as the slower part's.
    let [slow, fast, predicted] = &result.bars[..] else {
        panic!("{:?}", result.bars);
    };
    assert!(predicted.is_prediction && !slow.is_prediction && !fast.is_prediction);
    assert_eq!(predicted.milliseconds, slow.milliseconds);
    assert!(!result.conclusion.is_empty());
    for _ in 0..first.of {
        lessons.turn_page(&session, true);
    }
    let last = page(&mut lessons);
    assert_eq!(last.number, last.of);
    assert!(!last.checks.is_empty(), "{last:?}");
    assert!(last.checks.iter().all(|(_, passed)| *passed), "{last:?}");
    lessons.close(&session);
    wait_until("it goes on", || session.status().clock.running);
}

#[test]
fn what_an_engine_lacks_has_the_times_recorded_on_a_gpu_and_checks_of_here() {
    let lesson = lesson::find("pinned").unwrap();
    let measured = lesson::run(lesson, DeviceChoice::Cpu, None, &mut |_| {
        ControlFlow::Continue(())
    });
    let mut measured = measured.unwrap();
    let finding = Finding::Difference {
        ratio: 3.0,
        interval: [2.9, 3.1],
    };
    let device = "NVIDIA H100".to_owned();
    let mut recorded = Outcome {
        missing: None,
        source: Source::RecordedOn(Recorded {
            device: device.clone(),
            ..Recorded::default()
        }),
        factors: vec![Factor {
            label: lesson.compared[0].label,
            value: 3.0,
            finding,
        }],
        checks: Vec::new(),
        ..measured.clone()
    };
    recorded.close(lesson);
    measured.recorded = Some(Box::new(recorded));
    let (session, mut lessons) = start();
    lessons.open(&session, index_of("pinned"));
    let State::Open(open) = &mut lessons.state else {
        panic!("it is open");
    };
    let (sender, events) = channel();
    (open.step, open.events) = (1, Some(events));
    let checks = measured.checks.len();
    sender.send(Event::Over(Ok(Box::new(measured)))).unwrap();
    let chinese = test_support::with(Language::Chinese, || page(&mut lessons));
    let page = page(&mut lessons);
    let said = |page: &LessonPage| {
        [
            page.recorded.clone(),
            page.note.clone(),
            page.conclusion.clone(),
        ]
    };
    for (english, chinese) in said(&page).iter().zip(said(&chinese)) {
        assert_ne!(*english, chinese);
    }
    assert!(page.recorded.contains("ecorded on NVIDIA H100"), "{page:?}");
    assert!(page.note.contains("The CPU engine has no"), "{page:?}");
    assert!(page.conclusion.contains("3.0× faster ± 0.1"), "{page:?}");
    assert_eq!(page.checks.len(), checks);
    assert!(checks > 0 && page.bars.len() == 2, "{page:?}");
    assert!(page.choices.iter().any(|it| it.is_right), "{page:?}");
    let answer = lessons.answer().unwrap().measured.unwrap();
    assert!(answer.contains("recorded on NVIDIA H100"), "{answer}");
}

#[test]
fn the_speed_up_curve_is_of_the_session_s_lattices_and_comes_point_by_point() {
    let (session, mut lessons) = start();
    lessons.measure_speedup(&session);
    let first = page(&mut lessons);
    assert_eq!(first.number, first.of);
    assert!(first.progress.is_some());
    let mut seen = vec![0];
    let mut curve = None;
    wait_until("the curve", || {
        let page = page(&mut lessons);
        let measured = page.speedup.as_ref().map_or(0, |curve| curve.measured());
        if seen.last() != Some(&measured) {
            seen.push(measured);
        }
        // In the end, the one that was recorded on a GPU takes its place.
        if page.recorded.is_empty() {
            curve = page.speedup.or(curve.take());
        }
        page.progress.is_none()
    });
    assert!(seen.starts_with(&[0, 1]), "{seen:?}");
    let result = page(&mut lessons);
    let curve = curve.expect("it is measured");
    assert_eq!(
        (&*curve.kernel, curve.width, curve.height),
        ("bits", 32, 32)
    );
    assert_eq!(curve.instances, [1, 2]);
    assert!(curve.series[2].unavailable.is_some(), "bits takes no batch");
    assert!(
        result.checks.iter().all(|(_, passed)| *passed),
        "{:?}",
        result.checks
    );
    // It is measured once while it is open, and again once it was closed or another lesson is open.
    lessons.turn_page(&session, false);
    lessons.measure_speedup(&session);
    assert_eq!(page(&mut lessons), result);
    lessons.open(&session, 0);
    lessons.measure_speedup(&session);
    assert!(page(&mut lessons).speedup.is_none());
}
