//! What the timeline shows, and where: that nothing of it is cut or moves is `gallery`'s to check.

use session::{Picture, PictureSource, Trace};

use crate::view::layout::{LayoutRequest, lay_out};
use crate::view::timeline::TimelineView;
use crate::view::timeline::layout::{Rows, TimelineLayout};
use life::Size;
use ui::fixtures::Timed;

fn lanes(lanes: usize) -> LayoutRequest {
    LayoutRequest {
        lanes: Some(lanes),
        ..Default::default()
    }
}

fn timed(streams: u32) -> TimelineView {
    let mut timeline = TimelineView::default();
    timeline.update(&Timed(streams));
    timeline
}

/// A lane alone has room for its bars' names, and 64 lanes are still told apart.
#[test]
fn two_rounds_of_very_different_streams_are_both_readable() {
    let size = Size::new(128, 128).unwrap();
    for window in [[1280, 800], [1920, 1080]] {
        let layout = lay_out(window, 1.0, 64, size, &lanes(64));
        let plot = TimelineLayout::of(&layout).unwrap().plot;
        for counts in [[64, 1], [1, 64]] {
            let places = plot.rounds(&counts);
            for ([_, place], lanes) in places.iter().zip(counts) {
                let rows = Rows::new(1.0, lanes, place.top(), place.height());
                assert_eq!(rows.folded, 1, "{lanes} in {window:?}");
                let least = if lanes == 1 { 12.0 } else { 2.0 };
                let (top, bottom) = rows.edges(0);
                assert!(bottom - top >= least, "{lanes} in {window:?}: {rows:?}");
            }
            assert!(places[0][1].bottom() < places[1][0].top());
            assert!(places[1][1].bottom() <= plot.rows.bottom() + 0.1);
        }
    }
}

/// A round of so many streams, whose last span ends so many nanoseconds after the first begins, always newer
/// than any seen.
struct Newer(u32, i64);

impl PictureSource for Newer {
    fn visit_newer(&self, _: &mut [u64], _: &mut dyn FnMut(usize, &Picture, &[u32])) {}

    fn newer_trace(&self, seen: u64) -> Option<Trace> {
        let mut trace = Timed(self.0).newer_trace(0)?;
        let mut round = (*trace.rounds.pop_back()?).clone();
        let start = round.bounds()?.0.0;
        round
            .spans
            .iter_mut()
            .for_each(|span| span.end.0 = span.start.0);
        round
            .host
            .iter_mut()
            .for_each(|span| span.end.0 = span.start.0);
        round.spans.last_mut()?.end.0 = start + self.1;
        trace.rounds.push_back(std::sync::Arc::new(round));
        trace.sequence = seen + 1;
        Some(trace)
    }
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
        timeline.update(&Newer(4, ns));
        assert_eq!(timeline.whole(), whole, "{ns}");
    }
    for lanes in [4, 5] {
        timeline.frozen ^= true;
        timeline.update(&Newer(5, 300_000));
        assert_eq!(timeline.chart().unwrap().lanes.len(), lanes);
    }
}

#[test]
fn wheel_drag_and_double_click_move_through_time() {
    let size = Size::new(128, 128).unwrap();
    let layout = lay_out([1280, 800], 1.0, 16, size, &lanes(16));
    let rect = layout.timeline.unwrap();
    let middle = [400.0, f64::from(rect.y + rect.height / 2)];
    let mut timeline = timed(16);
    let whole = timeline.zoom.of(timeline.whole());
    timeline.pan(50.0, &layout);
    assert_eq!(timeline.zoom.of(timeline.whole()), whole, "all is shown");
    timeline.zoom(4.0, middle, &layout);
    let closer = timeline.zoom.of(timeline.whole());
    assert!((closer.length - whole.length / 4.0).abs() < 1.0);
    timeline.pan(50.0, &layout);
    assert!(timeline.zoom.of(timeline.whole()).from < closer.from);
    timeline.zoom.fit();
    assert_eq!(timeline.zoom.of(timeline.whole()), whole);
}
