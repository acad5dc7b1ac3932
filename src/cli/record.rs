//! A recording without a display: the window's frames, rendered off-screen, a round each.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use super::failure::BadArguments;
use super::headless::{continuing, way_to};
use super::options::WindowArguments;
use super::text::say;
use session::{Session, SessionAction, SessionFile, Setup, Status};
use ui::{EmergencySave, ViewOptions};
use window::Recorder;
use window::offscreen::Renderer;

/// The window's usual size.
const PIXELS: [u32; 2] = [1280, 800];

/// How long each picture stands.
const LASTS: Duration = Duration::from_millis(40);

/// How long a round may take before the recording is given up.
const TIMEOUT: Duration = Duration::from_secs(600);

/// Records the requested number of frames, a round apart, from the start on.
pub(super) fn main(
    mut setup: Setup,
    file: SessionFile,
    window: &WindowArguments,
    path: &Path,
) -> Result<()> {
    let limits = [window.frames, window.rounds];
    let Some(frames) = limits.into_iter().flatten().min() else {
        let sentence = "--record without a window needs --frames N, so that it ends";
        return Err(BadArguments(sentence.into()).into());
    };
    // Rounds are made one by one, so that none is missed and the same command records the same.
    setup.rounds = Some(0);
    let mut renderer = Renderer::new(window.adapter.as_deref(), PIXELS, 1.0)?;
    let quit_requested = Arc::new(AtomicBool::new(false));
    let quit_flag = quit_requested.clone();
    let emergency_save = Arc::new(EmergencySave::default());
    let request_exit = move || quit_flag.store(true, Ordering::Release);
    let _running = emergency_save.end_on_signal(request_exit, || {});
    let continuing = continuing(&file);
    let saved_at = file.from.as_ref().map(|it| it.timeline.position.generation);
    let session = Session::start_from(setup, file, || {})?;
    emergency_save.set_saver(session.saver());
    continuing.iter().for_each(|line| say(line));
    let mut recorder = Recorder::begin(path, PIXELS)?;
    emergency_save.add_recording(Box::new(recorder.finisher()));
    let options = window.look.options();
    let done = record(
        &session,
        &mut recorder,
        &mut renderer,
        &options,
        frames,
        saved_at.unwrap_or(0),
        &quit_requested,
    );
    // However it ended, the session and the recording so far are kept; the session first, because
    // a recording's disk may be stuck.
    let saved = emergency_save.save_at_end(session);
    let recorded = recorder.end()().map(|recorded| {
        if let Some(video) = recorded.video {
            say(&video);
        }
    });
    match (done.and(recorded.map_err(Into::into)), saved) {
        (Err(why), Err(unsaved)) => Err(why.context(unsaved)),
        (done, saved) => done.and(saved.map_err(Into::into)),
    }
}

/// Takes this many frames, or fewer if a signal comes first, once the session has reached the
/// generation that it was saved at.
fn record(
    session: &Session,
    recorder: &mut Recorder,
    renderer: &mut Renderer,
    options: &ViewOptions,
    frames: u64,
    saved_at: u64,
    quit_requested: &AtomicBool,
) -> Result<()> {
    let quits = || quit_requested.load(Ordering::Acquire);
    session.request_view(renderer.request(&session.status(), options));
    let mut said = Instant::now();
    for frame in 0..frames {
        // A round that is asked for on the way to where the session stood would wait for its end, and
        // saving the session would wait for the round.
        let has_arrived = |status: &Status| {
            status.clock.recomputing.is_none() && status.clock.generation >= saved_at
        };
        wait_until(session, || quits() || has_arrived(&session.status()))?;
        if frame > 0 {
            let before = session.status().rates.rounds;
            session.act(SessionAction::StepRound);
            wait_until(session, || {
                quits() || session.status().rates.rounds > before
            })?;
        }
        let status = session.status();
        let began = Instant::now();
        loop {
            if quits() {
                say(&format!(
                    "{} of {frames}, ended by a signal",
                    recorder.progress()
                ));
                return Ok(());
            }
            renderer.frame(&status, session, options)?;
            if renderer.missing(&status, options) == 0 {
                break;
            }
            if let Some(why) = session.status().gives_up() {
                bail!("{why}");
            }
            if began.elapsed() > TIMEOUT {
                bail!("no picture after {} s", TIMEOUT.as_secs());
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        if !recorder.give(renderer.read()?, LASTS * frame as u32, quits) && !quits() {
            break; // its end says why
        }
        if said.elapsed() > Duration::from_secs(5) {
            said = Instant::now();
            say(&format!("{} of {frames}", recorder.progress()));
        }
    }
    Ok(())
}

/// Refuses a saved session that takes longer to get to where it stood than is waited for.
fn check_way(status: &Status) -> Result<(), BadArguments> {
    let limit = TIMEOUT.as_secs_f64();
    let too_long = status
        .clock
        .recomputing
        .filter(|it| it.seconds_left > Some(limit));
    match &too_long {
        Some(recomputing) => Err(BadArguments(format!(
            "{}, and a recording waits for {limit} s; continue the session without --record first",
            way_to(recomputing)
        ))),
        None => Ok(()),
    }
}

fn wait_until(session: &Session, there: impl Fn() -> bool) -> Result<()> {
    let began = Instant::now();
    while !there() {
        let status = session.status();
        if let Some(why) = status.gives_up() {
            bail!("{why}");
        }
        check_way(&status)?;
        if began.elapsed() > TIMEOUT {
            bail!("no round in {} s; use a smaller --size", TIMEOUT.as_secs());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}
