//! Soups with symmetry, which every later generation keeps.

use super::{Lattice, Size, Soup};
use std::fmt;
use std::str::FromStr;

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

/// A text that names no symmetry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnknownSymmetry;

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

    /// What of it a lattice of this size can have.
    pub fn within(self, size: Size) -> Symmetry {
        match self {
            _ if size.width() == size.height() => self,
            Symmetry::C4 | Symmetry::D4X => Symmetry::C2,
            Symmetry::D2X => Symmetry::C1,
            Symmetry::D8 => Symmetry::D4,
            Symmetry::C1 | Symmetry::C2 | Symmetry::D2 | Symmetry::D4 => self,
        }
    }

    /// Whether a lattice has this symmetry about its centre.
    pub fn holds(self, lattice: &Lattice) -> bool {
        let size = lattice.size();
        let alike = |x, y| {
            let mut places = self.places(x, y, size);
            places.all(|(u, v)| lattice.get(u, v) == lattice.get(x, y))
        };
        let mut rows = 0..size.height();
        self.within(size) == self && rows.all(|y| (0..size.width()).all(|x| alike(x, y)))
    }

    /// The cells equivalent to column `x`, row `y` of a lattice that can have this symmetry, including
    /// the cell itself.
    fn places(self, x: u32, y: u32, size: Size) -> impl Iterator<Item = (u32, u32)> {
        let (left, up) = (size.width() - 1 - x, size.height() - 1 - y);
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

impl FromStr for Symmetry {
    type Err = UnknownSymmetry;

    fn from_str(text: &str) -> Result<Symmetry, UnknownSymmetry> {
        let mut all = Symmetry::ALL.into_iter();
        let found = all.find(|symmetry| symmetry.to_string().eq_ignore_ascii_case(text));
        found.ok_or(UnknownSymmetry)
    }
}

impl Soup {
    /// The lattice with this symmetry, or with what of it a lattice of this size can have. The first
    /// cell (row by row) of each set of equivalent cells is that of [`Soup::lattice`]; the others are
    /// copies of it.
    pub fn symmetric(self, size: Size, symmetry: Symmetry) -> Lattice {
        let soup = self.lattice(size);
        let symmetry = symmetry.within(size);
        if symmetry == Symmetry::C1 {
            return soup;
        }
        let mut symmetric = Lattice::new(size);
        for y in 0..size.height() {
            for x in (0..size.width()).filter(|&x| soup.get(x, y)) {
                let is_first = |(u, v)| (y, x) <= (v, u);
                if symmetry.places(x, y, size).all(is_first) {
                    let places = symmetry.places(x, y, size);
                    places.for_each(|(u, v)| symmetric.set(u, v, true));
                }
            }
        }
        symmetric
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::size;
    use crate::{Rule, reference, soup};

    fn symmetric(symmetry: Symmetry, size: Size, density: f64, seed: u64) -> Lattice {
        let soup = Soup {
            density,
            seed,
            instance: 2,
        };
        soup.symmetric(size, symmetry)
    }

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
        for size in [size(16, 16), size(33, 33), size(40, 17), size(7, 64)] {
            for symmetry in Symmetry::ALL {
                let start = symmetric(symmetry, size, 0.5, 1);
                let later = reference::run(&start, Rule::LIFE, 20);
                let symmetry = symmetry.within(size);
                for other in Symmetry::ALL {
                    let expected =
                        implied(symmetry).contains(&other) && other.within(size) == other;
                    assert_eq!(other.holds(&start), expected, "{symmetry} {other} {size}");
                    assert!(other.holds(&later) || !expected, "{symmetry} {other} later");
                }
            }
        }
    }

    #[test]
    fn without_symmetry_it_is_the_soup_and_the_density_stays() {
        let size = size(200, 200);
        let plain = symmetric(Symmetry::C1, size, 0.3, 5);
        assert_eq!(plain, soup(size, 0.3, 5, 2));
        for symmetry in Symmetry::ALL {
            let population = symmetric(symmetry, size, 0.3, 5).population();
            // At most eight cells are equal: the deviation is sqrt(8 n p (1 - p)).
            let off = (population as f64 - 12_000.0) / 260.0;
            assert!(off.abs() < 4.0, "{symmetry}: {population}");
        }
    }

    #[test]
    fn symmetries_are_read_as_they_are_written() {
        for symmetry in Symmetry::ALL {
            assert_eq!(symmetry.to_string().parse(), Ok(symmetry));
            assert_eq!(symmetry.to_string().to_lowercase().parse(), Ok(symmetry));
            // Only a square can have one that swaps columns and rows.
            let swaps = symmetry
                .places(0, 1, size(9, 9))
                .any(|place| place.1 % 8 == 0);
            assert_eq!(symmetry.within(size(3, 2)) != symmetry, swaps);
        }
        assert!("D3".parse::<Symmetry>().is_err());
    }
}
