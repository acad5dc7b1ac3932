//! The comments and the header line: `x = W, y = H, rule = R:TW,H`. Some files lack it, and begin
//! with their cells: they are as large as their live cells need. XLife has the rule in a comment,
//! `#r 23/3`, Golly the generation, `#CXRLE Gen=100`, and LifeBC has `skip`, `fps`, `h`, `v` and `gen` in
//! the header.

use crate::Size;
use crate::fault::Flaw;
use crate::frame::{Frame, read_rule};
use crate::text::{self, count_numbers, line_end, whole, word};
use lang::{Message, message};

/// The header and the offset at which the body starts.
pub(super) fn read(text: &[u8]) -> Result<(Frame, usize), Flaw> {
    let mut frame = Frame::default();
    let mut at = read_comments(text, text::start(text), &mut frame)?;
    let end = line_end(text, at);
    match text.get(at) {
        None => {
            return Err((
                text.len(),
                message!(
                    "the text ends without a header; an RLE pattern has a line such as 'x = 3, y = 3, rule = B3/S23', then the cells"
                ),
            ));
        }
        Some(b'x' | b'X') if text::is_header(&text[at + 1..end]) => {}
        Some(_) if is_body(&text[at..end]) => return Ok((frame, at)),
        Some(b'x' | b'X') => {}
        Some(_) => {
            return Err((
                at,
                message!(
                    "this is not an RLE pattern; after any lines with # it must go on with a line such as 'x = 3, y = 3, rule = B3/S23'"
                ),
            ));
        }
    }
    read_line(text, at, end, &mut frame)?;
    // Like Golly, which uses the last rule.
    at = read_comments(text, end, &mut frame)?;
    Ok((frame, at))
}

/// Reads blank lines and comments from this offset on, up to anything else.
fn read_comments(text: &[u8], mut at: usize, frame: &mut Frame) -> Result<usize, Flaw> {
    loop {
        at += blanks(&text[at..]);
        if text.get(at) != Some(&b'#') {
            return Ok(at);
        }
        let end = line_end(text, at);
        let line = &text[at + 1..end];
        let rest = &line[line.len().min(1)..];
        let rule_at = at + 2 + blanks(rest);
        let rule = rest.trim_ascii();
        match line {
            [b'r', ..] if !rule.is_empty() => {
                let read = read_rule(rule).map_err(|error| (rule_at, error.message))?;
                frame.take_rule(read);
            }
            // Some files use it for comments or the pattern's position.
            [b'R', ..] if count_numbers(rule).is_none_or(|count| count == 0) => {
                match read_rule(rule) {
                    Ok(read) => frame.take_rule(read),
                    Err(error) if !error.is_notation => {}
                    Err(error) => return Err((rule_at, error.message)),
                }
            }
            _ => {
                if let Some(keys) = line.strip_prefix(b"CXRLE") {
                    read_keys(keys, frame);
                }
            }
        }
        at = end;
    }
}

/// The generation among Golly's `Pos=0,-1377 Gen=3480106827776`.
fn read_keys(keys: &[u8], frame: &mut Frame) {
    let mut at = 0;
    while let Some((_, key)) = word(keys, &mut at) {
        if let Some(generation) = key.strip_prefix(b"Gen=") {
            frame.read_generation(generation);
        }
    }
}

/// Whether a line contains only cells, up to a `!`.
fn is_body(line: &[u8]) -> bool {
    let cells = line.split(|&byte| byte == b'!').next().unwrap_or_default();
    let counts = |byte: &u8| byte.is_ascii_digit() || byte.is_ascii_whitespace();
    let letter = |byte: &u8| b"bo$xy".contains(byte);
    cells.iter().any(letter) && cells.iter().all(|byte| letter(byte) || counts(byte))
}

fn blanks(text: &[u8]) -> usize {
    text.iter()
        .take_while(|byte| byte.is_ascii_whitespace())
        .count()
}

/// Reads the header line, the bytes from `at` to `end`.
fn read_line(text: &[u8], mut at: usize, end: usize, frame: &mut Frame) -> Result<(), Flaw> {
    let (mut width, mut height) = (None, None);
    while at < end {
        let name_at = at;
        let name_length = name_length(&text[at..end]);
        let name = &text[at..at + name_length];
        at += name_length;
        at += blanks(&text[at..end]);
        if text[at..end].first() != Some(&b'=') {
            return Err((name_at, bad_field()));
        }
        at += 1;
        at += blanks(&text[at..end]);
        match name.to_ascii_lowercase().as_slice() {
            b"x" if width.is_none() => width = Some(read_side(&text[..end], &mut at, 'x')?),
            b"y" if height.is_none() => height = Some(read_side(&text[..end], &mut at, 'y')?),
            b"rule" => {
                let field = &text[at..at + rule_length(&text[at..end])];
                let read = read_rule(field.trim_ascii_end());
                frame.take_rule(read.map_err(|error| (at, error.message))?);
                at += field.len();
            }
            // LifeBC's fields: display settings and the generation.
            b"skip" | b"fps" | b"h" | b"v" | b"gen" => {
                if name.eq_ignore_ascii_case(b"gen") {
                    frame.read_generation(&text[at..end]);
                }
                at += text[at..end].iter().take_while(|b| **b != b',').count();
            }
            _ => return Err((name_at, bad_field())),
        }
        at += text[at..end]
            .iter()
            .take_while(|b| **b == b',' || b.is_ascii_whitespace())
            .count();
    }
    let lacks = |it: char| message!("the header lacks {it}; write it as x = WIDTH, y = HEIGHT");
    frame.width = width.ok_or_else(|| (end, lacks('x')))?;
    frame.height = height.ok_or_else(|| (end, lacks('y')))?;
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

/// Reads a side at `at` and moves past it. A side that is blank (as in `y = rule = B3/S23`), negative
/// or too large gives 0, so the live cells determine the size.
fn read_side(line: &[u8], at: &mut usize, name: char) -> Result<u32, Flaw> {
    let value = &line[*at..];
    let is_blank = matches!(value.first(), None | Some(b',')) || begins_field(value);
    let sign = usize::from(matches!(value.first(), Some(b'-' | b'+')));
    let digits = value[sign..].iter().take_while(|b| b.is_ascii_digit());
    let length = sign + digits.count();
    if length == sign && !is_blank {
        return Err((
            *at,
            message!(
                "{it} must be a whole number of cells, such as '{it} = 3'",
                it = name
            ),
        ));
    }
    let number = whole(&value[..length]).unwrap_or(0);
    *at += length;
    let side = u32::try_from(number).ok();
    Ok(side.filter(|&side| side <= Size::MAX_SIDE).unwrap_or(0))
}
