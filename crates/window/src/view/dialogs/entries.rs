//! What palette, menu and help offer: an entry for each row of the action table, each position of a
//! switch, each kernel, pattern and lesson; its state, and the reason where it is impossible.

use egui::accesskit::Role;
use egui::{Align2, FontSelection, Rect, Response, Sense, Stroke, Ui, WidgetInfo};
use egui::{pos2, vec2};

use crate::view::dialogs::{DialogContext, UiRequest};
use crate::view::hud::style::{cut, fitted, regular};
use lang::{Language, tr};
use life::SHELF;
use session::Switch;
use ui::actions::{Position, Row, Setting, TABLE, search};
use ui::{Action, EditAction, LessonEntry, Sources};

/// A line's height, in points.
pub(super) const LINE: f32 = 27.0;
/// Where the words of a line begin: behind the room for a check mark.
const INDENT: f32 = 26.0;

/// Something that can be asked for.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Entry {
    /// What it does.
    pub text: String,
    /// The same in English, where that is not the language: it is found by both.
    pub english: String,
    /// Other words that find it.
    pub search: &'static str,
    /// Its keys.
    pub keys: String,
    /// What is asked for.
    pub request: UiRequest,
    /// Whether it is on, where it switches something.
    pub state: Option<bool>,
    /// The present position of what it switches or sets; empty where there is none.
    pub position: String,
    /// Why it is impossible now.
    pub unavailable: Option<String>,
}

impl Entry {
    /// One that is always possible. Control characters in its text are escaped.
    pub(super) fn of(text: String, request: UiRequest) -> Entry {
        Entry {
            text: lang::single_line(text),
            english: String::new(),
            search: "",
            keys: String::new(),
            request,
            state: None,
            position: String::new(),
            unavailable: None,
        }
    }

    /// One of a position of what is set.
    pub(super) fn of_position(text: String, position: &Position, it: &Sources<'_>) -> Entry {
        let action = Action::from(position.action);
        Entry {
            state: Some(position.is_on),
            unavailable: action.unavailable(it),
            ..Entry::of(text, UiRequest::Act(action))
        }
    }

    /// The entry of a row of the action table.
    pub(super) fn of_row(row: &Row, it: &Sources<'_>) -> Entry {
        Entry {
            english: match lang::language() {
                Language::English => String::new(),
                Language::Chinese => row.help.into(),
            },
            search: row.search,
            keys: row.keys(),
            state: row.is_on(it),
            position: row.position_in_words(it).unwrap_or_default(),
            unavailable: row.action.unavailable(it),
            ..Entry::of(row.help().into(), UiRequest::Act(row.action))
        }
    }
}

/// Everything that can be asked for, the action table first.
pub(super) fn all(it: &Sources<'_>, lessons: &[LessonEntry]) -> Vec<Entry> {
    let mut entries = in_this_language(it, lessons);
    if lang::language() != Language::English {
        let english = lang::with(Language::English, || in_this_language(it, lessons));
        for (entry, english) in entries.iter_mut().zip(english) {
            entry.english = english.text;
        }
    }
    entries
}

fn in_this_language(it: &Sources<'_>, lessons: &[LessonEntry]) -> Vec<Entry> {
    let rows = TABLE.iter().map(|row| Entry::of_row(row, it));
    let mut entries: Vec<Entry> = rows.collect();
    if let Some(status) = it.status {
        let switches = Switch::ALL.into_iter().map(Setting::Switch);
        let settings = [Setting::Kernel].into_iter().chain(switches);
        let settings = settings.chain([Setting::Pace]);
        entries.extend(settings.flat_map(|setting| {
            let choices = setting.choices(status).into_iter();
            choices.map(move |choice| {
                let text = format!("{} {}", setting.title(), choice.text);
                Entry::of_position(text, &choice, it)
            })
        }));
    }
    entries.extend(SHELF.iter().map(|shelved| Entry {
        unavailable: Action::from(EditAction::ToggleShelf).unavailable(it),
        ..Entry::of(
            tr!("pattern {}: {}", shelved.name, shelved.behaviour),
            UiRequest::Shelved(shelved),
        )
    }));
    entries.extend(lessons.iter().enumerate().map(|(at, lesson)| {
        let text = tr!("lesson {}: {}", lesson.name, lesson.title);
        Entry::of(text, UiRequest::Lesson(at))
    }));
    entries
}

/// The entries that have every typed word, the best first; all in their order where nothing is
/// typed.
pub(super) fn found(entries: Vec<Entry>, typed: &str) -> Vec<Entry> {
    let words = search::words(typed);
    let mut found: Vec<(u32, Entry)> = entries
        .into_iter()
        .filter_map(|entry| Some((entry.cost(&words)?, entry)))
        .collect();
    found.sort_by_key(|(cost, _)| *cost);
    found.into_iter().map(|(_, entry)| entry).collect()
}

impl Entry {
    /// How far it is from what was typed, if it can be meant.
    pub(super) fn cost(&self, words: &[String]) -> Option<u32> {
        search::cost(words, &[&self.text, &self.english], self.search)
    }
}

/// Lays out the line that says that nothing matches.
pub(super) fn nothing(ui: &mut Ui, cx: DialogContext<'_>) {
    let size = vec2(ui.available_width(), LINE);
    let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
    let font = FontSelection::Default.resolve(ui.style());
    let at = rect.left_center() + vec2(9.0, 0.0);
    ui.painter().text(
        at,
        Align2::LEFT_CENTER,
        tr!("No matching command"),
        font,
        cx.palette.label,
    );
}

/// Lays a line out: a check mark where it is on, what it does, its keys to the right; grey, with the
/// reason as its tooltip, where it is impossible. `chosen` says whether the list's own keys are at it;
/// where a list has none, the line takes egui's focus.
pub(super) fn line(
    ui: &mut Ui,
    cx: DialogContext<'_>,
    entry: &Entry,
    chosen: Option<bool>,
) -> Response {
    let palette = cx.palette;
    let size = vec2(ui.available_width(), LINE);
    let possible = entry.unavailable.is_none();
    let sense = match (possible, chosen) {
        (true, Some(_)) => Sense::CLICK,
        (true, None) => Sense::click(),
        (false, _) => Sense::hover(),
    };
    let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
    // By what it says: its number is another one while those before it are out of sight.
    let response = ui.interact(rect, ui.scope_id().with(&entry.text), sense);
    let chosen = chosen.unwrap_or(response.has_focus());
    response.widget_info(|| WidgetInfo {
        selected: entry.state,
        current_text_value: Some(entry.position.clone()).filter(|it| !it.is_empty()),
        ..WidgetInfo::labeled(Role::Button, possible, &entry.text)
    });
    if !ui.is_rect_visible(rect) {
        return response;
    }
    let visuals = ui.visuals();
    let background = match (chosen, response.hovered() && possible) {
        (true, _) => Some(visuals.selection.bg_fill),
        (false, true) => Some(visuals.widgets.hovered.weak_bg_fill),
        (false, false) => None,
    };
    if let Some(background) = background {
        ui.painter().rect_filled(rect, 4.0, background);
    }
    let inside = rect.shrink2(vec2(9.0, 0.0));
    let keys = FontSelection::Default.resolve(ui.style());
    let keys = ui
        .painter()
        .layout_no_wrap(entry.keys.clone(), keys, palette.accent);
    let corner = Align2::RIGHT_CENTER
        .anchor_size(inside.right_center(), keys.size())
        .min;
    let room = 0.3 * inside.width();
    let position = fitted(
        ui.painter(),
        &entry.position,
        regular(14.0),
        palette.label,
        room,
    );
    let middle = pos2(corner.x - 14.0, inside.center().y);
    let position_corner = Align2::RIGHT_CENTER
        .anchor_size(middle, position.size())
        .min;
    let used = inside.right() - position_corner.x + 10.0;
    ui.painter()
        .galley(position_corner, position, palette.label);
    let (text_colour, dimmed) = if possible {
        (palette.value, palette.accent)
    } else {
        // On the background of what is chosen, grey must be lighter to be read.
        let grey = palette.label.gamma_multiply(if chosen { 1.0 } else { 0.7 });
        (grey, grey)
    };
    ui.painter()
        .galley_with_override_text_color(corner, keys, dimmed);
    if entry.state == Some(true) {
        check_mark(ui, inside, dimmed);
    }
    let left = inside.left() + (INDENT - 9.0);
    let font = FontSelection::Default.resolve(ui.style());
    let room = inside.right() - used - left;
    let words = cut(ui.painter(), &entry.text, font, text_colour, room);
    let at = pos2(left, inside.center().y);
    let words_at = Align2::LEFT_CENTER.anchor_size(at, words.size());
    if !possible {
        let stroke = (1.0, text_colour);
        ui.painter().hline(words_at.x_range(), at.y, stroke);
    }
    ui.painter().galley(words_at.min, words, text_colour);
    match &entry.unavailable {
        None => response,
        Some(why) => response.on_hover_text(why),
    }
}

/// At the left of a line.
fn check_mark(ui: &Ui, line: Rect, text_colour: egui::Color32) {
    let corner = line.left_center();
    let at = |x: f32, y: f32| pos2(corner.x + x, corner.y + y);
    let points = vec![at(0.0, 0.5), at(3.5, 4.0), at(10.0, -4.5)];
    let stroke = Stroke::new(1.8, text_colour);
    ui.painter().line(points, stroke);
}
