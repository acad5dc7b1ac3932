//! The table of kernels: one row says everything the host must know of one.

use crate::engine::EngineError;
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
    /// Threads of a block, across and down.
    pub block: (u32, u32),
    /// The most cells a lattice may have, if there is a limit but memory.
    pub most_cells: Option<u64>,
}

impl PartialEq for Kernel {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Kernel {}

/// Every kernel, from the first rung up.
pub static KERNELS: [Kernel; 5] = [
    Kernel {
        name: "global",
        file: "01_global",
        symbol: "life_global",
        title: "one thread a cell, everything from global memory",
        layout: Layout::I32,
        iteration: Iteration::Launches,
        block: (32, 8),
        most_cells: None,
    },
    Kernel {
        name: "shared",
        file: "02_shared",
        symbol: "life_shared",
        title: "a tile and its halo in shared memory",
        layout: Layout::I32,
        iteration: Iteration::Launches,
        block: (32, 8),
        most_cells: None,
    },
    Kernel {
        name: "sync-global",
        file: "03_sync_global",
        symbol: "life_sync_global",
        title: "one block a lattice, generations inside the kernel, __syncthreads between them",
        layout: Layout::I32,
        iteration: Iteration::InKernel,
        block: (1024, 1),
        most_cells: Some(1 << 24),
    },
    Kernel {
        name: "sync-shared",
        file: "04_sync_shared",
        symbol: "life_sync_shared",
        title: "the same with the whole lattice in shared memory",
        layout: Layout::I32,
        iteration: Iteration::InKernel,
        block: (1024, 1),
        most_cells: Some(24_576),
    },
    Kernel {
        name: "bits",
        file: "05_bits",
        symbol: "life_bits",
        title: "32 cells a word, added as bit planes",
        layout: Layout::Bits,
        iteration: Iteration::Launches,
        block: (32, 8),
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
        KERNELS.iter().position(|kernel| kernel == self).expect("every kernel is in the table")
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
