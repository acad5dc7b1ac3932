//! Patterns: loading from files and drawing into lattices.

use super::formats::macrocell::{self, Tree};
use super::formats::{check_kind, rows, unpack};
use super::frame::{Format, Frame, Notes};
use super::run::{LiveRuns, Run};
use super::text::{self, Flaw, located};
use super::{Lattice, MAX_GENERATION, MemoryError, ReadError, Rule, Size, read_regular_file, rle};
use lang::{Message, message};
use std::fmt;
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::sync::Arc;

/// A pattern: its text and what was learned from parsing it.
#[derive(Clone, Debug)]
pub struct Pattern {
    name: String,
    text: Vec<u8>,
    /// The format of the text.
    pub format: Format,
    frame: Frame,
    /// The cells of a macrocell.
    tree: Option<Arc<Tree>>,
}

/// A pattern that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub enum PatternError {
    /// It cannot be read or is none, or it does not go together with the lattices or another pattern.
    Unusable(#[from] Message),
    /// Not enough memory for the lattice.
    Memory(#[from] MemoryError),
}

impl PatternError {
    /// The error for a file that cannot be read.
    pub fn unreadable(file: &str, reason: Message) -> PatternError {
        message!("cannot read the pattern {file}: {reason}").into()
    }
}

/// The message about live cells in so many columns and rows that do not fit a lattice. `offer` is a
/// lattice that fits them, if any can, and `kernel` one to suggest for it.
pub fn too_large(
    file: impl fmt::Display,
    [width, height]: [u32; 2],
    lattice: Size,
    offer: Option<Size>,
    kernel: Option<&str>,
) -> Message {
    let remedy = match (offer, kernel) {
        (Some(size), Some(kernel)) => message!("use --size {size} --kernel {kernel}"),
        (Some(size), None) => message!("use --size {size}"),
        (None, _) => message!("no lattice is that large, a smaller pattern is needed"),
    };
    message!(
        "{file} is {width}x{height} cells, larger than the lattice {lattice}; {}",
        remedy
    )
}

impl Pattern {
    /// Maximum size of a file, in bytes.
    pub const MAX_FILE: u64 = 4 << 30;

    /// Maximum size of a stream such as the standard input, in bytes.
    pub const MAX_STREAM: u64 = 256 << 20;

    /// Reads a file of any [`Format`], also one packed with gzip.
    ///
    /// # Errors
    /// If it is no regular file, larger than [`Pattern::MAX_FILE`], unreadable or no pattern.
    pub fn load(path: impl AsRef<Path>) -> Result<Pattern, PatternError> {
        let path = path.as_ref();
        let text = read_regular_file(path, Pattern::MAX_FILE);
        Pattern::of_read(path.display().to_string(), text)
    }

    /// Reads what has no size before it ends, such as the standard input; errors call it `name`.
    ///
    /// # Errors
    /// If it cannot be read, is longer than [`Pattern::MAX_STREAM`], or is no pattern.
    pub fn read(name: impl Into<String>, from: impl Read) -> Result<Pattern, PatternError> {
        Pattern::of_read(name.into(), read_stream(from, Pattern::MAX_STREAM))
    }

    fn of_read(file: String, read: Result<Vec<u8>, ReadError>) -> Result<Pattern, PatternError> {
        let reason = match read {
            Ok(text) => return Ok(Pattern::from_text(file, text)?),
            Err(ReadError::NoRoom(message)) => message,
            Err(ReadError::Io(error)) => match error.kind() {
                ErrorKind::NotFound => message!(
                    "there is no such file; check its name and folder, or name a pattern of the shelf, such as gosper-gun"
                ),
                ErrorKind::PermissionDenied => {
                    message!("you may not read it; change its permissions")
                }
                _ => message!("{error}; try another file"),
            },
            Err(error) => message!("{error}; name a pattern file"),
        };
        Err(PatternError::unreadable(&file, reason))
    }

    /// The pattern of a text that came otherwise, such as by pasting; errors call it `name`,
    /// whose ending counts where the text itself does not tell its [`Format`]. It may be an apgcode
    /// such as `xq4_153` or `xq4_153/b3s23`, and stand between a forum's tags or code fences.
    ///
    /// # Errors
    /// If it is no pattern: the first thing that is wrong, with its line and column.
    pub fn from_text(
        name: impl Into<String>,
        text: impl Into<Vec<u8>>,
    ) -> Result<Pattern, Message> {
        let (name, mut text) = (name.into(), text.into());
        match read(&name, &mut text) {
            Ok((format, frame, tree)) => Ok(Pattern {
                name,
                text,
                format,
                frame,
                tree,
            }),
            Err(flaw) => {
                let why = located(&text, flaw);
                Err(Message::new(|| format!("{name}, {why}")))
            }
        }
    }

    /// The name: the path as it was given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Name, author and comments, parsed from the text.
    pub fn notes(&self) -> Notes {
        Notes::of(&self.text, self.format)
    }

    /// Columns as the text says, or more if live cells lie further out; may be 0.
    pub fn width(&self) -> u32 {
        self.frame.width
    }

    /// Rows as the text says, or more if live cells lie further out; may be 0.
    pub fn height(&self) -> u32 {
        self.frame.height
    }

    /// Columns and rows from the first live cell to the last; 0 without live cells. They decide
    /// whether the pattern fits a lattice.
    pub fn live_sides(&self) -> (u32, u32) {
        let [width, height] = self.frame.live.sides();
        (width as u32, height as u32)
    }

    /// The generation of the cells, up to [`MAX_GENERATION`]; 0 if the text
    /// does not say.
    pub fn generation(&self) -> u64 {
        self.frame.generation
    }

    /// What was interpreted differently from the text, one sentence each.
    pub fn remarks(&self) -> Vec<Message> {
        let (file, found) = (&self.name, self.frame.remarks);
        let rule = self.frame.rule.unwrap_or_default();
        let all = [
            (found.history || found.states > 1).then(|| {
                message!("{file} has cells of several states; it is read as {rule}, with odd states alive and even ones dead")
            }),
            found.no_end.then(|| {
                message!("{file} has no '!' at its end; if cells are missing, it was cut short: fetch it again")
            }),
            found.far_generation.then(|| {
                message!("{file} is of a generation beyond {max}; it starts at generation 0", max = MAX_GENERATION)
            }),
        ];
        all.into_iter().flatten().collect()
    }

    /// The rule that the text specifies, if any.
    pub fn rule(&self) -> Option<Rule> {
        self.frame.rule
    }

    /// The torus that the text specifies, if any.
    pub fn torus(&self) -> Option<Size> {
        self.frame.torus
    }

    /// Calls `run` with all live cells, as runs in unspecified order. A cell may occur twice.
    pub fn each_run(&self, run: impl FnMut(Run)) {
        let corner = self.frame.corner.unwrap_or_default();
        let read = match (&self.tree, self.format) {
            (Some(tree), _) => return tree.each_run(run),
            (None, Format::Rle) => rle::read(&self.text, run),
            (None, Format::Plaintext) => rows::read_plaintext(&self.text, run),
            (None, format) => rows::read_life(&self.text, format, corner, run),
        };
        read.expect("the text was read before");
    }

    /// Draws the live cells into a lattice, with the pattern's top left at column `x`, row `y`. The
    /// pattern wraps around the torus; other cells are unchanged.
    ///
    /// # Errors
    /// If its live cells lie in more columns or rows than the lattice has, which is then left as it
    /// was.
    pub fn draw_into(&self, lattice: &mut Lattice, x: u32, y: u32) -> Result<(), Message> {
        self.check_fits(lattice.size())?;
        self.each_run(|run| run.draw_into(lattice, x, y));
        Ok(())
    }

    /// A lattice with the pattern in the middle, all divisions rounded down.
    ///
    /// The origin of a text with coordinates is at (W / 2, H / 2) along each axis on which the cells
    /// then lie within the lattice: there a saved lattice comes back in the same places. Otherwise the
    /// top left cell is at ((W − w) / 2, (H − h) / 2), where w and h are the sides in the text. If
    /// these exceed the lattice's, though the live cells fit, the pattern wraps around.
    ///
    /// # Errors
    /// If its live cells lie in more columns or rows than the lattice has; nothing has been
    /// allocated then. If this machine has no memory for the lattice.
    pub fn centred_in(&self, size: Size) -> Result<Lattice, PatternError> {
        self.check_fits(size)?;
        let mut lattice = Lattice::try_new(size)?;
        let before = |side: u32, own: u32, from_origin: Option<i64>| {
            let (side, own) = (i64::from(side), i64::from(own));
            let by_origin = from_origin.map(|from_origin| side / 2 + from_origin);
            let within = by_origin.filter(|first| (0..=side - own).contains(first));
            within.unwrap_or_else(|| (side - own).div_euclid(2).rem_euclid(side)) as u32
        };
        let corner = self.frame.corner;
        let x = before(size.width, self.width(), corner.map(|[x, _]| x));
        let y = before(size.height, self.height(), corner.map(|[_, y]| y));
        self.draw_into(&mut lattice, x, y)?;
        Ok(lattice)
    }

    /// The smallest part with all live cells, as a lattice; `None` without live cells.
    ///
    /// # Errors
    /// If memory is insufficient.
    pub fn live_part(&self) -> Result<Option<Lattice>, MemoryError> {
        let (width, height) = self.live_sides();
        let Ok(size) = Size::new(width.into(), height.into()) else {
            return Ok(None);
        };
        let [left, top] = self.frame.live.corner().map(|at| at as u32);
        let mut lattice = Lattice::try_new(size)?;
        self.each_run(|run| {
            let run = Run {
                x: run.x - left,
                y: run.y - top,
                ..run
            };
            run.draw_into(&mut lattice, 0, 0);
        });
        Ok(Some(lattice))
    }

    /// Checks that the live cells fit a lattice of this size.
    ///
    /// # Errors
    /// If they do not: what [`too_large`] says, with a lattice that has room.
    pub fn check_fits(&self, lattice: Size) -> Result<(), Message> {
        let (width, height) = self.live_sides();
        if width <= lattice.width && height <= lattice.height {
            return Ok(());
        }
        let offer = self.room_beside(lattice);
        Err(too_large(&self.name, [width, height], lattice, offer, None))
    }

    /// A lattice for the live cells that is no smaller than one of this size, as
    /// [`Size::with_room`] says.
    pub fn room_beside(&self, lattice: Size) -> Option<Size> {
        let (width, height) = self.live_sides();
        lattice.with_room(width, height)
    }

    /// A thumbnail with at most the columns and rows of `max`, and its scale: the side in cells of
    /// the pattern's squares that one cell stands for, at least 1. A cell is alive if any cell of
    /// its square is. An empty pattern gives one dead cell.
    pub fn thumbnail(&self, max: Size) -> (Lattice, u32) {
        let across = self.width().div_ceil(max.width);
        let scale = across.max(self.height().div_ceil(max.height)).max(1);
        let side = |cells: u32| u64::from(cells.div_ceil(scale).max(1));
        let size = Size::new(side(self.width()), side(self.height()));
        let mut picture = Lattice::new(size.expect("no larger than a lattice"));
        self.each_run(|run| {
            let (first, last) = (run.x / scale, (run.x + run.length - 1) / scale);
            let reduced = Run {
                x: first,
                y: run.y / scale,
                length: last - first + 1,
            };
            reduced.draw_into(&mut picture, 0, 0);
        });
        (picture, scale)
    }
}

/// Finds the pattern in a text, which is only that afterwards, and checks and measures it.
fn read(name: &str, text: &mut Vec<u8>) -> Result<(Format, Frame, Option<Arc<Tree>>), Flaw> {
    unpack(text)?;
    check_kind(name, text)?;
    *text = text::untagged(std::mem::take(text));
    if let Some(cells) = rows::to_life_105(text) {
        *text = cells?;
    }
    let format = Format::detect(text, name);
    let frame = match format {
        Format::Rle => rle::read(text, |_| {})?,
        Format::Plaintext => rows::read_plaintext(text, |_| {})?,
        Format::Life105 | Format::Life106 => rows::read_life(text, format, [0; 2], |_| {})?,
        Format::Macrocell => {
            let (frame, tree) = macrocell::read(text)?;
            return Ok((format, frame, Some(Arc::new(tree))));
        }
    };
    Ok((format, frame, None))
}

/// Reads a stream up to this limit.
fn read_stream(mut from: impl Read, limit: u64) -> Result<Vec<u8>, ReadError> {
    let mut text = Vec::new();
    loop {
        // Reads in parts, so that memory grows with the data and a shortage is an error.
        let part = 1 << 16;
        let reserved = text.try_reserve(part);
        reserved.map_err(|_| ReadError::NoRoom(message!("there is no memory left for it")))?;
        match from.by_ref().take(part as u64).read_to_end(&mut text)? {
            0 => return Ok(text),
            _ if text.len() as u64 > limit => {
                return Err(ReadError::NoRoom(message!(
                    "it is more than {} MiB long; save it to a file, and name that",
                    limit >> 20
                )));
            }
            _ => {}
        }
    }
}

// Parts of a lattice, as selections are.

impl Lattice {
    /// Copies the part of this size with its top left at column `x`, row `y`. It wraps around the
    /// torus, several times if it is larger than the lattice.
    pub fn part(&self, x: u32, y: u32, size: Size) -> Lattice {
        let mut part = Lattice::new(size);
        let (width, height) = (self.size().width, self.size().height);
        let per_row = size.words_per_row();
        for (row, words) in part.words_mut().chunks_exact_mut(per_row).enumerate() {
            let from = ((u64::from(y) + row as u64) % u64::from(height)) as usize;
            let from = &self.words()[from * self.size().words_per_row()..];
            let from = &from[..self.size().words_per_row()];
            let mut column = x % width;
            for word in &mut *words {
                *word = cells_around(from, column, width);
                column = (u64::from(column) + 32).rem_euclid(width.into()) as u32;
            }
            words[per_row - 1] &= size.last_word_mask();
        }
        part
    }

    /// The lattice with sides of another length, about the same middle: a longer side gets dead cells at
    /// both ends, where patterns lie that way, too; a shorter one is cropped at both. Enlarging and then
    /// reducing to the former size gives the same cells.
    ///
    /// # Errors
    /// If memory is insufficient.
    pub fn resized(&self, size: Size) -> Result<Lattice, MemoryError> {
        let own = self.size();
        let shorter_by = |from: Size, to: Size| {
            let half = |from: u32, to: u32| from.saturating_sub(to) / 2;
            [half(from.width, to.width), half(from.height, to.height)]
        };
        let ([cut_x, cut_y], [x, y]) = (shorter_by(own, size), shorter_by(size, own));
        let width = own.width.min(size.width);
        let mut resized = Lattice::try_new(size)?;
        let rows = self.words().chunks_exact(own.words_per_row());
        let rows = rows.skip(cut_y as usize).take(size.height as usize);
        for (row, words) in (0..).zip(rows) {
            for (first, end) in LiveRuns::new(words) {
                let first = first.max(cut_x) - cut_x;
                let end = end.saturating_sub(cut_x).min(width);
                if first < end {
                    let run = Run {
                        x: first,
                        y: row,
                        length: end - first,
                    };
                    run.draw_into(&mut resized, x, y);
                }
            }
        }
        Ok(resized)
    }
}

/// 32 cells of a row of this width from this column on, wrapped around.
fn cells_around(row: &[u32], column: u32, width: u32) -> u32 {
    let (at, bit) = ((column / 32) as usize, column % 32);
    if column + 32 <= width {
        let pair = u64::from(row[at]) | u64::from(*row.get(at + 1).unwrap_or(&0)) << 32;
        return (pair >> bit) as u32;
    }
    (0..32).fold(0, |cells, offset| {
        let column = (column + offset) % width;
        cells | (row[(column / 32) as usize] >> (column % 32) & 1) << offset
    })
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn what_cannot_be_read_is_named_with_its_reason() {
        let folder = tempfile::tempdir().unwrap();
        let sparse = folder.path().join("sparse.rle");
        let file = File::create(&sparse).unwrap();
        file.set_len(Pattern::MAX_FILE + 1).unwrap();
        for (path, why) in [
            (folder.path(), "it is a folder; name a pattern file"),
            (
                &folder.path().join("missing.rle"),
                "there is no such file; check its name",
            ),
            (&sparse, "it is more than 4 GiB long; name a pattern file"),
            (
                "/dev/zero".as_ref(),
                "it is a pipe or a device, not a regular file;",
            ),
        ] {
            let said = Pattern::load(path).unwrap_err().to_string();
            let wanted = format!("cannot read the pattern {}: {why}", path.display());
            assert!(said.starts_with(&wanted), "{said}");
        }
    }

    #[test]
    fn a_stream_is_read_to_its_end_and_no_further_than_its_limit() {
        let pattern = Pattern::read("the stream", &b"x = 3, y = 3\nbo$2bo$3o!"[..]).unwrap();
        assert_eq!(pattern.live_sides(), (3, 3));
        let error = Pattern::read("the stream", &b"bz"[..]).unwrap_err();
        let said = "the stream, line 1, column 1: this is not an RLE pattern;";
        assert!(error.to_string().starts_with(said), "{error}");
        assert_eq!(read_stream(&b"12345"[..], 5).unwrap(), b"12345");
        // This device never ends.
        let why = read_stream(std::io::repeat(b' '), 3 << 20)
            .unwrap_err()
            .to_string();
        assert!(why.starts_with("it is more than 3 MiB long;"), "{why}");
    }
}

#[cfg(test)]
mod part_tests {
    use super::*;
    use crate::soup;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_part_has_the_cells_that_lie_there(
            width in 1u64..140, height in 1u64..9, x in 0u32..300, y in 0u32..20,
            wide in 1u64..200, high in 1u64..12, seed: u64,
        ) {
            let lattice = soup(Size::new(width, height).unwrap(), 0.4, seed, 0);
            let part = lattice.part(x, y, Size::new(wide, high).unwrap());
            for (column, row) in (0..wide as u32).flat_map(|c| (0..high as u32).map(move |r| (c, r))) {
                let there = lattice.get((x + column) % width as u32, (y + row) % height as u32);
                prop_assert_eq!(part.get(column, row), there, "{} {}", column, row);
            }
            prop_assert_eq!(&part, &Lattice::from_words(part.size(), part.words().to_vec()));
        }

        #[test]
        fn resized_lattices_have_the_same_middle(
            sides: [u8; 4], seed: u64,
        ) {
            let [width, height, wide, high] = sides.map(|side| u32::from(side) + 1);
            let size = |width: u32, height: u32| Size::new(width.into(), height.into()).unwrap();
            let lattice = soup(size(width, height), 0.4, seed, 0);
            let resized = lattice.resized(size(wide, high)).unwrap();
            // Rounded down where cells are added and where they are cut off.
            let from = |at: u32, side: u32, own: u32| {
                let at = match own.checked_sub(side) {
                    Some(more) => at + more / 2,
                    None => at.checked_sub((side - own) / 2)?,
                };
                Some(at).filter(|at| *at < own)
            };
            for (column, row) in (0..wide).flat_map(|c| (0..high).map(move |r| (c, r))) {
                let was = from(column, wide, width).zip(from(row, high, height));
                let was = was.is_some_and(|(x, y)| lattice.get(x, y));
                prop_assert_eq!(resized.get(column, row), was, "{} {}", column, row);
            }
        }
    }
}
