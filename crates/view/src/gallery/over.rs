//! What lies over the panels: help, dialogs, tips.

use crate::gallery::{SCREEN, Screen};
use crate::{Commands, FileDialog, GoTo, Menu, Shelf};
use lang::tr;

pub(super) fn screens() -> Vec<Screen> {
    let mut screens = vec![Screen {
        name: "help",
        options: |options, _, _| options.help = true,
        ..SCREEN
    }];
    screens.extend(commands());
    screens.extend(menus());
    screens.extend(fields());
    screens.extend(tips());
    screens
}

fn commands() -> [Screen; 4] {
    [
        Screen {
            name: "palette",
            dialogs: |dialogs| dialogs.commands = Some(Commands::default()),
            ..SCREEN
        },
        Screen {
            name: "palette-found",
            dialogs: |dialogs| dialogs.commands = Some(Commands::searching("kernel")),
            ..SCREEN
        },
        Screen {
            name: "palette-nothing",
            dialogs: |dialogs| dialogs.commands = Some(Commands::searching("xyzzy")),
            ..SCREEN
        },
        Screen {
            name: "palette-refused",
            instances: 1,
            dialogs: |dialogs| dialogs.commands = Some(Commands::searching("two halves")),
            ..SCREEN
        },
    ]
}

fn menus() -> [Screen; 6] {
    let menu = |name| Screen { name, ..SCREEN };
    [
        Screen {
            dialogs: |dialogs| dialogs.menu = Some(Menu::at(0)),
            ..menu("menu-file")
        },
        Screen {
            dialogs: |dialogs| dialogs.menu = Some(Menu::at(1)),
            ..menu("menu-edit")
        },
        Screen {
            dialogs: |dialogs| dialogs.menu = Some(Menu::at(2)),
            ..menu("menu-run")
        },
        Screen {
            dialogs: |dialogs| dialogs.menu = Some(Menu::at(3)),
            instances: 1,
            ..menu("menu-view")
        },
        Screen {
            dialogs: |dialogs| dialogs.menu = Some(Menu::at(4)),
            ..menu("menu-lab")
        },
        Screen {
            dialogs: |dialogs| dialogs.menu = Some(Menu::at(5)),
            ..menu("menu-help")
        },
    ]
}

fn fields() -> [Screen; 5] {
    [
        Screen {
            name: "open-a-file",
            dialogs: |dialogs| {
                dialogs.file = Some(FileDialog::new(false, String::new(), None));
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
                dialogs.file = Some(FileDialog::new(false, typed, Some(why)));
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
                dialogs.file = Some(FileDialog::new(true, typed, Some(why)));
            },
            ..SCREEN
        },
        Screen {
            name: "go-to",
            dialogs: |dialogs| dialogs.go_to = Some(GoTo::default()),
            ..SCREEN
        },
        Screen {
            name: "shelf",
            dialogs: |dialogs| dialogs.shelf = Some(Shelf::default()),
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
