//! The speed-up curve on a lesson's page: rounds per second over the number of instances, both on
//! logarithmic axes, so that twice as much is as far everywhere.

use egui::{Align2, Color32, Pos2, Rect, Shape, Stroke, pos2, vec2};

use crate::hud::style::*;
use crate::widget_painter::WidgetPainter;
use lang::tr;
use model::{Speedup, SpeedupPoint};
use screen::numbers::grouped;

/// Height of the caption and of each line of the legend.
const LINE: f32 = 20.0;
/// Room for the figures beside the upright axis.
const LEFT: f32 = 78.0;
/// Room for those below the other.
const BOTTOM: f32 = 24.0;
/// Half the size of a point's sign.
const SIGN: f32 = 4.5;

/// Height that all of it takes, at least: in less room everything is smaller.
const HEIGHT: f32 = 280.0;

/// Pixels of a side, below which nothing could be read.
const SMALLEST_ROOM: f32 = 80.0;

/// Paints the caption, the legend and the curves into `room`, `unit` pixels per unit at most.
pub(super) fn paint(painter: &WidgetPainter, room: Rect, unit: f32, speedup: &Speedup) {
    if room.height().min(room.width()) < SMALLEST_ROOM {
        return;
    }
    let unit = unit.min(room.height() / HEIGHT);
    let palette = &painter.palette;
    let colours = [palette.value, palette.accent, palette.comparison_b];
    let line = |text: &str, colour, x: f32, row: usize| {
        let at = pos2(
            room.left() + x,
            room.top() + (row as f32 + 0.5) * LINE * unit,
        );
        let width = room.right() - at.x;
        let text = fitted(painter, text, regular(14.0 * unit), colour, width);
        put(painter, at, Align2::LEFT_CENTER, text);
    };
    line(&speedup.caption(), palette.label, 0.0, 0);
    for (nth, series) in speedup.series.iter().enumerate() {
        let title = &lang::shown(&series.title);
        let y = room.top() + (nth as f32 + 1.5) * LINE * unit;
        let sign = pos2(room.left() + SIGN * unit, y);
        match &series.unavailable {
            None => {
                paint_sign(painter, sign, unit, nth, colours[nth % colours.len()]);
                line(title, palette.value, 18.0 * unit, nth + 1);
            }
            Some(why) => line(
                &format!("{title}: {why}"),
                palette.label,
                18.0 * unit,
                nth + 1,
            ),
        }
    }
    let top = room.top() + (speedup.series.len() as f32 + 2.6) * LINE * unit;
    let axes = Rect::from_min_max(
        pos2(room.left() + LEFT * unit, top),
        room.max - vec2(SIGN * unit, BOTTOM * unit),
    );
    let Some(range) = range(speedup) else { return };
    paint_axes(painter, axes, unit, speedup, range);
    for (nth, series) in speedup.series.iter().enumerate() {
        let at = |point: &SpeedupPoint, rate: f64| {
            pos2(
                across(axes, speedup, point.instances),
                up(axes, range, rate),
            )
        };
        let colour = colours[nth % colours.len()];
        let points: Vec<Pos2> = series
            .points
            .iter()
            .map(|point| at(point, point.rounds_per_second))
            .collect();
        let stroke = Stroke::new((1.6 * unit).max(1.0), colour);
        for (point, &middle) in series.points.iter().zip(&points) {
            if let Some([low, high]) = point.interval {
                let [low, high] = [low, high].map(|rate| at(point, rate).y);
                painter.vline(middle.x, high..=low, stroke);
                for end in [low, high] {
                    let cap = middle.x - SIGN * unit..=middle.x + SIGN * unit;
                    painter.hline(cap, end, stroke);
                }
            }
            paint_sign(painter, middle, unit, nth, colour);
        }
        painter.add(Shape::line(points, stroke));
    }
}

/// A circle, a square or a triangle: curves differ in more than their colours.
fn paint_sign(painter: &WidgetPainter, at: Pos2, unit: f32, nth: usize, colour: Color32) {
    let size = SIGN * unit;
    match nth % 3 {
        0 => {
            painter.circle_filled(at, size, colour);
        }
        1 => {
            let square = Rect::from_center_size(at, vec2(2.0 * size, 2.0 * size));
            painter.rect_filled(square, 0.0, colour);
        }
        _ => {
            let corners = [vec2(0.0, -size), vec2(size, size), vec2(-size, size)];
            let corners = corners.map(|corner| at + 1.2 * corner).to_vec();
            painter.add(Shape::convex_polygon(corners, colour, Stroke::NONE));
        }
    }
}

fn paint_axes(painter: &WidgetPainter, axes: Rect, unit: f32, speedup: &Speedup, range: [f64; 2]) {
    let (font, colour) = (regular(13.0 * unit), painter.palette.label);
    let write = |text: String, at: Pos2, align: Align2| {
        let text = painter.layout_no_wrap(text, font.clone(), colour);
        put(painter, at, align, text);
    };
    let thin = (unit.max(1.0), painter.palette.rule);
    let left = axes.left() - 10.0 * unit;
    for rate in ticks(range) {
        let y = up(axes, range, rate).round();
        painter.hline(axes.x_range(), y, thin);
        let digits = (-rate.log10().floor()).max(0.0) as usize;
        let text = match digits {
            0 => grouped(rate.round() as u64),
            _ => format!("{rate:.digits$}"),
        };
        write(text, pos2(left, y), Align2::RIGHT_CENTER);
    }
    let corner = pos2(left, axes.top() - LINE * unit);
    write(tr!("rounds/s").into(), corner, Align2::RIGHT_CENTER);
    let below = axes.bottom() + 0.6 * BOTTOM * unit;
    write(
        tr!("instances").into(),
        pos2(left, below),
        Align2::RIGHT_CENTER,
    );
    for &instances in &speedup.instances {
        let at = pos2(across(axes, speedup, instances), below);
        write(grouped(instances as u64), at, Align2::CENTER_CENTER);
    }
}

/// Where so many instances stand.
fn across(axes: Rect, speedup: &Speedup, instances: usize) -> f32 {
    let most = speedup.instances.last().map_or(1, |&most| most);
    // Signs and figures at the ends have room.
    let inside = axes.shrink2(vec2(0.05 * axes.width(), 0.0));
    match most {
        1 => inside.center().x,
        _ => {
            let part = (instances as f64).log2() / (most as f64).log2();
            inside.left() + part as f32 * inside.width()
        }
    }
}

/// Where a rate stands.
fn up(axes: Rect, [low, high]: [f64; 2], rate: f64) -> f32 {
    let part = (rate / low).ln() / (high / low).ln();
    axes.bottom() - part as f32 * axes.height()
}

/// The rates that the upright axis reaches from and to: those measured, with some air, and no less
/// than a factor of 4. `None` if nothing is measured.
fn range(speedup: &Speedup) -> Option<[f64; 2]> {
    let points = speedup.series.iter().flat_map(|series| &series.points);
    let rates = points.flat_map(|point| {
        let [low, high] = point.interval.unwrap_or([point.rounds_per_second; 2]);
        [low, high].map(|rate| rate.max(f64::MIN_POSITIVE))
    });
    let [low, high] = rates.fold([f64::INFINITY, 0.0], |[low, high], rate: f64| {
        [low.min(rate), high.max(rate)]
    });
    let air = (2.0 / (high / low).sqrt()).max(1.15);
    (high > 0.0).then_some([low / air, high * air])
}

/// Round rates within a range: of each power of ten 1, 2 and 5, or alone the powers where those
/// would be too many.
fn ticks([low, high]: [f64; 2]) -> Vec<f64> {
    let decades = low.log10().floor() as i32..=high.log10().ceil() as i32;
    let within = |steps: &[f64]| -> Vec<f64> {
        let all = decades
            .clone()
            .flat_map(|decade| steps.iter().map(move |step| step * 10f64.powi(decade)));
        all.filter(|tick| (low..=high).contains(tick)).collect()
    };
    let fine = within(&[1.0, 2.0, 5.0]);
    if fine.len() > 7 { within(&[1.0]) } else { fine }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::SpeedupSeries;

    fn speedup(points: &[(f64, Option<[f64; 2]>)]) -> Speedup {
        let points = points.iter().enumerate();
        let points = points.map(|(nth, &(rounds_per_second, interval))| SpeedupPoint {
            instances: 1 << nth,
            rounds_per_second,
            interval,
        });
        Speedup {
            kernel: "bits".into(),
            width: 64,
            height: 64,
            generations_per_round: 1,
            instances: vec![1, 2, 4, 8, 12],
            series: vec![SpeedupSeries {
                title: "one stream for all".into(),
                points: points.collect(),
                unavailable: None,
            }],
        }
    }

    #[test]
    fn every_point_and_its_interval_stand_within_the_axes() {
        assert_eq!(range(&speedup(&[])), None);
        let axes = Rect::from_min_max(pos2(100.0, 50.0), pos2(500.0, 250.0));
        for points in [
            vec![(1000.0, None)],
            vec![(1000.0, Some([900.0, 1100.0]))],
            vec![(60_000.0, Some([50_000.0, 61_000.0])), (0.5, None)],
        ] {
            let speedup = speedup(&points);
            let range = range(&speedup).unwrap();
            assert!(range[1] / range[0] >= 3.99, "{range:?}");
            for point in &speedup.series[0].points {
                let x = across(axes, &speedup, point.instances);
                assert!(axes.x_range().contains(x));
                let rate = point.rounds_per_second;
                let [low, high] = point.interval.unwrap_or([rate, rate]);
                let [low, middle, high] = [low, rate, high].map(|rate| up(axes, range, rate));
                assert!(axes.y_range().contains(low) && axes.y_range().contains(high));
                assert!(high <= middle && middle <= low, "more is further up");
            }
        }
    }

    #[test]
    fn twice_as_many_instances_are_as_far_everywhere() {
        let axes = Rect::from_min_max(pos2(100.0, 50.0), pos2(500.0, 250.0));
        let speedup = speedup(&[]);
        let [one, two, four] = [1, 2, 4].map(|count| across(axes, &speedup, count));
        assert!((two - one - (four - two)).abs() < 1e-3 && two > one + 1.0);
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(ticks([40.0, 420.0]), [50.0, 100.0, 200.0]);
        assert_eq!(ticks([0.9, 11.0]), [1.0, 2.0, 5.0, 10.0]);
        assert_eq!(ticks([1.5, 60_000.0]), [10.0, 100.0, 1000.0, 10_000.0]);
    }
}
