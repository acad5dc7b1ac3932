//! How cells lie in memory, and how a kernel is launched: grids and blocks that cover a lattice.

use life::Size;

/// A memory layout of a lattice's cells, with the number by which kernels know it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// One `i32`, 0 or 1, per cell, row by row; used by the first rungs.
    I32 = 1,
    /// One bit per cell, 32 cells per word, the least significant bit leftmost. Also the layout
    /// that crosses the bus.
    Bits = 0,
    /// One bit per cell, with the width divided into 32 planes: plane b starts at cell
    /// `b * width / 32` (rounded down), and bit b of word x of a row is cell x of plane b. A cell's
    /// neighbours are at the same bit of the adjacent words; only at a row's ends a word is rotated
    /// by one bit, into the adjacent plane. A row has at least `width / 32` words; cells that two
    /// planes have are the same in both, and are stepped alike. (Only the width is divided, so any
    /// height works and a row stays a row.)
    Planar = 2,
}

impl Layout {
    /// The width from which on a row has a cell for each plane.
    pub(super) const MIN_PLANAR_WIDTH: u32 = 32;

    /// Whether the layout supports a lattice of this size.
    pub fn supports(self, size: Size) -> bool {
        self != Layout::Planar || size.width >= Self::MIN_PLANAR_WIDTH
    }

    /// Words of a lattice on a GPU, where a planar row is a whole number of quads, which are loaded
    /// at once. An `i32` is a word, too.
    pub fn words(self, size: Size) -> usize {
        match self {
            Layout::I32 => size.cells() as usize,
            Layout::Bits => size.words(),
            Layout::Planar => planar_words_per_row(size) as usize * size.height as usize,
        }
    }

    /// Bytes of a row of a lattice on a GPU.
    pub fn row_bytes(self, size: Size) -> usize {
        4 * self.words(size) / size.height as usize
    }
}

/// Width in cells that one lane of `life_multistep` steps: four words.
pub(super) const CELLS_PER_LANE: u32 = 128;

/// Words of a planar row on a GPU.
pub(crate) const fn planar_words_per_row(size: Size) -> u32 {
    4 * size.width.div_ceil(CELLS_PER_LANE)
}

/// Adjacent lattices that run at the same time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Batch {
    /// How many of them one launch steps; 1 unless the kernel is
    /// [`batched`](super::Kernel::batched).
    pub launched: u32,
    /// How many there are, in this launch and in others like it.
    pub in_all: u32,
    /// How many lattices of this size the device has; other streams may step them meanwhile.
    pub on_device: u32,
}

impl Batch {
    /// A launch for this many of the device's lattices.
    pub const fn of(lattices: u32, on_device: u32) -> Batch {
        Batch {
            launched: lattices,
            in_all: lattices,
            on_device,
        }
    }
}

/// A launch configuration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Launch {
    /// Grid dimensions in blocks: x, y, z.
    pub grid: [u32; 3],
    /// Block dimensions in threads: x, y, z.
    pub block: [u32; 3],
    /// Dynamic shared memory per block, in bytes.
    pub shared_bytes: u64,
    /// Index of the function in [`Kernel::entries`](super::Kernel).
    pub entry: usize,
    /// Whether all blocks must run at the same time.
    pub cooperative: bool,
}

impl Launch {
    /// So many blocks of so many threads, in a row.
    pub const fn in_row(blocks: u32, threads: u32) -> Launch {
        Self::new([blocks, 1, 1], [threads, 1, 1])
    }

    /// A launch of a kernel's first function, without dynamic shared memory.
    pub(crate) const fn new(grid: [u32; 3], block: [u32; 3]) -> Launch {
        Launch {
            grid,
            block,
            shared_bytes: 0,
            entry: 0,
            cooperative: false,
        }
    }

    /// How many blocks there are, and how many threads each has.
    pub(crate) fn counts(&self) -> (u64, u32) {
        let blocks = self.grid.iter().map(|side| u64::from(*side)).product();
        (blocks, self.block.iter().product())
    }

    /// Maximum grid size in y.
    const MAX_GRID_Y: u32 = 65_535;

    /// Maximum grid size in z.
    pub const MAX_GRID_Z: u32 = 65_535;

    /// One thread for each of `across` × `down` items. If there are more rows of blocks than a
    /// grid's y dimension allows, they continue in z: kernels number them `blockIdx.z * gridDim.y +
    /// blockIdx.y`.
    pub const fn over(across: u32, down: u32, block: (u32, u32)) -> Launch {
        let rows = down.div_ceil(block.1);
        let layers = rows.div_ceil(Self::MAX_GRID_Y);
        Self::new(
            [across.div_ceil(block.0), rows.div_ceil(layers), layers],
            [block.0, block.1, 1],
        )
    }

    /// The launch of `life_multistep` or `life_deep`, by the generations of a pass: one warp per strip of
    /// a window, window by window, then warps that take several strips each, for a ring of lanes or for
    /// a narrow last window; the same for each lattice. There are no idle warps: a warp that ends
    /// immediately occupies a slot on its SM, so that the SM has less work and other SMs finish later.
    pub(super) fn column_sweep(
        generations: u32,
        size: Size,
        lattices: Batch,
        sm_count: u32,
    ) -> Launch {
        // Minimum rows per strip, since each strip needs a halo above and below.
        const MIN_ROWS: u32 = 4;
        // A lane of halo lasts as many generations as it has words: four. The choices: warps per SM at
        // most, and the minimum rows per strip for that. Low strips lose more to their halos; high
        // strips need many warps per SM, so that all end at about the same time. Measured on an H200.
        let (halo, choices): (_, &[_]) = match generations {
            0..=4 => (2, &[(60, 64), (12, 60), (8, 16), (4, MIN_ROWS)]),
            _ => (
                4,
                &[(32, 256), (16, 256), (12, 171), (8, 16), (4, MIN_ROWS)],
            ),
        };
        let useful = 32 - halo; // lanes of a window whose words are stored
        let lanes = size.width.div_ceil(CELLS_PER_LANE);
        let is_ring = size.width == lanes * CELLS_PER_LANE;
        // The number of windows with one warp per strip, and the strips per warp for the remaining
        // width.
        let (full, packed) = match (lanes, lanes % useful) {
            (1 | 2 | 4 | 8 | 16 | 32, _) if is_ring => (0, 32 / lanes),
            (_, 0) => (lanes / useful, 0),
            (_, rest) => (lanes / useful, 32 / (rest + halo)),
        };
        // Strips that this many warps can take. The kernel computes the same from its grid.
        let strips = |warps: u32| match packed {
            0 => warps / full,
            _ => warps * packed / (full * packed + 1),
        };
        let warps = |per_sm: u32| per_sm * sm_count / lattices.in_all;
        let choices = choices.iter();
        let mut choices =
            choices.map(|&(per_sm, min_rows)| (strips(warps(per_sm)).max(1), min_rows));
        let chosen = choices.find(|&(strips, min_rows)| size.height.div_ceil(strips) >= min_rows);
        let max_strips = size.height.div_ceil(MIN_ROWS);
        let strips = chosen.map_or(max_strips, |(strips, _)| strips);
        let last = match packed {
            0 => 0,
            _ => strips.div_ceil(packed),
        };
        Self::new([full * strips + last, lattices.launched, 1], [32, 1, 1])
    }

    /// The block shape of most support kernels; they support no other.
    pub const SUPPORT_BLOCK: (u32, u32) = (32, 8);

    /// The launch of the kernels that pack a layout into bits or unpack bits to it, for `lattices`
    /// adjacent lattices. Rows are converted independently, so the lattices form one tall lattice.
    pub fn convert(size: Size, lattices: u32, layout: Layout) -> Launch {
        /// Planar words across and rows down that a block of `planar.cu` converts, by nine warps.
        const PLANAR_TILE: (u32, u32) = (256, 4);
        let rows = size.height * lattices;
        match layout {
            Layout::I32 => Self::over(size.width, rows, Self::SUPPORT_BLOCK),
            Layout::Bits => Self::over(size.width.div_ceil(32), rows, Self::SUPPORT_BLOCK),
            Layout::Planar => Launch {
                block: [32, 9, 1],
                ..Self::over(planar_words_per_row(size), rows, PLANAR_TILE)
            },
        }
    }

    /// The launch of `measure_bits`: blocks per lattice such that each thread has at least 8 words,
    /// up to a maximum; the lattices are the grid's z dimension.
    pub fn measure(size: Size, lattices: u32) -> Launch {
        const THREADS: usize = 256;
        const MAX_BLOCKS: usize = 128;
        let blocks = size.words().div_ceil(8 * THREADS).min(MAX_BLOCKS);
        Self::new([blocks as u32, 1, lattices], [THREADS as u32, 1, 1])
    }

    /// The launch of `reduce_bits`: one block for 32 pixels of one row; the lattices are the grid's
    /// z dimension.
    pub(crate) fn reduce(width: u32, height: u32, lattices: u32) -> Launch {
        let (across, down) = Self::SUPPORT_BLOCK;
        Self::new(
            [width.div_ceil(across), height, lattices],
            [across, down, 1],
        )
    }
}
