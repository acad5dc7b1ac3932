//! Lattices that this machine has no memory for are refused in a sentence, whoever asks for them: a
//! line of a file, an option, a session that was saved.

use std::fs;
use std::path::Path;

use crate::common::{Ended, PROGRAM, command, lifestreams, run, scratch};

/// The program with no more address space than so many MiB.
fn limited(folder: &Path, mib: u64, line: &str) -> Ended {
    let line = format!("ulimit -v $(({mib} * 1024)); exec {PROGRAM} {line}");
    run(command("sh", folder).args(["-c", &line]))
}

/// Refused before anything was made, with what was needed, what is free and what fits.
#[track_caller]
fn is_refused(ended: &Ended, needed: &str) {
    ended.refuses(
        3,
        &["out of host memory", needed, " MiB are free", " fits)"],
    );
}

#[test]
fn a_line_of_a_file_takes_no_more_memory_than_there_is() {
    let folder = scratch();
    let text = "x = 3, y = 1, rule = B3/S23:T262144,262144\n3o!\n";
    fs::write(folder.path().join("huge.rle"), text).unwrap();
    for line in [
        "run -g 1 --device cpu --kernel bits --pattern huge.rle",
        "--display none --rounds 1 --device cpu --kernel bits --pattern huge.rle",
        "snapshot --device cpu --kernel bits --pattern huge.rle -o picture.png",
    ] {
        let ended = limited(folder.path(), 4096, line);
        is_refused(&ended, "16 lattices of 262144x262144");
    }
    // A size that fits is named, and does.
    let ended = limited(
        folder.path(),
        4096,
        "run -g 1 --instances 1 --device cpu --kernel bits --pattern huge.rle",
    );
    let rest = ended.stderr.split("--size (").nth(1).expect("a size");
    let fits = rest.split(' ').next().unwrap();
    let line = format!(
        "run -g 0 --instances 1 --device cpu --kernel bits --size {fits} --pattern huge.rle"
    );
    limited(folder.path(), 4096, &line).succeeds();
}

#[test]
fn a_session_takes_no_more_memory_than_there_is() {
    let folder = scratch();
    let kept = folder.path().join("kept");
    let line = "--display none --rounds 1 --device cpu --instances 2 --size 64x64 --kernel bits \
                --pattern blinker --session kept";
    assert_eq!(lifestreams(folder.path(), line).code, Some(0));
    let text = fs::read_to_string(&kept).unwrap();
    let huge = text
        .replace("64x64", "262144x262144")
        .replace("x = 64, y = 64", "x = 262144, y = 262144");
    assert_ne!(huge, text);
    fs::write(&kept, &huge).unwrap();
    let ended = limited(
        folder.path(),
        4096,
        "--display none --rounds 1 --session kept",
    );
    let all = "the lattices of the session would take 8192 MiB";
    ended.refuses(3, &["out of host memory", all]);
    assert_eq!(
        fs::read_to_string(&kept).unwrap(),
        huge,
        "it was left as it is"
    );
}

/// Its text takes more memory than its lattices.
#[test]
fn a_session_that_can_be_stepped_can_be_saved() {
    let folder = scratch();
    let line = "--display none --rounds 1 --device cpu --instances 1 --size 8192 --kernel bits \
                --density 0.5 --session";
    let codes = (480..=800).step_by(64).map(|mib| {
        let ended = limited(folder.path(), mib, &format!("{line} kept-{mib}"));
        assert!([Some(0), Some(3)].contains(&ended.code), "{mib}: {ended:?}");
        assert!(!ended.stderr.contains("panicked"), "{mib}: {ended:?}");
        ended.code
    });
    assert!(codes.filter(|code| *code == Some(0)).count() > 1);
}

#[test]
fn a_pattern_in_a_large_lattice_takes_no_more_memory_than_there_is() {
    let folder = scratch();
    let line = "run -g 1 --device cpu --pattern gosper-gun --size 65536 --kernel bits";
    is_refused(
        &limited(folder.path(), 1024, line),
        "16 lattices of 65536x65536",
    );
    // 32 MiB of bits per lattice: from where nothing fits to where all does, the program and its
    // threads' memory included.
    let (mut refused, mut all) = (0, 0);
    for mib in (120..=792).step_by(48) {
        all += 1;
        let line =
            "run -g 0 --instances 1 --device cpu --pattern gosper-gun --size 16384 --kernel bits";
        let ended = limited(folder.path(), mib, line);
        if ended.code != Some(0) {
            ended.refuses(3, &["out of host memory"]);
            refused += 1;
        }
    }
    assert!((1..all).contains(&refused), "{refused} of {all}");
}
