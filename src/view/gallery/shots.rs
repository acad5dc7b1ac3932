//! The pictures.

use crate::engine::HostMemory;
use crate::session::ladder::made_up::ladder;
use crate::session::{
    Bound, Effect, Halves, Overlap, Resource, Settled, Status, StopWhenStill, Streams, Switches,
};
use crate::view::gallery::{SHOT, Shot};
use crate::view::made_up::{lesson_list, lesson_page, stamped_round, waited_round};
use crate::view::{Commands, GoTo, LessonScreen, Menu, Zoom};

pub(super) fn shots() -> Vec<Shot> {
    let mut all = others();
    all.extend(super::looking::shots());
    all
}

fn others() -> Vec<Shot> {
    let mut shots = vec![
        Shot {
            name: "01-one",
            instances: 1,
            ..SHOT
        },
        Shot {
            name: "go-to",
            pixels: [1280, 720],
            dialogs: |dialogs| dialogs.go_to = Some(GoTo::default()),
            ..SHOT
        },
        Shot {
            name: "02-two",
            instances: 2,
            ..SHOT
        },
        Shot {
            name: "04-four-tall",
            instances: 4,
            pixels: [700, 1100],
            ..SHOT
        },
        Shot {
            name: "07-seven-wide-lattice",
            instances: 7,
            size: (700, 200),
            ..SHOT
        },
        Shot {
            name: "16-paused-ink",
            status: |status| {
                status.running = false;
                status.selected = 6;
                status.notice = Some("kernel 'bits': 32 cells a word, added as bit planes".into());
            },
            options: |options, _, _| options.colours = 4,
            ..SHOT
        },
        Shot {
            name: "16-cividis-3840",
            pixels: [3840, 2160],
            options: |options, _, _| options.colours = 1,
            ..SHOT
        },
        Shot {
            name: "16-hue-800x500",
            pixels: [800, 500],
            options: |o, _, _| o.colours = 2,
            ..SHOT
        },
        Shot {
            name: "16-800x500-scale2",
            pixels: [800, 500],
            scale: 2.0,
            ..SHOT
        },
        Shot {
            name: "64-1920-scale1.5",
            pixels: [1920, 1080],
            scale: 1.5,
            instances: 64,
            ..SHOT
        },
        Shot {
            name: "200-hue",
            instances: 200,
            size: (128, 128),
            options: |options, _, _| options.colours = 2,
            status: |status| status.selected = 17,
            ..SHOT
        },
        Shot {
            name: "single-zoomed-grid",
            options: |options, size, panel| {
                options.single = true;
                options.grid_lines = true;
                options.camera.zoom_at(9.0, [100.0, 100.0], size, panel);
            },
            ..SHOT
        },
        Shot {
            name: "zoomed-phosphor-narrow",
            pixels: [480, 900],
            instances: 4,
            options: |options, size, panel| {
                options.colours = 3;
                options.camera.zoom_at(12.0, [100.0, 100.0], size, panel);
            },
            ..SHOT
        },
        Shot {
            name: "help",
            options: |options, _, _| options.help = true,
            ..SHOT
        },
        Shot {
            name: "help-800x500",
            pixels: [800, 500],
            options: |options, _, _| options.help = true,
            ..SHOT
        },
        Shot {
            name: "help-narrow",
            pixels: [420, 800],
            options: |options, _, _| options.help = true,
            ..SHOT
        },
        Shot {
            name: "timeline-16",
            options: |options, _, _| options.timeline = true,
            ..SHOT
        },
        Shot {
            name: "timeline-16-1920",
            pixels: [1920, 1080],
            options: |options, _, _| options.timeline = true,
            ..SHOT
        },
        Shot {
            name: "timeline-16-800x500",
            pixels: [800, 500],
            options: |options, _, _| options.timeline = true,
            ..SHOT
        },
        Shot {
            name: "timeline-16-scale2",
            scale: 2.0,
            options: |options, _, _| options.timeline = true,
            ..SHOT
        },
        Shot {
            name: "timeline-16-narrow",
            pixels: [700, 1100],
            options: |options, _, _| options.timeline = true,
            ..SHOT
        },
        Shot {
            name: "timeline-1",
            instances: 1,
            options: |options, _, _| options.timeline = true,
            ..SHOT
        },
        Shot {
            name: "timeline-64",
            instances: 64,
            size: (128, 128),
            options: |options, _, _| options.timeline = true,
            ..SHOT
        },
        Shot {
            name: "timeline-256",
            instances: 256,
            size: (64, 64),
            options: |options, _, _| options.timeline = true,
            ..SHOT
        },
        Shot {
            name: "timeline-1000-1920",
            pixels: [1920, 1080],
            instances: 1000,
            size: (64, 64),
            options: |options, _, _| options.timeline = true,
            ..SHOT
        },
        Shot {
            name: "timeline-too-small",
            pixels: [800, 500],
            scale: 2.0,
            options: |options, _, _| options.timeline = true,
            ..SHOT
        },
        Shot {
            name: "lab",
            pixels: [1280, 800],
            options: |o, _, _| o.lab = true,
            ..SHOT
        },
        Shot {
            name: "lab-timeline",
            pixels: [1280, 800],
            options: |o, _, _| (o.lab, o.timeline) = (true, true),
            status: |status| status.overlap = Some(overlap(163.9, 100.0)),
            ..SHOT
        },
        Shot {
            name: "map",
            pixels: [1280, 800],
            options: |o, _, _| o.timeline = true,
            status: |status| stamp(status, Some(1.03)),
            round: |streams| stamped_round(streams, 132),
            ..SHOT
        },
        Shot {
            name: "halves",
            pixels: [1280, 800],
            status: |status| halve(status, 0),
            ..SHOT
        },
        Shot {
            name: "lesson-list",
            pixels: [1280, 800],
            lesson: || Some(lesson_list(6)),
            ..SHOT
        },
        Shot {
            name: "lesson-page",
            pixels: [1280, 800],
            lesson: || Some(LessonScreen::Page(lesson_page(false))),
            ..SHOT
        },
        Shot {
            name: "lesson-picture",
            pixels: [1280, 800],
            lesson: || Some(LessonScreen::Page(lesson_page(true))),
            ..SHOT
        },
        Shot {
            name: "lab-1920",
            pixels: [1920, 1080],
            options: |o, _, _| o.lab = true,
            ..SHOT
        },
        Shot {
            name: "lab-timeline-1920",
            pixels: [1920, 1080],
            options: |o, _, _| (o.lab, o.timeline) = (true, true),
            status: |status| status.overlap = Some(overlap(163.9, 100.0)),
            ..SHOT
        },
        Shot {
            name: "map-1920",
            pixels: [1920, 1080],
            options: |o, _, _| o.timeline = true,
            status: |status| stamp(status, Some(1.03)),
            round: |streams| stamped_round(streams, 132),
            ..SHOT
        },
        Shot {
            name: "halves-1920",
            pixels: [1920, 1080],
            status: |status| halve(status, 0),
            ..SHOT
        },
        Shot {
            name: "lesson-list-1920",
            pixels: [1920, 1080],
            lesson: || Some(lesson_list(6)),
            ..SHOT
        },
        Shot {
            name: "lesson-page-1920",
            pixels: [1920, 1080],
            lesson: || Some(LessonScreen::Page(lesson_page(false))),
            ..SHOT
        },
        Shot {
            name: "lesson-picture-1920",
            pixels: [1920, 1080],
            lesson: || Some(LessonScreen::Page(lesson_page(true))),
            ..SHOT
        },
        Shot {
            name: "population",
            options: |o, _, _| o.population = true,
            status: settle,
            ..SHOT
        },
        Shot {
            name: "population-timeline",
            options: |o, _, _| (o.population, o.timeline) = (true, true),
            status: settle,
            ..SHOT
        },
        Shot {
            name: "population-1920",
            pixels: [1920, 1080],
            options: |o, _, _| (o.population, o.population_of_all) = (true, true),
            status: settle,
            ..SHOT
        },
        Shot {
            name: "population-tall",
            pixels: [800, 1280],
            options: |o, _, _| o.population = true,
            status: settle,
            ..SHOT
        },
        Shot {
            name: "ladder",
            size: (1024, 1024),
            options: |o, _, _| o.ladder = true,
            status: climb,
            ..SHOT
        },
        Shot {
            name: "ladder-timeline",
            options: |o, _, _| (o.ladder, o.timeline) = (true, true),
            status: climb,
            ..SHOT
        },
        Shot {
            name: "ladder-1920",
            pixels: [1920, 1080],
            instances: 1,
            size: (2048, 2048),
            options: |o, _, _| o.ladder = true,
            status: climb,
            ..SHOT
        },
        Shot {
            name: "ladder-unrecorded-1920",
            pixels: [1920, 1080],
            options: |o, _, _| (o.ladder, o.timeline) = (true, true),
            status: |status| {
                status.reached = vec![
                    ("global", 3.2e9),
                    ("shared", 2.1e9),
                    ("sync-global", 2.47e11),
                ];
            },
            ..SHOT
        },
        Shot {
            name: "ladder-narrow",
            pixels: [700, 1100],
            options: |o, _, _| o.ladder = true,
            status: climb,
            ..SHOT
        },
        Shot {
            name: "lab-800x500",
            pixels: [800, 500],
            options: |o, _, _| o.lab = true,
            ..SHOT
        },
        Shot {
            name: "lab-narrow",
            pixels: [700, 1100],
            options: |o, _, _| (o.lab, o.timeline) = (true, true),
            ..SHOT
        },
        Shot {
            name: "lab-refused",
            options: |o, _, _| o.lab = true,
            status: |status| {
                status.switches.graphs = true;
                status.kernel = crate::engine::kernels::find("bits").unwrap();
            },
            ..SHOT
        },
        Shot {
            name: "timeline-waits",
            options: |o, _, _| o.timeline = true,
            status: |status| {
                status.engine = "cpu";
                status.overlap = Some(overlap(1_570.0, 1_500.0));
            },
            round: waited_round,
            ..SHOT
        },
        Shot {
            name: "map-one-1920",
            pixels: [1920, 1080],
            instances: 40,
            options: |o, _, _| o.timeline = true,
            status: |status| stamp(status, None),
            round: |streams| stamped_round(streams, 132),
            ..SHOT
        },
        Shot {
            name: "map-cpu",
            options: |o, _, _| o.timeline = true,
            status: |status| {
                stamp(status, None);
                status.engine = "cpu";
                status.devices[0].units = 8;
            },
            round: |streams| stamped_round(streams, 8),
            ..SHOT
        },
        Shot {
            name: "halves-odd-all",
            instances: 17,
            options: |o, _, _| (o.lab, o.timeline) = (true, true),
            status: |status| halve(status, 12_345),
            ..SHOT
        },
        Shot {
            name: "halves-narrow",
            pixels: [700, 1100],
            status: |status| halve(status, 0),
            ..SHOT
        },
        Shot {
            name: "lesson-narrow",
            pixels: [700, 1100],
            lesson: || Some(LessonScreen::Page(lesson_page(true))),
            ..SHOT
        },
        Shot {
            name: "lesson-lab-timeline",
            options: |o, _, _| (o.lab, o.timeline) = (true, true),
            lesson: || Some(LessonScreen::Page(lesson_page(false))),
            ..SHOT
        },
        Shot {
            name: "failed-long",
            status: |status| {
                status.failed = Some(
                    "the CUDA context is lost (CUDA_ERROR_ILLEGAL_ADDRESS); every lattice must be restored"
                        .into(),
                );
                status.running = false;
                status.kernel = crate::engine::kernels::find("sync-global").unwrap();
                status.generation = 123_456_789_012_345;
                status.devices[0].name =
                    "NVIDIA GeForce RTX 4090 Laptop GPU with a long name".into();
                status.switches.streams = Streams::One;
            },
            ..SHOT
        },
    ];
    shots.extend(chrome());
    shots
}

/// Palette, menu and presentation in the sizes that projectors have.
fn chrome() -> Vec<Shot> {
    let mut shots = Vec::new();
    for (pixels, scale, names) in [
        (
            [1280, 720],
            1.0,
            ["palette-720", "menu-720", "presentation-720"],
        ),
        (
            [1920, 1080],
            1.0,
            ["palette-1080", "menu-1080", "presentation-1080"],
        ),
        (
            [1280, 720],
            2.0,
            ["palette-720@2", "menu-720@2", "presentation-720@2"],
        ),
        (
            [1920, 1080],
            2.0,
            ["palette-1080@2", "menu-1080@2", "presentation-1080@2"],
        ),
    ] {
        let shot = |name| Shot {
            name,
            pixels,
            scale,
            ..SHOT
        };
        shots.push(Shot {
            dialogs: |dialogs| dialogs.commands = Some(Commands::searching("kernel")),
            ..shot(names[0])
        });
        shots.push(Shot {
            dialogs: |dialogs| dialogs.menu = Some(Menu::at(3)),
            status: |status| status.instances = 1,
            instances: 1,
            ..shot(names[1])
        });
        shots.push(Shot {
            options: |options, _, _| options.presentation = true,
            status: |status| {
                status.notice = Some("kernel 'bits': 32 cells a word, added as bit planes".into());
                status.last_effect = Some(Effect {
                    what: "streams per-instance".into(),
                    before_us: 1660.0,
                    after_us: 170.0,
                });
            },
            ..shot(names[2])
        });
    }
    for (name, steps) in [
        ("interface-50", -5),
        ("interface-150", 3),
        ("interface-250", 6),
    ] {
        shots.push(Shot {
            name,
            options: match steps {
                -5 => |options, _, _| options.interface = stepped(Zoom::smaller, 5),
                3 => |options, _, _| options.interface = stepped(Zoom::larger, 3),
                _ => |options, _, _| options.interface = stepped(Zoom::larger, 6),
            },
            pixels: [1920, 1080],
            ..SHOT
        });
    }
    shots.push(Shot {
        name: "presentation-paused-small",
        pixels: [640, 400],
        options: |options, _, _| options.presentation = true,
        status: |status| status.running = false,
        ..SHOT
    });
    shots
}

fn stepped(step: fn(Zoom) -> Option<Zoom>, times: usize) -> Zoom {
    let zooms = std::iter::successors(Some(Zoom::default()), |&zoom| step(zoom));
    zooms.take(times + 1).last().unwrap()
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

/// A device whose ladder is recorded, and 'planar' on it.
fn climb(status: &mut Status) {
    status.recorded = Some(Box::leak(Box::new(ladder())));
    status.kernel = crate::engine::kernels::find("planar").unwrap();
    status.stepping = Some(3.1e12);
}

fn stamp(status: &mut Status, cost: Option<f64>) {
    (status.stamped, status.stamp_cost) = (true, cost);
    status.overlap = Some(overlap(163.9, 100.0));
}

fn halve(status: &mut Status, differing: u64) {
    let b = Switches {
        streams: Streams::One,
        host_memory: HostMemory::Pageable,
        ..Switches::DEFAULT
    };
    status.halves = Some(Halves {
        switches: [Switches::DEFAULT, b],
        round_us: [Some(1_234.5), Some(10_250.0)],
        differing: Some((differing, 123_456)),
        each: status.instances / 2,
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
        Some(Settled::Period(6144)),
        Some(Settled::Repeats(30)),
    ];
    status.time.settled = (0..status.instances).map(|i| all[i % all.len()]).collect();
    status.time.settings.stop_when_still = StopWhenStill::All;
    status.time.settings.reseed = true;
    status.time.oldest = Some(12_000);
    status.time.run_to = Some(1_000_000);
    status.selected = 2;
}
