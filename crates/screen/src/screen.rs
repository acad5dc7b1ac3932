//! All that is on screen at one moment, as data.

use crate::figures::{self, Figures, Urgency};
use crate::{Drawing, LessonScreen, Population, ViewOptions};
use lang::Message;
use model::Status;

/// What window and terminal paint, beside the pictures of lattices and the chart of a timed round.
/// Painters decide where each part stands.
#[derive(Clone, Copy)]
pub struct Screen<'a> {
    /// The session's figures; `None` while it starts.
    pub status: Option<&'a Status>,
    /// What the person has chosen to see.
    pub options: &'a ViewOptions,
    /// What is known about drawing itself, and the present notice.
    pub drawing: &'a Drawing,
    /// Shown where [`ViewOptions::side`] says so.
    pub population: &'a Population,
    /// Shown instead of the HUD, if there is one.
    pub lesson: Option<&'a LessonScreen>,
}

impl Screen<'_> {
    /// The one instance that is drawn, or all.
    pub fn single_instance(&self) -> Option<usize> {
        self.options.single_instance(self.status?)
    }

    /// Whether the panels show different parts of their lattices.
    pub fn is_separate(&self) -> bool {
        let shows = |status| self.options.shows_separate(status);
        self.status.is_some_and(shows)
    }

    /// The figures, in groups.
    pub fn figures(&self) -> Option<Figures> {
        Some(figures::figures(self.status?, self.options, self.drawing))
    }

    /// Sentences, the most urgent first.
    pub fn messages(&self) -> Vec<(Urgency, Message)> {
        let messages = |status| figures::messages(status, self.drawing);
        self.status.map_or(Vec::new(), messages)
    }
}
