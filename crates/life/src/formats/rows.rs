//! The formats that list cells or rows of cells: plaintext, Life 1.05 and 1.06, and apgcodes.

use crate::frame::{Format, Frame, Head, read_rule};
use crate::run::{Extent, LiveRuns, Run, far_apart};
use crate::text::{self, Flaw, lines, named, printable, whole, word};
use crate::{Rule, Size};
use lang::{Message, message};
use std::fmt::Write as _;
use std::io::{self, Write};

// Plaintext: one line per row; `!` starts a comment. Rows may use dblife's counts, as in
// `23.O15.3O`, and its commands, as in `5k10h@!`, which are ignored.

/// Checks and measures the text, and calls `run` with its live cells. Empty lines are dead rows, but not
/// before the first row or after the last.
pub(crate) fn read_plaintext(text: &[u8], mut run: impl FnMut(Run)) -> Result<Frame, Flaw> {
    if text[text::start(text)..].trim_ascii().is_empty() {
        return Err((
            text.len(),
            message!("the text is empty; a plaintext pattern has rows of . (dead) and O (alive)"),
        ));
    }
    let unknown = |it| {
        message!(
            "unknown {it}; a row of a plaintext pattern has . (dead) and O (alive), and a comment starts with !"
        )
    };
    let mut frame = Frame::default();
    let longest = u64::from(Size::MAX_SIDE);
    for (y, at, row) in numbered_rows(text) {
        if y >= Size::MAX_SIDE {
            return Err((at, long_side()));
        }
        let width = each_part(row, true, unknown, |first, length| {
            if first + length > longest {
                return Err(long_side());
            }
            let (x, length) = (first as u32, length as u32);
            frame.live.add(x.into(), y.into(), length.into());
            run(Run { x, y, length });
            Ok(())
        });
        let width = width.map_err(|(offset, flaw)| (at + offset, flaw))?;
        if width > longest {
            return Err((at + (longest as usize).min(row.len()), long_side()));
        }
        frame.width = frame.width.max(width as u32);
        frame.height = y + 1;
    }
    Ok(frame)
}

/// The flaw of a row or column longer than a lattice's side.
fn long_side() -> Message {
    message!(
        "the pattern reaches beyond {max} cells, the longest side of a lattice; a smaller pattern is needed",
        max = Size::MAX_SIDE
    )
}

/// The rows with cells: row number, offset of the first cell, cells. Rows may all be indented as the
/// first one is.
fn numbered_rows(text: &[u8]) -> impl Iterator<Item = (u32, usize, &[u8])> {
    let lines = lines(text, text::start(text));
    let mut lines = lines
        .filter(|(_, line)| !line.trim_ascii_start().starts_with(b"!"))
        .skip_while(|(_, line)| line.is_empty())
        .peekable();
    let first = lines.peek().map_or(&b""[..], |(_, line)| line);
    let indent = &first[..first.len() - first.trim_ascii_start().len()];
    lines
        .zip(0u32..)
        .filter(|((_, line), _)| !line.is_empty())
        .map(move |((at, line), y)| match line.strip_prefix(indent) {
            Some(cells) => (y, at + indent.len(), cells),
            None => (y, at, line),
        })
}

/// Whether this line is certainly a row of cells.
pub(super) fn is_row(line: &[u8]) -> bool {
    let is_cell = |cell: &u8| *cell == b'.' || is_live(*cell);
    // Lines of lower-case o and x could be an RLE body.
    line.iter().all(is_cell) && line.iter().any(|cell| b".O*X".contains(cell))
}

/// Whether this character stands for a live cell.
fn is_live(cell: u8) -> bool {
    matches!(cell, b'O' | b'o' | b'*' | b'X' | b'x')
}

/// Calls `live` with the live cells of a row of characters: first column, number of cells. Returns the
/// row's columns. `unknown` says what is wrong with a character.
///
/// With `counted`, a number repeats the next cell, and dblife's commands (`5k10h@!`) are ignored, as
/// Golly does.
fn each_part(
    row: &[u8],
    counted: bool,
    unknown: impl Fn(String) -> Message,
    mut live: impl FnMut(u64, u64) -> Result<(), Message>,
) -> Result<u64, Flaw> {
    // The current run: offset, first column, number of cells.
    let mut part: Option<(usize, u64, u64)> = None;
    let (mut x, mut count) = (0u64, None);
    let counted = counted && row.iter().any(u8::is_ascii_digit);
    for (at, &cell) in row.iter().enumerate() {
        if counted && let Some(digit @ 0..=9) = cell.checked_sub(b'0') {
            let (from, so_far) = count.unwrap_or((at, 0u64));
            let more = so_far.saturating_mul(10).saturating_add(digit.into());
            count = Some((from, more.min(u64::from(u32::MAX))));
            continue;
        }
        let (from, cells) = count.take().unwrap_or((at, 1));
        let cells = cells.max(1);
        if is_live(cell) {
            let (from, first, length) = part.unwrap_or((from, x, 0));
            part = Some((from, first, length + cells));
            x += cells;
        } else {
            if let Some((from, first, length)) = part.take() {
                live(first, length).map_err(|flaw| (from, flaw))?;
            }
            match cell {
                b'.' => x += cells,
                b'h' | b'j' | b'k' | b'l' | b'@' | b'!' if counted => {}
                _ => return Err((at, unknown(named(cell)))),
            }
        }
    }
    if let Some((from, first, length)) = part {
        live(first, length).map_err(|flaw| (from, flaw))?;
    }
    Ok(x)
}

/// Writes the cells with full rows, which preserves the size.
///
/// # Errors
/// Errors of `out`.
pub(crate) fn write_plaintext(head: Head, words: &[u32], out: &mut dyn Write) -> io::Result<()> {
    head.notes.write(["!Name: ", "!Author: ", "! "], out)?;
    let width = head.size.width as usize;
    let mut line = vec![b'.'; width + 1];
    line[width] = b'\n';
    for row in words.chunks_exact(head.size.words_per_row()) {
        line[..width].fill(b'.');
        for (first, end) in LiveRuns::new(row) {
            line[first as usize..end as usize].fill(b'O');
        }
        out.write_all(&line)?;
    }
    out.flush()
}

// Life 1.05 and 1.06, the formats of early PC programs. 1.05 has blocks of rows, each after a line
// `#P x y` with its position; 1.06 has a line `x y` for each live cell.
//
// Positions may be negative. The pattern extends from the first column and row with a live cell to
// the last.

/// Checks and measures a text of version 1.05 or 1.06, and calls `run` with its live cells, counted from
/// this column and row.
pub(crate) fn read_life(
    text: &[u8],
    format: Format,
    corner: [i64; 2],
    mut run: impl FnMut(Run),
) -> Result<Frame, Flaw> {
    let (mut frame, mut all) = (Frame::default(), Extent::default());
    let live = |x: i64, y: i64, length: u32| {
        all.add(x, y, length.into());
        let (x, y) = ((x - corner[0]) as u32, (y - corner[1]) as u32);
        run(Run { x, y, length });
        let longest = i64::from(Size::MAX_SIDE);
        if all.sides().into_iter().all(|side| side <= longest) {
            Ok(())
        } else {
            Err(far_apart())
        }
    };
    match format {
        Format::Life106 => read_106(text, live)?,
        _ => read_105(text, &mut frame, live)?,
    }
    frame.fit(all.sides(), all.corner());
    Ok(frame)
}

/// Reads rows in blocks. Those before the first `#P` start at 0 0; an empty line is a dead row.
fn read_105(
    text: &[u8],
    frame: &mut Frame,
    mut live: impl FnMut(i64, i64, u32) -> Result<(), Message>,
) -> Result<(), Flaw> {
    let unknown = |it| {
        message!(
            "unknown {it}; a row has . (dead) and * (alive), and a block of rows starts with a line such as '#P -1 -1'"
        )
    };
    let (mut x, mut y) = (0, 0);
    for (at, line) in lines(text, text::start(text)) {
        let Some(marked) = line.strip_prefix(b"#") else {
            let row = each_part(line, false, unknown, |first, length| {
                live(x + first as i64, y, length as u32)
            });
            row.map_err(|(column, flaw)| (at + column, flaw))?;
            y += 1;
            continue;
        };
        match marked {
            // Without numbers, as Golly writes and reads it.
            [b'P' | b'p'] => (x, y) = (0, 0),
            [b'P' | b'p', ..] => {
                let place = place(line, 2).map_err(|column| {
                    let why = message!(
                        "a block's place must be its left column and its top row, such as '#P -1 -1'"
                    );
                    (at + column, why)
                });
                (x, y) = place?;
            }
            [b'R' | b'r', rule @ ..] => frame.read_rule(rule, at + 2)?,
            // Conway's rule.
            [b'N', rest @ ..] if rest.trim_ascii().is_empty() => frame.rule = Some(Rule::LIFE),
            _ if version(marked).is_some_and(|version| version != b"1.05") => {
                return Err((
                    at,
                    message!(
                        "this is neither Life 1.05 nor 1.06; its first line must be '#Life 1.05' or '#Life 1.06'"
                    ),
                ));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Reads a line for each live cell.
fn read_106(
    text: &[u8],
    mut live: impl FnMut(i64, i64, u32) -> Result<(), Message>,
) -> Result<(), Flaw> {
    let lines = lines(text, text::start(text));
    for (at, line) in lines.filter(|(_, line)| !line.is_empty() && !line.starts_with(b"#")) {
        let (x, y) = place(line, 0).map_err(|column| {
            (
                at + column,
                message!("a line of Life 1.06 must be the column and the row of a live cell, such as '-1 2'"),
            )
        })?;
        live(x, y, 1).map_err(|flaw| (at, flaw))?;
    }
    Ok(())
}

/// The version that a line names after its `#`, such as `Life 1.05`.
pub(super) fn version(marked: &[u8]) -> Option<&[u8]> {
    let (name, version) = marked.split_at_checked(4)?;
    name.eq_ignore_ascii_case(b"life")
        .then(|| version.trim_ascii())
}

/// Parses two integers from this offset to the line's end. Errors with the offset of the error.
fn place(line: &[u8], mut at: usize) -> Result<(i64, i64), usize> {
    let mut number = || {
        let (from, word) = word(line, &mut at).ok_or(line.len())?;
        whole(word).ok_or(from)
    };
    let place = (number()?, number()?);
    match word(line, &mut at) {
        Some((from, _)) => Err(from),
        None => Ok(place),
    }
}

// apgcodes, the names of objects on Catagolue: `xq4_153` is the glider. After the kind and a `_` come
// strips of five rows, one character per column in extended Wechsler notation.

/// The live cells of an apgcode, and its rule after a slash, as a Life 1.05 text around the origin;
/// `None` for any other text.
pub(crate) fn to_life_105(text: &[u8]) -> Option<Result<Vec<u8>, Flaw>> {
    let (code, rule) = match text.iter().position(|&byte| byte == b'/') {
        Some(at) => (&text[..at], Some((at + 1, text[at + 1..].trim_ascii()))),
        None => (text, None),
    };
    let text = code.trim_ascii();
    let kind = [b"xs", b"xp", b"xq"];
    let rest = kind.iter().find_map(|kind| text.strip_prefix(*kind))?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let strips = rest[digits..].strip_prefix(b"_").filter(|_| digits > 0)?;
    let cells = live_cells(strips)?;
    let middle =
        |sides: &dyn Fn(&(i64, i64)) -> i64| cells.iter().map(sides).max().unwrap_or(0) / 2;
    let (left, top) = (middle(&|cell| cell.0), middle(&|cell| cell.1));
    let mut written = String::from("#Life 1.05\n");
    if let Some((at, rule)) = rule {
        match read_rule(rule) {
            Ok(_) => writeln!(written, "#R {}", printable(rule)).expect("a string takes any text"),
            Err(error) => return Some(Err((at, error.message))),
        }
    }
    for (x, y) in &cells {
        writeln!(written, "#P {} {}\n*", x - left, y - top).expect("a string takes any text");
    }
    Some(Ok(written.into_bytes()))
}

/// Columns and rows of the live cells; `None` if a character has no meaning.
fn live_cells(strips: &[u8]) -> Option<Vec<(i64, i64)>> {
    let mut cells = Vec::new();
    let (mut x, mut y) = (0, 0);
    let mut letters = strips.iter().map(|&letter| char::from(letter));
    while let Some(letter) = letters.next() {
        match letter {
            '0'..='9' | 'a'..='v' => {
                let column = letter.to_digit(32)?;
                let alive = (0..5).filter(|row| column >> row & 1 == 1);
                cells.extend(alive.map(|row| (x, y + row)));
                x += 1;
            }
            'w' => x += 2,
            'x' => x += 3,
            'y' => x += 4 + i64::from(letters.next()?.to_digit(36)?),
            'z' => (x, y) = (0, y + 5),
            _ => return None,
        }
    }
    Some(cells)
}
