//! What the interface beside the dialogs is laid out in. Its colours, and what its widgets ask for, are kept in
//! egui's context, where every widget finds them.

use egui::accesskit::Role;
use egui::{Color32, Context, Id, Rect, Response, Ui, UiBuilder};

use crate::view::dialogs::UiRequest;
use ui::Action;
use ui::theme::Palette;

/// A whole window, behind all dialogs; only where it is enabled its widgets can be used.
pub(crate) fn root(
    context: &Context,
    screen: Rect,
    palette: &Palette<Color32>,
    is_enabled: bool,
) -> Ui {
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
pub(crate) fn palette(ui: &Ui) -> Palette<Color32> {
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

/// Asks for an action where a widget was clicked.
pub(crate) fn asks(response: &Response, action: impl Into<Action>) {
    requests(response, UiRequest::Act(action.into()));
}

/// The same for any request.
pub(crate) fn requests(response: &Response, request: UiRequest) {
    if response.clicked() {
        ask(&response.ctx, request);
    }
}

/// Makes a request.
pub(crate) fn ask(context: &Context, request: UiRequest) {
    context.data_mut(|data| {
        let requests: &mut Vec<UiRequest> = data.get_temp_mut_or_default(Id::NULL);
        requests.push(request);
    });
}

/// What was asked for so far.
pub(crate) fn take_requests(context: &Context) -> Vec<UiRequest> {
    let requests = context.data_mut(|data| data.remove_temp(Id::NULL));
    requests.unwrap_or_default()
}
