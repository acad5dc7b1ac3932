//! What it costs to know: rounds without spans, with the spans that the timeline is drawn from,
//! and with stamps; and an open timeline's share of the frames.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::{RUN, RUNS, Table, open_instances, setup};
use model::PicturePlan;
use model::{Action, DeviceChoice};
use session::instances::Instances;
use session::{Sampling, Session};
use view::offscreen::Renderer;
use view::{ViewOptions, list_adapters};

/// Which rounds are timed, and whether some of them are stamped.
#[derive(Clone, Copy)]
enum Timed {
    None,
    /// As in the window.
    Some {
        stamped: bool,
    },
    All,
}

pub(super) fn table(device: DeviceChoice, adapter: Option<&str>) -> Result<Table> {
    let setup = setup("bits", 16, 1024, device)?;
    let mut instances = open_instances(&setup, None)?;
    instances.set_picture(Some(PicturePlan::BITS))?;
    let ways = [
        ("no spans", Timed::None),
        ("spans of one round in M", Timed::Some { stamped: false }),
        ("and half of those stamped", Timed::Some { stamped: true }),
        ("spans of every round", Timed::All),
    ];
    let mut one_in = 0;
    // In turns, so that whatever else happens on this machine happens to all of them.
    let mut rates = ways.map(|_| Vec::new());
    for turn in 0..=RUNS {
        for ((_, timed), rates) in ways.iter().zip(&mut rates) {
            let (rate, m) = rounds_per_second(&mut instances, *timed)?;
            if let Timed::Some { stamped: false } = timed {
                one_in = m;
            }
            if turn > 0 {
                rates.push(rate); // the first was the warm-up
            }
        }
    }
    let title = format!("rounds of 16 × 1024², `bits`; one in M = {one_in} timed by events");
    let mut table = Table::new("timeline", &title);
    for ((what, _), rates) in ways.iter().zip(&rates) {
        table.add(format!("rounds, {what}"), "rounds/s", rates);
    }
    let cost = |of: usize| -> Vec<f64> {
        let pairs = rates[0].iter().zip(&rates[of]);
        pairs
            .map(|(without, with)| 100.0 * (1.0 - with / without))
            .collect()
    };
    table.add("cost of spans of one round in M", "%", &cost(1));
    table.add("cost of stamps besides", "%", &cost(2));
    drop(instances);
    if !list_adapters().is_empty() {
        let [closed, open] = drawn(&setup, adapter)?;
        table.add("rounds while drawn at 1920×1080", "rounds/s", &closed);
        table.add("the same with the timeline open", "rounds/s", &open);
        let costs: Vec<f64> = closed
            .iter()
            .zip(&open)
            .map(|(closed, open)| 100.0 * (1.0 - open / closed))
            .collect();
        table.add("cost of the open timeline", "%", &costs);
    }
    Ok(table)
}

/// Rounds a second for some time, and of how many one was timed.
fn rounds_per_second(instances: &mut Instances, timed: Timed) -> Result<(f64, u32)> {
    instances.set_stamped(matches!(timed, Timed::Some { stamped: true }));
    let mut sampling = Sampling::default();
    let (mut rounds, began) = (0u32, Instant::now());
    while began.elapsed() < 2 * RUN {
        let now = match timed {
            Timed::None => false,
            Timed::Some { .. } => sampling.wants(Instant::now(), false, false),
            Timed::All => true,
        };
        if instances.issue_round(1, now, |_| false)? {
            sampling.issued(Instant::now(), now);
            rounds += 1;
        }
        instances.poll(|_| {})?;
        if instances.depth() > 1 {
            instances.wait(Duration::from_millis(1));
        }
    }
    instances.finish()?;
    let rate = f64::from(rounds) / began.elapsed().as_secs_f64();
    Ok((rate, sampling.one_in()))
}

/// Rounds a second of an unthrottled session that is being drawn: with the timeline closed, and
/// open, in turns.
fn drawn(setup: &model::Setup, adapter: Option<&str>) -> Result<[Vec<f64>; 2]> {
    let mut renderer = Renderer::new(adapter, [1920, 1080], 1.0)?;
    let session = Session::start(setup.clone(), || {})?;
    let mut rates = [Vec::new(), Vec::new()];
    for turn in 0..=RUNS {
        for (timeline, rates) in [false, true].into_iter().zip(&mut rates) {
            let options = ViewOptions {
                timeline,
                ..Default::default()
            };
            session.act(Action::WatchOverlap(timeline));
            session.request_view(renderer.request(&session.status(), &options));
            // A round is run op by op once when the timeline opens.
            let settled = Instant::now();
            while settled.elapsed() < RUN {
                renderer.frame(&session.status(), &session, &options)?;
            }
            let (before, began) = (session.status().rounds, Instant::now());
            while began.elapsed() < 2 * RUN {
                renderer.frame(&session.status(), &session, &options)?;
            }
            let rounds = session.status().rounds - before;
            if turn > 0 {
                rates.push(rounds as f64 / began.elapsed().as_secs_f64());
            }
        }
    }
    Ok(rates)
}
