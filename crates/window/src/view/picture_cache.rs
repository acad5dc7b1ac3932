//! The newest picture of every instance, in textures.
//!
//! Bits have one [`TextureArray`]. Views change their size with the window, so there are two arrays
//! of them: one of the newest size, and the one before it, which is drawn until each instance's
//! first picture of the new size has arrived.

use std::ops::Range;

use crate::view::ViewError;
use engine::ReduceRegion;
use lang::message;
use life::Size;
use session::{PictureSource, Setup};
use ui::TextureLimits;

/// Where an instance's newest picture is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CachedPicture {
    /// Nowhere: there was none yet.
    Nothing,
    /// In the texture array of bits, in the layer of the instance's number.
    Bits,
    /// In a texture array of views.
    View {
        /// Which array, by its serial number.
        array: u64,
        /// Which layer.
        layer: usize,
        /// Of which part of the lattice.
        region: ReduceRegion,
    },
}

/// A picture of an instance, of this generation, has arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PictureUpdate {
    pub(crate) instance: usize,
    pub(crate) generation: u64,
}

/// A texture array of views of one size (rounded up), for all instances or for one.
pub(crate) struct Views {
    pub(crate) serial: u64,
    only: Option<usize>,
    pub(crate) array: TextureArray,
}

/// See the module.
pub(crate) struct PictureCache {
    device: wgpu::Device,
    queue: wgpu::Queue,
    bind_layouts: [wgpu::BindGroupLayout; 2],
    limits: TextureLimits,
    pub(crate) size: Size,
    seen: Vec<u64>,
    /// The number of the last edit that each instance's picture shows.
    pub(crate) edits: Vec<u64>,
    pub(crate) pictures: Vec<CachedPicture>,
    pub(crate) bits: Option<TextureArray>,
    pub(crate) views: Vec<Views>,
    /// What the last update brought.
    pub(crate) updates: Vec<PictureUpdate>,
    generations: Vec<u64>,
    serials: u64,
}

impl PictureCache {
    /// For so many lattices of one size; `bind_layouts` are for words and for densities.
    pub(crate) fn new(
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        bind_layouts: [wgpu::BindGroupLayout; 2],
        limits: TextureLimits,
        instances: usize,
        size: Size,
    ) -> PictureCache {
        PictureCache {
            device: device.clone(),
            queue: queue.clone(),
            bind_layouts,
            limits,
            size,
            seen: vec![0; instances],
            edits: vec![0; instances],
            pictures: vec![CachedPicture::Nothing; instances],
            bits: None,
            views: Vec::new(),
            updates: Vec::new(),
            generations: vec![0; instances],
            serials: 0,
        }
    }

    /// Whether it is for these.
    pub(crate) fn fits(&self, instances: usize, size: Size) -> bool {
        self.pictures.len() == instances && self.size == size
    }

    /// How many of the instances to be drawn have no picture yet.
    pub(crate) fn missing(&self, only: Option<usize>) -> usize {
        let drawn = match only {
            Some(only) => self.pictures.get(only..=only).unwrap_or_default(),
            None => &self.pictures,
        };
        let nothing = |picture: &&CachedPicture| matches!(picture, CachedPicture::Nothing);
        drawn.iter().filter(nothing).count()
    }

    /// Queues what is newer than what it holds; `only` says which instance is drawn alone. Waits
    /// for nothing. Whether there was anything newer.
    pub(crate) fn update(&mut self, source: &dyn PictureSource, only: Option<usize>) -> bool {
        let mut seen = std::mem::take(&mut self.seen);
        let mut edits = std::mem::take(&mut self.edits);
        let mut batch = Batch::default();
        self.updates.clear();
        source.visit_newer(&mut seen, &mut |instance, picture, words| {
            let generation = picture.generation;
            self.updates.push(PictureUpdate {
                instance,
                generation,
            });
            self.generations[instance] = generation;
            edits[instance] = picture.edits;
            if let Some(place) = self.place(instance, picture.region, only, words.len(), &mut batch)
            {
                self.add(&mut batch, place, bytemuck::cast_slice(words));
            }
        });
        self.flush(&mut batch);
        (self.seen, self.edits) = (seen, edits);
        if !self
            .pictures
            .iter()
            .any(|picture| matches!(picture, CachedPicture::Bits))
        {
            self.bits = None;
        }
        let used = |serial| {
            self.pictures.iter().any(
                |picture| matches!(picture, CachedPicture::View { array, .. } if *array == serial),
            )
        };
        let still: Vec<u64> = self
            .views
            .iter()
            .map(|views| views.serial)
            .filter(|&s| used(s))
            .collect();
        self.views.retain(|views| still.contains(&views.serial));
        !self.updates.is_empty()
    }

    /// As if all that it holds had just arrived.
    pub(crate) fn everything(&self) -> Vec<PictureUpdate> {
        let pictures = self.pictures.iter().zip(&self.generations).enumerate();
        pictures
            .filter(|(_, (picture, _))| !matches!(picture, CachedPicture::Nothing))
            .map(|(instance, (_, &generation))| PictureUpdate {
                instance,
                generation,
            })
            .collect()
    }

    /// Finds or makes the layer for an instance's picture, and notes it as held there.
    fn place(
        &mut self,
        instance: usize,
        region: Option<ReduceRegion>,
        only: Option<usize>,
        words: usize,
        batch: &mut Batch,
    ) -> Option<Place> {
        let Some(region) = region else {
            if words != self.size.words() || !self.limits.take_bits(self.size) {
                // Lattices that have just grown are ahead of the status for a moment.
                tracing::debug!("a picture of {words} words is not one of {}", self.size);
                return None;
            }
            let size = [self.size.words_per_row() as u32, self.size.height()];
            self.bits.get_or_insert_with(|| {
                let layout = &self.bind_layouts[0];
                TextureArray::new(
                    &self.device,
                    layout,
                    Texels::Words,
                    size,
                    self.pictures.len(),
                    self.limits,
                )
            });
            self.pictures[instance] = CachedPicture::Bits;
            return Some(Place {
                array: None,
                layer: instance,
                size,
            });
        };
        let size = [region.width, region.height];
        if words < region.words()
            || size
                .iter()
                .any(|&side| side == 0 || side > self.limits.side)
        {
            tracing::warn!("a picture of {words} words is not one of {region:?}");
            return None;
        }
        // Rounded up, so that dragging the window's edge does not make textures at every pixel.
        let room = size.map(|side| side.next_multiple_of(64).min(self.limits.side));
        let fits = |views: &&Views| {
            views.array.size == room && views.only.is_none_or(|only| only == instance)
        };
        let found = self
            .views
            .iter()
            .rev()
            .find(fits)
            .map(|views| (views.serial, views.only));
        let (serial, alone) = found.unwrap_or_else(|| {
            self.flush(batch);
            if self.views.len() == 2 {
                let gone = self.views.remove(0).serial;
                for picture in &mut self.pictures {
                    if matches!(picture, CachedPicture::View { array, .. } if *array == gone) {
                        *picture = CachedPicture::Nothing;
                    }
                }
            }
            let only = only.filter(|&only| only == instance);
            let layers = only.map_or(self.pictures.len(), |_| 1);
            let layout = &self.bind_layouts[1];
            let array = TextureArray::new(
                &self.device,
                layout,
                Texels::Densities,
                room,
                layers,
                self.limits,
            );
            self.serials += 1;
            self.views.push(Views {
                serial: self.serials,
                only,
                array,
            });
            (self.serials, only)
        });
        let layer = alone.map_or(instance, |_| 0);
        self.pictures[instance] = CachedPicture::View {
            array: serial,
            layer,
            region,
        };
        Some(Place {
            array: Some(serial),
            layer,
            size,
        })
    }

    /// Pictures for neighbouring layers go up in one copy, unless they are large.
    fn add(&self, batch: &mut Batch, place: Place, bytes: &[u8]) {
        let wanted = place.size[0] as usize * place.size[1] as usize;
        let bytes = &bytes[..if place.array.is_some() {
            wanted
        } else {
            4 * wanted
        }];
        if bytes.len() >= Batch::LARGE {
            return self.write(place, bytes);
        }
        if !batch.continues(place, self.array(place).map_or(1, |array| array.per_array)) {
            self.flush(batch);
            batch.first = Some(place);
        }
        batch.layers += 1;
        batch.bytes.extend_from_slice(bytes);
    }

    fn flush(&self, batch: &mut Batch) {
        if let Some(first) = batch.first.take() {
            self.write(first, &batch.bytes);
        }
        batch.bytes.clear();
        batch.layers = 0;
    }

    fn write(&self, place: Place, bytes: &[u8]) {
        if let Some(array) = self.array(place) {
            array.write(&self.queue, place.layer, place.size, bytes);
        }
    }

    fn array(&self, place: Place) -> Option<&TextureArray> {
        match place.array {
            None => self.bits.as_ref(),
            Some(serial) => {
                let views = self.views.iter().find(|views| views.serial == serial);
                views.map(|views| &views.array)
            }
        }
    }
}

/// A layer, and how many texels of it are meant.
#[derive(Clone, Copy)]
struct Place {
    array: Option<u64>,
    layer: usize,
    size: [u32; 2],
}

/// Bytes for consecutive layers, not yet queued.
#[derive(Default)]
struct Batch {
    first: Option<Place>,
    layers: usize,
    bytes: Vec<u8>,
}

impl Batch {
    /// From this many bytes on, a copy of its own costs less than collecting.
    const LARGE: usize = 64 << 10;
    const MAX_BYTES: usize = 1 << 20;

    fn continues(&self, next: Place, per_array: usize) -> bool {
        self.first.is_some_and(|first| {
            first.array == next.array
                && first.size == next.size
                && first.layer + self.layers == next.layer
                && first.layer / per_array == next.layer / per_array
                && self.bytes.len() < Batch::MAX_BYTES
        })
    }
}

/// What the textures of an open device can be.
pub(crate) fn texture_limits(limits: &wgpu::Limits) -> TextureLimits {
    TextureLimits {
        side: limits.max_texture_dimension_2d,
        layers: limits.max_texture_array_layers,
    }
}

/// The most instances that can be drawn, on an adapter of these limits: 16 arrays, or 4,096 (with
/// more, a panel is a speck).
pub(crate) fn max_instances(limits: TextureLimits) -> usize {
    (limits.layers as usize * MAX_ARRAYS).min(Setup::MAX_INSTANCES)
}

/// Refuses more instances than [`max_instances`].
pub(crate) fn validate_instance_count(
    requested: usize,
    limits: TextureLimits,
) -> Result<(), ViewError> {
    let most = max_instances(limits);
    if requested > most {
        Err(ViewError::Refused(message!(
            "{requested} instances cannot be drawn: at most {most}; use fewer --instances, or 'run'"
        )))
    } else {
        Ok(())
    }
}

const MAX_ARRAYS: usize = 16;

/// The most bytes of one texture.
const MAX_TEXTURE_BYTES: u64 = 256 << 20;

/// What a texel is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Texels {
    /// 32 cells.
    Words,
    /// A byte of density.
    Densities,
}

impl Texels {
    fn bytes(self) -> u32 {
        match self {
            Texels::Words => 4,
            Texels::Densities => 1,
        }
    }

    fn format(self) -> wgpu::TextureFormat {
        match self {
            Texels::Words => wgpu::TextureFormat::R32Uint,
            Texels::Densities => wgpu::TextureFormat::R8Unorm,
        }
    }
}

/// Layers of one size in as many array textures as it takes. Layer `i` is layer `i % per_array` of array `i / per_array`.
pub(crate) struct TextureArray {
    pub(crate) texels: Texels,
    /// A layer's width and height in texels.
    pub(crate) size: [u32; 2],
    pub(crate) per_array: usize,
    arrays: Vec<(wgpu::Texture, wgpu::BindGroup)>,
}

impl TextureArray {
    /// As many layers as asked for, all zero.
    pub(crate) fn new(
        device: &wgpu::Device,
        bind_layout: &wgpu::BindGroupLayout,
        texels: Texels,
        size: [u32; 2],
        layers: usize,
        limits: TextureLimits,
    ) -> TextureArray {
        let layer_bytes = u64::from(size[0]) * u64::from(size[1]) * u64::from(texels.bytes());
        let sane = (MAX_TEXTURE_BYTES / layer_bytes.max(1)).clamp(1, u64::from(limits.layers));
        let per_array = layers.clamp(1, sane as usize);
        let array = |first: usize| {
            let texture = device.create_texture(&wgpu::TextureDescriptor {
                label: Some("lattices"),
                size: wgpu::Extent3d {
                    width: size[0],
                    height: size[1],
                    depth_or_array_layers: per_array.min(layers - first) as u32,
                },
                mip_level_count: 1,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format: texels.format(),
                usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
                view_formats: &[],
            });
            let view = texture.create_view(&wgpu::TextureViewDescriptor {
                dimension: Some(wgpu::TextureViewDimension::D2Array),
                ..Default::default()
            });
            let bind = device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("lattices"),
                layout: bind_layout,
                entries: &[wgpu::BindGroupEntry {
                    binding: 0,
                    resource: wgpu::BindingResource::TextureView(&view),
                }],
            });
            (texture, bind)
        };
        let arrays = (0..layers).step_by(per_array).map(array).collect();
        TextureArray {
            texels,
            size,
            per_array,
            arrays,
        }
    }

    /// What to bind for each array, and which layers it holds.
    pub(crate) fn arrays(&self) -> impl Iterator<Item = (&wgpu::BindGroup, Range<usize>)> {
        self.arrays
            .iter()
            .enumerate()
            .map(|(index, (texture, bind))| {
                let first = index * self.per_array;
                (
                    bind,
                    first..first + texture.depth_or_array_layers() as usize,
                )
            })
    }

    /// Queues bytes for layers of one array from `layer` on; each is `size` texels, row by row
    /// without gaps.
    pub(crate) fn write(&self, queue: &wgpu::Queue, layer: usize, size: [u32; 2], bytes: &[u8]) {
        let row = size[0] * self.texels.bytes();
        let layers = bytes.len() as u64 / (u64::from(row) * u64::from(size[1]));
        queue.write_texture(
            wgpu::TexelCopyTextureInfo {
                texture: &self.arrays[layer / self.per_array].0,
                mip_level: 0,
                origin: wgpu::Origin3d {
                    x: 0,
                    y: 0,
                    z: (layer % self.per_array) as u32,
                },
                aspect: wgpu::TextureAspect::All,
            },
            bytes,
            wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(row),
                rows_per_image: Some(size[1]),
            },
            wgpu::Extent3d {
                width: size[0],
                height: size[1],
                depth_or_array_layers: layers as u32,
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_least_1024_instances_on_every_adapter() {
        // 256 layers are what every WebGPU adapter has.
        assert!(
            max_instances(TextureLimits {
                side: 2048,
                layers: 256
            }) >= 1024
        );
        let limits = TextureLimits {
            side: 16384,
            layers: 2048,
        };
        assert_eq!(max_instances(limits), 4096);
        assert!(validate_instance_count(4096, limits).is_ok());
        let refused = validate_instance_count(4097, limits).unwrap_err();
        assert_eq!(refused.exit_code(), 2);
        assert!(refused.to_string().contains("at most 4096"), "{refused}");
    }
}
