//! A timed round as bars of text: a row for the host's calls, one for each stream (or for several,
//! where there are more than rows), and the axis; with a round before a change, or of A, the same
//! above it.

use ratatui::buffer::Buffer;
use ratatui::layout::Constraint::{Fill, Length};
use ratatui::layout::{Layout, Rect};
use ratatui::text::Line;
use ratatui::widgets::Widget as _;

use crate::style::{APART, PALETTE, ink, paint_lines, wrap};
use lang::tr;
use session::Status;
use session::trace::StepKind;
use ui::diagnosis::{overlap_in_words, round_time};
use ui::finding::{Headline, headline};
use ui::timeline::scale::{TimeRange, TimeScale};
use ui::timeline::{BarKind, KINDS, colour, fold_bars, host_names, row_name};
use ui::{Chart, RecordedTexts, Timeline};

/// Columns of a row's name.
const NAMES: u16 = 16;
/// The fewest rows of a round: the host's, and one of all streams.
const MIN_ROWS: usize = 2;

/// What a kind of work is painted with, so that it is told apart without colours too.
fn symbol(kind: BarKind) -> char {
    match kind {
        None => '■',
        Some(StepKind::Wait) => '─',
        Some(StepKind::Launch) => '█',
        Some(StepKind::Support) => '▓',
        Some(StepKind::Upload) => '░',
        Some(StepKind::Download) => '▒',
        Some(StepKind::DeviceCopy) => '▚',
        Some(StepKind::Event) => '·',
    }
}

/// What stands in the timeline, whole.
pub(super) struct Contents<'a> {
    /// Lines over the bars.
    head: Vec<String>,
    /// Lines below the axis.
    legend: Vec<String>,
    /// The rounds that there is room for, from the top, and the names of their hosts' rows.
    rounds: Vec<(&'a Chart, &'static str)>,
    /// The rows that it takes.
    pub(super) height: u16,
}

impl<'a> Contents<'a> {
    /// What fits above the foot, where there are so many rows, some of which are the panels'; of the rows of
    /// bars, as many as fill half of that.
    pub(super) fn of(
        timeline: &'a Timeline,
        status: &Status,
        columns: usize,
        [above, panels]: [u16; 2],
    ) -> Contents<'a> {
        let most = usize::from(above - panels);
        let rounds = [&timeline.before, &timeline.chart].into_iter().flatten();
        let rounds: Vec<&Chart> = rounds.map(|it| &**it).collect();
        let names = host_names(rounds.len(), status.lab.comparison.is_some());
        let mut rounds: Vec<_> = rounds.into_iter().zip(names).collect();
        let finding = headline(status);
        let mut legend = wrap(&legend(timeline.drawn_in_words(status), &rounds), columns);
        let mut said = head(timeline, status, finding.as_ref());
        let wrapped = |said: &[String]| said.iter().flat_map(|line| wrap(line, columns)).collect();
        let mut head: Vec<String> = wrapped(&said);
        // The newest of which there is room for one row of all streams, with the axis.
        let room = most.saturating_sub(head.len() + legend.len() + 1) / MIN_ROWS;
        let all = rounds.len();
        rounds.drain(..all.saturating_sub(room));
        if rounds.is_empty() {
            if all > 0 {
                said.push(tr!("The terminal is too small for the timeline").into());
                head = wrapped(&said);
            }
            head.truncate(most);
            legend.clear();
        }
        let axis = usize::from(!rounds.is_empty());
        let around = head.len() + legend.len() + axis;
        let rows: usize = rounds.iter().map(|(round, _)| rows(round)).sum();
        let half = usize::from(above) / 2 + legend.len();
        let least = around + MIN_ROWS * rounds.len();
        let height = (around + rows).min(half).max(least).min(most) as u16;
        Contents {
            head,
            legend,
            rounds,
            height,
        }
    }

    pub(super) fn paint(&self, place: Rect, buffer: &mut Buffer) {
        let [head, chart, legend] = place.layout(&Layout::vertical([
            Length(self.head.len() as u16),
            Fill(1),
            Length(self.legend.len() as u16),
        ]));
        paint_lines(&self.head, ink(PALETTE.accent).bold(), head, buffer);
        paint_lines(&self.legend, ink(PALETTE.label), legend, buffer);
        let Some((round, _)) = self.rounds.first() else {
            return;
        };
        let [names, bars, _] =
            chart.layout(&Layout::horizontal([Length(NAMES), Fill(1), Length(1)]));
        let whole = TimeRange {
            from: 0.0,
            length: round.whole,
        };
        let scale = TimeScale::new(whole, bars.x.into(), bars.width.into());
        let room = usize::from(chart.height) - 1; // without the axis
        let first = match self.rounds[..] {
            // What one does not need is the other's.
            [(first, _), (second, _)] => {
                rows(first).min((room / 2).max(room.saturating_sub(rows(second))))
            }
            _ => room,
        };
        let places = [(0, first), (first, room - first)];
        for ((round, host), (above, height)) in self.rounds.iter().zip(places) {
            let first = chart.y + above as u16;
            let folded = round.lanes.len().div_ceil(height - 1).max(1); // one row is the host's
            let host = (host.to_string(), round.host.bars.iter().collect());
            let streams = round.lanes.chunks(folded).map(|lanes| {
                let bars = lanes.iter().flat_map(|lane| &lane.bars);
                (row_name(lanes), bars.collect::<Vec<_>>())
            });
            for (y, (name, row)) in (first..).zip([host].into_iter().chain(streams)) {
                let name = Line::styled(name + " ", ink(PALETTE.label)).right_aligned();
                name.render(Rect { y, ..names }, buffer);
                for piece in fold_bars(row, whole, bars.width.into()) {
                    let text = symbol(piece.kind).to_string().repeat(piece.columns.len());
                    let colour = colour(piece.kind, piece.number, &PALETTE);
                    let x = bars.x + piece.columns.start as u16;
                    buffer.set_string(x, y, text, ink(colour));
                }
            }
        }
        let y = chart.bottom() - 1;
        for (ns, label) in scale.ticks(12.0) {
            let x = scale.x(ns).round() as u16;
            let label = format!("│{label}");
            if usize::from(x) + lang::columns(&label) <= usize::from(place.right()) {
                buffer.set_string(x, y, label, ink(PALETTE.value));
            }
        }
    }
}

/// The rows of a round, were each lane to have its own.
fn rows(round: &Chart) -> usize {
    1 + round.lanes.len().max(1)
}

/// What is said over the bars: what was found, why, and where it comes from.
fn head(timeline: &Timeline, status: &Status, finding: Option<&Headline>) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(found) = finding {
        let what = match found.subject.as_str() {
            "" => found.factor.clone(),
            subject => tr!("{label}: {value}", label = subject, value = found.factor),
        };
        lines.push([what, found.times.clone()]);
    }
    let judged = timeline.diagnosis.as_ref();
    if let Some(overlap) = overlap_in_words(judged, status) {
        let cause = judged.and_then(|it| it.first_cause(status.setting.kernel));
        // The finding has the times of the rounds compared, and where they were recorded.
        let time = round_time(status).filter(|_| finding.is_none());
        let why = Vec::from_iter(cause.into_iter().chain(time)).join(APART);
        lines.push([overlap, why]);
    }
    lines.push(match (RecordedTexts::of(status), &timeline.chart) {
        (Some(recorded), Some(_)) if finding.is_some() => [recorded.pace, String::new()],
        (Some(recorded), Some(_)) => [recorded.origin, recorded.pace],
        (Some(recorded), None) => [recorded.missing, String::new()],
        (None, Some(_)) => Default::default(),
        (None, None) => [tr!("No round has been timed yet").into(), String::new()],
    });
    let line = |parts: [String; 2]| {
        let parts = parts.into_iter().filter(|part| !part.is_empty());
        Vec::from_iter(parts).join(APART)
    };
    let mut lines: Vec<String> = lines.into_iter().map(line).collect();
    lines.retain(|line| !line.is_empty());
    lines
}

/// The kinds of work that the rounds have, and what the bars are.
fn legend(note: Option<String>, rounds: &[(&Chart, &str)]) -> String {
    let kinds: Vec<_> = rounds.iter().flat_map(|(round, _)| round.kinds()).collect();
    let there = KINDS.iter().filter(|kind| kinds.contains(kind));
    let entry =
        |(kind, name): &(BarKind, &'static str)| format!("{} {}", symbol(*kind), lang::text(name));
    there.map(entry).chain(note).collect::<Vec<_>>().join("  ")
}
