//! Windows of egui's own over the scene: they take keys and the mouse, and ask for actions.
//!
//! # How to add one
//! 1. A module beside [`commands`], with a struct of what the dialog holds while it is open and a
//!    `show` that lays out its widgets and pushes what they ask for. Lengths are units of type
//!    times [`DialogContext::unit`]; egui's own style is already scaled by it, so plain widgets need none.
//! 2. A field `Option<ThatStruct>` of [`Dialogs`], and a line of its own in [`Dialogs::show`],
//!    `Dialogs::open` (if it has text fields or a selection to move, and so takes keys) and
//!    [`Dialogs::escape`] (if Escape closes it). [`style::dialog`] is its frame.
//! 3. What it asks for is a [`UiRequest`]; what is no [`Action`] gets a variant there, which the
//!    window's `handler.rs` carries out.
//!
//! While a dialog takes keys, no key acts on the window but those that the action table lets act
//! [in dialogs](model::actions::Row::in_dialogs); while the mouse is over a dialog, no click, drag
//! or wheel reaches the panels.

mod commands;
mod early;
mod entries;
mod file;
mod go_to;
mod help;
mod larger;
mod menu;
mod shelf;
pub(crate) mod style;

pub use commands::Commands;
pub use file::FileDialog;
pub use go_to::GoTo;
pub use help::Help;
pub use larger::Larger;
pub use menu::Menu;
pub use shelf::Shelf;

use egui::Color32;

use crate::Frame;
use life::Shelved;
use model::Action;
use screen::theme::Palette;

/// What is open; it lives as long as the window, or as the off-screen renderer.
#[derive(Debug, Default)]
pub struct Dialogs {
    /// The command palette.
    pub commands: Option<Commands>,
    /// A path that is typed in.
    pub file: Option<FileDialog>,
    /// The shelf.
    pub shelf: Option<Shelf>,
    /// The generation to run to.
    pub go_to: Option<GoTo>,
    /// The offer of larger lattices.
    pub larger: Option<Larger>,
    /// The menu.
    pub menu: Option<Menu>,
    /// The keys.
    pub help: Option<Help>,
    /// What was typed before it could be: see [`early`].
    pub early: early::Early,
}

/// What a person asked for by a widget.
#[derive(Clone, PartialEq, Debug)]
pub enum UiRequest {
    /// As if its key had been pressed.
    Act(Action),
    /// A path was typed in, to save to or to open.
    Path(bool, String),
    /// A pattern was taken from the shelf.
    Shelved(&'static Shelved),
    /// The lesson of this place in their list.
    Lesson(usize),
    /// Larger lattices, for the oversized pattern that was opened.
    Room,
}

/// What a dialog is laid out with.
#[derive(Clone, Copy)]
pub struct DialogContext<'a> {
    /// What is shown beneath it.
    pub frame: &'a Frame<'a>,
    /// Pixels of one unit of type and spacing.
    pub unit: f32,
    /// The frame's colours.
    pub palette: &'a Palette<Color32>,
    /// The whole window, in pixels.
    pub screen: egui::Rect,
}

impl Dialogs {
    /// Lays out what is open; returns what was asked for.
    pub fn show(&mut self, context: &egui::Context, seen: DialogContext<'_>) -> Vec<UiRequest> {
        let mut asked = Vec::new();
        self.early.hold(context, self.open());
        if let Some(commands) = &mut self.commands
            && !commands.show(context, seen, &mut asked)
        {
            self.commands = None;
        }
        if let Some(file) = &mut self.file
            && !file.show(context, seen, &mut asked)
        {
            self.file = None;
        }
        if let Some(shelf) = &mut self.shelf
            && !shelf.show(context, seen, &mut asked)
        {
            self.shelf = None;
        }
        if let Some(go_to) = &mut self.go_to
            && !go_to.show(context, seen, &mut asked)
        {
            self.go_to = None;
        }
        if let Some(larger) = &mut self.larger
            && !larger.show(context, seen, &mut asked)
        {
            self.larger = None;
        }
        if let Some(menu) = &mut self.menu
            && !menu.show(context, seen, &mut asked)
        {
            self.menu = None;
        }
        if let Some(help) = &mut self.help
            && !help.show(context, seen)
        {
            self.help = None;
        }
        asked
    }

    /// Whether keys are for a dialog, and not for the window.
    pub fn takes_keys(&self) -> bool {
        self.open().contains(&true)
    }

    fn open(&self) -> early::Open {
        [
            self.commands.is_some(),
            self.file.is_some(),
            self.shelf.is_some(),
            self.go_to.is_some(),
            self.larger.is_some(),
            self.menu.is_some(),
            self.help.is_some(),
        ]
    }

    /// Closes the topmost dialog that Escape closes; whether there was one.
    pub fn escape(&mut self) -> bool {
        self.commands.take().is_some()
            || self.file.take().is_some()
            || self.shelf.take().is_some()
            || self.go_to.take().is_some()
            || self.larger.take().is_some()
            || self.menu.take().is_some()
            || self.help.take().is_some()
    }
}
