//! Rounds of one's own and exercises by the program itself: what it prints of a check, the exit codes, and
//! how an exercise is worked through. What is right and wrong in a script is for `script`'s tests.

use std::fs;

use lesson::{EXERCISES, Task};

use crate::common::{hold, scratch};

#[test]
fn a_check_says_what_is_wrong_with_its_place_and_in_json() {
    let folder = scratch();
    let race = "for i in 0..N {\n    advance(i, 0);\n    download(i, 1);\n}\n";
    fs::write(folder.path().join("own.rhai"), race).unwrap();
    fs::write(folder.path().join("cut.rhai"), "\u{feff}advance(").unwrap();
    let said = "own.rhai:3:5: Line 3 downloads instance 0 in stream 1, and nothing orders it after line 2, which \
                advances instance 0 in stream 0. Record an event in stream 0 after line 2, and make stream 1 \
                wait for it. The same goes for 15 more.\n | lifestreams: own.rhai is wrong for N = 16\n";
    let json = "{\"calls\":[3,2],\"kind\":\"race\",\"places\":[{\"column\":5,\"line\":3},{\"column\":5,\"line\":2}],\
                \"sentence\":\"Line 3 downloads instance 1 | \"n\":16,\"right\":false}";
    let right = "{\"faults\":[],\"file\":\"round.rhai\",\"n\":16,\"right\":true}";
    #[rustfmt::skip]
    hold(folder.path(), &[], &[
        ("round new", 0, "wrote round.rhai"),
        ("round check round.rhai --instances 1", 0, "round.rhai: right for N = 1\n"),
        ("$ lifestreams round check own.rhai; [ $? = 1 ]", 0, said),
        ("$ LANG=zh_CN.UTF-8 lifestreams round check own.rhai --json; [ $? = 1 ]", 0, json),
        ("$ lifestreams round check cut.rhai --json; [ $? = 1 ]", 0, "\"kind\":\"script\""),
        ("round check round.rhai --json", 0, right),
    ]);
}

/// The first exercise of each kind; every skeleton and every answer is checked by `lesson`'s tests.
#[test]
fn an_exercise_goes_from_its_skeleton_to_its_answer() {
    let folder = scratch();
    let mut exercises = EXERCISES.iter();
    let of_kernel = exercises.find(|it| matches!(it.task, Task::Kernel(_)));
    let of_kernel = of_kernel.unwrap();
    let start = format!("exercise start {}", of_kernel.name);
    for (exercise, start, solved) in [
        (&EXERCISES[0], "exercise next", "1\n"),
        (of_kernel, &start, "2\n"),
    ] {
        let file = format!("{}.{}", exercise.name, exercise.extension());
        let check = "$ lifestreams exercise check; [ $? = 1 ]";
        let wrong = (check, 0, &*format!("{file}:"));
        hold(folder.path(), &[], &[(start, 0, exercise.name), wrong]);
        fs::write(folder.path().join(file), exercise.answer).unwrap();
        #[rustfmt::skip]
        hold(folder.path(), &[], &[
            ("exercise check", 0, ": right, and "),
            ("$ lifestreams exercise list | grep -c '(solved)'", 0, solved),
        ]);
    }
    // A file is not written over, and may be gone. Damaged progress is one sentence and counts as none.
    let again =
        "$ rm overlap.rhai; lifestreams exercise start overlap --lang zh; head -n 1 overlap.rhai";
    #[rustfmt::skip]
    hold(folder.path(), &[], &[
        ("exercise start overlap", 2, "exists already"),
        ("exercise start 4", 0, "diamond"),
        ("$ rm diamond.rhai", 0, ""),
        ("exercise check --json", 2, "diamond.rhai cannot be read"),
        ("$ echo '{' >data/lifestreams/exercises.json", 0, ""),
        ("exercise list", 0, "lifestreams:  | no exercise counts as solved"),
        (again, 0, "// 让复制与核函数重叠\n"),
        ("$ lifestreams exercise check --lang zh; [ $? = 1 ]", 0, "请让两者能同时运行"),
    ]);
}
