//! The mouse: a click selects, a double click shows one panel alone, a drag moves, the wheel
//! zooms.

use std::time::{Duration, Instant};

/// Between the clicks of a double click.
const DOUBLE: Duration = Duration::from_millis(400);
/// From so many points on, a press is a drag.
const DRAG: f64 = 4.0;

/// What the mouse asks for; places count panels on screen.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Gesture {
    /// A panel was clicked.
    Click(usize),
    /// A panel was clicked twice.
    DoubleClick(usize),
    /// A panel's content was moved by so many pixels.
    Drag([f64; 2]),
}

#[derive(Debug)]
struct Press {
    at: [f64; 2],
    place: Option<usize>,
    drags: bool,
    /// The middle button only drags.
    clicks: bool,
}

/// Follows the mouse.
#[derive(Debug, Default)]
pub(super) struct Pointer {
    /// Where it is, in pixels, if it is in the window.
    pub(super) at: Option<[f64; 2]>,
    press: Option<Press>,
    last_click: Option<(Instant, usize)>,
}

impl Pointer {
    /// It moved to a point in pixels, at `scale` pixels a point.
    pub(super) fn moved(&mut self, to: [f64; 2], scale: f64) -> Option<Gesture> {
        let from = self.at.replace(to);
        let press = self.press.as_mut()?;
        let far = [0, 1]
            .into_iter()
            .any(|axis| (to[axis] - press.at[axis]).abs() > DRAG * scale);
        let started = !press.drags && far;
        press.drags |= far;
        if !press.drags || press.place.is_none() {
            return None;
        }
        // The first move makes up for the pixels it took to tell a drag from a click.
        let from = if started { press.at } else { from? };
        Some(Gesture::Drag([to[0] - from[0], to[1] - from[1]]))
    }

    /// A button went down over a panel, or over none.
    pub(super) fn pressed(&mut self, place: Option<usize>, clicks: bool) {
        if let Some(at) = self.at {
            self.press = Some(Press {
                at,
                place,
                drags: false,
                clicks,
            });
        }
    }

    /// The button came up.
    pub(super) fn released(&mut self, now: Instant) -> Option<Gesture> {
        let press = self.press.take()?;
        let place = press.place.filter(|_| press.clicks && !press.drags)?;
        let twice = self
            .last_click
            .take()
            .is_some_and(|(then, last)| last == place && now - then < DOUBLE);
        if twice {
            return Some(Gesture::DoubleClick(place));
        }
        self.last_click = Some((now, place));
        Some(Gesture::Click(place))
    }

    /// It left the window.
    pub(super) fn left(&mut self) {
        self.at = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clicks_double_clicks_and_drags_are_told_apart() {
        let start = Instant::now();
        let ms = |ms| start + Duration::from_millis(ms);
        let mut pointer = Pointer::default();
        assert_eq!(pointer.moved([10.0, 10.0], 1.0), None);
        pointer.pressed(Some(3), true);
        assert_eq!(pointer.moved([12.0, 10.0], 1.0), None, "a shaking hand");
        assert_eq!(pointer.released(ms(0)), Some(Gesture::Click(3)));
        pointer.pressed(Some(3), true);
        assert_eq!(pointer.released(ms(300)), Some(Gesture::DoubleClick(3)));
        pointer.pressed(Some(3), true);
        assert_eq!(
            pointer.released(ms(350)),
            Some(Gesture::Click(3)),
            "not a third time"
        );
        pointer.pressed(Some(4), true);
        assert_eq!(
            pointer.released(ms(400)),
            Some(Gesture::Click(4)),
            "another panel"
        );
        pointer.pressed(Some(4), true);
        assert_eq!(
            pointer.moved([22.0, 10.0], 1.0),
            Some(Gesture::Drag([10.0, 0.0]))
        );
        assert_eq!(
            pointer.moved([23.0, 12.0], 1.0),
            Some(Gesture::Drag([1.0, 2.0]))
        );
        assert_eq!(pointer.released(ms(500)), None);
    }

    #[test]
    fn a_drag_that_starts_beside_the_panels_moves_nothing() {
        let mut pointer = Pointer::default();
        pointer.moved([0.0, 0.0], 1.0);
        pointer.pressed(None, true);
        assert_eq!(pointer.moved([50.0, 0.0], 1.0), None);
        assert_eq!(pointer.released(Instant::now()), None);
    }
}
