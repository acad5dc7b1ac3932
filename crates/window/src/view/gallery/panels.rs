//! Panels, the HUD in its places, what a hand has put over the panels, cameras, colours and themes.

use std::sync::Arc;

use crate::view::gallery::{Scenario, screen};
use crate::view::hud::tests::busy;
use crate::view::{Dialog, Picker};
use engine::{HostMemory, Transfer};
use lang::tr;
use life::{Lattice, Size};
use session::{
    AbComparison, Area, Change, Edit, Effect, Finding, Recomputing, Settled, Status, StopWhenStill,
    Streams, Switches,
};
use ui::fixtures::{comparison, effect, lecture_screen, lesson_page, recorded_page};
use ui::{Camera, ColourBy, Ghost, LessonScreen, MIN_OPENING_PIXELS, SidePanel, Tool};

pub(super) fn screens() -> Vec<Scenario> {
    [
        many(),
        said(),
        presenting(),
        compared(),
        marked(),
        cameras(),
    ]
    .concat()
}

fn many() -> Vec<Scenario> {
    vec![
        screen("panels"),
        screen("panels-1").instances(1),
        screen("panels-2-tall").instances(2).size(100, 300),
        screen("panels-7-wide")
            .instances(7)
            .size(280, 80)
            .status(|status| status.panels.selected = 6),
        screen("lecture").drawing(|drawing| drawing.lecture = Some(lecture_screen())),
        screen("lecture-presented")
            .drawing(|drawing| drawing.lecture = Some(lecture_screen()))
            .timeline()
            .presentation(),
        screen("panels-64")
            .instances(64)
            .size(128, 128)
            .status(|status| status.panels.selected = 17),
        screen("panels-256").instances(256).size(64, 64).theme(2),
        screen("panels-alone")
            .status(|status| status.panels.selected = 5)
            .options(|options, _, _| options.single = true),
    ]
}

fn said() -> Vec<Scenario> {
    vec![
        screen("starting").starting(),
        screen("recomputing").status(|status| {
            status.clock.running = false;
            status.clock.recomputing = Some(Recomputing {
                target: 5_000,
                percent: 42,
                seconds_left: Some(7.0),
            });
        }),
        screen("paused-notice").status(|status| {
            status.clock.running = false;
            status.notice = Some(next_kernel().into());
        }),
        screen("recording").drawing(|drawing| {
            let name = "lifestreams-20261121-110812.gif";
            let frames = crate::view::recording::frames(412);
            let mut text = tr!("Recording {name}: {frames}");
            text += &tr!(", {waiting} still to write", waiting = 3);
            text += &tr!(", {} dropped", 2);
            drawing.notice = Some(text.into());
        }),
        screen("recording-lost").drawing(|drawing| {
            let text = tr!(
                "the recording {path} is lost: writing it took too long; record to another disk",
                path = "lifestreams-20261121-110812.gif"
            );
            drawing.notice = Some(text.into());
        }),
        screen("warned")
            .status(|status| status.notice = Some(tr!("Saved {path}", path = "003.rle").into()))
            .drawing(|drawing| {
                drawing.forwarded = true;
                let adapter = drawing.adapter.as_mut().unwrap();
                adapter.name = "NVIDIA H200".into();
                adapter.pci_bus_id = Some("0000:17:00.0".into());
            }),
        screen("drawn-in-software").drawing(|drawing| {
            let adapter = drawing.adapter.as_mut().unwrap();
            adapter.name = "llvmpipe (LLVM 15.0.6, 256 bits)".into();
            adapter.software = true;
        }),
        screen("failed").status(|status| {
            status.failed = Some(lost().into());
            status.clock.running = false;
            status.clock.generation = 123_456_789_012_345;
            status.engine.devices[0].name =
                "NVIDIA GeForce RTX 4090 Laptop GPU with a long name".into();
            status.setting.switches.streams = Streams::One;
        }),
        screen("long-figures").status(|status| {
            let (instances, size) = (status.lattices.instances, status.lattices.size);
            *status = busy();
            (status.lattices.instances, status.lattices.size) = (instances, size);
            status.notice = Some(too_large().into());
            settle(status);
        }),
    ]
}

/// What is said when a kernel was chosen.
fn next_kernel() -> String {
    let what = lang::text("32 cells per word, added as bit planes");
    tr!("kernel {}: {}", "bits", what)
}

/// What is said to a kernel that the lattices are too large for.
fn too_large() -> String {
    let limit = tr!("at most {most} cells", most = 24_576);
    tr!(
        "kernel '{kernel}' supports {limit}, not {size}; use --kernel {instead}",
        kernel = "sync-shared",
        size = "1024x1024",
        instead = "bits"
    )
}

/// How a session ends whose device has failed.
pub(super) fn lost() -> String {
    let it = "CUDA_ERROR_ILLEGAL_ADDRESS";
    tr!("the engine is lost ({it}); every lattice must be restored")
}

/// Some panels have settled.
pub(super) fn settle(status: &mut Status) {
    let all = [
        None,
        Some(Settled::Dead),
        Some(Settled::Period(2)),
        Some(Settled::Still),
        None,
        Some(Settled::Repeats(6144)),
        Some(Settled::Repeats(30)),
    ];
    status.panels.settled = (0..status.lattices.instances)
        .map(|i| all[i % all.len()])
        .collect();
    status.setting.time.stop_when_still = StopWhenStill::All;
    status.setting.time.reseed = true;
    status.panels.reseeded = [4].into();
    status.clock.oldest = Some(12_000);
    status.clock.run_to = Some(1_000_000);
    status.panels.selected = 2;
}

fn presenting() -> Vec<Scenario> {
    let presented = |name| screen(name).presentation();
    vec![
        presented("presentation").status(|status| {
            status.notice = Some(next_kernel().into());
            status.lab.last_effect = Some(Effect {
                what: tr!("one stream per instance").into(),
                round_us: [Some(1660.0), Some(170.0)],
                finding: Some(Finding::of(9.8, [9.6, 9.9])),
                ..effect()
            });
        }),
        presented("presentation-paused").status(|status| status.clock.running = false),
        presented("presentation-failed").status(|status| {
            status.clock.running = false;
            status.failed = Some(lost().into());
        }),
        presented("presentation-timeline").timeline(),
    ]
}

fn compared() -> Vec<Scenario> {
    vec![
        screen("comparison").status(|status| halve(status, 0)),
        screen("comparison-differ-all")
            .instances(17)
            .side(SidePanel::Lab)
            .timeline()
            .status(|status| halve(status, 12_345)),
    ]
}

pub(super) fn halve(status: &mut Status, differing: u64) {
    let b = Switches {
        streams: Streams::One,
        host_memory: HostMemory::Pageable,
        ..Switches::DEFAULT
    };
    status.lab.comparison = Some(AbComparison {
        round_us: [Some(1_234.5), Some(10_250.0)],
        finding: Some(Finding::of(0.12, [0.117, 0.123])),
        differing: Some((differing, 123_456)),
        each: status.lattices.instances / 2,
        ..comparison(b)
    });
}

fn marked() -> Vec<Scenario> {
    vec![
        screen("selection")
            .instances(4)
            .status(|status| status.clock.running = false)
            .edit_overlay(|edit_overlay| {
                let size = Size::new(90, 60).unwrap();
                edit_overlay.selection = Some((1, Area { x: 40, y: 70, size }));
            }),
        screen("selection-enlarged")
            .instances(4)
            .options(|options, _, _| {
                options.interface_scale = options.interface_scale.larger().unwrap();
            })
            .edit_overlay(|edit_overlay| {
                let size = Size::new(190, 160).unwrap();
                edit_overlay.selection = Some((1, Area { x: 40, y: 70, size }));
                edit_overlay.pointed = Some((3, [129, 117]));
            }),
        screen("ghost")
            .instances(4)
            .status(|status| status.clock.running = false)
            .options(|options, size, panel| options.camera.zoom_at(4.0, [350.0; 2], size, panel))
            .edit_overlay(|edit_overlay| {
                edit_overlay.ghost = Some(Ghost {
                    pattern: Arc::new(block(30, 12)),
                    at: Some((2, [128, 128])),
                });
            })
            .drawing(|drawing| {
                let text = tr!(
                    "Click to place, Q/W to rotate, Esc to cancel; a right click opens the menu"
                );
                drawing.notice = Some(text.into());
            }),
        screen("pencil")
            .instances(1)
            .status(|status| (status.clock.running, status.clock.waiting_edits) = (false, 2))
            .options(|options, size, panel| {
                options.grid_lines = true;
                options.camera.zoom_at(8.0, [350.0; 2], size, panel);
            })
            .edit_overlay(|edit_overlay| {
                edit_overlay.tool = Tool::Pencil;
                let cells = (120..140).map(|x| [x, 128]).collect();
                let edit = Edit {
                    instance: 0,
                    change: Change::Draw { cells, alive: true },
                    continues_stroke: false,
                };
                edit_overlay.pending.push_back((1, edit));
            })
            .drawing(|drawing| {
                drawing.notice = Some(tr!("Pencil on: drag to draw").into());
            }),
    ]
}

/// Every second cell of a rectangle.
fn block(width: u64, height: u64) -> Lattice {
    let mut lattice = Lattice::new(Size::new(width, height).unwrap());
    for y in 0..height as u32 {
        for x in (y % 2..width as u32).step_by(2) {
            lattice.set(x, y, true);
        }
    }
    lattice
}

/// Cameras, colours and themes, and a minimap where a part is seen.
fn cameras() -> Vec<Scenario> {
    let themed = |name, theme| {
        screen(name)
            .theme(theme)
            .timeline()
            .options(|o, size, panel| {
                o.camera.zoom_at(2.0, [200.0, 100.0], size, panel);
            })
    };
    let paper = |name| screen(name).theme(4);
    vec![
        // What a person sees at first, with no option given.
        screen("camera-opening").theme(2).options(|o, _, _| {
            o.camera = Camera::opening(MIN_OPENING_PIXELS);
            o.colour_by = ColourBy::History;
        }),
        screen("camera-minimap")
            .size(512, 256)
            .status(|status| status.panels.selected = 6)
            .options(|o, size, panel| o.camera.zoom_at(9.0, [500.0, 100.0], size, panel)),
        screen("camera-minimap-single").options(|o, size, panel| {
            (o.single, o.grid_lines) = (true, true);
            o.camera.zoom_at(12.0, [500.0, 100.0], size, panel);
        }),
        screen("camera-minimap-view")
            .status(|status| status.setting.transfer = Transfer::View)
            .options(|o, size, panel| {
                (o.single, o.colour_by) = (true, ColourBy::Age);
                o.camera.zoom_at(3.0, [500.0, 100.0], size, panel);
            }),
        screen("camera-64-pixels")
            .instances(2)
            .options(|o, size, panel| {
                o.grid_lines = true;
                o.camera.zoom_at(1000.0, [300.0, 300.0], size, panel);
            }),
        screen("camera-age").options(|o, _, _| o.colour_by = ColourBy::Age),
        screen("camera-history").options(|o, _, _| o.colour_by = ColourBy::History),
        screen("camera-age-zoomed")
            .instances(4)
            .options(|o, size, panel| {
                o.colour_by = ColourBy::Age;
                o.camera.zoom_at(20.0, [200.0, 100.0], size, panel);
            }),
        screen("camera-history-zoomed")
            .instances(4)
            .options(|o, size, panel| {
                o.colour_by = ColourBy::History;
                o.camera.zoom_at(20.0, [200.0, 100.0], size, panel);
            }),
        themed("camera-theme-amber", 0),
        themed("camera-theme-cividis", 1),
        themed("camera-theme-hues", 2),
        themed("camera-theme-phosphor", 3),
        themed("camera-theme-paper", 4),
        paper("camera-theme-paper-history")
            .instances(4)
            .options(|o, size, panel| {
                o.colour_by = ColourBy::History;
                o.camera.zoom_at(8.0, [200.0, 100.0], size, panel);
            }),
        screen("camera-theme-cividis-history-inverted")
            .theme(1)
            .instances(4)
            .options(|o, size, panel| {
                (o.colour_by, o.invert) = (ColourBy::History, true);
                o.camera.zoom_at(8.0, [200.0, 100.0], size, panel);
            }),
        paper("camera-theme-paper-help").dialog(|| Dialog::Help(Picker::default())),
        paper("camera-theme-paper-lab")
            .side(SidePanel::Lab)
            .timeline(),
        paper("camera-theme-paper-recorded").lesson(|| LessonScreen::Page(recorded_page())),
        paper("camera-theme-paper-lesson").lesson(|| LessonScreen::Page(lesson_page(true))),
    ]
}
