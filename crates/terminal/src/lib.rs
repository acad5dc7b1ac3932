//! The terminal: keys become actions, the session does them, the view paints what came of it.
//!
//! The loop waits for keys for at most 16 ms at a time. It writes a frame only when something is
//! new, at most 30 per second. Over a slow line a slow frame delays the next one, never the session.
//! However the loop ends, the terminal is restored.

mod cards;
mod cells;
mod guard;
mod input;
mod style;
#[cfg(test)]
mod tests;
mod timeline;
mod view;

use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{self, Event};

pub use cells::Glyphs;
pub use guard::{LogWriter, has_hung_up, is_foreground, takes_escape_codes};

use ui::pacing::{FrameRate, Pacer};

use guard::Guard;
use lang::tr;
use session::Session;
use style::ColourDepth;
use ui::{App, AppOptions, EmergencySave, Wake};
use view::TerminalView;

/// The least time between two frames.
const MIN_FRAME_INTERVAL: Duration = Duration::from_millis(33);
/// The interval between frames is at least this many times the time that the last frame took, so
/// that at most half of the time is spent writing.
const MIN_INTERVAL_PER_FRAME_TIME: u32 = 2;
/// How often to look for keys and for what is new.
const POLL_INTERVAL: Duration = Duration::from_millis(16);

type Terminal = ratatui::Terminal<CrosstermBackend<std::io::Stdout>>;

/// An error that ends the terminal view.
#[derive(Debug, thiserror::Error)]
pub enum TerminalError {
    /// The terminal takes nothing, or has gone.
    #[error("{}", tr!("the terminal failed: {it}; use --display none to go on without it", it = .0))]
    Terminal(String),
    /// The session could not be started or saved; what was said is the cause.
    #[error("{0:#}")]
    Session(anyhow::Error),
}

/// Starts what is shown, then shows it until the person quits, a signal comes, or
/// [`AppOptions::frames`] were written. A terminal that hangs up ends it as a signal does.
///
/// # Errors
/// [`TerminalError::Session`] where `start` fails, before the terminal is touched, or where the session
/// is not saved in its file;
/// [`TerminalError::Terminal`] where the terminal takes nothing.
pub fn run(
    start: impl FnOnce(Wake) -> anyhow::Result<Session>,
    shown: AppOptions,
    glyphs: Glyphs,
) -> Result<(), TerminalError> {
    ui::check_open_files().map_err(TerminalError::Terminal)?;
    let news = Arc::new(AtomicBool::new(true));
    let woken = news.clone();
    let wake: Wake = Arc::new(move || woken.store(true, Ordering::Release));
    let session = start(wake.clone()).map_err(TerminalError::Session)?;
    let emergency_save = Arc::new(EmergencySave::default());
    emergency_save.set_saver(session.saver());
    let mut app = App::new(shown, wake, emergency_save.clone());
    app.start(session);
    let guard = Guard::new(&emergency_save)?;
    let terminal = guard.terminal()?;
    let depth = ColourDepth::detect(|name| std::env::var(name).ok());
    let mut shown = TerminalApp {
        app,
        view: TerminalView::new(glyphs, depth),
        quit: false,
        pacer: Pacer::default(),
        rate: FrameRate::default(),
        frames: 0,
        terminal: ManuallyDrop::new(terminal),
        typed: KeyReader::listen()?,
    };
    let answer = shown.run(&news, &guard);
    // The screen first: whom a signal ends has only as long as the guard stands, and a session
    // that is kept may take longer to be written.
    drop(guard);
    let saved = shown.app.end();
    saved.map_err(|unsaved| TerminalError::Session(unsaved.into()))?;
    match answer {
        // As a signal, which may come with it or not.
        Err(TerminalError::Terminal(_)) if has_hung_up() => Ok(()),
        answer => answer,
    }
}

/// What is on the screen.
struct TerminalApp {
    /// What the window has too.
    app: App,
    view: TerminalView,
    quit: bool,
    pacer: Pacer,
    rate: FrameRate,
    frames: u64,
    /// Not dropped: the drop would show the cursor, which the guard does, and panics if neither
    /// stdout nor stderr takes anything.
    terminal: ManuallyDrop<Terminal>,
    typed: KeyReader,
}

impl TerminalApp {
    fn run(&mut self, news: &AtomicBool, guard: &Guard) -> Result<(), TerminalError> {
        loop {
            let now = Instant::now();
            if news.swap(false, Ordering::AcqRel) {
                self.pacer.request_frame();
            }
            if self.app.frames.is_some() {
                self.pacer.request_frame(); // so many were asked for, whether there is anything new or not
            }
            if let Some(until) = self.app.expire_notice(now) {
                self.pacer.request_frame_at(until); // to take it away
            }
            if self.pacer.take_due(now) {
                self.draw(now)?;
            }
            self.app.look();
            let Some(status) = &self.app.status else {
                return Ok(());
            };
            if let Some(why) = self.app.gives_up() {
                return Err(TerminalError::Session(anyhow::anyhow!("{why}")));
            }
            let through = self.app.frames.is_some_and(|most| self.frames >= most);
            let ends = self.quit || through || status.clock.finished || guard.should_exit();
            if ends || has_hung_up() {
                return Ok(());
            }
            let next = self.pacer.next();
            let rest = next.map_or(POLL_INTERVAL, |next| {
                next.saturating_duration_since(Instant::now())
            });
            self.read(rest.min(POLL_INTERVAL))?;
        }
    }

    /// Does what was typed meanwhile.
    fn read(&mut self, mut rest: Duration) -> Result<(), TerminalError> {
        while let Some(event) = self.typed.next(rest)? {
            self.event(event);
            rest = Duration::ZERO;
            if self.quit {
                break;
            }
        }
        Ok(())
    }

    fn draw(&mut self, began: Instant) -> Result<(), TerminalError> {
        self.app.notice_other_grid();
        self.app.drawing.frames_per_second = self.rate.per_second(began);
        self.app.update();
        if let (Some(session), Some(status)) = (&self.app.session, &self.app.status) {
            self.view.update(status, session);
        }
        self.terminal
            .draw(|to| self.view.paint(&self.app, to.area(), to.buffer_mut()))
            .map_err(broken)?;
        if let Some(request) = self.view.request(&self.app) {
            self.app.request_view(request);
        }
        let took = began.elapsed();
        self.pacer.min_interval = MIN_FRAME_INTERVAL.max(MIN_INTERVAL_PER_FRAME_TIME * took);
        self.pacer.frame_drawn(began);
        self.rate.count(Instant::now());
        self.frames += 1;
        tracing::trace!("frame {} written in {took:?}", self.frames);
        Ok(())
    }
}

fn broken(error: std::io::Error) -> TerminalError {
    TerminalError::Terminal(error.to_string())
}

/// How often the thread looks whether anybody still wants what is typed.
const KEYS_INTERVAL: Duration = Duration::from_millis(100);

/// What is typed from now on, until this is dropped. Keys are read on a thread of its own, because crossterm's
/// read never returns once the terminal has hung up.
struct KeyReader {
    events: Receiver<std::io::Result<Event>>,
    /// The thread ends once it has the only one.
    _wanted: Arc<()>,
}

impl KeyReader {
    fn listen() -> Result<KeyReader, TerminalError> {
        let (sender, events) = channel();
        let wanted = Arc::new(());
        let is_wanted = wanted.clone();
        let listen = move || {
            while Arc::strong_count(&is_wanted) > 1 {
                let event = match event::poll(KEYS_INTERVAL) {
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
        let _wanted = wanted;
        Ok(KeyReader { events, _wanted })
    }

    /// The next event, if one comes within this time.
    fn next(&self, limit: Duration) -> Result<Option<Event>, TerminalError> {
        match self.events.recv_timeout(limit) {
            Ok(event) => event.map(Some).map_err(broken),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => {
                Err(broken(std::io::ErrorKind::UnexpectedEof.into()))
            }
        }
    }
}
