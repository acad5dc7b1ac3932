//! What is expected of measures and views, counted cell by cell.

use crate::{Measure, ReduceRegion};
use life::Lattice;

/// The measure expected of a lattice, counted word by word.
pub fn counted(now: &Lattice, before: Option<&Lattice>) -> Measure {
    let mut measure = Measure::default();
    for (index, &word) in (0..).zip(now.words()) {
        let then = before.map_or(0, |before| before.words()[index as usize]);
        measure.population += u64::from(word.count_ones());
        measure.births += u64::from((word & !then).count_ones());
        measure.deaths += u64::from((then & !word).count_ones());
        measure.hash = measure.hash.wrapping_add(Measure::mixed(index, word));
    }
    measure
}

/// The reduced bytes of a lattice, row by row, computed cell by cell as [`ReduceRegion`]
/// defines them: slow, and the reference for all kernels.
pub fn reduced(region: ReduceRegion, lattice: &Lattice) -> Vec<u8> {
    let cells = |(from, to): (i64, i64), side: u32| -> Vec<u32> {
        let side = i64::from(side);
        let each_once = from..to.min(from + side);
        each_once.map(|at| at.rem_euclid(side) as u32).collect()
    };
    let size = lattice.size();
    let columns: Vec<_> = (0..region.width)
        .map(|i| cells(region.columns(i), size.width()))
        .collect();
    let mut bytes = Vec::new();
    for j in 0..region.height {
        let rows = cells(region.rows(j), size.height());
        for columns in &columns {
            let covered = rows.len() * columns.len();
            let alive = |y: u32| columns.iter().filter(|&&x| lattice.get(x, y)).count();
            let alive: usize = rows.iter().map(|&y| alive(y)).sum();
            bytes.push(ReduceRegion::density(alive as u64, covered as u64));
        }
    }
    bytes
}
