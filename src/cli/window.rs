//! The bare command: the window, or, where there is none to be had, a session without one, which prints a
//! line of figures per second.

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;

use super::devices::titles;
use super::kernel::itself;
use super::options::{Common, Display, WindowArguments};
use super::setup::{run_kernel, saved_or_new};
use super::text::{print, print_text, print_to_reader, refuse, say};
use engine::{EngineError, cuda};
use lang::tr;
use life::grouped;
use session::{
    DeviceChoice, Session, SessionFile, Setup, Status, StopWhenStill, StoredKernel,
    recorded_in_words, time_left,
};
use terminal::TerminalError;
use ui::code_editor::Code;
use ui::numbers::{si, time_us};
use ui::{
    AppOptions, Camera, Drawing, EmergencySave, Lecture, LectureOptions, Notes, ViewOptions, Wake,
};
use window::{Recorder, WindowError, WindowOptions};

/// Shows a session, and gives a lecture if there is one; others can be begun.
pub(super) fn main(
    common: &Common,
    window: &WindowArguments,
    lecture: Option<LectureOptions>,
    lectures: Vec<Lecture>,
) -> Result<()> {
    let has_window = matches!(window.display, Display::Auto | Display::Window);
    if window.record.is_some() && !has_window {
        return refuse(
            "only the window has pictures to record; use --display window with --record",
        );
    }
    let (setup, file) = saved_or_new(common, window)?;
    if let Some(path) = &window.record {
        Recorder::check(path)?;
    }
    if window.display != Display::None {
        platform::draw_first();
    }
    let shown = AppOptions {
        view: ViewOptions {
            presentation: window.presentation || lecture.is_some(),
            ..window.look.options()
        },
        lecture,
        lectures,
        frames: window.frames,
        limited: window.rounds.is_some(),
    };
    match window.display {
        Display::None => return without_window(setup, file, window, "--display none"),
        Display::Terminal => return in_terminal(setup, file, window, shown, None),
        Display::Auto | Display::Window => {}
    }
    let device = setup.device;
    let kernel = common.kernel_file.iter().map(|path| (Code::Kernel, path));
    let round = common.switches.round.iter().map(|path| (Code::Round, path));
    let code = kernel.chain(round).map(|(code, path)| (code, path.clone()));
    let options = WindowOptions {
        record: window.record.clone(),
        adapter: window.adapter.clone(),
        monitor: window.monitor.clone(),
        code: code.collect(),
        kernel_process: || itself(&["kernel", "serve"]),
        announce: Some(Box::new(move |status, drawing| {
            announce(status, drawing, device)
        })),
    };
    let (new, saved) = (setup.clone(), file.clone());
    match ::window::run(
        move |wake| start(new, saved, wake, None),
        shown.clone(),
        options,
    ) {
        Err(why @ (WindowError::NoDisplay(_) | WindowError::MissingLibraries(_)))
            if window.display == Display::Auto && window.record.is_none() =>
        {
            let why = why.to_string();
            // Where stdout is a terminal that shows panels, and this process in its foreground.
            let takes_panels =
                terminal::takes_escape_codes(&io::stdout()) && terminal::is_foreground();
            if takes_panels {
                return in_terminal(setup, file, window, shown, Some(&why));
            }
            without_window(setup, file, window, &why)
        }
        // The session's own errors know their exit codes; the wrapping would hide them.
        Err(WindowError::Session(error)) => Err(error),
        answer => Ok(answer?),
    }
}

/// The kernel in a session's file that is to step the lattices once its user lets it.
fn unanswered(setup: &Setup) -> Option<Arc<StoredKernel>> {
    let stored = setup.stored_kernel.clone().filter(|it| it.in_use);
    stored.filter(|it| !workshop::is_trusted(&it.source))
}

/// Says that the kernel in a session's file does not run, as nobody can be asked.
fn say_unanswered(StoredKernel { file, rung, .. }: &StoredKernel) {
    say(&tr!(
        "{file}: its own kernel is code that was not run here before, so {rung} takes its place; read it, then use --trust-kernel",
        rung = rung.file
    ));
}

/// Asks in the terminal whether the kernel in a session's file may run.
fn ask(stored: &StoredKernel) -> Result<bool> {
    let StoredKernel { file, rung, .. } = stored;
    print_text(&stored.source)?;
    print(&tr!(
        "{file} has this kernel ({lines} lines). It is code and would run with your rights; it was not run here before.",
        lines = stored.source.lines().count()
    ))?;
    print(&tr!(
        "Type yes and Enter to run it; with anything else {rung} takes its place:",
        rung = rung.file
    ))?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(answer.trim().eq_ignore_ascii_case("yes"))
}

/// Starts the session, and says so where a saved one goes on; and in place of a window why there is none,
/// what computes, and how it ends.
fn start(
    setup: Setup,
    file: SessionFile,
    wake: Wake,
    without: Option<[&str; 2]>,
) -> Result<Session> {
    let saved = file.path().filter(|_| file.from.is_some());
    let continuing = saved.map(|path| tr!("continuing the session in {}", path.display()));
    let device = setup.device;
    let session = Session::start_from(setup, file, move || wake())?;
    if let Some([why, how]) = without {
        let computing = computing(&session.status(), device);
        say(&tr!("{why}. Computing on {computing}, {how}"));
    }
    continuing.iter().for_each(|line| say(line));
    Ok(session)
}

/// What computes; and why it is the CPU, if nobody asked for it.
fn computing(status: &Status, asked: DeviceChoice) -> String {
    if let Some(recording) = &status.lab.recording {
        let recorded = recorded_in_words(&recording.recorded);
        return tr!("the CPU, rounds {recorded}");
    }
    let is_instead = asked == DeviceChoice::Auto && status.engine.is_cpu();
    let why = match is_instead.then(cuda::first_device) {
        Some(Err(EngineError::NoCuda(why))) => format!(" [{why}]"),
        _ => String::new(), // the session's start has said why
    };
    format!("{}{why}", titles(&status.engine.devices))
}

/// What was found and what is used, in one line.
fn announce(status: &Status, drawing: &Drawing, asked: DeviceChoice) {
    let computing = computing(status, asked);
    let adapter = drawing.adapter.as_ref();
    let drawn_by = adapter.map_or(tr!("nothing").into(), |adapter| adapter.title());
    let remark = match adapter {
        Some(adapter) if adapter.software => tr!(" in software, at most 30 frames/s"),
        _ if drawing.forwarded => tr!(" over forwarded X, at most 30 frames/s"),
        Some(adapter) if adapter.is_one_of(&status.engine.devices) => {
            tr!(", the same GPU: drawing distorts the timings")
        }
        _ => "",
    };
    say(&tr!(
        "computing on {computing}; drawing with {drawn_by}{remark}"
    ));
}

/// Runs without a window, and prints figures, until it is stopped, or until the rounds or frames asked for are
/// through.
fn without_window(
    setup: Setup,
    file: SessionFile,
    window: &WindowArguments,
    why: &str,
) -> Result<()> {
    unanswered(&setup).iter().for_each(|it| say_unanswered(it));
    let told = Arc::new(AtomicBool::new(false));
    let quits = || told.load(Ordering::Acquire);
    let tell = Arc::clone(&told);
    let emergency_save = Arc::new(EmergencySave::default());
    let request_exit = move || tell.store(true, Ordering::Release);
    let _running = emergency_save.end_on_signal(request_exit, || {});
    let without = [why, tr!("without a window; Ctrl+C stops it")];
    let session = start(setup, file, Arc::new(|| {}), Some(without))?;
    emergency_save.set_saver(session.saver());
    let done = print_figures(&session, window, &quits);
    // However it ended, the session is kept.
    match (done, emergency_save.save_at_end(session)) {
        (Err(why), Err(unsaved)) => Err(why.context(unsaved)),
        (done, saved) => done.and(saved.map_err(Into::into)),
    }
}

fn in_terminal(
    mut setup: Setup,
    file: SessionFile,
    window: &WindowArguments,
    mut shown: AppOptions,
    why: Option<&str>,
) -> Result<()> {
    if !io::stdout().is_terminal() {
        return refuse(
            "--display terminal needs a terminal on stdout; use --display none where there is none",
        );
    }
    if !terminal::takes_escape_codes(&io::stdout()) {
        let why = tr!("this terminal takes no escape codes (TERM=dumb)");
        return without_window(setup, file, window, why);
    }
    if let Some(stored) = unanswered(&setup) {
        if !io::stdin().is_terminal() {
            say_unanswered(&stored);
        } else if ask(&stored)? {
            run_kernel(&mut setup, &stored)?;
        }
    }
    // The terminal is the screen: only a file takes notes.
    if let Some(lecture) = &mut shown.lecture
        && lecture.notes == Notes::Stdout
    {
        lecture.notes = Notes::Nowhere;
    }
    // A dot is half a character: far larger than a window's pixel.
    shown.view.camera = Camera::opening(1.0);
    shown.view.presentation = false;
    let without = why.map(|why| [why, tr!("shown in this terminal; Ctrl+Q quits")]);
    match terminal::run(
        move |wake| start(setup, file, wake, without),
        shown,
        window.glyphs,
    ) {
        Err(TerminalError::Session(error)) => Err(error),
        answer => Ok(answer?),
    }
}

/// Prints one line of figures per second until the session is stopped or has finished.
fn print_figures(
    session: &Session,
    window: &WindowArguments,
    quits: &dyn Fn() -> bool,
) -> Result<()> {
    let (mut rounds, mut frames) = (0, 0);
    let mut said = Instant::now();
    loop {
        // A frame here is what it is in the window: a look at what is new.
        let status = session.status();
        frames += u64::from(status.rates.rounds > rounds);
        rounds = status.rates.rounds;
        // Nobody is there to have it go on.
        let stops = status.setting.time.stop_when_still != StopWhenStill::Never;
        let stopped_itself = stops && !status.clock.running && status.gives_up().is_none();
        let through = status.clock.finished
            || stopped_itself
            || window.frames.is_some_and(|limit| frames >= limit);
        if let Some(why) = status.gives_up().filter(|_| !through) {
            anyhow::bail!("{why}");
        }
        if through || said.elapsed() >= Duration::from_secs(1) {
            said = Instant::now();
            if !print_to_reader(&line(&status))? {
                return Ok(()); // nobody would ever see it again
            }
        }
        if through {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(16));
        if quits() {
            return print(&line(&session.status()));
        }
    }
}

/// The figures of a session as one line; those without a measurement are left out.
fn line(status: &Status) -> String {
    let rates = &status.rates;
    let [rounds, cells] = [rates.rounds_per_second, rates.cells_per_second].map(si);
    let is_known = rates.rounds_per_second > 0.0;
    let figures = [
        is_known.then(|| format!("{} rounds/s", rounds.trim_end())),
        is_known.then(|| format!("{cells}cell/s")),
        rates
            .launch_us
            .map(|us| format!("{} per launch", time_us(us))),
    ];
    let figures: Vec<String> = figures.into_iter().flatten().collect();
    let mut line = format!("generation {}", status.clock.generation);
    if !figures.is_empty() {
        line += &format!(": {}", figures.join(", "));
    }
    if let Some(recomputing) = &status.clock.recomputing {
        let left = recomputing.seconds_left.map(time_left);
        let way = tr!(
            "recomputing generation {target} from the nearest saved lattices: {percent} %, {left} left",
            target = grouped(recomputing.target),
            percent = recomputing.percent,
            left = left.as_deref().unwrap_or("?")
        );
        line += &format!(
            "; {way}; {}",
            tr!("Ctrl+C ends this and saves what is done")
        );
    } else if let Some(notice) = &status.notice {
        line += &format!("; {notice}");
    }
    line
}
