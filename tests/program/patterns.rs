//! Patterns that the program starts from: files of every format, the shelf's, and those of the
//! standard input.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use crate::common::{lifestreams, program, run, scratch};
use life::{Lattice, Pattern, SHELF, Shelved, Size};

/// A block in every format.
const BLOCKS: [(&str, &str); 5] = [
    ("block.rle", "x = 2, y = 2\n2o$2o!"),
    ("block.cells", "OO\nOO\n"),
    ("old.lif", "#Life 1.05\n#P -1 -1\n**\n**\n"),
    ("new.lif", "#Life 1.06\n-1 -1\n0 -1\n-1 0\n0 0\n"),
    (
        "block.mc",
        "[M2]\n1 0 0 0 1\n1 0 0 1 0\n1 0 1 0 0\n1 1 0 0 0\n2 1 2 3 4\n",
    ),
];

/// The lattice that `run` saves at generation 0 for this pattern.
fn start_of(folder: &Path, pattern: &str) -> Lattice {
    let line =
        format!("run -g 0 --instances 1 --size 64x64 --device cpu --save out --pattern {pattern}");
    lifestreams(folder, &line).done();
    let saved = Pattern::load(folder.join("out/000.rle")).unwrap();
    saved.centred_in(saved.torus().unwrap()).unwrap()
}

#[test]
fn the_program_takes_every_format_and_the_shelfs_names() {
    let folder = scratch();
    let folder = folder.path();
    let size = Size::new(64, 64).unwrap();
    let shelved = |name| {
        let pattern = Shelved::find(name).unwrap().pattern();
        pattern.centred_in(size).unwrap()
    };
    for (name, text) in BLOCKS {
        fs::write(folder.join(name), text).unwrap();
        assert_eq!(start_of(folder, name), shelved("block"), "{name}");
    }
    assert_eq!(start_of(folder, "pulsar"), shelved("pulsar"));
    // A file of that name wins, whatever it is.
    fs::write(folder.join("pulsar"), "x = 1, y = 1\no!").unwrap();
    assert_eq!(start_of(folder, "pulsar").population(), 1);
    fs::write(folder.join("pulsar"), "nothing").unwrap();
    lifestreams(folder, "run -g 0 --pattern pulsar").refuses(2, &["pulsar, line 1, column 1"]);
    lifestreams(folder, "run -g 0 --pattern pulsars")
        .refuses(2, &["pulsars", "did you mean pulsar, of the shelf?"]);
    let line = "run -g 0 --size 32x32 --pattern gosper-gun --device cpu";
    let words = "gosper-gun is 36x9 cells, larger than the lattice 32x32; use --size 72x32 --kernel \
                 auto";
    lifestreams(folder, line).refuses(2, &[words]);
}

#[test]
fn a_run_says_what_it_started_from_and_what_it_wrote() {
    let folder = scratch();
    let folder = folder.path();
    let line = "run -g 1 --size 32 --device cpu --instances";
    let last_lines = |more: &str| {
        let ended = lifestreams(folder, &format!("{line} {more}")).succeeds();
        let lines = ended.stdout.lines().map(str::to_owned);
        let lines = lines.skip_while(|line| !line.contains(" alive"));
        lines.skip(1).collect::<Vec<_>>()
    };
    assert_eq!(last_lines("2"), [""; 0]);
    assert_eq!(
        last_lines("12 --save out --trace t.json --pattern glider --pattern blinker"),
        [
            "started from glider, blinker",
            "saved out/000.rle to out/011.rle, t.json",
        ]
    );
    assert_eq!(last_lines("1 --save one"), ["saved one/000.rle"]);
    let files = ["out/000.rle", "out/011.rle", "t.json", "one/000.rle"];
    for file in files {
        assert!(folder.join(file).exists(), "{file}");
    }
    let json = lifestreams(folder, &format!("{line} 2 --save out --json"));
    assert_eq!(json.stdout.lines().count(), 1, "{json:?}");
}

#[test]
fn a_pattern_comes_from_the_standard_input_and_names_are_listed() {
    let folder = scratch();
    let folder = folder.path();
    let line = "run -g 2 --instances 1 --size 8 --device cpu --save out --pattern -";
    let with_input = |text: &str| {
        let mut child = program(folder);
        let child = child.args(line.split(' ')).stdin(Stdio::piped());
        let child = child.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = child.spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(text.as_bytes()).unwrap();
        drop(input);
        let ended = child.wait_with_output().unwrap();
        (
            ended.status.code(),
            String::from_utf8(ended.stderr).unwrap(),
        )
    };
    // A blinker of generation 40, in two of its own.
    let text = "#CXRLE Pos=-1,0 Gen=40\nx = 3, y = 1, rule = LifeHistory\n.ACE!";
    let (code, said) = with_input(text);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("the standard input has cells of several states"),
        "{said}"
    );
    let saved = fs::read_to_string(folder.join("out/000.rle")).unwrap();
    assert!(
        saved.starts_with("#CXRLE Gen=42\nx = 8, y = 8, rule = B3/S23:T8,8\n"),
        "{saved}"
    );
    let saved = Pattern::load(folder.join("out/000.rle")).unwrap();
    assert_eq!((saved.generation(), saved.live_sides()), (42, (3, 1)));
    let (code, said) = with_input("bo$z");
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("the standard input, line 1, column 1"),
        "{said}"
    );
    lifestreams(folder, &format!("{line} --pattern -")).refuses(2, &["read once"]);
    // What it is going on from goes on.
    let line = "run -g 8 --instances 1 --device cpu --save again --pattern out/000.rle";
    lifestreams(folder, line).done();
    let again = fs::read_to_string(folder.join("again/000.rle")).unwrap();
    assert!(again.starts_with("#CXRLE Gen=50\n"), "{again}");

    let listed = lifestreams(folder, "patterns");
    assert_eq!((listed.code, listed.stderr.as_str()), (Some(0), ""));
    let rows: Vec<Vec<&str>> = listed
        .stdout
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(rows.len(), SHELF.len());
    let gun = rows.iter().find(|row| row[0] == "gosper-gun").unwrap();
    assert_eq!(gun[1..4].join(" "), "36x9 B3/S23 gun:");
    for (name, meant) in [
        ("gospergun", "gosper-gun"),
        ("glidr.rle", "glider"),
        ("Gosper-glider-gun", "gosper-gun"),
    ] {
        let ended = lifestreams(folder, &format!("run -g 0 --pattern {name}"));
        ended.refuses(2, &[name, &format!("did you mean {meant}, of the shelf?")]);
    }
    lifestreams(folder, "run -g 0 --pattern nowhere/glidr")
        .refuses(2, &["there is no such file; check its name"]);
}

#[test]
fn a_rule_is_taken_by_its_name_and_with_its_torus() {
    let folder = scratch();
    let folder = folder.path();
    for (rule, header) in [
        ("Day & Night", "rule = B3678/S34678:T1024,1024"),
        ("2x2", "rule = B36/S125:T1024,1024"),
        ("B3/S23:T64,32", "rule = B3/S23:T64,32"),
        ("seeds:t40", "rule = B2/S:T40,40"),
        ("S23B3", "rule = B3/S23:T1024,1024"),
    ] {
        let mut command = program(folder);
        let line = "run -g 0 --instances 1 --device cpu --save out --pattern glider --rule";
        run(command.args(line.split(' ').chain([rule]))).succeeds();
        let saved = fs::read_to_string(folder.join("out/000.rle")).unwrap();
        assert!(saved.contains(header), "{rule}: {saved}");
    }
}
