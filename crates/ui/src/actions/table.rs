//! The table: one row for each action that a person can ask for by a key.

use crate::actions::keys::{char, ctrl, key, shift, shifted, with_ctrl};
use crate::actions::{Action, Chord, EditAction, FrontEnd, Key, Prompt, Topic, ViewAction};
use EditAction::*;
use SessionAction::*;
use Topic::*;
use ViewAction::*;
use session::{SessionAction, Switch};

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
    /// Other words, in both languages, that the palette and the help's search find it by, separated
    /// by commas.
    pub search: &'static str,
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
    const fn session(action: SessionAction, topic: Topic, help: &'static str) -> Row {
        Row::new(Action::Session(action), topic, help)
    }

    const fn view(action: ViewAction, topic: Topic, help: &'static str) -> Row {
        Row::new(Action::View(action), topic, help)
    }

    const fn prompt(prompt: Prompt, topic: Topic, help: &'static str) -> Row {
        Row::view(ViewAction::Prompt(prompt), topic, help)
    }

    const fn switch(switch: Switch, help: &'static str) -> Row {
        Row::session(CycleSwitch(switch), Switches, help)
    }

    /// An edit: the terminal has none.
    const fn edit(action: EditAction, topic: Topic, help: &'static str) -> Row {
        Row::new(Action::Edit(action), topic, help).in_window()
    }

    const fn new(action: Action, topic: Topic, help: &'static str) -> Row {
        Row {
            action,
            chords: &[],
            mouse: "",
            help,
            topic,
            search: "",
            repeats: false,
            in_dialogs: false,
            front_ends: FrontEnds::All,
        }
    }

    const fn chords(mut self, chords: &'static [Chord]) -> Row {
        self.chords = chords;
        self
    }

    const fn mouse(mut self, mouse: &'static str) -> Row {
        self.mouse = mouse;
        self
    }

    const fn search(mut self, search: &'static str) -> Row {
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
    Row::session(TogglePause, Time, "Run / pause")
        .chords(&[key(Key::Space), key(Key::Enter)])
        .search("start, stop, play, resume, 暂停, 开始, 停止"),
    Row::session(StepGeneration, Time, "Step one generation")
        .chords(&[char('.')])
        .search("next, forward, 单步")
        .repeats(),
    Row::session(StepRound, Time, "Step one round")
        .chords(&[key(Key::Tab)])
        .search("forward, 单步")
        .repeats(),
    Row::session(StepBack, Time, "Step back one generation")
        .chords(&[key(Key::Backspace)])
        .search("rewind, previous, reverse, 倒退")
        .repeats(),
    Row::session(StepRoundBack, Time, "Step back one round")
        .chords(&[shifted(Key::Backspace)])
        .search("rewind, previous, reverse, 倒退")
        .repeats(),
    Row::prompt(
        Prompt::Generation,
        Time,
        "Run to a generation, or go back to it",
    )
    .chords(&[char(':'), ctrl('G')])
    .search("goto, jump, go to, 跳到"),
    Row::prompt(Prompt::GenerationsPerRound, Time, "Generations per round")
        .chords(&[char('G')])
        .search("steps, batch, 每轮, 代数"),
    Row::session(Faster, Time, "Faster, up to unthrottled, then maximum")
        .chords(&[char('+'), char('=')])
        .search("speed, pace, rate, throttle, maximum, 速度, 最快")
        .repeats(),
    Row::session(Slower, Time, "Slower")
        .chords(&[char('-')])
        .search("speed, pace, rate, throttle, 速度")
        .repeats(),
    Row::session(
        NextStopWhenStill,
        Time,
        "Stop when still: never / selected / all",
    )
    .chords(&[char('S')])
    .search("halt, stable, periodic, oscillating, settled, 稳定"),
    Row::session(ToggleReseed, Time, "Reseed dead panels")
        .chords(&[char('U')])
        .search("soup, refill, auto"),
    Row::session(ResetPanel, Time, "Reset the selected panel")
        .chords(&[char('R')])
        .search("start, initial, revert, 初始"),
    Row::session(ResetAll, Time, "Reset all panels")
        .chords(&[shift('R')])
        .search("restart, start, again, initial, 重启, 重新开始, 初始"),
    Row::session(NewSeed, Time, "Fill all panels from a new seed")
        .chords(&[char('N')])
        .search("random, soup, restart, randomise, randomize, 随机, 重新开始"),
    Row::prompt(Prompt::Size, Cells, "Size of the lattices")
        .chords(&[char('Z')])
        .search("width, height, larger, smaller, enlarge, crop, resize, grid, 尺寸, 放大, 裁剪"),
    Row::prompt(Prompt::Rule, Cells, "Rule of the lattices")
        .chords(&[shift('B')])
        .search("birth, survival, b3, s23, highlife, conway, 规则, 生死"),
    Row::prompt(Prompt::Density, Cells, "Density of a new soup")
        .chords(&[char('%')])
        .search("random, fraction, fill, alive, 随机, 密度"),
    Row::edit(TogglePencil, Cells, "Pencil: drag to draw or erase")
        .chords(&[char('D')])
        .search("paint, pen, brush, eraser, toggle, 画, 橡皮"),
    Row::edit(SelectAll, Cells, "Select all cells of the panel")
        .chords(&[ctrl('A')])
        .search("全选"),
    Row::edit(
        ToggleAreaSelection,
        Cells,
        "Select an area by the next drag",
    )
    .chords(&[shift('A')])
    .mouse("Shift+drag")
    .search("rectangle, part, region, marquee, toggle, 框选"),
    Row::edit(ClearSelection, Cells, "Clear the selection, or the panel")
        .chords(&[key(Key::Delete)])
        .search("delete, erase, kill, remove, empty, 删除"),
    Row::edit(FillRandomly, Cells, "Fill the selection at random")
        .chords(&[ctrl('5')])
        .search("random, soup, noise, randomise, randomize, 随机"),
    Row::edit(FlipHorizontal, Cells, "Flip the selection horizontally")
        .chords(&[shift('X')])
        .search("mirror, reflect, 镜像"),
    Row::edit(FlipVertical, Cells, "Flip the selection vertically")
        .chords(&[shift('Y')])
        .search("mirror, reflect, upside, 镜像"),
    Row::edit(RotateLeft, Cells, "Rotate the selection left")
        .chords(&[char('<')])
        .search("turn, counterclockwise, anticlockwise, 旋转, 逆时针"),
    Row::edit(RotateRight, Cells, "Rotate the selection right")
        .chords(&[char('>')])
        .search("turn, clockwise, 旋转, 顺时针"),
    Row::edit(CopyCells, Cells, "Copy the selection")
        .chords(&[ctrl('C')])
        .search("clipboard, rle, 剪贴板"),
    Row::edit(CutCells, Cells, "Cut the selection")
        .chords(&[ctrl('X')])
        .search("clipboard, rle, 剪切"),
    Row::edit(PastePattern, Cells, "Paste a pattern; click to place it")
        .chords(&[ctrl('V')])
        .search("clipboard, insert, rle, 粘贴"),
    Row::edit(RotatePastedLeft, Cells, "Rotate the pasted pattern left")
        .chords(&[char('Q')])
        .search("turn, counterclockwise, anticlockwise, 旋转, 逆时针"),
    Row::edit(RotatePastedRight, Cells, "Rotate the pasted pattern right")
        .chords(&[char('W')])
        .search("turn, clockwise, 旋转, 顺时针"),
    Row::edit(ToggleShelf, Cells, "Pattern shelf")
        .chords(&[char('L')])
        .search("library, glider, gun, oscillator, spaceship, examples, 图案库"),
    Row::session(Undo, Cells, "Undo the last edit")
        .chords(&[ctrl('Z')])
        .search("revert, back"),
    Row::session(Redo, Cells, "Redo")
        .chords(&[ctrl('Y')])
        .search("again, repeat"),
    Row::session(SelectNext, View, "Select the next panel")
        .chords(&[key(Key::PageDown)])
        .mouse("click")
        .search("instance, lattice, 实例")
        .repeats(),
    Row::session(SelectPrevious, View, "Select the previous panel")
        .chords(&[key(Key::PageUp)])
        .search("instance, lattice, 实例")
        .repeats(),
    Row::view(ToggleSingle, View, "Show the selected panel alone, or all")
        .chords(&[char('E')])
        .mouse("double click")
        .search("one, single, enlarge, maximise, maximize, 单个"),
    Row::view(ZoomIn, View, "Zoom in")
        .chords(&[char(']')])
        .mouse("wheel")
        .search("closer, magnify, enlarge, 缩放")
        .repeats(),
    Row::view(ZoomOut, View, "Zoom out")
        .chords(&[char('[')])
        .mouse("wheel")
        .search("farther, 缩放")
        .repeats(),
    Row::view(PanLeft, View, "Move left")
        .chords(&[key(Key::Left)])
        .mouse("drag")
        .search("pan, scroll, 平移")
        .repeats(),
    Row::view(PanRight, View, "Move right")
        .chords(&[key(Key::Right)])
        .mouse("drag")
        .search("pan, scroll, 平移")
        .repeats(),
    Row::view(PanUp, View, "Move up")
        .chords(&[key(Key::Up)])
        .mouse("drag")
        .search("pan, scroll, 平移")
        .repeats(),
    Row::view(PanDown, View, "Move down")
        .chords(&[key(Key::Down)])
        .mouse("drag")
        .search("pan, scroll, 平移")
        .repeats(),
    Row::view(Fit, View, "Show the whole lattice, or a part")
        .chords(&[char('F')])
        .search("zoom, home, reset, 缩放"),
    Row::view(
        ToggleSeparateCameras,
        View,
        "One camera per panel, or one for all",
    )
    .chords(&[char('V')])
    .search("view, separate, link, zoom")
    .in_window(),
    Row::view(ToggleMinimap, View, "Minimap of a zoomed panel")
        .chords(&[shift('M')])
        .search("overview, map")
        .in_window(),
    Row::view(ToggleGridLines, View, "Grid lines")
        .chords(&[char('X')])
        .search("lattice, cells")
        .in_window(),
    Row::view(NextTheme, View, "Next theme")
        .chords(&[char('C')])
        .search("dark, light, colors, colours, palette, contrast, 深色, 浅色, 颜色"),
    Row::view(NextColourMode, View, "Colour by state / age / history")
        .chords(&[shift('C')])
        .search("color, heatmap, heat, trail, trails, 热图, 拖尾, 轨迹")
        .in_window(),
    Row::view(Invert, View, "Invert the colours")
        .chords(&[char('I')])
        .search("dark, light, colors, negative, white, 深色, 浅色"),
    Row::view(
        TogglePresentation,
        View,
        "Presentation mode, with large type",
    )
    .chords(&[char('P')])
    .search("projector, lecture, class, 投影")
    .in_window(),
    Row::view(ToggleFullscreen, View, "Fullscreen")
        .chords(&[key(Key::F(11))])
        .search("full screen, maximise, maximize, window")
        .in_dialogs()
        .in_window(),
    Row::view(EnlargeInterface, View, "Larger interface")
        .chords(&[ctrl('+'), ctrl('=')])
        .search("font, text, type, scale, zoom, 字号")
        .in_dialogs()
        .in_window(),
    Row::view(ReduceInterface, View, "Smaller interface")
        .chords(&[ctrl('-')])
        .search("font, text, type, scale, zoom, 字号")
        .in_dialogs()
        .in_window(),
    Row::view(DefaultInterface, View, "Default interface size")
        .chords(&[ctrl('0')])
        .search("font, text, type, scale, zoom, reset, 字号")
        .in_dialogs()
        .in_window(),
    Row::prompt(Prompt::Instances, Switches, "Number of instances")
        .chords(&[ctrl('N'), shift('N')])
        .search("lattices, panels, streams, count, 多少, 个数, 面板"),
    Row::session(DoubleInstances, Switches, "Twice as many instances")
        .chords(&[with_ctrl(Key::Up), char('*')])
        .search("double, more, lattices, panels, 翻倍, 增加"),
    Row::session(HalveInstances, Switches, "Half as many instances")
        .chords(&[with_ctrl(Key::Down), char('/')])
        .search("halve, fewer, lattices, panels, 减少"),
    Row::switch(
        Switch::Streams,
        "Streams: per instance / one / default / batch",
    )
    .chords(&[key(Key::F(2))])
    .search("concurrency, concurrent, parallel, queue, 并发"),
    Row::switch(Switch::HostMemory, "Host memory: page-locked / pageable")
        .chords(&[key(Key::F(3))])
        .search("pinned, copy, 锁页"),
    Row::switch(Switch::Wait, "Wait: poll / each stream / all")
        .chords(&[key(Key::F(4))])
        .search("synchronise, synchronize, sync, 同步"),
    Row::switch(Switch::Order, "Issue order: breadth-first / depth-first")
        .chords(&[key(Key::F(5))])
        .search("queue, schedule"),
    Row::switch(Switch::Graphs, "CUDA graphs: on / off")
        .chords(&[key(Key::F(6))])
        .search("capture, replay, launch"),
    Row::switch(Switch::Transfer, "Transfer: auto / bits / view / i32")
        .chords(&[key(Key::F(7))])
        .search("download, bus, pcie, bandwidth, copy"),
    Row::switch(Switch::Block, "Block shape of the kernel")
        .chords(&[key(Key::F(8))])
        .search("threads, grid, warp, dimensions"),
    Row::session(NextKernel, Switches, "Next kernel")
        .chords(&[char('K')])
        .search("gpu, algorithm, 显卡"),
    Row::session(PreviousKernel, Switches, "Previous kernel")
        .chords(&[shift('K')])
        .search("gpu, algorithm, 显卡"),
    Row::session(ToggleComparison, Switches, "Compare two settings, A and B")
        .chords(&[char('B')])
        .search("ab, versus, benchmark, halves, split, 对比"),
    Row::view(ToggleTimeline, Measuring, "Timeline of the streams")
        .chords(&[char('T')])
        .search("gpu, profiler, trace, overlap, events, 显卡"),
    Row::view(ToggleCauses, Measuring, "Why streams do not overlap")
        .chords(&[shift('W')])
        .search("overlap, bottleneck, diagnosis, cause, reason, 瓶颈")
        .in_window(),
    Row::view(
        MeasureSpeedup,
        Measuring,
        "Speed-up curve: rounds/s by instances",
    )
    .chords(&[shift('T')])
    .search("speedup, scaling, streams, graph, chart, benchmark, 加速比, 图表"),
    Row::session(ToggleBlockTimestamps, Measuring, "Which SM ran which block")
        .chords(&[char('M')])
        .search("gpu, multiprocessor, timestamps, occupancy, 显卡")
        .in_window(),
    Row::session(
        ToggleRecorded,
        Measuring,
        "Rounds recorded on a GPU, in place of measurements",
    )
    .chords(&[char('J')])
    .search("gpu, replay, simulate, nvidia, 显卡, 回放"),
    Row::view(ToggleLab, Measuring, "Lab: switches and CUDA calls")
        .chords(&[key(Key::F(9))])
        .search("code, api, settings, options, 设置"),
    Row::view(
        ToggleEditor,
        Measuring,
        "Editor: a round or kernel of your own",
    )
    .chords(&[ctrl('E')])
    .search("script, rhai, code, write, exercise, 脚本, 编程, 练习")
    .in_window(),
    Row::view(RunRound, Measuring, "Run what is in the editor")
        .chords(&[with_ctrl(Key::Enter)])
        .search("script, execute, check, 脚本, 执行")
        .in_window(),
    Row::view(ToggleLadder, Measuring, "Ladder: the speed of every kernel")
        .chords(&[shift('G')])
        .search("gpu, benchmark, performance, roofline, limit, 性能, 显卡"),
    Row::view(
        ToggleSource,
        Measuring,
        "Source of the kernel, and what changed from the rung before",
    )
    .chords(&[shift('D')])
    .search("code, diff, difference, compare, cuda, 源代码, 差异"),
    Row::view(TogglePopulation, Measuring, "Population, births and deaths")
        .chords(&[char('Y')])
        .search("graph, chart, plot, statistics, cells, 图表")
        .in_window(),
    Row::view(
        TogglePopulationOfAll,
        Measuring,
        "Population: all panels / selected",
    )
    .chords(&[char('A')])
    .search("graph, chart, plot, statistics, 图表")
    .in_window(),
    Row::view(ToggleLessons, Lessons, "Lessons")
        .chords(&[key(Key::F(10))])
        .search("teach, tutorial, course, learn, 教程"),
    Row::view(ToggleLecture, Lessons, "Lecture: take up / leave")
        .chords(&[ctrl('L')])
        .search("talk, steps, 课堂"),
    Row::edit(OpenPattern, Files, "Open a pattern or a session")
        .chords(&[ctrl('O')])
        .mouse("drop a file")
        .search("load, import, file, rle, macrocell, 加载, 文件"),
    Row::edit(SavePattern, Files, "Save selection or panel as pattern")
        .chords(&[ctrl('S')])
        .search("export, rle, write, 导出"),
    Row::view(SavePicture, Files, "Save window picture (PNG)")
        .chords(&[char('O')])
        .search("screenshot, image, capture, photo, 截图, 截屏")
        .in_window(),
    Row::view(SavePanelPicture, Files, "Save panel picture (PNG)")
        .chords(&[Chord {
            key: Key::Char('O'),
            shift: true,
            ctrl: true,
        }])
        .search("screenshot, image, capture, 截图, 截屏")
        .in_window(),
    Row::view(ToggleRecording, Files, "Record the window / stop")
        .chords(&[shift('O')])
        .search("gif, video, animation, movie, screencast, 动图, 视频")
        .in_window(),
    Row::session(SaveSession, Files, "Save the session")
        .chords(&[shift('S')])
        .search("write, store, keep, 存档"),
    Row::view(ToggleHelp, Program, "Keyboard shortcuts")
        .chords(&[char('H'), char('?'), key(Key::F(1))])
        .search("help, keys, manual, hotkeys, 帮助, 按键")
        .in_dialogs(),
    Row::view(ToggleCommands, Program, "Find a command")
        .chords(&[ctrl('K')])
        .search("palette, search, 搜索")
        .in_dialogs()
        .in_window(),
    Row::view(ToggleMenu, Program, "Menu")
        .chords(&[ctrl('M')])
        .mouse("menu button")
        .in_dialogs()
        .in_window(),
    Row::view(NextLanguage, Program, "Language: English / Chinese")
        .chords(&[shift('L')])
        .search("translate, 中文, 英文"),
    Row::view(Escape, Program, "Close what is open")
        .chords(&[key(Key::Escape)])
        .search("back, leave, cancel, close, 返回")
        .in_dialogs(),
    Row::view(Quit, Program, "Quit")
        .chords(&[ctrl('Q')])
        .search("exit, leave, end, close, 关闭")
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

    use session::{RECORDED_KEY, SLOWER_KEY};
    use strum::VariantNames as _;

    use super::*;

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
        assert_eq!(typed('J', true), None);
    }
}
