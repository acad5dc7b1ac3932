//! The figures beside the panels, painted by hand: every figure has its place, so that none
//! moves when another changes. It never covers a panel.

mod bar;
#[cfg(test)]
mod chinese_tests;
#[cfg(test)]
mod contrast_tests;
mod parts;
mod presenting;
mod side;
pub(crate) mod style;
#[cfg(test)]
pub(crate) mod tests;

use std::sync::Arc;

use egui::{Align2, Rect, Stroke, StrokeKind, pos2, vec2};

use crate::layout::{Dock, PixelRect, WindowLayout};
use crate::{
    Frame, callouts, comparison, edit_overlay, lab, ladder, lesson, minimap, population, timeline,
    toolbar,
};
use lang::{Message, message, tr};
pub(crate) use parts::{close_button, key_hint, menu as paint_menu_sign, message_colours};
pub(crate) use presenting::HEIGHT as STRIP;
use screen::figures::Urgency;
use screen::{SidePanel, ViewOptions, ViewTransform};
use style::ThemedPainter;
pub use style::install_fonts;

/// Paints everything of a frame but the cells; all lengths are pixels.
pub(crate) fn paint(
    painter: &ThemedPainter,
    frame: &Frame<'_>,
    place: Option<&(WindowLayout, ViewTransform)>,
) {
    let screen = Rect::from_min_size(
        egui::Pos2::ZERO,
        vec2(frame.pixels[0] as f32, frame.pixels[1] as f32),
    );
    let (Some(status), Some((layout, _)), Some(figures)) =
        (frame.sources.status, place, &frame.screen.figures)
    else {
        return starting(
            painter,
            screen,
            frame.unit(),
            frame.sources.drawing.notice.as_deref(),
        );
    };
    if frame.sources.single_instance().is_none() && status.lattices.instances > 1 {
        let selected = status.panels.selected.min(status.lattices.instances - 1);
        highlight(painter, layout, selected, frame.sources.options);
    }
    minimap::paint(painter, frame, layout);
    edit_overlay::paint(painter, frame, layout);
    let mut figures = figures.clone();
    if let Some(sentence) = no_room(frame, layout) {
        Arc::make_mut(&mut figures).notify(sentence);
    }
    // The finding stands over the lanes.
    let repeats = |(urgency, _): &(Urgency, Message)| *urgency == Urgency::Effect;
    if layout.timeline.is_some() && figures.messages.iter().any(repeats) {
        let figures = Arc::make_mut(&mut figures);
        figures.messages.retain(|it| !repeats(it));
    }
    match layout.dock {
        Dock::Hidden => {}
        Dock::Side(rect) => side::paint(painter, rect_of(rect), layout.unit, &figures),
        Dock::Bar(rect) => bar::paint(painter, rect_of(rect), layout.unit, &figures),
        Dock::Strip(rect) => {
            presenting::paint(painter, rect_of(rect), layout.unit, frame, status, &figures);
        }
    }
    if let Some(rect) = layout.toolbar {
        toolbar::paint(painter, frame, rect_of(rect), layout.unit);
    }
    callouts::paint(painter, frame, layout);
    if let Some(rect) = layout.timeline {
        timeline::paint(painter, frame, rect_of(rect), layout.unit, layout.sm_count);
    }
    population::paint_tags(painter, status, frame.sources.single_instance(), layout);
    if let Some((panel, rect)) = layout.side {
        let (rect, unit) = (rect_of(rect), layout.unit);
        let screen = &frame.screen;
        match panel {
            SidePanel::Lab => {
                if let Some(shown) = &screen.lab {
                    lab::paint(painter, frame.lab, shown, rect, unit);
                }
            }
            SidePanel::Population => {
                if let Some(shown) = &screen.population {
                    population::paint(painter, shown, rect, unit);
                }
            }
            SidePanel::Ladder => {
                if let Some(shown) = &screen.ladder {
                    ladder::paint(painter, shown, rect, unit);
                }
            }
        }
    }
    if let Some(rect) = layout.lesson {
        lesson::paint(painter, frame, rect_of(rect), layout.unit);
    }
    if let (Some(shown), Some(places)) = (&frame.screen.comparison, &layout.comparison) {
        comparison::paint(painter, shown, places, layout.unit);
    }
}

/// Says which of the things to be shown has no room in this window.
fn no_room(frame: &Frame<'_>, layout: &WindowLayout) -> Option<Message> {
    let no_timeline = frame.sources.options.timeline && layout.timeline.is_none();
    match frame.sources.options.side {
        Some(panel) if layout.side.is_none() => Some(match panel {
            SidePanel::Lab => message!("The window is too small for the lab"),
            SidePanel::Population => message!("The window is too small for the population graph"),
            SidePanel::Ladder => message!("The window is too small for the ladder"),
        }),
        Some(panel) if no_timeline => Some(match panel {
            SidePanel::Lab => message!("The lab takes the timeline's place in this window"),
            SidePanel::Population => {
                message!("The population graph takes the timeline's place in this window")
            }
            SidePanel::Ladder => message!("The ladder takes the timeline's place in this window"),
        }),
        Some(_) => None,
        None if no_timeline => Some(message!("The window is too small for the timeline")),
        None => None,
    }
}

/// A thin frame around the selected panel, in the gap, off its cells.
fn highlight(painter: &ThemedPainter, layout: &WindowLayout, place: usize, options: &ViewOptions) {
    let width = (2.0 * layout.unit)
        .round()
        .clamp(1.0, layout.tiling.gap.max(1) as f32);
    let rect = rect_of(layout.tiling.rect(place));
    if !rect.is_positive() {
        return; // it belongs to neither A nor B, and has no panel
    }
    // White stands out beside dark cells (where the theme is light: black beside light ones), the
    // accent beside inverted ones.
    let colour = if options.invert {
        painter.palette.accent
    } else {
        painter.palette.value
    };
    painter.rect_stroke(rect, 0.0, Stroke::new(width, colour), StrokeKind::Outside);
}

/// While the engine starts there is nothing else to show.
fn starting(painter: &ThemedPainter, screen: Rect, unit: f32, notice: Option<&str>) {
    let text = notice.unwrap_or(tr!("starting the engine …"));
    let room = screen.width() * 0.9;
    let galley = style::paragraph(
        painter,
        text,
        style::regular(20.0 * unit),
        painter.palette.label,
        room,
        8,
    );
    style::put(painter, screen.center(), Align2::CENTER_CENTER, galley);
}

pub(crate) fn rect_of(rect: PixelRect) -> Rect {
    Rect::from_min_size(
        pos2(rect.x as f32, rect.y as f32),
        vec2(rect.width as f32, rect.height as f32),
    )
}
