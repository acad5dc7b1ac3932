//! Draws a session: its lattices as tiled panels, its figures beside them.
//!
//! A frame goes one way: pictures into textures ([`session::PictureSource`]), panels over textures
//! (`shaders/panels.wgsl`), then the interface (egui's widgets, and charts that are painted): edits and
//! minimaps over the panels, the `toolbar` and the labels of a `comparison`
//! above them, the HUD (or a lesson's page) and the `lab`, the `ladder`, the
//! `population` graph or the `code_editor` beside them, the [`timeline`] below. Over all are the `dialogs`, help among
//! them, which are egui's own windows. The window and [`offscreen::Renderer`] draw the very same
//! scene.

mod causes;
mod cell_ages;
pub(crate) mod code_editor;
mod dialogs;
mod frame;
pub(crate) mod gpu;
pub(crate) mod hud;
mod lab;
pub(crate) mod ladder;
pub(crate) mod layout;
mod lecture;
mod lesson;
pub mod offscreen;
pub(crate) mod over_panels;
pub(crate) mod panels;
mod picture_cache;
pub mod picture_file;
mod population;
pub(crate) mod recording;
pub(crate) mod requests;
mod scene;
pub(crate) mod style;
pub(crate) mod timeline;
mod toolbar;

#[cfg(test)]
mod gallery;
#[cfg(test)]
mod pixel_tests;

pub use crate::error::ViewError;
pub use gpu::list_adapters;
pub(crate) use panels::MIN_PIXELS_FOR_LINES;

pub(crate) use dialogs::{Dialog, Dialogs, FileDialog, FileTask, Form, PATTERN_FILE, Picker};
pub(crate) use frame::Frame;
pub(crate) use gpu::Gpu;
pub(crate) use scene::Scene;
