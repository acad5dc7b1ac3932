//! The step of a lecture, in a strip above the panels: what the class reads, what it is asked and may say,
//! and what was measured.

use std::sync::Arc;

use egui::{Align2, Color32, FontId, Galley, Rect, pos2, vec2};

use crate::view::hud::style::*;
use crate::view::lesson::page::{choice_places, paint_choice};
use crate::view::lesson::paint_foot;
use crate::view::widget_painter::WidgetPainter;
use lang::tr;
use model::ViewAction;
use ui::LectureScreen;

/// Lengths in units of type.
const PAD: f32 = 14.0;
const TEXT: f32 = 19.0;
const ROW: f32 = 26.0;
const CHOICE: f32 = 40.0;
/// The height of a line of buttons and the step's number.
const FOOT: f32 = 34.0;
/// The largest part of the height above the panels that the strip takes.
const MAX_PART: f32 = 0.28;
/// Sizes of type that are tried, from the usual one to the smallest.
const SIZES: [f32; 6] = [1.0, 0.9, 0.8, 0.7, 0.6, 0.5];

/// How long a step's words are, in columns of a terminal: text, question, choices, result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct LectureWords([usize; 4]);

/// The lengths of a step's words.
pub(crate) fn words(step: &LectureScreen) -> LectureWords {
    let choices = step.choices.iter();
    let choices = choices.map(|choice| lang::columns(&choice.text) + 9);
    LectureWords([
        lang::columns(&step.text),
        lang::columns(&step.question),
        choices.sum(),
        lang::columns(&step.result),
    ])
}

impl LectureWords {
    /// The strip's height in pixels above an area of so many.
    pub(crate) fn height(self, area: [u32; 2], unit: f32) -> u32 {
        let [width, height] = area.map(|side| side as f32 / unit);
        // A letter is about half as wide as the type is high.
        let room = (width - 2.0 * PAD) / (0.52 * TEXT);
        let rows = |columns: usize| (columns as f32 / room).ceil();
        let [text, question, choices, result] = self.0.map(rows);
        let words = (text + question + result) * ROW + choices * CHOICE;
        ((words + FOOT + PAD).min(MAX_PART * height) * unit).round() as u32
    }
}

/// Paints the strip, `unit` pixels per unit; its words shrink where they have no room.
pub(crate) fn paint(painter: &WidgetPainter, step: &LectureScreen, rect: Rect, unit: f32) {
    let palette = &painter.palette;
    painter.rect_filled(rect, 0.0, palette.lesson_card);
    let edge = Rect::from_min_size(rect.min, vec2(4.0 * unit, rect.height()));
    painter.rect_filled(edge, 0.0, palette.accent);
    let inside = rect.shrink2(vec2(PAD, 0.5 * PAD) * unit);
    let room = Rect::from_min_max(inside.min, inside.max - vec2(0.0, FOOT * unit));
    let usual = SIZES.map(|size| Words::new(painter, step, room, size * unit));
    let fitting = usual.iter().position(|words| words.bottom <= room.bottom());
    let words = &usual[fitting.unwrap_or(SIZES.len() - 1)];
    for (text, top) in &words.texts {
        put(
            painter,
            pos2(room.left(), *top),
            Align2::LEFT_TOP,
            text.clone(),
        );
    }
    let is_asked = !step.choices.iter().any(|choice| choice.is_right);
    for (number, (choice, place)) in step.choices.iter().zip(&words.choices).enumerate() {
        paint_choice(painter, *place, words.unit, number, choice, is_asked);
    }
    let next = if step.number == step.of {
        tr!("Finish")
    } else {
        tr!("Next")
    };
    let buttons = [
        (tr!("Close"), ViewAction::ToggleLecture, true),
        (tr!("Back"), ViewAction::PreviousPage, step.number > 1),
        (next, ViewAction::NextPage, true),
    ];
    let number = tr!("Step {number} of {of}", number = step.number, of = step.of);
    paint_foot(painter, inside, unit, &number, &buttons);
}

/// A step's words in type of one size.
struct Words {
    unit: f32,
    /// Each text and its upper edge.
    texts: Vec<(Arc<Galley>, f32)>,
    choices: Vec<Rect>,
    bottom: f32,
}

impl Words {
    fn new(painter: &WidgetPainter, step: &LectureScreen, room: Rect, unit: f32) -> Words {
        let palette = &painter.palette;
        let mut words = Words {
            unit,
            texts: Vec::new(),
            choices: Vec::new(),
            bottom: room.top(),
        };
        let size = TEXT * unit;
        words.add(painter, &step.text, regular(size), palette.value, room);
        words.add(painter, &step.result, medium(size), palette.running, room);
        words.add(painter, &step.question, medium(size), palette.accent, room);
        if !step.choices.is_empty() {
            let first = pos2(room.left(), words.bottom + 2.0 * unit);
            words.choices = choice_places(painter, &step.choices, unit, first, room.width());
            let last = words.choices.last();
            words.bottom = last.map_or(words.bottom, |last| last.bottom() + 6.0 * unit);
        }
        words
    }

    fn add(
        &mut self,
        painter: &WidgetPainter,
        text: &str,
        font: FontId,
        colour: Color32,
        room: Rect,
    ) {
        if text.is_empty() {
            return;
        }
        let galley = paragraph(painter, text, font, colour, room.width(), usize::MAX);
        let top = self.bottom;
        self.bottom += galley.size().y + 4.0 * self.unit;
        self.texts.push((galley, top));
    }
}
