//! Which part of the lattice every panel shows. One camera serves all panels.

use crate::life::Size;

/// The most pixels a cell is drawn with, except where the whole lattice takes more.
pub const MOST_PIXELS_A_CELL: f64 = 64.0;

/// What the person looks at; it does not know how large the panels are.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Camera {
    /// The point in the panels' middle, in cells.
    centre: [f64; 2],
    /// Pixels a cell; `None` shows the whole lattice.
    scale: Option<f64>,
}

/// A camera seen through a panel of a certain size: where each pixel lies on the lattice.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Look {
    /// The point at the panel's top left corner, in cells.
    pub origin: [f64; 2],
    /// Pixels a cell.
    pub scale: f64,
}

impl Look {
    /// The point of the lattice, in cells, under a point of the panel, in pixels.
    pub fn to_cells(self, pixel: [f64; 2]) -> [f64; 2] {
        [0, 1].map(|axis| self.origin[axis] + pixel[axis] / self.scale)
    }

    /// The point of the panel, in pixels, that shows a point of the lattice, in cells.
    pub fn to_pixels(self, cell: [f64; 2]) -> [f64; 2] {
        [0, 1].map(|axis| (cell[axis] - self.origin[axis]) * self.scale)
    }
}

impl Default for Camera {
    fn default() -> Camera {
        Camera {
            centre: [0.0; 2],
            scale: None,
        }
    }
}

impl Camera {
    /// Shows the whole lattice.
    pub fn fit(&mut self) {
        self.scale = None;
    }

    /// Through a panel of `panel` pixels: never smaller than fitted, never beyond the edges, and
    /// from 2 pixels a cell on with cells on whole pixels.
    pub fn look(&self, size: Size, panel: [u32; 2]) -> Look {
        let (lattice, panel) = (sides(size), panel.map(f64::from));
        let fitted = fitted(lattice, panel);
        let scale = self.scale.map_or(fitted, |scale| limited(scale, fitted));
        let centre = clamped(self.centre, scale, lattice, panel);
        let mut origin = [0, 1].map(|axis| centre[axis] - panel[axis] / (2.0 * scale));
        if scale >= 2.0 && scale.fract() == 0.0 {
            origin = origin.map(|at| (at * scale).round() / scale);
        }
        Look { origin, scale }
    }

    /// Zooms by a factor; what is under `pixel` of a panel stays there.
    pub fn zoom_at(&mut self, factor: f64, pixel: [f64; 2], size: Size, panel: [u32; 2]) {
        let look = self.look(size, panel);
        let anchor = look.to_cells(pixel);
        let (lattice, panel) = (sides(size), panel.map(f64::from));
        let fitted = fitted(lattice, panel);
        let mut scale = look.scale * factor;
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
        self.scale = Some(scale);
        self.centre = clamped(middle, scale, lattice, panel);
    }

    /// Zooms by a factor about the middle.
    pub fn zoom(&mut self, factor: f64, size: Size, panel: [u32; 2]) {
        self.zoom_at(factor, panel.map(|side| f64::from(side) / 2.0), size, panel);
    }

    /// Moves what is shown by so many pixels of a panel, as a hand moves paper.
    pub fn pan(&mut self, pixels: [f64; 2], size: Size, panel: [u32; 2]) {
        let look = self.look(size, panel);
        let half = panel.map(|side| f64::from(side) / 2.0);
        let centre = look.to_cells([half[0] - pixels[0], half[1] - pixels[1]]);
        self.centre = clamped(centre, look.scale, sides(size), panel.map(f64::from));
    }
}

fn sides(size: Size) -> [f64; 2] {
    [f64::from(size.width()), f64::from(size.height())]
}

fn fitted(lattice: [f64; 2], panel: [f64; 2]) -> f64 {
    (panel[0] / lattice[0]).min(panel[1] / lattice[1])
}

fn limited(scale: f64, fitted: f64) -> f64 {
    scale.min(MOST_PIXELS_A_CELL).max(fitted)
}

/// The nearest centre that shows nothing beyond the edges; the middle where all is seen.
fn clamped(centre: [f64; 2], scale: f64, lattice: [f64; 2], panel: [f64; 2]) -> [f64; 2] {
    [0, 1].map(|axis| {
        let half = panel[axis] / (2.0 * scale);
        if 2.0 * half >= lattice[axis] {
            lattice[axis] / 2.0
        } else {
            centre[axis].clamp(half, lattice[axis] - half)
        }
    })
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
        let look = Camera::default().look(size(512, 256), [300, 150]);
        assert_eq!(look.origin, [0.0, 0.0]);
        assert!(near(look.to_cells([300.0, 150.0]), [512.0, 256.0], 1e-9));
    }

    #[test]
    fn zooming_out_ends_fitted_and_zooming_in_at_the_limit() {
        let (lattice, panel) = (size(512, 512), [400, 400]);
        let mut camera = Camera::default();
        for _ in 0..60 {
            camera.zoom(1.25, lattice, panel);
        }
        assert_eq!(camera.look(lattice, panel).scale, MOST_PIXELS_A_CELL);
        for _ in 0..60 {
            camera.zoom(0.8, lattice, panel);
        }
        assert_eq!(
            camera,
            Camera {
                scale: None,
                ..camera
            }
        );
    }

    #[test]
    fn no_camera_looks_beyond_the_edges() {
        let (lattice, panel) = (size(500, 300), [250, 150]);
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
            let look = camera.look(lattice, panel);
            let end = look.to_cells(panel.map(f64::from));
            let slack = 1.0 / look.scale; // whole pixels
            assert!(
                look.origin[0] >= -slack && look.origin[1] >= -slack,
                "{look:?}"
            );
            assert!(
                end[0] <= 500.0 + slack && end[1] <= 300.0 + slack,
                "{look:?}"
            );
        }
    }

    #[test]
    fn the_cell_under_the_pointer_stays_there() {
        let (lattice, panel) = (size(4096, 4096), [700, 700]);
        let mut camera = Camera::default();
        camera.zoom(40.0, lattice, panel);
        let pointer = [500.0, 210.0];
        let before = camera.look(lattice, panel).to_cells(pointer);
        camera.zoom_at(1.25, pointer, lattice, panel);
        let look = camera.look(lattice, panel);
        assert!(near(look.to_cells(pointer), before, 1.0 / look.scale));
    }

    #[test]
    fn pixels_and_cells_round_trip() {
        let mut camera = Camera::default();
        camera.zoom_at(9.0, [10.0, 20.0], size(333, 77), [640, 150]);
        let look = camera.look(size(333, 77), [640, 150]);
        for pixel in [[0.0, 0.0], [0.5, 149.5], [639.0, 3.25]] {
            assert!(near(look.to_pixels(look.to_cells(pixel)), pixel, 1e-6));
        }
    }

    #[test]
    fn cells_lie_on_whole_pixels_when_large() {
        let (lattice, panel) = (size(512, 512), [401, 401]);
        let mut camera = Camera::default();
        camera.zoom_at(11.3, [77.0, 33.0], lattice, panel);
        let look = camera.look(lattice, panel);
        assert_eq!(look.scale.fract(), 0.0);
        assert!(((look.origin[0] * look.scale).fract()).abs() < 1e-9);
    }
}
