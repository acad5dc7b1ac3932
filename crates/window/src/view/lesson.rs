//! A lesson in the window: the list of lessons, or a page of one, in large type beside the panels.

mod speedup;

use std::sync::Arc;

use egui::{Align2, Galley, Rect, TextureHandle, pos2, vec2};

use crate::view::Frame;
use crate::view::dialogs::UiRequest;
use crate::view::hud::style::*;
use crate::view::hud::{message_colours, paint_menu_sign};
use crate::view::widget_painter::{Spoken, WidgetPainter};
use lang::tr;
use model::{Action, ViewAction};
use ui::figures::Urgency;
use ui::{LessonEntry, LessonPage, LessonScreen};

const PAD: f32 = 26.0;
/// What leaves room for nothing else shrinks to this part of its size, and no farther.
const SMALLEST_PAGE: f32 = 0.4;
/// The largest type, of the usual one.
const LARGEST_PAGE: f32 = 1.25;

/// Where entries stand in a list's rectangle: the first one shown, and each one's place.
fn entry_places(rect: Rect, unit: f32, count: usize, selected: usize) -> (usize, Vec<Rect>) {
    let inside = rect.shrink(PAD * unit);
    let top = inside.top() + 50.0 * unit;
    let room = (inside.bottom() - 30.0 * unit - top).max(1.0);
    let row = (room / count.max(1) as f32).clamp(26.0 * unit, 40.0 * unit);
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
pub(crate) fn paint(painter: &WidgetPainter, frame: &Frame<'_>, rect: Rect, unit: f32) {
    let Some(screen) = frame.screen.lesson.as_deref() else {
        return;
    };
    let line = (unit.max(1.0), painter.palette.rule);
    painter.vline(rect.left() + 0.5 * unit, rect.y_range(), line);
    painter.hline(rect.x_range(), rect.top() + 0.5 * unit, line);
    let mut rect = rect;
    rect.set_bottom(paint_message(painter, frame, rect, unit));
    match screen {
        LessonScreen::List { entries, selected } => {
            paint_list(painter, rect, unit, entries, *selected);
        }
        LessonScreen::Page(page) => {
            let usual = frame.usual_unit();
            paint_page(painter, rect, unit, usual, page);
        }
    }
}

/// Paints the most urgent message, because the HUD is hidden; returns the bottom edge of the
/// remaining space.
fn paint_message(painter: &WidgetPainter, frame: &Frame<'_>, rect: Rect, unit: f32) -> f32 {
    let figures = frame.screen.figures.as_ref();
    let messages = figures.map_or(&[][..], |figures| &figures.messages);
    let urgent = |(urgency, _): &&(Urgency, lang::Message)| *urgency != Urgency::Warning;
    let Some((urgency, sentence)) = messages.iter().find(urgent) else {
        return rect.bottom();
    };
    let (background, text_colour) = message_colours(*urgency, &painter.palette);
    let inside = rect.shrink2(vec2(PAD, 10.0) * unit);
    let width = inside.width() - 20.0 * unit;
    let text = paragraph(
        painter,
        sentence,
        regular(15.0 * unit),
        text_colour,
        width,
        4,
    );
    let height = text.size().y + 14.0 * unit;
    let top = inside.bottom() - height;
    let place = Rect::from_min_max(pos2(inside.left(), top), inside.max);
    painter.rect_filled(place, 5.0 * unit, background);
    let at = place.min + vec2(10.0, 7.0) * unit;
    put(painter, at, Align2::LEFT_TOP, text);
    top
}

/// The title, in type of this size of the usual one, to the right of it where one is, and the menu's
/// sign in the corner.
fn paint_head(
    painter: &WidgetPainter,
    inside: Rect,
    unit: f32,
    size: f32,
    [title, right]: [&str; 2],
) {
    let right = painter.layout_no_wrap(
        right.into(),
        regular(15.0 * size * unit),
        painter.palette.label,
    );
    let middle = inside.top() + 15.0 * unit;
    let sign = pos2(inside.right() - 9.0 * unit, middle);
    paint_menu_sign(painter, sign, unit, painter.palette.label);
    let end = sign.x - 22.0 * unit;
    let room = end - inside.left() - right.size().x - 16.0 * unit;
    let title = fitted(
        painter,
        title,
        medium(24.0 * size * unit),
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
fn paint_foot(
    painter: &WidgetPainter,
    inside: Rect,
    unit: f32,
    text: &str,
    buttons: &[(&str, ViewAction, bool)],
) {
    let (pad, gap) = (11.0 * unit, 8.0 * unit);
    let mut right = inside.right();
    for &(label, action, is_possible) in buttons.iter().rev() {
        let room = inside.width() / buttons.len() as f32 - gap - 2.0 * pad;
        let galley = |text_colour| fitted(painter, label, medium(14.0 * unit), text_colour, room);
        let size = galley(painter.palette.value).size() + vec2(2.0 * pad, 9.0 * unit);
        let corner = pos2(right - size.x, inside.bottom() + 3.0 * unit - size.y);
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
        painter.rect_filled(place, 5.0 * unit, background);
        let text = galley(text_colour);
        put(painter, place.center(), Align2::CENTER_CENTER, text);
        right = place.left() - gap;
    }
    let text = painter.layout_no_wrap(text.into(), regular(14.0 * unit), painter.palette.label);
    if text.size().x <= right - inside.left() {
        put(painter, inside.left_bottom(), Align2::LEFT_BOTTOM, text);
    }
}

fn paint_list(
    painter: &WidgetPainter,
    rect: Rect,
    unit: f32,
    entries: &[LessonEntry],
    selected: usize,
) {
    let inside = rect.shrink(PAD * unit);
    let count = tr!("{} of {}", (selected + 1).min(entries.len()), entries.len());
    paint_head(painter, inside, unit, 1.0, [tr!("Lessons"), &count]);
    let foot = tr!("↑ ↓ choose · Enter, Space or a click opens");
    let close = [(tr!("Close"), ViewAction::ToggleLessons, true)];
    paint_foot(painter, inside, unit, foot, &close);
    let names = entries.iter().map(|entry| {
        let font = medium(17.0 * unit);
        let name = painter.layout_no_wrap(entry.name.clone(), font, painter.palette.value);
        name.size().x
    });
    let names = names.fold(0.0, f32::max).min(0.45 * inside.width());
    // One size of type for all titles: the largest of which the longest has room.
    let left = inside.left() + names + 18.0 * unit;
    let room = inside.right() - left;
    let titles = entries.iter().map(|entry| {
        let font = regular(16.0 * unit);
        let title = painter.layout_no_wrap(entry.title.clone(), font, painter.palette.value);
        title.size().x
    });
    let shrink = (0.98 * room / titles.fold(1.0, f32::max)).clamp(SMALLEST, 1.0);
    let (first, places) = entry_places(rect, unit, entries.len(), selected);
    if let ([top, .., bottom], true) = (&places[..], places.len() < entries.len()) {
        // How far the list goes on above and below.
        let row = (bottom.bottom() - top.top()) / entries.len() as f32;
        let right = rect.right() - 9.0 * unit;
        let bar = Rect::from_min_size(
            pos2(right, top.top() + first as f32 * row),
            vec2(4.0 * unit, places.len() as f32 * row),
        );
        painter.rect_filled(bar, 2.0 * unit, painter.palette.raised);
    }
    for (index, place) in places
        .into_iter()
        .enumerate()
        .map(|(at, place)| (first + at, place))
    {
        let entry = &entries[index];
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
            let around = place
                .shrink2(vec2(0.0, 1.0 * unit))
                .expand2(vec2(10.0, 0.0) * unit);
            painter.rect_filled(around, 5.0 * unit, background);
        }
        let name = fitted(
            painter,
            &entry.name,
            medium(17.0 * unit),
            text_colour,
            names + 1.0,
        );
        put(painter, place.left_center(), Align2::LEFT_CENTER, name);
        let font = regular(16.0 * shrink * unit);
        let title = cut(painter, &entry.title, font, dim, room);
        put(
            painter,
            pos2(left, place.center().y),
            Align2::LEFT_CENTER,
            title,
        );
    }
}

/// Something of a page, of a known height.
enum PageItem {
    Text(Arc<Galley>),
    /// On a card.
    Question(Arc<Galley>),
    Row(Arc<Galley>, Arc<Galley>),
    Check(Arc<Galley>, bool),
    Space(f32),
}

impl PageItem {
    fn height(&self, unit: f32) -> f32 {
        match self {
            PageItem::Text(text) => text.size().y,
            PageItem::Question(text) => text.size().y + 24.0 * unit,
            PageItem::Row(label, value) => label.size().y.max(value.size().y) + 9.0 * unit,
            PageItem::Check(text, _) => text.size().y + 7.0 * unit,
            PageItem::Space(height) => *height,
        }
    }
}

/// The page's pieces in type of this size.
fn pieces(painter: &WidgetPainter, page: &LessonPage, width: f32, unit: f32) -> Vec<PageItem> {
    let text = |text: &str, font, colour, width: f32| {
        paragraph(painter, text, font, colour, width.max(1.0), usize::MAX)
    };
    let mut pieces = vec![PageItem::Text(text(
        &page.text,
        regular(20.0 * unit),
        painter.palette.value,
        width,
    ))];
    if !page.question.is_empty() {
        pieces.push(PageItem::Space(16.0 * unit));
        let room = width - 32.0 * unit;
        let question = text(
            &page.question,
            medium(22.0 * unit),
            painter.palette.accent,
            room,
        );
        pieces.push(PageItem::Question(question));
    }
    if page.busy {
        pieces.push(PageItem::Space(16.0 * unit));
        let busy = text(
            tr!("measuring …"),
            medium(20.0 * unit),
            painter.palette.label,
            width,
        );
        pieces.push(PageItem::Text(busy));
    }
    if !page.rows.is_empty() {
        pieces.push(PageItem::Space(16.0 * unit));
    }
    for (label, value) in &page.rows {
        let value = text(
            value,
            medium(19.0 * unit),
            painter.palette.value,
            0.55 * width,
        );
        let room = width - value.size().x - 18.0 * unit;
        pieces.push(PageItem::Row(
            text(label, regular(18.0 * unit), painter.palette.label, room),
            value,
        ));
    }
    if !page.note.is_empty() {
        pieces.push(PageItem::Space(14.0 * unit));
        let note = text(
            &page.note,
            regular(17.0 * unit),
            painter.palette.label,
            width,
        );
        pieces.push(PageItem::Text(note));
    }
    if !page.checks.is_empty() {
        pieces.push(PageItem::Space(14.0 * unit));
    }
    for (check, holds) in &page.checks {
        let colour = if *holds {
            painter.palette.running
        } else {
            painter.palette.value
        };
        let check = text(check, regular(18.0 * unit), colour, width - 34.0 * unit);
        pieces.push(PageItem::Check(check, *holds));
    }
    pieces
}

/// Paints a page: what leads and what follows is as large as the rest of the window, the words between
/// as large as their room takes, counted in the unit of a window without a presentation.
fn paint_page(painter: &WidgetPainter, rect: Rect, unit: f32, usual: f32, page: &LessonPage) {
    let inside = rect.shrink(PAD * unit);
    let number = format!("{} / {}", page.number, page.of);
    let top = inside.top() + 50.0 * unit;
    let bottom = inside.bottom() - 30.0 * unit;
    // A picture or a chart asks for a part of the height, and takes what the words leave.
    let part = match (&page.speedup, &page.picture) {
        (Some(_), _) => 0.5,
        (None, Some(_)) => 0.36,
        (None, None) => 0.0,
    };
    let kept = part * (bottom - top);
    let sizes = (0..).map(|step| LARGEST_PAGE * unit / usual - 0.05 * step as f32);
    let (size, pieces) = sizes
        .map(|size| (size, pieces(painter, page, inside.width(), size * usual)))
        .find(|(size, pieces)| {
            let heights = pieces.iter().map(|piece| piece.height(size * usual));
            heights.sum::<f32>() + kept <= bottom - top || *size <= SMALLEST_PAGE
        })
        .expect("the smallest size ends the search");
    // What leads and what follows is not larger than it has to be beside small words.
    let around = size.clamp(0.7, 1.0);
    paint_head(painter, inside, unit, around, [&page.title, &number]);
    let buttons = [
        (tr!("Close"), ViewAction::ToggleLessons, true),
        (tr!("Back to the list"), ViewAction::Escape, true),
        (
            tr!("Previous page"),
            ViewAction::PreviousPage,
            page.number > 1,
        ),
        (
            tr!("Next page"),
            ViewAction::NextPage,
            page.number < page.of,
        ),
    ];
    let foot = tr!("← → · Enter or Space: next page");
    paint_foot(painter, inside, unit, foot, &buttons);
    let mut y = top;
    for piece in pieces {
        let height = piece.height(size * usual);
        let place = Rect::from_min_size(pos2(inside.left(), y), vec2(inside.width(), height));
        paint_piece(painter, place, size * usual, piece);
        y += height;
    }
    let left = Rect::from_min_max(
        pos2(inside.left(), y + 12.0 * unit),
        pos2(inside.right(), bottom),
    );
    if let Some(speedup) = &page.speedup {
        speedup::paint(painter, left, unit, speedup);
    } else if let Some(picture) = &page.picture {
        paint_picture(painter, left, picture);
    }
}

fn paint_piece(painter: &WidgetPainter, place: Rect, unit: f32, piece: PageItem) {
    match piece {
        PageItem::Space(_) => {}
        PageItem::Text(text) => put(painter, place.min, Align2::LEFT_TOP, text),
        PageItem::Question(text) => {
            painter.rect_filled(place, 6.0 * unit, painter.palette.lesson_card);
            let edge = Rect::from_min_size(place.min, vec2(4.0 * unit, place.height()));
            painter.rect_filled(edge, 0.0, painter.palette.accent);
            let at = place.min + vec2(18.0, 12.0) * unit;
            put(painter, at, Align2::LEFT_TOP, text);
        }
        PageItem::Row(label, value) => {
            put(painter, place.left_center(), Align2::LEFT_CENTER, label);
            put(painter, place.right_center(), Align2::RIGHT_CENTER, value);
            let line = (unit.max(1.0), painter.palette.rule);
            painter.hline(place.x_range(), place.bottom().round(), line);
        }
        PageItem::Check(text, holds) => {
            let size = 20.0 * unit;
            let middle = pos2(place.left() + size / 2.0, place.center().y);
            let sign = Rect::from_center_size(middle, vec2(size, size));
            paint_sign(painter, sign, holds);
            let at = pos2(place.left() + 32.0 * unit, place.center().y);
            put(painter, at, Align2::LEFT_CENTER, text);
        }
    }
}

/// A tick on dark green or a cross on red: told apart by their shapes, too.
pub(crate) fn paint_sign(painter: &WidgetPainter, rect: Rect, holds: bool) {
    let (background, text_colour) = if holds {
        (painter.palette.running_background, painter.palette.running)
    } else {
        (painter.palette.failed, painter.palette.on_failed)
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

/// A cached texture with the pixels it was made from.
#[derive(Clone)]
struct Shown {
    pixels: Arc<[u8]>,
    texture: TextureHandle,
}

fn paint_picture(
    painter: &WidgetPainter,
    room: Rect,
    (width, height, pixels): &(u32, u32, Arc<[u8]>),
) {
    let size = [*width, *height].map(|side| side as usize);
    let most = painter.ctx().input(|input| input.max_texture_side);
    let fits = size.iter().all(|side| (1..=most).contains(side));
    if !fits || pixels.len() != 4 * size[0] * size[1] || !room.is_positive() {
        return;
    }
    let id = egui::Id::unique("the lesson's picture");
    let known = painter.ctx().data(|data| data.get_temp::<Shown>(id));
    let shown = match known {
        Some(shown) if Arc::ptr_eq(&shown.pixels, pixels) => shown,
        _ => {
            let image = egui::ColorImage::from_rgba_unmultiplied(size, pixels);
            let options = egui::TextureOptions::LINEAR;
            let texture = painter.ctx().load_texture("lesson", image, options);
            let pixels = pixels.clone();
            Shown { pixels, texture }
        }
    };
    painter
        .ctx()
        .data_mut(|data| data.insert_temp(id, shown.clone()));
    let size = vec2(*width as f32, *height as f32);
    let scale = (room.width() / size.x).min(room.height() / size.y);
    let place = Rect::from_center_size(room.center(), (size * scale).floor());
    let all = Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0));
    painter.image(shown.texture.id(), place, all, UNTINTED);
}

#[cfg(test)]
mod tests;
