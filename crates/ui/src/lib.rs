//! What window and terminal share. What a user can ask for, with the one table of keys ([`actions`]).
//! Their state ([`App`]): the session that they drive, what the
//! person has chosen to see, the [lessons], when to draw ([`pacing`]), and saving when the thread
//! that draws is stuck ([`EmergencySave`]). And what is on screen, as data: figures, charts in
//! nanoseconds, the lesson's page, the camera.
//!
//! Both paint the same figures, charts and pages. Nothing here depends on a font, a graphics API or a terminal; a
//! camera needs only the size of its panel in pixels.

pub mod actions;
mod app;
mod camera;
pub mod code_editor;
pub mod diagnosis;
mod emergency_save;
pub mod figures;
pub mod finding;
#[cfg(any(test, feature = "fixtures"))]
pub mod fixtures;
pub mod lab;
pub mod ladder;
mod lecture;
pub mod lessons;
mod options;
pub mod pacing;
mod picture;
pub mod population;
pub mod rung_source;
pub mod theme;
pub mod timeline;
#[cfg(test)]
mod words_tests;

pub use actions::{Action, EditAction, ViewAction};
pub use app::*;
pub use camera::*;
pub use code_editor::CodeEditor;
pub use emergency_save::*;
pub use finding::RecordedTexts;
pub use ladder::LadderChart;
pub use lang::numbers;
pub use lecture::*;
pub use lessons::*;
pub use options::*;
pub use picture::*;
pub use population::{Population, PopulationChart};
pub use rung_source::RungSource;
pub use timeline::{Chart, Timeline, write_chrome};
