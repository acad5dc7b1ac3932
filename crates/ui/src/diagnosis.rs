//! Why ops of different streams do not run at once in a timed round, what each cause costs, and what
//! takes it away; as numbers, and in words.
//!
//! One function, [`Diagnosis::of`], judges the round that the timeline draws: how much of it overlaps,
//! and the causes that keep it from overlapping more. It walks through the round moment by moment
//! ([`moments`]). Of each moment it is known which ops run, which could run (they are issued, and the
//! op before them in their stream is over), what is not issued yet, and in which call the host is.
//! Each moment in which at most one op runs, or in which ops compete for what each needs whole, is
//! charged to one cause: no moment is counted twice, and no cause costs more than the round takes.

use crate::actions::Setting;
use crate::numbers::time_us;
use crate::{Action, ViewAction};
use Cause::*;
use engine::{HostMemory, Kernel, Span, StreamId};
use lang::tr;
use moments::Moments;
use session::trace::{StepKind, TimedRound};
use session::{
    Order, SessionAction, Status, Streams, Switch, Switches, TransferChoice, Wait, median,
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

/// What keeps ops of different streams from running at once.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Cause {
    /// Ops that could run wait for others of the same stream.
    SharedStream,
    /// Ops wait for events of other streams.
    Events,
    /// The host is blocked in copies to pageable memory.
    PageableCopies,
    /// The host waits for one lattice before it issues the next one's ops.
    HostWaits,
    /// The host issues all ops of one lattice before the next one's launch.
    IssueOrder,
    /// The host's calls take longer than the ops that they issue.
    Calls,
    /// The launches need more of the multiprocessors, or the CPU's cores, than there are.
    UnitsFull,
    /// Copies of one direction wait for one another, and no kernel runs.
    CopyEngine,
    /// There are more streams than hardware queues, so that streams wait for one another.
    FewQueues,
    /// A kernel is over before the next one has started.
    ShortKernels,
    /// Ops are slower or later than by themselves, on a device that draws the window, too.
    WindowDraws,
    /// The same on another device, or the host is elsewhere.
    Delayed,
    /// Only the ops of one stream are left.
    LongestStream,
    /// There is one lattice, and so one stream. No moment is charged to this one or the next.
    OneInstance,
    /// One launch steps all lattices, and one copy downloads them.
    Batch,
}

/// The causes that moments are charged to; all but the last are named wherever they take long enough.
const CHARGED: [Cause; 13] = [
    SharedStream,
    Events,
    PageableCopies,
    HostWaits,
    IssueOrder,
    Calls,
    UnitsFull,
    CopyEngine,
    FewQueues,
    ShortKernels,
    WindowDraws,
    Delayed,
    LongestStream,
];

/// A cause, what it takes of a round, and both in words.
#[derive(Clone, PartialEq, Debug)]
pub struct Evidence {
    /// What it costs; empty where that cannot be known.
    pub cost: String,
    /// Which part of the round that is, from 0 to 1.
    pub part: Option<f32>,
    /// What it is, as the rest of a sentence.
    pub reason: &'static str,
    /// What shows it in the round; empty where the settings alone do.
    pub shown_by: String,
    /// The key and what it does, or what to do at the next start; empty if nothing takes it away.
    pub remedy: String,
    /// What the key does, if there is one.
    pub action: Option<Action>,
}

impl Evidence {
    /// What it is, as a title.
    pub fn title(&self) -> String {
        lang::sentence_case(self.reason)
    }
}

/// What is said of a round as a whole.
#[derive(Clone, Copy, PartialEq, Debug)]
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

/// How much of a timed round overlaps, and what each cause takes of it. It is made where a round or the times
/// of its ops alone are new; the words are made where they are shown.
#[derive(Clone, Debug)]
pub struct Diagnosis {
    round: Arc<TimedRound>,
    /// Whether the CPU computes: its memory is all alike, and a graph saves no calls.
    is_cpu: bool,
    /// The copy engines of a device.
    copy_engines: u32,
    /// The hardware queues, where they are known.
    queues: Option<u32>,
    /// Whether the window is drawn by a device that computes.
    is_drawn_here: bool,
    moments: Moments,
    /// How long the round took, in microseconds.
    round_us: f64,
    /// How long the host was inside its calls, in microseconds.
    host_us: f64,
    streams: usize,
    shares_streams: bool,
    launch_us: f64,
    /// The kernel that takes the most of the units: one that steps, or a helper.
    largest_kernel: &'static str,
    /// How much overlap saves; `None` until the ops' times alone are measured.
    overlap: Option<Overlap>,
    /// By how much the round could be shorter if everything overlapped that can, in microseconds;
    /// `None` until the ops' times alone are measured.
    saving_us: Option<f64>,
}

impl Diagnosis {
    /// Judges a round of this session; `None` if nothing ran in it. `is_drawn_here` says whether the
    /// window is drawn by a device that computes.
    pub fn of(round: &Arc<TimedRound>, status: &Status, is_drawn_here: bool) -> Option<Diagnosis> {
        let (start, end) = round.bounds()?;
        let round_us = end.as_us() - start.as_us();
        let isolated = status.lab.isolated.as_deref();
        let ops = TimedOp::of(round, isolated.unwrap_or_default());
        if ops.is_empty() || round_us <= 0.0 {
            return None;
        }
        let launches = || {
            let is_launch = |op: &&TimedOp<'_>| op.facts.kind == StepKind::Launch;
            ops.iter().filter(is_launch)
        };
        let units = |op: &&TimedOp<'_>| op.own_us * op.share;
        let largest = ops.iter().max_by(|a, b| units(a).total_cmp(&units(b)))?;
        let is_measured = isolated.is_some() && launches().all(|op| op.is_measured);
        let streams: HashSet<StreamId> = ops.iter().map(|op| op.facts.stream).collect();
        let host_us = round.host_us();
        let shares_streams = match round.switches.order {
            Order::Own => {
                let instances: HashSet<_> = ops.iter().map(|op| op.facts.instance).collect();
                streams.len() < instances.len()
            }
            _ => round.switches.streams != Streams::PerInstance,
        };
        let lengths = launches().map(|op| (op.end - op.start) as f64 / 1e3);
        let overlap = is_measured.then(|| Overlap::of(&ops, round_us, host_us));
        let engine = &status.engine;
        let mut diagnosis = Diagnosis {
            round: round.clone(),
            is_cpu: engine.is_cpu(),
            copy_engines: engine.devices.first().map_or(0, |it| it.copy_engines),
            queues: engine.queues,
            is_drawn_here,
            moments: Moments::default(),
            round_us,
            host_us,
            streams: streams.len(),
            shares_streams,
            launch_us: median(lengths).unwrap_or(0.0),
            largest_kernel: largest.facts.label,
            saving_us: overlap
                .as_ref()
                .map(|overlap| round_us - shortest_us(&ops, overlap)),
            overlap,
        };
        diagnosis.moments = Moments::of(&ops, &diagnosis);
        Some(diagnosis)
    }

    /// Of the time in which ops run, the part in which those of several streams do, from 0 to 1.
    pub fn overlapping(&self) -> f64 {
        self.moments.overlapping()
    }

    /// What is said of the round.
    pub fn verdict(&self) -> Verdict {
        if self.overlapping() < MIN_OVERLAPPING {
            return Verdict::NoOverlap;
        }
        match &self.overlap {
            None => Verdict::Measuring,
            Some(overlap) if overlap.factor() < MIN_FACTOR => Verdict::NoGain,
            Some(_) => Verdict::Overlap,
        }
    }
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
    let of_device = |resource| matches!(resource, Resource::Units | Resource::CopyEngine);
    let device = overlap.bounds.iter().filter(|it| of_device(it.0));
    let bounds = device.map(|bound| bound.1).chain(instances.into_values());
    bounds.fold(0.0, f64::max)
}

impl Diagnosis {
    /// Whether a round issued op by op uses more streams than there are hardware queues.
    fn lacks_queues(&self) -> bool {
        let queues = self.queues.filter(|_| !self.round.replayed);
        queues.is_some_and(|queues| self.streams > queues as usize)
    }

    /// Whether the host is inside its calls for most of the round, in whichever order it makes them.
    fn is_bound_by_calls(&self) -> bool {
        self.host_us >= BOUND * self.round_us
    }

    /// What an op is charged to that is slower or later than by itself.
    fn delay(&self) -> Cause {
        if self.is_drawn_here {
            WindowDraws
        } else {
            Delayed
        }
    }

    /// The causes that matter: what the setting makes, the most expensive first, then what delays the
    /// round. Where nothing overlaps or overlap gains nothing, there is one at least.
    pub fn causes(&self) -> Vec<Cause> {
        let at_least = |us: Option<f64>, part: f64| us.is_none_or(|us| us >= part * self.round_us);
        let matters = |cause: &Cause| {
            // A graph is one call already.
            let is_of_graph = self.round.replayed && *cause == Calls;
            let is_named = *cause != LongestStream && !is_of_graph;
            let has_cost = at_least(self.cost_us(*cause), MIN_COST);
            is_named && at_least(self.us(*cause), MIN_PART) && has_cost
        };
        let mut causes: Vec<Cause> = CHARGED.into_iter().filter(matters).collect();
        let cost = |it: Cause| self.cost_us(it).or(self.us(it)).unwrap_or(f64::MAX);
        let is_delay = |it: &Cause| matches!(it, WindowDraws | Delayed);
        // A delay comes and goes; what the setting makes stays.
        causes.sort_by(|a, b| {
            let order = is_delay(a).cmp(&is_delay(b));
            order.then(cost(*b).total_cmp(&cost(*a)))
        });
        // With one stream per device nothing else can be the first reason. Delays may leave little time
        // to a shared stream, but without them its ops would run one by one, too.
        let is_shared = match self.round.switches.order {
            Order::Own => self.shares_streams && self.streams == 1,
            _ => matches!(self.round.switches.streams, Streams::One | Streams::Default),
        };
        let first = match self.only_stream() {
            None if is_shared && causes.first().is_some_and(is_delay) => Some(SharedStream),
            only => only,
        };
        causes.splice(0..0, first);
        let needs_cause = matches!(self.verdict(), Verdict::NoOverlap | Verdict::NoGain);
        if needs_cause && causes.is_empty() {
            causes.push(self.main_cause());
        }
        causes
    }

    /// Why there is nothing that could run in another stream.
    fn only_stream(&self) -> Option<Cause> {
        match self.round.switches.streams {
            _ if self.streams > 1 => None,
            _ if self.instances() <= 1 => Some(OneInstance),
            Streams::Batch => Some(Batch),
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
    fn main_cause(&self) -> Cause {
        let ns = |cause: &Cause| self.moments.tally(*cause).ns;
        let longest = CHARGED.into_iter().max_by(|a, b| ns(a).total_cmp(&ns(b)));
        let longest = longest.filter(|_| !self.shares_streams || self.streams > 1);
        longest.unwrap_or(SharedStream)
    }

    /// How long the host was inside other calls before it made the last launch, in microseconds, if
    /// another order changes when that is: not where calls take most of the round.
    fn before_last_launch_us(&self) -> f64 {
        let switches = &self.round.switches;
        if !switches.order.is_depth_first() || self.is_bound_by_calls() {
            return 0.0;
        }
        let kind = |call: &Span| self.round.kind(call);
        let is_launch = |call: &&Span| kind(call) == Some(StepKind::Launch);
        let host = || self.round.host.iter();
        let last = host().filter(is_launch).map(|call| call.start).max();
        // A copy to pageable memory blocks in any order.
        let is_pinned = switches.host_memory == HostMemory::Pinned;
        let is_other = |kind| kind == StepKind::Support || kind == StepKind::Download && is_pinned;
        let others = host().filter(|it| Some(it.start) < last && kind(it).is_some_and(is_other));
        others.map(|call| call.length().as_us()).sum()
    }

    /// For how long it keeps ops from overlapping, in microseconds; `None` where that is no matter of time.
    fn us(&self, cause: Cause) -> Option<f64> {
        CHARGED.contains(&cause).then(|| match cause {
            IssueOrder => self.before_last_launch_us(),
            _ => self.moments.tally(cause).ns / 1e3,
        })
    }

    /// By how much the round could be shorter without it, at most, in microseconds; `None` where that is not
    /// known.
    fn cost_us(&self, cause: Cause) -> Option<f64> {
        let (us, saving) = self.us(cause).zip(self.saving_us)?;
        let cost = match cause {
            // The same work takes as much of the device.
            UnitsFull | CopyEngine => {
                us * (1.0 - 1.0 / self.moments.tally(cause).demand().max(1.0))
            }
            // And as many calls.
            IssueOrder => us.min(saving).min(self.round_us - self.host_us),
            _ => us.min(saving),
        };
        Some(cost.max(0.0))
    }

    /// A cause in words, and what takes it away with this kernel.
    pub fn evidence(&self, cause: Cause, kernel: &Kernel) -> Evidence {
        let (us, cost_us) = (self.us(cause), self.cost_us(cause));
        let (remedy, action) = self.remedy(cause, kernel);
        Evidence {
            cost: match (us, cost_us) {
                (_, Some(us)) => tr!("up to {} per round", time_us(us)),
                (Some(_), None) => tr!("measuring …").into(),
                (None, None) => String::new(),
            },
            part: cost_us.map(|us| (us / self.round_us) as f32),
            reason: self.reason(cause),
            shown_by: us.map_or(String::new(), |us| self.shown_by(cause, us)),
            remedy,
            action,
        }
    }

    /// The causes that matter little; none where there is one stream, which is cause enough.
    pub fn others(&self) -> Vec<&'static str> {
        let causes = self.causes();
        let is_other =
            |it: &Cause| self.streams > 1 && *it != LongestStream && !causes.contains(it);
        let others = CHARGED.into_iter().filter(is_other);
        others.map(|it| self.reason(it)).collect()
    }

    /// The first cause in one line beside the verdict: what it costs, and what takes it away with this kernel.
    pub fn first_cause(&self, kernel: &Kernel) -> Option<String> {
        let first = self.evidence(*self.causes().first()?, kernel);
        // Where nothing overlaps, the verdict says what it is.
        let is_said = matches!(self.verdict(), Verdict::NoOverlap | Verdict::NoGain);
        let title = if is_said {
            String::new()
        } else {
            first.title()
        };
        let mut parts = vec![title, first.cost, first.remedy];
        parts.retain(|part| !part.is_empty());
        Some(parts.join(" · "))
    }

    /// What keeps ops from overlapping, as the rest of a sentence.
    fn reason(&self, cause: Cause) -> &'static str {
        let switches = &self.round.switches;
        match cause {
            OneInstance => tr!("one lattice has one stream"),
            SharedStream if switches.order == Order::Own && self.streams == 1 => {
                tr!("your round has one stream, which runs its operations one after the other")
            }
            SharedStream if switches.order == Order::Own => {
                tr!("your round has several lattices in one stream")
            }
            SharedStream if switches.streams == Streams::Default => {
                tr!("the default stream runs its operations one after the other")
            }
            SharedStream => tr!("one stream runs its operations one after the other"),
            Events => tr!("operations wait for events of other streams"),
            Batch => tr!("one launch steps all lattices, then one copy runs"),
            PageableCopies => tr!("the host waits in each copy to pageable memory"),
            HostWaits => tr!("the host waits for each lattice before it issues the next"),
            IssueOrder => tr!("each lattice's copy is issued before the next launch"),
            Calls => tr!("the launches are shorter than the calls that issue them"),
            UnitsFull if self.is_cpu => tr!("the launches keep all CPU cores busy"),
            UnitsFull => tr!("the kernels fill the SMs"),
            CopyEngine => tr!("the copy engine makes one copy at a time"),
            FewQueues => tr!("there are more streams than hardware queues"),
            ShortKernels => tr!("each kernel is over before the next one starts"),
            WindowDraws => tr!("the window is drawn on the same device"),
            Delayed => tr!("the round was delayed by the host or by other programs"),
            LongestStream => tr!("one stream has most of the work"),
        }
    }

    /// What shows a cause in the round, for so many microseconds of it.
    fn shown_by(&self, cause: Cause, us: f64) -> String {
        let part = tr!(
            "{time} of {round}, with each op timed",
            time = time_us(us),
            round = time_us(self.round_us)
        );
        let demand = format!("{:.1}", self.moments.tally(cause).demand());
        let figure = match cause {
            Calls => tr!(
                "{calls} operations in {us}",
                calls = if self.round.replayed {
                    1
                } else {
                    self.round.steps.len()
                },
                us = time_us(self.host_us)
            ),
            UnitsFull if self.is_cpu => {
                tr!("{demand}× the available cores")
            }
            UnitsFull => tr!(
                "{kernel}: {demand}× the available SMs",
                kernel = lang::text(self.largest_kernel)
            ),
            CopyEngine => tr!("{copies} copies at a time", copies = demand),
            FewQueues => tr!(
                "{streams} streams in {queues} queues",
                streams = self.streams,
                queues = self.queues.unwrap_or(0)
            ),
            ShortKernels => tr!("a launch takes {us}", us = time_us(self.launch_us)),
            _ => return part,
        };
        format!("{part} · {figure}")
    }

    /// What takes a cause away, in words, and the action that does so.
    fn remedy(&self, cause: Cause, kernel: &Kernel) -> (String, Option<Action>) {
        let with_key = |key: &str, what: &str, action: Action| {
            let text = tr!("{label}: {value}", label = key, value = what);
            (text, Some(action))
        };
        let by_action = |action: Action| {
            let what = action.row().map_or("", |row| row.name());
            with_key(&action.key(), what, action)
        };
        let at_start = |option: &str| (tr!("at the next start: {}", option), None);
        // The position of a switch, other than the present one, that is like this and can be taken.
        let now = self.round.switches;
        let turned = |switch: Switch, wanted: fn(&Switches) -> bool| {
            let choices = switch.choices(now, kernel);
            let at = choices.iter().position(|choice| {
                let next = &choice.switches;
                *next != now && next.incompatibility(kernel).is_none() && wanted(next)
            })?;
            let what = format!("{} {}", switch.name(), choices[at].label);
            let action = SessionAction::SetSwitch(switch, at as u8);
            Some(with_key(switch.key(), &what, action.into()))
        };
        let remedy = match cause {
            OneInstance => Some(by_action(SessionAction::DoubleInstances.into())),
            SharedStream if now.order != Order::Own => {
                turned(Switch::Streams, |it| it.streams == Streams::PerInstance)
            }
            Batch => turned(Switch::Streams, |it| it.streams == Streams::PerInstance),
            PageableCopies => turned(Switch::HostMemory, |it| {
                it.host_memory == HostMemory::Pinned
            }),
            HostWaits => turned(Switch::Wait, |it| it.wait == Wait::Poll),
            IssueOrder | SharedStream | Events => {
                turned(Switch::Order, |it| it.order == Order::Breadth)
            }
            Calls => {
                let by_graph = || turned(Switch::Graphs, |it| it.graphs);
                let by_batch = || turned(Switch::Streams, |it| it.streams == Streams::Batch);
                let graph_saves = !self.is_cpu && !self.round.replayed;
                graph_saves.then(by_graph).flatten().or_else(by_batch)
            }
            UnitsFull => Some(by_action(ViewAction::Prompt(Setting::Size).into())),
            CopyEngine if now.transfer == TransferChoice::Cells => {
                turned(Switch::Transfer, |it| it.transfer == TransferChoice::Auto)
            }
            FewQueues => {
                let can_have_more = self.queues < Some(MAX_QUEUES);
                can_have_more.then(|| at_start("--connections 32"))
            }
            ShortKernels => {
                let prompt = ViewAction::Prompt(Setting::GenerationsPerRound);
                Some(by_action(prompt.into()))
            }
            WindowDraws => Some(at_start("--adapter")),
            CopyEngine | Delayed | LongestStream => None,
        };
        remedy.unwrap_or_default()
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
#[derive(Clone, Copy, PartialEq, Debug)]
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

/// How much of a timed round overlaps.
#[derive(Clone, PartialEq, Debug)]
pub struct Overlap {
    /// The sum of the ops' own times, in microseconds.
    pub alone_us: f64,
    /// The same ops together: the time of the round, in microseconds.
    pub together_us: f64,
    /// What each resource needs at least, in microseconds; the longest first.
    pub bounds: Vec<(Resource, f64)>,
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
        let mut bounds = vec![
            (Resource::Host, host_us),
            (
                Resource::CopyEngine,
                copies.into_values().fold(0.0, f64::max),
            ),
            (Resource::Units, units.into_values().fold(0.0, f64::max)),
            (Resource::Stream, streams.into_values().fold(0.0, f64::max)),
        ];
        bounds.retain(|(_, us)| *us > 0.0);
        bounds.sort_by(|a, b| b.1.total_cmp(&a.1));
        Overlap {
            alone_us: ops.iter().map(|op| op.own_us).sum(),
            together_us,
            bounds,
        }
    }

    /// How long a round is taken to last, in microseconds: at least as long as the slowest resource
    /// needs.
    pub fn round_us(&self) -> f64 {
        let slowest = self.bounds.first().map_or(0.0, |slowest| slowest.1);
        self.together_us.max(slowest)
    }

    /// The sum of the ops' own times over the time that they took together; at most what the
    /// slowest resource allows.
    pub fn factor(&self) -> f64 {
        self.alone_us / self.round_us()
    }
}

// The same in words, over the lanes and beside them.

/// The time of a round, and which statistic that is; `None` until there is one.
pub fn round_time(status: &Status) -> Option<String> {
    let us = status.rates.round_us?;
    Some(tr!("time per round: {} (median)", time_us(us)))
}

/// How much of a round overlaps, or why nothing does, in a sentence; `None` while A and B are compared, when
/// it is not measured.
pub fn overlap_in_words(diagnosis: Option<&Diagnosis>, status: &Status) -> Option<String> {
    let is_measured = status.lab.comparison.is_none();
    is_measured.then(|| in_words(diagnosis, status))
}

fn in_words(diagnosis: Option<&Diagnosis>, status: &Status) -> String {
    let Some(round) = diagnosis else {
        return match status.lab.recording {
            None => tr!("overlap: measuring …").into(),
            Some(_) => tr!("not recorded").into(),
        };
    };
    let reason = || round.reason(round.causes()[0]);
    let overlap = match (round.verdict(), &round.overlap) {
        (Verdict::NoOverlap, _) => return tr!("No overlap: {reason}", reason = reason()),
        (Verdict::NoGain, _) => return tr!("No gain from overlap: {reason}", reason = reason()),
        (Verdict::Overlap, Some(overlap)) => overlap,
        (Verdict::Overlap | Verdict::Measuring, _) => return tr!("overlap: measuring …").into(),
    };
    let factor = format!("{:.1}", overlap.factor());
    let Some(&(resource, us)) = overlap.bounds.first() else {
        return tr!("overlap {factor}×");
    };
    let most = overlap.alone_us / us;
    let by = match resource {
        Resource::Host if round.round.replayed => tr!("graph launch"),
        Resource::Host => tr!("the host's calls"),
        Resource::CopyEngine => tr!("the copy engine"),
        Resource::Units if status.engine.is_cpu() => tr!("the CPU cores"),
        Resource::Units => tr!("the SMs"),
        Resource::Stream => tr!("the longest stream"),
    };
    // The slowest resource is busy (nearly) all the time.
    if most < 1.05 * overlap.factor() {
        return tr!("overlap {factor}×, all that the bottleneck allows: {}", by);
    }
    tr!(
        "overlap {factor}× · at most {most}× (limit: {})",
        by,
        most = format_args!("{most:.1}")
    )
}

/// What the factor means, with the times that it is made of once they are measured, line by line.
pub fn describe(diagnosis: Option<&Diagnosis>, status: &Status) -> Vec<String> {
    let mut lines = vec![
        tr!("Overlap: the operations' times one at a time, added up, over their time together")
            .to_owned(),
    ];
    if let Some(overlap) = diagnosis.and_then(|it| it.overlap.as_ref()) {
        let [alone, together] = [overlap.alone_us, overlap.round_us()].map(time_us);
        lines.push(tr!(
            "one at a time: {alone} · together: {together} (the round that is drawn)",
            together = together
        ));
    }
    lines.push(tr!("1×: one operation at a time; 4×: on average four at once").into());
    lines.push(tr!("Below 1×: the round also waits, for the host or for other programs").into());
    if let Some(part) = diagnosis.and_then(|it| it.round.exchange_share()) {
        lines.push(tr!(
            "a GPU only copies halos, or waits for them, in {}% of the round",
            format_args!("{:.1}", 100.0 * part)
        ));
    }
    if status.engine.devices.len() > 1 {
        lines.push(tr!(
            "The clocks of the GPUs agree to within {}, and drift apart by some µs before they are compared again",
            time_us(status.engine.clock_error_us)
        ));
    }
    lines
}
