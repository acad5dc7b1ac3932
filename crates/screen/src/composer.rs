//! Composes the screen, remaking only the sections whose sources have changed. In most frames of a
//! running session no source has.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::commands::{menu, toolbar};
use crate::comparison::ComparisonTexts;
use crate::figures::figures;
use crate::finding::headline;
use crate::lab::Lab;
use crate::minimap::minimaps;
use crate::timeline::overlap::in_words;
use crate::{
    Chart, Drawing, LadderChart, PanelFacts, PopulationChart, Screen, SidePanel, Sources,
    ViewOptions, WindowFacts,
};
use lang::Language;
use model::Status;
use model::actions::Toggles;

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
    language: Language,
    window: Option<WindowFacts>,
    toggles: Toggles,
}

/// Which of a screen's sources have changed since it was made.
struct Changes {
    status: bool,
    options: bool,
    drawing: bool,
    population: bool,
    timeline: bool,
    lesson: bool,
    /// All texts are others then.
    language: bool,
    window: bool,
    /// Which actions are possible or on; all others tell nothing of that.
    commands: bool,
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
                lesson,
                language: true,
                window: true,
                commands: true,
            };
        };
        let language = before.language != lang::language();
        let offers_same = match (&before.status, sources.status) {
            (Some(before), Some(now)) => before.offers_same(now),
            (before, now) => before.is_none() && now.is_none(),
        };
        Changes {
            status: before.status.as_ref() != sources.status,
            options: before.options != *sources.options,
            drawing: before.drawing != *sources.drawing,
            population: before.population != sources.population.shown(),
            timeline: before.timeline != sources.timeline.sequence(),
            lesson,
            language,
            window: before.window != sources.window,
            commands: language
                || !offers_same
                || before.toggles != sources.context().toggles
                || before.drawing.recording != sources.drawing.recording
                || before.window.is_some() != sources.window.is_some(),
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
            language: lang::language(),
            window: sources.window,
            toggles: sources.context().toggles,
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
            let both = status.and_then(|status| {
                let both = status.lab.comparison.as_ref()?;
                Some(ComparisonTexts::of(both, status.setting.kernel))
            });
            set(&mut self.comparison, both);
        }
        if words || changes.options {
            // While A and B are compared it is not measured.
            let status =
                status.filter(|status| options.timeline && status.lab.comparison.is_none());
            let overlap =
                status.map(|status| in_words(status.lab.overlap.as_ref(), status.engine.name));
            set(&mut self.overlap, overlap);
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
            let graph = of(SidePanel::Population)
                .map(|status| PopulationChart::of(sources.population, status));
            set(&mut self.population, graph);
        }
        if changes.lesson {
            set(&mut self.lesson, sources.lesson.cloned());
        }
        if changes.commands {
            let context = sources.window.map(|_| sources.context());
            let offered = context.as_ref().map(menu);
            set(&mut self.menu, offered);
            let buttons = context.filter(|_| status.is_some());
            let buttons = buttons.map(|context| toolbar(&context, drawing.recording));
            set(&mut self.toolbar, buttons);
        }
        if changes.status || changes.options || changes.window {
            set(&mut self.minimaps, minimaps(sources));
        }
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
