//! Plaintext: the pattern as one sees it, a line a row. `!` starts a comment.

use super::{Format, Frame, Sheet};
use crate::Size;
use crate::run::{LiveRuns, Run};
use crate::text::{self, Flaw, Shown, lines};
use lang::tr;
use std::io::{self, Write};

/// What is wrong at one place of a plaintext pattern.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PlaintextFault {
    /// A character that a row does not have.
    #[error("{}", tr!("unknown {it}; a row of a plaintext pattern has . (dead) and O (alive), and a comment starts with !", it = .0))]
    Letter(Shown),
    /// A row or a column longer than a lattice's side.
    #[error("{}", tr!("the pattern reaches beyond {max} cells, the longest side of a lattice; a smaller pattern is needed", max = Size::LONGEST_SIDE))]
    Far,
    /// Nothing at all.
    #[error("{}", tr!("the text is empty; a plaintext pattern has rows of . (dead) and O (alive)"))]
    Empty,
}

/// Checks the text and measures it. Lines of nothing are dead rows, but not before the first row
/// or after the last.
pub(crate) fn read(text: &[u8]) -> Result<Frame, Flaw<PlaintextFault>> {
    if text[text::start(text)..].trim_ascii().is_empty() {
        return Err((text.len(), PlaintextFault::Empty));
    }
    let mut frame = Frame::default();
    for (y, at, row) in rows(text) {
        let unknown = |cell: &u8| !b".O*".contains(cell);
        if let Some(offset) = row.iter().position(unknown) {
            let letter = Shown(row[offset]);
            return Err((at + offset, PlaintextFault::Letter(letter)));
        }
        let longest = Size::LONGEST_SIDE as usize;
        if row.len() > longest {
            return Err((at + longest, PlaintextFault::Far));
        }
        if y >= Size::LONGEST_SIDE {
            return Err((at, PlaintextFault::Far));
        }
        frame.width = frame.width.max(row.len() as u32);
        frame.height = y + 1;
    }
    Ok(frame)
}

/// Goes over the live cells of a text that has been read.
pub(crate) fn each_run(text: &[u8], mut run: impl FnMut(Run)) {
    for (y, _, row) in rows(text) {
        for (first, length) in runs_of_row(row) {
            let (x, length) = (first as u32, length as u32);
            run(Run { x, y, length });
        }
    }
}

/// The rows that have cells: number, offset of the first cell, cells.
fn rows(text: &[u8]) -> impl Iterator<Item = (u32, usize, &[u8])> {
    let lines = lines(text, text::start(text)).filter(|(_, line)| !line.starts_with(b"!"));
    lines
        .skip_while(|(_, line)| line.is_empty())
        .zip(0u32..)
        .filter(|((_, line), _)| !line.is_empty())
        .map(|((at, line), y)| (y, at, line))
}

/// The live cells of a row of characters, `.` dead and all others alive: first column, length.
pub(super) fn runs_of_row(row: &[u8]) -> impl Iterator<Item = (usize, usize)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        at += row[at..].iter().take_while(|cell| **cell == b'.').count();
        let first = at;
        at += row[at..].iter().take_while(|cell| **cell != b'.').count();
        (at > first).then_some((first, at - first))
    })
}

/// Writes the sheet: every row whole, so that the sides are kept.
///
/// # Errors
/// What `out` says.
pub fn write(sheet: Sheet, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    sheet.notes.write(Format::Plaintext, out)?;
    let size = sheet.lattice.size();
    let mut line = vec![b'.'; size.width() as usize + 1];
    line[size.width() as usize] = b'\n';
    for row in sheet.lattice.words().chunks_exact(size.words_per_row()) {
        let cells = &mut line[..size.width() as usize];
        cells.fill(b'.');
        for (first, end) in LiveRuns::new(row) {
            cells[first as usize..end as usize].fill(b'O');
        }
        out.write_all(&line)?;
    }
    out.flush()
}
