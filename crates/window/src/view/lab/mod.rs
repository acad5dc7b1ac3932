//! The lab: the switches with their positions, and the calls that the present ones make, in C++
//! and in Rust.
//!
//! `ui::lab` has the switches and the code, `layout` computes rectangles, `paint` paints them.

mod layout;
mod paint;

#[cfg(test)]
mod tests;

pub(crate) use paint::paint;

use crate::view::layout::WindowLayout;
use layout::LabLayout;
use session::Status;
use ui::SidePanel;
use ui::calls::{CallLanguage, calls, each_round};
use ui::lab::switches;

/// What the lab shows; it lives as long as the window, closed or not.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct LabView {
    language: CallLanguage,
    /// Lines of the code above its place, once that was chosen.
    scrolled: Option<usize>,
}

/// The places in a layout that has a lab.
fn places(layout: &WindowLayout, status: &Status) -> Option<LabLayout> {
    Some(LabLayout::new(
        layout.points(layout.side_rect(SidePanel::Lab)?),
        &switches(status),
    ))
}

impl LabView {
    /// Shows the calls in this language, from their usual line on.
    pub fn show_calls(&mut self, language: CallLanguage) {
        (self.language, self.scrolled) = (language, None);
    }

    /// Scrolls the code so many lines down.
    pub fn scroll(&mut self, lines: i64, layout: &WindowLayout, status: &Status) {
        let Some(places) = places(layout, status) else {
            return;
        };
        let calls = calls(status);
        let code = calls.of(self.language);
        let first = self.first_line(&places, code) as i64;
        let most = code.len().saturating_sub(places.code_lines(code)) as i64;
        self.scrolled = Some((first + lines).clamp(0, most) as usize);
    }

    /// The first line of the code that is seen: unless it was scrolled, the round's first where
    /// not all has room.
    fn first_line(&self, places: &LabLayout, code: &[String]) -> usize {
        let most = code.len().saturating_sub(places.code_lines(code));
        let round = || code.iter().position(|line| line == each_round());
        self.scrolled.or_else(round).unwrap_or(0).min(most)
    }
}
