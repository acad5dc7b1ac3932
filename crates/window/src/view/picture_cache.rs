//! The newest picture of every instance, in textures.
//!
//! Bits have one [`TextureArray`]. Views change their size with the window, so there are two arrays
//! of them: one of the newest size, and the one before it, which is drawn until each instance's
//! first picture of the new size has arrived.

use crate::view::texture_array::{Texels, TextureArray};
use engine::ReduceRegion;
use life::Size;
use session::PictureSource;
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
