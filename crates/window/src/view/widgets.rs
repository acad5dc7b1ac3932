//! What the interface beside the dialogs is laid out in. Its colours are kept in egui's context, where every
//! widget finds them.

use egui::accesskit::Role;
use egui::*;

pub(crate) use crate::view::dialogs::{UiRequest, ask, asks, requests};
use crate::view::style::medium;
use lang::tr;
use ui::{Action, ViewAction};

/// An interface's colours, as egui has them.
pub(crate) type Palette = ui::theme::Palette<Color32>;

/// A whole window, behind all dialogs; only where it is enabled its widgets can be used.
pub(crate) fn root(context: &Context, screen: Rect, palette: &Palette, is_enabled: bool) -> Ui {
    context.data_mut(|data| data.insert_temp(Id::NULL, *palette));
    let builder = UiBuilder::new().max_rect(screen);
    let mut ui = Ui::new(context.clone(), Id::unique("widgets"), builder);
    if !is_enabled {
        ui.visuals_mut().disabled_alpha = 1.0; // it stands behind a dialog, and is no other
        ui.disable();
    }
    context.accesskit_node_builder(ui.unique_id(), |node| {
        node.set_role(Role::Group);
        if !is_enabled {
            node.set_hidden();
        }
    });
    ui
}

/// The colours to paint with.
pub(crate) fn palette(ui: &Ui) -> Palette {
    let palette = ui.data(|data| data.get_temp(Id::NULL));
    palette.expect("a root has colours")
}

/// Whether a screen reader, or a test, reads what is painted.
pub(crate) fn is_read(ui: &Ui) -> bool {
    let context = ui.ctx();
    ui.is_enabled()
        && context
            .accesskit_node_builder(ui.unique_id(), |_| ())
            .is_some()
}

/// Lays out widgets within a rectangle.
pub(crate) fn lay_out(ui: &mut Ui, rect: Rect, name: &str, add: impl FnOnce(&mut Ui)) {
    ui.scope_builder(UiBuilder::new().id_salt(name).max_rect(rect), |ui| {
        ui.set_clip_rect(rect);
        add(ui);
    });
}

/// Words in this type and colour.
pub(crate) fn styled(words: impl Into<String>, font: FontId, colour: Color32) -> RichText {
    RichText::new(words).font(font).color(colour)
}

/// A row of what stands at its right end, and from the left what has the rest of it, cut with … where it
/// must be.
pub(crate) fn both_ends() -> Sides {
    Sides::new().shrink_left().truncate()
}

/// Gives a widget a tip, made once it is seen or read: a screen reader says it, too.
pub(crate) fn tip<T: AsRef<str>>(shown: Response, text: impl Fn() -> T) {
    let describe = |node: &mut accesskit::Node| node.set_description(text().as_ref());
    shown.ctx.accesskit_node_builder(shown.id, describe);
    // egui would ask about a dozen things of each widget, in each frame.
    if !shown.contains_pointer() && !shown.hovered() {
        return;
    }
    let show = |ui: &mut Ui| {
        ui.set_max_width(ui.spacing().tooltip_width); // however long it is
        ui.label(lang::keep_units(text().as_ref()));
    };
    let tip = if shown.enabled() {
        Tooltip::for_enabled(&shown)
    } else {
        Tooltip::for_disabled(&shown)
    };
    tip.show(show);
}

/// Shows a title with the button that closes what it stands over, as the key of this action does.
pub(crate) fn title(ui: &mut Ui, title: RichText, key: ViewAction, close: impl FnOnce(&mut Ui)) {
    let text = tr!("Close ({key}) ×", key = Action::from(key).key());
    let button = |ui: &mut Ui| {
        if ui.button(RichText::new(text).small()).clicked() {
            close(ui);
        }
    };
    both_ends().show(ui, |ui| ui.label(title), button);
}

/// Shows a side panel: its edges, its title with the button that closes it, and its contents below.
pub(crate) fn side_panel(
    ui: &mut Ui,
    rect: Rect,
    words: &str,
    close: ViewAction,
    contents: impl FnOnce(&mut Ui),
) {
    let (palette, painter) = (palette(ui), ui.painter());
    let line = (1.0, palette.rule);
    painter.vline(rect.right() - 0.5, rect.y_range(), line);
    painter.hline(rect.x_range(), rect.top() + 0.5, line);
    lay_out(ui, rect.shrink2(vec2(14.0, 6.0)), "side panel", |ui| {
        let widgets = &mut ui.visuals_mut().widgets;
        widgets.noninteractive.fg_stroke.color = palette.value;
        let words = RichText::new(words).font(medium(18.0));
        let request = UiRequest::Act(close.into());
        title(ui, words, close, |ui| ask(ui.ctx(), request));
        contents(ui);
    });
}
