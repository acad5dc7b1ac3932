//! What lies over the panels: help, dialogs, tips.

use crate::gallery::{SCREEN, Screen};
use crate::{Commands, Dialog, FileDialog, FileTask, GoTo, Help, Menu, Shelf};
use lang::tr;
use model::actions::Topic;

pub(super) fn screens() -> Vec<Screen> {
    let mut screens = helps().to_vec();
    screens.extend(commands());
    screens.extend(menus());
    screens.extend(fields());
    screens.extend(tips());
    screens
}

fn helps() -> [Screen; 4] {
    let help = |name| Screen {
        name,
        dialogs: |dialogs| dialogs.open(Dialog::Help(Help::default())),
        ..SCREEN
    };
    [
        help("help"),
        Screen {
            windows: &[([1024, 768], 1.0)],
            ..help("help-1024")
        },
        Screen {
            dialogs: |dialogs| dialogs.open(Dialog::Help(Help::searching("rotate"))),
            ..help("help-found")
        },
        Screen {
            dialogs: |dialogs| dialogs.open(Dialog::Help(Help::searching("xyzzy"))),
            ..help("help-nothing")
        },
    ]
}

fn commands() -> [Screen; 4] {
    [
        Screen {
            name: "palette",
            dialogs: |dialogs| dialogs.open(Dialog::Commands(Commands::default())),
            ..SCREEN
        },
        Screen {
            name: "palette-found",
            dialogs: |dialogs| dialogs.open(Dialog::Commands(Commands::searching("kernel"))),
            ..SCREEN
        },
        Screen {
            name: "palette-nothing",
            dialogs: |dialogs| dialogs.open(Dialog::Commands(Commands::searching("xyzzy"))),
            ..SCREEN
        },
        Screen {
            name: "palette-refused",
            instances: 1,
            dialogs: |dialogs| dialogs.open(Dialog::Commands(Commands::searching("compare two"))),
            ..SCREEN
        },
    ]
}

fn menus() -> [Screen; 8] {
    let menu = |name| Screen { name, ..SCREEN };
    [
        Screen {
            dialogs: |dialogs| dialogs.open(Dialog::Menu(Menu::at(Topic::Time))),
            ..menu("menu-time")
        },
        Screen {
            dialogs: |dialogs| dialogs.open(Dialog::Menu(Menu::at(Topic::Cells))),
            ..menu("menu-cells")
        },
        Screen {
            dialogs: |dialogs| dialogs.open(Dialog::Menu(Menu::at(Topic::View))),
            instances: 1,
            ..menu("menu-view")
        },
        Screen {
            dialogs: |dialogs| dialogs.open(Dialog::Menu(Menu::at(Topic::Switches))),
            ..menu("menu-switches")
        },
        Screen {
            dialogs: |dialogs| dialogs.open(Dialog::Menu(Menu::at(Topic::Measuring))),
            options: |options, _, _| options.timeline = true,
            ..menu("menu-measuring")
        },
        Screen {
            dialogs: |dialogs| dialogs.open(Dialog::Menu(Menu::at(Topic::Lessons))),
            ..menu("menu-lessons")
        },
        Screen {
            dialogs: |dialogs| dialogs.open(Dialog::Menu(Menu::at(Topic::Files))),
            ..menu("menu-files")
        },
        Screen {
            dialogs: |dialogs| dialogs.open(Dialog::Menu(Menu::at(Topic::Program))),
            starting: true,
            ..menu("menu-program")
        },
    ]
}

fn fields() -> [Screen; 5] {
    [
        Screen {
            name: "open-a-file",
            dialogs: |dialogs| {
                dialogs.open(Dialog::File(FileDialog::new(
                    FileTask::Open,
                    String::new(),
                    None,
                )));
            },
            ..SCREEN
        },
        Screen {
            name: "open-failed",
            dialogs: |dialogs| {
                let why = tr!("line {line}, column {column}: ", line = 2, column = 14);
                let why = format!("~/patterns/glider.rle, {why}")
                    + &tr!(
                        "unknown {it}; cells are b (dead) and o (alive), or . and A to X by their \
                         states, a row ends with $ and the pattern with !",
                        it = "'?'"
                    );
                let typed = "~/patterns/glider.rle".into();
                dialogs.open(Dialog::File(FileDialog::new(
                    FileTask::Open,
                    typed,
                    Some(why),
                )));
            },
            ..SCREEN
        },
        Screen {
            name: "save-failed",
            dialogs: |dialogs| {
                let reason = tr!(
                    "there is no folder {folder}; create it first",
                    folder = "/nowhere/at"
                );
                let path = "/nowhere/at/all.rle";
                let why = tr!("cannot save {path}: {reason}", path = path, reason = reason);
                let typed = "/nowhere/at/all.rle".into();
                dialogs.open(Dialog::File(FileDialog::new(
                    FileTask::Save,
                    typed,
                    Some(why),
                )));
            },
            ..SCREEN
        },
        Screen {
            name: "go-to",
            dialogs: |dialogs| dialogs.open(Dialog::GoTo(GoTo::default())),
            ..SCREEN
        },
        Screen {
            name: "shelf",
            dialogs: |dialogs| dialogs.open(Dialog::Shelf(Shelf::default())),
            ..SCREEN
        },
    ]
}

fn tips() -> [Screen; 4] {
    let tip = |name, tip| Screen {
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
