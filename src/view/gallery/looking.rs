//! Cameras, colours and themes, each in a small and a large window.

use crate::engine::Transfer;
use crate::life::Size;
use crate::view::gallery::{SHOT, Shot};
use crate::view::made_up::lesson_page;
use crate::view::{ColourBy, LessonScreen, ViewOptions};

pub(super) fn shots() -> Vec<Shot> {
    let themed = |name, number: fn(&mut ViewOptions, Size, [u32; 2])| Shot {
        name,
        options: number,
        ..SHOT
    };
    let shots = vec![
        Shot {
            name: "looking-minimap",
            size: (1024, 512),
            status: |status| status.selected = 6,
            options: |o, size, panel| o.camera.zoom_at(9.0, [500.0, 100.0], size, panel),
            ..SHOT
        },
        Shot {
            name: "looking-minimap-single",
            options: |o, size, panel| {
                (o.single, o.grid_lines) = (true, true);
                o.camera.zoom_at(12.0, [500.0, 100.0], size, panel);
            },
            ..SHOT
        },
        Shot {
            name: "looking-minimap-view",
            status: |status| status.transfer = Transfer::View,
            options: |o, size, panel| {
                (o.single, o.colour_by) = (true, ColourBy::Age);
                o.camera.zoom_at(3.0, [500.0, 100.0], size, panel);
            },
            ..SHOT
        },
        Shot {
            name: "looking-64-pixels",
            instances: 2,
            options: |o, size, panel| {
                o.grid_lines = true;
                o.camera.zoom_at(1000.0, [300.0, 300.0], size, panel);
            },
            ..SHOT
        },
        Shot {
            name: "looking-separate",
            instances: 6,
            options: |o, size, panel| {
                o.toggle_separate(6, 0);
                for instance in 0..6 {
                    let factor = 1.0 + 2.0 * instance as f64;
                    let pixel = [100.0 * instance as f64, 300.0];
                    let camera = o.camera_of_mut(instance);
                    camera.zoom_at(factor, pixel, size, panel);
                }
            },
            ..SHOT
        },
        Shot {
            name: "looking-age",
            options: |o, _, _| o.colour_by = ColourBy::Age,
            ..SHOT
        },
        Shot {
            name: "looking-history",
            options: |o, _, _| o.colour_by = ColourBy::History,
            ..SHOT
        },
        Shot {
            name: "looking-age-zoomed",
            instances: 4,
            options: |o, size, panel| {
                o.colour_by = ColourBy::Age;
                o.camera.zoom_at(20.0, [200.0, 100.0], size, panel);
            },
            ..SHOT
        },
        Shot {
            name: "looking-history-zoomed",
            instances: 4,
            options: |o, size, panel| {
                o.colour_by = ColourBy::History;
                o.camera.zoom_at(20.0, [200.0, 100.0], size, panel);
            },
            ..SHOT
        },
        themed("looking-theme-amber", |o, size, panel| {
            theme(o, 0, size, panel)
        }),
        themed("looking-theme-cividis", |o, size, panel| {
            theme(o, 1, size, panel)
        }),
        themed("looking-theme-hues", |o, size, panel| {
            theme(o, 2, size, panel)
        }),
        themed("looking-theme-phosphor", |o, size, panel| {
            theme(o, 3, size, panel)
        }),
        themed("looking-theme-paper", |o, size, panel| {
            theme(o, 4, size, panel)
        }),
        Shot {
            name: "looking-theme-paper-history",
            instances: 4,
            options: |o, size, panel| {
                (o.colours, o.colour_by) = (4, ColourBy::History);
                o.camera.zoom_at(8.0, [200.0, 100.0], size, panel);
            },
            ..SHOT
        },
        Shot {
            name: "looking-theme-cividis-history-inverted",
            instances: 4,
            options: |o, size, panel| {
                (o.colours, o.colour_by, o.invert) = (1, ColourBy::History, true);
                o.camera.zoom_at(8.0, [200.0, 100.0], size, panel);
            },
            ..SHOT
        },
        Shot {
            name: "looking-theme-paper-help",
            options: |o, _, _| (o.colours, o.help) = (4, true),
            ..SHOT
        },
        Shot {
            name: "looking-theme-paper-lab",
            options: |o, _, _| (o.colours, o.lab, o.timeline) = (4, true, true),
            ..SHOT
        },
        Shot {
            name: "looking-theme-paper-lesson",
            options: |o, _, _| o.colours = 4,
            lesson: || Some(LessonScreen::Page(lesson_page(true))),
            ..SHOT
        },
    ];
    let large = |shot: &Shot| Shot {
        name: Box::leak(format!("{}-1920", shot.name).into_boxed_str()),
        pixels: [1920, 1080],
        ..*shot
    };
    let large: Vec<Shot> = shots.iter().map(large).collect();
    let small = shots.into_iter().map(|shot| Shot {
        pixels: [1280, 720],
        ..shot
    });
    small.chain(large).collect()
}

fn theme(options: &mut ViewOptions, number: usize, size: Size, panel: [u32; 2]) {
    (options.colours, options.timeline) = (number, true);
    options.camera.zoom_at(2.0, [200.0, 100.0], size, panel);
}
