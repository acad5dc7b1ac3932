//! The figures: in a column beside the panels, in cells below them where the window is narrow, or, of a
//! presentation, a lecture's essentials in a strip that is read from the last row. They never cover a panel.

pub(crate) mod style;

use std::sync::Arc;

use egui::accesskit::Role;
use egui::text::LayoutJob;
use egui::{
    Align, Align2, Atom, Button, Color32, Frame as Margins, Galley, IntoAtoms, Label, Layout,
    Margin, Painter, Rect, Response, RichText, ScrollArea, Sense, Separator, Shape, Stroke, Ui,
    Vec2, WidgetAtom, WidgetInfo, pos2, vec2,
};

use crate::view::Frame;
use crate::view::dialogs::UiRequest;
use crate::view::hud::style::*;
use crate::view::timeline::tone_colour;
use crate::view::widget_painter::WidgetPainter;
use lang::{Message, tr};
use session::{SessionAction, Status};
use ui::actions::Setting;
use ui::figures::{self, Figure, Figures, PACE, RunState, Urgency};
use ui::finding::Tone;
use ui::theme::Palette;
use ui::{Action, ViewAction};

pub use style::install_fonts;

/// Room below the column's figures for messages, whether there are any or not: no figure goes when one
/// comes. Sizes of their type: the largest that leaves one whole.
const MESSAGES: f32 = 62.0;
const MESSAGE_TYPE: [f32; 4] = [14.0, 13.0, 12.0, 11.0];
/// The height of the column's leading figure, of a line between groups, and of the last line.
const HEADLINE: f32 = 64.0;
const GROUP: f32 = 12.0;
const FOOT: f32 = 30.0;
/// The width of a cell of the bar at least, its height, and that of the message below.
const CELL: f32 = 150.0;
const LINE: f32 = 38.0;
const BAR_MESSAGE: f32 = 30.0;
/// The height of a presentation's strip, and of the figures in it.
pub(crate) const STRIP: f32 = 80.0;
const STRIP_LINE: f32 = 44.0;
/// The parts of its width that time per round, lattices, kernel, streams and factor take, beside the state.
const PARTS: [f32; 5] = [0.2, 0.16, 0.17, 0.15, 0.32];
/// The type of what a lecture is about, and of what it is measured of.
const LARGE: f32 = 27.5;
const USUAL: f32 = 19.0;
/// What the strip's figures need beside the menu; without it, a right click opens the menu.
const MIN_WIDTH_BESIDE_MENU: f32 = 250.0;

/// Shows the figures in a column, and messages below them.
pub(crate) fn show_side(painter: &WidgetPainter, rect: Rect, figures: &Figures) {
    painter.lay_out(rect.shrink2(vec2(16.0, 14.0)), "figures", |ui| {
        set_dense(ui);
        show_state(painter, ui, figures, |ui, colour| {
            let pace = fitted(
                ui.painter(),
                &figures.pace,
                regular(14.0),
                colour,
                ui.available_width(),
            );
            if !figures.pace.is_empty() {
                let name = format!("{}: {}", tr!("pace"), figures.pace);
                let button = ui.add(Button::new(pace).frame_when_inactive(false));
                let button = button.accessible_name(name);
                painter.requests(&button, UiRequest::Change(PACE, button.rect));
            }
        });
        ui.add_space(10.0);
        let room = ui.available_height() - FOOT - MESSAGES - HEADLINE;
        show_column(painter, ui, figures, room);
        let room = ui.available_height() - FOOT;
        ui.allocate_ui(vec2(ui.available_width(), room), |ui| {
            ui.set_min_height(room);
            ui.with_layout(Layout::bottom_up(Align::Min), |ui| {
                show_messages(painter, ui, &figures.messages);
            });
        });
        ui.horizontal_centered(|ui| {
            ui.label(RichText::new(tr!("H   keys and help")).small());
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                show_menu(painter, ui, painter.palette.label);
            });
        });
    });
}

/// Rows stand flush with one another.
fn set_dense(ui: &mut Ui) {
    ui.spacing_mut().item_spacing.y = 0.0;
    ui.spacing_mut().button_padding = Vec2::ZERO;
    let widgets = &mut ui.visuals_mut().widgets;
    for widget in [
        &mut widgets.inactive,
        &mut widgets.hovered,
        &mut widgets.active,
    ] {
        widget.bg_stroke = Stroke::NONE;
    }
}

/// Shows the leading figure and those of the lowest ranks for which there is room below it.
fn show_column(painter: &WidgetPainter, ui: &mut Ui, figures: &Figures, room: f32) {
    let (width, palette) = (ui.available_width(), painter.palette);
    let headline = &figures.headline;
    // By how many digits there are, not by which.
    let size = width / (0.58 * lang::columns(&headline.value) as f32);
    let title = fitted(
        painter,
        &headline.label,
        regular(14.0),
        palette.label,
        width,
    );
    let value = value_of(painter, headline, size.clamp(15.0, 40.0), width);
    let parts = stacked(painter, title, value);
    show(painter, ui, vec2(width, HEADLINE), headline, parts);
    // What has the highest ranks stays away where there is no room for it.
    let groups = |most: u8| {
        let groups = figures.groups.iter();
        let groups = groups.map(|group| group.iter().filter(|it| it.rank <= most).collect());
        groups
            .filter(|group: &Vec<&Figure>| !group.is_empty())
            .collect::<Vec<_>>()
    };
    let fits = |groups: &Vec<Vec<&Figure>>| {
        let figures: f32 = groups.iter().flatten().map(|it| height(it)).sum();
        figures + GROUP * groups.len() as f32 <= room
    };
    let shown = (0..=12).rev().map(groups).find(fits);
    for group in shown.unwrap_or_default() {
        ui.add(Separator::default().spacing(GROUP));
        for figure in group {
            show_row(painter, ui, figure);
        }
    }
}

/// A figure's height in the column, with its note.
fn height(figure: &Figure) -> f32 {
    let note = match lang::columns(&figure.note) {
        0 => 0.0,
        1..=38 => 17.0,
        _ => 32.0,
    };
    note + if figure.wide { 38.0 } else { 22.0 }
}

/// A figure in the column: its value beside its name, or below it where it is wide, and its note.
fn show_row(painter: &WidgetPainter, ui: &mut Ui, figure: &Figure) {
    let (width, label) = (ui.available_width(), painter.palette.label);
    ui.allocate_ui(vec2(width, height(figure)), |ui| {
        ui.set_min_height(height(figure));
        if figure.wide {
            let name = fitted(painter, &figure.label, regular(13.0), label, width);
            let value = value_of(painter, figure, 17.0, width);
            let parts = stacked(painter, name, value);
            show(painter, ui, vec2(width, 38.0), figure, parts);
        } else {
            let name = fitted(painter, &figure.label, regular(14.5), label, 0.58 * width);
            let value = value_of(painter, figure, 17.0, width - name.size().x - 8.0);
            let parts = (name, Atom::grow(), value);
            show(painter, ui, vec2(width, 22.0), figure, parts);
        }
        if !figure.note.is_empty() {
            let (note, font) = (figure.note.as_str(), regular(12.5));
            ui.label(paragraph(painter, note, font, label, width, 2));
        }
    });
}

/// A value; a line below it says that a click changes it.
fn value_of(painter: &WidgetPainter, figure: &Figure, size: f32, room: f32) -> Arc<Galley> {
    let palette = &painter.palette;
    let colour = if figure.is_recorded {
        palette.recorded
    } else {
        palette.value
    };
    let value = fitted(painter, &figure.value, medium(size), colour, room);
    underlined(painter, value, figure.settings)
}

fn underlined(painter: &WidgetPainter, value: Arc<Galley>, settings: &[Setting]) -> Arc<Galley> {
    if settings.is_empty() {
        return value;
    }
    let mut job = (*value.job).clone();
    for section in &mut job.sections {
        section.format.underline = Stroke::new(1.0, painter.palette.label.gamma_multiply(0.6));
    }
    painter.layout_job(job)
}

/// Gives a widget a tip, unless that is empty.
pub(crate) fn tip(shown: Response, text: &str) {
    if !text.is_empty() {
        shown.on_hover_text(lang::keep_units(text));
    }
}

/// Two lines as one text, the upper one close to the lower.
fn stacked(painter: &Painter, above: Arc<Galley>, below: Arc<Galley>) -> Arc<Galley> {
    let mut job = LayoutJob::default();
    for (text, line) in [
        (format!("{}\n", above.text()), &above),
        (below.text().into(), &below),
    ] {
        if let Some(section) = line.job.sections.first() {
            job.append(&text, 0.0, section.format.clone());
        }
    }
    if let Some(upper) = job.sections.first_mut() {
        upper.format.line_height = Some(1.05 * upper.format.font_id.size);
    }
    painter.layout_job(job)
}

/// Shows a figure as these parts, so large.
fn show<'a>(
    painter: &WidgetPainter,
    ui: &mut Ui,
    size: Vec2,
    figure: &Figure,
    parts: impl IntoAtoms<'a>,
) {
    let shown = show_value(
        painter,
        ui,
        size,
        (&figure.label, &figure.value, figure.settings),
        parts,
    );
    tip(shown, &figure.tip);
}

/// Shows a name and its value as these parts; where there are settings, a click opens their controls.
fn show_value<'a>(
    painter: &WidgetPainter,
    ui: &mut Ui,
    size: Vec2,
    (name, value, settings): (&str, &str, &'static [Setting]),
    parts: impl IntoAtoms<'a>,
) -> Response {
    let (role, sense) = if settings.is_empty() {
        (Role::Label, Sense::hover())
    } else {
        (Role::Button, Sense::click())
    };
    let shown = WidgetAtom::new(parts).sense(sense).min_size(size);
    let shown = shown.align2(Align2::LEFT_TOP).allocate(ui);
    if !settings.is_empty() && (shown.response.hovered() || shown.response.has_focus()) {
        let around = shown.response.rect.expand2(vec2(5.0, 1.0));
        ui.painter().rect_filled(around, 4.0, painter.palette.rule);
    }
    let shown = shown.paint(ui).response;
    let name = format!("{name}: {value}");
    shown.widget_info(|| WidgetInfo::labeled(role, true, &name));
    if !settings.is_empty() {
        painter.requests(&shown, UiRequest::Change(settings, shown.rect));
    }
    shown
}

/// The state as a band that is seen from the last row: a sign, a word, and what stands at its right end.
fn show_state(
    painter: &WidgetPainter,
    ui: &mut Ui,
    figures: &Figures,
    beside: impl FnOnce(&mut Ui, Color32),
) {
    let palette = &painter.palette;
    let (word, colour, fill) = match figures.state {
        RunState::Running => (tr!("running"), palette.running, palette.running_background),
        RunState::Paused => (tr!("PAUSED"), palette.on_accent, palette.accent),
        RunState::Recomputing => (tr!("recomputing"), palette.on_notice, palette.notice),
        RunState::Ended => (tr!("ENDED"), palette.on_failed, palette.failed),
    };
    let band = Margins::new().fill(fill).corner_radius(6);
    band.inner_margin(Margin::symmetric(10, 5)).show(ui, |ui| {
        ui.spacing_mut().item_spacing.x = 9.0;
        ui.visuals_mut().widgets.hovered.weak_bg_fill = colour.gamma_multiply(0.2);
        ui.horizontal(|ui| {
            let state = figures.state;
            let sign = move |ui: &Ui, rect: Rect| {
                let square = Rect::from_min_size(rect.min, vec2(13.0, 13.0));
                paint_sign(ui.painter(), square, state, colour);
            };
            let sign = Atom::paint(vec2(19.0, 13.0), move |ui, face| sign(ui, face.rect));
            let text = RichText::new(word).font(medium(19.0)).color(colour);
            show_toggle(painter, ui, vec2(0.0, 28.0), word, (sign, text));
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                beside(ui, colour)
            });
        });
    });
}

/// The button that runs or pauses.
fn show_toggle<'a>(
    painter: &WidgetPainter,
    ui: &mut Ui,
    size: Vec2,
    name: &str,
    parts: impl IntoAtoms<'a>,
) {
    let button = Button::new(parts).frame_when_inactive(false);
    let button = ui.add(button.min_size(size)).accessible_name(name);
    painter.asks(&button, SessionAction::TogglePause);
    let text = tr!("click or press Space to run or pause; + and − set the pace");
    tip(button, text);
}

/// Paints the state's sign: a triangle, two bars, two triangles, a square.
fn paint_sign(painter: &Painter, sign: Rect, state: RunState, colour: Color32) {
    let triangle = |from: f32, to: f32| {
        let middle = pos2(to, sign.center().y);
        let corners = vec![pos2(from, sign.top()), middle, pos2(from, sign.bottom())];
        painter.add(Shape::convex_polygon(corners, colour, Stroke::NONE));
    };
    let bar = |from: f32, to: f32| {
        painter.rect_filled(
            Rect::from_x_y_ranges(from..=to, sign.y_range()),
            0.0,
            colour,
        );
    };
    let (left, right, wide) = (sign.left(), sign.right(), 0.36 * sign.width());
    match state {
        RunState::Running => triangle(left, right),
        RunState::Paused => {
            bar(left, left + wide);
            bar(right - wide, right);
        }
        RunState::Recomputing => {
            triangle(left, sign.center().x);
            triangle(sign.center().x, right);
        }
        RunState::Ended => bar(left, right),
    }
}

/// The sign of the menu, three lines, where a click opens it.
pub(crate) fn show_menu(painter: &WidgetPainter, ui: &mut Ui, colour: Color32) {
    let lines = Atom::paint(vec2(26.0, 26.0), move |ui, face| {
        let (middle, painter) = (face.rect.center(), ui.painter());
        for line in [-5.0, 0.0, 5.0] {
            painter.hline(
                middle.x - 8.0..=middle.x + 8.0,
                middle.y + line,
                (1.6, colour),
            );
        }
    });
    ui.spacing_mut().button_padding = Vec2::ZERO;
    let name = tr!("menu (Ctrl+M)");
    let button = ui.add(Button::new(lines).frame_when_inactive(false));
    let button = button.accessible_name(name);
    painter.asks(&button, ViewAction::ToggleMenu);
    tip(button, name);
}

/// Shows messages, each in a box, the most urgent lowest. They take as many rows of text as they need, in
/// smaller type if they would be cut. What has no room is left out; the most urgent is cut there, and is a
/// tip too.
fn show_messages(painter: &WidgetPainter, ui: &mut Ui, messages: &[(Urgency, Message)]) {
    let width = ui.available_width() - 18.0;
    for (number, (urgency, sentence)) in messages.iter().enumerate() {
        let (fill, colour) = message_colours(*urgency, &painter.palette);
        let room = ui.available_height() - 20.0;
        let text =
            |size: f32, rows| paragraph(painter, sentence, regular(size), colour, width, rows);
        let mut whole = MESSAGE_TYPE.iter().map(|size| text(*size, 9));
        let text = match whole.find(|text| text.size().y <= room) {
            Some(text) => text,
            None if number == 0 => text(11.0, (room / 13.0) as usize),
            None => continue,
        };
        ui.add_space(6.0);
        let is_cut = text.elided;
        let card = Margins::new().fill(fill).corner_radius(5);
        let shown = card.inner_margin(Margin::symmetric(9, 7)).show(ui, |ui| {
            ui.set_min_width(width);
            ui.label(text)
        });
        if is_cut {
            tip(shown.inner, sentence);
        }
    }
}

/// The background and the type of a sentence.
pub(crate) fn message_colours(urgency: Urgency, palette: &Palette<Color32>) -> (Color32, Color32) {
    match urgency {
        Urgency::Failure => (palette.failed, palette.on_failed),
        Urgency::Effect | Urgency::Notice => (palette.notice, palette.on_notice),
        Urgency::Warning => (palette.warning, palette.accent),
    }
}

/// Shows a sentence in a line.
fn show_line(painter: &WidgetPainter, ui: &mut Ui, (urgency, sentence): &(Urgency, Message)) {
    let (fill, colour) = message_colours(*urgency, &painter.palette);
    let card = Margins::new().fill(fill).corner_radius(4);
    card.inner_margin(Margin::symmetric(8, 2)).show(ui, |ui| {
        ui.set_min_size(ui.available_size());
        ui.horizontal_centered(|ui| {
            let width = ui.available_width();
            ui.label(fitted(painter, sentence, regular(14.0), colour, width));
        });
    });
}

/// Shows the figures in cells of one width, and the most urgent message below them.
pub(crate) fn show_bar(painter: &WidgetPainter, rect: Rect, figures: &Figures) {
    painter.lay_out(rect.shrink2(vec2(14.0, 8.0)), "figures", |ui| {
        set_dense(ui);
        ui.spacing_mut().item_spacing = vec2(12.0, 4.0);
        let columns = (ui.available_width() / CELL).floor().max(2.0);
        let cell = ui.available_width() / columns;
        // Room for a message, whether there is one or not: no figure goes when one comes.
        let room = ui.available_height() - BAR_MESSAGE;
        let area = ScrollArea::vertical().max_height(room).auto_shrink(false);
        area.show(ui, |ui| {
            ui.horizontal_wrapped(|ui| {
                ui.allocate_ui(vec2(cell - 12.0, LINE), |ui| {
                    show_state(painter, ui, figures, |ui, colour| {
                        show_menu(painter, ui, colour)
                    });
                });
                for figure in
                    std::iter::once(&figures.headline).chain(figures.groups.iter().flatten())
                {
                    let cells = if figure.wide { 2.0 } else { 1.0 };
                    let width = cells * cell - 12.0;
                    let label = painter.palette.label;
                    let name = fitted(painter, &figure.label, regular(12.5), label, width);
                    let value = value_of(painter, figure, 18.0, width);
                    let parts = stacked(painter, name, value);
                    show(painter, ui, vec2(width, LINE), figure, parts);
                }
            });
        });
        if let Some(message) = figures.messages.first() {
            show_line(painter, ui, message);
        }
    });
}

/// Shows a presentation's strip: run state, time per round, what it is measured of, the last change's
/// effect, and the latest message.
pub(crate) fn show_strip(
    painter: &WidgetPainter,
    rect: Rect,
    frame: &Frame<'_>,
    status: &Status,
    figures: &Figures,
) {
    let round = match figures.state {
        RunState::Running | RunState::Paused => figures::round_time(status),
        RunState::Recomputing | RunState::Ended => "–".into(),
    };
    let palette = &painter.palette;
    let plain = palette.value;
    let of_round = if status.lab.recording.is_some() {
        palette.recorded
    } else {
        plain
    };
    // What the last change did, or how A and B compare.
    let (switch, factor, tone) = match frame.screen.finding.as_ref() {
        None => (tr!("last change"), "–", Tone::Neutral),
        Some(found) => (&*found.subject, &*found.factor, found.tone),
    };
    let grid = figures::grid(status);
    let streams = figures::streams(status);
    let (kernel, tone) = (status.setting.kernel.name, tone_colour(tone, palette));
    let columns: [(&str, &str, Color32, f32, &'static [Setting]); 5] = [
        (
            tr!("time per round"),
            &round,
            of_round,
            LARGE,
            figures::ROUND,
        ),
        (tr!("lattices"), &grid, plain, USUAL, figures::GRID),
        (tr!("kernel"), kernel, plain, USUAL, figures::KERNEL),
        (tr!("streams"), streams, plain, USUAL, figures::STREAMS),
        (switch, factor, tone, LARGE, &[]),
    ];
    painter.lay_out(rect.shrink2(vec2(14.0, 5.0)), "figures", |ui| {
        set_dense(ui);
        ui.spacing_mut().item_spacing = vec2(11.0, 2.0);
        ui.horizontal_top(|ui| {
            show_state_of_strip(painter, ui, figures.state);
            let has_menu = ui.available_width() > MIN_WIDTH_BESIDE_MENU;
            let width = ui.available_width() - if has_menu { 26.0 } else { 0.0 };
            for (part, (label, value, colour, size, settings)) in PARTS.into_iter().zip(columns) {
                let room = part * width - 11.0;
                let first = fitted(painter, value, medium(size), colour, room);
                let value = if first.text() == value {
                    first
                } else {
                    fitted(painter, value, medium(USUAL), colour, room)
                };
                let name = fitted(painter, label, regular(14.5), palette.label, room);
                let line = underlined(painter, value.clone(), settings);
                let parts = stacked(painter, name, line);
                let said = (label, value.text(), settings);
                show_value(painter, ui, vec2(room, STRIP_LINE), said, parts);
            }
            if has_menu {
                show_menu(painter, ui, palette.label);
            }
        });
        let said = figures
            .messages
            .iter()
            .filter(|(urgency, _)| *urgency != Urgency::Warning);
        if let Some(message) = said.min_by_key(|(urgency, _)| *urgency != Urgency::Failure) {
            show_line(painter, ui, message);
        }
    });
}

/// A word and a sign for the state; a click runs or pauses.
fn show_state_of_strip(painter: &WidgetPainter, ui: &mut Ui, state: RunState) {
    let palette = &painter.palette;
    let (word, colour) = match state {
        RunState::Running => (tr!("running"), palette.running),
        RunState::Paused => (tr!("paused"), palette.accent),
        RunState::Recomputing => (tr!("recomputing"), palette.value),
        RunState::Ended => (tr!("ended"), palette.failed_text),
    };
    let size = vec2(75.0, STRIP_LINE);
    let text = fitted(painter, word, medium(19.0), colour, size.x);
    let face = Atom::paint(size, move |ui, face| {
        ui.painter().galley(face.rect.min, text.clone(), colour);
        let sign = Rect::from_min_size(face.rect.min + vec2(0.0, 24.0), vec2(19.0, 19.0));
        paint_sign(ui.painter(), sign, state, colour);
    });
    show_toggle(painter, ui, size, word, face);
}

/// Shows a side panel: its edges, its title with the button that closes it, and its contents below.
pub(crate) fn side_panel(
    painter: &WidgetPainter,
    rect: Rect,
    title: &str,
    close: ViewAction,
    contents: impl FnOnce(&mut Ui),
) {
    let line = (1.0, painter.palette.rule);
    painter.vline(rect.right() - 0.5, rect.y_range(), line);
    painter.hline(rect.x_range(), rect.top() + 0.5, line);
    painter.lay_out(rect.shrink2(vec2(14.0, 6.0)), "side panel", |ui| {
        let widgets = &mut ui.visuals_mut().widgets;
        widgets.noninteractive.fg_stroke.color = painter.palette.value;
        ui.horizontal(|ui| {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let text = tr!("Close ({key}) ×", key = Action::from(close).key());
                painter.asks(&ui.button(RichText::new(text).font(regular(13.0))), close);
                let title = Label::new(RichText::new(title).font(medium(18.0))).truncate();
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| ui.add(title));
            });
        });
        contents(ui);
    });
}
