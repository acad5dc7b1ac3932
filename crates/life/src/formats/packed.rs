//! What is no pattern's text itself: patterns packed with gzip, as Golly saves them on request,
//! and files of other kinds that lie beside patterns in collections.

use super::Fault;
use crate::text::{Flaw, lines, printable};
use flate2::read::MultiGzDecoder;
use std::io::Read;
use std::path::Path;

/// The most bytes that a packed pattern may have when it is unpacked: a thousand of them can come
/// out of one.
pub(super) const LONGEST: u64 = 64 << 20;

/// The text to be read: this one, or what it packs.
pub(crate) fn unpacked(text: Vec<u8>) -> Result<Vec<u8>, Flaw<Fault>> {
    if !text.starts_with(b"\x1f\x8b") {
        return Ok(text);
    }
    let mut inner = Vec::new();
    let packed = MultiGzDecoder::new(&text[..]);
    packed
        .take(LONGEST + 1)
        .read_to_end(&mut inner)
        .map_err(|error| (0, Fault::Packed(error.to_string())))?;
    if inner.len() as u64 > LONGEST {
        return Err((0, Fault::PackedLong));
    }
    Ok(inner)
}

/// Refuses what is known to be something else than a pattern.
pub(crate) fn check_kind(name: &str, text: &[u8]) -> Result<(), Flaw<Fault>> {
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
