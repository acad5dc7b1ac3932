//! Writing a whole lattice as RLE.

use crate::formats::{Format, Notes, Sheet};
use crate::run::LiveRuns;
use crate::{Lattice, Rule};
use std::io::{self, Write};

/// Maximum length of a body's line, as the format requires.
const LINE: usize = 70;
/// Bytes to buffer before writing.
const CHUNK: usize = 1 << 16;

/// Writes the whole lattice: the header `x = W, y = H, rule = R:TW,H`, then runs in lines of at
/// most 70 characters, dead cells at the ends of rows left out, ended by `!` and a line feed.
///
/// Processes one word at a time and buffers up to 64 KiB, so `out` needs no buffer.
///
/// # Errors
/// Errors of `out`.
pub fn write(lattice: &Lattice, rule: Rule, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let notes = &Notes::default();
    let sheet = Sheet {
        lattice,
        rule,
        torus: true,
        generation: 0,
        notes,
    };
    write_sheet(sheet, out)
}

/// As [`write`], with the generation, unless it is 0, and the notes before the header, and the torus
/// named only if it is one.
///
/// # Errors
/// Errors of `out`.
pub fn write_sheet(sheet: Sheet, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    if sheet.generation > 0 {
        // Golly only looks for it in the first line.
        writeln!(out, "#CXRLE Gen={}", sheet.generation)?;
    }
    sheet.notes.write(Format::Rle, out)?;
    let lattice = sheet.lattice;
    let (width, height) = (lattice.size().width(), lattice.size().height());
    let rule = sheet.rule_and_torus();
    writeln!(out, "x = {width}, y = {height}, rule = {rule}")?;
    let mut body = Body {
        out,
        text: Vec::with_capacity(CHUNK + 2 * LINE),
        line_start: 0,
    };
    let mut row_ends = 0;
    for row in lattice.words().chunks_exact(lattice.size().words_per_row()) {
        let mut dead_from = 0;
        for (first, end) in LiveRuns::new(row) {
            body.put(row_ends, b'$')?;
            body.put(first - dead_from, b'b')?;
            body.put(end - first, b'o')?;
            (row_ends, dead_from) = (0, end);
        }
        row_ends += 1;
    }
    body.finish()
}

/// Buffers the lines of a body.
struct Body<'a, W: ?Sized> {
    out: &'a mut W,
    text: Vec<u8>,
    /// Offset in `text` of the last line's start.
    line_start: usize,
}

impl<W: Write + ?Sized> Body<'_, W> {
    /// Appends a run of `count` of this letter; nothing for 0.
    fn put(&mut self, count: u32, letter: u8) -> io::Result<()> {
        match count {
            0 => return Ok(()),
            1 => self.text.push(letter),
            2..=9 => self.text.extend([b'0' + count as u8, letter]),
            _ => write!(self.text, "{count}{}", char::from(letter))?,
        }
        if self.text.len() - self.line_start > LINE {
            self.break_before_last(count);
            if self.text.len() > CHUNK {
                self.out.write_all(&self.text[..self.line_start])?;
                self.text.drain(..self.line_start);
                self.line_start = 0;
            }
        }
        Ok(())
    }

    /// Moves the last run, which has this count, to a new line.
    fn break_before_last(&mut self, count: u32) {
        let digits = if count == 1 {
            0
        } else {
            count.ilog10() as usize + 1
        };
        let at = self.text.len() - digits - 1;
        self.text.insert(at, b'\n');
        self.line_start = at + 1;
    }

    fn finish(mut self) -> io::Result<()> {
        self.put(1, b'!')?;
        self.text.push(b'\n');
        self.out.write_all(&self.text)?;
        self.out.flush()
    }
}
