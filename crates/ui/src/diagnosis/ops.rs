//! The ops of a timed round: when each was issued, could run, and ran.

use std::collections::HashMap;

use engine::{EventId, Nanos, Span, StreamId};
use session::IsolatedOp;
use session::trace::{EventUse, StepFacts, StepKind, TimedRound};

/// An op of a timed round. Times are nanoseconds on the round's clock.
pub(crate) struct TimedOp<'a> {
    pub(crate) facts: &'a StepFacts,
    pub(crate) device: usize,
    /// When the host had issued it.
    pub(super) issued: i64,
    /// From when on it could run: it was issued, the op before it in its stream was over, and what the
    /// stream's events wait for, too.
    pub(super) ready: i64,
    /// Whether an event was the last that it waited for.
    pub(super) waits_for_event: bool,
    pub(super) start: i64,
    pub(super) end: i64,
    /// Whether it was also run alone, so that the next two are known.
    pub(super) is_measured: bool,
    /// The time that it takes by itself, in microseconds.
    pub(crate) own_us: f64,
    /// Which part of the device's units it keeps busy, from 0 to 1.
    pub(crate) share: f64,
    /// Which part of its time was lost to something that is no part of the round, from 0 to 1.
    pub(super) delayed: f64,
}

impl TimedOp<'_> {
    /// The ops of a round, in the order in which they were issued. Without the times of each op alone
    /// (they are of another setting, or not measured), what they take here counts as their own.
    pub(super) fn of<'a>(round: &'a TimedRound, isolated: &[IsolatedOp]) -> Vec<TimedOp<'a>> {
        let isolated: HashMap<StepFacts, &IsolatedOp> =
            isolated.iter().map(|op| (op.facts, op)).collect();
        let issued = issue_times(round);
        let spans: HashMap<u32, &Span> = round.spans.iter().map(|it| (it.step, it)).collect();
        // When the op before in a stream is over, and what its events wait for.
        let mut ends: HashMap<StreamId, i64> = HashMap::new();
        let mut recorded: HashMap<EventId, i64> = HashMap::new();
        let mut awaited: HashMap<StreamId, i64> = HashMap::new();
        let mut ops = Vec::new();
        for (step, facts) in (0..).zip(&*round.steps) {
            match facts.event {
                Some(EventUse::Record(event)) => {
                    let before = [&ends, &awaited].map(|it| it.get(&facts.stream).copied());
                    recorded.extend(before.into_iter().flatten().max().map(|end| (event, end)));
                }
                Some(EventUse::Wait(event)) => {
                    if let Some(&end) = recorded.get(&event) {
                        let until = awaited.entry(facts.stream).or_insert(end);
                        *until = end.max(*until);
                    }
                }
                None => {}
            }
            let Some(span) = spans.get(&step) else {
                continue;
            };
            if matches!(facts.kind, StepKind::Event | StepKind::Wait) {
                continue;
            }
            let alone = isolated.get(facts).copied().copied();
            let alone = alone.or_else(|| isolated.values().find_map(|it| scaled(it, facts)));
            let (start, length_us) = (span.start.0, span.length().as_us());
            // A call may return after its op has begun.
            let issued = issued[span.step as usize].min(start);
            let before = ends.insert(facts.stream, span.end.0);
            let event = awaited.remove(&facts.stream);
            let last = before
                .max(event)
                .map_or(issued, |end| end.clamp(issued, start));
            ops.push(TimedOp {
                facts,
                device: alone.map_or(0, |op| usize::from(op.device.0)),
                issued,
                ready: last,
                waits_for_event: event > before && last > issued,
                start,
                end: span.end.0.max(start),
                is_measured: alone.is_some(),
                own_us: alone.map_or(length_us, |op| op.took.as_us().min(length_us)),
                share: alone.map_or(0.0, |op| op.share),
                delayed: 0.0,
            });
        }
        find_delays(&mut ops);
        ops
    }

    pub(super) fn is_kernel(&self) -> bool {
        matches!(self.facts.kind, StepKind::Launch | StepKind::Support)
    }
}

/// When the host had issued each step. A call for several steps issues all up to the next call.
fn issue_times(round: &TimedRound) -> Vec<i64> {
    let mut host: Vec<&Span> = round.host.iter().collect();
    host.sort_by_key(|span| span.start);
    let mut issued = vec![i64::MIN; round.steps.len()];
    let mut next = 0;
    for (at, call) in host.iter().enumerate() {
        let (first, last) = if call.step == Span::WHOLE {
            let following = host[at + 1..].iter().find(|it| it.step != Span::WHOLE);
            let last = following.map_or(issued.len(), |it| it.step as usize);
            (next, last.min(issued.len()))
        } else {
            let step = call.step as usize;
            (step, (step + 1).min(issued.len()))
        };
        if let Some(steps) = issued.get_mut(first..last) {
            steps.fill(call.end.0);
        }
        next = last;
    }
    issued
}

/// An op that shares the device with no other op of the round, and yet takes longer than alone, is
/// delayed from outside.
fn find_delays(ops: &mut [TimedOp<'_>]) {
    let mut by_start: Vec<usize> = (0..ops.len()).collect();
    by_start.sort_by_key(|at| ops[*at].start);
    let mut busy_until = i64::MIN;
    for (place, &at) in by_start.iter().enumerate() {
        let next = by_start.get(place + 1).map(|next| ops[*next].start);
        let op = &mut ops[at];
        let is_by_itself = busy_until <= op.start && next.is_none_or(|next| next >= op.end);
        busy_until = busy_until.max(op.end);
        let length_us = (op.end - op.start) as f64 / 1e3;
        if is_by_itself && length_us > 0.0 {
            op.delayed = 1.0 - op.own_us / length_us;
        }
    }
}

/// What a launch takes alone that steps the same band on the same GPU for more or fewer generations: how
/// many, differs from round to round with the age of the halos.
fn scaled(op: &IsolatedOp, facts: &StepFacts) -> Option<IsolatedOp> {
    let (of, cells) = (op.facts, op.facts.cells);
    let same = StepFacts { cells, ..*facts } == of && of.gpu.is_some();
    let took = Nanos((op.took.0 as f64 * facts.cells as f64 / cells as f64) as i64);
    (same && of.kind == StepKind::Launch).then_some(IsolatedOp {
        facts: *facts,
        took,
        ..*op
    })
}
