//! How fast kernels step, with nothing else to do.

use std::num::NonZero;

use anyhow::Result;

use super::{Table, rate, setup, worlds};
use crate::engine::EngineError;
use crate::engine::kernels::{Iteration, KERNELS};
use crate::session::{DeviceChoice, Setup, Switches};

/// Generations of one graph, or of one launch that iterates in the kernel.
const LONG_ROUND: u32 = 50;

pub(super) fn table(device: DeviceChoice) -> Result<Table> {
    let mut table = Table::new("step", "stepping alone, cells·generations a second");
    let gpu = super::named(device)?.0 == "cuda";
    for kernel in &KERNELS {
        let per_round = match kernel.iteration {
            Iteration::Launches => 1,
            Iteration::InKernel => LONG_ROUND,
        };
        let side = if kernel.most_cells.is_some_and(|most| most < 512 * 512) {
            128
        } else {
            512
        };
        let setup = setup(kernel.name, 16, side, device)?;
        let what = match kernel.iteration {
            Iteration::Launches => "one generation a launch",
            Iteration::InKernel => "50 generations a launch",
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
        let eager = setup("bits", 16, 1024, device)?;
        add(
            &mut table,
            "`bits`, 16 × 1024², one generation a launch".into(),
            &eager,
            1,
            None,
        )?;
        let graphs = Switches {
            graphs: true,
            ..Switches::DEFAULT
        };
        let many = Setup {
            switches: graphs,
            ..eager
        };
        let what = "`bits`, 16 × 1024², graphs of 50 generations";
        add(&mut table, what.into(), &many, LONG_ROUND, None)?;
        let large = Setup {
            switches: graphs,
            ..setup("bits", 1, 16_384, device)?
        };
        let what = "`bits`, 1 × 16384², graphs of 50 generations";
        add(&mut table, what.into(), &large, LONG_ROUND, None)?;
    } else {
        let one = setup("bits", 1, 2048, device)?;
        let what = "`bits`, 1 × 2048², one thread";
        add(
            &mut table,
            what.into(),
            &one,
            1,
            Some(NonZero::<usize>::MIN),
        )?;
    }
    Ok(table)
}

fn add(
    table: &mut Table,
    what: String,
    setup: &Setup,
    per_round: u32,
    threads: Option<NonZero<usize>>,
) -> Result<()> {
    let mut worlds = worlds(setup, threads)?;
    let runs = rate(|rounds| {
        worlds
            .run(rounds * u64::from(per_round), per_round, None)
            .map(|_| ())
            .map_err(EngineError::into)
    })?;
    let cells = setup.size.cells() as f64 * setup.instances as f64 * f64::from(per_round);
    table.add(what, "cells/s", &runs.map(|rounds| rounds * cells));
    Ok(())
}
