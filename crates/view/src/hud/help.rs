//! Every key, on a card over the dimmed window; made from the table of keys.

use egui::emath::GuiRounding as _;
use egui::{Align2, Color32, Painter, Rect, Stroke, StrokeKind, pos2, vec2};

use crate::hud::style::*;
use lang::tr;
use model::actions::{Binding, KEYS};

const LINE: f32 = 27.0;
const TITLE: f32 = 52.0;
const PAD: f32 = 28.0;
const BETWEEN: f32 = 32.0;
/// Between a row's keys and what they do.
const BESIDE: f32 = 18.0;

/// Paints the card into the middle of the screen, as large as it needs and as fits.
pub(super) fn paint(painter: &Painter, screen: Rect, unit: f32) {
    painter.rect_filled(screen, 0.0, Color32::from_black_alpha(170));
    // Of each column, how wide its keys and what they do are.
    let widths = |unit: f32, columns: usize| -> Vec<[f32; 2]> {
        let width = |text: String, font| painter.layout_no_wrap(text, font, VALUE).size().x;
        let lines = KEYS.len().div_ceil(columns);
        let widest = |rows: &[Binding]| {
            let keys = rows
                .iter()
                .map(|row| width(row.keys(), medium(16.0 * unit)));
            let help = rows
                .iter()
                .map(|row| width(row.help().into(), regular(16.0 * unit)));
            [keys.fold(0.0, f32::max), help.fold(0.0, f32::max)]
        };
        KEYS.chunks(lines).map(widest).collect()
    };
    let need = |unit: f32, widths: &[[f32; 2]]| {
        let columns: f32 = widths
            .iter()
            .map(|[keys, help]| keys + BESIDE * unit + help)
            .sum();
        let between = (widths.len() - 1) as f32 * BETWEEN;
        let rows = KEYS.len().div_ceil(widths.len()) as f32;
        vec2(
            columns + (between + 2.0 * PAD) * unit,
            (TITLE + rows * LINE + PAD) * unit,
        )
    };
    // Laid out once at full size, then scaled: type is not exactly linear, hence the margin.
    let room = screen.size() - vec2(16.0, 16.0);
    let scale_of = |columns: usize| {
        let need = need(unit, &widths(unit, columns));
        (room.x / need.x).min(room.y / need.y).min(1.0)
    };
    // The largest type, in as few columns as have it.
    let scales = (1..=4).map(|columns| (columns, scale_of(columns)));
    let larger = |best: (usize, f32), it: (usize, f32)| if it.1 > best.1 { it } else { best };
    let (columns, shrink) = scales.fold((1, 0.0), larger);
    let unit = if shrink < 1.0 {
        unit * shrink * 0.98
    } else {
        unit
    };
    let widths = widths(unit, columns);
    let lines = KEYS.len().div_ceil(columns);
    let size = need(unit, &widths);
    let card = Rect::from_center_size(screen.center(), size).round_ui();
    painter.rect_filled(card, 10.0 * unit, Color32::from_rgb(0x1A, 0x1D, 0x23));
    let edge = Stroke::new(unit.max(1.0), Color32::from_rgb(0x3C, 0x43, 0x4E));
    painter.rect_stroke(card, 10.0 * unit, edge, StrokeKind::Inside);
    let title = painter.layout_no_wrap(tr!("Keys").into(), medium(22.0 * unit), VALUE);
    put(
        painter,
        card.min + vec2(PAD, 0.52 * TITLE) * unit,
        Align2::LEFT_CENTER,
        title,
    );
    let close = painter.layout_no_wrap(tr!("Esc closes").into(), regular(14.0 * unit), LABEL);
    let corner = card.right_top() + vec2(-PAD, 0.52 * TITLE) * unit;
    put(painter, corner, Align2::RIGHT_CENTER, close);
    let mut left = card.left() + PAD * unit;
    for (rows, [keys, help]) in KEYS.chunks(lines).zip(widths) {
        for (index, row) in rows.iter().enumerate() {
            let down = (TITLE + index as f32 * LINE + LINE / 2.0) * unit;
            line(painter, pos2(left, card.top() + down), keys, unit, row);
        }
        left += keys + help + (BESIDE + BETWEEN) * unit;
    }
}

fn line(painter: &Painter, at: egui::Pos2, keys: f32, unit: f32, row: &Binding) {
    let chord = painter.layout_no_wrap(row.keys(), medium(16.0 * unit), ACCENT);
    put(painter, at + vec2(keys, 0.0), Align2::RIGHT_CENTER, chord);
    let help = painter.layout_no_wrap(row.help().into(), regular(16.0 * unit), VALUE);
    put(
        painter,
        at + vec2(keys + BESIDE * unit, 0.0),
        Align2::LEFT_CENTER,
        help,
    );
}
