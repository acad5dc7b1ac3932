//! The reference step: one generation by definition, one cell at a time. Every kernel of every
//! engine is checked against it.

use super::{Lattice, Rule};

/// The next generation.
pub fn step(lattice: &Lattice, rule: Rule) -> Lattice {
    let size = lattice.size();
    let mut next = Lattice::new(size);
    for y in 0..size.height {
        for x in 0..size.width {
            let alive = rule.next(lattice.get(x, y), live_neighbours(lattice, x, y));
            next.set(x, y, alive);
        }
    }
    next
}

/// The lattice after this many generations.
pub fn run(lattice: &Lattice, rule: Rule, generations: u64) -> Lattice {
    let mut lattice = lattice.clone();
    for _ in 0..generations {
        lattice = step(&lattice, rule);
    }
    lattice
}

/// The number of live neighbours of column `x`, row `y`. All eight count, even if some are the same
/// cell: on a side shorter than 3 a neighbour counts more than once, and on a side of 1 the cell is
/// its own neighbour.
fn live_neighbours(lattice: &Lattice, x: u32, y: u32) -> u32 {
    let (width, height) = (lattice.size().width, lattice.size().height);
    let columns = [(x + width - 1) % width, x, (x + 1) % width];
    let rows = [(y + height - 1) % height, y, (y + 1) % height];
    let mut count = 0;
    for (i, row) in rows.into_iter().enumerate() {
        for (j, column) in columns.into_iter().enumerate() {
            let is_the_cell_itself = i == 1 && j == 1;
            if !is_the_cell_itself && lattice.get(column, row) {
                count += 1;
            }
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{live_cells, rule, scattered_step};
    use crate::{Size, soup};
    use proptest::prelude::*;

    #[test]
    fn birth_from_nothing_blinks_the_whole_torus() {
        let empty = Lattice::new(Size::new(33, 5).unwrap());
        let full = step(&empty, rule("B0/S"));
        assert_eq!(full.population(), 33 * 5);
        assert_eq!(step(&full, rule("B0/S")), empty);
        assert_eq!(step(&full, rule("B0/S8")), full);
    }

    proptest! {
        #[test]
        fn counting_from_the_live_cells_outwards_gives_the_same(
            width in 1u64..40, height in 1u64..12, seed: u64, birth in 0u16..512, survival in 0u16..512,
        ) {
            let start = soup(Size::new(width, height).unwrap(), 0.4, seed, 0);
            let rule = Rule::from_masks(birth & !1, survival);
            let mut live = live_cells(&start);
            for _ in 0..3 {
                live = scattered_step(&live, start.size(), rule);
            }
            let mut scattered = Lattice::new(start.size());
            live.iter().for_each(|&(x, y)| scattered.set(x, y, true));
            prop_assert_eq!(run(&start, rule, 3), scattered);
        }
    }
}
