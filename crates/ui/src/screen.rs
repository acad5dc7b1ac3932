//! All that is on screen at one moment, as data: what a painter needs beside the pictures of
//! lattices, whether it paints a window or a terminal. A [`Composer`] makes it, remaking only the
//! sections whose sources have changed. In most frames of a running session no source has.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::comparison::ComparisonTexts;
use crate::diagnosis::Circumstances;
use crate::figures::figures;
use crate::finding::{Headline, headline};
use crate::lab::Lab;
use crate::minimap::minimaps;
use crate::timeline::overlap::OverlapTexts;
use crate::{
    Camera, Chart, Diagnosis, Drawing, EditOverlay, Figures, LadderChart, LessonScreen,
    MinimapRegion, PanelFacts, Population, PopulationChart, RecordedTexts, RoundChart, RungSource,
    SidePanel, Timeline, Tool, ViewOptions,
};
use lang::Language;
use session::{Setup, Status};

/// What is on screen, in sections; a section that is not shown is `None`. Painters decide where
/// each stands. A [`Composer`] makes it and keeps every section whose source has not changed.
///
/// It has no rectangles, no cells, and no text for each bar of the timeline: what a bar is, is asked
/// of the [`Chart`] when someone points at it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Screen {
    /// Changes whenever anything changes that a painter could show, the person's options and the
    /// language among it; 0 before anything was composed.
    pub revision: u64,
    /// How many panels there are, and which one is selected.
    pub panels: Option<Arc<PanelFacts>>,
    /// Figures and sentences; `None` while the session starts.
    pub figures: Option<Arc<Figures>>,
    /// What the last change did, or how A and B compare.
    pub finding: Option<Arc<Headline>>,
    /// Where recorded rounds come from, if they are shown.
    pub recorded: Option<RecordedTexts>,
    /// The names of A and B and what is known of them, while they are compared.
    pub comparison: Option<Arc<ComparisonTexts>>,
    /// The round that the timeline draws, as it was judged.
    pub diagnosis: Option<Arc<Diagnosis>>,
    /// How much of it overlaps, why no more does, and how long it takes, in words, while the timeline is
    /// shown.
    pub overlap: Option<Arc<OverlapTexts>>,
    /// The newest timed round, while the timeline is shown.
    pub round: Option<Arc<RoundChart>>,
    /// The round before the last change, on the same axis, while its effect is shown.
    pub round_before: Option<Arc<RoundChart>>,
    /// The switches and the calls that they make, while they are shown.
    pub lab: Option<Arc<Lab>>,
    /// Every kernel's speed, while the ladder is shown.
    pub ladder: Option<Arc<LadderChart>>,
    /// The source of one of them, while that is shown instead.
    pub source: Option<Arc<RungSource>>,
    /// Live cells over time, while the graph is shown.
    pub population: Option<Arc<PopulationChart>>,
    /// The list of lessons or a page of one; it stands in the figures' place.
    pub lesson: Option<Arc<LessonScreen>>,
    /// What the minimaps frame, where panels show a part of their lattices.
    pub minimaps: Option<Arc<Vec<MinimapRegion>>>,
}

impl Screen {
    /// The screen of these sources, with every section made anew.
    pub fn of(sources: Sources<'_>) -> Screen {
        Composer::default().compose(sources).clone()
    }

    /// Makes the sections anew whose sources have changed.
    fn update(&mut self, sources: Sources<'_>, changes: &Changes) {
        let Sources {
            status,
            options,
            drawing,
            ..
        } = sources;
        self.revision = new_revision();
        let words = changes.status || changes.language;
        if changes.status || changes.options {
            let panels = status.map(|status| PanelFacts::of(status, options));
            set(&mut self.panels, panels);
        }
        if words || changes.options || changes.drawing {
            let made = status.map(|status| figures(status, options, drawing));
            set(&mut self.figures, made);
        }
        if words {
            set(&mut self.finding, status.and_then(headline));
            self.recorded = status.and_then(RecordedTexts::of);
            let both = status.and_then(|status| {
                let both = status.lab.comparison.as_ref()?;
                Some(ComparisonTexts::of(both, status.setting.kernel))
            });
            set(&mut self.comparison, both);
        }
        if changes.diagnosis {
            let chart = sources.timeline.chart().zip(sources.circumstances());
            let judged = chart.and_then(|(chart, facts)| Diagnosis::of(&chart.round, &facts));
            set(&mut self.diagnosis, judged);
        }
        if words || changes.options || changes.diagnosis {
            // While A and B are compared it is not measured.
            let status =
                status.filter(|status| options.timeline && status.lab.comparison.is_none());
            let texts = status.map(|status| OverlapTexts::of(self.diagnosis.as_deref(), status));
            set(&mut self.overlap, texts);
        }
        if changes.timeline || changes.options {
            let timeline = Some(sources.timeline).filter(|_| options.timeline);
            let lanes = |chart: &Chart| chart.data.clone();
            let chart = timeline.and_then(|timeline| timeline.chart());
            set(&mut self.round, chart.map(lanes));
            let before = timeline.and_then(|timeline| timeline.before());
            set(&mut self.round_before, before.map(lanes));
        }
        if words || changes.options || changes.population {
            let of = |panel| status.filter(|_| options.side == Some(panel));
            let lab = of(SidePanel::Lab).map(Lab::of);
            set(&mut self.lab, lab);
            let ladder = of(SidePanel::Ladder).map(LadderChart::of);
            set(&mut self.ladder, ladder);
            let shown = status.zip(options.shown_source());
            let kernel = shown.and_then(|(status, at)| status.setting.kernels().nth(at));
            let same = |it: &Arc<RungSource>| {
                let is_same = it.is_ptx == (options.shows_ptx && it.has_ptx());
                Some(it.kernel) == kernel && is_same && !changes.language
            };
            if !self.source.as_ref().is_some_and(same) {
                let ptx = kernel.filter(|_| options.shows_ptx);
                let ptx = ptx.and_then(RungSource::ptx_of);
                set(&mut self.source, ptx.or(kernel.map(RungSource::of)));
            }
            let graph = of(SidePanel::Population)
                .map(|status| PopulationChart::of(sources.population, status));
            set(&mut self.population, graph);
        }
        if changes.lesson {
            set(&mut self.lesson, sources.lesson.cloned());
        }
        if changes.status || changes.options || changes.window {
            set(&mut self.minimaps, minimaps(sources));
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
    /// What only a window knows; a terminal has no menu, no toolbar and no minimaps.
    pub window: Option<WindowFacts>,
}

/// What a window knows of its own that its screen depends on.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct WindowFacts {
    /// What a drag over cells does.
    pub tool: Tool,
    /// Whether a pattern is being pasted.
    pub is_pasting: bool,
    /// A panel's width and height in pixels, once there are panels.
    pub panel: Option<[u32; 2]>,
}

impl WindowFacts {
    /// What a person's hand does there, before the place of the panels is known.
    pub fn of(edit_overlay: &EditOverlay) -> WindowFacts {
        WindowFacts {
            tool: edit_overlay.tool,
            is_pasting: edit_overlay.ghost.is_some(),
            panel: None,
        }
    }
}

impl<'a> Sources<'a> {
    /// What the judgement of a round depends on beside the round.
    fn circumstances(&self) -> Option<Circumstances> {
        let status = self.status?;
        let draws = self.drawing.adapter.as_ref();
        let is_drawn_here = draws.is_some_and(|it| it.is_one_of(&status.engine.devices));
        Some(Circumstances::of(status, is_drawn_here))
    }

    /// How many instances there can be.
    pub fn most_instances(&self) -> usize {
        let most = self.drawing.most_instances;
        most.unwrap_or(Setup::MAX_INSTANCES)
    }

    /// The instance whose camera counts where there can be one alone.
    pub fn camera_instance(&self) -> usize {
        self.status.map_or(0, |status| {
            status.panels.selected.min(status.lattices.instances - 1)
        })
    }

    /// The camera of an instance's panel, as it is drawn.
    pub fn camera_of(&self, instance: usize) -> &'a Camera {
        let of = if self.is_separate() {
            instance
        } else {
            self.camera_instance()
        };
        self.options.camera_of(of)
    }

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

/// The present screen, and what it was made from.
#[derive(Debug, Default)]
pub struct Composer {
    screen: Screen,
    made_from: Option<MadeFrom>,
}

/// What a screen was made from. Populations and timed rounds are numbered.
#[derive(Debug)]
struct MadeFrom {
    status: Option<Status>,
    options: ViewOptions,
    drawing: Drawing,
    population: (Option<usize>, u64),
    timeline: u64,
    circumstances: Option<Circumstances>,
    language: Language,
    window: Option<WindowFacts>,
}

/// Which of a screen's sources have changed since it was made.
struct Changes {
    status: bool,
    options: bool,
    drawing: bool,
    population: bool,
    timeline: bool,
    /// The round that is drawn, or what is known of such rounds.
    diagnosis: bool,
    lesson: bool,
    /// All texts are others then.
    language: bool,
    window: bool,
}

impl Composer {
    /// The screen of these sources.
    pub fn compose(&mut self, sources: Sources<'_>) -> &Screen {
        let changes = self.changes(sources);
        if changes.any() {
            self.screen.update(sources, &changes);
            self.made_from = Some(MadeFrom::of(sources));
        }
        &self.screen
    }

    /// The screen as it was composed last.
    pub fn screen(&self) -> &Screen {
        &self.screen
    }

    fn changes(&self, sources: Sources<'_>) -> Changes {
        let lesson = self.screen.lesson.as_deref() != sources.lesson;
        let Some(before) = &self.made_from else {
            return Changes {
                status: true,
                options: true,
                drawing: true,
                population: true,
                timeline: true,
                diagnosis: true,
                lesson,
                language: true,
                window: true,
            };
        };
        let language = before.language != lang::language();
        let timeline = before.timeline != sources.timeline.sequence();
        Changes {
            status: before.status.as_ref() != sources.status,
            options: before.options != *sources.options,
            drawing: before.drawing != *sources.drawing,
            population: before.population != sources.population.shown(),
            timeline,
            diagnosis: timeline || before.circumstances != sources.circumstances(),
            lesson,
            language,
            window: before.window != sources.window,
        }
    }
}

impl MadeFrom {
    fn of(sources: Sources<'_>) -> MadeFrom {
        MadeFrom {
            status: sources.status.cloned(),
            options: sources.options.clone(),
            drawing: sources.drawing.clone(),
            population: sources.population.shown(),
            timeline: sources.timeline.sequence(),
            circumstances: sources.circumstances(),
            language: lang::language(),
            window: sources.window,
        }
    }
}

impl Changes {
    fn any(&self) -> bool {
        self.status
            || self.options
            || self.drawing
            || self.population
            || self.timeline
            || self.lesson
            || self.language
            || self.window
    }
}

/// Puts a value in a section's place.
fn set<T>(section: &mut Option<Arc<T>>, value: Option<impl Into<Arc<T>>>) {
    *section = value.map(Into::into);
}

/// A revision that nothing in this process has had.
fn new_revision() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

#[cfg(test)]
mod tests;
