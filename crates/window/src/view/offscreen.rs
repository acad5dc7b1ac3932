//! The window's scene without a window: for pictures, and for measuring frames.

use std::sync::Arc;

use crate::view::Dialog;
use crate::view::gpu::lost;
use crate::view::picture_file::Image;
use crate::view::{Dialogs, Frame, Gpu, Picker, Scene, ViewError};
use lang::message;
use ui::{App, AppOptions, Camera, CodeEditor};

/// Draws frames into a texture.
pub struct Renderer {
    gpu: Gpu,
    scene: Scene,
    target: wgpu::Texture,
    view: wgpu::TextureView,
    scale: f32,
    last: Option<wgpu::SubmissionIndex>,
    /// What is shown.
    pub app: App,
    editor: CodeEditor,
    dialogs: Dialogs,
}

impl Renderer {
    /// On the adapter whose name contains `adapter` (or the best one), for pictures of `pixels`
    /// at `scale` pixels per point.
    ///
    /// # Errors
    /// No such adapter, or a size that it does not draw.
    pub fn new(adapter: Option<&str>, pixels: [u32; 2], scale: f32) -> Result<Renderer, ViewError> {
        let (gpu, _) = Gpu::open(adapter, None)?;
        let most = gpu.device.limits().max_texture_dimension_2d;
        let [width, height] = pixels;
        if !pixels.iter().all(|side| (1..=most).contains(side)) {
            return Err(ViewError::Refused(message!(
                "a picture of {width}x{height} pixels cannot be drawn here: both sides must be from 1 to {most}"
            )));
        }
        let format = wgpu::TextureFormat::Rgba8Unorm;
        let target = target(&gpu.device, pixels, format);
        let mut app = App::new(AppOptions::default(), Arc::new(|| {}), Arc::default());
        app.drawing.adapter = Some(gpu.facts.clone());
        app.in_window = true;
        Ok(Renderer {
            scene: Scene::new(&gpu, format),
            view: target.create_view(&Default::default()),
            target,
            scale,
            last: None,
            app,
            editor: CodeEditor::default(),
            dialogs: Dialogs::default(),
            gpu,
        })
    }

    /// Has the session send what the panels show, uploads what is newer and draws a frame. It waits until the
    /// one before is drawn.
    ///
    /// # Errors
    /// Too many instances, or the GPU failed.
    pub fn frame(&mut self) -> Result<(), ViewError> {
        self.app.look();
        self.app.update();
        let plan = self.to_lay_out().request(self.scene.max_side);
        plan.into_iter().for_each(|it| self.app.request_view(it));
        let pixels = [self.target.width(), self.target.height()];
        let frame = Frame {
            app: &self.app,
            editor: &self.editor,
            pixels,
            scale: self.scale,
        };
        if let Some(session) = &self.app.session {
            self.scene.update(&frame, session);
        }
        let (dialogs, input) = (&mut self.dialogs, egui::RawInput::default());
        let drawn = self.scene.draw(&frame, dialogs, input, &self.view);
        if let Some(before) = self.last.replace(drawn.submission) {
            self.gpu.wait(Some(before))?;
        }
        self.gpu.trouble()
    }

    /// Zooms the camera about the lattice's middle, as the key does.
    pub fn zoom(&mut self, times: f64) {
        self.app.look();
        let places = self.to_lay_out().layout();
        if let (Some(status), Some((layout, _))) = (&self.app.status, places) {
            let (size, panel) = (status.lattices.size, layout.tiling.panel);
            self.app.options.camera = Camera::default();
            self.app.options.camera.zoom(times, size, panel);
        }
    }

    /// Why colours are not by what was asked for, in one sentence, if they are not.
    pub fn colour_mode_unavailable(&self) -> Option<String> {
        self.to_lay_out().colour_by(self.scene.max_side).err()
    }

    /// How many of the panels have no picture yet: a picture is complete when there is none.
    pub fn missing(&self) -> usize {
        self.scene.panels.missing(self.app.single_instance())
    }

    /// Opens the keys.
    pub fn open_help(&mut self) {
        self.dialogs = Dialogs::of(Dialog::Help(Picker::default()));
    }

    /// Waits for the last frame and reads it back.
    ///
    /// # Errors
    /// The GPU failed.
    pub fn read(&self) -> Result<Image, ViewError> {
        let image = read(&self.gpu, &self.target)?;
        self.gpu.trouble()?;
        Ok(image)
    }

    fn to_lay_out(&self) -> Frame<'_> {
        Frame {
            app: &self.app,
            editor: &self.editor,
            pixels: [self.target.width(), self.target.height()],
            scale: self.scale,
        }
    }
}

/// A texture that can be drawn to and read back.
pub fn target(
    device: &wgpu::Device,
    [width, height]: [u32; 2],
    format: wgpu::TextureFormat,
) -> wgpu::Texture {
    device.create_texture(&wgpu::TextureDescriptor {
        label: Some("picture"),
        size: wgpu::Extent3d {
            width,
            height,
            depth_or_array_layers: 1,
        },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
        view_formats: &[],
    })
}

/// Reads an RGBA or BGRA texture of four bytes per pixel back; waits for it.
pub fn read(gpu: &Gpu, texture: &wgpu::Texture) -> Result<Image, ViewError> {
    let (width, height) = (texture.width(), texture.height());
    let pitch = (width * 4).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
    let buffer = gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("read back"),
        size: u64::from(pitch) * u64::from(height),
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    encoder.copy_texture_to_buffer(
        texture.as_image_copy(),
        wgpu::TexelCopyBufferInfo {
            buffer: &buffer,
            layout: wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(pitch),
                rows_per_image: None,
            },
        },
        texture.size(),
    );
    gpu.queue.submit([encoder.finish()]);
    buffer.map_async(wgpu::MapMode::Read, .., |_| {});
    gpu.wait(None)?;
    let mapped = buffer.get_mapped_range(..).map_err(lost)?;
    let mut rgba = Vec::with_capacity(width as usize * height as usize * 4);
    for row in mapped.chunks_exact(pitch as usize) {
        rgba.extend_from_slice(&row[..width as usize * 4]);
    }
    if texture.format() == wgpu::TextureFormat::Bgra8Unorm {
        rgba.chunks_exact_mut(4).for_each(|pixel| pixel.swap(0, 2));
    }
    rgba.chunks_exact_mut(4).for_each(|pixel| pixel[3] = 255);
    Ok(Image {
        width,
        height,
        rgba,
    })
}
