//! The body: counts and the letters `b o $ !`, read as runs of live cells.

use super::error::{Flaw, RleFault};
use crate::Size;
use crate::run::Run;
use crate::text::{Shown, line_end};

/// Where a reader of a body stands. White space counts for nothing anywhere, and lines that
/// start with `#` are passed over.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
    x: u32,
    y: u32,
}

impl<'a> Cursor<'a> {
    /// A cursor at this offset of the text.
    pub(super) fn new(text: &'a [u8], at: usize) -> Cursor<'a> {
        Cursor {
            text,
            at,
            x: 0,
            y: 0,
        }
    }

    /// The next run of live cells; none at the `!`.
    pub(super) fn next_run(&mut self) -> Result<Option<Run>, Flaw> {
        loop {
            let (count_at, count) = self.read_count()?;
            let Some(&letter) = self.text.get(self.at) else {
                return Err((self.at, RleFault::NoEnd));
            };
            match letter {
                b'!' => return Ok(None),
                b'b' => self.x = self.x.saturating_add(count),
                b'o' => {
                    let run = Run {
                        x: self.x,
                        y: self.y,
                        length: count,
                    };
                    self.x = self.x.saturating_add(count);
                    if self.x > Size::LONGEST_SIDE || self.y >= Size::LONGEST_SIDE {
                        return Err((count_at, RleFault::Far));
                    }
                    self.at += 1;
                    return Ok(Some(run));
                }
                b'$' => (self.x, self.y) = (0, self.y.saturating_add(count)),
                other => return Err((self.at, RleFault::Letter(Shown(other)))),
            }
            self.at += 1;
        }
    }

    /// The count before the next letter (1 where there is none) and its offset; moves to the
    /// letter, or to the text's end.
    fn read_count(&mut self) -> Result<(usize, u32), Flaw> {
        let mut count: Option<(usize, u32)> = None;
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b'0'..=b'9' => {
                    let (start, so_far) = count.unwrap_or((self.at, 0));
                    let more = so_far
                        .saturating_mul(10)
                        .saturating_add(u32::from(byte - b'0'));
                    if more > Size::LONGEST_SIDE {
                        return Err((start, RleFault::Count));
                    }
                    count = Some((start, more));
                    self.at += 1;
                }
                b'#' if self.at_line_start() => self.at = line_end(self.text, self.at),
                _ if byte.is_ascii_whitespace() => self.at += 1,
                _ => break,
            }
        }
        match count {
            Some((start, 0)) => Err((start, RleFault::Zero)),
            Some(count) => Ok(count),
            None => Ok((self.at, 1)),
        }
    }

    fn at_line_start(&self) -> bool {
        self.at
            .checked_sub(1)
            .is_none_or(|before| matches!(self.text[before], b'\n' | b'\r'))
    }
}

/// The runs of live cells of an RLE pattern that has been read.
#[derive(Clone, Debug)]
pub struct Runs<'a>(pub(super) Cursor<'a>);

impl Iterator for Runs<'_> {
    type Item = Run;

    fn next(&mut self) -> Option<Run> {
        self.0.next_run().expect("the body was read before")
    }
}
