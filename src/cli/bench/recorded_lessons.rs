//! Outcomes of lessons, recorded on this GPU.

use std::time::Instant;

use anyhow::Result;

use crate::cli::lecture;
use crate::cli::text::say;
use experiment::Recorded;
use lesson::{LESSONS, Lesson};
use session::DeviceChoice;

/// Records every lesson until a deadline, those of the shipped lectures first, or if it shall be small only
/// two that take no time. Returns the content of the file.
///
/// # Errors
/// A number was measured that cannot be written.
pub(super) fn record(
    device: DeviceChoice,
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
        let steps = lecture::shipped_steps(DeviceChoice::Cpu)?;
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
