//! Draws the panels: one instanced draw for each array texture.

use bytemuck::{Pod, Zeroable};

use crate::view::cell_ages::{CellAges, ages_layout};
use crate::view::gpu::{self, bind_layout, texture_layout};
use crate::view::layout::{PixelRect, Tiling};
use crate::view::picture_cache::TextureArray;
use crate::view::picture_cache::{CachedPicture, PictureCache, PictureUpdate};
use engine::ReduceRegion;
use life::Size;
use session::PictureSource;
use ui::theme::reduced;
use ui::theme::{CELL_LINES, floats, mirrored, theme, tint};
use ui::{ColourBy, TextureLimits, ViewOptions, ViewTransform};

/// Minimum pixels per cell for lines between cells.
pub(crate) const MIN_PIXELS_FOR_LINES: f64 = 6.0;

/// `Scene` of the shader.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct SceneUniform {
    screen: [f32; 2],
    lattice: [i32; 2],
    inverted: f32,
    history: f32,
    unused: [f32; 2],
    outside: [f32; 4],
    line: [f32; 4],
    trail: [f32; 4],
    ramp: [[f32; 4]; 9],
    ages: [[f32; 4]; 9],
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
    part: [f32; 2],
    cell: [i32; 2],
    scale: [f32; 3],
    turn: [f32; 2],
}

/// A whole lattice in a corner of its panel.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Minimap {
    pub(crate) instance: usize,
    pub(crate) rect: PixelRect,
    pub(crate) transform: ViewTransform,
}

impl Minimap {
    /// The point of its lattice, in cells, that it has at a point of the window, also beyond its edges.
    pub(crate) fn cell_at(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let corner = [self.rect.x, self.rect.y].map(f64::from);
        self.transform.to_cells([x - corner[0], y - corner[1]])
    }
}

/// What one frame draws, and where.
pub(crate) struct PanelsInput<'a> {
    /// The target's size in pixels.
    pub(crate) pixels: [u32; 2],
    pub(crate) tiling: Tiling,
    /// How many instances there are, and of which size.
    pub(crate) grid: (usize, Size),
    /// What the panels show.
    pub(crate) transform: ViewTransform,
    /// The one instance that is drawn, or all.
    pub(crate) only: Option<usize>,
    /// As [`Status::number_of`](session::Status::number_of).
    pub(crate) number_of: &'a dyn Fn(usize) -> usize,
    pub(crate) options: &'a ViewOptions,
    pub(crate) minimap: Option<Minimap>,
    /// The places of the HUD, the timeline and the like, which get a background of their own.
    pub(crate) backgrounds: &'a [PixelRect],
}

/// See the module. Lives as long as the device.
pub(crate) struct Panels {
    device: wgpu::Device,
    queue: wgpu::Queue,
    limits: TextureLimits,
    pipelines: [wgpu::RenderPipeline; 3],
    plain: wgpu::RenderPipeline,
    layouts: [wgpu::BindGroupLayout; 2],
    uniform: wgpu::Buffer,
    scene: wgpu::BindGroup,
    instances: wgpu::Buffer,
    cache: Option<PictureCache>,
    /// While the lattices are of another size or number than `cache`, which is drawn until the first
    /// picture of each has arrived.
    incoming: Option<PictureCache>,
    /// While colours are by age or by history.
    cell_ages: Option<CellAges>,
    /// The draws readied for the next pass: pipeline, array, instances of the buffer.
    draws: Vec<(usize, wgpu::BindGroup, std::ops::Range<u32>)>,
    /// Which instances of the buffer are of one colour: backgrounds of minimaps, and the HUD's.
    backgrounds: std::ops::Range<u32>,
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
            let ty = texture_layout(sample_type, wgpu::TextureViewDimension::D2Array);
            bind_layout(device, wgpu::ShaderStages::FRAGMENT, ty)
        });
        let shader = gpu::shader(
            device,
            concat!(
                include_str!("../../../../shaders/panels.wgsl"),
                include_str!("../../../../shaders/quads.wgsl")
            ),
        );
        let instances = gpu::InstanceBuffer {
            stride: size_of::<PanelInstance>(),
            attributes: &wgpu::vertex_attr_array![
                0 => Float32x4, 1 => Float32x4, 2 => Float32x2, 3 => Float32, 4 => Uint32,
                5 => Uint32x2, 6 => Float32x2, 7 => Sint32x2, 8 => Float32x3, 9 => Float32x2
            ],
        };
        let pipeline = |entry: &str, groups: &[Option<&wgpu::BindGroupLayout>]| {
            gpu::pipeline(device, &shader, entry, groups, &instances, format)
        };
        let pipelines = [
            pipeline("bits", &[Some(&scene_layout), Some(&layouts[0])]),
            pipeline("density", &[Some(&scene_layout), Some(&layouts[1])]),
            pipeline("by_age", &[Some(&scene_layout), Some(&ages_layout(device))]),
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
            cache: None,
            incoming: None,
            draws: Vec::new(),
            backgrounds: 0..0,
            cell_ages: None,
            device: device.clone(),
            queue: queue.clone(),
        }
    }

    /// Queues what is newer; see [`PictureCache::update`]. What colours by age or by history need is kept
    /// from the first call that says so on.
    pub(crate) fn update(
        &mut self,
        instances: usize,
        size: Size,
        source: &dyn PictureSource,
        only: Option<usize>,
        colour_by: ColourBy,
    ) -> bool {
        let fits = |cache: &PictureCache| cache.fits(instances, size);
        let incoming = self.incoming.take().filter(fits);
        if let Some(cache) = self.cache.as_mut().filter(|cache| fits(cache)) {
            let any = cache.update(source, only);
            self.update_cell_ages(colour_by);
            return any;
        }
        let mut incoming = incoming.unwrap_or_else(|| {
            PictureCache::new(
                &self.device,
                &self.queue,
                self.layouts.clone(),
                self.limits,
                instances,
                size,
            )
        });
        let any = incoming.update(source, only);
        if self.cache.is_none() || incoming.missing(only) == 0 {
            self.cache = Some(incoming);
            self.cell_ages = None;
            self.update_cell_ages(colour_by);
        } else {
            self.incoming = Some(incoming);
        }
        any
    }

    fn update_cell_ages(&mut self, colour_by: ColourBy) {
        let wanted = colour_by != ColourBy::State;
        let Some((cache, bits)) = self
            .cache
            .as_mut()
            .filter(|_| wanted)
            .and_then(|cache| cache.bits.take().map(|bits| (cache, bits)))
        else {
            self.cell_ages = None;
            return;
        };
        let everything: Vec<PictureUpdate>;
        let known = self.cell_ages.is_some();
        let cell_ages = self.cell_ages.get_or_insert_with(|| {
            let count = cache.pictures.len();
            CellAges::new(
                &self.device,
                &self.layouts[0],
                self.limits,
                count,
                cache.size,
            )
        });
        let updates = if known {
            &cache.updates
        } else {
            everything = cache.everything();
            &everything
        };
        cell_ages.update(&self.device, &self.queue, &bits, &cache.pictures, updates);
        cache.bits = Some(bits);
    }

    /// As [`PictureCache::edits`].
    pub(crate) fn shown_edit(&self, instance: usize) -> u64 {
        let edits = self.cache.as_ref().map(|cache| &cache.edits);
        edits.map_or(0, |edits| edits.get(instance).copied().unwrap_or(0))
    }

    /// How many of the instances to be drawn have no picture yet.
    pub(crate) fn missing(&self, only: Option<usize>) -> usize {
        let newest = self.incoming.as_ref().or(self.cache.as_ref());
        newest.map_or(only.map_or(usize::MAX, |_| 1), |cache| cache.missing(only))
    }

    /// How many panels the frame that was readied last has.
    #[cfg(test)]
    pub(crate) fn drawn(&self) -> u32 {
        self.backgrounds.start
    }

    /// Readies the draws of a frame; [`Panels::draw`] then only records them.
    pub(crate) fn prepare(&mut self, placing: &PanelsInput<'_>) {
        self.draws.clear();
        self.backgrounds = 0..0;
        let Some(cache) = &self.cache else { return };
        let uniform = scene_uniform(placing, cache.size, self.cell_ages.is_some());
        self.queue
            .write_buffer(&self.uniform, 0, bytemuck::bytes_of(&uniform));
        let mut panels = Vec::new();
        let drawn = |instance: usize| {
            instance < placing.grid.0 && placing.only.is_none_or(|only| only == instance)
        };
        if let Some(cell_ages) = &self.cell_ages {
            for (bind, page) in cell_ages.pages() {
                let first = panels.len() as u32;
                for (instance, picture) in cache.pictures.iter().enumerate() {
                    let (of, corner) = cell_ages.place(instance);
                    if of == page && matches!(picture, CachedPicture::Bits) && drawn(instance) {
                        for mut panel in panel(placing, cache.size, instance, 0, picture) {
                            panel.texels = corner;
                            if placing.options.invert {
                                panel.tint = mirrored(panel.tint);
                            }
                            panels.push(panel);
                        }
                    }
                }
                if panels.len() as u32 > first {
                    let range = first..panels.len() as u32;
                    self.draws.push((AGES, bind.clone(), range));
                }
            }
        }
        let arrays = cache.bits.iter().map(|array| (BITS, None, array));
        let views = cache
            .views
            .iter()
            .map(|views| (DENSITY, Some(views.serial), &views.array));
        for (pipeline, serial, array) in arrays.chain(views) {
            let with_ages = pipeline == BITS && self.cell_ages.is_some();
            for (bind, layers) in TextureArray::arrays(array) {
                let first = panels.len() as u32;
                for (instance, picture) in cache.pictures.iter().enumerate() {
                    let layer = match *picture {
                        CachedPicture::Bits if serial.is_none() => instance,
                        CachedPicture::View { array, layer, .. } if serial == Some(array) => layer,
                        _ => continue,
                    };
                    if layers.contains(&layer) && drawn(instance) && !with_ages {
                        let layer = layer - layers.start;
                        panels.extend(panel(placing, cache.size, instance, layer, picture));
                    }
                }
                // A view holds a part of the lattice alone.
                for minimaps in placing.minimap.iter().filter(|_| pipeline == BITS) {
                    if layers.contains(&minimaps.instance) && drawn(minimaps.instance) {
                        let layer = minimaps.instance - layers.start;
                        panels.push(minimap(placing, minimaps, layer));
                    }
                }
                if panels.len() as u32 > first {
                    self.draws
                        .push((pipeline, bind.clone(), first..panels.len() as u32));
                }
            }
        }
        let first = panels.len() as u32;
        let empty = |minimaps: &&Minimap| {
            !matches!(
                cache.pictures.get(minimaps.instance),
                Some(CachedPicture::Bits)
            )
        };
        let backgrounds = placing
            .minimap
            .iter()
            .filter(empty)
            .map(|minimaps| minimaps.rect);
        let colour = background(placing.options);
        panels.extend(
            backgrounds
                .chain(placing.backgrounds.iter().copied())
                .map(|rect| plain(rect, colour)),
        );
        self.backgrounds = first..panels.len() as u32;
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
        if !self.backgrounds.is_empty() {
            pass.set_pipeline(&self.plain);
            pass.draw(0..4, self.backgrounds.clone());
        }
    }
}

/// Which of the pipelines.
const BITS: usize = 0;
const DENSITY: usize = 1;
const AGES: usize = 2;

/// An instance's panel, in as many pieces as the edges of the torus cut it into.
fn panel<'a>(
    placing: &'a PanelsInput<'_>,
    size: Size,
    instance: usize,
    layer: usize,
    picture: &'a CachedPicture,
) -> impl Iterator<Item = PanelInstance> + 'a {
    let place = placing.only.map_or(instance, |_| 0);
    let rect = placing.tiling.rect(place);
    let transform = placing.transform;
    // Where the picture is one of lattices that have been resized since, they were about its middle.
    let transform = transform.resized(placing.grid.1, size);
    let lines = placing.options.grid_lines && transform.scale >= MIN_PIXELS_FOR_LINES;
    let lines = if lines { LINES } else { 0.0 };
    let pieces = transform.pieces(size, [rect.width, rect.height]);
    pieces.into_iter().map(move |piece| {
        let rect = PixelRect {
            x: rect.x + piece.at[0],
            y: rect.y + piece.at[1],
            width: piece.sides[0],
            height: piece.sides[1],
        };
        let mut drawn = panel_instance(placing, instance, layer, rect, piece.transform, lines);
        if let CachedPicture::View { region, .. } = picture {
            drawn.through(*region, piece.transform, size);
        }
        drawn
    })
}

fn minimap(placing: &PanelsInput<'_>, minimaps: &Minimap, layer: usize) -> PanelInstance {
    let Minimap {
        instance,
        rect,
        transform,
    } = *minimaps;
    panel_instance(placing, instance, layer, rect, transform, 0.0)
}

fn panel_instance(
    placing: &PanelsInput<'_>,
    instance: usize,
    layer: usize,
    rect: PixelRect,
    transform: ViewTransform,
    lines: f32,
) -> PanelInstance {
    let mut tint = tint((placing.number_of)(instance));
    tint[3] = if theme(placing.options.theme).tinted {
        1.0
    } else {
        0.0
    };
    let cell = transform.origin.map(f64::floor);
    let cells_per_pixel = 1.0 / transform.scale;
    PanelInstance {
        rect: [rect.x, rect.y, rect.width, rect.height].map(|side| side as f32),
        tint,
        offset: [0.0; 2],
        step: 1.0,
        layer: layer as u32,
        texels: [0; 2],
        part: [0, 1].map(|axis| (transform.origin[axis] - cell[axis]) as f32),
        cell: cell.map(|at| at as i32),
        scale: [cells_per_pixel as f32, reduced(cells_per_pixel), lines],
        turn: [1.0; 2],
    }
}

impl PanelInstance {
    /// Takes densities from a view, which may be of another part than this looks at.
    fn through(&mut self, region: ReduceRegion, transform: ViewTransform, size: Size) {
        let one = ReduceRegion::ONE as f64;
        let texel = region.step as f64 / one;
        let step = 1.0 / (transform.scale * texel);
        let corner = [region.x0, region.y0].map(|at| at as f64 / one);
        let turn = [size.width(), size.height()].map(|side| f64::from(side) / texel);
        self.offset = [0, 1].map(|axis| {
            let texels = (transform.origin[axis] - corner[axis]) / texel;
            // As the shader goes around, but exact.
            let turns = ((texels + step / 2.0) / turn[axis]).floor();
            (texels - turns * turn[axis]) as f32
        });
        self.step = step as f32;
        self.texels = [region.width, region.height];
        self.turn = turn.map(|texels| texels as f32);
    }
}

fn plain(rect: PixelRect, colour: [f32; 4]) -> PanelInstance {
    PanelInstance {
        rect: [rect.x, rect.y, rect.width, rect.height].map(|side| side as f32),
        tint: colour,
        offset: [0.0; 2],
        step: 0.0,
        layer: 0,
        texels: [0; 2],
        part: [0.0; 2],
        cell: [0; 2],
        scale: [1.0; 3],
        turn: [1.0; 2],
    }
}

fn scene_uniform(placing: &PanelsInput<'_>, size: Size, with_ages: bool) -> SceneUniform {
    let options = placing.options;
    let mut theme = theme(options.theme);
    if with_ages && options.invert {
        theme = theme.inverted();
    }
    let flag = |set: bool| if set { 1.0 } else { 0.0 };
    SceneUniform {
        screen: placing.pixels.map(|side| side as f32),
        lattice: [size.width(), size.height()].map(|side| side as i32),
        inverted: flag(options.invert && !with_ages),
        history: flag(options.colour_by == ColourBy::History),
        unused: [0.0; 2],
        outside: outside(options),
        line: CELL_LINES,
        trail: theme.trail,
        ramp: theme.ramp,
        ages: theme.ages,
    }
}

/// How strongly lines between cells are drawn; every tenth twice as strongly.
pub(crate) const LINES: f32 = 0.45;

/// What surrounds the panels.
pub(crate) fn outside(options: &ViewOptions) -> [f32; 4] {
    floats(ui::theme::palette(options.theme).surround)
}

/// The HUD's background.
fn background(options: &ViewOptions) -> [f32; 4] {
    floats(ui::theme::palette(options.theme).background)
}

fn instance_buffer(device: &wgpu::Device, panels: usize) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("panels"),
        size: (panels.next_power_of_two() * size_of::<PanelInstance>()) as u64,
        usage: wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    })
}
