//! The ladder: every rung with the same work, compared with the rung before, with the first one, and
//! with the device's limit. Whoever asks has the ladder after every rung: one that brings the driver down
//! loses no figures of those before it.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use anyhow::{Result, bail, ensure};

use super::measure::{self, RUN, spread};
use engine::buffer_kernels::{LOP3_PER_ITERATION, LOP3_RATE};
use engine::kernels::{Iteration, KERNELS, Kernel, Launch};
use engine::{
    Argument, BufferLaunch, BufferLocation, BufferOffset, BufferOp, DeviceId, DeviceInfo, Nanos,
    Program, StreamSpec,
};
use lesson::Bench;
use life::{Lattice, Rule, Size};
use session::instances::{Event, Sim, open_engine};
use session::{DeviceChoice, Request, Setup, Share, Start, Streams, Switches};
use ui::ladder::{DeviceLimits, Ladder, LeftOut, Rate, Workload};

/// For each work its cells after the generations that every rung steps first, as a number, and the rung that
/// stepped them.
type Cells = Vec<(Workload, u64, &'static str)>;

/// Measures every rung; `so_far` is shown the ladder whenever a rung has been measured.
pub(super) fn measure(
    device: DeviceChoice,
    small: bool,
    so_far: &mut dyn FnMut(&Ladder, &Kernel) -> Result<()>,
) -> Result<()> {
    let engine = open_engine(device)?;
    let (name, info) = (engine.name(), engine.devices()[0].clone());
    drop(engine);
    // The same for every measurement.
    let device = match device {
        _ if name == "cpu" => DeviceChoice::Cpu,
        DeviceChoice::CudaOrdinal(_) => device,
        _ => DeviceChoice::CudaOrdinal(0),
    };
    // The CPU's version of the probe is written for clarity, not for speed.
    let rate = lop3_rate(device, small);
    let failed = rate.as_ref().err();
    let failed = failed.map(|error| left_out(LOP3_RATE.name, None, error));
    let mut ladder = Ladder {
        engine: name.into(),
        small,
        commit: env!("LIFESTREAMS_COMMIT").into(),
        driver: info.driver.clone(),
        cache: info.cache,
        left_out: failed.into_iter().collect(),
        limits: DeviceLimits {
            lop3_per_second: rate.unwrap_or(None),
        },
        works: works(name == "cuda", small),
        rates: Vec::new(),
        sources: BTreeMap::new(),
    };
    let mut cells = Cells::new();
    for kernel in &KERNELS {
        if let Err(error) = measure_rung(kernel, device, &info, &mut ladder, &mut cells) {
            ladder.left_out.push(left_out(kernel.name, None, &error));
        }
        so_far(&ladder, kernel)?;
    }
    Ok(())
}

/// Runs of each measurement.
const RUNS: usize = 3;

/// The longest that a rung's rounds with one work may be expected to take.
const MAX_SECONDS: f64 = 60.0;

/// The part of a device's memory that lattices may fill.
const MAX_MEMORY: f64 = 0.9;

/// A launch with all generations in it is made as long as this, in seconds.
const LONG_LAUNCH: f64 = 0.02;

/// A graph is made as long as this, in seconds, so that its own launch does not count, if it then has
/// no more than [`MAX_LAUNCHES`].
const LONG_GRAPH: f64 = 0.002;

/// The most launches of a graph, in which a launch for all lattices counts once for each of them. With 750
/// of these in a graph, `multistep` made 12.4 Tcell/s on 1056 × 128² of one H200; with 6, 14.5 on another.
const MAX_LAUNCHES: u64 = 8192;

const DENSITY: f64 = 0.3;
const SEED: u64 = 1;

/// What rungs have to do, the shorter first: what one takes says whether the next is sensible.
pub(in crate::cli) fn works(gpu: bool, small: bool) -> Vec<Workload> {
    let works: &[(usize, u64)] = match (small, gpu) {
        (true, _) => &[(2, 128), (1, 128)],
        (false, true) => &[(16, 1024), (1056, 128), (1, 16_384), (1, 65_536)],
        (false, false) => &[(16, 512), (256, 128), (1, 2048), (1, 8192)],
    };
    let work = |&(instances, side)| Workload { instances, side };
    works.iter().map(work).collect()
}

/// Generations that every rung steps alike before the cells are compared, and those of a graph. They,
/// and a quarter of them by a rung of one generation a launch, are an even number of launches, so that a
/// graph fits the buffers it leaves.
fn generations(work: Workload) -> u32 {
    let few = work.instances > 64 || work.side <= 128;
    if few { 24 } else { 48 }
}

/// What is not measured, and why.
pub(in crate::cli) fn left_out(
    kernel: &str,
    work: Option<Workload>,
    why: &anyhow::Error,
) -> LeftOut {
    LeftOut {
        kernel: kernel.into(),
        work,
        why: format!("{why:#}"),
    }
}

/// Checks a rung, and measures it with every work of the ladder.
fn measure_rung(
    kernel: &'static Kernel,
    device: DeviceChoice,
    info: &DeviceInfo,
    ladder: &mut Ladder,
    cells: &mut Cells,
) -> Result<()> {
    if let Some(wrong) = session::conformance::first_wrong(kernel, device)? {
        bail!("wrong: {wrong}");
    }
    // Cells per second, as far as is known.
    let mut expected = None;
    for work in ladder.works.clone() {
        let case = Case {
            kernel,
            work,
            device,
            run: if ladder.small { RUN / 50 } else { RUN },
            max_seconds: MAX_SECONDS,
        };
        let rate = match case.reason_to_skip(info, 0.0, expected)? {
            Some(why) => Err(anyhow::Error::msg(why)),
            None => case.measure(cells),
        };
        match rate {
            Ok(rate) => {
                expected = Some(rate.median);
                ladder.rates.push(rate);
                let source = kernel.source().into();
                ladder.sources.insert(kernel.name.into(), source);
            }
            // A failure is not the end: what comes behind may yet be measured.
            Err(why) => ladder
                .left_out
                .push(left_out(kernel.name, Some(work), &why)),
        }
    }
    Ok(())
}

/// A kernel with some work.
#[derive(Clone, Copy)]
pub(in crate::cli) struct Case {
    pub kernel: &'static Kernel,
    pub work: Workload,
    pub device: DeviceChoice,
    /// How long a run takes at least.
    pub run: Duration,
    /// The longest that all runs may be expected to take, in seconds.
    pub max_seconds: f64,
}

impl Case {
    /// Bytes of the device's memory that it takes.
    pub(in crate::cli) fn memory(&self) -> f64 {
        // The bits, twice, are always there.
        self.work.working_set(self.kernel) as f64 + self.work.cells() / 4.0
    }

    fn size(&self) -> Result<Size> {
        Ok(Size::new(self.work.side, self.work.side)?)
    }

    /// The reason why it is not measured beside what takes so many bytes, if any.
    pub(in crate::cli) fn reason_to_skip(
        &self,
        on: &DeviceInfo,
        taken: f64,
        expected: Option<f64>,
    ) -> Result<Option<String>> {
        let size = self.size()?;
        if let Some(limit) = self.kernel.size_limit(size) {
            return Ok(Some(format!("it takes {limit}")));
        }
        if let Err(error) = self.kernel.validate_device(on, size) {
            return Ok(Some(error.to_string()));
        }
        let needed = self.memory();
        if let Some(memory) = on.memory
            && taken + needed > MAX_MEMORY * memory as f64
        {
            let gib = |bytes: f64| bytes / f64::from(1 << 30);
            return Ok(Some(format!(
                "it takes {:.1} GiB of the device's {:.1} GiB",
                gib(needed),
                gib(memory as f64)
            )));
        }
        let Some(expected) = expected else {
            return Ok(None);
        };
        // Two to check and to get ready, and the runs.
        let rounds = 2.0 + RUNS as f64;
        let generations = f64::from(generations(self.work));
        let seconds = rounds * generations * self.work.cells() / expected;
        Ok((seconds > self.max_seconds)
            .then(|| format!("it would take {seconds:.0} s by the rate of the work before")))
    }

    /// Whether one launch steps all its lattices.
    fn is_batch(&self) -> bool {
        self.kernel.batched && self.work.instances > 1
    }

    fn setup(&self, rule: Rule) -> Result<Setup> {
        let streams = if self.is_batch() {
            Streams::Batch
        } else {
            Streams::PerInstance
        };
        let setup = Setup {
            rule,
            start: Start::soup(DENSITY, SEED),
            ..Setup::new(self.work.instances, self.size()?, self.kernel, self.device)
        };
        Ok(setup.with_switches(Switches {
            streams,
            graphs: self.kernel.iteration != Iteration::InKernel,
            ..Switches::DEFAULT
        }))
    }

    /// The rate, once its cells are those of whoever stepped the same before.
    fn measure(&self, cells: &mut Cells) -> Result<Rate> {
        let mut prepared = self.prepare(Rule::LIFE)?;
        match cells.iter().find(|(of, ..)| *of == self.work) {
            None => cells.push((self.work, prepared.digest, self.kernel.name)),
            Some((_, theirs, other)) => ensure!(
                *theirs == prepared.digest,
                "its cells are not those of '{other}'"
            ),
        }
        let rates: Vec<f64> = (0..RUNS).map(|_| prepared.run()).collect::<Result<_>>()?;
        let [median, lowest, highest] = spread(&rates);
        Ok(Rate {
            kernel: self.kernel.name.into(),
            work: self.work,
            rule: Rule::LIFE.to_string(),
            how: self.how(prepared.per_round),
            median,
            lowest,
            highest,
            runs: RUNS,
        })
    }

    /// Makes its lattices, checks what becomes of them, and finds out how long rounds must be.
    pub(in crate::cli) fn prepare(&self, rule: Rule) -> Result<PreparedCase> {
        let setup = self.setup(rule)?;
        let mut instances = Sim::new(open_engine(self.device)?, &setup, 1)?;
        let share = instances.all(&setup.setting, None);
        let lattices = self.step(&mut instances, &share, &setup)?;
        let generations = generations(self.work);
        let digest = digest(&lattices);
        drop(lattices);
        let per_round = self.round(&mut instances, &share, generations)?;
        let one = timed(&mut instances, &share, per_round, 1)?;
        Ok(PreparedCase {
            case: *self,
            setup,
            instances,
            share,
            digest,
            per_round,
            rounds: (self.run.as_secs_f64() / one).ceil().clamp(1.0, 1e6) as u64,
        })
    }

    /// Its lattices after the generations that are compared, from the start.
    fn step(&self, instances: &mut Sim, share: &Share, setup: &Setup) -> Result<Vec<Lattice>> {
        instances.set_to_start(setup)?;
        let generations = generations(self.work);
        instances.run(share, u64::from(generations), generations, None)?;
        Ok(instances.fetch()?)
    }

    /// The number of generations per round that makes it long enough to be timed. Such rounds have
    /// then been run, timed and not, from either of two buffers.
    fn round(&self, instances: &mut Sim, share: &Share, generations: u32) -> Result<u32> {
        let (times, long) = match self.kernel.iteration {
            Iteration::InKernel => (10, LONG_LAUNCH),
            Iteration::Launches | Iteration::Steps(_) => (5, LONG_GRAPH),
        };
        let long = long.min(self.run.as_secs_f64());
        let launches = |generations: u32| {
            u64::from(self.kernel.launches(generations)) * self.work.instances as u64
        };
        let mut per_round = match self.kernel.iteration {
            Iteration::Launches if launches(generations) > MAX_LAUNCHES => generations / 4,
            _ => generations,
        };
        while timed(instances, share, per_round, 1)? < long {
            let more = per_round.saturating_mul(times);
            if more > 1_000_000 || launches(more) > MAX_LAUNCHES.max(launches(per_round)) {
                break;
            }
            per_round = more;
        }
        timed(instances, share, per_round, 4)?;
        Ok(per_round)
    }

    fn how(&self, per_round: u32) -> String {
        let streams = match self.work.instances {
            1 => "",
            _ if self.is_batch() => "launches for all lattices, ",
            _ => "a stream each, ",
        };
        match self.kernel.iteration {
            Iteration::InKernel if self.is_batch() => {
                format!("one launch of {per_round} generations for all")
            }
            Iteration::InKernel => format!("{streams}launches of {per_round} generations"),
            Iteration::Launches | Iteration::Steps(_) => {
                format!("{streams}graphs of {per_round} generations")
            }
        }
    }
}

/// A case whose cells are known, to be timed.
pub(in crate::cli) struct PreparedCase {
    pub case: Case,
    setup: Setup,
    instances: Sim,
    /// What its rounds step.
    share: Share,
    /// All cells after the generations that are compared, as one number.
    pub digest: u64,
    per_round: u32,
    /// Rounds of a run.
    rounds: u64,
}

impl PreparedCase {
    /// Times a run. Returns cells times generations per second.
    pub(in crate::cli) fn run(&mut self) -> Result<f64> {
        let seconds = timed(
            &mut self.instances,
            &self.share,
            self.per_round,
            self.rounds,
        )?;
        let cells = self.case.work.cells() * f64::from(self.per_round);
        Ok(self.rounds as f64 * cells / seconds)
    }

    /// What the digest is now: it steps from the start again.
    pub(in crate::cli) fn digest_now(&mut self) -> Result<u64> {
        let lattices = self
            .case
            .step(&mut self.instances, &self.share, &self.setup)?;
        Ok(digest(&lattices))
    }
}

/// Runs rounds one after the other. Returns the seconds from the first step's start to the last one's
/// end, by events. Only the first and the last round have events, so that timing does not slow the
/// others.
fn timed(instances: &mut Sim, share: &Share, per_round: u32, rounds: u64) -> Result<f64> {
    let mut spans: Vec<(Nanos, Nanos)> = Vec::new();
    let next = |issued| {
        let timed = issued == 0 || issued + 1 == rounds;
        let request = Request {
            timed,
            ..Request::of(per_round)
        };
        (issued < rounds).then_some(request)
    };
    measure::rounds(instances, share, next, |event| {
        if let Event::Round { timed, .. } = event {
            let timed = timed.into_iter().flat_map(|round| round.spans);
            spans.extend(timed.map(|span| (span.start, span.end)));
        }
    })?;
    let start = spans.iter().map(|(start, _)| start).min();
    let end = spans.iter().map(|(_, end)| end).max();
    match start.zip(end) {
        Some((start, end)) if end > start => Ok((end.0 - start.0) as f64 / 1e9),
        _ => bail!("internal: no events came of the timed rounds"),
    }
}

/// All cells as one number.
fn digest(lattices: &[Lattice]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for lattice in lattices {
        lattice.words().hash(&mut hasher);
    }
    hasher.finish()
}

/// Logical operations per second, by a kernel that does nothing else.
fn lop3_rate(device: DeviceChoice, small: bool) -> Result<Option<f64>> {
    const SEED: u32 = 7;
    /// Threads of a block, and blocks that fill a multiprocessor.
    const BLOCK: u32 = 256;
    const BLOCKS_PER_SM: u32 = 8;
    let mut bench = Bench::open(device)?;
    if bench.is_cpu() {
        return Ok(None);
    }
    let grid = bench.info.sm_count * BLOCKS_PER_SM;
    let (threads, bytes) = (grid * BLOCK, (grid * BLOCK) as usize * 4);
    let stream = bench
        .engine()?
        .create_stream(DeviceId(0), StreamSpec::PLAIN)?;
    let out = BufferOffset {
        buffer: bench
            .engine()?
            .create_buffer(DeviceId(0), bytes, BufferLocation::Device)?,
        offset: 0,
    };
    let seconds = |bench: &mut Bench, iterations: i32| -> Result<f64> {
        let [seed, times] = [Argument::U32(SEED), Argument::I32(iterations)];
        let launch = BufferOp::Launch(BufferLaunch {
            kernel: &LOP3_RATE,
            shape: Launch::in_row(grid, BLOCK),
            arguments: vec![Argument::Buffer(out), seed, times],
        });
        let program = Program::in_stream(stream, [launch.into()]).with_spans();
        let seconds = bench.run(&program)?.step_ms(0) / 1e3;
        ensure!(seconds > 0.0, "internal: no time passed between the events");
        Ok(seconds)
    };
    let least = if small { 0.001 } else { 0.02 };
    let mut iterations = 1;
    while seconds(&mut bench, iterations)? < least && iterations < 1 << 24 {
        iterations *= 2;
    }
    let operations = f64::from(threads) * f64::from(iterations) * LOP3_PER_ITERATION as f64;
    let rates: Vec<f64> = (0..RUNS)
        .map(|_| Ok(operations / seconds(&mut bench, iterations)?))
        .collect::<Result<_>>()?;
    Ok(Some(spread(&rates)[0]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rung_whose_cells_are_others_has_no_rate() {
        let case = Case {
            run: RUN / 50,
            ..case(&KERNELS[0], 2, 64)
        };
        let mut cells = Cells::new();
        let rate = case.measure(&mut cells).unwrap();
        assert!(rate.lowest > 0.0 && rate.lowest <= rate.median, "{rate:?}");
        case.measure(&mut cells).unwrap();
        cells[0].1 += 1;
        let why = case.measure(&mut cells).unwrap_err();
        assert_eq!(why.to_string(), "its cells are not those of 'global'");
    }

    fn case(kernel: &'static Kernel, instances: usize, side: u64) -> Case {
        Case {
            kernel,
            work: Workload { instances, side },
            device: DeviceChoice::Cpu,
            run: RUN,
            max_seconds: MAX_SECONDS,
        }
    }

    #[test]
    fn a_graph_leaves_every_rung_in_the_buffer_it_came_from() {
        for kernel in &KERNELS {
            for work in [works(true, false), works(false, false)].concat() {
                for times in [1, 5, 25] {
                    let all = times * generations(work);
                    let is_quartered = kernel.iteration == Iteration::Launches;
                    let few = if is_quartered { all / 4 } else { all };
                    let flips = kernel.swaps_buffers(all) || kernel.swaps_buffers(few);
                    assert!(!flips, "{} {work}", kernel.name);
                }
            }
        }
    }

    #[test]
    fn what_is_not_sensible_is_refused_with_the_reason() {
        let gpu = DeviceInfo {
            capability: Some((9, 0)),
            sm_count: 20,
            memory: Some(100 << 30),
            ..DeviceInfo::default()
        };
        for (name, side, expected, said) in [
            ("global", 2048, Some(1e9), ""),
            ("global", 8192, Some(1e8), "161 s"),
            ("global", 1 << 18, None, "GiB of the device's"),
            ("resident", 512, None, "it takes lattices from"),
            ("cooperative", 4096, None, "needs 32 SMs"),
        ] {
            let kernel = engine::kernels::find(name).unwrap();
            let skipped = case(kernel, 1, side).reason_to_skip(&gpu, 0.0, expected);
            let why = skipped.unwrap().unwrap_or_default();
            let is_said = why.contains(said) && why.is_empty() == said.is_empty();
            assert!(is_said, "{name}: {why}");
        }
    }
}
