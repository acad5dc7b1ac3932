//! Draws a session: its lattices as tiled panels, its figures beside them.
//!
//! A frame goes one way: pictures into textures ([`PictureSource`]), panels over textures
//! (`shaders/panels.wgsl`), the HUD (or a [`LessonPage`]) and the [`Lab`] or the `ladder` beside them and
//! the [`timeline`] below (egui, painted by hand so that no figure moves another), and over them the
//! `dialogs`, which are egui's own windows. The window and [`offscreen::Renderer`] draw the very
//! same scene.

use lang::tr;

mod camera;
mod cameras;
mod cell_ages;
mod dialogs;
mod error;
mod gpu;
mod halves;
mod hit_regions;
pub mod hud;
mod interface;
mod lab;
pub mod ladder;
pub mod layout;
mod lesson;
pub(crate) mod marks;
pub mod minimap;
pub mod offscreen;
pub mod panels;
mod picture_cache;
pub mod picture_file;
mod population;
mod quads;
pub mod recording;
mod scene;
mod texture_array;
pub mod theme;
pub mod timeline;
mod toolbar;
mod transfer;
mod zoom;

#[cfg(test)]
mod cost;
#[cfg(any(test, feature = "fixtures"))]
pub mod fixtures;
#[cfg(test)]
mod gallery;
#[cfg(test)]
mod pixel_tests;
#[cfg(test)]
mod reference;

pub use camera::{Camera, MAX_PIXELS_A_CELL, MIN_OPENING_PIXELS, ViewTransform};
pub use cell_ages::MAX_TRACE_BYTES;
pub use error::ViewError;
pub use gpu::{AdapterFacts, list_adapters};
pub use lab::Lab;
pub use lesson::{LessonEntry, LessonPage, LessonScreen};
pub use marks::{Ghost, Marks, Pending};
pub use panels::MIN_PIXELS_FOR_LINES;
pub use population::Population;
pub use scene::Drawing;
pub use texture_array::{MAX_INSTANCES, most_instances};
pub use timeline::Timeline;
pub use transfer::{MAX_ROUND_BYTES, TextureLimits, request};
pub use zoom::Zoom;

pub use dialogs::{Commands, Dialogs, FileDialog, GoTo, Help, Larger, Menu, Shelf, UiRequest};
pub use gpu::{Canvas, Gpu};
pub use lesson::entry_at;
pub use scene::{Frame, Scene};

/// What decides a cell's colour.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, clap::ValueEnum)]
pub enum ColourBy {
    /// Whether it is alive.
    #[default]
    State,
    /// For how long it has been alive.
    Age,
    /// Whether it is alive, and where it is not, how long ago it was.
    History,
}

impl ColourBy {
    /// What is shown, in a sentence.
    pub fn sentence(self) -> &'static str {
        match self {
            ColourBy::State => tr!("coloured by state"),
            ColourBy::Age => tr!("coloured by age: for how long a cell has been alive"),
            ColourBy::History => tr!("coloured by history: cells that died leave a trail"),
        }
    }
}

/// What the person has chosen to see; nothing of it changes what is computed.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ViewOptions {
    /// Which part of the lattice every panel shows, while none has a camera of its own.
    pub camera: Camera,
    /// Every panel's own camera, by instance; none while one serves all.
    pub cameras: Vec<Camera>,
    /// Whether a small picture of the whole lattice is hidden where only a part is seen.
    pub no_minimap: bool,
    /// The theme, by its number; see [`theme::theme`].
    pub colours: usize,
    /// What decides a cell's colour.
    pub colour_by: ColourBy,
    /// Whether live and dead change colours.
    pub invert: bool,
    /// Whether lines are drawn between cells of at least [`MIN_PIXELS_FOR_LINES`].
    pub grid_lines: bool,
    /// Whether the selected instance is drawn alone.
    pub single: bool,
    /// Whether a lecture's essentials stand in the HUD's place.
    pub presentation: bool,
    /// How large type and figures are.
    pub interface: Zoom,
    /// Whether the streams' timeline is shown, where the window has room for it.
    pub timeline: bool,
    /// What is shown beside the panels, where the window has room for it.
    pub side: Option<SidePanel>,
    /// Whether the population graph is that of all instances together, not of the selected one.
    pub population_of_all: bool,
}

/// What can be shown beside the panels, one at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SidePanel {
    /// The switches, and the driver calls that they make.
    Lab,
    /// Population, births and deaths over time.
    Population,
    /// The recorded speed of every kernel, beside that of the present one.
    Ladder,
}

impl ViewOptions {
    /// Shows a panel in place of the one shown; hides it if it is the one shown.
    pub fn toggle_side(&mut self, panel: SidePanel) {
        self.side = match self.side {
            Some(shown) if shown == panel => None,
            _ => Some(panel),
        };
    }
}
