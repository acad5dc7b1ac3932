//! The dialog that offers to enlarge the lattices for a pattern that does not fit.

use egui::{Key, Modifiers};

use crate::view::dialogs::{DialogContext, UiRequest, style};
use lang::tr;
use life::Size;

/// The open offer.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct ResizeDialog {
    /// What is too large.
    why: String,
    size: Size,
}

impl ResizeDialog {
    /// An offer of lattices of this size; `why` says what is too large.
    pub(crate) fn new(why: String, size: Size) -> ResizeDialog {
        ResizeDialog { why, size }
    }

    /// Lays it out; whether it stays open.
    pub(super) fn show(&mut self, cx: DialogContext<'_>, requests: &mut Vec<UiRequest>) -> bool {
        let mut stays = true;
        let left = style::dialog(cx, "resize", Some(0.12), 620.0, |ui| {
            style::heading(ui, tr!("Resize lattices?"));
            ui.label(&self.why);
            ui.label(tr!(
                "The current cells stay in the centre. Ctrl+Z restores the previous size."
            ));
            let entered = ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Enter));
            let button = tr!("Resize lattices to {} (Enter)", self.size);
            if ui.button(button).clicked() || entered {
                requests.push(UiRequest::Resize);
                stays = false;
            }
        });
        stays && !left
    }
}
