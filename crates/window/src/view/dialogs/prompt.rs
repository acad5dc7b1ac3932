//! A field for one value: the generation to run to, the number of instances, a size, a rule.

use egui::{Event, Key, RichText, TextEdit, Ui};

use crate::view::dialogs::{self, DialogContext, UiRequest};
use ui::actions::Setting;

/// The open field.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct PromptDialog {
    setting: Setting,
    typed: String,
    /// Whether Enter was pressed with a text that is no such value.
    refused: bool,
    /// Keys typed after Enter in the same frame, which belong to the next frame.
    later: Vec<Event>,
}

impl PromptDialog {
    /// A field with this typed already.
    pub(crate) fn new(setting: Setting, typed: String) -> PromptDialog {
        PromptDialog {
            setting,
            typed,
            refused: false,
            later: Vec::new(),
        }
    }

    /// Lays it out; whether it stays open.
    pub(super) fn show(&mut self, cx: DialogContext<'_>, requests: &mut Vec<UiRequest>) -> bool {
        let mut entered = false;
        let left = dialogs::dialog(cx, ("prompt", self.setting.title()), 0.12, 420.0, |ui| {
            entered = self.show_field(ui, cx, requests, cx.is_top);
        });
        !entered && !left
    }

    /// Lays out the field and what is said below it, with the focus if it `takes_focus`; whether a
    /// value was entered.
    pub(super) fn show_field(
        &mut self,
        ui: &mut Ui,
        cx: DialogContext<'_>,
        requests: &mut Vec<UiRequest>,
        takes_focus: bool,
    ) -> bool {
        let id = ui.next_auto_id();
        let has_focus = takes_focus || ui.memory(|memory| memory.has_focus(id));
        // Before the field sees it: it would lose its focus.
        let entered = has_focus && ui.input_mut(|input| self.up_to_enter(&mut input.events));
        if !self.later.is_empty() {
            ui.ctx().request_repaint();
        }
        let field = TextEdit::singleline(&mut self.typed).hint_text(self.setting.example());
        let field = ui.add(field.id(id).desired_width(f32::INFINITY));
        let field = field.accessible_name(self.setting.title());
        if takes_focus {
            dialogs::hold_focus(&field);
        }
        self.refused &= !field.changed();
        let sources = cx.frame.sources;
        let most = sources.most_instances();
        let read = self.setting.read(&self.typed, most);
        if let (Ok(action), true) = (&read, entered) {
            requests.push(UiRequest::Act((*action).into()));
            return true;
        }
        self.refused |= entered && read.is_err();
        match (read, sources.status) {
            (Err(why), _) if self.refused => {
                ui.label(RichText::new(why).color(cx.palette.accent));
            }
            (Err(why), _) if !self.typed.is_empty() => drop(ui.label(why)),
            (_, Some(status)) => drop(ui.label(self.setting.present(status, most))),
            (_, None) => {}
        }
        false
    }

    /// Leaves of the events those in front of Enter, and keeps those behind it for the next frame;
    /// whether Enter is among them.
    fn up_to_enter(&mut self, events: &mut Vec<Event>) -> bool {
        events.splice(0..0, std::mem::take(&mut self.later));
        let is_enter = |event: &Event| {
            let Event::Key { key, pressed, .. } = event else {
                return false;
            };
            *key == Key::Enter && *pressed
        };
        let Some(at) = events.iter().position(is_enter) else {
            return false;
        };
        self.later = events.split_off(at + 1);
        events.truncate(at);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::Modifiers;

    #[test]
    fn what_is_typed_behind_enter_is_for_later() {
        let key = |key| Event::Key {
            key,
            physical_key: None,
            pressed: true,
            repeat: false,
            modifiers: Modifiers::NONE,
        };
        let (typed, enter) = (Event::Text("7".into()), key(Key::Enter));
        let mut field = PromptDialog::new(Setting::Generation, String::new());
        let mut events = vec![typed.clone(), enter.clone(), key(Key::Backspace), enter];
        assert!(field.up_to_enter(&mut events));
        assert_eq!(events, [typed]);
        let mut next = Vec::new();
        assert!(field.up_to_enter(&mut next));
        assert_eq!(next, [key(Key::Backspace)]);
        assert!(!field.up_to_enter(&mut Vec::new()));
    }
}
