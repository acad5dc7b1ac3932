//! Where everything stands in the lab's rectangle. Pure arithmetic, in pixels.

use egui::{Rect, pos2, vec2};

use session::Switch;
use ui::lab::{SwitchPosition, SwitchRow};

/// Lines of values.
const VALUE_ROWS: usize = 2;

const PAD: f32 = 14.0;
const TITLE: f32 = 30.0;
const ROW: f32 = 25.0;
/// Between the values and the switches.
const GAP: f32 = 4.0;
/// Positions in one line.
const MAX_ACROSS: usize = 5;
/// The key and the name.
const NAMES: f32 = 128.0;
/// The three lines that say what a position does, or why some cannot be.
const SAID: f32 = 56.0;
const TABS: f32 = 27.0;
/// The least height of the code beside values.
const MIN_CODE: f32 = 90.0;
/// The type of the code, at most.
const MAX_TYPE: f32 = 14.0;
/// A letter's width and a line's height, of the type's size.
const LETTER: f32 = 0.604;
const LEADING: f32 = 1.3;
/// What stands free for the bar that shows how far the code is scrolled.
const BAR: f32 = 8.0;

/// A position of a switch, and where it stands.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Segment {
    pub(super) switch: Switch,
    /// Its place among the positions.
    pub(super) index: usize,
    pub(super) position: SwitchPosition,
    /// Whether it is the present one.
    pub(super) present: bool,
    pub(super) rect: Rect,
}

/// See the module.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct LabLayout {
    pub(super) title: Rect,
    /// The lines of values, where the code has room all the same.
    pub(super) values: Vec<Rect>,
    /// The places of the keys and names, a switch each.
    pub(super) names: Vec<Rect>,
    pub(super) segments: Vec<Segment>,
    pub(super) said: Rect,
    /// One tab per language.
    pub(super) tabs: [Rect; 2],
    pub(super) code: Rect,
}

/// The lines that the positions of a switch take.
fn lines_of(row: &SwitchRow) -> usize {
    row.positions.len().div_ceil(MAX_ACROSS).max(1)
}

/// The cells of a line, of which there are so many, behind its name.
pub(super) fn cells(line: Rect, count: usize) -> impl Iterator<Item = Rect> {
    let left = line.left() + NAMES;
    let width = (line.right() - left) / count as f32;
    (0..count).map(move |at| {
        let corner = pos2(left + at as f32 * width, line.top());
        Rect::from_min_size(corner, vec2(width, line.height()) - vec2(3.0, 3.0))
    })
}

impl LabLayout {
    pub(super) fn new(all: Rect, switches: &[SwitchRow]) -> LabLayout {
        let inside = all.shrink2(vec2(PAD, 6.0));
        let row = |y: f32, height: f32| {
            let corner = pos2(inside.left(), y);
            Rect::from_min_size(corner, vec2(inside.width(), height))
        };
        let title = row(inside.top(), TITLE);
        let lines: usize = switches.iter().map(lines_of).sum();
        let room = inside.height() - (TITLE + lines as f32 * ROW + SAID + TABS + MIN_CODE);
        let has_room = room >= VALUE_ROWS as f32 * ROW + GAP;
        let values = (0..VALUE_ROWS).filter(|_| has_room);
        let values = values.map(|line| row(title.bottom() + line as f32 * ROW, ROW));
        let values: Vec<Rect> = values.collect();
        let mut y = values
            .last()
            .map_or(title.bottom(), |last| last.bottom() + GAP);
        let (mut names, mut segments) = (Vec::new(), Vec::new());
        for shown in switches {
            let positions = &shown.positions;
            let lines = lines_of(shown);
            let across = positions.len().div_ceil(lines).max(1);
            names.push(row(y, ROW));
            let places = (0..lines).flat_map(|line| {
                let line = row(y + line as f32 * ROW, ROW);
                cells(line, across)
            });
            for ((index, position), rect) in positions.iter().enumerate().zip(places) {
                segments.push(Segment {
                    switch: shown.switch,
                    index,
                    present: index == shown.present,
                    position: position.clone(),
                    rect,
                });
            }
            y += lines as f32 * ROW;
        }
        let said = row(y + 2.0, SAID);
        let tab = vec2(104.0, TABS - 4.0);
        let first = Rect::from_min_size(said.left_bottom() + vec2(0.0, 4.0), tab);
        let second = first.translate(vec2(tab.x + 4.0, 0.0));
        let code = Rect::from_min_max(
            pos2(inside.left(), first.bottom() + 6.0),
            inside.max - vec2(0.0, 4.0),
        );
        LabLayout {
            title,
            values,
            names,
            segments,
            said,
            tabs: [first, second],
            code,
        }
    }

    /// The type's size and a line's height, in pixels: no line of the code is cut.
    pub(super) fn code_type(&self, code: &[String]) -> (f32, f32) {
        let longest = code.iter().map(|line| lang::columns(line)).max();
        let room = self.code.width() - (2.0 * 8.0 + BAR);
        let size = room / (longest.unwrap_or(1).max(40) as f32 * LETTER);
        let size = size.min(MAX_TYPE);
        (size, LEADING * size)
    }

    /// How many lines of the code are seen at once.
    pub(super) fn code_lines(&self, code: &[String]) -> usize {
        let (_, line) = self.code_type(code);
        ((self.code.height() - 12.0) / line).max(1.0) as usize
    }
}
