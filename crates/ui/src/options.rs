//! What the person has chosen to see.

use crate::{Camera, LectureScreen};
use lang::{Message, mark, tr};
use life::Lattice;
use session::{Area, Edit, Status};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use ColourBy::*;

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
            State => mark!("by state"),
            Age => mark!("by age"),
            History => mark!("by history"),
        }
    }

    /// What is shown, in a sentence.
    pub fn sentence(self) -> &'static str {
        match self {
            State => tr!("Coloured by state"),
            Age => tr!("Coloured by age: for how long a cell has been alive"),
            History => tr!("Coloured by history: cells that died leave a trail"),
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
    /// How wide the pane beside the panels and how high the one below them is, in points, where the user
    /// has moved its edge.
    pub panes: [Option<f32>; 2],
    /// The rung whose source the ladder shows in place of its chart, by its kernel's place in the
    /// engine's table.
    pub source: Option<usize>,
    /// Whether the population graph is that of all instances together, not of the selected one.
    pub population_of_all: bool,
}

/// What can be shown beside the panels, one at a time.
#[derive(Clone, Copy, PartialEq, Debug)]
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
        self.side = Some(panel).filter(|_| self.side != Some(panel));
    }
}

/// Percents of the usual size.
const STEPS: [u16; 12] = [50, 60, 70, 80, 90, 100, 115, 130, 150, 175, 200, 250];
/// Where 100 stands among them.
const USUAL: i8 = 5;

/// A step of the scale; 0 is the usual size.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct InterfaceScale(i8);

impl InterfaceScale {
    /// The one that is so many steps larger, if there is one.
    pub fn larger(self, by: i8) -> Option<InterfaceScale> {
        let at = self.0 + by;
        let is_one = (0..STEPS.len() as i8).contains(&(at + USUAL));
        is_one.then_some(InterfaceScale(at))
    }

    /// In percents of the usual size.
    pub fn percent(self) -> u16 {
        STEPS[(self.0 + USUAL) as usize]
    }

    /// The factor on all lengths.
    pub fn factor(self) -> f32 {
        f32::from(self.percent()) / 100.0
    }
}

/// What draws, as people know it.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct AdapterFacts {
    /// Its name, such as `NVIDIA GeForce RTX 3060`.
    pub name: String,
    /// How it is spoken to, such as `Vulkan`.
    pub backend: String,
    /// Its driver, such as `NVIDIA 580.82`.
    pub driver: String,
    /// Whether it draws on the CPU.
    pub software: bool,
    /// PCI bus id such as `0000:17:00.0`, where known.
    pub pci_bus_id: Option<String>,
}

impl AdapterFacts {
    /// `NAME (BACKEND)`, what `--adapter` is matched against.
    pub fn title(&self) -> String {
        format!("{} ({})", self.name, self.backend)
    }

    /// Whether this GPU also computes.
    pub fn is_one_of(&self, devices: &[engine::DeviceInfo]) -> bool {
        let same = |id: &Option<String>| match (id, &self.pci_bus_id) {
            (Some(a), Some(b)) => a.eq_ignore_ascii_case(b),
            _ => false,
        };
        devices.iter().any(|device| same(&device.pci_bus_id))
    }
}

/// What the HUD says of the drawing side.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Drawing {
    /// The drawing GPU.
    pub adapter: Option<AdapterFacts>,
    /// Whether pictures travel to another machine's X server.
    pub forwarded: bool,
    /// Frames presented a second, where they are counted.
    pub frames_per_second: Option<f64>,
    /// Something the person should know, in one sentence.
    pub notice: Option<Message>,
    /// Whether the window fills the monitor.
    pub fullscreen: bool,
    /// For how long the window has been recorded, while it is.
    pub recording: Option<Duration>,
    /// The step of a lecture, while one is open.
    pub lecture: Option<LectureScreen>,
}

// The overlay for editing: the selection, the pattern that is being pasted, and edits that no
// picture shows yet.

/// The overlay for editing.
#[derive(Clone, Debug, Default)]
pub struct EditOverlay {
    /// A part of an instance's lattice.
    pub selection: Option<(usize, Area)>,
    /// What a click will place.
    pub ghost: Option<Ghost>,
    /// Edits that no picture shows yet, in their order, with the numbers that the session gave them.
    pub pending: VecDeque<(u64, Edit)>,
    /// What a drag over cells does.
    pub tool: Tool,
    /// The instance and the column and row of the cell under the pointer, while a drag draws or
    /// selects, or a pattern is being placed.
    pub pointed: Option<(usize, [u32; 2])>,
}

/// What a drag over cells does.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum Tool {
    /// It moves the view.
    #[default]
    Hand,
    /// It draws or erases.
    Pencil,
    /// It selects an area, once; then the hand is back.
    Selection,
}

/// A pattern before it is placed.
#[derive(Clone, Debug)]
pub struct Ghost {
    /// Its cells.
    pub pattern: Arc<Lattice>,
    /// The instance that the pointer is over, and the cell under it.
    pub at: Option<(usize, [i64; 2])>,
}

impl Ghost {
    /// The column and row of its top left: the pointer is in its middle. They may lie beyond the
    /// edges.
    pub fn corner(&self) -> Option<(usize, [i64; 2])> {
        let (instance, [x, y]) = self.at?;
        let size = self.pattern.size();
        let half = |side: u32| i64::from(side / 2);
        Some((instance, [x - half(size.width), y - half(size.height)]))
    }
}
