//! The population graph: live cells, and births and deaths, over time: a
//! [`PopulationChart`](ui::population::PopulationChart); and the words on the panels that say how each
//! goes on.
//!
//! Births point up and deaths down, so that nobody has to tell their colours apart; and the colours
//! (of Okabe and Ito) can be told apart by the colour-blind too.

use egui::accesskit::Role;
use egui::epaint::{Mesh, Vertex};
use egui::{
    Align, Align2, Button, Color32, Layout, Painter, Pos2, Rect, RichText, Sense, Shape, Stroke,
    WidgetInfo, pos2, vec2,
};

use crate::view::hud::side_panel;
use crate::view::hud::style::*;
use crate::view::layout::WindowLayout;
use crate::view::widget_painter::WidgetPainter;
use lang::tr;
use session::Status;
use session::population::Sample;
use ui::numbers::{grouped, si};
use ui::theme::Palette;
use ui::{Action, PopulationChart, ViewAction};

/// A word over the lower chart, and generations under it.
const HEAD: f32 = 24.0;
const TICKS: f32 = 24.0;
/// Figures of the upright axes.
const FIGURES: f32 = 58.0;
/// The part of the height that the population has.
const POPULATION: f32 = 0.58;

/// Shows the graph in its rectangle.
pub(crate) fn show(painter: &WidgetPainter, shown: &PopulationChart, rect: Rect) {
    let palette = &painter.palette;
    side_panel(
        painter,
        rect,
        &shown.title,
        ViewAction::TogglePopulation,
        |ui| {
            ui.horizontal(|ui| {
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    let other = Action::from(ViewAction::TogglePopulationOfAll);
                    let text = tr!("{} all / selected", other.key());
                    let button = Button::new(RichText::new(text).small());
                    painter.asks(&ui.add(button.frame_when_inactive(false)), other);
                    let (font, width) = (medium(19.0), ui.available_width());
                    let headline = fitted(painter, &shown.headline, font, palette.alive, width);
                    ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                        ui.label(headline)
                    });
                });
            });
            let (font, width) = (regular(14.0), ui.available_width());
            ui.label(fitted(painter, &shown.caption, font, palette.label, width));
            let (all, chart) = ui.allocate_exact_size(ui.available_size(), Sense::hover());
            let list = format!("{}, {}, {}", shown.headline, shown.born, shown.died);
            chart.widget_info(|| WidgetInfo::labeled(Role::Image, true, &list));
            paint(ui.painter(), shown, all, palette);
        },
    );
}

/// Paints the charts, one above the other, with their axes.
fn paint(painter: &Painter, shown: &PopulationChart, all: Rect, palette: &Palette<Color32>) {
    let inside = all
        .with_min_x(all.left() + FIGURES)
        .with_min_y(all.top() + 0.5 * HEAD);
    let room = (inside.height() - HEAD - TICKS).max(0.0);
    let (upper, below) = inside.split_top_bottom_at_y(inside.top() + POPULATION * room);
    let (legend, below) = below.split_top_bottom_at_y(below.top() + HEAD);
    let (lower, ticks) = below.split_top_bottom_at_y(below.bottom() - TICKS);
    let figure = |y: f32, value: f64| {
        painter.hline(inside.x_range(), y, (1.0, palette.rule));
        if shown.samples.is_empty() {
            return; // of what, nobody knows
        }
        let at = pos2(inside.left() - 8.0, y);
        let value = si(value);
        painter.text(
            at,
            Align2::RIGHT_CENTER,
            value.trim_end(),
            regular(13.0),
            palette.label,
        );
    };
    for part in [0.0, 0.5, 1.0] {
        figure(
            upper.bottom() - part as f32 * upper.height(),
            part * shown.y_max,
        );
    }
    for part in [-1.0f64, 0.0, 1.0] {
        let y = lower.center().y - part as f32 * lower.height() / 2.0;
        figure(y, part.abs() * shown.change_y_max);
    }
    let half = legend.width() / 2.0 - 6.0;
    let word = |text: &str, colour, at: Pos2, up: bool| {
        let side = 5.0;
        let tip = if up { -side } else { side };
        let corners = [vec2(0.0, -tip), vec2(2.0 * side, -tip), vec2(side, tip)];
        let corners = corners.map(|corner| at + corner).to_vec();
        painter.add(Shape::convex_polygon(corners, colour, Stroke::NONE));
        let text = fitted(painter, text, regular(14.0), colour, half - 3.0 * side);
        let beside = at + vec2(3.0 * side, -text.size().y / 2.0);
        painter.galley(beside, text, colour);
    };
    word(&shown.born, palette.born, legend.left_center(), true);
    let middle = legend.left_center() + vec2(half + 12.0, 0.0);
    word(&shown.died, palette.died, middle, false);
    if let Some(ends) = shown.ends() {
        let x = across(ends, inside);
        paint_population(painter, upper, shown, &x, palette);
        paint_changes(painter, lower, shown, &x, palette);
        for (text, at, align) in [
            (grouped(ends.0), ticks.left_center(), Align2::LEFT_CENTER),
            (
                tr!("generation").into(),
                ticks.center(),
                Align2::CENTER_CENTER,
            ),
            (grouped(ends.1), ticks.right_center(), Align2::RIGHT_CENTER),
        ] {
            painter.text(at, align, text, regular(13.0), palette.label);
        }
    }
}

/// From a sample to its place across a chart.
fn across((from, to): (u64, u64), chart: Rect) -> impl Fn(&Sample) -> f32 {
    let length = (to - from).max(1) as f64;
    move |sample| {
        let middle = (sample.from - from) as f64 + (sample.to - sample.from) as f64 / 2.0;
        chart.left() + (middle / length) as f32 * chart.width()
    }
}

fn paint_population(
    painter: &Painter,
    chart: Rect,
    shown: &PopulationChart,
    x: &impl Fn(&Sample) -> f32,
    palette: &Palette<Color32>,
) {
    let at = |sample: &Sample| {
        let part = (sample.population() / shown.y_max) as f32;
        pos2(x(sample), chart.bottom() - part * chart.height())
    };
    let points: Vec<Pos2> = shown.samples.iter().map(at).collect();
    let stroke = Stroke::new(2.0, palette.alive);
    match points[..] {
        [one] => {
            painter.circle_filled(one, 2.5, palette.alive);
        }
        _ => {
            painter.add(Shape::line(points, stroke));
        }
    }
}

/// Filled from the middle: births up, deaths down, of the samples in which they are over as many
/// generations as in the newest.
fn paint_changes(
    painter: &Painter,
    chart: Rect,
    shown: &PopulationChart,
    x: &impl Fn(&Sample) -> f32,
    palette: &Palette<Color32>,
) {
    let middle = chart.center().y;
    let fill = |colour: Color32, of: fn(&Sample) -> f64, up: f32| {
        let mut mesh = Mesh::default();
        let vertex = |at: Pos2| Vertex {
            pos: at,
            uv: egui::epaint::WHITE_UV,
            color: colour,
        };
        for sample in &shown.samples {
            let part = (of(sample) / shown.change_y_max) as f32;
            let y = middle - up * part * chart.height() / 2.0;
            let at = x(sample);
            mesh.vertices.push(vertex(pos2(at, middle)));
            mesh.vertices.push(vertex(pos2(at, y)));
        }
        for (quad, pair) in shown.samples.windows(2).enumerate() {
            let first = 2 * quad as u32;
            if pair.iter().all(|sample| sample.step == shown.step) {
                mesh.indices
                    .extend([0, 1, 2, 1, 3, 2].map(|corner| first + corner));
            }
        }
        painter.add(Shape::mesh(mesh));
    };
    fill(palette.born, Sample::births, 1.0);
    fill(palette.died, Sample::deaths, -1.0);
    painter.hline(chart.x_range(), middle, (1.0, palette.label));
}

/// Labels panels that are dead, still or periodic, or were just filled with a new soup, in their lower
/// left corners, where panels are large enough.
pub(crate) fn paint_tags(
    painter: &WidgetPainter,
    status: &Status,
    only: Option<usize>,
    layout: &WindowLayout,
) {
    // Nearly opaque, so that the word is read on any cells.
    let background = translucent(painter.palette.tag_background, 0xE0);
    for place in 0..layout.tiling.count {
        let instance = only.unwrap_or(place);
        let settled = status.panels.settled.get(instance).copied().flatten();
        let word = match settled {
            Some(how) => how.to_string(),
            None if status.panels.reseeded.contains(&instance) => tr!("reseeded").into(),
            None => continue,
        };
        let panel = layout.points(layout.tiling.rect(place));
        let word = painter.layout_no_wrap(word, medium(13.0), painter.palette.value);
        let size = word.size() + vec2(10.0, 4.0);
        if size.x > panel.width() || 3.0 * size.y > panel.height() {
            continue;
        }
        let rect = Align2::LEFT_BOTTOM.anchor_size(panel.left_bottom(), size);
        painter.rect_filled(rect, 0.0, background);
        put(painter, rect.center(), Align2::CENTER_CENTER, word);
    }
}
