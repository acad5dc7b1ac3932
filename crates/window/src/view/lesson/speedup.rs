//! The speed-up curve on a lesson's page: how many times faster N instances are stepped together
//! than one after the other, beside the ideal, over N; both axes are logarithmic, so that twice as
//! much is as far everywhere.

use egui::{Align2, Color32, Pos2, Rect, Shape, Stroke, pos2, vec2};

use crate::view::hud::style::*;
use crate::view::widget_painter::WidgetPainter;
use lang::tr;
use lesson::Speedup;
use ui::numbers::grouped;

/// Height of a line of text.
const LINE: f32 = 22.0;
/// The type of the curves' names, and of everything else.
const NAME: f32 = 17.0;
const TYPE: f32 = 15.0;
/// Room for the figures beside the upright axis.
const LEFT: f32 = 84.0;
/// Room for those below the other.
const BOTTOM: f32 = 28.0;
/// Half the size of a point's sign.
const SIGN: f32 = 5.0;
/// Between a curve's end and its name.
const GAP: f32 = 12.0;
/// The part of the width that the names take, at most.
const MAX_NAMES: f32 = 0.4;

/// Height that all of it takes, at least: in less room everything is smaller.
const HEIGHT: f32 = 300.0;

/// Pixels of a side, below which nothing could be read.
const SMALLEST_ROOM: f32 = 80.0;

/// Where a curve ends, its name and its colour.
struct CurveEnd {
    at: Pos2,
    name: String,
    colour: Color32,
}

/// Paints the captions and the curves into `room`, so much larger than usual at most.
pub(super) fn paint(painter: &WidgetPainter, room: Rect, scale: f32, speedup: &Speedup) {
    if room.height().min(room.width()) < SMALLEST_ROOM {
        return;
    }
    let scale = scale.min(room.height() / HEIGHT);
    let palette = &painter.palette;
    let colours = [palette.value, palette.accent, palette.comparison_b];
    let unavailable = speedup.series.iter().filter_map(|series| {
        let why = series.unavailable.as_ref()?;
        Some(format!("{}: {why}", lang::shown(&series.title)))
    });
    let captions = [speedup.caption(), Speedup::meaning().into()].into_iter();
    let mut top = room.top();
    for caption in captions.chain(unavailable) {
        let font = regular(TYPE * scale);
        let text = fitted(painter, &caption, font, palette.label, room.width());
        let middle = pos2(room.left(), top + 0.5 * LINE * scale);
        put(painter, middle, Align2::LEFT_CENTER, text);
        top += LINE * scale;
    }
    let Some((one, range)) = range(speedup) else {
        return;
    };
    let name =
        |text: &str, colour, width| fitted(painter, text, medium(NAME * scale), colour, width);
    let ideal = tr!("ideal");
    let titles = speedup
        .series
        .iter()
        .map(|series| lang::shown(&series.title));
    let widths = titles.chain([ideal.into()]).map(|title| {
        let title = painter.layout_no_wrap(title, medium(NAME * scale), palette.value);
        title.size().x
    });
    let names = widths.fold(0.0, f32::max).min(MAX_NAMES * room.width());
    let axes = Rect::from_min_max(
        pos2(room.left() + LEFT * scale, top + 1.6 * LINE * scale),
        room.max - vec2(names + GAP * scale, BOTTOM * scale),
    );
    paint_axes(painter, axes, scale, speedup, range);
    let at = |instances: usize, times: f64| {
        pos2(across(axes, speedup, instances), up(axes, range, times))
    };
    let most = speedup.instances.last().map_or(1, |&most| most);
    let thin = Stroke::new(1.6 * scale, palette.label);
    let diagonal = [at(1, 1.0), at(most, most as f64)];
    let dashes = Shape::dashed_line(&diagonal, thin, 6.0 * scale, 5.0 * scale);
    painter.extend(dashes);
    let mut ends = vec![CurveEnd {
        at: diagonal[1],
        name: ideal.into(),
        colour: palette.label,
    }];
    for (nth, series) in speedup.series.iter().enumerate() {
        let colour = colours[nth % colours.len()];
        let stroke = Stroke::new(2.4 * scale, colour);
        let mut points = Vec::new();
        for point in &series.points {
            let of = |rate: f64| at(point.instances, point.times(rate, one));
            let middle = of(point.rounds_per_second);
            if let Some(interval) = point.interval {
                let [low, high] = interval.map(|rate| of(rate).y);
                painter.vline(middle.x, high..=low, stroke);
                for end in [low, high] {
                    let cap = middle.x - SIGN * scale..=middle.x + SIGN * scale;
                    painter.hline(cap, end, stroke);
                }
            }
            paint_sign(painter, middle, scale, nth, colour);
            points.push(middle);
        }
        ends.extend(points.last().map(|&at| CurveEnd {
            at,
            name: lang::shown(&series.title),
            colour,
        }));
        painter.add(Shape::line(points, stroke));
    }
    for end in apart(ends, LINE * scale, axes.bottom()) {
        let left = end.at + vec2(GAP * scale, 0.0);
        let text = name(&end.name, end.colour, room.right() - left.x);
        put(painter, left, Align2::LEFT_CENTER, text);
    }
}

/// The ends of curves at heights at least `line` from one another, none below `bottom`.
fn apart(mut ends: Vec<CurveEnd>, line: f32, bottom: f32) -> Vec<CurveEnd> {
    ends.sort_by(|a, b| a.at.y.total_cmp(&b.at.y));
    let mut free = f32::MIN;
    for end in &mut ends {
        end.at.y = end.at.y.max(free);
        free = end.at.y + line;
    }
    let mut free = bottom;
    for end in ends.iter_mut().rev() {
        end.at.y = end.at.y.min(free);
        free = end.at.y - line;
    }
    ends
}

/// A circle, a square or a triangle: curves differ in more than their colours.
fn paint_sign(painter: &WidgetPainter, at: Pos2, scale: f32, nth: usize, colour: Color32) {
    let size = SIGN * scale;
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

fn paint_axes(painter: &WidgetPainter, axes: Rect, scale: f32, speedup: &Speedup, range: [f64; 2]) {
    let (font, colour) = (regular(TYPE * scale), painter.palette.label);
    let write = |text: String, at: Pos2, align: Align2| {
        let text = painter.layout_no_wrap(text, font.clone(), colour);
        let width = text.size().x;
        put(painter, at, align, text);
        width
    };
    let thin = (1.0, painter.palette.rule);
    let left = axes.left() - 10.0 * scale;
    for times in ticks(range) {
        let y = up(axes, range, times);
        painter.hline(axes.x_range(), y, thin);
        let digits = (-times.log10().floor()).max(0.0) as usize;
        let text = match digits {
            0 => grouped(times.round() as u64),
            _ => format!("{times:.digits$}"),
        };
        write(text + "×", pos2(left, y), Align2::RIGHT_CENTER);
    }
    let corner = pos2(left, axes.top() - LINE * scale);
    write(tr!("speed-up").into(), corner, Align2::RIGHT_CENTER);
    let below = axes.bottom() + 0.6 * BOTTOM * scale;
    write("N".into(), pos2(left, below), Align2::RIGHT_CENTER);
    let mut free = f32::MAX;
    for &instances in speedup.instances.iter().rev() {
        let at = pos2(across(axes, speedup, instances), below);
        let text = grouped(instances as u64);
        // As many as there is room for, the last one among them.
        if at.x + 0.35 * TYPE * scale * text.len() as f32 <= free {
            let width = write(text, at, Align2::CENTER_CENTER);
            free = at.x - width / 2.0 - 6.0 * scale;
        }
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

/// Where a speed-up stands.
fn up(axes: Rect, [low, high]: [f64; 2], times: f64) -> f32 {
    let part = (times / low).ln() / (high / low).ln();
    axes.bottom() - part as f32 * axes.height()
}

/// The rounds per second of one instance, in the first way of issuing, and the speed-ups that the
/// upright axis reaches from and to: those measured and the ideal one, with some air, and no less than a
/// factor of 4. `None` if nothing is measured.
fn range(speedup: &Speedup) -> Option<(f64, [f64; 2])> {
    let mut points = speedup.series.iter().flat_map(|series| &series.points);
    let one = speedup.alone()?;
    let most = speedup.instances.last().map_or(1.0, |&most| most as f64);
    let [low, high] = points.try_fold([1.0, most], |[low, high]: [f64; 2], point| {
        let ends = point.interval.unwrap_or([point.rounds_per_second; 2]);
        let [from, to] = ends.map(|rate| point.times(rate, one));
        (from > 0.0).then_some([low.min(from), high.max(to)])
    })?;
    let air = (2.0 / (high / low).sqrt()).max(1.15);
    Some((one, [low / air, high * air]))
}

/// Round numbers within a range: of each power of ten 1, 2 and 5, or alone the powers where those
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
    use lesson::{SpeedupPoint, SpeedupSeries};

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
            vec![(1000.0, Some([900.0, 1100.0]))],
            vec![(60_000.0, Some([50_000.0, 61_000.0])), (0.5, None)],
        ] {
            let speedup = speedup(&points);
            let (one, range) = range(&speedup).unwrap();
            assert!(range[1] / range[0] >= 3.99, "{range:?}");
            for point in &speedup.series[0].points {
                let x = across(axes, &speedup, point.instances);
                assert!(axes.x_range().contains(x));
                let rate = point.rounds_per_second;
                let [low, high] = point.interval.unwrap_or([rate, rate]);
                let heights = [low, rate, high].map(|rate| up(axes, range, point.times(rate, one)));
                assert!(heights.iter().all(|it| axes.y_range().contains(*it)));
                assert!(heights.is_sorted_by(|a, b| a >= b), "more is further up");
            }
        }
        // Twice as many instances are as far everywhere.
        let [one, two, four] = [1, 2, 4].map(|count| across(axes, &speedup(&[]), count));
        assert!((two - one - (four - two)).abs() < 1e-3 && two > one + 1.0);
    }

    #[test]
    fn a_speed_up_is_that_of_the_instances_not_of_the_rounds() {
        // Four at once in the time of two: half the rounds, twice the lattices.
        let speedup = speedup(&[(1000.0, None), (1000.0, None), (500.0, None)]);
        let (one, _) = range(&speedup).unwrap();
        let points = speedup.series[0].points.iter();
        let all: Vec<f64> = points
            .map(|point| point.times(point.rounds_per_second, one))
            .collect();
        assert_eq!(all, [1.0, 2.0, 2.0]);
    }

    #[test]
    fn the_names_of_curves_that_end_together_do_not_lie_over_one_another() {
        let end = |y: f32| CurveEnd {
            at: pos2(9.0, y),
            name: String::new(),
            colour: UNTINTED,
        };
        let ends = apart([98.0, 10.0, 99.0, 12.0].map(end).into(), 20.0, 100.0);
        let heights: Vec<f32> = ends.iter().map(|end| end.at.y).collect();
        assert_eq!(heights, [10.0, 30.0, 80.0, 100.0]);
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(ticks([40.0, 420.0]), [50.0, 100.0, 200.0]);
        assert_eq!(ticks([0.9, 11.0]), [1.0, 2.0, 5.0, 10.0]);
        assert_eq!(ticks([1.5, 60_000.0]), [10.0, 100.0, 1000.0, 10_000.0]);
    }
}
