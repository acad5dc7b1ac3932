//! What each format's reader takes and refuses, and that it takes back what the writer wrote.

use super::*;
use crate::life::testing::{drawn, rule};
use crate::life::{Pattern, PatternError, soup};
use proptest::prelude::*;

fn size(width: u64, height: u64) -> Size {
    Size::new(width, height).unwrap()
}

fn parse(text: &str) -> Pattern {
    Pattern::from_text("text", text).unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

/// The pattern alone on a lattice just large enough, or none if it has no columns or rows.
fn alone(pattern: &Pattern) -> Option<Lattice> {
    let size = Size::new(pattern.width().into(), pattern.height().into()).ok()?;
    Some(pattern.centred_in(size).unwrap())
}

/// The part of the lattice from the first live column and row to the last, or none if nothing
/// lives.
fn trimmed(lattice: &Lattice) -> Option<Lattice> {
    let cells = crate::life::testing::live_cells(lattice);
    let (left, right) = (
        cells.iter().map(|c| c.0).min()?,
        cells.iter().map(|c| c.0).max()?,
    );
    let (top, bottom) = (
        cells.iter().map(|c| c.1).min()?,
        cells.iter().map(|c| c.1).max()?,
    );
    let mut part = Lattice::new(size((right - left + 1).into(), (bottom - top + 1).into()));
    for (x, y) in cells {
        part.set(x - left, y - top, true);
    }
    Some(part)
}

fn written(format: Format, lattice: &Lattice, rule: Rule, torus: bool, notes: &Notes) -> Vec<u8> {
    let sheet = Sheet {
        lattice,
        rule,
        torus,
        notes,
    };
    let mut text = Vec::new();
    format.write(sheet, &mut text).unwrap();
    text
}

fn plainly(format: Format, lattice: &Lattice) -> String {
    let text = written(format, lattice, Rule::LIFE, false, &Notes::default());
    String::from_utf8(text).unwrap()
}

/// A glider in every format, as people and other programs write it.
const GLIDERS: &[(Format, &str)] = &[
    (
        Format::Rle,
        "#N Glider\nx = 3, y = 3, rule = B3/S23\nbob$2bo$3o!",
    ),
    (Format::Plaintext, "!Name: Glider\n!\n.O.\n..O\nOOO\n"),
    (Format::Plaintext, ".*\r\n..*\r\n***\r\n\r\n"),
    (Format::Plaintext, "\u{feff}!\n\n.O\n..O\n!between\nOOO"),
    (
        Format::Life105,
        "#Life 1.05\n#D Name: Glider\n#N\n#P -1 -1\n.*.\n..*\n***\n",
    ),
    (
        Format::Life105,
        "#Life 1.05\r\n#R 23/3\r\n#P 7 -9\r\n.*\r\n#P 7 -8\r\n..*\r\n***\r\n",
    ),
    (
        Format::Life105,
        "#P -1000000000 1000000000\n.......*\n........*\n......***",
    ),
    (
        Format::Life105,
        "#Life 1.05\n.*\n..*\n#P 1 2\n**\n#P 0 2\n**",
    ),
    (Format::Life106, "#Life 1.06\n0 -1\n1 0\n-1 1\n0 1\n1 1\n"),
    (
        Format::Life106,
        "#Life 1.06\r\n#C a comment\r\n  101   99\r\n+102 100\r\n100 101\r\n\r\n101\t101\r\n102 101",
    ),
    (
        Format::Macrocell,
        "[M2] (golly 2.0)\n#R B3/S23\n.*$..*$***$\n4 0 0 0 1",
    ),
    (
        Format::Macrocell,
        "[M2]\n#G 77\n$$$$$$.......*$\n$$$$$$$*$\n......**$\n*$\n4 1 2 3 4\n5 0 0 5 0\n",
    ),
];

#[test]
fn gliders_of_every_format_are_read() {
    let glider = drawn(&[".O.", "..O", "OOO"]);
    for (format, text) in GLIDERS {
        let pattern = parse(text);
        assert_eq!(pattern.format(), *format, "{text:?}");
        assert_eq!(
            trimmed(&alone(&pattern).unwrap()),
            Some(glider.clone()),
            "{text:?}"
        );
    }
}

#[test]
fn a_lattice_is_written_as_others_write_it() {
    let mut lattice = Lattice::new(size(10, 9));
    for (x, y) in [(1, 0), (2, 1), (0, 2), (1, 2), (2, 2), (9, 8)] {
        lattice.set(x, y, true);
    }
    assert_eq!(
        plainly(Format::Rle, &lattice),
        "x = 10, y = 9, rule = B3/S23\nbo$2bo$3o6$9bo!\n"
    );
    assert_eq!(
        plainly(Format::Plaintext, &drawn(&[".O.", "...", "OOO"])),
        ".O.\n...\nOOO\n"
    );
    assert_eq!(
        plainly(Format::Life105, &lattice),
        "#Life 1.05\n#R 23/3\n#P -5 -4\n.*\n..*\n***\n#P -5 4\n.........*\n"
    );
    assert_eq!(
        plainly(Format::Life106, &lattice),
        "#Life 1.06\n-4 -4\n-3 -3\n-5 -2\n-4 -2\n-3 -2\n4 4\n"
    );
    let macrocell = plainly(Format::Macrocell, &lattice);
    let (head, body) = macrocell.split_once('\n').unwrap();
    assert!(head.starts_with("[M2] (lifestreams "), "{head}");
    assert_eq!(
        body,
        "#R B3/S23\n$$$$....*$.....*$...***$\n$$$$....*$\n4 1 0 0 2\n"
    );
    let empty = plainly(Format::Macrocell, &Lattice::new(size(3, 3)));
    assert!(empty.ends_with("#R B3/S23\n4 0 0 0 0\n"), "{empty}");
}

#[test]
fn equal_squares_are_written_once() {
    let full = soup(size(1024, 1024), 1.0, 0, 0);
    let text = plainly(Format::Macrocell, &full);
    // A leaf and a node of each level from 4 to 10.
    assert_eq!(text.lines().count(), 2 + 1 + 7, "{text}");
    assert_eq!(alone(&parse(&text)), Some(full));
}

#[test]
fn the_rule_and_the_torus_are_read_where_a_format_has_them() {
    let life = parse("#Life 1.05\n#R 23/36\n#P 0 0\n*");
    assert_eq!((life.rule(), life.torus()), (Some(rule("B36/S23")), None));
    assert_eq!(parse("#Life 1.05\n#N\n*").rule(), Some(Rule::LIFE));
    assert_eq!(parse("#Life 1.05\n*").rule(), None);
    let cell = parse("[M2]\n#R B36/S23:T100,80\n*$\n4 1 0 0 0");
    assert_eq!(cell.rule(), Some(rule("B36/S23")));
    assert_eq!(cell.torus(), Some(size(100, 80)));
}

#[test]
fn a_format_is_told_by_content_first_and_by_name_second() {
    let detect = |text: &str, name: &str| Format::detect(text.as_bytes(), name);
    for (format, text) in GLIDERS {
        for name in ["a.rle", "a.cells", "a.lif", "a.mc", "a", "a.txt"] {
            assert_eq!(detect(text, name), *format, "{text:?} as {name}");
        }
    }
    for (name, format) in [
        ("a.cells", Format::Plaintext),
        ("A.CELLS", Format::Plaintext),
        ("a.lif", Format::Life105),
        ("a.life", Format::Life105),
        ("a.mc", Format::Macrocell),
        ("a.rle", Format::Rle),
        ("a", Format::Rle),
    ] {
        for text in ["", "\n\n", "#C only a comment", "?"] {
            assert_eq!(detect(text, name), format, "{text:?} as {name}");
        }
    }
    for format in Format::ALL {
        let named = Format::of_name(format!("x.{}", format.extension())).unwrap();
        assert_eq!(named.extension(), format.extension());
    }
}

#[test]
fn flaws_have_a_place_and_a_remedy() {
    let wide = ".".repeat(1 << 24);
    let square = |line: &str| format!("[M2]\n#R B3/S23\n*$\n{line}\n");
    for (name, text, line, column, words) in [
        ("a.cells", String::new(), 1, 1, "the text is empty"),
        ("a.cells", "\n \n".into(), 3, 1, "the text is empty"),
        (
            "a.cells",
            "!Name: x\n.O\nOX.\n".into(),
            3,
            2,
            "unknown character 'X'",
        ),
        ("a.cells", ".O\n.O .O\n".into(), 2, 3, "unknown byte 0x20"),
        ("a.cells", "é".into(), 1, 1, "unknown byte 0xc3"),
        (
            "a.cells",
            format!("O\n{wide}O"),
            2,
            (1 << 24) + 1,
            "a smaller pattern is needed",
        ),
        (
            "a.cells",
            format!("O{}O", "\n".repeat(1 << 24)),
            (1 << 24) + 1,
            1,
            "a smaller pattern",
        ),
        (
            "a.lif",
            "#Life 1.07\n*".into(),
            1,
            1,
            "must be '#Life 1.05' or '#Life 1.06'",
        ),
        (
            "a.lif",
            "#Life\n*".into(),
            1,
            1,
            "must be '#Life 1.05' or '#Life 1.06'",
        ),
        ("a.lif", "1 2\n3 4".into(), 1, 1, "unknown character '1'"),
        (
            "a.lif",
            "#Life 1.05\n#P 1\n*".into(),
            2,
            5,
            "such as '#P -1 -1'",
        ),
        (
            "a.lif",
            "#Life 1.05\n#P\n*".into(),
            2,
            3,
            "such as '#P -1 -1'",
        ),
        (
            "a.lif",
            "#Life 1.05\n#P 1 x\n*".into(),
            2,
            6,
            "such as '#P -1 -1'",
        ),
        (
            "a.lif",
            "#Life 1.05\n#P 1 2 3\n*".into(),
            2,
            8,
            "such as '#P -1 -1'",
        ),
        (
            "a.lif",
            "#Life 1.05\n#P 1 2\n.*.\n.*a".into(),
            4,
            3,
            "unknown character 'a'",
        ),
        (
            "a.lif",
            "#Life 1.05\n#R 9/9\n*".into(),
            2,
            4,
            "unknown rule '9/9'",
        ),
        (
            "a.lif",
            "#Life 1.05\n#P 0 0\n*\n#P 16777216 0\n*".into(),
            5,
            1,
            "lie more than 16777216",
        ),
        (
            "a.lif",
            "#Life 1.05\n#P 0 0\n*\n#P 0 -16777216\n*".into(),
            5,
            1,
            "a smaller pattern",
        ),
        (
            "a.lif",
            "#Life 1.05\n*\n#P 99999999999999999999999 0\n*".into(),
            4,
            1,
            "a smaller pattern",
        ),
        (
            "a.lif",
            "#Life 1.06\n1 2\n3\n".into(),
            3,
            2,
            "such as '-1 2'",
        ),
        (
            "a.lif",
            "#Life 1.06\n1 2 3\n".into(),
            2,
            5,
            "such as '-1 2'",
        ),
        (
            "a.lif",
            "#Life 1.06\n1 2.5\n".into(),
            2,
            3,
            "such as '-1 2'",
        ),
        (
            "a.lif",
            "#Life 1.06\n0 0\n-9999999999999999 0\n".into(),
            3,
            1,
            "a smaller pattern",
        ),
        ("a.mc", "M2".into(), 1, 1, "must start with [M2]"),
        ("a.mc", "[M1]\n*$".into(), 1, 1, "must start with [M2]"),
        ("a.mc", "[M2]\n#C nothing\n".into(), 3, 1, "no nodes"),
        ("a.mc", square("1 0 0 0 1"), 4, 1, "more than two states"),
        (
            "a.mc",
            square("63 0 0 0 0"),
            4,
            1,
            "level must be from 4 to 62",
        ),
        (
            "a.mc",
            square("0 0 0 0 0"),
            4,
            1,
            "level must be from 4 to 62",
        ),
        ("a.mc", square("4 0 0 0"), 4, 8, "a node of five numbers"),
        ("a.mc", square("4 0 0 0 x"), 4, 9, "a node of five numbers"),
        (
            "a.mc",
            square("4 0 0 0 1 1"),
            4,
            11,
            "a node of five numbers",
        ),
        ("a.mc", square("hello"), 4, 1, "a node of five numbers"),
        ("a.mc", square("4 0 0 0 2"), 4, 9, "no node 2 before"),
        ("a.mc", square("4 0 -1 0 0"), 4, 5, "no node -1 before"),
        (
            "a.mc",
            square("5 1 0 0 0"),
            4,
            3,
            "node 1 is of level 3, but a quarter here must be",
        ),
        ("a.mc", square("...x$"), 4, 4, "unknown character 'x'"),
        ("a.mc", square("........*$"), 4, 9, "more than 8 x 8"),
        ("a.mc", square("$$$$$$$$*"), 4, 9, "more than 8 x 8"),
        ("a.mc", square("$$$$$$$$$"), 4, 9, "more than 8 x 8"),
        (
            "a.mc",
            "[M2]\n#R Generations\n*$".into(),
            2,
            4,
            "unknown rule",
        ),
        (
            "a.mc",
            "[M2]\n#R B3/S23:P9,9\n*$".into(),
            2,
            4,
            "only a torus can be run",
        ),
        (
            "a.mc",
            square(&format!("4 1 0 0 1{}", far_apart(5..=26))),
            26,
            1,
            "lie more than 16777216",
        ),
    ] {
        let shown = &text[..text.len().min(80)];
        let error = Pattern::from_text(name, text.as_bytes()).unwrap_err();
        let message = error.to_string();
        let PatternError::Text { error, .. } = error else {
            panic!("{shown:?}: {message}");
        };
        assert_eq!(
            (error.line, error.column),
            (line, column),
            "{shown:?}: {message}"
        );
        assert!(message.contains(words), "{shown:?}: {message}");
        assert!(
            !message.contains(['\n', '\r', '\u{1b}']),
            "{message:?} is one printable sentence"
        );
    }
}

/// Nodes of these levels, each with the one before in two opposite corners.
fn far_apart(levels: std::ops::RangeInclusive<u32>) -> String {
    let from = *levels.start();
    levels
        .map(|level| format!("\n{level} {0} 0 0 {0}", level - from + 2))
        .collect()
}

#[test]
fn a_macrocell_is_measured_however_large_its_universe_is() {
    // A cell in the middle of the largest universe: the corner of the last of four quarters.
    let chain: String = (5..=61)
        .map(|level| format!("\n{level} {} 0 0 0", level - 3))
        .collect();
    let text = format!("[M2]\n*$\n4 1 0 0 0{chain}\n62 0 0 0 59");
    assert_eq!(alone(&parse(&text)), Some(drawn(&["O"])));
    // Emptiness that the file spells out costs nothing.
    let chain: String = (5..=62)
        .map(|level| format!("\n{level} {0} {0} {0} {0}", level - 3))
        .collect();
    let empty = parse(&format!("[M2]\n$\n4 1 1 1 1{chain}"));
    assert_eq!((empty.width(), empty.height()), (0, 0));
    let mut runs = 0;
    empty.each_run(|_| runs += 1);
    assert_eq!(runs, 0);
}

#[test]
fn more_than_a_lattice_is_refused_before_it_is_drawn() {
    // All of 2^24 x 2^24 cells.
    let leaf = "********$".repeat(8);
    let full: String = (5..=24)
        .map(|level| format!("\n{level} {0} {0} {0} {0}", level - 3))
        .collect();
    let text = format!("[M2]\n{leaf}\n4 1 1 1 1{full}\n");
    let pattern = parse(&text);
    assert_eq!((pattern.width(), pattern.height()), (1 << 24, 1 << 24));
    let error = pattern.centred_in(size(512, 512)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "text is 16777216x16777216 cells, larger than the lattice 512x512; no lattice is that \
         large, a smaller pattern is needed"
    );
}

#[test]
fn notes_are_read_from_every_format() {
    let expected = Notes {
        name: Some("Glider".into()),
        author: Some("Richard K. Guy, 1969".into()),
        comments: vec!["first".into(), " set in".into(), "".into(), "O last".into()],
    };
    for text in [
        "#N Glider\n#O Richard K. Guy, 1969\n#CXRLE Pos=0,0\n#C first\n#c  set in\n#C\n#P 1 1\nx = 3, y = 3\n#C O last\nbo$2bo$3o!\n#C after the end",
        "!Name: Glider\n!Author: Richard K. Guy, 1969\n! first\n!  set in\n!\n!O last\n.O.\n..O\nOOO",
        "#Life 1.05\n#D Name: Glider\n#O Richard K. Guy, 1969\n#D first\n#C  set in\n#D\n#N\n#C O last\n.*\n..*\n***",
        "#Life 1.06\n#N Glider\n#D author: Richard K. Guy, 1969\n#D first\n#D  set in\n#D\n#D O last\n0 0\n",
        "[M2] (golly 3.4)\n#R B3/S23\n#N Glider\n#O Richard K. Guy, 1969\n#C first\n#C  set in\n#C\n#C O last\n*$\n4 1 0 0 0",
    ] {
        let text = text.replace("#P 1 1\nx", "x");
        assert_eq!(parse(&text).notes(), expected, "{text}");
    }
    let hostile = parse("#N a\u{1b}[31mb\n#N second\nx = 1, y = 1\no!").notes();
    assert_eq!(hostile.name.as_deref(), Some("a\u{fffd}[31mb"));
    assert_eq!(hostile.comments, ["second"]);
}

#[test]
fn notes_cannot_break_out_of_their_lines() {
    let notes = Notes {
        name: Some("a\n#P 7 7\nO".into()),
        author: Some("\r.O.O".into()),
        comments: vec!["x = 1\n3o!".into()],
    };
    let lattice = drawn(&["O.O"]);
    for format in Format::ALL {
        let text = written(format, &lattice, Rule::LIFE, false, &notes);
        let pattern = Pattern::from_text("a", text).unwrap();
        assert_eq!(
            (pattern.format(), alone(&pattern)),
            (format, Some(lattice.clone()))
        );
    }
}

#[test]
fn thumbnails_are_small_and_lose_no_cell() {
    let gun = parse(include_str!("../../../assets/patterns/gosper-gun.rle"));
    let (whole, scale) = gun.thumbnail(size(48, 48));
    assert_eq!((Some(whole), scale), (alone(&gun), 1));
    let (quarter, scale) = gun.thumbnail(size(9, 9));
    assert_eq!((quarter.size(), scale), (size(9, 3), 4));
    let whole = alone(&gun).unwrap();
    for (x, y) in (0..9).flat_map(|x| (0..3).map(move |y| (x, y))) {
        let square = (0..16).map(|i| (4 * x + i % 4, 4 * y + i / 4));
        let alive = square.filter(|&(_, y)| y < 9).any(|(x, y)| whole.get(x, y));
        assert_eq!(quarter.get(x, y), alive, "{x} {y}");
    }
    let nothing = parse("x = 0, y = 0\n!").thumbnail(size(5, 5));
    assert_eq!(nothing, (drawn(&["."]), 1));
}

/// A lattice of a size and density of all kinds, with empty stretches.
fn lattices() -> impl Strategy<Value = Lattice> {
    let parts = (
        1u64..300,
        1u64..60,
        0.0f64..=1.0,
        any::<u64>(),
        any::<bool>(),
    );
    parts.prop_map(|(width, height, density, seed, sparse)| {
        let density = if sparse { density / 50.0 } else { density };
        soup(size(width, height), density, seed, 0)
    })
}

fn notes() -> impl Strategy<Value = Notes> {
    let text = "[a-zA-Z0-9,.]([ -~äλ中]{0,30}[a-zA-Z0-9.!$])?";
    let comments = proptest::collection::vec(text, 0..4);
    (
        proptest::option::of(text),
        proptest::option::of(text),
        comments,
    )
        .prop_map(|(name, author, comments)| Notes {
            name,
            author,
            // A colon would make a title of it.
            comments: comments
                .into_iter()
                .map(|line| line.replace(':', ";"))
                .collect(),
        })
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(
        lattice in lattices(), torus: bool, birth in 0u16..512, survival in 0u16..512, notes in notes(),
    ) {
        let rule = Rule::from_masks(birth, survival);
        for format in Format::ALL {
            let text = written(format, &lattice, rule, torus, &notes);
            let pattern = Pattern::from_text("written", text).unwrap();
            prop_assert_eq!(pattern.format(), format);
            prop_assert_eq!(pattern.notes(), notes.clone(), "{}", format);
            let keeps_rule = !matches!(format, Format::Plaintext | Format::Life106);
            prop_assert_eq!(pattern.rule(), keeps_rule.then_some(rule));
            let keeps_torus = torus && matches!(format, Format::Rle | Format::Macrocell);
            prop_assert_eq!(pattern.torus(), keeps_torus.then_some(lattice.size()));
            if matches!(format, Format::Rle | Format::Plaintext) {
                prop_assert_eq!(alone(&pattern), Some(lattice.clone()), "{}", format);
            } else {
                prop_assert_eq!(alone(&pattern), trimmed(&lattice), "{}", format);
            }
        }
    }

    #[test]
    fn every_format_leads_to_every_other(lattice in lattices(), from in 0..5usize, to in 0..5usize) {
        let (from, to) = (Format::ALL[from], Format::ALL[to]);
        let first = Pattern::from_text("first", plainly(from, &lattice)).unwrap();
        if let Some(read) = alone(&first) {
            let second = Pattern::from_text("second", plainly(to, &read)).unwrap();
            prop_assert_eq!(alone(&second).as_ref().and_then(trimmed), trimmed(&lattice), "{} {}", from, to);
        }
    }
}

/// Reads and draws what can be read; whatever happens, it must not panic.
fn read_and_draw(name: &str, text: &[u8]) {
    match Pattern::from_text(name, text) {
        Err(PatternError::Text { error, .. }) => {
            assert!(error.line >= 1 && error.column >= 1 && !error.to_string().is_empty());
        }
        Err(error) => panic!("{error}"),
        Ok(pattern) => {
            pattern.notes();
            let mut small = Lattice::new(size(37, 40));
            if pattern.draw_into(&mut small, 36, 4).is_ok() {
                let bits_beyond = Lattice::from_words(small.size(), small.words().to_vec());
                assert_eq!(small, bits_beyond);
            }
            let (picture, _) = pattern.thumbnail(size(16, 16));
            let mut alive = 0;
            pattern.each_run(|run| {
                assert!(run.length > 0 && run.y < pattern.height());
                assert!(run.x + run.length <= pattern.width());
                alive += u64::from(run.length);
            });
            assert!(picture.population() <= alive);
            assert_eq!(picture.population() == 0, alive == 0);
        }
    }
}

const NAMES: [&str; 5] = ["a.rle", "a.cells", "a.lif", "a.mc", "a"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        for head in ["", "!\n", "#Life 1.05\n", "#Life 1.05\n#P ", "#Life 1.06\n", "[M2]\n", "[M2]\n#R "] {
            read_and_draw("a", &[head.as_bytes(), &bytes[..]].concat());
        }
        NAMES.iter().for_each(|name| read_and_draw(name, &bytes));
    }

    #[test]
    fn no_likely_text_makes_it_panic(
        plain in "(([.O*]{0,9}|!.{0,5})\r?\n){0,12}",
        blocks in "((#P -?[0-9]{1,3} -?[0-9]{1,12}|#R [0-9]{0,3}/[0-9]|[.*]{0,9})\n){0,12}",
        cells in "((-?[0-9]{1,9}[ \t]-?[0-9]{1,3}|#D.{0,5})\n){0,12}",
        squares in "([.*]{0,8}[$]){0,8}\n",
        nodes in proptest::collection::vec((4u8..12, 0u8..9, 0u8..9, 0u8..9, 0u8..9), 0..12),
    ) {
        read_and_draw("a.cells", plain.as_bytes());
        read_and_draw("a", format!("#Life 1.05\n{blocks}").as_bytes());
        read_and_draw("a", format!("#Life 1.06\n{cells}").as_bytes());
        let nodes: String = nodes.iter().map(|(l, a, b, c, d)| format!("{l} {a} {b} {c} {d}\n")).collect();
        read_and_draw("a", format!("[M2]\n{squares}{squares}{nodes}").as_bytes());
    }

    #[test]
    fn no_sound_tree_makes_it_panic(
        leaf in "[*]([.*]{0,7}[$]){1,7}", quarters in proptest::collection::vec(0u8..16, 1..7),
    ) {
        // Each node has the one before it in those of its quarters that the bits say.
        let mut text = format!("[M2]\n{leaf}\n");
        for (number, bits) in quarters.iter().enumerate() {
            let quarter = |i: u8| if bits >> i & 1 == 1 { number + 1 } else { 0 };
            let [a, b, c, d] = [0, 1, 2, 3].map(quarter);
            text += &format!("{} {a} {b} {c} {d}\n", number + 4);
        }
        let pattern = Pattern::from_text("tree", text.as_bytes()).unwrap();
        let copies = quarters.iter().fold(1u64, |copies, bits| copies * u64::from(bits.count_ones()));
        let mut alive = 0;
        pattern.each_run(|run| alive += u64::from(run.length));
        prop_assert_eq!(alive, copies * leaf.bytes().filter(|&b| b == b'*').count() as u64);
        read_and_draw("tree", text.as_bytes());
        if let Some(lattice) = alone(&pattern) {
            let tight = trimmed(&lattice);
            prop_assert_eq!(Some(&lattice), tight.as_ref(), "bounds are tight");
            prop_assert_eq!(lattice.population(), alive);
        }
    }

    #[test]
    fn no_mutation_makes_it_panic(
        seed: u64, format in 0..5usize,
        cuts in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4u8), 1..6),
    ) {
        let lattice = soup(size(40, 12), 0.2, seed, 0);
        let mut text = plainly(Format::ALL[format], &lattice).into_bytes();
        for (at, byte, how) in cuts {
            if text.is_empty() {
                break;
            }
            let at = at.index(text.len());
            match how {
                0 => text[at] = byte,
                1 => text.insert(at, byte),
                2 => drop(text.remove(at)),
                _ => text.truncate(at),
            }
        }
        NAMES.iter().for_each(|name| read_and_draw(name, &text));
    }
}
