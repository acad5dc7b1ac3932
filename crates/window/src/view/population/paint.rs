//! The graph, painted piece by piece.
//!
//! Births point up and deaths down, so that nobody has to tell their colours apart; and the colours
//! (of Okabe and Ito) can be told apart by the colour-blind too.

use egui::epaint::{Mesh, Vertex};
use egui::{Align2, Color32, Pos2, Rect, Shape, Stroke, pos2, vec2};

use crate::view::hud::style::*;
use crate::view::hud::{close_button, key_hint};
use crate::view::population::layout::PopulationLayout;
use crate::view::widget_painter::WidgetPainter;
use lang::tr;
use session::population::Sample;
use ui::numbers::{grouped, si};
use ui::{Action, PopulationChart, ViewAction};

/// Paints the graph into its rectangle.
pub(crate) fn paint(painter: &WidgetPainter, shown: &PopulationChart, rect: Rect) {
    let places = PopulationLayout::new(rect);
    let line = (1.0, painter.palette.rule);
    painter.vline(rect.right() - 0.5, rect.y_range(), line);
    painter.hline(rect.x_range(), rect.top() + 0.5, line);
    paint_words(painter, &places, shown);
    paint_axes(painter, &places, shown);
    if let Some(ends) = shown.ends() {
        let x = across(ends, places.population);
        paint_population(painter, &places, shown, &x);
        paint_changes(painter, &places, shown, &x);
        paint_ticks(painter, &places, ends);
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

fn paint_words(painter: &WidgetPainter, places: &PopulationLayout, shown: &PopulationChart) {
    let (title, headline) = (places.title, places.headline);
    let hint = |right, text, action| key_hint(painter, right, text, action);
    let close = ViewAction::TogglePopulation;
    let left = close_button(painter, title.right_center(), close);
    let other = Action::from(ViewAction::TogglePopulationOfAll);
    let right = pos2(left - 14.0, title.center().y);
    let left = hint(right, tr!("{} all / selected", other.key()), other);
    let room = left - title.left() - 12.0;
    let text = fitted(
        painter,
        &shown.title,
        medium(18.0),
        painter.palette.value,
        room,
    );
    put(painter, title.left_center(), Align2::LEFT_CENTER, text);
    let line = |text: &str, font, colour, y: f32| {
        let text = fitted(painter, text, font, colour, headline.width());
        let at = headline.left_top() + vec2(0.0, y);
        put(painter, at, Align2::LEFT_TOP, text);
    };
    line(&shown.headline, medium(19.0), painter.palette.alive, 0.0);
    line(&shown.caption, regular(14.0), painter.palette.label, 26.0);
}

/// The upright axes with their figures, and what the lower chart's two halves are.
fn paint_axes(painter: &WidgetPainter, places: &PopulationLayout, shown: &PopulationChart) {
    let thin = 1.0;
    let figure = |chart: Rect, y: f32, value: f64| {
        painter.hline(chart.x_range(), y, (thin, painter.palette.rule));
        if shown.samples.is_empty() {
            return; // of what, nobody knows
        }
        let text = si(value).trim_end().to_owned();
        let text = painter.layout_no_wrap(text, regular(13.0), painter.palette.label);
        let at = pos2(chart.left() - 8.0, y);
        put(painter, at, Align2::RIGHT_CENTER, text);
    };
    let chart = places.population;
    for part in [0.0, 0.5, 1.0] {
        let y = chart.bottom() - part as f32 * chart.height();
        figure(chart, y, part * shown.y_max);
    }
    let chart = places.changes;
    for part in [-1.0f64, 0.0, 1.0] {
        let y = chart.center().y - part as f32 * chart.height() / 2.0;
        figure(chart, y, part.abs() * shown.change_y_max);
    }
    let legend = places.legend;
    let half = legend.width() / 2.0 - 6.0;
    let word = |text: &str, colour, at: Pos2, up: bool| {
        let side = 5.0;
        let tip = if up { -side } else { side };
        let corners = [vec2(0.0, -tip), vec2(2.0 * side, -tip), vec2(side, tip)];
        let corners = corners.map(|corner| at + corner).to_vec();
        painter.add(Shape::convex_polygon(corners, colour, Stroke::NONE));
        let room = half - 3.0 * side;
        let text = fitted(painter, text, regular(14.0), colour, room);
        let beside = at + vec2(3.0 * side, 0.0);
        put(painter, beside, Align2::LEFT_CENTER, text);
    };
    word(
        &shown.born,
        painter.palette.born,
        legend.left_center(),
        true,
    );
    let middle = legend.left_center() + vec2(half + 12.0, 0.0);
    word(&shown.died, painter.palette.died, middle, false);
}

fn paint_population(
    painter: &WidgetPainter,
    places: &PopulationLayout,
    shown: &PopulationChart,
    x: &impl Fn(&Sample) -> f32,
) {
    let chart = places.population;
    let at = |sample: &Sample| {
        let part = (sample.population() / shown.y_max) as f32;
        pos2(x(sample), chart.bottom() - part * chart.height())
    };
    let points: Vec<Pos2> = shown.samples.iter().map(at).collect();
    let stroke = Stroke::new(2.0, painter.palette.alive);
    match points[..] {
        [one] => {
            painter.circle_filled(one, 2.5, painter.palette.alive);
        }
        _ => {
            painter.add(Shape::line(points, stroke));
        }
    }
}

/// Filled from the middle: births up, deaths down, of the samples in which they are over as many
/// generations as in the newest.
fn paint_changes(
    painter: &WidgetPainter,
    places: &PopulationLayout,
    shown: &PopulationChart,
    x: &impl Fn(&Sample) -> f32,
) {
    let chart = places.changes;
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
    fill(painter.palette.born, Sample::births, 1.0);
    fill(painter.palette.died, Sample::deaths, -1.0);
    painter.hline(chart.x_range(), middle, (1.0, painter.palette.label));
}

fn paint_ticks(painter: &WidgetPainter, places: &PopulationLayout, (from, to): (u64, u64)) {
    let (ticks, font) = (places.ticks, regular(13.0));
    let words = [
        (grouped(from), ticks.left_center(), Align2::LEFT_CENTER),
        (
            tr!("generation").into(),
            ticks.center(),
            Align2::CENTER_CENTER,
        ),
        (grouped(to), ticks.right_center(), Align2::RIGHT_CENTER),
    ];
    for (text, at, align) in words {
        let text = painter.layout_no_wrap(text, font.clone(), painter.palette.label);
        put(painter, at, align, text);
    }
}
