//! Which part of their lattices the panels show.

use crate::picture::LiveArea;

use life::Size;

/// Maximum pixels per cell, unless the whole lattice fits at more.
pub const MAX_PIXELS_PER_CELL: f64 = 64.0;

/// Minimum pixels per cell in a window that opens: enough for a glider to have a shape.
pub const MIN_OPENING_PIXELS: f64 = 2.0;

/// What the user looks at; it does not know how large the panels are.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Camera {
    look: Look,
    /// What [`Camera::toggle_fit`] leads back to, once it has fitted the lattice.
    before_fit: Option<Part>,
    /// The pattern, as [`Camera::toggle_fit`] showed it last.
    pattern: Option<Part>,
    /// Minimum pixels per cell that [`Camera::toggle_fit`] returns to if no earlier part is
    /// remembered.
    opening: Option<f64>,
}

/// How much of the lattice is shown.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
enum Look {
    /// All of it.
    #[default]
    Whole,
    /// The same, but with at least this many pixels per cell: of a large lattice its middle is seen. Nobody
    /// has moved the camera yet.
    AtLeast(f64),
    Part(Part),
}

/// A part of the lattice that a camera shows.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Part {
    /// The point in the panels' middle, in cells.
    centre: [f64; 2],
    /// Pixels per cell.
    scale: f64,
}

impl Part {
    /// An area with a margin of two cells; `None` if that is no smaller than the lattice.
    fn around(area: LiveArea, size: Size, panel: [u32; 2]) -> Option<Part> {
        let whole = Through::new(size, panel);
        let least = whole.fitted();
        let lattice = area.sides.map(|side| side + 4.0);
        let mut scale = whole.limited(Through { lattice, ..whole }.fitted());
        if scale > 2.0 {
            scale = scale.floor().max(least);
        }
        (scale > 1.001 * least).then(|| whole.part(area.middle, scale))
    }
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
        Through::new(size, panel).are_parts(self.scale)
    }

    /// The one, two or four parts into which the lattice's edges divide a panel of `panel` pixels,
    /// each with its own transform.
    pub fn pieces(self, size: Size, panel: [u32; 2]) -> Vec<PanelPart> {
        let lattice = Through::new(size, panel).lattice;
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
        let origin = resized(self.origin, from, to);
        ViewTransform { origin, ..self }
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

/// Where a point lies once its lattice was resized about the middle.
fn resized(point: [f64; 2], from: Size, to: Size) -> [f64; 2] {
    let [from, to] = [from, to].map(|size| [size.width, size.height].map(i64::from));
    [0, 1].map(|axis| point[axis] + ((to[axis] - from[axis]) / 2) as f64)
}

impl Camera {
    /// Shows the whole lattice if its cells then have at least `pixels` pixels, otherwise its middle
    /// with cells of `pixels` pixels.
    pub fn opening(pixels: f64) -> Camera {
        Camera {
            look: Look::AtLeast(pixels),
            opening: Some(pixels),
            ..Camera::default()
        }
    }

    /// Goes on looking at the same cells of lattices that were resized about their middle.
    pub fn follow_resize(&mut self, from: Size, to: Size) {
        let moved = |part: Part| Part {
            centre: resized(part.centre, from, to),
            ..part
        };
        if let Look::Part(part) = self.look {
            self.look = Look::Part(moved(part));
        }
        self.before_fit = self.before_fit.map(moved);
    }

    /// Pixels per cell that are wanted, unless the whole lattice has more; `None` where that is to be
    /// seen.
    pub fn cell_pixels(&self) -> Option<f64> {
        match self.look {
            Look::Whole => None,
            Look::AtLeast(scale) | Look::Part(Part { scale, .. }) => Some(scale),
        }
    }

    /// Shows the whole lattice; where it is shown already, the pattern, unless that takes all of it;
    /// then the part that was shown before, or the one that the camera opened with.
    pub fn toggle_fit(&mut self, size: Size, panel: [u32; 2], pattern: Option<LiveArea>) {
        let is_zoomed = self.is_zoomed(size, panel);
        let shown = self.pattern.take();
        let shows_pattern = shown.is_some_and(|part| self.look == Look::Part(part));
        let pattern = pattern.and_then(|area| Part::around(area, size, panel));
        self.look = match (pattern, self.opening) {
            (Some(part), _) if !is_zoomed => {
                self.pattern = pattern;
                Look::Part(part)
            }
            _ if is_zoomed && !shows_pattern => {
                let transform = self.target_transform(size, panel);
                self.before_fit = Some(Part {
                    centre: transform.to_cells(panel.map(|side| f64::from(side) / 2.0)),
                    scale: transform.scale,
                });
                Look::Whole
            }
            (_, opening) => {
                let before = self.before_fit.take().map(Look::Part);
                before.or(opening.map(Look::AtLeast)).unwrap_or_default()
            }
        };
    }

    /// What is shown through a panel of `panel` pixels. Its scale is never below the fitted
    /// one. At whole numbers of pixels per cell, from 2 on, cells are aligned to pixels. On axes that
    /// wrap, the origin is inside the lattice.
    pub fn target_transform(&self, size: Size, panel: [u32; 2]) -> ViewTransform {
        let through = Through::new(size, panel);
        let Through { lattice, panel } = through;
        let middle = lattice.map(|side| side / 2.0);
        let (centre, scale) = match self.look {
            Look::Whole => (middle, through.fitted()),
            Look::AtLeast(least) => (middle, through.fitted().max(least)),
            Look::Part(part) => (part.centre, through.limited(part.scale)),
        };
        let centre = through.part(centre, scale).centre;
        let around = through.are_parts(scale);
        let origin = [0, 1].map(|axis| {
            let mut at = centre[axis] - panel[axis] / (2.0 * scale);
            if scale >= 2.0 && scale.fract() == 0.0 {
                at = (at * scale).round() / scale;
            }
            if around[axis] {
                at.rem_euclid(lattice[axis])
            } else {
                at
            }
        });
        ViewTransform { origin, scale }
    }

    /// Whether it shows less than the whole lattice.
    pub fn is_zoomed(&self, size: Size, panel: [u32; 2]) -> bool {
        self.target_transform(size, panel).scale > 1.001 * Through::new(size, panel).fitted()
    }

    /// Centres the view on a point of the lattice, in cells. Axes on which the whole lattice is
    /// visible do not move.
    pub fn centre_on(&mut self, cell: [f64; 2], size: Size, panel: [u32; 2]) {
        if self.is_zoomed(size, panel) {
            let scale = self.target_transform(size, panel).scale;
            self.look = Look::Part(Through::new(size, panel).part(cell, scale));
        }
    }

    /// Zooms by a factor; what is under `pixel` of a panel stays there.
    pub fn zoom_at(&mut self, factor: f64, pixel: [f64; 2], size: Size, panel: [u32; 2]) {
        let transform = self.target_transform(size, panel);
        let anchor = transform.to_cells(pixel);
        let through = Through::new(size, panel);
        let mut scale = transform.scale * factor;
        if scale > 2.0 {
            scale = if factor > 1.0 {
                scale.ceil()
            } else {
                scale.floor()
            };
        }
        self.look = if scale <= through.fitted() {
            Look::Whole
        } else {
            let scale = through.limited(scale);
            let beside = |axis: usize| (through.panel[axis] / 2.0 - pixel[axis]) / scale;
            Look::Part(through.part([0, 1].map(|axis| anchor[axis] + beside(axis)), scale))
        };
    }

    /// Zooms by a factor about the middle.
    pub fn zoom(&mut self, factor: f64, size: Size, panel: [u32; 2]) {
        self.zoom_at(factor, panel.map(|side| f64::from(side) / 2.0), size, panel);
    }

    /// Moves what is shown by `pixels` of a panel, as a hand moves paper.
    pub fn pan(&mut self, pixels: [f64; 2], size: Size, panel: [u32; 2]) {
        let transform = self.target_transform(size, panel);
        let middle = [0, 1].map(|axis| f64::from(panel[axis]) / 2.0 - pixels[axis]);
        self.centre_on(transform.to_cells(middle), size, panel);
    }
}

/// The sides of a lattice, in cells, and of the panel that it is seen through, in pixels.
#[derive(Clone, Copy)]
struct Through {
    lattice: [f64; 2],
    panel: [f64; 2],
}

impl Through {
    fn new(size: Size, panel: [u32; 2]) -> Through {
        Through {
            lattice: [size.width, size.height].map(f64::from),
            panel: panel.map(f64::from),
        }
    }

    /// The pixels per cell that show the whole lattice.
    fn fitted(self) -> f64 {
        let [width, height] = [0, 1].map(|axis| self.panel[axis] / self.lattice[axis]);
        width.min(height)
    }

    fn limited(self, scale: f64) -> f64 {
        scale.min(MAX_PIXELS_PER_CELL).max(self.fitted())
    }

    /// The axes on which the panel is smaller than the lattice, by more than what rounding makes of it.
    fn are_parts(self, scale: f64) -> [bool; 2] {
        [0, 1].map(|axis| self.lattice[axis] * scale > self.panel[axis] + 0.5)
    }

    /// The part about a centre, which is on the lattice: in its middle on axes on which all of it is visible.
    fn part(self, centre: [f64; 2], scale: f64) -> Part {
        let (around, lattice) = (self.are_parts(scale), self.lattice);
        let centre = [0, 1].map(|axis| {
            if around[axis] {
                centre[axis].rem_euclid(lattice[axis])
            } else {
                lattice[axis] / 2.0
            }
        });
        Part { centre, scale }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request;
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
        let lattice = Through::new(size, panel).lattice;
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
    fn a_view_does_what_the_hand_asks_for() {
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
            let through = Through::new(lattice, panel);
            let (all, fitted) = (through.lattice, through.fitted());
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
            }
        }
        // Fitted, it shows all from the first cell on, whatever rounding makes of the sides.
        for side in 300..400 {
            let (lattice, panel) = (size(60, 45), [side, 3 * side / 4]);
            let fitted = Camera::default().target_transform(lattice, panel);
            check(fitted, lattice, panel);
            let is_first = |at: &f64| at.abs() <= 2.0 / fitted.scale;
            assert!(fitted.origin.iter().all(is_first), "{fitted:?}");
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
                let asked = request((lattice, 16), (seen, panel), None, bytes, 16_384);
                said += &format!("{name}: {seen:?} {asked:?}\n");
            }
        }
        test_support::compare_with_stored("views.txt", &said);
    }
}
