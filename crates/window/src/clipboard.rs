//! The desktop's clipboard, for text.
//!
//! egui's own reaches Wayland's. Everywhere else it would bring decoders for every kind of picture
//! with it, so there the desktop is asked directly, and egui's is kept the same: dialogs read and
//! write that one.

use winit::event::KeyEvent;
use winit::keyboard::{Key, KeyCode, NamedKey, PhysicalKey};
use winit::raw_window_handle::{HasDisplayHandle, RawDisplayHandle};

/// See the module.
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
