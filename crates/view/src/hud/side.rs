//! The HUD beside the panels: figures in a column, labels left, values right.

use std::sync::Arc;

use egui::{Align2, Galley, Rect, pos2, vec2};

use crate::hit_regions;
use crate::hud::parts;
use crate::hud::style::*;
use lang::Message;
use lang::tr;
use screen::figures::{Figure, Figures, Urgency};

const ROW: f32 = 22.0;
const NOTE: f32 = 15.0;
const WIDE: f32 = 38.0;
const GROUP: f32 = 12.0;
const LEAD: f32 = 64.0;
const STATE: f32 = 44.0;
const FOOT: f32 = 18.0;
/// Rows of text in a message, at most.
const MAX_ROWS: usize = 6;
/// Sizes of a message's type: the largest that leaves it whole.
const MESSAGE_TYPE: [f32; 4] = [14.0, 13.0, 12.0, 11.0];
/// Room below the figures for messages, whether there are any or not: no figure goes when one comes.
const MESSAGES: f32 = 62.0;

/// Paints the figures into the rectangle, `unit` pixels per unit; those of the highest ranks stay
/// away where there is no room.
pub(super) fn paint(painter: &ThemedPainter, rect: Rect, unit: f32, figures: &Figures) {
    let inside = rect.shrink2(vec2(16.0, 14.0) * unit);
    let foot = pos2(inside.left(), inside.bottom());
    let keys = fitted(
        painter,
        tr!("H   keys and help"),
        regular(13.0 * unit),
        painter.palette.label,
        inside.width() - 34.0 * unit,
    );
    let middle = foot.y - keys.size().y / 2.0;
    put(painter, foot, Align2::LEFT_BOTTOM, keys);
    let sign = pos2(inside.right() - 9.0 * unit, middle);
    parts::menu(painter, sign, unit, painter.palette.label);
    let end = inside.bottom() - (FOOT + 6.0) * unit;
    let figures_end = paint_figures(painter, inside, end - MESSAGES * unit, unit, figures);
    let room = Rect::from_min_max(pos2(inside.left(), figures_end), pos2(inside.right(), end));
    paint_messages(painter, room, unit, &figures.messages);
}

/// Paints the state and the figures from the top; those of the highest ranks stay away where they
/// would end below `bottom`. Returns where they end.
fn paint_figures(
    painter: &ThemedPainter,
    inside: Rect,
    bottom: f32,
    unit: f32,
    figures: &Figures,
) -> f32 {
    let state = Rect::from_min_size(inside.min, vec2(inside.width(), STATE * unit));
    parts::state(painter, state, unit, (figures.state, &figures.pace), 0.0);
    let mut y = state.bottom() + 12.0 * unit;
    if y + LEAD * unit > bottom {
        return y;
    }
    let place = Rect::from_min_size(pos2(inside.left(), y), vec2(inside.width(), LEAD * unit));
    hit_regions::tip(painter, place, &figures.headline.tip);
    headline(painter, inside, y, unit, &figures.headline);
    y += LEAD * unit;

    let Some(most) = most_rank(&figures.groups, (bottom - y) / unit) else {
        return y;
    };
    for group in &figures.groups {
        let kept: Vec<_> = group.iter().filter(|figure| figure.rank <= most).collect();
        if kept.is_empty() {
            continue;
        }
        let line = (y + GROUP / 2.0 * unit - 1.0 * unit).round();
        painter.hline(
            inside.x_range(),
            line,
            (unit.max(1.0), painter.palette.rule),
        );
        y += GROUP * unit;
        for figure in kept {
            let noted = noted(figure, most);
            let size = vec2(inside.width(), height(figure, noted) * unit);
            let place = Rect::from_min_size(pos2(inside.left(), y), size);
            hit_regions::tip(painter, place, &figure.tip);
            row(painter, inside, y, unit, figure, noted);
            y += height(figure, noted) * unit;
        }
    }
    y
}

/// A figure's height in units.
fn height(figure: &Figure, noted: bool) -> f32 {
    let own = if figure.wide { WIDE } else { ROW };
    // A kernel's title may take two rows.
    let rows = if lang::columns(&figure.note) > 38 {
        2.0
    } else {
        1.0
    };
    if noted { own + rows * NOTE + 2.0 } else { own }
}

/// Whether a figure's note stays: notes go before the figures of the same rank do.
fn noted(figure: &Figure, most: u8) -> bool {
    !figure.note.is_empty() && figure.rank.saturating_add(3) <= most
}

/// The highest rank for which there is room, if there is for any.
fn most_rank(groups: &[Vec<Figure>], room: f32) -> Option<u8> {
    (0..=12).rev().find(|&most| {
        let needed = |group: &Vec<Figure>| {
            let kept = group.iter().filter(|figure| figure.rank <= most);
            let heights: f32 = kept.map(|figure| height(figure, noted(figure, most))).sum();
            if heights > 0.0 { heights + GROUP } else { 0.0 }
        };
        groups.iter().map(needed).sum::<f32>() <= room
    })
}

fn headline(painter: &ThemedPainter, inside: Rect, y: f32, unit: f32, figure: &Figure) {
    let label = fitted(
        painter,
        &figure.label,
        regular(14.0 * unit),
        painter.palette.label,
        inside.width(),
    );
    let used = label.size().x + 10.0 * unit;
    put(painter, pos2(inside.left(), y), Align2::LEFT_TOP, label);
    let note = fitted(
        painter,
        &figure.note,
        regular(13.0 * unit),
        painter.palette.label,
        inside.width() - used,
    );
    put(painter, pos2(inside.right(), y), Align2::RIGHT_TOP, note);
    let size = lead_size(&figure.value, inside.width() / unit) * unit;
    let value = fitted(
        painter,
        &figure.value,
        medium(size),
        painter.palette.value,
        inside.width(),
    );
    put(
        painter,
        pos2(inside.left(), y + 38.0 * unit),
        Align2::LEFT_CENTER,
        value,
    );
}

/// The type of the leading figure: by how many digits there are, not by which.
fn lead_size(text: &str, width: f32) -> f32 {
    (width / (0.58 * lang::columns(text) as f32)).clamp(15.0, 40.0)
}

fn row(painter: &ThemedPainter, inside: Rect, y: f32, unit: f32, figure: &Figure, noted: bool) {
    let width = inside.width();
    let label_at = pos2(inside.left(), y + 11.0 * unit);
    let mut note_at = y + ROW * unit - 2.0 * unit;
    if figure.wide {
        let label = fitted(
            painter,
            &figure.label,
            regular(13.0 * unit),
            painter.palette.label,
            width,
        );
        put(
            painter,
            label_at - vec2(0.0, 2.0 * unit),
            Align2::LEFT_CENTER,
            label,
        );
        let value = fitted(
            painter,
            &figure.value,
            medium(17.0 * unit),
            painter.palette.value,
            width,
        );
        put(
            painter,
            pos2(inside.left(), y + 28.0 * unit),
            Align2::LEFT_CENTER,
            value,
        );
        note_at = y + WIDE * unit;
    } else {
        let label = fitted(
            painter,
            &figure.label,
            regular(14.5 * unit),
            painter.palette.label,
            width * 0.58,
        );
        let left = width - label.size().x - 8.0 * unit;
        put(painter, label_at, Align2::LEFT_CENTER, label);
        let value = fitted(
            painter,
            &figure.value,
            medium(17.0 * unit),
            painter.palette.value,
            left,
        );
        put(
            painter,
            pos2(inside.right(), label_at.y),
            Align2::RIGHT_CENTER,
            value,
        );
    }
    if noted {
        let note = paragraph(
            painter,
            &figure.note,
            regular(12.5 * unit),
            painter.palette.label,
            width,
            2,
        );
        put(
            painter,
            pos2(inside.left(), note_at),
            Align2::LEFT_TOP,
            note,
        );
    }
}

/// Paints messages, each in a box, at the foot of the room. The most urgent come first, and take as
/// many rows of text as they need, in smaller type if they would be cut. What has no room is left out,
/// as is a warning that would be cut all the same: it comes back. One that is cut is a tip too.
fn paint_messages(painter: &ThemedPainter, room: Rect, unit: f32, messages: &[(Urgency, Message)]) {
    let (pad, gap) = (9.0 * unit, 6.0 * unit);
    let mut boxes = Vec::new();
    let mut left = room.height() - gap;
    for (urgency, sentence) in messages {
        let (background, text_colour) = parts::message_colours(*urgency, &painter.palette);
        let text = |size: f32, rows: usize| {
            let (font, width) = (regular(size * unit), room.width() - 2.0 * pad);
            paragraph(painter, sentence, font, text_colour, width, rows)
        };
        let fits = |text: &Arc<Galley>| text.size().y + 1.6 * pad <= left;
        let mut sizes = MESSAGE_TYPE.iter().map(|&size| text(size, MAX_ROWS));
        let whole = sizes.find(|text| !text.elided && fits(text));
        let smallest = MESSAGE_TYPE[MESSAGE_TYPE.len() - 1];
        let mut cut = (1..=MAX_ROWS).rev().map(|rows| text(smallest, rows));
        let Some(text) = whole.or_else(|| cut.find(fits)) else {
            break;
        };
        let can_wait = *urgency == Urgency::Warning && !boxes.is_empty();
        if text.elided && can_wait {
            continue;
        }
        let height = text.size().y + 1.6 * pad;
        left -= height + gap;
        boxes.push((text, height, background, sentence));
    }
    let all: f32 = boxes.iter().map(|(_, height, ..)| height + gap).sum();
    let mut y = room.bottom() - all + gap;
    for (text, height, background, sentence) in boxes {
        let place = Rect::from_min_size(pos2(room.left(), y), vec2(room.width(), height));
        painter.rect_filled(place, 5.0 * unit, background);
        if text.elided {
            hit_regions::tip(painter, place, sentence);
        }
        let corner = place.min + vec2(pad, 0.8 * pad);
        put(painter, corner, Align2::LEFT_TOP, text);
        y += height + gap;
    }
}
