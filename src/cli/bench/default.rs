//! Compares a run with no switches with the best of all other combinations of switches.
//!
//! Without switches the [plan](session::fastest) decides, as it does for `lifestreams run`. The best
//! other is searched for independently: every kernel with every way of submitting it is timed for a
//! short while, and the fastest but the plan's own is then measured as long as the plan is. Rounds are
//! as long as `run` makes them. `lifestreams verify` compares cells with the reference.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::ValueEnum as _;

use super::measure::{Table, Tell, fits, setup, spread};
use crate::cli::text::say;
use engine::kernels::Iteration;
use life::Size;
use session::fastest::{RUN_ROUND, Requested, RoundLength};
use session::instances::{Event, Sim, open_engine};
use session::{DeviceChoice, Setting, Setup, Share, Streams, Switches};

/// Runs of each measurement.
const RUNS: usize = 3;

/// The most cells of all lattices on a CPU.
const MAX_CELLS_ON_CPU: u64 = 1 << 28;

/// Lattices to step: how many, their width, height and rule.
type Work = (usize, u64, u64, &'static str);

const LIFE: &str = "B3/S23";

/// Few large lattices, many small ones, sizes that fill whole words and sizes that do not.
const WORKS: [Work; 21] = [
    (1, 65_536, 65_536, LIFE),
    (1, 65_536, 65_536, "B36/S23"),
    (1, 16_384, 16_384, LIFE),
    (1, 5000, 3000, LIFE),
    (1, 1000, 1000, LIFE),
    (4, 4096, 4096, LIFE),
    (16, 2048, 2048, LIFE),
    (16, 1024, 1024, LIFE),
    (16, 1000, 1000, LIFE),
    (16, 1000, 600, LIFE),
    (16, 128, 128, LIFE),
    (16, 100, 1000, LIFE),
    (64, 512, 512, LIFE),
    (64, 1000, 600, LIFE),
    (100, 500, 500, LIFE),
    (100, 100, 100, LIFE),
    (256, 256, 256, LIFE),
    (256, 2048, 2048, LIFE),
    (1000, 100, 100, LIFE),
    (1056, 128, 128, LIFE),
    (1584, 256, 256, LIFE),
];

/// Small work that shows within seconds that everything works.
const SMALL: [Work; 2] = [(1, 1000, 600, LIFE), (5, 64, 64, LIFE)];

pub(super) fn table(device: DeviceChoice, small: bool, tell: Tell) -> Result<Table> {
    let title = "a run with no switches, and the best of all other combinations of switches";
    let mut table = Table::new("default", title);
    let works: &[Work] = if small { &SMALL } else { &WORKS };
    let run = Duration::from_millis(if small { 50 } else { 500 });
    let on_cpu = open_engine(device)?.name() == "cpu";
    for &work in works {
        let (setup, what) = setup_of(work, device)?;
        let is_too_large = on_cpu && setup.size.cells() * setup.instances as u64 > MAX_CELLS_ON_CPU;
        if is_too_large || !fits(&setup)? {
            continue;
        }
        // A failure is not the end: what comes behind may yet be measured.
        let [own, best] = match measure(&setup, run) {
            Ok(measured) => measured,
            Err(error) => {
                say(&format!("left out: {what}: {error:#}"));
                continue;
            }
        };
        let medians = [&own, &best].map(|it| spread(&it.rates)[0]);
        let share = 100.0 * medians[0] / medians[1];
        let names = format!("{} / {}", own.named(), best.named());
        tell(&format!("default: {what}, {names}: {share:.1} %"))?;
        let mut add = |end: &str, unit, runs: &[f64]| {
            table.add(format!("{what}, {names}: {end}"), unit, runs);
        };
        add("no switches", "cells/s", &own.rates);
        add("best other switches", "cells/s", &best.rates);
        add("share of that", "%", &[share]);
    }
    Ok(table)
}

/// The setup of some work, and its title.
fn setup_of(
    (instances, width, height, rule): Work,
    device: DeviceChoice,
) -> Result<(Setup, String)> {
    let setup = Setup {
        size: Size::new(width, height)?,
        rule: rule.parse()?,
        ..setup("bits", instances, width, device)?
    };
    let size = if width == height {
        format!("{width}²")
    } else {
        format!("{width} × {height}")
    };
    let title = match rule {
        LIFE => format!("{instances} × {size}"),
        rule => format!("{instances} × {size}, {rule}"),
    };
    let switches = Switches {
        streams: Streams::One,
        ..Switches::DEFAULT
    };
    Ok((setup.with_switches(switches), title))
}

/// A kernel and its submission, and cells·generations per second in each run.
struct Measured {
    setting: Setting,
    rates: [f64; RUNS],
}

impl Measured {
    fn named(&self) -> String {
        let Switches {
            streams, graphs, ..
        } = self.setting.switches;
        let graphs = if graphs { " graphs" } else { "" };
        format!("`{} {streams}{graphs}`", self.setting.kernel.name)
    }
}

/// The run with no switches, and the best other.
fn measure(setup: &Setup, run: Duration) -> Result<[Measured; 2]> {
    let mut instances = Sim::new(open_engine(setup.device)?, setup, 1)?;
    let own = measure_plan(&mut instances, setup, &Requested::NOTHING, run)?;
    let fastest = best_other(&own.setting, &mut instances, setup, run)?;
    let requested = Requested {
        kernel: Some(fastest.kernel),
        streams: Some(fastest.switches.streams),
        graphs: Some(fastest.switches.graphs),
        ..Requested::NOTHING
    };
    let best = measure_plan(&mut instances, setup, &requested, run)?;
    Ok([own, best])
}

/// Enters the plan for a request, and measures.
fn measure_plan(
    instances: &mut Sim,
    setup: &Setup,
    requested: &Requested,
    run: Duration,
) -> Result<Measured> {
    let mut entered = setup.clone();
    let plan = instances.start_fastest(&mut entered, requested, None, None)?;
    let share = instances.all(&entered.setting, None);
    let mut rounds = plan.rounds(RUN_ROUND);
    rate(instances, &share, &mut rounds, run / 4)?; // until clocks and caches are as they stay
    let mut rates = [0.0; RUNS];
    for one in &mut rates {
        *one = rate(instances, &share, &mut rounds, run)?;
    }
    Ok(Measured {
        setting: plan.setting,
        rates,
    })
}

/// Cells·generations per second in rounds for this long.
fn rate(
    instances: &mut Sim,
    share: &Share,
    rounds: &mut RoundLength,
    time: Duration,
) -> Result<f64> {
    let cells = instances.size.cells() as f64 * instances.instances() as f64;
    let began = Instant::now();
    let done = instances.run_rounds(share, u64::MAX, rounds, false, &mut |event| match event {
        Event::Round { .. } if began.elapsed() >= time => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    })?;
    Ok(done as f64 * cells / began.elapsed().as_secs_f64())
}

/// The fastest of every kernel with every way of submitting it, but `own`. The lattices are stepped
/// meanwhile.
fn best_other(own: &Setting, instances: &mut Sim, setup: &Setup, run: Duration) -> Result<Setting> {
    let mut timed: Vec<(f64, Setting)> = Vec::new();
    // The CPU makes the same calls with graphs.
    let graphs: &[bool] = match instances.engine().name() {
        "cpu" => &[false],
        _ => &[false, true],
    };
    let every_way = Streams::value_variants()
        .iter()
        .flat_map(|&streams| graphs.iter().map(move |&graphs| (streams, graphs)));
    for (streams, graphs) in every_way {
        let requested = Requested {
            streams: Some(streams),
            graphs: Some(graphs),
            ..Requested::NOTHING
        };
        for plan in instances.plans(&requested) {
            if is_alike(&plan.setting, own, setup.instances) {
                continue;
            }
            // What cannot be here after all leaves the lattices without cells.
            let share = instances.all(&plan.setting, None);
            let ensured = instances.ensure(std::slice::from_ref(&share));
            if let Err(error) = ensured.and_then(|_| instances.enter(&share)) {
                let error = lang::english(error);
                tracing::warn!("{:?} is not timed: {error}", plan.setting);
                instances.start_fastest(&mut setup.clone(), &Requested::NOTHING, None, None)?;
                continue;
            }
            let mut rounds = plan.rounds(RUN_ROUND / 10);
            rate(instances, &share, &mut rounds, run / 50)?; // until rounds have their length
            let rate = rate(instances, &share, &mut rounds, run / 25)?;
            timed.push((rate, plan.setting));
        }
    }
    let fastest = timed.into_iter().max_by(|a, b| a.0.total_cmp(&b.0));
    let (_, setting) = fastest.context("no other kernel or submission fits")?;
    Ok(setting)
}

/// Whether both make the same calls: one launch is the same with and without a graph, and one
/// instance in its stream is so however streams are shared.
fn is_alike(a: &Setting, b: &Setting, instances: usize) -> bool {
    let is_one_launch = a.kernel.iteration == Iteration::InKernel;
    a.kernel == b.kernel
        && (a.switches.graphs == b.switches.graphs || is_one_launch)
        && (a.switches.streams == b.switches.streams || instances == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_figures_come_of_every_work() {
        let table = table(DeviceChoice::Cpu, true, &|_| Ok(())).unwrap();
        assert_eq!(table.rows.len(), 3 * SMALL.len());
        for rows in table.rows.chunks(3) {
            let [own, best, share] = rows else {
                panic!("three rows a work")
            };
            assert!(own.what.ends_with(": no switches"), "{own:?}");
            assert!(best.what.ends_with(": best other switches"), "{best:?}");
            assert!(own.median > 1e6 && best.median > 1e6, "{own:?} {best:?}");
            let percent = 100.0 * own.median / best.median;
            assert!((share.median - percent).abs() < 0.1, "{share:?}");
        }
    }
}
