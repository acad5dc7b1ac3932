//! Rounds with two settings, compared by an [`Executor`](experiment::Executor) while the session runs: the
//! effect of a change of a switch or of the kernel, A against B, and, once per session, equal settings,
//! whose difference widens what is found of others.
//!
//! Every round is a round of the session: the lattices advance and are drawn. Rounds that differ from
//! the others in anything else than the setting do not count: those stepped by hand, cut short, or
//! timed by events.

use std::time::{Duration, Instant};

use super::{RETRY_INTERVAL, SessionWorker};
use crate::instances::Instances;
use crate::measurement::{Measurement, Subject};
use crate::next_task::part_of_round;
use crate::publisher::Notice;
use crate::state::Mode;
use crate::{Effect, Pace, Side, Switches};
use engine::{EngineError, Kernel, Result};
use lang::Message;
use platform::usage;

/// Number of cells of all lattices up to which kernels of different layouts are compared: each change
/// between them converts every lattice.
const MAX_CONVERTED_CELLS: u64 = 1 << 28;

/// How long nothing was asked of the session before equal settings are compared.
const IDLE_BEFORE_EQUAL_SETTINGS: Duration = Duration::from_secs(10);

impl SessionWorker {
    /// Begins to compare rounds before and after a change, which has been made. Nothing may be in
    /// flight.
    pub(super) fn measure_change(
        &mut self,
        change: Message,
        kernel: &'static Kernel,
        switches: Switches,
    ) -> Result<()> {
        if let Some(effect) = self.recorded_effect(&change, kernel, switches) {
            self.lab.before_change = Some((kernel, switches));
            self.lab.last_effect = Some(effect);
            self.notify(Notice::Effect);
            return Ok(());
        }
        let Some(instances) = &self.lattices.instances else {
            return Ok(());
        };
        let cells = self.lattices.setup().size.cells() * self.lattices.setup().instances as u64;
        if kernel.layout != self.lattices.setup().kernel.layout && cells > MAX_CONVERTED_CELLS {
            return Ok(());
        }
        let (frees, setting) = (
            instances.needs_slots_of_its_own(kernel, switches),
            Some((kernel, switches)),
        );
        let set = self.change_slots(frees, |lattices| lattices.set_alternative(setting));
        match set {
            Ok(()) => {}
            Err(error) if error.loses_lattices() => return Err(error),
            // There is no room for both settings.
            Err(error @ (EngineError::OutOfMemory { .. } | EngineError::DriverOutOfMemory(_))) => {
                let error = lang::english(error);
                tracing::info!("the effect of the change is not measured: {error}");
                return Ok(());
            }
            Err(error) => return Err(error),
        }
        self.begin_measurement(Subject::Change(change));
        self.publish_effect();
        Ok(())
    }

    /// Begins to compare A's and B's rounds.
    pub(super) fn measure_a_and_b(&mut self) {
        self.forget_effect();
        if !self.lattices.is_recorded() {
            self.begin_measurement(Subject::AAndB);
        }
    }

    /// Begins to compare rounds of equal settings, once per session, if nothing was asked of it for a
    /// while and it runs so slowly that rounds one at a time are no slower.
    pub(super) fn measure_equal_settings(&mut self, now: Instant) -> Result<()> {
        let is_long_ago = |at: Instant| now - at >= IDLE_BEFORE_EQUAL_SETTINGS;
        let is_idle = self.lab.last_command.is_some_and(is_long_ago)
            && *self.state.mode() == Mode::Running
            && matches!(self.state.pacing.pace(), Pace::PerSecond(_))
            && self.state.queue.is_empty()
            && !self.lab.is_watching();
        let is_free = self.lab.measurement.is_none()
            && self.comparison.is_none()
            && !self.lattices.is_recorded();
        let is_known = self.lab.spread.is_some();
        let setting = (self.lattices.setup().kernel, self.lattices.setup().switches);
        let Some(instances) = &mut self.lattices.instances else {
            return Ok(());
        };
        if !is_idle || !is_free || is_known || !instances.is_idle() {
            return Ok(());
        }
        match instances.set_alternative(Some(setting)) {
            Ok(_) => self.begin_measurement(Subject::EqualSettings),
            Err(error) if error.loses_lattices() => return Err(error),
            Err(_) => self.lab.spread = Some(1.0),
        }
        Ok(())
    }

    fn begin_measurement(&mut self, subject: Subject) {
        self.lab.measurements += 1;
        let spread = self.lab.spread.unwrap_or(1.0);
        self.lab.measurement = Some(Measurement::new(subject, self.lab.measurements, spread));
    }

    /// Stops comparing a change's rounds; its effect stays unknown. A comparison of A and B begins
    /// anew. Nothing may be in flight.
    pub(super) fn drop_measurement(&mut self) -> Result<()> {
        let is_of_a_and_b = |it: &Measurement| it.is_of_a_and_b();
        self.forget_effect();
        if self.lab.measurement.as_ref().is_some_and(is_of_a_and_b) {
            self.measure_a_and_b();
            return Ok(());
        }
        self.lab.measurement = None;
        self.end_alternative()
    }

    /// Puts the session's own setting in use, and gives back what the one before a change needed.
    fn end_alternative(&mut self) -> Result<()> {
        let Some(instances) = self
            .lattices
            .instances
            .as_ref()
            .filter(|it| it.has_alternative())
        else {
            return Ok(());
        };
        let frees = instances.alternative_has_slots();
        self.change_slots(frees, |lattices| lattices.set_alternative(None))
    }

    /// Ends a comparison that has its finding, once nothing is in flight.
    pub(super) fn end_measurement(&mut self) -> Result<()> {
        let is_over = |it: &Measurement| !it.is_of_a_and_b() && !it.is_under_way();
        let over = self.lab.measurement.as_ref().is_some_and(is_over);
        let idle = self
            .lattices
            .instances
            .as_ref()
            .is_some_and(Instances::is_idle);
        if over && idle {
            self.publish_effect();
            let ended = self.lab.measurement.take();
            self.end_alternative()?;
            match ended.map(|it| (it.subject, it.executor)) {
                Some((Subject::EqualSettings, executor)) => {
                    self.lab.spread = executor.excess();
                    tracing::debug!("equal settings differ by {:?}", self.lab.spread);
                }
                _ => {
                    self.lab.statistics.restart();
                    if let Some(effect) = &self.lab.last_effect {
                        tracing::debug!("{}", effect.in_words());
                        self.notify(Notice::Effect);
                    }
                }
            }
        }
        Ok(())
    }

    /// Forgets the effect that is shown, and the rounds before the change.
    pub(super) fn forget_effect(&mut self) {
        (self.lab.last_effect, self.lab.before_change) = (None, None);
        self.lab.recorded = None; // it is drawn anew
        self.publisher.setting_changed();
    }

    /// Updates the effect that is shown.
    pub(super) fn publish_effect(&mut self) {
        let Some(measurement) = &self.lab.measurement else {
            return;
        };
        if let Subject::Change(change) = &measurement.subject {
            self.lab.last_effect = Some(Effect {
                what: change.clone(),
                round_us: measurement.round_us(),
                finding: measurement.finding(),
                source: measurement.source(),
            });
        }
    }

    /// Puts the setting in use that the next round has. Returns `false` if it cannot be issued yet.
    pub(super) fn prepare_round(&mut self, generations: u32) -> Result<bool> {
        let now = self.now();
        let is_running = matches!(self.state.mode(), Mode::Running | Mode::RunningTo(_));
        // Between equal settings there is only noise.
        let is_of_equals = self.lattices.b_switches() == Some(self.lattices.setup().switches);
        let (Some(instances), Some(measurement)) =
            (&mut self.lattices.instances, &mut self.lab.measurement)
        else {
            return Ok(true);
        };
        // The last one of those as which a long round is issued may be shorter, and does not count.
        let of_all = self.state.pacing.generations();
        let is_whole = generations == part_of_round(of_all, instances.longest_round());
        let is_second = instances.pending_second_round().is_some();
        if !is_second {
            let is_under_way = measurement.is_under_way() && !is_of_equals;
            measurement.is_compared = is_running && is_whole && is_under_way;
            if measurement.is_compared {
                measurement.executor.compare_rounds_of(generations);
            }
        }
        let side = measurement.next_side();
        match measurement.subject {
            Subject::AAndB if is_second => measurement.is_compared &= instances.next_side() == side,
            Subject::AAndB if measurement.is_compared => instances.begin_pair(side),
            Subject::AAndB => instances.begin_pair(Side::A),
            Subject::Change(_) | Subject::EqualSettings if instances.is_idle() => {
                instances.use_alternative(measurement.is_compared && side == Side::A)?;
            }
            Subject::Change(_) | Subject::EqualSettings => {}
        }
        measurement.used = usage();
        // With a change of the setting, the lattices may have to be converted first.
        let can_issue = instances.has_room();
        if !can_issue {
            self.lattices.retry_at = Some(now + RETRY_INTERVAL);
        }
        Ok(can_issue)
    }

    /// Notes that the round that was prepared is in flight.
    pub(super) fn round_issued(&mut self) {
        if let Some(measurement) = &mut self.lab.measurement {
            if measurement.is_compared {
                measurement.executor.issued();
            } else {
                measurement.interrupt();
            }
        }
    }
}
