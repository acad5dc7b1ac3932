//! Equal panels in rows and columns: how many of each, and how large.

use crate::view::layout::{PixelRect, in_pixels};
use life::Size;

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
    /// Where A and B are compared: how many panels each has, and how far B's stand from A's.
    pub second: Option<(usize, [u32; 2])>,
}

impl Tiling {
    /// Where the panel in this place stands; one of no size where it has no place.
    pub fn rect(&self, place: usize) -> PixelRect {
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
    pub fn place_at(&self, point: [f64; 2]) -> Option<usize> {
        (0..self.count).find(|&place| self.rect(place).contains(point))
    }
}

/// A panel's longer side is at most this many times its shorter one, however long its lattice is.
const SLENDEREST: f64 = 16.0;

/// Panels of whole lattices of this part of the largest ones' pixels are almost as large.
const ALMOST: f64 = 0.93;

/// Panels that show a part fill this much of their area, if any rows and columns do.
const FILLED: f64 = 0.85;

/// What the whole area is worth: to fill so much more of it, a panel's sides may have a ratio whose
/// logarithm is that much larger.
const SQUARE_FOR_FILLED: f64 = 8.0;

/// What is to be tiled: panels of lattices of one size.
#[derive(Clone, Copy)]
pub(super) struct Panels {
    count: usize,
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

    /// How many panels.
    pub(super) fn count(self) -> usize {
        self.count
    }

    /// Tiles an area in the rows and columns that are best there.
    ///
    /// Panels have their lattices' shape where those are seen whole, and are as large as can be. Where
    /// a part is seen, the torus goes on at every edge: they fill the area, in about squares.
    pub(super) fn tile(self, area: PixelRect) -> Tiling {
        let (columns, panel) = match self.part_shown(area) {
            None => {
                let columns = self.columns_of_wholes(area);
                (columns, self.whole_in(area, columns))
            }
            Some(limits) => {
                let columns = self.columns_of_parts(area, limits);
                (columns, self.part_in(area, columns, limits))
            }
        };
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
        let (width, height) = (f64::from(self.size.width()), f64::from(self.size.height()));
        let panels = self.columns().map(|columns| self.whole_in(area, columns));
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

    /// A panel's sides where a whole lattice is seen.
    fn whole_in(self, area: PixelRect, columns: usize) -> [u32; 2] {
        let ([width, height], aspect) = (self.place_in(area, columns), self.aspect());
        // Rounded down on both sides, so that it never grows beyond its place.
        let sides = [
            width.min((height * aspect).round()),
            height.min((width / aspect).round()),
        ];
        sides.map(|side| side.max(1.0) as u32)
    }

    /// A panel's sides where a part of a lattice with these sides is seen: no cell is there twice.
    fn part_in(self, area: PixelRect, columns: usize, limits: [f64; 2]) -> [u32; 2] {
        let place = self.place_in(area, columns);
        [0, 1].map(|axis| place[axis].min(limits[axis].ceil()).max(1.0) as u32)
    }

    /// A panel's width to its height; very long lattices get a panel that still can be seen.
    fn aspect(self) -> f64 {
        let [width, height] = [self.size.width(), self.size.height()].map(f64::from);
        (width / height).clamp(1.0 / SLENDEREST, SLENDEREST)
    }

    /// The number of columns that makes whole lattices largest; of those that make them almost as
    /// large, the one that leaves fewest places empty.
    fn columns_of_wholes(self, area: PixelRect) -> usize {
        let pixels = |columns: usize| {
            let [width, height] = self.whole_in(area, columns).map(u64::from);
            width * height
        };
        let most = self.columns().map(pixels).max().unwrap_or(0);
        let is_almost = |&columns: &usize| pixels(columns) as f64 >= ALMOST * most as f64;
        let columns = self.columns().filter(is_almost).min_by_key(|&columns| {
            let empty = columns * self.count.div_ceil(columns) - self.count;
            (empty, std::cmp::Reverse(pixels(columns)), columns)
        });
        columns.unwrap_or(1)
    }

    /// The number of columns that makes panels about square and fills the area.
    fn columns_of_parts(self, area: PixelRect, limits: [f64; 2]) -> usize {
        let whole = f64::from(area.width) * f64::from(area.height);
        let cost = |columns: usize| {
            let [width, height] = self.part_in(area, columns, limits).map(f64::from);
            let filled = self.count as f64 * width * height / whole;
            let slender = (width / height).ln().abs();
            // What does not fill enough comes last, whatever its shape.
            let too_little = (FILLED - filled).max(0.0) * 1e3;
            slender - SQUARE_FOR_FILLED * filled + too_little
        };
        let cheapest = self.columns().min_by(|&a, &b| cost(a).total_cmp(&cost(b)));
        cheapest.unwrap_or(1)
    }
}
