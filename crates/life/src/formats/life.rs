//! Life 1.05 and 1.06, the formats of early PC programs. 1.05 has blocks of rows, each after a line
//! `#P x y` with its position; 1.06 has a line `x y` for each live cell.
//!
//! Positions may be negative. The pattern extends from the first column and row with a live cell to
//! the last.

use crate::format::{Flaw, Format, far_apart};
use crate::formats::plaintext::each_part;
use crate::frame::Frame;
use crate::run::{Extent, Run};
use crate::text::{self, lines, whole, word};
use crate::{Rule, Size};
use lang::{Message, message};

/// Checks and measures a text of version 1.05 or 1.06, and calls `run` with its live cells, counted from
/// this column and row.
pub(crate) fn read(
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
pub(crate) fn version(marked: &[u8]) -> Option<&[u8]> {
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
