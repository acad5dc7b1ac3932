//! What stands over two halves of the panels: which is A and which is B, what differs in their
//! settings, how long each takes, and that their cells are the same.

use std::sync::Arc;

use egui::{Align2, Color32, FontId, Galley, Rect, pos2, vec2};

use crate::hud::rect_of;
use crate::hud::style::*;
use crate::layout::ComparisonPlaces;
use crate::lesson::paint_sign;
use engine::Kernel;
use lang::tr;
use model::{AbComparison, Status, Switch};
use screen::numbers::{grouped, time_us};

const NAMES: [&str; 2] = ["A", "B"];

/// Paints band and headers; none of it lies over a panel.
pub(crate) fn paint(
    painter: &ThemedPainter,
    status: &Status,
    comparison: &AbComparison,
    places: &ComparisonPlaces,
    unit: f32,
) {
    paint_band(painter, rect_of(places.band), comparison, unit);
    let settings = settings(comparison, status.kernel);
    for (half, settings) in settings.iter().enumerate() {
        let rect = rect_of(places.headers[half]);
        let round_us = comparison.round_us[half];
        paint_header(painter, rect, unit, half, settings, round_us);
    }
}

/// The switches in which A and B differ, in words, and in fewer where there is no room for those.
fn settings(comparison: &AbComparison, kernel: &Kernel) -> [[String; 2]; 2] {
    let position = |half: usize, switch: Switch| {
        let now = comparison.switches[half];
        let mut choices = switch.choices(now, kernel);
        choices.swap_remove(switch.position(now, kernel)).label
    };
    let differing: Vec<Switch> = Switch::ALL
        .into_iter()
        .filter(|&switch| position(0, switch) != position(1, switch))
        .collect();
    [0, 1].map(|half| {
        let labels = differing.iter().map(|&switch| position(half, switch));
        let short: Vec<String> = labels.collect();
        let names = differing.iter().map(|switch| switch.name());
        let long: Vec<String> = names
            .zip(&short)
            .map(|(name, label)| format!("{name} {label}"))
            .collect();
        if differing.is_empty() {
            return [tr!("the same settings").into(), tr!("the same").into()];
        }
        [long, short].map(|words| words.join(" · "))
    })
}

/// How A's and B's rounds compare, in words and in fewer.
fn factor(comparison: &AbComparison) -> [String; 2] {
    let [Some(a), Some(b)] = comparison.round_us else {
        return [tr!("measuring …").into(), "…".into()];
    };
    let (slow, fast, factor) = if a >= b {
        ("A", "B", a / b)
    } else {
        ("B", "A", b / a)
    };
    if factor < 1.02 {
        return [
            tr!(
                "A and B take the same time per round ({factor}×)",
                factor = format_args!("{factor:.2}")
            ),
            tr!(
                "the same time ({factor}×)",
                factor = format_args!("{factor:.2}")
            ),
        ];
    }
    [
        tr!(
            "{slow} is {factor}× slower per round than {fast}",
            slow = slow,
            factor = format_args!("{factor:.2}"),
            fast = fast
        ),
        tr!(
            "{slow} is {factor}× slower than {fast}",
            slow = slow,
            factor = format_args!("{factor:.2}"),
            fast = fast
        ),
    ]
}

/// The first of the two if there is room for it, else the second.
fn either(
    painter: &ThemedPainter,
    texts: &[String; 2],
    font: FontId,
    ink: Color32,
    room: f32,
) -> Arc<Galley> {
    let long = painter.layout_no_wrap(texts[0].clone(), font.clone(), ink);
    if long.size().x * 0.85 <= room {
        return fitted(painter, &texts[0], font, ink, room);
    }
    fitted(painter, &texts[1], font, ink, room)
}

/// Whether their cells are the same, and that in words; `None` before they were compared.
fn sameness(differing: Option<(u64, u64)>) -> Option<(bool, String)> {
    let (cells, generation) = differing?;
    let verb = if cells == 1 {
        tr!("cell differs")
    } else {
        tr!("cells differ")
    };
    let text = tr!(
        "{} {verb} · generation {}",
        grouped(cells),
        grouped(generation),
        verb = verb
    );
    Some((cells == 0, text))
}

fn paint_band(painter: &ThemedPainter, rect: Rect, comparison: &AbComparison, unit: f32) {
    let inside = rect.shrink2(vec2(10.0 * unit, 0.0));
    let gap = 16.0 * unit;
    let (holds, text) = match sameness(comparison.differing) {
        None => (None, tr!("comparing the cells …").to_owned()),
        Some((holds, text)) => (Some(holds), text),
    };
    let ink = match holds {
        Some(true) => painter.palette.running,
        Some(false) => painter.palette.value,
        None => painter.palette.label,
    };
    let room = 0.46 * inside.width();
    let text = fitted(painter, &text, medium(16.0 * unit), ink, room);
    let left = inside.right() - text.size().x;
    put(painter, inside.right_center(), Align2::RIGHT_CENTER, text);
    let mut used = left;
    if let Some(holds) = holds {
        let size = (18.0 * unit).min(rect.height());
        used = left - 8.0 * unit - size;
        let corner = pos2(used, rect.center().y - size / 2.0);
        paint_sign(
            painter,
            Rect::from_min_size(corner, vec2(size, size)),
            holds,
        );
    }
    let room = (used - gap - inside.left()).max(1.0);
    let font = medium(18.0 * unit);
    let factor = either(
        painter,
        &factor(comparison),
        font,
        painter.palette.value,
        room,
    );
    put(painter, inside.left_center(), Align2::LEFT_CENTER, factor);
}

/// The half's letter, its settings and its time.
fn paint_header(
    painter: &ThemedPainter,
    rect: Rect,
    unit: f32,
    half: usize,
    settings: &[String; 2],
    round_us: Option<f64>,
) {
    let inside = rect.shrink2(vec2(6.0, 3.0) * unit);
    painter.rect_filled(inside, 6.0 * unit, painter.palette.comparison);
    let side = inside.height();
    let letter = Rect::from_min_size(inside.min, vec2(side, side));
    // They differ in lightness too.
    let colours = [painter.palette.accent, painter.palette.comparison_b];
    painter.rect_filled(letter, 6.0 * unit, colours[half]);
    let dark = painter.palette.on_bright;
    let name = fitted(painter, NAMES[half], medium(0.62 * side), dark, side);
    put(painter, letter.center(), Align2::CENTER_CENTER, name);
    let left = letter.right() + 10.0 * unit;
    let room = (inside.right() - left - 6.0 * unit).max(1.0);
    let line = side / 2.0;
    let time = round_us.map_or(tr!("measuring …").into(), |us| {
        tr!("{} per round", time_us(us))
    });
    let font = |size: f32| medium((size * unit).min(0.9 * line));
    let time = fitted(painter, &time, font(17.0), painter.palette.value, room);
    let settings = either(painter, settings, font(14.0), painter.palette.label, room);
    for (row, text) in [time, settings].into_iter().enumerate() {
        let y = inside.top() + (row as f32 + 0.5) * line;
        put(painter, pos2(left, y), Align2::LEFT_CENTER, text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::HostMemory;
    use engine::kernels::find;
    use model::{Streams, Switches};

    fn comparison(b: Switches, round_us: [Option<f64>; 2]) -> AbComparison {
        AbComparison {
            switches: [Switches::DEFAULT, b],
            round_us,
            differing: None,
            each: 8,
        }
    }

    #[test]
    fn only_what_differs_is_named() {
        let kernel = find("bits").unwrap();
        let b = Switches {
            streams: Streams::One,
            host_memory: HostMemory::Pageable,
            ..Switches::DEFAULT
        };
        let [a, b] = settings(&comparison(b, [None, None]), kernel);
        assert_eq!(a[0], "streams per-instance · host memory pinned");
        assert_eq!(b, ["streams one · host memory pageable", "one · pageable"]);
        let [a, b] = settings(&comparison(Switches::DEFAULT, [None, None]), kernel);
        assert_eq!(
            (a[0].as_str(), b[1].as_str()),
            ("the same settings", "the same")
        );
    }

    #[test]
    fn the_slower_half_is_named_with_its_factor() {
        let say = |a, b| factor(&comparison(Switches::DEFAULT, [a, b]))[0].clone();
        assert_eq!(
            say(Some(100.0), Some(830.0)),
            "B is 8.30× slower per round than A"
        );
        assert_eq!(
            say(Some(150.0), Some(100.0)),
            "A is 1.50× slower per round than B"
        );
        assert_eq!(
            say(Some(101.0), Some(100.0)),
            "A and B take the same time per round (1.01×)"
        );
        assert_eq!(say(Some(1.0), None), "measuring …");
    }

    #[test]
    fn cells_are_the_same_or_it_is_a_fault() {
        assert_eq!(sameness(None), None);
        let same = (true, "0 cells differ · generation 1,234".to_owned());
        assert_eq!(sameness(Some((0, 1234))), Some(same));
        let fault = (false, "1 cell differs · generation 9".to_owned());
        assert_eq!(sameness(Some((1, 9))), Some(fault));
    }
}
