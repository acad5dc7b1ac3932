//! The command palette: every action of the table of keys, found by typing a part of what it does.

use egui::{Align2, Id, Key, Modal, Modifiers, ScrollArea, TextEdit, vec2};

use crate::session::actions::{Binding, KEYS};
use crate::view::dialogs::{Asked, Seen};

/// The open palette.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Commands {
    typed: String,
    /// The chosen one of those that match.
    chosen: usize,
}

impl Commands {
    /// Lays it out; whether it stays open.
    pub(super) fn show(
        &mut self,
        context: &egui::Context,
        seen: Seen<'_>,
        asked: &mut Vec<Asked>,
    ) -> bool {
        let unit = seen.unit;
        let (id, down) = (
            Id::unique("commands"),
            vec2(0.0, 0.08 * seen.screen.height()),
        );
        let area = Modal::default_area(id).anchor(Align2::CENTER_TOP, down);
        let mut stays = true;
        let modal = Modal::new(id).area(area).show(context, |ui| {
            ui.set_width((560.0 * unit).min(0.9 * seen.screen.width()));
            let field = TextEdit::singleline(&mut self.typed).hint_text("type what to do");
            let field = ui.add(field.desired_width(f32::INFINITY));
            field.request_focus();
            if field.changed() {
                self.chosen = 0;
            }
            let found = found(&self.typed);
            let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
            let last = found.len().saturating_sub(1);
            if pressed(Key::ArrowDown) {
                self.chosen = (self.chosen + 1).min(last);
            }
            if pressed(Key::ArrowUp) {
                self.chosen = self.chosen.saturating_sub(1);
            }
            let entered = pressed(Key::Enter);
            // Of one height, however much is found: an area keeps to the size that it once had.
            let height = 0.6 * seen.screen.height();
            ui.set_min_height(height + field.rect.height());
            ScrollArea::vertical()
                .max_height(height)
                .auto_shrink(false)
                .show(ui, |ui| {
                    for (at, row) in found.iter().enumerate() {
                        let line = ui.selectable_label(at == self.chosen, row.help);
                        if line.clicked() || (entered && at == self.chosen) {
                            asked.push(Asked::Act(row.action));
                            stays = false;
                        }
                    }
                });
        });
        stays && !modal.backdrop_response.clicked()
    }
}

fn found(typed: &str) -> Vec<&'static Binding> {
    let typed = typed.to_lowercase();
    let matches = |row: &&Binding| row.help.to_lowercase().contains(&typed);
    KEYS.iter().filter(matches).collect()
}
