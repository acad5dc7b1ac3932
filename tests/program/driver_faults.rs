//! What becomes of a session when the driver refuses a call: it goes on without a wrong cell, or it
//! ends in a sentence, and soon.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::common::{Ended, Running, program, run, scratch};
use life::{Rule, Size, reference, soup};
use session::SavedSession;

const ROUNDS: u64 = 40;
const SIDE: u64 = 48;
const INSTANCES: usize = 3;

/// Far longer than any of these takes, on a busy machine too.
const LIMIT: Duration = Duration::from_secs(120);

/// The program over the fake driver, in this folder.
fn lifestreams(folder: &Path, arguments: &str) -> Command {
    let mut command = program(folder);
    command.args(arguments.split_whitespace());
    command.env("LIFESTREAMS_LIBCUDA", crate::driver::library());
    command
}

/// Rounds without a window, with a fault in one of the driver's functions.
fn rounds(folder: &Path, fault: &str, more: &str) -> Ended {
    let arguments = format!(
        "--display none --device cuda --rounds {ROUNDS} --instances {INSTANCES} --kernel bits \
         --size {SIDE}x{SIDE} --seed 5 --density 0.4 --session kept {more}"
    );
    let mut command = lifestreams(folder, &arguments);
    Running::start(command.env("FAKE_CUDA_FAULT", fault)).end(LIMIT)
}

/// Every lattice that was saved is what the reference makes of its start.
#[track_caller]
fn no_cell_is_wrong(file: &Path) -> Vec<u64> {
    let saved = SavedSession::load(file).unwrap();
    let size = Size::new(SIDE, SIDE).unwrap();
    let (position, lattices) = &saved.main.newest;
    let generation = position.generation;
    assert_eq!(lattices.len(), INSTANCES);
    for (instance, lattice) in lattices.iter().enumerate() {
        let start = soup(size, 0.4, 5, instance as u64);
        let want = reference::run(&start, Rule::LIFE, generation);
        assert!(
            **lattice == want,
            "instance {instance} at generation {generation}"
        );
    }
    vec![generation; INSTANCES]
}

/// Out of memory once, or from then on, in any call of a round: the rounds that were asked for are
/// made, none too few, or the program says why not; what is saved is right in either case.
#[test]
fn out_of_memory_anywhere_ends_in_rounds_or_a_sentence() {
    for call in [
        "cuMemAlloc_v2",
        "cuMemHostAlloc",
        "cuLaunchKernel",
        "cuMemcpyDtoHAsync_v2",
        "cuEventRecord",
        "cuEventQuery",
        "cuStreamWaitEvent",
        "cuModuleLoadData",
    ] {
        for when in ["3:1", "25:1", "60:1", "60:-1"] {
            let folder = scratch();
            let fault = format!("{call}:2:{when}");
            let ended = rounds(folder.path(), &fault, "");
            let saved = folder.path().join("kept");
            let lines = ended.stderr.lines().count();
            assert!(lines < 20, "{fault}: {lines} lines: {ended:?}");
            assert!(!ended.stderr.contains("panicked"), "{fault}: {ended:?}");
            match ended.code {
                Some(0) => assert_eq!(no_cell_is_wrong(&saved), [ROUNDS; INSTANCES], "{fault}"),
                Some(3) => {
                    assert!(ended.stderr.contains("memory"), "{fault}: {ended:?}");
                    if saved.exists() {
                        no_cell_is_wrong(&saved);
                    }
                }
                _ => panic!("{fault}: {ended:?}"),
            }
        }
    }
}

#[test]
fn an_engine_that_never_says_what_has_ended_gives_way_to_the_cpu() {
    let folder = scratch();
    let ended = rounds(folder.path(), "cuEventQuery:2:50:-1", "");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stderr.contains("on the CPU"), "{ended:?}");
    assert!(ended.stderr.lines().count() < 20, "{ended:?}");
    assert_eq!(
        no_cell_is_wrong(&folder.path().join("kept")),
        [ROUNDS; INSTANCES]
    );
}

/// Memory that is refused for a copy leaves every lattice as it was, and a person could go on; where
/// there is none, the program ends, and saves first.
#[test]
fn a_pause_that_nobody_can_end_ends_the_program() {
    let folder = scratch();
    let ended = rounds(folder.path(), "cuMemcpyDtoHAsync_v2:2:0:1", "");
    assert_eq!(ended.code, Some(3), "{ended:?}");
    assert!(ended.stderr.contains("out of device memory"), "{ended:?}");
    no_cell_is_wrong(&folder.path().join("kept"));

    let arguments = format!(
        "--display none --record a.gif --frames 4 --device cuda --instances {INSTANCES} \
         --kernel bits --size {SIDE}x{SIDE} --seed 5 --density 0.4 --session kept"
    );
    let mut ends = Vec::new();
    for after in [0, 1, 2, 6] {
        let folder = scratch();
        let mut command = lifestreams(folder.path(), &arguments);
        let fault = format!("cuMemcpyDtoHAsync_v2:2:{after}:1");
        let ended = Running::start(command.env("FAKE_CUDA_FAULT", fault)).end(LIMIT);
        assert!(
            ended.code.is_some_and(|code| code == 0 || code == 3),
            "{ended:?}"
        );
        no_cell_is_wrong(&folder.path().join("kept"));
        ends.push(ended.code);
    }
    assert!(
        ends.contains(&Some(3)),
        "none of them was refused: {ends:?}"
    );
}

/// Rounds that were lost are made again, and none is counted that was not.
#[test]
fn as_many_rounds_are_made_as_were_asked_for() {
    for (recovers, after) in [("1", "50"), ("0", "50"), ("1", "119"), ("1", "3")] {
        let folder = scratch();
        let arguments = format!(
            "--display none --rounds {ROUNDS} --instances {INSTANCES} --kernel bits \
             --size {SIDE}x{SIDE} --seed 5 --density 0.4 --session kept"
        );
        let mut command = lifestreams(folder.path(), &arguments);
        command
            .env("FAKE_CUDA_FAIL_AFTER", after)
            .env("FAKE_CUDA_RECOVERS", recovers);
        let ended = run(&mut command);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert!(
            ended
                .stderr
                .contains("the session continues from generation"),
            "{ended:?}"
        );
        let generations = no_cell_is_wrong(&folder.path().join("kept"));
        assert_eq!(generations, [ROUNDS; INSTANCES], "{after}: {ended:?}");
    }
}
