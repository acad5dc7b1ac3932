//! All that is on screen at one moment, as data: what a painter needs beside the pictures of
//! lattices, whether it paints a window, a terminal or, some day, a page of a browser.

use serde::{Deserialize, Serialize};

use crate::comparison::ComparisonTexts;
use crate::finding::Headline;
use crate::lab::Lab;
use crate::ladder::LadderChart;
use crate::population::PopulationChart;
use crate::section::Section;
use crate::timeline::RoundChart;
use crate::{Drawing, Figures, LessonScreen, PanelFacts, Population, Timeline, ViewOptions};
use model::Status;

/// What is on screen, in sections; a section that is not shown is `None`. Painters decide where
/// each stands. A [`Composer`](crate::Composer) makes it and keeps every section whose source has
/// not changed.
///
/// It has no rectangles, no cells, and no text for each bar of the timeline: what a bar is, is asked
/// of the [`Chart`](crate::Chart) when someone points at it.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Screen {
    /// Changes whenever anything changes that a painter could show, the person's options and the
    /// language among it; 0 before anything was composed.
    pub revision: u64,
    /// How many panels there are, and which one is selected.
    pub panels: Option<Section<PanelFacts>>,
    /// Figures and sentences; `None` while the session starts.
    pub figures: Option<Section<Figures>>,
    /// What the last change did, or how A and B compare.
    pub finding: Option<Section<Headline>>,
    /// The names of A and B and what is known of them, while they are compared.
    pub comparison: Option<Section<ComparisonTexts>>,
    /// How much of a round overlaps, in words, while the timeline is shown.
    pub overlap: Option<Section<String>>,
    /// The newest timed round, while the timeline is shown.
    pub round: Option<Section<RoundChart>>,
    /// The round before the last change, on the same axis, while its effect is shown.
    pub round_before: Option<Section<RoundChart>>,
    /// The switches and the calls that they make, while they are shown.
    pub lab: Option<Section<Lab>>,
    /// Every kernel's speed, while the ladder is shown.
    pub ladder: Option<Section<LadderChart>>,
    /// Live cells over time, while the graph is shown.
    pub population: Option<Section<PopulationChart>>,
    /// The list of lessons or a page of one; it stands in the figures' place.
    pub lesson: Option<Section<LessonScreen>>,
}

/// What a screen is made from. Painters also ask it what only decides about their layout.
#[derive(Clone, Copy)]
pub struct Sources<'a> {
    /// The session's figures; `None` while it starts.
    pub status: Option<&'a Status>,
    /// What the person has chosen to see.
    pub options: &'a ViewOptions,
    /// What is known about drawing itself, and the present notice.
    pub drawing: &'a Drawing,
    /// Measured while [`ViewOptions::side`] says that the graph is shown.
    pub population: &'a Population,
    /// Rounds timed while [`ViewOptions::timeline`] says that they are shown.
    pub timeline: &'a Timeline,
    /// Shown instead of the HUD, if there is one.
    pub lesson: Option<&'a LessonScreen>,
}

impl Sources<'_> {
    /// The one instance that is drawn, or all.
    pub fn single_instance(&self) -> Option<usize> {
        self.options.single_instance(self.status?)
    }

    /// Whether the panels show different parts of their lattices.
    pub fn is_separate(&self) -> bool {
        let shows = |status| self.options.shows_separate(status);
        self.status.is_some_and(shows)
    }
}
