use std::time::{Duration, Instant};

use super::*;
use engine::kernels;
use life::Size;
use model::{DeviceChoice, Pace, Setup};

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
        Some(LessonScreen::Page(page)) => page.clone(),
        other => panic!("no page: {other:?}"),
    }
}

fn shown(lessons: &Lessons) -> String {
    match lessons.screen() {
        None => "nothing".into(),
        Some(LessonScreen::List { selected, .. }) => format!("list at {selected}"),
        Some(LessonScreen::Page(page)) => format!("{}, page {}", page.title, page.number),
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
fn arrows_choose_and_turn_and_escape_goes_back() {
    let (session, mut lessons) = start();
    let (right, next): (Action, Action) =
        (ViewAction::PanRight.into(), ViewAction::NextPage.into());
    let run: Action = SessionAction::TogglePause.into();
    assert_eq!(lessons.remap_key(right), right);
    assert_eq!(lessons.remap_key(run), run);
    lessons.toggle(&session);
    assert_eq!(shown(&lessons), "list at 0");
    assert_eq!(lessons.remap_key(ViewAction::PanDown.into()), next);
    assert_eq!(lessons.remap_key(run), ViewAction::OpenLesson.into());
    for _ in 0..LESSONS.len() + 2 {
        lessons.next_page(&session);
    }
    let last = LESSONS.len() - 1;
    assert_eq!(shown(&lessons), format!("list at {last}"));
    lessons.previous_page(&session);
    lessons.open_selected(&session);
    let title = lang::text(LESSONS[last - 1].title);
    assert_eq!(shown(&lessons), format!("{title}, page 1"));
    assert_eq!(lessons.remap_key(right), next);
    assert_eq!(lessons.remap_key(run), next);
    for other in [ViewAction::PanUp.into(), SessionAction::StepRound.into()] {
        assert_eq!(lessons.remap_key(other), other);
    }
    lessons.next_page(&session);
    assert_eq!(shown(&lessons), format!("{title}, page 2"));
    lessons.previous_page(&session);
    lessons.previous_page(&session);
    assert_eq!(shown(&lessons), format!("{title}, page 1"));
    lessons.go_up(&session);
    assert_eq!(shown(&lessons), format!("list at {}", last - 1));
    lessons.go_up(&session);
    assert_eq!(shown(&lessons), "nothing");
    lessons.open(&session, 0);
    lessons.toggle(&session);
    assert_eq!(shown(&lessons), "nothing");
}

#[test]
fn a_lesson_is_stepped_to_its_result_while_the_session_rests() {
    let (session, mut lessons) = start();
    lessons.open(&session, index_of("pinned"));
    let first = page(&mut lessons);
    assert_eq!((first.number, first.busy), (1, false));
    for _ in 0..first.of + 3 {
        lessons.next_page(&session);
    }
    assert_eq!(page(&mut lessons).number, first.of);
    wait_until("the result", || !page(&mut lessons).busy);
    assert!(!session.status().clock.running, "the session rests");
    let result = page(&mut lessons);
    assert!(!result.checks.is_empty(), "{result:?}");
    assert!(
        result.checks.iter().all(|(_, passed)| *passed),
        "{result:?}"
    );
    lessons.previous_page(&session);
    assert!(!page(&mut lessons).rows.is_empty());
    lessons.close(&session);
    wait_until("it goes on", || session.status().clock.running);
}

#[test]
fn the_speed_up_curve_is_of_the_session_s_lattices_and_comes_point_by_point() {
    let (session, mut lessons) = start();
    lessons.measure_speedup(&session);
    let first = page(&mut lessons);
    assert_eq!((first.number, first.busy), (first.of, true));
    let mut seen = vec![0];
    wait_until("the curve", || {
        let page = page(&mut lessons);
        let measured = page.speedup.map_or(0, |curve| curve.measured());
        if seen.last() != Some(&measured) {
            seen.push(measured);
        }
        !page.busy
    });
    assert!(seen.starts_with(&[0, 1]), "{seen:?}");
    let result = page(&mut lessons);
    let curve = result.speedup.clone().expect("it is measured");
    assert_eq!(
        (&*curve.kernel, curve.width, curve.height),
        ("bits", 32, 32)
    );
    assert_eq!(curve.instances, [1, 2]);
    assert_eq!(curve.measured(), 2);
    assert!(curve.series[2].unavailable.is_some(), "bits takes no batch");
    assert!(
        result.checks.iter().all(|(_, passed)| *passed),
        "{:?}",
        result.checks
    );
    // It is measured once while it is open, and again once it was closed or another lesson is open.
    lessons.previous_page(&session);
    lessons.measure_speedup(&session);
    assert_eq!(page(&mut lessons), result);
    lessons.open(&session, 0);
    lessons.measure_speedup(&session);
    assert!(page(&mut lessons).speedup.is_none());
}

/// What was asked for just before a lesson counts, whatever the status still says.
#[test]
fn a_lesson_pauses_and_leaves_the_session_as_it_was_asked_to_be() {
    let (session, mut lessons) = start();
    // Behind everything that was asked for before.
    let runs = || {
        let saved = session.saved();
        saved
            .recv_timeout(Duration::from_secs(240))
            .unwrap()
            .running
    };
    assert!(runs());
    lessons.open(&session, 0);
    assert!(!runs());
    lessons.close(&session);
    assert!(runs(), "it goes on");
    session.act(SessionAction::TogglePause);
    lessons.open(&session, 0);
    assert!(!runs(), "paused just before");
    lessons.close(&session);
    assert!(!runs(), "and so it stays");
    session.act(SessionAction::TogglePause);
    lessons.open(&session, 0);
    session.act(SessionAction::StepGeneration);
    lessons.close(&session);
    assert!(!runs(), "stepped by hand meanwhile");
}

#[test]
fn a_run_to_a_generation_ends_there_behind_a_lesson_too() {
    let (session, mut lessons) = start();
    const FAR: u64 = 100_000;
    session.act(SessionAction::RunTo(FAR));
    lessons.open(&session, 0);
    lessons.close(&session);
    wait_until("the end of the run", || {
        let clock = &session.status().clock;
        !clock.running && clock.generation >= FAR
    });
    assert_eq!(session.status().clock.generation, FAR);
}
