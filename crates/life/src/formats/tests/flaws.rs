//! Invalid texts: what is wrong with them, and where.

use crate::{Format, Pattern};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

/// Checks the line and column of what is wrong with a text in a file of this name, and how the
/// sentence about it begins.
fn check(name: &str, text: impl AsRef<[u8]>, line: u64, column: u64, why: &str) {
    let said = Pattern::from_text(name, text.as_ref()).unwrap_err();
    let wanted = format!("{name}, line {line}, column {column}: {why}");
    assert!(said.starts_with(&wanted), "{said}, not {wanted}");
}

#[test]
fn flaws_of_plaintext_have_a_place() {
    let long = 1 << 24;
    for (text, line, column, why) in [
        ("", 1, 1, "the text is empty;"),
        ("\n \n", 3, 1, "the text is empty;"),
        ("!Name: x\n.O\nOZ.\n", 3, 2, "unknown character 'Z';"),
        (".O\n.O .O\n", 2, 3, "unknown byte 0x20;"),
        ("é", 1, 1, "unknown byte 0xc3;"),
        ("!\n23.O5k10h@\n23.O5q", 3, 6, "unknown character 'q';"),
        ("\t.O\n\t\t.O\n", 2, 2, "unknown byte 0x09;"),
        ("\t.O\n .O\n", 2, 1, "unknown byte 0x20;"),
        ("xs4_33/b3s9", 1, 8, "unknown rule 'b3s9'"),
        (
            "x = 1, y = 1, rule = tlife\no!",
            1,
            22,
            "unknown rule 'tlife'",
        ),
        (
            "!\n.O\n2O99999999999999999999999999O",
            3,
            1,
            "the pattern reaches beyond",
        ),
        (
            &format!("O\n{}O", ".".repeat(long)),
            2,
            long + 1,
            "the pattern reaches beyond",
        ),
        (
            &format!("O{}O", "\n".repeat(long)),
            long + 1,
            1,
            "the pattern reaches beyond",
        ),
    ] {
        check("a.cells", text, line as u64, column as u64, why);
    }
}

#[test]
fn flaws_of_life_have_a_place() {
    for (text, line, column, why) in [
        ("#Life 1.07\n*", 1, 1, "this is neither Life 1.05 nor 1.06;"),
        ("#Life\n*", 1, 1, "this is neither Life 1.05 nor 1.06;"),
        ("1 2\n3 4", 1, 1, "unknown character '1';"),
        ("#Life 1.05\n3.4*", 2, 1, "unknown character '3';"),
        ("#Life 1.05\n#P 1\n*", 2, 5, "a block's place must be"),
        ("#Life 1.05\n#P 1 x\n*", 2, 6, "a block's place must be"),
        ("#Life 1.05\n#P 1 2 3\n*", 2, 8, "a block's place must be"),
        (
            "#Life 1.05\n#P 1 2\n.*.\n.*a",
            4,
            3,
            "unknown character 'a';",
        ),
        ("#Life 1.05\n#R 9/9\n*", 2, 4, "unknown rule '9/9'"),
        (
            "#Life 1.05\n*\n#P 16777216 0\n*",
            4,
            1,
            "live cells lie more than 16777216 cells apart",
        ),
        (
            "#Life 1.05\n*\n#P 0 -16777216\n*",
            4,
            1,
            "live cells lie more than 16777216 cells apart",
        ),
        (
            "#Life 1.05\n*\n#P 99999999999999999999999 0\n*",
            4,
            1,
            "live cells lie more than 16777216 cells apart",
        ),
        ("#Life 1.06\n1 2\n3\n", 3, 2, "a line of Life 1.06 must be"),
        ("#Life 1.06\n1 2 3\n", 2, 5, "a line of Life 1.06 must be"),
        ("#Life 1.06\n1 2.5\n", 2, 3, "a line of Life 1.06 must be"),
        (
            "#Life 1.06\n0 0\n-9999999999999999 0\n",
            3,
            1,
            "live cells lie more than 16777216 cells apart",
        ),
    ] {
        check("a.lif", text, line, column, why);
    }
}

#[test]
fn flaws_of_macrocells_have_a_place() {
    let torus = "[M2]\n#R B3/S23:P9,9\n*$";
    for (text, line, column, why) in [
        ("M2", 1, 1, "the first line of a macrocell must"),
        ("[M1]\n*$", 1, 1, "the first line of a macrocell must"),
        ("[M2]\n#C nothing\n", 3, 1, "the macrocell has no nodes"),
        (
            "[M2]\n#R Generations\n*$",
            2,
            4,
            "unknown rule 'Generations'",
        ),
        (torus, 2, 4, "'P9,9' is no torus"),
    ] {
        check("a.mc", text, line, column, why);
    }
    for (line, column, why) in [
        ("1 0 0 0 256", 9, "a cell's state must be from 0 to 255"),
        ("1 0 -1 0 1", 5, "a cell's state must be from 0 to 255"),
        (
            "2 0 1 0 0",
            5,
            "node 1 is of level 3, but a quarter here must be of level 1;",
        ),
        ("63 0 0 0 0", 1, "a node's level must be from 1 to 62"),
        ("0 0 0 0 0", 1, "a node's level must be from 1 to 62"),
        ("4 0 0 0", 8, "a line must be a square of cells"),
        ("4 0 0 0 x", 9, "a line must be a square of cells"),
        ("4 0 0 0 1 1", 11, "a line must be a square of cells"),
        ("hello", 1, "a line must be a square of cells"),
        ("4 0 0 0 2", 9, "there is no node 2 before this line"),
        ("4 0 -1 0 0", 5, "there is no node -1 before this line"),
        (
            "5 1 0 0 0",
            3,
            "node 1 is of level 3, but a quarter here must be of level 4;",
        ),
        ("...x$", 4, "unknown character 'x';"),
        ("........*$", 9, "a square has more than 8 x 8 cells"),
        ("$$$$$$$$*", 9, "a square has more than 8 x 8 cells"),
        ("$$$$$$$$$", 9, "a square has more than 8 x 8 cells"),
    ] {
        let text = format!("[M2]\n#R B3/S23\n*$\n{line}\n");
        check("a.mc", text, 4, column, why);
    }
    let far = format!("[M2]\n*$\n4 1 0 0 1{}\n", far_apart(5..=26));
    check(
        "a.mc",
        far,
        25,
        1,
        "live cells lie more than 16777216 cells apart",
    );
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
    let text = packed(b"4 0 0 0 0");
    check("a.mc.gz", text, 1, 1, "the first line of a macrocell must");
    let text = packed(b"#N a\nx = 1, y = 1\noz!");
    check("a.rle.gz", text, 3, 2, "unknown character 'z';");
}

#[test]
fn what_cannot_be_unpacked_or_is_no_pattern_is_named() {
    let cut = packed(b"x = 1, y = 1\no!");
    for text in [&b"\x1f\x8b\x08\0"[..], &cut[..cut.len() - 4]] {
        check(
            "a.mc.gz",
            text,
            1,
            1,
            "this is compressed with gzip and cannot be unpacked:",
        );
    }
    let bomb = packed(&vec![b' '; (64 << 20) + 1]);
    check(
        "a.rle.gz",
        bomb,
        1,
        1,
        "this is compressed with gzip and more than 64 MiB long",
    );
    let mcell = "#MCell 4.20\n#GAME Generations\n";
    for (name, text, why) in [
        ("a.zip", "PK\x03\x04\x14\0", "this is a ZIP archive"),
        (
            "a.mcl",
            mcell,
            "this is in the format of MCell, of the kind 'Generations';",
        ),
        (
            "a.lua",
            "-- a script\nlocal g = golly()\n",
            "this is a script, not a pattern",
        ),
    ] {
        check(name, text, 1, 1, why);
    }
}

#[test]
fn a_block_without_a_place_lies_at_the_origin() {
    let pattern = Pattern::from_text("a.lif", "#Life 1.05\n#P 3 2\n*\n#P\n*").unwrap();
    assert_eq!((pattern.width(), pattern.height()), (4, 3));
}
