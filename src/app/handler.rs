//! winit's events, one by one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use winit::application::ApplicationHandler;
use winit::dpi::LogicalSize;
use winit::event::{ElementState, MouseButton, MouseScrollDelta, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow, OwnedDisplayHandle};
use winit::keyboard::ModifiersState;
use winit::window::{Fullscreen, Window, WindowId};

use crate::app::pacing::{Pacer, Rate};
use crate::app::pointer::{Gesture, Pointer};
use crate::app::screen::{Outcome, Screen, WindowCanvas};
use crate::app::{AppError, Wake, WindowOptions, World, keys, startup};
use crate::session::{Action, Status, ViewRequest};
use crate::view::picture_file::write_dated_png;
use crate::view::{Drawing, Frame, ViewError, ViewOptions};

/// Frames a second where more would only burden the machine or the wire.
const SLOW_FRAMES: f64 = 30.0;
/// How long a notice stays.
const NOTICE: Duration = Duration::from_secs(5);
/// How soon to look again where a frame could not be had.
const RETRY: Duration = Duration::from_millis(100);
/// A GPU that is lost more often than this in a row does not come back.
const MOST_LOSSES: u32 = 3;

/// See the module.
pub(super) struct Handler<W> {
    options: WindowOptions,
    view: ViewOptions,
    started: Receiver<anyhow::Result<W>>,
    awake: Arc<AtomicBool>,
    display: OwnedDisplayHandle,
    forwarded: bool,
    world: Option<W>,
    requested: Option<ViewRequest>,
    screen: Option<Screen>,
    drawing: Drawing,
    notice_until: Option<Instant>,
    saved: (Sender<String>, Receiver<String>),
    wake: Arc<Mutex<Wake>>,
    pacer: Pacer,
    rate: Rate,
    presented: u64,
    losses: u32,
    visible: bool,
    pointer: Pointer,
    /// Notches of the wheel not yet acted upon: a touchpad sends parts of one.
    wheel: f64,
    modifiers: ModifiersState,
    /// Why it ended, if not by the person.
    pub(super) failed: Option<AppError>,
}

impl<W: World> Handler<W> {
    pub(super) fn new(
        options: WindowOptions,
        started: Receiver<anyhow::Result<W>>,
        awake: Arc<AtomicBool>,
        display: OwnedDisplayHandle,
        wake: Wake,
    ) -> Handler<W> {
        Handler {
            view: options.view,
            options,
            started,
            awake,
            display,
            forwarded: startup::is_forwarded(),
            world: None,
            requested: None,
            screen: None,
            drawing: Drawing::default(),
            notice_until: None,
            saved: channel(),
            wake: Arc::new(Mutex::new(wake)),
            pacer: Pacer::new(),
            rate: Rate::default(),
            presented: 0,
            losses: 0,
            visible: true,
            pointer: Pointer::default(),
            wheel: 0.0,
            modifiers: ModifiersState::empty(),
            failed: None,
        }
    }

    fn open(&self, event_loop: &ActiveEventLoop) -> Result<Screen, AppError> {
        let [width, height] = self.options.size;
        let attributes = Window::default_attributes()
            .with_title(&self.options.title)
            .with_inner_size(LogicalSize::new(width, height))
            .with_min_inner_size(LogicalSize::new(160, 120))
            .with_fullscreen(
                self.options
                    .fullscreen
                    .then_some(Fullscreen::Borderless(None)),
            );
        let window = event_loop
            .create_window(attributes)
            .map_err(|error| AppError::Display(startup::in_short(&error)))?;
        let canvas = WindowCanvas {
            window: Arc::new(window),
            display: self.display.clone(),
        };
        Ok(Screen::open(canvas, self.options.adapter.clone())?)
    }

    fn adopt(&mut self, screen: Screen) {
        self.drawing = Drawing {
            notice: self.drawing.notice.take(),
            ..screen.drawing(self.forwarded)
        };
        if self.forwarded || screen.gpu.facts.software {
            self.pacer.least = Duration::from_secs_f64(1.0 / SLOW_FRAMES);
        }
        self.screen = Some(screen);
        self.pacer.want(Instant::now());
    }

    fn fail(&mut self, event_loop: &ActiveEventLoop, error: AppError) {
        self.failed.get_or_insert(error);
        event_loop.exit();
    }

    fn note(&mut self, notice: String) {
        let now = Instant::now();
        self.drawing.notice = Some(notice);
        self.notice_until = Some(now + NOTICE);
        self.pacer.want(now);
    }

    fn status(&self) -> Option<Arc<Status>> {
        self.world.as_ref().map(World::status)
    }

    /// Calls `with` with what a frame is made from, if there is a window.
    fn frame<'a>(&'a self, status: Option<&'a Status>) -> Option<Frame<'a>> {
        let screen = self.screen.as_ref()?;
        Some(Frame {
            status,
            options: &self.view,
            drawing: &self.drawing,
            pixels: screen.pixels(),
            scale: screen.window().scale_factor() as f32,
        })
    }

    /// Takes over the session once it has started.
    fn look_for_world(&mut self, event_loop: &ActiveEventLoop) {
        if self.world.is_some() {
            return;
        }
        match self.started.try_recv() {
            Ok(Ok(world)) => {
                self.world = Some(world);
                self.requested = None;
            }
            Ok(Err(error)) => self.fail(event_loop, AppError::Session(error)),
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => {
                let error = anyhow::anyhow!("internal: the session's start has panicked");
                self.fail(event_loop, AppError::Session(error));
            }
        }
    }

    fn redraw(&mut self, event_loop: &ActiveEventLoop) {
        let now = Instant::now();
        match self.notice_until {
            Some(until) if until > now => self.pacer.want_at(until), // to take it away
            _ => (self.notice_until, self.drawing.notice) = (None, None),
        }
        self.drawing.frames_per_second = self.rate.per_second(now);
        let status = self.status();
        self.request_view(status.as_deref());
        let Some(screen) = &mut self.screen else {
            return;
        };
        let frame = Frame {
            status: status.as_deref(),
            options: &self.view,
            drawing: &self.drawing,
            pixels: screen.pixels(),
            scale: screen.window().scale_factor() as f32,
        };
        let pictures = self
            .world
            .as_ref()
            .map(|world| world as &dyn crate::view::PictureSource);
        match screen.present(&frame, pictures) {
            Ok(Outcome::Presented) => self.presented(event_loop, status.as_deref()),
            Ok(Outcome::Skipped) => self.pacer.want_at(now + RETRY),
            Ok(Outcome::Again) => self.pacer.want(now),
            Err(error) => self.recover(event_loop, error),
        }
    }

    fn presented(&mut self, event_loop: &ActiveEventLoop, status: Option<&Status>) {
        let now = Instant::now();
        self.pacer.drawn(now);
        self.rate.count(now);
        self.losses = 0;
        self.presented += 1;
        tracing::trace!("frame {} presented", self.presented);
        if let Some(status) = status {
            if let Some(announce) = self.options.announce.take() {
                announce(status, &self.drawing);
            }
            if status.finished {
                return event_loop.exit();
            }
        }
        match self.options.frames {
            Some(most) if self.presented >= most => event_loop.exit(),
            Some(_) => self.pacer.want(now),
            None => {}
        }
    }

    /// Goes on after a lost GPU with a new one; ends on anything else.
    fn recover(&mut self, event_loop: &ActiveEventLoop, error: ViewError) {
        self.losses += 1;
        if !matches!(error, ViewError::DeviceLost(_)) || self.losses > MOST_LOSSES {
            return self.fail(event_loop, error.into());
        }
        let Some(screen) = self.screen.take() else {
            return;
        };
        match screen.reopen() {
            Ok(screen) => {
                self.adopt(screen);
                self.note("the drawing GPU was lost and is back".into());
            }
            Err(error) => self.fail(event_loop, error.into()),
        }
    }

    /// Tells the session what is drawn, where that has changed.
    fn request_view(&mut self, status: Option<&Status>) {
        let Some(screen) = &self.screen else { return };
        let request = self
            .frame(status)
            .and_then(|frame| frame.request(screen.scene.limits));
        if let (Some(request), Some(world)) = (request, &self.world)
            && self.requested != Some(request)
        {
            world.request_view(request);
            self.requested = Some(request);
        }
    }

    fn act(&mut self, event_loop: &ActiveEventLoop, action: Action) {
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
            Action::ToggleGridLines => self.view.grid_lines ^= true,
            Action::NextColours => {
                self.view.colours = (self.view.colours + 1) % crate::view::palette::COUNT;
                let name = crate::view::palette::palette(self.view.colours).name;
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
                        Ok(path) => format!("saved {}", path.display()),
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

    fn zoom(&mut self, factor: f64, at: Option<[f64; 2]>) {
        let Some(status) = self.status() else { return };
        let Some((layout, _)) = self.frame(Some(&status)).and_then(|frame| frame.layout()) else {
            return;
        };
        let panel = layout.tiling.panel;
        match at {
            None => self.view.camera.zoom(factor, status.size, panel),
            Some(at) => {
                if let Some(place) = layout.tiling.place_at(at) {
                    let rect = layout.tiling.rect(place);
                    let pixel = [at[0] - f64::from(rect.x), at[1] - f64::from(rect.y)];
                    self.view.camera.zoom_at(factor, pixel, status.size, panel);
                }
            }
        }
    }

    fn pan(&mut self, pixels: impl Fn([u32; 2]) -> [f64; 2]) {
        let Some(status) = self.status() else { return };
        if let Some((layout, _)) = self.frame(Some(&status)).and_then(|frame| frame.layout()) {
            let panel = layout.tiling.panel;
            self.view.camera.pan(pixels(panel), status.size, panel);
        }
    }

    /// An eighth of a panel.
    fn pan_by_key(&mut self, [x, y]: [f64; 2]) {
        self.pan(|[w, h]| [x * f64::from(w) / 8.0, y * f64::from(h) / 8.0]);
    }

    /// The panel on screen under the pointer.
    fn place_under_pointer(&self) -> Option<usize> {
        let status = self.status()?;
        let (layout, _) = self.frame(Some(&status))?.layout()?;
        layout.tiling.place_at(self.pointer.at?)
    }

    fn gesture(&mut self, event_loop: &ActiveEventLoop, gesture: Gesture) {
        match gesture {
            Gesture::Drag(pixels) => {
                self.pan(|_| pixels);
                self.pacer.want(Instant::now());
            }
            Gesture::Click(_) if self.view.help => self.act(event_loop, Action::ToggleHelp),
            Gesture::Click(place) if !self.view.single => {
                self.act(event_loop, Action::Select(place));
            }
            Gesture::Click(_) => {}
            Gesture::DoubleClick(_) => self.act(event_loop, Action::ToggleSingle),
        }
    }

    fn mouse_button(
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
                let place = self.place_under_pointer();
                self.pointer.pressed(place, button == MouseButton::Left);
            }
            ElementState::Released => {
                if let Some(gesture) = self.pointer.released(Instant::now()) {
                    self.gesture(event_loop, gesture);
                }
            }
        }
    }
}

impl<W: World> ApplicationHandler<()> for Handler<W> {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        if self.screen.is_none() {
            match self.open(event_loop) {
                Ok(screen) => self.adopt(screen),
                Err(error) => self.fail(event_loop, error),
            }
        }
    }

    fn user_event(&mut self, event_loop: &ActiveEventLoop, (): ()) {
        self.awake.store(false, Ordering::Release);
        self.look_for_world(event_loop);
        while let Ok(notice) = self.saved.1.try_recv() {
            self.note(notice);
        }
        self.pacer.want(Instant::now());
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        let scale = self
            .screen
            .as_ref()
            .map_or(1.0, |screen| screen.window().scale_factor());
        match event {
            WindowEvent::CloseRequested => event_loop.exit(),
            WindowEvent::RedrawRequested => self.redraw(event_loop),
            WindowEvent::Resized(size) => {
                self.visible = size.width > 0 && size.height > 0;
                if let Some(screen) = &mut self.screen {
                    screen.resize([size.width, size.height]);
                }
                self.pacer.want(Instant::now());
            }
            WindowEvent::Occluded(occluded) => {
                self.visible = !occluded;
                self.pacer.want(Instant::now());
            }
            WindowEvent::ScaleFactorChanged { .. } => self.pacer.want(Instant::now()),
            WindowEvent::ModifiersChanged(modifiers) => self.modifiers = modifiers.state(),
            WindowEvent::KeyboardInput {
                event,
                is_synthetic: false,
                ..
            } => {
                if let Some(action) = keys::action(&event, self.modifiers) {
                    self.act(event_loop, action);
                }
            }
            WindowEvent::CursorMoved { position, .. } => {
                if let Some(gesture) = self.pointer.moved([position.x, position.y], scale) {
                    self.gesture(event_loop, gesture);
                }
            }
            WindowEvent::CursorLeft { .. } => self.pointer.left(),
            WindowEvent::MouseInput { state, button, .. } => {
                self.mouse_button(event_loop, state, button);
            }
            WindowEvent::MouseWheel { delta, .. } => {
                let notches = match delta {
                    MouseScrollDelta::LineDelta(_, lines) => f64::from(lines),
                    MouseScrollDelta::PixelDelta(pixels) => pixels.y / (40.0 * scale),
                };
                self.wheel += notches;
                let whole = self.wheel.trunc();
                if whole != 0.0 {
                    self.wheel -= whole;
                    self.zoom(1.25f64.powf(whole), self.pointer.at);
                    self.pacer.want(Instant::now());
                }
            }
            _ => {}
        }
    }

    fn about_to_wait(&mut self, event_loop: &ActiveEventLoop) {
        let Some(screen) = &self.screen else { return };
        if self.visible && self.pacer.take_due(Instant::now()) {
            screen.window().request_redraw();
        }
        let next = self.pacer.next().filter(|_| self.visible);
        event_loop.set_control_flow(next.map_or(ControlFlow::Wait, ControlFlow::WaitUntil));
    }

    fn exiting(&mut self, _event_loop: &ActiveEventLoop) {
        // The surface must go before the connection to the display does.
        self.screen = None;
    }
}
