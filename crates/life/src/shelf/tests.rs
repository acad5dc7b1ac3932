//! Every pattern on the shelf does what its row says, stepped by the reference or, where the
//! torus is large, from live cells alone.

use super::*;
use crate::testing::{live_cells, scattered_step};
use crate::{Rule, Size, reference};
use std::collections::HashSet;

type Cell = (i64, i64);

/// The pattern in the middle of its row's torus, generation by generation, as live cells.
fn generations(shelved: &Shelved) -> impl Iterator<Item = Vec<(u32, u32)>> {
    let size = size_of(shelved);
    let start = live_cells(&shelved.pattern().centred_in(size).unwrap());
    let next = move |live: &Vec<_>| Some(scattered_step(live, size, Rule::LIFE));
    std::iter::successors(Some(start), next)
}

fn size_of(shelved: &Shelved) -> Size {
    Size::new(shelved.side.into(), shelved.side.into()).unwrap()
}

/// The same, moved by whole columns and rows around the torus, sorted.
fn moved(live: &[(u32, u32)], (dx, dy): (i32, i32), side: u32) -> Vec<(u32, u32)> {
    let around = |at: u32, by: i32| (i64::from(at) + i64::from(by)).rem_euclid(side.into()) as u32;
    let mut cells: Vec<_> = live
        .iter()
        .map(|&(x, y)| (around(x, dx), around(y, dy)))
        .collect();
    cells.sort_unstable();
    cells
}

/// The shape of these cells wherever they lie, and the column and row of its top left.
fn shape(cells: &[Cell]) -> (HashSet<Cell>, Cell) {
    let left = cells.iter().map(|cell| cell.0).min().unwrap_or(0);
    let top = cells.iter().map(|cell| cell.1).min().unwrap_or(0);
    let shape = cells.iter().map(|(x, y)| (x - left, y - top)).collect();
    (shape, (left, top))
}

fn check(shelved: &Shelved) {
    let name = shelved.name;
    let side = shelved.side;
    let generations = generations(shelved);
    match shelved.behaviour {
        Behaviour::Still => {
            let start = shelved.pattern().centred_in(size_of(shelved)).unwrap();
            assert_eq!(reference::step(&start, Rule::LIFE), start, "{name}");
        }
        Behaviour::Oscillates { period } => returns(shelved, period, (0, 0)),
        Behaviour::Travels { period, by } => {
            assert_ne!(by, (0, 0), "{name}");
            returns(shelved, period, by);
        }
        Behaviour::Fires { period, gliders } => {
            let (width, height) = (shelved.pattern().width(), shelved.pattern().height());
            let (left, top) = ((side - width) / 2, (side - height) / 2);
            let barrel = |live: &[(u32, u32)]| {
                let mut cells = live.to_vec();
                let columns = left..left + width;
                let rows = top..top + height;
                cells.retain(|(x, y)| columns.contains(x) && rows.contains(y));
                cells.sort_unstable();
                cells
            };
            // From one period on, for what the first shot leaves where it started.
            let mut later = generations.skip(period as usize);
            let start = later.next().unwrap();
            for shot in 1..=2 {
                for generation in 1..period {
                    let now = later.next().unwrap();
                    assert_ne!(
                        barrel(&now),
                        barrel(&start),
                        "{name}: {generation} after shot {shot}"
                    );
                }
                let now = later.next().unwrap();
                assert_eq!(barrel(&now), barrel(&start), "{name}, shot {shot}");
                let fired = 5 * gliders as usize * shot;
                assert_eq!(now.len(), start.len() + fired, "{name}, shot {shot}");
            }
        }
        Behaviour::Settles {
            generation,
            population,
        } => {
            // From one generation before it on.
            let mut later = generations.skip(generation as usize - 1);
            let figures = figures(&mut later, 2 * ASH + 2);
            let recurs = |from: usize| figures[from] == figures[from + ASH];
            assert!((1..=1 + ASH).all(recurs), "{name} is not settled yet");
            assert!(!recurs(0), "{name} settles earlier");
            assert_eq!(figures[1].0, population as usize, "{name}");
        }
        Behaviour::Puffs { period, by, growth } => puffs_on(shelved, period, by, growth),
    }
}

/// The pattern is as at the start, but moved so, after this many generations for the first time;
/// before that it is not even the same elsewhere.
fn returns(shelved: &Shelved, period: u32, by: (i32, i32)) {
    let name = shelved.name;
    let flat = |live: &[(u32, u32)]| -> Vec<Cell> {
        live.iter().map(|&(x, y)| (x.into(), y.into())).collect()
    };
    let mut generations = generations(shelved);
    let start = generations.next().unwrap();
    for generation in 1..period {
        let now = generations.next().unwrap();
        let same = shape(&flat(&now)).0 == shape(&flat(&start)).0;
        assert!(!same, "{name} is the same at generation {generation}");
    }
    let now = generations.next().unwrap();
    let expected = moved(&start, by, shelved.side);
    assert_eq!(moved(&now, (0, 0), shelved.side), expected, "{name}");
    // The slow, obvious truth agrees.
    let lattice = shelved.pattern().centred_in(size_of(shelved)).unwrap();
    let after = reference::run(&lattice, Rule::LIFE, period.into());
    assert_eq!(
        moved(&live_cells(&after), (0, 0), shelved.side),
        expected,
        "{name}"
    );
}

/// A number of generations after which all that is left when Life has settled is as it was: what
/// blinks with 2, 3, 5, 6, 10, 15 or 30.
const ASH: usize = 30;

/// Population and births over this many generations; a travelling glider does not change them.
fn figures(
    generations: &mut impl Iterator<Item = Vec<(u32, u32)>>,
    count: usize,
) -> Vec<(usize, usize)> {
    let mut before: HashSet<(u32, u32)> = HashSet::new();
    let mut figures = Vec::new();
    for live in generations.take(count + 1) {
        let births = live.iter().filter(|cell| !before.contains(cell)).count();
        figures.push((live.len(), births));
        before = live.into_iter().collect();
    }
    // Births of a generation belong to the one before it.
    (0..count)
        .map(|at| (figures[at].0, figures[at + 1].1))
        .collect()
}

/// How far behind its foremost cell a puffer is looked at, what it leaves included.
const FRONT: i64 = 80;

/// Generations until that much of what it leaves is there, and what came of its start is past.
const STARTED: usize = 1500;

fn puffs_on(shelved: &Shelved, period: u32, by: (i32, i32), growth: u32) {
    let name = shelved.name;
    let (dx, dy) = (i64::from(by.0.signum()), i64::from(by.1.signum()));
    // One that starts at once needs far less time, and the torus would be too small for more.
    let quick = shelved.side <= 1024;
    let started = if quick { 400 } else { STARTED };
    let front = |live: &[(u32, u32)]| {
        let mut cells: Vec<Cell> = live.iter().map(|&(x, y)| (x.into(), y.into())).collect();
        let ahead = |&(x, y): &Cell| x * dx + y * dy;
        let foremost = cells.iter().map(ahead).max().unwrap();
        cells.retain(|cell| ahead(cell) > foremost - FRONT);
        shape(&cells)
    };
    let mut later = generations(shelved).skip(started);
    let start = later.next().unwrap();
    let (start_shape, start_at) = front(&start);
    let period = period as usize;
    for generation in 1..=2 * period {
        let now = later.next().unwrap();
        let (shape, at) = front(&now);
        let times = generation / period;
        if generation % period != 0 {
            assert_ne!(
                shape, start_shape,
                "{name} does the same after {generation}"
            );
            continue;
        }
        assert_eq!(shape, start_shape, "{name}, time {times}");
        let way = (at.0 - start_at.0, at.1 - start_at.1);
        let times_by = (
            i64::from(by.0) * times as i64,
            i64::from(by.1) * times as i64,
        );
        assert_eq!(way, times_by, "{name}");
        assert_eq!(now.len(), start.len() + growth as usize * times, "{name}");
    }
}

#[test]
fn every_file_is_on_the_shelf_and_says_what_it_is() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../assets/patterns");
    let entries = std::fs::read_dir(folder).unwrap();
    let mut files: Vec<_> = entries
        .map(|entry| {
            let name = entry.unwrap().file_name().into_string().unwrap();
            name.strip_suffix(".rle").unwrap().to_owned()
        })
        .collect();
    let mut names: Vec<_> = SHELF.iter().map(|shelved| shelved.name).collect();
    files.sort();
    names.sort();
    assert_eq!(files, names);
    for shelved in SHELF {
        let pattern = shelved.pattern();
        let notes = pattern.notes();
        let said = format!("{}: {notes:?}", shelved.name);
        assert!(notes.name.is_some_and(|name| !name.is_empty()), "{said}");
        assert!(notes.author.is_some(), "{said}");
        assert_eq!(notes.comments.len(), 1, "{said}");
        assert_eq!(pattern.rule(), Some(Rule::LIFE), "{said}");
        let header = format!("x = {}, y = {},", pattern.width(), pattern.height());
        assert!(
            shelved.text.contains(&header),
            "{}: its extents are {header}",
            shelved.name
        );
        let (picture, scale) = pattern.thumbnail(Size::new(64, 64).unwrap());
        assert_eq!(scale, 1, "{}: its picture is its cells", shelved.name);
        let edges = [live_cells(&picture)].concat();
        let (shape, at) = shape(
            &edges
                .iter()
                .map(|&(x, y)| (x.into(), y.into()))
                .collect::<Vec<_>>(),
        );
        assert_eq!(
            (shape.len(), at),
            (edges.len(), (0, 0)),
            "{}: no empty edge",
            shelved.name
        );
    }
}

#[test]
fn names_are_unique_and_found_and_kinds_stay_together() {
    for shelved in SHELF {
        assert_eq!(Shelved::find(&shelved.name.to_uppercase()), Some(shelved));
    }
    assert_eq!(Shelved::find("nothing"), None);
    let kinds: Vec<_> = SHELF.iter().map(Shelved::kind).collect();
    assert!(kinds.is_sorted());
    for kind in Kind::ALL {
        let count = kinds.iter().filter(|other| **other == kind).count();
        assert!(count >= 4, "{count} of the kind {kind:?}");
    }
}

fn check_all(kind: Kind) {
    SHELF
        .iter()
        .filter(|row| row.kind() == kind)
        .for_each(check);
}

#[test]
fn still_lifes_are_still() {
    check_all(Kind::StillLife);
}

#[test]
fn oscillators_return_and_not_before_their_period() {
    check_all(Kind::Oscillator);
}

#[test]
fn spaceships_travel() {
    check_all(Kind::Spaceship);
    let glider = Shelved::find("glider").unwrap().pattern();
    let glider = glider.centred_in(Size::new(20, 20).unwrap()).unwrap();
    assert_eq!(reference::run(&glider, Rule::LIFE, 4 * 20), glider);
}

#[test]
fn guns_fire() {
    check_all(Kind::Gun);
}

#[test]
fn methuselahs_settle_when_they_should_and_not_before() {
    check_all(Kind::Methuselah);
}

#[test]
fn puffers_leave_the_same_again_and_again() {
    check_all(Kind::Puffer);
}

#[test]
fn a_name_that_is_nearly_one_is_offered() {
    for (name, meant) in [
        ("gosper-gum", "gosper-gun"),
        ("gospergun", "gosper-gun"),
        ("Gosper_Gun", "gosper-gun"),
        ("Gosper glider gun", "gosper-gun"),
        ("glidr", "glider"),
        ("gliders", "glider"),
        ("r-pentamino", "r-pentomino"),
        ("pulser", "pulsar"),
        ("pentadecatlon", "pentadecathlon"),
    ] {
        let near = Shelved::near(name).map(|shelved| shelved.name);
        assert_eq!(near, Some(meant), "{name}");
    }
    for other in ["", "missing", "my-breeder", "x", "/tmp/a"] {
        assert_eq!(Shelved::near(other), None, "{other}");
    }
}
