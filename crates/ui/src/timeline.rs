//! A timed round as lanes of bars, in nanoseconds from its start, and which SM ran which blocks when.
//!
//! A [`Timeline`] keeps the newest timed round as a [`Chart`], made once a round. `scale` turns
//! nanoseconds into positions; several lanes are folded into one row by [`fold_bars`].

use crate::Drawing;
use crate::code_editor::Race;
use crate::diagnosis::Diagnosis;
use crate::finding::headline;
use crate::numbers::{bytes, grouped, si, time_us};
use crate::theme::Palette;
use engine::{BlockTimestamp, Nanos, Span, StreamId};
use lang::{mark, tr};
use scale::{TimeRange, TimeZoom, nice};
use serde_json::json;
use session::trace::{EventUse, StepFacts, StepKind, TimedRound, drawn_in_words};
use session::{IsolatedOp, PictureSource, Status};
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::io::Write;
use std::ops::Range;
use std::sync::Arc;

use StepKind::*;

pub mod scale;

/// What a bar stands for: an op of this kind, or, if it has none, the host inside a call that does not
/// wait.
pub type BarKind = Option<StepKind>;

/// Every kind and its name, in the order of a legend.
pub const KINDS: [(BarKind, &str); 8] = [
    (None, mark!("host call")),
    (Some(Wait), mark!("waiting")),
    (Some(Launch), mark!("launch")),
    (Some(Support), mark!("helper")),
    (Some(Upload), mark!("upload")),
    (Some(Download), mark!("download")),
    (Some(DeviceCopy), mark!("device to device")),
    (Some(Event), mark!("event")),
];

/// How much of its colour a bar of this kind has within its edge: what is done is told apart without
/// hues, too.
pub fn fill(kind: BarKind) -> f32 {
    match kind {
        Some(Upload) => 0.8,
        Some(DeviceCopy) => 0.6,
        Some(Download) => 0.4,
        Some(Support) => 0.0,
        None | Some(Launch | Wait | Event) => 1.0,
    }
}

/// The colour of a bar of this kind that does the work of the instance of this number, or of several.
pub fn colour<C: Copy>(kind: BarKind, number: Option<u32>, palette: &Palette<C>) -> C {
    match (kind, number) {
        (None, _) => palette.host_call,
        (Some(Wait), _) => palette.waiting,
        (Some(Event), _) => palette.event,
        (Some(_), Some(number)) => palette.instance(number as usize),
        (Some(_), None) => palette.common_work,
    }
}

/// The names of the hosts' rows of one round, or of two, from the top.
pub fn host_names(rounds: usize, is_comparing: bool) -> [&'static str; 2] {
    match (rounds, is_comparing) {
        (2, true) => [tr!("A: host"), tr!("B: host")],
        (2, false) => [tr!("before: host"), tr!("after: host")],
        (_, true) => [tr!("B: host"), ""],
        _ => [tr!("host"), ""],
    }
}

/// How long the rounds of charts are beside the time of each, in microseconds, if one is longer or shorter.
pub fn drawn_beside<'a>(
    charts: impl IntoIterator<Item = Option<&'a Chart>>,
    us: [Option<f64>; 2],
) -> Option<String> {
    let drawn = charts.into_iter().zip(us);
    let drawn = drawn.filter_map(|(chart, us)| Some((&*chart?.round, us?)));
    drawn_in_words(&drawn.collect::<Vec<_>>())
}

/// The newest timed round, and which part of it is shown; it lives as long as what shows it, open or not.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// The round that is shown, ready to be painted.
    pub chart: Option<Arc<Chart>>,
    /// The round before the last change, while its effect is shown; on the same axis.
    pub before: Option<Arc<Chart>>,
    /// How much of the round that is shown overlaps, unless nothing ran in it.
    pub diagnosis: Option<Diagnosis>,
    /// A round with a race, which a window shows in place of the timed ones.
    pub race: Option<Race>,
    /// The part that a window shows.
    pub zoom: TimeZoom,
    /// Whether the round that is shown stays.
    pub frozen: bool,
    /// The pixel of the window under the mouse.
    pub pointer: Option<[f64; 2]>,
    /// The times of its ops alone, if any, that this was made with; none where it is of another round.
    judged: Option<Option<Arc<[IsolatedOp]>>>,
    /// The number of the newest trace that was looked at.
    sequence: u64,
}

/// An axis stays as it is while rounds take at least this part of it: otherwise it would change
/// back and forth with rounds whose lengths vary.
const MIN_PART_OF_AXIS: f64 = 0.4;

impl Timeline {
    /// Takes over the newest timed round, if there is a newer one and it is not frozen. Waits for
    /// nothing; not to be called while no timeline is shown.
    pub fn update(&mut self, source: &dyn PictureSource) {
        if self.frozen && self.chart.is_some() {
            return;
        }
        let Some(trace) = source.newer_trace(self.sequence) else {
            return;
        };
        self.sequence = trace.sequence;
        let mut chart = trace.drawn().cloned().map(Chart::new);
        let mut before = trace.drawn_before().cloned().map(Chart::new);
        if let Some(chart) = &mut chart {
            let whole = self.chart.as_ref().map_or(0.0, |shown| shown.whole);
            if (MIN_PART_OF_AXIS * whole..=whole).contains(&chart.wall) {
                chart.whole = whole;
            }
            if let Some(before) = &mut before {
                chart.whole = chart.whole.max(before.whole);
                before.whole = chart.whole;
            }
        }
        (self.chart, self.before) = (chart.map(Arc::new), before.map(Arc::new));
        self.judged = None;
    }

    /// How long the rounds are that are drawn, where the times beside them are others.
    pub fn drawn_in_words(&self, status: &Status) -> Option<String> {
        let [before_us, us] = headline(status).map_or([None; 2], |it| it.round_us);
        let charts = [self.before.as_deref(), self.chart.as_deref()];
        drawn_beside(charts, [before_us, us.or(status.rates.round_us)])
    }

    /// Judges the round that is shown, where it is new or the times of its ops alone are. The one before a change,
    /// or A's, is left out where it would say the opposite of the times: timing each op lengthens one setting's round
    /// more than another's.
    pub fn judge(&mut self, status: &Status, drawing: &Drawing) {
        if let (Some(before), Some(chart)) = (&self.before, &self.chart)
            && let Some([Some(before_us), Some(us)]) = headline(status).map(|it| it.round_us)
        {
            let [drawn, measured] = [before.wall / chart.wall, before_us / us].map(f64::ln);
            // Nobody sees a difference of 2 %.
            if drawn * measured < 0.0 && drawn.abs() > 0.02 {
                self.before = None;
            }
        }
        let isolated = Some(status.lab.isolated.clone());
        if self.judged != isolated {
            let draws = drawing.adapter.as_ref();
            let is_drawn_here = draws.is_some_and(|it| it.is_one_of(&status.engine.devices));
            let chart = self.chart.as_ref();
            self.diagnosis = chart.and_then(|it| Diagnosis::of(&it.round, status, is_drawn_here));
            self.judged = isolated;
        }
    }

    /// Shows a round with a race in place of the timed ones, or these again.
    pub fn show_race(&mut self, race: Option<&Race>) {
        if self.race.as_ref() != race {
            self.race = race.cloned();
            self.zoom.fit();
        }
    }

    /// The round that a window shows.
    pub fn shown(&self) -> Option<&Chart> {
        let race = self.race.as_ref().map(|race| &*race.chart);
        race.or(self.chart.as_deref())
    }

    /// The length of the window's axis in nanoseconds.
    pub fn whole(&self) -> f64 {
        self.shown().map_or(1e6, |chart| chart.whole)
    }
}

/// The axis ends at one of these times a power of ten, so that it stays as it is from round to
/// round.
const AXIS: [f64; 11] = [1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0];

/// A span, in nanoseconds from the round's start.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bar {
    /// When it starts.
    pub start: f64,
    /// When it ends.
    pub end: f64,
    /// The step's index, or [`Span::WHOLE`].
    pub step: u32,
    /// What was done.
    pub kind: BarKind,
    /// The number of the instance that it was done for, if it was one.
    pub number: Option<u32>,
    /// How many blocks of a launch it is, in the lane of an SM; otherwise none.
    pub blocks: u32,
}

/// A stream, an SM or the host, and what it did.
#[derive(Clone, PartialEq, Debug)]
pub struct Lane {
    /// The stream's number.
    id: u32,
    /// The stream's name, or the SM's number; the host has none.
    pub name: String,
    /// Its spans, in the order in which they ran.
    pub bars: Vec<Bar>,
}

/// The place of a lane, and a bar in it.
pub type PlacedBar = (usize, Bar);

/// A timed round as lanes of bars.
#[derive(Clone, Debug)]
pub struct Chart {
    /// The round as it was timed.
    pub round: Arc<TimedRound>,
    /// The host's calls.
    pub host: Lane,
    /// In the order of the GPUs' and the streams' numbers.
    pub lanes: Vec<Lane>,
    /// What each SM (or CPU worker) ran, if the round recorded block timestamps.
    pub sms: Vec<Lane>,
    /// From the first call or op to the end of the last, in nanoseconds.
    pub wall: f64,
    /// The axis' length.
    pub whole: f64,
    /// Records of events, and what waits for them in another lane.
    pub arrows: Vec<[PlacedBar; 2]>,
    /// Two ops that nothing orders, though the first is to be over before the second begins.
    pub race: Option<[PlacedBar; 2]>,
}

impl PartialEq for Chart {
    fn eq(&self, other: &Self) -> bool {
        let shown = |it: &Chart| (it.whole, it.race);
        shown(self) == shown(other) && self.host == other.host && self.lanes == other.lanes
    }
}

impl Chart {
    /// Sorts a timed round's spans into lanes.
    pub fn new(round: Arc<TimedRound>) -> Chart {
        let bounds = round.bounds();
        let (origin, end) = bounds.map_or((0, 0), |(start, end)| (start.0, end.0));
        let first = first_instance(&round);
        let facts = |step: u32| round.steps.get(step as usize);
        let bar = |step: u32, kind: BarKind, [start, end]: [Nanos; 2]| {
            let [start, end] = [start, end].map(|at| (at.0 - origin) as f64);
            let one = facts(step).filter(|facts| facts.instances <= 1);
            Bar {
                start,
                end: end.max(start),
                step,
                kind,
                number: one.and_then(|facts| Some(facts.instance? - first)),
                blocks: 0,
            }
        };
        let kind = |step: u32| facts(step).map(|facts| facts.kind);
        let call = |span: &Span| {
            let waits = kind(span.step).filter(|kind| *kind == Wait);
            bar(span.step, waits, [span.start, span.end])
        };
        let mut bars: HashMap<StreamId, Vec<Bar>> = HashMap::new();
        for span in &round.spans {
            let kind = Some(kind(span.step).unwrap_or(Event));
            let bar = bar(span.step, kind, [span.start, span.end]);
            bars.entry(span.stream).or_default().push(bar);
        }
        let lane = |(id, name): (StreamId, String)| Lane {
            bars: bars.remove(&id).unwrap_or_default(),
            id: id.0,
            name,
        };
        let lanes: Vec<Lane> = streams(&round).into_iter().map(lane).collect();
        let arrow =
            |[record, wait]: [usize; 2]| Some([bar_of(&lanes, record)?, bar_of(&lanes, wait)?]);
        let wall = (end - origin) as f64;
        Chart {
            host: Lane {
                id: 0,
                name: String::new(),
                bars: round.host.iter().map(call).collect(),
            },
            sms: sms(&round.block_timestamps, |it| {
                bar(it.step, Some(Launch), [it.start, it.end])
            }),
            arrows: dependencies(&round).into_iter().filter_map(arrow).collect(),
            lanes,
            race: None,
            wall,
            whole: nice(wall.max(1e3), &AXIS),
            round,
        }
    }

    /// The same with two steps marked that nothing orders, if both have a bar.
    pub fn with_race(mut self, [first, second]: [usize; 2]) -> Chart {
        let [first, second] = [first, second].map(|step| bar_of(&self.lanes, step));
        self.race = first.zip(second).map(<[PlacedBar; 2]>::from);
        self
    }

    /// Rounds on one axis, which all fit.
    pub fn on_one_axis(rounds: Vec<Arc<TimedRound>>) -> Vec<Chart> {
        let mut charts: Vec<_> = rounds.into_iter().map(Chart::new).collect();
        let whole = charts.iter().map(|chart| chart.whole).fold(0.0, f64::max);
        charts.iter_mut().for_each(|chart| chart.whole = whole);
        charts
    }

    /// The kinds of bars that it has, and their names.
    pub fn kinds(&self) -> impl Iterator<Item = &'static (BarKind, &'static str)> {
        let bars = || {
            let lanes = self.lanes.iter().chain([&self.host]);
            lanes.flat_map(|lane| &lane.bars)
        };
        KINDS
            .iter()
            .filter(move |(kind, _)| bars().any(|bar| bar.kind == *kind))
    }

    fn facts(&self, bar: &Bar) -> Option<&StepFacts> {
        self.round.steps.get(bar.step as usize)
    }

    /// The name of the op of a bar.
    pub fn name(&self, bar: &Bar) -> &'static str {
        match self.facts(bar) {
            Some(facts) => lang::text(facts.name()),
            None if self.round.replayed => tr!("graph launch"),
            None => tr!("submit"),
        }
    }

    /// The names of bars, each with its start and its time.
    pub fn list(&self, bars: &[Bar]) -> String {
        let each = bars.iter().map(|bar| {
            let [start, time] = [bar.start, bar.end - bar.start].map(|ns| time_us(ns / 1e3));
            tr!("{name} at {start}, {time}", name = self.name(bar))
        });
        each.collect::<Vec<_>>().join("; ")
    }

    /// A bar in words, line by line.
    pub fn describe(&self, bar: &Bar) -> Vec<String> {
        let when = tr!(
            "from {} · for {}",
            time_us(bar.start / 1e3),
            time_us((bar.end - bar.start) / 1e3)
        );
        let Some(facts) = self.facts(bar) else {
            let title = if self.round.replayed {
                tr!("host: launches the round's graph")
            } else {
                tr!("host: submits the round")
            };
            return vec![title.into(), when];
        };
        let label = lang::text(facts.name());
        let first = first_instance(&self.round);
        let instance = facts.instance.map(|id| id - first);
        let instance = instance.map(|id| match facts.instances {
            0 | 1 => tr!(" · instance {id}", id = id),
            n => tr!(" · instances {id} to {}", id + n - 1, id = id),
        });
        let stream = self.lanes.iter().find(|lane| lane.id == facts.stream.0);
        let stream = stream.map_or(String::new(), |lane| lane.name.clone());
        let place = stream + instance.unwrap_or_default().as_str();
        let cells = grouped(facts.cells);
        let (title, amount) = match bar.kind {
            None => (tr!("host: inside the call for {}", label), String::new()),
            Some(Wait) => (tr!("host: waiting").into(), String::new()),
            _ if bar.blocks == 1 => (label.into(), tr!("1 block").into()),
            _ if bar.blocks > 1 => (label.into(), tr!("{} blocks", grouped(bar.blocks.into()))),
            Some(Upload | Download | DeviceCopy) => {
                let rate = facts.bytes as f64 / (bar.end - bar.start).max(1.0) * 1e9;
                (
                    label.into(),
                    format!("{} · {}B/s", bytes(facts.bytes), si(rate)),
                )
            }
            Some(Launch) => (label.into(), cells + tr!(" cells stepped")),
            Some(Support) => (label.into(), cells + tr!(" cells")),
            Some(Event) => (label.into(), String::new()),
        };
        let meaning = match bar.kind {
            Some(Support) => {
                tr!("helper kernel: converts, reduces, measures or sets cells, and steps none")
            }
            _ => "",
        };
        let lines = [title, place, when, amount, meaning.into()];
        lines.into_iter().filter(|line| !line.is_empty()).collect()
    }
}

/// The bar of a step, and the place of its lane.
fn bar_of(lanes: &[Lane], step: usize) -> Option<PlacedBar> {
    lanes.iter().enumerate().find_map(|(at, lane)| {
        let bar = lane.bars.iter().find(|bar| bar.step as usize == step)?;
        Some((at, *bar))
    })
}

/// A lane for each SM: the blocks of a launch that follow one another on it are one bar.
fn sms(timestamps: &[BlockTimestamp], bar: impl Fn(&BlockTimestamp) -> Bar) -> Vec<Lane> {
    let mut timestamps: Vec<_> = timestamps.iter().collect();
    timestamps.sort_unstable_by_key(|it| (it.sm, it.step, it.start));
    let count = timestamps.last().map_or(0, |last| last.sm + 1);
    let lane = |id: u32| Lane {
        id,
        name: id.to_string(),
        bars: Vec::new(),
    };
    let mut lanes: Vec<Lane> = (0..count).map(lane).collect();
    for timestamp in timestamps {
        let (next, bars) = (bar(timestamp), &mut lanes[timestamp.sm as usize].bars);
        match bars.last_mut() {
            // Between two blocks of a launch an SM rests for less than a microsecond.
            Some(last) if last.step == next.step && next.start <= last.end + 1e3 => {
                last.end = last.end.max(next.end);
                last.blocks += 1;
            }
            _ => bars.push(Bar { blocks: 1, ..next }),
        }
    }
    lanes
}

/// The name of a row of these lanes, which lie one after the other.
pub fn row_name(lanes: &[Lane]) -> String {
    match lanes {
        [] => String::new(),
        [lane] => lane.name.clone(),
        [first, .., last] => {
            let last = last.name.rsplit(' ').next();
            format!("{}–{}", first.name, last.unwrap_or_default())
        }
    }
}

/// A piece of a folded row: a kind over some columns.
#[derive(Clone, PartialEq, Debug)]
pub struct Segment {
    /// Its columns.
    pub columns: Range<usize>,
    /// What covers most of these columns.
    pub kind: BarKind,
    /// As [`Bar::number`].
    pub number: Option<u32>,
    /// How much of the time, from 1 (hardly) to 4 (all the time).
    pub level: u8,
}

/// The bars of several lanes in one row of so many columns: in each, the bar that covers most of it.
pub fn fold_bars<'a>(
    bars: impl IntoIterator<Item = &'a Bar>,
    range: TimeRange,
    count: usize,
) -> Vec<Segment> {
    let mut most = vec![(0.0, None, None); count];
    let per_column = range.length / count.max(1) as f64;
    for bar in bars {
        let [start, end] = [bar.start, bar.end].map(|ns| (ns - range.from) / per_column);
        if end < 0.0 || start >= count as f64 {
            continue;
        }
        let first = start.max(0.0) as usize;
        let last = (end.ceil() as usize).clamp(first + 1, count);
        for (column, most) in (first..last).zip(&mut most[first..last]) {
            let at = column as f64;
            // Even the shortest time covers some of a column.
            let part = (end.min(at + 1.0) - start.max(at)).max(0.01);
            if part > most.0 {
                *most = (part, bar.kind, bar.number);
            }
        }
    }
    let mut segments: Vec<Segment> = Vec::new();
    for (column, (part, kind, number)) in most.into_iter().enumerate() {
        if part == 0.0 {
            continue;
        }
        let level = (part * 4.0).ceil().clamp(1.0, 4.0) as u8;
        let continued = segments.last_mut().filter(|last| {
            let is_same = (last.kind, last.number, last.level) == (kind, number, level);
            is_same && last.columns.end == column
        });
        match continued {
            Some(last) => last.columns.end += 1,
            None => segments.push(Segment {
                columns: column..column + 1,
                kind,
                number,
                level,
            }),
        }
    }
    segments
}

// The streams of a timed round and what orders them, and what the host spent on its calls.

/// The instance whose number is 0: B's first one, if the round is B's.
fn first_instance(round: &TimedRound) -> u32 {
    let instances = round.steps.iter().filter_map(|facts| facts.instance);
    instances.min().unwrap_or(0)
}

/// The streams of a round and their names, GPU by GPU. What names a stream is the number that the
/// user's round gives it, or its instance's, or else its own.
fn streams(round: &TimedRound) -> Vec<(StreamId, String)> {
    let mut known: BTreeMap<StreamId, &StepFacts> = BTreeMap::new();
    for facts in round.steps.iter() {
        let known = known.entry(facts.stream).or_insert(facts);
        if known.instance.is_none() {
            *known = facts;
        }
    }
    let first = first_instance(round);
    let stream = |(id, facts): (StreamId, &StepFacts)| {
        let instance = facts.instance.map(|it| it - first);
        (facts.gpu, facts.own_number.or(instance).unwrap_or(id.0), id)
    };
    let mut streams: Vec<_> = known.into_iter().map(stream).collect();
    streams.sort_by_key(|it| it.0);
    let name = |(at, &(gpu, number, id)): (usize, &(Option<u16>, u32, StreamId))| {
        let name = round.switches.streams.stream_name(number, gpu);
        if gpu.is_none() {
            return (id, name);
        }
        // Streams of a GPU that have bands of the same lattice are told apart by letters.
        let alike = |streams: &[(Option<u16>, u32, StreamId)]| {
            let alike = streams.iter().filter(|it| (it.0, it.1) == (gpu, number));
            alike.count()
        };
        let letter = char::from(b'a' + alike(&streams[..at]) as u8);
        let is_alone = alike(&streams) == 1;
        (
            id,
            if is_alone {
                name
            } else {
                format!("{name} {letter}")
            },
        )
    };
    streams.iter().enumerate().map(name).collect()
}

/// Which steps record an event, and which steps of other streams wait for that record.
fn dependencies(round: &TimedRound) -> Vec<[usize; 2]> {
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
        for (stream, called) in streams(round) {
            if known.insert(stream) {
                events.push(name("thread_name", lane(stream), called));
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
    use crate::fixtures::{
        self, Timed, distance, round_with_block_timestamps, serial_round, timed_round,
    };
    use session::{Effect, Source};

    fn bar(start: f64, end: f64, kind: StepKind) -> Bar {
        Bar {
            start,
            end,
            step: 0,
            kind: Some(kind),
            number: None,
            blocks: 0,
        }
    }

    #[test]
    fn a_folded_row_shows_what_covers_most() {
        let bars = [
            bar(0.0, 20.0, StepKind::Launch),
            bar(15.0, 31.0, StepKind::Download),
            bar(55.0, 55.1, StepKind::Upload),
        ];
        let all = TimeRange {
            from: 0.0,
            length: 100.0,
        };
        let segment = |columns, kind, level| Segment {
            columns,
            kind: Some(kind),
            number: None,
            level,
        };
        let expected = [
            segment(0..2, StepKind::Launch, 4),
            segment(2..3, StepKind::Download, 4),
            segment(3..4, StepKind::Download, 1),
            segment(5..6, StepKind::Upload, 1),
        ];
        assert_eq!(fold_bars(&bars, all, 10), expected);
    }

    /// The drawn round before the change is the shorter one: it is left out where its time is the longer one.
    #[test]
    fn rounds_are_drawn_in_the_order_of_their_times() {
        for (before_us, is_drawn) in [(100.0, true), (10_000.0, false)] {
            let mut timeline = Timeline::default();
            timeline.update(&Timed(serial_round(2), Some(timed_round(2))));
            let mut status = fixtures::status(2, life::Size::new(64, 64).unwrap());
            status.lab.last_effect = Some(Effect {
                what: String::new().into(),
                round_us: [Some(before_us), Some(1000.0)],
                finding: None,
                source: Source::default(),
            });
            timeline.judge(&status, &Drawing::default());
            assert_eq!(timeline.before.is_some(), is_drawn);
        }
    }

    #[test]
    fn kinds_of_work_are_told_apart_without_hues() {
        let work = KINDS[2..7].iter().map(|(kind, _)| fill(*kind));
        let fills: Vec<f32> = work.collect();
        for (index, a) in fills.iter().enumerate() {
            for b in &fills[index + 1..] {
                assert!((a - b).abs() >= 0.14, "{a} and {b}");
            }
        }
    }

    #[test]
    fn what_no_instance_does_differs_from_what_it_does() {
        let palette = &Palette::DARK;
        let kinds = [None, Some(StepKind::Wait), Some(StepKind::Event)];
        let all = kinds.map(|kind| colour(kind, None, palette));
        for (index, a) in all.iter().enumerate() {
            for b in all[index + 1..].iter().chain([&palette.common_work]) {
                assert!(distance(*a, *b) >= 0.1, "{a:?} and {b:?}");
            }
        }
    }

    #[test]
    fn blocks_of_a_launch_that_follow_one_another_are_one_bar() {
        let mut round = round_with_block_timestamps(2, 8);
        // Step 1 launches instance 0, step 4 instance 1.
        let timestamp = |(step, sm, start, end): (u32, u32, i64, i64)| BlockTimestamp {
            step,
            sm,
            start: Nanos(start),
            end: Nanos(end),
        };
        let timestamps = [
            (1, 3, 40_000, 45_000),
            (1, 3, 10_000, 20_000),
            (1, 3, 20_400, 30_000),
            (4, 3, 15_000, 42_000),
            (1, 7, 10_000, 20_000),
        ];
        round.block_timestamps = timestamps.map(timestamp).into();
        let origin = round.bounds().unwrap().0.0 as f64;
        let sms = Chart::new(Arc::new(round)).sms;
        let busy = sms.iter().filter(|sm| !sm.bars.is_empty());
        assert_eq!((busy.count(), sms.len()), (2, 8));
        let shown = sms[3].bars.iter().map(|bar| {
            let [start, end] = [bar.start, bar.end].map(|at| at + origin);
            (bar.number, start, end, bar.blocks)
        });
        let expected = [
            (Some(0), 10_000.0, 30_000.0, 2),
            (Some(0), 40_000.0, 45_000.0, 1),
            (Some(1), 15_000.0, 42_000.0, 1),
        ];
        assert_eq!(shown.collect::<Vec<_>>(), expected);
    }
}
