//! The rounds that the timeline shows, and their places.

use crate::view::timeline::TimelineView;
use crate::view::timeline::layout::TimelineLayout;
use session::Status;
use ui::Chart;
use ui::timeline::Which;

/// A round, and where it stands.
pub(super) struct ShownRound<'a> {
    pub(super) places: TimelineLayout,
    pub(super) chart: &'a Chart,
    pub(super) which: Which,
}

/// The newest round; above it the one before the last change, or A's above B's, unless the
/// multiprocessors' rows need the room.
pub(super) fn shown_rounds<'a>(
    timeline: &'a TimelineView,
    places: &TimelineLayout,
    status: Option<&Status>,
) -> Vec<ShownRound<'a>> {
    let Some(chart) = timeline.chart() else {
        return Vec::new();
    };
    let Some(before) = timeline.before().filter(|_| places.map.is_none()) else {
        return vec![ShownRound {
            places: *places,
            chart,
            which: Which::Only,
        }];
    };
    let compares = status.is_some_and(|status| status.lab.comparison.is_some());
    let names = Which::both(compares);
    let charts = [before, chart];
    let stacked = places.stacked(charts.map(|chart| chart.data.lanes.len()));
    let rounds = stacked.into_iter().zip(charts).zip(names);
    rounds
        .map(|((places, chart), which)| ShownRound {
            places,
            chart,
            which,
        })
        .collect()
}
