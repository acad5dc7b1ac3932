//! `--kernel-file`: a kernel of one's own is checked, steps the lattices, and is saved with the session.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{lifestreams, names, scratch};

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
    // It needs the kernel's file no longer.
    fs::remove_file(folder.join("k.cu")).unwrap();
    go("--rounds 3").succeeds();
    let text = fs::read_to_string(&file).unwrap();
    let session: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(session["settings"]["own_kernel"]["in_use"], true);
    assert_eq!(session["settings"]["kernel"], "shared");
    let newest = &session["main"]["newest"];
    assert_eq!(newest["position"]["generation"], 7);
    let line = format!("run {START} --kernel bits -g 7 --save rung");
    lifestreams(folder, &line).succeeds();
    let lattices = newest["lattices"].as_array().unwrap().iter();
    let lattices: Vec<_> = lattices
        .map(|cells| cells.as_str().unwrap().to_owned())
        .collect();
    assert_eq!(lattices, saved(&folder.join("rung")));
    // It is checked when the file is opened. The lattices are there even if it is wrong.
    let wrong = text.replace("__syncthreads();", "");
    assert_ne!(wrong, text);
    fs::write(&file, &wrong).unwrap();
    let said = go("--rounds 1").succeeds().stderr;
    assert!(
        said.contains("s.json: its own kernel does not run here"),
        "{said}"
    );
    assert!(said.contains("a race"), "{said}");
    let session: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(session["main"]["newest"]["position"]["generation"], 8);
    assert_eq!(session["settings"]["kernel"], "shared");
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
