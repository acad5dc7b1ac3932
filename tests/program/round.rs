//! Rounds and exercises by the program itself: what is right and wrong in a file, with its place, and the
//! exit codes.

use std::fs;
use std::path::Path;

use lesson::{EXERCISES, Task};

use crate::common::{Ended, lifestreams, lifestreams_with, scratch};

const RACE: &str = "for i in 0..N {\n    advance(i, 0);\n    download(i, 1);\n}\n";

/// Runs it with a data folder of its own, in this folder.
fn own(folder: &Path, line: &str) -> Ended {
    let data = folder.join("data");
    lifestreams_with(folder, &[("XDG_DATA_HOME", data.to_str().unwrap())], line)
}

#[test]
fn a_new_round_is_right_and_never_written_over_a_file() {
    let folder = scratch();
    let ended = lifestreams(folder.path(), "round new").done();
    assert!(ended.stdout.starts_with("wrote round.rhai"), "{ended:?}");
    for count in [1, 2, 16] {
        let line = format!("round check round.rhai --instances {count}");
        let ended = lifestreams(folder.path(), &line).done();
        assert_eq!(ended.stdout, format!("round.rhai: right for N = {count}\n"));
    }
    fs::write(folder.path().join("round.rhai"), "mine").unwrap();
    let ended = lifestreams(folder.path(), "round new");
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(
        ended.stderr.contains("round.rhai exists already"),
        "{ended:?}"
    );
    let kept = fs::read_to_string(folder.path().join("round.rhai")).unwrap();
    assert_eq!(kept, "mine");
    let ended = lifestreams(folder.path(), "round new nowhere/own.rhai");
    assert_eq!(ended.code, Some(2), "{ended:?}");
}

#[test]
fn what_is_wrong_in_a_round_is_said_with_line_and_column() {
    let folder = scratch();
    let deep = "(".repeat(5000);
    for (source, said) in [
        (
            RACE,
            "own.rhai:3:5: Line 3 downloads instance 0 in stream 1, and nothing orders it after line 2, which \
             advances instance 0 in stream 0. Record an event in stream 0 after line 2, and make stream 1 \
             wait for it. The same goes for 15 more.\n",
        ),
        (
            "",
            "own.rhai: Instance 0 is never advanced. The same goes for 15 more.\n\
             own.rhai: Instance 0 is never downloaded. The same goes for 15 more.\n",
        ),
        (
            "advance(0, 0)\nadvance(1, 0)",
            "own.rhai:2:1: ';' is missing before this.\n",
        ),
        (
            "for i in 0..N {\n  advance(i, 0);",
            "own.rhai:2:17: '}' is missing before this.\n",
        ),
        (
            "advance(0, 0);\n\0",
            "own.rhai:2:1: Scripts of rounds have no '\\u{0}'.\n",
        ),
        (
            "\u{feff}advance(0,\u{3000}0);",
            "own.rhai:1:11: The script has a space that is not a plain one (U+3000); type a plain space.\n",
        ),
        (
            "let a = “b”;",
            "own.rhai:1:9: The script has the typographic quotation mark “ (U+201C); type a plain one.\n",
        ),
        (
            "advance(16, 0);",
            "own.rhai:1:1: There is no instance 16: take 0 to 15.\n",
        ),
        (
            "advance(0, -1);",
            "own.rhai:1:1: There is no stream -1: take 0 to 1023.\n",
        ),
        (
            "loop {}",
            "own.rhai:1:6: The script was stopped here after 5000000 steps; does it end?\n",
        ),
        (
            "loop { record(0, 0); }",
            "own.rhai:1:8: A round has at most 100000 calls.\n",
        ),
        (
            "fn f() { f() } f()",
            "own.rhai:1:16: Functions call one another too deep here, or without end.\n",
        ),
        (
            &deep,
            "own.rhai:1:16: Blocks or expressions are nested too deep.\n",
        ),
    ] {
        fs::write(folder.path().join("own.rhai"), source).unwrap();
        let ended = lifestreams(folder.path(), "round check own.rhai");
        assert_eq!(ended.stdout, said, "{source}");
        assert_eq!(ended.stderr, "lifestreams: own.rhai is wrong for N = 16\n");
        assert_eq!(ended.code, Some(1), "{source}");
    }
}

#[test]
fn a_file_that_is_no_script_is_refused_in_one_sentence() {
    let folder = scratch();
    let path = folder.path().join("own.rhai");
    let long = vec![b' '; 100_000_000];
    for (bytes, said) in [
        (&b"// \xff"[..], "own.rhai:1:4: This is not UTF-8 text."),
        (&long, "own.rhai cannot be read: it is more than 1 MiB long"),
        (
            &long[..100_000],
            "own.rhai: The script has 100000 bytes; 65535 is the maximum.",
        ),
    ] {
        fs::write(&path, bytes).unwrap();
        let ended = lifestreams(folder.path(), "round check own.rhai");
        assert_eq!(ended.stderr, format!("lifestreams: {said}\n"));
        assert_eq!((ended.code, &*ended.stdout), (Some(2), ""), "{said}");
    }
    for line in [
        "round check nowhere.rhai",
        "round check .",
        "round check",
        "round",
        "round check own.rhai --instances 0",
    ] {
        let ended = lifestreams(folder.path(), line);
        assert_eq!(ended.code, Some(2), "{line}: {ended:?}");
    }
}

#[test]
fn json_has_every_fault_with_its_places() {
    let folder = scratch();
    fs::write(folder.path().join("own.rhai"), RACE).unwrap();
    let json = |line: &str, code| {
        let ended = lifestreams_with(folder.path(), &[("LANG", "zh_CN.UTF-8")], line);
        assert_eq!(ended.code, Some(code), "{ended:?}");
        serde_json::from_str::<serde_json::Value>(&ended.stdout).unwrap()
    };
    let report = json("round check own.rhai --json --instances 2", 1);
    assert_eq!(report["right"], false);
    assert_eq!(report["n"], 2);
    let faults = report["faults"].as_array().unwrap();
    assert_eq!(faults.len(), 2);
    assert_eq!(faults[1]["kind"], "race");
    assert_eq!(faults[1]["calls"], serde_json::json!([3, 2]));
    let places = serde_json::json!([{"line": 3, "column": 5}, {"line": 2, "column": 5}]);
    assert_eq!(faults[1]["places"], places);
    let sentence = faults[1]["sentence"].as_str().unwrap();
    assert!(
        sentence.starts_with("Line 3 downloads instance 1"),
        "{sentence}"
    );
    fs::write(folder.path().join("own.rhai"), "advance(").unwrap();
    let report = json("round check own.rhai --json", 1);
    assert_eq!(report["faults"][0]["kind"], "script");
    lifestreams(folder.path(), "round new right.rhai").done();
    let report = json("round check right.rhai --json", 0);
    let expected = serde_json::json!({"file": "right.rhai", "n": 16, "right": true, "faults": []});
    assert_eq!(report, expected);
}

#[test]
fn every_exercise_goes_from_its_skeleton_to_its_answer() {
    let folder = scratch();
    let ended = own(folder.path(), "exercise check");
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(
        ended.stderr.contains("no exercise is in progress"),
        "{ended:?}"
    );
    for (at, exercise) in EXERCISES.iter().enumerate() {
        let started = own(folder.path(), "exercise next").done();
        assert!(started.stdout.starts_with(exercise.name), "{started:?}");
        let listed = own(folder.path(), "exercise list").done();
        assert_eq!(listed.stdout.matches("(solved)").count(), at, "{listed:?}");
        assert_eq!(
            listed.stdout.matches("(in progress)").count(),
            1,
            "{listed:?}"
        );
        let name = format!("{}.{}", exercise.name, exercise.extension());
        let file = folder.path().join(&name);
        let skeleton = own(folder.path(), "exercise check");
        assert_eq!(skeleton.code, Some(1), "{skeleton:?}");
        let said = match exercise.task {
            Task::Round(_) => &skeleton.stdout,
            Task::Kernel(_) => &skeleton.stderr,
        };
        assert!(said.contains(&format!("{name}:")), "{skeleton:?}");
        fs::write(&file, exercise.answer).unwrap();
        let answer = own(folder.path(), "exercise check").done();
        assert!(answer.stdout.contains(": right, and "), "{answer:?}");
    }
    let ended = own(folder.path(), "exercise next").done();
    assert_eq!(ended.stdout, "every exercise is solved\n");
}

#[test]
fn an_exercise_is_started_by_name_or_number_and_never_over_a_file() {
    let folder = scratch();
    own(folder.path(), "exercise start 4").done();
    let file = folder.path().join("diamond.rhai");
    assert!(file.exists());
    fs::write(&file, "mine").unwrap();
    let again = own(folder.path(), "exercise start diamond");
    assert_eq!(again.code, Some(2), "{again:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    for name in ["11", "0", "nope"] {
        let ended = own(folder.path(), &format!("exercise start {name}"));
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.stderr.contains("overlap, order, race"), "{ended:?}");
    }
    // Its file is gone.
    fs::remove_file(&file).unwrap();
    let ended = own(folder.path(), "exercise check");
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(
        ended.stderr.contains("diamond.rhai cannot be read"),
        "{ended:?}"
    );
    let json = own(folder.path(), "exercise check 4 --json");
    assert_eq!((json.code, &*json.stdout), (Some(2), ""), "{json:?}");
}

#[test]
fn damaged_progress_is_one_sentence_and_counts_as_none() {
    let folder = scratch();
    own(folder.path(), "exercise start race").done();
    let path = folder.path().join("data/lifestreams/exercises.json");
    for damaged in ["", "{\"current\":", "\0\0\0"] {
        fs::write(&path, damaged).unwrap();
        let ended = own(folder.path(), "exercise list").succeeds();
        assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
        assert!(
            ended.stderr.contains("no exercise counts as solved"),
            "{ended:?}"
        );
        assert!(!ended.stdout.contains("(in progress)"), "{ended:?}");
    }
    fs::write(folder.path().join("race.rhai"), EXERCISES[2].answer).unwrap();
    let checked = own(folder.path(), "exercise check race").succeeds();
    let kept = checked.stderr.trim_end().rsplit(' ').next().unwrap();
    assert_eq!(fs::read_to_string(kept).unwrap(), "\0\0\0", "{checked:?}");
    let listed = own(folder.path(), "exercise list").done();
    assert_eq!(listed.stdout.matches("(solved)").count(), 1, "{listed:?}");
}

#[test]
fn exercises_speak_chinese() {
    let folder = scratch();
    own(folder.path(), "exercise start overlap --lang zh").done();
    let file = fs::read_to_string(folder.path().join("overlap.rhai")).unwrap();
    assert!(file.starts_with("// 让复制与核函数重叠\n"), "{file}");
    let ended = own(folder.path(), "exercise check --lang zh");
    assert!(ended.stdout.contains("请让两者能同时运行"), "{ended:?}");
}
