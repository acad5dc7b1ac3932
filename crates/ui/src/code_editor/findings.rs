//! What is found in a kernel of one's own.

use crate::Chart;
use crate::prediction::{MAX_PREDICTED_CALLS, OpTimes, predict, predicted_factor};
use engine::Kernel;
use lang::{Message, message, tr};
use lesson::{KernelTask, RoundTask, factor_in_words};
use script::{CallKind, Fault, Place, Round, ScriptError, Verdict, Work};
use session::{Order, Status, Streams};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use workshop::{Facts, LAUNCH_LIMIT, OwnKernel, SourceError, Unchecked, Workshop};

/// See the module.
#[derive(Clone, PartialEq, Debug)]
pub enum KernelFindings {
    /// It is right.
    Right {
        /// In how many cases it is.
        cases: usize,
        /// The kernel, ready to run.
        kernel: &'static Kernel,
        /// What the driver says about it, if a GPU checked it.
        facts: Option<Facts>,
    },
    /// The first thing that is wrong.
    Wrong(Box<workshop::Fault>),
    /// It declares nothing that can be checked.
    Unreadable(SourceError),
    /// Its code does not use this word, which an exercise asks for.
    Lacks(&'static str),
    /// It was not checked: why.
    Unchecked(Message),
}

impl KernelFindings {
    /// Checks a source, and whether it has what an exercise asks for, in a workshop, which is opened if it
    /// is not yet; `None` if that was cancelled. `seed` decides which lattices are stepped.
    pub fn of(
        source: &str,
        task: Option<&KernelTask>,
        workshop: &mut Option<Workshop>,
        open: impl FnOnce() -> Result<Workshop, Unchecked>,
        seed: u64,
        cancel: &AtomicBool,
    ) -> Option<KernelFindings> {
        let own = match OwnKernel::read(source.as_bytes().to_vec()) {
            Ok(own) => own,
            Err(error) => return Some(KernelFindings::Unreadable(error)),
        };
        if let Some(word) = task.and_then(|task| task.missing(source)) {
            return Some(KernelFindings::Lacks(word));
        }
        let limit = platform::timeout(LAUNCH_LIMIT);
        let opened = workshop.take().map_or_else(open, Ok);
        match opened.and_then(|it| workshop.insert(it).check(&own, seed, limit, cancel)) {
            Ok(Ok(right)) => Some(KernelFindings::Right {
                cases: right.cases,
                kernel: right.kernel,
                facts: right.facts,
            }),
            Ok(Err(fault)) => Some(KernelFindings::Wrong(fault)),
            Err(Unchecked::Cancelled) => None,
            Err(error) => Some(KernelFindings::Unchecked(Message::new(|| {
                error.to_string()
            }))),
        }
    }

    /// In a line.
    pub(super) fn summary(&self) -> String {
        match self {
            KernelFindings::Right { cases, .. } => {
                tr!("Right in all {cases} cases")
            }
            KernelFindings::Wrong(fault) => match **fault {
                workshop::Fault::DoesNotCompile { .. } => tr!("Does not compile").into(),
                _ => tr!("Wrong").into(),
            },
            KernelFindings::Unreadable(_) | KernelFindings::Lacks(_) => tr!("1 fault").into(),
            KernelFindings::Unchecked(_) => tr!("Not checked").into(),
        }
    }

    /// The lines that it is about, numbered from 1.
    pub(super) fn lines(&self) -> Vec<u32> {
        match self {
            KernelFindings::Wrong(fault) => fault.lines(),
            KernelFindings::Unreadable(error) => error.line.into_iter().collect(),
            KernelFindings::Right { .. }
            | KernelFindings::Lacks(_)
            | KernelFindings::Unchecked(_) => Vec::new(),
        }
    }

    /// Sentences: what is wrong, or what a GPU's driver says of it.
    pub(super) fn sentences(&self) -> Vec<String> {
        let sentence = |said: &dyn fmt::Display| vec![lang::sentence_case(&said.to_string())];
        match self {
            KernelFindings::Right { facts, .. } => match facts {
                Some(facts) => occupancy_in_words(facts),
                None => {
                    vec![tr!("Checked for exactness only: times mean nothing without a GPU").into()]
                }
            },
            KernelFindings::Wrong(fault) => match &**fault {
                workshop::Fault::DoesNotCompile { errors, more } => {
                    let errors = errors
                        .iter()
                        .map(|error| lang::sentence_case(&error.to_string()));
                    let more = (*more > 0).then(|| tr!("and {rest} more", rest = more));
                    errors.chain(more).collect()
                }
                fault => sentence(fault),
            },
            KernelFindings::Unreadable(error) => sentence(error),
            KernelFindings::Lacks(word) => {
                vec![tr!("It does not use {word}, which the exercise asks for")]
            }
            KernelFindings::Unchecked(why) => vec![lang::sentence_case(why)],
        }
    }
}

/// What decides how many threads an SM holds, and how many those are.
pub fn occupancy_in_words(facts: &Facts) -> Vec<String> {
    let threads = facts.blocks_per_sm * facts.block_threads;
    let occupancy = 100.0 * f64::from(threads) / f64::from(facts.max_threads_per_sm.max(1));
    vec![
        tr!(
            "{registers} registers and {local} B of spilled or local memory per thread",
            registers = facts.registers,
            local = facts.local_bytes
        ),
        tr!(
            "{shared} B of shared memory per block",
            shared = facts.shared_bytes
        ),
        tr!(
            "{blocks} blocks of {threads} threads per SM: occupancy {percent} %",
            blocks = facts.blocks_per_sm,
            threads = facts.block_threads,
            percent = occupancy.round()
        ),
    ]
}

// What is found in a round of one's own, and what is predicted of it.

/// What the check of a round depends on beside its text.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RoundContext {
    /// How many instances there are.
    pub instances: usize,
    /// How long ops take alone, if that is known.
    pub times: Option<OpTimes>,
    /// The built-in order that the effect of the round will be measured against; `None` if it runs
    /// already, or no such order has a stream for each instance.
    pub before: Option<Order>,
}

impl RoundContext {
    /// Of this text, in the present session.
    pub fn of(status: &Status, times: Option<OpTimes>, text: &Arc<str>) -> RoundContext {
        let setting = &status.setting;
        let before = match setting.switches.order {
            Order::Own if is_running(status, text) => None,
            Order::Own => Some(Order::Breadth),
            order => Some(order).filter(|_| setting.switches.streams == Streams::PerInstance),
        };
        RoundContext {
            instances: status.lattices.instances,
            times,
            before,
        }
    }
}

/// Whether the session runs this text.
fn is_running(status: &Status, text: &Arc<str>) -> bool {
    let own = status.setting.own_round.as_ref();
    status.setting.switches.order == Order::Own && own.is_some_and(|own| &own.source == text)
}

/// What was found in a round, and how it would run.
#[derive(Clone, PartialEq, Debug)]
pub struct RoundFindings {
    verdict: Verdict,
    pub(super) race: Option<Race>,
    pub(super) predicted: Option<Predicted>,
}

impl RoundFindings {
    /// That it was not checked, and why.
    pub fn unchecked(why: String) -> RoundFindings {
        let verdict = Verdict {
            items: 0,
            faults: Err(ScriptError::new(message!("{why}."), None)),
            round: Round::default(),
        };
        RoundFindings {
            verdict,
            race: None,
            predicted: None,
        }
    }

    /// Whether nothing is wrong.
    pub(super) fn is_right(&self) -> bool {
        self.verdict.is_right()
    }

    /// In a line.
    pub(super) fn summary(&self) -> String {
        match self.verdict.faults.as_ref().map_or(1, Vec::len) {
            0 => counts(&self.verdict.round),
            1 => tr!("1 fault").into(),
            count => tr!("{count} faults"),
        }
    }

    /// The lines that faults are about, numbered from 1.
    pub(super) fn lines(&self) -> Vec<u32> {
        let places: Vec<Place> = match &self.verdict.faults {
            Err(error) => error.place.into_iter().collect(),
            Ok(faults) => faults.iter().flat_map(Fault::places).collect(),
        };
        places.iter().map(|place| place.line).collect()
    }

    /// A sentence about each fault.
    pub(super) fn sentences(&self) -> impl Iterator<Item = String> {
        let (faults, error) = match &self.verdict.faults {
            Ok(faults) => (&faults[..], None),
            Err(error) => (&[][..], Some(error)),
        };
        let of_error = |error: &ScriptError| match error.place {
            Some(Place { line, .. }) => tr!("Line {line}: {sentence}", sentence = error.message),
            None => error.message.to_string(),
        };
        let faults = faults.iter().map(|fault| fault.message.to_string());
        error.into_iter().map(of_error).chain(faults)
    }
}

/// A round with a race, drawn as its script orders it.
#[derive(Clone, PartialEq, Debug)]
pub struct Race {
    /// Two calls that nothing orders.
    pub fault: Fault,
    /// The round, with the two marked.
    pub chart: Arc<Chart>,
    /// Whether ops are as long as they were measured, or all equally long.
    pub is_measured: bool,
}

/// How much faster a round would be than one in a built-in order.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Predicted {
    factor: f64,
    before: Order,
}

impl Predicted {
    /// In sentences, with what was measured of it if this text of it runs.
    pub(super) fn in_words(self, text: &Arc<str>, status: &Status) -> Vec<String> {
        let Predicted { factor, before } = self;
        let factor = factor_in_words(factor);
        let predicted = match before {
            Order::Depth => tr!("Predicted from the times of ops alone, against depth-first: {factor}"),
            Order::Breadth | Order::Own => {
                tr!("Predicted from the times of ops alone, against breadth-first: {factor}")
            }
        };
        let effect = status.lab.last_effect.as_ref();
        let its =
            effect.filter(|effect| effect.what == before.own_instead() && is_running(status, text));
        let measured = its.map(|it| tr!("Measured: {factor}", factor = it.in_short()));
        [predicted].into_iter().chain(measured).collect()
    }
}

/// Runs a text, and checks and predicts what it orders; an exercise's text is checked for as many items as
/// the exercise has.
pub fn judge(text: &str, task: Option<&RoundTask>, context: &RoundContext) -> RoundFindings {
    let instances = context.instances as u32;
    let for_instances = || Verdict::of(text, Work::Lattices, instances, &[]);
    let verdict = match task {
        Some(task) => task.check(text),
        None => for_instances(),
    };
    let work = task.map_or(Work::Lattices, |it| it.work);
    let predicted = context
        .times
        .zip(context.before)
        .and_then(|(times, before)| {
            let fits = |it: &Verdict| it.is_right() && it.round.calls.len() <= MAX_PREDICTED_CALLS;
            let round = Some(&verdict).filter(|it| work == Work::Lattices && fits(it))?;
            let other = (round.items != instances).then(for_instances);
            let round = &other.as_ref().unwrap_or(round);
            fits(round).then(|| Predicted {
                factor: predicted_factor(&round.round, before, instances, &times),
                before,
            })
        });
    RoundFindings {
        race: Race::of(&verdict, context.times),
        verdict,
        predicted,
    }
}

impl Race {
    /// The first race of a round, if it has one and is not too long to be drawn.
    fn of(verdict: &Verdict, times: Option<OpTimes>) -> Option<Race> {
        let mut faults = verdict.faults.iter().flatten();
        let fault = faults.find(|fault| fault.lacks_order)?;
        let [second, first] = fault.calls[..] else {
            return None;
        };
        let is_short = verdict.round.calls.len() <= MAX_PREDICTED_CALLS;
        is_short.then(|| {
            let round = predict(&verdict.round, &times.unwrap_or(OpTimes::EQUAL));
            let chart = Chart::new(Arc::new(round));
            Race {
                fault: fault.clone(),
                chart: Arc::new(chart.with_race([first.index, second.index])),
                is_measured: times.is_some(),
            }
        })
    }
}

/// What a right round does, in numbers.
fn counts(round: &Round) -> String {
    let count = |is: fn(CallKind) -> bool| {
        let calls = round.calls.iter().filter(|call| is(call.kind));
        calls.count()
    };
    tr!(
        "Right: {advances} advances, {downloads} downloads, {streams} streams, {events} events",
        advances = count(|kind| matches!(kind, CallKind::Advance(_))),
        downloads = count(|kind| matches!(kind, CallKind::Download(_))),
        streams = round.streams(),
        events = round.events()
    )
}
