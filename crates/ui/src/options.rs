//! What the person has chosen to see.

use crate::{Camera, InterfaceScale};
use lang::{mark, tr};
use session::Status;

/// What decides a cell's colour.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, clap::ValueEnum)]
pub enum ColourBy {
    /// Whether a cell is alive.
    #[default]
    State,
    /// For how long it has been alive.
    Age,
    /// Its age, or, if it is dead, how long ago it was alive.
    History,
}

impl ColourBy {
    /// What it is called, in English.
    pub fn name(self) -> &'static str {
        match self {
            ColourBy::State => mark!("by state"),
            ColourBy::Age => mark!("by age"),
            ColourBy::History => mark!("by history"),
        }
    }

    /// What is shown, in a sentence.
    pub fn sentence(self) -> &'static str {
        match self {
            ColourBy::State => tr!("Coloured by state"),
            ColourBy::Age => tr!("Coloured by age: for how long a cell has been alive"),
            ColourBy::History => tr!("Coloured by history: cells that died leave a trail"),
        }
    }
}

/// What the person has chosen to see; nothing of it changes what is computed.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ViewOptions {
    /// Which part of its lattice every panel shows.
    pub camera: Camera,
    /// Whether a small picture of the whole lattice is hidden where only a part is seen.
    pub hides_minimap: bool,
    /// Index of the theme; see [`crate::theme::theme`].
    pub theme: usize,
    /// What decides a cell's colour.
    pub colour_by: ColourBy,
    /// Whether live and dead change colours.
    pub invert: bool,
    /// Whether grid lines are drawn between cells that are large enough
    /// (`view::panels::MIN_PIXELS_FOR_LINES`).
    pub grid_lines: bool,
    /// Whether the selected instance is drawn alone.
    pub single: bool,
    /// Whether a lecture's essentials stand in the HUD's place.
    pub presentation: bool,
    /// How large type and figures are.
    pub interface_scale: InterfaceScale,
    /// Whether the streams' timeline is shown, where the window has room for it.
    pub timeline: bool,
    /// What is shown beside the panels, where the window has room for it.
    pub side: Option<SidePanel>,
    /// The rung whose source the ladder shows in place of its chart, by its kernel's place in the
    /// engine's table.
    pub source: Option<usize>,
    /// Whether its PTX is shown in place of its source, if it has any.
    pub shows_ptx: bool,
    /// Whether the population graph is that of all instances together, not of the selected one.
    pub population_of_all: bool,
}

/// What can be shown beside the panels, one at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SidePanel {
    /// The switches, and the driver calls that they make.
    Lab,
    /// What keeps streams from overlapping; shown with the timeline, whose round it is about.
    Causes,
    /// Population, births and deaths over time.
    Population,
    /// The recorded speed of every kernel, beside that of the present one.
    Ladder,
    /// The editor of a round of one's own.
    Editor,
}

impl ViewOptions {
    /// The one instance that is drawn, or all.
    pub fn single_instance(&self, status: &Status) -> Option<usize> {
        let last = status.lattices.instances.saturating_sub(1);
        self.single.then(|| status.panels.selected.min(last))
    }

    /// The rung whose source is shown, if one is.
    pub fn shown_source(&self) -> Option<usize> {
        self.source.filter(|_| self.side == Some(SidePanel::Ladder))
    }

    /// Shows a panel in place of the one shown; hides it if it is the one shown.
    pub fn toggle_side(&mut self, panel: SidePanel) {
        self.source = None;
        self.side = match self.side {
            Some(shown) if shown == panel => None,
            _ => Some(panel),
        };
    }
}
