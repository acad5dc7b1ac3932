//! `run` with no switches: it chooses the kernel, the submission and the rounds by itself, says so,
//! respects what is asked for, and Ctrl+C ends it with what was done.

use std::fs;
use std::path::Path;
use std::time::Duration;

use super::cuda_engine::with_driver;
use crate::common::{Ended, Running, TIMEOUT, lifestreams, program, scratch};
use engine::kernels;

fn json(ended: Ended) -> serde_json::Value {
    serde_json::from_str(&ended.done().stdout).expect("JSON")
}

/// The program over the tests' driver.
fn on_cuda(folder: &Path, line: &str) -> Ended {
    with_driver(folder, &format!("{line} --device cuda"), &[])
}

#[test]
fn nothing_is_asked_for_and_one_launch_steps_all() {
    let folder = scratch();
    let folder = folder.path();
    let line = "run --instances 5 --size 64 -g 12 --json --save";
    let chosen = json(on_cuda(folder, &format!("{line} chosen")));
    let kernel = kernels::find(chosen["kernel"].as_str().unwrap()).unwrap();
    assert!(kernel.batched, "{chosen}");
    assert_eq!(chosen["streams"], "batch", "{chosen}");
    assert_eq!(chosen["graphs"], false, "{chosen}");
    assert_eq!(chosen["chosen_by"], "estimate", "{chosen}");
    assert_eq!(chosen["generations"], 12);
    assert_eq!(chosen["stopped"], false);
    // The cells are those of the first rung, one generation per round.
    let plain = format!("{line} plain --device cpu --kernel global --generations-per-round 1");
    lifestreams(folder, &plain).done();
    for i in 0..5 {
        let [chosen, plain] = ["chosen", "plain"]
            .map(|of| fs::read_to_string(folder.join(of).join(format!("00{i}.rle"))).unwrap());
        assert!(chosen == plain, "lattice {i}");
    }
}

#[test]
fn what_is_asked_for_is_respected() {
    let folder = scratch();
    let folder = folder.path();
    #[rustfmt::skip]
    let rows = [
        ("--kernel bits", &[("kernel", "\"bits\"")] as &[(&str, &str)]),
        ("--streams one", &[("streams", "\"one\"")]),
        ("--streams batch", &[("streams", "\"batch\"")]),
        ("--graphs on", &[("graphs", "true")]),
        ("--graphs off", &[("graphs", "false")]),
        ("--generations-per-round 7", &[("generations_per_round", "7")]),
        (
            "--kernel planar --streams one --graphs on --generations-per-round 4",
            &[
                ("kernel", "\"planar\""),
                ("streams", "\"one\""),
                ("graphs", "true"),
                ("generations_per_round", "4"),
                ("chosen_by", "\"options\""),
            ],
        ),
    ];
    for (options, wanted) in rows {
        let line = format!("run --instances 3 --size 64 -g 20 --json {options}");
        let report = json(on_cuda(folder, &line));
        for (name, value) in wanted {
            assert_eq!(report[name].to_string(), *value, "{options}: {report}");
        }
        assert_eq!(report["generations"], 20, "{options}");
    }
}

#[test]
fn a_line_says_what_was_chosen_and_why() {
    let folder = scratch();
    let folder = folder.path();
    let line = "run --instances 3 --size 64 -g 20 --device cpu";
    let printed = lifestreams(folder, line).done().stdout;
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines.len(), 2, "{printed}");
    for words in [
        "kernel ",
        "streams ",
        "graphs off",
        "per round: the fastest of ",
    ] {
        assert!(lines[0].contains(words), "{printed}");
    }
    // With nothing left to choose there is nothing to say.
    let all = "--kernel bits --streams one --graphs off --generations-per-round 5";
    let printed = lifestreams(folder, &format!("{line} {all}")).done().stdout;
    assert_eq!(printed.lines().count(), 1, "{printed}");
}

#[test]
fn ctrl_c_ends_a_run_with_what_was_done() {
    let folder = scratch();
    let folder = folder.path();
    let line = "--instances 2 --size 96x64 --device cpu --save";
    let endless = format!("run -g 1000000000000000 {line} stopped");
    let mut command = program(folder);
    command.env("LIFESTREAMS_LOG", "lifestreams=debug");
    let running = Running::start(command.args(endless.split_whitespace()));
    running.wait_said("stepping");
    std::thread::sleep(Duration::from_millis(200));
    running.signal("INT");
    let ended = running.end(TIMEOUT);
    assert_eq!(ended.code, Some(130), "{ended:?}");
    let said = "lifestreams: stopped after ";
    let (_, said) = ended.stderr.split_once(said).expect("that it stopped");
    let (done, rest) = said.split_once(" of ").expect("how many were done");
    assert!(
        rest.starts_with("1,000,000,000,000,000 generations"),
        "{rest}"
    );
    let done = done.replace(',', "");
    assert!(ended.stdout.contains("by an estimate"), "{ended:?}");
    let printed = format!("{done} generations in");
    assert!(ended.stdout.contains(&printed), "{ended:?}");
    // What was saved is what so many generations make.
    lifestreams(folder, &format!("run -g {done} {line} again")).done();
    for i in 0..2 {
        let [stopped, again] = ["stopped", "again"]
            .map(|of| fs::read_to_string(folder.join(of).join(format!("00{i}.rle"))).unwrap());
        assert!(stopped == again, "lattice {i} after {done}");
    }
}

/// However long a round is meant to be, the run ends within the rounds in flight.
#[test]
fn a_run_of_rounds_without_end_is_stopped_too() {
    let folder = scratch();
    let folder = folder.path();
    for more in [
        "--kernel sync-global",
        "--kernel bits",
        "--trace trace.json",
    ] {
        let line = format!(
            "run -g 1000000000000000 --generations-per-round 4294967295 --instances 2 \
             --size 96x64 --device cpu {more}"
        );
        let mut command = program(folder);
        command.env("LIFESTREAMS_LOG", "lifestreams=debug");
        let running = Running::start(command.args(line.split_whitespace()));
        running.wait_said("stepping");
        running.signal("INT");
        let ended = running.end(TIMEOUT);
        assert_eq!(ended.code, Some(130), "{ended:?}");
        assert!(ended.stderr.contains("stopped after "), "{ended:?}");
    }
}
