//! Which part of the lattice a panel shows. One camera serves all panels, or each has its own.

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

#[cfg(test)]
mod tests {
    use super::*;

    fn size(width: u64, height: u64) -> Size {
        Size::new(width, height).unwrap()
    }

    fn near(a: [f64; 2], b: [f64; 2], by: f64) -> bool {
        (a[0] - b[0]).abs() <= by && (a[1] - b[1]).abs() <= by
    }

    #[test]
    fn fitted_shows_all_and_nothing_else() {
        let transform = Camera::default().target_transform(size(512, 256), [300, 150]);
        assert_eq!(transform.origin, [0.0, 0.0]);
        assert!(near(
            transform.to_cells([300.0, 150.0]),
            [512.0, 256.0],
            1e-9
        ));
    }

    #[test]
    fn a_large_lattice_opens_on_its_middle_and_a_small_one_whole() {
        let camera = Camera::opening(2.0);
        for (panel, width) in [([186, 186], 93.0), ([100, 61], 50.0)] {
            let transform = camera.target_transform(size(1024, 1024), panel);
            assert_eq!(transform.scale, 2.0);
            let middle = transform.to_cells(panel.map(|side| f64::from(side) / 2.0));
            assert!(near(middle, [512.0, 512.0], 0.5), "{middle:?}");
            let seen = transform.to_cells(panel.map(f64::from))[0] - transform.origin[0];
            assert_eq!(seen, width);
            assert!(camera.is_zoomed(size(1024, 1024), panel));
        }
        let panel = [300, 300];
        let (fitted, small) = (Camera::default(), size(100, 100));
        assert_eq!(
            camera.target_transform(small, panel),
            fitted.target_transform(small, panel)
        );
        assert!(!camera.is_zoomed(small, panel));
    }

    #[test]
    fn fitting_leads_to_the_whole_and_back_to_the_part() {
        let (lattice, panel) = (size(1024, 1024), [186, 186]);
        let mut camera = Camera::opening(2.0);
        let opened = camera.target_transform(lattice, panel);
        camera.toggle_fit(lattice, panel, None);
        assert!(!camera.is_zoomed(lattice, panel));
        camera.toggle_fit(lattice, panel, None);
        assert_eq!(camera.target_transform(lattice, panel), opened);
        // What somebody has moved to is what they come back to.
        camera.zoom_at(4.0, [20.0, 30.0], lattice, panel);
        camera.pan([300.0, -77.0], lattice, panel);
        let moved = camera.target_transform(lattice, panel);
        camera.toggle_fit(lattice, panel, None);
        camera.toggle_fit(lattice, panel, None);
        assert_eq!(camera.target_transform(lattice, panel), moved);
        // Zoomed out by hand there is nothing to come back to but the opening.
        while camera.is_zoomed(lattice, panel) {
            camera.zoom(0.5, lattice, panel);
        }
        camera.toggle_fit(lattice, panel, None);
        assert_eq!(camera.target_transform(lattice, panel), opened);
        // The pattern comes between the whole and the part, unless it takes all of the lattice.
        let area = |side| {
            let (middle, sides) = ([1020.0, 40.0], [side, 20.0]);
            Some(LiveArea { middle, sides })
        };
        camera.toggle_fit(lattice, panel, area(58.0));
        assert!(!camera.is_zoomed(lattice, panel));
        camera.toggle_fit(lattice, panel, area(58.0));
        let seen = camera.target_transform(lattice, panel);
        assert_eq!(
            (seen.scale, seen.to_cells([93.0, 93.0])),
            (3.0, [1020.0, 40.0])
        );
        camera.toggle_fit(lattice, panel, area(59.0));
        assert_eq!(camera.target_transform(lattice, panel), opened);
        camera.toggle_fit(lattice, panel, area(1024.0));
        camera.toggle_fit(lattice, panel, area(1024.0));
        assert_eq!(camera.target_transform(lattice, panel), opened);
    }

    #[test]
    fn an_opening_camera_moves_from_where_it_opened() {
        let (lattice, panel) = (size(1024, 1024), [200, 200]);
        let mut camera = Camera::opening(2.0);
        let before = camera.target_transform(lattice, panel);
        camera.pan([-40.0, 10.0], lattice, panel);
        let after = camera.target_transform(lattice, panel);
        assert_eq!(after.scale, before.scale);
        let by = [0, 1].map(|axis| after.origin[axis] - before.origin[axis]);
        assert_eq!(by, [20.0, -5.0]);
        camera.centre_on([10.0, 20.0], lattice, panel);
        let middle = camera.target_transform(lattice, panel).to_cells([100.0; 2]);
        assert!(near(
            middle.map(|at| at.rem_euclid(1024.0)),
            [10.0, 20.0],
            0.5
        ));
    }

    #[test]
    fn zooming_out_ends_fitted_and_zooming_in_at_the_limit() {
        let (lattice, panel) = (size(512, 512), [400, 400]);
        let mut camera = Camera::default();
        for _ in 0..60 {
            camera.zoom(1.25, lattice, panel);
        }
        assert_eq!(
            camera.target_transform(lattice, panel).scale,
            MAX_PIXELS_PER_CELL
        );
        for _ in 0..60 {
            camera.zoom(0.8, lattice, panel);
        }
        assert_eq!(
            camera,
            Camera {
                scale: Scale::Fitted,
                ..camera
            }
        );
    }

    /// It begins on the lattice; on an axis that all is seen of, that is in the middle.
    fn assert_placed(transform: ViewTransform, [width, height]: [f64; 2], panel: [u32; 2]) {
        let whole = 1.0 / transform.scale; // pixels
        for (axis, side) in [width, height].into_iter().enumerate() {
            let seen = f64::from(panel[axis]) / transform.scale;
            if transform.goes_around(size(width as u64, height as u64), panel)[axis] {
                assert!(
                    (0.0..=side).contains(&transform.origin[axis]),
                    "{transform:?}"
                );
            } else {
                let beside = transform.origin[axis] + seen - side;
                assert!(
                    (transform.origin[axis] + beside).abs() <= whole,
                    "{transform:?}"
                );
            }
        }
    }

    #[test]
    fn every_look_begins_on_the_lattice_or_has_it_in_its_middle() {
        let (lattice, panel) = (size(500, 300), [400, 150]);
        let mut camera = Camera::default();
        for (step, pixel) in [[3.0, 4.0], [249.0, 149.0], [0.0, 149.0], [120.0, 7.0]]
            .into_iter()
            .cycle()
            .take(40)
            .enumerate()
        {
            camera.zoom_at(if step % 3 == 2 { 0.7 } else { 1.4 }, pixel, lattice, panel);
            camera.pan(
                [37.0 - 11.0 * step as f64, 91.0 - 7.0 * step as f64],
                lattice,
                panel,
            );
            assert_placed(
                camera.target_transform(lattice, panel),
                [500.0, 300.0],
                panel,
            );
        }
    }

    #[test]
    fn the_cell_under_the_pointer_stays_there() {
        let (lattice, panel) = (size(4096, 4096), [700, 700]);
        let mut camera = Camera::default();
        camera.zoom(40.0, lattice, panel);
        let pointer = [500.0, 210.0];
        let before = camera.target_transform(lattice, panel).to_cells(pointer);
        camera.zoom_at(1.25, pointer, lattice, panel);
        let transform = camera.target_transform(lattice, panel);
        assert!(near(
            transform.to_cells(pointer),
            before,
            1.0 / transform.scale
        ));
    }

    #[test]
    fn pixels_and_cells_round_trip() {
        let mut camera = Camera::default();
        camera.zoom_at(9.0, [10.0, 20.0], size(333, 77), [640, 150]);
        let transform = camera.target_transform(size(333, 77), [640, 150]);
        for pixel in [[0.0, 0.0], [0.5, 149.5], [639.0, 3.25]] {
            assert!(near(
                transform.to_pixels(transform.to_cells(pixel)),
                pixel,
                1e-6
            ));
        }
    }

    #[test]
    fn a_glide_keeps_the_point_under_the_pointer_and_ends_where_a_jump_does() {
        let (lattice, panel) = (size(512, 512), [400, 400]);
        let (mut camera, pointer) = (Camera::default(), [300.0, 100.0]);
        camera.zoom_at(6.0, pointer, lattice, panel);
        let (from, mut jumped) = (camera.target_transform(lattice, panel), camera);
        jumped.zoom_at(4.0, pointer, lattice, panel);
        camera.zoom_at(4.0, pointer, lattice, panel);
        camera.glide_from(from, panel);
        let close = |a: ViewTransform, b: ViewTransform| near(a.origin, b.origin, 1e-9);
        assert!(close(camera.shown(lattice, panel), from));
        let anchor = from.to_cells(pointer);
        let mut scale = from.scale;
        for _ in 0..9 {
            assert!(camera.advance(0.1));
            let shown = camera.shown(lattice, panel);
            assert!(shown.scale > scale, "it zooms on and on");
            scale = shown.scale;
            // Both ends are on whole pixels.
            assert!(near(shown.to_pixels(anchor), pointer, 1.0), "{shown:?}");
        }
        assert!(!camera.advance(0.1 + 1e-9));
        assert_eq!(camera, jumped);
        assert_eq!(
            camera.shown(lattice, panel),
            jumped.target_transform(lattice, panel)
        );
        assert_eq!(jumped.target_transform(lattice, panel).scale.fract(), 0.0);
    }

    #[test]
    fn so_does_every_look_of_a_glide() {
        let (lattice, panel) = (size(500, 300), [400, 150]);
        let mut camera = Camera::default();
        camera.zoom_at(9.0, [0.0, 149.0], lattice, panel);
        let from = camera.target_transform(lattice, panel);
        camera.zoom_at(0.3, [250.0, 0.0], lattice, panel);
        camera.pan([-200.0, 90.0], lattice, panel);
        camera.glide_from(from, panel);
        while camera.advance(0.07) {
            let shown = camera.shown(lattice, panel);
            for axis in [0, 1] {
                if shown.goes_around(lattice, panel)[axis] {
                    let side = [500.0, 300.0][axis];
                    assert!((0.0..=side).contains(&shown.origin[axis]), "{shown:?}");
                }
            }
        }
        assert_placed(camera.shown(lattice, panel), [500.0, 300.0], panel);
    }

    #[test]
    fn a_point_comes_to_the_middle() {
        let (lattice, panel) = (size(512, 512), [256, 256]);
        let mut camera = Camera::default();
        assert!(!camera.is_zoomed(lattice, panel));
        camera.zoom(8.0, lattice, panel);
        assert!(camera.is_zoomed(lattice, panel));
        let middle = |camera: &Camera| camera.target_transform(lattice, panel).to_cells([128.0; 2]);
        camera.centre_on([100.0, 400.0], lattice, panel);
        assert!(near(middle(&camera), [100.0, 400.0], 0.5));
        // Beyond the edge it is looked at from the other side.
        camera.centre_on([0.0, 500.0], lattice, panel);
        assert!(near(middle(&camera), [512.0, 500.0], 0.5));
        // All of an axis stays in the middle.
        let wide = [2048, 256];
        camera.centre_on([0.0, 500.0], lattice, wide);
        let transform = camera.target_transform(lattice, wide);
        assert!(near(
            transform.to_cells([1024.0, 128.0]),
            [256.0, 500.0],
            0.5
        ));
    }

    #[test]
    fn cells_lie_on_whole_pixels_when_large() {
        let (lattice, panel) = (size(512, 512), [401, 401]);
        let mut camera = Camera::default();
        camera.zoom_at(11.3, [77.0, 33.0], lattice, panel);
        let transform = camera.target_transform(lattice, panel);
        assert_eq!(transform.scale.fract(), 0.0);
        assert!(((transform.origin[0] * transform.scale).fract()).abs() < 1e-9);
    }

    #[test]
    fn a_camera_pans_around_the_torus_and_comes_back() {
        let (lattice, panel) = (size(100, 60), [200, 120]);
        let mut camera = Camera::default();
        camera.zoom(4.0, lattice, panel);
        let start = camera.target_transform(lattice, panel);
        assert_eq!(start.scale, 8.0);
        let mut origins = Vec::new();
        for _ in 0..8 {
            camera.pan([-100.0, -60.0], lattice, panel);
            let transform = camera.target_transform(lattice, panel);
            assert!(
                transform.origin[0] >= 0.0 && transform.origin[0] < 100.0,
                "{transform:?}"
            );
            assert!(
                transform.origin[1] >= 0.0 && transform.origin[1] < 60.0,
                "{transform:?}"
            );
            origins.push(transform.origin);
        }
        assert!(origins.iter().any(|origin| origin[0] > 75.0), "{origins:?}");
        assert_eq!(camera.target_transform(lattice, panel), start);
        // Fitted, it shows all from the first cell on, whatever rounding makes of the sides.
        let fitted = Camera::default();
        for side in 300..400 {
            let transform = fitted.target_transform(size(60, 45), [side, 3 * side / 4]);
            assert!(
                near(transform.origin, [0.0; 2], 2.0 / transform.scale),
                "{transform:?}"
            );
        }
        // Where all of an axis is seen, there is nothing to go around.
        let wide = [800, 120];
        camera.pan([-300.0, 0.0], lattice, wide);
        assert_eq!(camera.goes_around(lattice, wide), [false, true]);
        assert!(near(
            camera.target_transform(lattice, wide).origin,
            [0.0, 22.5],
            30.0
        ));
    }

    #[test]
    fn pieces_show_every_cell_where_the_look_has_it() {
        let (lattice, panel) = (size(100, 60), [201, 117]);
        for (scale, origin, count) in [
            (8.0, [10.0, 5.0], 1),
            (8.0, [90.0, 5.0], 2),
            (8.0, [10.0, 50.0], 2),
            (8.0, [90.0, 50.0], 4),
            (2.7, [99.9, 59.7], 2),
            (2.7, [99.0, 59.0], 4),
            (8.0, [100.0, 0.0], 1),
        ] {
            let transform = ViewTransform { origin, scale };
            let pieces = transform.pieces(lattice, panel);
            assert_eq!(pieces.len(), count, "{transform:?}");
            let mut pixels = 0;
            for piece in pieces {
                pixels += piece.sides[0] * piece.sides[1];
                let corner = piece.at.map(|at| f64::from(at) + 0.5);
                let [x, y] = transform.to_cells(corner);
                let around = [x.rem_euclid(100.0), y.rem_euclid(60.0)];
                assert!(
                    near(piece.transform.to_cells([0.5; 2]), around, 1e-9),
                    "{piece:?}"
                );
                let end = piece
                    .transform
                    .to_cells(piece.sides.map(|side| f64::from(side) - 0.5));
                assert!(end[0] < 100.0 && end[1] < 60.0, "{piece:?}");
            }
            assert_eq!(pixels, 201 * 117);
        }
    }

    #[test]
    fn a_glide_takes_the_shorter_way_around() {
        let (lattice, panel) = (size(512, 512), [256, 256]);
        let mut camera = Camera::default();
        camera.zoom(8.0, lattice, panel);
        camera.centre_on([500.0, 256.0], lattice, panel);
        let from = camera.target_transform(lattice, panel);
        camera.pan([-160.0, 0.0], lattice, panel);
        camera.glide_from(from, panel);
        while camera.advance(0.09) {
            let middle = camera.shown(lattice, panel).to_cells([128.0; 2]);
            let middle = middle[0].rem_euclid(512.0);
            assert!(!(30.0..499.0).contains(&middle), "{middle}");
        }
        assert_eq!(camera.goes_around(lattice, panel), [true, true]);
    }
}
