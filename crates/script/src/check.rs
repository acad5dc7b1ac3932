//! What is wrong with a round.

#[cfg(test)]
mod oracle_tests;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

use crate::happens_before::HappensBefore;
use crate::{Call, CallKind, Place, Round, Work};

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
    /// At least so many streams have work.
    MinStreams(u32),
    /// At most so many streams have work.
    MaxStreams(u32),
    /// The host does not wait.
    NoSynchronize,
}

/// Something that is wrong with a round.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Fault {
    /// An item lacks a call.
    Missing {
        /// The call, with the first item that lacks it.
        kind: CallKind,
        /// How many other items lack it, too.
        others: u32,
        /// What the items are.
        work: Work,
    },
    /// A call is made twice for one item.
    Repeated {
        /// The first time.
        first: IssuedCall,
        /// Another time.
        again: IssuedCall,
    },
    /// A call's work comes before the work that it needs.
    TooEarly {
        /// What comes first, a download for instance.
        early: IssuedCall,
        /// What it needs, the kernel for instance.
        needed: IssuedCall,
    },
    /// Two calls use the same item, and nothing orders their work.
    Race {
        /// The call that the host makes first.
        first: IssuedCall,
        /// The other.
        second: IssuedCall,
    },
    /// A stream waits for an event that no call has recorded before.
    NotRecorded {
        /// The wait.
        wait: IssuedCall,
        /// The record that comes too late, if there is one.
        later: Option<IssuedCall>,
    },
    /// [`Requirement::Before`] is not met.
    NotBefore {
        /// What is to come first.
        first: IssuedCall,
        /// What is to come after it.
        second: IssuedCall,
    },
    /// [`Requirement::Concurrent`] is not met.
    NotConcurrent {
        /// The call that comes first.
        first: IssuedCall,
        /// The call that waits for it.
        second: IssuedCall,
    },
    /// [`Requirement::IssuedBefore`] is not met.
    NotIssuedBefore {
        /// What is to be issued first.
        first: IssuedCall,
        /// What is to be issued after it.
        second: IssuedCall,
    },
    /// [`Requirement::MaxRecords`] is not met.
    TooManyRecords {
        /// The first record that is too many.
        call: IssuedCall,
        /// How many there are.
        records: u32,
        /// How many there may be.
        max: u32,
    },
    /// [`Requirement::MinStreams`] is not met.
    TooFewStreams {
        /// How many have work.
        streams: u32,
        /// How many must have.
        min: u32,
    },
    /// [`Requirement::MaxStreams`] is not met.
    TooManyStreams {
        /// The first call in a stream that is too many.
        call: IssuedCall,
        /// How many have work.
        streams: u32,
        /// How many may have.
        max: u32,
    },
    /// [`Requirement::NoSynchronize`] is not met.
    Synchronizes {
        /// Where the host waits.
        call: IssuedCall,
    },
}

/// A call of a round, and its index there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct IssuedCall {
    /// Its index in [`Round::calls`].
    pub index: usize,
    /// The call.
    pub call: Call,
    /// What the round's items are.
    pub work: Work,
}

impl Fault {
    /// What kind it is, as files say it.
    pub fn name(&self) -> &'static str {
        match self {
            Fault::Missing { .. } => "missing",
            Fault::Repeated { .. } => "repeated",
            Fault::TooEarly { .. } => "too-early",
            Fault::Race { .. } => "race",
            Fault::NotRecorded { .. } => "not-recorded",
            Fault::NotBefore { .. } => "not-before",
            Fault::NotConcurrent { .. } => "not-concurrent",
            Fault::NotIssuedBefore { .. } => "not-issued-before",
            Fault::TooManyRecords { .. } => "too-many-records",
            Fault::TooFewStreams { .. } => "too-few-streams",
            Fault::TooManyStreams { .. } => "too-many-streams",
            Fault::Synchronizes { .. } => "synchronizes",
        }
    }

    /// The calls that it is about, at most two, beginning with the one that is to be changed.
    pub fn calls(&self) -> Vec<IssuedCall> {
        match *self {
            Fault::Missing { .. } | Fault::TooFewStreams { .. } => Vec::new(),
            Fault::Repeated { first, again } => vec![again, first],
            Fault::TooEarly { early, needed } => vec![early, needed],
            Fault::Race { first, second }
            | Fault::NotBefore { first, second }
            | Fault::NotConcurrent { first, second } => vec![second, first],
            Fault::NotIssuedBefore { first, second } => vec![first, second],
            Fault::NotRecorded { wait, later } => [wait].into_iter().chain(later).collect(),
            Fault::TooManyRecords { call, .. }
            | Fault::TooManyStreams { call, .. }
            | Fault::Synchronizes { call } => vec![call],
        }
    }

    /// Where in the script its calls are.
    pub fn places(&self) -> Vec<Place> {
        self.calls().iter().map(|it| it.call.place).collect()
    }
}

/// What is wrong with a round of so many items: nothing if it is right.
///
/// Every item has each of its calls once, in the order of the data and with nothing that could let them
/// overlap; every wait is for an event that was recorded before it; and the requirements are met. Calls
/// that are wrong come first, then calls that lack, then requirements.
///
/// Costs a step for each call and `streams` steps for each wait: 100,000 calls take 30 ms in 16 streams; in
/// 1,024 streams that all wait for one another, 0.2 s and 140 MB.
pub fn check(round: &Round, items: u32, work: Work, requirements: &[Requirement]) -> Vec<Fault> {
    let mut check = Check::new(round, work);
    let questions = requirements.iter().filter_map(|it| check.question(*it));
    let mut questions = Questions::new(questions);
    let mut order = HappensBefore::new(round.streams());
    for (index, call) in round.calls.iter().enumerate() {
        order.push(call);
        check.push(index, &order);
        questions.answer(&check, index, &order);
        if check.faults.len() >= MAX_FAULTS {
            check.faults.truncate(MAX_FAULTS);
            return check.faults;
        }
    }
    check.find_missing(items);
    for requirement in requirements {
        check.require(*requirement, &questions);
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
    faults: Vec<Fault>,
}

/// Pairs of calls, an earlier one and a later one, and whether the later one's work waits for the
/// earlier one's. The order is known while the later one is the newest.
struct Questions {
    earlier_of: HashMap<usize, Vec<usize>>,
    ordered: HashSet<(usize, usize)>,
}

impl Questions {
    fn new(pairs: impl Iterator<Item = (usize, usize)>) -> Questions {
        let mut earlier_of: HashMap<usize, Vec<usize>> = HashMap::new();
        for (earlier, later) in pairs {
            earlier_of.entry(later).or_default().push(earlier);
        }
        Questions {
            earlier_of,
            ordered: HashSet::new(),
        }
    }

    fn answer(&mut self, check: &Check<'_>, newest: usize, order: &HappensBefore) {
        let earlier = self.earlier_of.get(&newest).into_iter().flatten();
        let ordered = earlier.filter(|earlier| check.is_before(**earlier, newest, order));
        self.ordered
            .extend(ordered.map(|earlier| (*earlier, newest)));
    }
}

impl<'a> Check<'a> {
    fn new(round: &'a Round, work: Work) -> Check<'a> {
        let mut first = HashMap::new();
        for (index, call) in round.calls.iter().enumerate() {
            first.entry(call.kind).or_insert(index);
        }
        Check {
            round,
            work,
            first,
            users: HashMap::new(),
            faults: Vec::new(),
        }
    }

    fn issued(&self, index: usize) -> IssuedCall {
        IssuedCall {
            index,
            call: self.round.calls[index],
            work: self.work,
        }
    }

    fn is_before(&self, earlier: usize, newest: usize, order: &HappensBefore) -> bool {
        let calls = &self.round.calls;
        order.is_before_newest((earlier, &calls[earlier]), &calls[newest])
    }

    /// Checks the newest call against those before it.
    fn push(&mut self, newest: usize, order: &HappensBefore) {
        let kind = self.round.calls[newest].kind;
        if let CallKind::Wait(event) = kind
            && !order.is_recorded(event)
        {
            let later = self.first.get(&CallKind::Record(event));
            self.faults.push(Fault::NotRecorded {
                wait: self.issued(newest),
                later: later.map(|later| self.issued(*later)),
            });
        }
        let (Some(item), Some(stage)) = (kind.item(), kind.stage()) else {
            return;
        };
        if self.first[&kind] < newest {
            self.faults.push(Fault::Repeated {
                first: self.issued(self.first[&kind]),
                again: self.issued(newest),
            });
        }
        // Any two calls use the same memory of the item, and all but two downloads' one writes there;
        // those write the same memory of the host.
        let users = self.users.entry(item).or_default();
        users.push(newest);
        let earlier = users[..users.len() - 1].to_vec();
        for earlier in earlier {
            let (first, second) = (self.issued(earlier), self.issued(newest));
            if !self.is_before(earlier, newest, order) {
                self.faults.push(Fault::Race { first, second });
            } else if first.call.kind.stage() > Some(stage) {
                self.faults.push(Fault::TooEarly {
                    early: first,
                    needed: second,
                });
            }
        }
    }

    /// Finds items that lack a call.
    fn find_missing(&mut self, items: u32) {
        for kind in self.work.calls() {
            let mut lack = (0..items).filter(|item| !self.first.contains_key(&kind(*item)));
            if let Some(item) = lack.next() {
                let others = lack.count() as u32;
                self.faults.push(Fault::Missing {
                    kind: kind(item),
                    others,
                    work: self.work,
                });
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

    /// Finds a requirement's fault, if any. Calls that are not made have their own.
    fn require(&mut self, requirement: Requirement, questions: &Questions) {
        let fault = match requirement {
            Requirement::Before(a, b) => self.both(a, b).and_then(|(a, b)| {
                let (first, second) = (self.issued(a), self.issued(b));
                let is_met = questions.ordered.contains(&(a, b));
                (!is_met).then_some(Fault::NotBefore { first, second })
            }),
            Requirement::Concurrent(..) => self.question(requirement).and_then(|(a, b)| {
                let (first, second) = (self.issued(a), self.issued(b));
                let is_ordered = questions.ordered.contains(&(a, b));
                is_ordered.then_some(Fault::NotConcurrent { first, second })
            }),
            Requirement::IssuedBefore(a, b) => self.both(a, b).and_then(|(a, b)| {
                let (first, second) = (self.issued(a), self.issued(b));
                (a > b).then_some(Fault::NotIssuedBefore { first, second })
            }),
            Requirement::MaxRecords(max) => {
                let is_record = |call: &Call| matches!(call.kind, CallKind::Record(_));
                let records = self.indices(is_record);
                records
                    .get(max as usize)
                    .map(|index| Fault::TooManyRecords {
                        call: self.issued(*index),
                        records: records.len() as u32,
                        max,
                    })
            }
            Requirement::MinStreams(min) => {
                let streams = self.first_in_streams().len() as u32;
                (streams < min).then_some(Fault::TooFewStreams { streams, min })
            }
            Requirement::MaxStreams(max) => {
                let first = self.first_in_streams();
                first.get(max as usize).map(|index| Fault::TooManyStreams {
                    call: self.issued(*index),
                    streams: first.len() as u32,
                    max,
                })
            }
            Requirement::NoSynchronize => {
                let waits = self.indices(|call| call.kind == CallKind::Synchronize);
                let first = waits.first();
                first.map(|index| Fault::Synchronizes {
                    call: self.issued(*index),
                })
            }
        };
        self.faults.extend(fault);
    }

    /// The first call of each stream that has work, in the order of the calls.
    fn first_in_streams(&self) -> Vec<usize> {
        let mut seen = HashSet::new();
        let calls = self.round.calls.iter().enumerate();
        let first = calls.filter(|(_, it)| it.kind.item().is_some() && seen.insert(it.stream));
        first.map(|(index, _)| index).collect()
    }

    fn indices(&self, which: impl Fn(&Call) -> bool) -> Vec<usize> {
        let calls = self.round.calls.iter().enumerate();
        let matching = calls.filter(|(_, call)| which(call));
        matching.map(|(index, _)| index).collect()
    }
}
