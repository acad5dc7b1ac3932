//! Signals that ask the program to end.

use std::io;

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

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

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
