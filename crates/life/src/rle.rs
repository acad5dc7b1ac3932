//! RLE, the pattern format that all Life programs read and write.
//!
//! Reading stores no cells: a text is checked and measured as a whole, then read once more and drawn. So a
//! hostile text can only use memory for the text and the lattice, and an invalid text draws nothing.

use crate::frame::{Frame, Head, Remarks, read_rule};
use crate::run::{LiveRuns, Run};
use crate::soup::threads;
use crate::text::{self, Flaw, blanks, count_numbers, line_end, located, named, whole};
use crate::{Lattice, Size};
use lang::{Message, message};
use std::io::{self, Write};
use std::{panic, thread};

/// Reads a text that is a whole lattice: with its end, and of two states. `make` makes the lattice that it is
/// drawn into, without a live cell, once the text has been checked: as large as the torus, if the header names
/// one, else as the header says. Returns it with its generation.
///
/// # Errors
/// The first thing that is wrong, with its line and column, or what `make` says.
pub fn read_whole(
    text: &[u8],
    make: impl FnOnce(Size) -> Result<Lattice, Message>,
) -> Result<(Lattice, u64), Message> {
    let frame = read(text, |_| {}).map_err(|flaw| {
        let error = located(text, flaw);
        message!("in this lattice: {error}")
    })?;
    let remarks = frame.remarks;
    if remarks.no_end || remarks.history || remarks.states > 0 {
        return Err(message!(
            "this lattice is not whole: it has no '!' at its end, or cells of several states"
        ));
    }
    let size = match frame.torus {
        Some(torus) => torus,
        None => Size::new(frame.width.into(), frame.height.into())?,
    };
    if frame.width > size.width || frame.height > size.height {
        return Err(message!("this lattice is larger than its torus"));
    }
    let mut lattice = make(size)?;
    let drawn = read(text, |run| run.draw_into(&mut lattice, 0, 0));
    drawn.expect("the text was read before");
    Ok((lattice, frame.generation))
}

/// Checks and measures the text, and calls `run` with its live cells, from the top.
pub(crate) fn read(text: &[u8], mut run: impl FnMut(Run)) -> Result<Frame, Flaw> {
    let (mut frame, body_at) = read_header(text)?;
    read_body(text, body_at, &mut frame.remarks, |live| {
        frame
            .live
            .add(live.x.into(), live.y.into(), live.length.into());
        frame.width = frame.width.max(live.x + live.length);
        frame.height = frame.height.max(live.y + 1);
        run(live);
    })?;
    Ok(frame)
}

// The comments and the header line: `x = W, y = H, rule = R:TW,H`. Some files lack it, and begin
// with their cells: they are as large as their live cells need. XLife has the rule in a comment,
// `#r 23/3`, Golly the generation, `#CXRLE Gen=100`, and LifeBC has `skip`, `fps`, `h`, `v` and `gen` in
// the header.

/// The header and the offset at which the body starts.
fn read_header(text: &[u8]) -> Result<(Frame, usize), Flaw> {
    let mut frame = Frame::default();
    let at = read_comments(text, text::start(text), &mut frame)?;
    let end = line_end(text, at);
    match &text[at..end] {
        [] => {
            return Err((
                end,
                message!(
                    "the text ends without a header; an RLE pattern has a line such as 'x = 3, y = 3, rule = B3/S23', then the cells"
                ),
            ));
        }
        [b'x' | b'X', rest @ ..] if text::is_header(rest) => {}
        line if is_body(line) => return Ok((frame, at)),
        [b'x' | b'X', ..] => {}
        _ => {
            return Err((
                at,
                message!(
                    "this is not an RLE pattern; after any lines with # it must go on with a line such as 'x = 3, y = 3, rule = B3/S23'"
                ),
            ));
        }
    }
    read_line(&text[..end], at, &mut frame)?;
    // Like Golly, which uses the last rule.
    let body_at = read_comments(text, end, &mut frame)?;
    Ok((frame, body_at))
}

/// Reads blank lines and comments from this offset on, up to anything else.
fn read_comments(text: &[u8], mut at: usize, frame: &mut Frame) -> Result<usize, Flaw> {
    loop {
        at += blanks(&text[at..]);
        if text.get(at) != Some(&b'#') {
            return Ok(at);
        }
        let end = line_end(text, at);
        match &text[at + 1..end] {
            [b'r', rule @ ..] if !rule.trim_ascii().is_empty() => frame.read_rule(rule, at + 2)?,
            // Some files use it for comments or the pattern's position.
            [b'R', rule @ ..] if count_numbers(rule).is_none_or(|count| count == 0) => {
                match read_rule(rule.trim_ascii()) {
                    Ok(read) => frame.take_rule(read),
                    Err(error) if !error.is_notation => {}
                    Err(error) => return Err((at + 2 + blanks(rule), error.message)),
                }
            }
            [b'C', b'X', b'R', b'L', b'E', keys @ ..] => read_keys(keys, frame),
            _ => {}
        }
        at = end;
    }
}

/// The generation among Golly's `Pos=0,-1377 Gen=3480106827776`.
fn read_keys(keys: &[u8], frame: &mut Frame) {
    let keys = keys.split(u8::is_ascii_whitespace);
    for generation in keys.filter_map(|key| key.strip_prefix(b"Gen=")) {
        frame.read_generation(generation);
    }
}

/// Whether a line contains only cells, up to a `!`.
fn is_body(line: &[u8]) -> bool {
    let cells = line.split(|&byte| byte == b'!').next().unwrap_or_default();
    let counts = |byte: &u8| byte.is_ascii_digit() || byte.is_ascii_whitespace();
    let letter = |byte: &u8| b"bo$xy".contains(byte);
    cells.iter().any(letter) && cells.iter().all(|byte| letter(byte) || counts(byte))
}

/// Reads the header line, which begins at `at` and ends with the text.
fn read_line(text: &[u8], mut at: usize, frame: &mut Frame) -> Result<(), Flaw> {
    let (mut width, mut height) = (None, None);
    while at < text.len() {
        let name = &text[at..][..name_length(&text[at..])];
        let value = text[at + name.len()..].trim_ascii_start();
        let value = value.strip_prefix(b"=").ok_or_else(|| (at, bad_field()))?;
        let value = value.trim_ascii_start();
        let value_at = text.len() - value.len();
        let side = |name| read_side(value, name).map_err(|flaw| (value_at, flaw));
        let name = name.to_ascii_lowercase();
        let length = match name.as_slice() {
            b"x" if width.is_none() => width.insert(side('x')?).1,
            b"y" if height.is_none() => height.insert(side('y')?).1,
            b"rule" => {
                let length = rule_length(value);
                frame.read_rule(&value[..length], value_at)?;
                length
            }
            // LifeBC's fields: display settings and the generation.
            b"skip" | b"fps" | b"h" | b"v" | b"gen" => {
                if name == b"gen" {
                    frame.read_generation(value);
                }
                value.iter().take_while(|byte| **byte != b',').count()
            }
            _ => return Err((at, bad_field())),
        };
        let is_next = |byte: &u8| !(*byte == b',' || byte.is_ascii_whitespace());
        let next = value[length..].iter().position(is_next);
        at = next.map_or(text.len(), |next| value_at + length + next);
    }
    let lacks = |it: char| message!("the header lacks {it}; write it as x = WIDTH, y = HEIGHT");
    (frame.width, _) = width.ok_or_else(|| (at, lacks('x')))?;
    (frame.height, _) = height.ok_or_else(|| (at, lacks('y')))?;
    Ok(())
}

/// The flaw of a field that is unknown, repeated or without `=`.
fn bad_field() -> Message {
    message!(
        "the header must be x = WIDTH, y = HEIGHT and at most rule = RULE after them, such as 'x = 3, y = 3, rule = B3/S23'"
    )
}

fn name_length(text: &[u8]) -> usize {
    text.iter().take_while(|b| b.is_ascii_alphabetic()).count()
}

/// Length of the rule at the start of this text. It ends at the line's end, or at a comma before
/// another field, since some rules contain commas.
fn rule_length(text: &[u8]) -> usize {
    let mut commas = (0..text.len()).filter(|&at| text[at] == b',');
    let before_field = commas.find(|at| begins_field(&text[at + 1..]));
    before_field.unwrap_or(text.len())
}

/// Whether this text starts with a field's name and `=`.
fn begins_field(text: &[u8]) -> bool {
    let rest = text.trim_ascii_start();
    let name = name_length(rest);
    name > 0 && text::is_header(&rest[name..])
}

/// Reads a side and returns how long its text is. A side that is blank (as in `y = rule = B3/S23`),
/// negative or too large gives 0, so the live cells determine the size.
fn read_side(value: &[u8], name: char) -> Result<(u32, usize), Message> {
    let is_blank = matches!(value.first(), None | Some(b',')) || begins_field(value);
    let sign = usize::from(matches!(value.first(), Some(b'-' | b'+')));
    let digits = value[sign..].iter().take_while(|b| b.is_ascii_digit());
    let length = sign + digits.count();
    if length == sign && !is_blank {
        return Err(message!(
            "{it} must be a whole number of cells, such as '{it} = 3'",
            it = name
        ));
    }
    let side = whole(&value[..length]).and_then(|side| u32::try_from(side).ok());
    let side = side.filter(|side| *side <= Size::MAX_SIDE);
    Ok((side.unwrap_or(0), length))
}

// The body: counts and the letters `b o $ !`, read as runs of live cells. Cells may also be given
// by state: `.` and `A` to `X`, `pA` to `yX`, as Golly writes rules with more than two states.

/// Reads a body from this offset on, to its `!` or to the text's end: calls `live` with its runs of live
/// cells, from the top. White space is ignored everywhere, and lines that start with `#` are skipped.
fn read_body(
    text: &[u8],
    mut at: usize,
    remarks: &mut Remarks,
    mut live: impl FnMut(Run),
) -> Result<(), Flaw> {
    let (mut x, mut y) = (0u32, 0u32);
    loop {
        let (count_at, count) = read_count(text, &mut at)?;
        let Some(&first) = text.get(at) else {
            remarks.no_end = true;
            return Ok(());
        };
        let state = match first {
            b'!' => return Ok(()),
            b'$' => {
                (x, y) = (0, y.saturating_add(count));
                at += 1;
                continue;
            }
            b'b' | b'.' => 0,
            b'o' => 1,
            b'A'..=b'X' => first - b'A' + 1,
            b'p'..=b'y' => match text.get(at + 1) {
                Some(&second @ b'A'..=b'X') => {
                    at += 1;
                    let state = u16::from(first - b'p' + 1) * 24 + u16::from(second - b'A' + 1);
                    u8::try_from(state).map_err(|_| (at, unknown(second)))?
                }
                // Alone it is a live cell, in files that colour objects.
                _ => 1,
            },
            other => return Err((at, unknown(other))),
        };
        at += 1;
        let end = x.saturating_add(count);
        if remarks.see(state) {
            if end > Size::MAX_SIDE || y >= Size::MAX_SIDE {
                return Err((
                    count_at,
                    message!(
                        "live cells lie beyond {max} cells, the longest side of a lattice; a smaller pattern is needed",
                        max = Size::MAX_SIDE
                    ),
                ));
            }
            live(Run {
                x,
                y,
                length: count,
            });
        }
        x = end;
    }
}

/// The count before the next letter and its offset. No count, or 0, means 1, as in Golly. Moves to the
/// letter, or to the text's end.
fn read_count(text: &[u8], at: &mut usize) -> Result<(usize, u32), Flaw> {
    let mut count = None;
    while let Some(&byte) = text.get(*at) {
        let is_first = || matches!(text[..*at], [] | [.., b'\n' | b'\r']);
        match byte {
            b'0'..=b'9' => {
                let (start, so_far) = count.unwrap_or((*at, 0u32));
                let more = so_far * 10 + u32::from(byte - b'0');
                if more > Size::MAX_SIDE {
                    return Err((
                        start,
                        message!(
                            "a count is more than {max}, the longest side of a lattice; a smaller pattern is needed",
                            max = Size::MAX_SIDE
                        ),
                    ));
                }
                count = Some((start, more));
                *at += 1;
            }
            b'#' if is_first() => *at = line_end(text, *at),
            _ if byte.is_ascii_whitespace() => *at += 1,
            _ => break,
        }
    }
    let (start, count) = count.unwrap_or((*at, 1));
    Ok((start, count.max(1)))
}

/// The flaw of a byte that has no meaning in a body.
fn unknown(byte: u8) -> Message {
    message!(
        "unknown {it}; cells are b (dead) and o (alive), or . and A to X by their states, a row ends with $ and the pattern with !",
        it = named(byte)
    )
}

// Writing a whole lattice as RLE.

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
        let (width, height) = (head.size.width, head.size.height);
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
        let threads = threads(words.len() / MIN_WORDS_PER_THREAD);
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
