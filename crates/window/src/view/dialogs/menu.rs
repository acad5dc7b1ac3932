//! The menu: the action table by topic, as the screen has it, for those who do not know the keys.

use egui::accesskit::Role;
use egui::{Align, Key, Layout, Modifiers, RichText, ScrollArea};

use crate::view::dialogs::entries::{self, Entry, LINE};
use crate::view::dialogs::{DialogContext, UiRequest, style};
use ui::actions::Topic;

/// The open menu.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Menu {
    /// The place of the topic that is shown.
    topic: usize,
    /// The chosen line, once the arrow keys were used.
    chosen: Option<usize>,
}

impl Menu {
    /// At a topic.
    #[cfg(test)]
    pub(crate) fn at(topic: Topic) -> Menu {
        Menu {
            topic: topic as usize,
            chosen: None,
        }
    }

    /// Lays it out; whether it stays open.
    pub(super) fn show(&mut self, cx: DialogContext<'_>, requests: &mut Vec<UiRequest>) -> bool {
        let count = Topic::ALL.len();
        // Counted: of a slow frame no key is lost.
        let presses = |key| {
            cx.context
                .input_mut(|input| input.count_and_consume_key(Modifiers::NONE, key))
        };
        for (key, to) in [(Key::ArrowRight, 1), (Key::ArrowLeft, count - 1)] {
            for _ in 0..presses(key) {
                (self.topic, self.chosen) = ((self.topic + to) % count, Some(0));
            }
        }
        let last = Topic::ALL[self.topic].rows().count() - 1;
        for _ in 0..presses(Key::ArrowDown) {
            self.chosen = Some(self.chosen.map_or(0, |at| (at + 1).min(last)));
        }
        for _ in 0..presses(Key::ArrowUp) {
            self.chosen = Some(self.chosen.map_or(last, |at| at.saturating_sub(1)));
        }
        let entered = presses(Key::Enter) > 0;
        let mut stays = true;
        let left = style::dialog(cx, "menu", Some(0.06), 720.0, |ui| {
            style::with_close_button(ui, |ui| {
                ui.with_layout(
                    Layout::left_to_right(Align::Min).with_main_wrap(true),
                    |ui| {
                        for (at, topic) in Topic::ALL.into_iter().enumerate() {
                            let text_colour = if at == self.topic {
                                cx.palette.value
                            } else {
                                cx.palette.label
                            };
                            let title = RichText::new(topic.short_title()).color(text_colour);
                            let title = ui.selectable_label(at == self.topic, title);
                            ui.ctx()
                                .accesskit_node_builder(title.id, |node| node.set_role(Role::Tab));
                            // Clicked, or passed over as menus are.
                            if (title.hovered() || title.clicked()) && at != self.topic {
                                (self.topic, self.chosen) = (at, None);
                            }
                        }
                    },
                );
            });
            ui.separator();
            let rows: Vec<_> = Topic::ALL[self.topic].rows().collect();
            let height = (rows.len() as f32 * LINE).min(0.74 * cx.screen.height());
            ui.spacing_mut().item_spacing.y = 0.0;
            ui.set_min_height(height);
            ScrollArea::vertical()
                .id_salt(self.topic)
                .max_height(height)
                .min_scrolled_height(height)
                .auto_shrink(false)
                .show(ui, |ui| {
                    for (at, row) in rows.into_iter().enumerate() {
                        let entry = Entry::of_row(row, &cx.frame.sources);
                        let chosen = self.chosen == Some(at);
                        let line = entries::line(ui, cx, &entry, Some(chosen));
                        if chosen {
                            line.scroll_to_me(None);
                        }
                        if line.clicked() || (entered && chosen && entry.unavailable.is_none()) {
                            requests.push(entry.request);
                            stays = false;
                        }
                    }
                });
        });
        stays && !left
    }
}
