//! Writing a lattice as a macrocell.

use super::tree::{LEAF, leaf};
use crate::Lattice;
use crate::formats::{Format, Sheet};
use std::collections::HashMap;
use std::io::{self, BufWriter, Write};

/// Writes the sheet. The middle of the lattice is the middle of the tree, where Golly has its
/// origin and the middle of a torus.
///
/// Equal squares are written once. Each distinct one takes about 30 bytes of memory during the
/// call.
///
/// # Errors
/// Errors of `out`.
pub fn write(sheet: Sheet, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    writeln!(out, "[M2] (lifestreams {})", env!("CARGO_PKG_VERSION"))?;
    sheet.notes.write(Format::Macrocell, &mut out)?;
    writeln!(out, "#R {}", sheet.head().rule_and_torus())?;
    if sheet.generation > 0 {
        writeln!(out, "#G {}", sheet.generation)?;
    }
    let size = sheet.lattice.size();
    // Half a side on each side of the centre, and at least the lowest level above leaves.
    let half = size.width().max(size.height()).div_ceil(2);
    let level = half.next_power_of_two().ilog2().max(u32::from(LEAF)) as u8 + 1;
    let mut writer = Writer {
        lattice: sheet.lattice,
        out,
        numbers: HashMap::new(),
    };
    let (x, y) = (i64::from(size.width() / 2), i64::from(size.height() / 2));
    let half = 1 << (level - 1);
    if writer.square(level, x - half, y - half)? == 0 {
        writeln!(writer.out, "{level} 0 0 0 0")?;
    }
    writer.out.flush()
}

struct Writer<'a, W: Write> {
    lattice: &'a Lattice,
    out: W,
    /// The number of each square written so far.
    numbers: HashMap<(u8, [u32; 4]), u32>,
}

impl<W: Write> Writer<'_, W> {
    /// Writes the new nodes of the square of this level with its top left at column `x`, row `y` of
    /// the lattice. Returns its number, 0 if it is empty.
    fn square(&mut self, level: u8, x: i64, y: i64) -> io::Result<u32> {
        let size = self.lattice.size();
        let side = 1 << level;
        let beyond = |from: i64, of: u32| from >= i64::from(of) || from + side <= 0;
        if beyond(x, size.width()) || beyond(y, size.height()) {
            return Ok(0);
        }
        let node = if level == LEAF {
            leaf(std::array::from_fn(|row| {
                cells(self.lattice, x, y + row as i64)
            }))
        } else {
            let half = side / 2;
            [
                self.square(level - 1, x, y)?,
                self.square(level - 1, x + half, y)?,
                self.square(level - 1, x, y + half)?,
                self.square(level - 1, x + half, y + half)?,
            ]
        };
        if node == [0; 4] {
            return Ok(0);
        }
        let next = self.numbers.len() as u32 + 1;
        let number = *self.numbers.entry((level, node)).or_insert(next);
        if number == next {
            self.line(level, node)?;
        }
        Ok(number)
    }

    fn line(&mut self, level: u8, node: [u32; 4]) -> io::Result<()> {
        if level > LEAF {
            let [nw, ne, sw, se] = node;
            return writeln!(self.out, "{level} {nw} {ne} {sw} {se}");
        }
        let mut text = String::new();
        for row in node[0]
            .to_le_bytes()
            .into_iter()
            .chain(node[1].to_le_bytes())
        {
            let cells = 8 - row.leading_zeros();
            text.extend((0..cells).map(|x| if row >> x & 1 == 1 { '*' } else { '.' }));
            text.push('$');
        }
        // Trailing rows without live cells are omitted, as in Golly.
        writeln!(self.out, "{}$", text.trim_end_matches('$'))
    }
}

/// Eight cells from column `x` of row `y` on, the first in the least significant bit. Cells beyond
/// the lattice are dead.
fn cells(lattice: &Lattice, x: i64, y: i64) -> u8 {
    let size = lattice.size();
    if y < 0 || y >= i64::from(size.height()) {
        return 0;
    }
    let row = &lattice.words()[y as usize * size.words_per_row()..][..size.words_per_row()];
    let word = |at: i64| {
        let at = usize::try_from(at).ok();
        u64::from(at.and_then(|at| row.get(at)).copied().unwrap_or(0))
    };
    let first = x.div_euclid(32);
    let pair = word(first) | word(first + 1) << 32;
    (pair >> x.rem_euclid(32)) as u8
}
