//! What the panels of a frame cost where lavapipe draws them, in processor time, which a busy
//! machine does not change: `cargo test -p view cost -- --ignored --nocapture`.

use crate::view::layout::Tiling;
use crate::view::offscreen::target;
use crate::view::panels::{Panels, PanelsInput, ViewTransforms, outside};
use crate::view::pixel_tests::lavapipe;
use crate::view::texture_array::texture_limits;
use life::Size;
use ui::fixtures::{FixturePictures, aged, soup};
use ui::{Camera, ColourBy, ViewOptions};

const FRAMES: u32 = 60;

#[test]
#[ignore = "a measurement"]
fn panels() {
    for (instances, columns, side, panel, zoom, colour_by) in [
        (16, 4, 512, 196, 1.0, ColourBy::State),
        (16, 4, 1024, 196, 1.0, ColourBy::State),
        (16, 4, 512, 196, 30.0, ColourBy::State),
        (1, 1, 4096, 784, 1.0, ColourBy::State),
        // As it opens, and with all of it seen.
        (16, 4, 1024, 196, 10.5, ColourBy::History),
        (16, 4, 1024, 196, 1.0, ColourBy::History),
    ] {
        let size = Size::new(side, side).unwrap();
        let lattices: Vec<_> = (0..instances).map(|seed| soup(size, 0.3, seed)).collect();
        let gpu = lavapipe();
        let limits = texture_limits(&gpu.device.limits());
        let format = wgpu::TextureFormat::Rgba8Unorm;
        let options = ViewOptions {
            colour_by,
            theme: 2,
            ..Default::default()
        };
        let mut panels = Panels::new(&gpu.device, &gpu.queue, format, limits);
        let count = lattices.len();
        let next: Vec<_> = lattices.iter().cloned().map(|it| aged(it, 1)).collect();
        let kinds = [lattices, next];
        let pictures = FixturePictures::bits(&kinds[0]);
        panels.update(count, size, &pictures, None, colour_by);
        let mut camera = Camera::default();
        if zoom > 1.0 {
            camera.zoom(zoom, size, [panel; 2]);
        }
        let texture = target(&gpu.device, [800, 800], format);
        let mut generation = 0;
        let mut cost = |updates: bool, draws: bool| {
            let began = cpu_ms();
            for _ in 0..FRAMES {
                if updates {
                    generation += 1;
                    let lattices = &kinds[generation as usize % 2];
                    let pictures = FixturePictures::of(lattices, generation);
                    panels.update(count, size, &pictures, None, colour_by);
                }
                panels.prepare(&PanelsInput {
                    pixels: [800, 800],
                    tiling: Tiling {
                        count,
                        columns,
                        panel: [panel; 2],
                        origin: [1, 2],
                        gap: 3,
                        second: None,
                    },
                    grid: (count, size),
                    transforms: &ViewTransforms::One(camera.target_transform(size, [panel; 2])),
                    minimaps: &[],
                    only: None,
                    number_of: &|instance| instance,
                    options: &options,
                    backgrounds: &[],
                });
                let mut encoder = gpu.device.create_command_encoder(&Default::default());
                let view = texture.create_view(&Default::default());
                let mut pass =
                    crate::view::scene::begin_pass(&mut encoder, &view, outside(&options));
                if draws {
                    panels.draw(&mut pass);
                }
                drop(pass);
                gpu.queue.submit([encoder.finish()]);
                gpu.device
                    .poll(wgpu::PollType::wait_indefinitely())
                    .unwrap();
            }
            (cpu_ms() - began) / f64::from(FRAMES)
        };
        let [nothing, updates, draws] = [(false, false), (true, false), (false, true)]
            .map(|(updates, draws)| cost(updates, draws));
        println!(
            "{instances} × {side}², by {colour_by:?}, zoomed {zoom}: a frame takes {:.2} ms of \
             processor time to update and {:.2} ms to draw",
            updates - nothing,
            draws - nothing
        );
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
