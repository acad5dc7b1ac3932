//! What a session remembers stays within its budget, whatever happens.

use std::sync::Arc;

use life::{Rule, Size, soup};
use session::Start;
use session::copies::{Copies, Snapshot};
use session::log::{Author, Content, Log, SessionParameters};
use test_support::{CountingAllocator, peak_of_all_threads};

#[global_allocator]
static COUNTING: CountingAllocator = CountingAllocator;

const INSTANCES: usize = 4;

fn size() -> Size {
    Size::new(512, 512).unwrap()
}

/// Bytes of all lattices.
fn whole() -> u64 {
    4 * (size().words() * INSTANCES) as u64
}

/// What comes here before anything else goes: the lattices of a start, those of a copy, and its packing.
fn slack() -> i64 {
    3 * whole() as i64
}

fn start(seed: u64) -> Start {
    let of = |instance| Arc::new(soup(size(), 0.5, seed, instance));
    Start::Lattices {
        lattices: (0..INSTANCES as u64).map(of).collect(),
        generation: 0,
    }
}

/// Four hundred times a start from lattices, each with a copy of cells that are like none before; answers how
/// many copies were left.
fn many_starts(budget: u64) -> usize {
    let parameters = SessionParameters {
        size: size(),
        instances: INSTANCES,
        rule: Rule::LIFE,
        start: start(0),
        compares: false,
        drawn: Default::default(),
    };
    let mut log = Log::new(parameters);
    let mut here = log.begin;
    let mut copies = Copies::new(budget);
    for seed in 1..=400 {
        here = log.push(here, Author::Person, Content::Start(start(seed)), false);
        let Start::Lattices { lattices, .. } = start(1000 + seed) else {
            unreachable!("made above");
        };
        copies.add(Snapshot::new(here, &lattices).unwrap(), log.bytes());
        if budget < u64::MAX {
            log.discard_beyond(budget / 2, here, copies.positions());
            copies.retain(|position| position >= log.begin);
        }
    }
    copies.positions().count()
}

#[test]
fn many_starts_stay_within_the_budget_of_sixteen_snapshots() {
    let budget = 16 * whole();
    let (snapshots, peak) = peak_of_all_threads(|| many_starts(budget));
    let allowed = budget as i64 + slack();
    assert!(peak <= allowed, "{peak} bytes, {allowed} are allowed");
    assert!(peak >= allowed / 2, "{peak} bytes: the budget is not used");
    assert!(snapshots >= 2, "{snapshots} snapshots");

    // Without a budget the same takes far more: the count sees it.
    let (_, peak) = peak_of_all_threads(|| many_starts(u64::MAX));
    assert!(peak > 3 * allowed, "{peak} bytes");
}
