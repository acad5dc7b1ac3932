//! The map of the multiprocessors, beneath the timeline's lanes and on their axis: a row per unit,
//! a colour per instance.

use egui::{Align2, Color32, Mesh, Pos2, Rect, pos2, vec2};

use crate::view::hud::style::*;
use crate::view::over_panels::paint_number;
use crate::view::timeline::TimelineView;
use crate::view::timeline::lanes::{PixelColumns, name_row, span_rect};
use crate::view::timeline::layout::{Rows, TimelineLayout};
use crate::view::widget_painter::WidgetPainter;
use lang::tr;
use session::Status;
use session::trace::StepKind;
use ui::Chart;
use ui::numbers::{grouped, time_us};
use ui::theme::{INSTANCE_COLOURS, Palette};
use ui::timeline::BarKind;
use ui::timeline::blocks::{BlockSpan, SmTimeline, fold_blocks};
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

/// The map of a round, and where it stands.
pub(super) struct SmMap<'a> {
    map: Rect,
    head: Rect,
    places: TimelineLayout,
    scale: TimeScale,
    status: &'a Status,
    chart: Option<&'a Chart>,
    count: usize,
    rows: Rows,
}

impl<'a> SmMap<'a> {
    /// The map of the round that is shown, if it has a place.
    pub(super) fn of(
        timeline: &'a TimelineView,
        places: TimelineLayout,
        status: &'a Status,
    ) -> Option<SmMap<'a>> {
        let (map, head) = places.map?;
        let (chart, known) = (timeline.chart(), sm_count(status));
        let count = chart.map_or(known, |chart| chart.data.blocks.count(known));
        Some(SmMap {
            map,
            head,
            places,
            scale: timeline.scale(places.lanes),
            status,
            chart,
            count,
            rows: Rows::at_least(MIN_ROW_HEIGHT, count, map.top(), map.height()),
        })
    }

    /// The units of a row that ran anything.
    fn sms(&self, row: usize) -> Vec<(usize, &'a SmTimeline)> {
        let known = |sm| Some((sm, self.chart?.data.blocks.sm(sm)?));
        self.rows.lanes_of(row).filter_map(known).collect()
    }

    /// Paints the line over the map, and the map.
    pub(super) fn paint(&self, painter: &WidgetPainter) {
        let (map, palette) = (self.map, &painter.palette);
        // The axis' lines end where words are.
        painter.rect_filled(self.head, 0.0, palette.background);
        self.show_head(painter);
        let unit = unit_name(self.status.engine.name);
        for row in self.rows.named(16.0) {
            let (top, bottom) = self.rows.edges(row);
            let name = format!("{unit} {}", self.rows.lanes_of(row).start);
            // Half a name's height from the ends.
            let y = ((top + bottom) / 2.0).clamp(map.top() + 7.5, map.bottom() - 7.5);
            name_row(painter, &self.places, y, name, palette.label);
        }
        let mut mesh = Mesh::default();
        for row in 0..self.rows.count() {
            self.add_row(&mut mesh, painter, row);
        }
        put_mesh(painter, mesh);
        if self
            .chart
            .is_none_or(|chart| chart.data.blocks.busy_sms() == 0)
        {
            let text = tr!("No round with block timestamps yet");
            let text = painter.layout_no_wrap(text.into(), regular(14.0), palette.label);
            put(painter, map.center(), Align2::CENTER_CENTER, text);
        }
    }

    /// How many units were at work, and, where there is room, the instances' colours.
    fn show_head(&self, painter: &WidgetPainter) {
        let (head, status) = (self.head, self.status);
        let all = status.lattices.instances;
        let instances = all.min(INSTANCE_COLOURS);
        let (chip, across) = (vec2(19.0, 15.0), 21.0);
        let label = if all > INSTANCE_COLOURS {
            tr!("the first instances")
        } else {
            tr!("instance")
        };
        let label = painter.layout_no_wrap(label.into(), regular(12.5), painter.palette.label);
        // The legend takes what it needs, from the right.
        let first = head.right() - instances as f32 * across;
        let left = first - label.size().x - 8.0;
        let mut room = head.width();
        if head.right() - left < 0.55 * room {
            room = left - head.left() - 12.0;
            put(
                painter,
                pos2(left, head.center().y),
                Align2::LEFT_CENTER,
                label,
            );
            for instance in 0..instances {
                let x = first + instance as f32 * across;
                let corner = pos2(x, head.center().y - chip.y / 2.0);
                paint_number(painter, Rect::from_min_size(corner, chip), instance);
            }
        }
        let busy = self.chart.map_or(0, |chart| chart.data.blocks.busy_sms());
        let (count, name) = (self.count, unit_name(status.engine.name));
        let mut text = tr!(
            "{} of {count} {name}s at work",
            busy,
            count = count,
            name = name
        );
        if self.rows.folded > 1 {
            text += &tr!(", {folded} per row", folded = self.rows.folded);
        }
        text += &format!(" · {}", overhead_text(status.lab.timestamp_overhead));
        let text = fitted(painter, &text, medium(13.5), painter.palette.value, room);
        put(painter, head.left_center(), Align2::LEFT_CENTER, text);
    }

    fn add_row(&self, mesh: &mut Mesh, painter: &WidgetPainter, row: usize) {
        let (palette, edges) = (&painter.palette, self.rows.edges(row));
        let sms = self.sms(row);
        let Some((_, first)) = sms.first() else {
            return;
        };
        if self.rows.folded == 1 && track_edges(edges, first, 0).is_some() {
            for run in &first.runs {
                if let Some(rect) = self.run_rect(edges, first, run) {
                    mesh.add_colored_rect(rect, colour(run.number, palette));
                }
            }
            return;
        }
        let runs = sms.iter().flat_map(|(_, sm)| &sm.runs);
        let pixels = PixelColumns::of(painter, self.places.lanes);
        for piece in fold_blocks(runs, pixels.scale(self.scale), pixels.left, pixels.count) {
            let across = pixels.range(piece.columns);
            let rect = Rect::from_x_y_ranges(across, edges.0..=edges.1);
            mesh.add_colored_rect(rect, colour(piece.number, palette));
        }
    }

    /// A run's place, if any of it is shown: at least a pixel wide.
    fn run_rect(&self, edges: (f32, f32), sm: &SmTimeline, run: &BlockSpan) -> Option<Rect> {
        let edges = track_edges(edges, sm, run.track).unwrap_or(edges);
        span_rect(&self.places, self.scale, edges, [run.start, run.end])
    }

    /// What is under a point of the map: its words, and its place.
    pub(super) fn hit(&self, at: Pos2) -> Option<(Vec<String>, Option<Rect>)> {
        let chart = self.chart.filter(|_| self.map.contains(at))?;
        let row = self.rows.row_at(at.y)?;
        let edges = self.rows.edges(row);
        let (number, sm, run) = self.sms(row).into_iter().find_map(|(number, sm)| {
            let near = |run: &&BlockSpan| {
                let [start, end] = [run.start, run.end].map(|ns| self.scale.x(ns));
                at.x >= start - 2.0 && at.x <= end.max(start + 1.0) + 2.0
            };
            let off = |run: &BlockSpan| {
                let shown = track_edges(edges, sm, run.track).unwrap_or(edges);
                (shown.0 - at.y).max(at.y - shown.1).max(0.0)
            };
            let closest = |a: &&BlockSpan, b: &&BlockSpan| off(a).total_cmp(&off(b));
            Some((number, sm, sm.runs.iter().filter(near).min_by(closest)?))
        })?;
        let name = unit_name(self.status.engine.name);
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
        Some((lines, self.run_rect(edges, sm, run)))
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

/// An instance's colour; where blocks are of several, what such work has.
fn colour(number: Option<u32>, palette: &Palette<Color32>) -> Color32 {
    BarKind::Step(StepKind::Launch).colour(number, palette)
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
