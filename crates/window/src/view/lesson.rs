//! Lessons in the window: their list beside the panels, or the page of one in place of everything else.

pub(super) mod page;
mod speedup;

use egui::{Align2, Rect, pos2, vec2};

use crate::view::Frame;
use crate::view::dialogs::UiRequest;
use crate::view::hud::style::*;
use crate::view::hud::{message_colours, show_menu};
use crate::view::widget_painter::{Spoken, WidgetPainter};
use lang::tr;
use ui::figures::Urgency;
use ui::theme::Palette;
use ui::{Action, LessonEntry, LessonScreen, ViewAction};

const PAD: f32 = 26.0;
/// A row of the list.
#[derive(Clone, Copy)]
enum Row<'a> {
    /// What stands above the entries that follow.
    Heading(&'static str),
    /// An entry, and its place among all.
    Entry(usize, &'a LessonEntry),
}

/// The rows of a list.
fn list_rows(entries: &[LessonEntry]) -> Vec<Row<'_>> {
    let entries = entries.iter().enumerate();
    let rows = entries.flat_map(|(at, entry)| {
        let heading = entry.heading.map(Row::Heading);
        heading.into_iter().chain([Row::Entry(at, entry)])
    });
    rows.collect()
}

/// Where so many rows stand in a list's rectangle: the first one shown, and each one's place.
fn row_places(rect: Rect, count: usize, selected: usize) -> (usize, Vec<Rect>) {
    let inside = rect.shrink(PAD);
    let top = inside.top() + 50.0;
    let room = (inside.bottom() - 30.0 - top).max(1.0);
    let row = (room / count.max(1) as f32).clamp(26.0, 40.0);
    let seen = ((room / row) as usize).clamp(1, count.max(1));
    let first = (selected + 1)
        .saturating_sub(seen)
        .min(count - seen.min(count));
    let places = (0..seen.min(count)).map(|at| {
        let corner = pos2(inside.left(), top + at as f32 * row);
        Rect::from_min_size(corner, vec2(inside.width(), row))
    });
    (first, places.collect())
}

/// Paints the open lesson or the list of lessons.
pub(crate) fn paint(painter: &WidgetPainter, frame: &Frame<'_>, rect: Rect) {
    let Some(screen) = frame.sources.lesson else {
        return;
    };
    let line = (1.0, painter.palette.rule);
    painter.vline(rect.left() + 0.5, rect.y_range(), line);
    painter.hline(rect.x_range(), rect.top() + 0.5, line);
    let mut rect = rect;
    rect.set_bottom(paint_message(painter, frame, rect));
    match screen {
        LessonScreen::List { entries, selected } => {
            paint_list(painter, rect, entries, *selected);
        }
        LessonScreen::Page(page) => {
            let is_lectures = frame.sources.drawing.lecture.is_some();
            page::paint(painter, rect, page, is_lectures);
        }
    }
}

/// Paints the most urgent message, because the HUD is hidden; returns the bottom edge of the
/// remaining space.
fn paint_message(painter: &WidgetPainter, frame: &Frame<'_>, rect: Rect) -> f32 {
    let figures = frame.screen.figures.as_ref();
    let messages = figures.map_or(&[][..], |figures| &figures.messages);
    let urgent = |(urgency, _): &&(Urgency, lang::Message)| *urgency != Urgency::Warning;
    let Some((urgency, sentence)) = messages.iter().find(urgent) else {
        return rect.bottom();
    };
    let (background, text_colour) = message_colours(*urgency, &painter.palette);
    let inside = rect.shrink2(vec2(PAD, 10.0));
    let width = inside.width() - 20.0;
    let text = paragraph(painter, sentence, regular(15.0), text_colour, width, 4);
    let height = text.size().y + 14.0;
    let top = inside.bottom() - height;
    let place = Rect::from_min_max(pos2(inside.left(), top), inside.max);
    painter.rect_filled(place, 5.0, background);
    let at = place.min + vec2(10.0, 7.0);
    put(painter, at, Align2::LEFT_TOP, text);
    top
}

/// The title, in type of this size of the usual one, to the right of it where one is, and the menu's
/// sign in the corner.
fn paint_head(painter: &WidgetPainter, inside: Rect, size: f32, [title, right]: [&str; 2]) {
    let right = painter.layout_no_wrap(right.into(), regular(15.0 * size), painter.palette.label);
    let middle = inside.top() + 15.0;
    let sign = pos2(inside.right() - 9.0, middle);
    painter.lay_out(
        Rect::from_center_size(sign, vec2(26.0, 26.0)),
        "menu",
        |ui| {
            show_menu(painter, ui, painter.palette.label);
        },
    );
    let end = sign.x - 22.0;
    let room = end - inside.left() - right.size().x - 16.0;
    let title = fitted(
        painter,
        title,
        medium(24.0 * size),
        painter.palette.value,
        room,
    );
    put(
        painter,
        pos2(inside.left(), middle),
        Align2::LEFT_CENTER,
        title,
    );
    put(painter, pos2(end, middle), Align2::RIGHT_CENTER, right);
}

/// Buttons at the right of the last line, each with whether it does anything here, and words beside
/// them where there is room. A button that does nothing keeps its place, so that the others do too.
pub(super) fn paint_foot(
    painter: &WidgetPainter,
    inside: Rect,
    text: &str,
    buttons: &[(&str, ViewAction, bool)],
) {
    let (pad, gap) = (11.0, 8.0);
    let mut right = inside.right();
    for &(label, action, is_possible) in buttons.iter().rev() {
        let room = inside.width() / buttons.len() as f32 - gap - 2.0 * pad;
        let galley = |text_colour| fitted(painter, label, medium(14.0), text_colour, room);
        let size = galley(painter.palette.value).size() + vec2(2.0 * pad, 9.0);
        let corner = pos2(right - size.x, inside.bottom() + 3.0 - size.y);
        let place = Rect::from_min_size(corner, size);
        let is_over = if is_possible {
            painter.button(place, &Spoken::new(label, ""), Action::View(action))
        } else {
            painter.idle_button(place, label);
            false
        };
        let (background, text_colour) = match (is_possible, is_over) {
            (false, _) => (painter.palette.background, painter.palette.faint),
            (true, true) => (painter.palette.accent, painter.palette.on_accent),
            (true, false) => (painter.palette.lesson_card, painter.palette.value),
        };
        painter.rect_filled(place, 5.0, background);
        let text = galley(text_colour);
        put(painter, place.center(), Align2::CENTER_CENTER, text);
        right = place.left() - gap;
    }
    let text = painter.layout_no_wrap(text.into(), regular(14.0), painter.palette.label);
    if text.size().x <= right - inside.left() {
        put(painter, inside.left_bottom(), Align2::LEFT_BOTTOM, text);
    }
}

fn paint_list(painter: &WidgetPainter, rect: Rect, entries: &[LessonEntry], selected: usize) {
    let inside = rect.shrink(PAD);
    let count = tr!("{} of {}", (selected + 1).min(entries.len()), entries.len());
    paint_head(painter, inside, 1.0, [tr!("Lessons"), &count]);
    let foot = tr!("↑ ↓ choose · Enter, Space or a click opens");
    let close = [(tr!("Close"), ViewAction::ToggleLessons, true)];
    paint_foot(painter, inside, foot, &close);
    let names = entries.iter().map(|entry| {
        let font = medium(17.0);
        let name = painter.layout_no_wrap(entry.name.clone(), font, painter.palette.value);
        name.size().x
    });
    let names = names.fold(0.0, f32::max).min(0.45 * inside.width());
    // One size of type for all titles: the largest of which the longest has room.
    let left = inside.left() + names + 18.0;
    let room = inside.right() - left;
    let titles = entries.iter().map(|entry| {
        let font = regular(16.0);
        let title = painter.layout_no_wrap(entry.title.clone(), font, painter.palette.value);
        title.size().x
    });
    let shrink = (0.98 * room / titles.fold(1.0, f32::max)).clamp(SMALLEST, 1.0);
    let rows = list_rows(entries);
    let is_selected = |row: &Row<'_>| matches!(row, Row::Entry(at, _) if *at == selected);
    let selected_row = rows.iter().position(is_selected).unwrap_or(0);
    let (first, places) = row_places(rect, rows.len(), selected_row);
    if let ([top, .., bottom], true) = (&places[..], places.len() < rows.len()) {
        // How far the list goes on above and below.
        let row = (bottom.bottom() - top.top()) / rows.len() as f32;
        let right = rect.right() - 9.0;
        let bar = Rect::from_min_size(
            pos2(right, top.top() + first as f32 * row),
            vec2(4.0, places.len() as f32 * row),
        );
        painter.rect_filled(bar, 2.0, painter.palette.raised);
    }
    for (row, place) in rows.into_iter().skip(first).zip(places) {
        let (index, entry) = match row {
            Row::Entry(index, entry) => (index, entry),
            Row::Heading(heading) => {
                let font = medium(15.0);
                let text = fitted(painter, heading, font, painter.palette.label, place.width());
                let bottom = place.left_bottom() - vec2(0.0, 3.0);
                put(painter, bottom, Align2::LEFT_BOTTOM, text);
                continue;
            }
        };
        let name = format!("{}: {}", entry.name, entry.title);
        let spoken = Spoken::new(&name, "").on(Some(index == selected));
        let is_over = painter.request(place, &spoken, UiRequest::Lesson(index));
        let palette = &painter.palette;
        let (background, text_colour, dim) = match (index == selected, is_over) {
            (true, _) => (Some(palette.accent), palette.on_accent, palette.on_accent),
            (false, true) => (Some(palette.raised), palette.value, palette.label),
            (false, false) => (None, palette.value, palette.label),
        };
        if let Some(background) = background {
            let around = place.shrink2(vec2(0.0, 1.0)).expand2(vec2(10.0, 0.0));
            painter.rect_filled(around, 5.0, background);
        }
        let name = fitted(painter, &entry.name, medium(17.0), text_colour, names + 1.0);
        put(painter, place.left_center(), Align2::LEFT_CENTER, name);
        let font = regular(16.0 * shrink);
        let title = cut(painter, &entry.title, font, dim, room);
        put(
            painter,
            pos2(left, place.center().y),
            Align2::LEFT_CENTER,
            title,
        );
    }
}

/// The same in a widget.
pub(crate) fn sign(palette: &Palette<egui::Color32>, holds: bool) -> egui::Atom<'static> {
    let palette = *palette;
    egui::Atom::paint(vec2(17.0, 17.0), move |ui, face| {
        paint_sign(ui.painter(), &palette, face.rect, holds);
    })
}

/// A tick on dark green or a cross on red: told apart by their shapes, too.
pub(crate) fn paint_sign(
    painter: &egui::Painter,
    palette: &Palette<egui::Color32>,
    rect: Rect,
    holds: bool,
) {
    let (background, text_colour) = if holds {
        (palette.running_background, palette.running)
    } else {
        (palette.failed, palette.on_failed)
    };
    painter.rect_filled(rect, 0.2 * rect.width(), background);
    let at = |x: f32, y: f32| rect.min + vec2(x, y) * rect.width();
    let stroke = egui::Stroke::new(0.11 * rect.width(), text_colour);
    if holds {
        let tick = vec![at(0.22, 0.54), at(0.42, 0.74), at(0.79, 0.28)];
        painter.line(tick, stroke);
    } else {
        painter.line_segment([at(0.26, 0.26), at(0.74, 0.74)], stroke);
        painter.line_segment([at(0.74, 0.26), at(0.26, 0.74)], stroke);
    }
}

#[cfg(test)]
mod tests;
