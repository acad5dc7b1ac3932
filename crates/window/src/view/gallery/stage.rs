//! Draws screens, one after another, on one device.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use crate::view::gallery::Set;
use crate::view::offscreen::{read, target};
use crate::view::picture_file::Image;
use crate::view::pixel_tests::lavapipe;
use crate::view::{Gpu, Scene};
use life::{Lattice, Size};
use ui::ColourBy;
use ui::fixtures::{FixturePictures, aged, soup};

/// Generations that ages and trails are made of.
const PAST: usize = 16;
/// Different lattices; instance i has the one of i modulo this.
const KINDS: usize = 3;

const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;

pub(super) struct Stage {
    gpu: Gpu,
    scene: Scene,
    reducer: wgpu::RenderPipeline,
    targets: HashMap<[u32; 2], wgpu::Texture>,
    /// egui's clock, which never goes back.
    clock: f64,
}

impl Stage {
    pub(super) fn new() -> Stage {
        let gpu = lavapipe();
        Stage {
            scene: Scene::new(&gpu, FORMAT),
            reducer: reducer(&gpu.device),
            gpu,
            targets: HashMap::new(),
            clock: 0.0,
        }
    }

    /// The set's picture, once it has come to rest.
    pub(super) fn picture(&mut self, set: &mut Set) -> Image {
        self.draw(set);
        let image = read(&self.gpu, &self.targets[&set.window.0]).unwrap();
        self.gpu.trouble().unwrap();
        image
    }

    /// The same picture, each pixel the mean of a rectangle of it.
    pub(super) fn reduced(&mut self, set: &mut Set, pixels: [u32; 2]) -> Image {
        self.draw(set);
        let from = self.targets[&set.window.0].create_view(&Default::default());
        let small = target(&self.gpu.device, pixels, FORMAT);
        let binding = self
            .gpu
            .device
            .create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("reduced"),
                layout: &self.reducer.get_bind_group_layout(0),
                entries: &[wgpu::BindGroupEntry {
                    binding: 0,
                    resource: wgpu::BindingResource::TextureView(&from),
                }],
            });
        let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
        {
            let view = small.create_view(&Default::default());
            let mut pass = crate::view::scene::begin_pass(&mut encoder, &view, [0.0; 4]);
            pass.set_pipeline(&self.reducer);
            pass.set_bind_group(0, &binding, &[]);
            pass.draw(0..3, 0..1);
        }
        self.gpu.queue.submit([encoder.finish()]);
        let image = read(&self.gpu, &small).unwrap();
        self.gpu.trouble().unwrap();
        image
    }

    fn draw(&mut self, set: &mut Set) {
        let size = set.screen.lattice_size();
        let soups = soups(size);
        let pixels = set.window.0;
        let target = self
            .targets
            .entry(pixels)
            .or_insert_with(|| readable(&self.gpu.device, pixels));
        let view = target.create_view(&Default::default());
        let first = match set.options.colour_by {
            ColourBy::State => PAST - 1,
            _ => 0,
        };
        if first == 0 {
            // Ages are counted from what was drawn before.
            self.scene = Scene::new(&self.gpu, FORMAT);
        }
        self.scene.forget();
        for (generation, kinds) in soups.iter().enumerate().skip(first) {
            let lattices: Vec<Lattice> = (0..set.screen.instances)
                .map(|instance| kinds[instance % KINDS].clone())
                .collect();
            let pictures = FixturePictures::of(&lattices, generation as u64);
            self.scene.update(&set.frame(), &pictures).unwrap();
        }
        let frames = set.frames();
        let mut dialogs = std::mem::take(&mut set.dialogs);
        for number in 0..frames {
            self.clock += 1.0;
            let input = set.input(number, self.clock);
            self.scene.draw(&set.frame(), &mut dialogs, input, &view);
        }
    }
}

/// A texture that is drawn to, read back and reduced.
fn readable(device: &wgpu::Device, [width, height]: [u32; 2]) -> wgpu::Texture {
    device.create_texture(&wgpu::TextureDescriptor {
        label: Some("screen"),
        size: wgpu::Extent3d {
            width,
            height,
            depth_or_array_layers: 1,
        },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: FORMAT,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT
            | wgpu::TextureUsages::COPY_SRC
            | wgpu::TextureUsages::TEXTURE_BINDING,
        view_formats: &[],
    })
}

/// The last generations of lattices of a size, the newest last.
type Soups = Arc<Vec<Vec<Lattice>>>;

/// The soups of a size, generated once for all stages.
fn soups(size: Size) -> Soups {
    static MADE: LazyLock<Mutex<HashMap<Size, Soups>>> = LazyLock::new(Mutex::default);
    let mut made = MADE.lock().unwrap();
    made.entry(size)
        .or_insert_with(|| Arc::new(generations(size)))
        .clone()
}

fn generations(size: Size) -> Vec<Vec<Lattice>> {
    let first = (0..KINDS as u64).map(|seed| soup(size, 0.3, seed + 1));
    let first: Vec<Lattice> = first.collect();
    let next = |kinds: &Vec<Lattice>| Some(kinds.iter().map(|it| aged(it.clone(), 1)).collect());
    std::iter::successors(Some(first), next)
        .take(PAST)
        .collect()
}

/// Draws into each pixel the mean of the pixels that it stands for; whole ones, so that it is the
/// same everywhere.
fn reducer(device: &wgpu::Device) -> wgpu::RenderPipeline {
    let module = device.create_shader_module(wgpu::include_wgsl!("reduce.wgsl"));
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some("reduce"),
        layout: None,
        vertex: wgpu::VertexState {
            module: &module,
            entry_point: Some("corner"),
            compilation_options: Default::default(),
            buffers: &[],
        },
        fragment: Some(wgpu::FragmentState {
            module: &module,
            entry_point: Some("mean"),
            compilation_options: Default::default(),
            targets: &[Some(FORMAT.into())],
        }),
        primitive: Default::default(),
        depth_stencil: None,
        multisample: Default::default(),
        multiview_mask: None,
        cache: None,
    })
}
