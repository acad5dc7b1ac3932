//! The interface's own processor time for a frame whose figures have changed: the screen's data,
//! layout, egui and tessellation; what uploads and draws is left out, so that a GPU in software does
//! not count. (A frame with the figures of the one before is drawn from what was laid out then.)

use std::time::Instant;

use anyhow::{Result, bail};

use super::{RUN, RUNS, Table, setup};
use session::{DeviceChoice, Pace, Session, Setup, Status};
use ui::ViewOptions;
use window::offscreen::Renderer;

pub(super) fn table(device: DeviceChoice, adapter: Option<&str>) -> Result<Table> {
    let mut table = Table::new(
        "ui",
        "CPU time of the interface per frame whose figures changed",
    );
    for instances in [16, 256] {
        // Lattices of little work: the engine is not what is measured.
        let setup = Setup {
            pace: Pace::PerSecond(60.0),
            ..setup("bits", instances, 64, device)?
        };
        let session = Session::start(setup, || {})?;
        for (what, options, palette) in [
            ("figures", ViewOptions::default(), false),
            ("figures and command palette", ViewOptions::default(), true),
            ("figures, timeline and lab", everything(), false),
        ] {
            session.watch_overlap(options.timeline);
            let mut renderer = Renderer::new(adapter, [1920, 1080], 1.0)?;
            renderer.open_palette(palette);
            let times = milliseconds(&mut renderer, &session, &options)?;
            table.add(format!("{instances} panels, {what}"), "ms", &times);
        }
    }
    Ok(table)
}

fn everything() -> ViewOptions {
    ViewOptions {
        timeline: true,
        side: Some(ui::SidePanel::Lab),
        ..Default::default()
    }
}

/// The median of each of some runs, after one that warms up.
fn milliseconds(
    renderer: &mut Renderer,
    session: &Session,
    options: &ViewOptions,
) -> Result<Vec<f64>> {
    session.request_view(renderer.request(&session.status(), options));
    let mut medians = Vec::new();
    for run in 0..=RUNS {
        let (began, mut times) = (Instant::now(), Vec::new());
        while began.elapsed() < RUN || times.len() < 5 {
            let status = session.status();
            if let Some(why) = status.gives_up() {
                bail!("{why}");
            }
            let mut status = Status::clone(&status);
            status.clock.generation = times.len() as u64;
            renderer.frame(&status, session, options)?;
            times.push(renderer.spent().as_secs_f64() * 1e3);
            // A GPU in software draws on the same cores: it is through before the next frame.
            renderer.finish()?;
        }
        times.sort_by(f64::total_cmp);
        if run > 0 {
            medians.push(times[times.len() / 2]);
        }
    }
    Ok(medians)
}
