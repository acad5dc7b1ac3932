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
