//! The session in a terminal: panels of half blocks or Braille dots, a line of figures, the
//! timeline as bars of text, cards over it all.
//!
//! What the window draws with pixels stands here in characters: the same camera (its pixels are
//! half a character high, so that they are square), the same palettes, the same chart of a timed
//! round. Nothing here knows a real terminal: everything is painted into ratatui's buffer, of which
//! only what has changed travels.

mod cards;
mod colours;
mod glyphs;
mod layout;
mod picture_cache;
mod text;
mod timeline;

#[cfg(test)]
mod tests;

use ratatui::buffer::Buffer;
use ratatui::layout::Constraint::{Fill, Length};
use ratatui::layout::{Layout, Rect};

use crate::keys::Field;
use life::Size;
use session::{PicturePlan, PictureSource, Status};
use ui::{Screen, Sources, TextureLimits, ViewOptions, ViewTransform, request};

pub use colours::ColourDepth;
pub use glyphs::Glyphs;
use glyphs::{Dots, Paint};
pub(crate) use layout::TerminalLayout;
use picture_cache::PictureCache;

/// The fewest columns and rows of a terminal that is of use.
pub(crate) const MIN_TERMINAL_SIZE: [u16; 2] = [32, 10];

/// The terminal has no textures, so there is no limit.
const LIMITS: TextureLimits = TextureLimits {
    side: 1 << 20,
    layers: 1 << 16,
};

/// What a frame is made from, but the pictures: what is on screen, and what that was made from.
#[derive(Clone, Copy)]
pub struct TerminalFrame<'a> {
    /// What is on screen.
    pub screen: &'a Screen,
    /// What that was made from.
    pub sources: Sources<'a>,
}

/// What only the terminal's painter knows; it outlives every frame.
#[derive(Debug)]
pub struct TerminalView {
    /// The keys, or the field for a value, while it is open over all else.
    pub field: Option<Field>,
    glyphs: Glyphs,
    depth: ColourDepth,
    picture_cache: PictureCache,
    /// The first line of a card that is shown, where a card is longer than the screen.
    pub(crate) scroll: usize,
}

impl TerminalView {
    /// With nothing to show yet.
    pub fn new(glyphs: Glyphs, depth: ColourDepth) -> TerminalView {
        TerminalView {
            field: None,
            glyphs,
            depth,
            picture_cache: PictureCache::default(),
            scroll: 0,
        }
    }

    /// Takes over what is newer; waits for nothing.
    pub fn update(&mut self, frame: &TerminalFrame<'_>, source: &dyn PictureSource) {
        if let Some(status) = frame.sources.status {
            self.picture_cache
                .update(status.lattices.instances, status.lattices.size, source);
        }
    }

    /// What the session should send for a terminal of this size; nothing where it is too small.
    pub fn request(&self, frame: &TerminalFrame<'_>, area: Rect) -> Option<PicturePlan> {
        let (status, places) = (frame.sources.status?, places(frame, area)?);
        let (transform, dots) =
            self.target_transform(frame.sources.options, status.lattices.size, &places);
        let panel = dots.of(places.panel);
        // Bits only where they are fewer bytes than the dots would be, or where they are asked for.
        let dots = status.lattices.instances as u64 * u64::from(panel[0]) * u64::from(panel[1]);
        let size = (status.lattices.size, status.lattices.instances);
        Some(request(
            size,
            (transform, panel),
            frame.sources.single_instance(),
            (status.setting.switches.transfer, dots),
            LIMITS,
        ))
    }

    /// Paints a frame; a session that has not started yet has no status.
    pub fn paint(&mut self, frame: &TerminalFrame<'_>, area: Rect, buffer: &mut Buffer) {
        if area.width < MIN_TERMINAL_SIZE[0] || area.height < MIN_TERMINAL_SIZE[1] {
            layout::too_small(area, buffer);
        } else if let (Some(status), Some(places)) = (frame.sources.status, places(frame, area)) {
            self.paint_panels(frame, status, &places, buffer);
            if let Some((contents, place)) = &places.timeline {
                timeline::paint(frame.screen, self.depth, contents, *place, buffer);
            }
            layout::paint(self.depth, frame, status, &places, buffer);
            let [lecture, body, _] = area.layout(&Layout::vertical([
                Length(places.lecture.len() as u16),
                Fill(1),
                Length(places.hud.height),
            ]));
            let accent = self.depth.text(colours::PALETTE.accent);
            layout::paint_lines(&places.lecture, accent, lecture, buffer);
            cards::paint(self, frame, body, buffer);
            layout::paint_notice(self.depth, frame, &places, buffer);
        }
        if self.glyphs == Glyphs::Ascii {
            glyphs::to_ascii(area, buffer);
        }
    }

    /// Whether a card covers the panels.
    pub fn has_card(&self, sources: &Sources<'_>) -> bool {
        self.field.is_some() || sources.options.side.is_some() || sources.lesson.is_some()
    }

    /// What the panels show, in dots of the kind that suits.
    fn target_transform(
        &self,
        options: &ViewOptions,
        size: Size,
        places: &TerminalLayout,
    ) -> (ViewTransform, Dots) {
        let pixels = places.pixels();
        let transform = options.camera.target_transform(size, pixels);
        let dots = self.glyphs.dots(transform.scale);
        let scale = transform.scale * dots.across as f64;
        (ViewTransform { scale, ..transform }, dots)
    }

    fn paint_panels(
        &self,
        frame: &TerminalFrame<'_>,
        status: &Status,
        places: &TerminalLayout,
        buffer: &mut Buffer,
    ) {
        let (transform, dots) =
            self.target_transform(frame.sources.options, status.lattices.size, places);
        let mut densities = Vec::new();
        for panel in &places.panels {
            let pixels = dots.of([panel.rect.width, panel.rect.height]);
            self.picture_cache
                .sample(panel.instance, transform, pixels, &mut densities);
            let paint = Paint {
                dots,
                depth: self.depth,
                options: frame.sources.options,
                number: status.number_of(panel.instance),
                scale: transform.scale,
            };
            paint.panel(&densities, panel.rect, buffer);
            layout::paint_label(status, panel, self.depth, buffer);
        }
    }
}

/// Where everything stands, if the terminal is large enough.
pub(crate) fn places(frame: &TerminalFrame<'_>, area: Rect) -> Option<TerminalLayout> {
    if area.width < MIN_TERMINAL_SIZE[0] || area.height < MIN_TERMINAL_SIZE[1] {
        return None;
    }
    Some(TerminalLayout::new(area, frame, frame.sources.status?))
}
