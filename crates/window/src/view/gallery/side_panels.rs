//! What stands beside and below the panels: timeline, lab, population, ladder, lessons.

use std::sync::{Arc, LazyLock};

use crate::view::gallery::panels::{halve, lost, settle};
use crate::view::gallery::{Scenario, screen};
use crate::view::{Dialog, Picker};
use engine::Kernel;
use engine::kernels::OwnCode;
use session::{Effect, Order, OwnRound, Status, Streams};
use ui::code_editor::{Guess, KernelFindings, RoundContext, judge};
use ui::fixtures::DEVICE;
use ui::fixtures::{
    effect, isolated, lesson_page, question_page, recorded_page, round_with_block_timestamps,
    serial_round, speedup_page, timed_round, waited_round,
};
use ui::prediction::OpTimes;
use ui::{CodeEditor, LessonScreen, SidePanel};
use workshop::{Case, CompilerError, Facts, Fault, Found};

pub(super) fn screens() -> Vec<Scenario> {
    [
        timeline(),
        causes(),
        blocks(),
        lab(),
        graphs(),
        editor(),
        lessons(),
    ]
    .concat()
}

/// The ops of a round of all instances were run alone.
fn calibrate(status: &mut Status) {
    let instances = status.lattices.instances as u32;
    status.lab.isolated = Some(isolated(&timed_round(instances), 0.05));
}

fn change_to_one_stream(status: &mut Status) {
    status.setting.switches.streams = Streams::One;
    status.lab.last_effect = Some(effect());
}

fn timeline() -> Vec<Scenario> {
    let shown = |name| screen(name).timeline();
    vec![
        shown("timeline").status(calibrate),
        shown("timeline-changed")
            .changed()
            .status(change_to_one_stream),
        shown("timeline-changed-64")
            .changed()
            .instances(64)
            .size(64, 64)
            .status(change_to_one_stream),
        shown("timeline-comparison")
            .changed()
            .status(|status| halve(status, 0)),
        shown("timeline-over-a-bar").mouse(|mouse| mouse.over_timeline(0.3, 0.45)),
        shown("timeline-frozen").mouse(|mouse| mouse.click_live()),
        shown("timeline-waits")
            .status(|status| {
                status.engine.name = "cpu";
                calibrate(status);
            })
            .round(waited_round),
        shown("timeline-1").instances(1),
        shown("timeline-256").instances(256).size(64, 64),
    ]
}

fn causes() -> Vec<Scenario> {
    let shown = |name| screen(name).side(SidePanel::Causes).timeline();
    vec![
        shown("causes-timeline")
            .status(|status| {
                status.setting.switches.streams = Streams::One;
                let instances = status.lattices.instances as u32;
                status.lab.isolated = Some(isolated(&serial_round(instances), 0.05));
            })
            .round(serial_round),
        shown("causes-several")
            .status(|status| {
                let round = waited_round(status.lattices.instances as u32);
                status.lab.isolated = Some(isolated(&round, 0.9));
            })
            .round(waited_round),
        shown("causes-none").status(calibrate),
    ]
}

fn add_block_timestamps(status: &mut Status, cost: Option<f64>) {
    (status.lab.block_timestamps, status.lab.timestamp_overhead) = (true, cost);
    calibrate(status);
}

fn blocks() -> Vec<Scenario> {
    let shown = |name| {
        screen(name)
            .timeline()
            .status(|status| add_block_timestamps(status, Some(1.03)))
            .round(|streams| round_with_block_timestamps(streams, 132))
    };
    vec![
        shown("blocks"),
        shown("blocks-over-a-block").mouse(|mouse| mouse.over_a_block()),
        shown("blocks-cpu")
            .status(|status| {
                add_block_timestamps(status, None);
                status.engine.name = "cpu";
                status.engine.devices[0].sm_count = 8;
            })
            .round(|streams| round_with_block_timestamps(streams, 8)),
    ]
}

fn lab() -> Vec<Scenario> {
    let shown = |name| screen(name).side(SidePanel::Lab);
    vec![
        shown("lab"),
        shown("lab-over-a-switch").mouse(|mouse| mouse.over_lab(0.4, 0.25)),
        shown("lab-refused").status(|status| {
            status.setting.switches.graphs = true;
            status.setting.kernel = engine::kernels::find("bits").unwrap();
        }),
        shown("lab-timeline")
            .timeline()
            .changed()
            .status(change_to_one_stream),
    ]
}

/// A device whose ladder is recorded, and 'planar' on it.
fn climb(status: &mut Status) {
    status.engine.devices[0].name = DEVICE.into();
    status.setting.kernel = engine::kernels::find("planar").unwrap();
    status.rates.stepping = Some(3.1e12);
}

fn graphs() -> Vec<Scenario> {
    vec![
        screen("population")
            .side(SidePanel::Population)
            .status(settle),
        screen("population-of-all-timeline")
            .side(SidePanel::Population)
            .timeline()
            .options(|options, _, _| options.population_of_all = true)
            .status(settle),
        screen("ladder").side(SidePanel::Ladder).status(climb),
        screen("ladder-timeline")
            .side(SidePanel::Ladder)
            .timeline()
            .status(climb),
        screen("ladder-presented")
            .side(SidePanel::Ladder)
            .timeline()
            .presentation()
            .status(climb),
        screen("ladder-source")
            .side(SidePanel::Ladder)
            .options(|options, _, _| {
                options.source = engine::kernels::find("shared").map(Kernel::index)
            })
            .status(climb),
        screen("ladder-source-timeline")
            .side(SidePanel::Ladder)
            .timeline()
            .options(|options, _, _| {
                options.source = engine::kernels::find("cooperative").map(Kernel::index)
            })
            .status(climb),
        screen("ladder-unrecorded")
            .side(SidePanel::Ladder)
            .status(|status| {
                status.engine.devices[0].name = "Unknown".into();
                status.rates.reached = vec![
                    ("global", 3.2e9),
                    ("shared", 2.1e9),
                    ("sync-global", 2.47e11),
                ];
            }),
    ]
}

const RACE: &str = "\
// Copies in a stream of their own.
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

/// A file with this text.
fn open(editor: &mut CodeEditor, text: &str) {
    editor.open("round.rhai".into(), text.into());
}

fn editor() -> Vec<Scenario> {
    let shown = |name| screen(name).side(SidePanel::Editor).timeline();
    vec![
        shown("editor"),
        shown("editor-predicted").status(calibrate),
        shown("editor-measured")
            .status(|status| {
                calibrate(status);
                let text = script::new_round().into();
                status.setting.own_round = Some(Arc::new(OwnRound::new(text, 16)));
                status.setting.switches.order = Order::Own;
                status.lab.last_effect = Some(Effect {
                    what: Order::Breadth.own_instead(),
                    ..effect()
                });
            })
            .editor(|editor| {
                let text = editor.text().clone();
                let context = RoundContext {
                    instances: 16,
                    times: Some(OpTimes::EQUAL),
                    before: Some(Order::Breadth),
                };
                editor.take_findings(&text, judge(&text, None, &context));
                editor.guess(Guess::Slower);
            }),
        shown("editor-error").editor(|editor| {
            open(
                editor,
                "\
for i in 0..N {
    advance(i, i % 4);
    downlod(i, i % 4);
}
",
            )
        }),
        shown("editor-race")
            .editor(|editor| open(editor, RACE))
            .status(calibrate),
        shown("editor-exercise").editor(|editor| editor.start(0)),
        shown("editor-presented")
            .presentation()
            .editor(|editor| open(editor, RACE)),
        shown("editor-kernel").editor(|editor| *editor = CodeEditor::of_kernel(rung("shared"))),
        shown("editor-kernel-error").editor(|editor| {
            let error = |line, text: &str| CompilerError {
                line: Some(line),
                column: None,
                text: text.into(),
            };
            let errors = vec![
                error(
                    19,
                    "'cells' was not declared in this scope; did you mean 'cell'?",
                ),
                error(24, "expected ';' before '}' token"),
            ];
            found(editor, Fault::DoesNotCompile { errors, more: 2 });
        }),
        shown("editor-kernel-race").editor(|editor| {
            let (generation, cell) = (1, (31, 8));
            found(
                editor,
                Fault::Race {
                    case: case(),
                    generation,
                    cell,
                    is_between_blocks: false,
                    barrier_after: Some(30),
                },
            );
        }),
        shown("editor-kernel-wrong").editor(|editor| {
            found(
                editor,
                Fault::WrongCell {
                    case: case(),
                    generation: 1,
                    cell: (32, 5),
                    expected: true,
                    found: Found::Dead,
                    wrong_cells: 17,
                },
            );
        }),
        shown("editor-kernel-right")
            .editor(|editor| {
                let facts = Facts {
                    registers: 24,
                    shared_bytes: 1360,
                    local_bytes: 0,
                    blocks_per_sm: 8,
                    block_threads: 256,
                    max_threads_per_sm: 2048,
                };
                right(editor, Some(facts));
            })
            .status(run_own),
        shown("editor-kernel-emulated")
            .editor(|editor| right(editor, None))
            .status(run_own),
        shown("editor-kernel-presented")
            .presentation()
            .editor(|editor| right(editor, None))
            .status(run_own),
    ]
}

fn rung(name: &str) -> &'static Kernel {
    engine::kernels::find(name).unwrap()
}

fn case() -> Case {
    Case {
        width: 33,
        height: 17,
        rule: "B3/S23".into(),
        density: 0.3,
        seed: 1,
        generations: 1,
        lattices: 1,
    }
}

/// A kernel, and what is wrong with it.
fn found(editor: &mut CodeEditor, fault: Fault) {
    *editor = CodeEditor::of_kernel(rung("shared"));
    let text = editor.text().clone();
    editor.end_check(&text, Some(KernelFindings::Wrong(Box::new(fault))));
}

/// The kernel of the user's own that is in use.
fn own_kernel() -> &'static Kernel {
    static OWN: LazyLock<&'static Kernel> = LazyLock::new(|| {
        let rung = rung("shared");
        let source = CodeEditor::of_kernel(rung).text().to_string();
        let code = OwnCode {
            rung,
            source,
            rules: None,
            gpu: None,
            cpu: None,
        };
        Kernel::own(code, rung.block())
    });
    *OWN
}

/// That kernel, checked.
fn right(editor: &mut CodeEditor, facts: Option<Facts>) {
    *editor = CodeEditor::of_kernel(rung("shared"));
    let text = editor.text().clone();
    let (cases, kernel) = (60, own_kernel());
    let right = KernelFindings::Right {
        cases,
        kernel,
        facts,
    };
    editor.end_check(&text, Some(right));
}

fn run_own(status: &mut Status) {
    status.setting.own_kernel = Some(own_kernel());
    status.setting.kernel = own_kernel();
}

fn lessons() -> Vec<Scenario> {
    vec![
        screen("lesson-list").dialog(|| Dialog::Lessons(Picker::at(6), Default::default())),
        screen("lesson-question").lesson(|| LessonScreen::Page(question_page())),
        screen("lesson-page").lesson(|| LessonScreen::Page(lesson_page(false))),
        screen("lesson-recorded").lesson(|| LessonScreen::Page(recorded_page())),
        screen("lesson-picture").lesson(|| LessonScreen::Page(lesson_page(true))),
        screen("lesson-speedup").lesson(|| LessonScreen::Page(speedup_page(5, true))),
        screen("lesson-speedup-under-way").lesson(|| LessonScreen::Page(speedup_page(3, false))),
        screen("lesson-lab-timeline")
            .side(SidePanel::Lab)
            .timeline()
            .lesson(|| LessonScreen::Page(lesson_page(false))),
        screen("lesson-failed")
            .lesson(|| LessonScreen::Page(lesson_page(false)))
            .status(|status| status.failed = Some(lost().into())),
    ]
}
