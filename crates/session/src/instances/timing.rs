//! Enters the fastest plan: takes it from the table if the device was measured with similar
//! lattices; otherwise times the candidates on this device first.

use std::time::{Duration, Instant};

use super::{Instances, MAX_IN_FLIGHT, starts};
use crate::fastest::{
    Candidate, FastestPlan, PickTable, Requested, RoundLength, Timed, Work, candidates, fastest_of,
};
use crate::round::RoundPlan;
use engine::kernels::Iteration;
use engine::{EngineError, Result};
use lang::tr;
use model::{Setup, Side};

/// How long candidates may be timed.
#[derive(Clone, Copy, Debug)]
pub struct TimingBudget {
    /// The least time of a candidate's rounds.
    pub each: Duration,
    /// The time of all of them; the upper rungs come first, and what has not been timed until then
    /// is left out.
    pub all: Duration,
}

impl TimingBudget {
    /// At a start.
    pub const AT_START: TimingBudget = TimingBudget {
        each: Duration::from_millis(10),
        all: Duration::from_millis(300),
    };
}

/// Time that a first round may take for loading modules.
const MAX_LOADING: Duration = Duration::from_millis(500);

/// A round that takes less is made longer, where its length is not given.
const LONG_ROUND: Duration = Duration::from_millis(4);

/// Maximum number of generations of a timed round whose length is given, so that slow kernels end
/// soon.
const MAX_TIMED_GENERATIONS: u32 = 64;

/// Maximum number of launches of a timed round whose length is not given, and of its graph.
const MAX_LAUNCHES: u64 = 2048;
const MAX_GRAPH_LAUNCHES: u64 = 512;

/// A candidate this many times slower than the fastest so far is not timed further.
const FAR_SLOWER: f64 = 4.0;

/// Launches that take longer than this gain nothing from graphs.
const LONG_LAUNCH: f64 = 200e-6;

impl Instances {
    /// What decides which plan is the fastest.
    fn work(&self) -> Work<'_> {
        Work {
            devices: self.engine().devices(),
            size: self.size,
            instances: self.instances(),
            rule: self.plan().rule,
            pictures: self.request.is_some(),
        }
    }

    /// The lengths of rounds by the present plan that should take `target` each, from the present
    /// number of generations on.
    pub(crate) fn round_length(&self, target: Duration, generations: u32) -> RoundLength {
        let RoundPlan {
            kernel, switches, ..
        } = *self.plan();
        let candidate = Candidate {
            kernel,
            streams: switches.streams,
            graphs: switches.graphs,
        };
        let launches = candidate.max_launches(self.work().instances_per_device());
        RoundLength::adapting(kernel, launches, target, generations)
    }

    /// Enters the fastest plan that respects what was requested, with `generations` to do if that
    /// is known; then sets every lattice to the setup's start. The setup says afterwards what was
    /// entered.
    ///
    /// # Errors
    /// The engine cannot enter the plan, or memory is lacking for the start.
    pub fn start_fastest(
        &mut self,
        setup: &mut Setup,
        requested: &Requested,
        generations: Option<u64>,
    ) -> Result<FastestPlan> {
        let table = PickTable::built_in();
        let plan = FastestPlan::of(&self.work(), requested, table, &[]);
        let mut plan = plan.ok_or_else(no_kernel)?;
        if plan.is_worth_timing(generations.unwrap_or(u64::MAX)) {
            // Without a start, lattices are bits, but the plan's kernel may want another layout.
            self.enter_layout(self.plan().kernel.layout)?;
            let timed = self.time(requested, TimingBudget::AT_START)?;
            for Timed { candidate, .. } in &timed {
                tracing::debug!("timed: {candidate:?}");
            }
            plan = FastestPlan::of(&self.work(), requested, table, &timed).unwrap_or(plan);
        }
        if let Err(error) = self.enter(plan.candidate, requested) {
            if plan.choices == 1 {
                return Err(error);
            }
            // One from the table that cannot be here after all.
            let name = plan.candidate.kernel.name;
            tracing::warn!("kernel '{name}' is not taken: {error}");
            self.recover()?;
            let timed = self.time(requested, TimingBudget::AT_START)?;
            let none = PickTable::default();
            plan = FastestPlan::of(&self.work(), requested, &none, &timed).unwrap_or(plan);
            self.enter(plan.candidate, requested)?;
        }
        setup.kernel = self.plan().kernel;
        setup.switches = self.plan().switches;
        setup.kernel_choice = plan.kernel_choice();
        self.set_lattices(starts(setup, 0..setup.instances)?)?;
        self.set_generation(setup.start.generation());
        Ok(plan)
    }

    /// Times the candidates, pictures included if there are any, the fastest first. The lattices
    /// are stepped meanwhile: set them, the plan and the generation again.
    ///
    /// # Errors
    /// The engine is lost.
    pub fn time(&mut self, requested: &Requested, budget: TimingBudget) -> Result<Vec<Timed>> {
        let began = Instant::now();
        let mut timed: Vec<Timed> = Vec::new();
        for candidate in candidates(&self.work(), requested) {
            if !timed.is_empty() && began.elapsed() >= budget.all {
                tracing::debug!("no time is left for {candidate:?}");
                break;
            }
            let Some(round) = first_round(candidate, self.work(), requested, &timed) else {
                continue;
            };
            let deadline = began + budget.all;
            match self.time_candidate(candidate, requested, round, &timed, budget.each, deadline) {
                Ok(generations_per_second) => timed.push(Timed {
                    candidate,
                    generations_per_second,
                }),
                // One that cannot be here after all.
                Err(
                    error @ (EngineError::OutOfMemory { .. }
                    | EngineError::DriverOutOfMemory(_)
                    | EngineError::PartiallyApplied(_)
                    | EngineError::Driver { .. }),
                ) => {
                    let name = candidate.kernel.name;
                    tracing::warn!("kernel '{name}' is not taken: {error}");
                    self.recover()?;
                }
                Err(error) => return Err(error),
            }
        }
        let rate = |one: &Timed| one.generations_per_second;
        timed.sort_by(|a, b| rate(b).total_cmp(&rate(a)));
        Ok(timed)
    }

    /// Makes the engine usable after a candidate failed: which lattices are in which layout is
    /// unknown, and so are their cells.
    fn recover(&mut self) -> Result<()> {
        self.abandon()?;
        self.enter_layout(self.plan().kernel.layout)
    }

    /// Changes the kernel and how its launches are submitted; every lattice keeps its cells.
    fn enter(&mut self, candidate: Candidate, requested: &Requested) -> Result<()> {
        let switches = requested.switches_of(candidate);
        // A batch in two buffers wants its lattices aligned, by the kernel that is to step them.
        self.set_kernel(candidate.kernel)?;
        if self.plan().switches != switches {
            self.set_switches(Side::A, switches)?;
        }
        Ok(())
    }

    /// Generations per second, behind rounds that load what is needed and make the graphs. What is
    /// far slower than the fastest so far is timed no longer than it takes to see that.
    fn time_candidate(
        &mut self,
        candidate: Candidate,
        requested: &Requested,
        round: u32,
        known: &[Timed],
        each: Duration,
        deadline: Instant,
    ) -> Result<f64> {
        self.enter(candidate, requested)?;
        let best = highest_rate(known).unwrap_or(0.0);
        let (mut round, mut rounds) = (round, 1);
        // A longer graph is prepared anew, which is nothing where it has one launch.
        let in_kernel = candidate.kernel.iteration == Iteration::InKernel;
        let grows = requested.generations.is_none() && (!candidate.graphs || in_kernel);
        let instances = self.work().instances_per_device();
        let can_grow = |round: u32| {
            let launches = candidate.launches(round, instances);
            grows && launches < MAX_LAUNCHES && round < 1 << 24
        };
        let began = Instant::now();
        self.rounds_of(1, round)?;
        let first = began.elapsed().as_secs_f64();
        if first > MAX_LOADING.as_secs_f64() + FAR_SLOWER * f64::from(round) / best {
            return Ok(f64::from(round) / first);
        }
        loop {
            let (began, made) = (Instant::now(), self.prepared.len());
            self.rounds_of(rounds, round)?;
            let took = began.elapsed();
            let seconds = took.as_secs_f64().max(1e-6);
            let rate = f64::from(round) * rounds as f64 / seconds;
            let is_late = Instant::now() >= deadline;
            if self.prepared.len() > made && !is_late {
                continue; // capturing is no stepping
            }
            let seen = FAR_SLOWER * rate < best && took >= Duration::from_millis(1);
            if took >= each || seen || is_late {
                return Ok(rate);
            }
            if rounds == 1 && took < LONG_ROUND && can_grow(round) {
                let more = (1.5 * LONG_ROUND.as_secs_f64() / seconds).clamp(2.0, 16.0);
                let per_launch = match candidate.kernel.iteration {
                    Iteration::InKernel => 1,
                    Iteration::Launches | Iteration::Steps(_) => {
                        candidate.kernel.iteration.generations_per_launch()
                    }
                };
                round = ((f64::from(round) * more) as u32).next_multiple_of(per_launch);
            } else {
                let more = (1.2 * each.as_secs_f64() / seconds).clamp(2.0, 100.0);
                rounds = (rounds as f64 * more).ceil() as u64;
            }
        }
    }

    fn rounds_of(&mut self, rounds: u64, generations: u32) -> Result<()> {
        let mut issued = 0;
        while issued < rounds {
            if self.issue_round(generations, false, |_| false)? {
                issued += 1;
            }
            self.poll(|_| {})?;
            if self.depth() >= MAX_IN_FLIGHT {
                self.wait(Duration::from_millis(1));
            }
        }
        self.finish()
    }
}

fn no_kernel() -> EngineError {
    EngineError::InvalidProgram(tr!("no kernel fits these lattices and options").into())
}

/// The generations per second of the fastest.
fn highest_rate<'a>(timed: impl IntoIterator<Item = &'a Timed>) -> Option<f64> {
    fastest_of(timed).map(|one| one.generations_per_second)
}

/// Generations of a candidate's first round, given what is known of others; `None` if those say that
/// it need not be timed.
fn first_round(
    candidate: Candidate,
    work: Work,
    requested: &Requested,
    known: &[Timed],
) -> Option<u32> {
    let same_kernel = |one: &&Timed| one.candidate.kernel == candidate.kernel;
    let best = highest_rate(known);
    let own = highest_rate(known.iter().filter(same_kernel));
    if let (Some(best), Some(own)) = (best, own)
        && own * 2.0 * FAR_SLOWER < best
    {
        return None; // another submission does not make up for that
    }
    if let Some(generations) = requested.generations {
        return Some(generations.min(MAX_TIMED_GENERATIONS));
    }
    let per_launch = match candidate.kernel.iteration {
        Iteration::InKernel => return Some(1),
        Iteration::Launches | Iteration::Steps(_) => {
            candidate.kernel.iteration.generations_per_launch()
        }
    };
    if !candidate.graphs {
        return Some(per_launch);
    }
    let launches = candidate.launches(1, work.instances_per_device());
    let mut most = (MAX_GRAPH_LAUNCHES / launches).max(2) as f64;
    if let Some(rate) = own.or(best) {
        if requested.graphs.is_none()
            && f64::from(per_launch) / rate > LONG_LAUNCH * launches as f64
        {
            return None;
        }
        most = most.min(LONG_ROUND.as_secs_f64() * rate / f64::from(per_launch));
    }
    // An even number, so that one graph serves all rounds.
    Some((most as u32).max(2).next_multiple_of(2) * per_launch)
}
