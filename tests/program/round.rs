//! Rounds of one's own and exercises by the program itself: what it prints of a check, the exit codes, and
//! how an exercise is worked through. What is right and wrong in a script is for `script`'s tests.

use std::fs;

use lesson::{EXERCISES, Task};
use serde_json::{Value, json};

use crate::common::{hold, lifestreams, lifestreams_with, scratch};

const RACE: &str = "for i in 0..N {\n    advance(i, 0);\n    download(i, 1);\n}\n";

#[test]
fn a_check_says_what_is_wrong_with_its_place_and_in_json() {
    let folder = scratch();
    let folder = folder.path();
    fs::write(folder.join("own.rhai"), RACE).unwrap();
    fs::write(folder.join("cut.rhai"), "\u{feff}advance(").unwrap();
    #[rustfmt::skip]
    hold(folder, &[], &[
        ("round new", 0, "wrote round.rhai"),
        ("round check round.rhai --instances 1", 0, "round.rhai: right for N = 1\n"),
    ]);
    let ended = lifestreams(folder, "round check own.rhai");
    let said = "own.rhai:3:5: Line 3 downloads instance 0 in stream 1, and nothing orders it after line 2, which \
                advances instance 0 in stream 0. Record an event in stream 0 after line 2, and make stream 1 \
                wait for it. The same goes for 15 more.\n";
    assert_eq!((ended.code, &*ended.stdout), (Some(1), said));
    assert_eq!(ended.stderr, "lifestreams: own.rhai is wrong for N = 16\n");
    let report = |file: &str, code| -> Value {
        let line = format!("round check {file} --json");
        let ended = lifestreams_with(folder, &[("LANG", "zh_CN.UTF-8")], &line);
        assert_eq!(ended.code, Some(code), "{ended:?}");
        serde_json::from_str(&ended.stdout).unwrap()
    };
    let race = report("own.rhai", 1);
    let faults = race["faults"].as_array().unwrap();
    assert_eq!(
        (&race["right"], &race["n"], faults.len()),
        (&json!(false), &json!(16), 16)
    );
    let places = json!([{"line": 3, "column": 5}, {"line": 2, "column": 5}]);
    let sentence = faults[1]["sentence"].as_str().unwrap();
    assert!(
        sentence.starts_with("Line 3 downloads instance 1"),
        "{sentence}"
    );
    let kind = ["kind", "calls", "places"].map(|field| &faults[1][field]);
    assert_eq!(kind, [&json!("race"), &json!([3, 2]), &places]);
    assert_eq!(report("cut.rhai", 1)["faults"][0]["kind"], "script");
    let right = json!({"file": "round.rhai", "n": 16, "right": true, "faults": []});
    assert_eq!(report("round.rhai", 0), right);
}

/// The first exercise of each kind; every skeleton and every answer is checked by `lesson`'s tests.
#[test]
fn an_exercise_goes_from_its_skeleton_to_its_answer() {
    let folder = scratch();
    let folder = folder.path();
    let started = lifestreams(folder, "exercise next").done();
    assert!(started.stdout.starts_with(EXERCISES[0].name), "{started:?}");
    let kernel = |task: &Task| matches!(task, Task::Kernel(_));
    for of_kernel in [false, true] {
        let mut exercises = EXERCISES.iter();
        let exercise = exercises.find(|it| kernel(&it.task) == of_kernel).unwrap();
        let name = format!("{}.{}", exercise.name, exercise.extension());
        if of_kernel {
            lifestreams(folder, &format!("exercise start {}", exercise.name)).done();
        }
        let skeleton = lifestreams(folder, "exercise check");
        let said = if of_kernel {
            &skeleton.stderr
        } else {
            &skeleton.stdout
        };
        assert!(said.contains(&format!("{name}:")), "{skeleton:?}");
        assert_eq!(skeleton.code, Some(1), "{skeleton:?}");
        fs::write(folder.join(&name), exercise.answer).unwrap();
        let answer = lifestreams(folder, "exercise check").done();
        assert!(answer.stdout.contains(": right, and "), "{answer:?}");
        let listed = lifestreams(folder, "exercise list").done().stdout;
        let solved = listed.matches("(solved)").count();
        assert_eq!(solved, 1 + usize::from(of_kernel), "{listed}");
    }
    // Its file is not written over, and may be gone.
    let name = EXERCISES[0].name;
    let start = format!("exercise start {name}");
    lifestreams(folder, &start).refuses(2, &["exists already"]);
    lifestreams(folder, "exercise start 4").done();
    fs::remove_file(folder.join("diamond.rhai")).unwrap();
    lifestreams(folder, "exercise check --json").refuses(2, &["diamond.rhai cannot be read"]);
    // Damaged progress is one sentence and counts as none.
    fs::write(
        folder.join("data/lifestreams/exercises.json"),
        "{\"current\":",
    )
    .unwrap();
    let ended = lifestreams(folder, "exercise list").succeeds();
    ended.says_one_sentence(&["no exercise counts as solved"]);
    assert!(!ended.stdout.contains("(solved)"), "{ended:?}");
    fs::remove_file(folder.join(format!("{name}.rhai"))).unwrap();
    lifestreams(folder, &format!("{start} --lang zh")).succeeds();
    let file = fs::read_to_string(folder.join(format!("{name}.rhai"))).unwrap();
    assert!(file.starts_with("// 让复制与核函数重叠\n"), "{file}");
    let checked = lifestreams(folder, "exercise check --lang zh");
    assert!(checked.stdout.contains("请让两者能同时运行"), "{checked:?}");
}
