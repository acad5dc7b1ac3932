//! The HUD below the panels, where the window is narrow: the figures in equal cells.

use egui::{Align2, Rect, pos2, vec2};

use crate::view::hud::parts;
use crate::view::hud::style::*;
use crate::view::widget_painter::WidgetPainter;
use ui::figures::{Figure, Figures};

const CELL: f32 = 150.0;
const LINE: f32 = 46.0;

/// Paints as many of the figures into the rectangle as it takes, by rank.
pub(crate) fn paint(painter: &WidgetPainter, rect: Rect, figures: &Figures) {
    let scale = growth(rect.size(), figures);
    let inside = rect.shrink2(vec2(14.0, 8.0) * scale);
    let columns = columns(inside.width() / scale);
    let all = (inside.height() / (LINE * scale)).floor().max(1.0) as usize;
    // The last line is for a message, whether there is one or not: no figure goes when one comes.
    let lines = if all > 1 { all - 1 } else { all };
    if let Some((urgency, sentence)) = figures.messages.first() {
        let (background, colour) = parts::message_colours(*urgency, &painter.palette);
        let height = 30.0 * scale;
        let min = pos2(inside.left(), inside.bottom() - height);
        let place = Rect::from_min_size(min, vec2(inside.width(), height));
        painter.rect_filled(place, 5.0 * scale, background);
        let width = place.width() - 20.0 * scale;
        let text = fitted(painter, sentence, regular(14.0 * scale), colour, width);
        put(
            painter,
            place.left_center() + vec2(10.0 * scale, 0.0),
            Align2::LEFT_CENTER,
            text,
        );
    }
    // What is left over goes between the lines.
    let line = (inside.height() / all as f32).min(1.4 * LINE * scale);
    let cell = inside.width() / columns as f32;
    let place = |(line_at, column): (usize, usize), span: usize| {
        let at = vec2(column as f32 * cell, line_at as f32 * line);
        let size = vec2(span as f32 * cell - 12.0 * scale, (LINE - 8.0) * scale);
        Rect::from_min_size(inside.min + at, size)
    };
    let state = place((0, 0), 1);
    parts::state(painter, state, scale, figures.state, "", 30.0 * scale);
    let sign = state.right_center() - vec2(20.0 * scale, 0.0);
    parts::menu(
        painter,
        sign,
        scale,
        parts::state_text_colour(figures.state, &painter.palette),
    );
    for (figure, at) in by_rank(figures, columns, lines) {
        let place = place(at, span(figure));
        let width = place.width();
        parts::say(painter, place, figure);
        let label = fitted(
            painter,
            &figure.label,
            regular(12.5 * scale),
            painter.palette.label,
            width,
        );
        put(painter, place.left_top(), Align2::LEFT_TOP, label);
        let value = fitted(
            painter,
            &figure.value,
            medium(18.0 * scale),
            parts::value_colour(painter, figure),
            width,
        );
        parts::put_value(
            painter,
            place.left_top() + vec2(0.0, 16.0 * scale),
            Align2::LEFT_TOP,
            value,
            figure.settings,
        );
    }
}

fn columns(width: f32) -> usize {
    (width / CELL).floor().max(2.0) as usize
}

/// Cells that a figure takes.
fn span(figure: &Figure) -> usize {
    if figure.wide { 2 } else { 1 }
}

/// How much larger than usual the type can be with all figures still there.
fn growth(room: egui::Vec2, figures: &Figures) -> f32 {
    let count = all(figures).count();
    let holds = |growth: f32| {
        let inside = room / growth - vec2(28.0, 16.0);
        // One line is for a sentence.
        let lines = ((inside.y / LINE).floor() as usize).saturating_sub(1);
        by_rank(figures, columns(inside.x), lines).len() == count
    };
    [2.0, 1.8, 1.6, 1.5, 1.4, 1.3, 1.2, 1.1]
        .into_iter()
        .find(|&by| holds(by))
        .unwrap_or(1.0)
}

fn all(figures: &Figures) -> impl Iterator<Item = &Figure> {
    std::iter::once(&figures.headline).chain(figures.groups.iter().flatten())
}

/// As many figures of the lowest ranks as the cells take, in their usual order, and the line and
/// column of each; the first cell is the state's.
fn by_rank(figures: &Figures, columns: usize, lines: usize) -> Vec<(&Figure, (usize, usize))> {
    let flowed = |most: u8| {
        let mut next = (0, 1);
        let mut placed = Vec::new();
        for figure in all(figures).filter(|figure| figure.rank <= most) {
            if next.1 + span(figure) > columns {
                next = (next.0 + 1, 0);
            }
            placed.push((figure, next));
            next.1 += span(figure);
        }
        placed
    };
    let fits = |placed: &Vec<(&Figure, (usize, usize))>| {
        placed.last().is_none_or(|(_, (line, _))| *line < lines)
    };
    (0..=12).rev().map(flowed).find(fits).unwrap_or_default()
}
