//! Every key, on a card over the dimmed window; made from the table of keys.

use egui::emath::GuiRounding as _;
use egui::{Align2, Color32, Painter, Rect, Stroke, StrokeKind, vec2};

use crate::lang::tr;
use crate::session::actions::{Binding, KEYS};
use crate::view::hud::style::*;

const LINE: f32 = 27.0;
const TITLE: f32 = 52.0;
const PAD: f32 = 28.0;
const BETWEEN: f32 = 44.0;

/// Paints the card into the middle of the screen, as large as it needs and as fits.
pub(super) fn paint(painter: &Painter, screen: Rect, unit: f32) {
    painter.rect_filled(screen, 0.0, Color32::from_black_alpha(170));
    let widths = |unit: f32| {
        let width = |text: String, font| painter.layout_no_wrap(text, font, VALUE).size().x;
        let keys = KEYS
            .iter()
            .map(|row| width(row.keys(), medium(16.0 * unit)));
        let help = KEYS
            .iter()
            .map(|row| width(row.help().into(), regular(16.0 * unit)));
        (keys.fold(0.0, f32::max), help.fold(0.0, f32::max))
    };
    // Laid out once at full size, then scaled: type is not exactly linear, hence the margin.
    let (keys, help) = widths(unit);
    let column = keys + 18.0 * unit + help;
    let need = |columns: usize| {
        let across = columns as f32;
        let rows = KEYS.len().div_ceil(columns) as f32;
        vec2(
            across * column + (across - 1.0) * BETWEEN * unit + 2.0 * PAD * unit,
            (TITLE + rows * LINE + PAD) * unit,
        )
    };
    let room = screen.size() - vec2(16.0, 16.0);
    let scale_of = |columns: usize| {
        let need = need(columns);
        (room.x / need.x).min(room.y / need.y).min(1.0)
    };
    // The largest type, in as few columns as have it.
    let larger = |best: usize, columns| match scale_of(columns) > scale_of(best) {
        true => columns,
        false => best,
    };
    let columns = (2..=4).fold(1, larger);
    let shrink = scale_of(columns);
    let unit = if shrink < 1.0 {
        unit * shrink * 0.98
    } else {
        unit
    };
    let (keys, help) = widths(unit);
    let lines = KEYS.len().div_ceil(columns);
    let width = columns as f32 * (keys + 18.0 * unit + help)
        + (columns - 1) as f32 * BETWEEN * unit
        + 2.0 * PAD * unit;
    let height = (TITLE + lines as f32 * LINE + PAD) * unit;
    let card = Rect::from_center_size(screen.center(), vec2(width, height)).round_ui();
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
    for (index, row) in KEYS.iter().enumerate() {
        let across = (index / lines) as f32 * (keys + 18.0 * unit + help + BETWEEN * unit);
        let down = (TITLE + (index % lines) as f32 * LINE + LINE / 2.0) * unit;
        line(
            painter,
            card.min + vec2(PAD * unit + across, down),
            keys,
            unit,
            row,
        );
    }
}

fn line(painter: &Painter, at: egui::Pos2, keys: f32, unit: f32, row: &Binding) {
    let chord = painter.layout_no_wrap(row.keys(), medium(16.0 * unit), ACCENT);
    put(painter, at + vec2(keys, 0.0), Align2::RIGHT_CENTER, chord);
    let help = painter.layout_no_wrap(row.help().into(), regular(16.0 * unit), VALUE);
    put(
        painter,
        at + vec2(keys + 18.0 * unit, 0.0),
        Align2::LEFT_CENTER,
        help,
    );
}
