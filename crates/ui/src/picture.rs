//! What a picture shows of its lattice: whether a cell lives, and where all live cells are.

use engine::ReduceRegion;
use life::Size;
use session::Picture;

/// Whether a cell is alive, given the words that come with the picture; of a view, whether
/// most of what a pixel stands for is, and not if the cell is not in it.
pub fn is_alive(picture: &Picture, size: Size, [x, y]: [u32; 2], words: &[u32]) -> bool {
    let Some(region) = picture.region else {
        let word = words.get(y as usize * size.words_per_row() + x as usize / 32);
        return word.is_some_and(|word| word >> (x % 32) & 1 == 1);
    };
    let column = region.column_at(middle(x), size.width());
    let row = region.row_at(middle(y), size.height());
    column.zip(row).is_some_and(|(column, row)| {
        let at = (row * region.width + column) as usize;
        let word = words.get(at / 4);
        word.is_some_and(|word| word >> (8 * (at % 4)) & 255 > 127)
    })
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
        let at = region.map_or(Some(x), |it| it.column_at(middle(x), size.width()))?;
        let at = at as usize * bits;
        Some(columns.get(at / 32)? >> (at % 32) & ((1 << bits) - 1) != 0)
    };
    let row = |y: u32| {
        let at = region.map_or(Some(y), |it| it.row_at(middle(y), size.height()))?;
        rows.get(at as usize).copied()
    };
    let columns: Option<Vec<bool>> = (0..size.width()).map(column).collect();
    let rows: Option<Vec<bool>> = (0..size.height()).map(row).collect();
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

#[cfg(test)]
mod tests {
    use super::*;
    use engine::Slot;
    use life::soup;

    #[test]
    fn a_view_across_the_edges_says_what_is_alive_there() {
        let size = Size::new(100, 60).unwrap();
        let lattice = soup(size, 0.4, 3, 0);
        let region = ReduceRegion {
            x0: 90 * ReduceRegion::ONE,
            y0: -7 * ReduceRegion::ONE,
            step: ReduceRegion::ONE,
            width: 24,
            height: 20,
        };
        let pixels = (0..20).flat_map(|j| (0..24).map(move |i| [(90 + i) % 100, (53 + j) % 60]));
        let bytes: Vec<u8> = pixels
            .map(|[x, y]| 255 * u8::from(lattice.get(x, y)))
            .collect();
        let four = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
        let words: Vec<u32> = bytes.chunks_exact(4).map(four).collect();
        let picture = Picture {
            sequence: 1,
            generation: 0,
            edits: 0,
            region: Some(region),
            words: words.len(),
            slot: Slot(0),
            cells: false,
        };
        for (x, y) in (0..100).flat_map(|x| (0..60).map(move |y| (x, y))) {
            let inside = !(14..90).contains(&x) && !(13..53).contains(&y);
            let want = inside && lattice.get(x, y);
            assert_eq!(is_alive(&picture, size, [x, y], &words), want, "{x}, {y}");
        }
        assert_eq!(live_area(&picture, size, &words), None, "a part");
        // As bits, and as a view of all.
        let mut two = life::Lattice::new(size);
        [[40, 7], [42, 9]]
            .iter()
            .for_each(|&[x, y]| two.set(x, y, true));
        let all = ReduceRegion::of_cells(100, 60);
        let bytes = engine::conformance::reduced(all, &two);
        let view: Vec<u32> = bytes.chunks_exact(4).map(four).collect();
        let area = Some(LiveArea {
            middle: [41.5, 8.5],
            sides: [3.0, 3.0],
        });
        for (region, words) in [(None, two.words()), (Some(all), &view)] {
            let picture = Picture { region, ..picture };
            assert_eq!(live_area(&picture, size, words), area);
        }
    }
}
