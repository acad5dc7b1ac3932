//! The window's scene without a window: for pictures, and for measuring frames.

use std::time::Duration;

use crate::view::Dialog;
use crate::view::gpu::lost;
use crate::view::picture_file::Image;
use crate::view::{Dialogs, Frame, Gpu, Picker, Scene, TimelineView, ViewError};
use lang::message;
use session::{PicturePlan, PictureSource, Status};
use ui::{
    Camera, CodeEditor, Drawing, EditOverlay, Lecture, LessonPage, Population, Screen, Sources,
    ViewOptions,
};

/// What frames show beside the cells.
#[derive(Default)]
pub struct FrameContents {
    /// What the HUD says of the drawing side; frames per second are the caller's to fill in.
    pub drawing: Drawing,
    /// What the timeline shows, where it is shown.
    pub timeline: TimelineView,
    /// What the population graph shows, where it is shown.
    pub population: Population,
    /// What the editor shows, where it is shown.
    pub editor: CodeEditor,
    /// What a hand has put over the panels.
    pub edit_overlay: EditOverlay,
    /// The lesson that is shown, if one is.
    pub lesson: Option<Box<LessonPage>>,
    /// The lectures that can be begun.
    pub lectures: Vec<Lecture>,
}

impl FrameContents {
    /// A frame with these, in so many pixels.
    pub(crate) fn frame<'a>(
        &'a self,
        status: Option<&'a Status>,
        options: &'a ViewOptions,
        pixels: [u32; 2],
        scale: f32,
    ) -> Frame<'a> {
        Frame {
            screen: Screen::default(),
            sources: Sources {
                status,
                options,
                drawing: &self.drawing,
                population: &self.population,
                timeline: &self.timeline.timeline,
                lesson: self.lesson.as_deref(),
                lectures: &self.lectures,
                edit_overlay: Some(&self.edit_overlay),
            },
            timeline: &self.timeline,
            editor: &self.editor,
            pixels,
            scale,
        }
    }
}

/// Draws frames into a texture.
pub struct Renderer {
    gpu: Gpu,
    scene: Scene,
    target: wgpu::Texture,
    view: wgpu::TextureView,
    scale: f32,
    last: Option<wgpu::SubmissionIndex>,
    /// What is shown beside the cells.
    pub contents: FrameContents,
    /// What is open over the scene.
    pub(crate) dialogs: Dialogs,
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
        let drawing = Drawing {
            adapter: Some(gpu.facts.clone()),
            ..Default::default()
        };
        Ok(Renderer {
            scene: Scene::new(&gpu, format),
            view: target.create_view(&Default::default()),
            target,
            scale,
            last: None,
            contents: FrameContents {
                drawing,
                ..Default::default()
            },
            dialogs: Dialogs::default(),
            gpu,
        })
    }

    /// What the session should send for this picture; ask for it before the first frame.
    pub fn request(&self, status: &Status, options: &ViewOptions) -> PicturePlan {
        let frame = self.with(status, options);
        frame
            .request(self.scene.max_side)
            .expect("a frame with a status has a request")
    }

    /// Uploads what is newer and draws a frame. It waits until the one before is drawn. Returns the
    /// processor time that laying out and building the interface took.
    ///
    /// # Errors
    /// Too many instances, or the GPU failed.
    pub fn frame(
        &mut self,
        status: &Status,
        pictures: &dyn PictureSource,
        options: &ViewOptions,
    ) -> Result<Duration, ViewError> {
        if options.timeline {
            let FrameContents {
                timeline, drawing, ..
            } = &mut self.contents;
            timeline.update(pictures);
            timeline.timeline.judge(status, drawing);
        }
        if options.side == Some(ui::SidePanel::Population) {
            self.contents.population.update(pictures, status, options);
        }
        let pixels = [self.target.width(), self.target.height()];
        let contents = &self.contents;
        let frame = contents.frame(Some(status), options, pixels, self.scale);
        self.scene.update(&frame, pictures);
        let (dialogs, input) = (&mut self.dialogs, egui::RawInput::default());
        let drawn = self.scene.draw(&frame, dialogs, input, &self.view);
        if let Some(before) = self.last.replace(drawn.submission) {
            self.gpu.wait(Some(before))?;
        }
        self.gpu.trouble()?;
        Ok(drawn.spent)
    }

    /// Zooms the camera about the lattice's middle, as the key does.
    pub fn zoom(&self, status: &Status, options: &mut ViewOptions, times: f64) {
        if let Some((layout, _)) = self.with(status, options).layout() {
            options.camera = Camera::default();
            let panel = layout.tiling.panel;
            options.camera.zoom(times, status.lattices.size, panel);
        }
    }

    /// Why colours are not by what was asked for, in one sentence, if they are not.
    pub fn colour_mode_unavailable(
        &self,
        status: &Status,
        options: &ViewOptions,
    ) -> Option<String> {
        let frame = self.with(status, options);
        frame.colour_by(self.scene.max_side).err()
    }

    /// How many of the panels have no picture yet: a picture is complete when there is none.
    pub fn missing(&self, status: &Status, options: &ViewOptions) -> usize {
        self.scene.missing(&self.with(status, options))
    }

    /// Opens the keys.
    pub fn open_help(&mut self) {
        self.dialogs = Dialogs::of(Dialog::Help(Picker::default()));
    }

    /// Opens the command palette.
    pub fn open_palette(&mut self) {
        self.dialogs = Dialogs::of(Dialog::Commands(Picker::default(), Default::default()));
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

    /// A frame to lay out.
    fn with<'a>(&'a self, status: &'a Status, options: &'a ViewOptions) -> Frame<'a> {
        let pixels = [self.target.width(), self.target.height()];
        self.contents
            .frame(Some(status), options, pixels, self.scale)
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
