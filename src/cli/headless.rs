//! `--display none`: the session runs without a window and prints one line of figures per second.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::Result;

use super::options::WindowArguments;
use super::text::{print, print_to_reader, say};
use engine::{ReduceRegion, Transfer};
use lang::tr;
use life::{Size, grouped};
use session::{
    PicturePlan, Recomputing, Session, SessionFile, Setup, Status, StopWhenStill, time_left,
};
use ui::EmergencySave;
use ui::numbers::{si, time_us};

/// Runs until it is stopped, or until the rounds or frames asked for are through.
pub(super) fn main(setup: Setup, file: SessionFile, window: &WindowArguments) -> Result<()> {
    let (stop, stopped) = channel();
    let emergency_save = Arc::new(EmergencySave::default());
    let request_exit = move || {
        let _ = stop.send(()); // whether it has ended already changes nothing
    };
    let _running = emergency_save.end_on_signal(request_exit, || {});
    let continuing = continuing(&file);
    let session = Session::start_from(setup, file, || {})?;
    emergency_save.set_saver(session.saver());
    continuing.iter().for_each(|line| say(line));
    let done = until_stopped(&session, &stopped, window);
    let saved = emergency_save.save_at_end(session);
    match (done, saved) {
        (Err(why), Err(unsaved)) => Err(why.context(unsaved)),
        (done, saved) => {
            saved?;
            done
        }
    }
}

/// Says that a saved session goes on; `None` for a new one.
pub(super) fn continuing(file: &SessionFile) -> Option<String> {
    let path = file.path().filter(|_| file.from.is_some())?;
    Some(tr!("continuing the session in {}", path.display()))
}

/// Prints one line of figures per second until the session is stopped or has finished.
fn until_stopped(
    session: &Session,
    stopped: &Receiver<()>,
    window: &WindowArguments,
) -> Result<()> {
    if session.status().lattices.size.words() > MAX_WORDS {
        session.request_view(whole_lattice(session.status().lattices.size));
    }
    let pictures = session.pictures();
    let mut seen = vec![0; session.status().lattices.instances];
    let mut frames = 0;
    let mut said = Instant::now();
    loop {
        // A frame here is what it is in the window: a look at the newest pictures.
        let mut news = false;
        pictures.visit_newer(&mut seen, &mut |_, _, _| news = true);
        frames += u64::from(news);
        let status = session.status();
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
        match stopped.recv_timeout(Duration::from_millis(16)) {
            Err(RecvTimeoutError::Timeout) => {}
            _ => return print(&line(&session.status())),
        }
    }
}

/// Beyond, a lattice is looked at through a small view of it, reduced on the device.
const MAX_WORDS: usize = 1 << 24;

/// All of a lattice once, in 256 pixels along its longer side.
fn whole_lattice(size: Size) -> PicturePlan {
    const PIXELS: i64 = 256;
    let sides = [size.width(), size.height()].map(|side| i64::from(side) * ReduceRegion::ONE);
    let step = sides[0].max(sides[1]) / PIXELS + 1;
    let [width, height] = sides.map(|side| (side / step + 1) as u32);
    PicturePlan {
        transfer: Transfer::View,
        region: ReduceRegion {
            x0: 0,
            y0: 0,
            step,
            width: width.next_multiple_of(4),
            height,
        },
        only: None,
    }
}

/// A rate, unless too little has been done to tell.
fn measured(per_second: f64) -> Option<f64> {
    (per_second > 0.0).then_some(per_second)
}

/// The figures in a line, without those that are not measured yet.
fn line(status: &Status) -> String {
    let rounds = measured(status.rates.rounds_per_second);
    let cells = measured(status.rates.cells_per_second);
    let figures = [
        rounds.map(|rate| format!("{} rounds/s", si(rate).trim_end())),
        cells.map(|rate| format!("{}cell/s", si(rate))),
        status
            .rates
            .launch_us
            .map(|us| format!("{} per launch", time_us(us))),
    ];
    let figures: Vec<String> = figures.into_iter().flatten().collect();
    let mut line = format!("generation {}", status.clock.generation);
    if !figures.is_empty() {
        line += &format!(": {}", figures.join(", "));
    }
    if let Some(recomputing) = &status.clock.recomputing {
        line += &format!(
            "; {}; {}",
            way_to(recomputing),
            tr!("Ctrl+C ends this and saves what is done")
        );
    } else if let Some(notice) = &status.notice {
        line += &format!("; {notice}");
    }
    line
}

/// How far a saved session is on its way back to where it stood.
pub(super) fn way_to(recomputing: &Recomputing) -> String {
    let left = recomputing.seconds_left.map(time_left);
    tr!(
        "recomputing generation {target} from the nearest saved lattices: {percent} %, {left} left",
        target = grouped(recomputing.target),
        percent = recomputing.percent,
        left = left.as_deref().unwrap_or("?")
    )
}
