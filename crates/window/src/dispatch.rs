//! Carries out actions: the window's own here, the session's by handing them on.

use std::time::Instant;

use winit::event::{ElementState, MouseButton};
use winit::event_loop::ActiveEventLoop;
use winit::window::Fullscreen;

use crate::background::BackgroundResult;
use crate::handler::Handler;
use crate::pointer::{Gesture, HitTarget};
use crate::recording::in_its_folder;
use app::Lessons;

use lang::{message, tr};
use model::actions::{Context, Prompt};
use model::{Action, SessionAction, ViewAction};
use screen::{InterfaceScale, SidePanel, Tool};
use view::Dialog;
use view::MIN_PIXELS_FOR_LINES;
use view::layout::WindowLayout;
use view::picture_file::write_dated_png;
use view::{Commands, Help, Menu, PromptDialog, entry_at};

impl Handler {
    /// Does what a person asked for, or says why it is impossible.
    pub(super) fn act(&mut self, event_loop: &ActiveEventLoop, action: impl Into<Action>) {
        self.pacer.request_frame(Instant::now());
        let action = action.into();
        if let Some(message) = self.unavailable_message(action) {
            return self.show_notice(message);
        }
        self.callouts.done_by(action);
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
            ViewAction::Fit => self.move_camera(None, true, |camera, status, layout| {
                camera.toggle_fit(status.lattices.size, layout.tiling.panel);
            }),
            ViewAction::ToggleSeparateCameras => self.toggle_separate(),
            ViewAction::ToggleMinimap => self.app.options.hides_minimap ^= true,
            ViewAction::ToggleTimeline => self.toggle_timeline(),
            ViewAction::ToggleLab => self.app.toggle_side(SidePanel::Lab),
            ViewAction::ToggleLadder => self.app.toggle_side(SidePanel::Ladder),
            ViewAction::TogglePopulation => self.app.toggle_side(SidePanel::Population),
            ViewAction::TogglePopulationOfAll => {
                self.app.options.population_of_all ^= true;
                if self.app.options.side != Some(SidePanel::Population) {
                    self.app.toggle_side(SidePanel::Population);
                }
            }
            ViewAction::ToggleLessons => self.app.with_lessons(Lessons::toggle),
            ViewAction::OpenLesson => self.app.with_lessons(Lessons::open_selected),
            ViewAction::MeasureSpeedup => self.app.with_lessons(Lessons::measure_speedup),
            ViewAction::NextPage => self.app.with_lessons(Lessons::next_page),
            ViewAction::PreviousPage => self.app.with_lessons(Lessons::previous_page),
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
                let commands = Commands::new(app::lessons::entries());
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

    /// Closes the topmost of what is open: the first of these, and nothing else.
    fn escape(&mut self) {
        let edit_overlay = &mut self.editing.edit_overlay;
        if self.dialogs.takes_keys() {
            self.dialogs.close_top();
        } else if self.app.lessons.screen().is_some() {
            self.app.with_lessons(Lessons::go_up); // from a page to the list, from the list to the panels
        } else if edit_overlay.ghost.is_some() {
            edit_overlay.ghost = None;
        } else if edit_overlay.selection.is_some() {
            edit_overlay.selection = None;
        } else if edit_overlay.tool != Tool::Hand {
            edit_overlay.tool = Tool::Hand;
        } else if self.app.options.timeline {
            self.toggle_timeline();
        } else if let Some(panel) = self.app.options.side {
            self.app.toggle_side(panel);
        } else if self.app.options.single {
            self.app.options.single = false;
        } else if self.app.options.presentation {
            self.app.options.presentation = false;
        } else if self.is_fullscreen() {
            self.toggle_fullscreen();
        } else if self.layout().is_some_and(|layout| layout.toolbar.is_some()) {
            self.dismiss_callouts();
        }
    }

    /// The person has seen enough of the callouts.
    pub(super) fn dismiss_callouts(&mut self) {
        self.callouts.dismiss();
        self.pacer.request_frame(Instant::now());
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
            self.show_notice(message!("Interface: {percent} %", percent = percent));
        }
    }

    fn unit(&self) -> Option<f32> {
        Some(self.frame(None)?.unit())
    }

    pub(super) fn is_fullscreen(&self) -> bool {
        let screen = self.surface.as_ref();
        screen.is_some_and(|screen| screen.window().fullscreen().is_some())
    }

    fn toggle_fullscreen(&self) {
        let wanted = !self.is_fullscreen();
        if let Some(screen) = &self.surface {
            let fullscreen = wanted.then(|| Fullscreen::Borderless(self.monitor.clone()));
            screen.window().set_fullscreen(fullscreen);
        }
    }

    /// Draws the window's picture once more, reads it back, and leaves the writing to a thread.
    fn save_picture(&mut self, panel: bool) {
        let status = self.status();
        match self.picture_of_now(status.as_deref(), panel) {
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
    fn toggle_timeline(&mut self) {
        self.app.show_timeline(!self.app.options.timeline);
        let has_block_timestamps = self
            .status()
            .is_some_and(|status| status.lab.block_timestamps);
        if !self.app.options.timeline && has_block_timestamps {
            self.app.act(SessionAction::ToggleBlockTimestamps);
        }
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

    /// The wheel was turned by so many notches: over the lab it scrolls, elsewhere it zooms.
    pub(super) fn wheel(&mut self, notches: f64) {
        match self.target_under_pointer() {
            Some(HitTarget::Lab) => {
                if let (Some(status), Some(layout)) = (self.status(), self.layout()) {
                    self.lab.scroll(-2 * notches as i64, &layout, &status);
                }
            }
            Some(
                HitTarget::Lesson
                | HitTarget::Ladder
                | HitTarget::Population
                | HitTarget::Minimap(_),
            ) => {}
            _ => self.zoom(1.25f64.powf(notches), self.pointer.at),
        }
    }

    /// Where everything stands, once there is anything.
    pub(super) fn layout(&self) -> Option<WindowLayout> {
        let status = self.status()?;
        let (layout, _) = self.frame(Some(&status))?.layout()?;
        Some(layout)
    }

    /// Zooms about a point in pixels, if a panel or the timeline is there, or about the panels'
    /// middle.
    pub(super) fn zoom(&mut self, factor: f64, at: Option<[f64; 2]>) {
        let Some(layout) = self.layout() else { return };
        match at.map(|at| (at, hit_target(&layout, at))) {
            None => self.move_camera(None, true, |camera, status, layout| {
                camera.zoom(factor, status.lattices.size, layout.tiling.panel);
            }),
            Some((at, Some(HitTarget::Panel(place)))) => {
                let rect = layout.tiling.rect(place);
                let pixel = [at[0] - f64::from(rect.x), at[1] - f64::from(rect.y)];
                let instance = self.instance_at(place);
                self.move_camera(instance, true, |camera, status, layout| {
                    camera.zoom_at(factor, pixel, status.lattices.size, layout.tiling.panel);
                });
            }
            Some((at, Some(HitTarget::Timeline))) => self.timeline.zoom(factor, at, &layout),
            Some(_) => {}
        }
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

    /// An eighth of a panel.
    fn pan_by_key(&mut self, [x, y]: [f64; 2]) {
        self.move_camera(None, true, |camera, status, layout| {
            let panel = layout.tiling.panel;
            let [width, height] = panel.map(f64::from);
            camera.pan(
                [x * width / 8.0, y * height / 8.0],
                status.lattices.size,
                panel,
            );
        });
    }

    /// What is under the pointer.
    pub(super) fn target_under_pointer(&self) -> Option<HitTarget> {
        let covered = self
            .surface
            .as_ref()
            .is_some_and(|screen| screen.input.has_pointer());
        let at = self.pointer.at.filter(|_| !covered)?;
        let target = hit_target(&self.layout()?, at);
        let screen = self.surface.as_ref();
        if screen.is_some_and(|screen| screen.scene.has_button_at(at)) {
            // A callout, which lies over a panel, has its clicks.
            return target.filter(|target| !matches!(target, HitTarget::Panel(_)));
        }
        match (target, self.minimap_under_pointer()) {
            (Some(HitTarget::Panel(_)), Some(instance)) => Some(HitTarget::Minimap(instance)),
            _ => target,
        }
    }

    /// Tells timeline and lab where the mouse is; another frame is only wanted where that shows.
    pub(super) fn hover(&mut self) {
        let screen = self.surface.as_ref();
        let region = screen
            .zip(self.pointer.at)
            .and_then(|(screen, at)| screen.scene.hit_region_at(at));
        if region.is_some() || self.hovered_region.is_some() {
            // Also while it moves within one: its tip comes once it stands still.
            self.pacer.request_frame(Instant::now());
        }
        self.hovered_region = region;
        self.update_pointed_cell();
        let over =
            self.app.options.timeline && self.target_under_pointer() == Some(HitTarget::Timeline);
        let shows = self.timeline.hover(self.pointer.at.filter(|_| over));
        let over = self.app.options.side == Some(SidePanel::Lab)
            && self.target_under_pointer() == Some(HitTarget::Lab);
        if self.lab.hover(self.pointer.at.filter(|_| over)) || shows {
            self.pacer.request_frame(Instant::now());
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
            Gesture::Click(HitTarget::Lab) | Gesture::DoubleClick(HitTarget::Lab) => {
                if let Some(action) = self.click_lab() {
                    self.act(event_loop, action);
                }
            }
            Gesture::Click(HitTarget::Lesson) | Gesture::DoubleClick(HitTarget::Lesson) => {
                let (at, layout) = (self.pointer.at, self.layout());
                let entry = at
                    .zip(layout)
                    .and_then(|(at, layout)| entry_at(self.app.lessons.screen()?, &layout, at));
                if let Some(index) = entry {
                    self.open_lesson(index);
                }
            }
            Gesture::Drag(HitTarget::Lab | HitTarget::Lesson, _) => {}
            Gesture::Click(HitTarget::Ladder | HitTarget::Population)
            | Gesture::DoubleClick(HitTarget::Ladder | HitTarget::Population)
            | Gesture::Drag(HitTarget::Ladder | HitTarget::Population, _) => {}
            Gesture::Drag(HitTarget::Timeline, [pixels, _]) => {
                if let Some(layout) = self.layout() {
                    self.timeline.pan(pixels, &layout);
                }
            }
            Gesture::Click(HitTarget::Timeline) | Gesture::DoubleClick(HitTarget::Timeline) => {
                if let (Some(at), Some(layout)) = (self.pointer.at, self.layout()) {
                    let twice = matches!(gesture, Gesture::DoubleClick(_));
                    self.timeline.click(twice, at, &layout);
                }
            }
        }
        self.pacer.request_frame(Instant::now());
    }

    pub(super) fn open_lesson(&mut self, index: usize) {
        self.callouts.done_by(ViewAction::ToggleLessons.into());
        let open = |lessons: &mut Lessons, session: &_| lessons.open(session, index);
        self.app.with_lessons(open);
        self.hover();
        self.pacer.request_frame(Instant::now());
    }

    fn click_lab(&mut self) -> Option<SessionAction> {
        let (status, layout) = (self.status()?, self.layout()?);
        self.lab.click(self.pointer.at?, &layout, &status)
    }

    /// A mouse button went down or came up.
    pub(super) fn mouse_button(
        &mut self,
        event_loop: &ActiveEventLoop,
        state: ElementState,
        button: MouseButton,
    ) {
        if self.hovered_region.is_some() {
            self.pacer.request_frame(Instant::now());
        }
        if (button, state) == (MouseButton::Right, ElementState::Pressed) {
            // The menu is about the panel that was clicked.
            if let (Some(HitTarget::Panel(place)), false) =
                (self.target_under_pointer(), self.app.options.single)
            {
                self.act(event_loop, SessionAction::Select(place));
            }
            return self.act(event_loop, ViewAction::ToggleMenu);
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
}

/// What stands at a point in pixels.
fn hit_target(layout: &WindowLayout, at: [f64; 2]) -> Option<HitTarget> {
    let side = layout.side.map(|(panel, rect)| {
        let target = match panel {
            SidePanel::Lab => HitTarget::Lab,
            SidePanel::Ladder => HitTarget::Ladder,
            SidePanel::Population => HitTarget::Population,
        };
        (rect, target)
    });
    let timeline = layout.timeline.map(|rect| (rect, HitTarget::Timeline));
    let lesson = layout.lesson.map(|rect| (rect, HitTarget::Lesson));
    for (rect, target) in [timeline, side, lesson].into_iter().flatten() {
        if rect.contains(at) {
            return Some(target);
        }
    }
    layout.tiling.place_at(at).map(HitTarget::Panel)
}
