//! Life 1.05 and 1.06, the formats of early PC programs. 1.05 has blocks of rows, each after a line
//! `#P x y` with its position; 1.06 has a line `x y` for each live cell.
//!
//! Positions may be negative. The pattern extends from the first column and row with a live cell to
//! the last.

use crate::fault::{Flaw, far_apart};
use crate::formats::plaintext::each_part;
use crate::frame::{Corner, Frame, read_rule};
use crate::run::{Extent, Run};
use crate::text::{self, lines, whole, word};
use crate::{Rule, Size};
use lang::{Message, message};

/// Bounding box of the live cells so far: left, right, top, bottom, inclusive.
#[derive(Clone, Copy, Default)]
struct Bounds(Option<[i64; 4]>);

impl Bounds {
    /// Extends the box by `length` cells from (x, y) on.
    fn add(&mut self, x: i64, y: i64, length: i64) -> Result<(), Message> {
        let [left, right, top, bottom] = self.0.unwrap_or([x, x, y, y]);
        if self.0.is_some() && left <= x && x + length - 1 <= right && top <= y && y <= bottom {
            return Ok(());
        }
        let bounds = [
            left.min(x),
            right.max(x + length - 1),
            top.min(y),
            bottom.max(y),
        ];
        let longest = i64::from(Size::MAX_SIDE);
        if bounds[1] - bounds[0] >= longest || bounds[3] - bounds[2] >= longest {
            return Err(far_apart());
        }
        self.0 = Some(bounds);
        Ok(())
    }

    /// Sets the frame's size, and returns it with the pattern's corner.
    fn measure(self, mut frame: Frame) -> (Frame, Corner) {
        let [left, right, top, bottom] = self.0.unwrap_or([0, -1, 0, -1]);
        frame.width = (right - left + 1) as u32;
        frame.height = (bottom - top + 1) as u32;
        frame.live = Extent::whole(frame.width, frame.height);
        (frame, Corner { x: left, y: top })
    }
}

/// Checks and measures a Life 1.05 text.
pub(crate) fn read_105(text: &[u8]) -> Result<(Frame, Corner), Flaw> {
    let mut bounds = Bounds::default();
    let mut frame = Frame::default();
    for step in Walk::new(text) {
        match step? {
            Step::Row { at, x, y, row } => {
                let added = each_part(row, false, unknown, |first, length| {
                    bounds.add(x + first as i64, y, length as i64)
                });
                added.map_err(|(offset, flaw)| (at + offset, flaw))?;
            }
            Step::Rule { at, text } => {
                frame.take_rule(read_rule(text).map_err(|error| (at, error.message))?);
            }
            Step::NormalRule => frame.rule = Some(Rule::LIFE),
        }
    }
    Ok(bounds.measure(frame))
}

/// The flaw of a character that is no cell.
fn unknown(it: String) -> Message {
    message!(
        "unknown {it}; a row has . (dead) and * (alive), and a block of rows starts with a line such as '#P -1 -1'"
    )
}

/// Calls `run` with the live cells of a checked Life 1.05 text.
pub(crate) fn each_run_105(text: &[u8], corner: Corner, mut run: impl FnMut(Run)) {
    for step in Walk::new(text) {
        if let Ok(Step::Row { x, y, row, .. }) = step {
            let _ = each_part(row, false, unknown, |first, length| {
                run(Run {
                    x: (x + first as i64 - corner.x) as u32,
                    y: (y - corner.y) as u32,
                    length: length as u32,
                });
                Ok(())
            });
        }
    }
}

/// A significant line of a Life 1.05 text.
enum Step<'a> {
    /// Cells in row `y` from column `x` on; `at` is the first one's offset.
    Row {
        at: usize,
        x: i64,
        y: i64,
        row: &'a [u8],
    },
    /// The rule of `#R`.
    Rule { at: usize, text: &'a [u8] },
    /// `#N`, which is Conway's rule.
    NormalRule,
}

/// Iterates over the significant lines of a Life 1.05 text. Rows before the first `#P` start at 0
/// 0; an empty line is a dead row.
struct Walk<'a> {
    lines: text::Lines<'a>,
    /// The block's left column.
    x: i64,
    /// The next row.
    y: i64,
}

impl<'a> Walk<'a> {
    fn new(text: &'a [u8]) -> Walk<'a> {
        Walk {
            lines: lines(text, text::start(text)),
            x: 0,
            y: 0,
        }
    }
}

impl<'a> Iterator for Walk<'a> {
    type Item = Result<Step<'a>, Flaw>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (at, line) = self.lines.next()?;
            let Some(marked) = line.strip_prefix(b"#") else {
                let (x, y) = (self.x, self.y);
                self.y += 1;
                if line.is_empty() {
                    continue;
                }
                return Some(Ok(Step::Row {
                    at,
                    x,
                    y,
                    row: line,
                }));
            };
            match marked.split_first() {
                // Without numbers, as Golly writes and reads it.
                Some((b'P' | b'p', [])) => (self.x, self.y) = (0, 0),
                Some((b'P' | b'p', _)) => match place(line, 2) {
                    Ok((x, y)) => (self.x, self.y) = (x, y),
                    Err(column) => {
                        return Some(Err((
                            at + column,
                            message!(
                                "a block's place must be its left column and its top row, such as '#P -1 -1'"
                            ),
                        )));
                    }
                },
                Some((b'R' | b'r', rule)) => {
                    return Some(Ok(Step::Rule {
                        at: at + 2 + blanks(rule),
                        text: rule.trim_ascii(),
                    }));
                }
                Some((b'N', rest)) if rest.trim_ascii().is_empty() => {
                    return Some(Ok(Step::NormalRule));
                }
                _ if version(marked).is_some_and(|version| version != b"1.05") => {
                    return Some(Err((
                        at,
                        message!(
                            "this is neither Life 1.05 nor 1.06; its first line must be '#Life 1.05' or '#Life 1.06'"
                        ),
                    )));
                }
                _ => {}
            }
        }
    }
}

/// The version that a line names after its `#`, such as `Life 1.05`.
pub(crate) fn version(marked: &[u8]) -> Option<&[u8]> {
    let (name, version) = marked.split_at_checked(4)?;
    name.eq_ignore_ascii_case(b"life")
        .then(|| version.trim_ascii())
}

fn blanks(text: &[u8]) -> usize {
    text.len() - text.trim_ascii_start().len()
}

/// Parses two integers from this offset to the line's end. Errors with the offset of the error.
fn place(line: &[u8], mut at: usize) -> Result<(i64, i64), usize> {
    let mut number = || {
        let found = word(line, &mut at);
        found
            .ok_or(line.len())
            .and_then(|(from, word)| whole(word).ok_or(from))
    };
    let place = (number()?, number()?);
    match word(line, &mut at) {
        Some((from, _)) => Err(from),
        None => Ok(place),
    }
}

/// Checks and measures a Life 1.06 text.
pub(crate) fn read_106(text: &[u8]) -> Result<(Frame, Corner), Flaw> {
    let mut bounds = Bounds::default();
    for (at, line) in cells(text) {
        let (x, y) = place(line, 0).map_err(|column| {
            (
                at + column,
                message!("a line of Life 1.06 must be the column and the row of a live cell, such as '-1 2'"),
            )
        })?;
        bounds.add(x, y, 1).map_err(|flaw| (at, flaw))?;
    }
    Ok(bounds.measure(Frame::default()))
}

/// Calls `run` with the live cells of a checked Life 1.06 text.
pub(crate) fn each_run_106(text: &[u8], corner: Corner, mut run: impl FnMut(Run)) {
    for (x, y) in cells(text).filter_map(|(_, line)| place(line, 0).ok()) {
        run(Run {
            x: (x - corner.x) as u32,
            y: (y - corner.y) as u32,
            length: 1,
        });
    }
}

/// The lines with cells, and their offsets.
fn cells(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let lines = lines(text, text::start(text));
    lines.filter(|(_, line)| !line.is_empty() && !line.starts_with(b"#"))
}
