//! Which part of its lattice a panel shows, where that is not all of it: what its minimap frames.

use crate::{PanelPart, Sources};

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

/// The regions of the panels that have a minimap: the selected one, or, where cameras are separate,
/// each one of `panel` pixels, if it shows a part of its lattice.
pub fn minimaps(sources: Sources<'_>, panel: [u32; 2]) -> Vec<MinimapRegion> {
    let Some(status) = sources.status.filter(|_| !sources.options.hides_minimap) else {
        return Vec::new();
    };
    let shown = match sources.single_instance() {
        Some(only) => only..only + 1,
        None if sources.is_separate() && sources.options.is_separate() => {
            0..status.lattices.instances
        }
        None => sources.camera_instance()..sources.camera_instance() + 1,
    };
    let region = |instance: usize| {
        let camera = sources.camera_of(instance);
        camera.is_zoomed(status.lattices.size, panel).then(|| {
            let transform = camera.shown(status.lattices.size, panel);
            let parts = transform.pieces(status.lattices.size, panel);
            MinimapRegion {
                instance,
                parts: parts.iter().map(CellRect::from).collect(),
            }
        })
    };
    shown.filter_map(region).collect()
}
