//! Lessons by the program itself: their list, what it says of one that is not there, and those
//! that are cheap without optimisation, on the CPU engine. (`scripts/test` runs every one.)

use std::collections::HashSet;
use std::fs::File;
use std::path::Path;

use crate::common::{Ended, lifestreams, lifestreams_with, picture_of, scratch};
use crate::cuda_engine::with_driver;
use flate2::read::GzDecoder;
use lesson::{LESSONS, Lesson};
use serde_json::Value;

/// Lessons that a debug build measures in seconds: with and without factors, and with something that the
/// CPU lacks. What each of all lessons measures and checks is in `tests/oracle/lessons.txt`.
const CHEAP: &str = "conway mandelbrot-sync default-stream priorities peer-copy";

fn lesson(name: &str) -> &'static Lesson {
    lesson::find(name).expect("a lesson of the table")
}

/// Measures on the CPU, without the ten seconds between the windows of a comparison.
fn measure(folder: &Path, name: &str, more: &str) -> Ended {
    let line = format!("lesson {name} --device cpu {more}");
    lifestreams_with(folder, &[("LIFESTREAMS_TEST_TIMEOUT_MS", "0")], &line)
}

/// Its JSON, which must be the only thing on stdout.
fn outcome(folder: &Path, name: &str, more: &str) -> Value {
    let ended = measure(folder, name, &format!("--json {more}"));
    assert_eq!(ended.code, Some(0), "{name}: {ended:?}");
    assert_eq!(ended.stdout.lines().count(), 1, "{name}: {ended:?}");
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{name}: {error}: {ended:?}"))
}

/// An array's elements.
fn list<'a>(of: &'a Value, key: &str) -> &'a [Value] {
    of[key]
        .as_array()
        .unwrap_or_else(|| panic!("{key} of {of}"))
}

fn text<'a>(of: &'a Value, key: &str) -> &'a str {
    of[key].as_str().unwrap_or_else(|| panic!("{key} of {of}"))
}

/// Everything that any lesson's outcome has.
fn is_whole(lesson: &Lesson, outcome: &Value) {
    let name = lesson.name;
    assert_eq!(text(outcome, "lesson"), name);
    assert_eq!(text(outcome, "engine"), "cpu");
    assert!(!text(outcome, "device").is_empty());
    assert!(!text(outcome, "closing").is_empty(), "{name}");
    let parts = list(outcome, "parts");
    assert_eq!(parts.len(), lesson.parts.len(), "{name}");
    for (part, of) in parts.iter().zip(lesson.parts) {
        assert_eq!(text(part, "title"), of.title);
        let figures = list(part, "figures");
        assert!(!figures.is_empty(), "{name}: {}", of.title);
        let labels: HashSet<&str> = figures.iter().map(|f| text(f, "label")).collect();
        assert_eq!(labels.len(), figures.len(), "{name}: a figure twice");
        for figure in figures {
            let value = figure["value"].as_f64().expect("a number");
            let counted = text(figure, "unit").is_empty();
            assert!(value > 0.0 || counted && value == 0.0, "{name}: {figure}");
        }
    }
    let factors = list(outcome, "factors");
    let compared = match lesson.missing_on_cpu {
        Some(missing) if missing.on_cpu.is_none() => &[],
        _ => lesson.compared,
    };
    assert_eq!(factors.len(), compared.len(), "{name}");
    for (factor, compared) in factors.iter().zip(compared) {
        let time = |part: usize| parts[part]["time_ms"].as_f64().expect("it is compared");
        let value = factor["value"].as_f64().expect("a number");
        let shown = time(compared.slow) / time(compared.fast);
        assert!((value / shown - 1.0).abs() < 0.5, "{name}: {factor}");
        let finding = text(factor, "finding");
        assert_eq!(
            factor["matters"],
            finding == "difference",
            "{name}: {factor}"
        );
        let interval = factor["interval"].as_array();
        assert_eq!(
            interval.is_none(),
            finding == "not-resolved" && interval.is_none(),
            "{name}: {factor}"
        );
        if let Some(bounds) = interval {
            let [low, high] = [0, 1].map(|at| bounds[at].as_f64().expect("a number"));
            let holds = low <= value * (1.0 + 1e-9) && value <= high * (1.0 + 1e-9);
            assert!(holds, "{name}: {factor}");
        }
    }
    let checks = list(outcome, "checks");
    assert!(!checks.is_empty(), "{name}");
    for check in checks {
        assert_eq!(check["passed"], Value::Bool(true), "{name}: {check}");
    }
    assert_eq!(
        outcome["missing"].is_string(),
        lesson.missing_on_cpu.is_some(),
        "{name} says what the CPU engine lacks"
    );
}

#[test]
fn the_cheap_ones_pass_and_say_all_of_it_in_json() {
    let folder = scratch();
    for name in CHEAP.split(' ') {
        is_whole(lesson(name), &outcome(folder.path(), name, ""));
    }
}

/// On a GPU, over the tests' driver: each part either is measured or says what is missing for it.
#[test]
fn a_gpu_that_lacks_something_says_so_in_a_sentence() {
    let folder = scratch();
    let second = "there is only one GPU here";
    for (name, devices, version, missing) in [
        ("host-functions", "1", "12030", None),
        ("peer-copy", "1", "13000", Some((second, 0))),
        ("peer-copy", "2", "13000", None),
        ("one-torus", "2", "13000", None),
    ] {
        let variables = [
            ("LIFESTREAMS_TEST_TIMEOUT_MS", "0"),
            ("FAKE_CUDA_DEVICES", devices),
            ("FAKE_CUDA_VERSION", version),
        ];
        let line = format!("lesson {name} --device cuda --json");
        let ended = with_driver(folder.path(), &line, &variables);
        assert_eq!(ended.code, Some(0), "{name}: {ended:?}");
        let outcome: Value = serde_json::from_str(&ended.stdout).unwrap();
        for (at, part) in list(&outcome, "parts").iter().enumerate() {
            let note = missing.filter(|(_, first)| at >= *first);
            match note {
                Some((why, _)) => assert!(text(part, "note").contains(why), "{name}: {part}"),
                None => assert!(part["note"].is_null(), "{name}: {part}"),
            }
            assert_eq!(list(part, "figures").is_empty(), note.is_some(), "{part}");
        }
        for check in list(&outcome, "checks") {
            assert_eq!(check["passed"], Value::Bool(true), "{name}: {check}");
        }
    }
}

#[test]
fn the_missing_barrier_shows_and_its_pictures_are_written() {
    let folder = scratch();
    let outcome = outcome(folder.path(), "barrier", "--picture life.png");
    let wrong = |part: usize| outcome["parts"][part]["figures"][0]["value"].as_f64();
    assert_eq!(wrong(0), Some(0.0));
    assert!(wrong(1) > Some(0.0), "on the CPU the warps' order is fixed");
    let pictures = list(&outcome, "pictures");
    for (picture, file) in pictures.iter().zip(["life.png", "life-2.png"]) {
        let (info, pixels) = picture_of(&folder.path().join(file));
        assert_eq!(picture["width"], info.width);
        assert_eq!(picture["height"], info.height);
        let channels = info.color_type.samples();
        let red = |pixel: &[u8]| pixel[0] > 100 && pixel[1] < 100;
        let any = pixels.chunks(channels).any(red);
        assert_eq!(any, file == "life-2.png", "{file}");
    }
    assert_eq!(pictures.len(), 2);
}

#[test]
fn people_read_the_question_the_figures_and_the_conclusion() {
    let folder = scratch();
    let ended = measure(folder.path(), "default-stream", "").succeeds();
    let of = lesson("default-stream");
    for text in [of.title, of.intro, of.question, of.parts[1].title] {
        assert!(ended.stdout.contains(text), "{text}: {ended:?}");
    }
    for text in [
        "all launches",
        "ms",
        "non-blocking instead of blocking streams: ",
        "      ok  ",
        "(cpu)",
    ] {
        assert!(ended.stdout.contains(text), "{text}: {ended:?}");
    }
    assert_eq!(ended.stderr, "");
}

#[test]
fn rounds_and_lessons_are_recorded_on_a_gpu_and_on_nothing_else() {
    let folder = scratch();
    let line = "bench recording --small --write . --device";
    let dry = [("FAKE_CUDA_DRY", "1")];
    with_driver(folder.path(), &format!("{line} cuda"), &dry).succeeds();
    let read = |of: &str| -> Value {
        let path = folder.path().join(format!("recorded-{of}.json.gz"));
        let recording: Value =
            serde_json::from_reader(GzDecoder::new(File::open(path).unwrap())).unwrap();
        assert_eq!(text(&recording["recorded"], "device"), "Fake GPU 0");
        recording
    };
    let lessons = read("lessons");
    for (recorded, name) in list(&lessons, "lessons").iter().zip(["context", "barrier"]) {
        assert_eq!(text(recorded, "lesson"), name);
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
    let ended = lifestreams(folder.path(), &format!("{line} cpu"));
    ended.refuses(3, &["rounds and lessons are recorded on one GPU"]);
}

#[test]
fn what_was_recorded_on_a_gpu_is_read_below_the_checks_of_here() {
    let folder = scratch();
    let ended = measure(folder.path(), "pinned", "").succeeds();
    assert!(ended.stdout.contains("The CPU engine has no"), "{ended:?}");
    assert!(ended.stdout.contains("      ok  "), "{ended:?}");
    match lesson::recorded(lesson("pinned")) {
        Some(outcome) => {
            let recorded = outcome.recorded_in_words().unwrap();
            for text in [&lang::sentence_case(&recorded), &outcome.closing] {
                assert!(ended.stdout.contains(text), "{text}: {ended:?}");
            }
            let line = "lesson pinned --device recorded";
            let at_once = lifestreams(folder.path(), line).succeeds();
            assert!(at_once.stdout.contains(&recorded[1..]), "{at_once:?}");
            assert!(!at_once.stdout.contains("      ok  "), "{at_once:?}");
        }
        None => {
            let sentence = "Nothing was recorded of this lesson on a GPU";
            assert!(ended.stdout.contains(sentence), "{ended:?}");
        }
    }
}

#[test]
fn the_list_names_every_lesson_once() {
    let folder = scratch();
    let ended = lifestreams(folder.path(), "lesson").succeeds();
    for lesson in LESSONS {
        let row = |line: &&str| line.starts_with(&format!("  {} ", lesson.name));
        assert_eq!(
            ended.stdout.lines().filter(row).count(),
            1,
            "{}",
            lesson.name
        );
    }
}

#[test]
fn a_lesson_that_is_not_there_is_refused_with_the_list() {
    let folder = scratch();
    let ended = lifestreams(folder.path(), "lesson nope --device cpu");
    ended.refuses(2, &["'nope'", "multi-kernel-streams", "barrier"]);
    let ended = lifestreams(folder.path(), "lesson barrier --device gpu");
    assert_eq!(ended.code, Some(2), "{ended:?}");
}
