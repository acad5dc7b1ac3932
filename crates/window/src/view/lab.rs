//! The lab: the switches with their positions, and the calls that the present ones make. `ui::lab` has
//! the switches and the code.

use egui::*;

use crate::view::style::*;
use lang::tr;
use session::SessionAction;
use ui::ViewAction;
use ui::lab::{Lab, SwitchRow};

/// The height of a row, and the room at its beginning of the key and the name, and of the key alone.
const ROW: f32 = 22.0;
const NAMES: f32 = 115.0;
const KEYS: f32 = 27.0;

/// Shows the lab in its rectangle.
pub(crate) fn show(ui: &mut Ui, lab: &Lab, rect: Rect) {
    let palette = palette(ui);
    side_panel(ui, rect, tr!("Lab"), ViewAction::ToggleLab, |ui| {
        ui.spacing_mut().item_spacing = vec2(3.0, 3.0);
        ui.spacing_mut().button_padding = vec2(1.0, 1.0);
        ui.spacing_mut().interact_size.y = ROW;
        chosen_have_the_accent(ui);
        for (name, values) in &lab.values {
            show_row(ui, "", name, |ui| {
                ui.spacing_mut().item_spacing.x = 12.0;
                for (settings, value) in values {
                    let text = RichText::new(value).font(medium(14.5)).underline();
                    let button = ui.add(Button::new(text).frame_when_inactive(false));
                    let name = format!("{}: {value}", settings[0].title());
                    let button = button.accessible_name(name);
                    requests(&button, UiRequest::Change(settings, button.rect));
                    tip(button, || tr!("click to change it"));
                }
            });
        }
        for row in &lab.switches {
            show_row(ui, row.switch.key(), row.switch.name(), |ui| {
                let count = row.positions.len();
                let width = ui.available_width() / count as f32 - 3.0;
                (0..count).for_each(|at| show_position(ui, row, at, width));
            });
        }
        // The first of those that are struck out; the others say why in their tips.
        let refused = lab.switches.iter().find_map(|row| {
            let mut positions = row.positions.iter();
            let it = positions.find(|it| it.unavailable.is_some())?;
            let name = format!("{} {}", row.switch.name(), it.label);
            Some((name, it.unavailable.as_ref()?))
        });
        let text = match refused {
            None => RichText::new(tr!("Click a setting, or press its key for the next one")),
            Some((name, why)) => {
                RichText::new(tr!("{name} is unavailable: {why}")).color(palette.accent)
            }
        };
        ui.label(text.font(regular(13.5)));
        let card = Frame::new().fill(palette.code_background).corner_radius(4);
        card.inner_margin(Margin::symmetric(8, 6)).show(ui, |ui| {
            let calls = ScrollArea::vertical().auto_shrink(false);
            calls.show(ui, |ui| show_calls(ui, &lab.calls));
        });
    });
}

/// Shows a row: a key and a name, and beside them what wraps into as many lines as it takes.
fn show_row(ui: &mut Ui, key: &str, name: &str, contents: impl FnOnce(&mut Ui)) {
    ui.horizontal_top(|ui| {
        let middle = Layout::left_to_right(Align::Center);
        ui.allocate_ui_with_layout(vec2(NAMES, ROW), middle, |ui| {
            ui.set_min_width(NAMES);
            let (font, begin) = (regular(14.5), ui.max_rect().left());
            if !key.is_empty() {
                ui.label(styled(key, font.clone(), palette(ui).accent));
            }
            ui.add_space(begin + KEYS - ui.cursor().left());
            truncated(ui, RichText::new(name).font(font));
        });
        ui.horizontal_wrapped(contents);
    });
}

/// A position, in a button of this width: a click chooses it, and its tip says what it does or why it is
/// unavailable.
fn show_position(ui: &mut Ui, row: &SwitchRow, index: usize, width: f32) {
    let (palette, position) = (palette(ui), &row.positions[index]);
    let is_possible = position.unavailable.is_none();
    let is_present = index == row.present;
    let mut text = RichText::new(&position.label).font(regular(13.0));
    if !is_possible {
        // Struck out too: grey alone is not seen from everywhere.
        text = text.strikethrough();
        if !is_present {
            text = text.color(palette.faint);
        }
    }
    let button = ui.add_sized([width, ROW], Button::new(text).selected(is_present));
    let name = || format!("{} {}", row.switch.name(), position.label);
    let role = accesskit::Role::Button;
    button.widget_info(|| WidgetInfo::selected(role, is_possible, is_present, name()));
    asks(&button, SessionAction::SetSwitch(row.switch, index as u8));
    tip(button, || match &position.unavailable {
        None => format!("{}: {}", name(), position.effect),
        Some(why) => tr!("{name} is unavailable: {why}", name = name()),
    });
}

/// The calls, remarks dimmed.
fn show_calls(ui: &mut Ui, calls: &[String]) {
    let remark = palette(ui).faint;
    // In type in which no line is cut.
    let longest = calls.iter().map(|line| line.len()).max().unwrap_or(1);
    let font = 12f32.min(ui.available_width() / (LETTER * longest as f32));
    let kind = |line: &String| (line.is_empty(), line.trim_start().starts_with("//"));
    ui.spacing_mut().item_spacing.y = 0.0;
    // Where there is no room for all, each other listing opens at what is called in each round.
    let is_new = ui.data_mut(|data| {
        let shown: &mut Vec<String> = data.get_temp_mut_or_default(Id::unique("calls"));
        let is_new = shown != calls;
        if is_new {
            *shown = calls.to_vec();
        }
        is_new
    });
    // As few labels as there can be: dozens of them cost more than one.
    for lines in calls.chunk_by(|a, b| kind(a) == kind(b)) {
        let text = RichText::new(lines.join("\n")).font(FontId::monospace(font));
        match kind(&lines[0]) {
            (true, _) => ui.add_space(8.0),
            (_, true) => {
                let label = ui.label(text.color(remark));
                if is_new && lines[0] == tr!("// each round") {
                    label.scroll_to_me(Some(Align::TOP));
                }
            }
            _ => _ = ui.label(text),
        }
    }
}
