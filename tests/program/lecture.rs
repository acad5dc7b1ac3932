//! Lectures by the program itself: what comes with it is right, and what is wrong in a file is said with
//! its place.

use std::fs;

use crate::common::{hold, lifestreams_with, scratch};

/// A lecture with a question, a note and a lesson.
pub(crate) const OWN_LECTURE: &str = r#"
title = "A lecture"

[[step]]
text = "Four streams"
question = "All in one stream?"
slower = [1, 2, 4]

[[step]]
set = { streams = "one" }
text = "One stream"
note = "The kernels queue."

[[step]]
lesson = "barrier"
"#;

#[test]
fn a_lecture_is_checked_and_what_is_wrong_in_it_is_said_with_line_and_column() {
    let folder = scratch();
    #[rustfmt::skip]
    hold(folder.path(), &[], &[
        ("lecture check ten-minutes", 0, "CUDA streams in ten minutes: 10 steps\n"),
        ("lecture check chapter-5", 0, "Streams, events, contexts and concurrency: 12 steps\n"),
    ]);
    let asked = "question = \"How much?\"\n";
    #[rustfmt::skip]
    let rows = [
        ("set = { seed = 3 }", "3:16: 'seed' cannot be set by a step"),
        ("set = { wait = \"eech\" }", "did you mean 'each'?"),
        ("set = { size = [1] }", "3:16: size must be a text or a number"),
        ("set = { size-on-cpu = \"big\" }", "3:23: "),
        ("set = { pace = 59 }", "3:16: take a pace that the keys"),
        ("set = { kernel = \"bits\", transfer = \"i32\" }", "3:18: kernel 'bits' has no i32 cells to copy"),
        ("text = { en = \"?\" }", "3:8: take a text, or one for each language"),
        ("lesson = \"graps\"", "3:10: there is no lesson 'graps'"),
        ("faster = [1, 2]", "3:10: choices need a question"),
        (&format!("{asked}faster = [2]"), "4:10: take 2 to 9 factors"),
        (&format!("{asked}faster = [1, 2]\nslower = [1, 2]"), "5:10: give either"),
        (&format!("{asked}faster = [1, 2]"), "4:10: choices are about"),
    ];
    let step = rows.map(|(step, said)| (format!("title = \"A\"\n[[step]]\n{step}"), said));
    #[rustfmt::skip]
    let whole = [
        ("title = ", "1:9: "),
        ("title = 3\n[[step]]", "1:9: take a text, or one for each language"),
        ("title = \"A\"", "1:1: missing field `step`"),
        ("title = \"A\"\nstep = []", "1:1: a lecture has at least one [[step]]"),
    ];
    let whole = whole.map(|(text, said)| (text.to_owned(), said));
    for (text, said) in step.into_iter().chain(whole) {
        fs::write(folder.path().join("own.toml"), text).unwrap();
        let said = format!("lifestreams: own.toml | {said}");
        hold(folder.path(), &[], &[("lecture check own.toml", 2, &said)]);
    }
}

#[test]
fn a_rehearsal_says_what_is_found_of_every_change_and_lesson() {
    let folder = scratch();
    let small = OWN_LECTURE.replace(
        "text = \"Four",
        "set = { instances = 2, size = 64 }\ntext = \"Four",
    );
    fs::write(folder.path().join("own.toml"), small).unwrap();
    let fast = [("LIFESTREAMS_TEST_TIMEOUT_MS", "0")];
    let ended = lifestreams_with(
        folder.path(),
        &fast,
        "lecture rehearse own.toml --device cpu",
    );
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let lines: Vec<&str> = ended.stdout.lines().collect();
    assert!(lines[0].starts_with("Step 2 of 3: "), "{ended:?}");
    assert!(lines[1].starts_with("Step 3 of 3, barrier: "), "{ended:?}");
    assert_eq!(lines.len(), 2, "{ended:?}");
}
