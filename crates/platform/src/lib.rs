//! The few calls to the operating system that Rust calls unsafe, behind safe functions.
#![allow(unsafe_code)] // each block says why it holds

use std::sync::atomic::{AtomicBool, Ordering};

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

/// Keeps a layer of Mesa's Vulkan driver from complaining on stderr where there is no session
/// directory, as on servers; it only reorders GPUs, and we choose ours by name.
///
/// To be called first thing in `main`.
pub fn quieten_vulkan() {
    if std::env::var_os("XDG_RUNTIME_DIR").is_none() {
        // SAFETY: the program's first statement; no other thread reads the environment yet.
        unsafe { std::env::set_var("NODEVICE_SELECT", "1") };
    }
}

/// Sets into how many queues a GPU takes the streams' work, which the CUDA driver reads once when
/// it starts: `asked`, or else what the environment says, or else `usual`, or else what the driver
/// takes.
///
/// To be called while the program has one thread.
pub fn set_connections(asked: Option<u32>, usual: Option<u32>) {
    const NAME: &str = "CUDA_DEVICE_MAX_CONNECTIONS";
    let usual = usual.filter(|_| std::env::var_os(NAME).is_none());
    if let Some(connections) = asked.or(usual) {
        // SAFETY: no other thread reads the environment yet, as the caller promises.
        unsafe { std::env::set_var(NAME, connections.to_string()) };
    }
}

/// Whether threads that compute give way to those that draw.
static DRAWS_FIRST: AtomicBool = AtomicBool::new(false);

/// Has the threads that compute, and call [`lower_thread_priority`] from now on, give way to those that draw:
/// where both share a few cores, the picture would stutter otherwise.
pub fn draw_first() {
    DRAWS_FIRST.store(true, Ordering::Relaxed);
}

/// Lowers the calling thread's priority if [`draw_first`] has been called. As long as there is an
/// idle core that costs nothing. Threads that it starts inherit it. Only Linux has priorities of
/// single threads; elsewhere nothing happens.
pub fn lower_thread_priority() {
    #[cfg(target_os = "linux")]
    if DRAWS_FIRST.load(Ordering::Relaxed) {
        /// Of -20 to 19, where 0 is usual: about a tenth of the share of a usual thread.
        const NICE: libc::c_int = 10;
        // SAFETY: it takes plain numbers; on Linux 0 stands for the calling thread. Where it fails,
        // the priority stays.
        unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, NICE) };
    }
}

/// What is done when the connection to the X server is lost, for the exit code.
type LastRites = Box<dyn Fn() -> i32 + Send + Sync>;

static LAST_RITES: std::sync::OnceLock<LastRites> = std::sync::OnceLock::new();

/// Has the program do this and end with its exit code when the X server goes away.
///
/// Xlib ends the process itself then, whatever anybody else does, and says so in its own words
/// and with exit code 1. `last_rites` runs within an Xlib call, on whichever thread made it, while
/// all others go on: it may wait for them, but must not use the display. Does nothing where there
/// is no Xlib; the first call counts.
pub fn end_with_x_display(last_rites: impl Fn() -> i32 + Send + Sync + 'static) {
    type Handler = unsafe extern "C" fn(*mut std::ffi::c_void) -> std::ffi::c_int;
    type SetHandler = unsafe extern "C" fn(Option<Handler>) -> Option<Handler>;

    unsafe extern "C" fn end(_display: *mut std::ffi::c_void) -> std::ffi::c_int {
        let last_rites = LAST_RITES.get().expect("set before this handler is");
        // A panic must not run into Xlib, which is no Rust.
        let code = std::panic::catch_unwind(std::panic::AssertUnwindSafe(last_rites));
        std::process::exit(code.unwrap_or(1))
    }

    if LAST_RITES.set(Box::new(last_rites)).is_err() {
        return;
    }
    // SAFETY: Xlib's own initialisers are harmless, and it stays loaded (below).
    let Ok(library) = (unsafe { Library::new("libX11.so.6") }) else {
        return;
    };
    // SAFETY: this is the function's type in X11/Xlib.h.
    let set = unsafe { library.get::<SetHandler>(c"XSetIOErrorHandler".to_bytes_with_nul()) };
    if let Ok(set) = set {
        // SAFETY: the function only stores the pointer, and `end` lives as long as the program.
        unsafe { set(Some(end)) };
    }
    // Never closed: the handler set above must stay in the library that winit opens too.
    std::mem::forget(library);
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// The calling thread's.
    fn niceness() -> i32 {
        // SAFETY: it takes plain numbers; on Linux 0 stands for the calling thread.
        unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) }
    }

    #[test]
    fn only_threads_that_give_way_do_and_only_where_drawing_goes_first() {
        let of_a_thread = || {
            let thread = std::thread::spawn(|| {
                lower_thread_priority();
                niceness()
            });
            thread.join().unwrap()
        };
        let before = niceness();
        assert_eq!(of_a_thread(), before);
        draw_first();
        assert!(of_a_thread() > before);
        assert_eq!(niceness(), before);
    }
}
