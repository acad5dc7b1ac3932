//! A timed round as bars of text: a row for the host's calls, one for each stream (or for several,
//! where there are more than rows), and the axis.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::painting::colours::{ColourDepth, PALETTE};
use crate::painting::hud::cut;
use engine::StreamId;
use lang::tr;
use model::Status;
use model::trace::StepKind;
use screen::Screen;
use screen::numbers::time_us;
use screen::timeline::RoundChart;
use screen::timeline::lanes::{Bar, Lane, fold_lanes};
use screen::timeline::scale::{TimeRange, TimeScale};
pub(super) use screen::timeline::{KINDS, Kind};

/// Columns of a row's name.
const NAMES: u16 = 16;

/// What a kind of work is painted with, so that it is told apart without colours too.
fn symbol(kind: Kind) -> char {
    match kind {
        Kind::Host => '■',
        Kind::Wait | Kind::Step(StepKind::Wait) => '─',
        Kind::Step(StepKind::Launch) => '█',
        Kind::Step(StepKind::Support) => '▓',
        Kind::Step(StepKind::Upload) => '░',
        Kind::Step(StepKind::Download) => '▒',
        Kind::Step(StepKind::Event) => '·',
    }
}

/// Paints it into its place.
pub(crate) fn paint(
    screen: &Screen,
    status: &Status,
    depth: ColourDepth,
    place: Rect,
    buffer: &mut Buffer,
) {
    let width = usize::from(place.width);
    // While A and B are compared, overlap is not measured.
    let overlap = screen.overlap.as_ref().map(|overlap| (**overlap).clone());
    let Some(chart) = &screen.round else {
        let none = tr!("No round has been timed yet").to_owned();
        let head: Vec<String> = overlap.into_iter().chain([none]).collect();
        let text = cut(&format!(" {}", head.join(" · ")), width);
        buffer.set_string(place.x, place.y, text, depth.text(PALETTE.accent));
        return;
    };
    // The finding has the times of the rounds compared: that of one round would only confuse.
    let round = || tr!("{} per round", time_us(chart.wall / 1e3));
    let found = screen.finding.as_ref();
    let found = found.map(|found| format!("{}: {}", found.subject, found.factor));
    // Of the rounds of A and B, which the window shows both, there is room for one.
    let is_of_b = screen.comparison.is_some() && screen.round_before.is_some();
    let of_b = is_of_b.then(|| tr!("Round of B").to_owned());
    let round = found.is_none().then(round);
    let head = of_b.into_iter().chain(found).chain(overlap).chain(round);
    let head = format!(" {}", head.collect::<Vec<_>>().join(" · "));
    let style = depth.text(PALETTE.accent).bold();
    buffer.set_string(place.x, place.y, cut(&head, width), style);
    legend(chart, depth, place, lang::columns(&head) as u16, buffer);
    // The first row is the head, the last one the axis; the host has the one between.
    let rows = usize::from(place.height.saturating_sub(3)).max(1);
    let folded = chart.lanes.len().div_ceil(rows).max(1);
    let whole = TimeRange {
        from: 0.0,
        length: chart.whole,
    };
    let bars = Rect {
        x: place.x + NAMES,
        width: place.width.saturating_sub(NAMES + 1),
        ..place
    };
    let scale = TimeScale::new(whole, bars.x.into(), bars.width.into());
    let host = [host_lane(&chart.host)];
    let rows = std::iter::once((tr!("host").to_owned(), &host[..])).chain(
        chart
            .lanes
            .chunks(folded)
            .map(|lanes| (name(lanes, chart, status), lanes)),
    );
    let mut y = place.y + 1;
    for (name, lanes) in rows {
        if y + 1 >= place.bottom() {
            break;
        }
        let room = usize::from(NAMES) - 1;
        let name = lang::align_right(&cut(&name, room), room) + " ";
        buffer.set_string(place.x, y, name, depth.text(PALETTE.label));
        for piece in fold_lanes(lanes, scale, bars.x.into(), bars.width.into()) {
            let style = colour(piece.kind, depth);
            for column in piece.columns.0..piece.columns.1 {
                if let Some(cell) = buffer.cell_mut((bars.x + column as u16, y)) {
                    cell.set_char(symbol(piece.kind)).set_style(style);
                }
            }
        }
        y += 1;
    }
    axis(scale, bars, y, depth, buffer);
}

fn host_lane(bars: &[Bar]) -> Lane {
    Lane {
        stream: StreamId(0),
        instance: None,
        bars: bars.to_vec(),
    }
}

fn name(lanes: &[Lane], chart: &RoundChart, status: &Status) -> String {
    match (lanes.first(), lanes.last()) {
        (Some(first), Some(last)) if first.stream != last.stream => {
            tr!("streams {}–{}", first.stream.0, last.stream.0)
        }
        (Some(only), _) => chart.lane_name(only, Some(status)),
        _ => String::new(),
    }
}

fn colour(kind: Kind, depth: ColourDepth) -> Style {
    depth.text(kind.colour(&PALETTE))
}

/// What the bars stand for: of the kinds that this round has, at the right of the head.
fn legend(chart: &RoundChart, depth: ColourDepth, place: Rect, used: u16, buffer: &mut Buffer) {
    let all = || {
        chart
            .lanes
            .iter()
            .flat_map(|lane| &lane.bars)
            .chain(&chart.host)
    };
    let there = KINDS
        .iter()
        .filter(|(kind, _)| all().any(|bar| bar.kind == *kind));
    let entries: Vec<(Kind, String)> = there
        .map(|(kind, name)| (*kind, format!("{} {}", symbol(*kind), lang::text(name))))
        .collect();
    let length: usize = entries
        .iter()
        .map(|(_, text)| lang::columns(text) + 2)
        .sum();
    if usize::from(used) + 2 + length > usize::from(place.width) {
        return;
    }
    let mut x = place.right() - length as u16;
    for (kind, text) in entries {
        buffer.set_string(x, place.y, &text, colour(kind, depth));
        x += lang::columns(&text) as u16 + 2;
    }
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
