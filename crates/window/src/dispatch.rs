//! Carries out actions: the window's own here, the session's by handing them on.

use std::time::Instant;

use winit::event_loop::ActiveEventLoop;
use winit::window::Fullscreen;

use crate::background::BackgroundResult;
use crate::captures::in_its_folder;
use crate::handler::Handler;
use ui::{Action, InterfaceScale, Lessons, SidePanel, ViewAction};

use crate::view::Dialog;
use crate::view::MIN_PIXELS_FOR_LINES;
use crate::view::layout::WindowLayout;
use crate::view::picture_file::write_dated_png;
use crate::view::{Commands, Help, Menu, PromptDialog};
use lang::{message, tr};
use session::SessionAction;
use ui::actions::{Context, Prompt};

impl Handler {
    /// Does what a person asked for, or says why it is impossible.
    pub(super) fn act(&mut self, event_loop: &ActiveEventLoop, action: impl Into<Action>) {
        self.pacer.request_frame(Instant::now());
        let action = action.into();
        if let Some(message) = self.unavailable_message(action) {
            return self.show_notice(message);
        }
        match action {
            Action::Session(action) => self.session_action(action),
            Action::View(action) => self.view_action(event_loop, action),
            Action::Edit(action) => self.edit_action(action),
        }
        self.hover(); // something else may be under the pointer
    }

    fn unavailable_message(&self, action: Action) -> Option<String> {
        let status = self.status();
        let frame = self.frame(status.as_deref())?;
        action.unavailable_message(&Context {
            has_pending_requests: true,
            ..frame.sources.context()
        })
    }

    /// Hands an action to the session, with what it means for the window.
    fn session_action(&mut self, action: SessionAction) {
        if action == SessionAction::ToggleBlockTimestamps {
            return self.toggle_block_timestamps();
        }
        let ends_stroke = matches!(
            action,
            // Its rest would join an edit that is no longer there.
            SessionAction::Undo
                | SessionAction::Redo
                // Its cells would be others.
                | SessionAction::SetInstances(_)
                | SessionAction::HalveInstances
                | SessionAction::SetSize(_)
        );
        if ends_stroke {
            self.end_stroke();
        }
        self.app.act(action);
    }

    fn view_action(&mut self, event_loop: &ActiveEventLoop, action: ViewAction) {
        match action {
            ViewAction::ToggleSingle => self.app.options.single ^= true,
            ViewAction::ZoomIn => self.zoom(1.5, None),
            ViewAction::ZoomOut => self.zoom(1.0 / 1.5, None),
            ViewAction::PanLeft => self.pan_by_key([1.0, 0.0]),
            ViewAction::PanRight => self.pan_by_key([-1.0, 0.0]),
            ViewAction::PanUp => self.pan_by_key([0.0, 1.0]),
            ViewAction::PanDown => self.pan_by_key([0.0, -1.0]),
            ViewAction::Fit => {
                let pattern = self.app.pattern();
                self.move_camera(None, true, |camera, status, layout| {
                    camera.toggle_fit(status.lattices.size, layout.tiling.panel, pattern);
                });
            }
            ViewAction::ToggleSeparateCameras => self.toggle_separate(),
            ViewAction::ToggleMinimap => self.app.options.hides_minimap ^= true,
            ViewAction::ToggleTimeline => self.toggle_timeline(),
            ViewAction::ToggleCauses => self.app.toggle_side(SidePanel::Causes),
            ViewAction::ToggleLab => self.app.toggle_side(SidePanel::Lab),
            ViewAction::ToggleEditor => self.toggle_editor(),
            ViewAction::RunRound => self.run_code(),
            ViewAction::ToggleLadder => self.app.toggle_side(SidePanel::Ladder),
            ViewAction::ToggleSource => self.app.toggle_source(),
            ViewAction::TogglePopulation => self.app.toggle_side(SidePanel::Population),
            ViewAction::TogglePopulationOfAll => {
                self.app.options.population_of_all ^= true;
                if self.app.options.side != Some(SidePanel::Population) {
                    self.app.toggle_side(SidePanel::Population);
                }
            }
            ViewAction::ToggleLessons => self.toggle_lessons(),
            ViewAction::OpenLesson => match self.app.lessons.selected_exercise() {
                Some(exercise) => self.start_exercise(exercise),
                None => self.app.with_lessons(Lessons::open_selected),
            },
            ViewAction::MeasureSpeedup => self.app.with_lessons(Lessons::measure_speedup),
            ViewAction::ToggleLecture => self.app.toggle_lecture(),
            ViewAction::NextPage => self.app.turn_page(true),
            ViewAction::PreviousPage => self.app.turn_page(false),
            ViewAction::MeasureAgain => self.app.with_lessons(Lessons::measure_again),
            ViewAction::Predict(choice) => self.app.predict(choice.into()),
            ViewAction::ToggleGridLines => self.toggle_grid_lines(),
            ViewAction::NextTheme => self.app.next_theme(Instant::now()),
            ViewAction::NextColourMode => self.next_colour_by(),
            ViewAction::Invert => self.app.options.invert ^= true,
            ViewAction::ToggleFullscreen => self.toggle_fullscreen(),
            ViewAction::SavePicture => self.save_picture(false),
            ViewAction::SavePanelPicture => self.save_picture(true),
            ViewAction::ToggleRecording => self.toggle_recording(),
            ViewAction::Prompt(prompt) => {
                let offered = match prompt {
                    Prompt::Rule => self.editing.offered_rule.take(),
                    _ => None,
                };
                let typed = offered.map(|rule| rule.to_string());
                let dialog = PromptDialog::new(prompt, typed.unwrap_or_default());
                self.dialogs.open(Dialog::Prompt(dialog));
            }
            ViewAction::ToggleHelp => self.dialogs.toggle(Dialog::Help(Help::default())),
            ViewAction::ToggleCommands => {
                let commands = Commands::new(ui::lessons::entries());
                self.dialogs.toggle(Dialog::Commands(commands));
            }
            ViewAction::ToggleMenu => self.dialogs.toggle(Dialog::Menu(Menu::default())),
            ViewAction::TogglePresentation => self.app.options.presentation ^= true,
            ViewAction::EnlargeInterface => {
                self.resize_interface(self.app.options.interface_scale.larger())
            }
            ViewAction::ReduceInterface => {
                self.resize_interface(self.app.options.interface_scale.smaller())
            }
            ViewAction::DefaultInterface => self.resize_interface(Some(InterfaceScale::default())),
            ViewAction::NextLanguage => lang::set(lang::language().other()),
            ViewAction::Escape => self.escape(),
            ViewAction::Quit => event_loop.exit(),
        }
    }

    /// Sets the interface scale, or says that this window has no room for it.
    fn resize_interface(&mut self, zoom: Option<InterfaceScale>) {
        let (before, unit) = (self.app.options.interface_scale, self.unit());
        self.app.options.interface_scale = zoom.unwrap_or(before);
        let (percent, usual) = (
            self.app.options.interface_scale.percent(),
            zoom == Some(InterfaceScale::default()),
        );
        if self.unit() == unit && !usual {
            self.app.options.interface_scale = before;
            self.show_notice(message!(
                "The interface cannot become larger or smaller in this window"
            ));
        } else {
            self.show_notice(message!("Interface: {percent} %"));
        }
    }

    fn unit(&self) -> Option<f32> {
        Some(self.frame(None)?.unit())
    }

    pub(super) fn is_fullscreen(&self) -> bool {
        let screen = self.surface.as_ref();
        screen.is_some_and(|screen| screen.window().fullscreen().is_some())
    }

    pub(super) fn toggle_fullscreen(&self) {
        let wanted = !self.is_fullscreen();
        if let Some(screen) = &self.surface {
            let fullscreen = wanted.then(|| Fullscreen::Borderless(self.monitor.clone()));
            screen.window().set_fullscreen(fullscreen);
        }
    }

    /// Draws the window's picture once more, reads it back, and leaves the writing to a thread.
    fn save_picture(&mut self, panel: bool) {
        let status = self.status();
        let picture = self.picture_of_now(status.as_deref(), panel);
        self.end_captures();
        match picture {
            Err(error) => self.show_notice(error.to_string()),
            Ok(image) => {
                self.run_in_background(move || {
                    BackgroundResult::Notice(match write_dated_png(&image, ".".as_ref()) {
                        Ok(path) => tr!("Saved {}", in_its_folder(&path)),
                        Err(error) => error.to_string(),
                    })
                });
            }
        }
    }

    /// Opens or closes the timeline. Closing it also turns block timestamps off.
    pub(super) fn toggle_timeline(&mut self) {
        // What is asked for is shown: a side panel that has no room beside it goes.
        let shown = !self.app.options.timeline || self.panel_in_its_place().is_some();
        self.app.show_timeline(shown);
        if let Some(panel) = self.panel_in_its_place() {
            self.app.toggle_side(panel);
        }
        let has_block_timestamps = self
            .status()
            .is_some_and(|status| status.lab.block_timestamps);
        if !self.app.options.timeline && has_block_timestamps {
            self.app.act(SessionAction::ToggleBlockTimestamps);
        }
    }

    /// The side panel that has the place of a timeline that is to be shown.
    fn panel_in_its_place(&self) -> Option<SidePanel> {
        let layout = self.layout().filter(|_| self.app.options.timeline)?;
        let (panel, _) = layout.side?;
        layout.timeline.is_none().then_some(panel)
    }

    /// Times blocks or not; the timeline is where that shows.
    fn toggle_block_timestamps(&mut self) {
        let has_block_timestamps = self
            .status()
            .is_some_and(|status| status.lab.block_timestamps);
        if self.app.options.timeline || !has_block_timestamps {
            self.app.act(SessionAction::ToggleBlockTimestamps);
        }
        self.app.show_timeline(true);
    }

    /// Where everything stands, once there is anything.
    pub(super) fn layout(&self) -> Option<WindowLayout> {
        let status = self.status()?;
        let (layout, _) = self.frame(Some(&status))?.layout()?;
        Some(layout)
    }

    /// Shows or hides grid lines; says why none are seen where cells are too small.
    fn toggle_grid_lines(&mut self) {
        self.app.options.grid_lines ^= true;
        let Some(status) = self.status() else { return };
        let scale = self.frame(Some(&status)).and_then(|frame| {
            let panel = frame.layout()?.0.tiling.panel;
            let camera = frame.sources.camera_of(status.panels.selected);
            Some(camera.shown(status.lattices.size, panel).scale)
        });
        if self.app.options.grid_lines && scale.is_some_and(|scale| scale < MIN_PIXELS_FOR_LINES) {
            self.show_notice(message!(
                "Grid lines are drawn from {least} pixels per cell on; zoom in",
                least = MIN_PIXELS_FOR_LINES
            ));
        }
    }

    /// Opens a lesson or an exercise, whether the list is open or not.
    pub(super) fn open_lesson(&mut self, index: usize) {
        if let Some(exercise) = Lessons::exercise_at(index) {
            return self.start_exercise(exercise);
        }
        let open = |lessons: &mut Lessons, session: &_| lessons.open(session, index);
        self.app.with_lessons(open);
        self.hover();
        self.pacer.request_frame(Instant::now());
    }
}
