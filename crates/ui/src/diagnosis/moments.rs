//! Walks through a timed round moment by moment, and charges each to what keeps ops from overlapping.

use super::{CHARGED, Cause, Cause::*, Diagnosis};
use engine::{EventId, HostMemory, Nanos, Span, StreamId};
use session::IsolatedOp;
use session::trace::{EventUse, StepFacts, StepKind, StepKind::*, TimedRound};
use std::collections::HashMap;

/// The time charged to one thing.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Tally {
    /// How long it kept ops from overlapping, in nanoseconds.
    pub ns: f64,
    /// Demand as a multiple of what is available, times how long it lasted in nanoseconds, summed.
    demand: f64,
}

impl Tally {
    /// Demand as a multiple of what is available, on average over that time.
    pub(super) fn demand(&self) -> f64 {
        self.demand / self.ns.max(1.0)
    }
}

/// A round as the sum of its moments.
#[derive(Clone, Debug, Default)]
pub(super) struct Moments {
    tallies: [Tally; CHARGED.len()],
    /// The time in which an op ran, and in which ops of several streams did, in nanoseconds.
    busy: f64,
    overlapping: f64,
}

use Host::*;
use Phase::*;

/// From this time on, in nanoseconds, a host between two calls does not merely prepare the next one.
const LONG_GAP: i64 = 20_000;

impl Moments {
    pub(super) fn of(ops: &[TimedOp<'_>], of: &Diagnosis) -> Moments {
        let round = &of.round;
        let mut changes: Vec<(i64, Change)> = Vec::new();
        for (at, op) in ops.iter().enumerate() {
            let times = [op.issued, op.ready, op.start, op.end];
            let phases = Phase::ALL.windows(2).zip(times);
            changes.extend(phases.map(|(it, time)| (time, Change::Op(at, [it[0], it[1]]))));
        }
        let mut host: Vec<&Span> = round.host.iter().collect();
        host.sort_by_key(|span| span.start);
        for (at, call) in host.iter().enumerate() {
            changes.push((call.start.0, Change::Host(Inside(round.kind(call)))));
            let gap = host.get(at + 1).map_or(0, |next| next.start.0 - call.end.0);
            let after = if gap >= LONG_GAP { Away } else { Between };
            changes.push((call.end.0, Change::Host(after)));
        }
        // Sorted stably: what happens to an op at one time happens in this order.
        changes.sort_by_key(|(time, _)| *time);
        let mut moments = Moments::default();
        let mut state = State::new(ops, of);
        let mut now = changes.first().map_or(0, |(time, _)| *time);
        for (time, change) in changes {
            moments.add((time - now) as f64, &state, of);
            now = time;
            state.apply(change, ops);
        }
        moments
    }

    /// The time charged to this.
    pub(super) fn tally(&self, cause: Cause) -> Tally {
        self.tallies[cause as usize]
    }

    /// Of the time in which ops run, the part in which ops of several streams do, from 0 to 1.
    pub(super) fn overlapping(&self) -> f64 {
        self.overlapping / self.busy.max(1.0)
    }

    fn add(&mut self, ns: f64, state: &State, of: &Diagnosis) {
        if state.running > 0 {
            self.busy += ns;
        }
        if state.running > 1 {
            self.overlapping += ns;
        }
        if state.left.is_empty() {
            return;
        }
        let outside = if state.running == 1 {
            state.delayed * ns
        } else {
            0.0
        };
        self.charge(of.delay(), outside, 1.0);
        if let Some((cause, demand)) = state.charge(of) {
            self.charge(cause, ns - outside, demand);
        }
    }

    fn charge(&mut self, cause: Cause, ns: f64, demand: f64) {
        let tally = &mut self.tallies[cause as usize];
        tally.ns += ns;
        tally.demand += ns * demand;
    }
}

#[derive(Clone, Copy)]
enum Change {
    /// The op of this place goes from one phase to the next.
    Op(usize, [Phase; 2]),
    Host(Host),
}

#[derive(Clone, Copy)]
enum Phase {
    Unissued,
    /// Issued, behind others of its stream or an event.
    Waiting,
    /// Nothing that it waits for is left.
    Ready,
    Running,
    Over,
}

impl Phase {
    const ALL: [Phase; 5] = [Unissued, Waiting, Ready, Running, Over];
}

/// Where the host is.
#[derive(Clone, Copy, PartialEq, Default)]
enum Host {
    /// In a call for a step of this kind, or for several.
    Inside(Option<StepKind>),
    /// Between two calls.
    #[default]
    Between,
    /// Elsewhere, for so long that the next call comes late.
    Away,
}

/// What a device does at a moment.
#[derive(Clone, Default)]
struct Load {
    /// The units that running kernels need, and that those need that could run; 1 is all there are.
    units: f64,
    waiting_units: f64,
    uploads: i32,
    downloads: i32,
}

/// What is so at a moment.
#[derive(Default)]
struct State {
    /// The ops left of each instance.
    left: HashMap<Option<u32>, i32>,
    unissued: i32,
    unissued_launches: i32,
    /// Issued, behind another op of the same stream.
    behind: i32,
    /// Issued, and waiting for an event of another stream.
    awaiting: i32,
    ready: i32,
    /// Those of them that do not start for long.
    stuck: i32,
    running: i32,
    running_kernels: i32,
    /// Which part of the time of the running ops is lost to something outside.
    delayed: f64,
    devices: Vec<Load>,
    host: Host,
    /// From this time on, in nanoseconds, an op that could run does not merely take its time to start.
    stuck_after: i64,
}

impl State {
    fn new(ops: &[TimedOp<'_>], of: &Diagnosis) -> State {
        let devices = ops.iter().map(|op| op.device + 1).max().unwrap_or(1);
        let mut state = State {
            devices: vec![Load::default(); devices],
            // A CPU's worker has to wake up.
            stuck_after: if of.is_cpu { 200_000 } else { 20_000 },
            ..State::default()
        };
        for op in ops {
            *state.left.entry(op.facts.instance).or_default() += 1;
            state.count(op, Unissued, 1);
        }
        state
    }

    fn apply(&mut self, change: Change, ops: &[TimedOp<'_>]) {
        match change {
            Change::Host(host) => self.host = host,
            Change::Op(at, [from, to]) => {
                self.count(&ops[at], from, -1);
                self.count(&ops[at], to, 1);
            }
        }
    }

    /// One more op is in this phase, or one less.
    fn count(&mut self, op: &TimedOp<'_>, phase: Phase, more: i32) {
        let (load, kind) = (&mut self.devices[op.device], op.facts.kind);
        match phase {
            Unissued => {
                self.unissued += more;
                self.unissued_launches += more * i32::from(kind == Launch);
            }
            Waiting if op.waits_for_event => self.awaiting += more,
            Waiting => self.behind += more,
            Ready => {
                self.ready += more;
                self.stuck += more * i32::from(op.start - op.ready >= self.stuck_after);
                load.waiting_units += f64::from(more) * op.share;
            }
            Running => {
                match kind {
                    Launch | Support => self.running_kernels += more,
                    Upload => load.uploads += more,
                    Download => load.downloads += more,
                    _ => {}
                }
                self.running += more;
                self.delayed += f64::from(more) * op.delayed;
                load.units += f64::from(more) * op.share;
            }
            Over => {
                let left = self.left.entry(op.facts.instance).or_default();
                *left -= more;
                if *left == 0 {
                    self.left.remove(&op.facts.instance);
                }
            }
        }
    }

    /// What this moment is charged to, and the demand as a multiple of what is available.
    fn charge(&self, of: &Diagnosis) -> Option<(Cause, f64)> {
        for load in &self.devices {
            let waiting = if of.is_cpu { load.waiting_units } else { 0.0 };
            let demand = load.units + waiting;
            if load.units > 0.95 && demand > 1.05 {
                return Some((UnitsFull, demand));
            }
        }
        let queued = |load: &Load| {
            if of.copy_engines == 1 {
                load.uploads + load.downloads
            } else {
                load.uploads.max(load.downloads)
            }
        };
        let queued = self.devices.iter().map(queued).max().map_or(0.0, f64::from);
        if queued >= 2.0 && self.running_kernels == 0 && !of.is_cpu {
            return Some((CopyEngine, queued));
        }
        if self.running > 1 {
            return None;
        }
        let cause = if of.shares_streams && self.left.len() > 1 && self.behind > 0 {
            SharedStream
        } else if self.awaiting > 0 {
            Events
        } else if self.stuck > 0 && of.lacks_queues() {
            FewQueues
        } else if self.stuck > 0 {
            of.delay()
        } else if self.unissued > 0 {
            self.charge_host(of)
        } else if self.ready > 0 {
            ShortKernels
        } else {
            LongestStream
        };
        Some((cause, 1.0))
    }

    /// What the host does while there is more to issue.
    fn charge_host(&self, of: &Diagnosis) -> Cause {
        let Inside(kind) = self.host else {
            return match self.host {
                Away => Delayed,
                _ => Calls,
            };
        };
        let switches = of.round.switches;
        let is_pageable = switches.host_memory == HostMemory::Pageable;
        match kind {
            Some(Wait) => HostWaits,
            Some(Upload | Download) if is_pageable && !of.is_cpu => PageableCopies,
            Some(Launch) | None => Calls,
            Some(_) => {
                let launches_wait = self.unissued_launches > 0 && !of.is_bound_by_calls();
                if switches.order.is_depth_first() && launches_wait {
                    IssueOrder
                } else {
                    Calls
                }
            }
        }
    }
}

// The ops of a timed round: when each was issued, could run, and ran.

/// An op of a timed round. Times are nanoseconds on the round's clock.
pub(crate) struct TimedOp<'a> {
    pub facts: &'a StepFacts,
    pub device: usize,
    /// When the host had issued it.
    pub issued: i64,
    /// From when on it could run: it was issued, the op before it in its stream was over, and what the
    /// stream's events wait for, too.
    pub ready: i64,
    /// Whether an event was the last that it waited for.
    pub waits_for_event: bool,
    pub start: i64,
    pub end: i64,
    /// Whether it was also run alone, so that the next two are known.
    pub is_measured: bool,
    /// The time that it takes by itself, in microseconds.
    pub own_us: f64,
    /// Which part of the device's units it keeps busy, from 0 to 1.
    pub share: f64,
    /// Which part of its time was lost to something that is no part of the round, from 0 to 1.
    pub delayed: f64,
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
            if matches!(facts.kind, Event | Wait) {
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
    (same && of.kind == Launch).then_some(IsolatedOp {
        facts: *facts,
        took,
        ..*op
    })
}
