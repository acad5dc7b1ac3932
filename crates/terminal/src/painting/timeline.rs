//! A timed round as bars of text: a row for the host's calls, one for each stream (or for several,
//! where there are more than rows), and the axis; with a round before a change, or of A, the same
//! above it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::painting::colours::{ColourDepth, PALETTE};
use crate::painting::text::{cut, wrap, wrap_parts};
use lang::tr;
use session::trace::StepKind;
use ui::Screen;
use ui::timeline::RoundChart;
use ui::timeline::lanes::{Bar, fold_bars, row_name};
use ui::timeline::scale::{TimeRange, TimeScale};
use ui::timeline::{BarKind, KINDS, Which, drawn_round};

/// Columns of a row's name.
const NAMES: u16 = 16;
/// Between the legend's entries.
const GAP: usize = 2;
/// The fewest rows of a round: the host's, and one of all streams.
const MIN_ROWS: usize = 2;

/// What a kind of work is painted with, so that it is told apart without colours too.
fn symbol(kind: BarKind) -> char {
    match kind {
        BarKind::Host => '■',
        BarKind::Wait | BarKind::Step(StepKind::Wait) => '─',
        BarKind::Step(StepKind::Launch) => '█',
        BarKind::Step(StepKind::Support) => '▓',
        BarKind::Step(StepKind::Upload) => '░',
        BarKind::Step(StepKind::Download) => '▒',
        BarKind::Step(StepKind::DeviceCopy) => '▚',
        BarKind::Step(StepKind::Event) => '·',
    }
}

/// An entry of the legend: a kind of work, or what else is to be known of the bars.
type Entry = (Option<BarKind>, String);

/// What stands in the timeline, whole, and how many rows that takes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Contents {
    /// Lines over the bars.
    head: Vec<String>,
    /// Lines below the axis.
    legend: Vec<Vec<Entry>>,
    /// Whether the round before the one that is shown has room above it.
    has_both: bool,
    /// Rows of bars, were each lane to have its own.
    rows: usize,
}

impl Contents {
    /// What fits in `columns` and at most `most` rows, the most important first; `None` if nothing
    /// fits. `lanes` is the number expected before the first timed round.
    pub(super) fn of(screen: &Screen, lanes: usize, columns: u16, most: usize) -> Option<Contents> {
        let has_before = screen.round_before.is_some();
        let attempts = [
            (has_before, HeadParts::All, true),
            (has_before, HeadParts::Overlap, true),
            (false, HeadParts::Overlap, true),
            (false, HeadParts::Finding, true),
            (false, HeadParts::Finding, false),
        ];
        let mut attempts = attempts.into_iter().map(|(both, parts, legend)| {
            Contents::with(both, parts, legend, screen, lanes, columns)
        });
        attempts.find(|contents| contents.min_height() <= most)
    }

    fn with(
        has_both: bool,
        parts: HeadParts,
        has_legend: bool,
        screen: &Screen,
        lanes: usize,
        columns: u16,
    ) -> Contents {
        let columns = usize::from(columns);
        let head = wrap_parts(&head(screen, parts), columns.saturating_sub(2));
        let entries = if has_legend {
            legend(screen)
        } else {
            Vec::new()
        };
        let lanes_of = |chart: &RoundChart| chart.lanes.len();
        let after = screen
            .round
            .as_ref()
            .map_or(lanes, |it| lanes_of(it))
            .max(1);
        let before = screen.round_before.as_ref().filter(|_| has_both);
        let before = before.map_or(0, |it| 1 + lanes_of(it).max(1));
        Contents {
            head,
            legend: in_lines(entries, columns.saturating_sub(2)),
            has_both,
            rows: 1 + after + before,
        }
    }

    /// Rows that are not bars: the axis among them.
    fn around(&self) -> usize {
        self.head.len() + 1 + self.legend.len()
    }

    /// The rows that it needs.
    pub(super) fn min_height(&self) -> usize {
        let rounds = 1 + usize::from(self.has_both);
        self.around() + rounds * MIN_ROWS
    }

    /// The rows it takes of the `above` rows over the foot: at most half of them, plus the legend,
    /// but never fewer than [`Self::min_height`].
    pub(super) fn height(&self, above: usize) -> usize {
        let height = self.around() + self.rows;
        let most = above / 2 + self.legend.len();
        height.min(most).max(self.min_height())
    }
}

/// What of the head is there, which is more the more room there is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd)]
enum HeadParts {
    /// What the last change did.
    Finding,
    /// And how much overlaps.
    Overlap,
    /// And what the first cause against overlap costs.
    All,
}

/// What is said over the bars.
fn head(screen: &Screen, which: HeadParts) -> Vec<String> {
    let mut parts = Vec::new();
    if let Some(found) = &screen.finding {
        parts.push(match found.subject.as_str() {
            "" => found.factor.clone(),
            subject => tr!("{label}: {value}", label = subject, value = found.factor),
        });
        parts.push(found.times.clone());
    }
    // While A and B are compared, overlap is not measured.
    let overlap = screen.overlap.as_ref();
    if let Some(overlap) = overlap.filter(|_| which >= HeadParts::Overlap) {
        parts.push(overlap.overlap.clone());
        let has_cause = which == HeadParts::All && !overlap.main_cause.is_empty();
        parts.extend(has_cause.then(|| overlap.main_cause.clone()));
        // The finding has the times of the rounds compared.
        let is_only = screen.finding.is_none() && !overlap.round_time.is_empty();
        parts.extend(is_only.then(|| overlap.round_time.clone()));
    }
    match (&screen.recorded, &screen.round) {
        (Some(recorded), Some(_)) => parts.push(recorded.line()),
        (Some(recorded), None) => parts.push(recorded.missing.clone()),
        (None, Some(_)) => {}
        (None, None) => parts.push(tr!("No round has been timed yet").into()),
    }
    parts
}

/// The kinds of work that the rounds have, and what the bars are.
fn legend(screen: &Screen) -> Vec<Entry> {
    let rounds = [&screen.round, &screen.round_before];
    let rounds = || rounds.into_iter().flatten();
    let has = |kind: BarKind| {
        let bars = rounds().flat_map(|it| it.lanes.iter().flat_map(|lane| &lane.bars));
        let mut bars = bars.chain(rounds().flat_map(|it| &it.host));
        bars.any(|bar| bar.kind.index() == kind.index())
    };
    let there = KINDS.iter().filter(|(kind, _)| has(*kind));
    let entry = |(kind, name): &(BarKind, &'static str)| -> Entry {
        (
            Some(*kind),
            format!("{} {}", symbol(*kind), lang::text(name)),
        )
    };
    let entries = there.map(entry);
    // Only findings are medians that the drawing may contradict.
    let note = screen
        .finding
        .as_ref()
        .map(|_| (None, drawn_round().into()));
    entries.chain(note).collect()
}

/// The columns of these entries beside one another.
fn width_of(entries: &[Entry]) -> usize {
    let widths = entries.iter().map(|(_, text)| lang::columns(text) + GAP);
    widths.sum::<usize>().saturating_sub(GAP)
}

/// As many entries in a line as fit.
fn in_lines(entries: Vec<Entry>, columns: usize) -> Vec<Vec<Entry>> {
    let mut lines: Vec<Vec<Entry>> = Vec::new();
    for (kind, text) in entries {
        match lines.last_mut() {
            Some(last) if width_of(last) + GAP + lang::columns(&text) <= columns => {
                last.push((kind, text));
            }
            _ => {
                let pieces = wrap(&text, columns).into_iter();
                lines.extend(pieces.map(|piece| vec![(kind, piece)]));
            }
        }
    }
    lines
}

/// Paints it into its place.
pub(super) fn paint(
    screen: &Screen,
    depth: ColourDepth,
    contents: &Contents,
    place: Rect,
    buffer: &mut Buffer,
) {
    let mut y = place.y;
    let style = depth.text(PALETTE.accent).bold();
    for line in &contents.head {
        buffer.set_stringn(place.x + 1, y, line, place.width.into(), style);
        y += 1;
    }
    let foot = place.bottom() - contents.legend.len() as u16;
    for (y, line) in (foot..).zip(&contents.legend) {
        let mut x = place.x + 1;
        for (kind, text) in line {
            let style = kind.map_or(depth.text(PALETTE.label), |kind| colour(kind, None, depth));
            buffer.set_string(x, y, text, style);
            x += (lang::columns(text) + GAP) as u16;
        }
    }
    let Some(chart) = &screen.round else { return };
    let bars = Rect {
        x: place.x + NAMES,
        y,
        width: place.width.saturating_sub(NAMES + 1),
        height: (foot - 1).saturating_sub(y),
    };
    let whole = TimeRange {
        from: 0.0,
        length: chart.whole,
    };
    let scale = TimeScale::new(whole, bars.x.into(), bars.width.into());
    let [above, below] = Which::both(screen.comparison.is_some());
    let mut rounds: Vec<(&RoundChart, Which)> = vec![match &screen.round_before {
        None => (&**chart, Which::Only),
        Some(_) => (&**chart, below),
    }];
    if let Some(before) = screen.round_before.as_ref().filter(|_| contents.has_both) {
        rounds.insert(0, (&**before, above));
    }
    let lanes: Vec<usize> = rounds.iter().map(|(round, _)| round.lanes.len()).collect();
    for ((round, which), rows) in rounds.into_iter().zip(split(&lanes, bars.height.into())) {
        let painter = RoundPainter {
            round,
            depth,
            scale,
            bars: Rect { y, ..bars },
        };
        y += painter.paint(which, rows, buffer);
    }
    axis(scale, bars, y, depth, buffer);
}

/// The rows of each round's lanes, below its host's, of so many rows in all.
fn split(lanes: &[usize], rows: usize) -> Vec<usize> {
    let room = rows.saturating_sub(lanes.len());
    match *lanes {
        [first, second] => {
            let share = (room * first).div_ceil((first + second).max(1));
            // What one does not need is the other's.
            let above = share.min(first).max(room.saturating_sub(second));
            let above = above.clamp(1, room.saturating_sub(1).max(1));
            vec![above, room.saturating_sub(above).max(1)]
        }
        _ => vec![room.max(1)],
    }
}

/// A round in its place, the host's row being the first.
struct RoundPainter<'a> {
    round: &'a RoundChart,
    depth: ColourDepth,
    scale: TimeScale,
    bars: Rect,
}

impl RoundPainter<'_> {
    /// Paints the host's row and the lanes, in so many rows; returns the rows that it took.
    fn paint(&self, which: Which, rows: usize, buffer: &mut Buffer) -> u16 {
        self.row(0, which.host_name(), &self.round.host, buffer);
        let folded = self.round.lanes.len().div_ceil(rows).max(1);
        let mut used = 1;
        for lanes in self.round.lanes.chunks(folded) {
            let bars = lanes.iter().flat_map(|lane| &lane.bars);
            self.row(used, &row_name(lanes), bars, buffer);
            used += 1;
        }
        used
    }

    fn row<'a>(
        &self,
        row: u16,
        name: &str,
        row_bars: impl IntoIterator<Item = &'a Bar>,
        buffer: &mut Buffer,
    ) {
        let (bars, y) = (self.bars, self.bars.y + row);
        let room = usize::from(NAMES) - 1;
        let name = lang::align_right(&cut(name, room), room) + " ";
        let label = self.depth.text(PALETTE.label);
        buffer.set_string(bars.x - NAMES, y, name, label);
        for piece in fold_bars(row_bars, self.scale, bars.x.into(), bars.width.into()) {
            let style = colour(piece.kind, piece.number, self.depth);
            for column in piece.columns.0..piece.columns.1 {
                if let Some(cell) = buffer.cell_mut((bars.x + column as u16, y)) {
                    cell.set_char(symbol(piece.kind)).set_style(style);
                }
            }
        }
    }
}

fn colour(kind: BarKind, number: Option<u32>, depth: ColourDepth) -> Style {
    depth.text(kind.colour(number, &PALETTE))
}

fn axis(scale: TimeScale, bars: Rect, y: u16, depth: ColourDepth, buffer: &mut Buffer) {
    let (times, ticks) = scale.ticks(12.0);
    for ns in times {
        let x = scale.x(ns).round() as u16;
        let label = format!("│{}", ticks.label(ns));
        let length = label.chars().count() as u16;
        if x + length <= bars.right() + 1 {
            buffer.set_string(x, y, label, depth.text(PALETTE.value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn rows_are_split_by_lanes_and_none_is_left_empty_while_the_other_folds() {
        assert_eq!(split(&[16], 9), [8]);
        assert_eq!(split(&[16, 1], 10), [7, 1]);
        assert_eq!(split(&[1, 16], 10), [1, 7]);
        assert_eq!(split(&[8, 8], 10), [4, 4]);
        assert_eq!(split(&[16, 1], 4), [1, 1]);
        assert_eq!(split(&[2, 2], 6), [2, 2]);
    }
}
