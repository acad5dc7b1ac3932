//! The population graph: live cells, and births and deaths, over time: a
//! [`PopulationChart`](ui::population::PopulationChart); and the words on the panels that say how each
//! goes on.
//!
//! Births point up and deaths down, so that nobody has to tell their colours apart; and the colours
//! (of Okabe and Ito) can be told apart by the colour-blind too.

use egui::*;

use crate::view::layout::WindowLayout;
use crate::view::style::*;
use lang::tr;
use session::Status;
use ui::numbers::{grouped, si};
use ui::{Action, PopulationChart, ViewAction};

/// Words over the lower chart, and generations under it.
const HEAD: f32 = 24.0;
const TICKS: f32 = 24.0;
/// Figures of the upright axes.
const FIGURES: f32 = 58.0;
/// The part of the height that the population has.
const POPULATION: f32 = 0.58;

/// Shows the graph in its rectangle.
pub(crate) fn show(ui: &mut Ui, shown: &PopulationChart, rect: Rect) {
    let palette = &palette(ui);
    side_panel(ui, rect, &shown.title, ViewAction::TogglePopulation, |ui| {
        let other = Action::from(ViewAction::TogglePopulationOfAll);
        let text = tr!("{} all / selected", other.key());
        let button = Button::new(RichText::new(text).small()).frame_when_inactive(false);
        let headline = styled(&shown.headline, medium(19.0), palette.alive);
        let button = |ui: &mut Ui| asks(&ui.add(button), other);
        both_ends().show(ui, |ui| ui.label(headline), button);
        truncated(ui, styled(&shown.caption, regular(14.0), palette.label));
        let (all, chart) = ui.allocate_exact_size(ui.available_size(), Sense::hover());
        let list = format!("{}, {}, {}", shown.headline, shown.born, shown.died);
        chart.widget_info(|| WidgetInfo::labeled(accesskit::Role::Image, true, &list));
        paint(ui.painter(), shown, all, palette);
    });
}

/// Paints the charts, one above the other, with their axes.
fn paint(painter: &Painter, shown: &PopulationChart, all: Rect, palette: &Palette) {
    let inside = all
        .with_min_x(all.left() + FIGURES)
        .with_min_y(all.top() + 0.5 * HEAD);
    let room = (inside.height() - HEAD - TICKS).max(0.0);
    let (upper, below) = inside.split_top_bottom_at_y(inside.top() + POPULATION * room);
    let (legend, below) = below.split_top_bottom_at_y(below.top() + HEAD);
    let (lower, ticks) = below.split_top_bottom_at_y(below.bottom() - TICKS);
    let write = |at: Pos2, align, text: &str| {
        painter.text(at, align, text, regular(13.0), palette.label);
    };
    // From a value to its height in a chart whose axis is from one end to the other.
    let up = |chart: Rect, [low, high]: [f64; 2], value: f64| {
        egui::remap(
            value as f32,
            low as f32..=high as f32,
            chart.bottom()..=chart.top(),
        )
    };
    let alive = [0.0, shown.y_max];
    let changes = [-shown.change_y_max, shown.change_y_max];
    for (chart, axis) in [(upper, alive), (lower, changes)] {
        for value in [axis[0], (axis[0] + axis[1]) / 2.0, axis[1]] {
            let y = up(chart, axis, value);
            painter.hline(chart.x_range(), y, (1.0, palette.rule));
            if !shown.samples.is_empty() {
                let figure = si(value.abs());
                let at = pos2(chart.left() - 8.0, y);
                write(at, Align2::RIGHT_CENTER, figure.trim_end());
            }
        }
    }
    let half = legend.width() / 2.0 - 6.0;
    for (sign, text, colour, left) in [
        ('↑', &shown.born, palette.born, 0.0),
        ('↓', &shown.died, palette.died, half + 12.0),
    ] {
        let words = format!("{sign} {text}");
        let size = type_size(&words, half, [10.0, 14.0]);
        let text = fitted(painter, &words, regular(size), colour, half);
        let corner = legend.left_center() + vec2(left, -text.size().y / 2.0);
        painter.galley(corner, text, colour);
    }
    let Some((from, to)) = shown.ends() else {
        return;
    };
    let x = |generation: f64| {
        let part = (generation - from as f64) / (to - from).max(1) as f64;
        inside.left() + part as f32 * inside.width()
    };
    let points = shown.samples.iter().map(|it| {
        let middle = (it.from + it.to) as f64 / 2.0;
        pos2(x(middle), up(upper, alive, it.population()))
    });
    let points: Vec<Pos2> = points.collect();
    if let [one] = points[..] {
        painter.circle_filled(one, 2.5, palette.alive);
    }
    painter.add(Shape::line(points, Stroke::new(2.0, palette.alive)));
    // Those over as many generations as the newest, births up, deaths down.
    let mut changed = Mesh::default();
    for it in shown.samples.iter().filter(|it| it.step == shown.step) {
        let [left, right] = [it.from as f64 - it.step as f64, it.to as f64].map(x);
        for (count, colour) in [(it.births(), palette.born), (-it.deaths(), palette.died)] {
            let [from, to] = [0.0, count].map(|it| up(lower, changes, it));
            let bar = Rect::from_two_pos(pos2(left.max(inside.left()), from), pos2(right, to));
            changed.add_colored_rect(bar, colour);
        }
    }
    put_mesh(painter, changed);
    write(ticks.left_center(), Align2::LEFT_CENTER, &grouped(from));
    write(ticks.center(), Align2::CENTER_CENTER, tr!("generation"));
    write(ticks.right_center(), Align2::RIGHT_CENTER, &grouped(to));
}

/// Labels panels that are dead, still or periodic, or were just filled with a new soup, in their lower
/// left corners, where panels are large enough.
pub(crate) fn paint_tags(ui: &Ui, status: &Status, only: Option<usize>, layout: &WindowLayout) {
    let (palette, painter) = (palette(ui), ui.painter());
    // Nearly opaque, so that the word is read on any cells.
    let background = translucent(palette.tag_background, 0xE0);
    for place in 0..layout.tiling.count {
        let instance = only.unwrap_or(place);
        let settled = status.panels.settled.get(instance).copied().flatten();
        let word = match settled {
            Some(how) => how.to_string(),
            None if status.panels.reseeded.contains(&instance) => tr!("reseeded").into(),
            None => continue,
        };
        let panel = layout.points(layout.tiling.rect(place));
        let word = painter.layout_no_wrap(word, medium(13.0), palette.value);
        let size = word.size() + vec2(10.0, 4.0);
        if size.x > panel.width() || 3.0 * size.y > panel.height() {
            continue;
        }
        let rect = Align2::LEFT_BOTTOM.anchor_size(panel.left_bottom(), size);
        painter.rect_filled(rect, 0.0, background);
        put(painter, rect.center(), Align2::CENTER_CENTER, word); // the panel says it
    }
}
