//! What lies over the panels: help, dialogs, tips.

use egui::{Rect, pos2, vec2};

use crate::view::gallery::{SCREEN, Scenario};
use crate::view::{
    Commands, Dialog, Dialogs, FileDialog, FileList, FileTask, Help, Menu, Popup, PromptDialog,
    Shelf,
};
use lang::tr;
use model::actions::{Prompt, Setting, Topic};
use ui::figures::{GRID, KERNEL, ROUND};

pub(super) fn screens() -> Vec<Scenario> {
    let mut screens = helps().to_vec();
    screens.extend(commands());
    screens.extend(menus());
    screens.extend(fields());
    screens.extend(popups());
    screens.extend(tips());
    screens
}

fn helps() -> [Scenario; 4] {
    let help = |name| Scenario {
        name,
        dialogs: |dialogs| dialogs.open(Dialog::Help(Help::default())),
        ..SCREEN
    };
    [
        help("help"),
        Scenario {
            windows: &[([1024, 768], 1.0)],
            ..help("help-1024")
        },
        Scenario {
            dialogs: |dialogs| dialogs.open(Dialog::Help(Help::searching("rotate"))),
            ..help("help-found")
        },
        Scenario {
            dialogs: |dialogs| dialogs.open(Dialog::Help(Help::searching("xyzzy"))),
            ..help("help-nothing")
        },
    ]
}

fn commands() -> [Scenario; 4] {
    [
        Scenario {
            name: "palette",
            dialogs: |dialogs| dialogs.open(Dialog::Commands(Commands::default())),
            ..SCREEN
        },
        Scenario {
            name: "palette-found",
            dialogs: |dialogs| dialogs.open(Dialog::Commands(Commands::searching("kernel"))),
            ..SCREEN
        },
        Scenario {
            name: "palette-nothing",
            dialogs: |dialogs| dialogs.open(Dialog::Commands(Commands::searching("xyzzy"))),
            ..SCREEN
        },
        Scenario {
            name: "palette-refused",
            instances: 1,
            dialogs: |dialogs| dialogs.open(Dialog::Commands(Commands::searching("compare two"))),
            ..SCREEN
        },
    ]
}

fn menus() -> [Scenario; 8] {
    let menu = |name| Scenario { name, ..SCREEN };
    [
        Scenario {
            dialogs: |dialogs| dialogs.open(Dialog::Menu(Menu::at(Topic::Time))),
            ..menu("menu-time")
        },
        Scenario {
            dialogs: |dialogs| dialogs.open(Dialog::Menu(Menu::at(Topic::Cells))),
            ..menu("menu-cells")
        },
        Scenario {
            dialogs: |dialogs| dialogs.open(Dialog::Menu(Menu::at(Topic::View))),
            instances: 1,
            ..menu("menu-view")
        },
        Scenario {
            dialogs: |dialogs| dialogs.open(Dialog::Menu(Menu::at(Topic::Switches))),
            ..menu("menu-switches")
        },
        Scenario {
            dialogs: |dialogs| dialogs.open(Dialog::Menu(Menu::at(Topic::Measuring))),
            options: |options, _, _| options.timeline = true,
            ..menu("menu-measuring")
        },
        Scenario {
            dialogs: |dialogs| dialogs.open(Dialog::Menu(Menu::at(Topic::Lessons))),
            ..menu("menu-lessons")
        },
        Scenario {
            dialogs: |dialogs| dialogs.open(Dialog::Menu(Menu::at(Topic::Files))),
            ..menu("menu-files")
        },
        Scenario {
            dialogs: |dialogs| dialogs.open(Dialog::Menu(Menu::at(Topic::Program))),
            starting: true,
            ..menu("menu-program")
        },
    ]
}

fn fields() -> [Scenario; 8] {
    [
        Scenario {
            name: "open-a-file",
            dialogs: |dialogs| {
                let file = FileDialog::new(FileTask::Open, String::new(), None);
                let names = (0..40).map(|at| format!("lifestreams-20261121-1108{at:02}.json"));
                dialogs.open(Dialog::File(file.listing(FileList {
                    folder: "/home/teacher/lecture".into(),
                    names: Ok(names.chain(["gosper-gun.rle".into()]).collect()),
                    left_out: 3,
                })));
            },
            ..SCREEN
        },
        Scenario {
            name: "open-unlisted",
            dialogs: |dialogs| {
                let file = FileDialog::new(FileTask::Open, String::new(), None);
                dialogs.open(Dialog::File(file.listing(FileList {
                    folder: "/root".into(),
                    names: Err("EACCES (13)".into()),
                    left_out: 0,
                })));
            },
            ..SCREEN
        },
        Scenario {
            name: "open-failed",
            dialogs: |dialogs| {
                let why = tr!("line {line}, column {column}: ", line = 2, column = 14);
                let reason = tr!(
                    "unknown {it}; cells are b (dead) and o (alive), or . and A to X by their \
                     states, a row ends with $ and the pattern with !",
                    it = "'?'"
                );
                let why = format!("~/patterns/glider.rle, {why}{reason}");
                let typed = "~/patterns/glider.rle".into();
                dialogs.open(Dialog::File(FileDialog::new(
                    FileTask::Open,
                    typed,
                    Some(why),
                )));
            },
            ..SCREEN
        },
        Scenario {
            name: "save-failed",
            dialogs: |dialogs| {
                let reason = tr!(
                    "there is no folder {folder}; create it first",
                    folder = "/nowhere/at"
                );
                let path = "/nowhere/at/all.rle";
                let why = tr!("cannot save {path}: {reason}");
                let typed = "/nowhere/at/all.rle".into();
                dialogs.open(Dialog::File(FileDialog::new(
                    FileTask::Save,
                    typed,
                    Some(why),
                )));
            },
            ..SCREEN
        },
        Scenario {
            name: "go-to",
            dialogs: |dialogs| {
                dialogs.open(Dialog::Prompt(PromptDialog::new(
                    Prompt::Generation,
                    String::new(),
                )));
            },
            ..SCREEN
        },
        Scenario {
            name: "prompt-rule",
            dialogs: |dialogs| {
                dialogs.open(Dialog::Prompt(PromptDialog::new(
                    Prompt::Rule,
                    "HiLife".into(),
                )))
            },
            ..SCREEN
        },
        Scenario {
            name: "shelf",
            dialogs: |dialogs| dialogs.open(Dialog::Shelf(Shelf::default())),
            ..SCREEN
        },
        Scenario {
            name: "shelf-found",
            dialogs: |dialogs| dialogs.open(Dialog::Shelf(Shelf::searching("gun"))),
            ..SCREEN
        },
    ]
}

fn popups() -> [Scenario; 5] {
    let popup = |name| Scenario { name, ..SCREEN };
    [
        Scenario {
            dialogs: |dialogs| open_popup(dialogs, GRID, [1000.0, 260.0]),
            ..popup("popup-lattices")
        },
        Scenario {
            dialogs: |dialogs| open_popup(dialogs, KERNEL, [1000.0, 560.0]),
            ..popup("popup-kernel")
        },
        Scenario {
            dialogs: |dialogs| open_popup(dialogs, ROUND, [120.0, 600.0]),
            options: |options, _, _| options.presentation = true,
            ..popup("popup-presentation")
        },
        Scenario {
            dialogs: |dialogs| {
                open_popup(dialogs, &[Setting::Value(Prompt::Rule)], [1000.0, 300.0])
            },
            ..popup("popup-rule")
        },
        Scenario {
            dialogs: |dialogs| dialogs.open(Dialog::Popup(Popup::of_panel([400.0, 200.0]))),
            ..popup("popup-panel")
        },
    ]
}

/// Opens the controls of these beside a place of the usual size.
fn open_popup(dialogs: &mut Dialogs, settings: &[Setting], [x, y]: [f32; 2]) {
    let beside = Rect::from_min_size(pos2(x, y), vec2(200.0, 30.0));
    dialogs.open(Dialog::Popup(Popup::of_settings(settings, beside)));
}

fn tips() -> [Scenario; 4] {
    let tip = |name, tip| Scenario {
        name,
        tip: Some(tip),
        ..SCREEN
    };
    [
        tip("tip-menu", 0),
        tip("tip-state", 1),
        tip("tip-figure", 5),
        tip("tip-long", 12),
    ]
}
