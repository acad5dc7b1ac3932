//! Sets up the terminal and restores it on every way out, and buffers log messages meanwhile.

use std::io::{self, IsTerminal, Write, stdout};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Once};

use ratatui::backend::{Backend as _, CrosstermBackend};
use ratatui::crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::crossterm::{cursor, execute};

use super::{Terminal, broken};
use crate::TerminalError;
use ui::{EmergencySave, UiRunning};

/// Whether this program has taken the terminal: raw mode, alternate screen, pastes.
static TERMINAL_ACQUIRED: AtomicBool = AtomicBool::new(false);

/// Whether a thread has panicked while the terminal was taken.
static PANICKED: AtomicBool = AtomicBool::new(false);

/// Log messages that were written while the terminal was taken; printed when it is restored.
static BUFFERED_LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Whether a stream is a terminal that takes escape codes: Emacs' shell, for one, takes none.
pub fn takes_escape_codes(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

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

/// Whether the terminal has gone: its window was closed, or the connection to it broke. Reading it
/// says no more than that nothing was typed.
pub fn has_hung_up() -> bool {
    #[cfg(unix)]
    {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let out = stdout();
        let mut asked = [PollFd::new(&out, PollFlags::empty())]; // this much is always told
        let polled = poll(&mut asked, Some(&Timespec::default()));
        let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
        polled.is_ok() && asked[0].revents().intersects(gone)
    }
    #[cfg(not(unix))]
    {
        false
    }
}

/// Holds the terminal; gives it back when dropped.
pub(super) struct Guard {
    quit_requested: Arc<AtomicBool>,
    /// Dropped once the terminal has been given back, as far as it took that.
    _running: UiRunning,
}

impl Guard {
    /// Takes the terminal. A signal saves what `emergency_save` knows of, even while the terminal takes
    /// nothing.
    pub(super) fn new(emergency_save: &Arc<EmergencySave>) -> Result<Guard, TerminalError> {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                if TERMINAL_ACQUIRED.load(Ordering::Acquire) {
                    if platform::is_catching_panics() {
                        return; // the view shows it
                    }
                    PANICKED.store(true, Ordering::Release);
                    restore();
                }
                before(panic);
            }));
        });
        let quit_requested = Arc::new(AtomicBool::new(false));
        let quit_flag = quit_requested.clone();
        let request_exit = move || quit_flag.store(true, Ordering::Release);
        // What is written to a blocked terminal no longer arrives.
        let leave_raw_mode = || drop(disable_raw_mode());
        let running = emergency_save.end_on_signal(request_exit, leave_raw_mode);
        TERMINAL_ACQUIRED.store(true, Ordering::Release);
        let guard = Guard {
            quit_requested,
            _running: running,
        };
        enable_raw_mode().map_err(broken)?;
        execute!(
            stdout(),
            EnterAlternateScreen,
            EnableBracketedPaste,
            cursor::Hide
        )
        .map_err(broken)?;
        Ok(guard)
    }

    pub(super) fn terminal(&self) -> Result<Terminal, TerminalError> {
        let mut backend = CrosstermBackend::new(stdout());
        // Not `Terminal::clear`, which asks the terminal for the cursor's position: the answer may come late
        // or never, and keys that were typed before it would be lost.
        backend.clear().map_err(broken)?;
        Terminal::new(backend).map_err(broken)
    }

    /// Whether a signal has come, or a thread has panicked and the screen is gone.
    pub(super) fn should_exit(&self) -> bool {
        self.quit_requested.load(Ordering::Acquire) || PANICKED.load(Ordering::Acquire)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        restore();
    }
}

/// Gives the terminal back, once; a terminal that is gone needs nothing.
fn restore() {
    if !TERMINAL_ACQUIRED.swap(false, Ordering::AcqRel) {
        return;
    }
    let _ = execute!(
        stdout(),
        DisableBracketedPaste,
        LeaveAlternateScreen,
        cursor::Show
    );
    let _ = disable_raw_mode();
    if let Ok(mut buffered) = BUFFERED_LOG.lock() {
        let _ = io::stderr().write_all(&buffered);
        buffered.clear();
    }
}

/// Writes events of the log to stderr, or, while the terminal shows panels, to where they are kept until
/// then. What an event says, such as a file's name, cannot break its line.
#[derive(Clone, Copy, Debug, Default)]
pub struct LogWriter;

/// An event as one line: its control characters are escaped, except those of the log's own colours.
fn as_line(event: &[u8]) -> String {
    let text = String::from_utf8_lossy(event);
    let text = text.strip_suffix('\n').unwrap_or(&text);
    format!("{}\n", lang::escape_controls(text, &['\u{1b}']))
}

impl Write for LogWriter {
    /// Writes a whole event, as the log does.
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let line = as_line(event);
        match BUFFERED_LOG.lock() {
            // What goes to a file disturbs nobody.
            Ok(mut buffered)
                if TERMINAL_ACQUIRED.load(Ordering::Acquire) && io::stderr().is_terminal() =>
            {
                if buffered.len() < 1 << 20 {
                    buffered.extend_from_slice(line.as_bytes());
                }
            }
            _ => {
                // Where stderr is closed there is nobody left to tell.
                let _ = io::stderr().write_all(line.as_bytes());
            }
        }
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(()) // stderr has no buffer
    }
}

#[cfg(test)]
mod tests {
    use super::as_line;

    #[test]
    fn an_event_is_one_line_in_its_colours() {
        let event = "\u{1b}[33m WARN\u{1b}[0m a\nERROR forged\tline\u{7}\n";
        let line = "\u{1b}[33m WARN\u{1b}[0m a\\nERROR forged\\tline\\u{7}\n";
        assert_eq!(as_line(event.as_bytes()), line);
    }
}
