//! Patterns from files: loaded, and put in the middle of a lattice.

use super::rle::{Outline, Rle, RleError};
use super::{Lattice, Rule, Size};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// A pattern and the text it is painted from.
#[derive(Clone, Debug)]
pub struct Pattern {
    name: String,
    text: Vec<u8>,
    outline: Outline,
}

/// Why a pattern cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PatternError {
    /// The file cannot be opened or read.
    #[error("cannot read the pattern {file}: {reason}")]
    Unreadable {
        /// The file.
        file: String,
        /// Why not, and what to do.
        reason: String,
    },
    /// Its text is wrong somewhere.
    #[error("{file}, {error}")]
    Text {
        /// The file.
        file: String,
        /// What is wrong and where.
        error: RleError,
    },
    /// It has more columns or rows than the lattice.
    #[error("{file} is {width}x{height} cells, larger than the lattice {lattice}; use --size")]
    Larger {
        /// The file.
        file: String,
        /// The pattern's columns.
        width: u32,
        /// The pattern's rows.
        height: u32,
        /// The lattice.
        lattice: Size,
    },
    /// Two files want different tori.
    #[error("{} is for a torus of {} and {} for one of {}, but all instances share one size; choose it with --size", .0.0, .0.1, .1.0, .1.1)]
    Sizes((String, Size), (String, Size)),
    /// Two files want different rules.
    #[error("{} has the rule {} and {} has {}, but all instances share one rule; choose it with --rule", .0.0, .0.1, .1.0, .1.1)]
    Rules((String, Rule), (String, Rule)),
}

impl Pattern {
    /// The largest file that is read, in bytes.
    pub const LARGEST_FILE: u64 = 4 << 30;

    /// Reads an RLE file.
    ///
    /// # Errors
    /// If it is no regular file, larger than [`Pattern::LARGEST_FILE`], unreadable or not RLE.
    pub fn load(path: impl AsRef<Path>) -> Result<Pattern, PatternError> {
        let path = path.as_ref();
        let file = path.display().to_string();
        match read_text(path) {
            Ok(text) => Pattern::from_text(file, text),
            Err(reason) => Err(PatternError::Unreadable { file, reason }),
        }
    }

    /// The pattern of an RLE text that came otherwise, such as by pasting; errors call it `name`.
    pub fn from_text(
        name: impl Into<String>,
        text: impl Into<Vec<u8>>,
    ) -> Result<Pattern, PatternError> {
        let (name, text) = (name.into(), text.into());
        match Rle::parse(&text).map(|rle| rle.outline()) {
            Ok(outline) => Ok(Pattern {
                name,
                text,
                outline,
            }),
            Err(error) => Err(PatternError::Text { file: name, error }),
        }
    }

    /// What it is called: its file's path as it was given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The pattern itself, for its runs of cells or to draw it elsewhere.
    pub fn rle(&self) -> Rle<'_> {
        Rle::of(&self.text, self.outline)
    }

    /// Columns; may be 0.
    pub fn width(&self) -> u32 {
        self.rle().width()
    }

    /// Rows; may be 0.
    pub fn height(&self) -> u32 {
        self.rle().height()
    }

    /// The rule it asks for, if any.
    pub fn rule(&self) -> Option<Rule> {
        self.rle().rule()
    }

    /// The torus it asks for, if any.
    pub fn torus(&self) -> Option<Size> {
        self.rle().torus()
    }

    /// A lattice with the pattern in its middle: its top left cell lies at
    /// ((W − w) / 2, (H − h) / 2), rounded down.
    ///
    /// # Errors
    /// If the pattern is larger than the lattice.
    pub fn centred_in(&self, size: Size) -> Result<Lattice, PatternError> {
        let (width, height) = (self.width(), self.height());
        if width > size.width() || height > size.height() {
            return Err(PatternError::Larger {
                file: self.name.clone(),
                width,
                height,
                lattice: size,
            });
        }
        let mut lattice = Lattice::new(size);
        let (x, y) = ((size.width() - width) / 2, (size.height() - height) / 2);
        self.rle().draw_into(&mut lattice, x, y);
        Ok(lattice)
    }
}

/// The file's bytes, or why they cannot be had and what to do.
fn read_text(path: &Path) -> Result<Vec<u8>, String> {
    let limit = Pattern::LARGEST_FILE;
    let refused = |what: &str| format!("it is {what}; name an RLE file");
    // Before it is opened, for opening a pipe waits for its other end.
    let about = fs::metadata(path).map_err(why_unreadable)?;
    if about.is_dir() {
        return Err(refused("a folder"));
    }
    if !about.is_file() {
        return Err(refused("a pipe or a device, not a regular file"));
    }
    if about.len() > limit {
        return Err(refused(&format!("more than {} GiB long", limit >> 30)));
    }
    let mut text = Vec::new();
    text.try_reserve_exact(about.len() as usize).map_err(|_| {
        format!(
            "it is {} bytes long, and there is no memory left for it",
            about.len()
        )
    })?;
    let file = File::open(path).map_err(why_unreadable)?;
    file.take(limit + 1)
        .read_to_end(&mut text)
        .map_err(why_unreadable)?;
    if text.len() as u64 > limit {
        return Err(refused(&format!("more than {} GiB long", limit >> 30)));
    }
    Ok(text)
}

fn why_unreadable(error: io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file; check its name and folder".into(),
        io::ErrorKind::PermissionDenied => "you may not read it; change its permissions".into(),
        _ => format!("{error}; try another file"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::life::testing::drawn;

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
            "domino.rle is 2x1 cells, larger than the lattice 1x9; use --size"
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
        assert!(error(folder.path()).contains("it is a folder; name an RLE file"));
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
        fs::write(&path, "#N gun\nx = 3, y = 3\nbo$\n3oA!\n").unwrap();
        let error = Pattern::load(&path).unwrap_err().to_string();
        assert!(
            error.contains("gun.rle, line 4, column 3: unknown character 'A'"),
            "{error}"
        );
    }

    #[test]
    fn a_file_without_an_end_of_size_is_refused_unread() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sparse.rle");
        File::create(&path)
            .unwrap()
            .set_len(Pattern::LARGEST_FILE + 1)
            .unwrap();
        let error = Pattern::load(&path).unwrap_err().to_string();
        assert!(error.contains("more than 4 GiB long"), "{error}");
    }
}
