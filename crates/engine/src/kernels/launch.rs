//! How a kernel is launched: grids and blocks that cover a lattice, the function that is loaded for it, and
//! the PTX or the source that this function is from.

use super::Kernel;
use super::instrumentation::instrument;
use crate::{DeviceInfo, EngineError, Layout, ReduceRegion};
use lang::{message, tr};
use life::{Rule, Size};
use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};

/// Width in cells that one lane of `life_multistep` steps: four words.
pub(super) const CELLS_PER_LANE: u32 = 128;

/// Adjacent lattices that run at the same time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Batch {
    /// How many of them one launch steps; 1 unless the kernel is
    /// [`batched`](crate::Kernel::batched).
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
    /// Index of the function in [`Kernel::entries`](crate::Kernel).
    pub entry: usize,
    /// Whether all blocks must run at the same time.
    pub cooperative: bool,
}

impl Launch {
    /// The block shape of most support kernels; they support no other.
    pub const SUPPORT_BLOCK: (u32, u32) = (32, 8);

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
        let lanes = size.width().div_ceil(CELLS_PER_LANE);
        let is_ring = size.width() == lanes * CELLS_PER_LANE;
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
        let chosen = choices.find(|&(strips, min_rows)| size.height().div_ceil(strips) >= min_rows);
        let max_strips = size.height().div_ceil(MIN_ROWS);
        let strips = chosen.map_or(max_strips, |(strips, _)| strips);
        let last = match packed {
            0 => 0,
            _ => strips.div_ceil(packed),
        };
        Self::new([full * strips + last, lattices.launched, 1], [32, 1, 1])
    }

    /// The launch of the kernels that pack a layout into bits or unpack bits to it, for `lattices`
    /// adjacent lattices. Rows are converted independently, so the lattices form one tall lattice.
    pub const fn convert(size: Size, lattices: u32, layout: Layout) -> Launch {
        /// Planar words across and rows down that a block of `planar.cu` converts, by nine warps.
        const PLANAR_TILE: (u32, u32) = (256, 4);
        let rows = size.height() * lattices;
        match layout {
            Layout::I32 => Self::over(size.width(), rows, Self::SUPPORT_BLOCK),
            Layout::Bits => Self::over(size.width().div_ceil(32), rows, Self::SUPPORT_BLOCK),
            Layout::Planar => Launch {
                block: [32, 9, 1],
                ..Self::over(super::planar_words_per_row(size), rows, PLANAR_TILE)
            },
        }
    }

    /// The launch of `make_soup`: a thread per row. The blocks are small, so that few rows spread
    /// over many SMs.
    pub const fn soup(size: Size) -> Launch {
        const THREADS: u32 = 64;
        Self::new([size.height().div_ceil(THREADS), 1, 1], [THREADS, 1, 1])
    }

    /// The launch of `edit_cells`: a row of 32 threads per edit, one per cell of its word.
    pub const fn edit(edits: u32) -> Launch {
        Self::over(Self::SUPPORT_BLOCK.0, edits, Self::SUPPORT_BLOCK)
    }

    /// The launch of `measure_bits`: blocks per lattice such that each thread has at least 8 words,
    /// up to a maximum; the lattices are the grid's z dimension.
    pub const fn measure(size: Size, lattices: u32) -> Launch {
        const THREADS: usize = 256;
        const MAX_BLOCKS: usize = 128;
        let blocks = size.words().div_ceil(8 * THREADS);
        let blocks = if blocks < MAX_BLOCKS {
            blocks
        } else {
            MAX_BLOCKS
        };
        Self::new([blocks as u32, 1, lattices], [THREADS as u32, 1, 1])
    }

    /// The launch of `reduce_bits`: one block for 32 pixels of one row; the lattices are the grid's
    /// z dimension.
    pub const fn reduce(region: ReduceRegion, lattices: u32) -> Launch {
        let (across, down) = Self::SUPPORT_BLOCK;
        Self::new(
            [region.width.div_ceil(across), region.height, lattices],
            [across, down, 1],
        )
    }
}

// The functions that the kernels' sources define, and their PTX.

/// A function that a program launches.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Function {
    /// Stem of its file.
    pub(crate) file: &'static str,
    /// Its symbol there, but for the end of one with a network.
    pub(crate) entry: &'static str,
    /// A user's own code in the place of that file.
    pub(crate) own: Option<&'static OwnCode>,
    /// The rule whose network it has; `None` for a function that takes every rule.
    pub(crate) network: Option<Rule>,
    /// Whether its blocks can record timestamps.
    pub(crate) has_timestamps: bool,
}

impl Function {
    /// Its symbol.
    pub(crate) fn symbol(self) -> Cow<'static, str> {
        match self.network {
            Some(_) => format!("{}_by_network", self.entry).into(),
            None => self.entry.into(),
        }
    }
}

/// An embedded source file and its PTX, which the driver compiles for the GPU.
pub struct Ptx {
    /// Stem of the file in `kernels/ladder`, `kernels/support` or `kernels/lessons`.
    pub stem: &'static str,
    /// SHA-256 of its sources, in hexadecimal digits.
    pub hash: &'static str,
    /// The CUDA C++.
    pub source: &'static str,
    /// The PTX.
    pub text: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/ptx.rs"));

impl Ptx {
    /// The PTX of every source file.
    pub const ALL: &'static [Ptx] = EMBEDDED;

    /// The PTX of `kernels/*/{stem}.cu`.
    pub fn find(stem: &str) -> Option<&'static Ptx> {
        EMBEDDED.iter().find(|ptx| ptx.stem == stem)
    }

    /// Symbols of its functions, in order.
    pub fn symbols(&self) -> impl Iterator<Item = &'static str> {
        let heads = self
            .text
            .lines()
            .filter_map(|line| line.strip_prefix(ENTRY));
        heads.map(|rest| rest.trim_end_matches('('))
    }

    /// The text with this function only, so that the driver compiles nothing else.
    pub fn only(&self, symbol: &str) -> String {
        let wanted = format!("{ENTRY}{symbol}(");
        let mut skips = false;
        let mut rest = String::with_capacity(self.text.len());
        for line in self.text.lines() {
            skips |= line.starts_with(ENTRY) && line != wanted;
            if !skips {
                rest.push_str(line);
                rest.push('\n');
            }
            skips &= line != "}";
        }
        rest
    }
}

const ENTRY: &str = ".visible .entry ";

// A kernel that a user wrote, in the place of a rung.

/// What takes the place of a rung's code. A kernel with it has the rung's symbol, parameters, layout and
/// launches. Every code is equal to itself alone.
#[derive(Debug)]
pub struct OwnCode {
    /// The rung that it takes the place of.
    pub rung: &'static Kernel,
    /// Its CUDA C++.
    pub source: String,
    /// The rules that it steps; `None` for every rule.
    pub rules: Option<Vec<Rule>>,
    /// What a GPU runs, if it was compiled for one.
    pub gpu: Option<GpuCode>,
    /// What the CPU engine runs, if there is such a thing.
    pub cpu: Option<Box<dyn OwnStepper>>,
}

impl PartialEq for OwnCode {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for OwnCode {}

impl Hash for OwnCode {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::ptr::hash(self, state);
    }
}

impl OwnCode {
    /// Errors if it was compiled for another kind of device.
    pub(super) fn validate_device(&self, device: &DeviceInfo) -> Result<(), EngineError> {
        let is_gpu = device.capability.is_some();
        let has_code = if is_gpu {
            self.gpu.is_some()
        } else {
            self.cpu.is_some()
        };
        if has_code {
            Ok(())
        } else {
            Err(no_own_code(is_gpu))
        }
    }
}

/// The error for a kernel of a user's own that was compiled for another kind of device.
pub(crate) fn no_own_code(is_gpu: bool) -> EngineError {
    EngineError::Unavailable(if is_gpu {
        message!("your kernel was compiled for the CPU, and a GPU computes")
    } else {
        message!("your kernel was compiled for a GPU, and the CPU computes")
    })
}

/// Compiled code for a GPU.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GpuCode {
    /// PTX, which the driver compiles.
    Ptx(String),
    /// Machine code of one architecture.
    Cubin(Vec<u8>),
}

/// Steps lattices on the CPU by a kernel of a user's own; called by several threads at once.
pub trait OwnStepper: Send + Sync + fmt::Debug {
    /// Steps one lattice, given and returned as its bits ([`Layout::Bits`](crate::Layout::Bits)), by
    /// some generations.
    ///
    /// # Errors
    /// The kernel did not come to a result; the words are as before.
    fn step(
        &self,
        words: &mut [u32],
        size: Size,
        rule: Rule,
        generations: u32,
    ) -> Result<(), OwnStepError>;
}

/// Why a kernel of a user's own came to no result on the CPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OwnStepError {
    /// It took too long.
    TooLong,
    /// It crashed: it reached beyond its memory, or divided by 0.
    Crashed,
}

impl fmt::Display for OwnStepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OwnStepError::TooLong => tr!("it took too long"),
            OwnStepError::Crashed => tr!("it crashed"),
        })
    }
}

impl Kernel {
    /// What steps lattices by this rule: the kernel itself, or the rung of one that a user wrote for other
    /// rules alone.
    pub fn stepping(&'static self, rule: Rule) -> &'static Kernel {
        let rules = self.own.as_ref().and_then(|own| own.rules.as_ref());
        match rules {
            Some(rules) if !rules.contains(&rule) => self.rung(),
            _ => self,
        }
    }

    /// The name of every kernel of a user's own.
    pub const OWN: &'static str = "own";

    /// A kernel that launches blocks of this shape, by code in place of a rung's. It stays in memory until
    /// the program ends, like what the driver loads of it.
    pub fn own(code: OwnCode, block: (u32, u32)) -> &'static Kernel {
        let rung = code.rung;
        // Block timestamps can be added to PTX of a form that compilers give.
        let block_timestamps = match &code.gpu {
            Some(GpuCode::Ptx(text)) => instrument(text).is_ok(),
            Some(GpuCode::Cubin(_)) | None => false,
        };
        Box::leak(Box::new(Kernel {
            name: Self::OWN,
            blocks: Box::leak(Box::new([block])),
            block_timestamps,
            own: Some(code),
            ..*rung
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::find;

    #[test]
    fn a_sweep_covers_the_lattice_and_a_grid_its_limits() {
        let sweep = |name, size, lattices, sm_count| {
            let (kernel, batch) = (find(name).unwrap(), Batch::of(lattices, lattices));
            kernel.launch(size, kernel.block(), batch, sm_count)
        };
        // Four windows of 243 warps and a fifth of 81: at most eight warps per SM.
        let square = sweep("multistep", Size::new(16_384, 16_384).unwrap(), 1, 132);
        assert_eq!(square.grid, [4 * 243 + 81, 1, 1]);
        let widths = [
            128,
            129,
            256,
            384,
            1000,
            1024,
            3840,
            4095,
            4096,
            4224,
            65_536,
            1 << 24,
        ];
        let heights = [1, 7, 8, 9, 100, 4096, 70_000, 1 << 20];
        let sizes = widths.into_iter().flat_map(|width| {
            heights.map(|height| Size::new(width, height).unwrap_or(Size::new(width, 9).unwrap()))
        });
        let sizes: Vec<Size> = sizes.collect();
        // How many lanes of a window are halo.
        for (name, halo) in [("multistep", 2), ("deep", 4)] {
            for (sm_count, lattices) in [(20, 1), (84, 3), (132, 1), (132, 16), (148, 200)] {
                for &size in &sizes {
                    let [warps, y, z] = sweep(name, size, lattices, sm_count).grid;
                    assert_eq!((y, z), (lattices, 1));
                    // The kernel distributes lanes this way: 30 or 28 per window, the rest in the
                    // last window.
                    let (lanes, useful) = (size.width().div_ceil(128), 32 - halo);
                    let is_whole = size.width().is_multiple_of(128);
                    let is_ring = is_whole && lanes.is_power_of_two() && lanes <= 32;
                    let (full, rest) = if is_ring {
                        (0, lanes)
                    } else {
                        (lanes / useful, lanes % useful)
                    };
                    let packed = if is_ring {
                        32 / lanes
                    } else {
                        32 / (rest + halo)
                    };
                    let (strips, first) = match rest {
                        0 => (warps / full, warps),
                        _ => {
                            let strips = warps * packed / (full * packed + 1);
                            (strips, full * strips)
                        }
                    };
                    // Every strip of every window has a warp, and few warps have no strip.
                    assert!(first <= warps && strips >= 1, "{size}");
                    assert!((warps - first) * packed >= strips || rest == 0, "{size}");
                    assert!((warps - first) * packed < strips + packed, "{size}");
                    let rows = size.height().div_ceil(strips);
                    assert!(rows >= 4 || strips < 4 + packed, "{size}: strips of {rows}");
                }
            }
        }
    }
}
