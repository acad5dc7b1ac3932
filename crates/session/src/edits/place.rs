//! Mirror images and quarter turns of a part.

use super::Area;
use life::{Lattice, Size};

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
pub(super) fn turned_corner(area: Area, lattice: Size) -> [u32; 2] {
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
