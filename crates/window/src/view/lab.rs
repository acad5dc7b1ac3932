//! The lab: the switches with their positions, and the calls that the present ones make. `ui::lab` has
//! the switches and the code.

use egui::accesskit::Role;
use egui::scroll_area::State;
use egui::{
    Button, Color32, FontId, Frame, Label, Margin, Rect, RichText, ScrollArea, Stroke, Ui,
    WidgetInfo, vec2,
};

use crate::view::dialogs::UiRequest;
use crate::view::hud::side_panel;
use crate::view::hud::style::*;
use crate::view::widget_painter::WidgetPainter;
use lang::tr;
use session::{Choice, SessionAction};
use ui::ViewAction;
use ui::lab::each_round;
use ui::lab::{Lab, SwitchRow, ValueRow};
use ui::theme::Palette;

/// A row, the key and the name at its beginning, and the positions that one has at most.
const ROW: f32 = 22.0;
const NAMES: [f32; 2] = [24.0, 98.0];
const MAX_ACROSS: usize = 5;
/// The lines that say what a position does, or why some cannot be.
const SAID: f32 = 54.0;
const SAID_LINES: usize = 3;
/// The height that values leave the code at least, and the largest type of that.
const MIN_CODE: f32 = 190.0;
const CODE: f32 = 14.0;

/// Shows the lab in its rectangle.
pub(crate) fn show(painter: &WidgetPainter, lab: &Lab, rect: Rect) {
    let palette = painter.palette;
    side_panel(painter, rect, tr!("Lab"), ViewAction::ToggleLab, |ui| {
        ui.spacing_mut().item_spacing = vec2(3.0, 3.0);
        ui.spacing_mut().button_padding = vec2(3.0, 1.0);
        ui.spacing_mut().interact_size.y = ROW;
        chosen_have_the_accent(ui, &palette);
        let lines = |row: &SwitchRow| row.positions.len().div_ceil(MAX_ACROSS);
        let lines: usize = lab.switches.iter().map(lines).sum();
        let switches = lines as f32 * (ROW + 3.0);
        if ui.available_height() >= switches + SAID + MIN_CODE {
            lab.values
                .iter()
                .for_each(|row| show_values(painter, ui, row));
        }
        let mut over = None;
        for row in &lab.switches {
            over = show_switch(painter, ui, row).or(over);
        }
        ui.allocate_ui(vec2(ui.available_width(), SAID), |ui| {
            ui.set_min_height(SAID);
            show_said(painter, ui, lab, over);
        });
        let card = Frame::new().fill(palette.code_background).corner_radius(4);
        card.inner_margin(Margin::symmetric(8, 6))
            .show(ui, |ui| show_code(ui, &palette, &lab.calls));
    });
}

/// Begins a row with what it is about.
fn show_name(ui: &mut Ui, key: RichText, name: &str) {
    for (text, width) in [(key, NAMES[0]), (RichText::new(name), NAMES[1])] {
        let is_empty = text.is_empty();
        let text = Label::new(text.font(regular(14.5))).halign(egui::Align::Min);
        ui.allocate_ui(vec2(width, ROW), |ui| {
            ui.set_min_width(width);
            if !is_empty {
                ui.add(text.truncate());
            }
        });
    }
}

/// A line of values; a click on one opens its controls.
fn show_values(painter: &WidgetPainter, ui: &mut Ui, row: &ValueRow) {
    ui.horizontal(|ui| {
        show_name(ui, RichText::new(""), row.name);
        let width = width_of(ui, row.values.len());
        for (settings, value) in &row.values {
            let text = fitted(
                painter,
                value,
                medium(14.5),
                painter.palette.value,
                width - 6.0,
            );
            let half = text.size().x / 2.0;
            let button = Button::new(text).frame_when_inactive(false);
            let name = format!("{}: {value}", settings[0].title());
            let button = ui
                .add(button.min_size(vec2(width, ROW)))
                .accessible_name(name);
            let line = Stroke::new(1.0, painter.palette.label.gamma_multiply(0.6));
            let foot = button.rect.center_bottom() - vec2(0.0, 2.0);
            ui.painter()
                .hline(foot.x - half..=foot.x + half, foot.y, line);
            painter.requests(&button, UiRequest::Change(settings, button.rect));
            button.on_hover_text(tr!("click to change it"));
        }
    });
}

/// How wide each of so many is in what is left of a row.
fn width_of(ui: &Ui, count: usize) -> f32 {
    (ui.available_width() + 3.0) / count as f32 - 3.0
}

/// The positions of a switch in as many lines as they take, of one width; the one under the pointer.
fn show_switch<'a>(
    painter: &WidgetPainter,
    ui: &mut Ui,
    row: &'a SwitchRow,
) -> Option<(&'a SwitchRow, &'a Choice)> {
    let mut over = None;
    let across = row
        .positions
        .len()
        .div_ceil(row.positions.len().div_ceil(MAX_ACROSS));
    for (line, positions) in row.positions.chunks(across).enumerate() {
        ui.horizontal(|ui| {
            let [key, name] = match line {
                0 => [row.key.as_str(), row.name.as_str()],
                _ => ["", ""],
            };
            show_name(ui, RichText::new(key).color(painter.palette.accent), name);
            let width = width_of(ui, across);
            for (at, position) in positions.iter().enumerate() {
                let index = line * across + at;
                if show_position(painter, ui, row, index, width) {
                    over = Some((row, position));
                }
            }
        });
    }
    over
}

/// A position, which a click chooses; an unavailable one says why it is. Whether the pointer is over it.
fn show_position(
    painter: &WidgetPainter,
    ui: &mut Ui,
    row: &SwitchRow,
    index: usize,
    width: f32,
) -> bool {
    let (palette, position) = (&painter.palette, &row.positions[index]);
    let (is_present, is_possible) = (index == row.present, position.unavailable.is_none());
    let (font, colour) = match (is_present, is_possible) {
        (true, _) => (medium(13.5), palette.on_accent),
        (false, true) => (regular(13.5), palette.value),
        (false, false) => (regular(13.5), palette.faint),
    };
    let text = fitted(painter, &position.label, font, colour, width - 6.0);
    let struck = text.size().x / 2.0 + 2.0;
    let mut button = Button::new(text).selected(is_present);
    if !is_possible && !is_present {
        button = button.fill(palette.recessed);
    }
    let button = ui.add(button.min_size(vec2(width, ROW)));
    let middle = button.rect.center();
    if !is_possible {
        // Struck out too: grey alone is not seen from everywhere.
        let across = middle.x - struck..=middle.x + struck;
        ui.painter().hline(across, middle.y, (1.0, palette.faint));
    }
    button.widget_info(|| WidgetInfo {
        selected: Some(is_present),
        ..WidgetInfo::labeled(Role::Button, is_possible, name_of(row, position))
    });
    let (tip, _) = in_words(row, position, palette);
    ui.ctx()
        .accesskit_node_builder(button.id, |node| node.set_description(tip));
    painter.asks(&button, SessionAction::SetSwitch(row.switch, index as u8));
    button.contains_pointer()
}

/// What the position under the pointer does, or why it is unavailable; without one, why each
/// unavailable position is.
fn show_said(painter: &WidgetPainter, ui: &mut Ui, lab: &Lab, over: Option<(&SwitchRow, &Choice)>) {
    let palette = &painter.palette;
    let width = ui.available_width();
    let written =
        |text: &str, colour| paragraph(painter, text, regular(13.5), colour, width, SAID_LINES);
    let all = lab.switches.iter();
    let all = all.flat_map(|row| row.positions.iter().map(move |position| (row, position)));
    let refused: Vec<_> = all.filter(|(_, it)| it.unavailable.is_some()).collect();
    let text = if let Some((row, position)) = over {
        let (text, colour) = in_words(row, position, palette);
        written(&text, colour)
    } else if refused.is_empty() {
        let text = tr!("Click a setting, or press its key for the next one");
        written(text, palette.label)
    } else {
        let reasons = refused.iter().map(|(row, it)| in_words(row, it, palette).0);
        let whole = written(&reasons.collect::<Vec<_>>().join("\n"), palette.accent);
        if whole.elided {
            let names = refused.iter().map(|(row, it)| name_of(row, it));
            let names = names.collect::<Vec<_>>().join(", ");
            let text = tr!("Unavailable: {names}; click one for the reason");
            written(&text, palette.accent)
        } else {
            whole
        }
    };
    ui.label(text);
}

/// A position with its switch: `streams batch`.
fn name_of(row: &SwitchRow, position: &Choice) -> String {
    format!("{} {}", row.switch.name(), position.label)
}

fn in_words(row: &SwitchRow, position: &Choice, palette: &Palette<Color32>) -> (String, Color32) {
    let name = name_of(row, position);
    match &position.unavailable {
        None => (format!("{name}: {}", position.effect), palette.value),
        Some(why) => (tr!("{name} is unavailable: {why}"), palette.accent),
    }
}

/// The calls, remarks dimmed, in type that cuts no line; at first those of a round are seen, if not all
/// have room.
fn show_code(ui: &mut Ui, palette: &Palette<Color32>, code: &[String]) {
    let longest = code.iter().map(|line| lang::columns(line)).max();
    let room = ui.available_width() - 8.0;
    let size = (room / (longest.unwrap_or(1).max(40) as f32 * LETTER)).min(CODE);
    ui.spacing_mut().item_spacing.y = 0.0;
    let salt = "calls";
    let mut area = ScrollArea::vertical().id_salt(salt).auto_shrink(false);
    if State::load(ui.ctx(), ui.make_persistent_id(egui::IdSalt::new(salt))).is_none() {
        let round = code.iter().position(|line| line == each_round());
        area = area.vertical_scroll_offset(round.unwrap_or(0) as f32 * LEADING * size);
    }
    area.show_rows(ui, LEADING * size, code.len(), |ui, rows| {
        for line in &code[rows] {
            let is_remark = line.trim_start().starts_with("//");
            let colour = if is_remark {
                palette.faint
            } else {
                palette.value
            };
            let line = RichText::new(line)
                .font(FontId::monospace(size))
                .color(colour);
            ui.allocate_ui(vec2(room, LEADING * size), |ui| {
                ui.set_min_height(LEADING * size);
                if !line.is_empty() {
                    ui.add(Label::new(line).extend());
                }
            });
        }
    });
}
