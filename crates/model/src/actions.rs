//! What a person can ask for, and the one table of keys that window, terminal, help and README
//! are made from. It knows no toolkit.

pub mod groups;

use std::fmt;

use crate::Switch;

/// Something a person asked for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Action {
    /// Runs, or pauses.
    TogglePause,
    /// Pauses, and steps every instance one generation.
    StepGeneration,
    /// Pauses, and makes one round.
    StepRound,
    /// Pauses, and goes one generation back.
    StepBack,
    /// Pauses, and goes one round back.
    RoundBack,
    /// Pauses while a lesson is open; or goes on, if it ran then and nobody has paused or stepped it
    /// since.
    PauseForLesson(bool),
    /// Runs until the selected instance is at this generation, or goes back to it.
    RunTo(u64),
    /// Asks for a generation to run to.
    AskGeneration,
    /// Stops by itself never, when the selected panel is still or periodic, or when all are.
    NextStopWhenStill,
    /// Fills panels that died down with new soups, or leaves them.
    ToggleReseed,
    /// Whether populations are to be measured: somebody looks at them.
    WatchPopulation(bool),
    /// Population, births and deaths over time, or not.
    TogglePopulation,
    /// That of all panels together, or of the selected one.
    PopulationOfAll,
    /// More rounds a second, up to as many as the engine makes.
    Faster,
    /// Fewer rounds a second.
    Slower,
    /// Sets the selected instance back to its start.
    ResetPanel,
    /// Sets every instance back to its start.
    ResetAll,
    /// Fills every instance with a new soup, of the next seed.
    NewSeed,
    /// The next kernel that takes this size.
    NextKernel,
    /// The previous kernel that takes this size.
    PreviousKernel,
    /// A drag draws, or it moves the view.
    TogglePencil,
    /// Selects all of the selected panel's lattice.
    SelectAll,
    /// Makes every cell of the selection dead.
    ClearSelection,
    /// Fills the selection, half of it alive.
    FillRandomly,
    /// Left and right of the selection change places.
    FlipSideways,
    /// Top and bottom of the selection change places.
    FlipUpsideDown,
    /// Turns the selection against the clock.
    TurnLeft,
    /// Turns the selection with the clock.
    TurnRight,
    /// Turns the pattern that is to be placed against the clock.
    TurnGhostLeft,
    /// Turns the pattern that is to be placed with the clock.
    TurnGhostRight,
    /// The selection into the clipboard, as RLE.
    CopyCells,
    /// Takes the clipboard's pattern, to be placed.
    PastePattern,
    /// Opens a pattern file in the selected panel.
    OpenPattern,
    /// Saves the selection to a pattern file.
    SavePattern,
    /// The patterns that come with the program, or not.
    ToggleShelf,
    /// The lattice as it was before its last edit.
    Undo,
    /// The lattice as it was before the last undoing.
    Redo,
    /// Selects the next panel.
    SelectNext,
    /// Selects the previous panel.
    SelectPrevious,
    /// Selects this panel.
    Select(usize),
    /// The selected panel alone, or all again.
    ToggleSingle,
    /// Closer.
    ZoomIn,
    /// Farther.
    ZoomOut,
    /// Moves the view left.
    PanLeft,
    /// Moves the view right.
    PanRight,
    /// Moves the view up.
    PanUp,
    /// Moves the view down.
    PanDown,
    /// The whole lattice; where it is shown, the part from before.
    Fit,
    /// The next position of a switch that can be.
    NextOf(Switch),
    /// This position of a switch.
    Choose(Switch, u8),
    /// What every rung reaches, beside what the present kernel does, or not.
    ToggleLadder,
    /// Two settings side by side on two halves of the panels, or one again.
    ToggleHalves,
    /// The switches and the code that they make, or not.
    ToggleLab,
    /// When each block ran on which multiprocessor, beneath the timeline, or not.
    ToggleBlocks,
    /// Whether the overlap of a round's work is to be measured: somebody looks at it.
    WatchOverlap(bool),
    /// The list of lessons, or not.
    ToggleLessons,
    /// The lesson's next page.
    NextPage,
    /// The lesson's page before.
    PreviousPage,
    /// The timeline of every stream, or not.
    ToggleTimeline,
    /// Grid lines, where cells are large enough.
    ToggleGridLines,
    /// A camera for each panel, or one for all.
    ToggleSeparate,
    /// The whole lattice, small, where a part is seen, or not.
    ToggleMinimap,
    /// Colours by state, by age, by history.
    NextColourBy,
    /// The next theme.
    NextColours,
    /// Live and dead change colours.
    Invert,
    /// Fullscreen, or back.
    ToggleFullscreen,
    /// The window's picture to a PNG file.
    SavePicture,
    /// This kernel, by its place in the table of them.
    UseKernel(u8),
    /// The command palette, or not.
    ToggleCommands,
    /// The menu, or not.
    ToggleMenu,
    /// No chrome and large type, or back.
    TogglePresentation,
    /// Larger type and figures.
    EnlargeInterface,
    /// Smaller type and figures.
    ReduceInterface,
    /// Type and figures of the usual size.
    UsualInterface,
    /// The interface in the other language.
    NextLanguage,
    /// The selected panel's picture to a PNG file.
    SavePanelPicture,
    /// Begins to record the window, or ends it.
    ToggleRecording,
    /// The session to its file.
    SaveSession,
    /// Shows the keys, or hides them.
    ToggleHelp,
    /// Unwinds dialogs, help, lesson, timeline, lab or ladder, single panel, presentation, fullscreen, in this order; never quits.
    Escape,
    /// Leaves.
    Quit,
}

impl Action {
    /// Whether it steps, changes or times lattices: it comes to nothing once the session has ended.
    pub fn needs_engine(self) -> bool {
        match self {
            Action::TogglePause
            | Action::StepGeneration
            | Action::StepRound
            | Action::StepBack
            | Action::RoundBack
            | Action::RunTo(_)
            | Action::AskGeneration
            | Action::NextStopWhenStill
            | Action::ToggleReseed
            | Action::Faster
            | Action::Slower
            | Action::ResetPanel
            | Action::ResetAll
            | Action::NewSeed
            | Action::UseKernel(_)
            | Action::NextKernel
            | Action::PreviousKernel
            | Action::NextOf(_)
            | Action::Choose(..)
            | Action::ToggleHalves
            | Action::ToggleBlocks
            | Action::TogglePencil
            | Action::ClearSelection
            | Action::FillRandomly
            | Action::FlipSideways
            | Action::FlipUpsideDown
            | Action::TurnLeft
            | Action::TurnRight
            | Action::TurnGhostLeft
            | Action::TurnGhostRight
            | Action::PastePattern
            | Action::OpenPattern
            | Action::ToggleShelf
            | Action::Undo
            | Action::Redo => true,
            // What looks at the last pictures, saves them, or is the window's own.
            Action::PauseForLesson(_)
            | Action::WatchPopulation(_)
            | Action::TogglePopulation
            | Action::PopulationOfAll
            | Action::WatchOverlap(_)
            | Action::SelectAll
            | Action::CopyCells
            | Action::SavePattern
            | Action::SelectNext
            | Action::SelectPrevious
            | Action::Select(_)
            | Action::ToggleSingle
            | Action::ZoomIn
            | Action::ZoomOut
            | Action::PanLeft
            | Action::PanRight
            | Action::PanUp
            | Action::PanDown
            | Action::Fit
            | Action::ToggleLadder
            | Action::ToggleLab
            | Action::ToggleLessons
            | Action::NextPage
            | Action::PreviousPage
            | Action::ToggleTimeline
            | Action::ToggleGridLines
            | Action::ToggleSeparate
            | Action::ToggleMinimap
            | Action::NextColourBy
            | Action::NextColours
            | Action::Invert
            | Action::ToggleFullscreen
            | Action::SavePicture
            | Action::ToggleCommands
            | Action::ToggleMenu
            | Action::TogglePresentation
            | Action::EnlargeInterface
            | Action::ReduceInterface
            | Action::UsualInterface
            | Action::NextLanguage
            | Action::SavePanelPicture
            | Action::ToggleRecording
            | Action::SaveSession
            | Action::ToggleHelp
            | Action::Escape
            | Action::Quit => false,
        }
    }
}

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

impl fmt::Display for Chord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.ctrl {
            write!(f, "Ctrl+")?;
        }
        if self.shift {
            write!(f, "Shift+")?;
        }
        match self.key {
            Key::Char('-') => write!(f, "−"),
            Key::Char(c) => write!(f, "{c}"),
            Key::Escape => write!(f, "Esc"),
            Key::PageUp => write!(f, "PgUp"),
            Key::PageDown => write!(f, "PgDn"),
            Key::Left => write!(f, "←"),
            Key::Right => write!(f, "→"),
            Key::Up => write!(f, "↑"),
            Key::Down => write!(f, "↓"),
            Key::F(n) => write!(f, "F{n}"),
            named => write!(f, "{named:?}"),
        }
    }
}

/// A row of the key table.
#[derive(Debug)]
pub struct Binding {
    /// What it does.
    pub action: Action,
    /// The keys, the first one shown first.
    pub chords: &'static [Chord],
    /// The mouse's way, in words, if there is one.
    pub mouse: &'static str,
    /// What it does, in a few words.
    pub help: &'static str,
}

const fn key(key: Key) -> Chord {
    Chord {
        key,
        shift: false,
        ctrl: false,
    }
}
const fn shifted(key: Key) -> Chord {
    Chord {
        key,
        shift: true,
        ctrl: false,
    }
}
const fn char(c: char) -> Chord {
    key(Key::Char(c))
}
const fn shift(c: char) -> Chord {
    Chord {
        key: Key::Char(c),
        shift: true,
        ctrl: false,
    }
}
const fn ctrl(c: char) -> Chord {
    Chord {
        key: Key::Char(c),
        shift: false,
        ctrl: true,
    }
}
const fn row(
    action: Action,
    chords: &'static [Chord],
    mouse: &'static str,
    help: &'static str,
) -> Binding {
    Binding {
        action,
        chords,
        mouse,
        help,
    }
}

/// Every key there is.
pub static KEYS: &[Binding] = &[
    row(
        Action::TogglePause,
        &[key(Key::Space), key(Key::Enter)],
        "",
        "run / pause",
    ),
    row(Action::StepGeneration, &[char('.')], "", "one generation"),
    row(Action::StepRound, &[key(Key::Tab)], "", "one round"),
    row(
        Action::StepBack,
        &[key(Key::Backspace)],
        "",
        "one generation back",
    ),
    row(
        Action::RoundBack,
        &[shifted(Key::Backspace)],
        "",
        "one round back",
    ),
    row(
        Action::AskGeneration,
        &[char(':'), ctrl('G')],
        "",
        "run to a generation, or back to it",
    ),
    row(
        Action::NextStopWhenStill,
        &[char('S')],
        "",
        "stop when still or periodic: never / the selected panel / all",
    ),
    row(
        Action::ToggleReseed,
        &[char('U')],
        "",
        "new soups for panels that died down",
    ),
    row(
        Action::Faster,
        &[char('+'), char('=')],
        "",
        "faster, up to unthrottled",
    ),
    row(Action::Slower, &[char('-')], "", "slower"),
    row(
        Action::ResetPanel,
        &[char('R')],
        "",
        "reset the selected panel",
    ),
    row(Action::ResetAll, &[shift('R')], "", "reset all panels"),
    row(Action::NewSeed, &[char('N')], "", "new seed"),
    row(Action::NextKernel, &[char('K')], "", "next kernel"),
    row(Action::PreviousKernel, &[shift('K')], "", "previous kernel"),
    row(
        Action::TogglePencil,
        &[char('D')],
        "",
        "pencil: a drag draws, or erases if it begins on a live cell",
    ),
    row(
        Action::SelectAll,
        &[ctrl('A')],
        "Shift+drag",
        "select a part of a lattice, or all of it",
    ),
    row(
        Action::ClearSelection,
        &[key(Key::Delete)],
        "",
        "clear the selection, or the panel",
    ),
    row(
        Action::FillRandomly,
        &[ctrl('5')],
        "",
        "fill the selection at random",
    ),
    row(
        Action::FlipSideways,
        &[shift('X')],
        "",
        "flip the selection sideways",
    ),
    row(
        Action::FlipUpsideDown,
        &[shift('Y')],
        "",
        "flip the selection upside down",
    ),
    row(
        Action::TurnLeft,
        &[char('<')],
        "",
        "turn the selection to the left",
    ),
    row(
        Action::TurnRight,
        &[char('>')],
        "",
        "turn the selection to the right",
    ),
    row(Action::CopyCells, &[ctrl('C')], "", "copy the selection"),
    row(
        Action::PastePattern,
        &[ctrl('V')],
        "",
        "take the clipboard's pattern; a click places it",
    ),
    row(
        Action::TurnGhostLeft,
        &[char('Q')],
        "",
        "turn a pattern that is to be placed to the left",
    ),
    row(Action::TurnGhostRight, &[char('W')], "", "and to the right"),
    row(
        Action::OpenPattern,
        &[ctrl('O')],
        "drop a file",
        "open a pattern in the selected panel",
    ),
    row(
        Action::SavePattern,
        &[ctrl('S')],
        "",
        "save the selection, or the panel",
    ),
    row(
        Action::ToggleShelf,
        &[char('L')],
        "",
        "the shelf of patterns",
    ),
    row(Action::Undo, &[ctrl('Z')], "", "undo the last edit"),
    row(Action::Redo, &[ctrl('Y')], "", "redo"),
    row(
        Action::SelectNext,
        &[key(Key::PageDown)],
        "click",
        "select the next panel",
    ),
    row(
        Action::SelectPrevious,
        &[key(Key::PageUp)],
        "",
        "select the previous panel",
    ),
    row(
        Action::ToggleSingle,
        &[char('E')],
        "double click",
        "the selected panel alone / all again",
    ),
    row(Action::ZoomIn, &[char(']')], "wheel", "zoom in"),
    row(Action::ZoomOut, &[char('[')], "wheel", "zoom out"),
    row(Action::PanLeft, &[key(Key::Left)], "drag", "move left"),
    row(Action::PanRight, &[key(Key::Right)], "drag", "move right"),
    row(Action::PanUp, &[key(Key::Up)], "drag", "move up"),
    row(Action::PanDown, &[key(Key::Down)], "drag", "move down"),
    row(
        Action::Fit,
        &[char('F')],
        "",
        "the whole lattice / the part from before",
    ),
    row(
        Action::NextOf(Switch::Streams),
        &[key(Key::F(2))],
        "",
        "streams: one each / one for all / the default stream / one batch",
    ),
    row(
        Action::NextOf(Switch::HostMemory),
        &[key(Key::F(3))],
        "",
        "host memory: page-locked / pageable",
    ),
    row(
        Action::NextOf(Switch::Wait),
        &[key(Key::F(4))],
        "",
        "wait: poll events / for each stream / for all at once",
    ),
    row(
        Action::NextOf(Switch::Order),
        &[key(Key::F(5))],
        "",
        "order of issue: breadth-first / depth-first",
    ),
    row(
        Action::NextOf(Switch::Graphs),
        &[key(Key::F(6))],
        "",
        "graphs on / off",
    ),
    row(
        Action::NextOf(Switch::Transfer),
        &[key(Key::F(7))],
        "",
        "transfer: auto / bits / view / i32",
    ),
    row(
        Action::NextOf(Switch::Block),
        &[key(Key::F(8))],
        "",
        "shape of the kernel's blocks",
    ),
    row(
        Action::ToggleHalves,
        &[char('B')],
        "",
        "A and B: two settings on two halves of the panels",
    ),
    row(
        Action::ToggleLab,
        &[key(Key::F(9))],
        "",
        "the switches, and the calls that they make",
    ),
    row(Action::ToggleLessons, &[key(Key::F(10))], "", "lessons"),
    row(
        Action::ToggleTimeline,
        &[char('T')],
        "",
        "the streams' timeline",
    ),
    row(
        Action::ToggleBlocks,
        &[char('M')],
        "",
        "which multiprocessor ran which block when",
    ),
    row(
        Action::ToggleLadder,
        &[shift('G')],
        "",
        "the ladder of kernels, and where the present one is",
    ),
    row(
        Action::TogglePopulation,
        &[char('Y')],
        "",
        "population, births and deaths over time",
    ),
    row(
        Action::PopulationOfAll,
        &[char('A')],
        "",
        "the population of all panels / of the selected one",
    ),
    row(Action::ToggleGridLines, &[char('X')], "", "grid lines"),
    row(
        Action::ToggleSeparate,
        &[char('V')],
        "",
        "a camera for each panel / one for all",
    ),
    row(
        Action::ToggleMinimap,
        &[shift('M')],
        "",
        "minimap of a zoomed panel; click or drag in it",
    ),
    row(Action::NextColours, &[char('C')], "", "next theme"),
    row(
        Action::NextColourBy,
        &[shift('C')],
        "",
        "colour by state / by age / by history",
    ),
    row(Action::Invert, &[char('I')], "", "invert the colours"),
    row(
        Action::ToggleFullscreen,
        &[key(Key::F(11))],
        "",
        "fullscreen",
    ),
    row(Action::SavePicture, &[char('O')], "", "picture to a PNG"),
    row(
        Action::TogglePresentation,
        &[char('P')],
        "",
        "presentation: no chrome, large type",
    ),
    row(
        Action::EnlargeInterface,
        &[ctrl('+'), ctrl('=')],
        "",
        "larger interface",
    ),
    row(
        Action::ReduceInterface,
        &[ctrl('-')],
        "",
        "smaller interface",
    ),
    row(
        Action::UsualInterface,
        &[ctrl('0')],
        "",
        "interface of the usual size",
    ),
    row(
        Action::NextLanguage,
        &[shift('L')],
        "",
        "language: English / Chinese",
    ),
    row(
        Action::ToggleCommands,
        &[ctrl('K')],
        "",
        "find a command by name",
    ),
    row(Action::ToggleMenu, &[ctrl('M')], "menu button", "the menu"),
    row(
        Action::SavePanelPicture,
        &[Chord {
            key: Key::Char('O'),
            shift: true,
            ctrl: true,
        }],
        "",
        "the selected panel's picture to a PNG",
    ),
    row(
        Action::ToggleRecording,
        &[shift('O')],
        "",
        "record the window, until pressed again",
    ),
    row(
        Action::SaveSession,
        &[shift('S')],
        "",
        "save the session to its file (--session)",
    ),
    row(
        Action::ToggleHelp,
        &[char('H'), char('?'), key(Key::F(1))],
        "",
        "these keys",
    ),
    row(
        Action::Escape,
        &[key(Key::Escape)],
        "",
        "leave dialogs, docks, presentation, fullscreen in turn",
    ),
    row(Action::Quit, &[ctrl('Q')], "", "quit"),
];

/// What a chord asks for, if anything.
pub fn action_for(chord: Chord) -> Option<Action> {
    // A sign is itself however it is typed: '?' and '+' need Shift on some keyboards.
    let shift_counts = !matches!(chord.key, Key::Char(c) if !c.is_alphabetic());
    let chord = Chord {
        shift: chord.shift && shift_counts,
        ..chord
    };
    KEYS.iter()
        .find(|row| row.chords.contains(&chord))
        .map(|row| row.action)
}

impl Binding {
    /// What it does, in the reader's language.
    pub fn help(&self) -> &'static str {
        lang::text(self.help)
    }

    /// The keys and the mouse's way, as help and README show them: `Space, Enter`.
    pub fn keys(&self) -> String {
        let mut names: Vec<String> = self.chords.iter().map(Chord::to_string).collect();
        if !self.mouse.is_empty() {
            names.push(lang::text(self.mouse).into());
        }
        names.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_two_rows_share_a_chord_or_an_action() {
        let mut chords = HashSet::new();
        let mut actions = HashSet::new();
        for row in KEYS {
            assert!(actions.insert(row.action), "{:?} stands twice", row.action);
            for chord in row.chords {
                assert!(chords.insert(*chord), "{chord} stands twice");
                assert_eq!(action_for(*chord), Some(row.action));
            }
        }
    }

    #[test]
    fn shift_counts_for_letters_alone() {
        let typed = |c, shift| {
            action_for(Chord {
                key: Key::Char(c),
                shift,
                ctrl: false,
            })
        };
        assert_eq!(typed('?', true), Some(Action::ToggleHelp));
        assert_eq!(typed('+', true), Some(Action::Faster));
        assert_eq!(typed('R', false), Some(Action::ResetPanel));
        assert_eq!(typed('R', true), Some(Action::ResetAll));
        assert_eq!(typed('Z', false), None);
    }
}
