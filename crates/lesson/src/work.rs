//! What a part does: rounds of lattices, long launches, or a program of its own.

use std::sync::Arc;

use super::bench::{DEVICE, median};
use super::{Bench, Measured, Result, data};
use engine::kernels::{self, Iteration};
use engine::{
    Kernel, LatticeId, Layout, Op, Program, Slot, Slots, SlotsSpec, StreamId, StreamKind, Transfer,
};
use lang::{mark, tr};
use life::{Lattice, Rule, Size, reference, soup};
use model::KernelChoice;
use model::PicturePlan;
use model::trace::TimedRound;
use model::{Pace, Setup, Start, Switches, TimeSettings, TransferChoice};
use session::instances::{Instances, read_lattice, starts};

/// The soups of the lessons.
pub(super) const SEED: u64 = 1;
/// How many of their cells are alive.
pub(super) const DENSITY: f64 = 0.3;

/// What a part does.
#[derive(Debug)]
pub enum PartWork {
    /// Rounds, as the window does them, under some switches.
    Rounds(Rounds),
    /// Many generations in one launch.
    InKernel(InKernel),
    /// What neither of them can say.
    Program(fn(&mut Bench) -> Result<Measured>),
}

impl PartWork {
    pub(super) fn run(&self, bench: &mut Bench) -> Result<Measured> {
        match self {
            PartWork::Rounds(rounds) => rounds.run(bench),
            PartWork::InKernel(launch) => launch.run(bench),
            PartWork::Program(run) => run(bench),
        }
    }
}

/// Rounds of lattices: the time of one is the median over several runs of so many.
#[derive(Debug)]
pub struct Rounds {
    /// How many lattices.
    pub instances: usize,
    /// Their width and height.
    pub side: u64,
    /// The kernel's name.
    pub kernel: &'static str,
    /// How rounds are issued, copied and waited for.
    pub switches: Switches,
    /// Generations a round.
    pub generations_per_round: u32,
    /// Rounds a run.
    pub rounds: u32,
}

impl Rounds {
    fn run(&self, bench: &mut Bench) -> Result<Measured> {
        let setup = Setup {
            instances: self.instances,
            size: square(self.side),
            rule: Rule::LIFE,
            start: Start::Soup {
                density: DENSITY,
                seed: SEED,
            },
            kernel: kernel(self.kernel),
            kernel_choice: KernelChoice::Explicit,
            device: bench.choice(),
            switches: self.switches,
            generations_per_round: self.generations_per_round,
            pace: Pace::Unthrottled,
            rounds: None,
            time: TimeSettings::DEFAULT,
        };
        let runs = bench.pick(5, 3);
        let mut instances = Instances::new(bench.take_fresh()?, &setup, 1)?;
        let starts = starts(&setup, 0..setup.instances)?;
        let first = starts[0].1.clone();
        instances.set_lattices(starts)?;
        instances.set_picture(Some(PicturePlan {
            transfer: match self.switches.transfer {
                TransferChoice::Cells => Transfer::Cells,
                _ => Transfer::Bits,
            },
            ..PicturePlan::BITS
        }))?;

        let each = self.generations_per_round;
        let mut stepped = 0;
        let mut step = |rounds: u32, instances: &mut Instances, traced| -> Result<f64> {
            let generations = u64::from(rounds) * u64::from(each);
            stepped += generations;
            let took = instances.run(generations, each, traced)?;
            Ok(took.as_secs_f64() * 1e3)
        };
        step(4, &mut instances, None)?; // modules are loaded, graphs prepared
        let mut times = Vec::new();
        for _ in 0..runs {
            times.push(step(self.rounds, &mut instances, None)? / f64::from(self.rounds));
        }
        let mut trace = None;
        let mut keep = |round: TimedRound| trace = Some(round);
        step(4, &mut instances, Some(&mut keep))?;

        let got = instances.fetch()?;
        let want = reference::run(&first, Rule::LIFE, stepped);
        let all = tr!(
            "after {stepped} generations the first of {} lattices is as the reference has it",
            self.instances,
            stepped = stepped
        );
        let ms = median(times);
        let cells = (setup.size.cells() * self.instances as u64) as f64 * f64::from(each);
        let mut measured = Measured::of_time(mark!("a round"), ms)
            .figure(mark!("rounds a second"), 1e3 / ms, "1/s")
            .figure(mark!("cells a second"), cells / ms / 1e6, "Gcell/s")
            .check(all, got[0] == want);
        measured.trace = trace;
        Ok(measured)
    }
}

/// Lattices that each live in one block for so many generations.
#[derive(Debug)]
pub struct InKernel {
    /// How many lattices.
    pub instances: u32,
    /// Whether each has a stream, or all share one.
    pub streams: bool,
    /// Their width and height.
    pub side: u64,
    /// The kernel's name: one that iterates by itself.
    pub kernel: &'static str,
    /// Generations, in one launch where the device sets no limit to its time.
    pub generations: u32,
}

impl InKernel {
    fn run(&self, bench: &mut Bench) -> Result<Measured> {
        bench.renew()?;
        let kernel = kernel(self.kernel);
        assert_eq!(kernel.iteration, Iteration::InKernel, "{}", kernel.name);
        let size = square(self.side);
        let mut bench_lattices =
            BenchLattices::new(bench, self.instances, size, kernel, self.streams)?;
        // The module is loaded, and the clock of a GPU that was idle goes up.
        let warm = 1000.min(self.generations);
        let mut program = bench_lattices.advance(warm);
        program.timed = true;
        let first = bench.run(&program)?.device_ms().max(1e-3);
        let most = if bench.info().kernel_time_limit {
            ((500.0 / first * f64::from(warm)) as u32).max(1)
        } else {
            u32::MAX
        };
        let (mut left, mut ms, mut launches) = (self.generations, 0.0, 0);
        while left > 0 {
            let now = left.min(most);
            let mut program = bench_lattices.advance(now);
            program.timed = true;
            ms += bench.run(&program)?.device_ms();
            launches += 1;
            left -= now;
        }
        let wrong = bench_lattices.wrong(bench)?;
        let (all, generations) = (f64::from(self.instances), f64::from(self.generations));
        let mut measured = Measured::of_time(mark!("on the device"), ms)
            .figure(mark!("a generation"), ms * 1e6 / generations, "ns")
            .figure(
                mark!("generations a second"),
                all * generations / ms / 1e3,
                "M/s",
            )
            .check(
                tr!("the cells after {} generations", bench_lattices.stepped),
                wrong == 0,
            );
        if launches > 1 {
            measured = measured.note(tr!(
                "in {launches} launches: the system ends kernels that run for seconds, where this \
                 device drives a display",
                launches = launches
            ));
        }
        Ok(measured)
    }
}

/// Lattices on a bench's engine, for parts that issue their ops themselves.
pub(super) struct BenchLattices {
    /// The stream of each lattice.
    pub(super) streams: Vec<StreamId>,
    /// Generations stepped.
    pub(super) stepped: u64,
    kernel: &'static Kernel,
    starts: Vec<Lattice>,
    slots: Arc<dyn Slots>,
}

impl BenchLattices {
    /// The slot in page-locked memory, for whole lattices as cells.
    pub(super) const PINNED: Slot = Slot(0);
    /// The one in pageable memory.
    pub(super) const PAGEABLE: Slot = Slot(1);
    const WHOLE: Slot = Slot(2);

    /// Soups on an engine with nothing on it.
    pub(super) fn new(
        bench: &mut Bench,
        count: u32,
        size: Size,
        kernel: &'static Kernel,
        streams: bool,
    ) -> Result<BenchLattices> {
        let made = if streams { count as usize } else { 1 };
        let made = bench.streams(made, StreamKind::NonBlocking)?;
        let streams = (0..count as usize).map(|i| made[i % made.len()]).collect();
        BenchLattices::in_streams(bench, size, kernel, streams)
    }

    /// The same in these streams, one a lattice.
    pub(super) fn in_streams(
        bench: &mut Bench,
        size: Size,
        kernel: &'static Kernel,
        streams: Vec<StreamId>,
    ) -> Result<BenchLattices> {
        let engine = bench.engine()?;
        engine.create_lattices(DEVICE, streams.len(), size)?;
        engine.reserve(kernel.layout)?;
        let slots = engine.allocate_slots(SlotsSpec {
            pinned: 1,
            pageable: 1,
            picture_words: size.cells() as usize,
            snapshots: 1,
            measures: 0,
        })?;
        let starts: Vec<Lattice> = (0..streams.len())
            .map(|i| soup(size, DENSITY, SEED, i as u64))
            .collect();
        let mut program = Program::default();
        for (i, (&stream, start)) in streams.iter().zip(&starts).enumerate() {
            let lattice = LatticeId(i as u32);
            let words = start.words().into();
            program.push(stream, Op::Upload { lattice, words });
            if kernel.layout != Layout::Bits {
                let to = kernel.layout;
                program.push(
                    stream,
                    Op::Unpack {
                        lattices: lattice.as_range(),
                        to,
                    },
                );
            }
        }
        bench.run(&program)?;
        Ok(BenchLattices {
            streams,
            stepped: 0,
            kernel,
            starts,
            slots,
        })
    }

    /// Lattice i steps so many generations.
    pub(super) fn advance_one(&self, lattice: u32, generations: u32) -> Op {
        Op::Advance {
            kernel: self.kernel,
            lattices: lattice..lattice + 1,
            rule: Rule::LIFE,
            generations,
            block: self.kernel.block(),
        }
    }

    /// A program in which every lattice steps so many generations, which are counted.
    pub(super) fn advance(&mut self, generations: u32) -> Program {
        self.stepped += u64::from(generations);
        let mut program = Program::default();
        for (i, &stream) in self.streams.iter().enumerate() {
            program.push(stream, self.advance_one(i as u32, generations));
        }
        program
    }

    /// How many lattices are not what the reference has.
    pub(super) fn wrong(&self, bench: &mut Bench) -> Result<usize> {
        let mut program = Program::default();
        for (i, &stream) in self.streams.iter().enumerate() {
            let lattice = LatticeId(i as u32);
            if self.kernel.layout != Layout::Bits {
                program.push(stream, Op::Pack(lattice.as_range()));
            }
            let (slot, what) = (Self::WHOLE, Transfer::Bits);
            program.push(
                stream,
                Op::Download {
                    lattices: lattice.as_range(),
                    slot,
                    what,
                },
            );
        }
        bench.run(&program)?;
        let mut wrong = 0;
        for (i, start) in self.starts.iter().enumerate() {
            let got = read_lattice(&*self.slots, i, Self::WHOLE, start.size())?;
            wrong += usize::from(got != data::after(start, Rule::LIFE, self.stepped));
        }
        Ok(wrong)
    }
}

/// The kernel of this name, which a lesson knows to be there.
pub(super) fn kernel(name: &str) -> &'static Kernel {
    kernels::find(name).unwrap_or_else(|| panic!("there is no kernel '{name}'"))
}

/// A square lattice.
pub(super) fn square(side: u64) -> Size {
    Size::new(side, side).expect("lessons have lattices that there can be")
}
