//! Completions of submitted programs, as events.

use super::issue::{InFlight, Kind};
use super::{MAX_IN_FLIGHT, Sim};
use crate::fastest::RoundLength;
use crate::round::{Request, Round, Share};
use crate::trace::TimedRound;
use crate::{IsolatedOp, PicturePlan};
use engine::{
    Completion, EngineError, LatticeId, LatticeOp, Measure, Op, Program, Result, RunId, Slot,
    SlotsSpec, Transfer,
};
use life::Lattice;
use std::collections::VecDeque;
use std::io;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::time::{Duration, Instant};

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

// The results of a finished run: populations counted on the devices, and bits
// downloaded some rows at a time, so that the host needs no memory for a lattice.

/// Words of a slot for rows, of all instances together: enough that a copy of them takes far longer
/// than its call.
const STREAMED_WORDS: usize = 8 << 20;

/// The lattices of instances at the generation that they have reached.
pub struct Results<'a> {
    sim: &'a mut Sim,
    /// Rows of a slot.
    rows: u32,
}

impl Sim {
    /// Ends rounds and pictures, whose slots are replaced by small ones for rows.
    ///
    /// # Errors
    /// The engine is lost, or memory is lacking.
    pub fn results(&mut self) -> Result<Results<'_>> {
        let words = STREAMED_WORDS / self.instances();
        let rows = words / self.size.words_per_row();
        self.results_by(rows.clamp(1, self.size.height() as usize) as u32)
    }

    /// [`Sim::results`] with this many rows in a slot.
    pub(super) fn results_by(&mut self, rows: u32) -> Result<Results<'_>> {
        self.finish()?;
        let spec = SlotsSpec {
            pinned: 2,
            pageable: 0,
            picture_words: rows as usize * self.size.words_per_row(),
            ..self.spec
        };
        if self.spec != spec {
            self.release_graphs(|_| false);
            self.slots = self.engine.allocate_slots(spec)?;
            self.spec = spec;
        }
        let program = self.packed(0..self.instances(), false, |_, _, _| {});
        self.submit(&program, Kind::Other, 0)?;
        Ok(Results { sim: self, rows })
    }

    /// Measures the bits of every lattice, which [`Sim::results`] brings up to date, and waits.
    ///
    /// # Errors
    /// The engine is lost, or memory is lacking.
    pub fn measure_bits(&mut self) -> Result<Vec<Measure>> {
        let slot = self.spec.measure_slot(0);
        let program = self.packed(0..self.instances(), true, |program, stream, lattices| {
            program.push(stream, LatticeOp::Measure.on(lattices.clone()));
            program.push(stream, Op::download(lattices, slot, Transfer::Measure));
        });
        self.submit(&program, Kind::Other, 0)?;
        self.finish()?;
        let read = |i: usize| {
            let id = LatticeId(i as u32);
            let measure = self.read_measure(id, slot);
            measure.ok_or(EngineError::SlotBusy(id, slot))
        };
        (0..self.instances()).map(read).collect()
    }

    /// Copies every lattice to the host, once nothing runs. Rounds of the share go on afterwards.
    ///
    /// # Errors
    /// The engine is lost, or memory is lacking.
    pub fn copy(&mut self, share: &Share) -> Result<Vec<Arc<Lattice>>> {
        let copied = self.results().and_then(|mut results| results.lattices());
        self.ensure_at_rest(std::slice::from_ref(share))?;
        copied
    }
}

impl Results<'_> {
    /// Counts the live cells of every lattice, on its device if that has the memory for it.
    ///
    /// # Errors
    /// The engine is lost.
    pub fn populations(&mut self) -> Result<Vec<u64>> {
        match self.sim.measure_bits() {
            Ok(measures) => Ok(measures.iter().map(|it| it.population).collect()),
            Err(EngineError::OutOfMemory { .. } | EngineError::DriverOutOfMemory(_)) => {
                (0..self.sim.instances()).map(|i| self.count(i)).collect()
            }
            Err(error) => Err(error),
        }
    }

    /// Counts a lattice's live cells on the host.
    fn count(&mut self, instance: usize) -> Result<u64> {
        let mut population = 0;
        let counted = self.rows(instance, |words| {
            let alive = words.iter().map(|word| u64::from(word.count_ones()));
            population += alive.sum::<u64>();
            Ok(())
        })?;
        counted.expect("counting does not fail");
        Ok(population)
    }

    /// All lattices, on the host.
    fn lattices(&mut self) -> Result<Vec<Arc<Lattice>>> {
        let all = 0..self.sim.instances();
        all.map(|i| self.lattice(i).map(Arc::new)).collect()
    }

    /// A lattice, on the host.
    fn lattice(&mut self, instance: usize) -> Result<Lattice> {
        let mut lattice = Lattice::try_new(self.sim.size)?;
        let mut left = lattice.words_mut();
        let copied = self.rows(instance, |rows| {
            let (now, later) = std::mem::take(&mut left).split_at_mut(rows.len());
            now.copy_from_slice(rows);
            left = later;
            Ok(())
        })?;
        copied.expect("copying does not fail");
        Ok(lattice)
    }

    /// Passes a lattice's bits to `take`, some rows at a time from the top: while it takes them, the
    /// next ones are downloaded. The inner error is that of `take`.
    ///
    /// # Errors
    /// The engine is lost.
    pub fn rows(
        &mut self,
        instance: usize,
        mut take: impl FnMut(&[u32]) -> io::Result<()>,
    ) -> Result<io::Result<()>> {
        let (rows, sim) = (self.rows, &mut *self.sim);
        sim.finish()?;
        let (id, stream) = (LatticeId(instance as u32), sim.lattices[instance].stream);
        let (height, words_per_row) = (sim.size.height(), sim.size.words_per_row());
        let parts = height.div_ceil(rows);
        let count = |part: u32| rows.min(height - part * rows);
        let slot = |part: u32| Slot((part % 2) as u8);
        let issue = |sim: &mut Sim, part: u32| -> Result<RunId> {
            let what = Transfer::Rows {
                first: part * rows,
                count: count(part),
            };
            let download = Op::download(id.as_range(), slot(part), what);
            sim.submit(&Program::in_stream(stream, [download]), Kind::Other, 0)?;
            let issued = sim.in_flight.back();
            Ok(issued.expect("what was just submitted").run)
        };
        let mut runs = VecDeque::from([issue(sim, 0)?]);
        for part in 0..parts {
            let next = (part + 1 < parts).then_some(part + 1);
            if let Some(next) = next {
                runs.push_back(issue(sim, next)?);
            }
            // Parts of a lattice in bands may come from several devices, a later one first.
            let run = runs.pop_front();
            while sim.in_flight.iter().any(|it| Some(it.run) == run) {
                sim.engine.wait(Duration::from_millis(1));
                sim.poll(|_| {})?;
            }
            let mut taken = None;
            let words = count(part) as usize * words_per_row;
            let look = &mut |slot: &[u32]| taken = Some(take(&slot[..words]));
            sim.slots.read(id, slot(part), look);
            let taken = taken.ok_or(EngineError::SlotBusy(id, slot(part)))?;
            if taken.is_err() {
                return Ok(taken);
            }
        }
        Ok(Ok(()))
    }
}
