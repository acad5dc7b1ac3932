//! Texts, positions in them and what is wrong there, for the readers of all pattern formats.

use lang::{Message, tr};

/// A byte order mark, which some editors put before UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Where the text starts: after its byte order mark, if it has one.
pub(crate) fn start(text: &[u8]) -> usize {
    text.len() - text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text).len()
}

/// What stands before and after a pattern in a forum or a chat.
const TAGS: [(&[u8], &[u8]); 3] = [
    (b"[code]", b"[/code]"),
    (b"[rle]", b"[/rle]"),
    (FENCE, FENCE),
];

/// A code fence of Markdown; a word may follow it.
const FENCE: &[u8] = b"```";

/// The text between [`TAGS`], or all of it.
pub(crate) fn untagged(text: Vec<u8>) -> Vec<u8> {
    let all = text[start(&text)..].trim_ascii_start();
    for (tag, closing) in TAGS {
        let Some((before, mut rest)) = all.split_at_checked(tag.len()) else {
            continue;
        };
        if !before.eq_ignore_ascii_case(tag) {
            continue;
        }
        let (word, lines) = rest.split_at(line_end(rest, 0));
        let is_cell = |letter: &u8| b"boxyOX0123456789".contains(letter);
        if tag == FENCE
            && word.trim_ascii().iter().all(u8::is_ascii_alphanumeric)
            && !(lines.is_empty() || word.trim_ascii().iter().all(is_cell))
        {
            rest = lines;
        }
        let mut windows = rest.windows(closing.len());
        let end = windows.position(|window| window.eq_ignore_ascii_case(closing));
        return rest[..end.unwrap_or(rest.len())].to_vec();
    }
    text
}

/// The end-of-file byte of DOS.
const END_OF_TEXT: u8 = 0x1a;

/// Where the text ends: before DOS's end-of-file bytes, if there are any.
pub(crate) fn end(text: &[u8]) -> usize {
    let is_filler = |byte: &u8| *byte == END_OF_TEXT || *byte == 0 || byte.is_ascii_whitespace();
    let filled = text.iter().rev().take_while(|byte| is_filler(byte)).count();
    let filler = &text[text.len() - filled..];
    let first = filler.iter().position(|&byte| byte == END_OF_TEXT);
    first.map_or(text.len(), |at| text.len() - filled + at)
}

/// Whether a line that starts with `x` and this rest is an RLE header.
pub(crate) fn is_header(rest: &[u8]) -> bool {
    rest.trim_ascii_start().starts_with(b"=")
}

/// The end of the line at offset `from`: its LF or CR, or the text's end.
pub(crate) fn line_end(text: &[u8], from: usize) -> usize {
    let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let length = text[from..].iter().position(is_end);
    length.map_or(text.len(), |length| from + length)
}

/// The text's lines from this offset on, each with its byte offset, without line ends and trailing
/// white space.
pub(crate) fn lines(text: &[u8], from: usize) -> impl Iterator<Item = (usize, &[u8])> {
    let mut next = Some(from);
    std::iter::from_fn(move || {
        let from = next?;
        let end = line_end(text, from);
        next = match &text[end..] {
            [] => None,
            [b'\r', b'\n', ..] => Some(end + 2),
            _ => Some(end + 1),
        };
        Some((from, text[from..end].trim_ascii_end()))
    })
}

/// How much white space a text begins with.
pub(crate) fn blanks(text: &[u8]) -> usize {
    text.len() - text.trim_ascii_start().len()
}

/// The next word of a line from offset `*at` on, with its offset. Moves `*at` past it.
pub(crate) fn word<'a>(line: &'a [u8], at: &mut usize) -> Option<(usize, &'a [u8])> {
    let from = *at + blanks(&line[*at..]);
    let length = line[from..].iter().position(u8::is_ascii_whitespace);
    *at = length.map_or(line.len(), |length| from + length);
    (from < *at).then(|| (from, &line[from..*at]))
}

/// Parses a word as an integer: digits with an optional sign. Numbers far beyond any lattice are
/// clamped to ±2^40.
pub(crate) fn whole(word: &[u8]) -> Option<i64> {
    const FAR: i64 = 1 << 40;
    let (sign, digits) = match word {
        [b'-', digits @ ..] => (-1, digits),
        [b'+', digits @ ..] => (1, digits),
        digits => (1, digits),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number = digits.iter().fold(0, |number: i64, digit| {
        (number * 10 + i64::from(digit - b'0')).min(FAR)
    });
    Some(sign * number)
}

/// How many words a text has, if all of them are integers.
pub(crate) fn count_numbers(text: &[u8]) -> Option<usize> {
    let words = text.split(u8::is_ascii_whitespace);
    let words = words.filter(|word| !word.is_empty());
    words.map(|word| whole(word).map(|_| 1)).sum()
}

/// The bytes as text, with control characters replaced.
pub(crate) fn printable(text: &[u8]) -> String {
    String::from_utf8_lossy(text).replace(char::is_control, "\u{fffd}")
}

/// What is wrong, and the byte offset where it is.
pub(crate) type Flaw = (usize, Message);

/// What is wrong with this text, with its line and column, which count from 1. A line ends with LF, CR or
/// both; a column is a UTF-8 character.
pub(crate) fn located(text: &[u8], (offset, message): Flaw) -> Message {
    let starts = (1..).zip(lines(text, 0).map(|(at, _)| at));
    let before = starts.take_while(|(_, at)| *at <= offset);
    let (line, start): (u64, usize) = before.last().unwrap_or_default();
    let before = &text[start..offset.min(text.len())];
    let is_first_of_character = |byte: &&u8| **byte & 0xc0 != 0x80;
    let column = 1 + before.iter().filter(is_first_of_character).count();
    Message::new(|| tr!("line {line}, column {column}: ") + &message)
}

/// A byte of a text, as the character if it is one.
pub(crate) fn named(byte: u8) -> String {
    match byte {
        b'!'..=b'~' => tr!("character '{}'", char::from(byte)),
        _ => tr!("byte {}", format_args!("0x{byte:02x}")),
    }
}
