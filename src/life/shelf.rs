//! The patterns that come with the program.

use super::Pattern;

/// A pattern on the shelf.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shelved {
    /// Its name, which is also its file's in `assets/patterns/`.
    pub name: &'static str,
    /// Its RLE text.
    pub text: &'static str,
}

impl Shelved {
    /// The pattern, read.
    pub fn pattern(&self) -> Pattern {
        Pattern::from_text(self.name, self.text).expect("the shelf's patterns are tested")
    }
}

macro_rules! shelf {
    ($($name:literal)*) => {
        &[$(Shelved {
            name: $name,
            text: include_str!(concat!("../../assets/patterns/", $name, ".rle")),
        }),*]
    };
}

/// All of them, small ones first.
pub const SHELF: &[Shelved] = shelf![
    "blinker" "glider" "r-pentomino" "acorn" "diehard" "lwss" "pulsar" "gosper-gun"
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::life::testing::{live_cells, scattered_run};
    use crate::life::{Lattice, Rule, Size, reference};

    /// The pattern amid a square torus.
    fn on_torus(name: &str, side: u64) -> Lattice {
        let shelved = SHELF.iter().find(|shelved| shelved.name == name).unwrap();
        shelved
            .pattern()
            .centred_in(Size::new(side, side).unwrap())
            .unwrap()
    }

    /// The lattice moved by this many columns and rows, around the torus.
    fn moved(lattice: &Lattice, dx: i64, dy: i64) -> Lattice {
        let (width, height) = (lattice.size().width(), lattice.size().height());
        let around =
            |at: u32, by: i64, side: u32| (i64::from(at) + by).rem_euclid(side.into()) as u32;
        let mut there = Lattice::new(lattice.size());
        for (x, y) in live_cells(lattice) {
            there.set(around(x, dx, width), around(y, dy, height), true);
        }
        there
    }

    /// The first generation after which the lattice is as at the start but moved by (dx, dy).
    fn period(start: &Lattice, (dx, dy): (i64, i64)) -> Option<u64> {
        let goal = moved(start, dx, dy);
        let mut now = start.clone();
        (1..100).find(|_| {
            now = reference::step(&now, Rule::LIFE);
            now == goal
        })
    }

    #[test]
    fn every_file_is_on_the_shelf_and_says_what_it_is() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/patterns");
        let mut files: Vec<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| {
                entry
                    .unwrap()
                    .path()
                    .file_stem()
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .to_owned()
            })
            .collect();
        let mut names: Vec<_> = SHELF.iter().map(|shelved| shelved.name).collect();
        files.sort();
        names.sort();
        assert_eq!(files, names);
        for shelved in SHELF {
            let pattern = shelved.pattern();
            assert!(shelved.text.starts_with("#N "), "{}", shelved.name);
            assert_eq!(pattern.rule(), Some(Rule::LIFE), "{}", shelved.name);
            let header = format!("x = {}, y = {},", pattern.width(), pattern.height());
            assert!(
                shelved.text.contains(&header),
                "{}: its extents are {header}",
                shelved.name
            );
        }
    }

    #[test]
    fn oscillators_return() {
        assert_eq!(period(&on_torus("blinker", 16), (0, 0)), Some(2));
        assert_eq!(period(&on_torus("pulsar", 32), (0, 0)), Some(3));
    }

    #[test]
    fn spaceships_travel() {
        assert_eq!(period(&on_torus("glider", 16), (1, 1)), Some(4));
        assert_eq!(period(&on_torus("lwss", 16), (-2, 0)), Some(4));
        let glider = on_torus("glider", 20);
        assert_eq!(reference::run(&glider, Rule::LIFE, 4 * 20), glider);
    }

    #[test]
    fn the_gun_fires_every_30_generations() {
        let start = on_torus("gosper-gun", 128);
        let gun = |x: u32, y: u32| (46..82).contains(&x) && (59..68).contains(&y);
        let barrel = |lattice: &Lattice| {
            let cells = live_cells(lattice).into_iter();
            cells.filter(|&(x, y)| gun(x, y)).collect::<Vec<_>>()
        };
        let mut now = start.clone();
        for shots in 1..=4 {
            for generation in 1..30 {
                now = reference::step(&now, Rule::LIFE);
                assert_ne!(
                    barrel(&now),
                    barrel(&start),
                    "{generation} after shot {shots}"
                );
            }
            now = reference::step(&now, Rule::LIFE);
            assert_eq!(barrel(&now), barrel(&start), "shot {shots}");
            assert_eq!(now.population(), start.population() + 5 * shots);
        }
    }

    #[test]
    fn the_r_pentomino_settles_at_generation_1103() {
        let early = [
            5, 6, 7, 9, 8, 9, 12, 11, 18, 11, 11, 10, 13, 16, 19, 19, 23, 25, 35, 25,
        ];
        let mut now = on_torus("r-pentomino", 64);
        for (generation, population) in early.into_iter().enumerate() {
            assert_eq!(now.population(), population, "generation {generation}");
            now = reference::step(&now, Rule::LIFE);
        }
        // Its gliders travel 1103 / 4 cells at most, so on this torus they do not meet again.
        let before = scattered_run(&on_torus("r-pentomino", 2048), Rule::LIFE, 1102);
        assert_ne!(before.population(), 116);
        let settled = scattered_run(&before, Rule::LIFE, 1);
        assert_eq!(settled.population(), 116);
        assert_eq!(scattered_run(&settled, Rule::LIFE, 20).population(), 116);
    }

    #[test]
    fn the_acorn_settles_at_generation_5206() {
        let settled = scattered_run(&on_torus("acorn", 4096), Rule::LIFE, 5206);
        assert_eq!(settled.population(), 633);
        assert_eq!(scattered_run(&settled, Rule::LIFE, 10).population(), 633);
    }

    #[test]
    fn the_die_hard_dies_at_generation_130() {
        let last = scattered_run(&on_torus("diehard", 512), Rule::LIFE, 129);
        assert_ne!(last.population(), 0);
        assert_eq!(reference::step(&last, Rule::LIFE).population(), 0);
    }
}
