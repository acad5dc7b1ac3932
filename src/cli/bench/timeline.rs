//! The cost of measuring: rounds without spans, with the spans that the timeline shows, and with
//! block timestamps; and the cost of an open timeline per frame.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::{RUN, RUNS, Table, setup, with_pictures};
use experiment::{Blocks, ERROR, Estimate};
use session::instances::Sim;
use session::{DeviceChoice, Request, Sampling, Session, Share};
use ui::ViewOptions;
use window::list_adapters;
use window::offscreen::Renderer;

/// Blocks in which every way is measured once.
const BLOCKS: usize = 8;

/// Which rounds are timed, and whether some of them record block timestamps.
#[derive(Clone, Copy)]
enum Timed {
    None,
    /// As in the window.
    Some {
        block_timestamps: bool,
    },
    All,
}

pub(super) fn table(device: DeviceChoice, adapter: Option<&str>) -> Result<Table> {
    let setup = setup("bits", 16, 1024, device)?;
    let (mut sim, share) = with_pictures(&setup)?;
    let ways = [
        ("no round timed", Timed::None),
        (
            "one round in M timed",
            Timed::Some {
                block_timestamps: false,
            },
        ),
        (
            "half of those with block timestamps",
            Timed::Some {
                block_timestamps: true,
            },
        ),
        ("every round timed", Timed::All),
    ];
    let mut one_in = 0;
    let mut blocks = Blocks::new(ways.len(), 1);
    while blocks.count() < BLOCKS {
        let timed = ways[blocks.next_subject()].1;
        let (ms, m) = round_ms(&mut sim, &share, timed)?;
        blocks.record(ms);
        if let Timed::Some {
            block_timestamps: false,
        } = timed
        {
            one_in = m;
        }
    }
    let title = format!(
        "What timing costs, two rounds in flight, 16 × 1024², `bits`; one round in M = {one_in} is \
         timed by events"
    );
    let mut table = Table::new("timeline", &title);
    for (way, (what, _)) in ways.iter().enumerate().skip(1) {
        let found = Estimate::of(&blocks.log_ratios(way, 0), ERROR).expect("enough blocks");
        let percent = |ratio: f64| 100.0 * (ratio - 1.0);
        let (cost, interval) = (percent(found.ratio), found.interval.map(percent));
        let what = format!("{what}, a round takes longer by");
        table.add_interval(what, "%", cost, interval, blocks.count());
    }
    drop(sim);
    if !list_adapters().is_empty() {
        let [closed, open] = drawn(&setup, adapter)?;
        let costs = closed.rounds.iter().zip(&open.rounds);
        let costs: Vec<f64> = costs
            .map(|(closed, open)| 100.0 * (closed / open - 1.0))
            .collect();
        table.add("drawn at 1920×1080", "rounds/s", &closed.rounds);
        table.add("drawn with the timeline open", "rounds/s", &open.rounds);
        table.add(
            "drawn with the timeline open, a round takes longer by",
            "%",
            &costs,
        );
        // Whether the host or the GPU that draws is what frames wait for.
        for (what, drawn) in [("closed", &closed), ("open", &open)] {
            let of = |figure: &str| format!("timeline {what}, {figure}");
            table.add(of("frames"), "frames/s", &drawn.frames);
            table.add(
                of("CPU time of the interface per frame"),
                "ms",
                &drawn.interface_ms,
            );
            table.add(
                of("CPU time of uploads and draw calls per frame"),
                "ms",
                &drawn.calls_ms,
            );
            table.add(
                of("waiting for the drawing GPU per frame"),
                "ms",
                &drawn.waiting_ms,
            );
            table.add(of("rounds at 60 frames/s"), "rounds/s", &drawn.paced);
        }
    }
    Ok(table)
}

/// The time of a round in milliseconds, as the mean over some time, and of how many one was timed.
fn round_ms(sim: &mut Sim, share: &Share, timed: Timed) -> Result<(f64, u32)> {
    let block_timestamps = matches!(
        timed,
        Timed::Some {
            block_timestamps: true
        }
    );
    let mut sampling = Sampling::default();
    let (mut rounds, began) = (0u32, Instant::now());
    while began.elapsed() < 2 * RUN {
        let now = match timed {
            Timed::None => false,
            Timed::Some { .. } => sampling.wants(Instant::now(), false, false),
            Timed::All => true,
        };
        let request = Request {
            timed: now,
            block_timestamps,
            ..Request::of(1)
        };
        if sim.issue(share, request, |_| false)? {
            sampling.issued(Instant::now(), now);
            rounds += 1;
        }
        sim.poll(|_| {})?;
        if sim.depth() > 1 {
            sim.wait(Duration::from_millis(1));
        }
    }
    sim.finish()?;
    let ms = began.elapsed().as_secs_f64() * 1e3 / f64::from(rounds);
    Ok((ms, sampling.one_in()))
}

/// What an unthrottled session that is drawn comes to, one figure a run.
#[derive(Default)]
struct DrawnRates {
    /// Rounds per second, with as many frames as there can be.
    rounds: Vec<f64>,
    /// Frames per second in that run.
    frames: Vec<f64>,
    /// Processor time of layout, egui and tessellation, a frame.
    interface_ms: Vec<f64>,
    /// The rest of a frame's calls: pictures handed over, commands recorded and submitted.
    calls_ms: Vec<f64>,
    /// How long a frame waited for the GPU that draws.
    waiting_ms: Vec<f64>,
    /// Rounds per second, with 60 frames per second as in a window.
    paced: Vec<f64>,
}

impl DrawnRates {
    /// A run of as many frames as there can be.
    fn run(
        &mut self,
        renderer: &mut Renderer,
        session: &Session,
        options: &ViewOptions,
    ) -> Result<()> {
        let (before, began) = (session.status().rates.rounds, Instant::now());
        let (mut frames, mut interface, mut waiting) = (0u32, Duration::ZERO, Duration::ZERO);
        while began.elapsed() < 2 * RUN {
            renderer.frame(&session.status(), session, options)?;
            frames += 1;
            interface += renderer.spent();
            waiting += renderer.waited();
        }
        let took = began.elapsed();
        let a_frame = |time: Duration| time.as_secs_f64() * 1e3 / f64::from(frames);
        let rounds = session.status().rates.rounds - before;
        self.rounds.push(rounds as f64 / took.as_secs_f64());
        self.frames.push(f64::from(frames) / took.as_secs_f64());
        self.interface_ms.push(a_frame(interface));
        self.waiting_ms.push(a_frame(waiting));
        self.calls_ms
            .push(a_frame(took.saturating_sub(interface + waiting)));
        Ok(())
    }

    /// A run of 60 frames per second.
    fn paced_run(
        &mut self,
        renderer: &mut Renderer,
        session: &Session,
        options: &ViewOptions,
    ) -> Result<()> {
        let (before, began) = (session.status().rates.rounds, Instant::now());
        for frame in 0..(2 * RUN).as_millis() as u32 * 60 / 1000 {
            let due = began + Duration::from_secs(1) * frame / 60;
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            renderer.frame(&session.status(), session, options)?;
        }
        let rounds = session.status().rates.rounds - before;
        self.paced
            .push(rounds as f64 / began.elapsed().as_secs_f64());
        Ok(())
    }
}

/// An unthrottled session that is being drawn: with the timeline closed, and open, in turns.
fn drawn(setup: &session::Setup, adapter: Option<&str>) -> Result<[DrawnRates; 2]> {
    let mut renderer = Renderer::new(adapter, [1920, 1080], 1.0)?;
    let session = Session::start(setup.clone(), || {})?;
    let mut all = [DrawnRates::default(), DrawnRates::default()];
    for turn in 0..=RUNS {
        for (timeline, drawn) in [false, true].into_iter().zip(&mut all) {
            let options = ViewOptions {
                timeline,
                ..Default::default()
            };
            session.watch_overlap(timeline);
            session.request_view(renderer.request(&session.status(), &options));
            // A round is run op by op once when the timeline opens.
            let settled = Instant::now();
            while settled.elapsed() < RUN {
                renderer.frame(&session.status(), &session, &options)?;
            }
            // The first turn is the warm-up.
            let mut warm_up = DrawnRates::default();
            let drawn = if turn == 0 { &mut warm_up } else { drawn };
            drawn.run(&mut renderer, &session, &options)?;
            drawn.paced_run(&mut renderer, &session, &options)?;
        }
    }
    Ok(all)
}
