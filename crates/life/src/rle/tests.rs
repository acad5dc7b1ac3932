//! What the reader takes and refuses, and that it takes back what the writer wrote.

use std::io;

use super::*;
use crate::testing::{drawn, rule, size};
use crate::{Head, Notes, Sheet, soup};
use proptest::prelude::*;

fn parse(text: &str) -> Rle<'_> {
    Rle::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{error:?}"))
}

/// Checks the line and column of what is wrong with a text, and how the sentence about it begins.
fn check(text: &str, line: u64, column: u64, why: &str) {
    let error = Rle::parse(text.as_bytes()).unwrap_err();
    assert_eq!((error.line, error.column), (line, column), "{text:.80?}");
    assert!(error.message.starts_with(why), "{error}, not {why}");
}

fn write(lattice: &Lattice, out: &mut dyn io::Write) -> io::Result<()> {
    let sheet = Sheet {
        lattice,
        rule: Rule::LIFE,
        torus: true,
        generation: 0,
        notes: &Notes::default(),
    };
    write_sheet(sheet, out)
}

fn written(lattice: &Lattice) -> String {
    let mut text = Vec::new();
    write(lattice, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

/// The pattern on the smallest lattice that fits it.
fn tight(text: &str) -> Lattice {
    let rle = parse(text);
    let mut lattice = Lattice::new(size(rle.width().into(), rle.height().into()));
    rle.draw_into(&mut lattice, 0, 0);
    lattice
}

#[test]
fn a_body_without_a_header_is_as_large_as_its_cells() {
    let with = tight("x = 3, y = 3, rule = B3/S23\nbo$2bo$3o!");
    for text in [
        "bo$2bo$3o!",
        "#C a glider\n bo$2bo$\n3o! and more",
        "bo$\r\n2bo$3o!\r\n",
    ] {
        assert_eq!(tight(text), with, "{text:?}");
        let pattern = parse(text);
        assert_eq!((pattern.rule(), pattern.torus()), (None, None));
    }
}

#[test]
fn spacing_and_case_do_not_matter() {
    let glider = drawn(&[".O.", "..O", "OOO"]);
    for text in [
        "x=3,y=3\nbo$2bo$3o!",
        "  X  =  3 ,Y=3,RULE=b3/s23  \nb\no\n\n$ 2\tb o$3o !rubbish 9z\0",
        "x = 3 y = 3\r\nbo$2bo$\r\n3o!\r\n",
        "\u{feff}#C\rx = 3, y = 3\rbo$2\r\nbo$3o!",
        "x = 3, y = 3\n#C between\nbo$2\n#C the lines\nbo$3o!",
        "x = 0, y = 0\nbo$2bo$3o!",
    ] {
        assert_eq!(tight(text), glider, "{text:?}");
    }
}

#[test]
fn the_torus_and_the_larger_extents_hold() {
    let rle = parse("x = 2, y = 9, rule = B36/S23 : t100, 80\n5b3o9b$!");
    assert_eq!(rle.rule(), Some(rule("B36/S23")));
    assert_eq!(rle.torus(), Some(size(100, 80)));
    assert_eq!((rle.width(), rle.height()), (8, 9));
    let empty = parse("x = 0, y = 0\n!");
    assert_eq!(
        (empty.width(), empty.height(), empty.runs().count()),
        (0, 0, 0)
    );
}

#[test]
fn a_rule_in_a_comment_is_read_survival_first_as_in_golly() {
    let highlife = Some(rule("B36/S23"));
    for text in [
        "#r 23/36\nx = 3, y = 3\nbo$2bo$3o!",
        "#R 23/36\nx = 3, y = 3\nbo$2bo$3o!",
        "#C a\n#r  B36/S23 \nbo$2bo$3o!",
        "x = 3, y = 3\n#r 23/36\nbo$2bo$3o!",
        "#r 23/3\nx = 3, y = 3, rule = B36/S23\nbo$2bo$3o!",
    ] {
        assert_eq!(parse(text).rule(), highlife, "{text:?}");
    }
    assert_eq!(parse("#r 23/3:T8,9\nbo!").torus(), Some(size(8, 9)));
    // Comments, and places as XLife has them.
    for text in [
        "#R -3 7\nbo!",
        "#R\nbo!",
        "#r\nbo!",
        "#R by Bob\nbo!",
        "#C r 23/36\nbo!",
    ] {
        assert_eq!(parse(text).rule(), None, "{text:?}");
    }
}

#[test]
fn headers_are_read_as_loosely_as_in_golly() {
    let glider = drawn(&[".O.", "..O", "OOO"]);
    for text in [
        "x = , y = \nbo$2bo$3o!",
        "x=,y=,rule=B3/S23\nbo$2bo$3o!",
        "x = -3, y = -1\nbo$2bo$3o!",
        "x = 1000000000, y = 99999999999999999999999\nbo$2bo$3o!",
        "x = 3, y = 3, skip = 20, fps = 5.5\nbo$2bo$3o!",
        "x = 3, y = 3, rule = B3/S23, skip=8\nbo$2bo$3o!",
        "x = 3, y = 3, h=1,v=-2,gen=0\nbo$2bo$3o!",
        "x = 3, y = rule = B3/S23\nbo$2bo$3o!",
    ] {
        assert_eq!(tight(text), glider, "{text:?}");
    }
    let pattern = parse("x = 3, y = 3, skip = 2, fps = 10, gen = 480, rule = B36/S23:T90, 80\nbo!");
    assert_eq!(pattern.rule(), Some(rule("B36/S23")));
    assert_eq!(pattern.torus(), Some(size(90, 80)));
    assert_eq!(pattern.generation(), 480);
    for (torus, sides) in [
        ("T30", Some(size(30, 30))),
        ("t30,20", Some(size(30, 20))),
        ("T0", None),
        ("T0,0", None),
    ] {
        let text = format!("x = 3, y = 3, rule = B3/S23:{torus}\nbo!");
        assert_eq!(parse(&text).torus(), sides, "{torus}");
    }
}

#[test]
fn bodies_are_read_as_loosely_as_in_golly() {
    let glider = drawn(&[".O.", "..O", "OOO"]);
    for (text, is_plain) in [
        ("x = 3, y = 3\nbo$2bo$3o", false),
        ("x = 3, y = 3\nbo$2bo$3o\n12", false),
        ("bo$2bo$3o\n", false),
        ("x = 3, y = 3\n0bo$2b0o0$3o!", true),
        ("x = 3, y = 3\n.A$2.A$3A!", true),
        ("x = 3, y = 3\nbx$2by$xox!", true),
        ("bx$2by$xox!", true),
        ("x = 3, y = 3\n.C$BDE$CAE!", false),
        ("x = 3, y = 3, rule = LifeHistory\n.A$2.A$3A!", false),
        ("x = 3, y = 3\n.pC$pB.yM$3A!", false),
    ] {
        assert_eq!(tight(text), glider, "{text:?}");
        assert_eq!(parse(text).is_plain(), is_plain, "{text:?}");
    }
    assert_eq!(parse("x = 3, y = 3").runs().count(), 0);
}

#[test]
fn rules_of_history_stand_for_those_of_two_states() {
    for (text, meant) in [
        ("LifeHistory", "B3/S23"),
        ("lifehistory", "B3/S23"),
        ("LifeSuper", "B3/S23"),
        ("B36/S23History", "B36/S23"),
    ] {
        let text = format!("x = 3, y = 3, rule = {text}:T40,30\n.C$2.E$3A!");
        assert_eq!(parse(&text).rule(), Some(rule(meant)), "{text}");
        assert_eq!(parse(&text).torus(), Some(size(40, 30)), "{text}");
        assert!(!parse(&text).is_plain());
    }
}

#[test]
fn the_generation_is_read_and_bounded() {
    for (text, generation) in [
        (
            "#CXRLE Pos=0,-1377 Gen=3480106827776\nx = 1, y = 1\no!",
            3_480_106_827_776,
        ),
        ("#CXRLE Gen=12\no!", 12),
        ("#C\n#CXRLE Gen=12 Pos=1,1\nx = 1, y = 1\no!", 12),
        ("#CXRLE Gen=\no!", 0),
        ("#CXRLE Gen=x\no!", 0),
        ("#C Gen=12\no!", 0),
        ("#CXRLE Gen=4611686018427387904\no!", 1 << 62),
    ] {
        assert_eq!(parse(text).generation(), generation, "{text:?}");
        assert!(parse(text).is_plain(), "{text:?}");
    }
    for far in ["4611686018427387905", "99999999999999999999999999999"] {
        let text = format!("#CXRLE Gen={far}\no!");
        assert_eq!(parse(&text).generation(), 0);
    }
}

#[test]
fn drawing_goes_around_the_torus() {
    let rle = parse("x = 4, y = 2\n4o$o!");
    let mut lattice = Lattice::new(size(5, 3));
    rle.draw_into(&mut lattice, 3, 2);
    assert_eq!(lattice, drawn(&["...O.", ".....", "OO.OO"]));
    let mut ring = Lattice::new(size(1, 1));
    parse("x = 9, y = 9\n9000o8000$o!").draw_into(&mut ring, 0, 0);
    assert_eq!(ring.population(), 1);
}

#[test]
fn flaws_have_a_place() {
    for (text, line, column, why) in [
        ("", 1, 1, "the text ends without a header"),
        (
            "#C only\n#C comments",
            2,
            12,
            "the text ends without a header",
        ),
        ("Hello", 1, 1, "this is not an RLE pattern"),
        ("12\n", 1, 1, "this is not an RLE pattern"),
        ("#C\n  3oz!", 2, 3, "this is not an RLE pattern"),
        ("3o$\n  3oz!", 2, 5, "unknown character 'z';"),
        ("x = a, y = 3\no!", 1, 5, "x must be a whole number"),
        ("x = -, y = 3\no!", 1, 5, "x must be a whole number"),
        ("#r 345/3/6\nbo!", 1, 4, "unknown rule '345/3/6'"),
        ("#C\n#R  B2-a/S12\nbo!", 2, 5, "unknown rule 'B2-a/S12'"),
        ("#r Codd\nbo!", 1, 4, "unknown rule 'Codd'"),
        ("xylophone", 1, 1, "the header must be x = WIDTH"),
        (
            "x = 3, y = 3, z = 3\no!",
            1,
            15,
            "the header must be x = WIDTH",
        ),
        ("x = 3, x = 3\no!", 1, 8, "the header must be x = WIDTH"),
        ("x = 3\no!", 1, 6, "the header lacks y;"),
        ("y = 3\no!", 1, 1, "this is not an RLE pattern"),
        ("x = 3, y = 3, rule =\no!", 1, 21, "unknown rule ''"),
        (
            "#C é\rx = 3, y = 3\r\n\r\nZ!zzz",
            4,
            1,
            "unknown character 'Z';",
        ),
    ] {
        check(text, line, column, why);
    }
    for (rule, why) in [
        ("B9/S23", "unknown rule 'B9/S23'"),
        ("B3/S23:T100,0", "'T100,0' is no torus"),
        ("B3/S23:T30+7,20", "'T30+7,20' is no torus"),
        ("B3/S23:P9,9", "'P9,9' is no torus"),
        ("B3/S23:K9*,9", "'K9*,9' is no torus"),
        (
            "B3/S23:T99999999,9",
            "the torus 99999999x9 is not a lattice",
        ),
    ] {
        let text = format!("x = 3, y = 3, rule = {rule}\no!");
        check(&text, 1, 22, why);
    }
    let [wide, high] = ["16777216b", "16777216$"].map(|far| far.repeat(999));
    for (body, line, column, why) in [
        ("bo$\nbzo!", 2, 2, "unknown character 'z';"),
        ("yP!", 1, 2, "unknown character 'P';"),
        ("é!", 1, 1, "unknown byte 0xc3;"),
        ("o\u{1b}!", 1, 2, "unknown byte 0x1b;"),
        ("1000000000000o!", 1, 1, "a count is more than 16777216"),
        (
            "bo$\n99999999999999999999999999b!",
            2,
            1,
            "a count is more than 16777216",
        ),
        ("16777216bo!", 1, 10, "live cells lie beyond 16777216 cells"),
        (
            &format!("{wide}o!"),
            1,
            8992,
            "live cells lie beyond 16777216 cells",
        ),
        (
            &format!("{high}o!"),
            1,
            8992,
            "live cells lie beyond 16777216 cells",
        ),
    ] {
        let text = format!("#C\nx = 3, y = 3\n{body}");
        check(&text, line + 2, column, why);
    }
}

#[test]
fn a_rule_without_an_end_is_cut_and_printable() {
    let long = "9".repeat(100_000);
    let text = format!("x = 3, y = 3, rule = \u{1b}[31m{long}\no!");
    let cut = format!("unknown rule '\u{fffd}[31m{}': write", &long[..35]);
    check(&text, 1, 22, &cut);
}

#[test]
fn a_writer_that_fails_is_heard() {
    let mut full = [0u8; 40];
    assert!(write(&soup(size(64, 64), 0.5, 1, 0), &mut &mut full[..]).is_err());
}

/// The text of a lattice by the format's words: run by run, each on the line if it fits there.
fn by_the_format(lattice: &Lattice, rule: Rule) -> String {
    let size = lattice.size();
    let (width, height) = (size.width(), size.height());
    let mut runs: Vec<(u32, char)> = Vec::new();
    let mut more = |count, letter| match runs.last_mut() {
        Some((of, last)) if *last == letter => *of += count,
        _ => runs.push((count, letter)),
    };
    let mut row_ends = 0;
    for y in 0..height {
        let alive = |x: &u32| lattice.get(*x, y);
        let end = (0..width).rev().find(alive).map_or(0, |last| last + 1);
        if end > 0 && row_ends > 0 {
            more(row_ends, '$');
            row_ends = 0;
        }
        (0..end).for_each(|x| more(1, if lattice.get(x, y) { 'o' } else { 'b' }));
        row_ends += 1;
    }
    more(1, '!');
    let mut text = format!("x = {width}, y = {height}, rule = {rule}:T{width},{height}\n");
    let mut line = String::new();
    for (count, letter) in runs {
        let run = match count {
            1 => letter.to_string(),
            _ => format!("{count}{letter}"),
        };
        if line.len() + run.len() > 70 {
            text += &format!("{line}\n");
            line.clear();
        }
        line += &run;
    }
    text + &line + "\n"
}

proptest! {
    #[test]
    fn rows_in_parts_by_any_threads_are_the_same_text(
        width in 1u64..200,
        height in 1u64..60,
        density in prop_oneof![Just(0.0), Just(0.002), Just(0.3), Just(0.97), Just(1.0)],
        seed: u64,
        threads in 0usize..5,
        words_a_thread in 1usize..40,
        rows_a_part in 1usize..70,
    ) {
        let lattice = soup(size(width, height), density, seed, 0);
        let notes = &Notes::default();
        let head = Head {
            size: lattice.size(),
            rule: Rule::LIFE,
            torus: true,
            generation: 0,
            notes,
        };
        let mut text = Vec::new();
        let mut writer = RowWriter::begin(head, &mut text).unwrap();
        let words_a_part = rows_a_part * lattice.size().words_per_row();
        for part in lattice.words().chunks(words_a_part) {
            writer.rows_by(threads, words_a_thread, part).unwrap();
        }
        writer.finish().unwrap();
        let want = by_the_format(&lattice, Rule::LIFE);
        prop_assert_eq!(std::str::from_utf8(&text).unwrap(), &want);
        prop_assert_eq!(written(&lattice), want);
    }
}

#[test]
fn many_words_are_written_by_several_threads() {
    let lattice = soup(size(4096, 2100), 0.1, 3, 0);
    assert!(written(&lattice) == by_the_format(&lattice, Rule::LIFE));
}
