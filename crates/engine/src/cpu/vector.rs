//! Bitwise logic on the widest vectors that this processor supports.
//!
//! The crate `pulp` detects instruction sets at run time, compiles code for them, and offers their
//! instructions as safe code. Plain loops are left to the compiler ([`vectorize`]). The planar kernels'
//! code is written once, over [`Logic`]: AVX-512 computes any function of three words in one
//! instruction, but compilers do not find it when a value is used twice, so it is called explicitly.
//!
//! The compiler inlines such an instruction only into code that is compiled for its instruction set:
//! the body of [`Logic::run`] and the functions that are always inlined there. Closures that are
//! kept in variables or passed to `array::from_fn` and `map` may stay functions of their own. Each
//! of their instructions is then a function call, which made kernels take 40 times as long. Code in
//! the kernels' loops that computes with vectors is therefore in `#[inline(always)]` functions.

#[cfg(not(target_arch = "x86_64"))]
#[path = "vector/other.rs"]
mod native;
#[cfg(target_arch = "x86_64")]
#[path = "vector/x86.rs"]
mod native;

#[cfg(test)]
pub(super) use native::on_each;
pub(super) use native::{dispatch, vectorize};

use bytemuck::{Pod, Zeroable};
use pulp::Simd;

/// 16 words, one per lane: the element of planar rows on every instruction set.
#[derive(Clone, Copy, Default, PartialEq, Debug, Pod, Zeroable)]
#[repr(C, align(64))]
pub(super) struct Lanes(pub [u32; LANES]);

/// Number of lanes.
pub(super) const LANES: usize = 16;

/// Two-bit numbers, one per cell: low bits and high bits.
pub(super) type Sum<V> = [V; 2];

/// The vectors of an instruction set and bitwise operations on them.
pub(super) trait Logic: Copy {
    /// Name of the instruction set.
    const NAME: &'static str;

    /// Whether any function of three vectors is a single instruction.
    const HAS_LOOKUP: bool;

    /// The vector type.
    type Vector: Pod;

    fn splat(self, word: u32) -> Self::Vector;

    fn and(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;

    fn xor(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;

    /// Selects bits of `set` where the mask is 1, of `clear` where it is 0.
    fn choose(self, mask: Self::Vector, set: Self::Vector, clear: Self::Vector) -> Self::Vector;

    /// A function of three bits: bit `4 a + 2 b + c` of `TABLE` is its result for `a, b, c`.
    #[inline(always)]
    fn lookup<const TABLE: i32>(
        self,
        a: Self::Vector,
        b: Self::Vector,
        c: Self::Vector,
    ) -> Self::Vector {
        #[inline(always)]
        fn pair<L: Logic>(logic: L, table: i32, bits: i32, c: L::Vector) -> L::Vector {
            let clear = logic.splat(0u32.wrapping_sub((table >> bits & 1) as u32));
            let set = logic.splat(0u32.wrapping_sub((table >> (bits + 1) & 1) as u32));
            logic.choose(c, set, clear)
        }
        let [p0, p2] = [pair(self, TABLE, 0, c), pair(self, TABLE, 2, c)];
        let [p4, p6] = [pair(self, TABLE, 4, c), pair(self, TABLE, 6, c)];
        self.choose(a, self.choose(b, p6, p4), self.choose(b, p2, p0))
    }

    /// Steps two columns of cells, side by side, by B3/S23: from the cells with those above and
    /// below them, and the sums of three cells of each of the four columns around.
    fn life(
        self,
        columns: [[Self::Vector; 3]; 2],
        sums: [Sum<Self::Vector>; 4],
    ) -> [Self::Vector; 2];

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

    /// Adds the first three and the last three of four bits per cell.
    #[inline(always)]
    fn add_pair(self, [a, b, c, d]: [Self::Vector; 4]) -> [Sum<Self::Vector>; 2] {
        let differ = self.xor(b, c);
        [self.add_known(differ, b, a), self.add_known(differ, c, d)]
    }
}

/// Work that is generic over the instruction set.
pub(super) trait Work {
    type Output;

    fn on<L: Logic>(self, logic: L) -> Self::Output;
}

/// The best available instruction set.
pub(super) fn instruction_set() -> &'static str {
    struct Name;
    impl Work for Name {
        type Output = &'static str;

        fn on<L: Logic>(self, _: L) -> &'static str {
            L::NAME
        }
    }
    dispatch(Name)
}

// Any instruction set that `pulp` knows, by the operations that all of them have: AVX2, SSE4.2, NEON,
// and numbers one by one where there is none of them.

/// The vectors of an instruction set of `pulp`.
#[derive(Clone, Copy)]
struct Generic<S>(S);

impl<S: Simd> Generic<S> {
    /// Steps cells by B3/S23, from the sums of the columns before and after them.
    #[inline(always)]
    fn next(
        self,
        [up, cells, down]: [S::u32s; 3],
        before: Sum<S::u32s>,
        after: Sum<S::u32s>,
    ) -> S::u32s {
        let simd = self.0;
        let beside = self.add_known(self.xor(up, down), up, before[0]);
        let ones = self.xor(after[0], beside[0]);
        let carry = self.and(after[0], beside[0]);
        let odd = self.xor(self.xor(after[1], beside[1]), self.xor(before[1], carry));
        let pairs = simd.or_u32s(self.and(after[1], beside[1]), self.and(before[1], carry));
        let one = self.and(odd, simd.not_u32s(pairs));
        self.and(one, simd.or_u32s(ones, cells))
    }

    /// Rotates every word left by `bits`, from 1 to 31.
    #[inline(always)]
    fn turn(self, a: S::u32s, bits: u32) -> S::u32s {
        let left = self.0.wrapping_dyn_shl_u32s(a, self.splat(bits));
        let right = self.0.wrapping_dyn_shr_u32s(a, self.splat(32 - bits));
        self.0.or_u32s(left, right)
    }
}

impl<S: Simd> Logic for Generic<S> {
    const NAME: &'static str = match S::U32_LANES {
        8 => "AVX2",
        4 if cfg!(target_arch = "aarch64") => "NEON",
        4 => "SSE4.2",
        _ => "portable",
    };
    const HAS_LOOKUP: bool = false;
    type Vector = S::u32s;

    #[inline(always)]
    fn splat(self, word: u32) -> S::u32s {
        self.0.splat_u32s(word)
    }

    #[inline(always)]
    fn and(self, a: S::u32s, b: S::u32s) -> S::u32s {
        self.0.and_u32s(a, b)
    }

    #[inline(always)]
    fn xor(self, a: S::u32s, b: S::u32s) -> S::u32s {
        self.0.xor_u32s(a, b)
    }

    #[inline(always)]
    fn choose(self, mask: S::u32s, set: S::u32s, clear: S::u32s) -> S::u32s {
        self.xor(clear, self.and(mask, self.xor(set, clear)))
    }

    #[inline(always)]
    fn life(self, columns: [[S::u32s; 3]; 2], [a, b, c, d]: [Sum<S::u32s>; 4]) -> [S::u32s; 2] {
        [self.next(columns[0], a, c), self.next(columns[1], b, d)]
    }

    #[inline(always)]
    fn turn_left(self, a: S::u32s) -> S::u32s {
        self.turn(a, 1)
    }

    #[inline(always)]
    fn turn_right(self, a: S::u32s) -> S::u32s {
        self.turn(a, 31)
    }

    #[inline(always)]
    fn run<T>(self, work: impl FnOnce(Self) -> T) -> T {
        self.0.vectorize(
            #[inline(always)]
            || work(self),
        )
    }
}
