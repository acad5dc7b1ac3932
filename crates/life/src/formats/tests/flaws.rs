//! Invalid texts: each error states its position, the reason and the remedy.

use crate::{Format, Pattern, PatternError};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

#[test]
fn flaws_have_a_place_and_a_remedy() {
    let wide = ".".repeat(1 << 24);
    let square = |line: &str| format!("[M2]\n#R B3/S23\n*$\n{line}\n");
    for (name, text, line, column, words) in [
        ("a.cells", String::new(), 1, 1, "the text is empty"),
        ("a.cells", "\n \n".into(), 3, 1, "the text is empty"),
        (
            "a.cells",
            "!Name: x\n.O\nOZ.\n".into(),
            3,
            2,
            "unknown character 'Z'",
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
            "#Life 1.05\n3.4*".into(),
            2,
            1,
            "unknown character '3'",
        ),
        (
            "a.cells",
            "!\n23.O5k10h@\n23.O5q".into(),
            3,
            6,
            "unknown character 'q'",
        ),
        (
            "a.cells",
            "!\n.O\n2O99999999999999999999999999O".into(),
            3,
            1,
            "a smaller pattern is needed",
        ),
        (
            "a.lif",
            "#Life 1.05\n#P 1\n*".into(),
            2,
            5,
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
        ("a.mc", square("1 0 0 0 256"), 4, 9, "from 0 to 255"),
        ("a.mc", square("1 0 -1 0 1"), 4, 5, "from 0 to 255"),
        ("a.mc", square("2 0 1 0 0"), 4, 5, "must be of level 1"),
        (
            "a.mc",
            square("63 0 0 0 0"),
            4,
            1,
            "level must be from 1 to 62",
        ),
        (
            "a.mc",
            square("0 0 0 0 0"),
            4,
            1,
            "level must be from 1 to 62",
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

fn packed(text: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(text).unwrap();
    packed.finish().unwrap()
}

#[test]
fn what_is_packed_is_unpacked_and_its_flaws_are_those_of_its_text() {
    let pattern = Pattern::from_text("a.lif.gz", packed(b"#D a\n**\n.*")).unwrap();
    assert_eq!(pattern.format(), Format::Life105);
    assert_eq!((pattern.width(), pattern.height()), (2, 2));
    assert_eq!(pattern.notes().comments, ["a"]);
    // Only the name tells what this should be.
    let error = Pattern::from_text("a.mc.gz", packed(b"4 0 0 0 0")).unwrap_err();
    assert!(
        error.to_string().contains("must start with [M2]"),
        "{error}"
    );
    let error = Pattern::from_text("a.rle.gz", packed(b"#N a\nx = 1, y = 1\noz!")).unwrap_err();
    let message = error.to_string();
    assert!(
        message.contains("a.rle.gz, line 3, column 2: unknown character 'z'"),
        "{message}"
    );
}

#[test]
fn what_cannot_be_unpacked_or_is_no_pattern_is_named() {
    let cut = packed(b"x = 1, y = 1\no!");
    let bomb = packed(&vec![b' '; (64 << 20) + 1]);
    for (name, text, words) in [
        ("a.mc.gz", &b"\x1f\x8b\x08\0"[..], "cannot be unpacked: "),
        ("a.rle.gz", &cut[..cut.len() - 4], "cannot be unpacked: "),
        ("a.rle.gz", &bomb, "more than 64 MiB long when unpacked"),
        ("a.zip", b"PK\x03\x04\x14\0", "this is a ZIP archive"),
        (
            "a.mcl",
            b"#MCell 4.20\n#GAME Generations\n",
            "the format of MCell, of the kind 'Generations'",
        ),
        (
            "a.lua",
            b"-- a script\nlocal g = golly()\n",
            "this is a script",
        ),
    ] {
        let message = Pattern::from_text(name, text).unwrap_err().to_string();
        let place = format!("{name}, line 1, column 1: ");
        assert!(message.starts_with(&place), "{message}");
        assert!(message.contains(words), "{message}");
    }
}

#[test]
fn a_block_without_a_place_lies_at_the_origin() {
    let pattern = Pattern::from_text("a.lif", "#Life 1.05\n#P 3 2\n*\n#P\n*").unwrap();
    assert_eq!((pattern.width(), pattern.height()), (4, 3));
}
