//! winit's events, one by one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::time::{Duration, Instant};

use egui_winit::accesskit_winit::Adapter;
use winit::application::ApplicationHandler;
use winit::dpi::LogicalSize;
use winit::event::{ElementState, MouseScrollDelta, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop, EventLoopProxy};
use winit::keyboard::ModifiersState;
use winit::monitor::MonitorHandle;
use winit::window::{Fullscreen, Theme, Window, WindowId};

use crate::background::{Background, notice};
use crate::captures::{Recording, in_its_folder};
use crate::editing::Editing;
use crate::editor::Editor;
use crate::input::Pressed;
use crate::pointer::Pointer;
use crate::surface::{WindowCanvas, WindowSurface};
use crate::view::picture_file::write_dated_png;
use crate::view::{
    Dialog, Dialogs, Form, Frame, MIN_PIXELS_FOR_LINES, Picker, UiRequest, ViewError, take_requests,
};
use crate::{LoopEvent, WindowError, WindowOptions, startup};
use lang::{Message, message, tr};
use lesson::ExerciseProgress;
use session::{Session, SessionAction, Status};
use ui::actions::Setting;
use ui::pacing::{FrameRate, Pacer};
use ui::theme::theme;
use ui::{Action, App, CodeEditor, Drawing, InterfaceScale, Lessons, SidePanel, ViewAction, Wake};

/// Frames per second where more would only burden the machine or the wire.
const SLOW_FRAMES: f64 = 30.0;
/// How soon to look again where a frame could not be had.
const RETRY_INTERVAL: Duration = Duration::from_millis(20);
/// A GPU that is lost more often than this in a row does not come back.
const MAX_LOSSES: u32 = 3;

/// What the desktop puts around a window at most: its frame, and a panel or a dock.
const DECORATIONS: [f64; 2] = [16.0, 64.0];
/// The size of a new window in points, and of the monitor that it fits where nothing is known of the one that
/// it is to be on.
const USUAL_SIZE: [f64; 2] = [1280.0, 800.0];

/// The size of a new window in points: no larger than the monitor without its decorations.
fn fitting(monitor: Option<[f64; 2]>) -> [f64; 2] {
    let monitor = monitor.unwrap_or(USUAL_SIZE);
    [0, 1].map(|axis| {
        let room = (monitor[axis] - DECORATIONS[axis]).max(1.0);
        USUAL_SIZE[axis].min(room)
    })
}

/// What a frame is made from.
pub(super) fn frame_of<'a>(app: &'a App, editor: &'a Editor, surface: &WindowSurface) -> Frame<'a> {
    Frame {
        app,
        editor: editor.shown(),
        pixels: surface.pixels(),
        scale: surface.window().scale_factor() as f32,
    }
}

/// See the module.
pub(super) struct Handler {
    pub options: WindowOptions,
    /// Bits of a pixel, of an X server that not every driver draws to.
    unusual_depth: Option<u8>,
    /// Told once something draws to the window.
    opened: Sender<()>,
    started: Receiver<anyhow::Result<Session>>,
    wake_pending: Arc<AtomicBool>,
    /// Whether a signal asked for the end.
    quit_requested: Arc<AtomicBool>,
    proxy: EventLoopProxy<LoopEvent>,
    /// What the terminal has too.
    pub app: App,
    pub surface: Option<WindowSurface>,
    pub background: Background,
    pub pacer: Pacer,
    rate: FrameRate,
    pub presented: u64,
    losses: u32,
    visible: bool,
    pub recording: Option<Recording>,
    pub pointer: Pointer,
    pub editor: Editor,
    pub dialogs: Dialogs,
    pub editing: Editing,
    /// Where fullscreen is, if that was asked for.
    pub monitor: Option<MonitorHandle>,
    /// Notches of the wheel not yet acted upon: a touchpad sends parts of one.
    wheel: f64,
    pub modifiers: ModifiersState,
    /// Why it ended, if not by the person.
    pub failed: Option<WindowError>,
}

impl Handler {
    pub(super) fn new(
        mut app: App,
        options: WindowOptions,
        (unusual_depth, opened): (Option<u8>, Sender<()>),
        started: Receiver<anyhow::Result<Session>>,
        [wake_pending, quit_requested]: [Arc<AtomicBool>; 2],
        event_loop: &EventLoop<LoopEvent>,
        wake: Wake,
    ) -> Handler {
        let progress = ExerciseProgress::path().map(|path| ExerciseProgress::read(&path));
        app.progress = progress.and_then(Result::ok).unwrap_or_default();
        let editor = Editor::new();
        Handler {
            app,
            recording: options.record.clone().map(Recording::new),
            options,
            unusual_depth,
            opened,
            started,
            wake_pending,
            quit_requested,
            proxy: event_loop.create_proxy(),
            surface: None,
            background: Background::new(wake),
            pacer: Pacer::default(),
            rate: FrameRate::default(),
            presented: 0,
            losses: 0,
            visible: true,
            pointer: Pointer::default(),
            editor,
            dialogs: Dialogs::default(),
            editing: Editing::default(),
            monitor: None,
            wheel: 0.0,
            modifiers: ModifiersState::empty(),
            failed: None,
        }
    }

    fn open(&mut self, event_loop: &ActiveEventLoop) -> Result<WindowSurface, WindowError> {
        let requested = self.options.monitor.as_deref();
        self.monitor = requested
            .map(|it| startup::find_monitor(event_loop, it))
            .transpose()?;
        let fullscreen = self.monitor.as_ref();
        let fullscreen = fullscreen.map(|it| Fullscreen::Borderless(Some(it.clone())));
        let [width, height] = fitting(startup::usual_monitor(event_loop));
        let attributes = Window::default_attributes()
            .with_title("lifestreams")
            // The frame goes with what is in it, where the desktop leaves that to the window.
            .with_theme(Some(if theme(self.app.options.theme).light {
                Theme::Light
            } else {
                Theme::Dark
            }))
            .with_inner_size(LogicalSize::new(width, height))
            .with_min_inner_size(LogicalSize::new(160, 120))
            // So many pictures of one size were asked for.
            .with_resizable(self.options.record.is_none() || self.app.frames.is_none())
            // It is shown once a screen reader can be told of it.
            .with_visible(false)
            .with_fullscreen(fullscreen);
        let window = event_loop
            .create_window(attributes)
            .map_err(|error| WindowError::Display(startup::in_short(&error)))?;
        let reader = Adapter::with_event_loop_proxy(event_loop, &window, self.proxy.clone());
        window.set_visible(true);
        let canvas = WindowCanvas {
            window: Arc::new(window),
            display: event_loop.owned_display_handle(),
        };
        let adapter = self.options.adapter.as_deref();
        let opened = WindowSurface::open(canvas, adapter, (reader, false));
        opened.map_err(|error| match (error, self.unusual_depth) {
            (ViewError::NoDevice(_), Some(depth)) if adapter.is_none() => WindowError::NoDisplay(
                tr!("no graphics driver draws to a display of {depth} bits per pixel"),
            ),
            (error, _) => error.into(),
        })
    }

    fn adopt(&mut self, screen: WindowSurface) {
        let forwarded = startup::is_forwarded();
        self.app.drawing = Drawing {
            notice: self.app.drawing.notice.take(),
            adapter: Some(screen.gpu.facts.clone()),
            forwarded,
            ..Default::default()
        };
        if forwarded || screen.gpu.facts.software {
            self.pacer.min_interval = Duration::from_secs_f64(1.0 / SLOW_FRAMES);
        }
        self.surface = Some(screen);
        let _ = self.opened.send(()); // nobody may wait for it
        self.pacer.request_frame();
    }

    fn fail(&mut self, event_loop: &ActiveEventLoop, error: WindowError) {
        self.failed.get_or_insert(error);
        event_loop.exit();
    }

    pub(super) fn show_notice(&mut self, notice: impl Into<Message>) {
        self.app.show_notice(notice);
        self.pacer.request_frame();
    }

    pub(super) fn status(&self) -> Option<Arc<Status>> {
        self.app.status.clone()
    }

    /// The frame as it is now, if there is a window.
    pub(super) fn frame(&self) -> Option<Frame<'_>> {
        let screen = self.surface.as_ref()?;
        Some(frame_of(&self.app, &self.editor, screen))
    }

    /// Does what a person asked for by a widget.
    fn requested(&mut self, event_loop: &ActiveEventLoop, request: UiRequest) {
        use UiRequest::*;
        self.pacer.request_frame();
        match request {
            Act(action) => self.act(event_loop, action),
            Change(settings, beside) => {
                let form = Form::of_settings(settings, beside);
                self.dialogs.open(Dialog::Form(form));
            }
            OpenFile(path) => self.open_path(&path),
            SaveFile(path) => self.save_to_typed(path),
            Shelved(shelved) => self.take_from_shelf(shelved),
            Lecture(index) => {
                self.app.begin_lecture(index);
                self.hover();
            }
            Lesson(index) => {
                let open = |lessons: &mut Lessons, session: &_| lessons.open(session, index);
                self.app.with_lessons(open);
                self.hover();
            }
            Exercise(index) => self.start_exercise(&lesson::EXERCISES[index]),
            NextExercise => match self.app.progress.next() {
                Some(exercise) => self.start_exercise(exercise),
                None => self.show_notice(message!("every exercise is solved")),
            },
            RunKernel(stored) => {
                // Another session may have been opened meanwhile.
                let status = self.status();
                if status.is_some_and(|it| it.setting.stored_kernel.as_ref() == Some(&stored)) {
                    self.run_stored_kernel(&stored);
                }
            }
            ShowSource(rung) => self.app.options.source = rung,
            EditCode(text) => self.edit_code(text),
            SaveCode => self.save_code(),
            ShowCode(code) => self.editor.code = code,
            NewKernel => {
                if let Some(status) = self.status() {
                    let copy = CodeEditor::of_kernel(status.setting.kernel);
                    self.editor.replace(copy);
                }
            }
            Resize(axis, size) => self.app.options.panes[axis] = size,
            FreezeTimeline => self.app.timeline.frozen ^= true,
        }
    }

    /// Takes over the session once it has started.
    fn poll_session_start(&mut self, event_loop: &ActiveEventLoop) {
        if self.app.session.is_some() {
            return;
        }
        match self.started.try_recv() {
            Ok(Ok(session)) => {
                self.app.start(session);
                self.show_first_code();
            }
            Ok(Err(error)) => self.fail(event_loop, WindowError::Session(error)),
            Err(_) => {} // not yet
        }
    }

    /// Ends where a limit that was asked for is reached, though nobody may be looking, and where
    /// it never will be because the session has failed.
    fn check_exit_conditions(&mut self, event_loop: &ActiveEventLoop) {
        if let Some(why) = self.app.gives_up() {
            let error = anyhow::anyhow!("{why}");
            self.fail(event_loop, WindowError::Session(error));
        }
        let status = self.app.status.as_ref();
        if status.is_some_and(|it| it.clock.finished) && !self.visible {
            event_loop.exit();
        }
    }

    fn redraw(&mut self, event_loop: &ActiveEventLoop) {
        let now = Instant::now();
        if let Some(until) = self.app.expire_notice(now) {
            self.pacer.request_frame_at(until); // to take it away
        }
        self.app.drawing.frames_per_second = self.rate.per_second(now);
        self.app.drawing.fullscreen = self.is_fullscreen();
        let recorded = self.recording.as_ref().map(|of| of.lasted(now));
        self.app.drawing.recording = recorded;
        if recorded.is_some() {
            self.pacer.request_frame_at(now + Duration::from_secs(1)); // its clock goes on
        }
        self.notice_other_grid();
        self.check_round();
        self.keep_drafts();
        self.request_view();
        self.app.update();
        let is_edited = self.app.options.side == Some(SidePanel::Editor);
        let race = self.editor.shown().race().filter(|_| is_edited);
        self.app.timeline.show_race(race);
        let Some(screen) = &mut self.surface else {
            return;
        };
        let frame = frame_of(&self.app, &self.editor, screen);
        match screen.present(&frame, &mut self.dialogs) {
            Ok(Some(drawn)) => {
                let scene = &screen.scene;
                let requests = take_requests(scene.context());
                self.app
                    .edit_overlay
                    .settle(|instance| scene.panels.shown_edit(instance));
                self.record();
                self.presented(event_loop, now);
                // It says [`Duration::MAX`] where nothing will change by itself.
                if drawn.again < Duration::from_secs(3600) {
                    self.pacer.request_frame_at(now + drawn.again);
                }
                for request in requests {
                    self.requested(event_loop, request);
                }
            }
            Ok(None) => self.pacer.request_frame_at(now + RETRY_INTERVAL),
            Err(error) => self.recover(event_loop, error),
        }
    }

    /// A frame that was begun at `began` has been presented.
    fn presented(&mut self, event_loop: &ActiveEventLoop, began: Instant) {
        let now = Instant::now();
        self.pacer.frame_drawn(began);
        self.rate.count(now);
        self.losses = 0;
        self.presented += 1;
        tracing::trace!("frame {} presented", self.presented);
        if let Some(status) = &self.app.status {
            if let Some(announce) = self.options.announce.take() {
                announce(status, &self.app.drawing);
            }
            if status.clock.finished {
                return event_loop.exit();
            }
        }
        match self.app.frames {
            Some(most) if self.frames_counted() >= most => event_loop.exit(),
            // So many were asked for, whether there is anything new or not.
            Some(_) => self.pacer.request_frame(),
            None => {}
        }
    }

    /// Goes on after a lost GPU with a new one; ends on anything else.
    fn recover(&mut self, event_loop: &ActiveEventLoop, error: ViewError) {
        self.losses += 1;
        if !matches!(error, ViewError::DeviceLost(_)) || self.losses > MAX_LOSSES {
            return self.fail(event_loop, error.into());
        }
        // All but the window and what reads it goes first: a window has one swapchain.
        let Some(WindowSurface { canvas, input, .. }) = self.surface.take() else {
            return;
        };
        let (adapter, reader) = (self.options.adapter.as_deref(), input.into_reader());
        match WindowSurface::open(canvas, adapter, reader) {
            Ok(screen) => {
                self.adopt(screen);
                self.show_notice(message!("Recovered from the loss of the drawing GPU"));
            }
            Err(error) => self.fail(event_loop, error.into()),
        }
    }

    /// Tells the session what is drawn, where that has changed.
    fn request_view(&mut self) {
        let request = self.surface.as_ref().and_then(|surface| {
            let frame = self.frame()?;
            frame.request(surface.scene.max_side)
        });
        if let Some(request) = request {
            self.app.request_view(request);
        }
    }
}

impl Handler {
    /// Does what a person asked for, or says why it is impossible.
    pub(super) fn act(&mut self, event_loop: &ActiveEventLoop, action: impl Into<Action>) {
        self.pacer.request_frame();
        let action = action.into();
        if let Action::Session(
            SessionAction::Undo
            | SessionAction::Redo
            | SessionAction::SetInstances(_)
            | SessionAction::HalveInstances
            | SessionAction::SetSize(_),
        ) = action
        {
            // Its rest would join an edit that is no longer there, or its cells would be others.
            self.pointer.drag = None;
        }
        let rest = match action {
            Action::View(ViewAction::Escape) if self.dialogs.takes_keys() => {
                self.dialogs.close_top();
                None
            }
            _ => self.app.act(action),
        };
        match rest {
            Some(Action::View(action)) => self.view_action(event_loop, action),
            Some(Action::Edit(action)) => self.edit_action(action),
            Some(Action::Session(_)) | None => {}
        }
        self.hover(); // something else may be under the pointer
    }

    /// Does what only a window can.
    fn view_action(&mut self, event_loop: &ActiveEventLoop, action: ViewAction) {
        use ViewAction::*;
        match action {
            ToggleTimeline => self.toggle_timeline(),
            ToggleEditor => self.toggle_editor(),
            RunRound => self.run_code(),
            ToggleGridLines => self.toggle_grid_lines(),
            NextColourMode => self.next_colour_by(),
            ToggleFullscreen => {
                let wanted = !self.is_fullscreen();
                if let Some(screen) = &self.surface {
                    let fullscreen = wanted.then(|| Fullscreen::Borderless(self.monitor.clone()));
                    screen.window().set_fullscreen(fullscreen);
                }
            }
            SavePicture => self.save_picture(false),
            SavePanelPicture => self.save_picture(true),
            ToggleRecording => self.toggle_recording(),
            Prompt(setting) => {
                let offered = match setting {
                    Setting::Rule => self.editing.offered_rule.take(),
                    _ => None,
                };
                let typed = offered.map(|rule| rule.to_string());
                let form = Form::prompt(setting, typed.unwrap_or_default());
                self.dialogs.open(Dialog::Form(form));
            }
            // Lectures stand first.
            ToggleLecture => self.toggle_lessons(0),
            ToggleLessons => self.toggle_lessons(self.app.lectures.len() + self.app.lessons.last),
            ToggleHelp => self.dialogs.toggle(Dialog::Help(Picker::default())),
            ToggleCommands => self.dialogs.toggle(Dialog::Commands(Picker::default())),
            ToggleMenu => self.dialogs.toggle(Dialog::Menu(Picker::default())),
            EnlargeInterface => self.resize_interface(1),
            ReduceInterface => self.resize_interface(-1),
            DefaultInterface => self.resize_interface(0),
            Quit => event_loop.exit(),
            // `App::act` has done the others, but for the camera, which needs the panels' size.
            _ => {
                if let Some((status, layout, _)) = self.places() {
                    let (size, panel) = (status.lattices.size, layout.tiling.panel);
                    self.app.move_camera(action, size, panel);
                }
            }
        }
    }

    /// Opens the list of lectures, lessons and exercises at one of them, or closes it.
    fn toggle_lessons(&mut self, at: usize) {
        self.dialogs.toggle(Dialog::Lessons(Picker::at(at)));
    }

    /// Makes the interface so many steps larger, or as usual where there are none; or says that this window
    /// has no room for it.
    fn resize_interface(&mut self, by: i8) {
        let (before, size) = (self.app.options.interface_scale, self.pixels_per_point());
        self.app.options.interface_scale = match by {
            0 => InterfaceScale::default(),
            _ => before.larger(by).unwrap_or(before),
        };
        let percent = self.app.options.interface_scale.percent();
        if by != 0 && self.pixels_per_point() == size {
            self.app.options.interface_scale = before;
            self.show_notice(message!(
                "The interface cannot become larger or smaller in this window"
            ));
        } else {
            self.show_notice(message!("Interface: {percent} %"));
        }
    }

    fn pixels_per_point(&self) -> Option<f32> {
        Some(self.frame()?.pixels_per_point())
    }

    fn is_fullscreen(&self) -> bool {
        let screen = self.surface.as_ref();
        screen.is_some_and(|screen| screen.window().fullscreen().is_some())
    }

    /// Draws the window's picture once more, reads it back, and leaves the writing to a thread.
    fn save_picture(&mut self, panel: bool) {
        match self.picture_of_now(panel) {
            Err(error) => self.show_notice(error.to_string()),
            Ok(image) => {
                self.run_in_background(move || {
                    notice(match write_dated_png(&image, ".".as_ref()) {
                        Ok(path) => tr!("Saved {}", in_its_folder(&path)),
                        Err(error) => error.to_string(),
                    })
                });
            }
        }
    }

    /// Opens or closes the timeline. What is asked for is shown: a side panel that has no room beside it
    /// goes.
    fn toggle_timeline(&mut self) {
        let shown = !self.app.options.timeline || self.panel_in_its_place().is_some();
        self.app.show_timeline(shown);
        if let Some(panel) = self.panel_in_its_place() {
            self.app.toggle_side(panel);
        }
    }

    /// The side panel that has the place of a timeline that is to be shown.
    fn panel_in_its_place(&self) -> Option<SidePanel> {
        let (_, layout, _) = self.places().filter(|_| self.app.options.timeline)?;
        let (panel, _) = layout.side?;
        layout.timeline.is_none().then_some(panel)
    }

    /// Shows or hides grid lines; says why none are seen where cells are too small.
    fn toggle_grid_lines(&mut self) {
        self.app.options.grid_lines ^= true;
        let are_unseen = |scale: f64| scale < MIN_PIXELS_FOR_LINES;
        let scale = self.places().map(|(_, _, transform)| transform.scale);
        if self.app.options.grid_lines && scale.is_some_and(are_unseen) {
            self.show_notice(message!(
                "Grid lines are drawn from {least} pixels per cell on; zoom in",
                least = MIN_PIXELS_FOR_LINES
            ));
        }
    }
}

impl ApplicationHandler<LoopEvent> for Handler {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        if self.surface.is_none() {
            match self.open(event_loop) {
                Ok(screen) => self.adopt(screen),
                Err(error) => self.fail(event_loop, error),
            }
        }
    }

    fn user_event(&mut self, event_loop: &ActiveEventLoop, event: LoopEvent) {
        if let LoopEvent::ScreenReader(event) = event {
            if let Some(screen) = &mut self.surface {
                screen.input.reader_event(event.window_event);
            }
            return self.pacer.request_frame();
        }
        self.wake_pending.store(false, Ordering::Release);
        self.app.look();
        if self.quit_requested.load(Ordering::Acquire) {
            return event_loop.exit();
        }
        self.poll_session_start(event_loop);
        self.ask_about_kernel();
        self.notice_other_grid();
        self.check_exit_conditions(event_loop);
        self.take_background_results();
        self.poll_round_answer();
        self.pacer.request_frame();
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        use WindowEvent::*;
        self.app.look();
        // The dialogs and the editor have it first.
        let keys = self.dialogs.takes_keys() || self.editor_has_keys();
        let Some(WindowSurface { canvas, input, .. }) = &mut self.surface else {
            return;
        };
        let scale = canvas.window.scale_factor();
        let offered = input.offer(&canvas.window, &event, keys);
        if offered.shows {
            self.pacer.request_frame();
        }
        match event {
            CloseRequested | Destroyed => event_loop.exit(),
            RedrawRequested => self.redraw(event_loop),
            Resized(size) => {
                self.visible = size.width > 0 && size.height > 0;
                if let Some(screen) = &mut self.surface {
                    screen.resize([size.width, size.height]);
                }
                self.pacer.request_frame();
            }
            Occluded(occluded) => {
                self.visible = !occluded;
                self.pacer.request_frame();
            }
            ScaleFactorChanged { .. } => self.pacer.request_frame(),
            ModifiersChanged(modifiers) => self.modifiers = modifiers.state(),
            KeyboardInput {
                event,
                is_synthetic: false,
                ..
            } => {
                if self.dialogs.takes_keys() {
                    // Some act on the window all the same.
                    let pressed = Pressed::of(&event, self.modifiers);
                    let row = pressed.filter(|it| !it.chord.types()).and_then(|it| it.row);
                    if let Some(row) = row.filter(|row| row.in_dialogs) {
                        self.act(event_loop, row.action);
                    }
                } else if offered.taken {
                    self.key_to_editor(event_loop, &event);
                } else if let Some(pressed) = Pressed::of(&event, self.modifiers) {
                    let action = self.app.remap_key(pressed.chord, pressed.action());
                    action.into_iter().for_each(|it| self.act(event_loop, it));
                }
            }
            CursorMoved { position, .. } => {
                self.pointer_moved([position.x, position.y], scale);
            }
            DroppedFile(path) => self.open_path(&path.to_string_lossy()),
            CursorLeft { .. } => {
                self.pointer.at = None;
                self.hover();
            }
            // A button that comes up always ends what its going down began.
            MouseInput {
                state: ElementState::Pressed,
                ..
            }
            | MouseWheel { .. }
                if offered.taken => {}
            MouseInput { state, button, .. } => {
                self.mouse_button(event_loop, state, button);
            }
            MouseWheel { delta, .. } => {
                let notches = match delta {
                    MouseScrollDelta::LineDelta(_, lines) => f64::from(lines),
                    MouseScrollDelta::PixelDelta(pixels) => pixels.y / (40.0 * scale),
                };
                self.wheel += notches;
                let whole = self.wheel.trunc();
                if whole != 0.0 {
                    self.wheel -= whole;
                    self.wheel(whole);
                }
            }
            _ => {}
        }
    }

    fn about_to_wait(&mut self, event_loop: &ActiveEventLoop) {
        let Some(screen) = &self.surface else { return };
        if self.visible && self.pacer.take_due(Instant::now()) {
            screen.window().request_redraw();
        }
        let next = self.pacer.next().filter(|_| self.visible);
        event_loop.set_control_flow(next.map_or(ControlFlow::Wait, ControlFlow::WaitUntil));
    }

    fn exiting(&mut self, _event_loop: &ActiveEventLoop) {
        self.end_recording();
        // The surface must go before the connection to the display does.
        self.surface = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_and_its_frame_fit_the_monitor() {
        for (monitor, wanted) in [
            (None, [1280.0 - DECORATIONS[0], 800.0 - DECORATIONS[1]]),
            (Some([1920.0, 1080.0]), [1280.0, 800.0]),
            (Some([1024.0, 900.0]), [1024.0 - DECORATIONS[0], 800.0]),
            (Some([1366.0, 768.0]), [1280.0, 768.0 - DECORATIONS[1]]),
            (Some([10.0, 10.0]), [1.0, 1.0]),
        ] {
            assert_eq!(fitting(monitor), wanted, "{monitor:?}");
        }
    }
}
