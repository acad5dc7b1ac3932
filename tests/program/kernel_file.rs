//! Kernels of a user's own: what the program makes of the checks, which have tests of their own, and
//! `--kernel-file`, which steps the lattices by one and saves it with the session.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{hold, lifestreams, program, run, scratch};
use crate::persistence::{lattices, simulated};

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
    write("race.cu", &right.replace("__syncthreads();", ""));
    write(
        "typo.cu",
        &right.replace("__syncthreads();", "__syncthread();"),
    );
    write("bare.cu", "__global__ void life() {}");
    write("rung.cu", "\n// from: 99_none\n");
    let start = "--device cpu --instances 1 --size 64x64";
    let of = |line: &str| format!("{line} {start}");
    #[rustfmt::skip]
    hold(folder, &[], &[
        ("kernel check mine.cu --device cpu --json", 0, "\"is_right\":true | \"cases\":60 | \"checked_by\":\"emulator\" | +// mine\\n\""),
        ("kernel check race.cu --device cpu", 1, "race.cu | a race"),
        ("kernel check typo.cu --device cpu", 1, "typo.cu: does not compile: line  | '__syncthread' was not declared"),
        ("kernel check mine.cu --device cpu --ptx", 2, "--ptx needs a GPU"),
        ("kernel check rung.cu --device cpu", 2, "line 2 | '99_none' | 01_global"),
        ("$ lifestreams kernel check typo.cu --device cpu --diff; true", 0, "--- 02_shared\n+++ typo.cu\n"),
        (&of("run -g 1 --kernel-file typo.cu"), 1, "typo.cu: does not compile"),
        (&of("run -g 1 --kernel-file bare.cu"), 2, "bare.cu | from:"),
        (&of("run -g 1 --kernel-file k.cu --block 32x8"), 2, "--kernel-file | --block"),
    ]);
    // Compilers that are of no use; one is run from another folder than this one.
    let script = |text: &str| {
        write("g++", &format!("#!/bin/sh\n{text}\n"));
        run(crate::common::bash(folder, "chmod +x g++").env("CXX", "")).done();
    };
    let check = "kernel check mine.cu --device cpu";
    script("cd \"${0%/*}\" && echo > used; cd - && exec c++ \"$@\"");
    let ended = run(program(folder).args(check.split(' ')).env("CXX", "./g++"));
    assert!(
        ended.code == Some(0) && folder.join("used").exists(),
        "{ended:?}"
    );
    script("echo no assembler >&2; exit 1");
    let said = "g++ does not compile the emulator: does not compile: no assembler; set CXX";
    hold(folder, &[("CXX", "./g++")], &[(check, 3, said)]);
    fs::remove_file(folder.join("g++")).unwrap();
    let nothing = [("PATH", folder.to_str().unwrap()), ("CXX", "")];
    let none = "  for a GPU:  | none: apt-get install g++";
    hold(
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
    hold(folder, &[], &[(&line, 0, of_file)]);
    let rung = simulated(folder, &format!("{START} --kernel bits"), 9);
    let session = |line: &str| format!("--display none --session s.json {line}");
    lifestreams(
        folder,
        &session(&format!("--rounds 4 --kernel-file k.cu {START}")),
    )
    .succeeds();
    // The same source was run here. It needs the kernel's file no longer.
    fs::remove_file(folder.join("k.cu")).unwrap();
    lifestreams(folder, &session("--rounds 5")).succeeds();
    assert_eq!(lattices(&file), rung);
    let text = fs::read_to_string(&file).unwrap();
    let saved: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(saved["settings"]["own_kernel"]["in_use"], true);
    // It is checked when the file is opened. The lattices are there even if it is wrong.
    let once = session("--rounds 1 --trust-kernel");
    fs::write(&file, text.replace("__syncthreads();", "")).unwrap();
    let said = "s.json: its own kernel does not run here | a race";
    hold(folder, &[], &[(&once, 0, said)]);
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
        let variables = if lacks.is_empty() {
            &[]
        } else {
            &variables[..]
        };
        hold(folder, variables, &[(&line, 0, said)]);
        assert_eq!(code_has_run(folder), runs, "{line}");
        let text = fs::read_to_string(folder.join("s.json")).unwrap();
        assert!(text.contains("at_once()") && text.contains("\"in_use\": true"));
    }
}
