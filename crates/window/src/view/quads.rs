//! Rectangles, one per instance of a draw: what the pipelines of the panels and of the cell ages
//! share.
//!
//! Their shaders take what they share from `shaders/quads.wgsl`, put behind them: WGSL has no
//! include, and the order of declarations is free.

/// What the vertex stage reads of an instance.
pub(crate) struct InstanceBuffer<'a> {
    /// Bytes from one to the next.
    pub(crate) stride: usize,
    pub(crate) attributes: &'a [wgpu::VertexAttribute],
}

/// A shader of this source.
pub(crate) fn shader(device: &wgpu::Device, source: &str) -> wgpu::ShaderModule {
    device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(source.into()),
    })
}

/// Draws a strip of two triangles an instance, from `corner` to the fragment stage of this name.
pub(crate) fn pipeline(
    device: &wgpu::Device,
    shader: &wgpu::ShaderModule,
    fragment: &str,
    groups: &[Option<&wgpu::BindGroupLayout>],
    instances: &InstanceBuffer<'_>,
    format: wgpu::TextureFormat,
) -> wgpu::RenderPipeline {
    let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some(fragment),
        bind_group_layouts: groups,
        ..Default::default()
    });
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some(fragment),
        layout: Some(&layout),
        vertex: wgpu::VertexState {
            module: shader,
            entry_point: Some("corner"),
            compilation_options: Default::default(),
            buffers: &[Some(wgpu::VertexBufferLayout {
                array_stride: instances.stride as u64,
                step_mode: wgpu::VertexStepMode::Instance,
                attributes: instances.attributes,
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
            entry_point: Some(fragment),
            compilation_options: Default::default(),
            targets: &[Some(format.into())],
        }),
        multiview_mask: None,
        cache: None,
    })
}

/// How a texture is bound.
pub(crate) fn texture_layout(
    sample_type: wgpu::TextureSampleType,
    view_dimension: wgpu::TextureViewDimension,
) -> wgpu::BindingType {
    wgpu::BindingType::Texture {
        sample_type,
        view_dimension,
        multisampled: false,
    }
}

/// A group of one binding.
pub(crate) fn bind_layout(
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
