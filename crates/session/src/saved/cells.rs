//! Lattices as RLE text, and a limit of the memory that those of one file take.

use std::cell::RefCell;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Error as _, Serialize, Serializer};

use lang::tr;
use life::{Lattice, MemoryError, Notes, Rle, Rule, Sheet, Size, memory, rle};
use model::InWords;

/// A lattice, its rule and generation, as the text of an RLE file.
pub(super) struct Cells {
    pub(super) lattice: Arc<Lattice>,
    pub(super) rule: Rule,
    pub(super) generation: u64,
}

impl Serialize for Cells {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut text = Vec::new();
        let sheet = Sheet {
            lattice: &self.lattice,
            rule: self.rule,
            torus: true,
            generation: self.generation,
            notes: &Notes::default(),
        };
        rle::write_sheet(sheet, &mut text).map_err(S::Error::custom)?;
        to.serialize_str(&String::from_utf8_lossy(&text))
    }
}

impl<'de> Deserialize<'de> for Cells {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Cells, D::Error> {
        let text = String::deserialize(from)?;
        let rle = Rle::parse(text.as_bytes()).map_err(|error| {
            D::Error::custom(tr!("in this lattice: {error}", error = error.in_words()))
        })?;
        if !rle.is_plain() {
            return Err(D::Error::custom(tr!(
                "this lattice is not whole: it has no '!' at its end, or cells of several states"
            )));
        }
        let (torus, rule) = rle.torus().zip(rle.rule()).ok_or_else(|| {
            D::Error::custom(tr!(
                "this lattice lacks its torus, as in rule = B3/S23:T64,64"
            ))
        })?;
        if rle.width() > torus.width() || rle.height() > torus.height() {
            return Err(D::Error::custom(tr!(
                "this lattice is larger than its torus"
            )));
        }
        let mut lattice = empty_lattice(torus).map_err(|error| {
            let why = error.in_words();
            MEMORY.with_borrow_mut(|memory| memory.lacking = Some(error));
            D::Error::custom(why)
        })?;
        rle.draw_into(&mut lattice, 0, 0);
        Ok(Cells {
            lattice: Arc::new(lattice),
            rule,
            generation: rle.generation(),
        })
    }
}

/// The memory for the lattices of the file that this thread reads.
#[derive(Default)]
struct Memory {
    /// Bytes that were free at first, if known.
    free: Option<u64>,
    /// Bytes of the lattices so far. Those without cells take memory only when they are stepped,
    /// so asking for what is free each time would promise it to all of them.
    taken: u64,
    /// The lattice for which memory was lacking.
    lacking: Option<MemoryError>,
}

thread_local! {
    static MEMORY: RefCell<Memory> = RefCell::default();
}

/// Reads a file whose lattices together may take no more memory than is free now. Returns an error
/// too if memory was lacking.
pub(super) fn within_memory<T>(read: impl FnOnce() -> T) -> (T, Option<MemoryError>) {
    let free = memory::available().map(|free| free - free / 16);
    MEMORY.set(Memory {
        free,
        ..Memory::default()
    });
    let file = read();
    (file, MEMORY.take().lacking)
}

fn empty_lattice(size: Size) -> Result<Lattice, MemoryError> {
    let lattice = Lattice::try_new(size)?;
    MEMORY.with_borrow_mut(|memory| {
        memory.taken += size.words() as u64 * 4;
        match memory.free {
            Some(free) if memory.taken > free => Err(MemoryError {
                what: memory::Lattices::Saved,
                needed_mib: memory.taken.div_ceil(1 << 20),
                free_mib: free >> 20,
                fits: None,
            }),
            _ => Ok(lattice),
        }
    })
}

/// Cells by column and row, as the text `3,4 5,4`.
pub(super) struct DrawnCells(pub(super) Arc<[[u32; 2]]>);

impl fmt::Display for DrawnCells {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, [column, row]) in self.0.iter().enumerate() {
            let space = if at == 0 { "" } else { " " };
            write!(f, "{space}{column},{row}")?;
        }
        Ok(())
    }
}

impl FromStr for DrawnCells {
    type Err = String;

    fn from_str(text: &str) -> Result<DrawnCells, String> {
        let cell = |word: &str| {
            let (column, row) = word.split_once(',')?;
            Some([column.parse().ok()?, row.parse().ok()?])
        };
        let cells = text.split_ascii_whitespace().map(|word| {
            cell(word).ok_or_else(|| {
                let word: String = word.chars().take(40).collect();
                tr!(
                    "'{word}' is not a cell: write COLUMN,ROW, such as 3,4",
                    word = word
                )
            })
        });
        cells.collect::<Result<_, _>>().map(DrawnCells)
    }
}
