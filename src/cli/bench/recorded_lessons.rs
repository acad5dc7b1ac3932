//! Outcomes of lessons, recorded on this GPU for machines without one.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::cli::lecture;
use crate::cli::text::{print, say};
use experiment::Recorded;
use lesson::{LESSONS, Lesson};
use life::write_atomically;
use model::DeviceChoice;
use simulation::instances::open_engine;

/// The file of the lessons.
const FILE: &str = "recorded-lessons.json.gz";

/// Lessons that are not measured by then are left out: GPUs are often lent for ten minutes.
const MAX_TIME: Duration = Duration::from_secs(9 * 60);

/// Records every lesson, those of the shipped lectures first, or if it shall be small only two that take
/// no time, and writes them into a folder.
///
/// # Errors
/// The device is no GPU, or the folder cannot be written.
pub(super) fn write(device: DeviceChoice, folder: Option<&Path>, small: bool) -> Result<()> {
    let deadline = Instant::now() + MAX_TIME;
    let path = folder.unwrap_or(Path::new("assets/bench")).join(FILE);
    life::check_writable(&path)?;
    let engine = open_engine(device)?;
    if engine.name() != "cuda" {
        bail!("lessons are recorded on a GPU");
    }
    let recorded = Recorded {
        device: engine.devices()[0].name.clone(),
        date: life::date(),
        commit: env!("LIFESTREAMS_COMMIT").into(),
    };
    drop(engine);
    let lessons = if small {
        ["context", "barrier"]
            .into_iter()
            .filter_map(lesson::find)
            .collect()
    } else {
        let steps = lecture::shipped_steps(DeviceChoice::Cpu)?;
        let first = steps.iter().filter_map(|step| Some(&LESSONS[step.lesson?]));
        lesson::recording_order(&first.collect::<Vec<_>>())
    };
    let mut on_lesson = |lesson: &Lesson, is_recorded: bool| {
        let is_left_out = if is_recorded { "" } else { " is left out" };
        say(&format!("{}{is_left_out}", lesson.name));
    };
    let bytes = lesson::record(device, &lessons, recorded, deadline, &mut on_lesson)?;
    write_atomically(&path, |out| out.write_all(&bytes))?;
    print(&format!("{} bytes in {}", bytes.len(), path.display()))
}
