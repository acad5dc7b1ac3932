//! What sessions are made of, at random: starts, rules and changes, of which tests make logs.

use std::sync::Arc;

use super::{CellChange, Content, SessionParameters};
use crate::{Area, Change, Start};
use life::{Lattice, Rule, Size, SplitMix64, soup};

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

    pub(crate) fn chance(&mut self) -> bool {
        self.below(2) == 0
    }

    pub(crate) fn density(&mut self) -> f64 {
        self.below(1001) as f64 / 1000.0
    }

    pub(crate) fn size(&mut self, most: Size) -> Size {
        let side = |most: u32, random: &mut Random| 1 + random.below(most.into());
        size(side(most.width(), self), side(most.height(), self))
    }

    pub(crate) fn lattices(&mut self, count: usize, size: Size) -> Vec<Arc<Lattice>> {
        let (density, seed) = (self.density(), self.below(1 << 40));
        (0..count)
            .map(|i| Arc::new(soup(size, density, seed, i as u64)))
            .collect()
    }

    pub(crate) fn start(&mut self, most: Size) -> Start {
        let (density, seed) = (self.density(), self.below(u64::MAX));
        if self.chance() {
            return Start::Soup { density, seed };
        }
        let (count, of) = (1 + self.below(3) as usize, self.size(most));
        Start::Lattices {
            lattices: self.lattices(count, of),
            generation: self.below(3) * 1000,
        }
    }

    pub(crate) fn change(&mut self, on: Size) -> CellChange {
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
        CellChange::Edit(match self.below(8) {
            0 => return CellChange::Start,
            1 => return CellChange::Soup { density, seed },
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

    pub(crate) fn rule(&mut self) -> Rule {
        Rule::from_masks(self.below(512) as u16, self.below(512) as u16)
    }

    pub(crate) fn content(&mut self, parameters: &SessionParameters) -> Content {
        match self.below(16) {
            0 | 1 => Content::Start(self.start(parameters.size)),
            2 => Content::Rule(self.rule()),
            3 if parameters.instances > 1 && !parameters.compares => Content::Compare,
            4 => Content::Grid {
                size: size(
                    u64::from(parameters.size.width()) + self.below(9),
                    u64::from(parameters.size.height()) + self.below(9),
                ),
                instances: if parameters.compares {
                    parameters.instances
                } else {
                    1 + self.below(6) as usize
                },
            },
            _ => Content::Cells {
                instance: self.below(parameters.instances as u64) as usize,
                cells: self.change(parameters.size),
            },
        }
    }
}
