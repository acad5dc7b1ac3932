//! What a person can ask for, and the one table of it.
//!
//! An [`Action`] is what a key, a menu line, a button or a command of the palette stands for. The
//! [table](TABLE) has one [`Row`] for each: its keys, help text, [`Topic`], search words, whether it is
//! on, and why it is impossible. Help, palette, menu, man page and the generated documents are made from
//! the table, so that a new action shows up everywhere. Nothing here knows a toolkit.

use session::SessionAction;
use std::fmt;

pub mod search;
mod setting;
mod table;

pub use setting::{Position, Setting};
pub use table::{Row, TABLE, Topic, action_for, row_for};

/// Something a person asked for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Action {
    /// The session does it, on its own thread.
    Session(SessionAction),
    /// A front end does it: it concerns what is shown, and how.
    View(ViewAction),
    /// A front end does it: it concerns the selection, the clipboard and pattern files.
    Edit(EditAction),
}

impl From<SessionAction> for Action {
    fn from(action: SessionAction) -> Action {
        Action::Session(action)
    }
}

impl From<ViewAction> for Action {
    fn from(action: ViewAction) -> Action {
        Action::View(action)
    }
}

impl From<EditAction> for Action {
    fn from(action: EditAction) -> Action {
        Action::Edit(action)
    }
}

/// What a front end does with what it shows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(test, derive(strum::VariantNames))]
pub enum ViewAction {
    /// Asks for a value.
    Prompt(Setting),
    /// Shows or hides what keeps streams from overlapping.
    ToggleCauses,
    /// Shows or hides population, births and deaths over time.
    TogglePopulation,
    /// Shows the population of all panels together, or of the selected one.
    TogglePopulationOfAll,
    /// Shows the selected panel alone, or all again.
    ToggleSingle,
    /// Zooms in.
    ZoomIn,
    /// Zooms out.
    ZoomOut,
    /// Moves the view left.
    PanLeft,
    /// Moves the view right.
    PanRight,
    /// Moves the view up.
    PanUp,
    /// Moves the view down.
    PanDown,
    /// The whole lattice; where it is shown already, the part from before.
    Fit,
    /// Shows or hides what every kernel of the ladder reaches.
    ToggleLadder,
    /// Shows or hides the present kernel's source and what changed from the rung before it.
    ToggleSource,
    /// Shows or hides the switches and the CUDA calls that they make.
    ToggleLab,
    /// Opens or closes the editor of a round of one's own.
    ToggleEditor,
    /// Runs what is in the editor.
    RunRound,
    /// Opens or closes the list of lessons.
    ToggleLessons,
    /// Measures rounds per second by the number of instances, in the lesson of it.
    MeasureSpeedup,
    /// Takes the lecture up where it was left, or leaves it.
    ToggleLecture,
    /// The next step of the lesson or the lecture.
    NextPage,
    /// The previous step of the lesson or the lecture.
    PreviousPage,
    /// Measures the open lesson again.
    MeasureAgain,
    /// This choice is what the class predicts in the open lesson or lecture.
    Predict(u8),
    /// Shows or hides the timeline of every stream.
    ToggleTimeline,
    /// Shows or hides lines between cells that are large enough.
    ToggleGridLines,
    /// Shows or hides a small picture of the whole lattice where only a part is seen.
    ToggleMinimap,
    /// Colours by state, by age, by history.
    NextColourMode,
    /// The next theme.
    NextTheme,
    /// Fullscreen, or back.
    ToggleFullscreen,
    /// Saves the window's picture as PNG.
    SavePicture,
    /// The selected panel's picture to a PNG file.
    SavePanelPicture,
    /// Starts or ends a recording of the window.
    ToggleRecording,
    /// Opens or closes the command palette.
    ToggleCommands,
    /// Opens or closes the menu.
    ToggleMenu,
    /// Large type and no side panels, or back.
    TogglePresentation,
    /// Larger type and figures.
    EnlargeInterface,
    /// Smaller type and figures.
    ReduceInterface,
    /// Type and figures of the default size.
    DefaultInterface,
    /// The interface in the other language.
    NextLanguage,
    /// Shows or hides the keys.
    ToggleHelp,
    /// Closes the first of these that is open: dialog, pasted pattern, selection, tool, lesson,
    /// timeline, side panel, single panel, lecture, presentation, fullscreen. It never quits.
    Escape,
    /// Quits the program.
    Quit,
}

/// What a front end does with cells, before the session hears of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(test, derive(strum::VariantNames))]
pub enum EditAction {
    /// Switches the pencil on or off: whether a drag draws or moves the view.
    TogglePencil,
    /// Whether the next drag selects an area or moves the view.
    ToggleAreaSelection,
    /// Selects all of the selected panel's lattice.
    SelectAll,
    /// Makes every cell of the selection dead.
    ClearSelection,
    /// Fills the selection, half of it alive.
    FillRandomly,
    /// Swaps left and right of the selection.
    FlipHorizontal,
    /// Swaps top and bottom of the selection.
    FlipVertical,
    /// Rotates the selection counter-clockwise.
    RotateLeft,
    /// Rotates the selection clockwise.
    RotateRight,
    /// Copies the selection to the clipboard, as RLE.
    CopyCells,
    /// The same, and makes every cell of it dead.
    CutCells,
    /// Takes the clipboard's pattern; a click places it.
    PastePattern,
    /// Opens a pattern file in the selected panel, or a saved session in place of the present one.
    OpenPattern,
    /// Saves the selection to a pattern file.
    SavePattern,
    /// Opens or closes the shelf of patterns that come with the program.
    ToggleShelf,
}

// Keys and chords, as help, docs and both front ends name them.

/// A key, whatever the toolkit calls it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Key {
    /// A character, letters in upper case.
    Char(char),
    /// The space bar.
    Space,
    /// Enter.
    Enter,
    /// Tab.
    Tab,
    /// Escape.
    Escape,
    /// Backspace.
    Backspace,
    /// Delete.
    Delete,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// Arrow.
    Left,
    /// Arrow.
    Right,
    /// Arrow.
    Up,
    /// Arrow.
    Down,
    /// A function key.
    F(u8),
}

/// A key with its modifiers. Shift counts for letters and named keys; a sign such as `+` is
/// itself, however it is typed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Chord {
    /// The key.
    pub key: Key,
    /// With Shift.
    pub shift: bool,
    /// With Ctrl.
    pub ctrl: bool,
}

/// The keys that are no character as it is typed, and their names.
const NAMES: [(Key, &str); 13] = [
    (Key::Char('-'), "−"),
    (Key::Space, "Space"),
    (Key::Enter, "Enter"),
    (Key::Tab, "Tab"),
    (Key::Escape, "Esc"),
    (Key::Backspace, "Backspace"),
    (Key::Delete, "Delete"),
    (Key::PageUp, "PgUp"),
    (Key::PageDown, "PgDn"),
    (Key::Left, "←"),
    (Key::Right, "→"),
    (Key::Up, "↑"),
    (Key::Down, "↓"),
];

impl fmt::Display for Chord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.ctrl {
            write!(f, "Ctrl+")?;
        }
        if self.shift {
            write!(f, "Shift+")?;
        }
        match (self.key, NAMES.iter().find(|(key, _)| *key == self.key)) {
            (_, Some((_, name))) => write!(f, "{name}"),
            (Key::F(number), _) => write!(f, "F{number}"),
            (Key::Char(c), _) => write!(f, "{c}"),
            (key, None) => write!(f, "{key:?}"),
        }
    }
}

impl Chord {
    /// The chord that is displayed like this.
    pub fn named(name: &str) -> Option<Chord> {
        let without = |name, modifier| match str::strip_prefix(name, modifier) {
            Some(rest) => (true, rest),
            None => (false, name),
        };
        let (ctrl, name) = without(name, "Ctrl+");
        let (shift, name) = without(name, "Shift+");
        let number = name.strip_prefix('F').and_then(|it| it.parse().ok());
        let key = match NAMES.iter().find(|(_, its)| *its == name) {
            Some((key, _)) => *key,
            None => number.map(Key::F).or(name.chars().next().map(Key::Char))?,
        };
        Some(Chord { key, shift, ctrl })
    }

    /// Whether it types a character into a text field.
    pub fn types(self) -> bool {
        matches!(self.key, Key::Char(_) | Key::Space) && !self.ctrl
    }

    /// The chord as the table has it: a sign such as `?` or `+` is itself, however it is typed, so
    /// Shift counts for letters and named keys alone.
    fn normalized(self) -> Chord {
        let is_sign = matches!(self.key, Key::Char(c) if !c.is_alphabetic());
        Chord {
            shift: self.shift && !is_sign,
            ..self
        }
    }
}
