//! Why ops of different streams do not run at once in a timed round, and what each cause costs.
//!
//! One function, [`Diagnosis::of`], judges the round that the timeline draws: how much of it overlaps,
//! and the causes that keep it from overlapping more. It walks through the round moment by moment
//! ([`moments`]). Of each moment it is known which ops run, which could run (they are issued, and the
//! op before them in their stream is over), what is not issued yet, and in which call the host is.
//! Each moment in which at most one op runs, or in which ops compete for what each needs whole, is
//! charged to one cause: no moment is counted twice, and no cause costs more than the round takes.

use crate::actions::Setting;
use crate::timeline::host_us;
use crate::{Action, ViewAction};
use engine::{HostMemory, Kernel, Span, StreamId};
use moments::{Charge, Moments};
use session::trace::{StepKind, TimedRound};
use session::{
    IsolatedOp, Order, SessionAction, Status, Streams, Switch, Switches, TransferChoice, Wait,
    median,
};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

mod moments;

#[cfg(test)]
mod tests;

pub(crate) use moments::TimedOp;

/// The part of a round that a cause takes at least, and the part that it costs at least.
const MIN_PART: f64 = 0.1;
const MIN_COST: f64 = 0.05;
/// Ops overlap if those of several streams run in this part of the time in which any does.
const MIN_OVERLAPPING: f64 = 0.1;
/// Ops overlap without a gain below this factor.
const MIN_FACTOR: f64 = 1.05;
/// The most hardware queues that a driver can be asked for.
const MAX_QUEUES: u32 = 32;
/// The host bounds a round if it is inside its calls for this part of it.
const BOUND: f64 = 0.75;

/// What a round's settings do not say, but its causes depend on.
#[derive(Clone, PartialEq, Debug)]
pub struct Circumstances {
    /// The kernel in use.
    pub kernel: &'static Kernel,
    /// Whether the CPU computes: its memory is all alike, and a graph saves no calls.
    pub is_cpu: bool,
    /// The copy engines of a device.
    pub copy_engines: u32,
    /// Into how many hardware queues streams are sorted, where there are any.
    pub queues: Option<u32>,
    /// Whether the window is drawn by a device that computes.
    pub is_drawn_here: bool,
    /// The ops of such a round, each run alone, once that was measured.
    pub isolated: Option<Arc<[IsolatedOp]>>,
}

impl Circumstances {
    /// As of this status.
    pub fn of(status: &Status, is_drawn_here: bool) -> Circumstances {
        let devices = &status.engine.devices;
        Circumstances {
            kernel: status.setting.kernel,
            is_cpu: status.engine.is_cpu(),
            copy_engines: devices.first().map_or(0, |device| device.copy_engines),
            queues: status.engine.queues,
            is_drawn_here,
            isolated: status.lab.isolated.clone(),
        }
    }
}

/// What keeps ops of different streams from running at once.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Cause {
    /// There is one lattice, and so one stream.
    OneInstance,
    /// All lattices share one stream, maybe the default stream.
    OneStream(Streams),
    /// A round of one's own puts several lattices into one stream.
    OwnStreams {
        /// How many streams it uses.
        streams: usize,
    },
    /// Ops wait for events of other streams.
    Events,
    /// One launch steps all lattices, and one copy downloads them.
    Batch,
    /// The host is blocked in copies to pageable memory.
    PageableCopies,
    /// The host waits for one lattice before it issues the next one's ops.
    HostWaits,
    /// The host issues all ops of one lattice before the next one's launch.
    IssueOrder,
    /// The host's calls take longer than the ops that they issue.
    Calls {
        /// How many calls a round makes.
        calls: usize,
        /// How long the host is inside them, in microseconds.
        us: f64,
    },
    /// The launches fill the multiprocessors, or the CPU's cores.
    UnitsFull {
        /// How many times as many could have been used, on average.
        demand: f64,
    },
    /// Copies of one direction wait for one another.
    CopyEngine {
        /// How many are under way, on average.
        copies: f64,
    },
    /// There are more streams than hardware queues, so that streams wait for one another.
    FewQueues {
        /// The hardware queues.
        queues: u32,
        /// The streams.
        streams: usize,
    },
    /// A kernel is over before the next one has started.
    ShortKernels {
        /// The median time of a launch, in microseconds.
        us: f64,
    },
    /// The window is drawn by the GPU that computes.
    WindowDraws,
    /// The round was delayed by the host or by other programs.
    Delayed,
    /// One stream has most of the work.
    LongestStream,
}

/// What takes a cause away.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Remedy {
    /// This position of a switch.
    Switch(Switch, u8),
    /// This action.
    Act(Action),
    /// This option of the command line, at the next start.
    Option(&'static str),
}

/// A cause, and what it takes of a round: the evidence for it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Evidence {
    /// Which.
    pub cause: Cause,
    /// For how long it keeps ops from overlapping, in microseconds; `None` where that is no matter of time.
    pub us: Option<f64>,
    /// By how much the round could be shorter without it, at most, in microseconds; `None` where
    /// that is not known.
    pub cost_us: Option<f64>,
    /// What takes it away, if anything here does.
    pub remedy: Option<Remedy>,
}

/// What is said of a round as a whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Ops overlap; by how much is not known yet.
    Measuring,
    /// Ops of different streams do not run at once.
    NoOverlap,
    /// They do, but together they take as long as one after the other.
    NoGain,
    /// They overlap.
    Overlap,
}

/// How much of a timed round overlaps, and what keeps it from overlapping more.
#[derive(Clone, PartialEq, Debug)]
pub struct Diagnosis {
    /// How long the round took, in microseconds.
    pub round_us: f64,
    /// Of the time in which ops run, the part in which those of several streams do, from 0 to 1.
    pub overlapping: f64,
    /// The part of the round in which the busiest GPU only exchanges halos and steps no band; see
    /// [`TimedRound::exchange_share`].
    pub exchange: Option<f64>,
    /// How much overlap saves; `None` until the ops' times alone are measured.
    pub overlap: Option<Overlap>,
    /// The causes that matter: what the setting makes, the most expensive first, then what delays the
    /// round. Where nothing overlaps or overlap gains nothing, there is one at least.
    pub causes: Vec<Evidence>,
    /// What could be a cause, but takes less of the round.
    pub others: Vec<Evidence>,
}

impl Diagnosis {
    /// Judges a round; `None` if nothing ran in it.
    pub fn of(round: &TimedRound, circumstances: &Circumstances) -> Option<Diagnosis> {
        let (start, end) = round.bounds()?;
        let round_us = end.as_us() - start.as_us();
        let isolated = circumstances.isolated.as_deref();
        let ops = TimedOp::of(round, isolated.unwrap_or_default());
        if ops.is_empty() || round_us <= 0.0 {
            return None;
        }
        let launches = || {
            let is_launch = |op: &&TimedOp<'_>| op.facts.kind == StepKind::Launch;
            ops.iter().filter(is_launch)
        };
        let is_measured = isolated.is_some() && launches().all(|op| op.is_measured);
        let streams: HashSet<StreamId> = ops.iter().map(|op| op.facts.stream).collect();
        let host_us = host_us(round);
        let shares_streams = match round.switches.order {
            Order::Own => {
                let instances: HashSet<_> = ops.iter().map(|op| op.facts.instance).collect();
                streams.len() < instances.len()
            }
            Order::Breadth | Order::Depth => round.switches.streams != Streams::PerInstance,
        };
        let lengths = launches().map(|op| (op.end - op.start) as f64 / 1e3);
        let overlap = is_measured.then(|| Overlap::of(&ops, round_us, host_us));
        let mut judge = Judge {
            host_us,
            round,
            circumstances,
            moments: Moments::default(),
            round_us,
            saving_us: overlap
                .as_ref()
                .map(|overlap| round_us - shortest_us(&ops, overlap)),
            streams: streams.len(),
            shares_streams,
            launch_us: median(lengths).unwrap_or(0.0),
        };
        judge.moments = Moments::of(&ops, &judge);
        let (causes, others) = judge.causes();
        let mut diagnosis = Diagnosis {
            round_us,
            overlapping: judge.moments.overlapping(),
            exchange: round.exchange_share(),
            overlap,
            causes,
            others,
        };
        let needs_cause = matches!(diagnosis.verdict(), Verdict::NoOverlap | Verdict::NoGain);
        if needs_cause && diagnosis.causes.is_empty() {
            let main = judge.main_cause();
            diagnosis.others.retain(|other| other.cause != main.cause);
            diagnosis.causes.push(main);
        }
        Some(diagnosis)
    }

    /// What is said of the round.
    pub fn verdict(&self) -> Verdict {
        if self.overlapping < MIN_OVERLAPPING {
            return Verdict::NoOverlap;
        }
        match &self.overlap {
            None => Verdict::Measuring,
            Some(overlap) if overlap.factor() < MIN_FACTOR => Verdict::NoGain,
            Some(_) => Verdict::Overlap,
        }
    }
}

/// A round while its moments are charged and its causes are found.
struct Judge<'a> {
    round: &'a TimedRound,
    circumstances: &'a Circumstances,
    moments: Moments,
    round_us: f64,
    /// How long the host was inside its calls, in microseconds.
    host_us: f64,
    streams: usize,
    shares_streams: bool,
    launch_us: f64,
    /// By how much the round could be shorter if everything overlapped that can, in microseconds;
    /// `None` until the ops' times alone are measured.
    saving_us: Option<f64>,
}

/// How long a round of these ops takes at least, in microseconds, on the same device: as long as its
/// units, its copies or the ops of one instance do.
fn shortest_us(ops: &[TimedOp<'_>], overlap: &Overlap) -> f64 {
    let mut instances: HashMap<_, f64> = HashMap::new();
    for op in ops {
        // Bands of a lattice are stepped at the same time, each in its stream.
        let band = op.facts.gpu.map(|_| op.facts.stream);
        *instances.entry((op.facts.instance, band)).or_default() += op.own_us;
    }
    let device = [Resource::Units, Resource::CopyEngine];
    let device = overlap
        .bounds
        .iter()
        .filter(|it| device.contains(&it.resource));
    let bounds = device.map(|bound| bound.us).chain(instances.into_values());
    bounds.fold(0.0, f64::max)
}

/// What a moment can be charged to that is a cause, if it takes long enough.
const CAUSES: [Charge; 12] = [
    Charge::SharedStream,
    Charge::Event,
    Charge::PageableCopy,
    Charge::HostWait,
    Charge::Order,
    Charge::Calls,
    Charge::Units,
    Charge::Copies,
    Charge::Queues,
    Charge::Starting,
    Charge::Drawing,
    Charge::Outside,
];

impl Judge<'_> {
    /// Whether a round issued op by op uses more streams than there are hardware queues.
    fn lacks_queues(&self) -> bool {
        let queues = self.circumstances.queues.filter(|_| !self.round.replayed);
        queues.is_some_and(|queues| self.streams > queues as usize)
    }

    /// Whether the host is inside its calls for most of the round, in whichever order it makes them.
    fn is_bound_by_calls(&self) -> bool {
        self.host_us >= BOUND * self.round_us
    }

    /// What an op is charged to that is slower or later than by itself.
    fn delay(&self) -> Charge {
        if self.circumstances.is_drawn_here {
            Charge::Drawing
        } else {
            Charge::Outside
        }
    }

    /// The causes that matter, in their order, and the others.
    fn causes(&self) -> (Vec<Evidence>, Vec<Evidence>) {
        let all = CAUSES.map(|charge| self.finding(charge));
        let at_least = |us: Option<f64>, part: f64| us.is_none_or(|us| us >= part * self.round_us);
        let matters = |it: &Evidence| {
            // A graph is one call already.
            let is_of_graph = self.round.replayed && matches!(it.cause, Cause::Calls { .. });
            at_least(it.us, MIN_PART) && at_least(it.cost_us, MIN_COST) && !is_of_graph
        };
        let (mut causes, mut others): (Vec<_>, Vec<_>) = all.into_iter().partition(matters);
        let cost = |it: &Evidence| it.cost_us.or(it.us).unwrap_or(f64::MAX);
        let is_delay = |it: &Evidence| matches!(it.cause, Cause::WindowDraws | Cause::Delayed);
        // A delay comes and goes; what the setting makes stays.
        causes.sort_by(|a, b| {
            let order = is_delay(a).cmp(&is_delay(b));
            order.then(cost(b).total_cmp(&cost(a)))
        });
        // With one stream per device nothing else can be the first reason. Delays may leave little time
        // to a shared stream, but without them its ops would run one by one, too.
        let is_shared = match self.round.switches.order {
            Order::Own => self.shares_streams && self.streams == 1,
            Order::Breadth | Order::Depth => {
                matches!(self.round.switches.streams, Streams::One | Streams::Default)
            }
        };
        let first = match self.only_stream() {
            Some(cause) => Some(self.with_remedy(cause, None, None)),
            None if is_shared && causes.first().is_some_and(is_delay) => {
                Some(self.finding(Charge::SharedStream))
            }
            None => None,
        };
        if let Some(first) = first {
            others.retain(|other| other.cause != first.cause);
            causes.insert(0, first);
        }
        (causes, others)
    }

    /// Why there is nothing that could run in another stream.
    fn only_stream(&self) -> Option<Cause> {
        match self.round.switches.streams {
            _ if self.streams > 1 => None,
            _ if self.instances() <= 1 => Some(Cause::OneInstance),
            Streams::Batch => Some(Cause::Batch),
            _ => None,
        }
    }

    /// How many lattices the round steps.
    fn instances(&self) -> u32 {
        let steps = || self.round.steps.iter();
        let first = steps().filter_map(|facts| facts.instance).min();
        let last = steps()
            .filter_map(|facts| Some(facts.instance? + facts.instances))
            .max();
        first.zip(last).map_or(0, |(first, last)| last - first)
    }

    /// The cause that takes the longest, where none takes long.
    fn main_cause(&self) -> Evidence {
        let all = CAUSES.iter().chain(&[Charge::LastStream]);
        let longest = all.max_by(|a, b| {
            let [a, b] = [**a, **b].map(|charge| self.moments.tally(charge).ns);
            a.total_cmp(&b)
        });
        match longest {
            Some(charge) if !self.shares_streams || self.streams > 1 => self.finding(*charge),
            _ => self.finding(Charge::SharedStream),
        }
    }

    /// How long the host was inside other calls before it made the last launch, in microseconds, if
    /// another order changes when that is: not where calls take most of the round.
    fn before_last_launch_us(&self) -> f64 {
        let kind = |call: &Span| Some(self.round.steps.get(call.step as usize)?.kind);
        let is_launch = |call: &&Span| kind(call) == Some(StepKind::Launch);
        let host = || self.round.host.iter();
        let Some(last) = host().filter(is_launch).map(|call| call.start).max() else {
            return 0.0;
        };
        if self.round.switches.order != Order::Depth || self.is_bound_by_calls() {
            return 0.0;
        }
        let is_pinned = self.round.switches.host_memory == HostMemory::Pinned;
        let others = host().filter(|call| match kind(call) {
            Some(StepKind::Support) => call.start < last,
            // A copy to pageable memory blocks in any order.
            Some(StepKind::Download) => call.start < last && is_pinned,
            _ => false,
        });
        others.map(|call| call.length().as_us()).sum()
    }

    fn finding(&self, charge: Charge) -> Evidence {
        let tally = self.moments.tally(charge);
        let cause = match charge {
            Charge::SharedStream if self.round.switches.order == Order::Own => Cause::OwnStreams {
                streams: self.streams,
            },
            Charge::SharedStream => Cause::OneStream(self.round.switches.streams),
            Charge::Event => Cause::Events,
            Charge::PageableCopy => Cause::PageableCopies,
            Charge::HostWait => Cause::HostWaits,
            Charge::Order => Cause::IssueOrder,
            Charge::Calls => Cause::Calls {
                calls: if self.round.replayed {
                    1
                } else {
                    self.round.steps.len()
                },
                us: self.host_us,
            },
            Charge::Units => Cause::UnitsFull {
                demand: tally.demand(),
            },
            Charge::Copies => Cause::CopyEngine {
                copies: tally.demand(),
            },
            Charge::Queues => Cause::FewQueues {
                queues: self.circumstances.queues.unwrap_or(0),
                streams: self.streams,
            },
            Charge::Starting => Cause::ShortKernels { us: self.launch_us },
            Charge::Drawing => Cause::WindowDraws,
            Charge::Outside => Cause::Delayed,
            Charge::LastStream => Cause::LongestStream,
        };
        let us = match charge {
            Charge::Order => self.before_last_launch_us(),
            _ => tally.ns / 1e3,
        };
        let cost_us = self.saving_us.map(|saving| match charge {
            // The same work takes as much of the device.
            Charge::Units | Charge::Copies => tally.cost_ns / 1e3,
            // And as many calls.
            Charge::Order => us.min(saving).min(self.round_us - self.host_us),
            _ => us.min(saving),
        });
        self.with_remedy(cause, Some(us), cost_us.map(|us| us.max(0.0)))
    }

    fn with_remedy(&self, cause: Cause, us: Option<f64>, cost_us: Option<f64>) -> Evidence {
        let remedy = self.remedy(cause);
        Evidence {
            cause,
            us,
            cost_us,
            remedy,
        }
    }

    fn remedy(&self, cause: Cause) -> Option<Remedy> {
        match cause {
            Cause::OneInstance => Some(Remedy::Act(SessionAction::DoubleInstances.into())),
            Cause::OneStream(_) | Cause::Batch => {
                self.switch(Switch::Streams, |it| it.streams == Streams::PerInstance)
            }
            Cause::PageableCopies => self.switch(Switch::HostMemory, |it| {
                it.host_memory == HostMemory::Pinned
            }),
            Cause::HostWaits => self.switch(Switch::Wait, |it| it.wait == Wait::Poll),
            Cause::IssueOrder | Cause::OwnStreams { .. } | Cause::Events => {
                self.switch(Switch::Order, |it| it.order == Order::Breadth)
            }
            Cause::Calls { .. } => {
                let by_graph = || self.switch(Switch::Graphs, |it| it.graphs);
                let by_batch = || self.switch(Switch::Streams, |it| it.streams == Streams::Batch);
                let graph_saves = !self.circumstances.is_cpu && !self.round.replayed;
                graph_saves.then(by_graph).flatten().or_else(by_batch)
            }
            Cause::UnitsFull { .. } => Some(Remedy::Act(ViewAction::Prompt(Setting::Size).into())),
            Cause::CopyEngine { .. } => {
                let copies_cells = self.round.switches.transfer == TransferChoice::Cells;
                let auto =
                    || self.switch(Switch::Transfer, |it| it.transfer == TransferChoice::Auto);
                copies_cells.then(auto).flatten()
            }
            Cause::FewQueues { queues, .. } => {
                (queues < MAX_QUEUES).then_some(Remedy::Option("--connections 32"))
            }
            Cause::ShortKernels { .. } => {
                let prompt = ViewAction::Prompt(Setting::GenerationsPerRound);
                Some(Remedy::Act(prompt.into()))
            }
            Cause::WindowDraws => Some(Remedy::Option("--adapter")),
            Cause::Delayed | Cause::LongestStream => None,
        }
    }

    /// The position of a switch, other than the present one, that is like this and can be taken.
    fn switch(&self, switch: Switch, wanted: impl Fn(&Switches) -> bool) -> Option<Remedy> {
        let (now, kernel) = (self.round.switches, self.circumstances.kernel);
        let choices = switch.choices(now, kernel);
        let at = choices.iter().position(|choice| {
            choice.switches != now
                && choice.switches.incompatibility(kernel).is_none()
                && wanted(&choice.switches)
        });
        Some(Remedy::Switch(switch, at? as u8))
    }
}

// How much of a round's work overlaps, and what bounds it.
//
// Every op of a round is first run alone, one at a time, and then the same round is run as it is. An
// op's own time is the shorter of both: alone a short op takes longer (it wakes an idle device), and
// among others an op may wait for what they use. The factor is the sum of the own times over the
// time of the round. So it is never more than the number of ops that ran at once on average, nor
// more than the slowest resource allows: a round is taken to last at least as long as that resource
// needs.

/// What a round's ops share, and what one of them may be short of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Resource {
    /// The host: its calls come one after the other.
    Host,
    /// The engine that copies to the host: one copy at a time.
    CopyEngine,
    /// The multiprocessors (or the CPU's workers), were they all kept busy.
    Units,
    /// The longest stream: its ops come one after the other.
    Stream,
}

/// The least time that a round's work needs of a resource.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bound {
    /// Of which.
    pub resource: Resource,
    /// How long, in microseconds.
    pub us: f64,
}

/// How much of a timed round overlaps.
#[derive(Clone, PartialEq, Debug)]
pub struct Overlap {
    /// The sum of the ops' own times, in microseconds.
    pub alone_us: f64,
    /// The same ops together: the time of the round, in microseconds.
    pub together_us: f64,
    /// What each resource needs at least; the longest first.
    pub bounds: Vec<Bound>,
}

impl Overlap {
    /// Of a round's ops, which took `together_us`, in which the host was inside its calls for
    /// `host_us`.
    fn of(ops: &[TimedOp<'_>], together_us: f64, host_us: f64) -> Overlap {
        let mut streams: HashMap<_, f64> = HashMap::new();
        let mut copies: HashMap<_, f64> = HashMap::new();
        let mut units: HashMap<_, f64> = HashMap::new();
        for op in ops {
            *streams.entry(op.facts.stream).or_default() += op.own_us;
            *units.entry(op.device).or_default() += op.own_us * op.share;
            // A CPU's workers copy as they step.
            if op.facts.kind == StepKind::Download && op.share == 0.0 {
                *copies.entry(op.device).or_default() += op.own_us;
            }
        }
        let longest = |sums: &mut dyn Iterator<Item = f64>| sums.fold(0.0, f64::max);
        let mut bounds = vec![
            (Resource::Host, host_us),
            (Resource::CopyEngine, longest(&mut copies.into_values())),
            (Resource::Units, longest(&mut units.into_values())),
            (Resource::Stream, longest(&mut streams.into_values())),
        ];
        bounds.retain(|(_, us)| *us > 0.0);
        bounds.sort_by(|a, b| b.1.total_cmp(&a.1));
        Overlap {
            alone_us: ops.iter().map(|op| op.own_us).sum(),
            together_us,
            bounds: bounds
                .into_iter()
                .map(|(resource, us)| Bound { resource, us })
                .collect(),
        }
    }

    /// How long a round is taken to last, in microseconds: at least as long as the slowest resource
    /// needs.
    pub fn round_us(&self) -> f64 {
        let slowest = self.bounds.first().map_or(0.0, |slowest| slowest.us);
        self.together_us.max(slowest)
    }

    /// The sum of the ops' own times over the time that they took together; at most what the
    /// slowest resource allows.
    pub fn factor(&self) -> f64 {
        self.alone_us / self.round_us()
    }

    /// Whether more overlap is impossible: the slowest resource is busy (nearly) all the time.
    pub fn is_at_the_bound(&self) -> bool {
        let bound = self.upper_bound();
        bound.is_some_and(|(most, _)| most < 1.05 * self.factor())
    }

    /// The factor that the slowest resource allows, and which it is.
    pub fn upper_bound(&self) -> Option<(f64, Resource)> {
        let slowest = self.bounds.first()?;
        Some((self.alone_us / slowest.us, slowest.resource))
    }
}
