//! The tables of kernels that [`BufferOp::Launch`](crate::BufferOp::Launch) launches: those of
//! lessons, whose sources are in `kernels/lessons`, and those that benchmarks launch to measure a
//! device's limits, whose sources are in `kernels/support`.

use crate::kernels::{Layout, OwnCode, Parameter};
use ArgumentType::{Buffer, F32, I32, U32, U64};
use std::hash::{Hash, Hasher};

/// A kernel that takes buffers and numbers instead of lattices.
#[derive(Debug)]
pub struct BufferKernel {
    /// Name, which is also the stem of its file and the symbol of its function there.
    pub name: &'static str,
    /// What it takes, in order.
    pub parameters: &'static [ArgumentType],
    /// A user's own code in place of that file.
    pub own: Option<&'static OwnCode>,
}

impl BufferKernel {
    const fn new(name: &'static str, parameters: &'static [ArgumentType]) -> BufferKernel {
        BufferKernel {
            name,
            parameters,
            own: None,
        }
    }
}

/// The type of an [`Argument`](crate::Argument).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArgumentType {
    /// An address in a device buffer.
    Buffer,
    /// A number.
    I32,
    /// A number.
    U32,
    /// A number.
    U64,
    /// A number.
    F32,
}

impl PartialEq for BufferKernel {
    fn eq(&self, other: &Self) -> bool {
        (self.name, self.own) == (other.name, other.own)
    }
}

impl Eq for BufferKernel {}

impl Hash for BufferKernel {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

/// Multiplies every number of an array by 2 and divides it by 2, `times` times. The launched
/// threads share the array. `float* array, int length, int times`.
pub static SCALE: BufferKernel = BufferKernel::new("scale", &[Buffer, I32, I32]);

/// Converts pixels to gray: `(77 red + 150 green + 29 blue) / 256`. Four bytes in, red first, one
/// byte out. `const uchar4* in, unsigned char* out, int pixels` (a multiple of 4).
pub static GRAY: BufferKernel = BufferKernel::new("gray", &[Buffer, Buffer, I32]);

/// Computes for every complex number c: 1 if z = z² + c, starting from 0, stays within `bound` for
/// `iterations` iterations, else 0. `const float2* c, float* graph, int length, int iterations,
/// float bound`.
pub static MANDELBROT: BufferKernel =
    BufferKernel::new("mandelbrot", &[Buffer, Buffer, I32, I32, F32]);

/// Busy-waits for `nanoseconds` in every thread; thread 0 of block 0 then adds 1 to `*done`.
/// `unsigned* done, unsigned long long nanoseconds`.
pub static SPIN: BufferKernel = BufferKernel::new("spin", &[Buffer, U64]);

/// Adds 1 to `*entered` and waits until `*entered` is `wanted`, for at most `most` nanoseconds.
/// Then sets `*met` to 1 if that happened, else to 2. So launches that end with 1 ran concurrently.
/// `unsigned* entered, unsigned wanted, unsigned long long most, unsigned* met`.
pub static MEET: BufferKernel = BufferKernel::new("meet", &[Buffer, U32, U64, Buffer]);

/// Life with one `i32` per cell in one block, with or without the barrier between generations. Odd
/// warps are delayed by `delay` nanoseconds in every generation, so that a missing barrier shows.
/// The first generation goes from `a` to `b`. `int* a, int* b, int width, int height, unsigned
/// rule, int generations, int barrier, unsigned long long delay`.
pub static BARRIER: BufferKernel =
    BufferKernel::new("barrier", &[Buffer, Buffer, I32, I32, U32, I32, I32, U64]);

/// All lesson kernels.
pub static LESSON_KERNELS: [&BufferKernel; 6] =
    [&SCALE, &GRAY, &MANDELBROT, &SPIN, &MEET, &BARRIER];

/// Logical operations on three words, [`LOP3_PER_ITERATION`] per iteration and thread. Every thread
/// writes one word. `unsigned* out, unsigned seed, int iterations`.
pub static LOP3_RATE: BufferKernel = BufferKernel::new("lop3_rate", &[Buffer, U32, I32]);

/// All probe kernels.
pub static PROBE_KERNELS: [&BufferKernel; 1] = [&LOP3_RATE];

/// Independent chains of operations per thread of [`LOP3_RATE`].
const LOP3_CHAINS: usize = 8;

/// Operations per chain and iteration.
const LOP3_LINKS: usize = 16;

/// Operations per thread and iteration.
pub const LOP3_PER_ITERATION: u64 = (LOP3_CHAINS * LOP3_LINKS) as u64;

/// The word that thread `thread` of [`LOP3_RATE`] writes.
pub fn lop3_word(thread: u32, seed: u32, iterations: u32) -> u32 {
    // The kernel's truth table 0x2d as an expression.
    let lop3 = |a: u32, b: u32, c: u32| a ^ (b | !c);
    let mut chains: [u32; LOP3_CHAINS] =
        std::array::from_fn(|i| seed.wrapping_add(thread).wrapping_mul(2 * i as u32 + 1));
    for _ in 0..iterations as usize * LOP3_LINKS {
        let at = |i: usize| chains[i % LOP3_CHAINS];
        chains = std::array::from_fn(|i| lop3(at(i), at(i + 1), at(i + 3)));
    }
    chains.into_iter().fold(0, |all, word| all ^ word)
}

// The table of kernels that serve the ladder: they convert, make, change and measure lattices. Their
// sources are in `kernels/support`.

/// A kernel that serves the ladder.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SupportKernel {
    /// Packs one `i32` per cell into bits.
    PackI32,
    /// Packs planar words into bits.
    PackPlanar,
    /// Unpacks bits into one `i32` per cell.
    UnpackI32,
    /// Unpacks bits into planar words.
    UnpackPlanar,
    /// Makes the bits of a random start.
    Soup,
    /// Changes cells in any layout.
    Edit,
    /// Reduces a region of the bits to pixels.
    Reduce,
    /// Counts the live cells that a band has in each pixel.
    Count,
    /// Measures the bits.
    Measure,
    /// Reads `%globaltimer`.
    Clock,
}

/// What a launch needs to know about a support kernel.
pub struct SupportRow {
    /// Stem of its source file and of its PTX.
    pub file: &'static str,
    /// Its function in that file.
    pub symbol: &'static str,
    /// What the function takes, in order.
    pub parameters: &'static [Parameter],
}

impl SupportKernel {
    /// All of them.
    pub const ALL: [SupportKernel; 10] = [
        SupportKernel::PackI32,
        SupportKernel::PackPlanar,
        SupportKernel::UnpackI32,
        SupportKernel::UnpackPlanar,
        SupportKernel::Soup,
        SupportKernel::Edit,
        SupportKernel::Reduce,
        SupportKernel::Count,
        SupportKernel::Measure,
        SupportKernel::Clock,
    ];

    /// The kernel that packs a layout into bits; `None` for bits.
    pub const fn pack(layout: Layout) -> Option<SupportKernel> {
        match layout {
            Layout::Bits => None,
            Layout::I32 => Some(SupportKernel::PackI32),
            Layout::Planar => Some(SupportKernel::PackPlanar),
        }
    }

    /// The kernel that unpacks bits into a layout; `None` for bits.
    pub const fn unpack(layout: Layout) -> Option<SupportKernel> {
        match layout {
            Layout::Bits => None,
            Layout::I32 => Some(SupportKernel::UnpackI32),
            Layout::Planar => Some(SupportKernel::UnpackPlanar),
        }
    }

    /// Its row of the table.
    pub const fn row(self) -> SupportRow {
        use Parameter::*;
        let (file, symbol, parameters): (_, _, &[Parameter]) = match self {
            SupportKernel::PackI32 => ("pack", "pack_i32", &[From, To, Width, Height]),
            SupportKernel::PackPlanar => ("planar", "pack_planar", &[From, To, Width, Height]),
            SupportKernel::UnpackI32 => ("unpack", "unpack_i32", &[From, To, Width, Height]),
            SupportKernel::UnpackPlanar => ("planar", "unpack_planar", &[From, To, Width, Height]),
            SupportKernel::Soup => ("soup", "make_soup", &[To, Width, Height, Chance, Key]),
            SupportKernel::Edit => (
                "edit",
                "edit_cells",
                &[Edits, EditCount, Cells, Width, LayoutIndex],
            ),
            SupportKernel::Reduce => (
                "reduce",
                "reduce_bits",
                &[
                    From, To, Width, Height, Left, Top, Step, Columns, Rows, Pitch,
                ],
            ),
            SupportKernel::Count => (
                "reduce",
                "count_bits",
                &[
                    From, To, Width, Height, FirstRow, OwnRows, Left, Top, Step, Columns, Rows,
                ],
            ),
            SupportKernel::Measure => (
                "measure",
                "measure_bits",
                &[From, Before, Shares, Arrived, To, Words, FirstWord],
            ),
            SupportKernel::Clock => ("clock", "read_clock", &[To]),
        };
        SupportRow {
            file,
            symbol,
            parameters,
        }
    }
}
