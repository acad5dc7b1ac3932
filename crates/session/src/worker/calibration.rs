//! Runs rounds op by op, with whose times the overlap of a round is computed.

use super::{RETRY_INTERVAL, SessionWorker};
use crate::instances::Instances;
use crate::lab::CalibrationKey;
use crate::state::Mode;
use engine::Result;

impl SessionWorker {
    /// The present setting.
    fn setting(&self, instances: &Instances) -> CalibrationKey {
        let picture = instances.plan().picture;
        (
            self.lattices.setup().switches,
            self.lattices.setup().kernel,
            picture,
        )
    }

    /// Whether to run a round op by op: its overlap is wanted and not known. Not in the middle of a
    /// round, before a record ahead, or while stepping by hand.
    pub(super) fn wants_calibration(&self, instances: &Instances) -> bool {
        let generations = self.state.pacing.generations();
        self.lab.is_watching()
            && !self.lattices.is_recorded()
            && self.lab.isolated.is_none()
            && self.comparison.is_none()
            && !instances.has_alternative()
            && !self.state.has_records_ahead()
            && *self.state.mode() == Mode::Running
            && generations <= instances.longest_round()
    }

    /// Begins a round that runs op by op. Nothing may be in flight.
    pub(super) fn calibrate(&mut self) -> Result<()> {
        let now = self.now();
        let Some(instances) = &mut self.lattices.instances else {
            return Ok(());
        };
        let generations = self.state.pacing.generations();
        let pictures = self.publisher.pictures();
        let downloads = instances.plan().downloads();
        let newest = |slot| pictures.holds_newest(slot, downloads.clone());
        if instances.begin_calibration(generations, newest)? {
            let instances = self.lattices.instances.as_ref();
            self.lab.calibrating = instances.map(|it| self.setting(it));
            self.state.stepped(generations, now);
            self.snapshots.mark_stale();
        } else {
            self.lattices.retry_at = Some(now + RETRY_INTERVAL);
        }
        Ok(())
    }

    /// Drops a finished calibration's result if the setting has changed meanwhile.
    pub(super) fn check_calibration(&mut self) {
        let now = self.lattices.instances.as_ref().map(|it| self.setting(it));
        if self.lab.calibrating.take() != now {
            self.lab.isolated = None;
        }
    }
}
