//! What sessions are made of, at random: lattices and edits.

use std::sync::Arc;

use crate::{Area, Change};
use life::{Lattice, Size, SplitMix64, soup};

pub(crate) fn size(width: u64, height: u64) -> Size {
    Size::new(width, height).unwrap()
}

/// Random parts of sessions, all from one seed.
pub(crate) struct Random(SplitMix64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(SplitMix64(seed))
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0.below(end)
    }

    fn chance(&mut self) -> bool {
        self.below(2) == 0
    }

    fn density(&mut self) -> f64 {
        self.below(1001) as f64 / 1000.0
    }

    fn size(&mut self, most: Size) -> Size {
        let side = |most: u32, random: &mut Random| 1 + random.below(most.into());
        size(side(most.width(), self), side(most.height(), self))
    }

    pub(crate) fn lattices(&mut self, count: usize, size: Size) -> Vec<Arc<Lattice>> {
        let (density, seed) = (self.density(), self.below(1 << 40));
        (0..count)
            .map(|i| Arc::new(soup(size, density, seed, i as u64)))
            .collect()
    }

    /// An edit, or none.
    pub(crate) fn edit(&mut self, on: Size) -> Option<Change> {
        let at = |random: &mut Random| {
            let (x, y) = (
                random.below(on.width().into()),
                random.below(on.height().into()),
            );
            [x as u32, y as u32]
        };
        let [x, y] = at(self);
        let (density, seed) = (self.density(), self.below(u64::MAX));
        let area = Area {
            x,
            y,
            size: self.size(on),
        };
        let area = match self.below(4) {
            0 => Area::whole(on),
            _ => area,
        };
        let (one, other) = (self.chance(), self.chance());
        Some(match self.below(8) {
            0 | 1 => return None,
            2 => Change::Draw {
                cells: (0..self.below(9)).map(|_| at(self)).collect(),
                alive: one,
            },
            3 => Change::Place {
                pattern: self.lattices(1, area.size).remove(0),
                at: [x, y],
                overwrites_dead: other,
            },
            4 => Change::Clear(area),
            5 => Change::Fill {
                area,
                density,
                seed,
            },
            6 => Change::Flip {
                area,
                horizontal: one,
            },
            _ => Change::Rotate {
                area,
                clockwise: one,
            },
        })
    }
}
