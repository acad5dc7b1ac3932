use std::time::Duration;

use super::*;
use crate::rung_source::Change;
use engine::kernels;
use lang::Language;
use lesson::Factor;
use life::Size;
use session::{DeviceChoice, Finding, Recorded, Setup, Source};

fn start() -> (Session, Lessons) {
    let kernel = kernels::find("bits").unwrap();
    let setup = Setup::new(2, Size::new(32, 32).unwrap(), kernel, DeviceChoice::Cpu);
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

/// The page once it is measured; each until then is looked at.
fn measured(lessons: &mut Lessons, mut look: impl FnMut(LessonPage)) -> LessonPage {
    loop {
        let page = page(lessons);
        if page.progress.is_none() {
            return page;
        }
        look(page);
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn pages_and_entries_are_turned_and_escape_goes_back() {
    let (session, mut lessons) = start();
    let mut walk = |times: usize, does: fn(&mut Lessons, &Session), expected: &str| {
        (0..times).for_each(|_| does(&mut lessons, &session));
        lessons.update();
        let shown = match lessons.screen() {
            None => "nothing".into(),
            Some(LessonScreen::List { selected }) => format!("list at {selected}"),
            Some(LessonScreen::Page(page)) => format!("{}, step {}", page.title, page.number),
        };
        assert_eq!(shown, expected);
    };
    let last = LESSONS.len() - 1;
    let title = lang::text(LESSONS[last - 1].title);
    let [first, second] = [1, 2].map(|step| format!("{title}, step {step}"));
    let (forward, back) = (
        |it: &mut Lessons, session: &Session| it.turn_page(session, true),
        |it: &mut Lessons, session: &Session| it.turn_page(session, false),
    );
    walk(1, Lessons::toggle, "list at 0");
    walk(last + 3, forward, &format!("list at {last}"));
    walk(1, back, &format!("list at {}", last - 1));
    walk(1, Lessons::open_selected, &first);
    walk(1, forward, &second);
    walk(2, back, &first);
    walk(1, Lessons::go_up, &format!("list at {}", last - 1));
    walk(1, Lessons::open_selected, &first);
    walk(1, Lessons::toggle, "nothing");
}

#[test]
fn a_lesson_is_stepped_from_its_choice_to_its_result_while_the_session_rests() {
    let (session, mut lessons) = start();
    lessons.open(&session, index_of("default-stream"));
    let first = page(&mut lessons);
    assert_eq!((first.number, first.progress), (1, None));
    let mut lines = first.columns.iter().flat_map(|it| &it.code);
    assert!(lines.any(|line| line.change != Change::Same));
    // A choice is taken back by choosing it again, and once it is measured no other is taken.
    let mut predict = |choice: usize, expected: Option<usize>| {
        lessons.predict(choice);
        let choices = page(&mut lessons).choices;
        assert_eq!(choices.iter().position(|it| it.is_chosen), expected);
    };
    predict(1, Some(1));
    predict(1, None);
    predict(0, Some(0));
    predict(9, Some(0));
    lessons.turn_page(&session, true);
    measured(&mut lessons, drop);
    assert!(!session.status().clock.running, "the session rests");
    lessons.predict(2);
    lessons.measure_again(&session);
    let mut seen = Vec::new();
    let result = measured(&mut lessons, |page| seen.push(page.number));
    assert!(seen.starts_with(&[2]), "again from the same step");
    assert!(result.choices[0].is_chosen && result.rounds.len() == 2);
    assert!(result.columns.iter().all(|it| !it.figures.is_empty()));
    // No difference was predicted: as long as the slower part's.
    let bars = result.bars.iter().map(|it| it.is_prediction);
    assert_eq!(bars.collect::<Vec<_>>(), [false, false, true]);
    assert_eq!(result.bars[2].milliseconds, result.bars[0].milliseconds);
    assert!(!result.conclusion.is_empty());
    (0..first.of).for_each(|_| lessons.turn_page(&session, true));
    let last = page(&mut lessons);
    assert!(
        last.number == last.of && !last.checks.is_empty(),
        "{last:?}"
    );
    assert!(last.checks.iter().all(|(_, passed)| *passed), "{last:?}");
    lessons.close(&session);
    while !session.status().clock.running {
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn what_an_engine_lacks_has_the_times_recorded_on_a_gpu_and_checks_of_here() {
    let lesson = lesson::find("pinned").unwrap();
    let mut run = |_| ControlFlow::Continue(());
    let mut measured = lesson::run(lesson, DeviceChoice::Cpu, None, &mut run).unwrap();
    let finding = Finding::of(3.0, [2.9, 3.1]);
    let mut recorded = Outcome {
        missing: None,
        source: Source::RecordedOn(Recorded {
            device: "NVIDIA H100".into(),
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
    for part in &measured.parts {
        let part = Progress::Measured(Box::new(part.clone()));
        sender.send(Event::Progress(part)).unwrap();
    }
    let early = page(&mut lessons);
    let is_empty = |it: &LessonColumn| it.figures.is_empty();
    assert!(early.columns.iter().all(is_empty) && early.bars.is_empty());
    let checks = measured.checks.len();
    sender.send(Event::Over(Ok(Box::new(measured)))).unwrap();
    let chinese = test_support::with(Language::Chinese, || page(&mut lessons));
    let page = page(&mut lessons);
    let said = |page: LessonPage| [page.recorded, page.note, page.conclusion];
    let expected = [
        "ecorded on NVIDIA H100",
        "The CPU engine has no",
        "3.0× faster ± 0.1",
    ];
    let chinese = said(chinese).into_iter().zip(said(page.clone()));
    for ((chinese, english), expected) in chinese.zip(expected) {
        assert!(
            english.contains(expected) && chinese != english,
            "{english}"
        );
    }
    assert_eq!((page.checks.len(), page.bars.len()), (checks, 2));
    assert!(checks > 0 && page.choices.iter().any(|it| it.is_right));
    let answer = lessons.answer().unwrap().measured.unwrap();
    assert!(answer.contains("recorded on NVIDIA H100"), "{answer}");
}

#[test]
fn the_speed_up_curve_is_of_the_session_s_lattices_and_comes_point_by_point() {
    let (session, mut lessons) = start();
    lessons.measure_speedup(&session);
    let mut curves = vec![None];
    let result = measured(&mut lessons, |page| {
        assert_eq!(page.number, page.of);
        curves.push(page.speedup);
    });
    let mut points: Vec<_> = curves.iter().flatten().map(|it| it.measured()).collect();
    points.dedup();
    assert!(points.starts_with(&[1]), "{points:?}");
    // In the end, the one that was recorded on a GPU takes its place.
    let curve = curves.pop().flatten().expect("it is measured");
    let of = (&*curve.kernel, curve.width, curve.height);
    assert_eq!((of, &curve.instances[..]), (("bits", 32, 32), &[1, 2][..]));
    assert!(curve.series[2].unavailable.is_some(), "bits takes no batch");
    assert!(result.checks.iter().all(|(_, passed)| *passed));
    // It is measured once while it is open, and again once it was closed or another lesson is open.
    lessons.turn_page(&session, false);
    lessons.measure_speedup(&session);
    assert_eq!(page(&mut lessons), result);
    lessons.open(&session, 0);
    lessons.measure_speedup(&session);
    assert!(page(&mut lessons).speedup.is_none());
}
