//! From keys to actions: the terminal's own are carried out here, the session's by handing them on.

use std::sync::Arc;

use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::TerminalApp;
use lang::{Message, tr};
use lesson::LESSONS;
use life::Pattern;
use session::{Change, Edit};
use ui::actions::{Action, Chord, Key, Setting, ViewAction, row_for};

/// What is typed into an open card: a value, or words that the keys are searched for; or the list of lessons.
#[derive(Clone, Default, Debug)]
pub(crate) struct Field {
    /// The value that is asked for; none where the keys are searched.
    pub(crate) setting: Option<Setting>,
    /// The selected one where lectures and lessons are listed.
    pub(crate) lesson: Option<usize>,
    pub(crate) typed: String,
    /// Why that was refused when Enter was pressed.
    pub(crate) refused: Option<String>,
}

/// What a key asks for. Ctrl+C quits, as everywhere in terminals, whatever the window does with it.
fn action(chord: Chord) -> Option<Action> {
    if chord.ctrl && chord.key == Key::Char('C') {
        return Some(ViewAction::Quit.into());
    }
    Some(row_for(chord)?.action)
}

/// The chord of a key that is pressed, unless it is with keys that are somebody else's.
fn chord(event: &KeyEvent) -> Option<Chord> {
    let has = |modifier| event.modifiers.contains(modifier);
    let ctrl = has(KeyModifiers::CONTROL);
    let mut shift = has(KeyModifiers::SHIFT);
    let is_others = has(KeyModifiers::ALT) || has(KeyModifiers::SUPER);
    if is_others || event.kind == KeyEventKind::Release {
        return None;
    }
    let key = match event.code {
        KeyCode::Char(' ') => Key::Space,
        KeyCode::Char(c) => {
            shift |= c.is_uppercase();
            Key::Char(c.to_uppercase().next()?)
        }
        KeyCode::Enter => Key::Enter,
        KeyCode::Tab => Key::Tab,
        KeyCode::BackTab => {
            shift = true;
            Key::Tab
        }
        KeyCode::Esc => Key::Escape,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Delete => Key::Delete,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::F(n) => Key::F(n),
        _ => return None,
    };
    Some(Chord { key, shift, ctrl })
}

impl TerminalApp {
    pub(super) fn event(&mut self, event: Event) {
        match event {
            Event::Key(event) => self.key(&event),
            Event::Paste(text) => self.paste(text),
            // The next frame asks for the size.
            Event::Resize(..) => {}
            Event::Mouse(_) | Event::FocusGained | Event::FocusLost => return,
        }
        self.pacer.request_frame();
    }

    /// Types a pasted text where something is typed, otherwise places the pattern that it is.
    fn paste(&mut self, text: String) {
        if let Some(field) = &mut self.view.field {
            field
                .typed
                .extend(text.chars().filter(|letter| !letter.is_control()));
            field.refused = None;
            return;
        }
        let (Ok(said) | Err(said)) = self.place_pattern(text);
        self.app.show_notice(said);
    }

    /// Places a pattern in the middle of the selected panel; returns what to say of it.
    fn place_pattern(&self, text: String) -> Result<String, String> {
        let pattern = Pattern::from_text(tr!("the clipboard"), text)
            .map_err(|error| tr!("Not a pattern: {error}"))?;
        if let (Some(status), Some(session)) = (&self.app.status, &self.app.session) {
            let cells = pattern.centred_in(status.lattices.size);
            session.edit(
                Edit {
                    instance: status.panels.selected,
                    change: Change::Place {
                        pattern: Arc::new(cells.map_err(|error| error.to_string())?),
                        at: [0, 0],
                        overwrites_dead: false,
                    },
                    continues_stroke: false,
                },
                0,
            );
        }
        let (wide, high) = pattern.live_sides();
        let mut said = vec![tr!("Pasted {wide} × {high} cells")];
        said.extend(pattern.remarks().iter().map(Message::to_string));
        Ok(said.join("; "))
    }

    fn key(&mut self, event: &KeyEvent) {
        let Some(chord) = chord(event) else { return };
        let is_lesson = self.app.lessons.screen().is_some() && self.view.field.is_none();
        let is_asked = self
            .view
            .field
            .as_ref()
            .is_some_and(|field| field.setting.is_some() || field.lesson.is_some());
        let lines = match event.code {
            _ if self.view.card.is_none() || is_asked => 0,
            KeyCode::Up => -1,
            KeyCode::Down => 1,
            KeyCode::PageUp if !is_lesson => -10,
            KeyCode::PageDown if !is_lesson => 10,
            _ => 0,
        };
        if lines != 0 {
            self.view.scroll = self.view.scroll.saturating_add_signed(lines);
        } else if self.view.field.is_some() {
            self.type_key(event.code, chord);
        } else {
            let action = self.app.remap_key(chord, action(chord));
            action.into_iter().for_each(|it| self.act(it));
        }
    }

    /// Types a key into the open field. None acts behind it but those that act in dialogs.
    fn type_key(&mut self, code: KeyCode, chord: Chord) {
        let Some(field) = &mut self.view.field else {
            return;
        };
        field.refused = None;
        match (code, &mut field.lesson) {
            (KeyCode::Up, Some(at)) => return *at = at.saturating_sub(1),
            (KeyCode::Down, Some(at)) => {
                let last = self.app.lectures.len() + LESSONS.len() - 1;
                return *at = (*at + 1).min(last);
            }
            (KeyCode::Enter, &mut Some(at)) => {
                self.view.field = None;
                return match at.checked_sub(self.app.lectures.len()) {
                    Some(at) => self.app.open_lesson(&LESSONS[at]),
                    None => self.app.begin_lecture(at),
                };
            }
            _ => {}
        }
        match (code, field.setting) {
            (KeyCode::Char(letter), _) if chord.types() => field.typed.push(letter),
            (KeyCode::Backspace, _) => drop(field.typed.pop()),
            (KeyCode::Esc, None) if !field.typed.is_empty() => field.typed.clear(),
            (KeyCode::Enter, Some(setting)) => match setting.read(&field.typed) {
                Ok(action) => {
                    self.view.field = None;
                    self.act(action.into());
                }
                Err(why) => field.refused = Some(why),
            },
            (_, setting) => match action(chord) {
                Some(Action::View(ViewAction::Escape)) => self.view.field = None,
                Some(Action::View(ViewAction::ToggleHelp)) if setting.is_none() => {
                    self.view.field = None
                }
                Some(action) if action.row().is_some_and(|row| row.in_dialogs) => {
                    // A key that acts while others are looked up leaves them open.
                    self.view.field.take_if(|field| field.setting.is_some());
                    self.act(action);
                }
                _ => {}
            },
        }
    }

    /// Does what a person asked for, or says why it is impossible.
    fn act(&mut self, action: Action) {
        let Some(Action::View(action)) = self.app.act(action) else {
            return;
        };
        match action {
            ViewAction::ToggleTimeline => self.app.show_timeline(!self.app.options.timeline),
            ViewAction::ToggleHelp => self.view.field = Some(Field::default()),
            ViewAction::ToggleLecture => {
                self.view.field.insert(Field::default()).lesson = Some(0); // lectures stand first
            }
            ViewAction::ToggleLessons => {
                let last = self.app.lessons.last;
                let last = last.map_or(0, |it| self.app.lectures.len() + it);
                self.view.field.insert(Field::default()).lesson = Some(last);
            }
            ViewAction::Prompt(setting) => {
                self.view.field.insert(Field::default()).setting = Some(setting);
            }
            ViewAction::Quit => self.quit = true,
            // The table gives the others to the window alone.
            _ => {
                if let (Some(status), Some(pixels)) = (&self.app.status, self.view.pixels()) {
                    let size = status.lattices.size;
                    self.app.move_camera(action, size, pixels);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_that_the_table_names() {
        let [none, ctrl, shift] = [
            KeyModifiers::NONE,
            KeyModifiers::CONTROL,
            KeyModifiers::SHIFT,
        ];
        for (code, held, name) in [
            (KeyCode::Char('k'), none, "K"),
            (KeyCode::Char('B'), none, "Shift+B"),
            (KeyCode::Char('*'), none, "*"),
            (KeyCode::Char('n'), ctrl, "Ctrl+N"),
            (KeyCode::Char(' '), none, "Space"),
            (KeyCode::Char('k'), KeyModifiers::ALT, ""),
            (KeyCode::BackTab, none, "Shift+Tab"),
            (KeyCode::Backspace, shift, "Shift+Backspace"),
            (KeyCode::Delete, none, "Delete"),
            (KeyCode::Left, none, "←"),
            (KeyCode::Right, none, "→"),
            (KeyCode::Up, ctrl, "Ctrl+↑"),
            (KeyCode::Down, none, "↓"),
            (KeyCode::F(10), none, "F10"),
            (KeyCode::Home, none, ""),
        ] {
            let mut event = KeyEvent::new(code, held);
            let named = chord(&event).map_or(String::new(), |chord| chord.to_string());
            assert_eq!(named, name, "{event:?}");
            event.kind = KeyEventKind::Release;
            assert_eq!(chord(&event), None, "{event:?}");
        }
    }
}
