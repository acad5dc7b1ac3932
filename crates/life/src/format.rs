//! The formats of pattern files, by name.

use std::fmt;
use std::path::Path;

/// A format of pattern files.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Format {
    /// Runs of cells; all programs support it.
    Rle,
    /// Rows of `.` and `O`.
    Plaintext,
    /// Blocks of rows of `.` and `*`.
    Life105,
    /// The columns and rows of the live cells.
    Life106,
    /// A quadtree of shared squares, for patterns that are huge and repeat themselves.
    Macrocell,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 5] = [
        Format::Rle,
        Format::Plaintext,
        Format::Life105,
        Format::Life106,
        Format::Macrocell,
    ];

    /// The name, and how files' names end; `lif` and `life` mean Life 1.05: texts of Life 1.06 state their
    /// version in the first line.
    const fn named(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Format::Rle => ("RLE", &["rle"]),
            Format::Plaintext => ("plaintext", &["cells"]),
            Format::Life105 => ("Life 1.05", &["lif", "life"]),
            Format::Life106 => ("Life 1.06", &["lif"]),
            Format::Macrocell => ("macrocell", &["mc"]),
        }
    }

    /// The file extension without the dot; `lif` for both versions of Life.
    pub const fn extension(self) -> &'static str {
        self.named().1[0]
    }

    /// The format that a file name's extension implies, if any.
    pub fn of_name(name: impl AsRef<Path>) -> Option<Format> {
        let extension = name.as_ref().extension()?.to_str()?.to_ascii_lowercase();
        let has_it = |format: &Format| format.named().1.contains(&&*extension);
        Format::ALL.into_iter().find(has_it)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.named().0)
    }
}
