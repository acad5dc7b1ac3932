//! Passes window events to egui, and applies egui's output (cursor, clipboard, input method) to the
//! window.

use egui_winit::accesskit_winit::{Adapter, WindowEvent as AccessEvent};
use winit::event::{KeyEvent, WindowEvent};
use winit::keyboard::{Key, KeyCode, NamedKey, PhysicalKey};
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
    /// The mouse's last move.
    moved: Option<WindowEvent>,
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
            moved: None,
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
            CursorMoved { .. } => self.moved = Some(event.clone()),
            // Points may be larger or smaller since then: it would be clicked elsewhere.
            MouseInput { .. } => {
                if let Some(moved) = &self.moved {
                    _ = self.state.on_window_event(window, moved);
                }
            }
            // It is the frame itself: one that wanted another would have no end.
            RedrawRequested => return Offered::default(),
            _ => {}
        }
        let response = self.state.on_window_event(window, event);
        let context = self.state.egui_ctx();
        Offered {
            taken: match event {
                KeyboardInput { .. } | Ime(_) => keys,
                // Until its next frame, egui does not know that a button came up, and would claim this press.
                MouseInput { state, .. } if state.is_pressed() => context.is_pointer_over_egui(),
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
        || matches!(&event.logical_key, Key::Character(text) if text.eq_ignore_ascii_case("v"));
    event.state.is_pressed() && (event.logical_key == Key::Named(NamedKey::Paste) || (ctrl && v))
}
