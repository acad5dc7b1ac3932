//! Every pattern on the shelf does what its row says, stepped from its live cells.

use super::*;
use crate::testing::{live_cells, scattered_step, size};
use crate::{Rule, Size};
use std::ffi::OsString;

type Cells = Vec<(u32, u32)>;

/// The side of a torus in which nothing that a pattern sends off comes back too early.
const SIDE: u32 = 4096;

/// The pattern in the middle of a torus, generation by generation.
fn generations(shelved: &Shelved) -> impl Iterator<Item = Cells> {
    let size = size(SIDE.into(), SIDE.into());
    let start = live_cells(&shelved.pattern().centred_in(size).unwrap());
    let next = move |live: &Cells| Some(scattered_step(live, size, Rule::LIFE));
    std::iter::successors(Some(start), next)
}

/// The shape of these cells wherever they lie, and the column and row of its top left.
fn shape(cells: &Cells) -> (Cells, (i32, i32)) {
    let left = cells.iter().map(|cell| cell.0).min().unwrap_or(0);
    let top = cells.iter().map(|cell| cell.1).min().unwrap_or(0);
    let mut shape: Cells = cells.iter().map(|(x, y)| (x - left, y - top)).collect();
    shape.sort_unstable();
    (shape, (left as i32, top as i32))
}

/// What is looked at from some generation on has the same shape after `period` generations and after twice
/// as many, moved `by` that much and with `growth` more live cells in all each time, and at no time between.
fn check_period(
    shelved: &Shelved,
    skipped: usize,
    look: impl Fn(&Cells) -> Cells,
    period: u32,
    by: (i32, i32),
    growth: u32,
) {
    let name = shelved.name;
    let mut later = generations(shelved).skip(skipped);
    let start = later.next().unwrap();
    let (start_shape, from) = shape(&look(&start));
    for (generation, now) in (1..=2 * period).zip(later) {
        let (shape, at) = shape(&look(&now));
        let is_due = generation.is_multiple_of(period);
        assert_eq!(shape == start_shape, is_due, "{name} after {generation}");
        if is_due {
            let times = generation / period;
            let way = (at.0 - from.0, at.1 - from.1);
            assert_eq!(way, (by.0 * times as i32, by.1 * times as i32), "{name}");
            assert_eq!(now.len(), start.len() + (growth * times) as usize, "{name}");
        }
    }
}

fn those(live: &Cells, is_one: impl Fn(&(u32, u32)) -> bool) -> Cells {
    live.iter().copied().filter(is_one).collect()
}

/// How far behind its foremost cell a puffer is looked at, what it leaves included.
const FRONT: i32 = 80;

/// A number of generations after which all that is left when Life has settled is as it was: what
/// blinks with 2, 3, 5, 6, 10, 15 or 30.
const ASH: usize = 30;

/// Population and births from this generation on; a travelling glider does not change them.
fn figures(shelved: &Shelved, from: usize, count: usize) -> Vec<(usize, usize)> {
    let mut live: Vec<Cells> = generations(shelved).skip(from).take(count + 1).collect();
    live.iter_mut().for_each(|cells| cells.sort_unstable());
    let births = |pair: &[Cells]| {
        let is_born = |cell: &&(u32, u32)| pair[0].binary_search(cell).is_err();
        (pair[0].len(), pair[1].iter().filter(is_born).count())
    };
    live.windows(2).map(births).collect()
}

fn check(shelved: &Shelved) {
    let name = shelved.name;
    let returns = |period, by| check_period(shelved, 0, Cells::clone, period, by, 0);
    match shelved.behaviour {
        Behaviour::Still => returns(1, (0, 0)),
        Behaviour::Oscillates(period) => returns(period, (0, 0)),
        Behaviour::Travels(period, right, down) => {
            assert_ne!((right, down), (0, 0), "{name}");
            returns(period, (right, down));
        }
        Behaviour::Fires(period, gliders) => {
            let pattern = shelved.pattern();
            let place = |own: u32| (SIDE - own) / 2..(SIDE - own) / 2 + own;
            let (columns, rows) = (place(pattern.width()), place(pattern.height()));
            let barrel =
                |live: &Cells| those(live, |(x, y)| columns.contains(x) && rows.contains(y));
            // From one period on, for what the first shot leaves where it started.
            let skipped = period as usize;
            check_period(shelved, skipped, barrel, period, (0, 0), 5 * gliders);
        }
        Behaviour::Settles(generation, population) => {
            let figures = figures(shelved, generation as usize - 1, 2 * ASH + 2);
            let recurs = |from: usize| figures[from] == figures[from + ASH];
            assert!((1..=1 + ASH).all(recurs), "{name} is not settled yet");
            assert!(!recurs(0), "{name} settles earlier");
            assert_eq!(figures[1].0, population as usize, "{name}");
        }
        Behaviour::Puffs(period, right, down, growth) => {
            let ahead =
                |cell: &(u32, u32)| cell.0 as i32 * right.signum() + cell.1 as i32 * down.signum();
            let front = |live: &Cells| {
                let foremost = live.iter().map(ahead).max().unwrap();
                those(live, |cell| ahead(cell) > foremost - FRONT)
            };
            // Until that much of what it leaves is there, and what came of its start is past.
            let started = 1500;
            check_period(shelved, started, front, period, (right, down), growth);
        }
    }
}

/// The patterns of these kinds do what their rows say.
fn check_all(kinds: std::ops::RangeInclusive<Kind>) {
    let rows = SHELF.iter().filter(|row| kinds.contains(&row.kind()));
    rows.for_each(check);
}

#[test]
fn what_stays_travels_or_fires_does_so_in_its_period_and_not_before() {
    check_all(Kind::StillLife..=Kind::Gun);
}

#[test]
fn methuselahs_settle_when_they_should_and_not_before() {
    check_all(Kind::Methuselah..=Kind::Methuselah);
}

#[test]
fn puffers_leave_the_same_again_and_again() {
    check_all(Kind::Puffer..=Kind::Puffer);
}

#[test]
fn every_file_is_on_the_shelf_once_and_says_what_it_is() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../assets/patterns");
    let names = std::fs::read_dir(folder).unwrap();
    let mut files: Vec<_> = names.map(|it| it.unwrap().file_name()).collect();
    let names = SHELF.iter().map(|it| format!("{}.rle", it.name).into());
    let mut names: Vec<OsString> = names.collect();
    files.sort();
    names.sort();
    assert_eq!(files, names);
    let kinds: Vec<_> = SHELF.iter().map(Shelved::kind).collect();
    assert!(kinds.is_sorted());
    assert!(
        Kind::ALL
            .iter()
            .all(|kind| kinds.iter().filter(|it| *it == kind).count() >= 4)
    );
    for shelved in SHELF {
        let (name, pattern) = (shelved.name, shelved.pattern());
        assert_eq!(Shelved::find(&name.to_uppercase()), Some(shelved));
        let notes = pattern.notes();
        let said = (
            notes.name.is_some(),
            notes.author.is_some(),
            notes.comments.len(),
        );
        assert_eq!(said, (true, true, 1), "{name}: {notes:?}");
        assert_eq!(pattern.rule(), Some(Rule::LIFE), "{name}");
        let (width, height) = pattern.live_sides();
        let header = format!("x = {width}, y = {height},");
        assert!(
            shelved.text.contains(&header),
            "{name} without empty edges: {header}"
        );
        let (_, scale) = pattern.thumbnail(Size::new(64, 64).unwrap());
        assert_eq!(scale, 1, "{name}: its picture is its cells");
    }
}

#[test]
fn a_name_that_is_nearly_one_is_offered() {
    for (meant, names) in [
        (
            Some("gosper-gun"),
            &["gosper-gum", "gospergun", "Gosper_Gun", "Gosper glider gun"][..],
        ),
        (Some("glider"), &["glidr", "gliders"]),
        (Some("r-pentomino"), &["r-pentamino"]),
        (Some("pulsar"), &["pulser"]),
        (Some("pentadecathlon"), &["pentadecatlon"]),
        (None, &["", "missing", "my-breeder", "x", "/tmp/a"]),
    ] {
        for name in names {
            assert_eq!(Shelved::near(name).map(|it| it.name), meant, "{name}");
        }
    }
}

#[test]
fn behaviours_are_said_in_a_few_words() {
    for (behaviour, words) in [
        (Behaviour::Travels(4, 1, 1), "period 4, c/4 diagonally"),
        (Behaviour::Travels(4, -2, 0), "period 4, c/2 level"),
        (Behaviour::Travels(7, 0, -2), "period 7, 2c/7 upright"),
        (Behaviour::Travels(6, 2, 1), "period 6, c/3 obliquely"),
    ] {
        assert_eq!(behaviour.to_string(), words);
    }
    for row in [
        "block => period 1",
        "pulsar => period 3",
        "gosper-gun => a glider every 30 generations",
        "bi-gun => 2 gliders every 46 generations",
        "diehard => 130 generations, then nothing",
        "r-pentomino => 1103 generations, then 116 cells",
        "blinker-puffer-1 => period 8, c/2 level, 3 cells more each time",
    ] {
        let (name, words) = row.split_once(" => ").unwrap();
        let shelved = Shelved::find(name).expect("a pattern of the shelf");
        assert_eq!(shelved.behaviour.to_string(), words);
    }
}
