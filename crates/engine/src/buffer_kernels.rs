//! The tables of kernels that [`BufferOp::Launch`](crate::BufferOp::Launch) launches: for lessons
//! (`kernels/lessons`), and to measure a device's limits (`kernels/support`).

use crate::kernels::{Function, OwnCode};
use ArgumentType::{Buffer, F32, I32, U32, U64};

/// A kernel that takes buffers and numbers instead of lattices.
#[derive(PartialEq, Eq, Debug)]
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

    /// The types of what it takes: `array, i32, u64`.
    pub fn parameters_in_words(&self) -> String {
        let types = self.parameters.iter().map(|it| match it {
            Buffer => "array",
            I32 => "i32",
            U32 => "u32",
            U64 => "u64",
            F32 => "f32",
        });
        types.collect::<Vec<_>>().join(", ")
    }

    /// Its function.
    pub(crate) fn function(&self) -> Function {
        Function {
            file: self.name,
            entry: self.name,
            own: self.own,
            network: None,
            has_timestamps: self.own.is_none(),
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
