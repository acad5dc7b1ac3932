//! The mouse over panels, and editing: the pencil, the selection, and pasting of patterns.
//!
//! A click selects, a double click shows one panel alone, a drag moves, the wheel zooms; over the timeline, the
//! last two do the same with time, and over the lab the wheel scrolls. Widgets take their clicks themselves. Also
//! what moves the camera and changes colours, by mouse and keys.
//!
//! An edit goes to the session at once, and is drawn over the panel until a picture shows it; so a
//! stroke follows the pointer whatever the engine is busy with.

mod files;

use std::sync::Arc;
use std::time::{Duration, Instant};

use winit::event::{ElementState, MouseButton};
use winit::event_loop::ActiveEventLoop;

use crate::handler::{CellHit, Drag, Handler, HitTarget};
use crate::surface::WindowSurface;
use crate::view::layout::WindowLayout;
use crate::view::{Dialog, FileTask, Form, Picker, over_panels, timeline};
use lang::{Message, message, tr};
use life::{Lattice, Rule, Size, too_large};
use session::{Area, Change, Edit, SessionAction, Status};
use ui::{Action, Camera, ColourBy, EditAction, Ghost, Tool, ViewAction, ViewTransform};

use Drag::*;
use HitTarget::*;

/// Between the clicks of a double click.
const DOUBLE_CLICK_TIMEOUT: Duration = Duration::from_millis(400);
/// Minimum distance, in points, for a press to be a drag.
const MIN_DRAG_DISTANCE: f64 = 4.0;

fn sides(size: Size) -> [i64; 2] {
    [size.width, size.height].map(i64::from)
}

impl CellHit {
    /// The cell of the lattice; the nearest one, where it is on none.
    fn on(self, size: Size) -> [u32; 2] {
        let sides = sides(size);
        [0, 1].map(|axis| match (self.cell[axis], sides[axis]) {
            (at, side) if self.around[axis] => at.rem_euclid(side) as u32,
            (at, side) => at.clamp(0, side - 1) as u32,
        })
    }

    /// Whether there is a cell.
    fn is_on(self, size: Size) -> bool {
        let is_on = |axis| self.around[axis] || (0..sides(size)[axis]).contains(&self.cell[axis]);
        is_on(0) && is_on(1)
    }

    /// The same cell relative to the panel's present origin, which jumps by a lattice's side when
    /// the view has moved around the torus.
    fn carried(self, now: CellHit, size: Size) -> [i64; 2] {
        let sides = sides(size);
        [0, 1].map(|axis| {
            let moved = (now.origin[axis] - self.origin[axis]) / sides[axis] as f64;
            let turns = if now.around[axis] { moved.round() } else { 0.0 };
            self.cell[axis] + turns as i64 * sides[axis]
        })
    }

    /// The area from here to there: it ends at the lattice's edges.
    fn span(self, to: CellHit, size: Size) -> Area {
        let (from, sides) = (self.carried(to, size), sides(size));
        let corners = [from, to.cell].map(|cell| {
            [0, 1].map(|axis| {
                let turns = from[axis].div_euclid(sides[axis]) * i64::from(self.around[axis]);
                (cell[axis] - turns * sides[axis]).clamp(0, sides[axis] - 1) as u32
            })
        });
        Area::spanned(corners[0], corners[1])
    }
}

// The mouse.

impl Handler {
    /// What is under the pointer, where no dialog is.
    fn under_pointer(&self) -> Option<HitTarget> {
        let screen = self.surface.as_ref();
        let is_free = |it: &&WindowSurface| !it.scene.context().egui_wants_pointer_input();
        let screen = screen.filter(is_free)?;
        let (at, (layout, _)) = (self.pointer.at?, self.frame()?.layout()?);
        if layout.timeline.is_some_and(|it| it.contains(at)) {
            return Some(Timeline);
        }
        let place = layout.tiling.place_at(at)?;
        // A button that lies over a panel has its clicks.
        if screen.scene.has_button_at(at) {
            return None;
        }
        let minimap = over_panels::minimap(&self.app, &layout);
        if minimap.is_some_and(|it| it.rect.contains(at)) {
            return Some(Minimap);
        }
        Some(Panel(self.app.single_instance().unwrap_or(place)))
    }

    /// A mouse button went down or came up.
    pub(super) fn mouse_button(
        &mut self,
        event_loop: &ActiveEventLoop,
        state: ElementState,
        button: MouseButton,
    ) {
        self.pacer.request_frame();
        let clicks = button == MouseButton::Left;
        match (state, button) {
            (ElementState::Pressed, MouseButton::Right) => self.open_panel_menu(event_loop),
            (ElementState::Pressed, MouseButton::Left | MouseButton::Middle) => {
                let target = self.under_pointer();
                let edits = clicks.then(|| self.begin_edit(target)).flatten();
                // A widget has its clicks, and is not dragged.
                let screen = self.surface.as_ref().zip(self.pointer.at);
                let start = screen.filter(|(it, at)| !it.scene.has_button_at(*at));
                let moves = target.zip(start).map(|(target, (_, start))| Move {
                    target,
                    start,
                    has_moved: false,
                    clicks,
                });
                self.pointer.drag = edits.or(moves);
            }
            (ElementState::Released, MouseButton::Left | MouseButton::Middle) => {
                match self.pointer.drag.take() {
                    Some(Move {
                        target,
                        has_moved: false,
                        clicks: true,
                        ..
                    }) => self.click(event_loop, target),
                    Some(Selecting { .. }) => self.end_selecting(),
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn open_panel_menu(&mut self, event_loop: &ActiveEventLoop) {
        let (Some(Panel(instance)), Some(at), Some((_, layout, _))) =
            (self.under_pointer(), self.pointer.at, self.places())
        else {
            return self.act(event_loop, ViewAction::ToggleMenu);
        };
        self.deselect_at_click(instance);
        self.act(event_loop, SessionAction::Select(instance));
        let form = Form::of_panel(layout.point(at));
        self.dialogs.open(Dialog::Form(form));
    }

    fn click(&mut self, event_loop: &ActiveEventLoop, target: HitTarget) {
        let now = Instant::now();
        let is_second = |(then, last)| last == target && now - then < DOUBLE_CLICK_TIMEOUT;
        let is_double = self.pointer.last_click.take().is_some_and(is_second);
        if !is_double {
            self.pointer.last_click = Some((now, target));
        }
        match target {
            Panel(instance) => {
                self.deselect_at_click(instance); // a second click may be far from the first
                if is_double {
                    self.act(event_loop, ViewAction::ToggleSingle);
                } else {
                    self.act(event_loop, SessionAction::Select(instance));
                }
            }
            Minimap => self.lead(),
            Timeline if is_double => self.app.timeline.zoom.fit(),
            Timeline => {}
        }
    }

    /// The pointer moved to a point in pixels, at `scale` pixels per point.
    pub(super) fn pointer_moved(&mut self, to: [f64; 2], scale: f64) {
        let before = self.pointer.at.replace(to);
        self.move_ghost();
        match &mut self.pointer.drag {
            Some(Move {
                target,
                start,
                has_moved,
                ..
            }) => {
                // The first move makes up for the pixels it took to tell a drag from a click.
                let from = before.filter(|_| *has_moved).unwrap_or(*start);
                let pixels = [0, 1].map(|axis| to[axis] - from[axis]);
                let distance = MIN_DRAG_DISTANCE * scale;
                *has_moved |= pixels.iter().any(|by| by.abs() > distance);
                if *has_moved {
                    let target = *target;
                    self.drag_by(target, pixels);
                }
            }
            Some(_) => {
                self.continue_edit();
                self.pacer.request_frame();
            }
            None => {}
        }
        self.hover();
        let at = self.pointer.at;
        self.app.timeline.pointer = at.filter(|_| self.under_pointer() == Some(Timeline));
    }

    fn drag_by(&mut self, target: HitTarget, pixels: [f64; 2]) {
        match target {
            Panel(_) => {
                self.move_camera(|camera, size, panel| camera.pan(pixels, size, panel));
            }
            Minimap => self.lead(),
            Timeline => {
                if let Some((_, layout, _)) = self.places() {
                    timeline::pan(&mut self.app.timeline, pixels[0], &layout);
                }
            }
        }
        self.pacer.request_frame();
    }

    /// Something else may be under the pointer; another frame is only wanted where that shows.
    pub(super) fn hover(&mut self) {
        let target = self.under_pointer();
        let is_over_cells = matches!(target, Some(Panel(_) | Minimap));
        if !is_over_cells || self.pointer.is_over_widgets {
            // Also while it moves within one: its tip comes once it stands still.
            self.pacer.request_frame();
        }
        self.pointer.is_over_widgets = !is_over_cells;
        self.update_pointed_cell(target);
        self.app.timeline.pointer = None; // its tip is shown until anything but the mouse acts
    }

    /// The wheel was turned by so many notches; lists have it themselves.
    pub(super) fn wheel(&mut self, notches: f64) {
        let factor = 1.25f64.powf(notches);
        let (Some(at), Some((_, layout, _))) = (self.pointer.at, self.places()) else {
            return;
        };
        match self.under_pointer() {
            Some(Panel(instance)) => {
                let pixel = self.pixel_of_panel(&layout, instance, at);
                self.move_camera(|camera, size, panel| camera.zoom_at(factor, pixel, size, panel));
            }
            Some(Timeline) => timeline::zoom(&mut self.app.timeline, factor, at, &layout),
            Some(Minimap) | None => {}
        }
        self.pacer.request_frame();
    }

    /// A point of the window as one of an instance's panel, also beyond that.
    fn pixel_of_panel(&self, layout: &WindowLayout, instance: usize, at: [f64; 2]) -> [f64; 2] {
        let place = if self.app.options.single { 0 } else { instance };
        let rect = layout.tiling.rect(place);
        [at[0] - f64::from(rect.x), at[1] - f64::from(rect.y)]
    }

    /// Where everything stands, once there is anything, and what the panels show.
    pub(super) fn places(&self) -> Option<(Arc<Status>, WindowLayout, ViewTransform)> {
        let status = self.status()?;
        let (layout, transform) = self.frame()?.layout()?;
        Some((status, layout, transform))
    }

    /// Changes the camera, for panels of so many pixels.
    fn move_camera(&mut self, change: impl FnOnce(&mut Camera, Size, [u32; 2])) {
        if let Some((status, layout, _)) = self.places() {
            let camera = &mut self.app.options.camera;
            change(camera, status.lattices.size, layout.tiling.panel);
        }
    }

    /// Leads the camera to where the pointer is in the minimap.
    fn lead(&mut self) {
        let led = || {
            let (layout, _) = self.frame()?.layout()?;
            let small = over_panels::minimap(&self.app, &layout)?;
            Some(small.cell_at(self.pointer.at?))
        };
        if let Some(cell) = led() {
            self.move_camera(|camera, size, panel| camera.centre_on(cell, size, panel));
        }
    }

    /// Colours by state, age, history; by state where the others cannot be, with the reason.
    pub(super) fn next_colour_by(&mut self) {
        use ColourBy::*;
        self.app.options.colour_by = match self.app.options.colour_by {
            State => Age,
            Age => History,
            History => State,
        };
        let refused = self
            .surface
            .as_ref()
            .and_then(|screen| self.frame()?.colour_by(screen.scene.max_side).err());
        match refused {
            None => self.show_notice(Message::new(|| self.app.options.colour_by.sentence())),
            Some(why) => {
                self.app.options.colour_by = State;
                self.show_notice(why);
            }
        }
    }
}

// What edits do.

impl Handler {
    /// Carries out an edit action.
    pub(super) fn edit_action(&mut self, action: EditAction) {
        use EditAction::*;
        match action {
            TogglePencil => self.toggle_tool(Tool::Pencil),
            ToggleAreaSelection => self.toggle_tool(Tool::Selection),
            SelectAll => {
                if let Some(status) = self.status() {
                    let all = Area::whole(status.lattices.size);
                    self.app.edit_overlay.selection = Some((status.panels.selected, all));
                }
            }
            ClearSelection => self.change_selection(Change::Clear),
            FillRandomly => {
                self.fills += 1;
                let seed = self.fills;
                let density = 0.5;
                self.change_selection(|area| Change::Fill {
                    area,
                    density,
                    seed,
                });
            }
            FlipHorizontal | FlipVertical => {
                let horizontal = action == FlipHorizontal;
                if !self.change_ghost(|pattern| session::flipped(pattern, horizontal)) {
                    self.change_selection(|area| Change::Flip { area, horizontal });
                }
            }
            RotateLeft | RotateRight => {
                let clockwise = action == RotateRight;
                if !self.change_ghost(|pattern| session::turned(pattern, clockwise)) {
                    self.turn_selection(clockwise);
                }
            }
            CopyCells => {
                self.copy_cells();
            }
            CutCells => {
                if self.copy_cells() {
                    self.change_selection(Change::Clear);
                }
            }
            PastePattern => self.paste(),
            OpenPattern => self.ask_for_file(FileTask::Open),
            SavePattern => self.ask_for_file(FileTask::Save),
            ToggleShelf => self.dialogs.toggle(Dialog::Shelf(Picker::default())),
        }
    }

    fn toggle_tool(&mut self, asked: Tool) {
        let edit_overlay = &mut self.app.edit_overlay;
        let is_held = edit_overlay.tool == asked;
        let tool = if is_held { Tool::Hand } else { asked };
        edit_overlay.tool = tool;
        self.show_notice(match (tool, asked) {
            (Tool::Pencil, _) => tr!("Pencil on: drag to draw"),
            (Tool::Selection, _) => tr!("Drag over cells to select them, Esc to cancel"),
            (Tool::Hand, Tool::Pencil) => tr!("Pencil off"),
            (Tool::Hand, _) => tr!("A drag moves the view again"),
        });
        self.update_pointed_cell(self.under_pointer());
    }

    /// A click that was no drag drops the selection, unless it is within it.
    fn deselect_at_click(&mut self, instance: usize) {
        if let Some((under, size)) = self.cell_of(instance)
            && let Some((of, area)) = self.app.edit_overlay.selection
            && (instance != of || !under.is_on(size) || !area.contains(under.on(size)))
        {
            self.app.edit_overlay.selection = None;
        }
    }

    /// The selection, or all of the selected panel.
    fn selected_area(&self, status: &Status) -> (usize, Area) {
        let whole = (status.panels.selected, Area::whole(status.lattices.size));
        self.app.edit_overlay.selection.unwrap_or(whole)
    }

    /// Changes the pattern that is being pasted; returns whether there is one.
    fn change_ghost(&mut self, change: impl FnOnce(&Lattice) -> Lattice) -> bool {
        let ghost = self.app.edit_overlay.ghost.as_mut();
        ghost.is_some_and(|ghost| {
            ghost.pattern = Arc::new(change(&ghost.pattern));
            true
        })
    }

    fn change_selection(&mut self, change: impl FnOnce(Area) -> Change) {
        if let Some(status) = self.status() {
            let (instance, area) = self.selected_area(&status);
            self.edit(instance, change(area), false);
        }
    }

    fn turn_selection(&mut self, clockwise: bool) {
        let Some(status) = self.status() else { return };
        let (instance, area) = self.selected_area(&status);
        let (wide, high) = (area.size.width, area.size.height);
        if wide > status.lattices.size.height || high > status.lattices.size.width {
            return self.show_notice(message!(
                "A {wide}x{high} selection does not fit a {} lattice when rotated",
                status.lattices.size
            ));
        }
        self.edit(instance, Change::Rotate { area, clockwise }, false);
    }

    /// Sends an edit on its way, and shows that it is.
    fn edit(&mut self, instance: usize, change: Change, continues_stroke: bool) {
        let edit = Edit {
            instance,
            change,
            continues_stroke,
        };
        if let Some(session) = &self.app.session {
            self.edits += 1;
            session.edit(edit.clone(), self.edits);
            self.app.edit_overlay.pending.push_back((self.edits, edit));
        }
    }

    /// Forgets the edits that pictures show by now.
    pub(super) fn forget_shown_edits(&mut self) {
        if let Some(screen) = &self.surface {
            let is_shown = |(number, edit): &(u64, Edit)| {
                *number <= screen.scene.panels.shown_edit(edit.instance)
            };
            self.app.edit_overlay.pending.retain(|edit| !is_shown(edit));
        }
    }

    /// Ends a drag before what it edits is no longer there: its rest would join that, or its cells would be
    /// others.
    pub(super) fn end_drag_before(&mut self, action: Action) {
        if let Action::Session(
            SessionAction::Undo
            | SessionAction::Redo
            | SessionAction::SetInstances(_)
            | SessionAction::HalveInstances
            | SessionAction::SetSize(_),
        ) = action
        {
            self.pointer.drag = None;
        }
    }

    /// Clears pending edits and the selection when the size or number of lattices has changed.
    pub(super) fn notice_other_grid(&mut self) {
        if self.app.notice_other_grid() {
            self.pointer.drag = None;
            self.app.edit_overlay.pending.clear();
            self.app.edit_overlay.selection = None;
        }
    }

    /// Begins anew, paused, with an opened pattern in place of an instance's lattice.
    fn open_pattern(&mut self, instance: usize, lattice: Arc<Lattice>, generation: u64) {
        self.pointer.drag = None;
        if let Some(session) = &self.app.session {
            session.open_pattern(instance, lattice, generation);
        }
    }

    /// The left button went down; the edit that it begins, if it does.
    fn begin_edit(&mut self, target: Option<HitTarget>) -> Option<Drag> {
        let Some(HitTarget::Panel(instance)) = target else {
            return None;
        };
        let (under, size) = self.cell_of(instance)?;
        let shift = self.modifiers.shift_key();
        let drag = if let Some(ghost) = &mut self.app.edit_overlay.ghost {
            ghost.at = Some((instance, under.cell));
            self.place_ghost(size, shift);
            Placed
        } else if shift || self.app.edit_overlay.tool == Tool::Selection {
            self.app.edit_overlay.selection = None;
            let from = under;
            Selecting { instance, from }
        } else if self.app.edit_overlay.tool == Tool::Pencil {
            let first = under.on(size);
            let alive = !self.is_alive(instance, first);
            let cells = [first].into();
            self.edit(instance, Change::Draw { cells, alive }, false);
            Stroke {
                instance,
                last: under,
                alive,
            }
        } else {
            return None;
        };
        self.app.send(SessionAction::Select(instance));
        Some(drag)
    }

    /// The pointer moved while an edit is made.
    fn continue_edit(&mut self) {
        match self.pointer.drag {
            Some(Stroke {
                instance,
                last,
                alive,
            }) => {
                let Some((under, size)) = self.cell_of(instance).filter(|(it, _)| *it != last)
                else {
                    return;
                };
                self.pointer.drag = Some(Stroke {
                    instance,
                    last: under,
                    alive,
                });
                let cells = line(last.carried(under, size), under.cell);
                let cells = cells.map(|cell| CellHit { cell, ..under });
                let cells = cells.filter(|it| it.is_on(size)).map(|it| it.on(size));
                let cells: Arc<[_]> = cells.collect();
                if !cells.is_empty() {
                    self.edit(instance, Change::Draw { cells, alive }, true);
                }
            }
            Some(Selecting { instance, from }) => {
                if let Some((under, size)) = self.cell_of(instance) {
                    self.app.edit_overlay.selection = Some((instance, from.span(under, size)));
                }
            }
            Some(Placed | Move { .. }) | None => {}
        }
    }

    /// A selection is spanned: the next drag moves the view again.
    fn end_selecting(&mut self) {
        let edit_overlay = &mut self.app.edit_overlay;
        if edit_overlay.selection.is_some() && edit_overlay.tool == Tool::Selection {
            edit_overlay.tool = Tool::Hand;
            self.update_pointed_cell(self.under_pointer());
        }
    }

    /// A pattern made for this rule, if any, is taken, to be placed by a click.
    fn begin_paste(&mut self, pattern: Lattice, rule: Option<Rule>, mut remarks: Vec<String>) {
        self.app.edit_overlay.ghost = Some(Ghost {
            pattern: Arc::new(pattern),
            at: None,
        });
        self.move_ghost();
        let keys =
            tr!("Click to place, Q/W to rotate, Esc to cancel; a right click opens the menu")
                .to_owned();
        remarks.insert(0, keys);
        remarks.extend(self.offer_rule(rule));
        self.show_notice(remarks.join("; "));
    }

    fn move_ghost(&mut self) {
        let over = self
            .cell_under(self.under_pointer())
            .map(|(instance, under, _)| (instance, under.cell));
        if let Some(ghost) = &mut self.app.edit_overlay.ghost
            && ghost.at != over
        {
            ghost.at = over;
            self.pacer.request_frame();
        }
    }

    fn place_ghost(&mut self, all: Size, stays: bool) {
        let Some(ghost) = &self.app.edit_overlay.ghost else {
            return;
        };
        let Some((instance, corner)) = ghost.corner() else {
            return;
        };
        let pattern = ghost.pattern.clone();
        let (width, height) = (pattern.size().width, pattern.size().height);
        if width > all.width || height > all.height {
            let (what, offer) = (tr!("the pattern"), all.with_room(width, height));
            return self.show_notice(too_large(what, [width, height], all, offer, None));
        }
        let at = [0, 1].map(|axis| corner[axis].rem_euclid(sides(all)[axis]) as u32);
        let change = Change::Place {
            pattern,
            at,
            overwrites_dead: false,
        };
        if !stays {
            self.app.edit_overlay.ghost = None;
        }
        self.edit(instance, change, false);
    }

    /// Notes the cell under the pointer, while a drag draws or selects, or a pattern is being placed.
    fn update_pointed_cell(&mut self, target: Option<HitTarget>) {
        let edit_overlay = &self.app.edit_overlay;
        let is_wanted = edit_overlay.tool != Tool::Hand || edit_overlay.ghost.is_some();
        let cell = is_wanted.then(|| self.cell_under(target)).flatten();
        let cell = cell.filter(|(_, under, size)| under.is_on(*size));
        let cell = cell.map(|(instance, under, size)| (instance, under.on(size)));
        if self.app.edit_overlay.pointed != cell {
            self.app.edit_overlay.pointed = cell;
            self.pacer.request_frame();
        }
    }

    /// The instance whose panel this is, the cell under the pointer, and the lattice's size.
    fn cell_under(&self, target: Option<HitTarget>) -> Option<(usize, CellHit, Size)> {
        let Some(HitTarget::Panel(instance)) = target else {
            return None;
        };
        let (under, size) = self.cell_of(instance)?;
        Some((instance, under, size))
    }

    /// The cell under the pointer as the panel of an instance has it, also beyond that, and the lattice's
    /// size.
    fn cell_of(&self, instance: usize) -> Option<(CellHit, Size)> {
        let (at, (status, layout, transform)) = (self.pointer.at?, self.places()?);
        let size = status.lattices.size;
        let pixel = self.pixel_of_panel(&layout, instance, at);
        let hit = CellHit {
            cell: transform.to_cells(pixel).map(|at| at.floor() as i64),
            around: transform.goes_around(size, layout.tiling.panel),
            origin: transform.origin,
        };
        Some((hit, size))
    }

    fn clipboard(&mut self) -> Option<String> {
        self.surface.as_mut()?.input.clipboard()
    }

    pub(super) fn set_clipboard(&mut self, text: String) {
        if let Some(screen) = &mut self.surface {
            screen.input.set_clipboard(text);
        }
    }

    /// Whether a cell is alive, by the newest picture and what is on its way.
    fn is_alive(&self, instance: usize, cell: [u32; 2]) -> bool {
        let pending = self.app.edit_overlay.pending.iter().rev();
        let mut mine = pending.filter(|(_, edit)| edit.instance == instance);
        let will_be = mine.find_map(|(_, edit)| match &edit.change {
            Change::Draw { cells, alive } => cells.contains(&cell).then_some(*alive),
            Change::Clear(area) => area.contains(cell).then_some(false),
            _ => None,
        });
        if let Some(will_be) = will_be {
            return will_be;
        }
        let size = self.status().map(|status| status.lattices.size);
        let density = self.app.look_at(instance, |picture, words| {
            Some(ui::density(picture.region, size?, cell, words))
        });
        density > Some(127)
    }
}

/// The cells from one to another, without the first (Bresenham's).
fn line([x, y]: [i64; 2], [to_x, to_y]: [i64; 2]) -> impl Iterator<Item = [i64; 2]> {
    let steps = (to_x - x).abs().max((to_y - y).abs());
    let toward = move |from: i64, to: i64, i: i64| {
        let twice = 2 * (to - from) * i + steps * (to - from).signum();
        from + twice / (2 * steps)
    };
    (1..=steps).map(move |i| [toward(x, to_x, i), toward(y, to_y, i)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_no_gaps_and_ends_where_it_should() {
        for to in [[7, 3], [-4, 9], [0, 5], [6, 0], [-3, -3], [1, -8], [0, 0]] {
            let mut last = [0i64, 0];
            for cell in line([0, 0], to) {
                let far = |axis: usize| (cell[axis] - last[axis]).abs();
                assert!(far(0).max(far(1)) == 1, "{to:?}: {last:?} to {cell:?}");
                last = cell;
            }
            assert_eq!(last, to);
        }
    }

    #[test]
    fn beyond_an_edge_lies_the_other_side_where_a_panel_goes_around() {
        let size = Size::new(100, 60).unwrap();
        let under = |cell, origin| CellHit {
            cell,
            around: [true, false],
            origin,
        };
        let at = under([103, 62], [90.0, 0.0]);
        assert_eq!(at.on(size), [3, 59]);
        assert!(!at.is_on(size) && under([103, 59], [90.0, 0.0]).is_on(size));
        // The panel has moved on by 12 columns, and so around.
        let now = under([8, 30], [2.0, 0.0]);
        assert_eq!(at.carried(now, size), [3, 62]);
        assert_eq!(now.carried(at, size), [108, 30]);
        // A selection ends at the edge that it came to, whichever side it began on.
        let from = under([97, 10], [90.0, 0.0]);
        assert_eq!(from.span(at, size), Area::spanned([97, 10], [99, 59]));
        assert_eq!(at.span(from, size), Area::spanned([3, 59], [0, 10]));
    }
}
