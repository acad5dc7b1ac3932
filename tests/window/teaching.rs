//! The timeline, the lab, hints, lessons and lectures.

use crate::common::wait_for;
use crate::shown::{HINTS, Shown};

#[test]
fn timeline_lab_and_lessons_come_and_escape_unwinds_them() {
    let (mut shown, _) = Shown::paused("--instances 4");
    let plain = shown.rest();
    for key in ["t", "F9", "shift+g", "F10"] {
        shown.key(key);
        shown.leaves(&plain, key);
        shown.key("Escape");
        shown.returns_to(&plain, "the picture without it");
    }
    // The first lesson, to its result and back.
    shown.key("F10");
    shown.leaves(&plain, "the list");
    let list = shown.rest();
    shown.key("Return");
    shown.leaves(&list, "a page");
    // A digit predicts; the keys of a presenter's remote measure and go back.
    for key in ["2", "Next", "Prior"] {
        let page = shown.rest();
        shown.key(key);
        shown.leaves(&page, key);
    }
    shown.key("Escape");
    wait_for("the list again", || (shown.rest() == list).then_some(()));
    shown.key("Escape");
    wait_for("no lessons", || (shown.picture() == plain).then_some(()));
    assert!(shown.running.runs());
    shown.quit();
}

#[test]
fn hints_of_a_first_run_go_once_used_and_stay_away() {
    let shown = Shown::open_with_hints("--instances 2", None);
    let done = || std::fs::read_to_string(shown.folder.path().join(HINTS)).unwrap_or_default();
    let is_done = |name: &str| {
        wait_for(name, || {
            done().lines().any(|line| line == name).then_some(())
        });
    };
    is_done("run");
    shown.press("space", "TogglePause");
    shown.press("F2", "CycleSwitch(Streams)");
    is_done("streams");
    shown.key("t");
    is_done("timeline");
    shown.key("t");
    let hinted = shown.rest();
    shown.key("Escape");
    is_done("lessons");
    shown.leaves(&hinted, "no hint");
    let text = done();
    shown.quit();
    let shown = Shown::open_with_hints("--instances 2", Some(&text));
    shown.press("space", "TogglePause");
    let plain = shown.rest();
    shown.key("Escape");
    assert!(shown.rest() == plain, "nothing is left to be closed");
    shown.quit();
}

#[test]
fn a_lecture_is_given_by_a_remote_and_finds_back() {
    let (shown, _) = Shown::paused("lecture ten-minutes --report page.html");
    let first = shown.rest();
    shown.key("3");
    shown.leaves(&first, "a prediction");
    shown.press("Next", "SetSwitch(Streams, 1)");
    // The class asks.
    shown.press("F3", "CycleSwitch(HostMemory)");
    shown.press("Next", "SetSwitch(HostMemory, 0)");
    shown.press("Prior", "SetSwitch(Streams, 1)");
    let step = shown.rest();
    shown.key("F5");
    shown.key("period");
    assert!(
        shown.rest() == step,
        "what else a remote sends does nothing"
    );
    shown.key("ctrl+l");
    shown.leaves(&step, "the lecture is left");
    let page = std::fs::read_to_string(shown.folder.path().join("page.html")).unwrap();
    assert!(page.contains("<td>4× slower</td>"), "{page}");
    shown.quit();
}
