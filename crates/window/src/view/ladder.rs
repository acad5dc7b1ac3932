//! The live ladder: every rung's idea and its rate on a log axis, where the present kernel is among
//! them, and the limit: a [`LadderChart`]. In its place a rung's source, where what changed from the rung
//! before is marked as in a diff.

use egui::accesskit::Role;
use egui::{
    Align2, Button, Color32, FontId, Frame, Margin, Painter, Pos2, Rect, RichText, ScrollArea,
    Sense, Shape, Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2,
};

use crate::view::dialogs::UiRequest;
use crate::view::hud::style::*;
use crate::view::hud::{side_panel, tip};
use crate::view::widget_painter::WidgetPainter;
use engine::kernels::KERNELS;
use lang::tr;
use ui::ladder::{LadderChart, RateSource, Rung};
use ui::numbers::si;
use ui::rung_source::{Change, SourceLine};
use ui::theme::Palette;
use ui::{RungSource, ViewAction};

/// Half a mark's width.
const MARK: f32 = 5.5;
/// What stands below the rungs, and the highest row of one.
const FOOT: f32 = 80.0;
const MAX_ROW: f32 = 56.0;
/// From this height on a row has its rung's idea below name and rate, which takes this of it.
const MIN_ROW_WITH_IDEA: f32 = 40.0;
const IDEA: f32 = 20.0;
/// What stands above the axis, and below it.
const LIMIT: f32 = 20.0;
const TICKS: f32 = 22.0;
/// A rung's name and its rate in figures, beside the axis.
const NAMES: f32 = 116.0;
const RATES: f32 = 74.0;
/// The type of the source.
const TYPE: f32 = 12.0;
/// Columns of a line's sign, and what stands free for the bar that shows how far it is scrolled.
const SIGN: usize = 2;
const BAR: f32 = 12.0;

/// Shows the ladder in its rectangle.
pub(crate) fn show(painter: &WidgetPainter, chart: &LadderChart, rect: Rect) {
    let palette = painter.palette;
    let title = tr!("Kernel ladder, cells per second");
    side_panel(painter, rect, title, ViewAction::ToggleLadder, |ui| {
        ui.spacing_mut().item_spacing.y = 2.0;
        let width = ui.available_width();
        ui.label(fitted(
            painter,
            &chart.headline,
            medium(19.0),
            palette.accent,
            width,
        ));
        let how = tr!("while launches run, measured by events around them");
        ui.label(fitted(painter, how, regular(13.0), palette.label, width));
        ui.spacing_mut().item_spacing.y = 0.0;
        show_limit(ui, chart, palette.limit);
        let room = (ui.available_height() - FOOT) / chart.rungs.len().max(1) as f32;
        for rung in &chart.rungs {
            show_rung(painter, ui, chart, rung, room.min(MAX_ROW));
        }
        let (ticks, _) = ui.allocate_exact_size(vec2(width, TICKS), Sense::hover());
        for (part, text) in chart.axis.ticks() {
            let at = pos2(x(ticks, part), ticks.center().y);
            ui.painter().text(
                at,
                Align2::CENTER_CENTER,
                text,
                regular(13.0),
                palette.label,
            );
        }
        show_legend(ui, chart, &palette);
        ui.label(paragraph(
            painter,
            &chart.caption,
            regular(13.0),
            palette.label,
            width,
            2,
        ));
    });
}

/// Where this part of the axis is in a row.
fn x(row: Rect, part: f32) -> f32 {
    egui::lerp(row.left() + NAMES..=row.right() - RATES, part)
}

/// The limit's name over its line, or beside that where there is no room about it.
fn show_limit(ui: &mut Ui, chart: &LadderChart, colour: Color32) {
    let size = vec2(ui.available_width(), LIMIT);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let Some(limit) = chart.limit else { return };
    let text = tr!("limit {}", si(limit));
    let text = ui
        .painter()
        .layout_no_wrap(text.trim_end().into(), medium(13.5), colour);
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, text.text()));
    let half = text.size().x / 2.0;
    let end = x(rect, 1.0) - half + 30.0;
    let at = x(rect, chart.axis.part(limit)).clamp(x(rect, 0.0) + half, end);
    let corner = pos2(at - half, rect.center().y - text.size().y / 2.0);
    ui.painter().galley(corner, text, colour);
}

/// A rung; a click shows its source.
fn show_rung(widgets: &WidgetPainter, ui: &mut Ui, chart: &LadderChart, rung: &Rung, height: f32) {
    let palette = &widgets.palette;
    let size = vec2(ui.available_width(), height);
    let (all, button) = ui.allocate_exact_size(size, Sense::click());
    button.widget_info(|| WidgetInfo {
        selected: Some(rung.present),
        ..WidgetInfo::labeled(Role::Button, true, &*rung.name)
    });
    widgets.requests(&button, UiRequest::ShowSource(Some(rung.index)));
    let ground = all.expand2(vec2(6.0, 0.0));
    let painter = ui.painter();
    if rung.present {
        painter.rect_filled(ground, 4.0, palette.raised);
    }
    if button.hovered() || button.has_focus() {
        let edge = Stroke::new(1.0, palette.highlight);
        painter.rect_stroke(ground, 4.0, edge, StrokeKind::Inside);
    }
    let mut row = all;
    if height >= MIN_ROW_WITH_IDEA {
        row.set_bottom(all.bottom() - IDEA);
        let idea = fitted(
            painter,
            &rung.idea,
            regular(13.0),
            palette.label,
            all.width(),
        );
        painter.galley(row.left_bottom(), idea, palette.label);
    }
    for (part, _) in chart.axis.ticks() {
        painter.vline(x(row, part), row.y_range(), (1.0, palette.rule));
    }
    if let Some(limit) = chart.limit {
        painter.vline(
            x(row, chart.axis.part(limit)),
            row.y_range(),
            (2.0, palette.limit),
        );
    }
    let (colour, font) = match (rung.present, rung.possible) {
        (true, _) => (palette.accent, medium(14.5)),
        (false, true) => (palette.value, regular(14.5)),
        (false, false) => (palette.faint, regular(14.5)),
    };
    let y = row.center().y;
    let name = fitted(painter, &rung.name, font, colour, NAMES - 20.0);
    painter.galley(pos2(row.left(), y - name.size().y / 2.0), name, colour);
    let (rate, font, colour) = match rung.mark {
        Some((rate, source)) => {
            let at = pos2(x(row, chart.axis.part(rate)), y);
            let track = Stroke::new(2.0, palette.faint.gamma_multiply(0.5));
            painter.hline(x(row, 0.0)..=at.x, y, track);
            paint_mark(painter, at, source, palette);
            (si(rate), medium(14.5), colour)
        }
        None => ("–".into(), regular(14.5), palette.faint),
    };
    painter.text(
        row.right_center(),
        Align2::RIGHT_CENTER,
        rate.trim_end(),
        font,
        colour,
    );
    if let (true, Some(live)) = (rung.present, chart.live) {
        paint_live(painter, pos2(x(row, chart.axis.part(live)), y), palette);
    }
    tip(button, &rung.tip());
}

fn paint_mark(painter: &Painter, at: Pos2, source: RateSource, palette: &Palette<Color32>) {
    match source {
        RateSource::Recorded => painter.circle_filled(at, MARK, palette.value),
        RateSource::Other => painter.circle_filled(at, MARK, palette.faint),
        RateSource::Session => {
            let edge = Stroke::new(2.0, palette.value);
            painter.circle(at, MARK, palette.background, edge)
        }
    };
}

fn paint_live(painter: &Painter, at: Pos2, palette: &Palette<Color32>) {
    let half = 1.5 * MARK;
    let corners = [
        vec2(0.0, -half),
        vec2(half, 0.0),
        vec2(0.0, half),
        vec2(-half, 0.0),
    ];
    let corners = corners.map(|corner| at + corner).to_vec();
    let edge = Stroke::new(1.0, palette.background);
    painter.add(Shape::convex_polygon(corners, palette.accent, edge));
}

/// The kinds of marks that the chart has.
fn show_legend(ui: &mut Ui, chart: &LadderChart, palette: &Palette<Color32>) {
    let sources = [
        (Some(RateSource::Recorded), tr!("recorded")),
        (Some(RateSource::Other), tr!("with other lattices")),
        (Some(RateSource::Session), tr!("in this session")),
        (None, tr!("now")),
    ];
    let is_there = |source: Option<RateSource>| match source {
        Some(source) => chart
            .rungs
            .iter()
            .any(|rung| rung.mark.is_some_and(|(_, of)| of == source)),
        None => chart.live.is_some(),
    };
    ui.horizontal(|ui| {
        for (source, text) in sources.into_iter().filter(|(source, _)| is_there(*source)) {
            let (mark, _) = ui.allocate_exact_size(vec2(2.0 * MARK, 22.0), Sense::hover());
            match source {
                Some(source) => paint_mark(ui.painter(), mark.center(), source, palette),
                None => paint_live(ui.painter(), mark.center(), palette),
            }
            ui.label(RichText::new(text).small().color(palette.label));
            ui.add_space(6.0);
        }
    });
}

/// Shows a rung's source in the ladder's rectangle.
pub(crate) fn show_source(painter: &WidgetPainter, source: &RungSource, rect: Rect) {
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
