//! Completions of submitted programs, as events.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::issue::{InFlight, Kind};
use super::{MAX_IN_FLIGHT, Sim};
use crate::fastest::RoundLength;
use crate::round::{Request, Round, Share};
use crate::trace::TimedRound;
use crate::{IsolatedOp, PicturePlan};
use engine::{Completion, EngineError, LatticeId, Measure, Result, Slot};

/// A completion.
pub enum Event {
    /// Pictures have arrived.
    Pictures {
        /// The instances, by index.
        instances: Range<usize>,
        /// Their generation.
        generation: u64,
        /// The number of every instance's last edit.
        edits: u64,
        /// What they show.
        picture: PicturePlan,
        /// Where they are.
        slot: Slot,
    },
    /// Lattices were measured in a round.
    Measured(RoundMeasures),
    /// A round is complete.
    Round {
        /// Its spans and their ops, if it was timed.
        timed: Option<TimedRound>,
        /// The round.
        round: Arc<Round>,
        /// Time from its first call, or from the end of the round before it if that was later, to its
        /// end.
        took: Duration,
    },
    /// A calibration is complete, with the time of each op alone.
    Calibrated(Vec<IsolatedOp>),
    /// All lattices' bits are in a whole-lattice slot.
    Snapshot {
        /// The index given to [`Sim::issue_snapshot`].
        index: u8,
    },
}

/// A round's measures of consecutive instances.
#[derive(Debug)]
pub struct RoundMeasures {
    /// The first of the instances.
    pub first: usize,
    /// Their generation.
    pub generation: u64,
    /// A measure each.
    pub measures: Vec<Measure>,
}

impl Sim {
    /// Passes completed events to `tell`. Never blocks.
    ///
    /// # Errors
    /// The engine is lost; so is one that fails to poll, as nothing in flight would ever end.
    pub fn poll(&mut self, mut tell: impl FnMut(Event)) -> Result<()> {
        let mut completions = std::mem::take(&mut self.completions);
        let polled = self
            .engine
            .poll(&mut completions)
            .map_err(EngineError::into_lost);
        for completion in completions.drain(..) {
            match completion {
                Completion::Downloaded {
                    run,
                    lattices,
                    slot,
                } => {
                    let of = self.in_flight.iter().find(|one| one.run == run);
                    if let Some(event) = of.and_then(|of| self.downloaded(of, lattices, slot)) {
                        tell(event);
                    }
                }
                Completion::Finished {
                    run,
                    spans,
                    host,
                    block_timestamps,
                } => {
                    let Some(at) = self.in_flight.iter().position(|one| one.run == run) else {
                        continue;
                    };
                    let done = self.in_flight.remove(at).expect("its place was found");
                    match done.kind {
                        Kind::Round { round, replayed } if round.generations > 0 => {
                            let now = Instant::now();
                            let took = now - self.ended.unwrap_or(done.issued).max(done.issued);
                            self.ended = Some(now);
                            self.learn(&round, took);
                            let timed = (!spans.is_empty()).then(|| TimedRound {
                                steps: done.steps,
                                spans,
                                host,
                                block_timestamps,
                                replayed,
                                switches: round.setting().switches,
                            });
                            tell(Event::Round { round, timed, took });
                        }
                        Kind::Snapshot(index) => tell(Event::Snapshot { index }),
                        Kind::IsolatedStep(_) => {
                            if let Some(measured) = self.measured_alone(&spans) {
                                tell(Event::Calibrated(measured));
                            }
                        }
                        Kind::Round { .. } | Kind::Other => {}
                    }
                }
            }
        }
        self.completions = completions;
        polled.and_then(|()| self.run_next_alone())
    }

    /// The event of a download of a round.
    fn downloaded(&self, of: &InFlight, lattices: Range<u32>, slot: Slot) -> Option<Event> {
        let (round, generation) = (of.kind.round()?, of.generation);
        if round.measures != Some(slot) {
            return Some(Event::Pictures {
                instances: lattices.start as usize..lattices.end as usize,
                generation,
                edits: of.edits,
                picture: round.share.picture?,
                slot,
            });
        }
        let first = lattices.start as usize;
        let read = |lattice| self.read_measure(LatticeId(lattice), slot);
        Some(Event::Measured(RoundMeasures {
            first,
            generation,
            measures: lattices.map(read).collect::<Option<_>>()?,
        }))
    }

    /// A measure that has arrived in a slot.
    pub(super) fn read_measure(&self, lattice: LatticeId, slot: Slot) -> Option<Measure> {
        let mut measure = None;
        let mut look = |words: &[u32]| measure = Some(Measure::from_words(words));
        self.slots.read(lattice, slot, &mut look);
        measure
    }

    /// Sleeps until something may have completed, at most `timeout`.
    pub fn wait(&mut self, timeout: Duration) {
        self.engine.wait(timeout);
    }

    /// Blocks until nothing is in flight.
    pub fn finish(&mut self) -> Result<()> {
        self.finish_with(|_| {})
    }

    fn finish_with(&mut self, mut tell: impl FnMut(Event)) -> Result<()> {
        self.engine.synchronize()?;
        while !self.is_idle() {
            self.poll(&mut tell)?;
        }
        Ok(())
    }

    /// Steps a share by `generations`, `per_round` per round, and waits. Returns the wall time.
    /// With `traced`, times every round and passes it on.
    pub fn run(
        &mut self,
        share: &Share,
        generations: u64,
        per_round: u32,
        mut traced: Option<&mut dyn FnMut(TimedRound)>,
    ) -> Result<Duration> {
        let began = Instant::now();
        let timed = traced.is_some();
        let mut rounds = RoundLength::fixed(share.setting.kernel, per_round);
        let mut tell = |event: Event| {
            if let Event::Round { timed, .. } = event
                && let (Some(round), Some(traced)) = (timed, &mut traced)
            {
                traced(round);
            }
            ControlFlow::Continue(())
        };
        self.run_rounds(share, generations, &mut rounds, timed, &mut tell)?;
        Ok(began.elapsed())
    }

    /// Steps a share by `generations` in rounds of the given length, which learns how long
    /// they take, and waits. Passes events to `tell`; once that breaks, no other round is issued.
    /// With `timed`, rounds have spans. Returns the generations stepped.
    pub fn run_rounds(
        &mut self,
        share: &Share,
        generations: u64,
        rounds: &mut RoundLength,
        timed: bool,
        tell: &mut dyn FnMut(Event) -> ControlFlow<()>,
    ) -> Result<u64> {
        self.ensure_at_rest(std::slice::from_ref(share))?;
        let (mut issued, mut goes_on) = (0, true);
        let mut hear = |event: Event, rounds: &mut RoundLength| {
            if let Event::Round { round, took, .. } = &event {
                rounds.learn(round.generations, *took);
            }
            tell(event).is_continue()
        };
        while issued < generations && goes_on {
            let left = generations - issued;
            let next = u64::from(rounds.generations()).min(left);
            let request = Request {
                timed,
                ..Request::of(next as u32)
            };
            if self.issue(share, request, |_| false)? {
                issued += next;
            }
            self.poll(|event| goes_on &= hear(event, rounds))?;
            if self.depth() >= MAX_IN_FLIGHT {
                self.wait(Duration::from_millis(1));
            }
        }
        self.finish_with(|event| {
            hear(event, rounds);
        })?;
        Ok(issued)
    }
}
