//! What `run` prints and saves, compared with what it did before: 60 settings on the CPU engine, in
//! `tests/oracle/runs.txt`. `LIFESTREAMS_RENEW=1` with the test's name writes the file anew. Of what depends
//! on time and on the machine only the field's name is there.

use std::fmt::Write;
use std::fs;

use crate::common::{lifestreams, scratch};
use serde_json::Value;
use test_support::{compare_with_stored, fingerprint};

/// Fields whose values vary.
const VARYING: [&str; 3] = ["device", "wall_ms", "cells_per_second"];

/// Fields that an estimate for the machine decides unless their option is given.
const ESTIMATED: [&str; 3] = ["generations_per_round", "graphs", "streams"];

#[rustfmt::skip]
const RUNS: [&str; 60] = [
    "--kernel global -g 7",
    "--kernel shared -g 7",
    "--kernel sync-global -g 7",
    "--kernel sync-shared -g 7",
    "--kernel bits -g 7",
    "--kernel planar -g 7",
    "--kernel multistep -g 40",
    "--kernel resident -g 40 --size 64x64",
    "--kernel cooperative -g 40 --size 256x256",
    "--kernel deep -g 40 --size 256x256",
    "--kernel bits -g 7 --size 33x7",
    "--kernel bits -g 7 --size 1x1",
    "--kernel bits -g 7 --size 1000x3",
    "--kernel global -g 7 --size 33x7",
    "--kernel planar -g 7 --size 65x9",
    "--kernel multistep -g 7 --size 128x31",
    "--kernel bits -g 0",
    "--kernel bits -g 1000 --generations-per-round 37",
    "--kernel planar -g 100 --generations-per-round 100",
    "--kernel sync-global -g 20 --generations-per-round 3",
    "--kernel bits -g 9 --rule B36/S23",
    "--kernel bits -g 9 --rule 23/3",
    "--kernel resident -g 9 --size 64x64 --rule Seeds",
    "--kernel planar -g 9 --rule B1357/S1357",
    "--kernel global -g 9 --rule B0/S",
    "--kernel multistep -g 9 --rule B3678/S34678",
    "--kernel bits -g 9 --rule B3/S23:T40,20",
    "--kernel bits -g 9 --instances 1",
    "--kernel bits -g 9 --instances 16 --size 32x32",
    "--kernel resident -g 9 --instances 5 --size 32x32",
    "--kernel bits -g 9 --density 0",
    "--kernel bits -g 9 --density 1",
    "--kernel bits -g 9 --density 0.05 --seed 9",
    "--kernel bits -g 9 --density 0.5 --seed 18446744073709551615",
    "--kernel bits -g 9 --streams per-instance",
    "--kernel bits -g 9 --streams one",
    "--kernel bits -g 9 --streams default",
    "--kernel resident -g 9 --size 64x64 --streams batch",
    "--kernel bits -g 9 --host-memory pageable",
    "--kernel bits -g 9 --wait each",
    "--kernel bits -g 9 --wait all --order depth",
    "--kernel bits -g 9 --order breadth",
    "--kernel bits -g 9 --graphs on --generations-per-round 2",
    "--kernel bits -g 9 --graphs on --streams one --wait all",
    "--kernel bits -g 9 --transfer view",
    "--kernel bits -g 9 --transfer bits",
    "--kernel global -g 9 --transfer i32",
    "--kernel global -g 9 --block 16x16",
    "--kernel bits -g 9 --round round.txt",
    "--kernel planar -g 30 --pattern gosper-gun",
    "--kernel bits -g 30 --pattern gosper-gun --pattern glider --instances 3",
    "--kernel bits -g 30 --pattern glider.rle",
    "--kernel global -g 30 --pattern glider.cells --size 20x20",
    "--kernel bits -g 30 --pattern torus.rle",
    "--kernel bits -g 30 --pattern highlife.rle",
    "--kernel bits -g 30 --pattern highlife.rle --rule B3/S23",
    "--kernel bits -g 4 --pattern glider.rle --pattern glider.cells --instances 2 --streams one",
    "--kernel sync-shared -g 12 --pattern glider.rle --graphs on",
    "--kernel multistep -g 12 --streams one --wait each --order depth --host-memory pageable",
    "--kernel planar -g 12 --wait all --instances 3 --rule B2/S",
];

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
    for (at, options) in RUNS.into_iter().enumerate() {
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
    }
    compare_with_stored("runs.txt", &found);
}
