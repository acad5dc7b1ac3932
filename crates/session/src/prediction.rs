//! When a round's work would run, predicted from the times that its ops take alone.
//!
//! # What it leaves out
//! Ops slow one another down only by the SMs: they share no caches, memory bandwidth or power. A kernel
//! runs at its full speed or waits until its share of the SMs is free, and kernels get theirs in the order
//! of issue. Copies never slow kernels. The bus carries one copy a direction. A call of the host takes
//! always the same time, and queues are as many as streams.

use std::collections::HashMap;
use std::sync::Arc;

use crate::trace::{EventUse, StepFacts, StepKind, TimedRound};
use crate::{IsolatedOp, Order, Switches};
use engine::{DeviceId, EventId, Nanos, Span, StreamId};
use script::{Call, CallKind, Round, Verdict, Work};

use CallKind::*;

/// How long the parts of a round take alone.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct OpTimes {
    /// The kernel that advances an instance.
    pub kernel: Nanos,
    /// Which part of the SMs that keeps busy, from 0 to 1.
    pub share: f64,
    /// The copy of an instance to the host, with the kernels that prepare it.
    pub copy: Nanos,
    /// A call of the host.
    pub call: Nanos,
}

impl OpTimes {
    /// Where nothing was measured: kernels and copies take equally long.
    pub const EQUAL: OpTimes = OpTimes {
        kernel: Nanos(40_000),
        share: 0.0,
        copy: Nanos(40_000),
        call: Nanos(2_000),
    };

    /// Of a round's ops that were each run alone, and of a round that was timed as a whole, whose calls
    /// count; `None` if no instance was advanced or none copied.
    pub fn of(isolated: &[IsolatedOp], timed: &TimedRound) -> Option<OpTimes> {
        let launches = || {
            let is_launch = |op: &&IsolatedOp| op.facts.kind == StepKind::Launch;
            isolated.iter().filter(is_launch)
        };
        let instances = launches().map(|op| op.facts.instance).max()??;
        let instances = f64::from(instances) + 1.0;
        let of_each = |kinds: &[StepKind]| {
            let ops = isolated.iter().filter(|op| kinds.contains(&op.facts.kind));
            let all: i64 = ops.map(|op| op.took.0).sum();
            Nanos((all as f64 / instances) as i64)
        };
        let copy = of_each(&[StepKind::Upload, StepKind::Download, StepKind::Support]);
        let shares = launches().map(|op| op.share);
        // A graph's launch is one call, whatever the order is.
        let calls = timed.host.len().max(1) as f64;
        let call = Nanos((1e3 * timed.host_us() / calls) as i64);
        (copy.0 > 0).then(|| OpTimes {
            kernel: of_each(&[StepKind::Launch]),
            share: shares.fold(0.0, f64::max),
            copy,
            call: if timed.replayed { Nanos(0) } else { call },
        })
    }
}

/// The most calls that a round has whose prediction does not take long.
pub const MAX_PREDICTED_CALLS: usize = 10_000;

/// A round by itself as it would be timed, with its functions' names for labels. Takes `calls` squared
/// steps at worst: [`MAX_PREDICTED_CALLS`] take about 0.1 s.
pub fn predict(round: &Round, times: &OpTimes) -> TimedRound {
    let mut machine = Machine::default();
    let calls = round.calls.iter().zip(0..);
    let (spans, host) = calls
        .map(|(call, step)| machine.push(call, step, times))
        .unzip();
    TimedRound {
        steps: round.calls.iter().map(facts).collect(),
        spans,
        host,
        switches: Switches {
            order: Order::Own,
            ..Switches::DEFAULT
        },
        ..TimedRound::default()
    }
}

/// The ops of a predicted round, each as it would run alone.
pub fn isolated(round: &TimedRound, times: &OpTimes) -> Arc<[IsolatedOp]> {
    let ops = round.steps.iter().zip(&round.spans);
    let isolated = ops.map(|(&facts, span)| IsolatedOp {
        facts,
        device: DeviceId(0),
        took: span.length(),
        share: match facts.kind {
            StepKind::Launch => times.share,
            _ => 0.0,
        },
    });
    isolated.collect()
}

/// By which factor a round of these instances would be faster than one in a built-in order, which has a
/// stream for each; `None` if a script has not so many.
pub fn predicted_factor(
    round: &Round,
    before: Order,
    instances: u32,
    times: &OpTimes,
) -> Option<f64> {
    let length = |round: &Round| Some(predict(round, times).length()?.0.max(1) as f64);
    let before = Verdict::of(before.script(), Work::Lattices, instances, &[]);
    Some(length(&before.round)? / length(round)?)
}

fn facts(call: &Call) -> StepFacts {
    let (label, kind) = match call.kind {
        Advance(_) => ("advance", StepKind::Launch),
        Upload(_) => ("upload", StepKind::Upload),
        Scale(_) => ("scale", StepKind::Launch),
        Download(_) => ("download", StepKind::Download),
        Record(_) => ("record", StepKind::Event),
        Wait(_) => ("wait", StepKind::Event),
        Synchronize => ("synchronize", StepKind::Wait),
    };
    StepFacts {
        label,
        kind,
        stream: StreamId(call.stream),
        own_number: Some(call.stream),
        instance: call.kind.item().map(|(_, item)| item),
        instances: u32::from(call.kind.item().is_some()),
        event: match call.kind {
            Record(event) => Some(EventUse::Record(EventId(event))),
            Wait(event) => Some(EventUse::Wait(EventId(event))),
            _ => None,
        },
        ..StepFacts::default()
    }
}

/// What the calls so far keep busy, in nanoseconds from the first one.
#[derive(Default)]
struct Machine {
    host: i64,
    streams: HashMap<u32, i64>,
    events: HashMap<u32, i64>,
    /// The engines that copy, to the device and to the host.
    uploads: i64,
    downloads: i64,
    /// When kernels end that may still run, the earliest first, and their shares of the SMs.
    kernels: Vec<(i64, f64)>,
}

impl Machine {
    /// When a call's work runs, and when the host is inside the call.
    fn push(&mut self, call: &Call, step: u32, times: &OpTimes) -> (Span, Span) {
        let issued = self.host + times.call.0;
        let ready = issued.max(self.streams.get(&call.stream).copied().unwrap_or(0));
        let (start, end) = match call.kind {
            Advance(_) | Scale(_) => self.run(ready, times),
            Upload(_) => copy(&mut self.uploads, ready, times),
            Download(_) => copy(&mut self.downloads, ready, times),
            Record(event) => {
                self.events.insert(event, ready);
                (ready, ready)
            }
            Wait(event) => {
                let recorded = self.events.get(&event).copied();
                let end = recorded.map_or(ready, |recorded| ready.max(recorded));
                (end, end)
            }
            Synchronize => (ready, ready),
        };
        self.streams.insert(call.stream, end);
        let returns = match call.kind {
            Synchronize => end,
            _ => issued,
        };
        let span = |start, end| Span {
            step,
            stream: StreamId(call.stream),
            start: Nanos(start),
            end: Nanos(end),
        };
        let host = span(self.host, returns);
        self.host = returns;
        (span(start, end), host)
    }

    /// Runs a kernel as soon as its share of the SMs is free.
    fn run(&mut self, ready: i64, times: &OpTimes) -> (i64, i64) {
        const ROUNDING: f64 = 1e-9;
        // The host's calls come one after the other: none of the kernels to come starts before.
        let host = self.host;
        self.kernels.retain(|(end, _)| *end > host);
        let running = self.kernels.iter().filter(|(end, _)| *end > ready);
        let mut busy: f64 = running.clone().map(|(_, share)| share).sum();
        let mut start = ready;
        for (end, share) in running {
            if busy + times.share <= 1.0 + ROUNDING {
                break;
            }
            busy -= share;
            start = *end;
        }
        let end = start + times.kernel.0;
        let place = self.kernels.partition_point(|(other, _)| *other <= end);
        self.kernels.insert(place, (end, times.share));
        (start, end)
    }
}

/// Runs a copy as soon as the engine of its direction is free.
fn copy(engine: &mut i64, ready: i64, times: &OpTimes) -> (i64, i64) {
    let start = ready.max(*engine);
    *engine = start + times.copy.0;
    (start, *engine)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(share: f64, call_us: i64) -> OpTimes {
        OpTimes {
            kernel: Nanos(30_000),
            share,
            copy: Nanos(10_000),
            call: Nanos(1000 * call_us),
        }
    }

    fn round(source: &str, work: Work, items: u32) -> Round {
        script::round(source, work, items).unwrap()
    }

    #[test]
    fn streams_run_at_once_as_far_as_sms_engines_and_events_let_them() {
        let advances = "for i in 0..N { advance(i, i); }";
        for (source, work, share, us) in [
            // The host waits for a stream before it issues what follows.
            (
                "advance(0, 0); synchronize(0); advance(1, 1);",
                Work::Lattices,
                0.1,
                60,
            ),
            // One stream takes the sum, and small kernels of several run at once.
            (
                "for i in 0..N { advance(i, 0); download(i, 0); }",
                Work::Lattices,
                0.2,
                120,
            ),
            (advances, Work::Lattices, 0.3, 30),
            // Kernels wait for SMs and copies for the engine.
            (advances, Work::Lattices, 1.0, 90),
            (advances, Work::Lattices, 0.5, 60),
            ("for i in 0..N { download(i, i); }", Work::Lattices, 1.0, 30),
            ("advance(0, 0); download(1, 1);", Work::Lattices, 1.0, 30),
            ("upload(0, 0); download(1, 1);", Work::Arrays, 1.0, 10),
            (
                "advance(0, 0); record(0, 0); wait(0, 1); download(1, 1);",
                Work::Lattices,
                0.1,
                40,
            ),
        ] {
            let items = if source.contains('N') { 3 } else { 2 };
            let predicted = predict(&round(source, work, items), &times(share, 0));
            assert_eq!(
                predicted.length(),
                Some(Nanos(1000 * us)),
                "{source}, {share}"
            );
        }
    }

    #[test]
    fn a_round_is_compared_with_a_built_in_order() {
        let factor = |source: &str, before, call_us| {
            let round = round(source, Work::Lattices, 4);
            predicted_factor(&round, before, 4, &times(0.1, call_us)).unwrap()
        };
        let breadth = "for i in 0..N { advance(i, i); } for i in 0..N { download(i, i); }";
        assert_eq!(factor(breadth, Order::Breadth, 1), 1.0);
        let depth = "for i in 0..N { advance(i, i); download(i, i); }";
        assert_eq!(factor(depth, Order::Depth, 1), 1.0);
        assert!(
            factor(depth, Order::Breadth, 20) < 1.0,
            "its kernels are issued later"
        );
        let one = "for i in 0..N { advance(i, 0); download(i, 0); }";
        assert!(factor(one, Order::Breadth, 1) < 0.6);
    }
}
