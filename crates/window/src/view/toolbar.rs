//! The toolbar above the panels: a button for each main job (the screen says which), and at its end
//! what the mouse is over and how large the selection is. Everything else that a mouse can do is in
//! the menu.

use egui::{Align2, Color32, Rect, Shape, Stroke, StrokeKind, pos2, vec2};

use crate::view::Frame;
use crate::view::hud::style::*;
use crate::view::widget_painter::{Spoken, WidgetPainter};
use lang::tr;
use session::{SessionAction, Switch};
use ui::{Action, Command, EditAction, TOOLBAR_BUTTONS, ToolbarButton, ViewAction};

/// Its height, in units of type.
pub(crate) const HEIGHT: f32 = 44.0;
/// A button's width with its label below the icon, and without a label.
const LABELLED: f32 = 57.0;
const UNLABELLED: f32 = 36.0;
const PAD: f32 = 8.0;

#[derive(Clone, Copy)]
enum Icon {
    Run,
    Pause,
    Back,
    Step,
    Slower,
    Faster,
    Kernel,
    Streams,
    Timeline,
    Lab,
    Lessons,
    Draw,
    Select,
    Undo,
    Redo,
    Patterns,
    Fill,
    Clear,
    Record,
    Stop,
    Help,
}

/// The icon of what a button does now.
fn icon_of(command: &Command) -> Option<Icon> {
    let is_on = command.is_on == Some(true);
    Some(match command.action {
        Action::Session(SessionAction::TogglePause) if is_on => Icon::Pause,
        Action::Session(SessionAction::TogglePause) => Icon::Run,
        Action::Session(SessionAction::StepBack) => Icon::Back,
        Action::Session(SessionAction::StepGeneration) => Icon::Step,
        Action::Session(SessionAction::Slower) => Icon::Slower,
        Action::Session(SessionAction::Faster) => Icon::Faster,
        Action::Session(SessionAction::NextKernel) => Icon::Kernel,
        Action::Session(SessionAction::CycleSwitch(Switch::Streams)) => Icon::Streams,
        Action::Session(SessionAction::Undo) => Icon::Undo,
        Action::Session(SessionAction::Redo) => Icon::Redo,
        Action::View(ViewAction::ToggleTimeline) => Icon::Timeline,
        Action::View(ViewAction::ToggleLab) => Icon::Lab,
        Action::View(ViewAction::ToggleLessons) => Icon::Lessons,
        Action::View(ViewAction::ToggleRecording) if is_on => Icon::Stop,
        Action::View(ViewAction::ToggleRecording) => Icon::Record,
        Action::View(ViewAction::ToggleHelp) => Icon::Help,
        Action::Edit(EditAction::TogglePencil) => Icon::Draw,
        Action::Edit(EditAction::ToggleAreaSelection) => Icon::Select,
        Action::Edit(EditAction::ToggleShelf) => Icon::Patterns,
        Action::Edit(EditAction::FillRandomly) => Icon::Fill,
        Action::Edit(EditAction::ClearSelection) => Icon::Clear,
        _ => return None,
    })
}

/// The least width of a toolbar, in units of type.
pub(crate) const MIN_WIDTH: f32 = TOOLBAR_BUTTONS as f32 * UNLABELLED + 2.0 * PAD;

/// Paints the toolbar into its rectangle, `unit` pixels per unit.
pub(crate) fn paint(painter: &WidgetPainter, frame: &Frame<'_>, rect: Rect, unit: f32) {
    let line = (unit.max(1.0), painter.palette.rule);
    painter.rect_filled(rect, 0.0, painter.palette.background);
    painter.hline(rect.x_range(), rect.bottom() - 0.5 * unit, line);
    let buttons = frame
        .screen
        .toolbar
        .as_deref()
        .map_or(&[][..], Vec::as_slice);
    let inside = rect.shrink2(vec2(PAD, 3.0) * unit);
    let width = button_width(inside.width(), unit, buttons.len());
    let is_labelled = width == LABELLED * unit;
    let x = inside.left() + buttons.len() as f32 * width;
    for (index, ToolbarButton { label, command }) in buttons.iter().enumerate() {
        let place = button_place(inside, width, index).shrink2(vec2(1.5 * unit, 0.0));
        let text_colour = paint_background(painter, place, unit, command);
        let middle = if is_labelled {
            place.center_top() + vec2(0.0, 12.5 * unit)
        } else {
            place.center()
        };
        let square = Rect::from_center_size(middle, vec2(15.0, 15.0) * unit);
        if let Some(icon) = icon_of(command) {
            paint_icon(painter, square, icon, text_colour);
        }
        if is_labelled {
            let label = fitted(
                painter,
                label,
                regular(11.5 * unit),
                text_colour,
                place.width(),
            );
            let foot = place.center_bottom() - vec2(0.0, 1.0 * unit);
            put(painter, foot, Align2::CENTER_BOTTOM, label);
        }
    }
    let room = Rect::from_min_max(pos2(x + 8.0 * unit, inside.top()), inside.max);
    let galley = |text: &String| {
        let font = regular(13.0 * unit);
        fitted(painter, text, font, painter.palette.label, room.width())
    };
    let mut texts = under_pointer(frame)
        .into_iter()
        .map(|text| (galley(&text), text));
    // The longest that is there whole.
    if let Some((text, _)) = texts.find(|(galley, text)| galley.text() == text) {
        put(painter, room.right_center(), Align2::RIGHT_CENTER, text);
    }
}

/// A button's width: that of one with a label where so many fit, else that of one without.
fn button_width(room: f32, unit: f32, count: usize) -> f32 {
    if count as f32 * LABELLED * unit <= room {
        LABELLED * unit
    } else {
        UNLABELLED * unit
    }
}

/// The place of the button with this number from the left.
fn button_place(inside: Rect, width: f32, index: usize) -> Rect {
    let left = inside.left() + index as f32 * width;
    Rect::from_min_size(pos2(left, inside.top()), vec2(width, inside.height()))
}

/// Paints a button's background and takes its clicks; returns the colour of what stands on it.
fn paint_background(painter: &WidgetPainter, place: Rect, unit: f32, command: &Command) -> Color32 {
    let does = || format!("{} ({})", command.text, command.keys);
    let tip = command.unavailable.clone().unwrap_or_else(does);
    let spoken = Spoken::new(&command.text, &tip)
        .possible(command.unavailable.is_none())
        .on(command.is_on);
    let is_over = painter.button(place, &spoken, command.action);
    // Run and Pause are two signs of one button: neither is lit.
    let is_on = command.action != Action::Session(SessionAction::TogglePause)
        && command.is_on == Some(true);
    let (background, text_colour) = match (is_on, &command.unavailable, is_over) {
        (_, Some(_), _) => (
            painter.palette.background,
            painter.palette.label.gamma_multiply(0.75),
        ),
        (true, None, _) => (painter.palette.accent, painter.palette.on_accent),
        (false, None, true) => (painter.palette.rule, painter.palette.value),
        (false, None, false) => (painter.palette.background, painter.palette.label),
    };
    painter.rect_filled(place, 5.0 * unit, background);
    text_colour
}

/// Paints an icon into a square.
fn paint_icon(painter: &WidgetPainter, square: Rect, icon: Icon, text_colour: Color32) {
    let side = square.width();
    let at = |x: f32, y: f32| square.min + vec2(x, y) * side;
    let stroke = Stroke::new((0.1 * side).max(1.0), text_colour);
    let line = |points: &[[f32; 2]]| {
        let points = points.iter().map(|&[x, y]| at(x, y)).collect();
        painter.add(Shape::line(points, stroke));
    };
    let bar = |[x, y]: [f32; 2], [width, height]: [f32; 2]| {
        let rect = Rect::from_min_size(at(x, y), vec2(width, height) * side);
        painter.rect_filled(rect, 0.0, text_colour);
    };
    let triangle = |corners: [[f32; 2]; 3]| {
        let corners = corners.iter().map(|&[x, y]| at(x, y)).collect();
        painter.add(Shape::convex_polygon(corners, text_colour, Stroke::NONE));
    };
    match icon {
        Icon::Run => triangle([[0.15, 0.0], [0.95, 0.5], [0.15, 1.0]]),
        Icon::Pause => {
            bar([0.12, 0.02], [0.26, 0.96]);
            bar([0.62, 0.02], [0.26, 0.96]);
        }
        Icon::Back => {
            bar([0.08, 0.05], [0.14, 0.9]);
            triangle([[0.95, 0.05], [0.95, 0.95], [0.3, 0.5]]);
        }
        Icon::Step => {
            bar([0.78, 0.05], [0.14, 0.9]);
            triangle([[0.05, 0.05], [0.7, 0.5], [0.05, 0.95]]);
        }
        Icon::Slower => bar([0.08, 0.42], [0.84, 0.16]),
        Icon::Faster => {
            bar([0.08, 0.42], [0.84, 0.16]);
            bar([0.42, 0.08], [0.16, 0.84]);
        }
        // A chip with its legs.
        Icon::Kernel => {
            let chip = Rect::from_min_max(at(0.22, 0.22), at(0.78, 0.78));
            painter.rect_stroke(chip, 0.0, stroke, StrokeKind::Middle);
            for place in [0.36, 0.64] {
                line(&[[place, 0.0], [place, 0.18]]);
                line(&[[place, 0.82], [place, 1.0]]);
                line(&[[0.0, place], [0.18, place]]);
                line(&[[0.82, place], [1.0, place]]);
            }
        }
        Icon::Streams => {
            for y in [0.14, 0.5, 0.86] {
                line(&[[0.0, y], [0.85, y]]);
                triangle([[0.78, y - 0.13], [1.0, y], [0.78, y + 0.13]]);
            }
        }
        Icon::Timeline => {
            bar([0.0, 0.06], [0.55, 0.2]);
            bar([0.22, 0.4], [0.55, 0.2]);
            bar([0.45, 0.74], [0.55, 0.2]);
        }
        // A flask.
        Icon::Lab => {
            line(&[
                [0.38, 0.0],
                [0.38, 0.36],
                [0.06, 0.94],
                [0.94, 0.94],
                [0.62, 0.36],
                [0.62, 0.0],
            ]);
            line(&[[0.28, 0.04], [0.72, 0.04]]);
            line(&[[0.24, 0.64], [0.76, 0.64]]);
        }
        // An open book.
        Icon::Lessons => {
            line(&[[0.5, 0.2], [0.5, 0.95]]);
            line(&[[0.5, 0.2], [0.02, 0.08], [0.02, 0.83], [0.5, 0.95]]);
            line(&[[0.5, 0.2], [0.98, 0.08], [0.98, 0.83], [0.5, 0.95]]);
        }
        // A pencil.
        Icon::Draw => {
            line(&[
                [0.72, 0.04],
                [0.96, 0.28],
                [0.3, 0.94],
                [0.04, 0.96],
                [0.06, 0.7],
                [0.72, 0.04],
            ]);
            line(&[[0.56, 0.2], [0.8, 0.44]]);
        }
        // A dashed frame: two dashes a side and its corners.
        Icon::Select => {
            for corner in [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]] {
                let [x, y]: [f32; 2] = corner;
                let inward = |at: f32| if at == 0.0 { 0.26 } else { 0.74 };
                line(&[[inward(x), y], [x, y], [x, inward(y)]]);
            }
            for middle in [[0.5, 0.0], [0.5, 1.0]] {
                let [x, y]: [f32; 2] = middle;
                line(&[[x - 0.09, y], [x + 0.09, y]]);
                line(&[[y, x - 0.09], [y, x + 0.09]]);
            }
        }
        // An arrow that turns back, and one that turns on.
        Icon::Undo | Icon::Redo => {
            let turned = |x: f32| {
                if matches!(icon, Icon::Undo) {
                    x
                } else {
                    1.0 - x
                }
            };
            let round = [
                [0.2, 0.34],
                [0.62, 0.34],
                [0.82, 0.42],
                [0.92, 0.62],
                [0.82, 0.82],
                [0.62, 0.9],
                [0.3, 0.9],
            ];
            line(&round.map(|[x, y]| [turned(x), y]));
            let head = [[0.0, 0.34], [0.34, 0.06], [0.34, 0.62]];
            triangle(head.map(|[x, y]| [turned(x), y]));
        }
        // A glider.
        Icon::Patterns => {
            for [x, y] in [[1, 0], [2, 1], [0, 2], [1, 2], [2, 2]] {
                let at = [x, y].map(|place| 0.02 + 0.34 * place as f32);
                bar(at, [0.28, 0.28]);
            }
        }
        // Cells at random.
        Icon::Fill => {
            let cells = [
                [0, 0],
                [2, 0],
                [3, 1],
                [1, 1],
                [0, 2],
                [2, 3],
                [3, 3],
                [1, 3],
            ];
            for [x, y] in cells {
                let at = [x, y].map(|place| 0.02 + 0.25 * place as f32);
                bar(at, [0.2, 0.2]);
            }
        }
        Icon::Clear => {
            line(&[[0.12, 0.12], [0.88, 0.88]]);
            line(&[[0.88, 0.12], [0.12, 0.88]]);
        }
        Icon::Stop => bar([0.1, 0.1], [0.8, 0.8]),
        Icon::Record => {
            painter.circle_filled(square.center(), 0.46 * side, text_colour);
        }
        Icon::Help => {
            let font = medium(1.35 * side);
            painter.text(
                square.center(),
                Align2::CENTER_CENTER,
                "?",
                font,
                text_colour,
            );
        }
    }
}

/// The cell under the pointer and the selection's size, in ever fewer words; none where there is
/// neither.
fn under_pointer(frame: &Frame<'_>) -> Vec<String> {
    let cell = frame.edit_overlay.pointed.map(|(instance, [x, y])| {
        let long = tr!("instance {instance} · column {x} · row {y}");
        (long, format!("{x}, {y}"))
    });
    let selection = frame.edit_overlay.selection.map(|(_, area)| {
        let size = area.size;
        (tr!("selection {size}"), size.to_string())
    });
    let both = |parts: [Option<String>; 2]| {
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        parts.join(" · ")
    };
    let (cell_long, cell_short) = cell.unzip();
    let (selection_long, selection_short) = selection.unzip();
    let texts = [
        both([cell_long.clone(), selection_long]),
        both([cell_long, selection_short.clone()]),
        both([cell_short.clone(), selection_short]),
        cell_short.unwrap_or_default(),
    ];
    texts.into_iter().filter(|text| !text.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ui::fixtures::status;
    use ui::{Drawing, Population, Screen, Sources, Tool, ViewOptions, WindowFacts};

    #[test]
    fn every_button_has_an_icon_whatever_the_tool() {
        let status = status(4, life::Size::new(64, 64).unwrap());
        for tool in [Tool::Hand, Tool::Pencil, Tool::Selection] {
            let window = Some(WindowFacts {
                tool,
                ..WindowFacts::default()
            });
            let screen = Screen::of(Sources {
                status: Some(&status),
                options: &ViewOptions::default(),
                drawing: &Drawing::default(),
                population: &Population::default(),
                timeline: &Default::default(),
                lesson: None,
                window,
            });
            let buttons = screen.toolbar.unwrap();
            assert_eq!(buttons.len(), TOOLBAR_BUTTONS);
            for button in buttons.iter() {
                assert!(icon_of(&button.command).is_some(), "{button:?}");
            }
        }
    }
}
