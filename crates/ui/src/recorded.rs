//! What is said where recorded rounds are shown instead of measurements.

use crate::timeline::drawn_round;
use lang::tr;
use session::{Status, recorded_in_words};

/// See the module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecordedTexts {
    /// Where and when rounds were recorded.
    pub origin: String,
    /// How fast the cells go here, in relation to the recorded rounds; empty while that is unknown.
    pub pace: String,
    /// That none were recorded with the present setting, and what was; empty if some were.
    pub missing: String,
}

impl RecordedTexts {
    /// Of a session; `None` if it measures.
    pub fn of(status: &Status) -> Option<RecordedTexts> {
        let recording = status.lab.recording.as_ref()?;
        let pace = match recording.pace {
            None => String::new(),
            Some(pace) if pace > 0.95 => tr!("cells: this machine's CPU, at the same pace").into(),
            Some(pace) => tr!(
                "cells: this machine's CPU, at 1/{part} of that GPU's pace",
                part = format!("{:.0}", (1.0 / pace).max(2.0))
            ),
        };
        let missing = if recording.has_setting {
            String::new()
        } else {
            tr!(
                "There is no recording of this setting. There are recordings of 1, 2, 4 … 64 lattices of 1024 × 1024 cells, with every kernel, and of sync-global and bits with one switch changed; and of every step of the lectures"
            )
            .into()
        };
        Some(RecordedTexts {
            origin: lang::sentence_case(&recorded_in_words(&recording.recorded)),
            pace,
            missing,
        })
    }

    /// Origin and pace in a line.
    pub fn line(&self) -> String {
        let parts = [&self.origin, &self.pace]
            .into_iter()
            .filter(|it| !it.is_empty());
        parts.cloned().collect::<Vec<_>>().join(" · ")
    }

    /// The same, and what bars and times beside them are.
    pub fn long_line(&self) -> String {
        format!("{} · {}", self.line(), drawn_round())
    }
}
