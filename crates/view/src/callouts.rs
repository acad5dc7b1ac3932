//! Callouts: labels below the toolbar, each pointing at a button that a newcomer should know, with
//! its key. Who shows the frame decides which ones it has ([`Drawing::callouts`](screen::Drawing)).

use egui::{Align2, Rect, Stroke, StrokeKind, pos2, vec2};

use crate::dialogs::UiRequest;
use crate::hud::rect_of;
use crate::hud::style::{ThemedPainter, medium, put, regular};
use crate::layout::Layout;
use crate::{Frame, hit_regions, toolbar};
use lang::tr;
use model::{Action, Status, ViewAction};
use screen::Callout;

/// Lengths in units of type.
const HEIGHT: f32 = 22.0;
const PAD: f32 = 7.0;
const BETWEEN_ROWS: f32 = 5.0;
const BESIDE_KEY: f32 = 6.0;
const TYPE: f32 = 13.0;
/// The side of the cross that closes a callout.
const CROSS: f32 = 8.0;
/// The part of a panel's height that callouts may cover; what is said at a panel's foot stays free.
const MAX_PART: f32 = 0.6;

/// Where a callout of this size stands, for a button above it. Those at the sides leave the line
/// of the one in the middle free.
fn place_of(callout: Callout, button: Rect, [width, height]: [f32; 2], unit: f32) -> Rect {
    let row = button.bottom() + 2.0 * BETWEEN_ROWS * unit;
    let (left, top) = match callout {
        Callout::Streams => (button.right() - width, row),
        Callout::Timeline => {
            let next = row + height + BETWEEN_ROWS * unit;
            (button.center().x - width / 2.0, next)
        }
        Callout::Lessons => (button.left(), row),
    };
    Rect::from_min_size(pos2(left, top), vec2(width, height))
}

/// Paints a frame's callouts where there is room for them beside figures.
pub(crate) fn paint(painter: &ThemedPainter, frame: &Frame<'_>, status: &Status, layout: &Layout) {
    let options = frame.options;
    let covered = options.side.is_some() || layout.comparison.is_some() || layout.lesson.is_some();
    let Some(bar) = layout.toolbar.filter(|_| !covered).map(rect_of) else {
        return;
    };
    let unit = layout.unit;
    let shown = |callout: &&Callout| **callout != Callout::Timeline || !options.timeline;
    let callouts: Vec<&Callout> = frame.drawing.callouts.iter().filter(shown).collect();
    let lowest = layout.tiling.origin[1] as f32 + MAX_PART * layout.tiling.panel[1] as f32;
    for &callout in callouts {
        let action = callout.action();
        let Some(button) = toolbar::place_of(action, status, bar, unit) else {
            continue;
        };
        let key = painter.layout_no_wrap(action.key(), medium(TYPE * unit), painter.palette.accent);
        let text = painter.layout_no_wrap(
            callout.text().into(),
            regular(TYPE * unit),
            painter.palette.value,
        );
        let beside_key = key.size().x + BESIDE_KEY * unit;
        let width = beside_key + text.size().x + (3.0 * PAD + CROSS) * unit;
        let place = place_of(callout, button, [width, HEIGHT * unit], unit);
        let fits = place.left() >= bar.left() && place.right() <= bar.right();
        if !fits || place.bottom() > lowest {
            continue;
        }
        let tip = action.row().map_or("", |row| row.help());
        hit_regions::button(painter, place, tip, action);
        let stroke = Stroke::new(unit.max(1.0), painter.palette.accent);
        painter.vline(button.center().x, button.bottom()..=place.top(), stroke);
        painter.rect_filled(place, 4.0 * unit, painter.palette.dialog);
        let edge = Stroke::new(unit.max(1.0), painter.palette.dialog_edge);
        painter.rect_stroke(place, 4.0 * unit, edge, StrokeKind::Inside);
        let left = place.left_center() + vec2(PAD * unit, 0.0);
        put(painter, left, Align2::LEFT_CENTER, key);
        let left = left + vec2(beside_key, 0.0);
        put(painter, left, Align2::LEFT_CENTER, text);
        paint_cross(painter, callout, place, unit);
    }
}

/// Paints the cross that closes a callout, at its right end.
fn paint_cross(painter: &ThemedPainter, callout: Callout, place: Rect, unit: f32) {
    let middle = place.right_center() - vec2((PAD + CROSS / 2.0) * unit, 0.0);
    let cross = Rect::from_center_size(middle, vec2(CROSS, CROSS) * unit);
    let key = Action::from(ViewAction::Escape).key();
    let tip = tr!("Close this hint ({key} closes all)", key = key);
    let around = cross.expand((HEIGHT - CROSS) / 2.0 * unit);
    let is_over = hit_regions::request(painter, around, &tip, UiRequest::CloseCallout(callout));
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
    use crate::dialogs::Dialogs;
    use crate::scene::{context, paint_over};
    use egui::{Event, PointerButton, Pos2, RawInput};
    use screen::fixtures::{lesson_page, status};
    use screen::{Drawing, LessonScreen, SidePanel, ViewOptions};
    use screen::{Screen, Sources};

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
        let frame = Frame {
            screen: Screen::default(),
            sources: Sources {
                status: Some(&status),
                options,
                drawing: &drawing,
                population: &Default::default(),
                lesson,
                timeline: &Default::default(),
            },
            timeline: &Default::default(),
            lab: &Default::default(),
            edit_overlay: &Default::default(),
            pixels: [1280, 800],
            scale: 1.0,
        };
        let frame = frame.composed();
        let (context, mut events) = (context(), Vec::new());
        let (mut places, mut all_requests) = (0, Vec::new());
        for step in 0..4 {
            let input = RawInput {
                events: std::mem::take(&mut events),
                ..Default::default()
            };
            let place = frame.layout();
            let mut none = Dialogs::default();
            let (output, requests) = paint_over(
                &context,
                (&frame, &frame.palette()),
                place.as_ref(),
                &mut none,
                input,
            );
            output.drop_without_applying_deltas();
            all_requests.extend(requests);
            let tipped = hit_regions::places(&context);
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
