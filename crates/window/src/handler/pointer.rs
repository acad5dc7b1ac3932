//! The mouse: a click selects, a double click shows one panel alone, a drag moves, the wheel
//! zooms; over the timeline, the last two do the same with time, and over the lab the wheel scrolls.
//! Widgets take their clicks themselves. Also what moves the camera and changes colours, by mouse and keys.

use std::sync::Arc;
use std::time::{Duration, Instant};

use winit::event::{ElementState, MouseButton};
use winit::event_loop::ActiveEventLoop;

use crate::handler::{Drag, Handler, HitTarget};
use crate::surface::WindowSurface;
use crate::view::layout::WindowLayout;
use crate::view::{Dialog, Form, over_panels, timeline};
use lang::Message;
use life::Size;
use session::{SessionAction, Status};
use ui::{Camera, ColourBy, ViewAction, ViewTransform};

use Drag::*;
use HitTarget::*;

/// Between the clicks of a double click.
const DOUBLE_CLICK_TIMEOUT: Duration = Duration::from_millis(400);
/// Minimum distance, in points, for a press to be a drag.
const MIN_DRAG_DISTANCE: f64 = 4.0;

impl Handler {
    /// What is under the pointer, where no dialog is.
    pub(super) fn under_pointer(&self) -> Option<HitTarget> {
        let screen = self.surface.as_ref();
        let is_free = |it: &&WindowSurface| !it.scene.context().egui_wants_pointer_input();
        let screen = screen.filter(is_free)?;
        let (at, (layout, _)) = (self.pointer.at?, self.frame()?.layout()?);
        if layout.timeline.is_some_and(|it| it.contains(at)) {
            return Some(Timeline);
        }
        let place = layout.tiling.place_at(at)?;
        // A button that lies over a panel has its clicks.
        if screen.scene.has_button_at(at) {
            return None;
        }
        let minimap = over_panels::minimap(&self.app, &layout);
        if minimap.is_some_and(|it| it.rect.contains(at)) {
            return Some(Minimap);
        }
        Some(Panel(self.app.single_instance().unwrap_or(place)))
    }

    /// A mouse button went down or came up.
    pub(super) fn mouse_button(
        &mut self,
        event_loop: &ActiveEventLoop,
        state: ElementState,
        button: MouseButton,
    ) {
        self.pacer.request_frame();
        let clicks = button == MouseButton::Left;
        match (state, button) {
            (ElementState::Pressed, MouseButton::Right) => self.open_panel_menu(event_loop),
            (ElementState::Pressed, MouseButton::Left | MouseButton::Middle) => {
                let target = self.under_pointer();
                let edits = clicks.then(|| self.begin_edit(target)).flatten();
                // A widget has its clicks, and is not dragged.
                let screen = self.surface.as_ref().zip(self.pointer.at);
                let start = screen.filter(|(it, at)| !it.scene.has_button_at(*at));
                let moves = target.zip(start).map(|(target, (_, start))| Move {
                    target,
                    start,
                    has_moved: false,
                    clicks,
                });
                self.pointer.drag = edits.or(moves);
            }
            (ElementState::Released, MouseButton::Left | MouseButton::Middle) => {
                match self.pointer.drag.take() {
                    Some(Move {
                        target,
                        has_moved: false,
                        clicks: true,
                        ..
                    }) => self.click(event_loop, target),
                    Some(Selecting { .. }) => self.end_selecting(),
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn open_panel_menu(&mut self, event_loop: &ActiveEventLoop) {
        let (Some(Panel(instance)), Some(at), Some((_, layout, _))) =
            (self.under_pointer(), self.pointer.at, self.places())
        else {
            return self.act(event_loop, ViewAction::ToggleMenu);
        };
        self.deselect_at_click(instance);
        self.act(event_loop, SessionAction::Select(instance));
        let form = Form::of_panel(layout.point(at));
        self.dialogs.open(Dialog::Form(form));
    }

    fn click(&mut self, event_loop: &ActiveEventLoop, target: HitTarget) {
        let now = Instant::now();
        let is_second = |(then, last)| last == target && now - then < DOUBLE_CLICK_TIMEOUT;
        let is_double = self.pointer.last_click.take().is_some_and(is_second);
        if !is_double {
            self.pointer.last_click = Some((now, target));
        }
        match target {
            Panel(instance) => {
                self.deselect_at_click(instance); // a second click may be far from the first
                if is_double {
                    self.act(event_loop, ViewAction::ToggleSingle);
                } else {
                    self.act(event_loop, SessionAction::Select(instance));
                }
            }
            Minimap => self.lead(),
            Timeline if is_double => self.app.timeline.zoom.fit(),
            Timeline => {}
        }
    }

    /// The pointer moved to a point in pixels, at `scale` pixels per point.
    pub(super) fn pointer_moved(&mut self, to: [f64; 2], scale: f64) {
        let before = self.pointer.at.replace(to);
        self.move_ghost();
        match &mut self.pointer.drag {
            Some(Move {
                target,
                start,
                has_moved,
                ..
            }) => {
                // The first move makes up for the pixels it took to tell a drag from a click.
                let from = before.filter(|_| *has_moved).unwrap_or(*start);
                let pixels = [0, 1].map(|axis| to[axis] - from[axis]);
                let distance = MIN_DRAG_DISTANCE * scale;
                *has_moved |= pixels.iter().any(|by| by.abs() > distance);
                if *has_moved {
                    let target = *target;
                    self.drag_by(target, pixels);
                }
            }
            Some(_) => {
                self.continue_edit();
                self.pacer.request_frame();
            }
            None => {}
        }
        self.hover();
        let at = self.pointer.at;
        self.app.timeline.pointer = at.filter(|_| self.under_pointer() == Some(Timeline));
    }

    fn drag_by(&mut self, target: HitTarget, pixels: [f64; 2]) {
        match target {
            Panel(_) => {
                self.move_camera(|camera, size, panel| camera.pan(pixels, size, panel));
            }
            Minimap => self.lead(),
            Timeline => {
                if let Some((_, layout, _)) = self.places() {
                    timeline::pan(&mut self.app.timeline, pixels[0], &layout);
                }
            }
        }
        self.pacer.request_frame();
    }

    /// Something else may be under the pointer; another frame is only wanted where that shows.
    pub(super) fn hover(&mut self) {
        let target = self.under_pointer();
        let is_over_cells = matches!(target, Some(Panel(_) | Minimap));
        if !is_over_cells || self.pointer.is_over_widgets {
            // Also while it moves within one: its tip comes once it stands still.
            self.pacer.request_frame();
        }
        self.pointer.is_over_widgets = !is_over_cells;
        self.update_pointed_cell(target);
        self.app.timeline.pointer = None; // its tip is shown until anything but the mouse acts
    }

    /// The wheel was turned by so many notches; lists have it themselves.
    pub(super) fn wheel(&mut self, notches: f64) {
        let factor = 1.25f64.powf(notches);
        let (Some(at), Some((_, layout, _))) = (self.pointer.at, self.places()) else {
            return;
        };
        match self.under_pointer() {
            Some(Panel(instance)) => {
                let pixel = self.pixel_of_panel(&layout, instance, at);
                self.move_camera(|camera, size, panel| camera.zoom_at(factor, pixel, size, panel));
            }
            Some(Timeline) => timeline::zoom(&mut self.app.timeline, factor, at, &layout),
            Some(Minimap) | None => {}
        }
        self.pacer.request_frame();
    }

    /// A point of the window as one of an instance's panel, also beyond that.
    pub(super) fn pixel_of_panel(
        &self,
        layout: &WindowLayout,
        instance: usize,
        at: [f64; 2],
    ) -> [f64; 2] {
        let place = if self.app.options.single { 0 } else { instance };
        let rect = layout.tiling.rect(place);
        [at[0] - f64::from(rect.x), at[1] - f64::from(rect.y)]
    }

    /// Where everything stands, once there is anything, and what the panels show.
    pub(super) fn places(&self) -> Option<(Arc<Status>, WindowLayout, ViewTransform)> {
        let status = self.status()?;
        let (layout, transform) = self.frame()?.layout()?;
        Some((status, layout, transform))
    }

    /// Changes the camera, for panels of so many pixels.
    fn move_camera(&mut self, change: impl FnOnce(&mut Camera, Size, [u32; 2])) {
        if let Some((status, layout, _)) = self.places() {
            let camera = &mut self.app.options.camera;
            change(camera, status.lattices.size, layout.tiling.panel);
        }
    }

    /// Leads the camera to where the pointer is in the minimap.
    fn lead(&mut self) {
        let led = || {
            let (layout, _) = self.frame()?.layout()?;
            let small = over_panels::minimap(&self.app, &layout)?;
            Some(small.cell_at(self.pointer.at?))
        };
        if let Some(cell) = led() {
            self.move_camera(|camera, size, panel| camera.centre_on(cell, size, panel));
        }
    }

    /// Colours by state, age, history; by state where the others cannot be, with the reason.
    pub(super) fn next_colour_by(&mut self) {
        use ColourBy::*;
        self.app.options.colour_by = match self.app.options.colour_by {
            State => Age,
            Age => History,
            History => State,
        };
        let refused = self
            .surface
            .as_ref()
            .and_then(|screen| self.frame()?.colour_by(screen.scene.max_side).err());
        match refused {
            None => self.show_notice(Message::new(|| self.app.options.colour_by.sentence())),
            Some(why) => {
                self.app.options.colour_by = State;
                self.show_notice(why);
            }
        }
    }
}
