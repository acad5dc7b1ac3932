//! The cell under a point of a panel.

use life::Size;

/// What is under a point of a panel.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct CellHit {
    /// The cell, counted on beyond the lattice's edges.
    pub(super) cell: [i64; 2],
    /// Axes on which coordinates wrap.
    pub(super) around: [bool; 2],
    /// Where the panel's top left was then.
    pub(super) origin: [f64; 2],
}

impl CellHit {
    /// The cell of the lattice; the nearest one, where it is on none.
    pub(super) fn on(self, size: Size) -> [u32; 2] {
        self.each(size, |at, side, around| {
            if around {
                at.rem_euclid(side)
            } else {
                at.clamp(0, side - 1)
            }
        })
        .map(|at| at as u32)
    }

    /// Whether there is a cell.
    pub(super) fn is_on(self, size: Size) -> bool {
        let is_on = |at, side, around| i64::from(around || (0..side).contains(&at));
        self.each(size, is_on) == [1, 1]
    }

    /// The same cell relative to the panel's present origin, which jumps by a lattice's side when
    /// the view has moved around the torus.
    pub(super) fn carried(self, now: CellHit, size: Size) -> [i64; 2] {
        let sides = [size.width(), size.height()].map(i64::from);
        [0, 1].map(|axis| {
            let moved = (now.origin[axis] - self.origin[axis]) / sides[axis] as f64;
            let turns = if now.around[axis] { moved.round() } else { 0.0 };
            self.cell[axis] + turns as i64 * sides[axis]
        })
    }

    /// The cells from here to there that an area can have: it ends at the lattice's edges.
    pub(super) fn span(self, to: CellHit, size: Size) -> [[u32; 2]; 2] {
        let from = self.carried(to, size);
        let first = self.each(size, |_, side, around| if around { side } else { 0 });
        let first = [0, 1].map(|axis| match first[axis] {
            0 => 0,
            side => from[axis].div_euclid(side) * side,
        });
        [from, to.cell].map(|cell| within([0, 1].map(|axis| cell[axis] - first[axis]), size))
    }

    fn each(self, size: Size, of: impl Fn(i64, i64, bool) -> i64) -> [i64; 2] {
        let sides = [size.width(), size.height()].map(i64::from);
        [0, 1].map(|axis| of(self.cell[axis], sides[axis], self.around[axis]))
    }
}

/// The nearest cell of the lattice.
fn within([x, y]: [i64; 2], size: Size) -> [u32; 2] {
    let near = |at: i64, side: u32| at.clamp(0, i64::from(side) - 1) as u32;
    [near(x, size.width()), near(y, size.height())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beyond_an_edge_lies_the_other_side_where_a_panel_goes_around() {
        let size = Size::new(100, 60).unwrap();
        let under = |cell, origin| CellHit {
            cell,
            around: [true, false],
            origin,
        };
        let at = under([103, 62], [90.0, 0.0]);
        assert_eq!(at.on(size), [3, 59]);
        assert!(!at.is_on(size) && under([103, 59], [90.0, 0.0]).is_on(size));
        // The panel has moved on by 12 columns, and so around.
        let now = under([8, 30], [2.0, 0.0]);
        assert_eq!(at.carried(now, size), [3, 62]);
        assert_eq!(now.carried(at, size), [108, 30]);
        // A selection ends at the edge that it came to, whichever side it began on.
        let from = under([97, 10], [90.0, 0.0]);
        assert_eq!(from.span(at, size), [[97, 10], [99, 59]]);
        assert_eq!(at.span(from, size), [[3, 59], [0, 10]]);
    }
}
