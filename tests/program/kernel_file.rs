//! `--kernel-file`: a kernel of one's own is checked, steps the lattices, and is saved with the session.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{self, lifestreams, names, program, run, scratch};

const START: &str = "--device cpu --instances 2 --size 70x40 --seed 11 --rule B36/S23";

/// A copy of `02_shared`, as `kernel new` writes it.
fn write_kernel(folder: &Path) {
    lifestreams(folder, "kernel new k.cu --from 02_shared").succeeds();
}

/// The texts of what a run has saved.
fn saved(folder: &Path) -> Vec<String> {
    let names = names(folder);
    let texts = names
        .iter()
        .map(|name| fs::read_to_string(folder.join(name)));
    texts.collect::<Result<_, _>>().unwrap()
}

#[test]
fn a_kernel_s_file_steps_a_run_as_its_rung_does() {
    let folder = scratch();
    let folder = folder.path();
    write_kernel(folder);
    let run = |kernel: &str, into: &str| {
        let line = format!("run {START} {kernel} -g 9 --json --save {into}");
        let ended = lifestreams(folder, &line).succeeds();
        serde_json::from_str::<Value>(&ended.stdout).unwrap()
    };
    let report = run("--kernel-file k.cu", "own");
    assert_eq!(report["kernel"], "own");
    assert_eq!(report["own_kernel_from"], "02_shared");
    let report = run("--kernel shared", "rung");
    assert_eq!(report["own_kernel_from"], Value::Null);
    assert_eq!(saved(&folder.join("own")), saved(&folder.join("rung")));
    assert_eq!(saved(&folder.join("own")).len(), 2);
}

#[test]
fn a_session_keeps_the_kernel_of_its_file() {
    let folder = scratch();
    let folder = folder.path();
    write_kernel(folder);
    let file = folder.join("s.json");
    let go = |line: &str| {
        let line = format!("--display none --session s.json {line}");
        lifestreams(folder, &line)
    };
    go(&format!("--rounds 4 --kernel-file k.cu {START}")).succeeds();
    // The same source was run here. It needs the kernel's file no longer.
    fs::remove_file(folder.join("k.cu")).unwrap();
    go("--rounds 3").succeeds();
    let text = fs::read_to_string(&file).unwrap();
    let session: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(session["settings"]["own_kernel"]["in_use"], true);
    assert_eq!(session["settings"]["kernel"], "shared");
    let newest = common::newest_copy(&session);
    assert_eq!(newest["position"]["generation"], 7);
    let line = format!("run {START} --kernel bits -g 7 --save rung");
    lifestreams(folder, &line).succeeds();
    let lattices = newest["lattices"].as_array().unwrap().iter();
    let lattices: Vec<_> = lattices
        .map(|cells| common::cells_of(cells.as_str().unwrap()))
        .collect();
    let want = saved(&folder.join("rung"));
    assert_eq!(
        lattices,
        want.iter()
            .map(|text| common::cells_of(text))
            .collect::<Vec<_>>()
    );
    // It is checked when the file is opened. The lattices are there even if it is wrong.
    let wrong = text.replace("__syncthreads();", "");
    assert_ne!(wrong, text);
    fs::write(&file, &wrong).unwrap();
    let said = go("--rounds 1 --trust-kernel").succeeds().stderr;
    assert!(
        said.contains("s.json: its own kernel does not run here"),
        "{said}"
    );
    assert!(said.contains("a race"), "{said}");
    let session: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(common::newest_copy(&session)["position"]["generation"], 8);
    assert_eq!(session["settings"]["kernel"], "shared");
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
        ("--frames 1 --record a.gif", "", false, left),
        ("--rounds 1 --trust-kernel", "PATH", false, fails),
        ("--rounds 1 --trust-kernel", "TMPDIR", false, fails),
        ("--rounds 1 --trust-kernel", "", true, "continuing"),
        ("--rounds 1", "", true, "continuing"), // it was run here before
    ] {
        let mut command = program(folder);
        command
            .args(["--display", "none", "--session", "s.json"])
            .args(line.split(' '));
        if !lacks.is_empty() {
            command.env(lacks, "/nowhere").env_remove("CXX");
        }
        let ended = run(&mut command).succeeds();
        assert_eq!(code_has_run(folder), runs, "{line}: {ended:?}");
        assert!(ended.stderr.contains(said), "{line}: {ended:?}");
        let text = fs::read_to_string(folder.join("s.json")).unwrap();
        assert!(text.contains("at_once()") && text.contains("\"in_use\": true"));
    }
}

#[test]
fn a_session_opens_whatever_the_characters_of_its_kernel() {
    let folder = scratch();
    let folder = folder.path();
    write_kernel(folder);
    let go = |line: &str| lifestreams(folder, &format!("--display none --session s.json {line}"));
    go(&format!("--rounds 4 --kernel-file k.cu {START}")).succeeds();
    let text = fs::read_to_string(folder.join("s.json")).unwrap();
    assert!(text.contains("void life_shared"), "{text}");
    let text = text.replace("void life_shared", "void\u{a0}life_shared");
    fs::write(folder.join("s.json"), text).unwrap();
    go("--rounds 1").succeeds();
}

#[test]
fn a_kernel_s_file_that_is_wrong_starts_nothing() {
    let folder = scratch();
    let folder = folder.path();
    write_kernel(folder);
    let right = fs::read_to_string(folder.join("k.cu")).unwrap();
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    write("race.cu", &right.replace("__syncthreads();", ""));
    write(
        "typo.cu",
        &right.replace("__syncthreads();", "__syncthread();"),
    );
    write("bare.cu", "__global__ void life() {}");
    for (line, code, words) in [
        ("run -g 1 --kernel-file race.cu", 1, ["race.cu", "race"]),
        (
            "run -g 1 --kernel-file typo.cu",
            1,
            ["typo.cu", "__syncthread"],
        ),
        (
            "--display none --rounds 1 --kernel-file race.cu",
            1,
            ["race.cu", "race"],
        ),
        (
            "snapshot -o a.png --kernel-file typo.cu",
            1,
            ["typo.cu", "__syncthread"],
        ),
        ("run -g 1 --kernel-file bare.cu", 2, ["bare.cu", "from:"]),
        (
            "run -g 1 --kernel-file none.cu",
            2,
            ["none.cu", "cannot be read"],
        ),
        (
            "run -g 1 --kernel-file k.cu --kernel bits",
            2,
            ["--kernel-file", "--kernel"],
        ),
        (
            "run -g 1 --kernel-file k.cu --block 32x8",
            2,
            ["--kernel-file", "--block"],
        ),
    ] {
        let ended = lifestreams(
            folder,
            &format!("{line} --device cpu --instances 1 --size 64x64"),
        );
        assert_eq!(ended.code, Some(code), "{line}: {ended:?}");
        for word in words {
            assert!(ended.stderr.contains(word), "{line}: {ended:?}");
        }
    }
    assert!(!folder.join("a.png").exists());
}
