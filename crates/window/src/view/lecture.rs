//! The step of a lecture, in a strip above the panels: what the class reads, what it is asked and may say,
//! and what was measured.

use std::sync::Arc;

use egui::{Align2, Color32, FontId, Galley, Rect, pos2, vec2};

use crate::view::hud::style::*;
use crate::view::lesson::page::{choice_places, paint_choice};
use crate::view::lesson::paint_foot;
use crate::view::widget_painter::WidgetPainter;
use lang::tr;
use ui::{LectureScreen, ViewAction};

/// Lengths in points.
const PAD: f32 = 14.0;
const TEXT: f32 = 19.0;
const ROW: f32 = 26.0;
const CHOICE: f32 = 40.0;
/// The height and the width of the buttons.
const FOOT: f32 = 34.0;
const FOOT_WIDTH: f32 = 240.0;
/// To this part of their size choices shrink where they then have room beside the buttons.
const MIN_CHOICE: f32 = 0.7;
/// The part of a line from which on there surely is one.
const SURE: f32 = 0.25;
/// The largest part of the height above the panels that the strip takes.
const MAX_PART: f32 = 0.3;
/// Sizes of type that are tried, from the usual one to the smallest.
const SIZES: [f32; 6] = [1.0, 0.9, 0.8, 0.7, 0.6, 0.5];

/// How long a step's words are, in columns of a terminal: text, result, question, choices.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct LectureWords([usize; 4]);

/// The lengths of a step's words.
pub(crate) fn words(step: &LectureScreen) -> LectureWords {
    let choices = step.choices.iter();
    let choices = choices.map(|choice| lang::columns(&choice.text) + 5);
    LectureWords([
        lang::columns(&step.text),
        lang::columns(&step.result),
        lang::columns(&step.question),
        choices.sum(),
    ])
}

impl LectureWords {
    /// The strip's height above an area, in points.
    pub(crate) fn height(self, [width, height]: [f32; 2]) -> f32 {
        // A letter is about half as wide as the type is high.
        let column = 0.5 * TEXT;
        let room = width - 2.0 * PAD;
        let widths = self.0.map(|columns| columns as f32 * column);
        let rows = widths.map(|width| (width / room).ceil());
        let [text, result, question, choices] = rows;
        let words = (text + question + result) * ROW + choices * CHOICE;
        // The buttons stand in the last line of words, if there is room for both.
        let last = (0..4).rev().find(|&at| rows[at] > 0.0).unwrap_or(0);
        let last_width = match last {
            3 => MIN_CHOICE * widths[3],
            _ => widths[last] - (rows[last] - 1.0) * room,
        };
        let foot = if last_width + FOOT_WIDTH > room {
            FOOT
        } else if last_width < SURE * room && rows[last] > 1.0 {
            FOOT - ROW // they may take a line less, which leaves the buttons no room
        } else {
            0.0
        };
        (words + foot + PAD).min(MAX_PART * height)
    }
}

/// Paints the strip; its words shrink where they have no room.
pub(crate) fn paint(painter: &WidgetPainter, step: &LectureScreen, rect: Rect) {
    let palette = &painter.palette;
    painter.rect_filled(rect, 0.0, palette.lesson_card);
    let edge = Rect::from_min_size(rect.min, vec2(4.0, rect.height()));
    painter.rect_filled(edge, 0.0, palette.accent);
    let inside = rect.shrink2(vec2(PAD, 0.5 * PAD));
    let foot_left = inside.right() - FOOT_WIDTH;
    let usual = SIZES.map(|size| Words::new(painter, step, inside, foot_left, size));
    let foot = |words: &Words| {
        let is_beside = words.last_right <= foot_left;
        if is_beside { 0.0 } else { FOOT }
    };
    let fits = |words: &Words| words.bottom + foot(words) <= inside.bottom() + 1.0;
    let fitting = usual.iter().position(fits);
    let words = &usual[fitting.unwrap_or(SIZES.len() - 1)];
    for (text, top) in &words.texts {
        let at = pos2(inside.left(), *top);
        put(painter, at, Align2::LEFT_TOP, text.clone());
    }
    let is_asked = !step.choices.iter().any(|choice| choice.is_right);
    for (number, (choice, place)) in step.choices.iter().zip(&words.choices).enumerate() {
        paint_choice(painter, *place, words.choice_unit, number, choice, is_asked);
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
    let number = format!("{} / {}", step.number, step.of);
    let left = if foot(words) > 0.0 {
        inside.left()
    } else {
        foot_left.min(words.last_right + PAD)
    };
    paint_foot(painter, inside.with_min_x(left), &number, &buttons);
}

/// A step's words in type of one size.
struct Words {
    scale: f32,
    /// Each text and its upper edge.
    texts: Vec<(Arc<Galley>, f32)>,
    choices: Vec<Rect>,
    choice_unit: f32,
    bottom: f32,
    /// Where the last line ends.
    last_right: f32,
}

impl Words {
    /// In this room, in the last line of which the buttons begin at `foot_left`.
    fn new(
        painter: &WidgetPainter,
        step: &LectureScreen,
        room: Rect,
        foot_left: f32,
        scale: f32,
    ) -> Words {
        let palette = &painter.palette;
        let mut words = Words {
            scale,
            texts: Vec::new(),
            choices: Vec::new(),
            choice_unit: scale,
            bottom: room.top(),
            last_right: room.left(),
        };
        let size = TEXT * scale;
        words.add(painter, &step.text, regular(size), palette.value, room);
        words.add(painter, &step.result, medium(size), palette.running, room);
        words.add(painter, &step.question, medium(size), palette.accent, room);
        let first = pos2(room.left(), words.bottom + 2.0 * scale);
        let places = |scale, width| choice_places(painter, &step.choices, scale, first, width);
        if let Some(last) = places(scale, f32::INFINITY).last() {
            let part = 0.98 * (foot_left - first.x) / (last.right() - first.x);
            if part > MIN_CHOICE {
                words.choice_unit = part.min(1.0) * scale;
            }
            words.choices = places(words.choice_unit, room.width());
        }
        if let Some(last) = words.choices.last() {
            (words.bottom, words.last_right) = (last.bottom(), last.right());
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
        self.bottom += galley.size().y + 4.0 * self.scale;
        let last = galley.rows.last();
        self.last_right = room.left() + last.map_or(0.0, |row| row.rect().right());
        self.texts.push((galley, top));
    }
}
