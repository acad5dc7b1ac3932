//! Equal panels in rows and columns: how many of each, and how large.

use crate::view::layout::{PixelRect, in_pixels};
use life::Size;

/// Equal panels in rows and columns.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Tiling {
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
    /// Where A and B are compared: how many panels each has, and how far B's stand from A's.
    pub second: Option<(usize, [u32; 2])>,
}

impl Tiling {
    /// Where the panel in this place stands; one of no size where it has no place.
    pub(crate) fn rect(&self, place: usize) -> PixelRect {
        if place >= self.count {
            return PixelRect::default(); // idle, beside A and B
        }
        let (place, away) = match self.second {
            Some((each, away)) if place >= each => (place - each, away),
            _ => (place, [0, 0]),
        };
        let step = |axis: usize, n: usize| {
            away[axis] + self.origin[axis] + (self.panel[axis] + self.gap) * n as u32
        };
        PixelRect {
            x: step(0, place % self.columns),
            y: step(1, place / self.columns),
            width: self.panel[0],
            height: self.panel[1],
        }
    }

    /// The place under a point in pixels.
    pub(crate) fn place_at(&self, point: [f64; 2]) -> Option<usize> {
        (0..self.count).find(|&place| self.rect(place).contains(point))
    }
}

/// A panel's longer side is at most this many times its shorter one, however long its lattice is.
const SLENDEREST: f64 = 16.0;

/// Rows and columns that fill so little of the area are taken only where none fill more.
const FILLED: f64 = 0.85;

/// What the whole area is worth: to fill so much more of it, a panel's sides may have a ratio whose
/// logarithm is that much larger.
const SQUARE_FOR_FILLED: f64 = 8.0;

/// To leave no place empty, panels of whole lattices may be smaller by this part of their area.
const FULL: f64 = 0.07;

/// What is to be tiled: panels of lattices of one size.
#[derive(Clone, Copy)]
pub(super) struct Panels {
    pub count: usize,
    size: Size,
    /// Pixels per cell that are wanted.
    cell_pixels: Option<f64>,
    /// Pixels between panels, and around all of them.
    gap: u32,
    margin: u32,
}

impl Panels {
    /// This many panels, at least one.
    pub(super) fn new(
        count: usize,
        size: Size,
        cell_pixels: Option<f64>,
        pixels_per_point: f32,
    ) -> Panels {
        let (gap, margin) = match count {
            0..=16 => (4.0, 2.0),
            17..=36 => (2.0, 1.0),
            _ => (1.0, 1.0),
        };
        Panels {
            count: count.max(1),
            size,
            cell_pixels,
            gap: in_pixels(gap, pixels_per_point),
            margin: in_pixels(margin, pixels_per_point),
        }
    }

    /// Tiles an area in the rows and columns that are best there: panels are large and about square, and few
    /// places are empty.
    ///
    /// Panels have their lattices' shape where those are seen whole, and are as large as can be. Where
    /// a part is seen, the torus goes on at every edge: they fill the area.
    pub(super) fn tile(self, area: PixelRect) -> Tiling {
        let limits = self.part_shown(area);
        let whole = f64::from(area.width) * f64::from(area.height);
        let cost = |columns: usize| {
            let [width, height] = self.panel_in(area, columns, limits).map(f64::from);
            let filled = self.count as f64 * width * height / whole;
            if limits.is_none() {
                let is_full = self.count.is_multiple_of(columns);
                return -filled.ln() - if is_full { FULL } else { 0.0 };
            }
            let too_little = (FILLED - filled).max(0.0) * 1e3;
            (width / height).ln().abs() - SQUARE_FOR_FILLED * filled + too_little
        };
        let cheapest = self.columns().min_by(|&a, &b| cost(a).total_cmp(&cost(b)));
        let columns = cheapest.unwrap_or(1);
        let panel = self.panel_in(area, columns, limits);
        let rows = self.count.div_ceil(columns);
        let taken = |axis: usize, n: usize| panel[axis] * n as u32 + self.gap * (n as u32 - 1);
        let origin = [
            area.x + area.width.saturating_sub(taken(0, columns)) / 2,
            area.y + area.height.saturating_sub(taken(1, rows)) / 2,
        ];
        Tiling {
            count: self.count,
            columns,
            panel,
            origin,
            gap: self.gap,
            second: None,
        }
    }

    /// The lattice's sides in pixels, if cells as large as is wanted show a part of it in any rows and
    /// columns.
    fn part_shown(self, area: PixelRect) -> Option<[f64; 2]> {
        let wanted = self.cell_pixels?;
        let (width, height) = (f64::from(self.size.width), f64::from(self.size.height));
        let panels = self
            .columns()
            .map(|columns| self.panel_in(area, columns, None));
        let widest = panels.map(|[wide, _]| wide).max()?;
        let [width, height] = [wanted * width, wanted * height];
        // A very long lattice keeps a panel that still can be seen.
        let limits = [
            width.max(height / SLENDEREST),
            height.max(width / SLENDEREST),
        ];
        (width > f64::from(widest) + 1.0).then_some(limits)
    }

    /// The numbers of columns that leave fewest places empty, for each number of rows.
    fn columns(self) -> impl Iterator<Item = usize> {
        let fewest =
            move |&columns: &usize| columns == self.count.div_ceil(self.count.div_ceil(columns));
        (1..=self.count).filter(fewest)
    }

    /// What a panel has of an area in so many columns.
    fn place_in(self, area: PixelRect, columns: usize) -> [f64; 2] {
        let each = |side: u32, n: usize| {
            let inside = f64::from(side.saturating_sub(2 * self.margin));
            ((inside - f64::from(self.gap) * (n as f64 - 1.0)) / n as f64).floor()
        };
        let rows = self.count.div_ceil(columns);
        [each(area.width, columns), each(area.height, rows)]
    }

    /// A panel's sides: where a whole lattice is seen they are as its own, else at most these, so that no cell
    /// is seen twice.
    fn panel_in(self, area: PixelRect, columns: usize, limits: Option<[f64; 2]>) -> [u32; 2] {
        let (place, aspect) = (self.place_in(area, columns), self.aspect());
        // Rounded down on both sides, so that it never grows beyond its place.
        let whole = [(place[1] * aspect).round(), (place[0] / aspect).round()];
        let most = limits.map_or(whole, |limits| limits.map(f64::ceil));
        [0, 1].map(|axis| place[axis].min(most[axis]).max(1.0) as u32)
    }

    /// A panel's width to its height; very long lattices get a panel that still can be seen.
    fn aspect(self) -> f64 {
        let [width, height] = [self.size.width, self.size.height].map(f64::from);
        (width / height).clamp(1.0 / SLENDEREST, SLENDEREST)
    }
}
