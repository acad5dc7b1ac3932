//! Draws the panels: one instanced draw for each array texture.

use bytemuck::{Pod, Zeroable};

use crate::view::cell_ages::CellAges;
use crate::view::gpu::{self, bind_layout};
use crate::view::layout::{PixelRect, Tiling};
use crate::view::picture_cache::{BITS, CachedPicture, PictureCache, Textures, VIEWS};
use engine::ReduceRegion;
use life::Size;
use session::PictureSource;
use ui::theme::reduced;
use ui::theme::{CELL_LINES, floats, theme, tint};
use ui::{ColourBy, ViewOptions, ViewTransform};

/// Minimum pixels per cell for lines between cells.
pub(crate) const MIN_PIXELS_FOR_LINES: f64 = 6.0;

/// `Scene` of the shader.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct SceneUniform {
    screen: [f32; 2],
    lattice: [i32; 2],
    history: f32,
    unused: [f32; 3],
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
    /// Where something stands on the interface's background.
    pub(crate) docked: Vec<PixelRect>,
}

/// See the module. Lives as long as the device.
pub(crate) struct Panels {
    textures: Textures,
    pipelines: [wgpu::RenderPipeline; 4],
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
    draws: Vec<(usize, Option<wgpu::BindGroup>, std::ops::Range<u32>)>,
}

impl Panels {
    /// For targets of this format.
    pub(crate) fn new(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        format: wgpu::TextureFormat,
        limits: wgpu::Limits,
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
            let texture = wgpu::BindingType::Texture {
                sample_type,
                view_dimension: wgpu::TextureViewDimension::D2Array,
                multisampled: false,
            };
            bind_layout(device, wgpu::ShaderStages::FRAGMENT, texture)
        });
        let shader = gpu::shader(
            device,
            concat!(
                include_str!("../../../../shaders/panels.wgsl"),
                include_str!("../../../../shaders/quads.wgsl")
            ),
        );
        let attributes = &wgpu::vertex_attr_array![
            0 => Float32x4, 1 => Float32x4, 2 => Float32x2, 3 => Float32, 4 => Uint32,
            5 => Uint32x2, 6 => Float32x2, 7 => Sint32x2, 8 => Float32x3, 9 => Float32x2
        ];
        let instances = (size_of::<PanelInstance>(), &attributes[..]);
        let pipeline = |entry: &str, groups: &[Option<&wgpu::BindGroupLayout>]| {
            gpu::pipeline(device, &shader, entry, groups, instances, format)
        };
        let pipelines = [
            pipeline("bits", &[Some(&scene_layout), Some(&layouts[0])]),
            pipeline("density", &[Some(&scene_layout), Some(&layouts[1])]),
            pipeline("by_age", &[Some(&scene_layout), Some(&layouts[0])]),
            pipeline("plain", &[Some(&scene_layout)]),
        ];
        let uniform = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("scene"),
            size: size_of::<SceneUniform>() as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let scene = gpu::bind(device, &scene_layout, uniform.as_entire_binding());
        Panels {
            pipelines,
            uniform,
            scene,
            instances: instance_buffer(device, 16),
            cache: None,
            incoming: None,
            draws: Vec::new(),
            cell_ages: None,
            textures: Textures {
                device: device.clone(),
                queue: queue.clone(),
                limits,
                layouts,
            },
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
    ) {
        let fits = |cache: &PictureCache| cache.fits(instances, size);
        let incoming = self.incoming.take().filter(fits);
        if let Some(cache) = self.cache.as_mut().filter(|cache| fits(cache)) {
            cache.update(source, only);
            return self.update_cell_ages(colour_by);
        }
        let mut incoming =
            incoming.unwrap_or_else(|| PictureCache::new(&self.textures, instances, size));
        incoming.update(source, only);
        if self.cache.is_none() || incoming.missing(only) == 0 {
            self.cache = Some(incoming);
            self.cell_ages = None;
            self.update_cell_ages(colour_by);
        } else {
            self.incoming = Some(incoming);
        }
    }

    fn update_cell_ages(&mut self, colour_by: ColourBy) {
        let cache = self.cache.as_ref();
        match cache.filter(|it| colour_by != ColourBy::State && it.arrays[BITS].is_some()) {
            None => self.cell_ages = None,
            Some(cache) => {
                let new = || CellAges::new(&self.textures, cache.pictures.len(), cache.size);
                let cell_ages = self.cell_ages.get_or_insert_with(new);
                cell_ages.update(&self.textures, cache);
            }
        }
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
        self.draws.last().map_or(0, |(_, _, panels)| panels.end)
    }

    /// Readies the draws of a frame; [`Panels::draw`] then only records them.
    pub(crate) fn prepare(&mut self, placing: &PanelsInput<'_>) {
        let size = self.cache.as_ref().map_or(placing.grid.1, |it| it.size);
        let uniform = scene_uniform(placing, size);
        let colour = ui::theme::palette(placing.options.theme).background;
        let docked = placing.docked.iter().map(|rect| PanelInstance {
            tint: floats(colour),
            ..panel_instance(placing, 0, 0, *rect, placing.transform, 0.0)
        });
        let mut panels = Vec::from_iter(docked);
        self.draws = vec![(PLAIN, None, 0..panels.len() as u32)];
        self.prepare_pictures(placing, &mut panels);
        let queue = &self.textures.queue;
        queue.write_buffer(&self.uniform, 0, bytemuck::bytes_of(&uniform));
        let bytes: &[u8] = bytemuck::cast_slice(&panels);
        if bytes.len() as u64 > self.instances.size() {
            self.instances = instance_buffer(&self.textures.device, panels.len());
        }
        queue.write_buffer(&self.instances, 0, bytes);
    }

    fn prepare_pictures(&mut self, placing: &PanelsInput<'_>, panels: &mut Vec<PanelInstance>) {
        let Some(cache) = &self.cache else { return };
        let drawn: Vec<(usize, &CachedPicture)> = (cache.pictures.iter().enumerate())
            .take(placing.grid.0)
            .filter(|(instance, _)| placing.only.is_none_or(|only| only == *instance))
            .collect();
        let cell_ages = self.cell_ages.as_ref();
        let ages = cell_ages.iter().map(|ages| (AGES, 0, ages.array()));
        let arrays = cache.arrays.iter().enumerate();
        let arrays =
            arrays.filter_map(|(index, array)| Some((index.min(VIEWS), index, array.as_ref()?)));
        // The minimap, of bits, lies over panels of ages.
        for (pipeline, index, array) in ages.chain(arrays) {
            for (bind, layers) in array.arrays() {
                let first = panels.len() as u32;
                for &(instance, picture) in &drawn {
                    let place = match (picture.place(instance), cell_ages) {
                        (Some((BITS, _)), Some(ages)) => {
                            (pipeline == AGES).then(|| ages.place(instance))
                        }
                        (Some((array, layer)), _) => {
                            (pipeline != AGES && index == array).then_some((layer, 0))
                        }
                        (None, _) => None,
                    };
                    if let Some((layer, top)) = place.filter(|(layer, _)| layers.contains(layer)) {
                        let begin = panels.len();
                        let layer = layer - layers.start;
                        panels.extend(panel(placing, cache.size, instance, layer, picture));
                        if pipeline == AGES {
                            panels[begin..]
                                .iter_mut()
                                .for_each(|it| it.texels = [0, top]);
                        }
                    }
                }
                // A view holds a part of the lattice alone.
                for small in placing.minimap.iter().filter(|_| pipeline == BITS) {
                    let Minimap {
                        instance,
                        rect,
                        transform,
                    } = *small;
                    if layers.contains(&instance) && drawn.iter().any(|it| it.0 == instance) {
                        let layer = instance - layers.start;
                        panels.push(panel_instance(
                            placing, instance, layer, rect, transform, 0.0,
                        ));
                    }
                }
                let range = first..panels.len() as u32;
                if !range.is_empty() {
                    self.draws.push((pipeline, Some(bind.clone()), range));
                }
            }
        }
    }

    /// Records the draws; one for each array texture.
    pub(crate) fn draw(&self, pass: &mut wgpu::RenderPass<'_>) {
        pass.set_bind_group(0, &self.scene, &[]);
        pass.set_vertex_buffer(0, self.instances.slice(..));
        for (pipeline, array, panels) in &self.draws {
            pass.set_pipeline(&self.pipelines[*pipeline]);
            pass.set_bind_group(1, array.as_ref(), &[]);
            pass.draw(0..4, panels.clone());
        }
    }
}

/// The pipelines for cells by their ages, and for backgrounds; the others are those of their arrays.
const AGES: usize = 2;
const PLAIN: usize = 3;

fn sides(rect: PixelRect) -> [f32; 4] {
    [rect.x, rect.y, rect.width, rect.height].map(|side| side as f32)
}

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

fn panel_instance(
    placing: &PanelsInput<'_>,
    instance: usize,
    layer: usize,
    rect: PixelRect,
    transform: ViewTransform,
    lines: f32,
) -> PanelInstance {
    let mut tint = tint((placing.number_of)(instance));
    tint[3] = f32::from(u8::from(theme(placing.options.theme).tinted));
    let cell = transform.origin.map(f64::floor);
    let cells_per_pixel = 1.0 / transform.scale;
    PanelInstance {
        rect: sides(rect),
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
        let turn = [size.width, size.height].map(|side| f64::from(side) / texel);
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

fn scene_uniform(placing: &PanelsInput<'_>, size: Size) -> SceneUniform {
    let options = placing.options;
    let theme = theme(options.theme);
    SceneUniform {
        screen: placing.pixels.map(|side| side as f32),
        lattice: [size.width, size.height].map(|side| side as i32),
        history: f32::from(options.colour_by == ColourBy::History),
        unused: [0.0; 3],
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

fn instance_buffer(device: &wgpu::Device, panels: usize) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("panels"),
        size: (panels.next_power_of_two() * size_of::<PanelInstance>()) as u64,
        usage: wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    })
}
