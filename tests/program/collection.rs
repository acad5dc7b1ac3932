//! The patterns that come with Golly, several hundred files of many kinds and rules: those of two
//! states and a rule of counts are read as Golly does it, and of each other one the reason why not is told. `collection/golly.tsv` says what becomes of every file;
//! `LIFESTREAMS_RENEW=1 cargo test --test program collection` writes it anew.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use crate::common::lifestreams;
use life::Pattern;

/// Where scripts/test unpacks Golly, which is not installed.
const GOLLY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/target/tools/golly/usr");

/// The most live cells that are counted one by one; two files unfold to a hundred million.
const COUNTED: u64 = 10_000_000;

/// The number of live cells as Golly, without a window, reads the file.
fn golly_counts(file: &Path) -> u64 {
    // QuickLife, which it takes by itself, reads no macrocells.
    let of_hashlife = file.to_str().unwrap().contains(".mc");
    let algorithm = if of_hashlife { "HashLife" } else { "QuickLife" };
    let mut golly = Command::new(format!("{GOLLY}/bin/bgolly"));
    let output = golly.args(["-a", algorithm, "-m", "0"]).arg(file).output();
    let said = String::from_utf8(output.expect("Golly").stdout).unwrap();
    let count = said.lines().find_map(|line| line.strip_prefix("0: "));
    count.expect(&said).replace(',', "").parse().unwrap()
}

fn count(pattern: &Pattern) -> u64 {
    let mut cells = 0;
    pattern.each_run(|run| cells += u64::from(run.length));
    cells
}

/// What becomes of a file, in words.
fn outcome(file: &Path) -> String {
    let pattern = match Pattern::load(file) {
        Ok(pattern) => pattern,
        Err(error) => {
            let named = format!("{}, ", file.display());
            return error.to_string().replace(&named, "");
        }
    };
    // Golly counts cells of all states, and takes another algorithm for them.
    let of_states = pattern
        .remarks()
        .iter()
        .any(|it| it.contains("has cells of several states"));
    let cells = if of_states {
        count(&pattern)
    } else {
        golly_counts(file)
    };
    if cells <= COUNTED {
        assert_eq!(count(&pattern), cells, "{}", file.display());
    }
    let rule = pattern.rule().map_or("-".into(), |rule| rule.to_string());
    let torus = pattern.torus().map(|torus| format!(":T{torus}"));
    format!(
        "{} {rule}{} {}x{} {cells}{}",
        pattern.format,
        torus.unwrap_or_default(),
        pattern.width(),
        pattern.height(),
        if of_states { " of several states" } else { "" }
    )
}

#[test]
fn gollys_collection_is_read_and_every_refusal_is_named() {
    let folder = Path::new(GOLLY).join("share/golly/Patterns");
    let listed = lifestreams(&folder, "$ find * -type f | LC_ALL=C sort").done();
    let mut found = String::new();
    for name in listed.stdout.lines() {
        writeln!(found, "{name}\t{}", outcome(&folder.join(name))).unwrap();
    }
    test_support::compare_with_stored("../collection/golly.tsv", &found);
}
