//! Editing with the mouse: the pencil, the selection, and pasting of patterns.
//!
//! An edit goes to the session at once, and is drawn over the panel until a picture shows it; so a
//! stroke follows the pointer whatever the engine is busy with.

mod files;

use std::sync::Arc;

use crate::handler::Handler;
use crate::pointer::HitTarget;
use crate::view::{Dialog, FileTask, Picker};
use lang::{message, tr};
use life::{Lattice, Rule, Size, too_large};
use session::{Area, Change, Edit, PictureSource, SessionAction, Status};
use ui::{EditAction, Ghost, Tool};

/// The state of editing.
#[derive(Default)]
pub(super) struct Editing {
    pub(super) holding: Option<EditGesture>,
    /// How often something was filled: another soup each time.
    pub(super) fills: u64,
    /// What is to be saved, until it is.
    pub(super) unsaved: Option<PatternToSave>,
    /// The path that was tried.
    pub(super) tried: String,
    /// The file that is there already and was asked about.
    pub(super) replaces: Option<String>,
    /// The rule of the pattern that was opened or pasted last, if the lattices ran another one.
    pub(super) offered_rule: Option<Rule>,
}

/// What a drag with the left button does.
pub(super) enum EditGesture {
    /// Draws, in an instance, from this cell on.
    Stroke {
        instance: usize,
        last: CellHit,
        alive: bool,
    },
    /// Spans a selection from here.
    Selecting { instance: usize, from: CellHit },
    /// Nothing more: it has placed something.
    Placed,
}

/// Cells that are to be saved, as they were when that was asked for.
#[derive(Clone)]
pub(crate) struct PatternToSave {
    pub(super) cells: Arc<Lattice>,
    pub(super) rule: Rule,
    /// Whether they are a whole torus.
    pub(super) torus: bool,
    pub(super) generation: u64,
}

/// What is under a point of a panel.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct CellHit {
    /// The cell, counted on beyond the lattice's edges.
    pub(super) cell: [i64; 2],
    /// Axes on which coordinates wrap.
    pub(super) around: [bool; 2],
    /// Where the panel's top left was then.
    pub(super) origin: [f64; 2],
}

impl CellHit {
    /// The cell of the lattice; the nearest one, where it is on none.
    pub(super) fn on(self, size: Size) -> [u32; 2] {
        self.each(size, |at, side, around| {
            if around {
                at.rem_euclid(side)
            } else {
                at.clamp(0, side - 1)
            }
        })
        .map(|at| at as u32)
    }

    /// Whether there is a cell.
    pub(super) fn is_on(self, size: Size) -> bool {
        let is_on = |at, side, around| i64::from(around || (0..side).contains(&at));
        self.each(size, is_on) == [1, 1]
    }

    /// The same cell relative to the panel's present origin, which jumps by a lattice's side when
    /// the view has moved around the torus.
    pub(super) fn carried(self, now: CellHit, size: Size) -> [i64; 2] {
        let sides = [size.width(), size.height()].map(i64::from);
        [0, 1].map(|axis| {
            let moved = (now.origin[axis] - self.origin[axis]) / sides[axis] as f64;
            let turns = if now.around[axis] { moved.round() } else { 0.0 };
            self.cell[axis] + turns as i64 * sides[axis]
        })
    }

    /// The cells from here to there that an area can have: it ends at the lattice's edges.
    pub(super) fn span(self, to: CellHit, size: Size) -> [[u32; 2]; 2] {
        let from = self.carried(to, size);
        let first = self.each(size, |_, side, around| if around { side } else { 0 });
        let first = [0, 1].map(|axis| match first[axis] {
            0 => 0,
            side => from[axis].div_euclid(side) * side,
        });
        [from, to.cell].map(|cell| within([0, 1].map(|axis| cell[axis] - first[axis]), size))
    }

    fn each(self, size: Size, of: impl Fn(i64, i64, bool) -> i64) -> [i64; 2] {
        let sides = [size.width(), size.height()].map(i64::from);
        [0, 1].map(|axis| of(self.cell[axis], sides[axis], self.around[axis]))
    }
}

/// The nearest cell of the lattice.
fn within([x, y]: [i64; 2], size: Size) -> [u32; 2] {
    let near = |at: i64, side: u32| at.clamp(0, i64::from(side) - 1) as u32;
    [near(x, size.width()), near(y, size.height())]
}

impl Handler {
    /// Carries out an edit action.
    pub(super) fn edit_action(&mut self, action: EditAction) {
        match action {
            EditAction::TogglePencil => self.toggle_tool(Tool::Pencil),
            EditAction::ToggleAreaSelection => self.toggle_tool(Tool::Selection),
            EditAction::SelectAll => {
                if let Some(status) = self.status() {
                    let all = Area::whole(status.lattices.size);
                    self.app.edit_overlay.selection = Some((status.panels.selected, all));
                }
            }
            EditAction::ClearSelection => self.change_selection(Change::Clear),
            EditAction::FillRandomly => {
                self.editing.fills += 1;
                let seed = self.editing.fills;
                let density = 0.5;
                self.change_selection(|area| Change::Fill {
                    area,
                    density,
                    seed,
                });
            }
            EditAction::FlipHorizontal | EditAction::FlipVertical => {
                let horizontal = action == EditAction::FlipHorizontal;
                if !self.change_ghost(|pattern| session::flipped(pattern, horizontal)) {
                    self.change_selection(|area| Change::Flip { area, horizontal });
                }
            }
            EditAction::RotateLeft | EditAction::RotateRight => {
                let clockwise = action == EditAction::RotateRight;
                if !self.change_ghost(|pattern| session::turned(pattern, clockwise)) {
                    self.turn_selection(clockwise);
                }
            }
            EditAction::RotatePastedLeft | EditAction::RotatePastedRight => {
                let clockwise = action == EditAction::RotatePastedRight;
                self.change_ghost(|pattern| session::turned(pattern, clockwise));
            }
            EditAction::CopyCells => {
                self.copy_cells();
            }
            EditAction::CutCells => {
                if self.copy_cells() {
                    self.change_selection(Change::Clear);
                }
            }
            EditAction::PastePattern => self.paste(),
            EditAction::OpenPattern => self.ask_for_file(FileTask::Open),
            EditAction::SavePattern => self.ask_for_file(FileTask::Save),
            EditAction::ToggleShelf => self.dialogs.toggle(Dialog::Shelf(Picker::default())),
        }
    }

    fn toggle_tool(&mut self, asked: Tool) {
        let edit_overlay = &mut self.app.edit_overlay;
        let tool = edit_overlay.tool.toggled(asked);
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
    pub(super) fn deselect_at_click(&mut self, instance: usize) {
        let (Some(under), Some(status), Some((of, area))) = (
            self.cell_of(instance),
            self.status(),
            self.app.edit_overlay.selection,
        ) else {
            return;
        };
        let is_within =
            under.is_on(status.lattices.size) && area.contains(under.on(status.lattices.size));
        if instance != of || !is_within {
            self.app.edit_overlay.selection = None;
        }
    }

    /// Ends a stroke that is being drawn.
    pub(super) fn end_stroke(&mut self) {
        self.editing.holding = None;
    }

    /// The selection, or all of the selected panel.
    pub(super) fn selected_area(&self, status: &Status) -> (usize, Area) {
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
        let (wide, high) = (area.size.width(), area.size.height());
        if wide > status.lattices.size.height() || high > status.lattices.size.width() {
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
            let number = session.edit(edit.clone());
            self.app.edit_overlay.pending.push_back((number, edit));
        }
        self.pacer.request_frame();
    }

    /// Clears pending edits and the selection when the size or number of lattices has changed.
    pub(super) fn notice_other_grid(&mut self) {
        if self.app.notice_other_grid() {
            self.end_stroke();
            self.app.edit_overlay.pending.clear();
            self.app.edit_overlay.selection = None;
        }
    }

    /// Begins anew, paused, with an opened pattern in place of an instance's lattice.
    pub(super) fn open_pattern(&mut self, instance: usize, lattice: Arc<Lattice>, generation: u64) {
        self.end_stroke();
        if let Some(session) = &self.app.session {
            session.open_pattern(instance, lattice, generation);
        }
    }

    /// The left button went down; whether the hand took it.
    pub(super) fn edit_pressed(&mut self, target: Option<HitTarget>) -> bool {
        let (Some(HitTarget::Panel(instance)), Some(status)) = (target, self.status()) else {
            return false;
        };
        let Some(under) = self.cell_of(instance) else {
            return false;
        };
        let shift = self.modifiers.shift_key();
        if let Some(ghost) = &mut self.app.edit_overlay.ghost {
            ghost.at = Some((instance, under.cell));
            self.place_ghost(&status, shift);
            self.editing.holding = Some(EditGesture::Placed);
        } else if shift || self.app.edit_overlay.tool == Tool::Selection {
            self.app.edit_overlay.selection = None;
            self.editing.holding = Some(EditGesture::Selecting {
                instance,
                from: under,
            });
        } else if self.app.edit_overlay.tool == Tool::Pencil {
            let first = under.on(status.lattices.size);
            let alive = !self.is_alive(instance, first);
            let cells = [first].into();
            self.editing.holding = Some(EditGesture::Stroke {
                instance,
                last: under,
                alive,
            });
            self.edit(instance, Change::Draw { cells, alive }, false);
        } else {
            return false;
        }
        self.app.send(SessionAction::Select(instance));
        true
    }

    /// The pointer moved; whether the hand took it.
    pub(super) fn edit_moved(&mut self) -> bool {
        if self.app.edit_overlay.ghost.is_some() {
            self.move_ghost();
        }
        let instance = match &self.editing.holding {
            Some(
                EditGesture::Stroke { instance, .. } | EditGesture::Selecting { instance, .. },
            ) => *instance,
            Some(EditGesture::Placed) => return true,
            None => return false,
        };
        let (Some(under), Some(status)) = (self.cell_of(instance), self.status()) else {
            return true;
        };
        match &mut self.editing.holding {
            Some(EditGesture::Stroke { last, alive, .. }) if *last != under => {
                let alive = *alive;
                let last = std::mem::replace(last, under);
                let cells = line(last.carried(under, status.lattices.size), under.cell);
                let cells = cells.map(|cell| CellHit { cell, ..under });
                let cells: Arc<[_]> = cells
                    .filter(|under| under.is_on(status.lattices.size))
                    .map(|under| under.on(status.lattices.size))
                    .collect();
                if !cells.is_empty() {
                    self.edit(instance, Change::Draw { cells, alive }, true);
                }
            }
            Some(EditGesture::Selecting { from, .. }) => {
                let [from, to] = from.span(under, status.lattices.size);
                let area = Area::spanned(from, to);
                self.app.edit_overlay.selection = Some((instance, area));
                self.pacer.request_frame();
            }
            _ => {}
        }
        true
    }

    /// The left button came up; whether the hand had it.
    pub(super) fn edit_released(&mut self) -> bool {
        let held = self.editing.holding.take();
        let edit_overlay = &mut self.app.edit_overlay;
        let selected = matches!(held, Some(EditGesture::Selecting { .. }))
            && edit_overlay.selection.is_some()
            && edit_overlay.tool == Tool::Selection;
        if selected {
            edit_overlay.tool = Tool::Hand;
            self.update_pointed_cell(self.under_pointer());
            self.pacer.request_frame();
        }
        held.is_some()
    }

    /// A pattern made for this rule, if any, is taken, to be placed by a click.
    pub(super) fn begin_paste(
        &mut self,
        pattern: Lattice,
        rule: Option<Rule>,
        mut remarks: Vec<String>,
    ) {
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
        let over = self.panel_cell(self.under_pointer());
        let over = over.map(|(instance, under)| (instance, under.cell));
        if let Some(ghost) = &mut self.app.edit_overlay.ghost
            && ghost.at != over
        {
            ghost.at = over;
            self.pacer.request_frame();
        }
    }

    fn place_ghost(&mut self, status: &Status, stays: bool) {
        let Some(ghost) = &self.app.edit_overlay.ghost else {
            return;
        };
        let Some((instance, [x, y])) = ghost.corner() else {
            return;
        };
        let around = |at: i64, side: u32| at.rem_euclid(side.into()) as u32;
        let (pattern, all) = (ghost.pattern.clone(), status.lattices.size);
        let (width, height) = (pattern.size().width(), pattern.size().height());
        if width > all.width() || height > all.height() {
            let (what, offer) = (tr!("the pattern"), all.with_room(width, height));
            return self.show_notice(too_large(what, [width, height], all, offer, None));
        }
        let change = Change::Place {
            pattern,
            at: [around(x, all.width()), around(y, all.height())],
            overwrites_dead: false,
        };
        if !stays {
            self.app.edit_overlay.ghost = None;
        }
        self.edit(instance, change, false);
    }

    /// Notes the cell under the pointer, while a drag draws or selects, or a pattern is being placed.
    pub(super) fn update_pointed_cell(&mut self, target: Option<HitTarget>) {
        let edit_overlay = &self.app.edit_overlay;
        let is_wanted = edit_overlay.tool != Tool::Hand || edit_overlay.ghost.is_some();
        let cell = self.status().filter(|_| is_wanted).and_then(|status| {
            let (instance, under) = self.panel_cell(target)?;
            let size = status.lattices.size;
            under.is_on(size).then(|| (instance, under.on(size)))
        });
        if self.app.edit_overlay.pointed != cell {
            self.app.edit_overlay.pointed = cell;
            self.pacer.request_frame();
        }
    }

    /// The instance whose panel this is, and the cell under the pointer.
    fn panel_cell(&self, target: Option<HitTarget>) -> Option<(usize, CellHit)> {
        let Some(HitTarget::Panel(instance)) = target else {
            return None;
        };
        Some((instance, self.cell_of(instance)?))
    }

    /// The cell under the pointer as the panel of an instance has it, also beyond that.
    fn cell_of(&self, instance: usize) -> Option<CellHit> {
        let (at, status) = (self.pointer.at?, self.status()?);
        let frame = self.frame(Some(&status))?;
        let (layout, _) = frame.layout()?;
        let (camera, panel) = (frame.sources.options.camera, layout.tiling.panel);
        let transform = camera.shown(status.lattices.size, panel);
        let single = frame.sources.single_instance();
        let rect = layout.tiling.rect(single.map_or(instance, |_| 0));
        let pixel = [at[0] - f64::from(rect.x), at[1] - f64::from(rect.y)];
        Some(CellHit {
            cell: transform.to_cells(pixel).map(|at| at.floor() as i64),
            around: camera.goes_around(status.lattices.size, panel),
            origin: transform.origin,
        })
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
        if let Some(will_be) = self.app.edit_overlay.will_be(instance, cell) {
            return will_be;
        }
        let (Some(session), Some(status)) = (&self.app.session, self.status()) else {
            return false;
        };
        let mut seen = vec![u64::MAX; status.lattices.instances];
        seen[instance] = 0;
        let mut alive = false;
        session.visit_newer(&mut seen, &mut |of, picture, words| {
            if of == instance {
                alive = ui::density(picture.region, status.lattices.size, cell, words) > 127;
            }
        });
        alive
    }
}

/// The cells from one to another, without the first (Bresenham's).
fn line([x, y]: [i64; 2], [to_x, to_y]: [i64; 2]) -> impl Iterator<Item = [i64; 2]> {
    let (wide, high) = ((to_x - x).abs(), (to_y - y).abs());
    let steps = wide.max(high);
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
        assert_eq!(from.span(at, size), [[97, 10], [99, 59]]);
        assert_eq!(at.span(from, size), [[3, 59], [0, 10]]);
    }
}
