//! Draws a whole frame into any texture: panels, and the interface over and beside them.

use std::time::{Duration, Instant};

use crate::cell_ages::unavailable_reason;
use crate::dialogs::{DialogContext, Dialogs, UiRequest};
use crate::hud::style::{ThemedPainter, opaque};
use crate::interface::{CacheKey, CachedUi, Interface};
use crate::layout::{self, LayoutRequest, PixelRect, WindowLayout, lay_out};
use crate::panels::{Panels, PanelsInput, ViewTransforms, outside};
use crate::texture_array::{texture_limits, validate_instance_count};
use crate::timeline::sm_count as timeline_sm_count;
use crate::{Gpu, LabView, TimelineView, ViewError, callouts, hit_regions, hud, minimap};
use model::PictureSource;
use model::{PicturePlan, Status, Switches, TransferChoice};
use screen::theme::Palette;
use screen::{
    ColourBy, EditOverlay, Screen, Sources, TextureLimits, ViewTransform, WindowFacts, request,
};

/// Everything a frame is made from, but the pictures: what is on screen, what only this painter
/// knows, and the target.
pub struct Frame<'a> {
    /// What is on screen.
    pub screen: Screen,
    /// What that was made from.
    pub sources: Sources<'a>,
    /// Shown where [`ViewOptions::timeline`](screen::ViewOptions) says so.
    pub timeline: &'a TimelineView,
    /// Shown where [`ViewOptions::side`](screen::ViewOptions) says so.
    pub lab: &'a LabView,
    /// What a person's hand has put over the panels.
    pub edit_overlay: &'a EditOverlay,
    /// The target's size in pixels.
    pub pixels: [u32; 2],
    /// Pixels per point.
    pub scale: f32,
}

impl Frame<'_> {
    /// With its screen composed from its sources, for a picture or two; whoever draws many frames
    /// keeps a [`Composer`](screen::Composer).
    pub fn composed(self) -> Self {
        let sources = Sources {
            window: Some(self.window_facts()),
            ..self.sources
        };
        Frame {
            screen: Screen::of(sources),
            sources,
            ..self
        }
    }

    /// What its screen is to be composed from, beside what is known without a window.
    pub fn window_facts(&self) -> WindowFacts {
        WindowFacts {
            tool: self.edit_overlay.tool,
            is_pasting: self.edit_overlay.ghost.is_some(),
            panel: self.layout().map(|(layout, _)| layout.tiling.panel),
        }
    }

    /// What the window is to hold beside panels and HUD: by the settings, not by what was
    /// measured, so that nothing moves from round to round.
    fn layout_request(&self, status: &Status) -> LayoutRequest {
        let timeline = self.sources.options.timeline;
        let comparison = status
            .lab
            .comparison
            .as_ref()
            .map(|comparison| comparison.each);
        LayoutRequest {
            // As high as a lane for each instance needs, whatever the streams: F2 moves nothing.
            lanes: timeline.then_some(status.lattices.instances),
            sm_count: (timeline && status.lab.block_timestamps).then(|| timeline_sm_count(status)),
            side: self.sources.options.side,
            toolbar: true,
            callouts: callouts::are_shown(self, status),
            lesson: self.sources.lesson.is_some(),
            presentation: self.sources.options.presentation,
            zoom: self.sources.options.interface_scale,
            comparison: comparison.filter(|_| self.sources.single_instance().is_none()),
        }
    }

    /// Pixels of one unit of type and spacing.
    pub fn unit(&self) -> f32 {
        layout::unit(
            self.pixels,
            self.scale,
            self.sources.options.interface_scale,
        )
    }

    /// The colours to paint it in.
    pub(crate) fn palette(&self) -> Palette<egui::Color32> {
        screen::theme::palette(self.sources.options.theme).map(opaque)
    }

    /// What the panels of a layout show, while cameras glide too.
    fn transforms(&self, status: &Status, layout: &WindowLayout) -> ViewTransforms {
        let panel = layout.tiling.panel;
        let transform = |instance| {
            self.sources
                .camera_of(instance)
                .shown(status.lattices.size, panel)
        };
        if self.sources.is_separate() {
            ViewTransforms::Each((0..status.lattices.instances).map(transform).collect())
        } else {
            ViewTransforms::One(transform(self.sources.camera_instance()))
        }
    }

    /// What decides colours here, or why it is not what was asked for, in one sentence.
    pub fn colour_by(&self, limits: TextureLimits) -> Result<ColourBy, String> {
        let Some(status) = self.sources.status else {
            return Ok(ColourBy::State);
        };
        let mode = self.sources.options.colour_by;
        unavailable_reason(
            mode,
            status.lattices.instances,
            status.lattices.size,
            status.setting.transfer,
            limits,
        )
        .map_or(Ok(mode), Err)
    }

    /// Where everything stands, and what the leading panel will show when no camera glides any
    /// more: that is what is asked of the session.
    pub fn layout(&self) -> Option<(WindowLayout, ViewTransform)> {
        let status = self.sources.status?;
        let panels = self
            .sources
            .single_instance()
            .map_or(status.lattices.instances, |_| 1);
        let request = self.layout_request(status);
        let layout = lay_out(
            self.pixels,
            self.scale,
            panels,
            status.lattices.size,
            &request,
        );
        Some((
            layout,
            self.sources
                .camera_of(self.sources.camera_instance())
                .target_transform(status.lattices.size, layout.tiling.panel),
        ))
    }

    /// What the session should send for it.
    pub fn request(&self, limits: TextureLimits) -> Option<PicturePlan> {
        let (status, (layout, transform)) = (self.sources.status?, self.layout()?);
        Some(request(
            (status.lattices.size, status.lattices.instances),
            (transform, layout.tiling.panel),
            self.sources.single_instance(),
            (requested_transfer(status), PicturePlan::MAX_AUTO_BITS_BYTES),
            limits,
        ))
    }
}

/// The transfer to request. During a comparison, the reduced view if A or B uses it, because only
/// the drawing side knows its region.
fn requested_transfer(status: &Status) -> TransferChoice {
    let requested = status.setting.switches.transfer;
    let both = status
        .lab
        .comparison
        .as_ref()
        .map(|comparison| comparison.switches);
    let view = |switches: Switches| switches.transfer == TransferChoice::View;
    match both {
        Some(both) if both.into_iter().any(view) => TransferChoice::View,
        Some([first, _]) => first.transfer,
        None => requested,
    }
}

/// The output of a frame besides its picture.
pub struct FrameOutput {
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
pub struct Scene {
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
    pub fn new(gpu: &Gpu, format: wgpu::TextureFormat) -> Scene {
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

    /// Which place of the last frame answers the mouse here, if one does.
    pub fn hit_region_at(&self, [x, y]: [f64; 2]) -> Option<usize> {
        hit_regions::at(&self.interface.context, egui::pos2(x as f32, y as f32))
    }

    /// Whether a button of the last frame stands here.
    pub fn has_button_at(&self, [x, y]: [f64; 2]) -> bool {
        hit_regions::has_button_at(&self.interface.context, egui::pos2(x as f32, y as f32))
    }

    /// The egui that it paints with.
    pub fn context(&self) -> &egui::Context {
        &self.interface.context
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
    pub fn shown_edit(&self, instance: usize) -> u64 {
        self.panels.shown_edit(instance)
    }

    /// Queues pictures that are newer than those it holds; waits for nothing.
    pub fn update(
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
    pub fn missing(&self, frame: &Frame<'_>) -> usize {
        self.panels.missing(frame.sources.single_instance())
    }

    /// Draws a frame into `target` without its dialogs, with an egui of its own: in the window's, a
    /// pass without them would have it forget that they are open, and the next click would go
    /// through them.
    pub fn draw_for_capture(&mut self, frame: &Frame<'_>, target: &wgpu::TextureView) {
        let capture = self.capture.take();
        let capture = capture.unwrap_or_else(|| Interface::new(&self.device, self.format));
        let own = std::mem::replace(&mut self.interface, capture);
        let (mut none, nothing) = (Dialogs::default(), egui::RawInput::default());
        self.draw(frame, &mut none, nothing, target);
        self.capture = Some(std::mem::replace(&mut self.interface, own));
    }

    /// Draws a frame into `target`, with the dialogs that are open and what a person did since the
    /// last one.
    pub fn draw(
        &mut self,
        frame: &Frame<'_>,
        dialogs: &mut Dialogs,
        input: egui::RawInput,
        target: &wgpu::TextureView,
    ) -> FrameOutput {
        let begun = Instant::now();
        let input = self.input(input);
        let painted = self.interface.painted.take();
        let again = painted.filter(|painted| painted.is_current(frame, dialogs, &input));
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
                transforms: &frame.transforms(status, layout),
                only: frame.sources.single_instance(),
                options: frame.sources.options,
                minimaps: &minimap::minimaps(frame, layout),
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
            None => self.paint(frame, place, dialogs, input),
        };
        let spent = laid_out + began.elapsed();
        let screen = egui_wgpu::ScreenDescriptor {
            size_in_pixels: frame.pixels,
            pixels_per_point: 1.0,
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
        place: Option<(WindowLayout, ViewTransform)>,
        dialogs: &mut Dialogs,
        input: egui::RawInput,
    ) -> Paint {
        let palette = frame.palette();
        self.interface.apply_style(frame.unit(), &palette);
        let context = &self.interface.context;
        let focused = input.focused;
        let (mut output, requests) =
            paint_over(context, frame, &palette, place.as_ref(), dialogs, input);
        let again = output.viewport_output.get(&egui::ViewportId::ROOT);
        let again = again.map_or(Duration::MAX, |viewport| viewport.repaint_delay);
        let shapes = std::mem::take(&mut output.shapes);
        let meshes = context.tessellate(shapes, 1.0);
        let platform = output.platform_output;
        let sources = CacheKey::of(frame, dialogs, focused);
        Paint {
            painted: CachedUi::new(sources, place, again, meshes, &platform),
            requests,
            platform,
            again,
            deltas: Some(output.textures_delta),
        }
    }

    /// egui works in pixels here: the layout has its own unit of type. Whoever collects input has
    /// set its zoom so that a monitor's scale is taken out again.
    fn input(&self, mut input: egui::RawInput) -> egui::RawInput {
        input.max_texture_side = Some(self.limits.side as usize);
        if let Some(viewport) = input.viewports.get_mut(&egui::ViewportId::ROOT) {
            viewport.native_pixels_per_point = Some(1.0 / self.interface.context.zoom_factor());
        }
        input
    }
}

/// Where something stands on the HUD's background.
fn backgrounds(layout: &WindowLayout) -> Vec<PixelRect> {
    let side = layout.side.map(|(_, rect)| rect);
    let docked = [
        layout.timeline,
        side,
        layout.toolbar,
        layout.callouts,
        layout.lesson,
        layout.dock.rect(),
    ];
    docked.into_iter().flatten().collect()
}

/// An egui with the program's type.
pub(crate) fn context() -> egui::Context {
    let context = egui::Context::default();
    hud::install_fonts(&context);
    context.options_mut(|options| options.zoom_with_keyboard = false);
    context
}

/// Lays out and paints everything of a frame but its cells, in these colours and a style that fits
/// its unit; what was asked for meanwhile.
pub(crate) fn paint_over(
    context: &egui::Context,
    frame: &Frame<'_>,
    palette: &Palette<egui::Color32>,
    place: Option<&(WindowLayout, ViewTransform)>,
    dialogs: &mut Dialogs,
    mut input: egui::RawInput,
) -> (egui::FullOutput, Vec<UiRequest>) {
    input.screen_rect = Some(screen(frame));
    let seen = DialogContext {
        frame,
        unit: frame.unit(),
        palette,
        screen: screen(frame),
        is_top: true,
    };
    let mut requests = Vec::new();
    let output = context.run_ui(input, |ui| {
        hit_regions::clear(ui.ctx());
        let painter = ui.ctx().layer_painter(egui::LayerId::background());
        hud::paint(&ThemedPainter::new(painter, palette), frame, place);
        // Where egui lays a frame out twice, only the first time knows of clicks and keys.
        requests.extend(dialogs.show(ui.ctx(), seen));
        if !dialogs.takes_keys() {
            hit_regions::show(ui, &mut requests);
        }
    });
    (output, requests)
}

fn screen(frame: &Frame<'_>) -> egui::Rect {
    let size = egui::vec2(frame.pixels[0] as f32, frame.pixels[1] as f32);
    egui::Rect::from_min_size(egui::Pos2::ZERO, size)
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
