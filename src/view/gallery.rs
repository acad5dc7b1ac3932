//! Pictures of many windows for a person to look at: set `LIFESTREAMS_GALLERY` to a directory
//! and run `cargo test gallery -- --ignored`.

use std::path::PathBuf;

use crate::life::{Lattice, Size};
use crate::session::Status;
use crate::view::made_up::{MadeUp, Timed, aged, soup, status};
use crate::view::offscreen::Renderer;
use crate::view::{AdapterFacts, ViewOptions};

struct Shot {
    name: &'static str,
    pixels: [u32; 2],
    scale: f32,
    instances: usize,
    size: (u64, u64),
    status: fn(&mut Status),
    options: fn(&mut ViewOptions, Size, [u32; 2]),
}

const SHOT: Shot = Shot {
    name: "",
    pixels: [1280, 800],
    scale: 1.0,
    instances: 16,
    size: (512, 512),
    status: |_| {},
    options: |_, _, _| {},
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
                status.switches.streams = crate::session::Streams::One;
            },
            ..SHOT
        },
    ]
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
        renderer.timeline.update(&Timed(shot.instances as u32));
        let [width, height] = shot.pixels.map(f64::from);
        renderer.timeline.hover(Some([0.3 * width, 0.82 * height]));
        renderer
            .frame(&status, &MadeUp::bits(&lattices), &options)
            .unwrap();
        renderer
            .write_png(&directory.join(format!("{}.png", shot.name)))
            .unwrap();
    }
}
