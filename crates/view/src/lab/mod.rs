//! The lab: the switches with their positions, and the calls that the present ones make, in C++
//! and in Rust.
//!
//! `screen::lab` has the switches and the code, `layout` computes rectangles, `paint` paints them;
//! mouse handling is here.

mod layout;
mod paint;

#[cfg(test)]
mod tests;

use egui::{Pos2, pos2};

pub(crate) use paint::paint;

use crate::hud::rect_of;
use crate::layout::WindowLayout;
use layout::LabLayout;
use model::{SessionAction, Status, Switch};
use screen::SidePanel;
use screen::calls::{CallLanguage, calls, each_round};
use screen::lab::switches;

/// What the lab shows; it lives as long as the window, closed or not.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct LabView {
    language: CallLanguage,
    /// Lines of the code above its place, once that was chosen.
    scrolled: Option<usize>,
    pointer: Option<Pos2>,
    /// The unavailable position that was clicked last: it says why as long as nothing else is
    /// clicked.
    asked: Option<(Switch, usize)>,
}

fn pos([x, y]: [f64; 2]) -> Pos2 {
    pos2(x as f32, y as f32)
}

/// The places in a layout that has a lab.
fn places(layout: &WindowLayout, status: &Status) -> Option<LabLayout> {
    Some(LabLayout::new(
        rect_of(layout.side_rect(SidePanel::Lab)?),
        layout.unit,
        &switches(status),
    ))
}

impl LabView {
    /// The mouse is here, or nowhere over the lab; whether that shows.
    pub fn hover(&mut self, at: Option<[f64; 2]>) -> bool {
        let before = std::mem::replace(&mut self.pointer, at.map(pos));
        before != self.pointer
    }

    /// What a click asks for: a position that can be is chosen, one that cannot says why, a language
    /// is shown.
    pub fn click(
        &mut self,
        at: [f64; 2],
        layout: &WindowLayout,
        status: &Status,
    ) -> Option<SessionAction> {
        let (places, at) = (places(layout, status)?, pos(at));
        let tab = |language: &CallLanguage| places.tabs[*language as usize].contains(at);
        if let Some(language) = CallLanguage::ALL.into_iter().find(tab) {
            (self.language, self.scrolled) = (language, None);
            return None;
        }
        let mut segments = places.segments.iter();
        let segment = segments.find(|segment| segment.rect.contains(at));
        let impossible = segment.filter(|it| it.position.unavailable.is_some());
        self.asked = impossible.map(|it| (it.switch, it.index));
        let segment = segment?;
        let at = u8::try_from(segment.index).ok()?;
        impossible
            .is_none()
            .then_some(SessionAction::SetSwitch(segment.switch, at))
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
