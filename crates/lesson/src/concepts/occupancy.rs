//! How many threads a multiprocessor holds, and whether more are faster.

use std::sync::Arc;

use crate::bench::DEVICE;
use crate::work::{DENSITY, SEED, kernel, square};
use crate::{
    Bench, Choices, Closing, Compare, Experiment, Group, Lesson, Measured, MeasuredValue, Missing,
    Origin, Outcome, Part, PartWork, Result,
};
use engine::{Kernel, LatticeId, LatticeOp, Layout, Op, Program, Slot, Slots, SlotsSpec, StreamId};
use engine::{StreamSpec, Transfer};
use lang::{mark, tr};
use life::{Lattice, Rule, reference, soup};
use session::instances::read_lattice;
use session::median;

const SIDE: u64 = 1024;

pub(crate) const OCCUPANCY: Lesson = Lesson {
    name: "occupancy",
    group: Group::Concepts,
    title: "block shapes and occupancy",
    source: Origin::BestPractices("Occupancy"),
    intro: "One lattice of 1024 × 1024 cells, one thread per cell, in blocks of every shape the \
            kernel takes. For each: the occupancy, which is the share of the threads an SM \
            can hold that are resident, and how long a generation takes. Then the fastest shape \
            against the next one, and against the slowest.",
    question: "Is the shape with the highest occupancy the fastest?",
    choices: Choices::Words {
        choices: &["yes", "no"],
        right: fastest_has_highest_occupancy,
    },
    parts: &[
        Part {
            title: "kernel 'global', block by block",
            code: "for (dim3 block : shapes) {
    dim3 grid(1024 / block.x, 1024 / block.y);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, step, block.x * block.y, 0);
    step<<<grid, block>>>(next, cells);
}",
            work: PartWork::Once(survey),
        },
        Part {
            title: "the slowest shape of these, again",
            code: "step<<<grid, slowest>>>(next, cells);",
            work: PartWork::Program(|bench| Shape::prepare(bench, SLOWEST)),
        },
        Part {
            title: "the second fastest, again",
            code: "step<<<grid, second>>>(next, cells);",
            work: PartWork::Program(|bench| Shape::prepare(bench, SECOND)),
        },
        Part {
            title: "the fastest, again",
            code: "step<<<grid, fastest>>>(next, cells);",
            work: PartWork::Program(|bench| Shape::prepare(bench, FASTEST)),
        },
    ],
    compared: &[
        Compare {
            slow: 1,
            fast: 3,
            label: "the fastest shape instead of the slowest",
            faster: "A shape matters if it has too few threads to hide memory latency, or if its \
                     rows are narrower than a warp, so that loads are not coalesced.",
            none: "So every shape has enough threads to hide memory latency.",
            slower: "So the fastest shape was first in the table only by chance.",
        },
        Compare {
            slow: 2,
            fast: 3,
            label: "the fastest shape instead of the second fastest",
            faster: "Compare their occupancy in the table: the highest need not be the fastest.",
            none: "So several shapes are equally fast: the table's order is chance.",
            slower: "So the table's order is chance.",
        },
    ],
    missing_on_cpu: Some(Missing {
        what: "multiprocessors, and so no occupancy",
        on_gpu: "A GPU would show how many threads of each shape a multiprocessor holds at once, and \
                 whether that decides how fast the shape is. The CPU engine has no multiprocessors \
                 to fill.",
        on_cpu: None,
    }),
    closing: Closing::Text(""),
};

/// What is said of a shape, behind its name.
const RESIDENT: &str = mark!("resident blocks per SM");
const OCCUPANCY_OF: &str = mark!("occupancy");

/// What is kept for the later parts: the places of shapes in the kernel's table.
const FASTEST: &str = "fastest";
const SECOND: &str = "second";
const SLOWEST: &str = "slowest";

/// A lattice on an engine of its own.
struct Stepper {
    bench: Bench,
    kernel: &'static Kernel,
    stream: StreamId,
    slots: Arc<dyn Slots>,
    start: Lattice,
    want: Lattice,
}

impl Stepper {
    fn new(bench: &Bench) -> Result<Stepper> {
        let mut bench = bench.another()?;
        let (kernel, size) = (kernel("global"), square(SIDE));
        let engine = bench.engine()?;
        engine.create_lattices(DEVICE, 1, size)?;
        engine.reserve(kernel.layout)?;
        let slots = engine.allocate_slots(SlotsSpec {
            snapshots: 1,
            ..SlotsSpec::default()
        })?;
        let stream = engine.create_stream(DEVICE, StreamSpec::PLAIN)?;
        let start = soup(size, DENSITY, SEED, 0);
        Ok(Stepper {
            bench,
            kernel,
            stream,
            slots,
            want: reference::run(&start, Rule::LIFE, 2),
            start,
        })
    }

    fn advance(&self, block: (u32, u32), generations: u32) -> Op {
        LatticeOp::Advance {
            kernel: self.kernel,
            rule: Rule::LIFE,
            generations,
            block,
        }
        .on(0..1)
    }

    /// Sets the lattice to its start, and says whether two generations from there are right.
    fn is_right(&mut self, block: (u32, u32)) -> Result<bool> {
        let lattice = LatticeId(0);
        let (slot, what) = (Slot(0), Transfer::Bits);
        let ops = [
            LatticeOp::Upload(self.start.words().into()).on(lattice.as_range()),
            LatticeOp::Unpack(Layout::I32).on(lattice.as_range()),
            self.advance(block, 2),
            LatticeOp::Pack.on(lattice.as_range()),
            LatticeOp::Download { slot, what }.on(lattice.as_range()),
        ];
        self.bench.run(&Program::in_stream(self.stream, ops))?;
        Ok(read_lattice(&*self.slots, 0, slot, self.start.size())? == self.want)
    }

    /// The time of a generation in milliseconds, as the mean of a launch of several.
    fn generation_ms(&mut self, block: (u32, u32)) -> Result<f64> {
        let generations = self.bench.pick(20, 2);
        let advance = self.advance(block, generations);
        let program = Program::in_stream(self.stream, [advance]).with_spans();
        Ok(self.bench.run(&program)?.step_ms(0) / f64::from(generations))
    }
}

/// Which of the choices holds: whether no shape has a higher occupancy than the fastest.
fn fastest_has_highest_occupancy(outcome: &Outcome) -> Option<usize> {
    let figures = &outcome.parts.first()?.figures;
    let mut shapes = Vec::new();
    for figure in figures.iter().filter(|figure| figure.unit == "%") {
        let time = |it: &&MeasuredValue| it.unit == "µs" && figure.label.starts_with(&it.label);
        shapes.push((figures.iter().find(time)?.value, figure.value));
    }
    let fastest = shapes.iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
    let is_highest = shapes.iter().all(|shape| shape.1 <= fastest.1);
    Some(if is_highest { 0 } else { 1 })
}

fn named((across, down): (u32, u32)) -> String {
    format!("{across}x{down}")
}

fn survey(bench: &mut Bench) -> Result<Measured> {
    let mut stepper = Stepper::new(bench)?;
    let blocks = stepper.kernel.blocks;
    let mut right = true;
    for &block in blocks {
        right &= stepper.is_right(block)?;
    }
    // In turn, so that all meet a clock that goes up; the first turn warms up.
    let mut times = vec![Vec::new(); blocks.len()];
    for turn in 0..6 {
        for (&block, times) in blocks.iter().zip(&mut times) {
            let ms = stepper.generation_ms(block)?;
            if turn > 0 {
                times.push(ms);
            }
        }
    }
    let mut measured = Measured::default();
    let mut order = Vec::new();
    for (place, (&block, times)) in blocks.iter().zip(times).enumerate() {
        let (shape, ms) = (named(block), median(times).expect("five turns"));
        order.push((ms, place));
        measured = measured.figure(shape.clone(), ms * 1e3, "µs");
        let op = stepper.advance(block, 1);
        if let Some(found) = stepper.bench.engine()?.occupancy(DEVICE, &op)? {
            let threads = f64::from(found.blocks_per_sm * found.block_threads);
            let part = 100.0 * threads / f64::from(found.max_threads_per_sm);
            measured = measured
                .figure(
                    format!("{shape}: {RESIDENT}"),
                    found.blocks_per_sm.into(),
                    "",
                )
                .figure(format!("{shape}: {OCCUPANCY_OF}"), part, "%");
        }
    }
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (name, at) in [(FASTEST, 0), (SECOND, 1), (SLOWEST, order.len() - 1)] {
        bench.keep(name, order[at].1 as f64);
    }
    let what = tr!("two generations in blocks of {} shapes", blocks.len());
    Ok(measured
        .note(tr!("µs: a generation of the lattice"))
        .check(what, right))
}

/// A shape of the survey, on an engine of its own.
struct Shape {
    stepper: Stepper,
    block: (u32, u32),
}

impl Shape {
    fn prepare(bench: &Bench, which: &str) -> Result<Box<dyn Experiment>> {
        let mut stepper = Stepper::new(bench)?;
        let place = bench.kept(which).unwrap_or(0.0) as usize;
        let block = stepper.kernel.blocks[place];
        stepper.is_right(block)?; // the lattice is there, and the module loaded
        Ok(Box::new(Shape { stepper, block }))
    }
}

impl Experiment for Shape {
    fn sample(&mut self, _bench: &mut Bench) -> Result<Measured> {
        let ms = self.stepper.generation_ms(self.block)?;
        Ok(Measured::of_time(mark!("a generation"), ms))
    }

    fn inspect(&mut self, _bench: &mut Bench) -> Result<Measured> {
        let right = self.stepper.is_right(self.block)?;
        let (across, down) = self.block;
        Ok(Measured::default()
            .figure("blockDim.x", across.into(), "")
            .figure("blockDim.y", down.into(), "")
            .check(tr!("two generations of the lattice"), right))
    }

    fn has_own_engine(&self) -> bool {
        true
    }
}
