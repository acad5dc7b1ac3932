//! Lessons on screen: the list of them, or a page of one.

use std::sync::Arc;

use model::Speedup;

/// A row of the list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LessonEntry {
    /// As `lifestreams lesson` has it.
    pub name: String,
    /// What it is about.
    pub title: String,
}

/// A page of a lesson.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LessonPage {
    /// The lesson's title.
    pub title: String,
    /// Which page, from 1.
    pub number: usize,
    /// How many there are.
    pub of: usize,
    /// A sentence or two.
    pub text: String,
    /// What the class is asked to predict; may be empty.
    pub question: String,
    /// Figures: what was measured, and the value with its unit.
    pub rows: Vec<(String, String)>,
    /// A remark on them; may be empty.
    pub note: String,
    /// What was checked, and whether it holds.
    pub checks: Vec<(String, bool)>,
    /// Whether it is being measured.
    pub busy: bool,
    /// The speed-up curve, as far as it is measured.
    pub speedup: Option<Arc<Speedup>>,
    /// Width, height and RGBA, four bytes per pixel, row by row.
    pub picture: Option<(u32, u32, Arc<[u8]>)>,
}

/// What stands beside the panels while lessons are open.
#[derive(Clone, PartialEq, Debug)]
pub enum LessonScreen {
    /// All lessons.
    List {
        /// In their order.
        entries: Vec<LessonEntry>,
        /// The one that Enter opens.
        selected: usize,
    },
    /// A page of one.
    Page(LessonPage),
}
