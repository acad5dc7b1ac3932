//! Which kernel `--kernel auto` should take on this device, by timing them all on works of many
//! kinds; `--write` keeps the answers in the table that the program is built with.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::{Record, Table, fits, setup};
use life::write_atomically;
use model::KernelChoice;
use model::{DeviceChoice, PicturePlan, Setup};
use session::instances::{DevicePicks, Instances, PickTable, Workload, open_engine};

/// Sides of the lattices, and how many of them there are.
const SIDES: [u64; 9] = [32, 64, 128, 256, 512, 1024, 2048, 4096, 16_384];
const INSTANCES: [usize; 3] = [1, 16, 256];

/// Generations a round: as the window has it at first, and many.
const GENERATIONS: [u32; 2] = [1, 64];

/// The most cells of all lattices together.
const MAX_CELLS: u64 = 1 << 30;

pub(super) fn measure(device: DeviceChoice) -> Result<(Table, Vec<Workload>)> {
    let title = "the fastest kernel of those that can be, rounds with their downloads";
    let mut table = Table::new("auto", title);
    let mut works = Vec::new();
    for side in SIDES {
        for instances in INSTANCES {
            let setup = setup("bits", instances, side, device)?;
            if setup.size.cells() * instances as u64 > MAX_CELLS || !fits(&setup)? {
                continue;
            }
            let mut started = started(&setup)?;
            for generations in GENERATIONS {
                let timed = started.time_kernels(generations)?;
                let best = &timed[0];
                let what = format!(
                    "{instances} × {side}², {generations} a round: `{}`",
                    best.kernel.name
                );
                table.add(what, "rounds/s", &[best.rounds_per_second]);
                works.push(Workload {
                    cells: setup.size.cells(),
                    instances,
                    generations,
                    kernels: timed.iter().map(|one| one.kernel.name.into()).collect(),
                });
            }
        }
    }
    Ok((table, works))
}

fn started(setup: &Setup) -> Result<Instances> {
    let mut setup = Setup {
        kernel_choice: KernelChoice::Explicit,
        ..setup.clone()
    };
    let mut instances = Instances::new(open_engine(setup.device)?, &setup, 0)?;
    instances.set_picture(Some(PicturePlan::BITS))?;
    instances.start(&mut setup)?;
    Ok(instances)
}

/// Puts what was measured into the table in a folder.
pub(super) fn write(folder: &Path, record: &Record, works: Vec<Workload>) -> Result<PathBuf> {
    let path = folder.join(PickTable::FILE);
    let old = std::fs::read_to_string(&path).ok();
    let mut table: PickTable = match old {
        Some(text) => serde_json::from_str(&text)?,
        None => PickTable::default(),
    };
    table.renew(DevicePicks {
        device: record.device.clone(),
        commit: record.origin.commit.clone(),
        works,
    });
    let text = serde_json::to_string_pretty(&table)? + "\n";
    if let Some(within) = path.parent() {
        std::fs::create_dir_all(within)?;
    }
    write_atomically(&path, |out| out.write_all(text.as_bytes()))?;
    Ok(path)
}
