//! The comments and the header line: `x = W, y = H, rule = R:TW,H`. Some files lack it, and begin
//! with their cells: they are as large as their live cells need. XLife has the rule in a comment,
//! `#r 23/3`, Golly the generation, `#CXRLE Gen=100`, and LifeBC has `skip`, `fps`, `h`, `v` and `gen` in
//! the header.

use crate::fault::Flaw;
use crate::formats::Frame;
use crate::text::{self, line_end, whole, word};
use crate::{Rule, RuleError, Size};
use lang::{Message, message};
use std::str::FromStr;

/// Maximum length of a rule in bytes. Valid rules have at most about 50.
const MAX_RULE: usize = 200;

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
            [b'R', ..] if !is_place(rule) => match read_rule(rule) {
                Ok(read) => frame.take_rule(read),
                Err(error) if !error.is_notation => {}
                Err(error) => return Err((rule_at, error.message)),
            },
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

fn is_place(text: &[u8]) -> bool {
    let mut words = text.split(u8::is_ascii_whitespace);
    words.all(|word| word.is_empty() || whole(word).is_some()) && !text.is_empty()
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

/// A rule as written in files, with an optional torus.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FileRule {
    pub(crate) rule: Rule,
    pub(crate) torus: Option<Size>,
    /// Whether it replaces a rule of several states, such as LifeHistory.
    pub(crate) history: bool,
}

/// The rule and, after a colon, the torus.
pub(crate) fn read_rule(text: &[u8]) -> Result<FileRule, RuleError> {
    let text = shortened(text);
    let (rule, topology) = match text.split_once(':') {
        Some((rule, topology)) => (rule, Some(topology)),
        None => (text.as_str(), None),
    };
    let (rule, history) = match without_history(rule) {
        Some(rule) => (rule, true),
        None => (rule.parse()?, false),
    };
    let torus = topology.map(read_torus).transpose();
    let torus = torus.map_err(|message| RuleError {
        message,
        is_notation: true,
    })?;
    Ok(FileRule {
        rule,
        torus: torus.flatten(),
        history,
    })
}

/// The two-state rule behind `LifeHistory`, `B36/S23History` or `LifeSuper`. Odd states are alive
/// and even ones dead.
fn without_history(text: &str) -> Option<Rule> {
    let text = text.trim();
    let rule = ["history", "super"].iter().find_map(|suffix| {
        let (rule, end) = text.split_at_checked(text.len().checked_sub(suffix.len())?)?;
        end.eq_ignore_ascii_case(suffix).then_some(rule)
    });
    rule?.parse().ok()
}

/// The torus of `T100,80`, or of `T100`, which is square; `None` for `T0,0`, an infinite plane.
/// Golly's other topologies (planes, Klein bottles, twists, shifts, one infinite side) are not
/// supported.
fn read_torus(topology: &str) -> Result<Option<Size>, Message> {
    let sides = || {
        let sides = topology.trim().strip_prefix(['T', 't'])?;
        let (width, height) = sides.split_once(',').unwrap_or((sides, sides));
        let side = |text: &str| text.trim().parse::<u64>().ok();
        Some((side(width)?, side(height)?)).filter(|(w, h)| (*w == 0) == (*h == 0))
    };
    let (width, height) = sides().ok_or_else(|| {
        let shown: String = topology.trim().chars().take(40).collect();
        message!(
            "'{it}' is no torus, and only a torus can be run; write its sides, such as :T100,100, or leave it out",
            it = shown
        )
    })?;
    if width == 0 {
        return Ok(None);
    }
    let size = Size::new(width, height).map(Some);
    size.map_err(|it| message!("the torus {it}"))
}

/// A rule as users type it, with an optional torus.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RuleAndTorus {
    /// The rule.
    pub rule: Rule,
    /// The torus.
    pub torus: Option<Size>,
}

impl FromStr for RuleAndTorus {
    type Err = Message;

    /// Reads `B3/S23`, `Day & Night` or `B3/S23:T64,64`; `LifeHistory` is Conway's Life.
    fn from_str(text: &str) -> Result<RuleAndTorus, Message> {
        let read = read_rule(text.as_bytes()).map_err(|error| error.message);
        let FileRule { rule, torus, .. } = read?;
        Ok(RuleAndTorus { rule, torus })
    }
}

/// The text without control characters, shortened with a mark if it is too long.
fn shortened(text: &[u8]) -> String {
    let mut shown = text::printable(&text[..text.len().min(MAX_RULE)]);
    shown.extend((text.len() > MAX_RULE).then_some('…'));
    shown
}
