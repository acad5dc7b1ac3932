//! Lessons and lectures by the program itself: lessons' list, what is read of one, and what is recorded. What each of
//! all lessons measures and checks on the CPU engine is in `tests/oracle/lessons.txt`, for which
//! `scripts/test` runs every one.

use std::fs::{self, File};

use crate::common::{hold, hold_with, lifestreams, lifestreams_with, picture_of, says, scratch};
use crate::cuda_engine::with_driver;
use flate2::read::GzDecoder;
use lesson::LESSONS;
use serde_json::Value;

/// Without the ten seconds between the windows of a comparison.
const AT_ONCE: (&str, &str) = ("LIFESTREAMS_TEST_TIMEOUT_MS", "0");

/// An array's elements.
fn list<'a>(of: &'a Value, key: &str) -> &'a [Value] {
    of[key]
        .as_array()
        .unwrap_or_else(|| panic!("{key} of {of}"))
}

/// On a GPU, over the tests' driver: each part either is measured or says what is missing for it.
#[test]
fn a_gpu_that_lacks_something_says_so_in_a_sentence() {
    let folder = scratch();
    let second = Some("there is only one GPU here");
    for (name, devices, missing) in [
        ("peer-copy", "1", second),
        ("peer-copy", "2", None),
        ("one-torus", "2", None),
    ] {
        let variables = [AT_ONCE, ("FAKE_CUDA_DEVICES", devices)];
        let line = format!("lesson {name} --device cuda --json");
        let ended = with_driver(folder.path(), &line, &variables).succeeds();
        let outcome: Value = serde_json::from_str(&ended.stdout).unwrap();
        for part in list(&outcome, "parts") {
            let note = part["note"].as_str();
            if let Some(why) = missing {
                assert!(note.is_some_and(|note| note.contains(why)), "{part}");
            }
            assert_eq!(
                list(part, "figures").is_empty(),
                missing.is_some(),
                "{name}: {part}"
            );
        }
        for check in list(&outcome, "checks") {
            assert_eq!(check["passed"], Value::Bool(true), "{name}: {check}");
        }
    }
}

#[test]
fn the_missing_barrier_shows_and_its_pictures_are_written() {
    let folder = scratch();
    let line = "lesson barrier --device cpu --json --picture life.png";
    let ended = lifestreams_with(folder.path(), &[AT_ONCE], line).done();
    let outcome: Value = serde_json::from_str(&ended.stdout).unwrap();
    let wrong = [0, 1].map(|part| {
        let figures = list(&outcome["parts"][part], "figures");
        let wrong = figures.iter().find(|it| it["label"] == "wrong values");
        wrong.and_then(|it| it["value"].as_f64())
    });
    assert!(wrong[0] == Some(0.0) && wrong[1] > Some(0.0), "{wrong:?}");
    let pictures = list(&outcome, "pictures");
    assert_eq!(pictures.len(), 2);
    for (picture, file) in pictures.iter().zip(["life.png", "life-2.png"]) {
        let (info, pixels) = picture_of(&folder.path().join(file));
        assert_eq!(picture["width"], info.width);
        assert_eq!(picture["height"], info.height);
        let channels = info.color_type.samples();
        let red = |pixel: &[u8]| pixel[0] > 100 && pixel[1] < 100;
        let any = pixels.chunks(channels).any(red);
        assert_eq!(any, file == "life-2.png", "{file}");
    }
}

#[test]
fn a_lesson_is_read_with_its_figures_and_what_was_recorded_of_it() {
    let folder = scratch();
    let listed = lifestreams(folder.path(), "lesson").succeeds().stdout;
    for lesson in LESSONS.iter() {
        let row = |line: &&str| line.starts_with(&format!("  {} ", lesson.name));
        assert_eq!(listed.lines().filter(row).count(), 1, "{}", lesson.name);
    }
    let [streams, pinned] = ["default-stream", "pinned"].map(|name| lesson::find(name).unwrap());
    let said = [
        streams.title,
        streams.intro,
        streams.question,
        streams.parts[1].title,
    ];
    let said = format!(
        "{} | all launches | ms | non-blocking instead of blocking streams:  |       ok  | (cpu)",
        said.join(" | ")
    );
    let recorded = lesson::recorded(pinned).unwrap();
    let device = recorded.recorded_in_words().unwrap();
    let title = lang::sentence_case(&device);
    let here = format!(
        "The CPU engine has no |       ok  | {title} | {}",
        recorded.closing
    );
    #[rustfmt::skip]
    hold_with(&folder, &[AT_ONCE], &[
        ("lesson default-stream --device cpu", 0, &said),
        ("lesson pinned --device cpu", 0, &here),
    ]);
    let line = "lesson pinned --device recorded";
    let at_once = lifestreams(folder.path(), line).succeeds().stdout;
    says(&at_once, &device[1..], line);
    assert!(!at_once.contains("      ok  "), "{at_once}");
}

#[test]
fn rounds_and_lessons_are_recorded_on_a_gpu() {
    let folder = scratch();
    let line = "bench recording --small --write . --device cuda";
    with_driver(folder.path(), line, &[("FAKE_CUDA_DRY", "1")]).succeeds();
    let read = |of: &str| -> Value {
        let path = folder.path().join(format!("recorded-{of}.json.gz"));
        let recording: Value =
            serde_json::from_reader(GzDecoder::new(File::open(path).unwrap())).unwrap();
        assert_eq!(recording["recorded"]["device"], "Fake GPU 0");
        recording
    };
    let lessons = read("lessons");
    for (recorded, name) in list(&lessons, "lessons").iter().zip(["context", "barrier"]) {
        assert_eq!(recorded["lesson"], name);
        for part in list(recorded, "parts") {
            assert!(!list(part, "figures").is_empty(), "{name}: {part}");
        }
    }
    for group in list(&read("rounds"), "groups") {
        let settings = list(group, "settings");
        assert!(settings.len() > 30, "{}", settings.len());
        let blocks = list(group, "window_ends").last().unwrap().as_u64();
        for setting in settings {
            assert_eq!(Some(list(setting, "times_us").len() as u64), blocks);
            let spans = list(&setting["round"], "spans").len();
            assert_eq!(list(setting, "alone").len(), spans);
        }
    }
}

// Lectures: what comes with the program is right, and what is wrong in a file is said with its place.

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
    hold(&folder, &[
        ("lecture check ten-minutes", 0, "CUDA streams in ten minutes: 10 steps\n"),
        ("lecture check chapter-5", 0, "Streams, events, contexts and concurrency: 11 steps\n"),
    ]);
    let asked = "question = \"How much?\"\n";
    #[rustfmt::skip]
    let rows = [
        ("set = { seed = 3 }", "3:16: 'seed' cannot be set by a step"),
        ("set = { wait = \"eech\" }", "did you mean 'each'?"),
        ("set = { size = [1] }", "3:16: size must be a text or a number"),
        ("set = { size = \"big\" }", "3:16: "),
        ("set = { pace = 59 }", "3:16: take a pace that the keys"),
        ("set = { kernel = \"bits\", transfer = \"i32\" }", "3:18: kernel 'bits' has no i32 cells to copy"),
        ("text = { en = \"?\" }", "3:8: take a text, or one for each language"),
        ("lesson = \"graps\"", "3:10: there is no lesson or file 'graps'; did you mean graphs?"),
        ("lesson = \"own.toml\"", "3:10: own.toml:2:3: unknown field `step`"),
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
        hold(&folder, &[("lecture check own.toml", 2, &said)]);
    }
}

#[test]
fn a_rehearsal_says_what_is_found_of_every_change_and_lesson() {
    let folder = scratch();
    let small = OWN_LECTURE.replace(
        "text = \"Four",
        "set = { instances = 2, size = 64 }\ntext = \"Four",
    );
    let of_file = small.replace("barrier", "mine.toml");
    fs::create_dir(folder.path().join("talk")).unwrap();
    fs::write(folder.path().join("talk/own.toml"), of_file).unwrap();
    let rehearse = "$ lifestreams lecture rehearse talk/own.toml --device cpu | tee found | wc -l";
    #[rustfmt::skip]
    hold_with(&folder, &[AT_ONCE], &[
        ("lesson new talk/mine.toml --from barrier", 0, "talk/mine.toml: a copy"),
        (rehearse, 0, "2\n"),
        ("$ cat found", 0, "Step 2 of 3:  | \nStep 3 of 3, barrier: "),
        ("lecture rehearse ten-minutes --device recorded", 0, "H200 | Step 2 of 10: 12.5 to 13.2× slower | Step 10 of 10, graphs: "),
    ]);
}
