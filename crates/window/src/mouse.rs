//! The mouse: a click selects, a double click shows one panel alone, a drag moves, the wheel
//! zooms; over the timeline, the last two do the same with time, and over the lab the wheel scrolls.
//! Widgets take their clicks themselves.

use std::time::Instant;

use winit::event::{ElementState, MouseButton};
use winit::event_loop::ActiveEventLoop;

use crate::handler::Handler;
use crate::pointer::{Gesture, HitTarget};
use crate::view::layout::WindowLayout;
use crate::view::{Dialog, Popup};
use session::SessionAction;
use ui::{Lessons, ViewAction};

impl Handler {
    /// A mouse button went down or came up.
    pub(super) fn mouse_button(
        &mut self,
        event_loop: &ActiveEventLoop,
        state: ElementState,
        button: MouseButton,
    ) {
        if self.hovered_widget.is_some() {
            self.pacer.request_frame(Instant::now());
        }
        if (button, state) == (MouseButton::Right, ElementState::Pressed) {
            let (Some(HitTarget::Panel(place)), Some(at), Some(layout)) =
                (self.target_under_pointer(), self.pointer.at, self.layout())
            else {
                return self.act(event_loop, ViewAction::ToggleMenu);
            };
            self.deselect_at_click(place);
            if !self.app.options.single {
                self.act(event_loop, SessionAction::Select(place));
            }
            self.dialogs
                .open(Dialog::Popup(Popup::of_panel(layout.point(at))));
            return self.pacer.request_frame(Instant::now());
        }
        if !matches!(button, MouseButton::Left | MouseButton::Middle) {
            return;
        }
        match state {
            ElementState::Pressed => {
                let target = self.target_under_pointer();
                if button == MouseButton::Left && self.edit_pressed(target) {
                    return;
                }
                // A widget has its clicks, and is not dragged.
                let target = target.filter(|_| !self.is_over_button());
                self.pointer.pressed(target, button == MouseButton::Left);
            }
            ElementState::Released => {
                if button == MouseButton::Left && self.edit_released() {
                    return;
                }
                if let Some(gesture) = self.pointer.released(Instant::now()) {
                    self.gesture(event_loop, gesture);
                }
            }
        }
    }

    /// Does what the mouse asked for.
    pub(super) fn gesture(&mut self, event_loop: &ActiveEventLoop, gesture: Gesture) {
        match gesture {
            Gesture::Drag(HitTarget::Panel(place), pixels) => {
                let instance = self.instance_at(place);
                self.move_camera(instance, false, |camera, status, layout| {
                    camera.pan(pixels, status.lattices.size, layout.tiling.panel);
                });
            }
            Gesture::Drag(HitTarget::Minimap(instance), _)
            | Gesture::Click(HitTarget::Minimap(instance))
            | Gesture::DoubleClick(HitTarget::Minimap(instance)) => self.lead(instance),
            Gesture::Click(HitTarget::Panel(place)) => {
                self.deselect_at_click(place);
                if !self.app.options.single {
                    self.act(event_loop, SessionAction::Select(place));
                }
            }
            Gesture::DoubleClick(HitTarget::Panel(place)) => {
                self.deselect_at_click(place); // the second may be far from the first
                self.act(event_loop, ViewAction::ToggleSingle)
            }
            // Their widgets take clicks.
            Gesture::Click(HitTarget::Side(_) | HitTarget::Lesson)
            | Gesture::DoubleClick(HitTarget::Side(_) | HitTarget::Lesson)
            | Gesture::Drag(HitTarget::Side(_) | HitTarget::Lesson, _) => {}
            Gesture::Drag(HitTarget::Timeline, [pixels, _]) => {
                if let Some(layout) = self.layout() {
                    self.timeline.pan(pixels, &layout);
                }
            }
            Gesture::Click(HitTarget::Timeline) => {}
            Gesture::DoubleClick(HitTarget::Timeline) => self.timeline.fit(),
        }
        self.pacer.request_frame(Instant::now());
    }

    /// Whether a button is under the pointer.
    fn is_over_button(&self) -> bool {
        let screen = self.surface.as_ref().zip(self.pointer.at);
        screen.is_some_and(|(screen, at)| screen.scene.has_button_at(at))
    }

    /// What is under the pointer.
    pub(super) fn target_under_pointer(&self) -> Option<HitTarget> {
        let covered = self
            .surface
            .as_ref()
            .is_some_and(|screen| screen.input.has_pointer());
        let at = self.pointer.at.filter(|_| !covered)?;
        let target = hit_target(&self.layout()?, at);
        if self.is_over_button() {
            // A button that lies over a panel has its clicks.
            return target.filter(|target| !matches!(target, HitTarget::Panel(_)));
        }
        match (target, self.minimap_under_pointer()) {
            (Some(HitTarget::Panel(_)), Some(instance)) => Some(HitTarget::Minimap(instance)),
            _ => target,
        }
    }

    /// Tells the timeline where the mouse is; another frame is only wanted where that shows.
    pub(super) fn hover(&mut self) {
        let screen = self.surface.as_ref();
        let widget = screen
            .zip(self.pointer.at)
            .and_then(|(screen, at)| screen.scene.widget_at(at));
        if widget.is_some() || self.hovered_widget.is_some() {
            // Also while it moves within one: its tip comes once it stands still.
            self.pacer.request_frame(Instant::now());
        }
        self.hovered_widget = widget;
        self.update_pointed_cell();
        let over =
            self.app.options.timeline && self.target_under_pointer() == Some(HitTarget::Timeline);
        let shows = self.timeline.hover(self.pointer.at.filter(|_| over));
        if shows {
            self.pacer.request_frame(Instant::now());
        }
    }

    /// The wheel was turned by so many notches: over the lab it scrolls, in the list of lessons it
    /// chooses, elsewhere it zooms.
    pub(super) fn wheel(&mut self, notches: f64) {
        match self.target_under_pointer() {
            // A list of egui's has the wheel itself.
            Some(HitTarget::Side(_)) => self.pacer.request_frame(Instant::now()),
            Some(HitTarget::Lesson) if self.app.lessons.is_list() => {
                for _ in 0..notches.abs() as usize {
                    self.app.with_lessons(if notches < 0.0 {
                        Lessons::next_page
                    } else {
                        Lessons::previous_page
                    });
                }
            }
            Some(HitTarget::Lesson | HitTarget::Minimap(_)) => {}
            _ => self.zoom(1.25f64.powf(notches), self.pointer.at),
        }
    }
}

/// What stands at a point in pixels.
pub(super) fn hit_target(layout: &WindowLayout, at: [f64; 2]) -> Option<HitTarget> {
    let side = layout.side;
    let side = side.map(|(panel, rect)| (rect, HitTarget::Side(panel)));
    let timeline = layout.timeline.map(|rect| (rect, HitTarget::Timeline));
    let lesson = layout.lesson.map(|rect| (rect, HitTarget::Lesson));
    for (rect, target) in [timeline, side, lesson].into_iter().flatten() {
        if rect.contains(at) {
            return Some(target);
        }
    }
    layout.tiling.place_at(at).map(HitTarget::Panel)
}
