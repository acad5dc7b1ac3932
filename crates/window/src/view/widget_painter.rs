//! What the interface beside the dialogs is painted on. Every place that a person can use or read is
//! also a widget of egui's: it answers the mouse, and has a role, a name and a state that a screen
//! reader says and a test asks for.

use std::cell::RefCell;
use std::ops::Deref;
use std::rc::Rc;

use egui::accesskit::{Action as AccessAction, Role};
use egui::{Color32, Id, LayerId, Painter, Rect, Response, Sense, Ui, UiBuilder, WidgetInfo};

use crate::view::dialogs::UiRequest;
use session::SessionAction;
use ui::Action;
use ui::theme::Palette;

/// A painter, the colours to paint with, and the widgets that were painted.
#[derive(Clone)]
pub(crate) struct WidgetPainter {
    painter: Painter,
    pub(crate) palette: Palette<Color32>,
    ui: Rc<Ui>,
    /// Whether the mouse is for what is painted, and not for a dialog over it.
    is_enabled: bool,
    /// Whether a screen reader, or a test, reads what is painted.
    is_read: bool,
    painted: Rc<RefCell<Painted>>,
}

/// What was painted in one frame.
#[derive(Default)]
struct Painted {
    /// Where widgets say what stands there.
    places: Vec<Rect>,
    /// What was asked for by them.
    requests: Vec<UiRequest>,
}

impl WidgetPainter {
    /// For a whole window, behind all dialogs; only where it is enabled its widgets can be used.
    pub(crate) fn new(
        context: &egui::Context,
        screen: Rect,
        palette: &Palette<Color32>,
        is_enabled: bool,
    ) -> WidgetPainter {
        let layer = LayerId::background();
        let builder = UiBuilder::new().layer_id(layer).max_rect(screen);
        let ui = Ui::new(context.clone(), Id::unique("widgets"), builder);
        let node =
            context.accesskit_node_builder(ui.unique_id(), |node| node.set_role(Role::Group));
        WidgetPainter {
            painter: context.layer_painter(layer),
            palette: *palette,
            ui: Rc::new(ui),
            is_enabled,
            is_read: is_enabled && node.is_some(),
            painted: Rc::default(),
        }
    }

    /// Whether a screen reader, or a test, reads what is painted.
    pub(crate) fn is_read(&self) -> bool {
        self.is_read
    }

    /// The same one, which paints only within `rect`.
    pub(crate) fn with_clip_rect(&self, rect: Rect) -> WidgetPainter {
        WidgetPainter {
            painter: self.painter.with_clip_rect(rect),
            ..self.clone()
        }
    }

    /// What was asked for so far.
    pub(crate) fn take_requests(&self) -> Vec<UiRequest> {
        std::mem::take(&mut self.painted.borrow_mut().requests)
    }

    /// A place that was painted, with what is said of it, where somebody reads it.
    pub(crate) fn say(&self, rect: Rect, text: &str) {
        if !self.is_read {
            return;
        }
        // By its place among the texts: what changes with its figure is no name.
        let said = {
            let mut painted = self.painted.borrow_mut();
            painted.places.push(rect);
            painted.places.len()
        };
        let id = self.ui.scope_id().with(("text", said));
        let response = self.ui.interact(rect, id, Sense::hover());
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, text));
    }

    /// A text that was painted, unless it belongs to a widget that stands there.
    pub(crate) fn say_painted(&self, rect: Rect, text: &str) {
        let is_of_widget = || {
            let painted = self.painted.borrow();
            let mut places = painted.places.iter();
            places.any(|place| place.expand(1.0).contains_rect(rect))
        };
        if self.is_read && !is_of_widget() {
            self.say(rect, text);
        }
    }

    /// A panel of cells, which a screen reader can select, where one reads; the mouse is followed by the
    /// window.
    pub(crate) fn panel(&self, rect: Rect, name: &str, instance: usize, is_selected: bool) {
        let id = self.ui.scope_id().with(("panel", instance));
        let response = self.ui.interact(rect, id, Sense::hover());
        response.widget_info(|| WidgetInfo::labeled(Role::Image, true, name));
        self.painted.borrow_mut().places.push(rect);
        let context = self.ui.ctx();
        context.accesskit_node_builder(id, |node| {
            node.add_action(AccessAction::Click);
            node.set_selected(is_selected);
        });
        if context.input(|input| input.has_accesskit_action_request(id, AccessAction::Click)) {
            self.ask(UiRequest::Act(SessionAction::Select(instance).into()));
        }
    }

    /// Asks for an action where a widget of egui's own was clicked.
    pub(crate) fn asks(&self, response: &Response, action: impl Into<Action>) {
        self.requests(response, UiRequest::Act(action.into()));
    }

    /// The same for any request.
    pub(crate) fn requests(&self, response: &Response, request: UiRequest) {
        if response.clicked() {
            self.ask(request);
        }
    }

    /// Makes a request of a widget of egui's own.
    pub(crate) fn ask(&self, request: UiRequest) {
        self.painted.borrow_mut().requests.push(request);
    }

    /// Lays out widgets of egui's own within a rectangle.
    pub(crate) fn lay_out(&self, rect: Rect, name: &str, add: impl FnOnce(&mut Ui)) {
        let builder = UiBuilder::new()
            .layer_id(LayerId::background())
            .max_rect(rect);
        let id = self.ui.scope_id().with(name);
        let mut ui = Ui::new(self.ui.ctx().clone(), id, builder);
        if !self.is_enabled {
            ui.visuals_mut().disabled_alpha = 1.0; // it stands behind a dialog, and is no other
            ui.disable();
            let id = ui.unique_id();
            ui.ctx()
                .accesskit_node_builder(id, |node| node.set_hidden());
        }
        add(&mut ui);
    }
}

impl Deref for WidgetPainter {
    type Target = Painter;

    fn deref(&self) -> &Painter {
        &self.painter
    }
}
