//! The timeline under the panels: a lane per stream and one for the host, of one timed round; after
//! a change of a switch the round before it stands above, on the same axis, and what was found. Beneath
//! the lanes may be a second view: which SM ran which instance when.
//!
//! `layout` has the places, `lanes` paints rows of bars, `text` shows what stands around them.

pub(crate) mod lanes;
pub(crate) mod layout;
mod text;

use crate::view::layout::WindowLayout;
use crate::view::style::palette;
use egui::Ui;
use lanes::{Strip, sm_count, sm_prefix};
use layout::{Rows, TimelineLayout};
use session::Status;
use ui::Timeline;
use ui::timeline::scale::TimeScale;

/// The least height of a multiprocessor's row.
const MIN_SM_ROW: f32 = 2.0;

/// The way from time to pixels in a place.
fn scale(timeline: &Timeline, places: &TimelineLayout) -> TimeScale {
    let rows = places.plot.rows;
    let shown = timeline.zoom.of(timeline.whole());
    TimeScale::new(shown, rows.left(), rows.width())
}

/// The newest round; above it the one before the last change, or A's above B's, unless the
/// multiprocessors' rows need the room; and these.
fn strips<'a>(timeline: &'a Timeline, places: &TimelineLayout, status: &Status) -> Vec<Strip<'a>> {
    let Some(chart) = timeline.shown() else {
        return Vec::new();
    };
    let scale = scale(timeline, places);
    let before = timeline.before.as_deref();
    let before = before.filter(|_| timeline.race.is_none() && places.map.is_none());
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

/// Closer by a factor, about this point.
pub(crate) fn zoom(timeline: &mut Timeline, factor: f64, at: [f64; 2], layout: &WindowLayout) {
    if let Some(places) = layout.timeline_layout() {
        let rows = places.plot.rows;
        let x = layout.point(at).x.clamp(rows.left(), rows.right());
        let (about, whole) = (scale(timeline, &places).ns(x), timeline.whole());
        timeline.zoom.zoom_at(factor, about, whole);
    }
}

/// Moves what is shown by so many pixels to the right.
pub(crate) fn pan(timeline: &mut Timeline, pixels: f64, layout: &WindowLayout) {
    if let Some(places) = layout.timeline_layout() {
        let points = -pixels / f64::from(layout.pixels_per_point);
        let ns = points * scale(timeline, &places).per_pixel();
        let whole = timeline.whole();
        timeline.zoom.pan(ns, whole);
    }
}

/// Paints the timeline, if the window has room for it, and what the pointer is over anywhere near it.
pub(crate) fn paint(ui: &mut Ui, timeline: &Timeline, status: &Status, layout: &WindowLayout) {
    let Some(places) = layout.timeline_layout() else {
        return;
    };
    let line = (1.0, palette(ui).rule);
    ui.painter()
        .hline(places.all.x_range(), places.all.top() + 0.5, line);
    let strips = strips(timeline, &places, status);
    if !strips.is_empty() {
        lanes::paint(ui, &places.plot, scale(timeline, &places), &strips);
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
        let mut timeline = Timeline::default();
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
            assert_eq!(timeline.shown().unwrap().lanes.len(), lanes);
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
        let mut timeline = Timeline::default();
        let whole = timeline.zoom.of(timeline.whole());
        pan(&mut timeline, 50.0, &layout);
        assert_eq!(timeline.zoom.of(timeline.whole()), whole, "all is shown");
        zoom(&mut timeline, 4.0, middle, &layout);
        let closer = timeline.zoom.of(timeline.whole());
        assert!((closer.length - whole.length / 4.0).abs() < 1.0);
        pan(&mut timeline, 50.0, &layout);
        assert!(timeline.zoom.of(timeline.whole()).from < closer.from);
    }
}
