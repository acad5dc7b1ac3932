//! What is read of texts in every format, what is refused, and that what is written is read back.

use std::collections::HashSet;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;

use crate::rle::{RowWriter, write};
use crate::testing::{drawn, live_cells, pattern, rule, size};
use crate::{Format, Head, Lattice, MAX_GENERATION, Notes, Pattern, Rule, soup};

/// Names of files; the content counts more.
const ANY: &[&str] = &["a.rle", "a.cells", "a.lif", "a.mc", "a"];

/// The rows of a lattice.
fn rows(lattice: &Lattice) -> String {
    let cell = |x, y| if lattice.get(x, y) { 'O' } else { '.' };
    let row = |y| (0..lattice.size().width).map(|x| cell(x, y)).collect();
    let rows: Vec<String> = (0..lattice.size().height).map(row).collect();
    rows.join(" ")
}

/// The columns and rows of the live cells.
fn places(lattice: &Lattice) -> String {
    let places = live_cells(lattice).into_iter();
    let places: Vec<_> = places.map(|(x, y)| format!("{x},{y}")).collect();
    places.join(" ")
}

/// What is read of a text in a file of this name: its format, columns and rows, its rule, torus and
/// generation if it says them, what is remarked on, and the rows with live cells; or what is wrong.
fn read(name: &str, text: &[u8]) -> String {
    let it = match Pattern::from_text(name, text) {
        Ok(it) => it,
        Err(why) => return why.strip_prefix(&format!("{name}, ")).unwrap().into(),
    };
    let mut said = format!("{} {}x{}", it.format, it.width(), it.height());
    said.extend(it.rule().map(|rule| format!(" {rule}")));
    said.extend(it.torus().map(|torus| format!(":T{torus}")));
    if it.generation() > 0 {
        said += &format!(" @{}", it.generation());
    }
    for remark in it.remarks() {
        let remark = remark.strip_prefix(&format!("{name} ")).unwrap();
        said += &format!(", {}", remark.split(';').next().unwrap());
    }
    said + " | " + &it.live_part().unwrap().as_ref().map_or(String::new(), rows)
}

#[test]
fn texts_are_read_as_people_and_other_programs_write_them() {
    const RLE: &[&str] = &["a.rle", "a"];
    for (names, said, texts) in [
        (
            ANY,
            "RLE 3x3 | .O. ..O OOO",
            &[
                "x=3,y=3\nbo$2bo$3o!",
                "x = 3 y = 3\r\nbo$2bo$\r\n3o!\r\n",
                "\u{feff}#C\rx = 3, y = 3\rbo$2\r\nbo$3o!",
                "x = 3, y = 3\n#C between\nbo$2\n#C the lines\nbo$3o!",
                "x = 0, y = 0\nbo$2bo$3o!",
                "x = 3, y = 3\nbo$2bo$3o!\r\n\x1a",
                // As Golly and LifeBC have headers, and what others leave out or make too large.
                "x = , y = \nbo$2bo$3o!",
                "x = -3, y = -1\nbo$2bo$3o!",
                "x = 1000000000, y = 99999999999999999999999\nbo$2bo$3o!",
                "x = 3, y = 3, skip = 20, fps = 5.5\nbo$2bo$3o!",
                "x = 3, y = 3, h=1,v=-2,gen=0\nbo$2bo$3o!",
                // Bodies of two states, in other letters and with needless counts.
                "x = 3, y = 3\n0bo$2b0o0$3o!",
                "x = 3, y = 3\n.A$2.A$3A!",
                "x = 3, y = 3\nbx$2by$xox!",
                "\n[CODE]\nx = 3, y = 3\nbo$2bo$3o!\n[/CODE] a glider",
                // Comments that are no rule and no generation.
                "#R -3 7\nx = 3, y = 3\nbo$2bo$3o!",
                "#R\n#r\n#R by Bob\n#C r 23/36\nx = 3, y = 3\nbo$2bo$3o!",
                "#CXRLE Gen=\n#CXRLE Gen=x\n#C Gen=12\nx = 3, y = 3\nbo$2bo$3o!",
            ][..],
        ),
        (
            RLE,
            "RLE 3x3 | .O. ..O OOO",
            &[
                "bo$2bo$3o!",
                "#C a glider\n bo$2bo$\n3o! and more",
                "bo$\r\n2bo$3o!\r\n",
                "bx$2by$xox!",
                "```bo$2bo$3o!```",
            ],
        ),
        (
            ANY,
            "RLE 3x3 B3/S23 | .O. ..O OOO",
            &[
                "#N Glider\nx = 3, y = 3, rule = B3/S23\nbob$2bo$3o!",
                "  X  =  3 ,Y=3,RULE=b3/s23  \nb\no\n\n$ 2\tb o$3o !rubbish 9z\0",
                "x=,y=,rule=B3/S23\nbo$2bo$3o!",
                "x = 3, y = 3, rule = B3/S23, skip=8\nbo$2bo$3o!",
                "x = 3, y = rule = B3/S23\nbo$2bo$3o!",
                "x = 3, y = 3, rule = 23/3/2\nbo$2bo$3o!",
                "x = 3, y = 3, rule = B3/S23:T0\nbo$2bo$3o!",
                "x = 3, y = 3, rule = B3/S23:T0,0\nbo$2bo$3o!",
                "[rle]x = 3, y = 3, rule = B3/S23\nbo$2bo$3o![/rle]\n",
                "\u{feff}```\nx = 3, y = 3, rule = B3/S23\nbo$2bo$3o!\n```\n",
                "```rle\r\nx = 3, y = 3, rule = B3/S23\r\nbo$2bo$3o!\r\n``` a",
            ],
        ),
        (
            RLE,
            "RLE 3x3 B36/S23 | .O. ..O OOO",
            &[
                "#r 23/36\nx = 3, y = 3\nbo$2bo$3o!",
                "#R 23/36\nx = 3, y = 3\nbo$2bo$3o!",
                "#C a\n#r  B36/S23 \nbo$2bo$3o!",
                "x = 3, y = 3\n#r 23/36\nbo$2bo$3o!",
                "#r 23/3\nx = 3, y = 3, rule = B36/S23\nbo$2bo$3o!",
            ],
        ),
        (
            RLE,
            "RLE 3x3, has no '!' at its end | .O. ..O OOO",
            &[
                "x = 3, y = 3\nbo$2bo$3o",
                "x = 3, y = 3\nbo$2bo$3o\n12",
                "bo$2bo$3o\n",
                "x = 3, y = 3\nbo$2bo$3o\x1a",
            ],
        ),
        (
            ANY,
            "RLE 3x3, has cells of several states | .O. ..O OOO",
            &["x = 3, y = 3\n.C$BDE$CAE!", "x = 3, y = 3\n.pC$pB.yM$3A!"],
        ),
        (
            ANY,
            "RLE 3x3 B3/S23, has cells of several states | .O. ..O OOO",
            &[
                "x = 3, y = 3, rule = LifeHistory\n.A$2.A$3A!",
                "x = 3, y = 3, rule = lifehistory\n.C$2.E$3A!",
                "x = 3, y = 3, rule = LifeSuper\n.C$2.E$3A!",
            ],
        ),
        (
            ANY,
            "RLE 2x1 B3/S23:T30x30 | O",
            &[
                "x = 2, y = 1, rule = B3/S23:t30\nbo!",
                "#r 23/3:T30,30\nx = 2, y = 1\nbo!",
            ],
        ),
        (
            RLE,
            "RLE 1x1 @12 | O",
            &[
                "#CXRLE Gen=12\no!",
                "#C\n#CXRLE Gen=12 Pos=1,1\nx = 1, y = 1\no!",
            ],
        ),
        (
            ANY,
            "RLE 1x1, is of a generation beyond 4611686018427387904 | O",
            &[
                "#CXRLE Gen=4611686018427387905\nx = 1, y = 1\no!",
                "#CXRLE Gen=99999999999999999999999999999\nx = 1, y = 1\no!",
            ],
        ),
        // In lower case only, rows could also be RLE.
        (RLE, "RLE 2x1, has no '!' at its end | OO", &["oo", "2o"]),
        (
            ANY,
            "plaintext 3x3 | .O. ..O OOO",
            &[
                "!Name: Glider\n!\n.O.\n..O\nOOO\n",
                ".*\r\n..*\r\n***\r\n\r\n",
                "\u{feff}!\n\n.O\n..O\n!between\nOOO",
                "!\n.X.\n..x\nX*O\n",
                ".*.\n..*\n***\n\x1a",
                "!dblife\n.O\n2.O\n3O\n",
                "[code].O.\n..O\nOOO\n[/code].OO",
            ],
        ),
        (
            &["a.cells"],
            "plaintext 3x3 | .OO O.. .O.",
            &[
                ".oo\no\n.o",
                "\t.oo\n\to\n\t.o",
                "  ! a\n  .oo\n  o\n  .o\n",
            ],
        ),
        (
            ANY,
            "plaintext 4x3 | .OO. O..O .OO.",
            &["\t.**.\n\t*..*\n\t.**.\n\t\t\t", ".OO.\nO..O\n.OO."],
        ),
        (
            ANY,
            "Life 1.05 3x3 | .O. ..O OOO",
            &[
                "#P -1000000000 1000000000\n.......*\n........*\n......***",
                "#LIFE 1.05\n.*\n..*\n#p 1 2\n**\n#p 0 2\n**",
                "#Life 1.05\n#P 4 4\n.X\n..x\nooo\n",
                "#Life 1.05\n#P 1 0\n*\n#P\n\n..*\n***",
            ],
        ),
        (
            ANY,
            "Life 1.05 3x3 B3/S23 | .O. ..O OOO",
            &[
                "#Life 1.05\n#D Name: Glider\n#N\n#P -1 -1\n.*.\n..*\n***\n",
                "#Life 1.05\r\n#R 23/3\r\n#P 7 -9\r\n.*\r\n#P 7 -8\r\n..*\r\n***\r\n",
            ],
        ),
        (
            ANY,
            "Life 1.06 3x3 | .O. ..O OOO",
            &[
                "#Life 1.06\n0 -1\n1 0\n-1 1\n0 1\n1 1\n",
                "#Life 1.06\r\n#C a comment\r\n  101   99\r\n+102 100\r\n100 101\r\n\r\n101\t101\r\n102 101",
                "#Life 1.06\n1 0\n2 1\n0 2\n1 2\n2 2\n\x1a\0\0",
            ],
        ),
        // apgcodes: a strip of ten rows, and every letter for dead columns.
        (
            ANY,
            "Life 1.05 3x3 | OOO ..O .O.",
            &["xq4_153", " xq4_153\n", "[code]xq4_153[/code]"],
        ),
        (
            ANY,
            "Life 1.05 2x2 B36/S23 | OO OO",
            &["xs4_33/b36s23", "```xs4_33/b36s23```"],
        ),
    ] {
        for (name, text) in names
            .iter()
            .flat_map(|name| texts.iter().map(move |it| (name, it)))
        {
            assert_eq!(read(name, text.as_bytes()), said, "{text:?} in {name}");
        }
    }
    for row in [
        "x = 3, y = 3, rule = B36/S23History:T40,30\n.C$2.E$3A! => RLE 3x3 B36/S23:T40x30, has cells of several states | .O. ..O OOO",
        "x = 2, y = 9, rule = B36/S23 : t100, 80\n5b3o9b$! => RLE 8x9 B36/S23:T100x80 | OOO",
        "x = 2, y = 1, skip = 2, fps = 10, gen = 480, rule = B36/S23:T90, 80\nbo! => RLE 2x1 B36/S23:T90x80 @480 | O",
        "x = 1, y = 1, rule = S3\no! => RLE 1x1 B/S3 | O",
        "x = 0, y = 0\n! => RLE 0x0 | ",
        "x = 3, y = 4 => RLE 3x4, has no '!' at its end | ",
        "#CXRLE Pos=0,-1377 Gen=4611686018427387904\nx = 1, y = 1\no! => RLE 1x1 @4611686018427387904 | O",
        "x = 16777216, y = 16777216\nbo$2bo$3o! => RLE 16777216x16777216 | .O. ..O OOO",
        "```OO\nOO``` => plaintext 2x2 | OO OO",
        // Rows of counts, and a command that moves dblife's cursor.
        "!dblife\n5k10h@\n1.O3.\n2.0O\n3O\n => plaintext 5x4 | .O. ..O OOO",
        "! \"main\" (cells 5)\n57k86h@!\n5.O\n5..O\n3..OOO\n5 => plaintext 7x5 | .O. ..O OOO",
        "!name\n.O15.O2.\n => plaintext 20x1 | O...............O",
        "#Life 1.05\n#R 23/36\n#P 0 0\n* => Life 1.05 1x1 B36/S23 | O",
        "[M2] (golly 2.0)\n#R B3/S23\n.*$..*$***$\n4 0 0 0 1 => macrocell 3x3 B3/S23 | .O. ..O OOO",
        "[M2]\n#G 77\n#O -100 400\n$$$$$$.......*$\n$$$$$$$*$\n......**$\n*$\n4 1 2 3 4\n5 0 0 5 0\n => macrocell 3x3 @77 | .O. ..O OOO",
        "[M2]\n#R B36/S23:T100,80\n*$\n4 1 0 0 0 => macrocell 1x1 B36/S23:T100x80 | O",
        // A square in two places.
        "[M2]\n*$\n4 1 0 0 1 => macrocell 9x9 | O........ ......... ......... ......... ......... ......... ......... ......... ........O",
        "[M2] (golly 3.3)\n#R LifeHistory:T16,16\n1 2 1 0 4\n1 2 4 2 4\n1 3 5 4 2\n2 1 2 3 0\n => macrocell 2x3 B3/S23:T16x16, has cells of several states | .O .. OO",
        "xq4_153/b3s23\n => Life 1.05 3x3 B3/S23 | OOO ..O .O.",
        "xp2_7 => Life 1.05 1x3 | O O O",
        "xs9_1w1x1y01y11 => Life 1.05 19x1 | O..O...O....O.....O",
        "xs2_1zg => Life 1.05 1x10 | O . . . . . . . . O",
    ] {
        let (text, said) = row.split_once(" => ").unwrap();
        for name in ANY {
            assert_eq!(read(name, text.as_bytes()), said, "{text:?} in {name}");
        }
    }
}

#[test]
fn what_is_wrong_with_a_text_has_a_place() {
    let [long, high] =
        [("\n", "."), ("", "\n")].map(|(start, it)| format!("O{start}{}O", it.repeat(1 << 24)));
    let [far_right, far_below] =
        ["16777216b", "16777216$"].map(|far| format!("x = 3, y = 3\n{}o!", far.repeat(999)));
    let endless = format!("x = 3, y = 3, rule = \u{1b}[31m{}\no!", "9".repeat(100_000));
    let cut = format!(
        "line 1, column 22: unknown rule '\u{fffd}[31m{}': write",
        "9".repeat(35)
    );
    // Nodes with the one before in two opposite corners.
    let chain = (5..=26).map(|level| format!("\n{level} {0} 0 0 {0}", level - 3));
    let chain = format!("[M2]\n*$\n4 1 0 0 1{}\n", chain.collect::<String>());
    let nodes = "[M2]\n#R B3/S23\n*$\n";
    for (name, flaws) in [
        (
            "a.rle",
            &[
                " => line 1, column 1: the text ends without a header",
                "#C only\n#C comments => line 2, column 12: the text ends without a header",
                "Hello => line 1, column 1: this is not an RLE pattern",
                "12\n => line 1, column 1: this is not an RLE pattern",
                "#C\n  3oz! => line 2, column 3: this is not an RLE pattern",
                "3o$\n  3oz! => line 2, column 5: unknown character 'z';",
                "x = a, y = 3\no! => line 1, column 5: x must be a whole number",
                "x = -, y = 3\no! => line 1, column 5: x must be a whole number",
                "#r 345/3/6\nbo! => line 1, column 4: unknown rule '345/3/6'",
                "#C\n#R  B2-a/S12\nbo! => line 2, column 5: unknown rule 'B2-a/S12'",
                "#r Codd\nbo! => line 1, column 4: unknown rule 'Codd'",
                "xylophone => line 1, column 1: the header must be x = WIDTH",
                "x = 3, y = 3, z = 3\no! => line 1, column 15: the header must be x = WIDTH",
                "x = 3, x = 3\no! => line 1, column 8: the header must be x = WIDTH",
                "x = 3\no! => line 1, column 6: the header lacks y;",
                "y = 3\no! => line 1, column 1: this is not an RLE pattern",
                "x = 3, y = 3, rule =\no! => line 1, column 21: unknown rule ''",
                "#C é\rx = 3, y = 3\r\n\r\nZ!zzz => line 4, column 1: unknown character 'Z';",
                "x = 1, y = 1, rule = B9/S23\no! => line 1, column 22: unknown rule 'B9/S23'",
                "x = 1, y = 1, rule = 3:T100,0\no! => line 1, column 22: unknown rule '3'",
                "x = 1, y = 1, rule = 23/3:T100,0\no! => line 1, column 22: 'T100,0' is no torus",
                "x = 1, y = 1, rule = 23/3:T30+7,20\no! => line 1, column 22: 'T30+7,20' is no torus",
                "x = 1, y = 1, rule = 23/3:P9,9\no! => line 1, column 22: 'P9,9' is no torus",
                "x = 1, y = 1, rule = 23/3:K9*,9\no! => line 1, column 22: 'K9*,9' is no torus",
                "x = 1, y = 1, rule = 23/3:T99999999,9\no! => line 1, column 22: the torus 99999999x9 is not a lattice",
                "#C\nx = 3, y = 3\nbo$\nbzo! => line 4, column 2: unknown character 'z';",
                "x = 3, y = 3\nyP! => line 2, column 2: unknown character 'P';",
                "x = 3, y = 3\né! => line 2, column 1: unknown byte 0xc3;",
                "x = 3, y = 3\no\u{1b}! => line 2, column 2: unknown byte 0x1b;",
                "x = 3, y = 3\n1000000000000o! => line 2, column 1: a count is more than 16777216",
                "x = 3, y = 3\nbo$\n99999999999999999999999999b! => line 3, column 1: a count is more than 16777216",
                "x = 3, y = 3\n16777216bo! => line 2, column 10: live cells lie beyond 16777216 cells",
                &format!(
                    "{far_right} => line 2, column 8992: live cells lie beyond 16777216 cells"
                ),
                &format!(
                    "{far_below} => line 2, column 8992: live cells lie beyond 16777216 cells"
                ),
                &format!("{endless} => {cut}"),
                "x = 1, y = 1\n3o\x1ab! => line 2, column 3: unknown byte 0x1a;",
                "xs_33 => line 1, column 1: the header must be x = WIDTH",
                "xs4_1y => line 1, column 1: the header must be x = WIDTH",
            ][..],
        ),
        (
            "a.cells",
            &[
                " => line 1, column 1: the text is empty;",
                "\n \n => line 3, column 1: the text is empty;",
                "!Name: x\n.O\nOZ.\n => line 3, column 2: unknown character 'Z';",
                ".O\n.O .O\n => line 2, column 3: unknown byte 0x20;",
                "é => line 1, column 1: unknown byte 0xc3;",
                "!\n23.O5k10h@\n23.O5q => line 3, column 6: unknown character 'q';",
                "\t.O\n\t\t.O\n => line 2, column 2: unknown byte 0x09;",
                "\t.O\n .O\n => line 2, column 1: unknown byte 0x20;",
                "xs4_33/b3s9 => line 1, column 8: unknown rule 'b3s9'",
                "x = 1, y = 1, rule = tlife\no! => line 1, column 22: unknown rule 'tlife'",
                "!\n.O\n2O99999999999999999999999999O => line 3, column 1: the pattern reaches beyond",
                &format!("{long} => line 2, column 16777217: the pattern reaches beyond"),
                &format!("{high} => line 16777217, column 1: the pattern reaches beyond"),
            ],
        ),
        (
            "a.lif",
            &[
                "#Life 1.07\n* => line 1, column 1: this is neither Life 1.05 nor 1.06;",
                "#Life\n* => line 1, column 1: this is neither Life 1.05 nor 1.06;",
                "1 2\n3 4 => line 1, column 1: unknown character '1';",
                "#Life 1.05\n3.4* => line 2, column 1: unknown character '3';",
                "#Life 1.05\n#P 1\n* => line 2, column 5: a block's place must be",
                "#Life 1.05\n#P 1 x\n* => line 2, column 6: a block's place must be",
                "#Life 1.05\n#P 1 2 3\n* => line 2, column 8: a block's place must be",
                "#Life 1.05\n#P 1 2\n.*.\n.*a => line 4, column 3: unknown character 'a';",
                "#Life 1.05\n#R 9/9\n* => line 2, column 4: unknown rule '9/9'",
                "#Life 1.05\n*\n#P 16777216 0\n* => line 4, column 1: live cells lie more than 16777216 cells apart",
                "#Life 1.05\n*\n#P 0 -16777216\n* => line 4, column 1: live cells lie more than 16777216 cells apart",
                "#Life 1.05\n*\n#P 99999999999999999999999 0\n* => line 4, column 1: live cells lie more than 16777216 cells apart",
                "#Life 1.06\n1 2\n3\n => line 3, column 2: a line of Life 1.06 must be",
                "#Life 1.06\n1 2 3\n => line 2, column 5: a line of Life 1.06 must be",
                "#Life 1.06\n1 2.5\n => line 2, column 3: a line of Life 1.06 must be",
                "#Life 1.06\n0 0\n-9999999999999999 0\n => line 3, column 1: live cells lie more than 16777216 cells apart",
            ],
        ),
        (
            "a.mc",
            &[
                "M2 => line 1, column 1: the first line of a macrocell must",
                "[M1]\n*$ => line 1, column 1: the first line of a macrocell must",
                "[M2]\n#C nothing\n => line 3, column 1: the macrocell has no nodes",
                "[M2]\n#R Generations\n*$ => line 2, column 4: unknown rule 'Generations'",
                "[M2]\n#R B3/S23:P9,9\n*$ => line 2, column 4: 'P9,9' is no torus",
                &format!(
                    "{chain} => line 25, column 1: live cells lie more than 16777216 cells apart"
                ),
            ],
        ),
    ] {
        for flaw in flaws {
            let (text, why) = flaw.split_once(" => ").unwrap();
            let said = read(name, text.as_bytes());
            assert!(said.starts_with(why), "{text:.80?}: {said}, not {why}");
        }
    }
    for row in [
        "1 0 0 0 256 => column 9: a cell's state must be from 0 to 255",
        "1 0 -1 0 1 => column 5: a cell's state must be from 0 to 255",
        "2 0 1 0 0 => column 5: node 1 is of level 3, but a quarter here must be of level 1;",
        "63 0 0 0 0 => column 1: a node's level must be from 1 to 62",
        "0 0 0 0 0 => column 1: a node's level must be from 1 to 62",
        "4 0 0 0 => column 8: a line must be a square of cells",
        "4 0 0 0 x => column 9: a line must be a square of cells",
        "4 0 0 0 1 1 => column 11: a line must be a square of cells",
        "hello => column 1: a line must be a square of cells",
        "4 0 0 0 2 => column 9: there is no node 2 before this line",
        "4 0 -1 0 0 => column 5: there is no node -1 before this line",
        "5 1 0 0 0 => column 3: node 1 is of level 3, but a quarter here must be of level 4;",
        "...x$ => column 4: unknown character 'x';",
        "........*$ => column 9: a square has more than 8 x 8 cells",
        "$$$$$$$$* => column 9: a square has more than 8 x 8 cells",
        "$$$$$$$$$ => column 9: a square has more than 8 x 8 cells",
    ] {
        let (line, why) = row.split_once(" => ").unwrap();
        let said = read("a.mc", format!("{nodes}{line}\n").as_bytes());
        assert!(
            said.starts_with(&format!("line 4, {why}")),
            "{line}: {said}"
        );
    }
}

#[test]
fn files_that_are_packed_or_of_other_kinds_are_read_or_named() {
    let packed = |text: &[u8]| {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(text).unwrap();
        packed.finish().unwrap()
    };
    let cut = packed(b"x = 1, y = 1\no!");
    for (name, file, said) in [
        (
            "a.lif.gz",
            &packed(b"#D a\n**\n.*")[..],
            "Life 1.05 2x2 | OO .O",
        ),
        // Only the name tells what this should be.
        (
            "a.mc.gz",
            &packed(b"4 0 0 0 0"),
            "line 1, column 1: the first line of a macrocell must",
        ),
        (
            "a.rle.gz",
            &packed(b"#N a\nx = 1, y = 1\noz!"),
            "line 3, column 2: unknown character 'z';",
        ),
        (
            "a.mc.gz",
            b"\x1f\x8b\x08\0",
            "line 1, column 1: this is compressed with gzip and cannot be unpacked:",
        ),
        (
            "a.mc.gz",
            &cut[..cut.len() - 4],
            "line 1, column 1: this is compressed with gzip and cannot be unpacked:",
        ),
        (
            "a.rle.gz",
            &packed(&vec![b' '; (64 << 20) + 1]),
            "line 1, column 1: this is compressed with gzip and more than 64 MiB long",
        ),
        (
            "a.zip",
            b"PK\x03\x04\x14\0",
            "line 1, column 1: this is a ZIP archive",
        ),
        (
            "a.mcl",
            b"#MCell 4.20\n#GAME Generations\n",
            "line 1, column 1: this is in the format of MCell, of the kind 'Generations';",
        ),
        (
            "a.lua",
            b"-- a script\nlocal g = golly()\n",
            "line 1, column 1: this is a script, not a pattern",
        ),
    ] {
        let found = read(name, file);
        assert!(found.starts_with(said), "{name}: {found}, not {said}");
    }
}

#[test]
fn a_name_tells_the_format_where_the_text_does_not() {
    for (format, names) in [
        (Format::Plaintext, &["a.cells", "A.CELLS", "a.cells.gz"][..]),
        (Format::Life105, &["a.lif", "a.life"]),
        (Format::Macrocell, &["a.mc"]),
        (Format::Rle, &["a.rle", "a"]),
    ] {
        for (name, text) in names
            .iter()
            .zip(["", "\n\n", "#C only a comment", "?"].iter().cycle())
        {
            assert_eq!(
                Format::detect(text.as_bytes(), name),
                format,
                "{text:?} as {name}"
            );
        }
    }
    for format in Format::ALL {
        let named = Format::of_name(format!("x.{}", format.extension())).unwrap();
        assert_eq!(named.extension(), format.extension());
    }
}

#[test]
fn live_cells_decide_whether_it_fits_and_the_header_or_the_origin_where_it_lies() {
    let box_of_rows = ".........\n.....OO..\n.........\n.........\n.........";
    let boxes = ["x = 9, y = 5\n$5b2o!", box_of_rows];
    // The middle of 16 x 16 cells is between their eighth and ninth.
    let macrocell = "[M2]\n$.....**$\n4 0 0 1 0";
    let origins = [
        "#Life 1.05\n#P -3 1\n**",
        "#Life 1.06\n-3 1\n-2 1",
        macrocell,
    ];
    let far = "#Life 1.06\n-1000000000 7\n-1000000000 8";
    for (texts, [width, height], cells) in [
        (&boxes[..], [12, 7], "6,2 7,2"),
        // (4 - 9) / 2 = -3 and (2 - 5) / 2 = -2, rounded down; it wraps around.
        (&boxes, [4, 2], "2,1 3,1"),
        (&origins, [9, 6], "1,4 2,4"),
        // Its column fits, its row does not.
        (&origins, [9, 2], "1,0 2,0"),
        (&origins, [5, 6], "1,4 2,4"),
        (&[far], [5, 6], "2,2 2,3"),
        // A square of fewer than 8 x 8 cells has its own middle.
        (&["[M2]\n1 1 0 0 1"], [4, 4], "1,1 2,2"),
        (&["[M2]\n1 1 0 0 0\n2 1 0 0 0"], [5, 5], "0,0"),
        (&["x = 0, y = 0\n!"], [3, 3], ""),
    ] {
        for text in texts {
            let placed = pattern("a", text).centred_in(size(width, height)).unwrap();
            assert_eq!(places(&placed), cells, "{text:?} in {}", placed.size());
        }
    }
    let refused = |text, side| pattern("a", text).centred_in(size(side, 2)).unwrap_err();
    let said = "a is 2x1 cells, larger than the lattice 1x2; use --size 4x2";
    assert_eq!(refused(boxes[0], 1).to_string(), said);
    // All of 2^24 x 2^24 cells.
    let full = (5..=24).map(|level| format!("\n{level} {0} {0} {0} {0}", level - 3));
    let leaf = "********$".repeat(8);
    let full = format!("[M2]\n{leaf}\n4 1 1 1 1{}\n", full.collect::<String>());
    let said =
        "a is 16777216x16777216 cells, larger than the lattice 512x2; no lattice is that large,";
    assert!(refused(&full, 512).to_string().starts_with(said));
}

#[test]
fn drawing_goes_around_the_torus() {
    let mut lattice = Lattice::new(size(5, 3));
    pattern("a", "x = 4, y = 2\n4o$o!")
        .draw_into(&mut lattice, 3, 2)
        .unwrap();
    assert_eq!(rows(&lattice), "...O. ..... OO.OO");
}

#[test]
fn a_macrocell_is_measured_however_large_its_universe_is() {
    // A cell in the middle of the largest universe: the corner of the last of four quarters.
    let corners = (5..=61).map(|level| format!("\n{level} {} 0 0 0", level - 3));
    let corners: String = corners.collect();
    let cell = format!("[M2]\n*$\n4 1 0 0 0{corners}\n62 0 0 0 59");
    assert_eq!(read("a", cell.as_bytes()), "macrocell 1x1 | O");
    // Emptiness that the file spells out costs nothing.
    let empty = (5..=62).map(|level| format!("\n{level} {0} {0} {0} {0}", level - 3));
    let empty = format!("[M2]\n$\n4 1 1 1 1{}", empty.collect::<String>());
    assert_eq!(read("a", empty.as_bytes()), "macrocell 0x0 | ");
}

#[test]
fn notes_are_read_from_every_format() {
    let expected = Notes {
        name: Some("Glider".into()),
        author: Some("Richard K. Guy, 1969".into()),
        comments: vec!["first".into(), " set in".into(), "".into(), "O last".into()],
    };
    for text in [
        "#N Glider\n#O Richard K. Guy, 1969\n#CXRLE Pos=0,0\n#C first\n#c  set in\n#C\nx = 3, y = 3\n#C O last\nbo$2bo$3o!\n#C after the end",
        "!Name: Glider\n!Author: Richard K. Guy, 1969\n! first\n!  set in\n!\n!O last\n.O.\n..O\nOOO",
        "#Life 1.05\n#D Name: Glider\n#O Richard K. Guy, 1969\n#D first\n#C  set in\n#D\n#N\n#C O last\n.*\n..*\n***",
        "#Life 1.06\n#N Glider\n#D author: Richard K. Guy, 1969\n#D first\n#D  set in\n#D\n#D O last\n0 0\n",
        "[M2] (golly 3.4)\n#R B3/S23\n#N Glider\n#O Richard K. Guy, 1969\n#C first\n#C  set in\n#C\n#C O last\n#O -100 400\n*$\n4 1 0 0 0",
    ] {
        assert_eq!(pattern("a", text).notes(), expected, "{text}");
    }
    let hostile = pattern("a", "#N a\u{1b}[31mb\n#N second\nx = 1, y = 1\no!").notes();
    assert_eq!(hostile.name.as_deref(), Some("a\u{fffd}[31mb"));
    assert_eq!(hostile.comments, ["second"]);
}

#[test]
fn a_thumbnail_is_small_and_loses_no_cell() {
    let gun = pattern(
        "a",
        include_str!("../../../../assets/patterns/gosper-gun.rle"),
    );
    let whole = gun.live_part().unwrap().unwrap();
    assert_eq!(gun.thumbnail(size(48, 48)), (whole.clone(), 1));
    let mut quarter = Lattice::new(size(9, 3));
    for (x, y) in live_cells(&whole) {
        quarter.set(x / 4, y / 4, true);
    }
    assert_eq!(gun.thumbnail(size(9, 9)), (quarter, 4));
    let nothing = pattern("a", "x = 0, y = 0\n!");
    assert_eq!(nothing.thumbnail(size(5, 5)), (drawn(&["."]), 1));
}

/// The formats that are written.
const WRITTEN: [Format; 2] = [Format::Rle, Format::Plaintext];

fn written(format: Format, head: Head, lattice: &Lattice) -> String {
    let mut text = Vec::new();
    format.writer().unwrap()(head, lattice.words(), &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

const NO_NOTES: &Notes = &Notes {
    name: None,
    author: None,
    comments: Vec::new(),
};

fn plain(lattice: &Lattice) -> Head<'static> {
    Head {
        size: lattice.size(),
        rule: Rule::LIFE,
        torus: false,
        generation: 0,
        notes: NO_NOTES,
    }
}

#[test]
fn notes_cannot_break_out_of_their_lines_and_a_writer_that_fails_is_heard() {
    let notes = &Notes {
        name: Some("a\n#P 7 7\nO".into()),
        author: Some("\r.O.O".into()),
        comments: vec!["x = 1\n3o!".into()],
    };
    let lattice = drawn(&["O.O"]);
    let head = Head {
        notes,
        ..plain(&lattice)
    };
    let said = WRITTEN.map(|format| read("a", written(format, head, &lattice).as_bytes()));
    assert_eq!(said, ["RLE 3x1 B3/S23 | O.O", "plaintext 3x1 | O.O"]);
    let full = &mut [0; 40][..];
    write(head, lattice.words(), &mut { full }).unwrap_err();
}

/// The body of an RLE text by the format's words: run by run, each on the line if it fits there.
fn body_by_the_format(lattice: &Lattice) -> String {
    let rows = rows(lattice).replace('O', "o").replace('.', "b");
    let rows: Vec<_> = rows
        .split(' ')
        .map(|row| row.trim_end_matches('b'))
        .collect();
    let letters = rows.join("$").trim_end_matches('$').to_owned() + "!";
    let (mut text, mut line) = (String::new(), String::new());
    for run in letters.as_bytes().chunk_by(|a, b| a == b) {
        let count = Some(run.len()).filter(|count| *count > 1);
        let count = count.map_or(String::new(), |count| count.to_string());
        let run = format!("{count}{}", char::from(run[0]));
        if line.len() + run.len() > 70 {
            text += &(std::mem::take(&mut line) + "\n");
        }
        line += &run;
    }
    text + &line + "\n"
}

/// The lattice as other programs write it, with its middle at 0 0 where the format has positions.
fn text_of(format: Format, lattice: &Lattice) -> String {
    let size = lattice.size();
    let [x, y] = [size.width, size.height].map(|side| -i64::from(side / 2));
    let cells = live_cells(lattice).into_iter();
    let mut cells = cells.map(|(column, row)| [x + i64::from(column), y + i64::from(row)]);
    match format {
        Format::Rle | Format::Plaintext => written(format, plain(lattice), lattice),
        Format::Life105 => {
            let rows = written(Format::Plaintext, plain(lattice), lattice).replace('O', "*");
            format!("#Life 1.05\n#P {x} {y}\n{rows}")
        }
        Format::Life106 => cells.fold("#Life 1.06\n".into(), |text, [x, y]| {
            format!("{text}{x} {y}\n")
        }),
        Format::Macrocell => {
            let mut text = String::from("[M2] (golly 4.2)\n");
            let cells = cells.by_ref().collect();
            if down_to_cells(&cells, 7, [-64, -64], &mut text, &mut 0) == 0 {
                text += "7 0 0 0 0\n";
            }
            text
        }
    }
}

/// Writes the square of this level with its top left there, cell by cell; its number, 0 if it is empty.
fn down_to_cells(
    cells: &HashSet<[i64; 2]>,
    level: u32,
    [x, y]: [i64; 2],
    text: &mut String,
    last: &mut u32,
) -> u32 {
    if level == 0 {
        return cells.contains(&[x, y]).into();
    }
    let half = 1 << (level - 1);
    let [nw, ne, sw, se] = [[x, y], [x + half, y], [x, y + half], [x + half, y + half]]
        .map(|corner| down_to_cells(cells, level - 1, corner, text, last));
    if nw + ne + sw + se == 0 {
        return 0;
    }
    *text += &format!("{level} {nw} {ne} {sw} {se}\n");
    *last += 1;
    *last
}

/// Reads and draws what can be read; whatever happens, it must not panic.
fn read_and_draw(name: &str, text: &[u8]) {
    let pattern = match Pattern::from_text(name, text) {
        Ok(pattern) => pattern,
        Err(error) => {
            let place = format!("{name}, line ");
            assert!(
                error.starts_with(&place) && !error.contains("line 0"),
                "{error}"
            );
            return;
        }
    };
    pattern.notes();
    let mut small = Lattice::new(size(37, 40));
    if pattern.draw_into(&mut small, 36, 4).is_ok() {
        let bits_beyond = Lattice::from_words(small.size(), small.words().to_vec());
        assert_eq!(small, bits_beyond);
    }
    let mut alive = 0;
    pattern.each_run(|run| {
        assert!(run.length > 0 && run.y < pattern.height());
        assert!(run.x + run.length <= pattern.width());
        alive += u64::from(run.length);
    });
    let (picture, _) = pattern.thumbnail(size(16, 16));
    assert!(picture.population() <= alive);
    assert_eq!(picture.population() == 0, alive == 0);
}

fn notes() -> impl Strategy<Value = Notes> {
    let text = "[a-zA-Z0-9,.]([ -~äλ中]{0,30}[a-zA-Z0-9.!$])?";
    let comments = proptest::collection::vec(text, 0..4);
    let all = (
        proptest::option::of(text),
        proptest::option::of(text),
        comments,
    );
    all.prop_map(|(name, author, mut comments)| {
        for line in &mut comments {
            *line = line.replace(':', ";"); // which would make a title of it
        }
        Notes {
            name,
            author,
            comments,
        }
    })
}

/// How many cells live, all kinds of it.
fn densities() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(0.002), 0.0..=1.0, Just(0.97), Just(1.0)]
}

proptest! {
    #[test]
    fn what_is_written_is_read_back_and_lies_where_it_lay(
        width in 1u64..300, height in 1u64..60, density in densities(), seed: u64,
        torus: bool, birth in 0u16..512, survival in 0u16..512, notes in notes(),
        generation in prop_oneof![Just(0), 1..=MAX_GENERATION],
    ) {
        let lattice = soup(size(width, height), density, seed, 0);
        let rule = Rule::from_masks(birth, survival);
        for format in WRITTEN {
            let head = Head { rule, torus, generation, notes: &notes, ..plain(&lattice) };
            let pattern = pattern("written", &written(format, head, &lattice));
            prop_assert_eq!(pattern.format, format);
            prop_assert_eq!(pattern.notes(), notes.clone(), "{}", format);
            let is_rle = format == Format::Rle;
            prop_assert_eq!(pattern.rule(), is_rle.then_some(rule));
            prop_assert_eq!(pattern.generation(), if is_rle { generation } else { 0 });
            prop_assert_eq!(pattern.torus(), (is_rle && torus).then_some(lattice.size()));
        }
        let small = soup(size(width.min(64), height), density, seed, 1);
        for format in Format::ALL {
            let pattern = pattern("written", &text_of(format, &small));
            prop_assert_eq!(pattern.format, format);
            prop_assert_eq!(&pattern.centred_in(small.size()).unwrap(), &small, "{}", format);
        }
    }

    #[test]
    fn rows_in_parts_by_any_threads_are_the_text_by_the_format(
        width in 1u64..200, height in 1u64..60, density in densities(), seed: u64,
        threads in 0usize..5, words_a_thread in 1usize..40, rows_a_part in 1usize..70,
    ) {
        let lattice = soup(size(width, height), density, seed, 0);
        let head = Head { rule: rule("B36/S23"), torus: true, ..plain(&lattice) };
        let mut text = Vec::new();
        let mut writer = RowWriter::begin(head, &mut text).unwrap();
        for part in lattice.words().chunks(rows_a_part * lattice.size().words_per_row()) {
            writer.rows_by(threads, words_a_thread, part).unwrap();
        }
        writer.finish().unwrap();
        let head = format!("x = {width}, y = {height}, rule = B36/S23:T{width},{height}\n");
        prop_assert_eq!(String::from_utf8(text).unwrap(), head + &body_by_the_format(&lattice));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn no_likely_text_makes_it_panic(
        plain in "(([.O*]{0,9}|!.{0,5})\r?\n){0,12}",
        blocks in "((#P -?[0-9]{1,3} -?[0-9]{1,12}|#R [0-9]{0,3}/[0-9]|[.*]{0,9})\n){0,12}",
        cells in "((-?[0-9]{1,9}[ \t]-?[0-9]{1,3}|#D.{0,5})\n){0,12}",
        squares in "([.*]{0,8}[$]){0,8}\n",
        body in "([0-9]{0,3}[bo$]|[ \n\r#!]|[0-9]{8,30}|[A-Za-z]|\\PC){0,60}",
        nodes in "([1-9] [0-3] [0-4] [0-5] [0-6]\n){0,12}",
    ) {
        for text in [
            plain,
            format!("x = 9, y = 9, rule = B3/S23:T9,9\n{body}!"),
            format!("#Life 1.05\n{blocks}"),
            format!("#Life 1.06\n{cells}"),
            format!("[M2]\n{squares}{squares}{nodes}"),
        ] {
            read_and_draw("a.cells", text.as_bytes());
        }
    }

    #[test]
    fn no_mutation_makes_it_panic(
        seed: u64, format in prop::sample::select(&Format::ALL[..]),
        cuts in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4u8), 1..6),
    ) {
        let mut text = text_of(format, &soup(size(40, 12), 0.2, seed, 0)).into_bytes();
        for (at, byte, how) in cuts {
            let at = at.index(text.len().max(1));
            let end = if how == 3 { text.len() } else { text.len().min(at + usize::from(how != 1)) };
            text.splice(at.min(end)..end, (how < 2).then_some(byte));
        }
        ANY.iter().for_each(|name| read_and_draw(name, &text));
    }
}
