//! The drawing GPU: choosing an adapter, opening it, and noticing when it is lost.
//!
//! The native interface (Vulkan, Metal, DirectX 12) is tried before OpenGL, and either's hardware before software.
//!
//! Also what the pipelines of the panels and of the cell ages share: rectangles, one per instance of a draw.
//! Their shaders take what they share from `shaders/quads.wgsl`, put behind them: WGSL has no include, and the
//! order of declarations is free.

use std::sync::{Arc, Mutex, PoisonError};

use crate::view::ViewError;
use lang::{Message, message};
use ui::AdapterFacts;
use winit::event_loop::OwnedDisplayHandle;
use winit::window::Window;

/// A window as a canvas.
pub(crate) struct WindowCanvas {
    pub window: Arc<Window>,
    pub display: OwnedDisplayHandle,
}

/// What is known of an adapter.
fn facts_of(adapter: &wgpu::Adapter) -> AdapterFacts {
    let info = adapter.get_info();
    AdapterFacts {
        software: info.device_type == wgpu::DeviceType::Cpu,
        backend: match info.backend {
            wgpu::Backend::Gl => "OpenGL".into(),
            wgpu::Backend::Dx12 => "DirectX 12".into(),
            other => format!("{other:?}"),
        },
        driver: format!("{} {}", info.driver, info.driver_info)
            .trim()
            .to_owned(),
        pci_bus_id: Some(info.device_pci_bus_id).filter(|id| !id.is_empty()),
        name: info.name,
    }
}

/// Every adapter here, the preferred ones first.
pub fn list_adapters() -> Vec<AdapterFacts> {
    enumerate(&instance(None)).iter().map(facts_of).collect()
}

/// An open adapter.
pub struct Gpu {
    /// The adapter that was opened.
    pub adapter: wgpu::Adapter,
    /// Its device.
    pub device: wgpu::Device,
    /// The device's queue.
    pub queue: wgpu::Queue,
    /// What is said about the adapter.
    pub facts: AdapterFacts,
    trouble: Arc<Mutex<Option<ViewError>>>,
}

impl Gpu {
    /// Opens the first adapter that can be used, of those whose titles contain `requested`; with a surface if there
    /// is something to draw to.
    pub(crate) fn open(
        requested: Option<&str>,
        canvas: Option<&WindowCanvas>,
    ) -> Result<(Gpu, Option<wgpu::Surface<'static>>), ViewError> {
        let no_driver = |why: Message| {
            ViewError::NoDevice(message!(
                "no graphics driver can draw here ({it}); install your GPU's Vulkan driver, or the software one: apt-get install libvulkan1 mesa-vulkan-drivers",
                it = why
            ))
        };
        let instance = instance(canvas);
        let surface = canvas.map(|canvas| instance.create_surface(canvas.window.clone()));
        let surface = surface.transpose();
        let surface = surface.map_err(|why| no_driver(why.to_string().into()))?;
        let mut adapters = enumerate(&instance);
        if let Some(requested) = requested {
            let titles: Vec<_> = adapters.iter().map(|it| facts_of(it).title()).collect();
            let part = requested.to_lowercase();
            adapters.retain(|it| facts_of(it).title().to_lowercase().contains(&part));
            if adapters.is_empty() {
                let there = match &titles[..] {
                    [] => message!("none"),
                    some => some.join("; ").into(),
                };
                return Err(ViewError::Refused(message!(
                    "no drawing GPU matches '{requested}'; available: {}",
                    there
                )));
            }
        }
        let mut refused = None;
        for adapter in adapters {
            match Gpu::with(adapter, surface.as_ref()) {
                Ok(gpu) => return Ok((gpu, surface)),
                Err(error) => _ = refused.get_or_insert(error),
            }
        }
        Err(refused.unwrap_or_else(|| no_driver(message!("there is none"))))
    }

    fn with(
        adapter: wgpu::Adapter,
        surface: Option<&wgpu::Surface<'static>>,
    ) -> Result<Gpu, ViewError> {
        let facts = facts_of(&adapter);
        let has_format = |to: &wgpu::Surface<'_>| !to.get_capabilities(&adapter).formats.is_empty();
        if !surface.is_none_or(has_format) {
            let why = message!("it cannot present to this window");
            return Err(ViewError::unusable(&facts.title(), why));
        }
        let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
            label: Some("lifestreams"),
            required_limits: adapter.limits(),
            ..Default::default()
        }))
        .map_err(|error| ViewError::unusable(&facts.title(), error))?;
        let trouble: Arc<Mutex<Option<ViewError>>> = Arc::default();
        let noted = trouble.clone();
        let note = move |error: ViewError| {
            tracing::warn!("{error}");
            let mut noted = noted.lock().unwrap_or_else(PoisonError::into_inner);
            noted.get_or_insert(error);
        };
        let note_lost = note.clone();
        device.set_device_lost_callback(move |reason, message| {
            if reason != wgpu::DeviceLostReason::Destroyed {
                note_lost(ViewError::DeviceLost(format!("{reason:?}: {message}")));
            }
        });
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            note(match error {
                wgpu::Error::OutOfMemory { .. } => ViewError::Lacking(message!(
                    "the drawing GPU is out of memory; use fewer --instances or --transfer view"
                )),
                other => {
                    tracing::debug!("{other}");
                    ViewError::Internal(root_cause(&other))
                }
            });
        }));
        Ok(Gpu {
            adapter,
            device,
            queue,
            facts,
            trouble,
        })
    }

    /// Waits until this, or everything, has been drawn.
    pub(crate) fn wait(
        &self,
        submission_index: Option<wgpu::SubmissionIndex>,
    ) -> Result<(), ViewError> {
        let wait = wgpu::PollType::Wait {
            submission_index,
            timeout: None,
        };
        self.device.poll(wait).map(drop).map_err(lost)
    }

    /// What has gone wrong since the last call, if anything has.
    pub fn trouble(&self) -> Result<(), ViewError> {
        match self.take_trouble() {
            None => Ok(()),
            Some(error @ ViewError::Internal(_)) => {
                // Calls fail on a lost device too, and that it is lost is only told when polled.
                let _ = self.device.poll(wgpu::PollType::Poll);
                let lost = |later: &ViewError| matches!(later, ViewError::DeviceLost(_));
                Err(self.take_trouble().filter(lost).unwrap_or(error))
            }
            Some(error) => Err(error),
        }
    }

    fn take_trouble(&self) -> Option<ViewError> {
        let mut trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        trouble.take()
    }
}

/// The error of a call that fails where the device is lost.
pub(crate) fn lost(error: impl std::fmt::Display) -> ViewError {
    ViewError::DeviceLost(error.to_string())
}

/// The innermost cause, on one line; those around it say where in wgpu it came up.
fn root_cause(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(cause) => root_cause(cause),
        None => {
            let text = error.to_string();
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        }
    }
}

fn instance(canvas: Option<&WindowCanvas>) -> wgpu::Instance {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    // For OpenGL.
    descriptor.display = canvas.map(|it| Box::new(it.display.clone()) as _);
    descriptor.flags = wgpu::InstanceFlags::empty();
    wgpu::Instance::new(descriptor)
}

/// Every adapter, the preferred ones first.
fn enumerate(instance: &wgpu::Instance) -> Vec<wgpu::Adapter> {
    let mut adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()));
    adapters.sort_by_key(|adapter| {
        let info = adapter.get_info();
        let (kind, is_gl) = (info.device_type, info.backend == wgpu::Backend::Gl);
        let [is_software, is_discrete] =
            [wgpu::DeviceType::Cpu, wgpu::DeviceType::DiscreteGpu].map(|it| kind == it);
        (is_software, is_gl, !is_discrete)
    });
    adapters
}

/// A shader of this source.
pub(crate) fn shader(device: &wgpu::Device, source: &str) -> wgpu::ShaderModule {
    device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(source.into()),
    })
}

/// Draws a strip of two triangles an instance, from `corner` to the fragment stage of this name. Of an
/// instance the vertex stage reads these attributes; the next one is so many bytes on.
pub(crate) fn pipeline(
    device: &wgpu::Device,
    shader: &wgpu::ShaderModule,
    fragment: &str,
    groups: &[Option<&wgpu::BindGroupLayout>],
    (stride, attributes): (usize, &[wgpu::VertexAttribute]),
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
                array_stride: stride as u64,
                step_mode: wgpu::VertexStepMode::Instance,
                attributes,
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

/// Clears a texture with this colour, to draw into it.
pub(crate) fn begin_pass<'a>(
    encoder: &'a mut wgpu::CommandEncoder,
    target: &wgpu::TextureView,
    background: [f32; 4],
) -> wgpu::RenderPass<'a> {
    let [r, g, b, a] = background.map(f64::from);
    encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: None,
        color_attachments: &[Some(wgpu::RenderPassColorAttachment {
            view: target,
            depth_slice: None,
            resolve_target: None,
            ops: wgpu::Operations {
                load: wgpu::LoadOp::Clear(wgpu::Color { r, g, b, a }),
                store: wgpu::StoreOp::Store,
            },
        })],
        ..Default::default()
    })
}

/// Binds the one resource of a layout.
pub(crate) fn bind(
    device: &wgpu::Device,
    layout: &wgpu::BindGroupLayout,
    resource: wgpu::BindingResource<'_>,
) -> wgpu::BindGroup {
    let binding = 0;
    device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout,
        entries: &[wgpu::BindGroupEntry { binding, resource }],
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drawing_error_says_its_cause() {
        let error = wgpu::Error::Validation {
            source: "Dimension X is 0".into(),
            description: "Validation Error\n\nCaused by:\n  Dimension X is 0\n".into(),
        };
        assert_eq!(root_cause(&error), "Dimension X is 0");
    }
}
