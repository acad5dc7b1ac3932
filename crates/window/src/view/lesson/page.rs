//! The page of a lesson: the question and what the class predicts, the programs side by side, a round
//! of each on one axis, and what was predicted and measured.

use std::sync::Arc;

use egui::{Align2, FontId, Galley, Rect, Stroke, StrokeKind, TextureHandle, pos2, vec2};

use super::{PAD, paint_foot, paint_head, paint_sign, speedup};
use crate::view::hud::style::*;
use crate::view::timeline;
use crate::view::widget_painter::{Spoken, WidgetPainter};
use lang::tr;
use ui::{Action, CodeLine, LessonColumn, LessonPage, LessonPicture, TimeBar, ViewAction};

/// What leaves room for nothing else shrinks to this part of its size, and no farther.
const SMALLEST_PAGE: f32 = 0.4;
/// The largest type, of the usual one.
const LARGEST_PAGE: f32 = 1.6;
/// Sizes of type from the largest to the smallest, but one.
const STEPS: u8 = 24;
/// The part of the height that a chart has at least.
const CHART: f32 = 0.26;
/// The part of the width that a chart has beside words.
const CHART_WIDTH: f32 = 0.54;
/// Where the page is this many times as wide as high, a chart stands beside words, else below them.
const WIDE: f32 = 1.1;

/// A piece of a page, of a known height.
struct Piece {
    height: f32,
    content: Content,
}

enum Content {
    Text(Arc<Galley>),
    /// A line of a program, and whether the program beside it lacks it.
    Code(Arc<Galley>, bool),
    Figure(Arc<Galley>, Arc<Galley>),
    Check(Arc<Galley>, bool),
    /// A time, and the colours of its bar and of its figure.
    Bar(TimeBar, [egui::Color32; 2]),
    Space,
}

/// Lays out a page's pieces in type of one size.
struct Typesetter<'a> {
    painter: &'a WidgetPainter,
    scale: f32,
    is_recorded: bool,
}

impl Typesetter<'_> {
    fn text(&self, text: &str, font: FontId, colour: egui::Color32, width: f32) -> Arc<Galley> {
        paragraph(self.painter, text, font, colour, width.max(1.0), usize::MAX)
    }

    /// The colour of what was measured here, or that of what was recorded.
    fn measured(&self, here: egui::Color32) -> egui::Color32 {
        if self.is_recorded {
            self.painter.palette.recorded
        } else {
            here
        }
    }

    fn space(&self, height: f32) -> Piece {
        Piece {
            height: height * self.scale,
            content: Content::Space,
        }
    }

    fn paragraph(&self, text: &str, size: f32, colour: egui::Color32, width: f32) -> Piece {
        let galley = self.text(text, regular(size * self.scale), colour, width);
        Piece {
            height: galley.size().y + 6.0 * self.scale,
            content: Content::Text(galley),
        }
    }

    /// A setting: its title, its program, and what was measured.
    fn column(&self, name: &str, column: &LessonColumn, width: f32, code: f32) -> Vec<Piece> {
        let (scale, palette) = (self.scale, &self.painter.palette);
        let title = format!("{name}{}", column.title);
        let title = self.text(&title, medium(17.0 * scale), palette.value, width);
        let mut pieces = vec![Piece {
            height: title.size().y + 6.0 * scale,
            content: Content::Text(title),
        }];
        pieces.extend(column.code.iter().map(|line| self.code(line, code)));
        if !column.figures.is_empty() {
            pieces.push(self.space(8.0));
        }
        for (label, value) in &column.figures {
            let colour = self.measured(palette.value);
            let value = self.text(value, medium(15.0 * scale), colour, 0.5 * width);
            let room = width - value.size().x - 14.0 * scale;
            let label = self.text(label, regular(15.0 * scale), palette.label, room);
            pieces.push(Piece {
                height: label.size().y.max(value.size().y) + 4.0 * scale,
                content: Content::Figure(label, value),
            });
        }
        if !column.note.is_empty() {
            pieces.push(self.space(4.0));
            pieces.push(self.paragraph(&column.note, 15.0, palette.label, width));
        }
        pieces
    }

    /// The size of the type in which no line of the columns' programs is longer than `width`.
    fn code_size(&self, columns: &[LessonColumn], width: f32) -> f32 {
        let usual = 14.0 * self.scale;
        let lines = columns.iter().flat_map(|column| &column.code);
        let widths = lines.map(|line| {
            let font = FontId::monospace(usual);
            let colour = self.painter.palette.value;
            let galley = self.painter.layout_no_wrap(line.text.clone(), font, colour);
            galley.size().x
        });
        (usual * (0.99 * width / widths.fold(1.0, f32::max)).min(1.0)).max(1.0)
    }

    fn code(&self, line: &CodeLine, size: f32) -> Piece {
        let colour = self.painter.palette.value;
        let font = FontId::monospace(size);
        let galley = self.painter.layout_no_wrap(line.text.clone(), font, colour);
        Piece {
            height: 1.32 * size,
            content: Content::Code(galley, line.is_changed),
        }
    }

    /// What is concluded, beside or below the chart.
    fn findings(&self, page: &LessonPage, width: f32) -> Vec<Piece> {
        let (scale, palette) = (self.scale, &self.painter.palette);
        let mut pieces = Vec::new();
        if let Some(progress) = &page.progress {
            pieces.push(self.paragraph(progress, 18.0, palette.accent, width));
        }
        pieces.extend(page.bars.iter().cloned().map(|bar| Piece {
            height: 40.0 * scale,
            content: Content::Bar(
                bar,
                [palette.accent, palette.value].map(|here| self.measured(here)),
            ),
        }));
        if !page.conclusion.is_empty() {
            pieces.push(self.space(6.0));
            let lines = page.conclusion.lines();
            let colour = self.measured(palette.value);
            pieces.extend(lines.map(|line| self.paragraph(line, 18.0, colour, width)));
        }
        for (check, holds) in &page.checks {
            let colour = if *holds {
                palette.running
            } else {
                palette.value
            };
            let check = self.text(check, regular(15.0 * scale), colour, width - 28.0 * scale);
            pieces.push(Piece {
                height: check.size().y + 6.0 * scale,
                content: Content::Check(check, *holds),
            });
        }
        if !page.note.is_empty() {
            pieces.push(self.paragraph(&page.note, 15.0, palette.label, width));
        }
        pieces
    }
}

fn height(pieces: &[Piece]) -> f32 {
    pieces.iter().map(|piece| piece.height).sum()
}

/// Everything of a page but its head and its foot, in type of one size.
struct Body {
    scale: f32,
    question: Arc<Galley>,
    choices: Vec<Rect>,
    /// The card of question and choices, and the introduction.
    top: f32,
    intro: Vec<Piece>,
    columns: Vec<Vec<Piece>>,
    /// Where and when what follows was recorded.
    recorded: Vec<Piece>,
    findings: Vec<Piece>,
    /// All of it together, but the chart.
    height: f32,
}

impl Body {
    fn new(painter: &WidgetPainter, page: &LessonPage, scale: f32, room: Rect) -> Body {
        let is_recorded = !page.recorded.is_empty();
        let set = Typesetter {
            painter,
            scale,
            is_recorded,
        };
        let pad = 14.0 * scale;
        let inside = room.width() - 2.0 * pad;
        let colour = painter.palette.accent;
        let question = set.text(&page.question, medium(21.0 * scale), colour, inside);
        let first = room.min + vec2(pad, 10.0 * scale + question.size().y + 10.0 * scale);
        let choices = choice_places(painter, &page.choices, scale, first, inside);
        let top = choices.last().map_or(first.y, |last| last.bottom()) - room.top() + 12.0 * scale;
        let mut intro = Vec::new();
        if !page.intro.is_empty() {
            intro.push(set.space(10.0));
            intro.push(set.paragraph(&page.intro, 18.0, painter.palette.value, room.width()));
        }
        let mut recorded = Vec::new();
        if is_recorded {
            let colour = painter.palette.recorded;
            recorded.push(set.paragraph(&page.recorded, 16.0, colour, room.width()));
            recorded.push(set.space(6.0));
        }
        let width = column_width(room, page.columns.len(), scale) - 20.0 * scale;
        let names = match page.columns.len() {
            2 => ["A · ", "B · "],
            _ => ["", ""],
        };
        let code = set.code_size(&page.columns, width);
        let columns = page.columns.iter().zip(names);
        let columns: Vec<_> = columns
            .map(|(column, name)| set.column(name, column, width, code))
            .collect();
        let part = match Chart::of(page, room) {
            Chart::Beside => 1.0 - CHART_WIDTH,
            Chart::None | Chart::Below => 1.0,
        };
        let findings = set.findings(page, part * room.width() - 16.0 * scale);
        let tallest = columns
            .iter()
            .map(|column| height(column))
            .fold(0.0, f32::max);
        let (words, chart) = (height(&findings), CHART * room.height());
        let below = match Chart::of(page, room) {
            Chart::None => words,
            Chart::Beside => words.max(chart),
            Chart::Below => words + chart,
        };
        Body {
            scale,
            top,
            height: top + height(&intro) + tallest + 50.0 * scale + height(&recorded) + below,
            question,
            choices,
            intro,
            columns,
            recorded,
            findings,
        }
    }
}

/// Where a page has its chart.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chart {
    None,
    Beside,
    Below,
}

impl Chart {
    fn of(page: &LessonPage, room: Rect) -> Chart {
        if page.rounds.is_empty() && page.speedup.is_none() && page.pictures.is_empty() {
            Chart::None
        } else if room.width() >= WIDE * room.height() {
            Chart::Beside
        } else {
            Chart::Below
        }
    }
}

fn column_width(room: Rect, count: usize, scale: f32) -> f32 {
    let count = count.max(1) as f32;
    (room.width() - (count - 1.0) * 14.0 * scale) / count
}

/// A button for each choice, in as many rows as they take.
pub(crate) fn choice_places(
    painter: &WidgetPainter,
    choices: &[ui::LessonChoice],
    scale: f32,
    first: egui::Pos2,
    width: f32,
) -> Vec<Rect> {
    let mut at = first;
    let texts = choices.iter().enumerate();
    let place = |(number, choice): (usize, &ui::LessonChoice)| {
        let text = numbered(number, &choice.text);
        let galley = painter.layout_no_wrap(text, medium(17.0 * scale), painter.palette.value);
        let size = vec2((galley.size().x + 48.0 * scale).min(width), 32.0 * scale);
        if at.x > first.x && at.x + size.x > first.x + width {
            at = pos2(first.x, at.y + size.y + 6.0 * scale);
        }
        let rect = Rect::from_min_size(at, size);
        at.x = rect.right() + 10.0 * scale;
        rect
    };
    texts.map(place).collect()
}

fn numbered(number: usize, text: &str) -> String {
    format!("{}  {text}", number + 1)
}

/// Paints a page: its words are as large as their room takes, in a presentation or not. Within a lecture
/// there is something before its first step and behind its last one.
pub(super) fn paint(painter: &WidgetPainter, rect: Rect, page: &LessonPage, is_lectures: bool) {
    painter.rect_filled(rect, 0.0, painter.palette.background);
    let inside = rect.shrink2(vec2(PAD, 0.6 * PAD));
    let number = format!("{} / {}", page.number, page.of);
    let room = Rect::from_x_y_ranges(
        inside.x_range(),
        inside.top() + 60.0..=inside.bottom() - 34.0,
    );
    let steps: Vec<u8> = (0..=STEPS).collect();
    let body = |step: u8| {
        let part = f32::from(step) / f32::from(STEPS);
        let size = LARGEST_PAGE + (SMALLEST_PAGE - LARGEST_PAGE) * part;
        Body::new(painter, page, size, room)
    };
    let first = steps.partition_point(|&step| body(step).height > room.height());
    let body = body((first as u8).min(STEPS));
    // What leads and what follows is not larger than it has to be beside small words.
    let around = body.scale.clamp(0.7, 1.0);
    paint_head(painter, inside, around, [&page.title, &number]);
    let font = regular(15.0 * around);
    let about = fitted(
        painter,
        &page.about,
        font,
        painter.palette.label,
        inside.width(),
    );
    let at = inside.left_top() + vec2(0.0, 32.0);
    put(painter, at, Align2::LEFT_TOP, about);
    paint_buttons(painter, inside, page, is_lectures);
    paint_body(painter, room, page, body);
}

fn paint_buttons(painter: &WidgetPainter, inside: Rect, page: &LessonPage, is_lectures: bool) {
    let next = match page.number {
        1 => tr!("Measure"),
        _ => tr!("Next"),
    };
    let is_measured = page.number > 1 && page.progress.is_none();
    let buttons = [
        (tr!("Measure again"), ViewAction::MeasureAgain, is_measured),
        (tr!("Close"), ViewAction::ToggleLessons, true),
        (tr!("Back to the list"), ViewAction::Escape, true),
        (
            tr!("Back"),
            ViewAction::PreviousPage,
            is_lectures || page.number > 1,
        ),
        (
            next,
            ViewAction::NextPage,
            is_lectures || page.number < page.of,
        ),
    ];
    let foot = match page.number {
        1 => tr!("Press a digit to predict, → to measure"),
        _ => tr!("← → or a presenter’s remote · M: measure again"),
    };
    paint_foot(painter, inside, foot, &buttons);
}

fn paint_body(painter: &WidgetPainter, room: Rect, page: &LessonPage, body: Body) {
    let (palette, scale) = (&painter.palette, body.scale);
    let card = Rect::from_min_size(room.min, vec2(room.width(), body.top));
    painter.rect_filled(card, 6.0 * scale, palette.lesson_card);
    let edge = Rect::from_min_size(card.min, vec2(4.0 * scale, card.height()));
    painter.rect_filled(edge, 0.0, palette.accent);
    let at = card.min + vec2(14.0, 10.0) * scale;
    put(painter, at, Align2::LEFT_TOP, body.question);
    for (number, (choice, place)) in page.choices.iter().zip(&body.choices).enumerate() {
        paint_choice(painter, *place, scale, number, choice, page.number == 1);
    }
    let mut y = paint_pieces(
        painter,
        pos2(room.left(), card.bottom()),
        room.width(),
        scale,
        body.intro,
    );
    y += 12.0 * scale;
    let (width, tallest) = (
        column_width(room, body.columns.len(), scale),
        body.columns
            .iter()
            .map(|column| height(column))
            .fold(0.0, f32::max),
    );
    let mut x = room.left();
    for column in body.columns {
        let place = Rect::from_min_size(pos2(x, y), vec2(width, tallest + 16.0 * scale));
        painter.rect_filled(place, 4.0 * scale, palette.code_background);
        let corner = place.min + vec2(10.0, 8.0) * scale;
        paint_pieces(painter, corner, width - 20.0 * scale, scale, column);
        x += width + 14.0 * scale;
    }
    y += tallest + 28.0 * scale;
    y = paint_pieces(
        painter,
        pos2(room.left(), y),
        room.width(),
        scale,
        body.recorded,
    );
    let below = Rect::from_min_max(pos2(room.left(), y), room.max);
    let (mut findings, mut chart) = (below, below);
    match Chart::of(page, room) {
        Chart::None => chart = Rect::NOTHING,
        Chart::Beside => {
            chart.set_right(below.left() + CHART_WIDTH * below.width());
            findings.set_left(chart.right() + 16.0 * scale);
        }
        Chart::Below => chart.set_top(below.top() + height(&body.findings) + 8.0 * scale),
    }
    paint_pieces(
        painter,
        findings.min,
        findings.width(),
        scale,
        body.findings,
    );
    if chart.is_positive() {
        paint_chart(painter, chart, scale, page);
    }
}

/// What the class predicts; a click chooses it until it is measured.
pub(crate) fn paint_choice(
    painter: &WidgetPainter,
    place: Rect,
    scale: f32,
    number: usize,
    choice: &ui::LessonChoice,
    is_asked: bool,
) {
    let palette = &painter.palette;
    let name = numbered(number, &choice.text);
    let is_over = if is_asked {
        let spoken = Spoken::new(&name, "").on(Some(choice.is_chosen));
        let predict = ViewAction::Predict(number as u8);
        painter.button(place, &spoken, Action::View(predict))
    } else {
        painter.idle_button(place, &name);
        false
    };
    let (background, colour) = match (choice.is_chosen, is_over) {
        (true, _) => (palette.accent, palette.on_accent),
        (false, true) => (palette.raised, palette.value),
        (false, false) => (palette.recessed, palette.value),
    };
    painter.rect_filled(place, 5.0 * scale, background);
    if choice.is_right {
        let edge = Stroke::new(2.0 * scale, palette.running);
        painter.rect_stroke(place, 5.0 * scale, edge, StrokeKind::Outside);
        let sign = vec2(18.0, 18.0) * scale;
        let middle = place.right_center() - vec2(16.0 * scale, 0.0);
        paint_sign(painter, palette, Rect::from_center_size(middle, sign), true);
    }
    let room = place.width() - 36.0 * scale;
    let text = fitted(painter, &name, medium(17.0 * scale), colour, room);
    let at = place.left_center() + vec2(10.0 * scale, 0.0);
    put(painter, at, Align2::LEFT_CENTER, text);
}

/// Paints pieces one below the other; returns where they end.
fn paint_pieces(
    painter: &WidgetPainter,
    corner: egui::Pos2,
    width: f32,
    scale: f32,
    pieces: Vec<Piece>,
) -> f32 {
    let longest = pieces.iter().filter_map(|piece| match &piece.content {
        Content::Bar(bar, _) => Some(bar.interval.map_or(bar.milliseconds, |[_, high]| high)),
        _ => None,
    });
    let longest = longest.fold(0.0, f64::max);
    let mut y = corner.y;
    for piece in pieces {
        let place = Rect::from_min_size(pos2(corner.x, y), vec2(width, piece.height));
        paint_piece(painter, place, scale, piece.content, longest);
        y += piece.height;
    }
    y
}

fn paint_piece(painter: &WidgetPainter, place: Rect, scale: f32, content: Content, longest: f64) {
    let palette = &painter.palette;
    match content {
        Content::Space => {}
        Content::Text(text) => put(painter, place.min, Align2::LEFT_TOP, text),
        Content::Code(text, is_changed) => {
            if is_changed {
                let line = place.expand2(vec2(6.0 * scale, 0.0));
                painter.rect_filled(line, 0.0, palette.running_background);
                let edge = Rect::from_min_size(line.min, vec2(3.0 * scale, line.height()));
                painter.rect_filled(edge, 0.0, palette.running);
            }
            put(painter, place.left_center(), Align2::LEFT_CENTER, text);
        }
        Content::Figure(label, value) => {
            put(painter, place.left_center(), Align2::LEFT_CENTER, label);
            put(painter, place.right_center(), Align2::RIGHT_CENTER, value);
        }
        Content::Check(text, holds) => {
            let size = 18.0 * scale;
            let middle = pos2(place.left() + size / 2.0, place.center().y);
            let sign = Rect::from_center_size(middle, vec2(size, size));
            paint_sign(painter, palette, sign, holds);
            let at = pos2(place.left() + 28.0 * scale, place.center().y);
            put(painter, at, Align2::LEFT_CENTER, text);
        }
        Content::Bar(bar, colours) => paint_bar(painter, place, scale, &bar, colours, longest),
    }
}

/// Paints a time: its name and the time over its bar, which is hollow if it was predicted, with the
/// interval that a measured one lies in.
fn paint_bar(
    painter: &WidgetPainter,
    place: Rect,
    scale: f32,
    bar: &TimeBar,
    [measured, figure]: [egui::Color32; 2],
    longest: f64,
) {
    let palette = &painter.palette;
    let top = place.top();
    let text = lang::keep_units(&bar.text);
    let colour = if bar.is_prediction {
        palette.value
    } else {
        figure
    };
    let value = painter.layout_no_wrap(text, medium(14.5 * scale), colour);
    let room = place.width() - value.size().x - 12.0 * scale;
    let label = fitted(
        painter,
        &bar.label,
        regular(14.5 * scale),
        palette.label,
        room,
    );
    put(painter, place.left_top(), Align2::LEFT_TOP, label);
    put(painter, place.right_top(), Align2::RIGHT_TOP, value);
    let x = |ms: f64| place.left() + (ms / longest.max(1e-9)) as f32 * place.width();
    let (up, down) = (top + 20.0 * scale, top + 33.0 * scale);
    let end = x(bar.milliseconds).max(place.left() + 2.0 * scale);
    let length = Rect::from_x_y_ranges(place.left()..=end, up..=down);
    if bar.is_prediction {
        let edge = Stroke::new(2.0 * scale, palette.accent);
        painter.rect_stroke(length, 0.0, edge, StrokeKind::Inside);
        return;
    }
    painter.rect_filled(length, 0.0, measured);
    if let Some([low, high]) = bar.interval {
        let line = (2.0 * scale, palette.value);
        let middle = (up + down) / 2.0;
        painter.hline(x(low)..=x(high), middle, line);
        for edge in [low, high] {
            painter.vline(x(edge), up + 2.0 * scale..=down - 2.0 * scale, line);
        }
    }
}

/// The speed-up curve, the lesson's pictures, or a round of each setting.
fn paint_chart(painter: &WidgetPainter, room: Rect, scale: f32, page: &LessonPage) {
    if let Some(speedup) = &page.speedup {
        speedup::paint(painter, room, scale, speedup);
    } else if !page.pictures.is_empty() {
        let width = column_width(room, page.pictures.len(), scale);
        for (at, picture) in page.pictures.iter().enumerate() {
            let left = room.left() + at as f32 * (width + 14.0 * scale);
            let place = Rect::from_min_size(pos2(left, room.top()), vec2(width, room.height()));
            let bottom = place.bottom() - 24.0 * scale;
            paint_picture(painter, place.with_max_y(bottom), at, picture);
            let (font, colour) = (regular(15.0 * scale), painter.palette.label);
            let caption = fitted(painter, &picture.caption, font, colour, width);
            put(
                painter,
                place.center_bottom(),
                Align2::CENTER_BOTTOM,
                caption,
            );
        }
    } else {
        timeline::paint_rounds(painter, room, &page.rounds);
    }
}

/// A cached texture with the pixels it was made from.
#[derive(Clone)]
struct Shown {
    pixels: Arc<[u8]>,
    texture: TextureHandle,
}

fn paint_picture(painter: &WidgetPainter, room: Rect, at: usize, picture: &LessonPicture) {
    let (pixels, sides) = (&picture.rgba, [picture.width, picture.height]);
    let size = sides.map(|side| side as usize);
    let most = painter.ctx().input(|input| input.max_texture_side);
    let fits = size.iter().all(|side| (1..=most).contains(side));
    if !fits || pixels.len() != 4 * size[0] * size[1] || !room.is_positive() {
        return;
    }
    let id = egui::Id::unique("the lesson's picture").with(at);
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
    let size = vec2(picture.width as f32, picture.height as f32);
    let scale = (room.width() / size.x).min(room.height() / size.y);
    let place = Rect::from_center_size(room.center(), size * scale);
    let all = Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0));
    painter.image(shown.texture.id(), place, all, UNTINTED);
}
