//! The figures: in a column beside the panels, or, where the window is narrow and in a presentation, which
//! has a lecture's essentials alone, in cells below them. They never cover a panel.

use egui::accesskit::Role;
use egui::{Frame as Margins, *};

use crate::view::style::*;
use crate::view::toolbar;
use lang::tr;
use session::SessionAction;
use ui::ViewAction;
use ui::figures::{Figure, Figures, PACE, RunState, Urgency};

/// Room below the column's figures for messages, whether there are any or not: no figure goes when one
/// comes.
const MESSAGES: f32 = 66.0;
/// The heights in the column of a figure at least, of a line between groups, and of the last line: at 1280 x 800
/// all figures are in view.
const ROW: f32 = 19.0;
const GROUP: f32 = 6.0;
const FOOT: f32 = 30.0;
/// The width of a cell below the panels at least, its height, and that of the line below them.
const CELL: f32 = 120.0;
const CELL_HEIGHT: f32 = 42.0;
const LINE: f32 = 28.0;
/// The widths of a presentation's cells: the state, time, lattices, kernel, streams, the last change, and the menu.
const STRIP_CELLS: [f32; 7] = [126.0, 102.0, 102.0, 98.0, 122.0, 246.0, 32.0];
/// The height of a presentation's cells.
const STRIP_CELL: f32 = 47.0;
/// The height of a presentation's strip: a row of cells, and the line.
pub(crate) const STRIP: f32 = STRIP_CELL + LINE + 16.0;

/// Shows the figures in a column that scrolls, and the most urgent message below them.
pub(crate) fn show_side(ui: &mut Ui, rect: Rect, figures: &Figures) {
    lay_out(ui, rect.shrink2(vec2(16.0, 10.0)), "figures", |ui| {
        set_dense(ui);
        show_state(ui, figures.state, &figures.pace);
        ui.add_space(6.0);
        let room = ui.available_height() - FOOT - MESSAGES;
        let column = ScrollArea::vertical().id_salt("column").max_height(room);
        column.auto_shrink([false, true]).show(ui, |ui| {
            // All its digits are seen.
            let digits = figures.headline.value.len() as f32;
            let size = (ui.available_width() / (0.58 * digits)).min(40.0);
            show_figure(ui, &figures.headline, size, false);
            for group in figures.groups.iter().filter(|group| !group.is_empty()) {
                ui.add(Separator::default().spacing(GROUP));
                for figure in group {
                    show_figure(ui, figure, 16.0, !figure.wide);
                    if !figure.note.is_empty() {
                        ui.label(RichText::new(&figure.note).small());
                    }
                }
            }
        });
        ui.add_space(6.0);
        let room = ui.available_height() - FOOT;
        let messages = ScrollArea::vertical().id_salt("messages").max_height(room);
        let messages = messages.min_scrolled_height(room).auto_shrink(false);
        messages.show(ui, |ui| {
            show_first_message(ui, figures);
        });
        let foot = Sides::new().height(ui.available_height());
        let help = RichText::new(tr!("H   keys and help")).small();
        foot.show(ui, |ui| ui.label(help), show_menu);
    });
}

/// Shows figures in cells of one width, as many in a row as there is room for, and below them the most urgent message.
pub(crate) fn show_cells(ui: &mut Ui, rect: Rect, figures: &Figures, cells: &[&Figure]) {
    lay_out(ui, rect.shrink2(vec2(14.0, 8.0)), "figures", |ui| {
        set_dense(ui);
        ui.spacing_mut().item_spacing.x = 6.0;
        // A presentation's few stand in one row, and are larger.
        let is_strip = cells.len() <= figures.essentials.len();
        let (height, sizes) = if is_strip {
            (STRIP_CELL, [26.0, 19.0])
        } else {
            (CELL_HEIGHT, [22.0, 17.0])
        };
        let width = |figure: &&Figure| if figure.wide { 2.0 } else { 1.0 };
        let (widths, columns) = if is_strip {
            (STRIP_CELLS.to_vec(), STRIP_CELLS.iter().sum())
        } else {
            let widths = [1.0].into_iter().chain(cells.iter().map(width));
            let columns = (ui.available_width() / CELL).floor();
            (widths.collect(), columns.max(2.0))
        };
        let cell = ui.available_width() / columns;
        // Room for a message, whether there is one or not: no figure goes when one comes.
        let room = ui.available_height() - LINE;
        let area = ScrollArea::vertical().max_height(room).auto_shrink(false);
        let area = area.min_scrolled_height(0.0);
        area.show(ui, |ui| {
            ui.horizontal_wrapped(|ui| {
                let down = Layout::top_down(Align::Min);
                let place = vec2(cell * widths[0] - 6.0, height);
                ui.allocate_ui_with_layout(place, down, |ui| {
                    show_state(ui, figures.state, "");
                });
                for (at, figure) in cells.iter().enumerate() {
                    // The first one is read from the last row of a hall, and what the last change did.
                    let is_large = at == 0 || is_strip && at + 1 == cells.len();
                    let size = sizes[usize::from(!is_large)];
                    let place = vec2(cell * widths[at + 1] - 6.0, height);
                    // Type shrinks where the value would be cut.
                    let size = type_size(&figure.value, place.x - 4.0, [0.0, size]);
                    ui.allocate_ui_with_layout(place, down, |ui| {
                        show_figure(ui, figure, size, false);
                    });
                }
                if is_strip {
                    show_menu(ui);
                }
            });
        });
        let ends = both_ends().height(ui.available_height());
        let show_end = |ui: &mut Ui| {
            if !is_strip {
                show_menu(ui);
            }
        };
        ends.show(ui, |ui| show_first_message(ui, figures), show_end);
    });
}

/// Shows the most urgent message, if there is one.
fn show_first_message(ui: &mut Ui, figures: &Figures) {
    if let Some((urgency, sentence)) = figures.messages.first() {
        show_message(ui, *urgency, |ui, colour| {
            ui.label(styled(&**sentence, regular(14.0), colour));
        });
    }
}

/// Rows stand flush with one another.
fn set_dense(ui: &mut Ui) {
    ui.spacing_mut().item_spacing.y = 0.0;
    ui.spacing_mut().button_padding = Vec2::ZERO;
    for widget in usable(ui) {
        widget.bg_stroke = Stroke::NONE;
    }
}

/// Shows a figure: its value, of this size, beside its name or below it. Where there are settings, a line
/// below the value says that a click opens their controls.
fn show_figure(ui: &mut Ui, figure: &Figure, size: f32, is_row: bool) {
    let palette = palette(ui);
    let colour = if figure.is_recorded {
        palette.recorded
    } else {
        palette.value
    };
    let (mut role, mut sense) = (Role::Label, Sense::hover());
    let mut value = styled(&figure.value, medium(size), colour);
    if !figure.settings.is_empty() {
        (role, sense) = (Role::Button, Sense::click());
        value = value.underline();
    }
    let name = RichText::new(&figure.label).color(palette.label);
    let value = value.atom_shrink(true);
    let shown = if is_row {
        WidgetAtom::new((name.font(regular(14.5)), Atom::grow(), value))
    } else {
        // Words shrink where they would be cut.
        let small = type_size(&figure.label, ui.available_width(), [9.0, 13.0]);
        truncated(ui, name.font(regular(small)));
        WidgetAtom::new(value)
    };
    let shown = shown.wrap_mode(TextWrapMode::Truncate).sense(sense);
    let width = ui.available_width() - 4.0;
    let shown = shown.min_size(vec2(width, ROW)).max_width(width);
    let shown = shown.allocate(ui);
    if shown.response.hovered() && role == Role::Button || shown.response.has_focus() {
        let around = shown.response.rect.expand2(vec2(5.0, 1.0));
        ui.painter().rect_filled(around, 4.0, palette.rule);
    }
    let shown = shown.paint(ui).response;
    let said = format!("{}: {}", figure.label, figure.value);
    shown.widget_info(|| WidgetInfo::labeled(role, true, &said));
    requests(&shown, UiRequest::Change(figure.settings, shown.rect));
    if !figure.tip.is_empty() {
        tip(shown, || &*figure.tip);
    }
}

/// Shows the state as a band that is seen from the last row, whose button runs or pauses, and the pace
/// unless that is empty.
fn show_state(ui: &mut Ui, state: RunState, pace: &str) {
    let palette = palette(ui);
    let (sign, word, colour, fill) = match state {
        RunState::Running => (
            toolbar::RUN,
            tr!("running"),
            palette.running,
            palette.running_background,
        ),
        RunState::Paused => (
            toolbar::PAUSE,
            tr!("PAUSED"),
            palette.on_accent,
            palette.accent,
        ),
        RunState::Recomputing => (
            "f 0 0 8 8 0 16 f 8 0 16 8 8 16",
            tr!("recomputing"),
            palette.on_notice,
            palette.notice,
        ),
        RunState::Ended => (
            toolbar::STOP,
            tr!("ENDED"),
            palette.on_failed,
            palette.failed,
        ),
    };
    let band = Margins::new().fill(fill).corner_radius(6);
    band.inner_margin(Margin::symmetric(10, 4)).show(ui, |ui| {
        for widget in usable(ui) {
            widget.fg_stroke.color = colour;
            widget.weak_bg_fill = colour.gamma_multiply(0.2);
        }
        ui.horizontal(|ui| {
            let text = RichText::new(word).font(medium(18.0)).atom_shrink(true);
            let button = Button::new((toolbar::icon(sign, 13.0), text)).truncate();
            let button = button.frame_when_inactive(false).min_size(vec2(0.0, 26.0));
            let button = ui.add(button).accessible_name(word);
            asks(&button, SessionAction::TogglePause);
            tip(button, || {
                tr!("click or press Space to run or pause; + and − set the pace")
            });
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                if !pace.is_empty() {
                    let text = RichText::new(pace).font(regular(12.5));
                    let button = Button::new(text).truncate().frame_when_inactive(false);
                    let name = format!("{}: {pace}", tr!("pace"));
                    let button = ui.add(button).accessible_name(name);
                    requests(&button, UiRequest::Change(PACE, button.rect));
                }
            });
        });
    });
}

/// The sign of the menu, three lines, where a click opens it.
pub(crate) fn show_menu(ui: &mut Ui) {
    let sign = toolbar::icon("l 0 3 16 3 l 0 8 16 8 l 0 13 16 13", 16.0);
    let button = Button::new(sign).frame_when_inactive(false);
    let name = tr!("menu (Ctrl+M)");
    let button = ui
        .add(button.min_size(vec2(26.0, 26.0)))
        .accessible_name(name);
    asks(&button, ViewAction::ToggleMenu);
    tip(button, || name);
}

/// Shows a sentence in a box, as wide as there is room.
pub(crate) fn show_message(ui: &mut Ui, urgency: Urgency, text: impl FnOnce(&mut Ui, Color32)) {
    let palette = palette(ui);
    let (fill, colour) = match urgency {
        Urgency::Failure => (palette.failed, palette.on_failed),
        Urgency::Effect | Urgency::Notice => (palette.notice, palette.on_notice),
        Urgency::Warning => (palette.warning, palette.accent),
    };
    let card = Margins::new().fill(fill).corner_radius(5);
    card.inner_margin(Margin::symmetric(9, 5)).show(ui, |ui| {
        ui.set_min_width(ui.available_width());
        text(ui, colour);
    });
}
