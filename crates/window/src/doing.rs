//! What the window does of what a person asks for; the rest is the session's.

use std::time::Instant;

use winit::event::{ElementState, MouseButton};
use winit::event_loop::ActiveEventLoop;
use winit::window::Fullscreen;

use crate::handler::Handler;
use crate::pointer::{Gesture, Spot};
use app::World;

use lang::tr;
use model::Action;
use view::layout::Layout;
use view::picture_file::write_dated_png;
use view::{Commands, GoTo, Menu, SidePanel, Zoom};

impl<W: World> Handler<W> {
    /// Does what a person asked for: the window's own actions here, the others in the session.
    pub(super) fn act(&mut self, event_loop: &ActiveEventLoop, action: Action) {
        self.pacer.want(Instant::now());
        let action = self.lessons.instead(action);
        if self.edit_action(action) {
            return;
        }
        match action {
            Action::ToggleSingle => self.view.single ^= true,
            Action::ZoomIn => self.zoom(1.5, None),
            Action::ZoomOut => self.zoom(1.0 / 1.5, None),
            Action::PanLeft => self.pan_by_key([1.0, 0.0]),
            Action::PanRight => self.pan_by_key([-1.0, 0.0]),
            Action::PanUp => self.pan_by_key([0.0, 1.0]),
            Action::PanDown => self.pan_by_key([0.0, -1.0]),
            Action::Fit => self.move_camera(None, true, |camera, status, layout| {
                camera.toggle_fit(status.size, layout.tiling.panel);
            }),
            Action::ToggleSeparate => self.toggle_separate(),
            Action::ToggleMinimap => self.view.no_minimap ^= true,
            Action::ToggleTimeline => self.toggle_timeline(),
            Action::ToggleBlocks => self.toggle_blocks(),
            Action::ToggleLab => self.toggle_side(SidePanel::Lab),
            Action::ToggleLadder => self.toggle_side(SidePanel::Ladder),
            Action::TogglePopulation => self.toggle_side(SidePanel::Population),
            Action::PopulationOfAll => {
                self.view.population_of_all ^= true;
                if self.view.side != Some(SidePanel::Population) {
                    self.toggle_side(SidePanel::Population);
                }
            }
            Action::ToggleLessons => self.toggle_lessons(),
            Action::NextPage => self.turn_page(true),
            Action::PreviousPage => self.turn_page(false),
            Action::ToggleGridLines => self.view.grid_lines ^= true,
            Action::NextColours => self.next_theme(),
            Action::NextColourBy => self.next_colour_by(),
            Action::Invert => self.view.invert ^= true,
            Action::ToggleFullscreen => self.toggle_fullscreen(),
            Action::SavePicture => self.save_picture(false),
            Action::SavePanelPicture => self.save_picture(true),
            Action::ToggleRecording => self.toggle_recording(),
            Action::ToggleHelp => self.view.help ^= true,
            Action::AskGeneration => self.dialogs.go_to = Some(GoTo::default()),
            Action::ToggleCommands => {
                let closed = self.dialogs.commands.take().is_none();
                let open = closed.then(|| Commands::new(self.list_lessons()));
                (self.dialogs.commands, self.dialogs.menu) = (open, None);
            }
            Action::ToggleMenu => {
                let closed = self.dialogs.menu.take().is_none();
                let open = closed.then(Menu::default);
                (self.dialogs.menu, self.dialogs.commands) = (open, None);
            }
            Action::TogglePresentation => self.view.presentation ^= true,
            Action::EnlargeInterface => self.resize_interface(self.view.interface.larger()),
            Action::ReduceInterface => self.resize_interface(self.view.interface.smaller()),
            Action::UsualInterface => self.resize_interface(Some(Zoom::default())),
            Action::NextLanguage => lang::set(lang::language().other()),
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
        if self.dialogs.escape() {
            // One thing at a time.
        } else if self.view.help {
            self.view.help = false;
        } else if self.lessons.screen.is_some() {
            self.leave_lesson();
        } else if self.drop_marks() {
            // the ghost, the selection, or the pencil
        } else if self.view.timeline {
            self.toggle_timeline();
        } else if let Some(panel) = self.view.side {
            self.toggle_side(panel);
        } else if self.view.single {
            self.view.single = false;
        } else if self.view.presentation {
            self.view.presentation = false;
        } else if fullscreen {
            self.toggle_fullscreen();
        }
    }

    /// Makes type and figures so large, as far as the window has room for them.
    fn resize_interface(&mut self, zoom: Option<Zoom>) {
        let (before, unit) = (self.view.interface, self.unit());
        self.view.interface = zoom.unwrap_or(before);
        let (percent, usual) = (self.view.interface.percent(), zoom == Some(Zoom::default()));
        if self.unit() == unit && !usual {
            self.view.interface = before;
            self.note(tr!("the interface has reached its limit in this window").into());
        } else {
            self.note(tr!("interface: {percent} %", percent = percent));
        }
    }

    fn unit(&self) -> Option<f32> {
        Some(self.frame(None)?.unit())
    }

    fn toggle_fullscreen(&self) {
        if let Some(screen) = &self.screen {
            let now = screen.window().fullscreen().is_some();
            screen
                .window()
                .set_fullscreen((!now).then(|| Fullscreen::Borderless(self.monitor.clone())));
        }
    }

    /// Draws the window's picture once more, reads it back, and leaves the writing to a thread.
    fn save_picture(&mut self, panel: bool) {
        let status = self.status();
        match self.picture_of_now(status.as_deref(), panel) {
            Err(error) => self.note(error.to_string()),
            Ok(image) => {
                let (sender, wake) = (self.saved.0.clone(), self.wake.clone());
                let write = move || {
                    let said = match write_dated_png(&image, ".".as_ref()) {
                        Ok(path) => {
                            tr!("saved {}", path.file_name().unwrap_or_default().display())
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
                    self.note(tr!("the picture is not saved: {error}", error = error));
                }
            }
        }
    }

    /// Opens or closes the timeline; nothing is stamped or measured that nobody sees.
    fn toggle_timeline(&mut self) {
        self.show_timeline(!self.view.timeline);
        if let (false, Some(world)) = (self.view.timeline, &self.world)
            && world.status().stamped
        {
            world.act(Action::ToggleBlocks);
        }
    }

    /// Stamps rounds or not; the timeline is where that shows.
    fn toggle_blocks(&mut self) {
        if let Some(world) = &self.world
            && (self.view.timeline || !world.status().stamped)
        {
            world.act(Action::ToggleBlocks);
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
            world.act(Action::WatchPopulation(is_watched));
        }
        self.hover();
    }

    fn show_timeline(&mut self, shown: bool) {
        self.view.timeline = shown;
        if let Some(world) = &self.world {
            world.act(Action::WatchOverlap(shown));
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
        let spot = spot(&self.layout()?, self.pointer.at.filter(|_| !covered)?);
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
            Gesture::Click(_) if self.view.help => self.act(event_loop, Action::ToggleHelp),
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
                self.act(event_loop, Action::Select(place));
            }
            Gesture::Click(Spot::Panel(_)) => {}
            Gesture::DoubleClick(Spot::Panel(_)) => self.act(event_loop, Action::ToggleSingle),
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

    fn click_lab(&mut self) -> Option<Action> {
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
            return self.act(event_loop, Action::ToggleMenu);
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
