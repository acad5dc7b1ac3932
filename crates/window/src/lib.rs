//! The window: events become actions, the session does them, the view draws what came of it; and
//! the same view drawn [off screen](offscreen), for pictures and measurements.
//!
//! The event loop waits; it is woken by the person, by the session when something is new, and by
//! the clock when a frame was held back. It never waits for an engine.

mod error;
mod handler;
mod input;
mod startup;
mod surface;
mod view;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

use egui_winit::accesskit_winit;
use winit::error::EventLoopError;
use winit::event_loop::EventLoopProxy;

pub use error::WindowError;
use session::{Session, Status};
pub use startup::find_display;
use ui::{App, AppOptions, Drawing, EmergencySave, Wake};
pub use view::{
    ViewError, list_adapters, offscreen, picture_file, recording::Recorder, style::install_fonts,
};

/// What is called once.
pub type Announce = Box<dyn FnOnce(&Status, &Drawing)>;

/// How the window starts.
pub struct WindowOptions {
    /// The monitor that fullscreen takes, by its number or name, and it starts so; else the one
    /// that the window is on.
    pub monitor: Option<String>,
    /// The drawing GPU, by a part of its name; else the best one for the window.
    pub adapter: Option<String>,
    /// Record from the first frame on, into this file.
    pub record: Option<std::path::PathBuf>,
    /// Scripts of rounds and sources of kernels to open in the editor; the last one is shown.
    pub code: Vec<(ui::code_editor::Code, std::path::PathBuf)>,
    /// Makes a command that calls [`workshop::serve`] with its last arguments.
    pub kernel_process: fn() -> std::process::Command,
    /// Called once, with the first frame that shows the session.
    pub announce: Option<Announce>,
}

/// Opens a window while `start` runs on another thread, and runs until the user closes it or
/// [`AppOptions::frames`] were presented.
///
/// # Errors
/// [`WindowError::NoDisplay`] and [`WindowError::MissingLibraries`] are returned before `start` is
/// called, so the caller can continue without a window. Any other error ends the session, if it has
/// started.
pub fn run(
    start: impl FnOnce(Wake) -> anyhow::Result<Session> + Send + 'static,
    shown: AppOptions,
    options: WindowOptions,
) -> Result<(), WindowError> {
    let emergency_save = Arc::new(EmergencySave::default());
    let (event_loop, unusual_depth) = startup::event_loop(&emergency_save)?;
    // Where no driver may draw, the session starts once one does, so that the caller can go on.
    let (opened, is_open) = mpsc::channel();
    if unusual_depth.is_none() {
        let _ = opened.send(());
    }
    let wake_pending = Arc::new(AtomicBool::new(false));
    let (sender, started) = mpsc::channel();
    let wake = waker(event_loop.create_proxy(), &wake_pending);
    let quit_requested = Arc::new(AtomicBool::new(false));
    let (quit_flag, quit_wake) = (quit_requested.clone(), wake.clone());
    let request_exit = move || {
        quit_flag.store(true, Ordering::Release);
        quit_wake();
    };
    let running = emergency_save.end_on_signal(request_exit, || {});
    let (to_save, start_wake) = (emergency_save.clone(), wake.clone());
    std::thread::Builder::new()
        .name("start".into())
        .spawn(move || {
            if is_open.recv().is_err() {
                return;
            }
            let session = platform::catch_panic(|| start(start_wake.clone()));
            let session = session
                .unwrap_or_else(|it| Err(anyhow::anyhow!("{}", lang::tr!("internal: {it}"))));
            // Here, because the event loop may be blocked in the display from the start.
            to_save.set_saver(session.as_ref().ok().and_then(Session::saver));
            // Whether anybody still listens is not this thread's concern.
            let _ = sender.send(session);
            start_wake();
        })
        .map_err(|error| WindowError::Display(error.to_string()))?;
    let mut app = App::new(shown, wake.clone(), emergency_save);
    app.in_window = true;
    let mut handler = handler::Handler::new(
        app,
        options,
        (unusual_depth, opened),
        started,
        [wake_pending, quit_requested],
        &event_loop,
        wake,
    );
    let ran = startup::catch_winit(|| event_loop.run_app(&mut handler));
    handler.keep_drafts();
    let saved = handler.app.end(); // the session first: an encoder may take long
    handler.end_recording();
    handler.finish_background();
    let failed = handler.failed.take();
    drop(handler);
    drop(running);
    saved.map_err(|unsaved| WindowError::Session(unsaved.into()))?;
    match (failed, ran) {
        (Some(error), _) => Err(error),
        // How winit reports that a Wayland compositor is gone. Xlib ends the process itself when
        // the X server is gone, unless winit notices first and panics.
        (None, None | Some(Err(EventLoopError::ExitFailure(_)))) => Err(startup::display_lost()),
        (None, Some(Err(error))) => Err(WindowError::Display(startup::in_short(&error))),
        (None, Some(Ok(()))) => Ok(()),
    }
}

/// What reaches the window's loop beside the display's events.
#[derive(Debug)]
enum LoopEvent {
    /// There is something new to see or to do.
    Woken,
    /// A screen reader came, went, or asks for an action.
    ScreenReader(accesskit_winit::Event),
}

impl From<accesskit_winit::Event> for LoopEvent {
    fn from(event: accesskit_winit::Event) -> LoopEvent {
        LoopEvent::ScreenReader(event)
    }
}

/// Coalesces wake-ups: sends one event until the loop handles it.
fn waker(proxy: EventLoopProxy<LoopEvent>, wake_pending: &Arc<AtomicBool>) -> Wake {
    let proxy = std::sync::Mutex::new(proxy);
    let wake_pending = wake_pending.clone();
    Arc::new(move || {
        if !wake_pending.swap(true, Ordering::AcqRel)
            && let Ok(proxy) = proxy.lock()
        {
            // An error says that the loop has ended.
            let _ = proxy.send_event(LoopEvent::Woken);
        }
    })
}
