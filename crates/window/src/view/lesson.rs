//! The page of a lesson, in place of everything else: the question and what the class predicts, the programs side by side, a round
//! of each on one axis, and what was predicted and measured. Its words are as large as their room takes,
//! in a presentation or not.

mod speedup;

use std::sync::Arc;

use egui::emath::GuiRounding as _;
use egui::{
    Button, Color32, FontId, Frame as Card, Image, Label, Layout, Margin, Rect, RichText,
    ScrollArea, Sense, Shape, Sides, Stroke, StrokeKind, TextureHandle, Ui, UiBuilder, Vec2,
    WidgetAtom, vec2,
};

use crate::view::Frame;
use crate::view::hud::style::*;
use crate::view::hud::{message_colours, show_menu};
use crate::view::timeline;
use crate::view::widget_painter::WidgetPainter;
use lang::tr;
use ui::figures::Urgency;
use ui::theme::Palette;
use ui::{LessonChoice, LessonColumn, LessonPage, TimeBar, ViewAction};

/// The room around all of it.
const PAD: f32 = 26.0;
/// The smallest and the largest type, of the usual one; a page that is too high all the same scrolls.
const SIZES: [f32; 2] = [0.4, 1.6];
/// Sizes of type from the largest to the smallest, but one.
const STEPS: u8 = 24;
/// The height of the buttons' row.
const FOOT: f32 = 34.0;
/// The part of the height that a chart has at least.
const CHART: f32 = 0.26;
/// The part of the width that a chart has beside words.
const CHART_WIDTH: f32 = 0.54;
/// Where the page is this many times as wide as high, a chart stands beside words, else below them.
const WIDE: f32 = 1.1;

/// Shows a page in its rectangle. Within a lecture there is something before its first step and behind its
/// last one.
pub(crate) fn show(painter: &WidgetPainter, frame: &Frame<'_>, page: &LessonPage, rect: Rect) {
    let palette = painter.palette;
    painter.rect_filled(rect, 0.0, palette.background);
    let inside = rect.shrink2(vec2(PAD, 0.6 * PAD));
    painter.lay_out(inside, "lesson", |ui| {
        ui.visuals_mut().widgets.noninteractive.fg_stroke.color = palette.value;
        let number = format!("{} / {}", page.number, page.of);
        let title = |ui: &mut Ui| ui.label(RichText::new(&page.title).font(medium(24.0)));
        Sides::new().shrink_left().truncate().show(ui, title, |ui| {
            show_menu(painter, ui);
            ui.label(RichText::new(number).color(palette.label));
        });
        if !page.about.is_empty() {
            let about = RichText::new(&page.about).font(regular(15.0));
            ui.add(Label::new(about.color(palette.label)).truncate());
        }
        show_message(painter, frame, ui);
        let mut room = ui.available_rect_before_wrap();
        room.max.y -= FOOT;
        let size = size_that_fits(ui, page, room, |ui, size| {
            show_body(painter, ui, page, size, room)
        });
        ui.scope_builder(UiBuilder::new().max_rect(room), |ui| {
            let area = ScrollArea::vertical().auto_shrink(false);
            area.show(ui, |ui| show_body(painter, ui, page, size, room));
        });
        let foot = inside.with_min_y(room.bottom());
        let foot = UiBuilder::new()
            .max_rect(foot)
            .layout(Layout::left_to_right(egui::Align::Max));
        ui.scope_builder(foot, |ui| {
            show_foot(painter, ui, page, frame.sources.drawing.lecture.is_some());
        });
    });
}

/// Shows the most urgent message, because the HUD is hidden.
fn show_message(painter: &WidgetPainter, frame: &Frame<'_>, ui: &mut Ui) {
    let figures = frame.screen.figures.as_ref();
    let messages = figures.map_or(&[][..], |figures| &figures.messages);
    let urgent = |(urgency, _): &&(Urgency, lang::Message)| *urgency != Urgency::Warning;
    if let Some((urgency, sentence)) = messages.iter().find(urgent) {
        let (background, colour) = message_colours(*urgency, &painter.palette);
        let card = Card::new().fill(background).corner_radius(5);
        card.inner_margin(Margin::symmetric(10, 7)).show(ui, |ui| {
            ui.set_min_width(ui.available_width());
            let text = RichText::new(lang::keep_units(sentence)).font(regular(15.0));
            ui.label(text.color(colour));
        });
    }
}

/// The largest size of type, of the usual one, in which a page is no higher than its room. It is laid out
/// unseen to learn that, once for each page and room.
fn size_that_fits(
    ui: &mut Ui,
    page: &LessonPage,
    room: Rect,
    contents: impl Fn(&mut Ui, f32),
) -> f32 {
    let id = ui.unique_id().with("size of type");
    let known = ui.data_mut(|data| {
        let known: &mut Option<(LessonPage, Rect, f32)> = data.get_temp_mut_or_default(id);
        let is_same = |(of, within, _): &&(LessonPage, Rect, f32)| of == page && *within == room;
        known.as_ref().filter(is_same).map(|(_, _, size)| *size)
    });
    if let Some(size) = known {
        return size;
    }
    let size = |step: u8| SIZES[1] + (SIZES[0] - SIZES[1]) * f32::from(step) / f32::from(STEPS);
    let is_too_high = |step: &u8| {
        let unseen = UiBuilder::new().id_salt(("unseen", step));
        let mut ui = ui.new_child(unseen.max_rect(room).invisible());
        let id = ui.unique_id();
        ui.ctx()
            .accesskit_node_builder(id, |node| node.set_hidden());
        contents(&mut ui, size(*step));
        ui.min_rect().height() > room.height()
    };
    let steps: Vec<u8> = (0..STEPS).collect();
    let size = size(steps.partition_point(is_too_high) as u8);
    ui.data_mut(|data| data.insert_temp(id, Some((page.clone(), room, size))));
    size
}

/// A row of buttons from page to page, each with whether it does anything here. One that does nothing keeps
/// its place, so that the others do too.
pub(crate) fn page_buttons(
    painter: &WidgetPainter,
    ui: &mut Ui,
    buttons: &[(&str, ViewAction, bool)],
) {
    for &(name, action, is_possible) in buttons {
        let button = Button::new(RichText::new(name).font(medium(14.0)));
        let button = button.min_size(vec2(62.0, 30.0));
        painter.asks(&ui.add_enabled(is_possible, button), action);
    }
}

fn show_foot(painter: &WidgetPainter, ui: &mut Ui, page: &LessonPage, is_lectures: bool) {
    let (hint, next) = match page.number {
        1 => (
            tr!("Press a digit to predict, → to measure"),
            tr!("Measure"),
        ),
        _ => (
            tr!("← → or a presenter’s remote · M: measure again"),
            tr!("Next"),
        ),
    };
    let is_measured = page.number > 1 && page.progress.is_none();
    let (has_previous, has_next) = (page.number > 1, page.number < page.of);
    let buttons = [
        (tr!("Measure again"), ViewAction::MeasureAgain, is_measured),
        (tr!("Close"), ViewAction::ToggleLessons, true),
        (tr!("Back to the list"), ViewAction::Escape, true),
        (
            tr!("Back"),
            ViewAction::PreviousPage,
            is_lectures || has_previous,
        ),
        (next, ViewAction::NextPage, is_lectures || has_next),
    ];
    let spacing = ui.spacing();
    let (gap, pad) = (spacing.item_spacing.x, 2.0 * spacing.button_padding.x);
    let width = |text: &str, font| {
        painter
            .layout_no_wrap(text.into(), font, painter.palette.label)
            .size()
            .x
    };
    let widths = buttons.map(|(name, ..)| (width(name, medium(14.0)) + pad).max(62.0) + gap);
    // The buttons are at the right end, in their order for Tab; words stand beside them where there is room.
    let left = ui.available_width() + gap - widths.iter().sum::<f32>();
    let words = ui.cursor().min.x + left;
    if width(hint, regular(14.0)) < left {
        ui.label(
            RichText::new(hint)
                .font(regular(14.0))
                .color(painter.palette.label),
        );
    }
    ui.add_space(words - ui.cursor().min.x);
    page_buttons(painter, ui, &buttons);
}

/// What the class predicts, in type of a size; a click chooses it while it is asked.
pub(crate) fn choices(
    painter: &WidgetPainter,
    ui: &mut Ui,
    choices: &[LessonChoice],
    is_asked: bool,
    size: f32,
) {
    if choices.is_empty() {
        return;
    }
    let palette = painter.palette;
    ui.scope(|ui| {
        chosen_have_the_accent(ui, &palette);
        // What was chosen is to be read, also once it cannot be changed.
        ui.visuals_mut().disabled_alpha = 1.0;
        ui.spacing_mut().button_padding = vec2(10.0, 4.0) * size;
        ui.horizontal_wrapped(|ui| {
            for (number, choice) in choices.iter().enumerate() {
                let text = format!("{}  {}", number + 1, choice.text);
                let mut button = Button::new(RichText::new(text).font(medium(17.0 * size)));
                if choice.is_right {
                    button = button.right_text(sign(&palette, true, 17.0 * size));
                    button = button.stroke(Stroke::new(2.0, palette.running));
                }
                let button = ui.add_enabled(is_asked, button.selected(choice.is_chosen));
                painter.asks(&button, ViewAction::Predict(number as u8));
            }
        });
    });
}

/// Shows everything of a page but its head and its foot, in type of a size; its chart reaches to the end of
/// the room.
fn show_body(painter: &WidgetPainter, ui: &mut Ui, page: &LessonPage, size: f32, room: Rect) {
    let palette = painter.palette;
    let measured = |here| {
        if page.recorded.is_empty() {
            here
        } else {
            palette.recorded
        }
    };
    ui.spacing_mut().item_spacing = (vec2(10.0, 6.0) * size).round_ui();
    ui.spacing_mut().interact_size.y = 0.0;
    let card = Card::new()
        .fill(palette.lesson_card)
        .corner_radius(6.0 * size);
    let card = card
        .inner_margin(Margin::from(vec2(14.0, 10.0) * size))
        .show(ui, |ui| {
            ui.set_min_width(ui.available_width());
            show_text(ui, &page.question, medium(21.0 * size), palette.accent);
            ui.add_space(4.0 * size);
            choices(painter, ui, &page.choices, page.number == 1, size);
        });
    let edge = card.response.rect;
    ui.painter().rect_filled(
        edge.with_max_x(edge.left() + 4.0 * size),
        0.0,
        palette.accent,
    );
    ui.add_space(3.0 * size);
    show_text(ui, &page.intro, regular(18.0 * size), palette.value);
    ui.add_space(3.0 * size);
    show_columns(ui, page, size, &palette, measured(palette.value));
    ui.add_space(3.0 * size);
    show_text(ui, &page.recorded, regular(16.0 * size), palette.recorded);
    let mut below = ui.available_rect_before_wrap().round_ui();
    below.max = room.max;
    let has_chart = !(page.rounds.is_empty() && page.pictures.is_empty() && page.speedup.is_none());
    let is_beside = room.width() >= WIDE * room.height();
    let mut words = below;
    if has_chart && is_beside {
        words.min.x += CHART_WIDTH * below.width() + 16.0 * size;
    }
    let words = ui.scope_builder(UiBuilder::new().max_rect(words), |ui| {
        show_findings(ui, page, size, &palette, measured);
    });
    if has_chart {
        let mut chart = below;
        if is_beside {
            chart.max.x = words.response.rect.left() - 16.0 * size;
        } else {
            chart.min.y = words.response.rect.bottom() + 8.0 * size;
        }
        chart.max.y = chart.max.y.max(chart.top() + CHART * room.height());
        ui.allocate_rect(
            chart.with_max_y(chart.top() + CHART * room.height()),
            Sense::hover(),
        );
        if ui.is_visible() {
            show_chart(painter, ui, chart, size, page);
        }
    }
}

fn show_text(ui: &mut Ui, text: &str, font: FontId, colour: Color32) {
    if !text.is_empty() {
        ui.label(
            RichText::new(lang::keep_units(text))
                .font(font)
                .color(colour),
        );
    }
}

/// The settings side by side: the title, the program and what was measured of each. Their cards are as high
/// as the highest, and their programs in type in which no line is cut.
fn show_columns(
    ui: &mut Ui,
    page: &LessonPage,
    size: f32,
    palette: &Palette<Color32>,
    figure: Color32,
) {
    let columns = &page.columns;
    let lines = columns.iter().flat_map(|column| &column.code);
    let longest = lines.map(|line| lang::columns(&line.text)).max();
    let names = if columns.len() == 2 {
        ["A · ", "B · "]
    } else {
        ["", ""]
    };
    let grounds: Vec<_> = columns
        .iter()
        .map(|_| ui.painter().add(Shape::Noop))
        .collect();
    if columns.is_empty() {
        return;
    }
    let cards = ui.columns(columns.len(), |uis| {
        let each = uis.iter_mut().zip(columns).zip(names.iter().cycle());
        let cards = each.map(|((ui, column), name)| {
            let card = Card::new().inner_margin(Margin::from(vec2(10.0, 8.0) * size));
            let card = card.show(ui, |ui| {
                let title = format!("{name}{}", column.title);
                show_text(ui, &title, medium(17.0 * size), palette.value);
                let room = ui.available_width() / (LETTER * longest.unwrap_or(1).max(1) as f32);
                show_column(ui, column, (14.0 * size).min(room), size, palette, figure);
            });
            card.response.rect
        });
        cards.collect::<Vec<_>>()
    });
    let bottom = cards.iter().map(|rect| rect.bottom()).fold(0.0, f32::max);
    for (ground, rect) in grounds.into_iter().zip(cards) {
        let rect = rect.with_max_y(bottom);
        ui.painter().set(
            ground,
            Shape::rect_filled(rect, 4.0 * size, palette.code_background),
        );
    }
}

fn show_column(
    ui: &mut Ui,
    column: &LessonColumn,
    code: f32,
    size: f32,
    palette: &Palette<Color32>,
    figure: Color32,
) {
    let width = ui.available_width();
    ui.spacing_mut().item_spacing.y = 0.0;
    for line in &column.code {
        let place = vec2(width, 1.32 * code);
        ui.allocate_ui_with_layout(place, Layout::left_to_right(egui::Align::Center), |ui| {
            ui.set_min_size(place);
            if line.is_changed {
                let line = ui.max_rect().expand2(vec2(6.0 * size, 0.0));
                let edge = line.with_max_x(line.left() + 3.0 * size);
                ui.painter()
                    .rect_filled(line, 0.0, palette.running_background);
                ui.painter().rect_filled(edge, 0.0, palette.running);
            }
            if !line.text.is_empty() {
                let text = RichText::new(&line.text).font(FontId::monospace(code));
                ui.add(Label::new(text.color(palette.value)).extend());
            }
        });
    }
    ui.add_space(8.0 * size);
    ui.spacing_mut().item_spacing.y = (4.0 * size).round_ui();
    for (label, value) in &column.figures {
        show_figure(ui, label, value, 15.0 * size, [palette.label, figure]);
    }
    show_text(ui, &column.note, regular(15.0 * size), palette.label);
}

/// A label and, at the right end of the line, its value.
fn show_figure(ui: &mut Ui, label: &str, value: &str, size: f32, [colour, of_value]: [Color32; 2]) {
    Sides::new().shrink_left().wrap().show(
        ui,
        |ui| show_text(ui, label, regular(size), colour),
        |ui| show_text(ui, value, medium(size), of_value),
    );
}

/// What is concluded, beside or above the chart.
fn show_findings(
    ui: &mut Ui,
    page: &LessonPage,
    size: f32,
    palette: &Palette<Color32>,
    measured: impl Fn(Color32) -> Color32,
) {
    let progress = page.progress.as_deref().unwrap_or_default();
    show_text(ui, progress, regular(18.0 * size), palette.accent);
    let end = |bar: &TimeBar| bar.interval.map_or(bar.milliseconds, |[_, high]| high);
    let longest = page.bars.iter().map(end).fold(1e-9, f64::max);
    for bar in &page.bars {
        let value = if bar.is_prediction {
            palette.value
        } else {
            measured(palette.value)
        };
        show_figure(
            ui,
            &bar.label,
            &bar.text,
            14.5 * size,
            [palette.label, value],
        );
        let colours = [palette.accent, palette.value].map(&measured);
        show_bar(ui, bar, longest, size, palette, colours[0]);
    }
    for line in page.conclusion.lines() {
        show_text(ui, line, regular(18.0 * size), measured(palette.value));
    }
    for (check, holds) in &page.checks {
        let colour = if *holds {
            palette.running
        } else {
            palette.value
        };
        ui.horizontal(|ui| {
            ui.add(WidgetAtom::new(sign(palette, *holds, 18.0 * size)));
            let text = RichText::new(lang::keep_units(check)).font(regular(15.0 * size));
            ui.add(Label::new(text.color(colour)).wrap());
        });
    }
    show_text(ui, &page.note, regular(15.0 * size), palette.label);
}

/// A time as a bar, which is hollow if it was predicted, with the interval that a measured one lies in.
fn show_bar(
    ui: &mut Ui,
    bar: &TimeBar,
    longest: f64,
    size: f32,
    palette: &Palette<Color32>,
    colour: Color32,
) {
    let room = vec2(ui.available_width(), 13.0 * size);
    let (place, _) = ui.allocate_exact_size(room, Sense::hover());
    let painter = ui.painter();
    let x = |ms: f64| place.left() + (ms / longest) as f32 * place.width();
    let length = place.with_max_x(x(bar.milliseconds).max(place.left() + 2.0 * size));
    if bar.is_prediction {
        let edge = Stroke::new(2.0 * size, palette.accent);
        painter.rect_stroke(length, 0.0, edge, StrokeKind::Inside);
        return;
    }
    painter.rect_filled(length, 0.0, colour);
    if let Some([low, high]) = bar.interval {
        let line = (2.0 * size, palette.value);
        painter.hline(x(low)..=x(high), place.center().y, line);
        for edge in [low, high] {
            painter.vline(x(edge), place.shrink(2.0 * size).y_range(), line);
        }
    }
}

/// The speed-up curve, the lesson's pictures, or a round of each setting.
fn show_chart(painter: &WidgetPainter, ui: &mut Ui, room: Rect, size: f32, page: &LessonPage) {
    let painter = &painter.with_clip_rect(ui.clip_rect());
    if let Some(speedup) = &page.speedup {
        let palette = &painter.palette;
        ui.scope_builder(UiBuilder::new().max_rect(room), |ui| {
            speedup::show(ui, palette, size, speedup);
        });
    } else if !page.pictures.is_empty() {
        ui.scope_builder(UiBuilder::new().max_rect(room), |ui| {
            ui.columns(page.pictures.len(), |uis| {
                for (at, (ui, picture)) in uis.iter_mut().zip(&page.pictures).enumerate() {
                    ui.vertical_centered(|ui| {
                        let height = (room.height() - 28.0 * size).max(1.0);
                        let room = vec2(ui.available_width(), height);
                        let image = Image::new(&texture(ui, at, picture));
                        let caption = lang::text(picture.caption);
                        ui.add(image.fit_to_exact_size(room).alt_text(caption));
                        let font = regular(15.0 * size);
                        show_text(ui, caption, font, painter.palette.label);
                    });
                }
            });
        });
    } else {
        timeline::paint_rounds(painter, room, &page.rounds);
    }
}

/// The texture of a picture, which is kept while it has the same pixels.
fn texture(ui: &Ui, at: usize, picture: &lesson::LessonImage) -> TextureHandle {
    let id = egui::Id::unique("the lesson's picture").with(at);
    let known = ui.data(|data| data.get_temp::<(Arc<[u8]>, TextureHandle)>(id));
    if let Some((pixels, texture)) = known
        && Arc::ptr_eq(&pixels, &picture.rgba)
    {
        return texture;
    }
    let size = [picture.width, picture.height].map(|side| side as usize);
    let image = egui::ColorImage::from_rgba_unmultiplied(size, &picture.rgba);
    let texture = ui
        .ctx()
        .load_texture("lesson", image, egui::TextureOptions::LINEAR);
    ui.data_mut(|data| data.insert_temp(id, (picture.rgba.clone(), texture.clone())));
    texture
}

/// A tick or a cross in a widget, as large as this.
pub(crate) fn sign(palette: &Palette<Color32>, holds: bool, side: f32) -> egui::Atom<'static> {
    let palette = *palette;
    egui::Atom::paint(Vec2::splat(side), move |ui, face| {
        paint_sign(ui.painter(), &palette, face.rect, holds);
    })
}

/// A tick on dark green or a cross on red: told apart by their shapes, too.
pub(crate) fn paint_sign(
    painter: &egui::Painter,
    palette: &Palette<Color32>,
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
    let stroke = Stroke::new(0.11 * rect.width(), text_colour);
    if holds {
        let tick = vec![at(0.22, 0.54), at(0.42, 0.74), at(0.79, 0.28)];
        painter.line(tick, stroke);
    } else {
        painter.line_segment([at(0.26, 0.26), at(0.74, 0.74)], stroke);
        painter.line_segment([at(0.74, 0.26), at(0.26, 0.74)], stroke);
    }
}
