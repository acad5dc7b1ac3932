//! Draws a whole frame into any texture: panels, and the interface over and beside them.

use std::time::{Duration, Instant};

use crate::view::dialogs::{Dialogs, UiRequest};
use crate::view::frame::{Frame, paint_over};
use crate::view::interface::{CacheKey, CachedUi, Interface};
use crate::view::layout::{PixelRect, WindowLayout};
use crate::view::panels::{Panels, PanelsInput, outside};
use crate::view::texture_array::{texture_limits, validate_instance_count};
use crate::view::{Gpu, ViewError, minimap};
use session::PictureSource;
use ui::{TextureLimits, ViewTransform};

/// The output of a frame besides its picture.
pub(crate) struct FrameOutput {
    pub submission: wgpu::SubmissionIndex,
    /// The processor time that layout, egui and tessellation took.
    pub spent: Duration,
    /// What its widgets asked for.
    pub requests: Vec<UiRequest>,
    /// What egui wants of the window: cursor, clipboard, input method.
    pub platform: egui::PlatformOutput,
    /// When to draw again without input (egui's repaint delay).
    pub again: Duration,
}

/// A frame's interface, ready to be drawn.
struct Paint {
    painted: CachedUi,
    requests: Vec<UiRequest>,
    platform: egui::PlatformOutput,
    again: Duration,
    /// Texture updates; `None` if the last frame is reused.
    deltas: Option<egui::TexturesDelta>,
}

impl Paint {
    /// Reuses the last one.
    fn again(painted: CachedUi) -> Paint {
        Paint {
            platform: painted.platform.clone(),
            painted,
            requests: Vec::new(),
            again: Duration::MAX,
            deltas: None,
        }
    }
}

/// What draws frames; lives as long as the device.
pub(crate) struct Scene {
    device: wgpu::Device,
    queue: wgpu::Queue,
    /// The largest textures that the device makes.
    pub limits: TextureLimits,
    panels: Panels,
    format: wgpu::TextureFormat,
    interface: Interface,
    /// The interface for off-screen captures: see [`Scene::draw_for_capture`].
    capture: Option<Interface>,
}

impl Scene {
    /// For targets of this format (not an sRGB one: egui blends in sRGB).
    pub(crate) fn new(gpu: &Gpu, format: wgpu::TextureFormat) -> Scene {
        let limits = texture_limits(&gpu.device.limits());
        Scene {
            limits,
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

    /// Whether a screen reader is there, which the interface is described to from the next frame on.
    pub(crate) fn set_read(&mut self, is_read: bool) {
        if is_read {
            self.interface.context.enable_accesskit();
        } else {
            self.interface.context.disable_accesskit();
        }
        self.interface.painted = None;
    }

    /// Forgets what egui has kept of former frames, but its type.
    #[cfg(test)]
    pub(crate) fn forget(&mut self) {
        self.interface.painted = None;
        self.interface.context.memory_mut(|memory| {
            memory.data.clear();
            memory.reset_areas();
        });
    }

    /// The number of the last edit that an instance's newest picture shows.
    pub(crate) fn shown_edit(&self, instance: usize) -> u64 {
        self.panels.shown_edit(instance)
    }

    /// Queues pictures that are newer than those it holds; waits for nothing.
    pub(crate) fn update(
        &mut self,
        frame: &Frame<'_>,
        source: &dyn PictureSource,
    ) -> Result<(), ViewError> {
        let Some(status) = frame.sources.status else {
            return Ok(());
        };
        validate_instance_count(status.lattices.instances, self.limits)?;
        let colour_by = frame.colour_by(self.limits).unwrap_or_default();
        let only = frame.sources.single_instance();
        self.panels.update(
            status.lattices.instances,
            status.lattices.size,
            source,
            only,
            colour_by,
        );
        Ok(())
    }

    /// How many of the frame's panels have no picture yet.
    pub(crate) fn missing(&self, frame: &Frame<'_>) -> usize {
        self.panels.missing(frame.sources.single_instance())
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

    /// Frees what captures need; the next one makes it anew.
    pub(crate) fn end_captures(&mut self) {
        self.capture = None;
    }

    /// The bytes of textures and meshes that the interface holds.
    #[cfg(test)]
    fn held_bytes(&self) -> usize {
        let bytes = |interface: &Interface| {
            let letters = interface.context.fonts(|fonts| fonts.font_image_size());
            let painted = interface.painted.iter();
            let meshes = painted.flat_map(|painted| &painted.meshes);
            let mesh = |mesh: &egui::ClippedPrimitive| match &mesh.primitive {
                egui::epaint::Primitive::Mesh(mesh) => mesh.bytes_used(),
                egui::epaint::Primitive::Callback(_) => 0,
            };
            4 * letters[0] * letters[1] + meshes.map(mesh).sum::<usize>()
        };
        bytes(&self.interface) + self.capture.as_ref().map_or(0, bytes)
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
        let begun = Instant::now();
        let has_dialog = dialogs.takes_keys();
        self.interface
            .prepare(frame.pixels_per_point(), &frame.palette(), has_dialog);
        input.max_texture_side = Some(self.interface.letters_side(self.limits.side));
        let painted = self.interface.painted.take();
        let key = CacheKey::of(frame, dialogs, &input);
        let again = painted.filter(|painted| painted.is_current(key.as_ref(), &input));
        let place = match &again {
            Some(painted) => painted.place,
            None => frame.layout(),
        };
        let laid_out = begun.elapsed();
        if let (Some((layout, _)), Some(status)) = (&place, frame.sources.status) {
            self.panels.prepare(&PanelsInput {
                pixels: frame.pixels,
                tiling: layout.tiling,
                grid: (status.lattices.instances, status.lattices.size),
                transform: frame
                    .sources
                    .options
                    .camera
                    .shown(status.lattices.size, layout.tiling.panel),
                only: frame.sources.single_instance(),
                number_of: &|instance| status.number_of(instance),
                options: frame.sources.options,
                minimap: minimap::minimap(frame, layout),
                backgrounds: &backgrounds(layout),
            });
        }
        let began = Instant::now();
        let Paint {
            painted,
            requests,
            platform,
            again,
            deltas,
        } = match again {
            Some(painted) => Paint::again(painted),
            None => self.paint(frame, key, place, dialogs, input),
        };
        let spent = laid_out + began.elapsed();
        let screen = egui_wgpu::ScreenDescriptor {
            size_in_pixels: frame.pixels,
            pixels_per_point: frame.pixels_per_point(),
        };
        let mut encoder = self.device.create_command_encoder(&Default::default());
        let mut extra = Vec::new();
        let mut freed = Vec::new();
        if let Some(mut deltas) = deltas {
            for (id, deltas) in deltas.set.drain() {
                for delta in deltas {
                    let overlay = &mut self.interface.overlay;
                    overlay.update_texture(&self.device, &self.queue, id, &delta);
                }
            }
            freed.extend(deltas.free.drain());
            extra = self.interface.overlay.update_buffers(
                &self.device,
                &self.queue,
                &mut encoder,
                &painted.meshes,
                &screen,
            );
        }
        {
            let mut pass =
                begin_pass(&mut encoder, target, outside(frame.sources.options)).forget_lifetime();
            if place.is_some() {
                self.panels.draw(&mut pass);
            }
            let overlay = &self.interface.overlay;
            overlay.render(&mut pass, &painted.meshes, &screen);
        }
        let submission = self
            .queue
            .submit(extra.into_iter().chain([encoder.finish()]));
        for id in freed {
            self.interface.overlay.free_texture(&id);
        }
        self.interface.painted = Some(painted);
        FrameOutput {
            submission,
            spent,
            requests,
            platform,
            again,
        }
    }

    /// Lays out and tessellates the interface.
    fn paint(
        &mut self,
        frame: &Frame<'_>,
        key: Option<CacheKey>,
        place: Option<(WindowLayout, ViewTransform)>,
        dialogs: &mut Dialogs,
        input: egui::RawInput,
    ) -> Paint {
        let palette = frame.palette();
        let context = &self.interface.context;
        let frame = &frame.composed();
        let (mut output, requests) =
            paint_over(context, frame, &palette, place.as_ref(), dialogs, input);
        let again = output.viewport_output.get(&egui::ViewportId::ROOT);
        let again = again.map_or(Duration::MAX, |viewport| viewport.repaint_delay);
        let shapes = std::mem::take(&mut output.shapes);
        let meshes = context.tessellate(shapes, output.pixels_per_point);
        let platform = output.platform_output;
        Paint {
            painted: CachedUi::new(key, place, again, meshes, &platform),
            requests,
            platform,
            again,
            deltas: Some(output.textures_delta),
        }
    }
}

/// Where something stands on the HUD's background.
fn backgrounds(layout: &WindowLayout) -> Vec<PixelRect> {
    let side = layout.side.map(|(_, rect)| rect);
    let docked = [
        layout.timeline,
        side,
        layout.toolbar,
        layout.lecture,
        layout.lesson,
        layout.dock.rect(),
    ];
    docked.into_iter().flatten().collect()
}

pub(crate) fn begin_pass<'a>(
    encoder: &'a mut wgpu::CommandEncoder,
    target: &wgpu::TextureView,
    background: [f32; 4],
) -> wgpu::RenderPass<'a> {
    let [r, g, b, _] = background.map(f64::from);
    encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        label: Some("frame"),
        color_attachments: &[Some(wgpu::RenderPassColorAttachment {
            view: target,
            depth_slice: None,
            resolve_target: None,
            ops: wgpu::Operations {
                load: wgpu::LoadOp::Clear(wgpu::Color { r, g, b, a: 1.0 }),
                store: wgpu::StoreOp::Store,
            },
        })],
        ..Default::default()
    })
}

#[cfg(test)]
mod tests;
