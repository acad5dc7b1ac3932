//! The pointer: tells clicks, double clicks and drags apart, and on what they are.

use std::time::{Duration, Instant};

use ui::SidePanel;

/// Between the clicks of a double click.
const DOUBLE_CLICK_TIMEOUT: Duration = Duration::from_millis(400);
/// Minimum distance, in points, for a press to be a drag.
const MIN_DRAG_DISTANCE: f64 = 4.0;

/// What takes the mouse.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum HitTarget {
    /// A panel, by its place on screen.
    Panel(usize),
    /// A minimap, by its instance.
    Minimap(usize),
    /// The timeline.
    Timeline,
    /// The panel beside the cells.
    Side(SidePanel),
    /// The lesson or the list of them.
    Lesson,
}

/// What the mouse asks for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Gesture {
    /// Something was clicked.
    Click(HitTarget),
    /// Something was clicked twice.
    DoubleClick(HitTarget),
    /// Something's content was moved by this many pixels.
    Drag(HitTarget, [f64; 2]),
}

#[derive(Debug)]
struct Press {
    at: [f64; 2],
    target: Option<HitTarget>,
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
    last_click: Option<(Instant, HitTarget)>,
}

impl Pointer {
    /// It moved to a point in pixels, at `scale` pixels per point.
    pub(super) fn moved(&mut self, to: [f64; 2], scale: f64) -> Option<Gesture> {
        let from = self.at.replace(to);
        let press = self.press.as_mut()?;
        let far = [0, 1]
            .into_iter()
            .any(|axis| (to[axis] - press.at[axis]).abs() > MIN_DRAG_DISTANCE * scale);
        let started = !press.drags && far;
        press.drags |= far;
        let target = press.target.filter(|_| press.drags)?;
        // The first move makes up for the pixels it took to tell a drag from a click.
        let from = if started { press.at } else { from? };
        Some(Gesture::Drag(target, [to[0] - from[0], to[1] - from[1]]))
    }

    /// A button went down over something that takes it, or over nothing.
    pub(super) fn pressed(&mut self, target: Option<HitTarget>, clicks: bool) {
        if let Some(at) = self.at {
            self.press = Some(Press {
                at,
                target,
                drags: false,
                clicks,
            });
        }
    }

    /// The button came up.
    pub(super) fn released(&mut self, now: Instant) -> Option<Gesture> {
        let press = self.press.take()?;
        let target = press.target.filter(|_| press.clicks && !press.drags)?;
        let twice = self
            .last_click
            .take()
            .is_some_and(|(then, last)| last == target && now - then < DOUBLE_CLICK_TIMEOUT);
        if twice {
            return Some(Gesture::DoubleClick(target));
        }
        self.last_click = Some((now, target));
        Some(Gesture::Click(target))
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
        pointer.pressed(Some(HitTarget::Panel(3)), true);
        assert_eq!(pointer.moved([12.0, 10.0], 1.0), None, "a shaking hand");
        assert_eq!(
            pointer.released(ms(0)),
            Some(Gesture::Click(HitTarget::Panel(3)))
        );
        pointer.pressed(Some(HitTarget::Panel(3)), true);
        assert_eq!(
            pointer.released(ms(300)),
            Some(Gesture::DoubleClick(HitTarget::Panel(3)))
        );
        pointer.pressed(Some(HitTarget::Panel(3)), true);
        assert_eq!(
            pointer.released(ms(350)),
            Some(Gesture::Click(HitTarget::Panel(3))),
            "not a third time"
        );
        pointer.pressed(Some(HitTarget::Panel(4)), true);
        assert_eq!(
            pointer.released(ms(400)),
            Some(Gesture::Click(HitTarget::Panel(4))),
            "another panel"
        );
        pointer.pressed(Some(HitTarget::Panel(4)), true);
        assert_eq!(
            pointer.moved([22.0, 10.0], 1.0),
            Some(Gesture::Drag(HitTarget::Panel(4), [10.0, 0.0]))
        );
        assert_eq!(
            pointer.moved([23.0, 12.0], 1.0),
            Some(Gesture::Drag(HitTarget::Panel(4), [1.0, 2.0]))
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
