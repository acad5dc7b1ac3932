//! What stands beside and below the panels: timeline, lab, population, ladder, lessons.

use std::sync::{Arc, LazyLock};

use crate::view::gallery::panels::{halve, lost, settle};
use crate::view::gallery::{SCREEN, Scenario};
use engine::Kernel;
use engine::kernels::OwnCode;
use lang::tr;
use model::ladder::fixtures::ladder;
use model::prediction::OpTimes;
use model::{Effect, Finding, InWords, Order, OwnRound, SettingChange, Status, Streams};
use own_kernel::{Case, CompilerError, Facts, Fault, Found};
use ui::code_editor::{Guess, KernelFindings, RoundContext, judge};
use ui::fixtures::{
    isolated, lesson_list, lesson_page, question_page, recorded_page, round_with_block_timestamps,
    serial_round, speedup_page, timed_round, waited_round,
};
use ui::{CodeEditor, LessonScreen, SidePanel};

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

/// What one stream for all instances did.
fn one_stream() -> Effect {
    Effect {
        what: tr!("one stream for all instances").into(),
        round_us: [Some(170.0), Some(2180.0)],
        source: Default::default(),
        finding: Some(Finding::of(0.078, [0.0765, 0.0794])),
    }
}

fn timeline() -> Vec<Scenario> {
    let shown = Scenario {
        options: |options, _, _| options.timeline = true,
        ..SCREEN
    };
    vec![
        Scenario {
            name: "timeline",
            status: calibrate,
            ..shown
        },
        Scenario {
            name: "timeline-changed",
            changed: true,
            status: |status| {
                status.setting.switches.streams = Streams::One;
                status.lab.last_effect = Some(one_stream());
            },
            ..shown
        },
        Scenario {
            name: "timeline-changed-64",
            changed: true,
            instances: 64,
            size: (64, 64),
            status: |status| {
                status.setting.switches.streams = Streams::One;
                status.lab.last_effect = Some(one_stream());
            },
            ..shown
        },
        Scenario {
            name: "timeline-comparison",
            changed: true,
            status: |status| halve(status, 0),
            ..shown
        },
        Scenario {
            name: "timeline-over-a-bar",
            mouse: |mouse| mouse.over_timeline(0.3, 0.45),
            ..shown
        },
        Scenario {
            name: "timeline-frozen",
            mouse: |mouse| mouse.click_live(),
            ..shown
        },
        Scenario {
            name: "timeline-waits",
            status: |status| {
                status.engine.name = "cpu";
                calibrate(status);
            },
            round: waited_round,
            ..shown
        },
        Scenario {
            name: "timeline-1",
            instances: 1,
            ..shown
        },
        Scenario {
            name: "timeline-256",
            instances: 256,
            size: (64, 64),
            ..shown
        },
    ]
}

fn causes() -> Vec<Scenario> {
    let shown = Scenario {
        options: |options, _, _| (options.side, options.timeline) = (Some(SidePanel::Causes), true),
        ..SCREEN
    };
    vec![
        Scenario {
            name: "causes-timeline",
            status: |status| {
                status.setting.switches.streams = Streams::One;
                let instances = status.lattices.instances as u32;
                status.lab.isolated = Some(isolated(&serial_round(instances), 0.05));
            },
            round: serial_round,
            ..shown
        },
        Scenario {
            name: "causes-several",
            status: |status| {
                let round = waited_round(status.lattices.instances as u32);
                status.lab.isolated = Some(isolated(&round, 0.9));
            },
            round: waited_round,
            ..shown
        },
        Scenario {
            name: "causes-none",
            status: calibrate,
            ..shown
        },
    ]
}

fn add_block_timestamps(status: &mut Status, cost: Option<f64>) {
    (status.lab.block_timestamps, status.lab.timestamp_overhead) = (true, cost);
    calibrate(status);
}

fn blocks() -> Vec<Scenario> {
    let shown = Scenario {
        options: |options, _, _| options.timeline = true,
        status: |status| add_block_timestamps(status, Some(1.03)),
        round: |streams| round_with_block_timestamps(streams, 132),
        ..SCREEN
    };
    vec![
        Scenario {
            name: "blocks",
            ..shown
        },
        Scenario {
            name: "blocks-over-a-block",
            mouse: |mouse| mouse.over_a_block(),
            ..shown
        },
        Scenario {
            name: "blocks-cpu",
            status: |status| {
                add_block_timestamps(status, None);
                status.engine.name = "cpu";
                status.engine.devices[0].sm_count = 8;
            },
            round: |streams| round_with_block_timestamps(streams, 8),
            ..shown
        },
    ]
}

fn lab() -> Vec<Scenario> {
    let shown = Scenario {
        options: |options, _, _| options.side = Some(SidePanel::Lab),
        ..SCREEN
    };
    vec![
        Scenario {
            name: "lab",
            ..shown
        },
        Scenario {
            name: "lab-over-a-switch",
            mouse: |mouse| mouse.over_lab(0.4, 0.25),
            ..shown
        },
        Scenario {
            name: "lab-in-rust",
            mouse: |mouse| mouse.click_tabs(),
            ..shown
        },
        Scenario {
            name: "lab-refused",
            status: |status| {
                status.setting.switches.graphs = true;
                status.setting.kernel = engine::kernels::find("bits").unwrap();
            },
            ..shown
        },
        Scenario {
            name: "lab-timeline",
            changed: true,
            options: |options, _, _| {
                (options.side, options.timeline) = (Some(SidePanel::Lab), true)
            },
            status: |status| {
                status.setting.switches.streams = Streams::One;
                status.lab.last_effect = Some(one_stream());
            },
            ..SCREEN
        },
    ]
}

/// A device whose ladder is recorded, and 'planar' on it.
fn climb(status: &mut Status) {
    status.engine.recorded = Some(Box::leak(Box::new(ladder())));
    status.setting.kernel = engine::kernels::find("planar").unwrap();
    status.rates.stepping = Some(3.1e12);
}

fn graphs() -> Vec<Scenario> {
    vec![
        Scenario {
            name: "population",
            options: |options, _, _| options.side = Some(SidePanel::Population),
            status: settle,
            ..SCREEN
        },
        Scenario {
            name: "population-of-all-timeline",
            options: |options, _, _| {
                (options.side, options.population_of_all) = (Some(SidePanel::Population), true);
                options.timeline = true;
            },
            status: settle,
            ..SCREEN
        },
        Scenario {
            name: "ladder",
            options: |options, _, _| options.side = Some(SidePanel::Ladder),
            status: climb,
            ..SCREEN
        },
        Scenario {
            name: "ladder-timeline",
            options: |options, _, _| {
                (options.side, options.timeline) = (Some(SidePanel::Ladder), true)
            },
            status: climb,
            ..SCREEN
        },
        Scenario {
            name: "ladder-presented",
            options: |options, _, _| {
                (options.side, options.timeline) = (Some(SidePanel::Ladder), true);
                options.presentation = true;
            },
            status: climb,
            ..SCREEN
        },
        Scenario {
            name: "ladder-source",
            options: |options, _, _| {
                options.side = Some(SidePanel::Ladder);
                options.source = engine::kernels::find("shared").map(Kernel::index);
            },
            status: climb,
            ..SCREEN
        },
        Scenario {
            name: "ladder-source-timeline",
            options: |options, _, _| {
                (options.side, options.timeline) = (Some(SidePanel::Ladder), true);
                options.source = engine::kernels::find("cooperative").map(Kernel::index);
            },
            status: climb,
            ..SCREEN
        },
        Scenario {
            name: "ladder-unrecorded",
            options: |options, _, _| options.side = Some(SidePanel::Ladder),
            status: |status| {
                status.rates.reached = vec![
                    ("global", 3.2e9),
                    ("shared", 2.1e9),
                    ("sync-global", 2.47e11),
                ];
            },
            ..SCREEN
        },
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
    let shown = Scenario {
        options: |options, _, _| (options.side, options.timeline) = (Some(SidePanel::Editor), true),
        ..SCREEN
    };
    vec![
        Scenario {
            name: "editor",
            ..shown
        },
        Scenario {
            name: "editor-predicted",
            status: calibrate,
            ..shown
        },
        Scenario {
            name: "editor-measured",
            status: |status| {
                calibrate(status);
                let text = script::new_round().into();
                status.setting.own_round = Some(Arc::new(OwnRound::new(text, 16)));
                status.setting.switches.order = Order::Own;
                status.lab.last_effect = Some(Effect {
                    what: SettingChange::OwnRound(Order::Breadth).message(),
                    ..one_stream()
                });
            },
            editor: |editor| {
                let text = editor.text().clone();
                let context = RoundContext {
                    instances: 16,
                    times: Some(OpTimes::EQUAL),
                    before: Some(Order::Breadth),
                };
                editor.take_findings(&text, judge(&text, None, &context));
                editor.guess(Guess::Slower);
            },
            ..shown
        },
        Scenario {
            name: "editor-error",
            editor: |editor| {
                open(
                    editor,
                    "\
for i in 0..N {
    advance(i, i % 4);
    downlod(i, i % 4);
}
",
                )
            },
            ..shown
        },
        Scenario {
            name: "editor-race",
            editor: |editor| open(editor, RACE),
            status: calibrate,
            ..shown
        },
        Scenario {
            name: "editor-exercise",
            editor: |editor| editor.start(0),
            ..shown
        },
        Scenario {
            name: "editor-presented",
            options: |options, _, _| {
                (options.side, options.timeline) = (Some(SidePanel::Editor), true);
                options.presentation = true;
            },
            editor: |editor| open(editor, RACE),
            ..SCREEN
        },
        Scenario {
            name: "editor-kernel",
            editor: |editor| editor.replace(CodeEditor::of_kernel(rung("shared"))),
            ..shown
        },
        Scenario {
            name: "editor-kernel-error",
            editor: |editor| {
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
            },
            ..shown
        },
        Scenario {
            name: "editor-kernel-race",
            editor: |editor| {
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
            },
            ..shown
        },
        Scenario {
            name: "editor-kernel-wrong",
            editor: |editor| {
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
            },
            ..shown
        },
        Scenario {
            name: "editor-kernel-right",
            editor: |editor| {
                let facts = Facts {
                    registers: 24,
                    shared_bytes: 1360,
                    local_bytes: 0,
                    blocks_per_sm: 8,
                    block_threads: 256,
                    max_threads_per_sm: 2048,
                };
                right(editor, Some(facts));
            },
            status: run_own,
            ..shown
        },
        Scenario {
            name: "editor-kernel-emulated",
            editor: |editor| right(editor, None),
            status: run_own,
            ..shown
        },
        Scenario {
            name: "editor-kernel-presented",
            options: |options, _, _| {
                (options.side, options.timeline) = (Some(SidePanel::Editor), true);
                options.presentation = true;
            },
            editor: |editor| right(editor, None),
            status: run_own,
            ..SCREEN
        },
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
    editor.replace(CodeEditor::of_kernel(rung("shared")));
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
    editor.replace(CodeEditor::of_kernel(rung("shared")));
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
        Scenario {
            name: "lesson-list",
            lesson: || Some(lesson_list(6)),
            ..SCREEN
        },
        Scenario {
            name: "lesson-question",
            lesson: || Some(LessonScreen::Page(question_page())),
            ..SCREEN
        },
        Scenario {
            name: "lesson-page",
            lesson: || Some(LessonScreen::Page(lesson_page(false))),
            ..SCREEN
        },
        Scenario {
            name: "lesson-recorded",
            lesson: || Some(LessonScreen::Page(recorded_page())),
            ..SCREEN
        },
        Scenario {
            name: "lesson-picture",
            lesson: || Some(LessonScreen::Page(lesson_page(true))),
            ..SCREEN
        },
        Scenario {
            name: "lesson-speedup",
            lesson: || Some(LessonScreen::Page(speedup_page(5, true))),
            ..SCREEN
        },
        Scenario {
            name: "lesson-speedup-under-way",
            lesson: || Some(LessonScreen::Page(speedup_page(3, false))),
            ..SCREEN
        },
        Scenario {
            name: "lesson-lab-timeline",
            options: |options, _, _| {
                (options.side, options.timeline) = (Some(SidePanel::Lab), true)
            },
            lesson: || Some(LessonScreen::Page(lesson_page(false))),
            ..SCREEN
        },
        Scenario {
            name: "lesson-failed",
            lesson: || Some(LessonScreen::Page(lesson_page(false))),
            status: |status| {
                status.failed = Some(lost().into());
            },
            ..SCREEN
        },
    ]
}
