//! The memory that a log takes, and what is forgotten for it.

use super::super::*;
use crate::Change;
use life::{Rule, Size};

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
    let mut here = log.base();
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
        let cells = CellChange::Soup { density: 0.5, seed };
        let content = Content::Cells { instance: 0, cells };
        log.push(at(seed, seed + 1), Author::Program, content, false);
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
        assert_eq!(log.base(), base);
    }
    let start = Content::Start(Start::soup(0.5, 1));
    let here = log.push(at(20, 20), Author::Person, start, false);
    log.discard_beyond(0, here, copies.into_iter());
    assert_eq!((log.base(), log.base_is_start()), (at(21, 0), true));
}
