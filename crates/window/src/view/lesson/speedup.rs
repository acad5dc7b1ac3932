//! The speed-up curve on a lesson's page: how many times faster N instances are stepped together
//! than one after the other, beside the ideal, over N; both axes are logarithmic, so that twice as
//! much is as far everywhere.

use egui::*;

use crate::view::style::*;
use lang::tr;
use lesson::Speedup;
use ui::numbers::grouped;

/// The type of everything.
const TYPE: f32 = 15.0;
/// Room for the figures beside the upright axis, the lines' names, and the figures below the other axis.
const LEFT: f32 = 84.0;
const RIGHT: f32 = 140.0;
const BOTTOM: f32 = 28.0;
/// The height of the whole page's type in which there is room for all of it: in less it is smaller.
const HEIGHT: f32 = 240.0;

/// Shows the captions, what curves there are, and these below, in type of a size at most.
pub(super) fn show(ui: &mut Ui, palette: &Palette, size: f32, speedup: &Speedup) {
    let scale = size.min(ui.available_height() / HEIGHT);
    let colours = [palette.value, palette.accent, palette.comparison_b];
    let text = |text: String, colour| styled(text, regular(TYPE * scale), colour);
    ui.spacing_mut().item_spacing.y = 2.0 * scale;
    for caption in [speedup.caption(), Speedup::meaning().into()] {
        ui.label(text(caption, palette.label));
    }
    let ideal = Stroke::new(1.6 * scale, palette.label);
    let strokes = colours.map(|colour| Stroke::new(2.4 * scale, colour));
    for series in &speedup.series {
        if let Some(why) = &series.unavailable {
            let title = lang::shown(&series.title);
            ui.label(text(format!("{title}: {why}"), palette.label));
        }
    }
    let Some((one, [low, high])) = range(speedup) else {
        return;
    };
    let room = ui.available_rect_before_wrap();
    let painter = ui.painter();
    let font = regular(TYPE * scale);
    let most = speedup.instances.last().map_or(1, |&most| most);
    // The name of each line stands at its end.
    let mut names = vec![(tr!("ideal").into(), ideal.color, most as f64)];
    for (series, colour) in speedup.series.iter().zip(colours) {
        if let Some(last) = series.points.last() {
            let times = last.times(last.rounds_per_second, one);
            names.push((lang::shown(&series.title), colour, times));
        }
    }
    names.sort_by(|one, other| one.2.total_cmp(&other.2));
    let axes = Rect::from_min_max(
        room.min + vec2(LEFT, 2.0 * TYPE) * scale,
        room.max - vec2(RIGHT, BOTTOM) * scale,
    );
    let x = |instances: usize| {
        let part = (instances as f64).log2() / (most.max(2) as f64).log2();
        axes.left() + TYPE * scale + part as f32 * (axes.width() - TYPE * scale)
    };
    let y = |times: f64| {
        axes.bottom() - ((times / low).ln() / (high / low).ln()) as f32 * axes.height()
    };
    let write =
        |at, align, text: String| painter.text(at, align, text, font.clone(), palette.label);
    let left = axes.left() - 10.0 * scale;
    let powers = low.log2().ceil() as i32..=high.log2().floor() as i32;
    for power in powers.clone().step_by(powers.count() / 8 + 1) {
        let times = 2f64.powi(power);
        painter.hline(axes.x_range(), y(times), (1.0, palette.rule));
        let text = match power {
            0.. => grouped(times as u64),
            _ => times.to_string(),
        };
        write(pos2(left, y(times)), Align2::RIGHT_CENTER, text + "×");
    }
    let corner = pos2(left, axes.top() - 1.4 * TYPE * scale);
    write(corner, Align2::RIGHT_CENTER, tr!("speed-up").into());
    let below = axes.bottom() + 0.6 * BOTTOM * scale;
    write(pos2(left, below), Align2::RIGHT_CENTER, "N".into());
    let mut free = f32::MAX;
    for &instances in speedup.instances.iter().rev() {
        let (at, text) = (pos2(x(instances), below), grouped(instances as u64));
        // As many as there is room for, the last one among them.
        if at.x + 0.35 * TYPE * scale * text.len() as f32 <= free {
            free = write(at, Align2::CENTER_CENTER, text).left() - 6.0 * scale;
        }
    }
    let mut lowest = f32::MAX;
    for (name, colour, times) in names {
        let at = pos2(axes.right() + 0.6 * TYPE * scale, y(times).min(lowest));
        painter.text(at, Align2::LEFT_CENTER, name, font.clone(), colour);
        lowest = at.y - 1.15 * TYPE * scale;
    }
    painter.line_segment([pos2(x(1), y(1.0)), pos2(x(most), y(most as f64))], ideal);
    for (nth, series) in speedup.series.iter().enumerate() {
        let stroke = strokes[nth % 3];
        let mut points = Vec::new();
        for point in &series.points {
            let at = |rate: f64| pos2(x(point.instances), y(point.times(rate, one)));
            if let Some([low, high]) = point.interval {
                painter.line_segment([at(low), at(high)], stroke);
            }
            let middle = at(point.rounds_per_second);
            let radius = 4.0 * scale;
            match nth % 3 {
                0 => painter.circle_filled(middle, radius, stroke.color),
                1 => {
                    let square = Rect::from_center_size(middle, Vec2::splat(2.0 * radius));
                    painter.rect_filled(square, 0.0, stroke.color)
                }
                _ => painter.circle_stroke(middle, radius, stroke),
            };
            points.push(middle);
        }
        painter.extend(line(points, nth, stroke));
    }
}

/// The line of the nth series: they differ in more than their colours.
fn line(points: Vec<Pos2>, nth: usize, stroke: Stroke) -> Vec<Shape> {
    let width = stroke.width;
    match nth % 3 {
        0 => vec![Shape::line(points, stroke)],
        1 => Shape::dashed_line(&points, stroke, 3.5 * width, 2.0 * width),
        _ => Shape::dotted_line(&points, stroke.color, 2.5 * width, 0.7 * width),
    }
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

#[cfg(test)]
mod tests {
    use egui::{Context, RawInput, Shape};

    use super::*;
    use crate::view::style::install_fonts;

    /// Of the second series, which has nearly all rounds of one instance at two.
    #[test]
    fn a_point_stands_at_its_instances_and_its_speed_up() {
        let speedup = ui::fixtures::speedup_page(5, false).speedup.unwrap();
        let context = Context::default();
        install_fonts(&context);
        let palette = ui::theme::palette(0).map(opaque);
        let screen = Rect::from_min_size(pos2(0.0, 0.0), vec2(800.0, 600.0));
        let input = RawInput {
            screen_rect: Some(screen),
            ..RawInput::default()
        };
        let mut output = context.run_ui(input, |ui| {
            show(ui, &palette, 1.0, &speedup);
        });
        let shapes = std::mem::take(&mut output.shapes).into_iter();
        output.drop_without_applying_deltas();
        let shapes: Vec<Shape> = shapes.map(|clipped| clipped.shape).collect();
        let place = |wanted: &str| {
            let is_it = |shape: &&Shape| match shape {
                Shape::Text(text) => text.galley.text() == wanted,
                _ => false,
            };
            let shape = shapes.iter().find(is_it).unwrap();
            shape.visual_bounding_rect().center()
        };
        let squares = shapes.iter().filter_map(|shape| match shape {
            Shape::Rect(square) => Some(square.rect.center()),
            _ => None,
        });
        for (point, [instances, times]) in squares.zip([["1", "1×"], ["2", "2×"]]) {
            let (below, beside) = (place(instances), place(times));
            assert!((point.x - below.x).abs() < 2.0 && (point.y - beside.y).abs() < 4.0);
            assert!(
                beside.x < point.x && point.y < below.y,
                "{point} {beside} {below}"
            );
        }
    }
}
