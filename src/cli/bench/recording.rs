//! `lifestreams bench recording`: records rounds and lessons on this GPU, for machines without one.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use super::recorded_rounds;
use crate::cli::text::{print, say};
use engine::DeviceInfo;
use experiment::Recorded;
use lesson::{LESSONS, Lesson};
use session::DeviceChoice;
use session::instances::open_engine;
use ui::LectureStep;

/// Lessons that are not measured by then are left out: short jobs of a cluster often end after ten
/// minutes.
const MAX_TIME: Duration = Duration::from_secs(9 * 60);

/// Where recordings are in a checkout.
const FOLDER: &str = "assets/bench";

/// Records rounds, then lessons, and writes both into a folder.
///
/// # Errors
/// The device is no GPU or not one alone, it fails, or the folder cannot be written.
pub(super) fn main(
    device: DeviceChoice,
    steps: &[LectureStep],
    folder: Option<&Path>,
    small: bool,
) -> Result<()> {
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
    let bytes = recorded_rounds::record(device, steps, device_info, recorded.clone(), small)?;
    write(&rounds, &bytes)?;
    let bytes = record_lessons(device, steps, recorded, deadline, small)?;
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

/// Records every lesson until a deadline, those of the shipped lectures first, or if it shall be small only
/// two that take no time. Returns the content of the file.
///
/// # Errors
/// A number was measured that cannot be written.
fn record_lessons(
    device: DeviceChoice,
    steps: &[LectureStep],
    recorded: Recorded,
    deadline: Instant,
    small: bool,
) -> Result<Vec<u8>> {
    let lessons = if small {
        ["context", "barrier"]
            .into_iter()
            .filter_map(lesson::find)
            .collect()
    } else {
        let first = steps.iter().filter_map(|step| Some(&LESSONS[step.lesson?]));
        lesson::recording_order(&first.collect::<Vec<_>>())
    };
    let mut on_lesson = |lesson: &Lesson, is_recorded: bool| {
        let is_left_out = if is_recorded { "" } else { " is left out" };
        say(&format!("{}{is_left_out}", lesson.name));
    };
    Ok(lesson::record(
        device,
        &lessons,
        recorded,
        deadline,
        &mut on_lesson,
    )?)
}
