//! A timed round as lanes of bars, made once a round; and several lanes folded into one row.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::numbers::nice;
use crate::timeline::blocks::BlockMap;
use crate::timeline::fold::{Columns, join};
use crate::timeline::scale::TimeScale;
use crate::timeline::{BarKind, KINDS};
use engine::{Span, StreamId};
use lang::tr;
use model::trace::{StepKind, TimedRound};
use model::{Order, Streams};

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

/// A stream.
#[derive(Clone, PartialEq, Debug)]
pub struct Lane {
    /// The stream.
    pub stream: StreamId,
    /// Its GPU, where there are several.
    pub gpu: Option<u16>,
    /// The first instance that it works on, if any.
    pub instance: Option<u32>,
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
    /// The lengths of all ops together.
    pub sum: f64,
    /// The axis' length.
    pub whole: f64,
    /// The names of its helper kernels.
    pub helpers: BTreeSet<&'static str>,
    /// Records of events, and what waits for them in another lane.
    pub arrows: Vec<Arrow>,
    /// Two ops that nothing orders, though the first is to be over before the second begins.
    pub race: Option<[RacingBar; 2]>,
    /// How its instances share streams.
    pub streams: Streams,
    /// Whether a round that the user wrote numbers the streams.
    is_own: bool,
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
        let instances = round.steps.iter().filter_map(|facts| facts.instance);
        let first = instances.min().unwrap_or(0);
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
        let mut lanes: BTreeMap<StreamId, Vec<Bar>> = BTreeMap::new();
        let mut helpers = BTreeSet::new();
        for facts in round.steps.iter() {
            lanes.entry(facts.stream).or_default();
            if facts.kind == StepKind::Support {
                helpers.insert(facts.label);
            }
        }
        let mut sum = 0.0;
        for span in &round.spans {
            let facts = round.steps.get(span.step as usize);
            let kind = facts.map_or(StepKind::Event, |facts| facts.kind);
            let bar = bar(span, BarKind::Step(kind));
            if kind != StepKind::Event {
                sum += bar.end - bar.start;
            }
            lanes.entry(span.stream).or_default().push(bar);
        }
        let facts = |bar: &Bar| round.steps.get(bar.step as usize);
        let lane = |(stream, bars): (StreamId, Vec<Bar>)| Lane {
            stream,
            gpu: bars.iter().find_map(|bar| facts(bar)?.gpu),
            instance: bars.iter().find_map(|bar| facts(bar)?.instance),
            bars,
        };
        let wall = (end - start) as f64;
        let mut lanes: Vec<Lane> = lanes.into_iter().map(lane).collect();
        lanes.sort_by_key(|lane| lane.gpu);
        let end_of = |step: usize| {
            let mut places = lanes.iter().enumerate();
            places.find_map(|(at, lane)| {
                let bar = lane.bars.iter().find(|bar| bar.step as usize == step)?;
                Some((at, bar.end))
            })
        };
        let arrow = |[record, wait]: [usize; 2]| {
            Some(Arrow {
                from: end_of(record)?,
                to: end_of(wait)?,
            })
        };
        let arrows = round.dependencies().into_iter().filter_map(arrow).collect();
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
            sum,
            whole: nice(wall.max(1e3), &AXIS),
            helpers,
            streams: round.switches.streams,
            is_own: round.switches.order == Order::Own,
            first,
        };
        Chart {
            data: Arc::new(data),
            round,
        }
    }

    /// The same with two steps marked that nothing orders, if both have a bar.
    pub fn with_race(mut self, steps: [usize; 2]) -> Chart {
        let bar = |step: usize| {
            let mut lanes = self.data.lanes.iter().enumerate();
            lanes.find_map(|(at, lane)| {
                let bar = lane.bars.iter().find(|bar| bar.step as usize == step)?;
                Some((at, *bar))
            })
        };
        let [first, second] = steps.map(bar);
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

/// An axis stays as it is while rounds take at least this part of it: otherwise it would change
/// back and forth with rounds whose lengths vary.
const MIN_PART_OF_AXIS: f64 = 0.4;

impl RoundChart {
    /// A lane's name: its stream, and its GPU where there are several. Where the lattice has bands in
    /// several streams of the GPU, letters tell these apart.
    pub fn lane_name(&self, lane: &Lane) -> String {
        let name = |lane: &Lane| {
            let number = self.stream_number(lane);
            self.streams.stream_name(number, lane.gpu)
        };
        let same_instance = |it: &&Lane| it.gpu == lane.gpu && it.instance == lane.instance;
        let mut alike = self.lanes.iter().filter(same_instance).zip('a'..='z');
        match alike.find(|(it, _)| it.stream == lane.stream) {
            Some((_, letter))
                if lane.gpu.is_some()
                    && !self.is_own
                    && (letter > 'a' || alike.next().is_some()) =>
            {
                format!("{} {letter}", name(lane))
            }
            _ => name(lane),
        }
    }

    /// The number of an instance of the round; see [`Status::number_of`].
    pub fn number_of(&self, instance: u32) -> u32 {
        instance - self.first
    }

    fn stream_number(&self, lane: &Lane) -> u32 {
        self.number_of_stream(lane.stream, lane.instance)
    }

    /// The number of the stream's instance, or the stream's own.
    pub(super) fn number_of_stream(&self, stream: StreamId, instance: Option<u32>) -> u32 {
        let instance = instance.filter(|_| !self.is_own);
        instance.map_or(stream.0, |it| self.number_of(it))
    }

    /// The name of a row of these lanes, which lie one after the other.
    pub fn row_name(&self, lanes: &[Lane]) -> String {
        match lanes {
            [] => String::new(),
            [lane] => self.lane_name(lane),
            [first, .., last] => {
                let [first, last] = [first, last].map(|lane| self.stream_number(lane));
                tr!("streams {}–{}", first, last)
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

/// Several lanes in one row: in each pixel column, what covers most of it in any one lane.
pub fn fold_lanes(lanes: &[Lane], scale: TimeScale, left: f32, count: usize) -> Vec<LaneSegment> {
    let columns = Columns { scale, left, count };
    let mut most = vec![(0.0f32, usize::MAX, None); count];
    for bar in lanes.iter().flat_map(|lane| &lane.bars) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::timed_round;
    use crate::timeline::scale::TimeRange;

    #[test]
    fn lanes_name_their_gpu_where_there_are_several() {
        let mut round = timed_round(16);
        let name = |at: usize, round: &TimedRound| {
            let data = Chart::new(Arc::new(round.clone())).data;
            data.lane_name(&data.lanes[at])
        };
        assert_eq!(name(9, &round), "stream 9");
        // Instances of even numbers are on GPU 1.
        for facts in Arc::get_mut(&mut round.steps).unwrap() {
            facts.gpu = facts.instance.map(|instance| (1 - instance % 2) as u16);
        }
        assert_eq!(name(7, &round), "GPU 0: 15");
        assert_eq!(name(8, &round), "GPU 1: 0");
        // Two bands of each lattice on a GPU.
        for facts in Arc::get_mut(&mut round.steps).unwrap() {
            facts.instance = facts.instance.map(|instance| instance / 4);
        }
        assert_eq!(name(0, &round), "GPU 0: 0 a");
        assert_eq!(name(1, &round), "GPU 0: 0 b");
        assert_eq!(name(8, &round), "GPU 1: 0 a");
    }

    #[test]
    fn a_stream_that_instances_share_has_a_name_and_no_number() {
        let named = |streams, gpu: Option<u16>| {
            let mut round = timed_round(1);
            // Streams that were made before it have the numbers up to here.
            for facts in Arc::get_mut(&mut round.steps).unwrap() {
                facts.stream = StreamId(16);
                facts.gpu = gpu;
            }
            for span in &mut round.spans {
                span.stream = StreamId(16);
            }
            round.switches.streams = streams;
            let chart = Chart::new(Arc::new(round));
            let bar = chart.data.lanes[0].bars[0];
            let name = chart.data.lane_name(&chart.data.lanes[0]);
            (name, chart.describe(&bar).swap_remove(1))
        };
        for (streams, name) in [
            (Streams::PerInstance, "stream 0"),
            (Streams::One, "shared stream"),
            (Streams::Batch, "shared stream"),
            (Streams::Default, "default stream"),
        ] {
            let of_bar = format!("{name} · instance 0");
            assert_eq!(named(streams, None), (name.to_owned(), of_bar));
        }
        let on_gpu = |streams| named(streams, Some(1)).0;
        assert_eq!(on_gpu(Streams::One), "GPU 1: shared");
        assert_eq!(on_gpu(Streams::Default), "GPU 1: default");
    }

    #[test]
    fn a_chart_has_a_lane_a_stream_and_starts_at_zero() {
        let chart = Chart::new(Arc::new(timed_round(16)));
        assert_eq!(chart.data.lanes.len(), 16);
        let first = |bars: &[Bar]| bars.iter().map(|bar| bar.start).fold(f64::MAX, f64::min);
        assert_eq!(first(&chart.data.host), 0.0);
        assert!(chart.data.lanes.iter().all(|lane| first(&lane.bars) > 0.0));
        assert!(chart.data.whole >= chart.data.wall && chart.data.whole <= 1.34 * chart.data.wall);
        let lengths: i64 = chart.round.spans.iter().map(|span| span.length().0).sum();
        assert_eq!(chart.data.sum, lengths as f64);
    }

    #[test]
    fn a_folded_row_shows_what_covers_most() {
        let bar = |start, end, kind| Bar {
            start,
            end,
            step: 0,
            kind: BarKind::Step(kind),
            number: None,
        };
        let lane = |bars| Lane {
            stream: StreamId(0),
            gpu: None,
            instance: None,
            bars,
        };
        let lanes = [
            lane(vec![bar(0.0, 20.0, StepKind::Launch)]),
            lane(vec![
                bar(15.0, 31.0, StepKind::Download),
                bar(55.0, 55.1, StepKind::Upload),
            ]),
        ];
        let stretch = TimeRange {
            from: 0.0,
            length: 100.0,
        };
        let pieces = fold_lanes(&lanes, TimeScale::new(stretch, 7.0, 10.0), 7.0, 10);
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
}
