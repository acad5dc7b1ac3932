//! What palette and menu offer: an entry for each row of the table of keys, each position of a
//! switch, each kernel and each lesson, with the reason where one cannot be now.

use egui::{Align, Align2, FontSelection, Layout, Response, RichText, Sense, Ui, UiBuilder, vec2};

use crate::LessonEntry;
use crate::dialogs::Asked;
use crate::hud::style::{ACCENT, LABEL, VALUE};
use engine::kernels::KERNELS;
use lang::{Language, tr};
use life::SHELF;
use model::actions::{Binding, KEYS};
use model::{Action, Status, Switch};

/// A line's height, in units of type.
pub(super) const LINE: f32 = 27.0;

/// Something that can be asked for.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Entry {
    /// What it does.
    pub text: String,
    /// The same in English, where that is not the language: it is found by both.
    pub english: String,
    /// Its keys, or that it is so now.
    pub keys: String,
    /// What is asked for.
    pub asked: Asked,
    /// Why it cannot be now.
    pub refusal: Option<String>,
}

/// The entry of a row of the table of keys.
pub(super) fn of_row(row: &Binding, status: Option<&Status>) -> Entry {
    Entry {
        text: row.help().into(),
        english: String::new(),
        keys: row.keys(),
        asked: Asked::Act(row.action),
        refusal: refusal(row.action, status),
    }
}

/// Everything that there is, the table of keys first.
pub(super) fn all(status: Option<&Status>, lessons: &[LessonEntry]) -> Vec<Entry> {
    let mut entries = in_this_language(status, lessons);
    if lang::language() != Language::English {
        let english = lang::with(Language::English, || in_this_language(status, lessons));
        for (entry, english) in entries.iter_mut().zip(english) {
            entry.english = english.text;
        }
    }
    entries
}

fn in_this_language(status: Option<&Status>, lessons: &[LessonEntry]) -> Vec<Entry> {
    let here = |row: &&Binding| !matches!(row.action, Action::ToggleCommands | Action::Escape);
    let mut entries: Vec<Entry> = KEYS
        .iter()
        .filter(here)
        .map(|row| of_row(row, status))
        .collect();
    if let Some(status) = status {
        entries.extend(KERNELS.iter().enumerate().map(|(at, kernel)| Entry {
            text: tr!("kernel {}: {}", kernel.name, lang::text(kernel.title)),
            english: String::new(),
            keys: now(std::ptr::eq(kernel, status.kernel)),
            asked: Asked::Act(Action::UseKernel(at as u8)),
            refusal: refusal(Action::UseKernel(at as u8), Some(status)),
        }));
        entries.extend(Switch::ALL.into_iter().flat_map(|it| positions(it, status)));
    }
    entries.extend(SHELF.iter().map(|shelved| Entry {
        text: tr!("pattern {}: {}", shelved.name, shelved.behaviour),
        english: String::new(),
        keys: String::new(),
        asked: Asked::Shelved(shelved),
        refusal: refusal(Action::ToggleShelf, status),
    }));
    entries.extend(lessons.iter().enumerate().map(|(at, lesson)| Entry {
        text: tr!("lesson {}: {}", lesson.name, lesson.title),
        english: String::new(),
        keys: String::new(),
        asked: Asked::Lesson(at),
        refusal: None,
    }));
    entries
}

fn positions(switch: Switch, status: &Status) -> Vec<Entry> {
    let present = switch.position(status.switches, status.kernel);
    let choices = switch.choices(status.switches, status.kernel);
    let entry = |(at, choice): (usize, model::Choice)| Entry {
        text: format!("{} {}: {}", switch.name(), choice.label, choice.effect),
        english: String::new(),
        keys: now(at == present),
        asked: Asked::Act(Action::Choose(switch, at as u8)),
        refusal: refusal(Action::Choose(switch, at as u8), Some(status)).or(choice.refusal),
    };
    choices.into_iter().enumerate().map(entry).collect()
}

fn now(present: bool) -> String {
    if present {
        tr!("now").into()
    } else {
        String::new()
    }
}

/// Why an action cannot be done now, as far as that is known beforehand.
fn refusal(action: Action, status: Option<&Status>) -> Option<String> {
    let windows_own = matches!(
        action,
        Action::ToggleFullscreen
            | Action::TogglePresentation
            | Action::ToggleHelp
            | Action::ToggleMenu
            | Action::ToggleCommands
            | Action::EnlargeInterface
            | Action::ReduceInterface
            | Action::UsualInterface
            | Action::NextLanguage
            | Action::SavePicture
            | Action::Escape
            | Action::Quit
    );
    if windows_own {
        return None;
    }
    let Some(status) = status else {
        return Some(tr!("the engine is starting").into());
    };
    match action {
        _ if action.needs_engine() && status.failed.is_some() => {
            Some(tr!("the session has ended").into())
        }
        Action::NextOf(switch) => switch.next(status.switches, status.kernel).err(),
        Action::UseKernel(at) => {
            let kernel = KERNELS.get(usize::from(at))?;
            let mut devices = status.devices.iter();
            let sized = kernel.validate_size(status.size);
            let admitted =
                sized.and_then(|()| devices.try_for_each(|it| kernel.validate_device(it)));
            admitted.err().map(|error| error.to_string())
        }
        Action::SelectNext | Action::SelectPrevious | Action::ToggleSingle
            if status.instances < 2 =>
        {
            Some(tr!("there is one panel").into())
        }
        Action::ToggleHalves if status.instances < 2 => {
            Some(tr!("two halves need two panels").into())
        }
        _ => None,
    }
}

/// Says, where the first line would stand, why there is none.
pub(super) fn nothing(ui: &mut Ui, unit: f32, why: &str) {
    let size = vec2(ui.available_width(), LINE * unit);
    let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
    let font = FontSelection::Default.resolve(ui.style());
    let at = rect.left_center() + vec2(9.0 * unit, 0.0);
    ui.painter().text(at, Align2::LEFT_CENTER, why, font, LABEL);
}

/// Lays a line out: what it does to the left, its keys to the right; grey, with the reason as its
/// tooltip, where it cannot be.
pub(super) fn line(ui: &mut Ui, unit: f32, entry: &Entry, chosen: bool) -> Response {
    let size = vec2(ui.available_width(), LINE * unit);
    let possible = entry.refusal.is_none();
    let sense = if possible {
        Sense::CLICK
    } else {
        Sense::hover()
    };
    let (rect, response) = ui.allocate_exact_size(size, sense);
    if !ui.is_rect_visible(rect) {
        return response;
    }
    let visuals = ui.visuals();
    let ground = match (chosen, response.hovered() && possible) {
        (true, _) => Some(visuals.selection.bg_fill),
        (false, true) => Some(visuals.widgets.hovered.weak_bg_fill),
        (false, false) => None,
    };
    if let Some(ground) = ground {
        ui.painter().rect_filled(rect, 4.0 * unit, ground);
    }
    let inside = rect.shrink2(vec2(9.0 * unit, 0.0));
    let keys = FontSelection::Default.resolve(ui.style());
    let keys = ui
        .painter()
        .layout_no_wrap(entry.keys.clone(), keys, ACCENT);
    let used = keys.size().x + 14.0 * unit;
    let corner = Align2::RIGHT_CENTER
        .anchor_size(inside.right_center(), keys.size())
        .min;
    let (ink, dimmed) = if possible {
        (VALUE, ACCENT)
    } else {
        // On the ground of what is chosen, grey must be lighter to be read.
        let grey = LABEL.gamma_multiply(if chosen { 1.0 } else { 0.7 });
        (grey, grey)
    };
    ui.painter()
        .galley_with_override_text_color(corner.round(), keys, dimmed);
    let mut left = inside;
    left.max.x -= used;
    let mut text = ui.new_child(
        UiBuilder::new()
            .max_rect(left)
            .layout(Layout::left_to_right(Align::Center)),
    );
    let mut words = RichText::new(&entry.text).color(ink);
    if !possible {
        words = words.strikethrough();
    }
    text.add(egui::Label::new(words).truncate().selectable(false));
    match &entry.refusal {
        None => response,
        Some(why) => response.on_hover_text(why),
    }
}
