//! A timed round as lanes of bars, in nanoseconds from its start, and when which block ran where.
//!
//! A [`Timeline`] keeps the newest timed round as a [`Chart`], made once a round. `scale` turns
//! nanoseconds into positions; `lanes` and `blocks` fold several rows into one, `describe` says what a bar is.

use engine::{Span, StreamId};
use lang::{mark, tr};
use serde_json::json;
use session::trace::{EventUse, StepFacts, StepKind, TimedRound};
use session::{PictureSource, Streams};
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::io::Write;

pub mod blocks;
pub mod lanes;
pub mod overlap;
pub mod scale;

pub use lanes::{Chart, Pattern, RoundChart};

/// What a bar stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BarKind {
    /// An op in a stream.
    Step(StepKind),
    /// The host inside a call.
    Host,
    /// The host inside a call that waits.
    Wait,
}

/// Every kind and its name, in the order of a legend.
pub const KINDS: [(BarKind, &str); 8] = [
    (BarKind::Host, mark!("host call")),
    (BarKind::Wait, mark!("waiting")),
    (BarKind::Step(StepKind::Launch), mark!("launch")),
    (BarKind::Step(StepKind::Support), mark!("helper")),
    (BarKind::Step(StepKind::Upload), mark!("upload")),
    (BarKind::Step(StepKind::Download), mark!("download")),
    (
        BarKind::Step(StepKind::DeviceCopy),
        mark!("device to device"),
    ),
    (BarKind::Step(StepKind::Event), mark!("event")),
];

impl BarKind {
    /// Its place in [`KINDS`].
    pub fn index(self) -> usize {
        match self {
            BarKind::Host => 0,
            BarKind::Wait | BarKind::Step(StepKind::Wait) => 1,
            BarKind::Step(StepKind::Launch) => 2,
            BarKind::Step(StepKind::Support) => 3,
            BarKind::Step(StepKind::Upload) => 4,
            BarKind::Step(StepKind::Download) => 5,
            BarKind::Step(StepKind::DeviceCopy) => 6,
            BarKind::Step(StepKind::Event) => 7,
        }
    }

    /// What it is, as a tooltip; empty where its name says it.
    pub fn meaning(self) -> &'static str {
        match self {
            BarKind::Step(StepKind::Support) => {
                tr!("helper kernel: converts, reduces, measures or sets cells, and steps none")
            }
            _ => "",
        }
    }
}

/// Which of two rounds one is, one above the other on the same axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Which {
    /// The only one that is shown.
    Only,
    /// The one before the last change.
    Before,
    /// The one after it.
    After,
    /// A's, while A and B are compared.
    A,
    /// B's.
    B,
}

impl Which {
    /// The names of two rounds, from the top.
    pub fn both(is_comparing: bool) -> [Which; 2] {
        if is_comparing {
            [Which::A, Which::B]
        } else {
            [Which::Before, Which::After]
        }
    }

    /// The name of the round's host lane.
    pub fn host_name(self) -> &'static str {
        match self {
            Which::Only => tr!("host"),
            Which::Before => tr!("before: host"),
            Which::After => tr!("after: host"),
            Which::A => tr!("A: host"),
            Which::B => tr!("B: host"),
        }
    }
}

/// Says that the bars are one round's, which may differ from the times that are found.
pub fn drawn_round() -> &'static str {
    tr!("bars: a typical round; times: medians of many")
}

/// The newest timed round; it lives as long as what shows it, open or not.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    chart: Option<Chart>,
    /// The round before the last change, while its effect is shown; on the same axis.
    before: Option<Chart>,
    /// The number of the newest trace that was looked at.
    sequence: u64,
}

impl Timeline {
    /// Takes over the newest timed round, if there is a newer one. Waits for nothing; not to be
    /// called while no timeline is shown.
    pub fn update(&mut self, source: &dyn PictureSource) {
        if let Some(trace) = source.newer_trace(self.sequence) {
            self.sequence = trace.sequence;
            let whole = self.chart.take().map(|chart| chart.data.whole);
            self.chart = trace.drawn().cloned().map(Chart::new);
            self.before = trace.drawn_before().cloned().map(Chart::new);
            if let (Some(chart), Some(whole)) = (&mut self.chart, whole) {
                chart.keep_axis(whole);
            }
            if let (Some(chart), Some(before)) = (&mut self.chart, &mut self.before) {
                let whole = chart.data.whole.max(before.data.whole);
                chart.set_axis(whole);
                before.set_axis(whole);
            }
        }
    }

    /// Whether there was a timed round yet.
    pub fn has_round(&self) -> bool {
        self.chart.is_some()
    }

    /// The round that is shown, ready to be painted.
    pub fn chart(&self) -> Option<&Chart> {
        self.chart.as_ref()
    }

    /// The round before the last change, on the same axis as [`Timeline::chart`].
    pub fn before(&self) -> Option<&Chart> {
        self.before.as_ref()
    }

    /// Whether the round that is shown has block timestamps.
    pub fn has_block_timestamps(&self) -> bool {
        let chart = self.chart.as_ref();
        chart.is_some_and(|chart| !chart.round.block_timestamps.is_empty())
    }

    /// The axis' length in nanoseconds.
    pub fn axis_length(&self) -> f64 {
        self.chart.as_ref().map_or(1e6, |chart| chart.data.whole)
    }
}

// The streams of a timed round and what orders them, and what the host spent on its calls.

/// A stream of a timed round.
#[derive(Clone, PartialEq, Debug)]
pub struct RoundStream {
    /// The stream.
    pub id: StreamId,
    /// Its GPU, where there are several.
    pub gpu: Option<u16>,
    /// The number that the user's round gives it, or its instance's, or else its own.
    pub number: u32,
    /// What tells it apart from the other streams of a GPU that have bands of the same lattice.
    letter: Option<char>,
    /// How instances share streams.
    sharing: Streams,
}

impl RoundStream {
    /// Its name.
    pub fn name(&self) -> String {
        match self.letter {
            Some(letter) => format!("{} {letter}", self.name_of_all()),
            None => self.name_of_all(),
        }
    }

    /// The name of all streams of its GPU that have bands of the same lattice.
    pub fn name_of_all(&self) -> String {
        self.sharing.stream_name(self.number, self.gpu)
    }
}

/// The instance whose number is 0: B's first one, if the round is B's.
pub fn first_instance(round: &TimedRound) -> u32 {
    let instances = round.steps.iter().filter_map(|facts| facts.instance);
    instances.min().unwrap_or(0)
}

/// Its streams, GPU by GPU.
pub fn streams(round: &TimedRound) -> Vec<RoundStream> {
    let mut known: BTreeMap<StreamId, &StepFacts> = BTreeMap::new();
    for facts in round.steps.iter() {
        let known = known.entry(facts.stream).or_insert(facts);
        if known.instance.is_none() {
            *known = facts;
        }
    }
    let first = first_instance(round);
    let stream = |facts: &StepFacts| {
        let instance = facts.instance.map(|it| it - first);
        let number = facts.own_number.or(instance).unwrap_or(facts.stream.0);
        RoundStream {
            id: facts.stream,
            gpu: facts.gpu,
            number,
            letter: None,
            sharing: round.switches.streams,
        }
    };
    let mut streams: Vec<RoundStream> = known.into_values().map(stream).collect();
    streams.sort_by_key(|it| it.gpu);
    let mut alike: BTreeMap<(u16, u32), Vec<&mut Option<char>>> = BTreeMap::new();
    for it in &mut streams {
        if let Some(gpu) = it.gpu {
            alike
                .entry((gpu, it.number))
                .or_default()
                .push(&mut it.letter);
        }
    }
    for letters in alike.into_values().filter(|letters| letters.len() > 1) {
        let given = letters.into_iter().zip('a'..='z');
        given.for_each(|(its, letter)| *its = Some(letter));
    }
    streams
}

/// Which steps record an event, and which steps of other streams wait for that record.
pub fn dependencies(round: &TimedRound) -> Vec<[usize; 2]> {
    let mut records = HashMap::new();
    let mut found = Vec::new();
    for (at, step) in round.steps.iter().enumerate() {
        match step.event {
            Some(EventUse::Record(event)) => drop(records.insert(event, at)),
            Some(EventUse::Wait(event)) => {
                let record = records.get(&event).copied();
                let other = record.filter(|&it| round.steps[it].stream != step.stream);
                found.extend(other.map(|record| [record, at]));
            }
            None => {}
        }
    }
    found
}

/// How long the host was inside its calls, waiting left out, in microseconds.
pub fn host_us(round: &TimedRound) -> f64 {
    let waits = |span: &&Span| {
        let facts = round.steps.get(span.step as usize);
        facts.is_some_and(|facts| facts.kind == StepKind::Wait)
    };
    let calls = round.host.iter().filter(|span| !waits(span));
    calls.map(|span| span.length().as_us()).sum()
}

// Timed rounds as a file for Chrome's and Perfetto's readers.

/// Writes rounds in the Trace Event Format that Perfetto and `chrome://tracing` open: a lane a
/// stream and one for the host's calls; times in microseconds, as recorded.
pub fn write_chrome<'a>(
    rounds: impl IntoIterator<Item = &'a TimedRound>,
    device: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    // Perfetto files thread 0 under the number of its process, and so with a stream; the thread
    // that has that number itself is shown first.
    const HOST_LANE: u32 = 1;
    let lane = |stream: StreamId| HOST_LANE + 1 + stream.0;
    let name = |kind: &str, tid: u32, name: String| json!({"ph": "M", "pid": 1, "tid": tid, "name": kind, "args": {"name": name}});
    let mut events = vec![
        name(
            "process_name",
            HOST_LANE,
            format!("lifestreams on {device}"),
        ),
        name("thread_name", HOST_LANE, "host calls".into()),
    ];
    let mut known = std::collections::BTreeSet::new();
    for (number, round) in rounds.into_iter().enumerate() {
        for stream in streams(round) {
            if known.insert(stream.id) {
                events.push(name("thread_name", lane(stream.id), stream.name()));
            }
        }
        let slice = |span: &Span, tid: u32, on_host: bool| {
            let facts = round.steps.get(span.step as usize);
            let label = facts.map_or("submit", |facts| facts.label);
            let mut arguments = json!({"round": number});
            if let (Some(facts), false) = (facts, on_host) {
                arguments["instance"] = json!(facts.instance);
                if facts.instances > 1 {
                    arguments["instances"] = json!(facts.instances);
                }
                arguments["cells"] = json!(facts.cells);
                arguments["bytes"] = json!(facts.bytes);
            }
            json!({
                "ph": "X", "pid": 1, "tid": tid, "name": label, "args": arguments,
                "ts": span.start.as_us(), "dur": span.length().as_us(),
            })
        };
        events.extend(round.host.iter().map(|span| slice(span, HOST_LANE, true)));
        events.extend(
            round
                .spans
                .iter()
                .map(|span| slice(span, lane(span.stream), false)),
        );
    }
    let note = "spans are bounded by CUDA events: resolution 0.5 µs; host calls and all GPUs are on \
                the same clock, some µs inexact";
    let file = json!({"traceEvents": events, "displayTimeUnit": "ns", "otherData": {"note": note}});
    serde_json::to_writer(&mut *out, &file)?;
    out.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_its_indices() {
        for (index, (kind, _)) in KINDS.iter().enumerate() {
            assert_eq!(kind.index(), index);
        }
    }
}
