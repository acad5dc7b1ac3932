//! The newest picture of every instance, in textures.
//!
//! Bits have one [`TextureArray`], and so have views. Views change their size with the window and the camera:
//! their array grows with them, and keeps what it has.

use std::ops::Range;

use crate::view::gpu;
use engine::ReduceRegion;
use life::Size;
use session::PictureSource;

/// Where an instance's newest picture is.
#[derive(Clone, Copy)]
pub(crate) enum CachedPicture {
    /// Nowhere: there was none yet.
    Nothing,
    /// In the array of bits.
    Bits,
    /// In an array of views: of which part of the lattice.
    View {
        is_alone: bool,
        region: ReduceRegion,
    },
}

/// The arrays of a [`PictureCache`]: bits, views of all instances, and the view of one that is drawn alone,
/// which may be as large as the window.
pub(crate) const BITS: usize = 0;
pub(crate) const VIEWS: usize = 1;
const ALONE: usize = 2;

impl CachedPicture {
    /// Its array, and its layer there.
    pub(crate) fn place(self, instance: usize) -> Option<(usize, usize)> {
        match self {
            CachedPicture::Nothing => None,
            CachedPicture::Bits => Some((BITS, instance)),
            CachedPicture::View { is_alone, .. } if is_alone => Some((ALONE, 0)),
            CachedPicture::View { .. } => Some((VIEWS, instance)),
        }
    }
}

/// What makes and binds textures.
#[derive(Clone)]
pub(crate) struct Textures {
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
    pub limits: wgpu::Limits,
    /// For arrays of words or ages, and of densities.
    pub layouts: [wgpu::BindGroupLayout; 2],
}

/// See the module.
pub(crate) struct PictureCache {
    textures: Textures,
    pub size: Size,
    seen: Vec<u64>,
    /// The number of the last edit that each instance's picture shows.
    pub edits: Vec<u64>,
    pub pictures: Vec<CachedPicture>,
    pub generations: Vec<u64>,
    /// Whether the last update brought a picture.
    pub is_new: Vec<bool>,
    pub arrays: [Option<TextureArray>; 3],
}

impl PictureCache {
    /// For so many lattices of one size.
    pub(crate) fn new(textures: &Textures, instances: usize, size: Size) -> PictureCache {
        PictureCache {
            textures: textures.clone(),
            size,
            seen: vec![0; instances],
            edits: vec![0; instances],
            pictures: vec![CachedPicture::Nothing; instances],
            generations: vec![0; instances],
            is_new: vec![false; instances],
            arrays: [None, None, None],
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
    /// for nothing.
    pub(crate) fn update(&mut self, source: &dyn PictureSource, only: Option<usize>) {
        let mut seen = std::mem::take(&mut self.seen);
        let mut batch = Batch::default();
        self.is_new.fill(false);
        source.visit_newer(&mut seen, &mut |instance, picture, words| {
            self.generations[instance] = picture.generation;
            self.edits[instance] = picture.edits;
            self.is_new[instance] = true;
            let is_alone = only == Some(instance);
            if let Some(place) =
                self.place(instance, picture.region, is_alone, words.len(), &mut batch)
            {
                self.add(&mut batch, place, bytemuck::cast_slice(words));
            }
        });
        self.flush(&mut batch);
        self.seen = seen;
        for (index, array) in self.arrays.iter_mut().enumerate() {
            let mut pictures = self.pictures.iter();
            if !pictures.any(|it| it.place(0).is_some_and(|(array, _)| array == index)) {
                *array = None;
            }
        }
    }

    /// Finds or makes the layer for an instance's picture, and notes it as held there.
    fn place(
        &mut self,
        instance: usize,
        region: Option<ReduceRegion>,
        is_alone: bool,
        words: usize,
        batch: &mut Batch,
    ) -> Option<Place> {
        let bits = [self.size.words_per_row() as u32, self.size.height];
        let size = region.map_or(bits, |region| [region.width, region.height]);
        // Lattices that have just grown are ahead of the status for a moment.
        let are_its_words =
            region.map_or(words == self.size.words(), |region| words >= region.words());
        let limit = self.textures.limits.max_texture_dimension_2d;
        if !are_its_words || !size.iter().all(|side| (1..=limit).contains(side)) {
            tracing::debug!(
                "a picture of {words} words is not one of {} {region:?}",
                self.size
            );
            return None;
        }
        let (room, format) = match region {
            None => (size, wgpu::TextureFormat::R32Uint),
            // Rounded up, so that dragging the window's edge does not make textures at every pixel.
            Some(_) => {
                let room = size.map(|side| side.next_multiple_of(64).min(limit));
                (room, wgpu::TextureFormat::R8Unorm)
            }
        };
        let has_room = |array: &Option<TextureArray>| {
            let array = array.as_ref();
            array.is_some_and(|it| it.size[0] >= room[0] && it.size[1] >= room[1])
        };
        let picture = &mut self.pictures[instance];
        // One that was asked for while it was drawn alone may come later.
        let was_alone = matches!(picture, CachedPicture::View { is_alone, .. } if *is_alone);
        let is_alone = is_alone || was_alone && !has_room(&self.arrays[VIEWS]);
        *picture = region.map_or(CachedPicture::Bits, |region| CachedPicture::View {
            is_alone,
            region,
        });
        let (index, layer) = picture.place(instance)?;
        if index == ALONE && !was_alone {
            for (other, picture) in self.pictures.iter_mut().enumerate() {
                if other != instance && picture.place(0) == Some((ALONE, 0)) {
                    *picture = CachedPicture::Nothing;
                }
            }
        }
        if !has_room(&self.arrays[index]) {
            self.flush(batch);
            let before = self.arrays[index].take();
            let room = [0, 1].map(|axis| {
                let before = before.as_ref().map_or(0, |array| array.size[axis]);
                room[axis].max(before)
            });
            let layers = if index == ALONE {
                1
            } else {
                self.pictures.len()
            };
            let array = TextureArray::new(&self.textures, format, room, layers);
            if let Some(before) = before {
                before.copy_to(&array, &self.textures);
            }
            self.arrays[index] = Some(array);
        }
        Some(Place { index, layer, size })
    }

    /// Pictures for neighbouring layers go up in one copy, unless they are large.
    fn add(&self, batch: &mut Batch, place: Place, bytes: &[u8]) {
        let Some(array) = &self.arrays[place.index] else {
            return;
        };
        let bytes = &bytes[..(place.size[0] * place.size[1] * array.texel_bytes()) as usize];
        if bytes.len() >= Batch::LARGE {
            return array.write(&self.textures, place.layer, place.size, bytes);
        }
        if !batch.continues(place, array.per_array) {
            self.flush(batch);
            batch.first = Some(place);
        }
        batch.layers += 1;
        batch.bytes.extend_from_slice(bytes);
    }

    fn flush(&self, batch: &mut Batch) {
        let Batch { first, bytes, .. } = std::mem::take(batch);
        if let Some(first) = first
            && let Some(array) = &self.arrays[first.index]
        {
            array.write(&self.textures, first.layer, first.size, &bytes);
        }
    }
}

/// A layer of an array, and how many texels of it are meant.
#[derive(Clone, Copy)]
struct Place {
    index: usize,
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
            first.index == next.index
                && first.size == next.size
                && first.layer + self.layers == next.layer
                && first.layer / per_array == next.layer / per_array
                && self.bytes.len() < Batch::MAX_BYTES
        })
    }
}

/// The most bytes of one texture.
const MAX_TEXTURE_BYTES: u64 = 256 << 20;

/// Layers of one size in as many array textures as it takes. Layer `i` is layer `i % per_array` of array `i / per_array`.
pub(crate) struct TextureArray {
    format: wgpu::TextureFormat,
    /// A layer's width and height in texels.
    size: [u32; 2],
    per_array: usize,
    arrays: Vec<(wgpu::Texture, wgpu::BindGroup)>,
}

impl TextureArray {
    /// As many layers as asked for, all zero.
    pub(crate) fn new(
        textures: &Textures,
        format: wgpu::TextureFormat,
        size: [u32; 2],
        layers: usize,
    ) -> TextureArray {
        let mut made = TextureArray {
            format,
            size,
            per_array: layers,
            arrays: Vec::new(),
        };
        let layer_bytes = u64::from(size[0]) * u64::from(size[1]) * u64::from(made.texel_bytes());
        let sane = (MAX_TEXTURE_BYTES / layer_bytes.max(1))
            .clamp(1, u64::from(textures.limits.max_texture_array_layers));
        made.per_array = layers.clamp(1, sane as usize);
        // Cells' ages are drawn; the others are copied.
        let usage = wgpu::TextureUsages::TEXTURE_BINDING
            | if format == wgpu::TextureFormat::Rgba32Uint {
                wgpu::TextureUsages::RENDER_ATTACHMENT
            } else {
                wgpu::TextureUsages::COPY_DST | wgpu::TextureUsages::COPY_SRC
            };
        for first in (0..layers).step_by(made.per_array) {
            let texture = textures.device.create_texture(&wgpu::TextureDescriptor {
                label: Some("lattices"),
                size: extent(size, made.per_array.min(layers - first)),
                mip_level_count: 1,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage,
                view_formats: &[],
            });
            let view = texture.create_view(&wgpu::TextureViewDescriptor {
                dimension: Some(wgpu::TextureViewDimension::D2Array),
                ..Default::default()
            });
            let view = wgpu::BindingResource::TextureView(&view);
            let layout = usize::from(format == wgpu::TextureFormat::R8Unorm);
            let bind = gpu::bind(&textures.device, &textures.layouts[layout], view);
            made.arrays.push((texture, bind));
        }
        made
    }

    fn texel_bytes(&self) -> u32 {
        self.format.block_copy_size(None).unwrap_or(1)
    }

    /// What to bind for each array, and which layers it holds.
    pub(crate) fn arrays(&self) -> impl Iterator<Item = (&wgpu::BindGroup, Range<usize>)> {
        let arrays = self.arrays.iter().enumerate();
        arrays.map(|(index, (texture, bind))| {
            let first = index * self.per_array;
            let layers = texture.depth_or_array_layers() as usize;
            (bind, first..first + layers)
        })
    }

    /// The texture that has a layer, what binds it, and which layer of it that is.
    pub(crate) fn at(&self, layer: usize) -> (&wgpu::Texture, &wgpu::BindGroup, u32) {
        let (texture, bind) = &self.arrays[layer / self.per_array];
        (texture, bind, (layer % self.per_array) as u32)
    }

    /// Where a layer begins.
    fn layer(&self, layer: usize) -> wgpu::TexelCopyTextureInfo<'_> {
        let (texture, _, z) = self.at(layer);
        let mut place = texture.as_image_copy();
        place.origin.z = z;
        place
    }

    /// Queues copies of all layers to a larger one.
    fn copy_to(&self, larger: &TextureArray, textures: &Textures) {
        let mut encoder = textures.device.create_command_encoder(&Default::default());
        for layer in self.arrays().flat_map(|(_, layers)| layers) {
            let one = extent(self.size, 1);
            encoder.copy_texture_to_texture(self.layer(layer), larger.layer(layer), one);
        }
        textures.queue.submit([encoder.finish()]);
    }

    /// Queues bytes for layers of one array from `layer` on; each is `size` texels, row by row
    /// without gaps.
    fn write(&self, textures: &Textures, layer: usize, size: [u32; 2], bytes: &[u8]) {
        let row = size[0] * self.texel_bytes();
        let layers = bytes.len() / (row as usize * size[1] as usize);
        let layout = wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(row),
            rows_per_image: Some(size[1]),
        };
        let queue = &textures.queue;
        queue.write_texture(self.layer(layer), bytes, layout, extent(size, layers));
    }
}

fn extent([width, height]: [u32; 2], layers: usize) -> wgpu::Extent3d {
    wgpu::Extent3d {
        width,
        height,
        depth_or_array_layers: layers as u32,
    }
}
