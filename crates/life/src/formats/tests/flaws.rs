//! Invalid texts: what is wrong with them, and where.

use crate::Fault::{self, *};
use crate::{Format, Pattern, PatternError};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

/// The line and column of what is wrong with a text in a file of this name.
fn flaw(name: &str, text: impl AsRef<[u8]>) -> (u64, u64, Fault) {
    match Pattern::from_text(name, text.as_ref()) {
        Err(PatternError::Text { file, error }) if file == name => {
            (error.line, error.column, error.fault)
        }
        other => panic!("{name}: {other:?}"),
    }
}

fn unknown_rule(text: &str) -> Fault {
    Rule(text.parse::<crate::Rule>().unwrap_err())
}

#[test]
fn flaws_of_plaintext_have_a_place() {
    let long = 1 << 24;
    for (text, line, column, fault) in [
        ("", 1, 1, NoRows),
        ("\n \n", 3, 1, NoRows),
        ("!Name: x\n.O\nOZ.\n", 3, 2, PlaintextByte(b'Z')),
        (".O\n.O .O\n", 2, 3, PlaintextByte(b' ')),
        ("é", 1, 1, PlaintextByte(0xc3)),
        ("!\n23.O5k10h@\n23.O5q", 3, 6, PlaintextByte(b'q')),
        ("\t.O\n\t\t.O\n", 2, 2, PlaintextByte(b'\t')),
        ("\t.O\n .O\n", 2, 1, PlaintextByte(b' ')),
        ("xs4_33/b3s9", 1, 8, unknown_rule("b3s9")),
        (
            "x = 1, y = 1, rule = tlife\no!",
            1,
            22,
            unknown_rule("tlife"),
        ),
        ("!\n.O\n2O99999999999999999999999999O", 3, 1, LongSide),
        (&format!("O\n{}O", ".".repeat(long)), 2, long + 1, LongSide),
        (&format!("O{}O", "\n".repeat(long)), long + 1, 1, LongSide),
    ] {
        let shown = &text[..text.len().min(80)];
        let place = (line as u64, column as u64, fault);
        assert_eq!(flaw("a.cells", text), place, "{shown:?}");
    }
}

#[test]
fn flaws_of_life_have_a_place() {
    for (text, line, column, fault) in [
        ("#Life 1.07\n*", 1, 1, LifeVersion),
        ("#Life\n*", 1, 1, LifeVersion),
        ("1 2\n3 4", 1, 1, BlockByte(b'1')),
        ("#Life 1.05\n3.4*", 2, 1, BlockByte(b'3')),
        ("#Life 1.05\n#P 1\n*", 2, 5, Block),
        ("#Life 1.05\n#P 1 x\n*", 2, 6, Block),
        ("#Life 1.05\n#P 1 2 3\n*", 2, 8, Block),
        ("#Life 1.05\n#P 1 2\n.*.\n.*a", 4, 3, BlockByte(b'a')),
        ("#Life 1.05\n#R 9/9\n*", 2, 4, unknown_rule("9/9")),
        ("#Life 1.05\n*\n#P 16777216 0\n*", 4, 1, FarApart),
        ("#Life 1.05\n*\n#P 0 -16777216\n*", 4, 1, FarApart),
        (
            "#Life 1.05\n*\n#P 99999999999999999999999 0\n*",
            4,
            1,
            FarApart,
        ),
        ("#Life 1.06\n1 2\n3\n", 3, 2, Cell),
        ("#Life 1.06\n1 2 3\n", 2, 5, Cell),
        ("#Life 1.06\n1 2.5\n", 2, 3, Cell),
        ("#Life 1.06\n0 0\n-9999999999999999 0\n", 3, 1, FarApart),
    ] {
        assert_eq!(flaw("a.lif", text), (line, column, fault), "{text:?}");
    }
}

#[test]
fn flaws_of_macrocells_have_a_place() {
    let torus = "[M2]\n#R B3/S23:P9,9\n*$";
    for (text, line, column, fault) in [
        ("M2", 1, 1, MacrocellVersion),
        ("[M1]\n*$", 1, 1, MacrocellVersion),
        ("[M2]\n#C nothing\n", 3, 1, NoNodes),
        (
            "[M2]\n#R Generations\n*$",
            2,
            4,
            unknown_rule("Generations"),
        ),
        (torus, 2, 4, Topology("P9,9".into())),
    ] {
        assert_eq!(flaw("a.mc", text), (line, column, fault), "{text:?}");
    }
    let level = |node, found, wanted| QuarterLevel {
        node,
        found,
        wanted,
    };
    for (line, column, fault) in [
        ("1 0 0 0 256", 9, State),
        ("1 0 -1 0 1", 5, State),
        ("2 0 1 0 0", 5, level(1, 3, 1)),
        ("63 0 0 0 0", 1, Level),
        ("0 0 0 0 0", 1, Level),
        ("4 0 0 0", 8, Node),
        ("4 0 0 0 x", 9, Node),
        ("4 0 0 0 1 1", 11, Node),
        ("hello", 1, Node),
        ("4 0 0 0 2", 9, Quarter(2)),
        ("4 0 -1 0 0", 5, Quarter(-1)),
        ("5 1 0 0 0", 3, level(1, 3, 4)),
        ("...x$", 4, SquareByte(b'x')),
        ("........*$", 9, Square),
        ("$$$$$$$$*", 9, Square),
        ("$$$$$$$$$", 9, Square),
    ] {
        let text = format!("[M2]\n#R B3/S23\n*$\n{line}\n");
        assert_eq!(flaw("a.mc", text), (4, column, fault), "{line:?}");
    }
    let far = format!("[M2]\n*$\n4 1 0 0 1{}\n", far_apart(5..=26));
    assert_eq!(flaw("a.mc", far), (25, 1, FarApart));
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
    let flaws = flaw("a.mc.gz", packed(b"4 0 0 0 0"));
    assert_eq!(flaws, (1, 1, MacrocellVersion));
    let flaws = flaw("a.rle.gz", packed(b"#N a\nx = 1, y = 1\noz!"));
    assert_eq!(flaws, (3, 2, RleByte(b'z')));
}

#[test]
fn what_cannot_be_unpacked_or_is_no_pattern_is_named() {
    let cut = packed(b"x = 1, y = 1\no!");
    for text in [&b"\x1f\x8b\x08\0"[..], &cut[..cut.len() - 4]] {
        assert!(matches!(flaw("a.mc.gz", text), (1, 1, Gzip(_))));
    }
    let bomb = packed(&vec![b' '; (64 << 20) + 1]);
    assert_eq!(flaw("a.rle.gz", bomb), (1, 1, LongGzip(64 << 20)));
    let mcell = "#MCell 4.20\n#GAME Generations\n";
    for (name, text, fault) in [
        ("a.zip", "PK\x03\x04\x14\0", Archive),
        ("a.mcl", mcell, MCell("Generations".into())),
        ("a.lua", "-- a script\nlocal g = golly()\n", Script),
    ] {
        assert_eq!(flaw(name, text), (1, 1, fault));
    }
}

#[test]
fn a_block_without_a_place_lies_at_the_origin() {
    let pattern = Pattern::from_text("a.lif", "#Life 1.05\n#P 3 2\n*\n#P\n*").unwrap();
    assert_eq!((pattern.width(), pattern.height()), (4, 3));
}
