//! What lies over the panels: help, dialogs, tips; and unusual windows.

use egui::{Rect, pos2, vec2};

use crate::view::gallery::panels::halve;
use crate::view::gallery::{Scenario, WINDOWS, Window, screen};
use crate::view::{Dialog, FileDialog, FileList, FileTask, Picker, Popup, PromptDialog};
use lang::tr;
use ui::actions::{Setting, Topic};
use ui::figures::{GRID, KERNEL, ROUND};
use ui::fixtures::lesson_page;
use ui::{InterfaceScale, LessonScreen, SidePanel};

pub(super) fn screens() -> Vec<Scenario> {
    [helps(), commands(), menus(), fields(), popups(), odd()].concat()
}

fn helps() -> Vec<Scenario> {
    let help = |name| screen(name).dialog(|| Dialog::Help(Picker::default()));
    vec![
        help("help"),
        help("help-1024").windows(&[([1024, 768], 1.0)]),
        help("help-found").dialog(|| Dialog::Help(Picker::new("rotate", 0))),
        help("help-nothing").dialog(|| Dialog::Help(Picker::new("xyzzy", 0))),
    ]
}

fn commands() -> Vec<Scenario> {
    vec![
        screen("palette").dialog(|| Dialog::Commands(Picker::default(), Default::default())),
        screen("palette-found")
            .dialog(|| Dialog::Commands(Picker::new("kernel", 0), Default::default())),
        screen("palette-nothing")
            .dialog(|| Dialog::Commands(Picker::new("xyzzy", 0), Default::default())),
        screen("palette-refused")
            .instances(1)
            .dialog(|| Dialog::Commands(Picker::new("compare two", 0), Default::default())),
    ]
}

fn menus() -> Vec<Scenario> {
    vec![
        screen("menu-time").dialog(|| Dialog::Menu(Picker::new("", Topic::Time as usize))),
        screen("menu-cells").dialog(|| Dialog::Menu(Picker::new("", Topic::Cells as usize))),
        screen("menu-view")
            .dialog(|| Dialog::Menu(Picker::new("", Topic::View as usize)))
            .instances(1),
        screen("menu-switches").dialog(|| Dialog::Menu(Picker::new("", Topic::Switches as usize))),
        screen("menu-measuring")
            .dialog(|| Dialog::Menu(Picker::new("", Topic::Measuring as usize)))
            .timeline(),
        screen("menu-lessons").dialog(|| Dialog::Menu(Picker::new("", Topic::Lessons as usize))),
        screen("menu-files").dialog(|| Dialog::Menu(Picker::new("", Topic::Files as usize))),
        screen("menu-program")
            .dialog(|| Dialog::Menu(Picker::new("", Topic::Program as usize)))
            .starting(),
    ]
}

fn fields() -> Vec<Scenario> {
    vec![
        screen("open-a-file").dialog(|| {
            let file = FileDialog::new(FileTask::Open, String::new(), None);
            let names = (0..40).map(|at| format!("lifestreams-20261121-1108{at:02}.json"));
            Dialog::File(file.listing(FileList {
                folder: "/home/teacher/lecture".into(),
                names: Ok(names.chain(["gosper-gun.rle".into()]).collect()),
                left_out: 3,
            }))
        }),
        screen("open-unlisted").dialog(|| {
            let file = FileDialog::new(FileTask::Open, String::new(), None);
            Dialog::File(file.listing(FileList {
                folder: "/root".into(),
                names: Err("EACCES (13)".into()),
                left_out: 0,
            }))
        }),
        screen("open-failed").dialog(|| {
            let why = tr!("line {line}, column {column}: ", line = 2, column = 14);
            let reason = tr!(
                "unknown {it}; cells are b (dead) and o (alive), or . and A to X by their \
                 states, a row ends with $ and the pattern with !",
                it = "'?'"
            );
            let why = format!("~/patterns/glider.rle, {why}{reason}");
            let typed = "~/patterns/glider.rle".into();
            Dialog::File(FileDialog::new(FileTask::Open, typed, Some(why)))
        }),
        screen("save-failed").dialog(|| {
            let reason = tr!(
                "there is no folder {folder}; create it first",
                folder = "/nowhere/at"
            );
            let path = "/nowhere/at/all.rle";
            let why = tr!("cannot save {path}: {reason}");
            let typed = "/nowhere/at/all.rle".into();
            Dialog::File(FileDialog::new(FileTask::Save, typed, Some(why)))
        }),
        screen("go-to")
            .dialog(|| Dialog::Prompt(PromptDialog::new(Setting::Generation, String::new()))),
        screen("prompt-rule")
            .dialog(|| Dialog::Prompt(PromptDialog::new(Setting::Rule, "HiLife".into()))),
        screen("shelf").dialog(|| Dialog::Shelf(Picker::default())),
        screen("shelf-found").dialog(|| Dialog::Shelf(Picker::new("gun", 0))),
    ]
}

fn popups() -> Vec<Scenario> {
    vec![
        screen("popup-lattices").dialog(|| popup(GRID, [1000.0, 260.0])),
        screen("popup-kernel").dialog(|| popup(KERNEL, [1000.0, 560.0])),
        screen("popup-presentation")
            .dialog(|| popup(ROUND, [120.0, 600.0]))
            .presentation(),
        screen("popup-rule").dialog(|| popup(&[Setting::Rule], [1000.0, 300.0])),
        screen("popup-panel").dialog(|| Dialog::Popup(Popup::of_panel(pos2(400.0, 200.0)))),
    ]
}

/// The controls of these beside a place of the usual size.
fn popup(settings: &[Setting], [x, y]: [f32; 2]) -> Dialog {
    let beside = Rect::from_min_size(pos2(x, y), vec2(200.0, 30.0));
    Dialog::Popup(Popup::of_settings(settings, beside))
}

const SMALL: &[Window] = &[([800, 500], 1.0), ([800, 500], 2.0), ([640, 400], 1.0)];
const NARROW: &[Window] = &[([700, 1100], 1.0), ([480, 900], 1.0)];
const ODD: &[Window] = &[
    ([800, 500], 1.0),
    ([700, 1100], 1.0),
    ([480, 900], 1.0),
    ([2560, 700], 1.0),
    ([1440, 900], 1.5),
];

/// Unusual windows: small, narrow, tall, and with a large interface scale.
fn odd() -> Vec<Scenario> {
    let odd = |name, windows| screen(name).windows(windows);
    let mut screens = vec![
        odd("odd-panels", ODD),
        odd("odd-timeline", ODD).timeline(),
        odd("odd-lab-timeline", ODD).side(SidePanel::Lab).timeline(),
        odd("odd-population", ODD).side(SidePanel::Population),
        odd("odd-ladder", NARROW)
            .side(SidePanel::Ladder)
            .status(|status| status.engine.devices[0].name = "Unknown".into()),
        odd("odd-lesson", ODD).lesson(|| LessonScreen::Page(lesson_page(true))),
        odd("odd-comparison", NARROW).status(|status| halve(status, 0)),
        odd("odd-help", ODD).dialog(|| Dialog::Help(Picker::default())),
        odd("odd-presentation", SMALL)
            .presentation()
            .status(|status| status.clock.running = false),
        odd("odd-palette", ODD)
            .dialog(|| Dialog::Commands(Picker::new("kernel", 0), Default::default())),
        odd("odd-menu", ODD).dialog(|| Dialog::Menu(Picker::new("", Topic::View as usize))),
    ];
    screens.extend([
        odd("interface-50", &WINDOWS)
            .options(|options, _, _| options.interface_scale = stepped(InterfaceScale::smaller, 5)),
        odd("interface-150", &WINDOWS)
            .options(|options, _, _| options.interface_scale = stepped(InterfaceScale::larger, 3)),
        odd("interface-250", &WINDOWS)
            .options(|options, _, _| options.interface_scale = stepped(InterfaceScale::larger, 6)),
        odd("interface-250-menu", &WINDOWS)
            .options(|options, _, _| options.interface_scale = stepped(InterfaceScale::larger, 6))
            .dialog(|| Dialog::Menu(Picker::new("", Topic::Cells as usize))),
    ]);
    screens
}

fn stepped(step: fn(InterfaceScale) -> Option<InterfaceScale>, times: usize) -> InterfaceScale {
    let zooms = std::iter::successors(Some(InterfaceScale::default()), |&zoom| step(zoom));
    zooms.take(times + 1).last().unwrap()
}
