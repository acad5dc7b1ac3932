//! An egui context, its renderer, and its last output, which is drawn again while nothing that it
//! depends on has changed. At hundreds of frames per second most frames differ only in the cells,
//! and laying out and tessellating text would be most of a frame's CPU time.

use std::time::Duration;

use crate::view::Frame;
use crate::view::dialogs::{Dialogs, style};
use crate::view::hud;
use crate::view::layout::WindowLayout;
use crate::view::timeline::TimelineKey;
use lang::Language;
use session::Status;
use ui::theme::Palette;
use ui::{CodeEditor, Drawing, SidePanel, Tool, ViewOptions, ViewTransform};

/// See the module.
pub(super) struct Interface {
    pub(super) context: egui::Context,
    pub(super) overlay: egui_wgpu::Renderer,
    /// How large points are, and the colours that egui's style is made for.
    styled: Option<(f32, Palette<egui::Color32>)>,
    /// Whether a dialog was open in the last frame.
    had_dialog: bool,
    /// The largest side of the texture of letters.
    letters_side: u32,
    /// What can be drawn again.
    pub(super) painted: Option<CachedUi>,
}

/// The largest side of the texture of letters, or one less: egui drops all letters that it has made
/// where that changes. Without a bound it would take what the GPU can, at 16,384 pixels 1 GiB.
const MAX_LETTERS_SIDE: u32 = 4096;

/// An interface that was laid out and tessellated, and is in the buffers of what draws it.
pub(super) struct CachedUi {
    /// What it depends on; `None` if the next frame may differ even with an equal key.
    key: Option<CacheKey>,
    /// Where everything stands.
    pub(super) place: Option<(WindowLayout, ViewTransform)>,
    /// What is drawn.
    pub(super) meshes: Vec<egui::ClippedPrimitive>,
    /// egui's platform output, without one-time commands.
    pub(super) platform: egui::PlatformOutput,
}

/// Everything that an interface without dialogs, lessons and the population graph is made from.
#[derive(PartialEq)]
pub(super) struct CacheKey {
    status: Option<Status>,
    options: ViewOptions,
    drawing: Drawing,
    language: Language,
    timeline: TimelineKey,
    editor: CodeEditor,
    tool: Tool,
    pixels: [u32; 2],
    scale: f32,
    focused: bool,
}

impl CacheKey {
    /// That of a frame, or `None` if the frame shows something that the key does not cover.
    pub(super) fn of(
        frame: &Frame<'_>,
        dialogs: &Dialogs,
        input: &egui::RawInput,
    ) -> Option<CacheKey> {
        let sources = frame.sources;
        let hand = sources.edit_overlay?;
        let marked = hand.selection.is_some()
            || hand.ghost.is_some()
            || hand.pointed.is_some()
            || !hand.pending.is_empty();
        let is_covered = !dialogs.takes_keys()
            && !marked
            && sources.lesson.is_none()
            && sources.options.side != Some(SidePanel::Population);
        is_covered.then(|| CacheKey {
            status: sources.status.cloned(),
            options: sources.options.clone(),
            drawing: sources.drawing.clone(),
            language: lang::language(),
            timeline: frame.timeline.shown(),
            editor: frame.editor.clone(),
            tool: hand.tool,
            pixels: frame.pixels,
            scale: frame.scale,
            focused: input.focused,
        })
    }
}

impl CachedUi {
    /// Caches a painted interface; `again` is egui's repaint delay.
    pub(super) fn new(
        key: Option<CacheKey>,
        place: Option<(WindowLayout, ViewTransform)>,
        again: Duration,
        meshes: Vec<egui::ClippedPrimitive>,
        platform: &egui::PlatformOutput,
    ) -> CachedUi {
        let mut platform = platform.clone();
        platform.commands.clear();
        platform.events.clear();
        platform.accesskit_update = None;
        if let Some(ime) = &mut platform.ime {
            ime.should_interrupt_composition = false;
        }
        CachedUi {
            key: key.filter(|_| again == Duration::MAX),
            place,
            meshes,
            platform,
        }
    }

    /// Whether it is what a frame of this key would show.
    pub(super) fn is_current(&self, key: Option<&CacheKey>, input: &egui::RawInput) -> bool {
        let idle = input.events.is_empty()
            && input.hovered_files.is_empty()
            && input.dropped_files.is_empty();
        idle && key.is_some() && self.key.as_ref() == key
    }
}

impl Interface {
    /// For targets of this format.
    pub(super) fn new(device: &wgpu::Device, format: wgpu::TextureFormat) -> Interface {
        let options = egui_wgpu::RendererOptions {
            dithering: false,
            ..Default::default()
        };
        Interface {
            context: context(),
            overlay: egui_wgpu::Renderer::new(device, format, options),
            styled: None,
            had_dialog: false,
            letters_side: MAX_LETTERS_SIDE,
            painted: None,
        }
    }

    /// Makes egui's style fit a palette. Letters of points of another size, or of a dialog that was closed,
    /// are dropped.
    pub(super) fn prepare(
        &mut self,
        pixels_per_point: f32,
        palette: &Palette<egui::Color32>,
        has_dialog: bool,
    ) {
        let is_other_size = self
            .styled
            .is_some_and(|(before, _)| before != pixels_per_point);
        if is_other_size || self.had_dialog && !has_dialog {
            self.letters_side = 2 * MAX_LETTERS_SIDE - 1 - self.letters_side;
        }
        self.had_dialog = has_dialog;
        let wanted = Some((pixels_per_point, *palette));
        if wanted != self.styled {
            self.styled = wanted;
            style::apply_style(&self.context, palette);
        }
    }

    /// The largest side of the texture of letters on a GPU that has textures of this side.
    pub(super) fn letters_side(&self, most: u32) -> usize {
        self.letters_side.min(most) as usize
    }
}

/// An egui with the program's type.
pub(crate) fn context() -> egui::Context {
    let context = egui::Context::default();
    hud::install_fonts(&context);
    context.options_mut(|options| options.zoom_with_keyboard = false);
    context
}
