//! The window's state. What is done with it stands in the files beneath: winit's events, which ask for all
//! the rest, the mouse, editing, the editor, pictures and recordings, and what goes on in the background.

mod background;
mod captures;
mod editing;
mod editor;
mod events;

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Instant;

use crate::surface::WindowSurface;
use crate::view::recording::Recorder;
use crate::view::{Dialogs, Frame};
use crate::{LoopEvent, WindowError, WindowOptions};
use engine::kernels::KERNELS;
use lang::Message;
use lesson::ExerciseProgress;
use life::{Lattice, Rule};
use notify::RecommendedWatcher;
use session::prediction::OpTimes;
use session::{Drafts, IsolatedOp, OwnRound, OwnRoundError, Session, Status, StoredKernel};
use ui::code_editor::{Code, RoundContext};
use ui::pacing::{FrameRate, Pacer};
use ui::{App, CodeEditor, Wake};
use winit::event_loop::{EventLoop, EventLoopProxy};
use winit::keyboard::ModifiersState;
use winit::monitor::MonitorHandle;
use workshop::{Machine, Workshop};

/// What a frame is made from.
fn frame_of<'a>(app: &'a App, editor: &'a Editor, surface: &WindowSurface) -> Frame<'a> {
    Frame {
        app,
        editor: editor.shown(),
        pixels: surface.pixels(),
        scale: surface.canvas.window.scale_factor() as f32,
    }
}

/// See the module.
pub(super) struct Handler {
    options: WindowOptions,
    /// Bits of a pixel, of an X server that not every driver draws to.
    unusual_depth: Option<u8>,
    /// Told once something draws to the window.
    opened: Sender<()>,
    started: Receiver<anyhow::Result<Session>>,
    wake_pending: Arc<AtomicBool>,
    /// Whether a signal asked for the end.
    quit_requested: Arc<AtomicBool>,
    proxy: EventLoopProxy<LoopEvent>,
    /// What the terminal has too.
    pub app: App,
    surface: Option<WindowSurface>,
    background: Background,
    pacer: Pacer,
    rate: FrameRate,
    presented: u64,
    losses: u32,
    visible: bool,
    recording: Option<Recording>,
    pointer: Pointer,
    editor: Editor,
    dialogs: Dialogs,
    /// How often something was filled: another soup each time.
    fills: u64,
    /// The number of the last edit.
    edits: u64,
    /// What is to be saved, until it is.
    unsaved: Option<PatternToSave>,
    /// The file that is there already and was asked about.
    replaces: Option<String>,
    /// The rule of the pattern that was opened or pasted last, if the lattices ran another one.
    offered_rule: Option<Rule>,
    /// Where fullscreen is, if that was asked for.
    monitor: Option<MonitorHandle>,
    /// Notches of the wheel not yet acted upon: a touchpad sends parts of one.
    wheel: f64,
    modifiers: ModifiersState,
    /// Why it ended, if not by the person.
    pub failed: Option<WindowError>,
}

impl Handler {
    pub(super) fn new(
        mut app: App,
        options: WindowOptions,
        (unusual_depth, opened): (Option<u8>, Sender<()>),
        started: Receiver<anyhow::Result<Session>>,
        [wake_pending, quit_requested]: [Arc<AtomicBool>; 2],
        event_loop: &EventLoop<LoopEvent>,
        wake: Wake,
    ) -> Handler {
        let progress = ExerciseProgress::path().map(|path| ExerciseProgress::read(&path));
        app.progress = progress.and_then(Result::ok).unwrap_or_default();
        Handler {
            app,
            recording: options.record.clone().map(Recording::new),
            options,
            unusual_depth,
            opened,
            started,
            wake_pending,
            quit_requested,
            proxy: event_loop.create_proxy(),
            surface: None,
            background: Background::new(wake),
            pacer: Pacer::default(),
            rate: FrameRate::default(),
            presented: 0,
            losses: 0,
            visible: true,
            pointer: Pointer::default(),
            editor: Editor {
                kernel: CodeEditor::of_kernel(&KERNELS[0]),
                ..Editor::default()
            },
            dialogs: Dialogs::default(),
            fills: 0,
            edits: 0,
            unsaved: None,
            replaces: None,
            offered_rule: None,
            monitor: None,
            wheel: 0.0,
            modifiers: ModifiersState::empty(),
            failed: None,
        }
    }

    fn show_notice(&mut self, notice: impl Into<Message>) {
        self.app.show_notice(notice);
        self.pacer.request_frame();
    }

    fn status(&self) -> Option<Arc<Status>> {
        self.app.status.clone()
    }

    /// The frame as it is now, if there is a window.
    fn frame(&self) -> Option<Frame<'_>> {
        let screen = self.surface.as_ref()?;
        Some(frame_of(&self.app, &self.editor, screen))
    }
}

/// What takes the mouse.
#[derive(Clone, Copy, PartialEq)]
enum HitTarget {
    /// The panel of an instance.
    Panel(usize),
    Minimap,
    Timeline,
}

/// What a button that is held down does.
enum Drag {
    /// Moves what it went down on, once the pointer is far enough from there; else it clicks that, where the
    /// button does: the middle one only drags.
    Move {
        target: HitTarget,
        start: [f64; 2],
        has_moved: bool,
        clicks: bool,
    },
    /// Draws, in an instance, from this cell on.
    Stroke {
        instance: usize,
        last: CellHit,
        alive: bool,
    },
    /// Spans a selection from here.
    Selecting { instance: usize, from: CellHit },
    /// Nothing more: it has placed something.
    Placed,
}

/// The mouse.
#[derive(Default)]
struct Pointer {
    /// Where it is, in pixels, if it is in the window.
    at: Option<[f64; 2]>,
    drag: Option<Drag>,
    last_click: Option<(Instant, HitTarget)>,
    /// Whether it is where widgets may be.
    is_over_widgets: bool,
}

/// What is under a point of a panel.
#[derive(Clone, Copy, PartialEq, Debug)]
struct CellHit {
    /// The cell, counted on beyond the lattice's edges.
    cell: [i64; 2],
    /// Axes on which coordinates wrap.
    around: [bool; 2],
    /// Where the panel's top left was then.
    origin: [f64; 2],
}

/// Cells that are to be saved, as they were when that was asked for.
#[derive(Clone)]
struct PatternToSave {
    cells: Arc<Lattice>,
    rule: Rule,
    /// Whether they are a whole torus.
    torus: bool,
    generation: u64,
}

/// The editor, and what goes on for it on other threads.
#[derive(Default)]
struct Editor {
    /// Which of its documents is shown.
    code: Code,
    round: CodeEditor,
    kernel: CodeEditor,
    /// What tells of changes of their files.
    watchers: [Option<RecommendedWatcher>; 2],
    /// The round that was checked last, or is being checked, and for what.
    checked: Option<(Arc<str>, RoundContext)>,
    /// The ops that were run alone last, and how long they took.
    times: Option<(Arc<[IsolatedOp]>, OpTimes)>,
    /// Checks kernels on a machine; opened by the first check there.
    workshop: Arc<Mutex<(Option<Machine>, Option<Workshop>)>>,
    /// Gives up the check of a kernel under way.
    check: Option<Arc<AtomicBool>>,
    /// The kernel of a session's file that was asked about last.
    asked: Option<Arc<StoredKernel>>,
    /// The texts that the session has of this, to be saved with it.
    drafts: Drafts,
    /// What the session says of the round that it is to run, once it does.
    answer: Option<Receiver<Result<Arc<OwnRound>, OwnRoundError>>>,
}

/// A recording under way.
struct Recording {
    recorder: Option<Recorder>,
    path: PathBuf,
    /// Whether `--record` named it: then a file of that name is replaced, and the program ends if it cannot
    /// be written. Otherwise the name gets a number if it is taken, and a notice says what went wrong.
    named: bool,
    began: Instant,
    next: Instant,
}

/// What is to be done on the window's thread with what came of a task.
type Then = Box<dyn FnOnce(&mut Handler) + Send>;

/// See [`Then`].
fn then(does: impl FnOnce(&mut Handler) + Send + 'static) -> Then {
    Box::new(does)
}

/// Starts background work, and has what came of it.
struct Background {
    sender: Sender<Then>,
    receiver: Receiver<Then>,
    /// Tells the event loop that something has changed.
    wake: Wake,
    /// The threads whose files must be whole before the program ends.
    awaited: Vec<JoinHandle<()>>,
}
