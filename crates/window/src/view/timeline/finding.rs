//! The lines over the lanes: how much overlaps, and large what the last change did.

use std::sync::Arc;

use egui::{Align2, Galley, pos2};

use crate::view::hud::style::*;
use crate::view::timeline::layout::TimelineLayout;
use crate::view::widget_painter::{Spoken, WidgetPainter};
use lang::tr;
use script::Fault;
use session::{SessionAction, Switch};
use ui::finding::{Headline, Tone};
use ui::theme::Palette;
use ui::{Action, Screen, ViewAction};

/// The size of the factor's type, and of what is beside it.
const LARGE: f32 = 26.0;
const BESIDE: f32 = 15.0;
/// The same where it takes two lines.
const ABOVE: f32 = 14.0;
/// The least size of the type of a sentence about a race, and its most lines.
const SMALL: f32 = 11.5;
const MAX_RACE_LINES: usize = 3;

/// Paints both lines, as far as they have a place.
pub(super) fn paint(painter: &WidgetPainter, places: &TimelineLayout, screen: &Screen) {
    paint_summary(painter, places, screen);
    if !places.finding.is_positive() {
        return;
    }
    match &screen.finding {
        Some(found) => paint_finding(painter, places, found),
        None => paint_hint(painter, places),
    }
}

/// Paints in the place of both lines which two ops race, and what is missing between them.
pub(super) fn paint_race(painter: &WidgetPainter, places: &TimelineLayout, fault: &Fault) {
    let mut place = places.summary;
    if places.finding.is_positive() {
        place = places.finding;
    }
    let (sentence, colour) = (&fault.message, painter.palette.failed_text);
    let of_size = |size: f32| {
        let font = medium(size);
        paragraph(
            painter,
            sentence,
            font,
            colour,
            place.width(),
            MAX_RACE_LINES,
        )
    };
    let mut sizes = [BESIDE, ABOVE, SMALL].map(of_size).into_iter();
    let fits = |text: &Arc<Galley>| !text.elided && text.size().y <= place.height();
    let text = sizes.find(fits);
    let text = text.unwrap_or_else(|| cut(painter, sentence, medium(SMALL), colour, place.width()));
    put(painter, place.left_center(), Align2::LEFT_CENTER, text);
}

/// The overlap, and the time of the round if there is room.
fn paint_summary(painter: &WidgetPainter, places: &TimelineLayout, screen: &Screen) {
    let Some(overlap) = &screen.overlap else {
        return; // it is not measured while A and B are compared
    };
    let (room, font) = (places.summary.width(), medium(14.0));
    let colour = match &screen.recorded {
        None => painter.palette.accent,
        Some(_) => painter.palette.recorded,
    };
    // Of two rounds the finding has the times.
    let parts = match (&screen.round_before, overlap.round_time.as_str()) {
        (None, time) if !time.is_empty() => format!("{} · {time}", overlap.overlap),
        _ => overlap.overlap.clone(),
    };
    let whole = painter.layout_no_wrap(parts.clone(), font.clone(), colour);
    let text = if whole.size().x <= room {
        whole
    } else {
        fitted(painter, &overlap.overlap, font, colour, room)
    };
    let at = places.summary.left_center();
    let place = Align2::LEFT_CENTER.anchor_size(at, text.size());
    // Its tip is a card of the timeline's own.
    let tip = tr!("Click for what keeps streams from overlapping");
    let spoken = Spoken::new(&parts, tip).without_card();
    if painter.button(place, &spoken, ViewAction::ToggleCauses) {
        let line = (1.0, colour);
        painter.hline(place.x_range(), place.bottom(), line);
    }
    put(painter, at, Align2::LEFT_CENTER, text);
}

/// The factor large, then what was changed and the times, one above the other where room is short.
fn paint_finding(painter: &WidgetPainter, places: &TimelineLayout, found: &Headline) {
    let place = places.finding;
    let colour = tone_colour(found.tone, &painter.palette);
    let factor = fitted(painter, &found.factor, medium(LARGE), colour, place.width());
    let left = place.left() + factor.size().x + 16.0;
    put(painter, place.left_center(), Align2::LEFT_CENTER, factor);
    let room = place.right() - left;
    let colour = painter.palette.value;
    let line = |text: &str, size: f32| painter.layout_no_wrap(text.into(), regular(size), colour);
    let whole = match found.times.as_str() {
        "" => found.subject.clone(),
        times => format!("{} · {times}", found.subject),
    };
    let middle = pos2(left, place.center().y);
    let whole = line(&whole, BESIDE);
    let lines = [&found.subject, &found.times].map(|text| line(text, ABOVE));
    if whole.size().x <= room {
        put(painter, middle, Align2::LEFT_CENTER, whole);
    } else if lines.iter().all(|line| line.size().x <= room) {
        let [subject, times] = lines;
        put(painter, middle, Align2::LEFT_BOTTOM, subject);
        put(painter, middle, Align2::LEFT_TOP, times);
    } else {
        let subject = fitted(painter, &found.subject, regular(BESIDE), colour, room);
        put(painter, middle, Align2::LEFT_CENTER, subject);
    }
}

/// Where the finding will stand.
fn paint_hint(painter: &WidgetPainter, places: &TimelineLayout) {
    let kernel = Action::from(SessionAction::NextKernel).key();
    let text = &tr!(
        "{first} to {last} and {kernel} change a setting: its effect on a round is shown here",
        first = Switch::ALL[0].key(),
        last = Switch::ALL[Switch::ALL.len() - 1].key(),
        kernel = kernel
    );
    let font = regular(BESIDE);
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
        Tone::Recorded => palette.recorded,
    }
}
