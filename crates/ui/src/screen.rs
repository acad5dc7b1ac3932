//! All that is on screen at one moment, as data: what a painter needs beside the pictures of
//! lattices, whether it paints a window or a terminal.

use crate::diagnosis::Circumstances;
use crate::figures::figures;
use crate::finding::ComparisonTexts;
use crate::finding::{Headline, headline};
use crate::lab::Lab;
use crate::timeline::overlap::OverlapTexts;
use crate::{
    Chart, Diagnosis, Drawing, EditOverlay, Figures, LadderChart, LessonScreen, Population,
    PopulationChart, RecordedTexts, RoundChart, RungSource, SidePanel, Timeline, ViewOptions,
};
use session::{Setup, Status};
use std::sync::Arc;

/// What is on screen, in sections; a section that is not shown is `None`. Painters decide where
/// each stands.
///
/// It has no rectangles, no cells, and no text for each bar of the timeline: what a bar is, is asked
/// of the [`Chart`] when someone points at it.
#[derive(Debug, Default)]
pub struct Screen {
    /// Figures and sentences; `None` while the session starts.
    pub figures: Option<Figures>,
    /// What the last change did, or how A and B compare.
    pub finding: Option<Headline>,
    /// Where recorded rounds come from, if they are shown.
    pub recorded: Option<RecordedTexts>,
    /// The names of A and B and what is known of them, while they are compared.
    pub comparison: Option<ComparisonTexts>,
    /// How much of the round that the timeline draws overlaps, why no more does, and how long it takes,
    /// in words, while the timeline is shown.
    pub overlap: Option<OverlapTexts>,
    /// The newest timed round, while the timeline is shown.
    pub round: Option<Arc<RoundChart>>,
    /// The round before the last change, on the same axis, while its effect is shown.
    pub round_before: Option<Arc<RoundChart>>,
    /// The switches and the calls that they make, while they are shown.
    pub lab: Option<Lab>,
    /// Every kernel's speed, while the ladder is shown.
    pub ladder: Option<LadderChart>,
    /// The source of one of them, while that is shown instead.
    pub source: Option<RungSource>,
    /// Live cells over time, while the graph is shown.
    pub population: Option<PopulationChart>,
}

impl Screen {
    /// The screen of these sources.
    pub fn of(sources: Sources<'_>) -> Screen {
        let Sources {
            status: Some(status),
            options,
            ..
        } = sources
        else {
            return Screen::default();
        };
        let compared = status.lab.comparison.as_ref();
        let timeline = Some(sources.timeline).filter(|_| options.timeline);
        let chart = timeline.and_then(Timeline::chart);
        // While A and B are compared it is not measured.
        let overlap = options.timeline && compared.is_none();
        let overlap = overlap.then(|| {
            let draws = sources.drawing.adapter.as_ref();
            let is_drawn_here = draws.is_some_and(|it| it.is_one_of(&status.engine.devices));
            let circumstances = Circumstances::of(status, is_drawn_here);
            let judged = chart.and_then(|it| Diagnosis::of(&it.round, &circumstances));
            OverlapTexts::of(judged.as_ref(), status)
        });
        let lanes = |chart: &Chart| chart.data.clone();
        let beside = |panel| Some(status).filter(|_| options.side == Some(panel));
        let kernel = options.shown_source();
        let kernel = kernel.and_then(|at| status.setting.kernels().nth(at));
        let ptx = kernel.filter(|_| options.shows_ptx);
        Screen {
            figures: Some(figures(status, options, sources.drawing)),
            finding: headline(status),
            recorded: RecordedTexts::of(status),
            comparison: compared.map(|both| ComparisonTexts::of(both, status.setting.kernel)),
            overlap,
            round: chart.map(lanes),
            round_before: timeline.and_then(Timeline::before).map(lanes),
            lab: beside(SidePanel::Lab).map(Lab::of),
            ladder: beside(SidePanel::Ladder).map(LadderChart::of),
            source: ptx
                .and_then(RungSource::ptx_of)
                .or(kernel.map(RungSource::of)),
            population: beside(SidePanel::Population)
                .map(|status| PopulationChart::of(sources.population, status)),
        }
    }
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
    /// What a person's hand has put over a window's panels; a terminal has no such thing, and no menu, no
    /// toolbar and no minimaps.
    pub edit_overlay: Option<&'a EditOverlay>,
}

impl Sources<'_> {
    /// How many instances there can be.
    pub fn most_instances(&self) -> usize {
        let most = self.drawing.most_instances;
        most.unwrap_or(Setup::MAX_INSTANCES)
    }

    /// The one instance that is drawn, or all.
    pub fn single_instance(&self) -> Option<usize> {
        self.options.single_instance(self.status?)
    }
}
