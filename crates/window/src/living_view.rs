//! A view that nobody has moved follows what happens in its lattice.

use std::time::{Duration, Instant};

use crate::handler::Handler;
use crate::view::Outlook;
use engine::Transfer;
use ui::Tool;

/// How often the panels are looked at.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

impl Handler {
    /// Turns unmoved cameras in whose panels nothing happens to where something does, and tells the
    /// session which lattices have become dull.
    pub(super) fn follow_life(&mut self, now: Instant) {
        if now < self.next_look {
            return;
        }
        self.next_look = now + LOOK_INTERVAL;
        let (Some(status), Some(layout)) = (self.status(), self.layout()) else {
            return;
        };
        let (instances, size) = (status.lattices.instances, status.lattices.size);
        let edit_overlay = &self.editing.edit_overlay;
        let is_edited = edit_overlay.tool != Tool::default()
            || edit_overlay.selection.is_some()
            || edit_overlay.ghost.is_some();
        let is_followed = status.clock.running
            && status.setting.transfer != Transfer::View
            && status.lab.comparison.is_none()
            && !is_edited
            && !self.pointer.is_pressed();
        if !is_followed {
            return;
        }
        let panel = layout.tiling.panel;
        let glides = self.pacer.min_interval.is_zero();
        for instance in 0..instances {
            let camera = *self.app.options.camera_of(instance);
            let (Some(surface), true) = (&self.surface, camera.is_unmoved()) else {
                continue;
            };
            if !camera.is_zoomed(size, panel) {
                continue;
            }
            let shown = camera.target_transform(size, panel);
            match surface.scene.outlook(instance, shown, panel) {
                Outlook::Lively => {}
                Outlook::Elsewhere(cell) => {
                    let options = &mut self.app.options;
                    options.drift_to((instance, instances), cell, (size, panel), glides);
                    if glides {
                        self.glided.get_or_insert(now);
                    }
                    self.pacer.request_frame(now);
                }
                Outlook::Dull => {
                    if let Some(session) = &self.app.session {
                        session.note_dull(instance);
                    }
                }
            }
        }
    }
}
