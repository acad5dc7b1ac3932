//! Tests of ordering: ops wait for exactly what is guaranteed, and no more.
//!
//! Order shows in the spans. The absence of order shows when ops meet: two ops that each wait for
//! the other can only both end if neither is ordered after the other.

use super::lab::{LONG, Lab, SHORT, apart, issued};
use super::*;
use crate::{Priority, Scope, StreamKind};

/// The results of two meeting ops: 1 if they met, 2 if they timed out.
fn met(words: &[u32]) -> [u32; 2] {
    [words[1], words[2]]
}

/// Issues two ops to these streams, in this order, and checks whether the second waits for the
/// first.
#[track_caller]
fn expect_order(
    lab: &mut Lab,
    first: StreamId,
    second: StreamId,
    between: &[(StreamId, Op)],
    in_order: bool,
) {
    // Ordered ops never meet, however long they wait. Unordered ones meet eventually.
    let timeout = if in_order { SHORT } else { LONG };
    let ends = [
        (first, lab.meet(1, 2, timeout)),
        (second, lab.meet(2, 2, timeout)),
    ];
    let [one, two] = ends;
    let steps = program(
        [one]
            .into_iter()
            .chain(between.iter().cloned())
            .chain([two]),
    );
    let ran = lab.run(&steps);
    // The second op always meets the first, which entered before.
    let expected = if in_order { [2, 1] } else { [1, 1] };
    let what = format!("{first:?}, {between:?}, {second:?}");
    assert_eq!(met(&lab.take()), expected, "{what}");
    if in_order {
        let last = steps.steps.len() as u32 - 1;
        assert!(ran.span(last).start >= ran.span(0).end, "{what}");
    }
}

#[test]
fn stream_kinds_hold_each_other_as_cuda_has_it_and_no_more() {
    let mut lab = Lab::new(4);
    let context = lab.engine.create_context(DeviceId(0)).unwrap();
    let free = lab.streams(2);
    let here = DeviceId(0);
    let default = lab.stream(here, StreamKind::Default);
    let blocking = [(); 2].map(|()| lab.stream(here, StreamKind::Blocking));
    let elsewhere = lab.stream(context, StreamKind::Default);
    for (first, second, expected) in [
        (default, default, true),
        (default, blocking[0], true),
        (blocking[0], default, true),
        (blocking[0], blocking[0], true),
        (blocking[0], blocking[1], false),
        (free[0], free[0], true),
        (free[0], free[1], false),
        (free[0], default, false),
        (default, free[0], false), // it overtakes the default stream
        (free[0], blocking[0], false),
        (blocking[0], free[0], false),
    ] {
        expect_order(&mut lab, first, second, &[], expected);
    }
    // Two blocking streams are serialised only by an op in the default stream. This is a common
    // trap.
    let nothing = lab.nothing();
    for (between, expected) in [(default, true), (free[0], false), (elsewhere, false)] {
        let between = [(between, nothing.clone())];
        expect_order(&mut lab, blocking[0], blocking[1], &between, expected);
    }
}

#[test]
fn a_context_has_one_default_stream() {
    let mut lab = Lab::new(1);
    let context = lab.engine.create_context(DeviceId(0)).unwrap();
    assert_eq!(lab.engine.devices().len(), 2);
    let [one, again] = [(); 2].map(|()| lab.stream(DeviceId(0), StreamKind::Default));
    assert_eq!(one, again);
    assert_ne!(one, lab.stream(context, StreamKind::Default));
    assert_ne!(one, lab.stream(DeviceId(0), StreamKind::Blocking));
}

#[test]
fn high_priority_goes_first() {
    let mut lab = Lab::new(1);
    let normal = lab.streams(2);
    let spec = StreamSpec {
        priority: Priority::High,
        ..StreamSpec::PLAIN
    };
    let high = lab.engine.create_stream(DeviceId(0), spec).unwrap();
    let op = lab.spin(Duration::from_micros(100));
    let streams = [normal[0], normal[1], high, normal[0], high];
    let ran = lab.run(&program(streams.map(|stream| (stream, op.clone()))));
    let last = ran.span(2).end.max(ran.span(4).end);
    for step in [0, 1, 3] {
        assert!(ran.span(step).start >= last, "step {step} came first");
    }
    // Higher-priority work that becomes runnable goes before the rest of the served stream.
    let event = lab.engine.create_event(DeviceId(0)).unwrap();
    let ran = lab.run(&program([
        (normal[0], op.clone()),
        (normal[0], OrderOp::Record(event).into()),
        (normal[0], op.clone()),
        (high, OrderOp::Wait(event).into()),
        (high, op),
    ]));
    assert!(ran.span(0).end <= ran.span(4).start);
    assert!(ran.span(4).end <= ran.span(2).start);
}

#[test]
fn as_many_streams_run_at_once_as_there_are_workers() {
    const N: usize = 8;
    let mut lab = Lab::new(N);
    let streams = lab.streams(N);
    let all = |lab: &Lab, streams: &[StreamId], timeout| {
        let steps = (0..N).map(|i| {
            (
                streams[i % streams.len()],
                lab.meet(1 + i, N as u32, timeout),
            )
        });
        program(steps.collect::<Vec<_>>())
    };
    let together = all(&lab, &streams, LONG);
    lab.run(&together);
    assert_eq!(lab.take()[1..=N], [1; N], "a stream each: all meet");
    let in_a_row = all(&lab, &streams[..1], Duration::from_millis(2));
    let ran = lab.run(&in_a_row);
    assert!(apart(ran.spans), "one at a time");
    let mut single = [2; N];
    single[N - 1] = 1; // when the last one enters, all have entered
    assert_eq!(lab.take()[1..=N], single, "one stream: nobody meets");
}

#[test]
fn nothing_behind_a_synchronization_begins_before_it_ends() {
    let mut lab = Lab::new(3);
    let streams = lab.streams(3);
    let op = lab.spin(Duration::from_millis(5));
    for scope in [Scope::Stream, Scope::Device] {
        let ran = lab.run(&program([
            (streams[0], op.clone()),
            (streams[0], OrderOp::Synchronize(scope).into()),
            (streams[1], op.clone()),
            (streams[1], OrderOp::Synchronize(scope).into()),
        ]));
        let steps: Vec<_> = ran.spans.iter().map(|span| span.step).collect();
        assert_eq!(steps, [0, 2], "it has no span of the device");
        let host: Vec<_> = ran.host.iter().map(|span| span.step).collect();
        assert_eq!(host, [Span::WHOLE, 1, Span::WHOLE, 3]);
        let (wait, queue) = (ran.host[1], ran.host[2]);
        assert!(ran.span(0).end <= wait.end && wait.end <= queue.start);
        assert!(queue.start <= ran.span(2).start);
        assert!(apart(ran.host));
    }
}

#[test]
fn a_synchronization_waits_for_what_it_says_and_no_more() {
    let mut lab = Lab::new(3);
    let context = lab.engine.create_context(DeviceId(0)).unwrap();
    let streams = lab.streams(3);
    let other = lab.stream(context, StreamKind::NonBlocking);
    let steps = |lab: &Lab, by, scope, timeout| {
        program([
            (streams[0], lab.meet(1, 2, timeout)),
            (by, lab.nothing()),
            (by, OrderOp::Synchronize(scope).into()),
            (streams[2], lab.meet(2, 2, timeout)),
        ])
    };
    for (by, scope, timeout, expected) in [
        (streams[1], Scope::Stream, LONG, [1, 1]),
        (streams[1], Scope::Device, SHORT, [2, 1]),
        (other, Scope::Device, LONG, [1, 1]),
    ] {
        let steps = steps(&lab, by, scope, timeout);
        lab.run(&steps);
        assert_eq!(met(&lab.take()), expected, "{scope:?} by {by:?}");
    }
}

#[test]
fn issuers_issue_at_the_same_time_and_each_in_its_order() {
    let mut lab = Lab::new(2);
    let streams = lab.streams(2);
    // Each issuer waits for its first op before it continues; these ops end only if they run
    // concurrently.
    let steps = |lab: &Lab, second: u8, timeout| {
        let of = |place: usize| {
            let stream = streams[place - 1];
            [
                (stream, lab.meet(place, 2, timeout)),
                (stream, OrderOp::Synchronize(Scope::Stream).into()),
                (stream, lab.spin(Duration::from_micros(100))),
            ]
        };
        let first = of(1).map(|(stream, op)| (0, stream, op));
        let second = of(2).map(|(stream, op)| (second, stream, op));
        issued(first.into_iter().chain(second))
    };
    let together = steps(&lab, 1, LONG);
    for _ in 0..5 {
        let ran = lab.run(&together);
        assert_eq!(met(&lab.take()), [1, 1]);
        assert_eq!(ran.spans.len(), 4);
        assert!(ran.span(0).end <= ran.span(2).start && ran.span(3).end <= ran.span(5).start);
        let [whole] = ran.host[..] else {
            panic!("{:?}", ran.host)
        };
        assert_eq!(whole.step, Span::WHOLE);
    }
    let one_after_the_other = steps(&lab, 0, SHORT);
    lab.run(&one_after_the_other);
    assert_eq!(met(&lab.take()), [2, 1]);
}

#[test]
fn a_stream_of_several_issuers_has_each_ones_steps_in_order() {
    let mut lab = Lab::new(2);
    let stream = lab.streams(1)[0];
    let op = lab.spin(Duration::ZERO);
    let steps = (0..400).map(|i| (i % 4, stream, op.clone()));
    let ran = lab.run(&issued(steps.map(|(i, stream, op)| (i as u8, stream, op))));
    assert_eq!(ran.spans.len(), 400);
    assert!(apart(ran.spans.clone()));
    for issuer in 0..4 {
        let own: Vec<_> = ran.spans.iter().skip(issuer).step_by(4).collect();
        assert!(own.windows(2).all(|pair| pair[0].end <= pair[1].start));
    }
}

#[test]
fn an_event_is_over_when_what_stands_before_its_mark_is() {
    let mut lab = Lab::new(2);
    let streams = lab.streams(2);
    let event = lab.engine.create_event(DeviceId(0)).unwrap();
    assert_eq!(lab.engine.query(event), Ok(true), "there is no mark");
    let held = program([
        (streams[0], lab.meet(1, 2, LONG)),
        (streams[0], OrderOp::Record(event).into()),
    ]);
    lab.engine.submit(&held).unwrap();
    assert_eq!(lab.engine.query(event), Ok(false));
    let release = program([(streams[1], lab.meet(2, 2, LONG))]);
    lab.run(&release);
    assert_eq!(lab.engine.query(event), Ok(true));
    assert_eq!(met(&lab.take()), [1, 1]);
    assert!(lab.engine.query(EventId(1)).is_err());
}

/// A replay is ordered with all streams, like a CUDA graph.
#[test]
fn a_replay_stands_behind_what_came_before_and_before_what_comes_later() {
    let mut bench = Bench::new(3, "512x512");
    let [a, b, c] = bench.streams[..] else {
        unreachable!()
    };
    let advance = |lattice| advance("bits", LatticeId(lattice), 40);
    let eager = program([(a, advance(0)), (b, advance(1)), (c, advance(2))]);
    let prepared = program([(a, advance(0)), (b, advance(1))]);
    let prepared = bench.engine.prepare(&prepared).unwrap();
    bench.engine.submit(&eager).unwrap();
    bench.engine.replay(prepared).unwrap();
    bench.engine.replay(prepared).unwrap();
    bench.engine.submit(&eager).unwrap();
    let mut spans: Vec<Vec<Span>> = Vec::new();
    for completion in bench.drain() {
        if let Completion::Finished { spans: of, .. } = completion {
            spans.push(of);
        }
    }
    assert_eq!(spans.len(), 4);
    for pair in spans.windows(2) {
        let end = pair[0].iter().map(|span| span.end).max();
        let start = pair[1].iter().map(|span| span.start).min();
        assert!(end <= start, "{pair:?}");
    }
}
