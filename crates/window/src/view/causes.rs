//! What keeps streams from overlapping, beside the timeline whose round it is about: each cause with
//! what shows it, what it costs, and a button that takes it away.

use egui::*;

use crate::view::style::*;
use lang::tr;
use session::Status;
use ui::diagnosis::{Evidence, overlap_in_words};
use ui::{RecordedTexts, Timeline, ViewAction};

/// Shows the causes in their rectangle.
pub(crate) fn show(ui: &mut Ui, timeline: &Timeline, status: &Status, rect: Rect) {
    let (palette, judged) = (palette(ui), timeline.diagnosis.as_ref());
    let title = tr!("Why streams do not overlap");
    side_panel(ui, rect, title, ViewAction::ToggleCauses, |ui| {
        let Some(overlap) = overlap_in_words(judged, status) else {
            let why = tr!("Not measured while A and B are compared");
            return drop(ui.label(styled(why, regular(14.0), palette.label)));
        };
        let recorded = RecordedTexts::of(status);
        let figures = match &recorded {
            None => palette.accent,
            Some(_) => palette.recorded,
        };
        let line = lang::keep_units(&overlap);
        ui.label(styled(line, medium(16.0), figures));
        let (note, colour) = match (&recorded, &timeline.chart) {
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
            if let Some(judged) = judged {
                for cause in judged.causes() {
                    ui.add_space(12.0);
                    let cause = judged.evidence(cause, status.setting.kernel);
                    show_cause(ui, &cause, figures);
                }
                let others = judged.others();
                if !others.is_empty() {
                    ui.add_space(12.0);
                    let heading = tr!("Looked for, with little or no effect:");
                    ui.label(styled(heading, medium(13.5), palette.label));
                }
                for other in others {
                    ui.label(styled(format!("· {other}"), regular(13.5), palette.label));
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
