//! What is found in a kernel of one's own.

use std::fmt;
use std::sync::atomic::AtomicBool;

use engine::Kernel;
use lang::{Message, tr};
use lesson::KernelTask;
use workshop::{Facts, Fault, LAUNCH_LIMIT, OwnKernel, SourceError, Unchecked, Workshop};

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
    Wrong(Box<Fault>),
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
                Fault::DoesNotCompile { .. } => tr!("Does not compile").into(),
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
                Fault::DoesNotCompile { errors, more } => {
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
