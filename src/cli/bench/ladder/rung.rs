//! One rung: checked, then timed by events with each work that it takes.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use anyhow::{Result, bail};

use super::Said;
use crate::cli::bench::{RUN, spread};
use crate::cli::text::print;
use engine::kernels::{Iteration, Kernel};
use engine::{DeviceInfo, Nanos};
use life::{Lattice, Rule, Size, reference};
use session::instances::{Event, Sim, open_engine, start_lattice, starts};
use session::{DeviceChoice, Request, Setting, Setup, Share, Start, Streams, Switches};
use ui::ladder::{LeftOut, Rate, Workload};

/// Runs of each measurement.
const RUNS: usize = 3;

/// The longest that a rung's rounds with one work may be expected to take.
const MAX_SECONDS: f64 = 60.0;

/// The part of a device's memory that lattices may fill.
pub(in crate::cli) const MAX_MEMORY: f64 = 0.9;

/// A launch with all generations in it is made as long as this, in seconds.
const LONG_LAUNCH: f64 = 0.02;

/// A graph is made as long as this, in seconds, so that its own launch does not count, if it then has
/// no more than [`MAX_LAUNCHES`].
const LONG_GRAPH: f64 = 0.002;

/// The most launches of a graph, in which a launch for all lattices counts once for each of them. With 750
/// of these in a graph, `multistep` made 12.4 Tcell/s on 1056 × 128² of one H200; with 6, 14.5 on another.
const MAX_LAUNCHES: u64 = 8192;

/// The most cells times generations that the reference steps.
const REFERENCE_BUDGET: f64 = 20e6;

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

/// Measures the rung and reports the results, one per line.
pub(in crate::cli::bench) fn main(
    kernel: &'static Kernel,
    device: DeviceChoice,
    small: bool,
) -> Result<()> {
    let say = |said: Said| print(&serde_json::to_string(&said)?);
    let left_out = |work: Option<Workload>, why: String| {
        say(Said::LeftOut(LeftOut {
            kernel: kernel.name.into(),
            work,
            why,
        }))
    };
    // Whatever goes wrong is reported, too.
    let measured = measure_all(kernel, device, small, &say, &left_out);
    measured.or_else(|error| left_out(None, format!("{error:#}")))
}

fn measure_all(
    kernel: &'static Kernel,
    device: DeviceChoice,
    small: bool,
    say: &dyn Fn(Said) -> Result<()>,
    left_out: &dyn Fn(Option<Workload>, String) -> Result<()>,
) -> Result<()> {
    let engine = open_engine(device)?;
    let (gpu, info) = (engine.name() == "cuda", engine.devices()[0].clone());
    drop(engine);
    if let Some(wrong) = session::conformance::first_wrong(kernel, device)? {
        bail!("wrong: {wrong}");
    }
    // Cells per second, as far as is known.
    let mut expected = None;
    let other: Rule = "B36/S23".parse()?;
    for work in works(gpu, small) {
        let case = Case::new(kernel, work, device, small);
        if let Some(why) = case.reason_to_skip(Some(&info), expected)? {
            left_out(Some(work), why)?;
            continue;
        }
        let first = expected.is_none();
        // A failure is not the end: what comes behind may yet be measured.
        match case.measure(Rule::LIFE, say) {
            Ok(rate) => expected = Some(rate),
            Err(error) => {
                left_out(Some(work), format!("{error:#}"))?;
                continue;
            }
        }
        if first && let Err(error) = case.measure(other, say) {
            left_out(Some(work), format!("by {other}: {error:#}"))?;
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
    fn new(kernel: &'static Kernel, work: Workload, device: DeviceChoice, small: bool) -> Case {
        let run = if small { RUN / 50 } else { RUN };
        Case {
            kernel,
            work,
            device,
            run,
            max_seconds: MAX_SECONDS,
        }
    }

    /// Bytes of the device's memory that it takes.
    pub(in crate::cli) fn memory(&self) -> f64 {
        // The bits, twice, are always there.
        self.work.working_set(self.kernel) as f64 + self.work.cells() / 4.0
    }

    fn size(&self) -> Result<Size> {
        Ok(Size::new(self.work.side, self.work.side)?)
    }

    /// The reason why it is not measured, if any.
    pub(in crate::cli) fn reason_to_skip(
        &self,
        on: Option<&DeviceInfo>,
        expected: Option<f64>,
    ) -> Result<Option<String>> {
        let size = self.size()?;
        if let Some(limit) = self.kernel.size_limit(size) {
            return Ok(Some(format!("it takes {limit}")));
        }
        if let Some(Err(error)) = on.map(|on| self.kernel.validate_device(on, size)) {
            return Ok(Some(error.to_string()));
        }
        let needed = self.memory();
        if let Some(memory) = on.and_then(|on| on.memory)
            && needed > MAX_MEMORY * memory as f64
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
        Ok(Setup {
            rule,
            start: Start::soup(DENSITY, SEED),
            switches: Switches {
                streams,
                graphs: self.kernel.iteration != Iteration::InKernel,
                ..Switches::DEFAULT
            },
            ..Setup::new(self.work.instances, self.size()?, self.kernel, self.device)
        })
    }

    /// Measures and says the cells and the rate, which it returns.
    fn measure(&self, rule: Rule, say: &dyn Fn(Said) -> Result<()>) -> Result<f64> {
        let mut prepared = self.prepare(rule)?;
        if rule == Rule::LIFE {
            let (work, digest) = (self.work, prepared.digest);
            say(Said::Cells { work, digest })?;
        }
        let rates: Vec<f64> = (0..RUNS).map(|_| prepared.run()).collect::<Result<_>>()?;
        let [median, lowest, highest] = spread(&rates);
        say(Said::Rate(Rate {
            kernel: self.kernel.name.into(),
            work: self.work,
            rule: rule.to_string(),
            how: self.how(prepared.per_round),
            median,
            lowest,
            highest,
            runs: RUNS,
        }))?;
        Ok(median)
    }

    /// Makes its lattices, checks what becomes of them, and finds out how long rounds must be.
    pub(in crate::cli) fn prepare(&self, rule: Rule) -> Result<PreparedCase> {
        let setup = self.setup(rule)?;
        let mut instances = Sim::new(open_engine(self.device)?, &setup, 1)?;
        let share = instances.all(&Setting::of(&setup), None);
        let lattices = self.step(&mut instances, &share, &setup)?;
        let generations = generations(self.work);
        let cost = setup.size.cells() as f64 * f64::from(generations);
        if cost <= REFERENCE_BUDGET
            && lattices[0]
                != reference::run(&*start_lattice(&setup, 0)?, rule, u64::from(generations))
        {
            bail!("after {generations} generations its cells are not the reference's");
        }
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
        instances.set_lattices(starts(setup, 0..setup.instances)?)?;
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
    case: Case,
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
    /// The case.
    pub(in crate::cli) fn case(&self) -> &Case {
        &self.case
    }

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
    let (mut issued, mut done) = (0, 0);
    while done < rounds {
        let by_events = issued == 0 || issued + 1 == rounds;
        let request = Request {
            timed: by_events,
            ..Request::of(per_round)
        };
        if issued < rounds && instances.issue(share, request, |_| false)? {
            issued += 1;
        }
        instances.poll(|event| {
            if let Event::Round { timed, .. } = event {
                done += 1;
                let timed = timed.into_iter().flat_map(|round| round.spans);
                spans.extend(timed.map(|span| (span.start, span.end)));
            }
        })?;
        if instances.depth() > 1 || issued == rounds {
            instances.wait(Duration::from_millis(1));
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use engine::kernels::KERNELS;

    fn case(kernel: &'static Kernel, instances: usize, side: u64) -> Case {
        Case::new(
            kernel,
            Workload { instances, side },
            DeviceChoice::Cpu,
            true,
        )
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
        let global = &KERNELS[0];
        let gpu = DeviceInfo {
            capability: Some((9, 0)),
            sm_count: 20,
            memory: Some(100 << 30),
            ..DeviceInfo::default()
        };
        let reason_to_skip = |side, expected| {
            case(global, 1, side)
                .reason_to_skip(Some(&gpu), expected)
                .unwrap()
        };
        assert_eq!(reason_to_skip(2048, Some(1e9)), None);
        let long = reason_to_skip(8192, Some(1e8)).unwrap();
        assert!(long.contains("161 s"), "{long}");
        let large = reason_to_skip(1 << 18, None).unwrap();
        assert!(large.contains("GiB of the device's"), "{large}");
        let square = KERNELS.iter().find(|kernel| kernel.name == "resident");
        let odd = case(square.unwrap(), 1, 512)
            .reason_to_skip(None, None)
            .unwrap()
            .unwrap();
        assert!(odd.starts_with("it takes lattices from"), "{odd}");
        let together = KERNELS.iter().find(|kernel| kernel.name == "cooperative");
        let few_sms = case(together.unwrap(), 1, 4096)
            .reason_to_skip(Some(&gpu), None)
            .unwrap()
            .unwrap();
        assert!(few_sms.contains("needs 32 SMs"), "{few_sms}");
    }
}
