//! Logic on whole vectors, the best that this processor has.
//!
//! What is stepped as vectors is written once, over [`Logic`]. AVX-512 has any function of three
//! words in one instruction, which no compiler finds by itself where a value is used twice; so
//! that one is asked for by name. The crate `pulp` says at run time what there is, and gives its
//! instructions without unsafe code.

mod portable;
#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(not(target_arch = "x86_64"))]
use portable as native;
#[cfg(target_arch = "x86_64")]
use x86 as native;

use bytemuck::{Pod, Zeroable};

/// 16 words, one of each lane: what planar rows are made of, whatever the vectors are.
#[derive(Clone, Copy, Default, PartialEq, Debug, Pod, Zeroable)]
#[repr(C, align(64))]
pub(super) struct Lanes(pub(super) [u32; LANES]);

/// Lanes side by side in memory.
pub(super) const LANES: usize = 16;

/// Numbers of two bits, one a cell: the low bits and the high bits.
pub(super) type Sum<V> = [V; 2];

/// Vectors of an instruction set, and what is done on all their bits at once.
pub(super) trait Logic: Copy {
    /// As people know the instruction set.
    const NAME: &'static str;

    /// The fewest logic instructions known that step a vector of cells by B3/S23, a row's sum
    /// being shared by three rows.
    const MIN_INSTRUCTIONS: f64;

    /// So many bits.
    type Vector: Pod;

    fn splat(self, word: u32) -> Self::Vector;

    fn and(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;

    fn xor(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;

    /// Bits of `set` where the mask is 1, of `clear` where it is 0.
    fn choose(self, mask: Self::Vector, set: Self::Vector, clear: Self::Vector) -> Self::Vector;

    /// Any single instruction of logic, for measuring how many there can be.
    fn one(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector;

    /// B3/S23 of eight neighbours: a number of two bits each, and twos.
    fn life(
        self,
        cells: Self::Vector,
        below: Sum<Self::Vector>,
        beside: Sum<Self::Vector>,
        above: Self::Vector,
    ) -> Self::Vector;

    /// Every word turned left by one bit.
    fn turn_left(self, a: Self::Vector) -> Self::Vector;

    /// Every word turned right by one bit.
    fn turn_right(self, a: Self::Vector) -> Self::Vector;

    /// Compiles `work` for the instruction set, and does it.
    fn run<T>(self, work: impl FnOnce(Self) -> T) -> T;

    /// Three bits a cell added, where two of them are known to differ or not.
    #[inline(always)]
    fn add_known(
        self,
        differ: Self::Vector,
        one: Self::Vector,
        third: Self::Vector,
    ) -> Sum<Self::Vector> {
        [self.xor(differ, third), self.choose(differ, third, one)]
    }

    /// Three bits a cell added.
    #[inline(always)]
    fn add(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Sum<Self::Vector> {
        self.add_known(self.xor(a, b), a, c)
    }
}

/// Work that is done on vectors.
pub(super) trait Work {
    type Output;

    fn on<L: Logic>(self, logic: L) -> Self::Output;
}

/// Does it on the best vectors that there are.
pub(super) fn dispatch<W: Work>(work: W) -> W::Output {
    native::dispatch(work)
}

/// Does it on the vectors of every instruction set that there is.
#[cfg(test)]
pub(super) fn on_each<W: Work + Copy>(work: W) -> Vec<W::Output> {
    native::on_each(work)
}
