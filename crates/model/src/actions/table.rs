//! The table: one row for each action that a person can ask for by a key.

use crate::Switch;
use crate::actions::keys::{char, ctrl, key, shift, shifted, with_ctrl};
use crate::actions::{
    Action, Chord, EditAction, FrontEnd, Key, Prompt, SessionAction, Topic, ViewAction,
};

/// A row of the table.
#[derive(Debug)]
pub struct Row {
    /// What is done.
    pub action: Action,
    /// Its keys; the first one is shown in hints.
    pub chords: &'static [Chord],
    /// How the mouse does it, in words; empty where it cannot.
    pub mouse: &'static str,
    /// What it does, in a few words of English.
    pub help: &'static str,
    /// Where help, menu and documents have it.
    pub topic: Topic,
    /// Other words, in both languages, that the palette and the help's search find it by.
    pub search: &'static [&'static str],
    /// Whether holding its key repeats it.
    pub repeats: bool,
    /// Whether its keys act while a dialog takes the keys, unless they type into its field.
    pub in_dialogs: bool,
    /// Which front ends have it.
    pub front_ends: FrontEnds,
}

/// The front ends that have an action.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FrontEnds {
    /// Window and terminal.
    All,
    /// The window alone.
    Window,
}

impl FrontEnds {
    /// Whether this front end is among them.
    pub fn include(self, front_end: FrontEnd) -> bool {
        match (self, front_end) {
            (FrontEnds::All, _) | (FrontEnds::Window, FrontEnd::Window) => true,
            (FrontEnds::Window, FrontEnd::Terminal) => false,
        }
    }
}

impl Row {
    const fn session(
        action: SessionAction,
        chords: &'static [Chord],
        topic: Topic,
        help: &'static str,
    ) -> Row {
        Row::new(Action::Session(action), chords, topic, help)
    }

    const fn view(
        action: ViewAction,
        chords: &'static [Chord],
        topic: Topic,
        help: &'static str,
    ) -> Row {
        Row::new(Action::View(action), chords, topic, help)
    }

    /// An edit: the terminal has none.
    const fn edit(
        action: EditAction,
        chords: &'static [Chord],
        topic: Topic,
        help: &'static str,
    ) -> Row {
        Row::new(Action::Edit(action), chords, topic, help).in_window()
    }

    const fn new(
        action: Action,
        chords: &'static [Chord],
        topic: Topic,
        help: &'static str,
    ) -> Row {
        Row {
            action,
            chords,
            mouse: "",
            help,
            topic,
            search: &[],
            repeats: false,
            in_dialogs: false,
            front_ends: FrontEnds::All,
        }
    }

    const fn mouse(mut self, mouse: &'static str) -> Row {
        self.mouse = mouse;
        self
    }

    const fn search(mut self, search: &'static [&'static str]) -> Row {
        self.search = search;
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
        self.front_ends = FrontEnds::Window;
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
        let mut names: Vec<String> = self.chords.iter().map(Chord::to_string).collect();
        if !self.mouse.is_empty() {
            names.push(lang::text(self.mouse).into());
        }
        names.join(", ")
    }
}

/// See the module.
pub static TABLE: &[Row] = &[
    Row::session(
        SessionAction::TogglePause,
        &[key(Key::Space), key(Key::Enter)],
        Topic::Time,
        "Run / pause",
    )
    .search(&["start", "stop", "play", "resume", "暂停", "开始", "停止"]),
    Row::session(
        SessionAction::StepGeneration,
        &[char('.')],
        Topic::Time,
        "Step one generation",
    )
    .search(&["next", "forward", "单步"])
    .repeats(),
    Row::session(
        SessionAction::StepRound,
        &[key(Key::Tab)],
        Topic::Time,
        "Step one round",
    )
    .search(&["forward", "单步"])
    .repeats(),
    Row::session(
        SessionAction::StepBack,
        &[key(Key::Backspace)],
        Topic::Time,
        "Step back one generation",
    )
    .search(&["rewind", "previous", "reverse", "倒退"])
    .repeats(),
    Row::session(
        SessionAction::StepRoundBack,
        &[shifted(Key::Backspace)],
        Topic::Time,
        "Step back one round",
    )
    .search(&["rewind", "previous", "reverse", "倒退"])
    .repeats(),
    Row::view(
        ViewAction::Prompt(Prompt::Generation),
        &[char(':'), ctrl('G')],
        Topic::Time,
        "Run to a generation, or go back to it",
    )
    .search(&["goto", "jump", "go to", "跳到"]),
    Row::view(
        ViewAction::Prompt(Prompt::GenerationsPerRound),
        &[char('G')],
        Topic::Time,
        "Generations per round",
    )
    .search(&["steps", "batch", "每轮", "代数"]),
    Row::session(
        SessionAction::Faster,
        &[char('+'), char('=')],
        Topic::Time,
        "Faster, up to unthrottled, then maximum",
    )
    .search(&[
        "speed", "pace", "rate", "throttle", "maximum", "速度", "最快",
    ])
    .repeats(),
    Row::session(SessionAction::Slower, &[char('-')], Topic::Time, "Slower")
        .search(&["speed", "pace", "rate", "throttle", "速度"])
        .repeats(),
    Row::session(
        SessionAction::NextStopWhenStill,
        &[char('S')],
        Topic::Time,
        "Stop when still: never / selected / all",
    )
    .search(&[
        "halt",
        "stable",
        "periodic",
        "oscillating",
        "settled",
        "稳定",
    ]),
    Row::session(
        SessionAction::ToggleReseed,
        &[char('U')],
        Topic::Time,
        "Reseed dead panels",
    )
    .search(&["soup", "refill", "auto"]),
    Row::session(
        SessionAction::ResetPanel,
        &[char('R')],
        Topic::Time,
        "Reset the selected panel",
    )
    .search(&["start", "initial", "revert", "初始"]),
    Row::session(
        SessionAction::ResetAll,
        &[shift('R')],
        Topic::Time,
        "Reset all panels",
    )
    .search(&[
        "restart",
        "start",
        "again",
        "initial",
        "重启",
        "重新开始",
        "初始",
    ]),
    Row::session(
        SessionAction::NewSeed,
        &[char('N')],
        Topic::Time,
        "Fill all panels from a new seed",
    )
    .search(&[
        "random",
        "soup",
        "restart",
        "randomise",
        "randomize",
        "随机",
        "重新开始",
    ]),
    Row::view(
        ViewAction::Prompt(Prompt::Size),
        &[char('Z')],
        Topic::Cells,
        "Size of the lattices",
    )
    .search(&[
        "width", "height", "larger", "smaller", "enlarge", "crop", "resize", "grid", "尺寸",
        "放大", "裁剪",
    ]),
    Row::view(
        ViewAction::Prompt(Prompt::Rule),
        &[shift('B')],
        Topic::Cells,
        "Rule of the lattices",
    )
    .search(&[
        "birth", "survival", "b3", "s23", "highlife", "conway", "规则", "生死",
    ]),
    Row::view(
        ViewAction::Prompt(Prompt::Density),
        &[char('%')],
        Topic::Cells,
        "Density of a new soup",
    )
    .search(&["random", "fraction", "fill", "alive", "随机", "密度"]),
    Row::view(
        ViewAction::Prompt(Prompt::Symmetry),
        &[shift('U')],
        Topic::Cells,
        "Symmetry of a new soup",
    )
    .search(&["random", "mirror", "c4", "d4", "d8", "随机", "对称"]),
    Row::edit(
        EditAction::TogglePencil,
        &[char('D')],
        Topic::Cells,
        "Pencil: drag to draw or erase",
    )
    .search(&["paint", "pen", "brush", "eraser", "toggle", "画", "橡皮"]),
    Row::edit(
        EditAction::SelectAll,
        &[ctrl('A')],
        Topic::Cells,
        "Select all cells of the panel",
    )
    .search(&["全选"]),
    Row::edit(
        EditAction::ToggleAreaSelection,
        &[shift('A')],
        Topic::Cells,
        "Select an area by the next drag",
    )
    .mouse("Shift+drag")
    .search(&["rectangle", "part", "region", "marquee", "toggle", "框选"]),
    Row::edit(
        EditAction::ClearSelection,
        &[key(Key::Delete)],
        Topic::Cells,
        "Clear the selection, or the panel",
    )
    .search(&["delete", "erase", "kill", "remove", "empty", "删除"]),
    Row::edit(
        EditAction::FillRandomly,
        &[ctrl('5')],
        Topic::Cells,
        "Fill the selection at random",
    )
    .search(&["random", "soup", "noise", "randomise", "randomize", "随机"]),
    Row::edit(
        EditAction::FlipHorizontal,
        &[shift('X')],
        Topic::Cells,
        "Flip the selection horizontally",
    )
    .search(&["mirror", "reflect", "镜像"]),
    Row::edit(
        EditAction::FlipVertical,
        &[shift('Y')],
        Topic::Cells,
        "Flip the selection vertically",
    )
    .search(&["mirror", "reflect", "upside", "镜像"]),
    Row::edit(
        EditAction::RotateLeft,
        &[char('<')],
        Topic::Cells,
        "Rotate the selection left",
    )
    .search(&[
        "turn",
        "counterclockwise",
        "anticlockwise",
        "旋转",
        "逆时针",
    ]),
    Row::edit(
        EditAction::RotateRight,
        &[char('>')],
        Topic::Cells,
        "Rotate the selection right",
    )
    .search(&["turn", "clockwise", "旋转", "顺时针"]),
    Row::edit(
        EditAction::CopyCells,
        &[ctrl('C')],
        Topic::Cells,
        "Copy the selection",
    )
    .search(&["clipboard", "rle", "剪贴板"]),
    Row::edit(
        EditAction::PastePattern,
        &[ctrl('V')],
        Topic::Cells,
        "Paste a pattern; click to place it",
    )
    .search(&["clipboard", "insert", "rle", "粘贴"]),
    Row::edit(
        EditAction::RotatePastedLeft,
        &[char('Q')],
        Topic::Cells,
        "Rotate the pasted pattern left",
    )
    .search(&[
        "turn",
        "counterclockwise",
        "anticlockwise",
        "旋转",
        "逆时针",
    ]),
    Row::edit(
        EditAction::RotatePastedRight,
        &[char('W')],
        Topic::Cells,
        "Rotate the pasted pattern right",
    )
    .search(&["turn", "clockwise", "旋转", "顺时针"]),
    Row::edit(
        EditAction::ToggleShelf,
        &[char('L')],
        Topic::Cells,
        "Pattern shelf",
    )
    .search(&[
        "library",
        "glider",
        "gun",
        "oscillator",
        "spaceship",
        "examples",
        "图案库",
    ]),
    Row::session(
        SessionAction::Undo,
        &[ctrl('Z')],
        Topic::Cells,
        "Undo the last edit",
    )
    .search(&["revert", "back"]),
    Row::session(SessionAction::Redo, &[ctrl('Y')], Topic::Cells, "Redo")
        .search(&["again", "repeat"]),
    Row::session(
        SessionAction::SelectNext,
        &[key(Key::PageDown)],
        Topic::View,
        "Select the next panel",
    )
    .mouse("click")
    .search(&["instance", "lattice", "实例"])
    .repeats(),
    Row::session(
        SessionAction::SelectPrevious,
        &[key(Key::PageUp)],
        Topic::View,
        "Select the previous panel",
    )
    .search(&["instance", "lattice", "实例"])
    .repeats(),
    Row::view(
        ViewAction::ToggleSingle,
        &[char('E')],
        Topic::View,
        "Show the selected panel alone, or all",
    )
    .mouse("double click")
    .search(&["one", "single", "enlarge", "maximise", "maximize", "单个"]),
    Row::view(ViewAction::ZoomIn, &[char(']')], Topic::View, "Zoom in")
        .mouse("wheel")
        .search(&["closer", "magnify", "enlarge", "缩放"])
        .repeats(),
    Row::view(ViewAction::ZoomOut, &[char('[')], Topic::View, "Zoom out")
        .mouse("wheel")
        .search(&["farther", "缩放"])
        .repeats(),
    Row::view(
        ViewAction::PanLeft,
        &[key(Key::Left)],
        Topic::View,
        "Move left",
    )
    .mouse("drag")
    .search(&["pan", "scroll", "平移"])
    .repeats(),
    Row::view(
        ViewAction::PanRight,
        &[key(Key::Right)],
        Topic::View,
        "Move right",
    )
    .mouse("drag")
    .search(&["pan", "scroll", "平移"])
    .repeats(),
    Row::view(ViewAction::PanUp, &[key(Key::Up)], Topic::View, "Move up")
        .mouse("drag")
        .search(&["pan", "scroll", "平移"])
        .repeats(),
    Row::view(
        ViewAction::PanDown,
        &[key(Key::Down)],
        Topic::View,
        "Move down",
    )
    .mouse("drag")
    .search(&["pan", "scroll", "平移"])
    .repeats(),
    Row::view(
        ViewAction::Fit,
        &[char('F')],
        Topic::View,
        "Show the whole lattice, or a part",
    )
    .search(&["zoom", "home", "reset", "缩放"]),
    Row::view(
        ViewAction::ToggleSeparateCameras,
        &[char('V')],
        Topic::View,
        "One camera per panel, or one for all",
    )
    .search(&["view", "separate", "link", "zoom"])
    .in_window(),
    Row::view(
        ViewAction::ToggleMinimap,
        &[shift('M')],
        Topic::View,
        "Minimap of a zoomed panel",
    )
    .search(&["overview", "map"])
    .in_window(),
    Row::view(
        ViewAction::ToggleGridLines,
        &[char('X')],
        Topic::View,
        "Grid lines",
    )
    .search(&["lattice", "cells"])
    .in_window(),
    Row::view(
        ViewAction::NextTheme,
        &[char('C')],
        Topic::View,
        "Next theme",
    )
    .search(&[
        "dark", "light", "colors", "colours", "palette", "contrast", "深色", "浅色", "颜色",
    ]),
    Row::view(
        ViewAction::NextColourMode,
        &[shift('C')],
        Topic::View,
        "Colour by state / age / history",
    )
    .search(&[
        "color", "heatmap", "heat", "trail", "trails", "热图", "拖尾", "轨迹",
    ])
    .in_window(),
    Row::view(
        ViewAction::Invert,
        &[char('I')],
        Topic::View,
        "Invert the colours",
    )
    .search(&[
        "dark", "light", "colors", "negative", "white", "深色", "浅色",
    ]),
    Row::view(
        ViewAction::TogglePresentation,
        &[char('P')],
        Topic::View,
        "Presentation mode, with large type",
    )
    .search(&["projector", "lecture", "class", "投影"])
    .in_window(),
    Row::view(
        ViewAction::ToggleFullscreen,
        &[key(Key::F(11))],
        Topic::View,
        "Fullscreen",
    )
    .search(&["full screen", "maximise", "maximize", "window"])
    .in_dialogs()
    .in_window(),
    Row::view(
        ViewAction::EnlargeInterface,
        &[ctrl('+'), ctrl('=')],
        Topic::View,
        "Larger interface",
    )
    .search(&["font", "text", "type", "scale", "zoom", "字号"])
    .in_dialogs()
    .in_window(),
    Row::view(
        ViewAction::ReduceInterface,
        &[ctrl('-')],
        Topic::View,
        "Smaller interface",
    )
    .search(&["font", "text", "type", "scale", "zoom", "字号"])
    .in_dialogs()
    .in_window(),
    Row::view(
        ViewAction::DefaultInterface,
        &[ctrl('0')],
        Topic::View,
        "Default interface size",
    )
    .search(&["font", "text", "type", "scale", "zoom", "reset", "字号"])
    .in_dialogs()
    .in_window(),
    Row::view(
        ViewAction::Prompt(Prompt::Instances),
        &[ctrl('N'), shift('N')],
        Topic::Switches,
        "Number of instances",
    )
    .search(&[
        "lattices", "panels", "streams", "count", "多少", "个数", "面板",
    ]),
    Row::session(
        SessionAction::DoubleInstances,
        &[with_ctrl(Key::Up), char('*')],
        Topic::Switches,
        "Twice as many instances",
    )
    .search(&["double", "more", "lattices", "panels", "翻倍", "增加"]),
    Row::session(
        SessionAction::HalveInstances,
        &[with_ctrl(Key::Down), char('/')],
        Topic::Switches,
        "Half as many instances",
    )
    .search(&["halve", "fewer", "lattices", "panels", "减少"]),
    Row::session(
        SessionAction::CycleSwitch(Switch::Streams),
        &[key(Key::F(2))],
        Topic::Switches,
        "Streams: per instance / one / default / batch",
    )
    .search(&["concurrency", "concurrent", "parallel", "queue", "并发"]),
    Row::session(
        SessionAction::CycleSwitch(Switch::HostMemory),
        &[key(Key::F(3))],
        Topic::Switches,
        "Host memory: page-locked / pageable",
    )
    .search(&["pinned", "copy", "锁页"]),
    Row::session(
        SessionAction::CycleSwitch(Switch::Wait),
        &[key(Key::F(4))],
        Topic::Switches,
        "Wait: poll / each stream / all",
    )
    .search(&["synchronise", "synchronize", "sync", "同步"]),
    Row::session(
        SessionAction::CycleSwitch(Switch::Order),
        &[key(Key::F(5))],
        Topic::Switches,
        "Issue order: breadth-first / depth-first",
    )
    .search(&["queue", "schedule"]),
    Row::session(
        SessionAction::CycleSwitch(Switch::Graphs),
        &[key(Key::F(6))],
        Topic::Switches,
        "CUDA graphs: on / off",
    )
    .search(&["capture", "replay", "launch"]),
    Row::session(
        SessionAction::CycleSwitch(Switch::Transfer),
        &[key(Key::F(7))],
        Topic::Switches,
        "Transfer: auto / bits / view / i32",
    )
    .search(&["download", "bus", "pcie", "bandwidth", "copy"]),
    Row::session(
        SessionAction::CycleSwitch(Switch::Block),
        &[key(Key::F(8))],
        Topic::Switches,
        "Block shape of the kernel",
    )
    .search(&["threads", "grid", "warp", "dimensions"]),
    Row::session(
        SessionAction::NextKernel,
        &[char('K')],
        Topic::Switches,
        "Next kernel",
    )
    .search(&["gpu", "algorithm", "显卡"]),
    Row::session(
        SessionAction::PreviousKernel,
        &[shift('K')],
        Topic::Switches,
        "Previous kernel",
    )
    .search(&["gpu", "algorithm", "显卡"]),
    Row::session(
        SessionAction::ToggleComparison,
        &[char('B')],
        Topic::Switches,
        "Compare two settings, A and B",
    )
    .search(&["ab", "versus", "benchmark", "halves", "split", "对比"]),
    Row::view(
        ViewAction::ToggleTimeline,
        &[char('T')],
        Topic::Measuring,
        "Timeline of the streams",
    )
    .search(&["gpu", "profiler", "trace", "overlap", "events", "显卡"]),
    Row::view(
        ViewAction::MeasureSpeedup,
        &[shift('T')],
        Topic::Measuring,
        "Speed-up curve: rounds/s by instances",
    )
    .search(&[
        "speedup",
        "scaling",
        "streams",
        "graph",
        "chart",
        "benchmark",
        "加速比",
        "图表",
    ]),
    Row::session(
        SessionAction::ToggleBlockTimestamps,
        &[char('M')],
        Topic::Measuring,
        "Which SM ran which block",
    )
    .search(&["gpu", "multiprocessor", "timestamps", "occupancy", "显卡"])
    .in_window(),
    Row::view(
        ViewAction::ToggleLab,
        &[key(Key::F(9))],
        Topic::Measuring,
        "Lab: switches and CUDA calls",
    )
    .search(&["code", "api", "settings", "options", "设置"]),
    Row::view(
        ViewAction::ToggleLadder,
        &[shift('G')],
        Topic::Measuring,
        "Ladder: the speed of every kernel",
    )
    .search(&[
        "gpu",
        "benchmark",
        "performance",
        "roofline",
        "limit",
        "性能",
        "显卡",
    ]),
    Row::view(
        ViewAction::ToggleSource,
        &[shift('D')],
        Topic::Measuring,
        "Source of the kernel, and what changed from the rung before",
    )
    .search(&[
        "code",
        "diff",
        "difference",
        "compare",
        "cuda",
        "源代码",
        "差异",
    ]),
    Row::view(
        ViewAction::TogglePopulation,
        &[char('Y')],
        Topic::Measuring,
        "Population, births and deaths",
    )
    .search(&["graph", "chart", "plot", "statistics", "cells", "图表"])
    .in_window(),
    Row::view(
        ViewAction::TogglePopulationOfAll,
        &[char('A')],
        Topic::Measuring,
        "Population: all panels / selected",
    )
    .search(&["graph", "chart", "plot", "statistics", "图表"])
    .in_window(),
    Row::view(
        ViewAction::ToggleLessons,
        &[key(Key::F(10))],
        Topic::Lessons,
        "Lessons",
    )
    .search(&["teach", "tutorial", "course", "learn", "教程"]),
    Row::edit(
        EditAction::OpenPattern,
        &[ctrl('O')],
        Topic::Files,
        "Open a pattern or a session",
    )
    .mouse("drop a file")
    .search(&["load", "import", "file", "rle", "macrocell", "加载", "文件"]),
    Row::edit(
        EditAction::SavePattern,
        &[ctrl('S')],
        Topic::Files,
        "Save selection or panel as pattern",
    )
    .search(&["export", "rle", "write", "导出"]),
    Row::view(
        ViewAction::SavePicture,
        &[char('O')],
        Topic::Files,
        "Save window picture (PNG)",
    )
    .search(&["screenshot", "image", "capture", "photo", "截图", "截屏"])
    .in_window(),
    Row::view(
        ViewAction::SavePanelPicture,
        &[Chord {
            key: Key::Char('O'),
            shift: true,
            ctrl: true,
        }],
        Topic::Files,
        "Save panel picture (PNG)",
    )
    .search(&["screenshot", "image", "capture", "截图", "截屏"])
    .in_window(),
    Row::view(
        ViewAction::ToggleRecording,
        &[shift('O')],
        Topic::Files,
        "Record the window / stop",
    )
    .search(&[
        "gif",
        "video",
        "mp4",
        "animation",
        "movie",
        "screencast",
        "动图",
        "视频",
    ])
    .in_window(),
    Row::session(
        SessionAction::SaveSession,
        &[shift('S')],
        Topic::Files,
        "Save the session",
    )
    .search(&["write", "store", "keep", "存档"]),
    Row::view(
        ViewAction::ToggleHelp,
        &[char('H'), char('?'), key(Key::F(1))],
        Topic::Program,
        "Keyboard shortcuts",
    )
    .search(&["help", "keys", "manual", "hotkeys", "帮助", "按键"])
    .in_dialogs(),
    Row::view(
        ViewAction::ToggleCommands,
        &[ctrl('K')],
        Topic::Program,
        "Find a command",
    )
    .search(&["palette", "search", "搜索"])
    .in_dialogs()
    .in_window(),
    Row::view(ViewAction::ToggleMenu, &[ctrl('M')], Topic::Program, "Menu")
        .mouse("menu button")
        .in_dialogs()
        .in_window(),
    Row::view(
        ViewAction::NextLanguage,
        &[shift('L')],
        Topic::Program,
        "Language: English / Chinese",
    )
    .search(&["translate", "中文", "英文"]),
    Row::view(
        ViewAction::Escape,
        &[key(Key::Escape)],
        Topic::Program,
        "Close what is open",
    )
    .search(&["back", "leave", "cancel", "close", "返回"])
    .in_dialogs(),
    Row::view(ViewAction::Quit, &[ctrl('Q')], Topic::Program, "Quit")
        .search(&["exit", "leave", "end", "close", "关闭"])
        .in_dialogs(),
];

/// The row of a chord, if it stands for an action.
pub fn row_for(chord: Chord) -> Option<&'static Row> {
    let chord = chord.normalized();
    TABLE.iter().find(|row| row.chords.contains(&chord))
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
        let chord = self.row().and_then(|row| row.chords.first());
        chord.map_or(String::new(), Chord::to_string)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use strum::VariantNames as _;

    use super::*;

    /// The variants that no key stands for: a dialog, the mouse or another action names the number.
    const WITHOUT_ROW: [&str; 14] = [
        "SetPace",
        "RunTo",
        "SetInstances",
        "SetSize",
        "SetRule",
        "SetDensity",
        "SetSymmetry",
        "SetGenerationsPerRound",
        "UseKernel",
        "SetSwitch",
        "Select",
        "OpenLesson",
        "NextPage",
        "PreviousPage",
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
            let row = Action::from(SessionAction::CycleSwitch(switch)).row();
            assert!(row.is_some(), "{switch:?}");
        }
        for prompt in Prompt::ALL {
            let row = Action::from(ViewAction::Prompt(prompt)).row();
            assert!(row.is_some(), "{prompt:?}");
        }
    }

    #[test]
    fn no_two_rows_share_a_chord_an_action_or_a_help_text() {
        let (mut chords, mut actions, mut helps) = Default::default();
        fn is_new<T: std::hash::Hash + Eq>(set: &mut HashSet<T>, it: T) -> bool {
            set.insert(it)
        }
        for row in TABLE {
            assert!(is_new(&mut actions, row.action), "{:?}", row.action);
            assert!(is_new(&mut helps, row.help), "{:?}", row.help);
            assert!(!row.chords.is_empty(), "{:?}", row.action);
            for chord in row.chords {
                assert!(is_new(&mut chords, *chord), "{chord} stands twice");
                assert_eq!(action_for(*chord), Some(row.action));
            }
        }
    }

    #[test]
    fn a_name_has_no_colon_so_that_a_notice_has_one() {
        for row in TABLE {
            assert!(!row.name().contains([':', '：']), "{}", row.name());
            assert!(!row.name().is_empty() && row.help().starts_with(row.name()));
        }
        let pencil = Action::from(EditAction::TogglePencil).row();
        assert_eq!(pencil.map(Row::name), Some("Pencil"));
    }

    #[test]
    fn help_texts_are_in_sentence_case_without_a_full_stop() {
        for row in TABLE {
            let first = row.help.chars().next().unwrap();
            assert!(first.is_uppercase(), "{}", row.help);
            assert!(!row.help.ends_with('.'), "{}", row.help);
        }
    }

    #[test]
    fn what_acts_in_dialogs_has_a_key_that_types_nothing() {
        let acting = TABLE.iter().filter(|row| row.in_dialogs);
        let mut count = 0;
        for row in acting {
            let acts = |chord: &Chord| !chord.types();
            assert!(row.chords.iter().any(acts), "{:?}", row.action);
            count += 1;
        }
        assert!(count >= 8, "{count}");
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
        assert_eq!(typed('?', true), Some(ViewAction::ToggleHelp.into()));
        assert_eq!(typed('+', true), Some(SessionAction::Faster.into()));
        assert_eq!(typed('R', false), Some(SessionAction::ResetPanel.into()));
        assert_eq!(typed('R', true), Some(SessionAction::ResetAll.into()));
        assert_eq!(typed('J', false), None);
    }
}
