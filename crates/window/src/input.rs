//! Passes window events to egui, and applies egui's output (cursor, clipboard, input method) to the
//! window.

use std::time::Duration;

use egui_winit::accesskit_winit::{Adapter, WindowEvent as AccessEvent};
use winit::event::{KeyEvent, WindowEvent};
use winit::keyboard::{Key, KeyCode, NamedKey, PhysicalKey};
use winit::raw_window_handle::{HasDisplayHandle, RawDisplayHandle};
use winit::window::Window;

/// How egui handled an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Offered {
    /// Whether egui alone handles the event.
    pub(super) taken: bool,
    /// Whether a frame must be drawn for it.
    pub(super) shows: bool,
}

/// What tells screen readers of the window: one as long as the window lives.
pub(super) struct Reader {
    adapter: Adapter,
    /// Whether one is there.
    pub(super) is_there: bool,
}

impl Reader {
    /// None is there yet.
    pub(super) fn new(adapter: Adapter) -> Reader {
        Reader {
            adapter,
            is_there: false,
        }
    }
}

/// From winit's events to egui's, in pixels; also the clipboard.
pub(super) struct Input {
    state: egui_winit::State,
    clipboard: Clipboard,
    /// Whether Ctrl is down.
    ctrl: bool,
    /// Whether a screen reader is there.
    is_read: bool,
}

impl Input {
    /// For the egui of a scene in this window.
    pub(super) fn new(
        context: &egui::Context,
        window: &Window,
        display: &dyn HasDisplayHandle,
        reader: Reader,
    ) -> Input {
        let scale = window.scale_factor() as f32;
        let (id, scale) = (egui::ViewportId::ROOT, Some(scale));
        let mut state = egui_winit::State::new(context.clone(), id, display, scale, None, None);
        state.accesskit = Some(reader.adapter);
        Input {
            clipboard: Clipboard::of(display),
            ctrl: false,
            is_read: reader.is_there,
            state,
        }
    }

    /// What tells screen readers of the window, for another egui.
    pub(super) fn into_reader(self) -> Reader {
        let adapter = self.state.accesskit;
        Reader {
            adapter: adapter.expect("an input has one from the start"),
            is_there: self.is_read,
        }
    }

    /// A screen reader came, went, or asks for an action, which the next frame has; whether one is
    /// there, if that has changed.
    pub(super) fn reader_event(&mut self, event: AccessEvent) -> Option<bool> {
        let is_there = match event {
            AccessEvent::InitialTreeRequested => true,
            AccessEvent::AccessibilityDeactivated => false,
            AccessEvent::ActionRequested(request) => {
                self.state.on_accesskit_action_request(request);
                return None;
            }
        };
        self.is_read = is_there;
        Some(is_there)
    }

    /// Offers an event; keys are egui's only while a dialog or the editor takes them, since it would
    /// move its focus by Tab and the arrows otherwise.
    pub(super) fn offer(&mut self, window: &Window, event: &WindowEvent, keys: bool) -> Offered {
        match event {
            WindowEvent::KeyboardInput { event, .. } if event.state.is_pressed() && !keys => {
                return Offered::default();
            }
            WindowEvent::ModifiersChanged(modifiers) => {
                self.ctrl = modifiers.state().control_key();
            }
            WindowEvent::KeyboardInput { event, .. } if pastes(event, self.ctrl) => {
                self.clipboard.bring(&mut self.state);
            }
            WindowEvent::Ime(_) if !keys => return Offered::default(),
            // It is the frame itself: one that wanted another would have no end.
            WindowEvent::RedrawRequested => return Offered::default(),
            _ => {}
        }
        let response = self.state.on_window_event(window, event);
        let context = self.state.egui_ctx();
        Offered {
            taken: match event {
                WindowEvent::KeyboardInput { .. } | WindowEvent::Ime(_) => keys,
                _ => response.consumed,
            },
            shows: response.repaint && (keys || context.is_pointer_over_egui()),
        }
    }

    /// Whether the mouse is over a dialog, or drags something of one.
    pub(super) fn has_pointer(&self) -> bool {
        self.state.egui_ctx().egui_wants_pointer_input()
    }

    /// The input since the last frame.
    pub(super) fn take(&mut self, window: &Window) -> egui::RawInput {
        self.state.take_egui_input(window)
    }

    /// Sets cursor, clipboard and input method as egui wants them.
    pub(super) fn give(&mut self, window: &Window, output: egui::PlatformOutput) {
        self.clipboard.copied(&output.commands);
        self.state.handle_platform_output(window, output);
    }

    /// The clipboard's text, if it has some.
    pub(super) fn clipboard(&mut self) -> Option<String> {
        self.clipboard.text(&mut self.state)
    }

    /// Puts text into the clipboard.
    pub(super) fn set_clipboard(&mut self, text: String) {
        self.clipboard.set_text(&mut self.state, text);
    }
}

/// A delay that egui means: it says [`Duration::MAX`] where nothing will change by itself.
pub(super) fn meant(delay: Duration) -> Option<Duration> {
    (delay < Duration::from_secs(3600)).then_some(delay)
}

/// The desktop's clipboard, for text.
///
/// egui's own reaches Wayland's. Everywhere else it would bring decoders for every kind of picture
/// with it, so there the desktop is asked directly, and egui's is kept the same: dialogs read and
/// write that one.
pub(super) struct Clipboard {
    /// None where egui's own is the desktop's, or where the desktop has none.
    system: Option<arboard::Clipboard>,
}

impl Clipboard {
    /// The one of the desktop that this display belongs to.
    pub(super) fn of(display: &dyn HasDisplayHandle) -> Clipboard {
        let handle = display.display_handle().map(|handle| handle.as_raw());
        if matches!(handle, Ok(RawDisplayHandle::Wayland(_))) {
            return Clipboard { system: None };
        }
        let system = arboard::Clipboard::new();
        if let Err(error) = &system {
            tracing::warn!("there is no clipboard but the window's own: {error}");
        }
        let system = system.ok();
        Clipboard { system }
    }

    /// Its text, if it has some.
    pub(super) fn text(&mut self, egui: &mut egui_winit::State) -> Option<String> {
        match &mut self.system {
            Some(system) => system.get_text().ok(),
            None => egui.clipboard_text(),
        }
    }

    /// Puts text into it.
    pub(super) fn set_text(&mut self, egui: &mut egui_winit::State, text: String) {
        if let Some(system) = &mut self.system
            && let Err(error) = system.set_text(text.as_str())
        {
            tracing::warn!("the clipboard did not take the text: {error}");
        }
        egui.set_clipboard_text(text);
    }

    /// A dialog is about to paste: egui's own gets what the desktop's has.
    pub(super) fn bring(&mut self, egui: &mut egui_winit::State) {
        if let Some(system) = &mut self.system {
            egui.set_clipboard_text(system.get_text().unwrap_or_default());
        }
    }

    /// A dialog has copied this, into egui's own as well.
    pub(super) fn copied(&mut self, commands: &[egui::OutputCommand]) {
        for command in commands {
            if let (egui::OutputCommand::CopyText(text), Some(system)) = (command, &mut self.system)
                && let Err(error) = system.set_text(text.as_str())
            {
                tracing::warn!("the clipboard did not take the text: {error}");
            }
        }
    }
}

/// Whether egui pastes at this key, or may.
pub(super) fn pastes(event: &KeyEvent, ctrl: bool) -> bool {
    let v = event.physical_key == PhysicalKey::Code(KeyCode::KeyV)
        || matches!(&event.logical_key, Key::Character(text) if text.eq_ignore_ascii_case("v"));
    event.state.is_pressed() && (event.logical_key == Key::Named(NamedKey::Paste) || (ctrl && v))
}
