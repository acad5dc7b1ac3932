//! Callouts: labels in a row of their own between toolbar and panels, each pointing at a button that a
//! newcomer should know, with its key. Who shows the frame decides which ones it has ([`Drawing::callouts`](ui::Drawing)).

use std::sync::Arc;

use egui::{Align2, Galley, Rect, Stroke, StrokeKind, pos2, vec2};

use crate::view::dialogs::UiRequest;
use crate::view::hud::rect_of;
use crate::view::hud::style::{medium, put, regular};
use crate::view::layout::WindowLayout;
use crate::view::widget_painter::{Spoken, WidgetPainter};
use crate::view::{Frame, layout, toolbar};
use lang::tr;
use model::{Action, Status, ViewAction};
use ui::Callout;

/// Lengths in units of type.
const HEIGHT: f32 = layout::CALLOUTS - 2.0 * BETWEEN_ROWS;
const PAD: f32 = 7.0;
const BETWEEN_ROWS: f32 = 5.0;
const BESIDE_KEY: f32 = 6.0;
const TYPE: f32 = 13.0;
/// The side of the cross that closes a callout.
const CROSS: f32 = 8.0;
/// How far a line to a button is from a callout's end at least.
const FROM_END: f32 = 8.0;

/// Whether a frame has a row for callouts: beside nothing that has figures of its own.
pub(crate) fn are_shown(frame: &Frame<'_>, status: &Status) -> bool {
    let covered = frame.sources.options.side.is_some()
        || status.lab.comparison.is_some()
        || frame.sources.lesson.is_some();
    !covered && !frame.sources.drawing.callouts.is_empty()
}

/// A callout as it is laid out.
struct Label {
    callout: Callout,
    key: Arc<Galley>,
    text: Arc<Galley>,
    button: Rect,
    left: f32,
    width: f32,
}

impl Label {
    fn right(&self) -> f32 {
        self.left + self.width
    }

    /// Where the line to the button is.
    fn line(&self, unit: f32) -> f32 {
        let (from, to) = (self.left + FROM_END * unit, self.right() - FROM_END * unit);
        self.button.center().x.clamp(from, to)
    }
}

/// Lays out the callouts of a row, each below its button: the outer ones outwards, and the one in the
/// middle where they leave room for it.
fn labels(painter: &WidgetPainter, frame: &Frame<'_>, layout: &WindowLayout) -> Vec<Label> {
    let (Some(bar), Some(buttons)) = (layout.toolbar.map(rect_of), &frame.screen.toolbar) else {
        return Vec::new();
    };
    let unit = layout.unit;
    let label = |&callout: &Callout| {
        let action = callout.action();
        let button = toolbar::place_of(action, buttons, bar, unit)?;
        let key = painter.layout_no_wrap(action.key(), medium(TYPE * unit), painter.palette.accent);
        let text = painter.layout_no_wrap(
            callout.text().into(),
            regular(TYPE * unit),
            painter.palette.value,
        );
        let width = key.size().x + text.size().x + (BESIDE_KEY + 3.0 * PAD + CROSS) * unit;
        let middle = button.center().x;
        let left = match callout {
            Callout::Streams => middle + FROM_END * unit - width,
            Callout::Timeline => middle - width / 2.0,
            Callout::Lessons => middle - FROM_END * unit,
        };
        let fits = left >= bar.left() && left + width <= bar.right();
        fits.then_some(Label {
            callout,
            key,
            text,
            button,
            left,
            width,
        })
    };
    let shown =
        |callout: &&Callout| **callout != Callout::Timeline || !frame.sources.options.timeline;
    let callouts = frame.sources.drawing.callouts.iter().filter(shown);
    let mut labels: Vec<Label> = callouts.filter_map(label).collect();
    let at = |labels: &[Label], callout| labels.iter().position(|label| label.callout == callout);
    if let Some(middle) = at(&labels, Callout::Timeline) {
        let between = BETWEEN_ROWS * unit;
        if let Some(before) = at(&labels, Callout::Streams) {
            labels[middle].left = labels[middle].left.max(labels[before].right() + between);
        }
        let end = labels[middle].right() + between;
        if let Some(after) = at(&labels, Callout::Lessons) {
            labels[after].left = labels[after].left.max(end);
        }
        let meets = |label: &Label| {
            let button = label.button.shrink(4.0 * unit);
            button.x_range().contains(label.line(unit)) && label.right() <= bar.right()
        };
        if !labels.iter().all(meets) {
            labels.remove(middle);
            if let Some(after) = at(&labels, Callout::Lessons) {
                labels[after].left = labels[after].button.center().x - FROM_END * unit;
            }
        }
    }
    labels
}

/// Paints a frame's callouts into their row.
pub(crate) fn paint(painter: &WidgetPainter, frame: &Frame<'_>, layout: &WindowLayout) {
    let Some(row) = layout.callouts.map(rect_of) else {
        return;
    };
    let unit = layout.unit;
    painter.rect_filled(row, 0.0, painter.palette.background);
    for label in labels(painter, frame, layout) {
        let action = label.callout.action();
        let corner = pos2(label.left, row.top() + BETWEEN_ROWS * unit);
        let place = Rect::from_min_size(corner, vec2(label.width, HEIGHT * unit));
        let tip = action.row().map_or("", |row| row.help());
        painter.button(place, &Spoken::new(label.text.text(), tip), action);
        let stroke = Stroke::new(unit.max(1.0), painter.palette.accent);
        painter.vline(
            label.line(unit),
            label.button.bottom()..=place.top(),
            stroke,
        );
        painter.rect_filled(place, 4.0 * unit, painter.palette.dialog);
        let edge = Stroke::new(unit.max(1.0), painter.palette.dialog_edge);
        painter.rect_stroke(place, 4.0 * unit, edge, StrokeKind::Inside);
        let left = place.left_center() + vec2(PAD * unit, 0.0);
        let beside_key = label.key.size().x + BESIDE_KEY * unit;
        put(painter, left, Align2::LEFT_CENTER, label.key);
        let left = left + vec2(beside_key, 0.0);
        put(painter, left, Align2::LEFT_CENTER, label.text);
        paint_cross(painter, label.callout, place, unit);
    }
}

/// Paints the cross that closes a callout, at its right end.
fn paint_cross(painter: &WidgetPainter, callout: Callout, place: Rect, unit: f32) {
    let middle = place.right_center() - vec2((PAD + CROSS / 2.0) * unit, 0.0);
    let cross = Rect::from_center_size(middle, vec2(CROSS, CROSS) * unit);
    let key = Action::from(ViewAction::Escape).key();
    let tip = tr!("Close this hint ({key} closes all)");
    let around = cross.expand((HEIGHT - CROSS) / 2.0 * unit);
    let is_over = painter.request(
        around,
        &Spoken::new(&tip, &tip),
        UiRequest::CloseCallout(callout),
    );
    let palette = &painter.palette;
    let stroke = Stroke::new(
        (1.4 * unit).max(1.0),
        if is_over {
            palette.value
        } else {
            palette.label
        },
    );
    painter.line_segment([cross.left_top(), cross.right_bottom()], stroke);
    painter.line_segment([cross.right_top(), cross.left_bottom()], stroke);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::dialogs::Dialogs;
    use crate::view::frame::paint_over;
    use crate::view::interface::context;
    use egui::{Event, PointerButton, Pos2, RawInput};
    use ui::Sources;
    use ui::fixtures::{lesson_page, status};
    use ui::{Drawing, LessonScreen, SidePanel, ViewOptions};

    /// The places that have a tip in a window with these callouts, and what a click on the one that
    /// `click` chooses asks for.
    fn shown(
        callouts: &[Callout],
        options: &ViewOptions,
        lesson: Option<&LessonScreen>,
        click: impl Fn(&[Rect]) -> Option<Pos2>,
    ) -> (usize, Vec<UiRequest>) {
        let status = status(4, life::Size::new(64, 64).unwrap());
        let drawing = Drawing {
            callouts: callouts.to_vec(),
            ..Default::default()
        };
        let plain = Frame::plain(&status, options);
        let sources = Sources {
            drawing: &drawing,
            lesson,
            ..plain.sources
        };
        let frame = Frame { sources, ..plain }.composed();
        let (context, mut events) = (context(), Vec::new());
        let (mut places, mut all_requests) = (0, Vec::new());
        for step in 0..4 {
            let input = RawInput {
                events: std::mem::take(&mut events),
                ..Default::default()
            };
            let place = frame.layout();
            let mut none = Dialogs::default();
            let (output, widgets) = paint_over(
                &context,
                &frame,
                &frame.palette(),
                place.as_ref(),
                &mut none,
                input,
            );
            output.drop_without_applying_deltas();
            let tipped = widgets.with_tips();
            all_requests.extend(widgets.requests);
            places = tipped.len();
            if let (Some(pos), 1..=2) = (click(&tipped), step) {
                events.push(Event::PointerMoved(pos));
                events.push(Event::PointerButton {
                    pos,
                    button: PointerButton::Primary,
                    pressed: step == 1,
                    modifiers: Default::default(),
                });
            }
        }
        (places, all_requests)
    }

    #[test]
    fn a_click_does_what_is_pointed_at_and_one_on_a_cross_closes_its_own() {
        let options = ViewOptions::default();
        for callout in Callout::ALL {
            let all_requests = |back: usize| {
                let middle = |rects: &[Rect]| rects.iter().rev().nth(back).map(Rect::center);
                shown(&[callout], &options, None, middle).1
            };
            assert_eq!(
                all_requests(0),
                [UiRequest::CloseCallout(callout)],
                "{callout:?}"
            );
            assert_eq!(
                all_requests(1),
                [UiRequest::Act(callout.action())],
                "{callout:?}"
            );
        }
    }

    #[test]
    fn they_are_shown_beside_nothing_that_has_figures_of_its_own() {
        let count = |options: ViewOptions, lesson: Option<&LessonScreen>| {
            let places = |callouts| shown(callouts, &options, lesson, |_| None).0;
            (places(&Callout::ALL) - places(&[])) / 2 // a callout and its cross
        };
        let usual = ViewOptions::default;
        assert_eq!(count(usual(), None), 3);
        let timeline = ViewOptions {
            timeline: true,
            ..usual()
        };
        assert_eq!(count(timeline, None), 2, "it is open already");
        let presentation = ViewOptions {
            presentation: true,
            ..usual()
        };
        assert_eq!(count(presentation, None), 0);
        let lab = ViewOptions {
            side: Some(SidePanel::Lab),
            ..usual()
        };
        assert_eq!(count(lab, None), 0);
        let page = LessonScreen::Page(lesson_page(false));
        assert_eq!(count(usual(), Some(&page)), 0);
    }
}
