//! Files that are not pattern text themselves: patterns packed with gzip, as Golly can save them,
//! and other kinds of files found in pattern collections.

use crate::fault::{Fault, Flaw};
use crate::text::{lines, printable};
use flate2::read::MultiGzDecoder;
use std::io::Read;
use std::path::Path;

/// Maximum unpacked size in bytes; gzip can expand a thousandfold.
const MAX_UNPACKED: u64 = 64 << 20;

/// The text itself, or its unpacked content.
pub(crate) fn unpacked(text: Vec<u8>) -> Result<Vec<u8>, Flaw> {
    if !text.starts_with(b"\x1f\x8b") {
        return Ok(text);
    }
    let mut inner = Vec::new();
    let packed = MultiGzDecoder::new(&text[..]);
    packed
        .take(MAX_UNPACKED + 1)
        .read_to_end(&mut inner)
        .map_err(|error| (0, Fault::Gzip(error.to_string())))?;
    if inner.len() as u64 > MAX_UNPACKED {
        return Err((0, Fault::LongGzip(MAX_UNPACKED)));
    }
    Ok(inner)
}

/// Errors for files of known other kinds.
pub(crate) fn check_kind(name: &str, text: &[u8]) -> Result<(), Flaw> {
    let ending = Path::new(name).extension();
    let is_script = |ending: &&str| ["lua", "py", "pl"].contains(ending);
    if text.starts_with(b"PK\x03\x04") {
        return Err((0, Fault::Archive));
    }
    if text.starts_with(b"#MCell") {
        let game = lines(text, 0).find_map(|(_, line)| line.strip_prefix(b"#GAME"));
        let game = printable(game.unwrap_or(b"Standard Life").trim_ascii());
        return Err((0, Fault::MCell(game.chars().take(40).collect())));
    }
    if ending
        .and_then(|ending| ending.to_str())
        .filter(is_script)
        .is_some()
    {
        return Err((0, Fault::Script));
    }
    Ok(())
}
