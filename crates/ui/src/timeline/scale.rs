//! From time to pixels and back, in one place; what part of the round is shown; the ticks.

/// The least that is shown, in nanoseconds: what events resolve.
const MIN_VISIBLE_NS: f64 = 500.0;

/// A part of a round, in nanoseconds from the round's start.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TimeRange {
    /// Where it begins.
    pub from: f64,
    /// How long it is.
    pub length: f64,
}

/// Where on the time axis a pixel lies.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TimeScale {
    /// What is shown.
    pub range: TimeRange,
    left: f64,
    width: f64,
}

impl TimeScale {
    /// Shows the range from `left` on, `width` pixels wide.
    pub fn new(range: TimeRange, left: f32, width: f32) -> TimeScale {
        TimeScale {
            range,
            left: left.into(),
            width: f64::from(width).max(1.0),
        }
    }

    /// The pixel of a time.
    pub fn x(self, ns: f64) -> f32 {
        (self.left + (ns - self.range.from) / self.per_pixel()) as f32
    }

    /// The time of a pixel.
    pub fn ns(self, x: f32) -> f64 {
        self.range.from + (f64::from(x) - self.left) * self.per_pixel()
    }

    /// Nanoseconds a pixel.
    pub fn per_pixel(self) -> f64 {
        self.range.length / self.width
    }

    /// Times at least `apart` pixels from one another, and how they are written: all in one unit, with as
    /// many digits as their step needs.
    pub fn ticks(self, apart: f32) -> Vec<(f64, String)> {
        let step = nice(f64::from(apart) * self.per_pixel(), &[1.0, 2.0, 5.0]);
        let end = self.range.from + self.range.length;
        let first = (self.range.from / step - 1e-6).ceil() as i64;
        let last = (end / step + 1e-6).floor() as i64;
        let (unit, name) = match end {
            end if end < 2e6 => (1e3, "µs"),
            end if end < 2e9 => (1e6, "ms"),
            _ => (1e9, "s"),
        };
        let digits = (-(step / unit).log10() - 1e-6).ceil().clamp(0.0, 6.0) as usize;
        let times = (first..=last).map(|n| n as f64 * step);
        let tick = |ns| (ns, format!("{:.*} {name}", digits, ns / unit));
        times.map(tick).collect()
    }
}

/// The least number not below `value` (and 1) that is one of `steps` times a power of ten: where an
/// axis ends, or its ticks stand.
pub(crate) fn nice(value: f64, steps: &[f64]) -> f64 {
    let power = 10f64.powf(value.max(1.0).log10().floor());
    let reached = |step: &&f64| **step * power >= value * (1.0 - 1e-9);
    steps.iter().find(reached).map_or(10.0, |step| *step) * power
}

/// What is shown of rounds of any length: all, or a part that the user has chosen.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct TimeZoom(Option<TimeRange>);

impl TimeZoom {
    /// What is shown of a round on an axis of `whole` nanoseconds.
    pub fn of(self, whole: f64) -> TimeRange {
        let all = TimeRange {
            from: 0.0,
            length: whole,
        };
        self.0.map_or(all, |chosen| {
            let length = chosen.length.clamp(MIN_VISIBLE_NS.min(whole), whole);
            let from = chosen.from.clamp(0.0, whole - length);
            TimeRange { from, length }
        })
    }

    /// Closer by a factor; the time `about` stays where it is.
    pub fn zoom_at(&mut self, factor: f64, about: f64, whole: f64) {
        let now = self.of(whole);
        let length = (now.length / factor).max(MIN_VISIBLE_NS);
        let from = about - (about - now.from) * length / now.length;
        self.0 = (length < whole).then_some(TimeRange { from, length });
        self.0 = self.0.map(|_| self.of(whole));
    }

    /// Later by this many nanoseconds.
    pub fn pan(&mut self, ns: f64, whole: f64) {
        if self.0.is_some() {
            let TimeRange { from, length } = self.of(whole);
            self.0 = Some(TimeRange {
                from: from + ns,
                length,
            });
            self.0 = Some(self.of(whole));
        }
    }

    /// All of it.
    pub fn fit(&mut self) {
        self.0 = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(from: f64, length: f64) -> TimeRange {
        TimeRange { from, length }
    }

    #[test]
    fn what_is_under_the_pointer_stays_there() {
        let mut zoom = TimeZoom::default();
        for about in [30_000.0, 31_000.0, 30_500.0] {
            let scale = TimeScale::new(zoom.of(1e6), 80.0, 1000.0);
            let before = scale.x(about);
            assert!((scale.ns(before) - about).abs() < 1.0 && before > 80.0);
            zoom.zoom_at(1.25, about, 1e6);
            let after = TimeScale::new(zoom.of(1e6), 80.0, 1000.0).x(about);
            assert!((before - after).abs() < 0.01);
        }
        for _ in 0..99 {
            zoom.zoom_at(2.0, 30_000.0, 1e6);
        }
        assert_eq!(zoom.of(1e6).length, MIN_VISIBLE_NS);
        zoom.pan(1e9, 1e6);
        assert_eq!(
            zoom.of(1e6),
            range(1e6 - MIN_VISIBLE_NS, MIN_VISIBLE_NS),
            "no farther"
        );
        assert_eq!(zoom.of(1e5).from, 1e5 - MIN_VISIBLE_NS, "a shorter round");
        for _ in 0..99 {
            zoom.zoom_at(0.5, 30_000.0, 1e6);
        }
        assert_eq!(zoom, TimeZoom::default());
    }

    #[test]
    fn ticks_are_round_numbers_inside_and_apart() {
        for (from, length) in [(0.0, 1e5), (0.0, 3.7e7), (12_345.6, 700.0), (5e6, 2e3)] {
            let scale = TimeScale::new(range(from, length), 0.0, 1000.0);
            let ticks = scale.ticks(80.0);
            assert!(ticks.len() >= 2, "{length}: {ticks:?}");
            for pair in ticks.windows(2) {
                assert!(scale.x(pair[1].0) - scale.x(pair[0].0) >= 79.9);
                assert_ne!(pair[0].1, pair[1].1);
            }
            let mut places = ticks.iter().map(|(ns, _)| scale.x(*ns));
            assert!(places.all(|x| (-0.1..=1000.1).contains(&x)));
        }
        let ticks = TimeScale::new(range(0.0, 1e5), 0.0, 1000.0).ticks(150.0);
        let labels: Vec<_> = ticks.into_iter().map(|(_, label)| label).collect();
        let expected = ["0 µs", "20 µs", "40 µs", "60 µs", "80 µs", "100 µs"];
        assert_eq!(labels, expected);
    }
}
