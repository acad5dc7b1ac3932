//! When to draw: as soon as something changes, but no more often than the minimum interval, and not
//! at all while nothing changes.

use std::time::{Duration, Instant};

/// How often the figure changes, so that it can be read.
const RATE_UPDATE_INTERVAL: Duration = Duration::from_millis(500);

/// Decides when the next frame is due.
#[derive(Debug, Default)]
pub struct Pacer {
    /// The least time between two frames.
    pub min_interval: Duration,
    last: Option<Instant>,
    due_at: Option<Instant>,
}

impl Pacer {
    /// Requests a frame as soon as the minimum interval allows.
    pub fn request_frame(&mut self) {
        self.request_frame_at(Instant::now());
    }

    /// Requests a frame at this time. An earlier request that is still pending is kept.
    pub fn request_frame_at(&mut self, then: Instant) {
        self.due_at = Some(self.due_at.map_or(then, |due_at| due_at.min(then)));
    }

    /// Whether a frame is due; if so, it is no longer wanted.
    pub fn take_due(&mut self, now: Instant) -> bool {
        let due = self.next().is_some_and(|next| next <= now);
        if due {
            self.due_at = None;
        }
        due
    }

    /// When the next frame is due: at the requested time, but at least [`Pacer::min_interval`]
    /// after the last frame. `None` if no frame is requested.
    pub fn next(&self) -> Option<Instant> {
        let soonest = self.last.map(|last| last + self.min_interval);
        self.due_at
            .map(|due_at| soonest.map_or(due_at, |soonest| due_at.max(soonest)))
    }

    /// Records that a frame was drawn.
    pub fn frame_drawn(&mut self, now: Instant) {
        self.last = Some(now);
    }
}

/// Counts frames per second.
#[derive(Debug, Default)]
pub struct FrameRate {
    /// Since when frames are counted, and how many there were.
    counted: Option<(Instant, u32)>,
    shown: Option<(Instant, f64)>,
}

impl FrameRate {
    /// A frame was presented.
    pub fn count(&mut self, now: Instant) {
        let (since, frames) = self.counted.unwrap_or((now, 0));
        let lasted = now - since;
        self.counted = Some((since, frames + 1));
        if lasted >= RATE_UPDATE_INTERVAL {
            self.counted = Some((now, 1));
            // Before this frame nothing was drawn for a while.
            if lasted < 3 * RATE_UPDATE_INTERVAL {
                self.shown = Some((now, f64::from(frames) / lasted.as_secs_f64()));
            }
        }
    }

    /// Frames per second, if there were some lately.
    pub fn per_second(&self, now: Instant) -> Option<f64> {
        let (then, rate) = self.shown?;
        (now - then < 3 * RATE_UPDATE_INTERVAL).then_some(rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_asks_for_a_frame_there_are_not_more_than_may_be() {
        let start = Instant::now();
        let ms = |ms| start + Duration::from_millis(ms);
        let mut pacer = Pacer {
            min_interval: Duration::from_millis(33),
            ..Pacer::default()
        };
        let mut drawn = Vec::new();
        for now in 0..=1000 {
            if pacer.take_due(ms(now)) {
                pacer.request_frame_at(ms(now)); // news that come while it is being drawn
                pacer.frame_drawn(ms(now));
                drawn.push(now);
            }
            pacer.request_frame_at(ms(now)); // a widget that moves
            pacer.request_frame_at(ms(now + 5));
        }
        assert_eq!(drawn[0], 1);
        assert!(
            drawn.windows(2).all(|two| two[1] - two[0] == 33),
            "{drawn:?}"
        );
    }

    #[test]
    fn sixty_frames_a_second_are_counted_as_such() {
        let start = Instant::now();
        let mut rate = FrameRate::default();
        for frame in 0..120 {
            rate.count(start + Duration::from_micros(16_667 * frame));
        }
        let now = start + Duration::from_secs(2);
        assert!((rate.per_second(now).unwrap() - 60.0).abs() < 0.5);
        assert_eq!(rate.per_second(now + Duration::from_secs(5)), None);
    }
}
