//! The timeline, the lab, lessons and lectures.

use crate::common::wait_for;
use crate::shown::Shown;

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
