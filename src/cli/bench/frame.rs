//! Whole rounds (every instance steps and downloads in its own stream), what streams, order and batches do to
//! them, and whole frames (the newest pictures uploaded and drawn besides).

use std::time::{Duration, Instant};

use anyhow::Result;

use super::measure::{RUN, RUNS, Table, compare, fits, setup, with_pictures};
use crate::cli::options::DEFAULT_SIDE;
use crate::cli::snapshot::draw_until;
use crate::cli::text::say;
use experiment::{Limits, Plan};
use session::{DeviceChoice, Order, PictureSource, Session, Setup, Streams, Switches};
use window::list_adapters;
use window::offscreen::Renderer;

/// Hands each table to `add` once it is measured.
pub(super) fn tables(
    device: DeviceChoice,
    adapter: Option<&str>,
    add: &mut dyn FnMut(Table) -> Result<()>,
) -> Result<()> {
    let apart = apart(&lesson::limits());
    let mut times = Table::new(
        "frame",
        &format!("Time per round, one round in flight, {apart}"),
    );
    // Where the kernels last as long as the host's calls, and where they last longer.
    for side in [512, DEFAULT_SIDE] {
        streams(&mut times, side, device)?;
    }
    add(times)?;
    if list_adapters().is_empty() {
        say("what is drawn is left out: there is no graphics driver (see `lifestreams devices`)");
        return Ok(());
    }
    let mut drawn = Table::new("frame", "Frames per second");
    for (instances, side) in [(16, 1024), (16, 4096), (1, 65_536)] {
        let setup = setup("bits", instances, side, device)?;
        if fits(&setup)? {
            let frames = frames_per_second(&setup, adapter)?;
            let what = format!("{instances} × {side}², `bits`, drawn at 1920×1080");
            drawn.add(what, "frames/s", &frames);
        }
    }
    add(drawn)
}

/// In how many windows settings are compared, and how far apart.
pub(super) fn apart(limits: &Limits) -> String {
    let (windows, seconds) = (limits.windows, limits.apart.as_secs_f64());
    format!("compared in {windows} windows {seconds} s apart")
}

/// The times of rounds with one in flight, and the gain from streams.
fn streams(table: &mut Table, side: u64, device: DeviceChoice) -> Result<()> {
    let setup = setup("sync-global", 16, side, device)?;
    let (mut sim, share) = with_pictures(&setup)?;
    let switches = setup.setting.switches;
    let one = Switches {
        streams: Streams::One,
        ..switches
    };
    let depth = Switches {
        order: Order::Depth,
        ..switches
    };
    let batch = Switches {
        streams: Streams::Batch,
        ..switches
    };
    let defaults = format!("16 × {side}², `sync-global`");
    for (how, changed) in [
        ("one stream for all", one),
        ("a stream each, depth-first", depth),
        ("as one batch", batch),
    ] {
        let changed_to = (setup.setting.kernel, changed);
        let plan = Plan::Windows(lesson::limits());
        let executor = compare(&mut sim, &share.setting, changed_to, plan)?;
        if changed == one {
            table.add_time(format!("{defaults}, a stream each"), &executor, 0);
            table.add_factor(format!("{defaults}, the factor of streams"), &executor);
        }
        table.add_time(format!("{defaults}, {how}"), &executor, 1);
    }
    Ok(())
}

/// Frames per second, each with a newer picture in every panel, drawn off-screen at 1920×1080; the session runs unthrottled on its own thread, as in the window.
fn frames_per_second(setup: &Setup, adapter: Option<&str>) -> Result<Vec<f64>> {
    let mut renderer = Renderer::new(adapter, [1920, 1080], 1.0)?;
    renderer.app.session = Some(Session::start(setup.clone(), || {})?);
    // Large lattices take seconds to be made: what counts is a session that runs.
    draw_until(
        &mut renderer,
        &mut |renderer, _| Ok(renderer.missing() == 0),
    )?;
    let mut seen = vec![0; setup.instances];
    let mut run = |least: Duration| -> Result<f64> {
        let began = Instant::now();
        let (mut whole, mut newer) = (0u64, 0);
        while began.elapsed() < least {
            renderer.frame()?;
            let session = renderer.app.session.iter();
            session.for_each(|it| it.visit_newer(&mut seen, &mut |_, _, _| newer += 1));
            // A frame counts once a picture of every instance is newer: a status, which says how many
            // rounds there were, is published far more seldom than these.
            if newer >= setup.instances {
                newer -= setup.instances;
                whole += 1;
            }
        }
        Ok(whole as f64 / began.elapsed().as_secs_f64())
    };
    run(RUN)?; // warm-up
    (0..RUNS).map(|_| run(4 * RUN)).collect()
}
