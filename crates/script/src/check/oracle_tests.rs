//! Races by trying everything: a small round runs in every order that streams and events allow, and two
//! calls race if the work of either may come first. No clock here knows of any other.

use std::collections::{BTreeSet, HashMap};

use crate::{Call, CallKind, Fault, Place, Requirement, Round, Work, check};

/// The pairs of calls of which the first's work is done while the second's is not, in some order of work.
fn may_precede(round: &Round) -> BTreeSet<(usize, usize)> {
    let calls = &round.calls;
    // The record that each wait waits for: the latest that the host made before it.
    let mut latest = HashMap::new();
    let mut awaited = HashMap::new();
    for (index, call) in calls.iter().enumerate() {
        match call.kind {
            CallKind::Record(event) => drop(latest.insert(event, index)),
            CallKind::Wait(event) => awaited.extend(latest.get(&event).map(|it| (index, *it))),
            _ => {}
        }
    }
    // How many calls the host has made, and a bit for each call whose work is done.
    let mut open = vec![(0, 0_u32)];
    let mut seen = BTreeSet::from([open[0]]);
    let mut pairs = BTreeSet::new();
    while let Some((issued, done)) = open.pop() {
        let is_done = |work: &usize| done >> work & 1 == 1;
        let left = |until: usize| (0..until).filter(|it| !is_done(it));
        for first in (0..issued).filter(is_done) {
            pairs.extend(left(calls.len()).map(|second| (first, second)));
        }
        let mut next = Vec::new();
        let is_stream_done = |until, stream| left(until).all(|it| calls[it].stream != stream);
        // The host makes its next call.
        if let Some(call) = calls.get(issued)
            && (call.kind != CallKind::Synchronize || is_stream_done(issued, call.stream))
        {
            next.push((issued + 1, done));
        }
        // A stream does its next work.
        for work in left(issued) {
            let may_run = awaited.get(&work).is_none_or(is_done);
            if may_run && is_stream_done(work, calls[work].stream) {
                next.push((issued, done | 1 << work));
            }
        }
        let is_over = left(calls.len()).next().is_none();
        assert_eq!(next.is_empty(), is_over, "stuck: {round:?}");
        open.extend(next.into_iter().filter(|it| seen.insert(*it)));
    }
    pairs
}

/// Compares what the check says of every pair of calls with what may happen.
fn compare(round: &Round) {
    let possible = may_precede(round);
    let users = round.calls.iter().enumerate();
    let users: Vec<_> = users.filter(|it| it.1.kind.item().is_some()).collect();
    let pairs = users.iter().enumerate();
    let pairs = pairs.flat_map(|(at, a)| users[at + 1..].iter().map(move |b| (*a, *b)));
    let mut races = BTreeSet::new();
    for ((first, a), (second, b)) in pairs {
        let orders = [(first, second), (second, first)];
        let [forth, back] = orders.map(|it| possible.contains(&it));
        assert!(forth, "{first} never comes first: {round:?}");
        if back && a.kind.item() == b.kind.item() {
            races.insert((first, second));
        }
        // Requirements speak of the first call of each kind.
        let is_first = |index| {
            let call: &Call = &round.calls[index];
            round.calls[..index].iter().all(|it| it.kind != call.kind)
        };
        if a.kind != b.kind && is_first(first) && is_first(second) {
            let meets = |requirement| {
                let faults = check(round, 0, Work::Lattices, &[requirement]);
                let is_about = |it: &Fault| ["not-before", "not-concurrent"].contains(&it.name);
                !faults.iter().any(is_about)
            };
            let said = (
                meets(Requirement::Before(a.kind, b.kind)),
                meets(Requirement::Before(b.kind, a.kind)),
                meets(Requirement::Concurrent(a.kind, b.kind)),
            );
            assert_eq!(said, (!back, false, back), "{first}, {second}: {round:?}");
        }
    }
    let found = check(round, 0, Work::Lattices, &[]);
    let found = found.iter().filter(|fault| fault.name == "race");
    let found = found.map(|race| (race.calls[1].index, race.calls[0].index));
    assert_eq!(found.collect::<BTreeSet<_>>(), races, "{round:?}");
}

pub(super) fn call(kind: CallKind, stream: u32) -> Call {
    let place = Place { line: 1, column: 1 };
    Call {
        kind,
        stream,
        place,
    }
}

#[test]
fn races_are_found_as_every_order_of_work_shows_them_in_random_rounds() {
    // A linear congruential generator (Knuth's MMIX).
    let mut state = 31_u64;
    let mut below = |limit: u32| {
        state = state.wrapping_mul(6_364_136_223_846_793_005);
        state = state.wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32 % limit
    };
    let mut racing = 0;
    for _ in 0..3000 {
        let calls = (0..3 + below(4)).map(|_| {
            let number = below(2);
            let kind = match below(10) {
                0..=2 => CallKind::Advance(number),
                3..=4 => CallKind::Download(number),
                5..=6 => CallKind::Record(number),
                7..=8 => CallKind::Wait(number),
                _ => CallKind::Synchronize,
            };
            call(kind, below(3))
        });
        let round = Round {
            calls: calls.collect(),
        };
        compare(&round);
        let faults = check(&round, 0, Work::Lattices, &[]);
        racing += usize::from(faults.iter().any(|it| it.name == "race"));
    }
    // Neither all of them nor none.
    assert!((500..2500).contains(&racing), "{racing}");
}

#[test]
fn races_are_found_as_every_order_of_work_shows_them_where_streams_wait_by_way_of_others() {
    for streams in 0..3_u32.pow(6) {
        let stream = |digit| streams / 3_u32.pow(digit) % 3;
        for (second_record, second_wait) in [
            (CallKind::Record(1), CallKind::Wait(1)),
            (CallKind::Record(0), CallKind::Wait(0)),
            (CallKind::Synchronize, CallKind::Wait(0)),
        ] {
            let kinds = [
                CallKind::Advance(0),
                CallKind::Record(0),
                CallKind::Wait(0),
                second_record,
                second_wait,
                CallKind::Download(0),
            ];
            let calls = kinds.into_iter().zip(0..);
            let calls = calls.map(|(kind, digit)| call(kind, stream(digit)));
            compare(&Round {
                calls: calls.collect(),
            });
        }
    }
}
