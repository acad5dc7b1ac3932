//! The lab, painted piece by piece.

use egui::{Align2, Color32, FontId, Rect, Stroke, StrokeKind, pos2, vec2};

use crate::view::dialogs::UiRequest;
use crate::view::hud::style::*;
use crate::view::hud::{change, close_button, put_value};
use crate::view::lab::LabView;
use crate::view::lab::layout::{LabLayout, Segment, cells};
use crate::view::widget_painter::{Spoken, WidgetPainter};
use lang::tr;
use session::SessionAction;
use ui::ViewAction;
use ui::calls::CallLanguage;
use ui::lab::{Lab, ValueRow};
use ui::theme::Palette;

/// Lines for what is said of positions.
const SAID_LINES: usize = 3;

/// Paints the lab into its rectangle.
pub(crate) fn paint(painter: &WidgetPainter, view: &LabView, lab: &Lab, rect: Rect) {
    let places = LabLayout::new(rect, &lab.switches);
    let line = (1.0, painter.palette.rule);
    painter.vline(rect.right() - 0.5, rect.y_range(), line);
    painter.hline(rect.x_range(), rect.top() + 0.5, line);
    paint_title(painter, &places);
    for (row, line) in lab.values.iter().zip(&places.values) {
        paint_values(painter, row, *line);
    }
    paint_names(painter, &places, lab);
    let mut over = None;
    for segment in &places.segments {
        if paint_segment(painter, segment) {
            over = Some(segment);
        }
    }
    paint_said(painter, &places, over);
    paint_tabs(painter, &places, view);
    paint_code(painter, &places, view, lab);
}

fn paint_title(painter: &WidgetPainter, places: &LabLayout) {
    let title = places.title;
    let text = painter.layout_no_wrap(tr!("Lab").into(), medium(18.0), painter.palette.value);
    put(painter, title.left_center(), Align2::LEFT_CENTER, text);
    close_button(painter, title.right_center(), ViewAction::ToggleLab);
}

/// Paints a line of values; a click on one opens its controls.
fn paint_values(painter: &WidgetPainter, row: &ValueRow, line: Rect) {
    let palette = &painter.palette;
    let name = painter.layout_no_wrap(row.name.into(), regular(14.5), palette.value);
    let at = line.left_center() + vec2(30.0, -1.5);
    put(painter, at, Align2::LEFT_CENTER, name);
    let places = cells(line, row.values.len());
    for ((settings, value), cell) in row.values.iter().zip(places) {
        let spoken = format!("{}: {value}", settings[0].title());
        let tip = tr!("click to change it");
        change(painter, cell, &Spoken::new(&spoken, tip), settings);
        let room = cell.width() - 6.0;
        let value = fitted(painter, value, medium(14.5), palette.value, room);
        put_value(
            painter,
            cell.center(),
            Align2::CENTER_CENTER,
            value,
            settings,
        );
    }
}

fn paint_names(painter: &WidgetPainter, places: &LabLayout, lab: &Lab) {
    for (shown, rect) in lab.switches.iter().zip(&places.names) {
        let key = painter.layout_no_wrap(shown.key.clone(), medium(14.5), painter.palette.accent);
        let middle = rect.left_center() - vec2(0.0, 1.5);
        put(painter, middle, Align2::LEFT_CENTER, key);
        let name = painter.layout_no_wrap(shown.name.clone(), regular(14.5), painter.palette.value);
        let at = middle + vec2(30.0, 0.0);
        put(painter, at, Align2::LEFT_CENTER, name);
    }
}

/// Paints a position, which a click chooses; an unavailable one says why it is. Returns whether the
/// pointer is over it.
fn paint_segment(painter: &WidgetPainter, segment: &Segment) -> bool {
    let possible = segment.position.unavailable.is_none();
    let (background, text_colour) = match (segment.present, possible) {
        (true, _) => (painter.palette.accent, painter.palette.on_accent),
        (false, true) => (painter.palette.raised, painter.palette.value),
        (false, false) => (painter.palette.recessed, painter.palette.faint),
    };
    let rect = segment.rect;
    let (name, (tip, _)) = (name_of(segment), in_words(segment, &painter.palette));
    let spoken = Spoken::new(&name, &tip)
        .without_card()
        .possible(possible)
        .on(Some(segment.present));
    let choose = SessionAction::SetSwitch(segment.switch, segment.index as u8);
    let over = painter.button(rect, &spoken, choose);
    painter.rect_filled(rect, 4.0, background);
    if over {
        let edge = Stroke::new(1.5, painter.palette.highlight);
        painter.rect_stroke(rect, 4.0, edge, StrokeKind::Inside);
    }
    let font = if segment.present {
        medium(13.5)
    } else {
        regular(13.5)
    };
    let room = rect.width() - 6.0;
    let text = fitted(painter, &segment.position.label, font, text_colour, room);
    let width = text.size().x;
    put(painter, rect.center(), Align2::CENTER_CENTER, text);
    if !possible {
        // Struck out too: grey alone is not seen from everywhere.
        let half = width / 2.0 + 2.0;
        let across = rect.center().x - half..=rect.center().x + half;
        painter.hline(across, rect.center().y, (1.0, painter.palette.faint));
    }
    over
}

/// What the position under the pointer does, or why it is unavailable; without one, why each
/// unavailable position is.
fn paint_said(painter: &WidgetPainter, places: &LabLayout, over: Option<&Segment>) {
    let palette = &painter.palette;
    let width = places.said.width();
    let written = |text: &str, colour| {
        let font = regular(13.5);
        paragraph(painter, text, font, colour, width, SAID_LINES)
    };
    let refused = || {
        let all = places.segments.iter();
        all.filter(|segment| segment.position.unavailable.is_some())
    };
    let text = if let Some(segment) = over {
        let (text, colour) = in_words(segment, palette);
        written(&text, colour)
    } else if refused().next().is_none() {
        let text = tr!("Click a setting, or press its key for the next one");
        written(text, palette.label)
    } else {
        let reasons: Vec<String> = refused().map(|it| in_words(it, palette).0).collect();
        let whole = written(&reasons.join("\n"), palette.accent);
        if whole.elided {
            let names: Vec<String> = refused().map(name_of).collect();
            let names = names.join(", ");
            let text = tr!("Unavailable: {names}; click one for the reason");
            written(&text, palette.accent)
        } else {
            whole
        }
    };
    let at = places.said.left_center();
    put(painter, at, Align2::LEFT_CENTER, text);
}

/// A position with its switch: `streams batch`.
fn name_of(segment: &Segment) -> String {
    format!("{} {}", segment.switch.name(), segment.position.label)
}

fn in_words(segment: &Segment, palette: &Palette<Color32>) -> (String, Color32) {
    let name = name_of(segment);
    match &segment.position.unavailable {
        None => (
            format!("{name}: {}", segment.position.effect),
            palette.value,
        ),
        Some(why) => (tr!("{name} is unavailable: {why}"), palette.accent),
    }
}

fn paint_tabs(painter: &WidgetPainter, places: &LabLayout, lab: &LabView) {
    for language in CallLanguage::ALL {
        let rect = places.tabs[language as usize];
        let (background, text_colour) = if language == lab.language {
            (painter.palette.raised, painter.palette.value)
        } else {
            (painter.palette.recessed, painter.palette.label)
        };
        let spoken = Spoken::new(language.name(), "").on(Some(language == lab.language));
        painter.request(rect, &spoken, UiRequest::ShowCalls(language));
        painter.rect_filled(rect, 4.0, background);
        let text = painter.layout_no_wrap(language.name().into(), medium(13.5), text_colour);
        put(painter, rect.center(), Align2::CENTER_CENTER, text);
    }
}

/// The calls, remarks dimmed, from the line on to which they are scrolled.
fn paint_code(painter: &WidgetPainter, places: &LabLayout, view: &LabView, lab: &Lab) {
    let rect = places.code;
    painter.rect_filled(rect, 4.0, painter.palette.code_background);
    let code = lab.calls.of(view.language);
    let (size, line) = places.code_type(code);
    let seen = places.code_lines(code);
    let first = view.first_line(places, code);
    let corner = rect.min + vec2(8.0, 6.0);
    for (row, text) in code.iter().skip(first).take(seen).enumerate() {
        let remark = text.trim_start().starts_with("//");
        let text_colour = if remark {
            painter.palette.faint
        } else {
            painter.palette.value
        };
        let text = painter.layout_no_wrap(text.clone(), FontId::monospace(size), text_colour);
        let at = corner + vec2(0.0, row as f32 * line);
        put(painter, at, Align2::LEFT_TOP, text);
    }
    if code.len() > seen {
        let hint = painter.layout_no_wrap(
            tr!("wheel scrolls").into(),
            regular(12.5),
            painter.palette.label,
        );
        let right = pos2(rect.right(), places.tabs[0].center().y);
        put(painter, right, Align2::RIGHT_CENTER, hint);
        let whole = rect.height() - 12.0;
        let part = |lines: usize| lines as f32 / code.len() as f32 * whole;
        let bar = Rect::from_min_size(
            pos2(rect.right() - 8.0, corner.y + part(first)),
            vec2(4.0, part(seen)),
        );
        painter.rect_filled(bar, 2.0, painter.palette.raised);
    }
}
