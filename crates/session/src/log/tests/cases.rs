//! What undo and a stroke mean, and the memory that a log takes.

use std::sync::Arc;

use super::super::*;
use super::device::Device;
use crate::log::random::size;
use crate::log::reference_log::{Cells, Joins};
use crate::{Change, Start};
use Author::{Person, Program};
use life::Rule;

const SIZE: (u64, u64) = (9, 8);

fn session(instances: usize, budget: u64) -> Device {
    let parameters = SessionParameters {
        size: size(SIZE.0, SIZE.1),
        instances,
        rule: Rule::LIFE,
        start: Start::soup(0.5, 3),
        counterparts: None,
        drawn: BTreeSet::new(),
    };
    Device::new(parameters, budget)
}

fn cells(instance: usize, cells: CellChange) -> Content {
    Content::Cells { instance, cells }
}

/// Two cells of a stroke.
fn segment(instance: usize, x: u32) -> Content {
    let change = Change::Draw {
        cells: [[x, 2], [x, 3]].into(),
        alive: true,
    };
    cells(instance, CellChange::Edit(change))
}

fn reseed(instance: usize, seed: u64) -> Content {
    cells(instance, CellChange::Soup { density: 0.5, seed })
}

fn new_seed(seed: u64) -> Content {
    Content::Start(Start::soup(0.5, seed))
}

impl Device {
    fn edit(&mut self, content: Content) {
        self.push(Person, &content, Joins::No);
    }

    fn join(&mut self, content: Content) {
        self.push(Person, &content, Joins::Stroke);
    }

    fn reseeded(&mut self, content: Content) {
        self.push(Program, &content, Joins::No);
    }

    fn stand(&self) -> (Position, Cells) {
        (self.here, self.cells.clone())
    }

    fn run_to(&mut self, generation: u64) {
        self.go(self.log.at_generation(self.here, generation));
    }
}

#[test]
fn a_stroke_is_undone_whole_with_what_the_program_did_meanwhile() {
    let mut device = session(2, 0);
    device.run(2);
    let before = device.stand();
    device.edit(segment(0, 1));
    device.run(1);
    device.join(segment(0, 2));
    device.reseeded(reseed(1, 7));
    device.run(2);
    device.join(segment(0, 3));
    device.run(1);
    device.reseeded(reseed(1, 8));
    let end = device.stand();
    let entries: Vec<u64> = device.log.records().map(|record| record.entry).collect();
    assert_eq!(entries, [0, 0, 1, 0, 2]);

    // What the program did after its end is passed by, not taken off.
    assert_eq!(device.undo(), Some(Undo::After(at(4, 5))));
    assert_eq!(device.log.end(), 5);
    assert_eq!(device.undo(), Some(Undo::Before(at(0, 2))));
    assert_eq!(device.stand(), before);
    assert_eq!(device.log.end(), 0);
    device.redo();
    assert_eq!((device.here, device.log.end()), (at(4, 5), 5));
    device.redo();
    assert_eq!(device.stand(), end);
}

#[test]
fn nothing_that_can_be_reached_is_discarded() {
    let mut device = session(1, 1 << 20);
    for _ in 0..4 {
        device.run(3);
        device.edit(segment(0, 4));
        device.copy();
    }
    device.discard();
    assert_eq!(device.log.base(), at(0, 0), "its start is made anew");
    device.log.discard_before(at(1, 4));
    assert!(!device.log.base_is_start());
    assert_eq!(device.log.base(), at(1, 4));
    device.discard();
    assert_eq!(device.log.base(), at(2, 6), "the oldest snapshot");
    device.edit(new_seed(1));
    device.run(1);
    device.copies.retain(|_| false);
    device.discard();
    assert_eq!(device.log.base(), at(5, 0));
    assert!(device.log.base_is_start());
    device.run_to(0);
}

#[test]
fn what_records_share_counts_once() {
    let mut device = session(1, 0);
    let lattice = Arc::new(Lattice::new(size(SIZE.0, SIZE.1)));
    let each = size_of::<Record>() as u64;
    let opened = Content::Start(Start::Lattices {
        lattices: vec![lattice.clone(); 3],
        generation: 0,
    });
    device.edit(opened.clone());
    let lattices = 4 * SIZE.1;
    assert_eq!(device.log.bytes(), each + lattices);
    device.edit(opened);
    device.edit(cells(
        0,
        CellChange::Edit(Change::Place {
            pattern: lattice,
            at: [1, 1],
            overwrites_dead: false,
        }),
    ));
    assert_eq!(device.log.bytes(), 3 * each + lattices);
    device.undo();
    assert_eq!(device.log.bytes(), 3 * each + lattices, "it can be redone");
    device.log.discard_before(device.here);
    assert_eq!(device.log.bytes(), each);
}

/// Hours of reseeding: something is forgotten only where something else leads on.
#[test]
fn the_oldest_records_go_where_there_are_too_many() {
    let mut device = session(1, 1 << 20);
    let each = size_of::<Record>() as u64;
    for seed in 0..20 {
        device.run(1);
        device.reseeded(reseed(0, seed));
        if seed % 5 == 0 {
            device.copy(); // after 1, 6, 11 and 16
        }
    }
    let limit = |device: &mut Device, records| {
        let snapshots = device.copies.positions();
        let here = device.here;
        device.log.discard_beyond(records * each, here, snapshots);
        device.log.base()
    };
    assert_eq!(limit(&mut device, 20), at(0, 0));
    assert_eq!(limit(&mut device, 15), at(6, 6));
    device.run_to(6);
    assert_eq!(limit(&mut device, 3), at(6, 6), "never behind the session");
    device.run_to(20);
    assert_eq!(limit(&mut device, 13), at(11, 11));
    assert_eq!(
        limit(&mut device, 3),
        at(16, 16),
        "no copy of a later one outlives the device"
    );
    device.edit(new_seed(1));
    device.run(3);
    assert_eq!(limit(&mut device, 0), at(21, 0), "the start is made anew");
    assert!(device.log.base_is_start());
}
