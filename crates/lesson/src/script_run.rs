//! A part that is a script: everything in place, run again and again, and checked.

use std::time::Instant;

use engine::{BufferId, DeviceId, Engine, EventId, Feature, IssuerId, Program, StreamId};
use lang::{mark, tr};
use life::{Lattice, SplitMix64};
use script::{Array, HostWork, Numbers, OtherDevice, Recipe, Stage};
use session::trace::TimedRound;
use session::{DeviceChoice, median};

use crate::bench::{Bench, DEVICE, LessonError, Ran, Result, ms_since};
use crate::data;
use crate::file::{Part, Text, TimeOf};
use crate::lattices::BenchLattices;
use crate::outcome::{Experiment, LessonImage, Measured};

/// A script on an engine of its own.
pub(crate) struct ScriptRun {
    bench: Bench,
    recipe: Recipe,
    lattices: Option<BenchLattices>,
    /// Which time is compared, by what it is divided, and what it is of.
    time: (TimeOf, f64, Text),
    /// How often everything was put in place: numbers are others each time.
    starts: u64,
}

impl ScriptRun {
    /// Puts a part in place on the device of a bench, and runs it once for nothing: modules are loaded, and
    /// all memory is touched, before the clock runs.
    pub(crate) fn new(part: &Part, timed: Text, bench: &Bench) -> Result<ScriptRun> {
        let mut run = ScriptRun::on(bench.another(), recipe_of(part, bench)?)?;
        run.time = (part.time, part.divide, timed);
        run.start()?;
        run.measure(false)?;
        Ok(run)
    }

    /// The same, once the number is found with which the second op lasts as long as the first: `TIMES`, for
    /// this script and those of later parts.
    pub(crate) fn balanced(part: &Part, bench: &mut Bench) -> Result<ScriptRun> {
        let mut run = ScriptRun::new(part, part.title, bench)?;
        // A launch has a price of its own besides, so the first guess is not the last.
        for _ in 0..5 {
            let runs: Vec<Ran> = (0..5).map(|_| run.measure(true)).collect::<Result<_>>()?;
            let length = |step| median(runs.iter().map(|ran| ran.step_ms(step)));
            let both = length(0).zip(length(1));
            let ratio = both.map_or(1.0, |(first, second)| first / second.max(1e-6));
            let times = bench.times.unwrap_or(1.0) * ratio;
            bench.times = Some(times.round().clamp(1.0, 1000.0));
            run.recipe = recipe_of(part, bench)?;
        }
        run.bench.times = bench.times;
        Ok(run)
    }

    /// Makes what a recipe wants.
    fn on(mut bench: Bench, recipe: Recipe) -> Result<ScriptRun> {
        if recipe.halo.is_some() || recipe.devices.contains(&OtherDevice::Gpu) {
            if !bench.is_cpu() {
                bench.choice = DeviceChoice::Cuda;
            }
            bench.engine()?.check_feature(DEVICE, Feature::PeerCopies)?;
        }
        if let Some(halo) = recipe.halo {
            bench.split(halo)?;
        }
        for device in &recipe.devices {
            // The second GPU is a device of the engine already. On the CPU engine a context stands in.
            if *device == OtherDevice::Context || bench.is_cpu() {
                bench.engine()?.create_context(DEVICE)?;
            }
        }
        for &(device, bytes, location) in &recipe.arrays {
            bench.engine()?.create_buffer(device, bytes, location)?;
        }
        for &(device, spec) in &recipe.streams {
            bench.engine()?.create_stream(device, spec)?;
        }
        for _ in 0..recipe.events {
            bench.engine()?.create_event(DEVICE)?;
        }
        let lattices = match recipe.lattices {
            Some((count, size, kernel)) => {
                Some(BenchLattices::new(&mut bench, count, size, kernel)?)
            }
            None => None,
        };
        Ok(ScriptRun {
            bench,
            recipe,
            lattices,
            time: (TimeOf::Wall, 1.0, ""),
            starts: 0,
        })
    }

    /// Puts everything in place, with new numbers.
    fn start(&mut self) -> Result<()> {
        self.starts += 1;
        if let Some(lattices) = &self.lattices {
            lattices.restart(&mut self.bench)?;
        }
        self.perform(Recipe::SETUP, false, &mut Measured::default())?;
        Ok(())
    }

    /// Does once what is measured.
    fn measure(&mut self, timed: bool) -> Result<Ran> {
        let nothing = &mut Measured::default();
        self.perform(Recipe::BEFORE, false, nothing)?;
        self.perform(Recipe::MEASURED, timed, nothing)
    }

    /// Does everything of a phase, one after the other.
    fn perform(&mut self, phase: usize, timed: bool, measured: &mut Measured) -> Result<Ran> {
        let mut all = Ran::default();
        let mut steps = 0;
        let as_graph = self.recipe.as_graph && phase == Recipe::MEASURED;
        for stage in 0..self.recipe.phases[phase].len() {
            match &mut self.recipe.phases[phase][stage] {
                Stage::Run(program) => {
                    program.timed = timed;
                    let ran = if as_graph {
                        self.bench.run_as_graph(program)?
                    } else {
                        self.bench.run(program)?
                    };
                    all.append(ran, steps);
                    steps += program.steps.len();
                }
                &mut Stage::Host(work) => {
                    let began = Instant::now();
                    self.host(work, measured)?;
                    all.host_ms += ms_since(began);
                }
            }
        }
        Ok(all)
    }

    /// All that is measured, as one program.
    fn measured_program(&self) -> Program {
        let mut all = Program::default();
        for stage in &self.recipe.phases[Recipe::MEASURED] {
            if let Stage::Run(program) = stage {
                all.steps.extend(program.steps.iter().cloned());
            }
        }
        all
    }

    fn host(&mut self, work: HostWork, measured: &mut Measured) -> Result<()> {
        let words = |array: Array| array.bytes / 4;
        match work {
            HostWork::Fill(array, numbers) => {
                let seed = self.seed_of(array);
                self.access(array, &mut |words| fill(words, numbers, seed))?;
            }
            HostWork::Invert(array) => {
                self.access(array, &mut |words| {
                    words.iter_mut().for_each(|word| *word = !*word)
                })?;
            }
            HostWork::Read(array) => {
                let mut sum = 0_u32;
                self.access(array, &mut |words| {
                    sum = words.iter().fold(sum, |sum, word| sum.wrapping_add(*word));
                })?;
                std::hint::black_box(sum);
            }
            HostWork::PeerAccess(allowed) => {
                let engine = self.bench.engine()?;
                let peer = DeviceId(1);
                engine.set_peer_access(DEVICE, peer, allowed)?;
                engine.set_peer_access(peer, DEVICE, allowed)?;
            }
            HostWork::Same(a, b) => {
                let what = tr!(
                    "{words} words are the same in both arrays",
                    words = words(a)
                );
                let same = self.words(a)? == self.words(b)?;
                measured.check(what, same);
            }
            HostWork::All(array, value) => {
                let what = tr!("every word of the array is {value}");
                let all = self.words(array)?.iter().all(|word| *word == value);
                measured.check(what, all);
            }
            HostWork::Scaled(array) => {
                let seed = self.seed_of(array);
                let mut right = false;
                self.access(array, &mut |words| right = data::is_scaled(words, seed))?;
                let what = tr!(
                    "the array returned unchanged, except for the value that overflows by design"
                );
                measured.check(what, right);
            }
            HostWork::Right(array) => {
                let what = tr!(
                    "{words} words are as the CPU computes them, one call after another",
                    words = words(array)
                );
                let right = self.on_cpu()?.words(array)? == self.words(array)?;
                measured.check(what, right);
            }
            HostWork::Wrong(a, b) => {
                let pairs = self.words(a)?.into_iter().zip(self.words(b)?);
                let wrong = pairs.filter(|(a, b)| a != b).count();
                measured.add(mark!("wrong values"), wrong as f64);
            }
            HostWork::Picture(array, right, width) => {
                let (got, want) = (self.words(array)?, self.words(right)?);
                let color = |at: usize| match (got[at] == want[at], want[at] != 0) {
                    (true, true) => [236, 232, 214],
                    (true, false) => [20, 22, 40],
                    (false, true) => [230, 60, 50],
                    (false, false) => [150, 30, 30],
                };
                measured
                    .pictures
                    .push(LessonImage::painted(width, got.len(), color));
            }
            HostWork::Events => self.ask_events(measured)?,
            HostWork::Contexts => self.time_contexts(measured)?,
            HostWork::Occupancy => self.show_occupancy(measured)?,
            HostWork::Gray(array, width) => {
                let bytes: Vec<u8> = self
                    .words(array)?
                    .into_iter()
                    .flat_map(u32::to_le_bytes)
                    .collect();
                let color = |at: usize| [bytes[at]; 3];
                measured
                    .pictures
                    .push(LessonImage::painted(width, bytes.len(), color));
            }
        }
        Ok(())
    }

    /// Asks all events while what is measured runs, and once it is over.
    fn ask_events(&mut self, measured: &mut Measured) -> Result<()> {
        let (program, events) = (self.measured_program(), self.recipe.events);
        let ask = |engine: &mut dyn Engine| -> Result<Vec<bool>, _> {
            (0..events)
                .map(|event| engine.query(EventId(event)))
                .collect()
        };
        let (mut called_ms, mut at_once) = (0.0, Vec::new());
        self.bench.run_by(&mut |engine| {
            let began = Instant::now();
            let run = engine.submit(&program)?;
            called_ms = ms_since(began);
            at_once = ask(engine)?;
            Ok(run)
        })?;
        let at_last = ask(self.bench.engine()?)?;
        let count = |fired: &[bool]| fired.iter().filter(|fired| **fired).count() as f64;
        measured.figure(mark!("events that had fired"), count(&at_once), "");
        let after = mark!("events that had fired after waiting");
        measured.figure(after, count(&at_last), "");
        measured.time(mark!("all measured calls together"), called_ms);
        let all = !at_last.contains(&false);
        measured.check(tr!("once waited for, it has started and ended"), all);
        let in_order = at_once.is_sorted_by(|before, behind| before >= behind);
        let what = tr!("no event fires before the one in front of it");
        measured.check(what, in_order);
        Ok(())
    }

    /// Everything anew, with a clock: its contexts have loaded nothing yet.
    fn time_contexts(&mut self, measured: &mut Measured) -> Result<()> {
        let began = Instant::now();
        self.bench.engine()?.create_context(DEVICE)?;
        measured.time(mark!("making it"), ms_since(began));
        let mut run = ScriptRun::on(self.bench.another(), self.recipe.clone())?;
        run.start()?;
        let first = run.measure(false)?.wall_ms;
        measured.time(mark!("its first work: copy, launch, copy"), first);
        let began = Instant::now();
        drop(run);
        let what = mark!("destroying it, and the engine with it");
        measured.time(what, ms_since(began));
        Ok(())
    }

    /// Which part of the threads that a multiprocessor can hold are of the launch that is measured.
    fn show_occupancy(&mut self, measured: &mut Measured) -> Result<()> {
        for step in self.measured_program().steps {
            if let Some(found) = self.bench.engine()?.occupancy(DEVICE, &step.op)? {
                let threads = f64::from(found.blocks_per_sm * found.block_threads);
                let percent = 100.0 * threads / f64::from(found.max_threads_per_sm);
                let blocks = mark!("resident blocks per SM");
                measured.figure(blocks, found.blocks_per_sm.into(), "");
                measured.figure(mark!("occupancy"), percent, "%");
                break;
            }
        }
        Ok(())
    }

    /// The same from the beginning on the CPU, one call after another.
    fn on_cpu(&self) -> Result<ScriptRun> {
        let mut recipe = self.recipe.clone();
        let of_device = |stream: StreamId| {
            let device = self.recipe.streams[stream.0 as usize].0;
            let first = self.recipe.streams.iter().position(|it| it.0 == device);
            first.map_or(stream, |first| StreamId(first as u32))
        };
        for stage in recipe.phases.iter_mut().flatten() {
            if let Stage::Run(program) = stage {
                for step in &mut program.steps {
                    (step.issuer, step.stream) = (IssuerId(0), of_device(step.stream));
                }
            }
        }
        let mut run = ScriptRun::on(Bench::open(DeviceChoice::Cpu)?, recipe)?;
        run.starts = self.starts - 1;
        run.start()?;
        run.measure(false)?;
        // What is looked at may have been copied to the host only then.
        run.recipe.phases[Recipe::CHECK].retain(|stage| matches!(stage, Stage::Run(_)));
        run.perform(Recipe::CHECK, false, &mut Measured::default())?;
        Ok(run)
    }

    fn cells(&mut self) -> Result<Option<Vec<Lattice>>> {
        let lattices = self.lattices.as_ref();
        lattices.map(|it| it.fetch(&mut self.bench)).transpose()
    }

    /// Hands over the words of an array.
    fn access(&mut self, array: Array, visit: &mut dyn FnMut(&mut [u32])) -> Result<()> {
        let first = array.start.offset / 4;
        let range = first..first + array.bytes / 4;
        let engine = self.bench.engine()?;
        engine.access(array.start.buffer, &mut |words| {
            visit(&mut words[range.clone()])
        })?;
        Ok(())
    }

    fn words(&mut self, array: Array) -> Result<Vec<u32>> {
        let mut copied = Vec::new();
        self.access(array, &mut |words| copied = words.to_vec())?;
        Ok(copied)
    }

    fn seed_of(&self, array: Array) -> u64 {
        let BufferId(buffer) = array.start.buffer;
        self.starts << 48 | u64::from(buffer) << 32 | array.start.offset as u64
    }
}

impl Experiment for ScriptRun {
    fn sample(&mut self) -> Result<Measured> {
        let (time, divide, label) = self.time;
        if time != TimeOf::Wall {
            let round = self.round()?;
            let ms = round.and_then(|it| time.in_round(&it)).unwrap_or_default();
            return Ok(Measured::of_time(label, ms / divide));
        }
        let ran = self.measure(false)?;
        let mut measured = Measured::of_time(label, (ran.wall_ms + ran.host_ms) / divide);
        if ran.host_ms > 0.0 {
            measured.time(mark!("the host's own work"), ran.host_ms / divide);
        }
        Ok(measured)
    }

    fn round(&mut self) -> Result<Option<TimedRound>> {
        let ran = self.measure(true)?;
        let program = self.measured_program();
        Ok(Some(self.bench.timed_round(&self.recipe, &program, ran)))
    }

    fn check(&mut self) -> Result<Measured> {
        let mut measured = Measured::default();
        if let Some(times) = self.bench.times {
            let what = mark!("doubled and halved, times");
            measured.figure(what, times, "");
        }
        if self.recipe.halo.is_some() {
            let part = self.round()?.and_then(|it| it.exchange_share());
            let percent = 100.0 * part.unwrap_or_default();
            measured.figure(mark!("exchange, share of the time"), percent, "%");
        }
        self.start()?;
        self.measure(false)?;
        if let Some(cells) = self.cells()? {
            let what = tr!("the cells are as the CPU computes them, one call after another");
            let right = self.on_cpu()?.cells()? == Some(cells);
            measured.check(what, right);
        }
        self.perform(Recipe::CHECK, false, &mut measured)?;
        Ok(measured)
    }
}

/// What a part's script wants of the engine of a bench.
fn recipe_of(part: &Part, bench: &Bench) -> Result<Recipe> {
    let recipe = part.recipe(
        bench.is_cpu(),
        bench.info.sm_count,
        bench.times.unwrap_or(1.0),
    );
    recipe.map_err(|error| LessonError::Script(error.message))
}

/// Fills an array.
fn fill(words: &mut [u32], numbers: Numbers, seed: u64) {
    match numbers {
        Numbers::Floats => data::fill_floats(words, seed),
        Numbers::Zeros => words.fill(0),
        Numbers::Cells => {
            let mut random = SplitMix64(seed);
            words
                .iter_mut()
                .for_each(|word| *word = u32::from(random.below(10) < 3));
        }
        Numbers::Pixels => {
            for (word, number) in words.iter_mut().zip(seed as u32..) {
                *word = number.wrapping_mul(0x9e37_79b1) & 0x00ff_ffff;
            }
        }
        Numbers::Points => {
            let side = (words.len() / 2).isqrt().max(2);
            let along = |i: usize| (-2.0 + 4.0 * i as f32 / (side - 1) as f32).to_bits();
            for (i, point) in words.chunks_exact_mut(2).enumerate() {
                (point[0], point[1]) = (along(i % side), along(i / side));
            }
        }
    }
}
