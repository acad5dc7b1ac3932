//! The hand in the window: the pencil, the selection, and patterns before they are placed.
//!
//! An edit goes to the session at once, and is drawn over the panel until a picture shows it; so a
//! stroke follows the pointer whatever the engine is busy with.

mod files;
mod parcels;

use std::sync::Arc;
use std::time::Instant;

use crate::app::World;
use crate::app::handler::Handler;
use crate::app::pointer::Spot;
use crate::lang::tr;
use crate::life::Lattice;
use crate::session::{Action, Area, Change, Edit, Status};
use crate::view::{Ghost, Marks, Pending, Shelf};
use parcels::Parcels;

/// What the hand does, and what it has put over the panels.
#[derive(Default)]
pub(super) struct Editing {
    pub(super) marks: Marks,
    holding: Option<Holding>,
    /// How often something was filled: another soup each time.
    fills: u64,
    /// What is to be saved, until it is.
    unsaved: Option<files::Saving>,
    /// The path that was tried.
    tried: String,
    parcels: Parcels,
}

/// What the left button's being down does.
enum Holding {
    /// Draws, in an instance, from this cell on.
    Stroke {
        instance: usize,
        place: usize,
        last: [i64; 2],
        alive: bool,
    },
    /// Spans a selection from here.
    Selecting {
        instance: usize,
        place: usize,
        from: [u32; 2],
    },
    /// Nothing more: it has placed something.
    Placed,
}

impl<W: World> Handler<W> {
    /// Does what a person asked of the lattices by a key; whether that was it.
    pub(super) fn edit_action(&mut self, action: Action) -> bool {
        match action {
            Action::TogglePencil => {
                self.editing.marks.pencil ^= true;
                let on = self.editing.marks.pencil;
                let what = if on {
                    tr!("on: drag to draw")
                } else {
                    tr!("off")
                };
                self.note(tr!("pencil {what}", what = what));
            }
            Action::SelectAll => {
                if let Some(status) = self.status() {
                    let all = Area::whole(status.size);
                    self.editing.marks.selection = Some((status.selected, all));
                }
            }
            Action::ClearSelection => self.change_selection(Change::Clear),
            Action::FillRandomly => {
                self.editing.fills += 1;
                let seed = self.editing.fills;
                let density = 0.5;
                self.change_selection(|area| Change::Fill {
                    area,
                    density,
                    seed,
                });
            }
            Action::FlipSideways | Action::FlipUpsideDown => {
                let sideways = action == Action::FlipSideways;
                self.change_selection(|area| Change::Flip { area, sideways });
            }
            Action::TurnLeft | Action::TurnRight => {
                self.turn_selection(action == Action::TurnRight);
            }
            Action::TurnGhostLeft | Action::TurnGhostRight => {
                if let Some(ghost) = &mut self.editing.marks.ghost {
                    let clockwise = action == Action::TurnGhostRight;
                    ghost.pattern = Arc::new(Change::turned(&ghost.pattern, clockwise));
                }
            }
            Action::CopyCells => self.copy_cells(),
            Action::PastePattern => self.paste(),
            Action::OpenPattern => self.ask_for_file(true),
            Action::SavePattern => self.ask_for_file(false),
            Action::ToggleShelf => {
                self.dialogs.shelf = match self.dialogs.shelf.take() {
                    None => Some(Shelf::default()),
                    Some(_) => None,
                };
            }
            _ => return false,
        }
        true
    }

    /// Drops what is held over the panels; whether there was anything.
    pub(super) fn drop_marks(&mut self) -> bool {
        let marks = &mut self.editing.marks;
        marks.ghost.take().is_some()
            || marks.selection.take().is_some()
            || std::mem::take(&mut marks.pencil)
    }

    /// The selection, or all of the selected panel.
    pub(super) fn selected_area(&self, status: &Status) -> (usize, Area) {
        let whole = (status.selected, Area::whole(status.size));
        self.editing.marks.selection.unwrap_or(whole)
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
        if wide > status.size.height() || high > status.size.width() {
            return self.note(tr!(
                "{wide}x{high} cells cannot be turned on a lattice of {}",
                status.size,
                wide = wide,
                high = high
            ));
        }
        self.edit(instance, Change::Turn { area, clockwise }, false);
    }

    /// Sends an edit on its way, and shows that it is.
    fn edit(&mut self, instance: usize, change: Change, joins: bool) {
        let edit = Edit {
            instance,
            change: change.clone(),
            joins,
        };
        if let Some(number) = self.world.as_ref().and_then(|world| world.edit(edit)) {
            self.editing.marks.pending.push_back(Pending {
                instance,
                number,
                change,
            });
        }
        self.pacer.want(Instant::now());
    }

    /// The left button went down; whether the hand took it.
    pub(super) fn hand_pressed(&mut self, spot: Option<Spot>) -> bool {
        let Some(Spot::Panel(place)) = spot.filter(|_| !self.view.help) else {
            return false;
        };
        let (Some(at), Some(status)) = (self.pointer.at, self.status()) else {
            return false;
        };
        let Some((instance, cell)) = self.cell_at(place, at) else {
            return false;
        };
        let shift = self.modifiers.shift_key();
        if let Some(ghost) = &mut self.editing.marks.ghost {
            ghost.at = Some((instance, cell));
            self.place_ghost(&status, shift);
            self.editing.holding = Some(Holding::Placed);
        } else if shift {
            let from = within(cell, &status);
            self.editing.marks.selection = None;
            self.editing.holding = Some(Holding::Selecting {
                instance,
                place,
                from,
            });
        } else if self.editing.marks.pencil {
            let first = within(cell, &status);
            let alive = !self.is_alive(instance, first);
            let cells = [first].into();
            self.editing.holding = Some(Holding::Stroke {
                instance,
                place,
                last: cell,
                alive,
            });
            self.edit(instance, Change::Draw { cells, alive }, false);
        } else {
            return false;
        }
        if let (Some(world), None) = (&self.world, self.only()) {
            world.act(Action::Select(instance));
        }
        true
    }

    /// The pointer moved; whether the hand took it.
    pub(super) fn hand_moved(&mut self) -> bool {
        if self.editing.marks.ghost.is_some() {
            self.move_ghost();
        }
        let (Some(at), Some(status)) = (self.pointer.at, self.status()) else {
            return false;
        };
        let place = match &self.editing.holding {
            Some(Holding::Stroke { place, .. } | Holding::Selecting { place, .. }) => *place,
            Some(Holding::Placed) => return true,
            None => return false,
        };
        let Some((_, cell)) = self.cell_at(place, at) else {
            return true;
        };
        match &mut self.editing.holding {
            Some(Holding::Stroke {
                instance,
                last,
                alive,
                ..
            }) if *last != cell => {
                let (instance, alive) = (*instance, *alive);
                let cells = line(std::mem::replace(last, cell), cell);
                let inside = |&[x, y]: &[i64; 2]| {
                    let at = |at: i64, side: u32| (0..i64::from(side)).contains(&at);
                    at(x, status.size.width()) && at(y, status.size.height())
                };
                let cells: Arc<[_]> = cells
                    .filter(inside)
                    .map(|cell| cell.map(|at| at as u32))
                    .collect();
                if !cells.is_empty() {
                    self.edit(instance, Change::Draw { cells, alive }, true);
                }
            }
            Some(Holding::Selecting { instance, from, .. }) => {
                let area = Area::spanned(*from, within(cell, &status));
                self.editing.marks.selection = Some((*instance, area));
                self.pacer.want(Instant::now());
            }
            _ => {}
        }
        true
    }

    /// The left button came up; whether the hand had it.
    pub(super) fn hand_released(&mut self) -> bool {
        self.editing.holding.take().is_some()
    }

    /// A pattern is taken, to be placed by a click.
    pub(super) fn take_ghost(&mut self, pattern: Lattice) {
        self.editing.marks.ghost = Some(Ghost {
            pattern: Arc::new(pattern),
            at: None,
        });
        self.move_ghost();
        self.note(tr!("click to place it, Q and W turn it, Esc drops it").into());
    }

    fn move_ghost(&mut self) {
        let spot = self.spot_under_pointer();
        let over = match (spot, self.pointer.at) {
            (Some(Spot::Panel(place)), Some(at)) => self.cell_at(place, at),
            _ => None,
        };
        if let Some(ghost) = &mut self.editing.marks.ghost
            && ghost.at != over
        {
            ghost.at = over;
            self.pacer.want(Instant::now());
        }
    }

    fn place_ghost(&mut self, status: &Status, stays: bool) {
        let Some(ghost) = &self.editing.marks.ghost else {
            return;
        };
        let Some((instance, [x, y])) = ghost.corner() else {
            return;
        };
        let around = |at: i64, side: u32| at.rem_euclid(side.into()) as u32;
        let (pattern, all) = (ghost.pattern.clone(), status.size);
        if pattern.size().width() > all.width() || pattern.size().height() > all.height() {
            let size = pattern.size();
            return self.note(tr!(
                "it is {size}, larger than the lattice {all}",
                size = size,
                all = all
            ));
        }
        let change = Change::Place {
            pattern,
            at: [around(x, all.width()), around(y, all.height())],
            dead_too: false,
        };
        if !stays {
            self.editing.marks.ghost = None;
        }
        self.edit(instance, change, false);
    }

    /// The instance that a place shows, and the cell there that is under a point; it may lie beyond
    /// the lattice.
    fn cell_at(&self, place: usize, at: [f64; 2]) -> Option<(usize, [i64; 2])> {
        let status = self.status()?;
        let frame = self.frame(Some(&status))?;
        let (layout, _) = frame.layout()?;
        let instance = frame.only().unwrap_or(place);
        let look = frame
            .camera_of(instance)
            .shown(status.size, layout.tiling.panel);
        let rect = layout.tiling.rect(place);
        let pixel = [at[0] - f64::from(rect.x), at[1] - f64::from(rect.y)];
        let cell = look.to_cells(pixel).map(|at| at.floor() as i64);
        Some((instance, cell))
    }

    fn only(&self) -> Option<usize> {
        let status = self.status()?;
        self.frame(Some(&status))?.only()
    }

    fn clipboard(&mut self) -> Option<String> {
        self.screen.as_mut()?.input.clipboard()
    }

    fn set_clipboard(&mut self, text: String) {
        if let Some(screen) = &mut self.screen {
            screen.input.set_clipboard(text);
        }
    }

    /// Whether a cell is alive, by the newest picture and what is on its way.
    fn is_alive(&self, instance: usize, cell: [u32; 2]) -> bool {
        if let Some(will_be) = self.editing.marks.will_be(instance, cell) {
            return will_be;
        }
        let (Some(world), Some(status)) = (&self.world, self.status()) else {
            return false;
        };
        let mut seen = vec![u64::MAX; status.instances];
        seen[instance] = 0;
        let mut alive = false;
        world.visit_newer(&mut seen, &mut |of, picture, words| {
            if of == instance {
                alive = picture.is_alive(status.size, cell, words);
            }
        });
        alive
    }
}

/// The nearest cell of the lattice.
fn within([x, y]: [i64; 2], status: &Status) -> [u32; 2] {
    let near = |at: i64, side: u32| at.clamp(0, i64::from(side) - 1) as u32;
    [near(x, status.size.width()), near(y, status.size.height())]
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
}
