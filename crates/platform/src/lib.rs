//! Safe wrappers for the program's few unsafe operating-system calls, and its environment.
#![allow(unsafe_code)] // each block says why it is sound

pub mod contained;

use std::cell::Cell;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use libloading::Library;

thread_local! {
    static IS_CATCHING: Cell<bool> = const { Cell::new(false) };
}

/// Whether [`catch_panic`] would catch a panic of this thread now, so that its caller reports it.
pub fn is_catching_panics() -> bool {
    IS_CATCHING.get()
}

/// Runs work that another thread waits for.
///
/// # Errors
/// The work panicked, with this message.
pub fn catch_panic<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    let before = IS_CATCHING.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    IS_CATCHING.set(before);
    done.map_err(|panic| match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => {
            let text = panic.downcast_ref::<&str>();
            text.unwrap_or(&"for an unknown reason").to_string()
        }
    })
}

/// Whether a shared library of this name can be opened.
///
/// winit panics if libxkbcommon-x11 is missing. Checking first allows a proper error message.
pub fn library_opens(name: &str) -> bool {
    // SAFETY: callers name system libraries, whose initialisers are harmless; the handle is closed
    // immediately.
    unsafe { Library::new(name) }.is_ok()
}

/// Disables a layer of Mesa's Vulkan driver that prints warnings if there is no session directory,
/// as on servers. The layer only reorders GPUs, which this program selects by name.
///
/// Call this first in `main`.
pub fn quieten_vulkan() {
    if std::env::var_os("XDG_RUNTIME_DIR").is_none() {
        // SAFETY: called first in `main`; no other thread reads the environment yet.
        unsafe { std::env::set_var("NODEVICE_SELECT", "1") };
    }
}

/// Has winit take a window's scale from the size of its monitor, whatever the desktop says.
///
/// Call this before anything is opened.
pub fn scale_by_randr() {
    // SAFETY: no other thread reads the environment yet; see above.
    unsafe { std::env::set_var("WINIT_X11_SCALE_FACTOR", "randr") };
}

const CONNECTIONS: &str = "CUDA_DEVICE_MAX_CONNECTIONS";

/// Sets the number of hardware work queues (`CUDA_DEVICE_MAX_CONNECTIONS`), which the CUDA driver
/// reads once at its start: `requested` if given; else the environment's value; else `usual` if given;
/// else the driver's default.
///
/// Call this while the program has one thread.
pub fn set_connections(requested: Option<u32>, usual: Option<u32>) {
    let usual = usual.filter(|_| std::env::var_os(CONNECTIONS).is_none());
    if let Some(connections) = requested.or(usual) {
        // SAFETY: no other thread reads the environment yet; see above.
        unsafe { std::env::set_var(CONNECTIONS, connections.to_string()) };
    }
}

/// The number of hardware work queues with which the CUDA driver starts, or has started.
pub fn connections() -> u32 {
    const DRIVERS_DEFAULT: u32 = 8;
    let requested = std::env::var(CONNECTIONS);
    let requested = requested.ok().and_then(|text| text.parse().ok());
    requested.unwrap_or(DRIVERS_DEFAULT)
}

/// A time that the program waits: `usual`, or less if the environment's
/// `LIFESTREAMS_TEST_TIMEOUT_MS` has fewer milliseconds. Only tests set that, so that they need not
/// wait as long as a user would.
pub fn timeout(usual: Duration) -> Duration {
    let shorter = std::env::var("LIFESTREAMS_TEST_TIMEOUT_MS").ok();
    let shorter = shorter.and_then(|ms| ms.parse().ok());
    shorter.map_or(usual, |ms| usual.min(Duration::from_millis(ms)))
}

/// Ends the process, and runs nothing of what else would run at its end: functions of a driver among
/// that may wait for a call that hangs.
pub fn exit_at_once(code: i32) -> ! {
    #[cfg(unix)]
    signal_hook::low_level::exit(code);
    #[cfg(not(unix))]
    std::process::exit(code)
}

/// Whether compute threads lower their priority in favour of drawing.
static DRAWS_FIRST: AtomicBool = AtomicBool::new(false);

/// Makes later calls of [`lower_thread_priority`] take effect. Without it the picture stutters when
/// compute and drawing threads share a few cores.
pub fn draw_first() {
    DRAWS_FIRST.store(true, Ordering::Relaxed);
}

/// Lowers the calling thread's priority if [`draw_first`] has been called. This costs nothing while
/// a core is idle. Threads started by it inherit the priority. Only Linux has per-thread
/// priorities; elsewhere this does nothing.
pub fn lower_thread_priority() {
    #[cfg(target_os = "linux")]
    if DRAWS_FIRST.load(Ordering::Relaxed) {
        /// Nice value from -20 to 19. 10 gives about a tenth of the CPU share of a thread with the
        /// default, 0.
        const NICE: i32 = 10;
        // `None` means the calling thread on Linux. On failure the priority is unchanged.
        let _ = rustix::process::setpriority_process(None, NICE);
    }
}

/// What the system has given this process so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// The time that its threads computed, added up.
    pub cpu: Duration,
    /// How long the calling thread has waited for a core.
    pub waited: Duration,
}

impl Usage {
    /// Whether the calling thread was ready for long without a core since then: the system had given it
    /// to another one. To be woken takes less.
    pub fn is_preempted_since(self, before: Usage) -> bool {
        const MIN_WAIT: Duration = Duration::from_micros(200);
        self.waited - before.waited >= MIN_WAIT
    }
}

/// What the system has given this process since it began; nothing where that is not known.
pub fn usage() -> Usage {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::FileExt;
        thread_local! {
            // Its second number is the time that the thread was ready and did not run, in nanoseconds.
            static SCHEDULING: Option<std::fs::File> =
                std::fs::File::open("/proc/thread-self/schedstat").ok();
        }
        let mut line = [0; 64];
        let read = SCHEDULING.with(|file| file.as_ref()?.read_at(&mut line, 0).ok());
        let line = std::str::from_utf8(&line[..read.unwrap_or(0)]).unwrap_or_default();
        let waited = line.split(' ').nth(1).and_then(|ns| ns.parse().ok());
        let cpu = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        Usage {
            cpu: Duration::new(cpu.tv_sec as u64, cpu.tv_nsec as u32),
            waited: Duration::from_nanos(waited.unwrap_or(0)),
        }
    }
    #[cfg(not(target_os = "linux"))]
    Usage::default()
}

/// A callback for the loss of the X server; returns the exit code.
type OnDisplayLost = Box<dyn Fn() -> i32 + Send + Sync>;

static ON_DISPLAY_LOST: std::sync::OnceLock<OnDisplayLost> = std::sync::OnceLock::new();

/// Calls `on_lost` and exits with its result when the connection to the X server is lost.
///
/// By default Xlib then prints its own message and exits with code 1. `on_lost` runs inside an Xlib
/// call, on whichever thread made it, while other threads continue: it may wait for them, but must
/// not use the display. Does nothing without Xlib. Only the first call has an effect.
pub fn end_with_x_display(on_lost: impl Fn() -> i32 + Send + Sync + 'static) {
    type Handler = unsafe extern "C" fn(*mut std::ffi::c_void) -> std::ffi::c_int;
    type SetHandler = unsafe extern "C" fn(Option<Handler>) -> Option<Handler>;

    unsafe extern "C" fn end(_display: *mut std::ffi::c_void) -> std::ffi::c_int {
        let on_lost = ON_DISPLAY_LOST.get().expect("set before this handler is");
        // A panic must not unwind into Xlib.
        let code = catch_unwind(AssertUnwindSafe(on_lost));
        std::process::exit(code.unwrap_or(1))
    }

    if ON_DISPLAY_LOST.set(Box::new(on_lost)).is_err() {
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
    // Never closed, so that the handler stays set in the library that winit also opens.
    std::mem::forget(library);
}

// Signals that ask the program to end.

/// Calls `on_signal` for every signal that asks the program to end: SIGINT, SIGTERM, SIGHUP and
/// SIGQUIT, or Ctrl+C where there are no signals. It is called on a thread of its own, so it may
/// lock and wait; signals that arrive meanwhile are handled afterwards, several of a kind as one.
///
/// # Errors
/// The system's error if it provides no handler or no thread.
#[cfg(unix)]
pub fn on_signals(mut on_signal: impl FnMut() + Send + 'static) -> io::Result<()> {
    let mut signals = signal_hook::iterator::Signals::new(ENDING)?;
    let thread = std::thread::Builder::new().name("signals".into());
    thread.spawn(move || signals.forever().for_each(|_| on_signal()))?;
    Ok(())
}

#[cfg(unix)]
const ENDING: [i32; 4] = {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
};

/// Calls `on_signal` for Ctrl+C.
///
/// # Errors
/// The system's error if it provides no handler.
#[cfg(not(unix))]
pub fn on_signals(on_signal: impl FnMut() + Send + 'static) -> io::Result<()> {
    ctrlc::set_handler(on_signal).map_err(io::Error::other)
}

/// Lets a write beyond the limit on the size of files (`ulimit -f`) fail, instead of ending the process.
pub fn survive_file_size_limit() {
    // Not ignored, which programs that this one starts would inherit. Without a handler, all stays as it is.
    #[cfg(unix)]
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Default::default());
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    /// The calling thread's nice value.
    fn niceness() -> i32 {
        rustix::process::getpriority_process(None).unwrap()
    }

    #[test]
    fn what_this_process_computes_is_counted() {
        let before = usage();
        let mut sum = 0_u64;
        while usage().cpu < before.cpu + Duration::from_millis(5) {
            sum = std::hint::black_box(sum + 1);
        }
        let later = usage();
        assert!(later.waited >= before.waited);
        assert!(!later.is_preempted_since(later));
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

    #[test]
    fn each_signal_that_asks_for_the_end_is_told() {
        let (sender, signals) = channel();
        on_signals(move || sender.send(()).unwrap()).unwrap();
        for signal in ENDING {
            signal_hook::low_level::raise(signal).unwrap();
            signals.recv().unwrap();
        }
    }
}
