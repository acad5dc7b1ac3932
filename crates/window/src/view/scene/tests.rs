//! A capture between two frames does not change the frames.

use super::*;
use crate::view::offscreen::target;
use crate::view::pixel_tests::lavapipe;
use crate::view::{Dialog, Picker, TimelineView};
use life::Size;
use session::Status;
use ui::ViewOptions;
use ui::fixtures::{Timed, status};

const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;

#[test]
fn a_picture_while_a_dialog_is_open_leaves_the_mouse_to_it() {
    let gpu = lavapipe();
    let mut scene = Scene::new(&gpu, FORMAT);
    let pixels = [1280, 800];
    let texture = target(&gpu.device, pixels, FORMAT);
    let view = texture.create_view(&Default::default());
    let status = status(4, Size::new(64, 64).unwrap());
    let options = ViewOptions::default();
    let frame = Frame::plain(&status, &options).composed();
    let mut dialogs = Dialogs::of(Dialog::Commands(Picker::default(), Default::default()));
    for _ in 0..3 {
        let at = egui::pos2(640.0, 300.0);
        let input = egui::RawInput {
            events: vec![egui::Event::PointerMoved(at)],
            ..Default::default()
        };
        scene.draw(&frame, &mut dialogs, input, &view);
    }
    let is_its = |scene: &Scene| scene.context().egui_wants_pointer_input();
    assert!(is_its(&scene), "the palette is under the mouse");
    scene.draw_for_capture(&frame, &view);
    assert!(is_its(&scene), "and still is");
    scene.draw(&frame, &mut Dialogs::default(), Default::default(), &view);
    assert!(!is_its(&scene), "until it is closed");
}

/// Pictures of two frames: what is drawn again is what was drawn.
#[test]
fn an_interface_is_laid_out_again_only_once_something_of_it_changes() {
    let gpu = lavapipe();
    let mut scene = Scene::new(&gpu, FORMAT);
    let pixels = [1280, 800];
    let texture = target(&gpu.device, pixels, FORMAT);
    let view = texture.create_view(&Default::default());
    let mut timed = TimelineView::default();
    timed.update(&Timed(4));
    let first = status(4, Size::new(64, 64).unwrap());
    let mut dialogs = Dialogs::default();
    // How often it was laid out for these.
    let mut draw = |status: &Status, options: &ViewOptions, events: Vec<egui::Event>| {
        let frame = Frame::plain(status, options).with_timeline(&timed);
        let input = egui::RawInput {
            events,
            ..Default::default()
        };
        let before = scene.context().cumulative_frame_nr();
        scene.draw(&frame, &mut dialogs, input, &view);
        let picture = crate::view::offscreen::read(&gpu, &texture).unwrap();
        (scene.context().cumulative_frame_nr() - before, picture.rgba)
    };
    let open = ViewOptions {
        timeline: true,
        ..Default::default()
    };
    // egui wants some frames until all is in its place.
    let mut last = draw(&first, &open, Vec::new());
    for _ in 0..4 {
        last = draw(&first, &open, Vec::new());
    }
    for _ in 0..3 {
        let again = draw(&first, &open, Vec::new());
        assert_eq!(again.0, 0, "nothing has changed");
        assert!(again.1 == last.1, "and nothing else is seen");
    }
    let mut later = first.clone();
    later.rates.rounds_per_second *= 3.0;
    let figures = draw(&later, &open, Vec::new());
    assert_eq!(figures.0, 1, "a figure");
    assert!(figures.1 != last.1);
    assert_eq!(draw(&first, &open, Vec::new()).0, 1);
    let moved = vec![egui::Event::PointerMoved(egui::pos2(30.0, 40.0))];
    assert_eq!(draw(&first, &open, moved).0, 1, "the mouse");
    let closed = draw(&first, &ViewOptions::default(), Vec::new());
    assert_eq!(closed.0, 1, "an option");
    assert!(closed.1 != last.1);
}

/// Shelf, presentation, a larger window, Chinese, a picture: what they need goes with them.
#[test]
fn what_is_closed_is_freed() {
    let gpu = lavapipe();
    let mut scene = Scene::new(&gpu, FORMAT);
    let status = status(4, Size::new(64, 64).unwrap());
    let options = ViewOptions::default();
    let mut held = |pixels: [u32; 2], presentation: bool, dialog: Option<Dialog>, capture: bool| {
        let options = ViewOptions {
            presentation,
            ..options.clone()
        };
        let plain = Frame::plain(&status, &options);
        let frame = Frame { pixels, ..plain }.composed();
        let texture = target(&gpu.device, pixels, FORMAT);
        let view = texture.create_view(&Default::default());
        let mut dialogs = dialog.map_or_else(Dialogs::default, Dialogs::of);
        for _ in 0..3 {
            // A frame that nothing asks for would be the last one.
            let input = egui::RawInput {
                events: vec![egui::Event::PointerGone],
                ..Default::default()
            };
            scene.draw(&frame, &mut dialogs, input, &view);
        }
        if capture {
            scene.draw_for_capture(&frame, &view);
        }
        let during = scene.held_bytes();
        scene.end_captures();
        during
    };
    let usual = [1280, 800];
    let before = held(usual, false, None, false);
    let shelf = || Some(Dialog::Shelf(Picker::default()));
    let help = || Some(Dialog::Help(Picker::default()));
    let mut opened = 0;
    for round in 0..3 {
        for (pixels, presentation, dialog, capture) in [
            (usual, false, shelf(), false),
            (usual, true, None, false),
            ([1920, 1080], false, help(), false),
            ([3840, 2160], true, shelf(), false),
            (usual, false, None, true),
        ] {
            let during = held(pixels, presentation, dialog, capture);
            opened += usize::from(during > before);
            let after = held(usual, false, None, false);
            assert!(after <= before, "{after} of {pixels:?} in round {round}");
        }
        let chinese = || held([3840, 2160], false, help(), false);
        assert!(test_support::with(lang::Language::Chinese, chinese) > before);
    }
    assert!(opened >= 9, "{opened}");
}
