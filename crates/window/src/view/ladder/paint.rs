//! The ladder, painted piece by piece.

use egui::{Align2, Pos2, Rect, Shape, Stroke, StrokeKind, pos2, vec2};

use crate::view::dialogs::UiRequest;
use crate::view::hud::close_button;
use crate::view::hud::style::*;
use crate::view::ladder::layout::LadderLayout;
use crate::view::widget_painter::{Spoken, WidgetPainter};
use lang::tr;
use ui::ViewAction;
use ui::ladder::{LadderChart, RateSource, Rung};
use ui::numbers::si;

/// Half a mark's width.
const MARK: f32 = 5.5;
/// From this height on a row has its rung's idea below name and rate.
const MIN_ROW_WITH_IDEA: f32 = 40.0;
/// What the idea takes of such a row.
const IDEA: f32 = 20.0;

/// Paints the ladder into its rectangle.
pub(crate) fn paint(painter: &WidgetPainter, shown: &LadderChart, rect: Rect) {
    let places = LadderLayout::new(rect, shown.rungs.len());
    let line = (1.0, painter.palette.rule);
    painter.vline(rect.right() - 0.5, rect.y_range(), line);
    painter.hline(rect.x_range(), rect.top() + 0.5, line);
    paint_title(painter, &places);
    paint_lead(painter, &places, shown);
    for (rung, row) in shown.rungs.iter().zip(&places.rows) {
        if rung.present {
            painter.rect_filled(row.expand2(vec2(6.0, 0.0)), 4.0, painter.palette.raised);
        }
    }
    paint_axis(painter, &places, shown);
    for (rung, row) in shown.rungs.iter().zip(&places.rows) {
        let tip = rung.tip();
        let spoken = Spoken::new(&rung.name, &tip).on(Some(rung.present));
        let is_over = painter.request(*row, &spoken, UiRequest::ShowSource(Some(rung.index)));
        paint_rung(painter, &places, shown, rung, *row, is_over);
    }
    paint_legend(painter, &places, shown);
}

fn paint_title(painter: &WidgetPainter, places: &LadderLayout) {
    let title = places.title;
    let text = painter.layout_no_wrap(
        tr!("Kernel ladder, cells per second").into(),
        medium(18.0),
        painter.palette.value,
    );
    put(painter, title.left_center(), Align2::LEFT_CENTER, text);
    close_button(painter, title.right_center(), ViewAction::ToggleLadder);
}

fn paint_lead(painter: &WidgetPainter, places: &LadderLayout, shown: &LadderChart) {
    let headline = places.headline;
    let text = fitted(
        painter,
        &shown.headline,
        medium(19.0),
        painter.palette.accent,
        headline.width(),
    );
    put(painter, headline.left_top(), Align2::LEFT_TOP, text);
    let how = tr!("while launches run, measured by events around them");
    let how = fitted(
        painter,
        how,
        regular(13.0),
        painter.palette.label,
        headline.width(),
    );
    put(
        painter,
        headline.left_top() + vec2(0.0, 24.0),
        Align2::LEFT_TOP,
        how,
    );
}

/// Powers of ten, and the limit.
fn paint_axis(painter: &WidgetPainter, places: &LadderLayout, shown: &LadderChart) {
    let thin = 1.0;
    for (part, text) in shown.axis.ticks() {
        let x = places.x(part);
        for row in &places.rows {
            let (row, _) = split(*row);
            painter.vline(x, row.y_range(), (thin, painter.palette.rule));
        }
        let text = painter.layout_no_wrap(text, regular(13.0), painter.palette.label);
        let at = pos2(x, places.ticks.center().y);
        put(painter, at, Align2::CENTER_CENTER, text);
    }
    if let Some(limit) = shown.limit {
        let x = places.x(shown.axis.part(limit));
        for row in &places.rows {
            let (row, _) = split(*row);
            painter.vline(x, row.y_range(), (2.0 * thin, painter.palette.limit));
        }
        let text = tr!("limit {}", si(limit));
        let text =
            painter.layout_no_wrap(text.trim_end().into(), medium(13.5), painter.palette.limit);
        // Beside the line where there is no room about it.
        let half = text.size().x / 2.0;
        let x = x.clamp(
            places.limit.left() + half,
            places.ticks.right() - half + 30.0,
        );
        let at = pos2(x, places.limit.center().y);
        put(painter, at, Align2::CENTER_CENTER, text);
    }
}

/// What of a rung's row is on the axis, and the place of its idea below if there is room for it.
fn split(row: Rect) -> (Rect, Option<Rect>) {
    if row.height() < MIN_ROW_WITH_IDEA {
        return (row, None);
    }
    let (row, below) = row.split_top_bottom_at_y(row.bottom() - IDEA);
    (row, Some(below))
}

fn paint_rung(
    painter: &WidgetPainter,
    places: &LadderLayout,
    shown: &LadderChart,
    rung: &Rung,
    row: Rect,
    is_over: bool,
) {
    if is_over {
        let edge = Stroke::new(1.0, painter.palette.highlight);
        let frame = row.expand2(vec2(6.0, 0.0));
        painter.rect_stroke(frame, 4.0, edge, StrokeKind::Inside);
    }
    let (row, below) = split(row);
    if let Some(below) = below {
        let font = regular(13.0);
        let idea = fitted(
            painter,
            &rung.idea,
            font,
            painter.palette.label,
            row.width(),
        );
        put(painter, below.left_top(), Align2::LEFT_TOP, idea);
    }
    let text_colour = match (rung.present, rung.possible) {
        (true, _) => painter.palette.accent,
        (false, true) => painter.palette.value,
        (false, false) => painter.palette.faint,
    };
    let room = places.axis.left() - row.left() - 8.0;
    let font = if rung.present {
        medium(14.5)
    } else {
        regular(14.5)
    };
    let name = fitted(painter, &rung.name, font, text_colour, room);
    put(painter, row.left_center(), Align2::LEFT_CENTER, name);

    let y = row.center().y;
    if let Some((rate, source)) = rung.mark {
        let x = places.x(shown.axis.part(rate));
        let track = Stroke::new(2.0, painter.palette.faint.gamma_multiply(0.5));
        painter.hline(places.axis.left()..=x, y, track);
        paint_mark(painter, pos2(x, y), source);
        let value = si(rate);
        let value = painter.layout_no_wrap(value.trim_end().into(), medium(14.5), text_colour);
        put(painter, row.right_center(), Align2::RIGHT_CENTER, value);
    } else {
        let none = painter.layout_no_wrap("–".into(), regular(14.5), painter.palette.faint);
        put(painter, row.right_center(), Align2::RIGHT_CENTER, none);
    }
    if let (true, Some(live)) = (rung.present, shown.live) {
        paint_live(painter, pos2(places.x(shown.axis.part(live)), y));
    }
}

fn paint_mark(painter: &WidgetPainter, at: Pos2, source: RateSource) {
    let radius = MARK;
    match source {
        RateSource::Recorded => painter.circle_filled(at, radius, painter.palette.value),
        RateSource::Other => painter.circle_filled(at, radius, painter.palette.faint),
        RateSource::Session => {
            let edge = Stroke::new(2.0, painter.palette.value);
            painter.circle(at, radius, painter.palette.background, edge)
        }
    };
}

fn paint_live(painter: &WidgetPainter, at: Pos2) {
    let half = 1.5 * MARK;
    let corners = [
        vec2(0.0, -half),
        vec2(half, 0.0),
        vec2(0.0, half),
        vec2(-half, 0.0),
    ];
    let corners = corners.map(|corner| at + corner).to_vec();
    let edge = Stroke::new(1.0, painter.palette.background);
    painter.add(Shape::convex_polygon(corners, painter.palette.accent, edge));
}

/// Paints the legend: the kinds of marks that the chart has.
fn paint_legend(painter: &WidgetPainter, places: &LadderLayout, shown: &LadderChart) {
    let sources = [
        (RateSource::Recorded, tr!("recorded")),
        (RateSource::Other, tr!("with other lattices")),
        (RateSource::Session, tr!("in this session")),
    ];
    let there = |source: RateSource| {
        let marks = shown.rungs.iter().filter_map(|rung| rung.mark);
        marks.into_iter().any(|(_, of)| of == source)
    };
    let mut at = places.legend.left_center() + vec2(MARK, 0.0);
    let word = |at: Pos2, text: &str| {
        let text = painter.layout_no_wrap(text.into(), regular(13.0), painter.palette.label);
        let width = text.size().x;
        put(painter, at + vec2(13.0, 0.0), Align2::LEFT_CENTER, text);
        width + 36.0
    };
    for (source, text) in sources.into_iter().filter(|(source, _)| there(*source)) {
        paint_mark(painter, at, source);
        at.x += word(at, text);
    }
    if shown.live.is_some() {
        paint_live(painter, at);
        word(at, tr!("now"));
    }
    let caption = paragraph(
        painter,
        &shown.caption,
        regular(13.0),
        painter.palette.label,
        places.caption.width(),
        2,
    );
    put(
        painter,
        places.caption.left_top(),
        Align2::LEFT_TOP,
        caption,
    );
}
