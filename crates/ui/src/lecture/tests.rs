use std::sync::Arc;
use std::time::{Duration, Instant};

use super::*;
use crate::fixtures::lecture_options;
use crate::{App, EmergencySave, LessonScreen, ViewOptions};
use life::Size;
use session::{Finding, SessionAction, Source, Switch};

fn start(folder: &Path) -> App {
    let options = lecture_options(folder);
    let setup = options.lecture.steps[0].setup.clone();
    let save = Arc::new(EmergencySave::default());
    let view = ViewOptions::default();
    let mut app = App::new(view, Some(options), Arc::new(|| {}), save);
    app.start(Session::start(setup, || {}).unwrap());
    app
}

/// Waits until the session has the setting of this step.
#[track_caller]
fn reaches(app: &App, at: usize) {
    let lecture = app.lecture.as_ref().unwrap();
    assert_eq!(lecture.at, at);
    let began = Instant::now();
    loop {
        let status = app.status().unwrap();
        let wanted = lecture.step().setup_where(true);
        let (lattices, setting) = (&status.lattices, &status.setting);
        let is_there = status.lab.comparison.is_none()
            && (lattices.instances, lattices.size, lattices.rule)
                == (wanted.instances, wanted.size, wanted.rule)
            && setting.kernel.name == wanted.setting.kernel.name
            && setting.switches == wanted.setting.switches
            && setting.generations_per_round == wanted.generations_per_round
            && setting.pace == wanted.pace;
        if is_there {
            return;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{status:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn steps_reach_their_settings_forward_back_and_after_an_interruption() {
    let folder = tempfile::tempdir().unwrap();
    let mut app = start(folder.path());
    reaches(&app, 0);
    app.turn_page(true);
    reaches(&app, 1);
    // The class asks, and things are changed.
    for action in [
        SessionAction::SetInstances(3),
        SessionAction::CycleSwitch(Switch::HostMemory),
        SessionAction::ToggleComparison,
    ] {
        app.send(action);
    }
    let is_compared = |status: &Status| status.lab.comparison.is_some();
    while !is_compared(&app.status().unwrap()) {
        std::thread::sleep(Duration::from_millis(5));
    }
    app.turn_page(false);
    reaches(&app, 0);
    // Faster than any status: the lesson opens over its setting.
    app.turn_page(true);
    app.turn_page(true);
    reaches(&app, 2);
    let number = |app: &App| match app.lessons.screen() {
        Some(LessonScreen::Page(page)) => Some((page.number, page.of)),
        _ => None,
    };
    let (first, of) = number(&app).expect("the lesson's page");
    assert_eq!(first, 1);
    // Another lesson is opened meanwhile: behind it the lecture goes on where it was.
    app.with_lessons(|lessons, session| lessons.open(session, 0));
    app.turn_page(false);
    assert_eq!(number(&app), Some((1, of)));
    for page in 2..=of {
        app.turn_page(true);
        assert_eq!(number(&app), Some((page, of)));
    }
    app.turn_page(true);
    reaches(&app, 3);
    assert_eq!(number(&app), None);
    let size = app.status().unwrap().lattices.size;
    assert_eq!(size, Size::new(128, 96).unwrap(), "that of a CPU");
    app.turn_page(false);
    app.turn_page(false);
    reaches(&app, 1);
    app.toggle_lecture();
    assert!(app.open_lecture().is_none(), "it is left");
    app.toggle_lecture();
    reaches(&app, 1);
    let notes = std::fs::read_to_string(folder.path().join("notes")).unwrap();
    assert_eq!(notes, "Step 1 of 4: Ask the class.\n".repeat(2));
    for _ in 0..of + 2 {
        app.turn_page(true);
    }
    assert!(app.open_lecture().is_none(), "it ends behind its last step");
}

#[test]
fn the_page_has_what_was_predicted_and_what_was_measured() {
    let folder = tempfile::tempdir().unwrap();
    let options = lecture_options(folder.path());
    let steps = options.lecture.steps.clone();
    let session = Session::start(steps[0].setup.clone(), || {}).unwrap();
    let mut run = LectureRun::new(options);
    assert!(run.go(0, &session).is_none());
    run.predict(0);
    run.predict(1);
    run.predict(7);
    assert!(run.go(1, &session).is_none());
    let mut status = Status::before_start(&steps[1].setup);
    let effect = |what: &str, finding| Effect {
        what: what.to_owned().into(),
        round_us: [Some(1000.0), Some(3900.0)],
        finding,
        source: Source::default(),
    };
    let found = Some(Finding::Difference {
        ratio: 1.0 / 3.9,
        interval: [1.0 / 4.0, 1.0 / 3.8],
    });
    let mut see = |status: &Status| {
        run.update(status);
        run.screen().unwrap().result
    };
    status.lab.last_effect = Some(effect("one stream", None));
    assert_eq!(see(&status), "");
    // Another change of the class, and this one's finding after it.
    status.lab.last_effect = Some(effect("pageable", found));
    assert_eq!(see(&status), "");
    status.lab.last_effect = Some(effect("one stream", found));
    let result = see(&status);
    assert!(
        result.starts_with("Predicted: 2× slower · result: one stream"),
        "{result}"
    );
    assert!(run.go(-1, &session).is_none());
    run.predict(0);
    let choices = run.screen().unwrap().choices;
    let marks: Vec<_> = choices
        .iter()
        .map(|it| (it.is_chosen, it.is_right))
        .collect();
    assert_eq!(marks, [(false, false), (true, false), (false, true)]);
    let said = run.close().unwrap().to_string();
    assert!(said.contains("report.html"), "{said}");
    let page = std::fs::read_to_string(folder.path().join("report.html")).unwrap();
    for text in [
        "<h1>A lecture</h1>",
        "How much slower?",
        "2× slower",
        "3.9× slower",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
    assert!(run.close().is_none(), "it is closed");
}
