//! A rung's source in the ladder's place: what changed from the rung before is marked as in a diff.

use egui::accesskit::Role;
use egui::{Align2, Color32, FontId, Rect, ScrollArea, Sense, Ui, WidgetInfo, pos2, vec2};

use crate::view::dialogs::UiRequest;
use crate::view::hud::style::*;
use crate::view::hud::{choice_button, close_button, text_button};
use crate::view::widget_painter::WidgetPainter;
use engine::kernels::KERNELS;
use lang::tr;
use ui::rung_source::{Change, SourceLine};
use ui::theme::Palette;
use ui::{RungSource, ViewAction};

const PAD: f32 = 14.0;
const TITLE: f32 = 30.0;
const IDEA: f32 = 40.0;
const BUTTONS: f32 = 26.0;
/// The type of the source, a letter's width and a line's height of it.
const TYPE: f32 = 12.0;
const LETTER: f32 = 0.604;
const LEADING: f32 = 1.3;
/// Columns of a line's sign, and what stands free for the bar that shows how far it is scrolled.
const SIGN: usize = 2;
const BAR: f32 = 12.0;

/// Paints a rung's source into the ladder's rectangle.
pub(crate) fn paint(painter: &WidgetPainter, source: &RungSource, rect: Rect) {
    let palette = &painter.palette;
    let line = (1.0, palette.rule);
    painter.vline(rect.right() - 0.5, rect.y_range(), line);
    painter.hline(rect.x_range(), rect.top() + 0.5, line);
    let inside = rect.shrink2(vec2(PAD, 6.0));
    let row = |y: f32, height: f32| {
        Rect::from_min_size(pos2(inside.left(), y), vec2(inside.width(), height))
    };
    let title = row(inside.top(), TITLE);
    let name = painter.layout_no_wrap(source.kernel.name.into(), medium(18.0), palette.value);
    put(painter, title.left_center(), Align2::LEFT_CENTER, name);
    let close = ViewAction::ToggleLadder;
    close_button(painter, title.right_center(), close);
    let idea = row(title.bottom(), IDEA);
    let font = regular(14.0);
    let text = paragraph(painter, &source.idea, font, palette.value, idea.width(), 2);
    put(painter, idea.left_top(), Align2::LEFT_TOP, text);
    let buttons = row(idea.bottom(), BUTTONS);
    paint_buttons(painter, source, buttons);
    let top = buttons.bottom() + 6.0;
    let code = Rect::from_min_max(pos2(inside.left(), top), inside.max);
    paint_code(painter, source, code);
}

/// Back to the chart, and to the rungs below and above; what the signs stand for.
fn paint_buttons(painter: &WidgetPainter, source: &RungSource, row: Rect) {
    let below = match &source.kernel.own {
        Some(own) => Some(own.rung.index()),
        None => source.kernel.index().checked_sub(1),
    };
    let above = Some(source.kernel.index() + 1).filter(|rung| *rung < KERNELS.len());
    let back = tr!("All rungs");
    let named = |sign: &str, rung: usize| format!("{sign} {}", KERNELS[rung].name);
    let buttons = [
        Some((back.to_owned(), None)),
        below.map(|rung| (named("↓", rung), Some(rung))),
        above.map(|rung| (named("↑", rung), Some(rung))),
    ];
    let palette = &painter.palette;
    let mut left = row.left();
    for (name, rung) in buttons.into_iter().flatten() {
        let (corner, height) = (pos2(left, row.top()), row.height() - 4.0);
        let request = UiRequest::ShowSource(rung);
        left = text_button(painter, corner, height, name, request) + 6.0;
    }
    if source.has_ptx() {
        let (corner, height) = (pos2(left, row.top()), row.height() - 4.0);
        let request = UiRequest::ShowPtx(!source.is_ptx);
        let is_on = Some(source.is_ptx);
        let right = choice_button(painter, corner, height, "PTX".into(), is_on, request);
        left = right + 6.0;
    }
    let Some(before) = source.compared_with else {
        return;
    };
    let text = tr!("+ and −: against {kernel}", kernel = before);
    let room = row.right() - left;
    let text = fitted(painter, &text, regular(13.0), palette.label, room);
    let right = pos2(row.right(), row.center().y - 2.0);
    put(painter, right, Align2::RIGHT_CENTER, text);
}

/// The lines, which the wheel scrolls.
fn paint_code(painter: &WidgetPainter, source: &RungSource, rect: Rect) {
    let palette = painter.palette;
    painter.rect_filled(rect, 4.0, palette.code_background);
    let size = TYPE;
    let height = LEADING * size;
    let mut inside = rect.shrink2(vec2(8.0, 6.0));
    // Whole lines.
    inside.set_height((inside.height() / height).floor() * height);
    let columns = ((inside.width() - BAR) / (LETTER * size)) as usize;
    let lines = source.wrapped(columns.saturating_sub(SIGN).max(20));
    painter.lay_out(inside, source.kernel.name, |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        let area = ScrollArea::vertical().id_salt(source.kernel.name);
        area.auto_shrink(false)
            .show_rows(ui, height, lines.len(), |ui, rows| {
                for line in &lines[rows] {
                    paint_line(ui, &palette, line, size, height);
                }
            });
    });
}

fn paint_line(ui: &mut Ui, palette: &Palette<Color32>, line: &SourceLine, size: f32, height: f32) {
    let (rect, response) =
        ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::hover());
    if ui.clip_rect().intersect(rect).height() < 1.0 {
        return; // a line more than fits
    }
    let text = format!("{} {}", line.change.sign(), line.text);
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, text.trim_end()));
    let is_comment = line.text.trim_start().starts_with("//");
    let colour = match line.change {
        Change::Added => palette.running,
        Change::Removed => palette.failed_text,
        Change::Same if is_comment => palette.faint,
        Change::Same => palette.value,
    };
    if line.change == Change::Added {
        ui.painter()
            .rect_filled(rect, 0.0, palette.running_background);
    }
    let font = FontId::monospace(size);
    let at = rect.left_top();
    ui.painter().text(at, Align2::LEFT_TOP, text, font, colour);
}
