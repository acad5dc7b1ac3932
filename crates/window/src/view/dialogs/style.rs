//! egui's style in the HUD's colours.

use egui::{
    Align, Align2, Area, Color32, CornerRadius, Id, Layout, Margin, Modal, Order, Rect, Response,
    Sense, Stroke, TextStyle, Ui, UiKind, Visuals, pos2, vec2,
};

use crate::view::dialogs::DialogContext;
use crate::view::hud::style::{medium, regular};
use lang::tr;
use ui::theme::Palette;
use ui::{Action, ViewAction};

/// Lays out a dialog over the dimmed scene, below its title and the button that closes it: its name, how far
/// its top is from the window's as a share of the height, and its width in points. Whether it was left: by
/// that button, or by a click beside it.
pub(super) fn dialog(
    cx: DialogContext<'_>,
    (name, title): (&str, &str),
    top: f32,
    width: f32,
    contents: impl FnOnce(&mut Ui),
) -> bool {
    let id = Id::unique(name);
    let down = vec2(0.0, top * cx.screen.height());
    let area = Modal::default_area(id).anchor(Align2::CENTER_TOP, down);
    show(cx, Modal::new(id).area(area), width, |ui| {
        ui.horizontal(|ui| {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                close_button(ui);
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    ui.add(egui::Label::new(egui::RichText::new(title).heading()).truncate());
                });
            });
        });
        contents(ui);
    })
}

/// Lays out a dialog below or above a place, over the scene, which stays to be seen: its width in points, and
/// its contents, which are told how high they can be. Whether it was left, by a click beside it.
pub(super) fn popup(
    cx: DialogContext<'_>,
    beside: Rect,
    name: &str,
    width: f32,
    contents: impl FnOnce(&mut Ui, f32),
) -> bool {
    let id = Id::unique(name);
    let below = cx.screen.bottom() - beside.bottom();
    let (pivot, corner, room) = if below >= beside.top() {
        (Align2::LEFT_TOP, beside.left_bottom(), below)
    } else {
        (Align2::LEFT_BOTTOM, beside.left_top(), beside.top())
    };
    let area = Area::new(id).kind(UiKind::Modal).order(Order::Foreground);
    let margins = 2.0 * f32::from(cx.context.global_style().spacing.menu_margin.top);
    let right = cx.screen.right() - width - margins - 6.0;
    let corner = pos2(corner.x.min(right), corner.y);
    let area = area.sense(Sense::hover()).pivot(pivot).fixed_pos(corner);
    let modal = Modal::new(id).area(area.constrain_to(cx.screen));
    let modal = modal.backdrop_color(cx.palette.background.gamma_multiply(0.15));
    let room = room - margins - 4.0;
    show(cx, modal, width, |ui| contents(ui, room))
}

fn show(cx: DialogContext<'_>, modal: Modal, width: f32, contents: impl FnOnce(&mut Ui)) -> bool {
    let modal = modal.show(cx.context, |ui| {
        ui.set_width(width.min(0.92 * cx.screen.width()));
        contents(ui);
    });
    modal.backdrop_response.clicked() || modal.response.should_close()
}

/// Gives a widget the keys. Asking again in each frame would end what an input method composes.
pub(super) fn hold_focus(widget: &Response) {
    if !widget.has_focus() {
        widget.request_focus();
    }
}

/// Lays out the button that closes the dialog.
fn close_button(ui: &mut Ui) {
    let key = Action::from(ViewAction::Escape).key();
    let text = egui::RichText::new(tr!("Close ({key}) ×")).small();
    if ui.button(text).clicked() {
        ui.close();
    }
}

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
