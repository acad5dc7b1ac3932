use std::sync::Arc;
use std::time::Duration;

use super::*;
use crate::fixtures::lecture_options;
use crate::{App, LessonScreen, ViewOptions};
use session::{Finding, SessionAction, Source, Switch};
use test_support::compare_with_stored;

fn until(is_so: impl Fn() -> bool) {
    while !is_so() {
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until the session has the setting of this step.
#[track_caller]
fn reaches(app: &App, at: usize) {
    let lecture = app.lecture.as_ref().unwrap();
    assert_eq!(lecture.at, at);
    let wanted = lecture.step().setup_where(true);
    until(|| {
        let status = app.status().unwrap();
        let (lattices, setting) = (&status.lattices, &status.setting);
        status.lab.comparison.is_none()
            && (lattices.instances, lattices.size, lattices.rule)
                == (wanted.instances, wanted.size, wanted.rule)
            && setting.kernel.name == wanted.setting.kernel.name
            && setting.switches == wanted.setting.switches
            && (setting.generations_per_round, setting.pace)
                == (wanted.generations_per_round, wanted.pace)
    });
}

#[test]
fn steps_reach_their_settings_forward_back_and_after_an_interruption() {
    let folder = tempfile::tempdir().unwrap();
    let options = lecture_options(folder.path());
    let setup = options.lecture.steps[0].setup.clone();
    let view = ViewOptions::default();
    let mut app = App::new(view, Some(options), Arc::new(|| {}), Arc::default());
    app.start(Session::start(setup, || {}).unwrap());
    reaches(&app, 0);
    app.turn_page(true);
    reaches(&app, 1);
    // The class asks, and things are changed.
    app.send(SessionAction::SetInstances(3));
    app.send(SessionAction::CycleSwitch(Switch::HostMemory));
    app.send(SessionAction::ToggleComparison);
    until(|| app.status().unwrap().lab.comparison.is_some());
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
    let size = app.status().unwrap().lattices.size;
    assert_eq!(size, Size::new(128, 96).unwrap(), "that of a CPU");
    assert_eq!(number(&app), None);
    app.turn_page(false);
    app.turn_page(false);
    reaches(&app, 1);
    app.options.presentation = true;
    app.act(crate::ViewAction::Escape);
    assert!(
        app.open_lecture().is_none() && app.options.presentation,
        "it is left first"
    );
    app.toggle_lecture();
    reaches(&app, 1);
    let notes = std::fs::read_to_string(folder.path().join("notes")).unwrap();
    assert_eq!(notes, "Step 1 of 4: Ask the class.\n".repeat(2));
    (0..of + 2).for_each(|_| app.turn_page(true));
    assert!(app.open_lecture().is_none(), "it ends behind its last step");
}

/// What is said of a prediction until it is measured, and the page with both.
#[test]
fn the_page_has_what_was_predicted_and_what_was_measured() {
    let folder = tempfile::tempdir().unwrap();
    let options = lecture_options(folder.path());
    let steps = options.lecture.steps.clone();
    let session = Session::start(steps[0].setup.clone(), || {}).unwrap();
    let mut run = LectureRun::new(options);
    let mut status = Status::before_start(&steps[1].setup);
    run.go(0, &session);
    [0, 1, 7].iter().for_each(|choice| run.predict(*choice));
    run.go(1, &session);
    let found = Some(Finding::of(1.0 / 3.9, [1.0 / 4.0, 1.0 / 3.8]));
    let mut said = String::new();
    // Another change of the class, and this one's finding after it.
    for (what, finding) in [
        ("one stream", None),
        ("pageable", found),
        ("one stream", found),
    ] {
        status.lab.last_effect = Some(Effect {
            what: what.to_owned().into(),
            round_us: [Some(1000.0), Some(3900.0)],
            finding,
            source: Source::default(),
        });
        run.update(&status);
        said += &format!("{:?}\n", run.screen().unwrap().result);
    }
    run.go(-1, &session);
    run.predict(0);
    said += &format!("{:#?}\n", run.screen().unwrap().choices);
    let closed = run.close().unwrap().to_string();
    let report = folder.path().join("report.html");
    said += &closed.replace(&report.display().to_string(), "report.html");
    said += &format!("\n{}", std::fs::read_to_string(report).unwrap());
    compare_with_stored("lecture-page.txt", &said);
    assert!(run.close().is_none(), "it is closed");
}
