//! winit's events, one by one, and what keys stand for that egui does not take.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::handler::background::notice;
use crate::handler::captures::in_its_folder;
use crate::handler::{Handler, frame_of};
use crate::surface::WindowSurface;
use crate::view::gpu::WindowCanvas;
use crate::view::picture_file::write_dated_png;
use crate::view::requests::{UiRequest, take_requests};
use crate::view::{Dialog, Form, MIN_PIXELS_FOR_LINES, Picker, ViewError};
use crate::{LoopEvent, WindowError, startup};
use egui_winit::accesskit_winit::Adapter;
use lang::{message, tr};
use ui::actions::{Action, Chord, Key, Row, row_for};
use ui::theme::theme;
use ui::{CodeEditor, Drawing, InterfaceScale, SidePanel, ViewAction};
use winit::application::ApplicationHandler;
use winit::dpi::LogicalSize;
use winit::event::{ElementState, KeyEvent, MouseScrollDelta, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow};
use winit::keyboard::{Key as WinitKey, KeyCode, ModifiersState, NamedKey, PhysicalKey};
use winit::platform::modifier_supplement::KeyEventExtModifierSupplement as _;
use winit::window::{Fullscreen, Theme, Window, WindowId};

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

impl Handler {
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
                self.app.open_lesson(&lesson::LESSONS[index]);
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
            Ok(Some(again)) => {
                let scene = &screen.scene;
                let requests = take_requests(scene.context());
                self.forget_shown_edits();
                self.record();
                self.presented(event_loop, now);
                // It says [`Duration::MAX`] where nothing will change by itself.
                if again < Duration::from_secs(3600) {
                    self.pacer.request_frame_at(now + again);
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

    /// Does what a person asked for, or says why it is impossible.
    pub(super) fn act(&mut self, event_loop: &ActiveEventLoop, action: impl Into<Action>) {
        self.pacer.request_frame();
        let action = action.into();
        self.end_drag_before(action);
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
                    screen.canvas.window.set_fullscreen(fullscreen);
                }
            }
            SavePicture => self.save_picture(false),
            SavePanelPicture => self.save_picture(true),
            ToggleRecording => self.toggle_recording(),
            Prompt(setting) => {
                let typed = setting.typed_first(&mut self.offered_rule);
                self.dialogs
                    .open(Dialog::Form(Form::prompt(setting, typed)));
            }
            // Lectures stand first.
            ToggleLecture => self.toggle_lessons(None),
            ToggleLessons => self.toggle_lessons(self.app.lessons.last),
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

    /// Opens the list of lectures, lessons and exercises at its first lecture or at a lesson, or closes it.
    fn toggle_lessons(&mut self, lesson: Option<usize>) {
        let at = lesson.map_or(0, |it| self.app.lectures.len() + it);
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
        screen.is_some_and(|screen| screen.canvas.window.fullscreen().is_some())
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
            screen.canvas.window.request_redraw();
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

/// A pressed key with its modifiers.
#[derive(Clone, Copy)]
pub(super) struct Pressed {
    /// As the table has it, as a digit, or as it is typed.
    pub chord: Chord,
    /// What it stands for; while it is held, only what the table repeats.
    pub row: Option<&'static Row>,
}

impl Pressed {
    /// What winit tells of; not a key that came up.
    pub(super) fn of(event: &KeyEvent, modifiers: ModifiersState) -> Option<Pressed> {
        let chord = most_useful(&chords(event, modifiers))?;
        let row = row_for(chord).filter(|row| !event.repeat || row.repeats);
        Some(Pressed { chord, row })
    }

    /// What it asks for.
    pub(super) fn action(self) -> Option<Action> {
        self.row.map(|row| row.action)
    }
}

fn most_useful(chords: &[Chord]) -> Option<Chord> {
    let is_useful =
        |chord: &&Chord| matches!(chord.key, Key::Char('0'..='9')) || row_for(**chord).is_some();
    chords.iter().find(is_useful).or(chords.first()).copied()
}

/// What a pressed key may stand for, the most likely first.
fn chords(event: &KeyEvent, modifiers: ModifiersState) -> Vec<Chord> {
    // Alt and the logo key are the desktop's.
    if !event.state.is_pressed() || modifiers.alt_key() || modifiers.super_key() {
        return Vec::new();
    }
    let plain = event.key_without_modifiers();
    chords_of(&event.logical_key, &plain, event.physical_key, modifiers)
}

/// The same for what a key types, what it would type without modifiers, and its place.
fn chords_of(
    typed: &WinitKey,
    plain: &WinitKey,
    place: PhysicalKey,
    modifiers: ModifiersState,
) -> Vec<Chord> {
    let (shift, ctrl) = (modifiers.shift_key(), modifiers.control_key());
    // With Ctrl, some systems make a control character of a letter.
    let plain = key(plain).filter(|_| ctrl);
    let by_place = physical_key(place, shift);
    let keys = [key(typed), plain, by_place].into_iter().flatten();
    keys.map(|key| Chord { key, shift, ctrl }).collect()
}

fn key(key: &WinitKey) -> Option<Key> {
    use NamedKey::*;
    Some(match key {
        WinitKey::Character(text) => {
            let mut characters = text.chars();
            let (first, None) = (characters.next()?, characters.next()) else {
                return None;
            };
            Key::Char(first.to_uppercase().next()?)
        }
        WinitKey::Named(named) => match named {
            Space => Key::Space,
            Enter => Key::Enter,
            Tab => Key::Tab,
            Escape => Key::Escape,
            Backspace => Key::Backspace,
            Delete => Key::Delete,
            PageUp => Key::PageUp,
            PageDown => Key::PageDown,
            ArrowLeft => Key::Left,
            ArrowRight => Key::Right,
            ArrowUp => Key::Up,
            ArrowDown => Key::Down,
            other => Key::F(format!("{other:?}").strip_prefix('F')?.parse().ok()?),
        },
        _ => return None,
    })
}

/// What a key types on a US keyboard: its letter where keyboards type Greek or Cyrillic, and the
/// digit row and the brackets where they type other signs or letters. With Shift, a digit's key
/// types a sign there.
fn physical_key(key: PhysicalKey, shift: bool) -> Option<Key> {
    let PhysicalKey::Code(code) = key else {
        return None;
    };
    let name = format!("{code:?}");
    let named = |prefix| name.strip_prefix(prefix)?.chars().next();
    let character = match code {
        KeyCode::BracketLeft => '[',
        KeyCode::BracketRight => ']',
        KeyCode::Minus => '-',
        KeyCode::Equal => '=',
        _ => named("Key")
            .filter(char::is_ascii_uppercase)
            .or_else(|| named("Digit").filter(|_| !shift))?,
    };
    Some(Key::Char(character))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ui::actions::TABLE;
    use winit::keyboard::SmolStr;

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

    #[test]
    fn every_key_of_the_table_can_be_typed() {
        use NamedKey::*;
        let named = [
            Space, Enter, Backspace, Tab, Escape, Delete, PageUp, PageDown, ArrowLeft, ArrowRight,
            ArrowUp, ArrowDown, F1, F2, F3, F4, F5, F6, F7, F8, F9, F10, F11,
        ];
        let named = named.map(|named| key(&WinitKey::Named(named)));
        for chord in TABLE.iter().flat_map(Row::chords) {
            let Key::Char(letter) = chord.key else {
                assert!(named.contains(&Some(chord.key)), "{chord}");
                continue;
            };
            let typed = WinitKey::Character(letter.to_lowercase().to_string().into());
            assert_eq!(key(&typed), Some(chord.key));
        }
        // Each is one of its own.
        let apart: std::collections::HashSet<_> =
            named.iter().map(|it| format!("{it:?}")).collect();
        assert_eq!(apart.len(), named.len());
    }

    #[test]
    fn letters_digits_and_signs_are_found_on_other_keyboards() {
        let none = ModifiersState::empty();
        let (shift, ctrl) = (ModifiersState::SHIFT, ModifiersState::CONTROL);
        for (keyboard, held, typed, plain, place, wanted) in [
            ("ru", none, "л", "л", KeyCode::KeyK, 'K'),
            ("ru", ctrl, "л", "л", KeyCode::KeyK, 'K'),
            ("us", none, "5", "5", KeyCode::Digit5, '5'),
            ("us", shift, "%", "5", KeyCode::Digit5, '%'),
            ("us", shift, "@", "2", KeyCode::Digit2, '@'),
            ("us", ctrl, "\u{b}", "k", KeyCode::KeyK, 'K'),
            ("fr", none, "é", "é", KeyCode::Digit2, '2'),
            ("fr", none, "-", "-", KeyCode::Digit6, '-'),
            ("fr", shift, "2", "é", KeyCode::Digit2, '2'),
            ("fr", ctrl, "(", "(", KeyCode::Digit5, '5'),
            ("fr", ctrl | shift, "5", "(", KeyCode::Digit5, '5'),
            ("fr", ctrl, "à", "à", KeyCode::Digit0, '0'),
            ("fr", ctrl, ")", ")", KeyCode::Minus, '-'),
            ("cz", ctrl, "ř", "ř", KeyCode::Digit5, '5'),
            ("de", ctrl | shift, "=", "0", KeyCode::Digit0, '='),
            ("de", none, "ü", "ü", KeyCode::BracketLeft, '['),
        ] {
            let of = |text: &str| WinitKey::Character(SmolStr::new(text));
            let chords = chords_of(&of(typed), &of(plain), PhysicalKey::Code(place), held);
            let key = most_useful(&chords).map(|chord| chord.key);
            assert_eq!(key, Some(Key::Char(wanted)), "{keyboard}: {held:?} {typed}");
        }
    }
}
