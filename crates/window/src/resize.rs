//! Offers to enlarge the lattices when a pattern does not fit.

use std::sync::Arc;

use crate::background::BackgroundResult;
use crate::handler::Handler;
use crate::oversized::OversizedPattern;
use crate::view::{Dialog, ResizeDialog};
use life::Lattice;
use model::Change;

impl Handler {
    /// Offers to enlarge the lattices to hold a pattern, if lattices that large are possible.
    pub(super) fn offer_resize(&mut self, instance: usize, pattern: OversizedPattern, why: String) {
        let size = self
            .status()
            .and_then(|status| pattern.room(status.lattices.size));
        match size {
            Some(size) if self.app.lessons.screen().is_none() => {
                tracing::debug!("larger lattices are offered: {size}");
                let why = match self.offer_rule(pattern.rule()) {
                    Some(rule) => format!("{why} {rule}"),
                    None => why,
                };
                self.dialogs
                    .open(Dialog::Resize(ResizeDialog::new(why, size)));
                self.offer = Some((instance, pattern, size));
            }
            _ => self.show_notice(why),
        }
    }

    /// The offer was taken: the pattern is put into the middle of a lattice of that size first,
    /// which may take long.
    pub(super) fn accept_resize(&mut self) {
        let Some((instance, pattern, size)) = self.offer.take() else {
            return;
        };
        let opened_at = pattern.opened_at();
        self.run_in_background(move || match pattern.centred_in(size) {
            Ok(lattice) => BackgroundResult::Centred(instance, Arc::new(lattice), opened_at),
            Err(why) => BackgroundResult::Notice(why),
        });
    }

    /// Has the lattices grow, with this one in place of an instance's.
    pub(super) fn grow(&mut self, instance: usize, lattice: Arc<Lattice>) {
        let size = lattice.size();
        let change = Change::Place {
            pattern: lattice,
            at: [0, 0],
            overwrites_dead: true,
        };
        if let Some(session) = &self.app.session {
            session.grow(size, Some((instance, change)));
        }
    }

    /// Clears pending edits and the selection when the size or number of lattices has changed.
    pub(super) fn notice_other_grid(&mut self) {
        if self.app.notice_other_grid() {
            self.end_stroke();
            self.editing.edit_overlay.pending.clear();
            self.editing.edit_overlay.selection = None;
        }
    }
}
