//! How long each cell has been alive or dead, kept on the drawing GPU while colours are by age or
//! by history: one byte per cell, updated whenever pictures arrive (`shaders/cell_ages.wgsl`). Ages are
//! counted in generations, however many lie between two pictures.
//!
//! Lattices lie below one another in the layers of two arrays, in which ages before and after pictures alternate:
//! each layer is a pass of its own, which a GPU in software takes long to begin. A texel is 16 cells of a row.

use crate::view::gpu;
use crate::view::picture_cache::{BITS, CachedPicture, PictureCache, TextureArray, Textures};
use engine::Transfer;
use lang::tr;
use life::Size;
use ui::ColourBy;
use ui::numbers::bytes;

/// The most bytes that are kept, two a cell.
pub(super) const MAX_AGES_BYTES: u64 = 512 << 20;

/// Cells of a texel.
const CELLS: u32 = 16;

/// Why lattices cannot be coloured by `colour_by` with this transfer and textures of at most `side` texels;
/// `None` if they can.
pub(crate) fn unavailable_reason(
    colour_by: ColourBy,
    instances: usize,
    size: Size,
    transfer: Transfer,
    side: u32,
) -> Option<String> {
    if colour_by == ColourBy::State {
        return None;
    }
    let row = u64::from(size.width.next_multiple_of(CELLS));
    let kept = 2 * row * u64::from(size.height) * instances as u64;
    if transfer == Transfer::View {
        Some(tr!(
            "colours by age and history need every cell, and a view has one byte per pixel; {key} changes that",
            key = session::Switch::Transfer.key()
        ))
    } else if size.width.div_ceil(CELLS).max(size.height) > side {
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
            AgeUpdate::Reset => 128,
        }
    }
}

/// Of the shader: no picture has come.
const KEEP: u32 = 129;

/// Of `Lattice` of the shader: its place in its layer, in texels; the layer's height; the layer of words, what
/// becomes of the lattice, and the layer of its ages.
const WORDS: usize = 8;

/// See the module.
pub(crate) struct CellAges {
    arrays: [TextureArray; 2],
    /// Which of them has the newest ages.
    newest: usize,
    /// A lattice's sides in texels, and how many lie in a layer.
    texels: [u32; 2],
    each: usize,
    /// The generation of each instance's last picture.
    generations: Vec<Option<u64>>,
    pipeline: wgpu::RenderPipeline,
    lattices: wgpu::Buffer,
}

impl CellAges {
    /// For so many lattices of one size, of which nothing is known yet.
    pub(crate) fn new(textures: &Textures, instances: usize, size: Size) -> CellAges {
        let texels = [size.width.div_ceil(CELLS), size.height];
        let most = (textures.limits.max_texture_dimension_2d / texels[1]) as usize;
        let each = instances.clamp(1, most.max(1));
        let layer = [texels[0], texels[1] * each as u32];
        let layers = instances.div_ceil(each);
        let arrays = [0, 1].map(|_| TextureArray::new(textures, FORMAT, layer, layers));
        let (device, layout) = (&textures.device, &textures.layouts[0]);
        let shader = gpu::shader(
            device,
            concat!(
                include_str!("../../../../shaders/cell_ages.wgsl"),
                include_str!("../../../../shaders/quads.wgsl")
            ),
        );
        let attributes = &wgpu::vertex_attr_array![0 => Uint32x4, 1 => Uint32, 2 => Uint32x3];
        let buffer = (4 * WORDS, &attributes[..]);
        let groups = [Some(layout), Some(layout)];
        CellAges {
            arrays,
            newest: 0,
            texels,
            each,
            generations: vec![None; instances],
            pipeline: gpu::pipeline(device, &shader, "advance", &groups, buffer, FORMAT),
            lattices: device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("cell ages"),
                size: (instances * 4 * WORDS) as u64,
                usage: wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            }),
        }
    }

    /// The newest ages.
    pub(crate) fn array(&self) -> &TextureArray {
        &self.arrays[self.newest]
    }

    /// An instance's layer there, and its first row of texels.
    pub(crate) fn place(&self, instance: usize) -> (usize, u32) {
        let above = (instance % self.each) as u32;
        (instance / self.each, above * self.texels[1])
    }

    /// Updates the ages with pictures that have arrived in the array of bits (all pictures,
    /// if none were seen before). Queues the work and does not wait.
    pub(crate) fn update(&mut self, textures: &Textures, cache: &PictureCache) {
        let count = self.generations.len();
        let mut updates = vec![KEEP; count];
        for (instance, update) in updates.iter_mut().enumerate() {
            let (before, now) = (self.generations[instance], cache.generations[instance]);
            let is_new = before.is_none() || cache.is_new[instance];
            if is_new && matches!(cache.pictures[instance], CachedPicture::Bits) {
                self.generations[instance] = Some(now);
                *update = AgeUpdate::between(before, now).code();
            }
        }
        if updates.iter().all(|update| *update == KEEP) {
            return;
        }
        let before = self.newest;
        self.newest = 1 - before;
        let [width, height] = self.texels;
        let mut lattices: Vec<[u32; WORDS]> = Vec::new();
        let mut encoder = textures.device.create_command_encoder(&Default::default());
        for (number, first) in (0..count).step_by(self.each).enumerate() {
            let (texture, _, layer) = self.array().at(number);
            let (_, ages, old) = self.arrays[before].at(number);
            let after = texture.create_view(&wgpu::TextureViewDescriptor {
                base_array_layer: layer,
                array_layer_count: Some(1),
                dimension: Some(wgpu::TextureViewDimension::D2),
                ..Default::default()
            });
            let mut pass = gpu::begin_pass(&mut encoder, &after, [0.0; 4]);
            pass.set_pipeline(&self.pipeline);
            pass.set_bind_group(1, ages, &[]);
            pass.set_vertex_buffer(0, self.lattices.slice(..));
            let here = first..count.min(first + self.each);
            for (words, layers) in cache.arrays[BITS].iter().flat_map(TextureArray::arrays) {
                let begin = lattices.len() as u32;
                let both = here.start.max(layers.start)..here.end.min(layers.end);
                if both.is_empty() {
                    continue;
                }
                for (instance, update) in both.clone().zip(&updates[both]) {
                    let (_, top) = self.place(instance);
                    let word = (instance - layers.start) as u32;
                    lattices.push([0, top, width, height, texture.height(), word, *update, old]);
                }
                pass.set_bind_group(0, words, &[]);
                pass.draw(0..4, begin..lattices.len() as u32);
            }
        }
        let queue = &textures.queue;
        queue.write_buffer(&self.lattices, 0, bytemuck::cast_slice(&lattices));
        queue.submit([encoder.finish()]);
    }
}

const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba32Uint;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_not_fit_is_refused_in_a_sentence() {
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
            let why = || unavailable_reason(colour_by, instances, size, transfer, 16_384);
            let is_said = |why: &Option<String>| match (why, said) {
                (Some(why), Some(said)) => why.contains(said),
                (why, said) => why.is_none() && said.is_none(),
            };
            let both = [why(), test_support::with(lang::Language::Chinese, why)];
            assert!(both.iter().all(is_said), "{both:?}");
            assert!(both[0].is_none() || both[0] != both[1], "{both:?}");
        }
    }
}
