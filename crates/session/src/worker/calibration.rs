//! Runs rounds op by op, with whose times the overlap of a round is computed.

use super::{RETRY_INTERVAL, SessionWorker};
use crate::Request;
use crate::state::Mode;
use crate::watch::Measuring;
use engine::Result;

impl SessionWorker {
    /// Whether to run a round op by op: its overlap is wanted and not known. Not in the middle of a
    /// round, before a record ahead, or while stepping by hand.
    pub(super) fn wants_calibration(&self) -> bool {
        let generations = self.state.pacing.generations();
        self.lab.is_watching
            && !self.lattices.is_recorded()
            && self.lab.isolated.is_none()
            && self.lattices.trial.is_none()
            && !self.state.has_records_ahead()
            && self.state.mode == Mode::Running
            && generations <= self.lattices.longest_round()
    }

    /// Begins a round that runs op by op. Nothing may be in flight.
    pub(super) fn calibrate(&mut self) -> Result<()> {
        let now = self.now();
        let share = self.lattices.present();
        let request = Request {
            measured: self.watch.measuring != Measuring::Never,
            edits: self.state.last_edit,
            ..Request::of(self.state.pacing.generations())
        };
        let pictures = self.publisher.pictures.clone();
        let newest = |slot| pictures.holds_newest(slot, share.downloads());
        let is_ready = self.ensure(std::slice::from_ref(&share))?;
        let Some(sim) = &mut self.lattices.sim else {
            return Ok(());
        };
        if is_ready && sim.begin_calibration(&share, request, newest)? {
            self.lab.calibrating = Some(share);
            self.state.stepped(request.generations, now);
            self.snapshots.is_stale = true;
        } else {
            self.lattices.retry_at = Some(now + RETRY_INTERVAL);
        }
        Ok(())
    }

    /// Drops a finished calibration's result if the setting has changed meanwhile.
    pub(super) fn check_calibration(&mut self) {
        if self.lab.calibrating.take() != Some(self.lattices.present()) {
            self.lab.isolated = None;
        }
    }
}
