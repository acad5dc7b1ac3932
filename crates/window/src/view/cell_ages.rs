//! How long each cell has been alive or dead, kept on the drawing GPU while colours are by age or
//! by history: one byte per cell, updated whenever pictures arrive (`shaders/cell_ages.wgsl`). Ages are
//! counted in generations, however many lie between two pictures.
//!
//! The lattices lie side by side in pages, each two textures, the one before and the one after.
//! A texel is 16 cells of a row.

use bytemuck::{Pod, Zeroable};

use crate::view::gpu::{self, bind_layout, texture_layout};
use crate::view::picture_cache::TextureArray;
use crate::view::picture_cache::{CachedPicture, PictureUpdate};
use engine::Transfer;
use lang::tr;
use life::Size;
use ui::numbers::bytes;
use ui::{ColourBy, TextureLimits};

/// The most bytes that are kept, two a cell.
pub(super) const MAX_AGES_BYTES: u64 = 512 << 20;

/// Cells of a texel.
const CELLS: u32 = 16;

/// Why lattices cannot be coloured by `colour_by` with this transfer and these texture limits;
/// `None` if they can.
pub(crate) fn unavailable_reason(
    colour_by: ColourBy,
    instances: usize,
    size: Size,
    transfer: Transfer,
    limits: TextureLimits,
) -> Option<String> {
    if colour_by == ColourBy::State {
        return None;
    }
    let row = u64::from(size.width().next_multiple_of(CELLS));
    let kept = 2 * row * u64::from(size.height()) * instances as u64;
    let side = limits.side;
    if transfer == Transfer::View {
        Some(tr!(
            "colours by age and history need every cell, and a view has one byte per pixel; {key} changes that",
            key = session::Switch::Transfer.key()
        ))
    } else if size.width().div_ceil(CELLS).max(size.height()) > side {
        Some(tr!(
            "colours by age and history need lattices of at most {side} cells per side on this GPU"
        ))
    } else if kept > MAX_AGES_BYTES {
        Some(tr!(
            "colours by age and history need 2 bytes per cell: {} here, and at most {} are available",
            bytes(kept),
            bytes(MAX_AGES_BYTES)
        ))
    } else {
        None
    }
}

/// What becomes of a lattice's bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AgeUpdate {
    /// There is no new picture.
    Keep,
    /// A picture of this many generations later, at most [`AgeUpdate::MAX_STEP`]; of none, it was edited.
    Advance(u8),
    /// There is nothing to go on from.
    Reset,
}

impl AgeUpdate {
    /// More generations than a byte tells apart.
    const MAX_STEP: u64 = 127;

    /// From the generation of the picture before, if there was one, to that of the new one.
    pub(crate) fn between(before: Option<u64>, now: u64) -> AgeUpdate {
        match before {
            Some(before) if now >= before => {
                AgeUpdate::Advance((now - before).min(AgeUpdate::MAX_STEP) as u8)
            }
            _ => AgeUpdate::Reset,
        }
    }

    /// As the shader has it.
    fn code(self) -> u32 {
        match self {
            AgeUpdate::Advance(by) => by.into(),
            AgeUpdate::Keep => 128,
            AgeUpdate::Reset => 129,
        }
    }
}

/// `Lattice` of the shader.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct LatticeInstance {
    rect: [f32; 4],
    page: [f32; 2],
    how: [u32; 2],
}

/// How lattices of one size lie in pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Paging {
    /// A lattice's sides in texels.
    texels: [u32; 2],
    columns: usize,
    rows: usize,
}

impl Paging {
    fn new(instances: usize, size: Size, side: u32) -> Paging {
        let texels = [size.width().div_ceil(CELLS), size.height()];
        let most = texels.map(|texels| (side / texels).max(1) as usize);
        // As square as may be, so that the last page has little that is empty.
        let square = (instances as f64 * f64::from(texels[1]) / f64::from(texels[0])).sqrt();
        let columns = (square.ceil() as usize).clamp(1, most[0]);
        let rows = instances.div_ceil(columns).clamp(1, most[1]);
        Paging {
            texels,
            columns,
            rows,
        }
    }

    fn each(self) -> usize {
        self.columns * self.rows
    }

    /// The page, and the first texel there.
    fn place(self, instance: usize) -> (usize, [u32; 2]) {
        let within = instance % self.each();
        let at = [within % self.columns, within / self.columns];
        let corner = [0, 1].map(|axis| at[axis] as u32 * self.texels[axis]);
        (instance / self.each(), corner)
    }
}

/// A page's two textures, which alternate as the old and the new ages.
struct Page {
    sides: [u32; 2],
    views: [wgpu::TextureView; 2],
    binds: [wgpu::BindGroup; 2],
}

/// See the module.
pub(crate) struct CellAges {
    paging: Paging,
    pages: Vec<Page>,
    /// Which of each page's textures is the newest.
    newest: usize,
    /// The generation of each instance's last picture.
    generations: Vec<Option<u64>>,
    pipeline: wgpu::RenderPipeline,
    instances: wgpu::Buffer,
}

impl CellAges {
    /// For so many lattices of one size, of which nothing is known yet.
    pub(crate) fn new(
        device: &wgpu::Device,
        words_layout: &wgpu::BindGroupLayout,
        limits: TextureLimits,
        instances: usize,
        size: Size,
    ) -> CellAges {
        let paging = Paging::new(instances, size, limits.side);
        let layout = ages_layout(device);
        let pages = (0..instances.div_ceil(paging.each()))
            .map(|_| page(device, &layout, paging))
            .collect();
        CellAges {
            paging,
            pages,
            newest: 0,
            generations: vec![None; instances],
            pipeline: pipeline(device, words_layout, &layout),
            instances: device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("cell ages"),
                size: (instances * size_of::<LatticeInstance>()) as u64,
                usage: wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            }),
        }
    }

    /// The pages as they are, and which instances lie where in each.
    pub(crate) fn pages(&self) -> impl Iterator<Item = (&wgpu::BindGroup, usize)> {
        let pages = self.pages.iter().enumerate();
        pages.map(|(number, page)| (&page.binds[self.newest], number))
    }

    /// The page of an instance, and its first texel there.
    pub(crate) fn place(&self, instance: usize) -> (usize, [u32; 2]) {
        self.paging.place(instance)
    }

    /// Updates the ages with pictures that have arrived in the texture array of bits (all pictures,
    /// if none were seen before). Queues the work and does not wait.
    pub(crate) fn update(
        &mut self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        bits: &TextureArray,
        pictures: &[CachedPicture],
        updates: &[PictureUpdate],
    ) {
        let mut age_updates = vec![AgeUpdate::Keep; self.generations.len()];
        for update in updates {
            let generation = &mut self.generations[update.instance];
            age_updates[update.instance] = AgeUpdate::between(*generation, update.generation);
            *generation = Some(update.generation);
        }
        for (age_update, picture) in age_updates.iter_mut().zip(pictures) {
            if !matches!(picture, CachedPicture::Bits) {
                *age_update = AgeUpdate::Keep;
            }
        }
        if age_updates
            .iter()
            .all(|&age_update| age_update == AgeUpdate::Keep)
        {
            return;
        }
        let (lattices, draws) = self.lattices(bits, &age_updates);
        queue.write_buffer(&self.instances, 0, bytemuck::cast_slice(&lattices));
        let mut encoder = device.create_command_encoder(&Default::default());
        let (before, after) = (self.newest, 1 - self.newest);
        for (number, page) in self.pages.iter().enumerate() {
            let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
                label: Some("cell ages"),
                color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                    view: &page.views[after],
                    depth_slice: None,
                    resolve_target: None,
                    ops: wgpu::Operations {
                        load: wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT),
                        store: wgpu::StoreOp::Store,
                    },
                })],
                ..Default::default()
            });
            pass.set_pipeline(&self.pipeline);
            pass.set_bind_group(1, &page.binds[before], &[]);
            pass.set_vertex_buffer(0, self.instances.slice(..));
            for (of, words, range) in &draws {
                if *of == number {
                    pass.set_bind_group(0, *words, &[]);
                    pass.draw(0..4, range.clone());
                }
            }
        }
        queue.submit([encoder.finish()]);
        self.newest = after;
    }

    /// The instances of the buffer, and the draws: of which page, from which array of words.
    #[allow(clippy::type_complexity)]
    fn lattices<'a>(
        &self,
        bits: &'a TextureArray,
        age_updates: &[AgeUpdate],
    ) -> (
        Vec<LatticeInstance>,
        Vec<(usize, &'a wgpu::BindGroup, std::ops::Range<u32>)>,
    ) {
        let (mut lattices, mut draws) = (Vec::new(), Vec::new());
        for (words, layers) in bits.arrays() {
            for (number, page) in self.pages.iter().enumerate() {
                let first = lattices.len() as u32;
                let here = number * self.paging.each()..(number + 1) * self.paging.each();
                let both = layers.start.max(here.start)..layers.end.min(here.end);
                for (instance, age_update) in age_updates
                    .iter()
                    .enumerate()
                    .filter(|(i, _)| both.contains(i))
                {
                    let (_, corner) = self.place(instance);
                    let [width, height] = self.paging.texels;
                    lattices.push(LatticeInstance {
                        rect: [corner[0], corner[1], width, height].map(|side| side as f32),
                        page: page.sides.map(|side| side as f32),
                        how: [(instance - layers.start) as u32, age_update.code()],
                    });
                }
                if lattices.len() as u32 > first {
                    draws.push((number, words, first..lattices.len() as u32));
                }
            }
        }
        (lattices, draws)
    }
}

/// For one of a page's textures.
pub(crate) fn ages_layout(device: &wgpu::Device) -> wgpu::BindGroupLayout {
    let ty = texture_layout(
        wgpu::TextureSampleType::Uint,
        wgpu::TextureViewDimension::D2,
    );
    bind_layout(device, wgpu::ShaderStages::FRAGMENT, ty)
}

const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba32Uint;

fn page(device: &wgpu::Device, layout: &wgpu::BindGroupLayout, paging: Paging) -> Page {
    let sides = [
        paging.columns as u32 * paging.texels[0],
        paging.rows as u32 * paging.texels[1],
    ];
    let views = [0, 1].map(|_| {
        let texture = device.create_texture(&wgpu::TextureDescriptor {
            label: Some("cell ages"),
            size: wgpu::Extent3d {
                width: sides[0],
                height: sides[1],
                depth_or_array_layers: 1,
            },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: FORMAT,
            usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::RENDER_ATTACHMENT,
            view_formats: &[],
        });
        texture.create_view(&Default::default())
    });
    let binds = [0, 1].map(|which| {
        device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("cell ages"),
            layout,
            entries: &[wgpu::BindGroupEntry {
                binding: 0,
                resource: wgpu::BindingResource::TextureView(&views[which]),
            }],
        })
    });
    Page {
        sides,
        views,
        binds,
    }
}

fn pipeline(
    device: &wgpu::Device,
    words: &wgpu::BindGroupLayout,
    ages: &wgpu::BindGroupLayout,
) -> wgpu::RenderPipeline {
    let shader = gpu::shader(
        device,
        concat!(
            include_str!("../../../../shaders/cell_ages.wgsl"),
            include_str!("../../../../shaders/quads.wgsl")
        ),
    );
    let instances = gpu::InstanceBuffer {
        stride: size_of::<LatticeInstance>(),
        attributes: &wgpu::vertex_attr_array![0 => Float32x4, 1 => Float32x2, 2 => Uint32x2],
    };
    let groups = [Some(words), Some(ages)];
    gpu::pipeline(device, &shader, "advance", &groups, &instances, FORMAT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lattice_has_a_place_of_its_own_in_a_page_that_a_texture_takes() {
        for (instances, width, height, side) in [
            (1, 16_384, 16_384, 16_384),
            (16, 512, 512, 16_384),
            (1000, 33, 7, 2048),
            (7, 3, 2000, 2048),
        ] {
            let paging = Paging::new(instances, Size::new(width, height).unwrap(), side);
            let mut seen = std::collections::HashSet::new();
            for instance in 0..instances {
                let (page, corner) = paging.place(instance);
                assert!(seen.insert((page, corner)), "{paging:?}: {instance}");
                for (axis, lattices) in [(0, paging.columns), (1, paging.rows)] {
                    let end = corner[axis] + paging.texels[axis];
                    assert!(end <= lattices as u32 * paging.texels[axis] && end <= side);
                }
            }
        }
    }

    #[test]
    fn what_would_not_fit_is_refused_in_a_sentence() {
        let limits = TextureLimits {
            side: 16_384,
            layers: 256,
        };
        use ColourBy::{Age, State};
        for (colour_by, instances, [width, height], transfer, said) in [
            (Age, 16, [512, 512], Transfer::Cells, None),
            (Age, 1, [16_384, 16_384], Transfer::Bits, None),
            (Age, 2, [16_384, 16_384], Transfer::Bits, Some("1.00 GiB")),
            (Age, 1, [32, 16_416], Transfer::Bits, Some("16384")),
            (Age, 1, [512, 512], Transfer::View, Some("F7")),
            (State, 9, [65_536, 65_536], Transfer::View, None),
        ] {
            let size = Size::new(width, height).unwrap();
            let why = || unavailable_reason(colour_by, instances, size, transfer, limits);
            let is_said = |why: &Option<String>| match (why, said) {
                (Some(why), Some(said)) => why.contains(said),
                (why, said) => why.is_none() && said.is_none(),
            };
            let both = [why(), test_support::with(lang::Language::Chinese, why)];
            assert!(both.iter().all(is_said), "{both:?}");
            assert!(both[0].is_none() || both[0] != both[1], "{both:?}");
        }
    }

    #[test]
    fn ages_advance_by_the_generations_between_pictures_and_a_step_back_starts_afresh() {
        for (before, now, wanted) in [
            (None, 5, AgeUpdate::Reset),
            (Some(0), 5, AgeUpdate::Advance(5)),
            (Some(5), 5, AgeUpdate::Advance(0)),
            (Some(6), 5, AgeUpdate::Reset),
            (Some(0), 1 << 40, AgeUpdate::Advance(127)),
        ] {
            assert_eq!(AgeUpdate::between(before, now), wanted);
        }
    }
}
