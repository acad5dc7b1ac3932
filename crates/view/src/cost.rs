//! What the panels of a frame cost where lavapipe draws them, in processor time, which a busy
//! machine does not change: `cargo test --lib view::cost -- --ignored --nocapture`.

use crate::layout::Tiling;
use crate::made_up::{MadeUp, soup};
use crate::offscreen::target;
use crate::panels::{Looks, Panels, Placing, outside};
use crate::pixel_tests::lavapipe;
use crate::transfer::TextureLimits;
use crate::{Camera, ViewOptions};
use life::Size;

const FRAMES: u32 = 60;

#[test]
#[ignore = "a measurement"]
fn panels() {
    for (instances, columns, side, panel, zoom) in [
        (16, 4, 512, 196, 1.0),
        (16, 4, 1024, 196, 1.0),
        (16, 4, 512, 196, 30.0),
        (1, 1, 4096, 784, 1.0),
    ] {
        let size = Size::new(side, side).unwrap();
        let lattices: Vec<_> = (0..instances).map(|seed| soup(size, 0.3, seed)).collect();
        let gpu = lavapipe();
        let limits = TextureLimits::of(&gpu.device.limits());
        let format = wgpu::TextureFormat::Rgba8Unorm;
        let options = ViewOptions::default();
        let mut panels = Panels::new(&gpu.device, &gpu.queue, format, limits);
        let pictures = MadeUp::bits(&lattices);
        panels.update((lattices.len(), size), &pictures, None, options.colour_by);
        let mut camera = Camera::default();
        if zoom > 1.0 {
            camera.zoom(zoom, size, [panel; 2]);
        }
        let texture = target(&gpu.device, [800, 800], format);
        let began = cpu_ms();
        for _ in 0..FRAMES {
            panels.prepare(&Placing {
                pixels: [800, 800],
                tiling: Tiling {
                    count: lattices.len(),
                    columns,
                    panel: [panel; 2],
                    origin: [1, 2],
                    gap: 3,
                    second: None,
                },
                looks: &Looks::One(camera.look(size, [panel; 2])),
                small: &[],
                only: None,
                options: &options,
                ground: None,
            });
            let mut encoder = gpu.device.create_command_encoder(&Default::default());
            let view = texture.create_view(&Default::default());
            panels.draw(&mut crate::scene::begin_pass(
                &mut encoder,
                &view,
                outside(&options),
            ));
            gpu.queue.submit([encoder.finish()]);
            gpu.device
                .poll(wgpu::PollType::wait_indefinitely())
                .unwrap();
        }
        let each = (cpu_ms() - began) / f64::from(FRAMES);
        println!("{instances} × {side}², zoomed {zoom}: {each:.2} ms of processor time a frame");
    }
}

/// Processor time of the whole process so far, in ticks of 10 ms.
fn cpu_ms() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let after_name = stat.rsplit_once(')').unwrap().1;
    let ticks = |field: usize| -> f64 {
        let text = after_name.split_whitespace().nth(field).unwrap();
        text.parse().unwrap()
    };
    10.0 * (ticks(11) + ticks(12))
}
