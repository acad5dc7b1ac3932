//! Values that are text in a session's file: `#[serde(with = "crate::text")]`. A lattice is the text
//! of an RLE file, with its generation.

use engine::kernels;
use engine::kernels::Kernel;
use lang::{Message, message};
use life::rle::{self, RowWriter};
use life::{Lattice, MemoryError, Size, memory};
use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Serialize, Serializer};
use std::cell::Cell;
use std::str::FromStr;
use std::sync::Arc;
use std::{fmt, io};

pub(crate) fn serialize<T: fmt::Display, S: Serializer>(
    value: &T,
    to: S,
) -> Result<S::Ok, S::Error> {
    to.collect_str(value) // some lines at a time: memory may be short
}

pub(crate) fn deserialize<'de, T: FromStr<Err: fmt::Display>, D: Deserializer<'de>>(
    from: D,
) -> Result<T, D::Error> {
    String::deserialize(from)?.parse().map_err(D::Error::custom)
}

thread_local! {
    /// Bytes that the lattices which this thread reads may still take, if known; `Err` once they lacked.
    /// An empty lattice takes its memory only when it is stepped. Asking anew for each lattice what is free
    /// would count the same memory several times.
    static LEFT: Cell<Result<Option<u64>, ()>> = const { Cell::new(Ok(None)) };
}

/// Reads a file whose lattices together may take no more memory than is free now. Returns whether it lacked.
pub(crate) fn within_memory<T>(read: impl FnOnce() -> T) -> (T, bool) {
    LEFT.set(Ok(memory::usable()));
    let read = read();
    (read, LEFT.replace(Ok(None)).is_err())
}

/// A lattice, if there is memory for it.
fn empty_lattice(size: Size) -> Result<Lattice, MemoryError> {
    let bytes = size.bytes();
    let lattice = match LEFT.get() {
        Ok(Some(left)) if bytes > left => {
            let what = message!("the lattices of the session");
            Err(MemoryError::new(what, bytes, left, None))
        }
        _ => Lattice::try_new(size),
    };
    LEFT.set(match (LEFT.get(), &lattice) {
        (_, Err(_)) => Err(()),
        (left, Ok(_)) => left.map(|left| left.map(|left| left.saturating_sub(bytes))),
    });
    lattice
}

/// A lattice and its generation.
struct LatticeText {
    lattice: Arc<Lattice>,
    generation: u64,
}

impl fmt::Display for LatticeText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.generation > 0 {
            writeln!(f, "#CXRLE Gen={}", self.generation)?;
        }
        write_lattice(f, self.lattice.size(), |rows| rows(self.lattice.words()))
    }
}

/// Writes a lattice whose rows `all` passes on, some at a time.
pub(crate) fn write_lattice(
    f: &mut fmt::Formatter<'_>,
    size: Size,
    all: impl FnOnce(&mut dyn FnMut(&[u32]) -> io::Result<()>) -> io::Result<()>,
) -> fmt::Result {
    writeln!(f, "x = {}, y = {}", size.width, size.height)?;
    let mut lines = Lines(f);
    let mut writer = RowWriter::body(size, &mut lines);
    all(&mut |rows| writer.rows(rows))
        .and_then(|()| writer.finish())
        .map_err(|_| fmt::Error)
}

/// Passes on whole lines of ASCII text.
struct Lines<'a, 'f>(&'a mut fmt::Formatter<'f>);

impl io::Write for Lines<'_, '_> {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        let text = std::str::from_utf8(lines).map_err(io::Error::other)?;
        self.0.write_str(text).map_err(io::Error::other)?;
        Ok(lines.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl FromStr for LatticeText {
    type Err = Message;

    /// Files of version 2 name a torus.
    fn from_str(text: &str) -> Result<LatticeText, Message> {
        let make = |size| empty_lattice(size).map_err(Message::of);
        let (lattice, generation) = rle::read_whole(text.as_bytes(), make)?;
        Ok(LatticeText {
            lattice: Arc::new(lattice),
            generation,
        })
    }
}

impl Serialize for LatticeText {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        serialize(self, to)
    }
}

impl<'de> Deserialize<'de> for LatticeText {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<LatticeText, D::Error> {
        deserialize(from)
    }
}

/// A kernel by its name.
pub(crate) mod kernel {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(it: &Kernel, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(it.name)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<&'static Kernel, D::Error> {
        let name = String::deserialize(from)?;
        let why = || D::Error::custom(message!("there is no kernel '{name}'"));
        kernels::find(&name).ok_or_else(why)
    }
}

/// A lattice of any generation.
pub(crate) mod lattice {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(it: &Arc<Lattice>, to: S) -> Result<S::Ok, S::Error> {
        let lattice = it.clone();
        LatticeText {
            lattice,
            generation: 0,
        }
        .serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Arc<Lattice>, D::Error> {
        Ok(LatticeText::deserialize(from)?.lattice)
    }
}

/// The lattices of a start and their generation.
pub(crate) mod start {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(
        lattices: &[Arc<Lattice>],
        &generation: &u64,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_seq(lattices.iter().map(|lattice| {
            let lattice = lattice.clone();
            LatticeText {
                lattice,
                generation,
            }
        }))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<(Vec<Arc<Lattice>>, u64), D::Error> {
        let all = Vec::<LatticeText>::deserialize(from)?;
        let generation = all.first().map(|first| first.generation);
        let generation =
            generation.ok_or_else(|| D::Error::custom(message!("a start has no lattice")))?;
        Ok((all.into_iter().map(|it| it.lattice).collect(), generation))
    }
}

/// Cells by column and row, as the text `3,4 5,4`.
pub(crate) mod cells {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(
        cells: &Arc<[[u32; 2]]>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        let text = cells.iter().map(|[column, row]| format!("{column},{row}"));
        to.serialize_str(&text.collect::<Vec<_>>().join(" "))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Arc<[[u32; 2]]>, D::Error> {
        let text = String::deserialize(from)?;
        let cell = |word: &str| {
            let (column, row) = word.split_once(',')?;
            Some([column.parse().ok()?, row.parse().ok()?])
        };
        let cells = text.split_ascii_whitespace().map(cell);
        let cells: Option<_> = cells.collect();
        cells.ok_or_else(|| D::Error::custom("cells are COLUMN,ROW, such as 3,4"))
    }
}
