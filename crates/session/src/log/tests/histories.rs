//! Random histories: whatever happens in whatever order, the device that follows the log has the
//! cells that the account of all records gives.

use proptest::prelude::*;

use super::super::*;
use super::device::Device;
use crate::copies::Copies;
use crate::log::random::{Random, size};
use crate::log::reference_log::{Back, Joins, ReferenceLog, test_histories};

/// Of a record of the smallest kind with three lattices.
const MAX_BYTES_OF_A_RECORD: u64 = size_of::<Record>() as u64 + 3 * 4 * 16;

/// The largest lattice of a history, and the most of them.
const MAX_SIZE: (u64, u64) = (20, 16);
const MAX_INSTANCES: u64 = 4;

/// Something that happens. Numbers are taken modulo what is possible at that moment.
#[derive(Clone, Debug)]
enum Event {
    /// Of a content from this seed.
    Push(Author, u64, Joins),
    Run(u64),
    StepBack,
    GoTo(u64),
    Undo,
    /// A and B are compared no longer.
    Leave,
    Redo,
    Snapshot {
        before_edit: bool,
        max_gap: u64,
    },
    ForgetSnapshots(u64),
    /// No snapshot is left that somebody can do without, and there is room for this many bytes of them.
    SetBudget(u64),
    /// The device loses its cells and gets them back.
    Lose,
    Discard,
    DiscardBeyond(u64),
}

/// One of these at random.
fn one_of<T: Copy>(random: &mut Random, all: &[T]) -> T {
    all[random.below(all.len() as u64) as usize]
}

fn parameters(random: &mut Random) -> SessionParameters {
    let sizes = [(5, 7), (5, 7), (8, 6), (9, 9), (7, 5), MAX_SIZE];
    let (width, height) = one_of(random, &sizes);
    let size = size(width, height);
    let instances = 1 + random.below(MAX_INSTANCES) as usize;
    let start = random.start(size);
    SessionParameters {
        size,
        instances,
        rule: random.rule(),
        start,
        compares: false,
        drawn: BTreeSet::new(),
    }
}

fn event(random: &mut Random) -> Event {
    match random.below(34) {
        0..8 => {
            let content = random.below(u64::MAX);
            let author = match random.below(3) {
                0 => Author::Program,
                _ => Author::Person,
            };
            let joins = one_of(
                random,
                &[Joins::No, Joins::Stroke, Joins::Stroke, Joins::Last],
            );
            Event::Push(author, content, joins)
        }
        8..14 => Event::Run(random.below(6)),
        14 => Event::StepBack,
        15..18 => Event::GoTo(random.below(u64::MAX)),
        18..22 => Event::Undo,
        22..25 => Event::Redo,
        25..28 => Event::Snapshot {
            before_edit: random.below(2) == 0,
            max_gap: one_of(random, &[0, 3, 10, u64::MAX]),
        },
        28 => Event::ForgetSnapshots(random.below(u64::MAX)),
        29 => Event::SetBudget(one_of(random, &[0, 1000, 3000, 20_000])),
        30 => Event::Lose,
        31 => Event::Discard,
        32 => Event::Leave,
        _ => Event::DiscardBeyond(random.below(8)),
    }
}

/// What a push does to a scene. Lattices stay small.
fn content(parameters: &SessionParameters, seed: u64) -> Content {
    match Random::new(seed).content(parameters) {
        Content::Grid {
            size: of,
            instances,
        } => {
            let [width, height] = [of.width(), of.height()].map(u64::from);
            Content::Grid {
                size: size(width.min(MAX_SIZE.0), height.min(MAX_SIZE.1)),
                instances: instances.min(MAX_INSTANCES as usize),
            }
        }
        content => content,
    }
}

/// The device and the account side by side.
struct Pair {
    device: Device,
    reference_log: ReferenceLog,
    /// Where each undo began and led, and the number of records that it took off.
    undone: Vec<(Position, Back, u64)>,
}

impl Pair {
    fn happen(&mut self, event: &Event) {
        let Pair {
            device,
            reference_log,
            undone,
        } = self;
        match event {
            Event::Push(author, seed, joins) => {
                let content = content(&device.log.parameters(device.here.records), *seed);
                reference_log.push(device.here, *author, content.clone(), *joins);
                device.push(*author, &content, *joins);
                undone.clear();
            }
            Event::Run(generations) => device.run(*generations),
            Event::StepBack => {
                let back = device.here.generation.saturating_sub(1);
                self.go_to(back);
            }
            Event::GoTo(generation) => {
                let start = self.start().generation;
                let device = &self.device;
                let beyond = device.here.generation - start + 8;
                self.go_to(start.saturating_sub(3) + generation % beyond);
            }
            Event::Undo => {
                let undo = device.log.undo_target(device.here);
                let found = undo.map(|undo| Back {
                    to: undo.position(),
                    removes: matches!(undo, Undo::Before(_)),
                });
                assert_eq!(found, reference_log.undo(device.here));
                // It may be out of reach.
                if let (Some(back), Some(undo)) = (found, undo) {
                    self.undo(undo, back);
                }
            }
            Event::Leave => {
                let begun = device.log.comparison();
                if let Some(to) = begun.filter(|&begun| begun < device.here) {
                    let back = Back { to, removes: true };
                    assert!(self.undo(Undo::Before(to), back), "it cannot be left");
                }
            }
            Event::Redo => {
                assert_eq!(device.log.after_redo().is_some(), !undone.is_empty());
                if device.redo().is_some()
                    && let Some((from, back, _)) = undone.pop()
                {
                    assert_eq!(device.here, from, "as before the undo");
                    if back.removes {
                        reference_log.redo();
                    }
                }
            }
            Event::Snapshot {
                before_edit,
                max_gap,
            } => {
                device.copies.max_gap = *max_gap;
                if *before_edit {
                    device.copies.landmark = Some(device.here);
                }
                device.copy();
            }
            Event::ForgetSnapshots(which) => {
                let mut bits = *which;
                let pinned = device.log.comparison();
                device.copies.retain(|at| {
                    bits = bits.rotate_left(1);
                    bits & 1 == 0 || Some(at) == pinned
                });
            }
            Event::SetBudget(budget) => {
                let pinned = device.log.comparison();
                let pinned = pinned.and_then(|at| device.copies.get(at).cloned());
                device.copies = Copies::new(*budget);
                device.copies.pinned = pinned.as_ref().map(|copy| copy.position);
                pinned.map(|copy| device.copies.add(copy, 0));
            }
            Event::Lose => {
                let snapshots = device.copies.positions();
                if let Some(route) = device.log.route(None, snapshots, device.here) {
                    let (log, target) = (device.log.clone(), device.here);
                    device.cells.clear();
                    device.follow(&log, route, target);
                }
            }
            Event::Discard => {
                device.discard();
                self.forget_undone();
            }
            Event::DiscardBeyond(records) => {
                let bytes = records * size_of::<Record>() as u64;
                let snapshots = device.copies.positions();
                device.log.discard_beyond(bytes, device.here, snapshots);
                self.forget_undone();
            }
        }
    }

    /// Undoes this. Returns whether anything led there.
    fn undo(&mut self, undo: Undo, back: Back) -> bool {
        let (from, end) = (self.device.here, self.reference_log.end());
        let is_undone = self.device.undo(undo).is_some();
        if is_undone {
            self.reference_log.undid(back);
            self.undone
                .push((from, back, end - self.reference_log.end()));
        }
        is_undone
    }

    /// What was undone goes where what it brings back, or leads to, lies before the log's base.
    fn forget_undone(&mut self) {
        let base = self.device.log.base();
        self.reference_log.first = base.records;
        let is_lost = |(from, back, _): &(Position, Back, u64)| {
            if back.removes {
                back.to < base
            } else {
                *from < base
            }
        };
        let lost = self.undone.iter().rposition(is_lost);
        self.undone.drain(..lost.map_or(0, |last| last + 1));
    }

    /// The first position of the present start that the log has kept.
    fn start(&self) -> Position {
        let start = self.reference_log.start_of(self.device.here);
        start.max(self.device.log.base())
    }

    /// Moves to a generation of the present start, if it can be reached.
    fn go_to(&mut self, generation: u64) {
        let own = generation.max(self.start().generation);
        let device = &mut self.device;
        let target = device.log.at_generation(device.here, generation);
        let wanted = self.reference_log.at_generation(device.here, own);
        assert_eq!(target, wanted, "generation {generation}");
        if device.route(target).is_some() {
            device.go(target);
        }
    }

    fn check(&mut self) {
        let start = self.start();
        let Pair {
            device,
            reference_log,
            undone,
        } = self;
        let (log, here) = (&device.log, device.here);
        assert_eq!(
            device.cells,
            reference_log.cells(here),
            "the cells at {here:?}"
        );
        assert_eq!(log.end(), reference_log.end());
        assert!(log.contains(here) && log.base() <= here);
        let (parameters, told) = (
            log.parameters(here.records),
            reference_log.parameters(here.records),
        );
        assert_eq!(
            (parameters.size, parameters.instances, parameters.rule),
            (told.size, told.instances, told.rule)
        );
        assert_eq!(parameters.compares, told.compares);
        assert_eq!(log.start_of(here), start);
        let undone: u64 = undone.iter().map(|(.., records)| records).sum();
        let most = (log.end() - log.base().records + undone) * MAX_BYTES_OF_A_RECORD;
        assert!(log.bytes() <= most, "{} bytes, {most} at most", log.bytes());
    }

    /// Everything from the oldest position on can be reached, nothing before it can, and positions
    /// off the line cannot.
    fn check_reach(&self) {
        let (device, reference_log) = (&self.device, &self.reference_log);
        let (log, here) = (&device.log, device.here);
        let snapshots = || device.copies.positions();
        let oldest = log.oldest_reachable(Some(here), snapshots());
        let oldest = oldest.expect("here at least");
        for records in log.base().records..=log.end() {
            let last = reference_log.next_at(reference_log.after(records));
            let first = if records == log.base().records {
                log.base().generation
            } else {
                reference_log.after(records).generation
            };
            let some_later = last.unwrap_or(first + 5);
            for generation in [first, first.midpoint(some_later), some_later] {
                let target = at(records, generation);
                assert!(log.contains(target), "{target:?}");
                let route = device.route(target);
                assert_eq!(route.is_some(), target >= oldest, "{target:?} {oldest:?}");
            }
            let off = [first.checked_sub(1), last.map(|last| last + 1)];
            for generation in off.into_iter().flatten() {
                let target = at(records, generation);
                assert!(!log.contains(target), "{target:?}");
                assert_eq!(device.route(target), None);
            }
        }
    }
}

fn run(parameters: &SessionParameters, events: &[Event]) {
    let mut pair = Pair {
        device: Device::new(parameters.clone(), 20_000),
        reference_log: ReferenceLog::new(parameters.clone()),
        undone: Vec::new(),
    };
    pair.check();
    for (event, number) in events.iter().zip(1..) {
        pair.happen(event);
        pair.check();
        if number % 4 == 0 || number == events.len() {
            pair.check_reach();
        }
    }
}

#[test]
fn histories_lead_where_their_records_say() {
    let event = || any::<u64>().prop_map(|seed| event(&mut Random::new(seed)));
    let histories = || (any::<u64>(), prop::collection::vec(event(), 4..32));
    test_histories(10_000, histories, |(seed, events)| {
        run(&parameters(&mut Random::new(seed)), &events);
    });
}
