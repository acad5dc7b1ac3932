//! `lifestreams snapshot`: the window's picture, rendered off-screen.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use super::failure::BadArguments;
use super::options::SnapshotArguments;
use super::text::say;
use session::{
    AbComparison, DeviceChoice, Session, SessionAction, Setup, Source, timestamps_of_own,
};
use ui::{LessonScreen, Lessons, SidePanel, ViewOptions};
use window::offscreen::Renderer;

/// How long rounds may take before the picture is given up.
const TIMEOUT: Duration = Duration::from_secs(600);

pub(super) fn main(arguments: &SnapshotArguments) -> Result<()> {
    let rounds = arguments.paused.then_some(arguments.rounds);
    let setup = Setup {
        rounds,
        ..arguments.common.setup()?
    };
    if let (true, Some(why)) = (arguments.blocks, no_block_timestamps(&setup)) {
        bail!(BadArguments(why.into()));
    }
    let (width, height) = arguments.window_size;
    let mut renderer = Renderer::new(
        arguments.adapter.as_deref(),
        [width, height],
        arguments.scale,
    )?;
    let session = &Session::start(setup, || {})?;
    session.status().notice.iter().for_each(|it| say(it));
    if let Some(index) = arguments.lesson {
        renderer.contents.lesson = measure_lesson(session, index);
    }
    let mut options = ViewOptions {
        single: arguments.single,
        timeline: arguments.timeline || arguments.blocks || arguments.causes,
        side: arguments.side_panel(),
        ..arguments.look.options()
    };
    renderer.open_help(arguments.help_shown);
    if arguments.blocks {
        let status = session.status();
        if !status.engine.is_cpu() && !status.setting.kernel.block_timestamps {
            bail!(BadArguments(timestamps_of_own().into()));
        }
        session.act(SessionAction::ToggleBlockTimestamps);
    }
    if arguments.comparison {
        session.act(SessionAction::ToggleComparison);
    }
    session.watch_overlap(options.timeline);
    session.watch_population(options.side == Some(SidePanel::Population));
    let status = session.status();
    if let Some(times) = arguments.zoom {
        renderer.zoom(&status, &mut options, times);
    }
    session.request_view(renderer.request(&status, &options));
    let began = Instant::now();
    loop {
        let status = session.status();
        if let Some(why) = status.gives_up() {
            bail!("{why}");
        }
        renderer.frame(&status, session, &options)?;
        let through =
            status.clock.finished || (rounds.is_none() && status.rates.rounds >= arguments.rounds);
        if options.timeline && status.clock.finished && !renderer.contents.timeline.has_round() {
            let sentence = "none of these rounds was timed; --timeline takes --rounds 2 or more";
            bail!(BadArguments(sentence.into()));
        }
        let watched = options.side != Some(SidePanel::Population)
            || renderer.contents.population.has_samples();
        if status.clock.finished && !watched {
            let sentence = "too few rounds were measured; --population takes some more --rounds";
            bail!(BadArguments(sentence.into()));
        }
        let recording = status.lab.recording.as_ref();
        let can_be_timed = recording.is_none_or(|it| it.has_setting);
        let timed = !options.timeline || !can_be_timed || renderer.contents.timeline.has_round();
        let block_timestamps = !arguments.blocks
            || (status.lab.block_timestamps && renderer.contents.timeline.has_block_timestamps());
        let compared = |comparison: &AbComparison| {
            let is_timed = comparison.round_us.iter().all(Option::is_some);
            let is_recorded = matches!(comparison.source, Source::RecordedOn(_));
            let is_found =
                comparison.finding.is_some() || is_recorded || (status.clock.finished && is_timed);
            is_found && comparison.differing.is_some()
        };
        let climbed = !arguments.ladder || status.clock.finished || status.rates.stepping.is_some();
        let halved = !arguments.comparison || status.lab.comparison.as_ref().is_some_and(compared);
        // A session that stops by itself may stop before the overlap is known.
        let measured = !options.timeline
            || !can_be_timed
            || arguments.comparison
            || status.clock.finished
            || status.lab.isolated.is_some();
        if let (true, Some(what)) = (status.clock.finished, lacking(block_timestamps, halved)) {
            bail!(BadArguments(what.into()));
        }
        let requested = arguments.look.colour_by.is_some();
        if through
            && requested
            && let Some(why) = renderer.colour_mode_unavailable(&status, &options)
        {
            bail!(BadArguments(why));
        }
        if through
            && timed
            && watched
            && block_timestamps
            && halved
            && climbed
            && measured
            && renderer.missing(&status, &options) == 0
        {
            break;
        }
        if began.elapsed() > TIMEOUT {
            bail!(
                "no picture after {} s; use fewer --rounds or a smaller --size",
                TIMEOUT.as_secs()
            );
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    // Once more with the last pictures and the last figures.
    renderer.frame(&session.status(), session, &options)?;
    Ok(renderer.write_png(&arguments.output)?)
}

/// Why no round of a setup has block timestamps.
fn no_block_timestamps(setup: &Setup) -> Option<&'static str> {
    if setup.device == DeviceChoice::Recorded {
        Some("recorded rounds have no block timestamps; leave --blocks out")
    } else if setup.switches.graphs {
        Some("rounds in graphs have no block timestamps; use --graphs off")
    } else {
        None
    }
}

/// The last step of a lesson, once all of it has been measured.
fn measure_lesson(session: &Session, index: usize) -> Option<LessonScreen> {
    let mut lessons = Lessons::new(Arc::new(|| {}));
    lessons.open(session, index);
    loop {
        lessons.next_page(session);
        match lessons.screen() {
            Some(LessonScreen::Page(page)) if page.number < page.of || page.progress.is_some() => {
                std::thread::sleep(Duration::from_millis(5));
            }
            screen => {
                let last = screen.cloned();
                lessons.close(session);
                return last;
            }
        }
    }
}

/// The error if the session paused before it had what was requested.
fn lacking(block_timestamps: bool, halved: bool) -> Option<&'static str> {
    match (block_timestamps, halved) {
        (false, _) => {
            Some("no round with block timestamps was completed; use --blocks without --paused")
        }
        (_, false) => Some("no settings were compared; use --comparison without --paused"),
        _ => None,
    }
}
