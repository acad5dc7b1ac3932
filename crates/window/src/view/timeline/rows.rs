//! Lanes as rows, however many streams there are.

use std::ops::Range;

/// Lanes in rows: a lane per row, or several where there are more lanes than rows.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Rows {
    lanes: usize,
    /// Lanes per row.
    pub(crate) folded: usize,
    top: f32,
    /// From a row's top to the next one's.
    pub(crate) pitch: f32,
    gap: f32,
}

impl Rows {
    /// For so many lanes between `top` and `top + height`.
    pub(crate) fn new(lanes: usize, top: f32, height: f32) -> Rows {
        Rows::at_least(1.0, lanes, top, height)
    }

    /// The same, with rows of at least this height.
    pub(crate) fn at_least(least: f32, lanes: usize, top: f32, height: f32) -> Rows {
        let lanes = lanes.max(1);
        let most = (height / least).floor().max(1.0) as usize;
        let folded = lanes.div_ceil(most);
        let count = lanes.div_ceil(folded) as f32;
        let pitch = (height / count).min(30.0);
        let gap = match pitch {
            p if p >= 9.0 => 2.0,
            p if p >= 4.0 => 1.0,
            _ => 0.0,
        };
        Rows {
            lanes,
            folded,
            top,
            pitch,
            gap,
        }
    }

    /// How many rows.
    pub(crate) fn count(self) -> usize {
        self.lanes.div_ceil(self.folded)
    }

    /// Top and bottom of a row.
    pub(crate) fn edges(self, row: usize) -> (f32, f32) {
        let top = self.row_top(row);
        (top, (self.row_top(row + 1) - self.gap).max(top + 1.0))
    }

    fn row_top(self, row: usize) -> f32 {
        self.top + row as f32 * self.pitch
    }

    /// The lanes in a row.
    pub(crate) fn lanes_of(self, row: usize) -> Range<usize> {
        let first = row * self.folded;
        first.min(self.lanes)..(first + self.folded).min(self.lanes)
    }

    /// The row at a height.
    pub(crate) fn row_at(self, y: f32) -> Option<usize> {
        let row = ((y - self.top) / self.pitch).floor();
        (row >= 0.0 && row < self.count() as f32).then_some(row as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lane_is_in_one_row_and_rows_stay_in_their_place() {
        for height in [56.0, 224.0, 600.0] {
            for lanes in [1, 2, 16, 17, 64, 256, 1000, 4096] {
                let rows = Rows::new(lanes, 10.0, height);
                let mut next = 0;
                for row in 0..rows.count() {
                    let lanes = rows.lanes_of(row);
                    assert_eq!(lanes.start, next);
                    next = lanes.end;
                    let (top, bottom) = rows.edges(row);
                    assert!(
                        top >= 10.0 && bottom > top && bottom <= 10.5 + height,
                        "{lanes:?}"
                    );
                    assert_eq!(rows.row_at((top + bottom) / 2.0), Some(row));
                    if row > 0 {
                        assert!(rows.edges(row - 1).1 <= top);
                    }
                }
                assert_eq!(next, lanes);
            }
        }
        assert_eq!(Rows::new(256, 0.0, 256.0).folded, 1);
        assert_eq!(Rows::new(257, 0.0, 256.0).folded, 2);
    }
}
