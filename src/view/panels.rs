//! Draws the panels: one instanced draw for each array texture.

use bytemuck::{Pod, Zeroable};

use crate::life::Size;
use crate::view::layout::{PixelRect, Tiling};
use crate::view::palette::{palette, rgb, tint};
use crate::view::stack::Stack;
use crate::view::store::{Held, PictureSource, Store};
use crate::view::transfer::TextureLimits;
use crate::view::{Look, ViewOptions};

/// Lines between cells are drawn from so many pixels a cell on.
pub const LEAST_PIXELS_FOR_LINES: f64 = 6.0;

/// `Scene` of the shader.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct SceneUniform {
    screen: [f32; 2],
    origin_part: [f32; 2],
    origin_cell: [i32; 2],
    lattice: [i32; 2],
    cells_per_pixel: f32,
    gamma: f32,
    grid_lines: f32,
    inverted: f32,
    outside: [f32; 4],
    line: [f32; 4],
    ramp: [[f32; 4]; 9],
}

/// `Panel` of the shader.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct PanelInstance {
    rect: [f32; 4],
    tint: [f32; 4],
    offset: [f32; 2],
    step: f32,
    layer: u32,
    texels: [u32; 2],
}

/// What is drawn where.
pub(crate) struct Placing<'a> {
    /// The target's size in pixels.
    pub(crate) pixels: [u32; 2],
    pub(crate) tiling: Tiling,
    pub(crate) look: Look,
    /// The one instance that is drawn, or all.
    pub(crate) only: Option<usize>,
    pub(crate) options: &'a ViewOptions,
    /// The HUD's place, which gets a ground of its own.
    pub(crate) ground: Option<PixelRect>,
}

/// See the module. Lives as long as the device.
pub(crate) struct Panels {
    device: wgpu::Device,
    queue: wgpu::Queue,
    limits: TextureLimits,
    pipelines: [wgpu::RenderPipeline; 2],
    plain: wgpu::RenderPipeline,
    layouts: [wgpu::BindGroupLayout; 2],
    uniform: wgpu::Buffer,
    scene: wgpu::BindGroup,
    instances: wgpu::Buffer,
    store: Option<Store>,
    /// The draws readied for the next pass: pipeline, array, instances of the buffer.
    draws: Vec<(usize, wgpu::BindGroup, std::ops::Range<u32>)>,
    /// Which instance of the buffer is the HUD's ground.
    ground: Option<u32>,
}

impl Panels {
    /// For targets of this format.
    pub(crate) fn new(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        format: wgpu::TextureFormat,
        limits: TextureLimits,
    ) -> Panels {
        let scene_layout = bind_layout(
            device,
            wgpu::ShaderStages::VERTEX_FRAGMENT,
            wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Uniform,
                has_dynamic_offset: false,
                min_binding_size: None,
            },
        );
        let sample_types = [
            wgpu::TextureSampleType::Uint,
            wgpu::TextureSampleType::Float { filterable: false },
        ];
        let layouts = sample_types.map(|sample_type| {
            bind_layout(
                device,
                wgpu::ShaderStages::FRAGMENT,
                wgpu::BindingType::Texture {
                    sample_type,
                    view_dimension: wgpu::TextureViewDimension::D2Array,
                    multisampled: false,
                },
            )
        });
        let shader = device.create_shader_module(wgpu::include_wgsl!("../../shaders/panels.wgsl"));
        let pipeline = |entry: &str, groups: &[Option<&wgpu::BindGroupLayout>]| {
            let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: Some(entry),
                bind_group_layouts: groups,
                ..Default::default()
            });
            pipeline(device, &layout, &shader, entry, format)
        };
        let pipelines = [
            pipeline("bits", &[Some(&scene_layout), Some(&layouts[0])]),
            pipeline("density", &[Some(&scene_layout), Some(&layouts[1])]),
        ];
        let plain = pipeline("plain", &[Some(&scene_layout)]);
        let uniform = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("scene"),
            size: size_of::<SceneUniform>() as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let scene = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("scene"),
            layout: &scene_layout,
            entries: &[wgpu::BindGroupEntry {
                binding: 0,
                resource: uniform.as_entire_binding(),
            }],
        });
        Panels {
            limits,
            pipelines,
            plain,
            layouts,
            uniform,
            scene,
            instances: instance_buffer(device, 16),
            store: None,
            draws: Vec::new(),
            ground: None,
            device: device.clone(),
            queue: queue.clone(),
        }
    }

    /// Queues what is newer; see [`Store::update`].
    pub(crate) fn update(
        &mut self,
        (instances, size): (usize, Size),
        source: &dyn PictureSource,
        only: Option<usize>,
    ) -> bool {
        let store = match self.store.take() {
            Some(store) if store.fits(instances, size) => store,
            _ => Store::new(
                (&self.device, &self.queue),
                self.layouts.clone(),
                self.limits,
                (instances, size),
            ),
        };
        self.store.insert(store).update(source, only)
    }

    /// As [`Store::edits`].
    pub(crate) fn shown_edit(&self, instance: usize) -> u64 {
        let edits = self.store.as_ref().map(|store| &store.edits);
        edits.map_or(0, |edits| edits.get(instance).copied().unwrap_or(0))
    }

    /// How many of the instances to be drawn have no picture yet.
    pub(crate) fn missing(&self, only: Option<usize>) -> usize {
        let Some(store) = &self.store else {
            return only.map_or(usize::MAX, |_| 1);
        };
        let nothing = |held: &&Held| matches!(held, Held::Nothing);
        match only {
            Some(only) => store
                .held
                .get(only)
                .iter()
                .filter(|held| nothing(held))
                .count(),
            None => store.held.iter().filter(nothing).count(),
        }
    }

    /// Readies the draws of a frame; [`Panels::draw`] then only records them.
    pub(crate) fn prepare(&mut self, placing: &Placing<'_>) {
        self.draws.clear();
        self.ground = None;
        let Some(store) = &self.store else { return };
        let uniform = scene_uniform(placing, store.size);
        self.queue
            .write_buffer(&self.uniform, 0, bytemuck::bytes_of(&uniform));
        let mut panels = Vec::new();
        let stacks = store.bits.iter().map(|stack| (0, None, stack));
        let views = store
            .views
            .iter()
            .map(|views| (1, Some(views.serial), &views.stack));
        for (pipeline, serial, stack) in stacks.chain(views) {
            for (bind, layers) in Stack::arrays(stack) {
                let first = panels.len() as u32;
                for (instance, held) in store.held.iter().enumerate() {
                    let layer = match *held {
                        Held::Bits if serial.is_none() => instance,
                        Held::View { stack, layer, .. } if serial == Some(stack) => layer,
                        _ => continue,
                    };
                    if layers.contains(&layer) && placing.only.is_none_or(|only| only == instance) {
                        panels.push(panel(placing, instance, layer - layers.start, held));
                    }
                }
                if panels.len() as u32 > first {
                    self.draws
                        .push((pipeline, bind.clone(), first..panels.len() as u32));
                }
            }
        }
        self.ground = placing.ground.map(|rect| {
            panels.push(ground(rect));
            panels.len() as u32 - 1
        });
        let bytes: &[u8] = bytemuck::cast_slice(&panels);
        if bytes.len() as u64 > self.instances.size() {
            self.instances = instance_buffer(&self.device, panels.len());
        }
        self.queue.write_buffer(&self.instances, 0, bytes);
    }

    /// Records the draws; one for each array texture.
    pub(crate) fn draw(&self, pass: &mut wgpu::RenderPass<'_>) {
        pass.set_bind_group(0, &self.scene, &[]);
        pass.set_vertex_buffer(0, self.instances.slice(..));
        for (pipeline, array, panels) in &self.draws {
            pass.set_pipeline(&self.pipelines[*pipeline]);
            pass.set_bind_group(1, array, &[]);
            pass.draw(0..4, panels.clone());
        }
        if let Some(ground) = self.ground {
            pass.set_pipeline(&self.plain);
            pass.draw(0..4, ground..ground + 1);
        }
    }
}

fn panel(placing: &Placing<'_>, instance: usize, layer: usize, held: &Held) -> PanelInstance {
    let place = placing.only.map_or(instance, |_| 0);
    let rect = placing.tiling.rect(place);
    let mut tint = tint(instance);
    tint[3] = if palette(placing.options.colours).tinted {
        1.0
    } else {
        0.0
    };
    let mut panel = PanelInstance {
        rect: [rect.x, rect.y, rect.width, rect.height].map(|side| side as f32),
        tint,
        offset: [0.0; 2],
        step: 1.0,
        layer: layer as u32,
        texels: [0; 2],
    };
    if let Held::View { viewport, .. } = held {
        let one = crate::engine::Viewport::ONE as f64;
        let corner = [viewport.x0, viewport.y0].map(|at| at as f64 / one);
        let texel = viewport.step as f64 / one;
        panel.offset =
            [0, 1].map(|axis| ((placing.look.origin[axis] - corner[axis]) / texel) as f32);
        panel.step = (1.0 / (placing.look.scale * texel)) as f32;
        panel.texels = [viewport.width, viewport.height];
    }
    panel
}

fn ground(rect: PixelRect) -> PanelInstance {
    PanelInstance {
        rect: [rect.x, rect.y, rect.width, rect.height].map(|side| side as f32),
        tint: rgb(GROUND),
        offset: [0.0; 2],
        step: 0.0,
        layer: 0,
        texels: [0; 2],
    }
}

/// Where cells are smaller than pixels, sparse life would fade away: from there on the shade is
/// the square root of the density.
pub(crate) fn gamma(cells_per_pixel: f64) -> f32 {
    (1.5 - 0.5 * cells_per_pixel).clamp(0.5, 1.0) as f32
}

fn scene_uniform(placing: &Placing<'_>, size: Size) -> SceneUniform {
    let options = placing.options;
    let look = placing.look;
    let cells_per_pixel = 1.0 / look.scale;
    let lines = options.grid_lines && look.scale >= LEAST_PIXELS_FOR_LINES;
    let cell = look.origin.map(f64::floor);
    SceneUniform {
        screen: placing.pixels.map(|side| side as f32),
        origin_part: [0, 1].map(|axis| (look.origin[axis] - cell[axis]) as f32),
        origin_cell: cell.map(|at| at as i32),
        lattice: [size.width(), size.height()].map(|side| side as i32),
        cells_per_pixel: cells_per_pixel as f32,
        gamma: gamma(cells_per_pixel),
        grid_lines: if lines { 0.45 } else { 0.0 },
        inverted: if options.invert { 1.0 } else { 0.0 },
        outside: rgb(OUTSIDE),
        line: rgb(0x60646C),
        ramp: palette(options.colours).ramp,
    }
}

/// What surrounds the panels, `0xRRGGBB`.
pub(crate) const OUTSIDE: u32 = 0x1B1E24;

/// The HUD's ground, `0xRRGGBB`.
const GROUND: u32 = 0x121418;

fn bind_layout(
    device: &wgpu::Device,
    visibility: wgpu::ShaderStages,
    ty: wgpu::BindingType,
) -> wgpu::BindGroupLayout {
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some("panels"),
        entries: &[wgpu::BindGroupLayoutEntry {
            binding: 0,
            visibility,
            ty,
            count: None,
        }],
    })
}

fn instance_buffer(device: &wgpu::Device, panels: usize) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("panels"),
        size: (panels.next_power_of_two() * size_of::<PanelInstance>()) as u64,
        usage: wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    })
}

fn pipeline(
    device: &wgpu::Device,
    layout: &wgpu::PipelineLayout,
    shader: &wgpu::ShaderModule,
    entry: &str,
    format: wgpu::TextureFormat,
) -> wgpu::RenderPipeline {
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some(entry),
        layout: Some(layout),
        vertex: wgpu::VertexState {
            module: shader,
            entry_point: Some("corner"),
            compilation_options: Default::default(),
            buffers: &[Some(wgpu::VertexBufferLayout {
                array_stride: size_of::<PanelInstance>() as u64,
                step_mode: wgpu::VertexStepMode::Instance,
                attributes: &wgpu::vertex_attr_array![
                    0 => Float32x4, 1 => Float32x4, 2 => Float32x2, 3 => Float32, 4 => Uint32,
                    5 => Uint32x2
                ],
            })],
        },
        primitive: wgpu::PrimitiveState {
            topology: wgpu::PrimitiveTopology::TriangleStrip,
            ..Default::default()
        },
        depth_stencil: None,
        multisample: Default::default(),
        fragment: Some(wgpu::FragmentState {
            module: shader,
            entry_point: Some(entry),
            compilation_options: Default::default(),
            targets: &[Some(format.into())],
        }),
        multiview_mask: None,
        cache: None,
    })
}
