//! Holds engines and kernels against the reference, bit by bit: the cases that `lifestreams verify`
//! runs on a device, and the tests on the CPU engine and on the CUDA engine over a driver of their own.

mod cases;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::kernels::{self, KERNELS, Kernel, Layout};
use crate::{
    Completion, Cut, DeviceId, Engine, EngineError, LatticeId, LatticeOp, Measure, Op, OrderOp,
    Program, ReduceRegion, Result, Slot, Slots, SlotsSpec, SplitEngine, StreamId, StreamSpec,
    Transfer, WordEdit,
};
use cases::{BATCH, batch_sizes};
use life::{Lattice, Rule, Size, Soup, reference, soup};

pub use cases::{Cases, Outcome, rules};

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

// What is compared: generations, by every kernel, from kernel to kernel, replayed, across streams, timed and
// stamped; then each other kind of op, alone and with others.

impl Fixture {
    /// Every size × rule × seed × number of generations; all sizes at once, each in its stream.
    ///
    /// # Errors
    /// The engine fails.
    pub fn check_kernel(&mut self, kernel: &'static Kernel) -> Result<Outcome> {
        self.check(|it| it.check_steps(kernel))
    }

    fn check_steps(&mut self, kernel: &'static Kernel) -> Result<()> {
        self.engine.reserve(kernel.layout)?;
        for seed in 1..=self.plan.seeds {
            for rule in self.plan.rules.clone() {
                for generations in self.plan.generations.clone() {
                    let cases = self.cases_for(kernel, self.plan.max_cells_after(generations));
                    let mut program = Program::default();
                    for case in &cases {
                        let start = case.soup(0.4, seed);
                        case.push(&mut program, case.run(&start, (kernel, rule, generations)));
                    }
                    self.engine.submit(&program)?;
                    let wanted: Vec<Lattice> = (cases.iter())
                        .map(|case| self.reference(*case, seed, rule, generations))
                        .collect();
                    self.finish()?;
                    for (case, want) in cases.into_iter().zip(wanted) {
                        self.expect(case, &want, || {
                            let size = case.size;
                            format!("{size}, {rule}, seed {seed}, {generations} generations")
                        });
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the result of the reference, which continues from the latest known generation.
    fn reference(&mut self, case: Case, seed: u64, rule: Rule, generations: u32) -> Lattice {
        let key = |generations| (case.id, seed, rule.table(), generations);
        let known = (1..=generations).rev().find_map(|at| {
            let lattice = self.references.get(&key(at))?;
            Some((at, lattice.clone()))
        });
        let (at, lattice) = known.unwrap_or_else(|| (0, case.soup(0.4, seed)));
        let lattice = reference::run(&lattice, rule, (generations - at).into());
        self.references.insert(key(generations), lattice.clone());
        lattice
    }

    /// One lattice through all kernels in turn, some generations each: no cell is lost.
    fn check_switches(&mut self) -> Result<()> {
        let rule = Rule::LIFE;
        // What a size is to a kernel, `check_steps` sees.
        for case in self.cases.clone().into_iter().step_by(3) {
            if case.size.cells() > self.plan.max_cells.min(300_000) {
                continue;
            }
            let supported = self.kernels_for(case.size);
            let advances: Vec<_> = supported
                .iter()
                .chain(supported.iter().rev())
                .zip([3, 2, 5, 4, 1].into_iter().cycle())
                .map(|(&kernel, generations)| (kernel, rule, generations))
                .collect();
            let total: u32 = advances.iter().map(|(.., generations)| generations).sum();
            let start = case.soup(0.5, 9);
            self.run_in(case, vec![case.upload(&start)])?;
            let mut layout = Layout::Bits;
            for advance in advances {
                // As a session does: the bits are complete before memory is given back.
                let wanted = advance.0.layout;
                self.engine.reserve(wanted)?;
                let left = if layout == wanted {
                    layout
                } else {
                    Layout::Bits
                };
                self.run_in(case, case.advance(left, &[advance]))?;
                layout = wanted;
            }
            self.run_in(case, vec![case.download(SLOT, Transfer::Bits)])?;
            let want = reference::run(&start, rule, total.into());
            self.expect(case, &want, || {
                format!("{} after {total} generations", case.size)
            });
        }
        Ok(())
    }

    /// Rounds of all lattices prepared once and replayed, between eager ones.
    fn check_graphs(&mut self) -> Result<()> {
        for kernel in &KERNELS {
            let cases = self.cases_for(kernel, 70_000);
            let rule: Rule = "B36/S23".parse().expect("a rule");
            // So many that the graph fits the buffers it leaves.
            let fits = |generations: &u32| !kernel.swaps_buffers(*generations);
            let again = (2..).find(fits).expect("two launches change back");
            let mut eager = Program::default();
            let mut round = Program::default();
            for case in &cases {
                let start = case.upload(&case.soup(0.35, 5));
                let first = case.round(start, Layout::Bits, &[(kernel, rule, 1)]);
                case.push(&mut eager, first);
                case.push(
                    &mut round,
                    case.advance(kernel.layout, &[(kernel, rule, again)]),
                );
                case.push(&mut round, vec![case.download(SLOT, Transfer::Bits)]);
            }
            self.engine.reserve(kernel.layout)?;
            self.run(&eager)?;
            let prepared = self.engine.prepare(&round)?;
            for _ in 0..3 {
                self.engine.replay(prepared)?;
                self.finish()?;
            }
            self.engine.release(prepared);
            for case in cases {
                let start = case.soup(0.35, 5);
                let want = reference::run(&start, rule, (1 + 3 * again).into());
                self.expect(case, &want, || format!("{} on {}", kernel.name, case.size));
            }
        }
        Ok(())
    }

    /// A lattice stepped by turns in two streams that hand it over by events.
    fn check_events(&mut self) -> Result<()> {
        let device = DeviceId(0);
        let [one, two] = [(); 2].map(|()| self.engine.create_stream(device, StreamSpec::PLAIN));
        let [there, back] = [(); 2].map(|()| self.engine.create_event(device));
        let (one, two, there, back) = (one?, two?, there?, back?);
        for kernel in &KERNELS {
            // Cases take turns on the devices; the first one is on device 0.
            let on_first = self.cases.iter().step_by(self.engine.places());
            let on_first = on_first.filter(|case| {
                case.size.cells() <= 20_000 && self.kernels_for(case.size).contains(&kernel)
            });
            let Some(&case) = on_first.max_by_key(|case| case.size.cells()) else {
                continue; // one that takes large lattices alone, or that the device cannot run
            };
            let start = case.soup(0.4, 8);
            self.engine.reserve(kernel.layout)?;
            let mut program = Program::default();
            program.push(one, case.upload(&start));
            if kernel.layout != Layout::Bits {
                program.push(one, case.op(LatticeOp::Unpack(kernel.layout)));
            }
            for _ in 0..10 {
                for (mine, theirs, event) in [(one, two, there), (two, one, back)] {
                    let advance = Op::advance(kernel, case.id.as_range(), Rule::LIFE, 1);
                    program.push(mine, advance);
                    program.push(mine, OrderOp::Record(event));
                    program.push(theirs, OrderOp::Wait(event));
                }
            }
            program.push(one, case.op(LatticeOp::Pack));
            program.push(one, case.download(SLOT, Transfer::Bits));
            self.run(&program)?;
            let want = reference::run(&start, Rule::LIFE, 20);
            self.expect(case, &want, || format!("{} on {}", kernel.name, case.size));
        }
        Ok(())
    }

    /// Spans of one stream follow one another and are as many as the steps.
    fn check_spans(&mut self) -> Result<()> {
        let mut program = Program::default().with_spans();
        let kernel = kernels::find("bits").expect("it takes any size");
        for case in &self.cases {
            let ops = case.run(&case.soup(0.4, 2), (kernel, Rule::LIFE, 3));
            case.push(&mut program, ops);
        }
        let run = self.engine.submit(&program)?;
        let issued = self.engine.issued_steps(run).map(<[_]>::to_vec);
        // Of lattices in bands, those of all devices.
        let streams: Vec<StreamId> = match &issued {
            Some(issued) => issued.iter().map(|issued| issued.step.stream).collect(),
            None => self.cases.iter().map(|case| case.stream).collect(),
        };
        let steps = issued.map_or(program.steps.len(), |issued| issued.len());
        for completion in self.finish()? {
            let Completion::Finished { spans, .. } = completion else {
                continue;
            };
            self.outcome.expect(spans.len() == steps, || {
                format!("{} spans of {steps}", spans.len())
            });
            for &stream in &streams {
                let of: Vec<_> = spans.iter().filter(|span| span.stream == stream).collect();
                self.outcome
                    .expect(of.iter().all(|span| span.start <= span.end), || {
                        format!("{stream:?} has a span that ends before it starts")
                    });
                self.outcome.expect(
                    of.windows(2).all(|pair| pair[0].end <= pair[1].start),
                    || format!("{stream:?} has spans that overlap"),
                );
            }
        }
        Ok(())
    }

    /// Every kernel steps the same cells with block timestamps in its code, and no block ends before it
    /// begins.
    fn check_block_timestamps(&mut self) -> Result<()> {
        const GENERATIONS: u32 = 13;
        for kernel in self.kernels() {
            if !kernel.block_timestamps {
                continue;
            }
            self.engine.reserve(kernel.layout)?;
            let mut cases = self.cases_for(kernel, 20_000);
            cases.truncate(12); // few kinds of width and height matter here
            for case in cases {
                let start = case.soup(0.4, 3);
                let ops = case.run(&start, (kernel, Rule::LIFE, GENERATIONS));
                let mut program = Program::in_stream(case.stream, ops).with_spans();
                program.block_timestamps = true;
                let mut blocks = Vec::new();
                for completion in self.run(&program)? {
                    if let Completion::Finished {
                        block_timestamps, ..
                    } = completion
                    {
                        blocks.extend(block_timestamps);
                    }
                }
                let all_end = blocks.iter().all(|block| block.start <= block.end);
                let want = reference::run(&start, Rule::LIFE, GENERATIONS.into());
                let size = case.size;
                self.expect(case, &want, || format!("{}: cells of {size}", kernel.name));
                self.outcome.expect(all_end && !blocks.is_empty(), || {
                    format!("{}: {size}, {} blocks", kernel.name, blocks.len())
                });
            }
        }
        Ok(())
    }
}

// Every shape of block that a kernel has, beside its default.

/// The most cells of a lattice that is stepped with every shape.
const MAX_CELLS_IN_BLOCKS: u64 = 8_500;

const GENERATIONS_IN_BLOCKS: u32 = 3;

impl Fixture {
    /// Every kernel with each of its shapes.
    fn check_blocks(&mut self) -> Result<()> {
        for kernel in self.kernels() {
            for &shape in &kernel.blocks[1..] {
                self.check_block(kernel, shape)?;
            }
        }
        Ok(())
    }

    /// Three generations of a kernel with a shape, over all sizes that are small.
    ///
    /// # Errors
    /// The engine fails.
    pub fn check_block(&mut self, kernel: &'static Kernel, shape: (u32, u32)) -> Result<()> {
        let rule: Rule = "B36/S23".parse().expect("a rule");
        self.engine.reserve(kernel.layout)?;
        let cases = self.cases_for(kernel, MAX_CELLS_IN_BLOCKS);
        let mut program = Program::default();
        for case in &cases {
            let ops = case.run(&case.soup(0.4, 4), (kernel, rule, GENERATIONS_IN_BLOCKS));
            case.push(&mut program, ops);
        }
        for step in &mut program.steps {
            if let Op::Lattices(_, LatticeOp::Advance { block, .. }) = &mut step.op {
                *block = shape;
            }
        }
        self.run(&program)?;
        for case in cases {
            let want = reference::run(&case.soup(0.4, 4), rule, GENERATIONS_IN_BLOCKS.into());
            self.expect(case, &want, || {
                format!("{}, {shape:?} on {}", kernel.name, case.size)
            });
        }
        Ok(())
    }
}

// Several lattices in one op, which some kernels step in one launch.

impl Fixture {
    /// Adjacent lattices, all in one op; then one of them alone, so that not all are in the same of
    /// the two buffers, if there are two.
    fn check_batches(&mut self) -> Result<()> {
        let stream = self.cases[0].stream; // of device 0
        let rule: Rule = "B36/S23".parse().expect("a rule");
        let (width, height) = VIEW_PIXELS;
        let region = ReduceRegion {
            x0: -70_000,
            y0: 5,
            step: 100_000,
            width,
            height,
        };
        let mut done: Vec<&Kernel> = Vec::new();
        for (at, size) in batch_sizes().into_iter().enumerate() {
            let first = (self.cases.len() + at * BATCH) as u32;
            let (lattices, one) = (first..first + BATCH as u32, first + 1);
            let case = |i| Case {
                size,
                id: LatticeId(i),
                stream,
            };
            let wanted = |case: Case| {
                let generations = if case.id.0 == one { 9 } else { 6 };
                (case, reference::run(&case.soup(0.4, 6), rule, generations))
            };
            let cases = lattices.clone().map(case);
            let wanted: Vec<(Case, Lattice)> = cases.clone().map(wanted).collect();
            for kernel in self.kernels_for(size) {
                if done.contains(&kernel) {
                    continue;
                }
                done.push(kernel);
                self.engine.reserve(kernel.layout)?;
                let uploads = cases.clone().map(|case| case.upload(&case.soup(0.4, 6)));
                let mut program = Program::in_stream(stream, uploads);
                program.push(stream, Op::unpack(lattices.clone(), kernel.layout));
                for lattices in [lattices.clone(), one..one + 1, lattices.clone()] {
                    program.push(stream, Op::advance(kernel, lattices, rule, 3));
                }
                program.push(stream, LatticeOp::Pack.on(lattices.clone()));
                let reduce = LatticeOp::Reduce(region).on(lattices.clone());
                program.push(stream, reduce);
                for (slot, what) in [(SLOT, Transfer::Bits), (VIEW_SLOT, Transfer::View)] {
                    program.push(stream, Op::download(lattices.clone(), slot, what));
                }
                self.run(&program)?;
                for (case, want) in &wanted {
                    let (i, name) = (case.id.0, kernel.name);
                    self.expect(*case, want, || format!("{name}: lattice {i}"));
                    let what = || format!("{name}: the view of lattice {i}");
                    self.expect_view(*case, region, want, what);
                }
            }
        }
        Ok(())
    }
}

// Rules at random: kernels that are compiled for one rule step it as the reference does.

/// Cells of a lattice at most; a kernel that takes none so small steps its smallest.
const MAX_CELLS_OF_RULES: u64 = 20_000;

const GENERATIONS_OF_RULES: u32 = 6;

/// One rule in this many is compiled in the background, as when a session's rule changes; the engine
/// may have the driver do that in another way. It has no divisor in common with the number of
/// kernels, so every kernel gets some of these rules.
const LINKED: usize = 7;

impl Fixture {
    /// This many rules, each by one kernel; the kernels in turn, and each kernel's sizes in turn.
    fn check_rules(&mut self) -> Result<()> {
        let mut kernels = self.kernels();
        kernels.retain(|kernel| kernel.by_network);
        for nth in 0..self.plan.random_rules {
            // The upper bits of such multiples are spread evenly over all rules.
            let bits = (nth as u32 + 1).wrapping_mul(0x9e37_79b9) >> 14;
            let rule = Rule::from_masks((bits & 0x1ff) as u16, (bits >> 9) as u16);
            let kernel = kernels[nth % kernels.len()];
            let cases = self.cases_for(kernel, MAX_CELLS_OF_RULES);
            let case = cases[nth / kernels.len() % cases.len()];
            let start = case.soup(0.4, nth as u64);
            self.engine.reserve(kernel.layout)?;
            let ops = case.run(&start, (kernel, rule, GENERATIONS_OF_RULES));
            let program = Program::in_stream(case.stream, ops);
            if nth.is_multiple_of(LINKED) {
                self.engine.compile_in_background(&program)?;
                self.engine.load(&program)?;
            }
            self.run(&program)?;
            let want = reference::run(&start, rule, GENERATIONS_OF_RULES.into());
            self.expect(case, &want, || {
                format!("{rule} by {} on {}", kernel.name, case.size)
            });
        }
        Ok(())
    }
}

// Cells set between two launches, in every kernel's layout.

/// The most cells of a lattice that is edited; some sizes beyond have more words than travel at
/// once.
const MAX_EDITED_CELLS: u64 = 1 << 19;

impl Fixture {
    /// Edits a few cells, then many, each after some generations of the kernel.
    fn check_edits(&mut self) -> Result<()> {
        let rule = Rule::LIFE;
        let kernels = if self.engine.is_split() {
            self.kernel_of_each_layout() // of every kernel at the seams
        } else {
            self.kernels()
        };
        for kernel in kernels {
            self.engine.reserve(kernel.layout)?;
            let mut program = Program::default();
            let mut wanted = Vec::new();
            for case in self.cases_for(kernel, MAX_EDITED_CELLS.min(self.plan.max_cells)) {
                let mut want = case.soup(0.4, 7);
                let mut ops = vec![case.upload(&want)];
                ops.extend(case.advance(Layout::Bits, &[(kernel, rule, 3)]));
                want = reference::run(&want, rule, 3);
                for (sparse, generations) in [(true, 1), (false, 2)] {
                    let edited = edited(case, &want, sparse);
                    ops.push(case.edit(&want, &edited));
                    ops.extend(case.advance(kernel.layout, &[(kernel, rule, generations)]));
                    want = reference::run(&edited, rule, generations.into());
                }
                ops.push(case.download(SLOT, Transfer::Bits));
                case.push(&mut program, ops);
                wanted.push((case, want));
            }
            self.run(&program)?;
            for (case, want) in wanted {
                self.expect(case, &want, || format!("{}: {}", kernel.name, case.size));
            }
        }
        Ok(())
    }
}

/// Another lattice: some cells changed here and there, or all as another soup has them.
fn edited(case: Case, lattice: &Lattice, sparse: bool) -> Lattice {
    let other = case.soup(0.5, 8);
    if !sparse {
        return other;
    }
    let mut edited = lattice.clone();
    let (width, height) = (case.size.width, case.size.height);
    for i in 0..9 {
        let (x, y) = (i * 37 % width, i * 11 % height);
        edited.set(x, y, other.get(x, y));
    }
    edited.set(width - 1, height - 1, !lattice.get(width - 1, height - 1));
    edited
}

// Generations with edits in between, at the rows where lattices in bands are cut.

/// The most cells of a lattice that is stepped so far.
const MAX_CELLS_AT_SEAMS: u64 = 20_000;

impl Fixture {
    /// Three times 33 generations of a rule that gives birth out of nothing, each but the first after
    /// edits in every row where two to eight bands of equal height meet.
    fn check_seams(&mut self) -> Result<()> {
        let rule: Rule = "B0123478/S01234678".parse().expect("a rule");
        for kernel in self.kernels() {
            self.engine.reserve(kernel.layout)?;
            let mut cases = self.cases_for(kernel, MAX_CELLS_AT_SEAMS);
            cases.sort_by_key(|case| std::cmp::Reverse(case.size.height));
            cases.truncate(2);
            for case in cases {
                let mut want = case.soup(0.4, 9);
                let (mut set, mut layout) = (case.upload(&want), Layout::Bits);
                for part in 0..3 {
                    if part > 0 {
                        let edited = edited_at_seams(&want);
                        (set, layout) = (case.edit(&want, &edited), kernel.layout);
                        want = edited;
                    }
                    let advances = [(kernel, rule, 13), (kernel, rule, 20)];
                    self.run_in(case, case.round(set.clone(), layout, &advances))?;
                    want = reference::run(&want, rule, 33);
                    self.expect(case, &want, || {
                        format!("{}: {}, part {part}", kernel.name, case.size)
                    });
                }
            }
        }
        Ok(())
    }
}

/// Some cells changed in the rows on both sides of every cut.
fn edited_at_seams(lattice: &Lattice) -> Lattice {
    let size = lattice.size();
    let mut edited = lattice.clone();
    for bands in 2..=8 {
        for band in 0..bands {
            let first = band * size.height / bands;
            for row in [first, (first + size.height - 1) % size.height] {
                let column = (bands * 13 + row) % size.width;
                edited.set(column, row, !lattice.get(column, row));
            }
        }
    }
    edited
}

// Compares soups made on the device with the same soups made on the host.

/// Densities with one binary digit to sixteen of them, and the extremes.
const DENSITIES: [f64; 7] = [0.5, 0.3, 0.25, 0.9, 1.0 / 65536.0, 0.0, 1.0];

impl Fixture {
    /// Soups of every size, over what a kernel of each layout left; and a generation of each.
    fn check_soups(&mut self) -> Result<()> {
        for kernel in self.kernel_of_each_layout() {
            self.engine.reserve(kernel.layout)?;
            for case in self.cases_for(kernel, self.plan.max_cells) {
                let i = case.id.index();
                let soup = Soup {
                    density: DENSITIES[i % DENSITIES.len()],
                    seed: (u64::MAX / 7).wrapping_mul(i as u64),
                    instance: i as u64,
                };
                for generations in [0, 1] {
                    let advances = &[(kernel, Rule::LIFE, generations)][..generations as usize];
                    let first = case.op(LatticeOp::Soup(soup));
                    self.run_in(case, case.round(first, Layout::Bits, advances))?;
                    let start = soup.lattice(case.size);
                    let want = reference::run(&start, Rule::LIFE, generations.into());
                    self.expect(case, &want, || {
                        let (name, size) = (kernel.name, case.size);
                        format!("{name}, {size}, {soup:?}, {generations} generations")
                    });
                }
            }
        }
        Ok(())
    }
}

// Compares reduced views with their definition.

impl Fixture {
    /// Reduced views, byte by byte against their definition.
    fn check_views(&mut self) -> Result<()> {
        let (width, height) = VIEW_PIXELS;
        for case in self.cases.clone() {
            let size = case.size;
            let start = case.soup(0.4, 3);
            let sides = [size.width, size.height].map(|side| i64::from(side) << 16);
            let whole = sides[0] / i64::from(width) + 1;
            let view = |x0, y0, step| ReduceRegion {
                x0,
                y0,
                step,
                width,
                height,
            };
            let all = |step| ReduceRegion {
                step,
                width: 4,
                height: 2,
                ..view(sides[0] / 3, sides[1] - 5, 1)
            };
            let views = [
                view(0, 0, whole),
                view(-70_000, 5, whole / 3 + 1),
                view(99_999, 1 << 16, 20_000),
                // Across the edge on the right, the one below, and both.
                view(sides[0] - (20 << 16), 0, ReduceRegion::ONE),
                view(0, sides[1] - 7 * whole, whole / 2 + 1),
                view(
                    sides[0] - 9 * whole,
                    sides[1] - 5 * whole - 3,
                    whole / 4 + 1,
                ),
                // Pixels as large as the lattice, and larger.
                all(sides[0].max(sides[1])),
                all(2 * sides[0].max(sides[1]) + 1),
            ];
            self.run_in(case, vec![case.upload(&start)])?;
            for region in views {
                let reduce = case.op(LatticeOp::Reduce(region));
                let download = case.download(VIEW_SLOT, Transfer::View);
                self.run_in(case, vec![reduce, download])?;
                self.expect_view(case, region, &start, || {
                    format!("{size} through {region:?}")
                });
            }
        }
        Ok(())
    }
}

// Compares measures with a count of the cells on the host.

/// The most cells of a lattice that is measured.
const MAX_MEASURED_CELLS: u64 = 1 << 21;

impl Fixture {
    /// Population, births, deaths and hash of three lattices that follow one another, through
    /// every layout: the first has none before it.
    fn check_measures(&mut self) -> Result<()> {
        for kernel in self.kernel_of_each_layout() {
            self.engine.reserve(kernel.layout)?;
            for case in self.cases_for(kernel, MAX_MEASURED_CELLS.min(self.plan.max_cells)) {
                let mut now = case.soup(0.4, 5);
                // Of what was measured here before, this lattice or another kernel's last.
                let mut before = self.measured.get(&case.id).cloned();
                for (round, generations) in [0, 1, 3].into_iter().enumerate() {
                    let advances = &[(kernel, Rule::LIFE, generations)][..round.min(1)];
                    let mut ops = vec![case.upload(&now)];
                    ops.extend(case.advance(Layout::Bits, advances));
                    ops.push(case.op(LatticeOp::Measure));
                    ops.push(case.download(MEASURE_SLOT, Transfer::Measure));
                    self.run_in(case, ops)?;
                    now = reference::run(&now, Rule::LIFE, generations.into());
                    let want = counted(&now, before.as_ref());
                    let same = self.read(case, MEASURE_SLOT) == want.to_words();
                    self.outcome.expect(same, || {
                        format!("{}, measure {round}: {}", kernel.name, case.size)
                    });
                    before = Some(now.clone());
                }
                self.measured.insert(case.id, now);
            }
        }
        Ok(())
    }
}

// Compares downloads of some rows with the whole lattice.

impl Fixture {
    /// The first rows of every lattice, some in its middle, the last ones, and all.
    fn check_rows(&mut self) -> Result<()> {
        for case in self.cases.clone() {
            let size = case.size;
            let start = case.soup(0.4, 6);
            let height = size.height;
            let half = height.div_ceil(2);
            for (first, count) in [(0, 1), (height / 3, half), (height - 1, 1), (0, height)] {
                let rows = case.download(SLOT, Transfer::Rows { first, count });
                self.run_in(case, vec![case.upload(&start), rows])?;
                let [first_word, words] = [first, count].map(|n| size.words_per_row() * n as usize);
                let want = &start.words()[first_word..][..words];
                let same = self.read(case, SLOT).starts_with(want);
                self.outcome.expect(same, || {
                    format!("{count} rows of {size} from row {first} on")
                });
            }
        }
        Ok(())
    }
}

// What is expected of measures and views, counted cell by cell.

/// The measure expected of a lattice, counted word by word.
pub fn counted(now: &Lattice, before: Option<&Lattice>) -> Measure {
    let mut measure = Measure::default();
    for (index, &word) in (0..).zip(now.words()) {
        let then = before.map_or(0, |before| before.words()[index as usize]);
        measure.population += u64::from(word.count_ones());
        measure.births += u64::from((word & !then).count_ones());
        measure.deaths += u64::from((then & !word).count_ones());
        measure.hash = measure.hash.wrapping_add(Measure::mixed(index, word));
    }
    measure
}

/// The reduced bytes of a lattice, row by row, computed cell by cell as [`ReduceRegion`]
/// defines them: slow, and the reference for all kernels.
pub fn reduced(region: ReduceRegion, lattice: &Lattice) -> Vec<u8> {
    let cells = |(from, to): (i64, i64), side: u32| -> Vec<u32> {
        let side = i64::from(side);
        let each_once = from..to.min(from + side);
        each_once.map(|at| at.rem_euclid(side) as u32).collect()
    };
    let size = lattice.size();
    let columns: Vec<_> = (0..region.width)
        .map(|i| cells(region.columns(i), size.width))
        .collect();
    let mut bytes = Vec::new();
    for j in 0..region.height {
        let rows = cells(region.rows(j), size.height);
        for columns in &columns {
            let covered = rows.len() * columns.len();
            let alive = |y: u32| columns.iter().filter(|&&x| lattice.get(x, y)).count();
            let alive: usize = rows.iter().map(|&y| alive(y)).sum();
            bytes.push(ReduceRegion::density(alive as u64, covered as u64));
        }
    }
    bytes
}
