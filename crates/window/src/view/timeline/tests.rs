//! Nothing of the timeline is cut, nor lies over HUD or panels, whatever the window.

use egui::Rect;
use session::{Picture, PictureSource, Status, Streams, Trace};

use crate::view::Frame;
use crate::view::hud::tests::{drawing, each, each_frame, each_with, texts};
use crate::view::layout::{Dock, LayoutRequest, lay_out};
use crate::view::timeline::TimelineView;
use crate::view::timeline::layout::TimelineLayout;
use crate::view::timeline::text::Chip;
use life::Size;
use ui::fixtures::{Timed, status};
use ui::{Drawing, ViewOptions};

fn shown() -> ViewOptions {
    ViewOptions {
        timeline: true,
        ..Default::default()
    }
}

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

/// The timeline's rectangle, and all that the HUD takes.
fn places(frame: &Frame<'_>) -> Option<(Rect, Rect)> {
    let (layout, _) = frame.layout()?;
    let hud = match layout.dock {
        Dock::Hidden => Rect::NOTHING,
        Dock::Side(rect) | Dock::Bar(rect) | Dock::Strip(rect) => layout.points(rect),
    };
    Some((layout.points(layout.timeline?), hud))
}

/// A lane alone has room for its bars' names, and 64 lanes are still told apart.
#[test]
fn two_rounds_of_very_different_streams_are_both_readable() {
    let size = Size::new(128, 128).unwrap();
    for window in [[1280, 800], [1920, 1080]] {
        let layout = lay_out(window, 1.0, 64, size, &lanes(64));
        let places = TimelineLayout::of(&layout).unwrap();
        for counts in [[64, 1], [1, 64]] {
            let rows = places.stacked(counts);
            for (places, lanes) in rows.iter().zip(counts) {
                let rows = places.rows(lanes);
                assert_eq!(rows.folded, 1, "{lanes} in {window:?}");
                let least = if lanes == 1 { 12.0 } else { 2.0 };
                let (top, bottom) = rows.edges(0);
                assert!(bottom - top >= least, "{lanes} in {window:?}: {rows:?}");
            }
            let [above, below] = rows;
            assert!(above.lanes.bottom() < below.host.top());
        }
    }
}

#[test]
fn nothing_moves_when_the_streams_change() {
    let of = |streams: Streams| {
        let mut status = status(16, Size::new(128, 128).unwrap());
        status.setting.switches.streams = streams;
        let mut layouts = Vec::new();
        each(&status, &shown(), |frame, _| {
            layouts.push(frame.layout().unwrap().0)
        });
        layouts
    };
    let each_its_own = of(Streams::PerInstance);
    for streams in [Streams::One, Streams::Default, Streams::Batch] {
        assert!(of(streams) == each_its_own, "{streams:?}");
    }
}

#[test]
fn the_axis_stays_while_rounds_fit_it() {
    struct Rounds(std::cell::Cell<i64>);
    impl session::PictureSource for Rounds {
        fn visit_newer(&self, _: &mut [u64], _: &mut dyn FnMut(usize, &session::Picture, &[u32])) {}

        fn newer_trace(&self, seen: u64) -> Option<session::Trace> {
            let mut trace = Timed(4).newer_trace(0)?;
            let mut round = (*trace.rounds.pop_back()?).clone();
            // The last span ends so many nanoseconds after the first begins.
            let start = round.bounds()?.0.0;
            round
                .spans
                .iter_mut()
                .for_each(|span| span.end.0 = span.start.0);
            round
                .host
                .iter_mut()
                .for_each(|span| span.end.0 = span.start.0);
            round.spans.last_mut()?.end.0 = start + self.0.get();
            trace.rounds.push_back(std::sync::Arc::new(round));
            trace.sequence = seen + 1;
            Some(trace)
        }

        fn newer_population(&self, _: Option<usize>, _: u64) -> Option<(u64, session::Series)> {
            None
        }
    }
    let rounds = Rounds(std::cell::Cell::new(0));
    let mut timeline = TimelineView::default();
    let mut axis = |ns: i64| {
        rounds.0.set(ns);
        timeline.update(&rounds);
        timeline.whole()
    };
    assert_eq!(axis(950_000), 1e6);
    assert_eq!(axis(500_000), 1e6, "a shorter round fits");
    assert_eq!(axis(1_050_000), 1.2e6, "a longer one does not");
    assert_eq!(axis(990_000), 1.2e6, "and it stays");
    assert_eq!(
        axis(300_000),
        3e5,
        "a much shorter one gets an axis of its own"
    );
}

#[test]
fn a_window_too_small_for_it_says_so() {
    let mut said = 0;
    let status = status(16, Size::new(128, 128).unwrap());
    // Where nothing else has just been said.
    let drawing = Drawing {
        notice: None,
        ..drawing()
    };
    let mut timeline = TimelineView::default();
    timeline.update(&Timed(16));
    let timeline = |_| timeline.clone();
    each_frame(
        &status,
        &shown(),
        timeline,
        None,
        drawing,
        |frame, shapes| {
            let (layout, _) = frame.layout().unwrap();
            let sentence =
                texts(shapes).any(|(text, _)| text.contains("too small for the timeline"));
            assert!(!sentence || layout.timeline.is_none());
            said += usize::from(sentence);
        },
    );
    assert!(said > 0);
}

#[test]
fn closed_it_takes_nothing_and_one_instance_little() {
    let of = |instances| status(instances, Size::new(128, 128).unwrap());
    let height = |status: &Status, options: ViewOptions| {
        let mut height = None;
        each(status, &options, |frame, _| {
            if frame.pixels == [1280, 800] && frame.scale == 1.0 {
                height = frame.layout().unwrap().0.timeline.map(|rect| rect.height);
            }
        });
        height
    };
    assert_eq!(height(&of(64), ViewOptions::default()), None);
    let many = height(&of(64), shown());
    assert!(height(&of(1), shown()) < many && many.is_some());
}

/// A source whose round, of so many streams, is always newer than any seen.
struct Newer(u32);

impl PictureSource for Newer {
    fn visit_newer(&self, _: &mut [u64], _: &mut dyn FnMut(usize, &Picture, &[u32])) {}

    fn newer_trace(&self, seen: u64) -> Option<Trace> {
        let mut trace = Timed(self.0).newer_trace(0)?;
        trace.sequence = seen + 1;
        Some(trace)
    }
}

#[test]
fn frozen_it_keeps_its_round_and_live_it_takes_the_next() {
    let mut timeline = timed(3);
    timeline.toggle_frozen();
    timeline.update(&Newer(5));
    assert_eq!(timeline.chart().unwrap().data.lanes.len(), 3);
    timeline.toggle_frozen();
    timeline.update(&Newer(5));
    assert_eq!(timeline.chart().unwrap().data.lanes.len(), 5);
}

#[test]
fn only_a_session_that_runs_shows_live_rounds() {
    let mut status = ui::fixtures::status(4, Size::new(64, 64).unwrap());
    for (running, frozen, shown) in [
        (true, false, Chip::Live),
        (false, false, Chip::LastRound),
        (true, true, Chip::Frozen),
        (false, true, Chip::Frozen),
    ] {
        status.clock.running = running;
        assert_eq!(Chip::of(frozen, Some(&status)), shown);
    }
    assert_eq!(Chip::of(false, None), Chip::LastRound);
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
    timeline.fit();
    assert_eq!(timeline.zoom.of(timeline.whole()), whole);
}

#[test]
fn times_on_the_axis_never_lie_over_one_another() {
    let status = status(16, Size::new(128, 128).unwrap());
    for (factor, about) in [(1.0, 0.0), (40.0, 2.3e5), (1e9, 123_456.0)] {
        let zoomed = |_| {
            let mut timeline = timed(40);
            let whole = timeline.whole();
            timeline.zoom.zoom_at(factor, about, whole);
            timeline
        };
        each_with(&status, &shown(), zoomed, |frame, shapes| {
            let Some((timeline, _)) = places(frame) else {
                return;
            };
            let times: Vec<_> = texts(shapes)
                .filter(|(text, _)| text.ends_with("µs") || text.ends_with("ms"))
                .filter(|(text, rect)| timeline.intersects(*rect) && !text.contains('·'))
                .collect();
            assert!(times.len() >= 2, "{times:?}");
            for (index, (a, first)) in times.iter().enumerate() {
                for (b, second) in &times[index + 1..] {
                    assert!(!first.intersects(*second), "'{a}' {:?} '{b}'", frame.pixels);
                }
            }
        });
    }
}
