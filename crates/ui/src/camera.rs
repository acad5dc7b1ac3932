//! Which part of their lattices the panels show, and what a minimap frames of that.

use crate::Sources;
use crate::picture::LiveArea;

use life::Size;

/// Maximum pixels per cell, unless the whole lattice fits at more.
pub const MAX_PIXELS_PER_CELL: f64 = 64.0;

/// Minimum pixels per cell in a window that opens: enough for a glider to have a shape.
pub const MIN_OPENING_PIXELS: f64 = 2.0;

/// What the person looks at; it does not know how large the panels are.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Camera {
    /// The point in the panels' middle, in cells.
    centre: [f64; 2],
    scale: Scale,
    /// What [`Camera::toggle_fit`] leads back to, once it has fitted the lattice.
    before_fit: Option<Part>,
    /// The pattern, as [`Camera::toggle_fit`] showed it last.
    pattern: Option<Part>,
    /// Minimum pixels per cell that [`Camera::toggle_fit`] returns to if no earlier part is
    /// remembered.
    opening: Option<f64>,
    /// On its way there, if it does not jump.
    glide: Option<Glide>,
}

/// How large cells are drawn.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
enum Scale {
    /// So that the whole lattice is seen.
    #[default]
    Fitted,
    /// The same, but with at least this many pixels per cell: of a large lattice a part is seen. Nobody
    /// has moved the camera yet.
    AtLeast(f64),
    /// This many pixels per cell.
    Pixels(f64),
}

/// A part of the lattice that a camera showed.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Part {
    centre: [f64; 2],
    /// Pixels per cell.
    scale: f64,
}

impl Part {
    /// An area with a margin of two cells; `None` if that is no smaller than the lattice.
    fn around(area: LiveArea, size: Size, panel: [u32; 2]) -> Option<Part> {
        let (lattice, panel) = (sides(size), panel.map(f64::from));
        let least = fitted(lattice, panel);
        let mut scale = limited(fitted(area.sides.map(|side| side + 4.0), panel), least);
        if scale > 2.0 {
            scale = scale.floor().max(least);
        }
        (scale > 1.001 * least).then(|| Part {
            centre: placed(area.middle, scale, lattice, panel),
            scale,
        })
    }
}

/// From where a camera glides, and how far it has come.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Glide {
    centre: [f64; 2],
    scale: f64,
    /// From 0 to 1.
    done: f64,
}

/// A camera seen through a panel of a certain size: where each pixel lies on the lattice.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ViewTransform {
    /// The point at the panel's top left corner, in cells.
    pub origin: [f64; 2],
    /// Pixels per cell.
    pub scale: f64,
}

impl ViewTransform {
    /// The point of the lattice, in cells, under a point of the panel, in pixels.
    pub fn to_cells(self, pixel: [f64; 2]) -> [f64; 2] {
        [0, 1].map(|axis| self.origin[axis] + pixel[axis] / self.scale)
    }

    /// The axes (x, y) on which the lattice is larger than a panel of `panel` pixels. On these the view
    /// wraps around the torus, and no cell is shown twice; on the others the whole lattice is shown,
    /// with background around it.
    pub fn goes_around(self, size: Size, panel: [u32; 2]) -> [bool; 2] {
        let lattice = sides(size);
        [0, 1].map(|axis| is_part(f64::from(panel[axis]), self.scale, lattice[axis]))
    }

    /// The one, two or four parts into which the lattice's edges divide a panel of `panel` pixels,
    /// each with its own transform.
    pub fn pieces(self, size: Size, panel: [u32; 2]) -> Vec<PanelPart> {
        let lattice = sides(size);
        let around = self.goes_around(size, panel);
        let spans = [0, 1].map(|axis| {
            let (from, pixels) = (self.origin[axis], panel[axis]);
            let edge = ((lattice[axis] - from) * self.scale).round().max(0.0);
            if !around[axis] || edge >= f64::from(pixels) {
                return vec![(0, pixels, from)];
            }
            let edge = edge as u32;
            let beyond = from + f64::from(edge) / self.scale - lattice[axis];
            let both = [(0, edge, from), (edge, pixels - edge, beyond)];
            both.into_iter().filter(|span| span.1 > 0).collect()
        });
        let [columns, rows] = &spans;
        let all = rows.iter().flat_map(|&(top, height, y)| {
            columns.iter().map(move |&(left, width, x)| PanelPart {
                at: [left, top],
                sides: [width, height],
                transform: ViewTransform {
                    origin: [x, y],
                    scale: self.scale,
                },
            })
        });
        all.collect()
    }

    /// What shows the same cells of lattices that were resized about their middle, `from` one size
    /// `to` another.
    pub fn resized(self, from: Size, to: Size) -> ViewTransform {
        let by = middle_shift(from, to);
        ViewTransform {
            origin: [0, 1].map(|axis| self.origin[axis] + by[axis]),
            ..self
        }
    }

    /// The point of the panel, in pixels, that shows a point of the lattice, in cells.
    pub fn to_pixels(self, cell: [f64; 2]) -> [f64; 2] {
        [0, 1].map(|axis| (cell[axis] - self.origin[axis]) * self.scale)
    }
}

/// A part of a panel.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PanelPart {
    /// Its top left corner in the panel, in pixels.
    pub at: [u32; 2],
    /// Its sides, in pixels.
    pub sides: [u32; 2],
    /// What it shows of the lattice.
    pub transform: ViewTransform,
}

/// By how many cells the middle of a lattice moves that is resized about it.
fn middle_shift(from: Size, to: Size) -> [f64; 2] {
    let [from, to] = [from, to].map(|size| [size.width(), size.height()].map(i64::from));
    [0, 1].map(|axis| ((to[axis] - from[axis]) / 2) as f64)
}

impl Camera {
    /// Shows the whole lattice if its cells then have at least `pixels` pixels, otherwise its middle
    /// with cells of `pixels` pixels.
    pub fn opening(pixels: f64) -> Camera {
        Camera {
            scale: Scale::AtLeast(pixels),
            opening: Some(pixels),
            ..Camera::default()
        }
    }

    /// Goes on looking at the same cells of lattices that were resized about their middle.
    pub fn follow_resize(&mut self, from: Size, to: Size) {
        let by = middle_shift(from, to);
        let moved = |centre: [f64; 2]| [0, 1].map(|axis| centre[axis] + by[axis]);
        self.centre = moved(self.centre);
        self.before_fit = self.before_fit.map(|part| Part {
            centre: moved(part.centre),
            ..part
        });
        self.glide = None;
    }

    /// Pixels per cell that are wanted, unless the whole lattice has more; `None` where that is to be
    /// seen.
    pub fn cell_pixels(&self) -> Option<f64> {
        match self.scale {
            Scale::Fitted => None,
            Scale::AtLeast(pixels) | Scale::Pixels(pixels) => Some(pixels),
        }
    }

    /// Shows the whole lattice.
    pub fn fit(&mut self) {
        self.scale = Scale::Fitted;
        self.glide = None;
    }

    /// Shows the whole lattice; where it is shown already, the pattern, unless that takes all of it;
    /// then the part that was shown before, or the one that the camera opened with.
    pub fn toggle_fit(&mut self, size: Size, panel: [u32; 2], pattern: Option<LiveArea>) {
        let shows_pattern = self.pattern.take().is_some_and(|part| {
            self.scale == Scale::Pixels(part.scale) && self.centre == part.centre
        });
        let pattern = pattern.and_then(|area| Part::around(area, size, panel));
        if !self.is_zoomed(size, panel)
            && let Some(part) = pattern
        {
            self.scale = Scale::Pixels(part.scale);
            self.glide = None;
            self.centre = part.centre;
            self.pattern = pattern;
        } else if self.is_zoomed(size, panel) && !shows_pattern {
            let transform = self.target_transform(size, panel);
            self.before_fit = Some(Part {
                centre: transform.to_cells(panel.map(|side| f64::from(side) / 2.0)),
                scale: transform.scale,
            });
            self.fit();
        } else if let Some(part) = self.before_fit.take() {
            let lattice = sides(size);
            self.scale = Scale::Pixels(part.scale);
            self.glide = None;
            self.centre = placed(part.centre, part.scale, lattice, panel.map(f64::from));
        } else if let Some(pixels) = self.opening {
            self.scale = Scale::AtLeast(pixels);
            self.glide = None;
        } else {
            self.fit();
        }
    }

    /// On which axes it goes around the torus, as seen through a panel of `panel` pixels.
    pub fn goes_around(&self, size: Size, panel: [u32; 2]) -> [bool; 2] {
        self.shown(size, panel).goes_around(size, panel)
    }

    /// The transform at rest, through a panel of `panel` pixels. Its scale is never below the fitted
    /// one. At whole numbers of pixels per cell, from 2 on, cells are aligned to pixels. On axes that
    /// wrap, the origin is inside the lattice.
    pub fn target_transform(&self, size: Size, panel: [u32; 2]) -> ViewTransform {
        let (lattice, panel) = (sides(size), panel.map(f64::from));
        let fitted = fitted(lattice, panel);
        let (scale, centre) = match self.scale {
            Scale::Fitted => (fitted, self.centre),
            Scale::AtLeast(least) => (fitted.max(least), lattice.map(|side| side / 2.0)),
            Scale::Pixels(scale) => (limited(scale, fitted), self.centre),
        };
        let centre = placed(centre, scale, lattice, panel);
        let mut origin = [0, 1].map(|axis| centre[axis] - panel[axis] / (2.0 * scale));
        if scale >= 2.0 && scale.fract() == 0.0 {
            origin = origin.map(|at| (at * scale).round() / scale);
        }
        around(ViewTransform { origin, scale }, lattice, panel)
    }

    /// The transform to draw now: [`Camera::target_transform`], or one on the way to it while the
    /// camera glides. While gliding, cells are not aligned to pixels.
    pub fn shown(&self, size: Size, panel: [u32; 2]) -> ViewTransform {
        let end = self.target_transform(size, panel);
        let Some(glide) = self.glide else { return end };
        let eased = 1.0 - (1.0 - glide.done).powi(3);
        let scale = glide.scale * (end.scale / glide.scale).powf(eased);
        // Where the point that both have in one place stays in it, corners are linear in 1/scale.
        let inverse = [glide.scale, scale, end.scale].map(f64::recip);
        let part = if (end.scale / glide.scale).ln().abs() < 1e-6 {
            eased
        } else {
            (inverse[1] - inverse[0]) / (inverse[2] - inverse[0])
        };
        let (lattice, pixels) = (sides(size), panel.map(f64::from));
        let origin = [0, 1].map(|axis| {
            let mut from = glide.centre[axis] - pixels[axis] / (2.0 * glide.scale);
            // The shorter way around.
            let centre = end.origin[axis] + pixels[axis] / (2.0 * end.scale);
            let turns = (centre - glide.centre[axis]) / lattice[axis];
            from += turns.round() * lattice[axis];
            from + (end.origin[axis] - from) * part
        });
        around(ViewTransform { origin, scale }, lattice, pixels)
    }

    /// Whether it shows less than the whole lattice.
    pub fn is_zoomed(&self, size: Size, panel: [u32; 2]) -> bool {
        self.target_transform(size, panel).scale > 1.001 * fitted(sides(size), panel.map(f64::from))
    }

    /// Glides from what was shown through a panel of `panel` pixels instead of jumping.
    pub fn glide_from(&mut self, from: ViewTransform, panel: [u32; 2]) {
        let centre = from.to_cells(panel.map(|side| f64::from(side) / 2.0));
        self.glide = Some(Glide {
            centre,
            scale: from.scale,
            done: 0.0,
        });
    }

    /// Goes on by a part of the whole glide; whether it still glides.
    pub fn advance(&mut self, part: f64) -> bool {
        if let Some(glide) = &mut self.glide {
            glide.done += part;
            if glide.done >= 1.0 {
                self.glide = None;
            }
        }
        self.glide.is_some()
    }

    /// Centres the view on a point of the lattice, in cells. Axes on which the whole lattice is
    /// visible do not move.
    pub fn centre_on(&mut self, cell: [f64; 2], size: Size, panel: [u32; 2]) {
        self.show(cell, self.target_transform(size, panel).scale, size, panel);
    }

    /// Zooms by a factor; what is under `pixel` of a panel stays there.
    pub fn zoom_at(&mut self, factor: f64, pixel: [f64; 2], size: Size, panel: [u32; 2]) {
        let transform = self.target_transform(size, panel);
        let anchor = transform.to_cells(pixel);
        let (lattice, panel) = (sides(size), panel.map(f64::from));
        let fitted = fitted(lattice, panel);
        let mut scale = transform.scale * factor;
        if scale > 2.0 {
            scale = if factor > 1.0 {
                scale.ceil()
            } else {
                scale.floor()
            };
        }
        if scale <= fitted {
            return self.fit();
        }
        let scale = limited(scale, fitted);
        let middle = [0, 1].map(|axis| anchor[axis] + (panel[axis] / 2.0 - pixel[axis]) / scale);
        self.scale = Scale::Pixels(scale);
        self.glide = None;
        self.centre = placed(middle, scale, lattice, panel);
    }

    /// Zooms by a factor about the middle.
    pub fn zoom(&mut self, factor: f64, size: Size, panel: [u32; 2]) {
        self.zoom_at(factor, panel.map(|side| f64::from(side) / 2.0), size, panel);
    }

    /// Moves what is shown by `pixels` of a panel, as a hand moves paper.
    pub fn pan(&mut self, pixels: [f64; 2], size: Size, panel: [u32; 2]) {
        let transform = self.target_transform(size, panel);
        let half = panel.map(|side| f64::from(side) / 2.0);
        let centre = transform.to_cells([half[0] - pixels[0], half[1] - pixels[1]]);
        self.show(centre, transform.scale, size, panel);
    }

    /// Shows another place at the scale that it has.
    fn show(&mut self, centre: [f64; 2], scale: f64, size: Size, panel: [u32; 2]) {
        if matches!(self.scale, Scale::AtLeast(_)) && self.is_zoomed(size, panel) {
            self.scale = Scale::Pixels(scale);
        }
        self.glide = None;
        self.centre = placed(centre, scale, sides(size), panel.map(f64::from));
    }
}

fn sides(size: Size) -> [f64; 2] {
    [f64::from(size.width()), f64::from(size.height())]
}

fn fitted(lattice: [f64; 2], panel: [f64; 2]) -> f64 {
    (panel[0] / lattice[0]).min(panel[1] / lattice[1])
}

/// Normalises a centre: wraps it onto the lattice, or centres axes on which the whole lattice is
/// visible.
fn placed(centre: [f64; 2], scale: f64, lattice: [f64; 2], panel: [f64; 2]) -> [f64; 2] {
    [0, 1].map(|axis| {
        if is_part(panel[axis], scale, lattice[axis]) {
            centre[axis].rem_euclid(lattice[axis])
        } else {
            lattice[axis] / 2.0
        }
    })
}

/// The same look with its origin on the lattice, where it goes around.
fn around(mut transform: ViewTransform, lattice: [f64; 2], panel: [f64; 2]) -> ViewTransform {
    for axis in [0, 1] {
        if is_part(panel[axis], transform.scale, lattice[axis]) {
            transform.origin[axis] = transform.origin[axis].rem_euclid(lattice[axis]);
        }
    }
    transform
}

/// Whether a panel is smaller than the lattice on an axis, by more than what rounding makes of it.
fn is_part(panel: f64, scale: f64, lattice: f64) -> bool {
    lattice * scale > panel + 0.5
}

fn limited(scale: f64, fitted: f64) -> f64 {
    scale.min(MAX_PIXELS_PER_CELL).max(fitted)
}

/// What a panel shows of its lattice.
#[derive(Clone, PartialEq, Debug)]
pub struct MinimapRegion {
    /// Whose lattice.
    pub instance: usize,
    /// One rectangle, or, around the torus, two or four, which meet at its edges.
    pub parts: Vec<CellRect>,
}

/// A rectangle of a lattice, in cells.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CellRect {
    /// Its top left corner.
    pub from: [f64; 2],
    /// Its bottom right corner.
    pub to: [f64; 2],
}

impl From<&PanelPart> for CellRect {
    fn from(part: &PanelPart) -> CellRect {
        CellRect {
            from: part.transform.to_cells([0.0; 2]),
            to: part.transform.to_cells(part.sides.map(f64::from)),
        }
    }
}

/// The region of the selected panel, of `panel` pixels, if it shows a part of its lattice.
pub fn minimap(sources: Sources<'_>, panel: [u32; 2]) -> Option<MinimapRegion> {
    let status = sources.status.filter(|_| !sources.options.hides_minimap)?;
    let (camera, size) = (&sources.options.camera, status.lattices.size);
    camera.is_zoomed(size, panel).then(|| {
        let parts = camera.shown(size, panel).pieces(size, panel);
        MinimapRegion {
            instance: status.panels.selected.min(status.lattices.instances - 1),
            parts: parts.iter().map(CellRect::from).collect(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TextureLimits, request};
    use session::{PicturePlan, TransferChoice};

    fn size(width: u64, height: u64) -> Size {
        Size::new(width, height).unwrap()
    }

    /// How far two points are from each other on an axis that goes around.
    fn apart(a: f64, b: f64, side: f64) -> f64 {
        let far = (a - b).rem_euclid(side);
        far.min(side - far)
    }

    /// It begins on the lattice; an axis that all is seen of has it in the middle. Its parts have every pixel,
    /// each with the cell that it shows, as the lattice numbers it.
    fn check(transform: ViewTransform, size: Size, panel: [u32; 2]) {
        let around = transform.goes_around(size, panel);
        let lattice = sides(size);
        let pixel = 1.0 / transform.scale;
        for axis in [0, 1] {
            let origin = transform.origin[axis];
            let seen = f64::from(panel[axis]) * pixel;
            if around[axis] {
                assert!((0.0..=lattice[axis]).contains(&origin), "{transform:?}");
            } else {
                let beside = origin + seen - lattice[axis];
                assert!((origin + beside).abs() <= pixel, "{transform:?}");
            }
        }
        let parts = transform.pieces(size, panel);
        let pixels: u32 = parts.iter().map(|part| part.sides[0] * part.sides[1]).sum();
        assert_eq!(pixels, panel[0] * panel[1], "{parts:?}");
        for part in parts {
            let corner = part.at.map(|at| f64::from(at) + 0.5);
            let (wanted, first) = (
                transform.to_cells(corner),
                part.transform.to_cells([0.5; 2]),
            );
            let last = part.sides.map(|side| f64::from(side) - 0.5);
            let last = part.transform.to_cells(last);
            for axis in [0, 1] {
                let off = apart(first[axis], wanted[axis], lattice[axis]);
                assert!(off < 1e-9, "{part:?} of {transform:?}");
                let is_on = first[axis] >= 0.0 && last[axis] < lattice[axis] + 1e-9;
                assert!(is_on || !around[axis], "{part:?} of {transform:?}");
            }
        }
    }

    /// Somebody zooms, drags and jumps about, through panels of several shapes.
    #[test]
    fn a_view_does_what_the_hand_asks_for_and_glides_there_the_shorter_way() {
        let mut state = 7u64;
        let mut random = |below: f64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as f64 / (1u64 << 31) as f64 * below
        };
        for (lattice, panel) in [
            (size(512, 512), [401, 401]),
            (size(500, 300), [400, 150]),
            (size(100, 60), [800, 120]),
            (size(4096, 4096), [700, 700]),
            (size(333, 77), [640, 150]),
        ] {
            let (all, fitted) = (sides(lattice), fitted(sides(lattice), panel.map(f64::from)));
            let mut camera = Camera::opening(2.0);
            for _ in 0..400 {
                let before = camera.target_transform(lattice, panel);
                let pixel = [0, 1].map(|axis| random(f64::from(panel[axis])));
                let middle = panel.map(|side| f64::from(side) / 2.0);
                // What lies where before and after.
                let (shown, place) = match random(5.0) as u32 {
                    0..3 => {
                        let factor = [0.3, 0.7, 1.25, 1.5, 6.0][random(5.0) as usize];
                        camera.zoom_at(factor, pixel, lattice, panel);
                        let scale = camera.target_transform(lattice, panel).scale;
                        let grows = scale >= before.scale;
                        assert!(grows == (factor > 1.0) || scale == before.scale);
                        (before.to_cells(pixel), pixel)
                    }
                    3 => {
                        let by = [random(600.0) - 300.0, random(600.0) - 300.0];
                        camera.pan(by, lattice, panel);
                        let moved = [pixel[0] + by[0], pixel[1] + by[1]];
                        (before.to_cells(pixel), moved)
                    }
                    _ => {
                        let cell = [random(all[0]), random(all[1])];
                        camera.centre_on(cell, lattice, panel);
                        (cell, middle)
                    }
                };
                let after = camera.target_transform(lattice, panel);
                check(after, lattice, panel);
                assert!(after.scale >= fitted && after.scale <= MAX_PIXELS_PER_CELL.max(fitted));
                let around = after.goes_around(lattice, panel);
                let pixel_of = after.to_pixels(after.to_cells(pixel));
                for axis in [0, 1] {
                    assert!((pixel_of[axis] - pixel[axis]).abs() < 1e-6);
                    let off = apart(after.to_cells(place)[axis], shown[axis], all[axis]);
                    assert!(
                        !around[axis] || off <= 1.0 / after.scale,
                        "{off}: {after:?}"
                    );
                    // Large cells lie on whole pixels.
                    let edge = after.origin[axis] * after.scale;
                    let is_whole = (edge - edge.round()).abs() < 1e-6;
                    assert!(after.scale <= 2.0 || after.scale == fitted || is_whole);
                }
                let jumped = camera;
                camera.glide_from(before, panel);
                let way = |from: ViewTransform, to: ViewTransform, axis: usize| {
                    let middle = |it: ViewTransform| it.to_cells(middle)[axis];
                    apart(middle(from), middle(to), all[axis])
                };
                while camera.advance(0.13) {
                    let seen = camera.shown(lattice, panel);
                    let [least, most] = [before, after].map(|it| it.scale);
                    let [least, most] = [least.min(most), least.max(most)];
                    assert!(
                        (0.999 * least..=1.001 * most).contains(&seen.scale),
                        "{seen:?}"
                    );
                    for axis in [0, 1] {
                        let whole = way(before, after, axis);
                        let ways = way(before, seen, axis) + way(seen, after, axis);
                        let turns = [before, seen, after].map(|it| it.goes_around(lattice, panel));
                        if turns.iter().all(|it| it[axis]) {
                            assert!((0.0..=all[axis]).contains(&seen.origin[axis]), "{seen:?}");
                            assert!(ways <= whole + 0.5 / least, "{before:?} {seen:?} {after:?}");
                        }
                    }
                }
                assert_eq!(camera, jumped);
            }
        }
    }

    #[test]
    fn fitted_it_shows_all_from_the_first_cell_on_whatever_rounding_makes_of_the_sides() {
        for side in 300..400 {
            let (lattice, panel) = (size(60, 45), [side, 3 * side / 4]);
            let transform = Camera::default().target_transform(lattice, panel);
            check(transform, lattice, panel);
            assert!(
                transform
                    .origin
                    .iter()
                    .all(|at| at.abs() <= 2.0 / transform.scale)
            );
        }
    }

    /// A step's name, and what it does.
    type Step<'a> = (&'a str, &'a dyn Fn(&mut Camera));

    /// What is seen and asked for after each of these in turn.
    #[test]
    fn views_are_those_that_are_stored() {
        let mut said = String::new();
        for (lattice, panel) in [
            (size(1024, 1024), [186, 186]),
            (size(100, 100), [300, 300]),
            (size(300, 200), [200, 120]),
            (size(20_000, 3_000), [800, 400]),
            (size(16, 20_000), [470, 260]),
        ] {
            let pattern = |side| {
                let (middle, sides) = ([1020.0, 40.0], [side, 20.0]);
                Some(LiveArea { middle, sides })
            };
            let fit = |it: &mut Camera, pattern| it.toggle_fit(lattice, panel, pattern);
            let steps: &[Step<'_>] = &[
                ("opens", &|_| {}),
                ("pan", &|it| it.pan([-40.0, 10.0], lattice, panel)),
                ("fit", &|it| fit(it, None)),
                ("fit", &|it| fit(it, None)),
                ("zoom in", &|it| {
                    it.zoom_at(4.0, [20.0, 30.0], lattice, panel)
                }),
                ("pan", &|it| it.pan([300.0, -77.0], lattice, panel)),
                ("fit", &|it| fit(it, None)),
                ("fit", &|it| fit(it, None)),
                ("centre", &|it| it.centre_on([30.0, 40.0], lattice, panel)),
                ("resize", &|it| it.follow_resize(lattice, size(401, 301))),
                ("zoom out", &|it| it.zoom(1e-9, lattice, panel)),
                ("fit", &|it| fit(it, None)),
                ("fit", &|it| fit(it, pattern(58.0))),
                ("fit to a pattern", &|it| fit(it, pattern(58.0))),
                ("fit to another", &|it| fit(it, pattern(59.0))),
                ("fit", &|it| fit(it, pattern(1024.0))),
                ("fit to all", &|it| fit(it, pattern(1024.0))),
            ];
            let mut camera = Camera::opening(2.0);
            for (name, step) in steps {
                step(&mut camera);
                let seen = camera.target_transform(lattice, panel);
                let bytes = (TransferChoice::Auto, PicturePlan::MAX_AUTO_BITS_BYTES);
                let limits = TextureLimits {
                    side: 16_384,
                    layers: 2048,
                };
                let asked = request((lattice, 16), (seen, panel), None, bytes, limits);
                said += &format!("{name}: {seen:?} {asked:?}\n");
            }
        }
        test_support::compare_with_stored("views.txt", &said);
    }
}
