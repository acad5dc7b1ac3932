//! What several rows that share one show, pixel column by pixel column.

use crate::timeline::scale::TimeScale;

/// The pixel columns of a row, from `left` on.
#[derive(Clone, Copy)]
pub(super) struct Columns {
    pub(super) scale: TimeScale,
    pub(super) left: f32,
    pub(super) count: usize,
}

impl Columns {
    /// The columns that a time covers, each with the part of it that is covered; even the shortest
    /// time covers some of one.
    pub(super) fn covered(self, start: f64, end: f64) -> impl Iterator<Item = (usize, f32)> {
        let count = self.count as f32;
        let [start, end] = [start, end].map(|ns| (self.scale.x(ns) - self.left).clamp(-1.0, count));
        let columns = if end < 0.0 || start >= count {
            0..0
        } else {
            let first = start.max(0.0) as usize;
            first..(end.ceil() as usize).clamp(first + 1, self.count)
        };
        columns.map(move |column| {
            let at = column as f32;
            (column, (end.min(at + 1.0) - start.max(at)).max(0.01))
        })
    }
}

/// Joins neighbouring columns that show the same: the first column, the one behind the last, and what
/// they show.
pub(super) fn join<T: PartialEq>(
    columns: impl IntoIterator<Item = Option<T>>,
) -> Vec<((usize, usize), T)> {
    let mut joined: Vec<((usize, usize), T)> = Vec::new();
    for (column, shown) in columns.into_iter().enumerate() {
        let Some(shown) = shown else { continue };
        match joined.last_mut() {
            Some(((_, end), last)) if *end == column && *last == shown => *end += 1,
            _ => joined.push(((column, column + 1), shown)),
        }
    }
    joined
}
