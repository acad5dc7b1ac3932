//! What a person can ask for, and the one table of it.
//!
//! An [`Action`] is what a key, a menu line, a button or a command of the palette stands for. The
//! [table](TABLE) has one [`Row`] for each: its keys, help text, [`Topic`], search words, whether it is
//! on, and why it is impossible. Help, palette, menu, man page and the generated documents are made from
//! the table, so that a new action shows up everywhere. Nothing here knows a toolkit.

pub mod search;
mod setting;

pub use setting::{Position, Setting};

use crate::theme::theme;
use crate::{App, SidePanel, Tool};
use lang::tr;
use session::{SessionAction, Status, StopWhenStill, Switch};
use std::fmt;
use std::sync::LazyLock;

use EditAction::*;
use SessionAction::*;
use Topic::*;
use ViewAction::*;

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

// The table.

/// A row of the table.
#[derive(Debug)]
pub struct Row {
    /// What is done.
    pub action: Action,
    /// Its keys, with blanks between; the first one is shown in hints.
    chords: &'static str,
    /// How the mouse does it, in words; empty where it cannot.
    pub mouse: &'static str,
    /// What it does, in a few words of English.
    pub help: &'static str,
    /// Where help, menu and documents have it.
    pub topic: Topic,
    /// Other words, in both languages, that the palette and the help's search find it by, separated
    /// by commas.
    pub search: &'static str,
    /// Whether holding its key repeats it.
    pub repeats: bool,
    /// Whether its keys act while a dialog takes the keys, unless they type into its field; it works while
    /// the engine starts, too.
    pub in_dialogs: bool,
    /// Whether the terminal has it, too.
    pub in_terminal: bool,
    /// Whether it works while the engine starts.
    before_start: bool,
    /// Whether what it switches is on.
    state: Option<fn(&App) -> bool>,
    /// The value that it changes.
    pub setting: Option<Setting>,
    /// Where what it changes stands, if that is neither on nor off nor such a value.
    position: Option<fn(&App) -> &'static str>,
    /// Why it is impossible, where the session does not say so.
    impossible: Option<fn(&App) -> Option<String>>,
}

/// A row without a topic, on the keys `chords`. What a field or a switch sets, the action says.
fn row(
    action: impl Into<Action>,
    help: &'static str,
    chords: &'static str,
    search: &'static str,
) -> Row {
    let action = action.into();
    Row {
        action,
        chords,
        mouse: "",
        help,
        topic: Time,
        search,
        repeats: false,
        in_dialogs: false,
        in_terminal: !matches!(action, Action::Edit(_)),
        before_start: false,
        state: None,
        setting: match action {
            Action::View(Prompt(setting)) => Some(setting),
            Action::Session(CycleSwitch(switch)) => Some(Setting::Switch(switch)),
            _ => None,
        },
        position: None,
        impossible: None,
    }
}

fn switch(switch: Switch, help: &'static str, search: &'static str) -> Row {
    row(CycleSwitch(switch), help, switch.key(), search)
}

impl Row {
    fn mouse(self, mouse: &'static str) -> Row {
        Row { mouse, ..self }
    }

    fn repeats(self) -> Row {
        Row {
            repeats: true,
            ..self
        }
    }

    fn in_dialogs(self) -> Row {
        Row {
            in_dialogs: true,
            ..self.before_start()
        }
    }

    fn in_window(self) -> Row {
        Row {
            in_terminal: false,
            ..self
        }
    }

    fn before_start(self) -> Row {
        Row {
            before_start: true,
            ..self
        }
    }

    fn state(self, state: fn(&App) -> bool) -> Row {
        Row {
            state: Some(state),
            ..self
        }
    }

    fn sets(self, setting: Setting) -> Row {
        Row {
            setting: Some(setting),
            ..self
        }
    }

    fn position(self, position: fn(&App) -> &'static str) -> Row {
        Row {
            position: Some(position),
            ..self
        }
    }

    fn impossible(self, why: fn(&App) -> Option<String>) -> Row {
        Row {
            impossible: Some(why),
            ..self
        }
    }

    /// What it does, in the reader's language.
    pub fn help(&self) -> &'static str {
        lang::text(self.help)
    }

    /// Its help up to a colon, in the reader's language: a sentence about it goes on with a colon of
    /// its own.
    pub fn name(&self) -> &'static str {
        let help = self.help();
        let end = [": ", "："].iter().filter_map(|colon| help.find(colon));
        &help[..end.min().unwrap_or(help.len())]
    }

    /// The keys and the mouse's way, as help and documents show them: `Space, Enter`.
    pub fn keys(&self) -> String {
        let mouse = Some(lang::text(self.mouse)).filter(|it| !it.is_empty());
        let names: Vec<&str> = self.chords.split(' ').chain(mouse).collect();
        names.join(", ")
    }

    /// Its keys.
    pub fn chords(&self) -> impl Iterator<Item = Chord> {
        self.chords.split(' ').filter_map(Chord::named)
    }

    /// Whether what it switches is on; `None` where it switches nothing on or off.
    pub fn is_on(&self, it: &App) -> Option<bool> {
        Some(self.state?(it))
    }

    /// The present position of what it switches or sets, in a word or a number; `None` where there is
    /// none.
    pub fn position_in_words(&self, it: &App) -> Option<String> {
        match (self.position, self.setting) {
            (Some(position), _) => Some(position(it).into()),
            (None, Some(setting)) => setting.value(it.status.as_ref()?),
            (None, None) => {
                let is_on = self.is_on(it)?;
                Some(if is_on { tr!("on") } else { tr!("off") }.into())
            }
        }
    }
}

impl Action {
    /// What to say when it is asked for and cannot be; `None` where it can. What depends on requests that
    /// the session's figures do not show yet is left to the session, which answers in its turn.
    pub fn refused(self, it: &App) -> Option<String> {
        let why = self.missing(it)?;
        Some(match self.row() {
            Some(row) => tr!("{what}: {why}", what = row.name()),
            None => why,
        })
    }

    /// Why it is impossible now, in the reader's language; `None` where it is possible as far as that can
    /// be known.
    pub fn unavailable(self, it: &App) -> Option<String> {
        self.missing(it).or_else(|| match self {
            Action::Session(action) => action.refusal(it.status.as_ref()?),
            Action::View(_) | Action::Edit(_) => None,
        })
    }

    fn missing(self, it: &App) -> Option<String> {
        let row = self.row();
        let needs_engine = match self {
            Action::Session(action) => action.needs_engine(),
            Action::View(action) => matches!(action, Prompt(_) | MeasureSpeedup | RunRound),
            // Cells of an ended session can still be taken from it.
            Action::Edit(action) => !matches!(
                action,
                SelectAll | ToggleAreaSelection | CopyCells | SavePattern
            ),
        };
        match &it.status {
            _ if row.is_some_and(|row| !row.in_terminal) && !it.in_window => {
                Some(tr!("only in the window").into())
            }
            None if row.is_some_and(|row| row.before_start) => None,
            None => Some(tr!("the engine is starting").into()),
            Some(status) if status.failed.is_some() && needs_engine => {
                Some(tr!("the session has ended").into())
            }
            Some(_) => row?.impossible?(it),
        }
    }
}

/// Whether a session has started that is like this.
fn has(it: &App, is: fn(&Status) -> bool) -> bool {
    it.status.as_deref().is_some_and(is)
}

/// Whether this panel is shown beside the others.
fn shows(it: &App, panel: SidePanel) -> bool {
    it.options.side == Some(panel)
}

fn holds(it: &App, tool: Tool) -> bool {
    it.edit_overlay.tool == tool
}

fn only_one_panel(it: &App) -> Option<String> {
    SelectNext.refusal(it.status.as_ref()?)
}

/// One row says all of an action that a person can ask for by a key.
pub static TABLE: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let topics = [
        (
            Time,
            vec![
                row(
                    TogglePause,
                    "Run / pause",
                    "Space Enter",
                    "start, stop, play, resume, 暂停, 开始, 停止",
                )
                .state(|it| has(it, |status| status.clock.running && status.failed.is_none())),
                row(
                    StepGeneration,
                    "Step one generation",
                    ".",
                    "next, forward, 单步",
                )
                .repeats(),
                row(StepRound, "Step one round", "Tab", "forward, 单步").repeats(),
                row(
                    StepBack,
                    "Step back one generation",
                    "Backspace",
                    "rewind, previous, reverse, 倒退",
                )
                .repeats(),
                row(
                    StepRoundBack,
                    "Step back one round",
                    "Shift+Backspace",
                    "rewind, previous, reverse, 倒退",
                )
                .repeats(),
                row(
                    Prompt(Setting::Generation),
                    "Run to a generation, or go back to it",
                    ": Ctrl+G",
                    "goto, jump, go to, 跳到",
                ),
                row(
                    Prompt(Setting::GenerationsPerRound),
                    "Generations per round",
                    "G",
                    "steps, batch, 每轮, 代数",
                ),
                row(
                    Faster,
                    "Faster, up to unthrottled, then maximum",
                    "+ =",
                    "speed, pace, rate, throttle, maximum, 速度, 最快",
                )
                .repeats()
                .sets(Setting::Pace),
                row(Slower, "Slower", "−", "speed, pace, rate, throttle, 速度")
                    .repeats()
                    .sets(Setting::Pace),
                row(
                    NextStopWhenStill,
                    "Stop when still: never / selected / all",
                    "S",
                    "halt, stable, periodic, oscillating, settled, 稳定",
                )
                .state(|it| {
                    has(it, |status| {
                        status.setting.time.stop_when_still != StopWhenStill::Never
                    })
                })
                .position(|it| {
                    match it.status.as_ref().map(|it| it.setting.time.stop_when_still) {
                        None => "",
                        Some(StopWhenStill::Never) => tr!("never"),
                        Some(StopWhenStill::Selected) => tr!("selected"),
                        Some(StopWhenStill::All) => tr!("all"),
                    }
                }),
                row(
                    ToggleReseed,
                    "Reseed dead panels",
                    "U",
                    "soup, refill, auto",
                )
                .state(|it| has(it, |status| status.setting.time.reseed)),
                row(
                    ResetPanel,
                    "Reset the selected panel",
                    "R",
                    "start, initial, revert, 初始",
                ),
                row(
                    ResetAll,
                    "Reset all panels",
                    "Shift+R",
                    "restart, start, again, initial, 重启, 重新开始, 初始",
                ),
                row(
                    NewSeed,
                    "Fill all panels from a new seed",
                    "N",
                    "random, soup, restart, randomise, randomize, 随机, 重新开始",
                ),
            ],
        ),
        (
            Cells,
            vec![
                row(
                    Prompt(Setting::Size),
                    "Size of the lattices",
                    "Z",
                    "width, height, larger, smaller, enlarge, crop, resize, grid, 尺寸, 放大, 裁剪",
                ),
                row(
                    Prompt(Setting::Rule),
                    "Rule of the lattices",
                    "Shift+B",
                    "birth, survival, b3, s23, highlife, conway, 规则, 生死",
                ),
                row(
                    Prompt(Setting::Density),
                    "Density of a new soup",
                    "%",
                    "random, fraction, fill, alive, 随机, 密度",
                ),
                row(
                    TogglePencil,
                    "Pencil: drag to draw or erase",
                    "D",
                    "paint, pen, brush, eraser, toggle, 画, 橡皮",
                )
                .state(|it| holds(it, Tool::Pencil)),
                row(SelectAll, "Select all cells of the panel", "Ctrl+A", "全选"),
                row(
                    ToggleAreaSelection,
                    "Select an area by the next drag",
                    "Shift+A",
                    "rectangle, part, region, marquee, toggle, 框选",
                )
                .mouse("Shift+drag")
                .state(|it| holds(it, Tool::Selection)),
                row(
                    ClearSelection,
                    "Clear the selection, or the panel",
                    "Delete",
                    "delete, erase, kill, remove, empty, 删除",
                ),
                row(
                    FillRandomly,
                    "Fill the selection at random",
                    "Ctrl+5",
                    "random, soup, noise, randomise, randomize, 随机",
                ),
                row(
                    FlipHorizontal,
                    "Flip the selection horizontally",
                    "Shift+X",
                    "mirror, reflect, 镜像",
                ),
                row(
                    FlipVertical,
                    "Flip the selection vertically",
                    "Shift+Y",
                    "mirror, reflect, upside, 镜像",
                ),
                row(
                    RotateLeft,
                    "Rotate the selection left",
                    "<",
                    "turn, counterclockwise, anticlockwise, 旋转, 逆时针",
                ),
                row(
                    RotateRight,
                    "Rotate the selection right",
                    ">",
                    "turn, clockwise, 旋转, 顺时针",
                ),
                row(
                    CopyCells,
                    "Copy the selection",
                    "Ctrl+C",
                    "clipboard, rle, 剪贴板",
                ),
                row(
                    CutCells,
                    "Cut the selection",
                    "Ctrl+X",
                    "clipboard, rle, 剪切",
                ),
                row(
                    PastePattern,
                    "Paste a pattern; click to place it",
                    "Ctrl+V",
                    "clipboard, insert, rle, 粘贴",
                ),
                row(
                    ToggleShelf,
                    "Pattern shelf",
                    "L",
                    "library, glider, gun, oscillator, spaceship, examples, 图案库",
                ),
                row(Undo, "Undo the last edit", "Ctrl+Z", "revert, back"),
                row(Redo, "Redo", "Ctrl+Y", "again, repeat"),
            ],
        ),
        (
            View,
            vec![
                row(
                    SelectNext,
                    "Select the next panel",
                    "PgDn",
                    "instance, lattice, 实例",
                )
                .mouse("click")
                .repeats(),
                row(
                    SelectPrevious,
                    "Select the previous panel",
                    "PgUp",
                    "instance, lattice, 实例",
                )
                .repeats(),
                row(
                    ToggleSingle,
                    "Show the selected panel alone, or all",
                    "E",
                    "one, single, enlarge, maximise, maximize, 单个",
                )
                .mouse("double click")
                .state(|it| it.options.single)
                .impossible(only_one_panel),
                row(ZoomIn, "Zoom in", "]", "closer, magnify, enlarge, 缩放")
                    .mouse("wheel")
                    .repeats(),
                row(ZoomOut, "Zoom out", "[", "farther, 缩放")
                    .mouse("wheel")
                    .repeats(),
                row(PanLeft, "Move left", "←", "pan, scroll, 平移")
                    .mouse("drag")
                    .repeats(),
                row(PanRight, "Move right", "→", "pan, scroll, 平移")
                    .mouse("drag")
                    .repeats(),
                row(PanUp, "Move up", "↑", "pan, scroll, 平移")
                    .mouse("drag")
                    .repeats(),
                row(PanDown, "Move down", "↓", "pan, scroll, 平移")
                    .mouse("drag")
                    .repeats(),
                row(
                    Fit,
                    "Show the whole lattice, or a part",
                    "F",
                    "zoom, home, reset, 缩放",
                ),
                row(
                    ToggleMinimap,
                    "Minimap of a zoomed panel",
                    "Shift+M",
                    "overview, map",
                )
                .in_window()
                .state(|it| !it.options.hides_minimap),
                row(ToggleGridLines, "Grid lines", "X", "lattice, cells")
                    .in_window()
                    .state(|it| it.options.grid_lines),
                row(
                    NextTheme,
                    "Next theme",
                    "C",
                    "dark, light, colors, colours, palette, contrast, 深色, 浅色, 颜色",
                )
                .position(|it| lang::text(theme(it.options.theme).title))
                .before_start(),
                row(
                    NextColourMode,
                    "Colour by state / age / history",
                    "Shift+C",
                    "color, heatmap, heat, trail, trails, 热图, 拖尾, 轨迹",
                )
                .in_window()
                .position(|it| lang::text(it.options.colour_by.name())),
                row(
                    TogglePresentation,
                    "Presentation mode, with large type",
                    "P",
                    "projector, lecture, class, 投影",
                )
                .in_window()
                .state(|it| it.options.presentation)
                .before_start(),
                row(
                    ToggleFullscreen,
                    "Fullscreen",
                    "F11",
                    "full screen, maximise, maximize, window",
                )
                .in_dialogs()
                .in_window()
                .state(|it| it.drawing.fullscreen),
                row(
                    EnlargeInterface,
                    "Larger interface",
                    "Ctrl++ Ctrl+=",
                    "font, text, type, scale, zoom, 字号",
                )
                .in_dialogs()
                .in_window(),
                row(
                    ReduceInterface,
                    "Smaller interface",
                    "Ctrl+−",
                    "font, text, type, scale, zoom, 字号",
                )
                .in_dialogs()
                .in_window(),
                row(
                    DefaultInterface,
                    "Default interface size",
                    "Ctrl+0",
                    "font, text, type, scale, zoom, reset, 字号",
                )
                .in_dialogs()
                .in_window(),
            ],
        ),
        (
            Switches,
            vec![
                row(
                    Prompt(Setting::Instances),
                    "Number of instances",
                    "Ctrl+N Shift+N",
                    "lattices, panels, streams, count, 多少, 个数, 面板",
                ),
                row(
                    DoubleInstances,
                    "Twice as many instances",
                    "Ctrl+↑ *",
                    "double, more, lattices, panels, 翻倍, 增加",
                ),
                row(
                    HalveInstances,
                    "Half as many instances",
                    "Ctrl+↓ /",
                    "halve, fewer, lattices, panels, 减少",
                ),
                switch(
                    Switch::Streams,
                    "Streams: per instance / one / default / batch",
                    "concurrency, concurrent, parallel, queue, 并发",
                ),
                switch(
                    Switch::HostMemory,
                    "Host memory: page-locked / pageable",
                    "pinned, copy, 锁页",
                ),
                switch(
                    Switch::Wait,
                    "Wait: poll / each stream / all",
                    "synchronise, synchronize, sync, 同步",
                ),
                switch(
                    Switch::Order,
                    "Issue order: breadth-first / depth-first",
                    "queue, schedule",
                ),
                switch(
                    Switch::Graphs,
                    "CUDA graphs: on / off",
                    "capture, replay, launch",
                )
                .state(|it| has(it, |status| status.setting.switches.graphs)),
                switch(
                    Switch::Transfer,
                    "Transfer: auto / bits / view / i32",
                    "download, bus, pcie, bandwidth, copy",
                ),
                switch(
                    Switch::Block,
                    "Block shape of the kernel",
                    "threads, grid, warp, dimensions",
                ),
                row(NextKernel, "Next kernel", "K", "gpu, algorithm, 显卡").sets(Setting::Kernel),
                row(
                    PreviousKernel,
                    "Previous kernel",
                    "Shift+K",
                    "gpu, algorithm, 显卡",
                )
                .sets(Setting::Kernel),
                row(
                    ToggleComparison,
                    "Compare two settings, A and B",
                    "B",
                    "ab, versus, benchmark, halves, split, 对比",
                )
                .state(|it| has(it, |status| status.lab.comparison.is_some())),
            ],
        ),
        (
            Measuring,
            vec![
                row(
                    ToggleTimeline,
                    "Timeline of the streams",
                    "T",
                    "gpu, profiler, trace, overlap, events, 显卡",
                )
                .state(|it| it.options.timeline),
                row(
                    ToggleCauses,
                    "Why streams do not overlap",
                    "Shift+W",
                    "overlap, bottleneck, diagnosis, cause, reason, 瓶颈",
                )
                .in_window()
                .state(|it| shows(it, SidePanel::Causes)),
                row(
                    MeasureSpeedup,
                    "Speed-up curve: rounds/s by instances",
                    "Shift+T",
                    "speedup, scaling, streams, graph, chart, benchmark, 加速比, 图表",
                )
                .impossible(only_one_panel),
                row(
                    ToggleBlockTimestamps,
                    "Which SM ran which block",
                    "M",
                    "gpu, multiprocessor, timestamps, occupancy, 显卡",
                )
                .in_window()
                .state(|it| has(it, |status| status.lab.block_timestamps)),
                row(
                    ToggleRecorded,
                    "Rounds recorded on a GPU, in place of measurements",
                    "J",
                    "gpu, replay, simulate, nvidia, 显卡, 回放",
                )
                .state(|it| has(it, |status| status.lab.recording.is_some())),
                row(
                    ToggleLab,
                    "Lab: switches and CUDA calls",
                    "F9",
                    "code, api, settings, options, 设置",
                )
                .state(|it| shows(it, SidePanel::Lab)),
                row(
                    ToggleEditor,
                    "Editor: a round or kernel of your own",
                    "Ctrl+E",
                    "script, rhai, code, write, exercise, 脚本, 编程, 练习",
                )
                .in_window()
                .state(|it| shows(it, SidePanel::Editor)),
                row(
                    RunRound,
                    "Run what is in the editor",
                    "Ctrl+Enter",
                    "script, execute, check, 脚本, 执行",
                )
                .in_window(),
                row(
                    ToggleLadder,
                    "Ladder: the speed of every kernel",
                    "Shift+G",
                    "gpu, benchmark, performance, roofline, limit, 性能, 显卡",
                )
                .state(|it| shows(it, SidePanel::Ladder)),
                row(
                    ToggleSource,
                    "Source of the kernel, and what changed from the rung before",
                    "Shift+D",
                    "code, diff, difference, compare, cuda, 源代码, 差异",
                )
                .state(|it| it.options.shown_source().is_some()),
                row(
                    TogglePopulation,
                    "Population, births and deaths",
                    "Y",
                    "graph, chart, plot, statistics, cells, 图表",
                )
                .in_window()
                .state(|it| shows(it, SidePanel::Population)),
                row(
                    TogglePopulationOfAll,
                    "Population: all panels / selected",
                    "A",
                    "graph, chart, plot, statistics, 图表",
                )
                .in_window()
                .state(|it| it.options.population_of_all),
            ],
        ),
        (
            Lessons,
            vec![
                row(
                    ToggleLessons,
                    "Lessons",
                    "F10",
                    "teach, tutorial, course, learn, 教程",
                )
                .state(|it| it.lessons.screen().is_some()),
                row(
                    ToggleLecture,
                    "Lecture: take up / leave",
                    "Ctrl+L",
                    "talk, steps, 课堂",
                )
                .state(|it| it.drawing.lecture.is_some()),
            ],
        ),
        (
            Files,
            vec![
                row(
                    OpenPattern,
                    "Open a pattern or a session",
                    "Ctrl+O",
                    "load, import, file, rle, macrocell, 加载, 文件",
                )
                .mouse("drop a file"),
                row(
                    SavePattern,
                    "Save selection or panel as pattern",
                    "Ctrl+S",
                    "export, rle, write, 导出",
                ),
                row(
                    SavePicture,
                    "Save window picture (PNG)",
                    "O",
                    "screenshot, image, capture, photo, 截图, 截屏",
                )
                .in_window()
                .before_start(),
                row(
                    SavePanelPicture,
                    "Save panel picture (PNG)",
                    "Ctrl+Shift+O",
                    "screenshot, image, capture, 截图, 截屏",
                )
                .in_window(),
                row(
                    ToggleRecording,
                    "Record the window / stop",
                    "Shift+O",
                    "gif, video, animation, movie, screencast, 动图, 视频",
                )
                .in_window()
                .state(|it| it.drawing.recording.is_some())
                .before_start(),
                row(
                    SaveSession,
                    "Save the session",
                    "Shift+S",
                    "write, store, keep, 存档",
                ),
            ],
        ),
        (
            Program,
            vec![
                row(
                    ToggleHelp,
                    "Keyboard shortcuts",
                    "H ? F1",
                    "help, keys, manual, hotkeys, 帮助, 按键",
                )
                .in_dialogs(),
                row(
                    ToggleCommands,
                    "Find a command",
                    "Ctrl+K",
                    "palette, search, 搜索",
                )
                .in_dialogs()
                .in_window(),
                row(ToggleMenu, "Menu", "Ctrl+M", "")
                    .mouse("menu button")
                    .in_dialogs()
                    .in_window(),
                row(
                    NextLanguage,
                    "Language: English / Chinese",
                    "Shift+L",
                    "translate, 中文, 英文",
                )
                .before_start(),
                row(
                    Escape,
                    "Close what is open",
                    "Esc",
                    "back, leave, cancel, close, 返回",
                )
                .in_dialogs(),
                row(Quit, "Quit", "Ctrl+Q", "exit, leave, end, close, 关闭").in_dialogs(),
            ],
        ),
    ];
    let with_topic = |(topic, rows): (Topic, Vec<Row>)| {
        let rows = rows.into_iter();
        rows.map(move |row| Row { topic, ..row })
    };
    topics.into_iter().flat_map(with_topic).collect()
});

/// The row of a chord, if it stands for an action.
pub fn row_for(chord: Chord) -> Option<&'static Row> {
    let chord = chord.normalized();
    TABLE.iter().find(|row| row.chords().any(|it| it == chord))
}

impl Action {
    /// Its row, if it has one: those with a parameter and the pages of a lesson have none.
    pub fn row(self) -> Option<&'static Row> {
        TABLE.iter().find(|row| row.action == self)
    }

    /// The name of its first key; empty where it has none.
    pub fn key(self) -> String {
        let first = self.row().and_then(|row| row.chords.split(' ').next());
        first.unwrap_or_default().into()
    }
}

/// What an action is about.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Topic {
    /// Running, stepping, going back, starting again.
    Time,
    /// Drawing, selecting, pasting.
    Cells,
    /// Which panels are seen, from where, in which colours.
    View,
    /// How rounds are issued: kernel, streams, memory, order.
    Switches,
    /// What was measured.
    Measuring,
    /// Lessons, and showing the program to a class.
    Lessons,
    /// What is opened, saved, recorded.
    Files,
    /// Help, palette, menu, language, end.
    Program,
}

impl Topic {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Topic; 8] = [
        Topic::Time,
        Topic::Cells,
        Topic::View,
        Topic::Switches,
        Topic::Measuring,
        Topic::Lessons,
        Topic::Files,
        Topic::Program,
    ];

    /// Its heading.
    pub fn title(self) -> &'static str {
        match self {
            Topic::Time => tr!("Time"),
            Topic::Cells => tr!("Cells"),
            Topic::View => tr!("View"),
            Topic::Switches => tr!("CUDA"),
            Topic::Measuring => tr!("Measuring"),
            Topic::Lessons => tr!("Lessons"),
            Topic::Files => tr!("Files"),
            Topic::Program => tr!("Program"),
        }
    }

    /// Its rows, in the table's order.
    pub fn rows(self) -> impl Iterator<Item = &'static Row> {
        TABLE.iter().filter(move |row| row.topic == self)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    use session::{RECORDED_KEY, SLOWER_KEY};
    use strum::VariantNames as _;

    /// The variants that no key stands for: a dialog, the mouse or another action names the number.
    const WITHOUT_ROW: [&str; 15] = [
        "SetPace",
        "RunTo",
        "SetInstances",
        "SetSize",
        "SetRule",
        "SetDensity",
        "SetGenerationsPerRound",
        "UseKernel",
        "AutoKernel",
        "SetSwitch",
        "Select",
        "NextPage",
        "PreviousPage",
        "MeasureAgain",
        "Predict",
    ];

    /// The variant's name, whatever it holds.
    fn name(action: Action) -> String {
        let shown = match action {
            Action::Session(action) => format!("{action:?}"),
            Action::View(action) => format!("{action:?}"),
            Action::Edit(action) => format!("{action:?}"),
        };
        shown.split('(').next().unwrap().into()
    }

    #[test]
    fn every_action_has_a_row_or_is_named_as_one_without() {
        let all = [
            SessionAction::VARIANTS,
            ViewAction::VARIANTS,
            EditAction::VARIANTS,
        ];
        let rows: HashSet<String> = TABLE.iter().map(|row| name(row.action)).collect();
        for variant in all.into_iter().flatten() {
            let without = WITHOUT_ROW.contains(variant);
            assert_ne!(rows.contains(*variant), without, "{variant}");
        }
        assert_eq!(Action::from(SessionAction::Slower).key(), SLOWER_KEY);
        assert_eq!(
            Action::from(SessionAction::ToggleRecorded).key(),
            RECORDED_KEY
        );
        for setting in Setting::TYPED {
            let row = Action::from(ViewAction::Prompt(setting)).row();
            assert!(row.is_some(), "{setting:?}");
        }
    }

    #[test]
    fn rows_are_alike_and_no_two_share_a_chord_an_action_or_a_help_text() {
        let mut seen = HashSet::new();
        let dialogs = ["ToggleCommands", "ToggleMenu", "ToggleHelp", "ToggleShelf"];
        for row in TABLE.iter() {
            let name = name(row.action);
            let is_new = seen.insert(format!("{:?}", row.action)) && seen.insert(row.help.into());
            assert!(is_new, "{name} stands twice");
            let is_state = name.starts_with("Toggle") && !dialogs.contains(&&*name);
            assert!(row.state.is_some() || !is_state, "{name}");
            let is_sentence = row.help.starts_with(char::is_uppercase) && !row.help.ends_with('.');
            assert!(is_sentence, "{}", row.help);
            for (chord, name) in row.chords().zip(row.chords.split(' ')) {
                assert_eq!(chord.to_string(), name);
                assert!(seen.insert(format!("key {name}")), "{chord} stands twice");
                assert_eq!(row_for(chord).map(|it| it.action), Some(row.action));
            }
            // What acts in dialogs types nothing.
            assert!(
                !row.in_dialogs || row.chords().any(|chord| !chord.types()),
                "{name}"
            );
        }
        assert!(TABLE.iter().any(|row| row.in_dialogs));
        let rows: usize = Topic::ALL.map(|topic| topic.rows().count()).iter().sum();
        assert_eq!(rows, TABLE.len());
    }
}
