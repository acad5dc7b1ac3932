//! What stands beside and below the panels: timeline, lab, population, ladder, lessons.

use crate::gallery::panels::{lost, settle};
use crate::gallery::{SCREEN, Screen};
use model::ladder::fixtures::ladder;
use model::{Bound, Overlap, Resource, Status};
use screen::LessonScreen;
use screen::SidePanel;
use screen::fixtures::{lesson_list, lesson_page, stamped_round, waited_round};

pub(super) fn screens() -> Vec<Screen> {
    [timeline(), blocks(), lab(), graphs(), lessons()].concat()
}

/// An overlap of 1590 µs of work, bound by the longest stream.
fn overlap(together_us: f64, longest_us: f64) -> Overlap {
    Overlap {
        alone_us: 1_590.0,
        together_us,
        bounds: vec![Bound {
            resource: Resource::Stream,
            us: longest_us,
        }],
    }
}

fn timeline() -> Vec<Screen> {
    let shown = Screen {
        options: |options, _, _| options.timeline = true,
        ..SCREEN
    };
    vec![
        Screen {
            name: "timeline",
            status: |status| status.overlap = Some(overlap(163.9, 100.0)),
            ..shown
        },
        Screen {
            name: "timeline-over-a-bar",
            mouse: |mouse| mouse.over_timeline(0.3, 0.45),
            ..shown
        },
        Screen {
            name: "timeline-frozen",
            mouse: |mouse| mouse.click_live(),
            ..shown
        },
        Screen {
            name: "timeline-waits",
            status: |status| {
                status.engine = "cpu";
                status.overlap = Some(overlap(1_570.0, 1_500.0));
            },
            round: waited_round,
            ..shown
        },
        Screen {
            name: "timeline-1",
            instances: 1,
            ..shown
        },
        Screen {
            name: "timeline-256",
            instances: 256,
            size: (64, 64),
            ..shown
        },
    ]
}

fn stamp(status: &mut Status, cost: Option<f64>) {
    (status.stamped, status.stamp_cost) = (true, cost);
    status.overlap = Some(overlap(163.9, 100.0));
}

fn blocks() -> Vec<Screen> {
    let shown = Screen {
        options: |options, _, _| options.timeline = true,
        status: |status| stamp(status, Some(1.03)),
        round: |streams| stamped_round(streams, 132),
        ..SCREEN
    };
    vec![
        Screen {
            name: "blocks",
            ..shown
        },
        Screen {
            name: "blocks-over-a-block",
            mouse: |mouse| mouse.over_a_block(),
            ..shown
        },
        Screen {
            name: "blocks-cpu",
            status: |status| {
                stamp(status, None);
                status.engine = "cpu";
                status.devices[0].units = 8;
            },
            round: |streams| stamped_round(streams, 8),
            ..shown
        },
    ]
}

fn lab() -> Vec<Screen> {
    let shown = Screen {
        options: |options, _, _| options.side = Some(SidePanel::Lab),
        ..SCREEN
    };
    vec![
        Screen {
            name: "lab",
            ..shown
        },
        Screen {
            name: "lab-over-a-switch",
            mouse: |mouse| mouse.over_lab(0.4, 0.25),
            ..shown
        },
        Screen {
            name: "lab-in-rust",
            mouse: |mouse| mouse.click_tabs(),
            ..shown
        },
        Screen {
            name: "lab-refused",
            status: |status| {
                status.switches.graphs = true;
                status.kernel = engine::kernels::find("bits").unwrap();
            },
            ..shown
        },
        Screen {
            name: "lab-timeline",
            options: |options, _, _| {
                (options.side, options.timeline) = (Some(SidePanel::Lab), true)
            },
            status: |status| status.overlap = Some(overlap(163.9, 100.0)),
            ..SCREEN
        },
    ]
}

/// A device whose ladder is recorded, and 'planar' on it.
fn climb(status: &mut Status) {
    status.recorded = Some(Box::leak(Box::new(ladder())));
    status.kernel = engine::kernels::find("planar").unwrap();
    status.stepping = Some(3.1e12);
}

fn graphs() -> Vec<Screen> {
    vec![
        Screen {
            name: "population",
            options: |options, _, _| options.side = Some(SidePanel::Population),
            status: settle,
            ..SCREEN
        },
        Screen {
            name: "population-of-all-timeline",
            options: |options, _, _| {
                (options.side, options.population_of_all) = (Some(SidePanel::Population), true);
                options.timeline = true;
            },
            status: settle,
            ..SCREEN
        },
        Screen {
            name: "ladder",
            options: |options, _, _| options.side = Some(SidePanel::Ladder),
            status: climb,
            ..SCREEN
        },
        Screen {
            name: "ladder-timeline",
            options: |options, _, _| {
                (options.side, options.timeline) = (Some(SidePanel::Ladder), true)
            },
            status: climb,
            ..SCREEN
        },
        Screen {
            name: "ladder-unrecorded",
            options: |options, _, _| options.side = Some(SidePanel::Ladder),
            status: |status| {
                status.reached = vec![
                    ("global", 3.2e9),
                    ("shared", 2.1e9),
                    ("sync-global", 2.47e11),
                ];
            },
            ..SCREEN
        },
    ]
}

fn lessons() -> Vec<Screen> {
    vec![
        Screen {
            name: "lesson-list",
            lesson: || Some(lesson_list(6)),
            ..SCREEN
        },
        Screen {
            name: "lesson-page",
            lesson: || Some(LessonScreen::Page(lesson_page(false))),
            ..SCREEN
        },
        Screen {
            name: "lesson-picture",
            lesson: || Some(LessonScreen::Page(lesson_page(true))),
            ..SCREEN
        },
        Screen {
            name: "lesson-lab-timeline",
            options: |options, _, _| {
                (options.side, options.timeline) = (Some(SidePanel::Lab), true)
            },
            lesson: || Some(LessonScreen::Page(lesson_page(false))),
            ..SCREEN
        },
        Screen {
            name: "lesson-failed",
            lesson: || Some(LessonScreen::Page(lesson_page(false))),
            status: |status| {
                status.failed = Some(lost().into());
            },
            ..SCREEN
        },
    ]
}
