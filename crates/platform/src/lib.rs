//! The few calls to the operating system that Rust calls unsafe, behind safe functions.
#![allow(unsafe_code)] // each block says why it holds

use std::ffi::{c_int, c_void};
use std::mem::ManuallyDrop;
use std::sync::OnceLock;

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

/// What is called when the X server has gone.
static LOST: OnceLock<fn() -> !> = OnceLock::new();

type IoErrorHandler = extern "C" fn(*mut c_void) -> c_int;

/// Has `end` called where the connection to the X server breaks. Xlib ends the process then
/// whatever is done, by itself with exit code 1. Nothing happens where there is no libX11; the
/// first `end` stays.
pub fn on_lost_x_server(end: fn() -> !) {
    extern "C" fn lost(_display: *mut c_void) -> c_int {
        LOST.get().map_or(0, |end| end())
    }
    if LOST.set(end).is_err() {
        return;
    }
    // SAFETY: libX11's initialiser is harmless. The function has had this type since X11R1 and
    // may be called at any time; the library stays open, so that what it was told stays known.
    unsafe {
        let Ok(x11) = Library::new("libX11.so.6").map(ManuallyDrop::new) else {
            return;
        };
        if let Ok(set_handler) =
            x11.get::<unsafe extern "C" fn(IoErrorHandler) -> *mut c_void>(b"XSetIOErrorHandler\0")
        {
            set_handler(lost);
        }
    }
}
