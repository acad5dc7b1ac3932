//! The table of kernels that only lessons launch. Their sources are in `kernels/lessons`.

use crate::buffer_kernel::ArgumentType::{Buffer, F32, I32, U32, U64};
use crate::buffer_kernel::BufferKernel;

/// Multiplies every number of an array by 2 and divides it by 2, `times` times. The launched
/// threads share the array. `float* array, int length, int times`.
pub static SCALE: BufferKernel = BufferKernel {
    name: "scale",
    symbol: "scale",
    parameters: &[Buffer, I32, I32],
};

/// Converts pixels to gray: `(77 red + 150 green + 29 blue) / 256`. Four bytes in, red first, one
/// byte out. `const uchar4* in, unsigned char* out, int pixels` (a multiple of 4).
pub static GRAY: BufferKernel = BufferKernel {
    name: "gray",
    symbol: "gray",
    parameters: &[Buffer, Buffer, I32],
};

/// Computes for every complex number c: 1 if z = z² + c, starting from 0, stays within `bound` for
/// `iterations` iterations, else 0. `const float2* c, float* graph, int length, int iterations,
/// float bound`.
pub static MANDELBROT: BufferKernel = BufferKernel {
    name: "mandelbrot",
    symbol: "mandelbrot",
    parameters: &[Buffer, Buffer, I32, I32, F32],
};

/// Busy-waits for `nanoseconds` in every thread; thread 0 of block 0 then adds 1 to `*done`.
/// `unsigned* done, unsigned long long nanoseconds`.
pub static SPIN: BufferKernel = BufferKernel {
    name: "spin",
    symbol: "spin",
    parameters: &[Buffer, U64],
};

/// Adds 1 to `*entered` and waits until `*entered` is `wanted`, for at most `most` nanoseconds.
/// Then sets `*met` to 1 if that happened, else to 2. So launches that end with 1 ran concurrently.
/// `unsigned* entered, unsigned wanted, unsigned long long most, unsigned* met`.
pub static MEET: BufferKernel = BufferKernel {
    name: "meet",
    symbol: "meet",
    parameters: &[Buffer, U32, U64, Buffer],
};

/// Life with one `i32` per cell in one block, with or without the barrier between generations. Odd
/// warps are delayed by `delay` nanoseconds in every generation, so that a missing barrier shows.
/// The first generation goes from `a` to `b`. `int* a, int* b, int width, int height, unsigned
/// rule, int generations, int barrier, unsigned long long delay`.
pub static BARRIER: BufferKernel = BufferKernel {
    name: "barrier",
    symbol: "barrier",
    parameters: &[Buffer, Buffer, I32, I32, U32, I32, I32, U64],
};

/// All lesson kernels.
pub static LESSON_KERNELS: [&BufferKernel; 6] =
    [&SCALE, &GRAY, &MANDELBROT, &SPIN, &MEET, &BARRIER];

/// Finds a kernel by name.
pub fn find(name: &str) -> Option<&'static BufferKernel> {
    LESSON_KERNELS
        .into_iter()
        .find(|kernel| kernel.name == name)
}
