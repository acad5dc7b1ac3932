//! The terminal, taken and given back: on every way out, and with what would have been said on it
//! meanwhile.

use std::io::{self, Write, stdout};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Once};
use std::time::Duration;

use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{DisableMouseCapture, EnableMouseCapture};
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::crossterm::{cursor, execute};

use super::{Terminal, broken};
use app::AppError;

/// Whether the terminal is ours just now.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Whether a thread has panicked while it was.
static PANICKED: AtomicBool = AtomicBool::new(false);

/// What was to be said while it was.
static HELD: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// How long a write to a terminal that takes nothing may hold up a signal.
const PATIENCE: Duration = Duration::from_secs(2);

/// Whether this program may read the terminal: one in the background would be stopped.
pub fn is_foreground() -> bool {
    #[cfg(unix)]
    {
        let ours = rustix::process::getpgrp();
        rustix::termios::tcgetpgrp(stdout()).is_ok_and(|foreground| foreground == ours)
    }
    #[cfg(not(unix))]
    {
        true
    }
}

/// Holds the terminal; gives it back when dropped.
pub(super) struct Guard {
    told: Arc<AtomicBool>,
}

impl Guard {
    pub(super) fn new() -> Result<Guard, AppError> {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                if TAKEN.load(Ordering::Acquire) {
                    PANICKED.store(true, Ordering::Release);
                    restore();
                }
                before(panic);
            }));
        });
        let told = Arc::new(AtomicBool::new(false));
        let heard = told.clone();
        // Another handler is only there in tests.
        let _ = ctrlc::set_handler(move || {
            if heard.swap(true, Ordering::AcqRel) {
                return;
            }
            let watch = || {
                std::thread::sleep(PATIENCE);
                if TAKEN.load(Ordering::Acquire) {
                    let _ = disable_raw_mode(); // what is written no longer arrives
                    std::process::exit(1);
                }
            };
            let _ = std::thread::Builder::new().spawn(watch);
        });
        TAKEN.store(true, Ordering::Release);
        let guard = Guard { told };
        enable_raw_mode().map_err(broken)?;
        execute!(
            stdout(),
            EnterAlternateScreen,
            EnableMouseCapture,
            cursor::Hide
        )
        .map_err(broken)?;
        Ok(guard)
    }

    pub(super) fn terminal(&self) -> Result<Terminal, AppError> {
        let mut terminal = Terminal::new(CrosstermBackend::new(stdout())).map_err(broken)?;
        terminal.clear().map_err(broken)?;
        Ok(terminal)
    }

    /// Whether a signal has come, or a thread has panicked and the screen is gone.
    pub(super) fn is_told_to_end(&self) -> bool {
        self.told.load(Ordering::Acquire) || PANICKED.load(Ordering::Acquire)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        restore();
    }
}

/// Gives the terminal back, once; a terminal that is gone needs nothing.
fn restore() {
    if !TAKEN.swap(false, Ordering::AcqRel) {
        return;
    }
    let _ = execute!(
        stdout(),
        DisableMouseCapture,
        LeaveAlternateScreen,
        cursor::Show
    );
    let _ = disable_raw_mode();
    if let Ok(mut held) = HELD.lock() {
        let _ = io::stderr().write_all(&held);
        held.clear();
    }
}

/// Writes to stderr, or, while the terminal shows panels, to where it is kept until then.
#[derive(Clone, Copy, Debug, Default)]
pub struct LogWriter;

impl Write for LogWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        use std::io::IsTerminal as _;
        match HELD.lock() {
            // What goes to a file disturbs nobody.
            Ok(mut held) if TAKEN.load(Ordering::Acquire) && io::stderr().is_terminal() => {
                if held.len() < 1 << 20 {
                    held.extend_from_slice(bytes);
                }
                Ok(bytes.len())
            }
            _ => io::stderr().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
