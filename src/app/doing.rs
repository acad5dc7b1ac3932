//! What the window does of what a person asks for; the rest is the session's.

use std::time::Instant;

use winit::event::{ElementState, MouseButton};
use winit::event_loop::ActiveEventLoop;
use winit::window::Fullscreen;

use crate::app::World;
use crate::app::handler::Handler;
use crate::app::pointer::{Gesture, Spot};
use crate::session::Action;
use crate::view::layout::Layout;
use crate::view::picture_file::write_dated_png;
use crate::view::{Drawing, Frame, palette};

impl<W: World> Handler<W> {
    /// Does what a person asked for: the window's own actions here, the others in the session.
    pub(super) fn act(&mut self, event_loop: &ActiveEventLoop, action: Action) {
        self.pacer.want(Instant::now());
        match action {
            Action::ToggleSingle => self.view.single ^= true,
            Action::ZoomIn => self.zoom(1.5, None),
            Action::ZoomOut => self.zoom(1.0 / 1.5, None),
            Action::PanLeft => self.pan_by_key([1.0, 0.0]),
            Action::PanRight => self.pan_by_key([-1.0, 0.0]),
            Action::PanUp => self.pan_by_key([0.0, 1.0]),
            Action::PanDown => self.pan_by_key([0.0, -1.0]),
            Action::Fit => self.view.camera.fit(),
            Action::ToggleTimeline => self.toggle_timeline(),
            Action::ToggleGridLines => self.view.grid_lines ^= true,
            Action::NextColours => {
                self.view.colours = (self.view.colours + 1) % palette::COUNT;
                let name = palette::palette(self.view.colours).name;
                self.note(format!("colours: {name}"));
            }
            Action::Invert => self.view.invert ^= true,
            Action::ToggleFullscreen => self.toggle_fullscreen(),
            Action::SavePicture => self.save_picture(),
            Action::ToggleHelp => self.view.help ^= true,
            Action::Escape => self.escape(),
            Action::Quit => event_loop.exit(),
            other => {
                if let Some(world) = &self.world {
                    world.act(other);
                }
            }
        }
    }

    fn escape(&mut self) {
        let fullscreen = self
            .screen
            .as_ref()
            .is_some_and(|screen| screen.window().fullscreen().is_some());
        if self.view.help {
            self.view.help = false;
        } else if self.view.single {
            self.view.single = false;
        } else if fullscreen {
            self.toggle_fullscreen();
        }
    }

    fn toggle_fullscreen(&self) {
        if let Some(screen) = &self.screen {
            let now = screen.window().fullscreen().is_some();
            screen
                .window()
                .set_fullscreen((!now).then_some(Fullscreen::Borderless(None)));
        }
    }

    /// Draws the window's picture once more, reads it back, and leaves the writing to a thread.
    fn save_picture(&mut self) {
        let status = self.status();
        let Some(screen) = &mut self.screen else {
            return;
        };
        let frame = Frame {
            status: status.as_deref(),
            options: &self.view,
            timeline: &self.timeline,
            drawing: &Drawing {
                notice: None,
                ..self.drawing.clone()
            },
            pixels: screen.pixels(),
            scale: screen.window().scale_factor() as f32,
        };
        match screen.picture(&frame) {
            Err(error) => self.note(error.to_string()),
            Ok(image) => {
                let (sender, wake) = (self.saved.0.clone(), self.wake.clone());
                let write = move || {
                    let said = match write_dated_png(&image, ".".as_ref()) {
                        Ok(path) => {
                            format!("saved {}", path.file_name().unwrap_or_default().display())
                        }
                        Err(error) => error.to_string(),
                    };
                    // Nobody is left to be told only when the window has gone.
                    let _ = sender.send(said);
                    if let Ok(wake) = wake.lock() {
                        wake();
                    }
                };
                if let Err(error) = std::thread::Builder::new().spawn(write) {
                    self.note(format!("the picture is not saved: {error}"));
                }
            }
        }
    }

    fn toggle_timeline(&mut self) {
        self.view.timeline ^= true;
        self.hover();
    }

    /// Where everything stands, once there is anything.
    fn layout(&self) -> Option<Layout> {
        let status = self.status()?;
        let (layout, _) = self.frame(Some(&status))?.layout()?;
        Some(layout)
    }

    /// Zooms about a point in pixels, if a panel or the timeline is there, or about the panels'
    /// middle.
    pub(super) fn zoom(&mut self, factor: f64, at: Option<[f64; 2]>) {
        let (Some(status), Some(layout)) = (self.status(), self.layout()) else {
            return;
        };
        let panel = layout.tiling.panel;
        match at.map(|at| (at, spot(&layout, at))) {
            None => self.view.camera.zoom(factor, status.size, panel),
            Some((at, Some(Spot::Panel(place)))) => {
                let rect = layout.tiling.rect(place);
                let pixel = [at[0] - f64::from(rect.x), at[1] - f64::from(rect.y)];
                self.view.camera.zoom_at(factor, pixel, status.size, panel);
            }
            Some((at, Some(Spot::Timeline))) => self.timeline.zoom(factor, at, &layout),
            Some((_, None)) => {}
        }
    }

    fn pan(&mut self, pixels: impl Fn([u32; 2]) -> [f64; 2]) {
        if let (Some(status), Some(layout)) = (self.status(), self.layout()) {
            let panel = layout.tiling.panel;
            self.view.camera.pan(pixels(panel), status.size, panel);
        }
    }

    /// An eighth of a panel.
    fn pan_by_key(&mut self, [x, y]: [f64; 2]) {
        self.pan(|[w, h]| [x * f64::from(w) / 8.0, y * f64::from(h) / 8.0]);
    }

    /// What is under the pointer.
    fn spot_under_pointer(&self) -> Option<Spot> {
        spot(&self.layout()?, self.pointer.at?)
    }

    /// Tells the timeline where the mouse is; another frame is only wanted where that shows.
    pub(super) fn hover(&mut self) {
        let over = self.view.timeline && self.spot_under_pointer() == Some(Spot::Timeline);
        if self.timeline.hover(self.pointer.at.filter(|_| over)) {
            self.pacer.want(Instant::now());
        }
    }

    /// Does what the mouse asked for.
    pub(super) fn gesture(&mut self, event_loop: &ActiveEventLoop, gesture: Gesture) {
        match gesture {
            Gesture::Drag(Spot::Panel(_), pixels) => self.pan(|_| pixels),
            Gesture::Click(_) if self.view.help => self.act(event_loop, Action::ToggleHelp),
            Gesture::Click(Spot::Panel(place)) if !self.view.single => {
                self.act(event_loop, Action::Select(place));
            }
            Gesture::Click(Spot::Panel(_)) => {}
            Gesture::DoubleClick(Spot::Panel(_)) => self.act(event_loop, Action::ToggleSingle),
            Gesture::Drag(Spot::Timeline, [pixels, _]) => {
                if let Some(layout) = self.layout() {
                    self.timeline.pan(pixels, &layout);
                }
            }
            Gesture::Click(Spot::Timeline) | Gesture::DoubleClick(Spot::Timeline) => {
                if let (Some(at), Some(layout)) = (self.pointer.at, self.layout()) {
                    let twice = matches!(gesture, Gesture::DoubleClick(_));
                    self.timeline.click(twice, at, &layout);
                }
            }
        }
        self.pacer.want(Instant::now());
    }

    /// A mouse button went down or came up.
    pub(super) fn mouse_button(
        &mut self,
        event_loop: &ActiveEventLoop,
        state: ElementState,
        button: MouseButton,
    ) {
        if !matches!(button, MouseButton::Left | MouseButton::Middle) {
            return;
        }
        match state {
            ElementState::Pressed => {
                let spot = self.spot_under_pointer();
                self.pointer.pressed(spot, button == MouseButton::Left);
            }
            ElementState::Released => {
                if let Some(gesture) = self.pointer.released(Instant::now()) {
                    self.gesture(event_loop, gesture);
                }
            }
        }
    }
}

/// What stands at a point in pixels.
fn spot(layout: &Layout, at: [f64; 2]) -> Option<Spot> {
    if layout.timeline.is_some_and(|rect| rect.contains(at)) {
        return Some(Spot::Timeline);
    }
    layout.tiling.place_at(at).map(Spot::Panel)
}
