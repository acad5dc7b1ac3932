//! `lifestreams snapshot`: the window's picture, rendered off-screen.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use super::options::{Shown, SnapshotArguments};
use super::text::{refuse, say};
use lesson::Lesson;
use session::{
    AbComparison, DeviceChoice, Session, SessionAction, Setup, Source, Status, timestamps_of_own,
};
use ui::{LessonPage, Lessons, SidePanel, ViewOptions};
use window::offscreen::Renderer;
use window::picture_file::write_png;

/// How long a picture or a round may take before it is given up.
const TIMEOUT: Duration = Duration::from_secs(600);

pub(super) fn main(arguments: &SnapshotArguments) -> Result<()> {
    let rounds = arguments.paused.then_some(arguments.rounds);
    let setup = Setup {
        rounds,
        ..arguments.common.setup()?
    };
    let shows = |what: Shown| arguments.show.contains(&what);
    let sides = [
        (Shown::Lab, SidePanel::Lab),
        (Shown::Population, SidePanel::Population),
        (Shown::Ladder, SidePanel::Ladder),
        (Shown::Causes, SidePanel::Causes),
    ];
    let mut sides = sides.into_iter().filter(|(it, _)| shows(*it));
    let side = sides.next().map(|(_, panel)| panel);
    if sides.next().is_some() {
        return refuse("--show takes one of lab, ladder, population and causes");
    }
    if let (true, Some(why)) = (shows(Shown::Blocks), no_block_timestamps(&setup)) {
        return refuse(why);
    }
    let (width, height) = arguments.window_size;
    let mut renderer = Renderer::new(
        arguments.adapter.as_deref(),
        [width, height],
        arguments.scale as f32,
    )?;
    let session = Session::start(setup, || {})?;
    session.status().notice.iter().for_each(|it| say(it));
    if let Some(lesson) = arguments.lesson {
        let page = measure_lesson(&session, lesson);
        let lessons = &mut renderer.app.lessons;
        page.into_iter().for_each(|page| lessons.show_page(page));
    }
    let with_timeline = [Shown::Timeline, Shown::Blocks, Shown::Causes];
    let has_timeline = with_timeline.into_iter().any(shows);
    renderer.app.options = ViewOptions {
        single: shows(Shown::Single),
        timeline: has_timeline,
        side,
        ..arguments.look.options()
    };
    if shows(Shown::Keys) {
        renderer.open_help();
    }
    if shows(Shown::Blocks) {
        let status = session.status();
        if !status.engine.is_cpu() && !status.setting.kernel.block_timestamps {
            return refuse(timestamps_of_own());
        }
        session.act(SessionAction::ToggleBlockTimestamps);
    }
    if shows(Shown::Comparison) {
        session.act(SessionAction::ToggleComparison);
    }
    session.watch_overlap(has_timeline);
    session.watch_population(shows(Shown::Population));
    renderer.app.session = Some(session);
    arguments.zoom.into_iter().for_each(|it| renderer.zoom(it));
    draw_until(&mut renderer, &mut |renderer, status| {
        let finished = status.clock.finished;
        let through = finished || (rounds.is_none() && status.rates.rounds >= arguments.rounds);
        let is_recorded = status.lab.recording.is_none() || status.rates.round_us.is_some();
        let times = has_timeline && is_recorded;
        let compared = |comparison: &AbComparison| {
            let is_timed = comparison.round_us.iter().all(Option::is_some);
            let is_recorded = matches!(comparison.source, Source::RecordedOn(_));
            let is_found = comparison.finding.is_some() || is_recorded || (finished && is_timed);
            is_found && comparison.differing.is_some()
        };
        let round = renderer.app.timeline.chart.as_ref();
        // What a picture waits for, whether it is there, and the error if the session stops before. It may
        // stop before ladder and overlap are known.
        let awaited = [
            (
                times,
                round.is_some(),
                Some("none of these rounds was timed; --show timeline takes --rounds 2 or more"),
            ),
            (
                shows(Shown::Population),
                renderer.app.population.has_samples(),
                Some("too few rounds were measured; --show population takes some more --rounds"),
            ),
            (
                shows(Shown::Blocks),
                status.lab.block_timestamps && round.is_some_and(|it| !it.sms.is_empty()),
                Some(
                    "no round with block timestamps was completed; use --show blocks without --paused",
                ),
            ),
            (
                shows(Shown::Comparison),
                status.lab.comparison.as_ref().is_some_and(compared),
                Some("no settings were compared; use --show comparison without --paused"),
            ),
            (shows(Shown::Ladder), status.rates.stepping.is_some(), None),
            (
                times && !shows(Shown::Comparison),
                status.lab.isolated.is_some(),
                None,
            ),
        ];
        let mut lacking = awaited
            .into_iter()
            .filter(|(is_wanted, has, _)| *is_wanted && !has);
        let is_complete = if finished {
            if let Some(why) = lacking.find_map(|(.., why)| why) {
                return refuse(why);
            }
            true
        } else {
            lacking.next().is_none()
        };
        if through
            && arguments.look.colour_by.is_some()
            && let Some(why) = renderer.colour_mode_unavailable()
        {
            return refuse(why);
        }
        Ok(through && is_complete && renderer.missing() == 0)
    })?;
    // Once more with the last pictures and the last figures.
    renderer.frame()?;
    Ok(write_png(&renderer.read()?, &arguments.output)?)
}

/// Draws frames of the session's newest pictures until that `is_enough`.
///
/// # Errors
/// The session gives up, the GPU fails, or that takes too long.
pub(super) fn draw_until(
    renderer: &mut Renderer,
    is_enough: &mut dyn FnMut(&Renderer, &Status) -> Result<bool>,
) -> Result<()> {
    let began = Instant::now();
    loop {
        renderer.frame()?;
        if let Some(status) = &renderer.app.status {
            if let Some(why) = status.gives_up() {
                bail!("{why}");
            }
            if is_enough(renderer, status)? {
                return Ok(());
            }
        }
        if began.elapsed() > TIMEOUT {
            bail!(
                "no picture after {} s; use fewer --rounds or a smaller --size",
                TIMEOUT.as_secs()
            );
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Why no round of a setup has block timestamps.
fn no_block_timestamps(setup: &Setup) -> Option<&'static str> {
    if setup.device == DeviceChoice::Recorded {
        Some("recorded rounds have no block timestamps; leave blocks out of --show")
    } else if setup.setting.switches.graphs {
        Some("rounds in graphs have no block timestamps; use --graphs off")
    } else {
        None
    }
}

/// The last step of a lesson, once all of it has been measured.
fn measure_lesson(session: &Session, lesson: &'static Lesson) -> Option<Box<LessonPage>> {
    let mut lessons = Lessons::new(Arc::new(|| {}));
    lessons.open(session, lesson);
    loop {
        lessons.turn_page(session, true);
        lessons.update();
        match lessons.screen() {
            Some(page) if page.number < page.of || page.progress.is_some() => {
                std::thread::sleep(Duration::from_millis(5));
            }
            screen => {
                let last = screen.cloned().map(Box::new);
                lessons.close(session);
                return last;
            }
        }
    }
}
