//! What is wrong with a round.

use crate::{Call, CallKind, Place, Round, ScriptError, Work, interpreter};
use lang::{Message, message};
use std::collections::{HashMap, HashSet};

#[cfg(test)]
mod tests;

/// The most faults that a check finds before it gives up.
pub const MAX_FAULTS: usize = 1000;

/// What an exercise asks of a round beside being right.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Requirement {
    /// The first call's work is over before the second's begins.
    Before(CallKind, CallKind),
    /// The work of both may run at the same time.
    Concurrent(CallKind, CallKind),
    /// The host makes the first call before the second.
    IssuedBefore(CallKind, CallKind),
    /// At most so many calls record an event.
    MaxRecords(u32),
    /// At most so many streams have work.
    MaxStreams(u32),
    /// The host does not wait.
    NoSynchronize,
}

/// Something that is wrong with a round.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Fault {
    /// What kind it is, as files say it.
    pub name: &'static str,
    /// The indices of the calls that it is about, at most two, beginning with the one that is to be changed.
    pub calls: Vec<usize>,
    /// Where in the script they are.
    pub places: Vec<Place>,
    /// A sentence about it, and what to do.
    pub message: Message,
}

impl Fault {
    /// Whether it is that the first of two calls does not wait for the second.
    pub fn lacks_order(&self) -> bool {
        matches!(self.name, "race" | "not-before")
    }
}

/// What is wrong with a round of so many items: nothing if it is right.
///
/// Every item has each of its calls once, in the order of the data and with nothing that could let them
/// overlap; every wait is for an event that was recorded before it; and the requirements are met. Calls
/// that are wrong come first, then calls that lack, then requirements.
///
/// Costs `streams` steps for each call, and as many numbers for each event that is recorded: at most 270 MB.
pub fn check(round: &Round, items: u32, work: Work, requirements: &[Requirement]) -> Vec<Fault> {
    let mut first = HashMap::new();
    for (index, call) in round.calls.iter().enumerate() {
        first.entry(call.kind).or_insert(index);
    }
    let mut check = Check {
        round,
        work,
        first,
        users: HashMap::new(),
        order: HappensBefore::new(round.streams()),
        ordered: HashSet::new(),
        faults: Vec::new(),
    };
    let questions = requirements.iter().filter_map(|it| check.question(*it));
    let questions: Vec<_> = questions.collect();
    for (index, call) in round.calls.iter().enumerate() {
        check.order.push(call);
        check.push(index);
        for &(earlier, later) in &questions {
            if later == index && check.is_before(earlier, later) {
                check.ordered.insert((earlier, later));
            }
        }
        if check.faults.len() >= MAX_FAULTS {
            break;
        }
    }
    check.find_missing(items);
    for requirement in requirements {
        let unmet = check.unmet(*requirement);
        check.faults.extend(unmet);
    }
    check.faults.truncate(MAX_FAULTS);
    check.faults
}

struct Check<'a> {
    round: &'a Round,
    work: Work,
    /// The first of each call.
    first: HashMap<CallKind, usize>,
    /// The calls so far that use an item. More than a few of one item are faults, of which there is a
    /// limit.
    users: HashMap<u32, Vec<usize>>,
    order: HappensBefore,
    /// Pairs of calls that requirements are about, of which the later one's work waits for the earlier
    /// one's. That is known while the later one is the newest.
    ordered: HashSet<(usize, usize)>,
    faults: Vec<Fault>,
}

impl Check<'_> {
    /// A fault of these calls, if any.
    fn fault(&self, name: &'static str, calls: &[usize], message: Message) -> Fault {
        let places = calls.iter().map(|&index| self.round.calls[index].place);
        Fault {
            name,
            places: places.collect(),
            calls: calls.into(),
            message,
        }
    }

    /// Whether the work of an earlier call is over before the newest call's begins.
    fn is_before(&self, earlier: usize, newest: usize) -> bool {
        let [from, to] = [earlier, newest].map(|index| self.round.calls[index].stream as usize);
        from == to || self.order.streams[to][from] as usize > earlier
    }

    /// Checks the newest call against those before it.
    fn push(&mut self, newest: usize) {
        let kind = self.round.calls[newest].kind;
        if let CallKind::Wait(event) = kind
            && !self.order.events.contains_key(&event)
        {
            let (line, does) = self.said(newest);
            let fault = match self.first.get(&CallKind::Record(event)) {
                None => self.fault(
                    "not-recorded",
                    &[newest],
                    message!(
                        "Line {line} {does}, which is never recorded, so it waits for nothing."
                    ),
                ),
                Some(&record) => self.fault(
                    "not-recorded",
                    &[newest, record],
                    message!(
                        "Line {line} {does}, which line {record} records only later, so it waits for nothing. Record the event first.",
                        record = self.round.calls[record].place.line
                    ),
                ),
            };
            self.faults.push(fault);
        }
        let Some((stage, item)) = kind.item() else {
            return;
        };
        if self.first[&kind] < newest {
            let first = self.first[&kind];
            let ((again, does), (line, did)) = (self.said(newest), self.said(first));
            let message = message!(
                "Line {again} {does}, although line {first} already {did}. Remove one of them.",
                first = line
            );
            let fault = self.fault("repeated", &[newest, first], message);
            self.faults.push(fault);
        }
        // Any two calls use the same memory of the item, and all but two downloads' one writes there;
        // those write the same memory of the host.
        let users = self.users.entry(item).or_default();
        users.push(newest);
        let earlier = users[..users.len() - 1].to_vec();
        for earlier in earlier {
            if !self.is_before(earlier, newest) {
                self.faults.push(self.race(earlier, newest));
            } else if self.round.calls[earlier].kind.item() > Some((stage, item)) {
                let ((early, does), (late, needed)) = (self.said(earlier), self.said(newest));
                let message = message!(
                    "Line {early} {does} before line {late} {needed}. Issue line {late} first."
                );
                let fault = self.fault("too-early", &[earlier, newest], message);
                self.faults.push(fault);
            }
        }
    }

    /// Finds items that lack a call.
    fn find_missing(&mut self, items: u32) {
        for kind in self.work.calls() {
            let mut lack = (0..items).filter(|item| !self.first.contains_key(&kind(*item)));
            if let Some(item) = lack.next() {
                let fault = match (kind(item), self.work) {
                    (CallKind::Upload(_), _) => message!("Chunk {item} is never uploaded."),
                    (CallKind::Scale(_), _) => message!("Chunk {item} is never scaled."),
                    (CallKind::Download(_), Work::Arrays) => {
                        message!("Chunk {item} is never downloaded.")
                    }
                    (CallKind::Download(_), Work::Lattices) => {
                        message!("Instance {item} is never downloaded.")
                    }
                    _ => message!("Instance {item} is never advanced."),
                };
                let message = match lack.count() {
                    0 => fault,
                    others => message!("{fault} The same goes for {others} more."),
                };
                let missing = self.fault("missing", &[], message);
                self.faults.push(missing);
            }
        }
    }

    /// The calls that a requirement is about, if both are made: the one that is made first, and the other.
    fn question(&self, requirement: Requirement) -> Option<(usize, usize)> {
        let (Requirement::Before(a, b) | Requirement::Concurrent(a, b)) = requirement else {
            return None;
        };
        let (a, b) = self.both(a, b)?;
        Some((a.min(b), a.max(b)))
    }

    fn both(&self, a: CallKind, b: CallKind) -> Option<(usize, usize)> {
        Some((*self.first.get(&a)?, *self.first.get(&b)?))
    }

    /// A requirement's fault, if any. Calls that are not made have their own.
    fn unmet(&self, requirement: Requirement) -> Option<Fault> {
        let fault = match requirement {
            Requirement::Before(a, b) => {
                let (a, b) = self
                    .both(a, b)
                    .filter(|pair| !self.ordered.contains(pair))?;
                let ((first, other), (second, does)) = (self.said(a), self.said(b));
                self.fault(
                    "not-before",
                    &[b, a],
                    message!(
                        "Line {second} {does}, and must wait for line {first}, which {other}."
                    ),
                )
            }
            Requirement::Concurrent(..) => {
                let pair = self.question(requirement);
                let (a, b) = pair.filter(|pair| self.ordered.contains(pair))?;
                let ((first, other), (second, does)) = (self.said(a), self.said(b));
                self.fault(
                    "not-concurrent",
                    &[b, a],
                    message!("Line {second} {does}, and waits for line {first}, which {other}. Let both run at the same time."),
                )
            }
            Requirement::IssuedBefore(a, b) => {
                let (a, b) = self.both(a, b).filter(|(a, b)| a > b)?;
                let ((first, does), (second, other)) = (self.said(a), self.said(b));
                self.fault(
                    "not-issued-before",
                    &[a, b],
                    message!("Line {first} {does}, and must be issued before line {second}, which {other}."),
                )
            }
            Requirement::MaxRecords(max) => {
                let records = self.indices(|call| matches!(call.kind, CallKind::Record(_)));
                let at = *records.get(max as usize)?;
                let (line, does) = self.said(at);
                self.fault(
                    "too-many-records",
                    &[at],
                    message!(
                        "Line {line} {does}. Records of events: {records}; use at most {max}.",
                        records = records.len()
                    ),
                )
            }
            Requirement::MaxStreams(max) => {
                let first = self.first_in_streams();
                let at = *first.get(max as usize)?;
                let (line, does) = self.said(at);
                self.fault(
                    "too-many-streams",
                    &[at],
                    message!(
                        "Line {line} {does}. Streams with work: {streams}; use at most {max}.",
                        streams = first.len()
                    ),
                )
            }
            Requirement::NoSynchronize => {
                let at = *self.first.get(&CallKind::Synchronize)?;
                let (line, does) = self.said(at);
                self.fault(
                    "synchronizes",
                    &[at],
                    message!("Line {line} {does}; do without synchronize here."),
                )
            }
        };
        Some(fault)
    }

    /// Two calls that use the same item, and nothing orders their work.
    fn race(&self, first: usize, second: usize) -> Fault {
        let calls = [first, second].map(|index| self.round.calls[index]);
        let [from, to] = calls.map(|call| call.stream);
        let [earlier, later] = calls.map(|call| call.kind.item());
        let ((line, does), (other_line, other)) = (self.said(first), self.said(second));
        // A download that is issued before its kernel cannot wait for it.
        let message = if earlier > later {
            message!(
                "Line {early} {does}, and nothing orders it after line {late}, which {needed}. Issue line {late} first, record an event in stream {from} after it, and make stream {to} wait for it.",
                early = line,
                late = other_line,
                needed = other,
                from = to,
                to = from
            )
        } else {
            message!(
                "Line {second} {does}, and nothing orders it after line {first}, which {other}. Record an event in stream {from} after line {first}, and make stream {to} wait for it.",
                second = other_line,
                does = other,
                first = line,
                other = does
            )
        };
        self.fault("race", &[second, first], message)
    }

    /// The line of a call, and what it does, for a sentence.
    fn said(&self, index: usize) -> (u32, Message) {
        let Call {
            kind,
            stream,
            place,
        } = self.round.calls[index];
        let does = match (kind, self.work) {
            (CallKind::Advance(item), _) => {
                message!("advances instance {item} in stream {stream}")
            }
            (CallKind::Download(item), Work::Lattices) => {
                message!("downloads instance {item} in stream {stream}")
            }
            (CallKind::Download(item), Work::Arrays) => {
                message!("downloads chunk {item} in stream {stream}")
            }
            (CallKind::Upload(item), _) => message!("uploads chunk {item} in stream {stream}"),
            (CallKind::Scale(item), _) => message!("scales chunk {item} in stream {stream}"),
            (CallKind::Record(event), _) => {
                message!("records event {event} in stream {stream}")
            }
            (CallKind::Wait(event), _) => {
                message!("makes stream {stream} wait for event {event}")
            }
            (CallKind::Synchronize, _) => message!("makes the host wait for stream {stream}"),
        };
        (place.line, does)
    }

    /// The first call of each stream that has work, in the order of the calls.
    fn first_in_streams(&self) -> Vec<usize> {
        let mut seen = HashSet::new();
        self.indices(|it| it.kind.item().is_some() && seen.insert(it.stream))
    }

    fn indices(&self, mut which: impl FnMut(&Call) -> bool) -> Vec<usize> {
        let calls = self.round.calls.iter().enumerate();
        let matching = calls.filter(|(_, call)| which(call));
        matching.map(|(index, _)| index).collect()
    }
}

// What the check of a script found.

/// What the check of a script found for some number of items.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Verdict {
    /// The number of items: the first that goes wrong, or else the last that was tried.
    pub items: u32,
    /// What is wrong: nothing if it is right; or why the script makes no round.
    pub faults: Result<Vec<Fault>, ScriptError>,
    /// What the script orders for so many items, right or not; without calls if it makes no round.
    pub round: Round,
}

impl Verdict {
    /// Checks a script for so many items.
    pub fn of(source: &str, work: Work, items: u32, requirements: &[Requirement]) -> Verdict {
        let (faults, round) = match interpreter::round(source, work, items) {
            Ok(round) => (Ok(check(&round, items, work, requirements)), round),
            Err(error) => (Err(error), Round::default()),
        };
        Verdict {
            items,
            faults,
            round,
        }
    }

    /// Whether nothing is wrong.
    pub fn is_right(&self) -> bool {
        self.faults.as_ref().is_ok_and(Vec::is_empty)
    }
}

// Which calls' work is over before another's may begin: vector clocks over streams.

/// The order of the calls so far. A clock has one number a stream: one more than the index of the latest
/// call there whose work is over.
#[derive(Default)]
struct HappensBefore {
    /// What is over before the next call of each stream begins.
    streams: Vec<Vec<u32>>,
    /// What the latest record of each event comes after.
    events: HashMap<u32, Vec<u32>>,
    host: Vec<u32>,
    calls: u32,
}

impl HappensBefore {
    fn new(streams: u32) -> HappensBefore {
        let clock = vec![0; streams as usize];
        HappensBefore {
            streams: vec![clock.clone(); streams as usize],
            host: clock,
            ..HappensBefore::default()
        }
    }

    /// Adds the next call of the host.
    fn push(&mut self, call: &Call) {
        let stream = call.stream as usize;
        let clock = &mut self.streams[stream];
        join(clock, &self.host);
        match call.kind {
            CallKind::Wait(event) => {
                if let Some(recorded) = self.events.get(&event) {
                    join(clock, recorded);
                }
            }
            CallKind::Record(event) => drop(self.events.insert(event, clock.clone())),
            CallKind::Synchronize => join(&mut self.host, clock),
            _ => {}
        }
        self.calls += 1;
        clock[stream] = self.calls;
    }
}

/// Takes the later of each number.
fn join(clock: &mut [u32], other: &[u32]) {
    for (own, other) in clock.iter_mut().zip(other) {
        *own = (*own).max(*other);
    }
}
