//! A path that is typed in, where the desktop has no dialog for files.

use egui::{Align2, Id, Key, Modal, Modifiers, RichText, TextEdit, vec2};

use crate::lang::tr;
use crate::view::dialogs::{Asked, Seen};

/// The open field.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct FileDialog {
    /// Whether it is for saving.
    saves: bool,
    typed: String,
    /// Why the last try failed.
    why: Option<String>,
}

impl FileDialog {
    /// To save to, or to open; with a path to begin with, and why that failed if it did.
    pub(crate) fn new(saves: bool, typed: String, why: Option<String>) -> FileDialog {
        FileDialog { saves, typed, why }
    }

    /// Lays it out; whether it stays open.
    pub(super) fn show(
        &mut self,
        context: &egui::Context,
        seen: Seen<'_>,
        asked: &mut Vec<Asked>,
    ) -> bool {
        let unit = seen.unit;
        let (id, down) = (Id::unique("file"), vec2(0.0, 0.08 * seen.screen.height()));
        let area = Modal::default_area(id).anchor(Align2::CENTER_TOP, down);
        let mut stays = true;
        let modal = Modal::new(id).area(area).show(context, |ui| {
            ui.set_width((560.0 * unit).min(0.9 * seen.screen.width()));
            ui.heading(if self.saves {
                tr!("Save to")
            } else {
                tr!("Open a pattern in the selected panel")
            });
            let hint = if self.saves {
                tr!("a path that ends in .rle, .cells, .lif or .mc")
            } else {
                tr!("the path of a .rle, .cells, .lif or .mc file")
            };
            let field = TextEdit::singleline(&mut self.typed).hint_text(hint);
            ui.add(field.desired_width(f32::INFINITY)).request_focus();
            if let Some(why) = &self.why {
                ui.label(RichText::new(why).color(ui.visuals().warn_fg_color));
            }
            let entered = ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Enter));
            let word = if self.saves { tr!("Save") } else { tr!("Open") };
            let done = ui.button(word).clicked() || entered;
            if done && !self.typed.trim().is_empty() {
                asked.push(Asked::Path(self.saves, home(self.typed.trim())));
                stays = false;
            }
        });
        stays && !modal.backdrop_response.clicked()
    }
}

/// A path that begins with `~/` is in the person's folder.
fn home(typed: &str) -> String {
    match (typed.strip_prefix("~/"), std::env::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest).to_string_lossy().into_owned(),
        _ => typed.into(),
    }
}
