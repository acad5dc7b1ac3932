//! Layers of one size in as many array textures as it takes.

use std::ops::Range;

use crate::view::ViewError;
use lang::message;
use session::Setup;
use ui::TextureLimits;

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

/// See the module. Layer `i` is layer `i % per_array` of array `i / per_array`.
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
