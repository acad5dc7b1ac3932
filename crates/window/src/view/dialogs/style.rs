//! egui's style in the HUD's colours.

use egui::{Color32, CornerRadius, Margin, Stroke, TextStyle, Visuals, vec2};

use crate::view::hud::style::{medium, regular};
use ui::theme::Palette;

/// Gives every dialog its style, in these colours.
pub(crate) fn apply_style(context: &egui::Context, palette: &Palette<Color32>) {
    context.set_theme(egui::Theme::Dark);
    let mut style = egui::Style {
        // A dialog is there at once: nothing fades, and a picture of one is always the same.
        animation_time: 0.0,
        ..Default::default()
    };
    style.text_styles = [
        (TextStyle::Small, regular(13.0)),
        (TextStyle::Body, regular(16.0)),
        (TextStyle::Button, regular(16.0)),
        (TextStyle::Heading, medium(20.0)),
        (TextStyle::Monospace, egui::FontId::monospace(15.0)),
    ]
    .into();
    let spacing = &mut style.spacing;
    spacing.item_spacing = vec2(8.0, 5.0);
    spacing.window_margin = Margin::same(14);
    spacing.menu_margin = Margin::same(10);
    spacing.button_padding = vec2(9.0, 4.0);
    spacing.interact_size *= 1.2;
    style.visuals = visuals(palette);
    context.set_style_of(egui::Theme::Dark, style);
}

fn visuals(palette: &Palette<Color32>) -> Visuals {
    let mut visuals = Visuals::dark();
    let line = |colour| Stroke::new(1.0, colour);
    visuals.window_fill = palette.dialog;
    visuals.panel_fill = palette.dialog;
    visuals.window_stroke = line(palette.dialog_edge);
    visuals.window_corner_radius = CornerRadius::same(8);
    visuals.menu_corner_radius = CornerRadius::same(6);
    visuals.window_shadow = egui::Shadow::NONE;
    visuals.popup_shadow = egui::Shadow::NONE;
    visuals.extreme_bg_color = palette.field;
    visuals.faint_bg_color = palette.dialog_stripe;
    visuals.code_bg_color = palette.code_background;
    visuals.hyperlink_color = palette.accent;
    visuals.warn_fg_color = palette.rejected;
    visuals.error_fg_color = palette.failed_text;
    visuals.selection.bg_fill = palette.selected;
    visuals.selection.stroke = line(palette.accent);
    visuals.text_cursor.stroke = Stroke::new(2.0, palette.accent);
    visuals.text_cursor.blink = false; // a window at rest draws nothing
    let composition = &mut visuals.ime_composition;
    composition.active_underline_stroke.color = palette.composed;
    composition.inactive_underline_stroke.color = palette.composed.linear_multiply(0.5);
    let widgets = &mut visuals.widgets;
    for (widget, background, text_colour) in [
        (&mut widgets.noninteractive, palette.dialog, palette.label),
        (&mut widgets.inactive, palette.raised, palette.value),
        (
            &mut widgets.hovered,
            palette.raised_pointed,
            palette.highlight,
        ),
        (
            &mut widgets.active,
            palette.raised_pointed,
            palette.highlight,
        ),
        (&mut widgets.open, palette.raised, palette.value),
    ] {
        widget.bg_fill = background;
        widget.weak_bg_fill = background;
        widget.bg_stroke = line(palette.rule);
        widget.fg_stroke = line(text_colour);
        widget.corner_radius = CornerRadius::same(4);
        widget.expansion = 0.0;
    }
    visuals
}
