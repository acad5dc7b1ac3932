//! The body: counts and the letters `b o $ !`, read as runs of live cells. Cells may also be given
//! by state: `.` and `A` to `X`, `pA` to `yX`, as Golly writes rules with more than two states.

use crate::Size;
use crate::format::{Flaw, named};
use crate::frame::Remarks;
use crate::run::Run;
use crate::text::line_end;
use lang::{Message, message};

/// Reads a body from this offset on, to its `!` or to the text's end: calls `live` with its runs of live
/// cells, from the top. White space is ignored everywhere, and lines that start with `#` are skipped.
pub(super) fn read(
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
