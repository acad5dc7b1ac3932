//! apgcodes, the names of objects on Catagolue: `xq4_153` is the glider. After the kind and a `_` come
//! strips of five rows, one character per column in extended Wechsler notation.

use std::fmt::Write;

use crate::format::Flaw;
use crate::frame::read_rule;
use crate::text::printable;

/// The live cells of an apgcode, and its rule after a slash, as a Life 1.05 text around the origin;
/// `None` for any other text.
pub(crate) fn to_life_105(text: &[u8]) -> Option<Result<Vec<u8>, Flaw>> {
    let (code, rule) = match text.iter().position(|&byte| byte == b'/') {
        Some(at) => (&text[..at], Some((at + 1, text[at + 1..].trim_ascii()))),
        None => (text, None),
    };
    let text = code.trim_ascii();
    let kind = [b"xs", b"xp", b"xq"];
    let rest = kind.iter().find_map(|kind| text.strip_prefix(*kind))?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let strips = rest[digits..].strip_prefix(b"_").filter(|_| digits > 0)?;
    let cells = live_cells(strips)?;
    let middle =
        |sides: &dyn Fn(&(i64, i64)) -> i64| cells.iter().map(sides).max().unwrap_or(0) / 2;
    let (left, top) = (middle(&|cell| cell.0), middle(&|cell| cell.1));
    let mut written = String::from("#Life 1.05\n");
    if let Some((at, rule)) = rule {
        match read_rule(rule) {
            Ok(_) => writeln!(written, "#R {}", printable(rule)).expect("a string takes any text"),
            Err(error) => return Some(Err((at, error.message))),
        }
    }
    for (x, y) in &cells {
        writeln!(written, "#P {} {}\n*", x - left, y - top).expect("a string takes any text");
    }
    Some(Ok(written.into_bytes()))
}

/// Columns and rows of the live cells; `None` if a character has no meaning.
fn live_cells(strips: &[u8]) -> Option<Vec<(i64, i64)>> {
    let mut cells = Vec::new();
    let (mut x, mut y) = (0, 0);
    let mut letters = strips.iter().map(|&letter| char::from(letter));
    while let Some(letter) = letters.next() {
        match letter {
            '0'..='9' | 'a'..='v' => {
                let column = letter.to_digit(32)?;
                let alive = (0..5).filter(|row| column >> row & 1 == 1);
                cells.extend(alive.map(|row| (x, y + row)));
                x += 1;
            }
            'w' => x += 2,
            'x' => x += 3,
            'y' => x += 4 + i64::from(letters.next()?.to_digit(36)?),
            'z' => (x, y) = (0, y + 5),
            _ => return None,
        }
    }
    Some(cells)
}
