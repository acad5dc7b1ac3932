//! One torus on several GPUs beside one GPU: the same torus (strong scaling), and as large a part of a
//! larger one on each (weak scaling).

use std::time::Duration;

use anyhow::{Result, ensure};

use super::default::rate;
use super::{RUNS, Table, fits, spread};
use engine::cuda::list_devices;
use engine::{EngineError, Feature, Measure};
use life::Size;
use session::fastest::{RUN_ROUND, Requested};
use session::instances::{Sim, open_engine};
use session::trace::TimedRound;
use session::{DeviceChoice, Setting, Setup, Split, Streams, Switches};

/// Sides of the squares that one GPU and all of them step.
const STRONG: [u64; 6] = [8192, 16_384, 32_768, 65_536, 131_072, 262_144];

/// Sides of the squares whose cells each GPU has as its part: what one GPU steps alone.
const WEAK: [u64; 3] = [16_384, 32_768, 65_536];

/// Generations after which one GPU and all of them must have the same cells.
const CHECKED: u64 = 200;

/// How long a run takes.
const RUN: Duration = Duration::from_millis(400);

/// One way of stepping a torus.
struct Measured {
    /// Cells times generations per second in each run.
    rates: [f64; RUNS],
    /// After [`CHECKED`] generations.
    measure: Measure,
    /// The share of a round's time in which a GPU only exchanges halos.
    in_exchange: Option<f64>,
}

pub(super) fn table(small: bool) -> Result<Table> {
    let gpus = list_devices()?.len() as u64;
    if gpus < 2 {
        return Err(EngineError::no_second_device(Feature::Bands).into());
    }
    let title = "one torus on all GPUs, and on one";
    let mut table = Table::new("split", title);
    let strong = STRONG.map(|side| (format!("{side}²"), [side; 2], [side; 2]));
    let weak = WEAK.map(|side| {
        let all = side * gpus;
        (format!("{side}² a GPU"), [side; 2], [side, all])
    });
    let works = strong.into_iter().chain(weak);
    for (what, one, all) in works.take(if small { 1 } else { usize::MAX }) {
        let alone = setup(DeviceChoice::CudaOrdinal(0), one)?;
        if !fits(&alone)? {
            continue;
        }
        let is_strong = one == all;
        let (alone, together) = (measure(&alone)?, measure(&setup(DeviceChoice::Cuda, all)?)?);
        ensure!(
            !is_strong || alone.measure == together.measure,
            "{what}: other cells on several GPUs"
        );
        table.add(format!("{what}: one GPU"), "cells/s", &alone.rates);
        table.add(format!("{what}: all GPUs"), "cells/s", &together.rates);
        let [before, after] = [&alone, &together].map(|it| spread(&it.rates)[0]);
        table.add(format!("{what}: factor"), "times", &[after / before]);
        if let Some(share) = together.in_exchange {
            table.add(format!("{what}: share in exchange"), "%", &[100.0 * share]);
        }
    }
    Ok(table)
}

fn setup(device: DeviceChoice, [width, height]: [u64; 2]) -> Result<Setup> {
    Ok(Setup {
        size: Size::new(width, height)?,
        split: Split::On,
        switches: Switches {
            streams: Streams::One,
            ..Switches::DEFAULT
        },
        ..super::setup("bits", 1, width, device)?
    })
}

fn measure(setup: &Setup) -> Result<Measured> {
    let mut instances = Sim::new(open_engine(setup.device)?, setup, 0)?;
    let mut entered = setup.clone();
    let plan = instances.start_fastest(&mut entered, &Requested::NOTHING, None, None)?;
    let share = instances.all(&Setting::of(&entered), None);
    let mut rounds = plan.rounds(RUN_ROUND);
    let mut go_on = |_| std::ops::ControlFlow::Continue(());
    instances.run_rounds(&share, CHECKED, &mut rounds, false, &mut go_on)?;
    instances.results()?; // brings the bits up to date
    let measure = instances.measure_bits()?[0];
    rate(&mut instances, &share, &mut rounds, RUN)?; // until clocks and caches are as they stay
    let mut rates = [0.0; RUNS];
    for one in &mut rates {
        *one = rate(&mut instances, &share, &mut rounds, RUN)?;
    }
    let mut shares = Vec::new();
    let mut traced = |round: TimedRound| shares.extend(round.exchange_share());
    instances.run(&share, 1500, 300, Some(&mut traced))?;
    Ok(Measured {
        rates,
        measure,
        in_exchange: (!shares.is_empty()).then(|| spread(&shares)[0]),
    })
}
