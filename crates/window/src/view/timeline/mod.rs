//! The timeline under the panels: a lane per stream and one for the host, of one timed round; after
//! a change of a switch the round before it stands above, on the same axis, and what was found. Beneath
//! the lanes may be a second view: which SM ran which instance when.
//!
//! `layout` has the places, `lanes` paints rows of bars, `text` shows what stands around them.

mod lanes;
pub(crate) mod layout;
mod text;

pub(crate) use lanes::paint_rounds;

use crate::view::layout::WindowLayout;
use crate::view::widgets::palette;
use egui::Ui;
use lanes::Strip;
use lang::tr;
use layout::{Rows, TimelineLayout};
use session::{PictureSource, Status};
use ui::code_editor::Race;
use ui::timeline::scale::{TimeScale, TimeZoom};
use ui::{Chart, Timeline};

/// The least height of a multiprocessor's row.
const MIN_SM_ROW: f32 = 2.0;

/// What the timeline shows, and which part of it; it lives as long as the window, closed or not.
#[derive(Clone, Debug, Default)]
pub struct TimelineView {
    /// The rounds that it shows.
    pub timeline: Timeline,
    /// A round with a race, which is shown in place of the timed ones.
    race: Option<Race>,
    pub(crate) zoom: TimeZoom,
    /// Whether the round that is shown stays.
    pub(crate) frozen: bool,
    /// The pixel under the mouse.
    pub(crate) pointer: Option<[f64; 2]>,
}

impl TimelineView {
    /// Takes over the newest timed round, if there is a newer one and it is not frozen. Waits for
    /// nothing; not to be called while the timeline is closed.
    pub fn update(&mut self, source: &dyn PictureSource) {
        if !self.frozen || self.timeline.chart.is_none() {
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
        let race = self.race.as_ref().map(|race| &*race.chart);
        race.or(self.timeline.chart.as_deref())
    }

    fn before(&self) -> Option<&Chart> {
        let before = self.timeline.before.as_deref();
        before.filter(|_| self.race.is_none())
    }

    /// The axis' length in nanoseconds.
    fn whole(&self) -> f64 {
        self.chart().map_or(1e6, |chart| chart.whole)
    }

    /// The way from time to pixels in a place.
    fn scale(&self, places: &TimelineLayout) -> TimeScale {
        let rows = places.plot.rows;
        TimeScale::new(self.zoom.of(self.whole()), rows.left(), rows.width())
    }

    /// The newest round; above it the one before the last change, or A's above B's, unless the
    /// multiprocessors' rows need the room; and these.
    fn strips(&self, places: &TimelineLayout, status: &Status) -> Vec<Strip<'_>> {
        let Some(chart) = self.chart() else {
            return Vec::new();
        };
        let scale = self.scale(places);
        let before = self.before().filter(|_| places.map.is_none());
        let charts: Vec<_> = before.into_iter().chain([chart]).collect();
        let is_comparing = status.lab.comparison.is_some();
        let mut strips = lanes::rounds(&places.plot, scale, &charts, is_comparing);
        if let Some((_, map)) = places.map {
            let count = sm_count(status).max(chart.sms.len());
            let mut strip = Strip::new(sm_prefix(status), &chart.sms, chart, map, scale);
            strip.rows = Rows::new(MIN_SM_ROW, count, map.top(), map.height());
            strips.push(strip);
        }
        strips
    }

    /// The mouse is here, or nowhere over the timeline; whether that shows.
    pub fn hover(&mut self, at: Option<[f64; 2]>) -> bool {
        let before = std::mem::replace(&mut self.pointer, at);
        before != self.pointer
    }

    /// Closer by a factor, about this point.
    pub fn zoom(&mut self, factor: f64, at: [f64; 2], layout: &WindowLayout) {
        if let Some(places) = TimelineLayout::of(layout) {
            let rows = places.plot.rows;
            let x = layout.point(at).x.clamp(rows.left(), rows.right());
            let about = self.scale(&places).ns(x);
            let whole = self.whole();
            self.zoom.zoom_at(factor, about, whole);
        }
    }

    /// Moves what is shown by so many pixels to the right.
    pub fn pan(&mut self, pixels: f64, layout: &WindowLayout) {
        if let Some(places) = TimelineLayout::of(layout) {
            let points = -pixels / f64::from(layout.pixels_per_point);
            let ns = points * self.scale(&places).per_pixel();
            let whole = self.whole();
            self.zoom.pan(ns, whole);
        }
    }
}

/// The multiprocessors (or the CPU's workers) that have rows, before any round is known.
pub(crate) fn sm_count(status: &Status) -> usize {
    let counts = status.engine.devices.iter().map(|it| it.sm_count as usize);
    counts.max().unwrap_or(1).max(1)
}

/// What the names of their rows begin with.
fn sm_prefix(status: &Status) -> &'static str {
    if status.engine.is_cpu() {
        tr!("worker")
    } else {
        "SM"
    }
}

/// Paints the timeline, if the window has room for it, and what the pointer is over anywhere near it.
pub(crate) fn paint(ui: &mut Ui, timeline: &TimelineView, status: &Status, layout: &WindowLayout) {
    let Some(places) = TimelineLayout::of(layout) else {
        return;
    };
    let line = (1.0, palette(ui).rule);
    ui.painter()
        .hline(places.all.x_range(), places.all.top() + 0.5, line);
    let strips = timeline.strips(&places, status);
    if !strips.is_empty() {
        lanes::paint(ui, &places.plot, timeline.scale(&places), &strips);
    }
    text::show(ui, timeline, status, &places, &strips);
    let at = timeline.pointer.map(|at| layout.point(at));
    if let Some(at) = at.filter(|at| places.all.contains(*at))
        && let Some((lines, place)) = strips.iter().find_map(|strip| strip.hit(at))
    {
        text::show_tip(ui, at, &lines, place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::layout::{LayoutRequest, lay_out};
    use ui::fixtures::{Timed, timed_round};

    /// A round of so many streams, whose last span ends so many nanoseconds after the first begins.
    fn timed(streams: u32, ns: i64) -> Timed {
        let mut round = timed_round(streams);
        let (start, _) = round.bounds().unwrap();
        round.spans.last_mut().unwrap().end.0 = start.0 + ns;
        Timed(round, None)
    }

    #[test]
    fn the_axis_stays_while_rounds_fit_it_and_frozen_all_of_it_does() {
        let mut timeline = TimelineView::default();
        for (ns, whole) in [
            (950_000, 1e6),
            (500_000, 1e6),     // a shorter round fits
            (1_050_000, 1.2e6), // a longer one does not
            (990_000, 1.2e6),   // and it stays
            (300_000, 3e5),     // a much shorter one gets an axis of its own
        ] {
            timeline.update(&timed(4, ns));
            assert_eq!(timeline.whole(), whole, "{ns}");
        }
        for lanes in [4, 5] {
            timeline.frozen ^= true;
            timeline.update(&timed(5, 300_000));
            assert_eq!(timeline.chart().unwrap().lanes.len(), lanes);
        }
    }

    #[test]
    fn wheel_drag_and_double_click_move_through_time() {
        let size = life::Size::new(128, 128).unwrap();
        let request = LayoutRequest {
            lanes: Some(16),
            ..Default::default()
        };
        let layout = lay_out([1280, 800], 1.0, 16, size, &request);
        let rect = layout.timeline.unwrap();
        let middle = [400.0, f64::from(rect.y + rect.height / 2)];
        let mut timeline = TimelineView::default();
        let whole = timeline.zoom.of(timeline.whole());
        timeline.pan(50.0, &layout);
        assert_eq!(timeline.zoom.of(timeline.whole()), whole, "all is shown");
        timeline.zoom(4.0, middle, &layout);
        let closer = timeline.zoom.of(timeline.whole());
        assert!((closer.length - whole.length / 4.0).abs() < 1.0);
        timeline.pan(50.0, &layout);
        assert!(timeline.zoom.of(timeline.whole()).from < closer.from);
    }
}
