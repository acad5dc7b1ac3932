//! What the parts of a lesson work with: an engine, buffers, streams, and a stopwatch.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use crate::file::Rounds;
use engine::{
    BufferLocation, BufferOffset, BufferOp, Completion, Cut, DeviceId, DeviceInfo, Engine,
    EngineError, IssuedStep, Kernel, Op, Program, RunId, Span, SplitEngine, Step, StreamId,
};
use lang::{Message, tr};
use life::Size;
use script::Recipe;
use session::DeviceChoice;
use session::instances::open_engine;
use session::trace::{StepFacts, StepKind, TimedRound};

/// An error that ends a lesson. (A failed check is part of the [`Outcome`](crate::Outcome) instead.)
#[derive(Debug, thiserror::Error)]
pub enum LessonError {
    /// The engine could not do something.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The child process could not be started, or its answer could not be read.
    #[error("{}", tr!("lifestreams cannot run itself again: {it}", it = .0))]
    Child(String),
    /// A part cannot be put in place: its script makes no program, or there are no such lattices.
    #[error("{0}")]
    Script(Message),
    /// The progress callback ended the lesson.
    #[error("{}", tr!("the lesson was ended before it was measured"))]
    Ended,
}

/// The result of a lesson's functions.
pub type Result<T, E = LessonError> = std::result::Result<T, E>;

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
    ///
    /// # Errors
    /// There are no lattices of that size.
    pub(crate) fn of(rounds: &Rounds, is_cpu: bool) -> Result<SweepSetup> {
        let generations = rounds.on_cpu.filter(|_| is_cpu);
        Ok(SweepSetup {
            instances: rounds.instances,
            size: Size::new(rounds.size, rounds.size).map_err(LessonError::Script)?,
            kernel: rounds.kernel,
            generations_per_round: generations.unwrap_or(rounds.generations),
        })
    }
}

/// An engine and what a lesson has on it.
pub struct Bench {
    /// Which device it is, so that others can open the same.
    pub(crate) choice: DeviceChoice,
    engine: Option<Box<dyn Engine>>,
    /// `cuda` or `cpu`.
    pub(crate) engine_name: &'static str,
    /// The device.
    pub info: DeviceInfo,
    /// The number `TIMES` of scripts, once a part has found it.
    pub(crate) times: Option<f64>,
    /// The size of its lattices; of one cell where there are none.
    pub(crate) lattice: Size,
    /// What the rounds of a sweep step now; `None` in lessons without a sweep.
    pub(crate) sweep: Option<SweepSetup>,
}

/// The device that lessons use.
pub(crate) const DEVICE: DeviceId = DeviceId(0);

/// A program that has run.
#[derive(Default)]
pub struct Ran {
    /// How long until everything was done.
    pub(crate) wall_ms: f64,
    /// How long the host itself worked meanwhile.
    pub(crate) host_ms: f64,
    /// When each step ran, if the program was timed; in the order of the steps.
    spans: Vec<Span>,
    /// When the host was inside the calls, if the program was timed.
    host: Vec<Span>,
    /// What the devices got of a timed program on lattices in bands.
    issued: Vec<IssuedStep>,
}

impl Ran {
    /// Adds what ran later: a program whose steps come after so many others.
    pub(crate) fn append(&mut self, later: Ran, steps: usize) {
        let moved = |span: Span| Span {
            step: span.step.saturating_add(steps as u32),
            ..span
        };
        self.spans.extend(later.spans.into_iter().map(moved));
        self.host.extend(later.host.into_iter().map(moved));
        self.issued.extend(later.issued);
        self.wall_ms += later.wall_ms;
    }

    /// The length of this step in milliseconds; 0 if it was not timed.
    pub fn step_ms(&self, step: usize) -> f64 {
        let span = self.spans.iter().find(|span| span.step as usize == step);
        span.map_or(0.0, |span| span.length().as_ms())
    }
}

impl Bench {
    /// Opens the engine of a choice.
    pub fn open(choice: DeviceChoice) -> Result<Bench> {
        let engine = open_engine(choice)?;
        // An engine that is opened anew later must be the same one.
        let choice = match (choice, engine.name()) {
            (DeviceChoice::Auto | DeviceChoice::Recorded, "cpu") => DeviceChoice::Cpu,
            (DeviceChoice::Auto, _) => DeviceChoice::CudaOrdinal(0),
            (other, _) => other,
        };
        Ok(Bench {
            choice,
            engine_name: engine.name(),
            info: engine.devices()[0].clone(),
            engine: Some(engine),
            times: None,
            lattice: Size::new(1, 1).expect("the smallest lattice"),
            sweep: None,
        })
    }

    /// Another bench on the same device, with what earlier parts left, and with an engine of its own,
    /// because an engine never frees its lattices. It is opened once it is asked for.
    pub(crate) fn another(&self) -> Bench {
        Bench {
            engine: None,
            info: self.info.clone(),
            ..*self
        }
    }

    /// Whether this is the CPU engine.
    pub fn is_cpu(&self) -> bool {
        self.engine_name == "cpu"
    }

    /// The engine.
    pub fn engine(&mut self) -> Result<&mut dyn Engine> {
        if self.engine.is_none() {
            self.engine = Some(open_engine(self.choice)?);
        }
        let engine = self.engine.as_mut().expect("it was opened");
        Ok(&mut **engine)
    }

    /// Lays the lattices that will be created in bands on all devices, on two contexts on the CPU.
    pub(crate) fn split(&mut self, halo: u32) -> Result<()> {
        let is_cpu = self.is_cpu();
        self.engine()?;
        let mut engine = self.engine.take().expect("it was opened");
        if is_cpu {
            engine.create_context(DEVICE)?;
        }
        let cut = Cut {
            per_device: 1,
            halo,
        };
        let split = SplitEngine::new(engine, cut).map_err(|(_, error)| error)?;
        self.engine = Some(Box::new(split));
        Ok(())
    }

    /// Runs a program and waits for it.
    pub fn run(&mut self, program: &Program) -> Result<Ran> {
        self.run_by(&mut |engine| engine.submit(program))
    }

    /// Runs the graph that a program is, and waits for it.
    pub(crate) fn run_as_graph(&mut self, program: &Program) -> Result<Ran> {
        let prepared = self.engine()?.prepare(program)?;
        let ran = self.run_by(&mut |engine| engine.replay(prepared))?;
        self.engine()?.release(prepared);
        Ok(ran)
    }

    /// Waits for what a function starts.
    pub(crate) fn run_by(
        &mut self,
        start: &mut dyn FnMut(&mut dyn Engine) -> Result<RunId, EngineError>,
    ) -> Result<Ran> {
        let engine = self.engine()?;
        let began = Instant::now();
        let started = start(engine)?;
        let issued = engine.issued_steps(started).unwrap_or_default().to_vec();
        engine.synchronize()?;
        let wall_ms = ms_since(began);
        let mut completions = Vec::new();
        loop {
            engine.poll(&mut completions)?;
            for completion in completions.drain(..) {
                if let Completion::Finished {
                    run, spans, host, ..
                } = completion
                    && run == started
                {
                    return Ok(Ran {
                        wall_ms,
                        spans,
                        host,
                        issued,
                        host_ms: 0.0,
                    });
                }
            }
            engine.wait(Duration::from_millis(1));
        }
    }

    /// What a timed program of a recipe did, for the timeline; its streams are numbered from 0.
    pub(crate) fn timed_round(
        &self,
        recipe: &Recipe,
        program: &Program,
        mut ran: Ran,
    ) -> TimedRound {
        let is_on_host = |array: BufferOffset| {
            let (.., location) = recipe.arrays[array.buffer.0 as usize];
            matches!(location, BufferLocation::Host(_))
        };
        let steps: Vec<(&Step, Size, Option<u16>)> = if ran.issued.is_empty() {
            let all = program.steps.iter();
            all.map(|step| (step, self.lattice, None)).collect()
        } else {
            let issued = ran.issued.iter();
            issued
                .map(|it| (&it.step, it.size, Some(it.device.0)))
                .collect()
        };
        let streams: BTreeSet<StreamId> = steps.iter().map(|(step, ..)| step.stream).collect();
        let number = |stream: StreamId| {
            let place = streams.iter().position(|it| *it == stream);
            place.map_or(stream, |place| StreamId(place as u32))
        };
        let facts = |(step, size, gpu): (&Step, Size, Option<u16>)| {
            let facts = StepFacts::of(step, size, 0);
            let kind = match &step.op {
                Op::Buffers(BufferOp::Copy { from, .. }) if is_on_host(*from) => StepKind::Upload,
                Op::Buffers(BufferOp::Copy { to, .. }) if is_on_host(*to) => StepKind::Download,
                _ => facts.kind,
            };
            StepFacts {
                kind,
                stream: number(step.stream),
                gpu,
                ..facts
            }
        };
        let steps: Vec<StepFacts> = steps.into_iter().map(facts).collect();
        for span in ran.spans.iter_mut().chain(&mut ran.host) {
            span.stream = number(span.stream);
        }
        TimedRound {
            steps: steps.into(),
            spans: ran.spans,
            host: ran.host,
            ..TimedRound::default()
        }
        .in_order()
    }
}

/// Milliseconds since then.
pub(crate) fn ms_since(began: Instant) -> f64 {
    began.elapsed().as_secs_f64() * 1e3
}
