//! `run --until-still`: when soups begin to repeat.

use crate::common::{lifestreams, lifestreams_with, scratch};
use serde_json::Value;

const SMALL: &str = "--size 32x32 --device cpu --json";

/// What a command prints.
#[track_caller]
fn printed(line: &str) -> Value {
    let ended = lifestreams(scratch().path(), &format!("{line} {SMALL}")).succeeds();
    serde_json::from_str(&ended.stdout).unwrap()
}

#[test]
fn a_census_says_of_each_seed_when_it_repeats() {
    let census = printed("run --until-still --seeds 3..9 --instances 2 --density 0.4");
    let soups = census["soups"].as_array().unwrap();
    let seeds = soups.iter().map(|soup| soup["seed"].as_u64().unwrap());
    assert!(seeds.eq(3..9), "{census}");
    assert_eq!(
        (&census["instances"], &census["stopped"]),
        (&2.into(), &false.into())
    );
    for soup in soups {
        let later = |generation: u64| {
            let seed = &soup["seed"];
            let line = format!("run -g {generation} --seed {seed} --instances 1 --density 0.4");
            printed(&line)["population"][0].clone()
        };
        let generation = soup["generation"].as_u64().unwrap();
        let period = soup["period"].as_u64().unwrap();
        assert_eq!(later(generation), soup["population"], "{soup}");
        assert_eq!(later(generation + period), soup["population"], "{soup}");
    }
}

#[test]
fn the_instances_of_a_run_and_patterns_are_told_apart() {
    let run = printed("run --until-still --seed 5 --instances 3");
    let soups = run["soups"].as_array().unwrap();
    for (instance, soup) in soups.iter().enumerate() {
        assert_eq!(
            (&soup["seed"], &soup["instance"]),
            (&5.into(), &instance.into())
        );
    }
    assert_eq!(soups.len(), 3);
    let glider = printed("run --until-still --pattern glider --instances 1");
    let soup = &glider["soups"][0];
    let found = ["seed", "generation", "period", "population"].map(|field| soup[field].as_u64());
    assert_eq!(found, [None, Some(0), Some(4 * 32), Some(5)]);
    let given_up = printed("run --until-still -g 8 --instances 1");
    assert_eq!(given_up["soups"][0]["period"], Value::Null);
}

#[test]
fn a_lost_gpu_changes_no_figure() {
    let folder = scratch();
    let line =
        "run --until-still --seeds 1..6 --instances 2 --size 32x32 --json --kernel bits --device";
    let soups = |ended: &str| serde_json::from_str::<Value>(ended).unwrap()["soups"].clone();
    let wanted = lifestreams(folder.path(), &format!("{line} cpu")).succeeds();
    let library = crate::driver::library();
    for recovers in ["0", "1"] {
        let variables = [
            ("LIFESTREAMS_LIBCUDA", library.to_str().unwrap()),
            ("FAKE_CUDA_RECOVERS", recovers),
            ("FAKE_CUDA_FAULT", "cuLaunchKernel:700:400:1:lost"),
        ];
        let ended = lifestreams_with(folder.path(), &variables, &format!("{line} auto")).succeeds();
        assert!(
            ended.stderr.contains("what was not done begins again on"),
            "{ended:?}"
        );
        assert_eq!(soups(&ended.stdout), soups(&wanted.stdout), "{recovers}");
    }
}

#[test]
fn people_get_a_line_for_each() {
    let folder = scratch();
    let line = "run --until-still --pattern r-pentomino --size 64x64 --instances 1 --device cpu";
    let ended = lifestreams(folder.path(), line).succeeds();
    let lines: Vec<_> = ended.stdout.lines().collect();
    assert!(lines[0].starts_with("instance 0: period "), "{ended:?}");
    assert!(
        lines[1].contains("1 of 1 lattices of 64x64 settled"),
        "{ended:?}"
    );
    let line = "run --until-still --pattern block --size 64x64 --instances 1 --device cpu";
    let ended = lifestreams(folder.path(), line).succeeds();
    let first = ended.stdout.lines().next();
    assert_eq!(
        first,
        Some("instance 0: period 1 from generation 0 on, 4 alive")
    );
}
