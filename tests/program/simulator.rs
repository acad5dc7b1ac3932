//! What `run` computes is what an independent simulator computes (`tests/independent.py`, with numpy): of
//! soups of many sizes and rules, and of pattern files. That all kernels, and all ways of running them, do
//! the same is for the conformance suites.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::{lifestreams, names, needs, scratch};
use engine::kernels::KERNELS;
use life::{Rule, Size, SplitMix64};
use serde_json::{Value, json};

/// What `tests/independent.py` is to hold against one another.
#[track_caller]
fn hold(claims: &[Value]) {
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
    for claim in claims {
        // A simulator that ends early says why.
        let _ = writeln!(input, "{claim}");
    }
    drop(input);
    let output = python.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let advice = "this test needs numpy: run scripts/test, which puts it on PYTHONPATH, or python3 -m \
                  pip install numpy";
    assert!(!said.contains("No module named 'numpy'"), "{advice}");
    assert!(output.status.success(), "{said}");
}

/// Runs the program, which must succeed, saving into a new folder; the files there.
#[track_caller]
fn saved(folder: &Path, name: &str, line: &str) -> Vec<PathBuf> {
    let into = folder.join(name);
    lifestreams(folder, &format!("run {line} --device cpu --save {name}")).done();
    names(&into).iter().map(|name| into.join(name)).collect()
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
fn soups_are_stepped_as_the_independent_simulator_does() {
    let folder = scratch();
    let mut dice = SplitMix64(20_240_229);
    let mut claims = Vec::new();
    for (case, size) in SIZES.into_iter().enumerate() {
        // By a rule of the list, and by one nobody has heard of.
        let rule = match RULES.get(case / 2 % RULES.len()) {
            Some(rule) if case % 2 == 0 => rule.parse().unwrap(),
            _ => Rule::from_masks(dice.below(512) as u16, dice.below(512) as u16),
        };
        let line = format!(
            "--size {size} --rule {rule} --seed {} --density 0.{} --instances {} \
             --generations-per-round {}",
            dice.below(u64::MAX),
            1 + dice.below(9),
            1 + dice.below(3),
            1 + dice.below(5),
        );
        let size: Size = size.parse().unwrap();
        let kernels: Vec<_> = KERNELS.iter().filter(|it| it.supports(size)).collect();
        let kernel = kernels[case % kernels.len()].name;
        let generations = 1 + dice.below(12);
        let starts = saved(folder.path(), &format!("{case}"), &format!("{line} -g 0"));
        let line = format!("{line} --kernel {kernel} -g {generations}");
        let ends = saved(folder.path(), &format!("{case}-{kernel}"), &line);
        for (start, end) in starts.iter().zip(&ends) {
            claims.push(json!({"start": start, "generations": generations, "ends": [end]}));
        }
    }
    hold(&claims);
}

/// Files as people and other programs write them, each in the middle of a torus.
#[test]
fn patterns_are_placed_and_stepped_as_the_independent_simulator_does() {
    let folder = scratch();
    let mut claims = Vec::new();
    #[rustfmt::skip]
    let rows = [
        ("x = 3, y = 3\nbo$2bo$3o!", "", "B3/S23", [1024, 1024]),
        ("x = 3, y = 1, rule = B3/S23:T3,3\n3o!", "", "B3/S23", [3, 3]),
        ("x = 1, y = 1, rule = B1/S:T1,1\no!", "", "B1/S", [1, 1]),
        ("x = 2, y = 3, rule = B36/S23:T40,1000\n2o$bo$2o!", "", "B36/S23", [40, 1000]),
        ("x = 9, y = 7, rule = B3/S23:T33,31\n2bo$bo$3o!", "", "B3/S23", [33, 31]),
        ("#N a name\r\n#C x = 9, y = 9\r\nx = 5, y = 4, rule = B3/S23:T65,10\r\n5o$\r\n2$\r\nb3\r\no!\r\n",
         "", "B3/S23", [65, 10]),
        ("x = 70, y = 2, rule = S23/B3:T70,4\n70o$35bo!", "", "B3/S23", [70, 4]),
        ("x = 0, y = 0, rule = B0/S8:T4,4\n!", "", "B0/S8", [4, 4]),
        // What is typed goes before what the file says.
        ("x = 3, y = 3, rule = B36/S23:T9,9\nbo$2bo$3o!", "--size 12x7 --rule B2/S3", "B2/S3", [12, 7]),
    ];
    for (number, (text, more, rule, torus)) in rows.into_iter().enumerate() {
        let file = folder.path().join(format!("{number}.rle"));
        std::fs::write(&file, text).unwrap();
        let line = format!("--pattern {number}.rle --instances 2 -g 3 {more}");
        let ends = saved(folder.path(), &number.to_string(), &line);
        let claim =
            json!({"start": file, "torus": torus, "rule": rule, "generations": 3, "ends": ends});
        claims.push(claim);
    }
    hold(&claims);
}
