//! The HUD beside the panels: figures in a column, labels left, values right.

use std::sync::Arc;

use egui::{Align2, Galley, Rect, pos2, vec2};

use crate::view::hud::parts;
use crate::view::hud::style::*;
use crate::view::widget_painter::{Spoken, WidgetPainter};
use lang::Message;
use lang::tr;
use ui::figures::{Figure, Figures, Urgency};

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

/// Paints the figures into the rectangle; those of the highest ranks stay
/// away where there is no room for them.
pub(crate) fn paint(painter: &WidgetPainter, rect: Rect, figures: &Figures) {
    let inside = rect.shrink2(vec2(16.0, 14.0));
    let foot = pos2(inside.left(), inside.bottom());
    let keys = fitted(
        painter,
        tr!("H   keys and help"),
        regular(13.0),
        painter.palette.label,
        inside.width() - 34.0,
    );
    let middle = foot.y - keys.size().y / 2.0;
    put(painter, foot, Align2::LEFT_BOTTOM, keys);
    let sign = pos2(inside.right() - 9.0, middle);
    parts::menu(painter, sign, 1.0, painter.palette.label);
    let end = inside.bottom() - (FOOT + 6.0);
    let figures_end = paint_figures(painter, inside, end - MESSAGES, figures);
    let room = Rect::from_min_max(pos2(inside.left(), figures_end), pos2(inside.right(), end));
    paint_messages(painter, room, &figures.messages);
}

/// Paints the state and the figures from the top, as many as end above `bottom`. Returns where they
/// end.
fn paint_figures(painter: &WidgetPainter, inside: Rect, bottom: f32, figures: &Figures) -> f32 {
    let state = Rect::from_min_size(inside.min, vec2(inside.width(), STATE));
    parts::state(painter, state, 1.0, figures.state, &figures.pace, 0.0);
    let mut y = state.bottom() + 12.0;
    if y + LEAD > bottom {
        return y;
    }
    let place = Rect::from_min_size(pos2(inside.left(), y), vec2(inside.width(), LEAD));
    parts::say(painter, place, &figures.headline);
    headline(painter, inside, y, &figures.headline);
    y += LEAD;

    for kept in with_room(&figures.groups, bottom - y) {
        let line = y + GROUP / 2.0 - 1.0;
        painter.hline(inside.x_range(), line, (1.0, painter.palette.rule));
        y += GROUP;
        for (figure, noted) in kept {
            let size = vec2(inside.width(), height(figure, noted));
            let place = Rect::from_min_size(pos2(inside.left(), y), size);
            parts::say(painter, place, figure);
            row(painter, inside, y, figure, noted);
            y += height(figure, noted);
        }
    }
    y
}

/// A figure's height.
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

/// The figures for which there is room, by group, each with whether its note stays: those of the
/// lowest ranks, and whatever else fits beside them. Notes go before the figures of the same rank do.
fn with_room(groups: &[Vec<Figure>], room: f32) -> Vec<Vec<(&Figure, bool)>> {
    let all = || groups.iter().enumerate();
    let all = || all().flat_map(|(group, figures)| figures.iter().map(move |it| (group, it)));
    // What could be added, the most important first: a figure, or the note of one.
    let mut parts: Vec<(u8, bool, usize, &Figure)> = all()
        .map(|(group, figure)| (figure.rank, false, group, figure))
        .collect();
    parts.extend(
        all()
            .filter(|(_, figure)| !figure.note.is_empty())
            .map(|(group, figure)| (figure.rank.saturating_add(3), true, group, figure)),
    );
    parts.sort_by_key(|&(rank, is_note, ..)| (rank, is_note));
    let mut kept: Vec<Vec<(&Figure, bool)>> = vec![Vec::new(); groups.len()];
    let mut left = room;
    for (_, is_note, group, figure) in parts {
        let here = &mut kept[group];
        let (needed, place) = if is_note {
            let Some(place) = here.iter().position(|(it, _)| std::ptr::eq(*it, figure)) else {
                continue;
            };
            (height(figure, true) - height(figure, false), Some(place))
        } else if here.is_empty() {
            (GROUP + height(figure, false), None)
        } else {
            (height(figure, false), None)
        };
        // A room in points is a quotient: what just fits, fits.
        if needed > left + 0.005 {
            continue;
        }
        left -= needed;
        match place {
            None => here.push((figure, false)),
            Some(place) => here[place].1 = true,
        }
    }
    // As they stand in their group, not by rank.
    for (kept, figures) in kept.iter_mut().zip(groups) {
        kept.sort_by_key(|(it, _)| figures.iter().position(|of| std::ptr::eq(*it, of)));
    }
    kept.retain(|group| !group.is_empty());
    kept
}

fn headline(painter: &WidgetPainter, inside: Rect, y: f32, figure: &Figure) {
    let label = fitted(
        painter,
        &figure.label,
        regular(14.0),
        painter.palette.label,
        inside.width(),
    );
    let used = label.size().x + 10.0;
    put(painter, pos2(inside.left(), y), Align2::LEFT_TOP, label);
    let note = fitted(
        painter,
        &figure.note,
        regular(13.0),
        painter.palette.label,
        inside.width() - used,
    );
    put(painter, pos2(inside.right(), y), Align2::RIGHT_TOP, note);
    let size = lead_size(&figure.value, inside.width());
    let value = fitted(
        painter,
        &figure.value,
        medium(size),
        parts::value_colour(painter, figure),
        inside.width(),
    );
    put(
        painter,
        pos2(inside.left(), y + 38.0),
        Align2::LEFT_CENTER,
        value,
    );
}

/// The type of the leading figure: by how many digits there are, not by which.
fn lead_size(text: &str, width: f32) -> f32 {
    (width / (0.58 * lang::columns(text) as f32)).clamp(15.0, 40.0)
}

fn row(painter: &WidgetPainter, inside: Rect, y: f32, figure: &Figure, noted: bool) {
    let width = inside.width();
    let label_at = pos2(inside.left(), y + 11.0);
    let mut note_at = y + ROW - 2.0;
    if figure.wide {
        let label = fitted(
            painter,
            &figure.label,
            regular(13.0),
            painter.palette.label,
            width,
        );
        put(
            painter,
            label_at - vec2(0.0, 2.0),
            Align2::LEFT_CENTER,
            label,
        );
        let value = fitted(
            painter,
            &figure.value,
            medium(17.0),
            parts::value_colour(painter, figure),
            width,
        );
        parts::put_value(
            painter,
            pos2(inside.left(), y + 28.0),
            Align2::LEFT_CENTER,
            value,
            figure.settings,
        );
        note_at = y + WIDE;
    } else {
        let label = fitted(
            painter,
            &figure.label,
            regular(14.5),
            painter.palette.label,
            width * 0.58,
        );
        let left = width - label.size().x - 8.0;
        put(painter, label_at, Align2::LEFT_CENTER, label);
        let value = fitted(
            painter,
            &figure.value,
            medium(17.0),
            parts::value_colour(painter, figure),
            left,
        );
        parts::put_value(
            painter,
            pos2(inside.right(), label_at.y),
            Align2::RIGHT_CENTER,
            value,
            figure.settings,
        );
    }
    if noted {
        let note = paragraph(
            painter,
            &figure.note,
            regular(12.5),
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
fn paint_messages(painter: &WidgetPainter, room: Rect, messages: &[(Urgency, Message)]) {
    let (pad, gap) = (9.0, 6.0);
    let mut boxes = Vec::new();
    let mut left = room.height() - gap;
    for (urgency, sentence) in messages {
        let (background, text_colour) = parts::message_colours(*urgency, &painter.palette);
        let text = |size: f32, rows: usize| {
            let (font, width) = (regular(size), room.width() - 2.0 * pad);
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
        painter.rect_filled(place, 5.0, background);
        let tip: &str = if text.elided { sentence } else { "" };
        painter.say(place, &Spoken::new(sentence, tip));
        let corner = place.min + vec2(pad, 0.8 * pad);
        put(painter, corner, Align2::LEFT_TOP, text);
        y += height + gap;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ui::fixtures::status;
    use ui::{Drawing, ViewOptions};

    /// Whatever the interface's size: no figure is missing that the free room would take.
    #[test]
    fn figures_are_left_out_only_where_there_is_no_room_for_them() {
        let mut status = status(16, life::Size::new(256, 256).unwrap());
        status.clock.oldest = Some(12_000);
        status.setting.time.reseed = true;
        let figures = ui::figures::figures(&status, &ViewOptions::default(), &Drawing::default());
        let count = figures.groups.iter().flatten().count();
        let mut counts = Vec::new();
        for room in (40..900).map(|room| room as f32) {
            let kept = with_room(&figures.groups, room);
            let heights = kept.iter().flatten().map(|(it, noted)| height(it, *noted));
            let used = heights.sum::<f32>() + GROUP * kept.len() as f32;
            assert!(used <= room + 0.01, "{used} of {room}");
            let kept: Vec<_> = kept.iter().flatten().map(|(it, _)| *it).collect();
            let mut missing = figures.groups.iter().flatten();
            let fits = missing.find(|it| {
                !kept.iter().any(|kept| std::ptr::eq(*kept, *it))
                    && height(it, false) + GROUP <= room - used
            });
            assert_eq!(fits.map(|it| &it.label), None, "{used} of {room}");
            counts.push(kept.len());
        }
        assert_eq!(counts.last(), Some(&count));
        assert!(counts[0] < count);
    }
}
