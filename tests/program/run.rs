//! `run`: what it prints and saves, what it chooses where it is not told, and when it ends.
//! What it prints and saves is compared with what it did before: 60 settings on the CPU engine, each before its
//! colon in `tests/oracle/runs.txt`. `LIFESTREAMS_RENEW=1` with the test's name writes the file anew, with the
//! settings that stand there. Of what depends on time and on the machine only the field's name is there.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::common::{Running, TIMEOUT, command, hold, lifestreams, says, scratch};
use crate::cuda_engine::with_driver;
use crate::persistence::simulated;
use serde_json::Value;
use test_support::{compare_with_stored, fingerprint, stored};

/// Fields whose values vary.
const VARYING: [&str; 3] = ["device", "wall_ms", "cells_per_second"];

/// Fields that an estimate for the machine decides unless their option is given.
const ESTIMATED: [&str; 3] = ["generations_per_round", "graphs", "streams"];

const FILES: [(&str, &str); 5] = [
    (
        "round.txt",
        "for i in 0..N { advance(i, i); } for i in 0..N { download(i, i); }",
    ),
    ("glider.rle", "x = 3, y = 3\nbo$2bo$3o!"),
    ("glider.cells", ".O.\n..O\nOOO\n"),
    (
        "torus.rle",
        "x = 3, y = 3, rule = B3/S23:T30,20\nbo$2bo$3o!",
    ),
    (
        "highlife.rle",
        "x = 5, y = 5, rule = B36/S23\n2b3o$bo2bo$o3bo$o2bo$3o!",
    ),
];

#[test]
fn what_run_prints_and_saves_stays_as_it_is() {
    let folder = scratch();
    let folder = folder.path();
    for (name, text) in FILES {
        fs::write(folder.join(name), text).unwrap();
    }
    let mut found = String::new();
    let known = fs::read_to_string(stored("runs.txt")).unwrap();
    let options = known.lines().map(|line| line.split_once(": ").unwrap().0);
    for (at, options) in options.enumerate() {
        let mut line = format!("run --device cpu --json --save {at} {options}");
        for (option, value) in [("--instances", "2"), ("--size", "128x64")] {
            let is_given =
                options.contains(option) || options.contains(":T") || options.contains("torus");
            if !is_given {
                write!(line, " {option} {value}").unwrap();
            }
        }
        let ended = lifestreams(folder, &line);
        write!(found, "{options}:").unwrap();
        if ended.code != Some(0) {
            writeln!(found, " {:?} {}", ended.code, ended.stderr.trim_end()).unwrap();
            continue;
        }
        write!(found, "{}", ended.stderr).unwrap();
        let printed: serde_json::Map<String, Value> = serde_json::from_str(&ended.stdout).unwrap();
        let number = |name: &str| printed[name].as_f64().unwrap();
        let stepped = ["width", "height", "instances", "generations"].map(number);
        let measured = number("cells_per_second") * number("wall_ms") / 1e3;
        let stepped: f64 = stepped.into_iter().product();
        assert!((measured - stepped).abs() < 1.0, "{ended:?}");
        for (name, value) in &printed {
            let is_given = options.contains(&name.replace('_', "-"));
            let varies =
                VARYING.contains(&name.as_str()) || ESTIMATED.contains(&name.as_str()) && !is_given;
            let shown = if varies { "…" } else { &value.to_string() };
            write!(found, " {name}={shown}").unwrap();
        }
        let saved = fs::read_dir(folder.join(at.to_string())).unwrap();
        let mut saved: Vec<_> = saved.map(|it| it.unwrap().path()).collect();
        saved.sort();
        for file in saved {
            let name = file.file_name().unwrap().to_string_lossy();
            write!(found, " {name}={}", fingerprint(fs::read(&file).unwrap())).unwrap();
        }
        found.push('\n');
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/formats.md");
        let text = fs::read_to_string(page).unwrap();
        let is_documented = |field: &String| text.contains(&format!("`{field}`"));
        assert!(printed.keys().all(is_documented), "{ended:?}");
    }
    compare_with_stored("runs.txt", &found);
}

#[test]
fn what_is_not_asked_for_is_chosen_and_what_is_asked_for_is_respected() {
    let folder = scratch();
    #[rustfmt::skip]
    let rows = [
        ("--kernel bits", "\"kernel\":\"bits\""),
        ("--streams one", "\"streams\":\"one\""),
        ("--graphs on", "\"graphs\":true"),
        ("--generations-per-round 7", "\"generations_per_round\":7"),
        ("--kernel planar --streams one --graphs on --generations-per-round 4",
         "\"kernel\":\"planar\" | \"streams\":\"one\" | \"graphs\":true | \"generations_per_round\":4 | \"chosen_by\":\"options\""),
        ("", "\"streams\":\"batch\" | \"graphs\":false | \"chosen_by\":\"estimate\" | \"stopped\":false"),
    ];
    for (options, said) in rows {
        let line = format!("run --instances 3 --size 64 -g 20 --json --device cuda {options}");
        let ended = with_driver(folder.path(), &line, &[]).done();
        says(&ended.stdout, said, options);
    }
    let line = "run --instances 3 --size 64 -g 20 --device cpu";
    let printed = lifestreams(folder.path(), line).done().stdout;
    let why = "kernel  | streams  | graphs off | per round: the fastest of ";
    says(&printed, why, line);
    assert_eq!(printed.lines().count(), 2, "{printed}");
    // With nothing left to choose there is nothing to say.
    let all = "--kernel bits --streams one --graphs off --generations-per-round 5";
    let printed = lifestreams(folder.path(), &format!("{line} {all}"))
        .done()
        .stdout;
    assert_eq!(printed.lines().count(), 1, "{printed}");
}

/// However long a round is meant to be, the run ends within the rounds in flight, with what was done.
#[test]
fn ctrl_c_ends_a_run_with_what_was_done() {
    let folder = scratch();
    let folder = folder.path();
    let start = "--instances 2 --size 96x64 --device cpu";
    for more in [
        "",
        "--kernel sync-global --generations-per-round 4294967295",
        "--trace trace.json --generations-per-round 4294967295",
    ] {
        let line = format!("run -g 1000000000000000 {start} --save stopped {more}");
        let mut command = command(folder, &line);
        let running = Running::start(command.env("LIFESTREAMS_LOG", "lifestreams=debug"));
        running.wait("stepping");
        std::thread::sleep(Duration::from_millis(200));
        // Twice, as `timeout` sends it.
        running.signal("INT");
        running.signal("TERM");
        let ended = running.end(TIMEOUT);
        assert_eq!(ended.code, Some(130), "{ended:?}");
        let (_, said) = ended
            .stderr
            .split_once("lifestreams: stopped after ")
            .unwrap();
        let (done, rest) = said.split_once(" of ").expect("how many were done");
        assert!(
            rest.starts_with("1,000,000,000,000,000 generations"),
            "{rest}"
        );
        let done = done.replace(',', "");
        assert!(
            ended.stdout.contains(&format!("{done} generations in")),
            "{ended:?}"
        );
        // What was saved is what so many generations make.
        let saved = [0, 1].map(|i| fs::read_to_string(folder.join(format!("stopped/00{i}.rle"))));
        let saved = saved.map(|text| crate::common::cells_of(&text.unwrap()));
        assert!(
            saved[..] == simulated(folder, start, done.parse().unwrap()).0,
            "{done}"
        );
    }
}

/// The formats have tests of their own; here is what a run makes of a pattern.
#[test]
fn a_run_starts_from_patterns_and_says_what_it_wrote() {
    let folder = scratch();
    let folder = folder.path();
    let line = "run -g 1 --size 32 --device cpu --instances";
    let again = "run -g 8 --instances 1 --device cpu --save again --pattern out/000.rle";
    // A blinker of generation 40, in two of its own.
    let text = "#CXRLE Pos=-1,0 Gen=40\\nx = 3, y = 1, rule = LifeHistory\\n.ACE!";
    let input = format!(
        "$ printf '{text}' | lifestreams run -g 2 --instances 1 --size 8 --device cpu --save out --pattern -"
    );
    let start = "run -g 0 --instances 1 --device cpu --save out --pattern glider --rule";
    let header = "$ head -n 3 out/000.rle";
    #[rustfmt::skip]
    hold(folder, &[
        (&format!("{line} 12 --save out --trace t.json --pattern glider --pattern blinker"), 0,
         " alive\nsaved out\nsaved t.json"),
        (&format!("{line} 1 --save one"), 0, " alive\nsaved one\n"),
        ("$ ls one/000.rle t.json out/011.rle", 0, ""),
        (&input, 0, "the standard input has cells of several states"),
        (header, 0, "#CXRLE Gen=42\nx = 8, y = 8, rule = B3/S23:T8,8\n"),
        // What it is going on from goes on.
        (again, 0, ""),
        ("$ head -n 1 again/000.rle", 0, "#CXRLE Gen=50\n"),
        (&format!("$ lifestreams {start} 'Day & Night'"), 0, ""),
        (header, 0, "rule = B3678/S34678:T1024,1024"),
        (&format!("{start} seeds:t40"), 0, ""),
        (header, 0, "rule = B2/S:T40,40"),
        (&format!("$ [ $(lifestreams {line} 2 --save out --json | wc -l) = 1 ]"), 0, ""),
        ("patterns", 0, " 36x9 | gosper-gun | B3/S23"),
        ("$ lifestreams patterns | wc -l", 0, &life::SHELF.len().to_string()),
    ]);
}
