//! The newest pictures, and how dense they are under each dot of a panel.

use std::ops::Range;

use engine::ReduceRegion;
use life::Size;
use session::PictureSource;
use ui::ViewTransform;

/// One instance's picture.
#[derive(Clone, Debug)]
struct CachedPicture {
    region: Option<ReduceRegion>,
    words: Vec<u32>,
}

/// The cells that a column or row of dots covers.
struct CellSpan {
    /// The middle of the dots, in the fixed point of [`ReduceRegion`].
    middle: i64,
    /// Up to the lattice's edge, and those that come around the torus, if any.
    cells: [Range<u32>; 2],
}

impl CellSpan {
    fn count(&self) -> u64 {
        let [first, second] = &self.cells;
        first.len() as u64 + second.len() as u64
    }
}

/// All instances' pictures.
#[derive(Debug, Default)]
pub(super) struct PictureCache {
    size: Option<Size>,
    pictures: Vec<Option<CachedPicture>>,
    seen: Vec<u64>,
}

impl PictureCache {
    /// Takes over what is newer.
    pub(super) fn update(&mut self, instances: usize, size: Size, source: &dyn PictureSource) {
        if self.size != Some(size) {
            *self = PictureCache {
                size: Some(size),
                ..PictureCache::default()
            };
        }
        self.pictures.resize(instances, None);
        self.seen.resize(instances, 0);
        let pictures = &mut self.pictures;
        source.visit_newer(&mut self.seen, &mut |instance, picture, words| {
            // Lattices that were just resized are ahead of the status for a moment.
            if picture.region.is_none() && words.len() != size.words() {
                return;
            }
            let place = &mut pictures[instance];
            let cached = place.get_or_insert_with(|| CachedPicture {
                region: None,
                words: Vec::new(),
            });
            cached.region = picture.region;
            cached.words.clear();
            cached.words.extend_from_slice(words);
        });
    }

    /// The share of live cells under each dot, row by row, from 0 to 255; `None` off the lattice.
    pub(super) fn sample(
        &self,
        instance: usize,
        transform: ViewTransform,
        [width, height]: [u32; 2],
        densities: &mut Vec<Option<u8>>,
    ) {
        densities.clear();
        let Some(size) = self.size else { return };
        let sides = [size.width(), size.height()];
        let around = transform.goes_around(size, [width, height]);
        // The cell in the dots' middle at least.
        let covered = |axis: usize, dot: u32| -> Option<CellSpan> {
            let at = |part: f64| transform.origin[axis] + (f64::from(dot) + part) / transform.scale;
            let (middle, side) = (at(0.5), i64::from(sides[axis]));
            let inside = middle >= 0.0 && middle < side as f64;
            if !inside && !around[axis] {
                return None;
            }
            let (mut from, mut to) = if transform.scale >= 1.0 {
                (middle.floor() as i64, middle.floor() as i64 + 1)
            } else {
                (at(0.0).floor() as i64, at(1.0).floor() as i64)
            };
            if around[axis] {
                let turns = from.div_euclid(side) * side;
                (from, to) = (from - turns, to - turns);
            } else {
                (from, to) = (from.max(0), to.min(side));
            }
            let to = to.max(from + 1);
            let cells = |from: i64, to: i64| from as u32..to as u32;
            Some(CellSpan {
                middle: (middle * ReduceRegion::ONE as f64) as i64,
                cells: [cells(from, to.min(side)), cells(0, (to - side).max(0))],
            })
        };
        let cached = self.pictures.get(instance).and_then(Option::as_ref);
        let columns: Vec<_> = (0..width).map(|x| covered(0, x)).collect();
        for y in 0..height {
            let rows = covered(1, y);
            densities.extend(columns.iter().map(|columns| {
                let (columns, rows) = (columns.as_ref()?, rows.as_ref()?);
                Some(cached.map_or(0, |cached| cached.density(size, columns, rows)))
            }));
        }
    }
}

impl CachedPicture {
    fn density(&self, size: Size, columns: &CellSpan, rows: &CellSpan) -> u8 {
        match self.region {
            None => self.counted(size, columns, rows),
            Some(region) => {
                let column = region.column_at(columns.middle, size.width());
                let row = region.row_at(rows.middle, size.height());
                // It may still be an older one: outside of it all is dead.
                column.zip(row).map_or(0, |(column, row)| {
                    let at = (row * region.width + column) as usize;
                    (self.words[at / 4] >> (at % 4 * 8)) as u8
                })
            }
        }
    }

    /// Of whole cells, out of bits.
    fn counted(&self, size: Size, columns: &CellSpan, rows: &CellSpan) -> u8 {
        let all = columns.count() * rows.count();
        let mut alive = 0;
        for row in rows.cells.iter().cloned().flatten() {
            let start = row as usize * size.words_per_row();
            let row = &self.words[start..start + size.words_per_row()];
            for cells in columns.cells.iter().filter(|cells| !cells.is_empty()) {
                alive += count(row, cells);
            }
        }
        ((255 * alive + all / 2) / all) as u8
    }
}

/// The live cells of a row within these columns, of which there are some.
fn count(row: &[u32], cells: &Range<u32>) -> u64 {
    let (from, to) = (cells.start, cells.end);
    let (first, last) = (from as usize / 32, (to as usize - 1) / 32);
    let mut alive = 0;
    for (at, word) in row.iter().enumerate().take(last + 1).skip(first) {
        let low = if at == first { from % 32 } else { 0 };
        let high = if at == last { (to - 1) % 32 } else { 31 };
        let mask = (u32::MAX >> (31 - high)) & (u32::MAX << low);
        alive += u64::from((word & mask).count_ones());
    }
    alive
}

#[cfg(test)]
mod tests {
    use super::*;
    use life::Lattice;
    use ui::fixtures::{FixturePictures, moved, soup};

    fn densities(
        picture_cache: &PictureCache,
        transform: ViewTransform,
        pixels: [u32; 2],
    ) -> Vec<Option<u8>> {
        let mut densities = Vec::new();
        picture_cache.sample(0, transform, pixels, &mut densities);
        densities
    }

    fn cache_of(source: &FixturePictures, size: Size) -> PictureCache {
        let mut picture_cache = PictureCache::default();
        picture_cache.update(1, size, source);
        picture_cache
    }

    #[test]
    fn dots_count_the_cells_under_them() {
        let size = Size::new(100, 60).unwrap();
        let lattice = soup(size, 0.4, 7);
        let picture_cache = cache_of(&FixturePictures::bits(std::slice::from_ref(&lattice)), size);
        for (across, down) in [(5, 3), (1, 1), (50, 30), (100, 60)] {
            let transform = ViewTransform {
                origin: [0.0; 2],
                scale: f64::from(across) / 100.0,
            };
            let got = densities(&picture_cache, transform, [across, down]);
            let (w, h) = (100 / across, 60 / down);
            for (at, density) in got.into_iter().enumerate() {
                let (x, y) = (at as u32 % across * w, at as u32 / across * h);
                let cells = (y..y + h).flat_map(|y| (x..x + w).map(move |x| (x, y)));
                let alive = cells.filter(|&(x, y)| lattice.get(x, y)).count() as f64;
                let want = (255.0 * alive / f64::from(w * h)).round() as u8;
                assert_eq!(density, Some(want), "dot {at} of {across} × {down}");
            }
        }
    }

    #[test]
    fn a_reduced_view_shows_the_same_as_the_bits() {
        let size = Size::new(128, 64).unwrap();
        let lattice = soup(size, 0.3, 3);
        let region = ReduceRegion {
            step: 4 * ReduceRegion::ONE,
            ..ReduceRegion::of_cells(32, 16)
        };
        let transform = ViewTransform {
            origin: [0.0; 2],
            scale: 0.25,
        };
        let lattices = [lattice];
        let bits = densities(
            &cache_of(&FixturePictures::bits(&lattices), size),
            transform,
            [32, 16],
        );
        let view = cache_of(&FixturePictures::views(&lattices, region), size);
        assert_eq!(densities(&view, transform, [32, 16]), bits);
    }

    #[test]
    fn a_view_across_both_edges_goes_around_the_torus() {
        let size = Size::new(160, 96).unwrap();
        let lattice = soup(size, 0.3, 5);
        // Seen from there of one is what is seen from here of the other.
        let there = moved(&lattice, [150, 90]);
        for scale in [2.0, 0.25] {
            let seen = |lattice: &Lattice, origin| {
                let pictures = FixturePictures::bits(std::slice::from_ref(lattice));
                let transform = ViewTransform { origin, scale };
                densities(&cache_of(&pictures, size), transform, [30, 20])
            };
            let here = seen(&lattice, [0.0; 2]);
            assert_eq!(seen(&there, [150.0, 90.0]), here, "{scale}");
        }
    }

    #[test]
    fn off_the_lattice_there_is_nothing() {
        let size = Size::new(4, 4).unwrap();
        let picture_cache = cache_of(&FixturePictures::bits(&[soup(size, 1.0, 1)]), size);
        let transform = ViewTransform {
            origin: [-1.0, 0.0],
            scale: 2.0,
        };
        let row: Vec<_> = densities(&picture_cache, transform, [12, 1]);
        let want: Vec<_> = (0..12)
            .map(|x| (2..10).contains(&x).then_some(255))
            .collect();
        assert_eq!(row, want);
    }
}
