//! The map of the multiprocessors, beneath the timeline's lanes and on their axis: a row per unit,
//! a colour per instance.

use egui::{Align2, Color32, Mesh, Pos2, Rect, pos2, vec2};

use crate::view::hud::style::*;
use crate::view::panel_marks::paint_number;
use crate::view::timeline::bars::{MIN_WIDTH, PixelColumns};
use crate::view::timeline::layout::TimelineLayout;
use crate::view::timeline::rows::Rows;
use crate::view::widget_painter::WidgetPainter;
use lang::tr;
use session::Status;
use session::trace::StepKind;
use ui::Chart;
use ui::numbers::{grouped, time_us};
use ui::theme::{INSTANCE_COLOURS, Palette};
use ui::timeline::BarKind;
use ui::timeline::blocks::{BlockMap, BlockSpan, SmTimeline, fold_blocks};
use ui::timeline::scale::TimeScale;

/// The least height of a unit's row, and of a track in it.
const MIN_ROW_HEIGHT: f32 = 2.0;

/// What the engine calls a unit.
pub(super) fn unit_name(engine: &str) -> &'static str {
    if engine == "cuda" {
        "SM"
    } else {
        tr!("worker")
    }
}

/// The units that have rows, before any round is known.
pub(crate) fn sm_count(status: &Status) -> usize {
    let sm_count = status
        .engine
        .devices
        .iter()
        .map(|device| device.sm_count as usize);
    sm_count.max().unwrap_or(1).max(1)
}

fn rows_of(map: Rect, sm_count: usize) -> Rows {
    Rows::at_least(MIN_ROW_HEIGHT, sm_count, map.top(), map.height())
}

/// Paints the line over the map, and the map.
pub(super) fn paint(
    painter: &WidgetPainter,
    places: &TimelineLayout,
    status: &Status,
    chart: Option<&Chart>,
    scale: TimeScale,
) {
    let Some((map, head)) = places.map else {
        return;
    };
    // The axis' lines end where words are.
    painter.rect_filled(head, 0.0, painter.palette.background);
    let nothing = BlockMap::default();
    let blocks = chart.map_or(&nothing, |chart| &chart.data.blocks);
    let count = blocks.count(sm_count(status));
    let rows = rows_of(map, count);
    paint_head(painter, head, status, blocks, count, rows.folded);
    paint_names(painter, places, status.engine.name, rows);
    let mut mesh = Mesh::default();
    for row in 0..rows.count() {
        add_row(&mut mesh, painter, places, scale, rows, row, blocks);
    }
    put_mesh(painter, mesh);
    if blocks.busy_sms() == 0 {
        let text = tr!("No round with block timestamps yet");
        let text = painter.layout_no_wrap(text.into(), regular(14.0), painter.palette.label);
        put(painter, map.center(), Align2::CENTER_CENTER, text);
    }
}

/// The overhead of block timestamps, in words.
pub(super) fn overhead_text(factor: Option<f64>) -> String {
    match factor {
        Some(factor) if factor < 1.02 => tr!("Timestamp overhead: not measurable").into(),
        Some(factor) => tr!(
            "Timestamps make a launch {factor}× slower",
            factor = format_args!("{factor:.2}")
        ),
        None => tr!("Timestamp overhead not measured yet").into(),
    }
}

fn paint_head(
    painter: &WidgetPainter,
    head: Rect,
    status: &Status,
    blocks: &BlockMap,
    count: usize,
    folded: usize,
) {
    // The legend takes what it needs, from the right.
    let instances = status.lattices.instances.min(INSTANCE_COLOURS);
    let chip = vec2(19.0, 15.0);
    let across = chip.x + 2.0;
    let label = if status.lattices.instances > INSTANCE_COLOURS {
        tr!("the first instances")
    } else {
        tr!("instance")
    };
    let label = painter.layout_no_wrap(label.into(), regular(12.5), painter.palette.label);
    let legend = instances as f32 * across + label.size().x + 8.0;
    let with_legend = legend < 0.55 * head.width();
    if with_legend {
        let left = head.right() - legend;
        let label_at = pos2(left, head.center().y);
        let first = left + label.size().x + 8.0;
        put(painter, label_at, Align2::LEFT_CENTER, label);
        for instance in 0..instances {
            let corner = pos2(
                first + instance as f32 * across,
                head.center().y - chip.y / 2.0,
            );
            let place = Rect::from_min_size(corner, chip);
            paint_number(painter, place, instance);
        }
    }
    let name = unit_name(status.engine.name);
    let mut text = tr!(
        "{} of {count} {name}s at work",
        blocks.busy_sms(),
        count = count,
        name = name
    );
    if folded > 1 {
        text += &tr!(", {folded} per row", folded = folded);
    }
    text += &format!(" · {}", overhead_text(status.lab.timestamp_overhead));
    let room = if with_legend {
        head.width() - legend - 12.0
    } else {
        head.width()
    };
    let text = fitted(painter, &text, medium(13.5), painter.palette.value, room);
    put(painter, head.left_center(), Align2::LEFT_CENTER, text);
}

/// An instance's colour; where blocks are of several, what such work has.
fn colour(number: Option<u32>, palette: &Palette<Color32>) -> Color32 {
    BarKind::Step(StepKind::Launch).colour(number, palette)
}

/// The units' numbers, thinned out where rows are thin.
fn paint_names(painter: &WidgetPainter, places: &TimelineLayout, engine: &str, rows: Rows) {
    let mut every = 1;
    while every as f32 * rows.pitch < 16.0 {
        every *= 2;
    }
    let right = places.lanes.left() - 8.0;
    for row in (0..rows.count()).step_by(every) {
        let (top, bottom) = rows.edges(row);
        let text = format!("{} {}", unit_name(engine), rows.lanes_of(row).start);
        let room = right - places.names;
        let text = fitted(painter, &text, regular(12.5), painter.palette.label, room);
        let half = text.size().y / 2.0;
        let Some((map, _)) = places.map else { return };
        let y = ((top + bottom) / 2.0).clamp(map.top() + half, map.bottom() - half);
        put(painter, pos2(right, y), Align2::RIGHT_CENTER, text);
    }
}

/// A unit's tracks stand one below the other where there is room for them.
fn track_edges((top, bottom): (f32, f32), sm: &SmTimeline, track: u16) -> Option<(f32, f32)> {
    let tracks = f32::from(sm.tracks.max(1));
    let height = (bottom - top) / tracks;
    if height < MIN_ROW_HEIGHT && sm.tracks > 1 {
        return None;
    }
    let at = |n: u16| top + f32::from(n) * height;
    Some((at(track), at(track + 1)))
}

fn add_row(
    mesh: &mut Mesh,
    painter: &WidgetPainter,
    places: &TimelineLayout,
    scale: TimeScale,
    rows: Rows,
    row: usize,
    blocks: &BlockMap,
) {
    let (palette, edges) = (&painter.palette, rows.edges(row));
    let mut sm_count = rows.lanes_of(row).filter_map(|sm| blocks.sm(sm));
    let Some(first) = sm_count.next() else { return };
    let single = rows.folded == 1 && track_edges(edges, first, 0).is_some();
    if single {
        for run in &first.runs {
            if let Some(rect) = run_rect(places, scale, edges, first, run) {
                mesh.add_colored_rect(rect, colour(run.number, palette));
            }
        }
        return;
    }
    let runs = std::iter::once(first).chain(sm_count);
    let runs = runs.flat_map(|sm| &sm.runs);
    let pixels = PixelColumns::of(painter, places.lanes);
    for piece in fold_blocks(runs, pixels.scale(scale), pixels.left, pixels.count) {
        let across = pixels.range(piece.columns);
        let rect = Rect::from_x_y_ranges(across, edges.0..=edges.1);
        mesh.add_colored_rect(rect, colour(piece.number, palette));
    }
}

/// A run's place, if any of it is shown: at least a pixel wide.
fn run_rect(
    places: &TimelineLayout,
    scale: TimeScale,
    edges: (f32, f32),
    sm: &SmTimeline,
    run: &BlockSpan,
) -> Option<Rect> {
    let (left, right) = (places.lanes.left(), places.lanes.right());
    let [start, end] = [run.start, run.end].map(|ns| scale.x(ns));
    if end < left || start > right {
        return None;
    }
    let (top, bottom) = track_edges(edges, sm, run.track).unwrap_or(edges);
    let start = start.clamp(left, right - MIN_WIDTH);
    let end = end.clamp(start + MIN_WIDTH, right);
    Some(Rect::from_x_y_ranges(start..=end, top..=bottom))
}

/// What is under a point of the map: its place, and its words.
pub(super) fn hit_test(
    at: Pos2,
    places: &TimelineLayout,
    status: &Status,
    chart: &Chart,
    scale: TimeScale,
) -> Option<(Rect, Vec<String>)> {
    let (map, _) = places.map?;
    if !map.contains(at) {
        return None;
    }
    let rows = rows_of(map, chart.data.blocks.count(sm_count(status)));
    let row = rows.row_at(at.y)?;
    let edges = rows.edges(row);
    let found = rows.lanes_of(row).filter_map(|number| {
        let sm = chart.data.blocks.sm(number)?;
        let near = |run: &&BlockSpan| {
            let [start, end] = [run.start, run.end].map(|ns| scale.x(ns));
            at.x >= start - 2.0 && at.x <= end.max(start + 1.0) + 2.0
        };
        let off = |run: &BlockSpan| {
            let shown = track_edges(edges, sm, run.track).unwrap_or(edges);
            (shown.0 - at.y).max(at.y - shown.1).max(0.0)
        };
        let closest = |a: &&BlockSpan, b: &&BlockSpan| off(a).total_cmp(&off(b));
        let run = sm.runs.iter().filter(near).min_by(closest)?;
        Some((number, sm, run))
    });
    let (number, sm, run) = found.into_iter().next()?;
    let rect = run_rect(places, scale, edges, sm, run)?;
    let name = unit_name(status.engine.name);
    let facts = chart.round.steps.get(run.step as usize);
    let label = facts.map_or(tr!("launch"), |facts| lang::text(facts.label));
    let blocks = match run.blocks {
        1 => tr!("1 block").into(),
        n => tr!("{} blocks", grouped(n.into())),
    };
    let whose = match run.number {
        Some(number) => tr!("instance {instance}", instance = number),
        None => tr!("several instances").into(),
    };
    let lines = vec![
        tr!("{name} {number} · {}", whose, name = name, number = number),
        format!("{label} · {blocks}"),
        tr!(
            "from {} · for {}",
            time_us(run.start / 1e3),
            time_us((run.end - run.start) / 1e3)
        ),
    ];
    Some((rect, lines))
}
