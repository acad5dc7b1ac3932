//! What a picture shows of its lattice: how much of a cell lives, and where all live cells are.

use crate::ViewTransform;
use engine::{ReduceRegion, Transfer};
use life::Size;
use session::{Picture, PicturePlan, TransferChoice};

/// How much of a cell is alive, from 0 to 255, given the words of its picture, which are bits or a view of this
/// region: of a view, how much of what its pixel stands for is; nothing if the cell is not in it.
pub fn density(region: Option<ReduceRegion>, size: Size, [x, y]: [u32; 2], words: &[u32]) -> u8 {
    let found = match region {
        None => words
            .get(y as usize * size.words_per_row() + x as usize / 32)
            .map(|word| 255 * (word >> (x % 32) & 1)),
        Some(region) => {
            let column = region.column_at(middle(x), size.width);
            let row = region.row_at(middle(y), size.height);
            column.zip(row).and_then(|(column, row)| {
                let at = (row * region.width + column) as usize;
                Some(words.get(at / 4)? >> (8 * (at % 4)) & 255)
            })
        }
    };
    found.unwrap_or(0) as u8
}

/// The middle of a cell, as a region has it.
fn middle(cell: u32) -> i64 {
    i64::from(cell) * ReduceRegion::ONE + ReduceRegion::ONE / 2
}

/// The smallest area with all live cells, which may go around the torus, in cells.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LiveArea {
    /// Its middle.
    pub middle: [f64; 2],
    /// Its sides.
    pub sides: [f64; 2],
}

/// The area of the live cells, as far as the picture shows them; `None` where none live, or if the
/// picture is of a part.
pub(crate) fn live_area(picture: &Picture, size: Size, words: &[u32]) -> Option<LiveArea> {
    let (row_length, bits) = match picture.region {
        None => (size.words_per_row(), 1),
        Some(region) => (region.width as usize / 4, 8),
    };
    let mut columns = vec![0; row_length];
    let mut rows = Vec::new();
    for row in words.chunks_exact(row_length) {
        let all = columns.iter_mut().zip(row);
        all.for_each(|(column, word)| *column |= word);
        rows.push(row.iter().any(|word| *word != 0));
    }
    let region = picture.region;
    let column = |x: u32| {
        let at = region.map_or(Some(x), |it| it.column_at(middle(x), size.width))?;
        let at = at as usize * bits;
        Some(columns.get(at / 32)? >> (at % 32) & ((1 << bits) - 1) != 0)
    };
    let row = |y: u32| {
        let at = region.map_or(Some(y), |it| it.row_at(middle(y), size.height))?;
        rows.get(at as usize).copied()
    };
    let columns: Option<Vec<bool>> = (0..size.width).map(column).collect();
    let rows: Option<Vec<bool>> = (0..size.height).map(row).collect();
    let ((x, width), (y, height)) = (around(&columns?)?, around(&rows?)?);
    let (middle, sides) = ([x, y], [width, height]);
    Some(LiveArea { middle, sides })
}

/// The middle and the length of the shortest part of a circle that has all places that are set.
fn around(set: &[bool]) -> Option<(f64, f64)> {
    let places: Vec<usize> = (0..set.len()).filter(|&at| set[at]).collect();
    let (first, last) = (*places.first()?, *places.last()?);
    let gaps = places.windows(2).map(|pair| (pair[1] - pair[0], pair[1]));
    let gaps = gaps.chain([(first + set.len() - last, first)]);
    let (gap, start) = gaps.max_by_key(|(gap, _)| *gap)?;
    let length = (set.len() + 1 - gap) as f64;
    Some((start as f64 + length / 2.0, length))
}

// What to ask of the session: the lattices' bits, or a view reduced on the device.

/// The most bytes of bits that are kept in textures, where bits are asked for.
const MAX_BITS_TEXTURE_BYTES: u64 = 1 << 30;

/// The pictures that the session should send for panels that show `transform`: of all instances, or
/// `only` of one. If the choice is automatic, bits are sent while all of them take at most
/// `most_auto_bits` bytes. `max_side` is the longest side of a texture, in texels.
pub fn request(
    (size, instances): (Size, usize),
    (transform, panel): (ViewTransform, [u32; 2]),
    only: Option<usize>,
    (choice, most_auto_bits): (TransferChoice, u64),
    max_side: u32,
) -> PicturePlan {
    let bits = size.bytes() * instances as u64;
    let transfer = choice.transfer(bits, most_auto_bits);
    let sides = size.words_per_row().max(size.height as usize);
    let fits = bits <= MAX_BITS_TEXTURE_BYTES && sides <= max_side as usize;
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
    let most = PicturePlan::MAX_BYTES / drawn;
    let region = region(size, transform, panel, most, max_side);
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
    let lattice = [size.width, size.height].map(f64::from);
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
    use crate::fixtures::FixturePictures;
    use session::PictureSource;

    #[test]
    fn live_cells_have_an_area_in_bits_and_in_views_of_all() {
        let size = Size::new(100, 60).unwrap();
        let mut two = life::Lattice::new(size);
        [[40, 7], [42, 9]]
            .iter()
            .for_each(|&[x, y]| two.set(x, y, true));
        let area = Some(LiveArea {
            middle: [41.5, 8.5],
            sides: [3.0, 3.0],
        });
        let views = [(100, area), (96, None)].map(|(width, area)| {
            let region = ReduceRegion::of_cells(width, 60);
            (
                FixturePictures::views(std::slice::from_ref(&two), region),
                area,
            )
        });
        let bits = FixturePictures::bits(&[two]);
        for (pictures, area) in [(bits, area)].into_iter().chain(views) {
            pictures.visit_newer(&mut [0], &mut |_, picture, words| {
                assert_eq!(live_area(picture, size, words), area, "{picture:?}");
            });
        }
    }

    const MAX_SIDE: u32 = 16_384;

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
            MAX_SIDE,
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
                    assert!(bytes <= PicturePlan::MAX_BYTES, "{say}");
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
