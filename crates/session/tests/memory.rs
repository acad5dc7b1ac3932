//! What a session remembers stays within its budget, whatever happens.

use std::sync::Arc;

use life::{Lattice, Rule, Size, soup};
use session::log::{Author, CellChange, Content, Log, SessionParameters};
use session::snapshots::{Keep, Snapshots};
use session::{CellWrite, Change, Start};
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

/// What comes here before anything else goes: the lattices of a start and those of a copy.
fn slack() -> i64 {
    2 * whole() as i64
}

fn start(seed: u64) -> Start {
    let of = |instance| Arc::new(soup(size(), 0.5, seed, instance));
    Start::Lattices {
        lattices: (0..INSTANCES as u64).map(of).collect(),
        generation: 0,
    }
}

/// Forty times a start from lattices, and ten times a fill of a panel with the inverse that undoes
/// it, each with a snapshot; answers how many snapshots were left.
fn forty_starts(budget: u64) -> usize {
    let parameters = SessionParameters {
        size: size(),
        instances: INSTANCES,
        rule: Rule::LIFE,
        start: start(0),
        counterparts: None,
        drawn: Default::default(),
    };
    let mut log = Log::new(parameters);
    let mut here = log.base();
    let mut snapshots = Snapshots::new(budget);
    for seed in 1..=40 {
        let begin = start(seed);
        let Start::Lattices { lattices, .. } = &begin else {
            unreachable!("made above");
        };
        let mut lattices = lattices.clone();
        here = log.push(here, Author::Person, Content::Start(begin), false);
        for generation in 0..10 {
            let instance = generation as usize % INSTANCES;
            let fill = CellChange::Edit(Change::Fill {
                area: session::Area::whole(size()),
                density: 0.5,
                seed: seed + 100 * generation,
            });
            let before = here.records;
            let content = Content::Cells {
                instance,
                cells: fill.clone(),
            };
            here = log.push(here, Author::Person, content, false);
            let inverse = CellWrite::Whole(lattices[instance].clone().into());
            log.set_inverse(before, inverse);
            let parameters = log.parameters(before);
            fill.apply(&parameters, instance, &mut lattices[instance])
                .unwrap();

            let keep = Keep {
                max_gap: u64::MAX,
                log_bytes: log.bytes(),
                before_edit: false,
            };
            snapshots.add(here, lattices.clone(), keep);
            if budget < u64::MAX {
                log.discard_beyond(budget / 2, here, snapshots.positions());
                let base = log.base();
                snapshots.retain(|position| position >= base);
            }
            here.generation += 1;
        }
    }
    snapshots.positions().count()
}

#[test]
fn forty_starts_stay_within_the_budget_of_sixteen_snapshots() {
    let budget = 16 * whole();
    let (snapshots, peak) = peak_of_all_threads(|| forty_starts(budget));
    let allowed = budget as i64 + slack();
    assert!(peak <= allowed, "{peak} bytes, {allowed} are allowed");
    assert!(peak >= allowed / 2, "{peak} bytes: the budget is not used");
    assert!(snapshots >= 2, "{snapshots} snapshots");

    // Without a budget the same takes far more: the count sees it.
    let (_, peak) = peak_of_all_threads(|| forty_starts(u64::MAX));
    assert!(peak > 3 * allowed, "{peak} bytes");
}

/// Lattices that hardly change: many more snapshots than would fit unpacked.
#[test]
fn quiet_lattices_are_packed() {
    let mut lattices: Vec<Arc<Lattice>> = (0..INSTANCES as u64)
        .map(|instance| Arc::new(soup(size(), 0.03, 1, instance)))
        .collect();
    let mut added = Vec::new();
    let mut snapshots = Snapshots::new(8 * whole());
    for generation in 0..100u32 {
        let lattice = Arc::make_mut(&mut lattices[generation as usize % INSTANCES]);
        for n in 0..20 {
            let at = generation * 31 + n * 97;
            lattice.set(at % 512, at / 3 % 512, n % 2 == 0);
        }
        let position = session::log::Position::new(0, generation.into());
        added.push((position, lattices.clone()));
        snapshots.add(
            position,
            lattices.clone(),
            Keep {
                max_gap: u64::MAX,
                log_bytes: 0,
                before_edit: false,
            },
        );
        // Snapshots come more slowly than they are packed.
        let mut waits = 0;
        while snapshots.bytes() > 6 * whole() && waits < 1000 {
            std::thread::sleep(std::time::Duration::from_millis(1));
            waits += 1;
        }
    }
    assert_eq!(snapshots.positions().count(), 100);
    for (position, lattices) in added {
        let found = snapshots.get(position).unwrap().unwrap();
        assert!(found == lattices, "{position:?}");
    }
}
