//! What a user writes: rounds, kernels and exercises. What the program prints of a check, the exit codes, and
//! `--kernel-file`, which steps the lattices by a kernel and saves it with the session. What is right and wrong in a
//! script or a kernel is for the tests of `script` and `workshop`.

use std::fs;
use std::path::Path;

use lesson::{EXERCISES, Task};
use serde_json::Value;
use ui::code_editor::Code;

use crate::common::{hold, hold_with, lifestreams, scratch};
use crate::persistence::{lattices, simulated};

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
    hold(&folder, &[
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
        let extension = Code::of_exercise(exercise).extension();
        let file = format!("{}.{extension}", exercise.name);
        let check = "$ lifestreams exercise check; [ $? = 1 ]";
        let hint = "$ lifestreams exercise check --hint; [ $? = 1 ]";
        // What is wrong is said to those who ask for it.
        let asks = format!("{file} is wrong; 'lifestreams exercise check --hint'");
        let wrong = [(check, 0, &*asks), (hint, 0, &*format!("{file}:"))];
        hold(&folder, &[(start, 0, exercise.name), wrong[0], wrong[1]]);
        fs::write(folder.path().join(file), exercise.answer).unwrap();
        #[rustfmt::skip]
        hold(&folder, &[
            ("exercise check", 0, ": right, and "),
            ("$ lifestreams exercise list | grep -c '(solved)'", 0, solved),
        ]);
    }
    // Whether a kernel is fast enough, no CPU can tell.
    fs::write(folder.path().join("climb.cu"), EXERCISES[9].answer).unwrap();
    #[rustfmt::skip]
    hold(&folder, &[
        ("exercise check climb", 0, "climb.cu: right; whether it is faster than bits stays open"),
        ("$ lifestreams exercise list | grep -c '(solved)'", 0, "2\n"),
    ]);
    // A file is not written over, and may be gone. Damaged progress is one sentence and counts as none.
    let again =
        "$ rm overlap.rhai; lifestreams exercise start overlap --lang zh; head -n 1 overlap.rhai";
    #[rustfmt::skip]
    hold(&folder, &[
        ("exercise start overlap", 2, "exists already"),
        ("exercise start 4", 0, "diamond"),
        ("$ rm diamond.rhai", 0, ""),
        ("exercise check --json", 2, "diamond.rhai cannot be read"),
        ("$ echo '{' >data/lifestreams/exercises.json", 0, ""),
        ("exercise list", 0, "lifestreams:  | no exercise counts as solved"),
        (again, 0, "// 让复制与核函数重叠\n"),
        ("$ lifestreams exercise check --hint --lang zh; [ $? = 1 ]", 0, "请让两者能同时运行"),
    ]);
}

const START: &str = "--device cpu --instances 2 --size 70x40 --seed 11 --rule B36/S23";

/// A copy of `02_shared`, as `kernel new` writes it.
fn write_kernel(folder: &Path) {
    lifestreams(folder, "kernel new k.cu --from 02_shared").done();
}

#[test]
fn what_a_check_finds_is_said_with_its_exit_code() {
    let folder = scratch();
    let folder = folder.path();
    write_kernel(folder);
    let right = fs::read_to_string(folder.join("k.cu")).unwrap();
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    write("mine.cu", &format!("{right}// mine\n"));
    let barrier = |other| right.replace("__syncthreads();", other);
    write("race.cu", &barrier(""));
    write("typo.cu", &barrier("__syncthread();"));
    write("bare.cu", "__global__ void life() {}");
    write("rung.cu", "\n// from: 99_none\n");
    let start = "--device cpu --instances 1 --size 64x64";
    let of = |line: &str| format!("{line} {start}");
    #[rustfmt::skip]
    hold(folder, &[
        ("kernel check mine.cu --device cpu --json", 0, "\"is_right\":true | \"cases\":60 | \"checked_by\":\"emulator\""),
        ("kernel check race.cu --device cpu", 1, "race.cu | a race"),
        ("kernel check typo.cu --device cpu", 1, "typo.cu: does not compile: line  | '__syncthread' was not declared"),
        ("kernel check rung.cu --device cpu", 2, "line 2 | '99_none' | 01_global"),
        (&of("run -g 1 --kernel-file typo.cu"), 1, "typo.cu: does not compile"),
        (&of("run -g 1 --kernel-file bare.cu"), 2, "bare.cu | from:"),
        (&of("run -g 1 --kernel-file k.cu --block 32x8"), 2, "--kernel-file | --block"),
    ]);
    // Compilers that are of no use; one is run from another folder than this one.
    let script = |text: &str| {
        write("g++", &format!("#!/bin/sh\n{text}\n"));
        hold(folder, &[("$ chmod +x g++", 0, "")]);
    };
    let check = "kernel check mine.cu --device cpu";
    script("cd \"${0%/*}\" && echo > used; cd - && exec c++ \"$@\"");
    hold_with(folder, &[("CXX", "./g++")], &[(check, 0, "")]);
    assert!(folder.join("used").exists());
    script("echo no assembler >&2; exit 1");
    let said = "g++ does not compile the emulator: does not compile: no assembler; set CXX";
    hold_with(folder, &[("CXX", "./g++")], &[(check, 3, said)]);
    fs::remove_file(folder.join("g++")).unwrap();
    let nothing = [("PATH", folder.to_str().unwrap()), ("CXX", "")];
    let none = "  for a GPU:  | none: apt-get install g++";
    hold_with(
        folder,
        &nothing,
        &[(check, 3, "apt-get install g++"), ("devices", 0, none)],
    );
}

#[test]
fn a_kernel_s_file_steps_as_its_rung_does_and_is_kept_with_the_session() {
    let folder = scratch();
    let folder = folder.path();
    write_kernel(folder);
    let file = folder.join("s.json");
    let of_file = "\"kernel\":\"own\" | \"own_kernel_from\":\"02_shared\"";
    let line = format!("run {START} --kernel-file k.cu -g 9 --json");
    hold(folder, &[(&line, 0, of_file)]);
    let rung = simulated(folder, &format!("{START} --kernel bits"), 9);
    let session = "--display none --session s.json --rounds";
    let first = format!("{session} 4 --kernel-file k.cu {START}");
    let next = format!("{session} 5");
    // The same source was run here. It needs the kernel's file no longer.
    hold(
        folder,
        &[(&first, 0, ""), ("$ rm k.cu", 0, ""), (&next, 0, "")],
    );
    assert_eq!(lattices(&file), rung);
    let text = fs::read_to_string(&file).unwrap();
    let saved: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(saved["settings"]["own_kernel"]["in_use"], true);
    // It is checked when the file is opened. The lattices are there even if it is wrong.
    let once = format!("{session} 1 --trust-kernel");
    fs::write(&file, text.replace("__syncthreads();", "")).unwrap();
    let said = "s.json: its own kernel does not run here | a race";
    hold(folder, &[(&once, 0, said)]);
    assert_eq!(lattices(&file).1, 10);
}

/// Saves a session whose kernel writes the file `code-ran` wherever its code runs, even if it is only loaded.
pub(crate) fn write_session_with_code(folder: &Path) {
    write_kernel(folder);
    let line = format!("--display none --rounds 1 --session s.json --kernel-file k.cu {START}");
    lifestreams(folder, &line).succeeds();
    let text = fs::read_to_string(folder.join("s.json")).unwrap();
    let code = format!(
        "extern \\\"C\\\" int system(const char*);\\n\
         __attribute__((constructor)) static void at_once() {{ system(\\\"touch {}/code-ran\\\"); }}\\n",
        folder.display()
    );
    let with_code = text.replacen("\\nextern ", &format!("\\n{code}extern "), 1);
    assert_ne!(with_code, text);
    fs::write(folder.join("s.json"), with_code).unwrap();
}

/// Whether the code of that kernel has run, since this was asked last.
pub(crate) fn code_has_run(folder: &Path) -> bool {
    fs::remove_file(folder.join("code-ran")).is_ok()
}

#[test]
fn code_in_a_session_s_file_runs_once_its_user_says_so_and_stays_in_the_file() {
    let folder = scratch();
    let folder = folder.path();
    write_session_with_code(folder);
    let left = "s.json: its own kernel is code that was not run here before, so 02_shared takes";
    let fails = "s.json: its own kernel does not run here (";
    for (line, lacks, runs, said) in [
        ("--rounds 1", "", false, left),
        ("--rounds 1 --trust-kernel", "PATH", false, fails),
        ("--rounds 1 --trust-kernel", "TMPDIR", false, fails),
        ("--rounds 1 --trust-kernel", "", true, "continuing"),
        ("--rounds 1", "", true, "continuing"), // it was run here before
    ] {
        let line = format!("--display none --session s.json {line}");
        let variables = [(lacks, "/nowhere"), ("CXX", "")];
        let count = if lacks.is_empty() { 0 } else { 2 };
        hold_with(folder, &variables[..count], &[(&line, 0, said)]);
        assert_eq!(code_has_run(folder), runs, "{line}");
        let text = fs::read_to_string(folder.join("s.json")).unwrap();
        assert!(text.contains("at_once()") && text.contains("\"in_use\": true"));
    }
}
