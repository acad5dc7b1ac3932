//! Unusual windows: small, narrow, tall, and with a large interface scale.

use crate::view::Dialog;
use crate::view::gallery::{SCREEN, Scenario, WINDOWS, Window};
use crate::view::{Commands, Help, Menu};
use model::actions::Topic;
use ui::SidePanel;
use ui::fixtures::lesson_page;
use ui::{InterfaceScale, LessonScreen};

const SMALL: &[Window] = &[([800, 500], 1.0), ([800, 500], 2.0), ([640, 400], 1.0)];
const NARROW: &[Window] = &[([700, 1100], 1.0), ([480, 900], 1.0)];
const ODD: &[Window] = &[
    ([800, 500], 1.0),
    ([700, 1100], 1.0),
    ([480, 900], 1.0),
    ([2560, 700], 1.0),
    ([1440, 900], 1.5),
];

pub(super) fn screens() -> Vec<Scenario> {
    let odd = |name, windows| Scenario {
        name,
        windows,
        ..SCREEN
    };
    let mut screens = vec![
        odd("odd-panels", ODD),
        Scenario {
            options: |options, _, _| options.timeline = true,
            ..odd("odd-timeline", ODD)
        },
        Scenario {
            options: |options, _, _| {
                (options.side, options.timeline) = (Some(SidePanel::Lab), true)
            },
            ..odd("odd-lab-timeline", ODD)
        },
        Scenario {
            options: |options, _, _| options.side = Some(SidePanel::Population),
            ..odd("odd-population", ODD)
        },
        Scenario {
            options: |options, _, _| options.side = Some(SidePanel::Ladder),
            ..odd("odd-ladder", NARROW)
        },
        Scenario {
            lesson: || Some(LessonScreen::Page(lesson_page(true))),
            ..odd("odd-lesson", ODD)
        },
        Scenario {
            status: |status| super::panels::halve(status, 0),
            ..odd("odd-comparison", NARROW)
        },
        Scenario {
            dialogs: |dialogs| dialogs.open(Dialog::Help(Help::default())),
            ..odd("odd-help", ODD)
        },
        Scenario {
            options: |options, _, _| options.presentation = true,
            status: |status| status.clock.running = false,
            ..odd("odd-presentation", SMALL)
        },
        Scenario {
            dialogs: |dialogs| dialogs.open(Dialog::Commands(Commands::searching("kernel"))),
            ..odd("odd-palette", ODD)
        },
        Scenario {
            dialogs: |dialogs| dialogs.open(Dialog::Menu(Menu::at(Topic::View))),
            ..odd("odd-menu", ODD)
        },
    ];
    screens.extend([
        Scenario {
            options: |options, _, _| options.interface_scale = stepped(InterfaceScale::smaller, 5),
            ..odd("interface-50", &WINDOWS)
        },
        Scenario {
            options: |options, _, _| options.interface_scale = stepped(InterfaceScale::larger, 3),
            ..odd("interface-150", &WINDOWS)
        },
        Scenario {
            options: |options, _, _| options.interface_scale = stepped(InterfaceScale::larger, 6),
            ..odd("interface-250", &WINDOWS)
        },
        Scenario {
            options: |options, _, _| options.interface_scale = stepped(InterfaceScale::larger, 6),
            dialogs: |dialogs| dialogs.open(Dialog::Menu(Menu::at(Topic::Cells))),
            ..odd("interface-250-menu", &WINDOWS)
        },
    ]);
    screens
}

fn stepped(step: fn(InterfaceScale) -> Option<InterfaceScale>, times: usize) -> InterfaceScale {
    let zooms = std::iter::successors(Some(InterfaceScale::default()), |&zoom| step(zoom));
    zooms.take(times + 1).last().unwrap()
}
