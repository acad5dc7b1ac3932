//! A timed round as lanes of bars, made once a round; and several lanes folded into one row.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::numbers::{bytes, grouped, si, time_us};
use crate::theme::Palette;
use crate::timeline::blocks::BlockMap;
use crate::timeline::scale::nice;
use crate::timeline::scale::{Columns, TimeScale, join};
use crate::timeline::{BarKind, KINDS};
use crate::timeline::{RoundStream, dependencies, first_instance, streams};

use engine::{Span, StreamId};
use lang::tr;
use session::trace::{StepFacts, StepKind, TimedRound};

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
}

/// A stream and what it did.
#[derive(Clone, PartialEq, Debug)]
pub struct Lane {
    /// The stream.
    pub stream: RoundStream,
    /// Its spans, in the order in which they ran.
    pub bars: Vec<Bar>,
}

/// From the record of an event to what waits for it: each by the place of its lane, and when.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Arrow {
    /// The lane and the end of the record.
    pub from: (usize, f64),
    /// The lane and the end of the wait.
    pub to: (usize, f64),
}

/// An op that races with another one: the place of its lane, and its bar there.
pub type RacingBar = (usize, Bar);

/// A timed round as lanes of bars.
#[derive(Clone, PartialEq, Debug)]
pub struct RoundChart {
    /// The host's calls.
    pub host: Vec<Bar>,
    /// In the order of the GPUs' and the streams' numbers.
    pub lanes: Vec<Lane>,
    /// When and where blocks ran, if the round recorded block timestamps.
    pub blocks: BlockMap,
    /// From the first call or op to the end of the last, in nanoseconds.
    pub wall: f64,
    /// The axis' length.
    pub whole: f64,
    /// The names of its helper kernels.
    pub helpers: BTreeSet<&'static str>,
    /// Records of events, and what waits for them in another lane.
    pub arrows: Vec<Arrow>,
    /// Two ops that nothing orders, though the first is to be over before the second begins.
    pub race: Option<[RacingBar; 2]>,
    /// The instance whose number is 0: B's first one, if the round is B's.
    first: u32,
}

/// A chart and its round, which says of each bar what it is.
#[derive(Clone, Debug)]
pub struct Chart {
    /// The round as it was timed.
    pub round: Arc<TimedRound>,
    /// Its bars.
    pub data: Arc<RoundChart>,
}

impl PartialEq for Chart {
    fn eq(&self, other: &Self) -> bool {
        self.data == other.data
    }
}

impl Chart {
    /// Sorts a timed round's spans into lanes.
    pub fn new(round: Arc<TimedRound>) -> Chart {
        let (start, end) = round
            .bounds()
            .map_or((0, 0), |(start, end)| (start.0, end.0));
        let first = first_instance(&round);
        let number = |step: u32| {
            let facts = round.steps.get(step as usize);
            let instance = facts.filter(|facts| facts.instances <= 1)?.instance?;
            Some(instance - first)
        };
        let bar = |span: &Span, kind: BarKind| {
            let from = (span.start.0 - start) as f64;
            Bar {
                start: from,
                end: ((span.end.0 - start) as f64).max(from),
                step: span.step,
                kind,
                number: number(span.step),
            }
        };
        let support = round.steps.iter();
        let support = support.filter(|facts| facts.kind == StepKind::Support);
        let helpers = support.map(|facts| facts.label).collect();
        let mut bars: HashMap<StreamId, Vec<Bar>> = HashMap::new();
        for span in &round.spans {
            let facts = round.steps.get(span.step as usize);
            let kind = facts.map_or(StepKind::Event, |facts| facts.kind);
            let bar = bar(span, BarKind::Step(kind));
            bars.entry(span.stream).or_default().push(bar);
        }
        let lane = |stream: RoundStream| Lane {
            bars: bars.remove(&stream.id).unwrap_or_default(),
            stream,
        };
        let wall = (end - start) as f64;
        let lanes: Vec<Lane> = streams(&round).into_iter().map(lane).collect();
        let end_of = |step| bar_of(&lanes, step).map(|(at, bar)| (at, bar.end));
        let arrow = |[record, wait]: [usize; 2]| {
            Some(Arrow {
                from: end_of(record)?,
                to: end_of(wait)?,
            })
        };
        let arrows = dependencies(&round).into_iter().filter_map(arrow).collect();
        let data = RoundChart {
            host: round
                .host
                .iter()
                .map(|span| bar(span, host_kind(&round, span)))
                .collect(),
            blocks: BlockMap::new(&round, start, number),
            lanes,
            arrows,
            race: None,
            wall,
            whole: nice(wall.max(1e3), &AXIS),
            helpers,
            first,
        };
        Chart {
            data: Arc::new(data),
            round,
        }
    }

    /// The same with two steps marked that nothing orders, if both have a bar.
    pub fn with_race(mut self, steps: [usize; 2]) -> Chart {
        let [first, second] = steps.map(|step| bar_of(&self.data.lanes, step));
        Arc::make_mut(&mut self.data).race = first.zip(second).map(<[RacingBar; 2]>::from);
        self
    }

    /// Two rounds on one axis, which both fit.
    pub fn on_one_axis(rounds: [Arc<TimedRound>; 2]) -> [Chart; 2] {
        let mut charts = rounds.map(Chart::new);
        let whole = charts
            .iter()
            .map(|chart| chart.data.whole)
            .fold(0.0, f64::max);
        charts.iter_mut().for_each(|chart| chart.set_axis(whole));
        charts
    }

    /// Keeps the axis of the round shown before, in nanoseconds, if this one fits it.
    pub fn keep_axis(&mut self, before: f64) {
        if (MIN_PART_OF_AXIS * before..=before).contains(&self.data.wall) {
            self.set_axis(before);
        }
    }

    /// Makes the axis so long, in nanoseconds.
    pub(super) fn set_axis(&mut self, whole: f64) {
        Arc::make_mut(&mut self.data).whole = whole;
    }
}

/// The bar of a step, and the place of its lane.
fn bar_of(lanes: &[Lane], step: usize) -> Option<RacingBar> {
    lanes.iter().enumerate().find_map(|(at, lane)| {
        let bar = lane.bars.iter().find(|bar| bar.step as usize == step)?;
        Some((at, *bar))
    })
}

/// An axis stays as it is while rounds take at least this part of it: otherwise it would change
/// back and forth with rounds whose lengths vary.
const MIN_PART_OF_AXIS: f64 = 0.4;

impl RoundChart {
    /// The number of an instance of the round; see [`Status::number_of`].
    pub fn number_of(&self, instance: u32) -> u32 {
        instance - self.first
    }

    /// The name of a stream of the round.
    pub(super) fn stream_name(&self, stream: StreamId) -> String {
        let lane = self.lanes.iter().find(|lane| lane.stream.id == stream);
        lane.map_or_else(String::new, |lane| lane.stream.name())
    }
}

/// The name of a row of these lanes, which lie one after the other.
pub fn row_name(lanes: &[Lane]) -> String {
    match lanes {
        [] => String::new(),
        [lane] => lane.stream.name(),
        [first, .., last] => {
            let gpus = first.stream.gpu.zip(last.stream.gpu);
            let name = first.stream.name_of_all();
            let [first, last] = [first, last].map(|lane| lane.stream.number);
            match gpus {
                Some((gpu, other)) if gpu != other => tr!("GPUs {gpu}–{other}"),
                Some(_) if first == last => name,
                Some((gpu, _)) => tr!("GPU {gpu}: {first}–{last}"),
                None => tr!("streams {}–{}", first, last),
            }
        }
    }
}

/// Whether the host works or waits inside a call.
fn host_kind(round: &TimedRound, span: &Span) -> BarKind {
    match round.steps.get(span.step as usize) {
        Some(facts) if facts.kind == StepKind::Wait => BarKind::Wait,
        _ => BarKind::Host,
    }
}

/// A piece of a folded row: a kind over some pixel columns, from 1 (hardly) to 4 (all the time).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LaneSegment {
    /// Its first pixel column, and the one behind its last.
    pub columns: (usize, usize),
    /// What covers most of these columns.
    pub kind: BarKind,
    /// As [`Bar::number`].
    pub number: Option<u32>,
    /// How much of the time, from 1 (hardly) to 4 (all the time).
    pub level: u8,
}

/// The bars of several lanes in one row: in each pixel column, the one that covers most of it.
pub fn fold_bars<'a>(
    bars: impl IntoIterator<Item = &'a Bar>,
    scale: TimeScale,
    left: f32,
    count: usize,
) -> Vec<LaneSegment> {
    let columns = Columns { scale, left, count };
    let mut most = vec![(0.0f32, usize::MAX, None); count];
    for bar in bars {
        for (column, part) in columns.covered(bar.start, bar.end) {
            if part > most[column].0 {
                most[column] = (part, bar.kind.index(), bar.number);
            }
        }
    }
    let shown = |(part, kind, number): (f32, usize, Option<u32>)| {
        let level = (part * 4.0).ceil().clamp(1.0, 4.0) as u8;
        (part > 0.0).then(|| (KINDS[kind].0, number, level))
    };
    let joined = join(most.into_iter().map(shown)).into_iter();
    let segment = |(columns, (kind, number, level))| LaneSegment {
        columns,
        kind,
        number,
        level,
    };
    joined.map(segment).collect()
}

/// How a bar is painted with its colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pattern {
    /// All over.
    Solid,
    /// All over, darker.
    Dim,
    /// Its edge alone, around a darker inside.
    Hollow,
    /// Its edge, and upright lines within.
    Fence,
    /// All over, but for a line across.
    Split,
}

impl Pattern {
    /// The part of the colour that shows where a bar is too small for its pattern, or is folded with
    /// others; the rest is what lies behind.
    pub const fn strength(self) -> f32 {
        match self {
            Pattern::Solid => 1.0,
            Pattern::Split => 0.85,
            Pattern::Fence => 0.7,
            Pattern::Hollow => 0.5,
            Pattern::Dim => 0.35,
        }
    }
}

impl BarKind {
    /// How it is painted.
    pub fn pattern(self) -> Pattern {
        match self {
            BarKind::Host | BarKind::Wait => Pattern::Solid,
            BarKind::Step(kind) => match kind {
                StepKind::Launch | StepKind::Wait | StepKind::Event => Pattern::Solid,
                StepKind::Support => Pattern::Dim,
                StepKind::Upload => Pattern::Fence,
                StepKind::Download => Pattern::Hollow,
                StepKind::DeviceCopy => Pattern::Split,
            },
        }
    }

    /// The colour of one of this kind that does the work of the instance of this number, or of
    /// several.
    pub fn colour<C: Copy>(self, number: Option<u32>, palette: &Palette<C>) -> C {
        match (self, number) {
            (BarKind::Host, _) => palette.host_call,
            (BarKind::Wait | BarKind::Step(StepKind::Wait), _) => palette.waiting,
            (BarKind::Step(StepKind::Event), _) => palette.event,
            (BarKind::Step(_), Some(number)) => palette.instance(number as usize),
            (BarKind::Step(_), None) => palette.common_work,
        }
    }
}

impl Bar {
    /// Its colour.
    pub fn colour<C: Copy>(&self, palette: &Palette<C>) -> C {
        self.kind.colour(self.number, palette)
    }
}

impl Chart {
    fn facts(&self, bar: &Bar) -> Option<&StepFacts> {
        self.round.steps.get(bar.step as usize)
    }

    /// The name of the op of a bar.
    pub fn name(&self, bar: &Bar) -> &'static str {
        match self.facts(bar) {
            Some(facts) => lang::text(facts.label),
            None if self.round.replayed => tr!("graph launch"),
            None => tr!("submit"),
        }
    }

    /// The names of bars, each with its time.
    pub fn list(&self, bars: &[Bar]) -> String {
        let each = bars.iter().map(|bar| {
            let time = time_us((bar.end - bar.start) / 1e3);
            format!("{} {time}", self.name(bar))
        });
        each.collect::<Vec<_>>().join(", ")
    }

    /// A bar in words, line by line.
    pub fn describe(&self, bar: &Bar) -> Vec<String> {
        let when = tr!(
            "from {} · for {}",
            time_us(bar.start / 1e3),
            time_us((bar.end - bar.start) / 1e3)
        );
        let Some(facts) = self.facts(bar) else {
            let title = match bar.step {
                Span::WHOLE if self.round.replayed => tr!("host: launches the round's graph"),
                Span::WHOLE => tr!("host: submits the round"),
                _ => tr!("host call"),
            };
            return vec![title.into(), when];
        };
        let number = |id| self.data.number_of(id);
        let instance = facts.instance.map(number).map(|id| match facts.instances {
            0 | 1 => tr!(" · instance {id}", id = id),
            n => tr!(" · instances {id} to {}", id + n - 1, id = id),
        });
        let place = self.data.stream_name(facts.stream) + instance.unwrap_or_default().as_str();
        if matches!(bar.kind, BarKind::Host | BarKind::Wait) {
            let what = match bar.kind {
                BarKind::Wait => tr!("host: waiting").into(),
                _ => tr!("host: inside the call for {}", lang::text(facts.label)),
            };
            return vec![what, place, when];
        }
        let amount = match facts.kind {
            StepKind::Upload | StepKind::Download | StepKind::DeviceCopy => {
                let rate = facts.bytes as f64 / (bar.end - bar.start).max(1.0) * 1e9;
                format!("{} · {}B/s", bytes(facts.bytes), si(rate))
            }
            StepKind::Launch => grouped(facts.cells) + tr!(" cells stepped"),
            StepKind::Support => grouped(facts.cells) + tr!(" cells"),
            StepKind::Event | StepKind::Wait => String::new(),
        };
        let meaning = bar.kind.meaning().into();
        let lines = [lang::text(facts.label).into(), place, when, amount, meaning];
        lines.into_iter().filter(|line| !line.is_empty()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::distance;
    use crate::timeline::KINDS;
    use crate::timeline::scale::TimeRange;

    #[test]
    fn a_folded_row_shows_what_covers_most() {
        let bar = |start, end, kind| Bar {
            start,
            end,
            step: 0,
            kind: BarKind::Step(kind),
            number: None,
        };
        let bars = [
            bar(0.0, 20.0, StepKind::Launch),
            bar(15.0, 31.0, StepKind::Download),
            bar(55.0, 55.1, StepKind::Upload),
        ];
        let stretch = TimeRange {
            from: 0.0,
            length: 100.0,
        };
        let pieces = fold_bars(&bars, TimeScale::new(stretch, 7.0, 10.0), 7.0, 10);
        let piece = |columns, kind, level| LaneSegment {
            columns,
            kind: BarKind::Step(kind),
            number: None,
            level,
        };
        let wanted = [
            piece((0, 2), StepKind::Launch, 4),
            piece((2, 3), StepKind::Download, 4),
            piece((3, 4), StepKind::Download, 1),
            piece((5, 6), StepKind::Upload, 1),
        ];
        assert_eq!(pieces, wanted);
    }

    #[test]
    fn kinds_of_work_are_told_apart_without_hues() {
        let work = |kind: &BarKind| matches!(kind, BarKind::Step(kind) if !matches!(kind, StepKind::Event | StepKind::Wait));
        let kinds = KINDS.map(|(kind, _)| kind).into_iter().filter(work);
        let strengths: Vec<f32> = kinds.map(|kind| kind.pattern().strength()).collect();
        for (index, a) in strengths.iter().enumerate() {
            for b in &strengths[index + 1..] {
                assert!((a - b).abs() >= 0.14, "{a} and {b}");
            }
        }
    }

    #[test]
    fn what_no_instance_does_differs_from_what_it_does() {
        let palette = &Palette::DARK;
        let kinds = [BarKind::Host, BarKind::Wait, BarKind::Step(StepKind::Event)];
        let all = kinds.map(|kind| kind.colour(None, palette));
        for (index, a) in all.iter().enumerate() {
            for b in all[index + 1..].iter().chain([&palette.common_work]) {
                assert!(distance(*a, *b) >= 0.1, "{a:?} and {b:?}");
            }
        }
    }
}
