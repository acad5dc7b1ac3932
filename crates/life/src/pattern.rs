//! Patterns: loading from files and drawing into lattices.

use super::formats::macrocell::{self, Tree};
use super::formats::{Corner, Fault, Format, Frame, Notes, life, packed, plaintext};
use super::read::{ReadError, read_regular_file};
use super::rle::{Outline, Rle};
use super::text::{self, Flaw, Located};
use super::words::shown;
use super::{Lattice, MemoryError, Rule, Run, Size};
use lang::tr;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

/// A pattern: its text and what was learned from parsing it.
#[derive(Clone, Debug)]
pub struct Pattern {
    name: String,
    text: Vec<u8>,
    frame: Frame,
    cells: Cells,
}

/// Format-specific data needed to iterate over the cells.
#[derive(Clone, Debug)]
enum Cells {
    Rle(Outline),
    Plaintext,
    Life105(Corner),
    Life106(Corner),
    Macrocell(Arc<Tree>),
}

/// A pattern that cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PatternError {
    /// The file cannot be opened or read.
    #[error("{}", tr!("cannot read the pattern {file}: {reason}", file = .file, reason = .reason))]
    Unreadable {
        /// The file.
        file: String,
        /// The reason and the remedy.
        reason: String,
    },
    /// The text has an error.
    #[error("{file}, {error}")]
    Text {
        /// The file.
        file: String,
        /// The error and its position.
        error: Located<Fault>,
    },
    /// The live cells need more columns or rows than the lattice has.
    #[error("{}", tr!("{file} is {width}x{height} cells, larger than the lattice {lattice}; {}", remedy(*offer, *kernel), file = .file, width = .width, height = .height, lattice = .lattice))]
    Larger {
        /// The file.
        file: String,
        /// Columns from the first live cell to the last.
        width: u32,
        /// Rows from the first live cell to the last.
        height: u32,
        /// The lattice.
        lattice: Size,
        /// The smallest larger lattice that fits it; `None` if no lattice can.
        offer: Option<Size>,
        /// A kernel to suggest for that size.
        kernel: Option<&'static str>,
    },
    /// Not enough memory for the lattice.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// Two files specify different tori.
    #[error("{}", tr!("{} is for a torus of {} and {} for one of {}, but all instances share one size; choose it with --size", .0.0, .0.1, .1.0, .1.1))]
    Sizes((String, Size), (String, Size)),
    /// Two files specify different rules.
    #[error("{}", tr!("{} has the rule {} and {} has {}, but all instances share one rule; choose it with --rule", .0.0, .0.1, .1.0, .1.1))]
    Rules((String, Rule), (String, Rule)),
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
        let file = shown(path);
        match read_text(path) {
            Ok(text) => Pattern::from_text(file, text),
            Err(reason) => Err(PatternError::Unreadable { file, reason }),
        }
    }

    /// Reads what has no size before it ends, such as the standard input; errors call it `name`.
    ///
    /// # Errors
    /// If it cannot be read, is longer than [`Pattern::MAX_STREAM`], or is no pattern.
    pub fn read(name: impl Into<String>, from: impl Read) -> Result<Pattern, PatternError> {
        let name = name.into();
        match read_stream(from, Pattern::MAX_STREAM) {
            Ok(text) => Pattern::from_text(name, text),
            Err(reason) => Err(PatternError::Unreadable { file: name, reason }),
        }
    }

    /// The pattern of a text that came otherwise, such as by pasting; errors call it `name`, with
    /// control characters escaped, whose ending counts where the text itself does not tell its [`Format`].
    ///
    /// # Errors
    /// If it is no pattern: the first thing that is wrong, with its line and column.
    pub fn from_text(
        name: impl Into<String>,
        text: impl Into<Vec<u8>>,
    ) -> Result<Pattern, PatternError> {
        let (name, text) = (shown(name.into()), text.into());
        let at_start = |flaw| Located::new(&[], flaw);
        let read = packed::unpacked(text)
            .map_err(at_start)
            .and_then(|mut text| {
                text.truncate(text::end(&text));
                packed::check_kind(&name, &text).map_err(at_start)?;
                let (frame, cells) = Cells::read(&text, Format::detect(&text, &name))?;
                Ok((text, frame, cells))
            });
        match read {
            Ok((text, frame, cells)) => Ok(Pattern {
                name,
                text,
                frame,
                cells,
            }),
            Err(error) => Err(PatternError::Text { file: name, error }),
        }
    }

    /// The name: the path as it was given, with control characters escaped.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The format of the text.
    pub fn format(&self) -> Format {
        match self.cells {
            Cells::Rle(_) => Format::Rle,
            Cells::Plaintext => Format::Plaintext,
            Cells::Life105(_) => Format::Life105,
            Cells::Life106(_) => Format::Life106,
            Cells::Macrocell(_) => Format::Macrocell,
        }
    }

    /// Name, author and comments, parsed from the text.
    pub fn notes(&self) -> Notes {
        Notes::of(&self.text, self.format())
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
        self.frame.live.sides()
    }

    /// The generation of the cells, up to [`MAX_GENERATION`](super::MAX_GENERATION); 0 if the text
    /// does not say.
    pub fn generation(&self) -> u64 {
        self.frame.generation
    }

    /// Remarks on what was interpreted differently from the text, one sentence each.
    pub fn remarks(&self) -> Vec<String> {
        let (file, remarks) = (&self.name, self.frame.remarks);
        let mut said = Vec::new();
        if remarks.history || remarks.states > 1 {
            let rule = self.frame.rule.unwrap_or_default();
            said.push(tr!(
                "{file} has cells of several states; it is read as {rule}, with odd states alive and even ones dead",
                file = file,
                rule = rule
            ));
        }
        if remarks.no_end {
            said.push(tr!(
                "{file} has no '!' at its end; if cells are missing, it was cut short: fetch it again",
                file = file
            ));
        }
        if remarks.far_generation {
            said.push(tr!(
                "{file} is of a generation beyond {max}; it starts at generation 0",
                file = file,
                max = super::MAX_GENERATION
            ));
        }
        said
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
        match &self.cells {
            Cells::Rle(outline) => Rle::of(&self.text, *outline).runs().for_each(run),
            Cells::Plaintext => plaintext::each_run(&self.text, run),
            Cells::Life105(corner) => life::each_run_105(&self.text, *corner, run),
            Cells::Life106(corner) => life::each_run_106(&self.text, *corner, run),
            Cells::Macrocell(tree) => tree.each_run(run),
        }
    }

    /// Draws the live cells into a lattice, with the pattern's top left at column `x`, row `y`. The
    /// pattern wraps around the torus; other cells are unchanged.
    ///
    /// # Errors
    /// If its live cells lie in more columns or rows than the lattice has, which is then left as it
    /// was.
    pub fn draw_into(&self, lattice: &mut Lattice, x: u32, y: u32) -> Result<(), PatternError> {
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
        let corner = self.corner();
        let x = before(size.width(), self.width(), corner.map(|corner| corner.x));
        let y = before(size.height(), self.height(), corner.map(|corner| corner.y));
        self.draw_into(&mut lattice, x, y)?;
        Ok(lattice)
    }

    /// Where the top left lies from the text's origin, in a format that has one.
    fn corner(&self) -> Option<Corner> {
        match &self.cells {
            Cells::Rle(_) | Cells::Plaintext => None,
            Cells::Life105(corner) | Cells::Life106(corner) => Some(*corner),
            Cells::Macrocell(tree) => Some(tree.corner()),
        }
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
        let (left, top) = self.frame.live.corner();
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
    /// [`PatternError::Larger`], with the smallest lattice that has room.
    pub fn check_fits(&self, lattice: Size) -> Result<(), PatternError> {
        let (width, height) = self.live_sides();
        if width <= lattice.width() && height <= lattice.height() {
            return Ok(());
        }
        Err(PatternError::Larger {
            file: self.name.clone(),
            width,
            height,
            lattice,
            offer: self.room_beside(lattice),
            kernel: None,
        })
    }

    /// The smallest lattice that fits both the live cells and a lattice of this size; `None` if
    /// there is none.
    pub fn room_beside(&self, lattice: Size) -> Option<Size> {
        let (width, height) = self.live_sides();
        let wide = u64::from(width.max(lattice.width()));
        let high = u64::from(height.max(lattice.height()));
        Size::new(wide, high).ok()
    }

    /// A thumbnail with at most the columns and rows of `max`, and its scale: the side in cells of
    /// the pattern's squares that one cell stands for, at least 1. A cell is alive if any cell of
    /// its square is. An empty pattern gives one dead cell.
    pub fn thumbnail(&self, max: Size) -> (Lattice, u32) {
        let across = self.width().div_ceil(max.width());
        let scale = across.max(self.height().div_ceil(max.height())).max(1);
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

impl Cells {
    /// Parses and measures a text of this format.
    fn read(text: &[u8], format: Format) -> Result<(Frame, Cells), Located<Fault>> {
        fn located<F: Into<Fault>>(text: &[u8], flaw: Flaw<F>) -> Located<Fault> {
            Located::new(text, flaw).map(F::into)
        }
        match format {
            Format::Rle => {
                let outline = Rle::parse(text)
                    .map_err(|error| error.map(Fault::from))?
                    .outline();
                Ok((outline.frame(), Cells::Rle(outline)))
            }
            Format::Plaintext => plaintext::read(text)
                .map(|frame| (frame, Cells::Plaintext))
                .map_err(|flaw| located(text, flaw)),
            Format::Life105 => life::read_105(text)
                .map(|(frame, corner)| (frame, Cells::Life105(corner)))
                .map_err(|flaw| located(text, flaw)),
            Format::Life106 => life::read_106(text)
                .map(|(frame, corner)| (frame, Cells::Life106(corner)))
                .map_err(|flaw| located(text, flaw)),
            Format::Macrocell => macrocell::read(text)
                .map(|(frame, tree)| (frame, Cells::Macrocell(Arc::new(tree))))
                .map_err(|flaw| located(text, flaw)),
        }
    }
}

fn remedy(offer: Option<Size>, kernel: Option<&str>) -> String {
    match (offer, kernel) {
        (Some(size), Some(kernel)) => tr!(
            "use --size {size} --kernel {kernel}",
            size = size,
            kernel = kernel
        ),
        (Some(size), None) => tr!("use --size {size}", size = size),
        (None, _) => tr!("no lattice is that large, a smaller pattern is needed").into(),
    }
}

/// Reads a file. Errors with the reason and the remedy.
fn read_text(path: &Path) -> Result<Vec<u8>, String> {
    read_regular_file(path, Pattern::MAX_FILE).map_err(|error| match error {
        ReadError::Io(error) => why_unreadable(error),
        ReadError::NoMemory(_) => error.to_string(),
        ReadError::NotRegular(_) | ReadError::Empty | ReadError::TooLong(_) => {
            tr!("{error}; name a pattern file", error = error)
        }
    })
}

/// Reads a stream up to this limit. Errors with the reason and the remedy.
fn read_stream(mut from: impl Read, limit: u64) -> Result<Vec<u8>, String> {
    let mut text = Vec::new();
    loop {
        // Reads in parts, so that memory grows with the data and a shortage is an error.
        let part = 1 << 16;
        text.try_reserve(part)
            .map_err(|_| tr!("there is no memory left for it").to_owned())?;
        let read = from.by_ref().take(part as u64).read_to_end(&mut text);
        match read.map_err(why_unreadable)? {
            0 => return Ok(text),
            _ if text.len() as u64 > limit => {
                return Err(tr!(
                    "it is more than {} MiB long; save it to a file, and name that",
                    limit >> 20
                ));
            }
            _ => {}
        }
    }
}

fn why_unreadable(error: io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => {
            tr!("there is no such file; check its name and folder, or name a pattern of the shelf, such as gosper-gun").into()
        },
        io::ErrorKind::PermissionDenied => tr!("you may not read it; change its permissions").into(),
        _ => tr!("{error}; try another file", error = error),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use super::*;
    use crate::testing::drawn;

    fn pattern(name: &str, text: &str) -> Pattern {
        Pattern::from_text(name, text).unwrap()
    }

    fn size(width: u64, height: u64) -> Size {
        Size::new(width, height).unwrap()
    }

    #[test]
    fn the_middle_is_rounded_to_the_top_left() {
        let domino = pattern("domino.rle", "x = 2, y = 1\n2o!");
        assert_eq!(
            domino.centred_in(size(5, 4)).unwrap(),
            drawn(&[".....", ".OO..", ".....", "....."])
        );
        assert_eq!(domino.centred_in(size(2, 1)).unwrap(), drawn(&["OO"]));
        let error = domino.centred_in(size(1, 9)).unwrap_err().to_string();
        assert_eq!(
            error,
            "domino.rle is 2x1 cells, larger than the lattice 1x9; use --size 2x9"
        );
    }

    #[test]
    fn a_pattern_of_nothing_is_an_empty_lattice() {
        let nothing = pattern("nothing.rle", "x = 0, y = 0\n!");
        assert_eq!(nothing.centred_in(size(3, 3)).unwrap().population(), 0);
    }

    #[test]
    fn what_cannot_be_read_is_named_with_its_reason() {
        let folder = tempfile::tempdir().unwrap();
        let error = |path: &Path| Pattern::load(path).unwrap_err().to_string();
        assert!(error(folder.path()).contains("it is a folder; name a pattern file"));
        let missing = folder.path().join("missing.rle");
        let message = error(&missing);
        assert!(
            message.contains("missing.rle: there is no such file"),
            "{message}"
        );
        let device = Path::new("/dev/zero");
        if device.exists() {
            assert!(error(device).contains("a pipe or a device"));
        }
    }

    #[test]
    fn a_flaw_is_named_with_file_line_and_column() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gun.rle");
        fs::write(&path, "#N gun\nx = 3, y = 3\nbo$\n3oz!\n").unwrap();
        let error = Pattern::load(&path).unwrap_err().to_string();
        assert!(
            error.contains("gun.rle, line 4, column 3: unknown character 'z'"),
            "{error}"
        );
    }

    #[test]
    fn a_stream_is_read_to_its_end_and_no_further_than_its_limit() {
        let text = "x = 3, y = 3\nbo$2bo$3o!".as_bytes();
        let pattern = Pattern::read("the stream", text).unwrap();
        assert_eq!(pattern.live_sides(), (3, 3));
        let error = Pattern::read("the stream", "bz".as_bytes()).unwrap_err();
        assert!(
            error.to_string().starts_with("the stream, line 1"),
            "{error}"
        );
        assert_eq!(read_stream(&b"12345"[..], 5), Ok(b"12345".to_vec()));
        // This device never ends.
        let why = read_stream(io::repeat(b' '), 3 << 20).unwrap_err();
        assert!(why.contains("more than 3 MiB long"), "{why}");
    }

    #[test]
    fn a_file_without_an_end_of_size_is_refused_unread() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sparse.rle");
        File::create(&path)
            .unwrap()
            .set_len(Pattern::MAX_FILE + 1)
            .unwrap();
        let error = Pattern::load(&path).unwrap_err().to_string();
        assert!(error.contains("more than 4 GiB long"), "{error}");
    }
}
