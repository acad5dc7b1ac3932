//! The comments and the header line: `x = W, y = H, rule = R:TW,H`. Some files lack it, and begin
//! with their cells: they have no rule, and are as large as their live cells need.

use super::error::{Flaw, RleFault};
use crate::formats::Frame;
use crate::text::{self, line_end};
use crate::{Rule, RuleError, Size};

/// The longest rule that is looked at, in bytes; the longest that makes sense is some 50.
const LONGEST_RULE: usize = 200;

/// The header and the offset at which the body starts.
pub(super) fn read(text: &[u8]) -> Result<(Frame, usize), Flaw> {
    let mut at = text::start(text);
    loop {
        at += blanks(&text[at..]);
        match text.get(at) {
            None => return Err((text.len(), RleFault::Empty)),
            Some(b'#') => at = line_end(text, at),
            Some(b'x' | b'X') => break,
            Some(_) if is_body(&text[at..line_end(text, at)]) => {
                return Ok((Frame::default(), at));
            }
            Some(_) => return Err((at, RleFault::NoHeader)),
        }
    }
    let end = line_end(text, at);
    Ok((read_line(text, at, end)?, end))
}

/// Whether a line can only be one of cells: nothing else in it, up to a `!`.
fn is_body(line: &[u8]) -> bool {
    let cells = line.split(|&byte| byte == b'!').next().unwrap_or_default();
    let counts = |byte: &u8| byte.is_ascii_digit() || byte.is_ascii_whitespace();
    let letter = |byte: &u8| b"bo$".contains(byte);
    cells.iter().any(letter) && cells.iter().all(|byte| letter(byte) || counts(byte))
}

fn blanks(text: &[u8]) -> usize {
    text.iter()
        .take_while(|byte| byte.is_ascii_whitespace())
        .count()
}

/// Reads the header line, the bytes from `at` to `end`.
fn read_line(text: &[u8], mut at: usize, end: usize) -> Result<Frame, Flaw> {
    let (mut width, mut height) = (None, None);
    let mut rule_and_torus = (None, None);
    while at < end {
        let name_at = at;
        let name_length = text[at..end]
            .iter()
            .take_while(|b| b.is_ascii_alphabetic())
            .count();
        let name = &text[at..at + name_length];
        at += name_length;
        at += blanks(&text[at..end]);
        if text[at..end].first() != Some(&b'=') {
            return Err((name_at, RleFault::Field));
        }
        at += 1;
        at += blanks(&text[at..end]);
        match name {
            b"x" | b"X" if width.is_none() => {
                width = Some(read_number(&text[..end], &mut at, 'x')?)
            }
            b"y" | b"Y" if height.is_none() => {
                height = Some(read_number(&text[..end], &mut at, 'y')?)
            }
            _ if name.eq_ignore_ascii_case(b"rule") => {
                let rule = read_rule(text[at..end].trim_ascii_end());
                rule_and_torus = rule.map_err(|fault| (at, fault))?;
                at = end;
            }
            _ => return Err((name_at, RleFault::Field)),
        }
        at += text[at..end]
            .iter()
            .take_while(|b| **b == b',' || b.is_ascii_whitespace())
            .count();
    }
    let (rule, torus) = rule_and_torus;
    let width = width.ok_or((end, RleFault::Missing('x')))?;
    let height = height.ok_or((end, RleFault::Missing('y')))?;
    Ok(Frame {
        width,
        height,
        rule,
        torus,
    })
}

/// The number at `at`, which moves past it.
fn read_number(line: &[u8], at: &mut usize, name: char) -> Result<u32, Flaw> {
    let digits = line[*at..]
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    if digits == 0 {
        return Err((*at, RleFault::Number(name)));
    }
    let number = line[*at..*at + digits].iter().fold(0u32, |number, digit| {
        number
            .saturating_mul(10)
            .saturating_add(u32::from(digit - b'0'))
    });
    if number > Size::LONGEST_SIDE {
        return Err((*at, RleFault::Side(name)));
    }
    *at += digits;
    Ok(number)
}

/// The rule and, after a colon, the torus.
pub(crate) fn read_rule(text: &[u8]) -> Result<(Option<Rule>, Option<Size>), RleFault> {
    let text = shortened(text);
    let (rule, topology) = match text.split_once(':') {
        Some((rule, topology)) => (rule, Some(topology)),
        None => (text.as_str(), None),
    };
    let rule = rule
        .parse()
        .map_err(|error: RuleError| RleFault::Rule(error))?;
    Ok((Some(rule), topology.map(read_torus).transpose()?))
}

/// The torus of `T100,80`. Golly also has planes, Klein bottles, twists, shifts and sides without
/// an end; none of them is a torus.
fn read_torus(topology: &str) -> Result<Size, RleFault> {
    let sides = || {
        let (width, height) = topology.trim().strip_prefix(['T', 't'])?.split_once(',')?;
        let side = |text: &str| text.trim().parse::<u64>().ok().filter(|&side| side > 0);
        Some((side(width)?, side(height)?))
    };
    let shown = || topology.trim().chars().take(40).collect();
    let (width, height) = sides().ok_or_else(|| RleFault::Topology(shown()))?;
    Size::new(width, height).map_err(RleFault::Torus)
}

/// The text without what a terminal would obey; cut, and marked so, where it is far too long.
fn shortened(text: &[u8]) -> String {
    let mut shown = text::printable(&text[..text.len().min(LONGEST_RULE)]);
    shown.extend((text.len() > LONGEST_RULE).then_some('…'));
    shown
}
