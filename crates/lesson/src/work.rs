//! What a part does: rounds of lattices, long launches, or a program of its own.

use std::sync::Arc;

use super::bench::DEVICE;
use super::{Bench, Measured, Result, data};
use engine::kernels::{self, Iteration};
use engine::{
    Kernel, LatticeId, LatticeOp, Layout, Op, Program, Slot, Slots, SlotsSpec, StreamId,
    StreamKind, Transfer,
};
use lang::{mark, tr};
use life::{Lattice, Rule, Size, reference, soup};
use session::instances::{Sim, read_lattice, start_lattice, starts};
use session::trace::TimedRound;
use session::{DeviceChoice, PicturePlan, Setting, Setup, Share, Start, Switches, TransferChoice};

/// The soups of the lessons.
pub(super) const SEED: u64 = 1;
/// How many of their cells are alive.
pub(super) const DENSITY: f64 = 0.3;

/// What a part does.
#[derive(Debug)]
pub enum PartWork {
    /// Rounds, as the window does them, under some switches.
    Rounds(Rounds),
    /// The same for 1, 2, 4 … instances, up to this number or to a session's ([`SweepSetup`]).
    Sweep(Rounds),
    /// Many generations in one launch.
    InKernel(InKernel),
    /// Another experiment.
    Program(fn(&mut Bench) -> Result<Box<dyn Experiment>>),
    /// What is measured once, and compared with nothing.
    Once(fn(&mut Bench) -> Result<Measured>),
}

/// A part with everything in place, which can be measured again and again.
pub trait Experiment {
    /// Measures once: the time that is compared, and figures that follow from the same run.
    ///
    /// # Errors
    /// Where the engine fails.
    fn sample(&mut self, bench: &mut Bench) -> Result<Measured>;

    /// What needs no repetition: checks, pictures, a timed round and figures of it. Called once,
    /// after the first sample.
    ///
    /// # Errors
    /// Where the engine fails.
    fn inspect(&mut self, bench: &mut Bench) -> Result<Measured>;

    /// Whether it runs on an engine that no other part uses, so that it can be prepared again without
    /// leaving anything behind.
    fn has_own_engine(&self) -> bool {
        false
    }
}

impl PartWork {
    /// Puts in place what the part needs, and warms it up.
    pub(super) fn prepare(&self, bench: &mut Bench) -> Result<Box<dyn Experiment>> {
        match self {
            PartWork::Rounds(rounds) => {
                let setup = SweepSetup::of(rounds).setup(rounds.switches, bench.choice());
                Ok(Box::new(RoundsRun::new(setup, rounds.rounds, bench)?))
            }
            PartWork::Sweep(rounds) => {
                let sweep = bench.sweep.unwrap_or(SweepSetup::of(rounds));
                let setup = sweep.setup(rounds.switches, bench.choice());
                Ok(Box::new(RoundsRun::new(setup, rounds.rounds, bench)?))
            }
            PartWork::InKernel(launch) => Ok(Box::new(Launches::new(*launch, bench)?)),
            PartWork::Program(prepare) => prepare(bench),
            PartWork::Once(measure) => Ok(Box::new(Once(*measure))),
        }
    }

    /// Why the part cannot be measured with the kernel of the sweep; `None` if it can.
    pub(super) fn incompatibility(&self, bench: &Bench) -> Option<String> {
        match (self, bench.sweep) {
            (PartWork::Sweep(rounds), Some(sweep)) => rounds.switches.incompatibility(sweep.kernel),
            _ => None,
        }
    }
}

/// See [`PartWork::Once`].
struct Once(fn(&mut Bench) -> Result<Measured>);

impl Experiment for Once {
    fn sample(&mut self, bench: &mut Bench) -> Result<Measured> {
        (self.0)(bench)
    }

    fn inspect(&mut self, _bench: &mut Bench) -> Result<Measured> {
        Ok(Measured::default())
    }
}

/// Rounds of lattices: the time of one, as the mean of several in a row.
#[derive(Clone, Copy, Debug)]
pub struct Rounds {
    /// How many lattices.
    pub instances: usize,
    /// Their width and height.
    pub side: u64,
    /// The kernel's name.
    pub kernel: &'static str,
    /// How rounds are issued, copied and waited for.
    pub switches: Switches,
    /// Generations per round.
    pub generations_per_round: u32,
    /// Rounds in a row; a fifth of them on the CPU.
    pub rounds: u32,
}

/// What the rounds of a sweep step: a session's lattices, or a lesson's own.
#[derive(Clone, Copy, Debug)]
pub struct SweepSetup {
    /// How many lattices.
    pub instances: usize,
    /// Their size.
    pub size: Size,
    /// The kernel that steps them.
    pub kernel: &'static Kernel,
    /// Generations per round.
    pub generations_per_round: u32,
}

impl SweepSetup {
    /// A lesson's own.
    pub(super) fn of(rounds: &Rounds) -> SweepSetup {
        SweepSetup {
            instances: rounds.instances,
            size: square(rounds.side),
            kernel: kernel(rounds.kernel),
            generations_per_round: rounds.generations_per_round,
        }
    }

    fn setup(&self, switches: Switches, device: DeviceChoice) -> Setup {
        Setup {
            start: Start::soup(DENSITY, SEED),
            switches,
            generations_per_round: self.generations_per_round,
            ..Setup::new(self.instances, self.size, self.kernel, device)
        }
    }
}

/// Rounds on an engine of their own.
struct RoundsRun {
    setup: Setup,
    sim: Sim,
    /// What its rounds step.
    share: Share,
    first: Arc<Lattice>,
    /// Rounds of a sample.
    in_a_row: u32,
    stepped: u64,
}

impl RoundsRun {
    /// `rounds` in a row are a sample; a fifth of them on the CPU.
    fn new(setup: Setup, rounds: u32, bench: &Bench) -> Result<RoundsRun> {
        let mut sim = Sim::new(bench.open_engine()?, &setup, 1)?;
        sim.set_lattices(starts(&setup, 0..setup.instances)?)?;
        let first = start_lattice(&setup, 0)?;
        let picture = PicturePlan {
            transfer: match setup.switches.transfer {
                TransferChoice::Cells => Transfer::Cells,
                _ => Transfer::Bits,
            },
            ..PicturePlan::BITS
        };
        let share = sim.all(&Setting::of(&setup), Some(picture));
        let mut run = RoundsRun {
            setup,
            sim,
            share,
            first,
            in_a_row: bench.pick(rounds, (rounds / 5).max(1)),
            stepped: 0,
        };
        run.step(4, None)?; // modules are loaded, graphs prepared
        Ok(run)
    }

    /// The time of `rounds` rounds in milliseconds.
    fn step(&mut self, rounds: u32, traced: Option<&mut dyn FnMut(TimedRound)>) -> Result<f64> {
        let each = self.setup.generations_per_round;
        let generations = u64::from(rounds) * u64::from(each);
        self.stepped += generations;
        let took = self.sim.run(&self.share, generations, each, traced)?;
        Ok(took.as_secs_f64() * 1e3)
    }
}

impl Experiment for RoundsRun {
    fn sample(&mut self, _bench: &mut Bench) -> Result<Measured> {
        let ms = self.step(self.in_a_row, None)? / f64::from(self.in_a_row);
        let instances = self.setup.instances as u64;
        let cells = (self.setup.size.cells() * instances) as f64
            * f64::from(self.setup.generations_per_round);
        Ok(Measured::of_time(mark!("a round"), ms)
            .figure(mark!("rounds per second"), 1e3 / ms, "1/s")
            .figure(mark!("cells per second"), cells / ms / 1e6, "Gcell/s"))
    }

    fn inspect(&mut self, _bench: &mut Bench) -> Result<Measured> {
        let mut trace = None;
        let mut keep = |round: TimedRound| trace = Some(round);
        self.step(4, Some(&mut keep))?;
        let got = self.sim.fetch()?;
        let want = reference::run(&self.first, Rule::LIFE, self.stepped);
        let all = tr!(
            "after {stepped} generations the first of {} lattices matches the reference",
            self.setup.instances,
            stepped = self.stepped
        );
        let mut measured = Measured::default().check(all, got[0] == want);
        measured.trace = trace;
        Ok(measured)
    }

    fn has_own_engine(&self) -> bool {
        true
    }
}

/// What [`InKernel`] says of one generation of its launches.
pub(super) const GENERATION: &str = mark!("a generation");

/// Lattices that each stay in one block for many generations.
#[derive(Clone, Copy, Debug)]
pub struct InKernel {
    /// How many lattices.
    pub instances: u32,
    /// Whether each has a stream, or all share one.
    pub streams: bool,
    /// Their width and height.
    pub side: u64,
    /// The kernel's name: one that iterates by itself.
    pub kernel: &'static str,
    /// Generations, in one launch where the device sets no limit to its time; a tenth of them on
    /// the CPU.
    pub generations: u32,
}

/// Lattices on an engine of their own, and launches of many generations.
struct Launches {
    launch: InKernel,
    bench: Bench,
    bench_lattices: BenchLattices,
    /// Generations of a sample.
    generations: u32,
    /// Generations of a launch.
    most: u32,
}

impl Launches {
    fn new(launch: InKernel, bench: &Bench) -> Result<Launches> {
        let mut bench = bench.another()?;
        let kernel = kernel(launch.kernel);
        assert_eq!(kernel.iteration, Iteration::InKernel, "{}", kernel.name);
        let size = square(launch.side);
        let mut bench_lattices =
            BenchLattices::new(&mut bench, launch.instances, size, kernel, launch.streams)?;
        let generations = bench.pick(launch.generations, launch.generations / 10);
        // The module is loaded, and the clock of a GPU that was idle goes up.
        let warm = 1000.min(generations);
        let program = bench_lattices.advance(warm).with_spans();
        let first = bench.run(&program)?.device_ms().max(1e-3);
        let most = if bench.info().kernel_time_limit {
            ((500.0 / first * f64::from(warm)) as u32).max(1)
        } else {
            u32::MAX
        };
        Ok(Launches {
            launch,
            bench,
            bench_lattices,
            generations,
            most,
        })
    }
}

impl Experiment for Launches {
    fn sample(&mut self, _bench: &mut Bench) -> Result<Measured> {
        let (mut left, mut ms) = (self.generations, 0.0);
        while left > 0 {
            let now = left.min(self.most);
            let program = self.bench_lattices.advance(now).with_spans();
            ms += self.bench.run(&program)?.device_ms();
            left -= now;
        }
        let (all, generations) = (
            f64::from(self.launch.instances),
            f64::from(self.generations),
        );
        Ok(Measured::of_time(mark!("on the device"), ms)
            .figure(GENERATION, ms * 1e6 / generations, "ns")
            .figure(
                mark!("generations per second"),
                all * generations / ms / 1e3,
                "M/s",
            ))
    }

    fn inspect(&mut self, _bench: &mut Bench) -> Result<Measured> {
        let wrong = self.bench_lattices.wrong(&mut self.bench)?;
        let measured = Measured::default().check(
            tr!(
                "the cells after {} generations",
                self.bench_lattices.stepped
            ),
            wrong == 0,
        );
        let launches = self.generations.div_ceil(self.most);
        Ok(if self.bench.is_cpu() {
            measured.note(tr!("on the CPU engine, a tenth of these generations"))
        } else if launches > 1 {
            measured.note(tr!(
                "in {launches} launches: the system ends kernels that run for seconds, where this \
                 device drives a display"
            ))
        } else {
            measured
        })
    }

    fn has_own_engine(&self) -> bool {
        true
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
            program.push(stream, LatticeOp::Upload(words).on(lattice.as_range()));
            if kernel.layout != Layout::Bits {
                let to = kernel.layout;
                program.push(stream, LatticeOp::Unpack(to).on(lattice.as_range()));
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

    /// Lattice i steps this many generations.
    pub(super) fn advance_one(&self, lattice: u32, generations: u32) -> Op {
        LatticeOp::Advance {
            kernel: self.kernel,
            rule: Rule::LIFE,
            generations,
            block: self.kernel.block(),
        }
        .on(lattice..lattice + 1)
    }

    /// A program in which every lattice steps this many generations, which are counted.
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
                program.push(stream, LatticeOp::Pack.on(lattice.as_range()));
            }
            let (slot, what) = (Self::WHOLE, Transfer::Bits);
            program.push(
                stream,
                LatticeOp::Download { slot, what }.on(lattice.as_range()),
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
