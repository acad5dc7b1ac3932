//! What is undone together, the memory that a log takes, and what is forgotten for it. That it leads where its
//! records say is what the random histories of `worker::tests` show.

use super::*;
use life::{Rule, Size};
use proptest::prelude::*;

fn log() -> Log {
    Log::new(SessionParameters {
        size: Size::new(9, 8).unwrap(),
        instances: 1,
        rule: Rule::LIFE,
        start: Start::soup(0.5, 3),
        compares: false,
        drawn: BTreeSet::new(),
    })
}

fn new_cells(instance: usize) -> Content {
    let cells = CellChange::Soup {
        density: 0.5,
        seed: 1,
    };
    Content::Cells { instance, cells }
}

/// A stroke goes on behind records of the program, but not in another panel, nor behind what was undone or
/// forgotten. What the program did at once behind the last edit comes again with it.
#[test]
fn strokes_and_what_the_program_does_at_once_are_undone_together() {
    use Author::{Person, Program};
    let mut log = log();
    let push = |log: &mut Log, author, instance, generation, goes_on| {
        let here = at(log.end(), generation);
        log.push(here, author, new_cells(instance), goes_on);
        log.record(here.records).unwrap().entry
    };
    for (author, instance, generation, goes_on, entry) in [
        (Person, 0, 1, false, 0),
        (Program, 1, 2, false, 1),
        (Person, 1, 3, true, 2),
        (Person, 0, 4, true, 3),
        (Program, 0, 5, false, 4),
        (Person, 0, 6, true, 3),
        (Program, 1, 6, false, 5),
        (Program, 0, 9, false, 6),
    ] {
        assert_eq!(push(&mut log, author, instance, generation, goes_on), entry);
    }
    let (before, after) = (Undo::Before(at(3, 4)), Undo::After(at(7, 6)));
    for (records, generation, undo) in [
        (8, 9, after),
        (7, 7, after),
        (7, 6, before),
        (4, 5, before),
        (2, 3, Undo::After(at(1, 1))),
    ] {
        assert_eq!(log.undo_target(at(records, generation)), Some(undo));
    }
    log.commit_undo(at(7, 6), before);
    assert_eq!((log.redo(), log.end()), (Some(at(7, 6)), 8));
    log.commit_undo(at(7, 6), before);
    log.discard_from(3);
    assert_eq!(log.redo(), None);
    assert_eq!(push(&mut log, Person, 0, 4, true), 7);
    log.commit_undo(at(4, 5), Undo::After(at(4, 4)));
    assert_eq!(push(&mut log, Person, 0, 4, true), 8);
    assert_eq!(log.redo(), None);
    assert_eq!(push(&mut log, Person, 0, 4, true), 8);
    log.discard_from(5);
    assert_eq!(push(&mut log, Person, 0, 4, true), 9);
    log.discard_before(at(6, 4));
    assert_eq!(push(&mut log, Person, 0, 4, true), 10);
    log.push_joined(at(7, 4), Person, new_cells(1));
    let before = Undo::Before(at(6, 4));
    assert_eq!(log.undo_target(at(8, 4)), Some(before));
    log.commit_undo(at(8, 4), before);
    log.discard_before(at(6, 9));
    assert_eq!(log.redo(), None, "it leads to before the base");
}

#[test]
fn what_records_share_counts_once() {
    let (mut log, lattice) = (log(), Arc::new(Lattice::new(Size::new(9, 8).unwrap())));
    let each = size_of::<Record>() as u64;
    let opened = Content::Start(Start::Lattices {
        lattices: vec![lattice.clone(); 3],
        generation: 0,
    });
    let placed = CellChange::Edit(Change::Place {
        pattern: lattice,
        at: [1, 1],
        overwrites_dead: false,
    });
    let placed = Content::Cells {
        instance: 0,
        cells: placed,
    };
    let mut here = log.begin;
    for content in [opened.clone(), opened, placed] {
        here = log.push(here, Author::Person, content, false);
    }
    assert_eq!(log.bytes(), 3 * each + 4 * 8);
    let undo = log.undo_target(here).unwrap();
    log.commit_undo(here, undo);
    assert_eq!(log.bytes(), 3 * each + 4 * 8, "it can be redone");
    log.discard_before(undo.position());
    assert_eq!(log.bytes(), each);
}

/// Hours of reseeding: something is forgotten only where something else leads on.
#[test]
fn the_oldest_records_go_where_there_are_too_many() {
    let mut log = log();
    let each = size_of::<Record>() as u64;
    for seed in 0..20 {
        log.push(at(seed, seed + 1), Author::Program, new_cells(0), false);
    }
    let copies = [at(1, 1), at(6, 6), at(11, 11), at(16, 16)];
    for (records, here, base) in [
        (20, at(20, 20), at(0, 0)),
        (15, at(20, 20), at(6, 6)),
        (3, at(6, 6), at(6, 6)), // never behind the session
        (13, at(20, 20), at(11, 11)),
        (3, at(20, 20), at(16, 16)), // no copy of a later one
    ] {
        log.discard_beyond(records * each, here, copies.into_iter());
        assert_eq!(log.begin, base);
        assert!(base.records == 0 || !log.contains(at(1, 99)));
    }
    let start = Content::Start(Start::soup(0.5, 1));
    let here = log.push(at(20, 20), Author::Person, start, false);
    let oldest = |copies: &[Position]| log.oldest_reachable(None, copies.iter().copied());
    assert_eq!(oldest(&[]), Some(here));
    assert_eq!(oldest(&[at(1, 1), at(17, 17)]), Some(at(17, 17)));
    let no_copies = std::iter::empty();
    let end = at(20, 20);
    assert_eq!(log.route(None, no_copies, end), None);
    assert_eq!(log.start_of(end), log.begin);
    let generations = [3, 18, 99].map(|generation| log.at_generation(end, generation));
    assert_eq!(generations, [log.begin, at(18, 18), end]);
    let on_it = [17, 18, 19, 20].map(|generation| log.contains(at(18, generation)));
    assert_eq!(on_it, [false, true, true, false]);
    log.discard_beyond(0, here, copies.into_iter());
    assert_eq!((log.begin, log.is_start), (at(21, 0), true));
}

// What edits do to cells.

fn size(width: u64, height: u64) -> Size {
    Size::new(width, height).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn what_is_placed_lies_there_and_nothing_else_changes(
        width in 1u64..140, height in 1u64..12, seed: u64, overwrites_dead: bool,
        wide in 1u64..140, high in 1u64..12, x in 0u32..300, y in 0u32..30,
    ) {
        let (wide, high) = (wide.min(width), high.min(height));
        let before = life::soup(size(width, height), 0.4, seed, 0);
        let pattern = Arc::new(life::soup(size(wide, high), 0.4, seed, 1));
        let place = Change::Place { pattern: pattern.clone(), at: [x, y], overwrites_dead };
        let (width, height) = (width as u32, height as u32);
        let mut want = before.clone();
        for (u, v) in (0..height).flat_map(|v| (0..width).map(move |u| (u, v))) {
            // Cell by cell: what lies in the pattern's place becomes what the pattern has there.
            let (i, j) = ((u + 3 * width * 100 - x) % width, (v + 3 * height * 100 - y) % height);
            let is_inside = u64::from(i) < wide && u64::from(j) < high;
            if is_inside && (overwrites_dead || pattern.get(i, j)) {
                want.set(u, v, pattern.get(i, j));
            }
        }
        prop_assert_eq!(place.apply(&before), want);
        let edits = place.touched(before.size()).unwrap();
        prop_assert!(WordEdit::check_all(&edits, before.size()).is_ok());
    }

    #[test]
    fn four_turns_and_two_flips_change_nothing(
        width in 1u64..70, height in 1u64..40, seed: u64,
        wide in 1u64..70, high in 1u64..40, x in 0u32..70, y in 0u32..40, clockwise: bool,
    ) {
        // Turned, it must fit too.
        let (wide, high) = (wide.min(width).min(height), high.min(height).min(width));
        let all = size(width, height);
        let area = Area { x: x % width as u32, y: y % height as u32, size: size(wide, high) };
        let lattice = life::soup(all, 0.4, seed, 0);
        let flips = [true, false].map(|horizontal| Change::Flip { area, horizontal });
        for flip in &flips {
            prop_assert_eq!(&flip.apply(&flip.apply(&lattice)), &lattice);
        }
        let part = lattice.part(area.x, area.y, area.size);
        let mut turned = part.clone();
        for _ in 0..4 {
            turned = super::turned(&turned, clockwise);
        }
        prop_assert_eq!(&turned, &part);
        let once = Change::Rotate { area, clockwise }.apply(&lattice);
        let at = super::turned_corner(area, all);
        let there = once.part(at[0], at[1], size(high, wide));
        prop_assert_eq!(there, super::turned(&part, clockwise));
    }
}

#[test]
fn a_quarter_turn_goes_the_way_of_the_clock_about_the_middle() {
    // The right end of a row becomes the lower end of a column.
    let mut lattice = Lattice::new(size(7, 7));
    lattice.set(4, 3, true);
    let (area, clockwise) = (Area::spanned([2, 3], [4, 3]), true);
    let turned = Change::Rotate { area, clockwise }.apply(&lattice);
    assert!(turned.get(3, 4) && turned.population() == 1);
}
