//! The panels of A and of B: where they stand, what stands over each, and over both.

use crate::view::layout::{Panels, PixelRect, Tiling, in_pixels};
use session::Side;

/// Where the panels of A and of B are named; none of it lies over a panel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ComparisonPlaces {
    /// Over both: how they compare.
    pub band: PixelRect,
    /// Over A's panels.
    pub header_a: PixelRect,
    /// Over B's panels.
    pub header_b: PixelRect,
}

impl ComparisonPlaces {
    /// Over the panels of one of the two.
    pub fn header(&self, side: Side) -> PixelRect {
        match side {
            Side::A => self.header_a,
            Side::B => self.header_b,
        }
    }
}

/// Heights in points.
const BAND: f32 = 38.0;
const HEADER: f32 = 50.0;
/// Between the panels of A and those of B.
const APART: f32 = 16.0;

/// Tiles an area with two groups of these panels, side by side or one above the other, whichever
/// makes the panels larger.
pub(super) fn tile_comparison(
    area: PixelRect,
    panels: Panels,
    pixels_per_point: f32,
) -> (Tiling, ComparisonPlaces) {
    let pixels = |points| in_pixels(points, pixels_per_point).min(area.height / 6);
    let (band, header, apart) = (pixels(BAND), pixels(HEADER), pixels(APART));
    let below = PixelRect {
        y: area.y + band,
        height: area.height - band,
        ..area
    };
    let tiled = |wide: bool| {
        let (width, height) = if wide {
            (below.width.saturating_sub(apart) / 2, below.height)
        } else {
            (below.width, below.height.saturating_sub(apart) / 2)
        };
        let away = if wide {
            [width + apart, 0]
        } else {
            [0, height + apart]
        };
        let place = PixelRect {
            x: below.x,
            y: below.y + header,
            width,
            height: height.saturating_sub(header),
        };
        let tiling = Tiling {
            count: 2 * panels.count(),
            second: Some((panels.count(), away)),
            ..panels.tile(place)
        };
        let header = PixelRect {
            width,
            height: header,
            ..below
        };
        let second = PixelRect {
            x: header.x + away[0],
            y: header.y + away[1],
            ..header
        };
        (tiling, [header, second])
    };
    let area_of = |tiling: &Tiling| u64::from(tiling.panel[0]) * u64::from(tiling.panel[1]);
    let (beside, above) = (tiled(true), tiled(false));
    let (tiling, headers) = if area_of(&beside.0) >= area_of(&above.0) {
        beside
    } else {
        above
    };
    let band = PixelRect {
        height: band,
        ..area
    };
    let [header_a, header_b] = headers;
    let places = ComparisonPlaces {
        band,
        header_a,
        header_b,
    };
    (tiling, places)
}
