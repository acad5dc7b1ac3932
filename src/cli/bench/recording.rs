//! `lifestreams bench recording`: records rounds and lessons on this GPU, for machines without one.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use super::{recorded_lessons, recorded_rounds};
use crate::cli::text::print;
use engine::DeviceInfo;
use experiment::Recorded;
use session::DeviceChoice;
use session::instances::open_engine;

/// Lessons that are not measured by then are left out: short jobs of a cluster often end after ten
/// minutes.
const MAX_TIME: Duration = Duration::from_secs(9 * 60);

/// Where recordings are in a checkout.
const FOLDER: &str = "assets/bench";

/// Records rounds, then lessons, and writes both into a folder.
///
/// # Errors
/// The device is no GPU or not one alone, it fails, or the folder cannot be written.
pub(super) fn main(device: DeviceChoice, folder: Option<&Path>, small: bool) -> Result<()> {
    let deadline = Instant::now() + MAX_TIME;
    let folder = folder.unwrap_or(Path::new(FOLDER));
    let [rounds, lessons] = ["rounds", "lessons"].map(|of| file(folder, of));
    life::check_writable(&rounds)?;
    life::check_writable(&lessons)?;
    let device_info = gpu(device)?;
    let recorded = Recorded {
        device: device_info.name.clone(),
        date: life::date(),
        commit: env!("LIFESTREAMS_COMMIT").into(),
    };
    let bytes = recorded_rounds::record(device, device_info, recorded.clone(), small)?;
    write(&rounds, &bytes)?;
    let bytes = recorded_lessons::record(device, recorded, deadline, small)?;
    write(&lessons, &bytes)
}

fn file(folder: &Path, of: &str) -> PathBuf {
    folder.join(format!("recorded-{of}.json.gz"))
}

/// The GPU of a choice.
fn gpu(device: DeviceChoice) -> Result<DeviceInfo> {
    let engine = open_engine(device)?;
    match engine.devices() {
        [one] if engine.name() == "cuda" => Ok(one.clone()),
        _ => bail!("rounds and lessons are recorded on one GPU; take --device cuda:I"),
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    life::write_atomically(path, |out| out.write_all(bytes))?;
    print(&format!("{} bytes in {}", bytes.len(), path.display()))
}
