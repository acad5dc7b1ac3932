//! A collection of hundreds of pattern files in every format, many of them broken in known ways:
//! the sound ones are read exactly, and every failure is named with its file, line and column.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use crate::common::{lifestreams, program, run, scratch};
use life::{Format, Lattice, Notes, Pattern, Rule, SHELF, Sheet, Shelved, Size, soup};
use model::InWords;

/// A lattice just as large as the pattern, with its cells.
fn alone(pattern: &Pattern) -> Lattice {
    let size = Size::new(pattern.width().into(), pattern.height().into()).unwrap();
    pattern.centred_in(size).unwrap()
}

fn written(format: Format, lattice: &Lattice, notes: &Notes) -> String {
    let sheet = Sheet {
        lattice,
        rule: Rule::LIFE,
        torus: false,
        generation: 0,
        notes,
    };
    let mut text = Vec::new();
    format.write(sheet, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

/// A way to break a file of this format: what it is called, the text made of a sound one, the
/// line and column of the flaw, and words of the error.
type Way = (
    &'static str,
    Format,
    fn(&str) -> (String, usize, usize),
    &'static str,
);

/// The text with this line added, whose flaw is in this column.
fn with_line(text: &str, line: &str, column: usize) -> (String, usize, usize) {
    (format!("{text}{line}\n"), text.lines().count() + 1, column)
}

/// The text with the one line that starts so replaced, whose flaw is then in this column.
fn with_instead(text: &str, start: &str, line: &str, column: usize) -> (String, usize, usize) {
    let at = text
        .lines()
        .position(|line| line.starts_with(start))
        .unwrap();
    let lines = text.lines().enumerate();
    let changed = lines.map(|(i, old)| format!("{}\n", if i == at { line } else { old }));
    (changed.collect(), at + 1, column)
}

/// The text with these characters before the `!` that ends it, and the flaw so many after the
/// first of them.
fn with_end(text: &str, end: &str, column: usize) -> (String, usize, usize) {
    let body = text.trim_end().strip_suffix('!').unwrap();
    // A line of its own, so that its columns are known.
    (
        format!("{body}\n{end}!\n"),
        body.lines().count() + 1,
        column,
    )
}

const WAYS: &[Way] = &[
    (
        "letter",
        Format::Rle,
        |text| with_end(text, "3oz", 3),
        "unknown character 'z'",
    ),
    (
        "state",
        Format::Rle,
        |text| with_end(text, "3oyP", 4),
        "unknown character 'P'",
    ),
    (
        "count",
        Format::Rle,
        |text| with_end(text, "99999999999o", 1),
        "a count is more than",
    ),
    (
        "far",
        Format::Rle,
        |text| with_end(text, "16777216$o", 10),
        "live cells lie beyond",
    ),
    (
        "no-height",
        Format::Rle,
        |text| with_instead(text, "x =", "x = 3", 6),
        "the header lacks y",
    ),
    (
        "no-width",
        Format::Rle,
        |text| with_instead(text, "x =", "x = w, y = 3", 5),
        "x must be a whole number",
    ),
    (
        "comment",
        Format::Rle,
        |text| with_instead(text, "#N", "#r 23/3/4", 4),
        "Generations",
    ),
    (
        "rule",
        Format::Rle,
        |text| with_instead(text, "x =", "x = 3, y = 3, rule = B9/S", 22),
        "unknown rule 'B9/S'",
    ),
    (
        "plane",
        Format::Rle,
        |text| with_instead(text, "x =", "x = 3, y = 3, rule = B3/S23:P9,9", 22),
        "only a torus can be run",
    ),
    (
        "field",
        Format::Rle,
        |text| with_instead(text, "x =", "x = 3, y = 3, z = 3", 15),
        "x = WIDTH, y = HEIGHT",
    ),
    (
        "letter",
        Format::Plaintext,
        |text| with_line(text, "..OZ.", 4),
        "unknown character 'Z'",
    ),
    (
        "blank",
        Format::Plaintext,
        |text| with_line(text, "O O", 2),
        "unknown byte 0x20",
    ),
    (
        "rle",
        Format::Plaintext,
        |text| with_line(text, "bo$2bo$3o!", 1),
        "unknown character 'b'",
    ),
    (
        "letter",
        Format::Life105,
        |text| with_line(text, "**.a", 4),
        "unknown character 'a'",
    ),
    (
        "place",
        Format::Life105,
        |text| with_line(text, "#P 1\n*", 5),
        "such as '#P -1 -1'",
    ),
    (
        "no-place",
        Format::Life105,
        |text| with_line(text, "#P one two\n*", 4),
        "such as '#P -1 -1'",
    ),
    (
        "far",
        Format::Life105,
        |text| {
            let (text, line, column) = with_line(text, "#P 0 99999999\n*", 1);
            (text, line + 1, column)
        },
        "lie more than 16777216 cells apart",
    ),
    (
        "rule",
        Format::Life105,
        |text| with_instead(text, "#R", "#R 2,3/3", 4),
        "unknown rule '2,3/3'",
    ),
    (
        "version",
        Format::Life105,
        |text| with_instead(text, "#Life", "#Life 2.0", 1),
        "must be '#Life 1.05' or",
    ),
    (
        "half",
        Format::Life106,
        |text| with_line(text, "17", 3),
        "the column and the row of a live cell",
    ),
    (
        "three",
        Format::Life106,
        |text| with_line(text, "1 2 3", 5),
        "the column and the row of a live cell",
    ),
    (
        "row",
        Format::Life106,
        |text| with_line(text, ".*", 1),
        "the column and the row of a live cell",
    ),
    (
        "far",
        Format::Life106,
        |text| with_line(text, "-16777300 0", 1),
        "lie more than 16777216 cells apart",
    ),
    (
        "level",
        Format::Macrocell,
        |text| with_line(text, "63 0 0 0 0", 1),
        "from 1 to 62",
    ),
    (
        "states",
        Format::Macrocell,
        |text| with_line(text, "1 0 1 256 3", 7),
        "from 0 to 255",
    ),
    (
        "four",
        Format::Macrocell,
        |text| with_line(text, "4 0 0 0", 8),
        "a node of five numbers",
    ),
    (
        "later",
        Format::Macrocell,
        |text| with_line(text, "4 0 99999 0 0", 5),
        "there is no node 99999",
    ),
    (
        "quarter",
        Format::Macrocell,
        |text| with_line(text, "6 1 0 0 0", 3),
        "must be of level 5",
    ),
    (
        "square",
        Format::Macrocell,
        |text| with_line(text, "*********$", 9),
        "more than 8 x 8",
    ),
    (
        "letter",
        Format::Macrocell,
        |text| with_line(text, "**b$", 3),
        "unknown character 'b'",
    ),
    (
        "rule",
        Format::Macrocell,
        |text| with_instead(text, "#R", "#R WireWorld", 4),
        "unknown rule 'WireWorld'",
    ),
];

#[test]
fn a_collection_of_hundreds_is_read_and_every_failure_named() {
    let folder = scratch();
    let folder = folder.path();
    let mut sound = BTreeMap::new();
    let mut broken = BTreeMap::new();
    let nothing = Notes::default();
    for format in Format::ALL {
        let extension = format.extension();
        for shelved in SHELF {
            let pattern = shelved.pattern();
            let name = format!("{}-{format}.{extension}", shelved.name);
            fs::write(
                folder.join(&name),
                written(format, &alone(&pattern), &pattern.notes()),
            )
            .unwrap();
            sound.insert(name, (format, alone(&pattern), pattern.notes()));
        }
        for number in 0..20u64 {
            let size = Size::new(1 + 13 * number, 40 - number).unwrap();
            let mut lattice = soup(size, 0.3, number, 0);
            // Life 1.05, 1.06 and macrocells keep no empty edges.
            let (right, bottom) = (size.width() - 1, size.height() - 1);
            for (x, y) in [(0, 0), (right, bottom)] {
                lattice = with_cell(lattice, x, y);
            }
            let name = format!("soup-{number}-{format}.{extension}");
            fs::write(folder.join(&name), written(format, &lattice, &nothing)).unwrap();
            sound.insert(name, (format, lattice, nothing.clone()));
        }
    }
    for (way, format, change, words) in WAYS {
        for base in [
            "glider",
            "gosper-gun",
            "pulsar",
            "soup-d8",
            "acorn",
            "puffer-1",
        ] {
            let pattern = Shelved::find(base).unwrap().pattern();
            let text = written(*format, &alone(&pattern), &pattern.notes());
            let (text, line, column) = change(&text);
            let name = format!("broken-{base}-{format}-{way}.{}", format.extension());
            fs::write(folder.join(&name), text).unwrap();
            let expected = format!("{name}, line {line}, column {column}: ");
            broken.insert(name, (expected, *words));
        }
    }
    assert!(
        sound.len() + broken.len() > 600,
        "{} and {}",
        sound.len(),
        broken.len()
    );
    let mut failures = 0;
    let mut wrong = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        match Pattern::load(&path) {
            Ok(pattern) => match sound.remove(&name) {
                Some(expected) => {
                    let found = (pattern.format(), alone(&pattern), pattern.notes());
                    if found != expected {
                        wrong.push(format!("{name} is read otherwise than it was written"));
                    }
                }
                None => wrong.push(format!("{name} should be refused")),
            },
            Err(error) => {
                failures += 1;
                let message = error.in_words();
                let expected = broken.get(&name);
                if !expected.is_some_and(|(place, words)| {
                    message.contains(place) && message.contains(words)
                }) {
                    wrong.push(format!("{expected:?} expected, not {message}"));
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(sound.is_empty(), "not read: {:?}", sound.keys());
    assert_eq!(failures, broken.len());
}

/// The lattice with this cell alive.
fn with_cell(mut lattice: Lattice, x: u32, y: u32) -> Lattice {
    lattice.set(x, y, true);
    lattice
}

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
    let pulsar = Shelved::find("pulsar").unwrap().pattern();
    let expected = pulsar.centred_in(size).unwrap();
    for format in Format::ALL {
        let name = format!("file.{}", format.extension());
        fs::write(
            folder.join(&name),
            written(format, &expected, &Notes::default()),
        )
        .unwrap();
        assert_eq!(start_of(folder, &name), expected, "{format}");
    }
    assert_eq!(start_of(folder, "pulsar"), expected);
    let soup = Shelved::find("soup-d8").unwrap().pattern();
    assert_eq!(start_of(folder, "soup-d8"), soup.centred_in(size).unwrap());
    // A file of that name wins, whatever it is.
    fs::write(folder.join("pulsar"), "x = 1, y = 1\no!").unwrap();
    assert_eq!(start_of(folder, "pulsar").population(), 1);
    fs::write(folder.join("pulsar"), "nothing").unwrap();
    lifestreams(folder, "run -g 0 --pattern pulsar").refuses(2, &["pulsar, line 1, column 1"]);
    lifestreams(folder, "run -g 0 --pattern pulsars")
        .refuses(2, &["pulsars", "did you mean pulsar, of the shelf?"]);
    let ended = lifestreams(
        folder,
        "run -g 0 --size 32x32 --pattern gosper-gun --device cpu",
    );
    ended.refuses(
        2,
        &[
            "gosper-gun is 36x9 cells, larger than the lattice 32x32; use --size 36x32 \
             --kernel auto",
        ],
    );
}

#[test]
fn a_run_says_what_it_started_from_and_what_it_wrote() {
    let folder = scratch();
    let folder = folder.path();
    let line = "run -g 1 --size 32 --device cpu --instances";
    let last_lines = |more: &str| {
        let ended = lifestreams(folder, &format!("{line} {more}"));
        assert_eq!(ended.code, Some(0), "{ended:?}");
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
        child
            .stdin
            .take()
            .unwrap()
            .write_all(text.as_bytes())
            .unwrap();
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
        let ended = run(command.args(line.split(' ').chain([rule])));
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let saved = fs::read_to_string(folder.join("out/000.rle")).unwrap();
        assert!(saved.contains(header), "{rule}: {saved}");
    }
}
