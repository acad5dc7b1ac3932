//! Kernels under the emulator, for the tests that launch them by themselves.

use std::ffi::c_void;

use engine::kernels::Launch;
use life::{Lattice, Size};
use workshop::Library;

use crate::driver;

/// The kernels, built.
pub(crate) struct Emulator(Library);

impl Emulator {
    /// Builds the library, if its sources have changed, and loads it.
    pub(crate) fn load() -> Emulator {
        // SAFETY: our own library; its initialisers only register the kernels.
        Emulator(unsafe { Library::open(driver::library()) }.expect("the library just built"))
    }

    /// Launches with these parameters, each by address.
    pub(crate) fn launch(&self, symbol: &str, shape: Launch, parameters: &mut [*mut c_void]) {
        // SAFETY: the callers below give every kernel parameters of its types that point to buffers
        // of the size it works on.
        let answer = unsafe { self.0.launch(symbol, shape, parameters) };
        assert_eq!(answer, Ok(()), "{symbol} {shape:?}");
    }
}

/// Addresses of values, as cuLaunchKernel takes them.
macro_rules! parameters {
    ($($value:expr),*) => { &mut [$((&raw mut $value).cast::<std::ffi::c_void>()),*] };
}
pub(crate) use parameters;

/// A buffer between two guards that nothing may touch.
pub(crate) struct Guarded<T>(pub(crate) Vec<T>);

impl<T: Copy + PartialEq + std::fmt::Debug> Guarded<T> {
    const GUARD: usize = 64;

    pub(crate) fn new(inner: &[T], guard: T) -> Guarded<T> {
        let guards = [guard; 64];
        Guarded([&guards, inner, &guards].concat())
    }

    pub(crate) fn pointer(&mut self) -> *mut T {
        self.0[Self::GUARD..].as_mut_ptr()
    }

    pub(crate) fn inner(&self) -> &[T] {
        let (head, rest) = self.0.split_at(Self::GUARD);
        let (inner, tail) = rest.split_at(rest.len() - Self::GUARD);
        assert!(
            head.iter().chain(tail).all(|g| *g == head[0]),
            "written outside the buffer"
        );
        inner
    }
}

/// Numbers that look random and are the same every time.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn next(&mut self) -> u32 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) as u32
    }

    pub(crate) fn lattice(&mut self, size: Size) -> Lattice {
        let density = 1 + self.next() % 3;
        let words = (0..size.words())
            .map(|_| {
                (0..32).fold(0, |word, _| {
                    word << 1 | u32::from(self.next() % 4 < density)
                })
            })
            .collect();
        Lattice::from_words(size, words)
    }
}
