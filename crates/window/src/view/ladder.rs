//! The live ladder: every rung's idea and its rate on a log axis, where the present kernel is among
//! them, and the limit: a [`LadderChart`]. In its place a rung's source, where what changed from the rung
//! before is marked as in a diff.

use egui::*;

use crate::view::code_editor::program;
use crate::view::style::*;
use engine::kernels::KERNELS;
use lang::tr;
use ui::ladder::{LadderChart, RateSource, Rung};
use ui::numbers::si;
use ui::{RungSource, ViewAction};

use RateSource::*;

/// Half a mark's width.
const MARK: f32 = 5.5;
/// What stands below the rungs, and the highest row of one.
const FOOT: f32 = 80.0;
const MAX_ROW: f32 = 56.0;
/// From this height on a row has its rung's idea below name and rate, which takes this of it.
const MIN_ROW_WITH_IDEA: f32 = 40.0;
const IDEA: f32 = 20.0;
/// The height of the limit's name above the rungs, and of the axis' figures below them.
const LIMIT: f32 = 20.0;
const TICKS: f32 = 22.0;
/// Figures on the axis.
const DECADES: [(f64, &str); 9] = [
    (1e8, "100 M"),
    (1e9, "1 G"),
    (1e10, "10 G"),
    (1e11, "100 G"),
    (1e12, "1 T"),
    (1e13, "10 T"),
    (1e14, "100 T"),
    (1e15, "1 P"),
    (1e16, "10 P"),
];
/// A rung's name and its rate in figures, beside the axis.
const NAMES: f32 = 116.0;
const RATES: f32 = 74.0;
/// The type of the source.
const TYPE: f32 = 12.0;

/// Shows the ladder in its rectangle.
pub(crate) fn show(ui: &mut Ui, chart: &LadderChart, rect: Rect) {
    let mut palette = palette(ui);
    if chart.is_recorded {
        palette.accent = palette.recorded; // of what the present kernel does
    }
    let title = tr!("Kernel ladder, cells per second");
    side_panel(ui, rect, title, ViewAction::ToggleLadder, |ui| {
        ui.spacing_mut().item_spacing.y = 2.0;
        ui.label(styled(&chart.headline, medium(19.0), palette.accent));
        ui.label(styled(
            tr!("now: first to last launch of a round; recorded: launches without a pause"),
            regular(13.0),
            palette.label,
        ));
        ui.spacing_mut().item_spacing.y = 0.0;
        let (_, above) = ui.allocate_space(vec2(ui.available_width(), LIMIT));
        if let Some(limit) = chart.limit {
            let text = tr!("limit {}", si(limit));
            let text = styled(text.trim_end(), regular(13.0), palette.limit);
            let at = pos2(x(chart, above, limit), above.center().y);
            let place = Rect::from_center_size(at, vec2(RATES, LIMIT));
            ui.put(place, Label::new(text).extend());
        }
        let room = (ui.available_height() - FOOT) / chart.rungs.len().max(1) as f32;
        for rung in &chart.rungs {
            show_rung(ui, chart, rung, room.min(MAX_ROW), &palette);
        }
        let (_, ticks) = ui.allocate_space(vec2(ui.available_width(), TICKS));
        for (rate, text) in decades(chart) {
            let at = pos2(x(chart, ticks, *rate), ticks.center().y);
            let font = regular(13.0);
            ui.painter()
                .text(at, Align2::CENTER_CENTER, *text, font, palette.label);
        }
        show_legend(ui, chart, &palette);
        ui.label(styled(&chart.caption, regular(13.0), palette.label));
    });
}

/// The axis' figures: from the last one below all rates to the first one above all rates and the limit. No rate
/// of a CPU is above 1 T.
fn decades(chart: &LadderChart) -> &'static [(f64, &'static str)] {
    let marks = chart.rungs.iter().filter_map(|rung| rung.mark);
    let rates = marks.map(|(rate, _)| rate).chain(chart.live);
    let least = rates.clone().fold(1e12, f64::min);
    let most = rates.chain(chart.limit).fold(1e12, f64::max);
    let [above, below] = [least, most].map(|it| DECADES.partition_point(|(rate, _)| *rate < it));
    &DECADES[above.saturating_sub(1)..DECADES.len().min(below + 1)]
}

/// Where a rate is in a row; decades are equally wide.
fn x(chart: &LadderChart, row: Rect, rate: f64) -> f32 {
    let power = rate.max(1.0).log10() as f32;
    let across = row.left() + NAMES..=row.right() - RATES;
    let axis = decades(chart);
    let [first, last] = [axis[0], axis[axis.len() - 1]].map(|(rate, _)| rate.log10() as f32);
    remap_clamp(power, first..=last, across)
}

/// A rung; a click shows its source.
fn show_rung(ui: &mut Ui, chart: &LadderChart, rung: &Rung, height: f32, palette: &Palette) {
    let size = vec2(ui.available_width(), height);
    let (all, button) = ui.allocate_exact_size(size, Sense::click());
    let role = accesskit::Role::Button;
    button.widget_info(|| WidgetInfo::selected(role, true, rung.present, &*rung.name));
    requests(&button, UiRequest::ShowSource(Some(rung.index)));
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
            regular(12.0),
            palette.label,
            all.width(),
        );
        painter.galley(row.left_bottom(), idea, palette.label);
    }
    for (rate, _) in decades(chart) {
        painter.vline(x(chart, row, *rate), row.y_range(), (1.0, palette.rule));
    }
    if let Some(limit) = chart.limit {
        painter.vline(x(chart, row, limit), row.y_range(), (2.0, palette.limit));
    }
    let colour = if rung.possible {
        palette.value
    } else {
        palette.faint
    };
    let name_font = if rung.present { medium } else { regular };
    let y = row.center().y;
    let name = fitted(painter, &rung.name, name_font(14.5), colour, NAMES - 20.0);
    put(painter, row.left_center(), Align2::LEFT_CENTER, name);
    let (rate, colour) = match rung.mark {
        Some((rate, source)) => {
            let at = pos2(x(chart, row, rate), y);
            let track = Stroke::new(2.0, palette.faint.gamma_multiply(0.5));
            painter.hline(x(chart, row, 0.0)..=at.x, y, track);
            paint_mark(painter, at, Some(source), palette);
            (si(rate), colour)
        }
        None => ("–".into(), palette.faint),
    };
    painter.text(
        row.right_center(),
        Align2::RIGHT_CENTER,
        rate.trim_end(),
        medium(14.5),
        colour,
    );
    if let (true, Some(live)) = (rung.present, chart.live) {
        let at = pos2(x(chart, row, live), y);
        paint_mark(painter, at, None, palette);
    }
    tip(button, || rung.tip());
}

/// A rate from this source, or, without one, what the present kernel does now.
fn paint_mark(painter: &Painter, at: Pos2, source: Option<RateSource>, palette: &Palette) {
    let (fill, edge) = match source {
        Some(Recorded) => (palette.value, palette.value),
        Some(Other) => (palette.faint, palette.faint),
        Some(Session) => (palette.background, palette.value),
        None => {
            let corners = [(0.0, -1.0), (1.0, 0.0), (0.0, 1.0), (-1.0, 0.0)];
            let corners = corners.map(|(x, y)| at + 1.6 * MARK * vec2(x, y));
            let edge = (2.0, palette.background);
            painter.add(Shape::convex_polygon(corners.into(), palette.accent, edge));
            return;
        }
    };
    painter.circle(at, MARK, fill, (2.0, edge));
}

/// The kinds of marks that the chart has.
fn show_legend(ui: &mut Ui, chart: &LadderChart, palette: &Palette) {
    let sources = [
        (Some(Recorded), tr!("recorded")),
        (Some(Other), tr!("with other lattices")),
        (Some(Session), tr!("in this session")),
        (None, tr!("now")),
    ];
    let marks = chart.rungs.iter().filter_map(|rung| rung.mark);
    let marks = marks.map(|(_, source)| Some(source));
    let shown: Vec<_> = marks.chain(chart.live.map(|_| None)).collect();
    ui.horizontal(|ui| {
        for (source, text) in sources
            .into_iter()
            .filter(|(source, _)| shown.contains(source))
        {
            let (_, mark) = ui.allocate_space(vec2(3.0 * MARK, 22.0));
            paint_mark(ui.painter(), mark.center(), source, palette);
            ui.label(RichText::new(text).small().color(palette.label));
        }
    });
}

/// Shows a rung's source in the ladder's rectangle.
pub(crate) fn show_source(ui: &mut Ui, source: &RungSource, rect: Rect) {
    let palette = palette(ui);
    let name = source.kernel.name;
    side_panel(ui, rect, name, ViewAction::ToggleLadder, |ui| {
        let idea = RichText::new(lang::keep_units(&source.kernel.idea())).font(regular(14.0));
        ui.label(idea);
        ui.horizontal_wrapped(|ui| show_buttons(ui, source));
        let card = Frame::new().fill(palette.code_background).corner_radius(4);
        card.inner_margin(Margin::symmetric(8, 6)).show(ui, |ui| {
            let area = ScrollArea::vertical().id_salt(name).auto_shrink(false);
            area.show(ui, |ui| {
                let columns = (ui.available_width() / (LETTER * TYPE)) as usize;
                ui.label(program(&source.lines, columns, true, TYPE, &palette))
            });
        });
    });
}

/// Back to the chart, and to the rungs below and above; what the signs stand for.
fn show_buttons(ui: &mut Ui, source: &RungSource) {
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
        requests(&ui.button(small(name)), UiRequest::ShowSource(rung));
    }
    if let Some(before) = source.compared_with {
        let text = small(tr!("+ and −: against {kernel}", kernel = before));
        ui.label(text.color(palette(ui).label));
    }
}
