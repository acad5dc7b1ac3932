//! Lectures by the program itself: what comes with it is right, and what is wrong in a file is said with
//! its place.

use std::fs;

use crate::common::{lifestreams, lifestreams_with, scratch};

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
fn the_shipped_lectures_are_right() {
    let folder = scratch();
    for (name, said) in [
        ("ten-minutes", "CUDA streams in ten minutes: 10 steps\n"),
        (
            "chapter-5",
            "Streams, events, contexts and concurrency: 12 steps\n",
        ),
    ] {
        let ended = lifestreams(folder.path(), &format!("lecture check {name}"));
        assert_eq!(ended.stdout, said);
        assert_eq!(ended.code, Some(0));
    }
}

#[test]
fn what_is_wrong_in_a_file_is_said_with_line_and_column() {
    let step = "title = \"A\"\n[[step]]\n";
    let asked = "question = \"How much?\"\n";
    let path = scratch();
    let rows = [
        ("title = ", "1:9: "),
        (
            "title = 3\n[[step]]",
            "1:9: take a text, or one for each language",
        ),
        ("title = \"A\"", "1:1: missing field `step`"),
        (
            "title = \"A\"\nstep = []",
            "1:1: a lecture has at least one [[step]]",
        ),
        (&format!("{step}txt = \"?\""), "3:1: unknown field `txt`"),
        (
            &format!("{step}text = {{ en = \"?\" }}"),
            "3:8: take a text, or one for each language",
        ),
        (
            &format!("{step}set = {{ seed = 3 }}"),
            "3:16: 'seed' cannot be set by a step",
        ),
        (
            &format!("{step}set = {{ wait = \"eech\" }}"),
            "did you mean 'each'?",
        ),
        (
            &format!("{step}set = {{ size = [1] }}"),
            "3:16: size must be a text or a number",
        ),
        (
            &format!("{step}set = {{ size-on-cpu = \"big\" }}"),
            "3:23: ",
        ),
        (
            &format!("{step}set = {{ pace = 59 }}"),
            "3:16: take a pace that the keys",
        ),
        (
            &format!("{step}set = {{ kernel = \"bits\", transfer = \"i32\" }}"),
            "3:18: kernel 'bits' has no i32 cells to copy",
        ),
        (
            &format!("{step}lesson = \"graps\""),
            "3:10: there is no lesson 'graps'",
        ),
        (
            &format!("{step}{asked}faster = [2]"),
            "4:10: take 2 to 9 factors",
        ),
        (
            &format!("{step}{asked}faster = [1, 2]\nslower = [1, 2]"),
            "5:10: give either",
        ),
        (
            &format!("{step}faster = [1, 2]"),
            "3:10: choices need a question",
        ),
        (
            &format!("{step}{asked}faster = [1, 2]"),
            "4:10: choices are about",
        ),
    ];
    for (text, said) in rows {
        fs::write(path.path().join("own.toml"), text).unwrap();
        let ended = lifestreams(path.path(), "lecture check own.toml");
        assert_eq!(ended.code, Some(2), "{text}: {ended:?}");
        let has = ended.stderr.starts_with("lifestreams: own.toml:") && ended.stderr.contains(said);
        assert!(has, "{text}: {ended:?}");
        assert_eq!(ended.stdout, "");
    }
    let ended = lifestreams(path.path(), "lecture check nowhere.toml");
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(
        ended.stderr.contains("nowhere.toml cannot be read"),
        "{ended:?}"
    );
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
