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
    stretch: TimeRange,
    left: f64,
    width: f64,
}

impl TimeScale {
    /// Shows the stretch from `left` on, `width` pixels wide.
    pub fn new(stretch: TimeRange, left: f32, width: f32) -> TimeScale {
        TimeScale {
            stretch,
            left: left.into(),
            width: f64::from(width).max(1.0),
        }
    }

    /// The same with so many pixels for each.
    pub fn enlarged(self, by: f32) -> TimeScale {
        TimeScale {
            left: self.left * f64::from(by),
            width: self.width * f64::from(by),
            ..self
        }
    }

    /// The pixel of a time.
    pub fn x(self, ns: f64) -> f32 {
        (self.left + (ns - self.stretch.from) / self.per_pixel()) as f32
    }

    /// The time of a pixel.
    pub fn ns(self, x: f32) -> f64 {
        self.stretch.from + (f64::from(x) - self.left) * self.per_pixel()
    }

    /// Nanoseconds a pixel.
    pub fn per_pixel(self) -> f64 {
        self.stretch.length / self.width
    }

    /// The times of the ticks, at least `apart` pixels from one another, and how they are written.
    pub fn ticks(self, apart: f32) -> (Vec<f64>, TickFormat) {
        let step = nice(f64::from(apart) * self.per_pixel(), &[1.0, 2.0, 5.0]);
        let end = self.stretch.from + self.stretch.length;
        let first = (self.stretch.from / step - 1e-6).ceil() as i64;
        let last = (end / step + 1e-6).floor() as i64;
        let times = (first..=last).map(|n| n as f64 * step).collect();
        (times, TickFormat::new(step, end))
    }
}

/// The least number not below `value` (and 1) that is one of `steps` times a power of ten: where an
/// axis ends, or its ticks stand.
pub(crate) fn nice(value: f64, steps: &[f64]) -> f64 {
    let power = 10f64.powf(value.max(1.0).log10().floor());
    let reached = |step: &&f64| **step * power >= value * (1.0 - 1e-9);
    steps.iter().find(reached).map_or(10.0, |step| *step) * power
}

/// How times on the axis are written: all in one unit, with as many digits as the step needs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TickFormat {
    unit: f64,
    name: &'static str,
    digits: usize,
}

impl TickFormat {
    fn new(step: f64, end: f64) -> TickFormat {
        let (unit, name) = match end {
            end if end < 2e6 => (1e3, "µs"),
            end if end < 2e9 => (1e6, "ms"),
            _ => (1e9, "s"),
        };
        let digits = (-(step / unit).log10() - 1e-6).ceil().clamp(0.0, 6.0) as usize;
        TickFormat { unit, name, digits }
    }

    /// A tick's label.
    pub fn label(self, ns: f64) -> String {
        format!("{:.*} {}", self.digits, ns / self.unit, self.name)
    }
}

/// What is shown of rounds of any length: all, or a stretch that the person has chosen.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct TimeZoom(Option<TimeRange>);

impl TimeZoom {
    /// The stretch that is shown of a round on an axis of `whole` nanoseconds.
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

/// The pixel columns of a row, from `left` on.
#[derive(Clone, Copy)]
pub(super) struct Columns {
    pub(super) scale: TimeScale,
    pub(super) left: f32,
    pub(super) count: usize,
}

impl Columns {
    /// The columns that a time covers, each with the part of it that is covered; even the shortest
    /// time covers some of one.
    pub(super) fn covered(self, start: f64, end: f64) -> impl Iterator<Item = (usize, f32)> {
        let count = self.count as f32;
        let [start, end] = [start, end].map(|ns| (self.scale.x(ns) - self.left).clamp(-1.0, count));
        let columns = if end < 0.0 || start >= count {
            0..0
        } else {
            let first = start.max(0.0) as usize;
            first..(end.ceil() as usize).clamp(first + 1, self.count)
        };
        columns.map(move |column| {
            let at = column as f32;
            (column, (end.min(at + 1.0) - start.max(at)).max(0.01))
        })
    }
}

/// Joins neighbouring columns that show the same: the first column, the one behind the last, and what
/// they show.
pub(super) fn join<T: PartialEq>(
    columns: impl IntoIterator<Item = Option<T>>,
) -> Vec<((usize, usize), T)> {
    let mut joined: Vec<((usize, usize), T)> = Vec::new();
    for (column, shown) in columns.into_iter().enumerate() {
        let Some(shown) = shown else { continue };
        match joined.last_mut() {
            Some(((_, end), last)) if *end == column && *last == shown => *end += 1,
            _ => joined.push(((column, column + 1), shown)),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stretch(from: f64, length: f64) -> TimeRange {
        TimeRange { from, length }
    }

    #[test]
    fn time_to_pixel_and_back_is_the_same_time() {
        for (from, length) in [(0.0, 1e6), (123_456.7, 500.0), (9e9, 1e9)] {
            let scale = TimeScale::new(stretch(from, length), 80.0, 917.0);
            assert_eq!(scale.x(from), 80.0);
            assert!((scale.x(from + length) - 997.0).abs() < 1e-2);
            for part in [0.0, 0.1, 0.5, 0.77, 1.0] {
                let ns = from + part * length;
                let back = scale.ns(scale.x(ns));
                assert!((back - ns).abs() < 1e-3 * scale.per_pixel(), "{ns} {back}");
            }
        }
    }

    #[test]
    fn what_is_under_the_pointer_stays_there() {
        let mut zoom = TimeZoom::default();
        for about in [30_000.0, 31_000.0, 30_500.0] {
            let before = TimeScale::new(zoom.of(1e6), 0.0, 1000.0).x(about);
            zoom.zoom_at(1.25, about, 1e6);
            let after = TimeScale::new(zoom.of(1e6), 0.0, 1000.0).x(about);
            assert!((before - after).abs() < 0.01);
        }
        for _ in 0..99 {
            zoom.zoom_at(2.0, 30_000.0, 1e6);
        }
        assert_eq!(zoom.of(1e6).length, MIN_VISIBLE_NS);
        zoom.pan(1e9, 1e6);
        assert_eq!(
            zoom.of(1e6),
            stretch(1e6 - MIN_VISIBLE_NS, MIN_VISIBLE_NS),
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
            let scale = TimeScale::new(stretch(from, length), 0.0, 1000.0);
            let (times, ticks) = scale.ticks(80.0);
            assert!(times.len() >= 2, "{length}: {times:?}");
            let mut labels: Vec<_> = times.iter().map(|&ns| ticks.label(ns)).collect();
            for pair in times.windows(2) {
                assert!(scale.x(pair[1]) - scale.x(pair[0]) >= 79.9);
            }
            for ns in &times {
                assert!((-0.1..=1000.1).contains(&scale.x(*ns)));
            }
            labels.dedup();
            assert_eq!(labels.len(), times.len(), "{labels:?}");
        }
        let (times, ticks) = TimeScale::new(stretch(0.0, 1e5), 0.0, 1000.0).ticks(150.0);
        let labels: Vec<_> = times.iter().map(|&ns| ticks.label(ns)).collect();
        assert_eq!(
            labels,
            ["0 µs", "20 µs", "40 µs", "60 µs", "80 µs", "100 µs"]
        );
    }
}
