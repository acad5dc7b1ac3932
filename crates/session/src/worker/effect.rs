//! The effect of a change: rounds with the setting before and after a change of a switch or of the
//! kernel, or of A and B, are interleaved while the session runs, and their times compared
//! ([`model::comparison`]).
//!
//! Every round is a round of the session: the lattices advance and are drawn. Rounds that differ from
//! the others in anything else than the setting do not count: those stepped by hand, cut short, or
//! timed by events.

use std::time::{Duration, Instant};

use super::comparison::ActiveComparison;
use super::{RETRY_INTERVAL, SessionWorker};
use crate::instances::Instances;
use crate::state::{Mode, Notice, part_of_round};
use engine::{EngineError, Kernel, Result};
use lang::Message;
use model::{Blocks, Comparison, Effect, Finding, Pace, Side, Switches};

/// How long rounds are compared, at most, unless there were too few of them for any finding.
const MAX_DURATION: Duration = Duration::from_secs(3);

/// If fewer rounds than this fit in [`MAX_DURATION`], they are compared in pairs.
const MIN_ROUNDS_FOR_QUADS: f64 = 60.0;

/// Number of cells of all lattices up to which kernels of different layouts are compared: each change
/// between them converts every lattice.
const MAX_CONVERTED_CELLS: u64 = 1 << 28;

/// What is compared.
enum Subject {
    /// All instances before and after a change.
    Change(Message),
    /// A's instances and B's.
    AAndB,
}

/// A comparison of rounds, under way or finished.
pub(super) struct Measurement {
    subject: Subject,
    comparison: Comparison,
    blocks: Blocks,
    seed: u64,
    /// Generations of the rounds that are compared.
    generations: u32,
    /// How long it has been measuring; pauses do not count.
    elapsed: Duration,
    /// When the last round that counts ended, unless another came between.
    last: Option<Instant>,
    /// Whether the round that is being issued counts, and in a comparison of A and B the pair.
    counts: bool,
    /// The side of the round in flight, if it counts.
    in_flight: Option<Side>,
    finding: Option<Finding>,
}

impl Measurement {
    fn new(subject: Subject, blocks: Blocks, seed: u64) -> Measurement {
        Measurement {
            subject,
            comparison: Comparison::new(blocks, seed),
            blocks,
            seed,
            generations: 0,
            elapsed: Duration::ZERO,
            last: None,
            counts: false,
            in_flight: None,
            finding: None,
        }
    }

    /// Whether rounds are still compared.
    pub(super) fn is_under_way(&self) -> bool {
        self.finding.is_none()
    }

    /// Whether A and B are compared, not a change.
    fn is_of_a_and_b(&self) -> bool {
        matches!(self.subject, Subject::AAndB)
    }

    /// Leaves out a round: the block that it would belong to does not count.
    pub(super) fn interrupt(&mut self) {
        self.comparison.skip_block();
        (self.in_flight, self.last, self.counts) = (None, None, false);
    }

    /// Begins anew if rounds have another number of generations now.
    fn compare_rounds_of(&mut self, generations: u32) {
        if self.generations != generations {
            self.comparison = Comparison::new(self.blocks, self.seed);
            self.generations = generations;
            self.elapsed = Duration::ZERO;
            self.interrupt();
        }
    }

    /// Whether the rounds so far only warm up.
    pub(super) fn is_warming_up(&self) -> bool {
        self.comparison.is_warming_up()
    }

    /// Counts the round in flight. Returns whether it was one with the setting before a change.
    pub(super) fn round(&mut self, took: Duration, now: Instant) -> bool {
        let Some(side) = self.in_flight.take() else {
            return false;
        };
        self.elapsed += self.last.map_or(took, |last| now - last);
        self.last = Some(now);
        if self.is_under_way() {
            self.finding = self.comparison.record(took.as_secs_f64() * 1e6);
            if self.finding.is_none() && self.elapsed >= MAX_DURATION && self.comparison.is_enough()
            {
                self.finding = Some(self.comparison.finish());
            }
        }
        side == Side::A && !self.is_of_a_and_b()
    }

    /// Median times of a round in microseconds: before and after, or A's and B's.
    pub(super) fn round_us(&self) -> [Option<f64>; 2] {
        self.comparison.medians()
    }

    /// The finding, once there is one.
    pub(super) fn finding(&self) -> Option<Finding> {
        self.finding
    }
}

impl SessionWorker {
    /// Begins to compare rounds before and after a change, which has been made. Nothing may be in
    /// flight.
    pub(super) fn measure_change(
        &mut self,
        what: Message,
        kernel: &'static Kernel,
        switches: Switches,
    ) -> Result<()> {
        let seed = self.next_seed();
        let blocks = self.suitable_blocks();
        let Some(instances) = &mut self.instances else {
            return Ok(());
        };
        let cells = self.setup.size.cells() * self.setup.instances as u64;
        if kernel.layout != self.setup.kernel.layout && cells > MAX_CONVERTED_CELLS {
            return Ok(());
        }
        if instances.needs_slots_of_its_own(kernel, switches) {
            self.snapshots
                .save_from_slots(instances, self.state.log.bytes());
        }
        let set =
            self.change_slots(|instances| instances.set_alternative(Some((kernel, switches))));
        match set {
            Ok(_) => {}
            Err(error) if error.loses_lattices() => return Err(error),
            // There is no room for both settings.
            Err(error @ (EngineError::OutOfMemory { .. } | EngineError::DriverOutOfMemory(_))) => {
                tracing::info!("the effect of the change is not measured: {error}");
                return Ok(());
            }
            Err(error) => return Err(error),
        }
        self.lab.measurement = Some(Measurement::new(Subject::Change(what), blocks, seed));
        self.publish_effect();
        Ok(())
    }

    /// Begins to compare A's and B's rounds.
    pub(super) fn measure_a_and_b(&mut self) {
        let seed = self.next_seed();
        let blocks = self.suitable_blocks();
        self.forget_effect();
        self.lab.measurement = Some(Measurement::new(Subject::AAndB, blocks, seed));
    }

    /// The seed of the next comparison's order.
    fn next_seed(&mut self) -> u64 {
        self.lab.measurements += 1;
        self.lab.measurements
    }

    /// Quads, or pairs where rounds are so few that no quads would be enough.
    fn suitable_blocks(&self) -> Blocks {
        let round = self.statistics.round_us().unwrap_or(0.0) / 1e6;
        let pause = match self.state.pace {
            Pace::PerSecond(rounds) => 1.0 / rounds,
            Pace::Unthrottled | Pace::Maximum => 0.0,
        };
        let rounds = MAX_DURATION.as_secs_f64() / round.max(pause).max(1e-6);
        if rounds < MIN_ROUNDS_FOR_QUADS {
            Blocks::Pairs
        } else {
            Blocks::Quads
        }
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
        let Some(instances) = self.instances.as_ref().filter(|it| it.has_alternative()) else {
            return Ok(());
        };
        if instances.alternative_has_slots() {
            self.snapshots
                .save_from_slots(instances, self.state.log.bytes());
        }
        self.change_slots(|instances| instances.set_alternative(None))?;
        Ok(())
    }

    /// Ends a comparison that has its finding, once nothing is in flight.
    pub(super) fn end_measurement(&mut self) -> Result<()> {
        let is_over = |it: &Measurement| !it.is_of_a_and_b() && !it.is_under_way();
        let over = self.lab.measurement.as_ref().is_some_and(is_over);
        let idle = self.instances.as_ref().is_some_and(Instances::is_idle);
        if over && idle {
            self.publish_effect();
            self.lab.measurement = None;
            self.end_alternative()?;
            self.statistics.restart();
            if let Some(effect) = &self.lab.last_effect {
                let effect = effect.clone();
                self.notify(Notice::Done(Message::new(move || effect.in_words())));
            }
        }
        Ok(())
    }

    /// Forgets the effect that is shown, and the round before the change.
    pub(super) fn forget_effect(&mut self) {
        self.lab.last_effect = None;
        let trace = self.trace.lock();
        trace
            .unwrap_or_else(|poisoned| poisoned.into_inner())
            .set_before(None);
    }

    /// Updates the effect that is shown.
    pub(super) fn publish_effect(&mut self) {
        let Some(measurement) = &self.lab.measurement else {
            return;
        };
        if let Subject::Change(what) = &measurement.subject {
            self.lab.last_effect = Some(Effect {
                what: what.clone(),
                round_us: measurement.round_us(),
                finding: measurement.finding,
            });
        }
    }

    /// Puts the setting in use that the next round has. Returns `false` if it cannot be issued yet.
    pub(super) fn prepare_round(&mut self, generations: u32) -> Result<bool> {
        let now = self.now();
        let is_running = matches!(self.state.mode, Mode::Running | Mode::RunningTo(_));
        // Between equal settings there is only noise.
        let of_equals = |it: &ActiveComparison| it.b_switches == self.setup.switches;
        let is_of_equals = self.comparison.as_ref().is_some_and(of_equals);
        let (Some(instances), Some(measurement)) = (&mut self.instances, &mut self.lab.measurement)
        else {
            return Ok(true);
        };
        // The last one of those as which a long round is issued may be shorter, and does not count.
        let of_all = self.setup.generations_per_round;
        let is_whole = generations == part_of_round(of_all, instances.longest_round());
        let is_second = instances.pending_second_round().is_some();
        if !is_second {
            let is_under_way = measurement.is_under_way() && !is_of_equals;
            measurement.counts = is_running && is_whole && is_under_way;
            if measurement.counts {
                measurement.compare_rounds_of(generations);
            }
        }
        let side = measurement.comparison.next_side();
        match measurement.subject {
            Subject::AAndB if is_second => measurement.counts &= instances.next_side() == side,
            Subject::AAndB if measurement.counts => instances.begin_pair(side),
            Subject::AAndB => instances.begin_pair(Side::A),
            Subject::Change(_) if instances.is_idle() => {
                instances.use_alternative(measurement.counts && side == Side::A)?;
            }
            Subject::Change(_) => {}
        }
        // With a change of the setting, the lattices may have to be converted first.
        let can_issue = instances.has_room();
        if !can_issue {
            self.retry_at = Some(now + RETRY_INTERVAL);
        }
        Ok(can_issue)
    }

    /// Notes that the round that was prepared is in flight.
    pub(super) fn round_issued(&mut self) {
        if let Some(measurement) = &mut self.lab.measurement {
            if measurement.counts {
                measurement.in_flight = Some(measurement.comparison.next_side());
            } else {
                measurement.interrupt();
            }
        }
    }
}
