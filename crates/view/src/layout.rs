//! Where panels and HUD stand in the window. Pure arithmetic: the same window gives the same
//! places, whatever the figures are.

mod docks;
mod halves;
#[cfg(test)]
mod tests;

use crate::Zoom;
use crate::timeline::place;
use docks::Lab;
pub use halves::Halved;
use life::Size;

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
    /// Below the panels, with a lecture's essentials alone.
    Strip(PixelRect),
}

impl Dock {
    /// Its place, if it has one.
    pub fn rect(self) -> Option<PixelRect> {
        match self {
            Dock::Hidden => None,
            Dock::Side(rect) | Dock::Bar(rect) | Dock::Strip(rect) => Some(rect),
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
    /// Where two settings are compared: panels a half, and how far the second half stands from
    /// the first.
    pub second: Option<(usize, [u32; 2])>,
}

impl Tiling {
    /// Where the panel in this place stands; one of no size where it has no place.
    pub fn rect(&self, place: usize) -> PixelRect {
        if place >= self.count {
            return PixelRect::default(); // idle, beside two halves
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

/// The whole window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Layout {
    /// The HUD.
    pub dock: Dock,
    /// The timeline, below the panels; it covers neither them nor the HUD.
    pub timeline: Option<PixelRect>,
    /// Multiprocessors (or workers) that have a row beneath the timeline's lanes.
    pub units: Option<usize>,
    /// The lab, beside the panels and above the timeline, or below them in its place.
    pub lab: Option<PixelRect>,
    /// The population graph, in the lab's place.
    pub population: Option<PixelRect>,
    /// The ladder, in the lab's place.
    pub ladder: Option<PixelRect>,
    /// The lesson, in the HUD's place.
    pub lesson: Option<PixelRect>,
    /// What stands over two halves of the panels.
    pub halves: Option<Halved>,
    /// The panels.
    pub tiling: Tiling,
    /// Pixels of one unit of type and spacing; it grows with the window, for the last row of a
    /// lecture hall.
    pub unit: f32,
}

/// What a window holds at least in width and height, in units of type, however far the interface
/// is zoomed.
const LEAST_UNITS: [f32; 2] = [640.0, 400.0];

/// What a window is to hold beside panels and HUD, where there is room.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Wanted {
    /// A timeline of so many lanes.
    pub lanes: Option<usize>,
    /// So many multiprocessors (or workers) beneath them.
    pub units: Option<usize>,
    /// The lab.
    pub lab: bool,
    /// The population graph, instead of the lab or the ladder.
    pub population: bool,
    /// The ladder, instead of the lab.
    pub ladder: bool,
    /// A lesson, instead of the HUD.
    pub lesson: bool,
    /// The strip of a presentation, instead of the HUD.
    pub presentation: bool,
    /// How large type is.
    pub zoom: Zoom,
    /// Two halves of so many panels each, instead of all panels alike.
    pub halves: Option<usize>,
}

/// Lays out a window of `pixels` at `scale` pixels a point, with `panels` panels of lattices of
/// this size, and with what else is wanted as far as there is room.
pub fn lay_out(pixels: [u32; 2], scale: f32, panels: usize, size: Size, wanted: &Wanted) -> Layout {
    let unit = unit(pixels, scale, wanted.zoom);
    let gap = match panels {
        0..=36 => 6.0,
        37..=144 => 4.0,
        145..=1024 => 2.0,
        _ => 1.0,
    };
    let gap = (gap * unit).round() as u32;
    let lesson = wanted.lesson.then(|| docks::lesson(pixels));
    let mut dock = match lesson {
        None if wanted.presentation => docks::strip(pixels, unit),
        None => docks::hud(pixels, scale, unit),
        Some(_) => Dock::Hidden,
    };
    let beside = |dock: Dock| docks::beside(pixels, lesson.or(dock.rect()));
    // As high as it is where the figures leave most room, however high they become.
    let either = wanted.lab || wanted.ladder || wanted.population;
    let lab = either.then(|| docks::lab(beside(dock), unit)).flatten();
    let timeline = wanted.lanes.map_or(0, |lanes| {
        let area = beside(dock);
        let height = timeline_height(area, unit, lanes, wanted.units);
        // Where the lab has no room above it, the lab takes its place.
        let least = (docks::LEAST_LAB * unit) as u32;
        match lab {
            Some(Lab::Below(_)) => 0,
            Some(Lab::Beside(_)) if area[1] < height + least => 0,
            _ => height,
        }
    });
    let below = match lab {
        Some(Lab::Below(height)) => height,
        _ => timeline,
    };
    let left = match lab {
        Some(Lab::Beside(width)) => width,
        _ => 0,
    };
    let tiling = |dock| {
        let [width, height] = beside(dock);
        let area = PixelRect {
            x: left,
            y: 0,
            width: width - left,
            height: height.saturating_sub(below),
        };
        match wanted.halves.filter(|&each| each > 0 && 2 * each <= panels) {
            None => (tile(area, panels, aspect(size), gap), None),
            Some(each) => {
                let (tiling, halved) = halves::tile_halves(area, each, aspect(size), gap, unit);
                (tiling, Some(halved))
            }
        }
    };
    let mut tiled = tiling(dock);
    if let Dock::Bar(rect) = dock {
        // Height that the panels cannot use is the figures'.
        let taller =
            [0.5, 0.46, 0.42, 0.38, 0.34].map(|part| Dock::Bar(docks::bar(pixels, part, rect)));
        if let Some(free) = taller
            .into_iter()
            .find(|&bar| tiling(bar).0.panel == tiled.0.panel)
        {
            (dock, tiled) = (free, tiling(free));
        }
    }
    let [width, height] = beside(dock);
    let at_the_foot = |of: u32| PixelRect {
        x: 0,
        y: height - of,
        width,
        height: of,
    };
    let in_its_place = lab.map(|lab| match lab {
        Lab::Below(of) => at_the_foot(of),
        Lab::Beside(width) => PixelRect {
            x: 0,
            y: 0,
            width,
            height: height - timeline,
        },
    });
    Layout {
        dock,
        timeline: (timeline > 0).then(|| at_the_foot(timeline)),
        units: wanted.units.filter(|_| timeline > 0),
        lab: in_its_place.filter(|_| !wanted.ladder && !wanted.population),
        population: in_its_place.filter(|_| wanted.population),
        ladder: in_its_place.filter(|_| wanted.ladder && !wanted.population),
        lesson,
        halves: tiled.1,
        tiling: tiled.0,
        unit,
    }
}

/// The timeline's height in pixels, or 0 where there is no room for one.
fn timeline_height(area: [u32; 2], unit: f32, lanes: usize, units: Option<usize>) -> u32 {
    let height = place::height(area.map(|side| side as f32 / unit), lanes, units);
    height.map_or(0, |height| (height * unit).round() as u32)
}

/// Pixels of one unit of type and spacing in a window of `pixels` at `scale` pixels a point.
///
/// Zoomed in as far as a small window's figures still have room for, unless they had none before.
pub(crate) fn unit(pixels: [u32; 2], scale: f32, zoom: Zoom) -> f32 {
    let [width, height] = pixels.map(|side| side as f32);
    let (w, h) = (width / scale, height / scale);
    let usual = (w / 1280.0).min(h / 800.0).clamp(0.8, 3.0) * scale;
    let most = (width / LEAST_UNITS[0]).min(height / LEAST_UNITS[1]);
    (usual * zoom.factor()).min(most.max(usual))
}

/// A panel's width to its height; very long lattices get a panel that still can be seen.
fn aspect(size: Size) -> f64 {
    (f64::from(size.width()) / f64::from(size.height())).clamp(1.0 / 16.0, 16.0)
}

/// The rows and columns that make `count` panels largest, centred in the area; on a tie, those
/// that leave fewest places empty.
fn tile(area: PixelRect, count: usize, aspect: f64, gap: u32) -> Tiling {
    let PixelRect {
        x,
        y,
        width,
        height,
    } = area;
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
        x + width.saturating_sub(taken(0, columns)) / 2,
        y + height.saturating_sub(taken(1, count.div_ceil(columns))) / 2,
    ];
    Tiling {
        count,
        columns,
        panel,
        origin,
        gap,
        second: None,
    }
}
