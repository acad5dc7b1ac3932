//! What moves the camera and changes colours.

use std::time::{Duration, Instant};

use crate::handler::Handler;
use crate::view::layout::WindowLayout;
use crate::view::minimap;
use lang::Message;
use session::Status;
use ui::{Camera, ColourBy};

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
            minimap::cell_of(&frame, &layout, at)
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
