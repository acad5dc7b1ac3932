//! Ops wait for exactly what is guaranteed, and no more: in streams, for events, for the host, by several
//! issuers and in graphs, on both engines.
//!
//! Order shows in what ops find. The absence of order shows when ops meet: two ops that each wait for
//! the other can only both end if neither is ordered after the other.

use std::thread;
use std::time::{Duration, Instant};

use engine::{
    BufferLocation, Completion, DeviceId, EventId, LatticeId, Priority, Scope, Slot, Span,
    StreamId, StreamKind, StreamSpec, Transfer,
};

use crate::ops::{
    D0, Lab, advance, at, copy, download, in_some_try, issued, on_both, on_cpu, on_cuda, program,
    record, spin, wait,
};
use StreamKind::{Blocking, Default, NonBlocking};

/// Timeout for what must happen.
const LONG: Duration = Duration::from_secs(120);

/// Time to wait to see that something does not happen.
const SHORT: Duration = Duration::from_millis(40);

const MS: Duration = Duration::from_millis(1);

impl Lab {
    /// Whether two ops have met: 1 if they did, 2 if they timed out.
    fn met(&mut self) -> [u32; 2] {
        self.take()[1..3].try_into().unwrap()
    }

    fn wait_for(&mut self, event: EventId) {
        let began = Instant::now();
        while !self.engine.query(event).unwrap() {
            assert!(began.elapsed() < LONG);
            thread::sleep(MS);
        }
    }
}

#[test]
fn stream_kinds_hold_each_other_as_cuda_has_it_and_no_more() {
    on_both(|lab| {
        let (elsewhere, there) = lab.elsewhere(Default, MS);
        assert_eq!(lab.engine.devices()[0], lab.engine.devices()[1]);
        let kinds = [
            Default,
            Default,
            Blocking,
            Blocking,
            NonBlocking,
            NonBlocking,
        ];
        let [default, again, one, two, free, other] = kinds.map(|kind| lab.stream_of(D0, kind));
        assert!(
            again == default && elsewhere != default,
            "a context has one"
        );
        let here = lab.spin(MS);
        for (first, between, second, in_order) in [
            (default, None, default, true),
            (default, None, one, true),
            (one, None, default, true),
            (one, None, one, true),
            (one, None, two, false),
            (free, None, free, true),
            (free, None, other, false),
            (free, None, default, false),
            (default, None, free, false), // it overtakes the default stream
            (free, None, one, false),
            (one, None, free, false),
            // Two blocking streams are serialised only by an op in the default stream. This is a common
            // trap.
            (one, Some((default, &here)), two, true),
            (one, Some((free, &here)), two, false),
            (one, Some((elsewhere, &there)), two, false),
        ] {
            // Ordered ops never meet, however long they wait. Unordered ones meet eventually.
            let most = if in_order { SHORT } else { LONG };
            let mut steps = vec![(first, lab.meet(1, 2, most))];
            steps.extend(between.map(|(stream, op)| (stream, op.clone())));
            steps.push((second, lab.meet(2, 2, most)));
            lab.run(&program(steps));
            // The second op always meets the first, which entered before.
            let expected = if in_order { [2, 1] } else { [1, 1] };
            assert_eq!(lab.met(), expected, "{first:?}, {between:?}, {second:?}");
        }
    });
}

/// A worker serves the streams that are first by priority, and again whenever one of them can go on.
#[test]
fn high_priority_goes_first() {
    let mut lab = on_cpu(1);
    let [a, b] = lab.streams();
    let priority = Priority::High;
    let spec = StreamSpec {
        priority,
        ..StreamSpec::PLAIN
    };
    let high = lab.engine.create_stream(D0, spec).unwrap();
    let (op, event) = (lab.spin(MS / 10), lab.event());
    let ran = lab.run(&program(
        [a, b, high, a, high].map(|stream| (stream, op.clone())),
    ));
    let last = ran.span(2).end.max(ran.span(4).end);
    assert!([0, 1, 3].iter().all(|&step| ran.span(step).start >= last));
    let steps = [
        (a, op.clone()),
        (a, record(event)),
        (a, op.clone()),
        (high, wait(event)),
        (high, op),
    ];
    let ran = lab.run(&program(steps));
    assert!(ran.span(0).end <= ran.span(4).start && ran.span(4).end <= ran.span(2).start);
    // Such streams can be had on a GPU, too.
    on_cuda(|lab| {
        for kind in [NonBlocking, Blocking] {
            let stream = lab
                .engine
                .create_stream(D0, StreamSpec { kind, priority })
                .unwrap();
            lab.run(&program([(stream, lab.spin(MS))]));
        }
        assert_eq!(lab.take()[63], 2);
    });
}

#[test]
fn as_many_streams_run_at_once_as_there_are_and_one_stream_does_one_thing_at_a_time() {
    const N: usize = 8;
    on_both(|lab| {
        let streams = lab.streams::<N>();
        let all = |lab: &Lab, streams: &[StreamId], most| {
            let meet = |i| (streams[i % streams.len()], lab.meet(1 + i, N as u32, most));
            program((0..N).map(meet))
        };
        lab.run(&all(lab, &streams, LONG));
        assert_eq!(lab.take()[1..=N], [1; N], "a stream each: all meet");
        lab.run(&all(lab, &streams[..1], 2 * MS));
        let mut single = [2; N];
        single[N - 1] = 1; // when the last one enters, all have entered
        assert_eq!(lab.take()[1..=N], single, "one stream: nobody meets");
    });
}

#[test]
fn the_host_waits_for_what_it_is_told_to_and_no_more() {
    on_both(|lab| {
        let [a, b, c] = lab.streams();
        let (other, _) = lab.elsewhere(NonBlocking, MS);
        for (by, scope, most, expected) in [
            (b, Scope::Stream, LONG, [1, 1]),
            (a, Scope::Stream, SHORT, [2, 1]),
            (b, Scope::Device, SHORT, [2, 1]),
            (other, Scope::Device, LONG, [1, 1]),
        ] {
            let steps = [
                (a, lab.meet(1, 2, most)),
                (by, engine::OrderOp::Synchronize(scope).into()),
                (c, lab.meet(2, 2, most)),
            ];
            let steps = program(steps);
            in_some_try(|_| {
                let ran = lab.run(&steps);
                assert_eq!(lab.met(), expected, "{scope:?} by {by:?}");
                let of_device: Vec<u32> = ran.spans.iter().map(|span| span.step).collect();
                assert_eq!(of_device, [0, 2], "waiting is nothing that the device does");
                let waited = ran.host(1).length().0 as u128;
                (
                    (waited > SHORT.as_nanos() / 2) == (expected == [2, 1]),
                    waited,
                )
            });
        }
    });
}

#[test]
fn issuers_issue_at_the_same_time_and_each_in_its_order() {
    on_both(|lab| {
        let [a, b] = lab.streams();
        let (elsewhere, there) = lab.elsewhere(NonBlocking, MS);
        let devices = [D0, D0, DeviceId(1)];
        let events = devices.map(|device| lab.engine.create_event(device).unwrap());
        // Each issuer waits for its first op before it continues; these ops end only if they run
        // concurrently.
        for (second, most, expected) in [(1, LONG, [1, 1]), (0, SHORT, [2, 1])] {
            let parts = [
                (0, a, lab.meet(1, 2, most)),
                (second, b, lab.meet(2, 2, most)),
                (2, elsewhere, there.clone()),
            ];
            let steps = parts
                .into_iter()
                .zip(events)
                .flat_map(|((issuer, stream, op), event)| {
                    let again = if stream == elsewhere {
                        there.clone()
                    } else {
                        lab.spin(MS / 10)
                    };
                    let synchronize = engine::OrderOp::Synchronize(Scope::Stream).into();
                    [op, synchronize, record(event), wait(event), again]
                        .map(|op| (issuer, stream, op))
                });
            let ran = lab.run(&issued(steps.collect::<Vec<_>>()));
            assert_eq!(lab.met(), expected);
            assert_eq!(ran.spans.len(), 12, "all but the waits of the host");
            let apart = (ran.span(0).start.0 - ran.span(10).start.0).abs();
            assert!(
                apart < 60_000_000_000,
                "the clocks of two contexts differ by {apart} ns"
            );
            for first in [0, 5, 10] {
                assert!(ran.span(first).end <= ran.span(first + 4).start);
            }
            if lab.is_cuda() {
                assert_eq!(ran.host.len(), 15, "a host span a step");
                let ends_first = |step| ran.host(step).end <= ran.host(step + 1).start;
                assert!((0..15).filter(|step| step % 5 < 4).all(ends_first));
            } else {
                assert!(ran.host.iter().all(|span| span.step == Span::WHOLE));
            }
        }
    });
}

/// A stream of the CPU engine's takes steps of several issuers, each one's in order.
#[test]
fn a_stream_of_several_issuers_has_each_ones_steps_in_order() {
    let mut lab = on_cpu(2);
    let [stream] = lab.streams();
    let op = lab.spin(Duration::ZERO);
    let mut spans = lab
        .run(&issued(
            (0..400).map(|i| ((i % 4) as u8, stream, op.clone())),
        ))
        .spans;
    let are_apart = |spans: &[Span]| spans.windows(2).all(|pair| pair[0].end <= pair[1].start);
    for issuer in 0..4 {
        let own: Vec<Span> = spans.iter().skip(issuer).step_by(4).copied().collect();
        assert!(are_apart(&own));
    }
    spans.sort_by_key(|span| span.start);
    assert!(spans.len() == 400 && are_apart(&spans));
}

#[test]
fn an_event_is_its_last_mark_and_a_wait_is_for_the_mark_before_it() {
    on_both(|lab| {
        let [a, b, c] = lab.streams();
        let [event, passed] = [(); 2].map(|()| lab.event());
        assert_eq!(lab.engine.query(event), Ok(true), "there is no mark");
        assert!(lab.engine.query(EventId(7)).is_err());
        lab.run(&program([(b, wait(event)), (b, lab.spin(MS))]));
        // The first mark is held; the second, in another stream, is passed at once.
        let held = [
            (a, lab.meet(1, 2, LONG)),
            (a, record(event)),
            (b, wait(event)),
            (b, record(passed)),
        ];
        lab.engine.submit(&program(held)).unwrap();
        assert_eq!(
            [event, passed].map(|it| lab.engine.query(it)),
            [Ok(false), Ok(false)]
        );
        let later = [
            (c, record(event)),
            (c, wait(event)),
            (c, lab.spin(MS)),
            (c, record(event)),
        ];
        lab.engine.submit(&program(later)).unwrap();
        lab.wait_for(event);
        assert_eq!(lab.engine.query(passed), Ok(false));
        lab.run(&program([(c, lab.meet(2, 2, LONG))]));
        assert_eq!((lab.engine.query(passed), lab.met()), (Ok(true), [1, 1]));
    });
}

/// A replay is ordered with all streams, like a CUDA graph.
#[test]
fn a_replay_stands_behind_what_came_before_and_before_what_comes_later() {
    on_both(|lab| {
        let [a, b, c] = lab.streams();
        let (counted, busy) = (at(lab.device, 252), lab.buffer(BufferLocation::Device, 1));
        let steps = [
            (a, spin(at(busy, 0), 30 * MS)),
            (a, copy(counted, at(lab.host, 0), 4)),
        ];
        let prepared = lab.engine.prepare(&program(steps)).unwrap();
        for _ in 0..2 {
            lab.engine
                .submit(&program([(c, lab.spin(60 * MS))]))
                .unwrap();
            lab.engine.replay(prepared).unwrap();
            lab.engine.submit(&program([(b, lab.spin(MS))])).unwrap();
        }
        lab.finish();
        assert_eq!(
            lab.words(lab.host)[0],
            3,
            "behind two ops of c and one of b"
        );
    });
}

#[test]
fn a_downloaded_picture_does_not_wait_for_the_run() {
    on_both(|lab| {
        let [held, free] = lab.streams();
        let soups = lab.soups(1, "64x64");
        let steps = [
            (held, lab.meet(1, 2, LONG)),
            (held, download(0..1, 2, Transfer::Bits)),
            (free, download(0..1, 0, Transfer::Bits)),
        ];
        let run = lab.engine.submit(&program(steps)).unwrap();
        let mut completions = Vec::new();
        while completions.is_empty() {
            lab.engine.wait(Duration::from_secs(1));
            lab.engine.poll(&mut completions).unwrap();
        }
        let (lattices, slot) = (0..1, Slot(0));
        let [
            Completion::Downloaded {
                run: of,
                lattices: those,
                slot: there,
            },
        ] = &completions[..]
        else {
            panic!("{completions:?}")
        };
        assert_eq!((*of, those, *there), (run, &lattices, slot));
        assert_eq!(soups.read(0, 0), soups.starts[0].words());
        let (lattice, pending) = (LatticeId(0), Slot(2));
        let is_read = soups.slots.read(lattice, pending, &mut |_| ());
        assert_eq!(
            (is_read, soups.slots.is_free(lattice, pending)),
            (false, false)
        );
        lab.run(&program([(free, lab.meet(2, 2, LONG))]));
    });
    let mut lab = on_cpu(1);
    let endless = lab
        .soups(1, "64x64")
        .program([advance("bits", 0..1, u32::MAX)]);
    lab.engine.submit(&endless).unwrap();
    let began = Instant::now();
    drop(lab);
    assert!(
        began.elapsed() < Duration::from_secs(30),
        "what runs is abandoned"
    );
}
