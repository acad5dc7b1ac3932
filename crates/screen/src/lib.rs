//! What is on screen, as data: figures, charts in nanoseconds, the lesson's page, what the person
//! has chosen to see, and the cameras.
//!
//! The window (`view`, `window`) and the terminal paint the same data; only the terminal's line of
//! figures is its own. Nothing here depends on a font, a graphics API or a terminal. A camera is
//! told the size of its panel in pixels.

mod callouts;
pub mod calls;
mod camera;
mod cameras;
pub mod comparison;
mod drawing;
mod edit_overlay;
pub mod figures;
pub mod finding;
#[cfg(any(test, feature = "fixtures"))]
pub mod fixtures;
mod interface_scale;
pub mod ladder;
mod lesson;
pub mod numbers;
mod options;
mod picture_request;
pub mod population;
mod screen;
pub mod shade;
pub mod theme;
pub mod timeline;

pub use self::screen::Screen;
pub use callouts::Callout;
pub use camera::{Camera, MAX_PIXELS_A_CELL, MIN_OPENING_PIXELS, PanelPart, ViewTransform};
pub use drawing::{AdapterFacts, Drawing};
pub use edit_overlay::{EditOverlay, Ghost, Pending, Tool};
pub use figures::{Figure, Figures, figures};
pub use interface_scale::InterfaceScale;
pub use ladder::LadderChart;
pub use lesson::{LessonEntry, LessonPage, LessonScreen};
pub use options::{ColourBy, SidePanel, ViewOptions};
pub use picture_request::{MAX_ROUND_BYTES, TextureLimits, request};
pub use population::{Population, PopulationChart};
pub use timeline::{Chart, Timeline};
