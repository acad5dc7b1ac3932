//! All that is on screen at one moment, as data: what a painter needs beside the pictures of
//! lattices, whether it paints a window or a terminal.

use std::sync::Arc;

use crate::comparison::ComparisonTexts;
use crate::finding::Headline;
use crate::lab::Lab;
use crate::ladder::LadderChart;
use crate::population::PopulationChart;
use crate::timeline::RoundChart;
use crate::{
    Camera, Drawing, Figures, LessonScreen, MenuTopic, MinimapRegion, PanelFacts, Population,
    SidePanel, Timeline, Tool, ToolbarButton, ViewOptions,
};
use model::actions::{Context, FrontEnd, Toggles};
use model::{Setup, Status};

/// What is on screen, in sections; a section that is not shown is `None`. Painters decide where
/// each stands. A [`Composer`](crate::Composer) makes it and keeps every section whose source has
/// not changed.
///
/// It has no rectangles, no cells, and no text for each bar of the timeline: what a bar is, is asked
/// of the [`Chart`](crate::Chart) when someone points at it.
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
    /// The names of A and B and what is known of them, while they are compared.
    pub comparison: Option<Arc<ComparisonTexts>>,
    /// How much of a round overlaps, in words, while the timeline is shown.
    pub overlap: Option<Arc<String>>,
    /// The newest timed round, while the timeline is shown.
    pub round: Option<Arc<RoundChart>>,
    /// The round before the last change, on the same axis, while its effect is shown.
    pub round_before: Option<Arc<RoundChart>>,
    /// The switches and the calls that they make, while they are shown.
    pub lab: Option<Arc<Lab>>,
    /// Every kernel's speed, while the ladder is shown.
    pub ladder: Option<Arc<LadderChart>>,
    /// Live cells over time, while the graph is shown.
    pub population: Option<Arc<PopulationChart>>,
    /// The list of lessons or a page of one; it stands in the figures' place.
    pub lesson: Option<Arc<LessonScreen>>,
    /// What the menu offers, whether it is open or not; a terminal has none.
    pub menu: Option<Arc<Vec<MenuTopic>>>,
    /// The toolbar's buttons, from the left; `None` while the session starts, and in a terminal.
    pub toolbar: Option<Arc<Vec<ToolbarButton>>>,
    /// What the minimaps frame, where panels show a part of their lattices.
    pub minimaps: Option<Arc<Vec<MinimapRegion>>>,
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

impl<'a> Sources<'a> {
    /// What decides which actions are possible and on, where nothing is asked for at this moment.
    pub fn context(&self) -> Context<'a> {
        let (options, window) = (self.options, self.window.unwrap_or_default());
        Context {
            front_end: match self.window {
                Some(_) => FrontEnd::Window,
                None => FrontEnd::Terminal,
            },
            status: self.status,
            has_pending_requests: false,
            most_instances: self.most_instances(),
            toggles: Toggles {
                timeline: options.timeline,
                lab: options.side == Some(SidePanel::Lab),
                ladder: options.side == Some(SidePanel::Ladder),
                population: options.side == Some(SidePanel::Population),
                population_of_all: options.population_of_all,
                lessons: self.lesson.is_some(),
                single: options.single,
                separate: options.is_separate(),
                minimap: !options.hides_minimap,
                grid_lines: options.grid_lines,
                inverted: options.invert,
                presentation: options.presentation,
                fullscreen: self.drawing.fullscreen,
                recording: self.drawing.recording.is_some(),
                pencil: window.tool == Tool::Pencil,
                area_selection: window.tool == Tool::Selection,
                ghost: window.is_pasting,
            },
        }
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
