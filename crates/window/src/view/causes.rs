//! What keeps streams from overlapping, beside the timeline whose round it is about: each cause with
//! what shows it, what it costs, and a button that takes it away.

use egui::{Align2, Color32, FontId, Rect, pos2, vec2};

use crate::view::hud::close_button;
use crate::view::hud::style::*;
use crate::view::widget_painter::{Spoken, WidgetPainter};
use lang::tr;
use ui::timeline::overlap::CauseTexts;
use ui::{Screen, ViewAction};

const PAD: f32 = 14.0;
const TITLE: f32 = 30.0;
/// Between two causes, and between the lines of one.
const APART: f32 = 16.0;
const LINE: f32 = 4.0;
/// The bar of what a cause costs of a round.
const BAR: f32 = 6.0;
/// What a button adds to its text on either side.
const AROUND_BUTTON: f32 = 6.0;

/// Paints the causes into their rectangle.
pub(crate) fn paint(painter: &WidgetPainter, screen: &Screen, rect: Rect) {
    let line = (1.0, painter.palette.rule);
    painter.vline(rect.right() - 0.5, rect.y_range(), line);
    painter.hline(rect.x_range(), rect.top() + 0.5, line);
    let inside = rect.shrink2(vec2(PAD, 6.0));
    let title = inside.with_max_y(inside.top() + TITLE);
    let right = title.right_center();
    let left = close_button(painter, right, ViewAction::ToggleCauses);
    let text = fitted(
        painter,
        tr!("Why streams do not overlap"),
        medium(18.0),
        painter.palette.value,
        left - title.left() - 12.0,
    );
    put(painter, title.left_center(), Align2::LEFT_CENTER, text);
    let mut list = List {
        painter,
        rect: inside,
        y: title.bottom() + LINE,
        figures: match &screen.recorded {
            None => painter.palette.accent,
            Some(_) => painter.palette.recorded,
        },
    };
    let Some(overlap) = &screen.overlap else {
        let why = tr!("Not measured while A and B are compared");
        list.text(why, regular(14.0), painter.palette.label);
        return;
    };
    list.text(&overlap.overlap, medium(16.0), list.figures);
    let (note, colour) = match (&screen.recorded, &screen.round) {
        (Some(recorded), Some(_)) => (recorded.origin.as_str(), painter.palette.recorded),
        (Some(recorded), None) => (recorded.missing.as_str(), painter.palette.label),
        (None, Some(_)) => (
            tr!("in the round shown, which is typical of the last few"),
            painter.palette.label,
        ),
        (None, None) => (tr!("No round has been timed yet"), painter.palette.label),
    };
    list.text(note, regular(14.0), colour);
    for cause in &overlap.causes {
        list.cause(cause);
    }
    list.y += APART - LINE;
    list.text(&overlap.others, regular(14.0), painter.palette.label);
}

/// Lines from the top to the bottom.
struct List<'a> {
    painter: &'a WidgetPainter,
    rect: Rect,
    /// Where the next one begins.
    y: f32,
    /// The colour of figures.
    figures: Color32,
}

impl List<'_> {
    /// A text in at most three lines, if there is room for it.
    fn text(&mut self, text: &str, font: FontId, colour: Color32) {
        let galley = paragraph(self.painter, text, font, colour, self.rect.width(), 3);
        let bottom = self.y + galley.size().y;
        if bottom <= self.rect.bottom() {
            let at = pos2(self.rect.left(), self.y);
            put(self.painter, at, Align2::LEFT_TOP, galley);
            self.y = bottom + LINE;
        }
    }

    /// A cause, if there is room for all of it.
    fn cause(&mut self, cause: &CauseTexts) {
        let palette = self.painter.palette;
        if self.y + 100.0 > self.rect.bottom() {
            return;
        }
        self.y += APART - LINE;
        self.text(&cause.title, medium(15.0), palette.value);
        if !cause.evidence.is_empty() {
            self.text(&cause.evidence, regular(13.5), palette.label);
        }
        if let Some(part) = cause.part {
            let (left, width) = (self.rect.left(), self.rect.width());
            let bar = |part: f32| Rect::from_min_size(pos2(left, self.y), vec2(part * width, BAR));
            self.painter.rect_filled(bar(1.0), 0.0, palette.recessed);
            self.painter.rect_filled(bar(part), 0.0, self.figures);
            self.y += BAR + LINE;
        }
        self.foot(cause);
    }

    /// What it costs, and at the right what takes it away.
    fn foot(&mut self, cause: &CauseTexts) {
        let (painter, palette) = (self.painter, self.painter.palette);
        let row = self.rect.with_min_y(self.y).with_max_y(self.y + 24.0);
        let cost = fitted(
            painter,
            &cause.cost,
            medium(14.0),
            self.figures,
            0.5 * row.width(),
        );
        let room = row.width() - cost.size().x - 2.0 * (AROUND_BUTTON + PAD);
        put(painter, row.left_center(), Align2::LEFT_CENTER, cost);
        if !cause.remedy.is_empty() {
            let font = regular(14.0);
            let text = fitted(painter, &cause.remedy, font, palette.value, room);
            let right = row.right_center() - vec2(AROUND_BUTTON, 0.0);
            let place = Align2::RIGHT_CENTER.anchor_size(right, text.size());
            if let Some(action) = cause.action {
                let place = place.expand2(vec2(AROUND_BUTTON, 3.0));
                let is_over = painter.button(place, &Spoken::new(&cause.remedy, ""), action);
                let background = if is_over {
                    palette.raised_pointed
                } else {
                    palette.raised
                };
                painter.rect_filled(place, 4.0, background);
            }
            put(painter, right, Align2::RIGHT_CENTER, text);
        }
        self.y = row.bottom() + LINE;
    }
}
