//! Bitwise logic on the widest vectors that this processor supports.
//!
//! Vector code is written once, over [`Logic`]. AVX-512 computes any function of three words in one
//! instruction, but compilers do not find it when a value is used twice, so it is called
//! explicitly. The crate `pulp` detects instruction sets at run time and offers their instructions
//! as safe code.

mod portable;
#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(not(target_arch = "x86_64"))]
use portable as native;
#[cfg(target_arch = "x86_64")]
use x86 as native;

use bytemuck::{Pod, Zeroable};

/// 16 words, one per lane: the element of planar rows on every instruction set.
#[derive(Clone, Copy, Default, PartialEq, Debug, Pod, Zeroable)]
#[repr(C, align(64))]
pub(super) struct Lanes(pub(super) [u32; LANES]);

/// Number of lanes.
pub(super) const LANES: usize = 16;

/// Two-bit numbers, one per cell: low bits and high bits.
pub(super) type Sum<V> = [V; 2];

/// The vectors of an instruction set and bitwise operations on them.
pub(super) trait Logic: Copy {
    /// Name of the instruction set.
    const NAME: &'static str;

    /// Minimum known logic instructions to step a vector of cells by B3/S23, with each row's sum
    /// shared by three rows.
    const MIN_INSTRUCTIONS: f64;

    /// The vector type.
    type Vector: Pod;

    fn splat(self, word: u32) -> Self::Vector;

    fn and(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;

    fn xor(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;

    /// Selects bits of `set` where the mask is 1, of `clear` where it is 0.
    fn choose(self, mask: Self::Vector, set: Self::Vector, clear: Self::Vector) -> Self::Vector;

    /// A single logic instruction, for measuring the issue rate.
    fn one(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector;

    /// Steps cells by B3/S23. The neighbours' sum is `below + beside + 2 * above`.
    fn life(
        self,
        cells: Self::Vector,
        below: Sum<Self::Vector>,
        beside: Sum<Self::Vector>,
        above: Self::Vector,
    ) -> Self::Vector;

    /// Rotates every word left by one bit.
    fn turn_left(self, a: Self::Vector) -> Self::Vector;

    /// Rotates every word right by one bit.
    fn turn_right(self, a: Self::Vector) -> Self::Vector;

    /// Runs `work`, compiled for the instruction set.
    fn run<T>(self, work: impl FnOnce(Self) -> T) -> T;

    /// Adds three bits per cell, given whether two of them differ.
    #[inline(always)]
    fn add_known(
        self,
        differ: Self::Vector,
        one: Self::Vector,
        third: Self::Vector,
    ) -> Sum<Self::Vector> {
        [self.xor(differ, third), self.choose(differ, third, one)]
    }

    /// Adds three bits per cell.
    #[inline(always)]
    fn add(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Sum<Self::Vector> {
        self.add_known(self.xor(a, b), a, c)
    }
}

/// Work that is generic over the instruction set.
pub(super) trait Work {
    type Output;

    fn on<L: Logic>(self, logic: L) -> Self::Output;
}

/// Runs `work` on the best available instruction set.
pub(super) fn dispatch<W: Work>(work: W) -> W::Output {
    native::dispatch(work)
}

/// Runs `work` on every available instruction set.
#[cfg(test)]
pub(super) fn on_each<W: Work + Copy>(work: W) -> Vec<W::Output> {
    native::on_each(work)
}
