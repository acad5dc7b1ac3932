//! The shelf: the patterns that come with the program, by kind, each with its picture.

use std::ops::Range;
use std::sync::Arc;

use egui::accesskit::Role;
use egui::{
    Galley, Key, Modifiers, Rect, RichText, ScrollArea, Sense, Stroke, StrokeKind, TextEdit, Ui,
    WidgetInfo, pos2, vec2,
};

use crate::view::dialogs::{DialogContext, UiRequest, style};
use crate::view::edit_overlay::runs_of;
use crate::view::hud::style::regular;
use lang::{Language, tr};
use life::{Kind, Lattice, Run, SHELF, Shelved, Size};
use ui::actions::search;

/// Cells of a picture at most, across and down.
const CELLS: u64 = 56;
/// Lengths in points: the least height of a pattern's place, and what a place is wide at least.
const HEIGHT: f32 = 72.0;
const MIN_WIDTH: f32 = 250.0;
const BETWEEN_LINES: f32 = 2.0;

/// The open shelf.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Shelf {
    items: Vec<ShelfItem>,
    typed: String,
    /// The one kind that is shown, or all.
    kind: Option<Kind>,
    /// The highlighted pattern, counted among the matches.
    chosen: usize,
}

/// A pattern as it is listed.
#[derive(Clone, PartialEq, Debug)]
struct ShelfItem {
    shelved: &'static Shelved,
    name: String,
    /// Who found it, and often when.
    author: Option<String>,
    does: String,
    /// Kind and behaviour in English, which find it in every language.
    english: String,
    picture: Vec<Run>,
    size: Size,
}

impl Default for Shelf {
    fn default() -> Shelf {
        Shelf {
            items: SHELF.iter().map(ShelfItem::of).collect(),
            typed: String::new(),
            kind: None,
            chosen: 0,
        }
    }
}

impl ShelfItem {
    fn of(shelved: &'static Shelved) -> ShelfItem {
        let pattern = shelved.pattern();
        let most = Size::new(CELLS, CELLS).expect("a picture's size");
        let (picture, _): (Lattice, u32) = pattern.thumbnail(most);
        let notes = pattern.notes();
        let english = || format!("{} {}", title(shelved.kind()), shelved.behaviour);
        ShelfItem {
            shelved,
            name: notes.name.unwrap_or_else(|| shelved.name.into()),
            author: notes.author,
            does: shelved.behaviour.to_string(),
            english: lang::with(Language::English, english),
            picture: runs_of(&picture).collect(),
            size: picture.size(),
        }
    }

    /// Whether each of the words is in its name, author, kind or behaviour.
    fn is_found_by(&self, words: &[String]) -> bool {
        let author = self.author.as_deref().unwrap_or_default();
        let kind = title(self.shelved.kind());
        let own = [&self.name, self.shelved.name, author, kind, &self.does];
        search::cost(words, &[&own[..], &[&self.english]].concat(), "").is_some()
    }

    /// Whether words of its name start with each of the words.
    fn is_named(&self, words: &[String]) -> bool {
        search::cost(words, &[&self.name, self.shelved.name], "") == Some(0)
    }
}

impl Shelf {
    /// With this typed already.
    #[cfg(test)]
    pub(crate) fn searching(typed: &str) -> Shelf {
        Shelf {
            typed: typed.into(),
            ..Shelf::default()
        }
    }

    /// The patterns that are shown, first those found by name, in the order of their kinds.
    fn matches(&self) -> Vec<&ShelfItem> {
        let words = search::words(&self.typed);
        let kinds = Kind::ALL.into_iter();
        let kinds = kinds.filter(|kind| self.kind.is_none_or(|only| only == *kind));
        let of_kind = |kind| {
            self.items
                .iter()
                .filter(move |it| it.shelved.kind() == kind)
        };
        let all = kinds.flat_map(of_kind);
        let mut found: Vec<_> = all.filter(|item| item.is_found_by(&words)).collect();
        found.sort_by_key(|item| !item.is_named(&words));
        found
    }

    /// Lays it out; whether it stays open.
    pub(super) fn show(&mut self, cx: DialogContext<'_>, requests: &mut Vec<UiRequest>) -> bool {
        let screen = cx.screen;
        let mut taken = None;
        let left = style::dialog(cx, "shelf", None, 1080.0, |ui| {
            let width = ui.available_width();
            let heading = tr!("Patterns: click one to take it, then click a panel to place it");
            style::heading(ui, heading);
            // Before the field sees them: it would move its cursor. Counted: of a slow frame no key
            // is lost.
            let presses = |key| {
                ui.input_mut(|input| input.count_and_consume_key(Modifiers::NONE, key)) as isize
            };
            let across = presses(Key::ArrowRight) - presses(Key::ArrowLeft);
            let down = presses(Key::ArrowDown) - presses(Key::ArrowUp);
            let entered = presses(Key::Enter) > 0;
            let is_other = self.show_search(ui, cx);
            let columns = ((width / MIN_WIDTH) as usize).max(1);
            let space = ui.spacing().item_spacing.x;
            let place = (width - 12.0) / columns as f32 - space;
            let shown = self.matches();
            let rows = rows(&shown, columns);
            let mut chosen = if is_other { 0 } else { self.chosen };
            chosen = moved(&rows, chosen, [across, down]);
            let moves = is_other || [across, down] != [0, 0];
            let mut pointed = chosen;
            if entered {
                taken = shown.get(chosen).map(|item| item.shelved);
            }
            let high = 0.66 * screen.height();
            let scroll = ScrollArea::vertical().max_height(high);
            // Of one size, however much is found: nothing moves while one types.
            let scroll = scroll.min_scrolled_height(high).auto_shrink(false);
            scroll.show(ui, |ui| {
                if shown.is_empty() {
                    ui.label(tr!("No matching pattern"));
                }
                let mut kind = None;
                for row in &rows {
                    let of_row = shown[row.start].shelved.kind();
                    if kind.replace(of_row) != Some(of_row) {
                        ui.add_space(6.0);
                        let title = RichText::new(title(of_row)).heading();
                        ui.label(title.color(cx.palette.accent));
                    }
                    let written: Vec<_> = shown[row.clone()]
                        .iter()
                        .map(|item| (*item, written(ui, cx, item, place)))
                        .collect();
                    let heights = written.iter().map(|(_, lines)| height(lines));
                    let high = heights.fold(HEIGHT, f32::max);
                    ui.horizontal(|ui| {
                        for (at, (item, lines)) in row.clone().zip(written) {
                            let (is_over, clicked) =
                                paint(ui, cx, item, lines, [place, high], at == chosen);
                            if at == chosen && moves {
                                ui.scroll_to_rect(ui.min_rect(), None);
                            }
                            if is_over && !moves {
                                pointed = at;
                            }
                            if clicked {
                                taken = Some(item.shelved);
                            }
                        }
                    });
                }
            });
            self.chosen = pointed;
        });
        requests.extend(taken.map(UiRequest::Shelved));
        taken.is_none() && !left
    }

    /// Lays out the field and the choice of a kind; whether other patterns are shown now.
    fn show_search(&mut self, ui: &mut Ui, cx: DialogContext<'_>) -> bool {
        let hint = tr!("Search: name, author, kind or what it does");
        let field = TextEdit::singleline(&mut self.typed).hint_text(hint);
        let field = field.desired_width(f32::INFINITY);
        let field = ui.add(field.margin(vec2(9.0, 4.0)));
        let field = field.accessible_name(hint);
        if cx.is_top {
            style::hold_focus(&field);
        }
        let before = self.kind;
        ui.horizontal_wrapped(|ui| {
            ui.selectable_value(&mut self.kind, None, tr!("All"));
            for kind in Kind::ALL {
                ui.selectable_value(&mut self.kind, Some(kind), title(kind));
            }
        });
        field.changed() || self.kind != before
    }
}

/// The patterns of each row: at most so many, of one kind.
fn rows(shown: &[&ShelfItem], columns: usize) -> Vec<Range<usize>> {
    let kinds = shown.chunk_by(|a, b| a.shelved.kind() == b.shelved.kind());
    let mut next = 0;
    let mut rows = Vec::new();
    for row in kinds.flat_map(|kind| kind.chunks(columns)) {
        rows.push(next..next + row.len());
        next += row.len();
    }
    rows
}

/// The pattern that is so many places to the right and so many rows down, as far as there are any.
fn moved(rows: &[Range<usize>], from: usize, [across, down]: [isize; 2]) -> usize {
    let last = rows.last().map_or(0, |row| row.end - 1);
    let at = from.saturating_add_signed(across).min(last);
    let Some(row) = rows.iter().position(|row| row.contains(&at)) else {
        return 0;
    };
    let to = &rows[row.saturating_add_signed(down).min(rows.len() - 1)];
    (to.start + at - rows[row].start).min(to.end - 1)
}

/// A kind of which there are several.
fn title(kind: Kind) -> &'static str {
    match kind {
        Kind::StillLife => tr!("Still lifes"),
        Kind::Oscillator => tr!("Oscillators"),
        Kind::Spaceship => tr!("Spaceships"),
        Kind::Gun => tr!("Guns"),
        Kind::Methuselah => tr!("Methuselahs"),
        Kind::Puffer => tr!("Puffers and rakes"),
    }
}

/// The lines that stand beside a pattern's picture, as many rows of each as it needs.
fn written(ui: &Ui, cx: DialogContext<'_>, item: &ShelfItem, width: f32) -> Vec<Arc<Galley>> {
    let palette = cx.palette;
    let room = width - (HEIGHT + 8.0);
    let lines = [
        (Some(&item.name), 15.0, palette.value),
        (Some(&item.does), 13.0, palette.label),
        (item.author.as_ref(), 12.0, palette.label),
    ];
    let line = |(text, height, colour): (Option<&String>, f32, _)| {
        let font = regular(height);
        Some(ui.painter().layout(text?.clone(), font, colour, room))
    };
    lines.into_iter().filter_map(line).collect()
}

/// How high a place is that has these lines.
fn height(lines: &[Arc<Galley>]) -> f32 {
    let lines = lines.iter().map(|line| line.size().y + BETWEEN_LINES);
    lines.sum::<f32>() + 12.0
}

/// Paints a pattern's place of this width and height; whether the mouse has moved over it, and whether
/// it was clicked.
fn paint(
    ui: &mut Ui,
    cx: DialogContext<'_>,
    item: &ShelfItem,
    lines: Vec<Arc<Galley>>,
    [width, high]: [f32; 2],
    is_chosen: bool,
) -> (bool, bool) {
    let palette = cx.palette;
    let (rect, response) = ui.allocate_exact_size(vec2(width, high), Sense::CLICK);
    let name = format!("{}: {}", item.name, item.does);
    response.widget_info(|| WidgetInfo {
        selected: Some(is_chosen),
        ..WidgetInfo::labeled(Role::Button, true, &name)
    });
    let is_moved = ui.input(|input| input.pointer.is_moving());
    let result = (response.hovered() && is_moved, response.clicked());
    if !ui.is_rect_visible(rect) {
        return result;
    }
    let painter = ui.painter_at(rect);
    let background = if is_chosen {
        palette.shelf_pointed
    } else {
        palette.shelf
    };
    painter.rect_filled(rect, 4.0, background);
    let side = HEIGHT - 8.0;
    let frame = Rect::from_min_size(rect.min + vec2(4.0, 4.0), vec2(side, side));
    painter.rect_filled(frame, 2.0, palette.shelf_picture);
    if is_chosen {
        let stroke = Stroke::new(1.0, palette.accent);
        painter.rect_stroke(rect, 4.0, stroke, StrokeKind::Inside);
    }
    let most = item.size.width().max(item.size.height()) as f32;
    let cell = ((side - 6.0) / most).min(5.0);
    let drawn = vec2(item.size.width() as f32, item.size.height() as f32) * cell;
    let corner = frame.center() - drawn / 2.0;
    for run in &item.picture {
        let at = pos2(
            corner.x + run.x as f32 * cell,
            corner.y + run.y as f32 * cell,
        );
        let cells = Rect::from_min_size(at, vec2(run.length as f32, 1.0) * cell);
        painter.rect_filled(cells, 0.0, palette.accent);
    }
    let mut at = pos2(frame.right() + 8.0, rect.top() + 8.0);
    for line in lines {
        let next = line.size().y + BETWEEN_LINES;
        painter.galley(at, line, palette.value);
        at.y += next;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(typed: &str) -> Vec<&'static str> {
        let shelf = Shelf::searching(typed);
        shelf.matches().iter().map(|it| it.shelved.name).collect()
    }

    #[test]
    fn name_author_kind_and_behaviour_find_in_both_languages() {
        let gosper = found("gosper"); // who found others, too
        assert!(gosper[0] == "gosper-gun" && gosper.len() > 1, "{gosper:?}");
        let spaceships = SHELF.iter().filter(|it| it.kind() == Kind::Spaceship);
        let found_ships = found("spaceships");
        for ship in spaceships {
            assert!(found_ships.contains(&ship.name), "{}", ship.name);
        }
        test_support::with(Language::Chinese, || {
            assert!(found("飞船").contains(&"glider"));
            assert!(found("spaceship").contains(&"glider"));
        });
        assert!(found("xyzzy").is_empty());
        assert_eq!(found("").len(), SHELF.len());
    }

    #[test]
    fn the_highlight_moves_by_rows_and_stays_within_them() {
        // Rows of 3, 2 and 1.
        let rows = [0..3, 3..5, 5..6];
        for (from, by, to) in [
            (0, [1, 0], 1),
            (0, [-1, 0], 0),
            (2, [1, 0], 3),
            (5, [1, 0], 5),
            (2, [0, 1], 4),
            (4, [0, 1], 5),
            (5, [0, -1], 3),
            (1, [0, -1], 1),
            (0, [0, 9], 5),
            (99, [0, 0], 5),
        ] {
            assert_eq!(moved(&rows, from, by), to, "from {from} by {by:?}");
        }
        assert_eq!(moved(&[], 3, [1, 1]), 0);
    }
}
