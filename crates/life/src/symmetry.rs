//! Soups with symmetry, which every later generation keeps.

use super::{Lattice, Size, SizeError, soup};
use std::fmt;

/// The symmetries of a square, with the names used by soup searches: sets of rotations and
/// reflections under which the square is unchanged.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Symmetry {
    /// None.
    C1,
    /// Rotation by 180°.
    C2,
    /// Rotation by 90°.
    C4,
    /// Reflection in a vertical axis.
    D2,
    /// Reflection in one diagonal.
    D2X,
    /// Reflections in a vertical and a horizontal axis.
    D4,
    /// Reflections in both diagonals.
    D4X,
    /// All rotations and reflections.
    D8,
}

impl Symmetry {
    /// All symmetries, starting with none.
    pub const ALL: [Symmetry; 8] = [
        Symmetry::C1,
        Symmetry::C2,
        Symmetry::C4,
        Symmetry::D2,
        Symmetry::D2X,
        Symmetry::D4,
        Symmetry::D4X,
        Symmetry::D8,
    ];

    /// Whether a square lattice has this symmetry about its centre; false for other lattices.
    pub fn holds(self, lattice: &Lattice) -> bool {
        let (width, height) = (lattice.size().width(), lattice.size().height());
        let alike = |x, y| {
            let mut places = self.places(x, y, width - 1);
            places.all(|(u, v)| lattice.get(u, v) == lattice.get(x, y))
        };
        width == height && (0..height).all(|y| (0..width).all(|x| alike(x, y)))
    }

    /// The cells equivalent to column `x`, row `y` of a square with last column and row `last`,
    /// including the cell itself.
    fn places(self, x: u32, y: u32, last: u32) -> impl Iterator<Item = (u32, u32)> {
        let (left, up) = (last - x, last - y);
        // All eight: rotations, then reflections: vertical, horizontal, both diagonals.
        let all = [
            (x, y),
            (up, x),
            (left, up),
            (y, left),
            (left, y),
            (x, up),
            (y, x),
            (up, left),
        ];
        let which: &[usize] = match self {
            Symmetry::C1 => &[0],
            Symmetry::C2 => &[0, 2],
            Symmetry::C4 => &[0, 1, 2, 3],
            Symmetry::D2 => &[0, 4],
            Symmetry::D2X => &[0, 6],
            Symmetry::D4 => &[0, 2, 4, 5],
            Symmetry::D4X => &[0, 2, 6, 7],
            Symmetry::D8 => &[0, 1, 2, 3, 4, 5, 6, 7],
        };
        which.iter().map(move |&i| all[i])
    }
}

impl fmt::Display for Symmetry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Symmetry::C1 => "C1",
            Symmetry::C2 => "C2",
            Symmetry::C4 => "C4",
            Symmetry::D2 => "D2",
            Symmetry::D2X => "D2x",
            Symmetry::D4 => "D4",
            Symmetry::D4X => "D4x",
            Symmetry::D8 => "D8",
        })
    }
}

/// A square soup with this symmetry. The first cell (row by row) of each set of equivalent cells is
/// that of [`soup`] with the same `density`, `seed` and `instance`; the others are copies of it.
///
/// # Errors
/// If there is no lattice of this side.
pub fn symmetric_soup(
    symmetry: Symmetry,
    side: u32,
    density: f64,
    seed: u64,
    instance: u64,
) -> Result<Lattice, SizeError> {
    let size = Size::new(side.into(), side.into())?;
    let soup = soup(size, density, seed, instance);
    let mut symmetric = Lattice::new(size);
    for (y, x) in (0..side).flat_map(|y| (0..side).map(move |x| (y, x))) {
        let first = symmetry.places(x, y, side - 1).min_by_key(|&(x, y)| (y, x));
        if first.is_some_and(|(x, y)| soup.get(x, y)) {
            symmetric.set(x, y, true);
        }
    }
    Ok(symmetric)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Rule, reference};

    /// The symmetries that each one implies.
    fn implied(symmetry: Symmetry) -> Vec<Symmetry> {
        use Symmetry::*;
        match symmetry {
            C1 => vec![C1],
            C2 => vec![C1, C2],
            C4 => vec![C1, C2, C4],
            D2 => vec![C1, D2],
            D2X => vec![C1, D2X],
            D4 => vec![C1, C2, D2, D4],
            D4X => vec![C1, C2, D2X, D4X],
            D8 => Symmetry::ALL.to_vec(),
        }
    }

    #[test]
    fn a_soup_has_its_symmetry_and_no_other_and_keeps_it() {
        for side in [16, 33] {
            for symmetry in Symmetry::ALL {
                let start = symmetric_soup(symmetry, side, 0.5, 1, 0).unwrap();
                let later = reference::run(&start, Rule::LIFE, 20);
                for other in Symmetry::ALL {
                    let expected = implied(symmetry).contains(&other);
                    assert_eq!(other.holds(&start), expected, "{symmetry} {other} {side}");
                    assert!(other.holds(&later) || !expected, "{symmetry} {other} later");
                }
            }
        }
    }

    #[test]
    fn without_symmetry_it_is_the_soup_and_the_density_stays() {
        let size = Size::new(200, 200).unwrap();
        let plain = symmetric_soup(Symmetry::C1, 200, 0.3, 5, 2).unwrap();
        assert_eq!(plain, soup(size, 0.3, 5, 2));
        for symmetry in Symmetry::ALL {
            let population = symmetric_soup(symmetry, 200, 0.3, 5, 2)
                .unwrap()
                .population();
            // At most eight cells are equal: the deviation is sqrt(8 n p (1 - p)).
            let off = (population as f64 - 12_000.0) / 260.0;
            assert!(off.abs() < 4.0, "{symmetry}: {population}");
        }
        assert!(symmetric_soup(Symmetry::D8, 0, 0.3, 1, 0).is_err());
    }
}
