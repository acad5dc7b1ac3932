//! The tables of kernels that step lattices (the ladder) and of those that serve it: one row holds everything
//! the host needs to know about a kernel; how they are launched, and the PTX that is loaded for that.
//!
//! Kernels that take buffers are in [`buffer_kernels`](crate::buffer_kernels).

pub mod cooperative;
pub mod instrumentation;
mod launch;
#[cfg(test)]
mod tests;

use crate::{DeviceInfo, EngineError};
use Parameter::*;
use flate2::read::ZlibDecoder;
use lang::{Message, message, tr};
use launch::CELLS_PER_LANE;
use life::{Rule, Size, grouped};
use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::io::Read as _;
use std::sync::LazyLock;

pub use crate::error::OwnStepError;
pub(crate) use launch::planar_words_per_row;
pub use launch::{Batch, Launch, Layout};

/// Where the loop over generations runs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Iteration {
    /// On the host: one launch per generation.
    Launches,
    /// On the host: one launch per this many generations, and one for the remainder.
    Steps(u32),
    /// In the kernel: one block per lattice, up to [`Iteration::MAX_IN_KERNEL`] generations per
    /// launch.
    InKernel,
}

impl Iteration {
    /// Maximum generations per launch of a kernel that iterates itself; such kernels count in an
    /// `int`.
    pub const MAX_IN_KERNEL: u32 = 1 << 30;

    /// Maximum generations per launch.
    pub const fn generations_per_launch(self) -> u32 {
        match self {
            Iteration::Launches => 1,
            Iteration::Steps(most) => most,
            Iteration::InKernel => Self::MAX_IN_KERNEL,
        }
    }
}

/// The lattice sizes that a kernel supports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SupportedSizes {
    /// All sizes.
    Any,
    /// Widths from this many cells on.
    WidthsFrom(u32),
    /// Sides up to this many cells that are the same multiple of 32 once they are rounded up.
    NearSquares(u32),
    /// Widths from the first of these to the second, and heights from a number of cells on.
    Between {
        /// The smallest and the largest width.
        widths: (u32, u32),
        /// The smallest height.
        min_height: u32,
    },
}

impl fmt::Display for SupportedSizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&match *self {
            SupportedSizes::Any => tr!("lattices of any size").into(),
            SupportedSizes::WidthsFrom(cells) => tr!("widths from {cells} cells on"),
            SupportedSizes::NearSquares(most) => tr!(
                "lattices from 32x32 to {most}x{most}, whose sides are the same multiple of 32 once they are rounded up"
            ),
            SupportedSizes::Between { widths, min_height } => tr!(
                "widths from {from} to {to} cells and heights from {height} cells on",
                from = widths.0,
                to = widths.1,
                height = min_height
            ),
        })
    }
}

impl SupportedSizes {
    /// Whether a lattice of this size is supported.
    pub fn contains(self, size: Size) -> bool {
        match self {
            SupportedSizes::Any => true,
            SupportedSizes::WidthsFrom(cells) => size.width >= cells,
            SupportedSizes::NearSquares(most) => {
                let [across, down] = [size.width, size.height].map(|side| side.div_ceil(32));
                let is_large_enough = size.width >= 32 && size.height >= 32;
                is_large_enough && across == down && 32 * across <= most
            }
            SupportedSizes::Between { widths, min_height } => {
                (widths.0..=widths.1).contains(&size.width) && size.height >= min_height
            }
        }
    }
}

/// What a kernel expects at a place of its parameter list. A row of a kernel table lists them in
/// order, and a launch fills them from that list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Parameter {
    /// Address of the data that the kernel only reads.
    From,
    /// Address of the data that it only writes.
    To,
    /// Address of cells that it changes in place.
    Cells,
    /// Address of the [mail](cooperative::Division::mail_words) between blocks.
    Mail,
    /// Address of the edits, three words each.
    Edits,
    /// Address of the bits at the previous measure.
    Before,
    /// Address of the partial measures, one per block.
    Shares,
    /// Address of the number of finished blocks.
    Arrived,
    /// Width of the lattice in cells.
    Width,
    /// Height of the lattice in cells.
    Height,
    /// The rule's table ([`Rule::table`](life::Rule::table)).
    RuleTable,
    /// Generations of this launch.
    Generations,
    /// Number of edits.
    EditCount,
    /// The layout of the cells, as its number.
    LayoutIndex,
    /// Chance of a live cell ([`Soup::chance`](life::Soup::chance)).
    Chance,
    /// Key of the soup ([`Soup::key`](life::Soup::key)).
    Key,
    /// Words of the lattice's bits; in a band, of its own rows.
    Words,
    /// The index that the first of these words has on the torus.
    FirstWord,
    /// The number that a band's first row has on the torus.
    FirstRow,
    /// Rows of a band.
    OwnRows,
    /// Left edge of the region, in fixed-point cells.
    Left,
    /// Top edge of the region, in fixed-point cells.
    Top,
    /// Cells per pixel, fixed-point.
    Step,
    /// Width of the region in pixels.
    Columns,
    /// Height of the region in pixels.
    Rows,
    /// Bytes from one lattice's view to the next.
    Pitch,
}

/// Maximum parameters of a kernel, including the address of the records for block timestamps.
pub(crate) const MAX_PARAMETERS: usize = 12;

impl Parameter {
    /// Its size in bytes: addresses and some numbers have 64 bits.
    pub const fn bytes(self) -> usize {
        match self {
            Parameter::Width
            | Parameter::Height
            | Parameter::RuleTable
            | Parameter::Generations
            | Parameter::EditCount
            | Parameter::LayoutIndex
            | Parameter::Chance
            | Parameter::FirstRow
            | Parameter::OwnRows
            | Parameter::Columns
            | Parameter::Rows => 4,
            _ => 8,
        }
    }
}

/// One rung of the ladder.
#[derive(Debug)]
pub struct Kernel {
    /// The name that users type.
    pub name: &'static str,
    /// Stem of its source file in `kernels/ladder` and of its PTX.
    pub file: &'static str,
    /// Symbols of its functions in that file, which [`Launch::entry`] chooses from, each for some sizes.
    /// They take every rule.
    pub entries: &'static [&'static str],
    /// Whether each of them has another beside it that takes the network of one rule
    /// ([`crate::rule_network`]) and serves every rule but B3/S23: its symbol is the same with
    /// `_by_network` at its end.
    pub by_network: bool,
    /// What each of them takes, in order.
    pub parameters: &'static [Parameter],
    /// The idea in a few words.
    pub title: &'static str,
    /// The layout of the cells.
    pub layout: Layout,
    /// Where the loop over generations runs.
    pub iteration: Iteration,
    /// Supported block shapes, as threads across and down. The first is the default.
    pub blocks: &'static [(u32, u32)],
    /// Consecutive rows of the lattice that a thread steps.
    pub rows_per_thread: u32,
    /// Dynamic shared memory per block, in bytes, for a lattice size and a block shape.
    pub shared_bytes: fn(Size, (u32, u32)) -> u64,
    /// Whether blocks step a lattice together and wait for each other, so that all blocks of a
    /// launch must run at the same time. [`cooperative::Division`] then chooses the block shape.
    pub cooperative: bool,
    /// Whether one launch can step several lattices that are adjacent in memory.
    pub batched: bool,
    /// Supported lattice sizes.
    pub sides: SupportedSizes,
    /// Maximum cells of a lattice; `None` if only memory limits it.
    pub max_cells: Option<u64>,
    /// Whether the blocks of its launches on a GPU can record timestamps.
    pub block_timestamps: bool,
    /// The user's own code, if it is that and not a rung.
    pub own: Option<OwnCode>,
}

impl PartialEq for Kernel {
    fn eq(&self, other: &Self) -> bool {
        (self.name, &self.own) == (other.name, &other.own)
    }
}

impl Eq for Kernel {}

/// Block shapes for a grid over the lattice.
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

/// Block shapes for one block per lattice.
const WHOLE: &[(u32, u32)] = &[(32, 32), (32, 16), (32, 8), (32, 4), (32, 1)];

/// A single warp.
const ONE_WARP: &[(u32, u32)] = &[(32, 1)];

/// The simplest kernel. The rows of the others list what differs from it.
const FIRST_RUNG: Kernel = Kernel {
    name: "global",
    file: "01_global",
    entries: &["life_global"],
    by_network: false,
    parameters: &[From, To, Width, Height, RuleTable],
    title: "one thread per cell, everything from global memory",
    layout: Layout::I32,
    iteration: Iteration::Launches,
    blocks: GRIDS,
    rows_per_thread: 1,
    shared_bytes: |_, _| 0,
    cooperative: false,
    batched: false,
    sides: SupportedSizes::Any,
    max_cells: None,
    block_timestamps: true,
    own: None,
};

/// All kernels, from the first rung up.
pub static KERNELS: [Kernel; 10] = [
    FIRST_RUNG,
    Kernel {
        name: "shared",
        file: "02_shared",
        entries: &["life_shared"],
        title: "a tile and its halo in shared memory",
        shared_bytes: |_, (across, down)| 4 * u64::from(across + 2) * u64::from(down + 2),
        ..FIRST_RUNG
    },
    Kernel {
        name: "sync-global",
        file: "03_sync_global",
        entries: &["life_sync_global"],
        parameters: &[From, To, Width, Height, RuleTable, Generations],
        title: "one block per lattice, generations inside the kernel, __syncthreads between them",
        iteration: Iteration::InKernel,
        blocks: WHOLE,
        batched: true,
        max_cells: Some(1 << 24),
        ..FIRST_RUNG
    },
    Kernel {
        name: "sync-shared",
        file: "04_sync_shared",
        entries: &["life_sync_shared"],
        parameters: &[Cells, Width, Height, RuleTable, Generations],
        title: "the same with the whole lattice in shared memory",
        iteration: Iteration::InKernel,
        blocks: WHOLE,
        shared_bytes: |size, _| 2 * size.cells(),
        batched: true,
        max_cells: Some(24_576),
        ..FIRST_RUNG
    },
    Kernel {
        name: "bits",
        file: "05_bits",
        entries: &["life_bits"],
        title: "32 cells per word, added as bit planes",
        layout: Layout::Bits,
        rows_per_thread: 4,
        ..FIRST_RUNG
    },
    Kernel {
        name: "planar",
        file: "06_planar",
        entries: &["life_planar"],
        by_network: true,
        title: "32 planes in a word: neighbours are whole words, nothing is shifted",
        layout: Layout::Planar,
        rows_per_thread: 8,
        sides: SupportedSizes::WidthsFrom(Layout::MIN_PLANAR_WIDTH),
        ..FIRST_RUNG
    },
    Kernel {
        name: "multistep",
        file: "07_multistep",
        entries: &["life_multistep"],
        by_network: true,
        parameters: &[From, To, Width, Height, RuleTable, Generations],
        title: "four generations per pass, in a column sweep through a warp's registers",
        layout: Layout::Planar,
        iteration: Iteration::Steps(4),
        blocks: ONE_WARP,
        batched: true,
        sides: SupportedSizes::WidthsFrom(CELLS_PER_LANE),
        ..FIRST_RUNG
    },
    Kernel {
        name: "resident",
        file: "08_resident",
        entries: &["life_resident"],
        by_network: true,
        parameters: &[Cells, Width, Height, RuleTable, Generations],
        title: "a lattice in the registers of one warp, for any number of generations",
        layout: Layout::Planar,
        iteration: Iteration::InKernel,
        blocks: ONE_WARP,
        batched: true,
        sides: SupportedSizes::NearSquares(256),
        ..FIRST_RUNG
    },
    Kernel {
        name: "cooperative",
        file: "09_cooperative",
        entries: &cooperative::ENTRIES,
        by_network: true,
        parameters: &[Cells, Mail, Width, Height, RuleTable, Generations],
        title: "lattices in the registers of all SMs, whose blocks exchange rows while they run",
        layout: Layout::Planar,
        iteration: Iteration::InKernel,
        blocks: &[(32 * cooperative::MAX_WARPS, 1)],
        cooperative: true,
        batched: true,
        // The minimum height is that of two strips with as many rows as a halo.
        sides: SupportedSizes::Between {
            widths: (128, 5120),
            min_height: 16,
        },
        ..FIRST_RUNG
    },
    Kernel {
        name: "deep",
        file: "10_deep",
        entries: &["life_deep"],
        by_network: true,
        parameters: &[From, To, Width, Height, RuleTable, Generations],
        title: "six generations per pass, where no cache holds the lattice",
        layout: Layout::Planar,
        iteration: Iteration::Steps(6),
        blocks: ONE_WARP,
        batched: true,
        sides: SupportedSizes::WidthsFrom(CELLS_PER_LANE),
        ..FIRST_RUNG
    },
];

/// Finds a kernel by name.
pub fn find(name: &str) -> Option<&'static Kernel> {
    KERNELS.iter().find(|kernel| kernel.name == name)
}

/// The rungs, and after them a kernel of a user's own, if there is one: each at its
/// [index](Kernel::index).
pub fn with_own(own: Option<&'static Kernel>) -> impl DoubleEndedIterator<Item = &'static Kernel> {
    KERNELS.iter().chain(own)
}

impl Kernel {
    /// Index in [`KERNELS`]; a kernel of a user's own comes after the last one.
    pub fn index(&self) -> usize {
        let mut rungs = KERNELS.iter();
        let index = rungs.position(|kernel| kernel == self);
        index.unwrap_or(KERNELS.len())
    }

    /// The rung itself, or the one that a kernel of a user's own takes the place of.
    pub fn rung(&'static self) -> &'static Kernel {
        self.own.as_ref().map_or(self, |own| own.rung)
    }

    /// What it is about, in a few words: its idea, or the rung that the user wrote it from.
    pub fn idea(&self) -> Cow<'static, str> {
        match &self.own {
            None => lang::text(self.title).into(),
            Some(own) => tr!("from {file}", file = own.rung.file).into(),
        }
    }

    /// The first 16 hexadecimal digits of the hash of its sources. Empty if there is no PTX, and for a
    /// kernel of a user's own, of which nothing is recorded.
    pub fn source(&self) -> &'static str {
        let ptx = Ptx::find(self.file).filter(|_| self.own.is_none());
        ptx.map_or("", |ptx| &ptx.hash[..16])
    }

    /// Its CUDA C++: the comment at the head of the file, and the code.
    pub fn code(&self) -> [&str; 2] {
        let source = match &self.own {
            Some(own) => &own.source,
            None => Ptx::find(self.file).map_or("", |ptx| ptx.source),
        };
        let lines = source.split_inclusive('\n');
        let head = lines.take_while(|line| line.starts_with("//"));
        let (head, code) = source.split_at(head.map(str::len).sum());
        [head, code]
    }

    /// Its code as a file that may be in any folder: headers are included by their names alone.
    pub fn standalone_code(&self) -> String {
        let [_, code] = self.code();
        code.replace("#include \"../", "#include \"")
    }

    /// The rung that its file is compared with: the one that a kernel of a user's own takes the place
    /// of; `None` for the first rung.
    pub fn compared_with(&self) -> Option<&'static Kernel> {
        if let Some(own) = &self.own {
            return Some(own.rung);
        }
        let [head, _] = self.code();
        let (_, file) = head.split_once("\n// Compared with ")?;
        KERNELS.iter().find(|kernel| file.starts_with(kernel.file))
    }

    /// Whether the result is in the same buffer as the input. Otherwise the buffers swap with every
    /// generation or, for [`Iteration::Steps`], with every launch.
    pub fn is_in_place(&self) -> bool {
        self.parameters.contains(&Cells)
    }

    /// The default block shape.
    pub fn block(&self) -> (u32, u32) {
        self.blocks[0]
    }

    /// Whether a function with the rule's network steps this rule, if the driver can compile it.
    pub fn has_network(&self, rule: Rule) -> bool {
        self.by_network && self.own.is_none() && rule != Rule::LIFE
    }

    /// Its function for a rule, of the [entry](Launch::entry) that a launch chose.
    pub(crate) fn function(&'static self, entry: usize, rule: Rule) -> Function {
        Function {
            file: self.file,
            entry: self.entries[entry],
            own: self.own.as_ref(),
            network: self.has_network(rule).then_some(rule),
            has_timestamps: self.block_timestamps,
        }
    }

    /// The launch configuration for lattices of a size and a block shape, on a device with this
    /// many SMs.
    pub fn launch(&self, size: Size, block: (u32, u32), lattices: Batch, sm_count: u32) -> Launch {
        let shared_bytes = (self.shared_bytes)(size, block);
        let rows = size.height.div_ceil(self.rows_per_thread);
        let launch = match (self.iteration, self.layout) {
            _ if self.cooperative => {
                return cooperative::Division::of(size, lattices.on_device, sm_count)
                    .launch(lattices.launched);
            }
            (Iteration::InKernel, _) => Launch {
                grid: [lattices.launched, 1, 1],
                ..Launch::over(1, 1, block)
            },
            (Iteration::Steps(most), _) => Launch::column_sweep(most, size, lattices, sm_count),
            (Iteration::Launches, Layout::I32) => Launch::over(size.width, rows, block),
            (Iteration::Launches, Layout::Bits) => {
                Launch::over(size.width.div_ceil(32), rows, block)
            }
            (Iteration::Launches, Layout::Planar) => {
                Launch::over(planar_words_per_row(size), rows, block)
            }
        };
        Launch {
            shared_bytes,
            ..launch
        }
    }

    /// The number of launches needed for this many generations.
    pub fn launches(&self, generations: u32) -> u32 {
        generations.div_ceil(self.iteration.generations_per_launch())
    }

    /// Whether the result of this many generations is in the other buffer.
    pub fn swaps_buffers(&self, generations: u32) -> bool {
        let changes = match self.iteration {
            Iteration::Launches | Iteration::InKernel => generations,
            Iteration::Steps(_) => self.launches(generations),
        };
        !self.is_in_place() && changes % 2 == 1
    }

    /// Errors for an unsupported block shape.
    pub fn validate_block(&self, block: (u32, u32)) -> Result<(), EngineError> {
        if self.blocks.contains(&block) {
            return Ok(());
        }
        let named = |(across, down): &(u32, u32)| format!("{across}x{down}");
        let shapes: Vec<_> = self.blocks.iter().map(named).collect();
        Err(EngineError::Unavailable(message!(
            "kernel '{kernel}' takes blocks of {shapes}, not {block}",
            kernel = self.name,
            shapes = shapes.join(", "),
            block = named(&block)
        )))
    }

    /// Maximum lattices of a launch, of `on_device` lattices of this size on a device with this many
    /// SMs.
    pub fn max_batch(&self, size: Size, on_device: u32, sm_count: u32) -> u32 {
        match (self.batched, self.cooperative) {
            (false, _) => 1,
            (true, false) => Launch::MAX_GRID_Z,
            (true, true) => cooperative::Division::of(size, on_device, sm_count).max_lattices,
        }
    }

    /// Errors for a device that cannot run the kernel with lattices of this size.
    pub fn validate_device(&self, device: &DeviceInfo, size: Size) -> Result<(), EngineError> {
        let is_gpu = device.capability.is_some();
        if let Some(OwnCode { gpu, cpu, .. }) = &self.own
            && (if is_gpu { gpu.is_none() } else { cpu.is_none() })
        {
            return Err(no_own_code(is_gpu));
        }
        let needed = if self.cooperative && is_gpu {
            cooperative::min_sm_count(size)
        } else {
            0
        };
        if device.sm_count >= needed {
            return Ok(());
        }
        Err(EngineError::Unavailable(message!(
            "kernel '{kernel}' needs {needed} SMs for lattices of {size}, and {device} has {has}; --kernel {instead} runs there",
            kernel = self.name,
            device = device.name,
            has = device.sm_count,
            instead = "multistep"
        )))
    }

    /// Errors for an unsupported lattice size; the error names a kernel that supports it.
    pub fn validate_size(&self, size: Size) -> Result<(), EngineError> {
        match self.size_limit(size) {
            None => Ok(()),
            Some(limit) => Err(EngineError::UnsupportedSize(message!(
                "kernel '{kernel}' supports {limit}, not {size}; use --kernel {instead}",
                kernel = self.name,
                instead = "bits"
            ))),
        }
    }

    /// Whether it supports lattices of this size.
    pub fn supports(&self, size: Size) -> bool {
        self.max_cells.is_none_or(|most| size.cells() <= most) && self.sides.contains(size)
    }

    /// The sizes that it supports, if this is none of them.
    pub fn size_limit(&self, size: Size) -> Option<Message> {
        match self.max_cells {
            _ if self.supports(size) => None,
            Some(most) if size.cells() > most => {
                Some(message!("at most {most} cells", most = grouped(most)))
            }
            _ => Some(Message::of(self.sides)),
        }
    }
}

impl cooperative::Division {
    /// The division of a device's lattices, which needs memory for mail; `None` if the kernel does not
    /// support their size on the device.
    pub(crate) fn for_mail(size: Size, lattices: u32, sm_count: u32) -> Option<Self> {
        let is_taken = find("cooperative").is_some_and(|it| it.supports(size));
        let fits = is_taken && cooperative::min_sm_count(size) <= sm_count;
        fits.then(|| Self::of(size, lattices, sm_count))
    }
}

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
    /// Steps one lattice, given and returned as its bits ([`Layout::Bits`]), by
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
            Some(GpuCode::Ptx(text)) => instrumentation::instrument(text).is_ok(),
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

// The kernels that convert, make, change and measure lattices (`kernels/support`).

/// A kernel that serves the ladder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SupportKernel {
    /// Stem of its source file and of its PTX.
    pub(crate) file: &'static str,
    /// Its function in that file.
    pub symbol: &'static str,
    /// What the function takes, in order.
    pub(crate) parameters: &'static [Parameter],
}

/// A row of their table.
const fn support(
    file: &'static str,
    symbol: &'static str,
    parameters: &'static [Parameter],
) -> SupportKernel {
    SupportKernel {
        file,
        symbol,
        parameters,
    }
}

impl SupportKernel {
    /// Packs one `i32` per cell into bits.
    pub(crate) const PACK_I32: SupportKernel =
        support("pack", "pack_i32", &[From, To, Width, Height]);
    /// Packs planar words into bits.
    pub(crate) const PACK_PLANAR: SupportKernel =
        support("planar", "pack_planar", &[From, To, Width, Height]);
    /// Unpacks bits into one `i32` per cell.
    pub(crate) const UNPACK_I32: SupportKernel =
        support("unpack", "unpack_i32", &[From, To, Width, Height]);
    /// Unpacks bits into planar words.
    pub(crate) const UNPACK_PLANAR: SupportKernel =
        support("planar", "unpack_planar", &[From, To, Width, Height]);
    /// Makes the bits of a random start.
    pub(crate) const SOUP: SupportKernel =
        support("soup", "make_soup", &[To, Width, Height, Chance, Key]);
    /// Changes cells in any layout.
    pub(crate) const EDIT: SupportKernel = support(
        "edit",
        "edit_cells",
        &[Edits, EditCount, Cells, Width, LayoutIndex],
    );
    /// Reduces a region of the bits to pixels.
    pub const REDUCE: SupportKernel = support(
        "reduce",
        "reduce_bits",
        &[
            From, To, Width, Height, Left, Top, Step, Columns, Rows, Pitch,
        ],
    );
    /// Counts the live cells that a band has in each pixel.
    pub(crate) const COUNT: SupportKernel = support(
        "reduce",
        "count_bits",
        &[
            From, To, Width, Height, FirstRow, OwnRows, Left, Top, Step, Columns, Rows,
        ],
    );
    /// Measures the bits.
    pub(crate) const MEASURE: SupportKernel = support(
        "measure",
        "measure_bits",
        &[From, Before, Shares, Arrived, To, Words, FirstWord],
    );
    /// Reads `%globaltimer`.
    pub(crate) const CLOCK: SupportKernel = support("clock", "read_clock", &[To]);

    /// The kernel that packs a layout into bits; `None` for bits.
    pub fn pack(layout: Layout) -> Option<SupportKernel> {
        match layout {
            Layout::Bits => None,
            Layout::I32 => Some(Self::PACK_I32),
            Layout::Planar => Some(Self::PACK_PLANAR),
        }
    }

    /// The kernel that unpacks bits into a layout; `None` for bits.
    pub(crate) fn unpack(layout: Layout) -> Option<SupportKernel> {
        match layout {
            Layout::Bits => None,
            Layout::I32 => Some(Self::UNPACK_I32),
            Layout::Planar => Some(Self::UNPACK_PLANAR),
        }
    }

    /// The kernel that reduces whole lattices, or bands.
    pub(crate) fn reduce(are_bands: bool) -> SupportKernel {
        if are_bands { Self::COUNT } else { Self::REDUCE }
    }

    /// Its function.
    pub(crate) fn function(self) -> Function {
        Function {
            file: self.file,
            entry: self.symbol,
            own: None,
            network: None,
            has_timestamps: false,
        }
    }
}

// The functions that the kernels' sources define, and their PTX.

/// A function that a program launches.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Function {
    /// Stem of its file.
    pub file: &'static str,
    /// Its symbol there, but for the end of one with a network.
    pub entry: &'static str,
    /// A user's own code in the place of that file.
    pub own: Option<&'static OwnCode>,
    /// The rule whose network it has; `None` for a function that takes every rule.
    pub network: Option<Rule>,
    /// Whether its blocks can record timestamps.
    pub has_timestamps: bool,
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
    /// The PTX, unpacked at its first use: as text, all of it would be an eighth of the program's file.
    pub text: LazyLock<String>,
}

include!(concat!(env!("OUT_DIR"), "/ptx.rs"));

fn unpacked(packed: &[u8]) -> String {
    let mut text = String::new();
    let read = ZlibDecoder::new(packed).read_to_string(&mut text);
    read.expect("packed by build.rs");
    text
}

impl Ptx {
    /// The PTX of every source file.
    pub fn all() -> &'static [Ptx] {
        &EMBEDDED
    }

    /// The PTX of `kernels/*/{stem}.cu`.
    pub fn find(stem: &str) -> Option<&'static Ptx> {
        EMBEDDED.iter().find(|ptx| ptx.stem == stem)
    }

    /// Symbols of its functions, in order.
    pub fn symbols(&self) -> impl Iterator<Item = &str> {
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
