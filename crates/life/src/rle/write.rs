//! Writing a whole lattice as RLE.

use crate::Size;
use crate::frame::Head;
use crate::run::LiveRuns;
use std::io::{self, Write};
use std::{panic, thread};

/// Maximum length of a body's line, as the format requires.
const LINE: usize = 70;
/// Bytes to buffer before writing.
const CHUNK: usize = 1 << 16;
/// Minimum words for each thread; fewer are not worth starting it.
const MIN_WORDS_PER_THREAD: usize = 1 << 17;
/// Words that one of several threads turns into runs at a time. As text a word takes at most 32 bytes
/// and its row's end.
const WORDS_PER_THREAD: usize = 1 << 14;
/// The same without other threads.
const WORDS_ALONE: usize = 1 << 8;

/// Writes a lattice: the generation, unless it is 0, and the notes, the header
/// `x = W, y = H, rule = R:TW,H`, with the torus only if it is one, then runs in lines of at most 70
/// characters, dead cells at the ends of rows left out, ended by `!` and a line feed.
///
/// Buffers up to 64 KiB, so `out` needs no buffer; of a large lattice also some MiB of text for each
/// core.
///
/// # Errors
/// Errors of `out`.
pub fn write(head: Head, words: &[u32], out: &mut dyn Write) -> io::Result<()> {
    let mut writer = RowWriter::begin(head, out)?;
    writer.rows(words)?;
    writer.finish()
}

/// Writes the text of [`write()`] for a lattice of which some rows at a time are in memory.
pub struct RowWriter<'a, W: ?Sized> {
    out: &'a mut W,
    words_per_row: usize,
    /// Ends of rows since the last live cell.
    row_ends: u32,
    /// Lines that are not written yet.
    text: Vec<u8>,
    /// Length of the last line so far.
    line: usize,
}

impl<'a, W: Write + ?Sized> RowWriter<'a, W> {
    /// Writes what stands before the cells.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn begin(head: Head, out: &'a mut W) -> io::Result<RowWriter<'a, W>> {
        if head.generation > 0 {
            // Golly only looks for it in the first line.
            writeln!(out, "#CXRLE Gen={}", head.generation)?;
        }
        head.notes.write(["#N ", "#O ", "#C "], out)?;
        let (width, height) = (head.size.width(), head.size.height());
        write!(out, "x = {width}, y = {height}, rule = {}", head.rule)?;
        if head.torus {
            write!(out, ":T{width},{height}")?;
        }
        writeln!(out)?;
        Ok(RowWriter::body(head.size, out))
    }

    /// Begins with the cells: whoever calls it has written what stands before them.
    pub fn body(size: Size, out: &'a mut W) -> RowWriter<'a, W> {
        RowWriter {
            out,
            words_per_row: size.words_per_row(),
            row_ends: 0,
            text: Vec::with_capacity(CHUNK + 2 * LINE),
            line: 0,
        }
    }

    /// Writes the next rows, whole ones.
    ///
    /// # Errors
    /// Errors of the file.
    pub fn rows(&mut self, words: &[u32]) -> io::Result<()> {
        // Finding the number of cores reads files, which is not worth it for small lattices.
        let threads = match words.len() / MIN_WORDS_PER_THREAD {
            0 | 1 => 1,
            most => thread::available_parallelism().map_or(1, |n| n.get().min(most)),
        };
        let at_a_time = if threads > 1 {
            WORDS_PER_THREAD
        } else {
            WORDS_ALONE
        };
        self.rows_by(threads, at_a_time, words)
    }

    /// The same, with this many threads that each take this many words at a time. While they turn rows
    /// into runs, this one writes those before.
    pub(crate) fn rows_by(
        &mut self,
        threads: usize,
        words_a_thread: usize,
        words: &[u32],
    ) -> io::Result<()> {
        let per_row = self.words_per_row;
        let rows = (words_a_thread / per_row).max(1);
        let mut parts = words.chunks(rows * per_row);
        if threads <= 1 {
            return parts.try_for_each(|part| self.put_rows(&Runs::of(part, per_row)?));
        }
        let mut ready: Vec<Runs> = Vec::new();
        loop {
            let batch: Vec<&[u32]> = parts.by_ref().take(threads).collect();
            let next = thread::scope(|scope| {
                let start = |part| {
                    let thread = thread::Builder::new();
                    let started = thread.spawn_scoped(scope, move || Runs::of(part, per_row));
                    // If the system cannot start more threads, this one does it.
                    started.map_err(|_| Runs::of(part, per_row))
                };
                let started: Vec<_> = batch.iter().map(|&part| start(part)).collect();
                ready.iter().try_for_each(|runs| self.put_rows(runs))?;
                let runs = started.into_iter().map(|started| match started {
                    Ok(thread) => thread
                        .join()
                        .unwrap_or_else(|why| panic::resume_unwind(why)),
                    Err(runs) => runs,
                });
                runs.collect::<io::Result<Vec<_>>>()
            })?;
            if next.is_empty() {
                return Ok(());
            }
            ready = next;
        }
    }

    fn put_rows(&mut self, runs: &Runs) -> io::Result<()> {
        self.row_ends += runs.rows_before;
        if !runs.text.is_empty() {
            let mut ends = Vec::new();
            put(&mut ends, self.row_ends, b'$');
            self.put_text(&ends)?;
            self.put_text(&runs.text)?;
            self.row_ends = 0;
        }
        self.row_ends += runs.rows_after;
        Ok(())
    }

    /// Appends the text of whole runs. A line ends before the run that it has no room for.
    fn put_text(&mut self, mut runs: &[u8]) -> io::Result<()> {
        while self.line + runs.len() > LINE {
            let room = &runs[..LINE - self.line];
            let fits = room.iter().rposition(|letter| !letter.is_ascii_digit());
            let (line, rest) = runs.split_at(fits.map_or(0, |last| last + 1));
            self.text.extend_from_slice(line);
            self.text.push(b'\n');
            (runs, self.line) = (rest, 0);
            if self.text.len() > CHUNK {
                self.out.write_all(&self.text)?;
                self.text.clear();
            }
        }
        self.text.extend_from_slice(runs);
        self.line += runs.len();
        Ok(())
    }

    /// Ends the text. Rows that were not written are dead.
    ///
    /// # Errors
    /// Errors of the file.
    pub fn finish(mut self) -> io::Result<()> {
        self.put_text(b"!")?;
        self.text.push(b'\n');
        self.out.write_all(&self.text)?;
        self.out.flush()
    }
}

/// The runs of some rows, as text in one line.
struct Runs {
    /// Rows before the first one with a live cell; 0 if there is none.
    rows_before: u32,
    /// From the first live row's runs to the last one's.
    text: Vec<u8>,
    /// Row ends behind the text.
    rows_after: u32,
}

impl Runs {
    /// # Errors
    /// There is no memory for the text.
    fn of(words: &[u32], words_per_row: usize) -> io::Result<Runs> {
        let mut runs = Runs {
            rows_before: 0,
            text: Vec::new(),
            rows_after: 0,
        };
        for row in words.chunks_exact(words_per_row) {
            let mut dead_from = 0;
            // At most a letter for each cell, and the row ends before them.
            runs.text.try_reserve(32 * words_per_row + 11)?;
            for (first, end) in LiveRuns::new(row) {
                if runs.text.is_empty() {
                    runs.rows_before = runs.rows_after;
                } else {
                    put(&mut runs.text, runs.rows_after, b'$');
                }
                put(&mut runs.text, first - dead_from, b'b');
                put(&mut runs.text, end - first, b'o');
                (runs.rows_after, dead_from) = (0, end);
            }
            runs.rows_after += 1;
        }
        Ok(runs)
    }
}

/// Appends a run of `count` of this letter; nothing for 0.
fn put(text: &mut Vec<u8>, count: u32, letter: u8) {
    match count {
        0 => {}
        1 => text.push(letter),
        2..=9 => text.extend([b'0' + count as u8, letter]),
        _ => {
            text.extend(count.to_string().bytes());
            text.push(letter);
        }
    }
}
