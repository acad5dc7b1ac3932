//! What each format's reader takes and refuses, and that it takes back what the writer wrote.

mod flaws;
mod properties;

use crate::testing::{drawn, rule, size};
use crate::{Format, Lattice, Notes, Pattern, Rule, Sheet, Size, soup};

fn parse(text: &str) -> Pattern {
    Pattern::from_text("text", text).unwrap_or_else(|error| panic!("{text:?}: {error:?}"))
}

/// The pattern on the smallest lattice that fits it; `None` if it has no columns or rows.
fn tight(pattern: &Pattern) -> Option<Lattice> {
    let size = Size::new(pattern.width().into(), pattern.height().into()).ok()?;
    Some(pattern.centred_in(size).unwrap())
}

/// The part of the lattice from the first live column and row to the last, or none if nothing
/// lives.
fn trimmed(lattice: &Lattice) -> Option<Lattice> {
    let cells = crate::testing::live_cells(lattice);
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

/// The formats that are written.
const WRITTEN: [Format; 2] = [Format::Rle, Format::Plaintext];

fn written(format: Format, sheet: Sheet) -> Vec<u8> {
    let mut text = Vec::new();
    format.writer().unwrap()(sheet, &mut text).unwrap();
    text
}

fn plain<'a>(lattice: &'a Lattice, notes: &'a Notes) -> Sheet<'a> {
    Sheet {
        lattice,
        rule: Rule::LIFE,
        torus: false,
        generation: 0,
        notes,
    }
}

fn plainly(format: Format, lattice: &Lattice) -> String {
    String::from_utf8(written(format, plain(lattice, &Notes::default()))).unwrap()
}

/// The lattice as other programs write it, with its middle at 0 0 where the format has positions.
fn text_of(format: Format, lattice: &Lattice) -> String {
    let size = lattice.size();
    let middle = [size.width(), size.height()].map(|side| i64::from(side / 2));
    match format {
        Format::Rle | Format::Plaintext => plainly(format, lattice),
        Format::Life105 => {
            let rows = plainly(Format::Plaintext, lattice).replace('O', "*");
            format!("#Life 1.05\n#P -{} -{}\n{rows}", middle[0], middle[1])
        }
        Format::Life106 => {
            let cells = crate::testing::live_cells(lattice).into_iter();
            let lines = cells.map(|(x, y)| {
                let (x, y) = (i64::from(x) - middle[0], i64::from(y) - middle[1]);
                format!("{x} {y}\n")
            });
            format!("#Life 1.06\n{}", lines.collect::<String>())
        }
        Format::Macrocell => {
            let level = size.width().max(size.height()).next_power_of_two().ilog2() + 1;
            let corner = middle.map(|middle| middle - (1 << (level - 1)));
            let mut text = String::from("[M2] (golly 4.2)\n");
            if down_to_cells(lattice, level, corner, &mut text, &mut 0) == 0 {
                text += &format!("{level} 0 0 0 0\n");
            }
            text
        }
    }
}

/// Writes the square of this level with its top left there, cell by cell; its number, 0 if it is empty.
fn down_to_cells(
    lattice: &Lattice,
    level: u32,
    [x, y]: [i64; 2],
    text: &mut String,
    last: &mut u32,
) -> u32 {
    if level == 0 {
        let size = lattice.size();
        let is_there =
            (0..size.width().into()).contains(&x) && (0..size.height().into()).contains(&y);
        return (is_there && lattice.get(x as u32, y as u32)).into();
    }
    let half = 1 << (level - 1);
    let quarters = [[x, y], [x + half, y], [x, y + half], [x + half, y + half]]
        .map(|corner| down_to_cells(lattice, level - 1, corner, text, last));
    if quarters == [0; 4] {
        return 0;
    }
    let [nw, ne, sw, se] = quarters;
    *text += &format!("{level} {nw} {ne} {sw} {se}\n");
    *last += 1;
    *last
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
        "#LIFE 1.05\n.*\n..*\n#p 1 2\n**\n#p 0 2\n**",
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
            trimmed(&tight(&pattern).unwrap()),
            Some(glider.clone()),
            "{text:?}"
        );
    }
}

#[test]
fn rows_are_drawn_with_whatever_people_draw_them_with() {
    let glider = Some(drawn(&[".O.", "..O", "OOO"]));
    for (name, text) in [
        ("a.cells", ".o\n..o\nooo"),
        ("a.cells", "!\n.X.\n..x\nX*O\n"),
        ("a.cells", "ooo\no\n.o"),
        ("a.lif", "#Life 1.05\n#P 4 4\n.X\n..x\nooo\n"),
        ("a.lif", ".*.\n..*\n***\n\x1a"),
        ("a.cells", "!dblife\n.O\n2.O\n3O\n"),
        ("a.cells", "!dblife\n5k10h@\n1.O3.\n2.0O\n3O\n"),
        (
            "a.cells",
            "! \"main\" (cells 5)\n57k86h@!\n5.O\n5..O\n3..OOO\n5",
        ),
        ("a.rle", "x = 3, y = 3\nbo$2bo$3o!\r\n\x1a"),
        ("a.rle", "x = 3, y = 3\nbo$2bo$3o\x1a"),
        ("a.lif", "#Life 1.06\n1 0\n2 1\n0 2\n1 2\n2 2\n\x1a\0\0"),
    ] {
        let pattern = Pattern::from_text(name, text).unwrap_or_else(|error| panic!("{error}"));
        let cells = trimmed(&tight(&pattern).unwrap());
        if text.starts_with("ooo") {
            assert_eq!(cells, Some(drawn(&["OOO", "O..", ".O."])), "{text:?}");
        } else {
            assert_eq!(cells, glider, "{text:?}");
        }
    }
    // Lower-case letters only could also be RLE.
    assert_eq!(Pattern::from_text("a.rle", "oo").unwrap().width(), 2);
    assert_eq!(Pattern::from_text("a.rle", "3o").unwrap().width(), 3);
    let rows = parse("!name\n23.O15.3O15.3O15.O4.4O\n");
    assert_eq!((rows.format(), rows.width()), (Format::Plaintext, 84));
    let mut cells = 0;
    rows.each_run(|run| cells += run.length);
    assert_eq!((cells, rows.live_sides()), (12, (61, 1)));
}

#[test]
fn patterns_of_forums_and_chats_are_read() {
    let (glider, block) = (&[".O.", "..O", "OOO"][..], &["OO", "OO"][..]);
    let (hive, arrow) = (&[".OO.", "O..O", ".OO."][..], &["OO.", "..O", "OO."][..]);
    let cells = "bo$2bo$3o!";
    let rle = &format!("x = 3, y = 3, rule = B3/S23\n{cells}");
    for (text, cells, own) in [
        ("\t.**.\n\t*..*\n\t.**.\n", hive, ""),
        ("\t**.\n\t..*\n\t**.\n\t\t\t", arrow, ""),
        ("  ! a\n  OO.\n  ..O\n  OO.\n", arrow, ""),
        (&format!("[rle]{rle}[/rle]\n"), glider, "B3/S23"),
        (&format!("\u{feff}```\n{rle}\n```\n"), glider, "B3/S23"),
        (&format!("```rle\r\n{rle}\r\n``` a"), glider, "B3/S23"),
        (&format!("```{cells}```"), glider, ""),
        ("```OO\nOO```", block, ""),
        ("```2o\n$2o!\n```", block, ""),
        (&rle.replace("B3/S23", "23/3/2"), glider, "B3/S23"),
        (&rle.replace("B3/S23", "S3"), glider, "B/S3"),
        ("xs4_33/b3s23\n", block, "B3/S23"),
        ("```xs4_33/b36s23```", block, "B36/S23"),
    ] {
        let pattern = parse(text);
        let read = trimmed(&tight(&pattern).unwrap());
        assert_eq!(read, Some(drawn(cells)), "{text:?}");
        let own = (!own.is_empty()).then(|| rule(own));
        assert_eq!(pattern.rule(), own, "{text:?}");
    }
}

#[test]
fn what_is_read_otherwise_than_written_is_remarked_on() {
    let check = |text: &str, said: &str| match &parse(text).remarks()[..] {
        [remark] => assert!(remark.starts_with(said), "{text:?}: {remark}"),
        remarks => panic!("{text:?}: {remarks:?}"),
    };
    for text in [
        "bo$2bo$3o!",
        "x = 1, y = 1\n.A!",
        ".O",
        "[M2]\n#G 5\n1 0 1 1 1\n",
    ] {
        assert_eq!(parse(text).remarks(), []);
    }
    for text in [
        "x = 3, y = 1, rule = LifeHistory\n.AD!",
        "x = 3, y = 1\n.AB!",
        "[M2]\n#R LifeHistory\n1 2 1 3 4\n",
    ] {
        let said = "text has cells of several states; it is read as B3/S23, with";
        check(text, said);
    }
    check("x = 3, y = 1\n3o", "text has no '!' at its end;");
    let far = "text is of a generation beyond 4611686018427387904; it starts";
    check("#CXRLE Gen=9999999999999999999999\n3o!", far);
}

#[test]
fn macrocells_of_several_states_have_odd_ones_alive() {
    let pattern = parse(
        "[M2] (golly 3.3)\n#R LifeHistory:T16,16\n1 2 1 0 4\n1 2 4 2 4\n1 3 5 4 2\n2 1 2 3 0\n",
    );
    assert_eq!(pattern.rule(), Some(Rule::LIFE));
    assert_eq!(pattern.torus(), Some(size(16, 16)));
    assert_eq!(
        trimmed(&tight(&pattern).unwrap()),
        Some(drawn(&[".O", "..", "OO"]))
    );
}

#[test]
fn live_cells_decide_whether_it_fits_and_the_header_where_it_lies() {
    // A domino in a box of 9 x 5 cells, by the header of RLE and by rows.
    for text in [
        "x = 9, y = 5\n$5b2o!",
        ".........\n.....OO..\n.........\n.........\n.........",
    ] {
        let pattern = parse(text);
        assert_eq!((pattern.width(), pattern.height()), (9, 5));
        assert_eq!(pattern.live_sides(), (2, 1));
        // As usual if the box fits.
        let lattice = pattern.centred_in(size(12, 7)).unwrap();
        assert_eq!(crate::testing::live_cells(&lattice), [(6, 2), (7, 2)]);
        // (4 - 9) / 2 = -3 and (2 - 5) / 2 = -2, rounded down; it wraps around.
        let lattice = pattern.centred_in(size(4, 2)).unwrap();
        assert_eq!(crate::testing::live_cells(&lattice), [(2, 1), (3, 1)]);
        let larger = pattern.centred_in(size(1, 2)).unwrap_err().to_string();
        let said = "text is 2x1 cells, larger than the lattice 1x2; use --size 4x2";
        assert_eq!(larger, said);
        assert_eq!(pattern.live_part().unwrap(), Some(drawn(&["OO"])));
    }
    let huge = parse("x = 16777216, y = 16777216\nbo$2bo$3o!");
    assert_eq!(huge.centred_in(size(5, 5)).unwrap().population(), 5);
    assert_eq!(
        huge.live_part().unwrap(),
        Some(drawn(&[".O.", "..O", "OOO"]))
    );
    assert_eq!(parse("x = 3, y = 3\n!").live_part().unwrap(), None);
}

#[test]
fn a_text_with_positions_has_its_origin_in_the_middle_where_it_fits_so() {
    let placed =
        |text: &str, size| crate::testing::live_cells(&parse(text).centred_in(size).unwrap());
    let domino = [
        "#Life 1.05\n#P -3 1\n**",
        "#Life 1.06\n-3 1\n-2 1",
        // The middle of 16 x 16 cells is between their eighth and ninth.
        "[M2]\n$.....**$\n4 0 0 1 0",
    ];
    for text in domino {
        assert_eq!(placed(text, size(9, 6)), [(1, 4), (2, 4)], "{text}");
        // Its column fits, its row does not.
        assert_eq!(placed(text, size(9, 2)), [(1, 0), (2, 0)], "{text}");
        assert_eq!(placed(text, size(5, 6)), [(1, 4), (2, 4)], "{text}");
    }
    let far = "#Life 1.06\n-1000000000 7\n-1000000000 8";
    assert_eq!(placed(far, size(5, 6)), [(2, 2), (2, 3)]);
    // A square of fewer than 8 x 8 cells has its own middle.
    assert_eq!(placed("[M2]\n1 1 0 0 1", size(4, 4)), [(1, 1), (2, 2)]);
    assert_eq!(placed("[M2]\n1 1 0 0 0\n2 1 0 0 0", size(5, 5)), [(0, 0)]);
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
fn a_macrocell_is_measured_however_large_its_universe_is() {
    // A cell in the middle of the largest universe: the corner of the last of four quarters.
    let chain: String = (5..=61)
        .map(|level| format!("\n{level} {} 0 0 0", level - 3))
        .collect();
    let text = format!("[M2]\n*$\n4 1 0 0 0{chain}\n62 0 0 0 59");
    assert_eq!(tight(&parse(&text)), Some(drawn(&["O"])));
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
    let error = pattern.centred_in(size(512, 512)).unwrap_err().to_string();
    assert!(error.contains("; no lattice is that large,"), "{error}");
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
    let place = parse("[M2]\n#G 77\n#O -100 400\n1 0 1 1 1\n");
    assert_eq!((place.notes(), place.generation()), (Notes::default(), 77));
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
    for format in WRITTEN {
        let text = written(format, plain(&lattice, &notes));
        let pattern = Pattern::from_text("a", text).unwrap();
        assert_eq!(
            (pattern.format(), tight(&pattern)),
            (format, Some(lattice.clone()))
        );
    }
}

#[test]
fn thumbnails_are_small_and_lose_no_cell() {
    let gun = parse(include_str!(
        "../../../../../assets/patterns/gosper-gun.rle"
    ));
    let (whole, scale) = gun.thumbnail(size(48, 48));
    assert_eq!((Some(whole), scale), (tight(&gun), 1));
    let (quarter, scale) = gun.thumbnail(size(9, 9));
    assert_eq!((quarter.size(), scale), (size(9, 3), 4));
    let whole = tight(&gun).unwrap();
    for (x, y) in (0..9).flat_map(|x| (0..3).map(move |y| (x, y))) {
        let square = (0..16).map(|i| (4 * x + i % 4, 4 * y + i / 4));
        let alive = square.filter(|&(_, y)| y < 9).any(|(x, y)| whole.get(x, y));
        assert_eq!(quarter.get(x, y), alive, "{x} {y}");
    }
    let nothing = parse("x = 0, y = 0\n!").thumbnail(size(5, 5));
    assert_eq!(nothing, (drawn(&["."]), 1));
}
