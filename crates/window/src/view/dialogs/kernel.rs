//! The question whether the kernel in a session's file may run.

use std::sync::Arc;

use egui::{Label, RichText, ScrollArea};

use crate::view::dialogs::{self, DialogContext, UiRequest};
use lang::tr;
use session::StoredKernel;

/// The open question.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct KernelDialog(pub(crate) Arc<StoredKernel>);

impl KernelDialog {
    /// Lays it out; whether it stays open.
    pub(super) fn show(&mut self, cx: DialogContext<'_>, requests: &mut Vec<UiRequest>) -> bool {
        let StoredKernel { source, file, .. } = &*self.0;
        let mut stays = true;
        let left = dialogs::dialog(
            cx,
            ("kernel", tr!("Run the kernel in this file?")),
            0.06,
            900.0,
            |ui| {
                ui.label(tr!(
                "{file} has this kernel ({lines} lines). It is code and would run with your rights; it was not run here before.",
                lines = source.lines().count()
            ));
                let text = lang::escape_controls(source, &['\n', '\t']);
                let height = 0.6 * cx.screen.height();
                let lines = ScrollArea::both().max_height(height);
                lines.min_scrolled_height(height).show(ui, |ui| {
                    ui.add(Label::new(RichText::new(text).monospace()).extend());
                });
                // No key: the question may come while something else is typed.
                if ui.button(tr!("Run it")).clicked() {
                    requests.push(UiRequest::RunKernel(self.0.clone()));
                    stays = false;
                }
            },
        );
        stays && !left
    }
}
