//! Where panels and HUD stand in the window. Pure arithmetic: the same window gives the same
//! places, whatever the figures are.

use crate::life::Size;
use crate::view::timeline::place;

/// A rectangle in whole pixels.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PixelRect {
    /// Left edge.
    pub x: u32,
    /// Top edge.
    pub y: u32,
    /// Width.
    pub width: u32,
    /// Height.
    pub height: u32,
}

impl PixelRect {
    /// Whether the point lies in it.
    pub fn contains(self, [x, y]: [f64; 2]) -> bool {
        let inside = |at: f64, from: u32, length: u32| {
            at >= f64::from(from) && at < f64::from(from) + f64::from(length)
        };
        inside(x, self.x, self.width) && inside(y, self.y, self.height)
    }
}

/// Where the HUD is docked; it never covers a panel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dock {
    /// The window is too small for one.
    Hidden,
    /// Beside the panels, to the right.
    Side(PixelRect),
    /// Below the panels.
    Bar(PixelRect),
}

impl Dock {
    /// Its place, if it has one.
    pub fn rect(self) -> Option<PixelRect> {
        match self {
            Dock::Hidden => None,
            Dock::Side(rect) | Dock::Bar(rect) => Some(rect),
        }
    }
}

/// Equal panels in rows and columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tiling {
    /// How many panels.
    pub count: usize,
    /// Panels a row.
    pub columns: usize,
    /// A panel's width and height in pixels.
    pub panel: [u32; 2],
    /// The first panel's top left corner in pixels.
    pub origin: [u32; 2],
    /// Pixels between panels.
    pub gap: u32,
}

impl Tiling {
    /// Where the panel in this place stands.
    pub fn rect(&self, place: usize) -> PixelRect {
        let step =
            |axis: usize, n: usize| self.origin[axis] + (self.panel[axis] + self.gap) * n as u32;
        PixelRect {
            x: step(0, place % self.columns),
            y: step(1, place / self.columns),
            width: self.panel[0],
            height: self.panel[1],
        }
    }

    /// The place under a point in pixels.
    pub fn place_at(&self, point: [f64; 2]) -> Option<usize> {
        (0..self.count).find(|&place| self.rect(place).contains(point))
    }
}

/// The whole window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Layout {
    /// The HUD.
    pub dock: Dock,
    /// The timeline, below the panels; it covers neither them nor the HUD.
    pub timeline: Option<PixelRect>,
    /// The panels.
    pub tiling: Tiling,
    /// Pixels of one unit of type and spacing; it grows with the window, for the last row of a
    /// lecture hall.
    pub unit: f32,
}

/// Lays out a window of `pixels` at `scale` pixels a point, with `panels` panels of lattices of
/// this size, and with a timeline of so many `lanes` if there is to be one and there is room.
pub fn lay_out(
    pixels: [u32; 2],
    scale: f32,
    panels: usize,
    size: Size,
    lanes: Option<usize>,
) -> Layout {
    let unit = unit(pixels, scale);
    let gap = match panels {
        0..=36 => 6.0,
        37..=144 => 4.0,
        145..=1024 => 2.0,
        _ => 1.0,
    };
    let mut dock = dock(pixels, scale, unit);
    // As high as it is where the figures leave most room, however high they become.
    let timeline = lanes.map_or(0, |lanes| {
        timeline_height(beside(pixels, dock), unit, lanes)
    });
    let tiling = |dock| {
        let [width, height] = beside(pixels, dock);
        let area = [width, height.saturating_sub(timeline)];
        tile(area, panels, aspect(size), (gap * unit).round() as u32)
    };
    let mut tiled = tiling(dock);
    if let Dock::Bar(rect) = dock {
        // Height that the panels cannot use is the figures'.
        let taller = [0.5, 0.46, 0.42, 0.38, 0.34].map(|part| Dock::Bar(bar(pixels, part, rect)));
        if let Some(free) = taller
            .into_iter()
            .find(|&bar| tiling(bar).panel == tiled.panel)
        {
            (dock, tiled) = (free, tiling(free));
        }
    }
    Layout {
        dock,
        timeline: (timeline > 0).then(|| {
            let [width, height] = beside(pixels, dock);
            PixelRect {
                x: 0,
                y: height - timeline,
                width,
                height: timeline,
            }
        }),
        tiling: tiled,
        unit,
    }
}

/// What the HUD leaves of the window.
fn beside([width, height]: [u32; 2], dock: Dock) -> [u32; 2] {
    match dock {
        Dock::Hidden => [width, height],
        Dock::Side(rect) => [rect.x, height],
        Dock::Bar(rect) => [width, rect.y],
    }
}

/// The timeline's height in pixels, or 0 where there is no room for one.
fn timeline_height(area: [u32; 2], unit: f32, lanes: usize) -> u32 {
    let height = place::height(area.map(|side| side as f32 / unit), lanes);
    height.map_or(0, |height| (height * unit).round() as u32)
}

/// A bar over `part` of the window's height, but never lower than `least`.
fn bar([width, height]: [u32; 2], part: f32, least: PixelRect) -> PixelRect {
    let bar = ((part * height as f32).round() as u32).max(least.height);
    PixelRect {
        x: 0,
        y: height - bar,
        width,
        height: bar,
    }
}

fn unit(pixels: [u32; 2], scale: f32) -> f32 {
    let [width, height] = pixels.map(|side| side as f32 / scale);
    (width / 1280.0).min(height / 800.0).clamp(0.8, 3.0) * scale
}

/// Side or bar, whichever shape the window has room for.
fn dock([width, height]: [u32; 2], scale: f32, unit: f32) -> Dock {
    let (w, h) = (width as f32, height as f32);
    let side = (268.0 * unit).min(0.42 * w);
    if w >= 1.05 * h && w >= 380.0 * scale && h >= 200.0 * scale {
        let side = side.round() as u32;
        Dock::Side(PixelRect {
            x: width - side,
            y: 0,
            width: side,
            height,
        })
    } else if w >= 240.0 * scale && h >= 300.0 * scale {
        let bar = (0.3 * h).min(228.0 * unit).round() as u32;
        Dock::Bar(PixelRect {
            x: 0,
            y: height - bar,
            width,
            height: bar,
        })
    } else {
        Dock::Hidden
    }
}

/// A panel's width to its height; very long lattices get a panel that still can be seen.
fn aspect(size: Size) -> f64 {
    (f64::from(size.width()) / f64::from(size.height())).clamp(1.0 / 16.0, 16.0)
}

/// The rows and columns that make `count` panels largest, centred in the area; on a tie, those
/// that leave fewest places empty.
fn tile([width, height]: [u32; 2], count: usize, aspect: f64, gap: u32) -> Tiling {
    let count = count.max(1);
    let inside = [width, height].map(|side| f64::from(side.saturating_sub(2 * gap)));
    let panel_in = |columns: usize| -> [u32; 2] {
        let each = |side: f64, n: usize| (side - f64::from(gap) * (n as f64 - 1.0)) / n as f64;
        let width = each(inside[0], columns).floor();
        let height = each(inside[1], count.div_ceil(columns)).floor();
        // Rounded down on both sides, so that it never grows beyond its place.
        let (w, h) = (
            width.min((height * aspect).round()),
            height.min((width / aspect).round()),
        );
        [w.max(1.0) as u32, h.max(1.0) as u32]
    };
    let columns = (1..=count)
        .max_by_key(|&columns| {
            let [w, h] = panel_in(columns).map(u64::from);
            let empty = columns * count.div_ceil(columns) - count;
            (w * h, std::cmp::Reverse(empty), std::cmp::Reverse(columns))
        })
        .unwrap_or(1);
    let panel = panel_in(columns);
    let taken = |axis: usize, n: usize| panel[axis] * n as u32 + gap * (n as u32 - 1);
    let origin = [
        width.saturating_sub(taken(0, columns)) / 2,
        height.saturating_sub(taken(1, count.div_ceil(columns))) / 2,
    ];
    Tiling {
        count,
        columns,
        panel,
        origin,
        gap,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOWS: [[u32; 2]; 9] = [
        [800, 500],
        [1280, 800],
        [1920, 1080],
        [3840, 2160],
        [600, 1000],
        [1000, 1000],
        [400, 250],
        [120, 90],
        [2560, 700],
    ];

    fn each_layout(mut check: impl FnMut([u32; 2], usize, Size, Layout)) {
        for window in WINDOWS {
            for scale in [1.0, 1.5, 2.0] {
                for count in [1, 2, 3, 4, 7, 16, 17, 64, 200] {
                    for (w, h) in [(512, 512), (1000, 300), (300, 1000), (33, 1), (1, 4096)] {
                        let size = Size::new(w, h).unwrap();
                        for lanes in [None, Some(1), Some(count)] {
                            let layout = lay_out(window, scale, count, size, lanes);
                            check(window, count, size, layout);
                        }
                    }
                }
            }
        }
    }

    /// What HUD and timeline leave of a window.
    fn left_over(window: [u32; 2], layout: &Layout) -> [u32; 2] {
        let [width, height] = beside(window, layout.dock);
        [width, layout.timeline.map_or(height, |timeline| timeline.y)]
    }

    #[test]
    fn panels_stay_in_the_window_and_off_hud_and_timeline() {
        each_layout(|window, count, size, layout| {
            for place in [0, count / 2, count - 1] {
                let rect = layout.tiling.rect(place);
                let say = format!("{window:?} {count} of {size}: {rect:?} in {layout:?}");
                let [right, below] = left_over(window, &layout);
                // Where there are more panels than pixels, they cannot all be seen.
                if layout.tiling.panel.iter().all(|&side| side > 1) {
                    assert!(rect.x + rect.width <= right, "{say}");
                    assert!(rect.y + rect.height <= below, "{say}");
                }
            }
        });
    }

    #[test]
    fn the_timeline_stands_between_panels_and_hud_and_takes_less_than_half() {
        each_layout(|window, _, _, layout| {
            let Some(timeline) = layout.timeline else {
                return;
            };
            let [width, height] = beside(window, layout.dock);
            assert_eq!((timeline.x, timeline.width), (0, width));
            assert_eq!(timeline.y + timeline.height, height);
            assert!(2 * timeline.height < window[1], "{layout:?}");
        });
    }

    #[test]
    fn windows_of_a_lecture_have_a_timeline_and_small_ones_none() {
        let size = Size::new(512, 512).unwrap();
        let timeline = |window, scale| lay_out(window, scale, 16, size, Some(16)).timeline;
        for window in [
            [800, 500],
            [1280, 800],
            [1920, 1080],
            [3840, 2160],
            [600, 1000],
        ] {
            assert!(timeline(window, 1.0).is_some(), "{window:?}");
        }
        assert!(timeline([1280, 800], 2.0).is_some());
        assert_eq!(timeline([800, 500], 2.0), None);
        assert_eq!(timeline([400, 250], 1.0), None);
    }

    #[test]
    fn panels_are_as_large_as_any_rows_and_columns_make_them() {
        each_layout(|window, count, size, layout| {
            let area = left_over(window, &layout);
            let gap = f64::from(layout.tiling.gap);
            let aspect = aspect(size);
            let best = (1..=count)
                .map(|columns| {
                    let rows = count.div_ceil(columns) as f64;
                    let w = (f64::from(area[0]) - gap * (columns as f64 + 1.0)) / columns as f64;
                    let h = (f64::from(area[1]) - gap * (rows + 1.0)) / rows;
                    w.min(h * aspect)
                })
                .fold(0.0, f64::max);
            let width = f64::from(layout.tiling.panel[0]);
            // Within a pixel either way; on long lattices a pixel of height is many of width.
            assert!(
                width + 1.0 + aspect >= best,
                "{window:?} {count} of {size}: {width} < {best}"
            );
        });
    }

    #[test]
    fn a_point_in_a_panel_finds_it_and_a_gap_finds_none() {
        let size = Size::new(512, 512).unwrap();
        let tiling = lay_out([1280, 800], 1.0, 16, size, None).tiling;
        for place in 0..16 {
            let rect = tiling.rect(place);
            let corner = [f64::from(rect.x), f64::from(rect.y)];
            assert_eq!(tiling.place_at(corner), Some(place));
            assert_eq!(tiling.place_at([corner[0] - 1.0, corner[1]]), None);
        }
    }

    #[test]
    fn one_lattice_fills_the_side_it_can() {
        let size = Size::new(512, 512).unwrap();
        let layout = lay_out([1280, 800], 1.0, 1, size, None);
        assert_eq!(layout.tiling.panel, [788, 788]);
    }
}
