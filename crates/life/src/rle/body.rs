//! The body: counts and the letters `b o $ !`, read as runs of live cells. Cells may also be given
//! by state: `.` and `A` to `X`, `pA` to `yX`, as Golly writes rules with more than two states.

use crate::Size;
use crate::fault::{Flaw, named};
use crate::frame::Remarks;
use crate::run::Run;
use crate::text::line_end;
use lang::{Message, message};

/// A reader's position in a body. White space is ignored everywhere, and lines that start with `#`
/// are skipped.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
    x: u32,
    y: u32,
    met: Remarks,
    has_ended: bool,
}

/// The meaning of a letter in a body.
enum Letter {
    Dead,
    Live,
    RowEnd,
    End,
}

impl<'a> Cursor<'a> {
    /// A cursor at this offset of the text.
    pub(super) fn new(text: &'a [u8], at: usize) -> Cursor<'a> {
        Cursor {
            text,
            at,
            x: 0,
            y: 0,
            met: Remarks::default(),
            has_ended: false,
        }
    }

    /// The highest cell state so far; 0 if there were only dead and live cells.
    pub(super) fn states(&self) -> u8 {
        self.met.states
    }

    /// Whether the `!` has been reached.
    pub(super) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// The next run of live cells; `None` at the `!` or the text's end.
    pub(super) fn next_run(&mut self) -> Result<Option<Run>, Flaw> {
        loop {
            let (count_at, count) = self.read_count()?;
            let Some(&first) = self.text.get(self.at) else {
                return Ok(None);
            };
            match self.read_letter(first)? {
                Letter::End => return Ok(None),
                Letter::Dead => self.x = self.x.saturating_add(count),
                Letter::Live => {
                    let run = Run {
                        x: self.x,
                        y: self.y,
                        length: count,
                    };
                    self.x = self.x.saturating_add(count);
                    if self.x > Size::MAX_SIDE || self.y >= Size::MAX_SIDE {
                        return Err((
                            count_at,
                            message!(
                                "live cells lie beyond {max} cells, the longest side of a lattice; a smaller pattern is needed",
                                max = Size::MAX_SIDE
                            ),
                        ));
                    }
                    return Ok(Some(run));
                }
                Letter::RowEnd => (self.x, self.y) = (0, self.y.saturating_add(count)),
            }
        }
    }

    /// Reads the letter that starts with byte `first` and moves past it, except for `!`.
    fn read_letter(&mut self, first: u8) -> Result<Letter, Flaw> {
        let state = match first {
            b'!' => {
                self.has_ended = true;
                return Ok(Letter::End);
            }
            b'$' => {
                self.at += 1;
                return Ok(Letter::RowEnd);
            }
            b'b' | b'.' => 0,
            b'o' => 1,
            b'A'..=b'X' => first - b'A' + 1,
            b'p'..=b'y' => match self.text.get(self.at + 1) {
                Some(&second @ b'A'..=b'X') => {
                    let state = u16::from(first - b'p' + 1) * 24 + u16::from(second - b'A' + 1);
                    let state = u8::try_from(state);
                    let state = state.map_err(|_| (self.at + 1, unknown(second)))?;
                    self.at += 1;
                    state
                }
                // Alone it is a live cell, in files that colour objects.
                _ => 1,
            },
            other => return Err((self.at, unknown(other))),
        };
        self.at += 1;
        Ok(if self.met.see(state) {
            Letter::Live
        } else {
            Letter::Dead
        })
    }

    /// The count before the next letter and its offset. No count, or 0, means 1, as in Golly. Moves
    /// to the letter, or to the text's end.
    fn read_count(&mut self) -> Result<(usize, u32), Flaw> {
        let mut count: Option<(usize, u32)> = None;
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b'0'..=b'9' => {
                    let (start, so_far) = count.unwrap_or((self.at, 0));
                    let more = so_far
                        .saturating_mul(10)
                        .saturating_add(u32::from(byte - b'0'));
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
                    self.at += 1;
                }
                b'#' if self.at_line_start() => self.at = line_end(self.text, self.at),
                _ if byte.is_ascii_whitespace() => self.at += 1,
                _ => break,
            }
        }
        let (start, count) = count.unwrap_or((self.at, 1));
        Ok((start, count.max(1)))
    }

    fn at_line_start(&self) -> bool {
        self.at
            .checked_sub(1)
            .is_none_or(|before| matches!(self.text[before], b'\n' | b'\r'))
    }
}

/// The flaw of a byte that has no meaning in a body.
fn unknown(byte: u8) -> Message {
    message!(
        "unknown {it}; cells are b (dead) and o (alive), or . and A to X by their states, a row ends with $ and the pattern with !",
        it = named(byte)
    )
}

/// The runs of live cells of a parsed RLE pattern.
#[derive(Clone, Debug)]
pub struct Runs<'a>(pub(super) Cursor<'a>);

impl Iterator for Runs<'_> {
    type Item = Run;

    fn next(&mut self) -> Option<Run> {
        self.0.next_run().expect("the body was read before")
    }
}
