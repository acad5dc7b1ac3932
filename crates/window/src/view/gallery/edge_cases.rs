//! Unusual windows: small, narrow, tall, and with a large interface scale.

use crate::view::Dialog;
use crate::view::Picker;
use crate::view::gallery::{Scenario, WINDOWS, Window, screen};
use ui::actions::Topic;
use ui::fixtures::lesson_page;
use ui::{InterfaceScale, LessonScreen, SidePanel};

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
        odd("odd-comparison", NARROW).status(|status| super::panels::halve(status, 0)),
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
