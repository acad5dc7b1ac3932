//! The CPU engine's planar layout: the height is divided into 16 bands, one per vector lane, so
//! that the rows above and below are whole vectors, like the words to the left and right.
//!
//! Vector x of row i holds word x of the lattice's rows `start(k) + i` for each lane k. All bands
//! have the same number of rows: if 16 does not divide the height, a band's last row is also the
//! next band's first, and both step it identically. Beyond a band's end the row is that of the
//! adjacent band, with lanes rotated by one ([`Rows::copy`]). A lattice of at most 16 rows
//! is stored as a whole in every lane.
//!
//! A row's words are planar ([`Layout::Planar`](crate::Layout::Planar)), as many as the row's cells
//! need: what holds for bands holds for planes, too.
//!
//! Groups of four rows are stored together, column by column, in the order of stepping. So a column
//! sweep reads and writes memory sequentially, not on four pages at once.

use super::vector;
use super::vector::{LANES, Lanes};
use crate::host_memory as memory;
use crate::{MemoryUse, Result};
use life::{Size, Soup};
use std::ops::Range;

/// Rows per group, as many as a column sweep reads at once.
pub(super) const ROWS: usize = 4;

/// A lattice's planar words.
pub(super) struct PlanarRows {
    pub shape: Shape,
    /// All groups of four rows. The last group may be padded.
    pub vectors: Vec<Lanes>,
}

/// The division of a lattice into bands and planes.
pub(super) struct Shape {
    size: Size,
    bands: Bands,
    /// The division of each row.
    pub planes: Planes,
}

/// The division of a height into bands.
#[derive(Clone, Copy)]
struct Bands {
    /// Rows per band, which is the rows of vectors.
    rows: usize,
    /// First row of each band.
    starts: [usize; LANES],
    /// Rows from each band's start to the next one's, around the torus.
    lengths: [usize; LANES],
    /// Ones in the lanes whose band is shorter than others by a row.
    short: Lanes,
    /// Ones in the lanes whose previous band is.
    short_before: Lanes,
}

impl Bands {
    fn of(height: usize) -> Bands {
        if height <= LANES {
            return Bands {
                rows: height,
                starts: [0; LANES],
                lengths: [height; LANES],
                short: Lanes::default(),
                short_before: Lanes::default(),
            };
        }
        let start = |k: usize| k * height / LANES;
        let rows = height.div_ceil(LANES);
        let lengths = std::array::from_fn(|k| start(k + 1) - start(k));
        let short = |k: usize| if lengths[k] < rows { u32::MAX } else { 0 };
        Bands {
            rows,
            starts: std::array::from_fn(start),
            lengths,
            short: Lanes(std::array::from_fn(short)),
            short_before: Lanes(std::array::from_fn(|k| short((k + LANES - 1) % LANES))),
        }
    }

    /// The lane and row that hold row `i` of lane `k`, where `i` may lie beyond the band.
    fn place(&self, mut k: usize, mut i: isize) -> (usize, usize) {
        while i < 0 {
            k = (k + LANES - 1) % LANES;
            i += self.lengths[k] as isize;
        }
        while i >= self.rows as isize {
            i -= self.lengths[k] as isize;
            k = (k + 1) % LANES;
        }
        (k, i as usize)
    }
}

/// The division of a width into 32 planes.
#[derive(Clone, Copy)]
pub(super) struct Planes {
    width: usize,
    /// Words, or vectors, per row.
    pub across: usize,
    /// Cells from the start of a narrow plane to the next one's; from a wide one's it is `across`.
    pub narrow: usize,
    /// Bit b: plane b is wide.
    pub wide: u32,
}

impl Planes {
    fn of(size: Size) -> Planes {
        let width = size.width as usize;
        let across = size.words_per_row();
        let mut planes = Planes {
            width,
            across,
            narrow: width / 32,
            wide: 0,
        };
        let is_wide = |&plane: &usize| planes.start(plane + 1) - planes.start(plane) == across;
        planes.wide = (0..32).filter(is_wide).map(|plane| 1 << plane).sum();
        planes
    }

    /// First cell of a plane.
    fn start(&self, plane: usize) -> usize {
        plane * self.width / 32
    }

    /// The planes that may contain a cell, and its column in each: the plane that starts last before
    /// it and the one before that. Columns from `across` on are not in the plane.
    fn places(&self, x: usize) -> [(usize, usize); 2] {
        let plane = (32 * x + 31) / self.width;
        [plane, (plane + 31) % 32]
            .map(|plane| (plane, (x + self.width - self.start(plane)) % self.width))
    }
}

impl Shape {
    fn of(size: Size) -> Shape {
        Shape {
            size,
            bands: Bands::of(size.height as usize),
            planes: Planes::of(size),
        }
    }

    /// Groups of four rows.
    pub(super) fn groups(&self) -> usize {
        self.bands.rows.div_ceil(ROWS)
    }

    /// Vectors of a group.
    pub(super) fn group(&self) -> usize {
        ROWS * self.planes.across
    }

    /// Index of a row's first vector, where row 0 is the first one of a group.
    fn start(&self, row: usize) -> usize {
        row / ROWS * self.group() + row % ROWS
    }

    /// Row `i` of some groups: every fourth vector of the slice.
    #[inline(always)]
    fn row<'a>(&self, groups: &'a [Lanes], i: usize) -> &'a [Lanes] {
        &groups[self.start(i)..][..self.group() - (ROWS - 1)]
    }
}

/// Contiguous rows of a lattice, from the first row of a group on.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    pub shape: &'a Shape,
    /// Index of the first row.
    pub first: usize,
    /// Their groups. The lattice's last one may be padded.
    pub vectors: &'a [Lanes],
}

impl<'a> Rows<'a> {
    /// Index of the row after the last one.
    pub(super) fn end(&self) -> usize {
        let rows = self.vectors.len() / self.shape.planes.across;
        self.shape.bands.rows.min(self.first + rows)
    }

    /// One of these rows.
    fn row(&self, i: usize) -> &'a [Lanes] {
        self.shape.row(self.vectors, i - self.first)
    }

    /// Copies the outer rows that a pass of the upper and of the lower neighbour needs, to where its
    /// halo has them.
    pub(super) fn copy_outer(&self, depth: usize, [up, down]: &mut [Vec<Lanes>; 2]) {
        let (rows, known) = (self.shape.bands.rows, depth as isize);
        // Around the torus, the first rows are below the last ones.
        let first = if self.first == 0 { rows } else { self.first } as isize;
        let end = if self.end() == rows { 0 } else { self.end() } as isize;
        self.copy(first..first + known, up, 0);
        self.copy(end - known..end, down, halo_rows(depth) - depth);
    }

    /// Copies these rows, which may lie beyond either end of the bands, to the groups `to` from its
    /// row `at` on. Such a row is taken from the adjacent bands.
    pub(super) fn copy(&self, rows: Range<isize>, to: &mut [Lanes], at: usize) {
        for (i, at) in rows.zip(at..) {
            let out = &mut to[self.shape.start(at)..];
            let count = self.shape.bands.rows;
            let row = match usize::try_from(i) {
                Ok(i) if i < count => self.row(i),
                _ if self.shape.size.height as usize <= LANES => {
                    self.row(i.rem_euclid(count as isize) as usize)
                }
                _ => {
                    self.wrap(i, out);
                    continue;
                }
            };
            vector::vectorize(
                #[inline(always)]
                || {
                    let vectors = out.iter_mut().zip(row).step_by(ROWS);
                    vectors.for_each(|(to, from)| *to = *from);
                },
            );
        }
    }

    /// Writes a row beyond either end of the bands to `out`.
    fn wrap(&self, i: isize, out: &mut [Lanes]) {
        let bands = &self.shape.bands;
        let rows = self.shape.bands.rows as isize;
        let row = |i: isize| self.row(i as usize);
        if (1 - rows..0).contains(&i) {
            let [long, short] = [row(rows + i), row(rows + i - 1)];
            turn::<{ LANES - 1 }>([long, short], bands.short_before, out);
        } else if (rows..2 * rows - 1).contains(&i) {
            let [long, short] = [row(i - rows), row(i - rows + 1)];
            turn::<1>([long, short], bands.short, out);
        } else {
            let places: [_; LANES] = std::array::from_fn(|k| bands.place(k, i));
            for x in (0..self.shape.group()).step_by(ROWS) {
                out[x] = Lanes(places.map(|(lane, row)| self.row(row)[x].0[lane]));
            }
        }
    }
}

/// The rows that a pass reads: a share's own, and halos above and below them.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub own: Rows<'a>,
    /// Groups above and below, of [`halo_rows`] rows each.
    pub halos: [&'a [Lanes]; 2],
}

/// Rows of a halo for a pass of `depth` generations, `depth` of which have to be known; a pass reads
/// the others, too, but nothing that it stores depends on them.
pub(super) fn halo_rows(depth: usize) -> usize {
    (depth + 3).next_multiple_of(ROWS)
}

impl<'a> Source<'a> {
    /// Whole rows from the row above `top` on: as many as a group and its neighbours.
    #[inline(always)]
    pub(super) fn around(&self, top: isize) -> [&'a [Lanes]; ROWS + 2] {
        let Rows { shape, first, .. } = self.own;
        let (first, end) = (first as isize, self.own.end() as isize);
        let [above, below] = self.halos;
        let halo = (above.len() / shape.planes.across) as isize;
        std::array::from_fn(|row| {
            let i = top - 1 + row as isize;
            let (groups, i) = match i {
                _ if i < first => (above, i - first + halo),
                _ if i < end => (self.own.vectors, i - first),
                _ => (below, i - end),
            };
            shape.row(groups, i as usize)
        })
    }
}

impl PlanarRows {
    /// Allocates a lattice of dead cells.
    pub(super) fn new(size: Size, what: MemoryUse) -> Result<PlanarRows> {
        let shape = Shape::of(size);
        let vectors = memory::zeroed(shape.groups() * shape.group(), what)?;
        Ok(PlanarRows { shape, vectors })
    }

    /// Size in bytes for a lattice.
    pub(super) fn bytes(size: Size) -> u64 {
        let shape = Shape::of(size);
        memory::bytes_of::<Lanes>(shape.groups() * shape.group())
    }

    /// All rows.
    pub(super) fn all(&self) -> Rows<'_> {
        Rows {
            shape: &self.shape,
            first: 0,
            vectors: &self.vectors,
        }
    }

    /// Loads a lattice from bits; `bits` returns a row's words.
    pub(super) fn load<'a>(&mut self, bits: impl Fn(usize) -> &'a [u32]) {
        let (across, planes) = (self.shape.planes.across, self.shape.planes);
        let starts = self.shape.bands.starts;
        for i in 0..self.shape.bands.rows {
            let sources: [&[u32]; LANES] = std::array::from_fn(|k| bits(starts[k] + i));
            let start = self.shape.start(i);
            let mut row = self.vectors[start..].iter_mut().step_by(ROWS).take(across);
            for j in 0..across.div_ceil(32) {
                let mut block = [Lanes::default(); 32];
                for (plane, block) in block.iter_mut().enumerate() {
                    let at = planes.start(plane) + 32 * j;
                    *block = Lanes(sources.map(|source| bits_around(source, at, planes.width)));
                }
                transpose(&mut block);
                block.iter().for_each(|block| {
                    if let Some(out) = row.next() {
                        *out = *block;
                    }
                });
            }
        }
    }

    /// The planar words of the lattice's row `y`.
    pub(super) fn words_of(&self, y: usize) -> impl Iterator<Item = u32> + '_ {
        let (lane, i) = self.places_of(y).next().expect("a lane has the row");
        let row = self.all().row(i).iter().step_by(ROWS);
        row.map(move |word| word.0[lane])
    }

    /// Replaces the planar words of the lattice's row `y`, in every band that contains it.
    pub(super) fn set_words(&mut self, y: usize, words: &[u32]) {
        let places: Vec<_> = self.places_of(y).collect();
        for (lane, i) in places {
            let start = self.shape.start(i);
            let row = self.vectors[start..].iter_mut().step_by(ROWS);
            row.zip(words).for_each(|(to, &word)| to.0[lane] = word);
        }
    }

    /// The lanes that contain the lattice's row `y`, each with the row of vectors where it is.
    fn places_of(&self, y: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        let Shape { size, bands, .. } = &self.shape;
        let height = size.height as usize;
        let row = move |lane: usize| (y + height - bands.starts[lane]) % height;
        let places = (0..LANES).map(move |lane| (lane, row(lane)));
        places.filter(|&(_, i)| i < bands.rows)
    }

    /// Sets the cell in column `x`, row `y`, in every plane and band that contains it.
    pub(super) fn set(&mut self, x: usize, y: usize, alive: bool) {
        let planes = self.shape.planes;
        let places: Vec<_> = self.places_of(y).collect();
        for (lane, i) in places {
            for (plane, column) in planes.places(x) {
                if column < planes.across {
                    let at = self.shape.start(i) + ROWS * column;
                    let word = &mut self.vectors[at].0[lane];
                    *word = *word & !(1 << plane) | u32::from(alive) << plane;
                }
            }
        }
    }

    /// Converts the lattice to bits: calls `write` with each row's index and words.
    pub(super) fn store(&self, mut write: impl FnMut(usize, &[u32])) {
        let Shape {
            size,
            ref bands,
            planes,
        } = self.shape;
        let (across, last_word) = (planes.across, size.last_word_mask());
        let mut rows = vec![0; LANES * across];
        for i in 0..bands.rows {
            rows.fill(0);
            let mut row = self.all().row(i).iter().step_by(ROWS).copied();
            for j in 0..across.div_ceil(32) {
                let mut block = [Lanes::default(); 32];
                block.fill_with(|| row.next().unwrap_or_default());
                transpose(&mut block);
                for (plane, block) in block.iter().enumerate() {
                    let at = planes.start(plane) + 32 * j;
                    for (row, &word) in rows.chunks_exact_mut(across).zip(&block.0) {
                        put_bits(row, at, word);
                    }
                }
            }
            // The last plane's last cells may be the row's first ones, which the first plane has.
            rows.iter_mut()
                .skip(across - 1)
                .step_by(across)
                .for_each(|word| *word &= last_word);
            let new = |k: usize| i < bands.lengths[k];
            for (k, row) in rows
                .chunks_exact(across)
                .enumerate()
                .filter(|&(k, _)| new(k))
            {
                let y = bands.starts[k] + i;
                write(y, row);
            }
        }
    }
}

/// 32 bits from bit `at` on; 0 beyond the row's end.
#[inline(always)]
fn bits_at(row: &[u32], at: usize) -> u32 {
    let word = |i: usize| u64::from(row.get(i).copied().unwrap_or(0));
    ((word(at / 32) | word(at / 32 + 1) << 32) >> (at % 32)) as u32
}

/// 32 bits from bit `at` on of a row of this many cells, after whose last one its first one follows.
#[inline(always)]
fn bits_around(row: &[u32], at: usize, width: usize) -> u32 {
    if at + 32 <= width {
        return bits_at(row, at);
    }
    let ahead = width.saturating_sub(at);
    let first = bits_at(row, at + ahead - width);
    bits_at(row, at) | first.checked_shl(ahead as u32).unwrap_or(0)
}

/// Sets the bits of a word from bit `at` on; those beyond the row's end are dropped.
#[inline(always)]
fn put_bits(row: &mut [u32], at: usize, word: u32) {
    let both = u64::from(word) << (at % 32);
    for (word, half) in row[at / 32..]
        .iter_mut()
        .zip([both as u32, (both >> 32) as u32])
    {
        *word |= half;
    }
}

/// Transposes 32 × 32 bits in every lane: swaps bit b of word a with bit a of word b.
fn transpose(block: &mut [Lanes; 32]) {
    vector::vectorize(
        #[inline(always)]
        || {
            let mut mask = u32::MAX;
            for distance in [16, 8, 4, 2, 1] {
                mask ^= mask << distance;
                for a in (0..32).filter(|a| a & distance == 0) {
                    let (low, high) = (block[a], block[a + distance]);
                    for k in 0..LANES {
                        let other = (low.0[k] >> distance ^ high.0[k]) & mask;
                        block[a + distance].0[k] = high.0[k] ^ other;
                        block[a].0[k] = low.0[k] ^ other << distance;
                    }
                }
            }
        },
    );
}

/// Rotates lanes by `BY`: those of the second row where `mask` is set, of the first row elsewhere.
fn turn<const BY: usize>([clear, set]: [&[Lanes]; 2], mask: Lanes, out: &mut [Lanes]) {
    vector::vectorize(
        #[inline(always)]
        || {
            let vectors = out.iter_mut().zip(clear).zip(set);
            for ((out, clear), set) in vectors.step_by(ROWS) {
                // Copies of the vectors: the compiler does not know that `out` is none of them.
                let (clear, set, mut turned) = (*clear, *set, Lanes::default());
                for k in 0..LANES {
                    let from = (k + BY) % LANES;
                    turned.0[k] = (set.0[from] & mask.0[k]) | (clear.0[from] & !mask.0[k]);
                }
                *out = turned;
            }
        },
    );
}

// The CPU engine's bit layout: every row is stored between two halo words, so that it can be
// stepped without handling the torus's edges.
//
// A row is the word to its left, its own words, and the word to its right. If the width is not a
// multiple of 32, the first free bit of the last word holds the right neighbour. Rows are padded
// to whole vectors; the padding holds no cells and is never read out.

/// A lattice's bits, row by row with halos.
pub(super) struct BitRows {
    pub size: Size,
    /// Words from one row to the next.
    pub stride: usize,
    /// All words, including halos and padding. After a change of a row it must be [sealed](seal).
    pub words: Vec<u32>,
}

impl BitRows {
    /// Allocates a lattice of dead cells.
    pub(super) fn new(size: Size, what: MemoryUse) -> Result<BitRows> {
        let stride = stride(size);
        Ok(BitRows {
            size,
            stride,
            words: memory::zeroed(stride * size.height as usize, what)?,
        })
    }

    /// Size in bytes for a lattice.
    pub(super) fn bytes(size: Size) -> u64 {
        memory::bytes_of::<u32>(stride(size) * size.height as usize)
    }

    /// The words of row `y`. Bits beyond the width are not cells.
    pub(super) fn row(&self, y: usize) -> &[u32] {
        &self.words[y * self.stride + 1..][..self.size.words_per_row()]
    }

    /// Writes every row: `fill` gets the row's index and words.
    pub(super) fn fill(&mut self, mut fill: impl FnMut(usize, &mut [u32])) {
        let width = self.size.width as usize;
        for (y, row) in self.words.chunks_exact_mut(self.stride).enumerate() {
            fill(y, &mut row[1..=width.div_ceil(32)]);
            seal(row, width);
        }
    }

    /// Changes the words of row `y`.
    pub(super) fn change(&mut self, y: usize, change: impl FnOnce(&mut [u32])) {
        let row = &mut self.words[y * self.stride..][..self.stride];
        change(&mut row[1..=self.size.words_per_row()]);
        seal(row, self.size.width as usize);
    }

    /// Loads a lattice in the layout that crosses the bus.
    pub(super) fn load(&mut self, words: &[u32]) {
        let per_row = self.size.words_per_row();
        self.fill(|y, row| row.copy_from_slice(&words[y * per_row..][..per_row]));
    }

    /// Makes the rows of a soup from row `first` on, whose number may be negative.
    pub(super) fn make_soup(&mut self, soup: Soup, first: i64) {
        soup.fill(self.size, first, &mut self.words, self.stride, 1);
        let width = self.size.width as usize;
        let rows = self.words.chunks_exact_mut(self.stride);
        rows.for_each(|row| seal(row, width));
    }

    /// Stores as many rows as `words` has room for, from row `first` on, in the layout that crosses
    /// the bus, with bits beyond the width 0.
    pub(super) fn store(&self, first: usize, words: &mut [u32]) {
        let per_row = self.size.words_per_row();
        for (y, row) in (first..).zip(words.chunks_exact_mut(per_row)) {
            row.copy_from_slice(self.row(y));
            row[per_row - 1] &= self.size.last_word_mask();
        }
    }
}

/// Updates a row's halo from its cells; `row` is a whole stride.
pub(super) fn seal(row: &mut [u32], width: usize) {
    let last = width.div_ceil(32);
    match width % 32 {
        0 => {
            row[0] = row[last];
            row[last + 1] = row[1];
        }
        used => {
            let cells = row[last] & (u32::MAX >> (32 - used));
            row[0] = cells << (32 - used);
            row[last] = cells;
            row[last] |= (row[1] & 1) << used;
        }
    }
}

/// Words per row: the row padded to whole vectors, plus two halo words. 16 words fit AVX-512, but
/// narrow lattices use less.
fn stride(size: Size) -> usize {
    let vector = match size.words_per_row() {
        0..=2 => 1,
        3..=8 => 4,
        _ => 16,
    };
    size.words_per_row().next_multiple_of(vector) + 2
}
