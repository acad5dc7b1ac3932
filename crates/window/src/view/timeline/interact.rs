//! What the mouse does to the timeline.

use crate::view::layout::WindowLayout;
use crate::view::timeline::{TimelineLayout, TimelineView};

impl TimelineView {
    /// The mouse is here, or nowhere over the timeline; whether that shows.
    pub fn hover(&mut self, at: Option<[f64; 2]>) -> bool {
        let before = std::mem::replace(&mut self.pointer, at);
        before != self.pointer
    }

    /// Whether a block of the multiprocessors' rows is under this point.
    #[cfg(test)]
    pub(crate) fn is_over_a_block(
        &self,
        at: [f64; 2],
        layout: &WindowLayout,
        status: &session::Status,
    ) -> bool {
        let (Some(places), Some(chart)) = (TimelineLayout::of(layout), self.chart()) else {
            return false;
        };
        let scale = self.scale(places.lanes);
        super::sm_map::hit_test(layout.point(at), &places, status, chart, scale).is_some()
    }

    /// Closer by a factor, about this point.
    pub fn zoom(&mut self, factor: f64, at: [f64; 2], layout: &WindowLayout) {
        if let Some(places) = TimelineLayout::of(layout) {
            let x = layout
                .point(at)
                .x
                .clamp(places.lanes.left(), places.lanes.right());
            let about = self.scale(places.lanes).ns(x);
            let whole = self.whole();
            self.zoom.zoom_at(factor, about, whole);
        }
    }

    /// Moves what is shown by so many pixels to the right.
    pub fn pan(&mut self, pixels: f64, layout: &WindowLayout) {
        if let Some(places) = TimelineLayout::of(layout) {
            let ns =
                -pixels / f64::from(layout.pixels_per_point) * self.scale(places.lanes).per_pixel();
            let whole = self.whole();
            self.zoom.pan(ns, whole);
        }
    }

    /// Shows the whole round.
    pub fn fit(&mut self) {
        self.zoom.fit();
    }

    /// Freezes the round that is shown, or goes on.
    pub fn toggle_frozen(&mut self) {
        self.frozen ^= true;
    }
}
