//! The presentation strip: run state, time per round, what it is measured of, the last switch's effect
//! and the latest message, in type readable from the last row.

use std::sync::Arc;

use egui::{Align2, Color32, Galley, Rect, pos2, vec2};

use crate::view::Frame;
use crate::view::hud::parts;
use crate::view::hud::style::*;
use crate::view::timeline::tone_colour;
use crate::view::widget_painter::{Spoken, WidgetPainter};
use lang::tr;
use session::{SessionAction, Status};
use ui::actions::Setting;
use ui::figures::{self, Figures, RunState, Urgency};
use ui::finding::{Headline, Tone};

/// The strip's height, in points.
pub(crate) const HEIGHT: f32 = 80.0;
/// What the sentence takes of it.
const SENTENCE: f32 = 24.0;
/// The parts of the width that time per round, lattices, kernel, streams and factor take, beside the
/// state.
const PARTS: [f32; 5] = [0.2, 0.16, 0.17, 0.15, 0.32];
/// The type of what the lecture is about, and of what it is measured of.
const LARGE: f32 = 27.5;
const USUAL: f32 = 19.0;
/// The width of the state, and of its sign.
const STATE: f32 = 86.0;
const SIGN: f32 = 19.0;
/// What the figures need beside the menu's sign; without it, a right click opens the menu.
const MIN_WIDTH_BESIDE_MENU: f32 = 250.0;

/// A name, its value, the value's colour and type, and what a click on it changes.
type Column<'a> = (&'a str, &'a str, Color32, f32, &'static [Setting]);

/// Paints the strip, smaller where it has not its height.
pub(crate) fn paint(
    painter: &WidgetPainter,
    rect: Rect,
    frame: &Frame<'_>,
    status: &Status,
    figures: &Figures,
) {
    let scale = (rect.height() / HEIGHT).min(1.0);
    let inside = rect.shrink2(vec2(14.0, 5.0) * scale);
    let round = match figures.state {
        RunState::Running | RunState::Paused => figures::round_time(status),
        RunState::Recomputing | RunState::Ended => "–".into(),
    };
    let grid = figures::grid(status);
    paint_state(painter, inside, scale, figures.state);
    let (switch, factor, tone) = told(frame.screen.finding.as_deref());
    let plain = painter.palette.value;
    let of_round = match status.lab.recording {
        None => plain,
        Some(_) => painter.palette.recorded,
    };
    let kernel = status.setting.kernel.name;
    let streams = figures::streams(status);
    let tone = tone_colour(tone, &painter.palette);
    let columns: [Column<'_>; 5] = [
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
    let mut left = inside.left() + STATE * scale;
    let mut width = inside.right() - left;
    if width > MIN_WIDTH_BESIDE_MENU * scale {
        let sign = inside.right_top() + vec2(-9.0, 9.0) * scale;
        parts::menu(painter, sign, scale, painter.palette.label);
        width -= 26.0 * scale;
    }
    for (part, (label, value, text_colour, size, settings)) in PARTS.into_iter().zip(columns) {
        let room = part * width - 11.0 * scale;
        let label = fitted(
            painter,
            label,
            regular(14.5 * scale),
            painter.palette.label,
            room,
        );
        let corner = pos2(left, inside.top());
        let place = Rect::from_min_size(corner, vec2(room, 44.0 * scale));
        let said = format!("{}: {value}", label.text());
        let spoken = Spoken::new(&said, "");
        parts::change(painter, place, &spoken, settings);
        put(painter, corner, Align2::LEFT_TOP, label);
        let value = sized(
            painter,
            value,
            [size, USUAL].map(|size| size * scale),
            text_colour,
            room,
        );
        let middle = inside.top() + 30.5 * scale;
        let at = pos2(left, middle);
        parts::put_value(painter, at, Align2::LEFT_CENTER, value, settings);
        left += part * width;
    }
    let caption = figures.messages.iter();
    let caption = caption
        .filter(|(urgency, _)| *urgency != Urgency::Warning)
        .min_by_key(|(urgency, _)| *urgency != Urgency::Failure);
    if let Some((urgency, sentence)) = caption {
        let (background, text_colour) = parts::message_colours(*urgency, &painter.palette);
        let top = pos2(inside.left(), inside.bottom() - SENTENCE * scale);
        let band = Rect::from_min_max(top, inside.max);
        painter.rect_filled(band, 4.0 * scale, background);
        let room = band.width() - 16.0 * scale;
        let text = fitted(painter, sentence, regular(14.0 * scale), text_colour, room);
        let at = band.left_center() + vec2(8.0 * scale, 0.0);
        put(painter, at, Align2::LEFT_CENTER, text);
    }
}

/// A value in the first of these sizes that leaves it whole, else in the last.
fn sized(
    painter: &WidgetPainter,
    value: &str,
    [first, last]: [f32; 2],
    colour: Color32,
    room: f32,
) -> Arc<Galley> {
    let first = fitted(painter, value, medium(first), colour, room);
    if first.text() == value {
        return first;
    }
    fitted(painter, value, medium(last), colour, room)
}

/// Paints a word and a sign for the state; a click runs or pauses.
fn paint_state(painter: &WidgetPainter, inside: Rect, scale: f32, state: RunState) {
    let palette = &painter.palette;
    let (word, text_colour) = match state {
        RunState::Running => (tr!("running"), palette.running),
        RunState::Paused => (tr!("paused"), palette.accent),
        RunState::Recomputing => (tr!("recomputing"), palette.value),
        RunState::Ended => (tr!("ended"), palette.failed_text),
    };
    let room = (STATE - 11.0) * scale;
    let place = Rect::from_min_size(inside.min, vec2(room, 44.0 * scale));
    let tip = tr!("click or press Space to run or pause; + and − set the pace");
    painter.button(place, &Spoken::new(word, tip), SessionAction::TogglePause);
    let word = fitted(painter, word, medium(19.0 * scale), text_colour, room);
    put(painter, inside.min, Align2::LEFT_TOP, word);
    let middle = inside.min + vec2(SIGN / 2.0, 32.0) * scale;
    let sign = Rect::from_center_size(middle, vec2(SIGN, SIGN) * scale);
    parts::paint_sign(painter, sign, state, text_colour);
}

/// What the last change did, or how A and B compare: what was changed, the factor, and how it is to
/// be seen.
fn told(found: Option<&Headline>) -> (&str, &str, Tone) {
    match found {
        None => (tr!("last change"), "–", Tone::Neutral),
        Some(found) => (&found.subject, &found.factor, found.tone),
    }
}
