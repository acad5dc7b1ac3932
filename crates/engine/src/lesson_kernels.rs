//! The table of the kernels that only lessons launch; they live in `kernels/lessons`.

use crate::called::CalledKernel;
use crate::called::Parameter::{Buffer, F32, I32, U32, U64};

/// Multiplies every number of an array by 2 and divides it by 2, so many times: as many threads
/// as are launched share the array. `float* array, int length, int times`.
pub static SCALE: CalledKernel = CalledKernel {
    name: "scale",
    symbol: "scale",
    parameters: &[Buffer, I32, I32],
};

/// The gray of every pixel, `(77 red + 150 green + 29 blue) / 256`: four bytes in, red first, one
/// byte out. `const uchar4* in, unsigned char* out, int pixels` (a multiple of 4).
pub static GRAY: CalledKernel = CalledKernel {
    name: "gray",
    symbol: "gray",
    parameters: &[Buffer, Buffer, I32],
};

/// For every complex number c: 1 if z = z² + c, from 0, stays within `bound` for so many
/// iterations, else 0. `const float2* c, float* graph, int length, int iterations, float bound`.
pub static MANDELBROT: CalledKernel = CalledKernel {
    name: "mandelbrot",
    symbol: "mandelbrot",
    parameters: &[Buffer, Buffer, I32, I32, F32],
};

/// Every thread does nothing for so many nanoseconds; thread 0 of block 0 then adds 1 to `*done`.
/// `unsigned* done, unsigned long long nanoseconds`.
pub static SPIN: CalledKernel = CalledKernel {
    name: "spin",
    symbol: "spin",
    parameters: &[Buffer, U64],
};

/// Enters, and ends only when as many launches as are wanted have entered: it adds 1 to `*entered`
/// and waits until that is `wanted`, at most so many nanoseconds; then `*met` is 1 if it came to
/// be, else 2. `unsigned* entered, unsigned wanted, unsigned long long most, unsigned* met`.
pub static MEET: CalledKernel = CalledKernel {
    name: "meet",
    symbol: "meet",
    parameters: &[Buffer, U32, U64, Buffer],
};

/// Life of an `i32` a cell in one block, with the barrier between generations or without it; odd
/// warps are held up by so many nanoseconds in every generation, so that a missing barrier shows.
/// The first generation goes from `a` to `b`. `int* a, int* b, int width, int height, unsigned
/// rule, int generations, int barrier, unsigned long long delay`.
pub static BARRIER: CalledKernel = CalledKernel {
    name: "barrier",
    symbol: "barrier",
    parameters: &[Buffer, Buffer, I32, I32, U32, I32, I32, U64],
};

/// All of them.
pub static LESSON_KERNELS: [&CalledKernel; 6] =
    [&SCALE, &GRAY, &MANDELBROT, &SPIN, &MEET, &BARRIER];

/// The kernel of this name.
pub fn find(name: &str) -> Option<&'static CalledKernel> {
    LESSON_KERNELS
        .into_iter()
        .find(|kernel| kernel.name == name)
}
