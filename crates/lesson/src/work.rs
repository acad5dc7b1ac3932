//! What a part does: rounds of lattices, long launches, or a program of its own.

use std::sync::Arc;
use std::time::Instant;

use super::bench::{DEVICE, Ran, call, copy_between, ms_since};
use super::{Bench, Measured, Result, data};
use engine::buffer_kernels::SCALE;
use engine::kernels;
use engine::{
    Argument, BufferId, BufferOffset, EngineError, Kernel, LatticeOp, Layout, Op, Program, Slot,
    Slots, SlotsSpec, StreamId, Transfer,
};
use lang::{mark, tr};
use life::{Lattice, Rule, Size, Soup, reference};
use session::instances::{Sim, open_engine, read_lattice, start_lattice, starts};
use session::trace::TimedRound;
use session::{PicturePlan, Setup, Share, Start, Switches, TransferChoice};

/// The soups of the lessons.
pub(crate) const SEED: u64 = 1;
/// How many of their cells are alive.
pub(crate) const DENSITY: f64 = 0.3;

/// What a part does.
#[derive(Debug)]
pub enum PartWork {
    /// Rounds, as the window does them, under some switches.
    Rounds(Rounds),
    /// The same for 1, 2, 4 … instances, up to this number or to a session's ([`SweepSetup`]).
    Sweep(Rounds),
    /// Programs of its own.
    Programs(Prepare),
    /// The same on an engine that no other part uses.
    Alone(Prepare),
    /// What is measured once, and compared with nothing.
    Once(fn(&mut Bench) -> Result<Measured>),
}

/// Puts in place what a part needs.
type Prepare = fn(&mut Bench) -> Result<Programs>;

/// A part with everything in place, which can be measured again and again.
pub(crate) trait Experiment {
    /// Measures once: the time that is compared, and figures that follow from the same run.
    fn sample(&mut self, bench: &mut Bench) -> Result<Measured>;

    /// What needs no repetition: checks, pictures, a timed round and figures of it.
    fn inspect(&mut self, bench: &mut Bench) -> Result<Measured>;
}

impl PartWork {
    /// Puts in place what the part needs, and warms it up.
    pub(crate) fn prepare(&self, bench: &mut Bench) -> Result<Box<dyn Experiment>> {
        Ok(match self {
            PartWork::Rounds(rounds) | PartWork::Sweep(rounds) => {
                Box::new(RoundsRun::new(rounds, bench)?)
            }
            PartWork::Programs(prepare) => Box::new(warm(*prepare, bench)?),
            PartWork::Alone(prepare) => {
                let mut own = bench.another();
                let programs = warm(*prepare, &mut own)?;
                Box::new(Alone(own, programs))
            }
            &PartWork::Once(measure) => {
                Box::new(Programs::measured_by(move |bench, _| measure(bench)))
            }
        })
    }

    /// Whether it runs on an engine that no other part uses, so that it can be prepared again without
    /// leaving anything behind.
    pub(crate) fn has_own_engine(&self) -> bool {
        !matches!(self, PartWork::Programs(_) | PartWork::Once(_))
    }
}

/// What is done before a run of a program, of which so many were before it.
type Before = dyn FnMut(&mut Bench, usize) -> Result<()>;

/// What is made of runs.
type Figures = dyn FnMut(&mut Bench, &[Ran]) -> Result<Measured>;

/// What is checked after a timed run and so many others.
type Check = dyn FnMut(&mut Bench, &Ran, usize) -> Result<Measured>;

/// Programs that run one after the other, what is made of their times, and what is checked.
pub struct Programs {
    pub(crate) programs: Vec<Program>,
    /// How often all of them run in a sample.
    pub(crate) repeats: usize,
    /// What is done before each run of a program, which are numbered from 0.
    pub(crate) before: Box<Before>,
    /// The figures of the runs of a sample.
    pub(crate) figures: Box<Figures>,
    /// Checks, pictures, and figures of a timed run, after all programs have run so many times.
    pub(crate) check: Box<Check>,
    /// Whether all programs run with a span for every step before the check, to show that round.
    pub(crate) shows_round: bool,
    /// Whether they have run before.
    pub(crate) is_warm: bool,
    /// How often a program has run.
    pub(crate) runs: usize,
}

impl Programs {
    /// A program that is run once in a sample, and is shown.
    pub(crate) fn new(
        program: Program,
        figures: impl Fn(&[Ran]) -> Measured + 'static,
        check: impl FnMut(&mut Bench, &Ran, usize) -> Result<Measured> + 'static,
    ) -> Programs {
        Programs {
            programs: vec![program],
            repeats: 1,
            before: Box::new(|_, _| Ok(())),
            figures: Box::new(move |_, runs| Ok(figures(runs))),
            check: Box::new(check),
            shows_round: true,
            is_warm: false,
            runs: 0,
        }
    }

    /// A program that scales an array on the device, from and to this one on the host.
    pub(crate) fn scaling(
        program: Program,
        array: BufferId,
        figures: impl Fn(&[Ran]) -> Measured + 'static,
    ) -> Programs {
        let check = move |bench: &mut Bench, _: &Ran, _| {
            let right = bench.is_scaled(array, SEED)?;
            Ok(Measured::default().check(
                tr!("the array returned unchanged, except for the value that overflows by design"),
                right,
            ))
        };
        Programs {
            before: Box::new(move |bench, _| bench.plant(array, SEED)),
            ..Programs::new(program, figures, check)
        }
    }

    /// What is measured in another way.
    pub(crate) fn measured_by(
        figures: impl FnMut(&mut Bench, &[Ran]) -> Result<Measured> + 'static,
    ) -> Programs {
        let no_figures = |_: &[Ran]| Measured::default();
        let no_checks = |_: &mut Bench, _: &Ran, _| Ok(Measured::default());
        Programs {
            programs: Vec::new(),
            figures: Box::new(figures),
            shows_round: false,
            ..Programs::new(Program::default(), no_figures, no_checks)
        }
    }

    fn run(&mut self, bench: &mut Bench, at: usize) -> Result<Ran> {
        let began = Instant::now();
        (self.before)(bench, self.runs)?;
        let before_ms = ms_since(began);
        self.runs += 1;
        let mut ran = bench.run(&self.programs[at])?;
        ran.before_ms = before_ms;
        Ok(ran)
    }
}

/// The copy of an array up, its launch of `grid` blocks of `block` threads, which multiply by 2 and divide
/// by 2 so often, and its copy down.
pub(crate) fn scaled(
    [host, device]: [BufferOffset; 2],
    bytes: usize,
    times: i32,
    (grid, block): (u32, u32),
) -> [Op; 3] {
    let [count, times] = [(bytes / 4) as i32, times].map(Argument::I32);
    let arguments = [Argument::Buffer(device), count, times];
    [
        copy_between(host, device, bytes),
        call(&SCALE, grid, block, arguments),
        copy_between(device, host, bytes),
    ]
}

/// The figure of programs of which the time until all is done counts.
pub(crate) fn wall(label: &'static str) -> impl Fn(&[Ran]) -> Measured {
    move |runs| Measured::of_time(label, runs[0].wall_ms)
}

impl Experiment for Programs {
    fn sample(&mut self, bench: &mut Bench) -> Result<Measured> {
        let count = self.programs.len();
        let all = (0..self.repeats * count).map(|run| run % count);
        let runs: Vec<Ran> = all.map(|at| self.run(bench, at)).collect::<Result<_>>()?;
        (self.figures)(bench, &runs)
    }

    fn inspect(&mut self, bench: &mut Bench) -> Result<Measured> {
        let (mut round, mut ran) = (Program::default(), Ran::default());
        if self.shows_round {
            for at in 0..self.programs.len() {
                let is_timed = std::mem::replace(&mut self.programs[at].timed, true);
                let timed = self.run(bench, at);
                self.programs[at].timed = is_timed;
                ran.append(timed?, round.steps.len());
                round.steps.extend(self.programs[at].steps.iter().cloned());
            }
        }
        let rounds = self.runs / self.programs.len().max(1);
        let mut measured = (self.check)(bench, &ran, rounds)?;
        if self.shows_round {
            measured.trace = Some(bench.timed_round(&round, ran));
        }
        Ok(measured)
    }
}

/// Puts programs in place, and measures them once for nothing: modules are loaded, and all memory is
/// touched, before the clock runs.
fn warm(prepare: Prepare, bench: &mut Bench) -> Result<Programs> {
    let mut programs = prepare(bench)?;
    if !programs.is_warm {
        programs.sample(bench)?;
    }
    Ok(programs)
}

/// Programs on an engine of their own.
struct Alone(Bench, Programs);

impl Experiment for Alone {
    fn sample(&mut self, _: &mut Bench) -> Result<Measured> {
        self.1.sample(&mut self.0)
    }

    fn inspect(&mut self, _: &mut Bench) -> Result<Measured> {
        self.1.inspect(&mut self.0)
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
    pub(crate) fn of(rounds: &Rounds) -> SweepSetup {
        SweepSetup {
            instances: rounds.instances,
            size: square(rounds.side),
            kernel: kernel(rounds.kernel),
            generations_per_round: rounds.generations_per_round,
        }
    }
}

/// Rounds on an engine of their own.
struct RoundsRun {
    setup: Setup,
    sim: Sim,
    /// What its rounds step.
    share: Share,
    /// Rounds of a sample.
    in_a_row: u32,
    stepped: u64,
}

impl RoundsRun {
    /// With the lattices of a sweep, if there is one.
    fn new(rounds: &Rounds, bench: &Bench) -> Result<RoundsRun> {
        let of = bench.sweep.unwrap_or_else(|| SweepSetup::of(rounds));
        if let Some(why) = rounds.switches.incompatibility(of.kernel) {
            return Err(EngineError::Unsupported(why.into()).into());
        }
        let setup = Setup {
            start: Start::soup(DENSITY, SEED),
            generations_per_round: of.generations_per_round,
            ..Setup::new(of.instances, of.size, of.kernel, bench.choice)
        }
        .with_switches(rounds.switches);
        let mut sim = Sim::new(open_engine(bench.choice)?, &setup, 1)?;
        sim.set_lattices(starts(&setup, 0..setup.instances)?)?;
        let picture = PicturePlan {
            transfer: match setup.setting.switches.transfer {
                TransferChoice::Cells => Transfer::Cells,
                _ => Transfer::Bits,
            },
            ..PicturePlan::BITS
        };
        let share = sim.all(&setup.setting, Some(picture));
        let mut run = RoundsRun {
            setup,
            sim,
            share,
            in_a_row: bench.pick(rounds.rounds, (rounds.rounds / 5).max(1)),
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
        let first = start_lattice(&self.setup, 0)?;
        let want = reference::run(&first, Rule::LIFE, self.stepped);
        let all = tr!(
            "after {stepped} generations the first of {} lattices matches the reference",
            self.setup.instances,
            stepped = self.stepped
        );
        let mut measured = Measured::default().check(all, got[0] == want);
        measured.trace = trace;
        Ok(measured)
    }
}

/// What is said of one generation.
pub(crate) const GENERATION: &str = mark!("a generation");

/// Lattices on a bench's engine, for parts that issue their ops themselves.
pub(crate) struct BenchLattices {
    /// The stream of each lattice.
    pub(crate) streams: Vec<StreamId>,
    pub(crate) kernel: &'static Kernel,
    size: Size,
    slots: Arc<dyn Slots>,
    /// The slot for a lattice's bits.
    whole: Slot,
}

impl BenchLattices {
    /// The slot in page-locked memory, for whole lattices as cells.
    pub(crate) const PINNED: Slot = Slot(0);
    /// The one in pageable memory.
    pub(crate) const PAGEABLE: Slot = Slot(1);

    /// So many soups on an engine with nothing on it, which take turns in these streams; with one slot or
    /// none in each kind of memory for their cells.
    pub(crate) fn new(
        bench: &mut Bench,
        count: usize,
        size: Size,
        kernel: &'static Kernel,
        streams: &[StreamId],
        pictures: u8,
    ) -> Result<BenchLattices> {
        let streams: Vec<_> = streams.iter().copied().cycle().take(count).collect();
        let engine = bench.engine()?;
        engine.create_lattices(DEVICE, count, size)?;
        engine.reserve(kernel.layout)?;
        let slots = engine.allocate_slots(SlotsSpec {
            pinned: pictures,
            pageable: pictures,
            picture_words: size.cells() as usize,
            snapshots: 1,
            measures: 0,
        })?;
        let lattices = BenchLattices {
            streams,
            kernel,
            size,
            slots,
            whole: Slot(2 * pictures),
        };
        lattices.restart(bench)?;
        Ok(lattices)
    }

    /// Every lattice is its soup again.
    pub(crate) fn restart(&self, bench: &mut Bench) -> Result<()> {
        let mut program = Program::default();
        for (i, &stream) in (0..).zip(&self.streams) {
            program.push(stream, LatticeOp::Soup(start(i)).on(i..i + 1));
            if self.kernel.layout != Layout::Bits {
                program.push(stream, LatticeOp::Unpack(self.kernel.layout).on(i..i + 1));
            }
        }
        bench.run(&program)?;
        Ok(())
    }

    /// Lattice i steps this many generations in blocks of this shape.
    pub(crate) fn advance_one(&self, i: u32, generations: u32, block: (u32, u32)) -> Op {
        LatticeOp::Advance {
            kernel: self.kernel,
            rule: Rule::LIFE,
            generations,
            block,
        }
        .on(i..i + 1)
    }

    /// Every lattice steps this many generations.
    pub(crate) fn advance(&self, program: &mut Program, generations: u32) {
        for (i, &stream) in (0..).zip(&self.streams) {
            program.push(
                stream,
                self.advance_one(i, generations, self.kernel.block()),
            );
        }
    }

    /// What every lattice is now.
    pub(crate) fn fetch(&self, bench: &mut Bench) -> Result<Vec<Lattice>> {
        let mut program = Program::default();
        for (i, &stream) in (0..).zip(&self.streams) {
            if self.kernel.layout != Layout::Bits {
                program.push(stream, LatticeOp::Pack.on(i..i + 1));
            }
            program.push(stream, Op::download(i..i + 1, self.whole, Transfer::Bits));
        }
        bench.run(&program)?;
        let read = |i| read_lattice(&*self.slots, i, self.whole, self.size);
        Ok((0..self.streams.len())
            .map(read)
            .collect::<Result<_, _>>()?)
    }

    /// How many lattices are not what the reference has after so many generations.
    pub(crate) fn wrong(&self, bench: &mut Bench, stepped: u64) -> Result<usize> {
        let got = (0..).zip(self.fetch(bench)?);
        let is_wrong = |(i, got): &(u32, Lattice)| {
            *got != data::after(&start(*i).lattice(self.size), Rule::LIFE, stepped)
        };
        Ok(got.filter(is_wrong).count())
    }
}

/// What a lattice of a [`BenchLattices`] begins with.
fn start(i: u32) -> Soup {
    Soup {
        density: DENSITY,
        seed: SEED,
        instance: i.into(),
    }
}

/// The kernel of this name, which a lesson knows to be there.
pub(crate) fn kernel(name: &str) -> &'static Kernel {
    kernels::find(name).unwrap_or_else(|| panic!("there is no kernel '{name}'"))
}

/// A square lattice.
pub(crate) fn square(side: u64) -> Size {
    Size::new(side, side).expect("lessons have lattices that there can be")
}
