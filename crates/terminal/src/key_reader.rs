//! Reads keys on a thread of its own, because crossterm's read never returns once the terminal has
//! hung up.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use ratatui::crossterm::event::{self, Event};

use super::broken;
use crate::TerminalError;

/// How often the thread looks whether anybody still wants what is typed.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// What is typed from now on, until this is dropped.
pub(super) struct KeyReader {
    events: Receiver<std::io::Result<Event>>,
    over: Arc<AtomicBool>,
}

impl KeyReader {
    pub(super) fn listen() -> Result<KeyReader, TerminalError> {
        let (sender, events) = channel();
        let over = Arc::new(AtomicBool::new(false));
        let is_over = over.clone();
        let listen = move || {
            while !is_over.load(Ordering::Acquire) {
                let event = match event::poll(POLL_INTERVAL) {
                    Ok(false) => continue,
                    Ok(true) => event::read(),
                    Err(error) => Err(error),
                };
                let failed = event.is_err();
                if sender.send(event).is_err() || failed {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name("keys".into());
        thread.spawn(listen).map_err(broken)?;
        Ok(KeyReader { events, over })
    }

    /// The next event, if one comes within this time.
    pub(super) fn next(&self, limit: Duration) -> Result<Option<Event>, TerminalError> {
        match self.events.recv_timeout(limit) {
            Ok(event) => event.map(Some).map_err(broken),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => {
                Err(broken(std::io::ErrorKind::UnexpectedEof.into()))
            }
        }
    }
}

impl Drop for KeyReader {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
    }
}
