//! How fast kernels step, with nothing else to do.

use std::num::NonZero;

use anyhow::Result;

use super::{Table, fits, open_instances, rate, setup};
use engine::EngineError;
use engine::kernels::{Iteration, KERNELS};
use life::Size;
use model::{DeviceChoice, Setup, Streams, Switches};
use session::instances::open_engine;

/// Generations of one graph, or of one launch that iterates in the kernel.
const LONG_ROUND: u32 = 50;

/// Generations of one launch of resident lattices.
const LIFETIME: u32 = 10_000;

pub(super) fn table(device: DeviceChoice) -> Result<Table> {
    let mut table = Table::new("step", "Stepping alone");
    let gpu = super::named(device)?.0 == "cuda";
    let devices = open_engine(device)?.devices().to_vec();
    for kernel in &KERNELS {
        let per_round = match kernel.iteration {
            Iteration::Launches => 1,
            Iteration::Steps(most) => most,
            Iteration::InKernel => LONG_ROUND,
        };
        // The largest that it takes, within limits.
        let sides = [512, 256, 128];
        let takes = |side: &u64| {
            Size::new(*side, *side).is_ok_and(|size| {
                let mut devices = devices.iter();
                kernel.validate_size(size).is_ok()
                    && devices.all(|of| kernel.validate_device(of, size).is_ok())
            })
        };
        let side = sides
            .into_iter()
            .find(takes)
            .expect("every kernel takes 128x128");
        let setup = setup(kernel.name, 16, side, device)?;
        let what = match kernel.iteration {
            Iteration::Launches => "1 generation per launch".into(),
            Iteration::Steps(_) | Iteration::InKernel => {
                format!("{per_round} generations per launch")
            }
        };
        add(
            &mut table,
            format!("`{}`, 16 × {side}², {what}", kernel.name),
            &setup,
            per_round,
            None,
        )?;
    }
    if gpu {
        on_a_gpu(&mut table, device)?;
    } else {
        for kernel in ["bits", "planar", "multistep"] {
            let one = setup(kernel, 1, 2048, device)?;
            let per_round = match one.kernel.iteration {
                Iteration::Steps(most) => most,
                Iteration::Launches | Iteration::InKernel => 1,
            };
            let what = format!("`{kernel}`, 1 × 2048², one thread");
            let threads = Some(NonZero::<usize>::MIN);
            add(&mut table, what, &one, per_round, threads)?;
        }
    }
    Ok(table)
}

/// What only a GPU is large enough for: many launches as a graph, one large lattice, and as many
/// resident ones as fill it.
fn on_a_gpu(table: &mut Table, device: DeviceChoice) -> Result<()> {
    let graphs = Switches {
        graphs: true,
        ..Switches::DEFAULT
    };
    let eager = setup("bits", 16, 1024, device)?;
    let what = "`bits`, 16 × 1024², 1 generation per launch";
    add(table, what.into(), &eager, 1, None)?;
    for kernel in ["bits", "planar", "multistep"] {
        for (instances, side) in [(16, 1024), (1, 16_384), (1, 65_536)] {
            let setup = Setup {
                switches: graphs,
                ..setup(kernel, instances, side, device)?
            };
            if !fits(&setup)? {
                continue;
            }
            let what =
                format!("`{kernel}`, {instances} × {side}², graphs of {LONG_ROUND} generations");
            add(table, what, &setup, LONG_ROUND, None)?;
        }
    }
    let each = Setup {
        switches: graphs,
        ..setup("cooperative", 16, 1024, device)?
    };
    let mut devices = open_engine(device)?.devices().to_vec().into_iter();
    if devices.all(|of| each.kernel.validate_device(&of, each.size).is_ok()) {
        let what =
            format!("`cooperative`, 16 × 1024², a stream each, graphs of {LIFETIME} generations");
        add(table, what, &each, LIFETIME, None)?;
    }
    for (instances, side) in [(1056, 128), (1584, 256)] {
        let setup = Setup {
            switches: Switches {
                streams: Streams::Batch,
                ..Switches::DEFAULT
            },
            ..setup("resident", instances, side, device)?
        };
        let what = format!(
            "`resident`, {instances} × {side}², one launch of {LIFETIME} generations for all"
        );
        add(table, what, &setup, LIFETIME, None)?;
    }
    Ok(())
}

fn add(
    table: &mut Table,
    what: String,
    setup: &Setup,
    per_round: u32,
    threads: Option<NonZero<usize>>,
) -> Result<()> {
    let mut instances = open_instances(setup, threads)?;
    let runs = rate(|rounds| {
        instances
            .run(rounds * u64::from(per_round), per_round, None)
            .map(|_| ())
            .map_err(EngineError::into)
    })?;
    let cells = setup.size.cells() as f64 * setup.instances as f64 * f64::from(per_round);
    table.add(what, "cells/s", &runs.map(|rounds| rounds * cells));
    Ok(())
}
