//! A rung's source in the ladder's place: what changed from the rung before is marked as in a diff.

use egui::accesskit::Role;
use egui::{
    Align2, Button, Color32, FontId, Frame, Margin, Rect, RichText, ScrollArea, Sense, Ui,
    WidgetInfo, vec2,
};

use crate::view::dialogs::UiRequest;
use crate::view::hud::side_panel;
use crate::view::hud::style::*;
use crate::view::widget_painter::WidgetPainter;
use engine::kernels::KERNELS;
use lang::tr;
use ui::rung_source::{Change, SourceLine};
use ui::theme::Palette;
use ui::{RungSource, ViewAction};

/// The type of the source, a letter's width and a line's height of it.
const TYPE: f32 = 12.0;
const LETTER: f32 = 0.604;
const LEADING: f32 = 1.3;
/// Columns of a line's sign, and what stands free for the bar that shows how far it is scrolled.
const SIGN: usize = 2;
const BAR: f32 = 12.0;

/// Shows a rung's source in the ladder's rectangle.
pub(crate) fn show(painter: &WidgetPainter, source: &RungSource, rect: Rect) {
    let palette = painter.palette;
    let name = source.kernel.name;
    side_panel(painter, rect, name, ViewAction::ToggleLadder, |ui| {
        let idea = RichText::new(lang::keep_units(&source.idea)).font(regular(14.0));
        ui.label(idea);
        ui.horizontal_wrapped(|ui| show_buttons(painter, ui, source));
        let card = Frame::new().fill(palette.code_background).corner_radius(4);
        card.inner_margin(Margin::symmetric(8, 6)).show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            let columns = ((ui.available_width() - BAR) / (LETTER * TYPE)) as usize;
            let lines = source.wrapped(columns.saturating_sub(SIGN).max(20));
            let area = ScrollArea::vertical().id_salt(name).auto_shrink(false);
            area.show_rows(ui, LEADING * TYPE, lines.len(), |ui, rows| {
                for line in &lines[rows] {
                    show_line(ui, &palette, line);
                }
            });
        });
    });
}

/// Back to the chart, and to the rungs below and above; what the signs stand for.
fn show_buttons(painter: &WidgetPainter, ui: &mut Ui, source: &RungSource) {
    let below = match &source.kernel.own {
        Some(own) => Some(own.rung.index()),
        None => source.kernel.index().checked_sub(1),
    };
    let above = Some(source.kernel.index() + 1).filter(|rung| *rung < KERNELS.len());
    let named = |sign: &str, rung: usize| format!("{sign} {}", KERNELS[rung].name);
    let buttons = [
        Some((tr!("All rungs").to_owned(), None)),
        below.map(|rung| (named("↓", rung), Some(rung))),
        above.map(|rung| (named("↑", rung), Some(rung))),
    ];
    let small = |name: String| RichText::new(name).font(regular(13.0));
    for (name, rung) in buttons.into_iter().flatten() {
        painter.requests(&ui.button(small(name)), UiRequest::ShowSource(rung));
    }
    if source.has_ptx() {
        chosen_have_the_accent(ui, &painter.palette);
        let button = Button::selectable(source.is_ptx, small("PTX".into()));
        let button = ui.add(button.frame_when_inactive(true));
        painter.requests(&button, UiRequest::ShowPtx(!source.is_ptx));
    }
    if let Some(before) = source.compared_with {
        let text = small(tr!("+ and −: against {kernel}", kernel = before));
        ui.label(text.color(painter.palette.label));
    }
}

fn show_line(ui: &mut Ui, palette: &Palette<Color32>, line: &SourceLine) {
    let size = vec2(ui.available_width(), LEADING * TYPE);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let text = format!("{} {}", line.change.sign(), line.text);
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, text.trim_end()));
    let is_comment = line.text.trim_start().starts_with("//");
    let colour = match line.change {
        Change::Added => palette.running,
        Change::Removed => palette.failed_text,
        Change::Same if is_comment => palette.faint,
        Change::Same => palette.value,
    };
    let painter = ui.painter();
    if line.change == Change::Added {
        painter.rect_filled(rect, 0.0, palette.running_background);
    }
    let font = FontId::monospace(TYPE);
    painter.text(rect.left_top(), Align2::LEFT_TOP, text, font, colour);
}
