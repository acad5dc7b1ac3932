//! What keeps streams from overlapping, beside the timeline whose round it is about: each cause with
//! what shows it, what it costs, and a button that takes it away.

use egui::*;

use crate::view::Frame;
use crate::view::style::*;
use lang::tr;
use ui::ViewAction;
use ui::diagnosis::Evidence;

/// Shows the causes in their rectangle.
pub(crate) fn show(ui: &mut Ui, frame: &Frame<'_>, rect: Rect) {
    let (palette, screen) = (palette(ui), &frame.screen);
    let title = tr!("Why streams do not overlap");
    side_panel(ui, rect, title, ViewAction::ToggleCauses, |ui| {
        let Some(overlap) = &screen.overlap else {
            let why = tr!("Not measured while A and B are compared");
            return drop(ui.label(styled(why, regular(14.0), palette.label)));
        };
        let figures = match &screen.recorded {
            None => palette.accent,
            Some(_) => palette.recorded,
        };
        let line = lang::keep_units(overlap);
        ui.label(styled(line, medium(16.0), figures));
        let (note, colour) = match (&screen.recorded, &screen.round) {
            (Some(recorded), Some(_)) => (recorded.origin.as_str(), palette.recorded),
            (Some(recorded), None) => (recorded.missing.as_str(), palette.label),
            (None, Some(_)) => (
                tr!("in the round shown, which is typical of the last few"),
                palette.label,
            ),
            (None, None) => (tr!("No round has been timed yet"), palette.label),
        };
        ui.label(styled(lang::keep_units(note), regular(14.0), colour));
        ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
            let judged = frame.sources.timeline.diagnosis.as_ref();
            if let Some((judged, status)) = judged.zip(frame.sources.status) {
                for cause in judged.causes() {
                    ui.add_space(12.0);
                    let cause = judged.evidence(cause, status.setting.kernel);
                    show_cause(ui, &cause, figures);
                }
            }
        });
    });
}

fn show_cause(ui: &mut Ui, cause: &Evidence, figures: Color32) {
    let palette = palette(ui);
    let text = |text: &str, font, colour| styled(lang::keep_units(text), font, colour);
    ui.label(text(&cause.title(), medium(15.0), palette.value));
    if !cause.shown_by.is_empty() {
        ui.label(text(&cause.shown_by, regular(13.5), palette.label));
    }
    if let Some(part) = cause.part {
        let bar = ProgressBar::new(part).fill(figures).corner_radius(0);
        ui.add(bar.desired_height(6.0));
    }
    ui.horizontal_wrapped(|ui| {
        ui.label(text(&cause.cost, medium(14.0), figures));
        let remedy = RichText::new(&cause.remedy).font(regular(14.0));
        match cause.action {
            Some(action) => asks(&ui.add(Button::new(remedy)), action),
            None => _ = ui.label(remedy),
        }
    });
}
