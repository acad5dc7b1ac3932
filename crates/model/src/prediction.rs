//! When a round's work would run, predicted from the times that each op takes alone.
//!
//! # What it leaves out
//! Ops slow one another down only by the SMs: they share no caches, memory bandwidth or power. A kernel
//! runs at its full speed or waits until its share of the SMs is free; blocks of two kernels do not mix.
//! Copies never slow kernels. The bus carries one copy a direction. A call of the host takes always the
//! same time, and queues are as many as streams.

use std::collections::HashMap;

use crate::trace::{EventUse, StepFacts, StepKind};
use engine::{Nanos, Span};

/// An op of a round that is to be predicted.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PredictedOp {
    /// What it is, and in which stream.
    pub facts: StepFacts,
    /// How long it takes alone; nothing for events and waits of the host.
    pub took: Nanos,
    /// Which part of the SMs it keeps busy, from 0 to 1.
    pub share: f64,
}

/// A round as it is predicted.
#[derive(Clone, PartialEq, Debug)]
pub struct Prediction {
    /// When each op runs, in the order of the calls, from the first call on.
    pub spans: Vec<Span>,
    /// When the host is inside each call.
    pub host: Vec<Span>,
    /// From the first call to the end of the last op.
    pub round: Nanos,
}

impl Prediction {
    /// Of ops in the order of the host's calls, each of which takes `call`.
    pub fn of(ops: &[PredictedOp], call: Nanos) -> Prediction {
        let (mut host_free, mut streams) = (0, HashMap::new());
        let (mut events, mut engines) = (HashMap::new(), [0; 2]);
        let mut kernels: Vec<(Span, f64)> = Vec::new();
        let (mut spans, mut host) = (Vec::new(), Vec::new());
        for (op, step) in ops.iter().zip(0..) {
            let stream = op.facts.stream;
            let issued = host_free + call.0;
            let free = streams.entry(stream).or_insert(0);
            let ready = issued.max(*free);
            let (start, took) = match (op.facts.kind, op.facts.event) {
                (_, Some(EventUse::Record(event))) => {
                    events.insert(event, ready);
                    (ready, 0)
                }
                (_, Some(EventUse::Wait(event))) => {
                    let recorded = events.get(&event).copied().unwrap_or(0);
                    (ready.max(recorded), 0)
                }
                (StepKind::Wait, _) => (ready, 0),
                (StepKind::Download | StepKind::Upload, _) => {
                    let engine = &mut engines[usize::from(op.facts.kind == StepKind::Upload)];
                    let start = ready.max(*engine);
                    *engine = start + op.took.0;
                    (start, op.took.0)
                }
                (StepKind::Launch | StepKind::Support | StepKind::Event, _) => {
                    (earliest(&kernels, ready, op), op.took.0)
                }
            };
            let span = |start, end| Span {
                step,
                stream,
                start: Nanos(start),
                end: Nanos(end),
            };
            let of_op = span(start, start + took);
            *free = of_op.end.0;
            if matches!(op.facts.kind, StepKind::Launch | StepKind::Support) {
                kernels.push((of_op, op.share));
            }
            let returns = match op.facts.kind {
                StepKind::Wait => of_op.end.0,
                _ => issued,
            };
            host.push(span(host_free, returns));
            spans.push(of_op);
            host_free = returns;
        }
        let ends = spans.iter().chain(&host).map(|span| span.end);
        let round = ends.max().unwrap_or(Nanos(0));
        Prediction { spans, host, round }
    }
}

/// When an op that is ready finds its share of the SMs free until it ends: at once, or when another
/// kernel ends.
fn earliest(kernels: &[(Span, f64)], ready: i64, op: &PredictedOp) -> i64 {
    const ROUNDING: f64 = 1e-9;
    let busy_at = |at: i64| -> f64 {
        let runs = |(span, _): &&(Span, f64)| (span.start.0..span.end.0).contains(&at);
        kernels.iter().filter(runs).map(|(_, share)| share).sum()
    };
    let fits = |start: i64| {
        let begin = kernels.iter().map(|(span, _)| span.start.0);
        let within = begin.filter(|&at| at > start && at < start + op.took.0);
        let mut points = std::iter::once(start).chain(within);
        points.all(|at| busy_at(at) == 0.0 || busy_at(at) + op.share <= 1.0 + ROUNDING)
    };
    let ends = kernels.iter().map(|(span, _)| span.end.0);
    let mut starts: Vec<i64> = ends.filter(|&end| end > ready).chain([ready]).collect();
    starts.sort_unstable();
    let found = starts.iter().copied().find(|&start| fits(start));
    found.unwrap_or(ready)
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::{EventId, StreamId};

    fn op(kind: StepKind, stream: u32, us: i64, share: f64) -> PredictedOp {
        PredictedOp {
            facts: StepFacts {
                label: "op",
                kind,
                stream: StreamId(stream),
                instance: Some(stream),
                instances: 1,
                cells: 0,
                bytes: 0,
                event: None,
            },
            took: Nanos(1000 * us),
            share,
        }
    }

    fn kernel(stream: u32, us: i64, share: f64) -> PredictedOp {
        op(StepKind::Launch, stream, us, share)
    }

    fn copy(stream: u32, us: i64) -> PredictedOp {
        op(StepKind::Download, stream, us, 0.0)
    }

    fn event(stream: u32, event: EventUse) -> PredictedOp {
        let mut op = op(StepKind::Event, stream, 0, 0.0);
        op.facts.event = Some(event);
        op
    }

    fn round_us(ops: &[PredictedOp]) -> f64 {
        Prediction::of(ops, Nanos(0)).round.as_us()
    }

    #[test]
    fn one_stream_takes_the_sum_and_small_kernels_of_several_the_longest() {
        let one = [kernel(0, 30, 0.2), copy(0, 10), kernel(0, 5, 0.2)];
        assert_eq!(round_us(&one), 45.0);
        let several = [0, 1, 2].map(|stream| kernel(stream, 30 + i64::from(stream), 0.3));
        assert_eq!(round_us(&several), 32.0);
    }

    #[test]
    fn kernels_wait_for_sms_and_copies_for_the_engine() {
        let full = [0, 1, 2].map(|stream| kernel(stream, 10, 1.0));
        assert_eq!(round_us(&full), 30.0);
        let halves = [0, 1, 2].map(|stream| kernel(stream, 10, 0.5));
        assert_eq!(round_us(&halves), 20.0);
        let copies = [0, 1, 2].map(|stream| copy(stream, 10));
        assert_eq!(round_us(&copies), 30.0);
        let both_ways = [copy(0, 10), op(StepKind::Upload, 1, 10, 0.0)];
        assert_eq!(round_us(&both_ways), 10.0);
        assert_eq!(round_us(&[kernel(0, 10, 1.0), copy(1, 10)]), 10.0);
    }

    #[test]
    fn an_event_orders_and_the_host_waits() {
        let behind = [
            kernel(0, 20, 0.1),
            event(0, EventUse::Record(EventId(0))),
            event(1, EventUse::Wait(EventId(0))),
            copy(1, 10),
        ];
        assert_eq!(round_us(&behind), 30.0);
        let without = [behind[0], behind[3]];
        assert_eq!(round_us(&without), 20.0);
        let waits = [
            kernel(0, 20, 0.1),
            op(StepKind::Wait, 0, 0, 0.0),
            kernel(1, 10, 0.1),
        ];
        let predicted = Prediction::of(&waits, Nanos(1000));
        assert_eq!(predicted.spans[2].start, Nanos(22_000));
        assert_eq!(predicted.host[1].end, Nanos(21_000));
        assert_eq!(predicted.round, Nanos(32_000));
    }
}
