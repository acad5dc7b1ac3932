//! The screens: each by what differs from a session that runs and shows 16 panels.

use SidePanel::*;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use egui::{Rect, pos2, vec2};

use crate::view::gallery::{Row, Scenario, Window};
use crate::view::layout::PixelRect;
use crate::view::{Dialog, FileDialog, FileTask, Form, Picker, recording};
use engine::kernels::{self, KERNELS, OwnCode};
use engine::{HostMemory, Kernel, Occupancy};
use lang::tr;
use lesson::EXERCISES;
use life::{Lattice, Size};
use session::{
    AbComparison, Area, Change, Edit, Effect, Finding, RecordedStatus, Settled, Status,
    StopWhenStill, Streams, Switches,
};
use ui::actions::{Setting, Topic};
use ui::code_editor::{Code, Findings};
use ui::figures::{GRID, KERNEL, ROUND};
use ui::fixtures::{
    DEVICE, comparison, effect, isolated, lecture_options, lecture_screen, lesson_page, recorded,
    round_with_block_timestamps, speedup_page, waited_round,
};
use ui::{CodeEditor, ColourBy, Ghost, InterfaceScale, LessonPage, SidePanel, Tool};
use workshop::{CompilerError, Fault, Right};

/// A window in which all of a screen is seen without scrolling.
pub(super) const WHOLE: &[Window] = &[([1280, 800], 1.0)];
pub(super) const SMALL: &[Window] = &[([800, 500], 1.0), ([800, 500], 2.0), ([640, 400], 1.0)];
pub(super) const ODD: &[Window] = &[
    ([800, 500], 1.0),
    ([700, 1100], 1.0),
    ([480, 900], 1.0),
    ([2560, 700], 1.0),
    ([1440, 900], 1.5),
];

pub(super) const SCREENS: &[Row] = &[
    // Panels, and what is said of the session.
    ("panels", |_| {}),
    ("panels-wide", |it| {
        it.grid(7, 280, 80);
        it.status.panels.selected = 6;
    }),
    ("panels-256", |it| it.grid(256, 64, 64)),
    ("starting", |it| it.starting = true),
    ("recording", |it| {
        let name = "lifestreams-20261121-110812.gif";
        let frames = recording::frames(412);
        let mut text = tr!("Recording {name}: {frames}");
        text += &tr!(", {waiting} still to write", waiting = 3);
        text += &tr!(", {} dropped", 2);
        it.app.drawing.notice = Some(text.into());
    }),
    ("warned", |it| {
        let saved = tr!("Saved {path}", path = "003.rle");
        it.status.notice = Some(saved.into());
        it.app.drawing.forwarded = true;
        let adapter = it.app.drawing.adapter.as_mut().unwrap();
        adapter.name = "NVIDIA H200".into();
        adapter.pci_bus_id = Some("0000:17:00.0".into());
    }),
    ("drawn-in-software", |it| {
        let adapter = it.app.drawing.adapter.as_mut().unwrap();
        adapter.name = "llvmpipe (LLVM 15.0.6, 256 bits)".into();
        adapter.software = true;
    }),
    ("recorded-on-the-cpu", |it| {
        // A class without a GPU has to find the key of recorded rounds, with any kernel.
        it.windows = WHOLE;
        it.app.drawing.adapter = None;
        let longest = KERNELS.iter().max_by_key(|it| it.title.len());
        it.status.setting.kernel = longest.unwrap();
        it.app.options.colour_by = ColourBy::History;
        it.status.engine.name = "cpu";
        let device = &mut it.status.engine.devices[0];
        device.name = "CPU 8481C".into();
        device.driver = "128 CPU, AVX-512".into();
        it.status.lab.recording = Some(RecordedStatus {
            recorded: recorded(),
            nearest: None,
            pace: None,
        });
    }),
    ("failed", |it| {
        it.fail();
        it.status.clock.generation = 123_456_789_012_345;
        let name = "NVIDIA GeForce RTX 4090 Laptop GPU, NVIDIA GeForce RTX 4090";
        it.status.engine.devices[0].name = name.into();
        it.status.setting.switches.streams = Streams::One;
    }),
    ("long-figures", |it| {
        it.grid(200, 1024, 1024);
        it.status.clock.generation = 123_456_789_012;
        it.status.lattices.seed = Some(u64::MAX);
        it.status.engine.devices[0].name = "NVIDIA GeForce RTX 4090 Laptop GPU".into();
        let limit = tr!("at most {most} cells", most = 24_576);
        let refused = tr!(
            "kernel '{kernel}' supports {limit}, not {size}; use --kernel {instead}",
            kernel = "sync-shared",
            size = "1024x1024",
            instead = "bits"
        );
        it.status.notice = Some(refused.into());
        settle(&mut it.status);
    }),
    ("lecture", |it| {
        it.app.drawing.lecture = Some(lecture_screen())
    }),
    ("presentation", |it| {
        it.app.options.presentation = true;
        let what = lang::text("32 cells per word, added as bit planes");
        it.status.notice = Some(tr!("kernel {}: {}", "bits", what).into());
        it.status.lab.last_effect = Some(Effect {
            what: tr!("one stream per instance").into(),
            round_us: [Some(1660.0), Some(170.0)],
            finding: Some(Finding::of(9.8, [9.6, 9.9])),
            ..effect()
        });
    }),
    ("presentation-timeline", |it| it.present()),
    ("comparison", |it| halve(&mut it.status, 0)),
    ("comparison-differ-all", |it| {
        it.grid(17, 256, 256);
        it.beside(Lab);
        it.app.options.timeline = true;
        halve(&mut it.status, 12_345);
    }),
    // What a hand has put over the panels, and cameras.
    ("selection", |it| {
        it.grid(4, 256, 256);
        it.status.clock.running = false;
        let size = Size::new(90, 60).unwrap();
        it.app.edit_overlay.selection = Some((1, Area { x: 40, y: 70, size }));
        it.app.edit_overlay.pointed = Some((3, [129, 117]));
    }),
    ("ghost", |it| {
        it.grid(4, 256, 256);
        it.zoom(4.0, [350.0; 2]);
        let mut pattern = Lattice::new(Size::new(30, 12).unwrap());
        (0..360)
            .step_by(2)
            .for_each(|at| pattern.set(at % 30, at / 30, true));
        it.app.edit_overlay.ghost = Some(Ghost {
            pattern: Arc::new(pattern),
            at: Some((2, [128, 128])),
        });
        let text =
            tr!("Click to place, Q/W to rotate, Esc to cancel; a right click opens the menu");
        it.app.drawing.notice = Some(text.into());
    }),
    ("pencil", |it| {
        it.grid(1, 256, 256);
        it.status.clock.running = false;
        it.app.drawing.recording = Some(Duration::from_secs(75));
        it.app.options.grid_lines = true;
        it.zoom(8.0, [350.0; 2]);
        it.app.edit_overlay.tool = Tool::Pencil;
        let cells = (120..140).map(|x| [x, 128]).collect();
        let edit = Edit {
            instance: 0,
            change: Change::Draw { cells, alive: true },
            continues_stroke: false,
        };
        it.app.edit_overlay.pending.push_back((1, edit));
        it.app.drawing.notice = Some(tr!("Pencil on: drag to draw").into());
    }),
    ("minimap", |it| {
        it.grid(16, 512, 256);
        it.status.panels.selected = 6;
        it.zoom(9.0, [500.0, 100.0]);
        // The light theme, by history: what else a picture of cells has.
        it.app.options.theme = 4;
        it.app.options.colour_by = ColourBy::History;
    }),
    // The timeline, and what stands beside the panels.
    ("timeline", |it| {
        it.app.options.timeline = true;
        it.calibrate(0.05);
    }),
    ("timeline-changed", |it| {
        it.change_to_one_stream();
        it.status.clock.running = false;
    }),
    ("timeline-comparison", |it| {
        it.change_to_one_stream();
        halve(&mut it.status, 0);
    }),
    ("timeline-over-a-bar", |it| {
        it.app.options.timeline = true;
        it.mouse = |it, layout| {
            let at = layout.timeline.map(|rect| within(rect, 0.3, 0.45));
            it.app.timeline.pointer = at;
        };
    }),
    ("timeline-waits", |it| {
        it.app.options.timeline = true;
        it.round = waited_round;
        it.status.engine.name = "cpu";
        it.calibrate(0.05);
    }),
    ("timeline-256", |it| {
        it.grid(256, 64, 64);
        it.app.options.timeline = true;
    }),
    ("blocks", |it| {
        it.app.options.timeline = true;
        let lab = &mut it.status.lab;
        (lab.block_timestamps, lab.timestamp_overhead) = (true, Some(1.03));
        it.calibrate(0.05);
        it.round = |streams| round_with_block_timestamps(streams, 132);
    }),
    ("causes-several", |it| {
        it.app.timeline.frozen = true;
        it.beside(Causes);
        it.app.options.timeline = true;
        it.round = waited_round;
        it.calibrate(0.9);
    }),
    ("lab-over-a-switch", |it| {
        it.beside(Lab);
        it.mouse = |it, layout| {
            it.pointer = layout.side.map(|(_, rect)| within(rect, 0.4, 0.25));
        };
    }),
    ("lab-refused", |it| {
        it.beside(Lab);
        it.status.setting.switches.graphs = true;
        it.status.setting.kernel = rung("bits");
    }),
    ("population", |it| {
        it.beside(Population);
        settle(&mut it.status);
    }),
    ("population-of-all-timeline", |it| {
        it.beside(Population);
        (it.app.options.timeline, it.app.options.population_of_all) = (true, true);
        settle(&mut it.status);
    }),
    ("ladder", |it| it.climb()),
    ("ladder-timeline", |it| {
        it.climb();
        it.app.options.timeline = true;
    }),
    ("ladder-source", |it| {
        it.climb();
        it.app.options.source = Some(rung("shared").index());
    }),
    ("ladder-unrecorded", |it| {
        it.beside(Ladder);
        it.status.engine.devices[0].name = "Unknown".into();
        let reached = [
            ("global", 3.2e9),
            ("shared", 2.1e9),
            ("sync-global", 2.47e11),
        ];
        it.status.rates.reached = reached.into();
    }),
    // The editor.
    ("editor-predicted", |it| {
        it.edit();
        it.calibrate(0.05);
    }),
    ("editor-error", |it| {
        it.edit();
        let text = "for i in 0..N {\n    advance(i, i % 4);\n    downlod(i, i % 4);\n}\n";
        it.editor = CodeEditor::open(Code::Round, "round.rhai".into(), text.into());
    }),
    ("editor-race", |it| {
        it.edit();
        it.calibrate(0.05);
        it.editor = CodeEditor::open(Code::Round, "round.rhai".into(), RACE.into());
    }),
    ("editor-exercise", |it| {
        it.edit();
        it.editor = CodeEditor::start(&EXERCISES[0]);
    }),
    ("editor-presented", |it| {
        it.edit();
        it.app.options.presentation = true;
        it.editor = CodeEditor::open(Code::Round, "round.rhai".into(), RACE.into());
    }),
    ("editor-kernel", |it| it.check(None)),
    ("editor-kernel-error", |it| {
        let error = |line, text: &str| CompilerError {
            line: Some(line),
            column: None,
            text: text.into(),
        };
        let undeclared = "'cells' was not declared in this scope; did you mean 'cell'?";
        let errors = vec![
            error(19, undeclared),
            error(24, "expected ';' before '}' token"),
        ];
        let fault = Fault::DoesNotCompile { errors, more: 2 };
        it.check(Some(Err(Box::new(fault))));
    }),
    ("editor-kernel-right", |it| {
        let facts = Occupancy {
            blocks: 0,
            sm_count: 0,
            registers: 24,
            shared_bytes: 1360,
            local_bytes: 0,
            blocks_per_sm: 8,
            block_threads: 256,
            max_threads_per_sm: 2048,
        };
        it.check(Some(Ok(Right {
            cases: 60,
            kernel: own_kernel(),
            facts: Some(facts),
            compiler: None,
        })));
        it.status.setting.own_kernel = Some(own_kernel());
        it.status.setting.kernel = own_kernel();
    }),
    // Lessons.
    ("lesson-list", |it| {
        it.app.lectures = vec![lecture_options(Path::new("")).lecture];
        it.open(Dialog::Lessons(Picker::at(7)));
    }),
    ("lesson-page", |it| it.teach(lesson_page(false))),
    ("lesson-picture", |it| it.teach(lesson_page(true))),
    ("lesson-speedup", |it| it.teach(speedup_page(5, true))),
    ("lesson-failed", |it| {
        it.teach(lesson_page(false));
        it.fail();
    }),
    // Dialogs.
    ("help", |it| it.open(Dialog::Help(Picker::default()))),
    ("help-typed", |it| {
        it.open(Dialog::Help(Picker::new("panel", 0)))
    }),
    ("palette", |it| it.open(palette(""))),
    ("palette-refused", |it| {
        it.grid(1, 256, 256);
        it.open(palette("compare two"));
    }),
    ("menu-cells", |it| it.open(menu(Topic::Cells))),
    ("menu-presented", |it| {
        it.present();
        it.open(menu(Topic::Measuring));
    }),
    ("open-a-file", |it| {
        let file = FileDialog::new(FileTask::Open, String::new(), None);
        it.open(Dialog::File(file));
    }),
    ("open-failed", |it| {
        let reason = tr!(
            "unknown {it}; cells are b (dead) and o (alive), or . and A to X by their \
             states, a row ends with $ and the pattern with !",
            it = "'?'"
        );
        let at = tr!("line {line}, column {column}: ", line = 2, column = 14);
        let why = format!("~/patterns/glider.rle, {at}{reason}");
        let typed = "~/patterns/glider.rle".into();
        let file = FileDialog::new(FileTask::Open, typed, Some(why));
        it.open(Dialog::File(file));
    }),
    ("save-failed", |it| {
        let path = "/nowhere/at/all.rle";
        let folder = "/nowhere/at";
        let reason = tr!("there is no folder {folder}; create it first");
        let why = tr!("cannot save {path}: {reason}");
        it.open(Dialog::File(FileDialog::new(
            FileTask::Save,
            path.into(),
            Some(why),
        )));
    }),
    ("prompt-rule", |it| {
        it.open(Dialog::Form(Form::prompt(Setting::Rule, "Hi".into())));
    }),
    ("shelf", |it| it.open(Dialog::Shelf(Picker::default()))),
    ("popup-grid", |it| it.open(popup(GRID, [900.0, 200.0]))),
    ("popup-kernel", |it| it.open(popup(KERNEL, [1000.0, 560.0]))),
    ("popup-presentation", |it| {
        it.app.options.presentation = true;
        it.open(popup(ROUND, [120.0, 600.0]));
    }),
    ("popup-panel", |it| {
        it.open(Dialog::Form(Form::of_panel(pos2(400.0, 200.0))))
    }),
    // Unusual windows, and sizes of the interface.
    ("odd-lab-timeline", |it| {
        it.windows = ODD;
        it.beside(Lab);
        it.app.options.timeline = true;
    }),
    ("odd-lesson", |it| {
        it.windows = ODD;
        it.teach(lesson_page(true));
    }),
    ("odd-comparison", |it| {
        it.windows = ODD;
        halve(&mut it.status, 0);
    }),
    ("odd-palette", |it| {
        it.windows = ODD;
        it.open(palette("kernel"));
    }),
    ("odd-presentation", |it| {
        it.windows = SMALL;
        it.app.options.presentation = true;
    }),
    ("interface-large", |it| it.enlarge(3)),
    ("interface-largest", |it| {
        it.enlarge(6);
        it.open(menu(Topic::Cells));
    }),
];

/// What several screens have.
impl Scenario {
    fn beside(&mut self, panel: SidePanel) {
        self.app.options.side = Some(panel);
    }

    fn present(&mut self) {
        (self.app.options.timeline, self.app.options.presentation) = (true, true);
    }

    fn teach(&mut self, page: Box<LessonPage>) {
        self.app.lessons.show_page(page);
    }

    fn open(&mut self, dialog: Dialog) {
        self.dialogs.open(dialog);
    }

    /// The session has ended, since its device has failed.
    fn fail(&mut self) {
        let it = "CUDA_ERROR_ILLEGAL_ADDRESS";
        let lost = tr!("the engine is lost ({it}); every lattice must be restored");
        self.status.failed = Some(lost.into());
        self.status.clock.running = false;
    }

    fn zoom(&mut self, factor: f64, at: [f64; 2]) {
        let size = self.status.lattices.size;
        self.app
            .options
            .camera
            .zoom_at(factor, at, size, [700, 700]);
    }

    fn enlarge(&mut self, by: i8) {
        let scale = InterfaceScale::default().larger(by);
        self.app.options.interface_scale = scale.expect("a scale of the interface");
    }

    /// The ops of a round of all instances were run alone.
    fn calibrate(&mut self, share: f64) {
        let round = (self.round)(self.status.lattices.instances as u32);
        self.status.lab.isolated = Some(isolated(&round, share));
    }

    fn change_to_one_stream(&mut self) {
        (self.app.options.timeline, self.changed) = (true, true);
        self.status.setting.switches.streams = Streams::One;
        self.status.lab.last_effect = Some(effect());
    }

    /// A device whose ladder is recorded, and 'planar' on it.
    fn climb(&mut self) {
        self.beside(Ladder);
        self.status.engine.devices[0].name = DEVICE.into();
        self.status.setting.kernel = rung("planar");
        self.status.rates.stepping = Some(3.1e12);
    }

    fn edit(&mut self) {
        self.beside(Editor);
        self.app.options.timeline = true;
    }

    /// A kernel in the editor, and what its check has found.
    fn check(&mut self, checked: Option<Result<Right, Box<Fault>>>) {
        self.edit();
        let editor = &mut self.editor;
        *editor = CodeEditor::of_kernel(rung("shared"));
        editor.findings = checked.map(Findings::of_checked);
    }
}

/// Copies in a stream of their own.
const RACE: &str = "\
for i in 0..N {
    advance(i, i % 4);
    record(i, i % 4);
}
for i in 0..N {
    if i != 3 {
        wait(i, 4);
    }
    download(i, 4);
}
";

fn rung(name: &str) -> &'static Kernel {
    kernels::find(name).unwrap()
}

/// A kernel of the user's own: made once, since it stays for ever.
fn own_kernel() -> &'static Kernel {
    static OWN: LazyLock<&'static Kernel> = LazyLock::new(|| {
        let rung = rung("shared");
        let code = OwnCode {
            rung,
            source: CodeEditor::of_kernel(rung).text.to_string(),
            rules: None,
            gpu: None,
            cpu: None,
        };
        Kernel::own(code, rung.block())
    });
    *OWN
}

fn palette(typed: &str) -> Dialog {
    Dialog::Commands(Picker::new(typed, 0))
}

fn menu(topic: Topic) -> Dialog {
    Dialog::Menu(Picker::new("", topic as usize))
}

/// The controls of these beside a place of the usual size.
fn popup(settings: &[Setting], [x, y]: [f32; 2]) -> Dialog {
    let beside = Rect::from_min_size(pos2(x, y), vec2(200.0, 30.0));
    Dialog::Form(Form::of_settings(settings, beside))
}

fn within(rect: PixelRect, x: f64, y: f64) -> [f64; 2] {
    [
        f64::from(rect.x) + x * f64::from(rect.width),
        f64::from(rect.y) + y * f64::from(rect.height),
    ]
}

fn halve(status: &mut Status, differing: u64) {
    let b = Switches {
        streams: Streams::One,
        host_memory: HostMemory::Pageable,
        ..Switches::DEFAULT
    };
    status.lab.comparison = Some(AbComparison {
        round_us: [Some(1_234.5), Some(10_250.0)],
        finding: Some(Finding::of(0.12, [0.117, 0.123])),
        differing: Some((differing, 123_456)),
        each: status.lattices.instances / 2,
        ..comparison(b)
    });
}

/// Some panels have settled.
fn settle(status: &mut Status) {
    let all = [
        None,
        Some(Settled::Dead),
        Some(Settled::Period(2)),
        Some(Settled::Still),
        None,
        Some(Settled::Repeats(6144)),
        Some(Settled::Repeats(30)),
    ];
    let settled = all.into_iter().cycle().take(status.lattices.instances);
    status.panels.settled = settled.collect();
    status.setting.time.stop_when_still = StopWhenStill::All;
    status.setting.time.reseed = true;
    status.panels.reseeded = [4].into();
    status.clock.run_to = Some(1_000_000);
    status.panels.selected = 2;
}
