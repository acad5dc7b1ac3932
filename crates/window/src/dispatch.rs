//! Carries out actions: the window's own here, the session's by handing them on.

use std::time::Instant;

use winit::event::{ElementState, MouseButton};
use winit::event_loop::ActiveEventLoop;
use winit::window::Fullscreen;

use crate::background::BackgroundResult;
use crate::handler::Handler;
use crate::pointer::{Gesture, Spot};
use app::World;

use lang::{message, tr};
use model::actions::Context;
use model::{Action, SessionAction, ViewAction};
use screen::{SidePanel, Zoom};
use view::Dialog;
use view::layout::Layout;
use view::picture_file::write_dated_png;
use view::{Commands, GoTo, Help, Menu};

impl<W: World> Handler<W> {
    /// Does what a person asked for, or says why it is impossible.
    pub(super) fn act(&mut self, event_loop: &ActiveEventLoop, action: impl Into<Action>) {
        self.pacer.want(Instant::now());
        let action = self.lessons.instead(action.into());
        if let Some(refusal) = self.refusal(action) {
            return self.note(refusal);
        }
        self.callouts.done_by(action);
        match action {
            Action::Session(action) => self.session_action(action),
            Action::View(action) => self.view_action(event_loop, action),
            Action::Edit(action) => self.edit_action(action),
        }
    }

    fn refusal(&self, action: Action) -> Option<String> {
        let status = self.status();
        let frame = self.frame(status.as_deref())?;
        action.refusal(&Context {
            is_ahead: true,
            ..frame.context()
        })
    }

    /// Hands an action to the session, with what it means for the window.
    fn session_action(&mut self, action: SessionAction) {
        match action {
            // The rest of a stroke would join an edit that is no longer there.
            SessionAction::Undo | SessionAction::Redo => self.end_stroke(),
            SessionAction::ToggleBlocks => return self.toggle_blocks(),
            SessionAction::TogglePause
            | SessionAction::StepGeneration
            | SessionAction::StepRound
            | SessionAction::StepBack
            | SessionAction::RoundBack
            | SessionAction::RunTo(_)
            | SessionAction::NextStopWhenStill
            | SessionAction::ToggleReseed
            | SessionAction::Faster
            | SessionAction::Slower
            | SessionAction::ResetPanel
            | SessionAction::ResetAll
            | SessionAction::NewSeed
            | SessionAction::UseKernel(_)
            | SessionAction::NextKernel
            | SessionAction::PreviousKernel
            | SessionAction::NextOf(_)
            | SessionAction::Choose(..)
            | SessionAction::ToggleHalves
            | SessionAction::SelectNext
            | SessionAction::SelectPrevious
            | SessionAction::Select(_)
            | SessionAction::SaveSession => {}
        }
        if let Some(world) = &self.world {
            world.act(action);
        }
    }

    fn view_action(&mut self, event_loop: &ActiveEventLoop, action: ViewAction) {
        match action {
            ViewAction::ToggleSingle => self.view.single ^= true,
            ViewAction::ZoomIn => self.zoom(1.5, None),
            ViewAction::ZoomOut => self.zoom(1.0 / 1.5, None),
            ViewAction::PanLeft => self.pan_by_key([1.0, 0.0]),
            ViewAction::PanRight => self.pan_by_key([-1.0, 0.0]),
            ViewAction::PanUp => self.pan_by_key([0.0, 1.0]),
            ViewAction::PanDown => self.pan_by_key([0.0, -1.0]),
            ViewAction::Fit => self.move_camera(None, true, |camera, status, layout| {
                camera.toggle_fit(status.size, layout.tiling.panel);
            }),
            ViewAction::ToggleSeparate => self.toggle_separate(),
            ViewAction::ToggleMinimap => self.view.no_minimap ^= true,
            ViewAction::ToggleTimeline => self.toggle_timeline(),
            ViewAction::ToggleLab => self.toggle_side(SidePanel::Lab),
            ViewAction::ToggleLadder => self.toggle_side(SidePanel::Ladder),
            ViewAction::TogglePopulation => self.toggle_side(SidePanel::Population),
            ViewAction::PopulationOfAll => {
                self.view.population_of_all ^= true;
                if self.view.side != Some(SidePanel::Population) {
                    self.toggle_side(SidePanel::Population);
                }
            }
            ViewAction::ToggleLessons => self.toggle_lessons(),
            ViewAction::NextPage => self.turn_page(true),
            ViewAction::PreviousPage => self.turn_page(false),
            ViewAction::ToggleGridLines => self.view.grid_lines ^= true,
            ViewAction::NextColours => self.next_theme(),
            ViewAction::NextColourBy => self.next_colour_by(),
            ViewAction::Invert => self.view.invert ^= true,
            ViewAction::ToggleFullscreen => self.toggle_fullscreen(),
            ViewAction::SavePicture => self.save_picture(false),
            ViewAction::SavePanelPicture => self.save_picture(true),
            ViewAction::ToggleRecording => self.toggle_recording(),
            ViewAction::AskGeneration => self.dialogs.open(Dialog::GoTo(GoTo::default())),
            ViewAction::ToggleHelp => self.dialogs.toggle(Dialog::Help(Help::default())),
            ViewAction::ToggleCommands => {
                let commands = Commands::new(self.list_lessons());
                self.dialogs.toggle(Dialog::Commands(commands));
            }
            ViewAction::ToggleMenu => self.dialogs.toggle(Dialog::Menu(Menu::default())),
            ViewAction::TogglePresentation => self.view.presentation ^= true,
            ViewAction::EnlargeInterface => self.resize_interface(self.view.interface.larger()),
            ViewAction::ReduceInterface => self.resize_interface(self.view.interface.smaller()),
            ViewAction::DefaultInterface => self.resize_interface(Some(Zoom::default())),
            ViewAction::NextLanguage => lang::set(lang::language().other()),
            ViewAction::Escape => self.escape(),
            ViewAction::Quit => event_loop.exit(),
        }
    }

    /// Closes the topmost of what is open: the first of these, and nothing else.
    fn escape(&mut self) {
        let marks = &mut self.editing.marks;
        if self.dialogs.takes_keys() {
            self.dialogs.close_top();
        } else if self.lessons.screen.is_some() {
            self.leave_lesson(); // from a page to the list, from the list to the panels
        } else if marks.ghost.is_some() {
            marks.ghost = None;
        } else if marks.selection.is_some() {
            marks.selection = None;
        } else if marks.pencil {
            marks.pencil = false;
        } else if self.view.timeline {
            self.toggle_timeline();
        } else if let Some(panel) = self.view.side {
            self.toggle_side(panel);
        } else if self.view.single {
            self.view.single = false;
        } else if self.view.presentation {
            self.view.presentation = false;
        } else if self.is_fullscreen() {
            self.toggle_fullscreen();
        } else if self.layout().is_some_and(|layout| layout.toolbar.is_some()) {
            self.dismiss_callouts();
        }
    }

    /// The person has seen enough of the callouts.
    pub(super) fn dismiss_callouts(&mut self) {
        self.callouts.dismiss();
        self.pacer.want(Instant::now());
    }

    /// Makes type and figures so large, as far as the window has room for them.
    fn resize_interface(&mut self, zoom: Option<Zoom>) {
        let (before, unit) = (self.view.interface, self.unit());
        self.view.interface = zoom.unwrap_or(before);
        let (percent, usual) = (self.view.interface.percent(), zoom == Some(Zoom::default()));
        if self.unit() == unit && !usual {
            self.view.interface = before;
            self.note(message!(
                "the interface cannot become larger or smaller in this window"
            ));
        } else {
            self.note(message!("interface: {percent} %", percent = percent));
        }
    }

    fn unit(&self) -> Option<f32> {
        Some(self.frame(None)?.unit())
    }

    pub(super) fn is_fullscreen(&self) -> bool {
        let screen = self.screen.as_ref();
        screen.is_some_and(|screen| screen.window().fullscreen().is_some())
    }

    fn toggle_fullscreen(&self) {
        let wanted = !self.is_fullscreen();
        if let Some(screen) = &self.screen {
            let fullscreen = wanted.then(|| Fullscreen::Borderless(self.monitor.clone()));
            screen.window().set_fullscreen(fullscreen);
        }
    }

    /// Draws the window's picture once more, reads it back, and leaves the writing to a thread.
    fn save_picture(&mut self, panel: bool) {
        let status = self.status();
        match self.picture_of_now(status.as_deref(), panel) {
            Err(error) => self.note(error.to_string()),
            Ok(image) => {
                self.run_in_background(move || {
                    BackgroundResult::Notice(match write_dated_png(&image, ".".as_ref()) {
                        Ok(path) => {
                            tr!("saved {}", path.file_name().unwrap_or_default().display())
                        }
                        Err(error) => error.to_string(),
                    })
                });
            }
        }
    }

    /// Opens or closes the timeline; nothing is stamped or measured that nobody sees.
    fn toggle_timeline(&mut self) {
        self.show_timeline(!self.view.timeline);
        if let (false, Some(world)) = (self.view.timeline, &self.world)
            && world.status().stamped
        {
            world.act(SessionAction::ToggleBlocks);
        }
    }

    /// Stamps rounds or not; the timeline is where that shows.
    fn toggle_blocks(&mut self) {
        if let Some(world) = &self.world
            && (self.view.timeline || !world.status().stamped)
        {
            world.act(SessionAction::ToggleBlocks);
        }
        self.show_timeline(true);
    }

    /// Opens a side panel in place of the one shown, or closes it. Populations are measured only
    /// while their graph is shown.
    fn toggle_side(&mut self, panel: SidePanel) {
        let was_watched = self.view.side == Some(SidePanel::Population);
        self.view.toggle_side(panel);
        let is_watched = self.view.side == Some(SidePanel::Population);
        if let (true, Some(world)) = (was_watched != is_watched, &self.world) {
            world.watch_population(is_watched);
        }
        self.hover();
    }

    fn show_timeline(&mut self, shown: bool) {
        self.view.timeline = shown;
        if let Some(world) = &self.world {
            world.watch_overlap(shown);
        }
        self.hover();
    }

    /// The wheel was turned by so many notches: over the lab it scrolls, elsewhere it zooms.
    pub(super) fn wheel(&mut self, notches: f64) {
        match self.spot_under_pointer() {
            Some(Spot::Lab) => {
                if let (Some(status), Some(layout)) = (self.status(), self.layout()) {
                    self.lab.scroll(-2 * notches as i64, &layout, &status);
                }
            }
            Some(Spot::Lesson | Spot::Ladder | Spot::Population | Spot::Minimap(_)) => {}
            _ => self.zoom(1.25f64.powf(notches), self.pointer.at),
        }
    }

    /// Where everything stands, once there is anything.
    pub(super) fn layout(&self) -> Option<Layout> {
        let status = self.status()?;
        let (layout, _) = self.frame(Some(&status))?.layout()?;
        Some(layout)
    }

    /// Zooms about a point in pixels, if a panel or the timeline is there, or about the panels'
    /// middle.
    pub(super) fn zoom(&mut self, factor: f64, at: Option<[f64; 2]>) {
        let Some(layout) = self.layout() else { return };
        match at.map(|at| (at, spot(&layout, at))) {
            None => self.move_camera(None, true, |camera, status, layout| {
                camera.zoom(factor, status.size, layout.tiling.panel);
            }),
            Some((at, Some(Spot::Panel(place)))) => {
                let rect = layout.tiling.rect(place);
                let pixel = [at[0] - f64::from(rect.x), at[1] - f64::from(rect.y)];
                let instance = self.instance_at(place);
                self.move_camera(instance, true, |camera, status, layout| {
                    camera.zoom_at(factor, pixel, status.size, layout.tiling.panel);
                });
            }
            Some((at, Some(Spot::Timeline))) => self.timeline.zoom(factor, at, &layout),
            Some(_) => {}
        }
    }

    /// An eighth of a panel.
    fn pan_by_key(&mut self, [x, y]: [f64; 2]) {
        self.move_camera(None, true, |camera, status, layout| {
            let panel = layout.tiling.panel;
            let [width, height] = panel.map(f64::from);
            camera.pan([x * width / 8.0, y * height / 8.0], status.size, panel);
        });
    }

    /// What is under the pointer.
    pub(super) fn spot_under_pointer(&self) -> Option<Spot> {
        let covered = self
            .screen
            .as_ref()
            .is_some_and(|screen| screen.input.has_pointer());
        let at = self.pointer.at.filter(|_| !covered)?;
        let spot = spot(&self.layout()?, at);
        let screen = self.screen.as_ref();
        if screen.is_some_and(|screen| screen.scene.has_button_at(at)) {
            // A callout, which lies over a panel, has its clicks.
            return spot.filter(|spot| !matches!(spot, Spot::Panel(_)));
        }
        match (spot, self.minimap_under_pointer()) {
            (Some(Spot::Panel(_)), Some(instance)) => Some(Spot::Minimap(instance)),
            _ => spot,
        }
    }

    /// Tells timeline and lab where the mouse is; another frame is only wanted where that shows.
    pub(super) fn hover(&mut self) {
        let screen = self.screen.as_ref();
        let spot = screen
            .zip(self.pointer.at)
            .and_then(|(screen, at)| screen.scene.spot_at(at));
        if spot.is_some() || self.spot.is_some() {
            // Also while it moves within one: its tip comes once it stands still.
            self.pacer.want(Instant::now());
        }
        self.spot = spot;
        self.point();
        let over = self.view.timeline && self.spot_under_pointer() == Some(Spot::Timeline);
        let shows = self.timeline.hover(self.pointer.at.filter(|_| over));
        let over =
            self.view.side == Some(SidePanel::Lab) && self.spot_under_pointer() == Some(Spot::Lab);
        if self.lab.hover(self.pointer.at.filter(|_| over)) || shows {
            self.pacer.want(Instant::now());
        }
    }

    /// Does what the mouse asked for.
    pub(super) fn gesture(&mut self, event_loop: &ActiveEventLoop, gesture: Gesture) {
        match gesture {
            Gesture::Drag(Spot::Panel(place), pixels) => {
                let instance = self.instance_at(place);
                self.move_camera(instance, false, |camera, status, layout| {
                    camera.pan(pixels, status.size, layout.tiling.panel);
                });
            }
            Gesture::Drag(Spot::Minimap(instance), _)
            | Gesture::Click(Spot::Minimap(instance))
            | Gesture::DoubleClick(Spot::Minimap(instance)) => self.lead(instance),
            Gesture::Click(Spot::Panel(place)) if !self.view.single => {
                self.act(event_loop, SessionAction::Select(place));
            }
            Gesture::Click(Spot::Panel(_)) => {}
            Gesture::DoubleClick(Spot::Panel(_)) => self.act(event_loop, ViewAction::ToggleSingle),
            Gesture::Click(Spot::Lab) | Gesture::DoubleClick(Spot::Lab) => {
                if let Some(action) = self.click_lab() {
                    self.act(event_loop, action);
                }
            }
            Gesture::Click(Spot::Lesson) | Gesture::DoubleClick(Spot::Lesson) => {
                self.click_lesson();
            }
            Gesture::Drag(Spot::Lab | Spot::Lesson, _) => {}
            Gesture::Click(Spot::Ladder | Spot::Population)
            | Gesture::DoubleClick(Spot::Ladder | Spot::Population)
            | Gesture::Drag(Spot::Ladder | Spot::Population, _) => {}
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
        if self.spot.is_some() {
            self.pacer.want(Instant::now());
        }
        if (button, state) == (MouseButton::Right, ElementState::Pressed) {
            return self.act(event_loop, ViewAction::ToggleMenu);
        }
        if !matches!(button, MouseButton::Left | MouseButton::Middle) {
            return;
        }
        match state {
            ElementState::Pressed => {
                let spot = self.spot_under_pointer();
                if button == MouseButton::Left && self.hand_pressed(spot) {
                    return;
                }
                self.pointer.pressed(spot, button == MouseButton::Left);
            }
            ElementState::Released => {
                if button == MouseButton::Left && self.hand_released() {
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
fn spot(layout: &Layout, at: [f64; 2]) -> Option<Spot> {
    let side = layout.side.map(|(panel, rect)| {
        let spot = match panel {
            SidePanel::Lab => Spot::Lab,
            SidePanel::Ladder => Spot::Ladder,
            SidePanel::Population => Spot::Population,
        };
        (rect, spot)
    });
    let timeline = layout.timeline.map(|rect| (rect, Spot::Timeline));
    let lesson = layout.lesson.map(|rect| (rect, Spot::Lesson));
    for (rect, spot) in [timeline, side, lesson].into_iter().flatten() {
        if rect.contains(at) {
            return Some(spot);
        }
    }
    layout.tiling.place_at(at).map(Spot::Panel)
}
