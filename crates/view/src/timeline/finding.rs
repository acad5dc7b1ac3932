//! The lines over the lanes: how much overlaps, and large what the last change did.

use egui::{Align2, pos2};

use crate::hud::style::*;
use crate::timeline::layout::TimelineLayout;
use crate::widget_painter::WidgetPainter;
use lang::tr;
use model::{Action, SessionAction, Switch};
use screen::Screen;
use screen::finding::{Headline, Tone};
use screen::numbers::time_us;
use screen::theme::Palette;

/// The size of the factor's type, and of what is beside it.
const LARGE: f32 = 26.0;
const BESIDE: f32 = 15.0;

/// Paints both lines.
pub(super) fn paint(painter: &WidgetPainter, places: &TimelineLayout, screen: &Screen) {
    paint_summary(painter, places, screen);
    match &screen.finding {
        Some(found) => paint_finding(painter, places, found),
        None => paint_hint(painter, places),
    }
}

/// The overlap, and the time of the round if there is room.
fn paint_summary(painter: &WidgetPainter, places: &TimelineLayout, screen: &Screen) {
    let Some(overlap) = &screen.overlap else {
        return; // it is not measured while A and B are compared
    };
    let (room, font) = (places.summary.width(), medium(14.0 * places.unit));
    let colour = painter.palette.accent;
    // Of two rounds the finding has the times.
    let single = screen
        .round
        .as_ref()
        .filter(|_| screen.round_before.is_none());
    let with_time = single.map(|chart| {
        let time = tr!("this round: {}", time_us(chart.wall / 1e3));
        painter.layout_no_wrap(format!("{} · {time}", **overlap), font.clone(), colour)
    });
    let text = match with_time {
        Some(text) if text.size().x <= room => text,
        _ => fitted(painter, overlap, font, colour, room),
    };
    let at = places.summary.left_center();
    put(painter, at, Align2::LEFT_CENTER, text);
}

/// The factor large, then what was changed and the times.
fn paint_finding(painter: &WidgetPainter, places: &TimelineLayout, found: &Headline) {
    let (unit, place) = (places.unit, places.finding);
    let colour = tone_colour(found.tone, &painter.palette);
    let factor = fitted(
        painter,
        &found.factor,
        medium(LARGE * unit),
        colour,
        place.width(),
    );
    let left = place.left() + factor.size().x + 16.0 * unit;
    put(painter, place.left_center(), Align2::LEFT_CENTER, factor);
    let room = place.right() - left;
    let whole = format!("{} · {}", found.subject, found.times);
    let wordings = match found.times.as_str() {
        "" => [found.subject.as_str(); 2],
        _ => [&whole, found.subject.as_str()],
    };
    let (font, colour) = (regular(BESIDE * unit), painter.palette.value);
    let mut galleys = wordings
        .into_iter()
        .map(|text| painter.layout_no_wrap(text.into(), font.clone(), colour));
    let whole = galleys.find(|galley| galley.size().x <= room);
    let beside =
        whole.unwrap_or_else(|| fitted(painter, &found.subject, font.clone(), colour, room));
    let at = pos2(left, place.center().y);
    put(painter, at, Align2::LEFT_CENTER, beside);
}

/// Where the finding will stand.
fn paint_hint(painter: &WidgetPainter, places: &TimelineLayout) {
    let kernel = Action::from(SessionAction::NextKernel).key();
    let text = &tr!(
        "{first} to {last} and {kernel} change a setting: its effect on a round is shown here",
        first = Switch::first_key(),
        last = Switch::last_key(),
        kernel = kernel
    );
    let font = regular(BESIDE * places.unit);
    let (colour, room) = (painter.palette.label, places.finding.width());
    let text = fitted(painter, text, font, colour, room);
    put(
        painter,
        places.finding.left_center(),
        Align2::LEFT_CENTER,
        text,
    );
}

/// Only a gain is green.
pub(crate) fn tone_colour<Colour: Copy>(tone: Tone, palette: &Palette<Colour>) -> Colour {
    match tone {
        Tone::Measuring => palette.accent,
        Tone::Better => palette.running,
        Tone::Neutral => palette.value,
    }
}
