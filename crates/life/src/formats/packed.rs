//! Files that are not pattern text themselves: patterns packed with gzip, as Golly can save them,
//! and other kinds of files found in pattern collections.

use crate::fault::Flaw;
use crate::text::{self, lines, printable};
use flate2::read::MultiGzDecoder;
use lang::message;
use std::io::Read;
use std::path::Path;

/// Maximum unpacked size in bytes; gzip can expand a thousandfold.
const MAX_UNPACKED: u64 = 64 << 20;

/// Unpacks a text that is packed. One without its end, DOS's, is left.
pub(crate) fn unpack(text: &mut Vec<u8>) -> Result<(), Flaw> {
    if text.starts_with(b"\x1f\x8b") {
        *text = unpacked(&std::mem::take(text))?;
    }
    text.truncate(text::end(text));
    Ok(())
}

fn unpacked(text: &[u8]) -> Result<Vec<u8>, Flaw> {
    let mut inner = Vec::new();
    let mut packed = MultiGzDecoder::new(text).take(MAX_UNPACKED + 1);
    packed.read_to_end(&mut inner).map_err(|reason| {
        let why = message!(
            "this is compressed with gzip and cannot be unpacked: {reason}; fetch it again"
        );
        (0, why)
    })?;
    if inner.len() as u64 > MAX_UNPACKED {
        return Err((
            0,
            message!(
                "this is compressed with gzip and more than {} MiB long when unpacked; unpack it first, such as with gunzip",
                MAX_UNPACKED >> 20
            ),
        ));
    }
    Ok(inner)
}

/// How the names of scripts end.
const SCRIPTS: [&str; 3] = ["lua", "py", "pl"];

/// Errors for files of known other kinds.
pub(crate) fn check_kind(name: &str, text: &[u8]) -> Result<(), Flaw> {
    let ending = Path::new(name).extension();
    if text.starts_with(b"PK\x03\x04") {
        return Err((
            0,
            message!("this is a ZIP archive; unpack it and name one of its patterns"),
        ));
    }
    if text.starts_with(b"#MCell") {
        let game = lines(text, 0).find_map(|(_, line)| line.strip_prefix(b"#GAME"));
        let game = printable(game.unwrap_or(b"Standard Life").trim_ascii());
        let game: String = game.chars().take(40).collect();
        return Err((
            0,
            message!(
                "this is in the format of MCell, of the kind '{game}'; where its rule is one such as B3/S23, save it as RLE with Golly"
            ),
        ));
    }
    if ending.is_some_and(|ending| SCRIPTS.iter().any(|script| ending == *script)) {
        return Err((
            0,
            message!(
                "this is a script, not a pattern; run it in Golly and save what it makes as RLE"
            ),
        ));
    }
    Ok(())
}
