//! The drawing GPU: choosing an adapter, opening it, and noticing when it is lost.
//!
//! The native interface (Vulkan, Metal, DirectX 12) is tried first and OpenGL after it; software
//! is taken only where neither has hardware.
//!
//! Also what the pipelines of the panels and of the cell ages share: rectangles, one per instance of a draw.
//! Their shaders take what they share from `shaders/quads.wgsl`, put behind them: WGSL has no include, and the
//! order of declarations is free.

use std::sync::{Arc, Mutex};

use crate::surface::WindowCanvas;
use crate::view::ViewError;
use lang::message;
use ui::AdapterFacts;

/// What is known of an adapter.
fn facts_of(adapter: &wgpu::Adapter) -> AdapterFacts {
    let info = adapter.get_info();
    let known_software = ["llvmpipe", "softpipe", "swiftshader", "swrast"];
    let name = info.name.to_lowercase();
    AdapterFacts {
        software: info.device_type == wgpu::DeviceType::Cpu
            || known_software
                .iter()
                .any(|software| name.contains(software)),
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
    let instance = instance(wgpu::Backends::all(), None);
    let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()));
    let mut facts: Vec<_> = adapters.iter().map(facts_of).collect();
    facts.sort_by_key(|facts| (facts.software, facts.backend == "OpenGL"));
    facts
}

/// An open adapter.
pub struct Gpu {
    /// The graphics library.
    pub instance: wgpu::Instance,
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
    /// Opens the adapter whose title contains `wanted`, or the best one; with a surface if there
    /// is something to draw to.
    pub(crate) fn open(
        wanted: Option<&str>,
        canvas: Option<&WindowCanvas>,
    ) -> Result<(Gpu, Option<wgpu::Surface<'static>>), ViewError> {
        let (mut software, mut refused) = (None, None);
        let mut why = message!("there is none");
        for backends in [wgpu::Backends::PRIMARY, wgpu::Backends::GL] {
            let instance = instance(backends, canvas.map(|canvas| canvas.display()));
            let surface = match canvas.map(|canvas| canvas.surface(&instance)).transpose() {
                Ok(surface) => surface,
                Err(reason) => {
                    why = reason.into();
                    continue;
                }
            };
            let Some(adapter) = pick(&instance, surface.as_ref(), wanted) else {
                continue;
            };
            if !presents(&adapter, surface.as_ref()) {
                refused.get_or_insert(ViewError::cannot_present(&facts_of(&adapter).title()));
                continue;
            }
            let found = (instance, adapter, surface);
            if wanted.is_none() && facts_of(&found.1).software {
                software.get_or_insert(found);
                continue;
            }
            match Gpu::with(found) {
                Err(error) => _ = refused.get_or_insert(error),
                opened => return opened,
            }
        }
        match (software, refused, wanted) {
            (Some(found), ..) => Gpu::with(found),
            (None, Some(error), _) => Err(error),
            (None, None, None) => Err(ViewError::NoDevice(message!(
                "no graphics driver can draw here ({it}); install your GPU's Vulkan driver, or the software one: apt-get install libvulkan1 mesa-vulkan-drivers",
                it = why
            ))),
            (None, None, Some(requested)) => {
                let present: Vec<_> = list_adapters().iter().map(AdapterFacts::title).collect();
                let matching = present.iter().find(|title| matches(title, requested));
                Err(match matching {
                    Some(adapter) => ViewError::cannot_present(adapter),
                    None => {
                        let there = match &present[..] {
                            [] => message!("none"),
                            some => some.join("; ").into(),
                        };
                        ViewError::Refused(message!(
                            "no drawing GPU matches '{requested}'; available: {}",
                            there
                        ))
                    }
                })
            }
        }
    }

    fn with(
        (instance, adapter, surface): (
            wgpu::Instance,
            wgpu::Adapter,
            Option<wgpu::Surface<'static>>,
        ),
    ) -> Result<(Gpu, Option<wgpu::Surface<'static>>), ViewError> {
        let facts = facts_of(&adapter);
        let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
            label: Some("lifestreams"),
            required_limits: adapter.limits(),
            ..Default::default()
        }))
        .map_err(|error| ViewError::unusable(&facts.title(), error))?;
        let trouble = Arc::new(Mutex::new(None));
        let note = |trouble: &Arc<Mutex<Option<ViewError>>>, error: ViewError| {
            tracing::warn!("{error}");
            trouble
                .lock()
                .unwrap_or_else(|poisoned| poisoned.into_inner())
                .get_or_insert(error);
        };
        let noted = trouble.clone();
        device.set_device_lost_callback(move |reason, message| {
            if reason != wgpu::DeviceLostReason::Destroyed {
                let message = if message.is_empty() {
                    format!("{reason:?}")
                } else {
                    message
                };
                note(&noted, ViewError::DeviceLost(message));
            }
        });
        let noted = trouble.clone();
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            note(
                &noted,
                match error {
                    wgpu::Error::OutOfMemory { .. } => ViewError::Lacking(message!(
                        "the drawing GPU is out of memory; use fewer --instances or --transfer view"
                    )),
                    other => {
                        tracing::debug!("{other}");
                        ViewError::Internal(root_cause(&other))
                    }
                },
            );
        }));
        Ok((
            Gpu {
                instance,
                adapter,
                device,
                queue,
                facts,
                trouble,
            },
            surface,
        ))
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
        self.trouble
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
            .take()
    }
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

fn instance(
    backends: wgpu::Backends,
    display: Option<Box<dyn wgpu::wgt::WgpuHasDisplayHandle>>,
) -> wgpu::Instance {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = backends;
    descriptor.display = display;
    descriptor.flags = wgpu::InstanceFlags::empty();
    wgpu::Instance::new(descriptor)
}

fn pick(
    instance: &wgpu::Instance,
    surface: Option<&wgpu::Surface<'static>>,
    wanted: Option<&str>,
) -> Option<wgpu::Adapter> {
    let Some(wanted) = wanted else {
        return pollster::block_on(instance.request_adapter(&wgpu::RequestAdapterOptions {
            power_preference: wgpu::PowerPreference::HighPerformance,
            compatible_surface: surface,
            ..Default::default()
        }))
        .ok();
    };
    let mut adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()));
    adapters.retain(|adapter| matches(&facts_of(adapter).title(), wanted));
    adapters.sort_by_key(|adapter| !presents(adapter, surface));
    adapters.into_iter().next()
}

fn matches(title: &str, wanted: &str) -> bool {
    title.to_lowercase().contains(&wanted.to_lowercase())
}

/// Whether an adapter draws to a surface, and has a format for its pixels.
fn presents(adapter: &wgpu::Adapter, surface: Option<&wgpu::Surface<'static>>) -> bool {
    surface.is_none_or(|surface| !surface.get_capabilities(adapter).formats.is_empty())
}

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
