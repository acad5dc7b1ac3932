//! What to ask of the session: the lattices' bits, or a view reduced on the device.

use crate::ViewTransform;
use engine::{ReduceRegion, Transfer};
use life::Size;
use session::{PicturePlan, TransferChoice};

/// The most bytes that a round's pictures take, all instances together.
pub const MAX_ROUND_BYTES: u64 = PicturePlan::MAX_BYTES;

/// The most bytes of bits that are kept in textures, where bits are asked for.
const MAX_BITS_TEXTURE_BYTES: u64 = 1 << 30;

/// What textures can be here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TextureLimits {
    /// The longest side of a texture, in texels.
    pub side: u32,
    /// The most layers of one.
    pub layers: u32,
}

impl TextureLimits {
    /// Whether a lattice's bits can be a texture's layer.
    pub fn take_bits(self, size: Size) -> bool {
        size.words_per_row() <= self.side as usize && size.height() <= self.side
    }
}

/// The pictures that the session should send for panels that show `transform`: of all instances, or
/// `only` of one. If the choice is automatic, bits are sent while all of them take at most
/// `most_auto_bits` bytes.
pub fn request(
    (size, instances): (Size, usize),
    (transform, panel): (ViewTransform, [u32; 2]),
    only: Option<usize>,
    (choice, most_auto_bits): (TransferChoice, u64),
    limits: TextureLimits,
) -> PicturePlan {
    let bits = 4 * size.words() as u64 * instances as u64;
    let transfer = choice.transfer(bits, most_auto_bits);
    let fits = bits <= MAX_BITS_TEXTURE_BYTES && limits.take_bits(size);
    if transfer != Transfer::View && fits {
        // The same for every camera, so that moving it asks for nothing.
        let region = ReduceRegion::of_cells(4, 1);
        return PicturePlan {
            transfer,
            region,
            only: None,
        };
    }
    let drawn = only.map_or(instances as u64, |_| 1).max(1);
    let region = region(size, transform, panel, MAX_ROUND_BYTES / drawn, limits.side);
    PicturePlan {
        transfer: Transfer::View,
        region,
        only,
    }
}

/// The region to reduce: one byte per pixel of the panel, or per cell if cells are larger than
/// pixels; fewer if that were more than `most` bytes. The background beside a lattice is not
/// included.
fn region(
    size: Size,
    transform: ViewTransform,
    panel: [u32; 2],
    most: u64,
    side: u32,
) -> ReduceRegion {
    let one = ReduceRegion::ONE as f64;
    let step = (one / transform.scale).round().max(one);
    let lattice = [size.width(), size.height()].map(f64::from);
    let around = transform.goes_around(size, panel);
    // The edge of the first pixel, and how many there are.
    let [(x0, width), (y0, height)] = [0, 1].map(|axis| {
        let (origin, all) = (transform.origin[axis], lattice[axis]);
        let seen = f64::from(panel[axis]) / transform.scale;
        let (from, texels) = if step == one {
            // Whole cells.
            let (from, to) = (origin.floor(), (origin + seen).ceil());
            (from * one, to - from)
        } else {
            ((origin * one).round(), f64::from(panel[axis]))
        };
        if around[axis] {
            return (from, texels);
        }
        let first = (-from / step).floor().max(0.0);
        let from = from + first * step;
        let last = ((all * one - from) / step).ceil();
        (from, (texels - first).min(last))
    });
    let mut view = ReduceRegion {
        x0: x0 as i64,
        y0: y0 as i64,
        step: step as i64,
        width: (width.max(1.0) as u32).next_multiple_of(4),
        height: height.max(1.0) as u32,
    };
    let covered = [view.width, view.height].map(|texels| f64::from(texels) * view.step as f64);
    while view.words() as u64 * 4 > most || view.width > side || view.height > side {
        view.step += view.step / 16;
        let texels = covered.map(|length| (length / view.step as f64).ceil().max(1.0) as u32);
        (view.width, view.height) = (texels[0].next_multiple_of(4), texels[1]);
        if view.width == 4 && view.height == 1 {
            break;
        }
    }
    view
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Camera;

    const LIMITS: TextureLimits = TextureLimits {
        side: 16384,
        layers: 2048,
    };

    fn ask(size: (u64, u64), instances: usize, panel: [u32; 2], zoom: f64) -> PicturePlan {
        let size = Size::new(size.0, size.1).unwrap();
        let mut camera = Camera::default();
        camera.zoom(zoom, size, panel);
        let transform = camera.target_transform(size, panel);
        request(
            (size, instances),
            (transform, panel),
            None,
            (TransferChoice::Auto, PicturePlan::MAX_AUTO_BITS_BYTES),
            LIMITS,
        )
    }

    #[test]
    fn a_round_is_bounded_and_has_all_that_its_panels_show() {
        for instances in [1, 16, 200, 4096] {
            for panel in [[3800, 2100], [990, 990], [500, 500], [20, 20], [1, 1]] {
                for zoom in [1.0, 10.0, 1000.0, 262_144.0] {
                    let view = ask((262_144, 262_144), instances, panel, zoom).region;
                    let say = format!("{instances} {panel:?} {zoom}: {view:?}");
                    let bytes = view.words() as u64 * 4 * instances as u64;
                    assert!(bytes <= MAX_ROUND_BYTES, "{say}");
                    assert!(
                        view.step >= ReduceRegion::ONE && view.width.is_multiple_of(4),
                        "{say}"
                    );
                    let (width, height) =
                        (view.columns(view.width - 1).1, view.rows(view.height - 1).1);
                    let shown = if zoom == 1.0 {
                        262_144
                    } else {
                        // At most 64 pixels per cell, unless fewer show all of it.
                        (f64::from(panel[0].min(panel[1])) / 64.0) as i64
                    };
                    let has = |to: i64, from: i64| to - from >= shown - 2;
                    assert!(
                        has(width, view.columns(0).0) && has(height, view.rows(0).0),
                        "{say}"
                    );
                    // A byte a cell where cells are larger than pixels, and not more.
                    let is_close = zoom == 262_144.0;
                    let is_whole =
                        view.step == ReduceRegion::ONE && view.x0 % ReduceRegion::ONE == 0;
                    assert!(
                        !is_close || is_whole && view.width <= 3800 / 64 + 5,
                        "{say}"
                    );
                }
            }
        }
    }
}
