//! The mouse: a click selects, a double click shows one panel alone, a drag moves, the wheel
//! zooms; over the timeline, the last two do the same with time, and over the lab the wheel scrolls.
//! Widgets take their clicks themselves. Also what moves the camera and changes colours, by mouse and keys.

use std::time::{Duration, Instant};

use winit::event::{ElementState, MouseButton};
use winit::event_loop::ActiveEventLoop;

use crate::handler::Handler;
use crate::view::layout::WindowLayout;
use crate::view::{Dialog, Form, over_panels};
use lang::Message;
use session::{SessionAction, Status};
use ui::{Camera, ColourBy, ViewAction};

/// Between the clicks of a double click.
const DOUBLE_CLICK_TIMEOUT: Duration = Duration::from_millis(400);
/// Minimum distance, in points, for a press to be a drag.
const MIN_DRAG_DISTANCE: f64 = 4.0;

/// What takes the mouse.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum HitTarget {
    /// The panel of an instance.
    Panel(usize),
    /// The minimap.
    Minimap,
    /// The timeline.
    Timeline,
    /// The panel beside the cells, or a lesson's page.
    Beside,
}

/// What the mouse asks for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Gesture {
    /// Something was clicked.
    Click(HitTarget),
    /// Something was clicked twice.
    DoubleClick(HitTarget),
    /// Something's content was moved by this many pixels.
    Drag(HitTarget, [f64; 2]),
}

#[derive(Debug)]
struct Press {
    at: [f64; 2],
    target: Option<HitTarget>,
    drags: bool,
    /// The middle button only drags.
    clicks: bool,
}

/// Follows the mouse.
#[derive(Debug, Default)]
pub(super) struct Pointer {
    /// Where it is, in pixels, if it is in the window.
    pub(super) at: Option<[f64; 2]>,
    press: Option<Press>,
    last_click: Option<(Instant, HitTarget)>,
}

impl Pointer {
    /// It moved to a point in pixels, at `scale` pixels per point.
    pub(super) fn moved(&mut self, to: [f64; 2], scale: f64) -> Option<Gesture> {
        let from = self.at.replace(to);
        let press = self.press.as_mut()?;
        let far = [0, 1]
            .into_iter()
            .any(|axis| (to[axis] - press.at[axis]).abs() > MIN_DRAG_DISTANCE * scale);
        let started = !press.drags && far;
        press.drags |= far;
        let target = press.target.filter(|_| press.drags)?;
        // The first move makes up for the pixels it took to tell a drag from a click.
        let from = if started { press.at } else { from? };
        Some(Gesture::Drag(target, [to[0] - from[0], to[1] - from[1]]))
    }

    /// A button went down over something that takes it, or over nothing.
    pub(super) fn pressed(&mut self, target: Option<HitTarget>, clicks: bool) {
        if let Some(at) = self.at {
            self.press = Some(Press {
                at,
                target,
                drags: false,
                clicks,
            });
        }
    }

    /// The button came up.
    pub(super) fn released(&mut self, now: Instant) -> Option<Gesture> {
        let press = self.press.take()?;
        let target = press.target.filter(|_| press.clicks && !press.drags)?;
        let twice = self
            .last_click
            .take()
            .is_some_and(|(then, last)| last == target && now - then < DOUBLE_CLICK_TIMEOUT);
        if twice {
            return Some(Gesture::DoubleClick(target));
        }
        self.last_click = Some((now, target));
        Some(Gesture::Click(target))
    }

    /// It left the window.
    pub(super) fn left(&mut self) {
        self.at = None;
    }
}

impl Handler {
    /// What is under the pointer, where no dialog is.
    pub(super) fn under_pointer(&self) -> Option<HitTarget> {
        let screen = self.surface.as_ref();
        let screen = screen.filter(|screen| !screen.input.has_pointer())?;
        let (at, status) = (self.pointer.at?, self.status()?);
        let frame = self.frame(Some(&status))?;
        let (layout, _) = frame.layout()?;
        if layout.timeline.is_some_and(|it| it.contains(at)) {
            return Some(HitTarget::Timeline);
        }
        let beside = [layout.side.map(|(_, rect)| rect), layout.lesson];
        if beside.into_iter().flatten().any(|it| it.contains(at)) {
            return Some(HitTarget::Beside);
        }
        let place = layout.tiling.place_at(at)?;
        // A button that lies over a panel has its clicks.
        if screen.scene.has_button_at(at) {
            return None;
        }
        let minimap = over_panels::minimap(&frame, &layout);
        if minimap.is_some_and(|it| it.rect.contains(at)) {
            return Some(HitTarget::Minimap);
        }
        Some(HitTarget::Panel(
            frame.sources.single_instance().unwrap_or(place),
        ))
    }

    /// A mouse button went down or came up.
    pub(super) fn mouse_button(
        &mut self,
        event_loop: &ActiveEventLoop,
        state: ElementState,
        button: MouseButton,
    ) {
        if self.is_over_widgets {
            self.pacer.request_frame();
        }
        if (button, state) == (MouseButton::Right, ElementState::Pressed) {
            let (Some(HitTarget::Panel(instance)), Some(at), Some(layout)) =
                (self.under_pointer(), self.pointer.at, self.layout())
            else {
                return self.act(event_loop, ViewAction::ToggleMenu);
            };
            self.deselect_at_click(instance);
            self.act(event_loop, SessionAction::Select(instance));
            self.dialogs
                .open(Dialog::Form(Form::of_panel(layout.point(at))));
            return self.pacer.request_frame();
        }
        if !matches!(button, MouseButton::Left | MouseButton::Middle) {
            return;
        }
        match state {
            ElementState::Pressed => {
                let target = self.under_pointer();
                if button == MouseButton::Left && self.edit_pressed(target) {
                    return;
                }
                // A widget has its clicks, and is not dragged.
                let screen = self.surface.as_ref().zip(self.pointer.at);
                let is_widget = screen.is_some_and(|(it, at)| it.scene.has_button_at(at));
                let target = target.filter(|_| !is_widget);
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
            Gesture::Drag(HitTarget::Panel(_), pixels) => {
                self.move_camera(false, |camera, status, layout| {
                    camera.pan(pixels, status.lattices.size, layout.tiling.panel);
                });
            }
            Gesture::Drag(HitTarget::Minimap, _)
            | Gesture::Click(HitTarget::Minimap)
            | Gesture::DoubleClick(HitTarget::Minimap) => self.lead(),
            Gesture::Click(HitTarget::Panel(instance)) => {
                self.deselect_at_click(instance);
                self.act(event_loop, SessionAction::Select(instance));
            }
            Gesture::DoubleClick(HitTarget::Panel(instance)) => {
                self.deselect_at_click(instance); // the second may be far from the first
                self.act(event_loop, ViewAction::ToggleSingle)
            }
            Gesture::Drag(HitTarget::Timeline, [pixels, _]) => {
                if let Some(layout) = self.layout() {
                    self.timeline.pan(pixels, &layout);
                }
            }
            Gesture::DoubleClick(HitTarget::Timeline) => self.timeline.zoom.fit(),
            // Their widgets take clicks.
            Gesture::Click(HitTarget::Timeline | HitTarget::Beside)
            | Gesture::DoubleClick(HitTarget::Beside)
            | Gesture::Drag(HitTarget::Beside, _) => {}
        }
        self.pacer.request_frame();
    }

    /// Tells the timeline where the mouse is; another frame is only wanted where that shows.
    pub(super) fn hover(&mut self) {
        let target = self.under_pointer();
        let is_over_cells = matches!(target, Some(HitTarget::Panel(_) | HitTarget::Minimap));
        if !is_over_cells || self.is_over_widgets {
            // Also while it moves within one: its tip comes once it stands still.
            self.pacer.request_frame();
        }
        self.is_over_widgets = !is_over_cells;
        self.update_pointed_cell(target);
        let is_over = target == Some(HitTarget::Timeline);
        if self.timeline.hover(self.pointer.at.filter(|_| is_over)) {
            self.pacer.request_frame();
        }
    }

    /// The wheel was turned by so many notches: over the lab it scrolls, elsewhere it zooms.
    pub(super) fn wheel(&mut self, notches: f64) {
        let factor = 1.25f64.powf(notches);
        match self.under_pointer() {
            // A list of egui's has the wheel itself.
            Some(HitTarget::Beside) => self.pacer.request_frame(),
            Some(HitTarget::Panel(instance)) => self.zoom_at_pointer(factor, instance),
            Some(HitTarget::Timeline) => {
                if let (Some(at), Some(layout)) = (self.pointer.at, self.layout()) {
                    self.timeline.zoom(factor, at, &layout);
                }
            }
            Some(HitTarget::Minimap) | None => {}
        }
    }
}

/// How long a camera glides to where a key or the wheel sends it.
const GLIDE_DURATION: Duration = Duration::from_millis(140);

impl Handler {
    /// Changes the camera; it glides there, unless drawing is slow.
    pub(super) fn move_camera(
        &mut self,
        glides: bool,
        change: impl FnOnce(&mut Camera, &Status, &WindowLayout),
    ) {
        let (Some(status), Some(layout)) = (self.status(), self.layout()) else {
            return;
        };
        let panel = layout.tiling.panel;
        let glides = glides && self.pacer.min_interval.is_zero();
        let camera = &mut self.app.options.camera;
        let (shown, before) = (camera.shown(status.lattices.size, panel), *camera);
        change(camera, &status, &layout);
        if glides && camera.target_transform(status.lattices.size, panel) != shown {
            let now = Instant::now();
            camera.glide_from(shown, panel);
            self.glided.get_or_insert(now);
        }
        if *camera != before {
            self.pacer.request_frame();
        }
    }

    /// Lets the camera glide on; a frame follows while it does.
    pub(super) fn glide(&mut self, now: Instant) {
        let Some(last) = self.glided.take() else {
            return;
        };
        let part = (now - last).as_secs_f64() / GLIDE_DURATION.as_secs_f64();
        if self.app.options.camera.advance(part) {
            self.glided = Some(now);
            self.pacer.request_frame();
        }
    }

    /// Leads the camera to where the pointer is in the minimap.
    pub(super) fn lead(&mut self) {
        let led = || {
            let (status, at) = (self.status()?, self.pointer.at?);
            let frame = self.frame(Some(&status))?;
            let (layout, _) = frame.layout()?;
            over_panels::cell_of(&frame, &layout, at)
        };
        if let Some(cell) = led() {
            self.move_camera(false, |camera, status, layout| {
                camera.centre_on(cell, status.lattices.size, layout.tiling.panel);
            });
        }
    }

    /// Colours by state, age, history; by state where the others cannot be, with the reason.
    pub(super) fn next_colour_by(&mut self) {
        self.app.options.colour_by = match self.app.options.colour_by {
            ColourBy::State => ColourBy::Age,
            ColourBy::Age => ColourBy::History,
            ColourBy::History => ColourBy::State,
        };
        let status = self.status();
        let refused = self.surface.as_ref().and_then(|screen| {
            let frame = self.frame(status.as_deref())?;
            frame.colour_by(screen.scene.limits).err()
        });
        match refused {
            None => self.show_notice(Message::new(|| self.app.options.colour_by.sentence())),
            Some(why) => {
                self.app.options.colour_by = ColourBy::State;
                self.show_notice(why);
            }
        }
    }

    /// Zooms about the panels' middle.
    pub(super) fn zoom(&mut self, factor: f64) {
        self.move_camera(true, |camera, status, layout| {
            camera.zoom(factor, status.lattices.size, layout.tiling.panel);
        });
    }

    /// Zooms about the point of an instance's panel that is under the pointer.
    pub(super) fn zoom_at_pointer(&mut self, factor: f64, instance: usize) {
        let Some(at) = self.pointer.at else { return };
        let place = if self.app.options.single { 0 } else { instance };
        self.move_camera(true, |camera, status, layout| {
            let rect = layout.tiling.rect(place);
            let pixel = [at[0] - f64::from(rect.x), at[1] - f64::from(rect.y)];
            camera.zoom_at(factor, pixel, status.lattices.size, layout.tiling.panel);
        });
    }

    /// An eighth of a panel.
    pub(super) fn pan_by_key(&mut self, [x, y]: [f64; 2]) {
        self.move_camera(true, |camera, status, layout| {
            let panel = layout.tiling.panel;
            let [width, height] = panel.map(f64::from);
            camera.pan(
                [x * width / 8.0, y * height / 8.0],
                status.lattices.size,
                panel,
            );
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clicks_double_clicks_and_drags_are_told_apart() {
        let start = Instant::now();
        let mut pointer = Pointer::default();
        let mut click = |panel, ms| {
            pointer.moved([10.0, 10.0], 1.0);
            pointer.pressed(Some(HitTarget::Panel(panel)), true);
            assert_eq!(pointer.moved([12.0, 10.0], 1.0), None, "a shaking hand");
            pointer.released(start + Duration::from_millis(ms)).unwrap()
        };
        let [one, other] = [3, 4].map(HitTarget::Panel);
        assert_eq!(click(3, 0), Gesture::Click(one));
        assert_eq!(click(3, 300), Gesture::DoubleClick(one));
        assert_eq!(click(3, 350), Gesture::Click(one), "not a third time");
        assert_eq!(click(4, 400), Gesture::Click(other), "another panel");
        let mut drag = |target, to| {
            pointer.moved([12.0, 10.0], 1.0);
            pointer.pressed(target, true);
            let dragged = [to, [23.0, 12.0]].map(|to| pointer.moved(to, 1.0));
            assert_eq!(pointer.released(start + Duration::from_secs(9)), None);
            dragged
        };
        let gestures = [[10.0, 0.0], [1.0, 2.0]].map(|by| Some(Gesture::Drag(other, by)));
        assert_eq!(drag(Some(other), [22.0, 10.0]), gestures);
        assert_eq!(drag(None, [50.0, 0.0]), [None, None], "beside the panels");
    }
}
