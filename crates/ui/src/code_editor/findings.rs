//! What is found in a round or a kernel of one's own, and what is predicted of a round.

use crate::Chart;
use engine::{Kernel, Occupancy};
use lang::{Message, message, tr};
use lesson::{KernelTask, RoundTask, factor_in_words};
use script::{CallKind, Round, Verdict, Work};
use session::prediction::{MAX_PREDICTED_CALLS, OpTimes, predict, predicted_factor};
use session::{Order, Status, Streams};
use std::fmt::Display;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use workshop::{LAUNCH_LIMIT, OwnKernel, Right, Unchecked, Workshop};

/// What was found in a text, in words.
#[derive(Clone, Debug)]
pub struct Findings {
    /// Whether nothing is wrong.
    pub is_right: bool,
    /// In a line.
    pub summary: Message,
    /// The lines that faults are about, numbered from 1.
    pub lines: Vec<u32>,
    /// What is wrong, or what a GPU's driver says of a right kernel.
    pub sentences: Vec<Message>,
    /// A right kernel, ready to run.
    pub kernel: Option<&'static Kernel>,
    /// The first race of a round.
    pub race: Option<Race>,
    /// How fast a right round is, of what is known before it runs.
    pub(super) predicted: Option<Predicted>,
}

impl Findings {
    fn wrong(summary: Message, lines: Vec<u32>, sentences: Vec<Message>) -> Findings {
        Findings {
            is_right: false,
            summary,
            lines,
            sentences,
            kernel: None,
            race: None,
            predicted: None,
        }
    }

    /// That a text was not checked, and why.
    pub fn unchecked(why: impl Display) -> Findings {
        Findings::wrong(message!("Not checked"), Vec::new(), vec![sentence(why)])
    }

    /// Checks a kernel's source, and whether it has what an exercise asks for, in a workshop, which is opened
    /// if it is not yet; `None` if that was cancelled. `seed` decides which lattices are stepped.
    pub fn of_kernel(
        source: &str,
        task: Option<&KernelTask>,
        workshop: &mut Option<Workshop>,
        open: impl FnOnce() -> Result<Workshop, Unchecked>,
        seed: u64,
        cancel: &AtomicBool,
    ) -> Option<Findings> {
        let fault = |line: Option<u32>, why| {
            let lines = line.into_iter().collect();
            Some(Findings::wrong(message!("1 fault"), lines, vec![why]))
        };
        let own = match OwnKernel::read(source.as_bytes().to_vec()) {
            Ok(own) => own,
            Err(error) => return fault(error.line, sentence(error)),
        };
        if let Some(word) = task.and_then(|task| task.missing(source)) {
            let why = message!("It does not use {word}, which the exercise asks for");
            return fault(None, why);
        }
        let limit = platform::timeout(LAUNCH_LIMIT);
        let opened = workshop.take().map_or_else(open, Ok);
        match opened.and_then(|it| workshop.insert(it).check(&own, seed, limit, cancel)) {
            Ok(checked) => Some(Findings::of_checked(checked)),
            Err(Unchecked::Cancelled) => None,
            Err(why) => Some(Findings::unchecked(why)),
        }
    }

    /// Of a kernel that was checked.
    pub fn of_checked(checked: Result<Right, Box<workshop::Fault>>) -> Findings {
        match checked {
            Ok(Right {
                cases,
                facts,
                kernel,
                ..
            }) => Findings {
                is_right: true,
                kernel: Some(kernel),
                ..Findings::wrong(
                    message!("Right in all {cases} cases"),
                    Vec::new(),
                    facts.as_ref().map_or_else(
                        || {
                            vec![message!(
                                "Checked for exactness only: times mean nothing without a GPU"
                            )]
                        },
                        occupancy_in_words,
                    ),
                )
            },
            Err(fault) => match &*fault {
                workshop::Fault::DoesNotCompile { errors, more } => {
                    let more = (*more > 0).then(|| message!("and {rest} more", rest = more));
                    let sentences = errors.iter().map(sentence).chain(more).collect();
                    Findings::wrong(message!("Does not compile"), fault.lines(), sentences)
                }
                _ => Findings::wrong(message!("Wrong"), fault.lines(), vec![sentence(&fault)]),
            },
        }
    }

    /// Of a round that was checked.
    fn of_round(verdict: &Verdict) -> Findings {
        let (lines, sentences) = match &verdict.faults {
            Err(error) => match error.place {
                Some(place) => {
                    let line = place.line;
                    let why = message!("Line {line}: {sentence}", sentence = error.message);
                    (vec![line], vec![why])
                }
                None => (Vec::new(), vec![error.message.clone()]),
            },
            Ok(faults) => {
                let places = faults.iter().flat_map(|it| &it.places);
                let sentences = faults.iter().map(|it| it.message.clone());
                (places.map(|it| it.line).collect(), sentences.collect())
            }
        };
        let summary = match sentences.len() {
            0 => counts(&verdict.round),
            1 => message!("1 fault"),
            count => message!("{count} faults"),
        };
        Findings {
            is_right: verdict.is_right(),
            ..Findings::wrong(summary, lines, sentences)
        }
    }
}

fn sentence(said: impl Display) -> Message {
    Message::new(|| lang::sentence_case(&said.to_string()))
}

/// What decides how many threads an SM holds, and how many those are.
pub fn occupancy_in_words(facts: &Occupancy) -> Vec<Message> {
    let threads = facts.blocks_per_sm * facts.block_threads;
    let occupancy = 100.0 * f64::from(threads) / f64::from(facts.max_threads_per_sm.max(1));
    vec![
        message!(
            "{registers} registers and {local} B of spilled or local memory per thread",
            registers = facts.registers,
            local = facts.local_bytes
        ),
        message!(
            "{shared} B of shared memory per block",
            shared = facts.shared_bytes
        ),
        message!(
            "{blocks} blocks of {threads} threads per SM: occupancy {percent} %",
            blocks = facts.blocks_per_sm,
            threads = facts.block_threads,
            percent = occupancy.round()
        ),
    ]
}

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
        let own = setting.own_round.as_ref();
        let before = match setting.switches.order {
            Order::Own if own.is_some_and(|own| own.source == *text) => None,
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

/// A round with a race, drawn as its script orders it.
#[derive(Clone, PartialEq, Debug)]
pub struct Race {
    /// That nothing orders two calls; which, and what to do, where that is no exercise.
    pub message: Message,
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
    /// In sentences, of the round that runs, with what was measured of it.
    pub(super) fn in_words(self, status: &Status) -> Vec<String> {
        let Predicted { factor, before } = self;
        let factor = factor_in_words(factor);
        let predicted = tr!(
            "Predicted from the times of ops alone, against {order}: {factor}",
            order = before.in_short()
        );
        let effect = status.lab.last_effect.as_ref();
        let its = effect.filter(|effect| effect.what == before.own_instead());
        let measured = its.map(|it| tr!("Measured: {factor}", factor = it.in_short()));
        [predicted].into_iter().chain(measured).collect()
    }
}

/// Runs a text, and checks and predicts what it orders; an exercise's text is checked for as many items as
/// the exercise has.
pub fn judge(text: &str, task: Option<&RoundTask>, context: &RoundContext) -> Findings {
    let instances = context.instances as u32;
    let for_instances = || Verdict::of(text, Work::Lattices, instances, &[]);
    let verdict = match task {
        Some(task) => task.check(text),
        None => for_instances(),
    };
    let work = task.map_or(Work::Lattices, |it| it.work);
    let known = context.times.zip(context.before);
    let predicted = known.and_then(|(times, before)| {
        let fits = |it: &Verdict| it.is_right() && it.round.calls.len() <= MAX_PREDICTED_CALLS;
        let round = Some(&verdict).filter(|it| work == Work::Lattices && fits(it))?;
        let other = (round.items != instances).then(for_instances);
        let round = other.as_ref().or(Some(round)).filter(|it| fits(it))?;
        let factor = predicted_factor(&round.round, before, instances, &times)?;
        Some(Predicted { factor, before })
    });
    Findings {
        race: Race::of(&verdict, task.is_some(), context.times),
        predicted,
        ..Findings::of_round(&verdict)
    }
}

impl Race {
    /// The first race of a round, if it has one and is not too long to be drawn.
    fn of(verdict: &Verdict, is_exercise: bool, times: Option<OpTimes>) -> Option<Race> {
        let mut faults = verdict.faults.iter().flatten();
        let fault = faults.find(|fault| fault.lacks_order())?;
        let [second, first] = fault.calls[..] else {
            return None;
        };
        let is_short = verdict.round.calls.len() <= MAX_PREDICTED_CALLS;
        is_short.then(|| {
            let round = predict(&verdict.round, &times.unwrap_or(OpTimes::EQUAL));
            let chart = Chart::new(Arc::new(round));
            Race {
                message: if is_exercise {
                    message!("Nothing orders the two operations that are marked")
                } else {
                    fault.message.clone()
                },
                chart: Arc::new(chart.with_race([first, second])),
                is_measured: times.is_some(),
            }
        })
    }
}

/// What a right round does, in numbers.
fn counts(round: &Round) -> Message {
    let count = |is: fn(CallKind) -> bool| {
        let calls = round.calls.iter().filter(|call| is(call.kind));
        calls.count()
    };
    message!(
        "Right: {advances} advances, {downloads} downloads, {streams} streams, {events} events",
        advances = count(|kind| matches!(kind, CallKind::Advance(_))),
        downloads = count(|kind| matches!(kind, CallKind::Download(_))),
        streams = round.streams(),
        events = round.events()
    )
}
