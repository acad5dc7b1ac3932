//! The table of kernels: one row says everything the host must know of one.

use crate::engine::{EngineError, Viewport};
use crate::life::Size;

/// How a kernel wants its cells.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// An `i32` of 0 or 1 a cell, row by row, as the first rungs have it.
    I32,
    /// One bit a cell, 32 cells a word, the least significant bit leftmost: also what crosses
    /// the bus.
    Bits,
}

/// Who iterates the generations.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Iteration {
    /// The host: a launch a generation.
    Launches,
    /// The kernel: one block a lattice, a barrier between generations, any number a launch.
    InKernel,
}

/// One rung of the ladder.
#[derive(Debug)]
pub struct Kernel {
    /// What people type.
    pub name: &'static str,
    /// The stem of its file in `kernels/ladder`, and so of its PTX.
    pub file: &'static str,
    /// The function in it.
    pub symbol: &'static str,
    /// The idea in a few words.
    pub title: &'static str,
    /// How it wants its cells.
    pub layout: Layout,
    /// Who iterates.
    pub iteration: Iteration,
    /// The shapes of a block that it takes, in threads across and down; the first is what it is
    /// launched with unless another is asked for.
    pub blocks: &'static [(u32, u32)],
    /// Rows of the lattice that a thread steps, one below the other.
    pub rows_per_thread: u32,
    /// Dynamic shared memory of a block of this shape, in bytes.
    pub shared_bytes: fn(Size, (u32, u32)) -> u64,
    /// Whether the cells end in the buffer they came from; otherwise every generation changes
    /// over to the other buffer.
    pub in_place: bool,
    /// The most cells a lattice may have, if there is a limit but memory.
    pub most_cells: Option<u64>,
}

impl PartialEq for Kernel {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Kernel {}

/// Blocks of a grid over the lattice.
const GRIDS: &[(u32, u32)] = &[
    (32, 8),
    (32, 4),
    (32, 16),
    (32, 32),
    (64, 4),
    (128, 1),
    (16, 16),
    (8, 8),
];

/// The one block of a lattice.
const WHOLE: &[(u32, u32)] = &[(32, 32), (32, 16), (32, 8), (32, 4), (32, 1)];

/// Every kernel, from the first rung up.
pub static KERNELS: [Kernel; 5] = [
    Kernel {
        name: "global",
        file: "01_global",
        symbol: "life_global",
        title: "one thread a cell, everything from global memory",
        layout: Layout::I32,
        iteration: Iteration::Launches,
        blocks: GRIDS,
        rows_per_thread: 1,
        shared_bytes: |_, _| 0,
        in_place: false,
        most_cells: None,
    },
    Kernel {
        name: "shared",
        file: "02_shared",
        symbol: "life_shared",
        title: "a tile and its halo in shared memory",
        layout: Layout::I32,
        iteration: Iteration::Launches,
        blocks: GRIDS,
        rows_per_thread: 1,
        shared_bytes: |_, (across, down)| 4 * u64::from(across + 2) * u64::from(down + 2),
        in_place: false,
        most_cells: None,
    },
    Kernel {
        name: "sync-global",
        file: "03_sync_global",
        symbol: "life_sync_global",
        title: "one block a lattice, generations inside the kernel, __syncthreads between them",
        layout: Layout::I32,
        iteration: Iteration::InKernel,
        blocks: WHOLE,
        rows_per_thread: 1,
        shared_bytes: |_, _| 0,
        in_place: false,
        most_cells: Some(1 << 24),
    },
    Kernel {
        name: "sync-shared",
        file: "04_sync_shared",
        symbol: "life_sync_shared",
        title: "the same with the whole lattice in shared memory",
        layout: Layout::I32,
        iteration: Iteration::InKernel,
        blocks: WHOLE,
        rows_per_thread: 1,
        shared_bytes: |size, _| 2 * size.cells(),
        in_place: true,
        most_cells: Some(24_576),
    },
    Kernel {
        name: "bits",
        file: "05_bits",
        symbol: "life_bits",
        title: "32 cells a word, added as bit planes",
        layout: Layout::Bits,
        iteration: Iteration::Launches,
        blocks: GRIDS,
        rows_per_thread: 4,
        shared_bytes: |_, _| 0,
        in_place: false,
        most_cells: None,
    },
];

/// The kernel of this name.
pub fn find(name: &str) -> Option<&'static Kernel> {
    KERNELS.iter().find(|kernel| kernel.name == name)
}

impl Kernel {
    /// Its place in [`KERNELS`].
    pub fn index(&self) -> usize {
        KERNELS
            .iter()
            .position(|kernel| kernel == self)
            .expect("every kernel is in the table")
    }

    /// The shape of its blocks unless another is asked for.
    pub fn block(&self) -> (u32, u32) {
        self.blocks[0]
    }

    /// How it is launched over a lattice of this size, in blocks of this shape.
    pub fn launch(&self, size: Size, block: (u32, u32)) -> Launch {
        let shared_bytes = (self.shared_bytes)(size, block);
        let launch = match (self.iteration, self.layout) {
            (Iteration::InKernel, _) => Launch {
                grid: [1, 1, 1],
                ..Launch::over(1, 1, block)
            },
            (Iteration::Launches, Layout::I32) => Launch::over(size.width(), size.height(), block),
            (Iteration::Launches, Layout::Bits) => Launch::over(
                size.width().div_ceil(32),
                size.height().div_ceil(self.rows_per_thread),
                block,
            ),
        };
        Launch {
            shared_bytes,
            ..launch
        }
    }

    /// Refuses a shape of block that it does not take.
    pub fn admit_block(&self, block: (u32, u32)) -> Result<(), EngineError> {
        if self.blocks.contains(&block) {
            return Ok(());
        }
        let shapes = self.blocks.iter().map(|(w, h)| format!("{w}x{h}"));
        Err(EngineError::BadBlock {
            kernel: self.name,
            block: format!("{}x{}", block.0, block.1),
            shapes: shapes.collect::<Vec<_>>().join(", "),
        })
    }

    /// Refuses a lattice that it cannot take, naming a kernel that can.
    pub fn admit(&self, size: Size) -> Result<(), EngineError> {
        match self.most_cells {
            Some(most) if size.cells() > most => Err(EngineError::TooLarge {
                kernel: self.name,
                limit: format!("at most {most} cells"),
                size,
                instead: "bits",
            }),
            _ => Ok(()),
        }
    }
}

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

    /// The most blocks a grid has in y, and in z.
    const MOST_ROWS: u32 = 65_535;

    /// A thread for each of `across` by `down` items. Where the rows of blocks are more than a
    /// grid's y may have, they go on in z: kernels number them `blockIdx.z * gridDim.y +
    /// blockIdx.y`.
    pub const fn over(across: u32, down: u32, block: (u32, u32)) -> Launch {
        let rows = down.div_ceil(block.1);
        let layers = rows.div_ceil(Self::MOST_ROWS);
        Launch {
            grid: [across.div_ceil(block.0), rows.div_ceil(layers), layers],
            block: [block.0, block.1, 1],
            shared_bytes: 0,
        }
    }

    /// Of `pack_i32` and `unpack_i32`.
    pub const fn convert(size: Size) -> Launch {
        Self::over(size.width(), size.height(), Self::SUPPORT_BLOCK)
    }

    /// Of `reduce_bits`: a block for 32 pixels of one row.
    pub const fn reduce(viewport: Viewport) -> Launch {
        let (across, down) = Self::SUPPORT_BLOCK;
        Launch {
            grid: [viewport.width.div_ceil(across), viewport.height, 1],
            block: [across, down, 1],
            shared_bytes: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn shared_memory_stays_below_the_default_limit() {
        for kernel in &KERNELS {
            let side = kernel.most_cells.map_or(512, |most| most.isqrt()).min(512);
            let size = Size::new(side, side).unwrap();
            let launch = kernel.launch(size, kernel.block());
            assert!(
                launch.shared_bytes <= 48 * 1024,
                "{}: {launch:?}",
                kernel.name
            );
        }
    }
}
