//! Whether what an engine was given orders all work on a lattice: by streams, by events, or by the host.

use std::collections::HashMap;

use crate::scripted_engine::Issued;
use engine::{EventId, Op, OrderOp, Scope, StreamId};

/// How far each stream has come, as another one knows.
type Clock = HashMap<StreamId, u32>;

fn learn(clock: &mut Clock, other: &Clock) {
    for (&stream, &count) in other {
        let known = clock.entry(stream).or_default();
        *known = count.max(*known);
    }
}

/// Checks that every two ops on one lattice are ordered.
pub(super) fn check_order(all: &[Issued]) {
    let mut streams: HashMap<StreamId, Clock> = HashMap::new();
    let mut events: HashMap<EventId, Clock> = HashMap::new();
    let mut host = Clock::new();
    let mut last: HashMap<u32, (StreamId, u32, &str)> = HashMap::new();
    for Issued {
        program, is_graph, ..
    } in all
    {
        if program.steps.is_empty() || *is_graph {
            // What comes before a graph is done before it, and so on.
            streams.values().for_each(|clock| learn(&mut host, clock));
        }
        for step in program.steps.iter().filter(|_| !is_graph) {
            let clock = streams.entry(step.stream).or_default();
            learn(clock, &host);
            let count = clock.entry(step.stream).or_default();
            *count += 1;
            let count = *count;
            match step.op {
                Op::Order(OrderOp::Record(event)) => drop(events.insert(event, clock.clone())),
                Op::Order(OrderOp::Wait(event)) => learn(clock, &events[&event]),
                Op::Order(OrderOp::Synchronize(Scope::Stream)) => learn(&mut host, clock),
                _ => {}
            }
            for lattice in step.op.lattices() {
                let now = (step.stream, count, step.op.label());
                if let Some(before) = last.insert(lattice, now) {
                    let known = clock.get(&before.0).copied().unwrap_or(0);
                    let is_ordered = known >= before.1;
                    assert!(
                        is_ordered,
                        "{now:?} is not behind {before:?} on lattice {lattice}"
                    );
                }
            }
        }
    }
}
