//! Every key by topic, found by typing; made from the action table.

use std::sync::Arc;

use egui::accesskit::Role;
use egui::{
    Color32, Galley, Id, Painter, Rect, ScrollArea, Sense, TextEdit, Ui, WidgetInfo, pos2, vec2,
};

use crate::view::dialogs::entries::{self, Entry};
use crate::view::dialogs::{DialogContext, UiRequest, style};
use crate::view::hud::style::{medium, regular};
use lang::tr;
use ui::actions::{Topic, search};
use ui::theme::Palette;
use ui::{Action, Sources, ViewAction};

/// Lengths in points: how wide the card is at most, and a column at least.
const WIDTH: f32 = 1240.0;
const MIN_COLUMN: f32 = 330.0;
const BETWEEN_COLUMNS: f32 = 26.0;
/// Between a row's keys and what they do.
const BESIDE_KEYS: f32 = 13.0;
/// How much of a column the keys take at most.
const MAX_FOR_KEYS: f32 = 0.42;
const BETWEEN_ROWS: f32 = 3.0;
const BELOW_HEADING: f32 = 5.0;
const BETWEEN_TOPICS: f32 = 14.0;
const TYPE: f32 = 14.5;

/// The open help.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Help {
    typed: String,
}

impl Help {
    /// With this typed already.
    #[cfg(test)]
    pub(crate) fn searching(typed: &str) -> Help {
        Help {
            typed: typed.into(),
        }
    }

    /// Lays it out; whether it stays open.
    pub(super) fn show(&mut self, cx: DialogContext<'_>, requests: &mut Vec<UiRequest>) -> bool {
        let mut clicked = None;
        let left = style::dialog(cx, "help", Some(0.03), WIDTH, |ui| {
            style::heading(ui, tr!("Keyboard shortcuts"));
            let hint = tr!("Search: click here and type");
            let field = TextEdit::singleline(&mut self.typed).hint_text(hint);
            let field = field.desired_width(f32::INFINITY);
            let field = ui.add(field.margin(vec2(9.0, 4.0)));
            let field = field.accessible_name(hint);
            if cx.is_top {
                style::hold_focus(&field);
            }
            ui.add_space(6.0);
            // Of one height, however much is found: nothing moves while one types.
            let room = 0.94 * cx.screen.height() - ui.min_rect().height() - 28.0;
            let room = room.max(40.0);
            let width = ui.available_width() - ui.spacing().scroll.bar_width;
            let columns = |typed: &str| {
                let it = &cx.frame.sources;
                Columns::new(ui.painter(), cx.palette, typed, it, width)
            };
            let everything = columns("");
            let height = everything.height.min(room);
            let shown = match self.typed.trim() {
                "" => everything,
                typed => columns(typed),
            };
            let scroll = ScrollArea::vertical()
                .max_height(height)
                .min_scrolled_height(height);
            scroll.auto_shrink(false).show(ui, |ui| {
                if shown.sections.is_empty() {
                    entries::nothing(ui, cx);
                }
                let (rect, _) = ui.allocate_exact_size(vec2(width, shown.height), Sense::hover());
                clicked = shown.paint(ui, rect, cx);
            });
        });
        if let Some(request) = clicked.clone().filter(|request| !closes(request)) {
            requests.push(request);
        }
        !left && clicked.is_none()
    }
}

/// Whether a row does no more than close the help, as a click on any row does.
fn closes(request: &UiRequest) -> bool {
    let closing = [ViewAction::ToggleHelp, ViewAction::Escape].map(Action::View);
    matches!(request, UiRequest::Act(action) if closing.contains(action))
}

/// A topic's heading and rows.
struct Section {
    heading: Arc<Galley>,
    rows: Vec<Row>,
    height: f32,
}

/// A row as it is laid out.
struct Row {
    keys: Arc<Galley>,
    help: Arc<Galley>,
    request: UiRequest,
    unavailable: Option<String>,
}

impl Row {
    fn height(&self) -> f32 {
        self.keys.size().y.max(self.help.size().y)
    }
}

/// The sections in columns, from left to right.
struct Columns {
    /// Each with its column and its top.
    sections: Vec<(Section, usize, f32)>,
    /// How wide the keys of each column are.
    keys: Vec<f32>,
    /// From a column's left side to the next one's.
    pitch: f32,
    height: f32,
}

impl Columns {
    /// The rows that have every typed word.
    fn new(
        painter: &Painter,
        palette: &Palette<Color32>,
        typed: &str,
        it: &Sources<'_>,
        width: f32,
    ) -> Columns {
        let between = BETWEEN_COLUMNS;
        let count = ((width + between) / (MIN_COLUMN + BETWEEN_COLUMNS)).max(1.0) as usize;
        let count = count.min(3);
        let pitch = (width + between) / count as f32;
        let column = pitch - between;
        let words = search::words(typed);
        let found: Vec<(Topic, Vec<Entry>)> = Topic::ALL
            .into_iter()
            .map(|topic| {
                let rows = topic.rows().map(|row| Entry::of_row(row, it));
                let rows = rows.filter(|entry| entry.cost(&words).is_some());
                (topic, rows.collect())
            })
            .filter(|(_, rows): &(_, Vec<_>)| !rows.is_empty())
            .collect();
        // A line more for each heading: close enough to share the topics out by.
        let lines = |rows: &[Entry]| rows.len() + 2;
        let all: usize = found.iter().map(|(_, rows)| lines(rows)).sum();
        // Few topics are found in the first columns.
        let used = count.min(found.len());
        let mut before = 0;
        let mut places: Vec<usize> = Vec::new();
        for (_, rows) in &found {
            let middle = before + lines(rows) / 2;
            places.push((middle * used / all.max(1)).min(used - 1));
            before += lines(rows);
        }
        let keys_of = |entry: &Entry| {
            let font = medium(TYPE);
            let most = MAX_FOR_KEYS * column;
            painter.layout(entry.keys.clone(), font, palette.accent, most)
        };
        let widest = |at: usize| {
            let here = found.iter().zip(&places).filter(|(_, place)| **place == at);
            let keys = here.flat_map(|((_, rows), _)| rows).map(keys_of);
            keys.map(|keys| keys.size().x).fold(0.0, f32::max)
        };
        let keys: Vec<f32> = (0..count).map(widest).collect();
        let mut tops = vec![0.0; count];
        let mut sections = Vec::new();
        for ((topic, entries), place) in found.into_iter().zip(places) {
            let room = column - keys[place] - BESIDE_KEYS;
            let row = |entry: Entry| Row {
                keys: keys_of(&entry),
                help: painter.layout(entry.text, regular(TYPE), palette.value, room),
                request: entry.request,
                unavailable: entry.unavailable,
            };
            let rows: Vec<Row> = entries.into_iter().map(row).collect();
            let title = topic.title().to_owned();
            let heading = painter.layout(title, medium(16.0), palette.value, column);
            let height = rows.iter().map(|row| row.height() + BETWEEN_ROWS);
            let height = heading.size().y + BELOW_HEADING + height.sum::<f32>();
            let section = Section {
                heading,
                rows,
                height,
            };
            sections.push((section, place, tops[place]));
            tops[place] += height + BETWEEN_TOPICS;
        }
        let height = tops.iter().copied().fold(0.0, f32::max);
        Columns {
            sections,
            keys,
            pitch,
            height: (height - BETWEEN_TOPICS).max(0.0),
        }
    }

    /// Paints them; returns what the row that was clicked asks for.
    fn paint(self, ui: &Ui, rect: Rect, cx: DialogContext<'_>) -> Option<UiRequest> {
        let palette = cx.palette;
        let mut clicked = None;
        for (number, (section, column, top)) in self.sections.into_iter().enumerate() {
            let mut at = rect.min + vec2(column as f32 * self.pitch, top);
            let place = Rect::from_min_size(at, vec2(self.pitch, section.height));
            if !ui.is_rect_visible(place) {
                continue;
            }
            let below = section.heading.size().y + BELOW_HEADING;
            ui.painter().galley(at, section.heading, palette.value);
            at.y += below;
            let keys = self.keys[column];
            for (line, row) in section.rows.into_iter().enumerate() {
                let height = row.height();
                let left = pos2(at.x + keys - row.keys.size().x, at.y);
                let beside = pos2(at.x + keys + BESIDE_KEYS, at.y);
                let size = vec2(self.pitch - BETWEEN_COLUMNS, height);
                let painter = ui.painter();
                let id = Id::unique("help").with((number, line));
                let place = Rect::from_min_size(at, size);
                let is_possible = row.unavailable.is_none();
                let sense = if is_possible {
                    Sense::CLICK
                } else {
                    Sense::hover()
                };
                let response = ui.interact(place, id, sense);
                let name = row.help.text();
                response.widget_info(|| WidgetInfo::labeled(Role::Button, is_possible, name));
                match row.unavailable {
                    None => {
                        if response.hovered() {
                            let background = ui.visuals().widgets.hovered.weak_bg_fill;
                            let around = place.expand2(vec2(5.0, 1.0));
                            painter.rect_filled(around, 4.0, background);
                        }
                        if response.clicked() {
                            clicked = Some(row.request);
                        }
                        painter.galley(left, row.keys, palette.accent);
                        painter.galley(beside, row.help, palette.value);
                    }
                    Some(why) => {
                        let grey = palette.label.gamma_multiply(0.7);
                        let of = |at: egui::Pos2, galley| {
                            painter.galley_with_override_text_color(at, galley, grey);
                        };
                        of(left, row.keys);
                        of(beside, row.help);
                        response.on_hover_text(why);
                    }
                }
                at.y += height + BETWEEN_ROWS;
            }
        }
        clicked
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::hud::style::opaque;
    use crate::view::{Frame, interface};
    use ui::actions::TABLE;

    fn columns(typed: &str, width: f32) -> Columns {
        let context = interface::context();
        let status = ui::fixtures::status(16, life::Size::new(64, 64).unwrap());
        let options = ui::ViewOptions::default();
        let mut columns = None;
        let output = context.run_ui(egui::RawInput::default(), |ui| {
            let it = &Frame::plain(&status, &options).sources;
            let palette = Palette::DARK.map(opaque);
            let laid_out = Columns::new(ui.painter(), &palette, typed, it, width);
            columns = Some(laid_out);
        });
        output.drop_without_applying_deltas();
        columns.unwrap()
    }

    fn helps(columns: &Columns) -> Vec<&str> {
        let rows = columns
            .sections
            .iter()
            .flat_map(|(section, ..)| &section.rows);
        rows.map(|row| row.help.text()).collect()
    }

    #[test]
    fn every_row_is_there_whole_and_in_its_column() {
        for (width, count) in [(260.0, 1), (760.0, 2), (1100.0, 3), (3000.0, 3)] {
            let columns = columns("", width);
            assert_eq!(columns.keys.len(), count);
            let wanted: Vec<&str> = TABLE.iter().map(|row| row.help).collect();
            assert_eq!(helps(&columns), wanted);
            for (section, place, _) in &columns.sections {
                let keys = columns.keys[*place];
                for row in &section.rows {
                    let used = keys + BESIDE_KEYS + row.help.size().x;
                    let column = columns.pitch - BETWEEN_COLUMNS;
                    assert!(used <= column + 0.5, "{} of {width}", row.help.text());
                }
            }
        }
    }

    #[test]
    fn typing_finds_rows_by_their_words_and_by_others() {
        assert_eq!(helps(&columns("fullscreen", 900.0)), ["Fullscreen"]);
        let rotates = columns("rotate", 900.0);
        assert!(helps(&rotates).contains(&"Rotate the selection left"));
        assert!(helps(&rotates).len() < 9, "{:?}", helps(&rotates));
        let places: Vec<usize> = rotates
            .sections
            .iter()
            .map(|(_, place, _)| *place)
            .collect();
        assert_eq!(places, [0], "one topic stands in the first column");
        let gif = columns("gif", 900.0);
        assert_eq!(helps(&gif), ["Record the window / stop"]);
        assert!(helps(&columns("xyzzy", 900.0)).is_empty());
    }
}
