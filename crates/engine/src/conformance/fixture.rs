//! An engine with a lattice of each size, and what is checked of all of them.

use std::collections::HashMap;

use super::cases::{BATCH, Cases, Outcome, batch_sizes};
use super::expected::reduced;
use crate::kernels::{self, KERNELS, Kernel, Layout};
use crate::{
    Completion, Cut, DeviceId, Engine, LatticeId, LatticeOp, Op, OrderOp, Program, ReduceRegion,
    Result, Slot, Slots, SlotsSpec, SplitEngine, StreamId, StreamSpec, Transfer,
};
use life::{Lattice, Rule, Size, reference, soup};

/// An engine with a lattice of each size, every one in its own stream, and some that lie one
/// behind the other.
pub struct Fixture {
    pub(super) engine: Box<dyn Engine>,
    pub(super) cases: Cases,
    pub(super) streams: Vec<StreamId>,
    pub(super) slots: std::sync::Arc<dyn Slots>,
    /// Results of the reference by case, seed, rule and generations, since every kernel needs them.
    references: HashMap<(usize, u64, u32, u32), Lattice>,
    /// The lattice that was measured last, by case.
    pub(super) measured: HashMap<usize, Lattice>,
}

pub(super) const SLOT: Slot = Slot(1);
pub(super) const VIEW_SLOT: Slot = Slot(0);
pub(super) const MEASURE_SLOT: Slot = Slot(2);
pub(super) const VIEW_PIXELS: (u32, u32) = (64, 48);

impl Fixture {
    /// The lattices of some cases on an engine that has none.
    ///
    /// # Errors
    /// Memory is lacking, or the engine fails.
    pub fn new(mut engine: Box<dyn Engine>, cases: Cases) -> Result<Fixture> {
        let devices = engine.places();
        let mut streams = Vec::new();
        for (i, &size) in cases.sizes.iter().enumerate() {
            // Ids follow one another whatever the device, so devices take turns.
            let device = DeviceId((i % devices) as u16);
            engine.create_lattices(device, 1, size)?;
            streams.push(engine.create_stream(device, StreamSpec::PLAIN)?);
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
            cases,
            streams,
            slots,
            references: HashMap::new(),
            measured: HashMap::new(),
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
        let mut cases = self.cases;
        cases.seeds = 1;
        cases.generations.retain(|it| *it < 8 || it % 8 == 1);
        Fixture::new(Box::new(split), cases)
    }

    /// Errors for a kernel that a device cannot run with any of the sizes.
    pub fn validate_device(&self, kernel: &Kernel) -> Result<()> {
        let mut found = Ok(());
        let taken = |size: &&Size| kernel.supports(**size);
        for &size in self.cases.sizes.iter().filter(taken) {
            match self.validate(kernel, size) {
                Ok(()) => return Ok(()),
                Err(error) => found = Err(error),
            }
        }
        found
    }

    /// The first kernel of each layout that a device can run.
    pub(super) fn kernel_of_each_layout(&self) -> Vec<&'static Kernel> {
        let mut kernels: Vec<&'static Kernel> = Vec::new();
        for kernel in &KERNELS {
            let is_new = kernels.iter().all(|it| it.layout != kernel.layout);
            if is_new && self.validate_device(kernel).is_ok() {
                kernels.push(kernel);
            }
        }
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
    pub(super) fn kernels_for(&self, size: Size) -> Vec<&'static Kernel> {
        let can = |kernel: &&Kernel| self.validate(kernel, size).is_ok();
        KERNELS.iter().filter(can).collect()
    }

    /// The cases that a kernel takes, of at most this many cells; if there is none, the smallest
    /// that it takes.
    pub(super) fn cases_for(&self, kernel: &Kernel, max_cells: u64) -> Vec<usize> {
        let cells = |&case: &usize| self.cases.sizes[case].cells();
        let takes = |&case: &usize| self.validate(kernel, self.cases.sizes[case]).is_ok();
        let all = || (0..self.cases.sizes.len()).filter(takes);
        let within: Vec<usize> = all().filter(|case| cells(case) <= max_cells).collect();
        if within.is_empty() {
            all().min_by_key(cells).into_iter().collect()
        } else {
            within
        }
    }

    pub(super) fn finish(&mut self) -> Result<Vec<Completion>> {
        self.engine.synchronize()?;
        let mut completions = Vec::new();
        self.engine.poll(&mut completions)?;
        Ok(completions)
    }

    /// Runs a program to its end.
    pub(super) fn run(&mut self, program: &Program) -> Result<Vec<Completion>> {
        self.engine.submit(program)?;
        self.finish()
    }

    /// Whether a view that was downloaded shows what its definition has of a lattice.
    pub(super) fn shows(&self, id: LatticeId, region: ReduceRegion, lattice: &Lattice) -> bool {
        let pixels = reduced(region, lattice);
        let mut same = false;
        self.slots.read(id, VIEW_SLOT, &mut |words| {
            same = bytemuck::cast_slice::<u32, u8>(words)[..pixels.len()] == pixels[..];
        });
        same
    }

    /// What was downloaded of a case's lattice.
    pub(super) fn read(&self, case: usize) -> Lattice {
        self.read_lattice(LatticeId(case as u32), self.cases.sizes[case])
    }

    /// What was downloaded of a lattice of this size; a dead one where nothing has landed.
    pub(super) fn read_lattice(&self, id: LatticeId, size: Size) -> Lattice {
        let mut lattice = Lattice::new(size);
        self.slots.read(id, SLOT, &mut |words| {
            lattice = Lattice::from_words(size, words[..size.words()].to_vec());
        });
        lattice
    }

    /// Upload, advance, download: in the case's stream.
    pub(super) fn push(
        &self,
        program: &mut Program,
        case: usize,
        start: &Lattice,
        advances: &[Advance],
    ) {
        let upload = Op::upload(LatticeId(case as u32), start.words());
        program.push(self.streams[case], upload);
        self.push_advances(program, case, advances, Layout::Bits);
    }

    pub(super) fn push_advances(
        &self,
        program: &mut Program,
        case: usize,
        advances: &[Advance],
        mut layout: Layout,
    ) {
        let lattice = || LatticeId(case as u32).as_range();
        let mut push = |op| program.push(self.streams[case], op);
        for &(kernel, rule, generations) in advances {
            if layout != kernel.layout {
                push(LatticeOp::Pack.on(lattice()));
                push(Op::unpack(lattice(), kernel.layout));
                layout = kernel.layout;
            }
            push(Op::advance(kernel, lattice(), rule, generations));
        }
        push(LatticeOp::Pack.on(lattice()));
        push(Op::download(lattice(), SLOT, Transfer::Bits));
    }

    /// Every size × rule × seed × number of generations; all sizes at once, each in its stream.
    ///
    /// # Errors
    /// The engine fails.
    pub fn check_kernel(&mut self, kernel: &'static Kernel) -> Result<Outcome> {
        let mut outcome = Outcome::default();
        self.engine.reserve(kernel.layout)?;
        for seed in 1..=self.cases.seeds {
            for rule in self.cases.rules.clone() {
                for generations in self.cases.generations.clone() {
                    let chosen = self.cases_for(kernel, self.cases.max_cells_after(generations));
                    let sizes = self.cases.sizes.clone();
                    let start = |case: usize| soup(sizes[case], 0.4, seed, case as u64);
                    let mut program = Program::default();
                    for &case in &chosen {
                        self.push(
                            &mut program,
                            case,
                            &start(case),
                            &[(kernel, rule, generations)],
                        );
                    }
                    self.engine.submit(&program)?;
                    for &case in &chosen {
                        self.reference(case, seed, rule, generations, start);
                    }
                    self.finish()?;
                    for &case in &chosen {
                        let got = self.read(case);
                        let want = &self.references[&(case, seed, rule.table(), generations)];
                        outcome.expect(&got == want, || {
                            let size = self.cases.sizes[case];
                            format!("{size}, {rule}, seed {seed}, {generations} generations")
                        });
                    }
                }
            }
        }
        Ok(outcome)
    }

    /// Returns the result of the reference, which continues from the latest known generation.
    fn reference(
        &mut self,
        case: usize,
        seed: u64,
        rule: Rule,
        generations: u32,
        start: impl Fn(usize) -> Lattice,
    ) {
        let key = |generations| (case, seed, rule.table(), generations);
        if self.references.contains_key(&key(generations)) {
            return; // another kernel's
        }
        let known = (1..generations).rev().find_map(|at| {
            let lattice = self.references.get(&key(at))?;
            Some((at, lattice.clone()))
        });
        let (at, lattice) = known.unwrap_or_else(|| (0, start(case)));
        let more = u64::from(generations - at);
        let lattice = reference::run(&lattice, rule, more);
        self.references.insert(key(generations), lattice);
    }

    /// One lattice through all kernels in turn, some generations each: no cell is lost.
    pub(super) fn check_switches(&mut self) -> Result<Outcome> {
        let mut outcome = Outcome::default();
        let rule = Rule::LIFE;
        for case in 0..self.cases.sizes.len() {
            let size = self.cases.sizes[case];
            if size.cells() > self.cases.max_cells.min(300_000) {
                continue;
            }
            let supported = self.kernels_for(size);
            let advances: Vec<_> = supported
                .iter()
                .chain(supported.iter().rev())
                .zip([3, 2, 5, 4, 1].into_iter().cycle())
                .map(|(&kernel, generations)| (kernel, rule, generations))
                .collect();
            let total: u32 = advances.iter().map(|(.., generations)| generations).sum();
            let start = soup(size, 0.5, 9, case as u64);
            let mut program = Program::default();
            self.push(&mut program, case, &start, &[]);
            self.run(&program)?;
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
                let mut program = Program::default();
                self.push_advances(&mut program, case, &[advance], left);
                self.run(&program)?;
                layout = wanted;
            }
            let same = self.read(case) == reference::run(&start, rule, total.into());
            outcome.expect(same, || format!("{size} after {total} generations"));
        }
        Ok(outcome)
    }

    /// Rounds of all lattices prepared once and replayed, between eager ones.
    pub(super) fn check_graphs(&mut self) -> Result<Outcome> {
        let mut outcome = Outcome::default();
        for kernel in &KERNELS {
            let chosen = self.cases_for(kernel, 70_000);
            let rule: Rule = "B36/S23".parse().expect("a rule");
            // So many that the graph fits the buffers it leaves.
            let fits = |generations: &u32| !kernel.swaps_buffers(*generations);
            let again = (2..).find(fits).expect("two launches change back");
            let sizes = self.cases.sizes.clone();
            let start = |case: usize| soup(sizes[case], 0.35, 5, case as u64);
            let mut eager = Program::default();
            let mut round = Program::default();
            for &case in &chosen {
                self.push(&mut eager, case, &start(case), &[(kernel, rule, 1)]);
                self.push_advances(&mut round, case, &[(kernel, rule, again)], kernel.layout);
            }
            self.engine.reserve(kernel.layout)?;
            self.run(&eager)?;
            let prepared = self.engine.prepare(&round)?;
            for _ in 0..3 {
                self.engine.replay(prepared)?;
                self.finish()?;
            }
            self.engine.release(prepared);
            for &case in &chosen {
                let same =
                    self.read(case) == reference::run(&start(case), rule, (1 + 3 * again).into());
                outcome.expect(same, || {
                    format!("{} on {}", kernel.name, self.cases.sizes[case])
                });
            }
        }
        Ok(outcome)
    }

    /// A lattice stepped by turns in two streams that hand it over by events.
    pub(super) fn check_events(&mut self) -> Result<Outcome> {
        let mut outcome = Outcome::default();
        let device = DeviceId(0);
        let one = self.engine.create_stream(device, StreamSpec::PLAIN)?;
        let two = self.engine.create_stream(device, StreamSpec::PLAIN)?;
        let handed_on = self.engine.create_event(device)?;
        let handed_back = self.engine.create_event(device)?;
        for kernel in &KERNELS {
            // Cases take turns on the devices; the first one is on device 0.
            let devices = self.engine.places();
            let on_first = (0..self.cases.sizes.len()).filter(|case| case % devices == 0);
            let on_first = on_first.filter(|&c| {
                let size = self.cases.sizes[c];
                size.cells() <= 20_000 && self.kernels_for(size).contains(&kernel)
            });
            let Some(case) = on_first.max_by_key(|&c| self.cases.sizes[c].cells()) else {
                continue; // one that takes large lattices alone, or that the device cannot run
            };
            let size = self.cases.sizes[case];
            let lattice = LatticeId(case as u32);
            let start = soup(size, 0.4, 8, 0);
            self.engine.reserve(kernel.layout)?;
            let mut program = Program::default();
            program.push(one, Op::upload(lattice, start.words()));
            if kernel.layout != Layout::Bits {
                program.push(one, Op::unpack(lattice.as_range(), kernel.layout));
            }
            for _ in 0..10 {
                for (mine, theirs, event) in [(one, two, handed_on), (two, one, handed_back)] {
                    let advance = Op::advance(kernel, lattice.as_range(), Rule::LIFE, 1);
                    program.push(mine, advance);
                    program.push(mine, OrderOp::Record(event));
                    program.push(theirs, OrderOp::Wait(event));
                }
            }
            program.push(one, LatticeOp::Pack.on(lattice.as_range()));
            let download = Op::download(lattice.as_range(), SLOT, Transfer::Bits);
            program.push(one, download);
            self.run(&program)?;
            let same = self.read(case) == reference::run(&start, Rule::LIFE, 20);
            outcome.expect(same, || format!("{} on {size}", kernel.name));
        }
        Ok(outcome)
    }

    /// Spans of one stream follow one another and are as many as the steps.
    pub(super) fn check_spans(&mut self) -> Result<Outcome> {
        let mut outcome = Outcome::default();
        let mut program = Program {
            timed: true,
            ..Default::default()
        };
        for case in 0..self.cases.sizes.len() {
            let start = soup(self.cases.sizes[case], 0.4, 2, 0);
            let kernel = kernels::find("bits").expect("it takes any size");
            self.push(&mut program, case, &start, &[(kernel, Rule::LIFE, 3)]);
        }
        let run = self.engine.submit(&program)?;
        let issued = self.engine.issued_steps(run).map(<[_]>::to_vec);
        // Of lattices in bands, those of all devices.
        let streams: Vec<StreamId> = match &issued {
            Some(issued) => issued.iter().map(|issued| issued.step.stream).collect(),
            None => self.streams.clone(),
        };
        let steps = issued.map_or(program.steps.len(), |issued| issued.len());
        for completion in self.finish()? {
            let Completion::Finished { spans, .. } = completion else {
                continue;
            };
            outcome.expect(spans.len() == steps, || {
                format!("{} spans of {steps}", spans.len())
            });
            for &stream in &streams {
                let of: Vec<_> = spans.iter().filter(|span| span.stream == stream).collect();
                outcome.expect(of.iter().all(|span| span.start <= span.end), || {
                    format!("{stream:?} has a span that ends before it starts")
                });
                outcome.expect(
                    of.windows(2).all(|pair| pair[0].end <= pair[1].start),
                    || format!("{stream:?} has spans that overlap"),
                );
            }
        }
        Ok(outcome)
    }

    /// Every kernel steps the same cells with block timestamps in its code, and no block ends before it
    /// begins.
    pub(super) fn check_block_timestamps(&mut self) -> Result<Outcome> {
        const GENERATIONS: u32 = 13;
        let mut outcome = Outcome::default();
        for kernel in KERNELS.iter().filter(|kernel| kernel.block_timestamps) {
            if self.validate_device(kernel).is_err() {
                continue;
            }
            self.engine.reserve(kernel.layout)?;
            let mut cases = self.cases_for(kernel, 20_000);
            cases.truncate(12); // few kinds of width and height matter here
            for case in cases {
                let size = self.cases.sizes[case];
                let start = soup(size, 0.4, 3, 0);
                let mut program = Program {
                    timed: true,
                    block_timestamps: true,
                    ..Program::default()
                };
                let advance = (kernel, Rule::LIFE, GENERATIONS);
                self.push(&mut program, case, &start, &[advance]);
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
                let wanted = reference::run(&start, Rule::LIFE, GENERATIONS.into());
                let same = self.read(case) == wanted;
                outcome.expect(same, || format!("{}: cells of {size}", kernel.name));
                outcome.expect(all_end && !blocks.is_empty(), || {
                    format!("{}: {size}, {} blocks", kernel.name, blocks.len())
                });
            }
        }
        Ok(outcome)
    }
}

type Advance = (&'static Kernel, Rule, u32);
