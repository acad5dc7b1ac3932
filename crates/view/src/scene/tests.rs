//! What a picture beside the frames leaves alone.

use super::*;
use crate::Commands;
use crate::made_up::status;
use crate::offscreen::target;
use crate::pixel_tests::lavapipe;
use life::Size;

#[test]
fn a_picture_while_a_dialog_is_open_leaves_the_mouse_to_it() {
    const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;
    let gpu = lavapipe();
    let mut scene = Scene::new(&gpu, FORMAT);
    let pixels = [1280, 800];
    let texture = target(&gpu.device, pixels, FORMAT);
    let view = texture.create_view(&Default::default());
    let status = status(4, Size::new(64, 64).unwrap());
    let frame = Frame {
        status: Some(&status),
        options: &ViewOptions::default(),
        drawing: &Default::default(),
        timeline: &Default::default(),
        population: &Default::default(),
        lab: &Default::default(),
        marks: &Default::default(),
        lesson: None,
        pixels,
        scale: 1.0,
    };
    let mut dialogs = Dialogs {
        commands: Some(Commands::new(Vec::new())),
        ..Default::default()
    };
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
    scene.draw_apart(&frame, &view);
    assert!(is_its(&scene), "and still is");
    scene.draw(&frame, &mut Dialogs::default(), Default::default(), &view);
    assert!(!is_its(&scene), "until it is closed");
}
