//! A round that a user wrote: its script, and the calls that it makes for the present instances.

use std::sync::Arc;

use crate::{InWords, Order, Switches};
use engine::Kernel;
use lang::tr;
use script::{Fault, Place, Round, Script, ScriptError, Work, check};

/// A round that a user wrote, for a number of instances.
#[derive(Clone, PartialEq, Debug)]
pub struct OwnRound {
    source: Arc<str>,
    instances: usize,
    round: Result<Arc<Round>, OwnRoundError>,
    /// For half as many instances, as a comparison of A and B steps on each side.
    half: Result<Arc<Round>, OwnRoundError>,
}

/// Why a round cannot run.
#[derive(Clone, PartialEq, Debug)]
pub enum OwnRoundError {
    /// The script does not compile, or fails.
    Script(ScriptError),
    /// What it orders is not right. At least one.
    Faults(Vec<Fault>),
    /// Several devices compute, and it runs on one.
    SeveralDevices,
}

impl OwnRoundError {
    /// What is wrong, each with its place in the script if it has one.
    pub fn in_places(&self) -> Vec<(Option<Place>, String)> {
        match self {
            OwnRoundError::Script(error) => vec![(error.place, error.in_words())],
            OwnRoundError::Faults(faults) => {
                let place = |fault: &Fault| fault.places().first().copied();
                let faults = faults.iter();
                faults.map(|it| (place(it), it.in_words())).collect()
            }
            OwnRoundError::SeveralDevices => {
                vec![(None, tr!("a round of your own runs on one device").into())]
            }
        }
    }
}

impl OwnRound {
    /// Runs a script for this many instances, and checks what it orders.
    pub fn new(source: Arc<str>, instances: usize) -> OwnRound {
        let made = |instances| made(&source, instances);
        OwnRound {
            round: made(instances),
            half: made(instances / 2),
            instances,
            source,
        }
    }

    /// The script.
    pub fn source(&self) -> &Arc<str> {
        &self.source
    }

    /// How many instances it is made for.
    pub fn instances(&self) -> usize {
        self.instances
    }

    /// What it orders, or why it cannot run.
    pub fn round(&self) -> Result<&Arc<Round>, &OwnRoundError> {
        self.round.as_ref()
    }

    /// The same for half as many instances.
    pub fn half(&self) -> Result<&Arc<Round>, &OwnRoundError> {
        self.half.as_ref()
    }

    /// What it orders for so many instances: those that it is made for, or half as many. `None` if that
    /// is not right, or unknown.
    pub fn round_of(&self, instances: usize) -> Option<&Arc<Round>> {
        match instances {
            all if all == self.instances => self.round.as_ref().ok(),
            half if half == self.instances / 2 => self.half.as_ref().ok(),
            _ => None,
        }
    }
}

fn made(source: &str, instances: usize) -> Result<Arc<Round>, OwnRoundError> {
    let (items, work) = (instances as u32, Work::Lattices);
    let script = Script::compile(source, work).map_err(OwnRoundError::Script)?;
    let round = script.round(items).map_err(OwnRoundError::Script)?;
    let faults = check(&round, items, work, &[]);
    if faults.is_empty() {
        Ok(Arc::new(round))
    } else {
        Err(OwnRoundError::Faults(faults))
    }
}

/// Whether [`Order::Own`] can be taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OwnOrder {
    /// No round was written.
    #[default]
    Unwritten,
    /// The round that was written is not right for the present number of instances.
    Wrong,
    /// Several devices compute.
    SeveralDevices,
    /// It can.
    Available {
        /// Whether the host waits in the round.
        synchronizes: bool,
    },
}

impl OwnOrder {
    /// Of a round that steps this many instances, where so many devices compute.
    pub fn of(round: Option<&OwnRound>, instances: usize, devices: usize) -> OwnOrder {
        match round.map(|round| round.round_of(instances)) {
            None => OwnOrder::Unwritten,
            Some(None) => OwnOrder::Wrong,
            Some(Some(_)) if devices > 1 => OwnOrder::SeveralDevices,
            Some(Some(round)) => OwnOrder::Available {
                synchronizes: round.synchronizes(),
            },
        }
    }
}

/// What decides, beside the switches themselves, which of their positions can be taken.
#[derive(Clone, Copy, Debug)]
pub struct SwitchContext<'a> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// Whether there is a round of one's own.
    pub own_order: OwnOrder,
}

impl<'a> From<&'a Kernel> for SwitchContext<'a> {
    fn from(kernel: &'a Kernel) -> SwitchContext<'a> {
        SwitchContext {
            kernel,
            own_order: OwnOrder::Unwritten,
        }
    }
}

impl SwitchContext<'_> {
    /// Why switches cannot be together, or not here.
    pub fn incompatibility(&self, switches: &Switches) -> Option<String> {
        let of_own_order = match self.own_order {
            _ if switches.order != Order::Own => None,
            OwnOrder::Unwritten => Some(tr!(
                "no round of your own is written; the editor writes one, or start with --round FILE"
            )),
            OwnOrder::Wrong => Some(tr!(
                "the round of your own is not right for this number of instances"
            )),
            OwnOrder::SeveralDevices => Some(tr!("a round of your own runs on one device")),
            OwnOrder::Available { synchronizes: true } if switches.graphs => Some(tr!(
                "the host waits in the round, and cannot inside a graph"
            )),
            OwnOrder::Available { .. } => None,
        };
        let of_own_order = of_own_order.map(str::to_owned);
        of_own_order.or_else(|| switches.incompatibility(self.kernel))
    }
}
