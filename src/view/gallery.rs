//! Pictures of many windows for a person to look at: set `LIFESTREAMS_GALLERY` to a directory
//! and run `cargo test gallery -- --ignored`; `LIFESTREAMS_SHOT` picks those of a name, and
//! `LIFESTREAMS_SHOT_LANG=zh` has them in Chinese.

mod looking;
mod shots;

use std::path::{Path, PathBuf};

use crate::lang::{self, Language};
use crate::life::{Lattice, Size};
use crate::session::Status;
use crate::session::trace::TimedRound;
use crate::view::made_up::{MadeUp, Timed, TimedAs, aged, soup, status, timed_round};
use crate::view::offscreen::Renderer;
use crate::view::{AdapterFacts, ColourBy, Dialogs, LessonScreen, ViewOptions};

#[derive(Clone, Copy)]
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
    dialogs: fn(&mut Dialogs),
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
    dialogs: |_| {},
};

#[test]
#[ignore = "for a person to look at"]
fn gallery() {
    let directory = PathBuf::from(std::env::var("LIFESTREAMS_GALLERY").expect("a directory"));
    let only = std::env::var("LIFESTREAMS_SHOT").unwrap_or_default();
    let language = match std::env::var("LIFESTREAMS_SHOT_LANG").as_deref() {
        Ok("zh") => Language::Chinese,
        _ => Language::English,
    };
    lang::with(language, || draw(&directory, &only));
}

/// Draws those of a name, in this thread's language.
fn draw(directory: &Path, only: &str) {
    for shot in shots::shots()
        .into_iter()
        .filter(|shot| shot.name.contains(only))
    {
        let size = Size::new(shot.size.0, shot.size.1).unwrap();
        let mut status = status(shot.instances, size);
        (shot.status)(&mut status);
        let kinds: Vec<Lattice> = (0..3)
            .map(|seed| aged(soup(size, 0.3, seed + 1), 12))
            .collect();
        let mut lattices: Vec<Lattice> = (0..shot.instances)
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
        let settling = Timed(shot.instances as u32);
        renderer.population.update(&settling, &status, &options);
        renderer.lesson = (shot.lesson)();
        (shot.dialogs)(&mut renderer.dialogs);
        let [width, height] = shot.pixels.map(f64::from);
        renderer.timeline.hover(Some([0.3 * width, 0.82 * height]));
        renderer.lab.hover(Some([0.2 * width, 0.2 * height]));
        // Ages and trails take a few generations.
        if options.colour_by != ColourBy::State {
            for generation in 0..24 {
                renderer
                    .frame(&status, &MadeUp::of(&lattices, generation), &options)
                    .unwrap();
                let kinds: Vec<Lattice> = lattices
                    .iter()
                    .take(3)
                    .map(|lattice| aged(lattice.clone(), 1))
                    .collect();
                for (instance, lattice) in lattices.iter_mut().enumerate() {
                    *lattice = kinds[instance % 3].clone();
                }
            }
        }
        // A dialog measures itself in its first frame and is seen from the second on.
        for generation in 24..26 {
            renderer
                .frame(&status, &MadeUp::of(&lattices, generation), &options)
                .unwrap();
        }
        renderer
            .write_png(&directory.join(format!("{}.png", shot.name)))
            .unwrap();
    }
}
