//! The page of a lesson, in place of everything else: the question and what the class predicts, the programs side by side, a round
//! of each on one axis, and what was predicted and measured. Its words are as large as their room takes,
//! in a presentation or not.

mod speedup;

use std::sync::Arc;

use egui::emath::GuiRounding as _;
use egui::{Frame as Card, *};

use crate::view::code_editor::program;
use crate::view::hud::{show_menu, show_message};
use crate::view::style::*;
use crate::view::timeline;
use lang::{Message, tr};
use lesson::OpFigures;
use ui::figures::Urgency;
use ui::{LessonChoice, LessonColumn, LessonPage, TimeBar, ViewAction};

/// The room around all of it: its next button is where a step of a lecture has it, so that a mouse can click
/// again and again.
const PAD: Vec2 = vec2(22.0, 7.0);
/// The smallest and the largest type, of the usual one; a page that is too high all the same scrolls.
const SMALLEST: f32 = 0.4;
const LARGEST: f32 = 1.6;
/// Sizes of type from the largest to the smallest, but one.
const STEPS: u8 = 24;
/// The height of the last row.
const FOOT: f32 = 36.0;
/// The part of the height that a chart has at least.
const CHART: f32 = 0.26;
/// The width of a row of an op's values in the usual type.
const OP_ROW: f32 = 450.0;
/// Where the page is this many times as wide as high, a chart stands beside words, else below them.
const WIDE: f32 = 1.1;

/// Shows a page in its rectangle; the buttons from page to page are `large` times as large as usual. Within a
/// lecture there is something before its first step and behind its last one.
pub(crate) fn show(
    ui: &mut Ui,
    page: &LessonPage,
    messages: &[(Urgency, Message)],
    is_lectures: bool,
    large: f32,
    rect: Rect,
) {
    let palette = palette(ui);
    lay_out(ui, rect.shrink2(PAD * large), "lesson", |ui| {
        ui.visuals_mut().widgets.noninteractive.fg_stroke.color = palette.value;
        let title = |ui: &mut Ui| ui.label(RichText::new(&page.title).font(medium(20.0)));
        let buttons = |ui: &mut Ui| show_page_buttons(ui, page, is_lectures, large);
        both_ends().show(ui, title, buttons);
        if page.number == 1 {
            truncated(ui, styled(&page.about, regular(15.0), palette.label));
        }
        // The most urgent message, because the HUD is hidden.
        let mut messages = messages.iter();
        if let Some((urgency, sentence)) = messages.find(|it| it.0 != Urgency::Warning) {
            show_message(ui, *urgency, |ui, colour| {
                ui.label(styled(lang::keep_units(sentence), regular(15.0), colour));
            });
        }
        let mut room = ui.available_rect_before_wrap();
        room.max.y -= FOOT;
        let body = |size| Body {
            palette,
            page,
            size,
            room,
        };
        let size = size_that_fits(ui, page, room, LARGEST, |ui, size| body(size).show(ui));
        ui.scope_builder(UiBuilder::new().max_rect(room), |ui| {
            let area = ScrollArea::vertical().auto_shrink(false);
            area.show(ui, |ui| body(size).show(ui));
        });
        show_foot(ui, page);
    });
}

/// The largest size of type, of the usual one, in which a page or a step is no higher than its room. It is
/// laid out unseen to learn that, once for each page and room.
pub(crate) fn size_that_fits<T: Clone + PartialEq + Send + Sync + 'static>(
    ui: &mut Ui,
    page: &T,
    room: Rect,
    largest: f32,
    contents: impl Fn(&mut Ui, f32),
) -> f32 {
    let id = ui.unique_id().with("size of type");
    let known = ui.data(|data| data.get_temp::<Arc<(T, Rect, f32)>>(id));
    if let Some((of, within, size)) = known.as_deref()
        && of == page
        && *within == room
    {
        return *size;
    }
    let size = |step: u8| largest + (SMALLEST - largest) * f32::from(step) / f32::from(STEPS);
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
    ui.data_mut(|data| data.insert_temp(id, Arc::new((page.clone(), room, size))));
    size
}

/// A row of buttons from page to page of some size, each with whether it does anything here. One that does
/// nothing keeps its place, so that the others do too.
pub(crate) fn page_buttons(ui: &mut Ui, size: f32, buttons: &[(&str, ViewAction, bool)]) {
    ui.spacing_mut().item_spacing.x *= size;
    for &(name, action, is_possible) in buttons {
        let button = Button::new(RichText::new(name).font(medium(14.0 * size)));
        let button = button.min_size(vec2(62.0, 30.0) * size);
        asks(&ui.add_enabled(is_possible, button), action);
    }
}

/// From the right.
fn show_page_buttons(ui: &mut Ui, page: &LessonPage, is_lectures: bool, large: f32) {
    let (has_previous, has_next) = (page.number > 1, page.number < page.of);
    let next = if has_previous {
        tr!("Next")
    } else {
        tr!("Measure")
    };
    #[rustfmt::skip]
    page_buttons(ui, large, &[
        // The page that closes a lecture asks nothing.
        (next, ViewAction::NextPage, is_lectures || has_next || page.question.is_empty()),
        (tr!("Back"), ViewAction::PreviousPage, is_lectures || has_previous),
        (tr!("Close"), ViewAction::Escape, true),
    ]);
    ui.label(RichText::new(format!("{} / {}", page.number, page.of)).small());
}

fn show_foot(ui: &mut Ui, page: &LessonPage) {
    // An answer needs the room of a line above it.
    let keys = match page.number {
        _ if page.question.is_empty() => "",
        1 => tr!("Press a digit to predict, → to measure"),
        _ => tr!("→ next · ← back · M measures again"),
    };
    // On the first page it stands below the title.
    let about = if page.number == 1 { "" } else { &page.about };
    let said = [keys, about].join("   ");
    let is_measured = page.number > 1 && page.progress.is_none();
    let left = |ui: &mut Ui| {
        // The page that closes a lecture was not measured.
        if !page.question.is_empty() {
            #[rustfmt::skip]
            page_buttons(ui, 1.0, &[
                (tr!("Measure again"), ViewAction::MeasureAgain, is_measured),
                (tr!("Back to the list"), ViewAction::ToggleLessons, true),
            ]);
        }
        let colour = palette(ui).label;
        truncated(ui, styled(said, regular(14.0), colour));
    };
    both_ends().show(ui, left, show_menu);
}

/// What the class predicts, in type of a size; a click chooses it while it is asked.
pub(crate) fn choices(ui: &mut Ui, choices: &[LessonChoice], is_asked: bool, size: f32) {
    if choices.is_empty() {
        return;
    }
    let palette = palette(ui);
    ui.scope(|ui| {
        chosen_have_the_accent(ui);
        // What was chosen is to be read, also once it cannot be changed.
        ui.visuals_mut().disabled_alpha = 1.0;
        ui.spacing_mut().button_padding = vec2(10.0, 4.0) * size;
        ui.spacing_mut().item_spacing = vec2(8.0, 6.0) * size;
        ui.horizontal_wrapped(|ui| {
            for (number, choice) in choices.iter().enumerate() {
                let text = format!("{}  {}", number + 1, choice.text);
                let mut button = Button::new(RichText::new(text).font(medium(17.0 * size)));
                let mut edge = Stroke::new(1.0, palette.label);
                if choice.is_right {
                    button = button.right_text(RichText::new(sign(true)).size(17.0 * size));
                    edge = Stroke::new(2.0, palette.running);
                }
                let button = button.stroke(edge).selected(choice.is_chosen);
                let button = ui.add_enabled(is_asked, button);
                asks(&button, ViewAction::Predict(number as u8));
            }
        });
    });
}

/// Everything of a page but its head and its foot, in type of a size; its chart reaches to the end of the
/// room.
struct Body<'a> {
    palette: Palette,
    page: &'a LessonPage,
    size: f32,
    room: Rect,
}

impl Body<'_> {
    /// A colour for what was measured here; what was recorded has its own.
    fn measured(&self, here: Color32) -> Color32 {
        if self.page.recorded.is_empty() {
            here
        } else {
            self.palette.recorded
        }
    }

    fn text(&self, ui: &mut Ui, text: &str, mut font: FontId, colour: Color32) {
        if !text.is_empty() {
            font.size *= self.size;
            ui.label(styled(lang::keep_units(text), font, colour));
        }
    }

    fn show(&self, ui: &mut Ui) {
        let (page, size, palette) = (self.page, self.size, self.palette);
        let bottom = ui.max_rect().top() + self.room.height() - 1.0; // else a scroll bar comes
        ui.set_max_width(ui.available_width() - 4.0); // a letter may stick out
        ui.spacing_mut().item_spacing = (vec2(10.0, 6.0) * size).round_ui();
        ui.spacing_mut().interact_size.y = 0.0;
        if !page.choices.is_empty() {
            let card = Card::new()
                .fill(palette.lesson_card)
                .corner_radius(6.0 * size);
            let card = card
                .inner_margin(Margin::from(vec2(14.0, 10.0) * size))
                .show(ui, |ui| {
                    ui.set_min_width(ui.available_width());
                    self.text(ui, &page.question, medium(21.0), palette.accent);
                    ui.add_space(4.0 * size);
                    choices(ui, &page.choices, page.number == 1, size);
                });
            let edge = card.response.rect;
            let edge = edge.with_max_x(edge.left() + 4.0 * size);
            ui.painter().rect_filled(edge, 0.0, palette.accent);
        }
        ui.add_space(3.0 * size);
        self.text(ui, &page.intro, regular(18.0), palette.value);
        ui.add_space(3.0 * size);
        if !page.columns.is_empty() {
            let card = Card::new()
                .fill(palette.code_background)
                .corner_radius(4.0 * size);
            let card = card.inner_margin(Margin::from(vec2(10.0, 8.0) * size));
            card.show(ui, |ui| self.columns(ui));
            ui.add_space(3.0 * size);
        }
        self.text(ui, &page.recorded, regular(16.0), palette.recorded);
        if page.rounds.is_empty() && page.pictures.is_empty() && page.speedup.is_none() {
            self.findings(ui);
        } else if self.room.width() >= WIDE * self.room.height() {
            ui.columns(2, |uis| {
                uis[0].vertical(|ui| self.chart(ui, bottom));
                uis[1].vertical(|ui| self.findings(ui));
            });
        } else {
            self.findings(ui);
            self.chart(ui, bottom);
        }
    }

    /// The settings side by side: the title, the program and what was measured of each. Their programs are in
    /// type in which no line is cut.
    fn columns(&self, ui: &mut Ui) {
        let columns = &self.page.columns;
        let lines = columns.iter().flat_map(|column| &column.code);
        let longest = lines.map(|line| lang::columns(&line.text)).max();
        let names = if columns.len() == 2 {
            ["A · ", "B · "]
        } else {
            [""; 2]
        };
        // The figures of one do not run into the names of the next.
        ui.spacing_mut().item_spacing.x = 28.0 * self.size;
        ui.columns(columns.len(), |uis| {
            for ((ui, column), name) in uis.iter_mut().zip(columns).zip(names.iter().cycle()) {
                let title = format!("{name}{}", column.title);
                let room = ui.available_width() / (LETTER * longest.unwrap_or(1).max(1) as f32);
                ui.vertical(|ui| {
                    self.text(ui, &title, medium(17.0), self.palette.value);
                    self.column(ui, column, (14.0 * self.size).min(room));
                });
            }
        });
    }

    fn column(&self, ui: &mut Ui, column: &LessonColumn, code: f32) {
        let (size, palette) = (self.size, &self.palette);
        ui.spacing_mut().item_spacing.y = 0.0;
        let columns = (ui.available_width() / (LETTER * code)) as usize;
        ui.label(program(&column.code, columns, false, code, palette));
        ui.add_space(8.0 * size);
        ui.spacing_mut().item_spacing.y = (4.0 * size).round_ui();
        for (label, value) in &column.figures {
            self.figure(ui, label, value, self.measured(palette.value));
        }
        self.ops(ui, &column.ops);
        self.text(ui, &column.note, regular(15.0), palette.label);
    }

    /// What was measured of ops, in columns.
    fn ops(&self, ui: &mut Ui, ops: &[OpFigures]) {
        // Ops of a graph have no calls.
        let has_calls = ops.iter().any(|it| it.call_ms.is_some());
        let heading = [
            Some(tr!("in its stream").into()),
            None,
            has_calls.then(|| tr!("returns after").into()),
            has_calls.then(|| tr!("done after").into()),
        ];
        let size = self.size.min(ui.available_width() / OP_ROW);
        let room = vec2(80.0, 20.0) * size;
        ui.spacing_mut().item_spacing.x = 2.0;
        let label = self.palette.label;
        let row = |ui: &mut Ui, name: String, values: [Option<String>; 4], font: FontId, colour| {
            let name = styled(name, regular(17.0 * size), label);
            let show_name = |ui: &mut Ui| truncated(ui, name);
            both_ends().show(ui, show_name, |ui| {
                for value in values.into_iter().rev() {
                    let Some(value) = value else {
                        ui.allocate_space(room);
                        continue;
                    };
                    ui.add_sized(room, Label::new(styled(value, font.clone(), colour)));
                }
            });
        };
        if !ops.is_empty() {
            row(ui, tr!("op").into(), heading, regular(14.0 * size), label);
        }
        let colour = self.measured(self.palette.value);
        for op in ops {
            row(ui, op.name(), op.values(), medium(17.0 * size), colour);
        }
    }

    /// A label and, at the right end of the line, its value.
    fn figure(&self, ui: &mut Ui, label: &str, value: &str, colour: Color32) {
        Sides::new().shrink_left().wrap().show(
            ui,
            |ui| self.text(ui, label, regular(17.0), self.palette.label),
            |ui| self.text(ui, value, medium(17.0), colour),
        );
    }

    /// What is concluded, beside or above the chart.
    fn findings(&self, ui: &mut Ui) {
        let (page, palette) = (self.page, &self.palette);
        let progress = page.progress.as_deref().unwrap_or_default();
        self.text(ui, progress, regular(18.0), palette.accent);
        let end = |bar: &TimeBar| bar.interval.map_or(bar.milliseconds, |[_, high]| high);
        let longest = page.bars.iter().map(end).fold(1e-9, f64::max);
        let value = self.measured(palette.value);
        for bar in &page.bars {
            let colour = if bar.is_prediction {
                palette.value
            } else {
                value
            };
            self.figure(ui, &bar.label, &bar.text, colour);
            self.bar(ui, bar, longest);
        }
        for line in page.conclusion.lines() {
            self.text(ui, line, regular(18.0), value);
        }
        for (check, holds) in &page.checks {
            let colour = if *holds {
                palette.running
            } else {
                palette.failed_text
            };
            let check = format!("{}  {check}", sign(*holds));
            self.text(ui, &check, regular(17.0), colour);
        }
        self.text(ui, &page.note, regular(15.0), palette.label);
    }

    /// A time as a bar, which is hollow if it was predicted, with the interval that a measured one lies in.
    fn bar(&self, ui: &mut Ui, bar: &TimeBar, longest: f64) {
        let (size, palette) = (self.size, &self.palette);
        let (_, place) = ui.allocate_space(vec2(ui.available_width(), 13.0 * size));
        let painter = ui.painter();
        let x = |ms: f64| place.left() + (ms / longest) as f32 * place.width();
        let length = place.with_max_x(x(bar.milliseconds).max(place.left() + 2.0 * size));
        if bar.is_prediction {
            let edge = Stroke::new(2.0 * size, palette.accent);
            painter.rect_stroke(length, 0.0, edge, StrokeKind::Inside);
            return;
        }
        painter.rect_filled(length, 0.0, self.measured(palette.accent));
        if let Some([low, high]) = bar.interval {
            let line = (2.0 * size, palette.value);
            painter.hline(x(low)..=x(high), place.center().y, line);
            for edge in [low, high] {
                painter.vline(x(edge), place.shrink(2.0 * size).y_range(), line);
            }
        }
    }

    /// The speed-up curve, the lesson's pictures, or a round of each setting, down to here.
    fn chart(&self, ui: &mut Ui, bottom: f32) {
        let (page, size, palette) = (self.page, self.size, &self.palette);
        let height = (bottom - ui.cursor().top()).max(CHART * self.room.height());
        let (_, room) = ui.allocate_space(vec2(ui.available_width(), height));
        if !ui.is_visible() {
            return;
        }
        ui.scope_builder(UiBuilder::new().max_rect(room), |ui| {
            if let Some(speedup) = &page.speedup {
                speedup::show(ui, palette, size, speedup);
            } else if !page.pictures.is_empty() {
                ui.columns(page.pictures.len(), |uis| {
                    for (at, (ui, picture)) in uis.iter_mut().zip(&page.pictures).enumerate() {
                        ui.vertical_centered(|ui| {
                            let height = (room.height() - 28.0 * size).max(1.0);
                            let room = vec2(ui.available_width(), height);
                            let image = Image::new(&texture(ui, at, picture));
                            let caption = lang::text(picture.part);
                            ui.add(image.fit_to_exact_size(room).alt_text(caption));
                            self.text(ui, caption, regular(15.0), palette.label);
                        });
                    }
                });
            } else {
                timeline::lanes::paint_rounds(ui, room, &page.rounds);
            }
        });
    }
}

/// The texture of a picture, which is kept while it has the same pixels.
fn texture(ui: &Ui, at: usize, picture: &lesson::LessonImage) -> TextureHandle {
    let id = Id::unique("the lesson's picture").with(at);
    let known = ui.data(|data| data.get_temp::<(Arc<[u8]>, TextureHandle)>(id));
    if let Some((pixels, texture)) = known
        && Arc::ptr_eq(&pixels, &picture.rgba)
    {
        return texture;
    }
    let size = [picture.width, picture.height].map(|side| side as usize);
    let image = ColorImage::from_rgba_unmultiplied(size, &picture.rgba);
    let texture = ui
        .ctx()
        .load_texture("lesson", image, TextureOptions::LINEAR);
    ui.data_mut(|data| data.insert_temp(id, (picture.rgba.clone(), texture.clone())));
    texture
}

/// A tick or a cross, as the fonts have them: told apart by their shapes, too.
pub(crate) fn sign(holds: bool) -> &'static str {
    if holds { "✓" } else { "×" }
}
