//! Rounds that are wrong, each with its fault, and rounds that are right.

use std::collections::{BTreeSet, HashMap};

use crate::{
    Call, CallKind, Fault, MAX_CALLS, MAX_FAULTS, MAX_STREAMS, Place, Requirement, Round, Work,
    check, round,
};

fn faults(source: &str, items: u32, work: Work, requirements: &[Requirement]) -> Vec<Fault> {
    let round = round(source, work, items);
    let round = round.unwrap_or_else(|it| panic!("{source}: {it:?}"));
    check(&round, items, work, requirements)
}

/// The name of each fault and the lines of its calls, such as `race 3 1, missing`.
fn in_short(faults: &[Fault]) -> String {
    let in_short = |fault: &Fault| -> String {
        let lines = fault.places.iter().map(|it| format!(" {}", it.line));
        [fault.name.to_owned()].into_iter().chain(lines).collect()
    };
    let faults: Vec<_> = faults.iter().map(in_short).collect();
    faults.join(", ")
}

/// Two instances, each right in its stream.
const RIGHT: &str = "advance(0, 0);\ndownload(0, 0);\nadvance(1, 1);\ndownload(1, 1);\n";

#[test]
fn wrong_rounds_have_their_faults_with_lines() {
    // What comes after each source of the third group is another item, which is right.
    for (work, items, other, rows) in [
        (
            Work::Lattices,
            2,
            "",
            &[
                // Missing
                " => missing, missing",
                "advance(0, 0); download(0, 0); => missing, missing",
                "for i in 0..N { advance(i, i); } => missing",
            ][..],
        ),
        (
            Work::Lattices,
            1,
            "",
            &["advance(0, 0); => missing", "download(0, 0); => missing"],
        ),
        (
            Work::Lattices,
            2,
            "\nadvance(1, 1); download(1, 1);",
            &[
                // Repeated
                "advance(0, 0);\nadvance(0, 0);\ndownload(0, 0); => repeated 2 1",
                "advance(0, 0);\ndownload(0, 0);\ndownload(0, 0); => repeated 3 2",
                "advance(0, 0);\nadvance(0, 1);\ndownload(0, 0); => repeated 2 1, race 2 1, race 3 2",
                // Too early
                "download(0, 0);\nadvance(0, 0); => too-early 1 2",
                "download(0, 0);\nrecord(0, 0);\nwait(0, 2);\nadvance(0, 2); => too-early 1 4",
                // Races
                "advance(0, 0);\ndownload(0, 2); => race 2 1",
                "download(0, 2);\nadvance(0, 0); => race 2 1",
                "advance(0, 0);\nrecord(0, 0);\ndownload(0, 2);\nwait(0, 2); => race 3 1",
                "record(0, 0);\nadvance(0, 0);\nwait(0, 2);\ndownload(0, 2); => race 4 2",
                "advance(0, 0);\nrecord(0, 0);\nwait(0, 3);\ndownload(0, 2); => race 4 1",
                "advance(0, 0);\nrecord(0, 0);\nrecord(0, 2);\nwait(0, 3);\ndownload(0, 3); => race 5 1",
                "advance(0, 0);\nsynchronize(2);\ndownload(0, 2); => race 3 1",
                // Events
                "advance(0, 0);\ndownload(0, 0);\nwait(0, 2); => not-recorded 3",
                "advance(0, 0);\nwait(0, 2);\nrecord(0, 0);\ndownload(0, 2); => not-recorded 2 3, race 4 1",
                "advance(0, 0);\nrecord(1, 0);\nwait(0, 2);\ndownload(0, 2); => not-recorded 3, race 4 1",
            ],
        ),
        (
            Work::Arrays,
            1,
            "",
            &[
                " => missing, missing, missing",
                "upload(0, 0); download(0, 0); => missing",
                "upload(0, 0);\ndownload(0, 0);\nscale(0, 0); => too-early 2 3",
                "scale(0, 0);\nupload(0, 0);\ndownload(0, 0); => too-early 1 2",
                "download(0, 0);\nscale(0, 0);\nupload(0, 0); => too-early 1 2, too-early 1 3, too-early 2 3",
                "upload(0, 0);\nscale(0, 1);\ndownload(0, 1); => race 2 1, race 3 1",
                "upload(0, 0);\nscale(0, 0);\ndownload(0, 1); => race 3 1, race 3 2",
                "upload(0, 0);\nrecord(0, 0);\nscale(0, 0);\nwait(0, 1);\ndownload(0, 1); => race 5 3",
                "upload(0, 0);\nscale(0, 0);\nscale(0, 0);\ndownload(0, 0); => repeated 3 2",
                "upload(0, 0);\nupload(0, 0);\nscale(0, 0);\ndownload(0, 0); => repeated 2 1",
            ],
        ),
    ] {
        for row in rows {
            let (source, expected) = row.split_once(" => ").unwrap();
            let found = faults(&format!("{source}{other}"), items, work, &[]);
            assert_eq!(in_short(&found), expected, "{source}");
        }
    }
}

#[test]
fn what_an_exercise_asks_for_is_checked() {
    use CallKind::Advance;
    use Requirement::{Before, Concurrent, IssuedBefore, MaxRecords, MaxStreams, NoSynchronize};
    let event = "advance(0, 0);\nrecord(0, 0);\nwait(0, 1);\nadvance(1, 1);\nrecord(1, 1);\n\
                 download(0, 0);\ndownload(1, 1);\nsynchronize(0);";
    for (source, requirement, expected) in [
        (RIGHT, Before(Advance(0), Advance(1)), "not-before 3 1"),
        // Calls that are missing are no fault of a requirement.
        (
            "advance(0, 0); download(0, 0);",
            Before(Advance(0), Advance(1)),
            "missing, missing",
        ),
        (
            event,
            Concurrent(Advance(1), Advance(0)),
            "not-concurrent 4 1",
        ),
        (RIGHT, IssuedBefore(Advance(0), Advance(1)), ""),
        (
            RIGHT,
            IssuedBefore(Advance(1), Advance(0)),
            "not-issued-before 3 1",
        ),
        (event, MaxRecords(2), ""),
        (event, MaxRecords(1), "too-many-records 5"),
        (event, MaxRecords(0), "too-many-records 2"),
        (RIGHT, MaxStreams(2), ""),
        (RIGHT, MaxStreams(1), "too-many-streams 3"),
        (RIGHT, NoSynchronize, ""),
        (event, NoSynchronize, "synchronizes 8"),
    ] {
        let found = faults(source, 2, Work::Lattices, &[requirement]);
        assert_eq!(in_short(&found), expected, "{requirement:?}");
    }
}

#[test]
fn each_fault_says_what_is_wrong_and_what_to_do() {
    use CallKind::Advance;
    use Requirement::{Before, Concurrent, IssuedBefore, MaxRecords, MaxStreams, NoSynchronize};
    let waits = "advance(0, 0);\nrecord(0, 0);\nwait(0, 1);\nadvance(1, 1);\nsynchronize(0);";
    let arrays = "upload(0, 3);\nupload(0, 3);\ndownload(0, 2);\nscale(0, 3);";
    let (lattices, none) = (Work::Lattices, &[][..]);
    #[rustfmt::skip]
    let rows = [
        ("wait(4, 2);", lattices, none, "Line 1 makes stream 2 wait for event 4, which is never recorded, so it waits for nothing."),
        ("wait(4, 2);\nrecord(4, 0);", lattices, none, "Line 1 makes stream 2 wait for event 4, which line 2 records only later, so it waits for nothing. Record the event first."),
        ("advance(1, 0);\nadvance(1, 0);", lattices, none, "Line 2 advances instance 1 in stream 0, although line 1 already advances instance 1 in stream 0. Remove one of them."),
        ("download(1, 0);\nadvance(1, 0);", lattices, none, "Line 1 downloads instance 1 in stream 0 before line 2 advances instance 1 in stream 0. Issue line 2 first."),
        (RIGHT, lattices, &[Before(Advance(0), Advance(1))], "Line 3 advances instance 1 in stream 1, and must wait for line 1, which advances instance 0 in stream 0."),
        (waits, lattices, &[Concurrent(Advance(1), Advance(0))], "Line 4 advances instance 1 in stream 1, and waits for line 1, which advances instance 0 in stream 0. Let both run at the same time."),
        (RIGHT, lattices, &[IssuedBefore(Advance(1), Advance(0))], "Line 3 advances instance 1 in stream 1, and must be issued before line 1, which advances instance 0 in stream 0."),
        (waits, lattices, &[MaxRecords(0)], "Line 2 records event 0 in stream 0. Records of events: 1; use at most 0."),
        (RIGHT, lattices, &[MaxStreams(1)], "Line 3 advances instance 1 in stream 1. Streams with work: 2; use at most 1."),
        (waits, lattices, &[NoSynchronize], "Line 5 makes the host wait for stream 0; do without synchronize here."),
        (arrays, Work::Arrays, none, "Line 2 uploads chunk 0 in stream 3, although line 1 already uploads chunk 0 in stream 3. Remove one of them."),
        (arrays, Work::Arrays, none, "Line 3 downloads chunk 0 in stream 2, and nothing orders it after line 4, which scales chunk 0 in stream 3. Issue line 4 first, record an event in stream 3 after it, and make stream 2 wait for it."),
        (arrays, Work::Arrays, none, "Chunk 1 is never scaled."),
    ];
    for (source, work, requirements, sentence) in rows {
        let found = faults(source, 2, work, requirements);
        let said: Vec<String> = found
            .iter()
            .map(|fault| fault.message.to_string())
            .collect();
        assert!(
            said.iter().any(|it| it == sentence),
            "{sentence}: {said:#?}"
        );
    }
}

#[test]
fn the_items_that_lack_a_call_are_one_fault() {
    let found = faults("advance(1, 0); download(1, 0);", 16, Work::Lattices, &[]);
    let said: Vec<_> = found.iter().map(|it| &*it.message).collect();
    assert_eq!(
        said,
        [
            "Instance 0 is never advanced. The same goes for 14 more.",
            "Instance 0 is never downloaded. The same goes for 14 more.",
        ]
    );
}

#[test]
fn the_longest_rounds_are_checked_at_once_and_with_little_memory() {
    // Every stream waits for all others over and over, each time with another clock.
    let calls = (0..MAX_CALLS as u32).map(|it| {
        let stream = it / 3 % MAX_STREAMS;
        match it % 3 {
            0 => call(CallKind::Wait(it / 3), stream),
            1 => call(CallKind::Advance(it), stream),
            _ => call(CallKind::Record(it / 3 + 1), stream),
        }
    });
    let round = Round {
        calls: calls.collect(),
    };
    let found = check(&round, 0, Work::Lattices, &[]);
    assert_eq!(in_short(&found), "not-recorded 1");
    // All for one lattice.
    let calls = (0..MAX_CALLS as u32).map(|it| call(CallKind::Advance(0), it % MAX_STREAMS));
    let round = Round {
        calls: calls.collect(),
    };
    assert_eq!(check(&round, 1, Work::Lattices, &[]).len(), MAX_FAULTS);
}

// Races by trying everything: a small round runs in every order that streams and events allow, and two
// calls race if the work of either may come first. No clock here knows of any other.

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
        let item = |call: &Call| call.kind.item().map(|(_, item)| item);
        if back && item(a) == item(b) {
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
    let found = found.map(|race| (race.calls[1], race.calls[0]));
    assert_eq!(found.collect::<BTreeSet<_>>(), races, "{round:?}");
}

fn call(kind: CallKind, stream: u32) -> Call {
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
