//! The few calls to the operating system that Rust calls unsafe, behind safe functions.
#![allow(unsafe_code)] // each block says why it holds

use libloading::Library;

/// Whether a shared library of this name can be opened here.
///
/// winit panics, instead of answering with an error, where libxkbcommon-x11 is missing; asking
/// first turns that into a sentence.
pub fn library_opens(name: &str) -> bool {
    // SAFETY: the libraries asked for are system libraries whose initialisers are harmless; the
    // handle is closed at once.
    unsafe { Library::new(name) }.is_ok()
}
