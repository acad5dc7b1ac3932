//! What timed rounds did, step by step; and rounds that were recorded on a GPU.

use crate::{Finding, Setup, Switches};
use engine::{
    BlockTimestamp, BufferOp, DeviceId, DeviceInfo, EventId, Kernel, LatticeOp, Measure, Nanos, Op,
    OrderOp, Span, Step, StreamId, Transfer,
};
use experiment::{Recorded, compare_blocks, median};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use lang::numbers::time_us;
use lang::{mark, tr};
use life::Size;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, VecDeque};
use std::io::{self, Read, Write};
use std::sync::{Arc, OnceLock};

/// What kind of work a step is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub enum StepKind {
    /// A kernel that steps lattices.
    #[default]
    Launch,
    /// A kernel that converts, reduces, measures or sets cells, and steps none; a host function.
    Support,
    /// A copy to the device.
    Upload,
    /// A copy to the host.
    Download,
    /// A copy from a device to the same or to another one.
    DeviceCopy,
    /// An event recorded or waited for.
    Event,
    /// The host waiting for the device.
    Wait,
}

/// What a step is, beside when it ran.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct StepFacts {
    /// The op's name.
    pub label: &'static str,
    /// Its kind.
    pub kind: StepKind,
    /// Its stream.
    pub stream: StreamId,
    /// The GPU that this is on, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu: Option<u16>,
    /// The number that the user's round gives its stream, if it is a step of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_number: Option<u32>,
    /// The (first) instance that it works on.
    pub instance: Option<u32>,
    /// On how many it works, numbered on from there.
    pub instances: u32,
    /// Cells times generations stepped, or cells read.
    pub cells: u64,
    /// Bytes over the bus.
    pub bytes: u64,
    /// The event that it records, or that its stream waits for.
    pub event: Option<EventUse>,
}

/// What a step does with an event.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum EventUse {
    /// Records it.
    Record(EventId),
    /// Makes the stream wait for its latest record.
    Wait(EventId),
}

impl StepFacts {
    /// The op's name; a copy over the bus is named by its direction.
    pub fn name(&self) -> &'static str {
        match self.kind {
            StepKind::Upload => mark!("upload"),
            StepKind::Download => mark!("download"),
            _ => self.label,
        }
    }

    /// Of a step on lattices of this size, whose reduced views have this many bytes.
    pub fn of(step: &Step, size: Size, view_bytes: u64) -> StepFacts {
        let lattices = step.op.lattices();
        let bits = size.bytes();
        // Of each lattice, its cells' share and its bytes.
        let (kind, shares, bytes) = match &step.op {
            Op::Lattices(_, op) => match op {
                LatticeOp::Advance { generations, .. } => {
                    (StepKind::Launch, u64::from(*generations), 0)
                }
                LatticeOp::Soup(_)
                | LatticeOp::Pack
                | LatticeOp::Unpack(_)
                | LatticeOp::Reduce(_)
                | LatticeOp::Measure => (StepKind::Support, 1, 0),
                LatticeOp::Edit(edits) => (StepKind::Support, 1, size_of_val(&**edits) as u64),
                LatticeOp::Upload(_) => (StepKind::Upload, 1, bits),
                LatticeOp::Download { what, .. } => {
                    let bytes = match what {
                        Transfer::Bits => bits,
                        Transfer::Rows { count, .. } => {
                            size.words_per_row() as u64 * 4 * u64::from(*count)
                        }
                        Transfer::View => view_bytes,
                        Transfer::Cells => size.cells() * 4,
                        Transfer::Measure => 4 * Measure::WORDS as u64,
                    };
                    (StepKind::Download, 1, bytes)
                }
                LatticeOp::CopyRows { rows, layout, .. } => {
                    let row = layout.row_bytes(size) as u64;
                    (StepKind::DeviceCopy, 0, row * u64::from(rows.count))
                }
            },
            Op::Buffers(BufferOp::Copy { .. }) => (StepKind::DeviceCopy, 0, 0),
            Op::Buffers(BufferOp::Launch(_)) => (StepKind::Launch, 0, 0),
            Op::Buffers(BufferOp::HostFunction(..) | BufferOp::Memory(_)) => {
                (StepKind::Support, 0, 0)
            }
            Op::Order(OrderOp::Synchronize(_)) => (StepKind::Wait, 0, 0),
            Op::Order(OrderOp::Record(_) | OrderOp::Wait(_)) => (StepKind::Event, 0, 0),
        };
        let count = lattices.len() as u64;
        StepFacts {
            label: step.op.label(),
            kind,
            stream: step.stream,
            gpu: None,
            own_number: None,
            instance: (count > 0).then_some(lattices.start),
            instances: count as u32,
            cells: size.cells() * shares * count,
            bytes: match step.op {
                Op::Buffers(BufferOp::Copy { bytes, .. }) => bytes as u64,
                _ => bytes * count,
            },
            event: match step.op {
                Op::Order(OrderOp::Record(event)) => Some(EventUse::Record(event)),
                Op::Order(OrderOp::Wait(event)) => Some(EventUse::Wait(event)),
                _ => None,
            },
        }
    }
}

/// The most steps of a round whose ops are put in order with their calls.
const MAX_IN_ORDER: usize = 1000;

/// A round that was timed.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(into = "StoredRound", from = "StoredRound")]
#[serde(bound(deserialize = "'de: 'static"))]
pub struct TimedRound {
    /// Its steps.
    pub steps: Arc<[StepFacts]>,
    /// When each ran, as bounded by events around it.
    pub spans: Vec<Span>,
    /// When the host was inside the calls.
    pub host: Vec<Span>,
    /// When and where each block ran, if the round recorded block timestamps.
    pub block_timestamps: Vec<BlockTimestamp>,
    /// Whether it was replayed as a graph; else the host issued its steps.
    pub replayed: bool,
    /// How it was issued, copied and waited for.
    pub switches: Switches,
}

impl TimedRound {
    /// With the device's clock put so that no op begins before its call or its graph's, or ends after a call that
    /// waits for its stream: the clocks of host and device agree to some 10 µs, which nobody sees among thousands of ops.
    pub fn in_order(mut self) -> TimedRound {
        if self.steps.len() > MAX_IN_ORDER {
            return self;
        }
        let calls = || self.host.iter();
        let begun = self.spans.iter().filter_map(|span| {
            let own = |call: &&Span| call.step == span.step || call.step == Span::WHOLE;
            Some(calls().find(own)?.start.0 - span.start.0)
        });
        let waits = calls().filter(|call| self.kind(call) == Some(StepKind::Wait));
        let awaited = waits.flat_map(|wait| {
            let spans = self.spans.iter();
            let before = spans.filter(move |it| it.stream == wait.stream && it.step < wait.step);
            before.map(move |span| wait.end.0 - span.end.0)
        });
        let (least, most) = (begun.max(), awaited.min());
        let skew = 0
            .min(most.unwrap_or_default())
            .max(least.unwrap_or_default());
        for span in &mut self.spans {
            (span.start.0, span.end.0) = (span.start.0 + skew, span.end.0 + skew);
        }
        self
    }

    /// What kind of step an op or a call of its is.
    pub fn kind(&self, of: &Span) -> Option<StepKind> {
        Some(self.steps.get(of.step as usize)?.kind)
    }

    /// The median length of the launches, in nanoseconds.
    pub fn median_launch(&self) -> Option<Nanos> {
        let launch = |span: &&Span| self.kind(span) == Some(StepKind::Launch);
        let mut lengths: Vec<Nanos> = self
            .spans
            .iter()
            .filter(launch)
            .map(|s| s.length())
            .collect();
        lengths.sort_unstable();
        lengths.get(lengths.len() / 2).copied()
    }

    /// What stepped the lattices, and how many cells (times generations) a second it did from the
    /// first launch's start to the last one's end.
    pub fn stepping(&self) -> Option<(&'static str, f64)> {
        let launches = self.spans.iter().filter_map(|span| {
            let facts = self.steps.get(span.step as usize)?;
            (facts.kind == StepKind::Launch && facts.cells > 0).then_some((span, facts))
        });
        let (mut cells, mut label) = (0, None);
        let (mut start, mut end) = (i64::MAX, i64::MIN);
        for (span, facts) in launches {
            (cells, label) = (cells + facts.cells, Some(facts.label));
            (start, end) = (start.min(span.start.0), end.max(span.end.0));
        }
        let seconds = (end > start).then(|| (end - start) as f64 / 1e9)?;
        Some((label?, cells as f64 / seconds))
    }

    /// Whether it steps the same lattices with the same settings.
    fn has_setting_of(&self, other: &TimedRound) -> bool {
        let launches = |round: &TimedRound| {
            let steps = round.steps.iter().copied();
            let launches = steps.filter(|facts| facts.kind == StepKind::Launch);
            launches.collect::<Vec<_>>()
        };
        self.switches == other.switches && launches(self) == launches(other)
    }

    /// The largest part of the round that a GPU spends only on the exchange of halos: it copies rows or
    /// waits for them, and steps no band; `None` if nothing is exchanged.
    pub fn exchange_share(&self) -> Option<f64> {
        let (start, end) = self.bounds()?;
        let is_copy = |facts: &StepFacts| facts.kind == StepKind::DeviceCopy;
        self.steps.iter().find(|facts| is_copy(facts))?;
        // What begins (1) or ends (-1) on a GPU, and when: exchanges and launches.
        let mut changes: HashMap<u16, Vec<(Nanos, [i32; 2])>> = HashMap::new();
        let is_exchange =
            |facts: &StepFacts| is_copy(facts) || matches!(facts.event, Some(EventUse::Wait(_)));
        for span in &self.spans {
            let Some(facts) = self.steps.get(span.step as usize) else {
                continue;
            };
            let kinds = [is_exchange(facts), facts.kind == StepKind::Launch].map(i32::from);
            let of_gpu = changes.entry(facts.gpu?).or_default();
            of_gpu.extend([(span.start, kinds), (span.end, kinds.map(|kind| -kind))]);
        }
        let exchanging = |mut changes: Vec<(Nanos, [i32; 2])>| {
            changes.sort_by_key(|(time, _)| *time);
            let (mut running, mut before, mut ns) = ([0; 2], start, 0);
            for (time, kinds) in changes {
                if running[0] > 0 && running[1] == 0 {
                    ns += time.0 - before.0;
                }
                running = [running[0] + kinds[0], running[1] + kinds[1]];
                before = time;
            }
            ns
        };
        let most = changes.into_values().map(exchanging).max()?;
        Some(most as f64 / (end.0 - start.0).max(1) as f64)
    }

    /// How long the host was inside its calls, waiting left out, in microseconds.
    pub fn host_us(&self) -> f64 {
        let waits = |span: &Span| self.kind(span) == Some(StepKind::Wait);
        let calls = self.host.iter().filter(|span| !waits(span));
        calls.map(|span| span.length().as_us()).sum()
    }

    /// From the first call or op to the end of the last.
    pub fn bounds(&self) -> Option<(Nanos, Nanos)> {
        let all = || self.spans.iter().chain(&self.host);
        let start = all().map(|span| span.start).min()?;
        Some((start, all().map(|span| span.end).max()?))
    }

    /// How long that is; `None` if it has neither.
    pub fn length(&self) -> Option<Nanos> {
        let (start, end) = self.bounds()?;
        Some(Nanos(end.0 - start.0))
    }
}

/// How long rounds are that are drawn, from the first call to the last op, beside a time of each, in
/// microseconds, if one differs from its time by more than 4 %.
pub fn drawn_in_words(drawn: &[(&TimedRound, f64)]) -> Option<String> {
    let both = |(round, us): &(&TimedRound, f64)| Some([round.length()?.as_us(), *us]);
    let all = || drawn.iter().filter_map(both);
    if all().all(|[length, us]| (0.96..=1.04).contains(&(length / us))) {
        return None;
    }
    let joined = |which: usize| Vec::from_iter(all().map(|it| time_us(it[which]))).join(" → ");
    Some(tr!(
        "drawn {drawn}, measured {measured}",
        drawn = joined(0),
        measured = joined(1)
    ))
}

/// A round as it is stored: in whole nanoseconds from its first call or op on, without block timestamps.
#[derive(Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
struct StoredRound {
    steps: Vec<StepFacts>,
    spans: Vec<StoredSpan>,
    host: Vec<StoredSpan>,
    replayed: bool,
    switches: Switches,
}

/// A span's step and stream, how long after the span before it began, and how long it took. Small numbers
/// repeat, so that they compress well.
type StoredSpan = (u32, StreamId, i64, i64);

impl From<TimedRound> for StoredRound {
    fn from(round: TimedRound) -> StoredRound {
        let start = round.bounds().map_or(Nanos(0), |(start, _)| start);
        let stored = |spans: &[Span]| {
            let mut before = start.0;
            let stored = spans.iter().map(|span| {
                let after = span.start.0 - std::mem::replace(&mut before, span.start.0);
                (span.step, span.stream, after, span.length().0)
            });
            stored.collect()
        };
        StoredRound {
            spans: stored(&round.spans),
            host: stored(&round.host),
            steps: round.steps.to_vec(),
            replayed: round.replayed,
            switches: round.switches,
        }
    }
}

impl From<StoredRound> for TimedRound {
    fn from(stored: StoredRound) -> TimedRound {
        let spans = |stored: Vec<StoredSpan>| {
            let mut start = 0;
            let spans = stored.into_iter().map(|(step, stream, after, length)| {
                start += after;
                Span {
                    step,
                    stream,
                    start: Nanos(start),
                    end: Nanos(start + length),
                }
            });
            spans.collect()
        };
        TimedRound {
            spans: spans(stored.spans),
            host: spans(stored.host),
            steps: stored.steps.into(),
            block_timestamps: Vec::new(),
            replayed: stored.replayed,
            switches: stored.switches,
        }
        .in_order()
    }
}

/// The last timed rounds.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// The oldest first.
    pub rounds: VecDeque<Arc<TimedRound>>,
    /// Rounds with the setting before the last change of a switch or of the kernel, while the effect of
    /// that change is shown; while A and B are compared, A's.
    before: VecDeque<Arc<TimedRound>>,
    /// How many of the latest rounds have the present setting.
    present: usize,
    /// Grows with every change of the rounds.
    pub sequence: u64,
}

impl Trace {
    /// How many rounds are kept.
    pub const MAX_ROUNDS: usize = 8;

    /// Adds a round with the present setting, and forgets the oldest where there are too many.
    pub fn add(&mut self, round: TimedRound) {
        if self
            .rounds
            .back()
            .is_some_and(|last| !last.has_setting_of(&round))
        {
            self.present = 0;
        }
        push(&mut self.rounds, round);
        self.present = (self.present + 1).min(self.rounds.len());
        self.sequence += 1;
    }

    /// Adds a round with the setting before the last change.
    pub fn add_before(&mut self, round: TimedRound) {
        push(&mut self.before, round);
        self.sequence += 1;
    }

    /// Keeps only this round of the present setting, and this one of the setting before.
    pub fn replace(&mut self, round: Option<TimedRound>, before: Option<TimedRound>) {
        self.rounds = round.map(Arc::new).into_iter().collect();
        self.before = before.map(Arc::new).into_iter().collect();
        self.present = self.rounds.len();
        self.sequence += 1;
    }

    /// The setting has changed: forgets the rounds before an earlier change, and draws no round again
    /// that was added so far once there is another.
    pub fn setting_changed(&mut self) {
        self.before.clear();
        self.present = 0;
        self.sequence += 1;
    }

    /// The round to be drawn, and judged: the typical one of the present setting, or the newest before
    /// there is one.
    pub fn drawn(&self) -> Option<&Arc<TimedRound>> {
        let newest = self.rounds.len() - self.present.min(self.rounds.len());
        typical(self.rounds.range(newest..)).or(self.rounds.back())
    }

    /// The round to be drawn above it: the typical one before a change.
    pub fn drawn_before(&self) -> Option<&Arc<TimedRound>> {
        typical(self.before.iter())
    }
}

/// Adds a round, and forgets the oldest beyond [`Trace::MAX_ROUNDS`].
fn push(rounds: &mut VecDeque<Arc<TimedRound>>, round: TimedRound) {
    rounds.push_back(Arc::new(round));
    if rounds.len() > Trace::MAX_ROUNDS {
        rounds.pop_front();
    }
}

/// The round whose length is nearest to the median, so that none that was preempted stands for all.
fn typical<'a>(
    rounds: impl Iterator<Item = &'a Arc<TimedRound>> + Clone,
) -> Option<&'a Arc<TimedRound>> {
    let lengths = rounds
        .clone()
        .map(|round| round.length().map_or(0.0, Nanos::as_us));
    let middle = experiment::median(lengths.clone())?;
    rounds.clone().nth(experiment::nearest(lengths, middle)?)
}

/// An op that ran alone.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct IsolatedOp {
    /// What it is.
    pub facts: StepFacts,
    /// Which device it ran on.
    pub device: DeviceId,
    /// How long it took, as bounded by events.
    pub took: Nanos,
    /// Which part of the device's units it keeps busy, from 0 to 1.
    pub share: f64,
}

// Rounds that were recorded on a GPU, for machines without one.
//
// A recording has groups of settings whose rounds step the same lattices. The rounds of a group were timed
// in turn, so that any two of its settings can be compared by the estimate that compares settings here. It
// is written by `lifestreams bench recording`, and read where it is needed first.

/// What was recorded on a GPU.
#[derive(Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub struct Recording {
    /// Where and when.
    pub recorded: Recorded,
    /// The device.
    pub device: DeviceInfo,
    /// Into how many hardware queues its driver sorted streams.
    pub queues: u32,
    /// Each with other lattices.
    pub groups: Vec<RecordedGroup>,
}

/// Settings whose rounds step the same lattices, timed in turn.
#[derive(Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub struct RecordedGroup {
    /// The lattices, and how far a round steps them.
    pub work: RoundWork,
    /// The number of blocks at the end of each window. In a block, each setting has one round.
    pub window_ends: Vec<usize>,
    /// The settings.
    pub settings: Vec<RecordedSetting>,
}

/// What a round steps, and how far.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RoundWork {
    /// How many lattices.
    pub instances: usize,
    /// Cells across a lattice.
    pub width: u32,
    /// Cells down a lattice.
    pub height: u32,
    /// The rule.
    pub rule: String,
    /// Generations per round.
    pub generations: u32,
}

/// A setting, and its rounds.
#[derive(Serialize, Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
pub struct RecordedSetting {
    /// The kernel's name.
    pub kernel: String,
    /// The switches.
    pub switches: Switches,
    /// The time of a round in each block, in microseconds.
    pub times_us: Vec<f64>,
    /// The median time of a launch, by events around it, in microseconds.
    pub launch_us: f64,
    /// Cells stepped per second while a round's launches run.
    pub cells_per_second: f64,
    /// A typical round.
    pub round: TimedRound,
    /// Of each of that round's steps but the host's waits, how long it took alone, and which part of the
    /// device's units it kept busy.
    pub alone: Vec<(Nanos, f64)>,
}

impl RoundWork {
    /// What a setup's rounds step, if it has this many instances, and rounds this many generations.
    pub fn of(setup: &Setup, instances: usize, generations: u32) -> RoundWork {
        RoundWork {
            instances,
            width: setup.size.width,
            height: setup.size.height,
            rule: setup.rule.to_string(),
            generations,
        }
    }
}

impl RecordedSetting {
    /// The median time of a round, in microseconds.
    pub fn round_us(&self) -> f64 {
        median(self.times_us.iter().copied()).unwrap_or(0.0)
    }

    /// The ops of its round, each as it ran alone.
    pub fn isolated(&self) -> Arc<[IsolatedOp]> {
        let steps = self.round.steps.iter();
        let ops = steps.filter(|facts| facts.kind != StepKind::Wait);
        let isolated = ops
            .zip(&self.alone)
            .map(|(&facts, &(took, share))| IsolatedOp {
                facts,
                device: DeviceId(0),
                took,
                share,
            });
        isolated.collect()
    }
}

impl RecordedGroup {
    /// The rounds with this kernel and these switches; `None` if there are none.
    pub fn find(&self, kernel: &Kernel, switches: Switches) -> Option<&RecordedSetting> {
        let mut settings = self.settings.iter();
        settings.find(|it| it.kernel == kernel.name && it.switches == switches)
    }

    /// The rounds with this kernel and these switches, or else with as few others as possible.
    pub fn nearest(&self, kernel: &Kernel, switches: Switches) -> Option<&RecordedSetting> {
        let differing = |it: &&RecordedSetting| {
            let others = it.switches.differing(switches, kernel);
            (it.kernel != kernel.name, others.len())
        };
        self.settings.iter().min_by_key(differing)
    }

    /// How two of its settings compare, and the time of a round of each, in microseconds, whose ratio is
    /// that of the finding.
    pub fn compare(
        &self,
        before: &RecordedSetting,
        after: &RecordedSetting,
    ) -> Option<([f64; 2], Finding)> {
        let (estimate, finding) =
            compare_blocks(&before.times_us, &after.times_us, &self.window_ends)?;
        let before_us = before.round_us();
        Some(([before_us, before_us / estimate.ratio], finding))
    }
}

impl Recording {
    /// The recording that comes with the program. Reads it at the first call.
    pub fn shipped() -> &'static Recording {
        static SHIPPED: OnceLock<Recording> = OnceLock::new();
        SHIPPED.get_or_init(|| {
            let bytes = include_bytes!("../../../assets/bench/recorded-rounds.json.gz");
            let mut recording: Recording =
                read_stored(bytes).expect("a test reads the recording of every build");
            // No graphics adapter of this machine is that device.
            recording.device.pci_bus_id = None;
            recording
        })
    }

    /// The settings whose rounds step these lattices.
    pub fn group(&self, work: &RoundWork) -> Option<&RecordedGroup> {
        self.groups.iter().find(|group| group.work == *work)
    }
}

/// Reads what [`write_stored`] wrote. The text stays in memory: names of ops are parts of it.
///
/// # Errors
/// It is something else.
pub fn read_stored<T: Deserialize<'static>>(bytes: &[u8]) -> io::Result<T> {
    let mut text = String::new();
    GzDecoder::new(bytes).read_to_string(&mut text)?;
    let text: &'static str = text.leak();
    Ok(serde_json::from_str(text)?)
}

/// The bytes of a recording: JSON, compressed.
///
/// # Errors
/// Something in it cannot be written as JSON.
pub fn write_stored(recording: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&serde_json::to_vec(recording)?)?;
    encoder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(step: u32, stream: u32, start: i64, end: i64) -> Span {
        Span {
            step,
            stream: StreamId(stream),
            start: Nanos(start),
            end: Nanos(end),
        }
    }

    /// A round of steps of these kinds, with cells each, and its spans.
    fn round_of(steps: &[(StepKind, u64)], spans: &[Span]) -> TimedRound {
        let facts = |(&(kind, cells), stream)| StepFacts {
            label: "bits",
            kind,
            stream: StreamId(stream),
            gpu: Some(0),
            cells,
            ..StepFacts::default()
        };
        TimedRound {
            steps: steps.iter().zip(0..).map(facts).collect(),
            spans: spans.into(),
            ..TimedRound::default()
        }
    }

    #[test]
    fn rounds_before_and_after_a_change_are_drawn_by_one_that_is_typical() {
        let mut trace = Trace::default();
        let round = |length| round_of(&[], &[span(0, 0, 0, length)]);
        let drawn = |trace: &Trace| {
            [trace.drawn(), trace.drawn_before()].map(|it| it.map(|round| round.spans[0].end.0))
        };
        trace.add(round(7));
        trace.setting_changed();
        assert_eq!(drawn(&trace), [Some(7), None], "until there is another");
        // Some were preempted.
        for (before, now) in [(30_000, 1000), (2500, 90_000), (2400, 1100)] {
            trace.add_before(round(before));
            trace.add(round(now));
        }
        assert_eq!(drawn(&trace), [Some(1100), Some(2500)]);
        trace.setting_changed();
        // Whatever else has changed, rounds with other settings no longer count.
        let mut other = round(5000);
        other.switches.graphs = true;
        trace.add(other);
        assert_eq!(drawn(&trace), [Some(5000), None]);
    }

    #[test]
    fn a_recorded_round_that_contradicts_a_time_beside_it_says_why() {
        let mut changes = 0;
        for group in &Recording::shipped().groups {
            for before in &group.settings {
                let quoted = before.round_us();
                let drawn = before.round.length().unwrap().as_us();
                let note = drawn_in_words(&[(&before.round, quoted)]);
                assert_eq!(note.is_none(), (0.96..=1.04).contains(&(drawn / quoted)));
                for after in &group.settings {
                    let Some((us, Finding::Difference { ratio, .. })) =
                        group.compare(before, after)
                    else {
                        continue;
                    };
                    changes += 1;
                    let lengths = [before, after].map(|it| it.round.length().unwrap().as_us());
                    let drawn = lengths[0] / lengths[1];
                    // Nobody sees a difference of 2 %.
                    let is_right = (drawn > 1.0) == (ratio > 1.0) || (drawn - 1.0).abs() < 0.02;
                    let note = drawn_in_words(&[(&before.round, us[0]), (&after.round, us[1])]);
                    assert!(is_right || note.is_some(), "{lengths:?}, {us:?}");
                }
            }
        }
        assert!(changes > 10_000, "{changes}");
    }

    #[test]
    fn a_stored_round_begins_at_zero_and_no_op_of_a_graph_before_its_launch() {
        let spans = [span(0, 1, 9000, 9900), span(1, 0, 7700, 8300)];
        let mut round = round_of(&[(StepKind::Launch, 7)], &spans);
        round.host = vec![span(Span::WHOLE, 0, 8000, 8400)];
        let text: &str = serde_json::to_string(&round).unwrap().leak();
        let read: TimedRound = serde_json::from_str(text).unwrap();
        assert_eq!(read.steps, round.steps);
        assert_eq!(read.spans, [span(0, 1, 1600, 2500), span(1, 0, 300, 900)]);
        assert_eq!(read.host, [span(Span::WHOLE, 0, 300, 700)]);
        assert_eq!(read.switches, round.switches);
    }

    /// A GPU that steps another band meanwhile does not spend time on the exchange.
    #[test]
    fn a_rate_is_of_all_launches_and_the_exchange_is_what_they_do_not_hide() {
        use StepKind::{DeviceCopy, Download, Launch};
        let spans = [
            span(0, 0, 100, 900),
            span(1, 1, 500, 1100),
            span(2, 2, 1100, 9000),
        ];
        let steps = [(Launch, 1000), (Launch, 3000), (Download, 1000)];
        let (kernel, rate) = round_of(&steps, &spans).stepping().unwrap();
        assert!(kernel == "bits" && (rate - 4e9).abs() < 1.0, "{rate}");
        assert_eq!(round_of(&steps, &spans[2..]).stepping(), None);
        let spans = [
            span(0, 0, 0, 600),
            span(1, 1, 500, 700),
            span(2, 2, 690, 1000),
        ];
        let steps = [(Launch, 0), (DeviceCopy, 0), (DeviceCopy, 0)];
        assert_eq!(round_of(&steps, &spans).exchange_share(), Some(0.4));
    }
}
