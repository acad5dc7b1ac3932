//! The table: one row says all of an action that a person can ask for by a key.

use crate::actions::{Action, Chord, EditAction, Setting, ViewAction};
use crate::theme::theme;
use crate::{SidePanel, Sources, Tool};

use EditAction::*;
use SessionAction::*;
use Topic::*;
use ViewAction::*;
use lang::tr;
use session::{SessionAction, Status, StopWhenStill, Switch};

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
    /// Whether its keys act while a dialog takes the keys, unless they type into its field.
    pub in_dialogs: bool,
    /// Whether the terminal has it, too.
    pub in_terminal: bool,
    /// Whether it works while the engine starts.
    before_start: bool,
    /// Whether it ends with the session; of what a session does, the session says so itself.
    needs_engine: bool,
    /// Whether what it switches is on.
    state: Option<fn(&Sources<'_>) -> bool>,
    /// The value that it changes.
    setting: Option<Setting>,
    /// Where what it changes stands, if that is neither on nor off nor such a value.
    position: Option<fn(&Sources<'_>) -> &'static str>,
    /// Why it is impossible, where the session does not say so.
    impossible: Option<fn(&Sources<'_>) -> Option<String>>,
}

impl Row {
    const fn session(
        action: SessionAction,
        topic: Topic,
        help: &'static str,
        chords: &'static str,
        search: &'static str,
    ) -> Row {
        Row::new(Action::Session(action), topic, help, chords, search)
    }

    const fn view(
        action: ViewAction,
        topic: Topic,
        help: &'static str,
        chords: &'static str,
        search: &'static str,
    ) -> Row {
        Row::new(Action::View(action), topic, help, chords, search)
    }

    const fn prompt(
        setting: Setting,
        topic: Topic,
        help: &'static str,
        chords: &'static str,
        search: &'static str,
    ) -> Row {
        let action = ViewAction::Prompt(setting);
        let row = Row::view(action, topic, help, chords, search);
        row.sets(setting).needs_engine()
    }

    const fn switch(
        switch: Switch,
        help: &'static str,
        chords: &'static str,
        search: &'static str,
    ) -> Row {
        let row = Row::session(CycleSwitch(switch), Switches, help, chords, search);
        row.sets(Setting::Switch(switch))
    }

    /// An edit: the terminal has none.
    const fn edit(
        action: EditAction,
        topic: Topic,
        help: &'static str,
        chords: &'static str,
        search: &'static str,
    ) -> Row {
        Row::taking(action, topic, help, chords, search).needs_engine()
    }

    /// An edit that only takes cells: those of an ended session can still be taken from it.
    const fn taking(
        action: EditAction,
        topic: Topic,
        help: &'static str,
        chords: &'static str,
        search: &'static str,
    ) -> Row {
        Row::new(Action::Edit(action), topic, help, chords, search).in_window()
    }

    const fn new(
        action: Action,
        topic: Topic,
        help: &'static str,
        chords: &'static str,
        search: &'static str,
    ) -> Row {
        Row {
            action,
            chords,
            mouse: "",
            help,
            topic,
            search,
            repeats: false,
            in_dialogs: false,
            in_terminal: true,
            before_start: false,
            needs_engine: false,
            state: None,
            setting: None,
            position: None,
            impossible: None,
        }
    }

    const fn mouse(mut self, mouse: &'static str) -> Row {
        self.mouse = mouse;
        self
    }

    const fn repeats(mut self) -> Row {
        self.repeats = true;
        self
    }

    const fn in_dialogs(mut self) -> Row {
        self.in_dialogs = true;
        self
    }

    const fn in_window(mut self) -> Row {
        self.in_terminal = false;
        self
    }

    const fn before_start(mut self) -> Row {
        self.before_start = true;
        self
    }

    const fn needs_engine(mut self) -> Row {
        self.needs_engine = true;
        self
    }

    const fn state(mut self, state: fn(&Sources<'_>) -> bool) -> Row {
        self.state = Some(state);
        self
    }

    const fn sets(mut self, setting: Setting) -> Row {
        self.setting = Some(setting);
        self
    }

    const fn position(mut self, position: fn(&Sources<'_>) -> &'static str) -> Row {
        self.position = Some(position);
        self
    }

    const fn impossible(mut self, why: fn(&Sources<'_>) -> Option<String>) -> Row {
        self.impossible = Some(why);
        self
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
    pub fn is_on(&self, it: &Sources<'_>) -> Option<bool> {
        Some(self.state?(it))
    }

    /// The present position of what it switches or sets, in a word or a number; `None` where there is
    /// none.
    pub fn position_in_words(&self, it: &Sources<'_>) -> Option<String> {
        match (self.position, self.setting) {
            (Some(position), _) => Some(position(it).into()),
            (None, Some(setting)) => setting.value(it.status?),
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
    pub fn refused(self, it: &Sources<'_>) -> Option<String> {
        let why = self.missing(it)?;
        Some(match self.row() {
            Some(row) => tr!("{what}: {why}", what = row.name()),
            None => why,
        })
    }

    /// Why it is impossible now, in the reader's language; `None` where it is possible as far as that can
    /// be known.
    pub fn unavailable(self, it: &Sources<'_>) -> Option<String> {
        self.missing(it).or_else(|| match self {
            Action::Session(action) => action.refusal(it.status?),
            Action::View(_) | Action::Edit(_) => None,
        })
    }

    fn missing(self, it: &Sources<'_>) -> Option<String> {
        let row = self.row();
        let needs_engine = match self {
            Action::Session(action) => action.needs_engine(),
            Action::View(_) | Action::Edit(_) => row.is_some_and(|row| row.needs_engine),
        };
        match it.status {
            _ if row.is_some_and(|row| !row.in_terminal) && it.edit_overlay.is_none() => {
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
fn has(it: &Sources<'_>, is: fn(&Status) -> bool) -> bool {
    it.status.is_some_and(is)
}

/// Whether this panel is shown beside the others.
fn shows(it: &Sources<'_>, panel: SidePanel) -> bool {
    it.options.side == Some(panel)
}

fn holds(it: &Sources<'_>, tool: Tool) -> bool {
    it.edit_overlay.is_some_and(|overlay| overlay.tool == tool)
}

fn not_pasting(it: &Sources<'_>) -> Option<String> {
    let is_pasting = it
        .edit_overlay
        .is_some_and(|overlay| overlay.ghost.is_some());
    (!is_pasting).then(|| tr!("no pattern is being pasted").into())
}

fn only_one_panel(it: &Sources<'_>) -> Option<String> {
    let is_alone = has(it, |status| status.lattices.instances < 2);
    is_alone.then(|| tr!("there is only one panel").into())
}

/// See the module.
pub static TABLE: &[Row] = &[
    Row::session(
        TogglePause,
        Time,
        "Run / pause",
        "Space Enter",
        "start, stop, play, resume, 暂停, 开始, 停止",
    )
    .state(|it| has(it, |status| status.clock.running && status.failed.is_none())),
    Row::session(
        StepGeneration,
        Time,
        "Step one generation",
        ".",
        "next, forward, 单步",
    )
    .repeats(),
    Row::session(StepRound, Time, "Step one round", "Tab", "forward, 单步").repeats(),
    Row::session(
        StepBack,
        Time,
        "Step back one generation",
        "Backspace",
        "rewind, previous, reverse, 倒退",
    )
    .repeats(),
    Row::session(
        StepRoundBack,
        Time,
        "Step back one round",
        "Shift+Backspace",
        "rewind, previous, reverse, 倒退",
    )
    .repeats(),
    Row::prompt(
        Setting::Generation,
        Time,
        "Run to a generation, or go back to it",
        ": Ctrl+G",
        "goto, jump, go to, 跳到",
    ),
    Row::prompt(
        Setting::GenerationsPerRound,
        Time,
        "Generations per round",
        "G",
        "steps, batch, 每轮, 代数",
    ),
    Row::session(
        Faster,
        Time,
        "Faster, up to unthrottled, then maximum",
        "+ =",
        "speed, pace, rate, throttle, maximum, 速度, 最快",
    )
    .repeats()
    .sets(Setting::Pace),
    Row::session(
        Slower,
        Time,
        "Slower",
        "−",
        "speed, pace, rate, throttle, 速度",
    )
    .repeats()
    .sets(Setting::Pace),
    Row::session(
        NextStopWhenStill,
        Time,
        "Stop when still: never / selected / all",
        "S",
        "halt, stable, periodic, oscillating, settled, 稳定",
    )
    .state(|it| {
        has(it, |status| {
            status.setting.time.stop_when_still != StopWhenStill::Never
        })
    })
    .position(
        |it| match it.status.map(|status| status.setting.time.stop_when_still) {
            None => "",
            Some(StopWhenStill::Never) => tr!("never"),
            Some(StopWhenStill::Selected) => tr!("selected"),
            Some(StopWhenStill::All) => tr!("all"),
        },
    ),
    Row::session(
        ToggleReseed,
        Time,
        "Reseed dead panels",
        "U",
        "soup, refill, auto",
    )
    .state(|it| has(it, |status| status.setting.time.reseed)),
    Row::session(
        ResetPanel,
        Time,
        "Reset the selected panel",
        "R",
        "start, initial, revert, 初始",
    ),
    Row::session(
        ResetAll,
        Time,
        "Reset all panels",
        "Shift+R",
        "restart, start, again, initial, 重启, 重新开始, 初始",
    ),
    Row::session(
        NewSeed,
        Time,
        "Fill all panels from a new seed",
        "N",
        "random, soup, restart, randomise, randomize, 随机, 重新开始",
    ),
    Row::prompt(
        Setting::Size,
        Cells,
        "Size of the lattices",
        "Z",
        "width, height, larger, smaller, enlarge, crop, resize, grid, 尺寸, 放大, 裁剪",
    ),
    Row::prompt(
        Setting::Rule,
        Cells,
        "Rule of the lattices",
        "Shift+B",
        "birth, survival, b3, s23, highlife, conway, 规则, 生死",
    ),
    Row::prompt(
        Setting::Density,
        Cells,
        "Density of a new soup",
        "%",
        "random, fraction, fill, alive, 随机, 密度",
    ),
    Row::edit(
        TogglePencil,
        Cells,
        "Pencil: drag to draw or erase",
        "D",
        "paint, pen, brush, eraser, toggle, 画, 橡皮",
    )
    .state(|it| holds(it, Tool::Pencil)),
    Row::taking(
        SelectAll,
        Cells,
        "Select all cells of the panel",
        "Ctrl+A",
        "全选",
    ),
    Row::taking(
        ToggleAreaSelection,
        Cells,
        "Select an area by the next drag",
        "Shift+A",
        "rectangle, part, region, marquee, toggle, 框选",
    )
    .mouse("Shift+drag")
    .state(|it| holds(it, Tool::Selection)),
    Row::edit(
        ClearSelection,
        Cells,
        "Clear the selection, or the panel",
        "Delete",
        "delete, erase, kill, remove, empty, 删除",
    ),
    Row::edit(
        FillRandomly,
        Cells,
        "Fill the selection at random",
        "Ctrl+5",
        "random, soup, noise, randomise, randomize, 随机",
    ),
    Row::edit(
        FlipHorizontal,
        Cells,
        "Flip the selection horizontally",
        "Shift+X",
        "mirror, reflect, 镜像",
    ),
    Row::edit(
        FlipVertical,
        Cells,
        "Flip the selection vertically",
        "Shift+Y",
        "mirror, reflect, upside, 镜像",
    ),
    Row::edit(
        RotateLeft,
        Cells,
        "Rotate the selection left",
        "<",
        "turn, counterclockwise, anticlockwise, 旋转, 逆时针",
    ),
    Row::edit(
        RotateRight,
        Cells,
        "Rotate the selection right",
        ">",
        "turn, clockwise, 旋转, 顺时针",
    ),
    Row::taking(
        CopyCells,
        Cells,
        "Copy the selection",
        "Ctrl+C",
        "clipboard, rle, 剪贴板",
    ),
    Row::edit(
        CutCells,
        Cells,
        "Cut the selection",
        "Ctrl+X",
        "clipboard, rle, 剪切",
    ),
    Row::edit(
        PastePattern,
        Cells,
        "Paste a pattern; click to place it",
        "Ctrl+V",
        "clipboard, insert, rle, 粘贴",
    ),
    Row::edit(
        RotatePastedLeft,
        Cells,
        "Rotate the pasted pattern left",
        "Q",
        "turn, counterclockwise, anticlockwise, 旋转, 逆时针",
    )
    .impossible(not_pasting),
    Row::edit(
        RotatePastedRight,
        Cells,
        "Rotate the pasted pattern right",
        "W",
        "turn, clockwise, 旋转, 顺时针",
    )
    .impossible(not_pasting),
    Row::edit(
        ToggleShelf,
        Cells,
        "Pattern shelf",
        "L",
        "library, glider, gun, oscillator, spaceship, examples, 图案库",
    ),
    Row::session(Undo, Cells, "Undo the last edit", "Ctrl+Z", "revert, back"),
    Row::session(Redo, Cells, "Redo", "Ctrl+Y", "again, repeat"),
    Row::session(
        SelectNext,
        View,
        "Select the next panel",
        "PgDn",
        "instance, lattice, 实例",
    )
    .mouse("click")
    .repeats(),
    Row::session(
        SelectPrevious,
        View,
        "Select the previous panel",
        "PgUp",
        "instance, lattice, 实例",
    )
    .repeats(),
    Row::view(
        ToggleSingle,
        View,
        "Show the selected panel alone, or all",
        "E",
        "one, single, enlarge, maximise, maximize, 单个",
    )
    .mouse("double click")
    .state(|it| it.options.single)
    .impossible(only_one_panel),
    Row::view(
        ZoomIn,
        View,
        "Zoom in",
        "]",
        "closer, magnify, enlarge, 缩放",
    )
    .mouse("wheel")
    .repeats(),
    Row::view(ZoomOut, View, "Zoom out", "[", "farther, 缩放")
        .mouse("wheel")
        .repeats(),
    Row::view(PanLeft, View, "Move left", "←", "pan, scroll, 平移")
        .mouse("drag")
        .repeats(),
    Row::view(PanRight, View, "Move right", "→", "pan, scroll, 平移")
        .mouse("drag")
        .repeats(),
    Row::view(PanUp, View, "Move up", "↑", "pan, scroll, 平移")
        .mouse("drag")
        .repeats(),
    Row::view(PanDown, View, "Move down", "↓", "pan, scroll, 平移")
        .mouse("drag")
        .repeats(),
    Row::view(
        Fit,
        View,
        "Show the whole lattice, or a part",
        "F",
        "zoom, home, reset, 缩放",
    ),
    Row::view(
        ToggleMinimap,
        View,
        "Minimap of a zoomed panel",
        "Shift+M",
        "overview, map",
    )
    .in_window()
    .state(|it| !it.options.hides_minimap),
    Row::view(ToggleGridLines, View, "Grid lines", "X", "lattice, cells")
        .in_window()
        .state(|it| it.options.grid_lines),
    Row::view(
        NextTheme,
        View,
        "Next theme",
        "C",
        "dark, light, colors, colours, palette, contrast, 深色, 浅色, 颜色",
    )
    .position(|it| lang::text(theme(it.options.theme).title))
    .before_start(),
    Row::view(
        NextColourMode,
        View,
        "Colour by state / age / history",
        "Shift+C",
        "color, heatmap, heat, trail, trails, 热图, 拖尾, 轨迹",
    )
    .in_window()
    .position(|it| lang::text(it.options.colour_by.name())),
    Row::view(
        Invert,
        View,
        "Invert the colours",
        "I",
        "dark, light, colors, negative, white, 深色, 浅色",
    )
    .state(|it| it.options.invert)
    .before_start(),
    Row::view(
        TogglePresentation,
        View,
        "Presentation mode, with large type",
        "P",
        "projector, lecture, class, 投影",
    )
    .in_window()
    .state(|it| it.options.presentation)
    .before_start(),
    Row::view(
        ToggleFullscreen,
        View,
        "Fullscreen",
        "F11",
        "full screen, maximise, maximize, window",
    )
    .in_dialogs()
    .in_window()
    .state(|it| it.drawing.fullscreen)
    .before_start(),
    Row::view(
        EnlargeInterface,
        View,
        "Larger interface",
        "Ctrl++ Ctrl+=",
        "font, text, type, scale, zoom, 字号",
    )
    .in_dialogs()
    .in_window()
    .before_start(),
    Row::view(
        ReduceInterface,
        View,
        "Smaller interface",
        "Ctrl+−",
        "font, text, type, scale, zoom, 字号",
    )
    .in_dialogs()
    .in_window()
    .before_start(),
    Row::view(
        DefaultInterface,
        View,
        "Default interface size",
        "Ctrl+0",
        "font, text, type, scale, zoom, reset, 字号",
    )
    .in_dialogs()
    .in_window()
    .before_start(),
    Row::prompt(
        Setting::Instances,
        Switches,
        "Number of instances",
        "Ctrl+N Shift+N",
        "lattices, panels, streams, count, 多少, 个数, 面板",
    ),
    Row::session(
        DoubleInstances,
        Switches,
        "Twice as many instances",
        "Ctrl+↑ *",
        "double, more, lattices, panels, 翻倍, 增加",
    )
    .impossible(|it| {
        let (doubled, most) = (2 * it.status?.lattices.instances, it.most_instances());
        (doubled > most).then(|| tr!("at most {most} can be shown here"))
    }),
    Row::session(
        HalveInstances,
        Switches,
        "Half as many instances",
        "Ctrl+↓ /",
        "halve, fewer, lattices, panels, 减少",
    ),
    Row::switch(
        Switch::Streams,
        "Streams: per instance / one / default / batch",
        "F2",
        "concurrency, concurrent, parallel, queue, 并发",
    ),
    Row::switch(
        Switch::HostMemory,
        "Host memory: page-locked / pageable",
        "F3",
        "pinned, copy, 锁页",
    ),
    Row::switch(
        Switch::Wait,
        "Wait: poll / each stream / all",
        "F4",
        "synchronise, synchronize, sync, 同步",
    ),
    Row::switch(
        Switch::Order,
        "Issue order: breadth-first / depth-first",
        "F5",
        "queue, schedule",
    ),
    Row::switch(
        Switch::Graphs,
        "CUDA graphs: on / off",
        "F6",
        "capture, replay, launch",
    )
    .state(|it| has(it, |status| status.setting.switches.graphs)),
    Row::switch(
        Switch::Transfer,
        "Transfer: auto / bits / view / i32",
        "F7",
        "download, bus, pcie, bandwidth, copy",
    ),
    Row::switch(
        Switch::Block,
        "Block shape of the kernel",
        "F8",
        "threads, grid, warp, dimensions",
    ),
    Row::session(
        NextKernel,
        Switches,
        "Next kernel",
        "K",
        "gpu, algorithm, 显卡",
    )
    .sets(Setting::Kernel),
    Row::session(
        PreviousKernel,
        Switches,
        "Previous kernel",
        "Shift+K",
        "gpu, algorithm, 显卡",
    )
    .sets(Setting::Kernel),
    Row::session(
        ToggleComparison,
        Switches,
        "Compare two settings, A and B",
        "B",
        "ab, versus, benchmark, halves, split, 对比",
    )
    .state(|it| has(it, |status| status.lab.comparison.is_some())),
    Row::view(
        ToggleTimeline,
        Measuring,
        "Timeline of the streams",
        "T",
        "gpu, profiler, trace, overlap, events, 显卡",
    )
    .state(|it| it.options.timeline),
    Row::view(
        ToggleCauses,
        Measuring,
        "Why streams do not overlap",
        "Shift+W",
        "overlap, bottleneck, diagnosis, cause, reason, 瓶颈",
    )
    .in_window()
    .state(|it| shows(it, SidePanel::Causes)),
    Row::view(
        MeasureSpeedup,
        Measuring,
        "Speed-up curve: rounds/s by instances",
        "Shift+T",
        "speedup, scaling, streams, graph, chart, benchmark, 加速比, 图表",
    )
    .needs_engine()
    .impossible(only_one_panel),
    Row::session(
        ToggleBlockTimestamps,
        Measuring,
        "Which SM ran which block",
        "M",
        "gpu, multiprocessor, timestamps, occupancy, 显卡",
    )
    .in_window()
    .state(|it| has(it, |status| status.lab.block_timestamps)),
    Row::session(
        ToggleRecorded,
        Measuring,
        "Rounds recorded on a GPU, in place of measurements",
        "J",
        "gpu, replay, simulate, nvidia, 显卡, 回放",
    )
    .state(|it| has(it, |status| status.lab.recording.is_some())),
    Row::view(
        ToggleLab,
        Measuring,
        "Lab: switches and CUDA calls",
        "F9",
        "code, api, settings, options, 设置",
    )
    .state(|it| shows(it, SidePanel::Lab)),
    Row::view(
        ToggleEditor,
        Measuring,
        "Editor: a round or kernel of your own",
        "Ctrl+E",
        "script, rhai, code, write, exercise, 脚本, 编程, 练习",
    )
    .in_window()
    .state(|it| shows(it, SidePanel::Editor)),
    Row::view(
        RunRound,
        Measuring,
        "Run what is in the editor",
        "Ctrl+Enter",
        "script, execute, check, 脚本, 执行",
    )
    .in_window()
    .needs_engine(),
    Row::view(
        ToggleLadder,
        Measuring,
        "Ladder: the speed of every kernel",
        "Shift+G",
        "gpu, benchmark, performance, roofline, limit, 性能, 显卡",
    )
    .state(|it| shows(it, SidePanel::Ladder)),
    Row::view(
        ToggleSource,
        Measuring,
        "Source of the kernel, and what changed from the rung before",
        "Shift+D",
        "code, diff, difference, compare, cuda, 源代码, 差异",
    )
    .state(|it| it.options.shown_source().is_some()),
    Row::view(
        TogglePopulation,
        Measuring,
        "Population, births and deaths",
        "Y",
        "graph, chart, plot, statistics, cells, 图表",
    )
    .in_window()
    .state(|it| shows(it, SidePanel::Population)),
    Row::view(
        TogglePopulationOfAll,
        Measuring,
        "Population: all panels / selected",
        "A",
        "graph, chart, plot, statistics, 图表",
    )
    .in_window()
    .state(|it| it.options.population_of_all),
    Row::view(
        ToggleLessons,
        Lessons,
        "Lessons",
        "F10",
        "teach, tutorial, course, learn, 教程",
    )
    .state(|it| it.lesson.is_some()),
    Row::view(
        ToggleLecture,
        Lessons,
        "Lecture: take up / leave",
        "Ctrl+L",
        "talk, steps, 课堂",
    )
    .state(|it| it.drawing.lecture.is_some()),
    Row::edit(
        OpenPattern,
        Files,
        "Open a pattern or a session",
        "Ctrl+O",
        "load, import, file, rle, macrocell, 加载, 文件",
    )
    .mouse("drop a file"),
    Row::taking(
        SavePattern,
        Files,
        "Save selection or panel as pattern",
        "Ctrl+S",
        "export, rle, write, 导出",
    ),
    Row::view(
        SavePicture,
        Files,
        "Save window picture (PNG)",
        "O",
        "screenshot, image, capture, photo, 截图, 截屏",
    )
    .in_window()
    .before_start(),
    Row::view(
        SavePanelPicture,
        Files,
        "Save panel picture (PNG)",
        "Ctrl+Shift+O",
        "screenshot, image, capture, 截图, 截屏",
    )
    .in_window(),
    Row::view(
        ToggleRecording,
        Files,
        "Record the window / stop",
        "Shift+O",
        "gif, video, animation, movie, screencast, 动图, 视频",
    )
    .in_window()
    .state(|it| it.drawing.recording.is_some())
    .before_start(),
    Row::session(
        SaveSession,
        Files,
        "Save the session",
        "Shift+S",
        "write, store, keep, 存档",
    ),
    Row::view(
        ToggleHelp,
        Program,
        "Keyboard shortcuts",
        "H ? F1",
        "help, keys, manual, hotkeys, 帮助, 按键",
    )
    .in_dialogs()
    .before_start(),
    Row::view(
        ToggleCommands,
        Program,
        "Find a command",
        "Ctrl+K",
        "palette, search, 搜索",
    )
    .in_dialogs()
    .in_window()
    .before_start(),
    Row::view(ToggleMenu, Program, "Menu", "Ctrl+M", "")
        .mouse("menu button")
        .in_dialogs()
        .in_window()
        .before_start(),
    Row::view(
        NextLanguage,
        Program,
        "Language: English / Chinese",
        "Shift+L",
        "translate, 中文, 英文",
    )
    .before_start(),
    Row::view(
        Escape,
        Program,
        "Close what is open",
        "Esc",
        "back, leave, cancel, close, 返回",
    )
    .in_dialogs()
    .before_start(),
    Row::view(
        Quit,
        Program,
        "Quit",
        "Ctrl+Q",
        "exit, leave, end, close, 关闭",
    )
    .in_dialogs()
    .before_start(),
];

/// The row of a chord, if it stands for an action.
pub fn row_for(chord: Chord) -> Option<&'static Row> {
    let chord = chord.normalized();
    TABLE.iter().find(|row| row.chords().any(|it| it == chord))
}

/// The action that a chord stands for, if any.
pub fn action_for(chord: Chord) -> Option<Action> {
    row_for(chord).map(|row| row.action)
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
            Topic::Cells => tr!("Cells and patterns"),
            Topic::View => tr!("Panels and view"),
            Topic::Switches => tr!("CUDA switches"),
            Topic::Measuring => tr!("Measuring"),
            Topic::Lessons => tr!("Lessons"),
            Topic::Files => tr!("Files and recording"),
            Topic::Program => tr!("Program"),
        }
    }

    /// Its heading in one word, for the menu.
    pub fn short_title(self) -> &'static str {
        match self {
            Topic::Cells => tr!("Cells"),
            Topic::View => tr!("View"),
            Topic::Switches => tr!("CUDA"),
            Topic::Files => tr!("Files"),
            Topic::Time | Topic::Measuring | Topic::Lessons | Topic::Program => self.title(),
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
    const WITHOUT_ROW: [&str; 16] = [
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
        "OpenLesson",
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
        for switch in Switch::ALL {
            let action = Action::from(SessionAction::CycleSwitch(switch));
            assert_eq!(action.key(), switch.key());
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
        for row in TABLE {
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
                assert_eq!(action_for(chord), Some(row.action));
            }
            // What acts in dialogs types nothing.
            assert!(
                !row.in_dialogs || row.chords().any(|chord| !chord.types()),
                "{name}"
            );
        }
        assert!(TABLE.iter().any(|row| row.in_dialogs));
        assert!(TABLE.is_sorted_by_key(|row| row.topic));
        let rows: usize = Topic::ALL.map(|topic| topic.rows().count()).iter().sum();
        assert_eq!(rows, TABLE.len());
    }

    #[test]
    fn shift_counts_for_letters_alone() {
        let typed = |name| action_for(Chord::named(name).unwrap());
        assert_eq!(typed("Shift+?"), Some(ViewAction::ToggleHelp.into()));
        assert_eq!(typed("Shift++"), Some(SessionAction::Faster.into()));
        assert_eq!(typed("Shift+J"), None);
    }
}
