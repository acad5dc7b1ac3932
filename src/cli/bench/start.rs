//! The time from the start of the program to the first frame, with the defaults.

use std::time::Instant;

use anyhow::Result;

use super::{Table, setup};
use crate::cli::setup::DEFAULT_SIDE;
use session::{DeviceChoice, Pace, Session, Setup};
use ui::ViewOptions;
use window::list_adapters;
use window::offscreen::Renderer;

/// Starts, each in a process that has used the driver before: what the driver spends the first
/// time is a row of its own.
const STARTS: usize = 3;

pub(super) fn table(device: DeviceChoice, adapter: Option<&str>) -> Result<Table> {
    let mut table = Table::new(
        "start",
        &format!("From start to the first frame, 16 × {DEFAULT_SIDE}², `sync-global`"),
    );
    let setup = Setup {
        pace: Pace::PerSecond(60.0),
        ..setup("sync-global", 16, DEFAULT_SIDE, device)?
    };
    let (mut ours, mut driver, mut modules) = (Vec::new(), Vec::new(), Vec::new());
    let drawing = !list_adapters().is_empty();
    for _ in 0..STARTS {
        let began = Instant::now();
        let session = Session::start(setup.clone(), || {})?;
        let drawn = if !drawing {
            let mut seen = vec![0; setup.instances];
            while seen.contains(&0) {
                session.pictures().visit_newer(&mut seen, &mut |_, _, _| {});
            }
            began.elapsed()
        } else {
            let mut renderer = Renderer::new(adapter, [1280, 800], 1.0)?;
            let options = ViewOptions::default();
            session.request_view(renderer.request(&session.status(), &options));
            while renderer.missing(&session.status(), &options) > 0 {
                renderer.frame(&session.status(), &session, &options)?;
            }
            renderer.read()?;
            began.elapsed()
        };
        let startup = session.status().engine.startup;
        driver.push(startup.driver_ms);
        modules.push(startup.modules_ms);
        ours.push(drawn.as_secs_f64() * 1e3);
    }
    let first = if drawing {
        "first frame, off-screen"
    } else {
        "first pictures, not drawn"
    };
    table.add(first, "ms", &ours);
    table.add("of that, starting the driver", "ms", &driver);
    table.add("of that, the driver compiling PTX", "ms", &modules);
    Ok(table)
}
