//! The menu: the table of keys by group, for those who do not know the keys.

use egui::{Key, Modifiers, RichText, ScrollArea};

use crate::dialogs::entries::{self, LINE};
use crate::dialogs::{Asked, Seen, style};
use crate::hud::style::{LABEL, VALUE};
use model::actions::groups::grouped;

/// The open menu.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Menu {
    group: usize,
    /// The chosen line, once the arrow keys were used.
    chosen: Option<usize>,
}

impl Menu {
    /// At a group.
    #[cfg(test)]
    pub fn at(group: usize) -> Menu {
        Menu {
            group,
            chosen: None,
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
        let groups = grouped();
        let count = groups.len();
        // Counted: of a slow frame no key is lost.
        let presses =
            |key| context.input_mut(|input| input.count_and_consume_key(Modifiers::NONE, key));
        for (key, to) in [(Key::ArrowRight, 1), (Key::ArrowLeft, count - 1)] {
            for _ in 0..presses(key) {
                (self.group, self.chosen) = ((self.group + to) % count, Some(0));
            }
        }
        self.group = self.group.min(count - 1);
        let rows = &groups[self.group].1;
        let last = rows.len() - 1;
        for _ in 0..presses(Key::ArrowDown) {
            self.chosen = Some(self.chosen.map_or(0, |at| (at + 1).min(last)));
        }
        for _ in 0..presses(Key::ArrowUp) {
            self.chosen = Some(self.chosen.map_or(last, |at| at.saturating_sub(1)));
        }
        let entered = presses(Key::Enter) > 0;
        let mut stays = true;
        let left = style::dialog(context, seen, ("menu", Some(0.06), 680.0), |ui| {
            ui.horizontal(|ui| {
                for (at, (group, _)) in groups.iter().enumerate() {
                    let ink = if at == self.group { VALUE } else { LABEL };
                    let title = RichText::new(group.title()).color(ink);
                    let title = ui.selectable_label(at == self.group, title);
                    // Clicked, or passed over as menus are.
                    if (title.hovered() || title.clicked()) && at != self.group {
                        (self.group, self.chosen) = (at, None);
                    }
                }
            });
            ui.separator();
            let rows = groups[self.group].1.len();
            let height = (rows as f32 * LINE * unit).min(0.74 * seen.screen.height());
            ui.spacing_mut().item_spacing.y = 0.0;
            ui.set_min_height(height);
            ScrollArea::vertical()
                .id_salt(self.group)
                .max_height(height)
                .min_scrolled_height(height)
                .auto_shrink(false)
                .show(ui, |ui| {
                    for (at, row) in groups[self.group].1.iter().enumerate() {
                        let entry = entries::of_row(row, seen.frame.status);
                        let chosen = self.chosen == Some(at);
                        let line = entries::line(ui, unit, &entry, chosen);
                        if chosen {
                            line.scroll_to_me(None);
                        }
                        if line.clicked() || (entered && chosen && entry.refusal.is_none()) {
                            asked.push(entry.asked);
                            stays = false;
                        }
                    }
                });
        });
        stays && !left
    }
}
