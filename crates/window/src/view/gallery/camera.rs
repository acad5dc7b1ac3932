//! Cameras, colours and themes, and a minimap where a part is seen.

use crate::view::gallery::{SCREEN, Scenario};
use engine::Transfer;
use life::Size;
use ui::SidePanel;
use ui::fixtures::{lesson_page, recorded_page};
use ui::{Camera, ColourBy, LessonScreen, MIN_OPENING_PIXELS, ViewOptions};

pub(super) fn screens() -> Vec<Scenario> {
    let themed = |name, number: fn(&mut ViewOptions, Size, [u32; 2])| Scenario {
        name,
        options: number,
        ..SCREEN
    };
    vec![
        // What a person sees at first, with no option given.
        Scenario {
            name: "camera-opening",
            options: |o, _, _| {
                o.camera = Camera::opening(MIN_OPENING_PIXELS);
                (o.theme, o.colour_by) = (2, ColourBy::History);
            },
            ..SCREEN
        },
        Scenario {
            name: "camera-minimap",
            size: (512, 256),
            status: |status| status.panels.selected = 6,
            options: |o, size, panel| o.camera.zoom_at(9.0, [500.0, 100.0], size, panel),
            ..SCREEN
        },
        Scenario {
            name: "camera-minimap-single",
            options: |o, size, panel| {
                (o.single, o.grid_lines) = (true, true);
                o.camera.zoom_at(12.0, [500.0, 100.0], size, panel);
            },
            ..SCREEN
        },
        Scenario {
            name: "camera-minimap-view",
            status: |status| status.setting.transfer = Transfer::View,
            options: |o, size, panel| {
                (o.single, o.colour_by) = (true, ColourBy::Age);
                o.camera.zoom_at(3.0, [500.0, 100.0], size, panel);
            },
            ..SCREEN
        },
        Scenario {
            name: "camera-64-pixels",
            instances: 2,
            options: |o, size, panel| {
                o.grid_lines = true;
                o.camera.zoom_at(1000.0, [300.0, 300.0], size, panel);
            },
            ..SCREEN
        },
        Scenario {
            name: "camera-separate",
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
            ..SCREEN
        },
        Scenario {
            name: "camera-age",
            options: |o, _, _| o.colour_by = ColourBy::Age,
            ..SCREEN
        },
        Scenario {
            name: "camera-history",
            options: |o, _, _| o.colour_by = ColourBy::History,
            ..SCREEN
        },
        Scenario {
            name: "camera-age-zoomed",
            instances: 4,
            options: |o, size, panel| {
                o.colour_by = ColourBy::Age;
                o.camera.zoom_at(20.0, [200.0, 100.0], size, panel);
            },
            ..SCREEN
        },
        Scenario {
            name: "camera-history-zoomed",
            instances: 4,
            options: |o, size, panel| {
                o.colour_by = ColourBy::History;
                o.camera.zoom_at(20.0, [200.0, 100.0], size, panel);
            },
            ..SCREEN
        },
        themed("camera-theme-amber", |o, size, panel| {
            theme(o, 0, size, panel)
        }),
        themed("camera-theme-cividis", |o, size, panel| {
            theme(o, 1, size, panel)
        }),
        themed("camera-theme-hues", |o, size, panel| {
            theme(o, 2, size, panel)
        }),
        themed("camera-theme-phosphor", |o, size, panel| {
            theme(o, 3, size, panel)
        }),
        themed("camera-theme-paper", |o, size, panel| {
            theme(o, 4, size, panel)
        }),
        Scenario {
            name: "camera-theme-paper-history",
            instances: 4,
            options: |o, size, panel| {
                (o.theme, o.colour_by) = (4, ColourBy::History);
                o.camera.zoom_at(8.0, [200.0, 100.0], size, panel);
            },
            ..SCREEN
        },
        Scenario {
            name: "camera-theme-cividis-history-inverted",
            instances: 4,
            options: |o, size, panel| {
                (o.theme, o.colour_by, o.invert) = (1, ColourBy::History, true);
                o.camera.zoom_at(8.0, [200.0, 100.0], size, panel);
            },
            ..SCREEN
        },
        Scenario {
            name: "camera-theme-paper-help",
            options: |o, _, _| o.theme = 4,
            dialogs: |dialogs| {
                dialogs.open(crate::view::Dialog::Help(crate::view::Help::default()))
            },
            ..SCREEN
        },
        Scenario {
            name: "camera-theme-paper-lab",
            options: |o, _, _| (o.theme, o.side, o.timeline) = (4, Some(SidePanel::Lab), true),
            ..SCREEN
        },
        Scenario {
            name: "camera-theme-paper-recorded",
            options: |o, _, _| o.theme = 4,
            lesson: || Some(LessonScreen::Page(recorded_page())),
            ..SCREEN
        },
        Scenario {
            name: "camera-theme-paper-lesson",
            options: |o, _, _| o.theme = 4,
            lesson: || Some(LessonScreen::Page(lesson_page(true))),
            ..SCREEN
        },
    ]
}

fn theme(options: &mut ViewOptions, number: usize, size: Size, panel: [u32; 2]) {
    (options.theme, options.timeline) = (number, true);
    options.camera.zoom_at(2.0, [200.0, 100.0], size, panel);
}
