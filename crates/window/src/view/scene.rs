//! Draws a whole frame into any texture: panels, and the interface over and beside them.

use std::time::Duration;

use egui::epaint::Tessellator;

use crate::view::dialogs::Dialogs;
use crate::view::frame::{Frame, paint_over};
use crate::view::gpu;
use crate::view::panels::{Panels, PanelsInput, outside};
use crate::view::style::{self, Palette};
use crate::view::{Gpu, over_panels};
use session::PictureSource;

/// The output of a frame besides its picture.
pub(crate) struct FrameOutput {
    pub submission: wgpu::SubmissionIndex,
    /// What egui wants of the window: cursor, clipboard, input method.
    pub platform: egui::PlatformOutput,
    /// When to draw again without input (egui's repaint delay).
    pub again: Duration,
}

/// About the largest side of the texture of letters: egui takes all that it is given, at 16,384 pixels 1 GiB,
/// before it drops letters that are no longer used.
const MAX_LETTERS_SIDE: u32 = 4096;

/// An egui context and its renderer.
struct Interface {
    context: egui::Context,
    overlay: egui_wgpu::Renderer,
    /// The colours that egui's style is made for.
    styled: Option<Palette>,
}

impl Interface {
    /// For targets of this format.
    fn new(device: &wgpu::Device, format: wgpu::TextureFormat) -> Interface {
        let options = egui_wgpu::RendererOptions {
            dithering: false,
            ..Default::default()
        };
        Interface {
            context: context(),
            overlay: egui_wgpu::Renderer::new(device, format, options),
            styled: None,
        }
    }
}

/// An egui with the program's type.
pub(crate) fn context() -> egui::Context {
    let context = egui::Context::default();
    style::install_fonts(&context);
    context.options_mut(|options| options.zoom_with_keyboard = false);
    context
}

/// What draws frames; lives as long as the device.
pub(crate) struct Scene {
    device: wgpu::Device,
    queue: wgpu::Queue,
    /// The longest side of a texture that the device makes.
    pub max_side: u32,
    pub panels: Panels,
    format: wgpu::TextureFormat,
    interface: Interface,
    /// The interface for off-screen captures: see [`Scene::draw_for_capture`].
    capture: Option<Interface>,
}

impl Scene {
    /// For targets of this format (not an sRGB one: egui blends in sRGB).
    pub(crate) fn new(gpu: &Gpu, format: wgpu::TextureFormat) -> Scene {
        let limits = gpu.device.limits();
        Scene {
            max_side: limits.max_texture_dimension_2d,
            panels: Panels::new(&gpu.device, &gpu.queue, format, limits),
            format,
            interface: Interface::new(&gpu.device, format),
            capture: None,
            device: gpu.device.clone(),
            queue: gpu.queue.clone(),
        }
    }

    /// Whether something of the last frame stands here that answers clicks.
    pub(crate) fn has_button_at(&self, [x, y]: [f64; 2]) -> bool {
        let context = &self.interface.context;
        let at = egui::pos2(x as f32, y as f32) / context.pixels_per_point();
        context.viewport(|last| {
            let mut widgets = last
                .prev_pass
                .widgets
                .get_layer(egui::LayerId::background());
            widgets.any(|it| it.sense.senses_click() && it.interact_rect.contains(at))
        })
    }

    /// The egui that it paints with.
    pub(crate) fn context(&self) -> &egui::Context {
        &self.interface.context
    }

    /// Queues pictures that are newer than those it holds; waits for nothing.
    pub(crate) fn update(&mut self, frame: &Frame<'_>, source: &dyn PictureSource) {
        let Some(status) = &frame.app.status else {
            return;
        };
        let colour_by = frame.colour_by(self.max_side).unwrap_or_default();
        let only = frame.app.single_instance();
        self.panels.update(
            status.lattices.instances,
            status.lattices.size,
            source,
            only,
            colour_by,
        );
    }

    /// Draws a frame into `target` without its dialogs, with an egui of its own: in the window's, a
    /// pass without them would have it forget that they are open, and the next click would go
    /// through them.
    pub(crate) fn draw_for_capture(&mut self, frame: &Frame<'_>, target: &wgpu::TextureView) {
        let capture = self.capture.take();
        let capture = capture.unwrap_or_else(|| Interface::new(&self.device, self.format));
        let own = std::mem::replace(&mut self.interface, capture);
        let (mut none, nothing) = (Dialogs::default(), egui::RawInput::default());
        self.draw(frame, &mut none, nothing, target);
        self.capture = Some(std::mem::replace(&mut self.interface, own));
    }

    /// Draws a frame into `target`, with the dialogs that are open and what a person did since the
    /// last one.
    pub(crate) fn draw(
        &mut self,
        frame: &Frame<'_>,
        dialogs: &mut Dialogs,
        mut input: egui::RawInput,
        target: &wgpu::TextureView,
    ) -> FrameOutput {
        let (palette, pixels_per_point) = (frame.palette(), frame.pixels_per_point());
        let Interface {
            context,
            overlay,
            styled,
        } = &mut self.interface;
        if styled.replace(palette) != Some(palette) {
            style::apply_style(context, &palette);
        }
        // egui drops all letters where this changes: with points of another size, and with a dialog that closes.
        let others = (50.0 * pixels_per_point) as u32 * 2 + u32::from(dialogs.takes_keys());
        let side = MAX_LETTERS_SIDE.min(self.max_side) - others;
        input.max_texture_side = Some(side as usize);
        let place = frame.layout();
        let mut output = paint_over(context, frame, place.as_ref(), dialogs, input);
        let shapes = std::mem::take(&mut output.shapes);
        // As [`egui::Context::tessellate`] does it, which goes through all shapes once more for statistics.
        let letters = context.fonts(|fonts| fonts.font_image_size());
        let scale = output.pixels_per_point;
        let mut tessellator = Tessellator::new(scale, Default::default(), letters, Vec::new());
        let meshes = tessellator.tessellate_shapes(shapes);
        if let (Some((layout, transform)), Some(status)) = (&place, &frame.app.status) {
            self.panels.prepare(&PanelsInput {
                pixels: frame.pixels,
                tiling: layout.tiling,
                grid: (status.lattices.instances, status.lattices.size),
                transform: *transform,
                only: frame.app.single_instance(),
                number_of: &|instance| status.number_of(instance),
                options: &frame.app.options,
                minimap: over_panels::minimap(frame.app, layout),
                docked: layout.docked().collect(),
            });
        }
        let screen = egui_wgpu::ScreenDescriptor {
            size_in_pixels: frame.pixels,
            pixels_per_point,
        };
        let (device, queue) = (&self.device, &self.queue);
        let mut encoder = device.create_command_encoder(&Default::default());
        let mut deltas = output.textures_delta;
        for (id, deltas) in deltas.set.drain() {
            for delta in deltas {
                overlay.update_texture(device, queue, id, &delta);
            }
        }
        let extra = overlay.update_buffers(device, queue, &mut encoder, &meshes, &screen);
        {
            let pass = gpu::begin_pass(&mut encoder, target, outside(&frame.app.options));
            let mut pass = pass.forget_lifetime();
            if place.is_some() {
                self.panels.draw(&mut pass);
            }
            overlay.render(&mut pass, &meshes, &screen);
        }
        let submission = queue.submit(extra.into_iter().chain([encoder.finish()]));
        for id in deltas.free.drain() {
            overlay.free_texture(&id);
        }
        let viewport = output.viewport_output.get(&egui::ViewportId::ROOT);
        FrameOutput {
            submission,
            again: viewport.map_or(Duration::MAX, |viewport| viewport.repaint_delay),
            platform: output.platform_output,
        }
    }
}
