//! Edits of cells by a person.
//!
//! Drawing, clearing, filling and placing do not depend on the present cells. They become a list of
//! words to set ([`Change::touched`]), which is uploaded between two launches, or a whole lattice
//! if every cell is replaced ([`Change::whole`]). Flipping and rotating depend on the present
//! cells: they are computed on the host from the lattice between two rounds ([`Change::apply`]).

use crate::saved::text;
use engine::WordEdit;
use life::{Lattice, Size, soup};
use std::sync::Arc;

/// An edit, and of which instance.
#[derive(Clone, Debug)]
pub struct Edit {
    /// Whose lattice.
    pub instance: usize,
    /// What is done to it.
    pub change: Change,
    /// Whether it goes on with the edit before it, as a stroke of the pencil does: both are undone
    /// together.
    pub continues_stroke: bool,
}

/// What is done to a lattice. Whatever reaches beyond an edge goes around the torus.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// Makes cells alive or dead, by column and row.
    Draw {
        /// The cells.
        #[serde(with = "text::cells")]
        cells: Arc<[[u32; 2]]>,
        /// What they become.
        alive: bool,
    },
    /// Puts a pattern on it.
    Place {
        /// The pattern.
        #[serde(with = "text::lattice")]
        pattern: Arc<Lattice>,
        /// Column and row of its top left.
        at: [u32; 2],
        /// Whether its dead cells are put there too, or only its live ones.
        #[serde(rename = "dead_too")]
        overwrites_dead: bool,
    },
    /// Makes every cell of an area dead.
    Clear(Area),
    /// Fills an area with a soup.
    Fill {
        /// Where.
        area: Area,
        /// The chance of each cell to be alive.
        density: f64,
        /// The soup's seed.
        seed: u64,
    },
    /// Makes an area its mirror image.
    Flip {
        /// Where.
        area: Area,
        /// Left becomes right, or top becomes bottom.
        #[serde(rename = "sideways")]
        horizontal: bool,
    },
    /// Turns an area by a quarter about its middle; what was there before and is no more in it
    /// becomes dead.
    #[serde(rename = "turn")]
    Rotate {
        /// Where.
        area: Area,
        /// The way that a clock goes, or the other.
        clockwise: bool,
    },
}

/// A rectangle of cells, which may go around the torus; no larger than the lattice.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Area {
    /// The column of its top left.
    pub x: u32,
    /// The row.
    pub y: u32,
    /// Its sides.
    #[serde(with = "text")]
    pub size: Size,
}

impl Area {
    /// All of a lattice.
    pub const fn whole(size: Size) -> Area {
        Area { x: 0, y: 0, size }
    }

    /// The smallest that has both of these cells, neither beyond the edge.
    pub fn spanned([x, y]: [u32; 2], [to_x, to_y]: [u32; 2]) -> Area {
        let sides = [x.abs_diff(to_x) + 1, y.abs_diff(to_y) + 1];
        Area {
            x: x.min(to_x),
            y: y.min(to_y),
            size: Size::new(sides[0].into(), sides[1].into()).expect("within a lattice"),
        }
    }

    /// Whether the area contains a cell, without wrapping around the torus.
    pub fn contains(self, [x, y]: [u32; 2]) -> bool {
        let within = |at: u32, from: u32, side: u32| at >= from && at - from < side;
        within(x, self.x, self.size.width()) && within(y, self.y, self.size.height())
    }

    fn fits(self, lattice: Size) -> bool {
        let (own, all) = (self.size, lattice);
        own.width() <= all.width() && own.height() <= all.height()
    }
}

impl Change {
    /// Whether the change depends on the cells that are there.
    pub fn reads_cells(&self) -> bool {
        matches!(self, Change::Flip { .. } | Change::Rotate { .. })
    }

    /// The words that the change sets in a lattice of this size; `None` if it
    /// [reads cells](Change::reads_cells).
    pub fn touched(&self, size: Size) -> Option<Vec<WordEdit>> {
        let mut patch = Patch::new(size);
        match self {
            Change::Draw { cells, alive } => {
                cells.iter().for_each(|&[x, y]| patch.set(x, y, *alive));
            }
            Change::Place {
                pattern,
                at,
                overwrites_dead,
            } => patch.lay(pattern, *at, *overwrites_dead),
            Change::Clear(area) if area.fits(size) => {
                patch.lay(&Lattice::new(area.size), [area.x, area.y], true);
            }
            Change::Fill {
                area,
                density,
                seed,
            } if area.fits(size) => {
                let soup = soup(area.size, *density, *seed, 0);
                patch.lay(&soup, [area.x, area.y], true);
            }
            Change::Clear(_) | Change::Fill { .. } => {}
            Change::Flip { .. } | Change::Rotate { .. } => return None,
        }
        Some(patch.into_edits())
    }

    /// The new lattice, if the change sets every cell of a lattice of this size whatever the
    /// present ones are; otherwise `None`.
    pub fn whole(&self, size: Size) -> Option<Arc<Lattice>> {
        let all = |area: &Area| area.size == size;
        match self {
            Change::Place {
                pattern,
                at: [0, 0],
                overwrites_dead: true,
            } if pattern.size() == size => Some(pattern.clone()),
            Change::Clear(area) if all(area) => Some(Arc::new(Lattice::new(size))),
            Change::Fill {
                area,
                density,
                seed,
            } if *area == Area::whole(size) => Some(Arc::new(soup(size, *density, *seed, 0))),
            Change::Place { .. } | Change::Clear(_) | Change::Fill { .. } => None,
            Change::Draw { .. } | Change::Flip { .. } | Change::Rotate { .. } => None,
        }
    }

    /// The lattice after the change.
    pub fn apply(&self, lattice: &Lattice) -> Lattice {
        let mut after = lattice.clone();
        self.apply_to(&mut after);
        after
    }

    /// Applies the change to a lattice.
    pub fn apply_to(&self, lattice: &mut Lattice) {
        match self {
            Change::Flip { area, horizontal } if area.fits(lattice.size()) => {
                let part = lattice.part(area.x, area.y, area.size);
                let flipped = flipped(&part, *horizontal);
                lay(&flipped, lattice, [area.x, area.y]);
            }
            Change::Rotate { area, clockwise } if area.fits(lattice.size()) => {
                let part = lattice.part(area.x, area.y, area.size);
                let turned = turned(&part, *clockwise);
                let size = lattice.size();
                if turned.size().width() > size.width() || turned.size().height() > size.height() {
                    return; // it would meet itself
                }
                lay(&Lattice::new(area.size), lattice, [area.x, area.y]);
                lay(&turned, lattice, turned_corner(*area, size));
            }
            Change::Flip { .. } | Change::Rotate { .. } => {}
            Change::Draw { .. } | Change::Place { .. } | Change::Clear(_) | Change::Fill { .. } => {
                apply_all(self.touched(lattice.size()).unwrap_or_default(), lattice);
            }
        }
    }
}

/// Lays a part on a lattice, its dead cells too.
fn lay(part: &Lattice, lattice: &mut Lattice, at: [u32; 2]) {
    let mut patch = Patch::new(lattice.size());
    patch.lay(part, at, true);
    apply_all(patch.into_edits(), lattice);
}

fn apply_all(edits: Vec<WordEdit>, lattice: &mut Lattice) {
    let words = lattice.words_mut();
    for edit in edits {
        edit.apply(&mut words[edit.word as usize]);
    }
}

// The words that an edit touches, gathered cell by cell or row by row.

/// Words of a lattice, each with the cells that are set and what they are set to.
#[derive(Clone, Debug)]
struct Patch {
    size: Size,
    /// In the order in which they were made; one word may have several.
    edits: Vec<WordEdit>,
}

impl Patch {
    /// Nothing yet, of a lattice of this size.
    fn new(size: Size) -> Patch {
        let edits = Vec::new();
        Patch { size, edits }
    }

    /// Sets a cell, around the torus.
    fn set(&mut self, x: u32, y: u32, alive: bool) {
        let (x, y) = (x % self.size.width(), y % self.size.height());
        let word = y as usize * self.size.words_per_row() + (x / 32) as usize;
        let mask = 1 << (x % 32);
        self.edits.push(WordEdit {
            word: word as u32,
            mask,
            bits: if alive { mask } else { 0 },
        });
    }

    /// Lays a pattern whose top left is at this column and row; without `overwrites_dead` only its live
    /// cells. Nothing happens if it is larger than the lattice.
    fn lay(&mut self, pattern: &Lattice, [x, y]: [u32; 2], overwrites_dead: bool) {
        let (own, all) = (pattern.size(), self.size);
        if own.width() > all.width() || own.height() > all.height() {
            return;
        }
        let per_row = all.words_per_row();
        let mut row = vec![[0u32; 2]; per_row]; // mask and bits
        let (left, top) = (x % all.width(), y % all.height());
        let rows = pattern.words().chunks_exact(own.words_per_row());
        for (words, y) in rows.zip(0..) {
            row.fill([0; 2]);
            for (&bits, i) in words.iter().zip(0..) {
                let count = (own.width() - 32 * i).min(32);
                let cells = u32::MAX >> (32 - count);
                let mask = if overwrites_dead { cells } else { bits };
                if mask != 0 {
                    put(&mut row, all.width(), left, i, mask, bits);
                }
            }
            let first = ((top + y) % all.height()) as usize * per_row;
            let touched = row.iter().zip(first as u32..);
            let touched = touched.filter(|([mask, _], _)| *mask != 0);
            self.edits
                .extend(touched.map(|(&[mask, bits], word)| WordEdit { word, mask, bits }));
        }
    }

    /// As an engine takes them.
    fn into_edits(mut self) -> Vec<WordEdit> {
        self.edits.sort_by_key(|edit| edit.word); // stable: what came later stays later
        self.edits.dedup_by(|later, earlier| {
            let same = later.word == earlier.word;
            if same {
                earlier.bits = earlier.bits & !later.mask | later.bits & later.mask;
                earlier.mask |= later.mask;
            }
            same
        });
        self.edits
    }
}

/// Puts word `i` of a pattern whose first column is `left` into a row of this width, around.
fn put(row: &mut [[u32; 2]], width: u32, left: u32, i: u32, mask: u32, bits: u32) {
    let start = u64::from(left) + 32 * u64::from(i);
    let column = (start % u64::from(width)) as u32;
    let mut deposit = |word: u32, shift: u32, up: bool| {
        let shifted = |bits: u32| if up { bits << shift } else { bits >> shift };
        let [masks, cells] = &mut row[word as usize];
        *masks |= shifted(mask);
        *cells |= shifted(mask & bits);
    };
    let highest = 31 - mask.leading_zeros();
    if column + highest < width {
        deposit(column / 32, column % 32, true);
        if column % 32 + highest > 31 {
            deposit(column / 32 + 1, 32 - column % 32, false);
        }
        return;
    }
    for bit in (0..=highest).filter(|bit| mask >> bit & 1 == 1) {
        let column = (column + bit) % width;
        let [masks, cells] = &mut row[(column / 32) as usize];
        *masks |= 1 << (column % 32);
        *cells |= (bits >> bit & 1) << (column % 32);
    }
}

// Mirror images and quarter turns of a part.

/// Left and right exchanged, or top and bottom.
pub fn flipped(part: &Lattice, horizontal: bool) -> Lattice {
    let (width, height) = (part.size().width(), part.size().height());
    rearranged(part, part.size(), |x, y| {
        if horizontal {
            (width - 1 - x, y)
        } else {
            (x, height - 1 - y)
        }
    })
}

/// A quarter turn; a tall part becomes a wide one.
pub fn turned(part: &Lattice, clockwise: bool) -> Lattice {
    let (width, height) = (part.size().width(), part.size().height());
    let size = Size::new(height.into(), width.into()).expect("as many cells as before");
    rearranged(part, size, |x, y| {
        if clockwise {
            (height - 1 - y, x)
        } else {
            (y, width - 1 - x)
        }
    })
}

/// Where the top left of an area is when it has been turned about its middle.
fn turned_corner(area: Area, lattice: Size) -> [u32; 2] {
    let (width, height) = (i64::from(area.size.width()), i64::from(area.size.height()));
    let moved = (width - height).div_euclid(2);
    let around = |at: i64, side: u32| at.rem_euclid(side.into()) as u32;
    [
        around(i64::from(area.x) + moved, lattice.width()),
        around(i64::from(area.y) - moved, lattice.height()),
    ]
}

/// Every live cell goes where `place` says.
fn rearranged(part: &Lattice, size: Size, place: impl Fn(u32, u32) -> (u32, u32)) -> Lattice {
    let mut after = Lattice::new(size);
    let rows = part.words().chunks_exact(part.size().words_per_row());
    for (row, y) in rows.zip(0..) {
        for (&word, i) in row.iter().zip(0..) {
            let mut left = word;
            while left != 0 {
                let (x, y) = place(32 * i + left.trailing_zeros(), y);
                after.set(x, y, true);
                left &= left - 1;
            }
        }
    }
    after
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn size(width: u64, height: u64) -> Size {
        Size::new(width, height).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]
        #[test]
        fn what_is_placed_lies_there_and_nothing_else_changes(
            width in 1u64..140, height in 1u64..12, seed: u64, overwrites_dead: bool,
            wide in 1u64..140, high in 1u64..12, x in 0u32..300, y in 0u32..30,
        ) {
            let (wide, high) = (wide.min(width), high.min(height));
            let before = soup(size(width, height), 0.4, seed, 0);
            let pattern = Arc::new(soup(size(wide, high), 0.4, seed, 1));
            let place = Change::Place { pattern: pattern.clone(), at: [x, y], overwrites_dead };
            let (width, height) = (width as u32, height as u32);
            let mut want = before.clone();
            for (u, v) in (0..height).flat_map(|v| (0..width).map(move |u| (u, v))) {
                // Cell by cell: what lies in the pattern's place becomes what the pattern has there.
                let (i, j) = ((u + 3 * width * 100 - x) % width, (v + 3 * height * 100 - y) % height);
                let is_inside = u64::from(i) < wide && u64::from(j) < high;
                if is_inside && (overwrites_dead || pattern.get(i, j)) {
                    want.set(u, v, pattern.get(i, j));
                }
            }
            prop_assert_eq!(place.apply(&before), want);
            let edits = place.touched(before.size()).unwrap();
            prop_assert!(WordEdit::check_all(&edits, before.size()).is_ok());
        }

        #[test]
        fn four_turns_and_two_flips_change_nothing(
            width in 1u64..70, height in 1u64..40, seed: u64,
            wide in 1u64..70, high in 1u64..40, x in 0u32..70, y in 0u32..40, clockwise: bool,
        ) {
            // Turned, it must fit too.
            let (wide, high) = (wide.min(width).min(height), high.min(height).min(width));
            let all = size(width, height);
            let area = Area { x: x % width as u32, y: y % height as u32, size: size(wide, high) };
            let lattice = soup(all, 0.4, seed, 0);
            let flips = [true, false].map(|horizontal| Change::Flip { area, horizontal });
            for flip in &flips {
                prop_assert_eq!(&flip.apply(&flip.apply(&lattice)), &lattice);
            }
            let part = lattice.part(area.x, area.y, area.size);
            let mut turned = part.clone();
            for _ in 0..4 {
                turned = super::turned(&turned, clockwise);
            }
            prop_assert_eq!(&turned, &part);
            let once = Change::Rotate { area, clockwise }.apply(&lattice);
            let at = super::turned_corner(area, all);
            let there = once.part(at[0], at[1], size(high, wide));
            prop_assert_eq!(there, super::turned(&part, clockwise));
        }
    }

    #[test]
    fn a_quarter_turn_goes_the_way_of_the_clock_about_the_middle() {
        // The right end of a row becomes the lower end of a column.
        let mut lattice = Lattice::new(size(7, 7));
        lattice.set(4, 3, true);
        let (area, clockwise) = (Area::spanned([2, 3], [4, 3]), true);
        let turned = Change::Rotate { area, clockwise }.apply(&lattice);
        assert!(turned.get(3, 4) && turned.population() == 1);
    }
}
