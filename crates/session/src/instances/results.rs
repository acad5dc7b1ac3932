//! The results of a finished run: populations counted on the devices, and bits
//! downloaded some rows at a time, so that the host needs no memory for a lattice.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::Sim;
use super::issue::Kind;
use crate::round::Share;
use engine::{
    EngineError, LatticeId, LatticeOp, Measure, Op, Program, Result, RunId, Slot, SlotsSpec,
    Transfer,
};
use life::Lattice;

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
