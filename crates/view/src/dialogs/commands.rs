//! The command palette: everything that can be asked for, found by typing parts of what it does.

use egui::{Key, Modifiers, RichText, ScrollArea, TextEdit, vec2};

use crate::LessonEntry;
use crate::dialogs::entries::{self, Entry, LINE};
use crate::dialogs::{Asked, Seen, style};
use crate::hud::style::{ACCENT, LABEL};
use lang::tr;

/// How many lines are seen at once, at most.
const LINES: f32 = 14.0;

/// The open palette.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Commands {
    typed: String,
    /// The chosen one of those that match.
    chosen: usize,
    lessons: Vec<LessonEntry>,
}

impl Commands {
    /// With these lessons beside what the table of keys has.
    pub fn new(lessons: Vec<LessonEntry>) -> Commands {
        Commands {
            lessons,
            ..Default::default()
        }
    }

    /// With this typed already.
    #[cfg(test)]
    pub fn searching(typed: &str) -> Commands {
        Commands {
            typed: typed.into(),
            ..Default::default()
        }
    }

    /// Lays it out; whether it stays open.
    pub(super) fn show(
        &mut self,
        context: &egui::Context,
        seen: Seen<'_>,
        asked: &mut Vec<Asked>,
    ) -> bool {
        let unit = seen.unit;
        let mut stays = true;
        let left = style::dialog(context, seen, ("commands", Some(0.08), 660.0), |ui| {
            let field = TextEdit::singleline(&mut self.typed).hint_text(tr!("type what to do"));
            let field = ui.add(
                field
                    .desired_width(f32::INFINITY)
                    .margin(vec2(9.0, 6.0) * unit),
            );
            field.request_focus();
            let typed = field.changed();
            if typed {
                self.chosen = 0;
            }
            let found = found(entries::all(seen.frame.status, &self.lessons), &self.typed);
            // Counted: of a slow frame no key is lost.
            let presses =
                |key| ui.input_mut(|input| input.count_and_consume_key(Modifiers::NONE, key));
            let moves = [
                (Key::ArrowDown, 1),
                (Key::ArrowUp, -1),
                (Key::PageDown, LINES as isize - 1),
                (Key::PageUp, 1 - LINES as isize),
            ];
            let by: isize = moves
                .iter()
                .map(|&(key, by)| presses(key) as isize * by)
                .sum();
            let entered = presses(Key::Enter) > 0;
            let last = found.len().saturating_sub(1);
            self.chosen = self.chosen.saturating_add_signed(by).min(last);
            // Of one height, however much is found: nothing moves while one types.
            let height = (LINES * LINE * unit).min(0.62 * seen.screen.height());
            let spacing = std::mem::take(&mut ui.spacing_mut().item_spacing);
            ui.add_space(6.0 * unit);
            ui.scope(|ui| {
                ui.set_min_height(height);
                ScrollArea::vertical()
                    .max_height(height)
                    .min_scrolled_height(height)
                    .auto_shrink(false)
                    .show(ui, |ui| {
                        if found.is_empty() {
                            entries::nothing(ui, unit, tr!("nothing of that kind"));
                        }
                        for (at, entry) in found.iter().enumerate() {
                            let line = entries::line(ui, unit, entry, at == self.chosen);
                            if at == self.chosen && (by != 0 || typed) {
                                line.scroll_to_me(None);
                            }
                            let possible = entry.refusal.is_none();
                            if line.clicked() || (entered && at == self.chosen && possible) {
                                asked.push(entry.asked.clone());
                                stays = false;
                            }
                        }
                    });
            });
            ui.spacing_mut().item_spacing = spacing;
            ui.add_space(4.0 * unit);
            let (words, ink) = said(found.get(self.chosen));
            let words = RichText::new(words).small().color(ink);
            ui.add(egui::Label::new(words).truncate());
        });
        stays && !left
    }
}

/// What the foot says of the chosen one.
fn said(chosen: Option<&Entry>) -> (String, egui::Color32) {
    match chosen {
        None => (tr!("Esc closes").into(), LABEL),
        Some(Entry {
            refusal: Some(why), ..
        }) => (tr!("cannot be now: {why}", why = why), ACCENT),
        Some(_) => (tr!("↑ ↓ choose · Enter does it · Esc closes").into(), LABEL),
    }
}

/// Those that have every typed word, the best first; all in their order where nothing is typed.
fn found(entries: Vec<Entry>, typed: &str) -> Vec<Entry> {
    let words: Vec<String> = typed.split_whitespace().map(str::to_lowercase).collect();
    let mut found: Vec<(u32, Entry)> = entries
        .into_iter()
        .filter_map(|entry| {
            let texts = [&entry.text, &entry.english].map(|text| text.to_lowercase());
            let least = |word| texts.iter().filter_map(|text| cost(text, word)).min();
            let costs = words.iter().map(|word| least(word));
            Some((costs.sum::<Option<u32>>()?, entry))
        })
        .collect();
    found.sort_by_key(|(cost, _)| *cost);
    found.into_iter().map(|(_, entry)| entry).collect()
}

/// How far a word is from what was meant, if it can be: at the start of a word it costs nothing,
/// within one a little, with letters left out as much as lies between them.
fn cost(text: &str, word: &str) -> Option<u32> {
    let places: Vec<usize> = text.match_indices(word).map(|(at, _)| at).collect();
    let starts = |&at: &usize| !text[..at].ends_with(char::is_alphanumeric);
    if places.iter().any(starts) {
        return Some(0);
    }
    if !places.is_empty() {
        return Some(2);
    }
    let (mut gaps, mut rest) = (0, text);
    for (at, letter) in word.chars().enumerate() {
        let found = rest.find(letter)?;
        if at > 0 {
            gaps += rest[..found].chars().count() as u32;
        }
        rest = &rest[found + letter.len_utf8()..];
    }
    // Letters strewn over a whole sentence mean nothing.
    (gaps <= 2 + word.chars().count() as u32).then_some(4 + gaps)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Action;

    fn first(typed: &str) -> Asked {
        let status = crate::made_up::status(16, life::Size::new(64, 64).unwrap());
        let lesson = LessonEntry {
            name: "event".into(),
            title: "an event orders two streams".into(),
        };
        let found = found(entries::all(Some(&status), &[lesson]), typed);
        found.into_iter().next().expect(typed).asked
    }

    #[test]
    fn what_is_meant_comes_first() {
        use Asked::Act;
        use model::Switch;
        assert_eq!(first(""), Act(Action::TogglePause));
        assert_eq!(first("next ker"), Act(Action::NextKernel));
        assert_eq!(first("nxt krnl"), Act(Action::NextKernel));
        assert_eq!(first("fullscreen"), Act(Action::ToggleFullscreen));
        assert_eq!(first("lesson event"), Asked::Lesson(0));
        let Asked::Shelved(gun) = first("gosper") else {
            panic!("the shelf's patterns are found too")
        };
        assert_eq!(gun.name, "gosper-gun");
        assert_eq!(first("streams batch"), Act(Action::NextOf(Switch::Streams)));
        assert_eq!(
            first("batch: one launch"),
            Act(Action::Choose(Switch::Streams, 3))
        );
    }

    #[test]
    fn in_chinese_both_languages_find() {
        use lang::{Language, with};
        with(Language::Chinese, || {
            for typed in ["next ker", "下一个核"] {
                assert_eq!(first(typed), Asked::Act(Action::NextKernel), "{typed}");
            }
        });
    }

    #[test]
    fn strewn_letters_are_no_match() {
        assert_eq!(cost("the whole lattice", "twla"), None);
        assert_eq!(cost("the whole lattice", "lat"), Some(0));
        assert_eq!(cost("the whole lattice", "att"), Some(2));
        assert_eq!(cost("a lattice", "lttc"), Some(6));
        assert_eq!(cost("the whole lattice", "xyz"), None);
    }

    #[test]
    fn what_cannot_be_says_why() {
        let mut status = crate::made_up::status(1, life::Size::new(64, 64).unwrap());
        status.kernel = engine::kernels::find("bits").unwrap();
        let all = entries::all(Some(&status), &[]);
        let why = |asked: Asked| {
            let entry = all.iter().find(|entry| entry.asked == asked).unwrap();
            entry.refusal.clone()
        };
        assert_eq!(why(Asked::Act(Action::TogglePause)), None);
        assert!(
            why(Asked::Act(Action::ToggleHalves))
                .unwrap()
                .contains("two panels")
        );
        let cells = Action::Choose(model::Switch::Transfer, 3);
        assert!(why(Asked::Act(cells)).unwrap().contains("no i32 cells"));
        status.failed = Some("the engine was lost".into());
        let all = entries::all(Some(&status), &[]);
        for entry in &all {
            let asked = match entry.asked {
                Asked::Act(action) => action.needs_engine(),
                Asked::Shelved(_) => true,
                _ => false,
            };
            let ended = entry.refusal.as_deref() == Some("the session has ended");
            assert_eq!(ended, asked, "{entry:?}");
        }
        let refused = |action| {
            let of = |entry: &&Entry| entry.asked == Asked::Act(action);
            all.iter().find(of).unwrap().refusal.is_some()
        };
        for action in [Action::StepBack, Action::Undo, cells] {
            assert!(refused(action), "{action:?}");
        }
        for action in [Action::SavePattern, Action::SelectAll, Action::Quit] {
            assert!(!refused(action), "{action:?}");
        }
        let none = entries::all(None, &[]);
        let starting = none.iter().filter(|entry| entry.refusal.is_some()).count();
        assert!(starting > 20, "while the engine starts little can be done");
    }
}
