//! Shapes of launches: what grid of blocks covers a lattice.

use crate::{Layout, ReduceRegion};
use life::Size;

/// Cells across that a lane of a marching warp steps: four words.
pub(super) const CELLS_PER_LANE: u32 = 128;

/// The shape of a launch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Launch {
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block.
    pub shared_bytes: u64,
}

impl Launch {
    /// The block of the kernels that pack, unpack and reduce; they take no other.
    pub const SUPPORT_BLOCK: (u32, u32) = (32, 8);

    /// The most blocks a grid has in y.
    const MAX_GRID_Y: u32 = 65_535;

    /// And in z.
    pub const MAX_GRID_Z: u32 = 65_535;

    /// A thread for each of `across` by `down` items. Where the rows of blocks are more than a
    /// grid's y may have, they go on in z: kernels number them `blockIdx.z * gridDim.y +
    /// blockIdx.y`.
    pub const fn over(across: u32, down: u32, block: (u32, u32)) -> Launch {
        let rows = down.div_ceil(block.1);
        let layers = rows.div_ceil(Self::MAX_GRID_Y);
        Launch {
            grid: [across.div_ceil(block.0), rows.div_ceil(layers), layers],
            block: [block.0, block.1, 1],
            shared_bytes: 0,
        }
    }

    /// Warps that a multistep is cut into, or somewhat fewer, on each of an H200's 132
    /// multiprocessors, and the min_rows rows that each is to have then: halos cost those with few
    /// rows the more, and those with many had better be so many that all end together. Other
    /// devices take them in another number of turns.
    const WARP_CHOICES: [(u32, u32); 3] = [(48, 128), (12, 96), (8, Self::MIN_ROWS)];

    /// The min_rows rows of a strip, where there are so many: each costs a halo above and below.
    const MIN_ROWS: u32 = 4;

    /// Of `life_multistep`: a warp for each strip of a window, window by window, then those that
    /// take several strips: of a ring of lanes, or of the last window, where it is narrow. One
    /// after the other, and none that would have nothing to do: a warp that ends at once takes its
    /// place on a multiprocessor from those that do, and those elsewhere then wait for them.
    pub(super) fn column_sweep(size: Size) -> Launch {
        /// Lanes of a warp whose words are stored; the two others hold the halo.
        const USEFUL: u32 = 30;
        const MULTIPROCESSORS: u32 = 132;
        let lanes = size.width() / CELLS_PER_LANE;
        // Windows that take a warp a strip, and how many strips a warp takes of what is left.
        let (full, packed) = match (lanes, lanes % USEFUL) {
            (1 | 2 | 4 | 8 | 16 | 32, _) => (0, 32 / lanes),
            (_, 0) => (lanes / USEFUL, 0),
            (_, rest) => (lanes / USEFUL, 32 / (rest + 2)),
        };
        // As many as so many warps take; the kernel counts back in the same way.
        let strips = |warps: u32| match packed {
            0 => warps / full,
            _ => warps * packed / (full * packed + 1),
        };
        let mut choices = Self::WARP_CHOICES
            .map(|(warps, min_rows)| (strips(warps * MULTIPROCESSORS).max(1), min_rows))
            .into_iter();
        let chosen = choices.find(|&(strips, min_rows)| size.height().div_ceil(strips) >= min_rows);
        let max_strips = size.height().div_ceil(Self::MIN_ROWS);
        let strips = chosen.map_or(max_strips, |(strips, _)| strips);
        let last = match packed {
            0 => 0,
            _ => strips.div_ceil(packed),
        };
        Launch {
            grid: [full * strips + last, 1, 1],
            block: [32, 1, 1],
            shared_bytes: 0,
        }
    }

    /// The same for so many lattices that lie one behind the other, with as many blocks each.
    pub const fn batch(self, lattices: u32) -> Launch {
        let [x, y, z] = self.grid;
        Launch {
            grid: [x * lattices, y, z],
            ..self
        }
    }

    /// Of the kernels that pack a layout into bits, or unpack it from them, for so many lattices
    /// that lie one behind the other: a row is a row, whichever lattice's it is.
    pub const fn convert(size: Size, lattices: u32, layout: Layout) -> Launch {
        let across = match layout {
            Layout::I32 => size.width(),
            Layout::Bits | Layout::Planar => size.width().div_ceil(32),
        };
        Self::over(across, size.height() * lattices, Self::SUPPORT_BLOCK)
    }

    /// Of `edit_cells`: a row of threads for each edit, one a cell of its word.
    pub const fn edit(edits: u32) -> Launch {
        Self::over(Self::SUPPORT_BLOCK.0, edits, Self::SUPPORT_BLOCK)
    }

    /// Of `measure_bits`: so many blocks for each lattice that a thread has 8 words or more, where
    /// there are that many, and a layer of them for each lattice.
    pub const fn measure(size: Size, lattices: u32) -> Launch {
        const THREADS: usize = 256;
        const MAX_BLOCKS: usize = 128;
        let blocks = size.words().div_ceil(8 * THREADS);
        let blocks = if blocks < MAX_BLOCKS {
            blocks
        } else {
            MAX_BLOCKS
        };
        Launch {
            grid: [blocks as u32, 1, lattices],
            block: [THREADS as u32, 1, 1],
            shared_bytes: 0,
        }
    }

    /// Of `reduce_bits`: a block for 32 pixels of one row, a layer of them for each lattice.
    pub const fn reduce(region: ReduceRegion, lattices: u32) -> Launch {
        let (across, down) = Self::SUPPORT_BLOCK;
        Launch {
            grid: [region.width.div_ceil(across), region.height, lattices],
            block: [across, down, 1],
            shared_bytes: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::find;

    #[test]
    fn a_grid_covers_every_row_within_its_limits() {
        for down in [1, 8, 9, 524_280, 524_281, 1 << 24] {
            let launch = Launch::over(1 << 24, down, (32, 8));
            let [_, y, z] = launch.grid;
            assert!(y <= 65_535 && z <= 65_535);
            assert!(
                u64::from(y) * u64::from(z) * 8 >= u64::from(down),
                "{launch:?}"
            );
        }
    }

    #[test]
    fn a_march_covers_the_lattice_and_a_grid_its_limits() {
        let multistep = find("multistep").unwrap();
        // Four windows of 243 warps and the fifth's 81: no more than eight a multiprocessor.
        let square = multistep.launch(Size::new(16_384, 16_384).unwrap(), multistep.block());
        assert_eq!(square.grid, [4 * 243 + 81, 1, 1]);
        for width in [128, 256, 384, 1024, 3840, 4096, 4224, 65_536, 1 << 24] {
            for height in [1, 7, 8, 9, 100, 4096, 70_000, 1 << 20] {
                let size = Size::new(width, height).unwrap_or(Size::new(width, 9).unwrap());
                let [warps, y, z] = multistep.launch(size, multistep.block()).grid;
                assert_eq!((y, z), (1, 1));
                // The kernel deals them out so: thirty lanes a window, the rest to the last.
                let lanes = (width / 128) as u32;
                let ring = lanes.is_power_of_two() && lanes <= 32;
                let (full, rest) = if ring {
                    (0, lanes)
                } else {
                    (lanes / 30, lanes % 30)
                };
                let packed = if ring { 32 / lanes } else { 32 / (rest + 2) };
                let (strips, first) = match rest {
                    0 => (warps / full, warps),
                    _ => {
                        let strips = warps * packed / (full * packed + 1);
                        (strips, full * strips)
                    }
                };
                // Every strip of every window has its warp, and hardly a warp has none.
                assert!(first <= warps && strips >= 1, "{size}");
                assert!((warps - first) * packed >= strips || rest == 0, "{size}");
                assert!((warps - first) * packed < strips + packed, "{size}");
                let rows = size.height().div_ceil(strips);
                assert!(rows >= 4 || strips < 4 + packed, "{size}: strips of {rows}");
            }
        }
    }
}
