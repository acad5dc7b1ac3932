//! What window and terminal share. What a user can ask for, with the one table of keys ([`actions`]).
//! Their state ([`App`]): the session that they drive, what the
//! person has chosen to see, the [lessons], when to draw ([`pacing`]), and saving when the thread
//! that draws is stuck ([`EmergencySave`]). And what is on screen, as data: figures, charts in
//! nanoseconds, the lesson's page, the camera.
//!
//! Both paint the same [`Screen`]. Nothing here depends on a font, a graphics API or a terminal; a
//! camera needs only the size of its panel in pixels.

pub mod actions;
mod app;
pub mod calls;
mod camera;
mod chrome_trace;
pub mod code_editor;
pub mod diagnosis;
mod edit_overlay;
mod emergency_save;
pub mod figures;
pub mod finding;
#[cfg(any(test, feature = "fixtures"))]
pub mod fixtures;
pub mod lab;
pub mod ladder;
mod lecture;
mod lesson;
pub mod lessons;
pub mod numbers;
mod open_files;
mod options;
pub mod pacing;
mod picture;
mod picture_request;
pub mod population;
pub mod prediction;
pub mod rung_source;
mod screen;
pub mod theme;
pub mod timeline;
#[cfg(test)]
mod words_tests;

pub use self::screen::{Screen, Sources};
pub use actions::{Action, EditAction, ViewAction};
pub use app::{App, Wake};
pub use camera::{
    Camera, CellRect, MAX_PIXELS_PER_CELL, MIN_OPENING_PIXELS, MinimapRegion, PanelPart,
    ViewTransform, minimap,
};
pub use chrome_trace::write_chrome;
pub use code_editor::CodeEditor;
pub use diagnosis::Diagnosis;
pub use diagnosis::overlap::{Bound, Overlap, Resource};
pub use edit_overlay::{EditOverlay, Ghost, Tool};
pub use emergency_save::{
    EmergencySave, EmergencySaved, INTERRUPTED, UiRunning, exit_interrupted, say_last,
};
pub use figures::{Figure, Figures};
pub use finding::RecordedTexts;
pub use ladder::LadderChart;
pub use lecture::{
    Answer, Lecture, LectureOptions, LecturePanel, LectureRun, LectureScreen, LectureStep, Notes,
};
pub use lesson::{CodeLine, LessonChoice, LessonColumn, LessonPage, LessonScreen, TimeBar};
pub use lessons::Lessons;
pub use open_files::check_open_files;
pub use options::{AdapterFacts, ColourBy, Drawing, InterfaceScale, SidePanel, ViewOptions};
pub use picture::{LiveArea, is_alive};
pub use picture_request::{MAX_ROUND_BYTES, TextureLimits, request};
pub use population::{Population, PopulationChart};
pub use rung_source::RungSource;
pub use timeline::{Chart, RoundChart, Timeline};
