//! What `run` computes is what an independent simulator computes: every kernel, many sizes and
//! rules, soups and pattern files, and every way of running them.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::{lifestreams, names, needs, program, run, scratch};
use engine::kernels::{KERNELS, Kernel};
use life::{Rule, Size, SplitMix64};
use serde_json::{Value, json};

/// What `tests/independent.py` is to hold against one another.
#[derive(Default)]
struct Claims(Vec<Value>);

impl Claims {
    /// The lattice in `start` is those in `ends` so many generations later.
    fn after(&mut self, start: &Path, generations: u64, ends: &[PathBuf]) {
        self.0
            .push(json!({"start": start, "generations": generations, "ends": ends}));
    }

    /// A pattern in the middle of a torus is these lattices so many generations later.
    fn pattern(
        &mut self,
        file: &Path,
        rule: &str,
        torus: [u32; 2],
        generations: u64,
        ends: &[PathBuf],
    ) {
        let claim = json!({"start": file, "torus": torus, "rule": rule, "generations": generations,
            "ends": ends});
        self.0.push(claim);
    }

    /// All of them hold.
    #[track_caller]
    fn hold(&self) {
        needs("python3", "python3");
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/independent.py");
        // Where scripts/test puts numpy.
        let tools = concat!(env!("CARGO_MANIFEST_DIR"), "/target/tools").into();
        let path = std::env::var_os("PYTHONPATH").unwrap_or_default();
        let path = std::env::join_paths(std::iter::once(tools).chain(std::env::split_paths(&path)));
        let mut python = Command::new("python3")
            .args([script, "check"])
            .env("PYTHONPATH", path.unwrap())
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = python.stdin.take().unwrap();
        for claim in &self.0 {
            // A simulator that ends early says why.
            let _ = writeln!(input, "{claim}");
        }
        drop(input);
        let output = python.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            !said.contains("No module named 'numpy'"),
            "this test needs numpy: run scripts/test, which puts it on PYTHONPATH, or python3 -m \
             pip install numpy"
        );
        assert!(output.status.success(), "{said}");
    }
}

/// Runs the program, which must succeed, saving into a new folder; the files there.
#[track_caller]
fn saved(folder: &Path, name: &str, line: &str) -> Vec<PathBuf> {
    let into = folder.join(name);
    lifestreams(folder, &format!("run {line} --save {name}")).done();
    let files: Vec<_> = names(&into).iter().map(|name| into.join(name)).collect();
    assert!(!files.is_empty());
    files
}

/// The live cells of a saved file, counted in its text.
fn alive(file: &Path) -> u64 {
    let text = std::fs::read_to_string(file).unwrap();
    let body = text.lines().filter(|line| !line.starts_with(['#', 'x']));
    let (mut alive, mut count) = (0, 0);
    for letter in body.flat_map(str::bytes) {
        match letter {
            b'0'..=b'9' => count = 10 * count + u64::from(letter - b'0'),
            b'o' => alive += count.max(1),
            _ => {}
        }
        if !letter.is_ascii_digit() {
            count = 0;
        }
    }
    alive
}

/// The kernels that take lattices of this size.
fn kernels_for(size: &str) -> impl Iterator<Item = &'static Kernel> {
    let size: Size = size.parse().unwrap();
    KERNELS.iter().filter(move |kernel| kernel.supports(size))
}

const SIZES: [&str; 37] = [
    "1x1", "1x2", "2x1", "1x3", "3x1", "1x37", "37x1", "1x64", "64x1", "2x2", "2x3", "3x2", "3x3",
    "2x33", "33x2", "4x4", "31x5", "32x5", "33x5", "31x31", "32x32", "33x33", "63x7", "64x7",
    "65x7", "64x64", "65x63", "95x3", "96x1", "97x2", "101x17", "129x9", "160x130", "128x128",
    "128x3", "384x21", "1024x9",
];

const RULES: [&str; 8] = [
    "B3/S23",
    "B36/S23",
    "B0/S8",
    "B1357/S1357",
    "B/S",
    "B012345678/S",
    "B/S012345678",
    "B2/S",
];

#[test]
fn every_kernel_steps_soups_as_the_independent_simulator_does() {
    let folder = scratch();
    let mut dice = SplitMix64(20_240_229);
    let mut claims = Claims::default();
    for (case, size) in SIZES.into_iter().cycle().take(2 * SIZES.len()).enumerate() {
        // Each size twice: by a rule of the list, and by one nobody has heard of.
        let rule = if case < SIZES.len() {
            RULES[case % RULES.len()].to_string()
        } else {
            Rule::from_masks(dice.below(512) as u16, dice.below(512) as u16).to_string()
        };
        let generations = 1 + dice.below(12);
        let line = format!(
            "--size {size} --rule {rule} --seed {} --density 0.{} --instances {} \
             --generations-per-round {} --device cpu",
            dice.below(u64::MAX),
            1 + dice.below(9),
            1 + dice.below(3),
            1 + dice.below(5),
        );
        // What a kernel makes of the start is part of what it makes of the end.
        let starts = saved(
            folder.path(),
            &format!("{case}-{size}"),
            &format!("{line} -g 0"),
        );
        let of_kernel = |kernel: &Kernel| {
            let name = format!("{case}-{size}-{}", kernel.name);
            let line = format!("{line} --kernel {} -g {generations}", kernel.name);
            saved(folder.path(), &name, &line)
        };
        let ends: Vec<_> = kernels_for(size).map(of_kernel).collect();
        for (i, start) in starts.iter().enumerate() {
            let ends: Vec<_> = ends.iter().map(|files| files[i].clone()).collect();
            claims.after(start, generations, &ends);
        }
    }
    claims.hold();
}

#[test]
fn every_kernel_still_agrees_after_many_generations() {
    let folder = scratch();
    let mut claims = Claims::default();
    for size in ["45x34", "128x128"] {
        let line = format!("--size {size} --rule B3/S23 --instances 2 --device cpu");
        let start = format!("start-{size}");
        let starts = saved(folder.path(), &start, &format!("{line} -g 0"));
        for kernel in kernels_for(size).map(|kernel| kernel.name) {
            for generations in [255, 256] {
                let name = format!("{kernel}-{size}-{generations}");
                let line = format!(
                    "{line} --kernel {kernel} -g {generations} --generations-per-round 100"
                );
                let ends = saved(folder.path(), &name, &line);
                for (start, end) in starts.iter().zip(ends) {
                    claims.after(start, generations, &[end]);
                }
            }
        }
    }
    claims.hold();
}

#[test]
fn rounds_graphs_and_streams_change_no_cell() {
    let folder = scratch();
    let mut claims = Claims::default();
    let of =
        |size: &str| format!("--size {size} --rule B36/S23 --instances 5 --seed 7 --device cpu");
    let start = |size: &str| {
        let (name, line) = (format!("start-{size}"), format!("{} -g 0", of(size)));
        saved(folder.path(), &name, &line)
    };
    // The odd size, where the kernel takes it.
    let sizes = ["67x41", "128x128", "512x512"];
    let starts_of = sizes.map(start);
    for kernel in &KERNELS {
        let takes = |size: &&str| kernels_for(size).any(|other| other == kernel);
        let at = sizes.iter().position(takes).unwrap();
        let (size, starts) = (sizes[at], &starts_of[at]);
        let line = of(size);
        for (number, ways) in [
            "",
            "--generations-per-round 1",
            "--generations-per-round 2",
            "--generations-per-round 17",
            "--generations-per-round 4294967295",
            "--graphs on",
            "--graphs on --generations-per-round 3",
            "--streams one",
            "--streams one --graphs on --generations-per-round 5",
        ]
        .into_iter()
        .enumerate()
        {
            let name = format!("{}-{number}", kernel.name);
            let line = format!("{line} --kernel {} -g 17 {ways}", kernel.name);
            for (start, end) in starts.iter().zip(saved(folder.path(), &name, &line)) {
                claims.after(start, 17, &[end]);
            }
        }
    }
    claims.hold();
}

#[test]
fn pattern_files_start_in_the_middle_of_their_torus() {
    let folder = scratch();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/patterns");
    // Some of the shelf, a file per instance, on a torus that none of them names.
    let shelf = [
        "acorn",
        "blinker",
        "diehard",
        "glider",
        "gosper-gun",
        "lwss",
        "pulsar",
        "r-pentomino",
    ];
    let shelf = shelf.map(|name| root.join(name).with_extension("rle"));
    let mut claims = Claims::default();
    let sizes = [
        [67, 45],
        [64, 64],
        [96, 33],
        [47, 31],
        [127, 65],
        [96, 45],
        [128, 50],
        [64, 64],
        [512, 512],
        [160, 37],
    ];
    assert_eq!(sizes.len(), KERNELS.len());
    for (kernel, size) in KERNELS.iter().zip(sizes) {
        for generations in [0, 30] {
            let into = format!("shelf-{}-{generations}", kernel.name);
            let mut command = program(folder.path());
            command.args(["run", "--device", "cpu", "--kernel", kernel.name]);
            command.args(["--size", &format!("{}x{}", size[0], size[1])]);
            // One more than there are files: it starts over with the first.
            command.args(["--instances", &(shelf.len() + 1).to_string()]);
            command.args(["-g", &generations.to_string(), "--save", &into]);
            for file in &shelf {
                command.arg("--pattern").arg(file);
            }
            run(&mut command).done();
            for i in 0..=shelf.len() {
                let end = folder.path().join(&into).join(format!("{i:03}.rle"));
                let file = &shelf[i % shelf.len()];
                claims.pattern(file, "B3/S23", size, generations, &[end]);
            }
        }
    }
    // Files as people and other programs write them.
    for (number, (text, rule, torus)) in [
        ("x = 3, y = 3\nbo$2bo$3o!", "B3/S23", [1024, 1024]),
        ("x = 3, y = 1, rule = B3/S23:T3,3\n3o!", "B3/S23", [3, 3]),
        ("x = 1, y = 1, rule = B1/S:T1,1\no!", "B1/S", [1, 1]),
        ("x = 2, y = 3, rule = B36/S23:T40,1000\n2o$bo$2o!", "B36/S23", [40, 1000]),
        ("x = 9, y = 7, rule = B3/S23:T33,31\n2bo$bo$3o!", "B3/S23", [33, 31]),
        ("x=2,y=2,rule=b3/s23:t5,6\n2o$2o!\nwhat follows is no cell ooo", "B3/S23", [5, 6]),
        ("#N a name\r\n#C x = 9, y = 9\r\nx = 5, y = 4, rule = B3/S23:T65,10\r\n5o$\r\n2$\r\nb3\r\no!\r\n",
         "B3/S23", [65, 10]),
        ("x = 5, y = 2, rule = 23/3:T31,8\n5o$o!", "B3/S23", [31, 8]),
        ("x = 70, y = 2, rule = S23/B3:T70,4\n70o$35bo!", "B3/S23", [70, 4]),
        ("x = 0, y = 0, rule = B0/S8:T4,4\n!", "B0/S8", [4, 4]),
    ]
    .into_iter()
    .enumerate()
    {
        let file = folder.path().join(format!("made-up-{number}.rle"));
        std::fs::write(&file, text).unwrap();
        for (kernel, generations) in [("bits", 0), ("bits", 3), ("global", 3)] {
            let name = format!("made-up-{number}-{kernel}-{generations}");
            let line = format!(
                "--pattern made-up-{number}.rle --instances 1 -g {generations} --kernel {kernel} \
                 --device cpu"
            );
            let ends = saved(folder.path(), &name, &line);
            claims.pattern(&file, rule, torus, generations, &ends);
        }
    }
    claims.hold();
}

#[test]
fn size_and_rule_on_the_command_line_hold_against_a_files_own() {
    let folder = scratch();
    let file = folder.path().join("file.rle");
    std::fs::write(&file, "x = 3, y = 3, rule = B36/S23:T9,9\nbo$2bo$3o!").unwrap();
    let ends = saved(
        folder.path(),
        "out",
        "--pattern file.rle --size 12x7 --rule B2/S3 --instances 2 -g 4",
    );
    let mut claims = Claims::default();
    claims.pattern(&file, "B2/S3", [12, 7], 4, &ends);
    claims.hold();
}

#[test]
fn the_same_seed_is_the_same_start_and_instances_differ() {
    let folder = scratch();
    let cells = |line: &str| -> Vec<String> {
        let into = scratch();
        let line = format!(
            "run -g 0 --size 64x64 {line} --save {}",
            into.path().display()
        );
        lifestreams(folder.path(), &line).done();
        names(into.path())
            .iter()
            .map(|name| std::fs::read_to_string(into.path().join(name)).unwrap())
            .collect()
    };
    let first = cells("--seed 5 --instances 9");
    for kernel in kernels_for("64x64") {
        let line = format!("--seed 5 --instances 9 --kernel {}", kernel.name);
        assert_eq!(cells(&line), first, "{line}");
    }
    assert_eq!(
        cells("--seed 5 --instances 4")[..],
        first[..4],
        "fewer instances"
    );
    let mut all = first;
    all.extend(cells("--seed 6 --instances 9"));
    all.extend(cells("--seed 18446744073709551615 --instances 9"));
    let different: std::collections::HashSet<_> = all.iter().collect();
    assert_eq!(
        different.len(),
        all.len(),
        "every seed and instance has its own soup"
    );
}

#[test]
fn density_is_the_part_of_cells_alive() {
    let folder = scratch();
    for (density, least, most) in [("0", 0, 0), ("0.3", 4700, 5300), ("1", 16_384, 16_384)] {
        let line = format!("-g 0 --size 128x128 --instances 2 --density {density}");
        for file in saved(folder.path(), density, &line) {
            let alive = alive(&file);
            assert!(
                (least..=most).contains(&alive),
                "{density}: {alive} of 16384"
            );
        }
    }
}

#[test]
fn json_is_one_object_with_the_documented_fields() {
    let folder = scratch();
    let side = 128;
    for kernel in &KERNELS {
        let line = format!(
            "run --json -g 5 --size 128x128 --instances 3 --kernel {} --device cpu --save out",
            kernel.name
        );
        let ended = lifestreams(folder.path(), &line).done();
        let report: Value = serde_json::from_str(&ended.stdout).expect("one object");
        assert_eq!(ended.stdout.lines().count(), 1, "{ended:?}");
        let fields: Vec<_> = report.as_object().unwrap().keys().cloned().collect();
        let documented = "cells_per_second chosen_by device engine generations \
                          generations_per_round graphs height instances kernel population stopped \
                          streams wall_ms width";
        assert_eq!(fields.join(" "), documented);
        assert_eq!(report["engine"], "cpu");
        assert_eq!(report["kernel"], kernel.name);
        assert_eq!(report["generations"], 5);
        assert_eq!(
            (&report["width"], &report["height"]),
            (&json!(side), &json!(side))
        );
        assert_eq!(report["instances"], 3);
        assert!(
            report["device"]
                .as_str()
                .is_some_and(|name| !name.is_empty())
        );
        let (wall_ms, speed) = (&report["wall_ms"], &report["cells_per_second"]);
        let (wall_ms, speed) = (wall_ms.as_f64().unwrap(), speed.as_f64().unwrap());
        assert!(wall_ms > 0.0);
        let stepped = speed * wall_ms / 1e3;
        assert!(
            (stepped - f64::from(side * side) * 3.0 * 5.0).abs() < 1.0,
            "{stepped}"
        );
        let saved: Vec<_> = (0..3)
            .map(|i| json!(alive(&folder.path().join(format!("out/{i:03}.rle")))))
            .collect();
        assert_eq!(report["population"], Value::Array(saved));
    }
}

#[test]
fn the_start_of_nothing_is_reported_without_dividing_by_it() {
    let folder = scratch();
    let line = "run --json -g 0 --size 8x8 --instances 2 --density 0";
    let ended = lifestreams(folder.path(), line).done();
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(report["population"], json!([0, 0]));
    assert_eq!(report["cells_per_second"], json!(0.0));
}

#[test]
fn saved_files_name_rule_and_torus_and_are_read_again() {
    let folder = scratch();
    let line = "--size 31x17 --rule B36/S23 --instances 11 --seed 3 -g 2";
    let first = saved(folder.path(), "first", line);
    assert_eq!(names(&folder.path().join("first"))[10], "010.rle");
    for file in &first {
        let text = std::fs::read_to_string(file).unwrap();
        let header = "x = 31, y = 17, rule = B36/S23:T31,17";
        let first: Vec<&str> = text.lines().take(2).collect();
        assert_eq!(first, ["#CXRLE Gen=2", header]);
        assert!(text.lines().all(|line| line.len() <= 70), "{text}");
        // Read again: the same torus, the same rule, the same cells.
        let again = format!("--pattern {} --instances 1 -g 0", file.display());
        let again = saved(folder.path(), "again", &again);
        assert_eq!(std::fs::read_to_string(&again[0]).unwrap(), text);
    }
}

#[test]
#[should_panic(expected = "cells, first in column")]
fn a_generation_too_many_is_noticed() {
    let folder = scratch();
    let line = "--size 31x17 --instances 1 -g";
    let start = saved(folder.path(), "start", &format!("{line} 0"));
    let end = saved(folder.path(), "end", &format!("{line} 4"));
    let mut claims = Claims::default();
    claims.after(&start[0], 3, &end);
    claims.hold();
}
