//! The comments and the header line: `x = W, y = H, rule = R:TW,H`. Some files lack it, and begin
//! with their cells: they are as large as their live cells need. XLife has the rule in a comment,
//! `#r 23/3`, Golly the generation, `#CXRLE Gen=100`, and LifeBC has `skip`, `fps`, `h`, `v` and `gen` in
//! the header.

use crate::Size;
use crate::format::Flaw;
use crate::frame::{Frame, read_rule};
use crate::text::{self, blanks, count_numbers, line_end, whole};
use lang::{Message, message};

/// The header and the offset at which the body starts.
pub(super) fn read(text: &[u8]) -> Result<(Frame, usize), Flaw> {
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
