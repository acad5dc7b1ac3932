//! Generations: by every kernel, from kernel to kernel, replayed, across streams, timed and stamped.

use super::{Case, Fixture, Outcome, SLOT};
use crate::kernels::{self, KERNELS, Kernel, Layout};
use crate::{
    Completion, DeviceId, LatticeOp, Op, OrderOp, Program, Result, StreamId, StreamSpec, Transfer,
};
use life::{Lattice, Rule, reference};

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
    pub(super) fn check_switches(&mut self) -> Result<()> {
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
    pub(super) fn check_graphs(&mut self) -> Result<()> {
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
    pub(super) fn check_events(&mut self) -> Result<()> {
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
    pub(super) fn check_spans(&mut self) -> Result<()> {
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
    pub(super) fn check_block_timestamps(&mut self) -> Result<()> {
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
