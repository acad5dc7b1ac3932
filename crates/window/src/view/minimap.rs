//! A small picture of the whole lattice in the corner of a panel that shows a part of it, with that
//! part framed; it leads the camera.
//!
//! It is drawn from the same bits as the panel, by state. Where a reduced view crosses the bus there
//! is nothing of the rest, and the frame stands on a plain background.

use egui::{Rect, Stroke, StrokeKind, pos2};

use crate::view::Frame;
use crate::view::layout::{PixelRect, WindowLayout, in_pixels};
use crate::view::panels::Minimap;
use crate::view::widget_painter::WidgetPainter;
use life::Size;
use ui::{Camera, CellRect, MinimapRegion};

/// The most of a panel's sides that it takes.
const MAX_PANEL_SHARE: f64 = 0.3;
/// The longest side, in points.
const MAX_SIDE: f64 = 220.0;
/// In less pixels nothing can be seen.
const MIN_SIDE_PIXELS: f64 = 36.0;

/// The minimap of a frame, if there is room for it.
pub(crate) fn minimap(frame: &Frame<'_>, layout: &WindowLayout) -> Option<Minimap> {
    placed(frame, layout).map(|(small, _)| small)
}

/// The same with the region that it frames.
fn placed(frame: &Frame<'_>, layout: &WindowLayout) -> Option<(Minimap, MinimapRegion)> {
    let status = frame.sources.status?;
    let region = ui::minimap(frame.sources, layout.tiling.panel)?;
    let instance = region.instance;
    let place = frame.sources.single_instance().map_or(instance, |_| 0);
    let rect = place_in(
        layout.tiling.rect(place),
        status.lattices.size,
        layout.pixels_per_point,
    )?;
    let sides = [rect.width, rect.height];
    let transform = Camera::default().target_transform(status.lattices.size, sides);
    let minimap = Minimap {
        instance,
        rect,
        transform,
    };
    Some((minimap, region))
}

/// Where it stands in a panel, if that is large enough.
fn place_in(panel: PixelRect, size: Size, pixels_per_point: f32) -> Option<PixelRect> {
    let [width, height] = [panel.width, panel.height].map(f64::from);
    let aspect = f64::from(size.width()) / f64::from(size.height());
    let longest = MAX_SIDE * f64::from(pixels_per_point);
    let most = [
        (MAX_PANEL_SHARE * width).min(longest),
        (MAX_PANEL_SHARE * height).min(longest),
    ];
    let sides = [most[0].min(most[1] * aspect), most[1].min(most[0] / aspect)];
    if sides[0].max(sides[1]) < MIN_SIDE_PIXELS {
        return None;
    }
    let [width, height] = sides.map(|side| side.round().max(3.0) as u32);
    let margin = in_pixels(6.0, pixels_per_point);
    Some(PixelRect {
        x: (panel.x + panel.width).checked_sub(width + margin)?,
        y: (panel.y + panel.height).checked_sub(height + margin)?,
        width,
        height,
    })
}

/// Paints the frames; the cells are the panels' work.
pub(crate) fn paint(painter: &WidgetPainter, frame: &Frame<'_>, layout: &WindowLayout) {
    let thin = 1.0;
    // What is seen stands out from afar, as the selected panel does.
    let thick = 2.0;
    if let Some((small, region)) = placed(frame, layout) {
        let rect = layout.points(small.rect);
        painter.rect_stroke(
            rect,
            0.0,
            Stroke::new(thin, painter.palette.background),
            StrokeKind::Inside,
        );
        painter.rect_stroke(
            rect,
            0.0,
            Stroke::new(thin, painter.palette.label),
            StrokeKind::Outside,
        );
        let seen = || {
            let parts = region.parts.iter();
            parts.map(|part| rect_in(&small, part, layout).intersect(rect))
        };
        for (wide, colour) in [
            (thick + 2.0 * thin, painter.palette.background),
            (thick, painter.palette.value),
        ] {
            for seen in seen() {
                painter.rect_stroke(seen, 0.0, Stroke::new(wide, colour), StrokeKind::Outside);
            }
        }
    }
}

/// A rectangle of the lattice as one of the minimap.
fn rect_in(small: &Minimap, part: &CellRect, layout: &WindowLayout) -> Rect {
    let [from, to] = [part.from, part.to].map(|corner| {
        let [x, y] = small.transform.to_pixels(corner);
        pos2(
            (f64::from(small.rect.x) + x).round() as f32,
            (f64::from(small.rect.y) + y).round() as f32,
        ) / layout.pixels_per_point
    });
    // However little is seen, there is something to see of it.
    Rect::from_min_max(from, to.max(from + egui::vec2(2.0, 2.0)))
}

/// The point of its lattice, in cells, that the minimap has at a point, also beyond its edges.
pub(crate) fn cell_of(frame: &Frame<'_>, layout: &WindowLayout, at: [f64; 2]) -> Option<[f64; 2]> {
    let small = minimap(frame, layout)?;
    let corner = [small.rect.x, small.rect.y].map(f64::from);
    Some(
        small
            .transform
            .to_cells([at[0] - corner[0], at[1] - corner[1]]),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::Transfer;
    use ui::ViewOptions;
    use ui::fixtures::status;

    fn with<T>(
        options: &ViewOptions,
        transfer: Transfer,
        check: impl Fn(&Frame<'_>, &WindowLayout) -> T,
    ) -> T {
        let mut status = status(6, Size::new(512, 256).unwrap());
        (status.panels.selected, status.setting.transfer) = (4, transfer);
        let frame = Frame::plain(&status, options).composed();
        let (layout, _) = frame.layout().unwrap();
        check(&frame, &layout)
    }

    fn shown(options: &ViewOptions, transfer: Transfer) -> Option<usize> {
        with(options, transfer, |frame, layout| {
            let small = minimap(frame, layout)?;
            let single = frame.sources.single_instance();
            let place = single.map_or(small.instance, |_| 0);
            let panel = layout.points(layout.tiling.rect(place));
            assert!(panel.contains_rect(layout.points(small.rect)), "{small:?}");
            Some(small.instance)
        })
    }

    #[test]
    fn only_what_shows_a_part_has_one() {
        let (size, panel) = (Size::new(512, 256).unwrap(), [300, 150]);
        let mut options = ViewOptions::default();
        assert_eq!(shown(&options, Transfer::Bits), None);
        options.camera.zoom(4.0, size, panel);
        assert_eq!(shown(&options, Transfer::Bits), Some(4));
        options.single = true;
        assert_eq!(shown(&options, Transfer::View), Some(4));
        options.hides_minimap = true;
        assert_eq!(shown(&options, Transfer::Bits), None);
    }

    #[test]
    fn a_click_leads_to_the_cell_that_is_shown_there() {
        let (size, panel) = (Size::new(512, 256).unwrap(), [300, 150]);
        let mut options = ViewOptions::default();
        options.camera.zoom(4.0, size, panel);
        with(&options, Transfer::Bits, |frame, layout| {
            let rect = minimap(frame, layout).unwrap().rect;
            let corner = [rect.x, rect.y].map(f64::from);
            let end = [
                corner[0] + f64::from(rect.width) - 0.5,
                corner[1] + f64::from(rect.height) - 0.5,
            ];
            let first = cell_of(frame, layout, corner).unwrap();
            let last = cell_of(frame, layout, end).unwrap();
            assert!(first.iter().all(|at| at.abs() < 2.0), "{first:?}");
            assert!(last[0] > 500.0 && last[1] > 250.0, "{last:?}");
            let beside = [corner[0] - 1.0, corner[1]];
            assert!(cell_of(frame, layout, beside).unwrap()[0] < 0.0);
        });
    }
}
