//! Pictures of many windows for a person to look at: set `LIFESTREAMS_GALLERY` to a directory
//! and run `cargo test gallery -- --ignored`.

use std::path::PathBuf;

use crate::engine::HostMemory;
use crate::life::{Lattice, Size};
use crate::session::trace::TimedRound;
use crate::session::{Bound, Halves, Overlap, Resource, Status, Streams, Switches};
use crate::view::made_up::{
    MadeUp, TimedAs, aged, lesson_list, lesson_page, soup, stamped_round, status, timed_round,
    waited_round,
};
use crate::view::offscreen::Renderer;
use crate::view::{AdapterFacts, LessonScreen, ViewOptions};

struct Shot {
    name: &'static str,
    pixels: [u32; 2],
    scale: f32,
    instances: usize,
    size: (u64, u64),
    status: fn(&mut Status),
    options: fn(&mut ViewOptions, Size, [u32; 2]),
    round: fn(u32) -> TimedRound,
    lesson: fn() -> Option<LessonScreen>,
}

const SHOT: Shot = Shot {
    name: "",
    pixels: [1280, 800],
    scale: 1.0,
    instances: 16,
    size: (512, 512),
    status: |_| {},
    options: |_, _, _| {},
    round: timed_round,
    lesson: || None,
};

fn shots() -> Vec<Shot> {
    vec![
        Shot {
            name: "01-one",
            instances: 1,
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
    ]
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

#[test]
#[ignore = "for a person to look at"]
fn gallery() {
    let directory = PathBuf::from(std::env::var("LIFESTREAMS_GALLERY").expect("a directory"));
    let only = std::env::var("LIFESTREAMS_SHOT").unwrap_or_default();
    for shot in shots().into_iter().filter(|shot| shot.name.contains(&only)) {
        let size = Size::new(shot.size.0, shot.size.1).unwrap();
        let mut status = status(shot.instances, size);
        (shot.status)(&mut status);
        let kinds: Vec<Lattice> = (0..3)
            .map(|seed| aged(soup(size, 0.3, seed + 1), 12))
            .collect();
        let lattices: Vec<Lattice> = (0..shot.instances)
            .map(|instance| kinds[instance % 3].clone())
            .collect();
        let mut renderer = Renderer::new(Some("llvmpipe"), shot.pixels, shot.scale).unwrap();
        renderer.drawing.frames_per_second = Some(59.9);
        renderer.drawing.adapter = Some(AdapterFacts {
            name: "NVIDIA GeForce RTX 3060".into(),
            backend: "Vulkan".into(),
            driver: String::new(),
            software: shot.name.contains("scale"),
            pci_bus_id: None,
        });
        let mut options = ViewOptions::default();
        (shot.options)(&mut options, size, [700, 700]);
        renderer
            .timeline
            .update(&TimedAs((shot.round)(shot.instances as u32)));
        renderer.lesson = (shot.lesson)();
        let [width, height] = shot.pixels.map(f64::from);
        renderer.timeline.hover(Some([0.3 * width, 0.82 * height]));
        renderer.lab.hover(Some([0.2 * width, 0.2 * height]));
        renderer
            .frame(&status, &MadeUp::bits(&lattices), &options)
            .unwrap();
        renderer
            .write_png(&directory.join(format!("{}.png", shot.name)))
            .unwrap();
    }
}
