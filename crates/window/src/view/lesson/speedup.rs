//! The speed-up curve on a lesson's page: how many times faster N instances are stepped together
//! than one after the other, beside the ideal, over N; both axes are logarithmic, so that twice as
//! much is as far everywhere.

use egui::accesskit::Role;
use egui::{
    Align2, Color32, Painter, Pos2, Rect, RichText, Sense, Shape, Stroke, Ui, WidgetInfo, pos2,
    vec2,
};

use crate::view::hud::style::*;
use lang::tr;
use lesson::Speedup;
use ui::numbers::grouped;
use ui::theme::Palette;

/// Height of a line of text.
const LINE: f32 = 22.0;
const TYPE: f32 = 15.0;
/// Room for the figures beside the upright axis.
const LEFT: f32 = 84.0;
/// Room for those below the other.
const BOTTOM: f32 = 28.0;
/// Half the size of a point's sign.
const SIGN: f32 = 5.0;

/// Height that all of it takes, at least: in less room everything is smaller.
const HEIGHT: f32 = 300.0;

/// Pixels of a side, below which nothing could be read.
const SMALLEST_ROOM: f32 = 80.0;

/// Shows captions, the names of the curves, and these below, so much larger than usual at most.
pub(super) fn show(ui: &mut Ui, palette: &Palette<Color32>, scale: f32, speedup: &Speedup) {
    let room = ui.available_size();
    if room.min_elem() < SMALLEST_ROOM {
        return;
    }
    let scale = scale.min(room.y / HEIGHT);
    let text = |text: String, colour| {
        RichText::new(text)
            .font(regular(TYPE * scale))
            .color(colour)
    };
    ui.spacing_mut().item_spacing = vec2(8.0, 2.0) * scale;
    ui.label(text(speedup.caption(), palette.label));
    ui.label(text(Speedup::meaning().into(), palette.label));
    let colours = [palette.value, palette.accent, palette.comparison_b];
    let series = || speedup.series.iter().zip(colours.into_iter().cycle());
    for (series, _) in series() {
        if let Some(why) = &series.unavailable {
            let title = lang::shown(&series.title);
            ui.label(text(format!("{title}: {why}"), palette.label));
        }
    }
    let Some((one, range)) = range(speedup) else {
        return;
    };
    ui.horizontal_wrapped(|ui| {
        for (nth, (series, colour)) in series().enumerate() {
            let size = vec2(3.0 * SIGN, LINE) * scale;
            let (place, _) = ui.allocate_exact_size(size, Sense::hover());
            paint_sign(ui.painter(), place.center(), scale, nth, colour);
            ui.label(text(lang::shown(&series.title), colour));
        }
        ui.label(text(format!("┄ {}", tr!("ideal")), palette.label));
    });
    let (all, chart) = ui.allocate_exact_size(ui.available_size(), Sense::hover());
    let rows = (0..speedup.measured()).map(|nth| speedup.row(nth).join(": "));
    let rows = rows.collect::<Vec<_>>().join("; ");
    chart.widget_info(|| WidgetInfo::labeled(Role::Image, true, &rows));
    let painter = ui.painter();
    let axes = Rect::from_min_max(
        all.min + vec2(LEFT, 1.6 * LINE) * scale,
        all.max - vec2(0.0, BOTTOM) * scale,
    );
    paint_axes(painter, axes, scale, speedup, range, palette);
    let at = |instances: usize, times: f64| {
        pos2(across(axes, speedup, instances), up(axes, range, times))
    };
    let most = speedup.instances.last().map_or(1, |&most| most);
    let thin = Stroke::new(1.6 * scale, palette.label);
    let diagonal = [at(1, 1.0), at(most, most as f64)];
    let dashes = Shape::dashed_line(&diagonal, thin, 6.0 * scale, 5.0 * scale);
    painter.extend(dashes);
    for (nth, (series, colour)) in series().enumerate() {
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
        painter.add(Shape::line(points, stroke));
    }
}

/// A circle, a square or a triangle: curves differ in more than their colours.
fn paint_sign(painter: &Painter, at: Pos2, scale: f32, nth: usize, colour: Color32) {
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

fn paint_axes(
    painter: &Painter,
    axes: Rect,
    scale: f32,
    speedup: &Speedup,
    range: [f64; 2],
    palette: &Palette<Color32>,
) {
    let write = |text: String, at: Pos2, align: Align2| {
        painter.text(at, align, text, regular(TYPE * scale), palette.label)
    };
    let left = axes.left() - 10.0 * scale;
    for times in ticks(range) {
        let y = up(axes, range, times);
        painter.hline(axes.x_range(), y, (1.0, palette.rule));
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
            let written = write(text, at, Align2::CENTER_CENTER);
            free = written.left() - 6.0 * scale;
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
        let points = &speedup.series[0].points;
        let times = [0, 1, 2].map(|at| points[at].times(points[at].rounds_per_second, 1000.0));
        assert_eq!(times, [1.0, 2.0, 2.0]);
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(ticks([40.0, 420.0]), [50.0, 100.0, 200.0]);
        assert_eq!(ticks([0.9, 11.0]), [1.0, 2.0, 5.0, 10.0]);
        assert_eq!(ticks([1.5, 60_000.0]), [10.0, 100.0, 1000.0, 10_000.0]);
    }
}
