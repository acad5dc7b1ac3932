//! Plaintext: one line per row; `!` starts a comment. Rows may use dblife's counts, as in
//! `23.O15.3O`, and its commands, as in `5k10h@!`, which are ignored.

use crate::Size;
use crate::format::{Flaw, named};
use crate::frame::Frame;
use crate::frame::Head;
use crate::run::{LiveRuns, Run};
use crate::text::{self, lines};
use lang::{Message, message};
use std::io::{self, Write};

/// Checks and measures the text, and calls `run` with its live cells. Empty lines are dead rows, but not
/// before the first row or after the last.
pub(crate) fn read(text: &[u8], mut run: impl FnMut(Run)) -> Result<Frame, Flaw> {
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
    for (y, at, row) in rows(text) {
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
fn rows(text: &[u8]) -> impl Iterator<Item = (u32, usize, &[u8])> {
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
pub(super) fn each_part(
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
pub(crate) fn write(head: Head, words: &[u32], out: &mut dyn Write) -> io::Result<()> {
    head.notes.write(["!Name: ", "!Author: ", "! "], out)?;
    let width = head.size.width() as usize;
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
