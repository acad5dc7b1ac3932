//! Holds engines and kernels against the reference, bit by bit: the cases that `lifestreams verify`
//! runs on a device, and the tests on the CPU engine and on the CUDA engine over a driver of their own.

mod cases;
mod checks;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::kernels::{KERNELS, Kernel, Layout};
use crate::{
    Completion, Cut, DeviceId, Engine, EngineError, LatticeId, LatticeOp, Op, Program,
    ReduceRegion, Result, Slot, Slots, SlotsSpec, SplitEngine, StreamId, StreamSpec, Transfer,
    WordEdit,
};
use cases::{BATCH, batch_sizes};
use life::{Lattice, Rule, Size, soup};

pub use cases::{Cases, Outcome, rules};
pub use checks::{counted, reduced};

/// A check that has ended.
#[derive(Debug)]
pub struct Report {
    /// The kernel's name, or what else was checked.
    pub name: &'static str,
    /// Whether each lattice was in bands on several devices, where the name does not say it.
    pub is_split: bool,
    /// What it found; an error for a kernel that the devices cannot run.
    pub outcome: Result<Outcome>,
    /// How long it took.
    pub took: Duration,
}

/// Two bands on each device, whose halos have few rows, so that they are copied often.
const TWO_BANDS: Cut = Cut {
    per_device: 2,
    halo: 5,
};

/// A band on each device.
const ONE_BAND: Cut = Cut {
    per_device: 1,
    ..TWO_BANDS
};

/// Checks every kernel on an engine and everything else that it does; each check is reported once it
/// has ended.
///
/// # Errors
/// A device fails, or `report` does.
pub fn verify<E: From<EngineError>>(
    engine: Box<dyn Engine>,
    cases: Cases,
    report: &mut dyn FnMut(Report) -> Result<(), E>,
) -> Result<(), E> {
    let mut fixture = Fixture::new(engine, cases)?;
    verify_ops(&mut fixture, report)?;
    let mut report_split = |it| {
        report(Report {
            is_split: true,
            ..it
        })
    };
    let mut fixture = fixture.split(TWO_BANDS)?;
    verify_ops(&mut fixture, &mut report_split)?;
    let mut fixture = fixture.split(ONE_BAND)?;
    timed("seams, one band a device", report, || {
        Ok(Ok(fixture.check(Fixture::check_seams)?))
    })
}

/// Checks every kernel and every op on the lattices of a fixture.
fn verify_ops<E: From<EngineError>>(
    fixture: &mut Fixture,
    report: &mut dyn FnMut(Report) -> Result<(), E>,
) -> Result<(), E> {
    for kernel in &KERNELS {
        timed(kernel.name, report, || {
            match fixture.validate_device(kernel) {
                Ok(()) => Ok(Ok(fixture.check_kernel(kernel)?)),
                Err(why) => Ok(Err(why)),
            }
        })?;
    }
    type Check = fn(&mut Fixture) -> Result<()>;
    let checks: [(&'static str, Check); 14] = [
        ("batches", Fixture::check_batches),
        ("shapes of blocks", Fixture::check_blocks),
        ("rules at random", Fixture::check_rules),
        ("soups", Fixture::check_soups),
        ("rows", Fixture::check_rows),
        ("edits", Fixture::check_edits),
        ("seams", Fixture::check_seams),
        ("measures", Fixture::check_measures),
        ("kernel switches", Fixture::check_switches),
        ("graphs", Fixture::check_graphs),
        ("reduced views", Fixture::check_views),
        ("events across streams", Fixture::check_events),
        ("spans", Fixture::check_spans),
        ("block timestamps", Fixture::check_block_timestamps),
    ];
    for (name, check) in checks {
        let is_split = fixture.engine.is_split();
        let applies = match name {
            // A graph runs on one device, and a band is launched as a lattice of its size is.
            "graphs" | "shapes of blocks" => !is_split,
            // Only bands have seams.
            "seams" => is_split,
            _ => true,
        };
        if applies {
            timed(name, report, || Ok(Ok(fixture.check(check)?)))?;
        }
    }
    Ok(())
}

/// Reports what a check found, and how long it took.
///
/// # Errors
/// The check cannot be made, or `report` fails.
pub fn timed<E>(
    name: &'static str,
    report: &mut dyn FnMut(Report) -> Result<(), E>,
    check: impl FnOnce() -> Result<Result<Outcome>, E>,
) -> Result<(), E> {
    let began = Instant::now();
    let outcome = check()?;
    report(Report {
        name,
        is_split: false,
        outcome,
        took: began.elapsed(),
    })
}

/// An engine with a lattice of each size, every one in its own stream, and some that lie one
/// behind the other.
pub struct Fixture {
    engine: Box<dyn Engine>,
    plan: Cases,
    cases: Vec<Case>,
    slots: Arc<dyn Slots>,
    /// Results of the reference by case, seed, rule and generations, since every kernel needs them.
    references: HashMap<(LatticeId, u64, u32, u32), Lattice>,
    /// The lattice that was measured last, by case.
    measured: HashMap<LatticeId, Lattice>,
    /// What the check that is being made has found.
    outcome: Outcome,
}

/// A lattice and the stream in which all is done with it.
#[derive(Clone, Copy)]
struct Case {
    size: Size,
    id: LatticeId,
    stream: StreamId,
}

impl Case {
    fn soup(self, density: f64, seed: u64) -> Lattice {
        soup(self.size, density, seed, self.id.0.into())
    }

    /// An op on the lattice.
    fn op(self, op: LatticeOp) -> Op {
        op.on(self.id.as_range())
    }

    fn upload(self, cells: &Lattice) -> Op {
        Op::upload(self.id, cells.words())
    }

    /// An edit that turns one lattice into another.
    fn edit(self, from: &Lattice, to: &Lattice) -> Op {
        self.op(LatticeOp::Edit(WordEdit::between(from, to).into()))
    }

    fn download(self, slot: Slot, what: Transfer) -> Op {
        Op::download(self.id.as_range(), slot, what)
    }

    /// Generations of a lattice that is in this layout, and then its bits.
    fn advance(self, mut layout: Layout, advances: &[Advance]) -> Vec<Op> {
        let lattice = || self.id.as_range();
        let mut ops = Vec::new();
        for &(kernel, rule, generations) in advances {
            if layout != kernel.layout {
                ops.push(self.op(LatticeOp::Pack));
                ops.push(Op::unpack(lattice(), kernel.layout));
                layout = kernel.layout;
            }
            ops.push(Op::advance(kernel, lattice(), rule, generations));
        }
        ops.push(self.op(LatticeOp::Pack));
        ops
    }

    /// An op, generations of a lattice that is then in this layout, and a download.
    fn round(self, first: Op, layout: Layout, advances: &[Advance]) -> Vec<Op> {
        let mut ops = vec![first];
        ops.extend(self.advance(layout, advances));
        ops.push(self.download(SLOT, Transfer::Bits));
        ops
    }

    /// Upload, advance, download.
    fn run(self, start: &Lattice, advance: Advance) -> Vec<Op> {
        self.round(self.upload(start), Layout::Bits, &[advance])
    }

    fn push(self, program: &mut Program, ops: Vec<Op>) {
        ops.into_iter().for_each(|op| program.push(self.stream, op));
    }
}

const SLOT: Slot = Slot(1);
const VIEW_SLOT: Slot = Slot(0);
const MEASURE_SLOT: Slot = Slot(2);
const VIEW_PIXELS: (u32, u32) = (64, 48);

impl Fixture {
    /// The lattices of some cases on an engine that has none.
    ///
    /// # Errors
    /// Memory is lacking, or the engine fails.
    pub fn new(mut engine: Box<dyn Engine>, plan: Cases) -> Result<Fixture> {
        let devices = engine.places();
        let mut cases = Vec::new();
        for (i, &size) in (0..).zip(&plan.sizes) {
            // Ids follow one another whatever the device, so devices take turns.
            let device = DeviceId((i % devices as u32) as u16);
            engine.create_lattices(device, 1, size)?;
            let stream = engine.create_stream(device, StreamSpec::PLAIN)?;
            let id = LatticeId(i);
            cases.push(Case { size, id, stream });
        }
        for size in batch_sizes() {
            engine.create_lattices(DeviceId(0), BATCH, size)?;
        }
        // In bands, a view has a word for each pixel.
        let picture_words = (VIEW_PIXELS.0 * VIEW_PIXELS.1) as usize;
        let spec = SlotsSpec {
            pinned: 1,
            pageable: 0,
            picture_words,
            snapshots: 1,
            measures: 1,
        };
        let slots = engine.allocate_slots(spec)?;
        Ok(Fixture {
            engine,
            plan,
            cases,
            slots,
            references: HashMap::new(),
            measured: HashMap::new(),
            outcome: Outcome::default(),
        })
    }

    /// The same lattices, each in bands on all devices; on two contexts if there is one device. From
    /// one soup each, and after fewer numbers of generations: what is new is where bands meet.
    ///
    /// # Errors
    /// As for [`Fixture::new`].
    pub fn split(self, cut: Cut) -> Result<Fixture> {
        let mut engine = self.engine.unsplit();
        engine.clear()?;
        if engine.devices().len() == 1 {
            engine.create_context(DeviceId(0))?;
        }
        let split = SplitEngine::new(engine, cut).map_err(|(_, error)| error)?;
        let mut plan = self.plan;
        plan.seeds = 1;
        plan.generations.retain(|it| *it < 8 || it % 8 == 1);
        Fixture::new(Box::new(split), plan)
    }

    /// What a check finds.
    ///
    /// # Errors
    /// The check cannot be made.
    pub fn check(&mut self, check: impl FnOnce(&mut Fixture) -> Result<()>) -> Result<Outcome> {
        check(self)?;
        Ok(std::mem::take(&mut self.outcome))
    }

    /// Errors for a kernel that a device cannot run with any of the sizes.
    pub fn validate_device(&self, kernel: &Kernel) -> Result<()> {
        let taken = |size: &Size| kernel.supports(*size);
        let sizes = self.plan.sizes.iter().copied().filter(taken);
        let answers = sizes.map(|size| self.validate(kernel, size));
        answers.reduce(Result::or).unwrap_or(Ok(()))
    }

    /// The kernels that a device can run.
    fn kernels(&self) -> Vec<&'static Kernel> {
        let can = |kernel: &&Kernel| self.validate_device(kernel).is_ok();
        KERNELS.iter().filter(can).collect()
    }

    /// The first of them of each layout.
    fn kernel_of_each_layout(&self) -> Vec<&'static Kernel> {
        let mut kernels = self.kernels();
        let mut layouts = HashSet::new();
        kernels.retain(|kernel| layouts.insert(kernel.layout));
        kernels
    }

    /// Errors for a kernel that does not take this size, or not on a device.
    fn validate(&self, kernel: &Kernel, size: Size) -> Result<()> {
        kernel.validate_size(size)?;
        let mut sizes = self.engine.stepped_sizes(size).into_iter();
        sizes.try_for_each(|size| {
            kernel.validate_size(size)?;
            let mut devices = self.engine.devices().iter();
            devices.try_for_each(|device| kernel.validate_device(device, size))
        })
    }

    /// The kernels that all devices can run, and that take such a lattice.
    fn kernels_for(&self, size: Size) -> Vec<&'static Kernel> {
        let can = |kernel: &&Kernel| self.validate(kernel, size).is_ok();
        KERNELS.iter().filter(can).collect()
    }

    /// The cases that a kernel takes, of at most this many cells; if there is none, the smallest
    /// that it takes.
    fn cases_for(&self, kernel: &Kernel, max_cells: u64) -> Vec<Case> {
        let takes = |case: &Case| self.validate(kernel, case.size).is_ok();
        let taken = self.cases.iter().copied().filter(takes);
        let is_within = |case: &Case| case.size.cells() <= max_cells;
        let mut within: Vec<Case> = taken.clone().filter(is_within).collect();
        if within.is_empty() {
            within.extend(taken.min_by_key(|case| case.size.cells()));
        }
        within
    }

    fn finish(&mut self) -> Result<Vec<Completion>> {
        self.engine.synchronize()?;
        let mut completions = Vec::new();
        self.engine.poll(&mut completions)?;
        Ok(completions)
    }

    /// Runs a program to its end.
    fn run(&mut self, program: &Program) -> Result<Vec<Completion>> {
        self.engine.submit(program)?;
        self.finish()
    }

    /// Runs ops with a lattice.
    fn run_in(&mut self, case: Case, ops: Vec<Op>) -> Result<Vec<Completion>> {
        self.run(&Program::in_stream(case.stream, ops))
    }

    /// What was downloaded of a lattice; nothing where nothing has landed.
    fn read(&self, case: Case, slot: Slot) -> Vec<u32> {
        let mut words = Vec::new();
        let mut look = |of: &[u32]| words = of.to_vec();
        self.slots.read(case.id, slot, &mut look);
        words
    }

    /// Notes what is wrong unless these cells were downloaded.
    fn expect(&mut self, case: Case, want: &Lattice, what: impl FnOnce() -> String) {
        let same = self.read(case, SLOT).starts_with(want.words());
        self.outcome.expect(same, what);
    }

    /// Notes what is wrong unless a view that was downloaded shows what its definition has of a lattice.
    fn expect_view(
        &mut self,
        case: Case,
        region: ReduceRegion,
        lattice: &Lattice,
        what: impl FnOnce() -> String,
    ) {
        let words = self.read(case, VIEW_SLOT);
        let bytes = bytemuck::cast_slice::<u32, u8>(&words);
        let same = bytes.starts_with(&reduced(region, lattice));
        self.outcome.expect(same, what);
    }
}

type Advance = (&'static Kernel, Rule, u32);
