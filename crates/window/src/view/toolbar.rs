//! The toolbar above the panels: a button for each main job, and at its end
//! what the mouse is over and how large the selection is. Everything else that a mouse can do is in
//! the menu.

use egui::*;

use crate::view::style::*;
use lang::tr;
use session::{SessionAction, Switch};
use ui::figures::{KERNEL, STREAMS};
use ui::{Action, App, EditAction, Tool, ViewAction};

/// Its height, in points.
pub(crate) const HEIGHT: f32 = 44.0;
/// A button's width with its label below the icon, and without a label.
const LABELLED: f32 = 57.0;
const UNLABELLED: f32 = 36.0;
const PAD: f32 = 8.0;

/// Icons, as parts in a square of 16 by 16: `l` is a line through the points that follow, `f` a filled
/// convex shape, `b` a bar's corner and size, `d` a dot's radius.
pub(crate) const RUN: &str = "f 2 0 15 8 2 16";
pub(crate) const PAUSE: &str = "b 2 .5 4 15 b 10 .5 4 15";
pub(crate) const STOP: &str = "b 1.5 1.5 13 13";
/// A chip with its legs.
const CHIP: &str = "l 4 4 12 4 12 12 4 12 4 4 l 6 0 6 3 l 10 0 10 3 l 6 13 6 16 l 10 13 10 16 \
                      l 0 6 3 6 l 0 10 3 10 l 13 6 16 6 l 13 10 16 10";
const ARROWS: &str = "l 0 2 13 2 f 12 0 16 2 12 4 l 0 8 13 8 f 12 6 16 8 12 10 \
                       l 0 14 13 14 f 12 12 16 14 12 16";
/// A flask, an open book and a pencil.
const LAB: &str = "l 6 0 6 6 1 15 15 15 10 6 10 0 l 4.5 .5 11.5 .5 l 4 10 12 10";
const LESSONS: &str = "l 8 3 8 15 l 8 3 .5 1 .5 13 8 15 l 8 3 15.5 1 15.5 13 8 15";
const DRAW: &str = "l 11.5 .5 15.5 4.5 5 15 .5 15.5 1 11 11.5 .5 l 9 3 13 7";
/// A dashed frame.
const SELECT: &str = "l 4 0 0 0 0 4 l 12 0 16 0 16 4 l 4 16 0 16 0 12 l 12 16 16 16 16 12 \
                      l 6.5 0 9.5 0 l 6.5 16 9.5 16 l 0 6.5 0 9.5 l 16 6.5 16 9.5";
const UNDO: &str = "l 3 5.5 10 5.5 13 6.5 14.5 10 13 13 10 14.5 5 14.5 f 0 5.5 5.5 1 5.5 10";
const REDO: &str = "l 13 5.5 6 5.5 3 6.5 1.5 10 3 13 6 14.5 11 14.5 f 16 5.5 10.5 1 10.5 10";
/// A glider, and cells at random.
const PATTERNS: &str =
    "b 6 .5 4.5 4.5 b 11 6 4.5 4.5 b .5 11 4.5 4.5 b 6 11 4.5 4.5 b 11 11 4.5 4.5";
const FILL: &str = "b .5 .5 3 3 b 8.5 .5 3 3 b 12.5 4.5 3 3 b 4.5 4.5 3 3 b .5 8.5 3 3 \
                    b 8.5 12.5 3 3 b 12.5 12.5 3 3 b 4.5 12.5 3 3";
/// A question mark.
const HELP: &str = "l 4 5 4.5 2.5 8 1 11.5 2.5 12 5 8 8.5 8 11 b 7 13.5 2 2";

/// How many buttons there are, whatever they are.
const BUTTONS: usize = 14;

/// A button: what a click does, and what stands on it.
type Face = (Action, &'static str, String);

fn button(action: impl Into<Action>, icon: &'static str, label: &str) -> Face {
    (action.into(), icon, label.into())
}

/// The buttons, from the left. While cells are edited, those in the middle are for cells; the others stay
/// where they are. While the window is recorded, that button stops it, and says for how long it has been.
fn buttons(it: &App) -> Vec<Face> {
    use EditAction::*;
    use SessionAction::*;
    use ViewAction::*;
    let runs = it.status.as_ref().is_some_and(|it| it.clock.running);
    let mut buttons = vec![
        if runs {
            button(TogglePause, PAUSE, tr!("Pause"))
        } else {
            button(TogglePause, RUN, tr!("Run"))
        },
        button(StepBack, "b 1 1 2 14 f 15 1 15 15 5 8", tr!("Back")),
        button(StepGeneration, "b 13 1 2 14 f 1 1 11 8 1 15", tr!("Step")),
        button(Slower, "b 1 7 14 2", tr!("Slower")),
        button(Faster, "b 1 7 14 2 b 7 1 2 14", tr!("Faster")),
    ];
    let overlay = &it.edit_overlay;
    buttons.extend(if overlay.tool != Tool::Hand || overlay.ghost.is_some() {
        [
            button(Undo, UNDO, tr!("Undo")),
            button(Redo, REDO, tr!("Redo")),
            button(ToggleShelf, PATTERNS, tr!("Patterns")),
            button(FillRandomly, FILL, tr!("Fill")),
            button(ClearSelection, "l 2 2 14 14 l 14 2 2 14", tr!("Clear")),
        ]
    } else {
        let timeline = "b 0 1 9 3 b 3.5 6.5 9 3 b 7 12 9 3";
        [
            button(NextKernel, CHIP, tr!("Kernel")),
            button(CycleSwitch(Switch::Streams), ARROWS, tr!("Streams")),
            button(ToggleTimeline, timeline, tr!("Timeline")),
            button(ToggleLab, LAB, tr!("Lab")),
            button(ToggleLessons, LESSONS, tr!("Lessons")),
        ]
    });
    buttons.extend([
        button(TogglePencil, DRAW, tr!("Draw")),
        button(ToggleAreaSelection, SELECT, tr!("Select")),
        match it.drawing.recording.map(|lasted| lasted.as_secs()) {
            None => button(ToggleRecording, "d 7", tr!("Record")),
            Some(seconds) => {
                let clock = format!("{}:{:02}", seconds / 60, seconds % 60);
                button(ToggleRecording, STOP, &tr!("Stop {clock}"))
            }
        },
        button(ToggleHelp, HELP, tr!("Help")),
    ]);
    buttons
}

/// The least width of a toolbar, in points.
pub(crate) const MIN_WIDTH: f32 = BUTTONS as f32 * UNLABELLED + 2.0 * PAD;

/// Shows the toolbar in its rectangle.
pub(crate) fn show(ui: &mut Ui, app: &App, rect: Rect) {
    let (palette, painter) = (palette(ui), ui.painter());
    painter.hline(rect.x_range(), rect.bottom() - 0.5, (1.0, palette.rule));
    lay_out(ui, rect.shrink2(vec2(PAD, 3.0)), "toolbar", |ui| {
        chosen_have_the_accent(ui);
        ui.spacing_mut().item_spacing.x = 3.0;
        ui.spacing_mut().button_padding = vec2(0.0, 0.0);
        let [at_rest, ..] = usable(ui);
        at_rest.fg_stroke.color = palette.label;
        for widget in usable(ui) {
            widget.bg_stroke = Stroke::NONE;
        }
        let has_labels = BUTTONS as f32 * LABELLED <= ui.available_width();
        ui.horizontal(|ui| {
            for (action, sign, label) in buttons(app) {
                let face = face(sign, has_labels.then_some(label));
                show_button(ui, app, action, face);
            }
            let text = under_pointer(app);
            if !text.is_empty() {
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    truncated(ui, RichText::new(text).small());
                });
            }
        });
    });
}

/// An icon in the colour of what it stands on.
pub(crate) fn icon(parts: &'static str, side: f32) -> Atom<'static> {
    Atom::paint(vec2(side, side), move |ui, face| {
        paint_icon(ui.painter(), face.rect, parts, face.fallback_text_color);
    })
}

/// What stands on a button, in its colour: an icon, above its label if there is room for it.
fn face(parts: &'static str, label: Option<String>) -> Atom<'static> {
    let (width, up) = match label {
        Some(_) => (LABELLED, 6.5),
        None => (UNLABELLED, 0.0),
    };
    Atom::paint(vec2(width - 3.0, HEIGHT - 6.0), move |ui, face| {
        let (all, colour) = (face.rect, face.fallback_text_color);
        let square = Rect::from_center_size(all.center() - vec2(0.0, up), vec2(15.0, 15.0));
        paint_icon(ui.painter(), square, parts, colour);
        if let Some(label) = &label {
            let foot = all.center_bottom() - vec2(0.0, 1.0);
            let painter = ui.painter();
            painter.text(foot, Align2::CENTER_BOTTOM, label, regular(11.5), colour);
        }
    })
}

fn show_button(ui: &mut Ui, app: &App, action: Action, face: Atom<'_>) {
    let Some(row) = action.row() else { return };
    let unavailable = action.unavailable(app);
    let state = row.is_on(app);
    // Run and Pause are two signs of one button: neither is lit.
    let is_lit = action != SessionAction::TogglePause.into() && state == Some(true);
    let mut button = Button::new(face).frame_when_inactive(is_lit);
    // What has a state says it: what has none is no toggle.
    if state.is_some() {
        button = button.selected(is_lit);
    }
    let button = ui.add_enabled(unavailable.is_none(), button);
    // What has many positions shows them, as its figure does.
    let mut choices = [KERNEL, STREAMS].into_iter();
    let choices = choices.find(|it| row.setting == Some(it[0]));
    button.widget_info(|| WidgetInfo {
        selected: state,
        ..WidgetInfo::labeled(accesskit::Role::Button, unavailable.is_none(), row.help())
    });
    match choices {
        Some(choices) => requests(&button, UiRequest::Change(choices, button.rect)),
        None => asks(&button, action),
    }
    tip(button, || match &unavailable {
        Some(why) => why.clone(),
        None => format!("{} ({})", row.help(), row.keys()),
    });
}

fn paint_icon(painter: &Painter, square: Rect, parts: &str, colour: Color32) {
    let scale = square.width() / 16.0;
    let words: Vec<&str> = parts.split_whitespace().collect();
    for part in words.chunk_by(|_, next| !next.starts_with(char::is_alphabetic)) {
        let numbers: Vec<f32> = part.iter().filter_map(|it| it.parse().ok()).collect();
        let at = |point: &[f32]| square.min + vec2(point[0], point[1]) * scale;
        let points = || numbers.chunks_exact(2).map(at).collect();
        painter.add(match part[0] {
            "l" => Shape::line(points(), Stroke::new(1.6 * scale, colour)),
            "f" => Shape::convex_polygon(points(), colour, Stroke::NONE),
            "b" => {
                let size = vec2(numbers[2], numbers[3]) * scale;
                Shape::rect_filled(Rect::from_min_size(at(&numbers), size), 0.0, colour)
            }
            _ => Shape::circle_filled(square.center(), numbers[0] * scale, colour),
        });
    }
}

/// The cell under the pointer and the selection's size; empty where there is neither.
fn under_pointer(it: &App) -> String {
    let overlay = &it.edit_overlay;
    let cell = overlay.pointed;
    let cell = cell.map(|(instance, [x, y])| tr!("instance {instance} · column {x} · row {y}"));
    let area = overlay
        .selection
        .map(|(_, area)| tr!("selection {size}", size = area.size));
    Vec::from_iter(cell.into_iter().chain(area)).join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::gallery::with_screen;

    #[test]
    fn while_the_window_is_recorded_its_button_says_for_how_long() {
        let buttons = with_screen("pencil", |frame| buttons(frame.app));
        assert_eq!(buttons[12].2, "Stop 1:15");
    }
}
