//! Passes window events to egui, and applies egui's output (cursor, clipboard, input method) to the
//! window; and what keys stand for that egui does not take.

use egui_winit::accesskit_winit::{Adapter, WindowEvent as AccessEvent};
use ui::actions::{Action, Chord, Key, Row, row_for};
use winit::event::{KeyEvent, WindowEvent};
use winit::keyboard::{Key as WinitKey, KeyCode, ModifiersState, NamedKey, PhysicalKey};
use winit::platform::modifier_supplement::KeyEventExtModifierSupplement as _;
use winit::raw_window_handle::{HasDisplayHandle, RawDisplayHandle};
use winit::window::Window;

/// How egui handled an event.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Offered {
    /// Whether egui alone handles the event.
    pub taken: bool,
    /// Whether a frame must be drawn for it.
    pub shows: bool,
}

/// From winit's events to egui's, in pixels; also the clipboard.
///
/// egui's own clipboard reaches Wayland's. Everywhere else it would bring decoders for every kind of picture
/// with it, so there the desktop is asked directly, and egui's is kept the same: dialogs read and write that one.
pub(super) struct Input {
    state: egui_winit::State,
    /// The desktop's clipboard; none where egui's own is that, or where the desktop has none.
    system: Option<arboard::Clipboard>,
    /// Whether Ctrl is down.
    ctrl: bool,
    /// Whether a screen reader is there.
    is_read: bool,
}

/// What tells screen readers of the window, as long as that lives, and whether one is there.
pub(super) type Reader = (Adapter, bool);

impl Input {
    /// For the egui of a scene in this window.
    pub(super) fn new(
        context: &egui::Context,
        window: &Window,
        display: &dyn HasDisplayHandle,
        (adapter, is_read): Reader,
    ) -> Input {
        let scale = window.scale_factor() as f32;
        let (id, scale) = (egui::ViewportId::ROOT, Some(scale));
        let mut state = egui_winit::State::new(context.clone(), id, display, scale, None, None);
        state.accesskit = Some(adapter);
        let mut input = Input {
            system: system_clipboard(display),
            ctrl: false,
            is_read,
            state,
        };
        input.set_read(is_read);
        input
    }

    /// What tells screen readers of the window, for another egui.
    pub(super) fn into_reader(self) -> Reader {
        let adapter = self.state.accesskit;
        let adapter = adapter.expect("an input has one from the start");
        (adapter, self.is_read)
    }

    /// A screen reader came, went, or asks for an action, which the next frame has.
    pub(super) fn reader_event(&mut self, event: AccessEvent) {
        match event {
            AccessEvent::InitialTreeRequested => self.set_read(true),
            AccessEvent::AccessibilityDeactivated => self.set_read(false),
            AccessEvent::ActionRequested(request) => {
                self.state.on_accesskit_action_request(request);
            }
        }
    }

    /// The interface is described to a screen reader from the next frame on, or to none.
    fn set_read(&mut self, is_read: bool) {
        self.is_read = is_read;
        let context = self.state.egui_ctx();
        if is_read {
            context.enable_accesskit();
        } else {
            context.disable_accesskit();
        }
    }

    /// Offers an event; keys are egui's only while a dialog or the editor takes them, since it would
    /// move its focus by Tab and the arrows otherwise.
    pub(super) fn offer(&mut self, window: &Window, event: &WindowEvent, keys: bool) -> Offered {
        use WindowEvent::*;
        match event {
            KeyboardInput { event, .. } if event.state.is_pressed() && !keys => {
                // A tip goes once the keyboard is used, until the mouse moves again.
                let events = &mut self.state.egui_input_mut().events;
                events.push(egui::Event::PointerGone);
                return Offered::default();
            }
            ModifiersChanged(modifiers) => {
                self.ctrl = modifiers.state().control_key();
            }
            KeyboardInput { event, .. } if pastes(event, self.ctrl) => {
                if let Some(system) = &mut self.system {
                    let text = system.get_text().unwrap_or_default();
                    self.state.set_clipboard_text(text);
                }
            }
            Ime(_) if !keys => return Offered::default(),
            // It is the frame itself: one that wanted another would have no end.
            RedrawRequested => return Offered::default(),
            _ => {}
        }
        let response = self.state.on_window_event(window, event);
        let context = self.state.egui_ctx();
        Offered {
            taken: match event {
                KeyboardInput { .. } | Ime(_) => keys,
                _ => response.consumed,
            },
            shows: response.repaint && (keys || context.is_pointer_over_egui()),
        }
    }

    /// The input since the last frame.
    pub(super) fn take(&mut self, window: &Window) -> egui::RawInput {
        self.state.take_egui_input(window)
    }

    /// Sets cursor, clipboard and input method as egui wants them.
    pub(super) fn give(&mut self, window: &Window, output: egui::PlatformOutput) {
        for command in &output.commands {
            if let egui::OutputCommand::CopyText(text) = command {
                self.set_system_clipboard(text);
            }
        }
        self.state.handle_platform_output(window, output);
    }

    /// The clipboard's text, if it has some.
    pub(super) fn clipboard(&mut self) -> Option<String> {
        match &mut self.system {
            Some(system) => system.get_text().ok(),
            None => self.state.clipboard_text(),
        }
    }

    /// Puts text into the clipboard.
    pub(super) fn set_clipboard(&mut self, text: String) {
        self.set_system_clipboard(&text);
        self.state.set_clipboard_text(text);
    }

    fn set_system_clipboard(&mut self, text: &str) {
        if let Some(system) = &mut self.system
            && let Err(error) = system.set_text(text)
        {
            tracing::warn!("the clipboard did not take the text: {error}");
        }
    }
}

/// The clipboard of the desktop that this display belongs to, where egui's own is not that.
fn system_clipboard(display: &dyn HasDisplayHandle) -> Option<arboard::Clipboard> {
    let handle = display.display_handle().map(|handle| handle.as_raw());
    if matches!(handle, Ok(RawDisplayHandle::Wayland(_))) {
        return None;
    }
    let note = |error: &arboard::Error| {
        tracing::warn!("there is no clipboard but the window's own: {error}");
    };
    arboard::Clipboard::new().inspect_err(note).ok()
}

/// Whether egui pastes at this key, or may.
fn pastes(event: &KeyEvent, ctrl: bool) -> bool {
    let v = event.physical_key == PhysicalKey::Code(KeyCode::KeyV)
        || matches!(&event.logical_key, WinitKey::Character(text) if text.eq_ignore_ascii_case("v"));
    event.state.is_pressed()
        && (event.logical_key == WinitKey::Named(NamedKey::Paste) || (ctrl && v))
}

/// A pressed key with its modifiers.
#[derive(Clone, Copy)]
pub(super) struct Pressed {
    /// As the table has it, as a digit, or as it is typed.
    pub chord: Chord,
    /// What it stands for; while it is held, only what the table repeats.
    pub row: Option<&'static Row>,
}

impl Pressed {
    /// What winit tells of; not a key that came up.
    pub(super) fn of(event: &KeyEvent, modifiers: ModifiersState) -> Option<Pressed> {
        let chord = most_useful(&chords(event, modifiers))?;
        let row = row_for(chord).filter(|row| !event.repeat || row.repeats);
        Some(Pressed { chord, row })
    }

    /// What it asks for.
    pub(super) fn action(self) -> Option<Action> {
        self.row.map(|row| row.action)
    }
}

fn most_useful(chords: &[Chord]) -> Option<Chord> {
    let is_useful =
        |chord: &&Chord| matches!(chord.key, Key::Char('0'..='9')) || row_for(**chord).is_some();
    chords.iter().find(is_useful).or(chords.first()).copied()
}

/// What a pressed key may stand for, the most likely first.
fn chords(event: &KeyEvent, modifiers: ModifiersState) -> Vec<Chord> {
    // Alt and the logo key are the desktop's.
    if !event.state.is_pressed() || modifiers.alt_key() || modifiers.super_key() {
        return Vec::new();
    }
    let plain = event.key_without_modifiers();
    chords_of(&event.logical_key, &plain, event.physical_key, modifiers)
}

/// The same for what a key types, what it would type without modifiers, and its place.
fn chords_of(
    typed: &WinitKey,
    plain: &WinitKey,
    place: PhysicalKey,
    modifiers: ModifiersState,
) -> Vec<Chord> {
    let (shift, ctrl) = (modifiers.shift_key(), modifiers.control_key());
    // With Ctrl, some systems make a control character of a letter.
    let plain = key(plain).filter(|_| ctrl);
    let by_place = physical_key(place, shift);
    let keys = [key(typed), plain, by_place].into_iter().flatten();
    keys.map(|key| Chord { key, shift, ctrl }).collect()
}

fn key(key: &WinitKey) -> Option<Key> {
    use NamedKey::*;
    Some(match key {
        WinitKey::Character(text) => {
            let mut characters = text.chars();
            let (first, None) = (characters.next()?, characters.next()) else {
                return None;
            };
            Key::Char(first.to_uppercase().next()?)
        }
        WinitKey::Named(named) => match named {
            Space => Key::Space,
            Enter => Key::Enter,
            Tab => Key::Tab,
            Escape => Key::Escape,
            Backspace => Key::Backspace,
            Delete => Key::Delete,
            PageUp => Key::PageUp,
            PageDown => Key::PageDown,
            ArrowLeft => Key::Left,
            ArrowRight => Key::Right,
            ArrowUp => Key::Up,
            ArrowDown => Key::Down,
            other => Key::F(format!("{other:?}").strip_prefix('F')?.parse().ok()?),
        },
        _ => return None,
    })
}

/// What a key types on a US keyboard: its letter where keyboards type Greek or Cyrillic, and the
/// digit row and the brackets where they type other signs or letters. With Shift, a digit's key
/// types a sign there.
fn physical_key(key: PhysicalKey, shift: bool) -> Option<Key> {
    let PhysicalKey::Code(code) = key else {
        return None;
    };
    let name = format!("{code:?}");
    let named = |prefix| name.strip_prefix(prefix)?.chars().next();
    let character = match code {
        KeyCode::BracketLeft => '[',
        KeyCode::BracketRight => ']',
        KeyCode::Minus => '-',
        KeyCode::Equal => '=',
        _ => named("Key")
            .filter(char::is_ascii_uppercase)
            .or_else(|| named("Digit").filter(|_| !shift))?,
    };
    Some(Key::Char(character))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ui::actions::TABLE;
    use winit::keyboard::SmolStr;

    #[test]
    fn every_key_of_the_table_can_be_typed() {
        use NamedKey::*;
        let named = [
            Space, Enter, Backspace, Tab, Escape, Delete, PageUp, PageDown, ArrowLeft, ArrowRight,
            ArrowUp, ArrowDown, F1, F2, F3, F4, F5, F6, F7, F8, F9, F10, F11,
        ];
        let named = named.map(|named| key(&WinitKey::Named(named)));
        for chord in TABLE.iter().flat_map(Row::chords) {
            let Key::Char(letter) = chord.key else {
                assert!(named.contains(&Some(chord.key)), "{chord}");
                continue;
            };
            let typed = WinitKey::Character(letter.to_lowercase().to_string().into());
            assert_eq!(key(&typed), Some(chord.key));
        }
        // Each is one of its own.
        let apart: std::collections::HashSet<_> =
            named.iter().map(|it| format!("{it:?}")).collect();
        assert_eq!(apart.len(), named.len());
    }

    #[test]
    fn letters_digits_and_signs_are_found_on_other_keyboards() {
        let none = ModifiersState::empty();
        let (shift, ctrl) = (ModifiersState::SHIFT, ModifiersState::CONTROL);
        for (keyboard, held, typed, plain, place, wanted) in [
            ("ru", none, "л", "л", KeyCode::KeyK, 'K'),
            ("ru", ctrl, "л", "л", KeyCode::KeyK, 'K'),
            ("us", none, "5", "5", KeyCode::Digit5, '5'),
            ("us", shift, "%", "5", KeyCode::Digit5, '%'),
            ("us", shift, "@", "2", KeyCode::Digit2, '@'),
            ("us", ctrl, "\u{b}", "k", KeyCode::KeyK, 'K'),
            ("fr", none, "é", "é", KeyCode::Digit2, '2'),
            ("fr", none, "-", "-", KeyCode::Digit6, '-'),
            ("fr", shift, "2", "é", KeyCode::Digit2, '2'),
            ("fr", ctrl, "(", "(", KeyCode::Digit5, '5'),
            ("fr", ctrl | shift, "5", "(", KeyCode::Digit5, '5'),
            ("fr", ctrl, "à", "à", KeyCode::Digit0, '0'),
            ("fr", ctrl, ")", ")", KeyCode::Minus, '-'),
            ("cz", ctrl, "ř", "ř", KeyCode::Digit5, '5'),
            ("de", ctrl | shift, "=", "0", KeyCode::Digit0, '='),
            ("de", none, "ü", "ü", KeyCode::BracketLeft, '['),
        ] {
            let of = |text: &str| WinitKey::Character(SmolStr::new(text));
            let chords = chords_of(&of(typed), &of(plain), PhysicalKey::Code(place), held);
            let key = most_useful(&chords).map(|chord| chord.key);
            assert_eq!(key, Some(Key::Char(wanted)), "{keyboard}: {held:?} {typed}");
        }
    }
}
