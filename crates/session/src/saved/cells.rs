//! Lattices as RLE text, and cells by column and row.

use std::fmt;
use std::io;
use std::str::FromStr;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use super::reading::{empty_lattice, refuse};
use lang::{Message, message};
use life::{Lattice, Notes, Rle, Rule, Sheet, rle};

/// A lattice, its rule and generation, as the text of an RLE file.
pub(super) struct Cells {
    pub(super) lattice: Arc<Lattice>,
    pub(super) rule: Rule,
    pub(super) generation: u64,
}

impl Serialize for Cells {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self) // some lines at a time: memory may be short
    }
}

impl fmt::Display for Cells {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sheet = Sheet {
            lattice: &self.lattice,
            rule: self.rule,
            torus: true,
            generation: self.generation,
            notes: &Notes::default(),
        };
        rle::write_sheet(sheet, &mut Lines(f)).map_err(|_| fmt::Error)
    }
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

impl<'de> Deserialize<'de> for Cells {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Cells, D::Error> {
        let text = String::deserialize(from)?;
        Cells::parse(&text).map_err(refuse)
    }
}

impl Cells {
    fn parse(text: &str) -> Result<Cells, Message> {
        let rle = Rle::parse(text.as_bytes());
        let rle = rle.map_err(|error| message!("in this lattice: {error}"))?;
        if !rle.is_plain() {
            return Err(message!(
                "this lattice is not whole: it has no '!' at its end, or cells of several states"
            ));
        }
        let torus = rle.torus().zip(rle.rule());
        let (torus, rule) = torus
            .ok_or_else(|| message!("this lattice lacks its torus, as in rule = B3/S23:T64,64"))?;
        if rle.width() > torus.width() || rle.height() > torus.height() {
            return Err(message!("this lattice is larger than its torus"));
        }
        let mut lattice = empty_lattice(torus)?;
        rle.draw_into(&mut lattice, 0, 0);
        Ok(Cells {
            lattice: Arc::new(lattice),
            rule,
            generation: rle.generation(),
        })
    }
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
    type Err = Message;

    fn from_str(text: &str) -> Result<DrawnCells, Message> {
        let cell = |word: &str| {
            let (column, row) = word.split_once(',')?;
            Some([column.parse().ok()?, row.parse().ok()?])
        };
        let cells = text.split_ascii_whitespace().map(|word| {
            cell(word).ok_or_else(|| {
                let word: String = word.chars().take(40).collect();
                message!("'{word}' is not a cell: write COLUMN,ROW, such as 3,4")
            })
        });
        cells.collect::<Result<_, _>>().map(DrawnCells)
    }
}
