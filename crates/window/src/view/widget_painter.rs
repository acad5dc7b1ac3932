//! What the interface beside the dialogs is painted on. Every place that a person can use or read is
//! also a widget of egui's: it answers the mouse, and has a role, a name and a state that a screen
//! reader says and a test asks for.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Deref;
use std::rc::Rc;

use egui::accesskit::{Action as AccessAction, Node, Role};
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
    /// How many there are of each name.
    named: HashMap<Id, u32>,
    /// What was asked for by them.
    requests: Vec<UiRequest>,
}

/// What a screen reader says of a widget, and the mouse's tip.
#[derive(Clone, Copy)]
pub(crate) struct Spoken<'a> {
    name: &'a str,
    tip: &'a str,
    /// Whether the tip is shown under the mouse, too.
    is_tip_shown: bool,
    is_possible: bool,
    is_on: Option<bool>,
}

impl<'a> Spoken<'a> {
    /// Of a widget that is possible, and no switch; with a tip unless that is empty.
    pub(crate) fn new(name: &'a str, tip: &'a str) -> Spoken<'a> {
        Spoken {
            name,
            tip,
            is_tip_shown: !tip.is_empty(),
            is_possible: true,
            is_on: None,
        }
    }

    /// Of one whose tip is painted elsewhere.
    pub(crate) fn without_card(self) -> Spoken<'a> {
        Spoken {
            is_tip_shown: false,
            ..self
        }
    }

    /// Of one that may be impossible now.
    pub(crate) fn possible(self, is_possible: bool) -> Spoken<'a> {
        Spoken {
            is_possible,
            ..self
        }
    }

    /// Of a switch, if it is one.
    pub(crate) fn on(self, is_on: Option<bool>) -> Spoken<'a> {
        Spoken { is_on, ..self }
    }

    fn info(&self, role: Role) -> WidgetInfo {
        WidgetInfo {
            selected: self.is_on,
            ..WidgetInfo::labeled(role, self.is_possible, self.name)
        }
    }
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

    /// A place with a text, or with a picture that it describes.
    pub(crate) fn say(&self, rect: Rect, spoken: &Spoken<'_>) {
        if self.is_read || spoken.is_tip_shown {
            self.widget(rect, Role::Label, spoken, None);
        }
    }

    /// A text that was painted, unless it belongs to a widget that stands there.
    pub(crate) fn say_painted(&self, rect: Rect, text: &str) {
        let is_of_widget = || {
            let painted = self.painted.borrow();
            let mut places = painted.places.iter();
            places.any(|place| place.expand(1.0).contains_rect(rect))
        };
        if self.is_read && !is_of_widget() {
            self.say(rect, &Spoken::new(text, ""));
        }
    }

    /// A button for an action. Returns whether the pointer is over it.
    pub(crate) fn button(
        &self,
        rect: Rect,
        spoken: &Spoken<'_>,
        action: impl Into<Action>,
    ) -> bool {
        self.request(rect, spoken, UiRequest::Act(action.into()))
    }

    /// A button that makes a request. Returns whether the pointer is over it.
    pub(crate) fn request(&self, rect: Rect, spoken: &Spoken<'_>, request: UiRequest) -> bool {
        self.widget(rect, Role::Button, spoken, Some(request));
        let at = self.ui.input(|input| input.pointer.hover_pos());
        at.is_some_and(|at| rect.contains(at))
    }

    /// A button that does nothing here, and keeps its place.
    pub(crate) fn idle_button(&self, rect: Rect, name: &str) {
        if self.is_read {
            let spoken = Spoken::new(name, "").possible(false);
            self.widget(rect, Role::Button, &spoken, None);
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

    fn widget(&self, rect: Rect, role: Role, spoken: &Spoken<'_>, request: Option<UiRequest>) {
        if !self.is_enabled {
            return;
        }
        let id = self.unused(match &request {
            Some(UiRequest::Act(action)) => Id::unique(action),
            // Its place is no part of its name.
            Some(UiRequest::Change(settings, _)) => Id::unique(settings),
            Some(request) => Id::unique(format!("{request:?}")),
            // By its place among the texts: what changes with its figure is no name.
            None => Id::unique("text"),
        });
        let sense = match request {
            Some(_) => Sense::click(),
            None => Sense::hover(),
        };
        let response = self.ui.interact(rect, id, sense);
        response.widget_info(|| spoken.info(role));
        if !spoken.tip.is_empty() && spoken.tip != spoken.name {
            let describe = |node: &mut Node| node.set_description(spoken.tip);
            self.ui.ctx().accesskit_node_builder(id, describe);
        }
        let mut painted = self.painted.borrow_mut();
        painted.places.push(rect);
        if response.clicked() {
            painted.requests.extend(request);
        }
        // Made only where the pointer is: there are many widgets, in each frame.
        if spoken.is_tip_shown && response.contains_pointer() {
            response.on_hover_text(lang::keep_units(spoken.tip));
        }
    }

    /// The id of what is called this, or of the next one of that name in this frame.
    fn unused(&self, name: Id) -> Id {
        let mut painted = self.painted.borrow_mut();
        let number = painted.named.entry(name).or_default();
        *number += 1;
        self.ui.scope_id().with((name, *number))
    }
}

impl Deref for WidgetPainter {
    type Target = Painter;

    fn deref(&self) -> &Painter {
        &self.painter
    }
}
