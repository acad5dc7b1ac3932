//! The toolbar above the panels: a button for each main job, and at its end
//! what the mouse is over and how large the selection is. Everything else that a mouse can do is in
//! the menu.

use std::borrow::Cow;

use egui::{Align2, Color32, Rect, Shape, Stroke, StrokeKind, pos2, vec2};

use crate::view::Frame;
use crate::view::hud::style::*;
use crate::view::widget_painter::{Spoken, WidgetPainter};
use lang::tr;
use session::{SessionAction, Switch};
use ui::{Action, EditAction, Sources, Tool, ViewAction};

/// Its height, in points.
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

/// How many buttons there are, whatever they are.
const BUTTONS: usize = 14;

/// The buttons, from the left: what a click does, and what stands on them. While cells are edited, those
/// in the middle are for cells; the others stay where they are. While the window is recorded, that button
/// stops it, and says for how long it has been.
fn buttons(it: &Sources<'_>) -> [(Action, Icon, Cow<'static, str>); BUTTONS] {
    use SessionAction::*;
    let session = |action: SessionAction, icon, label| (action.into(), icon, Cow::Borrowed(label));
    let view = |action: ViewAction, icon, label| (action.into(), icon, Cow::Borrowed(label));
    let edit = |action: EditAction, icon, label| (action.into(), icon, Cow::Borrowed(label));
    let (icon, label) = if it.status.is_some_and(|status| status.clock.running) {
        (Icon::Pause, tr!("Pause"))
    } else {
        (Icon::Run, tr!("Run"))
    };
    let run = session(TogglePause, icon, label);
    let is_editing = it
        .window
        .is_some_and(|window| window.tool != Tool::Hand || window.is_pasting);
    let middle = if is_editing {
        [
            session(Undo, Icon::Undo, tr!("Undo")),
            session(Redo, Icon::Redo, tr!("Redo")),
            edit(EditAction::ToggleShelf, Icon::Patterns, tr!("Patterns")),
            edit(EditAction::FillRandomly, Icon::Fill, tr!("Fill")),
            edit(EditAction::ClearSelection, Icon::Clear, tr!("Clear")),
        ]
    } else {
        let streams = CycleSwitch(Switch::Streams);
        [
            session(NextKernel, Icon::Kernel, tr!("Kernel")),
            session(streams, Icon::Streams, tr!("Streams")),
            view(ViewAction::ToggleTimeline, Icon::Timeline, tr!("Timeline")),
            view(ViewAction::ToggleLab, Icon::Lab, tr!("Lab")),
            view(ViewAction::ToggleLessons, Icon::Lessons, tr!("Lessons")),
        ]
    };
    let (icon, label) = match it.drawing.recording.map(|lasted| lasted.as_secs()) {
        None => (Icon::Record, Cow::from(tr!("Record"))),
        Some(seconds) => {
            let clock = format!("{}:{:02}", seconds / 60, seconds % 60);
            (Icon::Stop, tr!("Stop {clock}").into())
        }
    };
    let [a, b, c, d, e] = middle;
    [
        run,
        session(StepBack, Icon::Back, tr!("Back")),
        session(StepGeneration, Icon::Step, tr!("Step")),
        session(Slower, Icon::Slower, tr!("Slower")),
        session(Faster, Icon::Faster, tr!("Faster")),
        a,
        b,
        c,
        d,
        e,
        edit(EditAction::TogglePencil, Icon::Draw, tr!("Draw")),
        edit(EditAction::ToggleAreaSelection, Icon::Select, tr!("Select")),
        (ViewAction::ToggleRecording.into(), icon, label),
        view(ViewAction::ToggleHelp, Icon::Help, tr!("Help")),
    ]
}

/// The least width of a toolbar, in points.
pub(crate) const MIN_WIDTH: f32 = BUTTONS as f32 * UNLABELLED + 2.0 * PAD;

/// Paints the toolbar into its rectangle.
pub(crate) fn paint(painter: &WidgetPainter, frame: &Frame<'_>, rect: Rect) {
    let line = (1.0, painter.palette.rule);
    painter.rect_filled(rect, 0.0, painter.palette.background);
    painter.hline(rect.x_range(), rect.bottom() - 0.5, line);
    let buttons = buttons(&frame.sources);
    let inside = rect.shrink2(vec2(PAD, 3.0));
    let width = button_width(inside.width(), buttons.len());
    let is_labelled = width == LABELLED;
    let x = inside.left() + buttons.len() as f32 * width;
    for (index, (action, icon, label)) in buttons.into_iter().enumerate() {
        let place = button_place(inside, width, index).shrink2(vec2(1.5, 0.0));
        let text_colour = paint_background(painter, frame, place, action);
        let middle = if is_labelled {
            place.center_top() + vec2(0.0, 12.5)
        } else {
            place.center()
        };
        let square = Rect::from_center_size(middle, vec2(15.0, 15.0));
        paint_icon(painter, square, icon, text_colour);
        if is_labelled {
            let label = fitted(painter, &label, regular(11.5), text_colour, place.width());
            let foot = place.center_bottom() - vec2(0.0, 1.0);
            put(painter, foot, Align2::CENTER_BOTTOM, label);
        }
    }
    let room = Rect::from_min_max(pos2(x + 8.0, inside.top()), inside.max);
    let galley = |text: &String| {
        let font = regular(13.0);
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
fn button_width(room: f32, count: usize) -> f32 {
    if count as f32 * LABELLED <= room {
        LABELLED
    } else {
        UNLABELLED
    }
}

/// The place of the button with this number from the left.
fn button_place(inside: Rect, width: f32, index: usize) -> Rect {
    let left = inside.left() + index as f32 * width;
    Rect::from_min_size(pos2(left, inside.top()), vec2(width, inside.height()))
}

/// Paints a button's background and takes its clicks; returns the colour of what stands on it.
fn paint_background(
    painter: &WidgetPainter,
    frame: &Frame<'_>,
    place: Rect,
    action: Action,
) -> Color32 {
    let Some(row) = action.row() else {
        return painter.palette.label;
    };
    let unavailable = action.unavailable(&frame.sources);
    let does = || format!("{} ({})", row.help(), row.keys());
    let tip = unavailable.clone().unwrap_or_else(does);
    let state = row.is_on(&frame.sources);
    let spoken = Spoken::new(row.help(), &tip)
        .possible(unavailable.is_none())
        .on(state);
    let is_over = painter.button(place, &spoken, action);
    // Run and Pause are two signs of one button: neither is lit.
    let is_on = action != Action::Session(SessionAction::TogglePause) && state == Some(true);
    let (background, text_colour) = match (is_on, &unavailable, is_over) {
        (_, Some(_), _) => (
            painter.palette.background,
            painter.palette.label.gamma_multiply(0.75),
        ),
        (true, None, _) => (painter.palette.accent, painter.palette.on_accent),
        (false, None, true) => (painter.palette.rule, painter.palette.value),
        (false, None, false) => (painter.palette.background, painter.palette.label),
    };
    painter.rect_filled(place, 5.0, background);
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
    use std::time::Duration;

    use ui::{Drawing, ViewOptions, WindowFacts};

    fn labels(window: WindowFacts, recording: Option<Duration>) -> Vec<String> {
        let status = ui::fixtures::status(4, life::Size::new(64, 64).unwrap());
        let drawing = Drawing {
            recording,
            ..Drawing::default()
        };
        let buttons = buttons(&Sources {
            drawing: &drawing,
            window: Some(window),
            ..Frame::plain(&status, &ViewOptions::default()).sources
        });
        buttons.map(|(.., label)| label.into_owned()).into()
    }

    #[test]
    fn while_cells_are_edited_undo_and_patterns_are_a_click_away_and_the_pencil_stays() {
        let off = WindowFacts::default();
        let usual = labels(off, None);
        for editing in [
            WindowFacts {
                tool: Tool::Pencil,
                ..off
            },
            WindowFacts {
                tool: Tool::Selection,
                ..off
            },
            WindowFacts {
                is_pasting: true,
                ..off
            },
        ] {
            let editing = labels(editing, None);
            assert_eq!(editing[5..8], ["Undo", "Redo", "Patterns"]);
            assert_eq!((&editing[..5], &editing[10..]), (&usual[..5], &usual[10..]));
        }
    }

    #[test]
    fn while_recording_its_button_says_stop_and_for_how_long() {
        let off = WindowFacts::default();
        assert_eq!(labels(off, Some(Duration::from_secs(75)))[12], "Stop 1:15");
        assert_eq!(labels(off, None)[12], "Record");
    }
}
