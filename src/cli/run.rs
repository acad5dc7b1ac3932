//! `lifestreams run`: steps every instance, reports, saves.

use std::collections::VecDeque;
use std::path::Path;

use anyhow::{Context, Result};

use super::failure::BadArguments;
use super::options::RunArguments;
use super::text::{print, si};
use engine::Transfer;
use lang::tr;
use life::{Lattice, Notes, Rule, SaveError, Sheet, rle, write_atomically};
use model::PicturePlan;
use model::TransferChoice;
use model::trace::{TimedRound, write_chrome};
use session::instances::{Instances, open_engine};

/// How many rounds `--trace` keeps: the last ones.
const ROUNDS_TRACED: usize = 64;

/// What `--json` prints.
#[derive(serde::Serialize)]
struct Report {
    engine: &'static str,
    device: String,
    kernel: &'static str,
    instances: usize,
    width: u32,
    height: u32,
    generations: u64,
    wall_ms: f64,
    cells_per_second: f64,
    population: Vec<u64>,
}

pub(super) fn main(arguments: &RunArguments) -> Result<()> {
    let mut setup = arguments.common.setup()?;
    if setup.switches.transfer == TransferChoice::View {
        let why = "run draws nothing, so there is no view; use --transfer bits or i32";
        return Err(BadArguments(why.into()).into());
    }
    if let Some(folder) = &arguments.save {
        std::fs::create_dir_all(folder).map_err(|error| SaveError::new(folder, &error))?;
    }
    let engine = open_engine(setup.device)?;
    let mut instances = Instances::new(engine, &setup, 1)?;
    instances.start(&mut setup)?;
    instances.finish()?;
    let mut traced = VecDeque::new();
    let mut keep = |round: TimedRound| {
        traced.push_back(round);
        if traced.len() > ROUNDS_TRACED {
            traced.pop_front();
        }
    };
    let keep: Option<&mut dyn FnMut(TimedRound)> = match arguments.trace {
        Some(_) => {
            let transfer = match setup.switches.transfer {
                TransferChoice::Cells => Transfer::Cells,
                _ => Transfer::Bits,
            };
            instances.set_picture(Some(PicturePlan {
                transfer,
                ..PicturePlan::BITS
            }))?;
            Some(&mut keep)
        }
        None => None,
    };
    let took = instances.run(arguments.generations, setup.generations_per_round, keep)?;
    let lattices = instances.fetch()?;
    if let Some(folder) = &arguments.save {
        let generation = setup.start.generation();
        let generation = generation.saturating_add(arguments.generations);
        save_all(folder, &lattices, setup.rule, generation)?;
    }
    if let Some(path) = &arguments.trace {
        let device = instances.engine().devices()[0].name.clone();
        write_atomically(path, |out| write_chrome(&traced, &device, out))?;
    }
    let stepped = setup.size.cells() as f64 * setup.instances as f64 * arguments.generations as f64;
    let seconds = took.as_secs_f64();
    let devices = instances.engine().devices();
    let report = Report {
        engine: instances.engine().name(),
        device: devices
            .iter()
            .map(|d| d.name.as_str())
            .collect::<Vec<_>>()
            .join(" + "),
        kernel: setup.kernel.name,
        instances: setup.instances,
        width: setup.size.width(),
        height: setup.size.height(),
        generations: arguments.generations,
        wall_ms: seconds * 1e3,
        cells_per_second: if arguments.generations == 0 {
            0.0
        } else {
            stepped / seconds
        },
        population: lattices.iter().map(Lattice::population).collect(),
    };
    if arguments.json {
        return print(&serde_json::to_string(&report)?);
    }
    print(&tr!(
        "{device} ({engine}), kernel {kernel}: {instances} × {size}, {generations} generations in {ms} ms, {rate}cells/s, {alive} alive",
        device = report.device,
        engine = report.engine,
        kernel = report.kernel,
        instances = report.instances,
        size = setup.size,
        generations = report.generations,
        ms = format!("{:.1}", report.wall_ms),
        rate = si(report.cells_per_second),
        alive = report.population.iter().sum::<u64>(),
    ))
}

fn save_all(folder: &Path, lattices: &[Lattice], rule: Rule, generation: u64) -> Result<()> {
    let digits = (lattices.len() - 1).to_string().len().max(3);
    let notes = &Notes::default();
    for (i, lattice) in lattices.iter().enumerate() {
        let path = folder.join(format!("{i:0digits$}.rle"));
        let sheet = Sheet {
            lattice,
            rule,
            torus: true,
            generation,
            notes,
        };
        write_atomically(&path, |out| rle::write_sheet(sheet, out))
            .with_context(|| format!("instance {i} is not saved"))?;
    }
    Ok(())
}
