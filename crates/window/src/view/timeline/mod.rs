//! The timeline under the panels: a lane per stream and one for the host, of one timed round; after
//! a change of a switch the round before it stands above, on the same axis, and what was found.
//!
//! `layout` has the places, `lanes` paints the rounds, `text` shows what stands around them, `sm_map` is
//! the second view: which SM ran which instance when.

mod lanes;
pub(crate) mod layout;
mod sm_map;
mod text;

#[cfg(test)]
mod tests;

use egui::Rect;

pub(crate) use lanes::paint_rounds;
pub(crate) use sm_map::sm_count;
pub(crate) use text::tone_colour;

use crate::view::Frame;
use crate::view::layout::WindowLayout;
use crate::view::widget_painter::WidgetPainter;
use layout::TimelineLayout;
use session::PictureSource;
use ui::code_editor::Race;
use ui::timeline::scale::{TimeScale, TimeZoom};
use ui::{Chart, Timeline};

/// What the timeline shows, and which part of it; it lives as long as the window, closed or not.
#[derive(Clone, Debug, Default)]
pub struct TimelineView {
    timeline: Timeline,
    /// A round with a race, which is shown in place of the timed ones.
    race: Option<Race>,
    zoom: TimeZoom,
    frozen: bool,
    /// The pixel under the mouse.
    pub(crate) pointer: Option<[f64; 2]>,
}

impl TimelineView {
    /// The rounds that it shows.
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// Takes over the newest timed round, if there is a newer one and it is not frozen. Waits for
    /// nothing; not to be called while the timeline is closed.
    pub fn update(&mut self, source: &dyn PictureSource) {
        if !self.frozen || !self.timeline.has_round() {
            self.timeline.update(source);
        }
    }

    /// Shows a round with a race in place of the timed ones, or these again.
    pub fn show_race(&mut self, race: Option<&Race>) {
        if self.race.as_ref() != race {
            self.race = race.cloned();
            self.zoom.fit();
        }
    }

    fn chart(&self) -> Option<&Chart> {
        let race = self.race.as_ref().map(|race| &race.chart);
        race.or(self.timeline.chart())
    }

    fn before(&self) -> Option<&Chart> {
        let before = self.timeline.before();
        before.filter(|_| self.race.is_none())
    }

    /// The axis' length in nanoseconds.
    fn whole(&self) -> f64 {
        let race = self.race.as_ref();
        race.map_or(self.timeline.axis_length(), |race| race.chart.data.whole)
    }

    /// The way from time to pixels in lanes that stand here.
    fn scale(&self, lanes: Rect) -> TimeScale {
        TimeScale::new(self.zoom.of(self.whole()), lanes.left(), lanes.width())
    }

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
        let places = TimelineLayout::of(layout);
        let map = places.and_then(|places| sm_map::SmMap::of(self, places, status));
        map.is_some_and(|map| map.hit(layout.point(at)).is_some())
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

/// Paints the timeline, if the window has room for it, and what the pointer is over anywhere near it.
pub(crate) fn paint(painter: &WidgetPainter, frame: &Frame<'_>, layout: &WindowLayout) {
    let (timeline, status) = (frame.timeline, frame.sources.status);
    let Some(places) = TimelineLayout::of(layout) else {
        return;
    };
    let line = (1.0, painter.palette.rule);
    painter.hline(places.all.x_range(), places.all.top() + 0.5, line);
    let rounds = lanes::shown_rounds(timeline, &places, status);
    text::show(painter, frame, &places, &rounds);
    lanes::paint(painter, &places, &rounds);
    let map = status.and_then(|status| sm_map::SmMap::of(timeline, places, status));
    if let Some(map) = &map {
        map.paint(painter);
    }
    let at = timeline.pointer.map(|at| layout.point(at));
    if let Some(at) = at.filter(|at| places.all.contains(*at)) {
        let block = map.and_then(|map| map.hit(at));
        let found = block.or_else(|| rounds.iter().find_map(|round| round.hit(at)));
        if let Some((lines, place)) = found {
            text::show_tip(painter, at, &lines, place);
        }
    }
}
