//! The bare command: the window, or, where there is none to be had, a session without one.

use std::io::{self, IsTerminal};
use std::process::Command;
use std::sync::Arc;

use anyhow::Result;

use super::failure::{BadArguments, Interrupted};
use super::headless::continuing;
use super::options::{Common, Display, OnOff, WindowArguments};
use super::setup::check_gpus;
use super::text::{print, print_text, say};
use super::{headless, kernel, record};
use engine::{DeviceInfo, EngineError, cuda};
use lang::tr;
use session::{
    DeviceChoice, SavedSession, Session, SessionFile, Setup, Status, StoredKernel,
    recorded_in_words,
};
use terminal::{TerminalError, TerminalOptions};
use ui::code_editor::Code;
use ui::{Camera, Drawing, LectureOptions, Notes, ViewOptions, Wake};
use window::Recorder;
use window::{WindowError, WindowOptions};
use workshop::OwnKernel;

/// Checks that the options go together, before anything is opened.
pub(super) fn check(common: &Common, window: &WindowArguments) -> Result<()> {
    if window.display == Display::Terminal && window.record.is_some() {
        let sentence =
            "a terminal has no pictures to record; use --display window or none with --record";
        return Err(BadArguments(sentence.into()).into());
    }
    match &window.session {
        // The file sets what is stepped, and how.
        Some(path) if path.exists() => Ok(()),
        _ => common.check_session(window.pace),
    }
}

/// Shows a session, and gives a lecture if there is one.
pub(super) fn main(
    common: &Common,
    window: &WindowArguments,
    lecture: Option<LectureOptions>,
) -> Result<()> {
    check(common, window)?;
    let (setup, file) = saved_or_new(common, window)?;
    if let Some(path) = &window.record {
        Recorder::check(path)?;
    }
    if window.display != Display::None {
        platform::draw_first();
    }
    match window.display {
        Display::None => {
            if window.record.is_none() {
                say_without_window("--display none", setup.device, WITHOUT);
            }
            return without_window(setup, file, window);
        }
        Display::Terminal => return in_terminal(setup, file, window, lecture),
        Display::Auto | Display::Window => {}
    }
    let kernel = common.kernel_file.iter().map(|path| (Code::Kernel, path));
    let round = common.switches.round.iter().map(|path| (Code::Round, path));
    let code = kernel.chain(round).map(|(code, path)| (code, path.clone()));
    let options = WindowOptions {
        frames: window.frames,
        limited: window.rounds.is_some(),
        record: window.record.clone(),
        adapter: window.adapter.clone(),
        monitor: window.monitor.clone(),
        view: ViewOptions {
            presentation: window.presentation == OnOff::On,
            ..window.look.options()
        },
        lecture: lecture.clone(),
        code: code.collect(),
        kernel_process,
        announce: Some(match setup.device {
            DeviceChoice::Auto => announce_with_reason,
            _ => announce,
        }),
        ..Default::default()
    };
    match ::window::run(starter(setup.clone(), file.clone()), options) {
        Err(why @ (WindowError::NoDisplay(_) | WindowError::MissingLibraries(_)))
            if window.display == Display::Auto =>
        {
            if window.record.is_some() {
                return without_window(setup, file, window);
            }
            if takes_panels() {
                say_without_window(&why.to_string(), setup.device, IN_TERMINAL);
                return in_terminal(setup, file, window, lecture);
            }
            say_without_window(&why.to_string(), setup.device, WITHOUT);
            without_window(setup, file, window)
        }
        // The session's own errors know their exit codes; the wrapping would hide them.
        Err(WindowError::Session(error)) => Err(error),
        answer => Ok(answer?),
    }
}

/// Runs kernels of the user's own.
fn kernel_process() -> Command {
    let program = std::env::current_exe().unwrap_or_else(|_| "lifestreams".into());
    let mut command = Command::new(program);
    command.args(["kernel", "serve"]);
    command
}

/// The session of the file that is there, or a new one.
fn saved_or_new(common: &Common, window: &WindowArguments) -> Result<(Setup, SessionFile)> {
    let mut file = SessionFile::default();
    if let Some(path) = &window.session {
        // Said now, not when there is something to lose.
        file = SessionFile::reserve(path)?;
        if path.exists() {
            file.from = Some(SavedSession::load(path)?);
        }
    }
    let mut setup = match &file.from {
        Some(saved) => saved.setup.clone(),
        None => common.session_setup(window.pace)?,
    };
    if file.from.is_some() {
        // The file may have come from another machine.
        if common.device != DeviceChoice::Auto {
            setup.device = common.device;
        }
        setup.split = common.split;
        check_gpus(setup.split, setup.device)?;
    }
    setup.rounds = window.rounds;
    let is_trusted = |it: &StoredKernel| window.trust_kernel || workshop::is_trusted(&it.source);
    if let Some(stored) = setup.stored_kernel.clone().filter(|it| is_trusted(it)) {
        run_kernel(&mut setup, &stored)?;
    }
    if file.from.is_none() {
        setup.time = window.time.settings();
    }
    Ok((setup, file))
}

/// Checks a kernel from a session's file, which its user lets run; it stays text where it does not run.
fn run_kernel(setup: &mut Setup, stored: &StoredKernel) -> Result<()> {
    let StoredKernel { file, rung, .. } = stored;
    let compile = || {
        let own = OwnKernel::read(stored.source.as_bytes().to_vec());
        let own = own.map_err(|error| BadArguments(error.to_string()))?;
        kernel::compile(&own, file.clone(), setup.device)
    };
    match compile() {
        Ok(kernel) => {
            (setup.own_kernel, setup.stored_kernel) = (Some(kernel), None);
            if stored.in_use {
                setup.kernel = kernel;
            }
        }
        Err(interrupted) if interrupted.is::<Interrupted>() => return Err(interrupted),
        // The lattices are there all the same.
        Err(why) => say(&tr!(
            "{file}: its own kernel does not run here ({why}); {rung} takes its place, and the file keeps the kernel",
            rung = rung.file,
            why = format!("{why:#}")
        )),
    }
    Ok(())
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

/// What starts the session, and says so where a saved one goes on.
fn starter(
    setup: Setup,
    file: SessionFile,
) -> impl FnOnce(Wake) -> Result<Session> + Send + 'static {
    move |wake| {
        let continuing = continuing(&file);
        let session = Session::start_from(setup, file, move || wake())?;
        continuing.iter().for_each(|line| say(line));
        Ok(session)
    }
}

/// What was found and what is used, in one line.
fn announce(status: &Status, drawing: &Drawing) {
    announce_because(status, drawing, "");
}

/// The same, and why the CPU computes, if nobody asked for it.
fn announce_with_reason(status: &Status, drawing: &Drawing) {
    let why = match cuda::first_device() {
        Err(EngineError::NoCuda(why)) if status.engine.name == "cpu" => {
            format!(" [{why}]")
        }
        _ => String::new(), // the session's start has said why
    };
    announce_because(status, drawing, &why);
}

fn announce_because(status: &Status, drawing: &Drawing, why: &str) {
    let recorded = status.lab.recording.as_ref();
    let computing: Vec<String> = status
        .engine
        .devices
        .iter()
        .map(|device| format!("{} ({})", device.name, device.driver))
        .collect();
    let drawn_by = drawing
        .adapter
        .as_ref()
        .map_or("nothing".into(), |adapter| adapter.title());
    let both = drawing
        .adapter
        .as_ref()
        .is_some_and(|adapter| adapter.is_one_of(&status.engine.devices));
    let software = drawing
        .adapter
        .as_ref()
        .is_some_and(|adapter| adapter.software);
    let remark = match (software, drawing.forwarded, both) {
        (true, ..) => " in software, at most 30 frames/s",
        (_, true, _) => " over forwarded X, at most 30 frames/s",
        (.., true) => ", the same GPU: drawing distorts the timings",
        _ => "",
    };
    let computing = match recorded {
        None => format!("computing on {}{why}", computing.join(" + ")),
        Some(recording) => format!(
            "computing on the CPU, rounds {}",
            recorded_in_words(&recording.recorded)
        ),
    };
    say(&format!("{computing}; drawing with {drawn_by}{remark}"));
}

const WITHOUT: &str = "without a window; Ctrl+C stops it";
const IN_TERMINAL: &str = "shown in this terminal; Ctrl+Q quits";

/// Whether stdout is a terminal that can show panels and this process is in its foreground.
fn takes_panels() -> bool {
    terminal::takes_escape_codes(&io::stdout()) && terminal::is_foreground()
}

/// Runs without a window: records off-screen if a recording was requested, else prints figures.
fn without_window(setup: Setup, file: SessionFile, window: &WindowArguments) -> Result<()> {
    unanswered(&setup).iter().for_each(|it| say_unanswered(it));
    match &window.record {
        Some(path) => record::main(setup, file, window, path),
        None => headless::main(setup, file, window),
    }
}

fn in_terminal(
    mut setup: Setup,
    file: SessionFile,
    window: &WindowArguments,
    lecture: Option<LectureOptions>,
) -> Result<()> {
    if !io::stdout().is_terminal() {
        let sentence =
            "--display terminal needs a terminal on stdout; use --display none where there is none";
        return Err(BadArguments(sentence.into()).into());
    }
    if !terminal::takes_escape_codes(&io::stdout()) {
        let why = tr!("this terminal takes no escape codes (TERM=dumb)");
        say_without_window(why, setup.device, WITHOUT);
        return without_window(setup, file, window);
    }
    if let Some(stored) = unanswered(&setup) {
        if !io::stdin().is_terminal() {
            say_unanswered(&stored);
        } else if ask(&stored)? {
            run_kernel(&mut setup, &stored)?;
        }
    }
    // The terminal is the screen: only a file takes notes.
    let lecture = lecture.map(|lecture| LectureOptions {
        notes: match lecture.notes {
            Notes::Stdout => Notes::Nowhere,
            elsewhere => elsewhere,
        },
        ..lecture
    });
    let options = TerminalOptions {
        lecture,
        frames: window.frames,
        limited: window.rounds.is_some(),
        glyphs: window.glyphs,
        view: ViewOptions {
            // A dot is half a character: far larger than a window's pixel.
            camera: Camera::opening(1.0),
            ..window.look.options()
        },
    };
    match terminal::run(starter(setup, file), options) {
        Err(TerminalError::Session(error)) => Err(error),
        answer => Ok(answer?),
    }
}

fn say_without_window(why: &str, device: DeviceChoice, how: &str) {
    let names = |devices: &[DeviceInfo]| {
        let names: Vec<&str> = devices.iter().map(|device| device.name.as_str()).collect();
        names.join(" + ")
    };
    let computing = match (device, cuda::list_devices()) {
        (DeviceChoice::Cpu | DeviceChoice::Recorded, _) => "on the CPU".into(),
        (DeviceChoice::Auto, _) => match cuda::first_device() {
            Ok(device) => format!("on {}", device.name),
            Err(EngineError::NoCuda(why)) => format!("on the CPU [{why}]"),
            Err(_) => "on the CPU".into(), // the session's start says why
        },
        (DeviceChoice::Cuda, Ok(devices)) => format!("on {}", names(&devices)),
        (DeviceChoice::CudaOrdinal(i), Ok(devices)) if (i as usize) < devices.len() => {
            format!("on {}", devices[i as usize].name)
        }
        _ => return, // the session's start says why not
    };
    say(&format!("{why}. Computing {computing}, {how}"));
}
