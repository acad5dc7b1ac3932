//! Cameras, colours and themes, and a minimap where a part is seen.

use crate::view::gallery::{Scenario, screen};
use crate::view::{Dialog, Picker};
use engine::Transfer;
use ui::fixtures::{lesson_page, recorded_page};
use ui::{Camera, ColourBy, LessonScreen, MIN_OPENING_PIXELS, SidePanel};

pub(super) fn screens() -> Vec<Scenario> {
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
