//! The patterns that come with Golly, several hundred files of many kinds and rules: those of two
//! states and a rule of counts are read and stepped as Golly does it, and of each other one the
//! reason why not is told. `collection/golly.tsv` says what becomes of every file;
//! `LIFESTREAMS_RENEW=1 cargo test --test program collection` writes it anew.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use crate::common::{lifestreams, scratch};
use life::{Format, Pattern, Rule};

/// Where scripts/test unpacks Golly, which is not installed.
const GOLLY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/target/tools/golly");

const EXPECTED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/collection/golly.tsv");

/// How many files are read, by format.
const READ: [(Format, usize); 4] = [
    (Format::Rle, 157),
    (Format::Life105, 4),
    (Format::Macrocell, 24),
    (Format::Life106, 0),
];

/// How many files are refused, by words of the reason.
const REFUSED: [(&str, usize); 9] = [
    ("no rule that counts live neighbours has this name", 89),
    ("it tells neighbours apart by where they lie", 15),
    ("it is written as in Larger than Life", 11),
    ("it seems to be of Generations", 2),
    ("it is for a single row of cells", 1),
    ("in the format of MCell", 33),
    ("this is a ZIP archive", 10),
    ("this is a script", 2),
    ("only a torus can be run", 5),
];

/// The most live cells that are counted one by one; two files unfold to a hundred million.
const COUNTED: u64 = 10_000_000;

fn files_below(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_below(&path, files);
        } else {
            files.push(path);
        }
    }
}

/// All files of the collection, with their paths in it.
fn collection() -> Vec<(String, PathBuf)> {
    let folder = Path::new(GOLLY).join("usr/share/golly/Patterns");
    assert!(
        folder.is_dir(),
        "this test needs Golly's patterns in {}: run scripts/test, which puts them there",
        folder.display()
    );
    let mut files = Vec::new();
    files_below(&folder, &mut files);
    files.sort();
    let named = files.into_iter().map(|file| {
        let name = file.strip_prefix(&folder).unwrap().to_str().unwrap();
        (name.to_owned(), file)
    });
    named.collect()
}

/// Golly without a window: what it says, a line per generation.
fn golly(file: &Path, options: &[&str]) -> String {
    let program = Path::new(GOLLY).join("usr/bin/bgolly");
    // QuickLife, which it takes by itself, reads no macrocells.
    let of_hashlife = file.to_str().unwrap().contains(".mc");
    let algorithm = if of_hashlife { "HashLife" } else { "QuickLife" };
    let mut command = Command::new(&program);
    command.args(["-a", algorithm]).args(options).arg(file);
    let output = command.output();
    let output = output.unwrap_or_else(|error| panic!("{}: {error}", program.display()));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The number of live cells as Golly reads the file.
fn golly_counts(file: &Path) -> u64 {
    let said = golly(file, &["-m", "0"]);
    let count = said.lines().find_map(|line| line.strip_prefix("0: "));
    let count = count.unwrap_or_else(|| panic!("{}: {said}", file.display()));
    count.replace(',', "").parse().unwrap()
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
        pattern.format(),
        torus.unwrap_or_default(),
        pattern.width(),
        pattern.height(),
        if of_states { " of several states" } else { "" }
    )
}

#[test]
fn gollys_collection_is_read_and_every_refusal_is_named() {
    let mut found = String::new();
    for (name, file) in collection() {
        writeln!(found, "{name}\t{}", outcome(&file)).unwrap();
    }
    if env::var_os("LIFESTREAMS_RENEW").is_some() {
        fs::write(EXPECTED, &found).unwrap();
    }
    let expected = fs::read_to_string(EXPECTED).unwrap();
    let changed: Vec<&str> = found
        .lines()
        .filter(|line| !expected.lines().any(|known| known == *line))
        .collect();
    assert!(changed.is_empty(), "otherwise now:\n{}", changed.join("\n"));
    assert_eq!(found, expected, "files are missing");
    let outcomes = || found.lines().map(|line| line.split_once('\t').unwrap().1);
    let mut told = 0;
    for (format, files) in READ {
        let read = outcomes().filter(|outcome| outcome.starts_with(&format!("{format} ")));
        assert_eq!(read.count(), files, "{format}");
        told += files;
    }
    for (reason, files) in REFUSED {
        let refused = outcomes().filter(|outcome| outcome.contains(reason));
        assert_eq!(refused.count(), files, "{reason}");
        told += files;
    }
    assert_eq!(told, outcomes().count());
}

/// The live cells by row and column, counted from the first ones.
fn cells(pattern: &Pattern) -> Vec<(u32, u32)> {
    let mut cells = Vec::new();
    pattern.each_run(|run| cells.extend((run.x..run.x + run.length).map(|x| (run.y, x))));
    cells.sort_unstable();
    let top = cells.iter().map(|cell| cell.0).min().unwrap_or(0);
    let left = cells.iter().map(|cell| cell.1).min().unwrap_or(0);
    for (row, column) in &mut cells {
        (*row, *column) = (*row - top, *column - left);
    }
    cells
}

/// Texts as other programs wrote them, each with the ending of its file.
#[rustfmt::skip]
const FOREIGN: &[(&str, &str)] = &[
    ("rle", "#r 23/36\nx = 3, y = 3\nbo$2bo$3o!"),
    ("rle", "x = , y = , rule = B3/S23\nbo$2bo$3o!"),
    ("rle", "x = -3, y = -1\nbo$2bo$3o!"),
    ("rle", "x = 900000000, y = 7\nbo$2bo$3o!"),
    ("rle", "x = 3, y = 3, skip = 20, fps = 5\nbo$2bo$3o!"),
    ("rle", "x = 3, y = 3, rule = B36/S23, skip = 20, gen = 7\nbo$2bo$3o!"),
    ("rle", "x = 3, y = 3\nbo$2bo$3o"),
    ("rle", "x = 3, y = 3\nbo$2bo$3o!\n\x1a"),
    ("rle", "x = 3, y = 3\nbo$2bo$3o\n\x1a"),
    ("rle", "x = 3, y = 3\n0bo$2b0o0$3o!"),
    ("rle", "x = 9, y = 3\n10b20o$0000b03o0$o!"),
    ("rle", "x = 3, y = 3\n.A$2.A$3A!"),
    ("rle", "x = 3, y = 3\nbx$2by$xox!"),
    ("rle", "x = 3, y = 3\n2px3qo$wo!"),
    ("rle", "x = 3, y = 3, rule = B3/S23:T30\nbo$2bo$3o!"),
    ("rle", "#CXRLE Pos=-3,-9 Gen=77\nx = 3, y = 3\nbo$2bo$3o!"),
    ("cells", "!Name: dblife\n23.O15.3O15.3O15.O4.4O\n!between\n\n5k10h@\n2.0O3O.\n"),
    ("cells", ".O.\n..O\nOOO\n"),
    ("cells", ".o.\n..X\n*xO\n"),
];

#[test]
fn foreign_texts_are_read_as_golly_reads_them() {
    let folder = scratch();
    let theirs = folder.path().join("golly.rle");
    for (at, (ending, text)) in FOREIGN.iter().enumerate() {
        let file = folder.path().join(format!("{at}.{ending}"));
        fs::write(&file, text).unwrap();
        golly(&file, &["-m", "0", "-o", theirs.to_str().unwrap()]);
        let theirs = Pattern::load(&theirs).unwrap();
        let ours = Pattern::load(&file).unwrap();
        assert_eq!(cells(&ours), cells(&theirs), "{text}");
        assert!(!cells(&ours).is_empty());
        let rule = |pattern: &Pattern| pattern.rule().unwrap_or_default();
        assert_eq!(rule(&ours), rule(&theirs), "{text}");
        assert_eq!(ours.torus(), theirs.torus(), "{text}");
    }
}

#[test]
fn gollys_patterns_step_as_in_golly() {
    const SIDE: u32 = 512;
    const GENERATIONS: u32 = 30;
    let folder = scratch();
    let folder = folder.path();
    // Whatever happens in a plane within so many generations has room on this torus.
    let room = SIDE - 2 * GENERATIONS;
    let small = collection().into_iter().filter(|(_, file)| {
        Pattern::load(file).is_ok_and(|pattern| {
            let life = pattern.rule().is_none_or(|rule| rule == Rule::LIFE);
            life && pattern.torus().is_none() && pattern.width().max(pattern.height()) <= room
        })
    });
    let files: Vec<PathBuf> = small.map(|(_, file)| file).collect();
    assert!(files.len() > 80, "{} files", files.len());
    let listed = files
        .iter()
        .map(|file| format!(" --pattern {}", file.display()));
    let listed: String = listed.collect();
    let instances = files.len();
    lifestreams(
        folder,
        &format!(
            "run --device cpu --kernel bits --instances {instances} --size {SIDE}x{SIDE} \
             -g {GENERATIONS} --save out{listed}"
        ),
    )
    .done();
    let theirs = folder.join("golly.rle");
    for (i, file) in files.iter().enumerate() {
        let generations = GENERATIONS.to_string();
        golly(file, &["-m", &generations, "-o", theirs.to_str().unwrap()]);
        let theirs = Pattern::load(&theirs).unwrap();
        let ours = Pattern::load(folder.join(format!("out/{i:03}.rle"))).unwrap();
        assert!(cells(&ours) == cells(&theirs), "{}", file.display());
    }
}
