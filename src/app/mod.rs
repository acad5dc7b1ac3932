//! The window: events become actions, the session does them, the view draws what came of it.
//!
//! The event loop waits; it is woken by the person, by the session when something is new, and by
//! the clock when a frame was held back. It never waits for an engine.

mod classroom;
mod clipboard;
mod doing;
mod editing;
mod error;
mod handler;
mod input;
mod keys;
mod larger;
mod lessons;
mod looking;
mod monitor;
mod pacing;
mod pointer;
mod recording;
mod rescue;
mod screen;
mod startup;
pub mod terminal;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use winit::error::EventLoopError;

use crate::lang::tr;
use crate::life::Lattice;
use crate::session::{
    Action, Edit, Kept, Picture, PicturePlan, Saver, Series, Session, Status, Trace,
};
use crate::view::{Drawing, PictureSource, ViewOptions};
pub use classroom::{Classroom, Unsaved};
pub use error::AppError;
pub use lessons::LessonSource;
pub use startup::find_display;

/// How the window starts.
#[derive(Clone, Debug)]
pub struct WindowOptions {
    /// Its title.
    pub title: String,
    /// Its inner size in points.
    pub size: [u32; 2],
    /// Whether it fills the screen.
    pub fullscreen: bool,
    /// The monitor that fullscreen takes, by its number or name, and it starts so; else the one
    /// that the window is on.
    pub monitor: Option<String>,
    /// End after so many presented frames.
    pub frames: Option<u64>,
    /// Whether the session ends by itself.
    pub limited: bool,
    /// The drawing GPU, by a part of its name; else the best one for the window.
    pub adapter: Option<String>,
    /// Record from the first frame on, into this file.
    pub record: Option<std::path::PathBuf>,
    /// What is seen at first.
    pub view: ViewOptions,
    /// Called once, with the first frame that shows the session.
    pub announce: Option<fn(&Status, &Drawing)>,
}

impl Default for WindowOptions {
    fn default() -> WindowOptions {
        WindowOptions {
            title: "lifestreams".into(),
            size: [1280, 800],
            fullscreen: false,
            monitor: None,
            frames: None,
            limited: false,
            adapter: None,
            record: None,
            view: ViewOptions::default(),
            announce: None,
        }
    }
}

/// What a window drives and draws: a session, or a test's stand-in.
pub trait World: PictureSource + Send + 'static {
    /// As [`Session::act`].
    fn act(&self, action: Action) -> bool;
    /// As [`Session::request_view`].
    fn request_view(&self, request: PicturePlan);
    /// As [`Session::status`].
    fn status(&self) -> Arc<Status>;
    /// As [`Session::edit`]; `None` where nothing can be edited.
    fn edit(&self, _edit: Edit) -> Option<u64> {
        None
    }
    /// As [`Session::copy`]; `None` where there is nothing to copy.
    fn copy(&self, _instance: usize) -> Option<Receiver<(Arc<Lattice>, u64)>> {
        None
    }
    /// Everything that it could go on from, soon; `None` where nothing is kept.
    fn kept(&self) -> Option<Receiver<Kept>> {
        None
    }
    /// What saves it from any thread; `None` where it is kept in no file.
    fn saver(&self) -> Option<Saver> {
        None
    }
    /// Goes on from this, whatever its size; may take long. On an error it is as it was.
    fn go_on_from(&mut self, _kept: Kept) -> Result<(), String> {
        Err("there is nothing to go on from".into())
    }
    /// The lessons, where there are any; none by default.
    fn lessons(&mut self) -> Option<&mut dyn LessonSource> {
        None
    }
}

impl PictureSource for Session {
    fn visit_newer(&self, seen: &mut [u64], draw: &mut dyn FnMut(usize, &Picture, &[u32])) {
        self.pictures().visit_newer(seen, draw);
    }

    fn newer_trace(&self, seen: u64) -> Option<Trace> {
        Session::newer_trace(self, seen)
    }

    fn newer_population(&self, of: Option<usize>, seen: u64) -> Option<(u64, Series)> {
        Session::newer_population(self, of, seen)
    }
}

impl World for Session {
    fn act(&self, action: Action) -> bool {
        Session::act(self, action)
    }

    fn request_view(&self, request: PicturePlan) {
        Session::request_view(self, request);
    }

    fn status(&self) -> Arc<Status> {
        Session::status(self)
    }

    fn edit(&self, edit: Edit) -> Option<u64> {
        Some(Session::edit(self, edit))
    }

    fn copy(&self, instance: usize) -> Option<Receiver<(Arc<Lattice>, u64)>> {
        Some(Session::copy(self, instance))
    }

    fn saver(&self) -> Option<Saver> {
        Session::saver(self)
    }
}

/// Tells the window that there is something new; cheap, from any thread.
pub type Wake = Box<dyn Fn() + Send>;

/// Opens a window, starts what it shows on a thread of its own meanwhile, and runs until the
/// person closes it or [`WindowOptions::frames`] were presented.
///
/// # Errors
/// [`AppError::NoDisplay`] and [`AppError::MissingLibraries`] come before `start` is called, so
/// that one can go on without a window; all others end what was begun.
pub fn run<W: World>(
    start: impl FnOnce(Wake) -> anyhow::Result<W> + Send + 'static,
    options: WindowOptions,
) -> Result<(), AppError> {
    let rescue = Arc::new(rescue::Rescue::default());
    let event_loop = startup::event_loop(&rescue)?;
    let awake = Arc::new(AtomicBool::new(false));
    let (sender, started) = mpsc::channel();
    let wake = waker(&event_loop, &awake);
    let ready = waker(&event_loop, &awake);
    std::thread::Builder::new()
        .name("start".into())
        .spawn(move || {
            // Whether anybody still listens is not this thread's concern.
            let _ = sender.send(start(wake));
            ready();
        })
        .map_err(|error| AppError::Display(error.to_string()))?;
    let display = event_loop.owned_display_handle();
    let saved = waker(&event_loop, &awake);
    let told = signals(waker(&event_loop, &awake));
    let wakes = (awake, told);
    let mut handler =
        handler::Handler::new(options, started, wakes, display, saved, rescue.clone());
    let ran = event_loop.run_app(&mut handler);
    handler.finish_recording();
    handler.await_return();
    let failed = handler.failed.take();
    drop(handler.world.take()); // and so saved
    rescue.forget();
    drop(handler);
    match (failed, ran) {
        (Some(error), _) => Err(error),
        // How winit says that a Wayland compositor has gone; the X server's end is heard elsewhere.
        (None, Err(EventLoopError::ExitFailure(_))) => Err(AppError::Display(
            tr!("the connection to the display has broken; start again once there is one, or use 'lifestreams run', which needs none").into(),
        )),
        (None, Err(error)) => Err(AppError::Display(startup::in_short(&error))),
        (None, Ok(())) => Ok(()),
    }
}

/// Signals that come within this time are one: a terminal that is closed sends two, and so do some
/// service managers.
const ONE_SIGNAL: Duration = Duration::from_secs(1);

/// Whether a signal has told the program to end: then it ends as by Ctrl+Q, with everything saved;
/// at another one it ends at once.
fn signals(wake: Wake) -> Arc<AtomicBool> {
    let told = Arc::new(AtomicBool::new(false));
    let heard = told.clone();
    let mut first = None;
    let handle = move || {
        heard.store(true, Ordering::Release);
        let first = *first.get_or_insert_with(Instant::now);
        if first.elapsed() > ONE_SIGNAL {
            std::process::exit(1);
        }
        wake();
    };
    if let Err(error) = ctrlc::set_handler(handle) {
        tracing::warn!("signals end the program by themselves: {error}");
    }
    told
}

/// Many wakes before the loop gets round to one are one.
fn waker(event_loop: &winit::event_loop::EventLoop<()>, awake: &Arc<AtomicBool>) -> Wake {
    let proxy = std::sync::Mutex::new(event_loop.create_proxy());
    let awake = awake.clone();
    Box::new(move || {
        if !awake.swap(true, Ordering::AcqRel)
            && let Ok(proxy) = proxy.lock()
        {
            // An error says that the loop has ended.
            let _ = proxy.send_event(());
        }
    })
}
