//! A window and what draws in it; made anew when the GPU is lost.

use std::time::Duration;

use wgpu::CurrentSurfaceTexture as Acquired;

use crate::input::{Input, Reader};
use crate::view::gpu::{WindowCanvas, lost};
use crate::view::offscreen::{read, target};
use crate::view::picture_file::Image;
use crate::view::{Dialogs, Frame, Gpu, Scene, ViewError};
use lang::tr;

/// See the module.
pub(super) struct WindowSurface {
    pub canvas: WindowCanvas,
    surface: wgpu::Surface<'static>,
    config: wgpu::SurfaceConfiguration,
    pub gpu: Gpu,
    pub scene: Scene,
    /// Passes events to the scene's egui.
    pub input: Input,
    /// Frames that were refused in a row.
    refused: u32,
}

/// So many frames in a row may be refused before the GPU counts as lost.
const MAX_REFUSED: u32 = 10;

impl WindowSurface {
    /// Opens a GPU for the window: the one whose name contains `adapter`, or the best one.
    pub(super) fn open(
        canvas: WindowCanvas,
        adapter: Option<&str>,
        reader: Reader,
    ) -> Result<WindowSurface, ViewError> {
        let (gpu, surface) = Gpu::open(adapter, Some(&canvas))?;
        let surface = surface.expect("a canvas gives a surface");
        let size = canvas.window.inner_size();
        let config = configuration(&surface, &gpu, [size.width, size.height]);
        surface.configure(&gpu.device, &config);
        let scene = Scene::new(&gpu, config.format);
        let input = Input::new(scene.context(), &canvas.window, &canvas.display, reader);
        Ok(WindowSurface {
            canvas,
            surface,
            config,
            gpu,
            scene,
            input,
            refused: 0,
        })
    }

    /// The size drawn at, in pixels.
    pub(super) fn pixels(&self) -> [u32; 2] {
        [self.config.width, self.config.height]
    }

    /// Follows the window's size; one of 0 (minimised) changes nothing.
    pub(super) fn resize(&mut self, [width, height]: [u32; 2]) {
        let most = self.scene.max_side;
        if width > 0 && height > 0 && [width, height] != self.pixels() {
            (self.config.width, self.config.height) = (width.min(most), height.min(most));
            self.surface.configure(&self.gpu.device, &self.config);
        }
    }

    /// Uploads, draws and presents; says when to draw again without input, or nothing where the window is hidden or has changed, or no surface texture
    /// was ready in time.
    pub(super) fn present(
        &mut self,
        frame: &Frame<'_>,
        dialogs: &mut Dialogs,
    ) -> Result<Option<Duration>, ViewError> {
        use Acquired::*;
        // Before egui is run: what it says of its textures must not be thrown away.
        let texture = match self.surface.get_current_texture() {
            Success(texture) | Suboptimal(texture) => texture,
            Timeout | Occluded => return Ok(None),
            Outdated | Validation if self.refused < MAX_REFUSED => {
                self.refused += 1;
                // A lost device is only told of while it is polled.
                let polled = self.gpu.device.poll(wgpu::PollType::Poll);
                self.gpu.trouble()?;
                polled.map_err(lost)?;
                self.surface.configure(&self.gpu.device, &self.config);
                self.gpu.trouble()?;
                return Ok(None);
            }
            Outdated | Validation | Lost => {
                return Err(lost(tr!("the surface delivers no frames")));
            }
        };
        self.refused = 0;
        if let Some(session) = &frame.app.session {
            self.scene.update(frame, session);
        }
        let input = self.input.take(&self.canvas.window);
        let view = texture.texture.create_view(&Default::default());
        let drawn = self.scene.draw(frame, dialogs, input, &view);
        self.input.give(&self.canvas.window, drawn.platform);
        self.canvas.window.pre_present_notify();
        self.gpu.queue.present(texture);
        self.gpu.trouble()?;
        Ok(Some(drawn.again))
    }

    /// The frame as a picture, without its dialogs; waits for it.
    pub(super) fn picture(&mut self, frame: &Frame<'_>) -> Result<Image, ViewError> {
        let texture = target(&self.gpu.device, frame.pixels, self.config.format);
        let view = texture.create_view(&Default::default());
        self.scene.draw_for_capture(frame, &view);
        let image = read(&self.gpu, &texture)?;
        self.gpu.trouble()?;
        Ok(image)
    }
}

fn configuration(
    surface: &wgpu::Surface<'_>,
    gpu: &Gpu,
    pixels: [u32; 2],
) -> wgpu::SurfaceConfiguration {
    let most = gpu.device.limits().max_texture_dimension_2d;
    let [width, height] = pixels.map(|side| side.clamp(1, most));
    let config = surface.get_default_config(&gpu.adapter, width, height);
    let mut config = config.expect("an adapter that presents was chosen");
    // egui blends in sRGB and wants a format that is not one; pictures are read back as bytes.
    let formats = surface.get_capabilities(&gpu.adapter).formats;
    let wanted = [
        wgpu::TextureFormat::Bgra8Unorm,
        wgpu::TextureFormat::Rgba8Unorm,
    ];
    config.format = wanted
        .into_iter()
        .find(|format| formats.contains(format))
        .or_else(|| formats.iter().copied().find(|format| !format.is_srgb()))
        .unwrap_or(config.format);
    config.present_mode = wgpu::PresentMode::AutoVsync;
    config.desired_maximum_frame_latency = 2;
    config
}
